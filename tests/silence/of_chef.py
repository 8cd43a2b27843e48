"""Chef repositories: code that is not run, a cookbook or a fact that is not there, a file that cannot be read."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.silence.case import CONTENTS, KEYS, Case, Files, Maker, another, closed, values_of

_DEBIAN = {"platform": "debian", "platform_family": "debian", "platform_version": "12"}
_FORMS = ("node.{level}['{key}'] = {value}\n", "node.send(:{level})['{key}'] = {value}\n")
_FILE = "cookbooks/app/attributes/default"


def _files(rand: random.Random, **facts: object) -> Files:
    """A node with a role and a cookbook that sets nothing."""
    role = {"name": "web", "default_attributes": values_of(rand), "run_list": ["recipe[app]"]}
    return {
        "roles/web.json": json.dumps(role),
        "nodes/n1.json": json.dumps({"name": "n1", "run_list": ["role[web]"]}),
        "cookbooks/app/metadata.json": '{"name": "app"}',
        "cookbooks/app/recipes/default.rb": "# nothing\n",
        "facts/n1.json": json.dumps({**_DEBIAN, **facts}),
    }


def _asked(rand: random.Random) -> tuple[str, bool, str, str]:
    """The key that is asked, whether the place can set it, the key that it sets, and its level."""
    key, can_set = rand.choice(KEYS), rand.random() < 0.5
    return key, can_set, key if can_set else another(key), rand.choice(["default", "override"])


def _data(level: str, key: str, value: object) -> str:
    return json.dumps({level: {key: value}})


def _recipe(rand: random.Random) -> Case:
    """A recipe in Ruby, which is not run."""
    key, can_set, written, level = _asked(rand)
    files = _files(rand)
    first, second = (files | {f"{_FILE}.json": _data(level, written, value)} for value in CONTENTS)
    place = "cookbooks/app/recipes/default.rb"
    hidden = files | {place: rand.choice(_FORMS).format(level=level, key=written, value=101)}
    return Case(hidden, (first, second), place, key, "n1", can_set, "nodes")


def _attributes(rand: random.Random) -> Case:
    """An attribute file in Ruby, which is not run."""
    key, can_set, written, level = _asked(rand)
    files = _files(rand)
    first, second = (files | {f"{_FILE}.json": _data(level, written, value)} for value in CONTENTS)
    text = rand.choice(_FORMS).format(level=level, key=written, value=101)
    return Case(files | {f"{_FILE}.rb": text}, (first, second), f"{_FILE}.rb", key, "n1", can_set, "nodes")


def _library(rand: random.Random) -> Case:
    """A recipe in Ruby calls a library, which sets an attribute."""
    key, can_set, written, level = _asked(rand)
    files = _files(rand)
    first, second = (files | {f"{_FILE}.json": _data(level, written, value)} for value in CONTENTS)
    place = "cookbooks/app/libraries/help.rb"
    body = f"      node.{level}['{written}'] = 101\n"
    library = f"class Chef\n  class Recipe\n    def tune_app\n{body}    end\n  end\nend\n"
    hidden = files | {place: library, "cookbooks/app/recipes/default.rb": "tune_app\n"}
    return Case(hidden, (first, second), "cookbooks/app/", key, "n1", can_set, "nodes")


def _python(rand: random.Random) -> Case:
    """An attribute file in Python, which some commands do not run."""
    key, _, written, level = _asked(rand)
    files = _files(rand)
    first, second = (files | {f"{_FILE}.json": _data(level, written, value)} for value in CONTENTS)
    text = f"def attributes(node):\n    node.{level}[{written!r}] = 101\n"
    only = ("why", "blame", "where --key", "check")
    # Nothing of Python is looked at, so it may set any key.
    return Case(files | {f"{_FILE}.py": text}, (first, second), "n1", key, "n1", True, "nodes", only=only)


def _role(rand: random.Random) -> Case:
    """A role in Ruby, one value of which is computed. Nothing of such a role is read, so it may set any key."""
    key, _, written, _ = _asked(rand)
    files = _files(rand)
    files["nodes/n1.json"] = json.dumps({"name": "n1", "run_list": ["role[web]", "role[extra]"]})
    first, second = (
        files | {"roles/extra.json": json.dumps({"name": "extra", "override_attributes": {written: value}})}
        for value in CONTENTS
    )
    text = f"name 'extra'\noverride_attributes('{written}' => compute(1))\n"
    return Case(files | {"roles/extra.rb": text}, (first, second), "roles/extra.rb", key, "n1", True, "nodes")


def _missing(rand: random.Random) -> Case:
    """A cookbook that is not there; the settings allow it."""
    files = _files(rand)
    key = rand.choice(KEYS)
    files["nodeattrs.toml"] = '[chef]\nmissing_cookbooks = "warn"\n'
    files["nodes/n1.json"] = json.dumps({"name": "n1", "run_list": ["role[web]", "recipe[base]"]})
    more = {"cookbooks/base/metadata.json": '{"name": "base"}', "cookbooks/base/recipes/default.rb": "# nothing\n"}
    level = rand.choice(["default", "override"])
    first, second = (
        files | more | {"cookbooks/base/attributes/default.json": _data(level, key, value)} for value in CONTENTS
    )
    return Case(files, (first, second), "base", key, "n1", True, "nodes", fails=True)


def _closed(how: str, rand: random.Random) -> Case:
    """An attribute file of data, or a role, that cannot be read."""
    files = _files(rand)
    key = rand.choice(KEYS)
    if rand.random() < 0.5:
        place = f"{_FILE}.json"
        contents: tuple[Any, ...] = tuple(_data("override", key, value) for value in CONTENTS)
    else:
        place = "roles/web.json"
        role = json.loads(files[place])
        contents = tuple(json.dumps({**role, "override_attributes": {key: value}}) for value in CONTENTS)
    first, second = (files | {place: text} for text in contents)
    hidden = files | {place: closed(how, contents[0]) or ""}
    # What runs code of the repository reads what lies outside, too.
    only = ("why", "blame", "where --key", "check") if how == "outside" else ()
    return Case(hidden, (first, second), place, key, "n1", True, "nodes", fails=how == "locked", only=only)


def _bag(rand: random.Random) -> Case:
    """A recipe sets what an encrypted item of a data bag has, at once or when it is read; the secret is not there."""
    key, can_set, written, level = _asked(rand)
    item = "data_bag_item('app', 'one')['value']"
    recipe = f"node.{level}[{written!r}] = {rand.choice((item, f'lazy(lambda: {item})'))}\n"
    files = {one: text for one, text in _files(rand).items() if not one.endswith(".rb")}
    files["cookbooks/app/recipes/default.py"] = recipe
    place = "data_bags/app/one.json"
    first, second = (files | {place: json.dumps({"id": "one", "value": value})} for value in CONTENTS)
    encrypted = {"encrypted_data": "YQ==\n", "iv": "YWFhYWFhYWFhYWFh\n", "version": 1, "cipher": "aes-256-cbc"}
    hidden = files | {place: json.dumps({"id": "one", "value": encrypted})}
    only = ("explain", "matrix", "run", "check")
    return Case(hidden, (first, second), "one", key, "n1", can_set, "nodes", fails=True, only=only)


MAKERS: Mapping[str, Maker] = {
    "recipe": _recipe,
    "attributes": _attributes,
    "library": _library,
    "python": _python,
    "role": _role,
    "missing cookbook": _missing,
    **{how: partial(_closed, how) for how in ("locked", "outside")},
    "encrypted item": _bag,
}

"""Trees of each dialect with one place that cannot be read, and the two that it might stand for.

Every maker draws the place of one value among some layers. It knows how its dialect merges: whether the place can set
the asked key is decided here, and not by nodeattrs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Files = dict[str, str]


class Case(NamedTuple):
    """One question about a tree.

    hidden:  the tree with the place that cannot be read
    shown:   the same tree with two contents of the place
    place:   how the answer has to name it: a file, a fact, a plugin
    key, subject: the question
    can_set: whether the place can set the key
    dialect: the name for --dialect
    options: further words of every verb
    """

    hidden: Files
    shown: tuple[Files, Files]
    place: str
    key: str
    subject: str
    can_set: bool
    dialect: str
    options: tuple[str, ...] = ()


KEYS = ("k", "port", "name")


def _yaml(values: Mapping[str, object]) -> str:
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def _values(rand: random.Random, keys: tuple[str, ...] = KEYS) -> dict[str, object]:
    return {key: rand.randint(1, 9) for key in keys}


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n61626364\n"


def folds(rand: random.Random) -> Case:
    """Files of a named fold; one is encrypted as a whole."""
    count = rand.randint(2, 4)
    layers = [_values(rand) for _ in range(count)]
    hidden, key = rand.randrange(count), rand.choice(KEYS)
    own = {f"{at}.yaml": _yaml(layer) for at, layer in enumerate(layers)}
    own["nodeattrs.toml"] = f"[fold.site]\nfiles = {json.dumps([f'{at}.yaml' for at in range(count)])}\n"
    can_set = hidden == count - 1 or rand.random() < 0.3
    for at in range(hidden + 1, count):
        if can_set:  # nothing above the place sets the key
            own[f"{at}.yaml"] = _yaml({one: value for one, value in layers[at].items() if one != key})
    contents = [_yaml({**layers[hidden], key: value}) for value in (101, 102)]
    place = f"{hidden}.yaml"
    return Case(
        own | {place: VAULT}, (own | {place: contents[0]}, own | {place: contents[1]}), place, key, "site", can_set,
        "folds",
    )  # fmt: skip


def hiera(rand: random.Random) -> Case:
    """Levels under `first`: one is made by a function that is not built in, or hangs on a fact that is gone."""
    count = rand.randint(2, 3)
    hidden, key = rand.randrange(count), rand.choice(KEYS)
    by_fact = rand.random() < 0.5
    can_set = hidden == 0 or rand.random() < 0.4
    levels, files = [], {}
    for at in range(count):
        sets_key = at >= hidden or not can_set
        values = _values(rand, tuple(one for one in KEYS if sets_key or one != key))
        files[f"data/{at}.yaml"] = _yaml(values)
        levels.append(f"- name: level {at}\n  path: {at}.yaml\n")
    head = "version: 5\nhierarchy:\n"
    files["data/0.yaml"] += _yaml({"lookup_options": {key: {"merge": "first"}}})
    plain = head + "".join(levels)
    shown = [
        files | {"hiera.yaml": plain, f"data/{hidden}.yaml": _yaml({**_values(rand), key: value})}
        for value in (101, 102)
    ]
    if by_fact:
        levels[hidden] = f"- name: level {hidden}\n  path: '%{{facts.role}}/{hidden}.yaml'\n"
        roles = {f"data/{role}/{hidden}.yaml": shown[at][f"data/{hidden}.yaml"] for at, role in enumerate("ab")}
        hidden_files = files | roles | {"facts/web1.json": "{}"}
        shown = [one | {"facts/web1.json": "{}"} for one in shown]
        place = "role"
    else:
        levels[hidden] = f"- name: level {hidden}\n  data_hash: ours::nosuch\n"
        hidden_files = {**files}
        place = "ours::nosuch"
    hidden_files["hiera.yaml"] = head + "".join(levels)
    subject = "web1" if by_fact else ""
    return Case(hidden_files, (shown[0], shown[1]), place, key, subject, can_set, "hiera")


def nodes(rand: random.Random) -> Case:
    """A node with a role and a cookbook whose recipe, attribute file or library is Ruby, which is not run."""
    key = rand.choice(KEYS)
    where = rand.choice(["recipes/default.rb", "attributes/default.rb"])
    level = rand.choice(["default", "override"])
    other = next(one for one in KEYS if one != key)
    can_set = rand.random() < 0.5
    written = key if can_set else other
    form = rand.choice(["node.{level}['{key}'] = {value}\n", "node.send(:{level})['{key}'] = {value}\n"])
    role = {"name": "web", "default_attributes": _values(rand), "run_list": ["recipe[app]"]}
    files = {
        "roles/web.json": json.dumps(role),
        "nodes/n1.json": json.dumps({"name": "n1", "run_list": ["role[web]"]}),
        "cookbooks/app/metadata.json": '{"name": "app"}',
        "cookbooks/app/recipes/default.rb": "# nothing\n",
        "facts/n1.json": '{"platform": "debian", "platform_family": "debian", "platform_version": "12"}',
    }
    hidden = files | {f"cookbooks/app/{where}": form.format(level=level, key=written, value=101)}
    shown = []
    for value in (101, 102):
        name = "attributes/x.json" if where.startswith("attributes") else None
        tree = {one: text for one, text in files.items() if not one.endswith("recipes/default.rb")}
        if name is None:
            tree["cookbooks/app/recipes/default.py"] = f"node.{level}[{written!r}] = {value}\n"
        else:
            tree["cookbooks/app/recipes/default.py"] = "pass\n"
            tree["cookbooks/app/attributes/default.py"] = f"node.{level}[{written!r}] = {value}\n"
        shown.append(tree)
    return Case(hidden, (shown[0], shown[1]), f"cookbooks/app/{where}", key, "n1", can_set, "nodes")


def ansible(rand: random.Random) -> Case:
    """Variables of groups; the file of one is encrypted, and its password is not there."""
    key = rand.choice(KEYS)
    group = rand.choice(["all", "web", "db"])
    in_host = rand.random() < 0.3
    can_set = group != "db" and not in_host
    groups = {"all": _values(rand), "web": _values(rand), "db": _values(rand)}
    if group == "all" and can_set:
        groups["web"].pop(key)
    files = {
        "ansible.cfg": "[defaults]\ninventory = hosts\n",
        "hosts": "[web]\nweb1\n[db]\ndb1\n",
        **{f"group_vars/{one}.yml": _yaml(values) for one, values in groups.items()},
    }
    if in_host:
        files["host_vars/web1.yml"] = _yaml({key: 7})
    place = f"group_vars/{group}.yml"
    shown = [files | {place: _yaml({**groups[group], key: value})} for value in (101, 102)]
    return Case(files | {place: VAULT}, (shown[0], shown[1]), place, key, "web1", can_set, "ansible")


def cloudinit(rand: random.Random) -> Case:
    """Parts of user-data; one is a template that asks for instance data which are not there."""
    count = rand.randint(2, 3)
    hidden = rand.randrange(count)
    keys = ("locale", "timezone", "hostname")
    key = rand.choice(keys)
    parts = [{one: f"v{rand.randint(1, 9)}" for one in keys} for _ in range(count)]
    can_set = hidden == count - 1 or rand.random() < 0.4
    for at in range(hidden + 1, count):
        if can_set:
            parts[at].pop(key)
    names = [f"{at}.yaml" for at in range(count)]
    files = {name: f"#cloud-config\n{_yaml(part)}" for name, part in zip(names, parts, strict=True)}
    files["nodeattrs.toml"] = f"[cloud-init.web]\nfiles = {json.dumps(names)}\n"
    place = names[hidden]
    rest = _yaml({one: value for one, value in parts[hidden].items() if one != key})
    text = f"## template: jinja\n#cloud-config\n{rest}{key}: {{{{ v1.region }}}}\n"
    shown = [files | {place: f"#cloud-config\n{rest}{key}: {value}\n"} for value in ("west", "east")]
    return Case(files | {place: text}, (shown[0], shown[1]), place, key, "web", can_set, "cloud-init")


def bindings(rand: random.Random) -> Case:
    """Layers of sets; one file is broken or encrypted, is not there, or its provider is code, which is not run."""
    count = rand.randint(2, 4)
    hidden, key = rand.randrange(count), rand.choice(KEYS)
    can_set = hidden == 0 or rand.random() < 0.3
    layers = [_values(rand) for _ in range(count)]
    for at in range(hidden):
        if can_set:  # no higher layer binds the key
            layers[at].pop(key)
    files = {f"bindings/s{at}.pp": _set(f"s{at}", layer) for at, layer in enumerate(layers)}
    names = [f"confdir:/s{at}" for at in range(count)]
    place = f"bindings/s{hidden}.pp"
    shown = [
        files | {"manifests/site.pp": _site(names), place: _set(f"s{hidden}", {**layers[hidden], key: value})}
        for value in (101, 102)
    ]
    how = rand.choice(["broken", "encrypted", "missing", "provider"])
    unread = {name: text for name, text in files.items() if name != place}
    if how == "broken":
        unread[place] = files[place].rpartition("}")[0]
    elif how == "encrypted":
        unread[place] = VAULT
    elif how == "missing":
        place = f"s{hidden}"
    else:
        names[hidden] = "ours:/all"
        place = "ours"
        unread["nodeattrs.toml"] = '[bindings]\nproviders = {ours = "ours.py:sets"}\n'
        unread["ours.py"] = "def sets(references, request):\n    return []\n"
    unread["manifests/site.pp"] = _site(names)
    return Case(unread, (shown[0], shown[1]), place, key, "", can_set, "bindings")


def _set(name: str, values: Mapping[str, object]) -> str:
    return "".join([f"bindings {name} {{\n", *(f"  bind '{key}' to {value}\n" for key, value in values.items()), "}\n"])


def _site(references: Sequence[str]) -> str:
    layers = "".join(f"    layer {{ 'l{at}': include => '{one}' }},\n" for at, one in enumerate(references))
    return f"site {{\n  bindings => [\n{layers}  ]\n}}\n"


MAKERS: Mapping[str, Callable[[random.Random], Case]] = {
    "folds": folds,
    "hiera": hiera,
    "nodes": nodes,
    "ansible": ansible,
    "cloud-init": cloudinit,
    "bindings": bindings,
}

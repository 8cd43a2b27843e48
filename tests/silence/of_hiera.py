"""Trees of Hiera, in which a level, a fact or a value is not known."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial

from tests.silence.case import CONTENTS, KEYS, Case, Files, Maker, another, closed, values_of, yaml_of

_HEAD = "version: 5\nhierarchy:\n"
_EYAML = "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQIBADAFMAACAQEw]"

_LEVELS = {
    "function": ("data_hash: ours::nosuch", "ours::nosuch"),
    "lookup-key": ("lookup_key: ours::nosuch", "ours::nosuch"),
    "data-dig": ("data_dig: ours::nosuch", "ours::nosuch"),
    "server": ("lookup_key: hiera_http\n  uri: http://localhost/x", "hiera_http"),
    "backend": ("hiera3_backend: mongodb", "mongodb"),
}
"""A level that no file gives: what hiera.yaml says of it, and how an answer names it."""


class _Tree:
    """Some levels, the place among them.

    options: "given": lookup_options of the first level say how the key merges; "none": no level that is read has some;
             "hidden": the place may have some
    """

    def __init__(self, rand: random.Random) -> None:
        self.count = rand.randint(2, 3)
        self.hidden, self.key = rand.randrange(self.count), rand.choice(KEYS)
        self.has_options = self.hidden > 0 and rand.random() < 0.8
        self.can_set = self.hidden == 0 or not self.has_options or rand.random() < 0.3
        self.files: Files = {}
        self.levels: list[str] = []
        for at in range(self.count):
            sets_key = at >= self.hidden or not self.can_set or not self.has_options
            values = values_of(rand, tuple(one for one in KEYS if sets_key or one != self.key))
            self.files[f"data/{at}.yaml"] = yaml_of(values)
            self.levels.append(f"- name: level {at}\n  path: {at}.yaml\n")
        if self.has_options:
            self.files["data/0.yaml"] += yaml_of({"lookup_options": {self.key: {"merge": "first"}}})
        self.place = f"data/{self.hidden}.yaml"
        self.own = values_of(rand)

    def shown(self) -> tuple[Files, Files]:
        """Both contents of the level. Without options elsewhere the second one has some of its own."""
        merged = {} if self.has_options else {"lookup_options": {self.key: {"merge": "unique"}}}
        first, second = ({**self.own, self.key: value} for value in CONTENTS)
        plain = self.files | {"hiera.yaml": _HEAD + "".join(self.levels)}
        return plain | {self.place: yaml_of(first)}, plain | {self.place: yaml_of({**second, **merged})}

    def with_level(self, text: str) -> str:
        levels = [*self.levels]
        levels[self.hidden] = f"- name: level {self.hidden}\n  {text}\n"
        return _HEAD + "".join(levels)


def _level(how: str, rand: random.Random) -> Case:
    tree = _Tree(rand)
    text, place = _LEVELS[how]
    hidden = tree.files | {"hiera.yaml": tree.with_level(text)}
    return Case(hidden, tree.shown(), place, tree.key, "", tree.can_set, "hiera")


def _file(how: str, rand: random.Random) -> Case:
    tree = _Tree(rand)
    first, second = tree.shown()
    hidden = first | {tree.place: closed(how, first[tree.place]) or ""}
    return Case(hidden, (first, second), tree.place, tree.key, "", tree.can_set, "hiera", fails=how == "locked")


def _fact_of_path(rand: random.Random) -> Case:
    """The path of a level names a fact that is not among those of the node."""
    tree = _Tree(rand)
    shown = [one | {"facts/web1.json": "{}"} for one in tree.shown()]
    roles = {f"data/{role}/{tree.hidden}.yaml": one[tree.place] for role, one in zip("ab", shown, strict=True)}
    level = tree.with_level(f"path: '%{{facts.role}}/{tree.hidden}.yaml'")
    hidden = tree.files | roles | {"facts/web1.json": "{}", "hiera.yaml": level}
    return Case(hidden, (shown[0], shown[1]), "role", tree.key, "web1", tree.can_set, "hiera")


def _fact_of_value(rand: random.Random) -> Case:
    """A value names a fact that is not among those of the node."""
    key = rand.choice(KEYS)
    can_set = rand.random() < 0.5
    other = key if can_set else another(key)
    values = {**values_of(rand), other: "%{facts.role}"}
    files = {"hiera.yaml": f"{_HEAD}- name: all\n  path: all.yaml\n", "data/all.yaml": yaml_of(values)}
    first, second = (files | {"facts/web1.json": f'{{"role": "{role}"}}'} for role in ("a", "b"))
    return Case(files | {"facts/web1.json": "{}"}, (first, second), "role", key, "web1", can_set, "hiera")


def _eyaml(rand: random.Random) -> Case:
    """A value is encrypted for eyaml, and its key is not there."""
    key = rand.choice(KEYS)
    can_set = rand.random() < 0.5
    other = key if can_set else another(key)
    level = "- name: all\n  lookup_key: eyaml_lookup_key\n  path: all.yaml\n"
    values = values_of(rand)
    files = {"hiera.yaml": f"{_HEAD}{level}"}
    first, second = (files | {"data/all.yaml": yaml_of({**values, other: value})} for value in CONTENTS)
    hidden = files | {"data/all.yaml": yaml_of({**values, other: _EYAML})}
    return Case(hidden, (first, second), "data/all.yaml", key, "", can_set, "hiera", is_secret=True)


MAKERS: Mapping[str, Maker] = {
    **{how: partial(_level, how) for how in _LEVELS},
    **{how: partial(_file, how) for how in ("encrypted", "locked", "outside")},
    "fact of a path": _fact_of_path,
    "fact of a value": _fact_of_value,
    "eyaml": _eyaml,
}

"""What a case is, and what the makers of all dialects share."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

Files = dict[str, str]

LOCKED = "\0locked"
"""The content of a file that its permissions close."""

OUTSIDE = "\0outside"
"""The beginning of a file that is a link out of the repository; what it holds stands behind."""


class Case(NamedTuple):
    """One question about a tree.

    hidden:   the tree with the place that cannot be read
    shown:    the same tree with two contents of the place
    place:    how the answer has to name it: a file, a fact, a plugin
    key, subject: the question
    can_set:  whether the place can set the key
    dialect:  the name for --dialect
    options:  further words of every verb of the dialect's own
    fails:    whether the original fails over the place, whatever is asked: exit 1 is an answer, too
    is_secret: whether the place is a value: its change is known without it
    only:     the beginnings of the only questions that are asked; empty: all
    """

    hidden: Files
    shown: tuple[Files, Files]
    place: str
    key: str
    subject: str
    can_set: bool
    dialect: str
    options: str = ""
    fails: bool = False
    is_secret: bool = False
    only: tuple[str, ...] = ()


Maker = Callable[[random.Random], Case]

KEYS = ("k", "port", "name")

VAULT = "$ANSIBLE_VAULT;1.1;AES256\n61626364\n"

CONTENTS = (101, 102)
"""What the place may hold."""


def yaml_of(values: Mapping[str, object]) -> str:
    """Values, a line each."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def values_of(rand: random.Random, keys: tuple[str, ...] = KEYS) -> dict[str, object]:
    """A number for each key."""
    return {key: rand.randint(1, 9) for key in keys}


def another(key: str) -> str:
    """A key that is not asked."""
    return next(one for one in KEYS if one != key)


def closed(how: str, text: str) -> str | None:
    """A file as it is where it cannot be read; None where it is not there.

    how:  "encrypted", "locked", "outside" or "missing"
    text: what it holds
    """
    return {"encrypted": VAULT, "locked": LOCKED, "outside": OUTSIDE + text, "missing": None}[how]


def with_file(files: Files, name: str, text: str | None) -> Files:
    """Files with one more; None takes it out."""
    rest = {one: content for one, content in files.items() if one != name}
    return rest if text is None else {**rest, name: text}

"""What an answer looks at of its own subject: facts by path, and what a dialect names otherwise.

Answers whose subjects have the same where they look are the same answer; `contract.sharing` knows that. Who reads notes
places, and no values: the values of any subject are asked from its dialect (`contract.dialect.Opened.look`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from typing import Any

from nodeattrs.core.tree import ABSENT, dig

Look = tuple[Any, ...]
"""A place where an answer looked: its kind, and what says which one; of facts (kind, path)."""

ENTRY, KEYS, TREE, SORT, IS = "entry", "keys", "tree", "sort", "is"
"""Kinds of looks at facts: one value, of a map only that it is one; the keys of a map in order; all below a path; of
what sort a value is; whether a value is a text. `IS` has the text behind the path, in lower case."""

NAME: Look = ("name",)
"""The look at the name of the subject."""

NAMED = "named"
"""The kind of looks that ask whether the name of the subject is a text, in lower case: ("named", "web1")."""

FILE: Look = ("file",)
"""The look at what the file of the subject says, without its name."""

OWN = frozenset((ENTRY, KEYS, TREE, SORT, IS, NAMED, *NAME, *FILE))
"""The kinds of looks whose values follow from the files of the subject alone."""

_SHORT = 64
"""Characters of a value that is kept as it is; of a longer one its hash."""


class Looks:
    """The looks of one answer, in order.

    made:     each look, once
    facts:    of the subject, as its file has them
    unshared: why the answer is good for its subject alone; "" if `made` has all that it looked at
    """

    def __init__(self) -> None:
        self.made: dict[Look, None] = {}
        self.facts: Mapping[Any, Any] = {}
        self.unshared = ""
        self._is_quiet = self._is_brief = False

    def note(self, *look: Any) -> None:
        """Note a look, unless it is made within `quiet`."""
        if not self._is_quiet:
            self.made.setdefault((SORT, look[1]) if self._is_brief and look[0] in (ENTRY, KEYS, TREE) else look)

    def insist(self, *look: Any) -> None:
        """Note a look, also within `quiet` and `brief`: what came of it is kept, and given again outside of them."""
        self.made.setdefault(look)

    def refuse(self, why: str) -> None:
        """Note that the answer depends on something that is not noted; within `quiet`, too.

        why: in words, and the first call counts; "" notes nothing
        """
        self.unshared = self.unshared or why

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """A block in which nothing is noted: what it reads does not matter, or is noted in a finer way."""
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before

    @contextmanager
    def brief(self, is_brief: bool = True) -> Iterator[None]:
        """A block in which only the sort of a fact matters: no answer has what the block reads."""
        before, self._is_brief = self._is_brief, is_brief
        try:
            yield
        finally:
            self._is_brief = before


def quietly(looks: Looks | None) -> AbstractContextManager[object]:
    """A block in which nothing is noted. looks: None where nothing is noted anyway"""
    return nullcontext() if looks is None else looks.quiet()


def fact_at(facts: Mapping[Any, Any], look: Look) -> str:
    """What facts have where a look was made, as a text that is equal for equal values; "" where they have nothing.

    look: (ENTRY, path), (KEYS, path), (TREE, path), (SORT, path) or (IS, path, text)
    """
    kind, path = look[:2]
    value = dig(facts, path)
    if value is ABSENT:
        return ""
    if kind == SORT:
        return type(value).__name__
    if kind == IS:
        return str(str(value).lower() == look[2])
    if isinstance(value, Mapping) and kind != TREE:
        value = dict if kind == ENTRY else [*value]
    text = repr(value)
    return text if len(text) < _SHORT else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

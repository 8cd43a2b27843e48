"""A query asked of an index: one way of answering for every index, so that all give one answer.

An index finds entries, by field or path and by a part of their text, and the nodes that have
them. Whether an entry is meant is judged here, and sets of nodes are joined here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from nodeattrs.core.borders import taking
from nodeattrs.keep.search.fields import CHEF, OWN, Steps, within
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.search.terms import All, And, Asked, Not, Or, Pattern, Range, Term
from nodeattrs.keep.search.terms import Own as OwnTerm

Found = tuple[int, int, str, str]
"""An entry: its number, the number of its path, its kind, its text."""
Shown = Mapping[int, tuple[Steps, Collection[int]]]
"""Paths that fields show, by number: the steps, and how deep those fields stand (see `fields.names_of`)."""


class Index(Protocol):
    """What an index can be asked. Nodes, paths and entries are numbers of its own."""

    def everyone(self) -> set[int]:
        """All nodes."""
        ...

    def names(self) -> Iterable[str]:
        """All fields there are."""
        ...

    def below(self, names: Iterable[str]) -> Shown:
        """The paths that these fields show."""
        ...

    def path(self, steps: Steps) -> int | None:
        """The path with these steps."""
        ...

    def entries(
        self, paths: Iterable[int], part: str = "", between: Range | None = None, word: str = ""
    ) -> Iterable[Found]:
        """Entries at these paths.

        part:    each of them has it in its casefolded text
        between: each of them lies in it
        word:    the part is one of the words of the text; an index that knows no words goes by the part
        """
        ...

    def nodes(self, entries: Iterable[int], view: int) -> set[int]:
        """The nodes whose tree, Chef's or our own, has any of these entries."""
        ...


@taking(index="below", query=Query)
def answer(index: Index, query: Query) -> set[int]:
    """The nodes that a query asks for."""
    return _answer(index, query.asked)


def _answer(index: Index, asked: Asked) -> set[int]:
    if isinstance(asked, And):
        wanted, *others = asked.inner
        found = _answer(index, wanted)
        for other in others:
            if not found:
                break
            found = found & _answer(index, other)
        return found
    if isinstance(asked, Or):
        return set().union(*(_answer(index, one) for one in asked.inner))
    if isinstance(asked, Not):
        rest = index.everyone()
        rest -= _answer(index, asked.inner)
        return rest
    if isinstance(asked, All):
        return index.everyone()
    if isinstance(asked, OwnTerm):
        return _own(index, asked)
    return _term(index, asked)


def _own(index: Index, asked: OwnTerm) -> set[int]:
    path = index.path(asked.path)
    if path is None:
        return set()
    ranges: list[Range | None] = [Range(text, text) for text in asked.exact]
    found = (
        number
        for between in ranges or [None]
        for number, _, kind, text in index.entries([path], "", between)
        if asked.holds(kind, text)
    )
    return index.nodes(found, OWN)


def _term(index: Index, asked: Term) -> set[int]:
    field, value = asked.field, asked.value
    names = [field.plain] if field.plain is not None else list(filter(field.is_name, index.names()))
    shown = index.below(names)
    found = _ranged(index, value, shown) if isinstance(value, Range) else _matched(index, value, shown)
    return index.nodes(found, CHEF)


_A_MAP = '{"'
"""How the text of a whole map begins."""


def _ranged(index: Index, value: Range, shown: Shown) -> Iterator[int]:
    maps = [path for path, (steps, depths) in shown.items() if min(depths) < len(steps)] if value.holds(_A_MAP) else []
    leaves = [path for path, (steps, depths) in shown.items() if max(depths) >= len(steps)]
    yield from (number for number, *_ in index.entries(maps))
    yield from (
        number
        for number, path, kind, _ in index.entries(leaves, "", value)
        if kind != "w" or _shows_whole(*shown[path])
    )


def _shows_whole(steps: Steps, depths: Collection[int]) -> bool:
    """Whether a list or an empty map at these steps is itself shown, not only what is in it."""
    return len(steps) in depths


def _matched(index: Index, value: Pattern, shown: Shown) -> Iterator[int]:
    # The field that stands highest shows the most.
    keys = {path: steps[min(depths) :] for path, (steps, depths) in shown.items()}
    keyed = [path for path, inner in keys.items() if any(value.longest in key.casefold() for key in inner)]
    rest = keys.keys() - set(keyed)
    yield from (
        number
        for part, word, paths in (("", "", keyed), (value.longest, value.word, rest))
        for number, path, kind, text in index.entries(paths, part, None, word)
        if value.in_text((within(keys[path], kind, text) if keys[path] else text).casefold())
        and (kind != "w" or keys[path] or _shows_whole(*shown[path]))
    )

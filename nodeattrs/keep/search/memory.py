"""The index in memory: for stores of files, and for documents at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sortedcontainers import SortedDict

from nodeattrs.core.borders import Listed, taking
from nodeattrs.keep.search.answer import Found, Index, Shown, answer
from nodeattrs.keep.search.fields import Branch, Entry, JsonMap, Steps, index_parts, names_of
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.search.terms import Range

AT_ONCE = 100
"""Documents in memory at a time."""


def names_found(documents: Iterable[tuple[str, JsonMap]], query: Query) -> list[str]:
    """The names of the documents that a query asks for, sorted. cost: memory for `AT_ONCE` of them"""
    found: list[str] = []
    waiting = iter(documents)
    while some := list(islice(waiting, AT_ONCE)):
        # Whether a node is meant depends on no other node, so some of them can be asked at a time.
        numbers = answer(MemoryIndex(document for _, document in some), query)
        found += [some[number][0] for number in numbers]
    return sorted(found)


class MemoryIndex(Index):
    """Documents by number, in the order in which they were added. Parts are shared by content.

    >>> index = MemoryIndex([{"name": "a", "default": {"port": 80}}, {"name": "b"}])
    >>> index.everyone()
    {0, 1}
    """

    @taking(documents=Listed)
    def __init__(self, documents: Iterable[JsonMap] = ()) -> None:
        self._count = 0
        self._root = Branch((), Entry)
        self._parts: dict[bytes, int] = {}
        self._nodes_of: list[list[int]] = []
        self._paths: dict[Steps, int] = {}
        self._named: dict[str, dict[int, set[int]]] = {}
        self._numbers: dict[Entry, int] = {}
        self._found: list[Found] = []
        self._parts_of: list[list[tuple[int, int]]] = []
        self._steps: list[Steps] = []
        self._at: list[Any] = []  # by path: a SortedDict from texts to the numbers of entries
        for document in documents:
            self.add(document)

    def add(self, document: JsonMap) -> None:
        """One more node."""
        number, self._count = self._count, self._count + 1
        for part in index_parts(document):
            known = self._parts.get(part.key)
            if known is None:
                known = self._parts[part.key] = len(self._nodes_of)
                self._nodes_of.append([])
                for entry, view in part.entries(self._root).items():
                    self._parts_of[self._entry(entry)].append((known, view))
            self._nodes_of[known].append(number)

    def _entry(self, entry: Entry) -> int:
        number = self._numbers.get(entry)
        if number is None:
            path = self._path(entry.steps)
            number = self._numbers[entry] = len(self._found)
            self._found.append((number, path, entry.kind, entry.text))
            self._parts_of.append([])
            self._at[path].setdefault(entry.text, []).append(number)
        return number

    def _path(self, steps: Steps) -> int:
        path = self._paths.get(steps)
        if path is None:
            path = self._paths[steps] = len(self._at)
            self._at.append(SortedDict())
            self._steps.append(steps)
            for name, depth in names_of(steps):
                self._named.setdefault(name, {}).setdefault(path, set()).add(depth)
        return path

    def everyone(self) -> set[int]:
        return set(range(self._count))

    def names(self) -> Iterable[str]:
        return self._named

    def below(self, names: Iterable[str]) -> Shown:
        shown: dict[int, tuple[Steps, set[int]]] = {}
        for name in names:
            for path, depths in self._named.get(name, {}).items():
                shown.setdefault(path, (self._steps[path], set()))[1].update(depths)
        return shown

    def path(self, steps: Steps) -> int | None:
        return self._paths.get(steps)

    def entries(
        self, paths: Iterable[int], part: str = "", between: Range | None = None, word: str = ""
    ) -> Iterator[Found]:
        for path in paths:
            texts = self._at[path]
            if between is not None:
                texts = {
                    text: texts[text]
                    for text in texts.irange(between.low, between.high, (between.with_low, between.with_high))
                }
            for text, numbers in texts.items():
                if part in text.casefold():
                    for number in numbers:
                        yield self._found[number]

    def nodes(self, entries: Iterable[int], view: int) -> set[int]:
        parts = {part for entry in entries for part, seen in self._parts_of[entry] if seen & view}
        return {node for part in parts for node in self._nodes_of[part]}

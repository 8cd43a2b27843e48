"""The index for search in a database, as a query asks it. Its tables are in `tables`; `sql` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from nodeattrs.keep.search.answer import Found, Index, Shown
from nodeattrs.keep.search.fields import Steps
from nodeattrs.keep.search.terms import Range
from nodeattrs.keep.stores.indexing import entry_of, number_of, path_of
from nodeattrs.keep.stores.talk import Talk, nodes_in, some_of

_FOUND = "e.id, e.path, e.kind, e.text"
_KINDS = "snbzw"
"""See `fields.Entry`."""


class SqlIndex(Index):
    """The index as a query asks it."""

    def __init__(self, talk: Talk, holds: str) -> None:
        """holds: as in `SqlStore`"""
        self._talk, self._holds = talk, holds
        self._spelled: dict[int, str] = {}

    def everyone(self) -> set[int]:
        return {node for _, node in nodes_in(self._talk)}

    def names(self) -> Iterable[str]:
        return [name for (name,) in self._talk.all("SELECT DISTINCT name FROM field")]

    def below(self, names: Iterable[str]) -> Shown:
        condition, wanted = self._talk.among(
            "f.id", [number_of(self._talk.secret, b"field", name.encode()) for name in names]
        )
        shown: dict[int, tuple[Steps, set[int]]] = {}
        for path, steps, depth in self._talk.all(
            f"SELECT DISTINCT f.path, p.steps, f.depth FROM field f JOIN path p ON p.id = f.path WHERE {condition}",
            wanted,
        ):
            if path not in shown:
                self._spelled[path] = steps
                shown[path] = tuple(json.loads(steps)), set()
            shown[path][1].add(depth)
        return shown

    def path(self, steps: Steps) -> int | None:
        path, spelled = path_of(self._talk.secret, steps)
        self._spelled[path] = spelled
        return path if self._talk.all("SELECT 1 FROM path WHERE id = ?", path) else None

    def entries(
        self, paths: Iterable[int], part: str = "", between: Range | None = None, word: str = ""
    ) -> Iterable[Found]:
        paths = list(paths)
        if between is not None and (exact := between.exact) is not None:
            condition, wanted = self._talk.among("e.id", self._exact(paths, exact))
            return self._talk.all(f"SELECT {_FOUND} FROM entry e WHERE {condition}", wanted)
        condition, wanted = self._talk.among("path", paths)
        conditions, values = [condition], [wanted]
        if word:
            found = number_of(self._talk.secret, b"word", word.encode())
            return self._talk.rows(
                f"SELECT {_FOUND} FROM word w JOIN entry e ON e.id = w.entry WHERE w.word = ? AND w.{condition}",
                found,
                wanted,
            )
        if part:
            conditions.append(self._holds.format("coalesce(folded, text)", "?"))
            values.append(part)
        if between is not None:
            ends = ((between.low, ">", between.with_low), (between.high, "<", between.with_high))
            for end, sign, with_it in ends:
                if end is not None:
                    conditions.append(f"text {sign}{'=' if with_it else ''} ?")
                    values.append(end)
        return self._talk.rows(f"SELECT {_FOUND} FROM entry e WHERE {' AND '.join(conditions)}", *values)

    def _exact(self, paths: Iterable[int], text: str) -> list[int]:
        """What entries with this text are called, of whichever kind."""
        return [entry_of(self._talk.secret, self._spelled[path], kind, text) for path in paths for kind in _KINDS]

    def nodes(self, entries: Iterable[int], view: int) -> set[int]:
        found: set[int] = set()
        for some in some_of(entries):
            # Two questions: of one, a planner that is wrong about how many parts there are goes by the nodes first.
            condition, wanted = self._talk.among("entry", some)
            parts = self._talk.rows(
                f"SELECT DISTINCT part FROM part_entry WHERE {condition} AND (view & ?) <> 0", wanted, view
            )
            for more in some_of(part for (part,) in parts):
                condition, wanted = self._talk.among("part", more)
                rows = self._talk.rows(f"SELECT DISTINCT node FROM node_part WHERE {condition}", wanted)
                found.update(node for (node,) in rows)
        return found

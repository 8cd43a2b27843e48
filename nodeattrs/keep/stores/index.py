"""The index for search in a database, as a query asks it. Its tables are in `tables`; `sql` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from nodeattrs.keep.search.answer import Found, Index, Shown
from nodeattrs.keep.search.fields import Steps
from nodeattrs.keep.search.terms import Range
from nodeattrs.keep.stores.talk import Talk, nodes_in


class SqlIndex(Index):
    """The index as a query asks it."""

    def __init__(self, talk: Talk, holds: str, number: Callable[[bytes, bytes], int]) -> None:
        """holds: as in `SqlStore`. number: what this store calls a field or path"""
        self._talk, self._holds, self._number = talk, holds, number

    def everyone(self) -> set[int]:
        return {node for _, node in nodes_in(self._talk)}

    def names(self) -> Iterable[str]:
        return [name for (name,) in self._talk.all("SELECT DISTINCT name FROM field")]

    def below(self, names: Iterable[str]) -> Shown:
        condition, wanted = self._talk.among("f.id", [self._number(b"field", name.encode()) for name in names])
        shown: dict[int, tuple[Steps, set[int]]] = {}
        for path, steps, depth in self._talk.all(
            f"SELECT DISTINCT f.path, p.steps, f.depth FROM field f JOIN path p ON p.id = f.path WHERE {condition}",
            wanted,
        ):
            if path not in shown:
                shown[path] = tuple(json.loads(steps)), set()
            shown[path][1].add(depth)
        return shown

    def path(self, steps: Steps) -> int | None:
        path = self._number(b"path", json.dumps(steps).encode())
        return path if self._talk.all("SELECT 1 FROM path WHERE id = ?", path) else None

    def entries(self, paths: Iterable[int], part: str = "", between: Range | None = None) -> Iterable[Found]:
        condition, wanted = self._talk.among("path", list(paths))
        conditions, values = [condition], [wanted]
        if part:
            conditions.append(self._holds.format("coalesce(folded, text)", "?"))
            values.append(part)
        if between is not None:
            ends = ((between.low, ">", between.with_low), (between.high, "<", between.with_high))
            for end, sign, with_it in ends:
                if end is not None:
                    conditions.append(f"text {sign}{'=' if with_it else ''} ?")
                    values.append(end)
        return self._talk.all(f"SELECT id, path, kind, text FROM entry WHERE {' AND '.join(conditions)}", *values)

    def nodes(self, entries: Iterable[int], view: int) -> set[int]:
        # Two questions: of one, a planner that is wrong about how many parts there are goes by the nodes first.
        condition, wanted = self._talk.among("entry", list(entries))
        parts = self._talk.all(
            f"SELECT DISTINCT part FROM part_entry WHERE {condition} AND (view & ?) <> 0", wanted, view
        )
        condition, wanted = self._talk.among("part", [part for (part,) in parts])
        rows = self._talk.all(f"SELECT DISTINCT node FROM node_part WHERE {condition}", wanted)
        return {node for (node,) in rows}

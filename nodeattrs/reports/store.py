"""What came of caring for a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class TendedStore:
    """A store that was checked, pruned, migrated or imported into: as data, and in the sentences that say the same."""

    store: str
    data: Mapping[str, Any]
    sentences: Sequence[str]

    @classmethod
    def pruned(cls, store: str, forgotten: int) -> TendedStore:
        """After so many revisions were forgotten."""
        return cls(store, {"forgotten": forgotten}, [f"{_count(forgotten, 'revision')} forgotten in {store}"])

    @classmethod
    def migrated(cls, store: str, done: str) -> TendedStore:
        """After it was brought up to date; what was done, in words."""
        return cls(store, {"done": done}, [f"{store}: {done}"])

    @classmethod
    def imported(cls, store: str, names: Sequence[str], revisions: int) -> TendedStore:
        """After these nodes were saved there, with so many revisions in all."""
        counted = _counted(len(names), revisions)
        return cls(store, {"saved": list(names), "revisions": revisions}, [f"{counted} saved in {store}"])

    @classmethod
    def moved(cls, store: str, target: str, nodes: int, revisions: int) -> TendedStore:
        """After all that is in it was kept in another one as well."""
        counted = _counted(nodes, revisions)
        data = {"to": target, "nodes": nodes, "revisions": revisions}
        return cls(store, data, [f"{counted} of {store} kept in {target}", f"{store} is as it was"])

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {"version": 1, "store": self.store, **self.data}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A line each."""
        return map(printable, self.sentences)


def _counted(nodes: int, revisions: int) -> str:
    counted = _count(nodes, "node")
    return counted if revisions == nodes else f"{counted} with {_count(revisions, 'revision')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

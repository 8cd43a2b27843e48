"""What came of caring for a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nodeattrs.reports.screen import Screen, printable
from nodeattrs.store.folders import Exported


@dataclass(frozen=True, slots=True)
class TendedStore:
    """A store that was checked, pruned, copied or imported into: as data, and in the sentences that say the same."""

    store: str
    data: Mapping[str, Any]
    sentences: Sequence[str]

    @classmethod
    def pruned(cls, store: str, forgotten: int) -> TendedStore:
        """After so many revisions were forgotten."""
        return cls(store, {"forgotten": forgotten}, [f"{_count(forgotten, 'revision')} forgotten in {store}"])

    @classmethod
    def imported(cls, store: str, names: Sequence[str], revisions: int) -> TendedStore:
        """After these nodes were saved there, with so many revisions in all."""
        counted = _counted(len(names), revisions)
        return cls(store, {"saved": list(names), "revisions": revisions}, [f"{counted} saved in {store}"])

    @classmethod
    def exported(cls, store: str, folder: str, done: Exported) -> TendedStore:
        """After nodes of it were exported to a folder."""
        counted = f"{_count(done.nodes, 'node')} of {store} exported to {folder}"
        files = f"{_count(done.written, 'file')} written, {done.removed} removed"
        kept = [
            f"{file} stays: the store has no such node, and no export wrote this file as it is" for file in done.kept
        ]
        return cls(store, {"to": folder, **asdict(done)}, [f"{counted}: {files}", *kept])

    @classmethod
    def copied(cls, store: str, target: str, nodes: int, revisions: int) -> TendedStore:
        """After all its revisions were copied into the store *target*."""
        counted = _counted(nodes, revisions)
        data = {"to": target, "nodes": nodes, "revisions": revisions}
        return cls(store, data, [f"{counted} of {store} copied to {target}"])

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

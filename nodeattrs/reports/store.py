"""The reports of commands that prune, copy, export or import a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nodeattrs.reports.screen import Screen, counted, printable
from nodeattrs.store.folders import ExportResult


@dataclass(frozen=True, slots=True)
class TendedStore:
    """The report of a command that changes or copies a store.

    A class method for each command makes it: `pruned`, `imported`, `exported` and `copied`. `to_dict` returns the
    store and *data*; `lines` yields *sentences*.

    store:     the address of the store, as it is shown
    data:      counts, and names of nodes, folders or files
    sentences: the facts of *data* in words
    """

    store: str
    data: Mapping[str, Any]
    sentences: Sequence[str]

    @classmethod
    def pruned(cls, store: str, forgotten: int) -> TendedStore:
        """The result of pruning. forgotten: the number of revisions that were removed"""
        return cls(store, {"forgotten": forgotten}, [f"{counted(forgotten, 'revision')} forgotten in {store}"])

    @classmethod
    def imported(cls, store: str, names: Sequence[str], revisions: int) -> TendedStore:
        """The result of an import. names: the saved nodes; revisions: their number in all"""
        both = _counted(len(names), revisions)
        return cls(store, {"saved": list(names), "revisions": revisions}, [f"{both} saved in {store}"])

    @classmethod
    def exported(cls, store: str, folder: str, done: ExportResult) -> TendedStore:
        """The result of an export to a folder: counts, and a sentence for each file that was kept."""
        what = f"{counted(done.nodes, 'node')} of {store} exported to {folder}"
        files = f"{counted(done.written, 'file')} written, {done.removed} removed"
        kept = [
            f"{file} stays: the store has no such node, and no export wrote this file as it is" for file in done.kept
        ]
        return cls(store, {"to": folder, **asdict(done)}, [f"{what}: {files}", *kept])

    @classmethod
    def copied(cls, store: str, target: str, nodes: int, revisions: int) -> TendedStore:
        """The result of copying all revisions into the store *target*."""
        both = _counted(nodes, revisions)
        data = {"to": target, "nodes": nodes, "revisions": revisions}
        return cls(store, data, [f"{both} of {store} copied to {target}"])

    def to_dict(self) -> dict[str, Any]:
        """The store and the counts as JSON-able data."""
        return {"version": 1, "store": self.store, **self.data}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Each sentence on its own line."""
        return map(printable, self.sentences)


def _counted(nodes: int, revisions: int) -> str:
    both = counted(nodes, "node")
    return both if revisions == nodes else f"{both} with {counted(revisions, 'revision')}"

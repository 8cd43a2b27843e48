"""Revisions of nodes, as every store has them.

A store keeps, for each node, Chef's node document and the snapshot of the run that
made it: a pair that is saved as a whole, and is one revision of the node. Older ones
are kept until they are pruned. It does not know what a document or a snapshot says,
only that both are JSON and that the document names its node.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nodeattrs.codes import declared
from nodeattrs.errors import StoreError

JsonMap = dict[str, Any]

OnNode = Callable[[str], None]

RUN = "run"
"""Who makes most revisions."""


class NewerRevision(StoreError):
    """Somebody else has saved the node since it was loaded.

    expected: the number of the revision that was loaded; 0 where there was none
    found:    the revision that is there now, or None where the node is gone
    """

    entry = declared(
        "NA0502",
        "NewerRevision",
        cause="A node that a newer nodeattrs has saved.",
        example="nodeattrs show web1",
        way_out="Upgrade, or read it where it was saved.",
    )

    expected: int
    found: Revision | None


class Noted(NamedTuple):
    """What is noted of a revision beside the node itself.

    ok:         whether it went well; a run that failed with an error left the node as it was
    error:      the kind of what went wrong; never its message, which may quote a secret
    repository: the revision of the repository, as its version control calls it
    version:    of nodeattrs
    report:     the catalog's, if it was applied, or looked at with --noop
    by:         who made the revision: RUN, or a command such as "node set"
    fleet:      which call of a fleet, where its work may be given to two workers; "" otherwise
    root:       the folder of the repository, relative to the folder of the store; "" where the store is no file
    unread:     whether the snapshot names layers that were not read; a store writes it
    """

    ok: bool = True
    error: str = ""
    repository: str = ""
    version: str = ""
    report: JsonMap | None = None
    by: str = RUN
    fleet: str = ""
    root: str = ""
    unread: bool = False

    @property
    def is_run(self) -> bool:
        """Whether a run made the revision, and not somebody who changed what is stored."""
        return self.by == RUN

    def to_dict(self) -> JsonMap:
        """What is not as usual."""
        record = {name: getattr(self, name) for name in _KINDS}
        return {name: value for name, value in record.items() if value != getattr(_USUAL, name)}

    @classmethod
    def from_dict(cls, record: JsonMap) -> Noted:
        """The reverse. raises: ValueError"""
        if not isinstance(record, dict):
            raise ValueError(f"what is noted of it is {record!r}, and no map")
        for name, value in record.items():
            if not isinstance(value, _KINDS.get(name, ())):
                raise ValueError(f"{name} is {value!r}")
        return cls(**record)


_KINDS = {
    "ok": bool,
    "error": str,
    "repository": str,
    "version": str,
    "report": dict,
    "by": str,
    "fleet": str,
    "root": str,
    "unread": bool,
}
_USUAL = Noted()


class Revision(NamedTuple):
    """One save of a node.

    number: counts from 1, and is never given twice
    at:     when it was saved, in UTC
    """

    number: int
    at: datetime
    noted: Noted = _USUAL


class Saved(NamedTuple):
    """A node as it was saved; equal where name, document, snapshot and note are.

    name:     the node's; the document says the same
    document: Chef's node document
    snapshot: what the run left behind, or None where it is not known
    note:     what a reader should know: why there is no snapshot, what is odd about
              the document; empty where all is well. A store writes it, and never keeps it.
    noted:    what is noted of the run
    revision: which one this is; a store writes it, None where it is not known
    """

    name: str
    document: JsonMap
    snapshot: JsonMap | None = None
    note: str = ""
    noted: Noted = _USUAL
    revision: Revision | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Saved) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        return not self == other


def now() -> datetime:
    """The time as revisions have it."""
    return datetime.now(UTC)


def stale(name: str, after: int, found: Revision | None, where: str) -> NewerRevision:
    """The error for a save that was to follow revision *after* (0: none), and now would follow *found*."""
    there = f"revision {found.number}, saved {found.at:%Y-%m-%d %H:%M:%S} UTC" if found else "no revision any more"
    ours = f"revision {after}" if after else "no revision at all"
    error = NewerRevision(
        f"somebody else has saved the node {name!r} in {where}",
        details=[f"there is {there}", f"this run began with {ours}"],
        hint="run it again, or save over it with --force",
    )
    error.expected, error.found = after, found
    return error


def taken(name: str, number: int, where: str) -> StoreError:
    """The error for a revision from elsewhere whose number the node has, or has had, in a store."""
    return StoreError(
        f"revision {number} of the node {name!r} cannot be kept in {where}: the node has another history there",
        hint="keep it in another store, or forget the node there first: nodeattrs node delete",
    )

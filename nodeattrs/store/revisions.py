"""Revisions of nodes, and the errors of saving one.

A revision is a pair that is saved as a whole: Chef's node document, and the snapshot of the run that made it. Older
revisions are kept until they are pruned. Nothing here looks inside a document or a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from nodeattrs.codes import declared
from nodeattrs.errors import StoreError

JsonMap = dict[str, Any]

OnNode = Callable[[str], None]

RUN = "run"
"""`Noted.by` of a revision that a run saved."""


class NewerRevision(StoreError):
    """Another process has saved the node since it was loaded.

    expected: the number of the revision that was loaded; 0 where there was none
    found:    the revision that is there now; None where the node was deleted
    """

    entry = declared(
        "NA0502",
        "NewerRevision",
        cause="Another process has saved the node since this one loaded it.",
        example="nodeattrs run --node web1",
        way_out="Run it again, or save over it with --force.",
    )

    expected: int
    found: Revision | None


class Noted(NamedTuple):
    """Notes of a revision: what saved it, how its run went, and with which files.

    ok:         whether the run succeeded; a failed run leaves the attributes as they were before
    error:      the class of its error; never the message, which may quote a secret. "" for a run that succeeded
    repository: the commit of the repository; "" if it is not known
    version:    the version of nodeattrs
    report:     a short report of the catalog, if it was applied or tried with --noop; None if not
    by:         the source of the revision: RUN, or a command such as "node set"
    fleet:      the identifier of the fleet command that saved the revision, if its workers are on other machines; else
                "". By it, a worker knows that another one has saved the node already
    root:       the folder of the repository, relative to the folder of the store; "" if the store is not a file
    unread:     whether the snapshot names layers that were not read. `Store.save` sets it

    `is_run` says whether `by` is RUN. `to_dict` leaves out defaults. `from_dict` raises ValueError for an unknown name
    or a wrong type.
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
        """Whether a run saved the revision, and not a command such as `node set`."""
        return self.by == RUN

    def to_dict(self) -> JsonMap:
        """The notes that differ from their defaults, as JSON-able data; {} where none does."""
        record = {name: getattr(self, name) for name in _KINDS}
        return {name: value for name, value in record.items() if value != getattr(_USUAL, name)}

    @classmethod
    def from_dict(cls, record: JsonMap) -> Noted:
        """The notes in a map from `to_dict`; missing ones have their defaults.

        raises: ValueError, for what is not a map, an unknown name, or a value of a wrong type
        """
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
    """The number, time and notes of one save of a node; not its content.

    number: counts from 1 for each node; never used again, also after a delete
    at:     the time of the save, in UTC
    noted:  its notes
    """

    number: int
    at: datetime
    noted: Noted = _USUAL


class Saved(NamedTuple):
    """A revision of a node with its content, to be saved or loaded.

    `==` compares all fields except `noted` and `revision`.

    name:     the name of the node; the document has the same
    document: Chef's node document
    snapshot: the fifteen slots with their origins; None if it is not known
    note:     a remark for the user, such as that there is no snapshot; "" for none. `load` sets it; it is never stored
    noted:    the notes to store with the node
    revision: number and time, from `load`; None for a node that is to be saved as a new revision
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


def newer_revision(name: str, after: int, found: Revision | None, where: str) -> NewerRevision:
    """The error for a save of a node that another process has saved meanwhile; it is returned, not raised.

    after: the number of the revision that was loaded; 0 for none
    found: the latest revision; None if the node is no longer saved
    where: the store, for the message
    """
    there = f"revision {found.number}, saved {found.at:%Y-%m-%d %H:%M:%S} UTC" if found else "no revision any more"
    ours = f"revision {after}" if after else "no revision at all"
    error = NewerRevision(
        f"another process has saved the node {name!r} in {where}",
        details=[f"there is {there}", f"this run began with {ours}"],
        hint="run it again, or save over it with --force",
    )
    error.expected, error.found = after, found
    return error


def number_taken(name: str, number: int, where: str) -> StoreError:
    """The error for an imported revision whose number the node has in the store, or had; it is returned, not raised."""
    return StoreError(
        f"revision {number} of the node {name!r} cannot be kept in {where}: the node has another history there",
        hint="keep it in another store, or forget the node there first: nodeattrs node delete",
    )

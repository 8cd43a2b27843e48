"""Revisions of nodes, and what every store can do with them: one protocol, however many places.

A store keeps, for each node, Chef's node document and the snapshot of the run that
made it: a pair that is saved as a whole, and is one revision of the node. Older ones
are kept until they are pruned. It does not know what a document or a snapshot says,
only that both are JSON and that the document names its node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nodeattrs.codes import declared
from nodeattrs.core.borders import taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import DocumentError, NodeattrsError, NodeNotFound, StoreError

if TYPE_CHECKING:  # a command that reads one node does not search
    from nodeattrs.keep.search import Query

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


class Store(Protocol):
    """What every store can do, and `tests/store_exam.py` examines.

    Each of these may raise StoreError, where the place itself fails, and BadName,
    for a name that no node can have.
    """

    def is_there(self) -> bool:
        """Whether anything was ever saved here; False for a place that is no store yet."""
        ...

    def names(self) -> list[str]:
        """The saved nodes, sorted."""
        ...

    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        """The node as it was last saved, or None where it never was. Document and snapshot share the facts.

        at:     a revision by its number, or the latest one at a time; None where there is none
        raises: DocumentError, where what was saved cannot be read any more
        """
        ...

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        """Keep *saved* as the node's latest revision: all of it, or none.

        Neither of the two parts may change between the call and its return. Where both are as the latest revision has
        them, the new one is a row that names the same texts.

        after:  the number of the revision that this one follows, 0 for none. With None, of two
                who save at once the last wins, whole.
        raises: NewerRevision, where another one is the latest;
                BadValue, where `load` could not give back what is saved
        """
        ...

    def save_all(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        """What `save` comes to for each of several nodes, or how it was refused; those that are not are kept.

        Where writers take turns anyway it is one transaction, and quicker. It is over when this returns.

        saves:  each with its *after*; of one node only one
        raises: StoreError, where the one transaction fails: nothing is saved then
        """
        ...

    def turn(self, name: str) -> AbstractContextManager[None]:
        """While it lasts, others who ask for a turn on the node wait, for some seconds at most.

        Who loads, changes and saves in it is not overtaken by them. It keeps nobody from saving.
        """
        ...

    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        """Keep revisions of one node as another store had them, all of them or none: number, time and notes are theirs.

        revisions: in the order of their numbers; each has its `revision`
        raises:    StoreError, where the node has one of these numbers here, or a later one; BadValue as `save`
        """
        ...

    def delete(self, name: str) -> bool:
        """Forget a node with all its revisions; whether there was one."""
        ...

    def history(self, name: str) -> list[Revision]:
        """The revisions that are kept, the latest first. raises: DocumentError, where a note cannot be read"""
        ...

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        """Each node's latest revision, by name; None where nothing is known of it, or what is there cannot be read."""
        ...

    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        """The nodes whose latest revision (or the latest one at a time) a query asks for, sorted."""
        ...

    def prune(self, keep: int) -> int:
        """Forget all but the latest *keep* revisions of each node; how many were forgotten."""
        ...

    def check(self, on_node: OnNode | None = None) -> list[str]:
        """What is wrong with what is kept, in words; nothing where all is well.

        on_node: called with the name of each node that was looked at
        """
        ...

    def make(self, compression: str = "zlib") -> None:
        """Make an empty store, unless one exists. A first save makes one that compresses with zlib.

        compression: how the store compresses its texts: zlib or zstd
        raises:      StoreError, where a store exists that compresses otherwise; BadArgument; MissingExtra
        """
        ...

    def describe(self) -> str:
        """Where this is, for people; never with a password in it."""
        ...

    def close(self) -> None:
        """Let go of what is held open. Whoever goes on using the store opens it again."""
        ...


@taking(store="turn", change=Callable)
def retried(store: Store, name: str, change: Callable[[Saved], Saved], times: int = 1_000) -> Revision:
    """Load a node, change it and save it; again where somebody else was faster.

    Those who do it at once take turns; somebody else is who saves without.

    change: is given the node as it is saved, and gives what to save; asked again each time
    raises: NewerRevision, after so many *times*; NodeNotFound
    """
    with store.turn(checked_name(name, "node")):
        while True:
            times -= 1
            saved = store.load(name)
            if saved is None:
                raise NodeNotFound(f"there is no saved node {name} in {store.describe()}")
            after = saved.revision.number if saved.revision else 0
            try:
                return store.save(change(saved), after=after)
            except NewerRevision:
                if not times:
                    raise


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


def last_runs(store: Store) -> Iterator[tuple[str, Revision | None, Revision | None]]:
    """Each node by name: its latest revision, and the latest one that a run made.

    The two are one unless somebody has changed what is stored since. None stands for what is not known.
    """
    for name, latest in store.latest():
        run = latest
        if latest is not None and not latest.noted.is_run:
            run = None
            with contextlib.suppress(DocumentError):
                run = next((one for one in store.history(name) if one.noted.is_run), None)
        yield name, latest, run

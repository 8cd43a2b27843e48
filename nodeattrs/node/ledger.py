"""The fifteen trees of a node, their merged view, and the history of overwritten values.

Every change of a node goes through the ledger. A write changes a map in place. Views that were made before must still
show the old value. So the map keeps it, with the number of the last *version* that was read (docs/decisions/0004).
Values that were overwritten or erased, and values that an `unless` did not set, go into the
history. Components and writers are not known here: a slot is a number from 1 to 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.looks import Looks
from nodeattrs.core.origins import Origins
from nodeattrs.core.rules import PathRule
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import InternalError
from nodeattrs.node.joined import entry_at, joined_roots, unevaluated_copy
from nodeattrs.node.maps import Branch, Joined, OwnedMap, SetBy, WatchedMap, setters_at, writable_copy
from nodeattrs.node.setters import EARLY, Mark, Marks, Setter
from nodeattrs.node.slots import PLAN, SLOTS, under_rules
from nodeattrs.node.values import NO_SECRETS, READY, Deferred, Secrets, computed
from nodeattrs.node.view import MapView, Version, read_steps

_TEXT = {str}


class Ledger(dict[Any, Any]):
    """The fifteen trees of a node, empty at first; `put`, `erase` and `replace` change them, `view` reads them merged.

    The ledger is also a dict: a cache of the merged values that were read, by top-level key or by a tuple of steps.
    `node[key]` reads it directly. A write empties it. Two ledgers are equal only if they are the same object.
    `put`, `replace` and `erase` note the old value in the history; `erase` of an absent path does nothing.

    origin:      (origin, mark) of a path in a slot; for an absent path, of the nearest map above
    part_at:     the value at a path, not merged or copied yet; ABSENT for an absent path
    roots:       the maps of all slots, not merged yet
    plain_copy:  a merged copy of what `part_at` or `roots` returned
    version:     the current `Version`, which numbers the states that views show
    plan:        a part of the order of precedence, with the rules for paths
    switch_setter, switch_back: set the current setter, which makes the next changes; restore the setter before
    note_silent, note_empty_map, note_kept_out: add to the history, and change no value
    add_unknown: adds layers that cannot be read to a slot
    unsettled_keys: the facts that a snapshot must copy

    trees:      the maps by slot number; [0] is never used
    marks:      the lines that set values, by number
    history:    path -> (slot, False) -> Chronicle of the values that the slot had there before; with True in place of
                False, of values that were never in the slot (`NEVER_SET`)
    unknown:    slot -> layers in it that cannot be read; forgotten when the slot is replaced for a new run
    provenance: False keeps no marks and no history
    root:       a function that returns the folder to which files in origins are relative
    secrets:    the paths whose values are wrapped as Sensitive when they enter
    rules:      rules for paths, which replace Chef's there
    early:      whether the current setter writes the attribute file's slots (`setters.EARLY`)
    serial:     rises with every change
    settled:    top-level facts that the node shares with its caller and that never change. A snapshot need not copy a
                fact while slot 15 has the same object as here
    looks:      where reads of facts are noted; None: nowhere
    """

    __slots__ = (
        "_handed_out",
        "_root",
        "_version",
        "_view",
        "early",
        "history",
        "lock",
        "looks",
        "marks",
        "provenance",
        "rules",
        "secrets",
        "serial",
        "settled",
        "trees",
        "unknown",
    )

    # A ledger is equal to itself alone: the content of its cache comes and goes.
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has no hash
    __eq__ = object.__eq__

    def __bool__(self) -> bool:
        return True

    def __init__(
        self,
        provenance: bool,
        root: Callable[[], str],
        secrets: Secrets = NO_SECRETS,
        rules: tuple[PathRule, ...] = (),
    ) -> None:
        # root: gives the folder to which the files of marks are relative
        empty = OwnedMap()  # every slot begins with it: a write copies it
        empty.shared = True
        self.trees: list[OwnedMap] = [empty] * (len(SLOTS) + 1)  # [0] is never used
        self.marks = Marks(root)
        self.early = self.marks.setter.kind in EARLY
        self.history: dict[Path, dict[tuple[int, bool], Chronicle]] = {}
        self.provenance = provenance
        self.secrets = secrets
        self.serial = 0
        self.settled: Mapping[Any, Any] = {}
        self.rules = rules
        self.unknown: dict[int, tuple[Layer, ...]] = {}
        self._root: Any = None  # the trees joined; None after a slot got another map
        self._version: Version | None = None  # None after a write
        self._handed_out = 0  # the number of the last version
        self._view: MapView | None = None
        self.lock = RLock()
        self.looks: Looks | None = None

    # Reading

    def plan(self, branch: Branch = PLAN) -> Branch:
        """A part of the order of precedence, PLAN for all, with the rules for paths applied to its policies."""
        return under_rules(branch, self.rules) if self.rules else branch

    def view(self) -> MapView:
        """The merged view of the current version; the same object until a write.

        A view that was given out never changes, also after a write.
        """
        with self.lock:
            if self._view is None:
                self._view = MapView(self.roots(), self.version())
            return self._view

    def roots(self) -> Any:
        """The root maps of all slots as `Joined`, not merged yet. The caller holds the lock."""
        if self._root is None:
            self._root = joined_roots(self.trees, self.plan())
        return self._root

    def version(self) -> Version:
        """The current version, under which views are made. A write ends it, and the next call makes a new one.

        The caller must hold the lock.
        """
        if self._version is None:
            self._version = Version(self.lock, self.looks)
            self._handed_out = self._version.number
        return self._version

    def __missing__(self, key: Any) -> Any:
        """The merged value at a top-level key, or at a tuple of steps, for the first read since the last write."""
        if type(key) is tuple and key:
            # Only texts: an index of a list may equal another step, as 1 equals True.
            if self.looks is None and _TEXT.issuperset(map(type, key)):
                with self.lock:
                    value = self.part_at(PLAN, key)
                    if type(value) in READY:  # no view is needed for a scalar
                        self[key] = value
                        return value
            return read_steps(self.view(), (), key)
        view = self.view()
        value = view[key]
        if key in view._cache:
            with self.lock:
                if view is self._view:  # no thread has written meanwhile
                    self[key] = value
        return value

    def part_at(self, branch: Branch, path: Path, compute: bool = False) -> Any:
        """The value at *path* in a branch of the plan: a scalar or list, a map or `Joined` maps not merged yet, or
        ABSENT.

        Nothing is copied: the caller must not change the result.
        branch:  a part of the order of precedence; PLAN for all
        compute: True computes a deferred value at *path* or on the way to it. False returns a deferred value at *path*
                 as it is, and ABSENT for a path below one
        """
        with self.lock:
            here: Any = self.roots() if branch is PLAN else joined_roots(self.trees, self.plan(branch))
            for depth, step in enumerate(path, 1):
                is_map = type(here) is Joined or isinstance(here, dict)
                here = entry_at(here, step) if is_map else dig(here, (step,))
                if compute and type(here) is Deferred:
                    here = here.evaluate(path[:depth])
                if here is ABSENT:
                    break
            return here

    def plain_copy(self, part: Any, evaluate: bool, path: Path = ()) -> Any:
        """A plain copy of a value or `Joined` maps of this ledger; deferred values are computed without the lock.

        part:     the value; a caller that looks it up in the trees must hold the lock
        evaluate: True computes deferred values; False leaves them as they are
        path:     where it is in the node, for messages
        """
        deferred: list[Any] = []
        with self.lock:
            data = unevaluated_copy(part, deferred)
        return computed(data, path) if evaluate and deferred else data

    def unsettled_keys(self) -> list[Any]:
        """The top-level keys of facts with another object than in `settled`: a snapshot must copy their values."""
        return [key for key, value in self.trees[15].items() if value is not self.settled.get(key, ABSENT)]

    # Writing

    def put(
        self,
        slot: int,
        path: Path,
        value: Any,
        mark: int = 0,
        set_by: list[Origins] | None = None,
    ) -> None:
        """Store *value* at *path* of a slot; missing maps on the way are made. The caller must hold the lock.

        The old value goes into the history, unless the ledger has no provenance.
        path:   at least one step; `replace` sets a whole slot
        value:  not copied, so the caller must not change it; secrets in it are wrapped
        mark:   of the line that sets it; 0: not known
        set_by: for a list that was changed in place: the origins of its elements; None: *mark* set all of it
        raises: InternalError, if a step leads through a scalar or a list
        cost:   the depth of the path
        """
        key, value = path[-1], self.secrets.wrapped(path, value)
        parent = self._map_for_write(slot, path, mark)
        if self.provenance:
            origins = parent.origins
            if key in parent:
                self._add_event(slot, path, Event("overwritten", parent[key], origins.get(key, parent.origin), mark))
            origins[key] = mark if set_by is None else set_by
        self._set(parent, key, value)
        self.serial += 1

    def erase(self, slot: int, path: Path, mark: int = 0) -> None:
        """Remove the value at *path* in one slot, and note it in the history; does nothing if *path* is not set.

        path: at least one step, all in maps; an element of a list is removed by `put` of the whole list. To empty a
              slot, call `replace`
        mark: the mark of the line that removes the value; 0: not known
        """
        key = path[-1]
        if dig(self.trees[slot], path) is ABSENT:
            return
        with self.lock:
            holder = dig(self.trees[slot], path[:-1])
            if isinstance(holder, OwnedMap) and holder.since < self._handed_out:
                holder.shared = True  # views need the place of the key, which `past` does not keep
            parent = self._map_for_write(slot, path, mark)
            if self.provenance:
                set_by = parent.origins.pop(key, parent.origin)
                self._add_event(slot, path, Event("erased", parent[key], set_by, mark))
            del parent[key]
            self.serial += 1

    def replace(self, slot: int, tree: dict[Any, Any], mark: int = 0, remember: bool = True) -> None:
        """Replace the whole content of a slot by *tree*, and empty the cache of reads.

        tree:     {} empties the slot. It is not copied, so the caller must not change it; secrets in it are wrapped
        mark:     of the line that sets it, for entries that have no mark of their own; 0: not known
        remember: True notes the old content in the history, as one event at the path (). Nothing is noted if the slot
                  was empty, or without provenance. False, for a new run, notes nothing, and forgets the slot's unknown
                  layers
        """
        tree = self.secrets.wrapped((), tree)
        with self.lock:
            old = self.trees[slot]
            new = tree if isinstance(tree, OwnedMap) else OwnedMap(tree)
            if self.looks is not None and slot == len(SLOTS):
                new = WatchedMap(new, looks=self.looks)
            new.origin = mark
            self._end_version()
            self._root = None
            old.shared = True
            if old and remember and self.provenance:
                self._add_event(slot, (), Event("overwritten", old, old.origin, mark))
            if not remember:
                self.unknown.pop(slot, None)
            self.trees[slot] = new
            self.serial += 1

    def add_unknown(self, slot: int, layers: Iterable[Layer]) -> None:
        """Add layers that cannot be read to a slot, each once. No value changes, and views stay current."""
        with self.lock:
            known = tuple(dict.fromkeys((*self.unknown.get(slot, ()), *layers)))
            if known:
                self.unknown[slot] = known

    def note_silent(self, slot: int, path: Path, value: Any, mark: int) -> None:
        """Note in the history that an `unless` found a value at *path* and did not set *value*. No value changes.

        Without provenance nothing is noted. A sensitive value is wrapped.
        slot: the number of the slot; mark: of the line with the `unless`
        """
        value = self.secrets.wrapped(path, value)
        if self.provenance:
            with self.lock:
                self._add_event(slot, path, Event("silent", value, mark, 0))

    def note_empty_map(self, slot: int, path: Path, mark: int) -> None:
        """Note in the history that *mark* merged an empty map over the map at *path*, which changed nothing.

        Without provenance nothing is noted.
        """
        self._note_without_effect("overwritten", slot, path, {}, mark)

    def note_kept_out(self, slot: int, path: Path, value: Any, mark: int) -> None:
        """Note in the history that a rule kept the value at *path* of a slot, and did not let *mark* set *value*.

        Without provenance nothing is noted. A sensitive value is wrapped.
        """
        value = self.secrets.wrapped(path, value)
        self._note_without_effect("kept out", slot, path, value, mark)

    def _note_without_effect(self, what: str, slot: int, path: Path, value: Any, mark: int) -> None:
        if self.provenance:
            with self.lock:
                by = setters_at(self.trees[slot], self.trees[slot].origin, path)[0].source
                self._add_event(slot, path, Event(what, value, mark, by))

    def switch_setter(self, setter: Setter) -> Setter:
        """Make *setter* the current one, which sets values from now on, and return the setter that was current
        before.
        """
        before = self.marks.setter
        self.switch_back(self.marks.known_setter(setter))
        return before

    def switch_back(self, setter: Setter) -> None:
        """Make *setter* the current one again. setter: one that `switch_setter` returned, so that its marks are
        found
        """
        with self.lock:
            self.marks.setter, self.early = setter, setter.kind in EARLY
            self.serial += 1

    def _map_for_write(self, slot: int, path: Path, mark: int) -> OwnedMap:
        """The map that holds the last step of *path* in a slot, free to be changed; missing maps on the way are made.

        From here on the current version is an old one.
        """
        self._end_version()
        here = self.trees[slot]
        if not here:
            self._root = None  # empty slots are left out of it
        if not _is_writable(here):
            here = self.trees[slot] = writable_copy(here)
            here.since, self._root = self._handed_out, None
        for step in path[:-1]:
            below: Any = here.get(step)
            if isinstance(below, OwnedMap) and _is_writable(below):
                here = below
            else:
                here = self._put_writable(here, step, below, mark)
        return here

    def _end_version(self) -> None:
        """Make the current version an old one, and empty the cache. Its views look at `past` from now on."""
        self.clear()
        if self._version is not None:
            self._version.is_old = True
            self._version = self._view = None

    def _set(self, parent: OwnedMap, key: Any, value: Any) -> None:
        """Put a value into a map; the map keeps the replaced value where a view may need it."""
        if parent.since < self._handed_out:
            parent.past.append((self._handed_out, key, parent.get(key, ABSENT)))
        parent[key] = value

    def _put_writable(self, parent: OwnedMap, step: Any, below: Any, mark: int) -> OwnedMap:
        """Put a new writable map at *step*: a copy of *below*, or an empty map where nothing is there."""
        set_by = parent.origins.get(step, parent.origin)
        if below is None and step not in parent:
            new = OwnedMap((), mark)
            if self.provenance:
                parent.origins[step] = mark
        elif isinstance(below, OwnedMap):
            new = writable_copy(below)
        elif type(below) is dict:
            new = OwnedMap(below, set_by if isinstance(set_by, int) else 0)
        else:
            raise InternalError(f"a write went through a {type(below).__name__}, at the step {step!r}")
        new.since = self._handed_out
        self._set(parent, step, new)
        return new

    def _add_event(self, slot: int, path: Path, event: Event) -> None:
        if isinstance(event.value, OwnedMap):
            event.value.shared = True  # nothing may change it any more
        chronicles = self.history.setdefault(path, {})
        # Apart: an `unless` in a loop must not push out values that were really overwritten.
        chronicles.setdefault((slot, event.what in NEVER_SET), Chronicle([])).add(event)

    # Provenance

    def origin(self, slot: int, path: Path) -> tuple[Origin, Mark]:
        """(origin, mark) of the value that a slot has at *path*. If *path* is not set: of the nearest map above.

        A list has the origin of its last change. An element that several merged lists have, has the origin from the
        first of these lists.
        cost: the depth of the path
        """
        tree = self.trees[slot]
        return self.marks.place(setters_at(tree, tree.origin, path)[0])


def _is_writable(tree: OwnedMap) -> bool:
    """Whether a write may change a map in place. After as many writes as it has keys, a copy drops its `past`."""
    return not tree.shared and len(tree.past) <= len(tree)


# --- history ------------------------------------------------------------------------


HISTORY_BOUND = 5
"""How many events are kept for one path of one slot: the first, and the last four."""


NEVER_SET = frozenset({"silent", "kept out"})
"""The kinds of an Event of a value that was never in the slot. "silent": an `unless` found a value and did not set its
own. "kept out": a rule for the path kept the value that was there.
"""

EVENTS = NEVER_SET | {"overwritten", "erased"}
"""The kinds of an Event."""


class Event(NamedTuple):
    """One entry of the history of a path in a slot: a value that was overwritten or erased, or was not set.

    There are four kinds (`EVENTS`). A *mark* is the number of a line that sets values; see `Ledger.marks`.

    "overwritten": the slot had *value*; the line *by* set another value. If an empty map was merged into a map, *value*
                   is {}, and the map of the line *by* is still there
    "erased":      the slot had *value*; the line *by* removed it
    "silent":      the slot never had *value*: a line with `unless` found another value and set nothing. *by* is 0
    "kept out":    the slot never had *value*: a rule for the path kept the value of the line *by*

    what:   the kind
    value:  the old value, or the value that was not set. It is shared and must not change. A map also has the marks of
            its entries
    set_by: the mark of the line that set *value* or wanted to; for some lists, one origin for each element. For a map:
            the mark of the entries without a mark of their own
    by:     the mark of the line that set, removed or kept the value of the slot; 0 for "silent"
    """

    what: str
    value: Any
    set_by: SetBy
    by: int


@dataclass(eq=False, slots=True)
class Chronicle:
    """The history of one path of one slot. It keeps the first event and the last four, and counts the others.

    events:  the kept events, the oldest first; at least one, at most HISTORY_BOUND
    dropped: the number of events after the first one that are not kept
    """

    events: list[Event]
    dropped: int = 0

    def add(self, event: Event) -> None:
        """Add the newest event. If there are more than HISTORY_BOUND events then, the second oldest is removed."""
        self.events.append(event)
        if len(self.events) > HISTORY_BOUND:
            del self.events[1]
            self.dropped += 1

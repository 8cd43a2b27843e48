"""The fifteen trees, and the history of what was overwritten, erased or stayed silent.

Every change of a node goes through here, so this is the only place that forgets
folded answers, and it forgets those along the path that changed and no others. It
knows the view's caches, but neither components nor writers: a slot is a number.

How a write stays cheap and a view stays true (docs/decisions/0004): a write changes a map
in place and notes what it replaces, under the number of the version that was read last.
Views of that version, and of earlier ones, find it there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.looks import Looks
from nodeattrs.core.origins import Origins
from nodeattrs.core.rules import PathRule
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import InternalError
from nodeattrs.node.joined import entry_at, evaluated, joined_roots, unevaluated_copy
from nodeattrs.node.maps import Branch, Joined, OwnedMap, SetBy, WatchedMap, setters_at, writable_copy
from nodeattrs.node.secrets import Secrets
from nodeattrs.node.setters import EARLY, Mark, Marks, Setter
from nodeattrs.node.slots import PLAN, SLOTS, under_rules
from nodeattrs.node.values import READY, Deferred
from nodeattrs.node.view import MapView, Version, read_steps

_TEXT = {str}


class Ledger(dict[Any, Any]):
    """The fifteen trees of a node, one merged view of them, and the history. Every change of a node goes through here.

    As a dict it caches the answers that a node has read: values at top-level keys, and scalars that were read with
    several steps at once. A write empties the cache. Slots are numbers from 1 to 15.

    provenance: False keeps no marks and no history
    root:       gives the folder to which the files of marks are relative
    secrets:    the paths whose values are wrapped as Sensitive when they enter; None: none are
    early:      whether the current setter writes the attribute file's slots; see `EARLY`
    serial:     rises with every change
    rules:      rules for paths, which replace Chef's there
    settled:    top-level facts that never change again: entries of slot 15 that are these objects were not copied
    unknown:    slot -> layers in it that cannot be read; forgotten when the slot is replaced for a new run
    looks:      where reads of facts are noted; None: nowhere
    trees:      the maps by slot number; the first one is never used
    history:    path -> (slot, whether silent) -> Chronicle
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

    # Itself and nothing else: what it has as a dict comes and goes.
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has no hash
    __eq__ = object.__eq__

    def __bool__(self) -> bool:
        return True

    def __init__(
        self,
        provenance: bool,
        root: Callable[[], str],
        secrets: Secrets | None = None,
        rules: tuple[PathRule, ...] = (),
    ) -> None:
        empty = OwnedMap()  # what every slot begins with: a write copies it
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
        self._root: Any = None  # what all slots have, joined; None after a slot got another map
        self._version: Version | None = None  # None after a write
        self._handed_out = 0  # the number of the last version
        self._view: MapView | None = None
        self.lock = RLock()
        self.looks: Looks | None = None

    # Reading

    def plan(self, branch: Branch = PLAN) -> Branch:
        """The order of precedence, or a part of it, with the rules for paths applied."""
        return under_rules(branch, self.rules) if self.rules else branch

    def view(self) -> MapView:
        """The merged view of the current version. A view that was returned never changes; a write makes the
        next call give another.
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
        """The current version, under which views are made; a new one after each write. The caller holds the lock."""
        if self._version is None:
            self._version = Version(self.lock, self.looks)
            self._handed_out = self._version.number
        return self._version

    def __missing__(self, key: Any) -> Any:
        """What is read at a top-level key, or at several steps, for the first time since the last write."""
        if type(key) is tuple and key:
            # An index of a list may equal another step: 1 is True.
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
        """The value at *path* in some slots, not merged further: a value, `Joined` maps, or ABSENT.

        branch:  the slots and their policies; PLAN for all
        compute: True computes deferred values on the way and at the path itself
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
        """A plain copy of a value or `Joined` maps of this ledger.

        part:     the value; a caller that looks it up in the trees holds the lock
        evaluate: True computes deferred values; False leaves them as they are
        path:     where it stands, for messages
        """
        odd: dict[Any, None] = {}
        with self.lock:
            data = unevaluated_copy(part, odd)
        return evaluated(data, odd, path) if evaluate else data

    def merged_tree(self, branch: Branch = PLAN, evaluate: bool = False) -> dict[Any, Any]:
        """A plain copy of some slots merged, as they are at one moment. evaluate: as in `plain_copy`"""
        odd: dict[Any, None] = {}
        with self.lock:
            data = unevaluated_copy(joined_roots(self.trees, self.plan(branch)), odd)
        tree: dict[Any, Any] = evaluated(data, odd) if evaluate else data
        return tree

    # Writing

    def put(
        self,
        slot: int,
        path: Path,
        value: Any,
        mark: int = 0,
        set_by: list[Origins] | None = None,
    ) -> None:
        """Store *value* at *path* of a slot; missing maps on the way are made. The caller holds the lock.

        The old value goes into the history. Each step must lead through a map or be absent.
        path:   at least one step; `replace` sets a whole slot
        value:  not copied, so the caller must not change it; secrets in it are wrapped
        mark:   the mark that sets it
        set_by: for a list that was changed in place: the origins of its elements; None: *mark* set all of it
        cost:   the depth of the path
        """
        secrets, key = self.secrets, path[-1]
        if secrets is not None and (secrets.first is None or path[0] in secrets.first):
            value = secrets.wrapped(path, value)
        parent = self._entered(slot, path, mark)
        if self.provenance:
            origins = parent.origins
            if key in parent:
                stood = parent[key]
                who = origins.get(key, parent.origin)
                self._remember(slot, path, Event("overwritten", stood, who, mark))
            origins[key] = mark if set_by is None else set_by
        self._set(parent, key, value)
        self.serial += 1

    def erase(self, slot: int, path: Path, mark: int = 0) -> None:
        """Remove the value at *path* in one slot, and note it in the history; does nothing where no value is there.

        path: at least one step; `replace` empties a whole slot
        """
        key = path[-1]
        if dig(self.trees[slot], path) is ABSENT:
            return
        with self.lock:
            holder = dig(self.trees[slot], path[:-1])
            if isinstance(holder, OwnedMap) and holder.since < self._handed_out:
                holder.shared = True  # views have it, and what is noted of a key that goes does not tell its place
            parent = self._entered(slot, path, mark)
            if self.provenance:
                set_by = parent.origins.pop(key, parent.origin)
                self._remember(slot, path, Event("erased", parent[key], set_by, mark))
            del parent[key]
            self.serial += 1

    def replace(self, slot: int, tree: dict[Any, Any], mark: int = 0, remember: bool = True) -> None:
        """Make *tree* the whole content of a slot.

        tree:     not copied; secrets in it are wrapped
        mark:     the mark that sets it
        remember: True notes the old content in the history. False, for a new run, does not, and forgets unknown layers
        """
        if self.secrets is not None:
            tree = self.secrets.wrapped((), tree)
        with self.lock:
            old = self.trees[slot]
            new = tree if isinstance(tree, OwnedMap) else OwnedMap(tree)
            if self.looks is not None and slot == len(SLOTS):
                new = WatchedMap(new, looks=self.looks)
            new.origin = mark
            self._outdate()
            self._root = None
            old.shared = True
            if old and remember and self.provenance:
                self._remember(slot, (), Event("overwritten", old, old.origin, mark))
            if not remember:
                self.unknown.pop(slot, None)
            self.trees[slot] = new
            self.serial += 1

    def add_unknown(self, slot: int, layers: Iterable[Layer]) -> None:
        """Add layers that cannot be read to a slot, each once. No value changes."""
        with self.lock:
            if known := tuple(dict.fromkeys((*self.unknown.get(slot, ()), *layers))):
                self.unknown[slot] = known

    def note_silent(self, slot: int, path: Path, value: Any, mark: int) -> None:
        """Note in the history that an `unless` found a value at *path* and did not set *value*.

        Without provenance nothing is noted.
        """
        if self.secrets is not None:
            value = self.secrets.wrapped(path, value)
        if self.provenance:
            with self.lock:
                self._remember(slot, path, Event("silent", value, mark, 0))

    def note_empty_map(self, slot: int, path: Path, mark: int) -> None:
        """Note in the history that an empty map was merged over the map at *path*, which changed nothing.
        Without provenance: nothing.
        """
        if self.provenance:
            with self.lock:
                by = setters_at(self.trees[slot], self.trees[slot].origin, path)[0].source
                self._remember(slot, path, Event("overwritten", {}, mark, by))

    def switch_setter(self, setter: Setter) -> Setter:
        """Make *setter* the current one, which sets values from now on, and return the setter before."""
        before = self.marks.setter
        self.switch_back(self.marks.known_setter(setter))
        return before

    def switch_back(self, setter: Setter) -> None:
        """Make a setter the current one again that has set values here before."""
        with self.lock:
            self.marks.setter, self.early = setter, setter.kind in EARLY
            self.serial += 1

    def _entered(self, slot: int, path: Path, mark: int) -> OwnedMap:
        """The map that holds the last step of *path* in a slot, ours to change. The merged view is of the past now."""
        self._outdate()
        here = self.trees[slot]
        if not here:
            self._root = None  # which leaves out slots in which nothing is
        if not _is_ours(here):
            here = self.trees[slot] = writable_copy(here)
            here.since, self._root = self._handed_out, None
        for step in path[:-1]:
            below: Any = here.get(step)
            here = below if isinstance(below, OwnedMap) and _is_ours(below) else self._owned(here, step, below, mark)
        return here

    def _outdate(self) -> None:
        """Leave the version of now to the views that were made of it."""
        self.clear()
        if self._version is not None:
            self._version.is_old = True
            self._version = self._view = None

    def _set(self, parent: OwnedMap, key: Any, value: Any) -> None:
        """Put a value into a map, and note for the views that were made what it replaces."""
        if parent.since < self._handed_out:
            parent.past.append((self._handed_out, key, parent.get(key, ABSENT)))
        parent[key] = value

    def _owned(self, parent: OwnedMap, step: Any, below: Any, mark: int) -> OwnedMap:
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

    def _remember(self, slot: int, path: Path, event: Event) -> None:
        if isinstance(event.value, OwnedMap):
            event.value.shared = True  # cut off: an older view sees it as it was
        chronicles = self.chronicles(path)
        # Those that stayed silent apart: an `unless` in a loop must not push out what was really overwritten.
        key = (slot, event.what == "silent")
        chronicle = chronicles.get(key)
        if chronicle is None:
            chronicles[key] = Chronicle(event)
        else:
            chronicle.add(event)

    # Provenance

    def chronicles(self, path: Path) -> dict[tuple[int, bool], Chronicle]:
        """The chronicles at *path*: (slot, whether silent) -> Chronicle; {} for no history. New chronicles may
        be added to it.
        """
        return self.history.setdefault(path, {})

    def origin(self, slot: int, path: Path) -> tuple[Origin, Mark]:
        """The origin of the value that a slot has at *path*, and the mark that set it. cost: the depth of the path"""
        tree = self.trees[slot]
        return self.marks.place(setters_at(tree, tree.origin, path)[0])


def _is_ours(tree: OwnedMap) -> bool:
    """Whether a write may change a map in place. A copy forgets what is noted: it is due after a write for each key."""
    return not tree.shared and len(tree.past) <= len(tree)


# --- history ------------------------------------------------------------------------


HISTORY_BOUND = 5
"""How many events are kept for one path of one slot: the first, and the last four."""


EVENTS = frozenset({"overwritten", "erased", "silent"})
"""What can happen to what was set; "silent" is an `unless` that found a value."""


class Event(NamedTuple):
    """One entry of the history of a path in a slot.

    what:   one of EVENTS
    value:  the value before; for "silent" the value that was not set. Maps keep their marks
    set_by: the marks that set the value; for a map the mark of its entries without a mark of their own
    by:     the mark that overwrote or erased it; 0 for "silent"
    """

    what: str
    value: Any
    set_by: SetBy
    by: int


class Chronicle:
    """The events of one path of one slot: the first one, the last four, and the number of dropped ones in between.

    first:   the oldest event
    last:    the newest ones, at most HISTORY_BOUND - 1
    dropped: the number of events in between that are not kept
    """

    __slots__ = ("dropped", "first", "last")

    def __init__(self, first: Event) -> None:
        self.first = first
        self.last: deque[Event] = deque(maxlen=HISTORY_BOUND - 1)
        self.dropped = 0

    def add(self, event: Event) -> None:
        """Add the newest event; the oldest of `last` is dropped where there are four. cost: constant"""
        if len(self.last) == HISTORY_BOUND - 1:
            self.dropped += 1
        self.last.append(event)

    @classmethod
    def from_events(cls, events: Sequence[Event], dropped: int) -> Chronicle:
        """A chronicle with these events, the oldest first; at least one is needed, more than five lose those in
        between.

        dropped: the number of events that were dropped before
        """
        made = cls(events[0])
        made.last.extend(events[1:])
        made.dropped = dropped
        return made

    def events(self) -> list[Event]:
        """The kept events as a list, the oldest first."""
        return [self.first, *self.last]

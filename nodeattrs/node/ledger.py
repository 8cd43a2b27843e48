"""The fifteen trees, and the history of what was overwritten, erased or stayed silent.

Every change of a node goes through here, so this is the only place that forgets
folded answers, and it forgets those along the path that changed and no others. It
knows the view's caches, but neither components nor writers: a slot is a number.

How a write stays cheap and a view stays true (docs/decisions/0004): a map that only the
trees and their own caches look at is changed in place; as soon as anybody else may hold
a view of it, its maps are marked shared and the next write copies them, one level each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from nodeattrs.core.claim import Origin
from nodeattrs.core.origins import Origins
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import InternalError
from nodeattrs.locks import RLock
from nodeattrs.node.history import Chronicle, Past
from nodeattrs.node.joined import empty_of, entry, evaluated, own, rooted, share
from nodeattrs.node.maps import AssignedMap, Branch, Joined, OwnedMap, has_number, replica, setters_in, thawed
from nodeattrs.node.secrets import Secrets
from nodeattrs.node.setters import EARLY, Mark, Marks, Setter
from nodeattrs.node.slots import PLAN, SLOTS, under_rules
from nodeattrs.node.values import READY, Deferred
from nodeattrs.node.view import ALONE, Answers, MapView, along
from nodeattrs.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodeattrs.core.fold import Layer
    from nodeattrs.core.part import Part
    from nodeattrs.core.rules import PathRule


class Prepared:
    """Some slots of a ledger that prepared nothing else: for many ledgers to begin with.

    trees, marks, history, unknown: see `Ledger`; nobody changes them any more
    numbered: whether a number is a key somewhere in the trees
    packed:   the marks as data as some of the slots use them, where a snapshot has made that of them
    alike:    whole ledgers that began with it, and had some of the slots as they were
    merged:   what the trees come to, where somebody has asked; nothing where a value in it is deferred
    """

    def __init__(
        self,
        trees: Mapping[int, OwnedMap],
        marks: tuple[Mark, ...],
        history: Mapping[Path, Mapping[tuple[int, bool], Chronicle]],
        unknown: Mapping[int, tuple[Layer, ...]],
        numbered: bool,
    ) -> None:
        self.trees, self.marks, self.history, self.unknown, self.numbered = trees, marks, history, unknown, numbered
        self.packed: dict[frozenset[int], list[Any]] = {}
        self.alike: dict[frozenset[int], list[Any]] = {}
        self.merged: dict[Any, Any] | None = None

    def standing_in(self, ledger: Ledger) -> frozenset[int]:
        """The slots that a ledger which began with it has as they were."""
        return frozenset(slot for slot, tree in self.trees.items() if tree and ledger.trees[slot] is tree)


Way = tuple[int, int, Path, OwnedMap, Any, Answers | None]
"""The serial after a write with all steps in one subscript, its slot, the steps to its map, which are text, the map,
what an attribute file has beside that, and what was read of the map, where there is a view that nobody holds (and that
a way would hold itself).
"""


class Ledger(dict[Any, Any]):
    """Fifteen trees, one merged view of them, and what has happened so far.

    As a dict it is what a node reads first: the view's answers at top-level keys, and scalars that were read with
    several steps at once. Whoever writes takes out what is in the way, before he looks who holds a view of it.

    provenance: False keeps no marks and no history
    root:       gives the folder to which the files of marks are relative
    secrets:    the paths whose values are wrapped as Sensitive when they enter
    begun:      what another ledger had prepared, where this one began with that
    before:     the serial of the moment before that
    leaves:     the several steps at which it has a scalar
    early:      whether the setter of now writes the attribute file's slots; see `Setter`
    serial:     rises with every change but that of a scalar, after which all maps are where they were
    rules:      what happens at some paths instead of what Chef does
    settled:    facts that nobody changes any more, entry by entry: what of slot 15 is one of these was never copied
    unknown:    by slot, the layers that stand there and cannot be read; those begin anew with the slot
    way:        how the last write came to its map, where nobody has asked for the view since; see `node.ways`
    """

    __slots__ = (
        "_unseen",
        "_view",
        "before",
        "begun",
        "early",
        "history",
        "leaves",
        "lock",
        "marks",
        "provenance",
        "rules",
        "secrets",
        "serial",
        "settled",
        "trees",
        "unknown",
        "way",
    )

    # Itself and nothing else: what it has as a dict comes and goes.
    __hash__ = object.__hash__  # type: ignore[assignment]
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
        empty = OwnedMap()  # what every slot begins with: whoever writes copies it
        empty.shared = True
        self.trees: list[OwnedMap] = [empty] * (len(SLOTS) + 1)  # [0] is never used
        self.marks = Marks(root)
        self.early = self.marks.setter.early
        self.begun: Prepared | None = None
        self.before = -1
        self.history: dict[Path, Mapping[tuple[int, bool], Chronicle]] = {}
        self.provenance = provenance
        self.secrets = secrets
        self.leaves: set[Path] = set()
        self.serial = 0
        self.settled: Mapping[Any, Any] = {}
        self.rules = rules
        self.unknown: dict[int, tuple[Layer, ...]] = {}
        self._view: MapView | None = None
        self._unseen: set[int] = set()
        self.way: Way | None = None
        self.lock = RLock()

    # Reading

    def plan(self, branch: Branch = PLAN) -> Branch:
        """The order of precedence, or a part of it, under the rules of this ledger."""
        return under_rules(branch, self.rules) if self.rules else branch

    def view(self) -> MapView:
        """The merged view of now. What is handed out never changes."""
        with self.lock:
            self.way = None  # whoever writes looks again who holds what
            view = self._view
            if view is None:
                self._unseen = empty_of(self.trees)
                view = self._view = MapView(rooted(self.trees, self.plan(), self._unseen))
            return view

    def __missing__(self, key: Any) -> Any:
        """What is read at a top-level key, or at several steps, for the first time since somebody wrote there."""
        if type(key) is not tuple or not key:
            view = self.view()
            value, stands = view[key], key in view._cache
        elif (value := self._first(key)) is ABSENT:
            view = self.view()
            value, stands = along(view, (), key)
        else:
            return value
        if stands:
            with self.lock:
                if view is self._view:  # whoever has written meanwhile found this view held
                    self[key] = value
                    if type(key) is tuple:
                        self.leaves.add(key)
        return value

    def _first(self, steps: Path) -> Any:
        """A scalar of which only the last step has not been read since it was written; ABSENT elsewhere.

        The next look keeps it. Nobody else comes to hold a view by it: it leaves the way of the last write as it is.
        """
        with self.lock:
            view, key = self._view, steps[-1]
            for step in steps[:-1]:
                if type(view) is not MapView:
                    return ABSENT
                view = view._cache.get(step)
            if type(view) is not MapView:
                return ABSENT
            known = view._cache.get(key, ABSENT)
            value = entry(view._part, key) if known is ABSENT else known
            if type(value) not in READY:
                return ABSENT
            if known is ABSENT:
                view._cache[key] = value
            else:
                self[steps] = value
                self.leaves.add(steps)
            return value

    def shared_part(self, branch: Branch) -> Any:
        """The roots of some slots for a view that no write keeps fresh: it counts as held from the start."""
        with self.lock:
            part = rooted(self.trees, self.plan(branch))
            share(part)
            return part

    def standing(self, branch: Branch, path: Path, compute: bool = False) -> Any:
        """What stands at a path in some slots, not merged further: a value, joined maps, or ABSENT.

        compute: go through deferred values, and give what one at the path itself comes to
        """
        with self.lock:
            whole = self.view()._part if branch is PLAN else None
            here: Any = rooted(self.trees, self.plan(branch)) if whole is None else whole
            for depth, step in enumerate(path, 1):
                is_map = type(here) is Joined or isinstance(here, dict)
                here = entry(here, step) if is_map else dig(here, (step,))
                if compute and type(here) is Deferred:
                    here = here.evaluate(path[:depth])
                if here is ABSENT:
                    break
            return here

    def folded(self, part: Any, evaluate: bool, path: Path = ()) -> Any:
        """A plain copy of maps of this ledger, which stand at *path*; callers that look *part* up hold the lock."""
        odd: dict[Any, None] = {}
        with self.lock:
            data = own(part, odd)
        return evaluated(data, odd, path) if evaluate else data

    def tree(self, branch: Branch = PLAN, evaluate: bool = False) -> dict[Any, Any]:
        """Some slots merged, as a plain copy of one moment."""
        odd: dict[Any, None] = {}
        with self.lock:
            data = own(rooted(self.trees, self.plan(branch)), odd)
        return evaluated(data, odd) if evaluate else data  # type: ignore[no-any-return]

    # Writing

    def store(self, slot: int, path: Path, value: Any, mark: int = 0, whose: list[Origins] | None = None) -> None:
        """Put *value*, which nobody else can change, at *path*; the steps to it are maps or absent.

        mark: who sets it
        whose: for a list worked on in place: who set each element
        cost: the depth of the path
        """
        if not path:
            self.replace(slot, value, mark)
            return
        with self.lock:
            self.put(slot, path, value, mark, whose)

    def put(
        self,
        slot: int,
        path: Path,
        value: Any,
        mark: int = 0,
        whose: list[Origins] | None = None,
        file: Any = None,
        before: Part | None = None,
    ) -> None:
        """As `store`, below the root, by who holds the lock.

        file:   what an attribute file has beside the map, where the steps were taken in one subscript: so may be those
                of the next write, and of who reads
        before: what stood there, where the list that stands there is *value* itself, which has grown
        """
        secrets, key, first = self.secrets, path[-1], path[0]
        if secrets is not None and (secrets.first is None or first in secrets.first):
            value, file = secrets.guarded(path, value), None
        is_read = self.pop(first, None) is not None
        parent, seen = self._enter(slot, path, mark)
        if self.provenance:
            origins = parent.origins
            if key in parent:
                stood = parent[key] if before is None else before.value
                who = origins.get(key, parent.origin) if before is None else before.origins
                self._remember(slot, path, ("overwritten", stood, who, mark))
            origins[key] = mark if whose is None else whose
        parent[key] = value
        self.serial += 1
        # Who reads step by step finds that key; where nobody does so, any more (now and then), it is to be asked for.
        if file is None or (is_read and self.serial % 8):
            view = self._view  # as `_leave`
            if view is not None and (top := view._cache.get(first)) is not None:
                self[first] = top
        else:
            self.way = self.serial, slot, path[:-1], parent, file, seen

    def erase(self, slot: int, path: Path, mark: int = 0) -> None:
        """Take away what stands at *path* in one slot; nothing happens where nothing does."""
        key = path[-1]
        if dig(self.trees[slot], path) is ABSENT:
            return
        with self.lock:
            self.pop(path[0], None)
            parent, _ = self._enter(slot, path, mark)
            if self.provenance:
                whose = parent.origins.pop(key, parent.origin)
                self._remember(slot, path, ("erased", parent[key], whose, mark))
            del parent[key]
            self._leave(path[0])

    def replace(self, slot: int, tree: dict[Any, Any], mark: int = 0, remember: bool = True) -> None:
        """Make *tree* the whole content of a slot.

        remember: False where a run begins anew: what stood there is no part of its history
        """
        if self.secrets is not None:
            tree = self.secrets.guarded((), tree)
        with self.lock:
            old = self.trees[slot]
            new = tree if isinstance(tree, OwnedMap) else OwnedMap(tree)
            new.origin = mark
            self._leave_view()
            old.shared = True
            if old and remember and self.provenance:
                self._remember(slot, (), ("overwritten", old, old.origin, mark))
            if not remember:
                self.unknown.pop(slot, None)
            self.trees[slot] = new
            self.serial += 1

    def not_read(self, slot: int, layers: Iterable[Layer]) -> None:
        """Note layers that stand in a slot and cannot be read; reads and other slots do not change."""
        with self.lock:
            if known := tuple(dict.fromkeys((*self.unknown.get(slot, ()), *layers))):
                self.unknown[slot] = known

    def prepared(self, slots: Iterable[int]) -> Prepared:
        """What some slots hold, for other ledgers; this one takes in nothing more."""
        slots = tuple(slots)
        trees = {slot: self.trees[slot] for slot in slots}
        for tree in trees.values():
            tree.shared = True
        history = {path: MappingProxyType(chronicles) for path, chronicles in self.history.items()}
        unknown = {slot: layers for slot, layers in self.unknown.items() if slot in slots}
        numbered = any(map(has_number, trees.values()))
        return Prepared(trees, tuple(self.marks.all()[1:]), history, unknown, numbered)

    def is_fresh(self, prepared: Prepared) -> bool:
        """Whether nothing was set here before, so that it can begin with what another ledger prepared."""
        fresh = self.provenance and len(self.marks) == 1 and self.unknown.keys().isdisjoint(prepared.trees)
        return fresh and not any(map(self.trees.__getitem__, prepared.trees))

    def begin_with(self, prepared: Prepared) -> None:
        """Hold what another ledger prepared, where nothing was set before (`is_fresh`).

        cost: does not grow with the trees
        """
        with self.lock:
            for slot, tree in prepared.trees.items():
                self.trees[slot] = tree
            self.marks.table += prepared.marks
            self.begun, self.before = prepared, self.serial
            self.history.update(prepared.history)
            self.unknown.update(prepared.unknown)
            self._leave_view()
            self.serial += 1

    def silent(self, slot: int, path: Path, value: Any, mark: int) -> None:
        """Note an `unless` that found a value and set nothing."""
        if self.secrets is not None:
            value = self.secrets.guarded(path, value)
        if self.provenance:
            with self.lock:
                self._remember(slot, path, ("silent", value, mark, 0))

    def met_empty(self, slot: int, path: Path, mark: int) -> None:
        """Note an empty map that was laid over another one: without that, it would be read."""
        if self.provenance:
            with self.lock:
                by = setters_in(self.trees[slot], self.trees[slot].origin, path)[0].source
                self._remember(slot, path, ("overwritten", {}, mark, by))

    def set_as(self, setter: Setter) -> Setter:
        """Who sets values from now on; answers who did so far. What writers remember of their place is void."""
        before = self.marks.setter
        self.set_back(self.marks.known_setter(setter))
        return before

    def set_back(self, setter: Setter) -> None:
        """As `set_as`, for one who has set values here before."""
        with self.lock:
            self.marks.setter, self.early = setter, setter.kind in EARLY
            self.serial += 1

    def _enter(self, slot: int, path: Path, mark: int) -> tuple[OwnedMap, Answers | None]:
        """The map that holds the last step of *path* in a slot, ours to change, and what was read of it by a view.

        What was folded along the path is forgotten. Whoever calls it has taken the top-level key out of what is found
        here: who comes to read there waits for the lock until `_leave`; who already holds a view keeps it as it is.
        """
        here, view = self.trees[slot], self._view
        if self.leaves:
            self.pop(path, None)
        unseen = slot in self._unseen
        if view is not None and ((here.shared and not unseen) or sys.getrefcount(view) > ALONE):
            self._leave_view()
            view = None
        if here.shared:
            here = self.trees[slot] = replica(here)
        if unseen and view is not None:
            self._see(slot, view)
        for step in path[:-1]:
            below: Any = here.get(step)
            ready = (type(below) is OwnedMap or type(below) is AssignedMap) and not below.shared
            if view is not None:
                seen = view._cache.get(step)
                if ready and type(seen) is MapView and sys.getrefcount(seen) <= ALONE:
                    view = seen
                else:
                    if not ready or type(seen) is MapView:
                        del seen
                        self._drop(view, step)
                        ready = ready and not below.shared  # who holds the view that went holds the map
                    view = None
            here = below if ready else self._owned(here, step, below, mark)
        if view is not None:
            self._drop(view, path[-1])
        return here, None if view is None else view._cache

    def _see(self, slot: int, view: MapView) -> None:
        """Let a view look at a slot that had nothing when it was made, and has nothing yet: no answer changes."""
        self._unseen.discard(slot)
        view._cache.part = view._part = rooted(self.trees, self.plan(), self._unseen)

    def _leave_view(self) -> None:
        """Leave the merged view to those who hold it; the next read begins another one."""
        if self._view is not None:
            share(self._view._part)
            self._view = None
        self.clear()
        self.leaves.clear()

    def _drop(self, view: MapView, key: Any) -> None:
        view._cache.order = None
        gone = view._cache.pop(key, None)
        if type(gone) is MapView:
            share(gone._part)  # held or not: somebody may hold a view further down
            for steps in self.leaves:
                self.pop(steps, None)
            self.leaves.clear()

    def _owned(self, parent: OwnedMap, step: Any, below: Any, mark: int) -> OwnedMap:
        whose = parent.origins.get(step, parent.origin)
        if below is None and step not in parent:
            new = OwnedMap((), mark)
            if self.provenance:
                parent.origins[step] = mark
        elif isinstance(below, OwnedMap):
            new = replica(below)
        elif type(below) is dict:
            new = thawed(below, whose if isinstance(whose, int) else 0)
        else:
            raise InternalError(f"a write went through a {type(below).__name__}, at the step {step!r}")
        parent[step] = new
        return new

    def _leave(self, first: Any) -> None:
        view = self._view
        if view is not None and (seen := view._cache.get(first)) is not None:
            self[first] = seen
        self.serial += 1

    def _remember(self, slot: int, path: Path, event: Past) -> None:
        what, value = event[:2]
        if isinstance(value, OwnedMap):
            value.shared = True  # cut off: whoever still looks at it sees it as it was
        chronicles: Any = self.history.get(path)
        if type(chronicles) is not dict:
            chronicles = self.chronicles(path)
        # Those that stayed silent apart: an `unless` in a loop must not push out what was really overwritten.
        key = (slot, what == "silent")
        chronicle = chronicles.get(key)
        if chronicle is None:
            chronicles[key] = Chronicle(event)
        else:
            chronicle.add(event)

    # Provenance

    def chronicles(self, path: Path) -> dict[tuple[int, bool], Chronicle]:
        """What happened at *path*, ours to add to (not what others prepared), by slot and whether one stayed silent."""
        known = self.history.get(path, {})
        chronicles = known if type(known) is dict else {key: one.copy() for key, one in known.items()}
        self.history[path] = chronicles
        return chronicles

    def origin(self, slot: int, path: Path) -> tuple[Origin, Mark]:
        """Who set what a slot has at *path*, and how. cost: the depth of the path"""
        tree = self.trees[slot]
        return self.marks.place(setters_in(tree, tree.origin, path)[0])

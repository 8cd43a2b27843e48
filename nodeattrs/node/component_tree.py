"""Rule 2: one component as a setter sees it, the attribute file's slot under the recipe's.

Chef keeps a component in one mutable tree; here it is two, and this module makes them behave as one. A recipe sees the
attribute file's tree under its own. A map that a recipe assigns hides the attribute file's values there. A map that it
only steps through is merged. Work in or below a list copies the whole list into the recipe's slot. A deletion happens
in both slots. An attribute file sees and changes its own tree only, also when it runs late.

The module knows paths and two slots. Chaining, `unless` and Python's item syntax belong to the writers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.claim import Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.origins import At
from nodeattrs.core.policy import Meet
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig, spell
from nodeattrs.errors import BadArgument, NullInTheWay, TooDeep, TypeConflict
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.lists import Elements
from nodeattrs.node.maps import AssignedMap, Joined, OwnedMap, SetBy, element_setters, set_by_at, with_later_mark
from nodeattrs.node.slots import PAIR, Component, component
from nodeattrs.node.values import ROOM, key_of

_NO_CONTAINER = SCALARS | {Absent}
_SET, _FULL = Verb.SET, Verb.FULL

Place = tuple[Any, Any]
"""The values at a path of a component: (the attribute file's, the recipe's).

Each may be ABSENT. Where both are there, both are maps and are read as one. A component with a
single slot has its value in the second. A bare tuple, since every step of every write makes one.
"""

TEXT = {str}

Change = Callable[[Elements, int], Any]
"""Changes a list in place: called with its elements, and the mark of the line that changes them."""


def joined_place(file: Any, recipe: Any) -> Place:
    """The values of an attribute file and a recipe at one path as a Place: both where they are maps that merge.

    Else the attribute file's is ABSENT, since the recipe's value hides it.
    """
    kinds = type(file), type(recipe)
    verdict = PAIR.cells.get(kinds) or PAIR.verdict(*kinds)
    return file if type(verdict) is Meet else ABSENT, recipe


def value_of(place: Place) -> Any:
    """The value at a place: the recipe's, or the attribute file's where the recipe has none; ABSENT where
    neither has one.
    """
    file, recipe = place
    return file if recipe is ABSENT else recipe


def part_to_merge(place: Place) -> Any:
    """The value at a place in the form for merging: one value, or both maps as `Joined`; ABSENT where there is none."""
    file, recipe = place
    return value_of(place) if file is ABSENT or recipe is ABSENT else Joined(PAIR, [file, recipe])


def step_down(place: Place, step: Any) -> Place:
    """The place one step below: a map's entry by key, a list's by index; (ABSENT, ABSENT) where nothing is.

    Where both slots have a map, both are stepped into.
    """
    file, recipe = place
    if recipe is not ABSENT:
        recipe = recipe.get(step, ABSENT) if isinstance(recipe, dict) else dig(recipe, (step,))
    if file is not ABSENT:
        file = file.get(step, ABSENT) if isinstance(file, dict) else dig(file, (step,))
        if file is not ABSENT and recipe is not ABSENT:
            return (file, recipe) if type(recipe) is OwnedMap is type(file) else joined_place(file, recipe)
    return file, recipe


def steps_down(place: Place, steps: Path) -> Place:
    """The place several steps below; (ABSENT, ABSENT) where nothing is. Nothing is created."""
    for step in steps:
        place = step_down(place, step)
    return place


class Detached:
    """A map or list that was replaced or deleted while writers may still refer to it.

    These writers go on in a tree of their own, which all of them share.
    serial: the ledger's serial when it was replaced
    place:  the content at that time
    """

    __slots__ = ("_own_tree", "place", "serial")

    def __init__(self, serial: int, place: Place) -> None:
        self.serial = serial
        self.place = place
        self._own_tree: ComponentTree | None = None

    def own_tree(self) -> tuple[ComponentTree, Path]:
        """The tree in which the old content lives on, and the path of the content in it. It is made at the
        first call.
        """
        if self._own_tree is None:
            self._own_tree = ComponentTree(Ledger(provenance=False, root=str), component("automatic"))
            self._own_tree.replace({"apart": self._own_tree.plain_of(self.place)})
        return self._own_tree, ("apart",)


class _DetachedAtPath:
    """The times at which the container at one path was replaced: the last ones, with what it held until then."""

    __slots__ = ("forgotten", "kept")

    def __init__(self) -> None:
        self.kept: deque[Detached] = deque(maxlen=16)
        self.forgotten = -1  # the serial of the newest one that is no longer kept

    def add(self, one: Detached) -> None:
        if len(self.kept) == self.kept.maxlen:
            self.forgotten = self.kept[0].serial
        self.kept.append(one)


class ComponentTree:
    """One component of a node, read and changed on behalf of the current setter.

    A component that cookbooks write has two slots; all others have one, and then `lower` and `upper` are the same.
    ledger:    the fifteen trees
    component: its name and slots
    lower:     the number of the attribute file's slot
    upper:     the number of the recipe's slot
    detached:  path -> containers that were replaced there, for writers that refer to them
    """

    __slots__ = ("_has_two_slots", "component", "detached", "ledger", "lower", "upper")

    def __init__(self, ledger: Ledger, component: Component) -> None:
        self.ledger = ledger
        self.component = component
        self.detached: dict[Path, _DetachedAtPath] = {}
        # Asked for at every step.
        self.lower, self.upper, self._has_two_slots = component.file, component.recipe, component.has_two_slots

    @property
    def _by_recipe(self) -> bool:
        """Whether what is set now goes into a slot of its own, over what attribute files say."""
        return self._has_two_slots and not self.ledger.early

    @property
    def slot(self) -> int:
        """The number of the slot into which the current setter writes."""
        return self.lower if self.ledger.early else self.upper

    def root(self) -> Place:
        """The whole component as the current setter sees it. An attribute file does not see the recipe's slot.

        With one slot, the first part of the place is ABSENT.
        """
        ledger = self.ledger
        recipe = ledger.trees[self.upper]
        if not self._has_two_slots:
            return ABSENT, recipe
        file = ledger.trees[self.lower]
        if ledger.early:
            return file, ABSENT
        return (file, recipe) if file and type(recipe) is OwnedMap else (ABSENT, recipe)

    def place(self, path: Path) -> Place:
        """The place at *path*; (ABSENT, ABSENT) where nothing is. Nothing is created. Negative indexes count
        from the end.
        """
        return steps_down(self.root(), path)

    def plain(self, path: Path, evaluate: bool = False) -> Any:
        """A copy of what stands at *path*, or ABSENT."""
        return self.plain_of(self.place(path), evaluate, path)

    def plain_of(self, place: Place, evaluate: bool = False, path: Path = ()) -> Any:
        """A copy of what stands at a place, which is at *path*; or ABSENT."""
        part = part_to_merge(place)
        return ABSENT if part is ABSENT else self.ledger.plain_copy(part, evaluate, path)

    # Steps. Chef's level step: through what exists; an absent key of a map becomes an empty map.

    def create_step(self, path: Path, step: Any, on_the_way: bool = False) -> Place:
        """The place one step below *path*, where nothing was found: a new empty map is stored there, as in Chef.

        In a list nothing is created: the place holds null.
        on_the_way: whether the line of code sets something further down; see `Marks.number_here`
        raises:     NullInTheWay, TypeConflict, where no step can be taken from the value at *path*; TooDeep
        """
        with self.ledger.lock:
            place = self.place(path)
            found = step_down(place, step)  # another thread may have come first
            return found if value_of(found) is not ABSENT else self._create_step(place, path, step, on_the_way)

    def step_through(self, path: Path, place: Place, steps: tuple[Any, ...]) -> tuple[Path, Place]:
        """The path and place some steps below *path*; absent maps on the way are created and stored.

        place:  the place of *path*
        raises: NullInTheWay, TypeConflict, TooDeep, as `create_step`; BadKey
        """
        if TEXT.issuperset(map(type, steps)):
            found = file, recipe = steps_down(place, steps)
            if recipe is not ABSENT or file is not ABSENT:
                return (*path, *steps), found
        for step in steps:  # something is missing on the way: it is made, or an error
            step = key_of(step, path)
            place = file, recipe = step_down(place, step)
            if recipe is ABSENT and file is ABSENT:
                place = self.create_step(path, step, on_the_way=True)
            path = (*path, step)
        return path, place

    def _create_step(self, place: Place, path: Path, step: Any, on_the_way: bool) -> Place:
        thing = value_of(place)
        if len(path) >= ROOM:
            raise TooDeep(f"deeper than {ROOM} levels at {spell(path)}", path=(*path, step))
        if isinstance(thing, OwnedMap):  # nothing stands there, so that nothing else can be in the way
            mark = self._here(len(path) + 1, _SET, on_the_way, 6)
            made = OwnedMap((), mark)
            self.ledger.put(self.slot, (*path, step), made, mark)
            return (made, ABSENT) if self._has_two_slots and self.ledger.early else (ABSENT, made)
        if isinstance(thing, dict):  # it may lie in a list, which takes a copy
            self.store((*path, step), OwnedMap(), parent=place, on_the_way=on_the_way)
            return self.place((*path, step))
        if isinstance(thing, list) and type(step) is int:
            return ABSENT, None
        raise self.conflict(thing, path, step)

    def conflict(self, thing: Any, path: Path, step: Any) -> TypeConflict:
        """The error for a step that cannot be taken from the value at *path*; it is returned, not raised.

        NullInTheWay where that value is null or absent, else TypeConflict. It names the setter of the value.
        """
        details = []
        where = f"{self.component.name}.{spell(path)}" if path else self.component.name
        if path and thing is not ABSENT:
            who = self.setter_text(path)
            details = [f"{_short(thing)} was set by {who}"] if who else []
        if thing is None or thing is ABSENT:
            return NullInTheWay(
                f"cannot step to {spell((step,))}: there is {'null' if thing is None else 'nothing'} at {where}",
                path=(*path, step),
                details=details,
                hint="assign a map there first, or use write(...), which replaces what is in the way",
            )
        sort = "list, which takes whole numbers," if isinstance(thing, list) else f"value {_short(thing)}"
        return TypeConflict(
            f"cannot step to {spell((step,))}: there is the {sort} at {where}",
            path=(*path, step),
            details=details,
            hint="write(...) and the full assignment (default_full) replace what is in the way",
        )

    def setter_text(self, path: Path) -> str:
        """The origin of the value at *path* in words; "" where there is no value, or origins are not kept."""
        file, recipe = self.place(path)
        if (file is ABSENT and recipe is ABSENT) or not self.ledger.provenance:
            return ""
        slot = self.lower if recipe is ABSENT else self.upper
        return str(self.ledger.origin(slot, path)[0])

    # Changes

    def store(
        self,
        path: Path,
        value: Any,
        full: bool = False,
        parent: Place | None = None,
        depth: int | None = None,
        on_the_way: bool = False,
    ) -> None:
        """Store *value* at *path* for the current setter, and note the old value in the history. Chef's store at a
        level.

        The parent must be a map, or a list where the last step is an index. Inside a list, the whole list is copied. A
        recipe's map is marked as assigned: it hides the attribute file's values.
        value:  made by `stored`; it is not copied again
        full:   whether it is a full assignment
        parent: the place of the parent; None: it is looked up
        depth:  where the locator begins to count paths; None: at the depth of *path*
        on_the_way: as in `create_step`
        raises: NullInTheWay, TypeConflict, for any other parent; TooDeep
        """
        # Each write comes through here, so it calls nothing that it need not.
        if len(path) > ROOM:
            raise TooDeep(f"deeper than {ROOM} levels at {spell(path)}", path=path)
        file, recipe = parent = self.place(path[:-1]) if parent is None else parent
        key = path[-1]
        above = file if recipe is ABSENT else recipe
        is_own = isinstance(above, OwnedMap)
        if not (is_own or isinstance(above, dict) or (isinstance(above, list) and type(key) is int)):
            raise self.conflict(above, path[:-1], key)
        ledger, depth = self.ledger, len(path) if depth is None else depth
        ledger.lock.acquire()  # as `with` does, in half the time
        try:
            if not is_own and (top := self._list_above(path)) is not None:  # what lies in a list has no owner
                mark = self._here(depth, Verb.APPEND, on_the_way)
                self._work(top, lambda own, mark: own.put(path[len(top) :], value, At(mark, path)), mark)
                return
            standing = above.get(key, ABSENT)
            if standing is ABSENT and file is not ABSENT is not recipe:
                standing = file.get(key, ABSENT)
            if type(standing) not in _NO_CONTAINER:
                self._note_detached(path, step_down(parent, key))
            slot, mark = self.lower if ledger.early else self.upper, 0
            assigned = type(value) is dict and self._by_recipe
            if ledger.provenance:
                verb = _FULL if full else Verb.REPLACE if assigned else _SET
                mark = ledger.marks.number_here(depth, verb, 3, on_the_way)  # its frame, this one, and that of a caller
            if assigned:
                value = AssignedMap(value, mark)
            elif isinstance(value, OwnedMap):
                value.origin = mark
            ledger.put(slot, path, value, mark)
        finally:
            ledger.lock.release()

    def _here(self, depth: int, verb: Verb, on_the_way: bool = False, above: int = 4) -> int:
        # Ours are the frames of `here`, of this method, of another one of this class and of its caller: four at least.
        return self.ledger.marks.number_here(depth, verb, above, on_the_way) if self.ledger.provenance else 0

    def _list_above(self, path: Path) -> Path | None:
        if int not in map(type, path):  # lists are entered by whole numbers only
            return None
        place = self.root()
        for depth, step in enumerate(path):
            if isinstance(value_of(place), list):
                return path[:depth]
            place = step_down(place, step)
        return None

    def work(self, path: Path, change: Change, anew: bool = False) -> Any:
        """Change the list at *path* in place. The changed list is stored in the slot of the current setter.

        change: (elements, mark) -> result; the result is returned
        anew:   True: the new content replaces the old one, so that nothing of it goes on
        """
        with self.ledger.lock:
            top = self._list_above(path)
            mark = self._here(len(path), Verb.APPEND, False, 5)
            if top is None or top == path:
                return self._work(path, change, mark, anew)
            steps, setter = path[len(top) :], At(mark, path)
            return self._work(
                top, lambda own, _: own.change_list_inside(steps, lambda inner: change(inner, mark), setter), mark
            )

    def _work(self, path: Path, change: Change, mark: int, anew: bool = False) -> Any:
        file, recipe = self.place(path)
        slot, elements = (self.lower, file) if recipe is ABSENT else (self.upper, recipe)
        set_by: SetBy = [0] * len(elements)
        if self.ledger.provenance:
            set_by = set_by_at(self.ledger.trees[slot], path)[0]
        own = Elements(list(elements), list(element_setters(set_by, path, len(elements))))
        answer = change(own, mark)
        now = (own.who or None) if anew else with_later_mark(set_by, own.who, mark)
        self.ledger.put(self.slot, path, own.values, mark, now)
        return answer

    def delete(self, path: Path) -> Any:
        """Remove a key of a map and return its value; None where it is absent. Both slots lose it where a recipe
        deletes.

        In a list, all elements equal to the last step are removed. raises: TypeConflict, where the parent is neither
        """
        with self.ledger.lock:
            return self._deleted(path)

    def _deleted(self, path: Path) -> Any:
        parent, step = self.place(path[:-1]), path[-1]
        thing = value_of(parent)
        if isinstance(thing, list):
            return self.work(path[:-1], lambda own, mark: own.remove(step))
        if not isinstance(thing, dict):
            raise self.conflict(thing, path[:-1], step)
        gone = step_down(parent, step)
        value = self.plain_of(gone, path=path)
        if value is ABSENT:
            return None
        top = self._list_above(path)
        if top is not None:
            self._work(top, lambda own, _: own.delete_inside(path[len(top) :]), self._here(len(top), Verb.APPEND))
            return value
        self._note_detached(path, gone)
        mark = self._here(len(path), Verb.ERASE)
        for slot in {self.upper, self.lower} if self._by_recipe else {self.slot}:
            self.ledger.erase(slot, path, mark)
        return value

    def replace(self, value: dict[Any, Any]) -> None:
        """Make *value* the whole component, as the current setter sees it. It is not copied."""
        self._note_detached((), self.root())
        mark = self._here(0, Verb.REPLACE if self._by_recipe else Verb.SET)
        self.ledger.replace(self.slot, AssignedMap(value, mark) if self._by_recipe else value, mark)

    def add_unknown(self, layer: Layer) -> None:
        """Note a layer of the current setter that cannot be read."""
        self.ledger.add_unknown(self.slot, (layer,))

    def empty(self) -> None:
        """Empty both slots for a new run, without history. Writers of the whole component stay live; others
        are detached.
        """
        for key in {key: None for slot in (self.lower, self.upper) for key in self.ledger.trees[slot]}:
            self.detach((key,))
        for slot in {self.lower, self.upper}:
            self.ledger.replace(slot, {}, remember=False)

    def write(self, path: Path, value: Any, full: bool = False, strict: bool = False) -> None:
        """Store *value* at *path*; a scalar in the way is first replaced by an empty map, missing maps are made.

        A list in the way stays where the next step is an index.
        full:   whether it is a full assignment
        strict: raise TypeConflict where a value in the way would be replaced
        raises: BadArgument, for the empty path
        """
        if not path:
            raise BadArgument("nothing can be written at the empty path", hint="assign the level: node.default = {...}")
        parent = steps_down(self.root(), path[:-1])
        if not isinstance(value_of(parent), dict):
            parent = self._made_way(path, full, strict)
        self.store(path, value, full, parent)

    def _made_way(self, path: Path, full: bool, strict: bool) -> Place:
        """The place above a path: what cannot take the next step is an empty map from now on."""
        parent = self.root()
        for depth in range(1, len(path)):
            at = path[:depth]
            parent = step_down(parent, at[-1])
            if value_of(parent) is ABSENT:
                parent = self.create_step(at[:-1], at[-1])
            thing = value_of(parent)
            if isinstance(thing, dict) or (isinstance(thing, list) and type(path[depth]) is int):
                continue
            if strict:
                raise TypeConflict(
                    f"cannot write below the value {_short(thing)} at {self.component.name}.{spell(at)}",
                    path=path,
                    details=[f"it was set by {self.setter_text(at)}"] if self.setter_text(at) else (),
                    hint="write(...) replaces what is in the way",
                )
            ours = parent[1] is not ABSENT and self._by_recipe
            with self.ledger.lock:
                self.store(at, AssignedMap() if ours else OwnedMap(), full, self.place(at[:-1]))
            parent = self.place(at)
        return parent

    def unlink(self, path: Path) -> Any:
        """Remove the value at *path* and return it; None where it is absent, or the parent is neither map nor list.

        raises: BadArgument, for the empty path
        """
        if not path:
            raise BadArgument("the empty path cannot be removed")
        thing = value_of(parent := self.place(path[:-1]))
        absent = (
            value_of(step_down(parent, path[-1])) is ABSENT if isinstance(thing, dict) else not isinstance(thing, list)
        )
        return None if absent else self.delete(path)

    def note_silent(self, path: Path, value: Any, depth: int | None = None) -> None:
        """Note in the history that an `unless` found a value at *path* and did not set *value*. depth: as in `store`"""
        if self.ledger.provenance:
            mark = self.ledger.marks.number_here(len(path) if depth is None else depth, Verb.SILENT)
            self.ledger.note_silent(self.slot, path, value, mark)

    # Handles that are held while their place is replaced

    def detach(self, path: Path = ()) -> None:
        """Detach the container at *path* in both slots: writers that refer to it keep its content when another is
        stored there.

        The trees are not changed.
        """
        file, recipe = self.ledger.trees[self.lower], self.ledger.trees[self.upper]
        place: Place = joined_place(file, recipe) if self._has_two_slots else (ABSENT, file)
        self._note_detached(path, steps_down(place, path))
        self.ledger.serial += 1

    def _note_detached(self, path: Path, place: Place) -> None:
        if isinstance(value_of(place), (dict, list)):
            self.detached.setdefault(path, _DetachedAtPath()).add(Detached(self.ledger.serial, _kept(place)))

    def detached_since(self, path: Path, born: int) -> tuple[Path, Detached] | None:
        """The first container at *path*, or above it, that was detached since the serial *born*, with its path; None
        for none.

        raises: TypeConflict, where so many were detached since then that the content is forgotten
        """
        found = []
        for depth in range(len(path) + 1):
            known = self.detached.get(path[:depth])
            if known is not None:
                if known.forgotten >= born:
                    raise TypeConflict(
                        f"{self.component.name}.{spell(path)} was replaced many times since this writer was taken",
                        path=path,
                        hint="take the writer anew: node.default[...]",
                    )
                found += [(path[:depth], one) for one in known.kept if one.serial >= born]
        return min(found, key=lambda one: one[1].serial, default=None)


def _kept(place: Place) -> Place:
    for part in place:
        if isinstance(part, OwnedMap):
            part.shared = True
    return place


def _short(value: Any) -> str:
    text = "{...}" if isinstance(value, Mapping) else repr(value)
    return text if len(text) < 40 else text[:39] + "…"

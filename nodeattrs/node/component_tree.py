"""One component of a node as its setter sees it: the recipe's slot lies over the attribute file's slot.

Chef keeps a component in one mutable tree. Here a component has two slots, and this module makes them behave as one
tree. A recipe sees the attribute file's tree under its own. A map that a recipe assigns hides the attribute file's
values at its path; a map that a recipe only steps through is merged. A change in or below a list copies the whole list
into the recipe's slot. A deletion happens in both slots. An attribute file sees and changes its own slot only, also
when it runs late.

Other components are not known here. Chaining, `unless` and Python's item syntax belong to the writers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.claim import Verb
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.policy import Meet
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig, spell
from nodeattrs.errors import BadArgument, NullInTheWay, TooDeep, TypeConflict
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.lists import Elements
from nodeattrs.node.maps import AssignedMap, Joined, OwnedMap, SetBy, element_origins, set_by_at, with_later_mark
from nodeattrs.node.slots import PAIR, Component, component
from nodeattrs.node.values import ROOM, key_of

_NO_CONTAINER = SCALARS | {Absent}
_SET, _FULL = Verb.SET, Verb.FULL
_MOST_DETACHED = 17
"""The number of replaced containers that are kept for one path: one more than a writer may have missed."""

Place = tuple[Any, Any]
"""The values at a path of a component: (the attribute file's, the recipe's).

Each may be ABSENT. Where both are set, both are maps and are read as one map. A component with a single slot has its
value in the second. It is a plain tuple, since every step of every write makes one.
"""

Change = Callable[[Elements, int], Any]
"""(elements, mark) -> any result: changes a list. mark: of the line of code that does"""


def joined_place(file: Any, recipe: Any) -> Place:
    """A Place of the values that two slots have at one path, for a path where the recipe has a value.

    Both values where they are maps that merge; else (ABSENT, recipe), since the recipe's value hides the other one.
    """
    kinds = type(file), type(recipe)
    verdict = PAIR.cells.get(kinds) or PAIR.verdict(*kinds)
    return file if type(verdict) is Meet else ABSENT, recipe


def value_of(place: Place) -> Any:
    """The recipe's value at a place, else the attribute file's; ABSENT where neither has one.

    Where both have a map, it is the recipe's map alone: good for its type, not for its content.
    """
    file, recipe = place
    return file if recipe is ABSENT else recipe


def part_to_merge(place: Place) -> Any:
    """The value at a place, to be merged or copied: one value, or both maps as `Joined`; ABSENT where none is set."""
    file, recipe = place
    return value_of(place) if file is ABSENT or recipe is ABSENT else Joined(PAIR, [file, recipe])


def step_down(place: Place, step: Any) -> Place:
    """The place one step below a place: in maps by key, in lists by index. Nothing is created.

    Each slot gives the value that it has at the step, or ABSENT. If both have one, both are kept only if they are maps
    that merge. Else the recipe's value hides the other one: (ABSENT, the recipe's value). (ABSENT, ABSENT) if neither
    slot has the step, as below a scalar or for an index out of range.
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
    """The place several steps below; (ABSENT, ABSENT) where nothing is set. Nothing is created."""
    for step in steps:
        place = step_down(place, step)
    return place


class Detached:
    """A map or list that was replaced or deleted. Earlier writers still refer to it, such as `node.default["a"]`.

    As in Chef, earlier writers go on with the old content. They read and write it in `own_tree`, not in the node.

    serial: the ledger's serial at the replacement; a writer with this serial or a lower one is an earlier one
    place:  the content at the replacement
    """

    __slots__ = ("_own_tree", "place", "serial")

    def __init__(self, serial: int, place: Place) -> None:
        self.serial = serial
        self.place = place
        self._own_tree: ComponentTree | None = None

    def own_tree(self) -> tuple[ComponentTree, Path]:
        """Returns (tree, path): a separate tree with a copy of the old content, and the path of the content in it.

        The tree is made at the first call, and all earlier writers share it. Changes of the tree do not reach the node.
        """
        if self._own_tree is None:
            self._own_tree = ComponentTree(Ledger(provenance=False, root=str), component("automatic"))
            self._own_tree.replace({"apart": self._own_tree.plain_of(self.place)})
        return self._own_tree, ("apart",)


class ComponentTree:
    """One component of a node, read and changed for the current setter of the ledger. The ledger keeps the values.

    A *place* is a pair: (value in the attribute file's slot, value in the recipe's slot), each perhaps ABSENT. A change
    goes into the slot of the current setter (`slot`).

    root, place:  the place of the whole component, and of a path; nothing is created
    plain_of:     a copy of the value at a place
    create_step, step_through: make the maps on the way to a path
    write, store: set a value; `write` makes the maps on its way, and `store` requires them
    change_list:  changes a list
    delete, unlink: remove a path; return a copy of the value, or None if it is absent. In a list, all elements that
                  equal the last step are removed. Below a scalar, `unlink` returns None, and `delete` raises an error
    replace, empty: set the content of the current slot; empty both slots
    step_error:   returns an error, and does not raise it
    detach:       is called before a container is replaced. A writer that was made earlier keeps the old container, and
                  gets it from `detached_since`
    note_silent:  only adds to the history

    ledger:    the fifteen trees, which it changes
    component: its name and slots
    lower:     the number of the slot that attribute files write
    upper:     the number of the slot that recipes write; the same as *lower* for a component with one slot
    """

    __slots__ = ("_detached", "_has_two_slots", "component", "ledger", "lower", "upper")

    def __init__(self, ledger: Ledger, component: Component) -> None:
        self.ledger = ledger
        self.component = component
        self._detached: dict[Path, deque[Detached]] = {}  # by path: the last containers that were replaced there
        # Copies of the component's fields, since every step reads them.
        self.lower, self.upper, self._has_two_slots = component.file, component.recipe, component.has_two_slots

    @property
    def _by_recipe(self) -> bool:
        """Whether the current setter writes the recipe's slot, over another one with the attribute files' values."""
        return self._has_two_slots and not self.ledger.early

    @property
    def slot(self) -> int:
        """The number of the slot into which the current setter writes."""
        return self.lower if self.ledger.early else self.upper

    def root(self) -> Place:
        """The place of the whole component as the current setter sees it: (attribute file's map, recipe's map).

        (file, ABSENT) for an attribute file, which does not see the recipe's slot. (ABSENT, recipe) for a component
        with one slot, and if the attribute file's slot is empty or hidden.
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
        """The place at *path*; (ABSENT, ABSENT) where nothing is set. Nothing is created.

        Negative indexes count from the end.
        """
        return steps_down(self.root(), path)

    def plain_of(self, place: Place, evaluate: bool = False, path: Path = ()) -> Any:
        """A plain copy of the value at a place; ABSENT where nothing is set.

        evaluate: True computes deferred values; False leaves them as they are
        path:     of the place, for messages
        """
        part = part_to_merge(place)
        return ABSENT if part is ABSENT else self.ledger.plain_copy(part, evaluate, path)

    # Steps. Chef's level step: through what exists; an absent key of a map becomes an empty map.

    def create_step(self, path: Path, step: Any, is_step: bool = False) -> Place:
        """The place one step below *path*. If nothing is set there, a new empty map is stored, as in Chef.

        If the value at *path* is a list, nothing is stored, and the place holds null.
        is_step: True: the line of code goes on to set a path below; see `Marks.number_here`
        raises:     NullInTheWay, if null or nothing is at *path*; TypeConflict, if no step can be taken from
                    the value there; TooDeep
        """
        with self.ledger.lock:
            place = self.place(path)
            found = step_down(place, step)  # another thread may have come first
            return found if value_of(found) is not ABSENT else self._create_step(place, path, step, is_step)

    def step_through(self, path: Path, place: Place, steps: tuple[Any, ...]) -> tuple[Path, Place]:
        """Returns (path, place) some steps below *path*; absent maps on the way and at the end are created and stored.

        place:  the place of *path*
        raises: NullInTheWay, where null is on the way; TypeConflict, where a step cannot be taken from another value;
                TooDeep; BadKey, for a step of a wrong type
        """
        for step in steps:
            step = key_of(step, path)
            place = file, recipe = step_down(place, step)
            if recipe is ABSENT and file is ABSENT:
                place = self.create_step(path, step, is_step=True)
            path = (*path, step)
        return path, place

    def _create_step(self, place: Place, path: Path, step: Any, is_step: bool) -> Place:
        thing = value_of(place)
        if len(path) >= ROOM:
            raise TooDeep(f"deeper than {ROOM} levels at {spell(path)}", path=(*path, step))
        if isinstance(thing, OwnedMap):
            mark = self._mark_here(len(path) + 1, _SET, is_step, 6)
            made = OwnedMap((), mark)
            self.ledger.put(self.slot, (*path, step), made, mark)
            return (made, ABSENT) if self._has_two_slots and self.ledger.early else (ABSENT, made)
        if isinstance(thing, dict):  # a frozen one, perhaps in a list; `store` takes a copy
            self.store((*path, step), OwnedMap(), parent=place, is_step=is_step)
            return self.place((*path, step))
        if isinstance(thing, list) and type(step) is int:
            return ABSENT, None
        raise self.step_error(thing, path, step)

    def step_error(self, thing: Any, path: Path, step: Any) -> TypeConflict:
        """The error for a step that cannot be taken from the value *thing* at *path*; it is returned, not raised.

        NullInTheWay where *thing* is null or ABSENT, else TypeConflict. It names the setter of the value.
        """
        where = f"{self.component.name}.{spell(path)}" if path else self.component.name
        setter = self._setter_text(path) if path and thing is not ABSENT else ""
        details = [f"{_short(thing)} was set by {setter}"] if setter else []
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

    def _setter_text(self, path: Path) -> str:
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
        is_step: bool = False,
    ) -> None:
        """Store *value* at *path* in the slot of the current setter; the old value goes into the history.

        The parent must be a map, or a list where the last step is an index: `write` makes one. Inside a list, the whole
        list is copied. A recipe's map is marked as assigned: it hides the attribute file's values.
        value:  made by `stored`; it is not copied again
        full:   whether it is a full assignment
        parent: the place of the parent; None: it is looked up
        depth:  how many first steps of a path are left out before the locator gets it; None: all steps of *path*
        is_step: True: the line of code goes on to set a path below; see `Marks.number_here`
        raises: NullInTheWay, if the parent is null or absent; TypeConflict, for any other parent; TooDeep
        """
        # Each write comes through here, so it avoids calls.
        if len(path) > ROOM:
            raise TooDeep(f"deeper than {ROOM} levels at {spell(path)}", path=path)
        file, recipe = parent = self.place(path[:-1]) if parent is None else parent
        key = path[-1]
        above = file if recipe is ABSENT else recipe
        is_own = isinstance(above, OwnedMap)
        if not (is_own or isinstance(above, dict) or (isinstance(above, list) and type(key) is int)):
            raise self.step_error(above, path[:-1], key)
        ledger, depth = self.ledger, len(path) if depth is None else depth
        with ledger.lock:
            top = None if is_own else self._list_above(path)  # no map inside a list is an owned one
            if top is not None:
                mark = self._mark_here(depth, Verb.APPEND, is_step)
                self._change_list(top, lambda own, mark: own.put(path[len(top) :], value, SourcePath(mark, path)), mark)
                return
            old = above.get(key, ABSENT)
            if old is ABSENT and file is not ABSENT is not recipe:
                old = file.get(key, ABSENT)
            if type(old) not in _NO_CONTAINER:
                self._note_detached(path, step_down(parent, key))
            slot, mark = self.lower if ledger.early else self.upper, 0
            assigned = type(value) is dict and self._by_recipe
            if ledger.provenance:
                verb = _FULL if full else Verb.REPLACE if assigned else _SET
                mark = ledger.marks.number_here(depth, verb, 3, is_step)  # its frame, this one, and a caller's
            if assigned:
                value = AssignedMap(value, mark)
            elif isinstance(value, OwnedMap):
                value.origin = mark
            ledger.put(slot, path, value, mark)

    def _mark_here(self, depth: int, verb: Verb, is_step: bool = False, above: int = 4) -> int:
        """The mark of the line of code that calls this package; 0 where no origins are kept. above: in `number_here`"""
        # Four at least: `number_here`, this method, another one of this class, and its caller.
        return self.ledger.marks.number_here(depth, verb, above, is_step) if self.ledger.provenance else 0

    def _list_above(self, path: Path) -> Path | None:
        """The path of the first list on the way to *path*, *path* itself excluded; None where no list is."""
        if int not in map(type, path):  # lists are entered by whole numbers only
            return None
        place = self.root()
        for depth, step in enumerate(path):
            if isinstance(value_of(place), list):
                return path[:depth]
            place = step_down(place, step)
        return None

    def change_list(self, path: Path, change: Change, replaces: bool = False) -> Any:
        """Change a copy of the list at *path*, store it in the slot of the current setter, and return *change*'s
        result.

        path:     there must be a list
        change:   called with the elements, which it changes in place, and the mark of the line of code
        replaces: True: the new content replaces the old one, so that the old setters are not named any more
        """
        with self.ledger.lock:
            top = self._list_above(path)
            mark = self._mark_here(len(path), Verb.APPEND, False, 5)
            if top is None:
                return self._change_list(path, change, mark, replaces)
            steps, setter = path[len(top) :], SourcePath(mark, path)
            return self._change_list(
                top, lambda own, _: own.change_list_inside(steps, lambda inner: change(inner, mark), setter), mark
            )

    def _change_list(self, path: Path, change: Change, mark: int, replaces: bool = False) -> Any:
        file, recipe = self.place(path)
        slot, elements = (self.lower, file) if recipe is ABSENT else (self.upper, recipe)
        set_by: SetBy = [0] * len(elements)
        if self.ledger.provenance:
            set_by = set_by_at(self.ledger.trees[slot], path)[0]
        own = Elements(list(elements), list(element_origins(set_by, path, len(elements))))
        result = change(own, mark)
        set_by_now = (own.origins or None) if replaces else with_later_mark(set_by, own.origins, mark)
        self.ledger.put(self.slot, path, own.values, mark, set_by_now)
        return result

    def delete(self, path: Path) -> Any:
        """Remove the key *path[-1]* of a map, and return a plain copy of its value; None where it is absent.

        A recipe removes it from both slots. Where the parent is a list, all elements that equal *path[-1]* are removed,
        as in Chef. path: at least one step
        raises: NullInTheWay, if the parent is null or absent; TypeConflict, if it is a scalar
        """
        with self.ledger.lock:
            parent, step = self.place(path[:-1]), path[-1]
            thing = value_of(parent)
            if isinstance(thing, list):
                return self.change_list(path[:-1], lambda own, mark: own.remove(step))
            if not isinstance(thing, dict):
                raise self.step_error(thing, path[:-1], step)
            gone = step_down(parent, step)
            value = self.plain_of(gone, path=path)
            if value is ABSENT:
                return None
            top = self._list_above(path)
            if top is not None:
                mark = self._mark_here(len(top), Verb.APPEND)
                self._change_list(top, lambda own, _: own.delete_inside(path[len(top) :]), mark)
                return value
            self._note_detached(path, gone)
            mark = self._mark_here(len(path), Verb.ERASE)
            for slot in {self.upper, self.lower} if self._by_recipe else {self.slot}:
                self.ledger.erase(slot, path, mark)
            return value

    def replace(self, value: dict[Any, Any]) -> None:
        """Make *value* the whole content of the current setter's slot. A recipe's map hides the attribute file's
        values.

        value: not copied, so the caller must not change it
        """
        self._note_detached((), self.root())
        mark = self._mark_here(0, Verb.REPLACE if self._by_recipe else Verb.SET)
        self.ledger.replace(self.slot, AssignedMap(value, mark) if self._by_recipe else value, mark)

    def empty(self) -> None:
        """Empty both slots for a new run, without history, and forget their unknown layers.

        Writers of the whole component still refer to the node; all others keep the old content to themselves.
        """
        for key in {key: None for slot in (self.lower, self.upper) for key in self.ledger.trees[slot]}:
            self.detach((key,))
        for slot in {self.lower, self.upper}:
            self.ledger.replace(slot, {}, remember=False)

    def write(self, path: Path, value: Any, full: bool = False, strict: bool = False) -> None:
        """Store *value* at *path*; missing maps are made, and a scalar or list in the way is replaced by an empty map.

        A list in the way stays where the next step is an index.
        value:  made by `stored`; it is not copied again
        full:   whether it is a full assignment
        strict: True: raise TypeConflict instead of replacing a value in the way
        raises: BadArgument, for the empty path
        """
        if not path:
            raise BadArgument("nothing can be written at the empty path", hint="assign the level: node.default = {...}")
        parent = steps_down(self.root(), path[:-1])
        if not isinstance(value_of(parent), dict):
            parent = self._made_parent(path, full, strict)
        self.store(path, value, full, parent)

    def _made_parent(self, path: Path, full: bool, strict: bool) -> Place:
        """The place of the parent of a path; each value on the way that cannot take the next step becomes an
        empty map.
        """
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
                setter = self._setter_text(at)
                raise TypeConflict(
                    f"cannot write below the value {_short(thing)} at {self.component.name}.{spell(at)}",
                    path=path,
                    details=[f"it was set by {setter}"] if setter else (),
                    hint="write(...) replaces what is in the way",
                )
            replaces_own = parent[1] is not ABSENT and self._by_recipe
            with self.ledger.lock:
                self.store(at, AssignedMap() if replaces_own else OwnedMap(), full, self.place(at[:-1]))
            parent = self.place(at)
        return parent

    def unlink(self, path: Path) -> Any:
        """Remove the value at *path* as `delete` does, and return a copy; None where the parent is neither map nor
        list.

        raises: BadArgument, for the empty path
        """
        if not path:
            raise BadArgument("the empty path cannot be removed")
        holder = value_of(self.place(path[:-1]))
        return self.delete(path) if isinstance(holder, (dict, list)) else None

    def note_silent(self, path: Path, value: Any, depth: int | None = None) -> None:
        """Note in the history that an `unless` found a value at *path* and did not set *value*. No value changes.

        depth: how many first steps of a path are left out before the locator gets it; None: all steps of *path*
        """
        if self.ledger.provenance:
            mark = self.ledger.marks.number_here(len(path) if depth is None else depth, Verb.SILENT)
            self.ledger.note_silent(self.slot, path, value, mark)

    # Writers that are held while their place is replaced

    def detach(self, path: Path = ()) -> None:
        """Note that the container at *path*, of both slots, is about to be replaced. The trees are not changed.

        Earlier writers then go on with a copy of the old content. Call this method before the replacement.
        """
        file, recipe = self.ledger.trees[self.lower], self.ledger.trees[self.upper]
        place: Place = joined_place(file, recipe) if self._has_two_slots else (ABSENT, file)
        self._note_detached(path, steps_down(place, path))
        self.ledger.serial += 1

    def _note_detached(self, path: Path, place: Place) -> None:
        if isinstance(value_of(place), (dict, list)):
            for part in place:
                if isinstance(part, OwnedMap):
                    part.shared = True  # nothing may change it any more
            replaced: deque[Detached] = self._detached.setdefault(path, deque(maxlen=_MOST_DETACHED))
            replaced.append(Detached(self.ledger.serial, place))

    def detached_since(self, path: Path, born: int) -> tuple[Path, Detached] | None:
        """Returns (path, container) for the container at *path* or above it that was replaced first since *born*.

        None if no container was replaced: a writer of *path* still refers to the node.
        born:   the ledger's serial when the writer was made
        raises: TypeConflict, if more than sixteen were replaced since then, so that the old content is not kept
        """
        found = []
        for depth in range(len(path) + 1):
            known = self._detached.get(path[:depth])
            if known is not None:
                if len(known) == _MOST_DETACHED and known[0].serial >= born:  # an earlier one may be forgotten
                    raise TypeConflict(
                        f"{self.component.name}.{spell(path)} was replaced many times since this writer was taken",
                        path=path,
                        hint="take the writer anew: node.default[...]",
                    )
                found += [(path[:depth], one) for one in known if one.serial >= born]
        return min(found, key=lambda one: one[1].serial, default=None)


def _short(value: Any) -> str:
    text = "{...}" if isinstance(value, Mapping) else repr(value)
    return text if len(text) < 40 else text[:39] + "…"

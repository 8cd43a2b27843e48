"""A slow, obvious model of the node, to judge the real one by.

It imports nothing from nodeattrs and has no cache, no view and no clever storage: ten
plain mutable trees, merged anew for every read, as Chef has them. A program is a list
of the steps that the `chef-attributes` vectors are made of; the model proves itself on
those vectors before it judges anybody (tests/test_model.py).

`Model` is Chef's own form: attribute file and recipe write one tree, the later write
stays. It is right for programs whose attribute files run before their recipes (docs/
merging.md, law 2a). `Fifteen` is the form that law 2b compares with: one tree a slot,
each built alone from what its own slot said, folded afterwards.

It does not know runs: no roles, environments on disk, saving or facts.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.vectors.values import encoded

DEFAULTS = ("default", "env_default", "role_default", "force_default")
OVERRIDES = ("override", "role_override", "env_override", "force_override")
COMPONENTS = (*DEFAULTS, "normal", *OVERRIDES, "automatic")

SLOTS = (
    ("default", "attribute file"),
    ("default", "recipe"),
    ("env_default", None),
    ("role_default", None),
    ("force_default", "attribute file"),
    ("force_default", "recipe"),
    ("normal", "attribute file"),
    ("normal", "recipe"),
    ("override", "attribute file"),
    ("override", "recipe"),
    ("role_override", None),
    ("env_override", None),
    ("force_override", "attribute file"),
    ("force_override", "recipe"),
    ("automatic", None),
)
"""Component and locator of slot 1, 2, … 15; None where only one locator has a word."""

Step = Any
Path = Sequence[Step]

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()


class ModelError(Exception):
    """What the vectors call an error class: type_conflict, nil_access, immutable, …"""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Symbol:
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Deferred:
    path: tuple[Step, ...]


@dataclass
class Held:
    """A reference that a program keeps: into a source, into a merged snapshot, or its own data."""

    thing: Any
    refuses_writes: bool = False
    creates: bool = True


# --- values -------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A copy with symbols as keys turned into text; where two keys fall together the later one stays."""
    if isinstance(value, dict):
        return {_key(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(element) for element in value]
    return value


def _key(key: Step) -> Step:
    return key.text if isinstance(key, Symbol) else key


def in_vectors(value: Any) -> Any:
    """A value as the vectors write it, to be compared with `tests.vectors.values.difference`."""
    return encoded(value, Symbol, Deferred)


def identity(value: Any) -> Any:
    """Something hashable that is equal for values of equal type and content, whatever the order of keys."""
    if isinstance(value, dict):
        return ("map", frozenset((type(key), key, identity(entry)) for key, entry in value.items()))
    if isinstance(value, list):
        return ("list", tuple(identity(element) for element in value))
    return (type(value), value)


def united(lists: Iterable[list[Any]]) -> list[Any]:
    """The elements of all lists, each once, first seen first."""
    seen = {}
    for element in (element for one in lists for element in one):
        seen.setdefault(identity(element), element)
    return list(seen.values())


# --- the merge ----------------------------------------------------------------------


def inside(lower: Any, upper: Any) -> Any:
    """Two values of one level: maps key by key, lists united, else the upper one."""
    if isinstance(lower, list) and isinstance(upper, list):
        return united([lower, upper])
    return _by_key(inside, lower, upper)


def across(lower: Any, upper: Any) -> Any:
    """Two values of different levels: maps key by key, else the upper one."""
    return _by_key(across, lower, upper)


def recipe_over_file(lower: Any, upper: Any) -> Any:
    """What an attribute file and what a recipe said in one component; see `Fifteen`."""
    if isinstance(upper, Said) and upper.replaces:
        return upper
    return _by_key(recipe_over_file, lower, upper)


def _by_key(meet: Any, lower: Any, upper: Any) -> Any:
    if upper is ABSENT:
        return lower
    if lower is ABSENT or not isinstance(lower, dict) or not isinstance(upper, dict):
        return upper
    keys = {**lower, **upper}
    return {key: meet(lower.get(key, ABSENT), upper.get(key, ABSENT)) for key in keys}


def merged(values: Sequence[Any]) -> Any:
    """One value out of ten, one for each component, ABSENT where it has none."""
    default, normal, override, automatic = values[:4], values[4], values[5:9], values[9]
    levels = [functools.reduce(inside, default), normal, functools.reduce(inside, override), automatic]
    return functools.reduce(across, levels)


# --- stepping -----------------------------------------------------------------------


def step(thing: Any, key: Step) -> Any:
    """One step inside a source: an absent key of a map becomes an empty map."""
    if isinstance(thing, dict):
        return thing.setdefault(key, {})
    return _element(thing, key)


def merged_step(thing: Any, key: Step) -> Any:
    """One step inside the merged tree: an absent key gives null, and so does any step into a text."""
    if isinstance(thing, str):
        return None
    return thing.get(key) if isinstance(thing, dict) else _element(thing, key)


def _element(thing: Any, key: Step) -> Any:
    if thing is None:
        raise ModelError("nil_access")
    if not isinstance(thing, list) or not isinstance(key, int):
        raise ModelError("type_conflict")
    return thing[key] if -len(thing) <= key < len(thing) else None


def store(thing: Any, key: Step, value: Any) -> None:
    if isinstance(thing, dict):
        thing[key] = value
        return
    _element(thing, key)
    thing.extend([None] * (key + 1 - len(thing)))
    thing[key] = value


def delete(thing: Any, key: Step) -> Any:
    if isinstance(thing, dict):
        return thing.pop(key, None)
    if isinstance(thing, list):
        return _delete_equal(thing, key)
    raise ModelError("nil_access" if thing is None else "type_conflict")


def _delete_equal(elements: list[Any], wanted: Any) -> Any:
    kept = [element for element in elements if identity(element) != identity(wanted)]
    some = len(kept) < len(elements)
    elements[:] = kept
    return wanted if some else None


def found(thing: Any, path: Path) -> Any:
    """What stands at the path, or ABSENT: maps by key, lists by index, creating nothing."""
    for key in path:
        if isinstance(thing, dict):
            thing = thing.get(key, ABSENT)
        elif isinstance(thing, list) and isinstance(key, int) and -len(thing) <= key < len(thing):
            thing = thing[key]
        else:
            return ABSENT
    return thing


def or_null(value: Any) -> Any:
    return None if value is ABSENT else value


def takes(thing: Any, key: Step) -> bool:
    return isinstance(thing, dict) or (isinstance(thing, list) and isinstance(key, int))


def changed_list(elements: list[Any], method: str, args: list[Any]) -> Any:
    """One in-place change of a list, and what the program gets to see of it."""
    match method, args:
        case "append" | "push", _:
            elements.extend(args)
        case "concat", [more]:
            elements.extend(more)
        case "unshift", _:
            elements[:0] = args
        case "insert", [index, *new]:
            elements.extend([None] * (index - len(elements)))
            elements[index:index] = new
        case "set_at", [index, value]:
            store(elements, index, value)
        case "sort", []:
            elements[:] = _sorted(elements)
        case "reverse", []:
            elements.reverse()
        case "replace", [new]:
            elements[:] = new
        case "clear", []:
            elements.clear()
        case "pop", []:
            return elements.pop() if elements else None
        case "shift", []:
            return elements.pop(0) if elements else None
        case "delete", [value]:
            return _delete_equal(elements, value)
        case "delete_at", [index]:
            return elements.pop(index) if -len(elements) <= index < len(elements) else None
        case "uniq", []:
            before = len(elements)
            elements[:] = united([elements])
            return None if len(elements) == before else elements
        case _:
            raise ModelError("unknown_name")
    return elements


def _sorted(elements: list[Any]) -> list[Any]:
    """By insertion, each element compared with those before it: what has no order with another is met somewhere."""
    done: list[Any] = []
    for element in elements:
        at = len(done)
        while at and _order(element, done[at - 1]) < 0:
            at -= 1
        done.insert(at, element)
    return done


def _order(one: Any, two: Any) -> int:
    """Below, equal or above zero. Lists are ordered by the first elements that differ, else by length."""
    if identity(one) == identity(two):
        return 0
    match one, two:
        case list(), list():
            pairs = zip(one, two, strict=False)
            return next((order for pair in pairs if (order := _order(*pair))), len(one) - len(two))
        case (str(), str()) | (int() | float(), int() | float()) if bool not in (type(one), type(two)):
            return -1 if one < two else int(one > two)
        case Symbol(), Symbol():
            return _order(one.text, two.text)
    raise ModelError("bad_argument")


# --- the node -----------------------------------------------------------------------


@dataclass
class Model:
    """Ten mutable trees and the operations of the vectors on them."""

    trees: dict[str, Any] = field(default_factory=lambda: {name: {} for name in COMPONENTS})
    held: dict[str, Held] = field(default_factory=dict)

    def perform(self, operation: dict[str, Any]) -> Any:
        """Run one step of a program; its result, as plain data.

        Values in the step are plain data with `Symbol` and `Deferred`; nothing of the step
        is kept or changed.
        """
        arguments = {name: _argument(name, value) for name, value in operation.items() if name != "op"}
        name = operation["op"].replace("!", "_strict").replace("?", "")
        return copy.deepcopy(getattr(self, f"do_{name}")(**arguments))

    # reading

    def tree(self) -> dict[str, Any]:
        return copy.deepcopy(merged([self.trees[name] for name in COMPONENTS]))

    def combined(self, level: Sequence[str]) -> dict[str, Any]:
        return copy.deepcopy(functools.reduce(inside, [self.trees[name] for name in level]))

    def components(self) -> dict[str, Any]:
        return {name: copy.deepcopy(tree) for name, tree in self.trees.items() if tree}

    def evaluated(self, value: Any) -> Any:
        while isinstance(value, Deferred):
            value = self.do_get(value.path)
        return value

    def do_get(self, path: Path) -> Any:
        return self._walked(self.tree(), path)

    def _walked(self, thing: Any, path: Path) -> Any:
        for key in path:
            thing = self.evaluated(merged_step(thing, key))
        return thing

    def _read(self, path: Path) -> Any:
        thing = self.tree()
        for key in path:
            thing = self.evaluated(found(thing, [key]))
        return thing

    def do_read(self, path: Path) -> Any:
        return or_null(self._read(path))

    do_dig = do_read

    def do_read_strict(self, path: Path) -> Any:
        value = self._read(path)
        if value is ABSENT:
            raise ModelError("no_such_attribute")
        return value

    def do_exist(self, path: Path) -> bool:
        return self._read(path) is not ABSENT

    def do_attribute(self, key: Step) -> bool:
        return any(key in self.trees[name] for name in COMPONENTS)

    def do_attribute_at(self, path: Path, key: Step) -> bool:
        return key in self.do_get(path)

    def do_keys(self) -> list[Step]:
        return list(self.tree())

    def do_merged(self, path: Path) -> Any:
        return or_null(merged([self._subtree(name, path) for name in COMPONENTS]))

    def do_combined_default(self, path: Path) -> Any:
        return or_null(functools.reduce(inside, [self._subtree(name, path) for name in DEFAULTS]))

    def do_combined_override(self, path: Path) -> Any:
        return or_null(functools.reduce(inside, [self._subtree(name, path) for name in OVERRIDES]))

    def _subtree(self, name: str, path: Path) -> Any:
        thing = self.trees[name]
        for key in path:
            if thing is None or isinstance(thing, str):
                return ABSENT
            if not takes(thing, key):
                raise ModelError("type_conflict")
            thing = found(thing, [key])
            if thing is ABSENT:
                return ABSENT
        return thing

    def do_debug_value(self, path: Path) -> list[list[Any]]:
        spoken = [(name, found(self.trees[name], path)) for name in COMPONENTS]
        return [[name] if value is ABSENT else [name, value] for name, value in spoken]

    # reading and writing one source

    def _source(self, level: str) -> Any:
        if level not in self.trees:
            raise ModelError("unknown_name")
        return self.trees[level]

    def _stepped(self, slot: str, path: Path) -> Any:
        return functools.reduce(step, path, self._source(slot))

    def do_level_get(self, slot: str, path: Path) -> Any:
        return self._stepped(slot, path)

    def do_level_read(self, slot: str, path: Path) -> Any:
        return or_null(found(self._source(slot), path))

    def do_level_read_strict(self, slot: str, path: Path) -> Any:
        value = found(self._source(slot), path)
        if value is ABSENT:
            raise ModelError("no_such_attribute")
        return value

    def do_level_exist(self, slot: str, path: Path) -> bool:
        return found(self._source(slot), path) is not ABSENT

    def do_set(self, slot: str, path: Path, value: Any) -> None:
        store(self._stepped(slot, path[:-1]), path[-1], value)

    def do_delete(self, slot: str, path: Path) -> Any:
        return delete(self._stepped(slot, path[:-1]), path[-1])

    def do_array(self, slot: str, path: Path, method: str, args: list[Any]) -> Any:
        return _changed(self._stepped(slot, path), method, args)

    def do_hash(self, slot: str, path: Path, method: str, args: list[Any]) -> Any:
        thing = self._stepped(slot, path)
        if not isinstance(thing, dict):
            raise ModelError("nil_access" if thing is None else "type_conflict")
        if method == "update":
            thing.update(args[0])
        else:
            thing.clear()
        return thing

    def do_replace_slot(self, slot: str, value: Any) -> None:
        self._source(slot)
        self.trees[slot] = value

    def do_write(self, level: str, path: Path, value: Any) -> Any:
        thing = self._source(level)
        for key, following in itertools.pairwise(path):
            reached = step(thing, key)
            if not takes(reached, following):
                reached = {}
                store(thing, key, reached)
            thing = reached
        store(thing, path[-1], value)
        return value

    def do_write_strict(self, level: str, path: Path, value: Any) -> Any:
        thing = self._source(level)
        for key, following in itertools.pairwise(path):
            thing = step(thing, key)
            if not takes(thing, following):
                raise ModelError("type_conflict")
        store(thing, path[-1], value)
        return value

    def do_set_unless(self, level: str, path: Path, value: Any) -> Any:
        if self.do_level_read(level, path) is not None:
            return None
        return self.do_write(level, path, value)

    def do_unless_chain(self, level: str, path: Path, value: Any) -> None:
        self.do_set_unless(level, path, value)

    def do_assign(self, level: str, path: Path, value: Any) -> Any:
        if level == "force_default":
            self.do_rm_default(path)
        if level == "force_override":
            self.do_rm_override(path)
        return self.do_write(level, path, value)

    def do_assign_chain(self, level: str, path: Path, value: Any) -> None:
        self.do_assign(level, path, value)

    # removing

    def do_unlink(self, level: str, path: Path) -> Any:
        parent = found(self._source(level), path[:-1])
        return delete(parent, path[-1]) if isinstance(parent, dict | list) else None

    def do_unlink_strict(self, level: str, path: Path) -> Any:
        if found(self._source(level), path) is ABSENT:
            raise ModelError("no_such_attribute")
        return self.do_unlink(level, path)

    def _removed(self, view: Any, path: Path, levels: Sequence[str]) -> Any:
        if not path:
            raise ModelError("bad_argument")
        parent = view
        for key in path[:-1]:
            parent = self.evaluated(found(parent, [key]))
        if not isinstance(parent, dict):
            return ABSENT
        value = self.evaluated(parent.get(path[-1]))
        for level in levels:
            self.do_unlink(level, path)
        return value

    def do_rm_default(self, path: Path) -> Any:
        return or_null(self._removed(self.combined(DEFAULTS), path, DEFAULTS))

    def do_rm_override(self, path: Path) -> Any:
        return or_null(self._removed(self.combined(OVERRIDES), path, OVERRIDES))

    def do_rm_normal(self, path: Path) -> Any:
        return self.do_unlink("normal", path)

    def do_rm(self, path: Path) -> Any:
        before = self._removed(self.tree(), path, ())
        if before is ABSENT:
            return None
        self.do_rm_default(path)
        self.do_rm_normal(path)
        self.do_rm_override(path)
        return before

    # writing through the merged view

    def _refused(self, thing: Any) -> None:
        if isinstance(thing, dict | list):
            raise ModelError("immutable")
        raise ModelError("nil_access" if thing is None else "type_conflict")

    def do_set_merged(self, path: Path, value: Any) -> None:
        self._refused(self.do_get(path[:-1]))

    def do_delete_merged(self, path: Path) -> None:
        self._refused(self.do_get(path[:-1]))

    def do_array_merged(self, path: Path, method: str, args: list[Any]) -> None:
        self._refused(self.do_get(path))

    def do_hash_merged(self, path: Path, method: str, args: list[Any]) -> Any:
        thing = self.do_get(path)
        if isinstance(thing, dict) and method == "merge":
            return {**thing, **args[0]}
        return self._refused(thing)

    # references

    def do_copy(self, slot: str, path: Path, from_slot: str, **origin: Path) -> None:
        value = self.do_get(origin["from"]) if from_slot == "merged" else self._stepped(from_slot, origin["from"])
        parent = self._stepped(slot, path[:-1])
        store(parent, path[-1], copy.deepcopy(value))  # copied when it is stored: the steps may have changed it

    def do_hold(self, name: str, slot: str, path: Path) -> None:
        if slot == "merged":
            self.held[name] = Held(self.do_get(path), refuses_writes=True, creates=False)
        else:
            self.held[name] = Held(self._stepped(slot, path))

    def do_hold_value(self, name: str, value: Any) -> None:
        self.held[name] = Held(value, creates=False)

    def do_set_held(self, slot: str, path: Path, name: str) -> None:
        self.do_set(slot, path, plain(self.held[name].thing))

    def _from_held(self, name: str, path: Path) -> Any:
        held = self.held[name]
        return functools.reduce(step, path, held.thing) if held.creates else self._walked(held.thing, path)

    def do_held_get(self, name: str, path: Path) -> Any:
        return self._from_held(name, path)

    def do_held_set(self, name: str, path: Path, value: Any) -> None:
        parent = self._from_held(name, path[:-1])
        if self.held[name].refuses_writes:
            self._refused(parent)
        store(parent, path[-1], value)

    def do_held_array(self, name: str, path: Path, method: str, args: list[Any]) -> Any:
        thing = self._from_held(name, path)
        if self.held[name].refuses_writes:
            self._refused(thing)
        return _changed(thing, method, args)

    # whole sources

    def do_reset_defaults_and_overrides(self) -> None:
        self.trees["default"] = {}
        self.trees["override"] = {}

    def do_apply_expansion(self, role_default: Any, role_override: Any, environment: Any = None) -> None:
        environment = environment or {}
        self.trees["env_default"] = environment.get("default_attributes", {})
        self.trees["env_override"] = environment.get("override_attributes", {})
        self.trees["role_default"] = role_default
        self.trees["role_override"] = role_override


def _changed(thing: Any, method: str, args: list[Any]) -> Any:
    if not isinstance(thing, list):
        raise ModelError("nil_access" if thing is None else "type_conflict")
    return changed_list(thing, method, args)


def _argument(name: str, value: Any) -> Any:
    if name in ("path", "from"):
        return [_key(key) for key in value]
    if name == "key":
        return _key(value)
    return plain(value)


# --- fifteen trees ------------------------------------------------------------------


class Said(dict[Step, Any]):
    """A map in a slot's own tree; `replaces` where it was assigned as a whole by a recipe."""

    replaces = False


class Fifteen:
    """One tree a slot, each built alone, and the fold of all fifteen.

    Only stores through an index chain: law 2b speaks of nothing else. A store that meets
    a scalar, null or a list on its way raises `ModelError`, and a program in which one does
    is outside the law.
    """

    def __init__(self) -> None:
        self.slots = [Said() for _ in SLOTS]

    def store(self, component: str, locator: str, path: Path, value: Any) -> None:
        thing = self.slots[slot_of(component, locator)]
        for key in path[:-1]:
            thing = thing.setdefault(key, Said())
            if not isinstance(thing, dict):
                raise ModelError("type_conflict")
        thing[path[-1]] = what = said(value)
        if isinstance(what, Said):
            what.replaces = (component, locator) in SLOTS and locator == "recipe"

    def components(self) -> list[Any]:
        """The ten components: where two speak, the recipe's tree over the attribute file's."""
        trees: dict[str, Any] = {}
        for (component, _), tree in zip(SLOTS, self.slots, strict=True):
            trees[component] = recipe_over_file(trees[component], tree) if component in trees else tree
        return [trees[name] for name in COMPONENTS]

    def tree(self) -> Any:
        return merged(self.components())


def slot_of(component: str, locator: str) -> int:
    """The index in SLOTS of what *locator* says in a component."""
    return SLOTS.index((component, locator) if (component, locator) in SLOTS else (component, None))


def said(value: Any) -> Any:
    """A copy of plain data whose maps can carry the "assigned" mark."""
    if isinstance(value, dict):
        return Said({key: said(entry) for key, entry in value.items()})
    return copy.deepcopy(value)

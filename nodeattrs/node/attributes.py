"""The attributes of a node: fifteen slots, written by component, read as one merged tree, traced by path.

The module connects the ledger with writers, views and traces. `slots` and `view` decide how slots merge. `node.node`
adds run-lists and documents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from typing import Any, NoReturn

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.rules import PathRule, read_rules
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT, Path, as_path, checked_name, near, spell
from nodeattrs.errors import BadArgument, BadValue, TypeConflict, UnknownName, wrong_argument
from nodeattrs.node.component_tree import ComponentTree, Place, joined_place, part_to_merge, step_down, value_of
from nodeattrs.node.joined import entry_at, joined, joined_roots
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import Branch, Joined
from nodeattrs.node.node_trace import trace_of
from nodeattrs.node.slot_tree import SlotTree
from nodeattrs.node.slots import COMPONENTS, DEFAULT_ENVIRONMENT, DEFAULT_GROUP, OVERRIDE_GROUP, PLAN, SLOTS, component
from nodeattrs.node.values import Deferred, Secrets, key_of, refuse_spelled, steps_of, stored
from nodeattrs.node.view import MapView
from nodeattrs.node.writers import FullWriter, UnlessWriter, Writer

_INSTEAD = {
    "set": "write node.normal[...] = ...",
    "set_unless": "write node.normal_unless[...] = ...",
    "default!": "write node.default_full[...] = ...",
    "setting_as": "write with setting_as(node, ...): of nodeattrs.chef",
    "walk": "write walk(node, ...) of nodeattrs.chef",
}
"""Hints for names that a node does not have: words of Ruby's Chef, and functions of `nodeattrs.chef`."""

_WRITTEN = ("default", "force_default", "normal", "override", "force_override")
WORDS = (
    *_WRITTEN,
    *("default_unless", "normal_unless", "override_unless"),
    *(f"{level}_full" for level in _WRITTEN),
    "has_attribute",
)
"""The words of attribute files: names of a node's writers and methods that they find without an import."""
_DEFAULT_LEVEL = tuple(one.name for one in COMPONENTS[:4])
_OVERRIDE_LEVEL = tuple(one.name for one in COMPONENTS[5:9])


def _checked_environment(name: object) -> str:
    """*name* itself, where it may name an environment: any text but "". raises: BadArgument"""
    if not isinstance(name, str) or not name:
        raise wrong_argument("the environment of a node", "the name of one", name, f'as in "{DEFAULT_ENVIRONMENT}"')
    return name


def _checked_folder(root: str | os.PathLike[str]) -> str:
    """A path as text. Whether the folder exists is not checked. raises: BadArgument, where it is no path"""
    try:
        return os.fspath(root)
    except TypeError:
        raise wrong_argument("the root of a node", "a folder", root, "the current one where it is None") from None


_FIELDS: dict[str, Callable[[Any], str]] = {
    "name": partial(checked_name, what="node"),
    "environment": _checked_environment,
}
"""Attributes that can be assigned, without levels: field -> a function that raises BadArgument for a wrong value."""


def _writer(name: str) -> property:
    def read(self: Attributes) -> Writer:
        return Writer(self._trees[name])

    def replace(self: Attributes, value: Mapping[Any, Any]) -> None:
        tree = stored(value, ())
        if not isinstance(tree, dict):
            raise BadValue(f"a level is a map, not a {type(tree).__name__}", hint=f"node.{name} = {{...}}")
        self._trees[name].replace(tree)

    return property(read, replace, doc=f"The writer of `{name}`. Assigning to it replaces the whole component.")


def _unless_writer(name: str) -> property:
    def read(self: Attributes) -> UnlessWriter:
        return UnlessWriter(self._trees[name])

    return property(read, doc=f"Writes to `{name}` where it has no value yet.")


def _full_writer(name: str, clears: str = "") -> property:
    def read(self: Attributes) -> FullWriter:
        before = getattr(self, f"_clear_{clears}") if clears else None
        return FullWriter(self._trees[name], (), before)

    spelled = f"The full assignment to `{name}`, Ruby's `{name}!`: a value in the way becomes a map."
    return property(read, doc=spelled + (f" First clears the whole {clears} level at the path." if clears else ""))


class Attributes(Mapping[Any, Any]):
    """The merged attributes of a node as a read-only mapping, with a writer for each level. The base of `Node`.

    `node[key]` reads the merged value, `node.default[key] = ...` writes at a level, and `node.trace(path)` names the
    lines that set a value. An absent key raises NoSuchAttribute (a KeyError); `node[key] = ...` raises
    AttributeIsReadOnly.

    read, exist:    the merged value at a path, None if it is absent; whether it is set
    write, unlink:  set or remove a value in one component, such as "role_default"; return the value, or a copy of the
                    removed value
    read_strict, unlink_strict: raise NoSuchAttribute for an absent value
    write_strict:   raises TypeConflict for a scalar or list in the way, which `write` replaces
    rm:             removes a path from all levels except automatic; returns the merged value as it was, or None
    rm_default, rm_override, rm_normal: remove a path from one level; return its value as it was, or None
    unknown:        adds a layer that could not be read, so that values below it are uncertain
    to_dict, value: a copy of the merged tree; `to_plain` leaves deferred values as they are
    merged:         merges what each component has at one path: null or text above the path hides no value
    combined_default, combined_override: merged views of one level
    slots:          the content of each slot by its number
    debug_value:    (component, value) of a path, for each component
    has_attribute:  whether any slot has a top-level key
    explain:        the trace of a path as text; `origins` gives only the places of the value that is read

    Two nodes are equal only if they are the same object; a node equals a mapping with the same merged values.

    name, environment: of the node
    provenance:        False keeps no origins and no history
    sensitive:         paths whose values are secrets; "*" stands for any step
    root:              the folder to which files in origins are relative; None: the current one
    rules:             path or pattern -> rule that replaces Chef's there
    """

    # `__getitem__` is an attribute of each node, so that a subscript calls the ledger's own, without Python code.
    __slots__ = ("__dict__", "__getitem__", "__weakref__")

    __getitem__: Any
    name: str
    environment: str
    _ledger: Ledger
    _trees: dict[str, ComponentTree]

    def __init__(
        self,
        name: str = "node1",
        environment: str = DEFAULT_ENVIRONMENT,
        *,
        provenance: bool = True,
        sensitive: Iterable[str | Path] = (),
        root: str | os.PathLike[str] | None = None,
        rules: Mapping[Any, Any] | tuple[PathRule, ...] = (),
    ) -> None:
        secrets = Secrets(sensitive)
        read = rules if isinstance(rules, tuple) else read_rules(rules)
        folder = None if root is None else _checked_folder(root)
        self._ledger = ledger = Ledger(provenance, lambda: folder or os.getcwd(), secrets, read)
        self._trees = {one.name: ComponentTree(ledger, one) for one in COMPONENTS}
        self.__getitem__ = ledger.__getitem__
        self.name, self.environment = name, environment

    default = _writer("default")
    env_default = _writer("env_default")
    role_default = _writer("role_default")
    force_default = _writer("force_default")
    normal = _writer("normal")
    override = _writer("override")
    role_override = _writer("role_override")
    env_override = _writer("env_override")
    force_override = _writer("force_override")
    automatic = _writer("automatic")

    default_unless = _unless_writer("default")
    normal_unless = _unless_writer("normal")
    override_unless = _unless_writer("override")

    default_full = _full_writer("default")
    normal_full = _full_writer("normal")
    override_full = _full_writer("override")
    force_default_full = _full_writer("force_default", "default")
    force_override_full = _full_writer("force_override", "override")

    # The merged read

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ledger.view())

    def keys(self) -> KeysView[Any]:
        """The top-level keys of the merged tree as it is now; later writes do not show in them."""
        return self._ledger.view().keys()

    def items(self) -> ItemsView[Any, Any]:
        """The top-level keys and merged values as they are now; later writes do not show in them."""
        return self._ledger.view().items()

    def values(self) -> ValuesView[Any]:
        """The top-level merged values as they are now; later writes do not show in them."""
        return self._ledger.view().values()

    def get(self, key: Any, default: Any = None) -> Any:
        """The merged value of *key*, or *default* where it is not set."""
        return self._ledger.view().get(key, default)

    def __len__(self) -> int:
        return len(self._ledger.view())

    def __contains__(self, key: object) -> bool:
        return key in self._ledger.view()

    def __repr__(self) -> str:
        return f"<Node {self.name} in {self.environment}>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Attributes) else self._ledger.view() == other

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._ledger.view()._refuse(key)

    def __delitem__(self, key: Any) -> NoReturn:
        self._ledger.view()._refuse(key)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        hint = _INSTEAD.get(name) or (None if name in self else self._meant(name))
        raise UnknownName(f"a node has nothing called {name!r}", hint=hint or f"read an attribute with node[{name!r}]")

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_":
            if name in _FIELDS:
                _FIELDS[name](value)
            elif not hasattr(type(self), name):
                hint = self._meant(name) or f"write an attribute at a level: node.default[{name!r}] = ..."
                raise UnknownName(f"a node has nothing called {name!r} to be assigned", hint=hint)
        object.__setattr__(self, name, value)

    def _meant(self, name: str) -> str | None:
        close = near(name, [*_FIELDS, *(known for known in dir(type(self)) if not known.startswith("_"))])
        return f"did you mean {' or '.join(f'node.{known}' for known in close)}?" if close else None

    def read(self, *path: Any) -> Any:
        """The merged value at *path*, or None where it is not set; maps go by key, lists by index.

        A path is steps here, as in all methods that read or change a value: a dot belongs to its key. `trace`,
        `explain` and `origins` take a path as text, too.
        raises: BadArgument, where a lone text with dots is no key, and spells a path that is set
        source: Chef's `read`
        """
        return self._ledger.view().read(*path)

    dig = read

    def read_strict(self, *path: Any) -> Any:
        """The merged value at *path* (Ruby's `read!`). raises: NoSuchAttribute, where it is not set"""
        return self._ledger.view().read_strict(*path)

    def exist(self, *path: Any) -> bool:
        """Whether a value is set at *path*, null included (Ruby's `exist?`)."""
        return self._ledger.view().exist(*path)

    def has_attribute(self, key: Any) -> bool:
        """Whether any slot has this top-level key (Ruby's `attribute?`)."""
        step = key_of(key)
        return any(step in tree for tree in self._ledger.trees[1:])

    def to_dict(self, evaluate: bool = True) -> dict[Any, Any]:
        """A plain, independent copy of the merged tree.

        evaluate: compute deferred values; otherwise they stay in it as they are
        cost:     one eager fold and one copy
        """
        return self._ledger.view().to_dict(evaluate)

    def merged(self, *path: Any) -> Any:
        """A plain copy of the components' values at *path*, merged; None where no component has one.

        The path is followed in each component by itself, so null or text in a stronger component hides no value of a
        weaker one.

        raises: TypeConflict, where a component has a number or a list in the way
        source: Chef's `merged_attributes`
        """
        return _merged_at(self._ledger, PLAN, steps_of(path))

    def to_plain(self, evaluate: bool = False) -> dict[Any, Any]:
        """A plain copy of the merged attributes. It is made when a node is stored as a value of another node.

        evaluate: True: deferred values are computed; False: they are in the copy as they are
        """
        return self.to_dict(evaluate)

    @property
    def combined_default(self) -> _LevelView:
        """The four default components merged, as they are now.

        `node.combined_default["a"]` reads it as a map; `node.combined_default("a", "b")` is `merged` for these
        components.
        """
        return _LevelView(self._ledger, DEFAULT_GROUP)

    @property
    def combined_override(self) -> _LevelView:
        """The four override components merged, as they are now: `node.combined_override["a"]`, or
        `node.combined_override("a", "b")`.
        """
        return _LevelView(self._ledger, OVERRIDE_GROUP)

    # Path methods on one component

    def write(self, level: str, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it in one component, and return it; scalars and lists in the way
        become maps.

        level: a component: "default", "role_override", ...
        raises: UnknownName; BadArgument, without a path
        """
        return self._level(level).write(*path_and_value)

    def write_strict(self, level: str, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it in one component, and return it (Ruby's `write!`).

        raises: TypeConflict, where a scalar or list is in the way; UnknownName; BadArgument, without a path
        """
        return self._level(level).write_strict(*path_and_value)

    def unlink(self, level: str, *path: Any) -> Any:
        """Remove the value at a path of one component, and return a plain copy; None where it was not set."""
        return self._level(level).unlink(*path)

    def unlink_strict(self, level: str, *path: Any) -> Any:
        """Remove the value at a path of one component, and return a plain copy (Ruby's `unlink!`).

        raises: NoSuchAttribute, where it was not set
        """
        return self._level(level).unlink_strict(*path)

    def unknown(
        self, level: str, name: str, origin: Locator, reason: str, lines: Mapping[Path, int] | None = None
    ) -> None:
        """Note that the current setter sets values in one component that cannot be read or must not be run.

        No value changes. `trace` and `explain` name the unknown layer wherever it might decide a value. A snapshot
        keeps it; it is forgotten when the slot is emptied for a new run.
        level:  a component: "default", "role_override", ...
        name:   the layer's name
        reason: why it is unknown, in words: "is Ruby, which was not run"
        lines:  path -> line, for the paths that it may set; None: any path
        raises: UnknownName

        >>> from nodeattrs import Node, Origin
        >>> node = Node("web1")
        >>> node.role_default["port"] = 80
        >>> node.unknown("role_override", "base", Origin("role", "base", "roles/base.rb", 1), "is Ruby, not run here")
        >>> node["port"], [str(claim.origin) for claim in node.trace("port").unknown]
        (80, ['roles/base.rb:1 (role base)'])
        """
        slot = self._trees[component(level).name].slot
        self._ledger.add_unknown(slot, (Layer.unknown(name, origin, reason, lines),))

    def _level(self, level: str) -> Writer:
        return Writer(self._trees[component(level).name])

    # Removing whole levels

    def rm(self, *path: Any) -> Any:
        """Remove *path* from every level but automatic, and return the merged value as it was; None where it was not
        set.

        Removes nothing where the parent is not a map in the merged tree. Deferred values at the path and on the way are
        computed; those inside a map or list that is removed stay deferred.
        raises: BadArgument for the empty path; the error of a deferred value, and nothing is removed then
        source: Chef's `rm`
        """
        return _remove_path(self._ledger, PLAN, self._removable(path), self._clear_all)

    def rm_default(self, *path: Any) -> Any:
        """Remove *path* from the four default components, and return their merged value as it was, or None."""
        return self._clear_default(self._removable(path))

    def rm_override(self, *path: Any) -> Any:
        """Remove *path* from the four override components, and return their merged value as it was, or None."""
        return self._clear_override(self._removable(path))

    def rm_normal(self, *path: Any) -> Any:
        """Remove *path* from normal, and return the value as it was, or None."""
        return self._trees["normal"].unlink(self._removable(path))

    def _removable(self, path: tuple[Any, ...]) -> Path:
        if not path:
            raise BadArgument("the empty path cannot be removed", hint="name the attribute: rm('apache', 'port')")
        refuse_spelled(path, lambda steps: self._ledger.view()._there(steps))
        return steps_of(path)

    def _clear_all(self, path: Path) -> None:
        self._clear_default(path)
        self._trees["normal"].unlink(path)
        self._clear_override(path)

    def _clear_default(self, path: Path) -> Any:
        return _remove_path(self._ledger, DEFAULT_GROUP, path, lambda at: self._unlink(_DEFAULT_LEVEL, at))

    def _clear_override(self, path: Path) -> Any:
        return _remove_path(self._ledger, OVERRIDE_GROUP, path, lambda at: self._unlink(_OVERRIDE_LEVEL, at))

    def _unlink(self, names: Iterable[str], path: Path) -> None:
        for name in names:
            self._trees[name].unlink(path)

    # Who set it

    @property
    def slots(self) -> dict[int, SlotTree]:
        """The content of each slot: number from 1 to 15 -> SlotTree."""
        return {slot.number: SlotTree(self._ledger, slot) for slot in SLOTS}

    @property
    def value(self) -> dict[Any, Any]:
        """`to_dict()`, under the name that the core's answers have for it."""
        return self.to_dict()

    def origins(self, path: str | Iterable[Any]) -> tuple[Origin, ...]:
        """The origins of the value that is read at *path*, the strongest first; () where it is not set.

        path: steps, or their spelling: "apache.listen_ports.0"
        """
        return self.trace(path).origins

    def trace(self, path: str | Iterable[Any]) -> Trace:
        """The trace of *path*: the lines that set it, the winner first; its `found` is False where *path* is not set.

        path: steps, or their spelling: "apache.listen_ports.0"
        cost: grows with the depth of the path and its own history, not with the tree
        """
        with self._ledger.lock:
            return trace_of(self._ledger, as_path(path) if isinstance(path, str) else steps_of(as_path(path)))

    def explain(self, path: str | Iterable[Any]) -> str:
        """The trace as text for people."""
        return str(self.trace(path))

    def debug_value(self, *path: Any) -> list[tuple[str, Any]]:
        """A list of (component, value at *path*) for each of the ten components, the weakest first.

        The value is a plain copy, and "not_present" if *path* is not set there. Deferred values are computed.
        source: Chef's `debug_value`
        """
        steps, pairs = steps_of(path), []
        for name, tree in self._trees.items():
            value = tree.plain_of(tree.place(steps), True, steps)
            pairs.append((name, "not_present" if value is ABSENT else value))
        return pairs

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise BadArgument(
            "a node is not copied", hint="Node.restore(node.snapshot()), or node.to_dict() for plain data"
        )

    def __reduce__(self) -> NoReturn:
        hint = "store node.snapshot(), and Node.restore(...) it; node.to_dict() is plain data of what is read"
        raise BadArgument("a node is not pickled", hint=hint)


# --- levels ----------------------------------------------------------------------


def _merged_at(ledger: Ledger, branch: Branch, path: Path) -> Any:
    """A plain copy of the values that the components have at *path*, merged; None where no component has one.

    Each component is stepped through for itself, so null or text in a stronger one hides no value of a weaker one.
    Deferred values stay deferred.
    raises: TypeConflict, where a component has a number or a list in the way
    source: Chef's `merged_attributes`
    """
    with ledger.lock:
        part = _part_at(ledger, branch, path)
        return None if part is ABSENT else ledger.plain_copy(part, False)


def _part_at(ledger: Ledger, branch: Branch, path: Path) -> Any:
    slots = [child for child in branch.children if isinstance(child, int)]
    if len(slots) == len(branch.children):
        file, recipe = (ledger.trees[slot] for slot in slots)
        return part_to_merge(_stepped(joined_place(file, recipe), path))
    parts = [
        _part_at(ledger, child, path)
        if isinstance(child, Branch)
        else part_to_merge(_stepped((ABSENT, ledger.trees[child]), path))
        for child in branch.children
    ]
    policy = ledger.plan(branch).policy
    for step in path:
        policy = policy.at(step)
    return joined(policy, parts)


def _remove_path(ledger: Ledger, branch: Branch, path: Path, remove: Callable[[Path], object]) -> Any:
    """Call *remove* with *path*, and return a plain copy of the merged value that stood there; None where it was
    absent.

    Where the parent is not a map in the merge of the branch, *remove* is not called, and the result is None.
    path:   at least one step
    remove: removes the path from the slots of the branch
    raises: the error of a deferred value at the path, or in its way; nothing is removed then
    """
    with ledger.lock:
        holder = ledger.part_at(branch, path[:-1], compute=True)
        if not isinstance(holder, (dict, Joined)):
            return None
        value = entry_at(holder, path[-1])
        if type(value) is Deferred:
            value = value.evaluate(path)
        as_it_was = None if value is ABSENT else ledger.plain_copy(value, False, path)
        remove(path)
        return as_it_was


class _LevelView(MapView):
    """The merged view of one level; a later write does not change it.

    `view["a"]["b"]` reads as any merged map does. `view("a", "b")` merges on the current values instead: it
    gives a plain copy, or None if no component has a value there.

    ledger: has the values
    branch: the part of the order of precedence that is merged: the components of the level
    """

    __slots__ = ("_branch", "_ledger")

    def __init__(self, ledger: Ledger, branch: Branch) -> None:
        with ledger.lock:
            super().__init__(joined_roots(ledger.trees, ledger.plan(branch)), ledger.version())
        self._ledger, self._branch = ledger, branch

    def __call__(self, *path: Any) -> Any:
        return _merged_at(self._ledger, self._branch, steps_of(path))


def _stepped(place: Place, path: Path) -> Place:
    """The place some steps below a place; (ABSENT, ABSENT) beyond null, text, and what is not set."""
    for depth, step in enumerate(path):
        thing = value_of(place)
        if thing is ABSENT or thing is None or isinstance(thing, str):
            return ABSENT, ABSENT
        if not isinstance(thing, dict) and not (isinstance(thing, list) and type(step) is int):
            raise TypeConflict(
                f"cannot step to {spell((step,))}: {spell(path[:depth])} has no such place in one of the components",
                path=path,
            )
        place = step_down(place, step)
    return place

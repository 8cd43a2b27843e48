"""The node: it introduces slots, writers, views and documents to one another.

What a person holds. It decides nothing about merging (slots.py, view.py), keeps no
data of its own but its name, environment and run-list, and knows no files: a
repository, a store or a run hands in plain data and who said it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.core.fold import Fold
from nodeattrs.core.tree import ABSENT, Path, parse, spell
from nodeattrs.errors import (
    AmbiguousRunList,
    BadArgument,
    BadValue,
    DocumentError,
    NoSuchAttribute,
    NullInTheWay,
    TypeConflict,
    UnknownName,
)
from nodeattrs.node.component_tree import ComponentTree, thing_of
from nodeattrs.node.documents import FORMAT, VERSION, json_ready, restore_ledger, snapshot_ledger, unmarked
from nodeattrs.node.intake import adopt, lay_over, load, settle, sink
from nodeattrs.node.ledger import Heard, Ledger
from nodeattrs.node.level_view import LevelView, level_view, merged_at
from nodeattrs.node.run_list import normalised
from nodeattrs.node.secrets import Secrets
from nodeattrs.node.slot_tree import SlotTree, fold_of
from nodeattrs.node.slots import (
    COMPONENTS,
    DEFAULT_GROUP,
    NORMAL_GROUP,
    OVERRIDE_GROUP,
    PLAN,
    SLOTS,
    Branch,
    Joined,
    component,
)
from nodeattrs.node.speech import RUN, Voice
from nodeattrs.node.values import stored
from nodeattrs.node.view import ListView
from nodeattrs.node.writers import FullWriter, Level, UnlessWriter, Writer, key_of, steps_of

if TYPE_CHECKING:
    from nodeattrs.core.trace import Trace

__all__ = ["DEFAULT_ENVIRONMENT", "WORDS", "Node"]

DEFAULT_ENVIRONMENT = "_default"
_WRITTEN = ("default", "force_default", "normal", "override", "force_override")
WORDS = (
    *_WRITTEN,
    *("default_unless", "normal_unless", "override_unless"),
    *(f"{level}_full" for level in _WRITTEN),
    "has_attribute",
)
"""What attribute files say without `node.` before it."""
_DEFAULT_LEVEL = tuple(one.name for one in COMPONENTS[:4])
_OVERRIDE_LEVEL = tuple(one.name for one in COMPONENTS[5:9])
_JSON = Origin("JSON attributes")
_FACTS = Origin("facts")
_SAVED = Origin("saved", "origin unknown")
_RUN = Origin(RUN)
_ROLES = Origin("role")


class EnvironmentLike(Protocol):
    """What `Node.apply_expansion` needs of an environment."""

    @property
    def name(self) -> str: ...
    @property
    def default_attributes(self) -> Mapping[Any, Any]: ...
    @property
    def override_attributes(self) -> Mapping[Any, Any]: ...


class _Speaking:
    """A block in which a voice speaks. Not a generator: every file of a run is one."""

    __slots__ = ("_before", "_node", "_voice")

    def __init__(self, node: Node, voice: Voice) -> None:
        self._node, self._voice = node, voice
        self._before = voice

    def __enter__(self) -> Node:
        self._before = self._node._ledger.speak(self._voice)
        return self._node

    def __exit__(self, *_: object) -> None:
        self._node._ledger.speak(self._before)


def _of_node_document(origin: Origin) -> bool:
    return origin.kind in ("node", "saved node")


def _named(document: Any, field: str) -> tuple[str, str]:
    """The name and environment of a document. raises: DocumentError"""
    if not isinstance(document, Mapping):
        raise DocumentError(f"a node document is a map, not a {type(document).__name__}")
    name, environment = document.get("name"), document.get(field) or DEFAULT_ENVIRONMENT
    if not isinstance(name, str) or not isinstance(environment, str):
        raise DocumentError(f"a node document needs name and {field} as text", hint='"name": "web1"')
    if not isinstance(document.get("run_list") or [], (list, tuple)):
        raise DocumentError("the run_list of a node document is a list")
    return name, environment


def _steps(path: str | Iterable[Any]) -> Path:
    return parse(path) if isinstance(path, str) else steps_of(path)


def _writer(name: str) -> property:
    def read(self: Node) -> Writer:
        return Writer(self._trees[name])

    def replace(self: Node, value: Mapping[Any, Any]) -> None:
        tree = stored(value, ())
        if not isinstance(tree, dict):
            raise BadValue(f"a level is a map, not a {type(tree).__name__}", hint=f"node.{name} = {{...}}")
        self._trees[name].replace(tree)

    return property(read, replace, doc=f"The writer of `{name}`. Assigning to it replaces the whole component.")


def _unless_writer(name: str) -> property:
    def read(self: Node) -> UnlessWriter:
        return UnlessWriter(self._trees[name])

    return property(read, doc=f"Writes to `{name}` where it has no value yet.")


def _full_writer(name: str, clears: str = "") -> property:
    def read(self: Node) -> FullWriter:
        before = getattr(self, f"_clear_{clears}") if clears else None
        return FullWriter(self._trees[name], (), before)

    spelled = f"The full assignment to `{name}`, Ruby's `{name}!`: what stands in the way becomes a map."
    return property(read, doc=spelled + (f" First clears the whole {clears} level at the path." if clears else ""))


class Node(Mapping[Any, Any]):
    """A node: fifteen slots, read as one tree that can say where each value came from.

    name:        of the node
    environment: the name of its environment
    provenance:  False keeps no origins and no history
    sensitive:   paths whose values are secrets: "db.password", or steps; the step "*" stands for any
    root:        the folder to which the files in origins are relative; None is the current one

    Reading is as from an immutable mapping, one look-up a step when warm. One thread may write while
    others read; several writers take turns. What was handed out never changes, deferred values excepted.
    source: docs/merging.md

    >>> node = Node("web1")
    >>> node.default["apache"]["port"] = 80
    >>> node.override["apache"]["port"] = 8080
    >>> node["apache"]["port"]
    8080
    """

    def __init__(
        self,
        name: str = "node1",
        environment: str = DEFAULT_ENVIRONMENT,
        *,
        provenance: bool = True,
        sensitive: Iterable[str | Path] = (),
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        self.name = name
        self.environment = environment
        self._run_list: list[str] = []
        self._root = None if root is None else os.fspath(root)
        self._settled: Mapping[Any, Any] = {}
        secrets = Secrets(sensitive)
        self._ledger = Ledger(provenance, lambda: self._root or os.getcwd(), secrets if secrets.paths else None)
        self._trees = {one.name: ComponentTree(self._ledger, one) for one in COMPONENTS}

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

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._ledger.cache[key]
        except KeyError:
            return self._ledger.view()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ledger.view())

    def keys(self) -> KeysView[Any]:
        """The top-level keys, those of now; later writes do not show in them."""
        return self._ledger.view().keys()

    def items(self) -> ItemsView[Any, Any]:
        """The top-level keys and values, those of now."""
        return self._ledger.view().items()

    def values(self) -> ValuesView[Any]:
        """The top-level values, those of now."""
        return self._ledger.view().values()

    def get(self, key: Any, default: Any = None) -> Any:
        """The merged value of *key*, or *default* where it is absent."""
        return self._ledger.view().get(key, default)

    def __len__(self) -> int:
        return len(self._ledger.view())

    def __contains__(self, key: object) -> bool:
        return key in self._ledger.view()

    def __repr__(self) -> str:
        return f"<Node {self.name} in {self.environment}>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Node) else self._ledger.view() == other

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._ledger.view()._refuse(key)

    def __delitem__(self, key: Any) -> NoReturn:
        self._ledger.view()._refuse(key)

    def __getattr__(self, name: str) -> NoReturn:
        hints = {
            "set": "write node.normal[...] = ...",
            "set_unless": "write node.normal_unless[...] = ...",
            "default!": "write node.default_full[...] = ...",
        }
        if name.startswith("_"):
            raise AttributeError(name)
        hint = hints.get(name, f"read an attribute with node[{name!r}]")
        raise UnknownName(f"a node has nothing called {name!r}", hint=hint)

    def read(self, *path: Any) -> Any:
        """The merged value at *path*, or None; maps by key, lists by index, nothing through scalars.

        source: Chef's `read`
        """
        value = self._at(steps_of(path))
        return None if value is ABSENT else value

    dig = read

    def read_strict(self, *path: Any) -> Any:
        """As `read` (Ruby's `read!`). raises: NoSuchAttribute"""
        value = self._at(steps_of(path))
        if value is ABSENT:
            raise NoSuchAttribute(f"no attribute {spell(steps_of(path))}", path=steps_of(path))
        return value

    def exist(self, *path: Any) -> bool:
        """Whether there is something at *path*, null included (Ruby's `exist?`)."""
        steps = steps_of(path)
        if not steps:
            return True
        parent, last = self._at(steps[:-1]), steps[-1]
        if isinstance(parent, ListView):
            return type(last) is int and -len(parent) <= last < len(parent)
        return isinstance(parent, Mapping) and last in parent

    def has_attribute(self, key: Any) -> bool:
        """Whether any slot has this top-level key (Ruby's `attribute?`)."""
        step = key_of(key)
        return any(step in tree for tree in self._ledger.trees[1:])

    def _at(self, path: Path) -> Any:
        here: Any = self._ledger.view()
        for step in path:
            if isinstance(here, Mapping):
                here = here.get(step, ABSENT)
            elif isinstance(here, ListView) and type(step) is int and -len(here) <= step < len(here):
                here = here[step]
            else:
                return ABSENT
        return here

    def walk(self, *path: Any) -> Any:
        """What Ruby's `node['a']['b']` gives: None for an absent last key, an error beyond.

        raises: NullInTheWay, TypeConflict, naming the step at which it ended
        """
        here: Any = self._ledger.view()
        steps = steps_of(path)
        for depth, step in enumerate(steps):
            at = spell(steps[:depth])
            if isinstance(here, Mapping):
                here = here.get(step)
            elif isinstance(here, ListView) and type(step) is int:
                here = here[step] if -len(here) <= step < len(here) else None
            elif isinstance(here, str):
                here = None
            elif here is None:
                raise NullInTheWay(f"cannot step to {spell((step,))}: there is null or nothing at {at}", path=steps)
            else:
                raise TypeConflict(f"cannot step to {spell((step,))}: {at} has no such place", path=steps)
        return here

    def to_dict(self, evaluate: bool = True) -> dict[Any, Any]:
        """A plain, independent copy of the merged tree.

        evaluate: compute deferred values; otherwise they stay in it as they are
        cost:     one eager fold and one copy
        """
        return self._ledger.tree(evaluate=evaluate)

    def merged(self, *path: Any) -> Any:
        """A plain copy of the merge at *path* alone, each component stepped through for itself; None where none has it.

        raises: TypeConflict, where a component has a number or a list in the way
        source: Chef's `merged_attributes`
        """
        return merged_at(self._ledger, PLAN, steps_of(path))

    def to_plain(self, evaluate: bool = False) -> dict[Any, Any]:
        """As `to_dict`; what the border asks of anything that is stored."""
        return self.to_dict(evaluate)

    @property
    def combined_default(self) -> LevelView:
        """The four default components, merged: `node.combined_default["a"]`, or `node.combined_default("a", "b")`."""
        return level_view(self._ledger, DEFAULT_GROUP)

    @property
    def combined_override(self) -> LevelView:
        """The four override components, merged; see `combined_default`."""
        return level_view(self._ledger, OVERRIDE_GROUP)

    # Path methods on one component

    def write(self, level: str, *path_and_value: Any) -> Any:
        """Store the last argument at a path of one component; scalars in the way become maps. The value."""
        return self._level(level).write(*path_and_value)

    def write_strict(self, level: str, *path_and_value: Any) -> Any:
        """As `write` (Ruby's `write!`). raises: TypeConflict, where something would be replaced"""
        return self._level(level).write_strict(*path_and_value)

    def unlink(self, level: str, *path: Any) -> Any:
        """Remove what stands at a path of one component; the value, or None."""
        return self._level(level).unlink(*path)

    def unlink_strict(self, level: str, *path: Any) -> Any:
        """As `unlink` (Ruby's `unlink!`). raises: NoSuchAttribute"""
        return self._level(level).unlink_strict(*path)

    def _level(self, level: str) -> Writer:
        return Writer(self._trees[component(level).name])

    def words(self) -> dict[str, Any]:
        """WORDS with what they mean here: `default`, `default_unless`, `default_full`, ...

        Unlike `node.default`, which is of its moment, the word `default` always means what stands there now.
        """
        return {name: Level(self._trees[name]) if name in self._trees else getattr(self, name) for name in WORDS}

    # Removing whole levels

    def rm(self, *path: Any) -> Any:
        """Remove *path* from every level but automatic; the merged value as it was, or None.

        Removes nothing where the parent is no map in the merged tree. A deferred value is computed, and so is
        one that stands in the way; those inside of a map or list that is removed stay deferred.
        raises: BadArgument for the empty path; whatever a deferred value raises, and nothing is removed then
        source: Chef's `rm`
        """
        steps = self._removable(path)
        with self._ledger.lock:
            if not self._is_removable(PLAN, steps):
                return None
            value = self._value_at(PLAN, steps)
            self._clear_default(steps)
            self._unlink("normal", steps)
            self._clear_override(steps)
        return value

    def rm_default(self, *path: Any) -> Any:
        """Remove *path* from the four default components; their merged value as it was, or None."""
        return self._clear_default(self._removable(path))

    def rm_override(self, *path: Any) -> Any:
        """Remove *path* from the four override components; their merged value as it was, or None."""
        return self._clear_override(self._removable(path))

    def rm_normal(self, *path: Any) -> Any:
        """Remove *path* from normal; the value as it was, or None."""
        return self._unlink("normal", self._removable(path))

    def _removable(self, path: tuple[Any, ...]) -> Path:
        if not path:
            raise BadArgument("the empty path cannot be removed", hint="name the attribute: rm('apache', 'port')")
        return steps_of(path)

    def _clear_default(self, path: Path) -> Any:
        return self._clear(DEFAULT_GROUP, _DEFAULT_LEVEL, path)

    def _clear_override(self, path: Path) -> Any:
        return self._clear(OVERRIDE_GROUP, _OVERRIDE_LEVEL, path)

    def _clear(self, branch: Branch, names: Iterable[str], path: Path) -> Any:
        with self._ledger.lock:
            if not self._is_removable(branch, path):
                return None
            value = self._value_at(branch, path)
            for name in names:
                self._unlink(name, path)
        return value

    def _is_removable(self, branch: Branch, path: Path) -> bool:
        parent = self._ledger.standing(branch, path[:-1], compute=True)
        return isinstance(parent, (dict, Joined))

    def _value_at(self, branch: Branch, path: Path) -> Any:
        value = self._ledger.standing(branch, path, compute=True)
        return None if value is ABSENT else self._ledger.folded(value, False, path)

    def _unlink(self, name: str, path: Path) -> Any:
        return self._trees[name].unlink(path)

    # Who spoke

    def speaking(self, source: str, name: str = "", speaker: Speaker | None = None) -> AbstractContextManager[Node]:
        """Within the block, what is written is said by this source: `with node.speaking("recipe", "apache2"):`.

        source:  "attribute file" writes the attribute file's slots; everybody else the recipe's
        name:    the cookbook, role, environment, ... that speaks
        speaker: knows the places, where it is a document; code finds its own line
        """
        return _Speaking(self, Voice(source, name, speaker))

    def speaker_here(self) -> Origin:
        """Who speaks now, and the line outside of this library that calls."""
        marks = self._ledger.marks
        return marks[marks.here(0)].speaker.at(())

    def noted_here(self) -> Callable[[], Origin]:
        """The same, looked up when it is asked."""
        marks = self._ledger.marks
        number = marks.here(0)
        return lambda: marks[number].speaker.at(())

    @property
    def slots(self) -> dict[int, SlotTree]:
        """The fifteen, by number."""
        return {slot.number: SlotTree(self._ledger, slot) for slot in SLOTS}

    def plan(self) -> Fold:
        """The whole node as a fold of the core: fifteen layers under the policies of docs/merging.md."""
        return fold_of(self._ledger)

    def trace(self, path: str | Iterable[Any]) -> Trace:
        """Everyone who spoke about *path*, the winner first; see `nodeattrs.core.trace.Trace`.

        path: steps, or their spelling: "apache.listen_ports.0"
        cost: grows with the depth of the path and its own history, not with the tree
        """
        from nodeattrs.node.node_trace import trace_of

        with self._ledger.lock:
            return trace_of(self._ledger, _steps(path))

    def explain(self, path: str | Iterable[Any]) -> str:
        """The trace as text for people."""
        return str(self.trace(path))

    def debug_value(self, *path: Any) -> list[tuple[str, Any]]:
        """Pairs of component and value, "not_present" where it has none, weakest first; as Chef has it."""
        steps = steps_of(path)
        pairs = []
        for name, tree in self._trees.items():
            value = tree.plain(steps, evaluate=True)
            pairs.append((name, "not_present" if value is ABSENT else value))
        return pairs

    # Runs

    @property
    def run_list(self) -> list[str]:
        """The items; assigning normalises them: bare names become recipe[name], identical ones are kept once."""
        return list(self._run_list)

    @run_list.setter
    def run_list(self, items: Iterable[object]) -> None:
        self._run_list = [str(item) for item in normalised(items)]

    def reset_defaults_and_overrides(self) -> None:
        """Empty the components default and override, as at the start of a run."""
        for name in ("default", "override"):
            self._trees[name].empty()

    def apply_expansion(
        self,
        role_default: Mapping[Any, Any],
        role_override: Mapping[Any, Any],
        environment: EnvironmentLike | None = None,
    ) -> None:
        """Replace what environment and roles say by the given trees.

        environment: becomes the node's; None or "_default" says nothing
        """
        if environment is not None:
            self.environment = environment.name
        self.hear_environment(environment)
        self.hear_roles([(role_default, _ROLES)], [(role_override, _ROLES)])

    def hear_environment(self, environment: EnvironmentLike | None) -> None:
        """Replace slots 3 and 12 by what an environment says."""
        silent = environment is None or environment.name == DEFAULT_ENVIRONMENT
        for level in ("default", "override"):
            said = {} if silent else getattr(environment, f"{level}_attributes")
            named = Origin("environment", getattr(environment, "name", ""))
            speaker = getattr(environment, f"{level}_speaker", named)
            load(self._trees[f"env_{level}"], said, speaker)

    def hear_roles(
        self,
        defaults: Iterable[tuple[Mapping[Any, Any], Speaker]],
        overrides: Iterable[tuple[Mapping[Any, Any], Speaker]],
    ) -> None:
        """Replace slots 4 and 11 by what roles say, each deep merged over the ones before it.

        defaults, overrides: trees with their speakers, the weakest role first
        """
        for name, layers in (("role_default", defaults), ("role_override", overrides)):
            load(self._trees[name], {}, _ROLES)
            for tree, speaker in layers:
                lay_over(self._trees[name], tree, speaker)

    def layers(self) -> Heard:
        """What environment and roles say here, for other nodes to begin with (`begin_with`); hear nothing more."""
        return self._ledger.heard((3, 4, 11, 12))

    def begin_with(self, layers: Heard) -> bool:
        """Hear what environment and roles say as another node has heard it, at no cost.

        layers: of a node with the same sensitive paths
        False, and nothing is heard, where anything was said here before
        """
        with self._ledger.lock:
            fresh = self._ledger.is_fresh(layers)
            if fresh:
                for name in ("env_default", "role_default", "role_override", "env_override"):
                    self._trees[name].leave()
                self._ledger.begin_with(layers)
            return fresh

    def hear_saved(self, saved: Node) -> None:
        """Take over the normal attributes of an earlier run, as what was saved then.

        What the node's own document said is left out: it is heard anew in each run (`hear_normal`).
        """
        other = Ledger(provenance=True, root=str)
        with saved._ledger.lock:
            restore_ledger(snapshot_ledger(saved._ledger, only=(7, 8)), other)
        sink(ComponentTree(other, component("normal")))
        adopt(self._trees["normal"], other, _of_node_document)

    def hear_normal(self, attributes: Mapping[Any, Any], speaker: Speaker) -> None:
        """Deep merge attributes of the node's own document over normal, lists united."""
        lay_over(self._trees["normal"], attributes, speaker)

    def named_by(self, json_attributes: Mapping[Any, Any], speaker: Speaker = _JSON) -> dict[Any, Any]:
        """Take run-list and environment out of JSON attributes; what is left of them.

        raises: AmbiguousRunList
        """
        attributes = dict(json_attributes)
        if "run_list" in attributes and "recipes" in attributes:
            raise AmbiguousRunList(
                "JSON attributes with both run_list and recipes",
                origins=[speaker.at(("recipes",))],
                hint="keep run_list; recipes is its old name",
            )
        items = attributes.pop("recipes", None) if "recipes" in attributes else attributes.pop("run_list", None)
        if items is not None:
            self.run_list = items
        if "chef_environment" in attributes:
            self.environment = attributes.pop("chef_environment")
        return attributes

    def consume_external(
        self,
        facts: Mapping[Any, Any],
        json_attributes: Mapping[Any, Any] | None = None,
        *,
        guid: str | None = None,
        facts_speaker: Speaker = _FACTS,
        json_speaker: Speaker = _JSON,
        settled: bool = False,
    ) -> None:
        """Take in JSON attributes and facts, as at the start of a run.

        json_attributes: deep merged over normal with lists united; `run_list` (or `recipes`) and
                         `chef_environment` are taken out of it
        facts:           become the whole of automatic
        settled:         the facts are handed over for good; see `consume_facts`
        raises:          AmbiguousRunList, BadArgument where the facts have no platform
        """
        attributes = self.named_by(json_attributes or {}, json_speaker)
        sink(self._trees["normal"])
        lay_over(self._trees["normal"], attributes, json_speaker)
        self.begin_tags()
        load(self._trees["automatic"], {}, facts_speaker)
        self.consume_facts(facts, guid=guid, speaker=facts_speaker, settled=settled)

    def consume_facts(
        self, facts: Mapping[Any, Any], *, guid: str | None = None, speaker: Speaker = _FACTS, settled: bool = False
    ) -> None:
        """Deep merge facts over automatic, lists united, and note name and environment there.

        settled: they are JSON data of at most 499 levels and nobody changes them any more, so they are
                 kept as they are: no copy is made
        raises:  BadArgument, where the facts have no platform
        """
        if "platform" not in facts:
            raise BadArgument("these facts name no platform", hint="an Ohai or Facter document has one")
        automatic = self._trees["automatic"]
        if settled and not self._ledger.trees[15]:
            self._settled = settle(automatic, facts, speaker)
        else:
            lay_over(automatic, facts, speaker)
        run = {"chef_guid": guid} if guid is not None else {}
        lay_over(automatic, {**run, "name": self.name, "chef_environment": self.environment}, _RUN)

    def facts(self) -> dict[Any, Any]:
        """The automatic attributes of now as plain data: to read, and never to change, since the node shares it.

        cost: a copy of what did not come in as settled facts
        """
        with self._ledger.lock:
            tree, settled = dict(self._ledger.trees[15]), self._settled
        return {
            key: value if value is settled.get(key, ABSENT) else self._ledger.folded(value, True, (key,))
            for key, value in tree.items()
        }

    def note_expansion(self, facts: Mapping[Any, Any]) -> None:
        """Set automatic attributes that the run itself knows, such as `recipes` and `roles`."""
        with self.speaking(RUN, speaker=_RUN):
            for key, value in facts.items():
                self.automatic[key] = value

    def begin_tags(self) -> None:
        """Make normal `tags` a list, as every run does before anybody else speaks."""
        with self.speaking(RUN, speaker=_RUN):
            self._make_tags()

    def _make_tags(self) -> None:
        standing = thing_of(self._trees["normal"].place(("tags",)))
        if not isinstance(standing, list):
            self.normal["tags"] = [] if standing is ABSENT or standing is None else [standing]

    @property
    def tags(self) -> list[Any]:
        """The list in normal `tags`; made empty where there is none, a scalar becomes a list of one."""
        self._make_tags()
        return self._trees["normal"].plain(("tags",))  # type: ignore[no-any-return]

    def tag(self, *names: str) -> list[Any]:
        """Add tags that are missing; the list."""
        known = self.tags
        missing = [name for name in dict.fromkeys(map(str, names)) if name not in known]
        if missing:
            self.normal["tags"].push(*missing)
        return self.tags

    def untag(self, *names: str) -> list[Any]:
        """Remove tags; the list."""
        for name in set(map(str, names)) & set(self.tags):
            self.normal["tags"].delete(name)
        return self.tags

    # Documents

    def to_chef(self, *, shared: bool = False) -> dict[str, Any]:
        """Chef's node JSON as data: levels combined, sources lost, secrets replaced by a marker.

        shared: settled facts in it are the node's own: to be written out, and never changed
        """
        with self._ledger.lock:
            facts = dict(self._ledger.trees[15])
            settled = self._settled if shared and all(type(key) is str for key in facts) else {}
            kept = {key: value for key, value in facts.items() if value is settled.get(key, ABSENT)}
            rest = self._ledger.folded({key: value for key, value in facts.items() if key not in kept}, False)
            trees = {
                "normal": self._ledger.tree(NORMAL_GROUP),
                "default": self._ledger.tree(DEFAULT_GROUP),
                "override": self._ledger.tree(OVERRIDE_GROUP),
            }
        said = {**json_ready(rest), **kept}
        return {
            "name": self.name,
            "chef_environment": self.environment,
            "json_class": "Chef::Node",
            "automatic": {str(key): said[str(key)] for key in facts},
            "normal": json_ready(trees["normal"]),
            "chef_type": "node",
            "default": json_ready(trees["default"]),
            "override": json_ready(trees["override"]),
            "run_list": self.run_list,
        }

    def to_chef_json(self) -> str:
        """Chef's node JSON as text, on one line."""
        import json

        return json.dumps(self.to_chef(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def to_hash(self) -> dict[str, Any]:
        """The merged tree with the node's own fields laid over it, as Chef's `to_hash`."""
        merged = self.to_dict()
        merged.update(chef_type="node", name=self.name, chef_environment=self.environment)
        for kind in ("recipe", "role"):
            named = [item.name for item in normalised(self._run_list) if item.type == kind]
            if named:
                merged[kind] = named
        merged["run_list"] = self.run_list
        return merged

    @classmethod
    def from_chef(cls, document: Mapping[str, Any], *, speaker: Speaker = _SAVED, **options: Any) -> Node:
        """A node from Chef's node JSON; who spoke is lost in it, so its origin says "saved, origin unknown".

        The combined levels come back as the components default and override.
        options: as for `Node`
        raises:  DocumentError
        """
        name, environment = _named(document, "chef_environment")
        node = cls(name, environment, **options)
        for level in ("default", "normal", "override", "automatic"):
            tree = document.get(level)
            tree = {} if tree is None else tree
            if not isinstance(tree, dict):
                raise DocumentError(f"{level} must be a map in a node document, not a {type(tree).__name__}")
            load(node._trees[level], unmarked(tree), speaker)
        node.run_list = document.get("run_list") or ()
        return node

    def snapshot(self, *, shared: bool = False) -> dict[str, Any]:
        """All a run left behind, as JSON-able data: the fifteen slots, marks, verbs and history.

        Deferred values are computed, secrets replaced by a marker.
        shared: settled facts in it are the node's own: to be written out, and never changed
        """
        with self._ledger.lock:
            slots = snapshot_ledger(self._ledger, self._settled if shared else {})
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "environment": self.environment,
            "run_list": self.run_list,
            **slots,
        }

    @classmethod
    def restore(cls, snapshot: Mapping[str, Any], **options: Any) -> Node:
        """The node of a snapshot. options: as for `Node`. raises: DocumentError"""
        if not isinstance(snapshot, Mapping) or snapshot.get("format") != FORMAT:
            raise DocumentError("this is no snapshot of a node", hint="make one with node.snapshot()")
        if snapshot.get("version") not in range(1, VERSION + 1):
            raise DocumentError(
                f"this snapshot has version {snapshot.get('version')!r}, and versions up to {VERSION} are read here",
                hint="a newer nodeattrs wrote it: upgrade",
            )
        name, environment = _named(snapshot, "environment")
        node = cls(name, environment, **options)
        node.run_list = snapshot.get("run_list") or ()
        restore_ledger(snapshot, node._ledger)
        return node

    def _check(self) -> list[str]:
        """Every contradiction inside; tests ask after each step. Empty is sane."""
        return list(self._ledger.check())

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise BadArgument(
            "a node is not copied", hint="Node.restore(node.snapshot()), or node.to_dict() for plain data"
        )

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a node is not pickled", hint="store node.snapshot(), and Node.restore(...) it")

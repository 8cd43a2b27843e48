"""The answers of one node: its facts in the expressions of a tree, one key at a time.

A search is three foldings inside each other: the locations of an entry, the entries of a layer, and the layers, each
pairwise from the top down. It reads no file itself. How two values meet is known to the strategies, and what else a
call may ask for to the scope. An explanation is a search by a `Recorder`, which numbers what it folds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import Budget
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.looks import TREE, Look, Looks, fact_at
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.core.unknown import Unknown, unknown_layer
from nodeattrs.dialects.hiera.codes import RECURSIVE_LOOKUP
from nodeattrs.dialects.hiera.config import URIS, HieraConfig, HierarchyEntry
from nodeattrs.dialects.hiera.conversions import convert
from nodeattrs.dialects.hiera.data import DataFile, FunctionData
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, HieraError, UnsetVariable
from nodeattrs.dialects.hiera.expressions import planned, variable
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION, LoadedTree
from nodeattrs.dialects.hiera.keys import NAME, Options, checked, dug, module_of, split_key
from nodeattrs.dialects.hiera.locations import DataLocation, LocatedLevel, Location, located, templates_of
from nodeattrs.dialects.hiera.strategies import FIRST, Strategy, strategy_of
from nodeattrs.errors import NodeattrsError
from nodeattrs.puppet.legacy_facts import modern_fact_hint

Merge = str | Mapping[str, Any] | None
Layers = Sequence[Sequence[LocatedLevel]]
Ask = Callable[[DataLocation], Part | Folding]
Option = tuple[str, Mapping[str, Any]]
"""An entry of lookup_options: the name or expression under which it stands, and what it says."""

_UNRESOLVED: Any = object()
_DEPENDS: Any = object()
"""The answer to a key that is not the same for all nodes."""
_HIERARCHY = "hiera.yaml"
_PER_LOOKUP = 10
"""How many steps a lookup inside of another one is, as near as one can say."""
IN_LEVELS = "a level of hiera.yaml"
"""Asks in place of a key where Puppet 8 needs each variable: in a datadir, in options, in paths of versions 3 and 4."""
_FACTS = "is a fact missing? --set NAME=VALUE gives it; Puppet 8 ends here, Puppet 7 takes an empty text"
_ALWAYS_THERE = ("module_name", "caller_module_name")
"""Variables that Puppet has in every scope, with or without a value; so are those that are numbers."""
OPTIONS = strategy_of("hash")
"""How lookup_options become one map."""
_END = LocatedLevel((), False)
"""Where a layer ends."""


class Sources:
    """The sources of some layers in order, each with its tree, where it has one, and its place.

    One object serves all nodes that meet the same sources in the same levels, so answers are kept under it.
    """

    def __init__(self, layers: Layers) -> None:
        places = [place for levels in layers for level in levels for place in level.places]
        self.flat = [(getattr(place.source, "tree", None), place) for place in places if place.source is not None]

    def say_always(self, root: str) -> bool:
        """Whether every source says the same of a key to each node: no expression, no data function."""
        return all(isinstance(place.source, DataFile) and place.source.says_always(root) for _, place in self.flat)


class Hierarchy:
    """The layers that a scope searches for the keys of a module, or for those of none."""

    def __init__(self, layers: Layers, sources: Sources, module: str | None) -> None:
        self.layers = layers
        self.sources = sources
        self.module = module

    def folding(self, root: str, how: Strategy, ask: Ask) -> Folding:
        """All that the places have for a key. ask: gives the part of one place. raises: CannotMerge"""
        return how.finished(how.level(self.layers, partial(self._layer, how, ask)))

    @staticmethod
    def _layer(how: Strategy, ask: Ask, levels: Sequence[LocatedLevel]) -> Part | Folding:
        def entry(level: LocatedLevel) -> Part | Folding:
            return how.level(level.places, ask) if level.located else ask(level.places[0])

        return how.level(levels, entry)


class OptionsHierarchy(Hierarchy):
    """The layers of a hierarchy in a search for `lookup_options`; a layer without options that count is left out."""

    def folding(self, root: str, how: Strategy, ask: Ask) -> Folding:
        folding = how.folding(len(self.layers))
        for levels, owner in zip(self.layers, (None, None, self.module), strict=True):
            part = self._layer(how, ask, levels)
            value = part.result.value if isinstance(part, Folding) else part.value
            if value is ABSENT or type(value) is Unknown or checked(value, owner) is not None:
                how.lay(folding, part)
        return folding


class Defaults(Hierarchy):
    """The default hierarchy of a module, which is one layer.

    option: the name in its lookup_options that holds for the key
    """

    option: str | None = None

    def __init__(self, levels: Sequence[LocatedLevel], module: str) -> None:
        super().__init__([levels], Sources([levels]), module)

    def folding(self, root: str, how: Strategy, ask: Ask) -> Folding:
        return how.finished(self._layer(how, ask, self.layers[0]))


class Asking:
    """One call that is under way, or one lookup inside it: what expressions may ask.

    chain:    the keys that need each other, the first asked first
    found_in: "data", or which argument of the call answered
    """

    __slots__ = ("_known", "_spent", "answers", "chain", "defaults", "found_in", "needed", "override", "untrusted")

    def __init__(
        self,
        answers: Answers,
        override: Mapping[str, Any] | None,
        defaults: Mapping[str, Any] | None,
        chain: tuple[str, ...],
        needed: list[str] | None = None,
    ) -> None:
        self.answers = answers
        self.override = override
        self.defaults = defaults
        self.chain = chain
        self.found_in = "data"
        self.needed = needed
        self.untrusted = False
        self._known: dict[str, tuple[Any, bool]] | None = None
        self._spent: Budget | None = None

    @property
    def budget(self) -> Budget:
        """What the whole call may use up; made when something is drawn for the first time."""
        if self._spent is None:
            asked = self.chain[0]
            self._spent = Budget(asked if asked in (NAME, _HIERARCHY, IN_LEVELS) else f"lookup of {asked!r}")
        return self._spent

    @property
    def node(self) -> object:
        """The same object in each call of one node."""
        return self.answers

    def variable(self, name: Any, below: Path = ()) -> Any:
        if self.answers.looks is not None and self.chain[0] not in (_HIERARCHY, IN_LEVELS):
            self.answers.looks.note("variable", (name, *below))
        if self.override is not None and name in self.override:
            return self.override[name]
        value = self.answers.variables.get(name, ABSENT)
        if value is ABSENT and type(name) is str and name.startswith("::"):
            value = self.answers.variables.get(name[2:], ABSENT)
        if value is ABSENT:
            return None if self.defaults is None else self.defaults.get(name)
        return value

    def missing(self, name: str) -> None:
        if self.chain[0] == _HIERARCHY:  # the level has no file then, which is said where levels are named
            return
        root = str(split_key(name)[0])
        if self.answers.ends_at_unset and not self._has(root):
            raise UnsetVariable(root, modern_fact_hint(root) or _FACTS)
        self.answers.missing.setdefault(name, {}).update(dict.fromkeys(reversed(self.chain)))

    def _has(self, root: str) -> bool:
        """Whether a variable is set, be it to null."""
        given = (self.override or (), self.answers.variables, self.defaults or ())
        name = root.removeprefix("::")
        return root.isdecimal() or root in _ALWAYS_THERE or any(root in one for one in given) or name in given[1]

    def lookup(self, key: str) -> tuple[Any, bool]:
        if self.needed is not None:
            self.needed.append(key)
        if key in self.chain or self.chain[0] == NAME:
            chain = " -> ".join([*self.chain, key])
            raise BadLookup(
                f"a key needs itself: {chain}", kind=RECURSIVE_LOOKUP, hint="break the circle in one of them"
            )
        if self._known is None:
            self._known = {}
        found = self._known.get(key)  # what it is worth no longer changes within a call
        if found is None:
            self.budget.steps(_PER_LOOKUP)
            inner = Asking(self.answers, self.override, self.defaults, (*self.chain, key), self.needed)
            inner._known, inner._spent = self._known, self.budget
            value = self.answers.answer(key, None, inner)
            found = self._known[key] = value, not inner.untrusted
        return found

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy that the call names, or else the lookup_options of a key. raises: BadLookup"""
        return self.answers.strategy(merge, option)

    def found(self, root: str, how: Strategy, hierarchy: Hierarchy, shared: bool = False) -> Any:
        """The value that a hierarchy has for a key, or ABSENT; it may be shared by all nodes.

        shared: whether lookup_options alone choose the strategy: then the answer is kept, where no node has another one
        """
        if how is FIRST:
            return self._first(root, hierarchy.sources)
        value = self._shared(root, how, hierarchy) if shared else _DEPENDS
        return self._merged(root, how, hierarchy) if value is _DEPENDS else value

    def _first(self, root: str, sources: Sources) -> Any:
        """The first value found. No place below it is asked, so there is nothing to fold."""
        for tree, place in sources.flat:
            if tree is None or root in tree:
                value = self.value_at(place, root)
                if value is not ABSENT and type(value) is not Unknown:
                    return value
        return ABSENT

    def _shared(self, root: str, how: Strategy, hierarchy: Hierarchy) -> Any:
        """The answer for all nodes that meet the same sources; `_DEPENDS` where each has its own."""
        sources = hierarchy.sources

        def make() -> Any:
            return self._merged(root, how, hierarchy) if sources.say_always(root) else _DEPENDS

        return CACHE.get((sources, root, how), make)

    def _merged(self, root: str, how: Strategy, hierarchy: Hierarchy) -> Any:
        def ask(place: DataLocation) -> Part:
            value = self.value_at(place, root)
            return NOTHING if value is ABSENT else Part(value, None)

        return hierarchy.folding(root, how, ask).result.value

    def value_at(self, place: DataLocation, root: str) -> Any:
        """The value that one place has for a key, ABSENT, or `Unknown`. raises: UnknownLayer, where one is strict"""
        value = ABSENT if place.source is None else place.source.value(root, self)
        if type(value) is Unknown:
            self.answers.has_unknown = True
            if self.answers.tree.is_strict and root != NAME:
                raise unknown_layer(Unknown(place.entry, value.reason), place.origin)
        return value

    def converted(self, value: Any, wanted: Any) -> Any:
        """A value as `convert_to` of its lookup_options has it."""
        return convert(value, wanted, self.answers.tree.sensitive)


def trusted_facts(node: str) -> dict[str, Any]:
    """The trusted facts of a node of which only the name is known."""
    hostname, _, domain = node.partition(".")
    return {
        "authenticated": "local",
        "certname": node,
        "hostname": hostname,
        "domain": domain or None,
        "extensions": {},
        "external": {},
    }


class Answers:
    """What a loaded tree answers one node. What was resolved is kept, the answers are not.

    tree:        the loaded tree
    variables:   what expressions may name
    knows_facts: whether facts of the node are given, so that a variable which is not set is none of the node
    looks:       where it notes what it looks at of the node; None: nowhere
    has_unknown: whether some level could not be read when it was asked
    missing:     the variables that values named and that are not set, each with the keys that need it
    """

    def __init__(
        self,
        tree: LoadedTree,
        facts: Mapping[str, Any],
        node: str,
        environment: str,
        trusted: Mapping[str, Any] | None,
        variables: Mapping[str, Any],
        knows_facts: bool,
        looks: Looks | None = None,
    ) -> None:
        self.tree = tree
        self.looks = looks
        self.knows_facts = knows_facts
        self.node = node
        self.environment = environment
        trusted = trusted_facts(node) if trusted is None else trusted
        given = {"server_facts": {}, "facts": facts, "trusted": trusted, "environment": environment}
        self.variables: dict[str, Any] = {**facts, **given, **variables}
        self.has_unknown = False
        self.missing: dict[str, dict[str, None]] = {}
        self._levels: dict[tuple[str, str | None], tuple[LocatedLevel, ...]] = {}
        self._modules: dict[str, str | None] = {}
        self._hierarchies: dict[str | None, Hierarchy] = {}
        self._options: dict[str | None, Options | None] = {}

    def look(self, look: Look) -> Any:
        """What this scope has where another one of the tree looked: the value of a variable, or the files of a layer.

        raises: NodeattrsError
        """
        kind, what = look[0], look[1]
        if kind == "levels":
            configs = {"global": self.tree.global_layer(), "environment": self.tree.environment_layer(self.environment)}
            module = look[2]
            config = configs[what] if module is None else self.tree.module_layer(self.environment, module)
            assert config is not None  # a look names a layer that is there
            entries = (config.defaults or ()) if what == "default_hierarchy" else config.entries
            return tuple([self._sources_of(what, config, entry) for entry in entries])
        if kind == "set":
            return self.is_set(what)
        name = what[0].removeprefix("::") if isinstance(what[0], str) else what[0]
        return name in self.variables, fact_at(self.variables, (TREE, (name, *what[1:])))

    def is_set(self, name: str) -> bool:
        """Whether a variable of a hierarchy is worth more than null and empty text; False where it cannot be had."""
        try:
            return variable(name, name, self.in_hierarchies()) not in (None, "")
        except NodeattrsError:
            return False

    def _sources_of(self, layer: str, config: HieraConfig, entry: HierarchyEntry) -> tuple[int, ...]:
        """The sources of an entry by their ids, resolved once for equal variables; () if no file of it is there."""
        of = (id(config), id(entry))
        if of not in self.tree.named:
            names = [name.removeprefix("::") for _, its in templates_of(entry) for name in its]
            self.tree.named[of] = config, entry, [*map(split_key, names)]
        values = [fact_at(self.variables, (TREE, path)) for path in self.tree.named[of][-1]]
        key = (of, layer, self.knows_facts, *values)
        if key in self.tree.shapes:
            return self.tree.shapes[key]
        if self._has_no_file(config, entry):
            return ()  # each node may have a file of its own, so this is not kept
        level = self._level(layer, config, entry)
        self.tree.shapes[key] = () if level is None else tuple([id(place.source) for place in level.places])
        return self.tree.shapes[key]

    def _has_no_file(self, config: HieraConfig, entry: HierarchyEntry) -> bool:
        """Whether an entry names files, and none of them is there."""
        locations, _ = self._filled_in(config, entry)
        if locations is None or entry.location in URIS:
            return False
        return not any(os.path.lexists(os.path.normpath(one.path)) for one in locations)

    @property
    def ends_at_unset(self) -> bool:
        """Whether a text that names a variable which is not set is an error: in strict mode, and under Puppet 8."""
        return self.tree.is_strict or (self.knows_facts and self.tree.puppet_version >= DEFAULT_VERSION)

    def known_keys(self) -> list[str]:
        """Every key that some file of this scope has, global and environment layers and all modules; sorted."""
        names: set[str] = set()
        for module in (None, *self.tree.modules(self.environment)):
            for place in self.places(module):
                names.update(getattr(place.source, "tree", ()))
        return sorted(name for name in names if name != NAME and type(name) is str)

    def places(self, module: str | None = None) -> list[DataLocation]:
        """Every place that is searched for a key of a module, in order, whether its file is there or not."""
        return [place for levels in self._layers(module) for level in levels for place in level.places]

    def entries(self, module: str | None = None) -> Iterator[tuple[str, HieraConfig, HierarchyEntry]]:
        """The levels that are searched for a key of a module as hiera.yaml has them, each with its layer."""
        last = None if module is None else self.tree.module_layer(self.environment, module)
        first = self.tree.global_layer(), self.tree.environment_layer(self.environment)
        for layer, config in zip(("global", "environment", "module"), (*first, last), strict=True):
            if config is not None:
                yield from ((layer, config, entry) for entry in config.entries)
        if last is not None:
            yield from (("default_hierarchy", last, entry) for entry in last.defaults or ())

    def in_hierarchies(self) -> Asking:
        """What fills in the templates of a hierarchy."""
        return Asking(self, None, None, (_HIERARCHY,))

    def sources(self, key: str) -> tuple[int, ...]:
        """What has a key, or might have it, in order: equal for scopes that find it in the same places."""
        root = str(split_key(key)[0])
        sources = [place.source for place in self.places(self.module_with_data(root)) if place.source is not None]
        return tuple(id(source) for source in sources if root in getattr(source, "tree", (root,)))

    def merges(self, key: str) -> bool:
        """Whether a key takes part of its value from every place that has it, by its lookup_options."""
        option = self._option(key, self.module_with_data(key))
        return option is not None and self.strategy(None, option) is not FIRST

    # --- one key

    def answer(self, key: str, merge: Merge, asking: Asking, *, defaults: bool = True) -> Any:
        """The value of one key with the call's overrides and defaults, or ABSENT. It may be shared with files."""
        if asking.override is not None and key in asking.override:
            asking.found_in = "override"
            return asking.override[key]
        value = self.search(key, merge, asking)
        if value is ABSENT and defaults and asking.defaults is not None and key in asking.defaults:
            return asking.defaults[key]
        return value

    def search(self, key: str, merge: Merge, asking: Asking) -> Any:
        """The value that data has for a key, or ABSENT."""
        if key.startswith(NAME) and (key == NAME or key.startswith(NAME + ".")):
            return ABSENT
        steps = split_key(key)
        root = str(steps[0])
        module = self.module_with_data(root)
        option = self._option(root, module)
        how = asking.strategy(merge, option)
        value = dug(asking.found(root, how, self.hierarchy(module), merge is None), steps[1:], key)
        if value is ABSENT and module is not None:
            value = dug(self._default(root, module, asking), steps[1:], key)
        wanted = None if option is None else option[1].get("convert_to")
        return value if value is ABSENT or wanted is None else asking.converted(value, wanted)

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy that a call names, or else the lookup_options of a key. raises: BadLookup"""
        if merge is None:
            merge = None if option is None else option[1].get("merge")
        if merge is None:
            return FIRST
        try:
            return strategy_of(merge, documented=self.tree.documented)
        except BadLookup as error:
            if option is not None:
                error.details = (*error.details, f"merge for {option[0]!r} in {NAME}")
            raise

    def _default(self, root: str, module: str, asking: Asking) -> Any:
        """The value that the default hierarchy of a module has for a key, or ABSENT."""
        hierarchy = self.default_hierarchy(module)
        if hierarchy is None:
            return ABSENT
        merged = self._asking_options().found(NAME, OPTIONS, hierarchy)
        given = checked(None if merged is ABSENT else merged, module)
        option = None if given is None else Options(given).of(root)
        how = self.strategy(None, option)
        hierarchy.option = None if option is None else option[0]
        return asking.found(root, how, hierarchy)

    # --- layers

    def module_with_data(self, root: str) -> str | None:
        """The module of a key, where it has data; None where there is none."""
        module = module_of(root)
        if module is None:
            return None
        found: str | None = self._modules.get(module, _UNRESOLVED)
        if found is _UNRESOLVED:
            layer = self.tree.module_layer(self.environment, module)
            found = self._modules[module] = None if layer is None else module
        return found

    def hierarchy(self, module: str | None) -> Hierarchy:
        """What is searched for the keys of a module; None for those of none."""
        found = self._hierarchies.get(module)
        if found is None:
            layers = self._layers(module)
            sources = CACHE.get((module, *_shape_of(layers)), lambda: Sources(layers))
            found = self._hierarchies[module] = Hierarchy(layers, sources, module)
        return found

    def options_hierarchy(self, module: str | None) -> Hierarchy:
        """What is searched for the lookup_options of the keys of a module."""
        hierarchy = self.hierarchy(module)
        return OptionsHierarchy(hierarchy.layers, hierarchy.sources, module)

    def default_hierarchy(self, module: str) -> Defaults | None:
        """What is searched for the keys of a module that no layer has; None where it has no such hierarchy."""
        config = self.tree.module_layer(self.environment, module)
        if config is None or config.defaults is None:
            return None
        return Defaults(self._resolved("default_hierarchy", module, config), module)

    def _layers(self, module: str | None) -> Layers:
        """The three layers, each as the levels of this scope."""
        return [
            self._resolved("global", None, self.tree.global_layer()),
            self._resolved("environment", None, self.tree.environment_layer(self.environment)),
            ()
            if module is None
            else self._resolved("module", module, self.tree.module_layer(self.environment, module)),
        ]

    def _resolved(self, layer: str, module: str | None, config: HieraConfig | None) -> tuple[LocatedLevel, ...]:
        if config is None:
            return ()
        if self.looks is not None and _has_variables(config):
            self.looks.note("levels", layer, module)
        found = self._levels.get((layer, module))
        if found is None:
            entries = config.defaults if layer == "default_hierarchy" else config.entries
            levels = [self._level(layer, config, entry) for entry in entries or ()]
            found = self._levels[layer, module] = tuple([level for level in levels if level is not None])
            sources = [place.source for level in found for place in level.places]
            if self.looks is not None and any(isinstance(one, FunctionData) for one in sources):
                self.looks.refuse("a data function may look at anything")
            if layer in ("global", "environment") and not config.built_in and _is_bare(found):
                self.tree.warn_of_nothing(config)
        return found

    def _level(self, layer: str, config: HieraConfig, entry: HierarchyEntry) -> LocatedLevel | None:
        """The places of an entry; None where it is built in, and none of them is there."""
        locations, options = self._filled_in(config, entry)
        if locations is None:
            source = self.tree.source(entry, None, options, config.file, self.environment)
            place = DataLocation(layer, entry.name, "", f"function {entry.function}", source, config.file, entry.line)
            return LocatedLevel((place,), False)
        places = tuple(
            DataLocation(
                layer,
                entry.name,
                location.declared,
                self.tree.shown(location.path),
                self.tree.source(entry, location.path, options, config.file, self.environment),
                config.file,
                entry.line,
                location.folder,
            )
            for location in locations
        )
        return (
            LocatedLevel(places, True)
            if not config.built_in or any(place.source is not None for place in places)
            else None
        )

    def _filled_in(self, config: HieraConfig, entry: HierarchyEntry) -> tuple[list[Location] | None, Mapping[str, Any]]:
        """The locations of an entry, or None, and its options, with the variables filled in."""
        is_new = self.tree.puppet_version >= DEFAULT_VERSION
        strict = Asking(self, None, None, (IN_LEVELS,)) if is_new else self.in_hierarchies()
        try:
            locations = located(config, entry, strict if entry.ending else self.in_hierarchies(), strict)
            plan = planned(dict(entry.options)) if entry.options else None
            return locations, plan(strict) if plan is not None else entry.options
        except UnsetVariable as error:
            message = f"{error.message}, and the level {entry.name!r} needs it: every lookup ends here"
            raise BadData(message, kind=error.kind, file=config.file, line=entry.line, hint=error.hint) from None
        except HieraError as error:
            error.details = (*error.details, f"in the entry {entry.name!r}, {config.file}:{entry.line}")
            raise

    # --- lookup_options

    def _option(self, root: str, module: str | None) -> Option | None:
        """What lookup_options say of a key."""
        options: Options | None = self._options.get(module, _UNRESOLVED)
        if options is _UNRESOLVED:
            sources = self.hierarchy(module).sources
            options = CACHE.get((sources, NAME), lambda: self._read(module) if sources.say_always(NAME) else _DEPENDS)
            options = self._options[module] = self._read(module) if options is _DEPENDS else options
        return None if options is None else options.of(root)

    def _read(self, module: str | None) -> Options | None:
        merged = self._asking_options().found(NAME, OPTIONS, self.options_hierarchy(module))
        return None if merged is ABSENT else Options(merged)

    def _asking_options(self) -> Asking:
        return Asking(self, None, None, (NAME,))


def _has_variables(config: HieraConfig) -> bool:
    """Whether the files of a layer may be others for another node."""
    entries = (*config.entries, *(config.defaults or ()))
    return any(entry.location == "mapped_paths" or "%{" in repr(entry) for entry in entries)


def _is_bare(levels: Sequence[LocatedLevel]) -> bool:
    """Whether levels should have files, and not one is there."""
    return bool(levels) and not any(place.source is not None for level in levels for place in level.places)


def _shape_of(layers: Layers) -> tuple[Any, ...]:
    """The sources of layers by their ids, level by level: equal where the same sources stand in the same way."""
    return tuple(
        [
            (level.located, *[id(place.source) for place in level.places])
            for levels in layers
            for level in (*levels, _END)
        ]
    )

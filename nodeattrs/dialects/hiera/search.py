"""Search the layers of a tree for a key, for one scope: a node in an environment, with its variables.

A search merges three times: the values at the locations of an entry, then the entries of a layer, then the layers.
Each merge begins with the strongest value. `hierarchies` reads files, and `strategies` merges values. An explanation
is the same search by a `Recorder`, which numbers the values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeattrs import border
from nodeattrs.cache import CACHE
from nodeattrs.core.budget import Budget
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.looks import IS_SET, LEVELS, TREE, VARIABLE, Look, Looks, fact_at
from nodeattrs.core.part import Part
from nodeattrs.core.sensitive import without_password
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.core.unknown import Unknown, unknown_layer
from nodeattrs.dialects.hiera.codes import RECURSIVE_LOOKUP
from nodeattrs.dialects.hiera.config import URIS, HieraConfig, HierarchyEntry
from nodeattrs.dialects.hiera.data import DataFile, FunctionData
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, HieraError, UnsetVariable
from nodeattrs.dialects.hiera.expressions import value_plan, variable_value
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION, LoadedTree
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, Options, checked_options, module_of, split_key, value_below
from nodeattrs.dialects.hiera.locations import DataLocation, LocatedLevel, Location, located, templates_of
from nodeattrs.dialects.hiera.strategies import FIRST, Strategy, strategy_of
from nodeattrs.dialects.hiera.types import convert
from nodeattrs.errors import NodeattrsError
from nodeattrs.puppet.legacy_facts import modern_fact_hint

Merge = str | Mapping[str, Any] | None
Ask = Callable[[DataLocation], Part | Folding]
Option = tuple[str, Mapping[str, Any]]
"""An entry of lookup_options: its name or expression, and its options."""

_HIERARCHY = "hiera.yaml"
_PER_LOOKUP = 10
"""The steps of a budget that a lookup inside of another one costs: an estimate."""
IN_LEVELS = "a level of hiera.yaml"
"""The key of a call that fills in a datadir, options, or paths of versions 3 and 4.

In these, an unset variable is an error of Puppet 8.
"""
_FACTS = "is a fact missing? --set NAME=VALUE gives it; Puppet 8 ends here, Puppet 7 takes an empty text"
_ALWAYS_THERE = ("module_name", "caller_module_name")
"""Variables that are set in every scope of Puppet, perhaps to null; variables that are numbers are, too."""
OPTIONS = strategy_of("hash")
"""The strategy that merges lookup_options."""


class _LayerSources:
    """The data sources of one layer in one list, the strongest first.

    levels: the levels of the layer; places without a source are left out
    flat:   (map of keys, place) for each source; the map is None for a data function

    Scopes that have the same sources in the same levels share one instance, which is a key of cached answers.
    """

    def __init__(self, levels: Sequence[LocatedLevel]) -> None:
        places = [place for level in levels for place in level.places]
        self.flat = [(place.source.tree, place) for place in places if place.source is not None]


@dataclass(frozen=True, eq=False)
class _SearchedLayer:
    """One layer as a scope searches it: global, environment, module, or a default hierarchy.

    levels:  its levels with their places, the strongest first; () for a layer that does not exist
    sources: the sources of all levels in one list
    """

    levels: tuple[LocatedLevel, ...]
    sources: _LayerSources

    @property
    def places(self) -> list[DataLocation]:
        """Every place of its levels, the strongest first, whether its file exists or not."""
        return [place for level in self.levels for place in level.places]


_NO_LAYER = _SearchedLayer((), _LayerSources(()))


@dataclass(eq=False)
class Hierarchy:
    """The layers that a scope searches for the keys of one module, or for keys without a module.

    layers: the layers, the strongest first: global, environment and module; one that does not exist has no levels
    module: the name of the module; None for keys without a module

    `folding` calls a function for each place that the layers name, and returns the `Folding` of the answers. Its
    `result` is ABSENT if no place has a value. A place is a data file, or another location of a level.
    """

    layers: Sequence[_SearchedLayer]
    module: str | None

    def _is_constant(self, root: str) -> bool:
        """Whether every source of every layer gives each node the same for a key: no expression, no data function."""
        sources = (place.source for layer in self.layers for _, place in layer.sources.flat)
        return all(isinstance(source, DataFile) and source.is_constant(root) for source in sources)

    def folding(self, how: Strategy, ask: Ask) -> Folding:
        """The values that *ask* gives for the places, folded; the result is ABSENT where no place has one.

        ask:    place -> the part that it has for the key, or NOTHING
        raises: CannotMerge
        """
        return how.finished(how.fold_level(self.layers, partial(self._layer, how, ask)))

    @staticmethod
    def _layer(how: Strategy, ask: Ask, layer: _SearchedLayer) -> Part | Folding:
        def entry(level: LocatedLevel) -> Part | Folding:
            return how.fold_level(level.places, ask) if level.located else ask(level.places[0])

        return how.fold_level(layer.levels, entry)


class _OptionsHierarchy(Hierarchy):
    """The layers of a hierarchy in a search for `lookup_options`.

    `folding` leaves out a layer whose options are null. It raises BadLookup if lookup_options are not a map, or if a
    module has options for keys of another module.
    """

    def folding(self, how: Strategy, ask: Ask) -> Folding:
        """The lookup_options of all layers, folded; as `Hierarchy.folding`. raises: BadLookup, for invalid ones"""
        return _folded_options(self.layers, self.module, partial(self._layer, how, ask))


def _folded_options(
    layers: Sequence[_SearchedLayer], module: str | None, part_of: Callable[[_SearchedLayer], Part | Folding]
) -> Folding:
    """The lookup_options of the three layers, folded; null counts for nothing. raises: BadLookup, for invalid ones"""
    folding = OPTIONS.folding(len(layers))
    for layer, owner in zip(layers, (None, None, module), strict=True):
        part = part_of(layer)
        value = part.result.value if isinstance(part, Folding) else part.value
        if value is ABSENT or type(value) is Unknown or checked_options(value, owner) is not None:
            OPTIONS.lay(folding, part)
    return folding


class DefaultHierarchy(Hierarchy):
    """The default hierarchy of a module: one layer, which is searched where no other layer has a key.

    option: the name or expression in its lookup_options that holds for the key of this search; None for none

    The result of `folding` is ABSENT if no place of the layer has a value.
    """

    option: str | None = None

    def folding(self, how: Strategy, ask: Ask) -> Folding:
        return how.finished(self._layer(how, ask, self.layers[0]))


@dataclass(slots=True, eq=False)
class LookupCall:
    """One lookup while it runs. Expressions in values ask it for variables and other keys.

    scope:     the scope that is searched
    override:  key or variable -> a value that counts before all data; None for none
    defaults:  key or variable -> a value that counts if nothing else has one; None for none
    chain:     the keys that need each other: the key of the call first, the current one last
    found_in:  what gave the value: "data", or the name of an argument of the call
    needed:    a list to which each key in an expression is added; None: keys are not noted
    untrusted: whether a variable put a `%` or `{` into a text; that text is then not read as an expression

    For each key in an expression, `lookup` makes a further instance, which shares the budget and the values found so
    far. It returns (value or ABSENT, whether its texts may be read as expressions). `variable` gives None for an unset
    variable; `note_unset` notes its name, or raises UnsetVariable under Puppet 8. `with_variable` returns a copy.
    `value_in` gives the value that a hierarchy has for a key, and `value_at` the value at one place; ABSENT
    without a value. `strategy` and `converted` apply the lookup_options of the key; a `Recorder` notes them.
    """

    scope: BaseScope
    override: Mapping[str, Any] | None
    defaults: Mapping[str, Any] | None
    chain: tuple[str, ...]
    needed: list[str] | None = None
    found_in: str = "data"
    untrusted: bool = False
    _known: dict[str, tuple[Any, bool]] | None = None
    _spent: Budget | None = None

    @property
    def budget(self) -> Budget:
        """The limits of the whole call, made at the first use."""
        if self._spent is None:
            asked = self.chain[0]
            self._spent = Budget(asked if asked in (LOOKUP_OPTIONS, _HIERARCHY, IN_LEVELS) else f"lookup of {asked!r}")
        return self._spent

    @property
    def node(self) -> object:
        """The scope, which stands for its node: the same object in each call."""
        return self.scope

    def variable(self, name: Any, below: Path = ()) -> Any:
        """The value of a variable; None if it is not set. Overrides of the call count first, then the scope, then its
        defaults.

        name:  may begin with "::"
        below: the steps that the caller takes inside of the value; they are only noted in the looks of the scope
        """
        if self.scope.looks is not None and self.chain[0] not in (_HIERARCHY, IN_LEVELS):
            self.scope.looks.note(VARIABLE, (name, *below))
        if self.override is not None and name in self.override:
            return self.override[name]
        value = self.scope.variables.get(name, ABSENT)
        if value is ABSENT and type(name) is str and name.startswith("::"):
            value = self.scope.variables.get(name[2:], ABSENT)
        if value is ABSENT:
            return None if self.defaults is None else self.defaults.get(name)
        return value

    def with_variable(self, name: str, value: Any) -> LookupCall:
        """The same call with one more variable, which hides others of its name."""
        inner = LookupCall(self.scope, {**(self.override or {}), name: value}, self.defaults, self.chain, self.needed)
        inner._known, inner._spent = self._known, self.budget
        return inner

    def note_unset(self, name: str) -> None:
        """Note in `scope.missing` that a variable is not set, with the keys that need it now.

        Does nothing for a path of hiera.yaml.
        raises: UnsetVariable, under Puppet 8 with known facts, or in strict mode; never for a variable that is set to
                null
        """
        if self.chain[0] == _HIERARCHY:  # `unset_sentences` tells of it
            return
        root = str(split_key(name)[0])
        if self.scope._ends_at_unset and not self._has(root):
            raise UnsetVariable(root, modern_fact_hint(root) or _FACTS)
        self.scope.missing.setdefault(name, {}).update(dict.fromkeys(reversed(self.chain)))

    def _has(self, root: str) -> bool:
        """Whether a variable is set, also to null."""
        given = (*(self.override or ()), *(self.defaults or ()), *_ALWAYS_THERE)
        return (
            root.isdecimal()
            or root in given
            or not self.scope.variables.keys().isdisjoint((root, root.removeprefix("::")))
        )

    def lookup(self, key: str) -> tuple[Any, bool]:
        """Returns (the value of a key that an expression names, whether its texts may be read as expressions).

        The value is ABSENT if nothing has the key. Within one call each key is looked up once, and its value is kept.
        raises: BadLookup "recursive_lookup", if the key is being looked up already; the errors of its own lookup
        """
        if self.needed is not None:
            self.needed.append(key)
        if key in self.chain or self.chain[0] == LOOKUP_OPTIONS:
            chain = " -> ".join([*self.chain, key])
            raise BadLookup(
                f"a key needs itself: {chain}", kind=RECURSIVE_LOOKUP, hint="break the circle in one of them"
            )
        if self._known is None:
            self._known = {}
        if key not in self._known:
            self.budget.steps(_PER_LOOKUP)
            inner = LookupCall(self.scope, self.override, self.defaults, (*self.chain, key), self.needed)
            inner._known, inner._spent = self._known, self.budget
            value = self.scope.answer(key, None, inner)
            self._known[key] = value, not inner.untrusted
        return self._known[key]

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy for a key, as `BaseScope.strategy` returns it. raises: BadLookup"""
        return self.scope.strategy(merge, option)

    def value_in(self, root: str, how: Strategy, hierarchy: Hierarchy, is_cached: bool = False) -> Any:
        """The value that a hierarchy has for a key, or ABSENT. Callers must not change it.

        root:      the key without its steps
        how:       the strategy
        is_cached: True: a merged value that is the same for each node is kept for all nodes. False: nothing is kept
        """
        if how is FIRST:
            return self._first(root, hierarchy)
        merged = partial(self._merged, root, how, hierarchy)
        if is_cached and hierarchy._is_constant(root):
            return CACHE.get((*[layer.sources for layer in hierarchy.layers], root, how), merged)
        return merged()

    def _first(self, root: str, hierarchy: Hierarchy) -> Any:
        """The first value that can be read, or ABSENT. Places below that value are not asked."""
        for layer in hierarchy.layers:
            for tree, place in layer.sources.flat:
                if tree is None or root in tree:
                    value = self.value_at(place, root)
                    if value is not ABSENT and type(value) is not Unknown:
                        return value
        return ABSENT

    def _merged(self, root: str, how: Strategy, hierarchy: Hierarchy) -> Any:
        def ask(place: DataLocation) -> Part:
            value = self.value_at(place, root)
            return NOTHING if value is ABSENT else Part(value, None)

        return hierarchy.folding(how, ask).result.value

    def value_at(self, place: DataLocation, root: str) -> Any:
        """The value that one place has for a key, ABSENT, or `Unknown` where it cannot be read.

        An Unknown sets `scope.has_unknown`. raises: UnknownLayer, for an Unknown in strict mode
        """
        value = ABSENT if place.source is None else place.source.value(root, self)
        if type(value) is Unknown:
            self.scope.has_unknown = True
            if self.scope.tree.is_strict and root != LOOKUP_OPTIONS:
                raise unknown_layer(Unknown(place.entry, value.reason), place.origin)
        return value

    def converted(self, value: Any, wanted: Any) -> Any:
        """A value converted to the type that `convert_to` of its lookup_options wants. raises: BadLookup"""
        return convert(value, wanted, self.scope.tree.sensitive)


def trusted_facts(node: str) -> dict[str, Any]:
    """The trusted facts of a node of which only the name is known, such as certname, hostname and domain.

    Without a name ("") these three are None, which counts as not set.
    """
    hostname, _, domain = node.partition(".")
    return {
        "authenticated": "local",
        "certname": node or None,
        "hostname": hostname or None,
        "domain": domain or None,
        "extensions": {},
        "external": {},
    }


class BaseScope:
    """The base of `Scope`: one node in one environment, and the search of a tree for its keys.

    tree:        the loaded tree
    facts:       the facts of the node; they become `variables`
    node:        the name of the node; "" without one
    environment: the name of the environment
    trusted:     the trusted facts; None: they are made from the name of the node
    variables:   facts, trusted facts and other variables, by the names that expressions use
    knows_facts: whether the facts of the node are known. If they are, a variable that is not among them is not set
    looks:       notes which levels and variables are read; None: nothing is noted
    has_unknown: whether a level that was searched so far could not be read
    missing:     variable that is not set -> the keys whose values name it, for all lookups so far
    explained_options: module -> the search for the lookup_options of its keys, which `explain` has recorded

    The constructor reads nothing. Levels, hierarchies and lookup_options are resolved at their first use and kept.
    Values are not kept. `answer` makes a whole lookup, and `search` looks in the data alone; both return ABSENT without
    a value. `places` and `entries` list where they search. `merges` says whether lookup_options give a key a strategy
    other than `first`. `known_keys` lists the keys of all files; [] for none. `is_set` is False for a variable that is
    null or empty. `module_with_data` gives None for a module without a hiera.yaml, `default_hierarchy` None for a
    hiera.yaml without one. `options_hierarchy` is searched for lookup_options, and `in_hierarchies` fills in templates.
    `look` takes a look that another scope has noted, and returns its result in this scope.
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
        self.explained_options: dict[str | None, Any] = {}
        self._resolved_layers: dict[tuple[str, str | None], _SearchedLayer] = {}
        self._layer_options: dict[_SearchedLayer, tuple[Part, tuple[str, ...]]] = {}
        self._modules: dict[str, str | None] = {}
        self._hierarchies: dict[str | None, Hierarchy] = {}
        self._options: dict[str | None, Options | None] = {}
        self._known_gaps: dict[str | None, list[str]] = {}

    def look(self, look: Look) -> Any:
        """The result that one look has in this scope. Scopes with equal results for all looks have equal answers.

        A look of the kind LEVELS gives, for each level of a layer, the ids of its sources. IS_SET gives whether a
        variable is set. VARIABLE gives (whether there is a variable, its value at a path).
        look:   a look that another scope of the tree has noted: an entry of its `Looks`
        raises: NodeattrsError
        """
        kind, what = look[0], look[1]
        if kind == LEVELS:
            configs = {"global": self.tree.global_layer(), "environment": self.tree.environment_layer(self.environment)}
            module = look[2]
            config = configs[what] if module is None else self.tree.module_layer(self.environment, module)
            assert config is not None  # a look names a layer that is there
            entries = (config.defaults or ()) if what == "default_hierarchy" else config.entries
            return tuple([self._sources_of(what, config, entry) for entry in entries])
        if kind == IS_SET:
            return self.is_set(what)
        name = what[0].removeprefix("::") if isinstance(what[0], str) else what[0]
        return name in self.variables, fact_at(self.variables, (TREE, (name, *what[1:])))

    def is_set(self, name: str) -> bool:
        """Whether a variable is neither null nor an empty text; False where reading it fails."""
        try:
            return variable_value(name, name, self.in_hierarchies()) not in (None, "")
        except NodeattrsError:
            return False

    def _sources_of(self, layer: str, config: HieraConfig, entry: HierarchyEntry) -> tuple[int, ...]:
        """The ids of the sources of an entry, resolved once for equal variables; () if none of its files exists."""
        of = (id(config), id(entry))
        if of not in self.tree.named:
            names = [name.removeprefix("::") for _, its in templates_of(entry) for name in its]
            self.tree.named[of] = config, entry, [*map(split_key, names)]
        values = [fact_at(self.variables, (TREE, path)) for path in self.tree.named[of][-1]]
        key = (of, layer, self.knows_facts, *values)
        if key in self.tree.shapes:
            return self.tree.shapes[key]
        locations, _ = self._filled_in(config, entry)
        is_of_files = locations is not None and entry.location not in URIS
        if is_of_files and not any(os.path.lexists(os.path.normpath(one.path)) for one in locations or ()):
            return ()  # each node may have a file of its own, so this is not kept
        level = self._level(layer, config, entry)
        self.tree.shapes[key] = () if level is None else tuple([id(place.source) for place in level.places])
        return self.tree.shapes[key]

    @property
    def _ends_at_unset(self) -> bool:
        """Whether an unset variable in a text is an error: in strict mode; under Puppet 8 where facts are given."""
        return self.tree.is_strict or (self.knows_facts and self.tree.puppet_version >= DEFAULT_VERSION)

    def known_keys(self) -> list[str]:
        """Every key in the files of the global and environment layers and of all modules, sorted; [] for none.

        Keys of data functions, and lookup_options, are left out.
        """
        names: set[str] = set()
        modules = self.tree.modules(self.environment)
        for layer in (*self._layers(None), *(self._module_layer(module) for module in modules)):
            for tree, _ in layer.sources.flat:
                names.update(tree or ())
        return sorted(name for name in names if name != LOOKUP_OPTIONS and type(name) is str)

    def places(self, module: str | None = None) -> list[DataLocation]:
        """Every place that is searched for a key of a module, the strongest first, whether its file exists or not.

        The default hierarchy is left out.
        """
        return [place for layer in self._layers(module) for place in layer.places]

    def entries(self, module: str | None = None) -> Iterator[tuple[str, HieraConfig, HierarchyEntry]]:
        """Yield (layer, its hiera.yaml, entry) for each level that is searched for a key of a module.

        The default hierarchy comes last.
        """
        last = None if module is None else self.tree.module_layer(self.environment, module)
        first = self.tree.global_layer(), self.tree.environment_layer(self.environment)
        for layer, config in zip(("global", "environment", "module"), (*first, last), strict=True):
            if config is not None:
                yield from ((layer, config, entry) for entry in config.entries)
        if last is not None:
            yield from (("default_hierarchy", last, entry) for entry in last.defaults or ())

    def in_hierarchies(self) -> LookupCall:
        """A call that fills in the templates of a hierarchy; an unset variable is no error in it."""
        return LookupCall(self, None, None, (_HIERARCHY,))

    def merges(self, key: str) -> bool:
        """Whether lookup_options give a key another strategy than `first`. raises: HieraError, if they are not valid"""
        option = self._option(key, self.module_with_data(key))
        return option is not None and self.strategy(None, option) is not FIRST

    # --- one key

    def answer(self, key: str, merge: Merge, call: LookupCall, *, defaults: bool = True) -> Any:
        """The value of one key: from the overrides of the call, then from data, then from its defaults; else ABSENT.

        Callers must not change the value, since files share it.
        key:      it may have steps into the value
        merge:    the strategy that the call names; None for none
        call:     the lookup, which merges values and fills in expressions
        defaults: False leaves the call's defaults out
        """
        if call.override is not None and key in call.override:
            call.found_in = "override"
            return call.override[key]
        value = self.search(key, merge, call)
        if value is ABSENT and defaults and call.defaults is not None and key in call.defaults:
            return call.defaults[key]
        return value

    def search(self, key: str, merge: Merge, call: LookupCall) -> Any:
        """The value that data has for a key, converted as its lookup_options say, or ABSENT.

        key:    it may have steps into the value; for `lookup_options` itself the result is always ABSENT
        merge:  the strategy that the call names; None for none
        call:   the lookup, which merges values and fills in expressions
        raises: HieraError
        """
        if key.startswith(LOOKUP_OPTIONS) and (key == LOOKUP_OPTIONS or key.startswith(LOOKUP_OPTIONS + ".")):
            return ABSENT
        steps = split_key(key)
        root = str(steps[0])
        module = self.module_with_data(root)
        option = self._option(root, module)
        how = call.strategy(merge, option)
        value = value_below(call.value_in(root, how, self._hierarchy(module), merge is None), steps[1:], key)
        if value is ABSENT and module is not None:
            value = value_below(self._default(root, module, call), steps[1:], key)
        wanted = None if option is None else option[1].get("convert_to")
        return value if value is ABSENT or wanted is None else call.converted(value, wanted)

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy for a key: *merge*, else the one in its lookup_options, else `first`.

        merge:  the strategy that the call names; None for none
        option: (name, options) of the entry in lookup_options for the key; None for none
        raises: BadLookup, for an invalid strategy
        """
        if merge is None and option is not None:
            merge = option[1].get("merge")
        if merge is None:
            return FIRST
        try:
            return strategy_of(merge, documented=self.tree.documented)
        except BadLookup as error:
            if option is not None:
                error.details = (*error.details, f"merge for {option[0]!r} in {LOOKUP_OPTIONS}")
            raise

    def _default(self, root: str, module: str, call: LookupCall) -> Any:
        """The value that the default hierarchy of a module has for a key, or ABSENT."""
        hierarchy = self.default_hierarchy(module)
        if hierarchy is None:
            return ABSENT
        merged = LookupCall(self, None, None, (LOOKUP_OPTIONS,)).value_in(LOOKUP_OPTIONS, OPTIONS, hierarchy)
        given = checked_options(None if merged is ABSENT else merged, module)
        option = None if given is None else Options(given).of(root)
        how = self.strategy(None, option)
        hierarchy.option = None if option is None else option[0]
        return call.value_in(root, how, hierarchy)

    # --- layers

    def module_with_data(self, root: str) -> str | None:
        """The module of a key: "ntp" for "ntp::servers". None for a key without one, or a module without hiera.yaml."""
        module = module_of(root)
        if module is None:
            return None
        if module not in self._modules:
            layer = self.tree.module_layer(self.environment, module)
            self._modules[module] = None if layer is None else module
        return self._modules[module]

    def _hierarchy(self, module: str | None) -> Hierarchy:
        """The hierarchy for the keys of a module with data; None: for keys without one. Resolved once."""
        if module not in self._hierarchies:
            self._hierarchies[module] = Hierarchy(self._layers(module), module)
        return self._hierarchies[module]

    def options_hierarchy(self, module: str | None) -> Hierarchy:
        """The hierarchy that is searched for the lookup_options of a module's keys; None: of keys without a module."""
        return _OptionsHierarchy(self._hierarchy(module).layers, module)

    def default_hierarchy(self, module: str) -> DefaultHierarchy | None:
        """The `default_hierarchy` of a module, for keys that no layer has; None if the module has none."""
        config = self.tree.module_layer(self.environment, module)
        if config is None or config.defaults is None:
            return None
        return DefaultHierarchy([self._resolved("default_hierarchy", module, config)], module)

    def _layers(self, module: str | None) -> list[_SearchedLayer]:
        """The three layers for the keys of a module."""
        return [
            self._resolved("global", None, self.tree.global_layer()),
            self._resolved("environment", None, self.tree.environment_layer(self.environment)),
            _NO_LAYER if module is None else self._module_layer(module),
        ]

    def _module_layer(self, module: str) -> _SearchedLayer:
        return self._resolved("module", module, self.tree.module_layer(self.environment, module))

    def _resolved(self, layer: str, module: str | None, config: HieraConfig | None) -> _SearchedLayer:
        """A layer with the places of this scope, resolved once; an empty one where there is no hiera.yaml."""
        if config is None:
            return _NO_LAYER
        if self.looks is not None and _has_variables(config):
            self.looks.note(LEVELS, layer, module)
        if (layer, module) not in self._resolved_layers:
            entries = config.defaults if layer == "default_hierarchy" else config.entries
            located_levels = [self._level(layer, config, entry) for entry in entries or ()]
            levels = tuple([level for level in located_levels if level is not None])
            # Layers with the same sources in the same levels share one instance.
            shape = tuple([(level.located, *[id(place.source) for place in level.places]) for level in levels])
            sources = CACHE.get(shape, lambda: _LayerSources(levels))
            self._resolved_layers[layer, module] = _SearchedLayer(levels, sources)
            if self.looks is not None and any(isinstance(place.source, FunctionData) for _, place in sources.flat):
                self.looks.refuse("a data function may look at anything")
            if layer in ("global", "environment") and not config.built_in and levels and not sources.flat:
                self.tree.warn_of_no_files(config)
        return self._resolved_layers[layer, module]

    def _level(self, layer: str, config: HieraConfig, entry: HierarchyEntry) -> LocatedLevel | None:
        """The places of an entry; None for a built-in entry if no file of it exists."""
        locations, options = self._filled_in(config, entry)
        if locations is None:
            source = self.tree.source(entry, None, options, config.file, self.environment)
            place = DataLocation(layer, entry.name, "", f"function {entry.function}", source, config.file, entry.line)
            return LocatedLevel((place,), False)
        folder = locations[0].folder if locations else ""
        has_folder = not folder or os.path.isdir(folder)
        absent = None if locations else self.tree.fetched_globs(config, entry, self.environment)
        if not has_folder and border.is_outside(folder):
            absent = self.tree.absent_folder(entry.name, folder)
        if absent is not None:
            at = self.tree.shown(folder)
            place = DataLocation(layer, entry.name, "", at, absent, config.file, entry.line)
            return LocatedLevel((place,), False)
        shown = without_password if entry.location in URIS else self.tree.shown
        places = tuple(
            DataLocation(
                layer,
                entry.name,
                location.declared,
                shown(location.path),
                self.tree.source(entry, location.path, options, config.file, self.environment),
                config.file,
                entry.line,
                location.folder,
                has_folder,
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
        strict = LookupCall(self, None, None, (IN_LEVELS,)) if is_new else self.in_hierarchies()
        try:
            locations = located(config, entry, strict if entry.ending else self.in_hierarchies(), strict)
            plan = value_plan(dict(entry.options)) if entry.options else None
            return locations, plan(strict) if plan is not None else entry.options
        except UnsetVariable as error:
            message = f"{error.message}, and the level {entry.name!r} needs it: every lookup ends here"
            raise BadData(message, kind=error.kind, file=config.file, line=entry.line, hint=error.hint) from None
        except HieraError as error:
            error.details = (*error.details, f"in the entry {entry.name!r}, {config.file}:{entry.line}")
            raise

    # --- lookup_options

    def _option(self, root: str, module: str | None) -> Option | None:
        """The entry of lookup_options for a key; None for none."""
        if module not in self._options:
            self._options[module] = self._read_options(module)
        options = self._options[module]
        return None if options is None else options.of(root)

    def _read_options(self, module: str | None) -> Options | None:
        """The merged lookup_options for a module; None without any. All nodes share those that are constant."""
        hierarchy = self._hierarchy(module)

        def read() -> Options | None:
            merged = _folded_options(hierarchy.layers, module, self._options_of).result.value
            return None if merged is ABSENT else Options(merged)

        if hierarchy._is_constant(LOOKUP_OPTIONS):
            return CACHE.get((*[layer.sources for layer in hierarchy.layers], LOOKUP_OPTIONS, module), read)
        return read()

    def _options_of(self, layer: _SearchedLayer) -> Part:
        """The merged lookup_options of one layer, as a part; merged once for all modules.

        The variables that it needs and that are not set are noted at each call.
        """
        if layer not in self._layer_options:
            before, self.missing = self.missing, {}
            try:
                call = LookupCall(self, None, None, (LOOKUP_OPTIONS,))
                value = call.value_in(LOOKUP_OPTIONS, OPTIONS, Hierarchy([layer], None), is_cached=True)
                part = NOTHING if value is ABSENT else Part(value, None)
                self._layer_options[layer] = part, tuple(self.missing)
            finally:
                unset, self.missing = self.missing, before
                self._note_unset_in_options(unset)
        part, names = self._layer_options[layer]
        self._note_unset_in_options(names)
        return part

    def _note_unset_in_options(self, names: Iterable[str]) -> None:
        for name in names:
            self.missing.setdefault(name, {})[LOOKUP_OPTIONS] = None


def _has_variables(config: HieraConfig) -> bool:
    """Whether the files of a layer may depend on the node."""
    entries = (*config.entries, *(config.defaults or ()))
    return any(entry.location == "mapped_paths" or "%{" in repr(entry) for entry in entries)

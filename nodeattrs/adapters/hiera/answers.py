"""The answers of one node: its facts in the expressions of a tree, one key at a time.

The search: three foldings inside each other, the locations of an entry, the entries of a
layer, the layers, each pairwise from the top down. It reads no file itself; how two values
meet only the strategies know, and what a call may ask for besides is the scope's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.adapters.hiera.codes import RECURSIVE_LOOKUP
from nodeattrs.adapters.hiera.config import Config, Entry
from nodeattrs.adapters.hiera.conversions import convert
from nodeattrs.adapters.hiera.errors import BadLookup, HieraError
from nodeattrs.adapters.hiera.expressions import planned, put_in
from nodeattrs.adapters.hiera.hierarchies import LoadedTree
from nodeattrs.adapters.hiera.keys import NAME, Options, checked, dug, module_of, split_key
from nodeattrs.adapters.hiera.locations import Level, Place, located
from nodeattrs.adapters.hiera.recorder import Recorder
from nodeattrs.adapters.hiera.remembered import MOST_KEPT, Known, memory_of, shape_of
from nodeattrs.adapters.hiera.strategies import FIRST, Strategy, strategy_of
from nodeattrs.core.budget import Budget
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown, unknown_layer
from nodeattrs.errors import NodeattrsError

Merge = str | Mapping[str, Any] | None

_UNRESOLVED: Any = object()
_HIERARCHY = "hiera.yaml"
_PER_LOOKUP = 10
"""How many steps a lookup inside of another one is, as near as one can say."""
_OPTIONS = strategy_of("hash")
"""How lookup_options become one map."""


class Asking:
    """One call that is under way, or one lookup inside it: what expressions may ask.

    chain: the keys that need each other, the first asked first
    """

    __slots__ = ("_known", "_spent", "answers", "chain", "defaults", "needed", "override", "untrusted")

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
        self.needed = needed
        self.untrusted = False
        self._known: dict[str, tuple[Any, bool]] | None = None
        self._spent: Budget | None = None

    @property
    def budget(self) -> Budget:
        """What the whole call may use up; made when something is drawn for the first time."""
        if self._spent is None:
            asked = self.chain[0]
            self._spent = Budget(asked if asked in (NAME, _HIERARCHY) else f"lookup of {asked!r}")
        return self._spent

    def variable(self, name: Any) -> Any:
        if self.override is not None and name in self.override:
            return self.override[name]
        value = self.answers.variables.get(name, ABSENT)
        if value is ABSENT and type(name) is str and name.startswith("::"):
            value = self.answers.variables.get(name[2:], ABSENT)
        if value is ABSENT:
            return None if self.defaults is None else self.defaults.get(name)
        return value

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
    has_unknown: whether some level could not be read when it was asked
    """

    def __init__(
        self,
        tree: LoadedTree,
        facts: Mapping[str, Any],
        node: str,
        environment: str,
        trusted: Mapping[str, Any] | None,
        variables: Mapping[str, Any],
    ) -> None:
        self.tree = tree
        self.node = node
        self.environment = environment
        trusted = trusted_facts(node) if trusted is None else trusted
        given = {"server_facts": {}, "facts": facts, "trusted": trusted, "environment": environment}
        self.variables: dict[str, Any] = {**facts, **given, **variables}
        self.has_unknown = False
        self._levels: dict[tuple[str, str | None], tuple[Level, ...]] = {}
        self._modules: dict[str, str | None] = {}
        self._memory = memory_of(tree)
        self._met: dict[str | None, Known] = {}

    def known_keys(self) -> list[str]:
        """Every key that some file of this scope has, global and environment layers and all modules; sorted."""
        names: set[str] = set()
        for module in (None, *self.tree.modules(self.environment)):
            for levels in self._layers(module):
                for level in levels:
                    for place in level.places:
                        names.update(getattr(place.source, "tree", ()))
        return sorted(name for name in names if name != NAME and type(name) is str)

    def places(self, module: str | None = None) -> list[Place]:
        """Every place that is searched for a key of a module, in order, whether its file is there or not."""
        return [place for levels in self._layers(module) for level in levels for place in level.places]

    def entries(self, module: str | None = None) -> Iterator[tuple[str, Config, Entry]]:
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
        options = self._known(self.module_with_data(key)).options
        entry = None if options is None else options.of(key)
        return entry is not None and self._strategy(entry[1].get("merge"), entry) is not FIRST

    # --- one key

    def answer(
        self, key: str, merge: Merge, asking: Asking, *, defaults: bool = True, recorder: Recorder | None = None
    ) -> Any:
        """The value of one key with the call's overrides and defaults, or ABSENT. It may be shared with files."""
        if asking.override is not None and key in asking.override:
            if recorder is not None:
                recorder.found_in = "override"
            return asking.override[key]
        value = self.search(key, merge, asking, recorder)
        if value is ABSENT and defaults and asking.defaults is not None and key in asking.defaults:
            if recorder is not None:
                recorder.found_in = "default_values_hash"
            return asking.defaults[key]
        return value

    def search(self, key: str, merge: Merge, asking: Asking, recorder: Recorder | None) -> Any:
        """The value that data has for a key, or ABSENT."""
        if key.startswith(NAME) and (key == NAME or key.startswith(NAME + ".")):
            return ABSENT
        steps = split_key(key)
        root = steps[0] if type(steps[0]) is str else str(steps[0])
        module = self.module_with_data(root)
        known = self._known(module)
        entry = None if known.options is None else known.options.of(root)
        if recorder is not None:
            recorder.choose(merge, entry)
        wanted = merge if merge is not None or entry is None else entry[1].get("merge")
        how = FIRST if wanted is None else self._strategy(wanted, entry)
        if recorder is not None:
            recorder.begin(how, self._layers(module))
            value = self._folded(root, how, self._layers(module), asking, recorder).result.value
        elif how is FIRST:
            value = self._first(root, known, asking)
        else:
            value = _UNRESOLVED if merge is not None else known.answers.get(root, _UNRESOLVED)
            if value is _UNRESOLVED:
                value = self._folded(root, how, self._layers(module), asking, None).result.value
                if merge is None and known.says_always(root):
                    self._memory.keep_answer(known, root, value)
        if len(steps) > 1 and value is not ABSENT:
            value = dug(value, steps[1:], key)
        if value is ABSENT and module is not None:
            value = self._default_hierarchy(root, module, asking, recorder)
            if len(steps) > 1 and value is not ABSENT:
                value = dug(value, steps[1:], key)
        return value if value is ABSENT or entry is None else self._converted(value, entry[1], recorder)

    def _converted(self, value: Any, entry: Mapping[str, Any], recorder: Recorder | None) -> Any:
        wanted = entry.get("convert_to")
        if wanted is None:
            return value
        if recorder is not None:
            recorder.converted = wanted
        return convert(value, wanted, self.tree.sensitive)

    def _strategy(self, merge: Any, entry: Any) -> Strategy:
        if merge is None:
            return FIRST
        try:
            return strategy_of(merge, documented=self.tree.documented)
        except BadLookup as error:
            if entry is not None:
                error.details = (*error.details, f"merge for {entry[0]!r} in {NAME}")
            raise

    def _first(self, root: str, known: Known, asking: Asking) -> Any:
        """The first value found. Nothing is merged here, so nothing is laid."""
        for tree, source, place in known.flat:
            if tree is None or root in tree:
                value = source.value(root, asking)
                if value is not ABSENT:
                    if type(value) is not Unknown:
                        return value
                    self._met_unknown(place, value)
        return ABSENT

    def _folded(
        self,
        root: str,
        how: Strategy,
        layers: Sequence[Sequence[Level]],
        asking: Asking,
        recorder: Recorder | None,
    ) -> Folding:
        """Everything that the layers have for a key: three foldings inside each other."""
        layer = self._layer_of(how, self._asker(root, asking, recorder))
        folding = how.finished(how.level(layers, layer) if len(layers) > 1 else layer(layers[0]))
        if recorder is not None:
            recorder.end(folding)
        return folding

    @staticmethod
    def _layer_of(how: Strategy, ask: Callable[[Place], Part | Folding]) -> Callable[[Sequence[Level]], Part | Folding]:
        def entry(level: Level) -> Part | Folding:
            return how.level(level.places, ask) if level.located else ask(level.places[0])

        return lambda levels: how.level(levels, entry)

    def _asker(self, root: str, asking: Asking, recorder: Recorder | None) -> Callable[[Place], Part | Folding]:
        """What asks one place for the key: its value as a part, with its number where somebody records."""

        def ask(place: Place) -> Part:
            value = ABSENT if place.source is None else place.source.value(root, asking)
            if type(value) is Unknown:
                self._met_unknown(place, value, is_asked=root != NAME)
            return NOTHING if value is ABSENT else Part(value, None)

        def record(place: Place) -> Part | Folding:
            assert recorder is not None
            if recorder.is_over:
                return recorder.shadow(place, self._shadowed(place, root))
            return recorder.recorded(place, ask(place).value)

        return ask if recorder is None else record

    def _shadowed(self, place: Place, root: str) -> Any:
        """What a place has that no lookup would ask any more."""
        try:
            return ABSENT if place.source is None else place.source.value(root, Asking(self, None, None, (root,)))
        except NodeattrsError:
            return ABSENT

    def _met_unknown(self, place: Place, unknown: Unknown, *, is_asked: bool = True) -> None:
        """A level was asked that cannot be read. raises: UnknownLayer, where one is strict"""
        self.has_unknown = True
        if self.tree.is_strict and is_asked:
            raise unknown_layer(Unknown(place.entry, unknown.reason), place.origin)

    def _default_hierarchy(self, root: str, module: str, asking: Asking, recorder: Recorder | None) -> Any:
        levels = self._default_levels(module)
        if levels is None:
            return ABSENT
        merged = self.default_options(module).result.value
        given = checked(None if merged is ABSENT else merged, module)
        entry = None if given is None else Options(given).of(root)
        how = self._strategy(None if entry is None else entry[1].get("merge"), entry)
        if recorder is not None:
            recorder.begin(how, [levels], in_defaults=True)
            recorder.option = entry[0] if entry is not None else None
        return self._folded(root, how, [levels], asking, recorder).result.value

    def _default_levels(self, module: str) -> tuple[Level, ...] | None:
        config = self.tree.module_layer(self.environment, module)
        if config is None or config.defaults is None:
            return None
        return self._resolved("default_hierarchy", module, config)

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

    def _layers(self, module: str | None) -> list[tuple[Level, ...]]:
        """The three layers, each as the levels of this scope."""
        return [
            self._resolved("global", None, self.tree.global_layer()),
            self._resolved("environment", None, self.tree.environment_layer(self.environment)),
            ()
            if module is None
            else self._resolved("module", module, self.tree.module_layer(self.environment, module)),
        ]

    def _resolved(self, layer: str, module: str | None, config: Config | None) -> tuple[Level, ...]:
        if config is None:
            return ()
        found = self._levels.get((layer, module))
        if found is None:
            found = self._levels[layer, module] = tuple(self._resolve(layer, module or "", config))
            if layer in ("global", "environment") and not config.built_in and _is_bare(found):
                self.tree.warn_of_nothing(config)
        return found

    def _resolve(self, layer: str, module: str, config: Config) -> Iterable[Level]:
        entries = config.defaults if layer == "default_hierarchy" else config.entries
        speech = self.in_hierarchies()
        for entry, names, levels in self._memory.looked((layer, self.environment, module), config, entries or ()):
            texts = None if names is None else put_in(names, speech)
            level = None if texts is None else levels.get(texts, _UNRESOLVED)
            if texts is None or level is _UNRESOLVED:
                level = self._level(layer, config, entry, speech)
                if texts is not None:
                    if len(levels) >= MOST_KEPT:  # each node has a file of its own
                        levels.clear()
                    levels[texts] = level
            if level is not None:
                yield level

    def _level(self, layer: str, config: Config, entry: Entry, speech: Asking) -> Level | None:
        """The places of an entry; None where it is built in, and none of them is there."""
        try:
            locations = located(config, entry, speech)
            plan = planned(dict(entry.options)) if entry.options else None
            options = plan(speech) if plan is not None else entry.options
        except HieraError as error:
            error.details = (*error.details, f"in the entry {entry.name!r}, {config.file}:{entry.line}")
            raise
        if locations is None:
            source = self.tree.source(entry, None, options, config.file)
            place = Place(layer, entry.name, "", f"function {entry.function}", source, config.file, entry.line)
            return Level((place,), False)
        places = tuple(
            Place(
                layer,
                entry.name,
                location.declared,
                self.tree.shown(location.path),
                self.tree.source(entry, location.path, options, config.file),
                config.file,
                entry.line,
                location.folder,
            )
            for location in locations
        )
        return Level(places, True) if not config.built_in or any(place.source is not None for place in places) else None

    # --- lookup_options

    def _known(self, module: str | None) -> Known:
        """The sources of the keys of a module, with their lookup_options."""
        found = self._met.get(module)
        if found is None:
            key = self.environment, module, *shape_of(self._layers(module))
            found = self._memory.known.get(key)
            if found is None:
                places = [(place.source, place) for place in self.places(module) if place.source is not None]
                merged = self.options_folding(module).result.value
                options = None if merged is ABSENT else Options(merged)
                found = Known([(getattr(one, "tree", None), one, place) for one, place in places], options)
                if found.says_always(NAME):
                    self._memory.keep(key, found)
            self._met[module] = found
        return found

    def options_folding(self, module: str | None, recorder: Recorder | None = None) -> Folding:
        """The lookup_options for the keys of a module: each layer on its own, then laid over each other."""
        layers = self._layers(module)
        if recorder is not None:
            recorder.begin(_OPTIONS, layers)
        layer = self._layer_of(_OPTIONS, self._asker(NAME, self._asking_options(), recorder))
        folding = _OPTIONS.folding(len(layers))
        for levels, owner in zip(layers, (None, None, module), strict=True):
            part = layer(levels)
            value = part.result.value if isinstance(part, Folding) else part.value
            if value is ABSENT or type(value) is Unknown or checked(value, owner) is not None:
                _OPTIONS.lay(folding, part)
        if recorder is not None:
            recorder.end(folding)
        return folding

    def default_options(self, module: str, recorder: Recorder | None = None) -> Folding:
        """The lookup_options of the default hierarchy of a module."""
        layers = [self._default_levels(module) or ()]
        if recorder is not None:
            recorder.begin(_OPTIONS, layers)
        return self._folded(NAME, _OPTIONS, layers, self._asking_options(), recorder)

    def _asking_options(self) -> Asking:
        return Asking(self, None, None, (NAME,))


def _is_bare(levels: Sequence[Level]) -> bool:
    """Whether levels should have files, and not one is there."""
    return bool(levels) and not any(place.source is not None for level in levels for place in level.places)

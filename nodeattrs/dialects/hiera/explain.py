"""Explain lookups: each place that was searched, and the file and line of each part of the value.

The lookup is made once with a `Recorder`, which notes its search. Each source gets a number, the strongest source the
highest; the origins of a folding are these numbers. A file that two paths lead to is one source. The folding that made
the value also gives the lines behind it. `reports` prints explanations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Claim, Origin
from nodeattrs.core.folding import NOTHING, Folding, recorded_decisions
from nodeattrs.core.origins import wholes
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.sensitive import Encrypted, MarkedSecret, Sensitive, encrypted_in, plain, without_password
from nodeattrs.core.trace import Trace, shown, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, as_path, copied, dig, spell
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread
from nodeattrs.core.walk import SetValue
from nodeattrs.dialects.hiera.data import SKIPPED, DataSource
from nodeattrs.dialects.hiera.errors import HieraError
from nodeattrs.dialects.hiera.keys import LOOKUP_OPTIONS, split_key
from nodeattrs.dialects.hiera.locations import DataLocation
from nodeattrs.dialects.hiera.search import (
    IN_LEVELS,
    OPTIONS,
    BaseScope,
    DefaultHierarchy,
    Hierarchy,
    LookupCall,
    Merge,
    Option,
)
from nodeattrs.dialects.hiera.strategies import FIRST, KNOCKED_OUT, Strategy
from nodeattrs.dialects.hiera.types import makes_secret
from nodeattrs.dialects.hiera.values import LEAVES
from nodeattrs.dialects.hiera.variables import unset_sentences
from nodeattrs.errors import NodeattrsError, TooDeep

ONE_FILE = Policy("in one file", Line(ANY, PRESENT, TAKE, "of a key that is written twice the last one counts"))
_NO_RESOLVER: Any = None
"""Expressions in an overwritten value are not filled in, so that no resolver is needed."""


@dataclass(frozen=True, slots=True)
class SearchedLocation:
    """A place that was searched: outcome is "found", "no_key", "no_file", "no_folder", "unknown" or "skipped"."""

    place: DataLocation
    outcome: str


@dataclass(frozen=True, slots=True)
class _FoundValue:
    """The value that one place has for the key of a Recorder.

    number: the number of the source; a stronger source has a higher number
    place:  the place
    key:    the root key
    value:  the value; `Unknown` if the place cannot be read

    `title` names layer and level. `origin` gives the line of a path in the value, and `sentence` says it in words.
    """

    number: int
    place: DataLocation
    key: str
    value: Any

    @property
    def title(self) -> str:
        """The level: "environment / common"."""
        return f"{self.place.layer} / {self.place.entry}"

    @property
    def is_unknown(self) -> bool:
        """Whether the place cannot be read."""
        return type(self.value) is Unknown

    def origin(self, path: Path) -> Origin:
        """The line of *path* in the value of this place; for a place that cannot be read, its line in hiera.yaml."""
        if self.is_unknown or self.place.source is None:
            return self.place.origin
        return self.place.source.locator(self.key, self.place.entry).at(path)

    def sentence(self, path: Path, *, is_secret: bool = False) -> str:
        """ "VALUE is set by PLACE", with the part of the value at *path*. is_secret: the value is left out"""
        what = "a secret" if is_secret else shown(dig(self.value, path), 40)
        return f"{what} is set by {self.origin(path)}"


class Recorder(LookupCall):
    """A lookup call that notes its search, so that the result can be explained.

    Pass it to `BaseScope.answer` in place of a LookupCall, and read its fields afterwards. `found_values` has the
    values of all sources that have the key or cannot be read, the strongest first. `readable_values` has only readable
    ones. `strategy`, `converted` and `value_in` fill the fields below. If the default hierarchy is searched as well,
    `searched` has the places of both searches, and each other field is about the default hierarchy.
    scope:       the node
    key:         the root key
    override, defaults: the arguments `override` and `default_values_hash` of the lookup
    needed:      a list to which the keys in expressions are added; None: they are not noted
    how:         the strategy
    chosen_by:   "argument" or "default". If `option` is set, lookup_options chose the strategy
    option:      the name or expression in lookup_options that chose it; None for none
    wanted:      the type of `convert_to`; None if nothing was converted
    is_secret:   whether `convert_to` makes a secret of each value of the key
    searched:    the places that were asked, in order, each with its outcome
    shadowed:    with the strategy `first`, the values of places below the first one found, each source once
    folding:     the folding that made the value; None if the search ended in an error
    in_defaults: whether the default hierarchy of a module was searched last
    """

    def __init__(
        self,
        scope: BaseScope,
        key: str,
        override: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        needed: list[str] | None = None,
    ) -> None:
        super().__init__(scope, override, defaults, (key,), needed)
        self.key = key
        self.how: Strategy = FIRST
        self.chosen_by = "default"
        self.option: str | None = None
        self.wanted: Any = None
        self.is_secret = False
        self.searched: list[SearchedLocation] = []
        self.shadowed: list[_FoundValue] = []
        self.folding: Folding | None = None
        self.in_defaults = False
        self._found: dict[int, _FoundValue] = {}
        self._numbers: dict[int, int] = {}
        self._above: list[_FoundValue] = []
        self._is_found = False

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy of a lookup, as `LookupCall.strategy` returns it. Sets `chosen_by`, `option` and `is_secret`.

        merge:  the strategy that the call names; None: the call names no strategy
        option: (name, options) of the entry in lookup_options for the key; None: no entry is for the key
        """
        self.chosen_by = "default" if merge is None else "argument"
        if merge is None and option is not None and option[1].get("merge") is not None:
            self.option = option[0]
        self.is_secret = option is not None and makes_secret(option[1].get("convert_to"))
        return super().strategy(merge, option)

    def converted(self, value: Any, wanted: Any) -> Any:
        self.wanted = wanted
        return super().converted(value, wanted)

    def value_in(self, root: str, how: Strategy, hierarchy: Hierarchy, is_cached: bool = False) -> Any:
        """The value that a hierarchy has for the key, or ABSENT. Notes each place that is searched, and the folding.

        With the strategy `first`, places below the first value are asked as well, for `shadowed`.
        root, is_cached: not used; the key is that of the constructor, and each search is made anew
        """
        self._begin(how, hierarchy)
        self.folding = hierarchy.folding(how, self._ask)
        value = self.folding.result.value
        if self._above:
            below, self.folding = self.folding, FIRST.folding(2)
            for found in self._above:
                self.folding.lay(Part(found.value, found.number), FIRST.policy)
            self.folding.lay(below, FIRST.policy)
        return value

    def _begin(self, how: Strategy, hierarchy: Hierarchy) -> None:
        """Number the sources of a hierarchy. Levels that an earlier search could not read get higher numbers."""
        self.how, self.in_defaults = how, isinstance(hierarchy, DefaultHierarchy)
        if isinstance(hierarchy, DefaultHierarchy):
            self.option = hierarchy.option
        places = [place for layer in hierarchy.layers for place in layer.places]
        sources = [source for place in places for source in (place.source, *self._overwritten(place))]
        self._numbers = {}
        for at, source in enumerate(sources):
            self._numbers.setdefault(id(source), len(sources) - at)
        unknown = [found for found in self.found_values() if found.is_unknown]
        self._above = [replace(found, number=len(sources) + at) for at, found in enumerate(unknown, 1)]
        self._found = {found.number: found for found in self._above}
        self.shadowed = []
        self.folding = None
        self._is_found = False

    def _ask(self, place: DataLocation) -> Part | Folding:
        """The value of a place as a part with its number, over the earlier values of the key in the same file."""
        if self.how is FIRST and self._is_found:
            return self._shadow(place)
        value = self.value_at(place, self.key)
        self.searched.append(SearchedLocation(place, _outcome(place, value)))
        return self._part(place, value)

    def _shadow(self, place: DataLocation) -> Part | Folding:
        """The part of a place below the first one found, which no lookup asks; an error of it is ignored."""
        value, missing = ABSENT, {name: dict(keys) for name, keys in self.scope.missing.items()}
        with suppress(NodeattrsError):
            if place.source is not None:
                value = place.source.value(self.key, LookupCall(self.scope, None, None, (self.key,)))
        self.scope.missing = missing
        number = self._numbers[id(place.source)]
        is_new = number not in self._found
        part = self._part(place, value)
        if is_new and part is not NOTHING and type(value) is not Unknown:
            self.shadowed.append(self._found[number])
        return part

    def _part(self, place: DataLocation, value: Any) -> Part | Folding:
        if value is ABSENT:
            return NOTHING
        part, overwritten = self._numbered(place, value), self._overwritten(place)
        if not overwritten:
            return part
        folding = Folding(from_top=True)
        folding.lay(part, ONE_FILE)
        for source in overwritten:
            folding.lay(self._numbered(place._replace(source=source), source.value(self.key, _NO_RESOLVER)), ONE_FILE)
        return folding

    def _numbered(self, place: DataLocation, value: Any) -> Part:
        number = self._numbers[id(place.source)]
        self._found.setdefault(number, _FoundValue(number, place, self.key, value))
        self._is_found = self._is_found or type(value) is not Unknown
        return Part(value, number)

    def _overwritten(self, place: DataLocation) -> Sequence[DataSource]:
        return () if place.source is None else place.source.overwritten(self.key)

    def found_value(self, number: int) -> _FoundValue:
        """The value of the source with a number. raises: KeyError, for a source without the key"""
        return self._found[number]

    def readable_values(self) -> list[_FoundValue]:
        """The values of the sources that have the key and can be read, the strongest first."""
        return [found for found in self.found_values() if not found.is_unknown]

    def found_values(self) -> list[_FoundValue]:
        """The values of the sources that have the key or cannot be read, the strongest first."""
        return [self._found[number] for number in sorted(self._found, reverse=True)]


def _outcome(place: DataLocation, value: Any) -> str:
    if place.source is None:
        return "no_file" if place.has_folder else "no_folder"
    if place.source is SKIPPED:
        return "skipped"
    return "no_key" if value is ABSENT else "unknown" if type(value) is Unknown else "found"


@dataclass(frozen=True, slots=True)
class _KnockedOutValue:
    """A value of a weaker source that a marker such as "--name" removed.

    value:  the removed value
    set_by: the lines that set the value, the strongest first
    marker: the marker
    by:     the lines that set the marker, the strongest first
    """

    value: Any
    set_by: tuple[Origin, ...]
    marker: Any
    by: tuple[Origin, ...]


class UnknownLevel(NamedTuple):
    """A level that cannot be read, and might change the value of a key.

    key:      the key that was looked up, or a key that its value needs
    layer:    "global", "environment", "module" or "default_hierarchy"
    name:     the name of the level
    origin:   the line of the level in hiera.yaml
    reason:   why it cannot be read
    is_merge: True: its lookup_options might change how the key is merged; False: it might set the key

    `unread` is the level as an unread place. `sentence` says in words what the level may override.
    """

    key: str
    layer: str
    name: str
    origin: Origin
    reason: str
    is_merge: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The level as data for JSON."""
        return {
            "key": self.key,
            "layer": self.layer,
            "entry": self.name,
            "file": self.origin.file,
            "line": self.origin.line,
            "reason": self.reason,
            **({"decides": "merge"} if self.is_merge else {}),
        }

    @property
    def unread(self) -> Unread:
        """The level as an unread place that may set the key."""
        reason = f"{self.reason}; its lookup_options may merge or convert it" if self.is_merge else self.reason
        return Unread(self.origin.place or self.layer, reason, ((self.key,),), "level", self.name)

    def sentence(self, who: str) -> str:
        """ "WHO may be overridden by level ...", or merged otherwise by its lookup_options."""
        return f"{who} may be {'merged otherwise by lookup_options of' if self.is_merge else 'overridden by'} {self}"

    def __str__(self) -> str:
        return f"level {self.name!r} ({self.origin.place or self.layer}): {self.reason}"


class Explanation:
    """The explanation of one lookup: its value, the places that were searched, and the lines that set each part.

    key:           the key as the caller wrote it, with the steps after it: "ntp.servers.0"
    root:          the first step of *key*: the key in the files
    value:         what `lookup` returns; ABSENT if it raises
    error:         what `lookup` raises, or None
    found_in:      what gave the value: "data", "override", "default_values_hash", "default_value" or "otherwise"
    strategy:      the strategy, as it is written in lookup_options
    strategy_from: the line of lookup_options that chose the strategy; else "argument", "default", or "lookup_options"
                   for an unknown line. "a rule of its own": the explained key is lookup_options itself
    option:        the name or expression in lookup_options that chose the strategy; None for none
    searched:      each place that was searched, in order, with its outcome: found, no_key, no_file, ...
    shadowed:      with the strategy `first`, the lines that set the key and do not count
    converted:     the type of `convert_to`; None if nothing was converted
    needed:        the keys that expressions in the value looked up
    unknown:       the levels that cannot be read and might change the value; () until the maker of the object sets it

    `origins` returns the lines that set a path, () for a path without a value. `leaves` yields all leaves with their
    lines. `knocked` has the values that a knock-out prefix removed. These three look for lines when they are called.
    Values from an argument of the call have no lines. `trace` returns all places that set a path, and `causes` the
    lines of hiera.yaml and lookup_options behind these places. `unset` has sentences about unset variables. `needed_at`
    has the lines of each needed key. `encrypted` has the parts that were not decrypted. `found` says whether there is a
    value. `is_secret` says whether a conversion makes the whole value a secret; an encrypted value is none. `to_dict`
    returns the explanation as data for JSON, with secrets masked.
    """

    def __init__(self, key: str, value: Any, error: NodeattrsError | None, recorder: Recorder) -> None:
        self.key = key
        self.root = recorder.key
        self.value = value
        self.error = error
        self.found_in = recorder.found_in
        self.strategy = recorder.how.to_data()
        self.strategy_from: str | Origin = recorder.chosen_by
        self.option = recorder.option
        self.searched = tuple(recorder.searched)
        self.shadowed = tuple(found.origin(()) for found in recorder.shadowed)
        self.converted = recorder.wanted
        self.needed = tuple(dict.fromkeys(recorder.needed or ()))
        self.unknown: tuple[UnknownLevel, ...] = ()
        self._not_set = tuple(_not_set(name, next(iter(keys))) for name, keys in recorder.scope.missing.items())
        self._recorder = recorder
        self._folding = recorder.folding or Folding()
        self._steps = split_key(key)[1:] if recorder.folding is not None else ()

    @property
    def found(self) -> bool:
        """Whether the lookup has a value, null included."""
        return self.value is not ABSENT

    @cached_property
    def unset(self) -> tuple[str, ...]:
        """Sentences that name unset variables and the paths or values that need them. cost: a look at each path"""
        scope, found = self._recorder.scope, self._not_set
        if not any(one.outcome.startswith("no_f") for one in self.searched):
            return found
        return (*found, *unset_sentences(scope, scope.module_with_data(self.root)))

    @cached_property
    def needed_at(self) -> dict[str, tuple[Origin, ...]]:
        """The lines that set each needed key. cost: a search for each"""
        return {key: _setters(self._recorder.scope, key, self._recorder) for key in self.needed}

    @property
    def is_secret(self) -> bool:
        """Whether a conversion makes the whole value a secret. Without a value: whether it would make one.

        False for a value that is only encrypted, and for a secret inside of a map or list.
        """
        is_made = hasattr(self.value, "unwrap") and not isinstance(self.value, (Encrypted, MarkedSecret))
        return is_made or (not self.found and self._recorder.is_secret)

    @property
    def _secret(self) -> Any:
        """What is shown in place of each value that is or becomes a secret."""
        return self.value if self.found else Sensitive(None)

    @property
    def encrypted(self) -> tuple[tuple[Path, str, tuple[Origin, ...]], ...]:
        """(path, reason, lines) of each part of the value that is still encrypted; () for none."""
        return tuple((path, reason, self.origins(path)) for path, reason in encrypted_in(self.value))

    @property
    def _from_data(self) -> bool:
        return self.error is None and self.found_in == "data"

    # --- the lines that set it

    @cached_property
    def _located(self) -> tuple[Part, tuple[tuple[Part, Part], ...]]:
        """The merged value before a conversion, with the places of all its leaves, and what knock-outs removed."""
        if not self._recorder.how.options.get("knockout_prefix"):
            return self._folding.located(), ()
        with recorded_decisions() as notes:
            part = self._folding.located()
        return part, tuple((note.lower, note.upper) for note in notes if note.policy is KNOCKED_OUT)

    def _part(self, path: Path = ()) -> Part:
        """The merged value at a path below the steps of the key; ABSENT where it is not from data."""
        part = self._located[0] if self._from_data else NOTHING
        for step in (*self._steps, *path) if part.value is not ABSENT else ():
            part = part.at(step)
        return part

    def origins(self, path: str | Path = ()) -> tuple[Origin, ...]:
        """The lines that set a path of the value, the strongest first; all that contribute to a map or list.

        () for a path that the value does not have, and for a value from an argument of the call.
        """
        steps = as_path(path)
        value = dig(self._part().value, steps)
        if value is ABSENT:
            return ()
        if _is_leaf(value):
            return self._places(self._part(steps))
        standing = walk(self._folding, (*self._steps, *steps)).standing
        return tuple(self._recorder.found_value(setting.source).origin(setting.own) for setting in reversed(standing))

    def leaves(self) -> Iterator[tuple[Path, Any, tuple[Origin, ...]]]:
        """Yield (path, value, lines that set the value) for each scalar, empty map and empty list in the value.

        Paths begin below *key*. Nothing if the whole value is a secret, if it is from an argument of the call, or if
        there is no value. If the value was converted, the values are those before the conversion.
        cost: the merge is made once more; one visit a leaf, and one look at each file's lines
        """
        part = NOTHING if self.is_secret else self._part()
        if part.value is not ABSENT:
            for path, leaf in _leaves(part, ()):
                yield path, leaf.value, self._places(leaf)

    def _places(self, part: Part) -> tuple[Origin, ...]:
        """The lines that set a part, the strongest first, each once."""
        found = sorted(wholes(part.origins, ()), key=lambda at: -at.source)
        return tuple(dict.fromkeys(self._recorder.found_value(at.source).origin(at.path) for at in found))

    @property
    def knocked(self) -> tuple[_KnockedOutValue, ...]:
        """The values that knock-outs removed, in the order of removal; () for none."""
        return tuple(
            _KnockedOutValue(removed.value, self._places(removed), marker.value, self._places(marker))
            for removed, marker in self._located[1]
        )

    def trace(self, path: str | Path = ()) -> Trace:
        """A Trace of all places that set a path of the value, the winner first, each with the rule that overrode it.

        Its paths begin with the key. Secrets are masked.
        cost: the depth of the path times the number of places
        """
        steps = (*self._steps, *as_path(path))
        sources = self._recorder.found_values()
        titles = {found.number: found.title for found in sources}
        value = dig(self._folding.result.value, steps) if self._from_data else ABSENT
        shown = self._secret if self.is_secret and self.found else value
        trace = traced(walk(self._folding, steps), steps, shown, self._claim, titles)
        cover = None if trace.cover is None else (self.root, *trace.cover)
        return trace._replace(path=(self.root, *steps), cover=cover)

    def causes(self, path: str | Path = ()) -> tuple[Cause, ...]:
        """The lines of hiera.yaml whose levels set a path, then the line of lookup_options that chose the strategy.

        () if no level sets the path and lookup_options chose nothing.
        """
        places = [self._recorder.found_value(stated.rank).place for stated in self.trace(path).claims]
        found = [Cause(f"level {place.entry!r} of the {place.layer} layer", place.origin) for place in places]
        if isinstance(self.strategy_from, Origin):
            strategy = self.strategy if isinstance(self.strategy, str) else self.strategy["strategy"]
            found.append(Cause(f"lookup_options: {self.option} is merged by {strategy}", self.strategy_from))
        return tuple(dict.fromkeys(found))

    def _claim(self, setting: SetValue) -> Claim:
        found = self._recorder.found_value(setting.source)
        value = found.value if found.is_unknown else self._secret if self.is_secret else setting.value
        return Claim((self.root, *setting.path), value, setting.source, found.origin(setting.own))

    # --- as data

    def to_dict(self) -> dict[str, Any]:
        """The explanation as data for JSON; secrets are masked."""
        where, error = self.strategy_from, self.error
        return {
            "version": 1,
            "key": self.key,
            "found": self.found,
            "found_in": self.found_in if self.found else None,
            "value": plain(self.value) if self.found else None,
            "error": None if error is None else {"kind": _kind(error), "message": error.message},
            "strategy": self.strategy,
            "strategy_from": where if isinstance(where, str) else where._asdict(),
            "option": self.option,
            "searched": list(map(_searched, self.searched)),
            "leaves": list(map(_leaf, self.leaves())),
            "knocked_out": [] if self.is_secret else list(map(_knocked, self.knocked)),
            "shadowed": [one._asdict() for one in self.shadowed],
            "unknown": [level.to_dict() for level in self.unknown],
            "unset": list(self.unset),
            "converted": self.converted,
            "needed": list(self.needed),
            "needed_at": {key: [one._asdict() for one in origins] for key, origins in self.needed_at.items()},
        }

    def __str__(self) -> str:
        text = str(self.trace())
        return text if self.error is None else f"{text}\n{self.error}"


def explained(scope: BaseScope, key: str, recorder: Recorder, ask: Callable[[], Any]) -> Explanation:
    """Make a lookup by calling *ask*, and return its explanation. An error of the lookup becomes the field `error`.

    key:      the key as the caller wrote it
    recorder: the call that *ask* makes the lookup with; its notes become the explanation
    ask:      called without arguments, it returns the value. Its NodeattrsError or RecursionError becomes `error`;
              other exceptions are raised
    """
    value: Any = ABSENT
    error: NodeattrsError | None = None
    try:
        recorder.key = str(split_key(key)[0])
        value = _copied(ask())
    except NodeattrsError as fault:
        error = fault
    except RecursionError:
        error = TooDeep("the keys that need each other, or a value, are nested too deep")
    found = Explanation(key, value, error, recorder)
    if recorder.option is not None:
        found.strategy_from = _option_origin(scope, recorder) or LOOKUP_OPTIONS
    if scope.has_unknown:
        found.unknown = tuple(dict.fromkeys(_levels(scope, key, recorder)))
    return found


def _not_set(name: str, key: str) -> str:
    return f"{key if key == IN_LEVELS else f'the value of {key}'}: {name} is not set"


def _setters(scope: BaseScope, key: str, outer: Recorder) -> tuple[Origin, ...]:
    """The lines that set a key which the value of another key looked up; () where that fails."""
    recorder = _recorder(scope, key, outer)
    try:
        value = scope.answer(key, None, recorder)
    except (NodeattrsError, RecursionError):
        return ()
    return () if value is ABSENT else Explanation(key, value, None, recorder).origins()


def explained_options(scope: BaseScope, key: str) -> Explanation:
    """The explanation of the merged `lookup_options` for the module of a key. An error becomes its field `error`."""
    recorder = Recorder(scope, LOOKUP_OPTIONS)
    recorder.chosen_by = "a rule of its own"

    def ask() -> Any:
        module = scope.module_with_data(str(split_key(key)[0]))
        return recorder.value_in(LOOKUP_OPTIONS, OPTIONS, scope.options_hierarchy(module))

    return explained(scope, LOOKUP_OPTIONS, recorder, ask)


def undecided_levels(scope: BaseScope, keys: Iterable[str], merge: Merge, call: LookupCall) -> tuple[UnknownLevel, ...]:
    """The levels that cannot be read, and might change the answer of a lookup of several keys; () for none.

    The keys are searched in order until a key has a value. The levels of all searched keys are returned.
    merge:  the strategy that the call names; None for none
    call:   the lookup, whose overrides and defaults count
    raises: HieraError
    """
    levels: list[UnknownLevel] = []
    for key in keys:
        recorder = _recorder(scope, key, call, [])
        value = scope.answer(key, merge, recorder, defaults=False)
        levels += _levels(scope, key, recorder)
        if value is not ABSENT:
            break
    return tuple(dict.fromkeys(levels))


def _recorder(scope: BaseScope, key: str, call: LookupCall, needed: list[str] | None = None) -> Recorder:
    """A recorder for a search for *key*, with the overrides and defaults of another call."""
    recorder = Recorder(scope, key, call.override, call.defaults, needed)
    recorder.key = str(split_key(key)[0])
    return recorder


def _levels(scope: BaseScope, key: str, recorder: Recorder) -> Iterator[UnknownLevel]:
    """The unreadable levels that might change a key, or another key that its value needed."""
    known = [*_undecided(recorder, key)]
    yield from known
    yield from (one for one in _undecided_merge(scope, recorder, key) if one._replace(is_merge=False) not in known)
    for needed in dict.fromkeys(recorder.needed or ()):
        inner = _recorder(scope, needed, recorder)
        with suppress(NodeattrsError):
            scope.answer(needed, None, inner)
        yield from _undecided(inner, needed)
        yield from _undecided_merge(scope, inner, needed)


def _undecided_merge(scope: BaseScope, recorder: Recorder, key: str) -> Iterator[UnknownLevel]:
    """The unreadable levels whose lookup_options might change how a found value is merged or converted.

    Nothing if the call names the strategy. An entry for the key itself hides the levels below it; a pattern does not.
    """
    if recorder.chosen_by == "argument" or not recorder.readable_values():
        return
    options = _search_for_options(scope, scope.module_with_data(recorder.key))
    if options.folding is not None:
        unknown = walk(options.folding, (recorder.key,) if recorder.option == recorder.key else ()).unknown
        yield from _undecided(options, key, unknown, is_merge=True)


def _search_for_options(scope: BaseScope, module: str | None) -> Recorder:
    """The recorded search for the lookup_options of a module's keys, made once. Its folding is None after an error."""
    if module not in scope.explained_options:
        options = Recorder(scope, LOOKUP_OPTIONS)
        with suppress(NodeattrsError):
            options.value_in(LOOKUP_OPTIONS, OPTIONS, scope.options_hierarchy(module))
        scope.explained_options[module] = options
    found: Recorder = scope.explained_options[module]
    return found


def _copied(value: Any) -> Any:
    return copied(value, LEAVES) if type(value) in (dict, list) else value


def _undecided(
    recorder: Recorder, key: str, numbers: Iterable[int] | None = None, *, is_merge: bool = False
) -> Iterator[UnknownLevel]:
    if recorder.folding is None or not any(found.is_unknown for found in recorder.found_values()):
        return
    if numbers is None:
        numbers = walk(recorder.folding, split_key(key)[1:]).unknown
    for number in sorted(numbers, reverse=True):
        found = recorder.found_value(number)
        place = found.place
        yield UnknownLevel(key, place.layer, place.entry, place.origin, found.value.reason, is_merge)


def _option_origin(scope: BaseScope, recorder: Recorder) -> Origin | None:
    """The line of lookup_options that chose the strategy."""
    options = Recorder(scope, LOOKUP_OPTIONS)
    module = scope.module_with_data(recorder.key)
    with suppress(HieraError):
        defaults = scope.default_hierarchy(module) if recorder.in_defaults and module is not None else None
        options.value_in(LOOKUP_OPTIONS, OPTIONS, defaults or scope.options_hierarchy(module))
    if options.folding is None:
        return None
    for setting in walk(options.folding, (recorder.option,)).standing:
        return options.found_value(setting.source).origin((*setting.own, "merge"))
    return None


def _is_leaf(value: Any) -> bool:
    return type(value) not in (dict, list) or not value


def _leaves(part: Part, path: Path) -> Iterator[tuple[Path, Part]]:
    if _is_leaf(part.value):
        yield path, part
    elif type(part.value) is dict:
        for key in part.value:
            yield from _leaves(part.at(key), (*path, key))
    else:
        for at, element in enumerate(part.elements()):
            yield from _leaves(element, (*path, at))


# --- data


def _kind(error: NodeattrsError) -> str:
    return error.kind or type(error).__name__


def _searched(one: SearchedLocation) -> dict[str, Any]:
    place = one.place
    declared = without_password(place.declared)
    found = {"layer": place.layer, "entry": place.entry, "declared": declared, "file": place.file}
    return {**found, "outcome": one.outcome}


def _leaf(leaf: tuple[Path, Any, tuple[Origin, ...]]) -> dict[str, Any]:
    path, value, origins = leaf
    return {"path": spell(path) if path else "", "value": plain(value), "set_by": [one._asdict() for one in origins]}


def _knocked(one: _KnockedOutValue) -> dict[str, Any]:
    return {
        "value": plain(one.value),
        "set_by": [setter._asdict() for setter in one.set_by],
        "marker": plain(one.marker),
        "by": [setter._asdict() for setter in one.by],
    }

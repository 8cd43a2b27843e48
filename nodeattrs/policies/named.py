"""Policies with names, for files of any kind: their class, and the policies that need no module of their own.

Each policy is data: the table of rules for two values that meet, other tables at some paths, and the order of merging.
No files are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, by_position, concat, handler, listed, made
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ACROSS,
    ANY,
    DROP,
    INSIDE,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    SCALAR,
    TAKE,
    TEXT,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.rules import PathRule, Table, at_paths, read_rules, ruled
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import DocumentError, MergeConflict
from nodeattrs.formats.repeated import voided_together


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy with a name, such as "compose". Its method `plan` makes a `Fold` of layers; `core.fold.fold` merges it.

    `plan` takes layers, the weakest first, and rules for paths that the caller wants to merge in another way. Without
    layers it returns a fold without children. `to_dict` returns the texts and tables as data.

    name:     the name in settings and commands
    summary:  one sentence, for people
    source:   the tool or standard that has these rules, and the place in its documentation
    policy:   the table that says what two values become
    paths:    (path, other table) pairs; a step "*" of a path means any key
    opening:  the policy that merges the first layer over nothing; None: the layer is taken as it is
    among:    the policy that merges the layers after the first with each other; the result is then merged over the
              first. None: the layers are merged one after the other
    from_top: True: merging begins with the strongest layer, and each weaker layer is merged below the result
    prepare:  called with the tree of a layer, it returns the tree to merge; None: the tree is not changed
    uniform:  a function from a key to its uniform spelling, such as one in lower case. Keys with the same uniform
              spelling are one key to the policy. None: keys are compared as they are written
    """

    name: str
    summary: str
    source: str
    policy: Policy
    paths: Sequence[tuple[Path, Table]] = ()
    opening: Policy | None = None
    among: Policy | None = None
    from_top: bool = False
    prepare: Callable[[Any], Any] | None = None
    uniform: Callable[[str], str] | None = None

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """The fold of some layers, the weakest first; it computes nothing yet. No layers: a fold without children.

        rules: for some paths another way to merge; the rule decides there instead of the policy. () for none
        """
        children = tuple(layers if self.prepare is None else map(self._prepared, layers))
        has_own = any(one.policy is not None for one in children[1:])
        if self.among is not None and (len(children) > 2 or has_own):
            children = (children[0], Fold(children[1:], ruled(self.among, rules)))
        table = ruled(at_paths(self.policy, self.paths), rules)
        return Fold(children[::-1] if self.from_top else children, table, self.from_top, self.opening)

    def _prepared(self, one: Layer | Fold) -> Layer | Fold:
        if self.prepare is None or isinstance(one, Fold):
            return one
        return Layer(self.prepare(one.value), one.origin, one.title, one.policy)

    def to_dict(self) -> dict[str, Any]:
        """The policy as data: name, summary, source, "lines" as texts, and "at": path -> the lines that hold there."""
        tables = {".".join(path): table(self.policy) for path, table in self.paths}
        return {
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "lines": _lines(self.policy),
            "at": {path: _lines(table) for path, table in tables.items()},
        }


def _lines(policy: Policy) -> list[str]:
    return [" ".join(str(line).split()) for line in policy.lines]


@handler(hides=True)
def _without_nulls(lower: Part, upper: Part) -> Part:
    return meet(_PATCH_BELOW, made({}, upper), upper)


_MAPS = Line(MAP, MAP, MEET, "two maps meet key by key")
_BARE = Line(ANY, MAP, _without_nulls, "a map replaces what is none, without its nulls")
_PATCH_BELOW = Policy(
    "json-merge-patch",
    _MAPS,
    Line(ABSENT_KIND, NULL, KEEP, "null sets nothing"),
    Line(PRESENT, NULL, DROP, "null removes the key"),
    _BARE,
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)
_PATCH = Policy(
    "json-merge-patch",
    Line(MAP, MAP, Meet(_PATCH_BELOW), "two maps meet key by key"),
    _BARE,
    Line(ANY, PRESENT, TAKE, "the later document replaces the earlier one"),
)
_WHOLE = Policy("replace, below the top", Line(ANY, PRESENT, TAKE, "the later file has the key"))
_REPLACE = Policy(
    "replace",
    Line(MAP, MAP, Meet(_WHOLE), "the keys of both"),
    Line(ANY, PRESENT, TAKE, "the later file replaces the earlier one"),
)
_OPTION = Policy(
    "tsconfig, an option",
    Line(PRESENT, NULL, DROP, "null removes the option"),
    Line(ANY, PRESENT, TAKE, "the file that extends has the option"),
)
_OPTIONS = Policy(
    "tsconfig, options",
    Line(MAP, MAP, Meet(_OPTION), "the options of both"),
    Line(ANY, PRESENT, TAKE, "the file that extends has the key"),
)


_JOINED_BY_RUFF = (
    "extend-exclude",
    "extend-include",
    "extend-select",
    "extend-ignore",
    "ignore",
    "extend-fixable",
    "unfixable",
    "extend-safe-fixes",
    "extend-unsafe-fixes",
    "extend-per-file-ignores.*",
)
"""Lists that Ruff joins where a file extends another one."""
_REPLACED_BY_RUFF = ("per-file-ignores", "*.*")
"""Maps among the options of linting that Ruff replaces; the last one is each option of a plugin."""


def _rules_of_ruff() -> Iterator[tuple[str, str]]:
    """Rules for ruff.toml, and for pyproject.toml: a path -> "append" or "replace"."""
    for home in ("", "tool.ruff."):
        yield from ((f"{home}lint.{one}", "replace") for one in _REPLACED_BY_RUFF)
        yield from ((f"{home}{above}{one}", "append") for above in ("", "lint.") for one in _JOINED_BY_RUFF)


# --- ESLint


def _with_missing(lower: Part, upper: Part) -> Part:
    return by_position(lower, upper, partial(meet, _ESLINT))


def _not_mixed(lower: Part, upper: Part) -> Part:
    raise MergeConflict("ESLint mixes a map and a list here", hint="write the same kind in both files")


def _with_severity(lower: Part, upper: Part) -> Part:
    return listed([upper, *list(lower.elements())[1:]], lower, upper)


_ESLINT = Policy(
    "eslint",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, _with_missing, "the later list takes from the earlier one the elements that it lacks"),
    Line(MAP, LIST, _not_mixed, "a map or list meets its like only"),
    Line(LIST, MAP, _not_mixed, "a map or list meets its like only"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)
_RULE_OF_ESLINT = Policy(
    "eslint, a rule",
    Line(LIST, (TEXT, SCALAR), _with_severity, "a severity alone keeps the earlier options"),
    Line(ANY, PRESENT, TAKE, "the later rule replaces the earlier one"),
)


# --- files whose keys may be repeated; the first element of a list is None where an empty text makes others void


def _first(lower: Part, upper: Part) -> Part:
    return listed(list(upper.elements())[1:], upper) if upper.value[:1] == [None] else upper


def _following(lower: Part, upper: Part) -> Part:
    return _first(lower, upper) if upper.value[:1] == [None] else concat(lower, upper)


def _opened(lower: Part, upper: Part) -> Part:
    return meet(_REPEATED, made({}, upper), upper)


_REPEATED = Policy(
    "repeated",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ABSENT_KIND, MAP, _opened, "the first file that has it"),
    Line(ABSENT_KIND, LIST, _first, "the first file that has it"),
    Line(LIST, LIST, _following, "the later list follows, or an empty text makes the earlier one void"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


# --- appsettings.json of .NET


@handler()
def _by_index(lower: Part, upper: Part) -> Part:
    return by_position(lower, upper, partial(meet, _APPSETTINGS))


_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)


def _by_number(lower: Part, upper: Part) -> Part:
    """A list and a map whose keys are numbers, as variables give them."""
    keys = {int(key): key for key in upper.value if isinstance(key, str) and _NUMBER.fullmatch(key)}
    if len(keys) != len(upper.value) or not keys:
        return _refused(lower, upper)
    row = (upper.at(keys[index]) if index in keys else Part(ABSENT, ()) for index in range(max(keys) + 1))
    return _by_index(lower, listed(row, upper))


def _refused(lower: Part, upper: Part) -> Part:
    raise MergeConflict(".NET keeps both here: the value, and what is below the key", hint="give one another key")


_APPSETTINGS = Policy(
    "appsettings",
    Line(MAP, MAP, MEET, "two maps meet key by key, in capitals or not"),
    Line(LIST, LIST, _by_index, "two lists meet element by element"),
    Line((MAP, LIST), NULL, KEEP, "null leaves what is below the key"),
    Line(LIST, MAP, _by_number, "keys that are numbers are indexes of the list"),
    Line((MAP, LIST), PRESENT, _refused, "a map or list meets its like only"),
    Line((TEXT, SCALAR), (MAP, LIST), _refused, "a map or list meets its like only"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


class _Written(NamedTuple):
    """Finds the lines of a file whose keys a policy has moved.

    inner:  the locator of the file
    places: path of a moved value -> its path in the file. Paths below it go with it
    """

    inner: Locator
    places: Mapping[Path, Path]

    def at(self, path: Path) -> Origin:
        """The place of a path; a path that was not moved is taken as it is."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.inner.at((*self.places[path[:end]], *path[end:]))
        return self.inner.at(path)


class _Settings:
    """Writes the settings of a file with the keys that .NET takes as equal: capitals do not count, and "A:B" is B in A.

    names: (path, key in small letters) -> the key as the first file writes it
    """

    def __init__(self, origin: Locator, names: dict[tuple[Path, str], str]) -> None:
        self.origin, self._names = origin, names
        self.places: dict[Path, Path] = {}

    def relaid(self, value: Any, written: Path, path: Path) -> Any:
        """A copy of a value. raises: DocumentError, for two keys that are one for .NET"""
        if isinstance(value, list):
            return [self.relaid(entry, (*written, index), (*path, index)) for index, entry in enumerate(value)]
        if not isinstance(value, dict):
            return value
        made: dict[str, Any] = {}
        self._lay(value, written, path, made)
        return made

    def _lay(self, value: dict[Any, Any], written: Path, path: Path, into: dict[str, Any]) -> None:
        for key, entry in value.items():
            here, at, own = into, path, (*written, key)
            *above, last = str(key).split(":")
            for step in above:
                at = self._known(at, step, own)
                here = here.setdefault(at[-1], {})
                self._require_map(here, at, own)
            at = self._known(at, last, own)
            if isinstance(entry, dict):
                inner = here.setdefault(at[-1], {})
                self._require_map(inner, at, own)
                self._lay(entry, own, at, inner)
            else:
                self._require_map({} if at[-1] not in here else None, at, own)
                here[at[-1]] = self.relaid(entry, own, at)

    def _known(self, path: Path, step: str, written: Path) -> Path:
        at = (*path, self._names.setdefault((path, step.lower()), step))
        self.places.setdefault(at, written)
        return at

    def _require_map(self, value: Any, path: Path, written: Path) -> None:
        if not isinstance(value, dict):
            place, other = self.origin.at(written), self.origin.at(self.places[path])
            what = f"{spell(written)} and {spell(self.places[path])} in line {other.line} are one key for .NET"
            raise DocumentError(what, file=place.file, line=place.line, hint="leave one of them out")


@dataclass(frozen=True, slots=True)
class _OfSettings(NamedPolicy):
    """A policy for which keys are equal if they differ in capitals alone: the first layer says how a key is written."""

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """As `NamedPolicy.plan`, for layers with the same keys. raises: DocumentError, as `_Settings.relaid`"""
        known: dict[tuple[Path, str], str] = {}
        return NamedPolicy.plan(self, [_respelled(one, known) for one in layers], rules)


def _respelled(one: Layer | Fold, known: dict[tuple[Path, str], str]) -> Layer | Fold:
    if isinstance(one, Fold) or not isinstance(one.value, dict):
        return one
    settings = _Settings(one.origin, known)
    return Layer(settings.relaid(one.value, (), ()), _Written(one.origin, settings.places), one.title, one.policy)


# --- Spring

_STEP = re.compile(r"\[([^\[\]]*)\]|[^.\[\]]+")


class _Property(NamedTuple):
    """A leaf of a file of Spring.

    path:    its steps, the indexes of lists as numbers
    uniform: the path as Spring compares it
    written: its path in the file
    """

    path: Path
    uniform: Path
    value: Any
    written: Path


def _properties(value: Any, above: _Property, budget: Budget) -> Iterator[_Property]:
    """The leaves of a tree, also empty maps and lists; none for an empty tree. raises: TooMuch"""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            steps = tuple(_step(one) for one in _STEP.finditer(str(key))) or (str(key),)
            uniform = tuple(_uniform(one) if isinstance(one, str) else one for one in steps)
            below = _Property((*above.path, *steps), (*above.uniform, *uniform), entry, (*above.written, key))
            yield from _properties(entry, below, budget)
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            below = _Property((*above.path, index), (*above.uniform, index), entry, (*above.written, index))
            yield from _properties(entry, below, budget)
    elif above.path:
        budget.depth(len(above.path))
        budget.steps(len(above.path) ** 2)
        yield above


@lru_cache(maxsize=10_000)
def _uniform(step: str) -> str:
    """A name as Spring compares it: capitals, dashes and underscores make no difference."""
    return re.sub("[-_]", "", step.lower())


def _step(found: re.Match[str]) -> str | int:
    inner = found[1]
    if inner is None:
        return found[0]
    return int(inner) if _NUMBER.fullmatch(inner) else inner


@dataclass(frozen=True, slots=True)
class _OfSpring(NamedPolicy):
    """A policy for which a key with dots is a path, and equal names may differ in capitals, dashes and underscores.

    The first layer says how a name is written. Where a path has a value and values below it, its own value has the key
    "" in the map. An empty map changes no value.
    """

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """As `NamedPolicy.plan`, for layers with the same keys."""
        children = [*layers]
        budget = Budget("the files of a fold")
        known = [[*_properties(_tree_of(one), _Property((), (), {}, ()), budget)] for one in children]
        found = {one.uniform for properties in known for one in properties if one.value != {}}
        maps = {path[:end] for path in found for end in range(1, len(path)) if isinstance(path[end], str)}
        names: dict[Path, Any] = {}
        set_below = {path[:end] for path in found for end in range(len(path) + 1)}
        known = [[one for one in own if one.value != {} or one.uniform not in set_below] for own in known]
        relaid = [_as_tree(one, own, maps, names) for one, own in zip(children, known, strict=True)]
        return NamedPolicy.plan(self, relaid, rules)


def _tree_of(one: Layer | Fold) -> Any:
    return one.value if isinstance(one, Layer) and isinstance(one.value, dict) else {}


def _as_tree(
    one: Layer | Fold, properties: Iterable[_Property], maps: set[Path], names: dict[Path, Any]
) -> Layer | Fold:
    """A layer with maps and lists in place of keys with dots. maps: uniform paths with values below them

    names: uniform path -> its last step as the first layer writes it; new ones are added
    """
    if isinstance(one, Fold) or not isinstance(one.value, dict):
        return one
    tree: dict[Any, Any] = {}
    places: dict[Path, Path] = {}
    for own in properties:
        path = tuple(names.setdefault(own.uniform[: end + 1], step) for end, step in enumerate(own.path))
        path = (*path, "") if own.uniform in maps else path
        holder = tree
        for end, step in enumerate(path[:-1]):
            places.setdefault(path[: end + 1], own.written)
            if not isinstance(holder.get(step), dict):
                holder[step] = {}
            holder = holder[step]
        holder[path[-1]], places[path] = own.value, own.written
    return Layer(_with_lists(tree), _Written(one.origin, places), one.title, one.policy)


def _with_lists(value: Any) -> Any:
    """A tree in which maps with the keys 0, 1, ... are lists."""
    if not isinstance(value, dict):
        return value
    entries = {key: _with_lists(entry) for key, entry in value.items()}
    if entries and all(isinstance(key, int) for key in entries) and sorted(entries) == [*range(len(entries))]:
        return [entries[index] for index in range(len(entries))]
    return {str(key): entry for key, entry in entries.items()}


# --- ESLint


@dataclass(frozen=True, slots=True)
class _OfEslint(NamedPolicy):
    """A policy for which a rule without options is its severity alone, also where it is written as a list."""

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """As `NamedPolicy.plan`, for layers with one form for equal settings."""
        return NamedPolicy.plan(self, map(_laid_out, layers), rules)


def _laid_out(one: Layer | Fold) -> Layer | Fold:
    """A layer with the severity in place of a list of it alone, and a list in place of a single pattern.

    A parser or processor that is null or empty is left out, since it sets nothing.
    """
    if isinstance(one, Fold) or not isinstance(one.value, dict):
        return one
    tree = {key: value for key, value in one.value.items() if value or key not in ("parser", "processor")}
    if isinstance(tree.get("ignorePatterns"), str):
        tree["ignorePatterns"] = [tree["ignorePatterns"]]
    places: dict[Path, Path] = {}
    if isinstance(tree.get("rules"), dict):
        alone = [name for name, rule in tree["rules"].items() if isinstance(rule, list) and len(rule) == 1]
        tree["rules"] = tree["rules"] | {name: tree["rules"][name][0] for name in alone}
        places = {("rules", name): ("rules", name, 0) for name in alone}
    return Layer(tree, _Written(one.origin, places), one.title, one.policy)


# --- units of systemd


@dataclass(frozen=True, slots=True)
class _OfUnits(NamedPolicy):
    """A policy for which an empty text of one key may make other keys void, such as all timers of a section."""

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """As `NamedPolicy.plan`, for layers that have an empty text for each key that they make void."""
        known: dict[str, set[str]] = {}
        return NamedPolicy.plan(self, [_voided(one, known) for one in layers], rules)


def _voided(one: Layer | Fold, known: dict[str, set[str]]) -> Layer | Fold:
    """known: group -> its keys in the layers before; the keys of this layer are added"""
    if isinstance(one, Fold) or not isinstance(one.value, dict):
        return one
    tree, places = dict(one.value), {}
    for section, entries in one.value.items():
        groups = {key: voided_together(section, key) for key in entries} if isinstance(entries, dict) else {}
        for key, group in groups.items():
            is_void = isinstance(entries[key], list) and entries[key][:1] == [None]
            for other in sorted(known.get(group, set()) - entries.keys()) if group and is_void else ():
                tree[section] = {**tree[section], other: [None]}
                places[section, other] = (section, key)
        for key, group in groups.items():
            known.setdefault(group, set()).add(key)
    return Layer(tree, _Written(one.origin, places), one.title, one.policy)


POLICIES = (
    NamedPolicy("across", "maps merge, anything else is replaced, lists too", "Chef, between levels", ACROSS),
    NamedPolicy("inside", "maps merge, lists unite, anything else is replaced", "Chef, inside a level", INSIDE),
    NamedPolicy(
        "json-merge-patch", "maps merge, null removes, anything else is replaced", "RFC 7396, section 2", _PATCH
    ),
    NamedPolicy("replace", "a key of a later file replaces all that an earlier one has there", "dict.update", _REPLACE),
    NamedPolicy(
        "tsconfig",
        "options of a file replace options of the files that it extends; any other key is replaced whole",
        "TypeScript, TSConfig Reference, extends",
        _REPLACE,
        tuple(((key,), lambda _: _OPTIONS) for key in ("compilerOptions", "watchOptions")),
    ),
    NamedPolicy(
        "ruff",
        "options of a file replace options of the files that it extends; lists of extend-* and of ignore are joined",
        "Ruff, Settings, extend",
        ruled(ACROSS, read_rules(dict(_rules_of_ruff()))),
    ),
    _OfEslint(
        "eslint",
        "maps merge; a severity alone keeps the options of the rule; plugins unite, patterns and overrides are joined",
        "ESLint 8, Configuration Files, Extending Configuration Files",
        ruled(_ESLINT, read_rules({"plugins": "unite", "ignorePatterns": "append", "overrides": "append"})),
        ((("rules", "*"), lambda _: _RULE_OF_ESLINT),),
        from_top=True,
    ),
    *(
        kind(
            name,
            f"keys that {name} takes as lists follow each other, others are replaced",
            source,
            _REPEATED,
            opening=_REPEATED,
        )
        for kind, name, source in (
            (NamedPolicy, "git", "git-config(1), Values"),
            (_OfUnits, "systemd", "systemd.syntax(7), systemd.unit(5)"),
        )
    ),
    _OfSettings(
        "appsettings",
        "maps merge, keys without case; lists merge element by element; null leaves maps and lists",
        ".NET, Configuration, JSON configuration provider",
        _APPSETTINGS,
        uniform=str.lower,
    ),
    _OfSpring(
        "spring",
        "maps merge, keys without case and dashes, a.b is b in a; lists and other values are replaced",
        "Spring Boot, Externalized Configuration, Profile Specific Files and Relaxed Binding",
        ACROSS,
        uniform=_uniform,
    ),
)
"""Those that need no module of their own."""

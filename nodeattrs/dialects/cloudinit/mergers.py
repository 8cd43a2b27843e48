"""Parse merge definitions of cloud-init, and turn them into policies.

A definition is a text such as `list(append)+dict(recurse_list)`, or the same as a list. It names mergers for maps
(dict), lists and texts (str), each with options. A policy is a table of the core: it has the rule for an old and a new
value. A definition gives three tables: for any value (root), for entries of maps, and for elements of lists.

An unknown merger is an error when the policy is made; an unknown option is only a warning of `lints`. The mode
"current" is the behaviour of cloud-init, and "documented" the behaviour that its older manual describes.

`merge_values` merges two plain values, and `merge_many` several configs, as conf.d files and layers are merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.folding import Folding, meet, record_decision
from nodeattrs.core.part import Handler, Part, concat, kept, listed, made, recast, sliced
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    DROP,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    TAKE,
    TEXT,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.tree import spell
from nodeattrs.dialects.cloudinit import custom
from nodeattrs.dialects.cloudinit.codes import DEFINITION, FORMAT, UNKNOWN_MERGER
from nodeattrs.dialects.cloudinit.custom import BUILT_IN
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.parts import independent, kind_of
from nodeattrs.errors import MergeConflict, TooDeep

Mode = Literal["current", "documented"]

_LISTS = (LIST, "tuple")
_KINDS: dict[type, str] = {tuple: "tuple"}
_KEYS = ("merge_how", "merge_type")


class MergerSpec(NamedTuple):
    """One merger of a definition, as the user wrote it. Whether the merger exists is not checked.

    name:    "list", "dict", "str", or the name of a custom merger; it may have the prefix m_. A definition written as a
             list may have any value here
    options: the texts between the parentheses, in order. For a definition written as a list, the value of `settings`
    """

    name: Any
    options: Any = ()

    def __str__(self) -> str:
        options = self.options
        listed = ",".join(map(str, options)) if isinstance(options, (list, tuple)) else repr(options)
        return f"{self.name}({listed})"


class Definition(NamedTuple):
    """A merge definition: mergers in their order. If several are for one type, the first one is used.

    mergers: the mergers; (): every old value is kept, and `bool(definition)` is False

    `parse_definition` reads a definition. `policy_of` makes a policy of it, and raises CloudConfigError for an unknown
    merger. `str` writes the definition as text, and `to_list` as data for JSON. `names` are the names of the mergers,
    and `is_built_in` says whether none is a custom one.

    >>> print(parse_definition("Dict(Recurse-List) + list( append )"))
    dict(recurse_list)+list(append)
    """

    mergers: tuple[MergerSpec, ...] = ()

    def __str__(self) -> str:
        return "+".join(map(str, self.mergers)) or "(no mergers)"

    def __bool__(self) -> bool:
        return bool(self.mergers)

    def names(self) -> tuple[Any, ...]:
        """The names of the mergers, without the prefix `m_` that the modules of cloud-init have."""
        return tuple(_bare(spec.name) for spec in self.mergers)

    @property
    def is_built_in(self) -> bool:
        """Whether no merger is a custom one. A name that is not text does not count: `policy_of` refuses it."""
        return all(name in BUILT_IN for name in self.names() if isinstance(name, str))

    def to_list(self) -> list[list[Any]]:
        """The definition as data for JSON: `[["list", ["append"]], ["dict", []]]`."""
        return [
            [spec.name, list(spec.options) if isinstance(spec.options, (list, tuple)) else spec.options]
            for spec in self.mergers
        ]


def _bare(name: Any) -> Any:
    return name.removeprefix("m_") if isinstance(name, str) else name


@checked_args(text=str)
def parse_definition(text: str) -> Definition:
    """The Definition that a text such as `list(append)+dict(no_replace,recurse_list)+str()` names.

    Upper case becomes lower case, `-` becomes `_`, and empty pieces are skipped: an empty text names no mergers. Names
    and options are not checked.

    raises: CloudConfigError of kind "format", for a piece without brackets
    source: docs/cloudinit.md, "Definitions"
    """
    specs = []
    for piece in text.split("+"):
        folded = piece.lower().strip().replace("-", "_")
        if not folded:
            continue
        name, _, rest = folded.partition("(")
        if not (name.isascii() and name.isidentifier() and rest.endswith(")")) or "\n" in rest:
            raise CloudConfigError(
                FORMAT,
                f"{piece.strip()!r} is no merger of a merge definition",
                hint=_format_hint(folded),
            )
        options = tuple(option.strip() for option in rest[:-1].split(",") if option.strip())
        specs.append(MergerSpec(name, options))
    return Definition(tuple(specs))


_NAME = re.compile(r"[a-z_]\w*")


def _format_hint(piece: str) -> str:
    if _NAME.fullmatch(piece):
        return f"write it with brackets: {piece}()" if piece in ("list", "dict", "str") else "write list(append)+dict()"
    if ":" in piece or "=" in piece:
        return "options stand in brackets: list(append)"
    return "write name(option,option), joined by plus signs: list(append)+dict(recurse_list)+str()"


def definition_of(value: Any) -> Definition:
    """The Definition in a value of `merge_how` or `merge_type`: a text, or a list (the structured form).

    An entry of the list is a map with `name` and `settings`, or a list of a name and options. An entry without a name
    is skipped. An entry that is a text counts as a list of its letters, as in cloud-init. None names no mergers.

    raises: CloudConfigError of kind "format", for a text; of kind "definition", for another value

    >>> print(definition_of([{"name": "list", "settings": ["append"]}, ["dict", "recurse_list"]]))
    list(append)+dict(recurse_list)
    """
    if value is None:
        return Definition()
    if isinstance(value, str):
        return parse_definition(value)
    try:
        entries = list(value)
    except TypeError:
        raise _structure(f"a merge definition is a text or a list, not {kind_of(value)}") from None
    specs = (_spec(entry) for entry in entries)
    return Definition(tuple(spec for spec in specs if spec.name))


def _spec(entry: Any) -> MergerSpec:
    if isinstance(entry, Mapping):
        for key in ("name", "settings"):
            if key not in entry:
                raise _structure(f"an entry of the merge definition has no {key!r}: {dict(entry)!r}")
        name = entry["name"]
        if not isinstance(name, str):
            raise _structure(f"the name of a merger is a text, not {kind_of(name)}")
        return MergerSpec(name.replace("-", "_").strip(), _frozen(entry["settings"]))
    try:
        name, options = entry[0], entry[1:] if len(entry) > 1 else ()
    except (TypeError, LookupError):
        raise _structure(f"an entry of the merge definition is a mapping or a list, not {entry!r}") from None
    return MergerSpec(name, _frozen(options))


def _frozen(options: Any) -> Any:
    return tuple(options) if isinstance(options, list) else options


def _structure(message: str) -> CloudConfigError:
    return CloudConfigError(DEFINITION, message, hint="write [{name: list, settings: [append]}, ...]")


@checked_args(config=Mapping)
def take_definition(config: Mapping[Any, Any]) -> tuple[Definition, dict[Any, Any], str | None]:
    """Returns (the definition in a config, a copy of the config without it, its key: merge_how or merge_type).

    `merge_type` counts only if `merge_how` is absent or null. Otherwise it stays in the copy. Without a definition the
    first result names no mergers, and the key is None. *config* is not changed.

    raises: CloudConfigError, for a malformed definition

    >>> definition, rest, key = take_definition({"merge_how": "list(append)", "merge_type": "dict()", "a": 1})
    >>> str(definition), rest, key
    ('list(append)', {'merge_type': 'dict()', 'a': 1}, 'merge_how')
    """
    rest = dict(config)
    for key in _KEYS:
        value = rest.pop(key, None)
        if value is not None:
            return definition_of(value), rest, key
    return Definition(), rest, None


HEADERS = ("Merge-Type", "X-Merge-Type")
"""The headers of a part that may have a definition; the first one that is there counts."""


def own_definition(config: dict[Any, Any], headers: Mapping[str, Any]) -> tuple[Definition, dict[Any, Any], str]:
    """Returns (the definition of a part, its config without the definition, where the definition is written).

    The third result is a text such as "body merge_how and header Merge-Type"; "" without a definition. The mergers of
    the body come before those of the header. *config* is not changed.

    config:  the config of the part; `merge_how` counts in it, or else `merge_type`
    headers: the headers of the part; `Merge-Type` counts, or else `X-Merge-Type`
    raises:  CloudConfigError of kind "format", for a text that cannot be parsed; of kind "definition", for a header
             that is not a text
    """
    body, rest, key = take_definition(config)
    name = next((name for name in HEADERS if headers.get(name)), None)
    if name is None:
        return body, rest, f"body {key}" if body.mergers else ""
    text = headers[name]
    if not isinstance(text, str):
        raise CloudConfigError(DEFINITION, f"the header {name} is no plain text")
    try:
        header = parse_definition(text)
    except CloudConfigError as error:
        raise CloudConfigError(FORMAT, f"in the header {name}: {error.reason}", hint=error.hint) from error
    sources = [f"body {key}"] * bool(body) + [f"header {name}"] * bool(header)
    return Definition((*body.mergers, *header.mergers)), rest, " and ".join(sources)


PART_DEFAULT = parse_definition("dict(replace)+list()+str()")
"""The definition of a part of user-data that has none: its top-level keys replace older ones."""

CONFIG_DEFAULT = parse_definition("list()+dict()+str()")
"""The definition of conf.d files and layers that have none: the stronger value stays, and maps are filled up."""


def policy_of(definition: Definition, mode: Mode = "current") -> Policy:
    """The policy for merging a part with that definition. Policies of built-in mergers are cached.

    A definition without mergers gives a policy that keeps every old value.
    raises: CloudConfigError of kind "unknown-merger" or "definition"

    >>> policy_of(Definition())
    <Policy no mergers>
    """
    if definition.is_built_in:
        with suppress(TypeError):  # settings that cannot be hashed
            return _built_in(definition, mode)
    return _Builder(definition, mode).root


@lru_cache(maxsize=256)
def _built_in(definition: Definition, mode: Mode) -> Policy:
    return _Builder(definition, mode).root


class _Options:
    """The options of one merger. In a text, each substring counts as an option, as in cloud-init."""

    def __init__(self, spec: MergerSpec) -> None:
        self._options = spec.options
        try:
            "append" in spec.options  # noqa: B015  # what cannot be asked is an error even if nothing asks
        except TypeError:
            raise CloudConfigError(
                DEFINITION,
                f"the settings of the merger {spec.name!r} are a {type(spec.options).__name__}, not a list",
                hint="write settings: [append]",
            ) from None

    def has(self, *names: str) -> bool:
        return any(name in self._options for name in names)

    def first(self, names: tuple[str, ...], default: str) -> str:
        return next((name for name in names if name in self._options), default)


class _Builder:
    """Builds the tables of one definition: `root` at once, `in_map` and `in_list` at their first use.

    raises: CloudConfigError of kind "unknown-merger" or "definition"
    """

    def __init__(self, definition: Definition, mode: Mode) -> None:
        self.name = str(definition) if definition else "no mergers"
        self.documented = mode == "documented"
        self.kinds = _KINDS if definition.is_built_in else custom.OPEN_KINDS
        self.options: dict[str, _Options] = {}
        lines: list[Line] = []
        for spec in definition.mergers:
            name = _known(spec)
            if name not in BUILT_IN:
                merger = custom.make_merger(name, spec.options, custom.Root(lambda: self.root))
                lines += _custom_lines(name, merger)
                continue
            options = _Options(spec)
            if name not in self.options:
                self.options[name] = options
                lines += getattr(self, f"_{name}_lines")(options)
        lines.append(Line(PRESENT, PRESENT, KEEP, "no merger for the old value's type: it stays"))
        lines.append(Line(ABSENT_KIND, PRESENT, TAKE, "nothing was there"))
        self.root = Policy(self.name, *lines, kinds=self.kinds)

    # --- dict -----------------------------------------------------------------------

    def _dict_lines(self, options: _Options) -> list[Line]:
        meeting: Any = Meet(lambda: self.in_map)
        if self.documented and options.has("allow_delete"):
            meeting = Verb(self._met_and_pruned, "allow_delete")
        return [
            Line(MAP, MAP, meeting, "two mappings meet key by key"),
            Line(MAP, PRESENT, KEEP, "dict: what is no mapping does not replace one"),
        ]

    @cached_property
    def in_map(self) -> Policy:
        """The table for the entries of maps."""
        options = self.options["dict"]
        mode = options.first(("replace", "no_replace"), "no_replace")
        lines = [Line(ABSENT_KIND, PRESENT, TAKE, "a new key")]
        if options.has("allow_delete") and not self.documented:
            lines.append(Line(PRESENT, NULL, DROP, "dict(allow_delete): a null deletes the key"))
        if self.documented or mode != "replace":
            lines += self._handed_on(options, maps=True, why="dict")
        verb, why = (TAKE, "the new value replaces the old one") if mode == "replace" else (KEEP, "the old value stays")
        lines.append(Line(PRESENT, PRESENT, verb, f"dict({mode}): {why}"))
        return Policy(self.name, *lines, kinds=self.kinds)

    def _handed_on(self, options: _Options, *, maps: bool, why: str) -> list[Line]:
        """The lines that use the root table for inner values; in documented mode only for two values of one kind."""
        handed = f"{why}: handed to the merger of the old value's type"
        kinds: list[tuple[Any, bool]] = [
            (MAP, maps or options.has("recurse_dict")),
            (_LISTS, options.has("recurse_array", "recurse_list")),
            (TEXT, options.has("recurse_str")),
        ]
        return [Line(kind if self.documented else PRESENT, kind, self.root, handed) for kind, asked in kinds if asked]

    def _met_and_pruned(self, lower: Part, upper: Part) -> Part:
        keep = Policy("meet", Line(MAP, MAP, Meet(self.in_map)), Line(ANY, PRESENT, TAKE))
        return kept(meet(keep, lower, upper), upper.value, lower, upper)

    # --- list -----------------------------------------------------------------------

    def _list_mode(self, options: _Options) -> str:
        default = "no_replace" if self.documented else "replace"
        return options.first(("append", "prepend", "replace", "no_replace"), default)

    def _list_lines(self, options: _Options) -> list[Line]:
        mode = self._list_mode(options)
        if mode in ("append", "prepend"):
            join = Verb(partial(_joined, mode, self.documented), mode, regroups=True)
            return [Line(_LISTS, PRESENT, join, f"list({mode}): the old items and the new ones")]
        by_position = Verb(self._by_position, "position", inner=lambda: self.in_list)
        if mode == "replace":
            return [
                Line(_LISTS, _LISTS, by_position, "list(replace): position by position, the old list's length stays"),
                Line("tuple", PRESENT, Verb(_made_tuple, "replace"), "list(replace): a tuple stays one"),
                Line(_LISTS, PRESENT, TAKE, "list(replace): what is not a list replaces the list"),
            ]
        rules = (by_position, KEEP) if self.documented else (KEEP, Verb(_old_items, "no_replace"))
        why = "list(no_replace): the old items stay"
        return [Line(_LISTS, _LISTS, rules[0], why), Line(_LISTS, PRESENT, rules[1], why)]

    @cached_property
    def in_list(self) -> Policy:
        """The table for the elements of lists."""
        options = self.options["list"]
        mode = self._list_mode(options)
        lines = self._handed_on(options, maps=self.documented, why="list")
        if self.documented and mode == "no_replace":
            lines.append(Line(PRESENT, PRESENT, KEEP, "list(no_replace): the old item stays"))
        lines.append(Line(ANY, PRESENT, TAKE, "list(replace): the new item replaces the old one at its position"))
        return Policy(f"{self.name}, in a list", *lines, kinds=self.kinds)

    def _by_position(self, lower: Part, upper: Part) -> Part:
        old, new = _as_list(lower), _as_list(upper)
        common = min(len(old.value), len(new.value))
        if not common:
            return lower
        below, above, rest = sliced(old, 0, common), sliced(new, 0, common), sliced(old, common, None)
        return _like(lower, concat(self._laid(below, above), rest))

    def _laid(self, below: Part, above: Part) -> Part:
        """Two lists of one length, item over item."""
        if all(line.rule is TAKE for line in self.in_list.lines):
            record_decision(self.in_list, below, above)
            return above
        items = []
        for index, (old, new) in enumerate(zip(below.elements(), above.elements(), strict=True)):
            try:
                items.append(meet(self.in_list, old, new))
            except MergeConflict as conflict:
                conflict.path = (index, *(conflict.path or ()))
                raise
        return listed(items, below, above)

    # --- str ------------------------------------------------------------------------

    def _str_lines(self, options: _Options) -> list[Line]:
        if not options.has("append"):
            return [Line(TEXT, PRESENT, TAKE, "str: the new value replaces the text")]
        return [Line(TEXT, PRESENT, Verb(_lengthened, "append"), "str(append): the old text and the new one")]


@dataclass(frozen=True, eq=False)
class Verb(Handler):
    """A handler with a name that `lints` looks for, such as "append".

    inner: called without arguments, returns the policy for two elements. None for a handler that merges no elements
    """

    inner: Callable[[], Policy | None] | None = None


# --- what handlers do ---------------------------------------------------------------


def _as_list(part: Part) -> Part:
    return part if type(part.value) is list else recast(part, list)


def _like(model: Part, part: Part) -> Part:
    return recast(part, tuple) if type(model.value) is tuple else part


def _joined(mode: str, whole: bool, lower: Part, upper: Part) -> Part:
    old, new = _as_list(lower), _spread(mode, whole, upper)
    if not new.value:
        return lower  # without new items the old list keeps its origins
    joined = concat(old, new) if mode == "append" else concat(new, old)
    return _like(lower, joined)


def _spread(mode: str, whole: bool, part: Part) -> Part:
    """The items that an update adds: of a text its characters, of a mapping its keys."""
    value = part.value
    if isinstance(value, (list, tuple)):
        return _as_list(part)
    if whole:
        return listed([part], part)
    if isinstance(value, dict):
        return listed((made(key, part.at(key)) for key in value), part)
    if isinstance(value, (set, frozenset)):
        return recast(part, partial(sorted, key=str))
    if isinstance(value, (str, bytes)):
        return recast(part, list)
    raise MergeConflict(
        f"list({mode}) cannot add {kind_of(value)} to a list", hint="write the new value as a list, or leave it out"
    )


def _made_tuple(lower: Part, upper: Part) -> Part:
    return recast(_spread("replace", False, upper), tuple)


def _old_items(lower: Part, upper: Part) -> Part:
    """`list(no_replace)` against what is not a list: only what can be counted and indexed passes."""
    value = upper.value
    if not isinstance(value, Sized):
        raise MergeConflict(f"list(no_replace) cannot count the items of {kind_of(value)}", hint="write a list")
    common = min(len(lower.value), len(value))
    reached = isinstance(value, (str, bytes)) or (
        isinstance(value, dict) and all(index in value for index in range(common))
    )
    if common and not reached:
        raise MergeConflict(f"list(no_replace) cannot number the items of {kind_of(value)}", hint="write a list")
    return lower


def _lengthened(lower: Part, upper: Part) -> Part:
    if not isinstance(upper.value, str):
        raise MergeConflict(f"str(append) cannot add {kind_of(upper.value)} to a text", hint="write the value as text")
    return made(lower.value + upper.value, lower, upper)


def _known(spec: MergerSpec) -> str:
    if not isinstance(spec.name, str):
        raise CloudConfigError(DEFINITION, f"the name of a merger is a text, not {spec.name!r}")
    name = spec.name.removeprefix("m_")
    if name in BUILT_IN or custom.is_known_merger(name):
        return name
    raise CloudConfigError(
        UNKNOWN_MERGER,
        f"there is no merger {spec.name!r}",
        hint=f"known are {', '.join([*BUILT_IN, *custom.registered_mergers()])}",
    )


def _custom_lines(name: str, merger: Any) -> Iterator[Line]:
    kinds = {**custom.OPEN_KINDS, dict: MAP, list: LIST, str: TEXT, type(None): NULL}
    for python, handler in custom.join_functions(name, merger):
        yield Line(kinds[python], PRESENT, Verb(handler, name), f"{name}: decided by a custom merger")


def lay(folding: Folding, part: Part | Folding, policy: Policy) -> None:
    """Merge one more part into a folding, which is changed.

    part:   the part, or a finished folding, whose result is merged
    policy: decides how it is merged with the result so far
    raises: MergeConflict, with its path in the message
    """
    try:
        folding.lay(part, policy)
    except MergeConflict as error:
        path = tuple(error.path or ())
        if not path:
            raise
        message = f"{error.message} at {spell(path)}"
        raise MergeConflict(
            message, path=path, origins=error.origins, details=error.details, hint=error.hint
        ) from error


# --- plain values, without texts, parts and reports

WORDS: dict[str, Definition] = {
    "append": parse_definition("dict(no_replace,recurse_list)+list(append)+str()"),
    "prepend": parse_definition("dict(no_replace,recurse_list)+list(prepend)+str()"),
    "replace": PART_DEFAULT,
    "deep": parse_definition("dict(no_replace,recurse_list,recurse_str)+list(append)+str()"),
}
"""Words for common definitions, as --how and --merge-type take them."""


ANY_DEFINITION = Policy(
    "a definition that is not known",
    Line(MAP, MAP, MEET, "two mappings may meet key by key"),
    Line(ANY, PRESENT, TAKE, "it may ask for any mergers"),
)
"""The policy for an unknown layer, which may have any definition."""


@checked_args(text=str)
def word_or_definition(text: str) -> Definition:
    """The definition of a word in `WORDS`, or else the text read as a definition. raises: CloudConfigError

    >>> print(word_or_definition("append"))
    dict(no_replace,recurse_list)+list(append)+str()
    """
    return WORDS.get(text.strip().lower()) or parse_definition(text)


def as_definition(how: Any) -> Definition:
    """*how* itself if it is a Definition, else what `definition_of` reads from it. raises: CloudConfigError"""
    return how if isinstance(how, Definition) else definition_of(how)


@checked_args(mode=("current", "documented"))
def merge_values(base: Any, update: Any, how: Any, *, mode: Mode = "current") -> Any:
    """*base* with *update* merged into it by a definition. Neither is changed; the result shares no map or list.

    how:    a `Definition`, or a value that `merge_how` may have; without mergers the result is *base*
    mode:   "current" is what cloud-init does, "documented" what its older manual says
    cost:   a copy of both values and of the result
    raises: CloudConfigError, for *how*; MergeConflict, for values that cannot be combined; TooDeep
    source: docs/cloudinit.md, "The three mergers"

    >>> merge_values({"runcmd": ["a"]}, {"runcmd": ["b"]}, "list(append)+dict(recurse_list)")
    {'runcmd': ['a', 'b']}
    """
    folding = Folding(start=Part(independent(base), None))
    try:
        lay(folding, Part(independent(update), None), policy_of(as_definition(how), mode))
        return independent(folding.result.value)
    except RecursionError:
        raise TooDeep("a value is nested too deep, or inside itself") from None


@checked_args(sources=ListLike, mode=("current", "documented"))
def merge_many(
    sources: Iterable[Mapping[Any, Any] | None], *, reverse: bool = False, mode: Mode = "current"
) -> dict[Any, Any]:
    """Merge configs into a new one. The first config is the strongest; with *reverse* the last one is.

    Each is merged over the weaker ones by its own definition: `merge_how`, else `merge_type`, else
    `list()+dict()+str()`. The definitions are not in the result. None and empty configs are skipped; {} if none is
    left. The configs are not changed.

    mode:   "current" is what cloud-init does, "documented" what its older manual says
    raises: CloudConfigError or MergeConflict, for an error in any of them

    >>> merge_many([{"a": 1, "s": {"x": 1}}, {"a": 2, "s": {"y": 2}}])
    {'a': 1, 's': {'x': 1, 'y': 2}}
    """
    rows = list(sources)
    folding = Folding(start=Part({}, None))
    for source in reversed(rows) if reverse else rows:
        if not source:
            continue
        definition, rest, _ = take_definition(source)
        lay(folding, Part(independent(rest), None), policy_of(definition or CONFIG_DEFAULT, mode))
    merged = independent(folding.result.value)
    return merged if isinstance(merged, dict) else {}

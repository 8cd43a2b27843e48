"""Mergers as policies of the core: a definition becomes tables of lines.

Three tables: *root* asks which merger the old value's type has; *in a mapping* is the dict
merger's line for each key that both sides have; *in a list* is the list merger's for each
position. The last two hand on to the first where an option says so. It knows no parts and
no files: two values meet, and the core does the rest.

Two dialects: "current" is what cloud-init does; "documented" is what its older manual says.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any, Literal

from nodeattrs.adapters.cloudinit.faults import CloudConfigError
from nodeattrs.adapters.cloudinit.loading import independent
from nodeattrs.adapters.cloudinit.parts import Definition, MergerSpec
from nodeattrs.core.borders import taking
from nodeattrs.core.code import NOT_RUN, may_run
from nodeattrs.core.folding import Folding, meet, note
from nodeattrs.core.part import Part, concat, kept, listed, made, recast, sliced
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    DROP,
    KEEP,
    LIST,
    MAP,
    NULL,
    PRESENT,
    TAKE,
    TEXT,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.tree import spell
from nodeattrs.errors import BadArgument, MergeConflict, NodeattrsError

Mode = Literal["current", "documented"]

TUPLE = "tuple"
_LISTS = (LIST, TUPLE)
_KINDS: dict[type, str] = {tuple: TUPLE}
_OPEN_KINDS: dict[type, str] = {
    **_KINDS,
    bool: "bool", int: "int", float: "float", bytes: "bytes",
    date: "date", datetime: "datetime", set: "set", frozenset: "frozenset",
}  # fmt: skip
"""Kinds by which a custom merger may be asked, beside those of the core."""

_BUILT_IN = ("dict", "list", "str")

ENTRY_POINTS = "nodeattrs.cloudinit_mergers"
"""The entry-point group in which packages offer merger classes, by name."""

_registered: dict[str, Callable[[Any, Any], Any]] = {}


@taking(name=str, merger=Callable)
def register_merger(name: str, merger: Callable[[Any, Any], Any]) -> None:
    """Make a custom merger known under *name*.

    merger: called as `merger(root, options)`; the object has methods `_on_<type>(old, new)`,
            the type being a class name in lower case, and may call `root.merge(old, new)`
    raises: BadArgument, for a name that a definition cannot have or a built-in has
    """
    if not name.isascii() or not name.isidentifier() or name != name.lower() or name in _BUILT_IN:
        raise BadArgument(
            f"{name!r} cannot be the name of a merger", hint="a lower-case name other than dict, list and str"
        )
    _registered[name] = merger


@taking(name=str)
def unregister_merger(name: str) -> None:
    """Forget a custom merger; one that is not known is no error."""
    _registered.pop(name, None)


def registered_mergers() -> dict[str, Callable[[Any, Any], Any]]:
    """The custom mergers that were registered by a call."""
    return dict(_registered)


def policy_of(definition: Definition, mode: Mode = "current") -> Policy:
    """The policy that a definition asks for.

    cost:   a look-up where the definition was seen before
    raises: CloudConfigError of kind "unknown-merger" or "definition"

    >>> policy_of(Definition())
    <Policy no mergers>
    """
    if mode not in ("current", "documented"):
        raise BadArgument(f"no such mode: {mode!r}", hint="write current or documented")
    names = definition.names()
    if all(name in _BUILT_IN for name in names if isinstance(name, str)):
        try:
            return _built_in(definition, mode)
        except TypeError:  # settings that cannot be hashed
            return _Builder(definition, mode).root
    return _Builder(definition, mode).root


@lru_cache(maxsize=256)
def _built_in(definition: Definition, mode: Mode) -> Policy:
    return _Builder(definition, mode).root


class _Options:
    """The options of one merger, asked as cloud-init asks: by membership, so in a text by substring."""

    def __init__(self, spec: MergerSpec) -> None:
        self._options = spec.options
        try:
            "append" in spec.options  # noqa: B015  # what cannot be asked is an error even if nothing asks
        except TypeError:
            raise CloudConfigError(
                "definition",
                f"the settings of the merger {spec.name!r} are a {type(spec.options).__name__}, not a list",
                hint="write settings: [append]",
            ) from None

    def has(self, *names: str) -> bool:
        return any(name in self._options for name in names)

    def first(self, names: tuple[str, ...], default: str) -> str:
        return next((name for name in names if name in self._options), default)


class _Builder:
    """Builds the tables of one definition; `root` is where two values meet."""

    def __init__(self, definition: Definition, mode: Mode) -> None:
        self.name = str(definition) if definition else "no mergers"
        self.documented = mode == "documented"
        lines: list[Line] = []
        built: dict[str, _Options] = {}
        customs: list[tuple[str, Any]] = []
        order: list[tuple[str, Any]] = []
        for spec in definition.mergers:
            name = _known(spec)
            if name in _BUILT_IN:
                order.append((name, _Options(spec)))
            else:
                custom = _constructed(name, spec.options, _Root(self))
                customs.append((name, custom))
                order.append((name, custom))
        kinds = _OPEN_KINDS if customs else _KINDS
        self.kinds = kinds
        self.in_map = self.in_list = None
        for name, merger in order:
            if name not in _BUILT_IN:
                lines += _custom_lines(name, merger, kinds)
            elif name not in built:
                built[name] = merger
                lines += getattr(self, f"_{name}_lines")(merger)
        lines.append(Line(PRESENT, PRESENT, KEEP, "no merger for the old value's type: it stays"))
        lines.append(Line(ABSENT_KIND, PRESENT, TAKE, "nothing was there"))
        self.root = Policy(self.name, *lines, kinds=kinds)
        if "dict" in built:
            self.in_map = self._map_table(built["dict"])
        if "list" in built:
            self.in_list = self._list_table(built["list"])
            self.replaces_items = all(line.rule is TAKE for line in self.in_list.lines)

    # --- dict -----------------------------------------------------------------------

    def _dict_lines(self, options: _Options) -> list[Line]:
        meeting: Any = Meet(lambda: self.in_map)  # type: ignore[arg-type, return-value]
        if self.documented and options.has("allow_delete"):
            meeting = _named(self._met_and_pruned, "allow_delete")
        return [
            Line(MAP, MAP, meeting, "two mappings meet key by key"),
            Line(MAP, PRESENT, KEEP, "dict: what is no mapping does not replace one"),
        ]

    def _map_table(self, options: _Options) -> Policy:
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
        """The lines that ask the root table again; in the documented dialect for two of a kind only."""
        handed = f"{why}: handed to the merger of the old value's type"
        kinds: list[tuple[Any, bool]] = [
            (MAP, maps or options.has("recurse_dict")),
            (_LISTS, options.has("recurse_array", "recurse_list")),
            (TEXT, options.has("recurse_str")),
        ]
        return [Line(kind if self.documented else PRESENT, kind, self.root, handed) for kind, asked in kinds if asked]

    def _met_and_pruned(self, lower: Part, upper: Part) -> Part:
        assert self.in_map is not None
        keep = Policy("meet", Line(MAP, MAP, Meet(self.in_map)), Line(ANY, PRESENT, TAKE))
        return kept(meet(keep, lower, upper), upper.value, lower, upper)

    # --- list -----------------------------------------------------------------------

    def _list_lines(self, options: _Options) -> list[Line]:
        default = "no_replace" if self.documented else "replace"
        mode = options.first(("append", "prepend", "replace", "no_replace"), default)
        if mode in ("append", "prepend"):
            join = _named(partial(_joined, mode, self.documented), mode)
            return [Line(_LISTS, PRESENT, join, f"list({mode}): the old items and the new ones")]
        by_position = _named(self._by_position, "position")
        by_position.inner = lambda: self.in_list
        if mode == "replace":
            return [
                Line(_LISTS, _LISTS, by_position, "list(replace): position by position, the old list's length stays"),
                Line(_LISTS, PRESENT, TAKE, "list(replace): what is no list replaces the list"),
            ]
        if self.documented:
            return [
                Line(_LISTS, _LISTS, by_position, "list(no_replace): the old items stay"),
                Line(_LISTS, PRESENT, KEEP, "list(no_replace): the old items stay"),
            ]
        return [
            Line(_LISTS, _LISTS, KEEP, "list(no_replace): the old items stay"),
            Line(_LISTS, PRESENT, _named(_old_items, "no_replace"), "list(no_replace): the old items stay"),
        ]

    def _list_table(self, options: _Options) -> Policy:
        default = "no_replace" if self.documented else "replace"
        mode = options.first(("append", "prepend", "replace", "no_replace"), default)
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
        assert self.in_list is not None
        if self.replaces_items:
            note(self.in_list, below, above)
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
        return [
            Line(TEXT, PRESENT, _named(partial(_lengthened), "append"), "str(append): the old text and the new one")
        ]


def _named(handler: Any, verb: str) -> Any:
    """The handler, saying what it does: warnings ask for it."""
    wrapped = handler if isinstance(handler, partial) else partial(handler)
    wrapped.__name__ = verb  # type: ignore[attr-defined]
    wrapped.verb = verb  # type: ignore[attr-defined]
    return wrapped


# --- what handlers do ---------------------------------------------------------------


def _as_list(part: Part) -> Part:
    return part if type(part.value) is list else recast(part, list)


def _like(model: Part, part: Part) -> Part:
    return recast(part, tuple) if type(model.value) is tuple else part


def _joined(mode: str, whole: bool, lower: Part, upper: Part) -> Part:
    old, new = _as_list(lower), _spread(mode, whole, upper)
    if not new.value:
        return lower  # an empty list is still the one that was there
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
        f"list({mode}) cannot add {_shown(value)} to a list", hint="write the new value as a list, or leave it out"
    )


def _old_items(lower: Part, upper: Part) -> Part:
    """`list(no_replace)` against what is no list: only what can be counted and indexed passes."""
    value = upper.value
    if not isinstance(value, Sized):
        raise MergeConflict(f"list(no_replace) cannot count the items of {_shown(value)}", hint="write a list")
    common = min(len(lower.value), len(value))
    reached = isinstance(value, (str, bytes)) or (
        isinstance(value, dict) and all(index in value for index in range(common))
    )
    if common and not reached:
        raise MergeConflict(f"list(no_replace) cannot number the items of {_shown(value)}", hint="write a list")
    return lower


def _lengthened(lower: Part, upper: Part) -> Part:
    if not isinstance(upper.value, str):
        raise MergeConflict(f"str(append) cannot add {_shown(upper.value)} to a text", hint="write the value as text")
    return made(lower.value + upper.value, lower, upper)


def _shown(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", set: "a set", type(None): "null"}
    return names.get(type(value), f"the {type(value).__name__} {value!r:.40}")


# --- custom mergers -----------------------------------------------------------------


class _Root:
    """What a custom merger is given to hand values on."""

    def __init__(self, builder: _Builder) -> None:
        self._builder = builder

    def merge(self, source: Any, merge_with: Any) -> Any:
        return meet(self._builder.root, Part(source, None), Part(merge_with, None)).value


def _known(spec: MergerSpec) -> str:
    if not isinstance(spec.name, str):
        raise CloudConfigError("definition", f"the name of a merger is a text, not {spec.name!r}")
    name = spec.name.removeprefix("m_")
    if name in _BUILT_IN or name in _registered or name in _offered():
        return name
    raise CloudConfigError(
        "unknown-merger",
        f"there is no merger {spec.name!r}",
        hint=f"known are {', '.join([*_BUILT_IN, *_registered])}",
    )


@lru_cache(maxsize=1)
def _offered() -> dict[str, Any]:
    from importlib.metadata import entry_points  # asked for an unknown name only

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def _constructed(name: str, options: Any, root: _Root) -> Any:
    if name not in _registered and not may_run():
        hint = "ask for it where it is trusted: --run-code"
        raise CloudConfigError("definition", f"the merger {name!r} ({_offered()[name].value}) {NOT_RUN}", hint=hint)
    try:
        merger = _registered.get(name) or _offered()[name].load()
        return merger(root, list(options) if isinstance(options, tuple) else options)
    except Exception as error:
        raise CloudConfigError("definition", f"the merger {name!r} cannot be made: {error}") from error


def _custom_lines(name: str, merger: Any, kinds: dict[type, str]) -> list[Line]:
    lines = []
    every = {**kinds, dict: MAP, list: LIST, str: TEXT, type(None): NULL}
    for python, kind in every.items():
        method = getattr(merger, f"_on_{python.__name__.lower()}", None)
        if callable(method):
            handler = _named(partial(_asked, name, method), name)
            lines.append(Line(kind, PRESENT, handler, f"{name}: decided by a custom merger"))
    return lines


def _asked(name: str, method: Callable[[Any, Any], Any], lower: Part, upper: Part) -> Part:
    try:
        value = independent(method(independent(lower.value), independent(upper.value)))
    except NodeattrsError:
        raise
    except Exception as error:
        raise MergeConflict(f"the merger {name!r} failed: {error}") from error
    return made(value, lower, upper)


def lay(folding: Folding, part: Part | Folding, policy: Policy) -> Part:
    """Lay one part; a conflict says at which path.

    raises: MergeConflict
    """
    try:
        return folding.lay(part, policy)
    except MergeConflict as conflict:
        path = tuple(conflict.path or ())
        if not path:
            raise
        raise MergeConflict(
            f"{conflict.message} at {spell(path)}",
            path=path, origins=conflict.origins, details=conflict.details, hint=conflict.hint,
        ) from conflict  # fmt: skip

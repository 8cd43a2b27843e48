"""Merge definitions: which mergers a part asks for, as values that can be printed.

Reads both forms as cloud-init does, oddities included, and judges nothing: whether a
merger exists is asked when it is built, and whether an option means anything is a warning.
It merges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.cloudinit.faults import CloudConfigError

_PIECE = re.compile(r"([a-z_][a-z0-9_]*)\((.*)\)")
_KEYS = ("merge_how", "merge_type")


@dataclass(frozen=True, slots=True)
class MergerSpec:
    """One merger of a definition.

    name:    as looked up: `list`, `dict`, `str`, or that of a custom merger
    options: the texts between the brackets, in written order; of the structured form,
             whatever stands under `settings`
    """

    name: Any
    options: Any = ()

    def __str__(self) -> str:
        options = self.options
        listed = ",".join(map(str, options)) if isinstance(options, (list, tuple)) else repr(options)
        return f"{self.name}({listed})"


@dataclass(frozen=True, slots=True)
class Definition:
    """The mergers of one part, in written order; of several for one type the first is used.

    >>> print(parse_definition("Dict(Recurse-List) + list( append )"))
    dict(recurse_list)+list(append)
    """

    mergers: tuple[MergerSpec, ...] = ()

    def __str__(self) -> str:
        return "+".join(map(str, self.mergers)) or "(no mergers)"

    def __bool__(self) -> bool:
        return bool(self.mergers)

    def __add__(self, other: Definition) -> Definition:
        return Definition(self.mergers + other.mergers)

    def names(self) -> tuple[Any, ...]:
        """The names, without the prefix `m_` that cloud-init's modules have."""
        return tuple(_bare(spec.name) for spec in self.mergers)

    def to_list(self) -> list[list[Any]]:
        """Plain data: `[["list", ["append"]], ["dict", []]]`."""
        return [
            [spec.name, list(spec.options) if isinstance(spec.options, (list, tuple)) else spec.options]
            for spec in self.mergers
        ]


def _bare(name: Any) -> Any:
    return name.removeprefix("m_") if isinstance(name, str) else name


def parse_definition(text: str) -> Definition:
    """Read the string form: `list(append)+dict(no_replace,recurse_list)+str()`.

    The text is cut at every plus sign; each piece is folded to lower case, `-` becomes `_`,
    and empty pieces vanish, so that an empty text means no mergers and is no error.

    raises: CloudConfigError of kind "format"
    source: docs/cloudinit.md, "Definitions"
    """
    specs = []
    for piece in text.split("+"):
        folded = piece.lower().strip().replace("-", "_")
        if not folded:
            continue
        found = _PIECE.fullmatch(folded)
        if found is None:
            raise CloudConfigError(
                "format",
                f"{piece.strip()!r} is no merger of a merge definition",
                hint=_format_hint(folded),
            )
        options = tuple(option.strip() for option in found[2].split(",") if option.strip())
        specs.append(MergerSpec(found[1], options))
    return Definition(tuple(specs))


def _format_hint(piece: str) -> str:
    if re.fullmatch(r"[a-z_]\w*", piece):
        return f"write it with brackets: {piece}()" if piece in ("list", "dict", "str") else "write list(append)+dict()"
    if ":" in piece or "=" in piece:
        return "options stand in brackets: list(append)"
    return "write name(option,option), joined by plus signs: list(append)+dict(recurse_list)+str()"


def definition_of(value: Any) -> Definition:
    """Read what stands under `merge_how` or `merge_type`: a text, or the structured form.

    The structured form is walked as cloud-init walks it: an entry that is a mapping gives
    `name` and `settings`; of any other entry the first item is the name and the rest are
    the options, so a bare text gives its first letter.

    raises: CloudConfigError of kind "format" or "definition"

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
        raise _structure(f"a merge definition is a text or a list, not {_kind(value)}") from None
    specs = (_spec(entry) for entry in entries)
    return Definition(tuple(spec for spec in specs if spec.name))


def _spec(entry: Any) -> MergerSpec:
    if isinstance(entry, Mapping):
        for key in ("name", "settings"):
            if key not in entry:
                raise _structure(f"an entry of the merge definition has no {key!r}: {dict(entry)!r}")
        name = entry["name"]
        if not isinstance(name, str):
            raise _structure(f"the name of a merger is a text, not {_kind(name)}")
        return MergerSpec(name.replace("-", "_").strip(), _frozen(entry["settings"]))
    try:
        name, options = entry[0], entry[1:] if len(entry) > 1 else ()
    except (TypeError, LookupError):
        raise _structure(f"an entry of the merge definition is a mapping or a list, not {entry!r}") from None
    return MergerSpec(name, _frozen(options))


def _frozen(options: Any) -> Any:
    return tuple(options) if isinstance(options, list) else options


def _structure(message: str) -> CloudConfigError:
    return CloudConfigError("definition", message, hint="write [{name: list, settings: [append]}, ...]")


def _kind(value: Any) -> str:
    return {dict: "a mapping", list: "a list", bool: "a boolean", type(None): "null"}.get(
        type(value), f"a {type(value).__name__}"
    )


def take_definition(config: Mapping[Any, Any]) -> tuple[Definition, dict[Any, Any], str | None]:
    """The definition that a config carries, the config without it, and the key it stood under.

    `merge_type` is read only where `merge_how` is absent or null, and otherwise stays in the
    config as data. *config* is not changed.

    raises: CloudConfigError

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


PART_DEFAULT = parse_definition("dict(replace)+list()+str()")
"""What a part of user-data uses if it asks for nothing: a shallow overwrite of top-level keys."""

CONFIG_DEFAULT = parse_definition("list()+dict()+str()")
"""What conf.d files and layers use: the first value wins, nested mappings are filled up."""

WORDS: dict[str, Definition] = {
    "append": parse_definition("dict(no_replace,recurse_list)+list(append)+str()"),
    "prepend": parse_definition("dict(no_replace,recurse_list)+list(prepend)+str()"),
    "replace": PART_DEFAULT,
    "deep": parse_definition("dict(no_replace,recurse_list,recurse_str)+list(append)+str()"),
}
"""Simple words for the definitions that people usually want."""


def word_or_definition(text: str) -> Definition:
    """One of `WORDS`, or a definition in the string form.

    >>> print(word_or_definition("append"))
    dict(no_replace,recurse_list)+list(append)+str()
    """
    return WORDS.get(text.strip().lower()) or parse_definition(text)

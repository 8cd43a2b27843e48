"""What user-data is made of: parts, each with a type, a name and headers; the definition of how one joins; and what
became of each.

Plain values. Unpacking makes parts, merging makes reports of them. Both forms of a definition are read as cloud-init
does, oddities included: whether a merger exists is asked when it is built, and whether an option means anything is
a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nodeattrs.adapters.cloudinit.faults import REJECTED, CloudConfigError, kind_of
from nodeattrs.codes import code_named
from nodeattrs.errors import NodeattrsError

CLOUD_CONFIG = "text/cloud-config"
JSONP = "text/cloud-config-jsonp"
ARCHIVE = "text/cloud-config-archive"
INCLUDES = ("text/x-include-url", "text/x-include-once-url")
SCRIPTS = (
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
    "text/cloud-boothook",
)

_FIRST_LINES = {
    "#include": "text/x-include-url",
    "#include-once": "text/x-include-once-url",
    "#!": "text/x-shellscript",
    "#cloud-config": CLOUD_CONFIG,
    "#part-handler": "text/part-handler",
    "#cloud-boothook": "text/cloud-boothook",
    "#cloud-config-archive": ARCHIVE,
    "#cloud-config-jsonp": JSONP,
    "## template: jinja": "text/jinja2",
}
_NUMBERED = re.compile(r"part-\d{3,}")
_LONGEST_FIRST = sorted(_FIRST_LINES, key=len, reverse=True)
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


def type_of_text(text: str | bytes, default: str | None = None) -> str | None:
    """The type that the beginning of a text shows, in any case and after leading white space.

    >>> type_of_text("#Cloud-Config-JSONP")
    'text/cloud-config-jsonp'
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            return default
    start = text.lstrip()[:40].lower()
    return next((_FIRST_LINES[mark] for mark in _LONGEST_FIRST if start.startswith(mark)), default)


@dataclass(frozen=True, slots=True)
class CloudPart:
    """One part of user-data.

    body:     the text (or the bytes) after unpacking
    type:     its content type
    filename: its name; parts without one are called part-001, part-002, ... by position
    headers:  as written; the merge headers are `Merge-Type` and `X-Merge-Type`, in exactly this case
    file:     the file it came from, as messages show it
    line:     the line of that file on which the body begins; None where it was packed in some way
    indent:   how far it is indented there, as the text of an archive's entry is
    packed:   how it was packed: "", "gzip"
    lost:     the merge headers that it lost when it was unpacked
    """

    body: str | bytes
    type: str = CLOUD_CONFIG
    filename: str = ""
    headers: Mapping[str, Any] = field(default_factory=dict)
    file: str | None = None
    line: int | None = 1
    packed: str = ""
    lost: tuple[str, ...] = ()
    indent: int = 0

    @property
    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 are kept as lone surrogates."""
        return self.body if isinstance(self.body, str) else self.body.decode("utf-8", "surrogateescape")


Status = Literal["merged", "rejected", "failed", "script", "include", "ignored", "empty", "unknown"]


@dataclass(frozen=True, slots=True)
class PartReport:
    """What became of one part.

    number:     its place among all parts, from 1
    status:     merged; rejected (cloud-init notes it in the merged file) or failed (it only logs it):
                either way the result is as before the part; script; include: not followed; ignored: a
                type nobody handles; empty: the same with nothing in it; unknown: it cannot be read
    definition: the mergers that were used; None for a patch and for what is not merged
    source:     where they come from: "body merge_how", "header Merge-Type", both, "default",
                "asked" (a what-if), "part N" (documented mode: the part whose definition was on the stack)
    error:      why it was rejected or failed
    """

    number: int
    part: CloudPart
    filename: str
    status: Status
    definition: Definition | None = None
    source: str = ""
    error: NodeattrsError | None = None

    @property
    def title(self) -> str:
        """What people call the part: its name; the file where it has no name of its own and is all of the file."""
        file = self.part.file
        if file is None or _NUMBERED.fullmatch(self.filename) is None:
            return self.filename
        return file if self.part.line == 1 else f"{file} {self.filename}"

    @property
    def kind(self) -> str | None:
        """The kind of the error."""
        return None if self.error is None else kind_of(self.error)

    @property
    def ok(self) -> bool:
        """Whether the part was neither rejected nor failed."""
        return self.error is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "number": self.number,
            "filename": self.filename,
            "type": self.part.type,
            "file": self.part.file,
            "line": self.part.line,
            "status": self.status,
            "mergers": None if self.definition is None else self.definition.to_list(),
            "definition": None if self.definition is None else str(self.definition),
            "source": self.source or None,
            "kind": self.kind,
            "code": self.kind and code_named(self.kind, "CloudConfigError").code,
            "error": None if self.error is None else str(self.error),
        }


def status_of(error: NodeattrsError) -> Status:
    """What cloud-init makes of a part with this error."""
    return "rejected" if kind_of(error) in REJECTED else "failed"

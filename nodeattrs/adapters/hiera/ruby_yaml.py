"""YAML as Puppet's data files are read: Psych's scalars, keys and merge keys.

The same events as everywhere (libyaml where PyYAML has it, pure Python otherwise), but
`1:30` is 5400, `1,000` is a thousand, `:word` is a symbol, and `<<` merges where it
stands. One pass without positions; where a key stands is found by a second pass, when
somebody asks. It knows no hierarchy: a text goes in, a tree comes out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import DocumentError
from nodeattrs.texts.places import HALF_PAIR, Mark, Reading, Text
from nodeattrs.texts.yaml_text import MAX_VALUES

__all__ = ["Read", "overwritten", "read", "scalar"]


class Symbol(str):
    """A Ruby symbol: fine as a key, where it loses its colon; no value of data."""

    __slots__ = ()


class Refused:
    """A scalar that makes the whole file unreadable."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what


class Read(NamedTuple):
    """What a text says.

    reading: the tree, its marks and its warnings
    unfit:   root key -> what below it data may not hold, and the offset at which it stands
    twice:   the keys of the root that are written more than once
    """

    reading: Reading
    unfit: dict[str, tuple[str, int]]
    twice: frozenset[str] = frozenset()


_WORD = re.compile(r"[^\d.:-]?(?:[^\W\d]|[\s!@#$%^&*(){}<>|/\\~;=])")
_TIME = re.compile(
    r"-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?", re.ASCII
)
_DATE = re.compile(r"\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)", re.ASCII)
_CLOCK = re.compile(r"([-+]?[0-9][0-9_]*):([0-5]?[0-9])(?::([0-5]?[0-9]))?(\.[0-9_]*)?")
_FLOAT = re.compile(r"[-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?")
_INTEGER = re.compile(r"([-+]?)(?:0b([01_,]+)|0x([0-9a-fA-F_,]+)|0([0-7_,]+)|(0|[1-9](?:[0-9]|,[0-9]|_[0-9])*))")
_WORDS: dict[str, Any] = {
    "~": None,
    "null": None,
    **dict.fromkeys(("yes", "true", "on"), True),
    **dict.fromkeys(("no", "false", "off"), False),
}
_SPECIAL_FLOATS = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
_YAML = "tag:yaml.org,2002:"


@lru_cache(maxsize=4096)
def scalar(text: str) -> Any:
    """The value of a plain scalar; a `Symbol`, or `Refused` for dates, where data has no such thing.

    source: semantics of Psych 4's scanner, measured

    >>> scalar("1:30"), scalar("1,000"), scalar("0o10"), scalar("08"), scalar("yes")
    (5400, 1000, '0o10', '08', True)
    """
    if not text:
        return None
    if _WORD.match(text) or "\n" in text:
        return text if len(text) > 5 else _WORDS.get(text.lower(), text)
    if _TIME.fullmatch(text):
        return Refused("a time")
    if _DATE.fullmatch(text):
        return Refused("a date")
    if text.lower() in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[text.lower()]
    if text.startswith(":") and len(text) > 1:
        quoted = re.match(r"""(["'])(.*)\1""", text[1:])
        return Symbol(quoted[2].removeprefix(":") if quoted else text[1:])
    return _number(text)


def _number(text: str) -> Any:
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds, fraction = clock.groups()
        parts = [hours.replace("_", ""), minutes, seconds]
        if fraction is None:
            return sum(int(part) * 60 ** abs(place - 2) for place, part in enumerate(parts) if part is not None)
        last = 2 if seconds is not None else 1
        parts[last] += fraction.replace("_", "")
        return sum(float(part) * 60 ** abs(place - 2) for place, part in enumerate(parts) if part is not None)
    if _FLOAT.fullmatch(text):
        try:
            return text if text.strip("+-") == "." else float(text.replace(",", "").replace("_", ""))
        except ValueError:
            return text
    integer = _INTEGER.fullmatch(text)
    if integer:
        sign, *digits = integer.groups()
        base, written = next((base, part) for base, part in zip((2, 16, 8, 10), digits, strict=True) if part)
        written = written.replace(",", "").replace("_", "")
        if len(written) > 4300:
            return Refused("a number of more than 4,300 digits")
        if written or base == 8:
            return int(sign + (written or "0"), base)
    return text


def _quoted(event: ScalarEvent) -> Any:
    """What a scalar says that is no plain one: in quotes, or with a tag."""
    return event.value if event.implicit[1] or not event.tag else _tagged(event.tag, event.value)


def _tagged(tag: str, text: str) -> Any:
    if tag == _YAML + "str" or re.match(r"!str(:|$)", tag):
        return text
    if re.match(r"!ruby/sym(bol)?", tag):
        return Symbol(text)
    if tag.startswith("!ruby/") or tag in (_YAML + "binary", "!binary"):
        return Refused("what a data file cannot hold")
    value = scalar(text)
    if tag in (_YAML + "float", "!float"):
        return float(value) if type(value) in (int, float) else Refused("no number")
    return value


class _Frame:
    """A map or list whose end has not come yet."""

    __slots__ = ("anchor", "before", "data", "height", "is_map", "key", "key_offset", "offset", "parts")

    def __init__(self, is_map: bool, anchor: str | None, before: int) -> None:
        self.data: Any = {} if is_map else []
        self.is_map = is_map
        self.anchor = anchor
        self.before = before
        self.height = 1
        self.key: Any = _NO_KEY
        self.key_offset = 0
        self.offset = 0
        self.parts: dict[Any, Mark] = {}


class _Named(NamedTuple):
    data: Any
    parts: dict[Any, Mark]
    height: int
    size: int


_NO_KEY: Any = object()
_MERGE: Any = object()
_ODD_KEY: Any = object()


def read(text: Text) -> Read:
    """What *text* says, as Puppet reads it: the first document, {} where there is none.

    cost:   one event a key and value
    raises: DocumentError with line and column
    """
    builder = _Builder(text, marks=False)
    tree = builder.run()
    warnings = tuple(text.error(message, at, kind=kind) for message, at, kind in builder.warnings)
    return Read(Reading(tree, lambda: _marked(text), warnings), builder.unfit, frozenset(builder.overwritten))


def overwritten(text: Text, key: str) -> list[tuple[Any, Mark]]:
    """What *text* has under a key of its root that it has again further down, the last one first."""
    builder = _Builder(text, marks=True)
    builder.run()
    return [(value, mark or builder.mark) for value, mark in builder.overwritten.get(key, ())]


def _marked(text: Text) -> Mark:
    builder = _Builder(text, marks=True)
    builder.run()
    return builder.mark


class _Builder:
    """Builds one tree from events; with *marks* also where everything stands."""

    def __init__(self, text: Text, marks: bool) -> None:
        self.text = text
        self.marks = marks
        self.mark = Mark(0)
        self.tree: Any = None
        self.warnings: list[tuple[str, int, str]] = []
        self.unfit: dict[str, tuple[str, int]] = {}
        self.overwritten: dict[Any, list[tuple[Any, Mark | None]]] = {}
        self._stack: list[_Frame] = []
        self._named: dict[str, _Named | None] = {}
        self._count = 0
        self._escapes = False

    def run(self) -> Any:
        try:
            self._run()
        except yaml.YAMLError as error:
            raise _explained(self.text, error) from error
        except RecursionError:
            raise self.text.error("nested deeper than the caller's stack has room for") from None
        except DocumentError:
            raise
        except (ValueError, OverflowError) as error:
            raise self.text.error("an escape that stands for no character") from error
        return self.tree

    def _run(self) -> None:
        # Scalars first: loading is most of what a whole lookup costs.
        self._escapes = "\\u" in self.text.text or "\\U" in self.text.text  # libyaml refuses half a pair itself
        scalar_found, is_word = self._scalar, _WORD.match
        for event in _events(self.text.text):
            kind = type(event)
            if kind is ScalarEvent:
                value = event.value
                if not event.implicit[0]:
                    value = _quoted(event)
                elif len(value) < 6 or not is_word(value):
                    value = scalar(value)
                scalar_found(value, event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._begin(event, kind is MappingStartEvent)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._end(event)
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is DocumentEndEvent or kind is StreamEndEvent:
                return

    def _scalar(self, value: Any, event: Any) -> None:
        if type(value) is Refused:
            raise self._error(f"{value.what} stands here, and data files hold none", event, hint="put it in quotes")
        if self._escapes and type(value) is str and HALF_PAIR.search(value):
            raise self._error("half of a surrogate pair, which no file can hold", event)
        self._count += 1
        if event.anchor:
            self._named[event.anchor] = _Named(value, {}, 0, 1)
        frame = self._stack[-1] if self._stack else None
        if frame is None or not frame.is_map or frame.key is not _NO_KEY:
            self._place(value, event, {}, _offset(event) if self.marks else 0)
            return
        if type(value) is not str or value == "<<" or value in frame.data:
            value = self._odd_key(frame, value, event)
        frame.key = value
        if self.marks:
            frame.key_offset = _offset(event)

    def _error(self, message: str, event: Event, hint: str | None = None) -> DocumentError:
        return self.text.error(message, _offset(event), hint=hint)

    def _begin(self, event: Any, is_map: bool) -> None:
        tag = event.tag
        if tag and (tag.startswith("!ruby/") or tag in (_YAML + "set", _YAML + "omap", "!omap", "!set")):
            raise self._error("a tag that data files may not use", event, hint="write a plain map or list")
        if len(self._stack) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        self._count += 1
        if self._count > MAX_VALUES:
            raise self._too_many(event)
        frame = _Frame(is_map, event.anchor, self._count)
        if event.anchor:
            self._named[event.anchor] = None
        if self.marks:
            frame.offset = _offset(event)
        self._stack.append(frame)

    def _end(self, event: Event) -> None:
        frame = self._stack.pop()
        if frame.anchor:
            size = self._count - frame.before + 1
            self._named[frame.anchor] = _Named(frame.data, frame.parts, frame.height, size)
        if self._stack:
            upper = self._stack[-1]
            if upper.height <= frame.height:
                upper.height = frame.height + 1
            if upper.is_map and upper.key is _NO_KEY:
                upper.key = self._odd_key(upper, frame.data, event)
                return
        self._place(frame.data, event, frame.parts, frame.offset)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._named:
            raise self._error("an alias for what has no name above", event, "quote a text that begins with *")
        named = self._named[event.anchor]
        if named is None:
            raise self._error("an alias inside what it names", event)
        self._count += named.size
        if self._count > MAX_VALUES:
            raise self._too_many(event)
        if len(self._stack) + named.height > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        if self._stack:
            frame = self._stack[-1]
            frame.height = max(frame.height, named.height + 1)
            if frame.is_map and frame.key is _NO_KEY:
                odd = type(named.data) is not str or named.data in frame.data
                frame.key = self._odd_key(frame, named.data, event) if odd else named.data
                frame.key_offset = _offset(event)
                return
        self._place(named.data, event, named.parts, _offset(event) if self.marks else 0)

    def _too_many(self, event: Event) -> DocumentError:
        hint = "aliases are counted as often as they are used"
        return self._error(f"holds more than {MAX_VALUES:,} values", event, hint=hint)

    def _odd_key(self, frame: _Frame, value: Any, event: Event) -> Any:
        """A key that is no new text: `<<`, a symbol, a repetition, or something data has no keys of."""
        if type(value) is Symbol:
            value = str(value)
        if value == "<<" and getattr(event, "tag", None) != _YAML + "str":
            return _MERGE
        if type(value) is str or (type(value) is int and len(self._stack) > 1):
            if value in frame.data:
                self.warnings.append(
                    (f"the key {value!r} is written twice; the last one counts", _offset(event), "repeated-key")
                )
                if len(self._stack) == 1:
                    self.overwritten.setdefault(value, []).insert(0, (frame.data[value], frame.parts.get(value)))
            return value
        if len(self._stack) == 1:
            self.warnings.append(
                ("a key that is no text is found by no lookup; quote it", _offset(event), "key-is-no-text")
            )
        else:
            self._note("a key that is neither text nor integer", event)
        return _ODD_KEY

    def _note(self, what: str, event: Event) -> None:
        root = self._stack[0].key if self._stack and self._stack[0].is_map else _NO_KEY
        if isinstance(root, str):
            self.unfit.setdefault(root, (what, _offset(event)))

    def _place(self, value: Any, event: Event, parts: dict[Any, Mark], offset: int) -> None:
        if type(value) is Symbol:
            self._note(f"the symbol :{value}", event)
            value = str(value)
        stack = self._stack
        if not stack:
            self.tree = value
            if self.marks:
                self.mark = Mark(offset, parts)
            return
        frame = stack[-1]
        if not frame.is_map:
            if self.marks:
                frame.parts[len(frame.data)] = Mark(offset, parts)
            frame.data.append(value)
            return
        key, frame.key = frame.key, _NO_KEY
        if key is _MERGE:
            key = self._merge(frame, value, parts)
        if key is _NO_KEY or key is _ODD_KEY:
            return
        frame.data[key] = value
        if self.marks:
            later = type(value) not in (dict, list) and "\n" in self.text.text[frame.key_offset : offset]
            frame.parts[key] = Mark(offset if later and value is not None else frame.key_offset, parts)

    def _merge(self, frame: _Frame, value: Any, parts: dict[Any, Mark]) -> Any:
        """Merged keys stand where `<<` is written, over what stands before; no map is an ordinary value."""
        if type(value) is dict:
            maps = [(value, parts)]
        elif type(value) is list and all(type(entry) is dict for entry in value):
            maps = [(entry, parts[at].parts if self.marks else {}) for at, entry in enumerate(value)][::-1]
        else:
            return "<<"
        merged: dict[Any, Any] = {}
        for entry, marks in maps:
            merged.update(entry)
            frame.parts.update(marks)
        frame.data.update(merged)
        return _NO_KEY


def _events(text: str) -> Iterator[Any]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    get = loader.get_event
    try:
        while True:
            event = get()
            yield event
            if event is None or type(event) is StreamEndEvent:
                return
    finally:
        loader.dispose()


def _offset(event: Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _explained(text: Text, error: yaml.YAMLError) -> DocumentError:
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None)
    return text.error(problem, None if mark is None else min(mark.index, len(text.text)))

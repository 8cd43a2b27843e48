"""Read YAML as Puppet does, with the scalars, keys and merge keys of Ruby's parser Psych.

`1:30` is 5400, `1,000` is a thousand, `:word` is a symbol, and `<<` merges at the place where it is written. The first
pass notes no positions; a second pass finds the line of a key when a caller asks for it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.budget import MAX_DIGITS, Budget, too_long
from nodeattrs.core.tree import Path
from nodeattrs.formats.places import Mark, ParsedText, Text
from nodeattrs.formats.yaml_events import DROPPED, MERGE, YAML, Builder, Frame
from nodeattrs.kinds import KEY_IS_NO_TEXT, REPEATED_KEY


class Symbol(str):
    """A Ruby symbol, without its colon. As a key it is a text; as a value data may not hold it."""

    __slots__ = ()


class _RefusedScalar(NamedTuple):
    """A scalar that makes the whole file unreadable; `what` is its kind in words: a date."""

    what: str


class ParsedYaml(NamedTuple):
    """A parsed YAML text.

    reading: the tree, its marks and its warnings
    unfit:   root key -> (what data may not hold in its value, the offset of that); {} for a text without any
    twice:   the keys of the root that are written more than once
    """

    reading: ParsedText
    unfit: dict[str, tuple[str, int]]
    twice: frozenset[str] = frozenset()


_WORD = re.compile(r"[^\d.:-]?(?:[^\W\d]|[\s!@#$%^&*(){}<>|/\\~;=])")
_TIME = re.compile(
    r"(?a)-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?"
)
_DATE = re.compile(r"(?a)\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
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
_NOTE: Any = object()
_ORDERED = (f"{YAML}omap", "!omap")
_NO_PLAIN_DATA = (f"{YAML}set", f"{YAML}omap", "!omap", "!set")


@lru_cache(maxsize=4096)
def scalar(text: str) -> Any:
    """The value of a plain scalar in Ruby's YAML; cached.

    A `Symbol` for `:word`; a `_RefusedScalar` for a date, a time or a huge number; None for an empty text.

    source: semantics of Psych 4's scanner, measured

    >>> scalar("1:30"), scalar("1,000"), scalar("0o10"), scalar("08"), scalar("yes")
    (5400, 1000, '0o10', '08', True)
    """
    if not text:
        return None
    if text.isascii() and text.isdecimal() and (text[0] != "0" or len(text) == 1) and len(text) < 10:
        return int(text)  # most numbers, without a regular expression
    if text.count(".") > 1 and text[0] != ":":
        return text  # an address or a version: no number and no time has two
    if _WORD.match(text) or "\n" in text:
        return text if len(text) > 5 else _WORDS.get(text.lower(), text)
    if text[0] != ":" and not any(map(str.isdecimal, text)):
        return _SPECIAL_FLOATS.get(text.lower(), text)  # no number and no time has no digit
    if _TIME.fullmatch(text):
        return _RefusedScalar("a time")
    if _DATE.fullmatch(text):
        return _RefusedScalar("a date")
    if text.startswith(":") and len(text) > 1:
        quoted = _QUOTED.match(text[1:])
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
        number = int(sign + (written or "0"), base) if len(written) <= MAX_DIGITS else None
        if number is None or too_long(number):
            return _RefusedScalar(f"a number of more than {MAX_DIGITS:,} digits")
        if written or base == 8:
            return number
    return text


def _tagged(tag: str, text: str) -> Any:
    if tag == YAML + "str" or tag == "!str" or tag.startswith("!str:"):
        return text
    if tag.startswith("!ruby/sym"):
        return Symbol(text)
    if tag in (YAML + "binary", "!binary"):
        return _binary(text)
    if tag.startswith("!ruby/"):
        return _RefusedScalar("what a data file cannot hold")
    value = scalar(text)
    if tag in (YAML + "float", "!float"):
        return float(value) if type(value) in (int, float) else _RefusedScalar("no number")
    return value


def _binary(text: str) -> str | _RefusedScalar:
    try:
        return binascii.a2b_base64(text).decode("utf-8")
    except ValueError:
        return _RefusedScalar("binary data that are no text")


def read(text: Text, budget: Budget | None = None, *, marks: bool = False) -> ParsedYaml:
    """The first document of a text, as Puppet reads it; an empty text has the tree {}.

    budget: the limits; None: the usual ones
    marks:  True: the place of each part is noted in this pass. False: the first question for a place parses the text
            again
    cost:   one event a key and value
    raises: DocumentError with line and column; TooMuch
    """
    builder = _Puppet(text, marks=marks, budget=budget)
    tree = builder.run()
    if marks:
        reading = ParsedText(tree, lambda: builder.mark, tuple(builder.warnings))
    else:
        warnings = _built(text).warnings if builder.overridden else builder.warnings
        reading = ParsedText(tree, lambda: _built(text).mark, tuple(warnings))
    unfit: dict[str, tuple[str, int]] = {}
    for key, below in builder.notes.items():
        if notes := list(_notes_in(below)):
            unfit[key] = min(notes, key=itemgetter(1))
    return ParsedYaml(reading, unfit, frozenset(builder.twice))


def _notes_in(below: dict[Any, Any]) -> Iterator[tuple[str, int]]:
    left = [below]
    while left:
        for step, inner in left.pop().items():
            if step is _NOTE:
                yield inner
            else:
                left.append(inner)


def overwritten(text: Text, key: str) -> list[tuple[Any, Mark]]:
    """(value, its marks) for each earlier value of a repeated root key, the last one first. cost: parses the text"""
    return list(reversed(_built(text).mark.parts[key].again))


def _built(text: Text) -> _Puppet:
    """A builder that has parsed a text with the places of all its parts."""
    builder = _Puppet(text)
    builder.run()
    return builder


class _Puppet(Builder):
    only_first = True
    merges_in_place = True

    def __init__(self, text: Text, **how: Any) -> None:
        super().__init__(text, **how)
        self.notes: dict[Any, Any] = {}  # by the steps of their paths; the note itself is under `_NOTE`
        self.twice: set[Any] = set()
        self.overridden = False  # whether a merge key overrides a key above; its line needs marks

    def scalar(self, event: Any) -> Any:
        value = event.value
        if not event.implicit[0]:
            if event.tag and not event.implicit[1]:
                value = _tagged(event.tag, value)
        elif len(value) < 6 or not _WORD.match(value):
            value = scalar(value)
        if type(value) is _RefusedScalar:
            raise self.error(f"{value.what} is not allowed in data files", event, hint="put it in quotes")
        return self.aliased(value, event) if type(value) is Symbol else value

    def aliased(self, value: Any, event: Any) -> Any:
        is_key = self.open and self.open[-1].step is None
        if type(value) is not Symbol or is_key:
            return value
        self._note(f"the symbol :{value}", event)
        return str(value)

    def made(self, frame: Frame) -> Any:
        tag = frame.event.tag
        if tag in _ORDERED and type(frame.data) is list and all(type(one) is dict for one in frame.data):
            return {key: value for one in frame.data for key, value in one.items()}
        if tag and tag != "!ruby/object:Hash" and (tag.startswith("!ruby/") or tag in _NO_PLAIN_DATA):
            raise self.error("a tag that data files may not use", frame.event, hint="write a plain map or list")
        return frame.data

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        if type(value) is str and value != "<<" and value not in frame.data:
            return value
        if type(value) is Symbol:
            value = str(value)
        if value == "<<" and getattr(event, "tag", None) != f"{YAML}str":
            return MERGE
        at_root = len(self.open) == 1
        if type(value) is str or (type(value) is int and not at_root):
            if value in frame.merged:
                frame.merged = frame.merged - {value}
            elif value in frame.data:
                path = (*(one.step for one in self.open[:-1]), value)
                self._warn(f"the key {value!r} is written twice; the last one counts", event, REPEATED_KEY, path)
                if at_root:
                    self.twice.add(value)
                self._drop_notes(path)
            return value
        if at_root:
            self._warn("a key that is not text is found by no lookup; quote it", event, KEY_IS_NO_TEXT)
        else:
            self._note("a key that is neither text nor integer", event)
        return DROPPED

    def merged(self, frame: Frame, entry: dict[Any, Any], event: Any) -> None:
        path = tuple(one.step for one in self.open[:-1])
        for key in frame.data.keys() & entry.keys() - frame.merged:
            if frame.data[key] != entry[key]:
                self.overridden = True
                offset = frame.parts[key].offset if key in frame.parts else None
                line = event.start_mark.line + 1
                message = f"the key {key!r} is overridden by the merge key << below, in line {line}"
                self.warnings.append(self.fault(message, offset, path=(*path, key), kind=REPEATED_KEY))
        frame.merged = frame.merged | entry.keys()

    def unmerged(self, event: Any) -> Any:
        return "<<"

    def _warn(self, message: str, event: Any, kind: Kind, path: Path | None = None) -> None:
        warning = self.error(message, event, path=path)
        warning.kind = kind
        self.warnings.append(warning)

    def _note(self, what: str, event: Any) -> None:
        path = tuple(one.step for one in self.open)
        if path and type(path[0]) is str:
            place = self.notes
            for step in path:
                place = place.setdefault(step, {})
            place.setdefault(_NOTE, (what, event.start_mark.index))

    def _drop_notes(self, path: Path) -> None:
        place = self.notes
        for step in path[:-1]:
            place = place.get(step, {})
        place.pop(path[-1], None)

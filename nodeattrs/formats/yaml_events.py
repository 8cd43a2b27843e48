"""Trees from the events of a YAML parser: `Builder` is the base class of all readers of YAML.

A subclass says which value a scalar or a key has, for plain documents, Hiera, cloud-init or Ansible. No tag can run
code, and no function recurses. The builder draws on a `Budget` before it uses memory; a value that an alias repeats
counts each time. The parser is libyaml if PyYAML has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.nodes import ScalarNode
from yaml.reader import Reader, ReaderError
from yaml.resolver import Resolver

from nodeattrs.core.budget import MAX_DIGITS, WIDE, Budget, too_long
from nodeattrs.errors import DocumentError, TooMuch
from nodeattrs.formats.numbers import NoNumber
from nodeattrs.formats.places import HALF_PAIR, Mark, Text
from nodeattrs.formats.yaml_scanning import Loader

YAML = "tag:yaml.org,2002:"
"""What the names of YAML's own tags begin with."""

MERGE: Any = object()
"""Returned by `Builder.key` for the key `<<`, whose value is merged into the map."""

DROPPED: Any = object()
"""Returned by `Builder.key` or `unmerged` for a key whose value is left out."""

_SQUARES_A_STEP = 100
_NO_KEY: Any = object()
_NO_PARTS: dict[Any, Mark] = {}
_NO_MARK = Mark(0)

_HINTS = (
    ("'\\t'", "indent with spaces, not with tabs"),
    ("mapping values are not allowed", "quote a text that has a colon in it; or is the line indented too far?"),
    ("expected ':'", "is a colon, or a space after it, missing?"),
    ("expected alphabetic or numeric", "quote a text that begins with * or &"),
    ("cannot start any token", "quote a text that begins with a special character"),
    ("unexpected end of stream", "a quote is still open"),
)


def _offset(event: Any) -> int:
    return event.start_mark.index if event.start_mark else 0


class _Named(NamedTuple):
    """The value of an anchor. height: its depth in maps and lists, 0 for a scalar; size: its number of values"""

    data: Any
    parts: dict[Any, Mark]
    height: int
    size: int


class Frame:
    """A map or list of a `Builder` whose start was read, and whose end was not. Only the builder makes and changes it.

    event:      the event of its start, with its tag and anchor
    is_map:     True for a map, False for a list
    data:       its value so far, a dict or a list
    parts:      the marks of its entries so far: key or index -> Mark
    key:        for a map, the key whose value comes next; a marker if no key was read, and for a list
    key_offset: the offset of *key*
    height:     the depth of the values below it: 1 for a map or list that contains no other
    before:     how many values the budget still allowed when it began
    under:      (data, parts) of the maps that `<<` has merged; the map's own keys override them. None for none
    merged:     the keys that `<<` has set; only a subclass that merges in place sets it
    step:       the key or index of the value that comes next; None if a key comes next
    """

    __slots__ = ("before", "data", "event", "height", "is_map", "key", "key_offset", "merged", "parts", "under")

    def __init__(self, event: Any, is_map: bool, before: int) -> None:
        self.data: Any = {} if is_map else []
        self.is_map = is_map
        self.event = event
        self.before = before
        self.height = 1
        self.key: Any = _NO_KEY
        self.key_offset = 0
        self.parts: dict[Any, Mark] = {}
        self.merged: frozenset[Any] = frozenset()
        self.under: tuple[dict[Any, Any], dict[Any, Mark]] | None = None

    @property
    def step(self) -> Any:
        """The key or index of the value that comes next; None where a key comes next."""
        if self.is_map:
            return None if self.key is _NO_KEY else self.key
        return len(self.data)


class Builder:
    """Builds one tree and its marks from a YAML text. Make an instance, call `run` once, and read `tree`.

    A subclass has to override two hooks: `scalar` returns the value of a scalar, and `key` the key for a value. It may
    also override `made` (a finished map or list), `aliased`, `merged`, `unmerged` and `fault`. `run` calls the hooks.
    `error` returns, and does not raise, the error at an event. `constructed` gives the value of a scalar as PyYAML
    does.

    text:      the text to read
    marks:     whether to keep the offset of each part; False: `mark` is empty
    budget:    the limits; None: the usual ones
    tree:      the value of the document after `run`
    mark:      the mark of the root of `tree`
    documents: with the switch `takes_all`, (tree, mark) of each document; `tree` is None then
    warnings:  faults that do not stop reading, added by hooks
    open:      the maps and lists that `run` is reading, the outermost first

    Switches, which a subclass sets:
    only_first:      read the first document alone
    takes_all:       read all documents, into `documents`. Without both switches, a second document is an error
    merges_in_place: `<<` overrides keys before it. False: each key of the map overrides what `<<` merges
    anchors_once:    an anchor that is set again is an error
    half_pairs:      half of a surrogate pair may be escaped. False: an error
    values_stand:    a scalar on a later line than its key has a mark there. False: at the key
    pure:            use PyYAML's own parser, not libyaml
    """

    only_first = False
    takes_all = False
    merges_in_place = False
    anchors_once = False
    half_pairs = False
    values_stand = True
    pure = False

    def __init__(self, text: Text, *, marks: bool = True, budget: Budget | None = None) -> None:
        self.text = text
        self.tree: Any = None
        self.mark = _NO_MARK
        self.documents: list[tuple[Any, Mark]] = []
        self.warnings: list[DocumentError] = []
        self.open: list[Frame] = []
        self._marks = marks
        self._budget = budget or Budget(text.file)
        self._left = self._before = self._budget.remaining("values")
        self._deepest = self._budget.limits.depth
        self._named: dict[str, _Named | None] = {}
        self._begun = 0  # documents

    # --- what a dialect says ------------------------------------------------------------

    def scalar(self, event: Any) -> Any:
        """Hook that gives the value of a scalar, also of one that is a key."""
        raise NotImplementedError

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        """Hook that gives the key of a map for a value in the place of a key; or `MERGE`, or `DROPPED`."""
        raise NotImplementedError

    def made(self, frame: Frame) -> Any:
        """Hook that gives the value of a finished map or list; here `frame.data` itself."""
        return frame.data

    def aliased(self, value: Any, event: Any) -> Any:
        """Hook that gives the value of an alias; here the very value that the anchor names, not a copy."""
        return value

    def merged(self, frame: Frame, entry: dict[Any, Any], event: Any) -> None:
        """Hook that is called before `<<` merges the map *entry* into a map; here it does nothing."""

    def unmerged(self, event: Any) -> Any:
        """Hook for a `<<` whose value is neither a map nor a list of maps; returns its key. Here it raises an error."""
        raise self.error("<< takes a map, or a list of maps", event)

    def fault(self, message: str, offset: int | None, *, too_deep: bool = False, **more: Any) -> DocumentError:
        """Hook that makes, and does not raise, the error at an offset; each error of the builder comes from here.

        too_deep: the fault is an alias inside its own anchor; a subclass may give it another class
        """
        return self.text.error(message, offset, **more)

    def error(self, message: str, event: Any, **more: Any) -> DocumentError:
        """Make, not raise, the error at the place of an event. more: as for `Text.error`"""
        return self.fault(message, _offset(event), **more)

    # --- building -----------------------------------------------------------------------

    def run(self) -> Any:
        """Parse the text and return `tree`: None for an empty text, and with the switch `takes_all`. Call `run` once.

        raises: DocumentError with line and column; TooMuch
        """
        tags = self.text.text.count("%TAG")
        if tags:
            self._budget.steps(tags**2 // _SQUARES_A_STEP)  # the parser compares each directive with all before it
        try:
            self._run()
        except yaml.YAMLError as error:
            raise self._explained(error) from error
        except RecursionError:
            raise self.fault("nested deeper than the caller's stack has room for", None) from None
        except DocumentError:
            raise
        except (ValueError, OverflowError) as error:
            raise self.fault("an escape that means no character", None) from error
        self._budget.values(self._before - self._left)
        return self.tree

    def parser(self) -> Any:
        """A new parser of the text: libyaml's where PyYAML has it and `pure` is False, else PyYAML's own."""
        quick = getattr(yaml, "CSafeLoader", None)
        return quick(self.text.text) if quick is not None and not self.pure else Loader(self.text.text)

    def _run(self) -> None:
        # Scalars first: loading is most of what a whole lookup costs.
        escapes = not self.half_pairs and (
            "\\u" in self.text.text or "\\U" in self.text.text
        )  # libyaml refuses half a pair itself
        scalar, place, left = self.scalar, self._place, self._left
        for event in _events(self.parser()):
            kind = type(event)
            if kind is ScalarEvent:
                if escapes and HALF_PAIR.search(event.value):
                    raise self.error("half of a surrogate pair, which no file can hold", event)
                left -= 1
                if left < 0:
                    raise self._passed("values", event)
                value = scalar(event)
                if type(value) is int and value.bit_length() >= WIDE:
                    self._integer(value, event)
                if event.anchor:
                    self._name(event, _Named(value, _NO_PARTS, 0, 1))
                place(value, event, _NO_PARTS)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._left = left
                self._begin(event, kind is MappingStartEvent)
                left -= 1
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._left = left
                self._end()
            elif kind is AliasEvent:
                self._left = left
                self._alias(event)
                left = self._left
            elif kind is DocumentStartEvent:
                self._begin_document(event)
            elif kind is DocumentEndEvent and self._end_document():
                break
        self._left = left

    def _begin_document(self, event: Any) -> None:
        self._begun += 1
        if self._begun > 1 and not self.takes_all:
            raise self.error("a second document begins here", event, hint="one file holds one document")

    def _end_document(self) -> bool:
        """End a document; with `takes_all` it is kept. Returns whether the text after it is left unread."""
        if self.takes_all:
            self.documents.append((self.tree, self.mark))
            self.tree, self.mark = None, _NO_MARK
            self._named.clear()
        return self.only_first

    def _passed(self, limit: str, event: Any) -> TooMuch:
        self._budget.where = lambda: self.text.place(_offset(event))
        error = self._budget.exceeded(limit)
        error.details = ("aliases are counted as often as they are used",) if limit == "values" else ()
        return error

    def _integer(self, number: int, event: Any) -> None:
        try:
            self._budget.integer(number)
        except TooMuch:
            raise self._passed("steps", event) from None

    def _draw(self, values: int, height: int, event: Any) -> None:
        if len(self.open) + height > self._deepest:
            raise self._passed("depth", event)
        self._left -= values
        if self._left < 0:
            raise self._passed("values", event)

    def _name(self, event: Any, named: _Named | None) -> None:
        if self.anchors_once and event.anchor in self._named:
            raise self.error(f"the anchor {event.anchor} is here a second time", event)
        self._named[event.anchor] = named

    def _begin(self, event: Any, is_map: bool) -> None:
        if self._left < 1 or len(self.open) >= self._deepest:
            self._draw(1, 1, event)
        if event.anchor:
            self._name(event, None)
        self.open.append(Frame(event, is_map, self._left))

    def _end(self) -> None:
        frame = self.open.pop()
        event = frame.event
        if frame.under is not None:
            data, parts = frame.under
            data.update(frame.data)
            parts.update(frame.parts)
            frame.data, frame.parts = data, parts
        value = self.made(frame)
        if event.anchor:
            self._named[event.anchor] = _Named(value, frame.parts, frame.height, frame.before - self._left)
        if self.open and self.open[-1].height <= frame.height:
            self.open[-1].height = frame.height + 1
        self._place(value, event, frame.parts)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._named:
            raise self.error("an alias for what has no name above", event, hint="quote a text that begins with *")
        named = self._named[event.anchor]
        if named is None:
            raise self.error("an alias inside what it names", event, too_deep=True)
        self._draw(named.size, named.height, event)
        if self.open:
            self.open[-1].height = max(self.open[-1].height, named.height + 1)
        self._place(self.aliased(named.data, event), event, named.parts)

    def _place(self, value: Any, event: Any, parts: dict[Any, Mark]) -> None:
        """Put a finished value into the open map or list; without one it is the tree."""
        if not self.open:
            self.tree = value
            if self._marks:
                self.mark = Mark(_offset(event), parts)
            return
        frame = self.open[-1]
        if not frame.is_map:
            if self._marks:
                frame.parts[len(frame.data)] = Mark(_offset(event), parts)
            frame.data.append(value)
        elif frame.key is _NO_KEY:
            frame.key = self.key(frame, value, event)
            if self._marks:
                frame.key_offset = _offset(event)
        else:
            key, frame.key = frame.key, _NO_KEY
            if key is MERGE:
                key = self._merge(frame, value, event, parts)
            if key is not DROPPED:
                if self._marks:
                    self._mark(frame, key, value, event, parts)
                frame.data[key] = value

    def _mark(self, frame: Frame, key: Any, value: Any, event: Any, parts: dict[Any, Mark]) -> None:
        offset = frame.key_offset
        if self.values_stand and type(value) not in (dict, list):
            own = _offset(event)
            blank = type(event) is ScalarEvent and not event.value and (event.implicit[0] or event.tag == "!")
            if not blank and "\n" in self.text.text[offset:own]:
                offset = own
        before = frame.parts.get(key)
        frame.parts[key] = Mark(offset, parts, None if before is None else (frame.data[key], before))

    def _merge(self, frame: Frame, value: Any, event: Any, parts: dict[Any, Mark]) -> Any:
        # What is merged later counts more, and the first map of a list counts most.
        maps = [(value, parts)]
        if type(value) is list:
            maps = [(entry, parts[at].parts if self._marks else {}) for at, entry in enumerate(value)][::-1]
        if not all(type(entry) is dict for entry, _ in maps):
            return self.unmerged(event)
        if not self.merges_in_place:
            frame.under = frame.under or ({}, {})
        data, marks = frame.under or (frame.data, frame.parts)
        for entry, more in maps:
            self.merged(frame, entry, event)
            data.update(entry)
            marks.update(more)
        return DROPPED

    def _explained(self, error: yaml.YAMLError) -> DocumentError:
        text = self.text.text
        odd = Reader.NON_PRINTABLE.search(text) if isinstance(error, ReaderError) else None
        if odd:
            return self.fault(f"a character that YAML does not allow: {odd[0]!r}", odd.start())
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).partition("\n")[0]
        mark = getattr(error, "problem_mark", None)
        offset = None if mark is None else min(mark.index, len(text))
        if offset is not None and text.startswith("\t", offset):
            problem = "a tab ('\\t') where only spaces may stand"
        hint = next((hint for part, hint in _HINTS if part in problem), None)
        context, beginning = getattr(error, "context", None), getattr(error, "context_mark", None)
        details = []
        if context and beginning and mark and beginning.line != mark.line:
            details = [f"{context} that begins in line {beginning.line + 1}"]
        return self.fault(problem, offset, details=details, hint=hint)

    # --- scalars as PyYAML reads them: `yes` is true, `0644` is octal -------------------

    def constructed(self, tag: str, event: Any) -> Any:
        """The value of a scalar under a tag of YAML's own, as PyYAML makes it: `yes` is True, `0644` is octal.

        tag:    the whole tag: "tag:yaml.org,2002:int"
        raises: DocumentError, where the text is no value of that tag, or a number of too many digits
        """
        written = event.value
        is_number = tag in (f"{YAML}int", f"{YAML}float")
        try:
            if is_number and len(written) > MAX_DIGITS:
                raise NoNumber(written)
            value = _CONSTRUCT[tag](ScalarNode(tag, written, event.start_mark))
            if type(value) is int and value.bit_length() >= WIDE and too_long(value):
                raise NoNumber(written)
        except NoNumber:
            raise self.error(f"a number of more than {MAX_DIGITS} digits", event, hint="quote it") from None
        except (ValueError, LookupError, ArithmeticError, AttributeError, yaml.YAMLError) as error:
            name = tag.removeprefix(YAML)
            why = f": {error}" if name == "timestamp" and isinstance(error, ValueError) else ""
            raise self.error(f"this is not a YAML {name}{why}", event, hint="quote it") from None
        return value


def _events(parser: Any) -> Iterator[Any]:
    get = parser.get_event
    try:
        event = get()
        while event is not None:
            yield event
            event = get()
    finally:
        parser.dispose()


_resolver: Any = Resolver()
_constructor = SafeConstructor()
_CONSTRUCT: dict[str, Any] = {
    YAML + name: getattr(_constructor, f"construct_yaml_{name}")
    for name in ("int", "float", "bool", "null", "timestamp", "binary")
}


@lru_cache(maxsize=4096)
def _implied(text: str) -> str:
    return str(_resolver.resolve(ScalarNode, text, (True, False)))


def tag_of(event: Any) -> str:
    """The whole tag of a scalar: as it is written, or as its text implies: "tag:yaml.org,2002:int" for 8.

    A quoted scalar without a tag is a text: "tag:yaml.org,2002:str".
    """
    if event.tag and event.tag != "!":
        return str(event.tag)
    # libyaml and PyYAML do not agree on a lone "!"; what it stands before is read as if it were not there.
    if not (event.tag or event.implicit[0]):
        return f"{YAML}str"
    return _implied(event.value) if len(event.value) < 40 else _implied.__wrapped__(event.value)


PYTHON2 = f"{YAML}python/unicode"
"""How Python 2 wrote texts."""

_MAPS = {None: dict, "!": dict, f"{YAML}map": dict, f"{YAML}set": set}
_LISTS = {None, "!", f"{YAML}seq"}
_PAIRS = {f"{YAML}omap", f"{YAML}pairs"}


class RepeatedKey(NamedTuple):
    """A key that a map of a YAML text has a second time: its path in the tree, its line and column from 1."""

    path: tuple[Any, ...]
    line: int
    column: int


class Safe(Builder):
    """Builds the tree that PyYAML's safe loader gives: with dates, bytes, sets, and keys of any scalar type.

    A value that an alias repeats is the same object at each place. An unknown tag is an error. The readers of
    cloud-init and Ansible are subclasses.
    texts:    the tags whose scalars are texts
    repeated: a list to which a RepeatedKey is added for each key that a map has twice; None: they are not noted
    """

    texts = frozenset({f"{YAML}str", PYTHON2})
    repeated: list[RepeatedKey] | None = None

    def scalar(self, event: Any) -> Any:
        """The value of a scalar, by its tag; MERGE for the key `<<`.

        raises: DocumentError, for an unknown tag, and for a text that is no value of its tag
        """
        tag = tag_of(event)
        if tag in self.texts:
            return event.value
        if tag in _CONSTRUCT:
            return self.constructed(tag, event)
        is_key = self.open and self.open[-1].step is None
        if is_key and tag == f"{YAML}merge":
            return MERGE
        in_pair = len(self.open) > 1 and self.open[-2].event.tag in _PAIRS
        if is_key and tag == f"{YAML}value" and not in_pair:
            return event.value
        raise self._unknown_tag(event)

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        """The value itself, a scalar of any type. If the map has the key already, `repeated` gets a RepeatedKey.

        raises: DocumentError, for a map or list as a key
        """
        if type(value) in (dict, list, set):
            raise self.error("a map or list cannot be a key", event, hint="quote it, if it is meant as text")
        if self.repeated is not None and value in frame.data:
            path = tuple("<<" if one.step is MERGE else one.step for one in self.open if one.step is not None)
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            self.repeated.append(RepeatedKey((*path, value), line, column))
        return value

    def made(self, frame: Frame) -> Any:
        """The value by its tag: a map, a set, a list, or a list of pairs. raises: DocumentError, for another tag"""
        tag, data = frame.event.tag, frame.data
        if frame.is_map and tag in _MAPS:
            return data if _MAPS[tag] is dict else set(data)
        if not frame.is_map and tag in _LISTS:
            return data
        if frame.is_map or tag not in _PAIRS:
            raise self._unknown_tag(frame.event)
        if not all(type(entry) is dict and len(entry) == 1 for entry in data):
            raise self.error("each entry of an ordered map is a map of one key", frame.event)
        return [pair for entry in data for pair in entry.items()]

    def _unknown_tag(self, event: Any) -> DocumentError:
        """Make the error for an unknown tag. It does not print the tag, which may be a password that begins with !."""
        tag = str(event.tag).removeprefix(YAML)
        what = "that asks for a Python object" if tag.startswith("python/") else "that is not known here"
        return self.error(f"a tag {what}", event)

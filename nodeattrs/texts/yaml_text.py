"""YAML texts: what they say, and where each key stands.

A tree is built from the parser's events, so that no tag can run anything, nothing
recurses, and every limit holds before the memory is spent. PyYAML reads the scalars
(YAML 1.1: `yes` is true, `0644` is octal). What a node cannot hold is refused, not
guessed: bytes, sets, Python objects, NaN and infinity. Dates stay the text they are
written as. Aliases and merge keys (`<<`) give separate copies.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
)
from yaml.nodes import ScalarNode
from yaml.reader import Reader
from yaml.resolver import Resolver

from nodeattrs.core.tree import MAX_DEPTH, Path, copied
from nodeattrs.errors import DocumentError
from nodeattrs.texts.numbers import MAX_DIGITS, NoNumber
from nodeattrs.texts.places import HALF_PAIR, Mark, Reading, Text

MAX_VALUES = 1_000_000
"""The maps, lists and scalars, keys too, that a document may hold once its aliases are written out."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML = "tag:yaml.org,2002:"
_resolver: Any = Resolver()
_constructor = SafeConstructor()
_SCALARS: dict[str, Any] = {
    "int": _constructor.construct_yaml_int,
    "float": _constructor.construct_yaml_float,
    "bool": _constructor.construct_yaml_bool,
    "null": _constructor.construct_yaml_null,
}
_TEXTS = {"str", "timestamp", "value", "merge"}
_TAG_HINTS = {
    "binary": "write the bytes as text",
    "set": "write a list",
    "omap": "write a map; its order is kept",
    "pairs": "write a list of maps",
}
_HINTS = (
    ("'\\t'", "indent with spaces, not with tabs"),
    ("mapping values are not allowed", "quote a text that has a colon in it; or is the line indented too far?"),
    ("expected ':'", "is a colon, or a space after it, missing?"),
    ("expected alphabetic or numeric", "quote a text that begins with * or &"),
    ("cannot start any token", "quote a text that begins with a special character"),
    ("unexpected end of stream", "a quote is still open"),
)


def read(text: Text) -> Reading:
    """What *text* says; an empty one says null.

    A key written twice: the last one counts, with a warning. In a merge the map's own
    keys count, then those of the maps named first.

    cost:   one event a key and value
    raises: DocumentError
    """
    odd = Reader.NON_PRINTABLE.search(text.text)
    if odd:
        raise text.error(f"a character that YAML does not allow: {odd[0]!r}", odd.start())
    builder = _Builder(text)
    try:
        for event in yaml.parse(text.text, Loader=_Loader):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _explained(text, error) from error
    except RecursionError:
        raise text.error("nested deeper than the caller's stack has room for") from None
    except DocumentError:
        raise
    except (ValueError, OverflowError) as error:
        raise text.error("an escape that stands for no character") from error
    return Reading(builder.tree, lambda: builder.mark, tuple(builder.warnings))


def _explained(text: Text, error: yaml.YAMLError) -> DocumentError:
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None)
    offset = None if mark is None else min(mark.index, len(text.text))
    if offset is not None and text.text.startswith("\t", offset):
        problem = "a tab ('\\t') where only spaces may stand"
    hint = next((hint for part, hint in _HINTS if part in problem), None)
    context, beginning = getattr(error, "context", None), getattr(error, "context_mark", None)
    said = []
    if context and beginning and mark and beginning.line != mark.line:
        said = [f"{context} that begins in line {beginning.line + 1}"]
    return text.error(problem, offset, said=said, hint=hint)


def _offset(event: Event) -> int:
    return event.start_mark.index if event.start_mark else 0


class _Named(NamedTuple):
    """What an anchor names."""

    data: Any
    parts: dict[Any, Mark]
    height: int
    size: int


class _Open:
    """A map or a list whose end has not come yet."""

    __slots__ = ("anchor", "before", "data", "height", "key", "merged", "offset", "parts")

    def __init__(self, event: CollectionStartEvent, before: int) -> None:
        self.data: Any = {} if isinstance(event, MappingStartEvent) else []
        self.parts: dict[Any, Mark] = {}
        self.offset = _offset(event)
        self.anchor = event.anchor
        self.before = before
        self.height = 1
        self.key: tuple[Any, int] | None = None
        self.merged: list[tuple[dict[Any, Any], dict[Any, Mark]]] = []

    @property
    def step(self) -> Any:
        return len(self.data) if isinstance(self.data, list) else self.key and self.key[0]


_MERGE: Any = object()
"""The key `<<`, where it is not quoted."""


class _Builder:
    """Builds one tree and its marks from events, from the leaves upwards."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.tree: Any = None
        self.mark = Mark(0)
        self.warnings: list[DocumentError] = []
        self._documents = 0
        self._values = 0
        self._open: list[_Open] = []
        self._named: dict[str, _Named | None] = {}

    def take(self, event: Event) -> None:
        if isinstance(event, ScalarEvent):
            self._count(event, 1)
            value = self._scalar(event)
            if event.anchor:
                self._named[event.anchor] = _Named(value, {}, 0, 1)
            blank = event.value == "" and (event.implicit[0] or event.tag == "!")
            self._place(event, value, {}, blank=blank)
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, CollectionEndEvent):
            self._end(event)
        elif isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._error("a second document begins here", event, hint="one file holds one document")

    def _error(self, message: str, event: Event, hint: str | None = None) -> DocumentError:
        return self.text.error(message, _offset(event), path=self._path(), hint=hint)

    def _path(self) -> Path:
        """The steps to what comes next, or to the map whose key comes next."""
        steps = [frame.step for frame in self._open]
        return tuple("<<" if step is _MERGE else step for step in steps if step is not None)

    def _count(self, event: Event, more: int) -> None:
        self._values += more
        if self._values > MAX_VALUES:
            hint = "aliases are counted as often as they are used"
            raise self._error(f"holds more than {MAX_VALUES:,} values", event, hint=hint)

    def _deeper(self, event: Event, height: int) -> None:
        if len(self._open) + height > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        if self._open:
            self._open[-1].height = max(self._open[-1].height, height + 1)

    def _begin(self, event: CollectionStartEvent) -> None:
        self._deeper(event, 1)
        self._refuse_key(event)
        kind = "map" if isinstance(event, MappingStartEvent) else "seq"
        if event.tag not in (None, "!", _YAML + kind):
            raise self._unknown_tag(event)
        if event.anchor:
            self._named[event.anchor] = None
        self._open.append(_Open(event, self._values))
        self._count(event, 1)

    def _end(self, event: CollectionEndEvent) -> None:
        closed = self._open.pop()
        data, parts = closed.data, closed.parts
        if closed.merged:
            data, parts = {}, {}
            for more, more_parts in (*closed.merged, (closed.data, closed.parts)):
                data.update(more)
                parts.update(more_parts)
        if closed.anchor:
            self._named[closed.anchor] = _Named(data, parts, closed.height, self._values - closed.before)
        if self._open:
            self._open[-1].height = max(self._open[-1].height, closed.height + 1)
        self._place(event, data, parts, offset=closed.offset)

    def _alias(self, event: AliasEvent) -> None:
        if event.anchor not in self._named:
            raise self._error("an alias for what has no name above", event, hint="quote a text that begins with *")
        named = self._named[event.anchor]
        if named is None:
            raise self._error("an alias inside what it names", event)
        if named.height:
            self._refuse_key(event)
        self._deeper(event, named.height)
        self._count(event, named.size)
        self._place(event, copied(named.data), named.parts)

    def _refuse_key(self, event: Event) -> None:
        if self._open and isinstance(self._open[-1].data, dict) and self._open[-1].key is None:
            raise self._error("a map or list cannot be a key", event, hint="quote it, if it is meant as text")

    def _place(
        self, event: Event, value: Any, parts: dict[Any, Mark], *, offset: int | None = None, blank: bool = False
    ) -> None:
        """Give a finished value to what it stands in."""
        if offset is None:
            offset = _offset(event)
        if not self._open:
            self.tree, self.mark = value, Mark(offset, parts)
            return
        frame = self._open[-1]
        if isinstance(frame.data, list):
            frame.parts[len(frame.data)] = Mark(offset, parts)
            frame.data.append(value)
        elif frame.key is None:
            frame.key = self._key(event, value), offset
        else:
            key, key_offset = frame.key
            if key is _MERGE:
                self._merge(event, frame, value, parts)
            else:
                later = not isinstance(value, (dict, list)) and not blank and "\n" in self.text.text[key_offset:offset]
                frame.data[key] = value
                frame.parts[key] = Mark(offset if later else key_offset, parts)
            frame.key = None

    def _key(self, event: Event, value: Any) -> Any:
        tag = self._tag(event) if isinstance(event, ScalarEvent) else "str"
        if tag == "merge":
            return _MERGE
        if tag == "timestamp" or type(value) not in (str, int):
            written = event.value if isinstance(event, ScalarEvent) else value
            kind = {"timestamp": "date", "bool": "boolean"}.get(tag, tag)
            raise self._error(f"the key {written or 'without a text'} is a {kind}, not text", event, hint="quote it")
        frame = self._open[-1]
        if value in frame.data:
            self.warnings.append(self.text.repeated((*self._path(), value), frame.parts[value].offset, _offset(event)))
        return value

    def _merge(self, event: Event, frame: _Open, value: Any, parts: dict[Any, Mark]) -> None:
        # What is said later in `merged` counts more, and the first map of a list counts most.
        maps = [(value, parts)]
        if isinstance(value, list):
            maps = [(entry, parts[index].parts) for index, entry in enumerate(value)][::-1]
        if not all(isinstance(entry, dict) for entry, _ in maps):
            raise self._error("<< takes a map, or a list of maps", event)
        frame.merged += maps

    def _tag(self, event: ScalarEvent) -> str:
        tag = event.tag
        if tag is None or tag == "!":
            # libyaml and PyYAML do not agree on a lone "!"; what it stands before is read as if it were not there.
            implicit = (True, False) if tag else event.implicit
            tag = _resolver.resolve(ScalarNode, event.value, implicit)
        return tag.removeprefix(_YAML) if tag.startswith(_YAML) else tag

    def _scalar(self, event: ScalarEvent) -> Any:
        tag, written = self._tag(event), event.value
        if HALF_PAIR.search(written):
            raise self._error("half of a surrogate pair, which no file can hold", event)
        if tag in _TEXTS:
            return written
        construct = _SCALARS.get(tag)
        if construct is None:
            raise self._unknown_tag(event)
        if len(written) > MAX_DIGITS:
            raise self._error(f"a number of more than {MAX_DIGITS} digits", event, hint="quote it")
        try:
            value = construct(ScalarNode(_YAML + tag, written))
        except (ValueError, LookupError, ArithmeticError):
            raise self._error(f"what stands here is no {tag}", event, hint="quote it") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(NoNumber(written).message, event, hint="write null, or quote it")
        return value

    def _unknown_tag(self, event: ScalarEvent | CollectionStartEvent) -> DocumentError:
        # Only a tag of YAML's own is repeated: any other may be a password that begins with "!".
        tag = str(event.tag)
        name = tag.removeprefix(_YAML)
        if name == tag:
            return self._error("a tag that is not known here", event, hint="quote a text that begins with !")
        if name.startswith("python/"):
            return self._error(f"!!{name} asks for a Python object", event, hint="a data file holds plain data only")
        return self._error(f"!!{name} cannot be kept here", event, hint=_TAG_HINTS.get(name))

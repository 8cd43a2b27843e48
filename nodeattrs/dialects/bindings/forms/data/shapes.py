"""Descriptions of the data form: with them data is read, written, and described as a JSON Schema.

A `Shape` describes a value. A `Field` describes one key of a map, and a `Record` a map that stands for an object of one
class. `kinds` makes the tables of items and producers with them; this module knows no item. A `DocumentReading` is one
document while it is read: it notes all faults with their places, and raises them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nodeattrs.codes import Kind
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path, hint_for
from nodeattrs.dialects.bindings.codes import FORMAT
from nodeattrs.dialects.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.dialects.bindings.model.items import NOWHERE
from nodeattrs.dialects.bindings.model.types import Asked, parse_type, target_of

_Found = TypeVar("_Found")


class Malformed(Exception):
    """Raised to leave an entry of a document unread; its fault was noted before (`DocumentReading.malformed`)."""


class DocumentReading:
    """The state of reading one document: where its entries are, and the faults that were noted so far.

    First call `result_of` with a function that reads the document. That function calls the other methods. `fault` and
    `check_words` note a fault and continue. `malformed` notes a fault, and returns the exception `Malformed` for the
    caller to raise; `map`, `list` and `with_place` raise it themselves. `each` catches it, and leaves out that entry.
    At its end, `result_of` raises BindingErrors with all noted faults. `origin` gives the place of a path, and
    `locator` a locator for the entries below it.
    locate: a function (name of a set, path in the document) -> locator for that path
    set:    the name of the set that is being read, for origins; "" for none
    """

    def __init__(self, locate: Callable[[str, Path], Locator]) -> None:
        self._locate = locate
        self.set = ""
        self._faults: list[BindingError] = []

    def result_of(self, read: Callable[[], _Found]) -> _Found | None:
        """Call *read*, and return its result.

        If faults were noted before or during the call, it raises BindingErrors with all of them instead. A `Malformed`
        that *read* raises is caught; the fault for it is noted already. A RecursionError becomes a fault.
        """
        found = None
        try:
            found = read()
        except Malformed:
            pass
        except RecursionError:
            self.set = ""
            self.fault((), "the data is nested too deep")
        if self._faults:
            raise BindingErrors(self._faults)
        return found

    def each(self, read: Callable[[Any, Path], _Found], data: Iterable[Any], path: Path) -> list[_Found]:
        """The result of *read* for each entry of a list; an entry for which it raises `Malformed` is left out.

        read: a function (entry, path of the entry) -> result
        path: the path of the list in the document
        """
        found = []
        for index, entry in enumerate(data):
            try:
                found.append(read(entry, (*path, index)))
            except Malformed:
                continue
        return found

    def origin(self, path: Path) -> Origin:
        """The place of a path of the document."""
        return self.locator(path).at(())

    def locator(self, path: Path) -> Locator:
        """A locator for the entries below a path; it looks up a place at each question."""
        return self._locate(self.set, path)

    def map(self, data: Any, path: Path, what: str) -> dict[Any, Any]:
        """Return *data*, which must be a map. Anything that is not a map is noted as a fault.

        path:   the path of the data in the document
        what:   the begin of the message of the fault
        raises: Malformed, if *data* is not a map
        """
        if not isinstance(data, dict):
            raise self.malformed(path, f"{what}, and this is {_kind_in_words(data)}")
        return data

    def list(self, data: Any, path: Path, what: str) -> list[Any]:
        """Return *data*, a list or a tuple, as a list. Anything that is neither is noted as a fault.

        path:   the path of the data in the document
        what:   the begin of the message of the fault
        raises: Malformed, if *data* is neither
        """
        if not isinstance(data, (list, tuple)):
            raise self.malformed(path, f"{what}, and this is {_kind_in_words(data)}")
        return list(data)

    def check_words(self, whole: Mapping[Any, Any], words: Collection[str], path: Path, what: str) -> None:
        """Note a fault for each key of a map that is not one of these words; nothing is raised.

        whole: the map
        words: the allowed keys
        path:  the path of the map in the document
        what:  what the map is, in words, as the subject of messages: "a binding"
        """
        for name in whole:
            if name not in words:
                hint = hint_for(name, words) or f"it knows {', '.join(words)}"
                self.fault((*path, name), f"{what} has no field {name!r}", hint)

    def fault(self, path: Path, message: str, hint: str | None = None, kind: Kind = FORMAT) -> None:
        """Note a fault at a path of the document, and go on."""
        origin = self.origin(path)
        details = () if origin is NOWHERE else (f"at {origin}",)
        self._faults.append(BindingError(kind, message, origins=(origin,), details=details, hint=hint))

    def malformed(self, path: Path, message: str, hint: str | None = None, kind: Kind = FORMAT) -> Malformed:
        """Note a fault at a path; returns the exception that the caller raises to leave the entry unread."""
        self.fault(path, message, hint, kind)
        return Malformed()

    def with_place(
        self, read: Callable[..., _Found], path: Path, *given: Any, kind: Kind | None = None, what: str = ""
    ) -> _Found:
        """The result of `read(*given)`; where *read* raises a `BindingError`, a fault at the path. raises: Malformed

        kind: the kind of the fault; None: the kind of the error
        what: words before the message of the error
        """
        try:
            return read(*given)
        except BindingError as error:
            raise self.malformed(path, f"{what}{error.message}", error.hint, kind or error.kind) from None


def _kind_in_words(value: Any) -> str:
    """The kind of a value in words for messages: "a map", "nothing", "a number"."""
    if value is None:
        return "nothing"
    words = {dict: "a map", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return words.get(type(value), f"a {type(value).__name__}")


Schema = Any
"""A JSON Schema: a map, or true."""


@dataclass(frozen=True)
class Shape:
    """How one kind of value is read from data, written as data, and described by a schema.

    read:   (the reading, the data, its path) -> the value; raises Malformed. The path is for messages
    write:  the value -> data, which `read` reads as an equal value
    schema: the JSON Schema of the data
    """

    read: Callable[[DocumentReading, Any, Path], Any]
    write: Callable[[Any], Any]
    schema: Schema


@dataclass(frozen=True)
class Field:
    """One word (a key) of a map, and the attribute of an object that holds its value.

    `read_into` reads the word of a map; `write_into` writes it.
    word:      the key in the map
    shape:     how the value of the word is read and written
    attribute: the name of the attribute; "": the same as the word
    needed:    True: it is an error if the word is missing, and the word is always written
    default:   the value of the attribute if the word is missing; an attribute with this value is not written
    written:   True: the word is written even if the attribute has its default
    same_as:   the name of another attribute whose value is the default; "": *default* is used
    null:      True: *shape* reads null, as it does for a needed word; False: another word with null counts as missing
    refused:   True: the word is always an error, but a later step reports it; it is read, and is not in the schema
    """

    word: str
    shape: Shape
    attribute: str = ""
    needed: bool = False
    default: Any = None
    written: bool = False
    same_as: str = ""
    null: bool = False
    refused: bool = False

    def read_into(self, reading: DocumentReading, whole: Mapping[Any, Any], path: Path, taken: dict[str, Any]) -> None:
        """Read the word of this field from a map, and store the attribute in *taken*; if the word is missing, its
        default.

        whole:  the map
        path:   the path of the map in the document
        taken:  attribute -> value; fields that were read before are in it already, for `same_as`
        raises: Malformed, for a wrong value, and if the word is needed and missing
        """
        name, data = self.attribute or self.word, whole.get(self.word)
        if data is not None or (self.word in whole and (self.needed or self.null)):
            taken[name] = self.shape.read(reading, data, (*path, self.word))
        elif self.needed:
            raise reading.malformed(path, f"{self.word!r} is missing")
        else:
            taken[name] = taken[self.same_as] if self.same_as else self.default

    def write_into(self, model: Any, data: dict[str, Any]) -> None:
        """Put the attribute of an object into *data*, under the word of this field; an attribute with its default is
        left out.
        """
        value = getattr(model, self.attribute or self.word)
        usual = getattr(model, self.same_as) if self.same_as else self.default
        if self.needed or self.written or value != usual:
            data[self.word] = self.shape.write(value)


@dataclass(frozen=True)
class Record:
    """A map that stands for an object of one class: its words, and how they become attributes.

    `read` makes the object of a map, and `write` the map of an object, if `is_of` is true for the object. `shape` gives
    both as a `Shape`, and `schema` the JSON Schema.
    what:   the map in messages: "a bind item"
    model:  the class; only objects of exactly this class are written as this map
    fields: the words of the map; every other word is noted as a fault
    fixed:  attributes that all objects of this map have, and that are not words of the map
    make:   a function that is called with all attributes by name, and returns the object; None: the class itself
    """

    what: str
    model: type
    fields: tuple[Field, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[..., Any] | None = None

    def read(self, reading: DocumentReading, data: Any, path: Path, **more: Any) -> Any:
        """The object of a map. For an unknown word a fault is noted, and reading continues.

        data: the map
        path: its path in the document
        more: further attributes of the object, by name
        raises: Malformed, if *data* is not a map, for a wrong value, and for a missing word
        """
        whole = reading.map(data, path, f"{self.what} is a map")
        reading.check_words(whole, [one.word for one in self.fields], path, self.what)
        taken: dict[str, Any] = {}
        for one in self.fields:
            one.read_into(reading, whole, path, taken)
        return (self.make or self.model)(**more, **taken, **self.fixed)

    def write(self, model: Any) -> dict[str, Any]:
        """The map of an object of the class, without attributes that have their default."""
        data: dict[str, Any] = {}
        for one in self.fields:
            one.write_into(model, data)
        return data

    def is_of(self, model: Any) -> bool:
        """Whether an object is written as this map: it has exactly this class, and the fixed attributes."""
        return type(model) is self.model and all(getattr(model, name) == value for name, value in self.fixed.items())

    def shape(self) -> Shape:
        """The shape of a value that is such a map."""
        return Shape(self.read, self.write, self.schema())

    def schema(self, **more: Schema) -> Schema:
        """The JSON Schema of the map. more: words that are always there, beside the fields"""
        properties = {**more, **{one.word: one.shape.schema for one in self.fields if not one.refused}}
        return object_schema(properties, [*more, *(one.word for one in self.fields if one.needed)])


def object_schema(properties: Mapping[str, Schema], required: Iterable[str] = (), **more: Any) -> Schema:
    """The JSON Schema of a map with these words alone. required: words that must be there; more: further keywords"""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, **more, "properties": dict(properties)}


# --- shapes that need no other module ----------------------------------------------------------


def _same(value: Any) -> Any:
    return value


def _text(reading: DocumentReading, data: Any, path: Path) -> str:
    if not isinstance(data, str):
        raise reading.malformed(path, f"{path[-1]} is {_kind_in_words(data)}, not text")
    return data


def _text_or_null(reading: DocumentReading, data: Any, path: Path) -> str | None:
    return None if data is None else _text(reading, data, path)


def _flag(reading: DocumentReading, data: Any, path: Path) -> bool:
    if not isinstance(data, bool):
        raise reading.malformed(path, f"{path[-1]} is true or false, and this is {_kind_in_words(data)}")
    return data


def _spelled(parse: Callable[[str], Any], schema: Schema) -> Shape:
    return Shape(lambda reading, data, path: reading.with_place(parse, path, _text(reading, data, path)), str, schema)


TEXT = Shape(_text, _same, {"type": "string"})
TEXT_OR_NULL = Shape(_text_or_null, _same, {"type": ["string", "null"]})
FLAG = Shape(_flag, _same, {"type": "boolean"})
TYPE = _spelled(parse_type, {"$ref": "#/$defs/type"})
TARGET = _spelled(target_of, {"type": "string"})


def list_of(shape: Shape, what: str, least: int = 0) -> Shape:
    """The shape of a list of values of one shape; it is read as a tuple.

    what:  the start of the message for other data: "conditions are a list"
    least: the smallest number of values
    """

    def read(reading: DocumentReading, data: Any, path: Path) -> tuple[Any, ...]:
        listed = reading.list(data, path, what)
        if len(listed) < least:
            raise reading.malformed(path, what)
        return tuple(shape.read(reading, entry, (*path, index)) for index, entry in enumerate(listed))

    def write(value: Iterable[Any]) -> list[Any]:
        return [shape.write(entry) for entry in value]

    fewest = {"minItems": least} if least else {}
    return Shape(read, write, {"type": "array", **fewest, "items": shape.schema})


def map_of(shape: Shape, what: str) -> Shape:
    """The shape of a map of names to values of one shape; null is read as {}. what: as in `list_of`"""

    def read(reading: DocumentReading, data: Any, path: Path) -> dict[str, Any]:
        named = reading.map({} if data is None else data, path, what)
        return {str(name): shape.read(reading, entry, (*path, name)) for name, entry in named.items()}

    def write(value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: shape.write(entry) for name, entry in value.items()}

    return Shape(read, write, {"type": "object", "additionalProperties": shape.schema})


def _class_names(reading: DocumentReading, data: Any, path: Path) -> tuple[str, ...]:
    """Class names as a tuple: one text, or a list of texts. raises: Malformed, for an empty list"""
    what = "names is a list of class names"
    listed = [data] if isinstance(data, str) else reading.list(data, path, what)
    if not listed or not all(isinstance(name, str) and name for name in listed):
        raise reading.malformed(path, what)
    return tuple(listed)


CLASSES = Shape(_class_names, list, {"$ref": "#/$defs/names"})


def _key(reading: DocumentReading, data: Any, path: Path) -> Asked:
    """The key of a text, or of a map with a type, a name or both. raises: Malformed, for neither"""
    if isinstance(data, str):
        return Asked(None, data)
    whole = reading.map(data, path, 'a key is a name, or a map such as {"type": "Integer", "name": "x"}')
    asked: Asked = _KEY.read(reading, whole, path)
    if asked.type is None and asked.name is None:
        raise reading.malformed(path, "a key needs a type or a name")
    return asked


_KEY = Record("a key", Asked, (Field("type", TYPE), Field("name", TEXT)))
KEY = Shape(_key, _KEY.write, {"$ref": "#/$defs/key"})

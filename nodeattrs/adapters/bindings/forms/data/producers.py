"""Producers in data: one table, from which they are read, written and described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nodeattrs.adapters.bindings.forms.data.reading import Reading
from nodeattrs.adapters.bindings.forms.data.shapes import (
    KEY,
    TEXT,
    TYPE,
    Field,
    Record,
    Shape,
    list_of,
    object_schema,
)
from nodeattrs.adapters.bindings.forms.data.values import CONDITIONS, LIST, LITERAL, MAP, VALUE, looks_special
from nodeattrs.adapters.bindings.model.expressions import producing
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.producers import (
    Computed,
    Constant,
    Custom,
    FirstFound,
    HashLookup,
    Instance,
    Lookup,
    Named,
    ProducerObject,
    Producing,
    Ref,
    Series,
    Written,
)
from nodeattrs.adapters.bindings.model.queries import Query
from nodeattrs.core.tree import Path


def _read(reading: Reading, data: Any, path: Path) -> Producing:
    whole = reading.map(data, path, 'a producer is a map, such as {"value": 1}')
    kinds = [kind for kind in PRODUCERS if kind in whole]
    if len(kinds) != 1:
        raise reading.stop(path, "a producer has one of these: " + ", ".join(PRODUCERS))
    record = PRODUCERS[kinds[0]]
    reading.known(whole, record.words, path, record.what)
    made: Producing = record.read(reading, whole, path)
    return replace(made, places=reading.locator((*path, kinds[0]))) if isinstance(made, Written) else made


def _write(of: Producing) -> dict[str, Any]:
    if isinstance(of, Constant):
        return {"literal" if looks_special(of.value) else "value": VALUE.write(of.value)}
    for record in PRODUCERS.values():
        if record.tells(of):
            return record.write(of)
    raise BindingError("not-data", f"{of.describe()} has no data form", hint="bind a class or a producer by name")


PRODUCER = Shape(_read, _write, {"$ref": "#/$defs/producer"})


class _Inner(Field):
    """A word whose map holds fields of the same model."""

    def take(self, reading: Reading, whole: Mapping[Any, Any], path: Path, taken: dict[str, Any]) -> None:
        taken.update(self.shape.read(reading, whole[self.word], (*path, self.word)))

    def give(self, model: Any, data: dict[str, Any]) -> None:
        data[self.word] = self.shape.write(model)


def _inner(word: str, record: Record) -> Field:
    def read(reading: Reading, data: Any, path: Path) -> dict[str, Any]:
        whole = reading.map(data, path, f"{record.what} is a map")
        reading.known(whole, record.words, path, record.what)
        taken: dict[str, Any] = record.read(reading, whole, path)
        return taken

    return _Inner(word, Shape(read, record.write, record.schema()), needed=True)


def _hash_entry(reading: Reading, data: Any, path: Path) -> dict[str, Any]:
    whole = reading.map(data, path, "a hash look-up is a map")
    if "key" not in whole:
        raise reading.stop(path, "a hash look-up needs a key")
    asked = {word: entry for word, entry in whole.items() if word != "key"}
    return {"asked": KEY.read(reading, asked, path), "key": whole["key"]}


_HASH_ENTRY = Shape(
    _hash_entry,
    lambda of: {**KEY.write(of.asked), "key": of.key},
    object_schema(
        {"type": TYPE.schema, "name": TEXT.schema, "key": {"type": ["string", "number", "boolean"]}}, ["key"]
    ),
)


def _class_name(reading: Reading, data: Any, path: Path) -> str:
    text: str = TEXT.read(reading, data, path)
    return text.removeprefix("Type[").removesuffix("]") if text.startswith("Type[") else text


_CLASS = Shape(_class_name, str, TEXT.schema)
_CLASS_AS_TYPE = Shape(_class_name, lambda name: f"Type[{name}]", TEXT.schema)


def _of_class(word: str, model: type, shape: Shape = _CLASS, **fixed: Any) -> Record:
    arguments = (Field("args", LIST, default=()), Field("named", MAP, default={}))
    return Record(f"a {word} producer", model, (Field(word, shape, "of", needed=True), *arguments), fixed)


def _simple(word: str, model: type, shape: Shape, attribute: str, **more: Any) -> Record:
    return Record(f"a {word} producer", model, (Field(word, shape, attribute, needed=True),), **more)


_KEYS = list_of(KEY, "first_found is a list of keys")
_WHERE = Field("where", CONDITIONS, default=(), written=True)
_QUERY = Record("a query", Query, (Field("type", TYPE, needed=True), _WHERE), make=dict)

PRODUCERS: dict[str, Record] = {
    "value": _simple("value", Computed, VALUE, "expression", make=lambda expression: producing(expression)),
    "literal": _simple("literal", Constant, LITERAL, "value"),
    "lookup": _simple("lookup", Lookup, KEY, "asked"),
    "hash_lookup": Record("a hash_lookup producer", HashLookup, (_Inner("hash_lookup", _HASH_ENTRY, needed=True),)),
    "first_found": _simple("first_found", FirstFound, _KEYS, "candidates"),
    "instance": _of_class("instance", Instance),
    "series_of": _simple("series_of", Series, PRODUCER, "of"),
    "producer": _of_class("producer", Custom, _CLASS_AS_TYPE, series=False),
    "producer_series": _of_class("producer_series", Custom, _CLASS_AS_TYPE, series=True),
    "producer_object": _of_class("producer_object", ProducerObject),
    "producer_named": _simple("producer_named", Named, TEXT, "name"),
    "ref": _simple("ref", Ref, TYPE, "type"),
    "query": Record("a query producer", Query, (_inner("query", _QUERY),)),
}
"""The word that says which producer it is, and what its map holds."""

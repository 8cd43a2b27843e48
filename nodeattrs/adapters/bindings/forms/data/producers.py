"""Values, conditions and producers in data: one table of each, from which they are read, written and described.

A map with one of a few words (`interpolate`, `variable`, ...) is an expression; every expression
knows itself how it is written: `Node.to_data`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nodeattrs.adapters.bindings.codes import NOT_DATA
from nodeattrs.adapters.bindings.forms.data.shapes import (
    KEY,
    TEXT,
    TYPE,
    Field,
    Reading,
    Record,
    Shape,
    list_of,
    object_schema,
)
from nodeattrs.adapters.bindings.forms.language import parse_expression
from nodeattrs.adapters.bindings.model.expressions import (
    HashOf,
    Interpolated,
    ListOf,
    Literal,
    Node,
    Variable,
    plain,
    producing,
    settled,
)
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
from nodeattrs.adapters.bindings.model.queries import PATTERN_SIGNS, SIGNS, Condition, Query
from nodeattrs.adapters.bindings.model.values import as_data, taken_in
from nodeattrs.core.tree import Path
from nodeattrs.texts.patterns import BadPattern
from nodeattrs.texts.patterns import expression as expression_of


def expression(reading: Reading, data: Any, path: Path) -> Node:
    """The expression that some data stands for: a value alone is one too."""
    if isinstance(data, dict):
        special = _special(reading, data, path)
        if special is not None:
            return special
        return HashOf(tuple((Literal(key), expression(reading, value, (*path, key))) for key, value in data.items()))
    if isinstance(data, (list, tuple)):
        return ListOf(tuple(expression(reading, value, (*path, index)) for index, value in enumerate(data)))
    return Literal(data)


def looks_special(value: Any) -> bool:
    """Whether a plain value would be taken for an expression when it is read again."""
    if isinstance(value, dict):
        special = (len(value) == 1 and set(value) <= _WORDS.keys()) or set(value) == _LAMBDA
        return special or any(map(looks_special, value.values()))
    return isinstance(value, list) and any(map(looks_special, value))


def _special(reading: Reading, data: dict[Any, Any], path: Path) -> Node | None:
    if len(data) == 1:
        ((word, value),) = data.items()
        kind, read = _WORDS.get(word, (None, None))
        if kind is not None and read is not None and isinstance(value, kind):
            return read(reading, value, path)
    if set(data) == _LAMBDA and isinstance(data["source"], str):
        return _source(reading, data["source"], path)
    return None


def _regex(reading: Reading, text: str, path: Path) -> re.Pattern[str]:
    try:
        expression_of(text)
        return re.compile(text)
    except BadPattern as error:
        raise reading.stop(path, f"the pattern {text!r} cannot be read: {error}") from None


def _pairs(reading: Reading, data: list[Any], path: Path) -> Node | None:
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in data):
        return None
    pairs = []
    for index, (key, value) in enumerate(data):
        at = (*path, "hash", index)
        pair = expression(reading, key, (*at, 0)), expression(reading, value, (*at, 1))
        if isinstance(pair[0], (ListOf, HashOf)):
            raise reading.stop(at, "the key of a hash is a text, a number or a boolean")
        pairs.append(pair)
    return HashOf(tuple(pairs))


def _source(reading: Reading, text: str, path: Path) -> Node:
    try:
        return parse_expression(text)
    except BindingError as error:
        raise reading.stop(path, f"the expression cannot be read: {error.message}") from None


_LAMBDA = {"lambda", "source"}
_WORDS: dict[Any, tuple[type, Callable[[Reading, Any, Path], Node | None]]] = {
    "interpolate": (str, lambda reading, text, path: Interpolated(text)),
    "variable": (str, lambda reading, name, path: Variable(name)),
    "regex": (str, lambda reading, text, path: Literal(_regex(reading, text, path))),
    "hash": (list, _pairs),
    "expression": (str, _source),
}


def _collection(kind: type, write: Callable[[Any], Any], schema: Any) -> Shape:
    def read(reading: Reading, data: Any, path: Path) -> Any:
        check = reading.map if kind is dict else reading.list
        return kind(taken_in(check(data, path, f"{path[-1]} is a {'map' if kind is dict else 'list'}")))

    return Shape(read, write, schema)


def _options(reading: Reading, data: Any, path: Path) -> dict[str, Any]:
    given = reading.map(data, path, "options is a map")
    return {str(name): settled(expression(reading, value, (*path, name))) for name, value in given.items()}


def _entries(value: dict[str, Any]) -> dict[str, Any]:
    return {name: as_data(entry) for name, entry in value.items()}


_SPECIAL_WORDS = (
    "{interpolate: text}, {variable: name}, {regex: text}, {hash: [[key, value], ...]}, {expression: source}"
)
VALUE = Shape(
    expression, as_data,
    {"description": f"a value; {_SPECIAL_WORDS} and {{lambda: [...], source: text}} are worked out"},
)  # fmt: skip
LITERAL = Shape(
    lambda reading, data, path: taken_in(data), as_data, {"description": "a value, taken as it is"}
)  # fmt: skip
LIST = _collection(tuple, lambda value: [as_data(entry) for entry in value], {"type": "array"})
MAP = _collection(dict, _entries, {"type": "object"})
OPTIONS = Shape(_options, _entries, {"$ref": "#/$defs/options"})


# --- conditions --------------------------------------------------------------------------------


def _condition(reading: Reading, data: Any, path: Path) -> Condition:
    if isinstance(data, dict) and set(data) == {"or"}:
        sides = reading.list(data["or"], (*path, "or"), "or takes a list of lists of conditions")
        return ("or", *(_conditions(reading, side, (*path, "or", index)) for index, side in enumerate(sides)))
    if isinstance(data, dict) and set(data) == {"not"}:
        return "not", _conditions(reading, data["not"], (*path, "not"))
    if not isinstance(data, list) or len(data) != 3 or not isinstance(data[0], str) or data[1] not in SIGNS:
        raise reading.stop(path, f"a condition is [attribute, operator, value], the operators are {' '.join(SIGNS)}")
    wanted = plain(expression(reading, data[2], path)) if isinstance(data[2], dict) else data[2]
    if data[1] in PATTERN_SIGNS and not isinstance(wanted, re.Pattern):
        if not isinstance(wanted, str):
            raise reading.stop(path, f"{wanted!r} is no pattern")
        _regex(reading, wanted, path)
    return data[0], data[1], wanted


def _conditions(reading: Reading, data: Any, path: Path) -> tuple[Condition, ...]:
    listed = reading.list(data, path, "conditions are a list")
    return tuple(_condition(reading, one, (*path, index)) for index, one in enumerate(listed))


def _condition_data(condition: Condition) -> Any:
    if condition[0] == "or" and not isinstance(condition[1], str):
        return {"or": [_conditions_data(side) for side in condition[1:]]}
    if condition[0] == "not" and not isinstance(condition[1], str):
        return {"not": _conditions_data(condition[1])}
    return [condition[0], condition[1], as_data(condition[2])]


def _conditions_data(conditions: tuple[Condition, ...]) -> list[Any]:
    return [_condition_data(one) for one in conditions]


CONDITIONS = Shape(_conditions, _conditions_data, {"$ref": "#/$defs/conditions"})


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
        if record.is_of(of):
            return record.write(of)
    raise BindingError(NOT_DATA, f"{of.describe()} has no data form", hint="bind a class or a producer by name")


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

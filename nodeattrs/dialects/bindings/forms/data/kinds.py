"""The tables of the data form: values, queries, producers, items, sets and sites.

`PRODUCERS` and `KINDS` are tables of records: they read, write and describe producers and items. In a value, a map of
one special word (`interpolate`, `variable`, ...) is an expression of the text language. Documents are read from data or
from a parsed file; nothing is resolved here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, near
from nodeattrs.dialects.bindings.codes import FORMAT, NOT_DATA
from nodeattrs.dialects.bindings.forms.data.shapes import (
    CLASSES,
    FLAG,
    KEY,
    TARGET,
    TEXT,
    TEXT_OR_NULL,
    TYPE,
    DocumentReading,
    Field,
    Record,
    Shape,
    list_of,
    map_of,
    object_schema,
)
from nodeattrs.dialects.bindings.forms.language.reading import parse_expression
from nodeattrs.dialects.bindings.model.expressions import (
    Assign,
    HashOf,
    InterpolatedText,
    ListOf,
    Literal,
    Node,
    Variable,
    constant_value,
    producer_of,
    value_or_expression,
)
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import (
    BIND_OPTIONS,
    MULTIBIND_OPTIONS,
    NOWHERE,
    PARAMETER_OPTIONS,
    Bind,
    BindingSet,
    BoundVariables,
    Category,
    Chain,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    WhenItem,
    category,
    chain_of,
    is_parameter_map,
)
from nodeattrs.dialects.bindings.model.producers import (
    ComputedProducer,
    Condition,
    Constant,
    CustomProducer,
    FirstFound,
    HashLookup,
    Instance,
    InstanceOfType,
    Lookup,
    NamedProducer,
    ProducerBase,
    ProducerObject,
    ProducerWithPlaces,
    Query,
    Ref,
    condition,
    reference_to,
)
from nodeattrs.dialects.bindings.model.sites import Site
from nodeattrs.dialects.bindings.model.values import SIGNS, as_data, own_copy, pattern_of
from nodeattrs.formats.documents import Document

# --- values ------------------------------------------------------------------------------------


def _expression(reading: DocumentReading, data: Any, path: Path) -> Node:
    """The expression of some data; a plain value is a literal. raises: Malformed"""
    if isinstance(data, dict):
        special = _special(reading, data, path)
        if special is not None:
            return special
        return HashOf(tuple((Literal(key), _expression(reading, value, (*path, key))) for key, value in data.items()))
    if isinstance(data, (list, tuple)):
        return ListOf(tuple(_expression(reading, value, (*path, index)) for index, value in enumerate(data)))
    return Literal(data)


def _looks_special(value: Any) -> bool:
    """Whether `_expression` would read a plain value as an expression instead of a literal."""
    if isinstance(value, dict):
        special = (len(value) == 1 and set(value) <= _WORDS.keys()) or set(value) == _LAMBDA
        return special or any(map(_looks_special, value.values()))
    return isinstance(value, list) and any(map(_looks_special, value))


def _special(reading: DocumentReading, data: dict[Any, Any], path: Path) -> Node | None:
    """The expression of a map with one of the special words; None for an ordinary map."""
    if len(data) == 1:
        ((word, value),) = data.items()
        kind, read = _WORDS.get(word, (None, None))
        if kind is not None and read is not None and isinstance(value, kind):
            return read(reading, value, path)
    if set(data) == _LAMBDA and isinstance(data["source"], str):
        return _source(reading, data["source"], path)
    return None


def _regex(reading: DocumentReading, text: str, path: Path) -> Node:
    return Literal(reading.with_place(pattern_of, path, text, kind=FORMAT))


def _pairs(reading: DocumentReading, data: list[Any], path: Path) -> Node | None:
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in data):
        return None
    pairs = []
    for index, (key, value) in enumerate(data):
        at = (*path, "hash", index)
        pair = _expression(reading, key, (*at, 0)), _expression(reading, value, (*at, 1))
        if isinstance(pair[0], (ListOf, HashOf)):
            raise reading.malformed(at, "the key of a hash is a text, a number or a boolean")
        pairs.append(pair)
    return HashOf(tuple(pairs))


def _source(reading: DocumentReading, text: str, path: Path) -> Node:
    return reading.with_place(parse_expression, path, text, kind=FORMAT, what="the expression cannot be read: ")


_LAMBDA = {"lambda", "source"}
_WORDS: dict[Any, tuple[type, Callable[[DocumentReading, Any, Path], Node | None]]] = {
    "interpolate": (str, lambda reading, text, path: InterpolatedText(text)),
    "variable": (str, lambda reading, name, path: Variable(name)),
    "regex": (str, _regex),
    "hash": (list, _pairs),
    "expression": (str, _source),
}


def _list(reading: DocumentReading, data: Any, path: Path) -> tuple[Any, ...]:
    return tuple(own_copy(reading.list(data, path, f"{path[-1]} is a list")))


def _option(reading: DocumentReading, data: Any, path: Path) -> Any:
    return value_or_expression(_expression(reading, data, path))


_SPECIAL_WORDS = (
    "{interpolate: text}, {variable: name}, {regex: text}, {hash: [[key, value], ...]}, {expression: source}"
)
VALUE = Shape(
    _expression, as_data,
    {"description": f"a value; {_SPECIAL_WORDS} and {{lambda: [...], source: text}} are worked out"},
)  # fmt: skip
LITERAL = Shape(
    lambda reading, data, path: own_copy(data), as_data, {"description": "a value, taken as it is"}
)  # fmt: skip
LIST = Shape(_list, as_data, {"type": "array"})
MAP = map_of(LITERAL, "named is a map")
OPTIONS = replace(map_of(Shape(_option, as_data, {}), "options is a map"), schema={"$ref": "#/$defs/options"})


# --- conditions of queries ---------------------------------------------------------------------


def _condition(reading: DocumentReading, data: Any, path: Path) -> Condition:
    if isinstance(data, dict) and set(data) == {"or"}:
        return "or", *_SIDES_OF_OR.read(reading, data["or"], (*path, "or"))
    if isinstance(data, dict) and set(data) == {"not"}:
        return "not", CONDITIONS.read(reading, data["not"], (*path, "not"))
    if not isinstance(data, list) or len(data) != 3 or not isinstance(data[0], str) or data[1] not in SIGNS:
        raise reading.malformed(
            path, f"a condition is [attribute, operator, value], the operators are {' '.join(SIGNS)}"
        )
    wanted = constant_value(_expression(reading, data[2], path)) if isinstance(data[2], dict) else data[2]
    return reading.with_place(condition, path, data[0], data[1], wanted, kind=FORMAT)


def _condition_data(one: Condition) -> Any:
    if one[0] == "or" and not isinstance(one[1], str):
        return {"or": _SIDES_OF_OR.write(one[1:])}
    if one[0] == "not" and not isinstance(one[1], str):
        return {"not": CONDITIONS.write(one[1])}
    return as_data(one)


CONDITIONS = list_of(Shape(_condition, _condition_data, {"$ref": "#/$defs/condition"}), "conditions are a list")
_SIDES_OF_OR = list_of(CONDITIONS, "or takes a list of lists of conditions")


# --- producers ---------------------------------------------------------------------------------


def _read_producer(reading: DocumentReading, data: Any, path: Path) -> ProducerBase:
    """The producer of a map with exactly one of the words of producers. raises: Malformed"""
    whole = reading.map(data, path, 'a producer is a map, such as {"value": 1}')
    words = [word for word in PRODUCERS if word in whole]
    if len(words) != 1:
        raise reading.malformed(path, "a producer has one of these: " + ", ".join(PRODUCERS))
    made: ProducerBase = PRODUCERS[words[0]].read(reading, whole, path)
    if isinstance(made, ProducerWithPlaces) and made.places is None:
        return replace(made, places=reading.locator((*path, words[0])))
    return made


def _write_producer(of: ProducerBase) -> dict[str, Any]:
    """The map of a producer. raises: BindingError ("not-data"), for a callable"""
    if of.each_time and not isinstance(of, CustomProducer):
        return {"series_of": _write_producer(replace(of, each_time=False))}
    if isinstance(of, Constant):
        return {"literal" if _looks_special(of.value) else "value": VALUE.write(of.value)}
    if isinstance(of, InstanceOfType):
        return {"ref": f"Type[{of.of}]"}
    for record in PRODUCERS.values():
        if record.is_of(of):
            return record.write(of)
    raise BindingError(NOT_DATA, f"{of.describe()} has no data form", hint="bind a class or a producer by name")


PRODUCER = Shape(_read_producer, _write_producer, {"$ref": "#/$defs/producer"})


class _ModelField(Field):
    """A word whose map holds attributes of the model itself, not the value of one attribute."""

    def read_into(self, reading: DocumentReading, whole: Mapping[Any, Any], path: Path, taken: dict[str, Any]) -> None:
        taken.update(self.shape.read(reading, whole[self.word], (*path, self.word)))

    def write_into(self, model: Any, data: dict[str, Any]) -> None:
        data[self.word] = self.shape.write(model)


def _hash_entry(reading: DocumentReading, data: Any, path: Path) -> dict[str, Any]:
    whole = reading.map(data, path, "a hash look-up is a map")
    if "key" not in whole:
        raise reading.malformed(path, "a hash look-up needs a key")
    asked = {word: entry for word, entry in whole.items() if word != "key"}
    return {"asked": KEY.read(reading, asked, path), "key": whole["key"]}


_HASH_ENTRY = Shape(
    _hash_entry,
    lambda of: {**KEY.write(of.asked), "key": of.key},
    object_schema(
        {"type": TYPE.schema, "name": TEXT.schema, "key": {"type": ["string", "number", "boolean"]}}, ["key"]
    ),
)


def _class_name(reading: DocumentReading, data: Any, path: Path) -> str:
    text: str = TEXT.read(reading, data, path)
    return text.removeprefix("Type[").removesuffix("]") if text.startswith("Type[") else text


_CLASS = Shape(_class_name, str, TEXT.schema)
_CLASS_AS_TYPE = Shape(_class_name, lambda name: f"Type[{name}]", TEXT.schema)


def _of_class(word: str, model: type, shape: Shape = _CLASS, **fixed: Any) -> Record:
    arguments = (Field("args", LIST, default=()), Field("named", MAP, default={}))
    return Record(f"a {word} producer", model, (Field(word, shape, "of", needed=True), *arguments), fixed)


def _simple(word: str, model: type, shape: Shape, attribute: str, **more: Any) -> Record:
    return Record(f"a {word} producer", model, (Field(word, shape, attribute, needed=True),), **more)


def _each_time(of: ProducerBase) -> ProducerBase:
    return replace(of, each_time=True)


_KEYS = list_of(KEY, "first_found is a list of keys")
_WHERE = Field("where", CONDITIONS, default=(), written=True)
_QUERY = Record("a query", Query, (Field("type", TYPE, needed=True), _WHERE), make=dict)

PRODUCERS: dict[str, Record] = {
    "value": _simple("value", ComputedProducer, VALUE, "expression", make=producer_of),
    "literal": _simple("literal", Constant, LITERAL, "value"),
    "lookup": _simple("lookup", Lookup, KEY, "asked"),
    "hash_lookup": Record(
        "a hash_lookup producer", HashLookup, (_ModelField("hash_lookup", _HASH_ENTRY, needed=True),)
    ),
    "first_found": _simple("first_found", FirstFound, _KEYS, "candidates"),
    "instance": _of_class("instance", Instance),
    "series_of": _simple("series_of", ProducerBase, PRODUCER, "of", make=_each_time),
    "producer": _of_class("producer", CustomProducer, _CLASS_AS_TYPE, each_time=False),
    "producer_series": _of_class("producer_series", CustomProducer, _CLASS_AS_TYPE, each_time=True),
    "producer_object": _of_class("producer_object", ProducerObject),
    "producer_named": _simple("producer_named", NamedProducer, TEXT, "name"),
    "ref": _simple("ref", Ref, TYPE, "type", make=reference_to),
    "query": Record("a query producer", Query, (_ModelField("query", _QUERY.shape(), needed=True),)),
}
"""The word of a producer -> the map of the producer."""


# --- items -------------------------------------------------------------------------------------


def _read_items(reading: DocumentReading, data: Any, path: Path) -> tuple[Item, ...]:
    listed = reading.list(data, path, "items is a list")
    return tuple(reading.each(lambda one, at: _read_item(reading, one, at), listed, path))


def _read_item(reading: DocumentReading, data: Any, path: Path) -> Item:
    """The item of a map, by its `kind`. raises: Malformed, for an unknown kind"""
    whole = reading.map(data, path, "an item is a map")
    kind = whole.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        close = near(kind, KINDS) or list(KINDS)
        raise reading.malformed(path, f"an item has the kind {kind!r}", f"did you mean {', '.join(close)}?")
    fields = {word: entry for word, entry in whole.items() if word != "kind"}
    item: Item = KINDS[kind].read(reading, fields, path, origin=reading.origin(path))
    return item


def _write_item(item: Item) -> dict[str, Any]:
    for kind, record in KINDS.items():
        if record.is_of(item):
            return {"kind": kind, **record.write(item)}
    raise BindingError(NOT_DATA, f"{item!r} has no data form")


ITEMS = Shape(_read_items, lambda items: [_write_item(item) for item in items], {"$ref": "#/$defs/items"})


# --- what single items hold --------------------------------------------------------------------

_ALTERNATIVES = 'a condition is a list of alternatives, each a list of [category, value]: [[["node", "web1"]]]'


def _category(reading: DocumentReading, data: Any, path: Path) -> Category:
    if not isinstance(data, list) or len(data) != 2 or not all(isinstance(one, (str, int, float)) for one in data):
        raise reading.malformed(path, _ALTERNATIVES)
    return category(*data)


_CATEGORY = Shape(
    _category, as_data,
    {
        "type": "array", "minItems": 2, "maxItems": 2, "description": "[category, value]",
        "items": {"type": ["string", "number", "boolean"]},
    },
)  # fmt: skip
_CONDITION = list_of(list_of(_CATEGORY, _ALTERNATIVES, least=1), _ALTERNATIVES, least=1)


def _read_map(reading: DocumentReading, data: Any, path: Path) -> dict[str, str]:
    if not isinstance(data, dict) or not is_parameter_map(data):
        raise reading.malformed(path, "map is a map of parameter names")
    return dict(data)


_MAP = Shape(_read_map, dict, {"type": "object", "additionalProperties": {"type": "string"}})


def _read_chain(reading: DocumentReading, data: Any, path: Path) -> Chain:
    links = reading.list(data, path, "chain is a list of references and arrows in turn")
    return reading.with_place(chain_of, path, links, kind=FORMAT)


_CHAIN = Shape(
    _read_chain,
    as_data,
    {
        "type": "array",
        "minItems": 3,
        "description": "references and arrows in turn",
        "items": {"anyOf": [TEXT.schema, {"type": "array", "items": TEXT.schema}]},
    },
)

_BOUND_TO_A_HASH = "variables are bound to a hash of values"


class _Values(Field):
    """The word `to` of variables: a hash of values, or for abstract variables the names that must be bound."""

    def read_into(self, reading: DocumentReading, whole: Mapping[Any, Any], path: Path, taken: dict[str, Any]) -> None:
        at = (*path, "to")
        to = reading.map(whole.get("to"), at, 'variables are bound with "to": {"value": {...}}')
        if set(to) - {"value", "literal"} or len(to) != 1:
            raise reading.malformed(at, _BOUND_TO_A_HASH)
        ((word, given),) = to.items()
        at = (*at, word)
        if taken["abstract"]:
            taken["values"] = dict.fromkeys(CLASSES.read(reading, given, at))
            taken["single"] = isinstance(given, str)
            return
        taken["values"] = values = {}
        for name, value in reading.map(given, at, _BOUND_TO_A_HASH).items():
            node = Literal(own_copy(value)) if word == "literal" else _expression(reading, value, (*at, name))
            values[str(name)] = producer_of(node, reading.locator((*at, name)))

    def write_into(self, model: Any, data: dict[str, Any]) -> None:
        names = list(model.values)
        if model.abstract:
            data["to"] = {"value": names[0] if model.single else names}
        else:
            data["to"] = {"value": {name: PRODUCER.write(of).popitem()[1] for name, of in model.values.items()}}


_VALUES = _Values(
    "to",
    Shape(
        LITERAL.read,
        LITERAL.write,
        object_schema(
            {"value": {"anyOf": [{"type": "object"}, CLASSES.schema]}, "literal": {"type": "object"}},
            minProperties=1,
            maxProperties=1,
        ),
    ),
    needed=True,
)
_FLAGS = tuple(Field(flag, FLAG, default=False) for flag in ("abstract", "override", "final", "optional"))
_TYPE = Field("type", TYPE)
_NAME = Field("name", TEXT)
_TO = Field("to", PRODUCER)
_REFUSED_TO = Field("to", PRODUCER, refused=True)
_INTO = Field("in", TEXT, "into")
_OPTIONS = Field("options", OPTIONS, default={})
_KEY = Field("key", KEY, needed=True)
_AS_KEY = Field("as", KEY, "target", needed=True)
_NAMES = Field("names", CLASSES, needed=True)


def _record(kind: str, model: type, *fields: Field, make: Callable[..., Any] | None = None, **fixed: Any) -> Record:
    return Record(f"a {kind} item", model, fields, fixed, make)


def _rebind(key: Any, **fields: Any) -> Rebinding:
    return Rebinding(key=key, target=key, **fields)


KINDS: dict[str, Record] = {
    "bind": _record("bind", Bind, _TYPE, _NAME, *_FLAGS, _TO, _INTO, _OPTIONS),
    "multibind": _record(
        "multibind",
        Multibind,
        _TYPE,
        _NAME,
        *_FLAGS,
        Field("as", TEXT_OR_NULL, "id", same_as="name", null=True),
        _TO,
        _INTO,
        _OPTIONS,
    ),
    "when": _record(
        "when",
        WhenItem,
        Field("if", _CONDITION, "alternatives", needed=True),
        Field("items", ITEMS, default=(), written=True),
    ),
    "alias": _record("alias", Rebinding, _KEY, _AS_KEY, *_FLAGS, _REFUSED_TO, verb="alias"),
    "renamed": _record("renamed", Rebinding, _KEY, _AS_KEY, *_FLAGS, _REFUSED_TO, verb="renamed"),
    "rebind": _record("rebind", Rebinding, _KEY, *_FLAGS, _REFUSED_TO, make=_rebind, verb="rebind"),
    "include": _record("include", Inclusion, _NAMES, exclude=False),
    "exclude": _record("exclude", Inclusion, _NAMES, exclude=True),
    "parameters": _record("parameters", Parameters, Field("target", TARGET, needed=True), *_FLAGS, _TO, _OPTIONS),
    "map": _record(
        "map",
        ParameterMap,
        Field("lhs", TARGET, needed=True),
        Field("rhs", TARGET, needed=True),
        *_FLAGS,
        Field("map", _MAP, needed=True),
    ),
    "variables": _record("variables", BoundVariables, _TYPE, *_FLAGS, _VALUES),
    "dependency": _record("dependency", Dependency, Field("chain", _CHAIN, needed=True)),
}
"""`kind` of an item -> the map of the item."""

VERSION = 1
"""The version of the data form that is written."""

_WORD = {"type": "string", "minLength": 1}


def schema() -> dict[str, Any]:
    """The JSON Schema of the data form of sets, for editors and other languages; sites are not in it."""
    version = {"const": VERSION}
    kinds = {kind: record.schema(kind={"const": kind}) for kind, record in KINDS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:nodeattrs:bindings:{VERSION}",
        "title": f"Bindings, version {VERSION}",
        "description": "Sets of bindings as data. docs/bindings.md says what they mean.",
        "anyOf": [object_schema({"version": version, "sets": _many("set")}, ["sets"]), _reference("set")],
        "$defs": {
            "set": object_schema(
                {"version": version, "name": TEXT.schema, "items": ITEMS.schema}, ["name", "items"]
            ),
            "items": _many("item"),
            "item": {"oneOf": [_reference(kind) for kind in kinds]},
            **kinds,
            "producer": {"oneOf": [record.schema() for record in PRODUCERS.values()]},
            **_parts(),
        },
    }  # fmt: skip


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _many(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _reference(name)}


def _parts() -> dict[str, Any]:
    """The schemas that several kinds refer to, by name."""
    options = sorted(BIND_OPTIONS | MULTIBIND_OPTIONS | PARAMETER_OPTIONS)
    comparison = {
        "type": "array", "minItems": 3, "maxItems": 3, "prefixItems": [TEXT.schema, {"enum": list(SIGNS)}, True],
    }  # fmt: skip
    either = {"type": "array", "items": CONDITIONS.schema}
    return {
        "type": {**_WORD, "description": "such as Integer, Array[String], Hash[String,Data], Type[Logger], Class[ntp]"},
        "names": {"anyOf": [_WORD, {"type": "array", "minItems": 1, "items": _WORD}]},
        "options": {"type": "object", "description": ", ".join(options)},
        "key": {
            "anyOf": [TEXT.schema, object_schema({"type": TYPE.schema, "name": TEXT.schema}, minProperties=1)]
        },
        "condition": {
            "oneOf": [
                comparison,
                object_schema({"or": either}, ["or"]),
                object_schema({"not": CONDITIONS.schema}, ["not"]),
            ]
        },
    }  # fmt: skip


def _listed_category(reading: DocumentReading, data: Any, path: Path) -> list[Any]:
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str):
        raise reading.malformed(path, "a category is [name, value]")
    return [data[0], VALUE.read(reading, data[1], (*path, 1))]


def _layer(reading: DocumentReading, data: Any, path: Path) -> dict[str, Any]:
    layer: dict[str, Any] = _LAYER.read(reading, data, path)
    sides = {side: list(layer[side]) for side in ("include", "exclude") if layer[side]}
    return {"name": layer["name"], **sides}


_REFERENCES = Shape(lambda reading, data, path: CLASSES.read(reading, data, path) if data else (), list, CLASSES.schema)
_LAYER = Record(
    "a layer", dict, (Field("name", TEXT, needed=True), Field("include", _REFERENCES), Field("exclude", _REFERENCES)),
    make=dict,
)  # fmt: skip
_ATTRIBUTES = map_of(VALUE, "attributes are a map")
_DYNAMIC = Record(
    "dynamic", dict, (Field("dir", VALUE, default=Literal(None)), Field("attrs", _ATTRIBUTES, default={})), make=dict
)
_CATEGORIES = list_of(Shape(_listed_category, as_data, {}), "categories is a list of [name, value], the highest first")
_SITE = Record(
    "a site",
    dict,
    (
        Field("defaults", _ATTRIBUTES),
        Field("environments", map_of(_ATTRIBUTES, "environments is a map")),
        Field("dynamic", _DYNAMIC.shape()),
        Field("categories", _CATEGORIES),
        Field("layers", list_of(Shape(_layer, as_data, {}), "layers is a list, the highest first")),
    ),
    make=dict,
)
_SITE_FILE = Record(
    "a site description",
    dict,
    (Field("version", LITERAL), Field("site", _SITE.shape()), Field("assign", map_of(VALUE, "assign is a map"))),
    make=dict,
)


def _site(reading: DocumentReading, data: Any) -> Site:
    """The site of a document: `{"site": {...}, "assign": {...}}`."""
    whole = _SITE_FILE.read(reading, {} if data is None else data, ())
    found = Site(statements=[Assign("", name, value) for name, value in (whole["assign"] or {}).items()])
    if whole["site"] is not None:
        found.parts = {name: part for name, part in whole["site"].items() if part is not None}
    categories, layers = found.listed("categories") or (), found.listed("layers") or ()
    found.listed_at = {name: reading.origin(("site", "categories", at)) for at, (name, _) in enumerate(categories)}
    found.layers_at = [reading.origin(("site", "layers", at)) for at, _ in enumerate(layers)]
    return found


def sets_from_data(data: Any, origin: Origin = NOWHERE) -> list[BindingSet]:
    """The sets of some data: `{"version": 1, "sets": [{"name": ..., "items": [...]}]}`, or one set alone.

    origin: the place that all items get
    raises: BindingErrors, with each fault of the data; also for None and other data than a map

    >>> [one.name for one in sets_from_data({"name": "a::default", "items": []})]
    ['a::default']
    """
    reading = DocumentReading(lambda name, path: origin)  # one place for all paths
    return reading.result_of(lambda: _sets(reading, data)) or []


@checked_args(document=Document)
def sets_from_document(document: Document) -> list[BindingSet]:
    """The sets of a parsed file; each item has its line. raises: BindingErrors, also for an empty file"""
    reading = DocumentReading(partial(document.locator, "bindings"))
    return reading.result_of(lambda: _sets(reading, document.tree)) or []


@checked_args(document=Document)
def site_from_document(document: Document) -> Site:
    """The site of a parsed file: `{"site": {...}, "assign": {...}}`; an empty file is an empty site.

    raises: BindingErrors
    """
    reading = DocumentReading(partial(document.locator, "bindings"))
    return reading.result_of(lambda: _site(reading, document.tree)) or Site()


def _sets(reading: DocumentReading, data: Any) -> list[BindingSet]:
    """The sets of a document; an entry with a fault is left out. raises: Malformed, for another document"""
    whole = reading.map(data, (), "a document of bindings is a map")
    if "items" in whole:
        return [_set(reading, whole, ())]
    reading.check_words(whole, ("version", "sets"), (), "the document")
    if whole.get("version", VERSION) != VERSION:
        reading.fault(("version",), f"version {whole['version']!r} of the form is not known", f"known is {VERSION}")
    listed = reading.list(whole.get("sets"), ("sets",), "sets is a list")
    return reading.each(lambda one, path: _set(reading, one, path), listed, ("sets",))


def _set(reading: DocumentReading, data: Any, path: Path) -> BindingSet:
    """The set of a map, with its items. raises: Malformed, for a map without a name"""
    whole = reading.map(data, path, "a set is a map")
    reading.check_words(whole, ("version", "name", "items"), path, "a set")
    name = reading.set = TEXT.read(reading, whole.get("name"), (*path, "name"))
    items = ITEMS.read(reading, whole.get("items", []), (*path, "items"))
    return BindingSet(name, items, reading.origin(path))


@checked_args(sets=BindingSet | list)
def to_data(sets: BindingSet | list[BindingSet]) -> dict[str, Any]:
    """The data form of one set, or of a list of sets; `sets_from_data` returns equal sets for it.

    raises: BindingError ("not-data"), for a callable (name it with `functions`), and for a set that was not read

    >>> from nodeattrs.dialects.bindings.forms.builder import Bindings
    >>> one = Bindings("a")
    >>> _ = one.bind("x").to(1)
    >>> to_data(one.to_set())
    {'name': 'a', 'items': [{'kind': 'bind', 'name': 'x', 'to': {'value': 1}}]}
    """
    if not isinstance(sets, BindingSet):
        return {"version": VERSION, "sets": [to_data(one) for one in sets]}
    if sets.unread:
        raise BindingError(NOT_DATA, f"what the set {sets.name} binds is not known: {sets.unread}")
    try:
        return {"name": sets.name, "items": ITEMS.write(sets.items)}
    except RecursionError:
        raise BindingError(NOT_DATA, f"the set {sets.name} is nested too deep to be written") from None

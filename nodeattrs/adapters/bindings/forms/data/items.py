"""Items in data: one table, from which they are read, written and described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.adapters.bindings.codes import NOT_DATA
from nodeattrs.adapters.bindings.forms.data.producers import LITERAL, OPTIONS, PRODUCER, expression
from nodeattrs.adapters.bindings.forms.data.shapes import (
    CLASSES,
    FLAG,
    KEY,
    TARGET,
    TEXT,
    TEXT_OR_NULL,
    TYPE,
    Field,
    Reading,
    Record,
    Shape,
    object_schema,
)
from nodeattrs.adapters.bindings.model.expressions import Literal, Node, producing
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import (
    Bind,
    Category,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    Variables,
    When,
)
from nodeattrs.adapters.bindings.model.types import parse_type
from nodeattrs.core.tree import Path, near


def _read_items(reading: Reading, data: Any, path: Path) -> tuple[Item, ...]:
    listed = reading.list(data, path, "items is a list")
    return tuple(reading.each(lambda one, at: _read_item(reading, one, at), listed, path))


def _read_item(reading: Reading, data: Any, path: Path) -> Item:
    whole = reading.map(data, path, "an item is a map")
    kind = whole.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        close = near(kind, KINDS) or list(KINDS)
        raise reading.stop(path, f"an item has the kind {kind!r}", f"did you mean {', '.join(close)}?")
    record = KINDS[kind]
    reading.known(whole, record.words, path, record.what, "kind")
    item: Item = record.read(reading, whole, path, origin=reading.origin(path))
    return item


def _write_item(item: Item) -> dict[str, Any]:
    for kind, record in KINDS.items():
        if record.is_of(item):
            return {"kind": kind, **record.write(item)}
    raise BindingError(NOT_DATA, f"{item!r} has no data form")


ITEMS = Shape(_read_items, lambda items: [_write_item(item) for item in items], {"$ref": "#/$defs/items"})


# --- shapes of single items --------------------------------------------------------------------

_ALTERNATIVES = 'a condition is a list of alternatives, each a list of [category, value]: [[["node", "web1"]]]'


def _read_alternatives(reading: Reading, data: Any, path: Path) -> tuple[tuple[Category, ...], ...]:
    listed = reading.list(data, path, _ALTERNATIVES)
    if not listed:
        raise reading.stop(path, _ALTERNATIVES)
    return tuple(_read_conjunction(reading, one, (*path, index)) for index, one in enumerate(listed))


def _read_conjunction(reading: Reading, data: Any, path: Path) -> tuple[Category, ...]:
    pairs = reading.list(data, path, _ALTERNATIVES)
    for index, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_scalar, pair)):
            raise reading.stop((*path, index), _ALTERNATIVES)
    if not pairs:
        raise reading.stop(path, _ALTERNATIVES)
    return tuple((str(name), str(value).lower() if isinstance(value, bool) else str(value)) for name, value in pairs)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _many(items: Any, **more: Any) -> Any:
    return {"type": "array", "minItems": 1, **more, "items": items}


_CONDITION = Shape(
    _read_alternatives,
    lambda alternatives: [[list(pair) for pair in one] for one in alternatives],
    _many(
        _many({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["string", "number", "boolean"]}}),
        description="alternatives; each is a conjunction of [category, value]",
    ),
)


def _read_map(reading: Reading, data: Any, path: Path) -> dict[str, str]:
    pairs = reading.map(data, path, "map is a map of parameter names")
    if not all(isinstance(name, str) for pair in pairs.items() for name in pair):
        raise reading.stop(path, "map is a map of parameter names")
    return dict(pairs)


_MAP = Shape(_read_map, dict, {"type": "object", "additionalProperties": {"type": "string"}})


def _read_chain(reading: Reading, data: Any, path: Path) -> tuple[tuple[str, ...] | str, ...]:
    chain = reading.list(data, path, "chain is a list of references and arrows in turn")
    read = (_read_arrow if index % 2 else _read_references for index in range(len(chain)))
    links = tuple(one(reading, link, (*path, index)) for index, (one, link) in enumerate(zip(read, chain, strict=True)))
    if len(links) < 3 or not len(links) % 2:
        raise reading.stop(path, "a dependency needs a reference on both sides of each arrow")
    return links


def _read_arrow(reading: Reading, data: Any, path: Path) -> str:
    if data not in ("->", "~>"):
        raise reading.stop(path, f"{data!r} is no arrow", "arrows are -> and ~>")
    return str(data)


def _read_references(reading: Reading, data: Any, path: Path) -> tuple[str, ...]:
    texts = [data] if isinstance(data, str) else reading.list(data, path, "references are texts")
    return tuple(str(reading.tried(parse_type, str(text), path)) for text in texts)


_CHAIN = Shape(
    _read_chain,
    lambda chain: [list(link) if isinstance(link, tuple) else link for link in chain],
    {
        "type": "array",
        "minItems": 3,
        "description": "references and arrows in turn",
        "items": {"anyOf": [TEXT.schema, {"type": "array", "items": TEXT.schema}]},
    },
)

_BOUND_TO_A_HASH = "variables are bound to a hash of values"


class _Values(Field):
    """What variables are bound to: a hash of values, or the names that somebody has to bind."""

    def take(self, reading: Reading, whole: Mapping[Any, Any], path: Path, taken: dict[str, Any]) -> None:
        at = (*path, "to")
        to = reading.map(whole.get("to"), at, 'variables are bound with "to": {"value": {...}}')
        if set(to) - {"value", "literal"} or len(to) != 1:
            raise reading.stop(at, _BOUND_TO_A_HASH)
        ((word, given),) = to.items()
        at = (*at, word)
        if taken["abstract"]:
            taken["values"] = dict.fromkeys(CLASSES.read(reading, given, at))
            taken["single"] = isinstance(given, str)
            return
        named = reading.map(given, at, _BOUND_TO_A_HASH).items()
        if word == "literal":
            read: dict[Any, Node] = {name: Literal(LITERAL.read(reading, value, at)) for name, value in named}
        else:
            read = {name: expression(reading, value, (*at, name)) for name, value in named}
        taken["values"] = {str(name): producing(node, reading.locator((*at, name))) for name, node in read.items()}

    def give(self, model: Any, data: dict[str, Any]) -> None:
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


# --- the table -----------------------------------------------------------------------------------

_FLAGS = tuple(Field(flag, FLAG, default=False) for flag in ("abstract", "override", "final", "optional"))
_TYPE = Field("type", TYPE)
_NAME = Field("name", TEXT)
_TO = Field("to", PRODUCER)
_REFUSED_TO = Field("to", PRODUCER, refused=True)
_INTO = Field("in", TEXT, "into")
_OPTIONS = Field("options", OPTIONS, default={})
_ID = Field("as", TEXT_OR_NULL, "id", same_as="name", null=True)
_KEY = Field("key", KEY, needed=True)
_AS_KEY = Field("as", KEY, "target", needed=True)
_NAMES = Field("names", CLASSES, needed=True)
_IF = Field("if", _CONDITION, "alternatives", needed=True)
_ITEMS = Field("items", ITEMS, default=(), written=True)
_TARGET = Field("target", TARGET, needed=True)
_SIDES = (Field("lhs", TARGET, needed=True), Field("rhs", TARGET, needed=True))


def _record(kind: str, model: type, *fields: Field, copies: Mapping[str, str] | None = None, **fixed: Any) -> Record:
    return Record(f"a {kind} item", model, fields, fixed, copies or {})


KINDS: dict[str, Record] = {
    "bind": _record("bind", Bind, _TYPE, _NAME, *_FLAGS, _TO, _INTO, _OPTIONS),
    "multibind": _record("multibind", Multibind, _TYPE, _NAME, *_FLAGS, _ID, _TO, _INTO, _OPTIONS),
    "when": _record("when", When, _IF, _ITEMS),
    "alias": _record("alias", Rebinding, _KEY, _AS_KEY, *_FLAGS, _REFUSED_TO, verb="alias"),
    "renamed": _record("renamed", Rebinding, _KEY, _AS_KEY, *_FLAGS, _REFUSED_TO, verb="renamed"),
    "rebind": _record("rebind", Rebinding, _KEY, *_FLAGS, _REFUSED_TO, copies={"target": "key"}, verb="rebind"),
    "include": _record("include", Inclusion, _NAMES, exclude=False),
    "exclude": _record("exclude", Inclusion, _NAMES, exclude=True),
    "parameters": _record("parameters", Parameters, _TARGET, *_FLAGS, _TO, _OPTIONS),
    "map": _record("map", ParameterMap, *_SIDES, *_FLAGS, Field("map", _MAP, needed=True)),
    "variables": _record("variables", Variables, _TYPE, *_FLAGS, _VALUES),
    "dependency": _record("dependency", Dependency, Field("chain", _CHAIN, needed=True)),
}
"""What an item calls itself, and what its map holds."""

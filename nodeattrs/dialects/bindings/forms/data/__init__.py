"""The data form: sets of bindings as plain JSON or YAML data, read, written and described.

Two tables (`kinds.KINDS`, `kinds.PRODUCERS`) say what it looks like; reading, writing and
the schema all follow them. All faults of a document are reported together, each with its line.
The order of fields means nothing. A site has a data form too, not evaluated yet; `Site.to_dict` writes it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.dialects.bindings.codes import NOT_DATA
from nodeattrs.dialects.bindings.forms.data.kinds import CONDITIONS, ITEMS, KINDS, LITERAL, PRODUCERS, VALUE
from nodeattrs.dialects.bindings.forms.data.shapes import (
    CLASSES,
    TEXT,
    TYPE,
    Field,
    Reading,
    Record,
    Shape,
    list_of,
    map_of,
    object_schema,
)
from nodeattrs.dialects.bindings.model.expressions import Assign, Literal
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import (
    BIND_OPTIONS,
    MULTIBIND_OPTIONS,
    NOWHERE,
    PARAMETER_OPTIONS,
    BindingSet,
)
from nodeattrs.dialects.bindings.model.sites import Site
from nodeattrs.dialects.bindings.model.values import SIGNS, as_data
from nodeattrs.formats.documents import Document

VERSION = 1
"""The version of the data form that is written."""

_WORD = {"type": "string", "minLength": 1}


def schema() -> dict[str, Any]:
    """The JSON Schema of the data form, for tools and other languages."""
    version = {"const": VERSION}
    kinds = {kind: record.schema(kind={"const": kind}) for kind, record in KINDS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:nodeattrs:bindings:{VERSION}",
        "title": f"Bindings, version {VERSION}",
        "description": "Sets of bindings as data. docs/bindings.md says what they mean.",
        "anyOf": [object_schema({"version": version, "sets": _list("set")}, ["sets"]), _reference("set")],
        "$defs": {
            "set": object_schema(
                {"version": version, "name": TEXT.schema, "items": ITEMS.schema}, ["name", "items"]
            ),
            "items": _list("item"),
            "item": {"oneOf": [_reference(kind) for kind in kinds]},
            **kinds,
            "producer": {"oneOf": [record.schema() for record in PRODUCERS.values()]},
            **_parts(),
        },
    }  # fmt: skip


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _reference(name)}


def _parts() -> dict[str, Any]:
    """What several kinds refer to."""
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


def _category(reading: Reading, data: Any, path: Path) -> list[Any]:
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str):
        raise reading.stop(path, "a category is [name, value]")
    return [data[0], VALUE.read(reading, data[1], (*path, 1))]


def _layer(reading: Reading, data: Any, path: Path) -> dict[str, Any]:
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
_CATEGORIES = list_of(Shape(_category, as_data, {}), "categories is a list of [name, value], the highest first")
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


def _site(reading: Reading, data: Any) -> Site:
    """The site of a document: `{"site": {...}, "assign": {...}}`."""
    whole = _SITE_FILE.read(reading, {} if data is None else data, ())
    found = Site(statements=[Assign("", name, value) for name, value in (whole["assign"] or {}).items()])
    if whole["site"] is not None:
        found.parts = {name: part for name, part in whole["site"].items() if part is not None}
    for index, (name, _) in enumerate(found.listed("categories") or ()):
        found.listed_at[name] = reading.origin(("site", "categories", index))
    for index, _ in enumerate(found.listed("layers") or ()):
        found.layers_at.append(reading.origin(("site", "layers", index)))
    return found


def sets_from_data(data: Any, origin: Origin = NOWHERE) -> list[BindingSet]:
    """The sets of some data: `{"version": 1, "sets": [{"name": ..., "items": [...]}]}`, or one set alone.

    origin: where the data comes from
    raises: BindingErrors, with everything that is malformed

    >>> [one.name for one in sets_from_data({"name": "a::default", "items": []})]
    ['a::default']
    """
    reading = Reading(lambda name, path: origin)  # a place that knows no other
    return reading.guarded(lambda: _sets(reading, data)) or []


@taking(document=Document)
def sets_from_document(document: Document) -> list[BindingSet]:
    """The sets of a document that was read; each item knows its line. raises: BindingErrors"""
    reading = Reading(partial(document.locator, "bindings"))
    return reading.guarded(lambda: _sets(reading, document.tree)) or []


@taking(document=Document)
def site_from_document(document: Document) -> Site:
    """What a site says, from its data form: `{"site": {...}, "assign": {...}}`. raises: BindingErrors"""
    reading = Reading(partial(document.locator, "bindings"))
    return reading.guarded(lambda: _site(reading, document.tree)) or Site()


def _sets(reading: Reading, data: Any) -> list[BindingSet]:
    whole = reading.map(data, (), "a document of bindings is a map")
    if "items" in whole:
        return [_set(reading, whole, ())]
    reading.known(whole, ("version", "sets"), (), "the document")
    if whole.get("version", VERSION) != VERSION:
        reading.fault(("version",), f"version {whole['version']!r} of the form is not known", f"known is {VERSION}")
    listed = reading.list(whole.get("sets"), ("sets",), "sets is a list")
    return reading.each(lambda one, path: _set(reading, one, path), listed, ("sets",))


def _set(reading: Reading, data: Any, path: Path) -> BindingSet:
    whole = reading.map(data, path, "a set is a map")
    reading.known(whole, ("version", "name", "items"), path, "a set")
    name = reading.set = TEXT.read(reading, whole.get("name"), (*path, "name"))
    items = ITEMS.read(reading, whole.get("items", []), (*path, "items"))
    return BindingSet(name, items, reading.origin(path))


@taking(sets=BindingSet | list)
def to_data(sets: BindingSet | list[BindingSet]) -> dict[str, Any]:
    """The data form of one set or several; `sets_from_data` reads it back.

    raises: BindingError ("not-data"), for callables: give them a name with `functions`

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

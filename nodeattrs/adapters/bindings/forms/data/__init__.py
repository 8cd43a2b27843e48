"""The data form: sets of bindings as plain JSON or YAML data, read, written and described.

Two tables (`items.KINDS`, `producers.PRODUCERS`) say what it looks like; reading, writing and
the schema all follow them. All faults of a document are reported together, each with its line.
The order of fields means nothing. A site has a data form too, not evaluated yet; `Site.to_dict` writes it.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.adapters.bindings.codes import NOT_DATA
from nodeattrs.adapters.bindings.forms.data.items import ITEMS, KINDS
from nodeattrs.adapters.bindings.forms.data.producers import CONDITIONS, PRODUCERS, expression
from nodeattrs.adapters.bindings.forms.data.shapes import CLASSES, TEXT, TYPE, Reading, object_schema
from nodeattrs.adapters.bindings.model.expressions import Assign, Node
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import (
    BIND_OPTIONS,
    MULTIBIND_OPTIONS,
    NOWHERE,
    PARAMETER_OPTIONS,
    BindingSet,
)
from nodeattrs.adapters.bindings.model.queries import SIGNS
from nodeattrs.adapters.bindings.model.sites import Site, SiteLayer
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.texts.documents import Document

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
        "conditions": _list("condition"),
        "condition": {
            "oneOf": [
                comparison,
                object_schema({"or": either}, ["or"]),
                object_schema({"not": CONDITIONS.schema}, ["not"]),
            ]
        },
    }  # fmt: skip


_Attributes = dict[str, Node]


def read_site(reading: Reading, data: Any, file: str | None) -> Site:
    """The site of a document: `{"site": {...}, "assign": {...}}`."""
    whole = reading.map({} if data is None else data, (), "a site description is a map")
    reading.known(whole, ("version", "site", "assign"), (), "a site description")
    found = Site(file, "site" in whole)
    for name, value in reading.map(whole.get("assign", {}), ("assign",), "assign is a map").items():
        found.statements.append(Assign("", str(name), expression(reading, value, ("assign", name))))
    parts = reading.map(whole.get("site", {}), ("site",), "site is a map")
    reading.known(parts, _PARTS, ("site",), "a site")
    for name, read in _PARTS.items():
        if name in parts:
            setattr(found, name, read(reading, parts[name], ("site", name)))
    found.listed_at = {
        name: reading.origin(("site", "categories", index)) for index, (name, _) in enumerate(found.categories or ())
    }
    return found


def _attributes(reading: Reading, data: Any, path: Path) -> _Attributes:
    named = reading.map(data, path, "attributes are a map")
    return {str(name): expression(reading, value, (*path, name)) for name, value in named.items()}


def _environments(reading: Reading, data: Any, path: Path) -> dict[str, _Attributes]:
    named = reading.map(data, path, "environments is a map")
    return {str(name): _attributes(reading, one or {}, (*path, name)) for name, one in named.items()}


def _dynamic(reading: Reading, data: Any, path: Path) -> tuple[Node, _Attributes]:
    whole = reading.map(data, path, 'dynamic is a map with "dir"')
    directory = expression(reading, whole.get("dir"), (*path, "dir"))
    return directory, _attributes(reading, whole.get("attrs", {}), (*path, "attrs"))


def _categories(reading: Reading, data: Any, path: Path) -> list[tuple[str, Node]]:
    listed = reading.list(data, path, "categories is a list of [name, value], the highest first")
    return [_category(reading, pair, (*path, index)) for index, pair in enumerate(listed)]


def _category(reading: Reading, data: Any, path: Path) -> tuple[str, Node]:
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], str):
        raise reading.stop(path, "a category is [name, value]")
    return data[0], expression(reading, data[1], (*path, 1))


def _layers(reading: Reading, data: Any, path: Path) -> list[SiteLayer]:
    listed = reading.list(data, path, "layers is a list, the highest first")
    return [_layer(reading, one, (*path, index)) for index, one in enumerate(listed)]


def _layer(reading: Reading, data: Any, path: Path) -> SiteLayer:
    whole = reading.map(data, path, "a layer is a map")
    reading.known(whole, ("name", "include", "exclude"), path, "a layer")
    sides = {
        side: list(CLASSES.read(reading, whole[side], (*path, side)))
        for side in ("include", "exclude") if whole.get(side)
    }  # fmt: skip
    return SiteLayer(TEXT.read(reading, whole.get("name"), (*path, "name")), **sides, origin=reading.origin(path))


_PARTS = {
    "defaults": _attributes, "environments": _environments, "dynamic": _dynamic, "categories": _categories,
    "layers": _layers,
}  # fmt: skip
"""The parts of a site, each an attribute of `Site`."""


def sets_from_data(data: Any, origin: Origin = NOWHERE) -> list[BindingSet]:
    """The sets of some data: `{"version": 1, "sets": [{"name": ..., "items": [...]}]}`, or one set alone.

    origin: where the data comes from
    raises: BindingErrors, with everything that is malformed

    >>> [one.name for one in sets_from_data({"name": "a::default", "items": []})]
    ['a::default']
    """
    reading = Reading(lambda name, path: origin)
    return reading.guarded(lambda: _sets(reading, data)) or []


@taking(document=Document)
def sets_from_document(document: Document) -> list[BindingSet]:
    """The sets of a document that was read; each item knows its line. raises: BindingErrors"""
    reading = _reading(document)
    return reading.guarded(lambda: _sets(reading, document.tree)) or []


@taking(document=Document)
def site_from_document(document: Document) -> Site:
    """What a site says, from its data form: `{"site": {...}, "assign": {...}}`. raises: BindingErrors"""
    reading = _reading(document)
    return reading.guarded(lambda: read_site(reading, document.tree, document.file)) or Site()


def _reading(document: Document) -> Reading:
    def place(name: str, path: Path) -> Origin:
        line, column = document.place(path)
        return Origin("bindings", name, document.file, line, column)

    return Reading(place)


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

    >>> from nodeattrs.adapters.bindings.forms.builder import Bindings
    >>> one = Bindings("a")
    >>> _ = one.bind("x").to(1)
    >>> to_data(one.to_set())
    {'name': 'a', 'items': [{'kind': 'bind', 'name': 'x', 'to': {'value': 1}}]}
    """
    if not isinstance(sets, BindingSet):
        return {"version": VERSION, "sets": [to_data(one) for one in sets]}
    if sets.unread:
        raise BindingError(NOT_DATA, f"nobody knows what the set {sets.name} binds: {sets.unread}")
    try:
        return {"name": sets.name, "items": ITEMS.write(sets.items)}
    except RecursionError:
        raise BindingError(NOT_DATA, f"the set {sets.name} is nested too deep to be written") from None

"""The JSON Schema of the data form, drawn from the tables that read and write it."""

from __future__ import annotations

from typing import Any

from nodeattrs.adapters.bindings.forms.data.items import ITEMS, KINDS
from nodeattrs.adapters.bindings.forms.data.producers import PRODUCERS
from nodeattrs.adapters.bindings.forms.data.shapes import TEXT, TYPE, object_schema
from nodeattrs.adapters.bindings.forms.data.values import CONDITIONS
from nodeattrs.adapters.bindings.model.items import BIND_OPTIONS, MULTIBIND_OPTIONS, PARAMETER_OPTIONS
from nodeattrs.adapters.bindings.model.queries import SIGNS

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

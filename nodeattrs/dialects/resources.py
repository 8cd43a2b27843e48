"""Turn a catalog into a part of an answer: its resources, each with its parameters as values.

Used by the dialects `catalogs` and `chef`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from nodeattrs.catalog.resources import RELATIONS
from nodeattrs.contract.answers import Part
from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import Path as TreePath

_PLAIN = (str, int, float, bool, list, dict, tuple, Sensitive)


def part_of_resources(catalog: Any) -> Part:
    """A catalog as one part: reference of a resource -> parameter -> value. Relations count as parameters.

    Relations that are not set are left out, and so are parameters that have the default of their type. In a sensitive
    resource, contents and commands are secrets.
    catalog: yields its resources, each with `ref` and `origin`. The origin of every path in a resource is that of the
             resource
    """
    found = {str(one.ref): one for one in catalog}

    def places(path: TreePath) -> Iterator[Origin]:
        one = found.get(str(path[0])) if path else None
        if one is not None and one.origin is not None:
            yield one.origin

    return Part({ref: dict(_written(one)) for ref, one in found.items()}, places)


def _written(one: Any) -> Iterator[tuple[str, Any]]:
    """What is written on a resource: parameters, what it does, relations."""
    yield from one.parameters.items()
    if one.subject is not None:
        hidden = getattr(one.subject, "HIDDEN", ()) if getattr(one.subject, "sensitive", False) else ()
        for field in fields(one.subject):
            value = getattr(one.subject, field.name)
            if isinstance(value, _PLAIN) and value != field.default:
                yield field.name, Sensitive(value) if field.name in hidden else value
    for name in RELATIONS:
        if getattr(one, name):
            yield name, sorted(getattr(one, name))

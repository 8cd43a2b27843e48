"""The data form: sets of bindings as plain JSON or YAML data, read, written and described.

Two tables (`items.KINDS`, `producers.PRODUCERS`) say what it looks like; reading, writing and
the schema all follow them. All faults of a document are said together, each with its line.
The order of fields means nothing.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.adapters.bindings.forms.data.items import ITEMS
from nodeattrs.adapters.bindings.forms.data.reading import Reading
from nodeattrs.adapters.bindings.forms.data.schema import VERSION, schema
from nodeattrs.adapters.bindings.forms.data.shapes import TEXT
from nodeattrs.adapters.bindings.forms.data.sites import read_site
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import NOWHERE, BindingSet
from nodeattrs.adapters.bindings.model.sites import Site
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.texts.documents import Document

__all__ = ["VERSION", "schema", "sets_from_data", "sets_from_document", "site_from_document", "to_data"]


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
        raise BindingError("not-data", f"nobody knows what the set {sets.name} binds: {sets.unread}")
    try:
        return {"name": sets.name, "items": ITEMS.write(sets.items)}
    except RecursionError:
        raise BindingError("not-data", f"the set {sets.name} is nested too deep to be written") from None

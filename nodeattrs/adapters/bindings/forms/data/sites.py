"""The site in data: environments, categories and layers, not evaluated yet. `Site.to_dict` writes it."""

from __future__ import annotations

from typing import Any

from nodeattrs.adapters.bindings.forms.data.reading import Reading
from nodeattrs.adapters.bindings.forms.data.shapes import CLASSES, TEXT
from nodeattrs.adapters.bindings.forms.data.values import expression
from nodeattrs.adapters.bindings.model.expressions import Assign, Node
from nodeattrs.adapters.bindings.model.sites import Site, SiteLayer
from nodeattrs.core.tree import Path

_Attributes = dict[str, Node]


def read_site(reading: Reading, data: Any, file: str | None) -> Site:
    """The site of a document: `{"site": {...}, "assign": {...}}`."""
    whole = reading.map({} if data is None else data, (), "a site description is a map")
    reading.known(whole, ("version", "site", "assign"), (), "a site description")
    found = Site(file, "site" in whole)
    for name, value in reading.map(whole.get("assign", {}), ("assign",), "assign is a map").items():
        found.statements.append(Assign("", str(name), expression(reading, value, ("assign", name))))
    said = reading.map(whole.get("site", {}), ("site",), "site is a map")
    reading.known(said, _PARTS, ("site",), "a site")
    for name, read in _PARTS.items():
        if name in said:
            setattr(found, name, read(reading, said[name], ("site", name)))
    return found


def _attributes(reading: Reading, data: Any, path: Path) -> _Attributes:
    named = reading.map(data, path, "attributes are a map")
    return {str(name): expression(reading, value, (*path, name)) for name, value in named.items()}


def _environments(reading: Reading, data: Any, path: Path) -> dict[str, _Attributes]:
    named = reading.map(data, path, "environments is a map")
    return {str(name): _attributes(reading, one or {}, (*path, name)) for name, one in named.items()}


def _dynamic(reading: Reading, data: Any, path: Path) -> tuple[Node, _Attributes]:
    said = reading.map(data, path, 'dynamic is a map with "dir"')
    directory = expression(reading, said.get("dir"), (*path, "dir"))
    return directory, _attributes(reading, said.get("attrs", {}), (*path, "attrs"))


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
    said = reading.map(data, path, "a layer is a map")
    reading.known(said, ("name", "include", "exclude"), path, "a layer")
    sides = {
        side: list(CLASSES.read(reading, said[side], (*path, side)))
        for side in ("include", "exclude") if said.get(side)
    }  # fmt: skip
    return SiteLayer(TEXT.read(reading, said.get("name"), (*path, "name")), **sides, origin=reading.origin(path))


_PARTS = {
    "defaults": _attributes, "environments": _environments, "dynamic": _dynamic, "categories": _categories,
    "layers": _layers,
}  # fmt: skip
"""The parts of a site, each an attribute of `Site`."""

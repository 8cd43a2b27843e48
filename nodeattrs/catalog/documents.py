"""Read a catalog from plain data: `resources` in catalog order, and `chains` as texts.

    {"settings": {"noop": false},
     "resources": [{"type": "File", "title": "/etc/ntp.conf", "notify": ["Service[ntpd]"]},
                   {"type": "Service", "title": "ntpd", "refreshable": true}],
     "chains": ["Package <| |> -> File <| |>"]}

A resource may also have kind, in, require, subscribe, before, auto, virtual, noop and tags. `path` and `target` of a
File make automatic relations. Queries and *subject_of* use other fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from nodeattrs.catalog.automatic import PLACED, nearest_first
from nodeattrs.catalog.plan import Catalog
from nodeattrs.catalog.resources import CONTAINERS, RELATIONS, FirstOf, Resource
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.errors import DocumentError
from nodeattrs.puppet.references import Ref, made

_NOT_FOR_QUERIES = {"type", "kind", "in", "auto", "virtual"}


def catalog_from(
    tree: Any,
    subject_of: Callable[[Mapping[str, Any]], Any] | None = None,
    locator: Locator | None = None,
    file: str | None = None,
) -> Catalog:
    """The catalog that plain data describes: a map with "resources", "chains" and "settings", each optional.

    subject_of: makes from the entry of a resource the object that can apply it; None: nothing can be applied
    locator:    gives the line of each entry
    file:       its name in messages
    raises:     DocumentError, DuplicateResource
    """
    reader = _Reader(subject_of, locator, file)
    top = reader.map_of(tree, ())
    settings = reader.map_of(top.get("settings", {}), ("settings",))
    catalog = Catalog(noop=reader.flag(settings, "noop", ("settings",)) or False)
    for index, entry in enumerate(reader.list_of(top.get("resources", []), ("resources",))):
        catalog.add(reader.resource(entry, ("resources", index)))
    for index, chain in enumerate(reader.list_of(top.get("chains", []), ("chains",))):
        text = chain.get("text") if isinstance(chain, dict) else chain
        if not isinstance(text, str):
            reader.refuse("a chain must be a text", ("chains", index))
        catalog.relate(text, reader.origin(("chains", index)))
    return catalog


@dataclass(frozen=True)
class _Reader:
    subject_of: Callable[[Mapping[str, Any]], Any] | None
    locator: Locator | None
    file: str | None

    def origin(self, path: tuple[Any, ...]) -> Origin | None:
        return self.locator.at(path) if self.locator else None

    def refuse(self, message: str, path: tuple[Any, ...], hint: str | None = None) -> NoReturn:
        origin = self.origin(path)
        raise DocumentError(
            message,
            file=origin.file if origin else self.file,
            line=origin.line if origin else None,
            path=path,
            hint=hint,
        )

    def map_of(self, value: Any, path: tuple[Any, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.refuse(f"a map was expected, not {type(value).__name__}", path, 'such as {"resources": [...]}')
        return value

    def list_of(self, value: Any, path: tuple[Any, ...]) -> list[Any]:
        if not isinstance(value, list):
            self.refuse(f"a list was expected, not {type(value).__name__}", path)
        return value

    def flag(self, entry: Mapping[str, Any], name: str, path: tuple[Any, ...]) -> bool | None:
        value = entry.get(name)
        if value is not None and not isinstance(value, bool):
            self.refuse(f"{name} must be true or false", (*path, name))
        return value

    def texts(self, value: Any, path: tuple[Any, ...]) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else self.list_of(value, path)
        for item in items:
            if not isinstance(item, str) or "[" not in item or not item.endswith("]"):
                self.refuse(f"{item!r} is no reference", path, "write Type[title], such as File[/etc/motd]")
        return tuple(items)

    def resource(self, entry: Any, path: tuple[Any, ...]) -> Resource:
        entry = self.map_of(entry, path)
        for name in ("type", "title"):
            if not isinstance(entry.get(name), str) or not entry[name]:
                self.refuse(f"a resource needs its {name}, a text", path)
        ref = made(entry["type"], entry["title"])
        kind = entry.get("kind", "resource")
        if kind not in ("resource", *CONTAINERS):
            self.refuse(f"there is no kind {kind!r}", (*path, "kind"), f"one of {', '.join(CONTAINERS)}, or nothing")
        relations: dict[str, Any] = {
            name: self.texts(entry[name], (*path, name)) for name in RELATIONS if name in entry
        }
        within = self.texts(entry["in"], (*path, "in")) if "in" in entry else None
        tags = entry.get("tags") or ()
        return Resource(
            ref,
            kind,
            within,
            parameters={name: value for name, value in entry.items() if name not in _NOT_FOR_QUERIES},
            auto=self._auto(ref, entry, path),
            virtual=bool(self.flag(entry, "virtual", path)),
            tags=frozenset(map(str, self.list_of(tags, (*path, "tags")))) if tags else frozenset(),
            noop=self.flag(entry, "noop", path),
            origin=self.origin(path),
            subject=self.subject_of(entry) if self.subject_of and kind == "resource" else None,
            **relations,
        )

    def _auto(self, ref: Ref, entry: Mapping[str, Any], path: tuple[Any, ...]) -> dict[str, tuple[str | FirstOf, ...]]:
        auto: dict[str, tuple[str | FirstOf, ...]] = {}
        if "auto" in entry:
            given = self.map_of(entry["auto"], (*path, "auto"))
            for name in given:
                if name not in RELATIONS:
                    self.refuse(f"auto knows {', '.join(RELATIONS)}, not {name}", (*path, "auto"))
                auto[name] = self.texts(given[name], (*path, "auto", name))
        if ref.type == "File":
            more: list[str | FirstOf] = []
            if isinstance(entry.get("path"), str):
                more.append(nearest_first(entry["path"], *PLACED))
            if isinstance(entry.get("target"), str):
                more.append(f"File[{entry['target']}]")
            if more:
                auto["require"] = (*auto.get("require", ()), *more)
        return auto

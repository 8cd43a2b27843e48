"""Catalogs that Puppet compiled, as `puppet catalog compile`, an agent's cache and PuppetDB write them.

    {"name": "web1", "resources": [{"type": "File", "title": "/etc/ntp.conf", "file": "ntp.pp", "line": 3, ...}],
     "edges": [{"source": "Class[Ntp]", "target": "File[/etc/ntp.conf]"}]}

The edges of such a catalog say which container has which resource; relationships are parameters. The automatic
relations of Puppet's own types are in `automatic`, and other types' relations in `module_types`. Puppet has turned
chains into parameters, so an edge has the line of the resource and not of the arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from nodeattrs.catalog.automatic import automatic, can_refresh, files_below, is_known
from nodeattrs.catalog.module_types import ModuleTypes
from nodeattrs.catalog.plan import Catalog
from nodeattrs.catalog.resources import RELATIONS, Resource
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import Path, flat
from nodeattrs.errors import DocumentError
from nodeattrs.puppet.references import Ref, capitalised

_KINDS = {"class": "class", "defined_type": "define", "Class": "class", "Stage": "stage"}
_WRAPPED = ("catalog", "data")
_NAME = {"File": "path", "Concat": "path", "Tidy": "path"}
"""Type -> the parameter that names a resource, too; for other types it is `name`."""
_NO_PARAMETERS = {*RELATIONS, "alias", "noop", "stage"}


def compiled_catalog(
    tree: Any, locator: Locator | None = None, file: str | None = None, types: ModuleTypes | None = None
) -> Catalog:
    """The Catalog in the JSON of a catalog that Puppet compiled. Virtual and exported resources are left out.

    locator: gives the line of an entry of the JSON. It is the origin of a resource without a line of a manifest
    file:    the name of the JSON in messages
    types:   types of modules, for their automatic relations. `Catalog.warnings` names types that may relate more
    raises:  DocumentError, where *tree* is no compiled catalog; DuplicateResource
    """
    return _CatalogReader(tree, locator, file, types).catalog()


def without_notices(text: str) -> str:
    """The output of `puppet catalog compile` without its notices: the lines before the JSON become empty lines.

    Line numbers stay the same. A text without JSON is returned unchanged.
    """
    lines = text.splitlines(keepends=True)
    before = next((at for at, line in enumerate(lines) if line.startswith(("{", "["))), 0)
    return "\n" * before + "".join(lines[before:])


def is_compiled(tree: Any) -> bool:
    """Whether *tree* looks like a catalog compiled by Puppet: it has edges and resources."""
    inner, _ = _unwrapped(tree)
    return isinstance(inner, dict) and "edges" in inner and "resources" in inner


def _unwrapped(tree: Any) -> tuple[Any, Path]:
    """(catalog, its path in *tree*): some tools put the catalog into a list or a map."""
    path: Path = ()
    if isinstance(tree, list) and len(tree) == 1:
        tree, path = tree[0], (0,)
    for word in _WRAPPED:
        if isinstance(tree, dict) and "resources" not in tree and isinstance(tree.get(word), dict):
            tree, path = tree[word], (*path, word)
    return tree, path


@dataclass(frozen=True, slots=True)
class _PuppetSubject:
    """The subject of a compiled resource, which cannot be applied. refreshable: whether its type reacts to a refresh"""

    refreshable: bool


class _Row(NamedTuple):
    """A resource of the JSON: its path, its reference, and its data as they are written."""

    path: Path
    ref: Ref
    data: Mapping[str, Any]


class _CatalogReader:
    def __init__(self, tree: Any, locator: Locator | None, file: str | None, types: ModuleTypes | None) -> None:
        self._locator = locator
        self._file = file
        self._types = types
        self._others: dict[str, None] = {}
        inner, path = _unwrapped(tree)
        if not isinstance(inner, dict) or "resources" not in inner:
            self._refuse("is no compiled catalog: it has no resources", "write one with: puppet catalog compile NODE")
        path = (*path, "resources", *(("data",) if isinstance(inner["resources"], dict) else ()))
        rows = enumerate(self._list(inner, "resources"))
        self._refs: dict[str, Ref] = {}
        self._rows = [
            _Row((*path, index), self._ref(row["type"], row["title"]), row)
            for index, row in rows
            if not _is_left_out(self._row(row))
        ]
        self._within: dict[str, dict[str, None]] = {}
        for edge in self._list(inner, "edges"):
            source, target = self._end(edge, "source"), self._end(edge, "target")
            if edge.get("relationship", "contains") == "contains":
                self._within.setdefault(target, {})[source] = None
        self._containers = {source for sources in self._within.values() for source in sources}
        self._other_names = dict(self._aliases())
        files = [row.data for row in self._rows if row.data["type"] == "File"]
        self._files = [str(row.get("parameters", {}).get("path", row["title"])) for row in files]

    def _refuse(self, message: str, hint: str | None = None) -> NoReturn:
        raise DocumentError(message, file=self._file, hint=hint)

    def _list(self, tree: Mapping[str, Any], name: str) -> list[Any]:
        found = tree.get(name)
        if isinstance(found, dict):  # PuppetDB gives a page of them
            found = found.get("data")
        if not isinstance(found, list):
            self._refuse(f"is no compiled catalog: {name} is not a list", "write one with: puppet catalog compile NODE")
        return found

    def _row(self, row: Any) -> Mapping[str, Any]:
        if not isinstance(row, dict) or not isinstance(row.get("type"), str) or not isinstance(row.get("title"), str):
            self._refuse("is no compiled catalog: a resource without type and title")
        if not isinstance(row.get("parameters", {}), dict):
            self._refuse(f"is no compiled catalog: parameters of {row['type']}[{row['title']}] are no map")
        return row

    def _end(self, edge: Any, name: str) -> Ref:
        end = edge.get(name) if isinstance(edge, dict) else None
        if isinstance(end, str) and "[" in end:
            return self._spelled(end)
        if isinstance(end, dict) and isinstance(end.get("type"), str) and isinstance(end.get("title"), str):
            return self._ref(end["type"], end["title"])
        if not isinstance(edge, dict) or not isinstance(edge.get(f"{name}_type"), str):
            self._refuse(f"is no compiled catalog: an edge whose {name} is no reference")
        return self._ref(edge[f"{name}_type"], str(edge.get(f"{name}_title")))

    def _aliases(self) -> Iterator[tuple[str, Ref]]:
        """Yield (other name, reference) of each resource; names that are the title of a resource are left out."""
        titles = {row.ref for row in self._rows}
        for row in self._rows:
            kind, parameters = row.data["type"], row.data.get("parameters", {})
            names = [parameters.get(_NAME.get(kind, "name")), *_flat(parameters.get("alias"))]
            for name in names:
                if isinstance(name, str) and (other := self._ref(kind, name)) not in titles:
                    yield other, row.ref

    def _ref(self, kind: str, title: str) -> Ref:
        return self._spelled(f"{kind}[{title}]")

    def _spelled(self, text: str) -> Ref:
        """A reference as an agent spells it: types and classes capitalised, a file without its last slash."""
        ref = self._refs.get(text)
        if ref is None:
            kind, _, title = text.partition("[")
            kind, title = capitalised(kind), title[:-1]
            if kind == "Class":
                title = capitalised(title)
            elif kind == "File":
                title = title.rstrip("/") or "/"
            ref = self._refs[text] = Ref(f"{kind}[{title}]")
        return ref

    def _known(self, text: str) -> Ref:
        ref = self._spelled(text)
        return self._other_names.get(ref, ref)

    def catalog(self) -> Catalog:
        catalog = Catalog()
        for row in self._rows:
            catalog.add(self._resource(row.data, row.ref, row.path))
        if self._others:
            catalog.warnings += (self._types or ModuleTypes([])).warnings(self._others)
        return catalog

    def _resource(self, row: Mapping[str, Any], ref: Ref, path: Path) -> Resource:
        parameters = row.get("parameters", {})
        kind = _KINDS.get(row["type"]) or _KINDS.get(str(row.get("kind")), "resource")
        if "kind" not in row and kind == "resource" and ("::" in row["type"] or ref in self._containers):
            kind = "define"  # PuppetDB, and catalogs before Puppet 7, do not say so
        secret = _flat(row.get("sensitive_parameters"))
        shown = {
            name: Sensitive(value) if name in secret else value if type(value) is str else _plain(value)
            for name, value in parameters.items()
            if name not in _NO_PARAMETERS
        }
        auto = self._automatic(row, parameters) if kind == "resource" else {}
        resource = Resource(
            ref,
            kind,
            tuple(self._within.get(ref, ())) if ref not in ("Stage[main]", "Class[Main]") else None,
            parameters=shown,
            auto={name: tuple(self._candidates(found)) for name, found in auto.items() if found},
            tags=frozenset(map(str, _flat(row.get("tags")))),
            noop=_flag(parameters.get("noop")),
            subject=self._subject(row["type"]) if kind == "resource" else None,
            origin=_origin(row) or (self._locator.at(path) if self._locator else None),
        )
        for name in RELATIONS:
            if name in parameters:
                texts = (one for one in _flat(parameters[name]) if isinstance(one, str) and "[" in one)
                setattr(resource, name, tuple(map(self._known, texts)))
        return resource

    def _subject(self, kind: str) -> _PuppetSubject:
        return _PuppetSubject(can_refresh(kind) or (self._types is not None and self._types.can_refresh(kind)))

    def _automatic(self, row: Mapping[str, Any], parameters: Mapping[str, Any]) -> Mapping[str, Iterable[Any]]:
        kind, title = row["type"], row["title"]
        if is_known(kind):
            mounts = files_below(str(parameters.get("name", title)), self._files) if kind == "Mount" else ()
            return {"require": automatic(kind, title, parameters), "before": mounts}
        self._others[kind] = None
        return self._types.relations(kind, title, parameters) if self._types else {}

    def _candidates(self, auto: Iterable[Any]) -> Iterator[Any]:
        for one in auto:
            yield type(one)(map(self._known, one)) if isinstance(one, tuple) else self._known(one)


def _is_left_out(row: Mapping[str, Any]) -> bool:
    is_settings = row["type"] == "Class" and row["title"].lower() == "settings"
    return is_settings or bool(row.get("virtual") or row.get("exported"))


def _origin(row: Mapping[str, Any]) -> Origin | None:
    file, line = row.get("file"), row.get("line")
    if not isinstance(file, str) or not file:
        return None
    return Origin("manifest", "", file, line if type(line) is int else None)


def _flat(value: Any) -> list[Any]:
    """The elements of a value, with those of inner lists; [] for None. Another value is the only element."""
    return [one for one in flat([value]) if one is not None]


def _flag(value: Any) -> bool | None:
    return None if value is None else value is True or str(value) == "true"


def _plain(value: Any) -> Any:
    """The value of a parameter; each secret in it (Puppet's rich data) becomes a Sensitive."""
    if isinstance(value, dict):
        if value.get("__ptype") == "Sensitive":
            return Sensitive(value.get("__pvalue"))
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value

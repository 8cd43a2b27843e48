"""Convert a hiera.yaml of version 3 or 4 into entries of version 5, as Puppet reads them.

Version 3 counts in the global layer: one level for each backend, in which every line of its hierarchy is a path.
Version 4 counts in environments and modules: each entry is a level, and names its backend.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodeattrs.core.tree import Path
from nodeattrs.dialects.hiera.errors import BadData, Checks

ConvertedEntry = tuple[dict[str, Any], Path, str]
"""(an entry of version 5 with paths as they are written, the path of its source in the document, its files' ending)"""

_KEYS_3 = ("version", "backends", "hierarchy", "logger", "merge_behavior", "deep_merge_options")
_BACKENDS_3 = ("yaml",)
_HIERARCHY_3 = ("nodes/%{::trusted.certname}", "common")
_DATADIR_3 = "environments/%{::environment}/hieradata"
_OF_ENVIRONMENT = re.compile(r"^.*environments/%\{(?:::)?environment\}/")
_MERGES_3 = ("native", "deep", "deeper")

_KEYS_4 = ("version", "datadir", "hierarchy")
_ENTRY_KEYS_4 = ("name", "backend", "datadir", "path", "paths")
_HIERARCHY_4 = [{"name": "common", "backend": "yaml"}]
_BACKENDS_4 = ("yaml", "json", "hocon")


def check_version_3(tree: Mapping[Any, Any], checks: Checks) -> None:
    """Check the keys and types of a hiera.yaml of version 3, also if that layer does not use it. raises: BadData

    tree:   the map of the document
    checks: the checks for the document
    """
    backends = _texts(tree, "backends", _BACKENDS_3, checks)
    _texts(tree, "hierarchy", _HIERARCHY_3, checks)
    checks.known(tree, (*_KEYS_3, *backends), ())
    if "logger" in tree:
        checks.text(tree["logger"], ("logger",))
    if tree.get("merge_behavior") not in (None, *_MERGES_3):
        raise checks.invalid("unknown merge_behavior", ("merge_behavior",), f"there are {', '.join(_MERGES_3)}")
    for key in ("deep_merge_options", *backends):
        if key in tree:
            checks.map(tree[key], (key,))


def entries_of_version_3(
    tree: Mapping[Any, Any], checks: Checks, codedir: str | None = None
) -> Iterator[ConvertedEntry]:
    """Yield an entry for each backend of a hiera.yaml of version 3; nothing for an empty hierarchy.

    tree:    has passed `check_version_3`
    codedir: the folder of all code, for the default datadir; None makes datadirs relative to the environment
    raises:  BadData, for a backend that is named twice, or a datadir or ending of a wrong type
    """
    backends = _texts(tree, "backends", _BACKENDS_3, checks)
    names = _texts(tree, "hierarchy", _HIERARCHY_3, checks)
    for at, backend in enumerate(backends):
        if backend in backends[:at]:
            raise checks.invalid(f"the backend {backend!r} is named twice", ("backends", at), "remove one of them")
        settings = dict(tree.get(backend) or {})
        datadir, ending = settings.pop("datadir", None), settings.pop("extension", None)
        if datadir is None:
            datadir = os.path.join(codedir or "", _DATADIR_3)
        if codedir is None and isinstance(datadir, str):
            datadir = _OF_ENVIRONMENT.sub("", datadir, count=1)
        entry = {"name": backend, "datadir": datadir, **_function(backend, settings), "paths": [*names]}
        if names:
            path = (backend,) if backend in tree else ("backends", at)
            yield entry, path, _ending(backend) if ending is None else f".{ending}"


def entries_of_version_4(tree: Mapping[Any, Any], checks: Checks) -> Iterator[ConvertedEntry]:
    """Yield an entry for each level of a hiera.yaml of version 4; a level with an empty list of paths gives none.

    tree:   the map of the document
    checks: the checks for the document
    raises: BadData, for a fault of the document, while entries are taken
    """
    checks.known(tree, _KEYS_4, ())
    folder = "data" if tree.get("datadir") is None else checks.text(tree["datadir"], ("datadir",))
    hierarchy = _HIERARCHY_4 if tree.get("hierarchy") is None else tree["hierarchy"]
    if not isinstance(hierarchy, list):
        raise checks.invalid("hierarchy must be a list", ("hierarchy",))
    named: dict[str, Path] = {}
    for at, given in enumerate(hierarchy):
        path = ("hierarchy", at)
        checks.known(checks.map(given, path, "an entry of a hierarchy"), _ENTRY_KEYS_4, path)
        name, backend = (checks.text(given.get(key), (*path, key)) for key in ("name", "backend"))
        if backend not in _BACKENDS_4:
            message, hint = f"the backend {backend!r} does not exist here", f"there are {', '.join(_BACKENDS_4)}"
            raise checks.invalid(message, (*path, "backend"), hint)
        checks.once(name, path, named)  # also of one that has no paths, and so is no level
        one = checks.text(given.get("path", name), (*path, "path"))
        names = _texts(given, "paths", (one,), checks, path)
        datadir = checks.text(given.get("datadir", folder), (*path, "datadir"))
        if names:
            entry = {"name": name, "datadir": datadir, **_function(backend, {}), "paths": [*names]}
            yield entry, path, _ending(backend)


def version_5_hint(made: Iterable[ConvertedEntry]) -> str:
    """A hint with the same hierarchy in version 5, as JSON. If it has no entry or a fault, the hint is general advice.

    made: the entries from version 3 or 4; a BadData while they are taken is not raised
    """
    try:
        entries = [
            {**entry, "paths": [with_ending(name, ending) for name in entry["paths"]]} for entry, _, ending in made
        ]
    except BadData:
        entries = []
    if not entries:
        return "write `version: 5` and a hierarchy, each entry with a name and a path (no ending is added to it)"
    return f"write {json.dumps({'version': 5, 'hierarchy': entries})}"


def _function(backend: str, settings: dict[str, Any]) -> dict[str, Any]:
    if backend in _BACKENDS_4:
        return {"data_hash": f"{backend}_data"}
    function = {"lookup_key": "eyaml_lookup_key"} if backend == "eyaml" else {"hiera3_backend": backend}
    return {**function, "options": settings} if settings else function


def _ending(backend: str) -> str:
    return ".conf" if backend == "hocon" else f".{backend}"


def with_ending(name: str, ending: str) -> str:
    """A file name with its ending, which is added where the name does not end in it.

    >>> with_ending("common", ".yaml"), with_ending("common.yaml", ".yaml"), with_ending("common", "")
    ('common.yaml', 'common.yaml', 'common')
    """
    return name if name.endswith(ending) else name + ending


def _texts(
    tree: Mapping[Any, Any], key: str, default: tuple[str, ...], checks: Checks, path: Path = ()
) -> tuple[str, ...]:
    """The texts under a key that has one text or a list of texts; *default* where it is absent or null."""
    given = tree.get(key)
    if not isinstance(given, list):
        return default if given is None else (checks.text(given, (*path, key)),)
    return checks.texts(given, (*path, key)) if given else ()

"""The files of a site as they were found and read: what compositions of different nodes have in common."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import metadata
from typing import Any

PROVIDERS = "nodeattrs.bindings_providers"
"""The entry points that provide further schemes: the name is the scheme, the object a `Provider`."""

TEXTS = (".pp", ".bindings")
ENDINGS = (*TEXTS, ".yaml", ".yml", ".json")


class SiteFiles:
    """What is the same for all nodes of a site: its files as they were read, and what packages offer.

    files:   each with the stamp of its state then; what was wrong with it is kept as an error
    folders: the files of each, by the names of the sets in them
    """

    def __init__(self) -> None:
        self.files: dict[tuple[pathlib.Path, pathlib.Path], tuple[tuple[int, int], Any]] = {}
        self.folders: dict[pathlib.Path, list[tuple[str, pathlib.Path]]] = {}

    @cached_property
    def offered(self) -> Mapping[str, Any]:
        """The entry points of those who provide a scheme."""
        return {point.name: point for point in metadata.entry_points(group=PROVIDERS)}


def sets_below(directory: pathlib.Path, module: str) -> Iterator[tuple[str, pathlib.Path]]:
    """The name of the set that each file below a folder has, and the file."""
    for folder, inner, names in os.walk(directory):
        inner.sort()
        for path in (pathlib.Path(folder, name) for name in sorted(names) if not name.startswith(".")):
            if path.suffix in ENDINGS:
                segments = path.relative_to(directory).with_suffix("").parts
                yield "::".join((*((module,) if module else ()), *segments)), path


def directories(path: pathlib.Path) -> list[str]:
    """The names of the folders in a folder; none where there is no such folder."""
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []

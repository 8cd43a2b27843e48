"""Read the meta-data in a folder for the data source NoCloud, and find errors in its meta-data and network-config."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.cloudinit.codes import INPUT
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.templates import InstanceData
from nodeattrs.dialects.cloudinit.unpacking import read_bytes
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, decoded, parse

META_DATA, NETWORK_CONFIG = "meta-data", "network-config"
_DEVICES = ("ethernets", "bonds", "bridges", "vlans", "wifis")


def seed_data(folder: Path) -> InstanceData | None:
    """The instance data in the meta-data of a folder; None where the file is missing or broken."""
    file = folder / META_DATA
    return None if not file.is_file() or _meta_data_fault(file) else InstanceData.read(file)


def about_seed(folder: Path) -> Iterator[CloudConfigError]:
    """Yield an error for a broken meta-data and a broken network-config of a folder; missing files are in order."""
    for name, fault_of in ((META_DATA, _meta_data_fault), (NETWORK_CONFIG, _network_fault)):
        if (folder / name).is_file() and (fault := fault_of(folder / name)) is not None:
            yield fault


def _meta_data_fault(file: Path) -> CloudConfigError | None:
    try:
        tree = _document(file).tree
    except CloudConfigError as error:
        return error
    is_map = isinstance(tree, dict) or tree is None
    return None if is_map else CloudConfigError(INPUT, "meta-data is a map", file=file.as_posix(), line=1)


def _network_fault(file: Path) -> CloudConfigError | None:
    try:
        document = _document(file)
    except CloudConfigError as error:
        return error
    tree: Any = document.tree
    above: TreePath = ()
    if isinstance(tree, dict) and isinstance(tree.get("network"), dict):
        tree, above = tree["network"], ("network",)
    if not isinstance(tree, dict):
        return _fault(document, above, "a network-config is a map")
    if tree.get("version") not in (1, 2):
        return _fault(
            document, (*above, "version"), f"the version of a network-config is 1 or 2, not {tree.get('version')!r}"
        )
    kind: type = list if tree["version"] == 1 else dict
    for key in ("config",) if tree["version"] == 1 else _DEVICES:
        if key in tree and not isinstance(tree[key], kind):
            return _fault(document, (*above, key), f"{key} has to be a {'list' if kind is list else 'map'}")
    return None


def _fault(document: Document, path: TreePath, message: str) -> CloudConfigError:
    line, column = document.place(path)
    return CloudConfigError(INPUT, message, file=document.file, line=line, column=column)


def _document(file: Path) -> Document:
    """raises: CloudConfigError"""
    name = file.as_posix()
    try:
        return parse(decoded(read_bytes(file), name), name, "yaml")
    except CloudConfigError:
        raise
    except DocumentError as error:
        raise CloudConfigError(INPUT, error.reason, file=name, line=error.line, column=error.column) from error

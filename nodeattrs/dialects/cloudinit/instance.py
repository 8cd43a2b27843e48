"""Merge the layers of a machine that cloud-init has set up, and compare the result with the config that it stored.

The files are read from the machine itself, from a mounted disk, or from a folder with copies. Pickled objects of
cloud-init are not opened, so the config of the data source is not known.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.cloudinit.codes import INPUT
from nodeattrs.dialects.cloudinit.config_text import path_with_own_keys, with_text_keys
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.layers import cmdline_layers, merge_layers, read_confd
from nodeattrs.dialects.cloudinit.merged import Merged, masked
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.releases import NEWEST, release_of
from nodeattrs.dialects.cloudinit.secrets import guarded
from nodeattrs.dialects.cloudinit.templates import InstanceData
from nodeattrs.dialects.cloudinit.unpacking import blob_of, read_bytes, read_document
from nodeattrs.dialects.cloudinit.userdata import merge
from nodeattrs.formats.documents import Document

_RUN = "run/cloud-init"
_FILES = {
    "user": ("user-data.txt",),
    "vendor": ("vendor-data.txt",),
    "vendor2": ("vendor-data2.txt",),
    "main": ("cloud.cfg", "etc/cloud/cloud.cfg"),
    "runtime": (f"{_RUN}/cloud.cfg",),
    "cmdline": ("cmdline", "proc/cmdline"),
    "data": ("instance-data-sensitive.json", f"{_RUN}/instance-data-sensitive.json", "instance-data.json"),
    "combined": ("combined-cloud-config.json", f"{_RUN}/combined-cloud-config.json"),
}
_NOT_MERGED = ("_doc", "features")
"""Keys that cloud-init adds to what it has merged."""


@dataclass(frozen=True, slots=True)
class Differing:
    """One path at which the config that cloud-init stored on a machine differs from the merged layers.

    path:    the path in both configs
    given:   the value of the merged layers; ABSENT if they do not set the path
    has:     the value of the stored config; ABSENT if the path is not there
    origins: the lines that set *given*
    place:   the line of *has* in combined-cloud-config.json; without one, the line of its nearest parent
    """

    path: TreePath
    given: Any
    has: Any
    origins: tuple[Origin, ...]
    place: Origin


class Instance:
    """A machine: its merged layers, and the config that cloud-init stored there. `read_instance` makes it.

    The files were read before. `differing` compares the two configs each time it is called.

    merged: all layers, merged
    file:   the path of the stored config, combined-cloud-config.json; None without one
    has:    the stored config, a map; None without one
    whole:  the layers with their secrets, which are compared; None: *merged*
    shown:  called with (path, value), returns the value that may be printed

    `masked` gives a copy whose `merged` and differences show no secrets.
    """

    def __init__(
        self,
        merged: Merged,
        has: Document | None,
        whole: Merged | None = None,
        shown: Callable[[TreePath, Any], Any] = lambda path, value: value,
    ) -> None:
        self.merged = merged
        self.file = None if has is None else has.file
        self._has = has
        self._whole = whole or merged
        self._shown = shown

    def masked(self, sensitive: Iterable[TreePath] = ()) -> Instance:
        """A copy for printing, with secrets withheld in `merged` and in what `differing` yields.

        sensitive: further paths that are secret
        """
        paths = tuple(sensitive)
        return Instance(masked(self.merged, paths), self._has, self.merged, partial(guarded, sensitive=paths))

    def differing(self) -> Iterator[Differing]:
        """Yield each path with different values in the two configs, in the order of keys of the merged layers.

        Nothing without a stored config.

        Values are compared as JSON, and the order of keys does not count. If two lists have different lengths, the
        whole list is one difference.
        """
        if self._has is None:
            return
        where = self._has.locator("machine", "")
        has = {key: value for key, value in self._has.tree.items() if key not in _NOT_MERGED}
        for path, given, found in _differing_paths(with_text_keys(self._whole.value, _as_written), has, ()):
            origins = self.merged.origins(path_with_own_keys(self._whole.value, path))
            yield Differing(path, self._shown(path, given), self._shown(path, found), origins, where.at(path))


@checked_args(folder=A_PATH)
def read_instance(folder: Path, cloud_init: str = NEWEST) -> Instance:
    """Read the files of a machine and merge them by the rules of a release; a file that is missing is no layer.

    folder: /var/lib/cloud/instance, the root of a disk, or a folder with copies of the files
    raises: CloudConfigError, if there is no user-data, no cloud.cfg and no stored config; also for a file that cannot
            be read, or that stops cloud-init, too
    """
    places = _places(folder)
    files = {name: _found(places, names) for name, names in _FILES.items()}
    if not (files["user"] or files["main"] or files["combined"]):
        raise CloudConfigError(
            INPUT, "has no files of a machine", file=folder.as_posix(), hint="name the folder of one"
        )
    data = None if files["data"] is None else InstanceData.read(files["data"])
    rules: dict[str, Any] = {"cloud_init": cloud_init, "instance_data": data}
    layers: dict[str, Any] = {"builtin": release_of(cloud_init).builtin}
    for name in ("user", "vendor", "vendor2"):
        file = files[name]
        if file is not None and file.stat().st_size:
            layers[name] = merge([blob_of(file)], **rules)
    if files["main"] is not None:
        layers["confd"] = read_confd(files["main"], **rules)
    if files["runtime"] is not None:
        layers["runtime"] = _text(files["runtime"])
    if files["cmdline"] is not None:
        command = _text(files["cmdline"])
        layers |= cmdline_layers(command.text, cloud_init, command.file)
    return Instance(merge_layers(**layers, **rules), _combined(files["combined"]))


def _places(folder: Path) -> list[Path]:
    """The folders that may have the files: *folder* itself, and the root of its disk if that is known."""
    parts = folder.absolute().parts
    inner = folder / "var/lib/cloud/instance"
    if inner.is_dir():
        return [inner, folder]
    for end in (("var", "lib", "cloud", "instance"), ("var", "lib", "cloud", "instances")):
        above = parts if end[-1] == "instance" else parts[:-1]
        if above[-4:] == end:
            return [folder, Path(*above[:-4])]
    return [folder]


def _found(places: list[Path], names: tuple[str, ...]) -> Path | None:
    return next((place / name for place in places for name in names if (place / name).is_file()), None)


def _text(file: Path) -> CloudPart:
    return CloudPart(read_bytes(file).decode("utf-8", "surrogateescape"), filename=file.name, file=file.as_posix())


def _combined(file: Path | None) -> Document | None:
    if file is None:
        return None
    document = read_document(file, syntax="json")
    if not isinstance(document.tree, dict):
        raise CloudConfigError(INPUT, "a merged config is a map", file=file.as_posix())
    return document


# --- two trees --------------------------------------------------------------------------


def _differing_paths(given: Any, has: Any, path: TreePath) -> Iterator[tuple[TreePath, Any, Any]]:
    """Yield each path at which two trees differ, with both values; the order of keys does not count."""
    if isinstance(given, dict) and isinstance(has, dict):
        for key in dict.fromkeys((*given, *has)):
            yield from _differing_paths(given.get(key, ABSENT), has.get(key, ABSENT), (*path, key))
    elif isinstance(given, list) and isinstance(has, list) and len(given) == len(has):
        for index, pair in enumerate(zip(given, has, strict=True)):
            yield from _differing_paths(*pair, (*path, index))
    elif type(given) is not type(has) or given != has:
        yield path, given, has


def _as_written(value: Any) -> Any:
    """A value other than a map or list, as cloud-init writes it as JSON."""
    if isinstance(value, tuple):
        return with_text_keys(list(value), _as_written)
    if isinstance(value, bytes):
        return f"ci-b64:{base64.b64encode(value).decode()}"
    return f"Warning: redacted unserializable type {type(value)}" if isinstance(value, (date, set)) else value

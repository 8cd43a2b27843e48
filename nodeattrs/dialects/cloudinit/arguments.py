"""The arguments that the commands share, and what is read with them: parts, and one merged config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from nodeattrs.contract.command import Argument
from nodeattrs.core.fold import refuse_unknown
from nodeattrs.dialects.cloudinit.command_line import config_of_cmdline, url_of_cmdline
from nodeattrs.dialects.cloudinit.inputs import FORM_NAMES, Given, given_in, joined, one_of, vendor_in
from nodeattrs.dialects.cloudinit.layers import merge_layers, read_confd
from nodeattrs.dialects.cloudinit.merging import word_or_definition
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.releases import ReleaseName, release_of
from nodeattrs.dialects.cloudinit.templates import InstanceData
from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of, unpack
from nodeattrs.dialects.cloudinit.userdata import Merged, merge
from nodeattrs.errors import BadArgument
from nodeattrs.formats.documents import standard_input

FILES = Argument(
    ("files",),
    "user-data of any kind, in order; - is stdin",
    {"metavar": "FILE", "nargs": "+"},
)
MACHINE = (
    Argument(("--resource",), "which machine, if a file has several", {"metavar": "ADDRESS"}),
    Argument(
        ("--input-form",),
        "what the files are (default: by their shape)",
        {"choices": FORM_NAMES, "metavar": "FORM"},
    ),
    Argument(("--launch-index",), "keep the parts for this launch index", {"metavar": "N", "type": int}),
    Argument(("--include-root",), "follow #include in this folder only", {"metavar": "DIR"}),
)

_LAYERS = {
    "extra": "a further file, stronger than all; repeatable",
    "env": "the file that the environment names",
    "vendor2": "vendor-data 2",
    "vendor": "vendor-data",
    "datasource": "the config of the data source",
    "cmdline": "the kernel command line, as /proc/cmdline has it",
    "runtime": "the runtime configuration file",
    "builtin": "built-in values, or a release such as 26.2",
}
_BESIDE = "layers beside user-data"
MERGING = (
    Argument(
        ("--mode",),
        "whose rules (default: current)",
        {"choices": ("current", "documented"), "default": "current"},
        "merging",
    ),
    Argument(
        ("--how",),
        "what if every part had it: append, prepend, replace, deep, or list(...)+dict(...)",
        {"metavar": "DEFINITION"},
        "merging",
    ),
    Argument(
        ("--cloud-init",),
        "22.4, 23.1, 23.4, 24.1 or 26.2 (default)",
        {"choices": ("22.4", "23.1", "23.4", "24.1", "26.2"), "default": "26.2", "metavar": "RELEASE"},
        "merging",
    ),
    Argument(
        ("--instance-data",),
        "instance data for templates: of a machine, or the output of `cloud-init query --all`",
        {"metavar": "FILE"},
        "merging",
    ),
    Argument(("--confd",), "a cloud.cfg, or a folder of *.cfg", {"metavar": "FILE"}, _BESIDE),
    *(Argument((f"--{one}",), text, {"metavar": "FILE", "action": "append"}, _BESIDE) for one, text in _LAYERS.items()),
)


def merged_files(asked: Mapping[str, Any], data: InstanceData | None = None) -> tuple[Merged, Merged]:
    """The merged user-data of the files, and the whole: the same unless there are layers.

    data:   what templates are rendered with, in place of the file of --instance-data
    raises: CloudConfigError, BadArgument; UnknownLayer with --strict
    """
    rules: dict[str, Any] = {"mode": asked["mode"], "cloud_init": asked["cloud_init"]}
    if data is not None:
        rules["instance_data"] = data
    elif asked["instance_data"] is not None:
        rules["instance_data"] = InstanceData.read(Path(asked["instance_data"]))
    machines = _given(asked)
    if "instance_data" not in rules:
        rules["instance_data"] = next((one.data for one in machines if one.data is not None), None)
    user = merge(_unpacked(asked, machines), how=definition(asked["how"]), **rules)
    given = {name: _layer(name, asked[name], rules) for name in _LAYERS if asked[name]}
    for name in ("vendor", "vendor2"):
        beside = [blob for machine in machines for blob in getattr(machine, name)]
        if beside and name not in given:
            given[name] = merge(beside, **rules)
    if not given and asked["confd"] is None:
        return known(user, asked), user
    if "cmdline" in given:
        given["config_url"] = url_of_cmdline(given["cmdline"].headers["cmdline"])
    if asked["confd"] is not None:
        given["confd"] = read_confd(Path(asked["confd"]), **rules)
    return user, known(merge_layers(user=user, **rules, **given), asked)


def known(merged: Merged, asked: Mapping[str, Any]) -> Merged:
    """The same. raises: UnknownLayer with --strict, where not all of it can be read"""
    if asked["strict"]:
        refuse_unknown(merged.unknown.values())
    return merged


def parts_of(asked: Mapping[str, Any]) -> list[CloudPart]:
    """The parts of the files. raises: CloudConfigError"""
    return _unpacked(asked, _given(asked))


def definition(text: str | None) -> Any:
    """The mergers that a word or a definition names; None for None. raises: CloudConfigError"""
    return None if text is None else word_or_definition(text)


def _layer(name: str, files: list[str], rules: Mapping[str, Any]) -> Any:
    """What the files of one layer say: vendor-data is merged like user-data, all else is one config."""
    if name in ("vendor", "vendor2"):
        return merge([blob for file in files for blob in vendor_in(_blob(file))], **rules)
    if name != "extra" and len(files) > 1:
        raise BadArgument(f"--{name} is one file", hint="merge several first, or use --extra")
    if name == "builtin" and files[0] in get_args(ReleaseName):
        return release_of(files[0]).builtin
    parts = []
    for file in files:
        blob = _blob(file)
        text = blob.content if isinstance(blob.content, str) else blob.content.decode("utf-8", "surrogateescape")
        if name == "cmdline":
            text = text.replace("\0", " ").strip()  # /proc/1/cmdline of a container has zeros
            config = config_of_cmdline(text, rules["cloud_init"])
            whole = {"cmdline": text}
            parts.append(CloudPart(config, filename="kernel command line", headers=whole, file=blob.file, line=None))
        else:
            parts.append(CloudPart(text, filename=file, file=blob.file))
    return parts if name == "extra" else parts[0]


def _given(asked: Mapping[str, Any]) -> list[Given]:
    """What the files give to the one machine that is meant. raises: CloudConfigError"""
    files = asked["files"]
    form = asked["input_form"]
    found = (given_in(_blob(file) if file == "-" else Path(file), form=form) for file in files)
    return joined(one_of(one, asked["resource"]) for one in found)


def _unpacked(asked: Mapping[str, Any], machines: Iterable[Given]) -> list[CloudPart]:
    root = None if asked["include_root"] is None else Path(asked["include_root"])
    blobs: list[Any] = []
    for one in machines:
        blobs += [one.layer] if one.unknown else one.user
    return unpack(blobs, launch_index=asked["launch_index"], include_root=root)


def _blob(file: str) -> Blob:
    return blob_of(Path(file)) if file != "-" else Blob(standard_input(), "standard input")

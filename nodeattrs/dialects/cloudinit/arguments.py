"""Command line options that the commands of cloud-init share, and the functions that read the files they name.

*options* is the parsed command line: option name -> value, as `Question.arguments` has it. This module prints nothing
and reports no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from nodeattrs.contract.command import Argument
from nodeattrs.core.fold import refuse_unknown
from nodeattrs.dialects.cloudinit.inputs import FORM_NAMES, Given, choose_machine, given_in, joined_profiles, vendor_in
from nodeattrs.dialects.cloudinit.layers import cmdline_layers, merge_layers, read_confd
from nodeattrs.dialects.cloudinit.merged import Merged
from nodeattrs.dialects.cloudinit.mergers import word_or_definition
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.releases import ReleaseName, release_of
from nodeattrs.dialects.cloudinit.templates import InstanceData
from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of, unpack
from nodeattrs.dialects.cloudinit.userdata import merge
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


def merged_files(options: Mapping[str, Any], data: InstanceData | None = None) -> tuple[Merged, Merged]:
    """Read and merge the files that the options name.

    Returns two results: the user-data merged alone, and the user-data merged with all other layers. Options such as
    --vendor and --confd name other layers; a folder among the files may have vendor-data, too. Without other layers,
    both results are the same object.

    options: the values of the command's options
    data:    instance data for templates; None: the file of --instance-data, or else the meta-data of the first folder
             that has some
    raises:  CloudConfigError, for a file that cannot be read or unpacked; BadArgument; UnknownLayer with --strict
    """
    rules: dict[str, Any] = {"mode": options["mode"], "cloud_init": options["cloud_init"]}
    if data is not None:
        rules["instance_data"] = data
    elif options["instance_data"] is not None:
        rules["instance_data"] = InstanceData.read(Path(options["instance_data"]))
    machines = _given(options)
    if "instance_data" not in rules:
        rules["instance_data"] = next((one.data for one in machines if one.data is not None), None)
    user = merge(_unpacked(options, machines), how=definition(options["how"]), **rules)
    given = {name: _layer(name, options[name], rules) for name in _LAYERS if options[name]}
    for name in ("vendor", "vendor2"):
        beside = [blob for machine in machines for blob in getattr(machine, name)]
        if beside and name not in given:
            given[name] = merge(beside, **rules)
    if not given and options["confd"] is None:
        return refuse_unread(user, options), user
    if "cmdline" in given:
        given |= cmdline_layers(given["cmdline"].text, rules["cloud_init"], given["cmdline"].file)
    if options["confd"] is not None:
        given["confd"] = read_confd(Path(options["confd"]), **rules)
    return user, refuse_unread(merge_layers(user=user, **rules, **given), options)


def refuse_unread(merged: Merged, options: Mapping[str, Any]) -> Merged:
    """Returns *merged* unchanged. raises: UnknownLayer, with --strict and a layer that was not read"""
    if options["strict"]:
        refuse_unknown(merged.unknown.values())
    return merged


def parts_of(options: Mapping[str, Any]) -> list[CloudPart]:
    """Read and unpack the files: the parts of one machine's user-data, in order. raises: CloudConfigError"""
    return _unpacked(options, _given(options))


def definition(text: str | None) -> Any:
    """The Definition that an option names by a word ("append") or by its text; None for None.

    raises: CloudConfigError
    """
    return None if text is None else word_or_definition(text)


def _layer(name: str, files: list[str], rules: Mapping[str, Any]) -> Any:
    """One layer as `merge_layers` takes it: vendor-data is merged like user-data, any other layer is one file.

    raises: BadArgument, for several files of a layer other than vendor-data and --extra; CloudConfigError
    """
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
        parts.append(CloudPart(text, filename=file, file=blob.file))
    return parts if name == "extra" else parts[0]


def _given(options: Mapping[str, Any]) -> list[Given]:
    """The inputs of the machine that --resource names, or of the only one. raises: CloudConfigError"""
    files = options["files"]
    form = options["input_form"]
    found = (given_in(_blob(file) if file == "-" else Path(file), form=form) for file in files)
    return joined_profiles(choose_machine(one, options["resource"]) for one in found)


def _unpacked(options: Mapping[str, Any], machines: Iterable[Given]) -> list[CloudPart]:
    root = None if options["include_root"] is None else Path(options["include_root"])
    sources = [source for machine in machines for source in machine.sources]
    return unpack(sources, launch_index=options["launch_index"], include_root=root)


def _blob(file: str) -> Blob:
    return blob_of(Path(file)) if file != "-" else Blob(standard_input(), "standard input")

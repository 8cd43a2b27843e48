"""`nodeattrs cloud-config`: merge, explain, check and pack cloud-init user-data, offline."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nodeattrs.cli.checks import words_of
from nodeattrs.cli.cloud_config_check import add_cloud_check, check
from nodeattrs.cli.exits import DONE, FAILED
from nodeattrs.cli.options import (
    actions_of,
    add_budget,
    add_output,
    add_run_code,
    add_strict,
    add_unread,
    path_of,
    sensitive_paths,
)
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.adapters.cloudinit import Blob, CloudPart, Given, Instance, InstanceData, Merged
    from nodeattrs.core.unread import Unread
    from nodeattrs.reports.findings import Finding

SUMMARY = "merge cloud-init user-data offline, and say why"
DESCRIPTION = """\
Merge cloud-init user-data as cloud-init does, without a machine, without root and without a network:
any mix of cloud-config, MIME, gzip, archives and JSON patches, with conf.d folders and vendor-data."""
EXAMPLES = """\
examples:
  nodeattrs cloud-config merge base.yaml web.yaml
  nodeattrs cloud-config explain base.yaml web.yaml --path runcmd
  nodeattrs cloud-config check user-data.mime
  nodeattrs cloud-config merge base.yaml web.yaml --how append
  nodeattrs cloud-config pack base.yaml web.yaml --merge-type append > user-data.mime
"""

_EPILOGS = {
    "merge": """\
examples:
  nodeattrs cloud-config merge base.yaml web.yaml
  nodeattrs cloud-config merge user-data.mime --vendor vendor.yaml --confd /etc/cloud/cloud.cfg
  nodeattrs cloud-config merge base.yaml web.yaml --format cloud-init    the bytes that cloud-init writes
""",
    "explain": """\
examples:
  nodeattrs cloud-config explain base.yaml web.yaml                      what each part changed
  nodeattrs cloud-config explain base.yaml web.yaml --path runcmd.0
  nodeattrs cloud-config explain --instance /var/lib/cloud/instance      a machine, and where it differs
""",
    "check": """\
docs/cloudinit.md has a section for each warning, and `nodeattrs codes CODE` explains one
""",
    "pack": """\
examples:
  nodeattrs cloud-config pack base.yaml web.yaml --merge-type 'list(append)+dict(recurse_list)' > user-data.mime
""",
}

_LAYERS = (
    ("extra", "a further configuration file, stronger than all; may be repeated, the first one strongest"),
    ("env", "the file that the environment names"),
    ("vendor2", "vendor-data 2"),
    ("vendor", "vendor-data"),
    ("datasource", "the config of the data source"),
    ("cmdline", "the kernel command line, as /proc/cmdline has it"),
    ("runtime", "the runtime configuration file"),
    ("builtin", "the built-in values; a release, such as 26.2, stands for its own"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: four of its own."""
    summaries = {
        "merge": "print the merged config",
        "explain": "say which part set, extended, replaced or dropped what, and by which merger",
        "check": "report what is wrong or doubtful; the exit code is 1 if anything is wrong",
        "pack": "print a MIME message of the files, with merge headers",
    }
    for name, one in actions_of(parser, summaries, _EPILOGS):
        one.add_argument(
            "files",
            metavar="FILE",
            nargs="*" if name == "explain" else "+",
            help="user-data of any kind, in order: files, folders, a plan or state of Terraform as JSON, a secret of "
            "Cluster API; - is standard input",
        )
        one.add_argument("--resource", metavar="ADDRESS", help="of several machines in one file this one")
        one.add_argument("--launch-index", metavar="N", type=int, help="keep the parts for this launch index")
        one.add_argument(
            "--include-root", metavar="DIR", help="follow #include in this folder only (default: list them)"
        )
        if name == "pack":
            one.add_argument("--merge-type", metavar="DEFINITION", help="the header for parts that have none")
            _add_traceback(one)
            continue
        _add_merging(one)
        add_strict(one)
        add_run_code(one)
        if name != "check":
            one.add_argument("--warn", action="store_true", help="look for what `check` looks for, too")
            one.add_argument(
                "--ignore", metavar="CODE", action="append", default=[], help="switch a warning off: its code or name"
            )
            one.add_argument("--show-secrets", action="store_true", help="print passwords, keys and tokens in clear")
        if name == "merge":
            _add_merge_output(one)
        elif name == "check":
            add_cloud_check(one)
        else:
            add_output(one)
        if name == "explain":
            one.add_argument(
                "--path", metavar="PATH", action="append", default=[], help="such as runcmd.0; may be repeated"
            )
            one.add_argument(
                "--all", action="store_true", help="with --path: also the lines that decided how it merged"
            )
            one.add_argument(
                "--instance",
                metavar="DIR",
                help="instead of files: a machine, such as /var/lib/cloud/instance, the root of its disk, or a folder "
                "with copies of its files; also says where it differs from what they give",
            )
            one.add_argument(
                "--steps", action="store_true", help="also what each part changed (default: without --path)"
            )


def _add_merging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("merging")
    group.add_argument(
        "--mode", choices=("current", "documented"), default="current", help="whose rules (default: current)"
    )
    group.add_argument(
        "--how",
        metavar="DEFINITION",
        help="what if every part had this definition: append, prepend, replace, deep, or list(...)+dict(...)",
    )
    group.add_argument(
        "--cloud-init",
        choices=("22.4", "23.1", "23.4", "24.1", "26.2"),
        default="26.2",
        help="the release whose rules apply (default: 26.2)",
    )
    group.add_argument(
        "--instance-data",
        metavar="FILE",
        help="what templates are rendered with: instance-data-sensitive.json of a machine, or what `cloud-init query "
        "--all` prints (default: a template is a layer that nobody can read)",
    )
    layers = parser.add_argument_group("layers", "with any of these, user-data is one layer of several")
    layers.add_argument("--confd", metavar="FILE", help="a cloud.cfg with its cloud.cfg.d, or a folder of *.cfg")
    for name, text in _LAYERS:
        layers.add_argument(f"--{name}", metavar="FILE", action="append", help=text)


def _add_merge_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=("yaml", "json", "mime", "cloud-init"),
        default="yaml",
        help="yaml; json; mime: one message with a merge header for each part; "
        "cloud-init: the file that cloud-init writes (default: yaml)",
    )
    group.add_argument("--lenient", action="store_true", help="end with 0 although a part was rejected or failed")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help=argparse.SUPPRESS)
    group.add_argument("--traceback", action="store_true", help="on an error, show the whole way to it")
    add_unread(group)
    add_budget(group)


def _add_traceback(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--traceback", action="store_true", help="on an error, show the whole way to it")
    add_unread(parser)
    add_budget(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the four."""
    return {"merge": _merge, "explain": _explain, "check": _check, "pack": _pack}[options.action](options, terminal)


def _merge(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.config_text import json_tree, yaml_text

    user, merged = _merged(options)
    _refuse_foreign(merged)
    terminal.warn(_wanted(merged, options))
    merged = _printable(merged, options, terminal)
    config = merged.config if merged.config is not None else {}
    if options.format == "json":
        from nodeattrs.texts.hidden import ESCAPES

        terminal.text(json.dumps(json_tree(config), indent=2, ensure_ascii=False).translate(ESCAPES) + "\n")
    elif options.format == "mime":
        from nodeattrs.adapters.cloudinit import pack

        terminal.text(pack(_for_message(report.part for report in user.parts), _definition(options.how)))
    elif options.format == "cloud-init":
        terminal.text(merged.text)
    else:
        terminal.text(yaml_text(config))
    terminal.note_unread(_unread(merged))
    return DONE if merged.ok or options.lenient else FAILED


def _explain(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.cloudinit import masked
    from nodeattrs.reports.cloud_config import explained_config

    if options.all and not options.path:
        options.refuse("--all names what decided about a path, so it needs --path")
    paths, instance = tuple(map(path_of, options.path)), None
    if options.instance is None:
        if not options.files:
            options.refuse("name at least one FILE, or --instance DIR")
        _, merged = _merged(options)
        _refuse_foreign(merged)
    else:
        if options.files:
            options.refuse("--instance reads the files of the machine: name no others")
        instance = _instance(options)
        merged = instance.merged
    terminal.warn(_wanted(merged, options))
    if not options.show_secrets:
        sensitive = sensitive_paths(options, options.instance, *options.files)
        instance = instance and instance.masked(sensitive)
        merged = instance.merged if instance else masked(merged, sensitive)
    is_decided = paths and not any(merged.trace(path).unknown for path in paths)
    unread = [] if is_decided else _unread(merged)
    terminal.report(explained_config(merged, paths, options.steps, options.all, instance), unread)
    return DONE


def _check(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.cloudinit import given_in

    def merged_of(files: list[str], address: str | None, data: InstanceData | None) -> Merged:
        of_these = argparse.Namespace(**vars(options) | {"files": files, "resource": address, "strict": False})
        return _merged(of_these, data)[1]

    return check(options, terminal, lambda file: given_in(Path(file)), merged_of)


def _printable(merged: Merged, options: argparse.Namespace, terminal: Terminal) -> Merged:
    """What may be printed of it. raises: BadArgument, for a message of parts that have secrets in them"""
    if options.show_secrets:
        return merged
    from nodeattrs.adapters.cloudinit import masked, veiled

    shown = masked(merged, sensitive_paths(options, *options.files))
    has_secrets = shown.value != merged.value
    if options.format == "mime":
        from nodeattrs.errors import BadArgument

        if has_secrets or any(veiled(report.part.text) != report.part.text for report in merged.parts):
            raise BadArgument("the parts have secrets in them", hint="--show-secrets prints them as they are")
    if has_secrets:
        terminal.remark(["secrets are withheld; --show-secrets prints them"])
    return shown


def _pack(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.cloudinit import pack, refuse_unknown_options

    definition = _definition(options.merge_type)
    if definition is not None:
        refuse_unknown_options(definition)
    terminal.text(pack(_for_message(_parts(options)), definition))
    return 0


def _merged(options: argparse.Namespace, data: InstanceData | None = None) -> tuple[Merged, Merged]:
    """The merged user-data, and the whole: the same unless there are layers.

    data: what templates are rendered with, in place of the instance data of the options
    """
    from nodeattrs.adapters.cloudinit import merge

    words_of(options, "ignore")
    rules: dict[str, Any] = {"mode": options.mode, "cloud_init": options.cloud_init}
    if data is not None:
        rules["instance_data"] = data
    elif options.instance_data is not None:
        rules["instance_data"] = _instance_data(options.instance_data)
    machines = _given(options)
    user = merge(_unpacked(options, machines), how=_definition(options.how), **rules)
    layers: dict[str, Any] = {name: _layer(name, getattr(options, name), rules) for name, _ in _LAYERS}
    given = {name: layer for name, layer in layers.items() if layer is not None}
    for name in ("vendor", "vendor2"):
        beside = [blob for machine in machines for blob in getattr(machine, name)]
        if beside and name not in given:
            given[name] = merge(beside, **rules)
    if not given and options.confd is None:
        return _known(user, options), user
    from nodeattrs.adapters.cloudinit import merge_layers, read_confd, url_of_cmdline

    if "cmdline" in given:
        given["config_url"] = url_of_cmdline(given["cmdline"].headers["cmdline"])
    if options.confd is not None:
        given["confd"] = read_confd(Path(options.confd), **rules)
    return user, _known(merge_layers(user=user, **rules, **given), options)


def _refuse_foreign(merged: Merged) -> None:
    """raises: CloudConfigError, where there are parts, and cloud-init ignores each of them"""
    from nodeattrs.adapters.cloudinit import CloudConfigError
    from nodeattrs.adapters.cloudinit.codes import INPUT
    from nodeattrs.adapters.cloudinit.lints.texts import foreign

    if merged.parts and all(report.is_foreign for report in merged.parts):
        first = merged.parts[0].part
        message, way = foreign(first)
        raise CloudConfigError(INPUT, message, file=first.file, line=first.line, hint=way)


def _instance(options: argparse.Namespace) -> Instance:
    from nodeattrs.adapters.cloudinit import read_instance

    instance = read_instance(Path(options.instance), options.cloud_init)
    _known(instance.merged, options)
    return instance


def _known(merged: Merged, options: argparse.Namespace) -> Merged:
    """The same. raises: UnknownLayer, where somebody asked to be strict and not all of it can be read"""
    if options.strict:
        from nodeattrs.core.fold import refuse_unknown

        refuse_unknown(merged.unknown.values())
    return merged


def _unread(merged: Merged) -> list[Unread]:
    """The layers that cannot be read and may override what is shown."""
    from nodeattrs.core.unread import unread_layer

    return [unread_layer(layer.value, layer.origin.at(())) for layer in merged.unknown.values()]


def _instance_data(file: str) -> InstanceData:
    from nodeattrs.adapters.cloudinit import InstanceData

    return InstanceData.read(Path(file))


def _layer(name: str, files: list[str] | None, rules: dict[str, Any]) -> Any:
    """What one layer says: vendor-data is merged like user-data, all else is one config."""
    if not files:
        return None
    from nodeattrs.adapters.cloudinit import CloudPart, ReleaseName, config_of_cmdline, merge, release_of
    from nodeattrs.errors import BadArgument

    if name in ("vendor", "vendor2"):
        from nodeattrs.adapters.cloudinit import vendor_in

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


def _parts(options: argparse.Namespace) -> list[CloudPart]:
    return _unpacked(options, _given(options))


def _unpacked(options: argparse.Namespace, machines: list[Given]) -> list[CloudPart]:
    from nodeattrs.adapters.cloudinit import unpack

    root = Path(options.include_root) if options.include_root is not None else None
    blobs: list[Any] = []
    for one in machines:
        blobs += [one.layer] if one.unknown else one.user
    return unpack(blobs, launch_index=options.launch_index, include_root=root)


def _given(options: argparse.Namespace) -> list[Given]:
    """What the files give to the one machine that is meant."""
    from nodeattrs.adapters.cloudinit import given_in
    from nodeattrs.adapters.cloudinit.inputs import one_of

    return [one_of(given_in(_blob(file) if file == "-" else Path(file)), options.resource) for file in options.files]


def _blob(file: str) -> Blob:
    from nodeattrs.adapters.cloudinit import Blob, blob_of
    from nodeattrs.cli.streams import standard_input

    return blob_of(Path(file)) if file != "-" else Blob(standard_input(), "standard input")


def _for_message(parts: Iterable[CloudPart]) -> list[CloudPart]:
    """The parts; one that is a whole file is called like the file."""
    named = []
    for part in parts:
        whole = part.file is not None and part.line == 1 and re.fullmatch(r"part-\d+", part.filename or "")
        named.append(part._replace(filename=os.path.basename(part.file or "")) if whole else part)
    return named


def _definition(text: str | None) -> Any:
    from nodeattrs.adapters.cloudinit import word_or_definition

    return None if text is None else word_or_definition(text)


def _wanted(merged: Merged, options: argparse.Namespace) -> list[Finding]:
    """What is printed beside a merge: faults, ignored parts, and the warnings that the caller asked for."""
    ignored = {report.number for report in merged.parts if report.is_foreign}
    if merged.ok and not ignored and not options.warn:
        return []
    from nodeattrs.reports.cloud_config import faults_of, finding_about, findings_of
    from nodeattrs.reports.findings import Selection

    if options.warn:
        found = list(findings_of(merged))
    else:
        found = [*faults_of(merged)]
        found += [finding_about(one, merged.place_of(one)) for one in merged.warnings if one.number in ignored]
    left, _ = Selection(ignore=words_of(options, "ignore")).of(found)
    return left

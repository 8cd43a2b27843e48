"""`nodeattrs cloud-config`: merge, explain, check and pack cloud-init user-data, offline."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.tree import parse
from nodeattrs.core.unread import Unread, unread_layer
from nodeattrs.dialects.cloudinit.arguments import (
    FILES,
    MACHINE,
    MERGING,
    definition,
    merged_files,
    parts_of,
    refuse_unread,
)
from nodeattrs.dialects.cloudinit.checking import CHECKING, check
from nodeattrs.dialects.cloudinit.codes import INPUT
from nodeattrs.dialects.cloudinit.config_text import json_tree, yaml_text
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.instance import read_instance
from nodeattrs.dialects.cloudinit.lints import refuse_unknown_options
from nodeattrs.dialects.cloudinit.lints.texts import why_ignored
from nodeattrs.dialects.cloudinit.merged import Merged, masked
from nodeattrs.dialects.cloudinit.packing import pack
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.reports import explained_config, faults_of, finding_about, findings_of
from nodeattrs.dialects.cloudinit.secrets import veiled
from nodeattrs.errors import BadArgument, BadUsage
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.project.config import listed_codes
from nodeattrs.project.settings import sensitive_beside
from nodeattrs.reports.findings import Finding
from nodeattrs.reports.selection import Selection

_MANY: Mapping[str, Any] = {"action": "append", "default": []}
_FLAG: Mapping[str, Any] = {"action": "store_true"}

_SHOWN = (
    Argument(("--warn",), "look for what `check` looks for, too", _FLAG),
    Argument(("--ignore",), "switch a warning off: its code or name", {"metavar": "CODE", **_MANY}),
    Argument(("--show-secrets",), "print passwords, keys and tokens in clear", _FLAG),
)
_WHY = (
    Argument(("--path",), "such as runcmd.0; may be repeated", {"metavar": "PATH", **_MANY}),
    Argument(("--because",), "with --path: also the lines that decided how it merged", _FLAG),
    Argument(
        ("--instance",),
        "instead of files: a machine, such as /var/lib/cloud/instance, the root of its disk, or a folder with copies "
        "of its files; also says where it differs from what they give",
        {"metavar": "DIR"},
    ),
    Argument(("--steps",), "also what each part changed (default: without --path)", _FLAG),
)


def _merge(question: Question) -> Output:
    options = question.arguments
    ignored = listed_codes("ignore", options["ignore"])
    user, merged = merged_files(options)
    _refuse_foreign(merged)
    question.caller.warn(_warnings(merged, options["warn"], ignored))
    merged = _printable(merged, question)
    config = merged.config if merged.config is not None else {}
    if options["format"] == "json":
        text = json.dumps(json_tree(config), indent=2, ensure_ascii=False).translate(ESCAPES) + "\n"
    elif options["format"] == "mime":
        text = pack(_for_message(report.part for report in user.parts), definition(options["how"]))
    elif options["format"] == "cloud-init":
        text = merged.text
    else:
        text = yaml_text(config)
    return Output(text, 0 if merged.ok or options["allow_failed"] else 1, unread=_unread(merged))


def _explain(question: Question) -> Output:
    options = question.arguments
    if options["because"] and not options["path"]:
        raise BadUsage("--because names what decided about a path, so it needs --path")
    if options["instance"] is None and not options["files"]:
        raise BadUsage("name at least one FILE, or --instance DIR")
    if options["instance"] is not None and options["files"]:
        raise BadUsage("--instance reads the files of the machine: name no others")
    ignored = listed_codes("ignore", options["ignore"])
    paths, instance = tuple(map(parse, options["path"])), None
    if options["instance"] is None:
        _, merged = merged_files(options)
        _refuse_foreign(merged)
    else:
        instance = read_instance(Path(options["instance"]), options["cloud_init"])
        merged = refuse_unread(instance.merged, options)
    question.caller.warn(_warnings(merged, options["warn"], ignored))
    if not options["show_secrets"]:
        sensitive = sensitive_beside(None, options["instance"], *options["files"])
        instance = instance and instance.masked(sensitive)
        merged = instance.merged if instance else masked(merged, sensitive)
    report = explained_config(merged, paths, options["steps"], options["because"], instance)
    is_decided = paths and not any(merged.trace(path).unknown for path in paths)
    return Output(report, unread=[] if is_decided else _unread(merged))


def _pack(question: Question) -> Output:
    wanted = definition(question.arguments["merge_type"])
    if wanted is not None:
        refuse_unknown_options(wanted)
    return Output(pack(_for_message(parts_of(question.arguments)), wanted))


def _refuse_foreign(merged: Merged) -> None:
    """raises: CloudConfigError, where there are parts, and cloud-init ignores each of them"""
    if merged.parts and all(report.is_foreign for report in merged.parts):
        first = merged.parts[0].part
        message, way = why_ignored(first)
        raise CloudConfigError(INPUT, message, file=first.file, line=first.line, hint=way)


def _warnings(merged: Merged, with_lints: bool, ignored: Sequence[str]) -> list[Finding]:
    """The warnings beside a merge: faults and ignored parts, or with --warn all that `check` finds.

    ignored: codes that are left out
    """
    numbers = {report.number for report in merged.parts if report.is_foreign}
    if with_lints:
        found = list(findings_of(merged))
    else:
        found = list(faults_of(merged))
        lints = merged.warnings if numbers else ()
        found += [finding_about(one, merged.place_of(one)) for one in lints if one.number in numbers]
    left, _ = Selection(ignore=ignored).reported(found)
    return left


def _printable(merged: Merged, question: Question) -> Merged:
    """The merged config without its secrets, unless --show-secrets is given.

    raises: BadArgument, for --format mime if a part has a secret
    """
    options = question.arguments
    if options["show_secrets"]:
        return merged
    shown = masked(merged, sensitive_beside(None, *options["files"]))
    if options["format"] == "mime" and _may_parts_have_secrets(merged, shown):
        raise BadArgument("the parts may have secrets in them", hint="--show-secrets prints them as they are")
    if shown.value != merged.value:
        question.caller.remark(["secrets are withheld; --show-secrets prints them"])
    return shown


_NOT_SEEN = ("rejected", "failed", "template", "disabled")
"""The status of a part whose values are not seen, so that any of them may be a secret."""


def _may_parts_have_secrets(merged: Merged, shown: Merged) -> bool:
    """Whether the text of a part may have a secret: also one that a later part overrides.

    shown: the merged config without its secrets
    """
    texts = [report.part.text for report in merged.parts]
    if any(report.status in _NOT_SEEN for report in merged.parts) or any(veiled(text) != text for text in texts):
        return True
    return [*shown.changes()] != [*merged.changes()]


def _unread(merged: Merged) -> list[Unread]:
    """The layers that cannot be read and may override what is shown."""
    return [unread_layer(layer.value, layer.origin.at(())) for layer in merged.unknown.values()]


def _for_message(parts: Iterable[CloudPart]) -> list[CloudPart]:
    """The parts; one that is a whole file is called like the file."""
    named = []
    for part in parts:
        whole = part.file is not None and part.line == 1 and re.fullmatch(r"part-\d+", part.filename or "")
        named.append(part._replace(filename=os.path.basename(part.file or "")) if whole else part)
    return named


COMMANDS: Mapping[str, Command] = {
    "merge": Command(
        "print the merged config",
        "Print the merged config: as YAML, as JSON, as mime (one message with a merge header for each part), or as\n"
        "cloud-init (the file that cloud-init writes).",
        [
            FILES,
            *MACHINE,
            *MERGING,
            *_SHOWN,
            Argument(("--allow-failed",), "end with 0 although a part was rejected or failed", _FLAG),
        ],
        (
            "merge cookbooks_example/cloud-init/base.yaml cookbooks_example/cloud-init/web.yaml",
            "merge user-data.mime --vendor vendor.yaml --confd /etc/cloud/cloud.cfg",
            "merge base.yaml web.yaml --format cloud-init  # the bytes that cloud-init writes",
        ),
        {},
        _merge,
        ("strict", "code", "output"),
        ("yaml", "json", "mime", "cloud-init"),
    ),
    "explain": Command(
        "print which part set, extended, replaced or dropped each value, and the merger",
        "",
        [FILES._replace(keywords={**FILES.keywords, "nargs": "*"}), *MACHINE, *MERGING, *_SHOWN, *_WHY],
        (
            "explain base.yaml web.yaml                  # what each part changed",
            "explain base.yaml web.yaml --path runcmd.0",
            "explain --instance /var/lib/cloud/instance  # a machine, and where it differs",
        ),
        {},
        _explain,
        ("strict", "code", "output"),
    ),
    "check": Command(
        "report what is wrong or doubtful; the exit code is 1 if anything is wrong",
        "Report what is wrong or doubtful; the exit code is 1 if anything is wrong.\n"
        "`nodeattrs codes CODE` explains a finding; docs/cloudinit.md has examples of warnings.",
        [FILES, *MACHINE, *MERGING, *CHECKING],
        ("check --together cookbooks_example/cloud-init/base.yaml cookbooks_example/cloud-init/web.yaml",),
        {},
        check,
        ("strict", "code", "checking"),
    ),
    "pack": Command(
        "print a MIME message of the files, with merge headers",
        "",
        [
            FILES,
            *MACHINE,
            Argument(("--merge-type",), "the header for parts that have none", {"metavar": "DEFINITION"}),
        ],
        ("pack base.yaml web.yaml --merge-type 'list(append)+dict(recurse_list)' > user-data.mime",),
        {},
        _pack,
        ("text",),
    ),
}

"""The findings about user-data: of the files that `nodeattrs cloud-config check` names, and of all files in a folder.

`lints`, `schema` and the merge make the findings. This module chooses what is merged. In a folder, the first lines of a
file decide whether it is checked. Folders of tests and of other tools, such as node_modules, are skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Argument, CheckFindings, Output, Question
from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.dialects.cloudinit.arguments import merged_files
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.inputs import Given, about_seed, given_in
from nodeattrs.dialects.cloudinit.kubeadm import ADDED
from nodeattrs.dialects.cloudinit.lints.texts import is_for_another
from nodeattrs.dialects.cloudinit.lints.values import about_size
from nodeattrs.dialects.cloudinit.other_templates import filled_as_jinja, language_of
from nodeattrs.dialects.cloudinit.parts import NODE_CONFIG
from nodeattrs.dialects.cloudinit.reports import (
    finding_about,
    finding_about_unread,
    finding_that_ended,
    findings_of,
    findings_of_each_branch,
)
from nodeattrs.dialects.cloudinit.schema import Schema, schema_file
from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of
from nodeattrs.dialects.cloudinit.userdata import merge
from nodeattrs.errors import MissingExtra
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.project.settings import sensitive_beside
from nodeattrs.reports.findings import Finding

_HEAD = b"#cloud-config"
_PASSED = frozenset((".git", "node_modules", "vendor", "cookbooks", "modules", "spec", "test", "tests"))
_SUFFIXES = ("", ".yaml", ".yml", ".cfg", ".txt")
_TEMPLATE = re.compile(rb"\$\{|%\{~? *(?:if|for)\b|\{\{|\{%|<%")
_JINJA = re.compile(rb"## template:\s*jinja")
_UNREAD = "was not looked at: is a template"
_MOST_FILES = 20_000


class _Form(Enum):
    """The form of a file: plain, a template of cloud-init, or a template of another program with or without blocks."""

    PLAIN = "plain"
    JINJA = "jinja"
    BLOCKS = "blocks"
    TEMPLATE = "template"


def configs_in(root: Path) -> dict[str, bool]:
    """The files that begin with `#cloud-config`: path relative to *root*, sorted -> whether cloud-init can read it.

    It is False for a template of another program, and True for a template of Jinja with cloud-init's header.
    """
    found = {path.relative_to(root).as_posix(): form in (_Form.PLAIN, _Form.JINJA) for path, form in _configs_in(root)}
    return dict(sorted(found.items()))


def checked_files(root: Path, count: Callable[[str], object]) -> Iterator[CheckedFiles]:
    """Check the files below *root* that begin with `#cloud-config`. Yields one result for all, nothing without files.

    A template of Jinja is checked with each of its branches. A template of another program is checked in the same way
    if it has blocks, which are conditions or loops. A note names each template, since the text that a machine gets is
    not known.

    count: called with the path of a file, relative to *root*, before the file is checked
    """
    forms = dict(_configs_in(root))
    files = sorted(path for path, form in forms.items() if form is not _Form.TEMPLATE)
    found: list[Finding] = []
    for path in files:
        blob = blob_of(path)
        blob.file = path.relative_to(root).as_posix()
        count(blob.file)
        found += findings_of(merge([blob])) if forms[path] is _Form.PLAIN else _of_each_branch(blob, forms[path])
    templates = [path for path, form in forms.items() if form in (_Form.JINJA, _Form.TEMPLATE)]
    for path in templates:
        found.append(Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, path.relative_to(root).as_posix()))
    if forms:
        yield CheckedFiles("cloud-config file", len(files), found)


def _of_each_branch(blob: Blob, form: _Form) -> Iterator[Finding]:
    """The findings about a template that hold on any machine. Without Jinja2, at most a note that it is unchecked."""
    try:
        yield from findings_of_each_branch(lambda data: merge([blob], instance_data=data))
    except MissingExtra as error:
        if form is _Form.BLOCKS:  # `checked_files` names all others
            yield Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, blob.file, hint=error.hint)


def _configs_in(root: Path) -> Iterator[tuple[Path, _Form]]:
    """Each file that begins with `#cloud-config`, and its form; at most `_MOST_FILES` files are opened."""
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED)
        for path in (Path(folder, name) for name in names if os.path.splitext(name)[1] in _SUFFIXES):
            left -= 1
            if left >= 0 and path.is_file():
                with suppress(OSError), path.open("rb") as stream:
                    first = stream.readline(200)
                    is_jinja = _JINJA.match(first) is not None
                    if (stream.readline(200) if is_jinja else first).startswith(_HEAD):
                        yield path, _Form.JINJA if is_jinja else _form_of(stream.read(1_000_000))


def _form_of(text: bytes) -> _Form:
    if _TEMPLATE.search(text) is None:
        return _Form.PLAIN
    config = text.decode("utf-8", "replace")
    language = language_of(config)
    is_read = language is not None and filled_as_jinja(config, language) is not None
    return _Form.BLOCKS if is_read else _Form.TEMPLATE


# --- the command

_WHAT = "what is checked"
CHECKING = (
    Argument(
        ("--each",),
        "each file, and each machine of a plan, alone",
        {"action": "store_true"},
        _WHAT,
        "way",
    ),
    Argument(
        ("--together",), "all files as user-data of one machine (default)", {"action": "store_true"}, _WHAT, "way"
    ),
    Argument(
        ("--schema",),
        "cloud-init's JSON schema: its file, the folder of a cloud-init, or the word installed",
        {"metavar": "FILE"},
        _WHAT,
    ),
    Argument(
        ("--cloud",),
        "whose limit of size counts (default: a note)",
        {"choices": ("aws", "azure", "digitalocean", "gcp", "hetzner", "openstack", "oracle")},
        _WHAT,
    ),
)


def check(question: Question) -> Output:
    """Check the files together, or with --each every file and every machine of a document by itself.

    The output has the findings of the merge, of the schema and about size, and the numbers of files and parts. A file
    that cannot be read or unpacked is a finding. A layer that was not read is a finding, too.

    raises: BadArgument or DocumentError, for the file of --schema; MissingExtra
    """
    options = question.arguments
    files, resource = options["files"], options["resource"]
    schema = None
    if options["schema"] is not None:
        schema = Schema(schema_file(options["schema"]), sensitive_beside(None, *files))
    if len(files) > 1 and not (options["each"] or options["together"]):
        text = "files are checked together, as user-data of one machine; --each checks each by itself"
        question.caller.remark([f"{len(files)} {text}"])
    looked = {"file": len(files), "part": 0} if options["each"] else {"part": 0}
    given = {file: _tried(file, options["input_form"]) for file in files if file != "-"}
    checked = _each_alone if options["each"] else _all_together
    found = list(checked(options, given, schema, looked))
    added = [one for machines in given.values() for machine in machines for one in machine.added if one.title == ADDED]
    question.caller.remark([f"{one.origin.at(()).place}: {ADDED} {one.value.reason}" for one in added])
    for folder in (Path(file) for file in given if Path(file).is_dir()):
        found += map(finding_that_ended, about_seed(folder))
    wanted = (None, "", resource) if resource else None
    sized = [(file, one) for file in given for one in given[file] if not wanted or one.address in wanted]
    found += _sizes(sized, options["cloud"])
    return Output(checked=CheckFindings(found, looked))


def _each_alone(
    options: Mapping[str, Any], given: Mapping[str, list[Given]], schema: Schema | None, looked: dict[str, int]
) -> Iterator[Finding]:
    """The findings about each file, and about each machine of a document, by itself. given: file -> its machines"""
    for file in options["files"]:
        machines = {one.address: one for one in given.get(file, ())}
        for address in machines or [options["resource"]]:
            resource = address or options["resource"]
            for found in _checked({**options, "files": [file], "resource": resource}, schema, looked):
                yield _of_machine(found, machines[address]) if address in machines else found


def _all_together(
    options: Mapping[str, Any], given: Mapping[str, list[Given]], schema: Schema | None, looked: dict[str, int]
) -> Iterator[Finding]:
    """The findings about all files as user-data of one machine. given: file -> its machines"""
    for found in _checked(options, schema, looked):
        machines = given.get(found.file or "", [])
        yield _of_machine(found, machines[0]) if len(machines) == 1 else found


def _of_machine(found: Finding, machine: Given) -> Finding:
    """A finding about a machine of a document, with the name of the machine; without a line at the machine's line."""
    if found.file != machine.origin.file or machine.origin.kind != "resource":
        return found
    is_named = not machine.address or found.message.startswith(machine.address)
    message = found.message if is_named else f"{machine.address}: {found.message}"
    if (found.line or 1) > 1:
        return found._replace(message=message)
    return found._replace(message=message, line=machine.origin.line or 1, column=machine.origin.column or 1)


def _tried(file: str, form: str | None) -> list[Given]:
    """The machines in a file; [] where it cannot be read, which is a finding of `_checked`."""
    try:
        return given_in(Path(file), form=form)
    except CloudConfigError:
        return []


def _checked(options: Mapping[str, Any], schema: Schema | None, looked: dict[str, int]) -> Iterator[Finding]:
    """The findings about one machine: files that cannot be unpacked or read, and unknown layers, among them.

    looked: its parts are counted there
    """
    lenient = {**options, "strict": False}
    try:
        _, merged = merged_files(lenient)
    except CloudConfigError as error:
        looked["part"] += 1
        yield finding_that_ended(error)
        return
    looked["part"] += len(merged.parts)
    is_all_foreign = all(report.is_foreign for report in merged.parts)
    for part in (report.part for report in merged.parts):
        if part.type == NODE_CONFIG or (is_all_foreign and is_for_another(part.text)):
            message = "was not looked at: it is for another program"
            yield Finding(LAYER_IS_UNKNOWN.entry.code, "note", message, part.file, part.line or 1)
    for number, one in merged.unknown.items():
        is_refused = merged.parts[number - 1].status == "rejected"  # what it holds is looked at below
        if options["strict"] or not (is_refused or one.title == ADDED):
            yield finding_about_unread(one, "error" if options["strict"] else "note")
    if any(report.status == "template" or report.part.filled_in_by for report in merged.parts):
        yield from findings_of_each_branch(lambda data: merged_files(lenient, data)[1], schema)
    else:
        yield from findings_of(merged, schema)


def _sizes(machines: list[tuple[str, Given]], cloud: str | None) -> Iterator[Finding]:
    """The findings about machines whose user-data is larger than a cloud takes. machines: (file, machine)"""
    for file, one in machines:
        contents = (blob.content for blob in one.user)
        size = sum(len(text if isinstance(text, bytes) else text.encode("utf-8", "replace")) for text in contents)
        if warned := about_size(size, one.address or file, cloud):
            yield finding_about(warned, one.origin._replace(name="", file=file))

"""`nodeattrs cloud-config check`: a linter of user-data, each file for itself or all as those of one machine.

It is handed what reads and merges files, and knows no cloud-init itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nodeattrs.cli.checks import add_checking, finish
from nodeattrs.cli.options import sensitive_paths, settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.command import Checked

if TYPE_CHECKING:
    from nodeattrs.cloudinit import Given, InstanceData, Merged, Schema
    from nodeattrs.core.tree import Path
    from nodeattrs.reports.findings import Finding

    MergedOf = Callable[[list[str], str | None, InstanceData | None], Merged]

_TOGETHER = "{} files are checked together, as those of one machine; --each checks each of them for itself"


def add_cloud_check(parser: argparse.ArgumentParser) -> None:
    """What only a check takes."""
    group = parser.add_argument_group("what is checked")
    ways = group.add_mutually_exclusive_group()
    ways.add_argument(
        "--each", action="store_true", help="each file for itself, as for a pre-commit hook, and each machine of a plan"
    )
    ways.add_argument("--together", action="store_true", help="all files as those of one machine (default)")
    group.add_argument(
        "--schema",
        metavar="FILE",
        help="also what cloud-init's JSON schema says: its file, the folder of a cloud-init, or the word installed",
    )
    group.add_argument(
        "--cloud",
        choices=("aws", "azure", "digitalocean", "gcp", "hetzner", "openstack", "oracle"),
        help="whose limit of size counts (default: a note past the smallest one, that of aws)",
    )
    add_checking(parser)


def check(
    options: argparse.Namespace,
    terminal: Terminal,
    given_of: Callable[[str], list[Given]],
    merged_of: MergedOf,
) -> int:
    """Say what is wrong or doubtful, and what was not looked at.

    given_of:  what a file gives, machine by machine
    merged_of: makes one machine of some files, or of the one in them that has an address; its templates are rendered
               with the instance data that the caller gives, else with the file of --instance-data
    """
    schema = _schema(options.schema, sensitive_paths(options, *options.files))
    files: list[str] = options.files
    if len(files) > 1 and not (options.each or options.together):
        terminal.remark([_TOGETHER.format(len(files))])
    looked = {"file": len(files), "part": 0} if options.each else {"part": 0}
    given = {file: _tried(given_of, file) for file in files if file != "-"}
    found: list[Finding] = []
    for file in files if options.each else ():
        for address in dict.fromkeys(one.address for one in given.get(file, ())) or [options.resource]:
            found += _checked(options, [file], address or options.resource, merged_of, schema, looked)
    if not options.each:
        found += _checked(options, files, options.resource, merged_of, schema, looked)
    wanted = (None, "", options.resource) if options.resource else None
    sized = [(file, one) for file in given for one in given[file] if not wanted or one.address in wanted]
    found += _sizes(sized, options.cloud)
    return finish(options, terminal, Checked(found, looked), settings_of(options).repository)


def _tried(given_of: Callable[[str], list[Given]], file: str) -> list[Given]:
    """What a file gives; nothing where it cannot be read: whoever merges it says why."""
    from nodeattrs.cloudinit import CloudConfigError

    try:
        return given_of(file)
    except CloudConfigError:
        return []


def _schema(place: str | None, sensitive: list[Path]) -> Schema | None:
    if place is None:
        return None
    from nodeattrs.cloudinit import Schema, schema_file

    return Schema(schema_file(place), sensitive)


def _checked(
    options: argparse.Namespace,
    files: list[str],
    address: str | None,
    merged_of: MergedOf,
    schema: Schema | None,
    looked: dict[str, int],
) -> Iterator[Finding]:
    """The findings about one machine: what cannot be unpacked or read is one, too, and what is unknown."""
    from nodeattrs.cloudinit import CloudConfigError, InstanceData
    from nodeattrs.dialects.cloudinit.reports import (
        finding_about_unread,
        finding_that_ended,
        findings_for_any_machine,
        findings_of,
    )

    try:
        merged = merged_of(files, address, None)
    except CloudConfigError as error:
        looked["part"] += 1
        yield finding_that_ended(error)
        return
    looked["part"] += len(merged.parts)
    yield from (finding_about_unread(one, "error" if options.strict else "note") for one in merged.unknown.values())
    if any(report.status == "template" for report in merged.parts):
        yield from findings_for_any_machine(merged_of(files, address, InstanceData.missing()), schema)
    else:
        yield from findings_of(merged, schema)


def _sizes(machines: list[tuple[str, Given]], cloud: str | None) -> Iterator[Finding]:
    """What is more than a cloud takes: of a file as it is, of a plan what each machine in it is given."""
    from nodeattrs.cloudinit import about_size
    from nodeattrs.dialects.cloudinit.reports import finding_about

    for file, one in machines:
        contents = (blob.content for blob in one.user)
        size = sum(len(text if isinstance(text, bytes) else text.encode("utf-8", "replace")) for text in contents)
        if warned := about_size(size, one.address or file, cloud):
            yield finding_about(warned, one.origin._replace(name="", file=file))

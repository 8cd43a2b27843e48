"""`nodeattrs cloud-config check`: a linter of user-data, each file for itself or all as those of one machine.

It is handed what reads and merges files, and knows no cloud-init itself.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nodeattrs.cli.checks import add_checking, finish
from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.adapters.cloudinit import Merged, Schema
    from nodeattrs.reports.findings import Finding

_TOGETHER = "{} files are checked together, as those of one machine; --each checks each of them for itself"


def add_cloud_check(parser: argparse.ArgumentParser) -> None:
    """What only a check takes."""
    group = parser.add_argument_group("what is checked")
    ways = group.add_mutually_exclusive_group()
    ways.add_argument("--each", action="store_true", help="each file for itself, as for a pre-commit hook")
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


def check(options: argparse.Namespace, terminal: Terminal, merged_of: Callable[[list[str]], Merged]) -> int:
    """Say what is wrong or doubtful. merged_of: makes one machine of some files"""
    schema = _schema(options.schema)
    files: list[str] = options.files
    if len(files) > 1 and not (options.each or options.together):
        terminal.remark([_TOGETHER.format(len(files))])
    looked = {"file": len(files), "part": 0} if options.each else {"part": 0}
    found = [*_sizes(files, options.cloud)]
    for group in [[file] for file in files] if options.each else [files]:
        found += _checked(group, merged_of, schema, looked)
    return finish(options, terminal, found, looked, settings_of(options).repository)


def _schema(place: str | None) -> Schema | None:
    if place is None:
        return None
    from nodeattrs.adapters.cloudinit import Schema, schema_file

    return Schema(schema_file(place))


def _checked(
    files: list[str],
    merged_of: Callable[[list[str]], Merged],
    schema: Schema | None,
    looked: dict[str, int],
) -> Iterator[Finding]:
    """The findings about one machine: what cannot be unpacked or read is one, too."""
    from nodeattrs.adapters.cloudinit import CloudConfigError
    from nodeattrs.reports.cloud_config import finding_that_ended, findings_of

    try:
        merged = merged_of(files)
    except CloudConfigError as error:
        looked["part"] += 1
        yield finding_that_ended(error)
        return
    looked["part"] += len(merged.parts)
    yield from findings_of(merged, schema)


def _sizes(files: list[str], cloud: str | None) -> Iterator[Finding]:
    from nodeattrs.adapters.cloudinit import about_size
    from nodeattrs.core.claim import Origin
    from nodeattrs.reports.cloud_config import finding_about

    for file in files:
        if os.path.isfile(file) and (warned := about_size(os.path.getsize(file), file, cloud)):
            yield finding_about(warned, Origin("file", "", file, 1, 1))

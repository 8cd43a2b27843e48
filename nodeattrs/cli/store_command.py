"""`nodeattrs store`: care for the place where nodes are kept."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.options import add_at, add_output, add_settings_from, add_store, kept_in, moment
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.keep import Store
    from nodeattrs.reports.store import TendedStore

__all__ = ["DESCRIPTION", "EXAMPLES", "NAME", "SUMMARY", "add_options", "perform"]

NAME = "store"
SUMMARY = "check, prune, export, import or migrate the store"
DESCRIPTION = """\
check:    read everything, and say what is damaged
prune:    forget all but the latest revisions of each node: --keep N
export:   write nodes to stdout as JSON Lines: Chef's node JSON, or with --snapshots all of it
import:   save the nodes of a FILE: JSON Lines from export, or one node as Chef writes it; - is stdin
migrate:  bring the store of an older nodeattrs up to date, and make the index for search again"""
EXAMPLES = """\
examples:
  nodeattrs store check
  nodeattrs store prune --keep 30
  nodeattrs store export --snapshots > nodes.jsonl
  nodeattrs store import nodes.jsonl --store postgresql://nodeattrs@db/nodes
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("task", choices=("check", "prune", "export", "import", "migrate"), help="what to do")
    parser.add_argument("file", metavar="FILE", nargs="?", help="for import: what to read")
    parser.add_argument("--keep", metavar="N", type=int, help="for prune: how many revisions of each node stay")
    parser.add_argument("--node", metavar="NAME", action="append", help="for export: only these; may be repeated")
    parser.add_argument("--snapshots", action="store_true", help="for export: with slots and origins")
    add_at(parser)
    add_settings_from(parser)
    add_store(parser)
    add_output(parser)


_BELONG = {"file": "import", "keep": "prune", "node": "export", "at": "export", "snapshots": "export"}


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do it."""
    for word, task in _BELONG.items():
        if getattr(options, word) not in (None, False) and options.task != task:
            options.refuse(f"{'FILE' if word == 'file' else f'--{word}'} is for store {task}")
    if options.task == "import" and options.file is None:
        options.refuse("store import needs a FILE, or - for stdin")
    if options.task == "prune" and options.keep is None:
        options.refuse("store prune needs --keep N")
    store, sensitive = kept_in(options)
    if options.task == "export":
        _export(store, options, terminal)
        return 0
    tended, code = _tended(store, options, sensitive, terminal)
    terminal.report(tended)
    return code


def _tended(store: Store, options: argparse.Namespace, sensitive: Any, terminal: Terminal) -> tuple[TendedStore, int]:
    from nodeattrs.reports.store import TendedStore

    place = store.describe()
    if options.task == "check":
        count = len(store.names())
        with terminal.counting(count) as tick:
            faults = store.check(tick)
        return TendedStore.checked(place, count, faults), 1 if faults else 0
    if options.task == "prune":
        return TendedStore.pruned(place, store.prune(options.keep)), 0
    if options.task == "migrate":
        with terminal.counting() as tick:
            return TendedStore.migrated(place, store.migrate(tick)), 0
    return TendedStore.imported(place, _import(store, options.file, sensitive, terminal)), 0


def _export(store: Store, options: argparse.Namespace, terminal: Terminal) -> None:
    from nodeattrs.keep.care import exported

    at = moment(options.at)
    if at is not None and not isinstance(at, datetime) and len(options.node or ()) != 1:
        options.refuse("--at with the number of a revision means one node: --node NAME")
    names = options.node or store.names()
    with terminal.counting(len(names)) as tick:
        for line in exported(store, names, at, snapshots=options.snapshots):
            terminal.text(line)
            tick("")


def _import(store: Store, file: str, sensitive: Any, terminal: Terminal) -> list[str]:
    from nodeattrs.errors import DocumentError
    from nodeattrs.keep.care import import_nodes

    try:
        with terminal.counting() as tick:
            if file == "-":
                return import_nodes(store, sys.stdin, "stdin", sensitive, tick)
            with open(file, encoding="utf-8") as lines:
                return import_nodes(store, lines, file, sensitive, tick)
    except UnicodeDecodeError as error:
        raise DocumentError("is not UTF-8 text", file=file, hint="save the file as UTF-8") from error

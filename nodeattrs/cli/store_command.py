"""`nodeattrs store`: care for the place where nodes are kept."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from nodeattrs.cli.checks import CHECKING, finish
from nodeattrs.cli.options import existing_store, settings_of, store_and_sensitive
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import AT, FORMATS, SETTINGS_FROM, STORE, revision_or_time
from nodeattrs.contract.command import Checked
from nodeattrs.kinds import DAMAGED, SAVED_NOTE

if TYPE_CHECKING:
    from nodeattrs.reports.store import TendedStore
    from nodeattrs.store import Store

DESCRIPTION = """\
check:    read everything, and say what is damaged
prune:    forget all but the latest revisions of each node: --keep N
export:   write nodes to stdout as JSON Lines: Chef's node JSON, or with --snapshots every revision,
          with slots, origins and notes (--latest: only the latest one of each node).
          With --to DIR write NODE.json (as `knife node show NODE -F json -l` prints it) and
          NODE.snapshot.json (slots and origins) for each node, and only the files that change; with
          --history also all revisions. Without --node, files of nodes that the store no longer has are
          removed, if an export wrote them and nobody edited them; other files stay
import:   save the nodes of a FILE: JSON Lines from export, or one node as Chef writes it; - is stdin.
          A revision of an export keeps its number, its time and who made it. A folder is read too: one
          that export --to wrote, or nodes/ of a Chef repository
copy:     copy all revisions of all nodes into the store at --to PLACE, which is made if it does not exist;
          --compression zstd makes one that compresses with zstd (extra "fast"). Run an interrupted copy again:
          it goes on where it stopped"""
EXAMPLES = """\
examples:
  nodeattrs store check
  nodeattrs store prune --keep 30
  nodeattrs store export --snapshots > nodes.jsonl
  nodeattrs store import nodes.jsonl --store postgresql://nodeattrs@db/nodes
  nodeattrs store export --to nodes && git -C nodes diff
  nodeattrs store import nodes --store other.db
  nodeattrs store copy --to postgresql://nodeattrs@db/nodes
"""


ARGUMENTS = (
    Argument(
        ("task",),
        "check, prune, export, import or copy",
        {"metavar": "ACTION", "choices": ("check", "prune", "export", "import", "copy")},
    ),
    Argument(("file",), "for import: the file or folder to read", {"metavar": "FILE", "nargs": "?"}),
    Argument(("--keep",), "for prune: how many revisions of each node stay", {"metavar": "N", "type": int}),
    Argument(("--node",), "for export: only these; may be repeated", {"metavar": "NAME", "action": "append"}),
    Argument(("--snapshots",), "for export: every revision, with slots and origins", {"action": "store_true"}),
    Argument(("--history",), "for export --to: all revisions too", {"action": "store_true"}),
    Argument(("--latest",), "for export --snapshots: only the latest revisions", {"action": "store_true"}),
    Argument(("--to",), "for copy: the store that receives all revisions; for export: a folder", {"metavar": "PLACE"}),
    Argument(
        ("--compression",),
        "for copy: how a store that is made compresses (default: zlib)",
        {"choices": ("zlib", "zstd")},
    ),
    *AT,
    *SETTINGS_FROM,
    *STORE,
    *CHECKING,
)


_BELONG = {
    "file": "import",
    "keep": "prune",
    "node": "export",
    "at": "export",
    "snapshots": "export",
    "latest": "export",
    "history": "export",
    "compression": "copy",
    "select": "check",
    "ignore": "check",
    "baseline": "check",
    "write_baseline": "check",
}


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Check, prune, export, import or copy the store; returns the exit code.

    An option of another action ends the program with exit code 2.
    """
    for word, task in _BELONG.items():
        if getattr(options, word) not in (None, False, []) and options.task != task:
            options.refuse(f"{'FILE' if word == 'file' else f'--{word}'.replace('_', '-')} is for store {task}")
    if options.task != "check" and options.format not in FORMATS:
        options.refuse(f"--format {options.format} is for store check")
    if options.task == "import" and options.file is None:
        options.refuse("store import needs a FILE, or - for stdin")
    if options.task == "prune" and options.keep is None:
        options.refuse("store prune needs --keep N")
    _judge_to(options)
    store, sensitive = store_and_sensitive(options) if options.task == "import" else existing_store(options)
    if options.task == "export" and options.to is not None:
        terminal.report(_exported(store, options, terminal))
        return 0
    if options.task == "export":
        _export(store, options, terminal)
        return 0
    if options.task == "check":
        return _check(store, options, terminal)
    terminal.report(_tended(store, options, sensitive, terminal))
    return 0


def _judge_to(options: argparse.Namespace) -> None:
    if options.task == "copy" and options.to is None:
        options.refuse("store copy needs --to PLACE")
    if options.task not in ("copy", "export") and options.to is not None:
        options.refuse("--to is for store copy and store export")
    if options.task == "export" and options.to is None and options.history:
        options.refuse("--history is for store export --to DIR; JSON Lines have the history with --snapshots")
    if options.task == "export" and options.to is not None and (options.snapshots or options.latest or options.at):
        options.refuse("--snapshots, --latest and --at are about JSON Lines, and not for store export --to DIR")


def _check(store: Store, options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.findings import finding_of

    count = len(store.names())
    with terminal.counting(count) as tick:
        faults = store.check(tick)
    found = [finding_of(fault, code=DAMAGED.entry.code) for fault in faults]
    return finish(options, terminal, Checked(found, {"node": count}), settings_of(options).repository)


def _tended(store: Store, options: argparse.Namespace, sensitive: Any, terminal: Terminal) -> TendedStore:
    from nodeattrs.reports.store import TendedStore

    place = store.describe()
    if options.task == "prune":
        return TendedStore.pruned(place, store.prune(options.keep))
    if options.task == "copy":
        return _copied(store, options.to, options.compression, terminal)
    return TendedStore.imported(place, *_import(store, options.file, sensitive, terminal))


def _copied(store: Store, place: str, compression: str | None, terminal: Terminal) -> TendedStore:
    from nodeattrs.errors import BadArgument
    from nodeattrs.reports.store import TendedStore
    from nodeattrs.store import open_store
    from nodeattrs.store.carrying import copy

    target = open_store(place)
    if target.describe() == store.describe():
        raise BadArgument(f"{place} is the store itself", hint="name another place: --to PLACE")
    names = store.names()
    if compression is not None:
        target.make(compression)
    with terminal.counting(len(names)) as tick:
        return TendedStore.copied(store.describe(), target.describe(), *copy(store, target, tick))


def _export(store: Store, options: argparse.Namespace, terminal: Terminal) -> None:
    from nodeattrs.store.carrying import exported

    at = revision_or_time(options.at)
    if at is not None and not isinstance(at, datetime) and len(options.node or ()) != 1:
        options.refuse("--at with the number of a revision means one node: --node NAME")
    names = options.node or store.names()
    history = options.snapshots and not options.latest and at is None
    with terminal.counting(len(names)) as tick:
        for name in names:
            for line in exported(store, [name], at, snapshots=options.snapshots, history=history):
                terminal.text(line)
            tick(name)


def _exported(store: Store, options: argparse.Namespace, terminal: Terminal) -> TendedStore:
    from nodeattrs.reports.store import TendedStore
    from nodeattrs.store.folders import export_nodes

    with terminal.counting(len(options.node or store.names())) as tick:
        done = export_nodes(store, options.to, options.node, history=options.history, on_node=tick)
    return TendedStore.exported(store.describe(), options.to, done)


def _lines(stream: TextIO, file: str) -> Iterator[str]:
    """The lines of a file, each within the limit for a text of a store. raises: TooMuch"""
    from nodeattrs.store.engines.texts import text_budget

    while line := stream.readline(text_budget().remaining("bytes") + 1):
        text_budget(file).bytes(len(line))
        yield line


def _import(store: Store, file: str, sensitive: Any, terminal: Terminal) -> tuple[list[str], int]:
    """The names of the nodes, and how many revisions of them were saved."""
    from nodeattrs.errors import DocumentError
    from nodeattrs.store.carrying import read_nodes, save_nodes
    from nodeattrs.store.folders import read_folder

    try:
        if os.path.isdir(file):
            nodes, notes = read_folder(store, file, sensitive)
            terminal.warn(notes, SAVED_NOTE.entry)
        elif file == "-":
            nodes = read_nodes(store, _lines(sys.stdin, "stdin"), "stdin", sensitive)
        else:
            with open(file, encoding="utf-8") as stream:
                nodes = read_nodes(store, _lines(stream, file), file, sensitive)
    except UnicodeDecodeError as error:
        raise DocumentError("is not UTF-8 text", file=file, hint="save the file as UTF-8") from error
    with terminal.counting(len(nodes), "revision") as tick:
        return save_nodes(store, nodes, tick), len(nodes)

"""`nodeattrs store`: check, prune, export, import and copy the store of saved nodes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, TextIO

from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.contract.arguments import AT, FORMATS, SETTINGS_FROM, STORE
from nodeattrs.contract.command import Argument, CheckFindings, Command, Output, PlainReport, Question
from nodeattrs.dialects.common import saved_nodes_of, store_of
from nodeattrs.errors import BadArgument, BadUsage, DocumentError
from nodeattrs.kinds import DAMAGED, SAVED_NOTE
from nodeattrs.reports.findings import finding_of
from nodeattrs.reports.screen import counted, printable
from nodeattrs.store import Store, open_store
from nodeattrs.store.carrying import copy_store, export_lines, read_nodes, save_nodes
from nodeattrs.store.engines.texts import text_budget
from nodeattrs.store.folders import export_nodes, read_folder

_DESCRIPTION = """\
check:    read everything, and name what is damaged
prune:    delete old revisions; --keep N keeps the latest N of each node
export:   write nodes to stdout as JSON Lines, with --snapshots every revision; with --to DIR as files
import:   save the nodes of a FILE or folder from export, or as Chef writes them; - is stdin
copy:     copy all revisions of all nodes into the store at --to PLACE

docs/stores.md, Maintenance, has each of them in detail."""
_EXAMPLES = (
    "store check",
    "store prune --keep 30",
    "store export --snapshots > nodes.jsonl",
    "store import nodes.jsonl --store postgresql://nodeattrs@db/nodes",
    "store export --to nodes && git -C nodes diff",
    "store import nodes --store other.db",
    "store copy --to postgresql://nodeattrs@db/nodes",
)


_ARGUMENTS = (
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


def _perform(question: Question) -> Output:
    """Check, prune, export, import or copy the store. raises: BadUsage, for an option of another action"""
    asked = question.arguments
    for word, task in _BELONG.items():
        if asked[word] not in (None, False, []) and asked["task"] != task:
            raise BadUsage(f"{'FILE' if word == 'file' else f'--{word}'.replace('_', '-')} is for store {task}")
    if asked["task"] != "check" and asked["format"] not in FORMATS:
        raise BadUsage(f"--format {asked['format']} is for store check")
    if asked["task"] == "import" and asked["file"] is None:
        raise BadUsage("store import needs a FILE, or - for stdin")
    if asked["task"] == "prune" and asked["keep"] is None:
        raise BadUsage("store prune needs --keep N")
    _judge_to(asked)
    store, sensitive = store_of(question.settings) if asked["task"] == "import" else saved_nodes_of(question.settings)
    if asked["task"] == "export" and asked["to"] is not None:
        return Output(_exported(store, question))
    if asked["task"] == "export":
        _export(store, question)
        return Output()
    if asked["task"] == "check":
        return _check(store, question)
    return Output(_tended(store, question, sensitive))


def _judge_to(asked: Mapping[str, Any]) -> None:
    """Raise BadUsage if --to is missing, or cannot be combined with the action or another option."""
    task, place = asked["task"], asked["to"]
    if task == "copy" and place is None:
        raise BadUsage("store copy needs --to PLACE")
    if task not in ("copy", "export") and place is not None:
        raise BadUsage("--to is for store copy and store export")
    if task == "export" and place is None and asked["history"]:
        raise BadUsage("--history is for store export --to DIR; JSON Lines have the history with --snapshots")
    if task == "export" and place is not None and (asked["snapshots"] or asked["latest"] or asked["at"]):
        raise BadUsage("--snapshots, --latest and --at are about JSON Lines, and not for store export --to DIR")


def _check(store: Store, question: Question) -> Output:
    count = len(store.names())
    with question.caller.counting(count) as tick:
        faults = store.check(tick)
    found = [finding_of(fault, code=DAMAGED.entry.code) for fault in faults]
    return Output(checked=CheckFindings(found, {"node": count}))


def _tended(store: Store, question: Question, sensitive: Any) -> PlainReport:
    asked = question.arguments
    if asked["task"] == "prune":
        forgotten = store.prune(asked["keep"])
        return _report(
            store, {"forgotten": forgotten}, f"{counted(forgotten, 'revision')} forgotten in {store.describe()}"
        )
    if asked["task"] == "copy":
        return _copied(store, asked["to"], asked["compression"], question)
    names, revisions = _import(store, asked["file"], sensitive, question)
    return _report(
        store,
        {"saved": names, "revisions": revisions},
        f"{_counted(len(names), revisions)} saved in {store.describe()}",
    )


def _report(store: Store, data: Mapping[str, Any], *sentences: str) -> PlainReport:
    """The report of a task: the store with *data*, as data for JSON, and *sentences* as lines."""
    return PlainReport([*map(printable, sentences)], {"version": 1, "store": store.describe(), **data})


def _counted(nodes: int, revisions: int) -> str:
    both = counted(nodes, "node")
    return both if revisions == nodes else f"{both} with {counted(revisions, 'revision')}"


def _copied(store: Store, place: str, compression: str | None, question: Question) -> PlainReport:
    target = open_store(place)
    if target.describe() == store.describe():
        raise BadArgument(f"{place} is the store itself", hint="name another place: --to PLACE")
    names = store.names()
    if compression is not None:
        target.make(compression)
    with question.caller.counting(len(names)) as tick:
        nodes, revisions = copy_store(store, target, tick)
    data = {"to": target.describe(), "nodes": nodes, "revisions": revisions}
    return _report(store, data, f"{_counted(nodes, revisions)} of {store.describe()} copied to {target.describe()}")


def _export(store: Store, question: Question) -> None:
    asked = question.arguments
    at = revision_or_time(asked["at"])
    if at is not None and not isinstance(at, datetime) and len(asked["node"] or ()) != 1:
        raise BadUsage("--at with the number of a revision means one node: --node NAME")
    names = asked["node"] or store.names()
    history = asked["snapshots"] and not asked["latest"] and at is None
    with question.caller.counting(len(names)) as tick:
        for name in names:
            for line in export_lines(store, [name], at, snapshots=asked["snapshots"], history=history):
                question.caller.text(line)
            tick(name)


def _exported(store: Store, question: Question) -> PlainReport:
    asked = question.arguments
    with question.caller.counting(len(asked["node"] or store.names())) as tick:
        done = export_nodes(store, asked["to"], asked["node"], history=asked["history"], on_node=tick)
    what = f"{counted(done.nodes, 'node')} of {store.describe()} exported to {asked['to']}"
    files = f"{counted(done.written, 'file')} written, {done.removed} removed"
    kept = [f"{file} stays: the store has no such node, and no export wrote this file as it is" for file in done.kept]
    return _report(store, {"to": asked["to"], **asdict(done)}, f"{what}: {files}", *kept)


def _lines(stream: TextIO, file: str) -> Iterator[str]:
    """Yield the lines of a file. raises: TooMuch, for a line above the limit for a text of a store"""
    while line := stream.readline(text_budget().remaining("bytes") + 1):
        text_budget(file).bytes(len(line))
        yield line


def _import(store: Store, file: str, sensitive: Any, question: Question) -> tuple[list[str], int]:
    """Returns (the names of the imported nodes, the number of saved revisions)."""
    try:
        if os.path.isdir(file):
            nodes, notes = read_folder(store, file, sensitive)
            question.caller.warn(notes, SAVED_NOTE.entry)
        elif file == "-":
            nodes = read_nodes(store, _lines(sys.stdin, "stdin"), "stdin", sensitive)
        else:
            with open(file, encoding="utf-8") as stream:
                nodes = read_nodes(store, _lines(stream, file), file, sensitive)
    except UnicodeDecodeError as error:
        raise DocumentError("is not UTF-8 text", file=file, hint="save the file as UTF-8") from error
    with question.caller.counting(len(nodes), "revision") as tick:
        return save_nodes(store, nodes, tick), len(nodes)


COMMANDS = {"store": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ("checking",))}

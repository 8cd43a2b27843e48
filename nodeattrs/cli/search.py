"""`nodeattrs search`: search saved nodes by their attributes."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING

from nodeattrs.cli.options import existing_store
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import AT, STORE, output, path_of, revision_or_time

if TYPE_CHECKING:
    from nodeattrs.core.tree import Path
    from nodeattrs.reports.search import Page

DESCRIPTION = """\
Find nodes in Chef's query language (field:value, AND, OR, NOT, "a phrase", * and ?, [a TO b]), or by
path and type in our own: path=80, path>=8, path~"regex". docs/search.md has all of it."""
EXAMPLES = """\
examples:
  nodeattrs search 'role:web AND chef_environment:production'
  nodeattrs search 'apache2.listen_ports=443' --attribute ip=ipaddress --attribute app.workers
  nodeattrs search '*:*' --sort cpu.total --limit 10 --json-lines
"""


ARGUMENTS = (
    Argument(("query",), "what to look for; *:* finds every node", {"metavar": "QUERY"}),
    Argument(
        ("--attribute", "-a"),
        "also print this attribute of each node (NAME=PATH sets the column); may be repeated",
        {"metavar": "[NAME=]PATH", "action": "append", "default": []},
    ),
    Argument(("--node",), "only this one of those found; may be repeated", {"metavar": "NAME", "action": "append"}),
    Argument(("--sort",), "order by this attribute (default: by name)", {"metavar": "PATH"}),
    Argument(("--reverse",), "the other way round", {"action": "store_true"}),
    Argument(("--limit",), "at most N nodes", {"metavar": "N", "type": int}),
    Argument(("--offset",), "leave out the first N", {"metavar": "N", "type": int, "default": 0}),
    Argument(("--json-lines",), "one JSON document a node", {"action": "store_true"}),
    *AT,
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Search the saved nodes and print a page of them; returns 1 where none is found and a field of the query is
    unknown."""
    from nodeattrs.reports.search import search
    from nodeattrs.store.search import parse_query

    at, attributes, page = _time(options), _attributes(options), _page(options)
    query = parse_query(options.query)
    store, _ = existing_store(options)
    findings = search(store, query, attributes, page, at)
    terminal.warn(findings.doubts)
    if options.json_lines:
        terminal.note_unread(findings.unread)
        for line in findings.json_lines():
            terminal.text(line)
    else:
        terminal.report(findings, findings.unread)
    return 1 if findings.doubts and not findings.total and not findings.unread else 0


def _time(options: argparse.Namespace) -> datetime | None:
    at = revision_or_time(options.at)
    if isinstance(at, int):
        options.refuse("--at is a time here: the number of a revision means one node")
    assert not isinstance(at, int)
    return at


def _attributes(options: argparse.Namespace) -> dict[str, Path]:
    """The path of each column, by its title."""
    attributes: dict[str, Path] = {}
    for text in options.attribute:
        title, mark, spelled = text.partition("=")
        path = path_of(spelled if mark else title)
        if attributes.setdefault(title, path) != path:
            options.refuse(f"--attribute: two columns are called {title}; write NAME=PATH with another NAME")
    return attributes


def _page(options: argparse.Namespace) -> Page:
    from nodeattrs.reports.search import Page

    if options.offset < 0 or (options.limit is not None and options.limit < 0):
        options.refuse("--limit and --offset are not negative")
    sort = None if options.sort is None else path_of(options.sort)
    return Page(options.node, sort, options.reverse, options.offset, options.limit)

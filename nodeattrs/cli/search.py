"""`nodeattrs search`: which of the kept nodes have something."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from nodeattrs.cli.exits import UNKNOWN_LAYER
from nodeattrs.cli.options import add_at, add_output, add_store, moment, path_of, saved_in
from nodeattrs.cli.terminal import Terminal
from nodeattrs.kinds import LAYER_IS_UNKNOWN

if TYPE_CHECKING:
    from nodeattrs.keep import Store
    from nodeattrs.reports.search import Finding

SUMMARY = "find kept nodes by what they have"
DESCRIPTION = """\
Find nodes in Chef's query language (field:value, AND, OR, NOT, "a phrase", * and ?, [a TO b]), or by
path and type in our own: path=80, path>=8, path~"regex". docs/search.md has all of it."""
EXAMPLES = """\
examples:
  nodeattrs search 'role:web AND chef_environment:production'
  nodeattrs search 'apache2.listen_ports=443' --attribute ip=ipaddress --attribute app.workers
  nodeattrs search '*:*' --sort cpu.total --limit 10 --json-lines
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("query", metavar="QUERY", help="what to look for; *:* finds every node")
    parser.add_argument(
        "--attribute",
        "-a",
        metavar="[NAME=]PATH",
        action="append",
        default=[],
        help="also print this attribute of each node (NAME=PATH sets the column); may be repeated",
    )
    parser.add_argument("--node", metavar="NAME", action="append", help="only this one of those found; may be repeated")
    parser.add_argument("--sort", metavar="PATH", help="order by this attribute (default: by name)")
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument("--limit", metavar="N", type=int, help="at most N nodes")
    parser.add_argument("--offset", metavar="N", type=int, default=0, help="leave out the first N")
    parser.add_argument("--json-lines", action="store_true", help="one JSON document a node")
    add_at(parser)
    add_store(parser)
    add_output(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Find them."""
    from nodeattrs.keep.search import parse_query
    from nodeattrs.keep.search.doubts import doubts
    from nodeattrs.reports.search import Finding, Findings
    from nodeattrs.reports.undecided import words_of

    if options.offset < 0 or (options.limit is not None and options.limit < 0):
        options.refuse("--limit and --offset are not negative")
    at = moment(options.at)
    if isinstance(at, int):
        options.refuse("--at is a time here: the number of a revision means one node")
    assert not isinstance(at, int)
    query = parse_query(options.query)
    attributes = {}
    for text in options.attribute:
        name, mark, path = text.partition("=")
        attributes[name] = path_of(path if mark else name)
    store, _ = saved_in(options)
    names = store.search(query, at)
    unknown = doubts(store, query, bool(names), at)
    names = names if options.node is None else sorted(set(names).intersection(options.node))
    terminal.warn(unknown)
    if options.sort is not None:
        names = _sorted(store, names, options.sort, at)
    if options.reverse:
        names.reverse()
    end = None if options.limit is None else options.offset + options.limit
    shown, undecided = names[options.offset : end], {}

    def page() -> Iterator[Finding]:
        for name in shown:
            one = _found(store, name, attributes, at) if attributes else Finding(name, {})
            undecided.update({f"{title} of {name}": layers for title, layers in one.unknown.items()})
            yield one

    findings = Findings(options.query, len(names), options.offset, len(shown), list(attributes), page())
    if options.json_lines:
        for line in findings.json_lines():
            terminal.text(line)
    else:
        terminal.report(findings)
    terminal.warn(words_of(undecided), LAYER_IS_UNKNOWN.entry)
    if any(undecided.values()):
        return UNKNOWN_LAYER
    return 1 if unknown and not names else 0


def _found(store: Store, name: str, wanted: dict[str, tuple[object, ...]], at: datetime | None) -> Finding:
    """The attributes of a saved node. A node whose revision is gone has only its name."""
    from nodeattrs.reports.search import finding

    saved = store.load(name, at)
    return finding(saved.document if saved else {"name": name}, wanted, saved.snapshot if saved else None)


def _sorted(store: Store, names: list[str], key: str, at: datetime | None) -> list[str]:
    """The names, ordered by an attribute. raises: NotFound, where no node has it"""
    from nodeattrs.core.tree import ABSENT
    from nodeattrs.keep.search.doubts import no_such_path
    from nodeattrs.reports.search import in_order

    path = path_of(key)
    found = [_found(store, name, {key: path}, at) for name in names]
    if names and all(one.values[key] is ABSENT for one in found):
        raise no_such_path(path, (saved.document for name in names if (saved := store.load(name, at))))
    return [one.name for one in in_order(found, key)]

"""`nodeattrs search`: find saved nodes by their attributes."""

from __future__ import annotations

from datetime import datetime

from nodeattrs.contract.argument_values import path_of, revision_or_time
from nodeattrs.contract.arguments import AT, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.tree import Path
from nodeattrs.dialects.common import saved_nodes_of
from nodeattrs.errors import BadUsage
from nodeattrs.reports.search import SearchPage, search
from nodeattrs.store.search import parse_query

_DESCRIPTION = """\
Find nodes in Chef's query language (field:value, AND, OR, NOT, "a phrase", * and ?, [a TO b]), or by
path and type in our own: path=80, path>=8, path~"regex". docs/search.md has all of it."""
_EXAMPLES = (
    "search 'role:web AND chef_environment:production'",
    "search 'apache2.listen_ports=443' --attribute ip=ipaddress --attribute app.workers",
    "search '*:*' --sort cpu.total --limit 10 --json-lines",
)


_ARGUMENTS = (
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


def _perform(question: Question) -> Output:
    """A page of the saved nodes that a query finds. The exit code is 1 if it finds none and names an unknown field."""
    asked = question.arguments
    at, attributes, page = _time(question), _attributes(question), _page(question)
    query = parse_query(asked["query"])
    store, _ = saved_nodes_of(question.settings)
    findings = search(store, query, attributes, page, at)
    question.caller.warn(findings.doubts)
    if asked["json_lines"]:
        for line in findings.json_lines():
            question.caller.text(line)
    code = 1 if findings.doubts and not findings.total and not findings.unread else 0
    return Output("" if asked["json_lines"] else findings, code, unread=findings.unread)


def _time(question: Question) -> datetime | None:
    at = revision_or_time(question.arguments["at"])
    if isinstance(at, int):
        raise BadUsage("--at is a time here: the number of a revision means one node")
    return at


def _attributes(question: Question) -> dict[str, Path]:
    """Title of a column -> its path. raises: BadUsage, for one title with two paths"""
    attributes: dict[str, Path] = {}
    for text in question.arguments["attribute"]:
        title, mark, spelled = text.partition("=")
        path = path_of(spelled if mark else title)
        if attributes.setdefault(title, path) != path:
            raise BadUsage(f"--attribute: two columns are called {title}; write NAME=PATH with another NAME")
    return attributes


def _page(question: Question) -> SearchPage:
    asked = question.arguments
    if asked["offset"] < 0 or (asked["limit"] is not None and asked["limit"] < 0):
        raise BadUsage("--limit and --offset are not negative")
    sort = None if asked["sort"] is None else path_of(asked["sort"])
    return SearchPage(asked["node"], sort, asked["reverse"], asked["offset"], asked["limit"])


COMMANDS = {"search": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}

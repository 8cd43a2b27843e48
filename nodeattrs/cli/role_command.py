"""`nodeattrs role` and `nodeattrs environment`: what one of them sets."""

from __future__ import annotations

import argparse
from typing import Any

from nodeattrs.cli.options import (
    REPO_HELP,
    actions_of,
    add_output,
    add_run_code,
    add_store,
    existing_store,
    path_of,
    repository_of,
)
from nodeattrs.cli.terminal import Terminal

DESCRIPTION = """\
Show a role as a run would read it: its run list and its attributes. One that is written in Python is code
of the repository, and is read with --run-code only."""
EXAMPLES = """\
examples:
  nodeattrs role show web --repo cookbooks_example
  nodeattrs role show web override_attributes --origins
  nodeattrs role show web -F json
  nodeattrs role wins web --repo cookbooks_example
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nodeattrs role`: its actions show and wins."""
    add_showing(parser, "role")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the role, or the nodes that read its values."""
    return show_or_wins(options, terminal, ("run_list", "env_run_lists"), "roles")


def add_showing(parser: argparse.ArgumentParser, kind: str) -> None:
    """Add the actions show and wins, each with its options. kind: "role" or "environment" """
    wins = f"for each value that a {kind} sets: the kept nodes that read it, and who overrides it on the others"
    for name, one in actions_of(parser, {"show": f"show one {kind}", "wins": wins.replace("a envi", "an envi")}):
        one.add_argument("name", metavar="NAME", help="its name")
        if name == "show":
            one.add_argument("path", metavar="PATH", nargs="?", help="only what is there (default: all)")
            one.add_argument("--origins", action="store_true", help="beside each leaf, the line that sets it")
        else:
            one.add_argument(
                "--limit", metavar="N", type=int, help="look at N of the nodes that have it (default: all)"
            )
            add_store(one)
        one.add_argument("--repo", metavar="DIR", help=REPO_HELP)
        add_run_code(one)
        add_output(one)


def show_or_wins(options: argparse.Namespace, terminal: Terminal, fields: tuple[str, ...], field: str) -> int:
    """Print a role or an environment, or with the action wins the nodes that read its values.

    fields: its own fields to print, beside name, description and attributes
    field:  the field of a search for the nodes that have the role or environment
    """
    from nodeattrs.node.secrets import Secrets
    from nodeattrs.reports.show import ShownDocument, part_of

    repository = repository_of(options)
    thing: Any = getattr(repository, options.command)(options.name)
    names = ("name", "description", *fields, "default_attributes", "override_attributes")
    tree = {name: getattr(thing, name) for name in names}
    path = path_of(getattr(options, "path", None))
    guarded = {
        name: Secrets(repository.config.sensitive).guarded((), value) if name.endswith("_attributes") else value
        for name, value in tree.items()
    }
    terminal.warn(repository.warnings)
    if options.action == "wins":
        return _wins(options, terminal, guarded, thing.locator, field)
    value = part_of(guarded, path)
    terminal.report(ShownDocument(path, value, thing.locator.at if options.origins else None))
    return 0


def _wins(options: argparse.Namespace, terminal: Terminal, fields: dict[str, Any], locator: Any, field: str) -> int:
    from nodeattrs.reports.standing import ShownStandings, standings
    from nodeattrs.store.remembered import remembered_or_raise
    from nodeattrs.store.search.query import Pattern, Query, Term

    store, sensitive = existing_store(options)
    having = store.search(Query("", Term(Pattern((field,)), Pattern((options.name,)))))
    step = max(1, -(-len(having) // options.limit)) if options.limit else 1
    rows = tuple(standings(fields, locator.at))
    for name in having[::step]:
        node = remembered_or_raise(store, name, sensitive).node
        if (node.environment if options.command == "environment" else options.name) == options.name:
            for row in rows:
                row.add_node(node, options.command, options.name)
    unread = [one for row in rows for one in row.unread]
    terminal.report(ShownStandings(options.command, options.name, tuple(having[::step]), len(having), rows), unread)
    return 0

"""`nodeattrs fleet`: many nodes on all processors."""

from __future__ import annotations

import argparse
from datetime import datetime

from nodeattrs.cli.options import add_output, add_store, moment
from nodeattrs.cli.terminal import Terminal
from nodeattrs.errors import NotFound

__all__ = ["DESCRIPTION", "EXAMPLES", "NAME", "SUMMARY", "add_options", "perform"]

NAME = "fleet"
SUMMARY = "run many nodes on all processors, and save what they came to"
DESCRIPTION = """\
Run every node that nodes/ describes or the store keeps, several at a time. What fails is told at the
end and stops nobody. A node without a file in --facts has the facts of its last run. With --since,
nodes that were saved by a good run since then are skipped: so a fleet that was interrupted goes on."""
EXAMPLES = """\
examples:
  nodeattrs fleet resolve --repo cookbooks_example --facts cookbooks_example/facts
  nodeattrs fleet resolve --repo . --query role:web --jobs 4
  nodeattrs fleet resolve --repo . --since 2030-01-31T12:00Z
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("task", choices=("resolve",), help="what to do")
    parser.add_argument("--repo", metavar="DIR", default=".", help="the repository (default: the current directory)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--node", metavar="NAME", action="append", help="only these; may be repeated")
    which.add_argument("--query", metavar="QUERY", help="only kept nodes that a search finds")
    parser.add_argument("--facts", metavar="DIR", help="a directory with NODE.json in it, or one file for all")
    parser.add_argument("--environment", "-E", metavar="NAME", help="the environment of all from now on")
    parser.add_argument("--jobs", metavar="N", type=int, help="how many at a time (default: one for each processor)")
    parser.add_argument("--since", metavar="TIME", help="skip nodes that a good run has saved since then")
    parser.add_argument("--why-run", "-W", action="store_true", help="run, tell, and save nothing")
    parser.add_argument("--force", action="store_true", help="save even over what somebody else has saved meanwhile")
    add_store(parser)
    add_output(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run them."""
    import os
    import time

    from nodeattrs.keep import open_store
    from nodeattrs.keep.search import parse_query
    from nodeattrs.reports.fleet import FleetReport
    from nodeattrs.runs import Repository
    from nodeattrs.runs.fleet import Fleet, resolve, still_to_do
    from nodeattrs.runs.session import store_place

    if options.jobs is not None and options.jobs < 1:
        options.refuse("--jobs is at least 1")
    since = moment(options.since)
    if since is not None and not isinstance(since, datetime):
        options.refuse("--since is a time")
    repository = Repository(options.repo)
    place = store_place(options.store, repository)
    store = open_store(place)
    if options.query is not None:
        names = store.search(parse_query(options.query))
    else:
        names = options.node or sorted({*repository.nodes(), *store.names()})
    if not names:
        raise NotFound("there is no such node", hint="describe one in nodes/, or name one: --node NAME")
    all_of_them = len(names)
    if isinstance(since, datetime):
        names = still_to_do(store, names, since)
    store.close()
    fleet = Fleet(
        os.path.abspath(options.repo), place, options.facts, options.environment, not options.why_run, options.force
    )
    began = time.perf_counter()
    outcomes = []
    for number, outcome in enumerate(resolve(fleet, names, jobs=options.jobs), 1):
        terminal.progress(f"{number} of {len(names)}: {outcome.name}")
        outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: outcome.name)
    report = FleetReport(outcomes, time.perf_counter() - began, all_of_them - len(names))
    terminal.report(report)
    return 1 if report.failed else 0

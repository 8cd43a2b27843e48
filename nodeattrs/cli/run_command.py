"""`nodeattrs run`: run nodes, and save what they came to."""

from __future__ import annotations

import argparse

from nodeattrs.cli.catalog import add_applying, applied, exit_code
from nodeattrs.cli.options import (
    add_output,
    add_run_options,
    add_store,
    facts_from,
    is_directory,
    json_attributes,
    run_list,
    store_of,
)
from nodeattrs.cli.terminal import Terminal
from nodeattrs.errors import NodeattrsError, NotFound

__all__ = ["DESCRIPTION", "EXAMPLES", "NAME", "SUMMARY", "add_options", "perform"]

NAME = "run"
SUMMARY = "run nodes of a repository, and save what they came to"
DESCRIPTION = """\
Run nodes: facts, roles and environment, attribute files, recipes, in Chef's order. Normal
attributes come from the last run. What a node came to is saved with the origin of each value,
all of it or nothing."""
EXAMPLES = """\
examples:
  nodeattrs run --repo cookbooks_example --node web1 --facts cookbooks_example/facts/web1.json
  nodeattrs run --repo cookbooks_example --all --facts cookbooks_example/facts
  nodeattrs run --repo . --run-list "role[web],recipe[app::db]" -E staging --why-run
  nodeattrs run --repo . --node web1 --apply --root scratch
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("--repo", metavar="DIR", default=".", help="the repository (default: the current directory)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--node",
        metavar="NAME",
        action="append",
        help="may be repeated (default: the fqdn that the facts name)",
    )
    which.add_argument("--all", action="store_true", help="every node that nodes/ describes")
    add_run_options(parser)
    add_store(parser)
    parser.add_argument("--why-run", "-W", action="store_true", help="run, tell, and save nothing")
    parser.add_argument("--apply", action="store_true", help="bring the resources of the recipes into their state")
    parser.add_argument("--force", action="store_true", help="save even over what somebody else has saved meanwhile")
    add_applying(parser)
    add_output(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the nodes one by one; one that fails does not keep the others from running."""
    from nodeattrs.reports.catalog import AppliedCatalog, AppliedRuns
    from nodeattrs.reports.run import RunReport, RunReports
    from nodeattrs.runs import Repository
    from nodeattrs.runs.recipes import LogLine
    from nodeattrs.runs.session import name_in, perform

    repository = Repository(options.repo)
    store = store_of(options, repository)
    given = json_attributes(options, repository)
    items = run_list(options)
    # A directory has facts for each node; else all of them have the same.
    shared = None if is_directory(options.facts) else facts_from(options.facts, None, repository)
    names = (
        repository.nodes()
        if options.all
        else options.node or [name_in(shared or facts_from(options.facts, None, repository))]
    )
    if not names:
        raise NotFound("nodes/ describes no node", hint="name one: --node NAME")
    if options.why_run and options.apply and not options.noop:
        options.refuse("--why-run changes nothing: use --noop to see what --apply would do")
    reports: list[RunReport] = []
    catalogs: list[AppliedCatalog] = []
    for number, name in enumerate(names, 1):
        if len(names) > 1:
            terminal.progress(f"run {number} of {len(names)}: {name}")
        log: list[LogLine] = []
        try:
            session = perform(
                repository,
                store,
                name,
                facts=shared or facts_from(options.facts, name, repository),
                run_list=items,
                environment=options.environment,
                json_attributes=given,
                save=not options.why_run,
                force=options.force,
                log=log.append,
            )
            if options.apply or options.noop:
                catalogs.append(applied(session.run.catalog, name, options, terminal))
        except NodeattrsError as error:
            # What was logged before leads to the fault.
            terminal.remark([*map(str, log), *([f"the run of {name} failed"] if len(names) > 1 else [])])
            terminal.complain(error, options.repo, error if options.traceback else None)
            continue
        terminal.warn([*session.run.warnings, *([session.note] if session.note else [])])
        reports.append(RunReport(session))
    if reports:
        runs = RunReports(reports)
        terminal.report(AppliedRuns(runs, catalogs) if catalogs else runs)
    return max([int(len(reports) != len(names)), *map(exit_code, catalogs)])

"""`nodeattrs run`: compute the attributes of nodes and save the result."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from nodeattrs.cli.exits import INTERRUPTED, exit_code
from nodeattrs.cli.many import (
    EXPORT,
    NEW,
    began_now,
    check_export,
    export_saved,
    go_through,
    going_on,
    hint_to_resume,
    since_of,
    stoppable,
)
from nodeattrs.cli.options import (
    APPLYING,
    REPO_HELP,
    RUN,
    STORE,
    facts_from,
    facts_place,
    is_directory,
    json_attributes,
    output,
    override_run_list,
    own_facts,
    repository_of,
    run_list,
    settings_of,
    store_of,
)
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.kinds import SAVED_NOTE

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog, Report
    from nodeattrs.dialects.chef.facts import Facts
    from nodeattrs.dialects.chef.fleet import Fleet, Outcome
    from nodeattrs.dialects.chef.reports.catalog import AppliedCatalog
    from nodeattrs.dialects.chef.reports.run import RunReport
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.recipes import LogLine
    from nodeattrs.dialects.chef.run.session import Session
    from nodeattrs.reports import Screen

DESCRIPTION = """\
Run nodes: facts, roles and environment, attribute files, recipes, in Chef's order. Normal
attributes come from the last run. The result is saved as a new revision, with the origin
of each value, all of it or nothing. Of several nodes, one that fails does not keep the others from
running; the exit code is then 1. What resources describe is only touched with --apply."""
EXAMPLES = """\
examples:
  nodeattrs run --repo cookbooks_example --node web1 --facts cookbooks_example/facts/web1.json
  nodeattrs run --repo cookbooks_example --all --facts cookbooks_example/facts
  nodeattrs run --repo . --run-list "role[web],recipe[app::db]" -E staging --why-run
  nodeattrs run --repo . --node web1 --apply --root scratch
  nodeattrs run --repo . --node web1 --noop
"""


ARGUMENTS = (
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    Argument(
        ("--node",),
        "may be repeated (default: as Chef's configuration says, else the fqdn of the facts)",
        {"metavar": "NAME", "action": "append"},
        choice="which",
    ),
    Argument(
        ("--all",), "every node that nodes/ of the repository describes", {"action": "store_true"}, choice="which"
    ),
    Argument(
        ("--quiet", "-q"),
        "one line for each node, and what is wrong",
        {"action": "store_true"},
    ),
    Argument(
        ("--why-run", "-W"),
        "run and report, and save nothing",
        {"action": "store_true"},
    ),
    Argument(("--apply",), "bring the resources of the recipes into their state, then save", {"action": "store_true"}),
    Argument(("--strict",), "refuse a run with a cookbook that is not there", {"action": "store_true"}),
    Argument(("--force",), "save even over what somebody else has saved meanwhile", {"action": "store_true"}),
    *RUN,
    *STORE,
    *APPLYING,
    *output(),
    EXPORT,
    NEW,
    *going_on(", as it always is with --apply and --noop", " (with --all)"),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the nodes, save them, and print each in the order of the names; returns the exit code.

    raises: NotFound, where no node is given and nodes/ has none
    """
    from nodeattrs.dialects.chef.fleet import still_to_do
    from nodeattrs.dialects.chef.run.session import machine_name

    since = since_of(options)
    if since is not None and not options.all:
        options.refuse("--since is about --all")
    if options.why_run and options.apply and not options.noop:
        options.refuse("--why-run changes nothing: use --noop to see what --apply would do")
    if options.platform is not None and not (options.node or options.all):
        options.refuse("--platform is no machine, so say which node is meant: --node NAME")
    check_export(options, saves=not options.why_run and options.override_run_list is None)
    repository = repository_of(options)
    store = store_of(options)
    names = repository.nodes() if options.all else options.node or []
    # Resources are applied to this machine, so its own facts count.
    own = None if options.apply or options.noop else own_facts(options, repository, names)
    # A directory has facts for each node; else all of them have the same.
    suites = [name for name in names if name in repository.kitchen.instances and options.facts is None]
    if suites and len(names) > 1 and options.platform is None:
        options.refuse("suites of Test Kitchen have facts of their own: run one, or name facts")
    suite = suites[0] if suites else None
    shared = None if own or is_directory(options.facts) else facts_from(options, suite, repository)
    if not (names or options.all):
        known = repository.config.chef.node_name
        names = [known or machine_name(shared or facts_from(options, None, repository))]
    if not names:
        raise NotFound("nodes/ describes no node", hint="name one: --node NAME")
    if since is not None:
        all_of_them, names = len(names), still_to_do(store, names, since)
        terminal.remark([f"{all_of_them - len(names)} of {all_of_them} nodes are done already"])
    store.close()
    return _Runs(options, terminal, names, own).perform(repository, shared)


class _Runs:
    """The runs of one command, and what is shown of them.

    own_facts: the folder `facts/` of the repository, where it counts; then a node without a file has its last facts
    """

    def __init__(
        self, options: argparse.Namespace, terminal: Terminal, names: list[str], own_facts: str | None
    ) -> None:
        self._options = options
        self._own_facts = own_facts
        self._terminal = terminal
        self._names = names
        self._shown = 0
        self._saved: list[str] = []
        self._failed: dict[str, tuple[str, str]] = {}
        self._reports: list[RunReport] = []
        self._catalogs: dict[str, AppliedCatalog] = {}

    def perform(self, repository: Repository, shared: Facts | None) -> int:
        """Run them; the exit code."""
        from nodeattrs.dialects.chef.fleet import resolve
        from nodeattrs.workers.batches import jobs_for

        options, terminal, names = self._options, self._terminal, self._names
        applying = options.apply or options.noop
        jobs = 1 if applying else options.jobs or jobs_for(len(names))
        fleet = self._fleet(repository, shared, jobs)
        collect = partial(
            _report,
            several=len(names) > 1,
            screen=terminal.screen(sys.stderr),
            root=os.path.abspath(options.repo),
            traceback=options.traceback,
        )
        # Whoever applies is stopped between two resources, and says so; a single node is stopped where it is.
        interrupts = contextlib.nullcontext(self._was_interrupted) if applying or len(names) == 1 else stoppable()
        began = began_now()
        taken = go_through(
            terminal,
            len(names),
            lambda stopping: resolve(
                fleet,
                names,
                jobs=jobs,
                in_order=True,
                collect=collect,
                apply=self._apply if applying else None,
                stopping=stopping,
                opened=repository,
            ),
            self._take,
            interrupts,
            jobs=jobs,
        )
        self._end()
        export_saved(options, terminal, fleet.store, self._saved)
        code = max([int(bool(self._failed)), *map(exit_code, self._catalogs.values())])
        code = INTERRUPTED if taken < len(names) else code
        if code and options.all:
            hint_to_resume(options, terminal, began, interrupted=code == INTERRUPTED)
        return code

    def _fleet(self, repository: Repository, shared: Facts | None, jobs: int) -> Fleet:
        from nodeattrs.dialects.chef.fleet import Fleet

        options = self._options
        given, items, override = json_attributes(options, repository), run_list(options), override_run_list(options)
        place = self._own_facts or facts_place(options, repository)
        # What was read from a file stays in this process; another one reads it again.
        is_here = jobs == 1
        return Fleet(
            options.repo,
            settings_of(options).store,
            shared if shared is not None and (is_here or place is None) else place,
            options.environment,
            save=not options.why_run and override is None,
            force=options.force,
            run_list=None if items is None else tuple(items),
            override_run_list=None if override is None else tuple(override),
            json_attributes=given if is_here else options.json_attributes,
            last_facts=self._own_facts is not None,
            new=options.new,
            asked=repository.asked,
        )

    def _apply(self, name: str, catalog: Catalog) -> Report:
        from nodeattrs.cli.catalog import applied

        one = self._catalogs[name] = applied(catalog, name, self._options, self._terminal)
        return one.report

    def _was_interrupted(self) -> bool:
        return any(one.report.interrupted for one in self._catalogs.values())

    def _take(self, outcome: Outcome) -> None:
        from nodeattrs.dialects.chef.reports.run import RunReport

        report = outcome.collected
        if outcome.revision is not None:
            self._saved.append(outcome.name)
        if isinstance(report, RunReport):
            self._terminal.warn(report.warnings)
            self._terminal.warn(filter(None, [report.note]), SAVED_NOTE.entry)
            self._show(report)
        else:
            self._failed[outcome.name] = (outcome.error, outcome.code)
            self._terminal.aside(report)
        if self._options.format == "text" and outcome.name in self._catalogs:
            self._text(self._catalogs[outcome.name])

    def _show(self, report: RunReport) -> None:
        if self._options.format == "text":
            self._text(report)
        else:
            self._reports.append(report)

    def _text(self, report: RunReport | AppliedCatalog) -> None:
        # Each is shown as soon as it is there, and then forgotten.
        from nodeattrs.dialects.chef.reports.run import RunReport

        if self._options.quiet and isinstance(report, RunReport):
            self._terminal.text(f"{report.brief()}\n")
            return
        if self._shown:
            self._terminal.text("\n")
        self._shown += 1
        self._terminal.report(report)

    def _end(self) -> None:
        if self._options.format != "text":
            from nodeattrs.dialects.chef.reports.catalog import AppliedRuns
            from nodeattrs.dialects.chef.reports.run import RunReports

            runs = RunReports(self._reports, self._failed)
            self._terminal.report(AppliedRuns(runs, list(self._catalogs.values())) if self._catalogs else runs)


def _report(
    name: str,
    came: Session | NodeattrsError,
    log: Sequence[LogLine],
    *,
    several: bool,
    screen: Screen,
    root: str,
    traceback: bool,
) -> RunReport | list[str]:
    """What is shown of a node, made where it ran: its report, or the lines about what went wrong."""
    if not isinstance(came, NodeattrsError):
        from nodeattrs.dialects.chef.reports.run import RunReport

        return RunReport.of(came)
    from nodeattrs.reports.failure import failure_lines, traceback_lines
    from nodeattrs.reports.screen import printable

    # What was logged before leads to the fault.
    before = [*map(str, log), *([f"the run of {name} failed"] if several else [])]
    return [
        *map(printable, before),
        *(traceback_lines(came) if traceback else ()),
        *failure_lines(came, screen, root),
    ]

"""`nodeattrs run`: compute the attributes of nodes and save the results."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

from nodeattrs.catalog import Catalog, Report
from nodeattrs.contract.arguments import REPO_HELP, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.chef.commands.applying import applied, exit_code
from nodeattrs.dialects.chef.commands.arguments import APPLYING, RUN
from nodeattrs.dialects.chef.commands.inputs import (
    facts_from,
    facts_place,
    is_directory,
    json_attributes,
    own_facts,
    repository_of,
    run_list,
)
from nodeattrs.dialects.chef.commands.many import (
    EXPORT,
    INTERRUPTED,
    NEW,
    began_now,
    check_export,
    export_saved,
    hint_to_resume,
    jobs_and_since,
    since_of,
)
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.fleet import Fleet, NodeOutcome, resolve, still_to_do
from nodeattrs.dialects.chef.reports.catalog import AppliedCatalog, AppliedRuns
from nodeattrs.dialects.chef.reports.run import RunReport, RunReports
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.recipes import LogLine
from nodeattrs.dialects.chef.run.session import Session, machine_name
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import BadUsage, NodeattrsError, NotFound
from nodeattrs.kinds import SAVED_NOTE
from nodeattrs.reports import Screen
from nodeattrs.reports.failure import failure_lines, traceback_lines
from nodeattrs.reports.screen import printable
from nodeattrs.workers.batches import jobs_for

_DESCRIPTION = """\
Run nodes in Chef's order: facts, roles and environment, attribute files, recipes. Save the result as a
new revision, with the origin of each value. Normal attributes come from the last run. Of several nodes,
one that fails does not stop the others; the exit code is then 1. Only --apply changes the machine."""
_EXAMPLES = (
    "run --repo cookbooks_example --node web1 --facts cookbooks_example/facts/web1.json",
    "run --repo cookbooks_example --all --facts cookbooks_example/facts",
    'run --repo . --run-list "role[web],recipe[app::db]" -E staging --why-run',
    "run --repo . --node web1 --apply --root scratch",
    "run --repo . --node web1 --noop",
)


_ARGUMENTS = (
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    Argument(
        ("--node",),
        "a node; repeatable (default: this machine's)",
        {"metavar": "NAME", "action": "append"},
        choice="which",
    ),
    Argument(("--all",), "every node that nodes/ describes", {"action": "store_true"}, choice="which"),
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
    Argument(("--apply",), "apply the resources of the recipes, then save", {"action": "store_true"}),
    Argument(("--strict",), "refuse a run with a cookbook that is not there", {"action": "store_true"}),
    Argument(("--force",), "save over a newer revision of another process", {"action": "store_true"}),
    *RUN,
    *STORE,
    *APPLYING,
    *output(),
    EXPORT,
    NEW,
    *jobs_and_since("", " of --all"),
)


def _perform(question: Question) -> Output:
    """Run the nodes, save them, and print each in the order of the names.

    raises: NotFound, if no node is given and nodes/ has none
    """
    asked = question.arguments
    since = since_of(question)
    if since is not None and not asked["all"]:
        raise BadUsage("--since is about --all")
    if asked["why_run"] and asked["apply"] and not asked["noop"]:
        raise BadUsage("--why-run changes nothing: use --noop to see what --apply would do")
    if asked["platform"] is not None and not (asked["node"] or asked["all"]):
        raise BadUsage("--platform is no machine, so say which node is meant: --node NAME")
    check_export(question, saves=not asked["why_run"] and asked["override_run_list"] is None)
    repository = repository_of(question)
    store, _ = store_of(question.settings)
    names = repository.nodes() if asked["all"] else asked["node"] or []
    # Resources are applied to this machine, so its own facts count.
    own = None if asked["apply"] or asked["noop"] else own_facts(question, repository, names)
    # Without a directory of facts, all nodes have the same facts.
    suites = [name for name in names if name in repository.kitchen.instances and asked["facts"] is None]
    if suites and len(names) > 1 and asked["platform"] is None:
        raise BadUsage("suites of Test Kitchen have facts of their own: run one, or name facts")
    suite = suites[0] if suites else None
    shared = None if own or is_directory(asked["facts"]) else facts_from(question, suite, repository)
    if not (names or asked["all"]):
        known = repository.config.chef.node_name
        names = [known or machine_name(shared or facts_from(question, None, repository))]
    if not names:
        raise NotFound("nodes/ describes no node", hint="name one: --node NAME")
    if since is not None:
        all_of_them, names = len(names), still_to_do(store, names, since)
        question.caller.remark([f"{all_of_them - len(names)} of {all_of_them} nodes are done already"])
    store.close()
    return _Runs(question, names, own).perform(repository, shared)


class _Runs:
    """The runs of one command, and their reports.

    own_facts: the folder `facts/` of the repository, if it is used; a node without a file there has its last facts
    """

    def __init__(self, question: Question, names: list[str], own_facts: str | None) -> None:
        self._question, self._asked, self._caller = question, question.arguments, question.caller
        self._own_facts = own_facts
        self._names = names
        self._shown = 0
        self._saved: list[str] = []
        self._failed: dict[str, tuple[str, str]] = {}
        self._reports: list[RunReport] = []
        self._catalogs: dict[str, AppliedCatalog] = {}

    def perform(self, repository: Repository, shared: Facts | None) -> Output:
        """Run the nodes and show their reports. shared: the facts of all nodes, or None"""
        question, asked, names = self._question, self._asked, self._names
        applying = asked["apply"] or asked["noop"]
        jobs = 1 if applying else asked["jobs"] or jobs_for(len(names))
        fleet = self._fleet(repository, shared, jobs)
        collect = partial(
            _report,
            several=len(names) > 1,
            screen=question.caller.screen(sys.stderr),
            root=os.path.abspath(repository.root),
            traceback=asked["traceback"],
        )
        # A run that applies is stopped between two resources, and a single node at once.
        stopping = self._was_interrupted if applying or len(names) == 1 else None
        began = began_now()
        taken = question.through(
            len(names),
            lambda is_stopping: resolve(
                fleet,
                names,
                jobs=jobs,
                in_order=True,
                collect=collect,
                apply=self._apply if applying else None,
                stopping=is_stopping,
                opened=repository,
            ),
            self._take,
            stopping,
            jobs=jobs,
        )
        if asked["format"] != "text":
            self._caller.report(self._report_of_all())
        export_saved(question, fleet.store, self._saved)
        code = max([int(bool(self._failed)), *map(exit_code, self._catalogs.values())])
        code = INTERRUPTED if taken < len(names) else code
        if code and asked["all"]:
            hint_to_resume(question, began, interrupted=code == INTERRUPTED)
        return Output(code=code)

    def _fleet(self, repository: Repository, shared: Facts | None, jobs: int) -> Fleet:
        question, asked = self._question, self._asked
        given, items = json_attributes(question, repository), run_list(question)
        override = run_list(question, "--override-run-list")
        place = self._own_facts or facts_place(question, repository)
        # Other processes get the names of files, and read them again.
        is_here = jobs == 1
        return Fleet(
            os.path.relpath(repository.root),
            question.settings.store,
            shared if shared is not None and (is_here or place is None) else place,
            asked["environment"],
            save=not asked["why_run"] and override is None,
            force=asked["force"],
            run_list=None if items is None else tuple(items),
            override_run_list=None if override is None else tuple(override),
            json_attributes=given if is_here else asked["json_attributes"],
            last_facts=self._own_facts is not None,
            new=asked["new"],
            options=repository.options,
        )

    def _apply(self, name: str, catalog: Catalog) -> Report:
        one = self._catalogs[name] = applied(catalog, name, self._question)
        return one.report

    def _was_interrupted(self) -> bool:
        return any(one.report.interrupted for one in self._catalogs.values())

    def _take(self, outcome: NodeOutcome) -> None:
        report = outcome.collected
        if outcome.revision is not None:
            self._saved.append(outcome.name)
        if isinstance(report, RunReport):
            self._caller.warn(report.warnings)
            self._caller.warn(filter(None, [report.note]), SAVED_NOTE.entry)
            if self._asked["format"] == "text":
                self._text(report)
            else:
                self._reports.append(report)
        else:
            self._failed[outcome.name] = (outcome.error, outcome.code)
            self._caller.aside(report)
        if self._asked["format"] == "text" and outcome.name in self._catalogs:
            self._text(self._catalogs[outcome.name])

    def _text(self, report: RunReport | AppliedCatalog) -> None:
        # A text is shown at once, and not kept.
        if self._asked["quiet"] and isinstance(report, RunReport):
            self._caller.text(f"{report.brief()}\n")
            return
        if self._shown:
            self._caller.text("\n")
        self._shown += 1
        self._caller.report(report)

    def _report_of_all(self) -> RunReports | AppliedRuns:
        """The reports of all nodes, as data."""
        runs = RunReports(self._reports, self._failed)
        return AppliedRuns(runs, list(self._catalogs.values())) if self._catalogs else runs


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
    """The report of a node, or the lines about its error; called in the worker. several: more than one node runs"""
    if not isinstance(came, NodeattrsError):
        return RunReport.of(came)
    # The logged lines may show the reason for the error.
    before = [*map(str, log), *([f"the run of {name} failed"] if several else [])]
    return [
        *map(printable, before),
        *(traceback_lines(came) if traceback else ()),
        *failure_lines(came, screen, root),
    ]


COMMANDS = {"run": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}

"""`nodeattrs fleet`: run many nodes, on all processors of this machine or on other machines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from nodeattrs.contract.arguments import REPO_HELP, RUBY, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.chef.commands.arguments import COOKBOOK_PATH, facts_of
from nodeattrs.dialects.chef.commands.inputs import facts_place, own_facts, repository_of
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
from nodeattrs.dialects.chef.fleet import Fleet, NodeOutcome, compared, resolve, shipped, still_to_do
from nodeattrs.dialects.chef.reports.fleet import FleetReport
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.session import Session, wrong_machine_warnings
from nodeattrs.errors import BadUsage, FleetError, NodeattrsError, NotFound
from nodeattrs.store import Store, open_store
from nodeattrs.store.search import parse_query
from nodeattrs.workers.batches import open_workers

_DESCRIPTION = """\
Run every node of nodes/ and of the store, several at a time, and save each result. Resources are not applied.
A node without a file in --facts has the facts of its last run. Failures are reported at the end and stop no
other node. After Ctrl-C running nodes finish, and the command for the rest is printed. --executor runs nodes
on other machines (docs/cluster.md)."""
_EXAMPLES = (
    "fleet resolve --repo cookbooks_example --facts cookbooks_example/facts",
    "fleet resolve --repo . --query role:web --jobs 4",
    "fleet resolve --repo . --since 2030-01-31T12:00Z",
    """\
fleet resolve --repo . --facts facts --store postgresql://nodeattrs@db/nodes \\
      --executor dask:tcp://head:8786 --ship""",
)


_ARGUMENTS = (
    Argument(("task",), "resolve: run the nodes and save them", {"metavar": "ACTION", "choices": ("resolve",)}),
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    Argument(("--node",), "only this node; may be repeated", {"metavar": "NAME", "action": "append"}, choice="which"),
    Argument(
        ("--query",),
        "only the saved nodes that `nodeattrs search QUERY` finds",
        {"metavar": "QUERY"},
        choice="which",
    ),
    Argument(
        ("--environment", "-E"),
        "the environment of all nodes from now on",
        {"metavar": "NAME"},
    ),
    Argument(
        ("--executor",),
        "process (default), thread, dask:tcp://HOST:8786, or MODULE:CALLABLE, which makes another executor of "
        "concurrent.futures",
        {"metavar": "WHO", "default": "process"},
    ),
    Argument(("--ship",), "send the repository and the facts to the workers", {"action": "store_true"}),
    Argument(
        ("--why-run", "-W"),
        "run and report, and save nothing",
        {"action": "store_true"},
    ),
    Argument(("--force",), "save over a newer revision of another process", {"action": "store_true"}),
    COOKBOOK_PATH,
    *RUBY,
    *STORE,
    *output(),
    *facts_of(
        "a directory with NODE.json in it, or one file for all",
        "facts/ of the repository, else the facts of the last run",
    ),
    NEW,
    *jobs_and_since(),
    EXPORT,
)


def _perform(question: Question) -> Output:
    """Run the nodes and save them; reports the failed ones."""
    asked = question.arguments
    since = since_of(question)
    check_export(question, saves=not asked["why_run"])
    repository = repository_of(question)
    fleet = _fleet(question, repository)
    store = open_store(fleet.store)
    names = _names(question, repository, store)
    fleet = replace(fleet, facts=fleet.facts or own_facts(question, repository, names))
    all_of_them = len(names)
    if since is not None:
        names = still_to_do(store, names, since)
    store.close()
    return _FleetRun(question, fleet, names).perform(skipped=all_of_them - len(names))


class _FleetRun:
    """One call of the command: runs the nodes, and collects what the report needs."""

    def __init__(self, question: Question, fleet: Fleet, names: list[str]) -> None:
        self._question, self._asked = question, question.arguments
        self._fleet, self._names = fleet, names
        self._outcomes: list[NodeOutcome] = []
        self._saved: list[str] = []
        self._gone: FleetError | None = None

    def perform(self, skipped: int) -> Output:
        """Run the nodes and report them. skipped: the nodes that an earlier call has run

        raises: FleetError, after the report
        """
        question = self._question
        began, start = began_now(), time.perf_counter()
        done = self._done()
        left = len(self._names) - done
        self._outcomes.sort(key=lambda outcome: outcome.name)
        report = FleetReport(self._outcomes, done, time.perf_counter() - start, skipped, left)
        question.caller.report(report)
        export_saved(question, self._fleet.store, self._saved)
        if left or report.failed:
            hint_to_resume(question, began, interrupted=left > 0)
        if self._gone is not None:
            raise self._gone
        return Output(code=INTERRUPTED if left else 1 if report.failed else 0)

    def _done(self) -> int:
        """Run the nodes; returns the number of finished ones."""
        asked, fleet, pack = self._asked, self._fleet, None
        with open_workers(asked["executor"], asked["jobs"]) as workers:
            if asked["ship"] and not workers.elsewhere:
                raise BadUsage("--ship is about workers on other machines: --executor dask:...")
            if asked["ship"]:
                fleet, pack = shipped(fleet, self._names)
            elif workers.elsewhere:
                fleet = compared(fleet)

            def outcomes(stopping: Callable[[], bool]) -> Iterator[NodeOutcome]:
                try:
                    yield from resolve(
                        fleet, self._names, executor=workers, pack=pack, stopping=stopping, collect=_warnings
                    )
                except FleetError as error:
                    self._gone = error

            jobs = asked["jobs"] if workers.executor is None else 1
            return self._question.through(len(self._names), outcomes, self._take, jobs=jobs)

    def _take(self, outcome: NodeOutcome) -> None:
        self._question.caller.warn(outcome.collected or ())
        if outcome.error or self._asked["format"] != "text":  # a report as text names only nodes that failed
            self._outcomes.append(outcome)
        if outcome.revision is not None and self._asked["export"] is not None:
            self._saved.append(outcome.name)


def _warnings(name: str, came: Session | NodeattrsError, log: Any) -> list[str]:
    """The warnings about the facts of a run; called in the worker."""
    return [] if isinstance(came, NodeattrsError) else [*wrong_machine_warnings(came.run)]


def _fleet(question: Question, repository: Repository) -> Fleet:
    asked = question.arguments
    return Fleet(
        os.path.abspath(repository.root),
        question.settings.store,
        facts_place(question, repository),
        asked["environment"],
        not asked["why_run"],
        asked["force"],
        new=asked["new"],
        options=repository.options,
    )


def _names(question: Question, repository: Repository, store: Store) -> list[str]:
    """The names of the nodes to run: of --query or --node, else all. raises: NotFound, for none"""
    asked = question.arguments
    if asked["query"] is not None:
        names = store.search(parse_query(asked["query"]))
    else:
        names = asked["node"] or sorted({*repository.nodes(), *store.names()})
    if not names:
        raise NotFound("there is no such node", hint="describe one in nodes/, or name one: --node NAME")
    return names


COMMANDS = {"fleet": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}

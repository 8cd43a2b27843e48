"""Visit every resource once, apply its changes, and deliver refreshes.

Refresh events for a resource are collected until the resource is visited. All senders were visited before, so it is
refreshed once, for all events. A failure skips only the resources that depend on the failed one. This module does not
know files or commands: it calls the methods of a subject.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from nodeattrs.catalog.graph import Edge, Graph
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import MAIN_CLASS, MAIN_STAGE
from nodeattrs.core.borders import checked_args
from nodeattrs.puppet.references import Ref


@dataclass(frozen=True, slots=True)
class Change:
    """A property of a resource that differs from its declaration.

    what:    the property: "ensure", "content", "mode", ...
    summary: the change in words, without secrets
    diff:    the difference as text; None where it is secret or there is none
    """

    what: str
    summary: str = ""
    diff: str | None = None


class Subject(Protocol):
    """What a transaction needs of an object that checks and applies one resource on a machine.

    `check` returns the changes that the resource needs, `apply` makes one of them, and `refresh` reacts to a change of
    another resource. `site` is the argument of `apply_plan`, usually a `types.Site`. Each method may raise any error:
    then this resource has failed, and those that wait for it are skipped.
    refreshable: whether `refresh` is called when a resource that it subscribes to has changed

    Two more methods are optional. `tidy(site)` is called before `check`, except in no-op mode. `foresee(site)` is
    called in no-op mode after a `check` that found a difference.
    """

    refreshable: bool

    def check(self, site: Any) -> Sequence[Change]:
        """The properties that differ from the declaration; [] for none. Changes nothing."""

    def apply(self, change: Change, site: Any) -> None:
        """Make one of the changes that `check` returned."""

    def refresh(self, site: Any) -> None:
        """React to a change of another resource, for example restart a service."""


class LogLine(NamedTuple):
    """A message about a resource; `str()` gives "notice File[/a]: text".

    level: as in Puppet: "info", "notice", "warning" or "err"
    ref:   the reference of the resource
    text:  the message, in Puppet's words
    """

    level: str
    ref: str
    text: str

    def __str__(self) -> str:
        return f"{self.level} {self.ref}: {self.text}"


class Received(NamedTuple):
    """The refresh events of one target.

    target: the reference
    events: the number of its events
    how:    "run" for real changes, "noop" where the changes were only simulated
    """

    target: str
    events: int
    how: str


@dataclass(slots=True)
class Outcome:
    """The result of one resource. If nothing differed from the declaration, all flags but `noop` are False.

    ref:       the reference of the resource
    noop:      whether it is in no-op mode
    changed:   whether a change or a refresh was made
    failed:    whether its check, a change or its refresh failed
    skipped:   whether it was not checked, since a resource that it waits for failed
    restarted: whether it was refreshed
    failed_to_restart: whether its refresh failed
    would_change:  in no-op mode, whether something differs
    would_refresh: whether its refresh was only simulated, since it or all senders were in no-op mode
    changes:   the changes that were made; in no-op mode those that would be made
    unmade:    the changes that failed
    errors:    the messages of errors
    because:   if it was skipped, the references of the failed resources that it waits for
    from_refs: the references of the resources whose changes refreshed it, or would have refreshed it
    seconds:   how long it took

    `status` has the flags as words, without those for a simulated change.
    """

    ref: Ref
    noop: bool = False
    changed: bool = False
    failed: bool = False
    skipped: bool = False
    restarted: bool = False
    failed_to_restart: bool = False
    would_change: bool = False
    would_refresh: bool = False
    changes: tuple[Change, ...] = ()
    unmade: tuple[Change, ...] = ()
    errors: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    from_refs: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def status(self) -> frozenset[str]:
        """The names of the true flags among changed, failed, skipped, restarted and failed_to_restart.

        "noop" stands for `would_change`. The set is empty for a resource without a difference, and for one that only
        would refresh.
        """
        names = ("changed", "failed", "skipped", "restarted", "failed_to_restart")
        found = [name for name in names if getattr(self, name)]
        return frozenset([*found, "noop"] if self.would_change else found)


@dataclass(slots=True)
class Report:
    """The result of applying a plan. `apply_plan` makes and fills it.

    outcomes:    reference -> result of each resource that is no container, in the order of visiting
    visited:     the names of all visited vertices, skipped ones included. A container has two: "begin Class[A]" and
                 "end Class[A]"; Class[Main] and Stage[main] are left out
    received:    the refresh events of each target that got some, in the order of visiting
    log:         the messages in order
    interrupted: whether Ctrl-C ended it early
    left:        after Ctrl-C, the references of the resources that were not visited
    seconds:     how long all of it took

    `with_status("failed")` lists the outcomes with this word in their `status`. `ok` is False if a resource failed, or
    was skipped or not visited.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    visited: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)
    interrupted: bool = False
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def with_status(self, word: str) -> list[Outcome]:
        """The results that have *word* in their `status`; [] for none."""
        return [outcome for outcome in self.outcomes.values() if word in outcome.status]

    @property
    def ok(self) -> bool:
        """Whether all resources were visited, none failed and none was skipped."""
        return not self.interrupted and not any(outcome.failed or outcome.skipped for outcome in self.outcomes.values())


class _Event(NamedTuple):
    sender: str
    noop: bool


@checked_args(plan=Plan)
def apply_plan(
    plan: Plan,
    site: Any = None,
    *,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> Report:
    """Visit all resources of a plan in order, and change what differs; in no-op mode only report it.

    If a resource fails, the resources that wait for it are skipped; that is no error of this function. Ctrl-C ends
    early, with `Report.interrupted`.
    site:       the argument for the methods of the subjects
    on_outcome: called with the result of each resource, after it was visited; None for none
    raises:     ReferenceNotFound, DependencyCycle, before any visit; the errors of *on_outcome*
    """
    order = plan.visit_order()
    transaction = _Transaction(plan, site)
    report, graph = transaction.report, plan.graph
    start = time.perf_counter()
    visited = 0
    try:
        for vertex in order:
            outcome = transaction.visit(vertex)
            if outcome is not None and on_outcome is not None:
                on_outcome(outcome)
            visited += 1
    except KeyboardInterrupt:
        report.interrupted = True
        rest = (graph.refs[vertex >> 1] for vertex in order[visited:] if not graph.is_container[vertex >> 1])
        report.left = [ref for ref in rest if ref not in report.outcomes]
    report.seconds = time.perf_counter() - start
    return report


class _Transaction:
    def __init__(self, plan: Plan, site: Any) -> None:
        self.report = Report()
        self._site = site
        self._documented = plan.documented
        self._graph: Graph = plan.graph
        self._subjects = [plan.resources[ref].subject for ref in self._graph.refs]
        noops = plan.noops
        self._noop = [noops[ref] for ref in self._graph.refs]
        self._all_noop = plan.catalog.noop
        self._blame: dict[int, set[str]] = {}
        self._queues: dict[int, list[_Event]] = {}
        self._logged_failed: set[str] = set()

    def visit(self, vertex: int) -> Outcome | None:
        """Visit a vertex. Returns the outcome of a resource; None for an anchor of a container."""
        index = vertex >> 1
        ref = self._graph.refs[index]
        if self._graph.is_container[index]:
            if ref not in (MAIN_CLASS, MAIN_STAGE):
                self.report.visited.append(self._graph.named(vertex))
            self._visit_anchor(vertex, ref)
            return None
        start = time.perf_counter()
        outcome = Outcome(ref, self._noop[index])
        self.report.visited.append(ref)
        self.report.outcomes[ref] = outcome
        blame = self._blame.get(vertex)
        if blame:
            outcome.skipped, outcome.because = True, tuple(sorted(blame))
            self._note_skipped(ref, blame)
            # The language page lets a skipped resource refresh for those that succeeded; the program does not.
            if self._documented:
                self._receive(vertex, outcome)
            else:
                self._drop(vertex, ref)
        else:
            try:
                self._evaluate(vertex, outcome)
            except KeyboardInterrupt:
                outcome.failed, outcome.errors = True, (*outcome.errors, "interrupted")
                raise
        if blame or outcome.failed:
            self._pass_on(vertex, (blame or set()) | ({ref} if outcome.failed else set()))
        outcome.seconds = time.perf_counter() - start
        return outcome

    def _visit_anchor(self, vertex: int, ref: str) -> None:
        blame = self._blame.get(vertex)
        if blame:
            self._drop(vertex, ref)
            self._pass_on(vertex, blame)
        else:
            self._receive(vertex, None)

    # Failures

    def _pass_on(self, vertex: int, blame: Iterable[str]) -> None:
        for edge in self._graph.out[vertex]:
            self._blame.setdefault(edge.target, set()).update(blame)

    def _note_skipped(self, ref: str, blame: Iterable[str]) -> None:
        at = self._graph.at
        for failed in sorted(blame, key=at.__getitem__):
            if failed not in self._logged_failed:
                self._logged_failed.add(failed)
                self._log("notice", ref, f"Dependency {failed} has failures: true")
        self._log("warning", ref, "Skipping because of failed dependencies")

    def _drop(self, vertex: int, ref: str) -> None:
        if self._queues.pop(vertex, None):
            self._log("info", ref, f"Unscheduling all events on {ref}")

    # Changes

    def _evaluate(self, vertex: int, outcome: Outcome) -> None:
        subject = self._subjects[vertex >> 1]
        events: list[_Event] = []
        try:
            changes = self._differing(subject, outcome.noop) if subject is not None else ()
        except Exception as error:
            self._fail(outcome, f"Could not evaluate: {_first_line(error)}")
            changes = ()
        for change in changes:
            if not outcome.noop and not self._applied(subject, change, outcome):
                continue
            outcome.would_change, outcome.changed = outcome.noop, not outcome.noop
            outcome.changes = (*outcome.changes, change)
            events.append(_Event(outcome.ref, outcome.noop))
        if not outcome.failed:
            self._send(vertex, events)
        self._receive(vertex, outcome)

    def _differing(self, subject: Any, noop: bool) -> Sequence[Change]:
        """The result of `check`. Calls the optional methods `tidy` before it and `foresee` after it, too."""
        if not noop and hasattr(subject, "tidy"):
            subject.tidy(self._site)
        changes = tuple(subject.check(self._site))
        if noop and changes and hasattr(subject, "foresee"):
            subject.foresee(self._site)
        return changes

    def _applied(self, subject: Any, change: Change, outcome: Outcome) -> bool:
        try:
            subject.apply(change, self._site)
        except Exception as error:
            outcome.unmade = (*outcome.unmade, change)
            _note_failure(outcome, f"{change.what}: {_first_line(error)}")
            return False
        return True

    def _fail(self, outcome: Outcome, text: str) -> None:
        _note_failure(outcome, text)
        self._log("err", outcome.ref, text)

    # Events

    def _send(self, vertex: int, events: Sequence[_Event]) -> None:
        if not events:
            return
        refs = self._graph.refs
        # Edges to one target together, at the place of the first: the order of Puppet's messages.
        targets: dict[int, int] = {}
        for edge in self._graph.out[vertex]:
            received = edge.refresh and self._receives(edge)
            targets[edge.target] = targets.get(edge.target, 0) + received
        for event in events:
            for target, times in targets.items():
                for _ in range(times):
                    self._queues.setdefault(target, []).append(event)
                    if not target & 1:
                        self._log("info", refs[vertex >> 1], f"Scheduling refresh of {refs[target >> 1]}")

    def _receives(self, edge: Edge) -> bool:
        target = edge.target >> 1
        if self._graph.is_container[target]:
            return True
        subject = self._subjects[target]
        return subject is not None and bool(subject.refreshable)

    def _receive(self, vertex: int, outcome: Outcome | None) -> None:
        queue = self._queues.pop(vertex, None)
        if not queue:
            return
        ref = self._graph.refs[vertex >> 1]
        noop = self._all_noop if outcome is None else outcome.noop
        would_be = noop or all(event.noop for event in queue)
        if ref not in (MAIN_CLASS, MAIN_STAGE):
            how = "noop" if would_be else "run"
            self.report.received.append(Received(self._graph.named(vertex), len(queue), how))
        count = f"{len(queue)} event{'' if len(queue) == 1 else 's'}"
        if outcome is not None:
            outcome.from_refs = tuple(dict.fromkeys(event.sender for event in queue))
        if would_be:
            if outcome is not None:
                outcome.would_refresh = True
            self._log("notice", ref, f"Would have triggered 'refresh' from {count}")
            self._send(vertex, [_Event(ref, True)])
            return
        if outcome is not None and not self._refreshed(vertex, outcome, count):
            return
        self._send(vertex, [_Event(ref, False)])

    def _refreshed(self, vertex: int, outcome: Outcome, count: str) -> bool:
        try:
            self._subjects[vertex >> 1].refresh(self._site)
        except Exception as error:
            outcome.failed_to_restart = True
            self._fail(outcome, f"Failed to call refresh: {_first_line(error)}")
            return False
        self._log("notice", outcome.ref, f"Triggered 'refresh' from {count}")
        outcome.restarted = outcome.changed = True
        return True

    def _log(self, level: str, ref: str, text: str) -> None:
        self.report.log.append(LogLine(level, ref, text))


def _note_failure(outcome: Outcome, text: str) -> None:
    outcome.failed = True
    outcome.errors = (*outcome.errors, text)


def _first_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        # A name without its folder says less than the resource's own.
        place = error.filename if isinstance(error.filename, str) and "/" in error.filename else ""
        return f"{place}: {error.strerror}" if place else error.strerror
    return next(iter(str(error).splitlines()), "") or type(error).__name__

"""Reports about catalogs: their resources, order and relationships, and the result of applying them.

Each report has `to_dict`, its data for JSON, and `lines`, its text for a terminal. Both compute what they show when
they are called, and change nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.catalog import Catalog, Outcome, Plan, Ref, Report
from nodeattrs.catalog.errors import MoreRelations, ResourceFailed
from nodeattrs.catalog.questions import Impact, Step, dot
from nodeattrs.catalog.resources import MAIN_CLASS, MAIN_STAGE, Resource
from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path, parse
from nodeattrs.dialects.chef.reports.run import RunReports
from nodeattrs.dialects.chef.run.applying import outcome_data, resource_counts
from nodeattrs.reports.explain import NodeExplanation, ReadValue
from nodeattrs.reports.findings import Finding, finding_of
from nodeattrs.reports.screen import Screen, printable

_SIGNS = {"failed": "!", "skipped": "-", "restarted": "↻", "changed": "~", "noop": "?"}


def findings_of(plan: Plan) -> Iterator[Finding]:
    """Yield the faults of a plan as errors, then its warnings."""
    yield from map(finding_of, plan.faults())
    for warning in plan.warnings():
        yield finding_of(warning, "note" if isinstance(warning, MoreRelations) else "warning")


def counts_of(plan: Plan) -> dict[str, int]:
    """Returns the numbers for "resource", "container" and "relationship" in a plan; 0 too."""
    inner = sum(plan.graph.is_container)
    return {"resource": len(plan.graph.is_container) - inner, "container": inner, "relationship": len(plan.graph.edges)}


def _origin_dict(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {"kind": origin.kind, "name": origin.name, "file": origin.file, "line": origin.line}


def _edge_dict(before: str, after: str, is_refresh: bool, reason: str, origin: Origin | None) -> dict[str, Any]:
    kind = "refresh" if is_refresh else "order"
    return {"before": before, "after": after, "kind": kind, "because": reason, "origin": _origin_dict(origin)}


def _placed(screen: Screen, text: str, origin: Origin | None) -> str:
    """A text, then the place of an origin in a faint colour; the text alone for an origin without a place."""
    place = f"  {origin.place}" if origin and origin.place else ""
    return f"{text}{screen.paint(printable(place), 'faint')}"


def _reads_line(screen: Screen, resource: Resource, indent: str) -> Iterator[str]:
    """Yield one line with the attributes that the text of a resource reads; nothing if it reads none."""
    if resource.reads:
        yield f"{indent}{screen.paint(printable('reads ' + ', '.join(resource.reads)), 'faint')}"


def _declared(resource: Resource) -> dict[str, Any]:
    """A resource as data for JSON: its reference, its line, the attributes that its text reads."""
    return {"resource": str(resource.ref), "origin": _origin_dict(resource.origin), "reads": list(resource.reads)}


@dataclass(frozen=True, slots=True)
class CatalogList:
    """The report of `catalog list`: the resources in the order of their declaration, without containers.

    `to_dict` returns the data for JSON. `lines` yields the text; for no resource it yields one sentence.

    catalog: the declared resources
    name:    the name of the node, or of the catalog's file
    reads:   list only resources whose text in the recipe reads this path, or a path above or below it. None: all. A
        text that is not a path raises BadArgument in both methods
    """

    catalog: Catalog
    name: str
    reads: str | None = None

    def _listed(self) -> Iterator[Resource]:
        wanted = parse(self.reads) if self.reads else None
        for resource in self.catalog:
            if not resource.is_container and (wanted is None or any(_meets(one, wanted) for one in resource.reads)):
                yield resource

    def to_dict(self) -> dict[str, Any]:
        """The references in order, each with its line and the attributes that its text reads."""
        return {"version": 1, "catalog": self.name, "resources": [_declared(one) for one in self._listed()]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a line for each resource with its place, and a line with what its text reads; one sentence for none."""
        listed = [*self._listed()]
        if not listed:
            yield f"no resource reads {printable(self.reads)}" if self.reads else "no resource is declared"
        for one in listed:
            yield _placed(screen, printable(one.ref), one.origin)
            yield from _reads_line(screen, one, "    ")


def _meets(read: str, wanted: Path) -> bool:
    """Whether a path that was read is *wanted*, or above or below it; False for the key of a lookup."""
    if "(" in read:
        return False
    path = parse(read)
    return path[: len(wanted)] == wanted[: len(path)]


@dataclass(frozen=True, slots=True)
class CatalogOrder:
    """The report of `catalog order`: the resources in the order in which applying visits them.

    `to_dict` returns the data for JSON. Its list `order` has a map for each resource: its reference, its line and the
    attributes that its text reads. `lines` yields the text; nothing for no resources. Both raise the faults of the
    plan, such as DependencyCycle.

    name:    the name of the node, or of the catalog's file
    shuffle: the seed of another valid order; None: Puppet's order
    """

    plan: Plan
    name: str
    shuffle: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The references in order, each with its line and the attributes that its text reads."""
        order = [_declared(self.plan.resources[ref]) for ref in self.plan.order(self.shuffle)]
        return {"version": 1, "catalog": self.name, "order": order}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a numbered line for each resource with its place, and a line with what its text reads."""
        order = self.plan.order(self.shuffle)
        width = len(str(len(order)))
        for number, ref in enumerate(order, 1):
            resource = self.plan.resources[ref]
            yield _placed(screen, f"{number:{width}}  {printable(ref)}", resource.origin)
            yield from _reads_line(screen, resource, f"{'':{width}}    ")


@dataclass(frozen=True, slots=True)
class CatalogGraph:
    """The report of `catalog graph`: the relationships as data (`to_dict`), or as text for Graphviz (`lines`).

    Neither raises an error for a plan with faults. `to_dict` lists the faults and the cycles. `lines` paints the edges
    of cycles red, and shows no other fault. The main class and stage are left out.

    plan: the resources and their relationships
    name: the name of the node, or of the catalog's file
    """

    plan: Plan
    name: str

    def to_dict(self) -> dict[str, Any]:
        """Resources with their containers, edges with reasons, cycles and faults as data for JSON.

        The resources are in the order of applying; for a plan with faults in the order of their declaration.
        """
        plan, graph = self.plan, self.plan.graph
        faults = [error.message for error in plan.faults()]
        order = list(plan.resources) if faults else [*plan.order()]
        shown = dict.fromkeys(one for one in (*order, *plan.resources) if one not in (MAIN_STAGE, MAIN_CLASS))
        inside: dict[str, list[str]] = {ref: [] for ref in shown}
        for container, contents in zip(graph.refs, graph.contents, strict=True):
            for content in contents if container in shown else ():
                inside[graph.refs[content]].append(container)
        return {
            "version": 1,
            "catalog": self.name,
            "resources": [
                {"resource": ref, "is_container": graph.is_container[graph.at[ref]], "inside": inside[ref],
                 "origin": _origin_dict(plan.resources[ref].origin)}
                for ref in shown
            ],
            "edges": list(self._edges(shown)),
            "cycles": [[graph.named(vertex) for vertex in cycle.ring] for cycle in plan.cycles],
            "faults": faults,
        }  # fmt: skip

    def _edges(self, shown: Container[str]) -> Iterator[dict[str, Any]]:
        graph = self.plan.graph
        for edge in graph.edges:
            before, after = graph.spelled(edge.source), graph.spelled(edge.target)
            if before in shown and after in shown:
                yield _edge_dict(before, after, edge.refresh, *graph.reason(edge))

    def lines(self, screen: Screen) -> Iterator[str]:
        """The graph as text for Graphviz."""
        yield from dot(self.plan).splitlines()


@dataclass(frozen=True, slots=True)
class WhyReport:
    """The report of `catalog why`: the edges that lead from one resource to another.

    `to_dict` returns the data for JSON, with [] for no edges. `lines` yields the text, and for no edges two sentences.

    first: the resource that is visited earlier
    then:  the resource that is visited later
    steps: the edges from *first* to *then*, in order. () if no relationship connects them, and only their order of
        declaration decides
    """

    first: Ref
    then: Ref
    steps: Sequence[Step]

    def to_dict(self) -> dict[str, Any]:
        """Both references and the edges with reasons, as data for JSON. "edges" is [] for no edges."""
        return {
            "version": 1,
            "before": str(self.first),
            "after": str(self.then),
            "edges": [_edge_dict(one.before, one.after, one.refresh, one.reason, one.origin) for one in self.steps],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a heading, then two lines for each edge with reason and place; two sentences for no edges."""
        if not self.steps:
            yield f"nothing relates {printable(self.first)} and {printable(self.then)}: their positions alone decide"
            yield f"  {printable(self.first)} comes first, since it was declared first"
            return
        yield f"{screen.paint(printable(self.first), 'strong')} comes before {printable(self.then)}"
        for step in self.steps:
            arrow = "~>" if step.refresh else "->"
            yield f"  {printable(step.before)} {arrow} {printable(step.after)}"
            yield _placed(screen, f"      {printable(step.reason)}", step.origin)


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """The report of `catalog impact`: what refreshes if a resource changes, and what is skipped if the resource fails.

    `to_dict` returns the data for JSON, with [] for none. `lines` yields the text, with "none" for none.
    """

    impact: Impact

    def to_dict(self) -> dict[str, Any]:
        """The resource, and the references "refreshed" and "after" (skipped if it fails), in the order of visiting."""
        impact = self.impact
        return {
            "version": 1,
            "resource": str(impact.ref),
            "refreshed": [str(ref) for ref in impact.refreshed],
            "after": [str(ref) for ref in impact.after],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the resource, then what refreshes if it changes, then what is skipped if it fails."""
        yield screen.paint(printable(self.impact.ref), "strong")
        for title, refs in (("if it changes, these refresh", self.impact.refreshed),
                            ("if it fails, these are skipped", self.impact.after)):  # fmt: skip
            yield f"  {title}: {len(refs) or 'none'}"
            yield from (f"    {printable(ref)}" for ref in refs)


@dataclass(frozen=True, slots=True)
class ResourceExplanation:
    """The report of `catalog explain`: a resource with its line, its relationships, and the values that its line read.

    `to_dict` returns the data for JSON. `lines` yields the text: the resource, then relationships and values, if any.

    plan:     the plan, which has the relationships
    ref:      the resource; it must be in the plan
    readings: the values, each with its trace; () for a catalog from a file
    """

    plan: Plan
    ref: Ref
    readings: Sequence[ReadValue] = ()

    def to_dict(self) -> dict[str, Any]:
        """The resource, its relationships with reasons, and the values with traces, as data for JSON."""
        return {
            "version": 1,
            "resource": str(self.ref),
            "origin": _origin_dict(self.plan.resources[self.ref].origin),
            "relations": [
                {"before": before, "after": after, "because": reason, "origin": _origin_dict(origin)}
                for before, after, reason, origin in self._relations()
            ],
            "read": [
                {
                    "what": reading.what,
                    "trace": NodeExplanation(reading.trace).to_dict() if isinstance(reading.trace, Trace) else None,
                }
                for reading in self.readings
            ],
        }

    def _relations(self) -> Iterator[tuple[str, str, str, Origin | None]]:
        graph = self.plan.graph
        vertex = 2 * graph.at[self.ref]
        for edge in graph.edges:
            if vertex in (edge.source, edge.target):
                yield graph.spelled(edge.source), graph.spelled(edge.target), *graph.reason(edge)

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the resource, its relationships, then the explanation of each value that its line read."""
        origin = self.plan.resources[self.ref].origin
        place = f"  {origin.place}" if origin and origin.place else ""
        yield f"{screen.paint(printable(self.ref), 'strong')}{printable(place)}"
        for before, after, reason, at in self._relations():
            other = f"after {before}" if after == self.ref else f"before {after}"
            yield _placed(screen, f"  {printable(f'{other}: {reason}')}", at)
        for reading in self.readings:
            yield ""
            if isinstance(reading.trace, Trace):
                yield from NodeExplanation(reading.trace).lines(screen)
            else:
                text = reading.what if reading.trace is None else str(reading.trace)
                yield from map(printable, text.splitlines())


@dataclass(frozen=True, slots=True)
class AppliedCatalog:
    """The report of applying a catalog, also in no-op mode.

    `to_dict` returns the data for JSON with all resources. `lines` yields the text; it leaves unchanged resources out.

    plan:        the plan of the catalog that was applied; gives the line of each resource
    report:      the result of applying it, with the outcome of each resource
    name:        the name of the node, or of the catalog's file
    report_file: the file in which the report was written; None if it was not written
    shows_diffs: whether the differences of files are shown
    """

    plan: Plan
    report: Report
    name: str
    report_file: str | None = None
    shows_diffs: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Counts, every resource with its status, and the messages, as data for JSON."""
        report = self.report
        return {
            "version": 1,
            "catalog": self.name,
            "noop": self.plan.catalog.noop,
            "ok": report.ok,
            "interrupted": report.interrupted,
            "counts": resource_counts(self.report),
            "resources": [self._resource(outcome) for outcome in report.outcomes.values()],
            "not_visited": [str(ref) for ref in report.left],
            "log": [str(line) for line in report.log],
            "seconds": round(report.seconds, 6),
            "report": self.report_file,
        }

    def _resource(self, outcome: Outcome) -> dict[str, Any]:
        resource = self.plan.resources[outcome.ref]
        diffs = [change.diff for change in outcome.changes if change.diff]
        return {
            **outcome_data(outcome),
            "origin": _origin_dict(resource.origin),
            "reads": list(resource.reads),
            **({"diff": "\n".join(diffs)} if diffs and self.shows_diffs else {}),
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the resources that were changed, failed or were skipped, with reasons, then one line of counts.

        A further line for an interruption, and one for the file of the report.
        """
        for outcome in self.report.outcomes.values():
            yield from self._described(outcome, screen)
        counts = resource_counts(self.report)
        parts = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count and name != "visited"]
        mode = " in no-op mode" if self.plan.catalog.noop else ""
        yield (
            f"{screen.paint(printable(self.name), 'strong')}: {counts['visited']} resources{mode}, "
            f"{', '.join(parts) or 'nothing to do'}, {self.report.seconds:.2f} s"
        )
        if self.report.interrupted:
            yield f"  interrupted: {len(self.report.left)} resources were not visited"
        if self.report_file:
            yield f"  the report is kept in {printable(self.report_file)}"

    def _described(self, outcome: Outcome, screen: Screen) -> Iterator[str]:
        status = outcome.status | ({"noop"} if outcome.would_refresh else set())
        shown = next((name for name in _SIGNS if name in status), None)
        if shown is None:
            return
        resource = self.plan.resources[outcome.ref]
        style = {"failed": "error", "skipped": "warning"}.get(shown, "changed")
        yield _placed(screen, f"{screen.paint(_SIGNS[shown], style)} {printable(outcome.ref)}", resource.origin)
        would = "would be " if outcome.noop and outcome.would_change else ""
        for change in outcome.changes:
            yield f"    {would}{printable(change.summary or change.what)}"
            if change.diff and self.shows_diffs:
                for line in change.diff.splitlines():
                    yield f"      {screen.paint(printable(line), _diff_style(line))}"
        code = f"[{ResourceFailed.entry.code}]"
        for error in outcome.errors:
            yield f"    {screen.paint('failed:', 'error')} {printable(error)} {screen.paint(code, 'faint')}"
        if outcome.because:
            yield f"    skipped because of {printable(', '.join(outcome.because))}"
        if outcome.restarted or outcome.would_refresh:
            word = "refreshed" if outcome.restarted else "would be refreshed"
            yield f"    {word} for {printable(', '.join(outcome.from_refs))}"
        if outcome.changes or outcome.errors:
            yield from _reads_line(screen, resource, "    ")


@dataclass(frozen=True, slots=True)
class AppliedRuns:
    """The report of `nodeattrs run --apply`: each run, with the result of applying its catalog.

    `to_dict` returns the data for JSON. A run whose catalog was not applied has null for it. `lines` yields all runs
    first, then all catalogs.

    applied: the catalogs that were applied, with the names of their nodes; a node may be missing
    """

    runs: RunReports
    applied: Sequence[AppliedCatalog]

    def to_dict(self) -> dict[str, Any]:
        """The runs as data for JSON, each with its catalog under "catalog", or null."""
        data = self.runs.to_dict()
        found = {one.name: one.to_dict() for one in self.applied}
        for run in (*data["runs"], *data["failed"]):
            run["catalog"] = found.get(run["node"])
        return data

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of all runs, then of all catalogs, with an empty line before each catalog."""
        yield from self.runs.lines(screen)
        for one in self.applied:
            yield ""
            yield from one.lines(screen)


def _diff_style(line: str) -> str:
    return "added" if line.startswith("+") else "removed" if line.startswith("-") else "faint"

"""The kind of vectors that Puppet answered about order: relationships, refreshes, failures, cycles.

Types of the cases have the behaviour that their flags describe, so a run of a case touches nothing.
`ordering` judges all that Puppet decides. `ordering.log` beside it also wants every message of the
engine, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nodeattrs.catalog import (
    Catalog,
    Change,
    DependencyCycle,
    Outcome,
    ReferenceNotFound,
    Report,
    apply_plan,
    catalog_from,
    parsed_chain,
)
from tests.vectors.cases import Case, Judge
from tests.vectors.values import difference


class Flagged:
    """A resource that behaves as the flags of its entry say."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.refreshable = bool(entry.get("refreshable"))
        self.refreshed = 0
        self.entry = entry

    def check(self, site: Any) -> list[Change]:
        if self.entry.get("check_fails"):
            raise ValueError("check failed")
        return [Change(flag) for flag in ("changes", "fails") if self.entry.get(flag)]

    def apply(self, change: Change, site: Any) -> None:
        if change.what == "fails":
            raise ValueError("it cannot be changed")

    def refresh(self, site: Any) -> None:
        self.refreshed += 1
        if self.entry.get("refresh_fails"):
            raise ValueError("refresh failed")


def ordering(case: Case) -> Iterator[str]:
    """Everything but the messages."""
    for chain in case["chains"]:
        yield from _differs("parsed", _once_each(chain["parsed"]), _chain_data(chain["text"]))
    catalog = catalog_from(case, Flagged)
    expect = case["expect"]
    plan = catalog.plan()
    try:
        report = apply_plan(plan)
    except ReferenceNotFound as error:
        yield from _missing(expect["error"], error)
        return
    except DependencyCycle as error:
        yield from _cycle(expect, error)
        yield from _differs("edges", expect["edges"], _edges(catalog))
        return
    yield from _differs("error", expect["error"], None)
    yield from _differs("edges", expect["edges"], _edges(catalog))
    yield from _report(expect, report, catalog)


def log(case: Case) -> Iterator[str]:
    """The messages of a run that happens; real types have more of their own than the flags can say."""
    expect = case["expect"]
    if "log" in expect:
        report = apply_plan(catalog_from(case, Flagged).plan())
        quiet = ("Stage[main]", "Class[Main]")
        said = [f"{line.level} {line.ref}: {line.text}" for line in report.log if line.ref not in quiet]
        yield from _differs("log", expect["log"], said)


def _missing(expected: Any, error: ReferenceNotFound) -> Iterator[str]:
    got = {"kind": "missing", "missing": error.missing}
    if error.compile_message is not None:
        got["compile_message"] = error.compile_message
    if error.apply_message is not None:
        got["apply_message"] = error.apply_message
    if "other" in (expected or {}):
        got["other"] = error.by
    if "parameter" in (expected or {}):
        got["parameter"] = error.parameter
    yield from _differs("error", _sorted(expected), _sorted(got))


def _cycle(expect: Mapping[str, Any], error: DependencyCycle) -> Iterator[str]:
    wanted = dict(expect["error"] or {})
    wanted["message"] = wanted.get("message", "").replace("\\n", "\n")
    graphs = [(cycle.graph, cycle) for cycle in error.cycles]
    got = {
        "kind": "cycle",
        "message": error.puppet_message,
        "cycles": [cycle.names for cycle in error.cycles],
        "paths": [[graph.named(vertex) for vertex in cycle.path] for graph, cycle in graphs],
    }
    yield from _differs("error", wanted, got)
    members = [name for cycle in error.cycles for name in cycle.names if not name.startswith(("begin ", "end "))]
    yield from _differs("status", _sorted(expect["status"]), {name: ["failed"] for name in sorted(members)})


def _report(expect: Mapping[str, Any], report: Report, catalog: Catalog) -> Iterator[str]:
    outcomes = report.outcomes
    yield from _differs("order", expect["order"], [str(ref) for ref in outcomes])
    if "anchored_order" in expect:
        yield from _differs("anchored_order", expect["anchored_order"], [str(name) for name in report.visited])
    status = {str(ref): _words(outcome) for ref, outcome in outcomes.items()}
    yield from _differs("status", _sorted(expect["status"]), _sorted(status))
    counts = {str(ref): catalog[ref].subject.refreshed for ref in outcomes if catalog[ref].subject.refreshed}
    yield from _differs("refreshed", _sorted(expect["refreshed"]), _sorted(counts))
    yield from _differs("received", expect["received"], [[str(one[0]), one[1], one[2]] for one in report.received])
    because = {str(ref): [str(one) for one in outcome.because] for ref, outcome in outcomes.items() if outcome.because}
    yield from _differs("skipped_because", _sorted(expect["skipped_because"]), _sorted(because))


def _words(outcome: Outcome) -> list[str]:
    return sorted(outcome.status)


def _edges(catalog: Catalog) -> list[list[str]]:
    graph = catalog.plan().graph
    return sorted(
        [graph.spelled(edge.source), graph.spelled(edge.target), "refresh" if edge.refresh else "order"]
        for edge in graph.edges
    )


def _once_each(parsed: list[Any]) -> list[Any]:
    """A chain as the page writes it, without the duplicates inside an operand."""
    return [
        {"refs": list(dict.fromkeys(part["refs"]))} if isinstance(part, dict) and "refs" in part else part
        for part in parsed
    ]


def _chain_data(text: str) -> list[Any]:
    links = parsed_chain(text).links
    data: list[Any] = [_operand(links[0].left)]
    for link in links:
        data += [link.arrow, _operand(link.right)]
    return data


def _operand(operand: Any) -> Any:
    if hasattr(operand, "query"):
        return {"collect": operand.type, "query": _listed(operand.query)}
    return {"refs": [str(ref) for ref in operand]}


def _listed(query: Any) -> Any:
    return [_listed(one) for one in query] if isinstance(query, tuple) else query


def _differs(what: str, expected: Any, got: Any) -> Iterator[str]:
    found = difference({what: expected}, {what: got})
    if found is not None:
        yield found


def _sorted(mapping: Any) -> Any:
    return dict(sorted(mapping.items())) if isinstance(mapping, dict) else mapping


KINDS: dict[str, dict[str, Judge]] = {"ordering": {"whole": ordering, "log": log}}

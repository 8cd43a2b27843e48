"""Questions to a plan that nothing has to be applied for: why is A before B, and what happens if R changes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from nodeattrs.catalog.graph import Edge, Graph
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.references import Ref, near_hint, ref_of
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument


@dataclass(frozen=True)
class Step:
    """An edge on a way, why it is there and where it was written."""

    before: str
    after: str
    refresh: bool
    reason: str
    origin: Origin | None


@dataclass(frozen=True)
class Impact:
    """What a change of one resource comes to.

    refreshed: resources that would refresh, in the order of visiting
    after:     resources that wait for it and would be skipped if it failed, in the order of visiting
    """

    ref: Ref
    refreshed: list[Ref]
    after: list[Ref]


def known_ref(plan: Plan, text: str) -> Ref:
    """The reference of a resource of the plan, as people write it. raises: BadArgument, with near misses"""
    for ref in (Ref(text), ref_of(text)):
        if ref in plan.graph.at:
            return ref
    raise BadArgument(f"there is no {text} in this catalog", hint=near_hint(text, plan.graph.at))


def why_before(plan: Plan, first: str, then: str) -> list[Step]:
    """The shortest way of edges from one resource to another; nothing where only their positions decide.

    cost: one look at each edge
    """
    graph = plan.graph
    start, goal = 2 * graph.at[first], 2 * graph.at[then]
    start += graph.is_container[start >> 1]  # from the end of a container
    came: dict[int, Edge | None] = {start: None}
    waiting = deque([start])
    while waiting:
        vertex = waiting.popleft()
        if vertex == goal:
            break
        for edge in graph.out[vertex]:
            if edge.target not in came:
                came[edge.target] = edge
                waiting.append(edge.target)
    steps: list[Step] = []
    edge_to = came.get(goal)
    while edge_to is not None:
        reason, origin = graph.reason(edge_to)
        ends = graph.named(edge_to.source), graph.named(edge_to.target)
        steps.append(Step(*ends, edge_to.refresh, reason, origin))
        edge_to = came[edge_to.source]
    return steps[::-1]


def impact_of(plan: Plan, ref: str) -> Impact:
    """What would refresh if a resource changed, and what waits for it. A container stands for its end."""
    graph = plan.graph
    start = 2 * graph.at[ref]
    start += graph.is_container[start >> 1]
    after = _reached(graph, start, False)
    hears = [graph.is_container[index] or _is_refreshable(plan, one) for index, one in enumerate(graph.refs)]
    refreshed = _reached(graph, start, True, hears)
    order = [vertex for vertex in plan.visit_order() if not graph.is_container[vertex >> 1]]
    return Impact(
        graph.refs[start >> 1],
        [graph.refs[vertex >> 1] for vertex in order if vertex in refreshed],
        [graph.refs[vertex >> 1] for vertex in order if vertex in after],
    )


def _is_refreshable(plan: Plan, ref: str) -> bool:
    resource = plan.resources[ref]
    if resource.subject is None:
        return bool(resource.parameters.get("refreshable"))
    return bool(resource.subject.refreshable)


def _reached(graph: Graph, start: int, by_refresh: bool, hears: list[bool] | None = None) -> set[int]:
    seen = {start}
    waiting = [start]
    while waiting:
        for edge in graph.out[waiting.pop()]:
            if edge.target in seen or (by_refresh and not edge.refresh):
                continue
            if hears is not None and not hears[edge.target >> 1]:
                continue
            seen.add(edge.target)
            waiting.append(edge.target)
    return seen - {start}

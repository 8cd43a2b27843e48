"""Questions about a plan that is not applied: why A is before B, the effects of a change, and drawings."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from nodeattrs.catalog.graph import Edge, Graph
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import MAIN_CLASS, MAIN_STAGE
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument
from nodeattrs.puppet.references import Ref, near_hint, ref_of


@dataclass(frozen=True)
class Step:
    """An edge on a path between two resources.

    before:  the name of the vertex that comes first; for the anchor of a container "begin Class[A]" or "end Class[A]"
    after:   the name of the vertex that waits for it
    refresh: whether a change of the first refreshes the second
    reason:  the relationship in words
    origin:  the line of the relationship; None if it is unknown
    """

    before: str
    after: str
    refresh: bool
    reason: str
    origin: Origin | None


@dataclass(frozen=True)
class Impact:
    """The effects of a change of one resource.

    ref:       the reference of the resource
    refreshed: the resources that would refresh, in the order of visiting
    after:     the resources that wait for it and would be skipped if it failed, in the order of visiting
    """

    ref: Ref
    refreshed: list[Ref]
    after: list[Ref]


def known_ref(plan: Plan, text: str) -> Ref:
    """The reference of the plan that a text names, in any spelling of Puppet: `file['/etc/motd']`, `File[/etc/motd]`.

    raises: BadArgument, if the plan has no such reference, with similar ones as a hint
    """
    for ref in (Ref(text), ref_of(text)):
        if ref in plan.graph.at:
            return ref
    raise BadArgument(f"there is no {text} in this catalog", hint=near_hint(text, plan.graph.at))


def why_before(plan: Plan, first: str, then: str) -> list[Step]:
    """The shortest path from *first* to *then*, a `Step` for each edge.

    [] if no edges lead there, and if both are the same resource.

    For containers the path begins at the end of *first*, and ends at the beginning of *then*.
    raises: KeyError, if the graph has no such reference
    cost:   one look at each edge
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
    """The effects of a change of one resource: the resources that would refresh, and those that wait for it.

    A refresh goes on only through resources whose type reacts to it. For a container, the effects begin at its end.
    raises: KeyError, if the graph has no such reference; ReferenceNotFound or DependencyCycle, for faults of the plan
    """
    graph = plan.graph
    start = 2 * graph.at[ref]
    start += graph.is_container[start >> 1]
    after = _reached(graph, start, False)
    receives = [graph.is_container[index] or _is_refreshable(plan, one) for index, one in enumerate(graph.refs)]
    refreshed = _reached(graph, start, True, receives)
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


def _reached(graph: Graph, start: int, by_refresh: bool, receives: list[bool] | None = None) -> set[int]:
    seen = {start}
    waiting = [start]
    while waiting:
        for edge in graph.out[waiting.pop()]:
            if edge.target in seen or (by_refresh and not edge.refresh):
                continue
            if receives is not None and not receives[edge.target >> 1]:
                continue
            seen.add(edge.target)
            waiting.append(edge.target)
    return seen - {start}


def dot(plan: Plan) -> str:
    """The graph as text for Graphviz: solid edges refresh, dashed edges only order, red edges are on a cycle.

    A dotted line without an arrowhead leads from a container to its contents. The main stage and class are left out.
    """
    lines = ["digraph relationships {", "  rankdir=LR; node [shape=box, fontsize=8];"]
    for ref in plan.resources:
        lines.append(f"  {_quoted(ref)};" if ref not in (MAIN_STAGE, MAIN_CLASS) else "")
    on_cycle = _pairs_on_cycles(plan)
    for source, target, refresh, inside in _edges(plan):
        style = ["style=dotted, arrowhead=none"] if inside else [] if refresh else ["style=dashed"]
        if (source, target) in on_cycle:
            style.append("color=red")
        attributes = f" [{', '.join(style)}]" if style else ""
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{attributes};")
    return "\n".join([*filter(None, lines), "}", ""])


def mermaid(plan: Plan) -> str:
    """The graph as text for Mermaid: solid arrows refresh, dotted arrows only order, a plain line is containment.

    The main stage and class are left out.
    """
    names = {ref: f"r{index}" for index, ref in enumerate(plan.resources)}
    lines = ["flowchart LR"]
    for ref, name in names.items():
        if ref not in (MAIN_STAGE, MAIN_CLASS):
            label = ref.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
            lines.append(f'  {name}["{" ".join(label.split())}"]')
    for source, target, refresh, inside in _edges(plan):
        arrow = "---" if inside else "-->" if refresh else "-.->"
        lines.append(f"  {names[source]} {arrow} {names[target]}")
    return "\n".join([*lines, ""])


def _edges(plan: Plan) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield (source, target, refreshes, is containment) for each edge; contents of the main class are left out."""
    graph = plan.graph
    for container, contents in enumerate(graph.contents):
        for content in contents:
            if graph.refs[container] not in (MAIN_STAGE, MAIN_CLASS):
                yield graph.refs[container], graph.refs[content], False, True
    for edge in graph.edges:
        yield graph.spelled(edge.source), graph.spelled(edge.target), edge.refresh, False


def _pairs_on_cycles(plan: Plan) -> set[tuple[str, str]]:
    spelled = plan.graph.spelled
    return {(spelled(a), spelled(b)) for cycle in plan.cycles for a, b in zip(cycle.path, cycle.path[1:], strict=False)}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{" ".join(escaped.split())}"'

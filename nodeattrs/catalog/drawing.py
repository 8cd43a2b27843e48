"""The relationships as a drawing: DOT for Graphviz, and Mermaid. Containers are boxes around their contents."""

from __future__ import annotations

from collections.abc import Iterator

from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import MAIN_CLASS, MAIN_STAGE


def dot(plan: Plan) -> str:
    """The graph for Graphviz: dashed edges only order, solid ones refresh, red ones lie on a cycle."""
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
    """The graph for Mermaid: dotted edges only order, solid ones refresh."""
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
    """Source, target, whether it refreshes, whether it is containment; without that of the main class."""
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

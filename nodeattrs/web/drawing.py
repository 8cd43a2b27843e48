"""Draw a catalog: resources in columns, each to the right of the resources that come before it, and edges.

The data of `catalog graph` is given, and positions come back. The template chooses colours and writes the HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

_WIDTH, _HEIGHT, _GAP, _ROW, _EDGE = 236, 30, 70, 14, 16
_MOST = 400
"""The most resources that are drawn; those with an edge come first."""

Neighbours = Mapping[str, Sequence[str]]
"""Resource -> the resources right before it."""


def drawn(graph: Mapping[str, Any]) -> dict[str, Any]:
    """The layout of a catalog graph: a map with "boxes", "lines", "width", "height", "box" and "left_out".

    A box has "resource", its place "x" and "y", "on_cycle" and the resource's data as "of". A line has "edge",
    "on_cycle" and an SVG path as "curve". "box" is the size of a box, "left_out" the number of resources above the 400
    that are drawn. Containers without edges are not drawn. An empty graph has no boxes.

    graph: the data of `catalog graph`
    """
    on_cycle = {pair for ring in graph["cycles"] for pair in pairwise(ring)}
    cyclic = {name for pair in on_cycle for name in pair}
    linked = {name for edge in graph["edges"] for name in (edge["before"], edge["after"])}
    found = [one for one in graph["resources"] if one["resource"] in linked or not one["is_container"]]
    shown = {one["resource"]: one for one in sorted(found, key=lambda one: one["resource"] not in linked)[:_MOST]}
    edges = [edge for edge in graph["edges"] if edge["before"] in shown and edge["after"] in shown]
    before: dict[str, list[str]] = {name: [] for name in shown}
    for edge in edges:
        before[edge["after"]].append(edge["before"])
    places = _places(_columns(before), before)
    return {
        "boxes": [
            {"resource": name, "x": x, "y": y, "on_cycle": name in cyclic, "of": shown[name]}
            for name, (x, y) in places.items()
        ],
        "lines": [
            {
                "edge": edge,
                "curve": _curve(places[edge["before"]], places[edge["after"]]),
                "on_cycle": (edge["before"], edge["after"]) in on_cycle,
            }
            for edge in edges
        ],
        "width": max((x for x, _ in places.values()), default=0) + _WIDTH + _EDGE,
        "height": max((y for _, y in places.values()), default=0) + (3 if on_cycle else 1) * _HEIGHT + _EDGE,
        "box": (_WIDTH, _HEIGHT),
        "left_out": len(found) - len(shown),
    }


def _columns(before: Neighbours) -> dict[str, int]:
    """Resource -> its column: one behind the last resource before it. On a cycle the first resource begins."""
    found: dict[str, int] = {}
    left = dict.fromkeys(before)
    while left:
        ready = [name for name in left if not any(one in left for one in before[name])] or [next(iter(left))]
        for name in ready:
            found[name] = max((found[one] + 1 for one in before[name] if one in found), default=0)
        left = dict.fromkeys(name for name in left if name not in found)
    return found


def _places(columns: Mapping[str, int], before: Neighbours) -> dict[str, tuple[int, int]]:
    """Resource -> (x, y) of its box: in its column, near the resources before it. Odd columns are half a row lower."""
    rows: dict[str, float] = {}
    for column in sorted(set(columns.values())):
        names = [name for name in columns if columns[name] == column]
        beside = {name: _mean((rows[one] for one in before[name] if one in rows), len(columns)) for name in names}
        rows |= {name: row + column % 2 / 2 for row, name in enumerate(sorted(names, key=beside.__getitem__))}
    return {
        name: (_EDGE + columns[name] * (_WIDTH + _GAP), _EDGE + int(row * (_HEIGHT + _ROW)))
        for name, row in rows.items()
    }


def _mean(numbers: Iterable[float], default: float) -> float:
    found = list(numbers)
    return sum(found) / len(found) if found else default


def _curve(one: tuple[int, int], other: tuple[int, int]) -> str:
    """The SVG path from the right side of one box to the left side of another; one that leads back runs below."""
    x, y = one[0] + _WIDTH, one[1] + _HEIGHT // 2
    to_x, to_y = other[0], other[1] + _HEIGHT // 2
    if to_x <= x:
        low = max(y, to_y) + 2 * _HEIGHT
        return f"M{x} {y}C{x + _GAP} {low} {to_x - _GAP} {low} {to_x} {to_y}"
    bend = max(30, (to_x - x) // 2)
    return f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"

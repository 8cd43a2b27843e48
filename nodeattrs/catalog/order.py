"""The order of visiting: the smallest one in which every vertex comes after those it waits for.

Smallest by position in the catalog: as soon as a resource that was written early is free, it is
next, whatever else was under way. A cycle keeps its members, and all that comes after them, out.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from nodeattrs.catalog.graph import Graph


def in_order(graph: Graph) -> list[int]:
    """The vertices in the order of visiting; without those in cycles and behind them.

    cost: one step an edge, and the logarithm of what is free at a time
    """
    after, waits = graph.numbers()
    is_container = graph.is_container
    free = [vertex for vertex, count in enumerate(waits) if not count and (not vertex & 1 or is_container[vertex >> 1])]
    heapify(free)
    ordered: list[int] = []
    while free:
        vertex = heappop(free)
        ordered.append(vertex)
        for target in after[vertex]:
            waits[target] -= 1
            if not waits[target]:
                heappush(free, target)
    return ordered

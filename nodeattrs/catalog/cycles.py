"""Cycles: their members, the path that Puppet shows for each, and the reason of each edge.

Puppet walks over paths, breadth first from the first member, until one meets itself. The number of paths grows
exponentially. This module finds the same path in polynomial time.

The path is a "lasso": a tail from the first member, and a ring. It is one of the shortest lassos, and of these the
first by the order of edges. Let d(w) be the distance of w from the first member, and g(w) the length of the shortest
ring through w. Then the length of the path is the least d(w) + g(w). The walk takes each time the first edge after
which this length is still possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import inf

from nodeattrs.catalog.graph import Edge, Graph
from nodeattrs.catalog.resources import RELATIONS
from nodeattrs.core.claim import Origin

Neighbours = Mapping[int, Sequence[int]]

_MOST = 40
"""The most members and edges of a ring that are shown."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A set of resources. Each of them waits, directly or through others, for every other one.

    graph:   the graph in which the cycle was found
    members: the numbers of the vertices, sorted by the names of their references
    names:   the names of the members
    path:    the numbers of the vertices on the walk that Puppet prints; computed when it is first read
    ring:    the numbers of the vertices on a closed walk through members, often shorter; computed when it is first read

    `text` is the ring in one line: "A => B => A". `reasons` lists (edge, reason, source line) for the edges of the
    ring, and `lines` yields these as texts. `breaks` lists the written relationships whose removal breaks the ring.
    """

    graph: Graph
    members: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """The names of the members; the two anchors of a container are `begin X` and `end X`."""
        return [self.graph.named(vertex) for vertex in self.members]

    @cached_property
    def _neighbours(self) -> Neighbours:
        among = set(self.members)
        return {
            vertex: [one for one in dict.fromkeys(edge.target for edge in self.graph.out[vertex]) if one in among]
            for vertex in self.members
        }

    @cached_property
    def path(self) -> list[int]:
        """The path that Puppet prints: from the first member until a vertex comes a second time."""
        return first_lasso(self._neighbours, self.members[0])

    @cached_property
    def ring(self) -> list[int]:
        """The numbers of vertices on a closed walk through members; the first and the last are equal.

        It is the ring of `path`, or a shorter one if a limited search finds one. It need not contain all members.
        """
        return _shorter_ring(self._neighbours, self.path[self.path.index(self.path[-1]) :])

    def reasons(self) -> list[tuple[Edge, str, Origin | None]]:
        """(edge, reason in words, line) of each edge on the ring. The line is None if it is unknown.

        If several edges connect two vertices, the first one is taken.
        """
        found = []
        for source, target in zip(self.ring, self.ring[1:], strict=False):
            edge = next(edge for edge in self.graph.out[source] if edge.target == target)
            found.append((edge, *self.graph.reason(edge)))
        return found

    def lines(self) -> Iterator[str]:
        """Yield a line for each edge on the ring, with reason and place; after 40 edges only the number of the rest."""
        reasons = self.reasons()
        for edge, reason, origin in reasons[:_MOST]:
            place = f" at {origin}" if origin else ""
            yield f"{self.graph.named(edge.source)} => {self.graph.named(edge.target)}: {reason}{place}"
        if len(reasons) > _MOST:
            yield f"and {len(reasons) - _MOST:,} more edges of this ring"

    def breaks(self) -> list[str]:
        """The written relationships on the ring, in words and with their lines. Removing one breaks this ring.

        Containment and automatic relations are left out; [] if the ring has nothing else.
        """
        written = [one for one in self.reasons() if one[0].kind in (*RELATIONS, "chain")]
        return [f"{reason} ({origin.place})" if origin and origin.place else reason for _, reason, origin in written]

    @property
    def text(self) -> str:
        """The ring in one line: "A => B => A". Anchors are shown as their containers; the middle of a long ring is left
        out."""
        names = [name for name, _ in groupby(map(self.graph.spelled, self.ring))]
        if len(names) > _MOST + 1:
            names[_MOST - 4 : -4] = [f"... {len(names) - _MOST:,} more ..."]
        return " => ".join(names)


def cycles_of(graph: Graph, done: Sequence[int]) -> list[Cycle]:
    """All cycles of a graph, sorted by the names of their members; [] for none.

    done: vertices that are known to be in no cycle, such as the result of `in_order`; they are not looked at
    cost: one step an edge (Tarjan's strongly connected parts, without recursion)
    """
    name = graph.sort_name
    found = [tuple(sorted(part, key=name)) for part in _parts(graph, set(done))]
    found.sort(key=lambda members: [name(vertex) for vertex in members])
    return [Cycle(graph, members) for members in found]


def _parts(graph: Graph, done: set[int]) -> Iterator[list[int]]:
    out = graph.out
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    for root in range(len(out)):
        if root in number or root in done or not out[root]:
            continue
        work = [(root, iter(out[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            vertex, edges = work[-1]
            for edge in edges:
                target = edge.target
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(out[target])))
                    break
                if target in on_stack and number[target] < low[vertex]:
                    low[vertex] = number[target]
            else:
                work.pop()
                if work and low[vertex] < low[work[-1][0]]:
                    low[work[-1][0]] = low[vertex]
                if low[vertex] == number[vertex]:
                    part = [stack.pop()]
                    while part[-1] != vertex:
                        part.append(stack.pop())
                    on_stack.difference_update(part)
                    if len(part) > 1 or any(edge.target == vertex for edge in out[vertex]):
                        yield part


_LOOKS = 300_000
"""Edges that are looked at for a shorter ring: some tenths of a second, however many wait for each other."""


def _shorter_ring(neighbours: Neighbours, ring: list[int]) -> list[int]:
    """The first of the shortest rings; *ring* itself if a limited search finds no shorter one."""
    arriving = Counter(one for nexts in neighbours.values() for one in nexts)
    looks = _LOOKS
    for vertex in neighbours:
        # All others lie on ways to those at which several edges arrive.
        if arriving[vertex] > 1 and looks > 0:
            found, seen = _short_ring(neighbours, vertex, len(ring) - 2, _LOOKS)
            ring, looks = found or ring, looks - seen
    return ring


def _short_ring(neighbours: Neighbours, start: int, most: int, most_looks: float = inf) -> tuple[list[int], int]:
    """(shortest ring through *start*, number of edges looked at); [] where no ring has at most *most* edges.

    most_looks: the search ends without a ring after a step in which it has looked at more edges than this
    """
    before, level, looks = {start: start}, [start], 0
    for _ in range(most):
        waiting, level = level, []
        for last in waiting:
            looks += len(neighbours[last])
            for one in neighbours[last]:
                if one == start:
                    return _way_back(before, last, start), looks
                if one not in before:
                    before[one] = last
                    level.append(one)
        if looks > most_looks:
            break
    return [], looks


def _way_back(before: Mapping[int, int], last: int, start: int) -> list[int]:
    way = [start, last]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def first_lasso(neighbours: Neighbours, start: int) -> list[int]:
    """A shortest walk from *start* that ends where it meets a vertex again; returns its vertices, the last one twice.

    Of several walks of this length, it is the first one in the order of *neighbours*.

    neighbours: vertex -> the next vertices, in order; each vertex can be reached from each other one
    cost:       at most vertices times edges; nearly linear with short rings or few branches
    source:     semantics of Puppet's path search; docs/catalog.md, "Cycles"
    """
    behind: dict[int, list[int]] = {vertex: [] for vertex in neighbours}
    for vertex, nexts in neighbours.items():
        for one in nexts:
            behind[one].append(vertex)
    rings, length = _rings(neighbours, behind, start)
    to_go = _least_to_go(rings, behind, length)
    path, been = [start], {start}
    distance: dict[int, int] = {}
    _note_reached(distance, behind, start, length)
    while True:
        left = length - len(path)  # edges after the next one
        for one in neighbours[path[-1]]:
            if one in been:
                if left == 0:
                    return [*path, one]
            elif min(distance.get(one, length + 1), to_go.get(one, length + 1)) <= left:
                break
        else:  # the sum above shows there is one
            raise AssertionError("the walk lost its lasso")
        path.append(one)
        been.add(one)
        _note_reached(distance, behind, one, left)


def _rings(neighbours: Neighbours, behind: Neighbours, start: int) -> tuple[dict[int, int], int]:
    """(vertex -> length of the shortest ring through it, length of the shortest lasso).

    Only vertices where a lasso may close are in the map: its start, and those at which two edges arrive. Rings that are
    too long for the shortest lasso are left out.
    """
    best = len(neighbours) + 1
    rings: dict[int, int] = {}
    distance, level = 0, [start]
    seen = {start}
    while level and distance < best:
        for vertex in level:
            if vertex == start or len(behind[vertex]) > 1:
                ring, _ = _short_ring(neighbours, vertex, best - distance)
                if ring:
                    rings[vertex] = len(ring) - 1
                    best = min(best, distance + len(ring) - 1)
        level = list(dict.fromkeys(one for vertex in level for one in neighbours[vertex] if one not in seen))
        seen.update(level)
        distance += 1
    return rings, best


def _least_to_go(rings: Mapping[int, int], behind: Neighbours, most: int) -> dict[int, int]:
    """Vertex -> the number of edges of the shortest lasso from it; without vertices where it is more than *most*."""
    levels: dict[int, list[int]] = {}
    for vertex, ring in rings.items():
        levels.setdefault(ring, []).append(vertex)
    to_go: dict[int, int] = {}
    for length in range(1, most + 1):
        for vertex in levels.pop(length, ()):
            if vertex not in to_go:
                to_go[vertex] = length
                levels.setdefault(length + 1, []).extend(behind[vertex])
        if not levels:
            break
    return to_go


def _note_reached(distance: dict[int, int], behind: Neighbours, vertex: int, most: int) -> None:
    """Update *distance* for a newly reached vertex: vertex -> its distance to the nearest reached one.

    Distances above *most* are left out.
    """
    level, far = [vertex], 0
    distance[vertex] = 0
    while level and far < most:
        far += 1
        nearer = []
        for one in level:
            for before in behind[one]:
                if distance.get(before, most + 1) > far:
                    distance[before] = far
                    nearer.append(before)
        level = nearer

"""The relationship graph: the resources that wait for others or refresh others, with reasons; and their order.

Vertices are numbers. The resource at position i of the catalog has the vertex 2 i. A container has two: the anchor 2 i
at its beginning, and the anchor 2 i + 1 at its end. Edges are in the order in which Puppet makes them, and parallel
edges are kept: the paths that Puppet shows depend on both. The graph grows linearly: a class of n resources before a
class of m costs 2 (n + m) + 1 edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from nodeattrs.catalog.resources import RELATIONS, FirstOf, RelationLink, Resource
from nodeattrs.core.claim import Origin
from nodeattrs.puppet.references import Ref


class ByChain(NamedTuple):
    """A relationship that a chain adds to a resource.

    ref:   the reference of the target
    chain: the link of the chain, with its text and line
    """

    ref: str
    chain: RelationLink


Chained = Mapping[str, Sequence[ByChain]]
"""Reference -> the relationships that chains add to one metaparameter of this resource."""


class Edge(NamedTuple):
    """An edge between two vertices: the target waits for the source.

    source:  the number of a vertex
    target:  the number of a vertex
    refresh: whether a change of the source refreshes the target
    kind:    "require", "subscribe", "before", "notify", "chain", "automatic require", ..., or "containment"
    by:      for a chain its link; else the position of the resource that has the metaparameter, or that is contained
    """

    source: int
    target: int
    refresh: bool
    kind: str
    by: int | RelationLink


class Graph:
    """The graph of a catalog's relationships. A relationship with a resource that is not in the catalog is left out.

    A position is the index of a resource in the catalog. The constructor makes the edges.
    resources:      the resources in catalog order
    before, notify: the relationships that chains add: reference -> its targets
    refs:           position -> reference
    at:             reference -> position
    edges:          the relationships as they are written, in order; a container has only its even vertex in them
    contents:       position of a container -> the positions of the resources directly in it
    count:          the number of vertices
    is_container:   position -> whether the resource is a container
    out:            vertex -> the edges that leave it; a container has two vertices. It is computed when first read

    `contents_of` lists the direct contents of a container, [] for any other resource. `reason` gives (reason in words,
    source line) of an edge. Names of a vertex: `spelled` gives its reference, `named` also says "begin" or "end", and
    `sort_name` is a key.
    """

    def __init__(self, resources: Sequence[Resource], before: Chained, notify: Chained) -> None:
        self.refs: list[Ref] = [resource.ref for resource in resources]
        self.at: dict[str, int] = {ref: index for index, ref in enumerate(self.refs)}
        self.is_container = [resource.kind != "resource" for resource in resources]
        self._resources = resources
        self.edges: list[Edge] = []
        self._explicit(resources, before, notify)
        self._automatic(resources)
        self.contents: list[list[int]] = [[] for _ in resources]
        self._contain(resources)
        self.count = len(resources) + sum(self.is_container)

    # Making it

    def _explicit(self, resources: Sequence[Resource], before: Chained, notify: Chained) -> None:
        # References that lead nowhere are the plan's faults; here they are passed over.
        chained = {"before": before, "notify": notify}
        for index, resource in enumerate(resources):
            for relation in RELATIONS:
                for ref in getattr(resource, relation):
                    if ref in self.at:
                        ends = _ends(relation, 2 * index, 2 * self.at[ref])
                        self.edges.append(Edge(*ends, relation in _REFRESHING, relation, index))
                for ref, chain in chained.get(relation, {}).get(self.refs[index], ()):
                    if ref in self.at:
                        self.edges.append(Edge(2 * index, 2 * self.at[ref], relation in _REFRESHING, "chain", chain))

    def _automatic(self, resources: Sequence[Resource]) -> None:
        """Add the automatic relations. A candidate counts if it is in the catalog, and no edge connects both yet."""
        related = {(edge.source, edge.target) for edge in self.edges}
        for index, resource in enumerate(resources):
            for relation in RELATIONS if resource.auto else ():
                for candidate in resource.auto.get(relation, ()):
                    other = self._candidate(candidate)
                    if other is None or (2 * index, 2 * other) in related or (2 * other, 2 * index) in related:
                        continue
                    ends = _ends(relation, 2 * index, 2 * other)
                    related.add(ends)
                    self.edges.append(Edge(*ends, relation in _REFRESHING, f"automatic {relation}", index))

    def _candidate(self, candidate: str | FirstOf) -> int | None:
        names = candidate if isinstance(candidate, FirstOf) else (candidate,)
        return next((self.at[name] for name in names if name in self.at), None)

    def _contain(self, resources: Sequence[Resource]) -> None:
        at, contents = self.at, self.contents
        for index, resource in enumerate(resources):
            for container in resource.containers:
                if container in at:
                    contents[at[container]].append(index)

    @cached_property
    def out(self) -> list[list[Edge]]:
        """vertex -> the edges that leave it, in Puppet's order; each container is replaced by its two anchors."""
        is_container = self.is_container
        out, incoming, outgoing = self._divided()
        moved: set[int] = set()
        for index, container in enumerate(is_container):
            if not container:
                continue
            begin = 2 * index
            self._add_containment(out, index)
            for edge in (*incoming.get(begin, ()), *outgoing.get(begin, ())):
                if id(edge) not in moved:
                    moved.add(id(edge))
                    source = edge.source + is_container[edge.source >> 1]
                    out[source].append(edge._replace(source=source))
        return out

    def _divided(self) -> tuple[list[list[Edge]], dict[int, list[Edge]], dict[int, list[Edge]]]:
        """(source -> edges between two resources, target -> edges into a container, source -> edges out of one)."""
        is_container = self.is_container
        out: list[list[Edge]] = [[] for _ in range(2 * len(is_container))]
        incoming: dict[int, list[Edge]] = {}
        outgoing: dict[int, list[Edge]] = {}
        for edge in self.edges:
            source, target = edge[0], edge[1]
            if not is_container[source >> 1] and not is_container[target >> 1]:
                out[source].append(edge)
                continue
            if is_container[target >> 1]:
                incoming.setdefault(target, []).append(edge)
            if is_container[source >> 1]:
                outgoing.setdefault(source, []).append(edge)
        return out, incoming, outgoing

    def _add_containment(self, out: list[list[Edge]], index: int) -> None:
        """Add the edges from a container's begin to its contents, and from these to its end."""
        begin, end = 2 * index, 2 * index + 1
        if not self.contents[index]:
            out[begin].append(Edge(begin, end, False, "containment", index))
        first = out[begin].append
        for content in self.contents[index]:
            last = 2 * content
            first(Edge(begin, last, True, "containment", index))
            last += self.is_container[content]
            out[last].append(Edge(last, end, True, "containment", index))

    # Asking it

    def contents_of(self, ref: str) -> list[Ref]:
        """The direct contents of a container; [] for a resource that is none, or is not in the graph."""
        return [self.refs[index] for index in self.contents[self.at[ref]]] if ref in self.at else []

    def spelled(self, vertex: int) -> str:
        """The reference of a vertex, as in Puppet's messages; for an anchor the reference of its container."""
        return self.refs[vertex >> 1]

    def named(self, vertex: int) -> str:
        """The reference of a vertex; for an anchor with its end: `begin Class[A]`, `end Class[A]`."""
        ref = self.refs[vertex >> 1]
        if not self.is_container[vertex >> 1]:
            return ref
        return f"{'end' if vertex & 1 else 'begin'} {ref}"

    def sort_name(self, vertex: int) -> str:
        """The key that sorts members of a cycle: the reference; for an anchor Puppet's internal name.

        That name is "Whit[Admissible_Class[x]]" at the beginning of Class[x], and "Whit[Completed_Class[x]]" at its
        end.
        """
        ref = self.refs[vertex >> 1]
        if not self.is_container[vertex >> 1]:
            return ref
        return f"Whit[{'Completed' if vertex & 1 else 'Admissible'}_{ref}]"

    def reason(self, edge: Edge) -> tuple[str, Origin | None]:
        """Returns (the reason of an edge in words, its line). The line is None if it is unknown.

        edge: an edge of this graph, from `edges` or `out`
        """
        if isinstance(edge.by, RelationLink):
            return f"the chain {edge.by.text}", edge.by.origin
        ref, resource = self.refs[edge.by], self._resources[edge.by]
        if edge.kind == "containment":
            return self._contained(edge, edge.by)
        if edge.kind.startswith("automatic"):
            return f"{edge.kind} of {ref}", self._resources[edge.by].origin
        other = self.refs[(edge.target if edge.source >> 1 == edge.by else edge.source) >> 1]
        return f"{edge.kind} of {ref}", resource.related_at.get(f"{edge.kind} {other}") or resource.origin

    def _contained(self, edge: Edge, container: int) -> tuple[str, Origin | None]:
        content = (edge.target if edge.source == 2 * container else edge.source) >> 1
        if content == container:
            return f"{self.refs[container]} is empty", self._resources[container].origin
        return f"{self.refs[content]} is in {self.refs[container]}", self._resources[content].origin


_REFRESHING = ("subscribe", "notify")


def _ends(relation: str, own: int, other: int) -> tuple[int, int]:
    """The source and the target of a relation that the vertex *own* has with another one."""
    return (other, own) if relation in ("require", "subscribe") else (own, other)


def in_order(graph: Graph, ranks: Sequence[int] | None = None) -> list[int]:
    """The vertices in the order of visiting. Vertices in a cycle, and vertices that wait for a cycle, are left out.

    ranks: vertex -> a number that no other vertex has. Of the vertices that are ready, the one with the smallest number
           comes first. None: the catalog order
    cost:  one step an edge, and the logarithm of the number of ready vertices
    """
    is_container = graph.is_container
    waits = [0] * len(graph.out)
    for edges in graph.out:
        for edge in edges:
            waits[edge.target] += 1
    ranks = range(len(waits)) if ranks is None else ranks
    vertices = sorted(range(len(waits)), key=ranks.__getitem__)
    free = [
        ranks[vertex]
        for vertex, count in enumerate(waits)
        if not count and (not vertex & 1 or is_container[vertex >> 1])
    ]
    heapify(free)
    ordered: list[int] = []
    while free:
        vertex = vertices[heappop(free)]
        ordered.append(vertex)
        for edge in graph.out[vertex]:
            waits[edge.target] -= 1
            if not waits[edge.target]:
                heappush(free, ranks[edge.target])
    return ordered

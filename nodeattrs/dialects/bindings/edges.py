"""Who looks up whom: the keys of an injector as nodes, look-ups, fragments and queries as edges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.dialects.bindings.model.items import Rebinding
from nodeattrs.dialects.bindings.model.types import spelled_key
from nodeattrs.dialects.bindings.production.maker import ValueMaker
from nodeattrs.dialects.bindings.resolution import Declaration


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """From a key to what it needs. kind: "looks up", "collects", "alias of", "queried", or a dependency's arrow"""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges, each once, in order."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """The edge as plain data."""
        return {
            "version": 1,
            "nodes": list(self.nodes),
            "edges": [{"from": edge.source, "to": edge.target, "kind": edge.kind} for edge in self.edges],
        }

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        lines = ["digraph bindings {", "  rankdir=LR;", "  node [shape=box];"]
        lines += [f"  {_quoted(node)};" for node in self.nodes]
        lines += [
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.kind)}];" for edge in self.edges
        ]
        return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@taking(maker="resolution")
def graph(maker: ValueMaker) -> Graph:
    """The graph of an injector: look-ups as they are declared, queries as they were read so far."""
    edges = set(_edges(maker))
    nodes = {spelled_key(key) for key in maker.resolution.winners}
    nodes |= {name for edge in edges for name in (edge.source, edge.target)}
    return Graph(tuple(sorted(nodes)), tuple(sorted(edges)))


def _edges(maker: ValueMaker) -> Iterator[Edge]:
    for key, winner in maker.resolution.winners.items():
        name = spelled_key(key)
        if isinstance(winner.item, Rebinding) and winner.source is not None and winner.source.key != key:
            yield Edge(name, winner.source.words, "alias of")
        yield from _needs(maker, name, winner)
        if winner.is_multibind:
            for fragment in maker.fragments_of(winner):
                yield Edge(name, f"{fragment.describe()} ({fragment.origin})", "collects")
                yield from _needs(maker, f"{fragment.describe()} ({fragment.origin})", fragment)
    for key, words, found in maker.reads:
        for reference in found:
            yield Edge(spelled_key(key) if any(key) else words, str(reference), "queried")
    for left, arrow, right in maker.resolution.pairs():
        yield Edge(left, right, arrow)


def _needs(maker: ValueMaker, name: str, one: Declaration) -> Iterator[Edge]:
    for wanted in maker.needs(one):
        yield Edge(name, spelled_key(wanted.key), "looks up")

"""The difference of two catalogs: resources, their parameters, and their relationships.

Catalogs are compared as they were declared: resources by reference, parameters by value, and relationships by their
two resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import Resource
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT
from nodeattrs.puppet.references import Ref


class ChangedParameter(NamedTuple):
    """A parameter that differs between two catalogs.

    name:   the parameter
    before: its value in the first catalog; ABSENT if the first catalog does not set it
    after:  its value in the second catalog; ABSENT if the second catalog does not set it
    """

    name: str
    before: Any
    after: Any


class ChangedRelation(NamedTuple):
    """An edge that only one of two catalogs has, between two resources that both catalogs have.

    first:  the resource that comes first
    then:   the resource that waits for it
    is_new: True if only the second catalog has the edge; False if only the first catalog has it
    reason: the relationship in words
    origin: the line of the relationship; None if it is unknown
    """

    first: Ref
    then: Ref
    is_new: bool
    reason: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class CatalogDifference:
    """The difference between a first and a second catalog. It is false if there is no difference.

    added:     the resources that only the second catalog has, in its order
    removed:   the resources that only the first catalog has, in its order
    changed:   each resource that both have with different parameters, and a `ChangedParameter` for each of them
    relations: the edges that only one of the catalogs has, between resources that both have
    """

    added: Sequence[Resource]
    removed: Sequence[Resource]
    changed: Sequence[tuple[Resource, Sequence[ChangedParameter]]]
    relations: Sequence[ChangedRelation]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.relations)


def difference(before: Plan, after: Plan, ignored: Iterable[str] = ()) -> CatalogDifference:
    """The difference of two catalogs; false if there is none. Missing references and cycles raise nothing.

    before:  the first catalog
    after:   the second catalog
    ignored: patterns with * and ? for references, "File[/tmp/*]", or for parameters, "Package[*].ensure", to leave out
    cost:    one step for each resource, parameter and edge, times the patterns
    """
    patterns = [pattern.replace("[", "[[]") for pattern in ignored]  # brackets are what they are

    def counts(name: str) -> bool:
        return not any(fnmatchcase(name, pattern) for pattern in patterns)

    old = {ref: one for ref, one in before.resources.items() if counts(ref)}
    new = {ref: one for ref, one in after.resources.items() if counts(ref)}
    both = [ref for ref in new if ref in old]
    differing = ((ref, _parameters(old[ref], new[ref])) for ref in both)
    changed = [(new[ref], [one for one in found if counts(f"{ref}.{one.name}")]) for ref, found in differing]
    return CatalogDifference(
        [one for ref, one in new.items() if ref not in old],
        [one for ref, one in old.items() if ref not in new],
        [(one, parameters) for one, parameters in changed if parameters],
        list(_relations(before, after, set(both))),
    )


def _parameters(old: Resource, new: Resource) -> Iterator[ChangedParameter]:
    for name in dict.fromkeys((*old.parameters, *new.parameters)):
        before, after = old.parameters.get(name, ABSENT), new.parameters.get(name, ABSENT)
        if type(before) is not type(after) or before != after:
            yield ChangedParameter(name, before, after)


def _relations(before: Plan, after: Plan, both: set[str]) -> Iterator[ChangedRelation]:
    old, new = _edges(before, both), _edges(after, both)
    for edges, others, is_new in ((new, old, True), (old, new, False)):
        for (first, then), (reason, origin) in edges.items():
            if (first, then) not in others:
                yield ChangedRelation(first, then, is_new, reason, origin)


def _edges(plan: Plan, both: set[str]) -> dict[tuple[Ref, Ref], tuple[str, Origin | None]]:
    """(first, then) -> (reason, line) for each edge between two resources in *both*; of parallel edges the first."""
    graph, found = plan.graph, {}
    for edge in reversed(graph.edges):
        ends = graph.refs[edge.source >> 1], graph.refs[edge.target >> 1]
        if both.issuperset(ends):
            found[ends] = graph.reason(edge)
    return dict(reversed(found.items()))

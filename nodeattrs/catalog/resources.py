"""Declared resources, the links of chains, and the queries of collectors.

`nodeattrs.catalog.plan` collects resources. Only the `subject` of a resource knows what it does to a machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.puppet.references import Link, Query, Ref

MAIN_STAGE, MAIN_CLASS = Ref("Stage[main]"), Ref("Class[Main]")
CONTAINERS = ("class", "define", "stage")
RELATIONS = ("require", "subscribe", "before", "notify")
"""The four metaparameters, in the order in which their edges are made."""


class FirstOf(tuple[str, ...]):
    """Alternatives for one automatic relation: the first reference that is in the catalog counts."""


@dataclass(slots=True)
class Resource:
    """A resource as it was declared.

    ref:        its reference
    kind:       "resource", or a container: "class", "define", "stage"
    within:     its direct containers, in order; None: Class[Main], and for a class Stage[main]
    parameters: the parameters as written, for the queries of collectors and for comparisons of catalogs
    require, subscribe, before, notify: the references in these metaparameters
    auto:       automatic relations: metaparameter -> references; one counts only if it is in the catalog
    virtual:    True: the plan has it only if a collector of a chain finds it
    tags:       its tags, for the queries of collectors
    noop:       the no-op mode that was written; None if none was written
    origin:     the line of the declaration; None if it is unknown
    subject:    the object that can check and apply it (`transaction.Subject`); None: there is nothing to apply
    manages:    a place that only one resource may have, such as "path:/etc/motd"; None for no place
    reads:      the attributes and lookups that its source line read, as they are spelled
    related_at: the line of each relation added after the declaration: `"require Class[A]"` -> origin
    containers: `within`, or without it the default container
    is_container: whether it is a class, a define or a stage
    """

    ref: Ref
    kind: str = "resource"
    within: tuple[str, ...] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    auto: Mapping[str, tuple[str | FirstOf, ...]] = field(default_factory=dict)
    virtual: bool = False
    tags: frozenset[str] = frozenset()
    noop: bool | None = None
    origin: Origin | None = None
    subject: Any = None
    manages: str | None = None
    reads: tuple[str, ...] = ()
    related_at: dict[str, Origin] = field(default_factory=dict)

    @property
    def is_container(self) -> bool:
        """Whether the resource is a class, an instance of a defined type, or a stage."""
        return self.kind != "resource"

    @property
    def containers(self) -> tuple[str, ...]:
        """The direct containers: those given as `within`, else the default ones."""
        if self.within is not None:
            return self.within
        return {"class": (MAIN_STAGE,), "stage": ()}.get(self.kind, (MAIN_CLASS,))


@dataclass(frozen=True, slots=True)
class RelationLink:
    """A link of a chain, with the text of its chain and the line of that.

    link:   two operands and the arrow between them
    text:   the whole chain
    origin: its line; None if it is unknown
    """

    link: Link
    text: str
    origin: Origin | None = None


def matches(resource: Resource, query: Query) -> bool:
    """Whether a resource fits the query of a collector. Upper and lower case are the same, as in Puppet.

    query: ("and" or "or", query, query), or ("==" or "!=", name, value). The names "title" and "tag" mean title and
           tags of the resource; any other name is a parameter

    "==" holds for a list if one element is equal to the value; "!=" is the opposite of "==". A parameter that is not
    written has the value None.
    """
    word, left, right = query
    if word == "and":
        return matches(resource, left) and matches(resource, right)
    if word == "or":
        return matches(resource, left) or matches(resource, right)
    if left == "tag":
        same = isinstance(right, str) and right.lower() in resource.tags
    else:
        value = resource.ref.name if left == "title" else resource.parameters.get(left)
        values = value if isinstance(value, (list, tuple)) else [value]
        same = any(_same(one, right) for one in values)
    return same if word == "==" else not same


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return type(left) is type(right) and bool(left == right)

"""Resources as they were declared, and the list of them in catalog order.

A catalog takes resources and chains in; `nodeattrs.catalog.graph` works out what follows
from them. It knows neither files nor recipes: what a resource does to a machine is in its
`subject`, which nobody here touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodeattrs.catalog.chain_text import parsed_chain
from nodeattrs.catalog.errors import DuplicateResource
from nodeattrs.catalog.references import Chain, Collector, Link, Query, Ref
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, NodeattrsError

if TYPE_CHECKING:
    from nodeattrs.catalog.plan import Plan

__all__ = [
    "CONTAINERS",
    "MAIN_CLASS",
    "MAIN_STAGE",
    "RELATIONS",
    "Catalog",
    "FirstOf",
    "Related",
    "Resource",
    "answers",
]

MAIN_STAGE, MAIN_CLASS = Ref("Stage[main]"), Ref("Class[Main]")
CONTAINERS = ("class", "define", "stage")
RELATIONS = ("require", "subscribe", "before", "notify")
"""The four metaparameters, in the order in which their edges are made."""


class FirstOf(tuple[str, ...]):
    """Candidates of an automatic relation of which the first that is in the catalog counts: the nearest directory."""


@dataclass(slots=True)
class Resource:
    """A resource as it was declared.

    ref:        its reference
    kind:       "resource", or one of the containers: "class", "define", "stage"
    within:     the containers it stands in directly, in order; none given: Class[Main], for a class Stage[main]
    parameters: what was written on it, for the queries of collectors
    auto:       candidates of automatic relations, under the four metaparameters
    virtual:    it is in the catalog only if a collector of some chain finds it
    noop:       as written; None where nothing was
    subject:    what it does to a machine; None for containers
    manages:    the place that only one resource may have, such as "path:/etc/motd"
    reads:      the attributes and lookups that its source line read, as they are spelled
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
    said: dict[str, Origin] = field(default_factory=dict)
    """Where a relation was written that was added after the declaration: `"require Class[A]"` -> origin."""

    @property
    def is_container(self) -> bool:
        """Whether it is a class, an instance of a defined type or a stage."""
        return self.kind != "resource"

    def asks(self, name: str) -> Any:
        """What a query finds under *name*; `title` and `tag` are always there. Nothing written is nothing found."""
        if name == "title":
            return self.ref.name
        return self.parameters.get(name)


@dataclass(frozen=True, slots=True)
class Related:
    """A link of a chain as it was written."""

    link: Link
    text: str
    origin: Origin | None = None


class Catalog:
    """Resources in catalog order, which is their priority, and the chains over them.

    >>> catalog = Catalog()
    >>> service = catalog.add(Resource(Ref("Service[ntpd]")))
    >>> conf = catalog.add(Resource(Ref("File[/etc/ntp.conf]")))
    >>> catalog.relate(conf >> ~service)
    >>> [str(ref) for ref in catalog.plan().order()]
    ['File[/etc/ntp.conf]', 'Service[ntpd]']
    """

    def __init__(self, noop: bool = False) -> None:
        self.noop = noop
        self.warnings: list[NodeattrsError] = []
        self.chains: list[Related] = []
        self._resources: dict[str, Resource] = {}
        self._places: dict[str, Resource] = {}
        for main, kind, within in ((MAIN_STAGE, "stage", ()), (MAIN_CLASS, "class", (MAIN_STAGE,))):
            self._resources[main] = Resource(main, kind, within)

    def __contains__(self, ref: object) -> bool:
        return ref in self._resources

    def __getitem__(self, ref: str) -> Resource:
        return self._resources[ref]

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._resources.values())

    def __len__(self) -> int:
        return len(self._resources)

    @property
    def resources(self) -> Mapping[str, Resource]:
        """The resources by reference, in catalog order, virtual ones included."""
        return self._resources

    def get(self, ref: str) -> Resource | None:
        """The resource of that reference, or None."""
        return self._resources.get(ref)

    def add(self, resource: Resource) -> Ref:
        """Declare a resource; its reference. What is written on the main class and stage is added to them.

        raises: DuplicateResource, BadArgument
        """
        ref = resource.ref
        if resource.kind not in ("resource", *CONTAINERS):
            raise BadArgument(f"{ref}: there is no kind {resource.kind!r}", hint="resource, class, define or stage")
        earlier = self._resources.get(ref)
        if earlier is not None and ref in (MAIN_STAGE, MAIN_CLASS) and earlier.origin is None:
            resource.within = earlier.within
        elif earlier is not None:
            raise DuplicateResource(
                f"{ref} is declared twice",
                origins=[one.origin for one in (earlier, resource) if one.origin],
                said=_told(("first", earlier), ("again", resource)),
                hint="declare it once, and name it elsewhere",
            )
        if resource.manages is not None:
            other = self._places.setdefault(resource.manages, resource)
            if other is not resource:
                raise DuplicateResource(
                    f"{ref} and {other.ref} both manage {resource.manages.partition(':')[2]}",
                    origins=[one.origin for one in (other, resource) if one.origin],
                    said=_told((str(other.ref), other), (str(ref), resource)),
                )
        self._resources[ref] = resource
        return ref

    def relate(self, said: Chain | Link | str, origin: Origin | None = None) -> None:
        """Add a chain: one of Python, a single link of one, or a text of Puppet's language. raises: DocumentError"""
        from nodeattrs.catalog.references import link_text

        if isinstance(said, str):
            chain = parsed_chain(said)
            self.chains.extend(Related(link, said, origin) for link in chain.links)
            return
        for link in said.links if isinstance(said, Chain) else (said,):
            self.chains.append(Related(link, link_text(link), origin))

    def depend(self, ref: str, on: str, origin: Origin | None = None, relation: str = "require") -> None:
        """Add to a metaparameter of a resource that is declared: what the `require` function does.

        raises: KeyError
        """
        resource = self._resources[ref]
        setattr(resource, relation, (*getattr(resource, relation), on))
        if origin is not None:
            resource.said[f"{relation} {on}"] = origin

    def depend_where_both_are(
        self, pairs: Iterable[tuple[str, str]], origin: Origin | None = None
    ) -> list[tuple[str, str]]:
        """Add `require` for pairs of dependant and dependency; those with an absent side are ignored."""
        kept = [(dependant, on) for dependant, on in pairs if dependant in self and on in self]
        for dependant, on in kept:
            self.depend(dependant, on, origin)
        return kept

    def contain(self, outer: str, inner: str) -> None:
        """Add a container to those a resource stands in: what the `contain` function does. raises: KeyError"""
        resource = self._resources[inner]
        within = self.containers_of(resource)
        if outer not in within:
            resource.within = (*within, outer)

    def containers_of(self, resource: Resource) -> tuple[str, ...]:
        """The containers a resource stands in directly."""
        if resource.within is not None:
            return resource.within
        return (MAIN_STAGE,) if resource.kind == "class" else () if resource.kind == "stage" else (MAIN_CLASS,)

    def collected(self, collector: Collector) -> list[Ref]:
        """Everything that a collector finds, in catalog order, virtual resources included."""
        prefix = f"{collector.type}["
        return [
            ref
            for ref, resource in self._resources.items()
            if ref.startswith(prefix)
            and (collector.query is None or answers(resource, collector.query))
            and isinstance(ref, Ref)
        ]

    def plan(self, *, documented: bool = False) -> Plan:
        """What follows from all of it: `nodeattrs.catalog.plan.Plan`.

        documented: an empty collector breaks its chain, as the language page has it
        """
        from nodeattrs.catalog.plan import Plan

        return Plan(self, documented=documented)


def answers(resource: Resource, query: Query) -> bool:
    """Whether a resource answers a query of a collector. Text is compared without regard to case, as Puppet does."""
    word, left, right = query
    if word == "and":
        return answers(resource, left) and answers(resource, right)
    if word == "or":
        return answers(resource, left) or answers(resource, right)
    if left == "tag":
        same = isinstance(right, str) and right.lower() in resource.tags
    else:
        found = resource.asks(left)
        same = any(_same(one, right) for one in found) if isinstance(found, (list, tuple)) else _same(found, right)
    return same if word == "==" else not same


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return type(left) is type(right) and bool(left == right)


def _told(*sides: tuple[str, Resource]) -> list[str]:
    return [f"{name}: {resource.origin}" for name, resource in sides if resource.origin]

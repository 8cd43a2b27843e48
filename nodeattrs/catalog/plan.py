"""The catalog, which collects resources and chains; and its plan, which resolves chains and finds missing references.

The order is Puppet's: collectors, chains, then metaparameters. There is one deviation, for a collector that finds
nothing. Here its two neighbours are related, whatever the direction of the arrows. Puppet relates the left neighbour of
a reversed arrow to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from random import Random

from nodeattrs.catalog.cycles import Cycle, cycles_of
from nodeattrs.catalog.errors import DependencyCycle, DuplicateResource, NoopDoesNotReach, ReferenceNotFound
from nodeattrs.catalog.graph import ByChain, Graph, in_order
from nodeattrs.catalog.resources import CONTAINERS, MAIN_CLASS, MAIN_STAGE, RELATIONS, RelationLink, Resource, matches
from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, NodeattrsError, wrong_argument
from nodeattrs.puppet.chains import parsed_chain
from nodeattrs.puppet.references import Arrow, Chain, Collector, Link, Operand, Ref, link_text, near_hint

_MOST_HINTS = 20
_MOST_BREAKS = 40
_PUPPETS_ADVICE = "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz"


class Catalog:
    """The declared resources, and the links of the chains. Catalog order is the order of the calls of `add`.

    `catalog["File[/a]"]` is a resource (raises: KeyError), and `in` looks for a reference. Iteration gives the
    resources and not the references. `Class[Main]` and `Stage[main]` are there from the start.
    noop:     the no-op mode of each resource that has none of its own
    chains:   the links of all chains, in order
    warnings: warnings about declarations

    resources: reference -> resource, virtual ones included
    get:       a resource by its reference; None if it is not declared
    collected: the references that a collector finds
    add:       declares a resource, and returns its reference. raises: DuplicateResource, for a second resource with the
               same reference or managed place
    relate:    adds a chain such as `A -> B`; its resources need not exist yet
    depend:    adds a reference to a metaparameter of a declared resource, such as `require`
    contain:   puts a declared resource into one more container
    plan:      a `Plan` of what was declared so far; may be called again later

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
        self.chains: list[RelationLink] = []
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
        """The resource with a reference; None where it is not declared."""
        return self._resources.get(ref)

    @checked_args(collector="query")
    def collected(self, collector: Collector) -> list[Ref]:
        """The references that a collector finds, in catalog order, virtual resources included; [] for none."""
        prefix = f"{collector.type}["
        return [
            ref
            for ref, resource in self._resources.items()
            if ref.startswith(prefix)
            and (collector.query is None or matches(resource, collector.query))
            and isinstance(ref, Ref)
        ]

    def add(self, resource: Resource) -> Ref:
        """Declare a resource; returns its reference.

        `Class[Main]` and `Stage[main]` exist from the start, and may be declared once all the same. The declaration
        replaces the resource and gets its `within`.
        raises: DuplicateResource, if the reference is declared already, or another resource has the same `manages`;
                BadArgument, for an unknown `kind`
        """
        if not isinstance(resource, Resource):
            raise wrong_argument("what is declared", "a Resource", resource, 'Resource(ref_of("File[/etc/motd]"))')
        ref = resource.ref
        if resource.kind not in ("resource", *CONTAINERS):
            raise BadArgument(f"{ref}: there is no kind {resource.kind!r}", hint="resource, class, define or stage")
        earlier = self._resources.get(ref)
        if earlier is not None and ref in (MAIN_STAGE, MAIN_CLASS) and earlier.origin is None:
            resource.within = earlier.within
        elif earlier is not None:
            hint = "declare it once, and name it elsewhere"
            raise _twice(f"{ref} is declared twice", ("first", earlier), ("again", resource), hint=hint)
        if resource.manages is not None:
            other = self._places.setdefault(resource.manages, resource)
            if other is not resource:
                both = f"{ref} and {other.ref} both manage {resource.manages.partition(':')[2]}"
                raise _twice(both, (str(other.ref), other), (str(ref), resource))
        self._resources[ref] = resource
        return ref

    @checked_args(relations=Chain | Link | str)
    def relate(self, relations: Chain | Link | str, origin: Origin | None = None) -> None:
        """Add relationships: a chain or a link made with operators, or the text of a chain in Puppet's language.

        The resources need not be declared yet; `plan` finds missing ones.
        origin: the line of the chain; None if it is unknown
        raises: DocumentError, for a text that is not a chain
        """
        if isinstance(relations, str):
            chain = parsed_chain(relations)
            self.chains.extend(RelationLink(link, relations, origin) for link in chain.links)
            return
        for link in relations.links if isinstance(relations, Chain) else (relations,):
            self.chains.append(RelationLink(link, link_text(link), origin))

    def depend(self, ref: str, on: str, origin: Origin | None = None, relation: str = "require") -> None:
        """Add a reference to a metaparameter of a declared resource, as Puppet's function `require` does.

        ref:      the declared resource
        on:       the reference to add; it need not exist yet. It is added again if it is there already
        origin:   the line of the relationship; None if it is unknown
        relation: "require", "subscribe", "before" or "notify"
        raises:   KeyError, if *ref* is not declared
        """
        resource = self._resources[ref]
        setattr(resource, relation, (*getattr(resource, relation), on))
        if origin is not None:
            resource.related_at[f"{relation} {on}"] = origin

    def contain(self, outer: str, inner: str) -> None:
        """Add the container *outer* to the containers of the resource *inner*, as Puppet's function `contain` does.

        raises: KeyError, where *inner* is not declared
        """
        resource = self._resources[inner]
        if outer not in resource.containers:
            resource.within = (*resource.containers, outer)

    def plan(self, *, documented: bool = False) -> Plan:
        """A new plan of what was declared so far. Faults do not raise here: the plan has them in `faults()`.

        documented: an empty collector breaks its chain, as the language page says; Puppet itself does not break it
        """
        return Plan(self, documented=documented)


def _twice(message: str, *sides: tuple[str, Resource], hint: str | None = None) -> NodeattrsError:
    known = [(name, resource.origin) for name, resource in sides if resource.origin]
    details = [f"{name}: {origin}" for name, origin in known]
    return DuplicateResource(message, origins=[origin for _, origin in known], details=details, hint=hint)


class Plan:
    """A catalog with resolved chains: its resources, relationships, faults and order.

    catalog:        the declarations
    documented:     an empty collector breaks its chain, as the language page says; Puppet itself does not break it
    resources:      reference -> resource, in catalog order, without the virtual ones that no collector finds
    before, notify: reference -> the relationships that chains add to this resource
    missing:        a ReferenceNotFound for each relationship with a missing resource, in Puppet's order

    faults:         the errors about missing resources and cycles; [] for none
    order:          the references of the resources, without containers, in the order of visiting
    visit_order:    the vertices of the graph in this order. Like `order`, it raises the first fault
    cycle_error:    returns the error about the cycles, and does not raise it
    noops:          reference -> whether the resource is in no-op mode
    warnings:       what is probably not meant

    The constructor resolves chains and fills `missing`; it raises nothing for a fault. The graph, the order and the
    cycles are computed when they are first read.
    """

    @checked_args(catalog=Catalog)
    def __init__(self, catalog: Catalog, *, documented: bool = False) -> None:
        self.catalog = catalog
        self.documented = documented
        self.before: dict[str, list[ByChain]] = {}
        self.notify: dict[str, list[ByChain]] = {}
        self.missing: list[ReferenceNotFound] = []
        realized = self._relate()
        self.resources = {
            ref: resource for ref, resource in catalog.resources.items() if not resource.virtual or ref in realized
        }
        for fault in chain(self._unknown(), self._dropped()):
            self.missing.append(fault)  # at once: the hints of later faults depend on their number

    # Chains

    def _relate(self) -> set[str]:
        realized: set[str] = set()
        found: dict[int, list[Ref]] = {}
        for related in self.catalog.chains:
            for operand in (related.link.left, related.link.right):
                if isinstance(operand, Collector):
                    found[id(operand)] = self.catalog.collected(operand)
                    realized.update(found[id(operand)])
        for related in self.catalog.chains:
            left, arrow, right = related.link.left, related.link.arrow, related.link.right
            lefts, rights = self._bridged(left, arrow, found), _resolved(right, found)
            sources, targets = (lefts, rights) if arrow in ("->", "~>") else (rights, lefts)
            self._pair(sources, targets, self.before if arrow in ("->", "<-") else self.notify, related)
        return realized

    def _bridged(self, operand: Operand, arrow: Arrow, found: dict[int, list[Ref]]) -> Iterable[Ref]:
        """The references of an operand left of an arrow. An empty one stands for the operand left of it, and so on."""
        resolved = _resolved(operand, found)
        while not resolved and not self.documented and isinstance(operand, Collector) and operand.before:
            operand, earlier = operand.before
            if _is_reversed(earlier) != _is_reversed(arrow):
                break  # two arrows that point at each other say nothing about their outer sides
            resolved = _resolved(operand, found)
        return resolved

    def _pair(
        self, sources: Iterable[Ref], targets: Iterable[Ref], into: dict[str, list[ByChain]], related: RelationLink
    ) -> None:
        catalog = self.catalog
        for source in sources:
            for target in targets:
                if source not in catalog:
                    self.missing.append(self._not_found(source, target, related, f"on '{target}'"))
                elif target not in catalog:
                    self.missing.append(self._not_found(target, source, related, f"from '{source}'"))
                else:
                    into.setdefault(source, []).append(ByChain(target, related))

    # Missing

    def _not_found(self, missing: str, by: str, related: RelationLink, relation: str) -> ReferenceNotFound:
        place = f" at {related.origin}" if related.origin else ""
        return ReferenceNotFound(
            missing,
            by,
            compile_message=f"Could not find resource '{missing}' for relationship {relation}",
            details=[f"the chain {related.text}{place}"],
            origins=[related.origin] if related.origin else [],
            hint=self._near(missing),
        )

    def _unknown(self) -> Iterator[ReferenceNotFound]:
        known = self.catalog.resources
        for ref, resource in self.resources.items():
            for name in _written(resource):
                for other in getattr(resource, name):
                    if other not in known:
                        yield self._absent(other, ref, name, compiled=True)

    def _dropped(self) -> Iterator[ReferenceNotFound]:
        if len(self.resources) == len(self.catalog):
            return
        for ref, resource in self.resources.items():
            for name in RELATIONS:
                chained = {"before": self.before, "notify": self.notify}.get(name, {}).get(ref, ())
                for other in (*getattr(resource, name), *(one.ref for one in chained)):
                    if other in self.catalog and other not in self.resources:
                        yield self._absent(other, ref, name, compiled=False)

    def _absent(self, other: str, ref: str, name: str, *, compiled: bool) -> ReferenceNotFound:
        resource = self.catalog[ref]
        origin = resource.related_at.get(f"{name} {other}") or resource.origin
        word = "dependency" if name in ("require", "subscribe") else "dependent"
        details = [f"{ref} has it in {name}{f' at {origin}' if origin else ''}"]
        if not compiled:
            details.append(f"{other} is virtual, and no collector finds it")
        return ReferenceNotFound(
            other,
            ref,
            parameter=name,
            compile_message=f"Could not find resource '{other}' in parameter '{name}'" if compiled else None,
            apply_message=f"Could not find {word} {other} for {ref}",
            details=details,
            origins=[origin] if origin else [],
            hint=self._near(other) if compiled else None,
        )

    def _near(self, missing: str) -> str | None:
        # Each hint looks at all names: a catalog in which half is missing gets few of them.
        return near_hint(missing, self.catalog.resources) if len(self.missing) < _MOST_HINTS else None

    # What follows

    @cached_property
    def graph(self) -> Graph:
        """The graph of all relationships, automatic ones included, without those to missing resources."""
        return Graph(list(self.resources.values()), self.before, self.notify)

    @cached_property
    def _ordered(self) -> list[int]:
        return in_order(self.graph)

    @cached_property
    def cycles(self) -> list[Cycle]:
        """All cycles, sorted by their members; [] where all resources can be ordered."""
        return [] if len(self._ordered) == self.graph.count else cycles_of(self.graph, self._ordered)

    def faults(self) -> list[NodeattrsError]:
        """The faults of the catalog: an error for each missing reference, then one for each cycle; [] for none."""
        return [*self.missing, *(self.cycle_error([cycle]) for cycle in self.cycles)]

    def cycle_error(self, cycles: Sequence[Cycle] = ()) -> DependencyCycle:
        """Make, not raise, the error for some cycles, with the reason of each edge on their rings.

        cycles: at least one; () means all cycles of the plan, which must have some
        """
        cycles = cycles or self.cycles
        paths = [f"({' => '.join(map(self.graph.spelled, cycle.path))})" for cycle in cycles]
        count = f"{len(cycles)} dependency cycle{'' if len(cycles) == 1 else 's'}"
        breaks = list(dict.fromkeys(one for cycle in cycles for one in cycle.breaks()))
        breaks[_MOST_BREAKS:] = [f"... ({len(breaks):,} in all)"] if len(breaks) > _MOST_BREAKS else []
        return DependencyCycle(
            f"{count}: {'; '.join(cycle.text for cycle in cycles)}",
            cycles,
            [edge for cycle in cycles for edge in cycle.lines()],
            [origin for cycle in cycles for _, _, origin in cycle.reasons() if origin],
            f"remove one of: {', '.join(breaks)}"
            if breaks
            else "a resource is inside of a container that waits for it",
            "\n".join([f"Found {count}:", *paths, _PUPPETS_ADVICE]),
        )

    def visit_order(self) -> list[int]:
        """The numbers of the graph's vertices in the order of visiting, with two for each container.

        raises: the first ReferenceNotFound; if there is none, DependencyCycle
        """
        for fault in self.missing:
            raise fault
        if self.cycles:
            raise self.cycle_error()
        return self._ordered

    def order(self, shuffle: int | None = None) -> list[Ref]:
        """The resources that are no containers, in the order of visiting.

        shuffle: a seed for another order that fits all relationships. If applying in that order fails, a relationship
                 is missing. None: Puppet's order
        raises:  ReferenceNotFound, DependencyCycle
        """
        graph, order = self.graph, self.visit_order()
        if shuffle is not None:
            ranks = list(range(2 * len(graph.refs)))
            Random(shuffle).shuffle(ranks)
            order = in_order(graph, ranks)
        return [graph.refs[vertex >> 1] for vertex in order if not graph.is_container[vertex >> 1]]

    # No-op

    @cached_property
    def noops(self) -> dict[str, bool]:
        """reference -> whether the resource is in no-op mode.

        The mode that is written at a resource counts first, then the one at its innermost container, and so on
        outwards; at last the mode of the catalog. A container counts only if it is in Class[Main], directly or not.
        """
        graph = self.graph
        written = {ref: resource.noop for ref, resource in self.resources.items() if resource.noop is not None}
        if written:
            waiting: list[str] = [MAIN_CLASS]
            seen = set(waiting)
            while waiting:
                ref = waiting.pop()
                for content in graph.contents_of(ref):
                    if ref in written:
                        written.setdefault(content, written[ref])
                    if content not in seen:
                        seen.add(content)
                        waiting.append(content)
        return {ref: written.get(ref, self.catalog.noop) for ref in self.resources}

    def warnings(self) -> list[NodeattrsError]:
        """The warnings of the catalog, and one for each container in no-op mode with contents that would be changed.

        [] for none.
        """
        found = []
        for ref, resource in self.resources.items():
            if not (resource.is_container and resource.noop):
                continue
            inner = [one for one in self._all_within(ref) if not self.noops[one]]
            if inner:
                origin = resource.origin
                found.append(
                    NoopDoesNotReach(
                        f"{ref} is in no-op mode, and its contents are not: {', '.join(inner)} would really be changed",
                        details=[f"written at {origin}"] if origin else [],
                        hint="write noop=True on the resources themselves, or run all of it with --noop",
                        origins=[origin] if origin else [],
                    )
                )
        return [*self.catalog.warnings, *found]

    def _all_within(self, ref: str) -> list[str]:
        found: dict[str, None] = {}
        waiting = [ref]
        while waiting:
            for content in self.graph.contents_of(waiting.pop()):
                if content not in found:
                    found[content] = None
                    waiting.append(content)
        return [one for one in self.resources if one in found and not self.resources[one].is_container]


def _written(resource: Resource) -> list[str]:
    """The metaparameters in written order; those that were added later come last."""
    written = [name for name in resource.parameters if name in RELATIONS]
    return [*written, *(name for name in RELATIONS if name not in written)]


def _resolved(operand: Operand, found: dict[int, list[Ref]]) -> Iterable[Ref]:
    return found[id(operand)] if isinstance(operand, Collector) else operand


def _is_reversed(arrow: Arrow) -> bool:
    return arrow in ("<-", "<~")

"""The catalog: collects resources and chains, and makes their plan."""

from __future__ import annotations

from nodeattrs.catalog.errors import DuplicateResource
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import CONTAINERS, MAIN_CLASS, MAIN_STAGE, Declarations, RelationLink, Resource
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, NodeattrsError, wrong_argument
from nodeattrs.puppet.chains import parsed_chain
from nodeattrs.puppet.references import Chain, Link, Ref, link_text


class Catalog(Declarations):
    """A catalog to which resources and relationships can be added.

    It has the methods of `Declarations` to read it. The order of the resources is the order of `add`.
    noop: whether all resources without a no-op mode of their own are in no-op mode

    add:     declares a resource; returns its reference. raises: DuplicateResource, for a second resource with the same
             reference or managed place
    relate:  adds a chain such as `A -> B`, whose resources need not exist yet
    depend:  adds one reference, which need not exist yet, to a parameter such as `require` of a declared resource
    contain: puts a declared resource into one more container
    plan:    a `Plan` of what was declared so far, which names missing resources; may be called again later

    >>> catalog = Catalog()
    >>> service = catalog.add(Resource(Ref("Service[ntpd]")))
    >>> conf = catalog.add(Resource(Ref("File[/etc/ntp.conf]")))
    >>> catalog.relate(conf >> ~service)
    >>> [str(ref) for ref in catalog.plan().order()]
    ['File[/etc/ntp.conf]', 'Service[ntpd]']
    """

    def __init__(self, noop: bool = False) -> None:
        super().__init__(noop)
        self._places: dict[str, Resource] = {}

    def add(self, resource: Resource) -> Ref:
        """Declare a resource; returns its reference.

        `Class[Main]` and `Stage[main]` exist from the start. One declaration of each is accepted and replaces it; its
        `within` is set to the containers of the replaced one.
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

    @taking(relations=Chain | Link | str)
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
        """Add the reference *on* to the metaparameter *relation* of a declared resource, as Puppet's function `require`
        does.

        It is added again if it is there already; *on* need not exist yet.
        origin:   the line that says so; None if it is unknown
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

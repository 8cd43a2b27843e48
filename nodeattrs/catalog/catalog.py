"""The catalog: it takes resources and chains in, and makes the plan that follows from them."""

from __future__ import annotations

from nodeattrs.catalog.errors import DuplicateResource
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.resources import CONTAINERS, MAIN_CLASS, MAIN_STAGE, Declarations, Related, Resource
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, NodeattrsError, wrong_argument
from nodeattrs.puppet.chains import parsed_chain
from nodeattrs.puppet.references import Chain, Link, Ref, link_text


class Catalog(Declarations):
    """Resources in catalog order, which is their priority, and the chains over them.

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
        """Declare a resource; its reference. What is written on the main class and stage is added to them.

        raises: DuplicateResource, BadArgument
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
        """Add a chain: one of Python, a single link of one, or a text of Puppet's language. raises: DocumentError"""
        if isinstance(relations, str):
            chain = parsed_chain(relations)
            self.chains.extend(Related(link, relations, origin) for link in chain.links)
            return
        for link in relations.links if isinstance(relations, Chain) else (relations,):
            self.chains.append(Related(link, link_text(link), origin))

    def depend(self, ref: str, on: str, origin: Origin | None = None, relation: str = "require") -> None:
        """Add to a metaparameter of a resource that is declared: what the `require` function does.

        raises: KeyError
        """
        resource = self._resources[ref]
        setattr(resource, relation, (*getattr(resource, relation), on))
        if origin is not None:
            resource.related_at[f"{relation} {on}"] = origin

    def contain(self, outer: str, inner: str) -> None:
        """Add a container to those a resource stands in: what the `contain` function does. raises: KeyError"""
        resource = self._resources[inner]
        if outer not in resource.containers:
            resource.within = (*resource.containers, outer)

    def plan(self, *, documented: bool = False) -> Plan:
        """What follows from all of it: `nodeattrs.catalog.plan.Plan`.

        documented: an empty collector breaks its chain, as the language page has it
        """
        return Plan(self, documented=documented)


def _twice(message: str, *sides: tuple[str, Resource], hint: str | None = None) -> NodeattrsError:
    known = [(name, resource.origin) for name, resource in sides if resource.origin]
    details = [f"{name}: {origin}" for name, origin in known]
    return DuplicateResource(message, origins=[origin for _, origin in known], details=details, hint=hint)

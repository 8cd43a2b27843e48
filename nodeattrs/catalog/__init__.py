"""Resources, the relationships between them, the order that follows, and refreshes: Puppet's, with reasons.

This package merges nothing. What a recipe declares becomes a `Catalog`. Its `plan()` finds missing resources, orders
the others, and names every cycle with the line of each edge in it. `apply_plan` visits the resources. docs/catalog.md
has the rules.

>>> from nodeattrs.catalog import Catalog, Resource, ref_of
>>> catalog = Catalog()
>>> catalog.relate("Package['ntp'] -> File['/etc/ntp.conf'] ~> Service['ntpd']")
>>> for title in ("Service[ntpd]", "File[/etc/ntp.conf]", "Package[ntp]"):
...     _ = catalog.add(Resource(ref_of(title)))
>>> catalog.plan().order()
[Package['ntp'], File['/etc/ntp.conf'], Service['ntpd']]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.puppet.chains import RefMaker, parsed_chain, parsed_query
from nodeattrs.puppet.references import Chain, Collector, Link, Ref, Refs, ref_of, refs

if TYPE_CHECKING:
    from nodeattrs.catalog.cycles import Cycle
    from nodeattrs.catalog.documents import catalog_from
    from nodeattrs.catalog.errors import (
        DependencyCycle,
        DuplicateResource,
        NoopDoesNotReach,
        ReferenceNotFound,
        RefreshComesLater,
        ResourceFailed,
    )
    from nodeattrs.catalog.graph import Edge, Graph
    from nodeattrs.catalog.plan import Catalog, Plan
    from nodeattrs.catalog.resources import MAIN_CLASS, MAIN_STAGE, RELATIONS, FirstOf, Resource
    from nodeattrs.catalog.transaction import Change, LogLine, Outcome, Received, Report, Subject, apply_plan

__all__ = [
    "MAIN_CLASS",
    "MAIN_STAGE",
    "RELATIONS",
    "Catalog",
    "Chain",
    "Change",
    "Collector",
    "Cycle",
    "DependencyCycle",
    "DuplicateResource",
    "Edge",
    "FirstOf",
    "Graph",
    "Link",
    "LogLine",
    "NoopDoesNotReach",
    "Outcome",
    "Plan",
    "Received",
    "Ref",
    "RefMaker",
    "ReferenceNotFound",
    "RefreshComesLater",
    "Refs",
    "Report",
    "Resource",
    "ResourceFailed",
    "Subject",
    "apply_plan",
    "catalog_from",
    "parsed_chain",
    "parsed_query",
    "ref_of",
    "refs",
]

_HOMES = {
    "cycles": "Cycle",
    "documents": "catalog_from",
    "errors": "DependencyCycle DuplicateResource NoopDoesNotReach ReferenceNotFound RefreshComesLater ResourceFailed",
    "graph": "Edge Graph",
    "plan": "Catalog Plan",
    "resources": "MAIN_CLASS MAIN_STAGE RELATIONS FirstOf Resource",
    "transaction": "Change LogLine Outcome Received Report Subject apply_plan",
}

# A run that only declares plans nothing and visits nothing.
__getattr__ = imported(__name__, {name: home for home, names in _HOMES.items() for name in names.split()})

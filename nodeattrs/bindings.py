"""Bindings and injection: values that are declared, layered, demanded and explained.

    >>> from nodeattrs.bindings import Bindings, Injector, Layer, State
    >>> ssh = Bindings("ssh::default")
    >>> _ = ssh.bind("ssh::port", int).to(22)
    >>> site = Bindings("default")
    >>> _ = site.when(node="kermit").bind("ssh::port").override().to(2222)
    >>> injector = Injector([Layer("site", [site]), Layer("modules", [ssh])], State([("node", "kermit")]))
    >>> injector.inject("ssh::port", int)
    2222

Sets are written as Python, as JSON or YAML, or in a text language; docs/bindings.md
specifies all three, who wins, and what is refused.
"""

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.puppet.references import Reference

if TYPE_CHECKING:
    from nodeattrs.dialects.bindings.composition import PROVIDERS, Composition, Provider, Request, read_sets
    from nodeattrs.dialects.bindings.explain import Edge, Explanation, Graph
    from nodeattrs.dialects.bindings.forms.builder import Bindings, Block
    from nodeattrs.dialects.bindings.forms.data.kinds import (
        VERSION,
        schema,
        sets_from_data,
        sets_from_document,
        site_from_document,
        to_data,
    )
    from nodeattrs.dialects.bindings.forms.language.reading import (
        parse_expression,
        parse_items,
        parse_sets,
        parse_site,
    )
    from nodeattrs.dialects.bindings.injector import Filled, Handle, Injector, extended_run_list, fill_parameters
    from nodeattrs.dialects.bindings.model.faults import (
        BindingError,
        BindingErrors,
        LookupLoop,
        NotBound,
        TypeMismatch,
        kinds_of,
    )
    from nodeattrs.dialects.bindings.model.items import BindingSet
    from nodeattrs.dialects.bindings.model.producers import Producer
    from nodeattrs.dialects.bindings.model.sites import Environment, Inventory, Site, environment_of, layer_references
    from nodeattrs.dialects.bindings.model.state import Objects, State, effective_categories
    from nodeattrs.dialects.bindings.model.types import (
        Asked,
        Classes,
        Type,
        map_key,
        parameter_key,
        parse_type,
        variable_key,
    )
    from nodeattrs.dialects.bindings.production.filling import named
    from nodeattrs.dialects.bindings.resolution import Layer

__all__ = [
    "PROVIDERS",
    "VERSION",
    "Asked",
    "BindingError",
    "BindingErrors",
    "BindingSet",
    "Bindings",
    "Block",
    "Classes",
    "Composition",
    "Edge",
    "Environment",
    "Explanation",
    "Filled",
    "Graph",
    "Handle",
    "Injector",
    "Inventory",
    "Layer",
    "LookupLoop",
    "NotBound",
    "Objects",
    "Producer",
    "Provider",
    "Reference",
    "Request",
    "Site",
    "State",
    "Type",
    "TypeMismatch",
    "effective_categories",
    "environment_of",
    "extended_run_list",
    "fill_parameters",
    "kinds_of",
    "layer_references",
    "map_key",
    "named",
    "parameter_key",
    "parse_expression",
    "parse_items",
    "parse_sets",
    "parse_site",
    "parse_type",
    "read_sets",
    "schema",
    "sets_from_data",
    "sets_from_document",
    "site_from_document",
    "to_data",
    "variable_key",
]

_HOMES = {
    "composition": "Composition PROVIDERS Provider Request read_sets",
    "explain": "Edge Explanation Graph",
    "forms.builder": "Bindings Block",
    "forms.data.kinds": "VERSION schema sets_from_data sets_from_document site_from_document to_data",
    "forms.language.reading": "parse_expression parse_items parse_sets parse_site",
    "injector": "Filled Handle Injector extended_run_list fill_parameters",
    "model.faults": "BindingError BindingErrors LookupLoop NotBound TypeMismatch kinds_of",
    "model.items": "BindingSet",
    "model.producers": "Producer",
    "model.sites": "Environment Inventory Site environment_of layer_references",
    "model.state": "Objects State effective_categories",
    "model.types": "Asked Classes Type map_key parameter_key parse_type variable_key",
    "production.filling": "named",
    "resolution": "Layer",
}

__getattr__ = imported(
    __name__,
    {name: home for home, names in _HOMES.items() for name in names.split()},
    below="nodeattrs.dialects.bindings",
)

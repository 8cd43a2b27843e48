"""Parameters that come from an instance, a query or another producer: each becomes a declaration.

Which parameter fills which is set by a map; all maps are known by now. The values are read
when somebody injects.
"""

from __future__ import annotations

from collections.abc import Mapping

from nodeattrs.adapters.bindings.model.items import Parameters, is_parameter_map
from nodeattrs.adapters.bindings.model.keys import map_key, parameter_key
from nodeattrs.adapters.bindings.model.objects import Objects
from nodeattrs.adapters.bindings.model.producers import Constant, Producing, Ref
from nodeattrs.adapters.bindings.model.queries import Attribute, Query
from nodeattrs.adapters.bindings.model.types import ANY, Type
from nodeattrs.adapters.bindings.resolution.applying import Applied
from nodeattrs.adapters.bindings.resolution.declarations import Declaration

_Bound = tuple[Parameters, Declaration]
"""Parameters with a source, and the position they are bound at."""


def declare_parameters(applied: Applied, objects: Objects) -> None:
    """Declare each parameter that a source gives; two sources of one type at the best position are a fault."""
    for (target, source), several in _by_source(applied).items():
        top = max(at.position for _, at in several)
        tied = [at for _, at in several if at.position == top]
        if len(tied) > 1 and isinstance(_source_type(several[0][0].to), Type):
            applied.fault("type-already-bound", f"{source} already gives the parameters of {target}", tied)
            continue
        for item, at in several:
            _from_source(applied, item, at, objects)


def _by_source(applied: Applied) -> dict[tuple[str, str], list[_Bound]]:
    found: dict[tuple[str, str], list[_Bound]] = {}
    for item, at in applied.sources:
        if item.to is None or item.abstract or not is_parameter_map(item.options.get("map", {})):
            continue  # a fault that was reported
        if isinstance(item.to, Constant):
            applied.fault(
                "type-mismatch", f"the parameters of {item.target} are bound to {item.to.describe()}", [at],
                hint="give a hash, an instance, a query or a producer",
            )  # fmt: skip
            continue
        found.setdefault((str(item.target), str(_source_type(item.to))), []).append((item, at))
    return found


def _from_source(applied: Applied, item: Parameters, at: Declaration, objects: Objects) -> None:
    assert item.to is not None
    names = _names(applied, item, at, objects)
    if not names:
        applied.fault(
            "map-required", f"{item.to.describe()} and {item.target} have no parameter name in common", [at],
            hint=f"say which fills which: {{ map => {{ name_in_{item.target.name.lower()} => name }} }}",
        )  # fmt: skip
    for left, right in names.items():
        one = applied.declare(item, at, parameter_key(item.target, left), ANY)
        one.producer = Attribute(item.to, right, item.options.get("select_result"), item.optional)


def _names(applied: Applied, item: Parameters, at: Declaration, objects: Objects) -> dict[str, str]:
    """Which parameter of the target is filled by which one of the source."""
    own = item.options.get("map")
    source = _source_type(item.to)
    left = item.target if item.target.name == "Class" else Type(item.target.name)
    mapped = _map(applied, left, source) if isinstance(source, Type) else None
    if mapped is not None and (own is None or mapped.position > at.position):
        assert isinstance(mapped.producer, Constant)
        return dict(mapped.producer.value)
    if own is not None:
        return dict(own) if isinstance(own, Mapping) else {name: name for name in own}
    if not isinstance(source, Type):
        return {}
    right = objects.parameters(str(source)) or []
    wanted = right if left == source else objects.parameters(str(left)) or []
    return {name: name for name in wanted if name in right}


def _map(applied: Applied, left: Type, right: Type) -> Declaration | None:
    declared = applied.declared.get(("Data", map_key(left, right)))
    # Two at one position are a conflict, which is reported when the winner is chosen.
    return max(declared, key=lambda one: one.position) if declared else None


def _source_type(of: Producing | None) -> Type | int:
    """The type that gives parameters; a number for producers whose type nobody knows before they are asked."""
    if isinstance(of, Ref):
        return Type(of.type.name) if of.is_instance else of.type
    return of.type if isinstance(of, Query) else id(of)

"""Rebinding: what lies below is bound again, under another name, moved there, or lifted here."""

from __future__ import annotations

from typing import Any

from nodeattrs.adapters.bindings.model.items import Rebinding
from nodeattrs.adapters.bindings.resolution.applying import Applied
from nodeattrs.adapters.bindings.resolution.declarations import Declaration, standing


def bind_again(applied: Applied) -> None:
    """Bind again what was asked to be, from the lowest position up, in the order of names at one position."""
    for item, at in sorted(applied.rebindings, key=lambda pair: (pair[1].position, *map(str, _sides(pair[0])))):
        below = [one for one in applied.declared.get(item.key.key, ()) if one.position < at.position]
        if not below:
            hint = applied.near_misses(item.key.key)
            applied.fault("rebind-missing", f"{item.verb} of {item.key}: nothing below binds it", [at], hint=hint)
            continue
        below.sort(key=lambda one: one.position, reverse=True)
        tied = standing(below)
        if len(tied) > 1:
            applied.fault("conflict", f"{item.verb} of {item.key}: what lies below is not decided", [at, *tied])
            continue
        one = _bound_again(item, at, tied[0], below)
        applied.declared[item.target.key].append(one)
        if item.verb == "renamed":
            _take_away(applied, item, below)


def _sides(item: Rebinding) -> tuple[Any, Any, str]:
    return item.key, item.target, item.verb


def _bound_again(item: Rebinding, at: Declaration, source: Declaration, below: list[Declaration]) -> Declaration:
    target = item.target
    one = Declaration(item, at.place, at.position[1], at.mask, target.key, target.type or source.type)
    one.name = target.name or ""
    one.abstract = item.abstract or source.abstract
    one.final = item.final  # override says nothing new: what is bound again exists
    one.optional = source.optional
    if not one.abstract:
        one.source = source
        one.lower = tuple(other for other in below if other.position < source.position)
    return one


def _take_away(applied: Applied, item: Rebinding, moved: list[Declaration]) -> None:
    gone = {id(one) for one in moved}
    applied.declared[item.key.key] = [one for one in applied.declared[item.key.key] if id(one) not in gone]

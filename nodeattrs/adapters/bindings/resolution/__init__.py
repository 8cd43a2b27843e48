"""Which declaration decides each key, and everything that is wrong with a composition.

A declaration stands at a position: its layer, then the categories that make it apply.
The best position of a key wins; the order in which things are declared never matters.
All faults of all keys are collected before any is raised. It produces no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from nodeattrs.adapters.bindings.model.items import BindingSet, Parameters, When, hash_of
from nodeattrs.adapters.bindings.model.state import Objects, State
from nodeattrs.adapters.bindings.resolution.applying import Applied, bind_again, check_ids, choose, declare_parameters
from nodeattrs.adapters.bindings.resolution.declarations import Layer, Resolution


def resolve(layers: Iterable[Layer], state: State, objects: Objects) -> Resolution:
    """Decide which declaration counts for each key.

    layers: highest first
    cost:   linear in the number of bindings
    source: docs/bindings.md, "Who wins"
    """
    applied = Applied(state)
    applied.take(list(layers))
    declare_parameters(applied, objects)
    bind_again(applied)
    choose(applied)
    check_ids(applied)
    return applied.resolution


class Resolutions:
    """What the same layers come to, by the conditions in them that hold: for the nodes of one site.

    Where something is wrong, or only warned of, each node has its own, since messages name its categories; so has it
    where parameters come from instances, which others may add to.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[tuple[Layer, ...], Resolution]] = {}
        self._asked: dict[int, tuple[BindingSet, tuple[Conditions, ...] | None]] = {}

    def of(self, layers: tuple[Layer, ...], state: State, objects: Objects) -> Resolution:
        """As `resolve`. cost: a look at each condition, where a node had the same ones before"""
        asked = [self._conditions(one) for layer in layers for one in layer.sets]
        if None in asked:
            return resolve(layers, state, objects)
        held = (state.mask(one) for conditions in asked for one in conditions or ())
        places = ((layer.name, id(layer.origin), *map(id, layer.sets)) for layer in layers)
        key = (state.mode, *state.names(), *state.listed_at.items(), *places, *held)
        known = self._known.get(key)
        if known is None:
            found = resolve(layers, state, objects)
            if found.faults or found.warnings:
                return found
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = layers, found  # kept, so that nobody else has their ids
        return replace(known[1], state=state)

    def _conditions(self, of: BindingSet) -> tuple[Conditions, ...] | None:
        """All conditions of a set; None where instances have a say in it."""
        known = self._asked.get(id(of))
        if known is None:
            items = [*of.every()]
            alone = all(type(one) is not Parameters or hash_of(one) is not None for one in items)
            found = tuple(_each(items)) if alone else None
            if len(self._asked) >= _MOST:
                self._asked.clear()
            known = self._asked[id(of)] = of, found
        return known[1]


Conditions = tuple[tuple[str, str], ...]
_MOST = 256


def _each(items: Iterable[Any]) -> Iterator[Conditions]:
    for item in items:
        yield from item.alternatives if type(item) is When else ()

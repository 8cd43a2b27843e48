"""Which declaration decides each key, and everything that is wrong with a composition.

A declaration stands at a position: its layer, then the categories that make it apply.
The best position of a key wins; the order in which things are declared never matters.
All faults of all keys are collected before any is raised. It produces no value.
"""

from __future__ import annotations

from collections.abc import Iterable

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

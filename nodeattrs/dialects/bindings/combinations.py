"""Every combination of categories that some bindings distinguish, and what is wrong in each.

A conflict that only one node meets is found before that node is. It reads no node: the conditions say what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import When
from nodeattrs.dialects.bindings.model.state import State
from nodeattrs.dialects.bindings.resolution import Layer

MOST = 5_000


class Wrong(NamedTuple):
    """Something that is wrong, and for whom first: "role web + rack r7".

    is_warning: whether it is only doubtful
    """

    error: BindingError
    who: str
    is_warning: bool = False


def named_values(layers: Sequence[Layer], state: State) -> dict[str, list[str | None]]:
    """The values of each category that conditions name, and one that none of them names (None)."""
    found: dict[str, dict[str | None, None]] = {}
    for layer in layers:
        for one in layer.sets:
            for item in one.every():
                for alternative in item.alternatives if isinstance(item, When) else ():
                    for name, value in alternative:
                        if name in state.names():
                            found.setdefault(name, {None: None})[str(value).lower()] = None
    return {name: list(found[name]) for name in state.names() if name in found}


def count_of(layers: Sequence[Layer], state: State) -> int:
    """How many combinations there are."""
    return prod(len(values) for values in named_values(layers, state).values())


def states_of(layers: Sequence[Layer], state: State, most: int = MOST) -> Iterator[State]:
    """A state for each combination, the first *most* of them; a category that no condition names has no value."""
    values = named_values(layers, state)
    for chosen in islice(product(*values.values()), most):
        given = dict(zip(values, chosen, strict=True))
        listed = [(name, given.get(name)) for name in state.names()]
        yield State(listed, state.variables, mode=state.mode, listed_at=state.listed_at)


def wrongs_of(injector: Injector, who: str) -> Iterator[Wrong]:
    """Everything that is wrong or doubtful in an injector, which may be a lenient one."""
    yield from (Wrong(error, who) for error in (*injector.faults, *injector.check()))
    yield from (Wrong(warning, who, True) for warning in injector.warnings)


def title_of(state: State) -> str:
    """The categories of a state in words."""
    return " + ".join(f"{name} {value}" for name, value in state.categories if value is not None) or "common"

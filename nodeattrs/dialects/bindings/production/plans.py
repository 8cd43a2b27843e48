"""Making the same objects again without asking what they are made of: for scopes that are opened often.

What was made once is known to be bound, to fit and to need nothing twice; so for a class and what its constructor
needs one function is put together that makes all of it. Whatever is not that simple is asked for as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.dialects.bindings.model.producers import Instance
from nodeattrs.dialects.bindings.model.types import Asked, is_protocol
from nodeattrs.dialects.bindings.production.bound import Bound
from nodeattrs.dialects.bindings.production.filling import Slot
from nodeattrs.dialects.bindings.resolution import Declaration

Make = Callable[[Any], Any]
"""A function from a scope to a product."""


class Planner:
    """Finds how products can be made by one call. ask: gives the value of a key"""

    def __init__(self, bound: Bound, ask: Callable[[Asked], Any]) -> None:
        self._bound = bound
        self._ask = ask
        self._made: dict[int, Make | None] = {}

    def of(self, root: Declaration) -> Make | None:
        """A function that makes the product of a declaration; None where only the usual way is possible.

        cost: one visit for each class that it needs
        """
        if id(root) not in self._made:
            self._made[id(root)] = None  # a key that needs itself is made in the usual way, which reports it
            self._made[id(root)] = self._constructing(root)
        return self._made[id(root)]

    def _constructing(self, root: Declaration) -> Make | None:
        """A function that calls the class of a declaration with its parameters; None where no call is planned."""
        known = self._class_of(root)
        if known is None:
            return None
        every = self._bound.slots(known)
        asked = tuple(slot for slot in every if self._bound.is_asked(slot))
        if every[: len(asked)] != asked or any(slot.way == "by name" for slot in asked):
            return None  # all that stand before the last one have to be given by their position
        gets = [self._getting(slot) for slot in asked]
        return lambda scope: known(*[get(scope) for get in gets])

    def _class_of(self, root: Declaration) -> type | None:
        """The class of a declaration that gives an object of the class without further checks; None for others."""
        producer, classes = root.producer, self._bound.register
        if (
            not isinstance(producer, Instance)
            or root.optional
            or {*root.options} - {"scope"}
            or root.type.name != "Type"
        ):
            return None
        calling, bound = producer.calls(classes), classes.find(root.type.title)
        known = calling[0] if calling is not None and calling[1:] == ((), {}) else None
        if not isinstance(known, type) or hasattr(known, "__inject__") or bound is None or is_protocol(bound):
            return None
        return known if issubclass(known, bound) else None

    def _getting(self, slot: Slot) -> Make:
        """A function that gives the value of a parameter: a kept product, a planned one, or an ordinary question."""
        wanted, bound = slot.wanted, self._bound
        assert wanted is not None
        declared = None if bound.is_given(wanted) else bound.declaration_or_class(wanted)
        if declared is None or declared.source is not None:
            return lambda scope: scope.ask(wanted)
        if not declared.scope and not declared.optional:
            product = self._ask(wanted)
            return lambda scope: product
        make = self.of(declared)
        if make is None:
            return lambda scope: scope.ask(wanted)
        return make if declared.scope == "none" else _keeping(id(declared), declared.scope, make, wanted)


def _keeping(number: int, name: str, make: Make, wanted: Asked) -> Make:
    """A function that gives the product that a scope keeps, or makes and keeps it."""

    def get(scope: Any) -> Any:
        kept = scope.kept
        if number in kept:
            return kept[number]
        if scope.scope_name != name:
            return scope.ask(wanted)
        made = kept[number] = make(scope)
        return made

    return get

"""What can never be made, found before anybody asks: by the constants, annotations and types of what is bound.

Nothing is produced for it. What may still turn out well, such as a key that a further layer may bind, is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from nodeattrs.adapters.bindings.codes import ABSTRACT_CLASS, NO_PRODUCER, TYPE_MISMATCH, UNFILLED
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.producers import Calling, Constant, Named, Producing
from nodeattrs.adapters.bindings.model.protocols import is_abstract
from nodeattrs.adapters.bindings.model.types import Type, parse_type
from nodeattrs.adapters.bindings.production.bound import CONCRETE, Bound
from nodeattrs.adapters.bindings.production.filling import name_of, not_given, returned
from nodeattrs.adapters.bindings.resolution import Declaration


def early_faults(bound: Bound) -> Iterator[BindingError]:
    """Everything that is wrong with the producers of what counts. cost: linear in the declarations"""
    for winner in bound.resolution.winners.values():
        root = winner.root
        if winner.is_multibind:
            continue
        if root.producer is None:
            yield bound.about(winner, NO_PRODUCER, f"{winner.words} is bound to nothing")
        elif not isinstance(root.producer, Constant):
            yield from _of_producer(bound, root, root.producer)
        elif "transformer" not in root.options:
            yield from _of_constant(bound, winner, root.producer.value)
    for several in bound.resolution.fragments.values():
        for one in several:
            if one.producer is not None and not isinstance(one.producer, Constant):
                yield from _of_producer(bound, one, one.producer)


def _of_constant(bound: Bound, winner: Declaration, value: object) -> Iterator[BindingError]:
    for of in (winner.root.type, winner.type, *winner.demands):
        if value is not None and not of.holds(value, bound.register):
            yield bound.mismatch(winner, value, of)
            return


def _of_producer(bound: Bound, one: Declaration, producer: Producing) -> Iterator[BindingError]:
    calling = producer.calls(bound.register)
    if calling is not None:
        yield from _of_call(bound, one, calling)
    gives = _type_given(bound, producer, calling)
    if gives is not None and "transformer" not in one.options and one.type.excludes(gives, bound.register):
        yield bound.about(one, TYPE_MISMATCH, f"{one.short} is {one.type}, and {producer.describe()} gives {gives}")


def _of_call(bound: Bound, one: Declaration, calling: Calling) -> Iterator[BindingError]:
    call, args, named = calling
    if not isinstance(call, type):
        for slot in not_given(bound.slots(call), args, named):
            if slot.is_required and slot.wanted is None and slot.way != "by name":
                lacks = bound.unfilled([one.short, name_of(call)], slot)
                yield bound.about(one, UNFILLED, lacks.message, lacks.hint)
    elif is_abstract(call) and not hasattr(call, "__inject__"):
        what = f"{one.short} is bound to {call.__name__}, of which nothing can be made"
        yield bound.about(one, ABSTRACT_CLASS, what, CONCRETE)


def _type_given(bound: Bound, producer: Producing, calling: Calling | None) -> Type | None:
    """The type that a producer says it gives: by its annotation, or as `Type[Producer[String]]`."""
    if isinstance(producer, Named):
        declared = bound.declaration(next(producer.asks()))
        inner = declared.type.args[0] if declared is not None and declared.type.args else None
        return parse_type(str(inner.args[0])) if isinstance(inner, Type) and inner.args else None
    return None if calling is None else returned(producer.gives(calling[0]), bound.register)

"""The bindings for a state: the declaration of a key, the keys that it needs, and the errors about missing keys.

A *slot* is a parameter of a callable that may be filled (`filling`). A class without a binding is treated as bound if
each of its slots can be filled. No value is made here: `maker.ValueMaker` extends `Bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import local
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.tree import near
from nodeattrs.dialects.bindings.codes import ABSTRACT_CLASS, LOOKUP_LOOP, MISSING, NO_PRODUCER, TYPE_MISMATCH, UNFILLED
from nodeattrs.dialects.bindings.model.expressions import injected_names, variables_of
from nodeattrs.dialects.bindings.model.faults import BindingError, LookupLoop, NotBound, TypeMismatch, value_in_words
from nodeattrs.dialects.bindings.model.items import Bind
from nodeattrs.dialects.bindings.model.producers import (
    PRODUCER,
    Calling,
    ComputedProducer,
    Constant,
    CustomProducer,
    Instance,
    NamedProducer,
    ProducerBase,
)
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import Asked, Classes, Key, Type, is_abstract, parse_type, variable_key
from nodeattrs.dialects.bindings.production.filling import Slot, name_of, not_given, place_of, returned, slots_of
from nodeattrs.dialects.bindings.production.scopes import Replay
from nodeattrs.dialects.bindings.resolution import Declaration, DeclarationPlace, Layer, Resolution, resolve

_PRODUCERS = "Type[Producer["


class _CurrentProducts(local):
    """The products that the current thread is making; each thread has its own values.

    chain:  the declarations whose products are being made, the outermost first
    replay: the products of earlier tries, while an asynchronous injection is tried; else None
    """

    def __init__(self) -> None:
        self.chain: list[Declaration] = []
        self.replay: Replay | None = None


class Bound:
    """The declarations of layers for a state, the keys that they need, and errors about keys.

    The constructor resolves the layers. It raises no faults: they are in `resolution.faults`. `declaration` finds the
    declaration of a key, and returns None for a key that is not bound. `needs` yields the keys that a declaration looks
    up. `slots` gives the parameters of a callable. `declaration_or_class` also finds a class that can be made without
    a binding. `is_looked_up` says whether a slot is looked up. `unfilled`, `not_bound`, `mismatch` and `about` return
    errors for the caller to raise, and `hint` a hint or None.
    layers:   the layers, the highest first
    state:    the categories of the request
    register: the classes that `Type[X]` names
    objects:  the instances that parameters and queries read
    """

    def __init__(
        self,
        layers: tuple[Layer, ...],
        state: State,
        register: Classes,
        objects: Objects,
    ) -> None:
        self.layers = layers
        self.state = state
        self.register = register
        self.objects = objects
        self.resolution: Resolution = resolve(layers, state, objects)
        self._making = _CurrentProducts()
        self._slots: dict[Any, tuple[Slot, ...]] = {}
        self._unbound: dict[type, Declaration] = {}
        self._given: dict[Key, Any] = {}

    def declaration(self, wanted: Asked) -> Declaration | None:
        """The declaration that decides a key; None where the key is not bound.

        If `Type[Producer]` with a name is not bound, the first bound `Type[Producer[X]]` with the same name counts.
        """
        found = self.resolution.winners.get(wanted.key)
        if found is None and wanted.type == PRODUCER:
            named = (key for key in self.resolution.winners if key[1] == wanted.name and key[0].startswith(_PRODUCERS))
            return self.resolution.winners.get(next(named, wanted.key))
        return found

    def declaration_or_class(self, wanted: Asked) -> Declaration | None:
        """The declaration that decides a key. For an unbound class whose slots can be filled, a declaration that makes
        it; else None."""
        return self.declaration(wanted) or self._of_unbound_class(wanted)

    def needs(self, one: Declaration) -> Iterator[Asked]:
        """Yield the keys that a declaration looks up, as far as they are known before its product is made.

        They come from variables, look-ups, parameters, and calls of `inject` with a literal name. A key may come twice.
        """
        producer = one.root.producer
        if isinstance(producer, ComputedProducer):
            for name in dict.fromkeys(variables_of(producer.expression)):
                key = self._key_of_variable(name)
                if key is not None:
                    yield key
            yield from (Asked(None, name) for name in injected_names(producer.expression))
        elif producer is not None:
            yield from producer.asks()
            calling = producer.calls(self.register)
            if calling is not None:
                call, args, named = calling
                for slot in not_given(self.slots(call), args, named):
                    if slot.wanted is not None and self.is_looked_up(slot):
                        yield slot.wanted

    def _key_of_variable(self, name: str) -> Asked | None:
        """The key of a variable: bound as a variable, else by its name; None for a variable of the state."""
        if self.declaration(bound := Asked(None, variable_key(name))) is not None:
            return bound
        if name in self.state.variables or self.state.value(name) is not None:
            return None
        return Asked(None, name)

    def slots(self, call: Callable[..., Any]) -> tuple[Slot, ...]:
        """The parameters of a callable, cached. raises: BindingError ("bad-type", "ambiguous-class")"""
        found = self._slots.get(call)
        if found is None:
            found = self._slots[call] = slots_of(call, self.register)
        return found

    def is_looked_up(self, slot: Slot) -> bool:
        """Whether a parameter is looked up: a required one with a key, or another one whose key is bound or given."""
        wanted = slot.wanted
        if wanted is None:
            return False
        return slot.is_required or wanted.key in self._given or self.declaration(wanted) is not None

    def _of_unbound_class(self, wanted: Asked) -> Declaration | None:
        """The declaration that makes an unbound class; None where the key is no such class, or cannot be filled."""
        known = self._class_of(wanted)
        if known is None or wanted.type is None or not self._is_fillable(known):
            return None
        found = self._unbound.get(known)
        if found is None:
            item = Bind(origin=place_of(known), type=wanted.type, to=Instance(wanted.type.title))
            found = Declaration(item, NO_PLACE, wanted.key, wanted.type, item.to)
            found = self._unbound.setdefault(known, found)
        return found

    def _class_of(self, wanted: Asked | None) -> type | None:
        """The class of a key `Type[X]` without a name; None for other keys, and for an unknown class."""
        if wanted is None or wanted.type is None or wanted.name is not None or wanted.type.name != "Type":
            return None
        return self.register.find(wanted.type.title)

    def _is_fillable(self, known: type) -> bool:
        """Whether each parameter of the constructor has a key, a default, or may be None."""
        if is_abstract(known) or known.__module__ == "builtins":
            return False
        if known in self._unbound or hasattr(known, "__inject__"):
            return True
        return not any(slot.is_required and slot.wanted is None for slot in self.slots(known))

    # --- saying what is wrong ------------------------------------------------------------------------

    def _loop(self, chain: list[Declaration]) -> LookupLoop:
        keys = [one.words for one in chain]
        return LookupLoop(
            LOOKUP_LOOP, f"{keys[0]} needs itself: {' -> '.join(keys)}", origins=[one.origin for one in chain],
            details=[self._standing(one) for one in chain[:-1]],
        )  # fmt: skip

    def _standing(self, one: Declaration) -> str:
        """The line of an error for a declaration; for an unbound class the place of the class."""
        if one.place is NO_PLACE:
            return f"{one.label}: {one.origin}; it is not bound"
        return self.resolution.described(one)

    def unfilled(self, links: list[str], slot: Slot) -> NotBound:
        """The error for a parameter without a value: "Web needs Repo needs db_url: not bound".

        links: what needs the parameter, the outermost first; unbound classes on the way are added
        """
        chain, seen = self._making.chain, list(links)
        while (inner := self._missing_parameter(slot.wanted)) is not None and slot.label not in seen:
            seen.append(slot.label)
            slot = inner
        why, hint = self._why_missing(slot)
        return NotBound(
            MISSING, f"{chained([*seen, slot.label])}: {why}", origins=[one.origin for one in reversed(chain)],
            details=[self._standing(one) for one in reversed(chain)], hint=hint,
        )  # fmt: skip

    def _why_missing(self, slot: Slot) -> tuple[str, str | None]:
        """The reason why a parameter has no value, and the way out."""
        if slot.wanted is None:
            return "its annotation says no key", f'Annotated[..., named("{slot.name}")], or give it with the binding'
        if (declared := self.declaration(slot.wanted)) is not None:
            return f"bound at {declared.origin}, and nothing was produced", None
        close, hint = self._nearest(slot.wanted)
        nearest = " or ".join(f"{name} ({place})" if place else name for name, place in close.items())
        return f"not bound; nearest: {nearest}" if close else "not bound", hint

    def _missing_parameter(self, wanted: Asked | None) -> Slot | None:
        """The first required parameter without a key of an unbound class; None for any other key."""
        if wanted is None or self.declaration(wanted) is not None:
            return None  # a class that is bound is not loaded for an error
        known = self._class_of(wanted)
        if known is None or is_abstract(known):
            return None
        return next((one for one in self.slots(known) if one.is_required and one.wanted is None), None)

    def not_bound(self, wanted: Asked) -> BindingError:
        """The error for a key without a value, for the caller to raise: the fault of its declarations, or a `NotBound`
        with similar keys.
        """
        declared = self.declaration(wanted)
        for fault in self.resolution.faults if declared is None else ():
            if fault.key == wanted.key:
                return fault  # it is declared, and its declarations are faulty
        details = self._asked_by()
        if declared is not None:
            return NotBound(
                MISSING, f"{wanted} is bound, and nothing was produced", origins=(declared.origin,),
                details=[self.resolution.described(declared), *details],
            )  # fmt: skip
        if (lacking := self._missing_parameter(wanted)) is not None:
            return self.unfilled([wanted.label], lacking)
        return NotBound(MISSING, f"nothing is bound to {wanted}", details=details, hint=self.hint(wanted))

    def _asked_by(self, but: Declaration | None = None) -> list[str]:
        """One line with the keys that are being made now; [] for none."""
        chain = [one.words for one in self._making.chain if one.key and one is not but]
        return [f"asked for by {' -> '.join(chain)}"] if chain else []

    def hint(self, wanted: Asked) -> str | None:
        """The hint for a key that is not bound: a similar key, another type of the name, ...; None for none."""
        close, hint = self._nearest(wanted)
        return hint or (f"did you mean {', '.join(close)}?" if close else None)

    def _nearest(self, wanted: Asked) -> tuple[dict[str, str], str | None]:
        """Bound keys similar to an unbound one, each with its place, and a hint or None.

        Names of the library, which begin with a slash, are not suggested.
        """
        known: dict[str, str] = {}
        for (kind, name), one in self.resolution.winners.items():
            place = one.origin.place or ""
            if name and name == wanted.name and kind != wanted.key[0]:
                return {f"{name} as {kind}": place}, f"it is bound as {kind}, at {place}: ask for that type, too"
            if wanted.name is None and name and wanted.type is not None and kind == wanted.key[0]:
                way = f"ask for that name, too; of a parameter it is Annotated[..., named({name!r})]"
                return {name: place}, f"it is bound as {name!r}, at {place}: {way}"
            if wanted.name is None and kind.startswith("Type[") and not name:
                known[kind[5:-1]] = place
            elif wanted.name and name and not name.startswith("/"):
                known[name] = place
        if (variable := self.resolution.winners.get(("Data", variable_key(wanted.name or "")))) is not None:
            return {}, f"it is a variable, bound at {variable.origin.place}: ${wanted.name}"
        of = self._class_of(wanted)
        hint = CONCRETE if of is not None and is_abstract(of) else None
        return {name: known.get(name.strip('"'), "") for name in near(wanted.label, known)}, hint

    def mismatch(self, one: Declaration, value: Any, of: Type, what: str = "declared") -> TypeMismatch:
        """The error for a value that does not conform to a type of a declaration.

        what: the source of the type: "declared", "asked for"
        """
        is_class = isinstance(value, type) and of.name == "Type"
        return TypeMismatch(
            TYPE_MISMATCH, f"{one.words}: {value_in_words(value)} is no {of}, as {what}",
            origins=(one.origin,), details=(self.resolution.described(one), *self._asked_by(one)),
            hint=f"an object of the class is made by .to_class({value.__name__})" if is_class else None,
        )  # fmt: skip

    def about(self, one: Declaration, kind: Kind, message: str, hint: str | None = None) -> BindingError:
        """An error about one declaration, with its line; the caller raises it."""
        return BindingError(kind, message, origins=(one.origin,), details=(self.resolution.described(one),), hint=hint)


CONCRETE = "bind it to a class that has all of its methods: .to_class(...)"
NO_PLACE = DeclarationPlace(0, "made for its type", "")


def chained(links: list[str]) -> str:
    """Names as a chain for messages: "Web needs Repo needs db_url"."""
    return " needs ".join(links)


def early_faults(bound: Bound) -> Iterator[BindingError]:
    """Yield the errors of declarations that are certain without making a value; nothing if all are correct.

    They are a missing producer, a constant of a wrong type, an abstract class, and a required parameter without a key.
    Another one is a return annotation that contradicts the declared type.
    cost: linear in the declarations
    """
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
    """The error of a constant that does not conform to a declared or demanded type."""
    for of in (winner.root.type, winner.type, *winner.demands):
        if value is not None and not of.holds(value, bound.register):
            yield bound.mismatch(winner, value, of)
            return


def _of_producer(bound: Bound, one: Declaration, producer: ProducerBase) -> Iterator[BindingError]:
    """The errors of a producer: its call, and a type that contradicts the declared one."""
    calling = producer.calls(bound.register)
    if calling is not None:
        yield from _of_call(bound, one, calling)
    gives = _type_given(bound, producer, calling)
    if gives is not None and "transformer" not in one.options and one.type.excludes(gives, bound.register):
        yield bound.about(one, TYPE_MISMATCH, f"{one.label} is {one.type}, and {producer.describe()} gives {gives}")


def _of_call(bound: Bound, one: Declaration, calling: Calling) -> Iterator[BindingError]:
    """The errors of a call: an abstract class, or a required parameter without a key."""
    call, args, named = calling
    if not isinstance(call, type):
        for slot in not_given(bound.slots(call), args, named):
            if slot.is_required and slot.wanted is None and slot.way != "by name":
                lacks = bound.unfilled([one.label, name_of(call)], slot)
                yield bound.about(one, UNFILLED, lacks.message, lacks.hint)
    elif is_abstract(call) and not hasattr(call, "__inject__"):
        what = f"{one.label} is bound to {call.__name__}, which has no instances"
        yield bound.about(one, ABSTRACT_CLASS, what, CONCRETE)


def _type_given(bound: Bound, producer: ProducerBase, calling: Calling | None) -> Type | None:
    """The type of the products of a producer, by its annotation or `Type[Producer[String]]`; None for none."""
    if isinstance(producer, NamedProducer):
        declared = bound.declaration(next(producer.asks()))
        inner = declared.type.args[0] if declared is not None and declared.type.args else None
        return parse_type(str(inner.args[0])) if isinstance(inner, Type) and inner.args else None
    if calling is None:
        return None
    gives = getattr(calling[0], "produce", calling[0]) if isinstance(producer, CustomProducer) else calling[0]
    return returned(gives, bound.register)

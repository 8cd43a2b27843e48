"""The maker of values: it makes the value of each key when it is first needed, and keeps it.

A *product* is what the producer of a declaration gives. The product is kept by the maker of the scope that the
declaration names: the injector's own maker, or an inner one that `scoped` makes. The injector parses keys, and calls a
maker.
"""

from __future__ import annotations

import asyncio
import copy
from asyncio import Future
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from threading import RLock
from typing import Any, Self, TypeVar

from nodeattrs.core.borders import checked_args
from nodeattrs.core.tree import ABSENT, hint_for
from nodeattrs.dialects.bindings.codes import (
    ABSTRACT_CLASS,
    ARGUMENTS,
    BAD_OPTION,
    CONFLICT,
    EXPRESSION,
    MISSING,
    NEEDS_AWAIT,
    NO_PRODUCER,
    NOTHING_PRODUCED,
    SCOPE,
    TOO_DEEP,
    UNKNOWN_CLASS,
    UNKNOWN_VARIABLE,
)
from nodeattrs.dialects.bindings.model.faults import BindingError, LookupLoop
from nodeattrs.dialects.bindings.model.producers import ProducerBase, called
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import (
    CLASSES,
    Asked,
    Classes,
    Key,
    is_abstract,
    parse_type,
)
from nodeattrs.dialects.bindings.model.values import own_copy
from nodeattrs.dialects.bindings.production.bound import CONCRETE, Bound, chained
from nodeattrs.dialects.bindings.production.filling import Slot, name_of, not_given
from nodeattrs.dialects.bindings.production.multibinds import Collection, Fragment, collect, option_faults
from nodeattrs.dialects.bindings.production.scopes import OpenedContexts, PendingProduct, Replay, opening_of
from nodeattrs.dialects.bindings.resolution import (
    CLASS_IDS,
    Declaration,
    Layer,
    Position,
    best_ones,
)
from nodeattrs.puppet.references import Reference

_T = TypeVar("_T")
_NOTHING: Mapping[str, Any] = {}
_OWN: Key = ("Type[Injector]", "")
"""The injector itself: a parameter of its type gets the one that fills the parameter."""

ClassStatement = tuple[bool, str, Declaration]
"""(whether a class is excluded, its name without `::`, the declaration that states it)."""


class ValueMaker(Bound):
    """The maker of the values of keys, for an injector or for a scope. Producers get it as their `ProducerScope`.

    `value_of` returns the value of a key, or raises NotBound; `ask` returns None instead. Each product is made once for
    its scope, under a lock, and then read without the lock. `call`, `construct`, `once` and `variable` serve producers:
    they call a function, make an object, make a thing once, and return the value of a variable. `scoped` returns a
    maker for an inner scope. `collected` and `giver` say how the last value of a key was made, and `fragments_of` what
    a multibind collects. `classes` lists the classes of the key `/classes`, and `inclusions` what decides about them.
    `is_kept` says whether each further injection of a key gives the same object. `forget` drops all products.
    `transformed` returns a product after its transformer, or None. `awaited` repeats a call until all asynchronous
    products that it needs were awaited.
    kept:       the id of a declaration -> its product; also what `once` made
    opened:     the context managers that were entered for products
    scope_name: the name of the scope; "" for the maker of an injector
    layers, state, register, objects: the four fields of `Bound`
    functions:  name -> a function that expressions and options may name; `inject` is added
    injector:   the value of a parameter of the type Injector
    """

    def __init__(
        self,
        layers: tuple[Layer, ...],
        state: State,
        register: Classes,
        functions: Mapping[str, Callable[..., Any]],
        objects: Objects,
        injector: object,
    ) -> None:
        super().__init__(layers, state, register, objects)
        self._given[_OWN] = injector
        self.functions: Mapping[str, Callable[..., Any]] = {**functions, "inject": self._inject}
        self._lock = RLock()
        self.kept: dict[int, Any] = {}
        self._collected: dict[int, Collection] = {}
        self._givers: dict[int, Declaration] = {}
        self._tasks: dict[int, Future[Any]] = {}
        self.opened = OpenedContexts()
        self._outer: ValueMaker | None = None
        self.scope_name = ""

    # --- asking ------------------------------------------------------------------------------

    def value_of(self, wanted: Asked, args: Mapping[str, Any] = _NOTHING) -> Any:
        """The value of a key, made or kept.

        args:   arguments for its callable, by name; then the product is made anew, and not kept
        raises: NotBound, also where nothing is produced; TypeMismatch, LookupLoop, BindingError
        """
        value = self.ask(wanted, args)
        if value is None:
            raise self.not_bound(wanted)
        return value

    def classes(self) -> list[str]:
        """The classes of the key `/classes`: included, and not excluded at the same or a better position."""
        return [name for name, (excluded, _) in class_decisions(self.inclusions()).items() if not excluded]

    def inclusions(self) -> Iterator[ClassStatement]:
        """Yield (True for an exclude, class, declaration) for each statement in effect that includes or excludes one.

        Items come first, then fragments, whose products are made.
        raises: what a producer of a fragment raises
        """
        for item, at in self.resolution.inclusions:
            for name in item.names:
                yield item.exclude, name.removeprefix("::"), at
        for excluded, id in enumerate(CLASS_IDS):
            for fragment in self._made_fragments(id):
                value = fragment.value
                for name in value if isinstance(value, list) else [value]:
                    yield bool(excluded), str(name).removeprefix("::"), fragment.declaration

    # --- the scope of producers -------------------------------------------------------------------

    def once(self, thing: object, make: Callable[[], Any]) -> Any:
        """The result of *make*, called at the first question for *thing*; then the same result, also in scopes.

        *thing* counts by its identity. If *make* raises, the next question calls it again.
        """
        if self._outer is not None:
            return self._outer.once(thing, make)
        with self._lock:
            if id(thing) not in self.kept:
                self.kept[id(thing)] = make()
            return self.kept[id(thing)]

    def call(self, call: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """The result of a callable. Missing arguments are filled with the values of the keys in their annotations.

        A generator function gives a context manager, which is not entered here.
        args, named: the arguments that are known
        raises:      NotBound, BindingError ("arguments"); what the callable raises
        """
        ready, given = list(args), dict(named)
        for slot in not_given(self.slots(call), args, named):
            value = self._filled(call, slot)
            if value is ABSENT:
                continue
            if slot.way == "by position":
                ready.append(value)
            else:
                given[slot.name] = value
        return _called(call, tuple(ready), given)

    def _filled(self, call: Callable[..., Any], slot: Slot) -> Any:
        """The value of a parameter; ABSENT where the parameter keeps its own default. raises: NotBound"""
        if slot.wanted is not None and self.is_looked_up(slot):
            value = self.ask(slot.wanted)
            if value is not None:
                return value
        if slot.is_required:
            raise self.unfilled([one.label for one in self._making.chain] or [name_of(call)], slot)
        return None if slot.default is ABSENT else ABSENT

    def construct(self, of: str | type, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A new object of a class. Missing arguments of the constructor are filled, as `call` does it.

        If the class has a method `__inject__`, this is called instead, with the injector and the known arguments only.

        of:          a class, or the name of one
        args, named: the arguments that are known
        raises:      BindingError ("unknown-class", "abstract-class", "arguments"), NotBound, UnknownLayer
        """
        known = of if isinstance(of, type) else self.register.require(of)
        if known is None:
            raise BindingError(
                UNKNOWN_CLASS, f"no class is called {of}",
                hint=hint_for(of, self.register.names()) or f"pass classes={{{of!r}: ...}}",
            )  # fmt: skip
        if is_abstract(known):
            raise BindingError(ABSTRACT_CLASS, f"{of} is abstract: it has no instances", hint=CONCRETE)
        hook = getattr(known, "__inject__", None)
        if hook is None:
            return self.call(known, args, named)
        return _called(hook, (self._given[_OWN], *args), named, known.__name__)

    def _inject(self, *given: Any) -> Any:
        """The function `inject` of expressions: a name, a type, or both, and a hash of arguments.

        raises: BindingError ("expression"), for other arguments; as `value_of`
        """
        *key, args = given if given and isinstance(given[-1], dict) else (*given, {})
        if not 1 <= len(key) <= 2 or not all(isinstance(one, str) for one in key):
            raise BindingError(EXPRESSION, "inject takes a name, a type, or both", hint="inject(Integer, 'size')")
        typed, name = key if len(key) == 2 else (key[0], None) if isinstance(key[0], Reference) else (None, key[0])
        return self.value_of(Asked(None if typed is None else parse_type(typed), name), args)

    @checked_args(name=str)
    def variable(self, name: str) -> Any:
        """The value of a variable of the text language. A leading `::` of the name is ignored.

        If the name is a key that is bound, it is the value of that key alone. Else it is a copy of the variable or
        category in the state.
        raises: BindingError ("unknown-variable"), where none of these has it
        """
        plain = name.removeprefix("::")
        key = self._key_of_variable(plain)
        if key is None:
            known = self.state.variables
            return own_copy(known[plain] if plain in known else self.state.value(plain))
        found = self.ask(key)
        if found is None:
            raise BindingError(
                UNKNOWN_VARIABLE, f"the variable ${name} is not set",
                hint=f"bind variables to {{ {plain} => ... }}, or give it with the state",
            )  # fmt: skip
        return found

    # --- scopes ------------------------------------------------------------------------------------

    def scoped(self, name: str, given: Mapping[Key, Any], injector: object) -> Self:
        """A maker for a scope inside of this one: it keeps the products of that scope, and asks this one for others.

        given:    key -> a value that counts inside of the scope, before any declaration
        injector: the value of a parameter of the type Injector
        """
        inner = copy.copy(self)
        inner._lock, inner.opened = RLock(), OpenedContexts()
        inner.kept, inner._tasks = {}, {}
        inner._given = {**self._given, **given, _OWN: injector}
        inner.functions = {**self.functions, "inject": inner._inject}
        inner._outer, inner.scope_name = self, name
        return inner

    def forget(self) -> None:
        """Forget the products that this maker keeps; the next injection makes them anew. Nothing is closed."""
        self.kept.clear()
        self._tasks.clear()
        if self._outer is None:
            self._collected.clear()

    async def awaited(self, attempt: Callable[[], _T]) -> _T:
        """The result of *attempt*, which is called again after each asynchronous product that had to be awaited.

        Products of earlier calls are used again, also those that no scope keeps (`Replay`).
        cost: one call for each asynchronous product
        """
        replay = Replay()
        while True:
            replay.restart()
            self._making.replay = replay
            try:
                return attempt()
            except PendingProduct as waiting:
                missing = waiting
            finally:
                self._making.replay = None
            replay.add(missing.steps, await asyncio.shield(missing.task))

    # --- making ------------------------------------------------------------------------------------

    def giver(self, wanted: Asked) -> Declaration | None:
        """The declaration that gave a key its last value: the winner, or a lower one if an optional winner gave none.

        Before the first injection it is the winner. None if nothing is bound.
        """
        declared = self.declaration(wanted)
        return declared if declared is None else self._givers.get(id(declared), declared)

    def fragments_of(self, one: Declaration) -> list[Declaration]:
        """The fragments that a multibind collects, the highest layer first; [] for any other declaration."""
        id = one.root.id
        return [] if id is None else self.resolution.fragments.get(id, [])

    def collected(self, of: Declaration) -> Collection | None:
        """The last collection of a multibind; None before its first injection."""
        return self._collected.get(id(of.root))

    def ask(self, wanted: Asked, args: Mapping[str, Any] = _NOTHING) -> Any:
        """The value of a key, as `value_of`; but None if nothing is bound or produced.

        args:   arguments for its callable, by name; then the product is made anew, and not kept
        raises: TypeMismatch, LookupLoop, BindingError; NotBound, if a callable on the way needs a parameter without a
                value
        """
        if wanted.key in self._given:
            return self._given[wanted.key]
        declared = self.declaration_or_class(wanted)
        if declared is None:
            return self.classes() if wanted.key == ("Data", CLASSES) else None
        value = self._value(declared, args)
        if value is not None and wanted.type is not None and not wanted.type.holds(value, self.register):
            raise self.mismatch(declared, value, wanted.type, "asked for")
        return value

    def is_kept(self, wanted: Asked) -> bool:
        """Whether each further injection of a key gives the same object, since this or an outer maker keeps it.

        False before the first injection. An unbound key, and one that is bound as optional, is kept only if the scope
        was given its value.
        """
        declared = self.declaration_or_class(wanted)
        if declared is None or declared.optional:
            return wanted.key in self._given
        one: ValueMaker | None = self
        while one is not None and id(declared.root) not in one.kept:
            one = one._outer
        return one is not None

    def _value(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        """The value of a declaration. If it is optional and gives nothing: the value of a lower one, or None."""
        value = self._made(declared, args)
        if value is not None and declared.source is not None and not declared.type.holds(value, self.register):
            raise self.mismatch(declared, value, declared.type)
        if declared.optional:
            self._givers.pop(id(declared), None)
            if value is None:
                value = self._value_below(declared, args)
        return value

    def _value_below(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        """The value of the next lower declaration that gives one, which is noted as the giver; None for none."""
        for lower in self._lower_ones(declared):
            value = self._made(lower, args)
            if value is not None:
                self._givers[id(declared)] = lower
                return value
            if not lower.optional:
                break
        return None

    def _lower_ones(self, declared: Declaration) -> Iterator[Declaration]:
        """The lower declarations to ask after an optional one gave nothing. raises: BindingError, for a conflict"""
        below = list(declared.lower)
        if declared.source is None and declared.key is not None:
            several = self.resolution.declared[declared.key]
            below = [one for one in several if one.position < declared.position]
        while below:
            best = best_ones(below)
            if len(best) > 1:
                raise self.about(best[0], CONFLICT, f"{best[0].words} is bound twice below")
            if best[0].abstract:
                return
            yield best[0]
            below = [one for one in below if one.position < best[0].position]

    def _made(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        """The product of a declaration: kept, or made now. raises: LookupLoop, BindingError"""
        if args:
            with self._lock:
                return self._make(declared, args)
        root = declared.root
        kept = self.kept.get(id(root))
        if kept is not None:
            return kept
        home = self._keeper(root)
        if home is not self:
            return home._made(declared, args)
        with self._lock:
            product = self.kept.get(id(root))  # another thread may have made it
            if product is None:
                product = self._make(declared, args)
                if product is not None and root.scope != "none":
                    self.kept[id(root)] = product
            return product

    def _make(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        """A new product of a declaration, after its transformer. raises: LookupLoop, BindingError"""
        root, chain = declared.root, self._making.chain
        if root in chain:
            raise self._loop([*chain[chain.index(root) :], root])
        chain.append(root)
        try:
            return self.transformed(declared, self._product(root, args))
        except RecursionError as error:
            if isinstance(error, LookupLoop):
                raise
            raise BindingError(TOO_DEEP, f"the look-ups of {root.words} are too deep") from None
        finally:
            chain.pop()

    def _keeper(self, root: Declaration) -> ValueMaker:
        """The maker that keeps the product of a declaration. raises: BindingError ("scope"), for a closed scope"""
        wanted, one = root.scope, self
        while wanted != "none" and one.scope_name != wanted:
            if one._outer is None:
                needs = chained([one.label for one in (*self._making.chain, root)])
                raise self.about(
                    root, SCOPE, f"{needs}, which lives in the scope {wanted}, and none is open",
                    hint=f"with injector.scope({wanted!r}) as {wanted}: ...",
                )  # fmt: skip
            one = one._outer
        return one

    def _product(self, root: Declaration, args: Mapping[str, Any]) -> Any:
        """A new product of a declaration, or the collection of a multibind. raises: BindingError"""
        if args and (root.producer is None or not root.producer.takes_arguments):
            message = f"{root.describe()} takes no arguments, and {', '.join(args)} was given"
            raise self.about(root, ARGUMENTS, message)
        if root.is_multibind:
            fragments = list(self._made_fragments(root.id)) if root.id is not None else []
            collection = collect(root, fragments, self, self.resolution.unknown)
            self._collected[id(root)] = collection
            return collection.value
        if root.producer is None:
            raise self.about(root, NO_PRODUCER, f"{root.words} is bound to nothing")
        try:
            return self._produced(root, root.producer, args)
        except BindingError as error:
            if not error.origins:
                error.origins = (root.origin,)
                error.details = (*error.details, f"bound by {self.resolution.described(root)}")
            raise

    def _produced(self, root: Declaration, producer: ProducerBase, args: Mapping[str, Any]) -> Any:
        """The product of a producer, entered and awaited where necessary."""
        calling = producer.calls(self.register)
        _, enters, awaits = (None, False, False) if calling is None else opening_of(calling[0])
        replay = self._making.replay
        steps = tuple(map(id, self._making.chain))
        if awaits:
            if replay is None:
                raise BindingError(
                    NEEDS_AWAIT, f"{root.label} has to be awaited: {producer.describe()} is asynchronous",
                    hint="await injector.ainject(...)",
                )  # fmt: skip
            return replay.next(steps, lambda: self._started(root, producer, args, steps))
        enters = enters or bool(root.options.get("closing"))

        def make() -> Any:
            product = producer.produce(self, args)
            return self.opened.enter(product) if enters else product

        return make() if replay is None or root.scope != "none" else replay.next(steps, make)

    def _started(
        self, root: Declaration, producer: ProducerBase, args: Mapping[str, Any], steps: tuple[int, ...]
    ) -> Any:
        """Start an asynchronous product, once for all injections that need it. raises: PendingProduct, always"""
        task = self._tasks.get(id(root))
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            product = producer.produce(self, args)
            task = asyncio.ensure_future(self.opened.aenter(product) if hasattr(product, "__aenter__") else product)
            if root.scope != "none" and not args:
                self._tasks[id(root)] = task
        raise PendingProduct(steps, task)

    def transformed(self, declared: Declaration, product: Any) -> Any:
        """The product, changed by the transformer of the declaration that has the producer, if there is one.

        The transformer gets None, too.

        raises: TypeMismatch, if the result is not None and does not conform to a declared or demanded type;
                BindingError, if the transformer fails
        """
        root = declared.root
        value = product
        transformer = root.options.get("transformer")
        if transformer is not None:
            try:
                value = self._function(transformer, root)(value)
            except BindingError as error:
                raise self.about(root, error.kind, error.message) from error.__cause__
        if value is None:
            return None
        for of in (root.type, declared.type, *declared.demands):
            if not of.holds(value, self.register):
                raise self.mismatch(declared, value, of)
        return value

    def _function(self, given: Any, about: Declaration) -> Callable[..., Any]:
        """The function of an option. raises: BindingError ("bad-option"), for an unknown name"""
        found = called(given, self)
        if found is None:
            hint = hint_for(given, self.functions) or "pass functions={...}"
            raise self.about(about, BAD_OPTION, f"no function is called {given!r}", hint=hint)
        return found

    def _made_fragments(self, id: str) -> Iterator[Fragment]:
        """Yield the fragments of an id with their products; optional ones that give nothing are left out.

        raises: BindingError ("nothing-produced"), where another one gives nothing
        """
        for one in self.resolution.fragments.get(id, ()):
            value = self._made(one, _NOTHING)
            if value is not None:
                yield Fragment(one, value)
            elif not one.optional:
                raise self.about(
                    one, NOTHING_PRODUCED, f"a fragment of {id!r} has produced nothing", hint="is `optional` meant?"
                )


def _called(call: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any], name: str = "") -> Any:
    """The result of a callable. raises: BindingError ("arguments"), where the arguments do not fit its signature"""
    opened = opening_of(call)[0] if not isinstance(call, type) else call
    try:
        return opened(*args, **named)
    except TypeError as error:
        if not _is_wrong_call(call, args, named):
            raise
        raise BindingError(ARGUMENTS, f"{name or name_of(call)} cannot be made: {error}") from error


def _is_wrong_call(call: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether arguments do not fit the signature of a callable; False where the signature is not known."""
    try:
        signature(call).bind(*args, **named)
    except TypeError:
        return True
    except ValueError:
        return False
    return False


def class_decisions(inclusions: Iterable[ClassStatement]) -> dict[str, tuple[bool, Position]]:
    """Class -> (whether it is excluded, the position that decides this), for each class that is included somewhere.

    An exclude overrides includes at the same position and below. An include at a higher position wins.
    """
    included: dict[str, Position] = {}
    outside: dict[str, Position] = {}
    for is_excluded, name, at in inclusions:
        side = outside if is_excluded else included
        side[name] = max(side.get(name, at.position), at.position)
    found = {}
    for name, position in included.items():
        is_outside = name in outside and outside[name] >= position
        found[name] = (is_outside, outside[name] if is_outside else position)
    return found


def late_faults(maker: ValueMaker) -> Iterator[BindingError]:
    """Yield the errors that injections would end with: wrong options of multibinds, and look-ups of unbound keys.

    An unbound look-up of an optional declaration is no error. Nothing is made. The errors come sorted by key.
    """
    for _, winner in sorted(maker.resolution.winners.items()):
        if winner.is_multibind:
            yield from option_faults(winner, maker)
        for wanted in maker.needs(winner):
            if maker.declaration_or_class(wanted) is None and not winner.optional:
                message = f"{winner.words} looks up {wanted}, which nothing binds"
                yield maker.about(winner, MISSING, message, hint=maker.hint(wanted))

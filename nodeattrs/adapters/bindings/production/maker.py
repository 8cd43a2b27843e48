"""The maker: where values are made, each once, and the scope that producers ask.

It is handed layers and a state, asks the resolution which declaration counts for a key, and makes what
that one gives. It knows no builder and no report; who may ask it for what, and how a
question is spelled, is the injector's.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from nodeattrs.adapters.bindings.model.expressions import variables_of
from nodeattrs.adapters.bindings.model.faults import BindingError, LookupLoop, NotBound, TypeMismatch
from nodeattrs.adapters.bindings.model.producers import Computed, Producing, called
from nodeattrs.adapters.bindings.model.state import Objects, State
from nodeattrs.adapters.bindings.model.types import (
    CLASSES,
    Asked,
    Classes,
    Key,
    Type,
    spelled_key,
    variable_key,
)
from nodeattrs.adapters.bindings.production.multibinds import Collected, Fragment, collect
from nodeattrs.adapters.bindings.resolution import resolve
from nodeattrs.adapters.bindings.resolution.declarations import (
    CLASS_IDS,
    Declaration,
    Layer,
    Position,
    Resolution,
    standing,
)
from nodeattrs.core.borders import taking
from nodeattrs.core.tree import meant, near
from nodeattrs.puppet.references import Reference
from nodeattrs.typed import Any

_MISSING: Any = object()
_NOTHING: Mapping[str, Any] = {}

Read = tuple[Key, str, tuple[Reference, ...]]
"""A query that was asked: the key it was asked for, the query in words, and what it found."""

Inclusion = tuple[bool, str, Declaration]
"""Whether a class is excluded, its name, and who says so."""


class ValueMaker:
    """Makes the value of each key when it is first needed.

    One lock guards the making of values; what was made is read without it.
    cost: to build it, linear in the number of bindings
    """

    def __init__(
        self,
        layers: tuple[Layer, ...],
        state: State,
        register: Classes,
        functions: Mapping[str, Callable[..., Any]],
        objects: Objects,
    ) -> None:
        self.layers = layers
        self.state = state
        self.register = register
        self.functions = functions
        self.objects = objects
        self.resolution: Resolution = resolve(layers, state, objects)
        self._lock = threading.RLock()
        self._kept: dict[int, Any] = {}
        self._collected: dict[int, Collected] = {}
        self._making = threading.local()
        self._instead: dict[int, Declaration] = {}
        self._reads: dict[tuple[Key, str], Read] = {}

    # --- asking ------------------------------------------------------------------------------

    def value_of(self, wanted: Asked, args: Mapping[str, Any] = _NOTHING) -> Any:
        """The value of a key. raises: NotBound, TypeMismatch, LookupLoop, BindingError"""
        value = self._injected(wanted, args)
        if value is None:
            raise self._not_bound(wanted)
        return value

    def classes(self) -> list[str]:
        """The classes of the key `/classes`: included, and not excluded at the same or a better position."""
        return [name for name, (excluded, _) in decided(self.inclusions()).items() if not excluded]

    def inclusions(self) -> Iterator[Inclusion]:
        """Every include and exclude of a class that applies. raises: as a fragment's producer"""
        for item, at in self.resolution.inclusions:
            for name in item.names:
                yield item.exclude, name.removeprefix("::"), at
        for excluded, id in enumerate(CLASS_IDS):
            for fragment in self._fragments(id):
                value = fragment.value
                for name in value if isinstance(value, list) else [value]:
                    yield bool(excluded), str(name).removeprefix("::"), fragment.declaration

    @property
    def reads(self) -> list[Read]:
        """What queries have read so far."""
        return list(self._reads.values())

    def needs(self, one: Declaration) -> Iterator[Asked]:
        """The keys that a declaration looks up, as far as it can be known without producing anything."""
        producer = one.root.producer
        if isinstance(producer, Computed):
            for name in dict.fromkeys(variables_of(producer.expression)):
                key = self._key_of_variable(name)
                if key is not None:
                    yield key
        elif producer is not None:
            yield from producer.asks()

    def _key_of_variable(self, name: str) -> Asked | None:
        if self.declaration(bound := Asked(None, variable_key(name))) is not None:
            return bound
        if name in self.state.variables or self.state.value(name) is not None:
            return None
        return Asked(None, name)

    # --- the scope of producers -------------------------------------------------------------------

    def ask(self, wanted: Asked) -> Any:
        """The value of another key, or None. For producers."""
        return self._injected(wanted, _NOTHING)

    def once(self, thing: object, make: Callable[[], Any]) -> Any:
        """What *make* gives, made once for this thing. For producers."""
        kept = self._kept.get(id(thing), _MISSING)
        if kept is _MISSING:
            with self._lock:
                kept = self._kept.get(id(thing), _MISSING)
                if kept is _MISSING:
                    kept = self._kept[id(thing)] = make()
        return kept

    def construct(self, of: str | type, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A new object of a class: through its hook `__inject__(injector, ...)` where it has one."""
        known = of if isinstance(of, type) else self.register.find(of)
        if known is None:
            raise BindingError(
                "unknown-class", f"no class is called {of}",
                hint=meant(of, self.register.names()) or f"pass classes={{{of!r}: ...}}",
            )  # fmt: skip
        hook = getattr(known, "__inject__", None)
        try:
            return hook(self, *args, **named) if hook is not None else known(*args, **named)
        except TypeError as error:
            if not _is_wrong_call(hook or known, args, named, 1 if hook else 0):
                raise
            raise BindingError("arguments", f"{known.__name__} cannot be made: {error}") from error

    @taking(name=str)
    def variable(self, name: str) -> Any:
        """A variable of the text language: bound, of the state, a category, or a key of that name. For producers."""
        plain = name.removeprefix("::")
        key = self._key_of_variable(plain)
        if key is None:
            return self.state.variables.get(plain, self.state.value(plain))
        found = self._injected(key, _NOTHING)
        if found is None:
            raise BindingError(
                "unknown-variable", f"nobody knows the variable ${name}",
                hint=f"bind variables to {{ {plain} => ... }}, or give it with the state",
            )  # fmt: skip
        return found

    def record(self, query: Producing, found: Iterable[Reference]) -> None:
        """Note what a query has read. For producers."""
        chain = self._chain()
        key = chain[-1].key or ("", "") if chain else ("", "")
        words = query.describe()
        self._reads[key, words] = (key, words, tuple(found))

    # --- making ------------------------------------------------------------------------------------

    def declaration(self, wanted: Asked) -> Declaration | None:
        """The declaration that counts for a key; None where there is none."""
        return self.resolution.winners.get(wanted.key)

    def giver(self, wanted: Asked) -> Declaration | None:
        """Who gave the value when a key was last asked for: the winner, or the next one where that gave nothing."""
        declared = self.declaration(wanted)
        return declared if declared is None else self._instead.get(id(declared), declared)

    def fragments_of(self, one: Declaration) -> list[Declaration]:
        """The fragments that a multibind collects, in their order."""
        id = one.root.id
        return [] if id is None else self.resolution.fragments.get(id, [])

    def collected(self, of: Declaration) -> Collected | None:
        """What a multibind was collected from, once it was injected."""
        return self._collected.get(id(of.root))

    def _chain(self) -> list[Declaration]:
        chain: list[Declaration] | None = getattr(self._making, "chain", None)
        if chain is None:
            chain = self._making.chain = []
        return chain

    def _injected(self, wanted: Asked, args: Mapping[str, Any]) -> Any:
        declared = self.resolution.winners.get(wanted.key)
        if declared is None:
            if wanted.key == ("Data", CLASSES):
                return self.classes()
            return self._made_for_type(wanted, args)
        value = self._value(declared, args)
        if value is not None and wanted.type is not None and not wanted.type.holds(value, self.register):
            raise self._mismatch(declared, value, wanted.type, "asked for")
        return value

    def _stays(self, wanted: Asked) -> bool:
        """Whether every further injection gives the same object."""
        declared = self.resolution.winners.get(wanted.key)
        if declared is None:
            return wanted.key != ("Data", CLASSES)
        return not declared.optional and id(declared.root) in self._kept

    def _value(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        value = self._made(declared, args)
        if value is not None and declared.source is not None and not declared.type.holds(value, self.register):
            raise self._mismatch(declared, value, declared.type)
        if declared.optional:
            self._instead.pop(id(declared), None)
            if value is None:
                value = self._value_below(declared, args)
        return value

    def _value_below(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        """The value of the next lower one that gives something, and a note of who that is."""
        for lower in self._ladder(declared):
            value = self._made(lower, args)
            if value is not None:
                self._instead[id(declared)] = lower
                return value
            if not lower.optional:
                break
        return None

    def _ladder(self, declared: Declaration) -> Iterator[Declaration]:
        """Who is asked next when an optional one has given nothing: the next lower ones, down to an abstract one."""
        below = list(declared.lower)
        if declared.source is None and declared.key is not None:
            several = self.resolution.declared[declared.key]
            below = [one for one in several if one.position < declared.position]
        while below:
            best = standing(below)
            if len(best) > 1:
                raise self._about(best[0], "conflict", f"{spelled_key(best[0].key or ('', ''))} is bound twice below")
            if best[0].abstract:
                return
            yield best[0]
            below = [one for one in below if one.position < best[0].position]

    def _made(self, declared: Declaration, args: Mapping[str, Any]) -> Any:
        root = declared.root
        if not args:
            kept = self._kept.get(id(root), _MISSING)
            if kept is not _MISSING:
                return kept
        with self._lock:
            kept = _MISSING if args else self._kept.get(id(root), _MISSING)
            if kept is not _MISSING:
                return kept
            chain = self._chain()
            if root in chain:
                raise self._loop([*chain[chain.index(root) :], root])
            chain.append(root)
            try:
                product, keeps = self._product(root, args)
                value = self._finished(declared, product)
            except RecursionError as error:
                if isinstance(error, LookupLoop):
                    raise
                raise BindingError(
                    "too-deep", f"the look-ups of {spelled_key(root.key or ('', ''))} are too deep"
                ) from None
            finally:
                chain.pop()
            if keeps and value is not None and not args:
                self._kept[id(root)] = value
            return value

    def _product(self, root: Declaration, args: Mapping[str, Any]) -> tuple[Any, bool]:
        if root.is_multibind:
            if args:
                raise BindingError("arguments", "a multibind takes no arguments")
            fragments = list(self._fragments(root.id)) if root.id is not None else []
            collection = collect(root, fragments, self, self.resolution.unknown)
            self._collected[id(root)] = collection
            return collection.value, True
        if root.producer is None:
            raise self._about(root, "no-producer", f"{spelled_key(root.key or ('', ''))} is bound to nothing")
        try:
            product = root.producer.produce(self, args)
        except BindingError as error:
            if not error.origins:
                error.origins = (root.origin,)
                error.details = (*error.details, f"bound by {self.resolution.described(root)}")
            raise
        return product, bool(root.options.get("singleton", root.producer.keeps))

    def _finished(self, declared: Declaration, product: Any) -> Any:
        root = declared.root
        value = product
        transformer = root.options.get("transformer")
        if transformer is not None:
            try:
                value = self._function(transformer, root)(value)
            except BindingError as error:
                raise self._about(root, error.kind, error.message) from error.__cause__
        if value is None:
            return None
        for of in (root.type, declared.type, *declared.demands):
            if not of.holds(value, self.register):
                raise self._mismatch(declared, value, of)
        return value

    def _function(self, given: Any, about: Declaration) -> Callable[..., Any]:
        found = called(given, self)
        if found is None:
            hint = meant(given, self.functions) or "pass functions={...}"
            raise self._about(about, "bad-option", f"no function is called {given!r}", hint=hint)
        return found

    def _fragments(self, id: str | None) -> Iterator[Fragment]:
        for one in self.resolution.fragments.get(id or "", ()):
            value = self._made(one, _NOTHING)
            if value is not None:
                yield Fragment(one, value)
            elif not one.optional:
                raise self._about(
                    one, "nothing-produced", f"a fragment of {id!r} has produced nothing", hint="is `optional` meant?"
                )

    def _assisted(self, wanted: Asked) -> type | None:
        """The class that is made without any binding: asked for by type alone, and nothing is needed for it."""
        if wanted.type is None or wanted.name is not None or wanted.type.name != "Type":
            return None
        known = self.register.find(wanted.type.title)
        if known is None or inspect.isabstract(known):
            return None
        return known if hasattr(known, "__inject__") or _needs_nothing(known) else None

    def _made_for_type(self, wanted: Asked, args: Mapping[str, Any]) -> Any:
        known = self._assisted(wanted)
        if known is None:
            return None
        if args:
            return self.construct(known, (), args)
        return self.once(known, lambda: self.construct(known, (), {}))

    # --- saying what is wrong ------------------------------------------------------------------------

    def _loop(self, chain: list[Declaration]) -> LookupLoop:
        keys = [spelled_key(one.key) if one.key else f"a fragment of {one.item.into!r}" for one in chain]  # type: ignore[attr-defined]
        return LookupLoop(
            "lookup-loop", f"{keys[0]} needs itself: {' -> '.join(keys)}", origins=[one.origin for one in chain],
            details=[self.resolution.described(one) for one in chain[:-1]],
        )  # fmt: skip

    def _not_bound(self, wanted: Asked) -> NotBound:
        declared = self.declaration(wanted)
        chain = [spelled_key(one.key) for one in self._chain() if one.key]
        details = [f"asked for by {' -> '.join(chain)}"] if chain else []
        if declared is not None:
            return NotBound(
                "missing", f"{wanted} is bound, and nothing was produced", origins=(declared.origin,),
                details=[self.resolution.described(declared), *details],
            )  # fmt: skip
        close = near(wanted.name, self._names()) if wanted.name else []
        return NotBound(
            "missing", f"nothing is bound to {wanted}", details=details,
            hint=f"did you mean {', '.join(close)}?" if close else None,
        )  # fmt: skip

    def _names(self) -> list[str]:
        return [name for _, name in self.resolution.winners if name]

    def _mismatch(self, one: Declaration, value: Any, of: Type, what: str = "declared") -> TypeMismatch:
        return TypeMismatch(
            "type-mismatch", f"{spelled_key(one.key) if one.key else 'a fragment'}: {value!r} is no {of}, as {what}",
            origins=(one.origin,), details=(self.resolution.described(one),),
        )  # fmt: skip

    def _about(self, one: Declaration, kind: str, message: str, hint: str | None = None) -> BindingError:
        return BindingError(kind, message, origins=(one.origin,), details=(self.resolution.described(one),), hint=hint)


def _needs_nothing(known: type) -> bool:
    try:
        parameters = inspect.signature(known).parameters.values()
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(one.default is not one.empty or one.kind in variadic for one in parameters)


def _is_wrong_call(call: Any, args: tuple[Any, ...], named: Mapping[str, Any], before: int) -> bool:
    try:
        inspect.signature(call).bind(*([None] * before), *args, **named)
    except TypeError:
        return True
    except ValueError:
        return False
    return False


def decided(inclusions: Iterable[Inclusion]) -> dict[str, tuple[bool, Position]]:
    """Whether each class that is included somewhere is excluded, and the position that decides it."""
    best: dict[bool, dict[str, Position]] = {False: {}, True: {}}
    for excluded, name, at in inclusions:
        best[excluded][name] = max(best[excluded].get(name, at.position), at.position)
    outside = best[True]
    return {
        name: (True, outside[name]) if name in outside and outside[name] >= position else (False, position)
        for name, position in best[False].items()
    }

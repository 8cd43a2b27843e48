"""The injector: values for keys, each made once, from layers and a state.

It reports everything that is wrong when it is built, and afterwards takes questions; how
a value comes about only the maker below it knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast, overload

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.trace import TraceClaim
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import unknown_layer
from nodeattrs.dialects.bindings.codes import MISSING, NEEDS_AWAIT
from nodeattrs.dialects.bindings.explain import Explanation, Graph, explain, explained, graph
from nodeattrs.dialects.bindings.forms.builder import Bindings
from nodeattrs.dialects.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.dialects.bindings.model.items import BindingSet, asked
from nodeattrs.dialects.bindings.model.producers import ConstantProducer, Custom, Producer
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import (
    CLASSES,
    Asked,
    Classes,
    Key,
    parameter_key,
    variable_key,
)
from nodeattrs.dialects.bindings.model.values import FUNCTIONS
from nodeattrs.dialects.bindings.production.bound import early_faults
from nodeattrs.dialects.bindings.production.maker import ValueMaker
from nodeattrs.dialects.bindings.production.multibinds import option_faults
from nodeattrs.dialects.bindings.production.scopes import awaited
from nodeattrs.dialects.bindings.resolution import Layer
from nodeattrs.errors import wrong_argument

_Call = TypeVar("_Call", bound=Callable[..., Any])
_T = TypeVar("_T")


_OWN: Key = ("Type[Injector]", "")
"""The injector itself: a parameter of its type gets the one that fills it."""


@taking(layers=Listed)
class Injector(ValueMaker):
    """Values for keys.

    layers:    highest first: `Layer`s, or lists of sets; sets are `Bindings` or `BindingSet`s
    state:     the categories of the request, highest first
    classes:   the classes that `Type[X]` may name, beside those that the builder has seen
    functions: transformers, combinators and functions of expressions, by name
    objects:     the instances that parameters and queries read
    faults:    what was wrong already when the layers were read
    lenient:   what is wrong stands in `faults`, and is not raised; what nothing is wrong with can be asked for
    strict:    what a layer that cannot be read might decide is given to nobody: asking raises UnknownLayer
    cost:      linear in the number of bindings; a warm `inject` is one look-up in a dict
    raises:    BindingErrors: every conflict, open abstract, baseless override, shadowed final,
               type mismatch of a constant and malformed item, in one report

    >>> from nodeattrs.bindings import Bindings
    >>> ssh = Bindings("ssh::default")
    >>> _ = ssh.bind("ssh::port", int).to(22)
    >>> site = Bindings("default")
    >>> with site.when(node="kermit") as kermit:
    ...     _ = kermit.bind("ssh::port").override().to(2222)
    >>> Injector([Layer("site", [site]), Layer("modules", [ssh])], State([("node", "kermit")])).inject("ssh::port", int)
    2222
    """

    def __init__(
        self,
        layers: Iterable[Layer | Iterable[Bindings | BindingSet]] = (),
        state: State | Iterable[tuple[str, Any]] | None = None,
        *,
        classes: Mapping[str, type] | Classes | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        objects: Objects | None = None,
        faults: Iterable[BindingError] = (),
        parent: Injector | None = None,
        strict: bool = False,
        lenient: bool = False,
    ) -> None:
        register = Classes({"Injector": Injector, "Producer": Producer, "ConstantProducer": ConstantProducer})
        register = register.merged(classes if isinstance(classes, Classes) else Classes(classes))
        taken, register = _taken_in(enumerate(layers, 1), register)
        super().__init__(
            taken, state if isinstance(state, State) else State(state or ()), register,
            {**FUNCTIONS, **(functions or {})}, objects or Objects(),
        )  # fmt: skip
        self.parent = parent
        self._given[_OWN] = self
        self.strict = strict
        self._warm: dict[tuple[Any, Any], Any] = {}
        self.lenient = lenient
        self.faults = [*faults, *self.resolution.faults, *early_faults(self)]
        if self.faults and not lenient:
            raise BindingErrors(self.faults)

    # --- asking ------------------------------------------------------------------------------

    @overload
    def inject(self, key: type[_T], type: None = None, /, **args: Any) -> _T: ...
    @overload
    def inject(self, key: Callable[..., _T], type: None = None, /, **args: Any) -> _T: ...  # a Protocol, for mypy
    @overload
    def inject(self, key: str, type: type[_T], /, **args: Any) -> _T: ...
    @overload
    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any: ...
    def inject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The value of a key.

        key:    a name; or a type alone, for what is bound without a name
        type:   what the value must conform to, and for other types than data a part of the key
        args:   handed to the constructor or factory; then the product is made anew
        cost:   one look-up in a dict once the value is there
        raises: NotBound, TypeMismatch, LookupLoop, BindingError
        """
        if not args:
            try:
                return self._warm[key, type]
            except (KeyError, TypeError):
                pass
        wanted = asked(key, type, self.register)
        value = self.value_of(wanted, args)
        self._require_known(wanted)
        if not args and self._stays(wanted):
            self._warm[key, type] = value
        return value

    async def ainject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The same, where something that the value needs is made by an asynchronous factory. raises: as `inject`"""
        return await awaited(self._making, functools.partial(self.inject, key, type, **args))

    def get(self, key: Any, type: Any = None, /, *, default: Any = None, **args: Any) -> Any:
        """The value of a key, or *default* where nothing is bound or produced. raises: as `inject`, but for NotBound"""
        wanted = asked(key, type, self.register)
        value = self.ask(wanted, args)
        self._require_known(wanted)
        return default if value is None else value

    @overload
    def __getitem__(self, key: type[_T]) -> _T: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """`injector[Logger]`, `injector["ssh::port"]`, `injector["log", Logger]`."""
        return self.inject(key)

    def __contains__(self, key: Any) -> bool:
        """Whether a key is bound. Nothing is produced."""
        wanted = asked(key, None, self.register)
        return self.declaration(wanted) is not None or wanted.key == ("Data", CLASSES)

    def producer(self, key: Any, type: Any = None, /) -> Handle:
        """What makes the values of a key, to be asked again and again. raises: NotBound"""
        wanted = asked(key, type, self.register)
        declared = self.declaration(wanted)
        if declared is None:
            if wanted.key != ("Data", CLASSES) and self._alone(wanted) is None:
                raise self._not_bound(wanted)
            return Handle(lambda: self.ask(wanted))
        maker = declared.root.producer
        if isinstance(maker, Custom) and maker.each_time:
            made = maker.producer(self, {})
            return Handle(lambda: self._finished(declared, made.produce()))
        return Handle(lambda: self.ask(wanted))

    def unknown_layers(self, key: Any, type: Any = None, /) -> tuple[TraceClaim, ...]:
        """The layers that cannot be read and might decide a key that was injected, as rows of its trace."""
        if not self.resolution.unknown:
            return ()
        return explained(self, asked(key, type, self.register), ABSENT).unknown

    def _require_known(self, wanted: Asked | None = None) -> None:
        """Where somebody asked to be strict. wanted: a key; None for what is listed. raises: UnknownLayer"""
        if self.strict and self.resolution.unknown:
            if wanted is not None:
                explained(self, wanted, ABSENT).trace().require_known()
            else:
                first = self.resolution.unknown[0]
                raise unknown_layer(first.value, first.origin)

    def classes(self) -> list[str]:
        """The classes of the key `/classes`: included, and not excluded at the same or a better position."""
        self._require_known()
        return super().classes()

    def parameters(self, target: str) -> dict[str, Any]:
        """The parameters that are bound for a class, a type or an instance. raises: as `inject`"""
        return self._named(parameter_key(target, ""))

    def variables(self) -> dict[str, Any]:
        """The top scope variables. raises: as `inject`"""
        return self._named(variable_key(""))

    def _named(self, prefix: str) -> dict[str, Any]:
        self._require_known()
        names = [name for kind, name in self.resolution.winners if kind == "Data" and name.startswith(prefix)]
        values = {name.removeprefix(prefix): self.get(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    @taking(id=str)
    def collected_by_name(self, id: str) -> dict[str, Any]:
        """What the fragments of an id give, by their names, whether or not a multibind has it; the higher layer counts.

        raises: as `inject`
        """
        found: dict[str, Any] = {}
        for fragment in self._fragments(id):
            found.setdefault(fragment.declaration.name or "", fragment.value)
        return found

    def keys(self) -> list[Key]:
        """Every key that is bound, in order: (kind, name)."""
        return sorted(self.resolution.winners)

    @property
    def warnings(self) -> list[BindingError]:
        """What is allowed and probably not meant."""
        return list(self.resolution.warnings)

    def dependencies(self) -> list[tuple[str, str, str]]:
        """(left, arrow, right) of every `dependency` that applies, each once: for a catalog."""
        self._require_known()
        return list(self.resolution.pairs())

    # --- scopes --------------------------------------------------------------------------------

    @taking(name=str, values=Mapping | None)
    def scope(self, name: str = "request", values: Mapping[Any, Any] | None = None) -> Injector:
        """An injector for one request, one run, ...: what is bound in a scope of that name it keeps for itself.

        It is closed at the end of its `with`: what its factories opened is closed in reverse order.
        values: further values that are known inside: a name, a type, or (name, type) -> the value
        cost:   one object; nothing is resolved again

        >>> from nodeattrs.bindings import Bindings
        >>> app = Bindings("app")
        >>> _ = app.bind("ticket").to_factory(list).scope("request")
        >>> with Injector([[app]]).scope("request") as request:
        ...     request.inject("ticket") is request.inject("ticket")
        True
        """
        given = {asked(key, None, self.register).key: value for key, value in (values or {}).items()}
        inner = self._opened_inside(name, given)
        inner._warm = {}
        inner._given[_OWN] = inner
        return inner

    def close(self) -> None:
        """Close what was opened for products, the last first; what is asked for afterwards is made anew.

        raises: what closing raises, and BindingError ("needs-await") where something was opened asynchronously
        """
        if self._opened.needs_await:
            raise BindingError(NEEDS_AWAIT, "something was opened asynchronously", hint="await injector.aclose()")
        self._forget()
        self._opened.close()

    async def aclose(self) -> None:
        """The same, in an event loop."""
        self._forget()
        await self._opened.aclose()

    def _forget(self) -> None:
        shared = () if self._outer is not None else (self._collected, self._plans)
        for kept in (self.kept, self._warm, self._tasks, *shared):
            kept.clear()

    def __enter__(self) -> Injector:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Injector:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    # --- others of its kind --------------------------------------------------------------------

    def child(self, *layers: Layer | Iterable[Bindings | BindingSet], state: State | None = None) -> Injector:
        """An injector with further layers on top; its singletons are its own. raises: BindingErrors"""
        taken, register = _taken_in(((0, layer) for layer in layers), self.register)
        return Injector(
            [*taken, *self.layers], state or self.state,
            classes=register, functions=self.functions, objects=self.objects, parent=self, strict=self.strict,
            lenient=self.lenient,
        )  # fmt: skip

    @taking(values=Mapping)
    def override(self, values: Mapping[Any, Any]) -> Injector:
        """A child with other values for some keys: for tests.

        values: a name, a type, or (name, type) -> the value itself
        """
        top = Bindings("override")
        for key, value in values.items():
            top.bind(key).to(value)
        return self.child(Layer("override", (top,)))  # type: ignore[arg-type]  # `child` takes a set from its maker

    @taking(call=Callable)
    def wire(self, call: _Call) -> _Call:
        """A function that gets its missing arguments from here: by class, or as `Annotated[int, named("ssh::port")]`.

        One that has a default keeps it where nothing is bound. raises: when it is called, as `inject`
        """
        self.slots(call)

        @functools.wraps(call)
        def filled(*args: Any, **given: Any) -> Any:
            return self.call(call, args, given)

        @functools.wraps(call)
        async def afilled(*args: Any, **given: Any) -> Any:
            return await (await awaited(self._making, functools.partial(self.call, call, args, given)))

        return cast(_Call, afilled if iscoroutinefunction(call) else filled)

    def explain(self, key: Any, type: Any = None, /) -> Explanation:
        """Why a key has its value: an answer as the core has it. The key is injected for that."""
        return explain(self, asked(key, type, self.register))

    def graph(self) -> Graph:
        """Who looks up whom, and what queries have read so far."""
        return graph(self)

    def check(self) -> list[BindingError]:
        """What would fail when keys are injected, as far as it can be known without producing anything."""
        found: list[BindingError] = []
        for _, winner in sorted(self.resolution.winners.items()):
            if winner.is_multibind:
                found += option_faults(winner, self)
            for wanted in self.needs(winner):
                if self.declaration(wanted) is None and self._alone(wanted) is None and not winner.optional:
                    found.append(
                        self.about(
                            winner, MISSING, f"{winner.words} looks up {wanted}, which nothing binds",
                            hint=self._hint(wanted),
                        )
                    )  # fmt: skip
        return found


class Handle:
    """Makes the values of one key."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def produce(self) -> Any:
        """A value, as an injection would give it now; None where nothing is produced."""
        return self._make()


def _taken_in(
    layers: Iterable[tuple[int, Layer | Iterable[Bindings | BindingSet]]], register: Classes
) -> tuple[tuple[Layer, ...], Classes]:
    """Layers of plain sets, and the register with the classes that their builders have seen."""
    taken = []
    for number, layer in layers:
        if not isinstance(layer, (Layer, Listed)):
            raise wrong_argument(
                f"layer {number}", "a Layer, or a list of sets", layer, 'Layer("site", [Bindings("site")])'
            )
        name, sets = (layer.name, layer.sets) if isinstance(layer, Layer) else (f"layer {number}", tuple(layer))
        plain = []
        for one in sets:
            if not isinstance(one, BindingSet) and hasattr(one, "to_set"):  # written in Python
                register = register.merged(one.classes)
                one = one.to_set()
            plain.append(one)
        taken.append(Layer(name, tuple(plain), layer.origin if isinstance(layer, Layer) else None))
    return tuple(taken), register


_NOTHING = object()


@dataclass(frozen=True)
class Filled:
    """A parameter and where its value comes from: "bindings", "lookup" or "default"; "nothing" where nobody has one."""

    name: str
    value: Any
    source: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.value!r} from {self.source}" + (f": {self.place}" if self.place else "")


@taking(injector="inject", names=Listed | Mapping)
def fill_parameters(
    injector: Injector,
    target: str,
    names: Iterable[str],
    *,
    lookup: Callable[[str, Any], Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> dict[str, Filled]:
    """The values of a class's parameters, implicitly injected.

    target: "ntp", "class ntp", "Web[one]"
    lookup: asked for "target::name" where nothing is bound, with what to give when it finds nothing
    raises: as `Injector.inject`
    """
    filled: dict[str, Filled] = {}
    prefix = target.removeprefix("class ").removeprefix("Class[").removesuffix("]")
    for name in names:
        asked = Asked(None, parameter_key(target, name))
        value = injector.get(asked)
        declared = injector.declaration(asked)
        if value is not None and declared is not None:
            filled[name] = Filled(name, value, "bindings", injector.resolution.described(declared))
            continue
        found = _NOTHING if lookup is None else lookup(f"{prefix}::{name}", _NOTHING)
        if found is not _NOTHING:
            filled[name] = Filled(name, found, "lookup", f"{prefix}::{name}")
        elif name in (defaults or {}):
            filled[name] = Filled(name, (defaults or {})[name], "default")
        else:
            filled[name] = Filled(name, None, "nothing")
    return filled


@taking(injector="inclusions", run_list=Listed)
def extended_run_list(injector: Injector, run_list: Iterable[str]) -> list[str]:
    """A run-list with the included classes behind it, as recipes; what is on it already stays once.

    The class `apache::vhost` is the recipe `apache::vhost`.
    """
    listed = list(run_list)
    known = {item.removeprefix("recipe[").removesuffix("]").removesuffix("::default") for item in listed}
    more = [f"recipe[{name}]" for name in injector.classes() if name.removesuffix("::default") not in known]
    return [*listed, *more]

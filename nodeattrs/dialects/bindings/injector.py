"""The injector: it gives the values of keys for some layers and a state.

The injector parses keys, and with *strict* refuses an answer that an unread layer could change. A maker
(`production.maker`) makes the values, and `explain` explains them. `fill_parameters` gives the parameters of a class
their values, and `extended_run_list` adds classes to a run-list.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast, overload

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.trace import TraceClaim
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import unknown_layer
from nodeattrs.dialects.bindings.codes import NEEDS_AWAIT
from nodeattrs.dialects.bindings.explain import Explanation, Graph, explain, explained, graph
from nodeattrs.dialects.bindings.forms.builder import Bindings
from nodeattrs.dialects.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.dialects.bindings.model.items import BindingSet, asked_key
from nodeattrs.dialects.bindings.model.producers import ConstantProducer, CustomProducer, Producer
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import (
    CLASSES,
    Asked,
    Classes,
    Key,
    parameter_key,
)
from nodeattrs.dialects.bindings.model.values import FUNCTIONS
from nodeattrs.dialects.bindings.production.bound import early_faults
from nodeattrs.dialects.bindings.production.maker import ValueMaker, late_faults
from nodeattrs.dialects.bindings.resolution import Layer, Resolution
from nodeattrs.errors import wrong_argument

_Call = TypeVar("_Call", bound=Callable[..., Any])
_T = TypeVar("_T")


@checked_args(layers=ListLike)
class Injector:
    """The values of keys, for layers and a state. The constructor resolves the layers; `inject` makes a value.

    Each value is made when it is first injected, and then kept, unless its producer makes a new one each time. `get`
    returns a default where `inject` raises NotBound. `ainject` and `aclose` are for asynchronous factories. `producer`
    returns a handle that gives the value at each call, and `wire` a function whose missing arguments are filled.
    `scope` returns an injector for one request or run. `child` and `override` return a further injector over this one.
    `explain` says why a key has its value, and `graph` what all keys need. `resolution` has the declarations in effect.
    `keys`, `classes` and `dependencies` list the bound keys, the included classes, and the ordered pairs of resources;
    [] for none. `check` returns the errors that injections would end with, and `unknown_layers` the unread layers that
    might decide a key. `close` closes what factories have opened.
    layers:    the highest first: `Layer`s, or lists of sets; sets are `Bindings` or `BindingSet`s
    state:     the categories of the request, the highest first, as a `State` or as (name, value) pairs
    classes:   the classes that `Type[X]` may name, in addition to the classes of the builder
    functions: transformers, combinators and functions of expressions, by name
    objects:   the instances that parameters and queries read; None: there are none
    faults:    errors that were found when the layers were read; they are raised with the injector's own
    lenient:   True: errors are kept in `faults` and not raised, and keys without errors can be injected
    strict:    True: `inject` and `get` raise UnknownLayer for a key that an unread layer might decide
    cost:      linear in the number of bindings; a further `inject` of a key is one look-up in a dict
    raises:    BindingErrors, with all faults in one report: conflicts, an abstract key that nothing binds, an override
               of nothing, a binding over a final one, a constant of the wrong type, and malformed items

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
        strict: bool = False,
        lenient: bool = False,
    ) -> None:
        register = Classes({"Injector": Injector, "Producer": Producer, "ConstantProducer": ConstantProducer})
        register.include(classes if isinstance(classes, Classes) else Classes(classes))
        plain = _plain_layers(enumerate(layers, 1), register)
        self._maker = ValueMaker(
            plain, state if isinstance(state, State) else State(state or ()), register,
            {**FUNCTIONS, **(functions or {})}, objects or Objects(), self,
        )  # fmt: skip
        self._strict, self._lenient = strict, lenient
        self._warm: dict[tuple[Any, Any], Any] = {}
        self.faults = [*faults, *self.resolution.faults, *early_faults(self._maker)]
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
        """The value of a key: made at the first injection, and kept for its scope.

        key:    a name; or a type alone, for a binding without a name
        type:   the type that the value must conform to; for types other than data it is also a part of the key. None:
                any data
        args:   passed to the constructor or factory; then the product is made anew and not kept
        cost:   one look-up in a dict once the value is there
        raises: NotBound, also if the producer gives nothing; TypeMismatch, LookupLoop, BindingError; UnknownLayer, with
                *strict*
        """
        if not args:
            try:
                return self._warm[key, type]
            except (KeyError, TypeError):
                pass
        wanted = self._requested_key(key, type)
        value = self._maker.value_of(wanted, args)
        self._require_known(wanted)
        if not args and self._maker.is_kept(wanted):
            self._warm[key, type] = value
        return value

    async def ainject(self, key: Any, type: Any = None, /, **args: Any) -> Any:
        """The value of a key, as `inject` gives it. An asynchronous factory may make the value or a part of it."""
        return await self._maker.awaited(functools.partial(self.inject, key, type, **args))

    def get(self, key: Any, type: Any = None, /, *, default: Any = None, **args: Any) -> Any:
        """The value of a key, as `inject`, or *default* where nothing is bound or produced.

        raises: TypeMismatch, LookupLoop, BindingError; NotBound, if a callable on the way needs a parameter without a
                value; UnknownLayer, with *strict*
        """
        wanted = self._requested_key(key, type)
        value = self._maker.ask(wanted, args)
        self._require_known(wanted)
        return default if value is None else value

    @overload
    def __getitem__(self, key: type[_T]) -> _T: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """The value of a key, as `inject`: `injector[Logger]`, `injector["port"]`, `injector["log", Logger]`."""
        return self.inject(key)

    def __contains__(self, key: Any) -> bool:
        """Whether a key is bound. Nothing is produced."""
        wanted = self._requested_key(key)
        return self._maker.declaration(wanted) is not None or wanted.key == ("Data", CLASSES)

    def producer(self, key: Any, type: Any = None, /) -> Handle:
        """A handle whose `produce()` gives the value that `get` would give at that time.

        A custom producer that is bound with `each=True` is made now, and gives all values of the handle.
        raises: NotBound, where nothing is bound; `produce()` raises UnknownLayer, with *strict*
        """
        wanted = self._requested_key(key, type)
        declared = self._maker.declaration_or_class(wanted)
        if declared is None and wanted.key != ("Data", CLASSES):
            raise self._maker.not_bound(wanted)
        of = None if declared is None else declared.root.producer
        if declared is None or not isinstance(of, CustomProducer) or not of.each_time:
            return Handle(lambda: self.get(wanted))
        made = of.producer(self._maker, {})

        def produce() -> Any:
            self._require_known(wanted)
            return self._maker.transformed(declared, made.produce())

        return Handle(produce)

    def _requested_key(self, key: Any, type: Any = None) -> Asked:
        return asked_key(key, type, self._maker.register)

    def _require_known(self, wanted: Asked | None = None) -> None:
        """Check that no unread layer might decide a key, where the injector is strict. raises: UnknownLayer

        wanted: the key; None for a list of keys
        """
        if not self._strict or not self.resolution.unknown:
            return
        if wanted is not None:
            explained(self._maker, wanted, ABSENT).trace().require_known()
            return
        first = self.resolution.unknown[0]
        raise unknown_layer(first.value, first.origin)

    # --- what is bound ---------------------------------------------------------------------------

    @property
    def resolution(self) -> Resolution:
        """What is known before anything is injected: which declaration decides each key, faults and warnings."""
        return self._maker.resolution

    def keys(self) -> list[Key]:
        """Every key that is bound, sorted: (kind of its type, name); `/classes` is not among them."""
        return sorted(self.resolution.winners)

    def classes(self) -> list[str]:
        """The classes that are included, and not excluded at the same or a better position. raises: UnknownLayer"""
        self._require_known()
        return self._maker.classes()

    def dependencies(self) -> list[tuple[str, str, str]]:
        """(left, arrow, right) for each pair of resources that a `dependency` in effect orders, each once."""
        self._require_known()
        return list(self.resolution.pairs())

    def unknown_layers(self, key: Any, type: Any = None, /) -> tuple[TraceClaim, ...]:
        """The unread layers that might decide a key, as rows of its trace; () for none. Nothing is injected."""
        if not self.resolution.unknown:
            return ()
        return explained(self._maker, self._requested_key(key, type), ABSENT).unknown

    def explain(self, key: Any, type: Any = None, /) -> Explanation:
        """The explanation of the value of a key. The key is injected for this.

        An error of the injection becomes the field `problem` of the explanation.
        """
        return explain(self._maker, self._requested_key(key, type))

    def graph(self) -> Graph:
        """The graph of all keys and what they look up, collect and rename. Nothing is injected."""
        return graph(self._maker)

    def check(self) -> list[BindingError]:
        """The errors that are known without making a value; [] for none. The faults of the constructor are left out.

        They are wrong options of multibinds, and look-ups of keys that nothing binds.
        """
        return list(late_faults(self._maker))

    # --- scopes --------------------------------------------------------------------------------

    @checked_args(name=str, values=Mapping | None)
    def scope(self, name: str = "request", values: Mapping[Any, Any] | None = None) -> Injector:
        """An injector for one request or one run. It keeps the products of the bindings that name this scope.

        All other products come from this injector. Use it in a `with` statement: its end closes in reverse order what
        factories opened for the scope.
        values: further values that are known inside: a name, a type, or (name, type) -> the value
        cost:   one object; nothing is resolved again

        >>> from nodeattrs.bindings import Bindings
        >>> app = Bindings("app")
        >>> _ = app.bind("ticket").to_factory(list).scope("request")
        >>> with Injector([[app]]).scope("request") as request:
        ...     request.inject("ticket") is request.inject("ticket")
        True
        """
        given = {self._requested_key(key).key: value for key, value in (values or {}).items()}
        inner = copy.copy(self)
        inner._warm = {}
        inner._maker = self._maker.scoped(name, given, inner)
        return inner

    def close(self) -> None:
        """Close what was opened for products, the last first. A later injection makes its product anew.

        raises: the error of a product that is closed; BindingError ("needs-await"), if something was opened
                asynchronously: then nothing is closed
        """
        if self._maker.opened.needs_await:
            raise BindingError(NEEDS_AWAIT, "something was opened asynchronously", hint="await injector.aclose()")
        self._forget()
        self._maker.opened.close()

    async def aclose(self) -> None:
        """Close in an event loop what was opened for products, the last first. raises: what closing raises"""
        self._forget()
        await self._maker.opened.aclose()

    def _forget(self) -> None:
        self._warm.clear()
        self._maker.forget()

    def __enter__(self) -> Injector:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Injector:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    # --- further injectors -----------------------------------------------------------------------

    def child(self, *layers: Layer | Iterable[Bindings | BindingSet], state: State | None = None) -> Injector:
        """A new injector with further layers on top, the first one highest; its singletons are its own.

        state:  None: the state of this injector
        raises: BindingErrors
        """
        maker = self._maker
        register = Classes()
        register.include(maker.register)
        plain = _plain_layers(((0, layer) for layer in layers), register)
        return Injector(
            [*plain, *maker.layers], state or maker.state, classes=register, functions=maker.functions,
            objects=maker.objects, strict=self._strict, lenient=self._lenient,
        )  # fmt: skip

    @checked_args(values=Mapping)
    def override(self, values: Mapping[Any, Any]) -> Injector:
        """A new injector with other values for some keys, for tests: a `child` with one layer. raises: BindingErrors

        values: a name, a type, or (name, type) -> the value; lists and maps are copied
        """
        top = Bindings("override")
        for key, value in values.items():
            top.bind(key).to(value)
        return self.child(Layer("override", (top.to_set(),)))

    @checked_args(call=Callable)
    def wire(self, call: _Call) -> _Call:
        """A function that calls *call*, and fills its missing arguments with injected values.

        The annotation of a parameter names the key: a class, or `Annotated[int, named("ssh::port")]`. A parameter with
        a default keeps the default where nothing is bound.
        raises: BindingError, for a faulty annotation; the errors of `inject`, when the new function is called
        """
        self._maker.slots(call)

        @functools.wraps(call)
        def filled(*args: Any, **given: Any) -> Any:
            return self._maker.call(call, args, given)

        @functools.wraps(call)
        async def afilled(*args: Any, **given: Any) -> Any:
            return await (await self._maker.awaited(functools.partial(self._maker.call, call, args, given)))

        return cast(_Call, afilled if iscoroutinefunction(call) else filled)


@dataclass(frozen=True, slots=True)
class Handle:
    """An object that gives the value of one key at each call of `produce()`; `Injector.producer` makes it.

    produce: returns the value that the key has at the time of the call; None if nothing is produced
    """

    produce: Callable[[], Any]


def _plain_layers(
    layers: Iterable[tuple[int, Layer | Iterable[Bindings | BindingSet]]], register: Classes
) -> tuple[Layer, ...]:
    """Layers of plain sets; the classes that their builders have seen are added to the register."""
    taken = []
    for number, layer in layers:
        if not isinstance(layer, (Layer, ListLike)):
            raise wrong_argument(
                f"layer {number}", "a Layer, or a list of sets", layer, 'Layer("site", [Bindings("site")])'
            )
        name, sets = (layer.name, layer.sets) if isinstance(layer, Layer) else (f"layer {number}", tuple(layer))
        plain = []
        for one in sets:
            if not isinstance(one, BindingSet) and hasattr(one, "to_set"):  # written in Python
                register.include(one.classes)
                one = one.to_set()
            plain.append(one)
        taken.append(Layer(name, tuple(plain), layer.origin if isinstance(layer, Layer) else None))
    return tuple(taken)


_NOTHING = object()


@dataclass(frozen=True)
class Filled:
    """A parameter with its value, as `fill_parameters` found it.

    name:   the name of the parameter
    value:  its value; None if the source is "nothing"
    source: where the value comes from: "bindings", "lookup", "default" or "nothing"
    place:  the declaration in words, or the key that was looked up; "" for the other sources
    """

    name: str
    value: Any
    source: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.value!r} from {self.source}" + (f": {self.place}" if self.place else "")


@checked_args(injector="inject", names=ListLike | Mapping)
def fill_parameters(
    injector: Injector,
    target: str,
    names: Iterable[str],
    *,
    lookup: Callable[[str, Any], Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> dict[str, Filled]:
    """Name -> the value of each parameter of a class: from the bindings, from *lookup* or from *defaults*.

    The first of these three that has a value counts.
    target:   the class, type or instance: "ntp", "class ntp", "Web[one]"
    names:    the names of its parameters
    lookup:   a function ("target::name", marker) -> value, or the marker if it finds nothing; the key is "web::name"
              for the instance "Web[one]". None: no look-ups
    defaults: name -> value; a parameter without any value has the source "nothing"
    raises:   TypeMismatch, LookupLoop, BindingError; what *lookup* raises
    """
    filled: dict[str, Filled] = {}
    prefix = target.removeprefix("class ").removeprefix("Class[").removesuffix("]")
    kind, bracket, _ = prefix.partition("[")
    if bracket:  # an instance has the look-ups of its type
        prefix = kind.lower()
    for name in names:
        asked = Asked(None, parameter_key(target, name))
        value = injector.get(asked)
        declared = injector.resolution.winners.get(asked.key)
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


@checked_args(injector="classes", run_list=ListLike)
def extended_run_list(injector: Injector, run_list: Iterable[str]) -> list[str]:
    """A new run-list: first all items of *run_list*, then the included classes as recipes.

    A class whose recipe is an item already is not added. The class `apache::vhost` is the recipe `apache::vhost`.
    `apache`, `apache::default` and `apache@1.2.3` are one recipe. Roles are not expanded: a recipe that only a role
    names is added. Items are not checked.
    raises: UnknownLayer, as `Injector.classes`
    """
    listed = list(run_list)
    bare = [item.removeprefix("recipe[").removesuffix("]").partition("@")[0] for item in listed]
    known = {name.removesuffix("::default") for name in bare}
    more = [f"recipe[{name}]" for name in injector.classes() if name.removesuffix("::default") not in known]
    return [*listed, *more]

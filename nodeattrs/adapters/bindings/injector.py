"""The injector: values for keys, each made once, from layers and a state.

It reports everything that is wrong when it is built, and afterwards takes questions; how
a value comes about only the maker below it knows. It fills the parameters of callables, and
those of a recipe's class: from bindings first, then from whatever look-up the caller hands in.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from nodeattrs.adapters.bindings.explain import Explanation, explain, explained
from nodeattrs.adapters.bindings.forms.builder import Bindings, asked
from nodeattrs.adapters.bindings.graph import Graph, graph
from nodeattrs.adapters.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.adapters.bindings.model.items import BindingSet
from nodeattrs.adapters.bindings.model.producers import Constant, ConstantProducer, Custom, Producer
from nodeattrs.adapters.bindings.model.state import Objects, State
from nodeattrs.adapters.bindings.model.types import (
    CLASSES,
    Asked,
    Classes,
    Key,
    parameter_key,
    spelled_key,
    type_of_hint,
    variable_key,
)
from nodeattrs.adapters.bindings.model.values import FUNCTIONS
from nodeattrs.adapters.bindings.production.maker import ValueMaker
from nodeattrs.adapters.bindings.production.multibinds import option_faults
from nodeattrs.adapters.bindings.resolution.declarations import Layer
from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.trace import TraceClaim
from nodeattrs.core.tree import ABSENT, near
from nodeattrs.core.unknown import unknown_layer
from nodeattrs.errors import wrong_argument
from nodeattrs.lazily import dataclass

_PLAIN = (int, float, str, bool, list, dict, bytes, tuple, set, object)


def wired(
    call: Callable[..., Any], register: Classes, inject: Callable[[Asked], Any], get: Callable[[Asked], Any]
) -> Any:
    """*call* with its missing arguments filled: `Annotated[T, "name"]` by name and type, a class by its type.

    An argument that the caller gives is left alone; one with a default keeps it where nothing is
    bound. Plain annotations such as `int` say no key: the caller gives them.
    inject: gives a value or raises
    get:    gives a value, or None where nothing is bound
    raises: BindingError, where an annotation cannot be read; later what `inject` raises
    """
    signature = inspect.signature(call)
    wanted = {
        name: (key, signature.parameters[name].default) for name, key in _asked_by(call, register).items()
        if name in signature.parameters
    }  # fmt: skip

    @functools.wraps(call)
    def filled(*args: Any, **given: Any) -> Any:
        bound = signature.bind_partial(*args, **given)
        for name, (key, default) in wanted.items():
            if name in bound.arguments:
                continue
            if default is inspect.Parameter.empty:
                given[name] = inject(key)
            elif (value := get(key)) is not None:
                given[name] = value
        return call(*args, **given)

    return filled


def _asked_by(call: Callable[..., Any], register: Classes) -> dict[str, Asked]:
    target: Any = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise BindingError("bad-type", f"the annotations of {call!r} cannot be read: {error}") from error
    hints.pop("return", None)
    found: dict[str, Asked] = {}
    for name, hint in hints.items():
        if get_origin(hint) is Annotated:
            of, *notes = get_args(hint)
            key = next((note for note in notes if isinstance(note, (str, Asked))), None)
            if isinstance(key, Asked):
                found[name] = key
            elif key is not None:
                found[name] = Asked(type_of_hint(of, register), key)
        elif isinstance(hint, type) and hint not in _PLAIN:
            found[name] = Asked(type_of_hint(hint, register), None)
    return found


_Call = TypeVar("_Call", bound=Callable[..., Any])


@taking(layers=Listed)
class Injector(ValueMaker):
    """Values for keys.

    layers:    highest first: `Layer`s, or lists of sets; sets are `Bindings` or `BindingSet`s
    state:     the categories of the request, highest first
    classes:   the classes that `Type[X]` may name, beside those that the builder has seen
    functions: transformers, combinators and functions of expressions, by name
    objects:     the instances that parameters and queries read
    faults:    what was wrong already when the layers were read
    strict:    what a layer that cannot be read might decide is given to nobody: asking raises UnknownLayer
    cost:      linear in the number of bindings; a warm `inject` is one look-up in a dict
    raises:    BindingErrors: every conflict, open abstract, baseless override, shadowed final,
               type mismatch of a constant and malformed item, in one report

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
        classes: Mapping[str, type] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        objects: Objects | None = None,
        faults: Iterable[BindingError] = (),
        parent: Injector | None = None,
        strict: bool = False,
    ) -> None:
        register = Classes({"Producer": Producer, "ConstantProducer": ConstantProducer, **(classes or {})})
        taken, register = _taken_in(enumerate(layers, 1), register)
        super().__init__(
            taken, state if isinstance(state, State) else State(state or ()), register,
            {**FUNCTIONS, **(functions or {})}, objects or Objects(),
        )  # fmt: skip
        self.parent = parent
        self.strict = strict
        self._warm: dict[tuple[Any, Any], Any] = {}
        found = [*faults, *self.resolution.faults, *self._constant_faults()]
        if found:
            raise BindingErrors(found)

    def _constant_faults(self) -> Iterator[BindingError]:
        for key, winner in self.resolution.winners.items():
            root = winner.root
            if winner.is_multibind:
                continue
            if root.producer is None:
                yield self._about(winner, "no-producer", f"{spelled_key(key)} is bound to nothing")
            elif isinstance(root.producer, Constant) and "transformer" not in root.options:
                for of in (root.type, winner.type, *winner.demands):
                    if root.producer.value is not None and not of.holds(root.producer.value, self.register):
                        yield self._mismatch(winner, root.producer.value, of)
                        break

    # --- asking ------------------------------------------------------------------------------

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

    def get(self, key: Any, type: Any = None, /, *, default: Any = None, **args: Any) -> Any:
        """The value of a key, or *default* where nothing is bound or produced. raises: as `inject`, but for NotBound"""
        wanted = asked(key, type, self.register)
        value = self._injected(wanted, args)
        self._require_known(wanted)
        return default if value is None else value

    def __getitem__(self, key: Any) -> Any:
        """`injector[Logger]`, `injector["ssh::port"]`, `injector["log", Logger]`."""
        return self.inject(*key) if isinstance(key, tuple) else self.inject(key)

    def __contains__(self, key: Any) -> bool:
        """Whether a key is bound. Nothing is produced."""
        name, of = key if isinstance(key, tuple) else (key, None)
        wanted = asked(name, of, self.register)
        return self.declaration(wanted) is not None or wanted.key == ("Data", CLASSES)

    def producer(self, key: Any, type: Any = None, /) -> Handle:
        """What makes the values of a key, to be asked again and again. raises: NotBound"""
        wanted = asked(key, type, self.register)
        declared = self.declaration(wanted)
        if declared is None:
            if wanted.key != ("Data", CLASSES) and self._assisted(wanted) is None:
                raise self._not_bound(wanted)
            return Handle(lambda: self.ask(wanted))
        maker = declared.root.producer
        if isinstance(maker, Custom) and maker.series:
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
                raise unknown_layer(first.content, first.origin)

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

    # --- others of its kind --------------------------------------------------------------------

    def child(self, *layers: Layer | Iterable[Bindings | BindingSet], state: State | None = None) -> Injector:
        """An injector with further layers on top; its singletons are its own. raises: BindingErrors"""
        taken, register = _taken_in(((0, layer) for layer in layers), self.register)
        return Injector(
            [*taken, *self.layers], state or self.state,
            classes=register.known(), functions=self.functions, objects=self.objects, parent=self, strict=self.strict,
        )  # fmt: skip

    @taking(values=Mapping)
    def override(self, values: Mapping[Any, Any]) -> Injector:
        """A child with other values for some keys: for tests.

        values: a name, a type, or (name, type) -> the value itself
        """
        top = Bindings("override")
        for key, value in values.items():
            name, of = key if isinstance(key, tuple) else (key, None)
            top.bind(name, of).to(value)
        return self.child(Layer("override", (top,)))  # type: ignore[arg-type]

    @taking(call=Callable)
    def wire(self, call: _Call) -> _Call:
        """A function that gets its missing arguments from here: by class, or as `Annotated[int, "ssh::port"]`."""
        return cast(_Call, wired(call, self.register, self.inject, self.get))

    def explain(self, key: Any, type: Any = None, /) -> Explanation:
        """Why a key has its value: an answer as the core has it. The key is injected for that."""
        return explain(self, asked(key, type, self.register))

    def graph(self) -> Graph:
        """Who looks up whom, and what queries have read so far."""
        return graph(self)

    def check(self) -> list[BindingError]:
        """What would fail when keys are injected, as far as it can be known without producing anything."""
        found: list[BindingError] = []
        for key, winner in sorted(self.resolution.winners.items()):
            if winner.is_multibind:
                found += option_faults(winner, self)
            for wanted in self.needs(winner):
                if self.declaration(wanted) is None and self._assisted(wanted) is None and not winner.optional:
                    close = near(wanted.name, self._names()) if wanted.name else []
                    found.append(
                        self._about(
                            winner, "missing", f"{spelled_key(key)} looks up {wanted}, which nothing binds",
                            hint=f"did you mean {', '.join(close)}?" if close else None,
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
            if isinstance(one, Bindings):
                register = register.merged(one.classes)
                one = one.to_set()
            plain.append(one)
        taken.append(Layer(name, tuple(plain), layer.origin if isinstance(layer, Layer) else None))
    return tuple(taken), register


_NOTHING = object()


@dataclass(frozen=True, slots=True)
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

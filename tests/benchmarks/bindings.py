"""The figures of bindings: building an injector, a graph of classes for a request, warm injections beside others.

Four containers of Python do the part that they can: one object, made once, asked for by its type.
They come from the developer's extra; where one is not installed its line is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial

from nodeattrs.bindings import Bindings, Injector, Layer, State
from tests.benchmarks.clock import once, seconds_each
from tests.benchmarks.figures import Figure

LAYERS, CATEGORIES = 5, 8
SIZES = (1_000, 10_000, 100_000)


class Service:
    """What is asked for: its constructor needs nothing."""


def layers_of(size: int) -> list[Layer]:
    """So many bindings in 5 layers, half of them inside one of 8 categories, every fifth key bound in each layer."""
    layers = []
    for layer in range(LAYERS):
        one = Bindings(f"set{layer}")
        blocks = [one.when({f"category{number}": "yes"}) for number in range(CATEGORIES)]
        for number in range(size // LAYERS):
            key = f"shared{number}" if number % 5 == 0 else f"key{layer}-{number}"
            block = blocks[number % CATEGORIES] if number % 2 else one
            block.bind(key).to(number)
        layers.append(Layer(f"layer{layer}", (one.to_set(),)))
    return layers


def state() -> State:
    """All categories hold."""
    return State([(f"category{number}", "yes") for number in range(CATEGORIES)])


def built(layers: list[Layer]) -> Injector:
    """An injector."""
    return Injector(layers, state())


def bindings_figures(rounds: int) -> Iterator[Figure]:
    """Building, which must be linear, and warm injections."""
    rounds = min(rounds, 5)
    small, middle, large = (once(partial(built, layers_of(size))) for size in SIZES)
    seconds = seconds_each(small, middle, large, rounds=rounds)
    for size, taken in zip(SIZES, seconds, strict=True):
        yield Figure(
            f"build, {size:,} bindings, {LAYERS} layers, {CATEGORIES} categories", taken * 1e3, "ms", None, f"{size:,}"
        )
    # Twice the time for each binding is what a colder cache costs; anything quadratic would be a hundred times.
    yield Figure("build, each binding", seconds[2] / seconds[0] / (SIZES[2] / SIZES[0]), "times", 2.0, "1,000 bindings")
    yield from _warm(rounds)
    yield from _graph(rounds)


def _warm(rounds: int) -> Iterator[Figure]:
    container = Bindings("services")
    container.bind(Service).to_class(Service)
    injector = Injector([[container]])
    injector.inject(Service)
    works: dict[str, Callable[[int], object]] = {"nodeattrs": _asking(partial(injector.inject, Service))}
    for name, make in _CONTAINERS.items():
        try:
            works[name] = _asking(make())
        except ImportError:
            continue
    ours, *others = seconds_each(*works.values(), rounds=rounds)
    yield Figure("warm inject", ours * 1e9, "ns", None, "one object by its type")
    for name, taken in zip(list(works)[1:], others, strict=True):
        yield Figure(f"warm inject beside {name}", ours / taken, "times", 1.0, f"{name}: {taken * 1e9:,.0f} ns")


def _asking(ask: Callable[[], object]) -> Callable[[int], object]:
    def repeated(times: int) -> None:
        for _ in range(times):
            ask()

    return repeated


def _injector() -> Callable[[], object]:
    library = importlib.import_module("injector")
    container = library.Injector(lambda binder: binder.bind(Service, to=Service, scope=library.singleton))
    return partial(container.get, Service)


def _punq() -> Callable[[], object]:
    library = importlib.import_module("punq")
    container = library.Container()
    container.register(Service, scope=library.Scope.singleton)
    return partial(container.resolve, Service)


def _lagom() -> Callable[[], object]:
    library = importlib.import_module("lagom")
    container = library.Container()
    container[Service] = library.Singleton(Service)
    return partial(container.resolve, Service)


def _dishka() -> Callable[[], object]:
    library = importlib.import_module("dishka")
    provider = library.Provider(scope=library.Scope.APP)
    provider.provide(Service)
    return partial(library.make_container(provider).get, Service)


_CONTAINERS = {"injector": _injector, "punq": _punq, "lagom": _lagom, "dishka": _dishka}

# --- a graph -------------------------------------------------------------------------------------

CLASSES = 200


def graph_of(size: int) -> list[type]:
    """So many classes; each but the leaves needs two others."""
    made: dict[int, type] = {}
    for number in reversed(range(size)):
        needed = {f"part{one}": made[one] for one in (2 * number + 1, 2 * number + 2) if one < size}
        sets = "".join(f"\n        self.{name} = {name}" for name in needed) or "\n        pass"
        source = f"def __init__(self{''.join(f', {name}' for name in needed)}) -> None:{sets}"
        names: dict[str, object] = {}
        exec(source, names)  # a constructor as somebody would write it
        names["__init__"].__annotations__ = {**needed, "return": None}  # type: ignore[attr-defined]
        made[number] = type(f"Class{number}", (), {"__init__": names["__init__"], "__module__": __name__})
    return [made[number] for number in range(size)]


def our_graph(classes: list[type]) -> Callable[[], object]:
    """All of them for one request."""
    bindings = Bindings("graph")
    for one in classes:
        bindings.bind(one).to_class(one).scope("request")
    injector = Injector([[bindings]])

    def ask() -> object:
        with injector.scope("request") as request:
            return request.inject(classes[0])

    return ask


def _lagom_graph(classes: list[type]) -> Callable[[], object]:
    return partial(importlib.import_module("lagom").Container().resolve, classes[0])


def _dishka_graph(classes: list[type]) -> Callable[[], object]:
    library = importlib.import_module("dishka")
    provider = library.Provider(scope=library.Scope.REQUEST)
    for one in classes:
        provider.provide(one)
    container = library.make_container(provider)

    def ask() -> object:
        with container() as request:
            return request.get(classes[0])

    return ask


def _graph(rounds: int) -> Iterator[Figure]:
    classes = graph_of(CLASSES)
    works = {"nodeattrs": _asking(our_graph(classes))}
    for name, make in (("lagom", _lagom_graph), ("dishka", _dishka_graph)):
        try:
            works[name] = _asking(make(classes))
        except ImportError:
            continue
    for work in works.values():
        work(2)
    ours, *others = seconds_each(*works.values(), rounds=rounds)
    yield Figure(f"a graph of {CLASSES} classes", ours * 1e6, "us", None, "a request: all made anew")
    for name, taken in zip(list(works)[1:], others, strict=True):
        yield Figure(f"the graph beside {name}", ours / taken, "times", None, f"{name}: {taken * 1e6:,.0f} us")

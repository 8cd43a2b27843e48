"""The figures of bindings: building an injector, and warm injections beside three containers of Python.

The containers do the part that they can: one object, made once, asked for by its type.
They come from the developer's extra; where one is not installed its line is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial

from nodeattrs.adapters.bindings import Bindings, Injector, Layer, State
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


_CONTAINERS = {"injector": _injector, "punq": _punq, "lagom": _lagom}

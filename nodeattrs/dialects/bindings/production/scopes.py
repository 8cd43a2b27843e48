"""Context managers that a scope enters and leaves, and products that must be awaited.

An asynchronous injection is tried several times. A try that needs an asynchronous product ends with `PendingProduct`,
and the product is awaited. The next try takes this product, and the other products of earlier tries, from a `Replay`.
The module knows no bindings.
"""

from __future__ import annotations

import contextlib
import inspect
from asyncio import Future
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

Steps = tuple[int, ...]
"""The ids of the declarations on the way to a product, the outermost first: equal in all tries of an injection."""


@lru_cache(maxsize=4096)
def opening_of(call: Callable[..., Any]) -> tuple[Callable[..., Any], bool, bool]:
    """Returns (callable, whether its product is a context manager to enter, whether it must be awaited); cached.

    For a generator function, the callable is a function that returns a context manager. A function that
    `contextlib.contextmanager` made is returned unchanged, and its product is entered. Any other *call* is returned.
    """
    inner = inspect.unwrap(call)
    if inspect.isgeneratorfunction(inner):
        return (contextlib.contextmanager(call) if inner is call else call), True, False
    if inspect.isasyncgenfunction(inner):
        return (contextlib.asynccontextmanager(call) if inner is call else call), True, True
    return call, False, inspect.iscoroutinefunction(call)


class OpenedContexts:
    """The context managers that a scope has entered and not left yet. `close` leaves them in reverse order.

    `enter` and `aenter` enter a context manager, and return what entering gives. If `needs_await` is true, there is an
    asynchronous one, and only `aclose` can leave it. `close` and `aclose` leave
    all managers even if one raises, and raise its exception afterwards. They can be called again.
    """

    def __init__(self) -> None:
        self._contexts: list[tuple[Any, bool]] = []

    def enter(self, context: Any) -> Any:
        """Enter a context manager, to be left later; returns what entering gives."""
        product = context.__enter__()
        self._contexts.append((context, False))
        return product

    async def aenter(self, context: Any) -> Any:
        """Enter an asynchronous context manager, to be left later; returns what entering gives."""
        product = await context.__aenter__()
        self._contexts.append((context, True))
        return product

    @property
    def needs_await(self) -> bool:
        """Whether an asynchronous context manager is among them, which only `aclose` can leave."""
        return any(is_async for _, is_async in self._contexts)

    def close(self) -> None:
        """Leave all, the last first. Call it only where `needs_await` is False.

        raises: the exception of a context manager, after all were left
        """
        with contextlib.ExitStack() as stack:
            while self._contexts:
                stack.push(self._contexts.pop(0)[0])

    async def aclose(self) -> None:
        """Leave all, also asynchronous ones, the last first. raises: as `close`"""
        async with contextlib.AsyncExitStack() as stack:
            while self._contexts:
                context, is_async = self._contexts.pop(0)
                (stack.push_async_exit if is_async else stack.push)(context)


class PendingProduct(BaseException):
    """Raised for a product that must be awaited: `ValueMaker.awaited` awaits the task, and tries the injection again.

    It is a BaseException, so that code of producers does not catch it.
    steps: the ids of the declarations on the way to the product
    task:  the future that gives the product
    """

    def __init__(self, steps: Steps, task: Future[Any]) -> None:
        super().__init__("an asynchronous product")
        self.steps = steps
        self.task = task


class Replay:
    """The products that earlier tries of one asynchronous injection made and that no scope keeps.

    A try is one call of the injection. Each product belongs to *steps*, the way on which it was needed. For its steps,
    `next` returns the products of earlier tries one by one, and then calls *make*. `add` stores an awaited product.
    Call `restart` before each further try.
    """

    def __init__(self) -> None:
        self._made: dict[Steps, list[Any]] = {}
        self._used: Counter[Steps] = Counter()

    def restart(self) -> None:
        """Begin a further try: for each steps, `next` begins again with the first product of the earlier tries."""
        self._used.clear()

    def next(self, steps: Steps, make: Callable[[], Any]) -> Any:
        """The next product for these steps: of an earlier try, else made now. raises: what *make* raises"""
        made, index = self._made.setdefault(steps, []), self._used[steps]
        if index == len(made):
            made.append(make())
        self._used[steps] += 1
        return made[index]

    def add(self, steps: Steps, product: Any) -> None:
        """Add a product that was awaited, for the next try."""
        self._made.setdefault(steps, []).append(product)

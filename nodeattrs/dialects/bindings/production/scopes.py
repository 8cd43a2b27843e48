"""How long products live: what was opened is closed with its scope, and what must be awaited is waited for.

A scope is a maker that keeps some products for itself (`maker`). What is here knows no bindings.
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
"""The declarations on the way to a product, which identify it among the tries of an injection."""


@lru_cache(maxsize=4096)
def opening_of(call: Callable[..., Any]) -> tuple[Callable[..., Any], bool, bool]:
    """(factory, whether its product is entered and left, whether its product is awaited) for a callable.

    A generator function is a context manager: what follows its `yield` runs when the scope is closed.
    """
    inner = inspect.unwrap(call)
    if inspect.isgeneratorfunction(inner):
        return (contextlib.contextmanager(call) if inner is call else call), True, False
    if inspect.isasyncgenfunction(inner):
        return (contextlib.asynccontextmanager(call) if inner is call else call), True, True
    return call, False, inspect.iscoroutinefunction(call)


class OpenedContexts:
    """The context managers that a scope has entered; they are left in reverse order."""

    def __init__(self) -> None:
        self._contexts: list[tuple[Any, bool]] = []

    def enter(self, context: Any) -> Any:
        """Enter a context manager; returns its product."""
        product = context.__enter__()
        self._contexts.append((context, False))
        return product

    async def aenter(self, context: Any) -> Any:
        """Enter an asynchronous context manager; returns its product."""
        product = await context.__aenter__()
        self._contexts.append((context, True))
        return product

    @property
    def needs_await(self) -> bool:
        """Whether an asynchronous context manager was entered, which only `aclose` can leave."""
        return any(is_async for _, is_async in self._contexts)

    def close(self) -> None:
        """Leave all, the last first. raises: the exception of a context manager, after all were left"""
        with contextlib.ExitStack() as stack:
            while self._contexts:
                stack.push(self._contexts.pop(0)[0])

    async def aclose(self) -> None:
        """Leave all, also asynchronous ones, the last first. raises: as `close`"""
        async with contextlib.AsyncExitStack() as stack:
            while self._contexts:
                context, is_async = self._contexts.pop(0)
                (stack.push_async_exit if is_async else stack.push)(context)


class Waiting(BaseException):
    """Raised for a product that has to be awaited: `awaited` waits for the task and tries the injection again."""

    def __init__(self, steps: Steps, task: Future[Any]) -> None:
        super().__init__("an asynchronous product")
        self.steps = steps
        self.task = task


class Replay:
    """Products of earlier tries of one injection that no scope keeps; a further try takes them from here."""

    def __init__(self) -> None:
        self._made: dict[Steps, list[Any]] = {}
        self._used: Counter[Steps] = Counter()

    def again(self) -> None:
        """Begin a further try, which takes the products from the first one on."""
        self._used.clear()

    def next(self, steps: Steps, make: Callable[[], Any]) -> Any:
        """The next product for these steps: of an earlier try, or made now."""
        made, index = self._made.setdefault(steps, []), self._used[steps]
        if index == len(made):
            made.append(make())
        self._used[steps] += 1
        return made[index]

    def add(self, steps: Steps, product: Any) -> None:
        """Add a product that was awaited."""
        self._made.setdefault(steps, []).append(product)

"""What every dialect answers to a question (docs/decisions/0014).

A dialect finds layers for a question and the policies between them, and merges them with
a `Folding`. The result is an `Answer`. From that alone reports make show, explain and diff,
as text and as data, for all dialects alike.
Answers are a `Node`, a `Folded`, cloud-init's `Merged`, and the explanations of Hiera and of bindings.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path


@runtime_checkable
class Answer(Protocol):
    """The contract of an answer: a value, and where each part of it was set. `Node` and `Folded` keep it.

    Every dialect gives its answers in this form. The methods raise BadArgument for a path that is not spelled right.

    >>> from nodeattrs import fold
    >>> isinstance(fold([{"a": 1}]), Answer)
    True
    """

    @property
    def value(self) -> Any:
        """The value as plain data; ABSENT where there is none."""
        ...

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """The origins of the value at *path*; () where the path is not set."""
        ...

    def trace(self, path: str | Path) -> Trace:
        """The claims about *path*, the winner first, each other one with the rule that overrode it; no claims where
        none is set.
        """
        ...

    def to_dict(self) -> Any:
        """The answer as data for JSON."""
        ...

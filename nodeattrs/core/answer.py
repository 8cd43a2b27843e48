"""The protocol of an answer: a merged value that can say where each part of it was set (docs/decisions/0014).

A dialect finds the layers for a question, and merges them with a `Folding`. Reports make show, explain and diff from
the resulting `Answer` alone. Answers are a `Node`, a `Folded`, cloud-init's `Merged`, and the explanations of Hiera
and of bindings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.errors import NodeattrsError


@runtime_checkable
class Answer(Protocol):
    """The protocol of an answer: a value, and where each part of it was set. `Node` and `Folded` implement it.

    `value` is the value of the whole answer, such as the merged tree; ABSENT without a value. `origins` and `trace`
    take a path in it: a path that is not set has the origins () and a trace without claims. Both raise BadArgument for
    a path that is not spelled right. `to_dict` gives data for JSON. `isinstance` only checks that the names exist.

    >>> from nodeattrs import fold
    >>> isinstance(fold([{"a": 1}]), Answer)
    True
    """

    @property
    def value(self) -> Any:
        """The value as plain data; ABSENT where there is none."""

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """The origins of the value at *path*; () where the path is not set."""

    def trace(self, path: str | Path) -> Trace:
        """The claims about *path*, the winner first, each other one with the rule that overrode it; no claims where
        none is set.
        """

    def to_dict(self) -> Any:
        """The answer as data for JSON."""


class LookupExplanation(Protocol):
    """The protocol of an explanation by another dialect (Hiera, bindings), for a key that a recipe looked up.

    `origins` and `trace` take a path in the value, and `to_dict` gives data for JSON.
    value:  the value; it has a meaning only if *error* is None
    error:  the reason why the key has no value; None if it has a value
    needed: the other keys that were looked up to compute the value
    """

    @property
    def value(self) -> Any: ...
    @property
    def error(self) -> NodeattrsError | None: ...
    @property
    def needed(self) -> Sequence[str]: ...

    def origins(self, path: Path) -> Iterable[Origin]: ...
    def trace(self, path: Path) -> Trace: ...
    def to_dict(self) -> dict[str, Any]: ...

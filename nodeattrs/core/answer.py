"""The adapter's contract: what every system gives for a question (docs/decisions/0014).

An adapter finds layers for a question and the policies between them, and lays them through
a `Folding`. What it hands out is an `Answer`; from that, and nothing else, reports lay out
show, explain and diff, as text and as data, for all systems alike. An adapter prints nothing.
Answers are a `Node`, a `Folded`, cloud-init's `Merged`, and the explanations of Hiera and of bindings.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path


@runtime_checkable
class Answer(Protocol):
    """A value that can say where each part of it came from.

    >>> from nodeattrs import fold
    >>> isinstance(fold([{"a": 1}]), Answer)
    True
    """

    @property
    def value(self) -> Any:
        """The value as plain data; ABSENT where there is none."""
        ...

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Everyone who set what stands at a path of the value; nobody where nothing stands."""
        ...

    def trace(self, path: str | Path) -> Trace:
        """Everyone who set a path, the winner first, with the rule that overrode each other one."""
        ...

    def to_dict(self) -> Any:
        """The answer as data for JSON."""
        ...

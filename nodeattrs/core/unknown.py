"""Layers that exist and cannot be read, and so might set anything.

Ruby that was not run, a server that was not asked, a file without its key. Such a layer
changes no value; a trace names it where it might have decided one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from nodeattrs.core.claim import Origin
from nodeattrs.core.policy import Meet, Policy
from nodeattrs.core.tree import Absent, Path
from nodeattrs.errors import UnknownLayer


class Unknown:
    """The value of a layer that cannot be read: it replaces the layer's tree.

    name:   the layer's name
    reason: why it is unknown, in words
    lines:  path -> line, for the paths that the layer may set; None: any path, on no known line
    """

    __slots__ = ("_above", "lines", "name", "reason")

    def __init__(self, name: str, reason: str, lines: Mapping[Path, int] | None = None) -> None:
        self.name, self.reason, self.lines = name, reason, lines
        self._above: dict[Path, int] = {}
        for path, line in (lines or {}).items():
            for depth in range(len(path) + 1):
                self._above.setdefault(path[:depth], line)

    def may_set(self, path: Path) -> bool:
        """Whether the layer may set a path, a path above it or one below it. cost: the depth of the path"""
        return self.lines is None or path in self._above or self.line(path) is not None

    def line(self, path: Path) -> int | None:
        """The line that may set the path, or the nearest path above it; else the first line that may set one
        below. Else None.
        """
        paths = (path[:depth] for depth in range(len(path), -1, -1))
        return next((line for at in paths if (line := (self.lines or {}).get(at))), self._above.get(path))

    def __eq__(self, other: object) -> bool:
        named = (self.name, self.reason, self.lines)
        return type(other) is Unknown and named == (other.name, other.reason, other.lines)

    def __hash__(self) -> int:
        return hash((self.name, self.reason))

    def __repr__(self) -> str:
        return "(unknown)"


def unknown_layer(unknown: Unknown, origin: Origin) -> UnknownLayer:
    """The UnknownLayer error for a caller that asked to be strict; it is returned, not raised."""
    return UnknownLayer(
        f"the layer {unknown.name!r} is unknown: {unknown.reason}",
        origins=(origin,),
        details=(f"it is named at {origin}",),
        hint="without strict the other layers answer, and explanations say where it might decide",
    )


class MergeSide(Protocol):
    """One of two values that meet.

    kind:    the exact type of the known value; Absent for no value
    unknown: the numbers of the unknown sources that may set a value there, too
    """

    @property
    def kind(self) -> type: ...

    @property
    def unknown(self) -> tuple[int, ...]: ...


def may_decide(policy: Policy, lower: MergeSide, upper: MergeSide) -> tuple[int, ...]:
    """The numbers of the unknown sources of both sides that might still change the result; () where none can."""
    below = lower.unknown if upper.kind is Absent or policy.shines_through(upper.kind) else ()
    above = upper.unknown if lower.kind is Absent or policy.may_change(lower.kind) else ()
    return tuple(dict.fromkeys((*below, *above)))


def may_meet(policy: Policy, lower: MergeSide, upper: MergeSide) -> bool:
    """Whether one side is a known map, the other one has only unknown sources, and the policy merges two maps.

    The unknown value may be a map, too, and then both are merged key by key.
    """
    known, other = (upper, lower) if lower.kind is Absent else (lower, upper)
    if not other.unknown or other.kind is not Absent or not issubclass(known.kind, dict):
        return False
    return type(policy.verdict(dict, dict)) is Meet

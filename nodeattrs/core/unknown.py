"""Unknown layers: layers that exist and cannot be read, and so might set anything.

Examples are Ruby that was not run, a server that was not asked, and a file without its key. Such a layer changes no
value; a trace names it where it might have decided a value. `may_decide` and `may_meet` say where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nodeattrs.core.claim import Origin
from nodeattrs.core.policy import Meet, Policy
from nodeattrs.core.tree import Absent, Path
from nodeattrs.errors import UnknownLayer


@dataclass(frozen=True, slots=True, repr=False)
class Unknown:
    """What stands in place of the tree of a layer that cannot be read. Nothing is read here.

    `may_set` says whether the layer may set a path, a path above it or one below it. `line` gives the line for a path;
    None if no line is known. Two are equal if all three fields are equal. An instance prints as "(unknown)".
    name:   the layer's name
    reason: why the layer is unknown, as the end of a sentence
    lines:  path -> line, for the paths that the layer may set; None: any path, on no known line; {}: none
    """

    name: str
    reason: str
    lines: Mapping[Path, int] | None = field(default=None, hash=False)
    _above: dict[Path, int] = field(default_factory=dict, init=False, compare=False)

    def __post_init__(self) -> None:
        for path, line in (self.lines or {}).items():
            for depth in range(len(path) + 1):
                self._above.setdefault(path[:depth], line)

    def may_set(self, path: Path) -> bool:
        """Whether the layer may set a path, a path above it or one below it. cost: the depth of the path"""
        return self.lines is None or path in self._above or self.line(path) is not None

    def line(self, path: Path) -> int | None:
        """The line that may set *path*, or the nearest path above; else the line of the first path in `lines` below it.

        None where no line is known.
        """
        lines = self.lines or {}
        for depth in range(len(path), -1, -1):
            if lines.get(path[:depth]):
                return lines[path[:depth]]
        return self._above.get(path)

    def __repr__(self) -> str:
        return "(unknown)"


def unknown_layer(unknown: Unknown, origin: Origin) -> UnknownLayer:
    """Returns, and does not raise, the UnknownLayer error for callers that refuse unknown layers.

    origin: the place that names the layer
    """
    return UnknownLayer(
        f"the layer {unknown.name!r} is unknown: {unknown.reason}",
        origins=(origin,),
        details=(f"it is named at {origin}",),
        hint="without strict the other layers answer, and explanations say where it might decide",
    )


class _Side(Protocol):
    """One of two values that meet.

    kind:    the exact type of the known value; Absent for no value
    unknown: the numbers of the unknown sources that may set a value there, too
    """

    @property
    def kind(self) -> type: ...

    @property
    def unknown(self) -> tuple[int, ...]: ...


def may_decide(policy: Policy, lower: _Side, upper: _Side) -> tuple[int, ...]:
    """The numbers of the unknown sources of both sides that might still change the result; () where none can.

    Sources of the lower side count if the upper value does not hide the lower one. Sources of the upper side count if
    a value there could change the lower one.
    """
    below = lower.unknown if upper.kind is Absent or policy.shines_through(upper.kind) else ()
    above = upper.unknown if lower.kind is Absent or policy.may_change(lower.kind) else ()
    return tuple(dict.fromkeys((*below, *above)))


def may_meet(policy: Policy, lower: _Side, upper: _Side) -> bool:
    """Whether one side is a known map, the other side has only unknown sources, and the policy merges two maps.

    The unknown value may be a map, too, and then both are merged key by key. False if both values are known.
    lower, upper: the two sides, each with the type of its known value and its unknown sources
    """
    known, other = (upper, lower) if lower.kind is Absent else (lower, upper)
    if not other.unknown or other.kind is not Absent or not issubclass(known.kind, dict):
        return False
    return type(policy.verdict(dict, dict)) is Meet

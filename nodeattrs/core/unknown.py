"""What is there and cannot be read: a layer that might set anything.

Ruby that was not run, a server that was not asked, a file without its key. Such a layer
changes no value; a trace names it where it might have decided one.
"""

from __future__ import annotations

from typing import Protocol

from nodeattrs.core.claim import Origin
from nodeattrs.core.policy import Meet, Policy
from nodeattrs.core.tree import Absent
from nodeattrs.errors import UnknownLayer


class Unknown:
    """In place of a layer's tree.

    name:   what the layer is called
    reason: why it is unknown, in words
    """

    __slots__ = ("name", "reason")

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason

    def __eq__(self, other: object) -> bool:
        return type(other) is Unknown and (self.name, self.reason) == (other.name, other.reason)

    def __hash__(self) -> int:
        return hash((self.name, self.reason))

    def __repr__(self) -> str:
        return "(unknown)"


def unknown_layer(unknown: Unknown, origin: Origin) -> UnknownLayer:
    """The error of whoever asked to be strict."""
    return UnknownLayer(
        f"the layer {unknown.name!r} is unknown: {unknown.reason}",
        origins=(origin,),
        details=(f"it is named at {origin}",),
        hint="without strict the other layers answer, and explanations say where it might decide",
    )


class Side(Protocol):
    """One of two that meet: the type of its value, and the sources in it that are unknown."""

    kind: type
    unknown: tuple[int, ...]


def may_decide(policy: Policy, lower: Side, upper: Side) -> tuple[int, ...]:
    """The unknown sources of both sides that might still decide what stands there."""
    below = lower.unknown if upper.kind is Absent or policy.shines_through(upper.kind) else ()
    above = upper.unknown if lower.kind is Absent or policy.may_change(lower.kind) else ()
    return tuple(dict.fromkeys((*below, *above)))


def may_meet(policy: Policy, lower: Side, upper: Side) -> bool:
    """Whether one side is a map and the other one unknown: it may be a map, too, and meet it key by key."""
    known, other = (upper, lower) if lower.kind is Absent else (lower, upper)
    if not other.unknown or other.kind is not Absent or not issubclass(known.kind, dict):
        return False
    return type(policy.verdict(dict, dict)) is Meet

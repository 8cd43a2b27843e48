"""What is there and cannot be read: a layer that might set anything.

Ruby that was not run, a server that was not asked, a file without its key. Such a layer
changes no value; a trace tells it where it might have decided one.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodeattrs.core.claim import Origin
from nodeattrs.errors import UnknownLayer

__all__ = ["Unknown", "unknown_layer"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """In place of a layer's tree.

    name:   what the layer is called
    reason: why it is unknown, in words
    """

    name: str
    reason: str

    def __repr__(self) -> str:
        return "(unknown)"

    __str__ = __repr__


def unknown_layer(unknown: Unknown, origin: Origin) -> UnknownLayer:
    """The error of whoever asked to be strict."""
    return UnknownLayer(
        f"the layer {unknown.name!r} is unknown: {unknown.reason}",
        origins=(origin,),
        said=(f"it is named at {origin}",),
        hint="without strict the other layers answer, and explanations say where it might decide",
    )

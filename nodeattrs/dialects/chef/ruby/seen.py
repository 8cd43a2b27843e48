"""What recipes in Ruby declare and leave open, as the session tells it to whoever keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.core.claim import Origin

RECIPE = "recipe"
"""What an origin calls a recipe."""


class Seen:
    """Takes what recipes declare and leave open; each method does nothing here. A subclass keeps it."""

    def declared(self, kind: str, title: str, properties: Mapping[str, Any], origin: Origin) -> None:
        """Take note of a declared resource."""

    def later(self, origin: Origin) -> None:
        """Take note of the place of a block that runs when resources converge."""

    def hidden(self, reason: str, origin: Origin) -> None:
        """Take note of a place from which on any attribute may be set."""

    def is_harmless(self, kind: str, origin: Origin | None) -> bool:
        """Whether an action of a resource, and its block at *origin*, can set no attribute; False where unknown."""
        return False

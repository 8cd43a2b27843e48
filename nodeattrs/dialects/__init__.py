"""The dialects, each in a folder of its own, and the registry that names them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.registry import BUILT_IN, Foreign, every, foreign, named

__all__ = ["BUILT_IN", "Foreign", "every", "foreign", "named"]

__getattr__ = imported(__name__, dict.fromkeys(__all__, "registry"))  # a dialect is used without the other ones

"""The dialects, each in a folder of its own; the built-in ones, and the registry of those of installed packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.built_in import BUILT_IN, named
    from nodeattrs.dialects.registry import Foreign, every, foreign

__all__ = ["BUILT_IN", "Foreign", "every", "foreign", "named"]

_HOMES = {name: "built_in" if name in ("BUILT_IN", "named") else "registry" for name in __all__}

__getattr__ = imported(__name__, _HOMES)  # a dialect is used without the other ones

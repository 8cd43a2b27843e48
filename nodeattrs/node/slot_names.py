"""The fifteen slots by name: what a table of precedence shows. It knows no policy; `slots` does."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_ENVIRONMENT = "_default"
"""The environment of a node of which nothing else is known; it says nothing."""

CHEF_RULES = "nodeattrs_rules"
"""In Chef's JSON: the rules for paths that the node reads its levels by. Chef does not know them, and ignores it."""

ATTRIBUTE_FILE, RECIPE, ENVIRONMENT, ROLE, FACTS = "attribute file", "recipe", "environment", "role", "facts"


class Slot(NamedTuple):
    """One of the fifteen slots.

    number: 1 to 15, as the Chef documentation counts
    level:  "default", "force_default", "normal", "override", "force_override" or "automatic"
    source: "attribute file", "recipe", "environment", "role" or "facts"
    """

    number: int
    level: str
    source: str

    @property
    def title(self) -> str:
        """What people call it: "force_default / recipe"."""
        return f"{self.level} / {self.source}"


SLOTS: tuple[Slot, ...] = (
    Slot(1, "default", ATTRIBUTE_FILE),
    Slot(2, "default", RECIPE),
    Slot(3, "default", ENVIRONMENT),
    Slot(4, "default", ROLE),
    Slot(5, "force_default", ATTRIBUTE_FILE),
    Slot(6, "force_default", RECIPE),
    Slot(7, "normal", ATTRIBUTE_FILE),
    Slot(8, "normal", RECIPE),
    Slot(9, "override", ATTRIBUTE_FILE),
    Slot(10, "override", RECIPE),
    Slot(11, "override", ROLE),
    Slot(12, "override", ENVIRONMENT),
    Slot(13, "force_override", ATTRIBUTE_FILE),
    Slot(14, "force_override", RECIPE),
    Slot(15, "automatic", FACTS),
)
"""Weakest first. The last one that sets a scalar wins."""

LEVELS = tuple(dict.fromkeys(slot.level for slot in SLOTS))
"""The levels, weakest first: "default", "force_default", "normal", "override", "force_override", "automatic"."""

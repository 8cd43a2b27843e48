"""The fifteen slots of a node and the six levels by name.

Modules that print a table of precedence use it, since it imports nothing else. The policies between slots are in
`slots`.
"""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_ENVIRONMENT = "_default"
"""The environment of a node that names no other one. It sets no attributes."""

CHEF_RULES = "nodeattrs_rules"
"""The key of Chef's node JSON that holds the rules for paths. Chef ignores it."""

ATTRIBUTE_FILE, RECIPE, ENVIRONMENT, ROLE, FACTS = "attribute file", "recipe", "environment", "role", "facts"


class Slot(NamedTuple):
    """The name of one of the fifteen slots: a number, a level and a source. It holds no values.

    number: 1 to 15, weakest first, as the Chef documentation counts
    level:  "default", "force_default", "normal", "override", "force_override" or "automatic"
    source: "attribute file", "recipe", "environment", "role" or "facts"
    title:  level and source as text: "force_default / recipe"
    """

    number: int
    level: str
    source: str

    @property
    def title(self) -> str:
        """Level and source as text: "force_default / recipe"."""
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
"""All fifteen, weakest first. The last slot that sets a scalar wins."""

LEVELS = tuple(dict.fromkeys(slot.level for slot in SLOTS))
"""The levels, weakest first: "default", "force_default", "normal", "override", "force_override", "automatic"."""

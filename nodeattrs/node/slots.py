"""The order of precedence as tables: ten components, three policies, and the plan that merges fifteen slots.

A slot is a level and a source, with a number from 1 to 15. A component is the part of a node that one writer changes,
as in Chef: `default`, `role_override`, ... A component that cookbooks write has two slots, one for attribute files and
one for recipes. PLAN says which slots are merged first, and under which policy. No values are kept here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nodeattrs.core.part import unite
from nodeattrs.core.policy import ANY, LIST, MAP, MEET, PRESENT, TAKE, Kind, Line, Policy
from nodeattrs.core.rules import PathRule, ruled
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import BadArgument, DocumentError, UnknownName
from nodeattrs.node.maps import AssignedMap, Branch, Joined, OwnedMap, WatchedMap
from nodeattrs.node.slot_names import CHEF_RULES, DEFAULT_ENVIRONMENT, SLOTS, Slot

__all__ = [
    "ACROSS",
    "COMPONENTS",
    "DEFAULT_ENVIRONMENT",
    "DEFAULT_GROUP",
    "INSIDE",
    "OVERRIDE_GROUP",
    "PAIR",
    "PLAN",
    "SLOTS",
    "Component",
    "Slot",
    "component",
    "rules_in",
    "under_rules",
]


class Component:
    """One of Chef's ten components by name, with the numbers of its slots. It holds no values.

    file:          the number of the slot that attribute files write
    recipe:        the number of the slot that recipes write; equal to `file` where the component has one slot
    has_two_slots: whether the two numbers differ
    """

    __slots__ = ("file", "has_two_slots", "name", "recipe")

    def __init__(self, name: str, file: int, recipe: int) -> None:
        self.name, self.file, self.recipe, self.has_two_slots = name, file, recipe, file != recipe


COMPONENTS: tuple[Component, ...] = (
    Component("default", 1, 2),
    Component("env_default", 3, 3),
    Component("role_default", 4, 4),
    Component("force_default", 5, 6),
    Component("normal", 7, 8),
    Component("override", 9, 10),
    Component("role_override", 11, 11),
    Component("env_override", 12, 12),
    Component("force_override", 13, 14),
    Component("automatic", 15, 15),
)
"""All ten, weakest first, as Chef's `debug_value` lists them."""

_BY_NAME = {one.name: one for one in COMPONENTS}


def component(name: str) -> Component:
    """The Component with a name: "default", "env_default", ..., "automatic".

    raises: UnknownName, for any other value, with similar names in its hint
    """
    try:
        return _BY_NAME[name]
    except (KeyError, TypeError):
        hint = hint_for(name, _BY_NAME) or "the levels are " + ", ".join(_BY_NAME)
        raise UnknownName(f"there is no level called {name!r}", hint=hint) from None


_ASSIGNED: Kind = "assigned map"
_MAPS: dict[type, Kind] = {OwnedMap: MAP, AssignedMap: MAP, WatchedMap: MAP, Joined: MAP}

PAIR = Policy(
    "recipe over attribute file",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "a recipe overrides an attribute file"),
    kinds={**_MAPS, AssignedMap: _ASSIGNED},
)
"""Rule 2: the recipe's value replaces the attribute file's. Two maps merge, unless a recipe assigned the upper one."""

INSIDE = Policy(
    "inside the level",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, unite, "two lists unite"),
    Line(ANY, PRESENT, TAKE, "the later component replaces the earlier one"),
    kinds=_MAPS,
)
"""Rule 1: between the components of one group. Lists unite."""

ACROSS = Policy(
    "across levels",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "the stronger level replaces the weaker one"),
    kinds=_MAPS,
)
"""Rule 3: between groups, each of which is merged first. Lists are replaced."""


DEFAULT_GROUP = Branch(INSIDE, (Branch(PAIR, (1, 2)), 3, 4, Branch(PAIR, (5, 6))))
NORMAL_GROUP = Branch(PAIR, (7, 8))
OVERRIDE_GROUP = Branch(INSIDE, (Branch(PAIR, (9, 10)), 11, 12, Branch(PAIR, (13, 14))))
PLAN = Branch(ACROSS, (DEFAULT_GROUP, NORMAL_GROUP, OVERRIDE_GROUP, 15))
"""The whole order of precedence. Fifteen trees merged by it are the node."""


@lru_cache(maxsize=256)
def under_rules(branch: Branch, rules: tuple[PathRule, ...]) -> Branch:
    """A copy of a branch of the plan in which rules for paths change the policies inside groups and between groups.

    Rules do not change how a recipe's slot merges over the attribute file's slot of its component (PAIR).
    """
    children = tuple(child if isinstance(child, int) else under_rules(child, rules) for child in branch.children)
    return Branch(branch.policy if branch.policy is PAIR else ruled(branch.policy, rules), children)


def rules_in(document: Mapping[str, Any]) -> tuple[PathRule, ...]:
    """The rules for paths in a snapshot or in Chef's node JSON; () where it has none.

    raises: DocumentError, where a rule cannot be read
    """
    written = document.get("rules" if "format" in document else CHEF_RULES)
    if not written:
        return ()
    try:
        return tuple(map(PathRule.from_dict, written))
    except (KeyError, TypeError, AttributeError, BadArgument) as error:
        raise DocumentError("the rules of this document cannot be read", hint="was it changed by hand?") from error

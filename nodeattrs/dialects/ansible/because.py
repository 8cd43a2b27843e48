"""Write sentences that say why one layer overrides another: by level, by group, by source, or by a known trap.

The module reads traces and the groups of an inventory; it changes no result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace, TraceClaim
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import LEVELS, MAGIC
from nodeattrs.dialects.ansible.templates import names_in_templates

_LEVEL = re.compile(r"\((\d+) of 22\)")
_GROUP = re.compile(r"\[(.+):vars\]|vars of (.+)")
_FILES = (
    "files in group_vars count more than the variables of any group in an inventory file, however special the group"
)
_TRAPS = {
    **{(upper, 3): _FILES for upper in (4, 5, 6, 7)},
    (6, 5): "files of a group beside the inventory count more than group_vars/all beside the playbook",
    (7, 6): "the playbook's files count more than the inventory's, also for a parent of the group",
    **{(12, lower): "the vars of a play count more than host_vars" for lower in (8, 9, 10)},
    (
        15,
        12,
    ): "a role's vars/main counts more than the vars of the play; what others shall change belongs in its defaults",
    (19, 18): "set_fact counts more than include_vars, whichever runs later",
    (21, 17): "vars of an include count more than vars of the tasks in it",
    (20, 19): "parameters of a role count more than what set_fact sets",
}
"""(winner's level, other's level) -> what people fall over there."""


class Mention(NamedTuple):
    """A variable that a template mentions.

    value:   ABSENT where it is not set
    origins: the lines that set it; where it is not set, the unknown layers that may set it
    """

    name: str
    value: object
    origins: tuple[Origin, ...]


def level_of(trace: Trace, one: TraceClaim) -> int:
    """The precedence level, 1 to 22, of a claim in a trace; 0 where the title of its layer has no level."""
    found = _LEVEL.search((trace.titles or {}).get(one.rank, ""))
    return int(found[1]) if found else 0


def group_of(origin: Origin) -> str | None:
    """The group whose variables an origin sets, in a file or in the inventory; None for any other origin."""
    if origin.kind == "group_vars":
        return origin.name
    found = _GROUP.fullmatch(origin.name) if origin.kind == "inventory" else None
    return next(filter(None, found.groups())) if found else None


def reasons(inventory: Inventory, trace: Trace) -> list[str]:
    """Why the winner of a trace overrides the other claims: one sentence for each reason, each once.

    [] if the path is not set or nothing is overridden. A claim without a precedence level gives no sentence. Nor does a
    claim on the line of the winner.
    """
    winner = trace.winner
    if winner is None:
        return []
    found = (_reason(inventory, trace, winner, one) for one in trace.losers)
    return list(dict.fromkeys(one for one in found if one))


def _reason(inventory: Inventory, trace: Trace, winner: TraceClaim, other: TraceClaim) -> str:
    upper, lower = level_of(trace, winner), level_of(trace, other)
    if upper != lower:
        if not (upper and lower):
            return ""
        trap = _TRAPS.get((upper, lower))
        if (upper, lower) == (15, 2) and winner.origin.name != other.origin.name:
            trap = "the vars of one role count more than the defaults of another one"
        return f"{LEVELS[upper]} ({upper}) over {LEVELS[lower]} ({lower})" + (f": {trap}" if trap else "")
    return _within(inventory, winner.origin, other.origin)


def _within(inventory: Inventory, winner: Origin, other: Origin) -> str:
    upper, lower = group_of(winner), group_of(other)
    if upper != lower and upper in inventory.groups and lower in inventory.groups:
        return _by_group(inventory, str(upper), str(lower))
    if winner.file != other.file:
        return f"{winner.file} is read after {other.file}"
    return f"line {winner.line} is read after line {other.line}" if winner.line != other.line else ""


def _by_group(inventory: Inventory, upper: str, lower: str) -> str:
    above, below = inventory.groups[upper], inventory.groups[lower]
    if above.depth > below.depth:
        return f"the group {upper} is deeper than {lower}"
    if above.depth == below.depth and above.priority > below.priority:
        return f"the group {upper} has the priority {above.priority}, {lower} has {below.priority}"
    if above.depth == below.depth and above.priority == below.priority and upper > lower:
        return f"the group {upper} comes later in the alphabet than {lower}, and both are equally deep"
    return f"the files of {upper} are in a later place than the files of {lower}"


def mentions(answer: Variables, value: object) -> Iterator[Mention]:
    """Yield the variables that a value's templates mention, in their order, with the values of the same host.

    Variables that Ansible sets itself are left out. A variable without a value is yielded with ABSENT, and with the
    places of unknown layers that may set it.
    """
    for name in names_in_templates(value):
        if name in MAGIC:
            continue
        if name in answer.vars:
            yield Mention(name, answer.vars[name], answer.origins((name,)))
        else:
            yield Mention(name, ABSENT, tuple(layer.origin.at(()) for layer in answer.unknown(name)))

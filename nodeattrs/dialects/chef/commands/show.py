"""`nodeattrs show`: the merged attributes of a node, or the attributes in single slots."""

from __future__ import annotations

from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.arguments import AT, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.core.unread import unread_layer
from nodeattrs.dialects.chef.commands.arguments import RUN
from nodeattrs.dialects.chef.commands.inputs import named_node
from nodeattrs.errors import BadUsage
from nodeattrs.node.slot_names import SLOTS
from nodeattrs.reports.attributes import shown_attributes
from nodeattrs.reports.show import ShownSlots, ShownTree, part_of, winner_of
from nodeattrs.reports.values import unread_at

_DESCRIPTION = """\
Print the attributes of a saved node, or with --repo of a run that is made now and not saved.
--level and --slot print single slots."""
_EXAMPLES = (
    "show web1",
    "show web1 apache2 --origins",
    "show web1 apache2 --winners",
    "show web1 apache2 --level default",
    "show web1 --slot 12 --slot 11",
)
_EXITS = {
    0: "shown",
    1: "not set, or an error",
    2: "not understood",
    5: "shown, and an unknown layer may override something of it",
}


_ARGUMENTS = (
    Argument(("node",), "the node's name", {"metavar": "NODE"}),
    Argument(("path",), "only this path (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "print the line that set each leaf beside it", {"action": "store_true"}),
    Argument(
        ("--winners",), "a row an attribute: its value, slot and line, and what it overrides", {"action": "store_true"}
    ),
    Argument(("--repo",), "run the node of this repository, and save nothing", {"metavar": "DIR"}),
    *RUN,
    *STORE,
    *AT,
    *output(),
    Argument(
        ("--level",),
        "the slots of one level; may be repeated",
        {"choices": tuple(dict.fromkeys(slot.level for slot in SLOTS)), "action": "append"},
    ),
    Argument(
        ("--slot",),
        "one slot; may be repeated",
        {
            "type": int,
            "choices": tuple(slot.number for slot in SLOTS),
            "metavar": f"1..{len(SLOTS)}",
            "action": "append",
        },
    ),
)


def _perform(question: Question) -> Output:
    """The merged attributes of a node, their winners, or single slots. raises: NodeNotFound, NoSuchAttribute"""
    asked = question.arguments
    path = path_of(asked["path"])
    if asked["winners"] and (asked["level"] or asked["slot"] or asked["origins"]):
        raise BadUsage("--winners is about all slots: leave --level, --slot and --origins out")
    node, revision, _ = named_node(question)
    if asked["level"] or asked["slot"]:
        chosen = tuple(
            slot
            for number, slot in node.slots.items()
            if slot.level in (asked["level"] or ()) or number in (asked["slot"] or ())
        )
        unread = [unread_layer(one.value, one.place(path), path) for slot in chosen for one in slot.unknown]
        return Output(ShownSlots(node.name, node.environment, path, chosen, asked["origins"]), unread=unread)
    value = part_of(node.to_dict(evaluate=False), path)
    if asked["winners"]:
        return Output(shown_attributes(node, path, revision), unread=unread_at(node, path))
    origins = winner_of(node) if asked["origins"] else None
    whose = {"node": node.name, "environment": node.environment}
    return Output(ShownTree(path, value, origins, whose), unread=unread_at(node, path))


COMMANDS = {"show": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, _EXITS, _perform, ())}

"""`nodeattrs show`: what is read on a node, or what single slots say."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import RUN, named_node
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import AT, STORE, output, path_of
from nodeattrs.node.slot_names import SLOTS

DESCRIPTION = """\
Show what is read on a node, as it was saved, or with --repo as a run would make it now;
or what single slots say, each for itself."""
EXAMPLES = """\
examples:
  nodeattrs show web1
  nodeattrs show web1 apache2 --origins
  nodeattrs show web1 apache2 --winners
  nodeattrs show web1 apache2 --level default
  nodeattrs show web1 --slot 12 --slot 11

exit codes:
  0 shown    1 could not be    2 not understood    5 shown, and an unknown layer may override something of it
"""


ARGUMENTS = (
    Argument(("node",), "its name", {"metavar": "NODE"}),
    Argument(("path",), "only what is there (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "beside each leaf, who set it and where", {"action": "store_true"}),
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


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the merged attributes of a node, their winners, or single slots. raises: NodeNotFound, NoSuchAttribute"""
    from nodeattrs.core.unread import unread_layer
    from nodeattrs.reports.attributes import shown_attributes
    from nodeattrs.reports.show import ShownNode, ShownSlots, part_of, winner_of
    from nodeattrs.reports.values import unread_at

    path = path_of(options.path)
    if options.winners and (options.level or options.slot or options.origins):
        options.refuse("--winners is about all slots: leave --level, --slot and --origins out")
    node, revision, _ = named_node(options, terminal)
    if options.level or options.slot:
        chosen = tuple(
            slot
            for number, slot in node.slots.items()
            if slot.level in (options.level or ()) or number in (options.slot or ())
        )
        unread = [unread_layer(one.value, one.place(path), path) for slot in chosen for one in slot.unknown]
        terminal.report(ShownSlots(node.name, node.environment, path, chosen, options.origins), unread)
        return 0
    value = part_of(node.to_dict(evaluate=False), path)
    if options.winners:
        terminal.report(shown_attributes(node, path, revision), unread_at(node, path))
    else:
        origins = winner_of(node) if options.origins else None
        terminal.report(ShownNode(node.name, node.environment, path, value, origins), unread_at(node, path))
    return 0

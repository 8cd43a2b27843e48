"""A node as a fold of the core: fifteen layers under the policies of docs/merging.md."""

from __future__ import annotations

from nodeattrs.core.fold import Fold, Layer
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.maps import Branch
from nodeattrs.node.slot_tree import SlotTree
from nodeattrs.node.slots import PAIR, PLAN
from tests.ledgers import ledger_of


def fold_of_node(node: Attributes, branch: Branch = PLAN) -> Fold:
    """Some slots of a node as a fold; PLAN for all of them."""
    slots = node.slots
    children = tuple(
        _in_slot(slots[child]) if isinstance(child, int) else fold_of_node(node, child) for child in branch.children
    )
    return Fold(children, ledger_of(node).plan(branch).policy)


def _in_slot(slot: SlotTree) -> Layer | Fold:
    return Fold((slot.layer(), *slot.unknown), PAIR) if slot.unknown else slot.layer()

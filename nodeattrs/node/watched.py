"""A node that notes which of its facts a run reads, and whether the run reads its name.

A *look* is a read of a fact or of the name. Nodes with equal values at all looks of a run share its answer
(`core.looks`, `contract.sharing`). This module switches the notes on; `view` and `maps.WatchedMap` note the reads of
facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from nodeattrs.core.looks import NAME, TREE, Looks
from nodeattrs.core.tree import checked_name
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.node import Node


class WatchedNode(Node):
    """A Node that notes a look when its `name` is read.

    It does so only after `note_looks` was called for it; before that it is a plain Node. Assigning a new name then
    calls `Looks.refuse`, since the answer of such a run may not be used for other nodes.
    """

    @property
    def name(self) -> str:
        """The name of the node. Reading it is noted as a look."""
        if (looks := self._ledger.looks) is not None:
            looks.note(*NAME)
        return str(self.__dict__["name"])

    @name.setter
    def name(self, value: str) -> None:
        if (looks := self._ledger.looks) is not None:
            looks.refuse("a cookbook renames the node")
        self.__dict__["name"] = checked_name(value, "node")


def note_looks(node: Attributes, looks: Looks | None, facts: Mapping[Any, Any]) -> None:
    """Note the reads of a node's facts and name in *looks* from now on; call it before facts are set.

    looks: gets *facts*, the node's facts as their file has them; None switches the notes off
    """
    if looks is not None:
        looks.facts = facts
    node._ledger.looks = looks


def looks_of(node: Attributes) -> Looks | None:
    """The Looks in which the reads of a node are noted; None where they are not noted."""
    return node._ledger.looks


def name_of(node: Attributes) -> str:
    """The name of a node, without noting a look: for messages and paths that are no part of an answer."""
    return str(vars(node)["name"])


def note_overlaps(node: Attributes) -> None:
    """Note a look at the whole fact of each top-level key that a slot other than 15, the facts, has.

    A key is noted even if this node has no fact of that name: a node with the fact merges it with the key.
    Slot 15 is not read. Does nothing if looks are not noted.
    """
    looks = looks_of(node)
    if looks is not None:
        for key in dict.fromkeys(chain.from_iterable(node._ledger.trees[:-1])):
            looks.note(TREE, (key,))

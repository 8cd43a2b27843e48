"""Where code looks at a node: at its name and its facts.

Used by a run whose answer others may share (`core.looks`). The merged view and `WatchedMap` note reads of facts.
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
    """A node that notes where code looks at its name and its facts. Call `note_looks` before the facts are set."""

    @property
    def name(self) -> str:
        """The name; reading it is a look."""
        if (looks := self._ledger.looks) is not None:
            looks.note(*NAME)
        return str(self.__dict__["name"])

    @name.setter
    def name(self, value: str) -> None:
        if (looks := self._ledger.looks) is not None:
            looks.refuse("a cookbook renames the node")
        self.__dict__["name"] = checked_name(value, "node")


def note_looks(node: Attributes, looks: Looks | None, facts: Mapping[Any, Any]) -> None:
    """Note from now on where the facts of a node are read, before they are set. looks: None notes nothing"""
    if looks is not None:
        looks.facts = facts
    node._ledger.looks = looks


def looks_of(node: Attributes) -> Looks | None:
    """Where the looks at a node are noted; None where they are not."""
    return node._ledger.looks


def name_of(node: Attributes) -> str:
    """The name of a node, read for what is no part of an answer: this is no look."""
    return str(vars(node)["name"])


def note_overlaps(node: Attributes) -> None:
    """Note a look at the facts below each top-level key that another slot has: facts there hide what others set."""
    ledger = node._ledger
    if ledger.looks is not None:
        for key in dict.fromkeys(chain.from_iterable(ledger.trees[:-1])):
            ledger.looks.note(TREE, (key,))

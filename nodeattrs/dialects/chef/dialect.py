"""Nodes of a Chef repository: each is run, and nothing is saved."""

from __future__ import annotations

from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Chef(Dialect):
    """Roles, environments, cookbooks and nodes."""

    name = "nodes"
    needs_facts = True

    def open(self, side: Side, request: Request) -> Opened:
        """The nodes of one version of the repository."""
        from nodeattrs.dialects.chef.opened import Nodes

        return Nodes(side, request)

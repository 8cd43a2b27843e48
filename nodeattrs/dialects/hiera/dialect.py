"""Every key of a Hiera tree, as each node gets it."""

from __future__ import annotations

from nodeattrs.contract.dialect import Dialect, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Hiera(Dialect):
    """A hiera.yaml and its data."""

    name = "hiera"
    option = Option("--hiera", "PLACE", "a hiera.yaml, or a folder with one (default: as set)")
    needs_facts = True
    facts_choose_files = True

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the tree."""
        from nodeattrs.dialects.hiera.opened import HieraKeys

        return HieraKeys(side, request)

"""Every key of a site of bindings, as each node gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from nodeattrs.contract.dialect import Dialect, Looked, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Bindings(Dialect):
    """A site with modules that bind keys (Puppet's ARM-8)."""

    name = "bindings"
    option = Option("--site", "DIR", "the site of bindings (default: as set, or here)")
    needs_facts = True
    facts_choose_files = True

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the site."""
        from nodeattrs.dialects.bindings.opened import BindingKeys

        return BindingKeys(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[Looked]:
        """The site that the settings name, else a repository with bindings in their own language."""
        from nodeattrs.dialects.bindings.checking import looked

        return looked(folder)

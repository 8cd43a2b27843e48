"""The dialect `catalogs`, whose subjects are files with catalogs that Puppet compiled.

The reading of catalogs (`opened`) is imported when `open` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs.contract.dialect import Dialect, Opened, Option

if TYPE_CHECKING:  # only their names: a list of dialects asks nothing
    from nodeattrs.contract.request import Request
    from nodeattrs.contract.sides import Side


class CompiledCatalogs(Dialect):
    """The dialect of catalogs that Puppet compiled: a folder with a file NODE.json for each catalog.

    `open` gives one version of the folder. The class has no other methods of its own.
    """

    name = "catalogs"
    noun = "catalog"
    option = Option("--catalogs", "DIR", "compiled catalogs, NAME.json (default: catalogs)")

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the folder."""
        from nodeattrs.dialects.catalogs.opened import Catalogs

        return Catalogs(side, request)

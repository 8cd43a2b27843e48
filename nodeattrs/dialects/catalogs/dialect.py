"""The dialect `catalogs`, whose subjects are files with catalogs that Puppet compiled.

The reading of catalogs (`opened`) is imported when `open` is called.
"""

from __future__ import annotations

from nodeattrs.contract.dialect import Dialect, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class CompiledCatalogs(Dialect):
    """The dialect of catalogs that Puppet compiled: a folder with a file NAME.json for each catalog.

    `open` gives one version of the folder.
    """

    name = "catalogs"
    noun = "catalog"
    option = Option("--catalogs", "DIR", "compiled catalogs, NAME.json (default: catalogs)")

    def open(self, side: Side, request: Request) -> Opened:
        """The catalogs in one version of the folder, as a `Catalogs`; reads no file yet."""
        from nodeattrs.dialects.catalogs.opened import Catalogs

        return Catalogs(side, request)

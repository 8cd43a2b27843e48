"""Sets of user-data for cloud-init."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from nodeattrs.contract.dialect import Dialect, Looked, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class CloudInit(Dialect):
    """The sets of [cloud-init.NAME], and folders with user-data as a data source has them."""

    name = "cloud-init"
    noun = "set"

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the files."""
        from nodeattrs.dialects.cloudinit.opened import UserData

        return UserData(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[Looked]:
        """Files that begin with `#cloud-config`, each for itself."""
        from nodeattrs.dialects.cloudinit.checking import looked

        return looked(folder, count)

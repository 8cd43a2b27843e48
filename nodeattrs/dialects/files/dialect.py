"""Plain files that nodeattrs.toml folds by a named policy."""

from __future__ import annotations

from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Files(Dialect):
    """The folds of [fold.NAME]."""

    name = "folds"
    noun = "fold"

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the files."""
        from nodeattrs.dialects.files.opened import Folds

        return Folds(side, request)

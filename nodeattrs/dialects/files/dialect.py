"""Plain files that nodeattrs.toml folds by a named policy."""

from __future__ import annotations

from collections.abc import Mapping

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Files(Dialect):
    """Plain files that are merged into one tree: [fold.NAME] of nodeattrs.toml, else charts and Compose files."""

    name = "folds"
    noun = "fold"
    command = "fold"
    summary = "merge config files, and name the line of each value"
    description = (
        "Merge files, the weakest first, and print the merged tree, as YAML or in another --format. Files are YAML,\n"
        "JSON, TOML, .env, .ini or .properties. A folder means its files by name, a quoted pattern the files that it\n"
        "matches, - standard input."
    )

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the files."""
        from nodeattrs.dialects.files.opened import Folds

        return Folds(side, request)

    def commands(self) -> Mapping[str, Command]:
        """The one command of the dialect, under the name ""."""
        from nodeattrs.dialects.files.commands import COMMANDS

        return COMMANDS

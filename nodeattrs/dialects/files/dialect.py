"""The dialect of plain files: folds of nodeattrs.toml, charts and releases of Helm, and Compose files.

Its other modules are imported when a verb or a command needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nodeattrs.contract.dialect import CheckedFiles, Dialect, Opened

if TYPE_CHECKING:  # only their names: a list of dialects asks nothing
    from nodeattrs.contract.command import Command
    from nodeattrs.contract.request import Request
    from nodeattrs.contract.sides import Side


class Files(Dialect):
    """Plain files that are merged into one tree. `check` finds values of charts that no template reads.

    Its subjects are the folds [fold.NAME] of nodeattrs.toml. Where the settings name none: the charts, releases of Helm
    and Compose files that are found in the folder.
    """

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
        """One version of the files; nothing is read until a question is asked."""
        from nodeattrs.dialects.files.opened import Folds

        return Folds(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Values of charts of Helm that no template reads, and misspelt keys; nothing where there is no chart.

        count: called with each Chart.yaml that is checked
        """
        from nodeattrs.dialects.files.checking import checked

        return checked(folder, count)

    def commands(self) -> Mapping[str, Command]:
        """The one command, `nodeattrs fold`, under the name ""."""
        from nodeattrs.dialects.files.commands import COMMANDS

        return COMMANDS

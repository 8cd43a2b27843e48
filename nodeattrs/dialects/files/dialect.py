"""The dialect of plain files: folds of nodeattrs.toml, charts and releases of Helm, and Compose files.

Its other modules are imported when a verb or a command needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import CheckedFiles, Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Files(Dialect):
    """The dialect of plain files that are merged into one tree.

    Its subjects are the folds [fold.NAME] of nodeattrs.toml. If it names none, they are what the folder has: charts,
    releases of Helm, Compose files and files of Spring. A folder with nothing of these has no subjects. `open` gives
    the `Folds` of one version of the files. `check` finds values of charts that no template reads, and misspelt keys.
    `commands` gives the command `nodeattrs fold`.
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
        """The folds in one version of the files. Nothing is read before the first question."""
        from nodeattrs.dialects.files.opened import Folds

        return Folds(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Yield the findings: values of charts that no template reads, and misspelt keys. Nothing without a chart.

        count: called with each Chart.yaml that is checked
        """
        from nodeattrs.dialects.files.checking import check_charts

        return check_charts(folder, count)

    def commands(self) -> Mapping[str, Command]:
        """The one command, `nodeattrs fold`, under the name ""."""
        from nodeattrs.dialects.files.commands import COMMANDS

        return COMMANDS

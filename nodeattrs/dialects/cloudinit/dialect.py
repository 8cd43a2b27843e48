"""The dialect of cloud-init, as the verbs and the command line know it.

Its other modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import CheckedFiles, Dialect, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class CloudInit(Dialect):
    """The dialect cloud-init. Its subjects are sets of user-data: one for each machine or kind of machine.

    A set is a section [cloud-init.NAME] of the settings, or a folder with a file `user-data`, as data sources have it.
    Without sections, each other file that begins with `#cloud-config` is a set, too, unless it is a template of another
    program.

    `open` gives the sets in one version of the files. `check` yields the findings in a folder. The class has no state,
    and `open` reads nothing.
    """

    name = "cloud-init"
    noun = "set"
    command = "cloud-config"
    summary = "merge, check and explain cloud-init user-data offline"
    description = (
        "Merge cloud-init user-data as cloud-init does, without a machine, without root and without a network:\n"
        "any mix of cloud-config, MIME, gzip, archives and JSON patches, with conf.d folders and vendor-data."
    )
    examples = (
        "cloud-config merge base.yaml web.yaml",
        "cloud-config explain base.yaml web.yaml --path runcmd",
        "cloud-config check user-data.mime",
        "cloud-config merge base.yaml web.yaml --how append",
        "cloud-config pack base.yaml web.yaml --merge-type append > user-data.mime",
    )

    def open(self, side: Side, request: Request) -> Opened:
        """The sets of user-data in one version of the files. Reads nothing yet."""
        from nodeattrs.dialects.cloudinit.opened import UserData

        return UserData(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Check the files in a folder that begin with `#cloud-config`, each by itself; count gets each path."""
        from nodeattrs.dialects.cloudinit.checking import checked_files

        return checked_files(folder, count)

    def commands(self) -> Mapping[str, Command]:
        """The commands of `nodeattrs cloud-config`: name -> command."""
        from nodeattrs.dialects.cloudinit.commands import COMMANDS

        return COMMANDS

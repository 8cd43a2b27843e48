"""Sets of user-data for cloud-init."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import CheckedFiles, Dialect, FirstSteps, Opened
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class CloudInit(Dialect):
    """The sets of [cloud-init.NAME], and folders with user-data as a data source has them."""

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
        """One version of the files."""
        from nodeattrs.dialects.cloudinit.opened import UserData

        return UserData(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Files that begin with `#cloud-config`, each for itself."""
        from nodeattrs.dialects.cloudinit.checking import looked

        return looked(folder, count)

    def first_steps(self, folder: Path) -> FirstSteps | None:
        """The merged config of a file that begins with `#cloud-config`, where no folder is a data source."""
        from nodeattrs.dialects.cloudinit.checking import begun_in

        files = begun_in(folder)
        if not files:
            return None
        first = shlex.quote(files[0])
        count = f"{len(files)} file{'s' * (len(files) != 1)}"
        commands = (f"nodeattrs cloud-config merge {first}", f"nodeattrs cloud-config check {first}")
        return FirstSteps(f"{count} of cloud-init's #cloud-config, such as {files[0]}", commands)

    def commands(self) -> Mapping[str, Command]:
        """The commands of the dialect beside the verbs, by name."""
        from nodeattrs.dialects.cloudinit.commands import COMMANDS

        return COMMANDS

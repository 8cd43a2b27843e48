"""The dialect `hiera`, as the verbs and the command line know it.

Its other modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import Dialect, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side

_OF_PUPPET = ("environment.conf", "Puppetfile", "hieradata")


class Hiera(Dialect):
    """The dialect of a hiera.yaml and its data: subjects are nodes, and the parts of an answer are keys.

    Class attributes are the declarations of `contract.dialect.Dialect`. `ways_on` yields advice for a folder without
    hiera.yaml, and `complete` the keys for a shell.
    """

    name = "hiera"
    option = Option("--hiera", "PLACE", "a hiera.yaml, or a folder with one (default: as set)")
    needs_facts = True
    facts_choose_files = True
    command = "hiera"
    found_upwards = "hiera.yaml"
    summary = "look keys up as Puppet does, with the line of each value"
    description = (
        "Ask layers of Hiera 5 data, for one node or for all of a folder of facts. The tree is hiera.yaml\n"
        "here, or what --hiera or --environmentpath name."
    )
    examples = (
        "hiera lookup ntp::servers --hiera cookbooks_example/hiera --node web1 --facts cookbooks_example/facts",
        "hiera explain ntp::servers --environmentpath environments --node web1",
        "hiera lookup users --facts facts/ --merge deep --knock-out-prefix=--",
        "hiera list --facts facts/web1.yaml",
        "hiera diff web1 web2 --facts facts/",
        "hiera who-has ntp::servers",
        "hiera unused --facts facts/",
        "hiera matrix ntp::servers --facts facts/",
        "hiera variables --facts facts/",
        "hiera ready-for-8 --facts facts/",
        "facter --json | nodeattrs hiera lookup ntp::servers --node web1 --facts - --set role=web",
    )

    def open(self, side: Side, request: Request) -> Opened:
        """The tree in one version of the files; reads nothing yet."""
        from nodeattrs.dialects.hiera.opened import HieraKeys

        return HieraKeys(side, request)

    def ways_on(self, folder: Path) -> Iterable[str]:
        """Yield advice for a folder with files of Puppet, or with a hiera.yaml without data; nothing for others."""
        if (folder / "hiera.yaml").is_file():
            yield "hiera.yaml names no data file that is here: `nodeattrs hiera variables` says what its paths need"
            return
        for mark in _OF_PUPPET:
            if (folder / mark).exists():
                yield f"{mark} is Puppet's, and there is no hiera.yaml that counts: one elsewhere is named with"
                yield "`nodeattrs hiera lookup KEY --hiera-config FILE`"
                return

    def commands(self) -> Mapping[str, Command]:
        """The commands of the dialect beside the verbs, by name."""
        from nodeattrs.dialects.hiera.commands import COMMANDS

        return COMMANDS

    def complete(self, noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """The keys that the nodes may look up, for "KEY"; () for another noun. Reads the data files."""
        from nodeattrs.dialects.hiera.commands import known_keys

        return known_keys(arguments) if noun == "KEY" else ()

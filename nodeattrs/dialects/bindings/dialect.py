"""The dialect `bindings`, as the verbs and the command line know it.

Its other modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import CheckedFiles, Dialect, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Bindings(Dialect):
    """The dialect of sites with modules that bind keys (Puppet's ARM-8, "Hiera 2"). `check` yields the findings of a
    site."""

    name = "bindings"
    option = Option("--site", "DIR", "the site of bindings (default: as set, or here)")
    needs_facts = True
    facts_choose_files = True
    command = "bindings"
    summary = "Puppet ARM-8 data bindings: check, look up, explain"
    description = (
        "Read the bindings of a site in their layers, for one node: find everything that is wrong before anything\n"
        "runs, give the value of a key, and say why it won. docs/bindings.md says how they are written."
    )
    examples = (
        "bindings check --site cookbooks_example/bindings --node web1.example.com",
        "bindings inject ssh::port --site cookbooks_example/bindings --node web1.example.com",
        "bindings explain ssh::port --site cookbooks_example/bindings --node web1.example.com",
        "bindings check --all-nodes --site cookbooks_example/bindings",
        "bindings matrix shop::workers --site cookbooks_example/bindings --facts cookbooks_example/facts",
        "what-if --dialect bindings --without resolutions --site cookbooks_example/bindings",
        "bindings graph --site cookbooks_example/bindings | dot -Tsvg > bindings.svg",
    )

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the site; nothing is read yet."""
        from nodeattrs.dialects.bindings.opened import BindingKeys

        return BindingKeys(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """The findings of the site of a repository; nothing if it has no bindings. count: not called"""
        from nodeattrs.dialects.bindings.checking import checked_site

        return checked_site(folder)

    def commands(self) -> Mapping[str, Command]:
        """The commands of the dialect beside the verbs, by name."""
        from nodeattrs.dialects.bindings.commands import COMMANDS

        return COMMANDS

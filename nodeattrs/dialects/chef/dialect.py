"""The dialect of Chef, as other packages know it without loading its other modules. `Chef` is its entry in `BUILT_IN`.

Imports of the dialect's other modules are inside the methods, so that a command of another dialect does not load them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from nodeattrs.contract.command import Command, CommandGroup
from nodeattrs.contract.dialect import CheckedFiles, Dialect, FirstSteps, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Chef(Dialect):
    """The dialect whose subjects are the nodes of a Chef repository. It has no state; each method loads what it needs.

    `open` gives the nodes of one version of the files (`opened.Nodes`), and `check` the findings of a folder.
    `platform` gives the file with the facts of a platform. `complete` gives completions for the shell, and
    `first_steps` gives commands for a repository without nodes. `top` returns a command by its name.

    tops: the name of each command that is not a verb -> its summary in the help
    """

    name = "nodes"
    option = Option("--cookbook-path", "DIR", "a further folder with cookbooks; repeatable")
    needs_facts = True
    checks_settings = True
    kinds = ("nodes", "roles", "environments", "cookbooks", "policies", "data-bags", "fields")
    tops: ClassVar[Mapping[str, str]] = {
        "run": "compute the attributes of nodes and save the result",
        "show": "show the attributes of a node",
        "explain": "name the line that set a value of a node",
        "facts": "show facts of this machine, a platform or a file",
        "shell": "open a Python prompt with a node",
        "role": "show what a role sets",
        "environment": "show what an environment sets",
        "catalog": "list, order, compare and apply what recipes declare",
        "history": "list the revisions of a node",
        "diff": "compare nodes or revisions, with the line of each side",
        "matrix": "print the values of an attribute on many nodes",
        "search": "search saved nodes by their attributes",
        "status": "show the last run of each node: age and result",
        "node": "set or remove a stored attribute, or restore a revision",
        "store": "check, prune, export, import or copy the store",
        "fleet": "compute and save many nodes on all processors",
    }

    def open(self, side: Side, request: Request) -> Opened:
        """The nodes of one version of the repository, as an `opened.Nodes`; reads no file of the repository yet."""
        from nodeattrs.dialects.chef.opened import Nodes

        return Nodes(side, request)

    def platform(self, name: str) -> Path | None:
        """The file that comes with nodeattrs and has the facts of a platform. raises: NotFound, with similar names"""
        from nodeattrs.dialects.chef.facts.known import platform_file

        return platform_file(name, None)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """The findings in settings, roles, environments, nodes, data bags, cookbooks and Hiera trees of a folder."""
        from nodeattrs.dialects.chef.checks.checking import checked_files

        return checked_files(folder)

    def first_steps(self, folder: Path) -> FirstSteps | None:
        """Commands for a first run, with the first cookbook by name; None for a folder without cookbooks.

        For folders in which no node was found.
        """
        cookbooks = sorted({file.parent.name for file in folder.glob("*cookbooks/*/metadata.*")})
        if not cookbooks:
            return None
        item = shlex.quote(f"recipe[{cookbooks[0]}]")
        run = f"nodeattrs run --new --node test --run-list {item} --platform debian-12 --ruby"
        count = f"{len(cookbooks)} cookbook{'s' * (len(cookbooks) != 1)}"
        return FirstSteps(f"{count} of Chef, and no node", (run, "nodeattrs show test --winners"))

    def complete(self, noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """Completions for an argument: names of nodes for "NODE", else the names of a kind of `list`, else ()."""
        from nodeattrs.dialects.chef.commands.listed import known_names

        return known_names(noun, arguments) if noun in ("NODE", *self.kinds) else ()

    def top(self, name: str) -> Command | CommandGroup:
        """The command of a name in `tops`; loads the module that declares it. Another name raises an ImportError."""
        module = "role" if name == "environment" else name
        found: Command | CommandGroup = import_module(f"nodeattrs.dialects.chef.commands.{module}").COMMANDS[name]
        return found

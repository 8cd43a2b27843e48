"""The commands about nodes, declared as data: `run`, `explain`, `search`, ...; each imports its work when it runs."""

from __future__ import annotations

from importlib import import_module

from nodeattrs.contract.command import Command, Group

_MODULES = {"environment": "role"}
"""Command -> the module here that declares it, where that has another name."""


def command_of(name: str) -> Command | Group:
    """The command of a name. raises: ModuleNotFoundError, for any other name"""
    found: Command | Group = import_module(f"{__name__}.{_MODULES.get(name, name)}").COMMANDS[name]
    return found

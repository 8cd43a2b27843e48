"""Options and helpers that many commands share: adding arguments, settings, limits, and whether code may run."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.formats.nearest import SETTINGS_FILE, is_ours, nearest

if TYPE_CHECKING:
    from nodeattrs.project.settings import Settings

_NUMBER = re.compile(r"(?a)\d{1,18}(?:\.\d{1,9})?")


def limits_of(options: argparse.Namespace, of_settings: Mapping[str, float]) -> AbstractContextManager[object]:
    """A context manager: within the block the limits of --budget are in force, and other limits as in the settings.

    of_settings: limit -> number, from the settings
    raises:      BadArgument, for a --budget that is no limit, and for an unknown limit in either
    """
    given = [one.partition("=") for one in getattr(options, "budget", None) or ()]
    if not (given or of_settings):
        return contextlib.nullcontext()
    from nodeattrs.core.budget import in_force, limited

    numbers: dict[str, float] = {}
    for name, _, most in given:
        if not _NUMBER.fullmatch(most):
            raise BadArgument(f"--budget {name}={most} is no limit", hint="write --budget values=2000000")
        numbers[name] = float(most) if "." in most else int(most)
    return limited(in_force().replaced(**of_settings).replaced(**numbers))


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings for the parsed options: found and validated at the first use, and kept in `options.settings`.

    raises: NotFound, for a repository that is not there; DocumentError, for a bad nodeattrs.toml
    """
    from nodeattrs.project.settings import Settings

    found = getattr(options, "settings", None)
    if not isinstance(found, Settings):
        found = options.settings = Settings(vars(options), os.environ)
    return found


_RUNNING: dict[str, Callable[[argparse.Namespace], bool]] = {
    "run": lambda options: True,
    "fleet": lambda options: True,
    "impact": lambda options: not options.no_run_code,
    "what-if": lambda options: not options.no_run_code,
    "facts": lambda options: True,  # of this machine; no document says which
    "explain": lambda options: options.repo is not None,
    "matrix": lambda options: options.repo is not None,
    "show": lambda options: options.repo is not None,
    "shell": lambda options: options.repo is not None,
    "catalog": lambda options: getattr(options, "repo", None) is not None or options.action == "apply",
}
"""Command -> a function from its options to whether code runs. Other commands run none; SECURITY.md has the table."""


def may_run_code(options: argparse.Namespace) -> bool:
    """Whether code may run: because of the command, or of --run-code. No setting allows it."""
    runs = _RUNNING.get(options.command)
    return getattr(options, "run_code", False) or (runs is not None and runs(options))


def settings_limits(options: argparse.Namespace, terminal: Terminal) -> Mapping[str, float]:
    """Read the nodeattrs.toml that counts, and print warnings about it; returns the limits that it sets, {} for none.

    For a command with a store it is the file of the store's repository. Another command with the option `--budget`
    reads the file of the named repository, or else the nearest file, if that belongs to the current user or root.
    options: the parsed options; `command`, `repo`, `store` and `budget` are used if they are there
    raises:  NotFound, DocumentError, for bad settings. For `check` they give {} and no warning: it reports them itself
    """
    if options.command == "check":
        from nodeattrs.project.config import RepositorySettings

        with contextlib.suppress(NodeattrsError):
            return RepositorySettings(options.repo).config.limits
        return {}  # settings that cannot be read become findings
    if hasattr(options, "store"):
        settings = settings_of(options)
        limits = settings.repository.config.limits if settings.repository is not None else {}
        terminal.warn(settings.warnings)
        return limits
    named = getattr(options, "repo", None) or os.environ.get("NODEATTRS_REPO")
    folder = named or nearest(SETTINGS_FILE)
    file = os.path.join(folder or "", SETTINGS_FILE)
    if folder is None or not hasattr(options, "budget") or not os.path.lexists(file) or not (named or is_ours(file)):
        return {}
    from nodeattrs.project.settings import settings_in

    config, warnings = settings_in(file, SETTINGS_FILE)
    terminal.warn(warnings)
    return config.limits


MAY_BE_DASHES = frozenset({"--knock-out-prefix"})
"""Options whose value may be `--` alone, as Puppet's users write it: a word of its own, or behind `=`."""
MARKED = "\0"


def unmarked(value: str) -> str:
    """The value of an option without the mark that protects dashes from argparse; other values stay."""
    return value.removeprefix(MARKED)


def add_arguments_of(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """Add declared arguments to a parser, in groups; arguments of one choice exclude each other.

    A choice whose name ends in "!" requires one of its arguments. An argument without help is hidden.
    """
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in arguments:
        if one.group not in groups:
            groups[one.group] = parser.add_argument_group(one.group)
        group = groups[one.group]
        if one.choice:
            if one.choice not in groups:
                groups[one.choice] = group.add_mutually_exclusive_group(required=one.choice.endswith("!"))
            group = groups[one.choice]
        keywords = one.keywords if MAY_BE_DASHES.isdisjoint(one.names) else {**one.keywords, "type": unmarked}
        group.add_argument(*one.names, help=one.help or argparse.SUPPRESS, **keywords)

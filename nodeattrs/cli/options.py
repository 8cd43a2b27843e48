"""What a command line says beside the words of its command: settings, limits, and whether code runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from nodeattrs.cli.help import Help
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.formats.nearest import SETTINGS_FILE, is_ours, nearest

if TYPE_CHECKING:
    from nodeattrs.project.settings import Settings

_NUMBER = re.compile(r"(?a)\d{1,18}(?:\.\d{1,9})?")


def actions_of(
    parser: argparse.ArgumentParser, summaries: Mapping[str, str], epilogs: Mapping[str, str] | None = None
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield (name, parser) for each action of a command.

    summaries: action -> its summary, for the help of command and action
    epilogs:   action -> the end of its help, printed line by line
    """
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for name, summary in summaries.items():
        epilog = (epilogs or {}).get(name)
        yield (
            name,
            actions.add_parser(
                name,
                help=summary,
                description=f"{summary[0].upper()}{summary[1:]}.",
                epilog=epilog,
                formatter_class=Help,
                allow_abbrev=False,
            ),
        )


def limits_of(options: argparse.Namespace, settled: Mapping[str, float]) -> AbstractContextManager[object]:
    """A context in which the limits of --budget are in force, else the limits of the settings.

    raises: BadArgument, where --budget is no limit
    """
    given = [one.partition("=") for one in getattr(options, "budget", None) or ()]
    if not (given or settled):
        return contextlib.nullcontext()
    from nodeattrs.core.budget import in_force, limited

    numbers = {name: float(most) if "." in most else int(most) for name, _, most in given if _NUMBER.fullmatch(most)}
    for name, _, most in given:
        if name not in numbers:
            raise BadArgument(f"--budget {name}={most} is no limit", hint="write --budget values=2000000")
    return limited(in_force().replaced(**settled).replaced(**numbers))


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings of this call, found and validated at the first use. raises: NotFound, DocumentError"""
    from nodeattrs.project.settings import Settings

    if not isinstance(found := getattr(options, "settings", None), Settings):
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
"""Command -> whether code runs as it was called; SECURITY.md has the table. All others hold it back."""


def may_run_code(options: argparse.Namespace) -> bool:
    """Whether code may run: because of the command, or of --run-code. No setting allows it."""
    runs = _RUNNING.get(options.command)
    return getattr(options, "run_code", False) or (runs is not None and runs(options))


def settings_limits(options: argparse.Namespace, terminal: Terminal) -> Mapping[str, float]:
    """Print warnings about the nodeattrs.toml that counts; returns the limits that it sets, {} for none.

    raises: NotFound, DocumentError; `check` reports bad settings as findings instead
    """
    if options.command == "check":
        from nodeattrs.project.config import RepositorySettings

        with contextlib.suppress(NodeattrsError):
            return RepositorySettings(options.repo).config.limits
        return {}  # to which settings that cannot be read are findings
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
    """The value of an option without the mark that protects dashes from argparse."""
    return value.removeprefix(MARKED)


def add_arguments_of(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """The arguments of a command."""
    places: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in arguments:
        if one.group not in places:
            places[one.group] = parser.add_argument_group(one.group)
        place = places[one.group]
        if one.choice:
            if one.choice not in places:
                places[one.choice] = place.add_mutually_exclusive_group(required=one.choice.endswith("!"))
            place = places[one.choice]
        keywords = one.keywords if MAY_BE_DASHES.isdisjoint(one.names) else {**one.keywords, "type": unmarked}
        place.add_argument(*one.names, help=one.help or argparse.SUPPRESS, **keywords)

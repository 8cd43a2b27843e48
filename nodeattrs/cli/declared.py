"""Commands that are declared as data: their parsers, and how they are run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from nodeattrs.cli.changing import add_asking, request_of
from nodeattrs.cli.options import add_output, add_ruby
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.command import Command, Question
from nodeattrs.contract.dialect import Dialect
from nodeattrs.contract.sides import folder_side
from nodeattrs.dialects import foreign
from nodeattrs.verbs.commands import OF_DIALECT, TOP


def epilog_of(command: Command, words: str) -> str:
    """The end of a command's help. words: the beginning of each example: "nodeattrs" """
    examples = "".join(f"  {words} {one}\n" for one in command.examples)
    exits = "    ".join(f"{code} {meaning}" for code, meaning in command.exits.items())
    return f"examples:\n{examples}\nexit codes:\n  {exits}\n"


def add_arguments(parser: argparse.ArgumentParser, command: Command, dialect: str = "") -> None:
    """The arguments of a command, and those that every declared command has.

    dialect: the only dialect to ask; "" lets the caller choose
    """
    for one in command.arguments:
        parser.add_argument(*one.names, help=one.help, **one.keywords)
    parser.add_argument("--repo", metavar="DIR", default=".", help="the folder that is asked (default: this one)")
    parser.add_argument("--run-code", action="store_true", help="run code of the repository: cookbooks, Python roles")
    add_asking(parser, without=("--sample", "--node", *(["--dialect"] if dialect else [])))
    add_ruby(parser)
    add_output(parser)
    parser.set_defaults(declared=command, **({"dialect": [dialect]} if dialect else {}))


class Module(NamedTuple):
    """A command in the form that modules of commands have."""

    SUMMARY: str
    DESCRIPTION: str
    EXAMPLES: str
    add_options: Callable[[argparse.ArgumentParser], None]
    perform: Callable[[argparse.Namespace, Terminal], int]


def module_of(name: str) -> Module | None:
    """A verb, or the commands of a dialect of an installed package; None for another name."""
    if name in TOP:
        command = TOP[name]
        options = partial(add_arguments, command=command)
        return Module(command.summary, command.description, epilog_of(command, "nodeattrs"), options, perform)
    dialect = next((one for one in foreign().dialects if one.name == name), None)
    if dialect is None:
        return None
    summary = f"ask the dialect {name}, of an installed package"
    return Module(summary, (dialect.__doc__ or summary), "", partial(add_dialect, dialect=dialect), perform)


def add_dialect(parser: argparse.ArgumentParser, dialect: Dialect) -> None:
    """The commands of a dialect of an installed package: the verbs, and its own."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    commands: Mapping[str, Command] = {**OF_DIALECT, **dialect.commands()}
    for name, command in commands.items():
        one = actions.add_parser(
            name,
            help=command.summary,
            description=command.description,
            epilog=epilog_of(command, f"nodeattrs {dialect.name}"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        add_arguments(one, command, dialect.name)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command that the parser found."""
    command: Command = options.declared
    terminal.warn(foreign().faults)
    options.node = []
    request = request_of(options, os.path.realpath(options.repo), options.run_code)
    names = [name for argument in command.arguments for name in argument.names[:1]]
    arguments = {name.lstrip("-").replace("-", "_"): None for name in names}
    arguments = {name: getattr(options, name) for name in arguments}
    with terminal.counting(what="subject") as count:
        side = folder_side(Path(options.repo))
        question = Question(side, request, arguments, options.dialect, lambda name, done, of: count(name))
        output = command.run(question)
    terminal.warn(output.warnings)
    terminal.report(output.report, output.unread)
    return output.code

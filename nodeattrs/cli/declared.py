"""Build the parsers of declared commands (`contract.command`), and run them: the verbs, and the commands of dialects.

`cli.program` gets a declared command from `module_of`, and calls `perform` here to run it.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from nodeattrs import dialects
from nodeattrs.cli.changing import asking, request_of
from nodeattrs.cli.checks import CHECKING, finish
from nodeattrs.cli.help import Help
from nodeattrs.cli.many import go_through
from nodeattrs.cli.options import add_arguments_of, settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import RUBY, RUN_CODE, SETTINGS_FROM, STORE, STRICT, TEXT, output
from nodeattrs.contract.caller import Caller
from nodeattrs.contract.command import Command, CommandGroup, Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.findings import Finding, finding_of, joined_places
from nodeattrs.verbs.commands import OF_DIALECT, TOP

_SHARED = {
    "folder": (
        Argument(("--repo",), "the folder to ask (default: this one)", {"metavar": "DIR", "default": "."}),
        Argument(("--run-code",), "run code of the repository: cookbooks, Python roles", {"action": "store_true"}),
    ),
    "ruby": RUBY,
    "strict": STRICT,
    "code": RUN_CODE,
    "settings": SETTINGS_FROM,
    "store": STORE,
    "text": TEXT,
    "checking": CHECKING,
}
"""A word in `Command.shared` -> the arguments that it adds."""

_ALIKE = 3
"""The most warnings of one code that a verb prints."""


class DeclaredCommand(NamedTuple):
    """A declared command in the form that `cli.program` uses: it has the same names as a Python module of a command.

    `module_of` makes it. It has no methods.
    SUMMARY:     one line for the list of commands in the help of the program
    DESCRIPTION: the text at the start of the command's own help
    EXAMPLES:    the text at the end of the command's own help: examples and exit codes
    add_options: a function (parser) -> None that adds the arguments; for a group of commands, it adds their subparsers
    perform:     a function (options, terminal) -> exit code that runs the command
    """

    SUMMARY: str
    DESCRIPTION: str
    EXAMPLES: str
    add_options: Callable[[argparse.ArgumentParser], None]
    perform: Callable[[argparse.Namespace, Terminal], int]


def module_of(name: str) -> DeclaredCommand | None:
    """The declared command of that name: a verb, a command of a dialect, or a dialect, also of an installed package.

    None for any other name.
    """
    if name in TOP:
        return _module(TOP[name], name, "")
    owner = next((one for one in dialects.BUILT_IN if name in one.tops), None)
    if owner is not None:
        return _module(owner.top(name)._replace(summary=owner.tops[name]), name, owner.name)
    built_in = next((one for one in dialects.BUILT_IN if one.command == name), None)
    if built_in is not None:
        group = CommandGroup(built_in.summary, built_in.description, built_in.examples, built_in.commands())
        return _module(group, name, built_in.name)
    dialect = next((one for one in dialects.foreign().dialects if one.name == name), None)
    if dialect is None:
        return None
    # A dialect of an installed package gets all verbs.
    summary = f"ask the dialect {name}, of an installed package"
    own = dialect.options()
    verbs = {word: one._replace(arguments=[*one.arguments, *own]) for word, one in OF_DIALECT.items()}
    return _module(CommandGroup(summary, dialect.__doc__ or summary, (), {**verbs, **dialect.commands()}), name, name)


def _module(one: Command | CommandGroup, name: str, dialect: str) -> DeclaredCommand:
    """A declared command as a module. name: its word; dialect: whose it is, "" for a verb"""
    if isinstance(one, Command):
        options = partial(_add_arguments, command=one, dialect=dialect)
        return DeclaredCommand(one.summary, one.description, _epilog_of(one, "nodeattrs"), options, perform)
    add_options = partial(_add_actions, commands=one.commands, words=f"nodeattrs {name}", dialect=dialect)
    return DeclaredCommand(one.summary, one.description, _examples(one.examples, "nodeattrs"), add_options, perform)


def _examples(lines: Iterable[str], words: str) -> str:
    text = "".join(f"  {one}\n" if f"{words} " in one else f"  {words} {one}\n" for one in lines)
    return f"examples:\n{text}" if text else ""


def _epilog_of(command: Command, words: str) -> str:
    """The examples and exit codes at the end of a command's help; "" without either.

    words: the beginning of each example: "nodeattrs"
    """
    exits = "    ".join(f"{code} {meaning}" for code, meaning in command.exits.items())
    parts = [_examples(command.examples, words), f"exit codes:\n  {exits}\n" if exits else ""]
    return "\n".join(filter(None, parts))


def _add_actions(parser: argparse.ArgumentParser, commands: Mapping[str, Command], words: str, dialect: str) -> None:
    """Add each command as an action; the arguments of one unnamed command are added directly.

    words: the words before an action: "nodeattrs store"
    """
    if "" in commands:
        parser.epilog = _epilog_of(commands[""], words)
        _add_arguments(parser, commands[""], dialect)
        return
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for name, command in commands.items():
        action = actions.add_parser(
            name,
            help=command.summary,
            description=command.description or f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=_epilog_of(command, words) or None,
            formatter_class=Help,
            allow_abbrev=False,
        )
        _add_arguments(action, command, dialect)


def _add_arguments(parser: argparse.ArgumentParser, command: Command, dialect: str = "") -> None:
    """Add the arguments of a declared command: its own, and the groups that it shares.

    dialect: the only dialect to ask; "": the caller chooses
    """
    without = ("--sample", "--node", *(["--dialect"] if dialect else []))
    shared: dict[str, Iterable[Argument]] = {
        **_SHARED,
        "asking": asking(without),
        "output": output(command.forms),
    }
    add_arguments_of(parser, [*command.arguments, *(one for word in command.shared for one in shared[word])])
    parser.set_defaults(declared=command, own=dialect, **({"dialect": [dialect]} if dialect else {}))


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the declared command of the parsed options, print its output, and return its exit code.

    A verb is a function for all dialects, in the table `OF_DIALECT`. A command about saved nodes may name one. This
    verb runs instead if there is no store, or if the repository of --repo describes no nodes. An error that the command
    returns instead of a report is printed. `checks.finish` prints the findings of a check. A prompt that the output has
    is opened at the end.
    raises: the error of the command
    """
    command: Command = options.declared
    bar = terminal if "asking" in command.shared or isinstance(command.run, str) else Caller()
    terminal.warn(dialects.foreign().faults if "asking" in command.shared else ())
    verb = command.run if isinstance(command.run, str) else _unsaved(options, command)
    with bar.counting(what="subject") as count:
        run = OF_DIALECT[verb].run if verb else command.run
        assert callable(run), "a verb of the table is a function"
        output = run(_question(options, command, terminal, lambda name, done, of: count(name), verb))
    terminal.warn(_three_of_each_code(output.warnings) if "asking" in command.shared else output.warnings)
    if output.checked is not None:
        return finish(options, terminal, output.checked, settings_of(options).repository)
    terminal.note_unread(output.unread or ())
    if output.error is not None:
        with_traceback = getattr(options, "traceback", False)
        terminal.complain(output.error, None, output.error if with_traceback else None)
    elif isinstance(output.report, str):
        terminal.text(output.report)
    else:
        terminal.report(output.report, output.unread)
    if output.prompt is not None:
        from nodeattrs.cli.prompt import open_prompt

        open_prompt(output.prompt)
    return output.code


def _three_of_each_code(warnings: Iterable[object]) -> Iterator[Finding]:
    """The first three warnings of each code, and a sentence with the number of the others; all without a code.

    Warnings that differ only in their places are joined before they are counted.
    """
    plain = NodeattrsError.entry.code
    numbers: Counter[str] = Counter()
    for one in joined_places(finding_of(one, "warning", plain) for one in dict.fromkeys(warnings)):
        numbers[one.code] += 1
        if one.code == plain or numbers[one.code] <= _ALIKE:
            yield one
    for code, number in numbers.items():
        if code != plain and number > _ALIKE:
            yield finding_of(f"{number - _ALIKE} more warnings like these, of code {code}", "warning", plain)


def _unsaved(options: argparse.Namespace, command: Command) -> str:
    """The verb that answers instead of a command about saved nodes; "" where the command answers itself.

    The command itself answers if a node is saved, if an option is given that only the command has, and for a
    repository that describes nodes.
    """
    from nodeattrs.store import open_store  # `--help` needs no store

    if not command.unsaved:
        return ""
    shared = {one.name for one in (*OF_DIALECT[command.unsaved].arguments, *output(command.forms))}
    own = [one for one in command.arguments if one.name not in shared | {"repo"}]
    if any(getattr(options, one.name) not in (None, False, []) for one in own):
        return ""
    folder = Path(getattr(options, "repo", None) or ".")
    if getattr(options, "repo", None) is None:
        is_own = open_store(settings_of(options).store).is_there()
    else:
        owner = dialects.named(options.own).open(folder_side(folder), Request(os.path.realpath(folder), run_code=False))
        is_own = owner.is_there and any(owner.subjects())
    return "" if is_own else command.unsaved


def _question(
    options: argparse.Namespace,
    command: Command,
    caller: Terminal,
    progress: Callable[[str, int, int], None],
    verb: str,
) -> Question:
    """The Question for a command, from the parsed options. verb: the verb that answers; "" for the command itself"""
    given = getattr(options, "given", {})  # what `web` and `mcp` were started with
    repo = given.get("repo") if verb == command.unsaved else None
    folder = Path(getattr(options, "repo", None) or repo or ".")
    side, request = Side("", folder, folder, {}), Request()
    if "asking" in command.shared:
        options.node = []
        request = request_of(options, os.path.realpath(folder), options.run_code)
        side = folder_side(folder, later=True)
    elif verb:
        request = Request(os.path.realpath(folder), run_code=getattr(options, "run_code", False))
        side = folder_side(folder, later=True)
    own = {one.name for one in command.arguments}  # a page names a repository; `explain --repo` means a run
    more = {name: value for name, value in given.items() if name not in own and getattr(options, name, None) is None}
    asked = vars(options) | more
    if verb and verb == command.unsaved:  # of every dialect
        return Question(side, request, asked, (), progress, caller, partial(go_through, caller))
    if options.own:
        request = request._replace(options={options.own: {one.name: asked[one.name] for one in command.arguments}})
    return Question(side, request, asked, options.dialect, progress, caller, partial(go_through, caller))

"""Run the command line: find the command, parse its words, perform it, and end with its exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from nodeattrs._version import VERSION
from nodeattrs.border import Border, held
from nodeattrs.cli.exits import DONE, EXITS, FAILED, INTERRUPTED, NOT_UNDERSTOOD, READER_GONE, failed, final_code
from nodeattrs.cli.help import Help
from nodeattrs.cli.interrupts import raise_while_working
from nodeattrs.cli.options import MARKED, MAY_BE_DASHES, add_arguments_of, limits_of, may_run_code, settings_limits
from nodeattrs.cli.terminal import Terminal
from nodeattrs.core.code import held_back
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import BadUsage, InternalError, NodeattrsError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_PACKAGE = __name__.partition(".")[0]


class _CommandModule(NamedTuple):
    """The module of a command, and its line in the help. The help is printed without importing the module."""

    module: str
    summary: str


_COMMAND_MODULES = {
    "list": _CommandModule("list_command", "list subjects, nodes, roles, cookbooks and more by name"),
    "report": _CommandModule("report", "write nodes as one HTML file, with the line of each value"),
    "web": _CommandModule("web", "serve pages in a browser, for this machine"),
    "impact": _CommandModule("impact", "name the nodes and values that a change changes"),
    "what-if": _CommandModule("what_if", "name the effects of a change that is not made yet"),
    "check": _CommandModule("check", "find mistakes in a repository"),
    "lsp": _CommandModule("lsp", "language server for editors"),
    "mcp": _CommandModule("mcp", "MCP server for AI agents"),
    "codes": _CommandModule("codes", "explain an error code such as NA1203"),
    "config": _CommandModule("config_command", "print each setting and the place that set it"),
    "trust": _CommandModule("trust", "allow a repository all of its settings"),
    "schema": _CommandModule("schema", "print the JSON Schema of an output or of settings"),
    "completion": _CommandModule("completion", "print or install shell completion"),
}
"""The commands that have a module in this package. A call imports the one that it needs."""

_ORDER = (
    "run", "show", "explain", "facts", "shell", "list", "role", "environment", "catalog", "history", "diff",
    "matrix", "search", "report", "web", "status", "node", "store", "impact", "what-if", "check", "lsp", "mcp",
    "codes", "config", "fleet", "trust", "schema", "completion",
)  # fmt: skip
"""The order of the help. Verbs, and dialects with a word of their own, have their places in it."""


def summaries() -> dict[str, str]:
    """Each command -> its line in the help, in order: the verbs come first, dialects follow `environment`."""
    from nodeattrs.dialects import BUILT_IN
    from nodeattrs.verbs.commands import TOP

    verbs = {name: command.summary for name, command in TOP.items()}
    dialects = {one.command: one.summary for one in BUILT_IN if one.command}
    here = {name: one.summary for name, one in _COMMAND_MODULES.items()}
    known = here | {name: summary for one in BUILT_IN for name, summary in one.tops.items()}
    found = dict(verbs)
    for name in _ORDER:
        found[name] = known[name]
        found |= dialects if name == "environment" else {}
    return found | known


_EXAMPLES = """\
nodeattrs COMMAND --help, --version [-v], --man [COMMAND]

examples:
  nodeattrs why http.port base.yaml prod.yaml
  nodeattrs explain web1 app.workers --repo cookbooks_example --facts cookbooks_example/facts

exit codes:
"""


_IN_ONE_ROW = {"role": "environment", "lsp": "mcp"}
"""Command -> the command that the help of the program lists in the same row."""


class Parser(argparse.ArgumentParser):
    """The class of all parsers of this program.

    It differs from an `ArgumentParser` of Python in these ways. An error prints no usage, and ends the program with
    exit code 2. Its message has a code, and proposes options and choices with a similar name. Words after an option
    belong to the argument that takes any number of words. If a subcommand is given unknown words, its own parser
    refuses them, so that the message names the subcommand. A message that cannot be written, because the disk is full,
    raises OSError.
    """

    def error(self, message: str) -> NoReturn:
        """Print the message with its code and a hint to `--help`, and end the program with exit code 2."""
        first, line, rest = message.partition("\n")
        hint = f"{self.prog} --help shows more"
        self.exit(NOT_UNDERSTOOD, f"{self.prog}: error: {first} [{BadUsage.entry.code}]{line}{rest}\n  {hint}\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse words; returns (options, []). Unknown words end the program with exit code 2.

        argparse returns some words behind an option as unknown. They are added to the argument that takes any number of
        words, if there is exactly one such argument.
        """
        found, left = super().parse_known_args(args, namespace)
        if left and not self._add_to_list(found, left):
            option = next((word for word in left if word.startswith("-")), "").partition("=")[0]
            hint = _hint_line(option, self._option_string_actions) if option else ""
            self.error(f"not understood: {' '.join(left)}{hint}")
        return found, []

    def _add_to_list(self, options: Any, words: list[str]) -> bool:
        """Append the words to the only argument that takes any number of words; False, with no change, without one."""
        takers = [one for one in self._actions if not one.option_strings and one.nargs in ("*", "+")]
        if len(takers) != 1 or any(word.startswith("-") for word in words):
            return False
        kind = takers[0].type if callable(takers[0].type) else str
        setattr(options, takers[0].dest, [*(getattr(options, takers[0].dest) or []), *map(kind, words)])
        return True

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            name = "/".join(action.option_strings) or str(action.metavar or action.dest).lower()
            known = f"\n  known are {', '.join(map(str, choices))}"
            raise argparse.ArgumentError(
                None, f"there is no {name} {value!r}{_hint_line(str(value), choices) or known}"
            )

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own would swallow a full disk.
        (file or sys.stderr).write(message)


def _hint_line(word: str, known: Iterable[Any]) -> str:
    """The hint for an unknown word, on a line of its own; "" where nothing is near."""
    hint = hint_for(word, map(str, known))
    return f"\n  {hint}" if hint else ""


class _Program(Parser):
    """The top parser. Its help prints the order of precedence, read from where it is decided."""

    def format_help(self) -> str:
        return f"{super().format_help()}\n{_precedence_table()}"


def _precedence_table() -> str:
    """The levels as a text, the strongest first, each with the numbers of its slots."""
    from nodeattrs.node.slot_names import SLOTS

    levels = []
    for level, slots in groupby(reversed(SLOTS), lambda slot: slot.level):
        numbers = [slot.number for slot in slots]
        levels.append(f"{level} {numbers[0]}" if len(numbers) == 1 else f"{level} {numbers[0]}-{numbers[-1]}")
    return f"precedence by slots, the strongest first (docs/merging.md):\n  {', '.join(levels)}\n"


def _command_table() -> str:
    """The rows of all commands for the help of the program."""
    known = summaries()
    rows = ["commands:"]
    for name, summary in known.items():
        if name in _IN_ONE_ROW:
            second = _IN_ONE_ROW[name]
            rows.append(f"  {f'{name}, {second}':17}  {summary}; {known[second]}")
        elif name not in _IN_ONE_ROW.values():
            rows.append(f"  {name:17}  {summary}")
    return "\n".join(rows)


def parser(only: str | None = None, kind: type[Parser] = Parser) -> argparse.ArgumentParser:
    """The parser of the program, with its commands and their options.

    only: add this command alone. An unknown name, and "", give the parser for the help of the program: it accepts no
          command. None: add all commands, which imports every one of them
    kind: the class of the parsers of commands
    """
    program = _Program(
        prog="nodeattrs",
        description="Layered configuration: which file and line set this value, and what did it override?",
        epilog=_EXAMPLES + "\n".join(f"  {code:3}  {name:13}  {meaning}" for code, (name, meaning) in EXITS.items()),
        formatter_class=Help,
        allow_abbrev=False,
    )
    program.add_argument(
        "--version", action="version", version=_VERSION_LINE, help="show the version; with -v, of what"
    )
    program.add_argument(
        "--man", metavar="COMMAND", nargs="?", help="print the page of the program for man, or of a command"
    )
    module = None if only is None else command_module(only)
    if only is not None and module is None:
        program.description = f"{program.description}\n\n{_command_table()}"
        program.usage = "%(prog)s COMMAND ..."
        program.add_argument("command", metavar="COMMAND", choices=[*summaries()])
        for option in program._actions:
            option.help = argparse.SUPPRESS  # the end of the help names them
        return program
    commands: argparse._SubParsersAction[Parser]
    commands = program.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=kind)
    for name in summaries() if only is None else [only]:
        _add(commands, name, module or command_module(name))
    return program


def _add(commands: argparse._SubParsersAction[Parser], name: str, command: Any) -> None:
    """Add a command with its options. command: its module"""
    one = commands.add_parser(
        name,
        help=_COMMAND_MODULES[name].summary if name in _COMMAND_MODULES else command.SUMMARY,
        description=command.DESCRIPTION,
        epilog=command.EXAMPLES,
        formatter_class=Help,
        allow_abbrev=False,
    )
    add_arguments_of(one, getattr(command, "ARGUMENTS", ()))
    if hasattr(command, "add_options"):
        command.add_options(one)
    one.set_defaults(command=name, perform=command.perform, refuse=one.error, whole=parser)


def command_module(name: str) -> Any:
    """The module of a command; for a command that is declared as data, an object with the same attributes.

    None for an unknown or empty name. A dialect of an installed package is a command of its name.
    """
    if name in _COMMAND_MODULES:
        return import_module(f"{_PACKAGE}.cli.{_COMMAND_MODULES[name].module}")
    if not name:
        return None
    from nodeattrs.cli.declared import module_of

    return module_of(name)


_VERSION_LINE = f"{_PACKAGE} {VERSION}"


def _version_or_manual(word: str, words: Sequence[str]) -> str:
    """The text that `--version` or `--man` prints. raises: NotFound, for the page of an unknown command"""
    if word == "--man":
        from nodeattrs.cli.manual import page

        return page(parser(), words, VERSION)
    if words[:1] in (["-v"], ["--verbose"]):
        from nodeattrs.reports.versions import versions

        return "".join(f"{line}\n" for line in [_VERSION_LINE, *versions()])
    return f"{_VERSION_LINE}\n"


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line, print its output and errors; returns the exit code. Errors of commands are not raised.

    Without words, and for `--repo DIR` without a command, `overview` runs; `help COMMAND` is `COMMAND --help`.
    argv: the words after the program's name; None: the words of the process
    """
    words = list(sys.argv[1:] if argv is None else argv)
    words = _with_command_first(words)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    options = argparse.Namespace(words=words)
    terminal = Terminal()
    border: Border | None = None
    try:
        if words[:1] == ["complete"]:  # asked by shells, and in no help
            from nodeattrs.cli.complete import answers

            with held_back():
                terminal.text("".join(f"{one}\n" for one in answers(words[1:], parser)))
            return DONE
        if words[:1] in (["--version"], ["--man"]):  # opens no command, or all of them
            terminal.text(_version_or_manual(words[0], words[1:]))
            terminal.finish()
            return DONE
        try:
            with terminal.writing():
                command = next((word for word in words if not word.startswith("-")), "")
                parser(command).parse_args(_joined(words), options)
            terminal = Terminal(getattr(options, "color", "auto"), getattr(options, "format", "text"))
            raise_while_working(True)
            from nodeattrs.cli.border import border_of

            is_held = not may_run_code(options)
            border = border_of(options, is_closed=is_held)
            with held(border), held_back(is_held):
                settled = settings_limits(options, terminal)
                with limits_of(options, settled):
                    code = _performed(options, terminal)
            code = final_code(code, options, terminal, border)
            raise_while_working(False)
        except SystemExit as end:
            # argparse has printed the help on stdout, or the error on stderr.
            code = end.code if isinstance(end.code, int) else NOT_UNDERSTOOD
        terminal.finish()
        return code
    except KeyboardInterrupt:
        raise_while_working(False)
        return INTERRUPTED
    except BrokenPipeError:
        return READER_GONE
    except Exception as error:
        return _failed(error, options, terminal, border)


def _with_command_first(words: list[str]) -> list[str]:
    """The words with `--repo DIR` behind the command, if they begin with it. Without a command `overview` is added."""
    if not words:
        return ["overview"]
    if words[0] == "--repo":
        length = 2
    elif words[0].startswith("--repo="):
        length = 1
    else:
        return words
    repo, rest = words[:length], words[length:]
    if not rest or rest[0].startswith("-"):
        return ["overview", *words]
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *repo, *rest[end:]]


def _performed(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; returns its exit code. A BadUsage ends the program like a word that is not understood."""
    try:
        code: int = options.perform(options, terminal)
        return code
    except BadUsage as error:
        options.refuse(error.message)
        raise


def _joined(words: Sequence[str]) -> list[str]:
    """The words; a value that may be dashes alone is joined to its option and marked, since argparse would drop it."""
    found: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        if found and found[-1] in MAY_BE_DASHES:
            found[-1] += f"={MARKED}{word}"
        elif option in MAY_BE_DASHES and equals:
            found.append(f"{option}={MARKED}{value}")
        else:
            found.append(word)
    return found


def _failed(error: Exception, options: argparse.Namespace, terminal: Terminal, border: Border | None) -> int:
    with_traceback = getattr(options, "traceback", False)
    try:
        terminal.complain(understood(error), getattr(options, "repo", None), error if with_traceback else None)
    except (OSError, ImportError, MemoryError):  # the modules that print errors cannot be loaded
        sys.stderr.write(f"error: {understood(error)}\n")
        return FAILED
    return failed(error, options, terminal, border)


def understood(error: Exception) -> Exception:
    """The error as a NodeattrsError for the user, returned and not raised.

    A NodeattrsError comes back unchanged. An OSError becomes one with the file and reason, a MemoryError one with a
    hint, any other an InternalError. An ExceptionGroup with one error counts as that error.
    """
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:  # servers run in groups of tasks
        error = error.exceptions[0]
    if isinstance(error, NodeattrsError):
        return error
    if isinstance(error, MemoryError):
        return NodeattrsError("the memory of this process is used up", hint="ask for less at once, or lower [limits]")
    if isinstance(error, OSError):
        what = f"{error.filename}: " if error.filename else ""
        return NodeattrsError(f"{what}{error.strerror or error}")
    kind = type(error).__name__
    return InternalError(f"a fault in nodeattrs itself: {kind}: {error}", hint="please report it, with --traceback")

"""`nodeattrs mcp`: a server that offers commands as tools to other programs.

The library mcp implements the model context protocol. Each tool runs a command in this process, on the one repository
and the one store that the command line named. A tool writes nothing, and accepts no other folder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal  # which the library reads

from nodeattrs._version import VERSION
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import ALLOWED_PATHS, STORE
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import missing_extra
from nodeattrs.reports.screen import Screen, first_of
from nodeattrs.reports.values import on_one_line

if TYPE_CHECKING:
    from nodeattrs.cli.asked import CommandRunner
    from nodeattrs.web.asking import CommandAnswer

DESCRIPTION = """\
A server of the model context protocol over standard input and output: the program that uses it starts it. The
tools list, why, where, matrix, diff, impact and check ask the repository, in every dialect that it has; where
--store names a store, explain, search and diff ask that. A tool answers in the lines that its command prints, or with
format=json in its data. Nothing is written, and no code of the repository runs unless --run-code says so."""
EXAMPLES = """\
examples:
  nodeattrs mcp --repo .
  nodeattrs mcp --repo . --store nodes.db
  nodeattrs mcp --repo . --run-code --facts facts/
"""


ARGUMENTS = (
    Argument(("--repo",), "the repository (default: this folder, or the one in the settings)", {"metavar": "DIR"}),
    Argument(("--facts",), "facts of all, or a folder with NODE.json", {"metavar": "PLACE"}),
    Argument(("--run-code",), "code of the repository runs; for `impact` on both sides", {"action": "store_true"}),
    *STORE,
    *ALLOWED_PATHS,
)

Form = Literal["text", "json"]
Tools = tuple[Callable[..., Awaitable[Any]], ...]
"""Coroutine functions; each returns a CallToolResult of the library."""

_WIDTH = 120
_NAMED = 10
"""The most subjects of a group that `matrix` names."""


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the model context protocol on standard input and output, until the client leaves; returns 0.

    Errors of a tool go to the client. raises: MissingExtra, without the library mcp
    """
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise missing_extra("mcp", "mcp", "a server of the model context protocol") from None
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    class Server(MCPServer):
        """The library's server ignores arguments that a tool does not have; this one refuses them."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            if name in known and (fault := _argument_fault(known[name], arguments)):
                raise ToolError(fault)
            return await super().call_tool(name, arguments, context)

    server = Server("nodeattrs", version=VERSION, instructions=DESCRIPTION, log_level="WARNING")
    known = {tool.__name__: tool for tool in tools(options)}
    for tool in known.values():
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
    server.run("stdio")
    return 0


def _argument_fault(tool: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """A sentence about an unknown or missing argument of a tool call, with similar names; "" where all is right."""
    parameters = signature(tool).parameters
    known = f"its arguments are {', '.join(parameters)}"
    for name in arguments:
        if name not in parameters:
            hint = hint_for(name, parameters)
            return f"{tool.__name__} has no argument {name}{f'; {hint}' if hint else ''}\n{known}"
    for name, one in parameters.items():
        if one.default is one.empty and name not in arguments:
            return f"{tool.__name__} needs the argument {name}\n{known}"
    return ""


def tools(options: argparse.Namespace) -> Tools:
    """The coroutine functions to offer as tools: about the repository; and about the store, where an option names one.

    Their names, arguments and docstrings are what the client sees. Calling this runs no command.
    """
    from nodeattrs.cli.asked import CommandRunner

    ask = CommandRunner(vars(options), options.run_code)
    of_repository = (*_lists(options, ask), *_verbs(options, ask), *_findings(options, ask), _diff(options, ask))
    return of_repository if options.store is None else (*of_repository, *_of_store(options, ask))


def _lists(options: argparse.Namespace, ask: CommandRunner) -> Tools:
    async def list(kind: str = "subjects", format: Form = "text") -> Any:
        """The names of what the repository has.

        kind: subjects are the nodes, hosts and sets of every dialect; also nodes, roles, environments, cookbooks
        """
        return await _tool_result(ask, format, "list", _repo(options), kind)

    async def matrix(key: str, dialect: str | None = None, format: Form = "text") -> Any:
        """The values of a key on all nodes, hosts and sets, with the line that sets each; equal values together."""
        came = await _command_answer(ask, "why", [*_folder(options), *_given("--dialect", dialect)], key)
        groups = _groups(came.data["answers"])
        data = {"groups": groups, **{name: came.data[name] for name in ("not_known", "certain", "unread")}}
        return _result(format, [*map(_group_line, groups)], data, came)

    return list, matrix


def _verbs(options: argparse.Namespace, ask: CommandRunner) -> Tools:
    async def why(key: str, on: Sequence[str] = (), dialect: str | None = None, format: Form = "text") -> Any:
        """Why a key has its value: the winner, what it overrode and by which rule, each with file and line.

        on: only these nodes, hosts or sets
        dialect: only this one, as the tool list names it
        """
        words = [*_folder(options), *_given("--dialect", dialect), *(f"--on={one}" for one in on)]
        return await _tool_result(ask, format, "why", words, key)

    async def where(file: str, dialect: str | None = None, format: Form = "text") -> Any:
        """What a line of the repository sets, on which subjects it wins, and what overrides it.

        file: FILE or FILE:LINE, as seen from the repository
        dialect: only this one
        """
        return await _tool_result(ask, format, "where", [*_folder(options), *_given("--dialect", dialect)], file)

    return why, where


def _findings(options: argparse.Namespace, ask: CommandRunner) -> Tools:
    async def impact(range: str = "HEAD", ignore_path: Sequence[str] = (), format: Form = "text") -> Any:
        """Which values of which nodes a change of the repository changes, because of which line.

        range: BASE..HEAD, BASE...HEAD, or one revision, which is compared with the work tree
        ignore_path: paths to pass over: apache2.**
        """
        words = [*_repo(options), *_given("--facts", options.facts), *([] if options.run_code else ["--no-run-code"])]
        return await _tool_result(
            ask, format, "impact", [*words, *(f"--ignore-path={one}" for one in ignore_path)], range
        )

    async def check(ignore: Sequence[str] = (), format: Form = "text") -> Any:
        """What is wrong, or probably not meant, in the repository, each with file and line.

        ignore: codes or names of findings to pass over
        """
        return await _tool_result(ask, format, "check", [*_repo(options), *(f"--ignore={one}" for one in ignore)])

    return impact, check


def _of_store(options: argparse.Namespace, ask: CommandRunner) -> Tools:
    """The tools that ask saved nodes."""
    store = [f"--store={options.store}"]

    async def explain(node: str, path: str, at: str | None = None, format: Form = "text") -> Any:
        """Why an attribute of a saved node has its value: the winner and what it overrode, each with file and line.

        path: keys joined by dots, such as apache2.listen_ports.0
        at: the number of a revision, or a time; the latest unless given
        """
        return await _tool_result(ask, format, "explain", [*store, *_given("--at", at)], node, path)

    async def search(query: str, attribute: Sequence[str] = (), limit: int = 100, format: Form = "text") -> Any:
        """The saved nodes that have something: role:web AND chef_environment:production, or app.workers>=8.

        attribute: paths whose values are given, too
        """
        named = [f"--attribute={one}" for one in attribute]
        return await _tool_result(ask, format, "search", [*store, *named, f"--limit={limit}"], query)

    return explain, search


def _diff(options: argparse.Namespace, ask: CommandRunner) -> Callable[..., Awaitable[Any]]:
    async def diff(before: str, after: str | None = None, path: str | None = None, format: Form = "text") -> Any:
        """What differs between two nodes, hosts or sets, and what set each side; or between revisions of a saved node.

        before, after: web1, or with a store web1@3; without after a saved node is compared with its last revision
        """
        words = [*_given("--store", options.store), *_given("--path", path)]
        return await _tool_result(ask, format, "diff", words, before, *([] if after is None else [after]))

    return diff


def _repo(options: argparse.Namespace) -> list[str]:
    return _given("--repo", options.repo)


def _folder(options: argparse.Namespace) -> list[str]:
    """The options that give a verb the repository, the facts and the permission of the server."""
    return [*_repo(options), *_given("--facts", options.facts), *(["--run-code"] if options.run_code else [])]


def _given(option: str, value: str | None) -> list[str]:
    return [] if value is None else [f"{option}={value}"]


def _groups(answers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers of `why` with equal dialect, value and winning line as one group, the largest first.

    known: whether every layer that may decide was read
    """
    groups: dict[Any, dict[str, Any]] = {}
    for one in answers:
        places = (f"{claim['file']}:{claim['line']}" for claim in one["claims"] if claim["outcome"] == "wins")
        place = next(places, None)
        is_known = all(claim["outcome"] != "unknown" for claim in one["claims"])
        key = one["dialect"], json.dumps(one["value"], sort_keys=True), place, one["found"], is_known
        found = {name: one[name] for name in ("dialect", "value", "found")}
        groups.setdefault(key, {**found, "known": is_known, "set_by": place, "subjects": []})["subjects"] += one[
            "subjects"
        ]
    return sorted(groups.values(), key=lambda group: -len(group["subjects"]))


def _group_line(group: Mapping[str, Any]) -> str:
    names = first_of(group["subjects"], _NAMED)
    value = on_one_line(group["value"]) if group["found"] else "(not set)"
    doubt = "" if group["known"] else ", or what was not read"
    return f"{value}{doubt}  {group['set_by'] or '(no line)'}  {group['dialect']}: {names}"


async def _tool_result(ask: CommandRunner, form: Form, command: str, options: Sequence[str], *words: str) -> Any:
    """The answer of a command as the result of a tool. raises: ToolError, for a command without data"""
    came = await _command_answer(ask, command, options, *words)
    lines = () if came.report is None else came.report.lines(Screen(_WIDTH))
    return _result(form, lines, came.data, came)


async def _command_answer(ask: CommandRunner, command: str, options: Sequence[str], *words: str) -> CommandAnswer:
    """Run a command in a thread; returns its answer, which has data. raises: ToolError, for a command without data"""
    import anyio
    from mcp.server.mcpserver.exceptions import ToolError

    given = [*options, *(["--", *words] if words else [])]
    came = await anyio.to_thread.run_sync(lambda: ask(command, *given))
    if came.data is None:
        raise ToolError("\n".join(_messages(came)) or f"{command} ended with exit code {came.code}")
    return came


def _result(form: Form, lines: Iterable[str], data: Mapping[str, Any], came: CommandAnswer) -> Any:
    """The result of a tool: lines as text, or data as structure, and never both."""
    from mcp_types import CallToolResult, TextContent

    if form == "json":
        structured = {"data": data, "exit_code": came.code, "messages": _messages(came)}
        return CallToolResult(content=[], structured_content=structured)
    text = "\n".join([*lines, *(f"warning: {one}" for one in _messages(came))])
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _messages(came: CommandAnswer) -> list[str]:
    return [*came.warnings, *(_error_lines(came.error) if came.error else ())]


def _error_lines(error: Mapping[str, Any]) -> list[str]:
    """An error as lines: the place, the sentence and the code, then what else is known, then the way out."""
    place = ":".join(str(error[name]) for name in ("file", "line", "column") if error[name] is not None)
    first = f"{place}: {error['message']}" if place else error["message"]
    return [f"{first} [{error['code']}]", *error["details"], *([error["hint"]] if error["hint"] else [])]

"""`nodeattrs mcp`: explain, search, diff, impact, check, why and where as tools for other programs.

Serves the model context protocol through the library mcp. Each tool runs a command in this process, on the one
repository and the one store that the caller of this command has named; it writes nothing and takes no other places.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any  # which the library reads

from nodeattrs._version import VERSION
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import ALLOWED_PATHS, STORE
from nodeattrs.core.tree import meant

if TYPE_CHECKING:
    from nodeattrs.cli.asked import CommandRunner

DESCRIPTION = """\
A server of the model context protocol over standard input and output: the program that uses it starts it. Its
tools are the commands of the same names; what they give is their JSON, on the store and the repository that are
named here. Nothing is written, and no code of the repository runs unless --run-code says so."""
EXAMPLES = """\
examples:
  nodeattrs mcp --repo . --store nodes.db
  nodeattrs mcp --repo . --run-code --facts facts/
"""


ARGUMENTS = (
    Argument(("--repo",), "the repository (default: this folder, or that of the settings)", {"metavar": "DIR"}),
    Argument(("--facts",), "facts of all, or a folder with NODE.json, for `impact`", {"metavar": "PLACE"}),
    Argument(("--run-code",), "`impact` runs code of the repository, of both sides", {"action": "store_true"}),
    *STORE,
    *ALLOWED_PATHS,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the model context protocol on standard input and output, until the client leaves."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        from nodeattrs.errors import missing_extra

        raise missing_extra("mcp", "mcp", "a server of the model context protocol") from None
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    class Server(MCPServer):
        """The library's server passes over arguments that a tool does not have; this one refuses them."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            if name in known and (fault := _argument_fault(known[name], arguments)):
                raise ToolError(fault)
            return await super().call_tool(name, arguments, context)

    server = Server("nodeattrs", version=VERSION, instructions=DESCRIPTION, log_level="WARNING")
    known = {tool.__name__: tool for tool in tools(options)}
    for tool in known.values():
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True))
    server.run("stdio")
    return 0


def _argument_fault(tool: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """A sentence about an unknown or missing argument of a tool call, with similar names; "" where all is right."""
    parameters = signature(tool).parameters
    known = f"its arguments are {', '.join(parameters)}"
    for name in arguments:
        if name not in parameters:
            hint = meant(name, parameters)
            return f"{tool.__name__} has no argument {name}{f'; {hint}' if hint else ''}\n{known}"
    for name, one in parameters.items():
        if one.default is one.empty and name not in arguments:
            return f"{tool.__name__} needs the argument {name}\n{known}"
    return ""


Answer = dict[str, Any]
"""What each tool gives: `data` as the command prints it, its `exit_code`, and its `messages`."""

Tools = tuple[Callable[..., Awaitable[Answer]], ...]


def tools(options: argparse.Namespace) -> Tools:
    """The functions that are offered as tools, on the store and the repository of the options."""
    store = [] if options.store is None else [f"--store={options.store}"]
    repo = [] if options.repo is None else [f"--repo={options.repo}"]

    from nodeattrs.cli.asked import CommandRunner

    ask = CommandRunner(vars(options), options.run_code)

    async def explain(node: str, path: str, at: str | None = None) -> Answer:
        """Who set a value of a saved node: the winner, what it overrode and by which rule, each with file and line.

        path: keys joined by dots, such as apache2.listen_ports.0
        at: the number of a revision, or a time; the latest unless given
        """
        return await _asked(ask, "explain", [*store, *_given("--at", at)], node, path)

    async def search(query: str, attributes: Sequence[str] = (), limit: int = 100) -> Answer:
        """The saved nodes that have something: role:web AND chef_environment:production, or app.workers>=8.

        attributes: paths whose values are given, too
        """
        named = [f"--attribute={one}" for one in attributes]
        return await _asked(ask, "search", [*store, *named, f"--limit={limit}"], query)

    async def diff(before: str, after: str | None = None, path: str | None = None) -> Answer:
        """What differs between two saved nodes, or revisions of one (web1@3), and who set each side.

        after: the latest revision of the same node unless given
        """
        return await _asked(ask, "diff", [*store, *_given("--path", path)], before, *([] if after is None else [after]))

    async def impact(change: str = "HEAD", ignore: Sequence[str] = ()) -> Answer:
        """Which values of which nodes a change of the repository changes, because of which line.

        change: BASE..HEAD, BASE...HEAD, or one revision, which is compared with the work tree
        ignore: paths to pass over: apache2.**
        """
        words = [*repo, *_given("--facts", options.facts), *([] if options.run_code else ["--no-run-code"])]
        return await _asked(ask, "impact", [*words, *(f"--ignore-path={one}" for one in ignore)], change)

    async def check(ignore: Sequence[str] = ()) -> Answer:
        """What is wrong, or probably not meant, in the repository, each with file and line.

        ignore: codes or names of findings to pass over
        """
        return await _asked(ask, "check", [*repo, *(f"--ignore={one}" for one in ignore)])

    return explain, search, diff, impact, check, *_verbs(options, ask)


def _verbs(options: argparse.Namespace, ask: CommandRunner) -> Tools:
    """The tools that ask every dialect of the repository."""
    repo = [] if options.repo is None else [f"--repo={options.repo}"]
    folder = [*repo, *_given("--facts", options.facts), *(["--run-code"] if options.run_code else [])]

    async def why(key: str, on: Sequence[str] = (), dialect: str | None = None) -> Answer:
        """Why a key has its value, on every node, host or set of the repository, in every dialect that it has.

        on: only these subjects
        dialect: only this one, as `nodeattrs list subjects` calls it
        """
        words = [*folder, *_given("--dialect", dialect), *(f"--on={one}" for one in on)]
        return await _asked(ask, "why", words, key)

    async def where(place: str, dialect: str | None = None) -> Answer:
        """What a line of the repository sets, on which subjects it wins, and what overrides it.

        place: FILE or FILE:LINE, as seen from the repository
        dialect: only this one
        """
        return await _asked(ask, "where", [*folder, *_given("--dialect", dialect)], place)

    return why, where


def _given(option: str, value: str | None) -> list[str]:
    return [] if value is None else [f"{option}={value}"]


async def _asked(ask: CommandRunner, command: str, options: Sequence[str], *words: str) -> Answer:
    """What a command gives. raises: ToolError, where it gives no data"""
    import anyio
    from mcp.server.mcpserver.exceptions import ToolError

    given = [*options, *(["--", *words] if words else [])]
    came = await anyio.to_thread.run_sync(lambda: ask(command, *given))
    messages = [*came.warnings, *(_lines(came.error) if came.error else ())]
    if came.data is None:
        raise ToolError("\n".join(messages) or f"{command} ended with exit code {came.code}")
    return {"data": came.data, "exit_code": came.code, "messages": messages}


def _lines(error: Mapping[str, Any]) -> list[str]:
    """An error as lines: the place, the sentence and the code, then what else is known, then the way out."""
    place = ":".join(str(error[name]) for name in ("file", "line", "column") if error[name] is not None)
    first = f"{place}: {error['message']}" if place else error["message"]
    return [f"{first} [{error['code']}]", *error["details"], *([error["hint"]] if error["hint"] else [])]

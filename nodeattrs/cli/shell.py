"""`nodeattrs shell`: a prompt with a node."""

from __future__ import annotations

import argparse
import code
import sys
from typing import Any

from nodeattrs.cli.options import RUN, named_node
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import STORE
from nodeattrs.errors import NodeattrsError

DESCRIPTION = """\
Open a prompt of Python (IPython, where it is installed) with a node: as it was saved, or with --repo as a run would
make it now. There are `node`, the writers of attribute files (`default`, `override`, ...), `explain("a.b")`, which
prints who set a path, and with --repo `run`. What is written there is not saved."""
EXAMPLES = """\
examples:
  nodeattrs shell web1
  nodeattrs shell web1 --repo cookbooks_example --facts cookbooks_example/facts
  echo 'explain("app.workers")' | nodeattrs shell web1
"""


ARGUMENTS = (
    Argument(("node",), "its name", {"metavar": "NODE"}),
    Argument(("--repo",), "run the node of this repository, and save nothing", {"metavar": "DIR"}),
    Argument(("--traceback",), "on an error, show the whole way to it", {"action": "store_true"}),
    Argument(("--color",), argparse.SUPPRESS, {"choices": ("auto", "always", "never"), "default": "auto"}),
    *RUN,
    *STORE,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Open a Python prompt with the node and its attributes as variables, until the input ends."""
    from nodeattrs.node.node import words_of

    node, _, run = named_node(options, terminal)

    def explain(path: str = "(root)") -> None:
        """Print who set a path, and what was overridden."""
        from nodeattrs.core.tree import parse
        from nodeattrs.reports.explain import explained

        terminal.report(explained(node, parse(path)))

    names: dict[str, Any] = {**words_of(node), "node": node, "explain": explain}
    names |= {} if run is None else {"run": run}
    if sys.stdin.isatty() and _ipython(names):
        return 0
    _prompt(names, f"{node.name} in {node.environment}: node, default, override, explain('a.b'), ...")
    return 0


def _prompt(names: dict[str, Any], banner: str) -> None:
    """Python's own prompt; on what is no terminal without its words."""

    class Prompt(code.InteractiveConsole):
        def showtraceback(self) -> None:
            error = sys.exc_info()[1]
            if isinstance(error, NodeattrsError):
                self.write(f"error: {error}\n")
            else:
                super().showtraceback()

        def write(self, data: str) -> None:
            if data != "\n" or is_terminal:  # where a person has ended the input, the shell's prompt begins a line
                super().write(data)

    prompt, is_terminal = Prompt(names), sys.stdin.isatty()
    if not is_terminal:
        prompt.raw_input = _line  # type: ignore[method-assign]  # the console asks this for a line
    prompt.interact(banner if is_terminal else "", exitmsg="")


def _line(prompt: object = "") -> str:
    """The next line of what is no terminal, without a prompt. raises: EOFError"""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _ipython(names: dict[str, Any]) -> bool:
    """Open IPython's prompt, where it is installed; whether it is."""
    try:
        from IPython import start_ipython
    except ImportError:
        return False
    start_ipython(argv=["--no-banner"], user_ns=names)
    return True

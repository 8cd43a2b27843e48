"""Open an interactive Python prompt: of IPython where it is installed and input is a terminal, else of Python."""

from __future__ import annotations

import code
import sys
from typing import Any

from nodeattrs.contract.command import Prompt
from nodeattrs.errors import NodeattrsError


def open_prompt(prompt: Prompt) -> None:
    """Open a prompt with the names of *prompt* as variables, until the input ends."""
    names = dict(prompt.names)
    if not (sys.stdin.isatty() and _ipython(names)):
        _python(names, prompt.banner)


def _python(names: dict[str, Any], banner: str) -> None:
    """Open Python's own prompt; where the input is no terminal, without banner and prompts."""

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
    """The next line of an input that is no terminal; no prompt is written. raises: EOFError"""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _ipython(names: dict[str, Any]) -> bool:
    """Open IPython's prompt until the input ends; returns False, at once, where IPython is not installed."""
    try:
        from IPython import start_ipython
    except ImportError:
        return False
    start_ipython(argv=["--no-banner"], user_ns=names)
    return True

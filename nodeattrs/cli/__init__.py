"""The command line: parses words, runs a command and prints its report.

A command is declared in a dialect or in `verbs.commands`, or is a module here with ARGUMENTS and `perform`. Packages
that do its work are imported when it runs, so that `--help` starts at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, print its output and errors; returns the exit code (table in `cli.exits`).

    argv: the words after the program's name. None: the words of the process. Ctrl-C then ends the process at once while
          it starts or ends, and closed standard streams are replaced
    """
    try:
        if argv is not None:
            return _run(argv)
        from nodeattrs.cli.interrupts import end_at_once

        end_at_once()
        _open_closed_streams()
        return _run(argv)
    except KeyboardInterrupt:
        return 130


def _open_closed_streams() -> None:
    """Open /dev/null in place of standard streams that the caller has closed, before another file gets their numbers.

    Reading standard input and writing standard output then fail; writes to standard error are dropped.
    """
    for name, way, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode, encoding="utf-8"))


def _run(argv: Sequence[str] | None) -> int:
    from nodeattrs.cli.program import run

    return run(argv)

"""The command line: words in, words out. It decides nothing.

One file a command: it says which words it takes, asks the rooms below and hands a report
to the terminal. Rooms are entered when a command runs, so that `--help` is there at once.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code, as `cli.exits` has them.

    argv: the words after the program's name. Unless given, those of the process, which this is then all of: an
          interrupt while it starts or ends finishes it at once
    """
    try:
        if argv is not None:
            return _run(argv)
        from nodeattrs.cli.interrupts import at_once

        at_once()
        _open_closed_streams()
        import atexit
        import gc

        # What a command loads stays: to look through it again and again takes a tenth.
        gc.set_threshold(100_000)
        from nodeattrs.cli.starts import Start

        start = Start(sys.argv[1:])
        atexit.register(start.end)
        from nodeattrs.cli.exits import INTERRUPTED, NOT_UNDERSTOOD
        from nodeattrs.cli.sparing import Sparing

        sys.meta_path.insert(0, Sparing())
        if sys.version_info < (3, 12):  # where datetime makes all its classes in Python before it takes those of C
            sys.modules.setdefault("datetime", __import__("_datetime"))
        code = _run(argv)
        if code not in (NOT_UNDERSTOOD, INTERRUPTED):
            start.keep(went_well=code == 0)
        return code
    except KeyboardInterrupt:
        return 130


def _open_closed_streams() -> None:
    """Take the numbers of streams that the caller has closed, before a file gets one of them.

    Reading standard input and writing standard output fail then, and what goes to standard error is dropped.
    """
    import os

    for name, way, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode, encoding="utf-8"))


def _run(argv: Sequence[str] | None) -> int:
    from nodeattrs.cli.program import run

    return run(argv)

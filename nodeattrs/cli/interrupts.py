"""Choose what Ctrl-C does: it ends the process at once, or raises KeyboardInterrupt while a command works.

While the program starts and ends, Ctrl-C ends the process at once. The module imports nothing that takes time, since it
is needed in the first moments of the program.
"""

from __future__ import annotations

import os
import sys
from signal import SIGINT, default_int_handler, getsignal, signal

_AT_ONCE = False


def end_at_once() -> None:
    """Let Ctrl-C end the process at once, with exit code 130 and without a message.

    The program calls this first. Does nothing where another handler is installed. A KeyboardInterrupt in a
    callback ends the process, too, where Python would only print it.
    """
    global _AT_ONCE
    if getsignal(SIGINT) is default_int_handler:
        _AT_ONCE = True
        signal(SIGINT, _end)
        sys.unraisablehook = _unraisable


def raise_while_working(work: bool) -> None:
    """With True let Ctrl-C raise KeyboardInterrupt, so that a command can clean up; with False let it end the process.

    Before `end_at_once` was called, this function does nothing.
    """
    if _AT_ONCE:
        signal(SIGINT, default_int_handler if work else _end)


def _end(*_: object) -> None:
    os._exit(130)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    # Python would only report an interrupt that came inside of a callback, and go on.
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        os._exit(130)
    sys.__unraisablehook__(unraisable)

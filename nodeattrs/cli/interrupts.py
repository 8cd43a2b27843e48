"""Ctrl-C: at once while the program starts and ends, as KeyboardInterrupt while a command works.

Imports nothing that takes time, since the first moments are what it is about.
"""

from __future__ import annotations

import os
import sys
from signal import SIGINT, default_int_handler, getsignal, signal

_AT_ONCE = False


def at_once() -> None:
    """From now on Ctrl-C ends the process, with exit code 130 and without a word: there is nothing to put in order.

    For the program alone, which calls it before anything else; where somebody else decides, they go on to. What
    Python itself does before it comes to us is out of reach.
    """
    global _AT_ONCE
    if getsignal(SIGINT) is default_int_handler:
        _AT_ONCE = True
        signal(SIGINT, _end)
        sys.unraisablehook = _unraisable


def while_working(work: bool) -> None:
    """Whether a command is at work, which is to put things in order when it is interrupted."""
    if _AT_ONCE:
        signal(SIGINT, default_int_handler if work else _end)


def _end(*_: object) -> None:
    os._exit(130)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    # Python would only report an interrupt that came inside of a callback, and go on.
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        os._exit(130)
    sys.__unraisablehook__(unraisable)

"""One input, judged: what its target makes of it, and the smallest one that fails as it does."""

from __future__ import annotations

import contextlib
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

from nodeattrs.errors import InternalError, NodeattrsError
from tests.fuzz.target import Target

__all__ = ["MOST_BYTES", "MOST_SECONDS", "Failed", "guarded", "judged", "over", "shrunk"]

MOST_SECONDS = 5
"""Of CPU, for an input."""
MOST_BYTES = 1 << 30
"""Of memory, beyond what a run has when it begins."""
_GRACE = 3
_TRIES = 400
_TOLD = Path("/proc/self/statm")
"""How much memory this process has, where the system tells; elsewhere nobody holds it to less."""
_HOUSE = Path(__file__).parents[2] / "nodeattrs"


class TookTooLong(BaseException):
    """The time of an input is over. No `Exception`: nobody takes it for an error of a reader."""


class Failed(Exception):
    """An input did what none may do.

    kind:     alike for inputs that fail alike
    accepted: whether the parser had accepted it
    """

    def __init__(self, kind: str, message: str, accepted: bool) -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind
        self.accepted = accepted


def guarded() -> None:
    """Hold this process to the memory of an input, and let time that is over be heard.

    What Python would warn people of, who did not write it, is a fault too; but not of their own code.
    """
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", SyntaxWarning)
    if _TOLD.exists():
        has = int(_TOLD.read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + MOST_BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, over)


def over(*_: object) -> None:
    """What is heard when time is over. raises: TookTooLong"""
    raise TookTooLong


@contextlib.contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """For so much CPU; what does not hear that it is over, the system ends `_GRACE` seconds later.

    By timers, which count from here: what a system counts against RLIMIT_CPU differs by seconds in an old process.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds + _GRACE)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def judged(target: Target, text: str, seconds: float = MOST_SECONDS) -> bool:
    """Whether the target's parser accepts an input. raises: Failed"""
    accepted = False
    began = time.process_time()
    try:
        with _timed(seconds):
            found = target.read(text)
            accepted = True
            target.use(found)
    except InternalError as error:
        raise Failed(f"InternalError {_place(error)}", str(error), accepted) from error
    except NodeattrsError as error:
        _said(error, accepted)
    except (Exception, SystemExit, TookTooLong) as error:
        raise Failed(f"{type(error).__name__} {_place(error)}", str(error)[:200], accepted) from error
    if time.process_time() - began > seconds:
        raise Failed(f"took over {seconds} s", "", accepted)
    return accepted


def _said(error: NodeattrsError, accepted: bool) -> None:
    try:
        str(error).encode("utf-8", "backslashreplace")
    except Exception as fault:
        raise Failed(f"{type(fault).__name__} in the text of an error {_place(fault)}", str(fault), accepted) from fault


def _place(error: BaseException) -> str:
    """The innermost line of ours that an error went through."""
    while isinstance(error, InternalError) and error.__cause__ is not None:
        error = error.__cause__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_HOUSE)] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "nowhere"


def shrunk(target: Target, text: str, kind: str) -> str:
    """A smaller input that fails in the same way; one that takes too long stays as it is."""
    size = len(text) if not kind.startswith(("took", "TookTooLong")) else 0
    tries = 0
    while size > 1 and tries < _TRIES:
        size = (size + 1) // 2
        at = 0
        while at < len(text) and tries < _TRIES:
            less = text[:at] + text[at + size :]
            tries += 1
            if _fails(target, less, kind):
                text = less
            else:
                at += size
    return text


def _fails(target: Target, text: str, kind: str) -> bool:
    try:
        judged(target, text, 1)
    except Failed as failed:
        return failed.kind == kind
    return False

"""Child processes: every program that nodeattrs starts is started here.

A program that nodeattrs chooses, such as Git, gets a small environment (`environment`). With it, Python imports nothing
from the current folder. A program that the caller names, such as an inventory script, gets the caller's environment, as
from the original tool.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodeattrs.errors import TooMuch

_KEPT = ("HOME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
"""Variables of the caller that a program of our own choice gets."""

_SAFE_PATH = "PYTHONSAFEPATH"
"""Python imports nothing from the current folder where this variable is set."""

_PIECE = 1 << 16

_MOST_ERRORS = 100_000
"""Bytes of standard error that are read."""


class FinishedProgram(NamedTuple):
    """A program that has ended.

    code:   its exit code; negative where a signal ended it
    output: its standard output
    errors: its standard error, the first 100,000 bytes
    """

    code: int
    output: bytes
    errors: str


def environment(**others: str) -> dict[str, str]:
    """The variables for a program of our own choice: PATH without relative entries, HOME and a few more, LC_ALL=C.

    others: further variables; they override these
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # A relative entry of PATH would find programs of the repository.
    places = [place for place in os.get_exec_path() if os.path.isabs(place)]
    return {**kept, "PATH": os.pathsep.join(places), "LC_ALL": "C", _SAFE_PATH: "1", **others}


def callers_environment() -> dict[str, str]:
    """A copy of all variables of this process, for a program that the caller names."""
    return dict(os.environ)


def start(words: Sequence[str], *, env: Mapping[str, str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a program without a shell, and do not wait for it. The caller ends it.

    how:    further arguments of `subprocess.Popen`
    raises: OSError, where it cannot be started; ValueError, for a word with a null character
    """
    return subprocess.Popen(words, env=env, **how)


def run(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    seconds: float,
    most_bytes: int,
    folder: str | os.PathLike[str] | None = None,
    given: bytes = b"",
) -> FinishedProgram:
    """Run a program without a shell and wait until it ends. An exit code other than 0 is no error here.

    The program keeps the terminal, so that it can ask for a password. When `run` returns or raises, the program has
    ended.

    words:      the program and its arguments
    env:        its environment
    seconds:    it is killed after this time
    most_bytes: it is killed once it has written more than this to standard output
    folder:     its working folder; None: the current one
    given:      its standard input
    raises:     TooMuch, if it was killed; OSError, if it cannot be started; ValueError, for a null character in a word
    """
    until = time.monotonic() + seconds
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(given)
        source.seek(0)
        child = start(words, env=env, cwd=folder, stdin=source, stdout=subprocess.PIPE, stderr=errors)
        assert child.stdout is not None
        with child.stdout:
            try:
                output = _read(child.stdout.fileno(), most_bytes, until)
                if len(output) > most_bytes:
                    raise TooMuch(f"{words[0]} printed more than {most_bytes:,} bytes", limit="bytes")
                child.wait(max(0.0, until - time.monotonic()))
            except (TimeoutError, subprocess.TimeoutExpired):
                raise TooMuch(f"{words[0]} did not end within {seconds:g} seconds", limit="seconds") from None
            finally:
                _kill(child)
        errors.seek(0)
        return FinishedProgram(child.returncode, output, errors.read(_MOST_ERRORS).decode("utf-8", "replace"))


def _read(pipe: int, most_bytes: int, until: float) -> bytes:
    """Read a pipe to its end, or until more than *most_bytes* are read.

    until:  a time of `time.monotonic`
    raises: TimeoutError, if the pipe is still open then; a child of the program may keep it open
    """
    pieces, size = [], 0
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while size <= most_bytes:
            if not ready.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(pipe, _PIECE)
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
    return b"".join(pieces)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a program, unless it has ended."""
    if child.poll() is None:
        child.kill()
        child.wait()


def callers_safe_path() -> str | None:
    """The value of PYTHONSAFEPATH in this process; None where it is not set."""
    return os.environ.get(_SAFE_PATH)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """A context in which PYTHONSAFEPATH is 1 in this process; after it, the variable is as before.

    Python processes that a library starts in the block import nothing from the current folder.
    """
    before = callers_safe_path()
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        restore_safe_path(before)


def restore_safe_path(before: str | None) -> None:
    """Set PYTHONSAFEPATH to a value of `callers_safe_path`; None removes it.

    A process of a pool calls it. Programs that the process starts then get the caller's value.
    """
    if before is None:
        os.environ.pop(_SAFE_PATH, None)
    else:
        os.environ[_SAFE_PATH] = before

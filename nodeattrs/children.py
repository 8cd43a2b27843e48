"""Child processes: every program that nodeattrs starts is started here.

A program of our own choice, such as Git, gets a small environment and no module of the current folder. A program that
the caller names, such as an inventory script, gets the caller's environment, as the original tool gives it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.errors import TooMuch
from nodeattrs.records import NamedTuple

_KEPT = ("HOME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "SYSTEMROOT")
"""Variables of the caller that a program of our own choice gets."""

_SAFE_PATH = "PYTHONSAFEPATH"
"""Python imports nothing from the current folder where this variable is set."""

_MOST_ERRORS = 100_000
"""Bytes of standard error that are read."""


class Ended(NamedTuple):
    """A program that has ended. code: its exit code; output, errors: what it wrote"""

    code: int
    output: bytes
    errors: str


def environment(**others: str) -> dict[str, str]:
    """The small environment: where programs are, whose they are, and no settings of libraries.

    others: further variables
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # A relative entry of PATH would find programs of the repository.
    places = [place for place in os.get_exec_path() if os.path.isabs(place)]
    return {**kept, "PATH": os.pathsep.join(places), "LC_ALL": "C", _SAFE_PATH: "1", **others}


def callers_environment() -> dict[str, str]:
    """The environment of the caller, for a program that the caller names."""
    return dict(os.environ)


def start(words: Sequence[str], *, env: Mapping[str, str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, without a shell.

    how:    further words of `subprocess.Popen`
    raises: OSError, where it cannot be started; ValueError, for a word that no command line can have
    """
    return subprocess.Popen(words, env=env, start_new_session=True, **how)


def run(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    seconds: float,
    most_bytes: int,
    folder: str | os.PathLike[str] | None = None,
    given: bytes = b"",
) -> Ended:
    """Run a program to its end.

    seconds:    it is killed after this time
    most_bytes: it is killed once it has written more than this
    given:      what it finds on standard input
    raises:     TooMuch, where it was killed; OSError and ValueError, where it cannot be started
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(given)
        source.seek(0)
        child = start(words, env=env, cwd=folder, stdin=source, stdout=subprocess.PIPE, stderr=errors)
        late = threading.Event()

        def end_late() -> None:
            late.set()
            _kill(child)

        timer = threading.Timer(seconds, end_late)
        timer.daemon = True
        timer.start()
        try:
            assert child.stdout is not None
            output = child.stdout.read(most_bytes + 1)
            if len(output) > most_bytes:
                raise TooMuch(f"{words[0]} printed more than {most_bytes:,} bytes", limit="bytes")
            child.wait()
        finally:
            timer.cancel()
            _kill(child)
        if late.is_set():
            raise TooMuch(f"{words[0]} did not end within {seconds:g} seconds", limit="seconds")
        errors.seek(0)
        return Ended(child.returncode, output, errors.read(_MOST_ERRORS).decode("utf-8", "replace"))


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started; nothing where it has ended."""
    if child.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


_is_the_callers = _SAFE_PATH in os.environ


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """While it lasts, Python processes that libraries start import nothing from the current folder.

    For process pools, which take the environment of this process.
    """
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        leave_safe_path()


def leave_safe_path() -> None:
    """In a process that began under `safe_path`: programs that it runs import as the caller would have them."""
    if not _is_the_callers:
        os.environ.pop(_SAFE_PATH, None)

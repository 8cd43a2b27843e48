"""The types `Execute` (a command, run when its conditions ask for it, or when it is refreshed) and `Log`.

A command that takes too long is ended together with all processes that it has started. A mark in their environment
shows them, whatever process group, session or parent they have by now.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nodeattrs import children
from nodeattrs.catalog.automatic import PLACED, nearest_first
from nodeattrs.catalog.errors import FolderMissing, ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.catalog.types.acting import ResourceType, Site, is_secret, revealed
from nodeattrs.errors import BadArgument

_MARK = "NODEATTRS_EXECUTE"
_MOST_SHOWN = 400
Command = str | Sequence[str]


@dataclass(repr=False)
class Execute(ResourceType):
    """A command that runs if its conditions are met, or when a refresh comes.

    command:      a text for the shell, or a list of words without a shell; None: the title
    environment:  variables for the command, beside the variables of this process
    creates:      do not run if this path exists
    unless:       a command; do not run if it exits with 0
    only_if:      a command; run only if it exits with 0
    refresh_only: run only when a refresh comes
    timeout:      seconds, also for each condition; then the command is ended and the resource has failed
    returns:      the exit code, or a list of exit codes, that is no failure
    cwd:          the folder to run in, below the root of the run; None: not changed
    sensitive:    show neither command nor output; always so with a secret in command, environment or conditions

    All conditions must be met. `check` and `refresh` evaluate them, in no-op mode too; `apply` does not.
    The command finds the root of the run in the variable NODEATTRS_ROOT.
    The constructor raises BadArgument for a wrong *timeout*. `automatic` gives one relation, {} without *cwd*: the
    command requires the resource of *cwd*, or else the nearest one above it.
    """

    title: str
    command: Any = None
    cwd: str | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    creates: str | None = None
    unless: Any = None
    only_if: Any = None
    refresh_only: bool = False
    timeout: float = 300.0
    returns: int | Sequence[int] = 0
    sensitive: bool = False
    HIDDEN: ClassVar[frozenset[str]] = frozenset({"command", "environment", "unless", "only_if"})

    refreshable = True

    def __post_init__(self) -> None:
        self.command = self.title if self.command is None else self.command
        if not isinstance(self.timeout, (int, float)) or not 0 < self.timeout < 10**9:
            raise BadArgument(f"Execute[{self.title}]: {self.timeout!r} is not a number of seconds")
        asked = (self.command, self.environment, self.unless, self.only_if)
        self.sensitive = self.sensitive or any(map(is_secret, asked))

    def automatic(self) -> Mapping[str, tuple[str | FirstOf, ...]]:
        """The command requires the resource of *cwd*, or else the nearest one above it; {} without *cwd*."""
        if self.cwd is None:
            return {}
        return {
            "require": (FirstOf((f"Directory[{self.cwd}]", f"Link[{self.cwd}]", *nearest_first(self.cwd, *PLACED))),)
        }

    def check(self, site: Site) -> Sequence[Change]:
        """One change, "run", where the conditions are met, else []. Conditions are evaluated in no-op mode, too."""
        if self.refresh_only or not self._is_asked_for(site):
            return []
        return [Change("run", "ran" if self.sensitive else f"ran {_shown(self.command)}")]

    def apply(self, change: Change, site: Site) -> None:
        """Run the command. raises: ResourceFailed"""
        self._run(site)

    def refresh(self, site: Site) -> None:
        """Run the command, where the conditions are met. raises: ResourceFailed"""
        if self._is_asked_for(site):
            self._run(site)

    def _is_asked_for(self, site: Site) -> bool:
        if self.creates is not None and _is_there(site, self.creates):
            return False
        if self.unless is not None and self._ended(self.unless, site)[0] == 0:
            return False
        return self.only_if is None or self._ended(self.only_if, site)[0] == 0

    def _run(self, site: Site) -> None:
        code, output = self._ended(self.command, site)
        expected = (self.returns,) if isinstance(self.returns, int) else tuple(self.returns)
        if code not in expected:
            shown = "" if self.sensitive else output.strip()[-_MOST_SHOWN:]
            what = self._named(self.command)
            raise ResourceFailed(f"{what} ended with {code}{': ' + ' / '.join(shown.splitlines()) if shown else ''}")

    def _named(self, command: Any) -> str:
        return "the command" if self.sensitive else _shown(command)

    def _ended(self, command: Any, site: Site) -> tuple[int, str]:
        """Run a command; returns (its exit code, the end of its output). raises: ResourceFailed"""
        command = revealed(command)
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(word) for word in command]
        mark = secrets.token_hex(16)
        environment = children.callers_environment()
        environment |= {name: str(value) for name, value in revealed(self.environment).items()}
        environment |= {_MARK: mark, "NODEATTRS_ROOT": str(site.root)}
        with tempfile.TemporaryFile() as output:  # not a pipe: one that a child keeps open would keep us waiting
            try:
                with _folder(site, self.cwd) as folder:
                    child = children.start(
                        words,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        cwd=folder,
                        start_new_session=True,
                    )
            except (OSError, ValueError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or "it cannot be started"
                raise ResourceFailed(f"{self._named(words)}: {reason}") from None
            try:
                child.wait(self.timeout)
            except subprocess.TimeoutExpired:
                _end(child, mark)
                raise ResourceFailed(f"{self._named(command)} was ended after {self.timeout:g} seconds") from None
            except BaseException:
                _end(child, mark)
                raise
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - 4 * _MOST_SHOWN))
            return child.returncode, output.read().decode("utf-8", "replace")


def _is_there(site: Site, name: str) -> bool:
    try:
        with site.entry(name) as entry:
            return entry.status() is not None
    except FolderMissing:
        return False


@contextlib.contextmanager
def _folder(site: Site, name: str | None) -> Iterator[str | None]:
    """A context with the path of the folder in which a command runs; None for the current one."""
    if name is None:
        yield None
        return
    with site.folder(name) as folder:
        known = f"/proc/self/fd/{folder}"
        yield known if os.path.isdir(known) else str(site.path(name))


def _end(child: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a command and all processes that it has started."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
    # One that was just being started may have been missed, so until none is left.
    for _ in range(20):
        left = list(_marked(mark))
        if not left:
            return
        for one in left:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    """Yield the process ids whose environment has the mark; none on systems without /proc."""
    wanted = f"{_MARK}={mark}".encode()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as environment:
                    if wanted in environment.read().split(b"\0"):
                        yield int(name)


def _shown(command: Command) -> str:
    text = command if isinstance(command, str) else shlex.join(map(str, command))
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


@dataclass(repr=False)
class Log(ResourceType):
    """A message in the report. It counts as a change in each run, so that it can notify other resources.

    message: the text, or a secret, which is shown as "(withheld)"; None: the title
    """

    title: str
    message: Any = None

    def check(self, site: Site) -> Sequence[Change]:
        """Always one change, with the message as its summary; "(withheld)" for a message with a secret."""
        message = self.title if self.message is None else self.message
        return [Change("message", "(withheld)" if is_secret(message) else str(message))]

    def apply(self, change: Change, site: Site) -> None:
        """Does nothing: the report shows the change itself."""

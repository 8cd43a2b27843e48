"""A Ruby process that runs attribute files and recipes, and the messages to and from it: one JSON list a line.

The process works for one *owner* at a time, in a child process of its own. An owner is any object, such as one of the
session of a node. The process is not trusted. A line that is too long or not JSON, too many lines, and a timeout are
errors. An error ends the process, and all processes that it has started. Only the messages for begin and end have a
meaning here.
"""

from __future__ import annotations

import json
import os
import pathlib
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any, NoReturn

from nodeattrs import border, children
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.code import require_may_run
from nodeattrs.errors import NotFound, RecipeFailed

SECONDS = 60.0
"""How long one attribute file in Ruby, or one deferred value, may take."""

Message = list[Any]
"""A message: a word, then its parts."""

_SCRIPT = pathlib.Path(__file__).parent / "helper.rb"
_OPTIONS = ("-W0", "--disable=did_you_mean,error_highlight,rubyopt")
_ENVIRONMENT = ("PATH", "TZ", "GEM_HOME", "GEM_PATH")
"""The variables of our environment that the process gets; its texts are always UTF-8."""
_HOME = ("HOME", "TMPDIR")
"""Variables that name a folder of the process, which is removed with it."""

_PIECE = 1 << 16
_PATIENCE = 0.5
"""Seconds between two checks that the process still runs."""


class Helper:
    """A Ruby process that exchanges messages with this one. The constructor starts it.

    It ends with `close`, or when this object is freed. `alive` is False after `close` and after an error.

    `begin` makes it work for an owner, in a new child process. Then hold `lock`, `send` a request, and `receive`
    messages until the task ends. These methods raise RecipeFailed for a timeout, a bad message or a process that has
    ended. Such an error also ends the process; it cannot be started again. `refuse` ends it with a reason of the
    caller.

    root:      the folder in which it runs
    seconds:   the time limit for one task
    command:   the command to start; (): the Ruby of this machine with our script
    works_for: the owner for which the process works now; None before the first `begin`
    lock:      held by the caller from `begin` or `send` to the last `receive` of a task
    close:     a function that ends the process with its children, and removes its temporary folder. A second call does
        nothing
    raises:    NotFound, if there is no Ruby; UnknownLayer, if no code may run
    """

    def __init__(self, root: pathlib.Path, seconds: float = SECONDS, command: Sequence[str] = ()) -> None:
        require_may_run(f"an attribute file in Ruby of {root}")
        command = command or ruby_command(_SCRIPT)
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        home = tempfile.mkdtemp(prefix="nodeattrs-")
        self._process = children.start(
            command,
            env={**environment, **dict.fromkeys(_HOME, home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for one in (self._in, self._out):
            os.set_blocking(one, False)
        self.close = weakref.finalize(self, _end, self._process, home)
        self.seconds = seconds
        self.works_for: object = None
        self.lock = RLock()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._buffer = bytearray()
        self._searched = 0

    @property
    def alive(self) -> bool:
        """False after `close`. A process that died by itself is noticed at the next message."""
        return self.close.alive

    def begin(self, owner: object, given: Mapping[str, Any], until: float) -> None:
        """End the child process of the former owner, start one for *owner*, and wait until it is ready.

        given:  the folder of the repository, and data about the node, as the script in Ruby expects
        until:  the time limit, by `time.monotonic`
        raises: RecipeFailed, for a timeout or another answer
        """
        budget = Budget("a process for Ruby")
        if self.works_for is not None:
            self.send("end", until=until)
            self._expect("ended", self._received(budget, until))
        self.works_for = owner
        self.send("begin", given, until=until)
        self._expect("ready", self.receive(budget, until))

    def send(self, *message: Any, until: float) -> None:
        """Send a message without waiting for an answer. If the process has died, `receive` notices it, not `send`.

        message: a word and its parts, as data for JSON
        until:   the time limit, by `time.monotonic`
        raises: RecipeFailed, for a timeout, and after `close`
        """
        if not self.alive:
            self.refuse("its process has ended")
        left = memoryview(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        while left:
            try:
                left = left[os.write(self._in, left[:_PIECE]) :]
            except BlockingIOError:
                self._selector.register(self._in, selectors.EVENT_WRITE)
                try:
                    if self._out in self._wait(until):  # Ruby may wait until its messages are read
                        self._read_pipe()
                finally:
                    self._selector.unregister(self._in)
            except BrokenPipeError:
                return  # reading what came before finds its end

    def receive(self, budget: Budget, until: float) -> Message:
        """Wait for the next message, and return it: a list of a word and its parts.

        budget: counts messages and bytes
        until:  the time limit, by `time.monotonic`
        raises: RecipeFailed, for a bad message, a timeout, or if the child process has ended; TooMuch, from *budget*
        """
        message = self._received(budget, until)
        if message[0] == "ended":
            self.refuse(f"its process has ended: {' '.join(map(str, message[1:]))[:200]}")
        return message

    def _received(self, budget: Budget, until: float) -> Message:
        line = self._line(budget, until)
        budget.steps()
        budget.bytes(len(line))
        if time.monotonic() > until:
            self._refuse_late()
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if type(message) is not list or not message or type(message[0]) is not str:
            self.refuse("what Ruby sent is no message")
        return message

    def refuse(self, reason: str) -> NoReturn:
        """End the process, and raise RecipeFailed with *reason*, always."""
        self.close()
        raise RecipeFailed(f"files in Ruby cannot go on: {reason}")

    def _expect(self, word: str, message: Message) -> None:
        if message[0] != word:
            self.refuse(f"it says {message[0][:40]!r} instead of {word}")

    def _line(self, budget: Budget, until: float) -> bytes:
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > budget.remaining("bytes"):
                raise budget.exceeded("bytes")
            self._wait(until)
            self._read_pipe()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line

    def _read_pipe(self) -> None:
        with suppress(BlockingIOError):
            piece = os.read(self._out, _PIECE)
            if not piece:
                self.refuse("its process has ended")
            if len(self._buffer) > in_force().bytes * 2:
                self.refuse("it sent more than the limit of bytes allows")
            self._buffer += piece

    def _wait(self, until: float) -> set[int]:
        """Wait for pipes that can be read or written. raises: RecipeFailed, for a timeout, and if Ruby has ended"""
        while True:
            has_ended = self._process.poll() is not None  # before the pipe, which may have its last message
            left = until - time.monotonic()
            ready = self._selector.select(max(min(left, _PATIENCE), 0))
            if ready:
                return {key.fd for key, _ in ready}
            if has_ended:  # a process that it has started may keep the pipe open
                self.refuse("its process has ended")
            if left <= _PATIENCE:
                self._refuse_late()

    def _refuse_late(self) -> NoReturn:
        self.refuse(f"it took longer than {self.seconds:g} s")


def ruby_command(script: pathlib.Path) -> list[str]:
    """The command that runs a Ruby script: the `ruby` in PATH, options, the script. raises: NotFound, without Ruby"""
    program = shutil.which("ruby")
    if program is None:
        raise NotFound("there is no ruby to run files in Ruby with", hint="install it, or go without --ruby")
    return [program, *_OPTIONS, str(script)]


def _end(process: subprocess.Popen[bytes], home: str) -> None:
    """End the process and all processes that it has started, and remove its folder."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # before `wait`, after which the system may reuse the number
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    border.remove_folder(home)

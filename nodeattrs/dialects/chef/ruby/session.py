"""Run files in Ruby for one node: send a task to the Ruby process, and carry out its messages until the task ends.

The process (`helper.Helper`) may serve other nodes before and after. The process is not trusted: a message that is not
in the tables of `messages` ends it. The caller, `run.ruby_files`, decides which files run, and when.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.ruby.helper import Helper, Message
from nodeattrs.dialects.chef.ruby.messages import (
    COMMANDS,
    QUESTIONS,
    MessageKind,
    NodeMessages,
    RunningFile,
    RunServices,
)
from nodeattrs.dialects.chef.ruby.places import RubyPlace, Statement, statements
from nodeattrs.dialects.chef.ruby.seen import RECIPE
from nodeattrs.dialects.chef.ruby.values import RubyValues
from nodeattrs.errors import NodeattrsError, RecipeFailed
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as

_START = 60.0
"""The least time limit in seconds for the start of Ruby. The limit for a file may be shorter."""
_KEPT_ELSEWHERE = ("data_bag", "data_bag_item", "search")
"""Words whose data may exist on a Chef server though it does not exist here."""
_DEFERRED = RunningFile("a deferred value", "a deferred value", "")
"""The running file while a deferred value is computed after all files."""


class RubySession:
    """Runs files in Ruby for one node. The files read and change the node.

    The process begins to work for the node at the first file, and may work for other nodes before and after.

    `load` is for libraries, resources and definitions, `run` for attribute files, `recipe` for recipes. The caller
    keeps Chef's order. `run` and `recipe` raise RecipeFailed with the line; `load` returns the error. Ruby keeps what
    it has read of the node: call `forget` after other code has changed the node. A file may leave deferred values in
    the node. They can be computed until the process is closed or works for another node.

    helper:   the process; its `lock` is held while a file runs
    services: the functions of the run that the files may use
    root:     the folder of the repository
    """

    def __init__(self, node: Node, helper: Helper, services: RunServices, root: str | os.PathLike[str]) -> None:
        self._node = node
        self._helper = helper
        self._services = services
        self._root = os.path.join(os.path.realpath(root), "")
        self._owner = object()  # the helper keeps this, and may live longer than this session
        self._running: list[RunningFile] = []
        self._shown: dict[str, str] = {}
        self._is_stale = False
        self._errors: list[NodeattrsError] = []
        self._statements: dict[str, tuple[Statement, ...]] = {}
        self._places: dict[tuple[RunningFile, str, int], tuple[RubyPlace, AbstractContextManager[Any]]] = {}
        self._values = RubyValues(self._compute, lambda: self._current.shown)
        self._messages = NodeMessages(node, services, self._values, lambda: self._current, helper.refuse)

    def run(self, path: str, name: str, shown: str, cookbook: str) -> None:
        """Run an attribute file.

        path:   absolute, with links followed
        name:   of the file in origins, "app::default"; shown: of the file in messages
        raises: RecipeFailed, with the line; TooMuch
        """
        self._run(path, RunningFile(name, shown, cookbook), "file", path)

    def recipe(self, path: str, name: str, shown: str, cookbook: str, started: Sequence[str] = ()) -> None:
        """Run a recipe. Its resources are given to `services.seen`, and do nothing. The rest is as for `run`.

        name:    "cookbook::recipe"
        started: the recipes that have started so far, this one included
        """
        subject = [path, cookbook, name.partition("::")[2], list(started)]
        self._run(path, RunningFile(name, shown, cookbook, RECIPE), "recipe", subject)

    def _run(self, path: str, file: RunningFile, task: str, subject: Any) -> None:
        origin = Origin(file.kind, file.name, file.shown)
        with self._as_running(path, file), setting_as(self._node, file.kind, file.name, origin):
            self._request(task, subject)

    def load(self, kind: str, path: str, shown: str, cookbook: str) -> RecipeFailed | None:
        """Load a library, or a file of resources or definitions; returns the error if that fails, and None if not.

        kind:   "library", "resources" or "definitions"
        path:   absolute, with links followed; shown: of the file in messages
        cookbook: the name of its cookbook
        raises: RecipeFailed, if the Ruby process has ended
        """
        try:
            with self._as_running(path, RunningFile(shown, shown, cookbook)):
                self._request(kind, path if kind == "library" else [path, cookbook])
        except RecipeFailed as error:
            if not self._helper.alive:
                raise
            return error
        return None

    @contextmanager
    def _as_running(self, path: str, file: RunningFile) -> Iterator[None]:
        """A context manager: inside the block, *file* is the running file."""
        self._running.append(file)
        self._shown[path] = file.shown
        try:
            yield
        finally:
            self._running.pop()

    def forget(self) -> None:
        """Have Ruby read the node anew, at its next task or answer: other code has changed the node."""
        self._is_stale = True

    # One task of the Ruby process: a request, its messages, its end

    def _request(self, task: str, subject: Any) -> Any:
        """Have Ruby do a task, and carry out its messages meanwhile; returns the result of the task, or None."""
        with self._helper.lock:  # deferred values may be read by several threads
            try:
                ended = self._until_ended(task, subject)
            except BaseException:
                self._helper.close()  # else messages of this task would be read as those of the next one
                raise
        if ended[0] == "failed":
            raise self._failure(ended[1:])
        return ended[1] if len(ended) > 1 else None

    def _until_ended(self, task: str, subject: Any) -> Message:
        """Send a task, and carry out messages; returns the message that ends the task."""
        helper = self._helper
        self._begin(time.monotonic() + max(helper.seconds, _START))
        until = time.monotonic() + helper.seconds
        helper.send(task, subject, self._take_stale(), until=until)
        budget = Budget(self._current.shown)
        while (message := helper.receive(budget, until))[0] not in ("done", "failed"):
            if message[0] == "lines":
                self._keep_statements(*message[1:])
            elif message[0] == "ask":
                began = time.monotonic()
                self._answer(*message[1:])
                if message[1:2] in (["include"], ["recipe"]):  # an included file has a time limit of its own
                    until += time.monotonic() - began
            else:
                self._carry_out(*message)
        return message

    def _begin(self, until: float) -> None:
        """Have the process work for this session."""
        if self._helper.works_for is self._owner:
            return
        node = self._node
        given: dict[str, Any] = {"root": self._root, "name": node.name, "environment": node.environment}
        given |= {"run_list": list(self._services.run_list), "primary_runlist": node.run_list}
        given |= {name: node.automatic.get(name) for name in ("policy_name", "policy_group")}
        given["cookbooks"] = dict(self._services.cookbooks)
        self._helper.begin(self._owner, given, until)

    def _take_stale(self) -> bool:
        """Returns whether Ruby has to read the node anew, and resets it."""
        is_stale, self._is_stale = self._is_stale, False
        return is_stale

    def _compute(self, number: int) -> Any:
        """The value of a deferred value of Ruby. raises: RecipeFailed, where its process has ended"""
        if self._helper.works_for is not self._owner or not self._helper.alive:
            raise RecipeFailed(
                "a deferred value was computed by Ruby, whose process for this node has ended",
                hint="read it while the node is run; what is saved holds its value of then",
            )
        self._is_stale = True  # the node may have changed since Ruby read it
        return self._values.unpack(self._request("lazy", number))

    # Messages

    def _carry_out(self, word: str, *given: Any) -> None:
        kind = self._checked(COMMANDS, word, given)
        place, block = self._place(*given[-2:])
        try:
            with block:
                kind.carry_out(self._messages, place, *kind.values(given, self._values.unpack))
        except NodeattrsError as error:
            failed = self._error("", "", given[-2], given[-1], self._remember(error))
            raise failed from failed.__cause__

    def _answer(self, word: Any = None, *given: Any) -> None:
        kind = self._checked(QUESTIONS, word, given)
        place, _ = self._place(*given[-2:])
        try:
            # Not the kept context of `_place`: an included file may enter that one meanwhile.
            with setting_as(self._node, self._current.kind, place.origin.name, place):
                answer = kind.carry_out(self._messages, place, *kind.values(given, self._values.unpack))
        except NodeattrsError as error:
            if not self._helper.alive:
                raise
            if word in _KEPT_ELSEWHERE and self._current.kind == RECIPE:
                self._services.seen.add_hidden_place(error.message, place.at(()))
            reply: Message = ["refuse", type(error).__name__, error.message, self._remember(error)]
        else:
            reply = ["answer", answer]
        self._helper.send(*reply, self._take_stale(), until=time.monotonic() + self._helper.seconds)

    def _checked(self, kinds: dict[str, MessageKind], word: Any, given: Sequence[Any]) -> MessageKind:
        """The kind of a message. Ends the process and raises RecipeFailed for an unknown word or wrong parts."""
        kind = kinds.get(word) if type(word) is str else None
        if kind is None or not kind.fits(given):
            self._helper.refuse(f"its message {str(word)[:40]!r} is not known here")
        return kind

    def _keep_statements(self, *given: Any) -> None:
        """Keep the statements of a file that is about to run, as the parser of Ruby found them."""
        try:
            file, found = given
            self._statements[str(file)] = statements(found)
        except (TypeError, ValueError):
            self._helper.refuse("its message about the lines of a file has another shape")

    # Places

    @property
    def _current(self) -> RunningFile:
        """The file that runs, the innermost of those that include each other."""
        return self._running[-1] if self._running else _DEFERRED

    def _place(self, file: Any, line: Any) -> tuple[RubyPlace, AbstractContextManager[Any]]:
        """Returns (the place that a message names, a context manager inside which values get that place)."""
        current = self._current
        placed = self._places.get((current, file, line))
        if placed is None:
            place = RubyPlace(self._origin(file, line), self._statements.get(file, ()))
            context = setting_as(self._node, current.kind, current.name, place)
            placed = self._places[current, file, line] = place, context
        return placed

    def _origin(self, file: Any, line: Any) -> Origin:
        """The origin of a place that Ruby names; for a file outside of the repository the running file, no line."""
        current = self._current
        is_known = type(file) is str and (file in self._shown or file.startswith(self._root))
        if not is_known:
            return Origin(current.kind, current.name, current.shown, None)
        shown = self._shown.get(file, file[len(self._root) :].replace(os.sep, "/"))
        return Origin(current.kind, current.name, shown, line if type(line) is int and line > 0 else None)

    # Errors

    def _remember(self, error: NodeattrsError) -> int:
        """Keep an error; returns its number. Ruby sends the number back if the file does not rescue the error."""
        self._errors.append(error)
        return len(self._errors) - 1

    def _failure(self, given: Message) -> RecipeFailed:
        """The error of a failed task, from the last message of Ruby."""
        if len(given) != 5 or not all(type(one) is str for one in given[:2]):
            self._helper.refuse("it says what went wrong in another shape")
        return self._error(*given)

    def _error(self, ruby_class: str, text: str, file: Any, line: Any, number: Any) -> RecipeFailed:
        """An error at a place, without known secrets. An error that caused it and has one is not its `__cause__`.

        number: of the remembered error that caused it; else Ruby's class and text are used
        """
        origin = self._origin(file, line)
        cause = self._errors[number] if type(number) is int and 0 <= number < len(self._errors) else None
        if isinstance(cause, RecipeFailed):  # of a file that was included: it names its own line
            return cause
        written = str(cause) if cause else text
        shown = self._values.without_secrets(written)
        first, *rest = shown.splitlines() or [""]
        subject = "" if cause else f"{ruby_class}: "
        error = RecipeFailed(
            f"{origin.place}: {self._current.kind} {self._current.name} failed: {subject}{first}",
            path=cause.path if cause else None,
            origins=[origin],
            details=[one.strip() for one in rest[:20]],
        )
        error.__cause__ = cause if shown == written else None
        return error

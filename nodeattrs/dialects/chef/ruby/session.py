"""A node as attribute files and recipes in Ruby reach it: what they do is done to the node, what they ask is answered.

The helper that runs them is trusted with no more than its own node: each message is judged before anything is done,
and the first that is none ends it. Which files run, and when, others decide.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, MAX_DEPTH, Path, dig
from nodeattrs.dialects.chef.ruby.helper import Helper, Message
from nodeattrs.dialects.chef.ruby.places import RubyPlace, Statement, statements
from nodeattrs.dialects.chef.ruby.seen import RECIPE, Declared, Seen
from nodeattrs.dialects.chef.ruby.values import Secrets, packed, unpacked
from nodeattrs.errors import BadArgument, BadValue, NodeattrsError, RecipeFailed
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as
from nodeattrs.node.setters import ATTRIBUTE_FILE
from nodeattrs.node.slots import COMPONENTS
from nodeattrs.node.values import Deferred
from nodeattrs.node.writers import ListWriter, Writer

__all__ = ["Asked", "RubySession"]

_COMPONENTS = tuple(one.name for one in COMPONENTS)
_START = 60.0
"""Seconds in which Ruby has to begin, however little a file may take."""
_KEPT_ELSEWHERE = ("data_bag", "data_bag_item", "search")
"""Words that ask for what a server may have though it is not here."""
_LIST_WORK = ("push", "concat", "unshift", "insert", "delete", "delete_at", "clear", "pop", "shift", "replace")


@dataclass(frozen=True)
class Asked:
    """The services of a run for attribute files in Ruby.

    include:   loads an attribute file: (name, including cookbook, function that returns the line)
    words:     the functions `data_bag`, `data_bag_item`, `data_bags` and `search`
    log:       called with a message, its level and its line
    odd:       called with a warning and its line
    recipe:    runs a recipe, as *include*; returns False where it has run before
    cookbooks: name -> version of the cookbooks in use
    run_list:  the items that this run has, which an option may give instead of the node's
    seen:      takes what recipes declare and leave open
    """

    include: Callable[[str, str, Callable[[], Origin]], None]
    words: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    log: Callable[[str, str, Origin], None] = lambda *_: None
    odd: Callable[[str, Origin], None] = lambda *_: None
    recipe: Callable[[str, str, Callable[[], Origin]], bool] = lambda *_: False
    cookbooks: Mapping[str, str] = field(default_factory=dict)
    run_list: Sequence[str] = ()
    seen: Seen = field(default_factory=Seen)


class _Running(NamedTuple):
    """A file that runs: the name it goes by, its place in the repository, its cookbook, its sort."""

    name: str
    shown: str
    cookbook: str
    kind: str = ATTRIBUTE_FILE


_LATER = _Running("a deferred value", "a deferred value", "")
_Placed = tuple[RubyPlace, AbstractContextManager[Any]]


class RubySession:
    """Runs attribute files and recipes in Ruby for one node, in a process that no other node uses meanwhile.

    root: the folder of the repository
    """

    def __init__(self, node: Node, helper: Helper, asked: Asked, root: str | os.PathLike[str]) -> None:
        self._node = node
        self._helper = helper
        self._asked = asked
        self._root = os.path.join(os.path.realpath(root), "")
        self._me = object()  # what the helper knows us by: it is kept longer than we are
        self._running: list[_Running] = []
        self._shown: dict[str, str] = {}
        self._stale = False
        self._deferred: dict[int, Deferred] = {}
        self._numbers: dict[int, int] = {}
        self._secrets = Secrets()
        self._refused: list[NodeattrsError] = []
        self._texts: dict[str, tuple[Statement, ...]] = {}
        self._places: dict[tuple[_Running, str, int], _Placed] = {}

    # What is run

    def run(self, path: str, name: str, shown: str, cookbook: str) -> None:
        """Run an attribute file. shown: its name in messages. raises: RecipeFailed, TooMuch"""
        self._run(path, _Running(name, shown, cookbook), "file", path)

    def recipe(self, path: str, name: str, shown: str, cookbook: str, started: Sequence[str] = ()) -> None:
        """Run a recipe, whose resources do nothing; arguments and errors as of `run`.

        started: the recipes that have started by then, this one included
        """
        subject = [path, cookbook, name.partition("::")[2], list(started)]
        self._run(path, _Running(name, shown, cookbook, RECIPE), "recipe", subject)

    def _run(self, path: str, running: _Running, kind: str, subject: Any) -> None:
        self._running.append(running)
        self._shown[path] = running.shown
        try:
            origin = Origin(running.kind, running.name, running.shown)
            with setting_as(self._node, running.kind, running.name, origin):
                self._do(kind, subject)
        finally:
            self._running.pop()

    def load(self, kind: str, path: str, shown: str, cookbook: str) -> RecipeFailed | None:
        """Load a library, or a file of resources or definitions; returns the error where it cannot be loaded.

        kind:   "library", "resources" or "definitions"
        raises: RecipeFailed, where the Ruby process has ended
        """
        self._running.append(_Running(shown, shown, cookbook))
        self._shown[path] = shown
        try:
            self._do(kind, path if kind == "library" else [path, cookbook])
        except RecipeFailed as error:
            if not self._helper.alive:
                raise
            return error
        finally:
            self._running.pop()
        return None

    def forget(self) -> None:
        """Note that the node was changed outside of Ruby, so that Ruby reads it anew."""
        self._stale = True

    def _begin(self, until: float) -> None:
        helper = self._helper
        if helper.works_for is self._me:
            return
        budget = Budget("a process for Ruby")
        if helper.works_for is not None:
            helper.send("end", until=until)
            self._expect("ended", helper.receive(budget, until))
        helper.works_for = self._me
        node = self._node
        policy = {name: node.automatic.get(name) for name in ("policy_name", "policy_group")}
        given = {"root": self._root, "name": node.name, "environment": node.environment}
        lists = {"run_list": list(self._asked.run_list), "primary_runlist": node.run_list}
        versions = {"cookbooks": dict(self._asked.cookbooks)}
        helper.send("begin", {**given, **lists, **policy, **versions}, until=until)
        self._expect("ready", helper.receive(budget, until))

    def _expect(self, word: str, message: Message) -> None:
        if message[0] != word:
            self._helper.refuse(f"it says {message[0][:40]!r} instead of {word}")

    def _do(self, kind: str, subject: Any) -> Any:
        """Have something done, and do meanwhile what it says; what comes of it."""
        with self._helper.lock:  # deferred values may be read by several threads
            return self._done(kind, subject)

    def _done(self, kind: str, subject: Any) -> Any:
        helper = self._helper
        try:
            self._begin(time.monotonic() + max(helper.seconds, _START))
            until = time.monotonic() + helper.seconds
            helper.send(kind, subject, self._fresh(), until=until)
            budget = Budget(self._now.shown)
            while (message := helper.receive(budget, until))[0] not in ("done", "failed"):
                if message[0] == "ask":
                    began = time.monotonic()
                    self._answer(*message[1:])
                    if message[1:2] in (["include"], ["recipe"]):  # what is included has a time of its own
                        until += time.monotonic() - began
                else:
                    self._heed(*message)
        except BaseException:
            helper.close()  # what it says next would be about something else
            raise
        if message[0] == "failed":
            raise self._failed(*self._failure(message[1:]))
        return message[1] if len(message) > 1 else None

    def _failure(self, given: Message) -> tuple[str, str, Any, Any, Any]:
        if len(given) != 5 or not all(type(one) is str for one in given[:2]):
            self._helper.refuse("it says what went wrong in another shape")
        return given[0], given[1], given[2], given[3], given[4]

    def _fresh(self) -> bool:
        stale, self._stale = self._stale, False
        return stale

    def _failed(self, sort: str, text: str, file: Any, line: Any, number: Any) -> RecipeFailed:
        origin = self._origin(file, line)
        cause = self._refused[number] if type(number) is int and 0 <= number < len(self._refused) else None
        if isinstance(cause, RecipeFailed):  # of a file that was included: it names its own line
            return cause
        first, *rest = (str(cause) if cause else text).splitlines() or [""]
        sort = "" if cause else f"{sort}: "
        error = RecipeFailed(
            f"{origin.place}: {self._now.kind} {self._now.name} failed: {sort}{first}",
            path=cause.path if cause else None,
            origins=[origin],
            details=[one.strip() for one in rest[:20]],
        )
        error.__cause__ = cause
        return error

    # What comes

    def _heed(self, word: str, *rest: Any) -> None:
        if word == "lines":
            self._lines(*rest)
            return
        shape, act = _WORK.get(word, _NOTHING)
        place, block = self._judged(word, rest, shape)
        try:
            with block:
                act(self, *self._values(shape, rest), place)
        except NodeattrsError as error:
            raise self._failed("", "", rest[-2], rest[-1], self._remember(error)) from error

    def _answer(self, word: Any = None, *rest: Any) -> None:
        shape, act = _ASKED.get(word, _NOTHING) if type(word) is str else _NOTHING
        place, _ = self._judged(str(word), rest, shape)
        try:
            # A block of its own: what is included meanwhile may set something from the same line.
            with setting_as(self._node, self._now.kind, place.name, place):
                answer = act(self, *self._values(shape, rest), place)
        except NodeattrsError as error:
            if not self._helper.alive:
                raise
            if word in _KEPT_ELSEWHERE and self._now.kind == RECIPE:
                self._asked.seen.hidden(error.message, place.at(()))
            reply: Message = ["refuse", type(error).__name__, error.message, self._remember(error)]
        else:
            reply = ["answer", answer]
        self._helper.send(*reply, self._fresh(), until=time.monotonic() + self._helper.seconds)

    def _lines(self, *rest: Any) -> None:
        """What the parser of the helper knows of a file that is about to run."""
        try:
            file, given = rest
            self._texts[str(file)] = statements(given)
        except (TypeError, ValueError):
            self._helper.refuse("its message about the lines of a file has another shape")

    def _judged(self, word: str, given: Sequence[Any], shape: str | None) -> _Placed:
        """The place of a message, whose parts all are as they must be: at the end a file and a line."""
        if shape is None or len(given) != len(shape) + 2 or not _fits(shape, given):
            self._helper.refuse(f"its message {word[:40]!r} is not known here")
        return self._place(*given[-2:])

    def _values(self, shape: str | None, given: Sequence[Any]) -> Iterable[Any]:
        try:
            return [
                unpacked(one, self._lazy, self._secrets) if kind == "v" else one
                for kind, one in zip(shape or "", given, strict=False)
            ]
        except RecursionError:
            raise BadValue(f"deeper than {MAX_DEPTH} levels") from None

    def _remember(self, error: NodeattrsError) -> int:
        self._refused.append(error)
        return len(self._refused) - 1

    # Who says it

    @property
    def _now(self) -> _Running:
        """The file that runs; none while a deferred value is computed."""
        return self._running[-1] if self._running else _LATER

    def _place(self, file: Any, line: Any) -> _Placed:
        """The place that a message names, set by the file that runs now, and the block in which it sets values."""
        now = self._now
        placed = self._places.get((now, file, line))
        if placed is None:
            place = RubyPlace(self._origin(file, line), self._texts.get(file, ()))
            block = setting_as(self._node, now.kind, now.name, place)
            placed = self._places[now, file, line] = place, block
        return placed

    def _origin(self, file: Any, line: Any) -> Origin:
        known = type(file) is str and (file in self._shown or file.startswith(self._root))
        shown = self._shown.get(file, file[len(self._root) :].replace(os.sep, "/")) if known else self._now.shown
        return Origin(self._now.kind, self._now.name, shown, line if known and type(line) is int and line > 0 else None)

    # Values

    def _lazy(self, number: Any) -> Deferred:
        """The deferred value of a number, made when it is first named."""
        if type(number) is not int:
            raise BadValue("Ruby sent a deferred value that it has not made")
        if number not in self._deferred:
            place = f"{self._now.shown} (Ruby)"
            one = self._deferred[number] = Deferred(lambda: self._computed(number), place)
            self._numbers[id(one)] = number
        return self._deferred[number]

    def _computed(self, number: int) -> Any:
        if self._helper.works_for is not self._me or not self._helper.alive:
            raise RecipeFailed(
                "a deferred value was computed by Ruby, whose process for this node has ended",
                hint="read it while the node is run; what is saved holds its value of then",
            )
        self._stale = True  # the caller may have written since
        return unpacked(self._do("lazy", number), self._lazy, self._secrets)

    def _packed(self, value: Any, path: Path = ()) -> Any:
        return packed(value, lambda one: self._numbers.get(id(one)), self._secrets, path)

    # What is asked, where it takes more than a call of the node

    def _level(self, level: str, place: RubyPlace) -> Any:
        return self._packed(getattr(self._node, level).to_dict(), (level,))

    def _search(self, index: str, query: str, wanted: Any, place: RubyPlace) -> Any:
        found = self._word("search")(index, query)
        if wanted is not None:
            found = [{title: _dug(one, path) for title, path in wanted.items()} for one in found]
        return self._packed(found)

    def _word(self, name: str) -> Callable[..., Any]:
        word = self._asked.words.get(name)
        if word is None:
            raise BadArgument(f"{name} is not known in this run")
        return word

    def _force(self, level: str, path: Path, value: Any, place: RubyPlace) -> None:
        getattr(self._node, f"{level}_full")(*path, value)

    def _include(self, name: str, place: RubyPlace) -> None:
        self._asked.include(name, self._now.cookbook, lambda: place.at(()))

    def _recipe(self, name: str, place: RubyPlace) -> bool:
        return self._asked.recipe(name, self._now.cookbook, lambda: place.at(()))

    def _harmless(self, kind: str, place: RubyPlace) -> bool:
        return self._asked.seen.is_harmless(kind, place.origin if place.origin.line else None)

    def _resource(self, number: Any, kind: str, title: str, properties: Any, place: RubyPlace) -> None:
        if not isinstance(properties, dict):
            self._helper.refuse(f"the properties of {kind[:40]} have another shape")
        self._asked.seen.declared(number, Declared(kind, title, properties, place.origin))


def _dug(tree: Any, path: Path) -> Any:
    found = dig(tree, tuple(path))
    return None if found is ABSENT else found


Act = Callable[..., Any]
_NOTHING: tuple[None, Act] = (None, lambda *_: None)
_TEXT, _NUMBER, _STEPS = (str, type(None)), (int, type(None)), {str, int}


def _stepped(session: RubySession, level: str, path: Sequence[Any]) -> Any:
    here = getattr(session._node, level)
    for step in path:
        try:
            here = here[step]
        except TypeError:
            session._helper.refuse(f"it goes below a {type(here).__name__} of {level}")
    return here


def _list(
    session: RubySession, level: str, path: Sequence[Any], method: str, args: list[Any], place: RubyPlace
) -> None:
    here = _stepped(session, level, path)
    if not isinstance(here, ListWriter) or method not in _LIST_WORK or not isinstance(args, list):
        session._helper.refuse(f"there is no list to {method[:40]}")
    try:
        getattr(here, method)(*args)
    except TypeError:
        session._helper.refuse(f"it says {method} of a list in another shape")


def _update(session: RubySession, level: str, path: Sequence[Any], value: Any, place: RubyPlace) -> None:
    here = _stepped(session, level, path)
    if not isinstance(here, Writer) or not isinstance(value, dict):
        session._helper.refuse("there is no map to update")
    here.update(value)


def _delete(session: RubySession, level: str, path: Sequence[Any], place: RubyPlace) -> None:
    session._node.unlink(level, *path)


_WORK: dict[str, tuple[str, Act]] = {
    "set": ("lpv", lambda session, level, path, value, _: session._node.write(level, *path, value)),
    "step": ("lp", lambda session, level, path, _: _stepped(session, level, path)),
    "update": ("lqv", _update),
    "delete": ("lp", _delete),
    "list": ("lptv", _list),
    "full": ("wpv", lambda session, level, path, value, _: getattr(session._node, f"{level}_full")(*path, value)),
    "unless": ("wpv", lambda session, level, path, value, _: getattr(session._node, f"{level}_unless")(*path, value)),
    "replace": ("lv", lambda session, level, value, _: setattr(session._node, level, value)),
    "log": ("tt", lambda session, level, message, place: session._asked.log(message, level, place.at(()))),
    "odd": (
        "t",
        lambda session, sort, place: session._asked.odd(f"a {sort} of Ruby is kept as the text of it", place.at(())),
    ),
    "resource": ("kttv", RubySession._resource),
    "gone": ("k", lambda session, number, _: session._asked.seen.gone(number)),
    "later": ("", lambda session, place: session._asked.seen.later(place.origin)),
    "undefined": ("t", lambda session, kind, place: session._asked.seen.undefined(kind, place.at(()))),
    "hides": ("t", lambda session, reason, place: session._asked.seen.hidden(reason, place.at(()))),
}
"""What an attribute file does: the shapes of what it says of it, and what is done."""

_ASKED: dict[str, tuple[str, Act]] = {
    "get": ("k", lambda session, key, _: session._packed(session._node.merged(key), (key,))),
    "has": ("k", lambda session, key, _: session._node.has_attribute(key)),
    "level": ("l", RubySession._level),
    "read": ("p", lambda session, path, _: session._packed(session._node.read(*path), tuple(path))),
    **{
        name: (
            "q",
            lambda session, path, _, name=name: session._packed(getattr(session._node, name)(*path), tuple(path)),
        )
        for name in ("merged", "combined_default", "combined_override")
    },
    **{
        name: ("p", lambda session, path, _, name=name: session._packed(getattr(session._node, name)(*path)))
        for name in ("rm", "rm_default", "rm_normal", "rm_override")
    },
    "force": ("fpv", RubySession._force),
    "include": ("t", RubySession._include),
    "recipe": ("t", RubySession._recipe),
    "harmless": ("t", RubySession._harmless),
    "data_bags": ("", lambda session, _: session._packed(session._word("data_bags")())),
    "data_bag": ("t", lambda session, bag, _: session._packed(session._word("data_bag")(bag))),
    "data_bag_item": ("tt", lambda session, bag, item, _: session._packed(session._word("data_bag_item")(bag, item))),
    "search": ("tts", RubySession._search),
}
"""What an attribute file asks: the shapes of it, and who answers."""


def _is_path(given: Any) -> bool:
    return type(given) is list and len(given) <= MAX_DEPTH and _STEPS.issuperset(map(type, given))


def _is_selection(given: Any) -> bool:
    return given is None or (type(given) is dict and all(_is_path(path) for path in given.values()))


def _fits(shape: str, given: Sequence[Any]) -> bool:
    for kind, one in zip(shape, given, strict=False):
        if not _SHAPES[kind](one):
            return False
    return type(given[-2]) in _TEXT and type(given[-1]) in _NUMBER


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "l": _COMPONENTS.__contains__,
    "w": ("default", "normal", "override").__contains__,
    "f": ("force_default", "force_override").__contains__,
    "p": lambda given: _is_path(given) and bool(given),
    "q": _is_path,
    "k": lambda given: type(given) in (str, int),
    "t": lambda given: type(given) is str,
    "s": _is_selection,
    "v": lambda given: True,
}
"""What a part of a message must be: a level, one of some, a path, a key, a text, a selection, a value."""

"""The values and keys that a slot can hold: JSON, symbols, deferred values and secrets; and the sensitive paths.

Data is copied when it enters a slot (`stored`). A value that no node can hold raises BadKey or BadValue with its path.
Slots and files are not known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime, time
from functools import lru_cache
from threading import local
from types import CodeType
from typing import Any, NoReturn

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import MAX_DEPTH, SCALARS, Path, as_path, copied, parse, spell
from nodeattrs.errors import BadArgument, BadKey, BadValue, DeferredCycle, NodeattrsError, ValueWithheld, wrong_argument

__all__ = [
    "MARKER",
    "ROOM",
    "Deferred",
    "Sensitive",
    "Symbol",
    "Withheld",
    "computed",
    "key_of",
    "lazy",
    "refuse_spelled",
    "steps_of",
    "stored",
    "taken_in",
]

ROOM = MAX_DEPTH - 1
"""The most levels of nesting in a component: one less than in a document, which has the component's name above."""

MARKER: dict[str, str] = {"$sensitive": "withheld"}
"""Stands in a document in the place of a secret."""


class Symbol(str):
    """A Ruby symbol, equal to its text. As a key it becomes the text; as a value it stays a symbol until it is saved.

    >>> Symbol("web"), Symbol("web") == "web"
    (Symbol('web'), True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str(self)!r})"


_running = local()


class Deferred:
    """A value that is computed each time it is read; made by `lazy`. The constructor computes nothing.

    `evaluate` calls the function and returns a copy of its result, which is never cached. It raises DeferredCycle if
    the value needs itself, and passes on the errors of the function. Several threads may call it at once.

    compute: a function without arguments. raises: BadValue, if it cannot be called
    place:   where it was made, for messages; "": the file and line of the function
    code:    the code object of the function; None for a callable that is not written in Python
    """

    __slots__ = ("_compute", "_place")

    def __init__(self, compute: Callable[[], Any], place: str = "") -> None:
        if not callable(compute):
            raise BadValue("lazy needs a callable", hint="write lazy(lambda: node['a'])")
        self._compute = compute
        self._place = place

    def evaluate(self, path: Path = ()) -> Any:
        """Call the function, and return its result as a plain copy; deferred values in the result are computed, too.

        path:   where the value is in the node, for messages; an error of the function gets a note with that path
        raises: DeferredCycle, if the value needs itself; BadKey, BadValue, for a result that no node can hold; any
                error of the function
        """
        chain: list[Deferred] = _running.__dict__.setdefault("chain", [])
        if any(one is self for one in chain):
            details = [f"{one} needs" for one in chain] + [f"{self}, which needs itself"]
            raise DeferredCycle(
                "a deferred value needs itself", details=details, hint="break the circle in one of these"
            )
        chain.append(self)
        try:
            return computed(stored(self._compute(), path), path)
        except Exception as error:
            if not isinstance(error, NodeattrsError):
                error.add_note(f"in {self}, read at {spell(path)}")
            raise
        finally:
            chain.pop()

    @property
    def code(self) -> CodeType | None:
        """The code object of the function; None for a callable that is not written in Python."""
        return getattr(self._compute, "__code__", None)

    def __deepcopy__(self, memo: object) -> Deferred:
        return self

    @property
    def place(self) -> str:
        """Where the value was made: the *place* of the constructor, or "file:line" of the function.

        For a callable without a code object it is the callable's repr.
        """
        if self._place:
            return self._place
        if self.code is None:
            return repr(self._compute)
        return f"{self.code.co_filename.rsplit('/', 1)[-1]}:{self.code.co_firstlineno}"

    def __repr__(self) -> str:
        return f"lazy({self.place})"


def lazy(compute: Callable[[], Any]) -> Deferred:
    """A value that is computed at each read: `default["url"] = lazy(lambda: f"http://{node['host']}/")`.

    compute: called without arguments at each read; its result is the value
    raises:  BadValue, where *compute* cannot be called
    source:  Chef's `lazy`, since Chef Infra Client 17; ours is also computed in bulk reads and when saved
    """
    return Deferred(compute)


class Withheld:
    """Takes the place of a secret that a saved document does not contain. Reading its path raises ValueWithheld.

    The views of a node call `read` for that. The object has no content.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "Sensitive(not stored)"

    def read(self, path: Path) -> NoReturn:
        """Never returns. raises: ValueWithheld, with *path* in its message"""
        raise ValueWithheld(
            f"the value of {spell(path)} is Sensitive and was not stored",
            path=path,
            hint="set it again before it is read; the explanation of the path says who set it",
        )


HELD: frozenset[type] = SCALARS | {Symbol, Deferred, Sensitive, Withheld}
"""The exact types of values in a slot that are neither map nor list."""

READY = HELD - {Deferred, Withheld}
"""Those types of HELD whose values can be read as they are: neither computed nor refused."""

TAKEN = HELD - {float, Sensitive}
"""Those types of HELD that are stored without a check: not a float, which may be NaN, and no secret of unknown
content.
"""


def computed(data: Any, path: Path = ()) -> Any:
    """Compute the deferred values in *data*, at all levels, and return the result.

    A map or list is changed in place and returned, so the caller must own it. A deferred value gives its result; any
    other scalar is returned as it is.
    path:   where *data* is in the node, for messages
    raises: ValueWithheld, for a secret that was not stored; DeferredCycle, and any error of a deferred value
    """
    kind = type(data)
    if kind is dict or kind is list:
        if not READY.issuperset(map(type, data.values() if kind is dict else data)):  # no Python code for each leaf
            for step, inner in data.items() if kind is dict else enumerate(data):
                if type(inner) not in READY:
                    data[step] = computed(inner, (*path, step))
        return data
    if kind is Deferred:
        return data.evaluate(path)
    return data.read(path) if kind is Withheld else data


def taken_in(value: Any, room: int = ROOM) -> Any:
    """An independent copy of *value* in the form that slots hold: dicts, lists and scalars of the types in HELD.

    Tuples become lists, dates and times become ISO text, any mapping becomes a dict. Views and writers of a node become
    plain copies, in which deferred values stay deferred.
    room:   the most levels of nesting
    cost:   one visit for each map and list
    raises: BadKey, BadValue (also for NaN and infinity), TooDeep, with the path from *value*
    """
    return copied(value, TAKEN, _plain, room)


def stored(value: Any, path: Path) -> Any:
    """A copy of *value* in the form that slots hold (`taken_in`), for storing it at *path*.

    raises: BadKey, BadValue, TooDeep, with the whole path of the part that cannot be held
    """
    try:
        return taken_in(value, max(ROOM - len(path), 0))
    except (BadKey, BadValue) as error:
        where = (*path, *(error.path or ()))
        raise type(error)(f"{error.message} at {spell(where)}", path=where, hint=error.hint) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Sensitive):
        return value.map(taken_in)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise BadValue(f"a node cannot hold {value}: JSON has no such number", path=(), hint="store text, or None")
    to_plain = getattr(value, "to_plain", None)
    if to_plain is not None:
        return to_plain()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, Sequence)) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return list(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    hint = "store text, numbers, booleans, None, lists and maps"
    if isinstance(value, Set):
        hint = "make a sorted list of it"
    raise BadValue(f"a node cannot hold a {type(value).__name__}", path=(), hint=hint)


def key_of(step: Any, path: Path = ()) -> Any:
    """The key that a slot has for a step: the text of a Symbol; text and integers are returned as they are.

    path:   the path before the step, for messages
    raises: BadKey, for any other type, booleans included
    """
    if type(step) is str or type(step) is int:
        return step
    if type(step) is Symbol:
        return str(step)
    text = f"a key must be text or an integer, not {type(step).__name__}: {step!r}"
    raise BadKey(text, path=(*path, step), hint="write text, or a whole number")


def steps_in(key: Any) -> tuple[Any, ...]:
    """The steps of one subscript as a tuple: `x["a", "b"]` has two; any other key, and (), is one step."""
    return key if type(key) is tuple and key else (key,)


def steps_of(path: Iterable[Any], above: Path = ()) -> Path:
    """A path as a tuple of steps in the form that slots have: Symbols become text. () for no steps.

    above:  the path before it, for messages
    raises: BadKey, for a step that is neither text nor integer
    """
    steps: Path = ()
    for step in path:
        steps = (*steps, key_of(step, (*above, *steps)))
    return steps


def refuse_spelled(path: tuple[Any, ...], is_set: Callable[[Path], bool]) -> None:
    """Raise an error if a path is one text with dots that seems to mean several steps, as in `read("a.b")`.

    That is so if no value is set at the key "a.b", but one is set at the steps "a", "b". Otherwise nothing happens.
    path:   the steps
    is_set: a function from a path to whether a value is set there
    raises: BadArgument, whose hint has the steps
    """
    if len(path) != 1 or type(path[0]) is not str or "." not in path[0] or is_set(path):
        return
    try:
        steps = parse(path[0])
    except BadArgument:
        return
    if is_set(steps):
        hint = f"write its steps: {', '.join(map(repr, steps))}"
        raise BadArgument(f"{path[0]!r} is one key here, and no such key exists", path=steps, hint=hint)


# --- sensitive paths -------------------------------------------------------------


class Secrets:
    """The sensitive paths of a node; `wrapped` wraps the secrets in a value that enters a slot.

    `wrapped` changes maps and lists in place, and returns the value, or for a secret scalar a Sensitive. `may_be_in` is
    False if no secret can be in a tree.

    The constructor takes any iterable of paths, each a text ("db.password") or steps. raises: BadArgument, for one
    text, for a value that is not iterable, and for a path that is not spelled right

    paths: the paths as steps; the step "*" stands for any. Everything below a path is secret, too. (): nothing is
           secret
    """

    __slots__ = ("paths",)

    def __init__(self, paths: Iterable[str | Path]) -> None:
        if isinstance(paths, str) or not isinstance(paths, Iterable):
            raise wrong_argument("what is sensitive", "a list of paths", paths, 'write ["db.password"]')
        self.paths: tuple[Path, ...] = tuple(
            _parsed(path) if isinstance(path, str) else as_path(path) for path in paths
        )

    def may_be_in(self, tree: Mapping[Any, Any]) -> bool:
        """Whether a path begins with a top-level key of *tree*, or with "*". True does not mean that there is a
        secret.
        """
        return any(not path or path[0] == "*" or path[0] in tree for path in self.paths)

    def wrapped(self, path: Path, value: Any) -> Any:
        """Wrap the secrets in *value*, which enters a slot at *path*, as Sensitive, and return the result.

        Maps and lists are changed in place, so the caller must own them. A scalar is returned wrapped, or as it is.
        Secrets that are wrapped or withheld already are not changed. Each scalar below a sensitive path is wrapped by
        itself.
        """
        for secret in self.paths:
            if _fits(secret[: len(path)], path[: len(secret)]):
                value = _wrapped(value, secret[len(path) :])
        return value


NO_SECRETS = Secrets(())

_parsed = lru_cache(maxsize=1024)(parse)
"""All nodes of a repository have the same sensitive paths."""


def _fits(pattern: Path, path: Path) -> bool:
    return pattern == path or (
        "*" in pattern and all(wanted in ("*", step) for wanted, step in zip(pattern, path, strict=True))
    )


def _wrapped(value: Any, rest: Path) -> Any:
    if isinstance(value, (Sensitive, Withheld)):
        return value
    if isinstance(value, (dict, list)):
        inside = value if isinstance(value, dict) else range(len(value))
        for step in inside if not rest or rest[0] == "*" else rest[:1]:
            if step in inside:
                value[step] = _wrapped(value[step], rest[1:])
        return value
    return value if rest else Sensitive(value)

"""The values that a node can hold beyond JSON: symbols, deferred values, secrets; and its keys.

Data is copied where it enters. Nothing here knows slots, paths of a node or
files; a value that cannot be held is refused with the path from its own root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime, time
from threading import local
from types import CodeType
from typing import Any, NoReturn

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import MAX_DEPTH, SCALARS, Path, copied, parse, spell
from nodeattrs.errors import BadArgument, BadKey, BadValue, DeferredCycle, NodeattrsError, ValueWithheld

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
"""Levels that a component may have: in the node's document its own name is one more."""

MARKER: dict[str, str] = {"$sensitive": "withheld"}
"""What a document holds in the place of a Sensitive value."""


class Symbol(str):
    """A Ruby symbol, equal to its text. As a key it becomes the text; as a value it stays a symbol until it is saved.

    >>> Symbol("web"), Symbol("web") == "web"
    (Symbol('web'), True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str(self)!r})"


_running = local()
_SIMPLE = frozenset({str, int, bool, type(None)})


class Deferred:
    """A value that is computed each time it is read; made by `lazy`. Its result is copied, and never cached.

    compute: a function without arguments
    place:   where it was made, for messages; "": found from the function
    raises:  BadValue, where *compute* is no function
    """

    __slots__ = ("_compute", "_place")

    def __init__(self, compute: Callable[[], Any], place: str = "") -> None:
        if not callable(compute):
            raise BadValue("lazy needs a callable", hint="write lazy(lambda: node['a'])")
        self._compute = compute
        self._place = place

    def evaluate(self, path: Path = ()) -> Any:
        """The value computed now, as a plain copy for the reader; deferred values in it are computed, too.

        path:   where it stands, for messages; an error of the function gets a note with that path
        raises: DeferredCycle, where it needs itself; BadKey, BadValue, for a value that no node can hold; any error of
                the function
        """
        chain: list[Deferred] = _running.__dict__.setdefault("chain", [])
        if any(one is self for one in chain):
            details = [f"{one} needs" for one in chain] + [f"{self}, which needs itself"]
            raise DeferredCycle(
                "a deferred value needs itself", details=details, hint="break the circle in one of these"
            )
        chain.append(self)
        try:
            value = self._compute()
            return value if type(value) in _SIMPLE else computed(stored(value, path), path)
        except Exception as error:
            if not isinstance(error, NodeattrsError):
                error.add_note(f"in {self}, read at {spell(path)}")
            raise
        finally:
            chain.pop()

    @property
    def code(self) -> CodeType | None:
        """The code of the function; None for another callable."""
        return getattr(self._compute, "__code__", None)

    def __deepcopy__(self, memo: object) -> Deferred:
        return self

    @property
    def place(self) -> str:
        """The place it was made with; else "file:line" of the function, or its repr where Python knows no line."""
        if self._place:
            return self._place
        code = getattr(self._compute, "__code__", None)
        return f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}" if code else repr(self._compute)

    def __repr__(self) -> str:
        return f"lazy({self.place})"


def lazy(compute: Callable[[], Any]) -> Deferred:
    """A value that is computed at each read: `default["url"] = lazy(lambda: f"http://{node['host']}/")`.

    compute: called without arguments; what it returns is what the reader gets
    source:  Chef's `lazy`, since Chef Infra Client 17; ours is also computed in bulk reads and when saved
    """
    return Deferred(compute)


class Withheld:
    """The place of a secret that a document left out. Reading it raises ValueWithheld."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Sensitive(not stored)"

    def read(self, path: Path) -> NoReturn:
        """raises: ValueWithheld, always"""
        raise ValueWithheld(
            f"the value of {spell(path)} is Sensitive and was not stored",
            path=path,
            hint="set it again before it is read; the explanation of the path says who set it",
        )


HELD: frozenset[type] = SCALARS | {Symbol, Deferred, Sensitive, Withheld}
"""The exact types of scalars that a slot's tree holds."""

READY = HELD - {Deferred, Withheld}
"""The types of scalars whose value is known without computing it, and may be read."""

TAKEN = HELD - {float, Sensitive}
"""The types of scalars that are stored without a check; a float may be NaN, and a secret may hold anything."""


def computed(data: Any, path: Path = ()) -> Any:
    """*data* with its deferred values computed: in place in a map or list, else the result. Other data is returned as
    it is.

    Only for data that the caller owns. path: where it stands, for messages
    raises: ValueWithheld, DeferredCycle, and any error of a deferred value
    """
    kind = type(data)
    if kind is dict or kind is list:
        if not READY.issuperset(map(type, data.values() if kind is dict else data)):  # no call for each leaf
            for step, inner in data.items() if kind is dict else enumerate(data):
                if type(inner) not in READY:
                    data[step] = computed(inner, (*path, step))
        return data
    if kind is Deferred:
        return data.evaluate(path)
    return data.read(path) if kind is Withheld else data


def taken_in(value: Any, room: int = ROOM) -> Any:
    """An independent copy of *value* in the form that a slot's tree holds.

    Tuples become lists, dates and times become ISO text, any mapping becomes a map; views and
    writers of a node are copied, deferred values in them stay deferred.
    room:   the most levels of nesting
    cost:   one visit for each map and list
    raises: BadKey, BadValue (also for NaN and infinity), TooDeep, with the path from *value*
    """
    return copied(value, TAKEN, _plain, room)


def stored(value: Any, path: Path) -> Any:
    """A copy of *value* in the form that a slot's tree holds (`taken_in`); an immutable scalar is returned as it is.

    path:   where it enters
    raises: BadKey, BadValue, TooDeep, with the whole path
    """
    if type(value) in TAKEN:
        return value
    try:
        return taken_in(value, max(ROOM - len(path), 0))
    except (BadKey, BadValue) as error:
        where = (*path, *(error.path or ()))
        raise type(error)(f"{error.message} at {spell(where)}", path=where, hint=error.hint) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Sensitive):
        return value.map(taken_in)
    if isinstance(value, float):
        if value - value == 0.0:  # neither infinite nor NaN
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
    way = (
        "make a sorted list of it" if isinstance(value, Set) else "store text, numbers, booleans, None, lists and maps"
    )
    raise BadValue(f"a node cannot hold a {type(value).__name__}", path=(), hint=way)


def key_of(step: Any, path: Path = ()) -> Any:
    """A step in the form that trees have: a Symbol becomes text, text and integers stay.

    path:   the path before the step, for messages
    raises: BadKey, for any other type
    """
    if type(step) is str or type(step) is int:
        return step
    if type(step) is Symbol:
        return str(step)
    text = f"a key must be text or an integer, not {type(step).__name__}: {step!r}"
    raise BadKey(text, path=(*path, step), hint="write text, or a whole number")


def steps_in(key: Any) -> tuple[Any, ...]:
    """The steps of one subscript as a tuple: `x["a", "b"]` has two, any other key is one step."""
    return key if type(key) is tuple and key else (key,)


def steps_of(path: Iterable[Any], above: Path = ()) -> Path:
    """A path as a tuple of steps in the form that trees have (`key_of`). above: the path before it, for messages

    raises: BadKey
    """
    steps: Path = ()
    for step in path:
        steps = (*steps, key_of(step, (*above, *steps)))
    return steps


def refuse_spelled(path: tuple[Any, ...], there: Callable[[Path], bool]) -> None:
    """Raise BadArgument where a path is one text with dots, is no key, and its dotted spelling leads to a value.

    Here a dot belongs to its key. Does nothing in all other cases.
    path:  the steps
    there: path -> whether a value is set there
    """
    if len(path) != 1 or type(path[0]) is not str or "." not in path[0] or there(path):
        return
    try:
        steps = parse(path[0])
    except BadArgument:
        return
    if there(steps):
        hint = f"write its steps: {', '.join(map(repr, steps))}"
        raise BadArgument(f"{path[0]!r} is one key here, and no such key exists", path=steps, hint=hint)

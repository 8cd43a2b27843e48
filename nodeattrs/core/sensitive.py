"""Secrets: a value that shows itself nowhere. Nodes, lookups and injectors share this one wrapper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, NoReturn

from nodeattrs.core.tree import Path
from nodeattrs.errors import BadValue, NodeattrsError, TooDeep


def _own(value: Any) -> Any:
    if isinstance(value, (str, bytes, int, float)):
        return value
    try:
        return deepcopy(value)
    except RecursionError:
        raise TooDeep("a secret is nested too deep, or inside itself") from None


class Sensitive:
    """A secret: it prints as "Sensitive(withheld)". Two are equal where their values are; a pickle is refused with
    BadValue.

    value:  copied; a Sensitive is not wrapped twice
    raises: TooDeep

    >>> Sensitive("s3cret"), f"{Sensitive('s3cret')}", Sensitive("s3cret").unwrap()
    (Sensitive(withheld), 'Sensitive(withheld)', 's3cret')
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value: Any = value._value if isinstance(value, Sensitive) else _own(value)

    def unwrap(self) -> Any:
        """The secret value: a copy of a map or list; the result of a deferred value, computed now."""
        evaluate = getattr(self._value, "evaluate", None)
        return _own(self._value) if evaluate is None else evaluate()

    def map(self, change: Callable[[Any], Any]) -> Sensitive:
        """A new Sensitive with the result of *change* for the value."""
        return Sensitive(change(self._value))

    def __repr__(self) -> str:
        return "Sensitive(withheld)"

    def __eq__(self, other: object) -> bool:
        return bool(self._value == other._value) if isinstance(other, Sensitive) else NotImplemented

    def __hash__(self) -> int:
        return hash(Sensitive)  # the same for all: a hash of the content would give it away

    def __copy__(self) -> Sensitive:
        return self

    def __deepcopy__(self, memo: object) -> Sensitive:
        return self

    def __reduce__(self) -> NoReturn:
        raise BadValue("a Sensitive value cannot be pickled: it would be stored in clear", hint="unwrap() it yourself")


class Encrypted(Sensitive):
    """A text of a file that was not decrypted: a secret, for which `unwrap()` gives the encrypted text.

    reason: why it is not decrypted
    """

    __slots__ = ("reason",)

    def __init__(self, value: Any, reason: str) -> None:
        super().__init__(value)
        self.reason = reason

    @property
    def not_decrypted(self) -> str:
        """Why it is not decrypted; values of other kinds that are encrypted have this, too."""
        return self.reason

    def __repr__(self) -> str:
        return "Sensitive(encrypted)"


class MarkedSecret(Sensitive):
    """A secret because of its place: the settings call its path sensitive. Merges and lookups read it as its value."""

    __slots__ = ()


def encrypted_in(value: Any, path: Path = ()) -> list[tuple[Path, str]]:
    """What of a value is still encrypted: each path with the reason.

    cost: one visit of the whole value
    """
    found: list[tuple[Path, str]] = []
    left = [(path, value)]
    while left:
        at, one = left.pop()
        reason = getattr(one, "not_decrypted", None)
        if reason is not None:
            found.append((at, reason))
        elif isinstance(one, Sensitive):
            left.append((at, one.unwrap()))
        elif isinstance(one, (Mapping, list)):
            entries = one.items() if isinstance(one, Mapping) else enumerate(one)
            left += reversed([((*at, step), entry) for step, entry in entries])
    return found


def withheld(value: Any, paths: Iterable[Path], at: Path = (), hide: Callable[[Any], Any] = MarkedSecret) -> Any:
    """*value* with the scalars at and below sensitive paths wrapped; null, and a value that is Sensitive already, stay.

    paths:  counted from the root of the tree; the step "*" stands for any
    at:     the path of *value* in that tree
    hide:   makes the replacement of a scalar
    return: the same object where nothing in it is sensitive; else maps and lists with a secret in them are copies
    cost:   one copy of each map and list on the way to a secret

    >>> withheld({"db": {"host": "h", "password": "x"}}, [("db", "password")])
    {'db': {'host': 'h', 'password': Sensitive(withheld)}}
    """
    for path in paths:
        if all(wanted in ("*", step) for wanted, step in zip(path, at, strict=False)):
            value = _hidden(value, path[len(at) :], hide)
    return value


def _hidden(value: Any, rest: Path, hide: Callable[[Any], Any]) -> Any:
    if not isinstance(value, (dict, list)):
        return value if rest or value is None or isinstance(value, Sensitive) else hide(value)
    inside = value if isinstance(value, dict) else range(len(value))
    found = value
    for step in inside if not rest or rest[0] == "*" else rest[:1]:
        entry = value[step] if step in inside else None
        new = _hidden(entry, rest[1:], hide)
        if new is not entry:
            found = value.copy() if found is value else found
            found[step] = new
    return found


def revealed(value: Any) -> Any:
    """*value* with each `MarkedSecret` replaced by its plain value; other secrets stay. The same object without one.

    cost: one visit of the whole value
    """
    if type(value) is MarkedSecret:
        return value.unwrap()
    if type(value) not in (dict, list):
        return value
    found = value
    for step, entry in value.items() if type(value) is dict else enumerate(value):
        new = revealed(entry)
        if new is not entry:
            found = value.copy() if found is value else found
            found[step] = new
    return found


def plain(value: Any) -> Any:
    """A copy of *value* as data: a secret becomes its printed text, an error a map of "error", "code" and "message"."""
    if type(value) is dict:
        return {key: plain(entry) for key, entry in value.items()}
    if type(value) is list:
        return [plain(entry) for entry in value]
    if isinstance(value, NodeattrsError):
        return {"error": str(value.kind) or type(value).__name__, "code": value.code, "message": value.message}
    return str(value) if hasattr(value, "unwrap") else value

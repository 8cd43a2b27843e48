"""Secrets: values that print as "Sensitive(withheld)". Nodes, lookups and injectors share this wrapper.

`withheld` wraps the values at sensitive paths, and `revealed` unwraps them again. `without_password` is for addresses
in messages. Nothing is encrypted here.
"""

from __future__ import annotations

import re
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
    """A secret: it prints as "Sensitive(withheld)"; `unwrap` gives the value.

    `map(change)` returns a new secret with the value change(value). Two secrets are equal if their values are equal.
    All secrets have the same hash. `copy` and `deepcopy` return the object itself. Pickling raises BadValue.
    value:  the secret value, which is copied deeply. If *value* is a Sensitive, the new secret shares its inner value
    raises: TooDeep, for a value that is nested too deeply to be copied

    >>> Sensitive("s3cret"), f"{Sensitive('s3cret')}", Sensitive("s3cret").unwrap()
    (Sensitive(withheld), 'Sensitive(withheld)', 's3cret')
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value: Any = value._value if isinstance(value, Sensitive) else _own(value)

    def unwrap(self) -> Any:
        """The secret value, as a copy. A deferred value (an object with `evaluate`) is computed now, at each call."""
        evaluate = getattr(self._value, "evaluate", None)
        return _own(self._value) if evaluate is None else evaluate()

    def map(self, change: Callable[[Any], Any]) -> Sensitive:
        """A new Sensitive with change(value). The function gets the value itself, not a copy."""
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
    """A secret that was not decrypted. It prints as "Sensitive(encrypted)"; `unwrap()` gives the encrypted text.

    value:  the encrypted text
    reason: why it is not decrypted, in words; `not_decrypted` is the same text
    """

    __slots__ = ("reason",)

    def __init__(self, value: Any, reason: str) -> None:
        super().__init__(value)
        self.reason = reason

    @property
    def not_decrypted(self) -> str:
        """The reason. Any object with this attribute counts as encrypted, whatever its class."""
        return self.reason

    def __repr__(self) -> str:
        return "Sensitive(encrypted)"


class MarkedSecret(Sensitive):
    """A secret because of its place: the settings call its path sensitive. Merges and lookups read its plain value.

    `withheld` makes it, and `revealed` unwraps it; other secrets stay wrapped there.
    """

    __slots__ = ()


def encrypted_in(value: Any, path: Path = ()) -> list[tuple[Path, str]]:
    """(path, reason) of each value in *value* that a reader could not decrypt, in its order; [] for none.

    Readers mark such a value with an attribute `not_decrypted`, the reason; texts are not examined. Maps, lists and
    secrets are searched.
    path: the path of *value*, put in front of each path
    cost: one visit of the whole value
    """
    found: list[tuple[Path, str]] = []
    waiting = [(path, value)]
    while waiting:
        at, inner = waiting.pop()
        reason = getattr(inner, "not_decrypted", None)
        if reason is not None:
            found.append((at, reason))
        elif isinstance(inner, Sensitive):
            waiting.append((at, inner.unwrap()))
        elif isinstance(inner, (Mapping, list)):
            entries = inner.items() if isinstance(inner, Mapping) else enumerate(inner)
            waiting += reversed([((*at, step), entry) for step, entry in entries])
    return found


def withheld(value: Any, paths: Iterable[Path], at: Path = (), hide: Callable[[Any], Any] = MarkedSecret) -> Any:
    """A copy of *value* in which the scalars at and below sensitive paths are wrapped; *value* itself without any.

    Only maps and lists on the way to a secret are copied. Null, and a value that is Sensitive already, stay. A value
    under a YAML tag (an object with `with_inner`) keeps its tag if only a part of it is secret.
    paths: from the root of the tree; the step "*" stands for any step
    at:    the path of *value* in that tree
    hide:  a function from a scalar to its replacement

    >>> withheld({"db": {"host": "h", "password": "x"}}, [("db", "password")])
    {'db': {'host': 'h', 'password': Sensitive(withheld)}}
    """
    for path in paths:
        if all(wanted in ("*", step) for wanted, step in zip(path, at, strict=False)):
            value = _hidden(value, path[len(at) :], hide)
    return value


def _hidden(value: Any, rest: Path, hide: Callable[[Any], Any]) -> Any:
    if rest and hasattr(value, "with_inner"):
        return value.with_inner(lambda inner: _hidden(inner, rest, hide))
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
    """A copy of *value* in which each `MarkedSecret` is replaced by its plain value. Other secrets stay wrapped.

    Only maps and lists that contain a MarkedSecret are copied. Without one, *value* itself is returned.
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
    """A copy of *value* as data: a secret becomes its printed text, an error a map.

    The map of an error has "error" (its kind, else the name of its class), "code" and "message". A value under a YAML
    tag becomes {"$tag": tag, "value": data}.
    Only plain dicts and lists are copied; any other value is returned as it is.
    """
    if type(value) is dict:
        return {key: plain(entry) for key, entry in value.items()}
    if type(value) is list:
        return [plain(entry) for entry in value]
    if hasattr(value, "with_inner"):
        return {"$tag": value.tag, "value": plain(value.value)}
    if isinstance(value, NodeattrsError):
        return {"error": str(value.kind) or type(value).__name__, "code": value.code, "message": value.message}
    return str(value) if hasattr(value, "unwrap") else value


_PASSWORD = re.compile(r"://([^:/@]*):[^/]*@")
_ASKED_WITH = re.compile(r"(?<=[?&])(?:ssl)?password=[^&]*&?")


def without_password(text: str) -> str:
    """*text* without the password in a URL; a text without a URL is unchanged.

    >>> without_password("--store=postgresql://me:p@ss@db/nodes?password=x&a=1")
    '--store=postgresql://me@db/nodes?a=1'
    """
    if "://" not in text:
        return text
    text = _PASSWORD.sub(r"://\1@", text)
    return _ASKED_WITH.sub("", text).rstrip("?&")

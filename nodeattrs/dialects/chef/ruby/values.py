"""Convert values between a node and Ruby: JSON, with marked maps for values that JSON does not have.

{"$sym": "x"}           a symbol
{"$lazy": 3}            a deferred value that Ruby computes
{"$later": ["a", "b"]}  a deferred value that is computed here: the merged value at that path
{"$map": [[k, v], ..]}  a map with a key that is not text, or begins with $
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import MAX_DEPTH, Path
from nodeattrs.errors import BadValue, TooDeep
from nodeattrs.node.values import Deferred, Symbol, Withheld
from nodeattrs.node.view import ListView, MapView

_SHORT = 4
"""The least length of a secret that is searched inside of other texts."""
_CUT = 16
"""The first characters of a longer secret, which are withheld in a message that is cut short."""


class RubyValues:
    """Converts values between one node and one Ruby process: `pack` for Ruby, `unpack` from Ruby.

    It remembers the secrets that it packed. A text from Ruby that contains one becomes a Sensitive; a secret of fewer
    than four characters has to be the whole text. It also remembers the deferred values that it unpacked: one number
    always gives the same object. `unpack` raises BadValue or TooDeep.

    compute: called with the number that Ruby gave a deferred value, when its value is needed; returns the value
    place:   a function that returns the name of the file that runs now, for the errors of a deferred value
    """

    def __init__(self, compute: Callable[[int], Any], place: Callable[[], str]) -> None:
        self._compute = compute
        self._place = place
        self._secrets: set[str] = set()
        self._deferred: dict[int, Deferred] = {}
        self._numbers: dict[int, int] = {}

    def pack(self, value: Any, path: Path = ()) -> Any:
        """A value of the node as data for JSON, with marked maps for symbols, deferred values and odd keys.

        A secret is sent in clear, and remembered.
        path:   of the value in the merged tree
        raises: ValueWithheld, for a secret that a snapshot left out
        """
        if isinstance(value, (MapView, ListView)):
            value = value.to_plain()
        if isinstance(value, dict):
            pairs = [(key, self.pack(one, (*path, key))) for key, one in value.items()]
            if all(type(key) is str and key[:1] != "$" for key, _ in pairs):
                return dict(pairs)
            return {"$map": [[str(key) if isinstance(key, Symbol) else key, one] for key, one in pairs]}
        if isinstance(value, list):
            return [self.pack(one, (*path, index)) for index, one in enumerate(value)]
        if isinstance(value, Symbol):
            return {"$sym": str(value)}
        if isinstance(value, Deferred):
            number = self._numbers.get(id(value))
            return {"$later": list(path)} if number is None else {"$lazy": number}
        if isinstance(value, Withheld):
            value.read(path)
        if isinstance(value, Sensitive):
            value = value.unwrap()
            self._note_secret(value)
            return self.pack(value, path)
        return value

    def _note_secret(self, value: Any) -> None:
        """Remember the texts in a secret value, in maps and lists, too. Keys, numbers and empty texts are ignored."""
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                self._note_secret(one)
        elif isinstance(value, str) and value:
            self._secrets.add(value)

    def without_secrets(self, text: str) -> str:
        """A text for a message, in which known secrets are withheld, also one that Ruby has quoted or cut short.

        Secrets of fewer than four characters stay.
        """
        for secret in sorted(self._secrets, key=len, reverse=True):
            for written in {secret, json.dumps(secret, ensure_ascii=False)[1:-1]} if len(secret) >= _SHORT else ():
                text = _withheld(text, written)
        return text

    def unpack(self, value: Any) -> Any:
        """A value from Ruby, for the node; a text with a known secret becomes a Sensitive.

        raises: BadValue, for an unknown marked map; TooDeep
        """
        try:
            return self._unpacked(value, MAX_DEPTH)
        except RecursionError:
            raise BadValue(f"deeper than {MAX_DEPTH} levels") from None

    def _unpacked(self, value: Any, room: int) -> Any:
        """Unpack a part of a value. room: the number of levels that may follow"""
        if isinstance(value, str):
            is_secret = any(one == value or (len(one) >= _SHORT and one in value) for one in self._secrets)
            return Sensitive(value) if is_secret else value
        if not isinstance(value, (dict, list)):
            return value
        if not room:
            raise TooDeep(f"deeper than {MAX_DEPTH} levels")
        if isinstance(value, list):
            return [self._unpacked(one, room - 1) for one in value]
        if len(value) == 1 and (first := next(iter(value)))[:1] == "$":
            return self._special(first, value[first], room)
        return {key: self._unpacked(one, room - 1) for key, one in value.items()}

    def _special(self, name: str, given: Any, room: int) -> Any:
        """The value of a marked map."""
        if name == "$sym" and isinstance(given, str):
            return Symbol(given)
        if name == "$lazy":
            return self._deferred_of(given)
        is_pairs = isinstance(given, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in given)
        if name == "$map" and is_pairs:
            return {_key(key): self._unpacked(one, room - 1) for key, one in given}
        raise BadValue(f"Ruby sent a value of an unknown kind: {name}")

    def _deferred_of(self, number: Any) -> Deferred:
        """The deferred value with a number; the same object each time."""
        if type(number) is not int:
            raise BadValue("Ruby sent a deferred value that it has not made")
        if number not in self._deferred:
            deferred = Deferred(lambda: self._compute(number), f"{self._place()} (Ruby)")
            self._deferred[number] = deferred
            self._numbers[id(deferred)] = number
        return self._deferred[number]


def _withheld(text: str, secret: str) -> str:
    """The text with a mark in place of each beginning of a secret that is long enough."""
    start, mark = secret[:_CUT], str(Sensitive(""))
    at = text.find(start)
    while at >= 0:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(text[at:], secret, strict=False))
        text = text[:at] + mark + text[at + sum(1 for _ in same) :]
        at = text.find(start, at + len(mark))
    return text


def _key(key: Any) -> Any:
    if isinstance(key, (list, dict)):
        raise BadValue("a key is text or a whole number, and not a list or a map")
    return key

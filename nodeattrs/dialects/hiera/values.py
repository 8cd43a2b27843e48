"""Write values into texts as Puppet does, and find the texts in a value.

Puppet writes a list or map inside of a text in Ruby's notation, and so does this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import Match
from typing import Any

from nodeattrs.core.sensitive import Encrypted, MarkedSecret, Sensitive
from nodeattrs.core.tree import SCALARS, Path

_REDACTED = "Sensitive [value redacted]"
LEAVES = SCALARS | {Encrypted, MarkedSecret, Sensitive}
"""The types of the leaves of data, which copies share."""


def texts_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield (path, text) for each text in a value, at any depth; keys of maps, and secrets, are left out."""
    if type(value) is str:
        yield path, value
    elif type(value) in (dict, list):
        for step, one in value.items() if type(value) is dict else enumerate(value):
            yield from texts_in(one, (*path, step))


def redacted_in(value: Any) -> Iterator[Path]:
    """Yield the path of each text with a redacted Sensitive in it."""
    return (path for path, text in texts_in(value) if _REDACTED in text)


def written(value: Any) -> str:
    """A value as part of a text: null is empty, lists and maps are in Ruby's notation.

    >>> written(["a", 1, None]), written({"k": 2.0}), written(True), written(None)
    ('["a", 1, nil]', '{"k"=>2.0}', 'true', '')
    """
    if type(value) is str:
        return value
    return "" if value is None else ruby_notation(value)


def ruby_notation(value: Any) -> str:
    """A value as Ruby's `inspect` writes it: nil, {"k"=>1}. A Sensitive is redacted, other objects by `str`."""
    if value is None:
        return "nil"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return _float(value)
    if type(value) is str:
        return _quoted(value)
    if type(value) is list:
        return "[" + ", ".join([ruby_notation(entry) for entry in value]) + "]"
    if type(value) is dict:
        return "{" + ", ".join([f"{ruby_notation(key)}=>{ruby_notation(entry)}" for key, entry in value.items()]) + "}"
    if hasattr(value, "unwrap") and not isinstance(value, Encrypted):
        return _REDACTED
    return str(value)


def _float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[text]
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text


_SPECIAL = re.compile(r'["\\]|#(?=[{$@])|[\x00-\x1f\x7f]')
_ESCAPES = {
    "\n": "n",
    "\t": "t",
    "\r": "r",
    "\x07": "a",
    "\x08": "b",
    "\x0b": "v",
    "\x0c": "f",
    "\x1b": "e",
    "\x7f": "x7F",
}


def _quoted(text: str) -> str:
    return '"' + _SPECIAL.sub(_escaped, text) + '"'


def _escaped(found: Match[str]) -> str:
    mark = found[0]
    return "\\" + (_ESCAPES.get(mark) or (mark if mark in '"\\#' else f"u{ord(mark):04X}"))

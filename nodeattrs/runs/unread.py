"""Ruby that nobody runs: its warning, and the levels of a node at which it might set something.

Looks for words in a text and parses nothing, so that no library is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import RUBY
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.slot_names import ATTRIBUTE_FILE

NOT_RUN = "is Ruby, which was not run"

_LEVELS = ("default", "force_default", "normal", "override", "force_override", "automatic")
_COOKBOOKS = _LEVELS[:-1]
_WORDS = "|".join((*_LEVELS, "set"))
_SETS = re.compile(rf"\b(?:rm_)?({_WORDS}|rm)(?:_unless)?\b")
_NODE_SETS = re.compile(rf"\bnode\s*\.\s*(?:rm_)?({_WORDS}|rm)(?:_unless|_attrs)?\b")
_INCLUDED = re.compile(r"""\binclude_recipe\s*\(?\s*(['"])([\w:.-]+)\1""")


def not_run(file: str, hint: str | None = None) -> DocumentError:
    """The warning for a file in Ruby."""
    return DocumentError(NOT_RUN, file=file, hint=hint, kind=RUBY)


def note_unread(node: Attributes, origin: Origin, reason: str, text: str | None = None) -> None:
    """Note that somebody whose text is not run may set something, at the levels that it names; at all, without one."""
    words = _SETS if origin.kind == ATTRIBUTE_FILE else _NODE_SETS
    named = {"rm"} if text is None else {found[1] for found in words.finditer(text)}
    named |= {"normal"} if "set" in named else set()  # its older name
    locator = origin if text is None else _Unread(origin, text)
    for level in _LEVELS:
        if level in named or ("rm" in named and level in _COOKBOOKS):
            node.unknown(level, origin.name, locator, reason)


class _Unread(NamedTuple):
    """Knows the line of a text that would set a path, where one is written out."""

    origin: Origin
    text: str

    def at(self, path: Path) -> Origin:
        return self.origin._replace(line=next(writes_in(self.text, path), None))


def writes_in(text: str, path: Path) -> Iterator[int]:
    """The lines of a text that set something at a path, or above or below it, as far as the keys are written out."""
    keys = [rf"\[\s*[:'\"]{re.escape(str(step))}['\"]?\s*\]" for step in path]
    above = ["".join(keys[:depth]) for depth in range(len(keys) - 1, 0, -1)]
    places = "|".join(["".join(keys) + r"(?:\[[^\]\n]*\])*", *above])
    for found in re.finditer(rf"(?<!\])(?:{places})\s*(?:=(?![=~>])|<<|\+=)", text) if keys else ():
        yield text.count("\n", 0, found.start()) + 1


def included(text: str) -> Iterator[str]:
    """The recipes that a recipe's text includes by name."""
    for found in _INCLUDED.finditer(text):
        yield found[2]

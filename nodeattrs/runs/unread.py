"""Ruby that nobody runs: its warning, and the levels of a node at which it might set something.

Looks for words in a text and parses nothing, so that no library is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodeattrs.core.claim import Origin
from nodeattrs.errors import DocumentError
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
    return DocumentError(NOT_RUN, file=file, hint=hint, kind="ruby")


def note_unread(node: Attributes, origin: Origin, reason: str, text: str | None = None) -> None:
    """Note that somebody whose text is not run may set something, at the levels that it names; at all, without one."""
    words = _SETS if origin.kind == ATTRIBUTE_FILE else _NODE_SETS
    named = {"rm"} if text is None else {found[1] for found in words.finditer(text)}
    named |= {"normal"} if "set" in named else set()  # its older name
    for level in _LEVELS:
        if level in named or ("rm" in named and level in _COOKBOOKS):
            node.unknown(level, origin.name, origin, reason)


def included(text: str) -> Iterator[str]:
    """The recipes that a recipe's text includes by name."""
    for found in _INCLUDED.finditer(text):
        yield found[2]

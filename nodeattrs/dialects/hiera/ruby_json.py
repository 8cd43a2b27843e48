"""JSON as Ruby's parser takes it: with comments, and with numbers beyond a double, which are infinite.

What it says of a text stands at the same offset of that text.
"""

from __future__ import annotations

import re

from nodeattrs.core.budget import Budget
from nodeattrs.formats import json_text
from nodeattrs.formats.documents import Document
from nodeattrs.formats.places import Text

_NEXT = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*\n|/\*', re.DOTALL)
_INK = re.compile(r"[^\n]")


def read(text: Text) -> Document:
    """The document that a text says. raises: DocumentError"""
    source = Text(text.file, without_comments(text.text)) if "/" in text.text else text
    return Document(source, json_text.read(source, Budget(text.file), number=float))


def without_comments(text: str) -> str:
    """A text with blanks where its comments are. cost: one scan

    >>> without_comments('{"a": "/*x*/" /* y */} // no line break, no comment')
    '{"a": "/*x*/"        } // no line break, no comment'
    """
    out: list[str] = []
    at = 0
    while found := _NEXT.search(text, at):
        end = found.end()
        if found[0] == "/*":
            end = text.find("*/", end) + 2
            if end < 2:
                break
        whole = text[found.start() : end]
        out += (text[at : found.start()], whole if whole.startswith('"') else _INK.sub(" ", whole))
        at = end
    return "".join(out) + text[at:]

"""Read JSON as Ruby's parser does: comments are allowed, and numbers that are too large become infinite.

Lines and columns are those of the original text.
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
    """The document of a JSON text. raises: DocumentError, TooMuch"""
    source = Text(text.file, without_comments(text.text)) if "/" in text.text else text
    return Document(source, json_text.read(source, Budget(text.file), number=float))


def without_comments(text: str) -> str:
    """A JSON text with its comments replaced by blanks, so that offsets and lines stay. cost: one scan

    A comment that does not end stays, and is an error of the parser.

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

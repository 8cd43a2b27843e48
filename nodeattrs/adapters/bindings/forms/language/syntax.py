"""What to say about a text that cannot be read: the place, the line with a caret, and a guess."""

from __future__ import annotations

import re
from typing import Any

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import near

_KEYWORDS = (
    "abstract", "alias", "and", "bind", "bindings", "categories", "class", "dependency", "dynamic_environments",
    "environment", "exclude", "final", "include", "layer", "map", "multibind", "optional", "override", "parameters",
    "producer", "rebind", "renamed", "site", "to", "variables", "when",
)  # fmt: skip
_SIGNS = {
    "LBRACE": "{", "RBRACE": "}", "LSQB": "[", "RSQB": "]", "LPAR": "(", "RPAR": ")", "COMMA": ",", "COLON": ":",
    "__ANON": "", "$END": "the end", "SINGLE": "a quoted text", "DOUBLE": "a quoted text", "NAME": "a name",
    "CLASSREF": "a type", "NUMBER": "a number", "ARROW": "-> or ~>", "VARIABLE": "a variable",
}  # fmt: skip
_MOST = 8


def syntax_error(error: Any, text: str, file: str | None) -> BindingError:
    """The error for what lark could not read."""
    token = getattr(error, "token", None)
    line, column = error.line, error.column
    at_end = token is not None and token.type == "$END"
    if at_end or not isinstance(line, int) or line < 1:
        line, column = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    expected = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
    what = "the text ends too early" if at_end else f"{_found(token, text, line, column)} is not expected here"
    where = ":".join(str(part) for part in (file, line, column) if part is not None)
    return BindingError(
        "syntax", f"{where}: {what}", origins=(Origin("bindings", "", file, line, column),),
        said=caret(text, line, column), hint=_hint(token, expected, text, line, column),
    )  # fmt: skip


def caret(text: str, line: int | None, column: int | None) -> tuple[str, ...]:
    """The line, and below it a caret: two lines for the middle of a message.

    >>> caret("bind x", 1, 6)
    ('bind x', '     ^')
    """
    lines = text.split("\n")
    if line is None or column is None or not 1 <= line <= len(lines):
        return ()
    shown, start = lines[line - 1].replace("\t", " ").rstrip("\r"), 0
    if len(shown) > 100:
        start = max(0, column - 60)
        shown = shown[start : start + 100]
    return shown, " " * (column - 1 - start) + "^"


def _found(token: Any, text: str, line: int, column: int) -> str:
    found = str(token) if token is not None else _word_at(text, line, column)
    return repr(found if len(found) <= 30 else f"{found[:30]}…")


def _word_at(text: str, line: int, column: int) -> str:
    rest = text.split("\n")[line - 1][column - 1 :]
    word = re.match(r"\w+", rest)
    return word[0] if word else rest[:1]


def _hint(token: Any, expected: set[str], text: str, line: int, column: int) -> str | None:
    found = str(token) if token is not None else _word_at(text, line, column)
    is_word = bool(re.match(r"[A-Za-z_]", found))
    wanted = {name.strip("_").lower() for name in expected}
    close = [word for word in near(found, _KEYWORDS) if word in wanted] or [
        word for word in near(found, _KEYWORDS) if word != found
    ]
    if is_word and close:
        return f"did you mean {', '.join(close)}?"
    if is_word and {"SINGLE", "DOUBLE"} & expected:
        return f"a text is quoted: '{found}'"
    if found[:1] in ("'", '"'):
        return "is a quote still open?"
    words = sorted(dict.fromkeys(_word(name) for name in expected if _word(name)))
    if not words:
        return None
    more = ", ..." if len(words) > _MOST else ""
    return f"expected here: {', '.join(words[:_MOST])}{more}"


def _word(name: str) -> str:
    for known, sign in _SIGNS.items():
        if name == known or (known == "__ANON" and name.startswith(known)):
            return sign
    plain = name.strip("_").lower()
    return plain if plain in (*_KEYWORDS, "to", "in", "as", "or", "if", "unless") else ""

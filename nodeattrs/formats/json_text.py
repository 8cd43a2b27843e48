"""The parser of JSON, with the place of each key.

The module `json` parses. If offsets are needed, the scanner below finds them in a text that `json` accepted. This
parser is stricter than `json`: no NaN or Infinity, no number beyond a double, no half of a surrogate pair, 500 levels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from nodeattrs.core.budget import MAX_DIGITS, Budget
from nodeattrs.core.tree import MAX_DEPTH, Path
from nodeattrs.errors import DocumentError
from nodeattrs.formats.numbers import NoNumber, finite, levels_of
from nodeattrs.formats.places import HALF_PAIR, Mark, ParsedText, Text

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(rf'({_STRING})(?=\s*:)|([\[{{])|([\]}}])|({_STRING}|[^\s"\[\]{{}}:,]+)', re.DOTALL)
_KEY, _OPEN, _CLOSE = 1, 2, 3  # the groups of a token; the fourth is a scalar

_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1}}}")
_SPARE_COMMA = re.compile(r"\s*,\s*[\]}]")

# The library's words, and ours. "Illegal trailing comma" is what Python 3.13 calls two of the others.
_REASONS = {
    "Expecting ',' delimiter": "expected a comma or a closing bracket",
    "Expecting ':' delimiter": "expected a colon after the key",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Expecting value": "expected a value",
    "Extra data": "expected nothing more after the end of the value",
    "Unterminated string starting at": "a string is opened here and never closed",
    "Invalid control character at": "a line break or control character inside a string",
    "Invalid \\escape": "an unknown escape in a string",
    "Invalid \\uXXXX escape": "a \\u escape without four hexadecimal digits",
}
_HINTS = {
    "Expecting ',' delimiter": "is a comma missing after the entry before it?",
    "Invalid control character at": "write \\n for a line break; is the closing quote missing?",
    "Invalid \\escape": "write \\\\ for a backslash",
}


def read(text: Text, budget: Budget, number: Callable[[str], float] = finite) -> ParsedText:
    """Parse a JSON text. If a key is written twice in one map, the last one counts, with a warning.

    number: called with the spelling of a float, it returns its value; it may raise NoNumber
    raises: DocumentError, also for an empty text; TooMuch
    """
    tree, has_repeats = _parsed(text, number)
    levels = levels_of(tree, budget.integer)
    if levels > MAX_DEPTH:
        raise _too_deep(text)
    budget.depth(levels)
    _refuse_half_pairs(text)
    repeats = _marked(text.text)[1] if has_repeats else ()
    warnings = tuple(text.repeated(path, first, again) for path, first, again in repeats)
    start = len(text.text) - len(text.text.lstrip())
    return ParsedText(tree, lambda: _marked(text.text)[0], warnings, levels, start)


def _parsed(text: Text, number: Callable[[str], float]) -> tuple[Any, bool]:
    """The value of *text*, and whether a map in it has a key twice. raises: DocumentError"""
    has_repeats = False

    def map_of(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_repeats
        found = dict(entries)
        has_repeats = has_repeats or len(found) < len(entries)
        return found

    decoder = json.JSONDecoder(object_pairs_hook=map_of, parse_constant=_refused, parse_float=number)
    try:
        return decoder.decode(text.text), has_repeats
    except json.JSONDecodeError as error:
        raise _explained(text, error) from error
    except RecursionError:
        raise _too_deep(text) from None
    except NoNumber as error:
        offset = next(match.start() for match in _TOKEN.finditer(text.text) if match[0].startswith(error.word))
        raise text.error(error.message, offset, hint="write null, or put it in quotes") from None
    except ValueError as error:
        found = _LONG_NUMBER.search(text.text)
        raise text.error(
            f"a number of more than {MAX_DIGITS} digits", found.start() if found else None, hint="put it in quotes"
        ) from error


def _refused(word: str) -> Any:
    raise NoNumber(word)


def _explained(text: Text, error: json.JSONDecodeError) -> DocumentError:
    message = error.msg.removesuffix(":")
    before, rest = text.text[: error.pos].rstrip(), text.text[error.pos :]
    for offset in (error.pos, len(before) - 1):
        if offset >= 0 and _SPARE_COMMA.match(text.text, offset) and message not in ("Extra data", "Invalid \\escape"):
            offset = text.text.index(",", offset)
            return text.error("a comma with nothing after it", offset, hint="remove it")
    if not before and not rest.strip():
        return text.error("there is nothing in this document", error.pos, hint="write {} for an empty map")
    if not rest.strip():
        return text.error("the text ends here, in the middle of a value", error.pos, hint="a bracket is still open")
    if not error.pos and rest.startswith("\ufeff"):
        message = "Unexpected UTF-8 BOM (decode using utf-8-sig)"  # as json.loads says it
    hint = _HINTS.get(message)
    if rest.startswith(("//", "/*", "#")):
        hint = "JSON has no comments; YAML has"
    elif rest.startswith("'"):
        hint = "JSON takes double quotes only"
    return text.error(_REASONS.get(message, message), error.pos, hint=hint)


def _too_deep(text: Text) -> DocumentError:
    depth = 0
    for match in _TOKEN.finditer(text.text):
        depth += (match.lastindex == _OPEN) - (match.lastindex == _CLOSE)
        if depth > MAX_DEPTH:
            return text.error(f"nested deeper than {MAX_DEPTH} levels", match.start())
    return text.error("nested deeper than the caller's stack has room for")


def _refuse_half_pairs(text: Text) -> None:
    if "\\" not in text.text or "\\u" not in text.text:  # one character is found fast, two are not
        return
    for match in _TOKEN.finditer(text.text):
        if "\\u" in match[0] and HALF_PAIR.search(json.loads(match[0])):
            raise text.error("a \\u escape that is half of a surrogate pair", match.start(), hint="write both halves")


def _marked(text: str) -> tuple[Mark, list[tuple[Path, int, int]]]:
    """(mark of the value, [(path of a key that is written twice, first offset, second offset)]) of a valid text.

    cost: one look a token
    """
    repeats: list[tuple[Path, int, int]] = []
    outer: list[tuple[Mark, Any]] = []
    mark = top = Mark(0)
    key: str | None = None  # the key that waits for its value; in a list there is none
    key_offset = 0
    for match in _TOKEN.finditer(text):
        kind, offset = match.lastindex, match.start()
        if kind == _CLOSE:
            mark, _ = outer.pop()
            key = None
        elif kind == _KEY:
            key, key_offset = _content(match[0]), offset
            if key in mark.parts:
                path = (*(step for _, step in outer[1:]), key)
                repeats.append((path, mark.parts[key].offset, offset))
        else:
            step = len(mark.parts) if key is None else key
            if key is not None and (kind == _OPEN or "\n" not in text[key_offset:offset]):
                offset = key_offset
            part = mark.parts[step] = Mark(offset)
            if kind == _OPEN:
                outer.append((mark, step))
                mark, key = part, None
    return top.parts[0], repeats


def _content(word: str) -> str:
    return str(json.loads(word)) if "\\" in word else word[1:-1]

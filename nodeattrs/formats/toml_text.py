"""The parser of TOML, with the place of each key.

`tomllib` parses. Places are found by a scan for tables and keys, only when they are needed. Dates and times become text
in ISO form; NaN and infinity are refused.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from typing import Any

from nodeattrs.core.budget import MAX_DIGITS, Budget, too_long
from nodeattrs.core.tree import MAX_DEPTH, copied
from nodeattrs.errors import DocumentError, TooDeep
from nodeattrs.formats.numbers import NoNumber, finite, levels_of
from nodeattrs.formats.places import Mark, ParsedText, Text

_QUOTED = r""""(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?"""
"""A text in quotes; one that stays open ends with the line, so that no part of it is searched again."""
_KEY = rf"""(?:{_QUOTED}|[^"'#=\[\]\n])++"""
_STATEMENT = re.compile(rf"[ \t]*+(?:(\[\[?)({_KEY})\]\]?|({_KEY})=)")
_TEXT = rf'"""(?:[^\\]|\\.)*?(?:"{{3,5}}|\\?\Z)|\'{{3}}.*?(?:\'{{3,5}}|\Z)|{_QUOTED}|#[^\n]*'
_TOKEN = re.compile(rf"{_TEXT}|[\n\[\]{{}}]", re.DOTALL)
_WORD = re.compile(rf"{_TEXT}|[\[\]{{}},=]|[^\s\[\]{{}},=#\"']+", re.DOTALL)
_FEW_STEPS = 30
"""Keys of so few steps are read as fast as anything else."""
_SQUARES_A_STEP = 10
_WIDE_NUMBER = re.compile(r"[0-9a-fA-F_]{16}")
_LONG_NUMBER = re.compile(r"0[xob][0-9a-fA-F_]{3500}")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read(text: Text, budget: Budget) -> ParsedText:
    """Parse a TOML text; an empty text is {}. raises: DocumentError, also for a key written twice; TooMuch"""
    _look_at_keys(text, budget)
    try:
        tree = copied(tomllib.loads(text.text, parse_float=finite), convert=_plain)
    except tomllib.TOMLDecodeError as error:
        raise _explained(text, error) from error
    except NoNumber as error:
        found = re.search(rf"[=,\[\s]({re.escape(error.word)})(?!\w)", text.text)
        raise text.error(error.message, found.start(1) if found else None, hint="put it in quotes") from None
    except (TooDeep, RecursionError):
        raise text.error(f"nested deeper than {MAX_DEPTH} levels, or than the caller's stack has room for") from None
    except ValueError as error:
        raise text.error(f"a number of more than {MAX_DIGITS} digits", hint="put it in quotes") from error
    _look_at_numbers(text, tree, budget)
    return ParsedText(tree, lambda: _marked(text.text))


def _look_at_keys(text: Text, budget: Budget) -> None:
    """Draw steps for dotted keys: `tomllib` takes the square of the number of their steps. raises: TooMuch"""
    if text.text.count(".") <= _FEW_STEPS or max(map(_dots, text.text.splitlines())) <= _FEW_STEPS:
        return
    bare = _TOKEN.sub(lambda found: "s" if found[0][0] in "\"'" else found[0][0].replace("#", ""), text.text)
    for key in re.split(r"[=,\[\]{}\n]", bare):
        budget.depth(_dots(key))
        budget.steps(_dots(key) ** 2 // _SQUARES_A_STEP)


def _dots(line: str) -> int:
    return line.count(".")


def _look_at_numbers(text: Text, tree: Any, budget: Budget) -> None:
    """Refuse integers with too many decimals, draw for wide ones. raises: DocumentError; TooMuch"""

    def look(number: int) -> None:
        if too_long(number):
            found = _LONG_NUMBER.search(text.text)
            offset = found.start() if found else None
            raise text.error(f"a number of more than {MAX_DIGITS} digits", offset, hint="put it in quotes")
        budget.integer(number)

    if _WIDE_NUMBER.search(text.text):
        levels_of(tree, look)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else value


def _explained(text: Text, error: tomllib.TOMLDecodeError) -> DocumentError:
    reason = str(error)
    found = _PLACE.search(reason)
    reason = _PLACE.sub("", reason)
    line, column = (int(found[1]), int(found[2])) if found and found[1] else text.place(len(text.text))
    hint = None
    if reason == "Invalid value":
        lines = text.text.splitlines()
        is_empty = not found or not found[1] or not lines[line - 1][column - 1 :].partition("#")[0].strip()
        hint = "write a value behind the =" if is_empty else "quote the text"
    return DocumentError(reason[:1].lower() + reason[1:], file=text.file, line=line, column=column, hint=hint)


def _marked(text: str) -> Mark:
    """The mark of the root of a text that parses.

    cost: one look at each word
    """
    root = table = Mark(0)
    offset = 0
    while offset < len(text):
        found = _STATEMENT.match(text, offset)
        if found:
            bracket, header, key = found.groups()
            name = header or key
            begin = found.start(2 if bracket else 3) + len(name) - len(name.lstrip())
            *outer, last = _steps(name)
            holder = root if bracket else table
            for step in outer:
                holder = _inside(holder, step, begin)
            if bracket == "[[":
                array = holder.parts.setdefault(last, Mark(begin))
                table = array.parts[len(array.parts)] = Mark(begin)
            elif bracket:
                table = _inside(holder, last, begin)
            else:
                holder.parts[last] = Mark(begin, _inner(text, found.end()))
            offset = found.end()
        offset = _statement_end(text, offset)
    return root


def _inner(text: str, offset: int) -> dict[Any, Mark]:
    """The marks of the entries of the inline table or array that begins at *offset*; {} for another value.

    cost: one look at each word of it
    """
    top = mark = Mark(offset)
    above: list[tuple[Mark, str]] = []
    begin, is_next, is_key = offset, False, False
    for found in _WORD.finditer(text, offset):
        word = found[0]
        if word[0] == "#":
            continue
        if word in ("]", "}"):
            above.pop()
            is_next = False
        elif word == ",":
            is_next = True
        elif is_next and above[-1][1] == "{":
            begin, is_next, is_key = found.start(), False, True
        elif is_key:
            if word == "=":
                mark, is_key = above[-1][0], False
                for step in _steps(text[begin : found.start()]):
                    mark = _inside(mark, step, begin)
        else:
            if is_next:
                holder, is_next = above[-1][0], False
                mark = holder.parts[len(holder.parts)] = Mark(found.start())
            if word in ("[", "{"):
                above.append((mark, word))
                is_next = True
        if not above:
            break
    return top.parts


def _inside(holder: Mark, step: str, begin: int) -> Mark:
    """The mark of the table *step* of a holder, made if needed; of an array of tables, its last table."""
    mark = holder.parts.setdefault(step, Mark(begin))
    return mark.parts[len(mark.parts) - 1] if 0 in mark.parts else mark


def _steps(key: str) -> list[str]:
    if '"' not in key and "'" not in key:
        return [step.strip() for step in key.split(".")]
    tree: Any = tomllib.loads(f"{key} = ''")  # a number would be looked for with expressions of its own
    steps = []
    while isinstance(tree, dict):
        ((step, tree),) = tree.items()
        steps.append(step)
    return steps


def _statement_end(text: str, offset: int) -> int:
    depth = 0
    for match in _TOKEN.finditer(text, offset):
        token = match[0]
        if token == "\n" and not depth:
            return match.end()
        depth += (token in "[{") - (token in "]}")
    return len(text)

"""Texts without one entry: what a person with an editor takes out of a file, a line or a pair of brackets at a time.

It knows brackets, quotes, commas and indentation of JSON, YAML, TOML, Python and the language of
bindings, and nothing of nodeattrs. Line numbers stay: what is taken away leaves blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["withouts"]

OPENING, CLOSING = "{[(", "}])"
YAML = (".yaml", ".yml", ".cfg", ".mime")
LISTING = ("push", "concat", "dict", "update")
"""Calls that take any number of arguments: one of them is an entry like that of a list."""

_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[^\s#\[\]{}"',-][^#\n]*?|-[^\s:#][^#\n]*?)\s*:(?=\s|$)""")
_HEADER = re.compile(r"^\s*\[\[?[^\]]+\]\]?\s*$")
_CALLED = re.compile(r"([\w.]*)\s*$")


def withouts(text: str, suffix: str, at: int) -> Iterator[str]:
    """The text without the entry at offset *at*, without the one that holds it, and so on outwards.

    >>> list(withouts("a: 1\\nb:\\n  c: 2\\n", ".yaml", 13))
    ['a: 1\\nb: {}\\n\\n', 'a: 1\\n\\n\\n', '{}\\n\\n\\n']
    """
    before = None
    for found in _withouts(text, suffix, at):
        if found != before:
            yield found
        before = found


def _withouts(text: str, suffix: str, at: int) -> Iterator[str]:
    first, last = _region(text, at)
    for opener in reversed(_open_brackets(text, first, at, suffix)):
        if suffix == ".pp" and not re.search(r"(\bto|=>|[\[,])\s*$", text[:opener]):
            break  # a block of statements
        if _is_list_of_entries(text, opener, suffix):
            yield _without_entry(text, opener, at, suffix)
        at = opener
    if suffix in (".py", ".rb"):
        yield _without_statement(text, at, "pass" if suffix == ".py" else "nil")
    elif suffix == ".toml":
        yield from _without_toml(text, at)
    elif suffix == ".pp":
        yield _without_statement(text, at, "")
        yield from _without_blocks(text, at)
    elif not _is_bracketed(text, first):
        lines = text[first:last].split("\n")
        row = text.count("\n", first, at)
        yield from (text[:first] + found + text[last:] for found in _without_block(lines, row))


# --- where the text that belongs together begins and ends


def _region(text: str, at: int) -> tuple[int, int]:
    """The whole text; in a mail message the paragraph."""
    if not text.lstrip()[:20].lower().startswith("mime-version"):
        return 0, len(text)
    start, end = text.rfind("\n\n", 0, at), text.find("\n\n", at)
    start, end = (0 if start < 0 else start + 2), (len(text) if end < 0 else end)
    boundary = text.find("\n--", at, end)
    return start, boundary if boundary >= 0 else end


def _is_bracketed(text: str, first: int) -> bool:
    """Whether a text of lines is brackets from its first sign on, comments aside."""
    return re.sub(r"^(\s|#.*$)+", "", text[first : first + 500], flags=re.MULTILINE)[:1] in ("{", "[")


# --- brackets


def _open_brackets(text: str, first: int, at: int, suffix: str) -> list[int]:
    """The offsets of the brackets that are open at *at*, the outermost first."""
    if suffix in YAML and not _is_bracketed(text, first):
        first = max(first, text.rfind("\n", 0, at) + 1)
    stack = []
    for offset, sign in _signs(text, first, at, suffix):
        if sign in OPENING:
            stack.append(offset)
        elif sign in CLOSING and stack:
            stack.pop()
    return stack


def _signs(text: str, first: int, last: int, suffix: str) -> Iterator[tuple[int, str]]:
    """The brackets and commas outside of quotes and comments."""
    offset, quote = first, ""
    while offset < last:
        sign = text[offset]
        if quote:
            if sign == "\\" and quote != "'":
                offset += 1
            elif text.startswith(quote, offset):
                offset += len(quote) - 1
                quote = ""
        elif sign == '"' or (sign == "'" and suffix != ".json"):
            quote = sign * 3 if text.startswith(sign * 3, offset) and suffix in (".py", ".toml") else sign
            offset += len(quote) - 1
        elif sign == "#" and (offset == 0 or text[offset - 1] in " \n\t"):
            offset = text.find("\n", offset)
            if offset < 0:
                return
        elif sign in OPENING or sign in CLOSING or sign == ",":
            yield offset, sign
        offset += 1


def _is_list_of_entries(text: str, opener: int, suffix: str) -> bool:
    """Whether what stands between these brackets are entries that go one by one."""
    if text[opener] == "(":
        called = _CALLED.search(text, 0, opener)
        return bool(called) and called[1].rpartition(".")[2] in LISTING
    return not (suffix in (".py", ".rb") and text[opener] == "[" and re.search(r"[\w\])]$", text[:opener]))


def _without_entry(text: str, opener: int, at: int, suffix: str) -> str:
    """The text without the entry between brackets that holds the offset; one of its commas goes along."""
    commas, end = [], len(text)
    depth = 0
    for offset, sign in _signs(text, opener + 1, len(text), suffix):
        if sign in OPENING:
            depth += 1
        elif sign in CLOSING:
            depth -= 1
            if depth < 0:
                end = offset
                break
        elif depth == 0:
            commas.append(offset)
    after = next((comma for comma in commas if comma >= at), None)
    before = next((comma for comma in reversed(commas) if comma < at), None)
    start = opener + 1 if before is None else before + 1
    if after is not None:
        cut = (start, after + 1)
    elif before is not None and text[before + 1 : end].strip():
        cut = (before, end)
    else:
        cut = (start, end)
    return text[: cut[0]] + re.sub(r"[^\n]", "", text[cut[0] : cut[1]]) + text[cut[1] :]


# --- lines


def _without_statement(text: str, at: int, instead: str) -> str:
    """The text without the statement, over as many lines as its brackets go."""
    first = text.rfind("\n", 0, at) + 1
    while instead and _open_brackets(text, 0, first, ".py"):
        first = text.rfind("\n", 0, first - 1) + 1
    last, depth = len(text), 0
    for offset in range(first, len(text)):
        if text[offset] == "\n" and depth == 0 and text[offset - 1] != "\\":
            last = offset
            break
        depth += (text[offset] in OPENING) - (text[offset] in CLOSING)
    said = text[first:last]
    indent = said[: len(said) - len(said.lstrip())]
    return text[:first] + indent + instead + "\n" * said.count("\n") + text[last:]


def _without_toml(text: str, at: int) -> Iterator[str]:
    lines, row = text.split("\n"), text.count("\n", 0, at)
    yield _blanked(lines, row, row)
    header = next((line for line in range(row, -1, -1) if _HEADER.match(lines[line])), None)
    if header is not None:
        ends = (line for line in range(header + 1, len(lines)) if _HEADER.match(lines[line]))
        yield _blanked(lines, header, next(ends, len(lines)) - 1)
    yield "\n" * text.count("\n")


def _without_blocks(text: str, at: int) -> Iterator[str]:
    """Without the blocks of statements around it, one after the other."""
    lines = text.split("\n")
    for opener in reversed(_open_brackets(text, 0, at, ".pp")):
        close, depth = len(text), 0
        for offset, sign in _signs(text, opener, len(text), ".pp"):
            depth += (sign in OPENING) - (sign in CLOSING)
            if depth == 0 and sign in CLOSING:
                close = offset
                break
        yield _blanked(lines, text.count("\n", 0, opener), text.count("\n", 0, close))


def _blanked(lines: list[str], first: int, last: int) -> str:
    return "\n".join("" if first <= row <= last else line for row, line in enumerate(lines))


# --- blocks of YAML


class _Opener(NamedTuple):
    """Where an entry of a block begins: a key, or the dash of an element."""

    column: int
    is_key: bool
    row: int


@dataclass
class _Block:
    """Lines of YAML that are no brackets."""

    lines: list[str]

    def chain(self, row: int) -> list[_Opener]:
        """The entries that hold the line, the outermost first."""
        stack: list[_Opener] = []
        for at in range(row + 1):
            if not self.says(at):
                continue
            for opener in _openers(self.lines[at], at):
                while stack and self._ends(stack[-1], opener):
                    stack.pop()
                stack.append(opener)
        return stack

    @staticmethod
    def _ends(above: _Opener, opener: _Opener) -> bool:
        if above.column != opener.column:
            return above.column > opener.column
        return not (above.is_key and not opener.is_key)

    def says(self, row: int) -> bool:
        line = self.lines[row].strip()
        return bool(line) and not line.startswith("#")

    def last(self, opener: _Opener) -> int:
        """The last line of an entry."""
        last = opener.row
        for row in range(opener.row + 1, len(self.lines)):
            line = self.lines[row]
            if not line.strip():
                continue
            indent = len(line) - len(line.lstrip())
            own_element = opener.is_key and indent == opener.column and line.lstrip().startswith("- ")
            if indent <= opener.column and not own_element:
                break
            last = row
        return last


def _openers(line: str, row: int) -> Iterator[_Opener]:
    at = len(line) - len(line.lstrip())
    while line[at : at + 2] == "- ":
        yield _Opener(at, False, row)
        at += 2 + len(line[at + 2 :]) - len(line[at + 2 :].lstrip())
    if _KEY.match(line, at):
        yield _Opener(at, True, row)


def _without_block(lines: list[str], row: int) -> Iterator[str]:
    block = _Block(lines)
    chain = block.chain(row)
    for depth in range(len(chain) - 1, -1, -1):
        yield "\n".join(_cut(block, chain[depth], chain[depth - 1] if depth else None))


def _cut(block: _Block, gone: _Opener, parent: _Opener | None) -> list[str]:
    lines, last = list(block.lines), block.last(gone)
    head = lines[gone.row][: gone.column]
    empty = "{}" if gone.is_key else "[]"
    for row in range(gone.row, last + 1):
        lines[row] = ""
    if head.strip():  # the first entry of an element, behind its dash
        assert parent is not None
        following = _next_sibling(block, gone, last, block.last(parent))
        if following is None:
            lines[gone.row] = head + empty
        else:
            lines[following] = head + lines[following][gone.column :]
        return lines
    rest = _Block(lines)
    if parent is None:
        if not any(rest.says(row) for row in range(len(lines))):
            lines[gone.row] = empty
    elif not any(rest.says(row) for row in range(parent.row + 1, block.last(parent) + 1)):
        _mend(lines, parent, gone, empty)
    return lines


def _next_sibling(block: _Block, gone: _Opener, last: int, end: int) -> int | None:
    for row in range(last + 1, end + 1):
        if block.says(row) and any(opener[:2] == gone[:2] for opener in _openers(block.lines[row], row)):
            return row
    return None


def _mend(lines: list[str], parent: _Opener, gone: _Opener, empty: str) -> None:
    """A map or list that lost its only entry is empty, and not null."""
    line = re.sub(r"\s+#.*$", "", lines[parent.row]).rstrip()
    if line.endswith(("|", "|-", ">")):
        lines[gone.row] = " " * gone.column + empty
    elif line.endswith(":") or re.search(r":\s*&\w+$", line):
        lines[parent.row] = f"{line} {empty}"

"""Edits to one line of a JSON, YAML or Python file, as a person with an editor makes them.

It knows lines, brackets and indentation, and nothing of nodeattrs: it is the judge of the
lines that nodeattrs names. Files are as `cookbooks_example` writes them, one entry a line.
Line numbers stay: what is taken away leaves blank lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

OPENING, CLOSING = ("{", "[", "("), ("}", "]", ")")
COMMENT = re.compile(r"(?:^|\s)#.*$")
ASSIGNMENT = re.compile(r"^(\s*[\w.]+(?:\[[^\]]*\])* = )(.+)$")
ENTRY = re.compile(r"^(\s*\"[^\"]*\": )(.+?)(,?)$")
CALL = re.compile(r"^(\s*[^(]*\()(.+)(\))$")
NAME_ONLY = re.compile(r"^\s*(\w+) = ")


class NotThere(AssertionError):
    """The line does not say what it is said to say."""


def other(value: Any, taken: Any = ()) -> Any:
    """Another value of the same kind and form that is not in *taken*; None where there is none.

    A number in a text stays a number, so whoever reads it (a size, an address) is not surprised.
    """
    while True:
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            value += 1
        elif isinstance(value, str):
            digits = re.search(r"^(.*)(\d)(\D*)$", value, re.DOTALL)
            value = f"{digits[1]}{(int(digits[2]) + 1) % 10}{digits[3]}" if digits else value + "x"
        elif isinstance(value, dict):
            return {"edited": True}
        elif isinstance(value, list):
            return ["edited"]
        else:
            return None
        if value not in taken:
            return value


def changed(text: str, suffix: str, line: int, column: int | None, old: Any, new: Any) -> str:
    """The text with *new* where that line says *old*. raises: NotThere"""
    lines = text.split("\n")
    at = _found(_code(lines[line - 1], suffix), column, list(_spelled(old, suffix)))
    if at is None:
        raise NotThere(f"line {line} does not say {old!r}: {lines[line - 1].strip()}")
    start, end = at
    lines[line - 1] = lines[line - 1][:start] + next(_spelled(new, suffix)) + lines[line - 1][end:]
    return "\n".join(lines)


def settled(text: str, line: int, new: Any) -> str:
    """The text of a Python file with the literal *new* instead of what that line computes. raises: NotThere"""
    lines = text.split("\n")
    code = _code(lines[line - 1], ".py").rstrip()
    for pattern in (ENTRY, ASSIGNMENT, CALL):
        if found := pattern.match(code):
            before, _, *after = found.groups()
            lines[line - 1] = before + next(_spelled(new, ".py")) + "".join(after)
            return "\n".join(lines)
    raise NotThere(f"line {line} computes nothing: {code.strip()}")


def removed(text: str, suffix: str, line: int) -> str:
    """The text without the entry or statement that begins on that line."""
    lines = text.split("\n")
    first, last = line - 1, _end(lines, line - 1, suffix)
    if suffix == ".py" and not _is_entry(lines, first):
        name = NAME_ONLY.match(lines[first])
        instead = _indent(lines[first]) * " " + (f"{name[1]} = None" if name else "pass")
    else:
        instead = ""
    was = lines[first].strip()
    lines[first : last + 1] = [instead, *[""] * (last - first)]
    if suffix == ".json":
        _mend_commas(lines, first)
    elif suffix != ".py":
        _mend_parent(lines, first, was, suffix)
    return "\n".join(lines)


def is_computed(text: str, line: int) -> bool:
    """Whether the file itself says that this line holds no literal to edit."""
    return text.split("\n")[line - 1].rstrip().endswith("# computed")


def _code(line: str, suffix: str) -> str:
    return line if suffix == ".json" else COMMENT.sub("", line)


def _spelled(value: Any, suffix: str) -> Iterator[str]:
    if suffix == ".py":
        yield json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
        yield repr(value)
        return
    if suffix in (".yaml", ".yml") and isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w./ -]*|[\d.]+/\d+", value):
        yield value
    yield json.dumps(value, ensure_ascii=False)
    yield json.dumps(value)
    if isinstance(value, str):
        yield value


def _found(code: str, column: int | None, spellings: list[str]) -> tuple[int, int] | None:
    """Where one of the spellings stands whole: at the column if it is the value there, else the last one behind it."""
    for spelling in spellings:
        whole = re.compile(rf"(?<![\w.\"'/-]){re.escape(spelling)}(?![\w\"'/-]|\.\w)(?!\s*:)")
        places = [found.span() for found in whole.finditer(code) if column is None or found.start() >= column - 1]
        if places:
            here = [place for place in places if column is not None and place[0] == column - 1]
            return here[0] if here else places[-1]
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(lines: list[str], first: int, suffix: str) -> int:
    """The last line of what begins on line *first* (counted from 0)."""
    indent = _indent(lines[first])
    if suffix in (".json", ".py"):
        if not _code(lines[first], suffix).rstrip().endswith(OPENING):
            return first
        inside = (line for line in range(first + 1, len(lines)) if lines[line].strip())
        return next(line for line in inside if _indent(lines[line]) <= indent and lines[line].strip()[0] in CLOSING)
    last = first
    for line in range(first + 1, len(lines)):
        if lines[line].strip() and _indent(lines[line]) <= indent:
            break
        if lines[line].strip():
            last = line
    return last


def _is_entry(lines: list[str], line: int) -> bool:
    """Whether a line of Python stands inside brackets that an earlier line opened."""
    code = " ".join(_code(text, ".py") for text in lines[:line])
    code = re.sub(r'""".*?"""|"[^"\n]*"', "", code, flags=re.DOTALL)
    return sum(code.count(sign) for sign in "{[(") > sum(code.count(sign) for sign in "}])")


def _mend_commas(lines: list[str], gone: int) -> None:
    """The last entry of a map or list has no comma."""
    before = max((line for line in range(gone) if lines[line].strip()), default=None)
    after = min((line for line in range(gone, len(lines)) if lines[line].strip()), default=None)
    if before is not None and after is not None and lines[after].strip()[0] in CLOSING:
        lines[before] = lines[before].rstrip().removesuffix(",")


def _mend_parent(lines: list[str], gone: int, was: str, suffix: str) -> None:
    """A map or list that lost its only entry is empty, and not null."""
    said = [line for line in range(len(lines)) if _code(lines[line], suffix).strip()]
    before = max((line for line in said if line < gone), default=None)
    after = min((line for line in said if line > gone), default=None)
    if before is None or not _code(lines[before], suffix).rstrip().endswith(":"):
        return
    if after is None or _indent(lines[after]) <= _indent(lines[before]):
        lines[before] = _code(lines[before], suffix).rstrip() + (" []" if was.startswith("-") else " {}")

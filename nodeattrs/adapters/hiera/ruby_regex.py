"""Ruby's regular expressions, spelled for Python.

The two agree on nearly all that lookup_options use; what is spelled otherwise is
translated, and what Python cannot say is refused. It knows no lookup.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["Untranslatable", "translated"]


class Untranslatable(ValueError):
    """An expression that Python cannot say, or that is none."""


_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "word": r"\w",
    "space": r"\s", "xdigit": "0-9a-fA-F", "punct": r"!-/:-@\[-`{-~", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
}  # fmt: skip
_SPELLED = {"A": r"\A", "z": r"\Z", "Z": r"(?=\n?\Z)", "h": "[0-9a-fA-F]", "H": "[^0-9a-fA-F]", "e": r"\x1b"}
_IN_CLASS = {"h": "0-9a-fA-F", "e": r"\x1b", "b": r"\b"}
_CANNOT = {"G": r"\G", "K": r"\K", "R": r"\R", "X": r"\X", "g": r"\g<...>", "p": r"\p{...}", "P": r"\P{...}"}
_TOKEN = re.compile(
    r"\\(?P<escaped>k<[^>]*>|u\{[0-9a-fA-F]+\}|.)"
    r"|\[:(?P<posix>\^?[a-z]+):\]"
    r"|\((?P<group>\?<(?![=!])[^>]*>|\?[a-z-]+[:)])"
    r"|(?P<other>&&|.)",
    re.DOTALL,
)


@lru_cache(maxsize=1024)
def translated(source: str) -> re.Pattern[str]:
    """The expression that finds in Python what *source* finds in Ruby.

    `^` and `$` stand at every line, and `\\w`, `\\d`, `\\s` know ASCII only, as in Ruby.
    raises: Untranslatable

    >>> bool(translated(r"^profile::(?<name>\\h+)::users\\z").search("profile::c0ffee::users"))
    True
    """
    out: list[str] = []
    depth = 0  # brackets of character classes
    for found in _TOKEN.finditer(source):
        escaped, posix, group = found["escaped"], found["posix"], found["group"]
        if escaped is not None:
            out.append(_escape(escaped, depth))
        elif posix is not None:
            out.append(_posix(posix) if depth else found[0])
        elif group is not None and not depth:
            out.append(_group(group))
        else:
            depth = _bracket(found[0], depth, out)
    try:
        return re.compile("".join(out), re.MULTILINE | re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise Untranslatable(str(error)) from None


def _bracket(text: str, depth: int, out: list[str]) -> int:
    """Take a sign that stands for itself, or opens or closes a class; how many are open then."""
    if depth and text in ("[", "&&"):
        what = "a class inside a class" if text == "[" else "&& in a class"
        raise Untranslatable(f"{what} cannot be translated")
    closes = text == "]" and out[-1:] not in (["["], ["[^"])
    if text == "^" and depth and out[-1] == "[":
        out[-1] = "[^"
    else:
        out.append(text)
    return 1 if text == "[" else 0 if closes else depth


def _posix(name: str) -> str:
    if name not in _POSIX:
        raise Untranslatable(f"[:{name}:] cannot be translated")
    return _POSIX[name]


def _escape(escaped: str, depth: int) -> str:
    if escaped.startswith("k<"):
        return f"(?P={escaped[2:-1]})"
    if escaped.startswith("u{"):
        return re.escape(chr(int(escaped[2:-1], 16)))
    if escaped in _CANNOT:
        raise Untranslatable(f"{_CANNOT[escaped]} cannot be translated")
    if depth:
        return _IN_CLASS.get(escaped, "\\" + escaped)
    return _SPELLED.get(escaped, "\\" + escaped)


def _group(group: str) -> str:
    if group.startswith("?<"):
        return "(?P" + group[1:]
    flags, end = group[1:-1], group[-1]
    if flags.strip("mix-"):
        raise Untranslatable(f"(?{flags}{end} cannot be translated")
    if end == ")":
        raise Untranslatable("options in the middle cannot be translated; write (?i:...)")
    return "(?" + flags.replace("m", "s") + end

"""Translates Ruby's regular expressions into Python's.

Syntax that differs is translated. What only the package `regex` supports is compiled by that package, and what
neither supports is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from nodeattrs.formats.patterns import BadPattern, Expression, expression, regex_expression

_FLAGS = int(re.MULTILINE | re.ASCII)
_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "word": r"\w",
    "space": r"\s", "xdigit": "0-9a-fA-F", "punct": r"!-/:-@\[-`{-~", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
}  # fmt: skip
_SPELLED = {
    "A": r"\A", "z": r"\Z", "Z": r"(?=\n?\Z)", "G": r"\A", "h": "[0-9a-fA-F]", "H": "[^0-9a-fA-F]", "e": r"\x1b",
    "R": r"(?>\r\n|[\n-\r\x85\u2028\u2029])",
}  # fmt: skip
_IN_CLASS = {"h": "0-9a-fA-F", "e": r"\x1b", "b": r"\b", "w": "0-9A-Z_a-z", "d": "0-9", "s": r" \t-\r"}
_ANCHORS = frozenset("AzZGbB")
_ESCAPED = r"\\(?P<escaped>[kg]<[^>]*>|u\{[0-9a-fA-F ]+\}|[pP]\{\^?\w+\}|.)"
_TOKEN = re.compile(
    _ESCAPED + r"|(?P<comment>\(\?\#[^)]*\))|(?P<repeat>[*+?]|\{\d*,?\d*\})"
    r"|(?P<group>\((?:\?(?:<(?![=!])[^>]*>|[a-z-]+[:)]|\([^)]*\)|[:=!>]|<[=!]?|))?)|(?P<sign>.)",
    re.DOTALL,
)
_TOKEN_IN_CLASS = re.compile(_ESCAPED + r"|\[:(?P<posix>\^?[a-z]+):\]|(?P<sign>&&|.)", re.DOTALL)
_OPTIONS = re.compile(r"\(\?([a-z-]+)[:)]")


@lru_cache(maxsize=1024)
def translated(source: str) -> Expression:
    """A regular expression of Ruby, compiled for Python so that it matches the same texts; cached by *source*.

    As in Ruby, `^` and `$` match at every line, and `\\w`, `\\d`, `\\s` match ASCII only.

    raises: BadPattern, where Python and the package `regex` cannot express it, or `regex` is needed and absent

    >>> translated(r"^profile::(?<name>\\h+)::users\\z").search("profile::c0ffee::users")
    True
    """
    translation = _Translation()
    at = 0
    while found := (_TOKEN_IN_CLASS if translation.in_class else _TOKEN).match(source, at):
        translation.take(found)
        at = found.end()
    spelled = translation.end()
    if translation.beyond:
        return regex_expression(source, _FLAGS, spelled, translation.beyond)
    return expression(source, _FLAGS, spelled)


class _Translation:
    """What is translated so far.

    beyond: what only the package `regex` can say; "" where nothing is
    """

    def __init__(self) -> None:
        self.out: list[str] = []
        self.beyond = ""
        self._class = 0  # brackets of character classes that are open
        self._is_wide = False  # whether the class has a property, which knows more than ASCII
        self._groups = [[0, 0]]  # where each open group begins, and how many brackets close it
        self._atom = 0  # where begins what a repeat would repeat
        self._repeat = ""  # the repeat that came last, if nothing came since
        self._is_anchor = False

    @property
    def in_class(self) -> bool:
        return self._class > 0

    def take(self, found: re.Match[str]) -> None:
        match found.lastgroup:
            case "escaped":
                self._put(_escaped(self, found["escaped"]), found["escaped"] in _ANCHORS)
            case "posix":
                if found["posix"] not in _POSIX:
                    raise BadPattern(f"[:{found['posix']}:] cannot be translated")
                self._put(_POSIX[found["posix"]])
            case "group":
                self._open(found[0])
            case "repeat":
                self._repeated(found[0])
            case "sign":
                self._sign(found[0])

    def end(self) -> str:
        return "".join(self.out) + ")" * self._groups[0][1]

    def _put(self, text: str, is_anchor: bool = False) -> None:
        if not self._class:
            self._atom, self._repeat, self._is_anchor = len(self.out), "", is_anchor
        self.out.append(text)

    def _sign(self, text: str) -> None:
        """A sign that stands for itself, or opens or closes a class, or closes a group."""
        out = self.out
        if self._class and text in ("[", "&&"):
            self.beyond = "a class inside a class" if text == "[" else "&& in a class"
        if not self._class and text == ")" and len(self._groups) > 1:
            begin, closing = self._groups.pop()
            out.append(")" * closing)
            self._atom, self._repeat, self._is_anchor = begin, "", False
            return
        if text == "^" and self._class and out[-1] == "[":
            out[-1] = "[^"
            return
        closes = text == "]" and self._class > 0 and out[-1:] not in (["["], ["[^"])
        self._put(text, text in ("^", "$"))
        self._class += (text == "[") - closes
        if closes and not self._class and self._is_wide:
            out[self._atom] = "(?u:" + out[self._atom]
            out.append(")")
            self._is_wide = False

    def _open(self, text: str) -> None:
        options = _OPTIONS.fullmatch(text)
        if options is not None:
            if options[1].strip("mix-"):
                raise BadPattern(f"{text} cannot be translated")
            text = text[:-1].replace("m", "s") + ":"
        elif text[-1] == ">" and text != "(?>":
            text = "(?P" + text[2:]
        if options is not None and options[0][-1] == ")":  # from here to the end of the group
            self._groups[-1][1] += 1
        else:
            self._groups.append([len(self.out), 1])
        self._put(text)

    def _repeated(self, text: str) -> None:
        last = self._repeat
        suffix = (text in ("?", "+") and last in ("*", "+", "?")) or (text == "?" and "," in last)
        if suffix:
            self._repeat = "done"
        else:
            if last or self._is_anchor:
                self.out.insert(self._atom, "(?:")
                self.out.append(")")
                self._is_anchor = False
            self._repeat = text
        self.out.append(text)


def _escaped(translation: _Translation, escaped: str) -> str:
    letter, inner = escaped[0], escaped[2:-1]
    if inner and letter == "k":
        return f"(?P={inner})"
    if inner and letter == "u":
        return "".join(_character(code) for code in inner.split())
    if escaped in ("K", "X") or inner:
        translation.beyond = f"\\{letter}" + ("{...}" if letter in "pP" else "<...>" if inner else "")
        if letter == "g":
            return f"(?{inner})" if inner.isdigit() else f"(?&{inner})"
        translation._is_wide = translation.in_class
        return f"\\{escaped}" if translation.in_class else f"(?u:\\{escaped})"
    if translation.in_class:
        return _IN_CLASS.get(escaped, "\\" + escaped)
    return _SPELLED.get(escaped, "\\" + escaped)


def _character(code: str) -> str:
    number = int(code[:9], 16)
    if number > 0x10FFFF:
        raise BadPattern(f"\\u{{{code[:20]}}} is no character; the last one is \\u{{10FFFF}}")
    return re.escape(chr(number))

"""Translate templates of other programs (Terraform, CloudFormation, Go, Jinja, ERB) to templates of Jinja.

The translation has the same branches and loops. Every condition and value becomes a variable without a value.
`userdata` renders it to look at a config whose real values are not known. The module does not know what a condition or
a value means. A *tag* is one piece of markup, such as `${x}`; a *block* is a condition or a loop with its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple


class _Kind(Enum):
    VALUE = auto()
    NOTHING = auto()
    IF = auto()
    LOOP = auto()
    ELSE_IF = auto()
    ELSE = auto()
    END = auto()


class _Tag(NamedTuple):
    """The meaning of a piece of markup.

    what:  the condition or the value, as it is written
    holds: whether its branch is taken where the condition holds; False for `unless x` and `if not x`
    """

    kind: _Kind
    what: str = ""
    holds: bool = True


@dataclass(frozen=True)
class Language:
    """The template language of one program, as data.

    name:       the name of the program
    begins:     matches the beginning of a tag, or an escape. Its groups are `start`, `left` (a mark that removes blanks
                before the tag) and `escape`
    ends:       `start` of a tag -> the text that ends the tag; None: the tag ends with the matching brace
    sign:       matches a block that only this language has; None: the language cannot be recognized from a text
    read:       called with the body of a tag, returns its meaning; None for an unknown block
    trims:      whether a mark that removes blanks also removes line feeds
    is_trimmed: whether the line feed after a block is removed even without a mark
    """

    name: str
    begins: re.Pattern[str]
    ends: Mapping[str, str] | None
    sign: re.Pattern[str] | None
    read: Callable[[str], _Tag | None]
    trims: bool = False
    is_trimmed: bool = False


def _pieces_in(text: str, language: Language) -> Iterator[_Piece]:
    """Each piece of markup in a text, in order. raises: _UnknownBlock, for one that is not closed"""
    at = 0
    while found := language.begins.search(text, at):
        if found["escape"]:
            at = found.end()
            yield _Piece(found.start(), at, escape=found["escape"])
            continue
        end, at = _end_of(text, found.end(), None if language.ends is None else language.ends[found["start"]])
        body, right = text[found.end() : end], ""
        if body[-1:] in _MARKS:
            body, right = body[:-1], body[-1:]
        yield _Piece(found.start(), at, found["start"] + body, found["left"], right)


def _end_of(text: str, at: int, mark: str | None) -> tuple[int, int]:
    """The ends of a body and of its markup. mark: the end of the markup; None: the brace that closes it"""
    if mark is None:
        return _closed(text, at)
    end = text.find(mark, at)
    if end < 0:
        raise _UnknownBlock
    return end, end + len(mark)


_MARKS = ("~", "-", "+")
_SIGNIFICANT = re.compile(r'[{}"]')
_QUOTE = re.compile(r'(?:[^"\\]|\\.)*+"', re.S)


class _UnknownBlock(Exception):
    """A block that is not known here, or is not closed."""


class _Piece(NamedTuple):
    """A piece of markup: where it is, what it says, and the marks for the white space beside it."""

    start: int
    end: int
    body: str = ""
    left: str = ""
    right: str = ""
    escape: str = ""


def _closed(text: str, at: int) -> tuple[int, int]:
    """The brace that closes what is open; braces in quoted texts do not count. raises: _UnknownBlock, for none"""
    depth = 1
    while found := _SIGNIFICANT.search(text, at):
        at = found.end()
        if found[0] == '"':
            quoted = _QUOTE.match(text, at)
            if quoted is None:
                break
            at = quoted.end()
            continue
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start(), at
    raise _UnknownBlock


_NEGATED = re.compile(r"(?:!|not\b)\s*(.+)", re.S)


def _condition(kind: _Kind, written: str, holds: bool = True) -> _Tag:
    """A condition; `!x` and `not x` are the other side of `x`."""
    negated = _NEGATED.fullmatch(written)
    return _Tag(kind, (negated[1] if negated else written).strip(), holds is not (negated is not None))


def _worded(body: str) -> tuple[str, str]:
    """The first word of a body, and what is behind it."""
    word, _, rest = body.strip().partition(" ")
    return word, rest.strip()


_BLOCKS = {
    "if": _Kind.IF, "unless": _Kind.IF, "with": _Kind.IF, "for": _Kind.LOOP, "range": _Kind.LOOP,
    "elif": _Kind.ELSE_IF, "elsif": _Kind.ELSE_IF, "else": _Kind.ELSE, "end": _Kind.END, "endif": _Kind.END,
    "endfor": _Kind.END,
}  # fmt: skip


def _block(body: str) -> _Tag | None:
    """A word that opens, turns or ends a block; None for any other."""
    word, rest = _worded(body)
    if word == "else" and _worded(rest)[0] in ("if", "with"):
        return _condition(_Kind.ELSE_IF, _worded(rest)[1])
    kind = _BLOCKS.get(word)
    return None if kind is None else _condition(kind, rest, word != "unless")


def _terraform(body: str) -> _Tag | None:
    return _Tag(_Kind.VALUE, body[1:].strip()) if body[0] == "$" else _block(body[1:])


def _value(body: str) -> _Tag | None:
    return _Tag(_Kind.VALUE, body.strip())


def _go(body: str) -> _Tag | None:
    if body.lstrip().startswith(("/*", "py:")) or re.match(r"\s*\$\w+\s*:?=", body):
        return _Tag(_Kind.NOTHING)
    if _worded(body)[0] in ("define", "block"):
        return None
    return _block(body) or _Tag(_Kind.VALUE, body.strip())


def _jinja(body: str) -> _Tag | None:
    if body[0] != "%":
        return _Tag(_Kind.VALUE if body[0] == "{" else _Kind.NOTHING, body[1:].strip())
    word, rest = _worded(body[1:])
    if word in ("include", "import", "from") or (word in ("set", "do") and "=" in rest):
        return _Tag(_Kind.NOTHING)
    return _block(body[1:])


def _erb(body: str) -> _Tag | None:
    if body[:1] in ("=", "#"):
        return _Tag(_Kind.VALUE if body[0] == "=" else _Kind.NOTHING, body[1:].strip())
    if _worded(body)[0] in ("case", "when", "while", "begin", "def"):
        return None
    is_loop = re.search(r"\bdo(?:\s*\|[^|]*\|)?\s*$", body) is not None
    return _Tag(_Kind.LOOP, body.strip()) if is_loop else _block(body) or _Tag(_Kind.NOTHING)


TERRAFORM = Language(
    "Terraform",
    re.compile(r"(?P<escape>\$\$\{|%%\{)|(?P<start>[$%])\{(?P<left>~?)"),
    None,
    re.compile(r"%\{~? *(?:if|for)\b"),
    _terraform,
)
CLOUDFORMATION = Language(
    "CloudFormation",
    re.compile(r"(?P<escape>\$\{!)|\$\{(?P<start>)(?P<left>)"),
    {"": "}"},
    None,
    _value,
)
BICEP = replace(CLOUDFORMATION, name="Bicep", ends=None)
LANGUAGES = (
    TERRAFORM,
    Language(
        "Go",
        re.compile(r"(?P<escape>(?!))|\{\{(?P<start>)(?P<left>-?)"),
        {"": "}}"},
        re.compile(r"\{\{-? *(?:if|range|with)\b"),
        _go,
        trims=True,
    ),
    Language(
        "Jinja",
        re.compile(r"(?P<escape>(?!))|\{(?P<start>[{%#])(?P<left>[-+]?)"),
        {"{": "}}", "%": "%}", "#": "#}"},
        re.compile(r"\{%[-+]? *(?:if|for)\b"),
        _jinja,
        trims=True,
        is_trimmed=True,
    ),
    Language(
        "ERB",
        re.compile(r"(?P<escape><%%)|<%(?P<start>)(?P<left>-?)"),
        {"": "%>"},
        re.compile(r"<%-? *(?:if|unless)\b|<%[^%\n]{,200}\bdo\b"),
        _erb,
    ),
)
"""The languages that blocks show, in the order in which they are looked for."""


_BY_SUFFIX = {".tftpl": TERRAFORM, ".pkrtpl.hcl": TERRAFORM, ".gotmpl": LANGUAGES[1], ".j2": LANGUAGES[2],
              ".jinja2": LANGUAGES[2], ".erb": LANGUAGES[3]}  # fmt: skip


def language_of_file(name: str) -> Language | None:
    """The language by the end of a file name, such as ".tftpl"; None for other names.

    >>> language_of_file("user-data.tftpl").name
    'Terraform'
    """
    return next((language for suffix, language in _BY_SUFFIX.items() if name.endswith(suffix)), None)


def language_of(text: str) -> Language | None:
    """The language of a template by its blocks; None for a text without blocks, even if it has other markup.

    >>> language_of("%{ if x }a: 1%{ endif }").name, language_of("a: ${x}")
    ('Terraform', None)
    """
    return next((one for one in LANGUAGES if one.sign is not None and one.sign.search(text)), None)


def unescaped(text: str) -> str:
    """*text* with the escapes of Terraform and CloudFormation replaced by what they stand for.

    >>> unescaped("$${A} %%{ ${!B}")
    '${A} %{ ${B}'
    """
    return _ESCAPE.sub(lambda found: found[1] + "{", text)


def filled_as_jinja(text: str, language: Language) -> str | None:
    """A template of another program, translated to Jinja. Its conditions become `branch_N`, its values and loops
    `filled_N`.

    Equal conditions or values have one number. Each text stays on its line, and Jinja's own markup in it is escaped. A
    value alone on its line becomes a comment, since the real value may have several lines. Returns None for a text
    without markup, and if a block is not known or not closed.

    >>> filled_as_jinja("%{ if x ~}\\nhostname: ${y}\\n%{ endif ~}\\n", TERRAFORM)
    '{% if branch_0 %}\\nhostname: {{ filled_1 }}\\n{% endif %}\\n'
    """
    try:
        is_template = any(not piece.escape for piece in _pieces_in(text, language))
        return "".join(_Translation(text, language).pieces()) if is_template else None
    except _UnknownBlock:
        return None


class _Translation:
    def __init__(self, text: str, language: Language) -> None:
        self._text, self._language = text, language
        self._names: dict[str, int] = {}
        self._open: list[tuple[str, bool]] = []  # what ends each open block, and whether an "else" can still follow

    def pieces(self) -> Iterator[str]:
        """Literals and tags of Jinja, in order. raises: _UnknownBlock"""
        at = 0
        for piece in _pieces_in(self._text, self._language):
            start, end = piece.start, piece.end
            if not self._language.trims:  # a mark takes the blanks on its side, and not the line feed
                before, behind = self._blanks(piece)
                start, end = max(before, at) if piece.left else start, behind if piece.right else end
            yield _literal(self._text[at:start])
            yield self._tag(piece)
            at = end
        yield _literal(self._text[at:])
        if self._open:
            raise _UnknownBlock

    def _tag(self, piece: _Piece) -> str:
        if piece.escape:
            return _literal(unescaped(piece.escape))
        tag = self._language.read(piece.body)
        if tag is None:
            raise _UnknownBlock
        left, right = (piece.left, piece.right) if self._language.trims else ("", "")
        feeds = "\n" * self._text.count("\n", piece.start, piece.end)
        if tag.kind is _Kind.NOTHING:
            return f"{{%{left} set nothing = 0{feeds} {right}%}}"
        if tag.kind is _Kind.VALUE:
            comment = "# " if self._is_alone(piece) else ""
            return f"{comment}{{{{{left} filled_{self._number(tag.what)}{feeds} {right}}}}}"
        is_kept = not (piece.right or self._language.is_trimmed)
        return f"{{%{left} {self._words(tag)}{feeds} {right or '+' * is_kept}%}}"

    def _words(self, tag: _Tag) -> str:
        """The words of a block of Jinja. raises: _UnknownBlock, for one that turns or ends what Jinja has not open"""
        if tag.kind is _Kind.LOOP:
            self._open.append(("endfor", True))
            return f"for one in filled_{self._number(tag.what)}"
        if tag.kind is _Kind.IF:
            self._open.append(("endif", True))
            return f"if {self._condition(tag)}"
        if not self._open:
            raise _UnknownBlock
        end, can_turn = self._open.pop()
        if tag.kind is _Kind.END:
            return end
        if not can_turn or (end == "endfor" and tag.kind is _Kind.ELSE_IF):
            raise _UnknownBlock
        self._open.append((end, tag.kind is _Kind.ELSE_IF))
        return "else" if tag.kind is _Kind.ELSE else f"elif {self._condition(tag)}"

    def _condition(self, tag: _Tag) -> str:
        return f"{'' if tag.holds else 'not '}branch_{self._number(tag.what)}"

    def _number(self, what: str) -> int:
        return self._names.setdefault(what, len(self._names))

    def _is_alone(self, piece: _Piece) -> bool:
        """Whether a tag has its lines for itself."""
        before, behind = self._blanks(piece)
        return self._text[max(before - 1, 0) : before] in ("", "\n") and self._text[behind : behind + 1] in ("", "\n")

    def _blanks(self, piece: _Piece) -> tuple[int, int]:
        """(Index of the first blank before a tag, index behind the last blank after it)."""
        start, end = piece.start, piece.end
        while start and self._text[start - 1] in " \t":
            start -= 1
        while self._text[end : end + 1] in (" ", "\t"):
            end += 1
        return start, end


_ESCAPE = re.compile(r"([$%])(?:\1\{|\{!)")
_MARKUP = re.compile(r"\{(?=[{%#])")


def _literal(text: str) -> str:
    """A text that Jinja leaves as it is."""
    return _MARKUP.sub("{{ '{' }}", text)

"""A text of the language, its tree of branches from lark, the places of branches, and errors with the line.

A *branch* is a rule of `grammar.lark` with the part of the text that it matches. Only `reading` knows what branches
mean.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeVar

from nodeattrs.codes import Kind
from nodeattrs.core.borders import checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import near
from nodeattrs.dialects.bindings.codes import SYNTAX
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.types import Type, parse_type
from nodeattrs.errors import missing_extra

_STARTS = ["bindings_file", "site_file", "items", "expression"]


@functools.cache
def parser() -> Any:
    """The LALR parser of the grammar, made once; its trees know their places.

    cost:   0.2 s without the file with lark's tables, beside the bytecode of this module. lark writes that file, unless
            Python writes no bytecode. The file is trusted as bytecode is; another grammar or version makes a new one.
    raises: MissingExtra, without lark
    """
    try:
        import lark
    except ImportError:
        raise missing_extra("lark", "bindings", "reading the text language of bindings") from None
    tables = Path(cache_from_source(__file__)).with_suffix(".tables")
    is_written = tables.parent.is_dir() and not sys.dont_write_bytecode
    return lark.Lark(
        files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=False,
        start=_STARTS,
        cache=str(tables) if is_written or tables.is_file() else False,
    )


_KEYWORDS = (
    "abstract", "alias", "and", "bind", "bindings", "categories", "class", "dependency", "dynamic_environments",
    "environment", "exclude", "final", "include", "layer", "map", "multibind", "optional", "override", "parameters",
    "producer", "rebind", "renamed", "site", "to", "variables", "when",
)  # fmt: skip
_SIGNS = {
    "LBRACE": "{", "RBRACE": "}", "LSQB": "[", "RSQB": "]", "LPAR": "(", "RPAR": ")", "COMMA": ",", "COLON": ":",
    "$END": "the end", "SINGLE": "a quoted text", "DOUBLE": "a quoted text", "NAME": "a name",
    "CLASSREF": "a type", "NUMBER": "a number", "ARROW": "-> or ~>", "VARIABLE": "a variable",
}  # fmt: skip
_MOST = 8
_WORD, _LETTER = re.compile(r"\w+"), re.compile(r"[A-Za-z_]")


def _caret(text: str, line: int | None, column: int | None) -> tuple[str, ...]:
    """Two lines for a message: the line of the text, and a caret below the column; () for a place outside of the text.

    >>> _caret("bind x", 1, 6)
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


def _word_at(text: str, line: int, column: int) -> str:
    rest = text.split("\n")[line - 1][column - 1 :]
    word = _WORD.match(rest)
    return word[0] if word else rest[:1]


def _hint(found: str, expected: set[str], behind: str) -> str | None:
    """The way out for a wrong word, or None. found: the word or sign; behind: the rest of the line"""
    is_word = bool(_LETTER.match(found))
    wanted = {name.strip("_").lower() for name in expected}
    close = [word for word in near(found, _KEYWORDS) if word != found]
    close = [word for word in close if word in wanted] or close
    if is_word and close:
        return f"did you mean {', '.join(close)}?"
    if is_word and {"SINGLE", "DOUBLE"} & expected:
        is_call = behind.lstrip().startswith("(")
        return f"write a call inside of a list or hash: [{found}(...)]" if is_call else f"a text is quoted: '{found}'"
    if found[:1] in ("'", '"'):
        return "is a quote still open?"
    words = sorted({_word(name) for name in expected} - {""})
    if not words:
        return None
    more = ", ..." if len(words) > _MOST else ""
    return f"expected here: {', '.join(words[:_MOST])}{more}"


def _word(name: str) -> str:
    """The text of a terminal of the grammar in messages; "" where messages leave the terminal out."""
    plain = name.strip("_").lower()
    return _SIGNS.get(name) or (plain if plain in (*_KEYWORDS, "to", "in", "as", "or", "if", "unless") else "")


_Found = TypeVar("_Found")
Tree = Any
"""A branch of a tree, or one of its words."""


_PER_SIGN = 50
"""Steps of the budget for each character of a text."""


class LanguageText:
    """A text of the language. `parsed` gives its tree; the other methods give places, texts and errors of its branches.

    The constructor parses nothing. `origin` gives the line of a branch, `source` its text, and `type` the type that it
    writes. `result_of` calls a function, and turns a RecursionError into a BindingError.
    `with_place` calls a function, and adds the place of a branch to its BindingError. `error` returns an error for the
    caller to raise.
    text: the text; a byte order mark is removed
    file: the name of the file in messages; None for none
    name: the name of the set that is being read, for origins; a reader of several sets changes it
    """

    @checked_args(text=str)
    def __init__(self, text: str, file: str | None = None, name: str = "") -> None:
        self.text = text.removeprefix("\ufeff")
        self.file = file
        self.name = name

    def parsed(self, start: str) -> Tree:
        """The tree of the whole text, which must match the rule *start*.

        raises: BindingError ("syntax"), with the line and a caret; MissingExtra; an error of the budget
        """
        Budget(self.file or "the text").steps(_PER_SIGN * len(self.text))
        known = parser()
        from lark.exceptions import UnexpectedInput

        try:
            return known.parse(self.text, start=start)
        except UnexpectedInput as error:
            raise self._not_expected(error) from None

    def _not_expected(self, error: Any) -> BindingError:
        """A `BindingError` for an error of lark, with the line and a hint."""
        token, line, column = getattr(error, "token", None), error.line, error.column
        at_end = token is not None and token.type == "$END"
        if at_end or not isinstance(line, int) or line < 1:
            line, column = self.text.count("\n") + 1, len(self.text) - (self.text.rfind("\n") + 1) + 1
        expected = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
        found = str(token) if token is not None else _word_at(self.text, line, column)
        shown = repr(found if len(found) <= 30 else f"{found[:30]}…")
        what = "the text ends too early" if at_end else f"{shown} is not expected here"
        behind = self.text.split("\n")[line - 1][column - 1 + len(found) :]
        origin = Origin("bindings", "", self.file, line, column)
        return self._error_at(origin, what, SYNTAX, _hint(found, expected, behind))

    def _error_at(self, origin: Origin, message: str, kind: Kind, hint: str | None = None) -> BindingError:
        """An error with its place, its line and a caret."""
        known = [str(part) for part in (self.file, origin.line, origin.column) if part is not None]
        where = f"{':'.join(known)}: " if known else ""
        details = _caret(self.text, origin.line, origin.column)
        return BindingError(kind, f"{where}{message}", origins=(origin,), details=details, hint=hint)

    def result_of(self, read: Callable[[], _Found]) -> _Found:
        """The result of *read*; where it recurses too deep, a BindingError in place of the RecursionError."""
        try:
            return read()
        except RecursionError:
            raise BindingError(SYNTAX, f"{self.file or 'the text'} is nested too deep") from None

    def origin(self, tree: Tree) -> Origin:
        """The origin with the line and column where a branch begins."""
        meta = getattr(tree, "meta", tree)
        return Origin("bindings", self.name, self.file, getattr(meta, "line", None), getattr(meta, "column", None))

    def source(self, tree: Tree) -> str:
        """The source text of a branch; "" for an empty branch."""
        meta = getattr(tree, "meta", tree)
        return self.text[getattr(meta, "start_pos", 0) : getattr(meta, "end_pos", 0)]

    def error(self, tree: Tree, message: str, kind: Kind = SYNTAX) -> BindingError:
        """The error for a branch, with its line and a caret; the caller raises it."""
        return self._error_at(self.origin(tree), message, kind)

    def with_place(self, read: Callable[..., _Found], tree: Tree, *given: Any) -> _Found:
        """The result of `read(*given)`; a `BindingError` of *read* is raised again with the place of the branch."""
        try:
            return read(*given)
        except BindingError as error:
            raise self.error(tree, error.message, error.kind) from None

    def type(self, tree: Tree, read: Callable[[str], Type] = parse_type) -> Type:
        """The type that a branch writes, read by *read*. raises: BindingError, with the place of the branch"""
        *lines, last = self.source(tree).split("\n")
        written = "".join(f"{line.partition('#')[0]} " if "#" in line else f"{line}\n" for line in lines) + last
        return self.with_place(read, tree, written)

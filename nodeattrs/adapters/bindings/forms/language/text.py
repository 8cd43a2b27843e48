"""One text of the language while it is read: its tree, its places, and errors that show the line.

The grammar is `grammar.lark` beside this module; lark is an extra and loaded when the first
text is read. What the branches of the tree mean is for the modules beside this one.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Callable
from typing import Any, TypeVar

from nodeattrs.adapters.bindings.forms.language.syntax import caret, syntax_error
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.types import Type, parse_type
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.errors import missing_extra
from nodeattrs.texts.patterns import BadPattern, expression

__all__ = ["Text", "Tree"]

_Found = TypeVar("_Found")
Tree = Any
"""A tree of lark, or one of its tokens."""


_PER_SIGN = 50
"""How many steps it takes to read a sign, as near as one can say."""


@functools.cache
def parser() -> Any:
    try:
        import lark
    except ImportError:
        raise missing_extra("lark", "bindings", "reading the text language of bindings") from None
    grammar = importlib.resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return lark.Lark(
        grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False,
        start=["bindings_file", "site_file", "items", "inject_call", "expression"],
    )  # fmt: skip


class Text:
    """A text and its file. name: the set that is being read, for origins"""

    def __init__(self, text: str, file: str | None = None, name: str = "") -> None:
        self.text = text.removeprefix("\ufeff")
        self.file = file
        self.name = name

    def parsed(self, start: str) -> Tree:
        """The tree of the whole text. raises: BindingError ("syntax"), MissingExtra"""
        known = parser()
        Budget(self.file or "the text").steps(_PER_SIGN * len(self.text))
        import lark

        try:
            return known.parse(self.text, start=start)
        except lark.exceptions.UnexpectedInput as error:
            raise syntax_error(error, self.text, self.file) from None

    def guarded(self, read: Callable[[], _Found]) -> _Found:
        """What *read* gives. raises: BindingError, also for what is nested too deep"""
        try:
            return read()
        except RecursionError:
            raise BindingError("syntax", f"{self.file or 'the text'} is nested too deep") from None

    def origin(self, tree: Tree) -> Origin:
        """Where a branch begins."""
        meta = getattr(tree, "meta", tree)
        return Origin("bindings", self.name, self.file, getattr(meta, "line", None), getattr(meta, "column", None))

    def source(self, tree: Tree) -> str:
        """A branch as it was written."""
        meta = getattr(tree, "meta", tree)
        return self.text[getattr(meta, "start_pos", 0) : getattr(meta, "end_pos", 0)]

    def error(self, tree: Tree, message: str, kind: str = "syntax") -> BindingError:
        """An error about a branch, with its line and a caret."""
        origin = self.origin(tree)
        known = [str(part) for part in (self.file, origin.line, origin.column) if part is not None]
        where = f"{':'.join(known)}: " if known else ""
        said = caret(self.text, origin.line, origin.column)
        return BindingError(kind, f"{where}{message}", origins=(origin,), said=said)

    def type(self, tree: Tree, read: Callable[[str], Type] = parse_type) -> Type:
        """The type that a branch spells."""
        try:
            return read(re.sub(r"#[^\n]*\n", " ", self.source(tree)))
        except BindingError as error:
            raise self.error(tree, error.message, error.kind) from None

    def pattern(self, written: str, at: Tree) -> re.Pattern[str]:
        """The pattern that is written there."""
        try:
            expression(written)
            return re.compile(written)
        except BadPattern as error:
            raise self.error(at, f"the pattern {written!r} cannot be read: {error}") from None

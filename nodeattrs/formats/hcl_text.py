"""The parser of Terraform's *.tfvars files: `name = value`, where each value is a literal of HCL.

The library python-hcl2 (extra `hcl`) makes the syntax tree. This module reads values and places from it, and computes
nothing: an expression is an error with its line.
source: Terraform, Input Variables; HCL Native Syntax Specification
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.errors import DocumentError, missing_extra
from nodeattrs.formats.places import Mark, ParsedText, Text

_LITERALS = {"true": True, "false": False, "null": None}
_SIGNS = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\(.)|\$(\$\{)|%(%\{)")
_DOLLARS = re.compile(r"\$(\$\{)|%(%\{)")
_COMPUTED = re.compile(r"(?<!\$)\$\{|(?<!%)%\{")


def read(text: Text, budget: Budget) -> ParsedText:
    """Parse a *.tfvars file: a map of variables; an empty text is {}.

    raises: DocumentError, also for a block, for an expression and for a variable that is set twice; TooMuch;
            MissingExtra, without python-hcl2
    """
    try:
        import hcl2
        from lark.exceptions import LarkError, UnexpectedInput
    except ImportError as error:
        raise missing_extra("python-hcl2", "hcl", f"reading {text.file}") from error
    try:
        tree = hcl2.parses_to_tree(text.text)
    except LarkError as error:
        offset = error.pos_in_stream if isinstance(error, UnexpectedInput) else None
        raise text.error("is no HCL", len(text.text) if offset is None else offset) from error
    found: dict[str, Any] = {}
    root = Mark(0)
    for entry in _trees(_trees(tree)[0]):
        offset = entry.meta.start_pos
        if entry.data != "attribute":
            raise text.error("is no variable", offset, hint="write name = value")
        named, value = _trees(entry)
        name = str(named.children[0])
        if name in found:
            raise text.error(f"{name} is set twice", offset, hint="remove one of the two, as Terraform demands")
        try:
            found[name], root.parts[name] = _Values(text, budget).value(value, offset)
        except RecursionError:
            raise text.error(f"{name} has too many levels", offset, hint="write fewer brackets") from None
    return ParsedText(found, lambda: root)


def _trees(tree: Any) -> list[Any]:
    """The parts of a node of the syntax tree, without signs, white space and comments."""
    return [one for one in tree.children if hasattr(one, "data") and one.data != "new_line_or_comment"]


class _Values:
    """Reads the values of one text. `value` gives the value of an expression, and its mark."""

    def __init__(self, text: Text, budget: Budget) -> None:
        self.text, self.budget = text, budget

    def value(self, tree: Any, offset: int) -> tuple[Any, Mark]:
        """The value of an expression. offset: of its key. raises: DocumentError, for one that is no literal"""
        self.budget.values(1)
        inner = _trees(tree)
        if tree.data == "expr_term" and len(inner) == 1:
            return self.value(inner[0], offset)
        if tree.data == "object":
            return self._map(inner, offset)
        if tree.data == "tuple":
            pairs = [self.value(one, one.meta.start_pos) for one in inner]
            return [value for value, _ in pairs], Mark(offset, {at: mark for at, (_, mark) in enumerate(pairs)})
        return self._scalar(tree), Mark(offset)

    def _map(self, entries: list[Any], offset: int) -> tuple[dict[str, Any], Mark]:
        found: dict[str, Any] = {}
        mark = Mark(offset)
        for entry in entries:
            named, value = _trees(entry)
            key = self._key(named)
            found[key], mark.parts[key] = self.value(value, entry.meta.start_pos)
        return found, mark

    def _key(self, tree: Any) -> str:
        """The key of a map. raises: DocumentError, for one that is computed"""
        inner = _trees(tree)
        if tree.data in ("identifier", "int_lit", "literal_value"):
            return str(tree.children[0])
        if tree.data == "string":
            return str(self._scalar(tree))
        if len(inner) != 1 or len(tree.children) != 1:
            raise self._computed(tree)
        return self._key(inner[0])

    def _scalar(self, tree: Any) -> Any:
        word = str(tree.children[0]) if tree.children else ""
        match tree.data:
            case "int_lit" | "float_lit" if math.isfinite(float(word)):
                return int(word) if word.isdigit() else float(word)
            case "literal_value":
                return _LITERALS[word]
            case "unary_op" if word.strip() == "-":
                operand = self.value(_trees(tree)[0], tree.meta.start_pos)[0]
                if type(operand) in (int, float):
                    return -operand
            case "string":
                return "".join(self._parts(tree))
            case "heredoc_template" | "heredoc_template_trim":
                content = "".join(word.rstrip().splitlines(keepends=True)[1:-1])
                if not _COMPUTED.search(content):
                    content = dedent(content) if tree.data == "heredoc_template_trim" else content
                    return _DOLLARS.sub(lambda sign: sign[1] or sign[2], content)
        raise self._computed(tree)

    def _parts(self, tree: Any) -> Iterator[str]:
        for part in _trees(tree):
            if _trees(part):
                raise self._computed(part)
            yield _ESCAPE.sub(_escaped, "".join(map(str, part.children)))

    def _computed(self, tree: Any) -> DocumentError:
        hint = "write the value itself: Terraform refuses variables here, and nodeattrs computes no expression"
        return self.text.error("is no literal", tree.meta.start_pos, hint=hint)


def _escaped(found: re.Match[str]) -> str:
    short, long, sign, dollar, percent = found.groups()
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]
    return dollar or percent or _SIGNS.get(sign, sign)

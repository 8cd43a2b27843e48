"""Python sources: where a literal in a statement says a path.

Code that runs knows its line, but a map written over twenty lines is one statement.
This module finds the line inside it. It parses and never runs; what is computed has
no line of its own, so the deepest place that is certain is the answer.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from nodeattrs.core.tree import Path

_WRAPPERS = {"Sensitive", "dict", "list", "tuple"}
"""Calls whose value has the paths of their argument."""

_TAKES_SEVERAL = {"insert": 1, "push": 0, "tag": 0, "unshift": 0}
"""Calls that take many values, and how many other arguments come first."""

_LINE_BREAK = re.compile("\r\n|\r|\n")


class _Part(NamedTuple):
    """An entry of a literal: the node that names it, if any, and its value."""

    name: ast.expr | ast.keyword | None
    value: ast.expr


class PythonText:
    """A Python source, parsed when first asked.

    >>> text = PythonText("attributes/default.py", "default['web'] = {\\n  'port': 80,\\n  'modules': ['ssl'],\\n}\\n")
    >>> text.place(1, ("modules", 0))
    (3, 15)
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def place(self, line: int, path: Path) -> tuple[int, int | None]:
        """The line and column where the statement that covers *line* says *path*.

        The path counts from the statement's value: what is assigned, or the last
        positional argument of a call, its keyword arguments laid over it. A scalar
        has the place of its key, or its own where that is on a later line. What the
        literal does not say has the place of the deepest parent that it says; where
        there is none, or the text does not parse, *line* itself without a column.

        cost: the first time the parser's, then one step a level
        """
        deepest, found = -1, None
        for statement in self._statements.get(line, ()):
            depth, node = _search(statement, path)
            if node is not None and depth > deepest:
                deepest, found = depth, node
        return (line, None) if found is None else (found.lineno, self._column(found))

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_BREAK.split(self.text)

    @cached_property
    def _statements(self) -> dict[int, list[ast.stmt]]:
        """The statements that may say a value, by each line that they cover. They never hold one another."""
        statements: dict[int, list[ast.stmt]] = defaultdict(list)
        try:
            tree = ast.parse(self.text, self.file)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return statements
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    statements[line].append(node)
        return statements

    def _column(self, node: ast.expr | ast.keyword) -> int:
        # The parser counts bytes, people count characters.
        before = self._lines[node.lineno - 1].encode("utf-8")[: node.col_offset]
        return len(before.decode("utf-8", "replace")) + 1


def _search(statement: ast.stmt, path: Path) -> tuple[int, ast.expr | ast.keyword | None]:
    """How many steps of *path* the statement says, and the node that stands for the last of them."""
    value = _value(statement)
    if value is None:
        return 0, None
    if not path:
        last = _last_argument(value) if isinstance(value, ast.Call) else value
        later = isinstance(last, ast.Constant) and last.lineno > statement.lineno
        return 0, last if later else None
    node: ast.expr | ast.keyword | None = None
    for depth, step in enumerate(path):
        part = _part(value, step, any_call=not depth and isinstance(statement, ast.Expr))
        if part is None:
            return depth, node
        value = part.value
        node = part.name if part.name is not None and not _is_later_scalar(part) else value
    return len(path), node


def _value(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and any(
        isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets
    ):
        return None
    return getattr(statement, "value", None)


def _is_later_scalar(part: _Part) -> bool:
    assert part.name is not None
    holds = isinstance(part.value, (ast.Dict, ast.List, ast.Tuple)) or _is_wrapper(part.value)
    return not holds and part.value.lineno > part.name.lineno


def _is_wrapper(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _called(value) in _WRAPPERS


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _last_argument(call: ast.Call) -> ast.expr | None:
    """The positional argument that is the value, or None where there is none or there are many."""
    others = _TAKES_SEVERAL.get(_called(call))
    if not call.args or (others is not None and len(call.args) > others + 1):
        return None
    return call.args[-1]


def _part(value: ast.expr, step: object, any_call: bool = False) -> _Part | None:
    """What the literal *value* says at *step*, or None where it does not say it for certain."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return _element(value.elts, step)
    if isinstance(value, ast.Dict):
        return _entry(list(zip(value.keys, value.values, strict=True)), step)
    if isinstance(value, ast.Call) and (any_call or _is_wrapper(value)):
        # f({...}, a=1) reads as {**{...}, "a": 1}.
        last = _last_argument(value)
        spread: list[tuple[ast.expr | ast.keyword | None, ast.expr]] = [] if last is None else [(None, last)]
        return _entry(spread + [(word if word.arg else None, word.value) for word in value.keywords], step)
    return None


def _element(elements: list[ast.expr], step: object) -> _Part | None:
    if type(step) is not int or not 0 <= step < len(elements):
        return None
    if any(isinstance(element, ast.Starred) for element in elements[: step + 1]):
        return None
    return _Part(None, elements[step])


def _entry(entries: Sequence[tuple[ast.expr | ast.keyword | None, ast.expr]], step: object) -> _Part | None:
    # From the end, since the last one counts; what is spread (`**more`) may say anything, unless we can read it.
    for name, value in reversed(entries):
        if name is None:
            part = _part(value, step)
            if part is not None or not _says_all(value):
                return part
        elif isinstance(name, ast.keyword):
            if name.arg == step:
                return _Part(name, value)
        elif isinstance(name, ast.Constant) and type(name.value) is type(step) and name.value == step:
            return _Part(name, value)
    return None


def _says_all(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys)

"""Places in Python sources: the line of a path inside the literal of a statement.

A running program knows the line of a statement, but one statement may set a map of twenty lines. This module finds the
line inside the statement. It parses the source and never runs it. For a computed value it gives the deepest place that
is certain.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from nodeattrs.core.tree import Path
from nodeattrs.formats.blobs import blob_name

_WRAPPERS = {"Sensitive", "dict", "list", "tuple"}
"""Calls whose value has the paths of their argument."""

_TAKES_SEVERAL = {"insert": 1, "push": 0, "tag": 0, "unshift": 0}
"""Calls that take many values, and how many other arguments come first."""

_LINE_BREAK = re.compile("\r\n|\r|\n")


Span = tuple[int, int | None, int | None, int | None]
"""Place of an expression: first and last line, first column and the one behind the last.

As `co_positions` of a code object has them: lines count from 1, columns in bytes from 0; None where it knows none.
"""


class _Part(NamedTuple):
    """An entry of a literal: the node that names it, if any, and its value."""

    name: ast.expr | ast.keyword | None
    value: ast.expr


class _Setting(NamedTuple):
    """An expression that sets a value: the target of an assignment, a call, or an assignment such as `+=`.

    value: the expression of the value; for a call the call itself. None if the value is not written there
    """

    node: ast.stmt | ast.expr
    value: ast.expr | None


class PythonText:
    """A Python source, to find the line of a value in it. It is parsed when a method first needs that, and never run.

    file: its name in messages; the file is not read
    text: the source. If it does not parse, `tree` is an empty module, and `place` returns its argument *line*

    `place` gives the line of a part of the literal that a statement sets. `has_places_below` says whether an entry of a
    value may have another place than the value. `setting` gives the syntax nodes of a statement and its value, or None.
    `column` turns an offset in bytes into a column. `digest` is the id of the text as a Git blob.

    >>> text = PythonText("attributes/default.py", "default['web'] = {\\n  'port': 80,\\n  'modules': ['ssl'],\\n}\\n")
    >>> text.place(1, ("modules", 0))
    (3, 15)
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    @cached_property
    def digest(self) -> str:
        """The id of the Git blob with this text."""
        return blob_name(self.text.encode("utf-8", "surrogatepass"))

    def place(self, line: int, path: Path, span: Span | None = None) -> tuple[int, int | None]:
        """The line and column of *path* in the literal that a statement sets. It never fails.

        A scalar has the place of its key, or its own if it is on a later line. A path that the literal does not contain
        has the place of the nearest path above that it contains. If there is none, or the source does not parse, the
        line is *line*.
        The column is then that of the expression at *span*; without a span it is None.

        line: any line of the statement
        path: a path in the value that is assigned. For a call, a path in its last positional argument, with the keyword
              arguments merged over it
        span: the place of the expression that sets the value, to choose between several on one line; None if it is not
              known
        """
        if span is None or span[2] is None or line > len(self._lines):
            return self._by_line(line, path)
        setting = self._settings.get(span)
        node = None if setting is None else _search(setting, path)[1]
        if node is not None:
            return node.lineno, self.column(node.lineno, node.col_offset)
        own = None if setting is None else _own_value(setting)
        return line, self.column(line, own.col_offset if own is not None and own.lineno == line else span[2])

    def has_places_below(self, line: int, path: Path, span: Span) -> bool:
        """Whether entries of the value at *path* may have other places than the value: for a literal map or list, or a
        call.

        Also True if *span* has no columns, or *line* is after the end of the source.

        line, path, span: as for `place`
        """
        if span[2] is None or line > len(self._lines):
            return True
        node, value = self._settings.get(span, (None, None))
        for depth, step in enumerate(path):
            part = None if value is None else _part(value, step, any_call=isinstance(node, ast.Call) and not depth)
            value = None if part is None else part.value
        return isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.Call))

    def setting(self, line: int, span: Span | None = None) -> tuple[ast.AST, ast.AST | None] | None:
        """The expression that sets a value at a place, and the expression of the value; None where neither is found.

        The second one is None for a value that is not written there. Without a span: the last statement on the line.
        """
        if span is not None:
            return self._settings.get(span)
        return next(reversed(self._statements.get(line, ())), None)

    def _by_line(self, line: int, path: Path) -> tuple[int, int | None]:
        deepest, found = -1, None
        for setting in self._statements.get(line, ()):
            depth, node = _search(setting, path)
            if node is not None and depth > deepest:
                deepest, found = depth, node
        return (line, None) if found is None else (found.lineno, self.column(found.lineno, found.col_offset))

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_BREAK.split(self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty module where the source does not parse."""
        try:
            return ast.parse(self.text, self.file)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def _statements(self) -> dict[int, list[_Setting]]:
        """Line -> the statements on it that may set a value. None of them contains another one."""
        statements: dict[int, list[_Setting]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    statements[line].append(_Setting(node, _value(node)))
        return statements

    @cached_property
    def _settings(self) -> dict[Span, _Setting]:
        """Span -> the expression there, where it may set a value."""
        found: dict[Span, _Setting] = {}
        for node in ast.walk(self.tree):
            for setting in _settings(node):
                found |= dict.fromkeys(_spans(setting.node), setting)
        return found

    def column(self, line: int, offset: int) -> int:
        """The column of a place, in characters from 1. offset: as the parser counts, in bytes from 0"""
        before = self._lines[line - 1].encode("utf-8")[:offset]
        return len(before.decode("utf-8", "replace")) + 1


def _settings(node: ast.AST) -> Iterator[_Setting]:
    """The expressions of a node that set a value; nothing for a node that is no call and no assignment."""
    if isinstance(node, ast.Call):
        yield _Setting(node, node)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)
    elif isinstance(node, ast.AnnAssign):
        yield _Setting(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield _Setting(node.target, node.value)
        yield _Setting(node, node.value)


def _assigned(target: ast.expr, value: ast.expr | None) -> Iterator[_Setting]:
    """Yield each target with its value. `a, b = 1, {...}` gives two; the targets of `a, b = f()` have no value."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield _Setting(target, value)
        return
    values: Sequence[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        starred = any(isinstance(one, ast.Starred) for one in [*target.elts, *value.elts])
        values = values if starred else value.elts
    for inner, part in zip(target.elts, values, strict=True):
        yield from _assigned(inner, part)


def _spans(node: ast.stmt | ast.expr) -> Iterator[Span]:
    """Yield the spans that the compiler may note for a node. The span of a method may begin at its name."""
    yield node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    named = node.func if isinstance(node, ast.Call) else node
    if isinstance(named, ast.Attribute) and named.end_lineno != named.value.end_lineno:
        start = (named.end_col_offset or 0) - len(named.attr.encode("utf-8"))
        yield named.end_lineno or named.lineno, node.end_lineno, start, node.end_col_offset


def _own_value(setting: _Setting) -> ast.expr | None:
    return _last_argument(setting.node) if isinstance(setting.node, ast.Call) else setting.value


def _search(setting: _Setting, path: Path) -> tuple[int, ast.expr | ast.keyword | None]:
    """(number of steps of *path* that are written in the statement, node of the last one or None)."""
    node, value = setting
    is_call = isinstance(node, (ast.Expr, ast.Call))  # what other calls make of their argument is not known
    if value is None:
        return 0, None
    if not path:
        last = _last_argument(value) if isinstance(value, ast.Call) else value
        later = isinstance(last, ast.Constant) and last.lineno > node.lineno
        return 0, last if later else None
    found: ast.expr | ast.keyword | None = None
    for depth, step in enumerate(path):
        part = _part(value, step, any_call=is_call and not depth)
        if part is None:
            return depth, found
        value = part.value
        found = part.name if part.name is not None and not _is_later_scalar(part) else value
    return len(path), found


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
    """The positional argument that is the value; None without an argument, and for several values."""
    others = _TAKES_SEVERAL.get(_called(call))
    if not call.args or (others is not None and len(call.args) > others + 1):
        return None
    return call.args[-1]


def _part(value: ast.expr, step: object, any_call: bool = False) -> _Part | None:
    """The entry of a literal at *step*; None if the literal does not have it for certain."""
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
            if part is not None or not _sets_all(value):
                return part
        elif isinstance(name, ast.keyword):
            if name.arg == step:
                return _Part(name, value)
        elif isinstance(name, ast.Constant) and type(name.value) is type(step) and name.value == step:
            return _Part(name, value)
    return None


def _sets_all(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys)

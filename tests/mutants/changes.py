"""What can be changed in a source text: one thing at a time, so that it still parses and means something else.

Knows Python's syntax and nothing of tests. What stands outside functions, in annotations, in `__repr__` and in
f-strings (whose places Python 3.11 does not know) is left alone.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
UNTOUCHED = ("annotation", "returns", "decorator_list", "type_comment")
"""The fields of the syntax that are no behaviour."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one file.

    file:     relative to the checkout
    line:     where it begins, from 1
    function: the nearest one with a name, as `__qualname__` has it
    before:   the lines it is in, as one
    after:    the same lines, changed
    cached:   whether the function keeps its answers, so that only the first who asks runs it
    pieces:   the file before, instead of, and behind what is changed
    """

    file: str
    line: int
    function: str
    before: str
    after: str
    cached: bool = False
    pieces: tuple[bytes, bytes, bytes] = dataclasses.field(default=(b"", b"", b""), repr=False)

    @property
    def source(self) -> str:
        """The whole file, changed."""
        return b"".join(self.pieces).decode()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is whatever the line."""
        return self.file, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}\n    - {self.before}\n    + {self.after}"


def mutants(file: str, source: str) -> list[Mutant]:
    """All changes of one source text, in the order of its lines."""
    text = _Text(file, source)
    found = [
        text.mutant(function, cached, piece, new)
        for function, node, cached in _inside(ast.parse(source))
        for piece, new in _changed(node)
    ]
    return sorted(found, key=lambda one: one.line)


def _inside(
    tree: ast.AST, function: str = "", prefix: str = "", cached: bool = False
) -> Iterator[tuple[str, ast.AST, bool]]:
    """Every piece of syntax in a function, with its name."""
    for name, value in ast.iter_fields(tree):
        if name in UNTOUCHED or isinstance(tree, ast.JoinedStr):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _is_type(node):
                continue
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                is_function = isinstance(node, FUNCTIONS)
                if node.name == "__repr__":
                    continue
                qualified = prefix + node.name
                yield from _inside(
                    node,
                    qualified if is_function else function,
                    f"{qualified}.<locals>." if is_function else f"{qualified}.",
                    is_function and any("cache" in ast.unparse(one) for one in node.decorator_list),
                )
                continue
            if function:
                yield function, node, cached
            yield from _inside(node, function, prefix, cached)


def _is_type(node: ast.AST) -> bool:
    """`cast(A | B, …)`, `isinstance(…, A | B)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("cast", "TypeVar")


def _changed(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """A piece at or below *node*, and what may stand there instead."""
    for new in CHANGES.get(type(node), lambda _: iter(()))(node):
        yield node, new
    for condition in _conditions(node):
        if not isinstance(condition, (ast.Compare, ast.UnaryOp, ast.Constant)):
            yield condition, f"(not ({ast.unparse(condition)}))"


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _text(node: ast.AST, **fields: object) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    text = ast.unparse(changed)
    return f"({text})" if isinstance(node, ast.expr) else text


def _compare(node: ast.Compare) -> Iterator[str]:
    if len(node.ops) == 1 and type(node.ops[0]) in FLIPPED:
        yield _text(node, ops=[FLIPPED[type(node.ops[0])]()])


def _bool_op(node: ast.BoolOp) -> Iterator[str]:
    yield _text(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _not(node: ast.UnaryOp) -> Iterator[str]:
    if isinstance(node.op, ast.Not):
        yield f"({ast.unparse(node.operand)})"


def _operator(node: ast.BinOp) -> Iterator[str]:
    are_words = any(isinstance(side, (ast.JoinedStr, ast.Constant)) for side in (node.left, node.right))
    if type(node.op) in SWAPPED and not (are_words and not isinstance(getattr(node.right, "value", None), int)):
        yield _text(node, op=SWAPPED[type(node.op)]())


def _branches(node: ast.IfExp) -> Iterator[str]:
    yield _text(node, body=node.orelse, orelse=node.body)


def _constant(node: ast.Constant) -> Iterator[str]:
    if isinstance(node.value, bool):
        yield str(not node.value)
    elif isinstance(node.value, int):
        yield str(node.value + 1)


def _gone(node: ast.AST) -> Iterator[str]:
    yield "pass"


def _call(node: ast.Expr) -> Iterator[str]:
    if isinstance(node.value, ast.Call):
        yield "pass"


def _assignment(node: ast.Assign) -> Iterator[str]:
    if isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
        yield "pass"


def _return(node: ast.Return) -> Iterator[str]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and not node.value.value):
        yield "return None"


CHANGES: dict[type[ast.AST], Callable[..., Iterator[str]]] = {
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _not,
    ast.BinOp: _operator,
    ast.IfExp: _branches,
    ast.Constant: _constant,
    ast.Expr: _call,
    ast.Assign: _assignment,
    ast.AugAssign: _gone,
    ast.Delete: _gone,
    ast.Raise: _gone,
    ast.Return: _return,
    ast.Continue: lambda _: iter(("break",)),
    ast.Break: lambda _: iter(("continue",)),
}
"""Kind of syntax -> what may stand there instead. A condition that none of them changes is negated."""


class _Text:
    """A source text whose pieces are replaced by their places."""

    def __init__(self, file: str, source: str) -> None:
        self._file = file
        self._raw = source.encode()
        self._starts = [0]
        for line in self._raw.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def mutant(self, function: str, cached: bool, node: Any, new: str) -> Mutant:
        """With *new* instead of a piece."""
        top, bottom = self._starts[node.lineno - 1], self._starts[node.end_lineno]
        start, end = top + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset
        before, after = self._raw[top:bottom], self._raw[top:start] + new.encode() + self._raw[end:bottom]
        pieces = self._raw[:start], new.encode(), self._raw[end:]
        return Mutant(self._file, node.lineno, function, _line(before), _line(after), cached, pieces)


def _line(raw: bytes) -> str:
    return " ".join(raw.decode().split())

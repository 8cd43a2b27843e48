"""The statements of a source: most of a syntax tree are expressions, and what only looks for statements skips them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a module or a statement, with those in their blocks, from the first line to the last."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for one in getattr(tree, block, ()):
            if isinstance(one, ast.stmt):
                yield one
            yield from statements(one)

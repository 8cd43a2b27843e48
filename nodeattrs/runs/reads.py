"""Which attributes and lookups a line of a recipe read, from its source.

Follows the names that the line uses to where they were assigned, in the same file. It runs
nothing: a step that is computed ends the path, so what is named was certainly read, and what was
read in other files is not named.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nodeattrs.core.tree import Path, spell

_READERS = ("read", "read_strict", "dig", "walk", "exist")
_LOOKUPS = ("lookup", "inject", "data_bag_item", "search")
_MOST, _MOST_NODES = 200, 10_000


def reads_of(text: str, line: int) -> tuple[str, ...]:
    """What the statement that covers *line* reads: paths as they are spelled, and lookups such as `lookup(key)`.

    >>> reads_of("web = node['apache2']\\nfile('/x', content=web['dir'] + lookup('motd'))\\n", 2)
    ('apache2.dir', 'lookup(motd)')
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    reader = _Reader(tree)
    statement = _statement(tree, line)
    if statement is None:
        return ()
    reader.read(statement)
    return tuple(dict.fromkeys(reader.found))


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    covering = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(covering, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.found: list[str] = []
        self._meaning: dict[str, list[ast.AST]] = {}
        self._been: set[int] = set()
        for node in ast.walk(tree):
            for name, value in _assigned(node):
                self._meaning.setdefault(name, []).append(value)

    def read(self, node: ast.AST) -> None:
        """Note what an expression, or a statement, reads."""
        if id(node) in self._been or len(self._been) > _MOST_NODES:
            return
        self._been.add(id(node))
        path = self._path(node)
        if path:
            # As far as it goes: the expressions inside of it are steps on the way.
            self.found.append(spell(path))
            for slice_ in _computed_steps(node):
                self.read(slice_)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKUPS:
            keys = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            self.found.append(f"{node.func.id}({', '.join(keys)})")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "parameters":
            targets = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            self.found += [f"parameters({target}::{one.arg})" for target in targets for one in node.keywords if one.arg]
        if isinstance(node, ast.Name):
            for meaning in self._meaning.get(node.id, ()):
                self.read(meaning)
        for inner in ast.iter_child_nodes(node):
            self.read(inner)

    def _path(self, node: ast.AST) -> Path | None:
        """The path an expression reads, as far as it is written out; None where it is no attribute."""
        steps, _ = self._steps(node, 0)
        return steps

    def _steps(self, node: ast.AST, depth: int) -> tuple[Path | None, bool]:
        """The path, and whether it goes on: a step that is computed ends it."""
        if depth > _MOST:
            return None, False
        if isinstance(node, ast.Name):
            if node.id == "node":
                return (), True
            meanings = self._meaning.get(node.id, ())
            return self._steps(meanings[0], depth + 1) if len(meanings) == 1 else (None, False)
        if isinstance(node, ast.Subscript):
            return self._further(node.value, [node.slice], depth)
        if _is_reader(node) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._further(node.func.value, node.args, depth)
        return None, False

    def _further(self, node: ast.AST, steps: list[ast.expr], depth: int) -> tuple[Path | None, bool]:
        above, goes_on = self._steps(node, depth + 1)
        if above is None or not goes_on:
            return above, False
        for step in steps:
            if not isinstance(step, ast.Constant) or not isinstance(step.value, (str, int)):
                return above, False
            above = (*above, step.value)
        return above, True


def _is_reader(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS


def _computed_steps(node: ast.AST) -> Iterator[ast.AST]:
    """The steps of a path that are not written out: what they are made of was read too."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript):
            yield node.slice
            node = node.value
        else:
            yield from node.args
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.func


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    elif isinstance(node, (ast.For, ast.comprehension)):
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name):
                yield name.id, _Elements(node.iter)
    elif isinstance(node, ast.FunctionDef):
        yield node.name, node


class _Elements(ast.Starred):
    """What a loop runs over: read, and no path of its own."""

    def __init__(self, value: ast.expr) -> None:
        super().__init__(value=value, ctx=ast.Load())

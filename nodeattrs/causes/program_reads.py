"""Find the attributes of a node that a line of a Python source reads; nothing runs.

The names that a line uses are followed to their bindings in the same file. A path ends before a computed step, so each
path that is found was certainly read. Reads in other files are not found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nodeattrs.causes.scopes import EACH, Scopes, slices_of
from nodeattrs.core.tree import Path, spell

_READERS = ("read", "read_strict", "dig", "walk", "exist")
_LOOKUPS = ("lookup", "inject", "data_bag_item", "search")
_MOST, _MOST_NODES = 200, 10_000


def reads_of(text: str, line: int) -> tuple[str, ...]:
    """The attributes and lookups that the innermost statement at *line* reads: spelled paths, and `lookup(key)`.

    A statement includes its body: at the line of an `if`, what the body reads is found, too. Names are followed to
    their values. Each path is given once, in the order of the text. () for a line without a statement, for a statement
    that reads nothing, and for a text that is not Python. After 10,000 nodes of syntax no more is found.

    >>> reads_of("web = node['apache2']\\nfile('/x', content=web['dir'] + lookup('motd'))\\n", 2)
    ('apache2.dir', 'lookup(motd)')
    """
    statements, scopes = _parsed(text)
    if line not in statements:
        return ()
    reader = _Reader(scopes)
    reader.read(statements[line])
    return tuple(dict.fromkeys(reader.found))


def conditions_of(text: str, line: int) -> tuple[str, ...]:
    """The attributes and lookups that decide whether the statement at *line* runs: spelled paths, and `lookup(key)`.

    They are read by the conditions, cases and loops around the statement, and by earlier statements of the same `try`.
    At the line of an `if` or a loop, its own condition is among them. An earlier condition counts, too, if its
    `return`, `break` or `continue` may skip the statement. () for none, and for a text that is not Python.

    >>> conditions_of("if node['web']:\\n    node.default['a'] = 1\\n", 2)
    ('web',)
    """
    statements, scopes = _parsed(text)
    reader = _Reader(scopes)
    every = [*dict.fromkeys(statements.values())]
    lines = [line, *(one.lineno for one in every if isinstance(one, _LEAVING) and _may_skip(one, line, every))]
    for node in every:
        for one in lines:
            for part in _decided_by(node, one) if _holds(node, one) else ():
                reader.read(part)
    return tuple(dict.fromkeys(reader.found))


_LEAVING = (ast.Return, ast.Break, ast.Continue)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _may_skip(leaving: ast.stmt, line: int, every: Sequence[ast.stmt]) -> bool:
    """Whether a return, break or continue before *line* leaves a function or loop around *line*."""
    kind = _FUNCTIONS if isinstance(leaving, ast.Return) else _LOOPS
    around = [node for node in every if isinstance(node, kind) and _holds(node, leaving.lineno)]
    return leaving.lineno < line and bool(around) and _holds(max(around, key=lambda node: node.lineno), line)


def _decided_by(node: ast.stmt, line: int) -> Sequence[ast.AST]:
    """The parts of a statement that decide whether, or how often, the statement inside of it at *line* runs."""
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.iter]
    if isinstance(node, ast.Match):
        return [node.subject, *(case.guard for case in node.cases if case.guard is not None)]
    if isinstance(node, (ast.Try, ast.TryStar)) and not any(_holds(one, line) for one in node.finalbody):
        return [one for one in node.body if (one.end_lineno or one.lineno) < line]
    return []


@lru_cache(maxsize=32)
def _parsed(text: str) -> tuple[dict[int, ast.stmt], Scopes]:
    """(line -> its innermost statement, the scopes) of a source. Cached: each resource of a recipe asks for it."""
    try:
        tree = ast.parse(text)
        return _by_line([node for node in ast.walk(tree) if isinstance(node, ast.stmt)]), Scopes(tree)
    except (SyntaxError, ValueError, RecursionError):
        return {}, Scopes(ast.Module([], []))


def _by_line(statements: list[ast.stmt]) -> dict[int, ast.stmt]:
    # What begins later lies within what began before; of two on one line the shorter one, else the first, counts.
    inwards = [*reversed(statements)]
    inwards.sort(key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    return {line: node for node in inwards for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


class _Reader:
    def __init__(self, scopes: Scopes) -> None:
        self.found: list[str] = []
        self._scopes = scopes
        self._been: set[int] = set()

    def _values_bound_to(self, node: ast.Name) -> list[tuple[ast.AST, bool]]:
        """(value, is whole) for each binding of a name. A loop variable is an element of its value: not whole."""
        scope = self._scopes.of(node).scope_of_name(node.id)
        bound = scope.names[node.id] if scope is not None else ()
        return [(value, not steps) for value, steps in bound if steps[:1] in ((), (EACH,))]

    def read(self, node: ast.AST) -> None:
        """Note what an expression, or a statement, reads, in the order of the text."""
        ahead = [node]
        while ahead and len(self._been) <= _MOST_NODES:
            node = ahead.pop()
            if id(node) not in self._been:
                self._been.add(id(node))
                ahead += reversed(self._noted(node))

    def _noted(self, node: ast.AST) -> list[ast.AST]:
        """Note what a node itself reads; returns the nodes to visit next: meanings of a name, and inner nodes."""
        path, _ = self._steps(node, 0)
        if path:
            # As far as it goes: the expressions inside of it are steps on the way.
            self.found.append(spell(path))
            return [*_computed_steps(node)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKUPS:
            keys = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            self.found.append(f"{node.func.id}({', '.join(keys)})")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "parameters":
            targets = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            self.found += [f"parameters({target}::{one.arg})" for target in targets for one in node.keywords if one.arg]
        meanings = [meaning for meaning, _ in self._values_bound_to(node)] if isinstance(node, ast.Name) else []
        return [*meanings, *ast.iter_child_nodes(node)]

    def _steps(self, node: ast.AST, depth: int) -> tuple[Path | None, bool]:
        """(path that an expression reads, whether more steps may follow); the path is None for no attribute.

        A computed step ends the path.
        """
        if depth > _MOST:
            return None, False
        if isinstance(node, ast.Name):
            if node.id == "node":
                return (), True
            meaning, *others = self._values_bound_to(node) or [(node, False)]
            return self._steps(meaning[0], depth + 1) if meaning[1] and not others else (None, False)
        if isinstance(node, ast.Subscript):
            return self._further(node.value, slices_of(node), depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS:
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


def _computed_steps(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions of the steps of a path; what a computed step is made of is read, too."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript):
            yield from slices_of(node)
            node = node.value
        else:
            yield from node.args
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.func

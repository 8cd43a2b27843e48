"""Find the lines of a Python source that set attributes of a node, and the conditions around them; nothing runs.

Attributes are known by the names of levels, such as `default`. A computed step of a path may be any key.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from nodeattrs.causes.scopes import SOME, may_equal, name_of, parsed, slices_of, step_of
from nodeattrs.core.tree import Path

_LEVELS = ("default", "force_default", "normal", "override", "force_override")
_WORDS = frozenset(f"{level}{form}" for level in _LEVELS for form in ("", "_unless", "_full"))
_INCLUDING = ("include_attribute", "include_recipe")
_DECIDE = (ast.If, ast.For, ast.While, ast.Try, ast.Match, ast.FunctionDef, ast.IfExp)


class Write(NamedTuple):
    """A line that sets a path.

    line:  the line, from 1
    under: the line of the innermost condition, loop or function around it; None for none
    """

    line: int
    under: int | None


def writes_of(text: str, path: Path) -> Iterator[Write]:
    """Yield the lines of a Python source that set *path*, or a value above it that may contain *path*.

    It finds assignments such as `default['a'] = 1`, calls such as `default('a', 'b', 1)`, and calls of `update` on an
    attribute. It does not find `+=`, `update` on a whole level, and lines that set a value below *path*.
    A computed step in the source fits any key. A value above *path* may contain it if it is a map literal with the key,
    or a computed value; a scalar or a list literal cannot. Nothing for a text that is not Python.

    >>> list(writes_of("if x:\\n    default['a'] = {'b': 1}\\n", ("a", "b")))
    [Write(line=2, under=1)]
    """
    yield from _in(parsed(text), path, None)


def includes_of(text: str) -> Iterator[int]:
    """Yield the lines that call include_recipe or include_attribute; nothing for a text that is not Python."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Call) and name_of(node.func) in _INCLUDING:
            yield node.lineno


def first_keys(text: str) -> Iterator[tuple[object, int]]:
    """Yield (first key, line) for each place in a Python source that sets an attribute. A computed key is None.

    Places are those that `writes_of` finds. A key is yielded again for each place. Nothing is yielded for a text that
    is not Python.
    """
    for node in ast.walk(parsed(text)):
        for target, _ in _stored(node):
            if steps := _steps(target):
                yield steps[0] if isinstance(steps[0], (str, int)) else None, target.lineno


def _in(node: ast.AST, path: Path, under: int | None) -> Iterator[Write]:
    for child in ast.iter_child_nodes(node):
        inside = getattr(child, "lineno", under) if isinstance(child, _DECIDE) else under
        for target, value in _stored(child):
            steps = _steps(target)
            if steps and all(map(may_equal, steps, path)) and _sets(value, path[len(steps) :], len(steps) <= len(path)):
                yield Write(target.lineno, under)
        yield from _in(child, path, inside)


def _stored(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.Call) and name_of(node.func) == "update" and isinstance(node.func, ast.Attribute):
        yield from ((node.func.value, argument) for argument in node.args)
    elif isinstance(node, ast.Call) and len(node.args) > 1 and name_of(node.func) in _WORDS:
        target: ast.expr = node.func
        for step in node.args[:-1]:
            target = ast.copy_location(ast.Subscript(target, step, ast.Load()), node)
        yield target, node.args[-1]


def _steps(target: ast.expr) -> tuple[Any, ...]:
    """The path that is written; () for what is no attribute."""
    steps: tuple[Any, ...] = ()
    while isinstance(target, ast.Subscript):
        steps, target = (*map(step_of, slices_of(target)), *steps), target.value
    return steps if name_of(target) in _WORDS else ()


def _sets(value: ast.expr, rest: Path, reaches: bool) -> bool:
    """Whether a value has the rest of the path, or may have it since it is computed.

    reaches: the result for a value that has all of *rest*
    """
    for step in rest:
        if not isinstance(value, ast.Dict):
            return not isinstance(value, (ast.Constant, ast.List))
        keys = [None if key is None else step_of(key) for key in value.keys]
        if step not in keys:
            return SOME in keys or None in keys
        value = value.values[len(keys) - 1 - keys[::-1].index(step)]
    return reaches

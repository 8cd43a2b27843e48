"""Expressions that only put attributes of a node into a text, such as `f"{node['fqdn']}: welcome"`.

Such an expression always reads the same paths. So it gives the same text for all nodes with equal values at these
paths. `verbs.comparing` and runs of nodes then compute the text once for several nodes. Nothing runs here.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from nodeattrs.causes.scopes import parsed
from nodeattrs.core.tree import Path

_NODE, _RECIPE = "node", "nodeattrs.recipe"


class _PlainText(NamedTuple):
    """A lambda without arguments whose body only puts attributes into a text.

    written: the body as text, equal for equal expressions
    reads:   the paths that it reads
    """

    written: str
    reads: tuple[Path, ...]


def plain_text(code: CodeType) -> _PlainText | None:
    """The body of a lambda as text, with the paths that it reads.

    None if the lambda does more than put attributes into a text, or its source is not known.

    >>> plain_text((lambda: 1).__code__) is None
    True
    """
    return _of_line("".join(linecache.getlines(code.co_filename)), code.co_firstlineno)


@lru_cache(maxsize=1024)
def _of_line(text: str, line: int) -> _PlainText | None:
    tree = _parsed(text)
    found = (
        [] if tree is None else [one for one in ast.walk(tree) if isinstance(one, ast.Lambda) and one.lineno == line]
    )
    if len(found) != 1 or ast.dump(found[0].args) != ast.dump(_NO_ARGUMENTS):
        return None
    reads = _reads_of_text(found[0].body)
    return None if reads is None else _PlainText(ast.dump(found[0].body), tuple(reads))


_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.Module | None:
    """The tree of a program that binds the name `node` to nothing else; None for any other text, and an empty one."""
    tree = parsed(text)
    return tree if tree.body and not any(_binds(one, _NODE) for one in ast.walk(tree)) else None


def _binds(one: ast.AST, name: str) -> bool:
    """Whether a part of a program may give a name another meaning than Python or `nodeattrs.recipe` does."""
    if isinstance(one, ast.ImportFrom):
        names = [each for each in one.names if each.name == "*" or (each.asname or each.name) == name]
        return any(one.module != _RECIPE or each.name != name for each in names)
    if isinstance(one, ast.Import):
        return any((each.asname or each.name.partition(".")[0]) == name for each in one.names)
    if isinstance(one, ast.Name):
        return one.id == name and not isinstance(one.ctx, ast.Load)
    if isinstance(one, ast.alias):
        return False
    named = getattr(one, "name", None) == name or getattr(one, "arg", None) == name
    return named or name in getattr(one, "names", ()) or getattr(one, "rest", None) == name


def _reads_of_text(expression: ast.expr, also_length: bool = False) -> list[Path] | None:
    """The paths that an expression reads, where it only puts them into a text; else None. also_length: allow `len`"""
    found: list[Path] = []
    try:
        found.extend(_reads(expression, also_length))
    except ValueError:
        return None
    return found


def _reads(one: ast.expr, also_length: bool) -> Iterator[Path]:
    if isinstance(one, ast.JoinedStr):
        for part in one.values:
            yield from _reads(part, also_length)
    elif isinstance(one, ast.FormattedValue) and one.conversion == -1 and one.format_spec is None:
        yield from _reads(one.value, also_length)
    elif also_length and isinstance(one, ast.Call) and _is_length(one):
        yield from _reads(one.args[0], also_length)
    elif isinstance(one, ast.Subscript):
        yield (*_path(one.value), _key(one))
    elif not (isinstance(one, ast.Constant) and isinstance(one.value, str)):
        raise ValueError


def _is_length(one: ast.Call) -> bool:
    return isinstance(one.func, ast.Name) and one.func.id == "len" and len(one.args) == 1 and not one.keywords


def _path(one: ast.expr) -> Path:
    if isinstance(one, ast.Name) and one.id == _NODE:
        return ()
    if isinstance(one, ast.Subscript):
        return (*_path(one.value), _key(one))
    raise ValueError


def _key(one: ast.Subscript) -> str:
    if isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str):
        return one.slice.value
    raise ValueError


class _LogTransformer(ast.NodeTransformer):
    def visit_Expr(self, one: ast.Expr) -> ast.Expr:
        call = one.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "log" and call.args:
            text = call.args[0]
            if isinstance(text, ast.JoinedStr) and _reads_of_text(text, also_length=True) is not None:
                call.args[0] = ast.copy_location(ast.Lambda(_NO_ARGUMENTS, text), text)
        return one


@lru_cache(maxsize=256)
def with_waiting_messages(text: str) -> ast.Module | None:
    """The syntax tree of a program, with a lambda for the text of each `log(f"...")` that has only attributes in it.

    `log` then need not compute the message, and its attributes do not count as read. Results are cached: do not change
    the tree. None for a program without `log(`, and for a text that is not Python. None also for a program that binds
    the name `node`, `len` or `log` itself.
    """
    known = _parsed(text)
    if known is None or "log(" not in text:
        return None
    if any(_binds(one, name) for one in ast.walk(known) for name in ("len", "log")):
        return None
    tree = parsed(text)
    _LogTransformer().visit(tree)
    return ast.fix_missing_locations(tree)

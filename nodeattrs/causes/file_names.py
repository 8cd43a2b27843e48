"""Find the file that an expression names: `Path(__file__).parent / "data.json"`, `open(os.path.join(...))`.

Names are computed as text; no file is opened.
"""

from __future__ import annotations

import ast
import os.path
from collections.abc import Iterable

from nodeattrs.causes.flow import ParsedCode
from nodeattrs.causes.scopes import name_of

_MOST = 30
_MODULES = ("os", "path", "pathlib", "json", "yaml", "tomllib", "io", "tomli", "toml")


def file_of(code: ParsedCode, node: ast.AST) -> str | None:
    """The path of the file that an expression opens, reads or names; None if it is not constant.

    The path is computed from the source of the expression, and may be relative. The file need not exist.
    """
    return _file(code, node, 0)


def _file(code: ParsedCode, node: ast.AST, depth: int) -> str | None:
    if depth > _MOST:
        return None
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id="__file__"):
            return code.file
        case ast.Name():
            return _named_file(code, node, depth)
        case ast.JoinedStr() if all(isinstance(one, ast.Constant) for one in node.values):
            return "".join(str(getattr(one, "value", "")) for one in node.values)
        case ast.BinOp(op=ast.Div()):
            return _joined(code, [node.left, node.right], depth)
        case ast.BinOp(op=ast.Add()):
            parts = [_file(code, one, depth + 1) for one in (node.left, node.right)]
            return None if None in parts else "".join(map(str, parts))
        case ast.Attribute(attr="parent"):
            above = _file(code, node.value, depth + 1)
            return None if above is None else os.path.dirname(above)
        case ast.Subscript(value=ast.Attribute(attr="parents", value=below), slice=ast.Constant(value=int() as up)):
            return _joined(code, [below, *[ast.Constant(os.pardir)] * (up + 1)], depth)
        case ast.Call():
            return _called_file(code, node, depth)
    return None


def _named_file(code: ParsedCode, node: ast.Name, depth: int) -> str | None:
    scope = code.scopes.of(node).scope_of_name(node.id)
    found = [one for one in scope.names[node.id] if isinstance(one.value, ast.expr)] if scope is not None else []
    return _file(code, found[-1].value, depth + 1) if found and not found[-1].steps else None


def _called_file(code: ParsedCode, node: ast.Call, depth: int) -> str | None:
    name, args = name_of(node.func), node.args
    if isinstance(node.func, ast.Attribute) and name_of(node.func.value) not in _MODULES:
        return _joined(code, [node.func.value, *(args if name == "joinpath" else ())], depth)
    if name in ("join", "Path", "PurePath"):
        return _joined(code, args, depth)
    if name == "dirname" and args:
        below = _file(code, args[0], depth + 1)
        return None if below is None else os.path.dirname(below)
    return _file(code, args[0], depth + 1) if args else None


def _joined(code: ParsedCode, nodes: Iterable[ast.AST], depth: int) -> str | None:
    parts = [_file(code, one, depth + 1) for one in nodes]
    return None if None in parts or not parts else os.path.normpath(os.path.join(*map(str, parts)))

"""Trace a value through literals and operators of a Python source; `causes.flow` adds names and calls. Nothing runs.

A *source* of a value is an expression that the value is equal to, or is computed from. A path is a tuple of keys and
indexes; the constants SOME and EACH of `scopes` are steps that are not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from nodeattrs.causes.scopes import (
    EACH,
    SOME,
    Function,
    Scopes,
    may_equal,
    slices_of,
    step_of,
    with_any_index,
)
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.formats.python import PythonText

MOST_FRAMES, MOST_DEPTH = 30, 2
_MOST_VISITS, _MOST_FOUND, _MOST_KEYS, _MOST_STEPS = 4_000, 40, 12, 24


class ParsedCode:
    """A Python source that was parsed, with its scopes.

    file:   the name of the file, as its code objects have it
    text:   the PythonText, which has the source and its syntax tree
    scopes: the `Scopes` of the source, computed at the first use and kept; empty if the text is not valid Python
    """

    def __init__(self, text: PythonText) -> None:
        self.file = text.file
        self.text = text

    @cached_property
    def scopes(self) -> Scopes:
        """The scopes of the source and their names; empty where the text is no Python."""
        return Scopes(self.text.tree)


class Frame(NamedTuple):
    """A call on the way to an expression: it gives the values of the parameters of a function.

    function: the function that is called; None where it is not known
    code:     the source with the call
    call:     the call; None where it is not in a known source
    """

    function: Function | None
    code: ParsedCode
    call: ast.Call | None


Context = tuple[Frame, ...]


class SourceExpression(NamedTuple):
    """An expression that a value comes from.

    what:    the kind of expression. "literal": a constant. "attribute": an attribute of a node is read. "document": a
             call reads a document. "lookup": a call looks up a key. "function": a function or class is the value
    code:    the source that has the expression
    node:    the syntax node of the literal, the attribute, the call or the definition
    path:    the path of the attribute, or the path in the document; () for a literal. A computed step is SOME
    exact:   True: the value is equal to the expression; False: the value is computed from it
    context: the calls through which the expression was reached, innermost first
    """

    what: str
    code: ParsedCode
    node: ast.expr
    path: tuple[Any, ...]
    exact: bool
    context: Context


class ExpressionTracer:
    """Finds the expressions that one value comes from, in literals and operators. `Flow` adds names and calls.

    Call `sources(code, start, path)` on a new object for each value. If it finds sources that are equal to the value,
    it returns only these; otherwise, it returns the sources that the value is computed from. It returns at most 40
    sources, and [] if it finds none. An object remembers the syntax nodes it has visited and limits their number. At
    the limit, the search stops without an error.

    value:   the value to trace. ABSENT: the value is not known, and sources of any value are returned
    imports: called with (module name, importing file), returns the ParsedCode of the module; None for an unknown
             module. By default no module is known
    depth:   how many other traces this one is part of; 0 for a trace by itself. Deep traces look for less
    """

    def __init__(
        self, value: Any, imports: Callable[[str, str], ParsedCode | None] = lambda name, file: None, depth: int = 0
    ) -> None:
        self._value = value
        self._imports = imports
        self._depth = depth
        self._functions = False
        self._codes: dict[str, ParsedCode] = {}
        self._defined_by: dict[tuple[Any, ...], list[tuple[ParsedCode, ast.AST]]] = {}
        self._left = [_MOST_VISITS]
        self._been: dict[tuple[Any, ...], ast.AST] = {}  # nodes are kept, so that no other one gets their identity
        self._code: ParsedCode
        self._context: Context
        self._exact = True

    def _further(self) -> ExpressionTracer:
        """A new tracer for another expression on the way, which counts its visits for this one."""
        asked = type(self)(ABSENT, self._imports, self._depth + 1)
        asked._left, asked._codes, asked._defined_by = self._left, self._codes, self._defined_by
        return asked

    def sources(
        self, code: ParsedCode, start: ast.AST, path: Path, context: Context = (), stores: bool = False
    ) -> list[SourceExpression]:
        """The expressions that the value of *start*, or its part at *path*, comes from; [] if none is found.

        If some are exact, only these are returned. There are at most 40, each once. Nested too deeply for Python, it is
        [].

        code:    the source that has *start*
        start:   the syntax node to begin at: an expression, or a call
        path:    the path of the part; () for the whole value
        context: the calls that led to the expression, innermost first
        stores:  True: *start* is a call that stores its arguments, and these are traced instead of its result
        """
        self._codes |= {one.file: one for one in (code, *(frame.code for frame in context))}
        asked = self._stored(start, path) if stores and isinstance(start, ast.Call) else self._of(start, path)
        try:
            found = list(self._in(code, context, asked))[:_MOST_FOUND]
        except RecursionError:  # expressions nested too deeply to be written by hand
            return []
        certain = [one for one in found if one.exact]
        return list(dict.fromkeys(certain or found))

    def _in(
        self, code: ParsedCode, context: Context, found: Iterable[SourceExpression], exact: bool = True
    ) -> Iterator[SourceExpression]:
        """Yield from *found*, while this tracer is in another source, under other calls. exact: False: computed"""
        after = iter(found)
        while True:
            before = getattr(self, "_code", code), getattr(self, "_context", context), self._exact
            self._code, self._context, self._exact = code, context, before[2] and exact
            try:
                one = next(after, None)
            finally:
                self._code, self._context, self._exact = before
            if one is None:
                return
            yield one

    def _stored(self, node: ast.Call, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        for keyword in node.keywords:
            if keyword.arg is None or (path and keyword.arg == path[0]):
                yield from self._of(keyword.value, path if keyword.arg is None else path[1:])
        for argument in reversed(node.args):
            found = list(self._of(argument, path))
            yield from found
            if any(one.exact for one in found):
                return

    def _of(self, node: ast.AST, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        key = (id(node), path, tuple(map(id, (one.call for one in self._context))), self._exact)
        if key in self._been or not self._left[0] or len(path) > _MOST_STEPS:
            return
        self._left[0] -= 1
        self._been[key] = node
        yield from getattr(self, f"_{type(node).__name__}", self._other)(node, path)

    def _found(self, what: str, node: Any, path: tuple[Any, ...] = ()) -> SourceExpression:
        return SourceExpression(what, self._code, node, path, self._exact, self._context)

    def _computed(self, nodes: Iterable[ast.AST]) -> Iterator[SourceExpression]:
        for node in nodes:
            yield from self._in(self._code, self._context, self._of(node, ()), exact=False)

    def _other(self, node: ast.AST, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """The sources of any other expression, whose value is computed from its parts."""
        if isinstance(node, ast.expr):
            yield from self._computed(one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))

    # Literals

    def _Constant(self, node: ast.Constant, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        same = self._value is ABSENT or not self._exact or str(node.value) == str(self._value)
        if not path and same:
            yield self._found("literal", node)

    def _JoinedStr(self, node: ast.JoinedStr, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._computed(one.value for one in node.values if isinstance(one, ast.FormattedValue))

    def _Dict(self, node: ast.Dict, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path:
            yield from self._whole(node, [*node.keys, *node.values])
            return
        for key, value in reversed(list(zip(node.keys, node.values, strict=True))):
            if key is None:
                yield from self._of(value, path)
            elif path[0] is EACH:
                yield from self._of(key, path[1:])
            elif may_equal(step_of(key), path[0]):
                found = list(self._of(value, path[1:]))
                yield from found
                if found and step_of(key) == path[0]:
                    return  # the last one counts

    def _elements(self, node: ast.List | ast.Tuple | ast.Set, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path:
            yield from self._whole(node, node.elts)
            return
        starred = any(isinstance(one, ast.Starred) for one in node.elts)
        for index, one in enumerate(node.elts):
            if isinstance(one, ast.Starred):
                yield from self._of(one.value, (EACH, *path[1:]))
            elif isinstance(path[0], str):
                yield from self._of(one, (1, *path[1:]))  # pairs of which a map is made
            elif starred or path[0] in (EACH, SOME, index) or index == len(node.elts):
                yield from self._of(one, path[1:])

    _List = _Tuple = _Set = _elements

    def _whole(self, node: ast.expr, parts: Iterable[ast.AST | None]) -> Iterator[SourceExpression]:
        """A map or list literal as a source; where a value is computed from it, its parts."""
        if not self._exact:
            yield from self._computed(one for one in parts if one is not None)
        elif self._value is ABSENT or isinstance(self._value, (dict, list)):
            yield self._found("literal", node)

    # Forms that give what stands in them

    def _Starred(
        self, node: ast.Starred | ast.NamedExpr | ast.Await, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        yield from self._of(node.value, path)

    _NamedExpr = _Await = _Starred

    def _IfExp(self, node: ast.IfExp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._of(node.body, path)
        yield from self._of(node.orelse, path)

    def _BoolOp(self, node: ast.BoolOp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        for one in node.values:
            yield from self._of(one, path)

    def _BinOp(self, node: ast.BinOp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path and not isinstance(self._value, (dict, list)):
            yield from self._computed((node.left, node.right))
            return
        for one in (node.right, node.left):
            yield from self._of(one, with_any_index(path))

    def _ListComp(self, node: ast.ListComp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._of(node.elt, path[1:])

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._of(node.key if path[:1] == (EACH,) else node.value, path[1:])

    def _Subscript(self, node: ast.Subscript, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if isinstance(node.slice, ast.Slice):
            yield from self._of(node.value, with_any_index(path))
            return
        for steps in product(*map(self._keys, slices_of(node))):
            yield from self._of(node.value, (*steps, *path))

    def _step(self, node: ast.expr) -> Any:
        """The value of a key; SOME where it may have several."""
        keys = self._keys(node)
        return keys[0] if len(keys) == 1 else SOME

    def _keys(self, node: ast.expr) -> list[Any]:
        """The values that a key may have: a constant, or the constants that it comes from; [SOME] for none or many."""
        step = step_of(node)
        if step is not SOME or isinstance(node, ast.UnaryOp) or self._depth >= MOST_DEPTH:
            return [step]
        asked = self._further()
        found = {
            one.node.value
            for one in asked.sources(self._code, node, (), self._context)
            if one.exact and isinstance(one.node, ast.Constant) and isinstance(one.node.value, (str, int))
        }
        return sorted(found, key=str) if 0 < len(found) <= _MOST_KEYS else [SOME]

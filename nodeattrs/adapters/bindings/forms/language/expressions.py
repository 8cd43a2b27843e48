"""Expressions of a text: branches of its tree become the nodes of the model.

Where the entries of a value are written is looked for when somebody asks, in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from nodeattrs.adapters.bindings.forms.language.text import Text, Tree
from nodeattrs.adapters.bindings.model.expressions import (
    Assign,
    Blocked,
    Branch,
    Call,
    HashOf,
    Index,
    Interpolated,
    Lambda,
    ListOf,
    Literal,
    Node,
    Not,
    Operation,
    Variable,
    plain,
)
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.producers import Ref
from nodeattrs.adapters.bindings.model.values import pattern_of
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path

_ESCAPED, _DIGITS = re.compile(r"\\(['\\])"), re.compile(r"\d+")

_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "undef": None, "default": "default"}
_MOST_DIGITS = 4000


class Expressions:
    """Reads the expressions of one text. Each method below `node` reads the branch of its name."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def node(self, tree: Tree) -> Node:
        """The expression of a branch. raises: BindingError"""
        if tree.data in _CONSTANTS:
            return Literal(_CONSTANTS[tree.data])
        read: Callable[[Tree], Node] = getattr(self, f"_{tree.data}")
        return read(tree)

    def name(self, tree: Tree) -> str:
        """A name: the text of a string, where `$` means itself."""
        node = self.node(tree)
        return node.text if isinstance(node, Interpolated) else str(plain(node))

    # --- values ------------------------------------------------------------------------------

    def _string(self, tree: Tree) -> Node:
        token = str(tree.children[0])
        inner = token[1:-1]
        if token[0] == "'":
            return Literal(_ESCAPED.sub(itemgetter(1), inner))
        return Interpolated(inner) if "$" in inner else Literal(Interpolated(inner).evaluate(str, {}))

    def _number(self, tree: Tree) -> Node:
        *sign, token = map(str, tree.children)
        number: int | float
        if len(token) > _MOST_DIGITS:
            raise self._text.error(tree, f"a number with more than {_MOST_DIGITS} digits")
        if token.lower().startswith("0x"):
            number = int(token, 16)
        elif _DIGITS.fullmatch(token):
            number = int(token)
        else:
            number = float(token)
            if number in (float("inf"), float("-inf")):
                raise self._text.error(tree, f"{token} is too large a number")
        return Literal(-number if sign else number)

    def _word(self, tree: Tree) -> Node:
        return Literal(str(tree.children[0]))

    def _variable(self, tree: Tree) -> Node:
        return Variable(str(tree.children[0])[1:])

    def _regex(self, tree: Tree) -> Node:
        return Literal(self._text.tried(pattern_of, tree, str(tree.children[0])[1:-1].replace("\\/", "/")))

    def _reference(self, tree: Tree) -> Node:
        return Literal(Ref(self._text.type(tree.children[0])).reference)

    def _list(self, tree: Tree) -> Node:
        return ListOf(tuple(map(self.node, tree.children)))

    def _hash(self, tree: Tree) -> Node:
        pairs = [(self.node(pair.children[0]), self.node(pair.children[1])) for pair in tree.children]
        for (key, _), pair in zip(pairs, tree.children, strict=True):
            if isinstance(key, (ListOf, HashOf)):
                raise self._text.error(pair, "the key of a hash is a text, a number or a boolean")
        return HashOf(tuple(pairs))

    # --- operations ----------------------------------------------------------------------------

    def _sum(self, tree: Tree) -> Node:
        left, *rest = tree.children
        result = self.node(left)
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            result = Operation(self._text.source(tree), str(sign), result, self.node(right))
        return result

    _term = _comparison = _sum

    def _chained(self, tree: Tree, sign: str) -> Node:
        first, *rest = map(self.node, tree.children)
        for right in rest:
            first = Operation(self._text.source(tree), sign, first, right)
        return first

    def _any_(self, tree: Tree) -> Node:
        return self._chained(tree, "or")

    def _all_(self, tree: Tree) -> Node:
        return self._chained(tree, "and")

    def _not_(self, tree: Tree) -> Node:
        return Not(self._text.source(tree), self.node(tree.children[0]))

    def _index(self, tree: Tree) -> Node:
        return Index(self._text.source(tree), self.node(tree.children[0]), self.node(tree.children[1]))

    def _call(self, tree: Tree) -> Node:
        name, *args = tree.children
        return Call(self._text.source(tree), str(name), tuple(map(self.node, args)))

    # --- statements ------------------------------------------------------------------------------

    def _lambda_(self, tree: Tree) -> Node:
        *parameters, body = tree.children
        return Lambda(self._text.source(tree), tuple(str(one)[1:] for one in parameters), self.node(body))

    def _block(self, tree: Tree) -> Node:
        return Blocked(self._text.source(tree), tuple(map(self.node, tree.children)))

    def _assign(self, tree: Tree) -> Node:
        name, value = tree.children
        return Assign(self._text.source(tree), str(name)[1:], self.node(value))

    def _if_(self, tree: Tree) -> Node:
        condition, then, *otherwise = map(self.node, tree.children)
        return Branch(self._text.source(tree), condition, then, otherwise[0] if otherwise else None)

    def _unless_(self, tree: Tree) -> Node:
        condition, then, *otherwise = map(self.node, tree.children)
        negated = Not(self._text.source(tree.children[0]), condition)
        return Branch(self._text.source(tree), negated, then, otherwise[0] if otherwise else None)


@dataclass(frozen=True)
class WrittenValue:
    """A value of a text as a locator: it looks for an entry when it is asked.

    origin: where the value begins
    """

    text: Text
    tree: Tree
    origin: Origin

    def at(self, path: Path) -> Origin:
        """Where an entry is written, or what holds it."""
        here = self.tree
        for step in path:
            below = _entry(Expressions(self.text), here, step)
            if below is None:
                break
            here = below
        begin = self.text.origin(here)
        return self.origin.moved(begin.line, begin.column)


def written(text: Text, tree: Tree) -> WrittenValue:
    """The locator of the value of a branch."""
    return WrittenValue(text, tree, text.origin(tree))


def _entry(expressions: Expressions, tree: Tree, step: object) -> Tree | None:
    if tree.data == "list" and isinstance(step, int) and step < len(tree.children):
        return tree.children[step]
    found = None
    for pair in tree.children if tree.data == "hash" else ():
        if _is_key(expressions, pair.children[0], step):
            found = pair.children[1]  # of one key twice the last one holds
    return found


def _is_key(expressions: Expressions, tree: Tree, step: object) -> bool:
    try:
        key = plain(expressions.node(tree))
    except BindingError:  # worked out later
        return False
    return type(key) is type(step) and key == step

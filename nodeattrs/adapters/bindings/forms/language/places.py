"""Where the entries of a value are written: looked for when somebody asks, in the text itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nodeattrs.adapters.bindings.forms.language.expressions import Expressions
from nodeattrs.adapters.bindings.forms.language.text import Text, Tree
from nodeattrs.adapters.bindings.model.expressions import plain
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """A value of a text as a locator: it knows its text, and reads that again when it is asked.

    origin: where the value begins
    """

    text: str
    origin: Origin

    def at(self, path: Path) -> Origin:
        """Where an entry is written, or what holds it. cost: one reading of the value"""
        if not path:
            return self.origin
        again = Text(self.text)
        here = again.parsed("expression").children[0]
        for step in path:
            below = _entry(Expressions(again), here, step)
            if below is None:
                break
            here = below
        return self._moved(again.origin(here))

    def _moved(self, inside: Origin) -> Origin:
        first, line, column = self.origin, inside.line or 1, inside.column or 1
        if line == 1:
            column += (first.column or 1) - 1
        return replace(first, line=(first.line or 1) + line - 1, column=column)


def written(text: Text, tree: Tree) -> WrittenValue:
    """The locator of the value of a branch."""
    return WrittenValue(text.source(tree), text.origin(tree))


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

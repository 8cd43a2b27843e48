"""On which line a cloud-config says what.

Asked only when an explanation is: reading a config does not pay for it. Aliases and merge
keys lead to where the value is really written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import yaml

from nodeattrs.adapters.cloudinit.loading import loader_for
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path

__all__ = ["Earlier", "YamlLocator"]


class Earlier(NamedTuple):
    """A step in front of a path: what the text says under a key that it writes again.

    depth: of the key on the path
    turn:  which one of its entries, the oldest first
    """

    depth: int
    turn: int


_MERGE = "tag:yaml.org,2002:merge"


class YamlLocator:
    """A YAML text that knows where it sets each value.

    text:  what it says
    first: the line of the file on which the text begins; None where its lines are not the file's
           (it was packed), and the line is that of the unpacked text
    indent: how far the text is indented in the file
    """

    def __init__(self, text: str, origin: Origin, first: int | None = 1, indent: int = 0) -> None:
        self._text = text
        self._origin = origin
        self._first = first or 1
        self._indent = indent

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self._text, Loader=loader_for(self._text))
        except (yaml.YAMLError, RecursionError):
            return None

    @cached_property
    def _constructor(self) -> Any:
        return yaml.constructor.SafeConstructor()

    def at(self, path: Path) -> Origin:
        """Where *path* is written, or else its nearest parent; an `Earlier` in front leads to what stands before."""
        node = self._root
        if node is None:
            return self._origin
        earlier, steps = (path[0], path[1:]) if path and type(path[0]) is Earlier else (None, path)
        place = node
        for depth, step in enumerate(steps):
            if earlier is not None and depth == earlier.depth:
                found: tuple[yaml.Node, yaml.Node] | None = self._again(node, step)[earlier.turn]
            else:
                found = self._step(node, step)
            if found is None:
                break
            place, node = found
        return self._place(place.start_mark.line, place.start_mark.column)

    def _place(self, line: int, column: int) -> Origin:
        return self._origin.moved(line + self._first, column + self._indent + 1)

    def earlier(self, path: Path) -> list[tuple[Earlier, Any]]:
        """What keys on the way to *path* say that the text writes again later, the oldest first."""
        found: list[tuple[Earlier, Any]] = []
        node = self._root
        for depth, step in enumerate(path):
            for turn, (_, said) in enumerate(self._again(node, step)):
                try:
                    found.append((Earlier(depth, turn), self._constructor.construct_object(said, deep=True)))
                except (yaml.YAMLError, ValueError):
                    continue
            entry = None if node is None else self._step(node, step)
            if entry is None:
                break
            node = entry[1]
        return found

    def _again(self, node: yaml.Node | None, step: Any) -> list[tuple[yaml.Node, yaml.Node]]:
        """The entries under a key that a later one of the same mapping replaces."""
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        return [pair for pair in pairs if self._says(pair[0], step)][:-1]

    def _step(self, node: yaml.Node, step: Any) -> tuple[yaml.Node, yaml.Node] | None:
        """The node to show for a step, and the node to go on with."""
        if isinstance(node, yaml.SequenceNode):
            if type(step) is int and 0 <= step < len(node.value):
                return node.value[step], node.value[step]
            return None
        if not isinstance(node, yaml.MappingNode):
            return None
        for key, value in reversed(list(_pairs(node))):
            if self._says(key, step):
                return key, value
        return None

    def _says(self, key: yaml.Node, step: Any) -> bool:
        if not isinstance(key, yaml.ScalarNode):
            return False
        try:
            said = self._constructor.construct_object(key, deep=True)
        except (yaml.YAMLError, ValueError):
            return False
        return bool(said == step)


def _pairs(node: yaml.MappingNode, depth: int = 0) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """The pairs of a mapping, weakest first: merged ones before its own."""
    own = []
    for key, value in node.value:
        if key.tag != _MERGE:
            own.append((key, value))
        elif depth < 50:
            for merged in reversed(value.value if isinstance(value, yaml.SequenceNode) else [value]):
                if isinstance(merged, yaml.MappingNode):
                    yield from _pairs(merged, depth + 1)
    yield from own

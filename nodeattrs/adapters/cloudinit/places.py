"""On which line a cloud-config says what.

Asked only when an explanation is: reading a config does not pay for it. Aliases and merge
keys lead to where the value is really written.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.adapters.cloudinit.loading import marked
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.texts.places import Mark, Text


class Earlier(NamedTuple):
    """A step in front of a path: what the text says under a key that it writes again.

    depth: of the key on the path
    turn:  which one of its entries, the oldest first
    """

    depth: int
    turn: int


class YamlLocator:
    """A YAML text that knows where it sets each value.

    text:  what it says
    first: the line of the file on which the text begins; None where its lines are not the file's
           (it was packed), and the line is that of the unpacked text
    indent: how far the text is indented in the file
    """

    def __init__(self, text: str, origin: Origin, first: int | None = 1, indent: int = 0) -> None:
        self._text = Text("", text)
        self._origin = origin
        self._first = first or 1
        self._indent = indent

    @cached_property
    def _root(self) -> Mark | None:
        try:
            return marked(self._text.text)
        except DocumentError:
            return None

    def at(self, path: Path) -> Origin:
        """Where *path* is written, or else its nearest parent; an `Earlier` in front leads to what stands before."""
        mark = self._root
        if mark is None:
            return self._origin
        earlier, steps = (path[0], path[1:]) if path and type(path[0]) is Earlier else (None, path)
        for depth, step in enumerate(steps):
            part = mark.parts.get(step)
            if part is None:
                break
            mark = part.again[earlier.turn][1] if earlier is not None and depth == earlier.depth else part
        line, column = self._text.place(mark.offset)
        return self._origin.moved(line - 1 + self._first, column + self._indent)

    def earlier(self, path: Path) -> list[tuple[Earlier, Any]]:
        """What keys on the way to *path* say that the text writes again later, the oldest first."""
        found: list[tuple[Earlier, Any]] = []
        mark = self._root
        for depth, step in enumerate(path):
            mark = mark and mark.parts.get(step)
            if mark is None:
                break
            found += [(Earlier(depth, turn), value) for turn, (value, _) in enumerate(mark.again)]
        return found

"""Small trees of tokens, drawn from tiny alphabets so that keys collide.

Every scalar is a token that is written once, so that whoever reads the text finds each line that sets a
value; now and then a list says one twice, on purpose.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Maker", "Raw", "Tree"]


class Raw(str):
    """Something that is written as it is: a token, or a fixed value."""

    __slots__ = ()

    @property
    def is_text(self) -> bool:
        """Whether it is to be quoted."""
        return self.startswith(("w", "--", "%"))

    @property
    def is_fixed(self) -> bool:
        """Whether its line needs the comment."""
        return not self.startswith("7") and not self.is_text

    @property
    def is_alone(self) -> bool:
        """Whether it wants a line of its own."""
        return not self.startswith(("w", "7"))


Tree = Any
"""dict | list | Raw"""


class Maker:
    """Draws trees; each token once.

    keys:    a tiny alphabet
    repeats: how many elements of lists are said again
    markers: how many are knock-outs of others
    kinds:   key -> scalar, text, list or map, where it is mostly that
    """

    def __init__(
        self,
        random: random.Random,
        keys: Sequence[str] = "abc",
        repeats: float = 0.1,
        markers: float = 0.0,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        self.random = random
        self.keys = keys
        self.kinds = kinds or {}
        self.repeats = repeats
        self.markers = markers
        self._number = 700_000
        self._key = ""
        self._elements: dict[str, list[Raw]] = {}

    def chance(self, share: float) -> bool:
        """True for that share of the calls."""
        return self.random.random() < share

    def number(self) -> Raw:
        """A new number."""
        self._number += self.random.randint(1, 9)
        return Raw(self._number)

    def word(self) -> Raw:
        """A new text."""
        return Raw(f"w{self.number()}")

    def scalar(self, fixed: float = 0.0) -> Raw:
        """A new number or text, or a value that is no token."""
        if self.chance(fixed):
            return Raw(self.random.choice(["null", "null", "true", "false", "{}", "[]"]))
        return self.number() if self.chance(0.6) else self.word()

    def element(self) -> Raw:
        """A scalar for a list; now and then one that a list under this key has, or a marker that removes one."""
        known = self._elements.setdefault(self._key, [])
        if known and self.chance(self.repeats):
            return self.random.choice(known)
        if known and self.chance(self.markers):
            return Raw(f"--{self.random.choice(known)}" if self.chance(0.9) else "--")
        known.append(self.scalar())
        return known[-1]

    def list(self, depth: int = 1, most: int = 3, repeats: bool = True) -> list[Tree]:
        """Scalars mostly; maps and lists where depth is left. Only outer lists say anything twice."""
        made: list[Tree] = []
        for _ in range(self.random.randint(1, most)):
            if depth > 0 and self.chance(0.25):
                made.append(self.map(depth - 1, 2, 0) if self.chance(0.6) else self.list(depth - 1, 2, False))
            else:
                made.append(self.element() if repeats else self.scalar())
        return made

    def map(self, depth: int = 2, most: int = 3, fixed: float = 0.06) -> dict[str, Tree]:
        """Some of the keys."""
        keys = self.random.sample(self.keys, self.random.randint(1, min(most, len(self.keys))))
        return {key: self.under(key, depth - 1, fixed) for key in keys}

    def under(self, key: str, depth: int, fixed: float = 0.06) -> Tree:
        """What stands under a key: mostly of the kind that the key has elsewhere, too."""
        self._key = key
        kind = self.kinds.get(key) if self.chance(0.8) else None
        return self.tree(depth, fixed) if kind is None else self.of_kind(kind, depth, fixed)

    def tree(self, depth: int, fixed: float = 0.06) -> Tree:
        """A scalar, a list or a map."""
        return self.of_kind(self.random.choice(["scalar"] * 5 + ["list"] * 3 + ["map"] * 4), depth, fixed)

    def of_kind(self, kind: str, depth: int, fixed: float = 0.06) -> Tree:
        """That kind, where there is depth for it."""
        if kind == "text":
            return self.word()
        if depth <= 0 or kind == "scalar":
            return self.scalar(fixed)
        return self.list(depth - 1) if kind == "list" else self.map(depth, 3, fixed)

    def elements(self) -> list[Raw]:
        """What lists have so far."""
        return [one for known in self._elements.values() for one in known]

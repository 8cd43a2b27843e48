"""Values under a YAML tag that is not one of YAML's own: `!vault`, `!Ref`, `!override`.

The value is kept as it is written. A policy, or `tags=` of `read_layer`, gives a tag its meaning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.tree import strict_key

Tags = Mapping[str, Callable[[Any], Any]]
"""A tag as it is written, such as "!Ref" -> a function from the value under it to the value of the tree."""
KEY = "key"
"""In `Tags`: a function from the scalar that is a key to its text; with None such a key is an error, or stays."""


class Tagged:
    """A value with the tag before it. It counts as one leaf of its tree. Do not change it.

    tag:   the tag as it is written: "!Ref"
    value: plain data; a scalar is a text, also if it looks like a number

    Two are equal if tag and value are equal; 1, 1.0 and True are different values.

    >>> Tagged("!Ref", "Vpc")
    !Ref "Vpc"
    """

    __slots__ = ("tag", "value")

    def __init__(self, tag: str, value: Any) -> None:
        self.tag = tag
        self.value = value

    def __repr__(self) -> str:
        return f"{self.tag} {json.dumps(self.value, ensure_ascii=False, default=str)}"

    def with_inner(self, change: Callable[[Any], Any]) -> Tagged:
        """A new `Tagged` with change(value) under the same tag; this object itself if *change* returns the value."""
        value = change(self.value)
        return self if value is self.value else Tagged(self.tag, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.tag, strict_key(self.value)

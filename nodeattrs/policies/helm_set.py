"""Helm's `--set`, such as `a.b=1,c[0].d={x,y}`, as layers over values files.

true, false, null and whole numbers are values of their type; anything else is text. The sign behind a backslash has no
special meaning. An index changes a list of a values file. A list of the chart is replaced, since this module does not
get it.

source: Helm, Using Helm, "The Format and Limitations of --set"
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Part, handler, listed
from nodeattrs.core.policy import ANY, LIST, MAP, MEET, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import Path, copied, dig, strict_key
from nodeattrs.errors import BadArgument

_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "0": 0}
_WHOLE = re.compile(r"[+-]\d+|[1-9]\d*", re.ASCII)
_LARGEST_INDEX, _DEEPEST = 65_536, 30
_HINT = "write --set a.b=1,c[0].d=2; a comma, dot or bracket that is meant itself follows a backslash"


@handler(hides=True)
def _by_index(lower: Part, upper: Part) -> Part:
    """The later list, with the elements of the earlier one where they are the same."""
    olds, news = list(lower.elements()), list(upper.elements())
    met = [
        old if strict_key(old.value) == strict_key(new.value) else meet(_SET, old, new)
        for old, new in zip(olds, news, strict=False)
    ]
    return listed([*met, *news[len(olds) :]], upper)


_SET = Policy(
    "helm, --set",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, _by_index, "an index sets one element"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one"),
)


def set_layers(words: Iterable[str], before: Any, is_text: bool = False) -> list[Layer]:
    """A layer for each text of a `--set`, in their order.

    An index changes the list that *before* and the earlier texts give. The layer then has the whole changed list.

    words:   the texts, such as "a.b=1,c[0]=x"
    before:  the merged values of the values files, without the chart's; they are not changed. Anything but a map is as
             {}
    is_text: whether each value stays a text, as with `--set-string`
    raises:  BadArgument, for a text that Helm refuses

    >>> [layer.value for layer in set_layers(["l[1]=x,tag=1.10", "n=5"], {"l": ["a", "b"], "m": 1})]
    [{'l': ['a', 'x'], 'tag': '1.10'}, {'n': 5}]
    """
    layers, values = [], copied(before) if isinstance(before, dict) else {}
    for word in words:
        reader = _Reader(word, values, is_text)
        tree: dict[str, Any] = {}
        for path in reader.read():
            inner = tree
            for step in path[:-1]:
                inner = inner.setdefault(step, {})
            inner[path[-1]] = copied(dig(values, path))
        layers.append(Layer(tree, Origin("option", f"--set {', '.join(reader.spelled)}"), policy=_SET))
    return layers


class _Reader:
    """One `--set`, read from the left, whose values are set at once."""

    def __init__(self, text: str, values: dict[str, Any], is_text: bool) -> None:
        self._text, self._at, self._began = text, 0, 0
        self._values, self._is_text = values, is_text
        self.spelled: list[str] = []

    def read(self) -> list[Path]:
        """The paths that are set, each up to the list in it. raises: BadArgument"""
        paths = []
        while self._at < len(self._text):
            self._began = self._at
            paths.append(self._key(self._values, 0))
        if not paths:
            raise self._fault("names no value")
        return paths

    def _fault(self, what: str) -> BadArgument:
        return BadArgument(f"--set {self._text.partition('=')[0]} {what}", hint=_HINT)

    def _until(self, stops: str) -> tuple[str, str]:
        """The text before the next of some signs, and that sign; "" at the end."""
        found: list[str] = []
        while self._at < len(self._text):
            sign = self._text[self._at]
            self._at += 1
            if sign in stops:
                return "".join(found), sign
            if sign == "\\":
                sign = self._text[self._at : self._at + 1]
                self._at += 1
            found.append(sign)
        return "".join(found), ""

    def _key(self, into: dict[str, Any], depth: int) -> Path:
        """Set what the next key says; its steps, up to a list."""
        name, sign = self._until("=[,.")
        if not name or sign in (",", ""):
            raise self._fault("names no value")
        if depth > _DEEPEST:
            raise self._fault(f"has more than {_DEEPEST} steps")
        if sign == "=":
            into[name] = self._value()
        elif sign == "[":
            found = into.get(name, [])
            if not isinstance(found, list):
                raise self._fault(f"has an index, and {name} has no elements")
            into[name] = self._item(found, self._index(), depth)
        else:
            inner = into.get(name, {})
            if not isinstance(inner, dict):
                raise self._fault(f"asks for a key below {name}, which has no keys")
            rest = self._key(inner, depth + 1)
            into[name] = inner
            return name, *rest
        return (name,)

    def _index(self) -> int:
        written, sign = self._until("]")
        if not sign or not re.fullmatch(r"\+?\d{1,6}", written, re.ASCII) or int(written) > _LARGEST_INDEX:
            raise self._fault(f"has no index from 0 to {_LARGEST_INDEX:,} in its brackets")
        return int(written)

    def _item(self, into: list[Any], index: int, depth: int) -> list[Any]:
        """A list with one element set, and null before it where there was none."""
        left, sign = self._until("[.=")
        if left or not sign:
            raise self._fault("names no value" if not left else "has text behind its bracket")
        there = into[index] if index < len(into) else None
        if sign == "=":
            value = self._value()
        elif sign == ".":
            value = there if isinstance(there, dict) else {}
            self._key(value, depth + 1)
        else:
            if there is not None and not isinstance(there, list):
                raise self._fault("has two indices, and the first element has no elements")
            value = self._item(there or [], self._index(), depth + 1)
        into += [None] * (index + 1 - len(into))
        into[index] = value
        return into

    def _value(self) -> Any:
        self.spelled.append(self._text[self._began : self._at - 1])
        if self._text[self._at : self._at + 1] != "{":
            return self._typed(self._until(",")[0])
        self._at += 1
        found, sign = [], ","
        while sign == ",":
            written, sign = self._until(",}")
            found.append(self._typed(written))
        if not sign:
            raise self._fault("begins a list with { that has no }")
        self._at += self._text[self._at : self._at + 1] == ","
        return found

    def _typed(self, written: str) -> Any:
        return written if self._is_text else _typed(written)


def _typed(written: str) -> Any:
    """The value that a text means."""
    if written.lower() in _WORDS:
        return _WORDS[written.lower()]
    whole = int(written) if _WHOLE.fullmatch(written) and len(written) < 21 else None
    return whole if whole is not None and -(2**63) <= whole < 2**63 else written

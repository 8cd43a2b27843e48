"""Changes of a list in place: its elements, each with who set it.

A list is a value: whoever changes it works on pairs of its own and stores them as a new
list. It knows no trees and no slots.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

from nodeattrs.core.origins import At, Origins, Patched
from nodeattrs.core.tree import Path, copied, dig, strict_key
from nodeattrs.errors import BadArgument
from nodeattrs.node.maps import OwnedMap
from nodeattrs.node.values import HELD

Pairs = list[tuple[Any, Origins]]
"""The elements of a list, each with who set it."""


def remove_equal(pairs: Pairs, value: Any) -> Any:
    """Drop all elements that are type-strictly equal to *value*; the value, or None where there was none."""
    key = strict_key(value)
    kept = [pair for pair in pairs if strict_key(pair[0]) != key]
    found = len(kept) < len(pairs)
    pairs[:] = kept
    return value if found else None


def put(pairs: Pairs, path: Path, depth: int, value: Any, mark: int) -> None:
    """Put *value* at *path*, whose step number *depth* is an index of the list."""
    index, inside = _index(path[depth], len(pairs)), path[depth + 1 :]
    while index >= len(pairs):
        pairs.append((None, mark))
    setter = At(mark, path)
    if inside:
        element, whose = pairs[index]
        pairs[index] = (_with(element, inside, value), Patched(whose, inside, setter))
    else:
        pairs[index] = (_frozen(value), setter)


def take(pairs: Pairs, steps: Path) -> None:
    index = _index(steps[0], len(pairs))
    element, whose = pairs[index]
    holder = copied(element, HELD)
    del dig(holder, steps[1:-1])[steps[-1]]
    pairs[index] = (holder, whose)


def _with(container: Any, steps: Path, value: Any) -> Any:
    """A copy of a map or list inside a list, with *value* put somewhere below."""
    copy = container.copy()
    step = _index(steps[0], len(copy)) if isinstance(copy, list) else steps[0]
    if isinstance(copy, list):
        copy.extend([None] * (step + 1 - len(copy)))
    copy[step] = _frozen(value) if len(steps) == 1 else _with(copy[step], steps[1:], value)
    return copy


def _frozen(value: Any) -> Any:
    return dict(value) if isinstance(value, OwnedMap) else value


def _index(step: int, length: int) -> int:
    index = step + length if step < 0 else step
    if index < 0:
        raise BadArgument(f"index {step} lies before the start of a list of {length}", path=(step,))
    return index


def _compared(one: Any, two: Any) -> int:
    """Ruby's `<=>`: below, equal or above zero; lists are looked at as far as it takes to order them.

    raises: BadArgument, where it comes to two that have no common order
    """
    if isinstance(one, list) and isinstance(two, list):
        for element, other in zip(one, two, strict=False):
            if order := _compared(element, other):
                return order
        return len(one) - len(two)
    if (isinstance(one, str) and type(one) is type(two)) or (_is_number(one) and _is_number(two)):
        return int(one > two) - int(one < two)
    if strict_key(one) == strict_key(two):
        return 0
    raise BadArgument(f"cannot sort {one!r} among {two!r}: they have no common order")


in_order = cmp_to_key(_compared)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

"""Changes of a list in place: its elements, each with who set it.

A list is a value: whoever changes it works on pairs of its own and stores them as a new
list. It knows no trees and no slots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from nodeattrs.core.origins import At, Origins, origins_at, patched
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


def put(pairs: Pairs, steps: Path, value: Any, whose: Origins) -> None:
    """Put *value*, which *whose* have set, some steps inside; the first one is an index of the list."""
    index = _index(steps[0], len(pairs))
    while index >= len(pairs):
        pairs.append((None, whose))
    element, before = pairs[index]
    inside = _from_the_start(element, steps[1:])
    if inside:
        pairs[index] = (_with(element, inside, value), patched(before, inside, whose))
    else:
        pairs[index] = (_frozen(value), whose)


def work_inside(pairs: Pairs, steps: Path, change: Callable[[Pairs], Any], setter: At) -> Any:
    """Change a list that lies some steps inside of this one: what stays in it keeps who set it.

    setter: who has set it if it comes out empty
    """
    index = _index(steps[0], len(pairs))
    element, whose = pairs[index]
    inside = _from_the_start(element, steps[1:])
    for step in inside:
        whose = origins_at(whose, step)
    inner = [(value, origins_at(whose, at)) for at, value in enumerate(dig(element, inside))]
    answer = change(inner)
    put(pairs, (index, *inside), [value for value, _ in inner], [who for _, who in inner] or setter)
    return answer


def take(pairs: Pairs, steps: Path) -> None:
    index = _index(steps[0], len(pairs))
    element, whose = pairs[index]
    holder = copied(element, HELD)
    del dig(holder, steps[1:-1])[steps[-1]]
    pairs[index] = (holder, whose)


def _with(container: Any, steps: Path, value: Any) -> Any:
    """A copy of a map or list inside a list, with *value* put somewhere below."""
    copy, step = container.copy(), steps[0]
    if isinstance(copy, list):
        copy.extend([None] * (step + 1 - len(copy)))
    copy[step] = _frozen(value) if len(steps) == 1 else _with(copy[step], steps[1:], value)
    return copy


def _from_the_start(value: Any, steps: Path) -> Path:
    """The same steps, indexes that count from the end of a list as those from its start."""
    found: list[Any] = []
    for step in steps:
        found.append(_index(step, len(value)) if isinstance(value, list) else step)
        value = dig(value, (found[-1],))
    return tuple(found)


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

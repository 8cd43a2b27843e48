"""Changes of a list in place: its elements, each with its origins.

A list is a value: a change works on `Elements`, a copy, and the result is stored as a new
list. It knows no trees and no slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any

from nodeattrs.core.origins import At, Origins, origins_at, patched
from nodeattrs.core.tree import Path, copied, dig, strict_key
from nodeattrs.errors import BadArgument
from nodeattrs.node.maps import OwnedMap
from nodeattrs.node.values import HELD


class Elements:
    """The elements of a list and their origins: two lists of one length, which a change works on.

    Not pairs: a list of a thousand would be taken apart and put together for each element that is added.
    values: the elements
    who:    the origins of each
    """

    __slots__ = ("values", "who")

    def __init__(self, values: list[Any], who: list[Origins]) -> None:
        self.values = values
        self.who = who

    def extend_to(self, length: int, set_by: Origins) -> None:
        """Append null until the list has *length* elements; *set_by* are their origins. A longer list stays."""
        missing = length - len(self.values)
        self.values += [None] * missing
        self.who += [set_by] * missing

    def insert(self, at: int, values: list[Any], who: list[Origins]) -> None:
        """Insert elements with their origins before the index *at*."""
        self.values[at:at] = values
        self.who[at:at] = who

    def keep(self, indexes: Iterable[int]) -> None:
        """Keep only the elements at some indexes, in the order of *indexes*."""
        order = list(indexes)
        self.values, self.who = [self.values[at] for at in order], [self.who[at] for at in order]

    def remove(self, value: Any) -> Any:
        """Remove all elements that equal *value*, types included; returns *value*, or None where no element did."""
        key, before = strict_key(value), len(self.values)
        self.keep(at for at, one in enumerate(self.values) if strict_key(one) != key)
        return value if len(self.values) < before else None

    def put(self, steps: Path, value: Any, set_by: Origins) -> None:
        """Set *value* inside the list at *steps*: first an index, then the steps inside that element, which is copied.

        A list that is too short is filled with null. set_by: the origins of the value
        raises: BadArgument, for an index before the start
        """
        index = _index(steps[0], len(self.values))
        self.extend_to(index + 1, set_by)
        element = self.values[index]
        inside = _from_the_start(element, steps[1:])
        self.values[index] = _with(element, inside, value) if inside else _frozen(value)
        self.who[index] = patched(self.who[index], inside, set_by) if inside else set_by

    def change_list_inside(self, steps: Path, change: Callable[[Elements], Any], setter: At) -> Any:
        """Call *change* with the elements of a list inside this one, store the result there, and return what *change*
        returns.

        steps:  first an index, then the steps to the inner list
        change: changes the inner elements in place; elements that stay keep their origins
        setter: the origin of the inner list where it is empty afterwards
        """
        index = _index(steps[0], len(self.values))
        element, set_by = self.values[index], self.who[index]
        inside = _from_the_start(element, steps[1:])
        for step in inside:
            set_by = origins_at(set_by, step)
        values = list(dig(element, inside))
        inner = Elements(values, [origins_at(set_by, at) for at in range(len(values))])
        answer = change(inner)
        self.put((index, *inside), inner.values, inner.who or setter)
        return answer

    def delete_inside(self, steps: Path) -> None:
        """Remove the key of a map inside an element: the last of *steps*. The element is copied. The key must
        be there.
        """
        index = _index(steps[0], len(self.values))
        holder = self.values[index] = copied(self.values[index], HELD)
        del dig(holder, steps[1:-1])[steps[-1]]


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

"""Changes of a list in place, with the origins of its elements.

A list in a slot is never changed: a change works on `Elements`, a copy, whose result is stored as a new list.
Trees and slots are not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from nodeattrs.core.origins import Origins, SourcePath, origins_at, patched
from nodeattrs.core.tree import Path, copied, dig, strict_key
from nodeattrs.errors import BadArgument
from nodeattrs.node.maps import OwnedMap
from nodeattrs.node.values import HELD


@dataclass(eq=False, slots=True)
class Elements:
    """A copy of a list and the origins of its elements: two lists of one length, which each method changes in place.

    To change a list in a slot, the caller makes an instance, changes it, and stores `values` and `origins` as the new
    list. `put`, `change_list_inside` and `delete_inside` change something inside an element; the element is copied
    first. `insert` adds elements before an index. `pop` takes an index in range, and returns the element. `remove`
    removes all equal elements, and returns the value, or None. `keep` keeps the elements at some indexes, and
    `extend_to` appends null up to a length.

    values:  the elements; maps and lists in them are copied before they are changed
    origins: the origins of each element, by index
    """

    values: list[Any]
    origins: list[Origins]

    def extend_to(self, length: int, set_by: Origins) -> None:
        """Append null until the list has *length* elements; *set_by* are their origins. A longer list stays."""
        missing = length - len(self.values)
        self.values += [None] * missing
        self.origins += [set_by] * missing

    def insert(self, at: int, values: list[Any], origins: list[Origins]) -> None:
        """Insert elements with their origins before the index *at*, which is not negative."""
        self.values[at:at] = values
        self.origins[at:at] = origins

    def pop(self, index: int) -> Any:
        """Remove the element at *index*, which must be in range, and return it."""
        del self.origins[index]
        return self.values.pop(index)

    def keep(self, indexes: Iterable[int]) -> None:
        """Keep only the elements at *indexes*, in that order, with their origins. [] empties the list."""
        order = list(indexes)
        self.values = [self.values[at] for at in order]
        self.origins = [self.origins[at] for at in order]

    def remove(self, value: Any) -> Any:
        """Remove all elements that equal *value*, types included; returns *value*, or None where no element did."""
        key, before = strict_key(value), len(self.values)
        self.keep(at for at, one in enumerate(self.values) if strict_key(one) != key)
        return value if len(self.values) < before else None

    def put(self, steps: Path, value: Any, set_by: Origins) -> None:
        """Set *value* at *steps*: an index of the list, then steps inside that element, which is copied first.

        If an index is beyond the end of a list, null is added up to it.
        set_by: the origins of the value
        raises: BadArgument, for an index before the start
        """
        index = _index(steps[0], len(self.values))
        self.extend_to(index + 1, set_by)
        element = self.values[index]
        inside = _from_the_start(element, steps[1:])
        self.values[index] = _with(element, inside, value) if inside else _frozen(value)
        self.origins[index] = patched(self.origins[index], inside, set_by) if inside else set_by

    def change_list_inside(self, steps: Path, change: Callable[[Elements], Any], setter: SourcePath) -> Any:
        """Call *change* with the elements of a list inside this one, store them there, and return the result of
        *change*.

        steps:  an index of this list, then the steps inside that element to the inner list, which must exist
        change: called with the inner elements, which it changes in place; those that stay keep their origins
        setter: the origin of the inner list if it is empty afterwards
        """
        index = _index(steps[0], len(self.values))
        element, set_by = self.values[index], self.origins[index]
        inside = _from_the_start(element, steps[1:])
        for step in inside:
            set_by = origins_at(set_by, step)
        values = list(dig(element, inside))
        inner = Elements(values, [origins_at(set_by, at) for at in range(len(values))])
        answer = change(inner)
        self.put((index, *inside), inner.values, inner.origins or setter)
        return answer

    def delete_inside(self, steps: Path) -> None:
        """Remove the key *steps[-1]* of a map inside an element; *steps[0]* is the element's index. The element is
        copied.

        raises: KeyError, where the map does not have the key
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
    """Ruby's `<=>`: below, equal or above zero; lists by their first elements that differ.

    raises: BadArgument, for two values without a common order
    """
    if isinstance(one, list) and isinstance(two, list):
        for element, other in zip(one, two, strict=False):
            order = _compared(element, other)
            if order != 0:
                return order
        return len(one) - len(two)
    if (isinstance(one, str) and type(one) is type(two)) or (_is_number(one) and _is_number(two)):
        return int(one > two) - int(one < two)
    if strict_key(one) == strict_key(two):
        return 0
    raise BadArgument(f"cannot sort {one!r} among {two!r}: they have no common order")


in_order = cmp_to_key(_compared)
"""A sort key for `sorted` in Ruby's order. Comparing values without a common order raises BadArgument."""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

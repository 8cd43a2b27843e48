"""Plain values before and after an edit: which leaves are no longer what they were, lists by element.

An element is itself wherever it stands: what moves up because another one went has not changed.
Of elements that are equal nobody can say which of them went; they are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ABSENT", "Changes", "Path", "changes", "dig", "follow", "leaves", "same", "texts"]

Path = tuple[Any, ...]


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Any = _Absent()


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The paths that end: at scalars, and at empty maps and lists."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path, value


def dig(value: Any, path: Path) -> Any:
    """What stands at a path, or ABSENT."""
    for step in path:
        has = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not has:
            return ABSENT
        value = value[step]
    return value


def same(one: Any, other: Any) -> bool:
    """Equal, and of one kind all the way down; the order of keys is none."""
    return _form(one) == _form(other)


def texts(value: Any) -> str:
    """All that a value says, as one text to look for tokens in."""
    return repr(value)


def _form(value: Any) -> Any:
    """A value that can be counted: 1, 1.0 and true are three."""
    if isinstance(value, dict):
        return frozenset((key, _form(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return tuple(map(_form, value))
    return type(value).__name__, value


@dataclass
class Changes:
    """What an edit did to the leaves that were there.

    paths:  the leaves that are not what they were
    groups: equal scalars in one list -> how many of them went; none of them is in `paths`
    """

    paths: set[Path] = field(default_factory=set)
    groups: dict[tuple[Path, ...], int] = field(default_factory=dict)

    def _gone(self, value: Any, path: Path) -> None:
        self.paths.update(path for path, _ in leaves(value, path))


def changes(before: Any, after: Any) -> Changes:
    """What is no longer as it was."""
    found = Changes()
    _compare(before, after, (), found)
    return found


def _compare(before: Any, after: Any, path: Path, found: Changes) -> None:
    if same(before, after) or (type(before) is type(after) and before in ({}, [])):
        return  # an empty map or list is a part of any
    if isinstance(before, dict) and isinstance(after, dict) and before:
        for key, entry in before.items():
            if key in after:
                _compare(entry, after[key], (*path, key), found)
            else:
                found._gone(entry, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and before:
        _compare_lists(before, after, path, found)
    else:
        found._gone(before, path)


def _compare_lists(before: list[Any], after: list[Any], path: Path, found: Changes) -> None:
    there, here = Counter(map(_form, before)), Counter(map(_form, after))
    repeated = {_form(one) for one in before if there[_form(one)] > 1 and not isinstance(one, (dict, list))}
    for form in repeated:
        members = tuple((*path, index) for index, entry in enumerate(before) if _form(entry) == form)
        found.groups[members] = max(0, there[form] - here[form])
    for index, partner in _pairs(before, after).items():
        entry = before[index]
        if _form(entry) in repeated:
            continue
        if partner is None:
            found._gone(entry, (*path, index))
        else:
            _compare(entry, after[partner], (*path, index), found)


def _pairs(before: list[Any], after: list[Any]) -> dict[int, int | None]:
    """Each element's place in the other list: where it stands, else where an equal one does, else a new one."""
    old, new = [_form(entry) for entry in before], [_form(entry) for entry in after]
    pairs: dict[int, int | None] = {
        index: index for index in range(min(len(old), len(new))) if old[index] == new[index]
    }
    free = [index for index in range(len(new)) if index not in pairs]
    for index, form in enumerate(old):
        if index not in pairs:
            partner = next((place for place in free if new[place] == form), None)
            if partner is not None:
                pairs[index] = partner
                free.remove(partner)
    for index, entry in enumerate(before):
        if index not in pairs:
            fitting = [place for place in free if type(after[place]) is type(entry)]
            pairs[index] = index if index in fitting else next(iter(fitting), None)
            if pairs[index] is not None:
                free.remove(pairs[index])
    return pairs


def follow(before: Any, after: Any, path: Path) -> Any:
    """What has become of what stood at a path; elements are followed to where they went."""
    for step in path:
        if isinstance(before, list) and isinstance(after, list):
            partner = _pairs(before, after).get(step)
            before, after = before[step], ABSENT if partner is None else after[partner]
        else:
            before, after = dig(before, (step,)), dig(after, (step,))
        if after is ABSENT:
            return ABSENT
    return after

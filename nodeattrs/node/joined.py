"""Maps that are joined but not merged yet (`Joined`): the value at a key, and a plain copy of all.

The copy is one eager fold, copying as it goes: the core's merge (core/folding.py) without origins, merging maps into
a copy that was made already instead of copying each step. Two passes of a node's size are what it may cost; tests hold
the two equal. It knows no views.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from nodeattrs.core.part import Part
from nodeattrs.core.policy import KEEP, TAKE, Meet, Policy
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.node.maps import AssignedMap, Branch, Joined, OwnedMap, at_version
from nodeattrs.node.values import READY, computed


def entry_at(part: Any, key: Any) -> Any:
    """The value at *key* in a map or in `Joined` maps; ABSENT where no map has the key.

    Where several maps have a map there, the result is `Joined` again: nothing is copied.
    cost: the number of maps joined
    """
    if type(part) is not Joined:
        return part.get(key, ABSENT)
    policy = part.policy if part.policy.by_key is None else part.policy.at(key)
    always, result, above = policy.always, ABSENT, []
    for member in reversed(part.members):
        value = member.get(key, ABSENT) if type(member) is not Joined else entry_at(member, key)
        if value is ABSENT:
            continue
        if result is not ABSENT:
            above.append(result)
        result = value
        if type(value) in always:
            break  # whatever lies below it is hidden
    while above:
        result = _met(policy, result, above.pop())
    return result


def _met(policy: Policy, lower: Any, upper: Any) -> Any:
    kinds = type(lower), type(upper)
    verdict = policy.cells.get(kinds) or policy.verdict(*kinds)
    if verdict is TAKE:
        return upper
    if type(verdict) is Meet:
        below = verdict.policy
        waiting = lower.members if type(lower) is Joined and lower.policy is below else [lower]
        return Joined(below, [*waiting, upper])
    if verdict is KEEP:
        return lower
    return verdict(Part(lower, None), Part(upper, None)).value  # type: ignore[operator]  # no node's policy drops


def joined(policy: Policy, parts: Iterable[Any]) -> Any:
    """The value of several parts under a policy, the weakest first. Maps that meet become `Joined`.

    ABSENT parts are skipped; ABSENT where all are. One part alone is returned as it is.
    """
    result = ABSENT
    for part in parts:
        if part is not ABSENT:
            result = part if result is ABSENT else _met(policy, result, part)
    return result


def joined_roots(trees: Sequence[Any], branch: Branch) -> Any:
    """The root maps of some trees, in the order of a plan: `Joined`, a lone tree as it is, {} where all are empty.

    Empty trees are left out, but not an empty map that a recipe assigned: it hides other values.
    trees: by slot number
    """
    root = _rooted(trees, branch)
    return {} if root is ABSENT else root


def _rooted(trees: Sequence[Any], branch: Branch) -> Any:
    parts = (
        _rooted(trees, child) if isinstance(child, Branch) else _unless_empty(trees[child]) for child in branch.children
    )
    return joined(branch.policy, parts)


def _unless_empty(tree: Any) -> Any:
    return tree if tree or type(tree) is AssignedMap else ABSENT


def keys_of(part: Any) -> dict[Any, None]:
    """The keys of a map or of `Joined` maps, as a dict with None for each: keys of weaker maps first."""
    if type(part) is not Joined:
        return dict.fromkeys(part)
    keys: dict[Any, None] = {}
    for member in part.members:
        keys.update(keys_of(member) if type(member) is Joined else dict.fromkeys(member))
    return keys


def maps_at_version(part: Any, version: int) -> Any:
    """A map, or `Joined` maps, as they were at a version; maps inside of them are the current ones. Other
    values as they are.
    """
    if type(part) is Joined:
        return Joined(part.policy, [maps_at_version(member, version) for member in part.members])
    return at_version(part, version) if isinstance(part, OwnedMap) else part


def tree_at_version(part: Any, version: int) -> Any:
    """A value as it was at a version. Owned maps inside are copied; `Joined` stays `Joined`, anything else is returned
    as it is."""
    if type(part) is Joined:
        return Joined(part.policy, [tree_at_version(member, version) for member in part.members])
    if not isinstance(part, OwnedMap):
        return part
    was = at_version(part, version)
    copy = type(was)(was)
    for key, inner in was.items():
        copy[key] = tree_at_version(inner, version)
    return copy


def has_key(part: Any, key: Any) -> bool:
    """Whether a map, or one of `Joined` maps, has the key."""
    if type(part) is Joined:
        return any(has_key(member, key) for member in part.members)
    return key in part


def plain(part: Any, evaluate: bool = True, path: Path = ()) -> Any:
    """An independent copy of a value or of joined maps, as dicts, lists and scalars.

    evaluate: compute deferred values; otherwise they stay as they are
    path:     where it stands, for messages
    cost:     one eager pairwise fold, copying as it goes
    raises:   ValueWithheld, DeferredCycle
    """
    odd: dict[Any, None] = {}
    data = unevaluated_copy(part, odd)
    return evaluated(data, odd, path) if evaluate else data


def evaluated(data: Any, odd: Iterable[Any], path: Path = ()) -> Any:
    """*data* with its deferred values computed, in place where it is a map; *data* is a copy of the caller's own.

    odd:    the keys of entries that contain deferred or withheld values; only these are visited
    path:   where the data stands, for messages
    cost:   one visit of these entries
    raises: ValueWithheld, DeferredCycle
    """
    if type(data) is not dict:
        return computed(data, path)
    for key in odd:
        if key in data:
            data[key] = computed(data[key], (*path, key))
    return data


def unevaluated_copy(part: Any, odd: dict[Any, None]) -> Any:
    """An independent plain copy of a value or of `Joined` maps, in which deferred and withheld values stay as they are.

    odd: is filled with the top-level keys whose entries contain such values, for `evaluated`; None for a value itself
    """
    if type(part) is not Joined:
        if not isinstance(part, dict):
            return _copy(part, odd, None)
        result = part.copy()
        for key, inner in part.items():
            if type(inner) not in READY:
                result[key] = _copy(inner, odd, key)
        return result
    result = unevaluated_copy(part.members[0], odd)
    for member in part.members[1:]:
        if type(member) is Joined:
            _lay(part.policy, result, unevaluated_copy(member, odd), odd, ours=True)
        else:
            _lay(part.policy, result, member, odd, ours=False)
    return result


def _lay(policy: Policy, lower: dict[Any, Any], upper: Any, odd: dict[Any, None], ours: bool, at: Any = ABSENT) -> None:
    wins, table = _scalars_that_win(policy), policy
    for key, above in upper.items():
        kind = type(above)
        if kind in wins:
            lower[key] = above
            continue
        top = key if at is ABSENT else at
        below = lower.get(key, ABSENT)
        if policy.by_key is not None:
            table = policy.at(key)
        verdict = table.cells.get((type(below), kind)) or table.verdict(type(below), kind)
        if verdict is TAKE:
            lower[key] = above if ours else _copy(above, odd, top)
        elif type(verdict) is Meet:
            _lay(verdict.policy, below, above, odd, ours, top)
        elif verdict is not KEEP:
            made = verdict(Part(below, None), Part(above, None)).value  # type: ignore[operator]  # no node's policy drops
            lower[key] = made if ours else _copy(made, odd, top)


@cache
def _scalars_that_win(policy: Policy) -> frozenset[type]:
    return policy.always & READY if policy.by_key is None else frozenset()


def _copy(value: Any, odd: dict[Any, None], at: Any) -> Any:
    kind = type(value)
    if kind in READY:
        return value
    if kind is list or isinstance(value, dict):
        out = value.copy()
        for step, inner in enumerate(value) if kind is list else value.items():
            if type(inner) not in READY:
                out[step] = _copy(inner, odd, at)
        return out
    odd[at] = None
    return value

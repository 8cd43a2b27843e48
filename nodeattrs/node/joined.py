"""Reading maps that are joined but not merged yet (`maps.Joined`): one key at a time, or all as a plain copy.

The plain copy is the same as the result of the core's merge (core/folding.py), without origins; tests compare the two.
It is merged into one copy, where the core copies each step. "Deferred values" means `Deferred` and `Withheld` here:
values that are computed, or refused, when they are read.
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

    Where several maps have a map there, the result is `Joined` again. Nothing is copied; deferred values stay deferred.
    cost: the number of maps joined
    """
    if type(part) is not Joined:
        return part.get(key, ABSENT)
    policy = part.policy if part.policy.by_key is None else part.policy.at(key)
    values = []  # the strongest first, down to one that hides whatever lies below it
    for member in reversed(part.members):
        value = member.get(key, ABSENT) if type(member) is not Joined else entry_at(member, key)
        if value is not ABSENT:
            values.append(value)
            if type(value) in policy.always:
                break
    return joined(policy, reversed(values))


def _joined_pair(policy: Policy, lower: Any, upper: Any) -> Any:
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
    """The value of several parts under a policy, the weakest first: a value, or `Joined` if maps are to be merged.

    ABSENT parts are skipped; the result is ABSENT if all are. One part alone is returned as it is. Nothing is copied.
    """
    result = ABSENT
    for part in parts:
        if part is not ABSENT:
            result = part if result is ABSENT else _joined_pair(policy, result, part)
    return result


def joined_roots(trees: Sequence[Any], branch: Branch) -> Any:
    """The trees of a branch of the plan, joined: `Joined`, a lone tree as it is, {} where all are empty.

    Empty trees are left out, but not an empty map that a recipe assigned: it hides other values.
    trees: by slot number
    """
    root = _root_of(trees, branch)
    return {} if root is ABSENT else root


def _root_of(trees: Sequence[Any], branch: Branch) -> Any:
    parts = []
    for child in branch.children:
        if isinstance(child, Branch):
            parts.append(_root_of(trees, child))
        elif trees[child] or type(trees[child]) is AssignedMap:
            parts.append(trees[child])
    return joined(branch.policy, parts)


def keys_of(part: Any) -> dict[Any, None]:
    """The keys of a map or of `Joined` maps in their order, as a dict key -> None: keys of weaker maps first."""
    if type(part) is not Joined:
        return dict.fromkeys(part)
    keys: dict[Any, None] = {}
    for member in part.members:
        keys.update(keys_of(member) if type(member) is Joined else dict.fromkeys(member))
    return keys


def maps_at_version(part: Any, version: int) -> Any:
    """A map, or `Joined` maps, as views of a version show them, one level deep: the maps inside are the current ones.

    Any other value is returned as it is.
    """
    if type(part) is Joined:
        return Joined(part.policy, [maps_at_version(member, version) for member in part.members])
    return at_version(part, version) if isinstance(part, OwnedMap) else part


def tree_at_version(part: Any, version: int) -> Any:
    """A map, or `Joined` maps, as views of a version show them, at all levels. Owned maps are copied.

    `Joined` stays `Joined`. Any other value, and a frozen map, is returned as it is.
    """
    if type(part) is Joined:
        return Joined(part.policy, [tree_at_version(member, version) for member in part.members])
    if not isinstance(part, OwnedMap):
        return part
    was = at_version(part, version)
    copy = type(was)(was)
    for key, inner in was.items():
        copy[key] = tree_at_version(inner, version)
    return copy


def plain(part: Any, evaluate: bool = True, path: Path = ()) -> Any:
    """An independent copy of a value or of joined maps, as dicts, lists and scalars.

    evaluate: True computes deferred values; False leaves them as they are
    path:     where *part* stands, for messages
    cost:     one merge and one copy of all
    raises:   ValueWithheld, DeferredCycle, any error of a deferred value
    """
    deferred: list[Any] = []
    data = unevaluated_copy(part, deferred)
    return computed(data, path) if evaluate and deferred else data


def unevaluated_copy(part: Any, deferred: list[Any]) -> Any:
    """An independent plain copy of a value or of `Joined` maps, in which deferred values stay as they are.

    It computes nothing, so it can be made under the ledger's lock; `values.computed` then computes without the lock.
    deferred: a list to which the deferred and withheld values are added; if it stays empty, there is nothing to compute
    """
    if type(part) is not Joined:
        return _copy(part, deferred)
    result = unevaluated_copy(part.members[0], deferred)
    for member in part.members[1:]:
        if type(member) is Joined:
            _merge_into(part.policy, result, unevaluated_copy(member, deferred), deferred, is_owned=True)
        else:
            _merge_into(part.policy, result, member, deferred, is_owned=False)
    return result


def _merge_into(policy: Policy, lower: dict[Any, Any], upper: Any, deferred: list[Any], is_owned: bool) -> None:
    """Merge the map *upper* into *lower*, which is changed. is_owned: whether parts of *upper* need no copy"""
    wins, table = _scalars_that_win(policy), policy
    for key, above in upper.items():
        kind = type(above)
        if kind in wins:
            lower[key] = above
            continue
        below = lower.get(key, ABSENT)
        if policy.by_key is not None:
            table = policy.at(key)
        verdict = table.cells.get((type(below), kind)) or table.verdict(type(below), kind)
        if verdict is TAKE:
            lower[key] = above if is_owned else _copy(above, deferred)
        elif type(verdict) is Meet:
            _merge_into(verdict.policy, below, above, deferred, is_owned)
        elif verdict is not KEEP:
            made = verdict(Part(below, None), Part(above, None)).value  # type: ignore[operator]  # no node's policy drops
            lower[key] = made if is_owned else _copy(made, deferred)


@cache
def _scalars_that_win(policy: Policy) -> frozenset[type]:
    return policy.always & READY if policy.by_key is None else frozenset()


def _copy(value: Any, deferred: list[Any]) -> Any:
    if not isinstance(value, (dict, list)):
        if type(value) not in READY:
            deferred.append(value)
        return value
    out = value.copy()
    for step, inner in enumerate(value) if isinstance(value, list) else value.items():
        if type(inner) not in READY:
            out[step] = _copy(inner, deferred)
    return out

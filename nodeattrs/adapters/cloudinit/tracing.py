"""Why a value is what it is: the core's trace, made of the meetings of one merge.

Each meeting is heard along the path by the core; the verdicts are added up over the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nodeattrs.adapters.cloudinit.steps import Step
from nodeattrs.adapters.cloudinit.trees import same
from nodeattrs.core.claim import Claim, Origin
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Line, Meet, Policy
from nodeattrs.core.trace import Element, Fate, Heard, Trace
from nodeattrs.core.tree import ABSENT, Path, dig

__all__ = ["own_path", "trace_of"]


def trace_of(
    result: Part,
    steps: Iterable[Step],
    path: Path,
    origin: Callable[[int, Path], Origin],
    titles: Mapping[int, str],
) -> Trace:
    """Everyone who spoke about *path*, those that are read first.

    origin: where a part said what the result has at a path
    """
    said: dict[int, tuple[Path, Any]] = {}
    lost: dict[int, tuple[str, tuple[int, ...]]] = {}
    for step in steps:
        if _moves_items(step, path):
            continue
        spoken = [step.said] if step.said is not None else []
        for part in spoken:
            if step.number and (words := _words(part.value, path)) is not None:
                said[step.number] = words
        standing = set(_sources(step.after, path))
        here = {number for part in (step.before, *spoken) for number in _sources(part, path)}
        winners = tuple(sorted(standing, reverse=True))
        for number in here - standing - {0}:
            lost.setdefault(number, (_why(step, path), winners or (step.number,) * (number != step.number)))
    value = dig(result.value, path)
    standing_now = [number for number in _sources(result, path) if number]
    cover = _cover(result.value, path) if value is ABSENT else None
    fate = Fate.JOINS if len(standing_now) > 1 else Fate.WINS
    heard = []
    for number in sorted(standing_now, reverse=True):
        where, word = said.get(number, (path, value))
        claim = Claim(where, word, number, origin(number, where))
        heard.append(Heard(claim, fate, "joined" if fate is Fate.JOINS else ""))
    for number in sorted(set(lost) & set(said) - set(standing_now), reverse=True):
        where, word = said[number]
        why, by = lost[number]
        claim = Claim(where, word, number, origin(number, where))
        heard.append(Heard(claim, Fate.LOSES, why, tuple(one for one in by if one)))
    return Trace(path, value, tuple(heard), tuple(_elements(result, value, path, origin)), (), cover, titles)


def _words(tree: Any, path: Path) -> tuple[Path, Any] | None:
    """What a tree says at a path, or what it puts in the way of it; None where it says nothing."""
    for depth, step in enumerate(path):
        if not isinstance(tree, (dict, list)):
            return path[:depth], tree
        tree = dig(tree, (step,))
        if tree is ABSENT:
            return None
    return path, tree


def _cover(tree: Any, path: Path) -> Path | None:
    words = _words(tree, path)
    return words[0] if words is not None and words[0] != path else None


def _sources(part: Part, path: Path) -> tuple[int, ...]:
    """Who stands at a path, or for what stands in the way of it."""
    words = _words(part.value, path)
    if words is None:
        return ()
    told = part.origins
    for step in words[0]:
        told = origins_at(told, step)
    return () if told is None else sources(told)


def _moves_items(step: Step, path: Path) -> bool:
    """Whether a meeting puts items of a list that the path goes through to other places: nobody loses there."""
    tree = step.after.value
    for depth, key in enumerate(path):
        if isinstance(tree, list):
            if step.policy is None or step.said is None:
                return True
            _, verdict = _decision(step, path[:depth])
            return getattr(verdict, "verb", None) in ("append", "prepend")
        tree = dig(tree, (key,))
    return False


def _why(step: Step, path: Path) -> str:
    """The line that decided, on the way from the root to the path."""
    if step.policy is None:
        return "changed by a JSON patch"
    line, verdict = _decision(step, path)
    return f"{line.why}, and nothing of it is left" if isinstance(verdict, Meet) else line.why


def _decision(step: Step, path: Path) -> tuple[Line, Any]:
    """The line and the verdict that decided about a path: the first on the way that is no meeting of maps."""
    assert step.policy is not None
    assert step.said is not None
    below, above, policy = step.before.value, step.said.value, step.policy
    line, verdict = decided(policy, type(below), type(above)), policy.verdict(type(below), type(above))
    for key in path:
        if not isinstance(verdict, Meet) or not isinstance(verdict.policy, Policy):
            break
        policy = verdict.policy
        below, above = dig(below, (key,)), dig(above, (key,))
        if above is ABSENT:
            break
        line, verdict = decided(policy, type(below), type(above)), policy.verdict(type(below), type(above))
    return line, verdict


def decided(policy: Policy, below: type, above: type) -> Line:
    """The line that decides about two types, after all tables that one table asks."""
    line = policy.line(below, above)
    while isinstance(line.rule, Policy):
        line = line.rule.line(below, above)
    return line


def _elements(result: Part, value: Any, path: Path, origin: Callable[[int, Path], Origin]) -> Iterator[Element]:
    if not isinstance(value, list):
        return
    told = result.origins
    for step in path:
        told = origins_at(told, step)
    for index, entry in enumerate(value):
        ranks = tuple(number for number in sources(origins_at(told, index)) if number)
        at = (*path, index)
        yield Element(entry, ranks, tuple(Claim(at, entry, number, origin(number, at)) for number in ranks))


def own_path(said: Any, merged: Any, path: Path) -> Path:
    """Where a part itself says what the merged tree has at *path*: joined lists have their items at other places."""
    own = []
    for step in path:
        entry = dig(merged, (step,))
        if isinstance(said, list) and type(step) is int and not same(dig(said, (step,)), entry):
            step = next((index for index, item in enumerate(said) if same(item, entry)), step)
        own.append(step)
        said, merged = dig(said, (step,)), entry
    return tuple(own)

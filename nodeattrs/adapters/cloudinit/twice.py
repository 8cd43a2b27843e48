"""What a text says under a key that it writes again: the last one counts, and is told to override the others.

A reader of YAML keeps nothing of the others, so the texts are looked at again, by an explanation only. For a
walk along one path such a part is a folding of all that its text says there, one over the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nodeattrs.adapters.cloudinit.places import YamlLocator
from nodeattrs.core.claim import Locator
from nodeattrs.core.folding import Folding, Step, meet
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part, listed
from nodeattrs.core.policy import ANY, ANY_KEY, LIST, MAP, MEET, SAID, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig

_AGAIN = Policy("one text", Line(ANY, SAID, TAKE, "a later line of the same text sets the key again"))
_REST = Policy("one text", Line(ANY, SAID, TAKE))


def told_twice(folding: Folding, path: Path, locator: Callable[[int], Locator]) -> Folding:
    """The same folding, for a walk along a path: with all that the parts say on the way.

    locator: the number of a part -> what knows its lines
    cost:    one look at each part; a reading of the texts that say something there
    """
    steps = [step._replace(part=_told(step, path, locator)) for step in folding.steps]
    if all(new.part is old.part for new, old in zip(steps, folding.steps, strict=True)):
        return folding
    told = Folding(from_top=folding.from_top, opening=folding.opening, start=folding.start)
    told.steps, told.result = steps, folding.result
    return told


def _told(step: Step, path: Path, locator: Callable[[int], Locator]) -> Part | Folding:
    part = step.part
    if isinstance(part, Folding):
        return told_twice(part, path, locator)
    if type(part.origins) is not int or not part.origins or dig(part.value, path[:1]) is ABSENT:
        return part
    who = locator(part.origins)
    said = who.earlier(path) if isinstance(who, YamlLocator) else []
    if not said:
        return part
    told, over = Folding(), _AGAIN
    for place, value in said:
        above = path[: place.depth + 1]
        told.lay(Part(_under(above, value), At(part.origins, (place,))), over)
        over = _over(above)
    told.lay(part, over)
    return told


def _under(path: Path, value: Any) -> Any:
    """A tree that has nothing but the value at a path; null for the elements before it."""
    for step in reversed(path):
        value = [*[None] * step, value] if type(step) is int else {step: value}
    return value


def _over(path: Path) -> Policy:
    """What stands at a path is replaced; all else there is none of it."""
    if not path:
        return _AGAIN
    step, *rest = path
    inner = _over(tuple(rest))
    if type(step) is int:
        return Policy("one text", Line(LIST, LIST, partial(_at_index, step, inner)), Line(ANY, SAID, TAKE))
    policy = Policy("one text", Line(MAP, MAP, MEET), Line(ANY, SAID, TAKE))
    policy.by_key = {step: inner, ANY_KEY: _REST}
    return policy


def _at_index(index: int, policy: Policy, lower: Part, upper: Part) -> Part:
    elements = list(upper.elements())
    elements[index] = meet(policy, lower.at(index), elements[index])
    return listed(elements)

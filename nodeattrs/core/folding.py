"""A folding: parts are laid one by one, each under its policy, and the steps are remembered.

Every system that merges lays through a `Folding`, and every explanation reads its steps
again (`core.tracing`). It is eager and pairwise: nothing is changed in place, so a part
that is refused leaves the result as it was, and a finished result can be laid into
another folding. Origins are small numbers kept beside the tree. It knows neither layers
nor dialects: whoever lays brings parts and policies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.meeting import Encounter, decided, encounters, meet, noting
from nodeattrs.core.origins import At, Origins
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Policy, Rule, Verdict
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.core.unknown import Unknown

__all__ = ["NOTHING", "Change", "Folding", "Step", "again", "placed"]

NOTHING = Part(ABSENT, ())
"""A part of nobody, with nothing in it."""


Change = Callable[[Part, Part], Part]
"""Makes another result of the result, given what the one who changes it sets. It keeps the origins of what it leaves
or moves, and is called again by whoever asks why: with other origins, or without a part of what is set, never without
all of that. One that can say what it does has a `policy`, whose words a trace takes."""


class Step(NamedTuple):
    """One step of a folding.

    part:   what was laid: a part, or an inner folding that was finished before; NOTHING where
            the result met nothing
    policy: what decides; None for a change
    change: what a step without a policy does
    """

    part: Part | Folding
    policy: Policy | None
    change: Change | None = None


class Folding:
    """Parts laid one by one.

    from_top: False: each part lies over the result so far; True: the result so far lies over each part
    opening:  what the first part meets nothing under; None takes it as it is
    start:    what lies there before the first part, set by nobody
    result:   what came of it so far; ABSENT where nothing was laid
    steps:    how. Nothing of what lay between is kept: `rounds` makes it anew

    >>> from nodeattrs.core.policy import INSIDE
    >>> folding = Folding()
    >>> _ = folding.lay(Part({"a": [1]}, 1), INSIDE), folding.lay(Part({"a": [2]}, 2), INSIDE)
    >>> folding.result
    Part({'a': [1, 2]}, {'a': [1, 2]})
    """

    __slots__ = ("_laid", "from_top", "opening", "result", "start", "steps")

    def __init__(self, *, from_top: bool = False, opening: Policy | None = None, start: Part | None = None) -> None:
        self.from_top = from_top
        self.opening = opening
        self.start = start
        self.result = NOTHING if start is None else start
        self.steps: list[Step] = []
        self._laid = start is not None

    def lay(self, part: Part | Folding, policy: Policy) -> Part:
        """Lay one part, or a finished folding; the result.

        What is unknown changes nothing, and a part that is ABSENT is no step.
        raises: MergeConflict with the path; the folding stays as it was then
        """
        laid = part.result if isinstance(part, Folding) else part
        if laid.value is ABSENT and laid is part:
            return self.result
        if laid.value is not ABSENT and type(laid.value) is not Unknown:
            self.result = self._met(laid, policy)
            self._laid = True
        self.steps.append(Step(part, policy))
        return self.result

    def change(self, *changes: Change, of: Part = NOTHING) -> Part:
        """Let somebody make another result of the result, such as a JSON patch: steps without a policy.

        of:     what that somebody sets, as its source has it
        raises: whatever they raise; the folding stays as it was then

        >>> from nodeattrs.core.part import entries
        >>> folding = Folding(start=Part({"a": 1}, 1))
        >>> folding.change(lambda before, said: entries({"a": before.at("a"), "b": said}), of=Part(2, 2))
        Part({'a': 1, 'b': 2}, {'a': 1, 'b': 2})
        """
        result = self.result
        for change in changes:
            result = change(result, of)
        self.result, self._laid = result, True
        self.steps += [Step(of, None, change) for change in changes]
        return result

    def only(self, policy: Policy) -> Part:
        """The result meets nothing: a last look at it as a whole."""
        if self._laid:
            self.result = meet(policy, NOTHING, self.result)
            self.steps.append(Step(NOTHING, policy))
        return self.result

    def remember(self, part: Part | Folding, policy: Policy) -> None:
        """A step that is not taken, for a walk along one path of it: there is no result then."""
        self.steps.append(Step(part, policy))

    def _met(self, part: Part, policy: Policy) -> Part:
        if not self._laid:
            return part if self.opening is None else meet(self.opening, NOTHING, part)
        return meet(policy, part, self.result) if self.from_top else meet(policy, self.result, part)

    def rounds(self) -> Iterator[tuple[Part, Step, Part]]:
        """Each step with the result before and after it, made anew. cost: that of the folding"""
        again = Folding(from_top=self.from_top, opening=self.opening, start=self.start)
        for step in self.steps:
            before = again.result
            yield before, step, again._again(step, step.part)

    def located(self) -> Part:
        """The result once more, its origins saying where in its own tree each source has it (`At`).

        cost: that of the folding
        """
        again = Folding(from_top=self.from_top, opening=self.opening, start=self.start)
        for step in self.steps:
            part = step.part.located() if isinstance(step.part, Folding) else _located(step.part)
            again._again(step, part)
        return again.result

    def _again(self, step: Step, part: Part | Folding) -> Part:
        if step.policy is None:
            of = part.result if isinstance(part, Folding) else part
            return self.change(step.change, of=of) if step.change is not None else self.result
        return self.only(step.policy) if step.part is NOTHING else self.lay(part, step.policy)

    def __repr__(self) -> str:
        return f"<Folding of {len(self.steps)}: {self.result.value!r}>"


def _located(part: Part) -> Part:
    return Part(part.value, At(part.origins, ())) if type(part.origins) is int else part


def placed(
    policy: Policy, lower: Any, upper: Part, origins_of: Callable[[Path], Origins]
) -> Iterator[tuple[Path, Any, Part]]:
    """What laying a part over a tree changes, place by place: the path, what stood there, and what stands there then.

    For whoever keeps the result in a form of his own, and remembers what was replaced.
    origins_of: who set what the tree has at a path; asked where something is made of both
    cost:       one visit for each key of the part's maps that meet maps
    """
    for place in encounters(policy, Part(lower, ()), upper):
        below = place.lower
        if not isinstance(place.verdict, Rule):
            below = Part(below.value, origins_of(place.path))
        after = decided(place.verdict, below, place.upper)
        if after is not below:
            yield place.path, below.value, after


def again(verdict: Verdict, lower: Part, upper: Part) -> tuple[Part, list[Encounter]]:
    """Take one step once more, for a trace: what comes of it, and what met inside."""
    with noting() as notes:
        return decided(verdict, lower, upper), notes

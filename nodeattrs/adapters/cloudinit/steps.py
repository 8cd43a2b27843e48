"""One part joining the result so far: what explanations, differences and warnings are read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from nodeattrs.adapters.cloudinit.parts import CloudPart
from nodeattrs.core.origins import Origins
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Policy

__all__ = ["Step", "renumbered_step"]


@dataclass(frozen=True, slots=True)
class Step:
    """A meeting.

    number: of the part; 0 where several sources join at once
    policy: what happens where they meet; None for a JSON patch
    said:   what the part says, its definition taken out; None for a JSON patch
    folded: whether this is a fold of conf.d files or layers, the strongest first
    """

    number: int
    part: CloudPart
    filename: str
    policy: Policy | None
    before: Part
    said: Part | None
    after: Part
    folded: bool = False


def renumbered_step(step: Step, offset: int, moved: dict[int, Any]) -> Step:
    """The same step, its speakers counted on from *offset*.

    moved: what was renumbered already, by identity, with the original to keep it alive
    """

    def shifted(part: Part) -> Part:
        return Part(part.value, _shifted(part.origins, offset, moved))

    said = None if step.said is None else shifted(step.said)
    number = step.number + offset if step.number else 0
    return replace(step, number=number, before=shifted(step.before), said=said, after=shifted(step.after))


def _shifted(told: Origins, offset: int, moved: dict[int, Any]) -> Origins:
    if type(told) is int:
        return told + offset if told else 0
    if told is None:
        return None
    known = moved.get(id(told))
    if known is None:
        new: Any
        if type(told) is dict:
            new = {key: _shifted(entry, offset, moved) for key, entry in told.items()}
        else:
            new = type(told)(_shifted(entry, offset, moved) for entry in told)
        known = moved[id(told)] = (new, told)
    return known[0]

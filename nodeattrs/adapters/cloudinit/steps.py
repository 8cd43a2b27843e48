"""One part joining the result so far: what differences and warnings are read from.

A run keeps its foldings and, beside each step, what joined there; the results between two steps
are made anew when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from nodeattrs.adapters.cloudinit.parts import CloudPart
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.folding import Step as FoldingStep
from nodeattrs.core.origins import renumbered
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Policy

__all__ = ["Joining", "Row", "Step", "moved", "steps_of"]


@dataclass(frozen=True, slots=True)
class Joining:
    """Who joins at a step of a folding, or at several: a patch changes the result operation by operation.

    number: of the part; 0 where several sources join at once
    policy: what happens where they meet; None for a JSON patch
    said:   what the part says, its definition taken out; None for a JSON patch
    folded: whether this is a fold of conf.d files or layers, the strongest first
    steps:  how many steps of the folding it takes
    """

    number: int
    part: CloudPart
    filename: str
    policy: Policy | None
    said: Part | None
    folded: bool = False
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Step(Joining):
    """The same, with the result before and after it."""

    before: Part = NOTHING
    after: Part = NOTHING


@dataclass(frozen=True, slots=True)
class Row:
    """A folding, and who joined at its steps."""

    folding: Folding
    joinings: tuple[Joining, ...]


def steps_of(rows: Iterable[Row]) -> Iterator[Step]:
    """Each joining with the result before and after it. cost: that of the merges"""
    for row in rows:
        rounds, last = row.folding.rounds(), row.folding.start or NOTHING
        for joining in row.joinings:
            before, *results = last, *(after for _, _, after in islice(rounds, joining.steps))
            last = results[-1] if results else before
            yield Step(**_fields(joining), before=before, after=last)


def _fields(joining: Joining) -> dict[str, Any]:
    return {field.name: getattr(joining, field.name) for field in fields(joining)}


def moved(rows: Iterable[Row], offset: int) -> list[Row]:
    """The same rows, their sources counted on from *offset*."""

    def number(old: int) -> int:
        return old + offset if old else 0

    known: dict[int, Folding] = {}
    return [
        Row(_moved(row.folding, number, known), tuple(_joining(one, number) for one in row.joinings)) for row in rows
    ]


def _joining(one: Joining, number: Callable[[int], int]) -> Joining:
    return replace(one, number=number(one.number), said=None if one.said is None else _part(one.said, number))


def _part(part: Part, number: Callable[[int], int]) -> Part:
    return Part(part.value, renumbered(part.origins, number))


def _moved(folding: Folding, number: Callable[[int], int], known: dict[int, Folding]) -> Folding:
    if id(folding) not in known:
        new = known[id(folding)] = Folding(start=folding.start)
        for step in folding.steps:
            part = step.part
            laid = _moved(part, number, known) if isinstance(part, Folding) else _part(part, number)
            new.steps.append(FoldingStep(laid, step.policy, step.change))
        new.result = _part(folding.result, number)
    return known[id(folding)]

"""One part joining the result so far, and what became of it: what differences are, and what warnings are read from.

A run keeps its foldings and, beside each step, what joined there; the results between two steps
are made anew for each question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.budget import Budget
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.folding import Step as FoldingStep
from nodeattrs.core.origins import renumbered
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Meet, Policy, Rule
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.dialects.cloudinit.faults import REJECTED, kind_of
from nodeattrs.dialects.cloudinit.mergers import Definition
from nodeattrs.dialects.cloudinit.parts import HANDLED_ELSEWHERE, CloudPart, same
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.yaml_events import RepeatedKey

_NUMBERED = re.compile(r"part-\d{3,}")

Status = Literal[
    "merged", "rejected", "failed", "script", "include", "ignored", "empty", "unknown", "template", "disabled"
]


class PartReport(NamedTuple):
    """What became of one part.

    number:     its place among all parts, from 1
    status:     merged; rejected (cloud-init notes it in the merged file) or failed (it only logs it):
                either way the result is as before the part; script; include: not followed; ignored: a
                unhandled type; empty: the same with nothing in it; unknown: it cannot be read; template:
                there is no instance data to render it with; disabled: of vendor-data that is switched off
    definition: the mergers that were used; None for a patch and for what is not merged
    source:     where they come from: "body merge_how", "header Merge-Type", both, "default",
                "asked" (a what-if), "part N" (documented mode: the part whose definition was on the stack)
    error:      why it was rejected or failed
    repeated:   the keys that its text writes twice in one mapping
    """

    number: int
    part: CloudPart
    filename: str
    status: Status
    definition: Definition | None = None
    source: str = ""
    error: NodeattrsError | None = None
    repeated: Sequence[RepeatedKey] = ()

    @property
    def title(self) -> str:
        """What people call the part: its name; the file where it has no name of its own and is all of the file."""
        file = self.part.file
        if not self.filename:
            return file or "?"
        if file is None or _NUMBERED.fullmatch(self.filename) is None:
            return self.filename
        return file if self.part.line == 1 else f"{file} {self.filename}"

    @property
    def kind(self) -> Kind | None:
        """The kind of the error."""
        return None if self.error is None else kind_of(self.error)

    @property
    def ok(self) -> bool:
        """Whether the part was neither rejected nor failed."""
        return self.error is None

    @property
    def is_foreign(self) -> bool:
        """Whether cloud-init ignores the part, and no other program of a machine is known that reads its type."""
        return self.status == "ignored" and self.part.type not in HANDLED_ELSEWHERE

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data for JSON."""
        return {
            "number": self.number,
            "filename": self.filename,
            "type": self.part.type,
            "file": self.part.file,
            "line": self.part.line,
            "status": self.status,
            "mergers": None if self.definition is None else self.definition.to_list(),
            "definition": None if self.definition is None else str(self.definition),
            "source": self.source or None,
            "kind": None if self.kind is None else str(self.kind),
            "code": None if self.kind is None else self.kind.entry.code,
            "error": None if self.error is None else str(self.error),
        }


def status_of(error: NodeattrsError) -> Status:
    """What cloud-init makes of a part with this error."""
    return "rejected" if kind_of(error) in REJECTED else "failed"


class Joining(NamedTuple):
    """Who joins at a step of a folding, or at several: a patch changes the result operation by operation.

    number: of the part; 0 where a merged layer joins, which `filename` names
    policy: what happens where they meet; None for a JSON patch
    laid:   what the part says, its definition taken out; None for a JSON patch
    folded: whether this is a fold of conf.d files or layers, the strongest first
    steps:  how many steps of the folding it takes
    before, after: the result before and after it, of those that `steps_of` gives
    """

    number: int
    part: CloudPart
    filename: str
    policy: Policy | None
    laid: Part | None
    folded: bool = False
    steps: int = 1
    before: Part = NOTHING
    after: Part = NOTHING


class Row(NamedTuple):
    """A folding, and who joined at its steps."""

    folding: Folding
    joinings: tuple[Joining, ...]


def steps_of(rows: Iterable[Row]) -> Iterator[Joining]:
    """Each joining with the result before and after it. cost: that of the merges"""
    for row in rows:
        rounds, last = row.folding.rounds(), row.folding.start or NOTHING
        for joining in row.joinings:
            before, *results = last, *(after for _, _, after in islice(rounds, joining.steps))
            last = results[-1] if results else before
            yield joining._replace(before=before, after=last)


def befores_of(rows: Iterable[Row]) -> Iterator[tuple[Joining, Part]]:
    """Each joining with the result before it, which may not be kept (`results_before`). cost: that of what joins"""
    for row in rows:
        befores = row.folding.results_before()
        for joining in row.joinings:
            steps = [before for before, _ in islice(befores, joining.steps)]
            if steps:
                yield joining, steps[0]


def moved(rows: Iterable[Row], offset: int) -> list[Row]:
    """The same rows, their sources counted on from *offset*."""

    def number(old: int) -> int:
        return old + offset if old else 0

    known: dict[int, Folding] = {}
    return [
        Row(_moved(row.folding, number, known), tuple(_joining(one, number) for one in row.joinings)) for row in rows
    ]


def _joining(one: Joining, number: Callable[[int], int]) -> Joining:
    return one._replace(number=number(one.number), laid=None if one.laid is None else _part(one.laid, number))


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


Action = Literal["set", "extended", "replaced", "deleted", "dropped"]


class Change(NamedTuple):
    """One path that a part changed, or wanted to.

    old, new: what stood there before and what stands there now; ABSENT where nothing does.
              Of what was dropped, *new* is what the part set
    """

    path: Path
    action: Action
    old: Any
    new: Any

    def to_dict(self) -> dict[str, Any]:
        """The steps as plain data for JSON."""
        shown: dict[str, Any] = {"path": spell(self.path), "steps": list(self.path), "action": self.action}
        return shown | {name: value for name, value in (("old", self.old), ("new", self.new)) if value is not ABSENT}


class PartChanges(NamedTuple):
    """All that one part changed, in the order in which it says it; what it set in vain comes last."""

    number: int
    filename: str
    changes: tuple[Change, ...]


def changes_of(rows: Iterable[Row]) -> Iterator[PartChanges]:
    """The difference that each meeting made. raises: TooMuch, where they hold too many entries together

    cost: that of what joins, and of the values that it meets; of a patch that of the result
    """
    budget = Budget("the changes of all parts")
    for row in rows:
        results = row.folding.results()
        last = next(results).value
        for joining in row.joinings:
            met = None if joining.laid is None or joining.policy is None else (joining.policy, joining.laid.value)
            before = last if met is None else _touched(last, *met, last)
            last = [last, *(one.value for one in islice(results, joining.steps))][-1]
            after = last if met is None else _touched(last, *met, before)
            found = list(_differences(before, after, (), met))
            if joining.laid is not None:
                found += _dropped(joining.laid.value, before, after, ())
            for change in found:
                budget.values(sum(len(one) for one in (change.old, change.new) if isinstance(one, (dict, list))))
            changes = (one._replace(old=_apart(one.old), new=_apart(one.new)) for one in found)
            yield PartChanges(joining.number, joining.filename, tuple(changes))


def _touched(value: Any, policy: Policy, given: Any, before: Any) -> Any:
    """Of a value that much on which a part has something to say: of maps that meet the entries that it names.

    before: what it meets, which decides how
    """
    verdict = policy.verdict(type(before), type(given))
    if type(verdict) is not Meet or not isinstance(value, dict):
        return value if isinstance(verdict, Rule) else _apart(value)  # a handler may go on with what is in it
    inner = verdict.policy
    return {
        key: _touched(value[key], inner.at(key), one, before.get(key, ABSENT))
        for key, one in given.items()
        if key in value
    }


def _apart(value: Any) -> Any:
    """A value that stays as it is: maps in it may grow."""
    if type(value) is dict:
        return {key: _apart(inner) for key, inner in value.items()}
    if type(value) is list and not _CONTAINERS.isdisjoint(map(type, value)):
        return [_apart(inner) for inner in value]
    return value


_CONTAINERS = {dict, list}


def _differences(before: Any, after: Any, path: Path, met: tuple[Policy, Any] | None = None) -> Iterator[Change]:
    """met: what was laid there, and under which policy. Where two maps met key by key, no other keys can differ."""
    if before is after:
        return
    verdict = None if met is None else met[0].verdict(type(before), type(met[1]))
    if met is not None and type(verdict) is Meet and isinstance(after, dict):
        given, policy = met[1], verdict.policy
        inner = {key: (policy.at(key), given[key]) for key in given}
        yield from _entries(before, after, path, given, inner)
    elif isinstance(before, dict) and isinstance(after, dict):
        if not same(before, after):
            yield from _entries(before, after, path, dict.fromkeys((*after, *before)), {})
    elif not same(before, after):
        yield Change(path, "extended" if _holds(after, before) else "replaced", before, after)


def _entries(before: Any, after: Any, path: Path, keys: Collection[Any], met: dict[Any, Any]) -> Iterator[Change]:
    """The differences of some entries, those that are gone first. met: as above, for each"""
    for key in keys:
        if key in before and key not in after:
            yield Change((*path, key), "deleted", before[key], ABSENT)
    for key in keys:
        if key in before and key in after:
            yield from _differences(before[key], after[key], (*path, key), met.get(key))
        elif key in after:
            yield Change((*path, key), "set", ABSENT, after[key])


def _holds(after: Any, before: Any) -> bool:
    """Whether a list or text begins or ends with what was there."""
    if isinstance(after, str) and isinstance(before, str):
        return after.startswith(before) or after.endswith(before)
    if isinstance(after, list) and isinstance(before, list):
        count = len(before)
        return len(after) > count and (same(after[:count], before) or same(after[len(after) - count :], before))
    return False


def _dropped(given: Any, before: Any, after: Any, path: Path) -> Iterator[Change]:
    """What a part set and the result does not have, while the old value stands."""
    if isinstance(given, dict) and isinstance(after, dict):
        for key, entry in given.items():
            if key not in after:
                if key in (before if isinstance(before, dict) else ()) and entry is None:
                    continue  # a null that deleted its key
                yield Change((*path, key), "dropped", ABSENT, entry)
            else:
                yield from _dropped(entry, dig(before, (key,)), after[key], (*path, key))
    elif not same(given, after) and same(before, after):
        yield Change(path, "dropped", before, given)
    elif isinstance(given, list) and isinstance(after, list) and len(given) > len(after):
        yield Change(path, "dropped", before, given[len(after) :])

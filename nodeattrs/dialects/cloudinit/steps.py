"""The steps of a merge: reports about parts, the part that was merged at each step, and the changes of each step.

A folding is a merge of parts, one after the other; each part is a step of it. A merge keeps its foldings, and a
`MergedPart` for each part: the part, its policy, and the number of its steps. Results between two steps are not kept.
These results are computed again for changes and warnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.budget import Budget
from nodeattrs.core.folding import Folding
from nodeattrs.core.folding import Step as FoldingStep
from nodeattrs.core.origins import renumbered
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Meet, Policy, Rule
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.dialects.cloudinit.faults import REJECTED, kind_of
from nodeattrs.dialects.cloudinit.mergers import Definition
from nodeattrs.dialects.cloudinit.parts import HANDLED_ELSEWHERE, CloudPart, strictly_equal
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.yaml_events import RepeatedKey

_NUMBERED = re.compile(r"part-\d{3,}")

Status = Literal[
    "merged", "rejected", "failed", "script", "include", "ignored", "empty", "unknown", "template", "disabled"
]


class PartReport(NamedTuple):
    """The result of the merge for one part or source.

    number:     its number among all parts, from 1
    part:       the part; for a template the rendered one
    filename:   its name, or part-001, part-002, ... by position
    status:     "merged"; "rejected" (cloud-init notes it in the merged file); "failed" (cloud-init only logs it);
                "script"; "include" (not followed); "ignored" (no handler has its type); "empty" (ignored, and without
                a body); "unknown" (not read); "template" (not rendered); "disabled" (switched off). Only merged parts
                change the config
    definition: the merge definition that was used; None for a patch, and for a part that was not merged
    source:     where the definition comes from: "body merge_how", "header Merge-Type", both, "default", "asked" (by
                --how), "part N" (in documented mode)
    error:      why it was rejected or failed; None for any other status
    repeated:   the keys that its text writes twice in one map

    `title` is a name for people: *filename*, or the name of the file for a part that only has a number. `kind` is the
    kind of the error, or None. `ok` is False for "rejected" and "failed". `is_foreign` is True for an ignored part with
    a type that no other program on the machine handles. `to_dict` returns the report as JSON-able data.
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
        """The name of the part in reports: its own name.

        For a name by position, such as part-002, it is "FILE" if the part begins at line 1 of FILE, else
        "FILE part-002". "?" without name and file.
        """
        file = self.part.file
        if not self.filename:
            return file or "?"
        if file is None or _NUMBERED.fullmatch(self.filename) is None:
            return self.filename
        return file if self.part.line == 1 else f"{file} {self.filename}"

    @property
    def kind(self) -> Kind | None:
        """The kind of the error; None without one."""
        return None if self.error is None else kind_of(self.error)

    @property
    def ok(self) -> bool:
        """Whether the part was neither rejected nor failed."""
        return self.error is None

    @property
    def is_foreign(self) -> bool:
        """Whether cloud-init ignores the part, and its type is not one of another program on the machine."""
        return self.status == "ignored" and self.part.type not in HANDLED_ELSEWHERE

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-able data; the definition as a list and as text, the error with kind and code."""
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
    """The status of a part with that error: "rejected" or "failed"."""
    return "rejected" if kind_of(error) in REJECTED else "failed"


class MergedPart(NamedTuple):
    """One part that was merged, at one step of a folding or at several. A folding is a merge of parts in order.

    number:   the number of the part; 0 for a merge of several parts that is merged as one
    part:     the part itself
    filename: the name of the part or layer
    policy:   the policy that it was merged by; None for a JSON patch
    laid:     the config of the part without the definition; None for a JSON patch, and for an unknown part
    folded:   True: the folding merges conf.d files or layers, the strongest first
    steps:    how many steps of the folding it took: one for each operation of a JSON patch, and one for any other part
    """

    number: int
    part: CloudPart
    filename: str
    policy: Policy | None
    laid: Part | None
    folded: bool = False
    steps: int = 1


class Row(NamedTuple):
    """A folding, with a `MergedPart` (`merged_parts`) for each part that was merged at its steps, in order."""

    folding: Folding
    merged_parts: tuple[MergedPart, ...]


def merged_parts_with_results(rows: Iterable[Row]) -> Iterator[tuple[MergedPart, Part]]:
    """Yield (merged part, the result before its first step) for each part that was merged, in order.

    A part without steps is left out, such as a patch without operations. Results are computed again. Use
    each result before the next one is computed, since its maps change then.
    rows: foldings, each with the merged_parts of its parts
    cost: grows with the size of the parts
    """
    for row in rows:
        results = row.folding.results()
        for merged_part in row.merged_parts:
            befores = [*islice(results, merged_part.steps)]
            if befores:
                yield merged_part, befores[0]


def renumbered_rows(rows: Iterable[Row], offset: int) -> list[Row]:
    """Copies of rows in which *offset* is added to each number of a part, in merged_parts and origins. 0 stays 0."""

    def number(old: int) -> int:
        return old + offset if old else 0

    known: dict[int, Folding] = {}
    return [
        Row(_moved(row.folding, number, known), tuple(_merged_part(one, number) for one in row.merged_parts))
        for row in rows
    ]


def _merged_part(one: MergedPart, number: Callable[[int], int]) -> MergedPart:
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
    """One path that a part changed, or tried to change.

    path:   the path in the config
    action: "set" (a new key), "extended" (a list or text got longer), "replaced", "deleted", or "dropped" (the old
            value stays)
    old:    the value before; ABSENT if there was no value
    new:    the value after; ABSENT if it was deleted. For "dropped" it is the value of the part, which was not used
    """

    path: Path
    action: Action
    old: Any
    new: Any

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON-able data; "old" and "new" are left out where they are ABSENT."""
        shown: dict[str, Any] = {"path": spell(self.path), "steps": list(self.path), "action": self.action}
        return shown | {name: value for name, value in (("old", self.old), ("new", self.new)) if value is not ABSENT}


class PartChanges(NamedTuple):
    """The changes of one merged part.

    number, filename: of the part
    changes:          in the order of its text, dropped values last; () for a part without effect
    """

    number: int
    filename: str
    changes: tuple[Change, ...]


def changes_of(rows: Iterable[Row]) -> Iterator[PartChanges]:
    """Yield for each part that was merged what it changed. The results between the steps are computed again.

    raises: TooMuch, if all changes together have too many entries
    cost:   grows with the size of the parts, and of the values that they change. For a patch it grows with the config
    """
    budget = Budget("the changes of all parts")
    for row in rows:
        results = row.folding.results()
        last = next(results).value
        for merged_part in row.merged_parts:
            met = (
                None
                if merged_part.laid is None or merged_part.policy is None
                else (merged_part.policy, merged_part.laid.value)
            )
            before = last if met is None else _touched(last, *met, last)
            last = [last, *(one.value for one in islice(results, merged_part.steps))][-1]
            after = last if met is None else _touched(last, *met, before)
            found = list(_differences(before, after, (), met))
            if merged_part.laid is not None:
                found += _dropped(merged_part.laid.value, before, after, ())
            for change in found:
                budget.values(sum(len(one) for one in (change.old, change.new) if isinstance(one, (dict, list))))
            changes = (one._replace(old=_deep_copy(one.old), new=_deep_copy(one.new)) for one in found)
            yield PartChanges(merged_part.number, merged_part.filename, tuple(changes))


def _touched(value: Any, policy: Policy, given: Any, before: Any) -> Any:
    """A copy of the entries of a value that a part of user-data may change. In merged maps these are the part's keys.

    given:  the value of that part
    before: the value before it, which decides how they are merged
    """
    verdict = policy.verdict(type(before), type(given))
    if type(verdict) is not Meet or not isinstance(value, dict):
        return value if isinstance(verdict, Rule) else _deep_copy(value)  # a handler may change the value later
    inner = verdict.policy
    return {
        key: _touched(value[key], inner.at(key), one, before.get(key, ABSENT))
        for key, one in given.items()
        if key in value
    }


def _deep_copy(value: Any) -> Any:
    """A copy of a value: maps of a result may grow later."""
    if type(value) is dict:
        return {key: _deep_copy(inner) for key, inner in value.items()}
    if type(value) is list and not _CONTAINERS.isdisjoint(map(type, value)):
        return [_deep_copy(inner) for inner in value]
    return value


_CONTAINERS = {dict, list}


def _differences(before: Any, after: Any, path: Path, met: tuple[Policy, Any] | None = None) -> Iterator[Change]:
    """Yield the changes between two values, the deepest paths that differ.

    met: the policy and the value of the part that was merged there; where maps were merged only its keys can differ
    """
    if before is after:
        return
    verdict = None if met is None else met[0].verdict(type(before), type(met[1]))
    if met is not None and type(verdict) is Meet and isinstance(after, dict):
        given, policy = met[1], verdict.policy
        inner = {key: (policy.at(key), given[key]) for key in given}
        yield from _entries(before, after, path, given, inner)
    elif isinstance(before, dict) and isinstance(after, dict):
        if not strictly_equal(before, after):
            yield from _entries(before, after, path, dict.fromkeys((*after, *before)), {})
    elif not strictly_equal(before, after):
        yield Change(path, "extended" if _holds(after, before) else "replaced", before, after)


def _entries(before: Any, after: Any, path: Path, keys: Collection[Any], met: dict[Any, Any]) -> Iterator[Change]:
    """Yield the changes of some keys, deleted ones first. met: key -> policy and value of the part"""
    for key in keys:
        if key in before and key not in after:
            yield Change((*path, key), "deleted", before[key], ABSENT)
    for key in keys:
        if key in before and key in after:
            yield from _differences(before[key], after[key], (*path, key), met.get(key))
        elif key in after:
            yield Change((*path, key), "set", ABSENT, after[key])


def _holds(after: Any, before: Any) -> bool:
    """Whether a list or text is the old one with something added at its beginning or end."""
    if isinstance(after, str) and isinstance(before, str):
        return after.startswith(before) or after.endswith(before)
    if isinstance(after, list) and isinstance(before, list):
        count = len(before)
        return len(after) > count and (
            strictly_equal(after[:count], before) or strictly_equal(after[len(after) - count :], before)
        )
    return False


def _dropped(given: Any, before: Any, after: Any, path: Path) -> Iterator[Change]:
    """Yield the values of a part that are not in the result, since the old value stayed."""
    if isinstance(given, dict) and isinstance(after, dict):
        for key, entry in given.items():
            if key not in after:
                if key in (before if isinstance(before, dict) else ()) and entry is None:
                    continue  # a null that deleted its key
                yield Change((*path, key), "dropped", ABSENT, entry)
            else:
                yield from _dropped(entry, dig(before, (key,)), after[key], (*path, key))
    elif not strictly_equal(given, after) and strictly_equal(before, after):
        yield Change(path, "dropped", before, given)
    elif isinstance(given, list) and isinstance(after, list) and len(given) > len(after):
        yield Change(path, "dropped", before, given[len(after) :])

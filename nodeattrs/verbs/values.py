"""`blame`, `matrix` and `diff`: the values of subjects, each with the line that set it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeattrs.contract.answers import Part
from nodeattrs.contract.command import Output, Question
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.reports.matrix import Cell, Matrix
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.show import tree_lines
from nodeattrs.reports.values import data_of, on_one_line, origin_data
from nodeattrs.verbs.asking import Reply, Subjects, failed_data
from nodeattrs.verbs.comparing import Difference, Value, differences, plain, value_of
from nodeattrs.verbs.why import key_of, trace_at

_SIGNS = {(True, True): "~", (True, False): "-", (False, True): "+"}


def _first(part: Part, path: Path) -> Origin | None:
    try:
        return next(iter(part.places(path)), None)
    except NodeattrsError:
        return None


@dataclass(frozen=True)
class Blame:
    """All values of some subjects."""

    replies: Sequence[Reply]
    top: str

    def to_dict(self) -> dict[str, Any]:
        """Each value with its path and the line that set it."""
        return {
            "version": 1,
            "answers": [
                {
                    "dialect": one.dialect.name,
                    "subject": one.subject,
                    "facts": one.facts or None,
                    "values": [*self._values(one)],
                }
                for one in self.replies
                if one.error is None
            ],
            "not_known": failed_data(self.replies),
        }

    def _values(self, reply: Reply) -> Iterator[dict[str, Any]]:
        for kind, part in reply.parts.items():
            for path, value in _leaves(self._tree(part)):
                origin = _first(part, path)
                set_by = None if origin is None else origin_data(origin)
                yield {"kind": kind, "path": spell(path), "value": value, "set_by": set_by}

    def _tree(self, part: Part) -> Any:
        return value_of(plain(part.tree, self.top)).data

    def lines(self, screen: Screen) -> Iterator[str]:
        """The tree of each subject, with the line behind each value."""
        for number, reply in enumerate(self.replies):
            if len(self.replies) > 1:
                yield from [""] if number else []
                yield screen.paint(printable(f"{reply.dialect.name} {reply.subject}".rstrip()), "strong")
            if reply.facts:
                yield screen.paint(printable(f"# facts: {reply.facts}"), "faint")
            for part in reply.parts.values():
                yield from tree_lines(self._tree(part), screen, partial(_first, part))


def _leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(tree, dict) and tree:
        for step, entry in tree.items():
            yield from _leaves(entry, (*path, step))
    else:
        yield path, tree


def blame(question: Question) -> Output:
    """All values of the subjects. raises: NotFound; the error of a subject that is asked alone"""
    wanted = question.arguments["subject"]
    replies = [*Subjects(question).replies([wanted] if wanted else ())]
    if len(replies) == 1 and replies[0].error is not None:
        raise replies[0].error
    return Output(Blame(replies, str(question.side.top)), unread=[one for reply in replies for one in reply.doubts()])


def matrix(question: Question) -> Output:
    """The values of a key, by value. raises: NoSuchAttribute, for a key that nothing sets"""
    path = key_of(question)
    replies = [*Subjects(question).replies()]
    found = Matrix(spell(path), [cell for reply in replies for cell in _cells(reply, path)])
    unread = [one for reply in replies for one in reply.doubts(path)]
    if not (found.is_set or unread):
        raise NoSuchAttribute(f"nothing that was read sets {spell(path)}", path=path)
    return Output(found, unread=unread)


def _cells(reply: Reply, path: Path) -> Iterator[tuple[str, Cell]]:
    if reply.error is not None:
        yield reply.subject, Cell(reply.error)
        return
    traces = [trace for part in reply.parts.values() if (trace := trace_at(part, path)) is not None]
    unset = NoSuchAttribute(f"{spell(path)} is not set", path=path)
    for trace in traces:
        yield reply.subject, Cell(data_of(trace.value, path) if trace.found else unset, trace.origins)
    if not traces:
        yield reply.subject, Cell(unset)


@dataclass(frozen=True)
class SubjectDifference:
    """What one subject has, and another one has not, or has otherwise."""

    before: Reply
    after: Reply
    found: Sequence[Difference]

    def to_dict(self) -> dict[str, Any]:
        """The differences, each side with its value and the line that set it."""
        return {
            "version": 1,
            "before": self.before.subject,
            "after": self.after.subject,
            "changes": [
                {
                    "kind": one.kind,
                    "path": spell(one.path),
                    "before": _side_data(self.before, one, one.before),
                    "after": _side_data(self.after, one, one.after),
                }
                for one in self.found
            ],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A block for each path."""
        yield screen.paint(printable(f"{self.before.subject} -> {self.after.subject}"), "strong")
        if not self.found:
            yield "  no difference"
        for one in self.found:
            yield printable(f"{_SIGNS[one.before.is_there, one.after.is_there]} {spell(one.path)}")
            for reply, value in ((self.before, one.before), (self.after, one.after)):
                if value.is_there:
                    origin = _origin(reply, one)
                    place = "" if origin is None else f"  {origin.place or origin}"
                    yield printable(f"    {reply.subject}: {on_one_line(value.data)}{place}")


def _origin(reply: Reply, one: Difference) -> Origin | None:
    part = reply.parts.get(one.kind)
    return None if part is None else _first(part, one.path)


def _side_data(reply: Reply, one: Difference, value: Value) -> dict[str, Any] | None:
    if not value.is_there:
        return None
    origin = _origin(reply, one)
    return {"value": value.data, "set_by": None if origin is None else origin_data(origin)}


def diff(question: Question) -> Output:
    """What differs between two subjects of one dialect. raises: NotFound; the error of one that cannot be resolved"""
    before, after = question.arguments["before"], question.arguments["after"]
    replies = [*Subjects(question).replies([before, after])]
    for reply in replies:
        if reply.error is not None and reply.subject in (before, after):
            raise reply.error
    sides = [next((one for one in replies if one.subject == name), None) for name in (before, after)]
    left, right = sides
    if left is None or right is None or left.dialect is not right.dialect:
        raise NotFound(f"{before} and {after} are not subjects of one dialect", hint="`nodeattrs list subjects`")
    tops = (str(question.side.top), str(question.side.top))
    report = SubjectDifference(left, right, [*differences(left.parts, right.parts, tops)])
    return Output(report, unread=[*left.doubts(), *right.doubts()])

"""`blame`, `matrix` and `diff`: the values of subjects, each with the line that set it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.contract.answers import Part
from nodeattrs.contract.command import Output, Question
from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT, Path, dig, parse, spell
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.errors import BadUsage, NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.reports.matrix import Cell, Matrix, names_of
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.reports.show import tree_lines
from nodeattrs.reports.values import data_of, on_one_line, origin_data
from nodeattrs.verbs.asking import Reply, Subjects, failed_data, key_of, trace_at
from nodeattrs.verbs.comparing import Difference, Value, differences, plain, value_of
from nodeattrs.verbs.where import OtherLines, other_lines

_ABSENCE = (NoSuchAttribute, NotFound)
_WORDS = {(True, True): "changed", (True, False): "removed", (False, True): "added"}
_SIGNS = {(True, True): "~", (True, False): "-", (False, True): "+"}


def _first(part: Part, path: Path) -> Origin | None:
    if part.is_keyed and not path:  # nothing sets the keys as a whole
        return None
    try:
        return next(iter(part.places(path)), None)
    except NodeattrsError:
        return None


@dataclass(frozen=True)
class Blame:
    """All values of some subjects, each with the line that set it; subjects that cannot be resolved are listed apart.

    top: the folder to which file names in values are relative
    """

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
    asked = Subjects(question)
    replies = [*asked.replies([wanted] if wanted else ())]
    if len(replies) == 1 and replies[0].error is not None:
        raise replies[0].error
    unread = [*(one for reply in replies for one in reply.unread_at()), *asked.unread]
    return Output(Blame(replies, str(question.side.top)), warnings=asked.warnings, unread=unread)


def matrix(question: Question) -> Output:
    """The values of a key, by value; 1 where nothing sets it, or a value cannot be had."""
    path = key_of(question)
    asked = Subjects(question._replace(request=question.request.asking(path)))
    rows = [*asked.answers(partial(_row, path), _texts_of)]
    found = Matrix(spell(path), _that_matter(rows), names_of(question.arguments))
    unread = [*dict.fromkeys(one for _, row in rows for one in row.unread), *asked.unread]
    errors = [cell.value for _, cell in found.cells if isinstance(cell.value, NodeattrsError)]
    may_be_set = [isinstance(one, _ABSENCE) or one.may_be_there for one in errors]
    has_failed = not all(may_be_set)
    others = OtherLines((), ()) if found.is_set else other_lines(question, path)
    notes = [f"{file}:{one.line} sets {spell(path)} {one.note}" for file, one in others.lines if one.note]
    notes += sentences(others.unread) if notes else ()
    unread += others.unread if not notes else ()
    code = int(has_failed or not (found.is_set or unread or border.refused()))
    return Output(found, code, [*asked.warnings, *notes], unread=unread)


class _Row(NamedTuple):
    """What a subject has at a path, its dialect, and what was not read and may change that."""

    dialect: str
    cells: list[Cell]
    unread: list[Unread]


def _row(path: Path, reply: Reply) -> _Row:
    cells = [] if reply.error is None else [Cell(reply.error)]
    cells += [cell for part in reply.parts.values() if (cell := _cell(part, path)) is not None]
    return _Row(reply.dialect.name, cells or [Cell(_unset(path))], reply.unread_at(path))


def _texts_of(row: _Row) -> object:
    """A row as plain data, for comparisons."""
    cells = [(cell.key, str(cell.value), cell.origins, cell.notes, cell.unread) for cell in row.cells]
    return cells, row.unread


def _that_matter(rows: Sequence[tuple[str, _Row]]) -> list[tuple[str, Cell]]:
    """The cells of all subjects. A dialect in which nothing sets the path is left out, where another one sets it."""
    by_dialect: dict[str, list[tuple[str, Cell]]] = {}
    for name, row in rows:
        by_dialect.setdefault(row.dialect, []).extend((name, cell) for cell in row.cells)
    some = [cells for cells in by_dialect.values() if not all(isinstance(one.value, _ABSENCE) for _, one in cells)]
    return [cell for cells in some or by_dialect.values() for cell in cells]


def _unset(path: Path) -> NoSuchAttribute:
    return NoSuchAttribute(f"{spell(path)} is not set", path=path)


def _cell(part: Part, path: Path) -> Cell | None:
    """What a part has at a path, and who set it; None where it says nothing of the path."""
    trace = trace_at(part, path)
    if not part.is_keyed:
        if trace is None:
            return None
        value = trace.value if isinstance(trace.value, Sensitive) else data_of(trace.value, path)
        return Cell(value if trace.found else _unset(path), trace.origins)
    value = part.tree.get(path[0], ABSENT)
    if isinstance(value, NodeattrsError):
        return Cell(value)
    value = dig(value, path[1:])
    return Cell(_unset(path) if value is ABSENT else value, trace.origins if trace is not None else ())


@dataclass(frozen=True)
class SubjectDifference:
    """What one subject has, and another one has not, or has otherwise."""

    titles: tuple[str, str]
    before: Reply
    after: Reply
    found: Sequence[Difference]

    def to_dict(self) -> dict[str, Any]:
        """The differences, each side with its value and the line that set it."""
        return {
            "version": 1,
            "before": self.titles[0],
            "after": self.titles[1],
            "changes": [
                {
                    "kind": one.kind,
                    "path": spell(one.path),
                    "change": _WORDS[one.before.is_there, one.after.is_there],
                    **_side_data("before", self.before, one, one.before),
                    **_side_data("after", self.after, one, one.after),
                }
                for one in self.found
            ],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A block for each path."""
        yield screen.paint(printable(" -> ".join(self.titles)), "strong")
        if not self.found:
            yield "  no difference"
        for one in self.found:
            yield printable(f"{_SIGNS[one.before.is_there, one.after.is_there]} {spell(one.path)}")
            sides = ((self.before, one.before), (self.after, one.after))
            for title, (reply, value) in zip(self.titles, sides, strict=True):
                if value.is_there:
                    origin = _origin(reply, one)
                    place = "" if origin is None else f"  {origin.place or origin}"
                    yield printable(f"    {title}: {on_one_line(value.data)}{place}")


def _origin(reply: Reply, one: Difference) -> Origin | None:
    part = reply.parts.get(one.kind)
    return None if part is None else _first(part, one.path)


def _side_data(side: str, reply: Reply, one: Difference, value: Value) -> dict[str, Any]:
    """One side with its value and the line that set it; {} where it has no value."""
    if not value.is_there:
        return {}
    origin = _origin(reply, one)
    set_by = None if origin is None else origin_data(origin)
    return {side: {"value": value.data, "origin": None if origin is None else str(origin), "set_by": set_by}}


def diff(question: Question) -> Output:
    """What differs between two subjects of a dialect, or of one between two places of its files.

    raises: BadUsage, NotFound; the error of one that cannot be resolved
    """
    before, after = question.arguments["before"], question.arguments["after"]
    against = question.arguments.get("against")
    if after is None and against is None:
        raise BadUsage("name another subject, or other files")
    one = other = Subjects(question)
    if against is not None:
        other = Subjects(question._replace(request=question.request.placed(question.dialects[0], against)))
    left, right = _reply(one, before), _reply(other, before if after is None else after)
    tops = (str(question.side.top), str(question.side.top))
    below = parse(question.arguments.get("path") or "")
    found = [one for one in differences(left.parts, right.parts, tops) if one.path[: len(below)] == below]
    report = SubjectDifference((left.name, against or right.name), left, right, found)
    warnings = [*dict.fromkeys([*one.warnings, *other.warnings])]
    return Output(report, warnings=warnings, unread=[*left.unread_at(), *right.unread_at()])


def _reply(asked: Subjects, name: str) -> Reply:
    """The answer of one subject. raises: BadUsage, where several dialects have the name; the error of the subject"""
    dialects = [dialect for dialect, some in asked.names.items() if name and name in some]
    if len(dialects) > 1:
        raise BadUsage(
            f"{name} is a subject of {' and of '.join(dialects)}: name one, as `nodeattrs {dialects[0]} diff`"
        )
    names = [one for some in asked.names.values() for one in some]
    if not name and len(names) > 1:
        raise BadUsage(f"say which subject is meant: there are {first_of(names, 3)}")
    found = next(iter(asked.replies([name or names[0]])))
    if found.error is not None:
        raise found.error
    return found

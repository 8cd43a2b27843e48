"""The verbs `blame`, `matrix` and `diff`: values of subjects, each with the line that set it."""

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
from nodeattrs.core.tree import ABSENT, Path, dig, leaves, parse, spell
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.errors import BadUsage, NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.node.documents import json_ready
from nodeattrs.reports.matrix import Cell, Matrix, names_of
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.reports.show import tree_lines
from nodeattrs.reports.values import on_one_line, origin_data
from nodeattrs.verbs.asking import Reply, Subjects, failed_data, key_of, trace_at
from nodeattrs.verbs.comparing import Difference, Value, differences, plain, value_of
from nodeattrs.verbs.where import OtherLines, other_lines

_ABSENCE = (NoSuchAttribute, NotFound)
_WORDS = {(True, True): "changed", (True, False): "removed", (False, True): "added"}
_SIGNS = {(True, True): "~", (True, False): "-", (False, True): "+"}


def _setter(part: Part, path: Path) -> Origin | None:
    """The origin of the winner at a path; None without one, for the root of keys, and where the value has an error."""
    if part.is_keyed and not path:
        return None
    try:
        return next(iter(part.places(path)), None)
    except NodeattrsError:
        return None


@dataclass(frozen=True)
class _Blame:
    """The report of `blame`: all values of some subjects, each with the line that set it.

    Values and lines are looked up each time it is printed.
    replies: the replies of the subjects, also of subjects that cannot be resolved
    top:     the folder to which file names in values are relative
    """

    replies: Sequence[Reply]
    top: str

    def to_dict(self) -> dict[str, Any]:
        """Each value with its path and the line that set it, and the subjects that cannot be resolved, as data."""
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
            for path, value in leaves(self._tree(part)):
                origin = _setter(part, path)
                set_by = None if origin is None else origin_data(origin)
                yield {"kind": kind, "path": spell(path), "value": value, "set_by": set_by}

    def _tree(self, part: Part) -> Any:
        return value_of(plain(part.tree, self.top)).data

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the tree of each subject, with the line behind each value.

        Of several subjects each has a heading with its name, which is all that an unresolved one has, and an empty line
        between them. A `# facts:` line says whose facts were used.
        """
        for number, reply in enumerate(self.replies):
            if number:
                yield ""
            if len(self.replies) > 1:
                yield screen.paint(printable(f"{reply.dialect.name} {reply.subject}".rstrip()), "strong")
            if reply.facts:
                yield screen.paint(printable(f"# facts: {reply.facts}"), "faint")
            for part in reply.parts.values():
                yield from tree_lines(self._tree(part), screen, partial(_setter, part))


def blame(question: Question) -> Output:
    """All values of the subject that the question names, or of all subjects, each with the line that set it.

    raises: NotFound, for an unknown subject; the error of the only subject, where it cannot be resolved
    """
    wanted = question.arguments["subject"]
    subjects = Subjects(question)
    replies = [*subjects.replies([wanted] if wanted else ())]
    if len(replies) == 1 and replies[0].error is not None:
        raise replies[0].error
    unread = [*(one for reply in replies for one in reply.unread_at()), *subjects.unread]
    return Output(_Blame(replies, str(question.side.top)), warnings=subjects.warnings, unread=unread)


def matrix(question: Question) -> Output:
    """The values of a key on all subjects, equal values together, each with its lines.

    Exit code 1 where a value cannot be computed, and where nothing sets the key and all was read.
    raises: BadArgument, for an empty key; NotFound, where there are no subjects
    """
    path = key_of(question)
    subjects = Subjects(question._replace(request=question.request.asking(path)))
    rows = [*subjects.answers(partial(_row, path), _texts_of)]
    found = Matrix(spell(path), _cells_that_matter(rows), names_of(question.arguments))
    unread = [*dict.fromkeys(one for _, row in rows for one in row.unread), *subjects.unread]
    errors = [cell.value for _, cell in found.cells if isinstance(cell.value, NodeattrsError)]
    has_failed = not all(isinstance(one, _ABSENCE) or one.may_be_there for one in errors)
    others = OtherLines((), ()) if found.is_set else other_lines(question, path)
    notes = [f"{file}:{one.line} sets {spell(path)} {one.note}" for file, one in others.lines if one.note]
    if notes:
        notes += sentences(others.unread)
    else:
        unread += others.unread
    code = int(has_failed or not (found.is_set or unread or border.refused()))
    return Output(found, code, [*subjects.warnings, *notes], unread=unread)


class _Row(NamedTuple):
    """The cells of one subject at a path, and the unread places that may change them."""

    dialect: str
    cells: list[Cell]
    unread: list[Unread]


def _row(path: Path, reply: Reply) -> _Row:
    cells = [] if reply.error is None else [Cell(reply.error)]
    cells += [cell for part in reply.parts.values() if (cell := _cell(part, path)) is not None]
    return _Row(reply.dialect.name, cells or [Cell(_unset(path))], reply.unread_at(path))


def _texts_of(row: _Row) -> object:
    """A row as plain data: equal for subjects with the same values, lines and unread places."""
    cells = [(cell.key, str(cell.value), cell.origins, cell.notes, cell.unread) for cell in row.cells]
    return cells, row.unread


def _cells_that_matter(rows: Sequence[tuple[str, _Row]]) -> list[tuple[str, Cell]]:
    """(subject, cell) of all subjects; without a dialect in which nothing sets the path, where another one sets it.

    With several dialects left, the name of the dialect precedes each subject, as in `nodeattrs list`.
    """
    by_dialect: dict[str, list[tuple[str, Cell]]] = {}
    for name, row in rows:
        by_dialect.setdefault(row.dialect, []).extend((name, cell) for cell in row.cells)
    setting = [
        dialect for dialect, cells in by_dialect.items() if not all(isinstance(one.value, _ABSENCE) for _, one in cells)
    ]
    dialects = setting or [*by_dialect]
    if len(dialects) == 1:
        return by_dialect[dialects[0]]
    return [(f"{dialect} {name}", cell) for dialect in dialects for name, cell in by_dialect[dialect]]


def _unset(path: Path) -> NoSuchAttribute:
    return NoSuchAttribute(f"{spell(path)} is not set", path=path)


def _cell(part: Part, path: Path) -> Cell | None:
    """The value of a part at a path, with its origins; an error as the value where it is not set or fails.

    None where nothing in the part is about the path.
    """
    trace = trace_at(part, path)
    if not part.is_keyed:
        if trace is None:
            return None
        value = trace.value if isinstance(trace.value, Sensitive) else json_ready(trace.value, path)
        return Cell(value if trace.found else _unset(path), trace.origins)
    value = part.tree.get(path[0], ABSENT)
    if isinstance(value, NodeattrsError):
        return Cell(value)
    value = dig(value, path[1:])
    return Cell(_unset(path) if value is ABSENT else value, trace.origins if trace is not None else ())


@dataclass(frozen=True)
class _SubjectDifference:
    """The report of `diff`: the paths whose values differ between two subjects.

    titles:        the names of both subjects. If one subject is compared in two versions of the files: its name, and
                   the place of the other files
    before, after: the replies of both subjects
    found:         the differences; () for equal subjects
    """

    titles: tuple[str, str]
    before: Reply
    after: Reply
    found: Sequence[Difference]

    def to_dict(self) -> dict[str, Any]:
        """The differences as data: each side that has a value, with the line that set it."""
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
        """Yield a head, then a block for each path: value and line of each side that has one; or "no difference"."""
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
    return None if part is None else _setter(part, one.path)


def _side_data(side: str, reply: Reply, one: Difference, value: Value) -> dict[str, Any]:
    """One side with its value and the line that set it; {} where it has no value."""
    if not value.is_there:
        return {}
    origin = _origin(reply, one)
    set_by = None if origin is None else origin_data(origin)
    return {side: {"value": value.data, "origin": None if origin is None else str(origin), "set_by": set_by}}


def diff(question: Question) -> Output:
    """The differences between two subjects of a dialect, or of one subject between its files and other files.

    The argument `against` names the other files. With `path`, only differences at or below it.
    raises: BadUsage, if neither a second subject nor `against` is given, and for a name that fits several subjects;
            NotFound, for an unknown subject; the error of a subject that cannot be resolved
    """
    before, after = question.arguments["before"], question.arguments["after"]
    against = question.arguments.get("against")
    if after is None and against is None:
        raise BadUsage("name another subject, or other files")
    subjects = others = Subjects(question)
    if against is not None:
        others = Subjects(question._replace(request=question.request.placed(question.dialects[0], against)))
    left, right = _reply(subjects, before), _reply(others, before if after is None else after)
    tops = (str(question.side.top), str(question.side.top))
    below = parse(question.arguments.get("path") or "")
    found = [one for one in differences(left.parts, right.parts, tops) if one.path[: len(below)] == below]
    report = _SubjectDifference((left.name, against or right.name), left, right, found)
    warnings = [*dict.fromkeys([*subjects.warnings, *others.warnings])]
    return Output(report, warnings=warnings, unread=[*left.unread_at(), *right.unread_at()])


def _reply(subjects: Subjects, name: str) -> Reply:
    """The answer of one subject; "" stands for the only one.

    raises: BadUsage, where several subjects are meant; NotFound; the error of the subject
    """
    dialects = [dialect for dialect, some in subjects.names.items() if name and name in some]
    if len(dialects) > 1:
        raise BadUsage(
            f"{name} is a subject of {' and of '.join(dialects)}: name one, as `nodeattrs {dialects[0]} diff`"
        )
    names = [one for some in subjects.names.values() for one in some]
    if not name and len(names) > 1:
        raise BadUsage(f"say which subject is meant: there are {first_of(names, 3)}")
    found = next(iter(subjects.replies([name or names[0]])))
    if found.error is not None:
        raise found.error
    return found

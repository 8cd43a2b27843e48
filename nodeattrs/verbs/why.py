"""The verb `why`: the value at one path on all subjects, with winner, losers and rule.

Subjects with the same value for the same reason are printed once, together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.contract.command import Output, Question
from nodeattrs.core.trace import Trace, rows, shown
from nodeattrs.core.tree import Path, spell
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.node.documents import json_ready
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.matrix import Cell, Matrix
from nodeattrs.reports.screen import Screen, first_of, printable
from nodeattrs.verbs.asking import Reply, Subjects, failed_data, key_of, of_files, trace_at
from nodeattrs.verbs.where import other_lines

_NAMED = 6
_MOST_LINES = 20
"""Lines that are named where no subject has the value."""
_MOST_REASONS = 12
"""Reasons that are printed as text; of more, only their values and lines are."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A value with its trace, and the subjects that have this value from these lines.

    `to_dict` returns the trace as data, with the subjects and their facts. `lines` yields the text.

    dialect:  the dialect of the subjects
    kind:     the kind of value: "attribute", "key", ...
    trace:    the trace on the first subject
    subjects: the names of the subjects; `why` appends to the list
    facts:    subject -> the file with its facts, "none", or "of its last run"; {} for a dialect without facts
    """

    dialect: str
    kind: str
    trace: Trace
    subjects: list[str]
    facts: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The trace as data, as `explain` prints it, but with dialect, kind, subjects and facts instead of a node."""
        trace = NodeExplanation(self.trace).to_dict()
        left_out = ("version", "node", "environment", "revision", "read")
        rest = {name: value for name, value in trace.items() if name not in left_out}
        return {"dialect": self.dialect, "kind": self.kind, "subjects": self.subjects, "facts": self.facts, **rest}

    def lines(self, screen: Screen, noun: str) -> Iterator[str]:
        """Yield a line with dialect and the first six subjects, a line with their facts, and the lines of the trace.

        noun: the word for a subject of the dialect
        """
        count = f" ({len(self.subjects)} {noun}s)" if len(self.subjects) > _NAMED else ""
        who = first_of(self.subjects, _NAMED) or f"a {noun} without a name"
        yield screen.paint(printable(f"{self.dialect}: {who}{count}"), "strong")
        if self.facts:
            facts = first_of([*dict.fromkeys(self.facts.values())], _NAMED)
            yield screen.paint(printable(f"  facts: {facts}"), "faint")
        yield from NodeExplanation(self.trace).lines(screen)


@dataclass(frozen=True, slots=True)
class WhyReport:
    """The report of `why`: a block for each reason, in the order of the first subject that has it.

    `to_dict` returns the reasons, and the subjects that cannot be resolved, as data. `lines` yields the text of the
    reasons; without a reason it says that the key is not set, and what may set it.

    path:    the key of the question
    reasons: the reasons; () if no subject has a value
    replies: the replies of all subjects, also of those without a value, and of those that cannot be resolved
    unread:  the places that were not read, and may set the value
    """

    path: Path
    reasons: Sequence[Reason]
    replies: Sequence[Reply]
    unread: Sequence[Unread]

    def to_dict(self) -> dict[str, Any]:
        """The reasons, and the subjects that cannot be resolved, as data for JSON."""
        return {
            "version": 1,
            "path": spell(self.path),
            "answers": [one.to_dict() for one in self.reasons],
            "not_known": failed_data(self.replies),
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of each reason, with an empty line between two.

        Without a reason they say that the key is not set in what was read, and which places may set it. More than 12
        reasons are one table of values, as `matrix` prints it, and a hint at --on.
        """
        if not self.reasons:
            yield printable(f"{spell(self.path)} is not set in what was read")
            for text in sentences(self.unread):
                yield from screen.wrapped(printable(text), "      ", "  ")
        if len(self.reasons) > _MOST_REASONS:
            cells = [(name or "here", _cell(one.trace)) for one in self.reasons for name in one.subjects]
            yield from Matrix(spell(self.path), cells).lines(screen)
            yield f"these have {len(self.reasons)} different reasons; one of them: --on {cells[0][0]}"
            return
        nouns = {one.dialect.name: one.dialect.noun for one in self.replies}
        for number, one in enumerate(self.reasons):
            if number:
                yield ""
            yield from one.lines(screen, nouns[one.dialect])


def _cell(trace: Trace) -> Cell:
    value = json_ready(trace.value, trace.path) if trace.found else NoSuchAttribute(f"{spell(trace.path)} is not set")
    return Cell(value, trace.origins)


def why(question: Question) -> Output:
    """The reasons for the values of a key, on the subjects of the question; subjects with equal reasons together.

    If no subject has the key, but places that were not read may set it, the report has no reasons, and the output has
    the unread places. Without such places an error is raised.
    raises: BadArgument, for an empty key; NoSuchAttribute, for a key that no subject has; its details name up to
            twenty lines that set the key, none of them for these subjects. NotFound, for unknown subjects; the first
            error where no subject can be resolved
    """
    path = key_of(question)
    question = of_files(question)
    asked = Subjects(question._replace(request=question.request.asking(path)))
    replies = [*asked.replies(question.arguments["on"] or ())]
    reasons: dict[Any, Reason] = {}
    hint = None
    for reply in replies:
        for kind, part in reply.parts.items():
            trace = trace_at(part, path)
            if trace is None:
                hint = hint or way_to(part.tree, path)
                continue
            key = reply.dialect.name, kind, shown(trace.value, 10_000), tuple(map(str, rows(trace)))
            reason = reasons.setdefault(key, Reason(reply.dialect.name, kind, trace, [], {}))
            reason.subjects.append(reply.subject)
            if reply.facts:
                reason.facts[reply.subject] = reply.facts
    unread = [*dict.fromkeys(one for reply in replies for one in reply.unread_at(path)), *asked.unread]
    errors = [one.error for one in replies if one.error is not None]
    if errors and len(errors) == len(replies):
        raise errors[0]
    if not reasons:
        others = other_lines(question, path)
        unread += others.unread
        lines = [f"{file}:{one.line} sets it {one.note}".rstrip() for file, one in others.lines]
        if not unread:
            hint = None if lines else (hint or "").replace("the node has", "there is") or None
            error = NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=hint)
            error.details = tuple(lines[:_MOST_LINES])
            raise error
    return Output(WhyReport(path, [*reasons.values()], replies, unread), warnings=asked.warnings, unread=unread)

"""Findings: the results of every check, each with a code, a severity, a message and a place.

Dialects make findings, also from errors and warnings. `selection` chooses the ones that a check reports, and
`finding_forms` writes findings for other programs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, get_args

from nodeattrs.codes import entry_of
from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.screen import Screen, first_of, printable

Severity = Literal["error", "warning", "note"]
"""error: cannot be right; warning: is probably not meant; note: is only worth knowing."""

_STYLES = {"error": "error", "warning": "warning", "note": "faint"}
_MOST_PLACES = 3
_MOVES = r"(?<=line )\d+|(?<=column )\d+|(?<=:)\d+"


class Finding(NamedTuple):
    """One result of a check: an error, a warning or a note, with its code and its place.

    `name` is the name of the code, and `place` is file, line and column as a text. `text` is the finding without code
    and severity; `head` is its first line and `more` the other lines. `lines` is the form for a screen, and `to_dict`
    the data for JSON. `fingerprint` does not change if only line numbers change.
    code:               "NA1201", for example; an unknown code raises KeyError when `name` is read
    severity:           "error", "warning" or "note"
    message:            one sentence, without the place
    file, line, column: the place, as far as it is known, otherwise None; line and column count from 1
    details:            further sentences, such as other places
    hint:               what the user can do; None for nothing
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    details: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def name(self) -> str:
        """The name of the code: "default-replaces"."""
        return entry_of(self.code).name

    @property
    def place(self) -> str:
        """ "roles/web.json:9:3", as far as the parts are known; "" without a file, a line and a column."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)

    @property
    def fingerprint(self) -> str:
        """A hash of code, file and message without line numbers: the same when lines above the finding come or go."""
        same = "\0".join((self.code, self.file or "", re.sub(_MOVES, "", self.message)))
        return hashlib.sha256(same.encode("utf-8", "backslashreplace")).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-able data, with the name of the code, its page and the fingerprint."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "details": list(self.details),
            "hint": self.hint,
            "page": entry_of(self.code).page,
            "fingerprint": self.fingerprint,
        }

    def text(self) -> str:
        """The place, the message, the details and the hint, on several lines; without code and severity."""
        return "\n".join([self.head(), *(f"  {line}" for line in self.more())])

    def head(self) -> str:
        """The place and the message: "a.json:3: is not text"."""
        return f"{self.place}: {self.message}" if self.place else self.message

    def more(self) -> Iterator[str]:
        """The lines of the details, then of the hint."""
        for text in (*self.details, self.hint):
            yield from (text or "").splitlines()

    def lines(self, screen: Screen) -> Iterator[str]:
        """ "PLACE: SEVERITY: MESSAGE [CODE NAME]", a form that editors read; then details and hint, indented.

        Without a place, the line begins with the severity.
        """
        first, *rest = self.message.splitlines() or [""]
        place = f"{printable(self.place)}: " if self.place else ""
        code = screen.paint(f"[{self.code} {self.name}]", "faint")
        yield f"{place}{screen.paint(f'{self.severity}:', _STYLES[self.severity])} {printable(first)} {code}"
        yield from (f"  {printable(line.strip())}" for line in rest)
        yield from (f"  {printable(line)}" for line in self.more())


def joined_places(findings: Iterable[Finding]) -> list[Finding]:
    """The findings; more than three that differ only in their places are one, with the first three places.

    Findings that differ only in their places stand together, in the order of the first of them.

    >>> [one.head() for one in joined_places(Finding("NA0308", "warning", "was not run", name) for name in "abcde")]
    ['a, b, c and 2 more: was not run']
    """
    groups: dict[Finding, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one._replace(file=None, line=None, column=None), []).append(one)
    joined: list[Finding] = []
    for alone, group in groups.items():
        is_long = len(group) > _MOST_PLACES and alone not in group
        places = first_of([one.place for one in group], _MOST_PLACES)
        joined += [alone._replace(file=places)] if is_long else group
    return joined


@checked_args(severity=get_args(Severity), code=str)
def finding_of(problem: object, severity: Severity = "error", code: str = NodeattrsError.entry.code) -> Finding:
    """An error, a warning or a text as a Finding; a Finding is returned unchanged.

    The place of an error is its file and line, or else its first origin with a file. The place is removed from the
    start of the message, and from the details. The first line of a text is the message, and the others are details.
    severity: the severity of an error or a text
    code:     the code of a text; an error has its own

    >>> from nodeattrs.errors import DocumentError
    >>> finding_of(DocumentError("must be text", file="a.json", line=3)).head()
    'a.json:3: must be text'
    """
    if isinstance(problem, Finding):
        return problem
    if not isinstance(problem, NodeattrsError):
        first, *rest = str(problem).splitlines() or [""]
        return Finding(code, severity, first, details=tuple(line.strip() for line in rest))
    at = next((one for one in problem.origins if isinstance(one, Origin) and one.file), Origin(""))
    file, line, column = (getattr(problem, name, None) or getattr(at, name) for name in ("file", "line", "column"))
    # What belongs to the place itself stands before the sentence.
    details = tuple(one for one in problem.details if one not in (f"at {at}", f"written at {at}"))
    found = Finding(problem.code, severity, "", file, line, column, details, problem.hint)
    message = getattr(problem, "reason", problem.message).removeprefix(f"{found.place}: ")
    return found._replace(message=message)

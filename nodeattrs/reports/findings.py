"""Findings: the results of every check, each with a code, a severity, a message and a place.

Dialects make findings, also from errors and warnings. A `Selection` leaves out some: by code, by a comment in the file,
or because a baseline of an earlier check has them. `finding_forms` writes findings for other programs.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, get_args

from nodeattrs.codes import entry_of
from nodeattrs.core.borders import ListLike, taking
from nodeattrs.core.claim import Origin
from nodeattrs.core.unread import Unread, certainty
from nodeattrs.errors import NodeattrsError
from nodeattrs.kinds import LAYER_IS_UNKNOWN, NOT_LITERAL, NOT_RUN, RUBY
from nodeattrs.reports.screen import Screen, first_of, printable

Severity = Literal["error", "warning", "note"]
"""error: cannot be right; warning: is probably not meant; note: is only worth knowing."""

_STYLES = {"error": "error", "warning": "warning", "note": "faint"}
_MOST_PLACES = 3
_COMMENT = re.compile(r"(?:#|//)\s*nodeattrs:\s*ignore(-file)?(?:\[([^\]\n]{0,500})\])?", re.ASCII)
_MOVES = re.compile(r"(?<=line )\d+|(?<=column )\d+|(?<=:)\d+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check: an error, a warning or a note, with its code and its place.

    `text` is the finding without code and severity; `head` is its first line and `more` the other lines. `lines` is the
    form for a screen. `fingerprint` is the same if only line numbers change.
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
        same = "\0".join((self.code, self.file or "", _MOVES.sub("", self.message)))
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
    """The findings, in order; more than three that differ only in their places are one, with the first three places.

    >>> [one.head() for one in joined_places(Finding("NA0308", "warning", "was not run", name) for name in "abcde")]
    ['a, b, c and 2 more: was not run']
    """
    groups: dict[Finding, list[Finding]] = {}
    for one in findings:
        groups.setdefault(replace(one, file=None, line=None, column=None), []).append(one)
    joined: list[Finding] = []
    for alone, group in groups.items():
        is_long = len(group) > _MOST_PLACES and alone not in group
        places = first_of([one.place for one in group], _MOST_PLACES)
        joined += [replace(alone, file=places)] if is_long else group
    return joined


@taking(severity=get_args(Severity), code=str)
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
    return replace(found, message=message)


@taking(select=ListLike, ignore=ListLike, known=Mapping, root=str)
@dataclass(frozen=True, slots=True)
class Selection:
    """Chooses the findings of a check that are reported: `reported` returns them, and the number of the others.

    Comments in files ("nodeattrs: ignore") leave out findings, too. Nothing is read before `reported` is called.

    select: codes, beginnings of codes, or names of codes; only findings with these are reported. Empty: all
    ignore: codes in the same form, whose findings are left out. If entries of both match, the longer entry decides
    known:  fingerprint -> the number of findings with it in an earlier check; this number of them is left out
    root:   the folder that the files of findings are relative to; "": the current folder
    """

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    known: Mapping[str, int] = field(default_factory=dict)
    root: str = ""

    def reported(self, found: Iterable[Finding]) -> tuple[list[Finding], int]:
        """Returns the findings to report, sorted by place, and the number of those left out.

        Comments in the files ("nodeattrs: ignore") leave out findings, too. Equal findings count once.
        """
        located = dict.fromkeys(replace(one, file=_from_here(self.root, one.file)) for one in found)
        comments = cache(_comments)
        wanted = [one for one in located if self._counts(one) and not _is_commented_away(one, comments)]
        left, known = [], Counter(self.known)
        for one in sorted(wanted, key=_by_place):
            if known and known[one.fingerprint] > 0:
                known[one.fingerprint] -= 1
            else:
                left.append(one)
        return left, len(located) - len(left)

    def _counts(self, one: Finding) -> bool:
        chosen = max((_closeness(word, one) for word in self.select), default=1)
        refused = max((_closeness(word, one) for word in self.ignore), default=0)
        return chosen > refused


def _closeness(word: str, one: Finding) -> int:
    """The length of the part of a finding's code that a word names; 0 where it names another code."""
    if word == "all":
        return 1
    if one.code.startswith(word):
        return len(word)
    return len(one.code) if word in entry_of(one.code).names else 0


def _by_place(one: Finding) -> tuple[str, int, int, str, str]:
    return one.file or "", one.line or 0, one.column or 0, one.code, one.message


def _from_here(root: str, file: str | None) -> str | None:
    if not file or not root or os.path.isabs(file):
        return file
    return os.path.normpath(os.path.join(root, file)).replace(os.sep, "/")


def _is_commented_away(one: Finding, comments_of: Callable[[str], dict[int, list[str]]]) -> bool:
    """Whether a comment leaves out a finding: on its line, alone on the line before, or for the whole file."""
    comments = comments_of(one.file) if one.file else {}
    words = [*comments.get(0, ()), *comments.get(one.line or 0, ())]
    return any(_closeness(word, one) for word in words)


def _comments(file: str) -> dict[int, list[str]]:
    """The codes and names in comments of a file: line -> words; line 0 is for the whole file. {} for none."""
    if not os.path.isfile(file):
        return {}
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            texts = lines.read(10_000_000).splitlines()
    except OSError:
        return {}
    found: dict[int, list[str]] = {}
    for number, text in enumerate(texts, 1):
        for comment in _COMMENT.finditer(text):
            words = [word.strip() for word in (comment[2] or "all").split(",")]
            alone = not text[: comment.start()].strip()
            found.setdefault(0 if comment[1] else number + alone, []).extend(words)
    return found


_UNREAD = frozenset(one.entry.code for one in (LAYER_IS_UNKNOWN, NOT_LITERAL, NOT_RUN, RUBY))


@dataclass(frozen=True, slots=True)
class Findings:
    """The report of a check: the findings after a `Selection`, and counts.

    found:   the findings, in the order of the report
    looked:  the kind of things that were checked -> their number: {"part": 2}
    ignored: the number of findings that were left out
    worst:   the check fails if a finding has this severity or a worse one; with "note" every finding counts
    unread:  the findings that name a place that was not read or not run
    """

    found: Sequence[Finding]
    looked: Mapping[str, int] = field(default_factory=dict)
    ignored: int = 0
    worst: Severity = "warning"

    @property
    def is_clean(self) -> bool:
        """Whether all findings are less severe than `worst`."""
        ranks = get_args(Severity)  # the worst first
        return all(ranks.index(one.severity) > ranks.index(self.worst) for one in self.found)

    @property
    def unread(self) -> list[Finding]:
        """The findings that name a place which was not looked at, or not run, and may change others."""
        return [one for one in self.found if one.code in _UNREAD]

    def to_dict(self) -> dict[str, Any]:
        """The findings and counts as JSON-able data; `ok` is false where a finding counts or a source was not read."""
        return {
            "version": 1,
            "ok": self.is_clean and not self.unread,
            **certainty(Unread(one.place, one.message) for one in self.unread),
            "looked_at": dict(self.looked),
            "ignored": self.ignored,
            "findings": [one.to_dict() for one in self.found],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """The lines of each finding, then one line of counts: "2 parts, 1 error, 0 warnings, 3 ignored"."""
        for one in self.found:
            yield from one.lines(screen)
        counts = Counter(one.severity for one in self.found)
        counted = [*self.looked.items(), ("error", counts["error"]), ("warning", counts["warning"])]
        counted += [("note", counts["note"])] if counts["note"] else []
        ignored = f", {self.ignored} ignored" if self.ignored else ""
        yield ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for word, number in counted) + ignored


@taking(found=ListLike)
def baseline_data(found: Iterable[Finding]) -> dict[str, Any]:
    """The findings as the data of a baseline file; later checks leave them out (`Selection.known`).

    Equal findings are one row with a count; the rows are sorted.
    """
    counted = Counter((one.fingerprint, one.code, one.file, one.message) for one in found)
    rows = [
        {"fingerprint": mark, "code": code, "file": file, "message": message, "count": count}
        for (mark, code, file, message), count in counted.items()
    ]
    return {"version": 1, "findings": sorted(rows, key=lambda row: (row["file"] or "", row["code"], row["message"]))}

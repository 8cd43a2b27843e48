"""The findings that a check reports: a `Selection` leaves out some, and `Findings` is the report of the others.

A finding is left out by its code, by a comment in its file, or because a baseline of an earlier check has it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

from nodeattrs.codes import entry_of
from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.unread import Unread, certainty
from nodeattrs.kinds import LAYER_IS_UNKNOWN, NOT_LITERAL, NOT_RUN, RUBY
from nodeattrs.reports.findings import Finding, Severity
from nodeattrs.reports.screen import Screen

_COMMENT = re.compile(r"(?:#|//)\s*nodeattrs:\s*ignore(-file)?(?:\[([^\]\n]{0,500})\])?", re.ASCII)


@checked_args(select=ListLike, ignore=ListLike, known=Mapping, root=str)
@dataclass(frozen=True, slots=True)
class Selection:
    """Chooses the findings of a check that are reported. The constructor reads no files, and does not look up codes.

    `reported` returns (the findings to report, the number of findings left out). Of several equal findings, one is
    reported or left out, and the others are not counted. A finding is also left out if a comment in its file says
    "nodeattrs: ignore": on its line, alone on the line before, or with "ignore-file" anywhere. A file that cannot be
    read has no such comments.

    select: codes, beginnings of codes, names of codes, or "all"; only findings with these are reported. Empty: all
    ignore: codes in the same form; their findings are left out. If an entry of *select* and one of *ignore* match, the
            longer one decides; of two equal ones, *ignore*. An unknown code matches nothing
    known:  fingerprint -> the number of findings with it in an earlier check; this number of them is left out
    root:   the folder that the files of findings are relative to; "": the current folder
    """

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    known: Mapping[str, int] = field(default_factory=dict)
    root: str = ""

    def reported(self, found: Iterable[Finding]) -> tuple[list[Finding], int]:
        """Returns (findings to report, number of findings left out); ([], 0) if *found* is empty.

        The findings to report are sorted by place. Equal ones count as one finding. Their files are read for comments.
        """
        located = dict.fromkeys(one._replace(file=_from_here(self.root, one.file)) for one in found)
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

    `is_clean` says whether no finding counts. `unread` has the findings about places that were not read or not run; []
    for none. `to_dict` returns the findings and counts as data, and `lines` yields the text.

    found:   the findings, in the order of the report
    looked:  the kind of things that were checked -> their number: {"part": 2}
    ignored: the number of findings that were left out
    worst:   a finding counts if it has this severity or a worse one; with "note" every finding counts
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
        """The findings about places that were not read or not run; [] for none. So other findings may be missing."""
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


@checked_args(found=ListLike)
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

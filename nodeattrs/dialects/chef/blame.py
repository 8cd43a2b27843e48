"""Find the commit that last changed a line, for explanations that name files (`explain --git`).

Git annotates the files of the last commit. This module matches lines of the work tree with these files, since Git would
run filters of the repository for that. The module knows no attributes.
"""

from __future__ import annotations

import difflib
import pathlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from nodeattrs.core.trace import Trace
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import content_of
from nodeattrs.git import Git
from nodeattrs.reports.explain import LineChange


def lines_in(trace: Trace) -> Iterator[tuple[str, int]]:
    """Yield (file, line) of each source in a trace, the winner first, each followed by its causes.

    Origins without a line are left out.
    """
    for one in trace.claims:
        claims = (one.claim, *one.then)
        origins = (origin for claim in claims for origin in (claim.origin, *(cause.origin for cause in claim.causes)))
        yield from ((origin.file, origin.line) for origin in origins if origin.file and origin.line)


def blame(root: pathlib.Path, places: Iterable[tuple[str, int]]) -> tuple[LineChange, ...]:
    """The last change of each line, in the order of *places*, each place once; () for none.

    A line that differs from the last commit has a note ("changed and not committed", ...) instead of a commit; in a
    repository without commits, every line has one.
    root:   the folder that the files are relative to; it must be in a Git repository
    places: (file, line) of each; lines count from 1
    cost:   one `git blame` for each file
    raises: NotFound, where Git is not installed, or the folder is in no Git repository; NoRevision, if a command of
            Git fails
    """
    asked = dict.fromkeys(places)
    lines: dict[str, list[int]] = defaultdict(list)
    for file, line in asked:
        lines[file].append(line)
    git = Git(root)
    commit = git.commit("HEAD") if git.has_commits() else None
    found = {file: _blamed(git, commit, root / file, file, its) for file, its in lines.items()}
    return tuple(found[file][line] for file, line in asked)


def _blamed(git: Git, commit: str | None, place: pathlib.Path, file: str, lines: list[int]) -> dict[int, LineChange]:
    """Line -> its last change, for each of *lines*. commit: None in a repository without commits"""
    path = git.path_of(place)
    committed = git.content(commit, path) if commit is not None and path is not None else None
    if commit is None or path is None or committed is None:
        return {line: LineChange(file, line, note="not committed") for line in lines}
    try:
        now = _lines(content_of(place, file))
    except DocumentError:
        now = []
    line_then = _lines_then(_lines(committed), now)
    changes = _parsed(file, git.blame(commit, path)) if line_then else {}
    found = {}
    for line in lines:
        then = changes.get(line_then.get(line, 0))
        note = "changed and not committed" if line <= len(now) else "the file is shorter now"
        found[line] = LineChange(file, line, note=note) if then is None else then._replace(line=line)
    return found


def _lines(content: bytes) -> list[bytes]:
    """The lines without their ends, which Git may convert."""
    return [line.rstrip(b"\r") for line in content.split(b"\n")]


def _lines_then(then: list[bytes], now: list[bytes]) -> dict[int, int]:
    """Line in the work tree -> the same line in the commit, both counted from 1."""
    blocks = difflib.SequenceMatcher(None, then, now).get_matching_blocks()
    return {one.b + at: one.a + at for one in blocks for at in range(1, one.size + 1)}


def _parsed(file: str, text: str) -> dict[int, LineChange]:
    """Line of the commit -> its change, from Git's porcelain output, which describes each commit once."""
    commits: dict[str, dict[str, str]] = defaultdict(dict)
    found: dict[int, str] = {}
    commit = ""
    for row in text.splitlines():
        word, _, rest = row.partition(" ")
        if row.startswith("\t"):
            continue
        if len(word) in (40, 64) and rest[:1].isdigit():
            commit = word
            found[int(rest.split(" ")[1])] = commit
        else:
            commits[commit].setdefault(word, rest)
    return {line: _change(file, line, commit, commits[commit]) for line, commit in found.items()}


def _change(file: str, line: int, commit: str, facts: dict[str, str]) -> LineChange:
    date = datetime.fromtimestamp(int(facts.get("author-time", "0")), UTC).date().isoformat()
    return LineChange(file, line, commit, facts.get("author", ""), date, facts.get("summary", ""))

"""Who changed a line last, as git knows it: a person, where explanations name files.

One `git blame` a file, no shell. It knows files and lines, and nothing of attributes.
"""

from __future__ import annotations

import pathlib
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from nodeattrs.core.trace import Trace
from nodeattrs.errors import NotFound
from nodeattrs.records import dataclass
from nodeattrs.runs.repository import Repository
from nodeattrs.typed import Any

_COMMAND = ("git", "-c", "core.fsmonitor=false", "blame", "--porcelain", "--no-textconv")
"""Nothing that a repository has configured is started."""


@dataclass(frozen=True, slots=True)
class Change:
    """The last change of a line.

    commit: its full name; empty where there is none
    date:   of the author, as 2024-05-02
    note:   why there is no commit: the line is changed and not committed, or git does not know the file
    """

    file: str
    line: int
    commit: str = ""
    author: str = ""
    date: str = ""
    summary: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The change as data for JSON."""
        return {name: getattr(self, name) or None for name in self.__slots__}


def of_trace(repository: Repository) -> Callable[[Trace], tuple[Change, ...]]:
    """What asks `blame` for everyone in a trace, and for the lines that their values come from."""
    return lambda trace: blame(repository.root, _places(trace))


def _places(trace: Trace) -> Iterator[tuple[str, int]]:
    """The lines of everyone in a trace, the winner first, each followed by those that the value comes from."""
    for one in trace.claims:
        claims = (one.claim, *one.then)
        origins = (origin for claim in claims for origin in (claim.origin, *(cause.origin for cause in claim.causes)))
        yield from ((origin.file, origin.line) for origin in origins if origin.file and origin.line)


def blame(root: pathlib.Path, places: Iterable[tuple[str, int]]) -> tuple[Change, ...]:
    """The last change of each line, in the order in which they are asked for.

    root:   the folder to which the files are relative; somewhere in a git repository
    cost:   one `git blame` a file
    raises: NotFound, where git is not installed, or the folder lies in no repository of git
    """
    asked = dict.fromkeys(places)
    lines: dict[str, list[int]] = defaultdict(list)
    for file, line in asked:
        lines[file].append(line)
    found = {file: _blamed(root, file, its) for file, its in lines.items()}
    return tuple(found[file][line] for file, line in asked)


def _blamed(root: pathlib.Path, file: str, lines: list[int]) -> dict[int, Change]:
    ranges = [word for line in lines for word in ("-L", f"{line},{line}")]
    try:
        done = subprocess.run([*_COMMAND, *ranges, "--", file], cwd=root, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise NotFound("git is not installed here", hint="install it, or leave --git out") from error
    except OSError as error:
        raise NotFound(f"git cannot be started: {error.strerror}", hint="leave --git out") from error
    if done.returncode:
        return {line: Change(file, line, note=_why(root, done.stderr.decode(errors="replace"))) for line in lines}
    return _read(file, done.stdout.decode(errors="replace"))


def _why(root: pathlib.Path, error_text: str) -> str:
    """What git's refusal means for a file. raises: NotFound, where it means that git knows nothing here"""
    if "not a git repository" in error_text or "ownership" in error_text:
        raise NotFound(
            f"git knows no repository at {root}", hint="leave --git out", details=error_text.strip().splitlines()[:1]
        )
    if "has only" in error_text:
        return "the file is shorter now"
    return "not committed"


def _read(file: str, text: str) -> dict[int, Change]:
    """The changes by line in the porcelain form: the facts of a commit stand where it is first named."""
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


def _change(file: str, line: int, commit: str, facts: dict[str, str]) -> Change:
    if not commit.strip("0"):
        return Change(file, line, note="changed and not committed")
    date = datetime.fromtimestamp(int(facts.get("author-time", "0")), UTC).date().isoformat()
    return Change(file, line, commit, facts.get("author", ""), date, facts.get("summary", ""))

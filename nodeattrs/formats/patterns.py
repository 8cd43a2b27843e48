"""Regular expressions from outside, searched within a limit of processor time.

A search with Python's `re` may take hours, and cannot be stopped in its own process. So its cost is estimated first. A
cheap search runs in this process. Any other search runs in a child process, and the system ends it after the seconds of
the limits. The answers are the same.

Expressions are in Python's language; `puppet.regex` translates Ruby's. An expression that `re` cannot express is
searched with the package `regex`, which has a limit of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from nodeattrs import children
from nodeattrs.codes import declared
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.errors import BadArgument
from nodeattrs.formats import search_process

_HINT = "pip install 'nodeattrs[regex]' adds the package that knows more of Ruby's expressions"


class BadPattern(BadArgument):
    """A regular expression that cannot be compiled, or that needs a package that is not installed."""

    entry = declared(
        "NA0008",
        "BadPattern",
        cause="A regular expression cannot be compiled, or needs the package regex.",
        example="nodeattrs search 'name~\"(a+\"'",
        way_out="Correct it; for Ruby's own constructs: pip install 'nodeattrs[regex]'.",
    )


def fits(parts: Sequence[str], text: str) -> bool:
    """Whether a text begins with the first part, ends with the last, and has the others between them in this order.

    Parts do not overlap in the text. A single part has to be the whole text.
    parts: at least one
    cost:  linear in the text

    >>> fits(["a::", "::c"], "a::b::c"), fits(["a::", "::c"], "a::c"), fits(["a"], "ab")
    (True, False, False)
    """
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return text == first
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in parts[1:-1]:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def processor_time() -> float:
    """Seconds of processor time of this thread, with those that its searches took in the child process."""
    return time.thread_time() + getattr(_elsewhere, "seconds", 0.0)


_elsewhere = threading.local()
"""seconds: what searches of this thread used in the child process"""


class Expression:
    """A compiled regular expression; `expression` makes it.

    source:  the expression as the caller wrote it
    pattern: the compiled pattern

    `search` and `match` return whether it matches: anywhere, or at the start of the text. `groups` returns the groups
    of the first match, by number and by name; None without a match. `all_matches` and `replaced` do what `re` does in
    `findall` and `sub`. Each of them raises TooMuch if it takes more processor time than `Limits.seconds`. `is_cheap`
    says whether a text of some length is searched in this process.
    """

    def __init__(self, source: str, pattern: re.Pattern[str]) -> None:
        self.source = source
        self._pattern = pattern

    def is_cheap(self, length: int) -> bool:
        """Whether a search in a text of this length certainly stays within the limits, and so runs in this process."""
        return self._cost is not None and self._cost.steps(length) <= _PER_STEP * in_force().steps

    def search(self, text: str) -> bool:
        """Whether the expression matches somewhere in a text."""
        return bool(self._run(text, "search", text))

    def match(self, text: str) -> bool:
        """Whether the expression matches at the start of a text."""
        return bool(self._run(text, "match", text))

    def groups(self, text: str) -> tuple[list[str | None], dict[str, str | None]] | None:
        """The groups of the first match: (by number, the whole match as 0; by name). None without a match."""
        found = self._run(text, "groups", text)
        return None if found is None else (found[0], found[1])

    def all_matches(self, text: str) -> list[Any]:
        """All matches, as `re.Pattern.findall` gives them: texts, or tuples where the expression has several groups."""
        return [tuple(one) if isinstance(one, list) else one for one in self._run(text, "findall", text)]

    def replaced(self, text: str, by: str = "", count: int = 0) -> str:
        """The text with its matches replaced, as by `re.Pattern.sub`.

        by:     the template, with \\1 for a group
        count:  how many matches at most; 0 for all
        raises: BadPattern, for a bad template
        """
        return str(self._run(text, "sub", by, text, count))

    @cached_property
    def _cost(self) -> _Cost | None:
        return _cost_of(self._pattern)

    def _run(self, text: str, method: str, *words: Any) -> Any:
        try:
            if self.is_cheap(len(text)):
                return search_process.answer(self._pattern, method, words)
            return _process.ask(self._budget(), self._pattern, method, words)
        except (re.error, IndexError) as error:
            raise BadPattern(str(error)) from None

    def _budget(self) -> Budget:
        return Budget(f"/{self.source[:40]}/")


class _RegexExpression(Expression):
    """An expression that the package `regex` has compiled."""

    def is_cheap(self, length: int) -> bool:
        """Always False, since its cost cannot be estimated."""
        return False

    def _run(self, text: str, method: str, *words: Any) -> Any:
        budget = self._budget()
        try:
            return getattr(self._pattern, method)(*words, timeout=budget.limits.seconds)
        except TimeoutError:
            raise budget.exceeded("seconds") from None


@lru_cache(maxsize=1024)
def expression(source: str, flags: int = 0, spelled: str | None = None) -> Expression:
    """Compile an expression; the last 1,024 are kept.

    flags:   the flags of `re`, as a number
    spelled: the translation of *source* into Python's language; None: *source* is in Python's language
    raises:  BadPattern

    >>> expression("^www").search("www-data")
    True
    """
    try:
        # A later version may read sets in character classes otherwise.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return Expression(source, re.compile(source if spelled is None else spelled, flags))
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(str(error)) from None


@lru_cache(maxsize=1024)
def regex_expression(source: str, flags: int, spelled: str, what: str) -> Expression:
    """Compile an expression that `re` cannot express, with the package `regex`; the last 1,024 are kept.

    source:  as the caller spelled it
    spelled: the expression in the language of `regex`
    what:    the part that `re` cannot express, for the message
    raises:  BadPattern, also where the package is not installed
    """
    try:
        import regex
    except ImportError:
        raise BadPattern(f"{what} cannot be translated", hint=_HINT) from None
    letters = regex.ASCII if flags & re.ASCII else 0  # its number differs from that in `re`
    try:
        return _RegexExpression(source, regex.compile(spelled, flags & ~re.ASCII | letters | regex.V1))
    except (regex.error, RecursionError, OverflowError, ValueError, MemoryError):
        raise BadPattern(f"{what} cannot be translated") from None


# --- the child process


class _SearchProcess:
    """A child process that searches for this one. It starts with the first question and ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def ask(self, budget: Budget, pattern: re.Pattern[str], method: str, words: tuple[Any, ...]) -> Any:
        """The result of a search in the child process. raises: TooMuch; BadPattern, where the search fails"""
        seconds = budget.limits.seconds
        question = json.dumps([seconds, pattern.pattern, int(pattern.flags), method, *words]).encode()
        with self._lock:
            try:
                line = self._line(question)
            except OSError:
                line = b""
            except BaseException:  # such as Ctrl-C: the next question would read the answer to this one
                self.close(killed=True)
                raise
            code = None if line else self.close()
        if code == -signal.SIGPROF:
            _elsewhere.seconds = getattr(_elsewhere, "seconds", 0.0) + seconds
            raise budget.exceeded("seconds")
        if not line:
            raise BadPattern(f"the process that searches with it ended with code {code}")
        reply = json.loads(line)
        _elsewhere.seconds = getattr(_elsewhere, "seconds", 0.0) + reply["seconds"]
        if "error" in reply:
            raise BadPattern(reply["error"])
        return reply["answer"]

    def _line(self, question: bytes) -> bytes:
        if self._child is None:
            words = [sys.executable, "-I", "-S", search_process.__file__]
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            self._child = children.start(
                words, env=children.environment(), stdin=pipe, stdout=pipe, stderr=nothing, cwd=os.sep
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(question + b"\n")
        self._child.stdin.flush()
        return self._child.stdout.readline()

    def close(self, killed: bool = False) -> int | None:
        """End the child process; its exit code, None where it has not started."""
        child, self._child = self._child, None
        if child is None:
            return None
        if killed:
            child.kill()
        child.communicate()
        return child.returncode


_process = _SearchProcess()


def _after_fork() -> None:
    """A forked process has a search process of its own: the pipes of this one belong to its parent."""
    global _process
    _process = _SearchProcess()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _process.close())


# --- the cost of a search


class _Cost(NamedTuple):
    """The most steps of a search: the length of the text to a power, times a number."""

    power: int
    times: int

    def steps(self, length: int) -> int:
        """The most steps of a search in a text of this length."""
        return int(max(length, 1) ** self.power) * self.times


_MOST_POWER, _MOST_TIMES = 40, 10**12
"""More is too much for every text, and without a limit the numbers themselves would take long to multiply."""

_PER_STEP = 20
"""How many steps `re` makes in the time of one step of a budget."""

_TOKEN = r"""
    (?P<open>  \( (?!\?) | \(\? (?: P<\w+> | [:=!>] | <[=!] | [aimsu-]*: ) )
  | (?P<flags> \(\?[aimsu]+\) )
  | (?P<close> \) )
  | (?P<or>    \| )
  | (?P<repeat> [*+?] | \{ (?=[\d,]) \d*,?\d* \} ) [?+]?
  | (?P<atom>  \[ \^? \]? (?: \\. | [^\]\\] )* \] | \\[^1-9] | [^\\(\[] )
    """
"""The tokens of an expression that `re` has compiled, as a verbose expression.

References to groups, conditions and comments are left out.
"""


@dataclass
class _Group:
    """A group that is being read. varies: whether it can take a text in several ways"""

    branches: int = 1
    varies: bool = False


def _cost_of(pattern: re.Pattern[str]) -> _Cost | None:
    """The most that a search may cost; None if it is not known, as for a repeat inside a repeat.

    Each repeat may end anywhere, so it multiplies the cost by the length of the text; so does the start of the search.
    Each choice multiplies it by its number of branches.

    >>> _cost_of(re.compile("a+:b?")), _cost_of(re.compile("(a+)+"))
    (_Cost(power=2, times=10), None)
    """
    if pattern.flags & re.VERBOSE:
        return None
    source, groups, closed = pattern.pattern, [_Group()], _Group()
    power, times, at = 1, len(source), 0
    tokens = re.compile(_TOKEN, re.VERBOSE | re.DOTALL)
    while at < len(source):
        found = tokens.match(source, at)
        if found is None:
            return None
        at, kind = found.end(), found.lastgroup
        group = groups[-1]
        if kind == "open":
            groups.append(_Group())
        elif kind == "or":
            group.branches += 1
        elif kind == "repeat":
            least, most = _bounds(found["repeat"])
            if closed.varies and most != 1:
                return None
            power += most is None
            times *= max(least, 1) if most is None else most + 1
            group.varies |= least != most
        closed = groups.pop() if kind == "close" else _Group()
        closed.varies |= closed.branches > 1
        times = min(times * closed.branches, _MOST_TIMES)
        groups[-1].varies |= closed.varies
    return _Cost(min(power, _MOST_POWER), min(times * groups[0].branches, _MOST_TIMES))


def _bounds(repeat: str) -> tuple[int, int | None]:
    """(least, most) repetitions of a repeat such as "{2,3}"; most is None for no limit."""
    if repeat in "*+?":
        return int(repeat == "+"), 1 if repeat == "?" else None
    least, comma, most = repeat[1:-1].partition(",")
    if not comma:
        return int(least), int(least)
    return int(least or 0), int(most) if most else None

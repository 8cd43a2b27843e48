"""Who says what, where, and with which verb.

Knows no dialect: a rank is a number with a name that its adapter gives it.
Origins stay out of equality of claims: the same thing set elsewhere is the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, Protocol

from nodeattrs.core.tree import Path, spell


class Verb(Enum):
    """What a claim does to its place.

    SET      a value is stored at the path
    REPLACE  the same, and what weaker slots of its pair say below is hidden
    FULL     the same by a full assignment, which also replaced what stood in its way
    APPEND   work in or below a list
    ERASE    what was there is removed
    SILENT   an `unless` that found a value and set nothing
    """

    SET = "set"
    REPLACE = "replace"
    FULL = "full assignment"
    APPEND = "append"
    ERASE = "erase"
    SILENT = "silent"


class Origin(NamedTuple):
    """Who set something, and where.

    kind: the sort of source: "attribute file", "recipe", "role", "environment",
          "facts", "file", "caller", "saved", ...
    name: its name: a cookbook, a role, an environment, a data file; may be empty
    file: relative to the repository where there is one, with forward slashes
    line, column: count from 1

    >>> print(Origin("role", "web", "roles/web.json", 9))
    roles/web.json:9 (role web)
    """

    kind: str
    name: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None

    @property
    def who(self) -> str:
        """Who set it, without the place: "role web"."""
        return f"{self.kind} {self.name}".rstrip()

    @property
    def place(self) -> str | None:
        """The place, without who set it: "roles/web.json:9"."""
        if self.file is None:
            return None
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def at(self, path: Path) -> Origin:
        """Where *path* was set: a plain origin knows one place only."""
        return self

    def moved(self, line: int | None, column: int | None = None) -> Origin:
        """The same at another line."""
        return Origin(self.kind, self.name, self.file, line, column)

    def saved(self) -> Origin:
        """The same, set in an earlier run and kept since: "saved recipe app"."""
        return self._replace(kind=f"saved {self.kind}")

    def __str__(self) -> str:
        place = self.place
        return f"{place} ({self.who})" if place else self.who


class Cause(NamedTuple):
    """One line that something depends on, and that did not set it itself.

    It decides who is asked or how values meet; or a value comes from it: `CALLED`, `WRITTEN` and `READ`.

    what:   in words: "role[web] is on the run-list"
    origin: where
    path:   of the attribute that was read, where it is one
    at:     where it was read
    """

    what: str
    origin: Origin
    path: Path | None = None
    at: Origin | None = None

    def __str__(self) -> str:
        """Where a value comes from: "users.json:14, read at recipes/users.py:9"."""
        place = str(self.origin.place or self.origin.who)
        if self.what == CALLED:
            return f"{CALLED} {place}"
        if self.what == UNAVAILABLE:
            return f"{place}: {UNAVAILABLE}"
        named = f"{spell(self.path)}, set at {place}" if self.path is not None else place
        return named if self.at is None else f"{named}, read at {self.at.place}"

    def to_dict(self) -> dict[str, Any]:
        """The line as data for JSON."""
        return {"what": self.what, **self.origin._asdict()}


CALLED, WRITTEN, READ = "called from", "set", "read at"
"""What a `Cause` of a value says: a call that led to the line that set it, a literal, and what was read."""
UNAVAILABLE = "the source of that revision is not available"
"""What a `Cause` says where the file has changed since the run, and Git does not have the version that ran."""


class Locator(Protocol):
    """Knows where each value of a source was set.

    A role's file has one locator, with a line for each key; looking the line up
    waits until somebody asks. An `Origin` is the simplest locator.
    """

    def at(self, path: Path) -> Origin:
        """Where *path* was set, counted from the place that the locator is about."""
        ...


class LocatorBelow(NamedTuple):
    """A locator whose paths are counted from further down.

    >>> LocatorBelow(Origin("role", "web", "roles/web.json", 3), ("default_attributes",)).at(("port",)).line
    3
    """

    locator: Locator
    under: Path

    def at(self, path: Path) -> Origin:
        return self.locator.at((*self.under, *path))

    def causes(self, path: Path, *asked: Any) -> tuple[Cause, ...]:
        """Where a value comes from, as far as the locator knows."""
        give = getattr(self.locator, "causes", None)
        return () if give is None else tuple(give((*self.under, *path), *asked))


UNKNOWN = Origin("unknown")


class ValueText:
    """In place of a value that a claim has not as data: what gives it, or that it demands one.

    >>> ValueText("look up 'port'")
    look up 'port'
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return type(other) is ValueText and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


class Claim(NamedTuple):
    """One thing set.

    path:   where in the tree
    value:  what was set (plain data; never changed afterwards)
    rank:   the number of the slot or layer, weakest first
    origin: who set it, and where
    verb:   how it was set
    why:    finds where the value comes from, where that can be asked
    then:   explains another path as it was when this was set, where that can be asked
    """

    path: Path
    value: Any
    rank: int
    origin: Origin
    verb: Verb = Verb.SET
    why: Callable[[], tuple[Cause, ...]] | None = None
    then: Callable[[Path], Any] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Claim) and self._compared == other._compared

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._compared)

    @property
    def _compared(self) -> tuple[Any, ...]:
        return self.path, self.value, self.rank, self.verb

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The calls that led to the line that set it, and the lines that the value comes from, as far as is known.

        cost: of a value that code computes the first time the parser's for each file it comes from
        """
        return () if self.why is None else self.why()

    def cause_lines(self) -> list[str]:
        """The same in words, a line for all calls and one for each line that the value comes from.

        >>> led = Cause(CALLED, Origin("recipe", "", "b.py", 8))
        >>> written = Cause(WRITTEN, Origin("recipe", "", "b.py", 2))
        >>> Claim(("a",), 1, 2, Origin("recipe", "", "a.py", 7), why=lambda: (led, written)).cause_lines()
        ['a.py:7, called from b.py:8', 'b.py:2']
        """
        causes = self.causes
        led = [str(one) for one in causes if one.what == CALLED]
        calls = [", ".join([str(self.origin.place), *led])] if led else []
        return calls + [str(one) for one in causes if one.what != CALLED]

    def __str__(self) -> str:
        return f"{spell(self.path)} = {self.value!r} by {self.origin}"

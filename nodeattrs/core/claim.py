"""Claims: the value that a source sets at a path, and the source's place.

An `Origin` is a source with a place, a `Claim` a value with its origin, and a `Cause` a line that the value depends on.
A `Locator` finds the origin of each path of one source. Nothing here knows a dialect: a dialect defines the ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from nodeattrs.core.tree import Path, spell


class Verb(Enum):
    """How a claim sets its value.

    SET      a value is stored at the path
    REPLACE  a recipe assigns a whole map: the attribute file's values below the path are hidden
    FULL     a full assignment (`default_full`): as REPLACE, and scalars and lists on the way to the path are replaced
    APPEND   a list was changed in place, or a value inside a list
    ERASE    the value was removed
    SILENT   an `unless` or a `setdefault` found a value and set nothing
    """

    SET = "set"
    REPLACE = "replace"
    FULL = "full assignment"
    APPEND = "append"
    ERASE = "erase"
    SILENT = "silent"


class Origin(NamedTuple):
    """The source that set a value, and its place. It prints as "place (kind name)", or "kind name" if it has no file.

    Any text is allowed as a kind; nothing is checked. An origin is also a `Locator`: `at` returns the origin itself for
    every path. `who` is "role web", and `place` is "roles/web.json:9". `moved` returns a copy with another line.
    `saved` returns a copy with the kind "saved role": an earlier run set the value.
    kind: the sort of source: "attribute file", "recipe", "role", "environment", "facts", "file", "caller", ...
    name: the name of the cookbook, role, environment or data file; "" for a source without a name
    file: the path with forward slashes, relative to the repository if there is one; None: the source is not a file
    line, column: counted from 1; None if not known

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
        """Kind and name without the place: "role web"."""
        return f"{self.kind} {self.name}".rstrip()

    @property
    def place(self) -> str | None:
        """The place without kind and name: "roles/web.json:9", or the file alone; None without a file."""
        if self.file is None:
            return None
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def at(self, path: Path) -> Origin:
        """This origin itself, for any path: a plain origin has one place for all paths."""
        return self

    def moved(self, line: int | None, column: int | None = None) -> Origin:
        """A copy with another line and column; without *column* it has none, whatever this origin has."""
        return Origin(self.kind, self.name, self.file, line, column)

    def saved(self) -> Origin:
        """A copy whose kind begins with "saved": the value was set in an earlier run and kept since.

        If the kind begins so already, the origin itself is returned.
        """
        return self if self.kind.startswith("saved") else self._replace(kind=f"saved {self.kind}")

    def __str__(self) -> str:
        place = self.place
        return f"{place} ({self.who})" if place else self.who


class Cause(NamedTuple):
    """A line on which a value depends, in addition to the line that set the value. Plain data.

    There are two sorts. The value comes from that line: a call, a literal, or data that was read. Or the line decides
    which sources are used, or how values merge.
    It prints as "users.json:14, read at recipes/users.py:9", or "called from b.py:8".

    what:   in words: "role[web] is on the run-list"; or one of the constants CALLED, WRITTEN, READ, UNAVAILABLE
    origin: the place of that line
    path:   the path of the attribute that was read; None: no attribute was read
    at:     the place where the attribute or document was read; None: nothing was read

    `to_dict` gives `what` and the fields of `origin`, without `path` and `at`.
    """

    what: str
    origin: Origin
    path: Path | None = None
    at: Origin | None = None

    def __str__(self) -> str:
        """The place in words: "users.json:14, read at recipes/users.py:9"."""
        place = str(self.origin.place or self.origin.who)
        if self.what == CALLED:
            return f"{CALLED} {place}"
        if self.what == UNAVAILABLE:
            return f"{place}: {UNAVAILABLE}"
        named = f"{spell(self.path)}, set at {place}" if self.path is not None else place
        return named if self.at is None else f"{named}, read at {self.at.place}"

    def to_dict(self) -> dict[str, Any]:
        """The `what`, and the fields of `origin`, as data for JSON; without `path` and `at`."""
        return {"what": self.what, **self.origin._asdict()}


CALLED, WRITTEN, READ = "called from", "set", "read at"
"""What a `Cause` of a value says: a call that led to the line that set it, a literal, and what was read."""
UNAVAILABLE = "the source of that revision is not available"
"""What a `Cause` says where the file has changed since the run, and Git does not have the version that ran."""


class Locator(Protocol):
    """A protocol: finds the place where one source set a path.

    An `Origin` is the simplest locator. The locator of a document finds the line of each key when `at` is called.
    """

    def at(self, path: Path) -> Origin:
        """The origin of *path* in the source's own tree; an unknown path has the origin of the nearest one above."""


class LocatorBelow(NamedTuple):
    """The locator of a subtree: each path is looked up below *under* in another locator, at each call.

    locator: the locator of the whole document
    under:   the steps that are put in front of each path

    `causes` gives the causes of a path from the inner locator; () if that has no method `causes`.

    >>> LocatorBelow(Origin("role", "web", "roles/web.json", 3), ("default_attributes",)).at(("port",)).line
    3
    """

    locator: Locator
    under: Path

    def at(self, path: Path) -> Origin:
        return self.locator.at((*self.under, *path))

    def causes(self, path: Path, *more: Any) -> tuple[Cause, ...]:
        """The causes that the inner locator has for *path*; () where it has no method `causes`.

        more: further arguments for that method, passed on unchanged
        """
        causes_of = getattr(self.locator, "causes", None)
        return () if causes_of is None else tuple(causes_of((*self.under, *path), *more))


UNKNOWN = Origin("unknown")


@dataclass(frozen=True, slots=True, repr=False)
class ValueText:
    """A text in place of a value that is no data, such as a look-up that was not made. It prints as the bare text.

    Two are equal if their texts are equal.

    >>> ValueText("look up 'port'")
    look up 'port'
    """

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Claim:
    """One value that one source sets at a path.

    Two claims are equal if path, value, rank and verb are equal; other fields are not compared.
    `causes` calls `why` at each access; () without causes. `cause_lines()` gives the causes as texts; [] without them.
    All calls that led to the line are one text, "a.py:7, called from b.py:8"; each other cause is one, "b.py:2".
    path:   the steps from the root of the tree
    value:  the value: plain data, never changed afterwards
    rank:   the number of the slot or layer; a higher number is stronger
    origin: the source and place
    verb:   how the value was set
    why:    a function () -> causes of the value; None: the claim has no causes
    then:   a function (path) -> Trace of that path as it was when the claim was made; None: that is not recorded
    """

    path: Path
    value: Any
    rank: int
    origin: Origin = field(compare=False)
    verb: Verb = Verb.SET
    why: Callable[[], tuple[Cause, ...]] | None = field(default=None, compare=False)
    then: Callable[[Path], Any] | None = field(default=None, compare=False)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The calls that led to the line, then the lines that the value comes from; () where none are known.

        Computed at each access, and not kept here.
        cost: for a value that code computes: parsing each file that it comes from, the first time
        """
        return () if self.why is None else self.why()

    def cause_lines(self) -> list[str]:
        """The causes as texts; [] without causes. All calls are one text, which begins with the place of this claim.

        Each other cause is a text of its own.

        >>> led = Cause(CALLED, Origin("recipe", "", "b.py", 8))
        >>> written = Cause(WRITTEN, Origin("recipe", "", "b.py", 2))
        >>> Claim(("a",), 1, 2, Origin("recipe", "", "a.py", 7), why=lambda: (led, written)).cause_lines()
        ['a.py:7, called from b.py:8', 'b.py:2']
        """
        causes = self.causes
        calls = [str(one) for one in causes if one.what == CALLED]
        others = [str(one) for one in causes if one.what != CALLED]
        return [", ".join([str(self.origin.place), *calls]), *others] if calls else others

    def __str__(self) -> str:
        return f"{spell(self.path)} = {self.value!r} by {self.origin}"

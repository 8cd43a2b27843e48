"""Setters: the sources that set values, and the marks that trees keep for them.

A setter is a source with a name: "recipe apache2::default". A mark is a small number that the trees
keep for each value that is set. It stands for the locator, the verb, and the depth from which the locator
counts paths. A line of code is noted as the code object and an offset; file and line are looked up on demand.

It knows no slots and no trees.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from nodeattrs.core.claim import UNKNOWN, Locator, Origin, Verb
from nodeattrs.core.frames import frame_above
from nodeattrs.core.origins import At
from nodeattrs.node.saved_code import SavedRead, SavedRun
from nodeattrs.node.sites import Calls, CodeLocator, ExpressionSite, site_of

ATTRIBUTE_FILE, RUN = "attribute file", "run"
EARLY = frozenset({ATTRIBUTE_FILE, RUN})
"""The kinds of setters that set values before the first recipe: they write the attribute file's slot of a component."""
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Setter(NamedTuple):
    """A source that sets values.

    kind:    "attribute file", "recipe", "role", ...
    name:    its name: a cookbook, a recipe, a role
    locator: knows the place of each value, where the source is a document; None: code, whose line is found
    """

    kind: str
    name: str = ""
    locator: Locator | None = None


CALLER = Setter("caller")


class Mark(NamedTuple):
    """How a value was set.

    locator: finds the place
    verb:    set, replace, full assignment, append, erase or silent
    depth:   the locator counts paths from this depth of the tree
    bulk:    whether it is a document of facts: a snapshot keeps its file and not its lines
    is_late: whether it set, in a saved run, values that were computed only when that run was saved
    """

    locator: Locator
    verb: Verb = Verb.SET
    depth: int = 0
    bulk: bool = False
    is_late: bool = False

    @property
    def line(self) -> Origin:
        """The origin with its line and without a column: of many lines no source has to be read for that."""
        locator = self.locator
        if type(locator) is CodeLocator and (lines := locator.lines) is not None and lines.first == lines.last:
            return locator.placed(locator.site.file, lines.first)
        return locator.at(())._replace(column=None)

    @property
    def unplaced(self) -> Origin:
        """The origin with its file and without a line."""
        known: Origin | None = getattr(self.locator, "unplaced", None)
        return self.locator.at(()).moved(None) if known is None else known


_IN_A_FUNCTION = 1
"""The flag of a code object that has local variables: a file that runs, or the body of a class, has none."""
_MOST_CALLS, _MOST_READ, _MOST_CODES = 40, 500, 4_096

_Line = tuple[CodeType, int, Setter, Verb, int, Any, Calls]
"""A line that sets: code, offset, setter, verb, depth, what linecache has of its file; and the calls that led there."""

_CODES: dict[int, tuple[CodeType, bytes]] = {}
"""By identity, which they are held for: code that sets something, and its instructions."""


def _begin(code: CodeType, offset: int) -> int:
    """Where the instruction begins that a frame is at.

    A call that CPython has inlined, which it does after some, is at the last of its caches: another number, and it
    would be another line.
    """
    known = _CODES.get(id(code))
    if known is None:
        if len(_CODES) >= _MOST_CODES:
            _CODES.clear()
        known = _CODES[id(code)] = code, code.co_code  # a copy, made each time
    instructions = known[1]
    while offset > 0 and not instructions[offset]:
        offset -= 2
    return offset


def _calls_to(frame: Any, entered: CodeType | None) -> Calls:
    """The calls that led to a frame: out to the file that runs, or to the block in which the setter sets values."""
    calls: list[tuple[CodeType, int, Any]] = []
    left = _MOST_CALLS
    while left and (frame := frame.f_back) is not None and (code := frame.f_code) is not entered:
        if not code.co_filename.startswith(_HERE):
            calls.append((code, _begin(code, frame.f_lasti), linecache.cache.get(code.co_filename)))
        left = left - 1 if code.co_flags & _IN_A_FUNCTION else 0
    return tuple(calls)


class Marks:
    """The marks of one node, by number. Number 0 means that the setter is not known.

    root:        gives the folder to which files are relative
    table:       the marks by number; a line of code is kept as raw notes until its mark is read
    setter:      the setter of now
    entered:     the code of the block in which the setter sets values; None outside of such a block
    until:       number of a mark that was used again -> how many marks there were at its last use
    reads:       (code, offset) of a call -> the documents that it has read, with their locators
    saved_run:   the sources of the saved run, where the node comes from a snapshot; else None
    saved_reads: the documents that calls of the saved run have read
    """

    def __init__(self, root: Callable[[], str]) -> None:
        self.table: list[Mark | _Line] = [Mark(UNKNOWN)]
        self.setter = CALLER
        self.entered: CodeType | None = None
        self.reads: dict[tuple[CodeType, int], dict[int, tuple[Any, Locator]]] = {}
        self.root = root
        self.saved_reads: Sequence[SavedRead] = ()
        self.until: dict[int, int] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._setters: dict[tuple[Any, ...], Setter] = {}
        self.saved_run: SavedRun | None = None

    def __getitem__(self, number: int) -> Mark:
        mark = self.table[number]
        if not isinstance(mark, Mark):
            code, offset, setter, verb, depth, known, calls = mark
            mark = self.table[number] = Mark(
                CodeLocator(site_of(code, offset, known), setter.kind, setter.name, self.root, calls), verb, depth
            )
        return mark

    def __len__(self) -> int:
        return len(self.table)

    def all(self) -> list[Mark]:
        """All marks as a list, by number."""
        return [self[number] for number in range(len(self.table))]

    def place(self, one: At) -> tuple[Origin, Mark]:
        """The origin of a place (mark number and path in the slot), and the mark."""
        mark = self[one.source]
        return mark.locator.at(one.path[mark.depth :]), mark

    def is_part(self, part: int, of: int) -> bool:
        """Whether the expression of one mark begins within the lines of another one's. False where lines are
        not known.
        """
        inner, outer = (getattr(self[one].locator, "lines", None) for one in (part, of))
        return inner is not None and outer is not None and inner.begins_in(outer)

    def known_setter(self, setter: Setter) -> Setter:
        """The one setter object for this kind, name and locator: numbers of marks depend on its identity."""
        return self._setters.setdefault((setter.kind, setter.name, id(setter.locator)), setter)

    def add(self, mark: Mark) -> int:
        """Add a mark, and return its number."""
        self.table.append(mark)
        return len(self.table) - 1

    def number_of(self, setter: Setter, locator: Locator, depth: int, verb: Verb = Verb.SET) -> int:
        """The number of the mark for a setter, a depth and a verb; added at the first call.

        setter:  from `known_setter`
        locator: of the mark, where it is added
        """
        key = (id(setter), depth, verb)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.add(Mark(locator, verb, depth))
        return number

    def number_here(self, depth: int, verb: Verb = Verb.SET, above: int = 2, on_the_way: bool = False) -> int:
        """The number of the mark for the line outside of this library that calls now; the same line, depth and verb
        keep it.

        For a setter with a locator, the mark of that locator. Within a function, different calls of it have different
        marks.
        depth: where the locator begins to count paths
        above: how many frames, this one counted, certainly belong to this package
        on_the_way: True for a step to the place that the line sets
        cost:  one walk out of this package's frames; from inside a function one more, out to its callers
        """
        setter, entered = self.setter, self.entered
        if setter.locator is not None:
            return self.number_of(setter, setter.locator, depth, verb)
        frame: Any = frame_above(above)
        while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
            frame = frame.f_back
        code = frame.f_code
        offset = _begin(code, frame.f_lasti) + on_the_way
        # By identity: hashing a code object costs more than all the rest. The table keeps it.
        key: tuple[Any, ...] = (id(code), offset, id(setter), depth, verb)
        calls: Calls = ()
        if entered is not None and code is not entered and code.co_flags & _IN_A_FUNCTION:
            calls = _calls_to(frame, entered)
            key += tuple([(id(caller), at) for caller, at, _ in calls])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            # The text is held, since the file may have run again with another one by then.
            self.table.append((code, offset, setter, verb, depth, linecache.cache.get(code.co_filename), calls))
        else:
            self.until[number] = len(self.table)
        return number

    def documents_read(self) -> Iterator[tuple[ExpressionSite, Iterable[tuple[Any, Locator]]]]:
        """Yield (expression, documents) for each call that has read documents: each document with its locator.

        Documents of a saved run are read again, as far as their versions are available.
        """
        for (code, offset), known in self.reads.items():
            yield site_of(code, offset, None), known.values()
        for read in self.saved_reads:
            yield read.site, read.documents_again()

    def note_read(self, document: Any, locator: Locator) -> None:
        """Note that the nearest line outside of this library has read a document; at most 500 for one call are kept.

        locator: knows the places in it, from its root
        """
        frame: Any = frame_above(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        known = self.reads.setdefault((frame.f_code, _begin(frame.f_code, frame.f_lasti)), {})
        if len(known) < _MOST_READ:
            known[id(document)] = document, locator

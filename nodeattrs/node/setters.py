"""Setters are the sources that set values; marks are the lines that set them.

A setter is a source with a name: "recipe apache2::default". For each value, a slot keeps a *mark*: the number of a
`Mark`. A `Mark` has a locator, a verb, and the depth where the locator begins to count paths. A line of code is noted
as a code object and an offset; its file and line are looked up only when they are needed. The module knows no slots.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from nodeattrs.core.claim import UNKNOWN, Locator, Origin, Verb
from nodeattrs.core.frames import frame_above
from nodeattrs.core.origins import SourcePath
from nodeattrs.node.sites import Calls, CodeLocator, ExpressionSite, SavedRead, SavedRun, site_of

ATTRIBUTE_FILE, RUN = "attribute file", "run"
EARLY = frozenset({ATTRIBUTE_FILE, RUN})
"""The kinds of setters that set values before the first recipe: they write the attribute file's slot of a component."""
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Setter(NamedTuple):
    """A source that sets values; one is current in a ledger at any time.

    kind:    "attribute file", "recipe", "role", ...
    name:    of the cookbook, recipe, role, ...; "" for none
    locator: knows the place of each value in a document; None: the source is code, and the line that calls is found
    """

    kind: str
    name: str = ""
    locator: Locator | None = None


CALLER = Setter("caller")


class Mark(NamedTuple):
    """A line of code, or a document, that sets values in one way. Slots keep its number in `Marks`, not this object.

    `line` gives its origin with line and without column, and `unplaced` without both.

    locator: finds the place of a value
    verb:    set, replace, full assignment, append, erase, or silent for a value that an `unless` did not set
    depth:   how many first steps of a path in the slot are left out before the locator gets it
    is_facts: whether it is a document of facts; a snapshot then keeps its file and no lines
    is_late: whether it set deferred values in a saved run, which were computed only when that run was saved
    """

    locator: Locator
    verb: Verb = Verb.SET
    depth: int = 0
    is_facts: bool = False
    is_late: bool = False

    @property
    def line(self) -> Origin:
        """The origin with its line and without a column. If the code is on one line, no source file is read for it."""
        locator = self.locator
        if type(locator) is CodeLocator and (lines := locator.lines) is not None and lines.first == lines.last:
            return locator.placed(locator.site.file, lines.first)
        return locator.at(())._replace(column=None)

    @property
    def unplaced(self) -> Origin:
        """The origin with its file, and without line and column."""
        known: Origin | None = getattr(self.locator, "unplaced", None)
        return self.locator.at(()).moved(None) if known is None else known


_IN_A_FUNCTION = 1
"""The flag of the code object of a function. The code of a file or of a class body does not have it."""
_MOST_CALLS, _MOST_READ, _MOST_CODES = 40, 500, 4_096

_CODES: dict[int, tuple[CodeType, bytes]] = {}
"""id of a code object -> the object, held so that the id stays its own, and its instructions."""


def _begin(code: CodeType, offset: int) -> int:
    """The offset at which the instruction begins that a frame is at, whose own offset may point into its caches.

    CPython stops at the last cache of a call after it has inlined it, which would be another number for the same line.
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
    """The calls that led to a frame, the innermost first: out to the file that runs, or to the code of the
    setter's block.
    """
    calls: list[tuple[CodeType, int, Any]] = []
    left = _MOST_CALLS
    while left and (frame := frame.f_back) is not None and (code := frame.f_code) is not entered:
        if not code.co_filename.startswith(_HERE):
            calls.append((code, _begin(code, frame.f_lasti), linecache.cache.get(code.co_filename)))
        left = left - 1 if code.co_flags & _IN_A_FUNCTION else 0
    return tuple(calls)


class Marks:
    """The marks of one node by number, and the current setter. Mark 0 is there at first: an unknown setter.

    `marks[number]` is the Mark. Marks are never removed, so a greater number was first used later.

    number_here: the number for the line that calls now; a new line gets a new mark
    add:         adds a mark, and returns its number
    place:       (origin, Mark) for a number and a path
    is_part:     whether the code of one mark begins inside the code of another
    known_setter: the first of the equal setters that were given
    note_read:   records that the calling line read a document
    documents_read: yields (expression, documents) for each such call

    root:        a function that returns the folder to which files are relative
    table:       the marks by number
    setter:      the current setter
    entered:     the code of the `SetterBlock` that is entered now; None outside of one
    last_uses:   number of a mark that was used again -> how many marks there were at its last use
    reads:       (code, offset) of a call -> the documents that it has read, with their locators
    saved_run:   the sources of the saved run from whose snapshot the node was made; None for other nodes
    saved_reads: the documents that calls of the saved run have read
    """

    def __init__(self, root: Callable[[], str]) -> None:
        self.table = [Mark(UNKNOWN)]
        self.setter = CALLER
        self.entered: CodeType | None = None
        self.reads: dict[tuple[CodeType, int], dict[int, tuple[Any, Locator]]] = {}
        self.root = root
        self.saved_reads: Sequence[SavedRead] = ()
        self.last_uses: dict[int, int] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._setters: dict[tuple[Any, ...], Setter] = {}
        self.saved_run: SavedRun | None = None

    def __getitem__(self, number: int) -> Mark:
        return self.table[number]

    def __len__(self) -> int:
        return len(self.table)

    def place(self, one: SourcePath) -> tuple[Origin, Mark]:
        """Returns (origin, mark) for a mark's number and a path in the slot. The origin has the line of that path."""
        mark = self[one.source]
        return mark.locator.at(one.path[mark.depth :]), mark

    def is_part(self, part: int, of: int) -> bool:
        """Whether the expression of mark *part* begins within the lines of mark *of*, in the same source.

        False where the lines of one are not known.
        """
        inner, outer = (getattr(self[one].locator, "lines", None) for one in (part, of))
        return inner is not None and outer is not None and inner.begins_in(outer)

    def known_setter(self, setter: Setter) -> Setter:
        """The first setter that was given with this kind, name and locator object: *setter* itself if it is new.

        `number_here` gives two setters the same marks only if they are the same object.
        """
        return self._setters.setdefault((setter.kind, setter.name, id(setter.locator)), setter)

    def add(self, mark: Mark) -> int:
        """Add a mark, also if there is an equal one, and return its number."""
        self.table.append(mark)
        return len(self.table) - 1

    def number_here(self, depth: int, verb: Verb = Verb.SET, above: int = 2, is_step: bool = False) -> int:
        """The number of the mark for the nearest calling line outside of this library. A new line gets a new mark.

        An expression that called before, with the same setter, depth and verb, gets its old number, and `last_uses`
        notes the use. In a function that a setter's block calls, the calls on the way must be the same, too.
        If the current setter has a locator, no frame is looked at: that setter has one mark for each depth and verb.
        If all frames belong to this library, the outermost one counts.
        depth: how many first steps of a path are left out before the locator gets it
        verb:  how the line sets the value
        above: the number of frames that are skipped unseen, with the frame of this function as the first one. All of
               them must belong to this library
        is_step: True for a map above the path that the line goes on to set; `is_step` of its site is then true
        cost:  a walk up the frames of this package; from inside a function also up to the file that runs
        """
        setter, entered = self.setter, self.entered
        if setter.locator is not None:
            setter_key = (id(setter), depth, verb)
            if setter_key not in self._numbers:
                self._numbers[setter_key] = self.add(Mark(setter.locator, verb, depth))
            return self._numbers[setter_key]
        frame: Any = frame_above(above)
        while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
            frame = frame.f_back
        code = frame.f_code
        offset = _begin(code, frame.f_lasti) + is_step
        # By id: hashing a code object costs more than all the rest. The site in the table keeps the object alive.
        key: tuple[Any, ...] = (id(code), offset, id(setter), depth, verb)
        calls: Calls = ()
        if entered is not None and code is not entered and code.co_flags & _IN_A_FUNCTION:
            calls = _calls_to(frame, entered)
            key += tuple([(id(caller), at) for caller, at, _ in calls])
        number = self._numbers.get(key)
        if number is None:
            # With the source as it is now: the file may change and run again before the mark is read.
            site = site_of(code, offset, linecache.cache.get(code.co_filename))
            locator = CodeLocator(site, setter.kind, setter.name, self.root, calls)
            number = self._numbers[key] = self.add(Mark(locator, verb, depth))
        else:
            self.last_uses[number] = len(self.table)
        return number

    def documents_read(self) -> Iterator[tuple[ExpressionSite, Iterable[tuple[Any, Locator]]]]:
        """Yield (expression, documents) for each call that has read documents; documents are (data, locator).

        Documents of a saved run are read again from its repository while they are iterated. If the version that the
        call has read is not available, the document is left out.
        """
        for (code, offset), known in self.reads.items():
            yield site_of(code, offset, None), known.values()
        for read in self.saved_reads:
            yield read.site, read.read_documents()

    def note_read(self, document: Any, locator: Locator) -> None:
        """Note that the nearest line outside of this library has read a document.

        If all calling lines are in the library, the outermost one is noted.
        The first 500 documents of a line are noted, and no others.
        document: its data; the same object is noted once
        locator:  gives the places in it, from its root
        """
        frame: Any = frame_above(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        known = self.reads.setdefault((frame.f_code, _begin(frame.f_code, frame.f_lasti)), {})
        if len(known) < _MOST_READ:
            known[id(document)] = document, locator

"""Setters: the sources that set values, and the marks that trees keep for them.

A setter is a source with a name: "recipe apache2::default". A mark is a small number that the trees
keep for each value that is set. It stands for the locator, the verb, and the depth from which the locator
counts paths. A line of code is noted as the code object and an offset; file and line are looked up on demand.

It knows no slots and no trees.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from nodeattrs.core.claim import UNKNOWN, Locator, Origin, Verb
from nodeattrs.core.frames import frame_above
from nodeattrs.core.origins import At
from nodeattrs.node.saved_code import SavedRead, SavedRun
from nodeattrs.node.sites import Calls, CodeLocator, Site, site_of

ATTRIBUTE_FILE, RUN = "attribute file", "run"
EARLY = frozenset({ATTRIBUTE_FILE, RUN})
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

    @property
    def early(self) -> bool:
        """Whether it writes the attribute file's slot of a component; all other setters write the recipe's.

        Early are attribute files, and the run itself: both set values before the first recipe.
        """
        return self.kind in EARLY


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
_MOST_CALLS, _MOST_READ, _MOST_SEEN = 40, 500, 20_000

_Seen = tuple[CodeType, int, Setter, Verb, int, Any, Calls]
"""What there is to know of a line that sets: code, offset, setter, verb, depth, what linecache has of its file; and the
calls that led there."""


_SEEN: dict[tuple[Any, ...], tuple[tuple[Any, ...], _Seen]] = {}
"""Lines that no calls led to, as any node of this process has seen them: by what `number_here` knows of one at once."""
_OF_LINE = 5
"""So long is the key of such a line."""
_Code = tuple[CodeType, bytes, dict[int, int]]
_CODES: dict[int, _Code] = {}
"""By identity, which they are held for: code that sets something, its instructions, and where some of those begin."""
_MOST_CODES = 4_096


def _begin(code: CodeType, offset: int) -> int:
    """Where the instruction begins that a frame is at.

    A call that CPython has inlined, which it does after some, is at the last of its caches: another number, and it
    would be another line.
    """
    known = _CODES.get(id(code))
    if known is None:
        if len(_CODES) >= _MOST_CODES:
            _CODES.clear()
        known = _CODES[id(code)] = code, code.co_code, {}  # which is a copy, made each time
    _, text, begins = known
    if text[offset]:
        return offset
    if (begin := begins.get(offset)) is None:
        begin = offset
        while begin > 0 and not text[begin]:
            begin -= 2
        begins[offset] = begin
    return begin


def _calls_to(frame: Any, entered: CodeType | None) -> Calls:
    """The calls that led to a frame: out to the file that runs, or to the block in which the setter sets values."""
    calls: list[tuple[CodeType, int, Any]] = []
    left = _MOST_CALLS
    while left and (frame := frame.f_back) is not None and (code := frame.f_code) is not entered:
        if not code.co_filename.startswith(_HERE):
            calls.append((code, _begin(code, frame.f_lasti), linecache.cache.get(code.co_filename)))
        left = left - 1 if code.co_flags & _IN_A_FUNCTION else 0
    return tuple(calls)


_same = lru_cache(maxsize=4_096)(Setter)
"""One setter for all nodes, of each that has no locator, so that their lines can be compared."""


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
        self.table: list[Mark | _Seen] = [Mark(UNKNOWN)]
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
        key = setter.kind, setter.name, id(setter.locator)
        known = self._setters.get(key)
        if known is None:
            known = self._setters[key] = setter if setter.locator is not None else _same(setter.kind, setter.name)
        return known

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
        at = id(frame.f_code), frame.f_lasti + on_the_way, id(setter), depth, verb, id(entered)
        seen = _SEEN.get(at)
        if seen is None and frame.f_code.co_filename.startswith(_HERE):
            while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
                frame = frame.f_back
            at = id(frame.f_code), frame.f_lasti + on_the_way, id(setter), depth, verb, id(entered)
            seen = _SEEN.get(at)
        key, row = seen if seen is not None else self._seen(frame, at)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            self.table.append(row or self._row(frame, key))
        else:
            self.until[number] = len(self.table)
        return number

    def _seen(self, frame: Any, at: tuple[Any, ...]) -> tuple[tuple[Any, ...], _Seen | None]:
        """What the line of a frame is known by, and what there is to know of it, where no call needs to be known."""
        code, entered, (_, offset, setter, depth, verb, _) = frame.f_code, self.entered, at
        # Keyed by identity: hashing a code object costs more than all the rest. The row keeps it alive.
        key: tuple[Any, ...] = (id(code), _begin(code, offset & ~1) + (offset & 1), setter, depth, verb)
        if entered is not None and code is not entered and code.co_flags & _IN_A_FUNCTION:
            caller, left = frame.f_back, _MOST_CALLS
            while caller is not None and left and (its := caller.f_code) is not entered:
                key += (id(its), _begin(its, caller.f_lasti))
                if not its.co_flags & _IN_A_FUNCTION:
                    break
                caller, left = caller.f_back, left - 1
            return key, None
        if len(_SEEN) >= _MOST_SEEN:
            _SEEN.clear()
        seen = _SEEN[at] = key, self._row(frame, key)
        return seen

    def _row(self, frame: Any, key: tuple[Any, ...]) -> _Seen:
        """What there is to know of the line of a frame. The text is held, since the file may have run again with
        another one by the time somebody asks.
        """
        code, lines = frame.f_code, sys.modules.get("linecache")
        calls = () if len(key) == _OF_LINE else _calls_to(frame, self.entered)
        its_lines = None if lines is None else lines.cache.get(code.co_filename)
        return code, key[1], self.setter, key[4], key[3], its_lines, calls

    def documents_read(self) -> Iterator[tuple[Site, Iterable[tuple[Any, Locator]]]]:
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

"""The expressions in Python sources that set, read or call something, and the locator of what they set.

Of code that ran such a site is an instruction of a code object. Of a saved run it is what the snapshot names: lines and
columns in the version of the file that ran (`saved_code`).
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.formats.python import PythonText, Span

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_MOST_SITES, _MOST_PLACES, _MOST_SPANS = 20_000, 1_000, 256


class Site:
    """An expression that ran, and what its source says of it.

    file:             the source file, as code objects name it
    span:             where the expression stands; None where the line is not known
    is_step:          whether it is a step on the way to what the expression sets
    in_comprehension: whether it stands in a comprehension, which has a frame of its own in some versions of Python
    whole_line:       whether only the line is known: then the last statement on the line is meant
    """

    file: str
    span: Span | None
    is_step = False
    in_comprehension = False
    whole_line = False

    def __init__(self) -> None:
        self._places: dict[Path, tuple[int | None, int | None]] = {}

    @cached_property
    def text(self) -> PythonText | None:
        """The source as it ran; None where that version is not available."""
        return self._text()

    def _text(self) -> PythonText | None:
        raise NotImplementedError

    @cached_property
    def setting(self) -> Any:
        """The expression, and what it sets; None where that is not known."""
        if self.span is None or self.is_step or self.text is None:
            return None
        return self.text.setting(self.span[0], None if self.whole_line else self.span)

    def place(self, path: Path) -> tuple[int | None, int | None]:
        """The line and column at which the expression, or the literal in it, says *path*."""
        known = self._places.get(path)
        if known is None:
            known = self._place(path)
            if len(self._places) < _MOST_PLACES:
                self._places[path] = known
        return known

    def _place(self, path: Path) -> tuple[int | None, int | None]:
        if self.span is None:
            return None, None
        if self.text is None:
            return self.span[0], None
        if not self.is_step:
            return self.text.place(self.span[0], path, self.span)
        return self.span[0], None if self.span[2] is None else self.text.column(self.span[0], self.span[2])

    def says_below(self, path: Path) -> bool:
        """Whether something below *path* may have another place than *path* has."""
        if self.span is None or self.is_step or self.text is None:
            return False
        return self.text.says_below(self.span[0], path, self.span)


class CodeSite(Site):
    """An instruction of a code object. `site_of` gives one object for all nodes of a process.

    offset: of the instruction, an even number; one more is a step on the way to what it sets
    """

    def __init__(self, code: CodeType, offset: int, ran: Any) -> None:
        """ran: what linecache has of its file"""
        super().__init__()
        self.code, self.offset, self._ran = code, offset, ran
        self.file = code.co_filename
        self.is_step = bool(offset % 2)
        self.in_comprehension = code.co_name in _COMPREHENSIONS

    @cached_property
    def span(self) -> Span | None:  # type: ignore[override]  # computed from the code when it is first asked for
        return _span_of(self.code, self.offset)

    def _text(self) -> PythonText:
        return text_of(self.file, self._ran)


_sites: dict[tuple[int, int], CodeSite] = {}


def site_of(code: CodeType, offset: int, ran: Any) -> CodeSite:
    """The one site of an instruction. ran: what linecache has of its file"""
    key = id(code), offset  # the site keeps the code: no other code has its id
    known = _sites.get(key)
    if known is None:
        if len(_sites) >= _MOST_SITES:
            _sites.clear()
        known = _sites[key] = CodeSite(code, offset, ran)
    return known


_spans: dict[int, tuple[CodeType, list[Any]]] = {}


def _span_of(code: CodeType, offset: int) -> Span | None:
    """The place of the expression to which an instruction belongs, by the compiler; None where the line is not known.

    cost: the first time one visit of all instructions, so that a file of many writes is not gone through for each
    """
    known = _spans.get(id(code))
    if known is None:
        if len(_spans) >= _MOST_SPANS:
            _spans.clear()
        same: dict[Any, Any] = {}  # what stands in one place is many instructions
        spans = [same.setdefault(span, span) for span in code.co_positions()]
        known = _spans[id(code)] = (code, spans)  # the code is kept: no other code has its id
    span: Span = known[1][offset // 2]
    return None if span[0] is None else span


def text_of(filename: str, ran: Any = None) -> PythonText:
    """The source of a file as it ran: what linecache had of it then, or has now."""
    lines: list[str] | None = ran[2] if ran is not None and len(ran) == 4 else None
    if not lines:
        linecache.checkcache(filename)
        lines = linecache.getlines(filename)
    known = _texts.get(filename)
    if known is None or known[0] is not lines:
        known = _texts[filename] = (lines, PythonText(filename, "".join(lines)))
    return known[1]


_texts: dict[str, tuple[list[str], PythonText]] = {}


@lru_cache(maxsize=4096)
def relative(filename: str, root: str) -> str:
    """A file as origins name it: seen from the root where it lies below."""
    try:
        inside = filename if filename.startswith("<") else os.path.relpath(filename, root)
    except ValueError:  # another drive
        inside = filename
    return (filename if inside.startswith("..") else inside).replace(os.sep, "/")


def is_inside(file: str | None) -> bool:
    """Whether an origin names a file below its root."""
    return file is not None and not os.path.isabs(file) and not file.startswith(("<", ".."))


Calls = tuple[tuple[CodeType, int, Any], ...]
"""Calls that led somewhere: code object, offset, what linecache has of its file; the innermost first."""


class Lines(NamedTuple):
    """The lines over which an expression goes. source: what these are lines of: a code object's identity, or a file"""

    source: Any
    first: int
    last: int

    def begins_in(self, other: Lines) -> bool:
        """Whether the first of them is one of the others."""
        return self.source == other.source and other.first <= self.first <= other.last


class CodeLocator:
    """A line of Python that set something; file and line are looked up when asked.

    Inside a literal it finds the line of each part.

    site:       the expression that set it
    kind, name: who set it
    calls:      the calls that led there, the innermost first
    """

    __slots__ = ("_calls", "kind", "name", "root", "site")

    def __init__(self, site: CodeSite, kind: str, name: str, root: Callable[[], str], calls: Calls = ()) -> None:
        self.site = site
        self.kind = kind
        self.name = name
        self.root = root
        self._calls = calls

    @property
    def calls(self) -> list[Site]:
        return [site_of(*call) for call in self._calls]

    @property
    def lines(self) -> Lines | None:
        """The lines of the expression that set it; None where nobody knows them."""
        span = self.site.span
        return None if span is None else Lines(id(self.site.code), span[0], span[1] or span[0])

    def at(self, path: Path) -> Origin:
        """Where the expression that set it, or the literal in it, says *path*."""
        return self.placed(self.site.file, *self.site.place(path))

    def says_below(self, path: Path) -> bool:
        """Whether something below *path* may have a place of its own."""
        return self.site.says_below(path)

    def source(self, filename: str) -> PythonText:
        """Another source of the repository, as Python has it now."""
        return text_of(filename)

    def placed(self, filename: str, line: int | None = None, column: int | None = None) -> Origin:
        """A place in a source as an origin of the same setter; the file is named as in all origins."""
        return Origin(self.kind, self.name, relative(filename, self.root()), line, column)

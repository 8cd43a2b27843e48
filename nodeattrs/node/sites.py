"""Sites: expressions in Python sources that set, read or call something, and the locator of their values.

For code that ran, a site is an instruction of a code object. For a saved run, it is named by the snapshot: lines and
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
_MOST_SITES, _MOST_SPANS = 20_000, 256


class ExpressionSite:
    """An expression that ran, and its source text. `CodeSite` and `SavedSite` are the two kinds.

    file:             the source file, as code objects name it
    span:             first line, last line, first column, last column; None where the line is not known
    is_step:          whether it is only a step on the way to the place that the line sets
    in_comprehension: whether it stands in a comprehension, which has a frame of its own in some versions of Python
    whole_line:       whether only the line is known: then the last statement on the line counts
    """

    file: str
    span: Span | None
    is_step = False
    in_comprehension = False
    whole_line = False

    @cached_property
    def text(self) -> PythonText | None:
        """The source as it ran; None where that version is not available."""
        return self._text()

    def _text(self) -> PythonText | None:
        raise NotImplementedError

    @cached_property
    def setting(self) -> Any:
        """The expression and the value that it sets, as syntax trees; None where the source is not known, or
        for a mere step.
        """
        if self.span is None or self.is_step or self.text is None:
            return None
        return self.text.setting(self.span[0], None if self.whole_line else self.span)

    def place(self, path: Path) -> tuple[int | None, int | None]:
        """The line and column of the part of the expression for *path*: in a literal that of the entry, else of the
        whole.

        None for each that is not known. path: inside the value that the expression sets
        """
        if self.span is None:
            return None, None
        if self.text is None:
            return self.span[0], None
        if not self.is_step:
            return self.text.place(self.span[0], path, self.span)
        return self.span[0], None if self.span[2] is None else self.text.column(self.span[0], self.span[2])

    def says_below(self, path: Path) -> bool:
        """Whether a path below *path* may have another place than *path* itself; False where the source is not
        known.
        """
        if self.span is None or self.is_step or self.text is None:
            return False
        return self.text.says_below(self.span[0], path, self.span)


class CodeSite(ExpressionSite):
    """The expression that an instruction of running code belongs to.

    Use `site_of`, which gives one object for all nodes of a process.

    code:   the code object
    offset: of the instruction, an even number. One more, an odd number, means a step on the way to the place that the
            line sets
    ran:    the entry of linecache for its file, when the code ran
    """

    def __init__(self, code: CodeType, offset: int, ran: Any) -> None:
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
    """The one site for an instruction, made at the first call. ran: as for `CodeSite`"""
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
    """The source of a file as it ran: of *ran*, an entry of linecache, else as linecache has it now; empty for no file.

    Parsed texts are kept and used again.
    """
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
    """A file name for origins: relative to *root*, with forward slashes, where the file lies below it, else as
    it is.
    """
    try:
        inside = filename if filename.startswith("<") else os.path.relpath(filename, root)
    except ValueError:  # another drive
        inside = filename
    return (filename if inside.startswith("..") else inside).replace(os.sep, "/")


def is_inside(file: str | None) -> bool:
    """Whether a file name of an origin is one below the root; False for None."""
    return file is not None and not os.path.isabs(file) and not file.startswith(("<", ".."))


Calls = tuple[tuple[CodeType, int, Any], ...]
"""Calls that led somewhere: code object, offset, what linecache has of its file; the innermost first."""


class LineRange(NamedTuple):
    """The lines of an expression.

    source:      identifies the source: the id of a code object, or a file name
    first, last: numbers from 1
    """

    source: Any
    first: int
    last: int

    def begins_in(self, other: LineRange) -> bool:
        """Whether the first line is one of the other's, in the same source."""
        return self.source == other.source and other.first <= self.first <= other.last


class CodeLocator:
    """The locator of a value that a line of Python code set; file and line are looked up on demand.

    Inside a literal it finds the line of each part.
    site:       the expression that set the value
    kind, name: of the setter
    root:       gives the folder to which files are relative
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
    def calls(self) -> list[ExpressionSite]:
        return [site_of(*call) for call in self._calls]

    @property
    def lines(self) -> LineRange | None:
        """The lines of the expression; None where they are not known."""
        span = self.site.span
        return None if span is None else LineRange(id(self.site.code), span[0], span[1] or span[0])

    def at(self, path: Path) -> Origin:
        """The origin of *path*: the line of the expression, or of its part in a literal."""
        return self.placed(self.site.file, *self.site.place(path))

    def says_below(self, path: Path) -> bool:
        """Whether a path below *path* may have a place of its own."""
        return self.site.says_below(path)

    def source(self, filename: str) -> PythonText:
        """The text of another source file, as linecache has it now."""
        return text_of(filename)

    def placed(self, filename: str, line: int | None = None, column: int | None = None) -> Origin:
        """The origin for a file and line, with the setter of this locator."""
        return Origin(self.kind, self.name, relative(filename, self.root()), line, column)

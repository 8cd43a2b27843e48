"""Sites: expressions in Python sources that set a value, read one or call a function; and the locator of such values.

For code that ran in this process, a site is an instruction of a code object. For a saved run, the snapshot has lines
and columns in the version of the file that ran (`SavedRun`). Sources of this process are read from linecache when a
place inside an expression is needed.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from importlib.util import decode_source
from types import CodeType
from typing import Any, NamedTuple, Protocol

from nodeattrs.cache import CACHE
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path, dig
from nodeattrs.errors import DocumentError
from nodeattrs.formats import documents
from nodeattrs.formats.python import PythonText, Span

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_MOST_SITES = 20_000


class ExpressionSite:
    """An expression that ran, and its place in the source. The base of `CodeSite` (this process) and `SavedSite`.

    The source is read and parsed at the first use of `text`, `setting` or `place`, and kept. `setting` is the pair
    (expression, value in it) of syntax nodes; None if the source is not available. `place` gives (line, column) of a
    part of that value. `has_places_below` says whether an entry of a part may have another place than the part.

    file:             the source file, as code objects name it
    span:             (first line, last line, first column, last column); None if the line is not known
    is_step:          whether it only created a map above the path that its line goes on to set
    in_comprehension: whether it is in a comprehension, which has a frame of its own in some versions of Python
    whole_line:       whether only the line is known: then the last statement on the line counts
    """

    file: str
    span: Span | None
    is_step = False
    in_comprehension = False
    whole_line = False

    @cached_property
    def text(self) -> PythonText | None:
        """The parsed source as it ran; None where that version is not available."""
        raise NotImplementedError

    @cached_property
    def setting(self) -> Any:
        """(expression, value) as syntax trees: the expression, and the part of it that is the value, or None.

        None if the source is not known, and if `is_step` is true.
        """
        if self.span is None or self.is_step or self.text is None:
            return None
        return self.text.setting(self.span[0], None if self.whole_line else self.span)

    def place(self, path: Path) -> tuple[int | None, int | None]:
        """Returns (line, column) of the entry at *path* in a literal, or of the nearest part above it that is written.

        At last this is the whole expression. If `is_step` is true, *path* is ignored, and the place is where the
        expression begins. Without the source it is (line, None), and (None, None) if the line is not known.
        path: inside the value that the expression sets
        """
        if self.span is None:
            return None, None
        if self.text is None:
            return self.span[0], None
        if not self.is_step:
            return self.text.place(self.span[0], path, self.span)
        return self.span[0], None if self.span[2] is None else self.text.column(self.span[0], self.span[2])

    def has_places_below(self, path: Path) -> bool:
        """Whether a path below *path* may have another place than *path*; False where the source is not known."""
        if self.span is None or self.is_step or self.text is None:
            return False
        return self.text.has_places_below(self.span[0], path, self.span)


class CodeSite(ExpressionSite):
    """The expression of an instruction of code that ran in this process. `site_of` makes it; its source is read later.

    code:   the code object
    offset: of the instruction, an even number; one more, an odd number, if `is_step` is true
    ran:    the entry of linecache for its file when the code ran; None where there was none
    """

    def __init__(self, code: CodeType, offset: int, ran: Any) -> None:
        self.code, self.offset, self._ran = code, offset, ran
        self.file = code.co_filename
        self.is_step = bool(offset % 2)
        self.in_comprehension = code.co_name in _COMPREHENSIONS

    @cached_property
    def span(self) -> Span | None:  # type: ignore[override]  # computed from the code when it is first asked for
        span: Span = _spans(self.code)[self.offset // 2]
        return None if span[0] is None else span  # the compiler gave no line

    @cached_property
    def text(self) -> PythonText:
        return text_of(self.file, self._ran)


_sites: dict[tuple[int, int], CodeSite] = {}


def site_of(code: CodeType, offset: int, ran: Any) -> CodeSite:
    """The one CodeSite of this process for an instruction, made at the first call. Later calls return the same object.

    offset: of the instruction; see `CodeSite`
    ran: the entry of linecache for its file when the code ran; ignored by later calls
    """
    key = id(code), offset  # the site keeps the code alive, so no other code has its id
    known = _sites.get(key)
    if known is None:
        if len(_sites) >= _MOST_SITES:
            _sites.clear()
        known = _sites[key] = CodeSite(code, offset, ran)
    return known


@lru_cache(maxsize=256)
def _spans(code: CodeType) -> list[Any]:
    """The span of each instruction. Equal code objects have equal spans. cost: visits all instructions"""
    same: dict[Any, Any] = {}  # many instructions share a span
    return [same.setdefault(span, span) for span in code.co_positions()]


def text_of(filename: str, ran: Any = None) -> PythonText:
    """The parsed source of a file as it ran; an empty source if the file cannot be read.

    It is kept until the lines of the file change.
    ran: an entry of linecache with its lines; None, or one without lines: the file as linecache has it now
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
    """A file name for origins: relative to *root*, with forward slashes. A file outside of *root* keeps its name.

    Names in angle brackets, such as "<stdin>", are not changed.
    """
    try:
        inside = filename if filename.startswith("<") else os.path.relpath(filename, root)
    except ValueError:  # another drive
        inside = filename
    return (filename if inside.startswith("..") else inside).replace(os.sep, "/")


def is_inside(file: str | None) -> bool:
    """Whether a file name of an origin, from `relative`, is below the root; False for None and "<stdin>"."""
    return file is not None and not os.path.isabs(file) and not file.startswith(("<", ".."))


Calls = tuple[tuple[CodeType, int, Any], ...]
"""Calls that led to a line, the innermost first: (code object, offset, entry of linecache for its file)."""


class LineRange(NamedTuple):
    """The lines of an expression, to see whether another expression begins within them.

    source:      the id of a code object, or a file name; ranges of different sources never overlap
    first, last: line numbers from 1

    `a.begins_in(b)` is True if the first line of a is a line of b.
    """

    source: Any
    first: int
    last: int

    def begins_in(self, other: LineRange) -> bool:
        """Whether the first line of this range is a line of *other*, in the same source."""
        return self.source == other.source and other.first <= self.first <= other.last


class CodeLocator:
    """The locator of a value that a line of Python code set. `at` finds the line, inside a literal the line of each
    part.

    Making one reads nothing. `lines` are the lines of the expression; None if they are not known. `has_places_below`
    says whether a path below a path may have another line. `placed` gives an origin for another file and line. `source`
    gives the text of another file; an empty one if the file cannot be read.

    site:       the expression that set the value
    kind, name: of the setter
    root:       a function that returns the folder to which files are relative
    calls:      the calls that led to the expression, the innermost first; [] if the expression is not inside a function
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
        """The origin of *path* inside the value: the line of the expression, or of its part in a literal."""
        place = CACHE.get((self.site, path), partial(self.site.place, path))  # the same for each node
        return self.placed(self.site.file, *place)

    def has_places_below(self, path: Path) -> bool:
        """Whether a path below *path* may have another place than *path*; False where the source is not known."""
        return self.site.has_places_below(path)

    def source(self, filename: str) -> PythonText:
        """The parsed source of another file, as linecache has it now; an empty one where it cannot be read."""
        return text_of(filename)

    def placed(self, filename: str, line: int | None = None, column: int | None = None) -> Origin:
        """An origin for any file and line, with the setter of this locator. The file's name becomes relative."""
        return Origin(self.kind, self.name, relative(filename, self.root()), line, column)


# --- the code of a saved run -----------------------------------------------------


class Versions(Protocol):
    """Gives the files of a repository by name and digest. `store.saved_nodes.RepositoryVersions` is one.

    `root` is the folder. `content` gives the bytes of the version with a digest; None if it is not available.
    """

    @property
    def root(self) -> str:
        """The folder to which file names are relative."""

    def content(self, file: str, digest: str) -> bytes | None:
        """The bytes of the version of a file that has this digest, also of an older one; None where it is not
        available.

        digest: the name that Git gives to the content, from `blob_name`
        """


class FileVersion(NamedTuple):
    """A version of a file: its name relative to the repository, and the digest of its content, as Git names it."""

    file: str
    digest: str


class SavedRun:
    """The source files of one saved run. A file is read at its first use; each version is parsed once.

    `content(source)` gives the bytes of a version, and `text(source)` its parsed source. `text_at(filename)` finds the
    version by a name such as "/srv/chef/recipes/web.py", which code objects have. Each returns None for a version that
    is not available. `root()` gives the folder of the repository, "" without one. `path(file)` adds this folder to the
    name of a file.

    sources:  the versions that the snapshot names; of several versions of one file, `text_at` takes the first
    versions: gives their content; None if there is no repository: then no version is available
    """

    def __init__(self, sources: Iterable[FileVersion] = (), versions: Versions | None = None) -> None:
        self.sources, self.versions = tuple(sources), versions
        self._texts: dict[FileVersion, PythonText | None] = {}

    def root(self) -> str:
        """The folder of the repository; "" without one."""
        return "" if self.versions is None else self.versions.root

    def path(self, file: str) -> str:
        """The name that code objects have for a file of the repository: *file* behind the folder of the repository.

        file: relative to the repository, with forward slashes; it need not exist
        """
        return os.path.join(self.root(), *file.split("/"))

    def content(self, source: FileVersion) -> bytes | None:
        """The bytes of a version; None where it is not available, or there is no repository."""
        return None if self.versions is None else self.versions.content(*source)

    def text(self, source: FileVersion) -> PythonText | None:
        """The Python source of a version; None where the version is not available. Kept after the first call.

        A version that cannot be decoded gives an empty source.
        """
        if source not in self._texts:
            content = self.content(source)
            text = None if content is None else PythonText(self.path(source.file), python_text(content))
            self._texts[source] = text
        return self._texts[source]

    def text_at(self, filename: str) -> PythonText | None:
        """The Python source of a file in the version that ran.

        None where the snapshot does not name the file, or its version is not available.
        filename: the name that code objects have, as `path` gives it
        """
        file = os.path.relpath(filename, self.root()).replace(os.sep, "/")
        source = next((one for one in self.sources if one.file == file), None)
        return None if source is None else self.text(source)


class SavedSite(ExpressionSite):
    """An expression of a saved run, as its snapshot names it. The source is read at its first use.

    run:    the saved run with the sources
    source: the version of the file; None for code outside of the repository, which has no text
    at:     (first line, last line, first column, column behind the last); (line,) if no columns are known; () if the
            line is not known
    """

    def __init__(self, run: SavedRun, source: FileVersion | None, at: Sequence[int | None]) -> None:
        self.run, self.source, self.at = run, source, tuple(at)
        self.file = "" if source is None else run.path(source.file)
        self.whole_line = len(at) == 1
        line, last, first_column, last_column = (*at, None, None, None, None)[:4]
        self.span = None if line is None else (line, last, first_column, last_column)

    @cached_property
    def text(self) -> PythonText | None:
        return None if self.source is None else self.run.text(self.source)


class SavedDocument(NamedTuple):
    """Names a document that a call of a run has read, for the saved run. It does not have the document's content.

    source: the version of its file
    kind, name: kind and name of the origins of its values
    under:  the path, in the document, of the part that the call has read; () for the whole document
    """

    source: FileVersion
    kind: str
    name: str
    under: Path


class SavedRead(NamedTuple):
    """A call of a saved run that has read documents. `read_documents` reads them again, in the versions of the run.

    site:      the call
    documents: the documents that it has read
    """

    site: SavedSite
    documents: Sequence[SavedDocument]

    def read_documents(self) -> Iterator[tuple[Any, Locator]]:
        """Yield (data, locator) for each document: the part at its path `under`, and the locator of that part.

        The data is ABSENT if the document has nothing at that path. A document is skipped if the version that the call
        had read is not available, if its suffix names no known syntax, or if it cannot be parsed.
        """
        for source, kind, name, under in self.documents:
            content, syntax = self.site.run.content(source), documents.syntax_of(source.file)
            if content is None or syntax is None:
                continue
            try:
                document = documents.parse(documents.decoded(content, source.file), source.file, syntax)
            except DocumentError:
                continue
            yield dig(document.tree, under), document.locator(kind, name, under)


def python_text(content: bytes) -> str:
    """A Python source as text, as linecache has it: decoded by its declared encoding, with a line feed at the end.

    "" for a source that cannot be decoded, and for no bytes.
    """
    try:
        text = decode_source(content)
    except (SyntaxError, LookupError, UnicodeDecodeError):
        return ""
    return text if not text or text.endswith("\n") else f"{text}\n"

"""The code of a saved run, so that the causes of its values can be found later.

A snapshot names the sources that ran and the documents that were read, each with the name that Git gives to its
content. Where the file has changed since, the version that ran is looked for in the Git objects of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import decode_source
from typing import Any, NamedTuple, Protocol

from nodeattrs.core.claim import Locator
from nodeattrs.core.tree import Path, dig
from nodeattrs.errors import DocumentError
from nodeattrs.formats import documents
from nodeattrs.formats.python import PythonText
from nodeattrs.node.sites import ExpressionSite


class Versions(Protocol):
    """Gives the versions of a repository's files."""

    @property
    def root(self) -> str:
        """The folder to which file names are relative."""

    def content(self, file: str, digest: str) -> bytes | None:
        """The bytes of the version of a file that has this digest; None where it is not available.

        digest: as `blob_name` gives it
        """


class FileVersion(NamedTuple):
    """A version of a file: its name, and the digest of its content."""

    file: str
    digest: str


class SavedRun:
    """The source files of one saved run, in the versions that ran.

    sources:  the versions that the snapshot names
    versions: finds their content; None where no repository is there to look into
    """

    def __init__(self, sources: Iterable[FileVersion] = (), versions: Versions | None = None) -> None:
        self.sources, self.versions = tuple(sources), versions
        self._texts: dict[FileVersion, PythonText | None] = {}

    def root(self) -> str:
        """The folder of the repository; "" without one."""
        return "" if self.versions is None else self.versions.root

    def path(self, file: str) -> str:
        """The absolute name of a file of the repository, as code objects have it."""
        return os.path.join(self.root(), *file.split("/"))

    def content(self, source: FileVersion) -> bytes | None:
        """The bytes of a version; None where it is not available."""
        return None if self.versions is None else self.versions.content(*source)

    def text(self, source: FileVersion) -> PythonText | None:
        """The Python source of a version, parsed once; None where the version is not available."""
        if source not in self._texts:
            content = self.content(source)
            text = None if content is None else PythonText(self.path(source.file), python_text(content))
            self._texts[source] = text
        return self._texts[source]

    def text_at(self, filename: str) -> PythonText | None:
        """The Python source of a file, given by its absolute name, in the version that ran; None where the
        snapshot lacks it.
        """
        file = os.path.relpath(filename, self.root()).replace(os.sep, "/")
        source = next((one for one in self.sources if one.file == file), None)
        return None if source is None else self.text(source)


class SavedSite(ExpressionSite):
    """An expression of a source, as a snapshot names it.

    run:    the saved run with the sources
    source: the version of the file; None for code outside of the repository
    at:     (first line, last line, first column, column behind the last); (line,) where no more is known; () for
            nothing
    """

    def __init__(self, run: SavedRun, source: FileVersion | None, at: Sequence[int | None]) -> None:
        self.run, self.source, self.at = run, source, tuple(at)
        self.file = "" if source is None else run.path(source.file)
        self.whole_line = len(at) == 1
        line, last, first_column, last_column = (*at, None, None, None, None)[:4]
        self.span = None if line is None else (line, last, first_column, last_column)

    def _text(self) -> PythonText | None:
        return None if self.source is None else self.run.text(self.source)


class SavedDocument(NamedTuple):
    """A document that a call has read.

    source: the version of its file
    kind, name: for origins of its values
    under:  the path in the document where the data begins that was read
    """

    source: FileVersion
    kind: str
    name: str
    under: Path


class SavedRead(NamedTuple):
    """A call that has read documents: the expression, and the documents."""

    site: SavedSite
    documents: Sequence[SavedDocument]

    def documents_again(self) -> Iterator[tuple[Any, Locator]]:
        """Yield (data, locator) for each document, read again in the version that was read.

        A document without that version, or one that cannot be parsed, is skipped.
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
    """A Python source as text, as linecache has it: decoded as it declares, each line ended by a line feed, the last
    one too.

    "" where it cannot be decoded.
    """
    try:
        text = decode_source(content)
    except (SyntaxError, LookupError, UnicodeDecodeError):
        return ""
    return text if not text or text.endswith("\n") else f"{text}\n"

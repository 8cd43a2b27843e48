"""Sources and documents of a saved run, to find the causes of its values later.

A snapshot names the source files that ran and the documents that were read, each with a digest of its content. A
`Versions` object gives their content; a file whose version is not available any more has no causes.
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
    """Gives the files of a repository by name and digest. `store.saved_nodes.RepositoryVersions` is one."""

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

    sources:  the versions that the snapshot names
    versions: gives their content; None where there is no repository, and then nothing is available
    """

    def __init__(self, sources: Iterable[FileVersion] = (), versions: Versions | None = None) -> None:
        self.sources, self.versions = tuple(sources), versions
        self._texts: dict[FileVersion, PythonText | None] = {}

    def root(self) -> str:
        """The folder of the repository; "" without one."""
        return "" if self.versions is None else self.versions.root

    def path(self, file: str) -> str:
        """The name of a file of the repository with its folder, as code objects have it."""
        return os.path.join(self.root(), *file.split("/"))

    def content(self, source: FileVersion) -> bytes | None:
        """The bytes of a version; None where it is not available, or there is no repository."""
        return None if self.versions is None else self.versions.content(*source)

    def text(self, source: FileVersion) -> PythonText | None:
        """The Python source of a version, parsed once; None where the version is not available."""
        if source not in self._texts:
            content = self.content(source)
            text = None if content is None else PythonText(self.path(source.file), python_text(content))
            self._texts[source] = text
        return self._texts[source]

    def text_at(self, filename: str) -> PythonText | None:
        """The Python source of a file in the version that ran. filename: as code objects have it

        None where the snapshot does not name the file, or its version is not available.
        """
        file = os.path.relpath(filename, self.root()).replace(os.sep, "/")
        source = next((one for one in self.sources if one.file == file), None)
        return None if source is None else self.text(source)


class SavedSite(ExpressionSite):
    """An expression of a saved run, as its snapshot names it. The source is read at its first use.

    run:    the saved run with the sources
    source: the version of the file; None for code outside of the repository, which has no text
    at:     (first line, last line, first column, column behind the last); (line,) where only that is known; () where
            nothing is
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
    """A document that a call of a saved run has read. It has no content.

    source: the version of its file
    kind, name: for origins of its values
    under:  the path in the document of the part that was read; () for all of it
    """

    source: FileVersion
    kind: str
    name: str
    under: Path


class SavedRead(NamedTuple):
    """A call of a saved run that has read documents. `read_documents` reads them again."""

    site: SavedSite
    documents: Sequence[SavedDocument]

    def read_documents(self) -> Iterator[tuple[Any, Locator]]:
        """Yield (data, locator) for each document, read in the version that the call has read.

        A document is skipped where that version is not available, or cannot be parsed.
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
    """A Python source as text, as linecache has it: decoded as it declares, with a line feed at its end.

    "" where it cannot be decoded, and for no bytes.
    """
    try:
        text = decode_source(content)
    except (SyntaxError, LookupError, UnicodeDecodeError):
        return ""
    return text if not text or text.endswith("\n") else f"{text}\n"

"""The versions of a repository's files: the one on disk, or an older one from its Git objects."""

from __future__ import annotations

import os
import pathlib
import re
from codecs import BOM_UTF8
from functools import cached_property

from nodeattrs import border
from nodeattrs.errors import DocumentError, NoRevision, NotFound
from nodeattrs.git import Blob, Git
from nodeattrs.node.saved_code import python_text
from nodeattrs.texts.blobs import blob_name
from nodeattrs.texts.documents import content_of

_NAME = re.compile("[0-9a-f]{40}")


class RepositoryVersions:
    """See `nodeattrs.node.saved_code.Versions`. root: the folder of the repository"""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.realpath(root)
        self._known: dict[tuple[str, str], bytes | None] = {}

    def content(self, file: str, digest: str) -> bytes | None:
        """The version of a file with this digest. cost: Git runs if the file has changed"""
        if (file, digest) not in self._known:
            here = self._on_disk(file)
            is_it = here is not None and digest in _names_of(here)
            self._known[file, digest] = here if is_it else self._in_git(digest)
        return self._known[file, digest]

    def _on_disk(self, file: str) -> bytes | None:
        path = pathlib.Path(self.root, file)
        if not os.path.realpath(path).startswith(self.root + os.sep) or border.is_outside(path):
            return None
        try:
            return content_of(path, file)
        except DocumentError:
            return None

    def _in_git(self, digest: str) -> bytes | None:
        if self._git is None or not _NAME.fullmatch(digest):
            return None
        try:
            return dict(self._git.contents([Blob("", "blob", digest, "", 0)])).get(digest)
        except NoRevision:
            return None

    @cached_property
    def _git(self) -> Git | None:
        try:
            return Git(pathlib.Path(self.root))
        except NotFound:
            return None


def _names_of(content: bytes) -> tuple[str, ...]:
    """The names that a run may have noted: as the file is, without the mark that some editors begin a file with, and
    as Python reads a source, which has plain line ends."""
    as_run = python_text(content).encode("utf-8", "surrogatepass")
    return blob_name(content), blob_name(content.removeprefix(BOM_UTF8)), blob_name(as_run)

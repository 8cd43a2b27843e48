"""Decide whether a GitRepository of Flux is this repository, with the files that are here.

`flux` asks before it reads the chart of a HelmRelease from the files that are here. Nothing is fetched.

source: Flux, "Git Repositories", Reference
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.releases import is_other_repository, parse_documents
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

_KIND = re.compile(rb"""^(?:\{?\s*"kind"|kind)[ \t]*:[ \t]*["']?GitRepository\b""", re.MULTILINE)
_LARGEST, _MOST, _DEPTH = 1_000_000, 20_000, 8
"""Bytes of a manifest, the most YAML files that are read, and the most folders inside one another."""
_FILLED = "${"
"""How a text begins that Flux fills in."""
_FIXED = ("commit", "semver", "tag")
"""Fields of `ref` that name a commit or a version. A branch is taken to be the files that are here."""


class GitSources:
    """The GitRepository manifests in the YAML files of a repository.

    `reason` says why a GitRepository is another repository than this one; "" if it is this one.
    The constructor reads nothing. The first `reason` reads the files, and later ones do not: use one instance for one
    version of the files. Files that cannot be read are left out. In a repository with too many YAML files none is
    found.

    root: the folder of the repository
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def reason(self, name: str, namespace: Any) -> str:
        """Why the files of a GitRepository are not the files in this folder, as the end of a sentence; "" if they are.

        They are if its URL names this repository, and its `ref` names neither a version nor a commit. If several
        manifests have the name, this must be true for each. A manifest that is not found counts as another repository.

        name:      the name of the GitRepository
        namespace: its namespace; None fits any namespace, and so does a manifest without one
        """
        found, unread = self._manifests
        named = [one for one in found if _is_named(one, name, namespace)]
        if not named or any(name in text for text in unread):
            return f"comes from the GitRepository {name}, which was not found in this repository"
        reasons = (_elsewhere(one.tree.get("spec"), self.root) for one in named)
        return next(filter(None, reasons), "")

    @cached_property
    def _manifests(self) -> tuple[list[Document], list[str]]:
        """The manifests; and the texts of files that cannot be parsed, which may have others."""
        found, unread = [], []
        for number, file in enumerate(_yaml_files(self.root)):
            if number == _MOST:
                return [], []
            try:
                with open(self.root / file, "rb") as stream:
                    content = stream.read(_LARGEST)
            except OSError:
                continue
            if b"GitRepository" not in content or not _KIND.search(content):
                continue
            text = content.decode("utf-8", "replace")
            try:
                found += parse_documents(text, file)
            except DocumentError:  # a template, or one of another program
                unread.append(text)
        return [one for one in found if dig(one.tree, ("kind",)) == "GitRepository"], unread


def _yaml_files(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = [one for one in folders if one[0] != "." and one != "node_modules"] if depth < _DEPTH else []
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".yaml", ".yml")) and os.path.isfile(path) and not border.is_layer_outside(path):
                yield os.path.relpath(path, root).replace(os.sep, "/")


def _is_named(manifest: Document, name: str, namespace: Any) -> bool:
    own = dig(manifest.tree, ("metadata", "namespace"))
    is_in_place = own == namespace or not (isinstance(own, str) and isinstance(namespace, str))
    return is_in_place and dig(manifest.tree, ("metadata", "name")) == name


def _elsewhere(spec: Any, root: Path) -> str:
    """Why the files of a GitRepository with this `spec` are not those that are here; "" where they are."""
    url, ref = dig(spec, ("url",)), dig(spec, ("ref",))
    if not isinstance(url, str) or _FILLED in f"{url} {ref}":
        return "comes from a GitRepository whose url or ref is not known"
    if is_other_repository(root, url):
        return f"is in another repository: {url}"
    for field, value in ref.items() if isinstance(ref, dict) else ():
        if field in _FIXED or (field == "name" and not str(value).startswith("refs/heads/")):
            return f"comes from {field} {value}, where it may have other values"
    return ""

"""Decide whether a URL, or a GitRepository of Flux, is this repository, with the files that are here.

`argo` and `flux` ask before they read a chart from the files that are here. Nothing is fetched.

source: Flux, "Git Repositories", Reference
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.contract.reading import note_read, unnoted
from nodeattrs.core.tree import dig
from nodeattrs.dialects.files.releases import elements, parse_documents
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.nearest import work_tree_of
from nodeattrs.git import Git

_KIND = re.compile(
    rb"""^(?:\{(?!\{)|(?:\xef\xbb\xbf)?["']?kind["']?[ \t]*:[^\n]*\b(?:GitRepository(?:List)?|List)\b)""", re.MULTILINE
)
"""The beginning of a line of a manifest, of a list of manifests, or of a map in braces, whose kind may be anywhere."""
_LARGEST, _MOST, _DEPTH = 1_000_000, 20_000, 8
"""Bytes of a manifest, the most YAML files that are read, and the most folders inside one another."""
_FILLED = "${"
"""The beginning of a variable that Flux fills in."""
_ADDRESS = re.compile(r"\w[\w+.-]*://|[\w.-]+@[\w.-]+:")
"""The beginning of the address of a repository on another machine."""
_USER = re.compile(r"(?<=://)[^/]*@")
_FIXED = ("commit", "semver", "tag")
"""Fields of `ref` that name a commit or a version. A branch is taken to be the files that are here."""


class GitSources:
    """A repository, and the GitRepository manifests in its YAML files.

    `reason` says why a GitRepository is another repository; "" if it is this one. `reason_of_url` does so for a URL.
    The constructor reads nothing. The first call of `reason` reads the files, and later calls use them: make one object
    for each version of the files. Links and files that cannot be read are left out. In a repository with more than
    20,000 YAML files no GitRepository is found.

    root:    the folder of the repository
    remotes: the URLs of its remotes; None: Git names them, if *root* is the top of its work tree
    """

    def __init__(self, root: Path, remotes: Sequence[str] | None = None) -> None:
        self.root, self._given = root, remotes

    def reason_of_url(self, url: str) -> str:
        """A reason, as the end of a sentence, if no remote has the repository of a URL. "" for any other URL.

        Only the last step of addresses is compared: forks and other protocols have the same one. "" if no remote is on
        another machine. The reason leaves out a user and password.
        """
        names = [_name_of(one) for one in self._remotes if _ADDRESS.match(one)]
        is_another = bool(names and url) and _name_of(url) not in names
        return f"is in another repository: {_USER.sub('', url)}" if is_another else ""

    @cached_property
    def _remotes(self) -> Sequence[str]:
        if self._given is not None:
            return self._given
        try:
            with unnoted():
                return Git(self.root).remotes() if work_tree_of(self.root) == self.root else []
        except NodeattrsError:
            return []

    def reason(self, name: str, namespace: Any) -> str:
        """Why a GitRepository does not mean the files in this folder, as the end of a sentence; "" if it means them.

        It means them if its URL names this repository, and its `ref` names neither a version nor a commit. If several
        manifests have the name, this must be true for each. A manifest that is not found counts as another repository.

        name:      the name of the GitRepository
        namespace: its namespace; None fits any namespace, and so does a manifest without one
        """
        with unnoted():
            found, unread = self._manifests
        named = [(file, one) for file, one in found if is_named(one, name, namespace)]
        note_read("*.yaml", "*.yml", *(os.path.join(self.root, file) for file, _ in named))
        if not named or any(name in text for text in unread):
            return f"comes from the GitRepository {name}, which was not found in this repository"
        return next(filter(None, (self._why_not_here(one.get("spec")) for _, one in named)), "")

    def _why_not_here(self, spec: Any) -> str:
        """Why the files of a GitRepository with this `spec` are not those that are here; "" where they are."""
        url, ref = dig(spec, ("url",)), dig(spec, ("ref",))
        if not isinstance(url, str) or _FILLED in f"{url} {ref}":
            return "comes from a GitRepository whose url or ref is not known"
        if another := self.reason_of_url(url):
            return another
        for field, value in ref.items() if isinstance(ref, dict) else ():
            if field in _FIXED or (field == "name" and not str(value).startswith("refs/heads/")):
                return f"comes from {field} {value}, where it may have other values"
        return ""

    @cached_property
    def _manifests(self) -> tuple[list[tuple[str, Any]], list[str]]:
        """(file, manifest) of each; and the texts of files that cannot be parsed, which may have others."""
        found: list[tuple[str, Any]] = []
        unread: list[str] = []
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
                found += [(file, one) for document in parse_documents(text, file) for one in _each_in(document.tree)]
            except DocumentError:  # a template, or one of another program
                unread.append(text)
        return found, unread


def _yaml_files(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = [one for one in folders if one[0] != "." and one != "node_modules"] if depth < _DEPTH else []
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".yaml", ".yml")) and os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, root).replace(os.sep, "/")


def _each_in(tree: Any) -> Iterator[Any]:
    """The GitRepository that a document is, or each one in a list of objects."""
    for one in (tree, *(one for _, one in elements(tree, "items"))):
        if dig(one, ("kind",)) == "GitRepository":
            yield one


def is_named(manifest: Any, name: str, namespace: Any) -> bool:
    """Whether a manifest has that name, and no other namespace. A manifest without a namespace may be in any."""
    own = dig(manifest, ("metadata", "namespace"))
    is_in_place = own == namespace or not (isinstance(own, str) and isinstance(namespace, str))
    return is_in_place and dig(manifest, ("metadata", "name")) == name


def _name_of(url: str) -> str:
    """The name of a repository: the last step of its URL."""
    return re.split("[/:]", url.rstrip("/").removesuffix(".git"))[-1].lower()

"""The attribute files in Ruby of one run: the libraries before them, and what they ask of the run.

Nothing is started before the first of them. What runs Ruby, and how, is known to `adapters.chef.ruby`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from threading import local
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from nodeattrs.core.claim import Origin
from nodeattrs.core.code import may_run
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import RUBY_HELPER
from nodeattrs.node.node import Node
from nodeattrs.runs.cookbooks import RUBY, Cookbook
from nodeattrs.runs.repository import Repository

if TYPE_CHECKING:
    from nodeattrs.adapters.chef.ruby.helper import Helper
    from nodeattrs.adapters.chef.ruby.session import RubySession

__all__ = ["KEPT", "RubyFiles"]


class RubyFiles:
    """What runs them for one node.

    words: `data_bag`, `data_bag_item` and `search`
    """

    def __init__(self, repository: Repository, node: Node, words: Mapping[str, Callable[..., Any]]) -> None:
        self.warnings: list[DocumentError] = []
        self._repository = repository
        self._node = node
        self._words = words
        self._cookbooks: list[Cookbook] = []
        self._others = 0
        self._include: Callable[..., None] = _nobody
        self._log: Callable[[str, str, Origin], None] = _nobody

    @classmethod
    def of_run(cls, repository: Repository, node: Node, words: Mapping[str, Callable[..., Any]]) -> RubyFiles | None:
        """The same where somebody asked for it, and code may run; None where Ruby is not run. raises: DocumentError"""
        asked = repository.asked.ruby or repository.config.chef.ruby
        return cls(repository, node, words) if asked and may_run() else None

    def belong_to(self, include: Callable[..., None], log: Callable[[str, str, Origin], None]) -> None:
        """Who loads the files that are included, and takes what is logged."""
        self._include, self._log = include, log

    def come_after(self, cookbooks: Iterable[Cookbook]) -> None:
        """Name the cookbooks whose libraries are loaded before the first file runs, in order."""
        self._cookbooks = list(cookbooks)

    def run(self, cookbook: Cookbook, file: str, name: str) -> None:
        """Run one of them. raises: RecipeFailed, TooMuch, NotFound where there is no Ruby"""
        if self._others:
            self._forget()
        self._session.run(_path(cookbook, file), name, cookbook.shown(file), cookbook.name)

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """While it lasts somebody else writes to the node."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1
            self._forget()

    def _forget(self) -> None:
        if "_session" in self.__dict__:
            self._session.forget()

    @cached_property
    def _session(self) -> RubySession:
        from nodeattrs.adapters.chef.ruby.session import Asked, RubySession

        asked = Asked(self._include, self._words, self._log, self._warn)
        session = RubySession(self._node, _helper(self._repository), asked, self._repository.root)
        for cookbook in self._cookbooks:
            for file in sorted(cookbook.files):
                if file.startswith("libraries/") and file.endswith(RUBY):
                    problem = session.library(_path(cookbook, file), cookbook.shown(file))
                    if problem is not None:
                        self._warn(f"was not loaded: {problem.message}", Origin("library", file=cookbook.shown(file)))
        return session

    def _warn(self, message: str, origin: Origin) -> None:
        self.warnings.append(DocumentError(message, file=origin.file, line=origin.line, kind=RUBY_HELPER))


class _Kept(local):
    """What runs Ruby for a repository, one for each thread that runs nodes; it ends with the repository, or Python."""

    def __init__(self) -> None:
        self.helpers: WeakKeyDictionary[Repository, Helper] = WeakKeyDictionary()


KEPT = _Kept()


def _helper(repository: Repository) -> Helper:
    from nodeattrs.adapters.chef.ruby.helper import Helper

    found = KEPT.helpers.get(repository)
    if found is None or not found.alive:
        found = KEPT.helpers[repository] = Helper(repository.root, repository.config.chef.ruby_seconds)
    return found


def _path(cookbook: Cookbook, file: str) -> str:
    return os.path.realpath(os.path.join(cookbook.root or "", file))


def _nobody(*_: Any) -> None:
    """Stands in until somebody is named."""

"""The functions of Hiera for other dialects, which find this module by the dialect's name (`contract.peers`)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.hiera.census import as_asked, undecided
from nodeattrs.dialects.hiera.hierarchies import DEFAULT_VERSION
from nodeattrs.dialects.hiera.scope import Hiera
from nodeattrs.dialects.hiera.static import doubts_of
from nodeattrs.dialects.hiera.strategies import strategy_of

__all__ = ["as_asked", "doubts_of", "lookup_of", "strategy_of", "undecided"]


def lookup_of(place: Path, root: Path, puppet_version: int | None, sensitive: Iterable[TreePath]) -> Hiera:
    """The tree at a place of a repository. puppet_version: None is the usual one. raises: BadArgument"""
    return Hiera(place, root=root, puppet_version=puppet_version or DEFAULT_VERSION, sensitive_paths=sensitive)

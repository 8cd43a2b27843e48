"""A folder with settings, as every dialect sees it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from nodeattrs.contract.peers import HieraParameters, Injection, Lookup, files_of_bindings, lookup_of
from nodeattrs.core.borders import A_PATH, taking
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.node.node import Node
from nodeattrs.peers import peer
from nodeattrs.project.config import Config, RepositorySettings


class Folder:
    """A directory, and what its settings name.

    root:     the directory
    settings: of the directory; unless given, they are read when something needs them
    warnings: what was read so far and is probably not meant
    also_sensitive: sensitive paths, beside the ones in the settings

    raises: NotFound, where there is no such directory
    """

    @taking(root=A_PATH)
    def __init__(self, root: str | os.PathLike[str], *, settings: RepositorySettings | None = None) -> None:
        self.settings = settings or RepositorySettings(root)
        self.root = self.settings.root
        self.warnings: list[DocumentError] = []
        self.also_sensitive: tuple[Path, ...] = ()

    @cached_property
    def config(self) -> Config:
        """The settings, with `also_sensitive`. raises: DocumentError"""
        config = self.settings.config
        self.warnings += self.settings.warnings
        if not self.also_sensitive:
            return config
        return config._replace(sensitive=(*config.sensitive, *self.also_sensitive))

    @cached_property
    def hiera(self) -> Lookup | None:
        """The Hiera tree of the settings, else of a hiera.yaml in the folder; None where there is neither.

        raises: BadArgument, where the settings name one that is not there
        """
        named = self.config.hiera
        if named is None and not (self.root / "hiera.yaml").is_file():
            return None
        place = self.root / (named or "hiera.yaml")
        return lookup_of(place, self.root, self.config.puppet_version, self.config.sensitive)

    @cached_property
    def site_files(self) -> Any:
        """The files of its site of bindings, as far as they were read."""
        return files_of_bindings()

    def injection(
        self,
        node: Node,
        lookup: Callable[..., Any] | None = None,
        search: Callable[..., Any] | None = None,
    ) -> Injection:
        """What one run takes from the bindings of the folder.

        lookup: asked for parameters that nothing is bound to: (key, default_value=...), or None
        search: the word `search` of recipes, for providers
        """
        place = self.config.bindings
        if place is None:
            return HieraParameters(lookup)
        return cast(Injection, peer("bindings").Injection(self, place, node, lookup, search))

    def shown(self, path: pathlib.Path) -> str:
        """What messages and origins call a file: seen from here where it lies below, else as it was given."""
        return self.settings.shown(path)

"""A folder with settings, and the Hiera tree and bindings that its settings name."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from nodeattrs.contract.peers import HieraParameters, Injection, Lookup, lookup_of
from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.node.node import Node
from nodeattrs.peers import peer
from nodeattrs.project.config import Config, RepositorySettings


class Folder:
    """A directory with its settings, and the Hiera tree and bindings that a run in it may ask.

    It is the base of Chef's `Repository`. The constructor checks that the directory exists (raises: NotFound) and reads
    nothing. `config` and `hiera` are read at their first use and kept. `hiera` is None without a Hiera tree.
    `injection` returns the bindings for the run of one node; without bindings, `HieraParameters`. `shown` makes a path
    relative to the directory.
    root:     the directory
    settings: the settings of the directory; None: the settings of `root` are used
    warnings: what was read so far and is probably not meant
    also_sensitive: further sensitive paths, beside the paths in the settings. Set it before `config` is first read
    """

    @checked_args(root=A_PATH)
    def __init__(self, root: str | os.PathLike[str], *, settings: RepositorySettings | None = None) -> None:
        self.settings = settings or RepositorySettings(root)
        self.root = self.settings.root
        self.warnings: list[DocumentError] = []
        self.also_sensitive: tuple[Path, ...] = ()

    @cached_property
    def config(self) -> Config:
        """The settings, with `also_sensitive`; defaults where there is no file of settings. raises: DocumentError"""
        config = self.settings.config
        self.warnings += self.settings.warnings
        if not self.also_sensitive:
            return config
        return config._replace(sensitive=(*config.sensitive, *self.also_sensitive))

    @cached_property
    def hiera(self) -> Lookup | None:
        """The Hiera tree that the settings name, else the one of a hiera.yaml in the folder; None where there is
        neither.

        raises: BadArgument, where the settings name a file that does not exist
        """
        named = self.config.hiera
        if named is None and not (self.root / "hiera.yaml").is_file():
            return None
        place = self.root / (named or "hiera.yaml")
        return lookup_of(place, self.root, self.config.puppet_version, self.config.sensitive)

    def injection(
        self,
        node: Node,
        lookup: Callable[..., Any] | None = None,
        search: Callable[..., Any] | None = None,
    ) -> Injection:
        """The bindings of the folder for the run of one node; `HieraParameters` where the settings name no bindings.

        lookup: called with (key, otherwise=function) for each parameter that is not bound, as for `HieraParameters`.
                None: Hiera is not asked
        search: the function `search` of recipes, for providers
        """
        place = self.config.bindings
        if place is None:
            return HieraParameters(lookup)
        return cast(Injection, peer("bindings").Injection(self, place, node, lookup, search))

    def shown(self, path: pathlib.Path) -> str:
        """The name of a file for messages and origins: relative to the folder where it lies below it, else as given."""
        return self.settings.shown(path)

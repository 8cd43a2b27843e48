"""What a dialect is asked with: one value, made of texts, that can be sent to another process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import Path as TreePath


class WhatIf(NamedTuple):
    """A change that is not made yet: the part of it that is no edit of files.

    without: items to leave out of each run-list: role[web], recipe[app]
    set:     path -> value, merged over each answer; on a node as normal attributes
    levels:  levels or layers to leave out, by the names that `Opened.levels` gives
    """

    without: tuple[str, ...] = ()
    set: tuple[tuple[TreePath, Any], ...] = ()
    levels: tuple[str, ...] = ()


AS_IT_IS = WhatIf()


class Request(NamedTuple):
    """The options, facts and overrides of one question.

    home:     the folder of the question, as the caller names it; "" where the two sides are two folders
    nodes:    the subjects to ask; empty: all
    facts:    a file for all, or a folder with NODE.json or NODE.yaml; "" is `facts/` of each side, if it is there
    store:    where runs are kept, from whose last state nodes start; "" for none
    enc:      a file with the answer of a classifier for each node: name -> `environment`, `parameters`, `run_list`
    places:   dialect -> the value of its option: a hiera.yaml, the folder of a site, of catalogs
    run_code: whether code of the repository runs
    ruby:     whether attribute files in Ruby run
    roles_only: whether cookbooks are left out
    sensitive: further paths whose values are not shown: those of both sides count for each
    what_if:  the part of a change that is no edit of files
    options:  dialect -> name -> value, of the options that it declares for its own commands
    about:    the first steps of the paths that are asked about; empty: all. An answer may leave out what was not read
              for others
    """

    home: str = ""
    nodes: tuple[str, ...] = ()
    facts: str = ""
    store: str = ""
    enc: str = ""
    environment: str = ""
    places: tuple[tuple[str, str], ...] = ()
    run_code: bool = True
    ruby: bool = False
    roles_only: bool = False
    sensitive: tuple[TreePath, ...] = ()
    what_if: WhatIf = AS_IT_IS
    options: Mapping[str, Mapping[str, Any]] = {}
    about: tuple[str, ...] = ()

    def asking(self, path: TreePath) -> Request:
        """The same question about one path alone."""
        return self._replace(about=(str(path[0]),))

    def placed(self, dialect: str, place: str) -> Request:
        """The same question about other files of a dialect. place: the value of its option"""
        return self._replace(places=(*self.places, (dialect, place)))

    def place(self, side: Side, text: str) -> Path:
        """The path that *text* names on a side. Inside the repository each side has its own, where it has one: else
        the file or folder of the caller counts, which may not be committed yet.
        """
        if not self.home:
            own = side.root / text
            return own if own.exists() else Path(os.path.abspath(text))
        whole = os.path.realpath(text)
        top = os.path.normpath(os.path.join(self.home, os.path.relpath(side.top, side.root)))
        inside = os.path.relpath(whole, top)
        is_outside = inside.startswith(os.pardir) or not (side.top / inside).exists()
        return Path(whole) if is_outside and os.path.exists(whole) else side.top / inside

    def named(self, side: Side, dialect: str, default: str | None) -> Path | None:
        """The path that the option of a dialect names, else *default* below the side; None without both."""
        given = dict(self.places).get(dialect)
        if given is not None:
            return self.place(side, given)
        return None if default is None else side.root / default

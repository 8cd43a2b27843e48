"""`Request`: the options, facts and overrides of one question, as plain values that can be sent to another process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import Path as TreePath


class WhatIf(NamedTuple):
    """The part of a planned change that is no edit of files. Without arguments it changes nothing.

    without: items to leave out of each run-list: role[web], recipe[app]
    set:     (path, value) pairs, merged over each answer; on a node they are normal attributes
    levels:  names of levels or layers to leave out, from `Opened.levels`
    """

    without: tuple[str, ...] = ()
    set: tuple[tuple[TreePath, Any], ...] = ()
    levels: tuple[str, ...] = ()


AS_IT_IS = WhatIf()


class Request(NamedTuple):
    """The options, facts and overrides of one question. File names are texts; `place` finds them on a `Side`.

    `place` returns the path that a text names, which need not exist. `named` returns the path that the option of a
    dialect names; None if the option is not given and has no default. `given` returns all values of a repeated option.
    `asking` returns a copy about one path, and `placed` a copy with another value of a dialect's option.

    home:      the folder of the question, as the caller names it; "" if the two sides are two folders
    nodes:     the subjects to ask; (): all
    facts:     a file for all subjects, or a folder with NODE.json or NODE.yaml; "": `facts/` of each side, if it exists
    store:     the store with the last state of nodes, from which their runs start; "" for none
    enc:       a file with a classifier's answer for each node: name -> `environment`, `parameters`, `run_list`; "" for
               none
    environment: the environment of all nodes; "": each node's own
    places:    (dialect, value of its option) pairs: a hiera.yaml, a folder of a site or of catalogs. Of two pairs for a
               dialect the last one counts, and all of them for sources of an inventory and folders of cookbooks
    run_code:  whether Python code of the repository runs
    ruby:      whether attribute files in Ruby run
    roles_only: whether cookbooks are left out
    sensitive: further paths whose values are not shown
    what_if:   planned changes other than edits of files, such as a level that is left out
    options:   dialect -> name -> value, of the options that the dialect declares for its own commands
    about:     the keys, or first steps of paths, that the question is about; (): all. `Opened.unread` may leave out
               what can only change other paths
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
        """A copy of the request that asks about the first step of *path* alone. path: at least one step"""
        return self._replace(about=(str(path[0]),))

    def placed(self, dialect: str, place: str) -> Request:
        """A copy of the request with another value of a dialect's option, in place of the old ones."""
        return self._replace(places=(*(one for one in self.places if one[0] != dialect), (dialect, place)))

    def given(self, dialect: str) -> list[str]:
        """The values of the option of a dialect, in the order of the caller; [] without the option."""
        return [place for name, place in self.places if name == dialect]

    def place(self, side: Side, text: str) -> Path:
        """The file or folder that *text* names, as a path on a side. It need not exist.

        A name inside the repository means the file of that side. If the side does not have this file, the caller's own
        file is meant, which may not be committed yet. If that does not exist either, it is the path on the side.
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
        """The path that the option of a dialect names, on a side; it need not exist.

        side:    the version of the files in which the path is
        default: without the option, this path below the root of the side; None: the result is then None
        """
        given = self.given(dialect)
        if given:
            return self.place(side, given[-1])
        return None if default is None else side.root / default

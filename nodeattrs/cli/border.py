"""Work out the files and folders that a command may read, from its options.

A command may read the repositories that its options name, the other files that they name, and settings. The root of a
repository is the Git work tree around the folder. Without one, it is the folder of the nearest nodeattrs.toml, else the
folder itself.
"""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeattrs import dialects
from nodeattrs.border import Border
from nodeattrs.formats.nearest import SETTINGS_FILE, nearest, work_tree_of
from nodeattrs.trust import is_trusted

if TYPE_CHECKING:
    from nodeattrs.contract.dialect import Dialect

OPENING = (
    "repo", "hiera_config", "against", "inventory", "playbook", "folder", "site", "before", "after",
    "change", "other", "environmentpath", "puppet_conf",
)  # fmt: skip
"""Options that name what a command is about. The repository around such a file or folder may be read.

The main option of the command's dialect counts, too, and so do options that begin with `place_`.
"""

_BESIDE = ("against", "after", "other")
"""Options that name a second repository; the first one may be the current folder."""

NAMING = (
    "backups", "baseline", "basemodulepath", "builtin", "cmdline", "confd", "cookbook_path", "datasource",
    "directory", "enc", "env", "export", "extra", "extra_vars", "eyaml_private_key",
    "eyaml_public_key", "facts", "file", "files", "from_store", "include_root", "instance", "instance_data",
    "json_attributes", "modulepath", "output", "place", "playbook_dir", "puppet", "report",
    "run_inventory", "runtime", "schema", "secret_file", "source", "sources", "store", "to", "trusted",
    "vault_password_file", "vendor", "vendor2", "write_baseline",
)  # fmt: skip
"""Other options that name files. A file stands for itself alone; a folder for the repository around it."""

_WITHOUT_MACHINE = ("impact", "what-if", "why", "where", "blame", "check", "lsp", "mcp", "web")
"""Commands that judge the repository alone: they read no place of the user or machine."""

OWN_FOLDER = ".nodeattrs"
"""The folder for files that commands keep where neither the caller nor the settings name a place."""


def border_of(options: argparse.Namespace, *, is_closed: bool) -> Border | None:
    """The border for the parsed options of a command; the caller puts it in force with `border.held`.

    None, no border, if each repository of the command is trusted (`nodeattrs trust`, NODEATTRS_TRUST). If no option
    names a repository, the one around the current folder counts. Only the list of trusted repositories is read.
    is_closed: True: files beyond the border cannot be opened at all; for commands that run no code
    """
    own = getattr(options, "own", "")
    dialect = dialects.named(own) if own else None
    opening = [*OPENING, *(name for name in vars(options) if name.startswith("place_"))]
    if dialect is not None and dialect.option is not None:
        opening.append(dialect.option.name.lstrip("-"))
    given = {name: [*_texts(getattr(options, name, None))] for name in (*opening, *NAMING)}
    given["repo"] = given["repo"] or [*filter(None, [os.environ.get("NODEATTRS_REPO")])]
    places = {name: [place for text in texts for place in _places(text)] for name, texts in given.items()}
    repositories = [root_of(place) for name in opening for place in places[name] if os.path.lexists(place)]
    if not repositories or not any(given[name] for name in opening if name not in _BESIDE):
        repositories.append(root_of(_default_folder(dialect)))
    elif dialect is not None and any(map(os.path.lexists, dialect.project)):
        repositories.append(root_of(os.curdir))
    if all(map(is_trusted, repositories)):
        return None
    folders = [root_of(place) for name in NAMING for place in places[name] if os.path.isdir(place)]
    own_folder = [] if os.path.islink(OWN_FOLDER) else [OWN_FOLDER]
    more = [*(getattr(options, "allow_path", None) or ()), *_settings()]
    every = [one for some in places.values() for one in some]
    has_machine = getattr(options, "command", "") not in _WITHOUT_MACHINE
    return Border([*repositories, *folders, *own_folder, *more], every, is_closed, has_machine)


def root_of(place: str) -> str:
    """The root of the repository that contains a file or folder, which need not exist.

    The root is its Git work tree, else the nearest folder with settings, else the folder itself. A link in a work tree,
    or below the current folder, may come from the repository. There the folder of the link counts, and not its target.
    """
    here, folder = os.getcwd(), os.sep
    for step in os.path.abspath(place).split(os.sep):
        path = os.path.join(folder, step)
        if os.path.islink(path) and (work_tree_of(Path(folder)) or f"{folder}/".startswith(f"{here}/")):
            break
        path = os.path.realpath(path)
        if not os.path.isdir(path):
            break
        folder = path
    return str(work_tree_of(Path(folder)) or nearest(SETTINGS_FILE, folder) or folder)


def _default_folder(dialect: Dialect | None) -> str:
    """The current folder, or the nearest one above that has the settings, or the file that the dialect looks for."""
    files = (SETTINGS_FILE, dialect.found_upwards if dialect is not None else "")
    return next(filter(None, (nearest(file) for file in files if file)), os.curdir)


def _settings() -> Iterator[str]:
    """Yield the settings file that counts here, unless it is a link; it may lie outside of the repositories."""
    folder = nearest(SETTINGS_FILE)
    if folder is not None and not os.path.islink(file := os.path.join(folder, SETTINGS_FILE)):
        yield file


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value] if value else []
    elif isinstance(value, Iterable):
        for one in value:
            yield from _texts(one)


def _places(text: str) -> Iterator[str]:
    """The paths that a word may name: `FILE`, `NAME=FILE`, `ID@FILE`, `FILE#2`, a list of them, a pattern of files."""
    parts = [text, text.rpartition("=")[2], text.rpartition("@")[2], text.rpartition("#")[0]]
    parts += [*text.split(":"), *text.split(",")]
    for part in dict.fromkeys(os.path.expanduser(part) for part in parts if "\0" not in part):
        while glob.has_magic(part) and not os.path.lexists(part):
            part = os.path.dirname(part) or os.curdir
        if part:
            yield part

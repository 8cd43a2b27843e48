"""The border of a command: what the caller has named, and the repository around it.

Used by `cli.program`, and by `cli.asked` for commands that pages and tools ask. The root of a repository is the Git
work tree that holds the asked folder, else that folder.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from nodeattrs.border import Border
from nodeattrs.texts.nearest import SETTINGS_FILE, nearest, work_tree_of
from nodeattrs.trust import is_trusted
from nodeattrs.typed import Any

OPENING = (
    "repo", "hiera", "hiera_config", "against_tree", "inventory", "playbook", "folder", "site", "before", "other",
    "place_hiera", "environmentpath", "puppet_conf", "place_bindings", "place_ansible", "place_catalogs",
)  # fmt: skip
"""Options that name what is asked: the repository around the file or folder is inside of the border."""

_BESIDE = ("against_tree", "other")
"""Options that name a second repository; the first one may be the current folder."""

NAMING = (
    "backups", "baseline", "basemodulepath", "builtin", "classifier", "cmdline", "confd", "datasource",
    "directory", "enc", "env", "extra", "extra_vars", "eyaml_private_key",
    "eyaml_public_key", "facts", "file", "files", "from_store", "include_root", "instance", "instance_data",
    "json_attributes", "modulepath", "output", "playbook_dir", "puppet", "reads", "report",
    "root", "run_inventory", "runtime", "schema", "secret_file", "source", "store", "to", "trusted",
    "vault_password_file", "vendor", "vendor2", "write_baseline",
)  # fmt: skip
"""Other options that name files. A file stands for itself alone; a folder for the repository around it."""

_WITHOUT_MACHINE = ("impact", "what-if", "check", "lsp", "mcp", "web")
"""Commands that judge the repository alone: they read no place of the user or machine."""

_FOUND_UPWARDS = (SETTINGS_FILE, "hiera.yaml")


def border_of(options: argparse.Namespace, *, is_closed: bool, allowed: Iterable[str] | None = None) -> Border | None:
    """The border for a command; None where the caller trusts the repository.

    Reads no file but the list of trusted repositories.

    is_closed: whether files beyond it cannot be opened at all: where no code of the repository runs
    allowed:   folders of --allow-path, in addition to those of the command
    """
    given = {name: [*_texts(getattr(options, name, None))] for name in (*OPENING, *NAMING)}
    given["repo"] = given["repo"] or [*filter(None, [os.environ.get("NODEATTRS_REPO")])]
    places = {name: [place for text in texts for place in _places(text)] for name, texts in given.items()}
    roots = [root_of(place) for name in OPENING for place in places[name]]
    roots += [root_of(place) for name in NAMING for place in places[name] if os.path.isdir(place)]
    if not any(given[name] for name in OPENING if name not in _BESIDE):
        roots.append(root_of(_here()))
    if any(map(is_trusted, roots)):
        return None
    own = os.path.join(os.curdir, ".nodeattrs")  # what commands keep where the settings name no other place
    more = [*(getattr(options, "allow_path", None) or ()), *(allowed or ())]
    named = [one for some in places.values() for one in some]
    return Border([*roots, own, *more], named, is_closed, getattr(options, "command", "") not in _WITHOUT_MACHINE)


def root_of(place: str) -> str:
    """The root of the repository in which a file or folder lies."""
    folder = os.path.realpath(place)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return str(work_tree_of(Path(folder)) or folder)


def _here() -> str:
    """The current folder, or the one above it in which the settings or the hierarchy are found."""
    return next(filter(None, (nearest(file) for file in _FOUND_UPWARDS)), os.curdir)


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
    for part in dict.fromkeys(os.path.expanduser(part) for part in parts):
        while part and "\0" not in part:
            if os.path.lexists(part) or os.path.isdir(os.path.dirname(part) or os.curdir):
                yield part
                break
            part = os.path.dirname(part) if "*" in part or "?" in part or "[" in part else ""

"""`nodeattrs web`: a server of pages about the repository and saved nodes, for a browser on this machine."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import BUDGET, SETTINGS_FROM, STORE
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import NotFound
from nodeattrs.project.config import RepositorySettings

if TYPE_CHECKING:
    from nodeattrs.web.asking import ShownProject

DESCRIPTION = """\
Serve pages and their data to a browser, on this machine alone unless --bind says otherwise. The address that is printed
has a token; the server answers no browser that has not opened it. Nothing is written, and no page loads anything from
elsewhere. Code of the repository runs with --run-code only: the pages of catalogs need it, and without it the page
of an impact leaves cookbooks out. The first page has the saved nodes; if there are none, it lists what lies in the
folder. docs/web.md has all pages."""
EXAMPLES = """\
examples:
  nodeattrs web
  nodeattrs web cookbooks_example --run-code
  nodeattrs web --store postgresql://localhost/nodes --port 8099
"""


ARGUMENTS = (
    Argument(
        ("folder",), "the repository, as --repo names it (default: this folder)", {"metavar": "FOLDER", "nargs": "?"}
    ),
    Argument(("--port",), "where to listen; 0 is any (default: 8700)", {"metavar": "N", "type": int, "default": 8700}),
    Argument(("--bind",), "on which address (default: 127.0.0.1)", {"metavar": "ADDRESS", "default": "127.0.0.1"}),
    Argument(("--no-token",), "let in all users and programs of this machine", {"action": "store_true"}),
    Argument(("--run-code",), "pages may run code of the repository", {"action": "store_true"}),
    Argument(("--traceback",), "print the traceback of an error", {"action": "store_true"}),
    *SETTINGS_FROM,
    *STORE,
    *BUDGET,
)

_KINDS = ("roles", "environments")
"""Kinds of `nodeattrs list` that have pages."""


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the address, and serve the pages until Ctrl-C; returns the exit code.

    A FOLDER together with --repo ends the program with exit code 2.
    raises: NotFound, if FOLDER is not a folder
    """
    from nodeattrs.web.serving import serve

    if options.folder is not None:
        if options.repo is not None:
            options.refuse("FOLDER and --repo both name the repository")
        if not os.path.isdir(options.folder):
            raise NotFound(f"{options.folder} is no folder", hint="name a folder with files that you want to look at")
        options.repo, options.settings = options.folder, None  # the current folder has others
    has_token = not options.no_token
    return serve(site(options), options.bind, options.port, partial(_open, terminal, has_token), has_token)


def _open(terminal: Terminal, has_token: bool, address: str) -> None:
    if not has_token:
        terminal.warn(["without a token every user of this machine can read what the pages show"])
    terminal.text(f"{address}\n")
    terminal.finish()


def site(options: argparse.Namespace) -> ShownProject:
    """The project that the pages show: store and repository of the options, facts/, and catalogs in catalogs/.

    Without a nodeattrs.toml the current folder is the repository. Runs `list` for roles and for environments, to see
    which have pages; other commands run when a page needs them.
    """
    from nodeattrs.cli.asked import CommandRunner
    from nodeattrs.cli.report import source_of
    from nodeattrs.web.asking import ShownProject

    ask, store = CommandRunner(vars(options), options.run_code), store_of(settings_of(options))[0].describe()
    repository, kept = settings_of(options).repository, settings_of(options).store
    if repository is None:
        repository = RepositorySettings(os.path.realpath(os.curdir))  # without a nodeattrs.toml
    root, facts = repository.root, repository.root / "facts"
    catalogs = root / "catalogs"
    compiled = {file.stem: str(file) for file in sorted(catalogs.glob("*.json"))} if catalogs.is_dir() else {}
    return ShownProject(
        ask,
        source_of(repository),
        store,
        str(root),
        str(facts) if facts.is_dir() else None,
        kept if "://" in kept or os.path.exists(kept) else None,
        compiled,
        options.run_code,
        [kind for kind in _KINDS if (ask("list", f"--repo={root}", kind).data or {"names": ()})["names"]],
    )

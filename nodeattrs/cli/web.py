"""`nodeattrs web`: the explorer, served to the browser of this machine."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import BUDGET, SETTINGS_FROM, STORE
from nodeattrs.dialects.common import store_of

if TYPE_CHECKING:
    from nodeattrs.web.asking import Site

DESCRIPTION = """\
Serve pages and their data to a browser, on this machine alone unless --bind says otherwise. The address that is printed
has a token; the server answers no browser that has not opened it. Nothing is written, and no page loads anything from
elsewhere. Code of the repository runs with --run-code only: the pages of catalogs need it, that of an impact leaves
cookbooks out without it. docs/web.md has all pages."""
EXAMPLES = """\
examples:
  nodeattrs web
  nodeattrs web --repo cookbooks_example --run-code
  nodeattrs web --store postgresql://localhost/nodes --port 8099
"""


ARGUMENTS = (
    Argument(("--port",), "where to listen; 0 is any (default: 8700)", {"metavar": "N", "type": int, "default": 8700}),
    Argument(("--bind",), "on which address (default: 127.0.0.1)", {"metavar": "ADDRESS", "default": "127.0.0.1"}),
    Argument(("--no-token",), "let in all users and programs of this machine", {"action": "store_true"}),
    Argument(("--run-code",), "pages may run code of the repository", {"action": "store_true"}),
    Argument(("--traceback",), "on an error, show the whole way to it", {"action": "store_true"}),
    *SETTINGS_FROM,
    *STORE,
    *BUDGET,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the pages until Ctrl-C; returns the exit code."""
    from nodeattrs.web.serving import serve

    has_token = not options.no_token
    return serve(site(options), options.bind, options.port, partial(_open, terminal, has_token), has_token)


def _open(terminal: Terminal, has_token: bool, address: str) -> None:
    if not has_token:
        terminal.warn(["without a token every user of this machine can read what the pages show"])
    terminal.text(f"{address}\n")
    terminal.finish()


def site(options: argparse.Namespace) -> Site:
    """The Site to serve: the store and repository of the options, with the places of facts and of dialects."""
    from nodeattrs.cli.asked import CommandRunner
    from nodeattrs.cli.report import source_of
    from nodeattrs.dialects.folders import is_repository
    from nodeattrs.project.config import RepositorySettings
    from nodeattrs.web.asking import Site

    ask, store = CommandRunner(vars(options), options.run_code), store_of(settings_of(options))[0].describe()
    repository, kept = settings_of(options).repository, settings_of(options).store
    if repository is None and is_repository(Path()):
        repository = RepositorySettings(os.path.realpath(os.curdir))  # without a nodeattrs.toml
    if repository is None:
        return Site(ask, source_of(options), store, runs_code=options.run_code)
    root, facts = repository.root, repository.root / "facts"
    catalogs = root / "catalogs"
    compiled = {file.stem: str(file) for file in sorted(catalogs.glob("*.json"))} if catalogs.is_dir() else {}
    return Site(
        ask,
        source_of(options),
        store,
        str(root),
        str(facts) if facts.is_dir() else None,
        kept if "://" in kept or os.path.exists(kept) else None,
        compiled,
        options.run_code,
    )

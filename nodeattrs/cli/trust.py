"""`nodeattrs trust`: the repositories whose settings count whole."""

from __future__ import annotations

import argparse
import os

from nodeattrs.border import held
from nodeattrs.cli.terminal import Terminal

DESCRIPTION = """\
Note that a repository is your own. Its nodeattrs.toml may then name a server as store, raise limits, and name files
outside of the repository; so may its hiera.yaml, ansible.cfg and links. Its code runs no more than before. Noted
are the path and the owner of the folder, in your own configuration. In CI, set NODEATTRS_TRUST to the path instead;
several paths are joined as in PATH."""
EXAMPLES = """\
examples:
  nodeattrs trust .
  nodeattrs trust --list
  nodeattrs trust --remove .
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nodeattrs trust`: DIR, --list and --remove."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("repository", metavar="DIR", nargs="?", help="the folder of the repository")
    what.add_argument("--list", action="store_true", help="print the trusted repositories")
    what.add_argument("--remove", metavar="DIR", help="trust this one no longer")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Add a repository to the trusted ones or remove it, or print the list."""
    from nodeattrs.cli.border import root_of
    from nodeattrs.reports.screen import printable
    from nodeattrs.trust import trust, trusted

    if options.list:
        with held(None):
            terminal.text("".join(f"{printable(one['path'])}\n" for one in trusted()))
        return 0
    folder = options.remove or options.repository
    with held(None):  # the list lies in the home of the caller
        place = trust(root_of(folder) if os.path.isdir(folder) else folder, remove=bool(options.remove))
    terminal.text(f"{'no longer trusted' if options.remove else 'trusted'}: {printable(place)}\n")
    return 0

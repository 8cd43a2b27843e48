"""`nodeattrs trust`: the user's list of trusted repositories, whose settings may name servers and outside files."""

from __future__ import annotations

import argparse
import os

from nodeattrs.border import held
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.reports.screen import printable

DESCRIPTION = """\
Record that a repository is your own. Its nodeattrs.toml may then name a server as store, raise limits, and name files
outside of the repository; so may the settings of its dialects, and links. Trusting runs no code. Your own
configuration keeps the path and the owner of the folder. In CI, set NODEATTRS_TRUST to the path instead; several
paths are joined as in PATH."""
EXAMPLES = """\
examples:
  nodeattrs trust .
  nodeattrs trust --list
  nodeattrs trust --remove .
"""


ARGUMENTS = (
    Argument(("repository",), "the folder of the repository", {"metavar": "DIR", "nargs": "?"}, choice="what!"),
    Argument(("--list",), "print the trusted repositories", {"action": "store_true"}, choice="what!"),
    Argument(("--remove",), "stop trusting this one", {"metavar": "DIR"}, choice="what!"),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Add a repository to the user's list of trusted ones, remove it with --remove, or print the list with --list.

    Returns 0. A file or folder inside of a repository means the repository; a folder outside of any means itself.
    A folder that is gone can be removed.
    """
    from nodeattrs.cli.border import root_of
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

"""`nodeattrs config`: the settings that count here, each with where it comes from."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.arguments import SETTINGS_FROM, STORE, output

DESCRIPTION = """\
Print the settings that count for a command here, each with who set it, and what that overrode. Options
override variables of the environment (NODEATTRS_REPO, NODEATTRS_STORE), these nodeattrs.toml, and that
the defaults. Without --repo the nearest nodeattrs.toml counts: that of the current directory or of one
above, up to the root of a repository."""
EXAMPLES = """\
examples:
  nodeattrs config
  nodeattrs config --repo cookbooks_example
  NODEATTRS_STORE=nodes nodeattrs config --format json
"""


ARGUMENTS = (
    *SETTINGS_FROM,
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print each setting that counts here, and where it was set."""
    from nodeattrs.reports.config import ShownSettings

    terminal.report(ShownSettings(tuple(settings_of(options).traces())))
    return 0

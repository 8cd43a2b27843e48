"""`nodeattrs config`: the settings that count here, each with the place that set it."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.arguments import SETTINGS_FROM, STORE, output

DESCRIPTION = """\
Print the settings that count for a command here, each with the place that set it, and what it overrides. Options
override environment variables (NODEATTRS_REPO, NODEATTRS_STORE), variables override nodeattrs.toml, and that
file overrides the defaults. Without --repo the nearest nodeattrs.toml counts: in the current directory or in one
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

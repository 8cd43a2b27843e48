"""`nodeattrs environment`: what an environment sets."""

from __future__ import annotations

import argparse

from nodeattrs.cli.role_command import add_showing, perform_on
from nodeattrs.cli.terminal import Terminal

DESCRIPTION = """\
Show an environment as a run would read it: the versions it asks for and its attributes. One that is written in
Python is code of the repository, and is read with --run-code only."""
EXAMPLES = """\
examples:
  nodeattrs environment show production --repo cookbooks_example --origins
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nodeattrs environment`: its actions show and wins."""
    add_showing(parser, "environment")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print one environment with its attributes and versions; returns the exit code."""
    return perform_on(options, terminal, ("cookbook_versions",))

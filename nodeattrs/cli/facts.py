"""`nodeattrs facts`: what is known of a machine."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import facts_from, facts_of, found_repository, sensitive_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import output, path_of
from nodeattrs.errors import NotFound

DESCRIPTION = """\
Show the automatic attributes that a run would begin with: those of this machine, by Ohai's
names, those of a platform, or those in a file that ohai or facter wrote."""
EXAMPLES = """\
examples:
  nodeattrs facts
  nodeattrs facts network.interfaces --format yaml
  nodeattrs facts platform_version --platform debian-12
  nodeattrs facts platform_version --facts cookbooks_example/facts/web1.json --origins
"""


ARGUMENTS = (
    Argument(("path",), "only what is there (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "beside each fact, who set it and where", {"action": "store_true"}),
    *output(),
    *facts_of("what ohai or facter --json wrote", "ask this machine"),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the facts of a file, a platform or this machine. raises: NotFound, where there are none"""
    from nodeattrs.node.secrets import Secrets
    from nodeattrs.reports.show import ShownDocument, part_of

    path = path_of(options.path)
    facts = facts_from(options, None, found_repository(options))
    if not facts.tree:
        raise NotFound(f"there are no facts in {options.facts}", hint="name what ohai or facter --json wrote")
    terminal.warn(facts.warnings)
    value = Secrets(sensitive_of(options)).wrapped(path, part_of(facts.tree, path))
    terminal.report(ShownDocument(path, value, facts.locator.at if options.origins else None))
    return 0

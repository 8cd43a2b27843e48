"""`nodeattrs role` and `nodeattrs environment`: what one of them sets."""

from __future__ import annotations

import argparse
from typing import Any

from nodeattrs.cli.options import actions_of, add_arguments_of, repository_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import REPO_HELP, RUN_CODE, output, path_of

DESCRIPTION = """\
Show a role as a run would read it: its run list and its attributes. One that is written in Python is code
of the repository, and is read with --run-code only. `nodeattrs where FILE` says on which nodes its lines win."""
EXAMPLES = """\
examples:
  nodeattrs role show web --repo cookbooks_example
  nodeattrs role show web override_attributes --origins
  nodeattrs role show web -F json
"""


_SHOWING = (
    Argument(("name",), "its name", {"metavar": "NAME"}),
    Argument(("path",), "only what is there (default: all)", {"metavar": "PATH", "nargs": "?"}),
    Argument(("--origins",), "beside each leaf, the line that sets it", {"action": "store_true"}),
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    *RUN_CODE,
    *output(),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nodeattrs role`: its actions show and wins."""
    add_showing(parser, "role")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print one role with its attributes and run-lists; returns the exit code."""
    return perform_on(options, terminal, ("run_list", "env_run_lists"))


def add_showing(parser: argparse.ArgumentParser, kind: str) -> None:
    """The action of roles and environments."""
    for _, one in actions_of(parser, {"show": f"show one {kind}"}):
        add_arguments_of(one, _SHOWING)


def perform_on(options: argparse.Namespace, terminal: Terminal, fields: tuple[str, ...]) -> int:
    """Show a role or an environment with some fields of its own."""
    from nodeattrs.node.secrets import Secrets
    from nodeattrs.reports.show import ShownDocument, part_of

    repository = repository_of(options)
    thing: Any = getattr(repository, options.command)(options.name)
    names = ("name", "description", *fields, "default_attributes", "override_attributes")
    tree = {name: getattr(thing, name) for name in names}
    path = path_of(options.path)
    guarded = {
        name: Secrets(repository.config.sensitive).wrapped((), value) if name.endswith("_attributes") else value
        for name, value in tree.items()
    }
    terminal.warn(repository.warnings)
    value = part_of(guarded, path)
    terminal.report(ShownDocument(path, value, thing.locator.at if options.origins else None))
    return 0

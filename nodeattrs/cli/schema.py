"""`nodeattrs schema`: JSON schemas of outputs, settings and attribute files, for programs that read or write them."""

from __future__ import annotations

import argparse
import json

from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import NotFound

DESCRIPTION = """\
Print a JSON Schema (2020-12): of what a command gives with --format json, by the name of the command
and its action, such as explain or catalog-graph; of nodeattrs.toml, by the name settings; or of an
attribute file that is data, by the name attributes. Without NAME all names are listed."""
EXAMPLES = """\
examples:
  nodeattrs schema
  nodeattrs schema explain
  nodeattrs schema settings > nodeattrs.schema.json
"""


ARGUMENTS = (
    Argument(("name",), "of a command, settings, or attributes (default: list all)", {"metavar": "NAME", "nargs": "?"}),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print a JSON schema, or without NAME the names of all; returns 0. raises: NotFound, with near misses"""
    from nodeattrs.reports import schemas

    names = schemas.names()
    if options.name is None:
        terminal.text("".join(f"{name}\n" for name in names))
        return 0
    if options.name not in names:
        hint = hint_for(options.name, names) or f"there are {', '.join(names)}"
        raise NotFound(f"there is no schema {options.name}", hint=hint)
    terminal.text(json.dumps(schemas.schema(options.name), indent=1) + "\n")
    return 0

"""`nodeattrs schema`: what documents of ours look like, for programs that read them."""

from __future__ import annotations

import argparse
import json
import re
from importlib.resources import files
from typing import Any

from nodeattrs.cli.terminal import Terminal
from nodeattrs.errors import NotFound

DESCRIPTION = """\
Print a JSON Schema (2020-12): of what a command gives with --format json, by the name of the command
and its action, such as explain or hiera-lookup; of nodeattrs.toml, by the name settings; or of an
attribute file that is data, by the name attributes. Without NAME all names are listed."""
EXAMPLES = """\
examples:
  nodeattrs schema
  nodeattrs schema explain
  nodeattrs schema settings > nodeattrs.schema.json
"""

_PART = re.compile(r'"#/\$defs/([^"]+)"')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument of `nodeattrs schema`: NAME."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="of a command, settings, or attributes (default: list all)"
    )


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print a JSON schema of our documents, or without NAME the names of all. raises: NotFound"""
    from nodeattrs.core.tree import meant

    file = files(__name__.partition(".")[0]) / "schemas.json"
    shipped = json.loads(file.read_text(encoding="utf-8"))
    names = sorted(shipped["schemas"])
    if options.name is None:
        terminal.text("".join(f"{name}\n" for name in names))
        return 0
    if options.name not in names:
        hint = meant(options.name, names) or f"there are {', '.join(names)}"
        raise NotFound(f"there is no schema {options.name}", hint=hint)
    whole = _with_parts(shipped["schemas"][options.name], shipped["$defs"])
    terminal.text(json.dumps(whole, indent=1) + "\n")
    return 0


def _with_parts(schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """The schema with the parts that it needs, and those that they need."""
    needed: dict[str, Any] = {}
    while missing := set(_PART.findall(json.dumps([schema, needed]))) - needed.keys():
        needed |= {name: parts[name] for name in missing}
    return schema | ({"$defs": dict(sorted(needed.items()))} if needed else {})

"""`nodeattrs what-if`: the effects of a change that is not made yet."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from nodeattrs.cli.changing import CHANGING, answer, request_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.core.tree import json_or_text

DESCRIPTION = """\
Print the effects of a change that is not made yet, as `nodeattrs impact` does. The side before is the folder
or a commit; the side after is a copy without the files, lines, roles or levels of --without, and with the
values of --set. Code of the repository runs; --no-run-code runs none."""
EXAMPLES = """\
examples:
  nodeattrs what-if --without 'role[base]'
  nodeattrs what-if --without roles/web.json:27
  nodeattrs what-if --without data/common.yaml --without 'Per-node data'
  nodeattrs what-if --set apache2.port=8080 --node web1
"""


ARGUMENTS = (
    Argument(("revision",), "the side before (default: the folder as it is)", {"metavar": "REVISION", "nargs": "?"}),
    Argument(
        ("--without",),
        "a file, FILE:LINE, role[NAME] or recipe[NAME] on whichever run-list, a level or layer; may be repeated",
        {"metavar": "WHAT", "action": "append", "default": []},
    ),
    Argument(
        ("--set",),
        "on nodes a normal attribute, over all else elsewhere; VALUE is JSON or text; may be repeated",
        {"metavar": "PATH=VALUE", "action": "append", "default": []},
    ),
    *CHANGING,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Compare a folder or commit with a copy changed by --without and --set; prints differences, returns the exit code.

    If neither option is given, and for a wrong --set, the program ends with exit code 2. Other exit codes are those
    that `cli.changing.answer` returns.
    raises: NotFound, for a --without that names nothing; the errors of `verbs.impact.impact`
    """
    if not options.without and not options.set:
        options.refuse("say what would be another: --without WHAT, or --set PATH=VALUE")
    values = [_value(options, text) for text in options.set]

    def sides(private: Path) -> tuple[Side, Side, Request]:
        from nodeattrs.contract.written_sides import commit_side
        from nodeattrs.dialects import all_dialects
        from nodeattrs.verbs.what_if import side_after

        request = request_of(options, os.path.realpath(options.repo))
        if options.revision is None:
            before = folder_side(Path(options.repo))
        else:
            from nodeattrs.git import Git

            git = Git(Path(options.repo))
            before = commit_side(git, git.commit(options.revision), options.revision, private / "before")
        levels = [name for one in all_dialects().values() for name in one.open(before, request).levels()]
        after, request = side_after(before, request, options.without, values, levels, private / "after")
        return before, after, request

    return answer(options, terminal, sides)


def _value(options: argparse.Namespace, text: str) -> tuple[Any, Any]:
    """Returns (path, value) for PATH=VALUE."""
    path, equals, value = text.partition("=")
    if not equals or not path_of(path):
        options.refuse("--set takes PATH=VALUE")
    return path_of(path), json_or_text(value)

"""`nodeattrs list`: the names of subjects, nodes, roles, cookbooks and so on."""

from __future__ import annotations

import argparse
from pathlib import Path

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import REPO_HELP, STORE, output
from nodeattrs.contract.command import PlainReport, Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import folder_side
from nodeattrs.dialects import BUILT_IN
from nodeattrs.reports.screen import printable

DESCRIPTION = """\
List what a repository has, a name a line: what could be asked for. Without KIND it lists subjects: the nodes, hosts
and sets of every dialect, as `why` and `blame` take them. Nodes are those that nodes/ describes, the suites of Test
Kitchen on each platform, and those in the store; fields are what search knows of saved nodes: fields of its
language, and paths of attributes, as far as some of the nodes have them. No code of the repository runs."""
EXAMPLES = """\
examples:
  nodeattrs list
  nodeattrs list roles --repo cookbooks_example
  nodeattrs list nodes
  nodeattrs list cookbooks -F json
"""

KINDS = ("subjects", *(kind for one in BUILT_IN for kind in one.kinds))


ARGUMENTS = (
    Argument(
        ("kind",),
        f"{', '.join(KINDS)} (default: {KINDS[0]})",
        {"metavar": "KIND", "choices": KINDS, "nargs": "?", "default": KINDS[0]},
    ),
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the names of one kind, one a line: subjects, nodes, roles, environments, ...; returns 0.

    raises: NotFound, for a folder that does not exist, and for subjects of a folder that has none; the error of a
            dialect that cannot list its subjects
    """
    names = _names(options, terminal)
    data = {"version": 1, "kind": options.kind, "names": names}
    terminal.report(PlainReport([*map(printable, names)], data))
    return 0


def _names(options: argparse.Namespace, terminal: Terminal) -> list[str]:
    repository = settings_of(options).repository
    if options.kind == "subjects":
        return _subjects(Path.cwd() if repository is None else repository.root, terminal)
    owner = next(one for one in BUILT_IN if options.kind in one.kinds)
    given = getattr(options, "given", {})  # what `web` and `mcp` were started with
    return sorted(owner.complete(options.kind, {**vars(options), **given}))


def _subjects(root: Path, terminal: Terminal) -> list[str]:
    """The subjects of every dialect, each behind the name of its dialect. raises: NotFound

    Sources that were not read are noted in *terminal*: they may have further subjects.
    """
    from nodeattrs.verbs.asking import Subjects

    found = Subjects(Question(folder_side(root), Request(str(root), run_code=False), {}))
    listed = [f"{dialect} {name}".rstrip() for dialect, some in found.names.items() for name in some]
    if found.unlisted:  # without one dialect the list would look whole
        raise next(iter(found.unlisted.values()))
    terminal.note_unread(found.unread_sources)
    return listed

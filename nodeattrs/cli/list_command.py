"""`nodeattrs list`: the names of what there is."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING

from nodeattrs.cli.options import REPO_HELP, STORE, existing_store, output, repository_of, store_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.repository import Repository

DESCRIPTION = """\
List what a repository has, a name a line: what could be asked for. Nodes are those that nodes/ describes, the
suites of Test Kitchen on each platform, and those that the store keeps; subjects are the nodes, hosts and sets of
every dialect, as `why` and `blame` take them; fields are what search knows of kept nodes: fields of its language,
and paths of attributes, as far as some of the nodes have them. No code of the repository runs."""
EXAMPLES = """\
examples:
  nodeattrs list roles --repo cookbooks_example
  nodeattrs list nodes
  nodeattrs list cookbooks -F json
"""

KINDS = ("subjects", "nodes", "roles", "environments", "cookbooks", "policies", "data-bags", "fields")
_FIELDS = ("chef_environment", "name", "recipe", "recipes", "role", "roles", "run_list")


ARGUMENTS = (
    Argument(("kind",), ", ".join(KINDS), {"metavar": "KIND", "choices": KINDS}),
    Argument(("--repo",), REPO_HELP, {"metavar": "DIR"}),
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the names of one kind: nodes, roles, environments, ..."""
    from nodeattrs.reports.listed import Listed

    terminal.report(Listed(options.kind, _names(options, repository_of(options))))
    return 0


def _names(options: argparse.Namespace, repository: Repository) -> Iterable[str]:
    if options.kind == "subjects":
        return _subjects(repository)
    if options.kind == "nodes":
        store, described = store_of(options), sorted({*repository.nodes(), *repository.suites()})
        return (name for name, _ in groupby(merge(described, store.names() if store.is_there() else ())))
    if options.kind == "fields":
        from nodeattrs.store.search.doubts import known_paths

        return sorted({*_FIELDS, *known_paths(existing_store(options)[0])})
    found: list[str] = getattr(repository, options.kind.replace("-", "_"))()
    return sorted(found)


def _subjects(repository: Repository) -> list[str]:
    """The subjects of every dialect, each behind the name of its dialect. raises: NotFound"""
    from nodeattrs.contract.command import Question
    from nodeattrs.contract.request import Request
    from nodeattrs.contract.sides import folder_side
    from nodeattrs.verbs.asking import Subjects

    found = Subjects(Question(folder_side(repository.root), Request(str(repository.root), run_code=False), {}))
    listed = [f"{dialect} {name}".rstrip() for dialect, some in found.names.items() for name in some]
    if found.unlisted:  # without one dialect the list would look whole
        raise next(iter(found.unlisted.values()))
    return listed

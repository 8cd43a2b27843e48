"""`nodeattrs explain`: why a value is what it is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nodeattrs.cli.options import (
    AT,
    RUN,
    SOURCES,
    STORE,
    STRICT,
    named_node,
    output,
    path_of,
    repository_of,
    run_suite,
    store_and_sensitive,
)
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument

if TYPE_CHECKING:
    from nodeattrs.core.tree import Path
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.run import Run
    from nodeattrs.node.node import Node
    from nodeattrs.reports.explain import Elsewhere, Explanation

DESCRIPTION = """\
Name who set a value and where, what it overrode and by which rule, which element of a list came
from whom, and what was set before. From what was saved, or with --repo from a run made now;
then also what the line of a cookbook that set the value read: attributes and lookups. Where the
value comes from another line than the one that set it, that line is named: the one to edit.
Of a path that is not set: who sets it on other nodes, and what this node lacks."""
EXAMPLES = """\
examples:
  nodeattrs explain web1 app.workers
  nodeattrs explain web1 apache2.listen_ports --format json
  nodeattrs explain web1 app.workers --repo cookbooks_example --facts cookbooks_example/facts
  nodeattrs explain web1 app.workers --repo . --git

exit codes:
  0 explained    1 could not be    2 not understood    5 explained, and an unknown layer may override it
"""


ARGUMENTS = (
    Argument(("node",), "its name", {"metavar": "NODE"}),
    Argument(("path",), 'such as apache2.listen_ports.0; "(root)" is all of it', {"metavar": "PATH"}),
    Argument(("--repo",), "run the node of this repository, and save nothing", {"metavar": "DIR"}),
    Argument(("--because",), "with --repo: also the lines that decided who was asked", {"action": "store_true"}),
    Argument(("--git",), "with --repo: also who changed the lines last, and when", {"action": "store_true"}),
    *RUN,
    *STORE,
    *AT,
    *SOURCES,
    *STRICT,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print why a path of a node has its value.

    raises: NoSuchAttribute, where the path is not set, with other sources that set it
    """
    from nodeattrs.core.tree import spell
    from nodeattrs.errors import NoSuchAttribute
    from nodeattrs.reports.explain import explained
    from nodeattrs.reports.values import unread_at

    path = path_of(options.path)
    run_suite(options)
    repository = None if options.repo is None else repository_of(options)
    if repository is None and (options.because or options.git):
        word, what = (
            ("--because", "what decided in a run") if options.because else ("--git", "who changed the lines of a run")
        )
        options.refuse(f"{word} names {what}, so it needs --repo")
    node, revision, run = named_node(options, terminal)
    if repository is None or run is None:
        explanation = explained(node, path, revision)
    else:
        explanation = _of_run(options, repository, run, path)
    if not explanation.has_claims:
        found = _elsewhere(options, node, path, repository)
        if options.format != "text":
            terminal.report(explanation._replace(elsewhere=tuple(found)), ())
        details = map(str, found)
        raise NoSuchAttribute(f"{spell(path)} is not set", path=path, details=details, hint=explanation.hint)
    if options.strict:
        explanation.trace.require_known()
    terminal.report(explanation, unread_at(node, path))
    return 0


def _of_run(options: argparse.Namespace, repository: Repository, run: Run, path: Path) -> Explanation:
    """The explanation of a path of the node that was run for this question."""
    from nodeattrs.dialects.chef.blame import of_trace as changes_of
    from nodeattrs.dialects.chef.causes import of_trace as causes_of
    from nodeattrs.dialects.chef.reports.explain import explained

    causes = causes_of(repository, run) if options.because else None
    changes = changes_of(repository) if options.git else None
    return explained(run.node, path, repository, causes, changes, run.search)._replace(facts=run.facts)


def _elsewhere(options: argparse.Namespace, node: Node, path: Path, repository: Repository | None) -> list[Elsewhere]:
    """Who sets a path on other nodes that were saved; else in the repository, where one was named."""
    from nodeattrs.dialects.chef.causes import setters_in, setters_on

    store, sensitive = store_and_sensitive(options)
    found = setters_on(store, node, path, sensitive)
    return found if found or repository is None else setters_in(repository, node, path)

"""Explain an attribute of a node after its run: its trace, and the values that the winning line read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.lookups import readings
from nodeattrs.node.node import Node
from nodeattrs.reports import explain
from nodeattrs.reports.explain import NodeExplanation


def explained(
    node: Node, path: Path, repository: Repository, search: Callable[..., Any] | None = None
) -> NodeExplanation:
    """The explanation of a path of a node after its run. `readings` has the values that the winning line read, or ().

    repository: has the cookbooks that ran
    search:     the function `search` of the run, for queries of bindings
    """
    found = explain.explained(node, path)
    claim = None if found.trace.winner is None else found.trace.winner.claim
    read = () if claim is None else tuple(readings(repository, node, claim.origin, claim.then, search))
    return found._replace(is_run=True, readings=read)

"""Explain an attribute of a node that was run now: its trace, and the values that the winning line read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nodeattrs.core.claim import Cause
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.lookups import readings
from nodeattrs.node.node import Node
from nodeattrs.reports import explain
from nodeattrs.reports.explain import LineChange, NodeExplanation


def explained(
    node: Node,
    path: Path,
    repository: Repository,
    causes_of: Callable[[Trace], Iterable[Cause]] | None = None,
    changes_of: Callable[[Trace], Iterable[LineChange]] | None = None,
    search: Callable[..., Any] | None = None,
) -> NodeExplanation:
    """The explanation of a path of a node that was run now, with the values that the winning line read; () where none.

    repository: with the cookbooks that ran
    causes_of:  a function from the trace to the lines that made its sources count; None: not computed
    changes_of: a function from the trace to the last changes of lines; None: Git is not asked
    search:     the function `search` of the run, for queries of bindings
    """
    found = explain.explained(node, path)
    trace, claim = found.trace, None if found.trace.winner is None else found.trace.winner.claim
    return found._replace(
        is_run=True,
        readings=() if claim is None else tuple(readings(repository, node, claim.origin, claim.then, search)),
        causes=None if causes_of is None else tuple(causes_of(trace)),
        changes=None if changes_of is None else tuple(changes_of(trace)),
    )

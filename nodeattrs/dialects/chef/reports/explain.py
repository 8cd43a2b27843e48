"""Why an attribute of a node is what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nodeattrs.core.claim import Cause
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.lookups import readings
from nodeattrs.node.node import Node
from nodeattrs.reports.explain import Change, Explanation, Reading, way_to


def explained(
    node: Node,
    path: Path,
    repository: Repository | None = None,
    revision: int | None = None,
    causes_of: Callable[[Trace], Iterable[Cause]] | None = None,
    changes_of: Callable[[Trace], Iterable[Change]] | None = None,
    search: Callable[..., Any] | None = None,
) -> Explanation:
    """Why *path* of a node is what it is.

    revision:   which save of it, where that is known
    repository: whose cookbooks set values; with it, what the line that set the value read is explained too
    causes_of:  finds the lines that decided who was asked
    changes_of: finds who changed the lines last
    search:     the word `search` of the run, which queries of bindings ask
    """
    trace = node.trace(path)
    silent = not (trace.found or trace.claims or trace.history)
    hint = way_to(node.to_dict(False), path) if silent else None
    read: tuple[Reading, ...] = ()
    if repository is not None and trace.winner is not None:
        claim = trace.winner.claim
        read = tuple(readings(repository, node, claim.origin, claim.then, search))
    found = None if causes_of is None else tuple(causes_of(trace))
    changes = None if changes_of is None else tuple(changes_of(trace))
    is_run = repository is not None
    return Explanation(trace, node.name, node.environment, hint, read, revision, is_run, found, changes)

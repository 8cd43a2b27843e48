"""A run with a memory: what the last run saved comes in, and the new pair goes out.

It decides where nodes are kept, which node is meant, and what of a run is kept, and leaves
the run itself to `runs.run` and the files to the store. It prints nothing.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.tree import Path, near
from nodeattrs.errors import BadArgument, DocumentError, NodeNotFound
from nodeattrs.keep import Saved, Store, filtered_snapshot, saved_document
from nodeattrs.node.node import Node
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.recipes import LogLine
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import Run, run_node
from nodeattrs.texts.documents import Document

__all__ = [
    "DEFAULT_STORE",
    "Remembered",
    "Session",
    "name_in",
    "perform",
    "remembered",
    "required",
    "shown_in",
    "store_place",
]

DEFAULT_STORE = os.path.join(".nodeattrs", "nodes")
"""Where nodes are kept, below the current directory, when nobody says anything else. A repository is not written to
unless its own settings ask for it."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A node as the last run left it.

    note: what a reader should be told: that its origins are not known; empty where all is well
    """

    node: Node
    note: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """What came of one node.

    run:    what the run did
    before: the merged tree that the last run had left, or None where there was none
    after:  the merged tree as far as it is kept, to compare with it
    note:   what is odd about where the node began; empty where all is well
    saved:  where the node is kept now, or None where nothing was saved
    """

    run: Run
    before: dict[Any, Any] | None
    after: dict[Any, Any]
    note: str = ""
    saved: str | None = None


def store_place(given: str | None, repository: Repository | None) -> str:
    """Where nodes are kept: as *given*, else as the repository's settings say, else DEFAULT_STORE.

    A path in the settings counts from the repository.
    """
    if given is not None:
        return given
    configured = repository.config.store if repository else None
    if repository is None or configured is None:
        return DEFAULT_STORE
    return configured if "://" in configured else os.path.join(os.path.relpath(repository.root), configured)


def shown_in(repository: Repository, path: pathlib.Path) -> str:
    """What messages and origins call a file: seen from the repository where it lies in it, else as it was given."""
    inside = os.path.relpath(path, repository.root)
    return (str(path) if inside.startswith(os.pardir) else inside).replace(os.sep, "/")


def name_in(facts: Facts) -> str:
    """What a machine calls itself: its fqdn, else its host name.

    raises: BadArgument, where the facts name neither
    source: Chef's client
    """
    for key in ("fqdn", "machinename", "hostname"):
        name = facts.tree.get(key)
        if isinstance(name, str) and name:
            return name
    raise BadArgument("these facts name no machine", hint="say which node is meant: --node NAME")


def remembered(store: Store, name: str, sensitive: Iterable[Path] = ()) -> Remembered | None:
    """The node as the last run left it: from its snapshot, else from Chef's document; None where there is none.

    raises: BadName, DocumentError, StoreError
    """
    saved = store.load(name)
    if saved is None:
        return None
    try:
        if saved.snapshot is not None:
            return Remembered(Node.restore(saved.snapshot, sensitive=sensitive), saved.note)
        return Remembered(Node.from_chef(saved.document, sensitive=sensitive), saved.note)
    except DocumentError as error:
        error.said = (*error.said, f"it was read from the node {name!r} in {store.describe()}")
        raise


def required(store: Store, name: str, sensitive: Iterable[Path] = ()) -> Remembered:
    """As `remembered`. raises: NodeNotFound, with near misses"""
    found = remembered(store, name, sensitive)
    if found is None:
        close = near(name, store.names())
        raise NodeNotFound(
            f"there is no saved node {name} in {store.describe()}",
            hint=f"did you mean {' or '.join(close)}?" if close else f"run it first: nodeattrs run --node {name}",
        )
    return found


def perform(
    repository: Repository,
    store: Store,
    name: str,
    *,
    facts: Facts,
    run_list: Iterable[str] | None = None,
    environment: str | None = None,
    json_attributes: Document | None = None,
    save: bool = True,
    log: Callable[[LogLine], None] | None = None,
) -> Session:
    """Run a node, starting from what the last run saved, and save what it came to.

    save:   False leaves the store as it is
    raises: as `run_node` and the store; then what was saved before is still there
    """
    config = repository.config
    last = remembered(store, name, config.sensitive)
    before = last.node.to_dict(evaluate=False) if last else None
    run = run_node(
        repository,
        name,
        facts=facts,
        run_list=run_list,
        environment=environment,
        json_attributes=json_attributes,
        saved=last.node if last else None,
        log=log,
    )
    document = saved_document(run.node, config.allowed, config.blocked)
    snapshot = filtered_snapshot(run.node.snapshot(), config.allowed, config.blocked)
    after = Node.restore(snapshot).to_dict(evaluate=False)
    if save:
        store.save(Saved(name, document, snapshot))
    note = last.note if last else _unheard_of(run.node, repository)
    return Session(run, before, after, note, store.describe() if save else None)


def _unheard_of(node: Node, repository: Repository) -> str:
    """What to say of a node that nobody has described: its name may be a slip."""
    if node.run_list or repository.node_document(node.name) is not None:
        return ""
    close = near(node.name, repository.nodes())
    hint = f"did you mean {' or '.join(close)}?" if close else "give it one with --run-list, or in nodes/"
    return f"the node {node.name} has an empty run-list: nothing was known of it\n  {hint}"

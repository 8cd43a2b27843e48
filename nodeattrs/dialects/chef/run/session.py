"""One node with a store: load what its last run saved, run it, take the snapshot, compare it with the last one.

    last = last_of(repository, store, "web1")              load
    session = run(repository, store, "web1", wanted, last) run and snapshot
    session.is_as_before                                   compare
    store.save(session.saved, session.follows)             save

`dialects.chef.run.run` runs the node, and `dialects.chef.fleet` does these steps for many. Nothing is printed here.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nodeattrs._version import VERSION
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import near
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.applying import noted_report
from nodeattrs.dialects.chef.run.recipes import LogLine
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import BadArgument, NodeattrsError, NodeNotFound
from nodeattrs.formats.documents import Document
from nodeattrs.kinds import EMPTY_RUN_LIST
from nodeattrs.node.node import Node
from nodeattrs.store import Noted, Revision, Saved, Store, filtered_snapshot, saved_document
from nodeattrs.store.engines.texts import is_same_form
from nodeattrs.store.saved_nodes import SavedNode, load_saved, root_from
from nodeattrs.store.search.word import search_word

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog, Report


@dataclass(frozen=True)
class NodeRequest:
    """The arguments of `run_node` for one node."""

    facts: Facts
    run_list: Iterable[str] | None = None
    override_run_list: Iterable[str] | None = None
    environment: str | None = None
    json_attributes: Document | None = None


@dataclass(frozen=True)
class Session:
    """A run, with the saved node before it and what is to be saved after it.

    run:      the result of the run
    last:     the saved node before the run; None where there was none
    saved:    document and snapshot to save, filtered by the settings
    place:    the store that has them; None before they are saved
    revision: the saved revision; None before they are saved
    """

    run: Run
    last: SavedNode | None
    saved: Saved
    place: str | None = None
    revision: Revision | None = None

    @property
    def note(self) -> str:
        """A remark about the saved node before the run; "" for none."""
        return self.last.note if self.last else ""

    @property
    def snapshot(self) -> dict[str, Any]:
        """The filtered snapshot to save; it shares settled facts with the node."""
        assert self.saved.snapshot is not None
        return self.saved.snapshot

    @property
    def follows(self) -> int | None:
        """The number of the revision before this one: 0 for none, None where it has no number."""
        if self.last is None:
            return 0
        return self.last.saved.revision.number if self.last.saved.revision else None

    @cached_property
    def before(self) -> dict[Any, Any] | None:
        """The merged attributes before the run; None where no run has succeeded."""
        if self.last is None:
            return None
        tree = self.last.node.to_dict(evaluate=False)
        return tree if tree or self.last.saved.noted.ok else None

    @cached_property
    def after(self) -> dict[Any, Any]:
        """The merged attributes of the snapshot to save, for a comparison with `before`."""
        return Node.restore(self.snapshot).to_dict(evaluate=False)

    @cached_property
    def is_as_before(self) -> bool:
        """Whether the last run succeeded and saved an equal snapshot; found without merging either."""
        if self.last is None or not self.last.saved.noted.ok:
            return False
        return is_same_form(self.snapshot, self.last.saved.snapshot)


_NAMES = ("fqdn", "machinename", "hostname")


def facts_of_another(run: Run) -> Iterator[str]:
    """A warning where the facts of a run are of a machine with another name; a platform has no name."""
    return others_facts(run.node.automatic, run.facts, run.node.name)


def others_facts(facts: Mapping[Any, Any], place: str, name: str) -> Iterator[str]:
    """A warning where facts are of a machine with another name. place: where they are from"""
    hosts = {str(facts[key]).partition(".")[0] for key in ("fqdn", "hostname", "machinename") if facts.get(key)}
    if hosts and name.partition(".")[0] not in hosts and not place.startswith("platform "):
        host = facts.get("fqdn") or facts.get("hostname") or facts.get("machinename")
        yield f"these are the facts of {host} ({place}), and not of the node {name}: --facts names others"


def machine_name(facts: Facts) -> str:
    """What a machine calls itself: its fqdn, else its machinename, else its hostname.

    raises: BadArgument, where the facts have neither
    source: Chef's client
    """
    for key in _NAMES:
        name = facts.tree.get(key)
        if isinstance(name, str) and name:
            return name
    raise BadArgument("these facts name no machine", hint="say which node is meant: --node NAME")


def last_of(repository: Repository, store: Store, name: str) -> SavedNode | None:
    """The saved node of a repository; None where it is not saved. raises: BadName, DocumentError, StoreError"""
    return load_saved(store, name, repository.config.sensitive, root=repository.root)


def require_known(repository: Repository, store: Store, name: str, facts: Facts) -> None:
    """Do nothing where the repository or the facts know a node of that name. raises: NodeNotFound, where neither
    does"""
    file = pathlib.PurePath(facts.locator.at(()).name).stem  # that describes the machine
    if repository.describes(name) or name in (file, *(facts.tree.get(key) for key in _NAMES)):
        return
    close = near(name, {*repository.nodes(), *store.names()})
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    raise NodeNotFound(
        f"node {name} does not exist: it is not in nodes/, not in {store.describe()}, and no facts have that name",
        hint=f"{meant}--new makes a node of that name",
    )


def run(
    repository: Repository,
    store: Store,
    name: str,
    wanted: NodeRequest,
    last: SavedNode | None,
    *,
    apply: Callable[[Catalog], Report] | None = None,
    log: Callable[[LogLine], None] | None = None,
    before_search: Callable[[], None] | None = None,
    fleet: str = "",
) -> Session:
    """Run a node with the attributes that the last run saved; returns the session. Saves nothing.

    store:  for searches of recipes
    last:   the saved node; None for a new one
    apply:  a function that applies the catalog; its report becomes a part of the revision, which counts as failed where
            resources failed
    log:    called with each message of a cookbook file
    before_search: called before a recipe searches the store
    fleet:  the identifier of the call, for the notes of the revision
    raises: the errors of `run_node` and *apply*; BadValue, DeferredCycle, where the node cannot be saved
    """
    ran = run_node(
        repository,
        name,
        facts=wanted.facts,
        run_list=wanted.run_list,
        override_run_list=wanted.override_run_list,
        environment=wanted.environment,
        json_attributes=wanted.json_attributes,
        saved=last.normal if last else None,
        log=log,
        words={"search": search_word(store, before_search)},
    )
    noted = _noted(repository, store, fleet=fleet)
    if apply is not None:
        applied, noop = apply(ran.catalog), ran.catalog.noop
        noted = noted._replace(ok=noop or applied.ok, report=noted_report(applied, noop=noop))
    if last is None:
        ran.warnings.extend(_unknown_node(ran.node, repository))
    config = repository.config
    document = saved_document(ran.node, config.allowed, config.blocked, shared=True)
    snapshot = ran.node.snapshot(shared=True, causes=config.keeps_causes)
    kept = filtered_snapshot(snapshot, config.allowed, config.blocked)
    return Session(ran, last, Saved(ran.node.name, document, kept, noted=noted))


def save_failed(
    repository: Repository,
    store: Store,
    name: str,
    wanted: NodeRequest,
    last: SavedNode | None,
    error: NodeattrsError,
    fleet: str = "",
) -> None:
    """Save a revision with the class of the error of a failed run, and the attributes from before. Raises nothing.

    A new node is saved only where nodes/ describes it or a run-list was given, without attributes.
    """
    with contextlib.suppress(NodeattrsError):
        was = last.saved if last else _unrun(repository, name, wanted)
        if was is not None:
            number = was.revision.number if was.revision else None
            noted = _noted(repository, store, ok=False, error=_sort_of(error), fleet=fleet)
            store.save(was._replace(noted=noted), number if last else 0)


def _unrun(repository: Repository, name: str, wanted: NodeRequest) -> Saved | None:
    """A node whose first run failed, to be saved: its run-list and environment, and no attribute.

    None where nodes/ does not describe it and no run-list was given: a slip in a name makes no node.
    """
    run_list = None if wanted.run_list is None else list(wanted.run_list)
    json_attributes, environment = wanted.json_attributes, wanted.environment
    node = Node(name)
    given = json_attributes.tree if json_attributes is not None and isinstance(json_attributes.tree, dict) else {}
    described = None
    with contextlib.suppress(NodeattrsError):
        described = repository.node_document(name)
    items = [run_list, given.get("run_list"), given.get("recipes"), list(described.run_list) if described else None]
    with contextlib.suppress(NodeattrsError):
        node.run_list = next((one for one in items if isinstance(one, list) and one), [])
    if not node.run_list and not repository.describes(name):
        return None
    # The next run begins in this environment: one that is not there is a slip, and must not stay.
    environments = [environment, given.get("chef_environment"), described.environment if described else None]
    for one in (repository.config.environment, *reversed(environments)):
        with contextlib.suppress(NodeattrsError):
            if isinstance(one, str) and one:
                node.environment = repository.environment(one).name
    return Saved(name, saved_document(node), node.snapshot())


def _noted(repository: Repository, store: Store, **how: Any) -> Noted:
    root = root_from(store, repository.root)
    return Noted(repository=repository.commit, version=VERSION, root=root, **how)


def _sort_of(error: NodeattrsError) -> str:
    """The class of an error, with its file and line: "RecipeFailed at FILE:3". Its message may quote a secret."""
    origin = next((one for one in error.origins if isinstance(one, Origin) and one.file), None)
    file, line = (origin.file, origin.line) if origin else (getattr(error, "file", None), getattr(error, "line", None))
    place = ":".join(str(part) for part in (file, line) if part is not None)
    return f"{type(error).__name__} at {place}" if place else type(error).__name__


def _unknown_node(node: Node, repository: Repository) -> Iterator[NodeattrsError]:
    """Yield a warning where a node has an empty run-list and no file in nodes/: its name may be a slip."""
    if node.run_list or repository.node_document(node.name) is not None:
        return
    close = near(node.name, repository.nodes())
    hint = f"did you mean {' or '.join(close)}?" if close else "give it one with --run-list, or in nodes/"
    warning = NodeattrsError(f"the node {node.name} has an empty run-list: nothing was known of it", hint=hint)
    warning.kind = EMPTY_RUN_LIST
    yield warning

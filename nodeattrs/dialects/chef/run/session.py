"""A *session* is a run of one node with a store. The caller takes these steps, in this order:

    last = last_saved_node(repository, store, "web1")               load what the last run saved
    session = run_session(repository, store, "web1", request, last) run, and take the snapshot
    session.is_as_before                                            compare the snapshot with the last one
    store.save(session.saved, session.previous_number)              save

`dialects.chef.run.run` runs the node. `dialects.chef.fleet` takes these steps for many nodes. Nothing is printed here.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nodeattrs._version import VERSION
from nodeattrs.catalog import Catalog, Report
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
from nodeattrs.node.documents import failures_in
from nodeattrs.node.node import Node
from nodeattrs.reports.values import uncomputed_in
from nodeattrs.store import Noted, Revision, Saved, Store, filtered_snapshot, saved_document
from nodeattrs.store.engines.texts import is_same_form
from nodeattrs.store.saved_nodes import SavedNode, load_saved, root_from
from nodeattrs.store.search.word import search_word


@dataclass(frozen=True)
class NodeRequest:
    """The arguments of one run, with the names that `run_node` has for them.

    facts:             the facts of the node
    run_list:          the new run-list of the node; None: it keeps its own
    override_run_list: the run-list of this run alone; None: the run uses the node's run-list
    environment:       the new environment of the node; None: it keeps its own
    json_attributes:   JSON attributes to merge into the normal ones; None for none
    """

    facts: Facts
    run_list: Iterable[str] | None = None
    override_run_list: Iterable[str] | None = None
    environment: str | None = None
    json_attributes: Document | None = None


@dataclass(frozen=True)
class Session:
    """The result of `run_session`: a run, the saved node before it, and the data to save after it.

    `run_session` does not save it. The caller gives `saved` and `previous_number` to `Store.save`, and may then make a
    copy of this object with `place` and `revision`. `before` and `after` are the merged attributes; `before` is None
    for a new node. `is_as_before` says whether the last run succeeded with an equal snapshot. `note` is a remark of the
    store about the node, or "".

    run:      the result of the run
    last:     the saved node before the run; None for a new node
    saved:    the node's document and snapshot to save, filtered by the settings
    place:    the description of the store in which `saved` was saved; None before that
    revision: the saved revision; None before `saved` is saved
    """

    run: Run
    last: SavedNode | None
    saved: Saved
    place: str | None = None
    revision: Revision | None = None

    @property
    def note(self) -> str:
        """The remark of the store about the saved node before the run; "" for none, and for a new node."""
        return self.last.note if self.last else ""

    @property
    def snapshot(self) -> dict[str, Any]:
        """The filtered snapshot to save, not to be changed: it shares maps with the node."""
        assert self.saved.snapshot is not None
        return self.saved.snapshot

    @property
    def previous_number(self) -> int | None:
        """The number of the last revision, which `Store.save` compares; 0 for a new node, None without numbers."""
        if self.last is None:
            return 0
        return self.last.saved.revision.number if self.last.saved.revision else None

    @cached_property
    def before(self) -> dict[Any, Any] | None:
        """The merged attributes of the saved node before the run.

        None for a new node, and for a node that failed and has no attributes.
        """
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
        """Whether the last run succeeded and saved a snapshot equal to this one; False for a new node."""
        if self.last is None or not self.last.saved.noted.ok:
            return False
        return is_same_form(self.snapshot, self.last.saved.snapshot)


_NAMES = ("fqdn", "machinename", "hostname")


def wrong_machine_warnings(run: Run) -> Iterator[str]:
    """Yield a warning if the facts of a run are of a machine with another name than the node."""
    return wrong_machine_warnings_of(run.node.automatic, run.facts, run.node.name)


def wrong_machine_warnings_of(facts: Mapping[Any, Any], place: str, name: str) -> Iterator[str]:
    """Yield a warning if facts are of a machine with another name than *name*. Names are compared up to the first dot.

    Yields nothing for facts without a name, and for facts of a platform.
    place: the file of the facts, or "this machine", or "platform ..."
    """
    hosts = [str(facts[key]) for key in ("fqdn", "hostname", "machinename") if facts.get(key)]
    is_other = name.partition(".")[0] not in [host.partition(".")[0] for host in hosts]
    if hosts and is_other and not place.startswith("platform "):
        yield f"these are the facts of {hosts[0]} ({place}), and not of the node {name}: --facts names others"


def machine_name(facts: Facts) -> str:
    """The name of a machine by its facts: the first of fqdn, machinename and hostname that is a text and not "".

    raises: BadArgument, if the facts have none of them
    source: Chef's client
    """
    for key in _NAMES:
        name = facts.tree.get(key)
        if isinstance(name, str) and name:
            return name
    raise BadArgument("these facts name no machine", hint="say which node is meant: --node NAME")


def last_saved_node(repository: Repository, store: Store, name: str) -> SavedNode | None:
    """The saved node, with the sensitive paths of the repository; None if it is not saved.

    raises: BadName, DocumentError, StoreError
    """
    return load_saved(store, name, repository.config.sensitive, root=repository.root)


def require_known_node(repository: Repository, store: Store, name: str, facts: Facts) -> None:
    """Raise NodeNotFound, with similar names, if neither the repository nor the facts have a node of that name.

    The facts have the name if it is the name of their machine, or of their file. Call it for a node that is not saved.
    """
    if repository.has_node(name) or name in (facts.tree.get(key) for key in _NAMES):
        return
    if name == pathlib.PurePath(facts.locator.at(()).name).stem:  # the file describes the machine
        return
    close = near(name, {*repository.nodes(), *store.names()})
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    raise NodeNotFound(
        f"node {name} does not exist: it is not in nodes/, not in {store.describe()}, and no facts have that name",
        hint=f"{meant}--new makes a node of that name",
    )


def run_session(
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
    """Run a node with the normal attributes that the last run saved; returns the session. Saves nothing.

    store:  for searches of recipes, and for the notes of the revision
    wanted: the facts and the other arguments of the run
    last:   the saved node, which is not changed. None for a new node; a new node without a run-list gets a warning
    apply:  a function that applies the catalog and returns its report, for the notes of the revision. Without noop, a
            failed resource makes the run a failed one. None: nothing is applied
    log:    called with each message of a cookbook file
    before_search: called before a recipe searches the store
    fleet:  the identifier of the call, for the notes of the revision
    raises: the errors of `run_node` and *apply*; BadValue, DeferredCycle, if the node cannot be saved
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
    failures = (failure for level in ("normal", "default", "override") for failure in failures_in(document[level]))
    ran.warnings.extend(NodeattrsError(str(one)) for one in uncomputed_in(ran.node, failures))
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
    """Save a revision for a failed run: the class of the error, and the attributes from before. Raises nothing.

    A new node (*last* is None) is saved without attributes. If no run-list was given and the repository does not
    describe the node, nothing is saved.
    """
    with contextlib.suppress(NodeattrsError):
        was = last.saved if last else _unrun(repository, name, wanted)
        if was is not None:
            number = was.revision.number if was.revision else None
            noted = _noted(repository, store, ok=False, error=_sort_of(error), fleet=fleet)
            store.save(was._replace(noted=noted), number if last else 0)


def _unrun(repository: Repository, name: str, wanted: NodeRequest) -> Saved | None:
    """The node to save after a failed first run: with run-list and environment, and without attributes.

    None if no run-list was given and the repository does not describe the node: its name may be a mistake.
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
    if not node.run_list and not repository.has_node(name):
        return None
    # The next run begins in this environment, so a missing one is not saved.
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
    """Yield a warning if a node has an empty run-list and no description: its name may be a mistake."""
    if node.run_list or repository.node_document(node.name) is not None:
        return
    close = near(node.name, repository.nodes())
    hint = f"did you mean {' or '.join(close)}?" if close else "give it one with --run-list, or in nodes/"
    warning = NodeattrsError(f"the node {node.name} has an empty run-list: nothing was known of it", hint=hint)
    warning.kind = EMPTY_RUN_LIST
    yield warning

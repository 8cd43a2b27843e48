"""Run many nodes and save them: in this process, in processes of this program, or on workers of another machine.

    for outcome in resolve(Fleet(repository, store, facts), names): ...

A *fleet* is the task: repository, store and options for all nodes. `workers.batches` gives the names to workers in
chunks, and `workers.shipping` sends a repository to them. A worker opens repository and store once, runs the nodes of a
chunk and saves them together. A node that fails does not stop the others. Nothing is printed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from socket import gethostname
from threading import Lock
from typing import Any

from nodeattrs.catalog import Catalog, Report
from nodeattrs.codes import codes
from nodeattrs.core.tree import checked_name
from nodeattrs.dialects.chef.facts import Facts, facts_of_last_run, load_facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import NO_OPTIONS, RepositoryOptions
from nodeattrs.dialects.chef.run.recipes import LogLine
from nodeattrs.dialects.chef.run.session import (
    NodeRequest,
    Session,
    last_saved_node,
    require_known_node,
    run_session,
    save_failed,
)
from nodeattrs.errors import BadArgument, FleetError, NodeattrsError, StoreError
from nodeattrs.formats.documents import Document, read
from nodeattrs.kinds import ALREADY_RUN, OTHER_REPOSITORY, STORE_GONE
from nodeattrs.store import NewerRevision, Revision, Store, open_store
from nodeattrs.store.engines.store import last_runs
from nodeattrs.store.saved_nodes import SavedNode
from nodeattrs.workers.batches import CHUNK, Workers, run_in_chunks
from nodeattrs.workers.shipping import FACTS, REPOSITORY, PackedRepository, digest_of, pack_repository, unpacked_folder

GIVEN_UP = 2 * CHUNK
"""After this number of nodes in a row that could not be loaded or saved, `resolve` raises FleetError."""

_SHIP = "bring it up to date there, or send it: --ship"

Collect = Callable[[str, Session | NodeattrsError, Sequence[LogLine]], Any]
"""A function from a node's name, its session or error, and its log to `NodeOutcome.collected`. It is called in the
worker, so it and its result must be picklable."""

Apply = Callable[[str, Catalog], Report]
"""A function that applies the catalog of a node, and returns the report."""


@dataclass(frozen=True)
class Fleet:
    """The task of `resolve`: the options that all nodes share. The names of the nodes are not a part of it.

    It has no state, reads nothing, and can be pickled for another machine.

    repository:  the path of its folder
    store:       the place of the store, as for `open_store`
    facts:       a folder with a file NODE.json for each node, one file for all nodes, or one `Facts` for all nodes;
        None: each node has the facts of its last run
    environment: the new environment of all nodes; None: each keeps its own
    save:        whether the nodes are saved
    force:       True: a node is saved even if another run has saved it since this run loaded it; False: the node fails
    run_list:    the new run-list of all nodes; None: each keeps its own
    json_attributes: attributes for all nodes, as a file or its parsed document; None for no attributes
    last_facts:  True: a node without a file in the folder *facts* gets the facts of its last run; False: the node fails
    new:         True: a node may be new; False: a name fails that neither nodes/ nor the store nor the facts have
    override_run_list: the run-list of this run alone, which is not saved; None: the usual run-list
    options:     options of the command line that concern the repository
    content:     set by `compared`: a digest of the repository; a worker whose repository differs refuses to run
    pack:        set by `shipped`: the digest of the pack that brings the repository to each worker
    facts_shown: set by `shipped`: the name of the folder *facts* in messages, relative to the repository
        The last three are "" for workers on this machine.
    """

    repository: str
    store: str
    facts: str | Facts | None = None
    environment: str | None = None
    save: bool = True
    force: bool = False
    run_list: tuple[str, ...] | None = None
    json_attributes: str | Document | None = None
    last_facts: bool = True
    new: bool = True
    override_run_list: tuple[str, ...] | None = None
    options: RepositoryOptions = NO_OPTIONS
    content: str = ""
    pack: str = ""
    facts_shown: str = ""


@dataclass(frozen=True)
class NodeOutcome:
    """The result of one node of a fleet.

    name:      the node's name
    error:     the error message; "" for a node that succeeded. For a failure that another worker saved, the class of
               the error and its place
    code:      the code of the error; "" for a node that succeeded. Also "" for a failure that another worker saved, if
               errors of that class have several codes
    revision:  the number of the saved revision; None if the fleet saves nothing, or if the node failed in this worker
    seconds:   the time of the run, without saving
    collected: what the function `collect` of `resolve` returned; None if `resolve` was given none
    """

    name: str
    error: str = ""
    code: str = ""
    revision: int | None = None
    seconds: float = 0.0
    collected: Any = None


def compared(fleet: Fleet) -> Fleet:
    """A copy of a fleet for workers on other machines that have the same repository at the same place.

    It has a digest of the repository. A worker whose repository has another digest refuses to run.
    cost:   reads each file of the repository
    raises: BadArgument, if the store is a file of this machine; FleetError, if a file cannot be read
    """
    _require_shared_store(fleet)
    facts = os.path.abspath(fleet.facts) if isinstance(fleet.facts, str) else fleet.facts
    fleet = replace(fleet, facts=facts)
    return replace(fleet, content=digest_of(fleet.repository, _no_content(fleet)))


def shipped(fleet: Fleet, names: Collection[str]) -> tuple[Fleet, PackedRepository]:
    """Returns (a copy of a fleet for workers on other machines, the pack with its repository and facts).

    Give both to `resolve`, which sends the pack to each worker once.
    names:  the nodes whose files of a folder of facts are packed
    raises: BadArgument, if the store is a file of this machine; FleetError, DocumentError
    """
    _require_shared_store(fleet)
    repository = Repository(fleet.repository)
    facts = Path(fleet.facts) if isinstance(fleet.facts, str) else None
    if facts is not None and not facts.is_dir():
        fleet, facts = replace(fleet, facts=load_facts(facts, repository.shown(facts))), None
    pack = pack_repository(fleet.repository, repository.commit, facts, names)
    shown = "" if facts is None else repository.shown(facts)
    return replace(fleet, pack=pack.digest, facts_shown=shown), pack


def _require_shared_store(fleet: Fleet) -> None:
    """Raise BadArgument if the store is a file of this machine."""
    if "://" not in fleet.store or fleet.store.startswith("sqlite"):
        hint = "name one that all workers reach: --store postgresql://nodeattrs@db/nodes"
        raise BadArgument(f"the store {fleet.store} is on this machine", hint=hint)


def _no_content(fleet: Fleet) -> list[str]:
    """The folders to leave out of the digest of a repository, since they may lie in it: the folder of facts."""
    return [fleet.facts] if isinstance(fleet.facts, str) else []


def still_to_do(store: Store, names: Iterable[str], since: datetime) -> list[str]:
    """The names of the nodes whose last run was before *since* or failed, in the given order; unknown nodes too."""
    done = {name for name, _, run in last_runs(store) if run is not None and run.noted.ok and run.at >= since}
    return [name for name in names if name not in done]


def resolve(
    fleet: Fleet,
    names: Iterable[str],
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    collect: Collect | None = None,
    apply: Apply | None = None,
    stopping: Callable[[], bool] = lambda: False,
    pack: PackedRepository | None = None,
    opened: Repository | None = None,
) -> Iterator[NodeOutcome]:
    """Run nodes and save them; yields the result of each as soon as it is saved. Nothing runs before the first `next`.

    A failed node gives an outcome with an error, and does not stop the others.
    executor: runs the chunks; None: processes of this program
    jobs:     the number of processes; 1: this process alone; None: chosen by the number of nodes and processors
    in_order: yield in the order of *names*, and not as soon as a chunk is done
    collect:  called in the worker with the name, the session (or the error of a failed node) and the logged lines. What
              it returns becomes `NodeOutcome.collected`
    apply:    called in the worker with the name and the catalog; returns the report. Each node is then saved alone
    stopping: called repeatedly; once it returns True no further node is started
    pack:     what `shipped` returned, for workers on other machines
    opened:   the caller's repository, for jobs=1 without an executor
    raises:   FleetError, if a worker has died, or the store fails for several nodes in a row
    """
    workers = executor if isinstance(executor, Workers) else Workers(executor, jobs)
    is_here = workers.executor is None and workers.jobs == 1
    work = _Work(fleet, collect, apply, is_ours=workers.executor is None, opened=opened if is_here else None)
    refused = 0
    try:
        for outcome in run_in_chunks(
            partial(_run, work), names, executor=workers, in_order=in_order, stopping=stopping, pack=pack
        ):
            yield outcome
            refused = refused + 1 if outcome.code and outcome.code == StoreError.entry.code else 0
            if refused >= GIVEN_UP:
                raise FleetError(
                    f"{refused} nodes in a row could not be loaded or saved: {outcome.error.partition(chr(10))[0]}",
                    kind=STORE_GONE,
                    hint="what was saved is kept; see whether the store is there, and go on",
                )
    finally:
        _WORKERS.pop(work.call, None)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """What a worker is sent with each chunk.

    is_ours: whether the workers are processes of this program, so that no chunk goes to a second worker
    opened:  the caller's repository, in this process
    call:    a random name of this call of `resolve`
    """

    fleet: Fleet
    collect: Collect | None
    apply: Apply | None
    is_ours: bool
    opened: Repository | None = None
    call: str = field(default_factory=lambda: os.urandom(16).hex())


class AlreadyRun(NodeattrsError):
    """Raised in a worker for a node that another worker of the same call of `resolve` has run and saved.

    The caller of `resolve` does not see this error: the node's outcome is the result of the run that was saved.

    found: the revision that the other worker saved
    """

    entry = ALREADY_RUN

    def __init__(self, found: Revision) -> None:
        super().__init__("the node has been run before, by this fleet")
        self.found = found


def _run(work: _Work, names: Iterable[str]) -> Iterator[NodeOutcome]:
    """Run nodes, and save them a chunk at a time; each by itself where nothing is saved or resources are applied."""
    size = CHUNK if work.fleet.save and work.apply is None else 1
    chunk = _Chunk(work)
    for name in names:
        chunk.run(name)
        if len(chunk.outcomes) == size:
            chunk.save()
            yield from chunk.outcomes
            chunk = _Chunk(work)
    chunk.save()
    yield from chunk.outcomes


class _Chunk:
    """Nodes that are run one after the other, and saved in one transaction.

    outcomes: the outcome of each node, in the order in which they ran; complete after `save`
    """

    def __init__(self, work: _Work) -> None:
        self._work = work
        self.outcomes: list[NodeOutcome] = []
        self._unsaved: dict[int, tuple[Session, list[LogLine]]] = {}  # by their place in the outcomes

    def run(self, name: str) -> None:
        """Run a node. `save` saves it; a failed run is saved at once."""
        if any(name == self.outcomes[place].name for place in self._unsaved):
            self.save()  # a node that is named twice goes on from what it left
        began, log = time.perf_counter(), list[LogLine]()
        try:
            session = _session(self._work, name, log, self.save)
        except FleetError:
            raise
        except NodeattrsError as error:
            self.outcomes.append(_failed(self._work, name, error, log, began))
        else:
            self._unsaved[len(self.outcomes)] = session, log
            self.outcomes.append(NodeOutcome(name, seconds=time.perf_counter() - began))

    def save(self) -> None:
        """Save the nodes that have run and are not saved."""
        unsaved, self._unsaved = self._unsaved, {}
        came = _saved(self._work, [session for session, _ in unsaved.values()]) if unsaved else []
        for place, one in zip(unsaved, came, strict=True):
            log, outcome = unsaved[place][1], self.outcomes[place]
            try:
                if isinstance(one, NodeattrsError):
                    raise one
                number = one.revision.number if one.revision else None
                collected = self._work.collect(outcome.name, one, log) if self._work.collect else None
                self.outcomes[place] = replace(outcome, revision=number, collected=collected)
            except NodeattrsError as error:
                began = time.perf_counter() - outcome.seconds
                self.outcomes[place] = _failed(self._work, outcome.name, error, log, began)


def _saved(work: _Work, sessions: list[Session]) -> list[Session | NodeattrsError]:
    """Save sessions; returns each with its place and revision, or the error of saving it.

    If the fleet saves nothing, the same sessions.
    """
    if not work.fleet.save:
        return [*sessions]
    store = _worker(work).store
    try:
        came = store.save_all([(one.saved, None if work.fleet.force else one.previous_number) for one in sessions])
    except StoreError as error:  # of the whole store
        return [error] * len(sessions)
    return [
        one if isinstance(one, NodeattrsError) else replace(session, place=store.describe(), revision=one)
        for session, one in zip(sessions, came, strict=True)
    ]


def _session(work: _Work, name: str, log: list[LogLine], before_search: Callable[[], None]) -> Session:
    """Run a node; returns its session, which is not saved. A failed run is saved, and its error raised."""
    fleet, worker, call = work.fleet, _worker(work), "" if work.is_ours else work.call
    repository, store = worker.repository, worker.store
    last = last_saved_node(repository, store, name)
    if call and last is not None and last.saved.noted.fleet == call and last.saved.revision is not None:
        raise AlreadyRun(last.saved.revision)
    facts = worker.facts_of(name, last)
    if fleet.save and not fleet.new and last is None:
        require_known_node(repository, store, name, facts)
    wanted = NodeRequest(facts, fleet.run_list, fleet.override_run_list, fleet.environment, worker.json_attributes)
    apply = partial(work.apply, name) if work.apply else None
    try:
        return run_session(
            repository,
            store,
            name,
            wanted,
            last,
            apply=apply,
            log=log.append,
            before_search=before_search,
            fleet=call,
        )
    except NodeattrsError as error:
        if fleet.save:
            save_failed(repository, store, name, wanted, last, error, fleet=call)
        raise


def _failed(work: _Work, name: str, error: NodeattrsError, log: list[LogLine], began: float) -> NodeOutcome:
    """The outcome of a failed node; the saved result, if another worker saved the node in this call.

    An executor gives a chunk to a second worker when it thinks that the first one has died.
    """
    seconds = time.perf_counter() - began
    collected = work.collect(name, error, log) if work.collect else None
    found = error.found if isinstance(error, NewerRevision | AlreadyRun) else None
    if found is not None and found.noted.fleet == work.call:
        return NodeOutcome(name, found.noted.error, _code_noted(found.noted.error), found.number, seconds, collected)
    return NodeOutcome(name, str(error), error.code, None, seconds, collected)


def _code_noted(noted: str) -> str:
    """The code of an error that a revision notes as "CLASS at PLACE"; "" if errors of that class have several codes.

    noted: "" for a run that did not fail; the result is then ""
    """
    name = noted.partition(" at ")[0]
    entries = [one for one in codes().values() if name in (one.names[0], one.owner)] if name else []
    return entries[0].code if len(entries) == 1 else ""


class _Worker:
    """The repository and the store that a process has open for one call of `resolve`. Its threads share them."""

    def __init__(self, work: _Work) -> None:
        fleet = work.fleet
        self._fleet, self._facts, place = fleet, fleet.facts, fleet.repository
        if fleet.pack:
            self._unpacked = unpacked_folder(fleet.pack)  # the folder exists as long as this object does
            place = os.path.join(self._unpacked.name, REPOSITORY)
            if isinstance(fleet.facts, str):
                self._facts = os.path.join(self._unpacked.name, FACTS)
        elif fleet.content:
            _require_same(fleet)
        self.repository = work.opened or Repository(place, options=fleet.options)
        self.store = open_store(fleet.store)

    @cached_property
    def json_attributes(self) -> Document | None:
        """The parsed JSON attributes of all nodes; None for none."""
        given = self._fleet.json_attributes
        return read(Path(given), self.repository.shown(Path(given))) if isinstance(given, str) else given

    def facts_of(self, name: str, last: SavedNode | None) -> Facts:
        """The facts of a node, from the fleet, or else its last run. last: the saved node; None for a new one

        raises: DocumentError; BadArgument, if there are neither
        """
        if isinstance(self._facts, Facts):
            return self._facts
        if self._facts is not None:
            folder = Path(self._facts)
            if not folder.is_dir():
                return self._facts_of_all
            file = folder / f"{checked_name(name, 'node')}.json"
            if file.exists() or not self._fleet.last_facts:
                return load_facts(file, self._shown(file))
        tree = last.node.automatic.to_dict() if last else {}
        if not tree:
            hint = f"put {name}.json into a directory: --facts DIR"
            raise BadArgument(f"no facts are known of the node {name}", hint=hint)
        return facts_of_last_run(tree)

    @cached_property
    def _facts_of_all(self) -> Facts:
        file = Path(str(self._facts))
        return load_facts(file, self.repository.shown(file))

    def _shown(self, file: Path) -> str:
        """The name of a file of facts in messages: in the folder that was packed, and not in the unpacked copy."""
        if self._fleet.facts_shown:
            return str(PurePosixPath(self._fleet.facts_shown, file.name))
        return self.repository.shown(file)


def _require_same(fleet: Fleet) -> None:
    """Raise FleetError if this machine has another repository than the fleet, or none."""
    host = gethostname()
    if not os.path.isdir(fleet.repository):
        missing = f"there is no repository at {fleet.repository} on {host}"
        raise FleetError(missing, kind=OTHER_REPOSITORY, hint=_SHIP)
    there = digest_of(fleet.repository, _no_content(fleet))
    if there != fleet.content:
        raise FleetError(
            f"{host} has another repository at {fleet.repository}",
            kind=OTHER_REPOSITORY,
            details=[f"its content is {there[:12]}, and the one here is {fleet.content[:12]}"],
            hint=_SHIP,
        )


_WORKERS: dict[str, _Worker] = {}
"""Call of `resolve` (`_Work.call`) -> its worker in this process; at most `_MOST_WORKERS`."""

_MOST_WORKERS = 4

_OPENING = Lock()


def _worker(work: _Work) -> _Worker:
    with _OPENING:  # of several threads one opens it
        if work.call not in _WORKERS:
            _WORKERS[work.call] = _Worker(work)
        if len(_WORKERS) > _MOST_WORKERS:
            del _WORKERS[next(iter(_WORKERS))]
        return _WORKERS[work.call]

"""Many nodes, on all processors: each is run and saved as `runs.session` does it.

The work goes to any executor of `concurrent.futures`, a few nodes at a time, so that a fleet of
any size needs the memory of a few. A process reads each file of the repository once, however
many nodes it runs. What fails is reported with the others, and those go on; where something has gone that
all need, it ends. It prints nothing, and does not know what is reported of a run: who wants more than a number
hands in who makes it. Who the workers are is known to `executors`, how a repository reaches them to `shipping`.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache, partial
from importlib import import_module
from pathlib import Path
from socket import gethostname
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, FleetError, NodeattrsError, StoreError
from nodeattrs.keep import NewerRevision, Revision, Store, open_store
from nodeattrs.keep.revisions import last_runs
from nodeattrs.kinds import OTHER_REPOSITORY, STORE_GONE
from nodeattrs.runs.batches import BATCH, TOGETHER, through
from nodeattrs.runs.executors import Workers
from nodeattrs.runs.facts import Facts, load_facts, parse_facts
from nodeattrs.runs.policies import NOTHING_ASKED, Asked
from nodeattrs.runs.recipes import LogLine
from nodeattrs.runs.remembered import remembered
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.session import AlreadyRun, Session, Wanted, commit_of, last_of, require_known, run, save_failed
from nodeattrs.runs.shipping import Packed, digest_of, held, packed
from nodeattrs.runs.together import Together
from nodeattrs.texts.documents import Document, read

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog, Report

GIVEN_UP = 2 * BATCH
"""So many nodes in a row that could not be loaded or saved are the end of a fleet."""

_OF_THE_RUN = ("expanded_run_list", "recipes", "roles")
"""What a run makes itself, and does not take from saved facts."""

Collect = Callable[[str, Session | NodeattrsError, Sequence[LogLine]], Any]
"""What somebody wants to know of a node: of its session, or of what went wrong and what had been logged by then.
It is called where the node ran; it and what it gives must be fit to be sent between processes."""

Apply = Callable[[str, "Catalog"], "Report"]
"""Brings the resources of a node into their state; see `perform`."""


@dataclass(frozen=True)
class Fleet:
    """What each worker has to know; made of texts, it can be sent to another process, or another machine.

    repository:  its directory
    store:       a place, as for `open_store`
    facts:       a directory with NODE.json in it, or one file for all, or the facts of all
    environment: of all nodes from now on; None leaves each its own
    save:        False runs them and keeps nothing
    force:       see `perform`
    new:         whether a node that nobody knows is made
    run_list:    of all nodes from now on; None leaves each its own
    override_run_list: what they run instead of it, this once
    json_attributes: of all nodes: a file, or what was read from it
    asked:       of the repository
    content:     of a repository that workers have to have, as `shipping` calls it; "" leaves it to them
    shipped:     it is sent to them, and so are the facts; else they have it at the same place
    last_facts:  whether a node that *facts* has nothing of, and every node where it is None, has the facts
                 of its last run
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
    asked: Asked = NOTHING_ASKED
    content: str = ""
    shipped: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of one node.

    error:     what went wrong, in words; "" where nothing did
    code:      of that error
    revision:  its number in the store, or None where nothing was saved
    collected: what was collected of it, or None
    """

    name: str
    error: str = ""
    code: str = ""
    revision: int | None = None
    seconds: float = 0.0
    collected: Any = None


def sent_elsewhere(fleet: Fleet, ship: bool = False) -> tuple[Fleet, Packed | None]:
    """A fleet for workers on other machines, and the repository that they are to be sent.

    ship:   send it, with the facts; else each worker looks whether it has the same one at the same place
    raises: BadArgument, where the store is a file of this machine; FleetError, see `shipping`
    """
    if "://" not in fleet.store or fleet.store.startswith("sqlite"):
        hint = "name one that all workers reach: --store postgresql://nodeattrs@db/nodes"
        raise BadArgument(f"the store {fleet.store} is on this machine", hint=hint)
    if not ship:
        facts = os.path.abspath(fleet.facts) if isinstance(fleet.facts, str) else fleet.facts
        fleet = replace(fleet, facts=facts)
        return replace(fleet, content=digest_of(fleet.repository, _no_content(fleet))), None
    commit = commit_of(Path(fleet.repository))
    sent = packed(fleet.repository, commit, _no_content(fleet))
    if isinstance(fleet.facts, str) and not os.path.isdir(fleet.facts):
        file = Path(fleet.facts)
        fleet = replace(fleet, facts=load_facts(file, Repository(fleet.repository).shown(file), settled=True))
    return replace(fleet, content=sent.digest, shipped=True), sent


def _no_content(fleet: Fleet) -> list[str]:
    """What may lie in a repository and is none of it."""
    return [fleet.facts] if isinstance(fleet.facts, str) else []


def _packing(fleet: Fleet) -> Callable[[str], _Item]:
    """How a name is sent: with the node's facts where the fleet has a folder of them."""
    folder, shown = fleet.facts, Repository(fleet.repository).shown
    if not isinstance(folder, str):
        return lambda name: name

    def with_facts(name: str) -> _Item:
        with suppress(OSError, NodeattrsError):  # whoever runs it says what is wrong
            file = Path(folder, f"{checked_name(name, 'node')}.json")
            return _Sent(name, shown(file), zlib.compress(file.read_bytes(), 1))
        return name

    return with_facts


def still_to_do(store: Store, names: Iterable[str], since: datetime) -> list[str]:
    """Those of the nodes whose last run was before *since*, or did not go well."""
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
    stopping: Callable[[], bool] | None = None,
    repository: Packed | None = None,
    opened: Repository | None = None,
) -> Iterator[Outcome]:
    """Run nodes, and give what came of each as soon as it is known.

    executor: who does the work, here or elsewhere, in threads or processes; it is left open. Unless given,
              *jobs* processes of this machine
    jobs:     how many; `jobs_for` says how many unless given, and with 1 this process itself
    in_order: give the outcomes in the order of *names*, and not in that in which they come
    collect:  makes `Outcome.collected`
    apply:    see `perform`
    stopping: asked again and again; once it says so no other node is begun, and what has begun is given
    repository: sent to each worker once, if the fleet is `shipped`
    opened:   the fleet's repository as somebody has begun to read it; what this process does goes on with it
    raises:   FleetError, where a worker died, or something has gone that all nodes need
    """
    is_given_twice = executor.elsewhere if isinstance(executor, Workers) else executor is not None
    is_here = executor is None and jobs == 1
    work = _Work(fleet, collect, apply, is_given_twice, opened if is_here else None)
    items: Iterable[_Item] = map(_packing(fleet), names) if fleet.shipped else names
    refused = 0
    try:
        for outcome in through(
            partial(_some, work),
            items,
            executor=executor,
            jobs=jobs,
            in_order=in_order,
            stopping=stopping,
            repository=repository,
            ready=partial(_get_ready, work),
            ending=partial(_end, work),
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
        _close(work)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """What a worker is sent with each batch. Two are equal where they belong to one call of `resolve`."""

    fleet: Fleet = field(compare=False)
    collect: Collect | None = field(default=None, compare=False)
    apply: Apply | None = field(default=None, compare=False)
    is_given_twice: bool = field(default=False, compare=False)
    """Whether somebody else may be given what a worker that is thought dead has begun."""
    opened: Repository | None = field(default=None, compare=False)
    call: str = field(default_factory=lambda: os.urandom(16).hex())


class _Sent(NamedTuple):
    """A node whose facts travel with its name. file: what messages call them; facts: packed"""

    name: str
    file: str
    facts: bytes


_Item = str | _Sent


def _name(item: _Item) -> str:
    return item if isinstance(item, str) else item.name


def _some(work: _Work, items: Iterable[_Item]) -> Iterator[Outcome]:
    """What came of nodes. Several are saved at once, unless somebody looks at each; nothing is given before."""
    if not work.fleet.save or work.collect is not None or work.apply is not None:
        yield from (_one(work, item) for item in items)
        return
    waiting: list[Outcome] = []
    began, together = time.perf_counter(), Together()
    for item in items:
        if any(_name(item) == outcome.name for outcome in waiting):  # which goes on from what it left
            yield from _saved(work, waiting, together)
            waiting = []
        waiting.append(_one(work, item, together))
        if len(waiting) == TOGETHER or time.perf_counter() - began > _TOGETHER_SECONDS:
            yield from _saved(work, waiting, together)
            began, waiting = time.perf_counter(), []
    yield from _saved(work, waiting, together)


_TOGETHER_SECONDS = 0.25
"""How long what came of a node waits for others, at least."""


def _saved(work: _Work, run: Iterable[Outcome], together: Together) -> Iterator[Outcome]:
    """What came of nodes, once they are saved."""
    together.settle()
    came = together.came()
    for outcome in run:
        its = came.get(outcome.name)
        if outcome.error or its is None:
            yield outcome
            continue
        found = _saved_already(work, its) if isinstance(its, NodeattrsError) else its
        if found is None:
            yield replace(outcome, error=str(its), code=getattr(its, "code", ""))
        else:
            yield replace(outcome, error=found.noted.error, revision=found.number)


def _one(work: _Work, item: _Item, together: Together | None = None) -> Outcome:
    """What came of one node. together: what takes what it leaves"""
    began = time.perf_counter()
    name = _name(item)
    collect, error, revision, collected = work.collect, "", None, None
    code = ""
    log: list[LogLine] = []
    try:
        worker = _worker(work)
        store = together.over(worker.store) if together else worker.store
        session, revision = _session(work, worker, store, item, log)
        collected = collect(name, session, log) if collect else None
    except FleetError:
        raise
    except NodeattrsError as problem:
        if (found := _saved_already(work, problem)) is not None:
            return Outcome(name, found.noted.error, "", found.number, time.perf_counter() - began)
        error, code = str(problem), problem.code
        collected = collect(name, problem, log) if collect else None
    return Outcome(name, error, code, revision, time.perf_counter() - began, collected)


def _session(work: _Work, worker: _Worker, store: Store, item: _Item, log: list[LogLine]) -> tuple[Session, int | None]:
    """The run of a node, and the number of the revision that it left."""
    fleet, name, repository = work.fleet, _name(item), worker.repository
    call = work.call if work.is_given_twice else ""
    last = last_of(repository, store, name)
    if call and last is not None and last.saved.noted.fleet == call and last.saved.revision is not None:
        raise AlreadyRun(last.saved.revision)
    facts = worker.facts_of(item)
    wanted = Wanted(facts, fleet.run_list, fleet.override_run_list, fleet.environment, worker.json_attributes)
    if fleet.save and not fleet.new and last is None:
        require_known(repository, store, name, facts)
    apply = partial(work.apply, name) if work.apply else None
    try:
        session = run(repository, store, name, wanted, last, apply=apply, log=log.append, fleet=call)
    except NodeattrsError as error:
        if fleet.save:
            save_failed(repository, store, name, wanted, last, error, fleet=call)
        raise
    if not fleet.save:
        return session, None
    revision = store.save(session.saved, None if fleet.force else session.follows)
    return replace(session, place=store.describe()), revision.number if revision else None


def _saved_already(work: _Work, problem: NodeattrsError) -> Revision | None:
    """The revision that another worker has saved in this call: one that was given the node before, and had not died."""
    found = problem.found if isinstance(problem, NewerRevision | AlreadyRun) else None
    return found if found is not None and found.noted.fleet == work.call else None


class _Worker:
    """What one process has open for a fleet. late: somebody is going to look at what changed"""

    def __init__(self, fleet: Fleet, opened: Repository | None, late: bool) -> None:
        self._fleet, self._late = fleet, late
        place = fleet.repository
        if fleet.shipped:
            self._folder = held(fleet.content)  # it is there as long as we are
            place = self._folder.name
        elif fleet.content:
            _require_same(fleet)
        self.repository = opened or Repository(place, asked=fleet.asked)
        self.store = open_store(fleet.store)

    @cached_property
    def json_attributes(self) -> Document | None:
        """Those of all nodes."""
        given = self._fleet.json_attributes
        return read(Path(given), self.repository.shown(Path(given))) if isinstance(given, str) else given

    def facts_of(self, item: _Item) -> Facts:
        """Those of a node. raises: as `load_facts`; BadArgument, where there are none"""
        if isinstance(item, _Sent):
            return parse_facts(zlib.decompress(item.facts), item.file, settled=True)
        given, name = self._fleet.facts, item
        if isinstance(given, Facts):
            return given
        if given is not None and not self._fleet.shipped:
            file = Path(given)
            if not file.is_dir():
                return self._shared
            file /= f"{checked_name(name, 'node')}.json"
            if file.exists() or not self._fleet.last_facts:
                return load_facts(file, self.repository.shown(file), settled=True)
        return self._last_facts(name)

    @cached_property
    def _shared(self) -> Facts:
        file = Path(str(self._fleet.facts))
        return load_facts(file, self.repository.shown(file), settled=True)

    def _last_facts(self, name: str) -> Facts:
        last = remembered(self.store, name, self.repository.config.sensitive)
        tree = last.node.automatic.to_dict() if last else {}
        if not tree:
            raise BadArgument(
                f"no facts are known of the node {name}", hint=f"put {name}.json into a directory: --facts DIR"
            )
        return Facts({key: value for key, value in tree.items() if key not in _OF_THE_RUN}, Origin("facts", "last run"))


def _require_same(fleet: Fleet) -> None:
    """raises: FleetError, where this machine has another repository than the fleet is of"""
    host = gethostname()
    if not os.path.isdir(fleet.repository):
        missing = f"there is no repository at {fleet.repository} on {host}"
        raise FleetError(missing, kind=OTHER_REPOSITORY, hint=_SHIP)
    there = digest_of(fleet.repository, _no_content(fleet))
    if there != fleet.content:
        raise FleetError(
            f"{host} has another repository at {fleet.repository}",
            kind=OTHER_REPOSITORY,
            details=[f"its content is {there[:12]}, and that of the one here {fleet.content[:12]}"],
            hint=_SHIP,
        )


_SHIP = "bring it up to date there, or send it: --ship"


@lru_cache(maxsize=4)
def _opened(work: _Work) -> _Worker:
    return _Worker(work.fleet, work.opened, work.collect is not None)


def _worker(work: _Work) -> _Worker:
    with _OPENING:  # of threads that come at once one opens
        return _opened(work)


_OPENING = Lock()

_NEEDED = (
    "nodeattrs.adapters.hiera.control",
    "nodeattrs.adapters.hiera.ruby_yaml",
    "nodeattrs.adapters.hiera.scope",
    "nodeattrs.recipe",
)
"""What nodes of most repositories need, and is loaded when the first one does."""


def _get_ready(work: _Work) -> None:
    """Load what workers need that begin as copies of this process. No code of the repository runs."""
    for name in _NEEDED:
        import_module(name)
    with suppress(NodeattrsError):  # reported for each node
        _worker(work)


def _end(work: _Work) -> None:
    """What has begun in a worker ends with it."""
    _close(work)
    if (ruby := sys.modules.get("nodeattrs.runs.ruby_files")) is not None:  # a node has asked for it
        ruby.KEPT.end()


def _close(work: _Work) -> None:
    if _opened.cache_info().currsize:
        with suppress(NodeattrsError):  # reported for each node
            _worker(work).store.close()

"""A run with a memory: what the last run saved comes in, and the new pair goes out.

It decides which node is meant, and what of a run is kept, and leaves
the run itself to `runs.run` and the files to the store. It prints nothing.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, copied, dig, near, parse
from nodeattrs.errors import BadArgument, NodeattrsError, NodeNotFound
from nodeattrs.keep import Noted, Revision, Saved, Store, filtered_snapshot, saved_document
from nodeattrs.keep.revisions import Unchanged
from nodeattrs.keep.search import parse_query, read_tree
from nodeattrs.keep.stores.texts import is_same_form
from nodeattrs.kinds import ALREADY_RUN, EMPTY_RUN_LIST
from nodeattrs.node.node import Node
from nodeattrs.runs.applying import noted_report
from nodeattrs.runs.config import Config
from nodeattrs.runs.content import Stamp
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.made_of import NOT_LOOKED, Looked, looked_over, outlined, stamps_before
from nodeattrs.runs.recipes import LogLine
from nodeattrs.runs.remembered import Remembered, remembered
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import Run, run_node
from nodeattrs.texts.documents import Document

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog, Report


@dataclass(frozen=True)
class Session:
    """What came of one node.

    run:      what the run did
    last:     the node as the last run had left it, or None where there was none
    taking:   takes the snapshot, once, when somebody asks for it
    note:     what is odd about where the node began; empty where all is well
    saved:    where the node is kept now, or None where nothing was saved
    revision: what it is there, or None
    is_same:  it is known to be made of what the last one was made of
    """

    run: Run
    last: Remembered | None
    taking: Callable[[], dict[str, Any]]
    note: str = ""
    saved: str | None = None
    revision: Revision | None = None
    is_same: bool = False

    @property
    def snapshot(self) -> dict[str, Any]:
        """What the run left behind, as far as it is kept; it shares settled facts with the node."""
        return self.taking()

    @cached_property
    def before(self) -> dict[Any, Any] | None:
        """The merged tree that the last run had left; None where none went well."""
        if self.last is None:
            return None
        tree = self.last.node.to_dict(evaluate=False)
        return tree if tree or self.last.saved.noted.ok else None

    @cached_property
    def after(self) -> dict[Any, Any]:
        """The merged tree as far as it is kept, to compare with it."""
        return Node.restore(self.snapshot).to_dict(evaluate=False)

    @cached_property
    def is_as_before(self) -> bool:
        """Whether a run that went well had left the very same: to know that nothing changed neither tree is made."""
        if self.last is None or not self.last.saved.noted.ok:
            return False
        return self.is_same or is_same_form(self.snapshot, self.last.all.snapshot)


class AlreadyRun(NodeattrsError):
    """This call of a fleet has run the node before. found: what it left"""

    entry = ALREADY_RUN

    def __init__(self, found: Revision) -> None:
        super().__init__("the node has been run before, by this fleet")
        self.found = found


_NAMES = ("fqdn", "machinename", "hostname")


def name_in(facts: Facts) -> str:
    """What a machine calls itself: its fqdn, else its host name.

    raises: BadArgument, where the facts name neither
    source: Chef's client
    """
    for key in _NAMES:
        name = facts.tree.get(key)
        if isinstance(name, str) and name:
            return name
    raise BadArgument("these facts name no machine", hint="say which node is meant: --node NAME")


def _names_in(facts: Facts) -> list[str]:
    """What a machine may be called: its names, and that of the file that describes it."""
    file = pathlib.PurePath(facts.locator.at(()).name).stem
    return [file, *(str(facts.tree.get(key)) for key in _NAMES)]


def _nobody_knows(name: str, repository: Repository, store: Store) -> NodeNotFound:
    close = near(name, {*repository.nodes(), *store.names()})
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    return NodeNotFound(
        f"nobody knows the node {name}: it is not in nodes/, not in {store.describe()}, and no facts have that name",
        hint=f"{meant}--new makes a node of that name",
    )


def perform(
    repository: Repository,
    store: Store,
    name: str,
    *,
    facts: Facts,
    run_list: Iterable[str] | None = None,
    override_run_list: Iterable[str] | None = None,
    environment: str | None = None,
    json_attributes: Document | None = None,
    save: bool = True,
    force: bool = False,
    new: bool = True,
    apply: Callable[[Catalog], Report] | None = None,
    log: Callable[[LogLine], None] | None = None,
    fleet: str = "",
    brief: bool = False,
    late: bool = False,
) -> Session:
    """Run a node, starting from what the last run saved, and save the result.

    A run that fails leaves a revision too: the node as it was, and what sort of error it was, and where. So does a
    first one, where nodes/ describes the node or a run-list was given: then nothing is known of the node
    but its environment and its run-list.

    save:   False leaves the store as it is
    force:  save even over what somebody else has saved meanwhile
    new:    False refuses to save a node that nobody knows: the store, nodes/, or facts of that name; nothing runs then
    apply:  brings the resources of the recipes into their state, before the node is saved; its report
            becomes part of the revision, and a revision whose resources failed is noted as failed
    fleet:  of a call that may give a node to two workers: noted, and what it has saved is not run again
    brief:  nobody is going to look at what the last run had left
    late:   somebody will, where it is another one: it is read when that is known, before anything is saved
    raises: as `run_node`, *apply* and the store; then what was saved before is still there;
            NewerRevision, where somebody else has saved the node since this run began; NodeNotFound, see *new*;
            AlreadyRun, see *fleet*
    """
    last = remembered(store, name, repository.config.sensitive, brief=brief or late)
    if fleet and last is not None and last.saved.noted.fleet == fleet and last.saved.revision is not None:
        raise AlreadyRun(last.saved.revision)
    if save and not new and last is None and not repository.describes(name) and name not in _names_in(facts):
        raise _nobody_knows(name, repository, store)
    stamps = _stamps(repository, store, last) if late and json_attributes is None else None
    run_list = None if run_list is None else list(run_list)
    applied = None
    try:
        run = run_node(
            repository,
            name,
            facts=facts,
            run_list=run_list,
            override_run_list=override_run_list,
            environment=environment,
            json_attributes=json_attributes,
            saved=last.normal if last else None,
            log=log,
            words={"search": search_word(store)},
        )
        if apply is not None:
            applied = apply(run.catalog)
    except NodeattrsError as error:
        if save:
            noted = _noted(repository, ok=False, error=_sort_of(error), fleet=fleet)
            _save_failed(store, last, noted, partial(_unrun, repository, name, run_list, environment, json_attributes))
        raise
    taking = cache(partial(_snapshot, run.node, repository.config))
    revision, is_same = None, False
    if save:
        noted = _noted_run(repository, run, applied, fleet)
        saved = _to_save(repository, run, last, taking, noted, facts, stamps, brief=brief, late=late)
        is_same = isinstance(saved, Unchanged)
        revision = store.save(saved, None if force else _number_of(last))
    else:
        taking()  # what cannot be taken is an error now, and not when somebody looks
    if last is None:
        run.warnings.extend(_unknown_node(run.node, repository))
    return Session(run, last, taking, last.note if last else "", store.describe() if save else None, revision, is_same)


def _stamps(repository: Repository, store: Store, last: Remembered | None) -> Mapping[str, Stamp] | None:
    """The stamps of the repository's files before the run; None where there is nothing to compare them with."""
    if last is None or last.saved.made_of == b"":
        return None
    return stamps_before(repository, os.path.abspath(store.describe()))


def _save_failed(store: Store, last: Remembered | None, noted: Noted, first: Callable[[], Saved | None]) -> None:
    """Save the node as the last run left it, or as *first* gives it. An error of the store does not hide the run's."""
    with contextlib.suppress(NodeattrsError):
        was = last.all if last else first()
        if was is not None:
            store.save(was._replace(noted=noted), _number_of(last))


def _noted_run(repository: Repository, run: Run, applied: Report | None, fleet: str) -> Noted:
    """What the revision says of a run that went well; its resources may have failed all the same."""
    if applied is None:
        return _noted(repository, ok=True, fleet=fleet)
    noop = run.catalog.noop
    return _noted(repository, ok=noop or applied.ok, report=noted_report(applied, noop=noop), fleet=fleet)


def _to_save(
    repository: Repository,
    run: Run,
    last: Remembered | None,
    taking: Callable[[], dict[str, Any]],
    noted: Noted,
    facts: Facts,
    stamps: Mapping[str, Stamp] | None,
    *,
    brief: bool,
    late: bool,
) -> Saved | Unchanged:
    """What the store is given: `Unchanged` where the node is as the last run left it. brief, late: as in `perform`"""
    config = repository.config
    looked, outline, is_same = NOT_LOOKED, b"", False
    if brief or late:
        looking = partial(looked_over, facts=facts, config=config)
        outlining = partial(outlined, run.node, last.saved.snapshot if last else None, facts, repository, stamps)
        looked, outline, is_same = _compared(last.saved if last else None, taking, looking, outlining)
    whole = partial(_whole, run.node, taking, noted, facts, config, looked, outline)
    if is_same:
        return Unchanged(run.node.name, noted, looked.hashed, whole, outline)
    if late and last is not None:
        last.all  # noqa: B018  a node whose last revision cannot be read is not saved over it
    return whole()


def _compared(
    last: Saved | None,
    taking: Callable[[], dict[str, Any]],
    looking: Callable[[dict[str, Any]], Looked],
    outlining: Callable[[], bytes],
) -> tuple[Looked, bytes, bool]:
    """What is known of the snapshot, the outline, and whether the node is as it was saved last.

    The outline comes first where there is one to compare it with; then of a node that has not changed, since one that
    has is likely to begin with something else the next time.
    """
    outline = outlining() if last is not None and last.outlined else b""
    if last is not None and outline == last.outlined != b"":
        return Looked(last.made_of), outline, True
    looked = looking(taking())
    is_same = last is not None and looked.hashed == last.made_of != b""
    return looked, outline or (outlining() if is_same else b""), is_same


def _snapshot(node: Node, config: Config) -> dict[str, Any]:
    return filtered_snapshot(node.snapshot(shared=True), config.allowed, config.blocked)


def _whole(
    node: Node,
    taking: Callable[[], dict[str, Any]],
    noted: Noted,
    facts: Facts,
    config: Config,
    looked: Looked,
    outline: bytes,
) -> Saved:
    document = saved_document(node, config.allowed, config.blocked, shared=True)
    settled = facts.tree if facts.settled else {}
    saved = Saved(node.name, document, taking(), noted=noted, settled=settled)
    return saved._replace(made_of=looked.hashed, outlined=outline, plain=looked.plain)


def _unrun(
    repository: Repository,
    name: str,
    run_list: list[str] | None,
    environment: str | None,
    json_attributes: Document | None,
) -> Saved | None:
    """A node whose first run failed: what it was to run, where that is known, and no attribute.

    None where nodes/ does not describe it and no run-list was given: a slip in a name makes no node.
    """
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


def _number_of(last: Remembered | None) -> int | None:
    """The revision that the next one follows; None where it has no number."""
    if last is None:
        return 0
    return last.saved.revision.number if last.saved.revision else None


def _noted(repository: Repository, **how: Any) -> Noted:
    return Noted(repository=commit_of(repository.root), version=VERSION, **how)


def _sort_of(error: NodeattrsError) -> str:
    """What sort of error it was, and where; its text may hold a secret, and a place is none."""
    origin = next((one for one in error.origins if isinstance(one, Origin) and one.file), None)
    file, line = (origin.file, origin.line) if origin else (getattr(error, "file", None), getattr(error, "line", None))
    place = ":".join(str(part) for part in (file, line) if part is not None)
    return f"{type(error).__name__} at {place}" if place else type(error).__name__


def commit_of(root: pathlib.Path) -> str:
    """The commit that a repository kept in git is at; "" where that is not known. Starts no program."""
    with border.held(None):  # what it reads is a commit, or nothing
        return _commit_of(root)


def _commit_of(root: pathlib.Path) -> str:
    git = next((folder / ".git" for folder in (root, *root.parents) if os.path.isdir(f"{folder}/.git")), None)
    if git is None:
        return ""
    try:
        head = _text(git / "HEAD").strip()
        kind, _, name = head.partition("ref: ")
        if kind or not name:
            return _as_commit(head)
        with contextlib.suppress(FileNotFoundError):
            return _as_commit(_text(git / name).strip())
        for line in _text(git / "packed-refs").splitlines():
            commit, _, its = line.partition(" ")
            if its == name:
                return _as_commit(commit)
    except (OSError, ValueError):
        pass
    return ""


def _text(file: pathlib.Path) -> str:
    """The text of a regular file; "" for a pipe or a device, which would be waited for. raises: OSError, ValueError"""
    return file.read_text(encoding="utf-8") if file.is_file() or not file.exists() else ""


def _as_commit(text: str) -> str:
    return text if 40 <= len(text) <= 64 and set(text) <= set("0123456789abcdef") else ""


def search_word(store: Store) -> Callable[..., list[dict[str, Any]]]:
    """The word `search` of recipes: kept nodes, by name, in Chef's query language or our own terms."""

    def search(index: str, query: str = "*:*", attributes: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """What each of the nodes reads, as plain data; with *attributes* (name -> path) only these, None where absent.

        raises: BadArgument, QueryNotUnderstood, QueryNotSupported, MissingExtra
        """
        if index != "node":
            raise BadArgument(f"{index!r} cannot be searched, only nodes", hint='write search("node", "role:db")')
        names = store.search(parse_query(query))
        trees = [read_tree(saved.document) for saved in map(store.load, names) if saved is not None]
        if attributes is None:
            return [copied(tree) for tree in trees]
        paths = {title: parse(path) for title, path in attributes.items()}
        found = [{title: dig(tree, path) for title, path in paths.items()} for tree in trees]
        return [{title: None if value is ABSENT else copied(value) for title, value in one.items()} for one in found]

    return search


def _unknown_node(node: Node, repository: Repository) -> Iterator[NodeattrsError]:
    """What to say of a node that nobody has described: its name may be a slip."""
    if node.run_list or repository.node_document(node.name) is not None:
        return
    close = near(node.name, repository.nodes())
    hint = f"did you mean {' or '.join(close)}?" if close else "give it one with --run-list, or in nodes/"
    warning = NodeattrsError(f"the node {node.name} has an empty run-list: nothing was known of it", hint=hint)
    warning.kind = EMPTY_RUN_LIST
    yield warning

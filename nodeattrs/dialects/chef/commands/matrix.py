"""`nodeattrs matrix`: one attribute on many nodes, grouped by value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any
from zlib import crc32

from nodeattrs.contract.argument_values import path_of
from nodeattrs.contract.arguments import ALL_NAMES, NO_SHARING, RUBY, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sharing import SampledAnswers, shared_answers
from nodeattrs.contract.sides import folder_side
from nodeattrs.core.looks import KEYS, TREE, quietly
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.core.unread import unresolved
from nodeattrs.dialects.chef.commands.arguments import COOKBOOK_PATH, facts_of
from nodeattrs.dialects.chef.commands.inputs import facts_place, own_facts, repository_of
from nodeattrs.dialects.chef.opened import Nodes
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.session import Session, wrong_machine_warnings, wrong_machine_warnings_of
from nodeattrs.dialects.common import saved_nodes_of
from nodeattrs.errors import BadUsage, NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.kinds import NOT_LITERAL
from nodeattrs.node.documents import json_ready
from nodeattrs.node.node import Node
from nodeattrs.node.running import merged_shared
from nodeattrs.node.watched import looks_of
from nodeattrs.reports.explain import way_to
from nodeattrs.reports.matrix import Cell, Matrix, names_of
from nodeattrs.reports.values import unread_at
from nodeattrs.store import Store, open_store
from nodeattrs.store.saved_nodes import load_saved_or_raise
from nodeattrs.store.search import parse_query
from nodeattrs.store.search.doubts import NodesByValue

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.fleet import Fleet

_DESCRIPTION = """\
Group nodes by the value that they read at a path, the largest group first, with the lines that set it.
From what was saved, or with --repo from runs made now, which save nothing. Where nothing is saved, the nodes, hosts
and sets of every dialect are asked, and no code of the repository runs."""
_EXAMPLES = (
    "matrix app.workers",
    "matrix apache2.listen_ports --query role:web",
    "matrix app.workers --repo cookbooks_example --facts cookbooks_example/facts",
)
_EXITS = {
    0: "printed",
    1: "set on none, or a node could not be read",
    2: "not understood",
    5: "printed, and an unknown layer may\n  override something",
}


_ARGUMENTS = (
    Argument(("key",), "such as app.workers", {"metavar": "PATH"}),
    Argument(("--repo",), "run the nodes of this repository, and save nothing", {"metavar": "DIR"}),
    Argument(("--node",), "only this node; may be repeated", {"metavar": "NAME", "action": "append"}, choice="which"),
    Argument(
        ("--query",), "only the saved nodes that `nodeattrs search QUERY` finds", {"metavar": "QUERY"}, choice="which"
    ),
    Argument(
        ("--environment", "-E"),
        "with --repo: the environment of all nodes",
        {"metavar": "NAME"},
    ),
    Argument(("--roles-only",), "with --repo: no cookbook is read", {"action": "store_true"}),
    Argument(
        ("--count",),
        "without --repo: count by the index of the store; who set a value is looked up on one node of each group",
        {"action": "store_true"},
    ),
    COOKBOOK_PATH,
    ALL_NAMES,
    NO_SHARING._replace(help="with --repo: share no answers: compute each node"),
    Argument(("--jobs",), "with --repo: how many nodes at a time", {"metavar": "N", "type": int}),
    *RUBY,
    *STORE,
    *output(),
    *facts_of(
        "with --repo: a directory with NODE.json in it",
        "facts/ of the repository, else the facts of the last run",
    ),
)


def _perform(question: Question) -> Output:
    """Group many nodes by the value of one path. The exit code is 1 if a node cannot be read, or no node has the path.

    raises: NotFound, if no node is selected
    """
    asked = question.arguments
    path = path_of(asked["key"])
    if asked["count"] and (asked["repo"] is not None or not path):
        raise BadUsage("--count is about one path of saved nodes: leave --repo out")
    alike: dict[Any, Cell] = {}  # equal cells share one object
    found = _kept(question, path) if asked["repo"] is None else _run(question, path)
    cells = sorted(
        ((name, alike.setdefault((cell.key, cell.origins, cell.notes, cell.unread), cell)) for name, cell in found),
        key=lambda cell: cell[0],
    )
    if not cells:
        raise NotFound("there is no such node", hint="`nodeattrs status` lists those that are kept")
    matrix = Matrix(spell(path) if path else "(root)", cells, names_of(asked))
    unread = [one for _, cell in cells for one in cell.unread]
    unread += [unresolved(name, str(cell.value), "node") for name, cell in cells if _is_code(cell.value)]
    failed = [cell.value for _, cell in cells if isinstance(cell.value, NodeattrsError)]
    is_failed = any(not (isinstance(error, NoSuchAttribute) or _is_code(error)) for error in failed)
    return Output(matrix, int(is_failed or not (matrix.is_set or unread)), unread=unread)


def _is_code(value: object) -> bool:
    """Whether a value is the error for a file that is not a literal."""
    return isinstance(value, NodeattrsError) and value.kind == NOT_LITERAL


def _kept(question: Question, path: Path) -> Iterator[tuple[str, Cell]]:
    asked = question.arguments
    store, sensitive = saved_nodes_of(question.settings)

    def cell(name: str) -> Cell:
        try:
            return _cell_of(load_saved_or_raise(store, name, sensitive).node, path)
        except NodeattrsError as error:
            return Cell(error)

    names = _names(question, None)
    yield from _counted(store, path, names, cell) if asked["count"] else ((name, cell(name)) for name in names)


_MOST_VALUES = 50
"""The number of values that --count looks at."""

_ALONE = 8
"""--count stops after this number of values in a row that only one node has, such as its name."""


def _counted(store: Store, path: Path, names: list[str], cell: Callable[[str], Cell]) -> Iterator[tuple[str, Cell]]:
    """Yield (name, cell). One node of each group is loaded; the index of the store finds the others with its value.

    If there are too many values, the nodes that are left have a cell that says so.
    """
    alike, looked, alone = NodesByValue(store, path), 0, 0
    left = dict.fromkeys(sorted(names, key=lambda name: crc32(name.encode())))  # an order that does not depend on names
    while left and looked < _MOST_VALUES and alone < _ALONE:
        name, looked = next(iter(left)), looked + 1
        found = cell(name)
        value = ABSENT if isinstance(found.value, NoSuchAttribute) else found.value
        others = None if isinstance(value, NodeattrsError) else alike.with_value(value)
        group = [one for one in left if one in (others or ()) and one != name]
        alone = 0 if group else alone + 1
        note = f"who set it was looked up on {name}; {len(group)} more were counted by the index"
        yield name, replace(found, notes=(*found.notes, note)) if group else found
        for one in group:
            yield one, found
            del left[one]
        del left[name]
    many = NotFound(f"there are more than {looked} values: these were not looked at", hint="ask without --count")
    yield from ((name, Cell(many, is_skipped=True)) for name in left)


def _names(question: Question, repository: Repository | None) -> list[str]:
    asked = question.arguments
    if asked["node"]:
        return list(dict.fromkeys(asked["node"]))
    if asked["query"] is None:
        return repository.nodes() if repository is not None else open_store(question.settings.store).names()
    return open_store(question.settings.store).search(parse_query(asked["query"]))


def _run(question: Question, path: Path) -> Iterator[tuple[str, Cell]]:
    from nodeattrs.dialects.chef.fleet import Fleet, resolve

    asked = question.arguments
    repository = repository_of(question)
    names = _names(question, repository)
    fleet = Fleet(
        os.path.abspath(repository.root),
        question.settings.store,
        facts_place(question, repository) or own_facts(question, repository, names),
        asked["environment"],
        save=False,
        options=repository.options,
    )
    shared = {} if asked["no_sharing"] else _shared(question, fleet, names, path)
    yield from shared.items()
    names = [name for name in names if name not in shared]
    for came in resolve(fleet, names, jobs=asked["jobs"], collect=partial(_collected, path)):
        cell, warnings = came.collected or (Cell(NodeattrsError(came.error)), ())
        question.caller.warn(warnings)
        yield came.name, cell


_TRIED = 24
"""The nodes that are run first: if none of them shares an answer, several processes run the others."""


def _shared(question: Question, fleet: Fleet, names: Sequence[str], path: Path) -> dict[str, Cell]:
    """Node -> cell, for nodes that were run here because they may share answers; {} if sharing is not possible.

    It is not possible if a store has saved nodes, since a run starts from them.
    """
    asked = question.arguments
    has_store = open_store(question.settings.store).is_there()
    if has_store or asked["ruby"] or asked["cookbook_path"] or not isinstance(fleet.facts, str):
        return {}
    request = Request(facts=fleet.facts, environment=asked["environment"] or "", roles_only=bool(asked["roles_only"]))
    opened = Nodes(folder_side(FilePath(fleet.repository), later=True), request)
    known = {*opened.repository.nodes()}
    fit = [name for name in names if name in known and os.path.isfile(f"{fleet.facts}/{name}.json")]

    def warned(some: Sequence[str]) -> Iterator[str]:
        for name in some:
            yield name
            facts = opened.facts(name)
            question.caller.warn([*wrong_machine_warnings_of(facts.tree, facts.place, name)])

    def found(some: Sequence[str]) -> SampledAnswers[Cell]:
        return shared_answers(opened, warned(some), partial(_shared_cell, opened, path), _texts_of)

    tried = found(fit[:_TRIED])
    more = found(fit[_TRIED:]) if tried.shared else tried
    question.caller.warn(filter(None, (tried.note, more.note)))
    return {**tried.answers, **more.answers}


def _texts_of(cell: Cell) -> object:
    return cell.key, str(cell.value), cell.origins, cell.unread


def _shared_cell(opened: Nodes, path: Path, name: str) -> Cell:
    """Run a node; returns the value of a path, or the error. `opened.looks` gets what the run read."""
    try:
        return _cell_of(opened.run(name).node, path)
    except NodeattrsError as error:
        if opened.looks is not None:
            opened.looks.refuse("it cannot be run")
        return Cell(error)


def _collected(path: Path, name: str, session: Session | NodeattrsError, log: Any) -> tuple[Cell, list[str]]:
    """Returns (the cell of a run, its warnings); called in the worker."""
    if isinstance(session, NodeattrsError):
        return Cell(session), []
    return _cell_of(session.run.node, path), [*wrong_machine_warnings(session.run)]


def _cell_of(node: Node, path: Path) -> Cell:
    """The value of a path on a node, as a Cell; a NoSuchAttribute with a hint where the path is not set."""
    trace = node.trace(path)
    unread = tuple(unread_at(node, path))
    if not trace.found:
        hint = _hint_near(node, path)
        return Cell(NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=hint), unread=unread)
    return Cell(json_ready(trace.value, path), trace.origins, unread=unread)


def _hint_near(node: Node, path: Path) -> str | None:
    """A hint for a path that is not set: what is set near it, or None. The keys that it looks at are noted."""
    looks = looks_of(node)
    if looks is not None:
        looks.note(KEYS, ())
        looks.note(TREE, path[:1])
    with quietly(looks):
        return way_to(merged_shared(node), path)


COMMANDS = {"matrix": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, _EXITS, _perform, (), unsaved="matrix")}

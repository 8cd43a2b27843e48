"""The commands of `nodeattrs bindings`: check, inject, explain, list, graph and matrix, declared in `COMMANDS`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.contract.arguments import ALL_NAMES
from nodeattrs.contract.command import Argument, CheckFindings, Command, Output, Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import parse
from nodeattrs.core.unread import Unread, unread_in
from nodeattrs.dialects.bindings.checking import MOST, count_of, findings_of, states_of, title_of
from nodeattrs.dialects.bindings.composition import Composition
from nodeattrs.dialects.bindings.injector import Injector
from nodeattrs.dialects.bindings.model.faults import NotBound
from nodeattrs.dialects.bindings.model.types import Asked, parse_type
from nodeattrs.dialects.bindings.opened import BindingKeys
from nodeattrs.dialects.bindings.reports import ListedBindings, explained_binding, injected_value
from nodeattrs.errors import BadUsage, NodeattrsError, NotFound
from nodeattrs.reports.matrix import Cell, Matrix, names_of

_EXITS = {0: "done", 1: "failed", 2: "usage", 5: "unknown layer"}
_NO_SUCH_KEY = "no_such_key"
"""A key that no site binds. The unread layers that may set it may set any key."""
_FLAG: Mapping[str, Any] = {"action": "store_true"}

_KEY = (
    Argument(("key",), 'a name such as ssh::port or /classes; "" with --type is the type alone', {"metavar": "KEY"}),
    Argument(("--type",), "such as Integer, Array[String]: the value must conform", {"metavar": "TYPE"}),
)
_NODE = Argument(("--node",), "whose bindings (default: fqdn of the facts)", {"metavar": "NAME", "default": ""}, "site")
_SITE = (
    Argument(
        ("--site",),
        "where bindings, modules and manifests are (default: as nodeattrs.toml says, or .)",
        {"metavar": "DIR"},
        "site",
    ),
    Argument(
        ("--environment", "-E"),
        "its environment (default: what the site selects)",
        {"metavar": "NAME"},
        "site",
    ),
    Argument(
        ("--facts",),
        "facts of the node, JSON or YAML; they decide the categories (default: facts/, then the last run)",
        {"metavar": "PLACE"},
        "site",
    ),
    Argument(("--enc",), "what an external node classifier wrote, for enc:", {"metavar": "FILE"}, "site"),
    Argument(("--documented",), "the letter of ARM-8: of several categories the highest alone ranks", _FLAG, "site"),
)


def _mode(question: Question) -> str:
    return "documented" if question.arguments["documented"] else "tuple"


def _check(question: Question) -> Output:
    """The findings of one node, or of all nodes and combinations, with the counts of what was looked at."""
    asked, looked = question.arguments, dict[str, int]()
    if not asked["all_nodes"]:
        injector = _composition(question).injector(lenient=True)
        found = findings_of([("", injector)])
        looked = {"key": len(injector.keys()), "fragment": sum(map(len, injector.resolution.fragments.values()))}
    else:
        found = findings_of(_everywhere(question, looked))
    return Output(checked=CheckFindings([*found], looked, str(_opened(question).side.root)))


def _everywhere(question: Question, looked: dict[str, int]) -> Iterator[tuple[str, Injector]]:
    """(the node or the categories in words, the injector) for every node and every combination of categories."""
    opened, names = _subjects(question)
    looked |= {"node": len(names), "combination": 0}
    done: set[str] = set()
    for name in names:
        site = opened.site(name, _mode(question))
        yield f"node {name}" if name else "no node", site.injector(lenient=True)
        environment = site.environment.name if site.environment is not None else ""
        if environment in done:
            continue
        done.add(environment)
        if (count := count_of(site.layers, site.state)) > MOST:
            question.caller.warn([f"of {count} combinations of categories the first {MOST} were checked"])
        for state in states_of(site.layers, site.state):
            looked["combination"] += 1
            yield title_of(state), Injector(site.layers, state, faults=site.faults, lenient=True)


def _matrix(question: Question) -> Output:
    """The value of a key on each node; a node whose injector cannot be built has its error as value."""
    opened, names = _subjects(question)
    asked = _requested_key(question)
    cells = []
    unread: list[Unread] = []
    has_failed = False
    for name in names:
        injector: Injector | None = None
        try:
            injector = opened.site(name, _mode(question)).injector(lenient=True)
            question.caller.warn(injector.faults)
            value = injector.inject(asked)
            trace = injector.explain(asked).trace()
            unread += [*unread_in(trace.unknown), *_open(injector, asked)]
            cells.append((name, Cell(value, trace.origins)))
        except NodeattrsError as error:
            found = [] if injector is None else _doubts(injector, asked)
            has_failed |= not (found and isinstance(error, NotBound))
            unread += found
            cells.append((name, Cell(error)))
    return Output(Matrix(str(asked), cells, names_of(question.arguments)), int(has_failed), unread=unread)


def _open(injector: Injector, asked: Asked) -> list[Unread]:
    """The blocks below conditions that may hold, and that may bind a key."""
    return [one for one in injector.resolution.unread_blocks() if one.may_set((asked.name or "",))]


def _doubts(injector: Injector, asked: Asked) -> list[Unread]:
    """The unread layers and the blocks below open conditions that may bind a key."""
    return [*unread_in(injector.unknown_layers(asked)), *_open(injector, asked)]


def _subjects(question: Question) -> tuple[BindingKeys, list[str]]:
    """The site, and the names of the nodes of the repository, its store and its facts. raises: NotFound"""
    opened, node = _opened(question, question.arguments["enc"] or ""), question.arguments["node"]
    if not opened.place.is_dir():
        raise NotFound(f"there are no bindings in {opened.place}", hint="name the folder of the site: --site DIR")
    return opened, [node] if node else sorted(opened.subjects())


def _opened(question: Question, enc: str = "") -> BindingKeys:
    """The site of the arguments: of the repository, or of a folder alone. enc: the classifier's answers by node"""
    asked, settings = question.arguments, question.settings
    site, repository = asked["site"], settings.repository
    root = Path(os.path.realpath(repository.root if repository is not None else site or "."))
    request = Request(
        facts=asked["facts"] or "",
        store=settings.store if "://" in settings.store or os.path.exists(settings.store) else "",
        enc=enc,
        environment=asked["environment"] or "",
        places=(("bindings", site),) if site else (),
    )
    return BindingKeys(Side(root.name, root, root, {}), request)


def _inject(question: Question) -> Output:
    """The value of a key, or the default. Else an error; its code is 0 if an unread place may bind the key."""
    injector, asked, default = _injector(question), _requested_key(question), question.arguments["default"]
    unread = _doubts(injector, asked)
    try:
        value = injector.inject(asked) if default is None else injector.get(asked, default=default)
    except NotBound as error:
        return Output(code=0 if unread else 1, error=error, unread=unread)
    return Output(injected_value(str(asked), value), unread=unread)


def _explain(question: Question) -> Output:
    """The explanation of a key, or of a path of its value; an error if nothing is declared."""
    injector, asked = _injector(question), _requested_key(question)
    explanation = injector.explain(asked)
    if explanation.problem is not None and not explanation.trace().claims:
        try:
            injector.inject(asked)  # this error has near misses
        except NotBound as error:
            unread = _doubts(injector, asked)
            return Output(code=0 if unread else 1, error=error, unread=unread)
    path = question.arguments["path"]
    report = explained_binding(explanation, parse(path) if path else (), question.arguments["because"])
    if question.arguments["strict"]:
        report.trace.require_known()
    return Output(report, unread=[*unread_in(report.trace.unknown), *_open(injector, asked)])


def _list(question: Question) -> Output:
    injector = _injector(question)
    unread = [*unread_in(injector.unknown_layers(_NO_SUCH_KEY)), *injector.resolution.unread_blocks()]
    return Output(ListedBindings(injector, question.arguments["prefix"]), unread=unread)


def _graph(question: Question) -> Output:
    return Output(_injector(question).graph())


def _injector(question: Question) -> Injector:
    """The injector of the arguments; errors about other keys are printed as warnings. raises: BindingError"""
    is_strict = "default" in question.arguments and question.arguments["strict"]
    injector = _composition(question).injector(strict=is_strict, lenient=True)
    question.caller.warn([*injector.faults, *injector.resolution.warnings])
    return injector


def _requested_key(question: Question) -> Asked:
    """The key of the arguments. raises: BadUsage, for an empty KEY without a type"""
    key, text = question.arguments["key"], question.arguments["type"]
    of = parse_type(text) if text else None
    if of is None and not key:
        raise BadUsage("an empty KEY needs --type")
    return Asked(of, key or None)


def _composition(question: Question) -> Composition:
    """The site of the arguments for one node. raises: NotFound, without bindings"""
    asked = question.arguments
    site = _opened(question).site(asked["node"], _mode(question), asked["enc"])
    if not site.files and not site.faults and asked["enc"] is None:
        raise NotFound(
            f"there are no bindings in {asked['site'] or '.'}",
            hint="name a folder with manifests/site.pp, bindings/ or modules/*/bindings/: --site DIR",
        )
    return site


COMMANDS: Mapping[str, Command] = {
    "check": Command(
        "report every mistake; the exit code is 1 if there is one",
        "",
        [
            Argument(
                ("--all-nodes",),
                "every node that is known, and every combination of categories that a binding names",
                _FLAG,
            ),
            _NODE,
            *_SITE,
        ],
        ("check --site cookbooks_example/bindings",),
        {},
        _check,
        ("code", "checking"),
    ),
    "inject": Command(
        "print the value of a key",
        "",
        [
            *_KEY,
            Argument(("--default",), "what to print where nothing is bound (default: an error)", {"metavar": "TEXT"}),
            _NODE,
            *_SITE,
        ],
        ("inject shop::host --site cookbooks_example/bindings",),
        _EXITS,
        _inject,
        ("strict", "code", "output"),
    ),
    "explain": Command(
        "print the line that binds a key, what it overrides, and the rule",
        "",
        [
            *_KEY,
            Argument(("--because",), "also the lines that make a declaration count", _FLAG),
            Argument(("--path",), "a path inside the value, such as users.0.name", {"metavar": "PATH"}),
            _NODE,
            *_SITE,
        ],
        ("explain shop::host --environment staging --site cookbooks_example/bindings",),
        _EXITS,
        _explain,
        ("strict", "code", "output"),
    ),
    "list": Command(
        "print every key, with its value and line",
        "",
        [
            Argument(("prefix",), "only keys that begin with this", {"metavar": "PREFIX", "nargs": "?", "default": ""}),
            _NODE,
            *_SITE,
        ],
        ("list shop --site cookbooks_example/bindings",),
        {},
        _list,
        ("code", "output"),
    ),
    "graph": Command(
        "print which key looks up which, for Graphviz",
        "",
        [_NODE, *_SITE],
        ("graph --site cookbooks_example/bindings",),
        {},
        _graph,
        ("code", "output"),
    ),
    "matrix": Command(
        "print the values that a key has, each with its line and nodes",
        "",
        [*_KEY, _NODE._replace(help="only this node"), ALL_NAMES, *_SITE],
        ("matrix shop::host --site cookbooks_example/bindings --facts cookbooks_example/facts",),
        _EXITS,
        _matrix,
        ("code", "output"),
    ),
}

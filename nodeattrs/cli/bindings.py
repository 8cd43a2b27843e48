"""`nodeattrs bindings`: check, inject, explain, list and draw bindings."""

from __future__ import annotations

import argparse
import os
import pathlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeattrs.cli import what_if
from nodeattrs.cli.checks import add_checking, finish
from nodeattrs.cli.exits import DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER, described
from nodeattrs.cli.options import (
    actions_of,
    add_output,
    add_run_code,
    add_strict,
    found_repository,
    path_of,
    settings_of,
    store_of,
)
from nodeattrs.cli.terminal import Terminal
from nodeattrs.kinds import LAYER_IS_UNKNOWN

if TYPE_CHECKING:
    from nodeattrs.adapters.bindings import Asked, Composition, Injector
    from nodeattrs.dialects.bindings.opened import BindingKeys

SUMMARY = "check, inject and explain bindings of a site"
DESCRIPTION = """\
Read the bindings of a site in their layers, for one node: find everything that is wrong before anything
runs, give the value of a key, and say why it won. docs/bindings.md says how they are written."""
EXAMPLES = """\
examples:
  nodeattrs bindings check --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings inject ssh::port --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings explain ssh::port --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings check --all-nodes --site cookbooks_example/bindings
  nodeattrs bindings matrix shop::workers --site cookbooks_example/bindings --facts cookbooks_example/facts
  nodeattrs bindings what-if --without resolutions --site cookbooks_example/bindings
  nodeattrs bindings graph --site cookbooks_example/bindings | dot -Tsvg > bindings.svg
"""

_SUMMARIES = {
    "check": "report everything that is wrong, at once; the exit code is 1 if anything is",
    "inject": "print the value of a key",
    "explain": "say who bound a key, whom that shadows and by which rule",
    "list": "print every key, with what it gives and where that stands",
    "graph": "print who looks up whom, in the language of Graphviz",
    "matrix": "print the values that a key has on many nodes, each with who set it and on which nodes",
    "what-if": "say which keys would change without a layer, a file or a line",
}
_NOBODYS_KEY = "no_such_key"
_CODES = dict.fromkeys(("inject", "explain", "matrix"), described(DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: seven of its own."""
    for name, one in actions_of(parser, _SUMMARIES, _CODES):
        if name == "what-if":
            what_if.add_options(one)
            one.set_defaults(dialect=["bindings"])
            continue
        if name in ("inject", "explain", "matrix"):
            one.add_argument(
                "key", metavar="KEY", help='a name such as ssh::port or /classes; "" with --type is the type alone'
            )
            one.add_argument("--type", metavar="TYPE", help="such as Integer, Array[String]: the value must conform")
        if name in ("inject", "explain"):
            add_strict(one)
        if name == "explain":
            one.add_argument("--all", action="store_true", help="also the lines that decided who has a say")
            one.add_argument("--path", metavar="PATH", help="what stands there in the value, such as users.0.name")
        if name == "inject":
            one.add_argument(
                "--default", metavar="TEXT", help="what to print where nothing is bound (default: an error)"
            )
        if name == "list":
            one.add_argument("prefix", metavar="PREFIX", nargs="?", default="", help="only keys that begin so")
        if name == "check":
            one.add_argument(
                "--all-nodes",
                action="store_true",
                help="every node that is known, and every combination of categories that a binding names",
            )
        _add_site(one, many=name == "matrix")
        add_run_code(one)
        (add_checking if name == "check" else add_output)(one)


def _add_site(parser: argparse.ArgumentParser, many: bool) -> None:
    group = parser.add_argument_group("site")
    group.add_argument(
        "--site",
        metavar="DIR",
        help="where bindings, modules and manifests are (default: as nodeattrs.toml says, or .)",
    )
    who = "only this node" if many else "whose bindings (default: fqdn of the facts)"
    group.add_argument("--node", metavar="NAME", default="", help=who)
    group.add_argument("--environment", "-E", metavar="NAME", help="its environment (default: what the site selects)")
    group.add_argument("--facts", metavar="FILE", help="facts of the node, JSON or YAML; categories are made of them")
    group.add_argument("--classifier", metavar="FILE", help="what an external node classifier wrote, for enc:")
    group.add_argument(
        "--documented", action="store_true", help="the letter of ARM-8: of several categories the highest alone ranks"
    )


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the seven."""
    done = {
        "check": _check, "inject": _inject, "explain": _explain, "list": _list, "graph": _graph, "matrix": _matrix,
        "what-if": what_if.perform,
    }  # fmt: skip
    return done[options.action](options, terminal)


def _check(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import findings_of

    looked: dict[str, int] = {}
    if not options.all_nodes:
        injector = _composition(options).injector(lenient=True)
        found = findings_of([("", injector)])
        looked = {"key": len(injector.keys()), "fragment": sum(map(len, injector.resolution.fragments.values()))}
    else:
        found = findings_of(_everywhere(options, terminal, looked))
    repository = settings_of(options).repository
    root = options.site or (str(repository.root) if repository is not None else ".")
    return finish(options, terminal, list(found), looked, repository, root)


def _everywhere(
    options: argparse.Namespace, terminal: Terminal, looked: dict[str, int]
) -> Iterator[tuple[str, Injector]]:
    """The injector of every node, and of every combination of categories; who that is, in words."""
    from nodeattrs.adapters.bindings import Injector
    from nodeattrs.adapters.bindings.combinations import MOST, count_of, states_of, title_of

    opened, names = _subjects(options)
    looked |= {"node": len(names), "combination": 0}
    done: set[str] = set()
    for name in names:
        site = opened.site(name, _mode(options))
        yield f"node {name}" if name else "nobody in particular", site.injector(lenient=True)
        environment = site.environment.name if site.environment is not None else ""
        if environment in done:
            continue
        done.add(environment)
        if (count := count_of(site.layers, site.state)) > MOST:
            terminal.warn([f"of {count} combinations of categories the first {MOST} were checked"])
        for state in states_of(site.layers, site.state):
            looked["combination"] += 1
            yield title_of(state), Injector(site.layers, state, faults=site.faults, lenient=True)


def _matrix(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.errors import NodeattrsError
    from nodeattrs.reports.matrix import Cell, Matrix

    opened, names = _subjects(options)
    asked = _asked(options)
    cells = []
    for name in names:
        try:
            injector = opened.site(name, _mode(options)).injector(lenient=True)
            terminal.warn(injector.faults)
            value = injector.inject(asked)
            trace = injector.explain(asked).trace()
            notes = tuple(f"{claim.origin} may override it: it was not read" for claim in trace.unknown)
            cells.append((name, Cell(value, trace.origins, notes)))
        except NodeattrsError as error:
            cells.append((name, Cell(error)))
    terminal.report(Matrix(str(asked), cells))
    if any(isinstance(cell.value, NodeattrsError) for _, cell in cells):
        return FAILED
    return UNKNOWN_LAYER if any(cell.notes for _, cell in cells) else 0


def _subjects(options: argparse.Namespace) -> tuple[BindingKeys, list[str]]:
    """The site, and the nodes that are asked: of the repository, its store and its facts. raises: NotFound"""
    from nodeattrs.contract.request import Request
    from nodeattrs.contract.sides import Side
    from nodeattrs.dialects.bindings.opened import BindingKeys
    from nodeattrs.errors import NotFound

    settings = settings_of(options)
    root = Path(os.path.realpath(settings.repository.root if settings.repository is not None else options.site or "."))
    store = settings.store if "://" in settings.store or os.path.exists(settings.store) else ""
    places = (("bindings", options.site),) if options.site else ()
    request = Request("", (), options.facts or "", store, options.classifier or "", options.environment or "", places)
    opened = BindingKeys(Side(root.name, root, root, {}), request)
    if not opened.place.is_dir():
        raise NotFound(f"there are no bindings in {opened.place}", hint="name the folder of the site: --site DIR")
    return opened, [options.node] if options.node else sorted(opened.subjects())


def _inject(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import InjectedValue
    from nodeattrs.reports.undecided import Undecided, words_of

    injector, asked = _injector(options, terminal), _asked(options)
    value = injector.inject(asked) if options.default is None else injector.get(asked, default=options.default)
    unknown = Undecided.of(injector.unknown_layers(asked))
    terminal.report(InjectedValue(str(asked), value, unknown))
    terminal.warn(words_of({str(asked): unknown}), LAYER_IS_UNKNOWN.entry)
    return UNKNOWN_LAYER if unknown else 0


def _explain(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.bindings import NotBound
    from nodeattrs.adapters.bindings.codes import MISSING
    from nodeattrs.reports.bindings import explained_binding

    injector, asked = _injector(options, terminal), _asked(options)
    explanation = injector.explain(asked)
    if explanation.problem is not None and not explanation.trace().claims:
        injector.inject(asked)  # says what is missing, with near misses
        raise NotBound(MISSING, explanation.problem)
    report = explained_binding(explanation, path_of(options.path), options.all)
    if options.strict:
        report.trace.require_known()
    terminal.report(report)
    return UNKNOWN_LAYER if report.trace.unknown else 0


def _list(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import ListedBindings
    from nodeattrs.reports.undecided import Undecided, words_of

    injector = _injector(options, terminal)
    terminal.report(ListedBindings(injector, options.prefix))
    unknown = Undecided.of(injector.unknown_layers(_NOBODYS_KEY))
    terminal.warn(words_of({"the list": unknown}), LAYER_IS_UNKNOWN.entry)
    return UNKNOWN_LAYER if unknown else 0


def _graph(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import BindingGraph

    terminal.report(BindingGraph(_injector(options, terminal).graph()))
    return 0


def _injector(options: argparse.Namespace, terminal: Terminal) -> Injector:
    """What is wrong with other keys is a warning: who asks about one wants to know. raises: BindingError"""
    injector = _composition(options).injector(strict=options.action == "inject" and options.strict, lenient=True)
    terminal.warn([*injector.faults, *injector.warnings])
    return injector


def _asked(options: argparse.Namespace) -> Asked:
    from nodeattrs.adapters.bindings import Asked, parse_type

    of = parse_type(options.type) if options.type else None
    if of is None and not options.key:
        options.refuse("an empty KEY needs --type")
    return Asked(of, options.key or None)


def _mode(options: argparse.Namespace) -> str:
    return "documented" if options.documented else "tuple"


def _composition(options: argparse.Namespace) -> Composition:
    from nodeattrs.adapters.bindings import Composition
    from nodeattrs.errors import NotFound

    repository = found_repository(options)
    how: dict[str, Any] = {
        "node": options.node, "facts": _facts(options.facts), "environment": options.environment,
        "classifier": options.classifier, "mode": _mode(options),
    }  # fmt: skip
    if repository is None:
        site = Composition(options.site or ".", **how)
    else:
        from nodeattrs.runs.binding_sites import site_of

        own = repository.root / repository.config.bindings if repository.config.bindings else "."
        how |= {} if options.site or own == "." else {"shown_from": repository.root}
        site = site_of(repository, options.site or own, search=_search(options), **how)
    if not site.files and not site.faults and options.classifier is None:
        raise NotFound(
            f"there are no bindings in {options.site or '.'}",
            hint="name a folder with manifests/site.pp, bindings/ or modules/*/bindings/: --site DIR",
        )
    return site


def _search(options: argparse.Namespace) -> Any:
    """The kept nodes that queries see; the store is opened when one is asked. None where there is no store."""
    place = settings_of(options).store
    if "://" not in place and not os.path.exists(place):
        return None

    def search(*words: Any, **named: Any) -> Any:
        from nodeattrs.runs.session import search_word

        return search_word(store_of(options))(*words, **named)

    return search


def _facts(place: str | None) -> dict[str, Any]:
    from nodeattrs.errors import DocumentError
    from nodeattrs.texts.documents import read

    if place is None:
        return {}
    document = read(pathlib.Path(place))
    if not isinstance(document.tree, dict):
        raise DocumentError("facts are a map", file=document.file)
    return document.tree

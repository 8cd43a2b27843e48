"""`nodeattrs bindings`: check, inject, explain, list and draw bindings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.checks import add_checking, finish
from nodeattrs.cli.exits import DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER, described
from nodeattrs.cli.options import actions_of, add_output, add_run_code, add_strict, path_of, settings_of
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.adapters.bindings import Asked, Composition, Injector

SUMMARY = "check, inject and explain bindings of a site"
DESCRIPTION = """\
Read the bindings of a site in their layers, for one node: find everything that is wrong before anything
runs, give the value of a key, and say why it won. docs/bindings.md says how they are written."""
EXAMPLES = """\
examples:
  nodeattrs bindings check --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings inject ssh::port --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings explain ssh::port --site cookbooks_example/bindings --node web1.example.com
  nodeattrs bindings graph --site cookbooks_example/bindings | dot -Tsvg > bindings.svg
"""

_SUMMARIES = {
    "check": "report everything that is wrong, at once; the exit code is 1 if anything is",
    "inject": "print the value of a key",
    "explain": "say who bound a key, whom that shadows and by which rule",
    "list": "print every key, with what it gives and where that stands",
    "graph": "print who looks up whom, in the language of Graphviz",
}
_CODES = dict.fromkeys(("inject", "explain"), described(DONE, FAILED, NOT_UNDERSTOOD, UNKNOWN_LAYER))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command: five of its own."""
    for name, one in actions_of(parser, _SUMMARIES, _CODES):
        if name in ("inject", "explain"):
            one.add_argument(
                "key", metavar="KEY", help='a name such as ssh::port or /classes; "" with --type is the type alone'
            )
            one.add_argument("--type", metavar="TYPE", help="such as Integer, Array[String]: the value must conform")
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
        _add_site(one)
        add_run_code(one)
        (add_checking if name == "check" else add_output)(one)


def _add_site(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("site")
    group.add_argument(
        "--site", metavar="DIR", default=".", help="where bindings, modules and manifests are (default: .)"
    )
    group.add_argument("--node", metavar="NAME", default="", help="whose bindings (default: fqdn of the facts)")
    group.add_argument("--environment", "-E", metavar="NAME", help="its environment (default: what the site selects)")
    group.add_argument("--facts", metavar="FILE", help="facts of the node, JSON or YAML; categories are made of them")
    group.add_argument("--classifier", metavar="FILE", help="what an external node classifier wrote, for enc:")
    group.add_argument(
        "--documented", action="store_true", help="the letter of ARM-8: of several categories the highest alone ranks"
    )


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one of the five."""
    return {"check": _check, "inject": _inject, "explain": _explain, "list": _list, "graph": _graph}[options.action](
        options, terminal
    )


def _check(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.bindings import BindingError
    from nodeattrs.reports.bindings import findings_of

    outcome: Injector | BindingError
    looked = {}
    try:
        outcome = _composition(options).injector()
        looked = {"key": len(outcome.keys()), "fragment": sum(map(len, outcome.resolution.fragments.values()))}
    except BindingError as error:
        outcome = error
    return finish(options, terminal, findings_of(outcome), looked, settings_of(options).repository, options.site)


def _inject(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import InjectedValue
    from nodeattrs.reports.undecided import Undecided, words_of

    injector, asked = _injector(options, terminal), _asked(options)
    value = injector.inject(asked) if options.default is None else injector.get(asked, default=options.default)
    unknown = Undecided.of(injector.unknown_layers(asked))
    terminal.report(InjectedValue(str(asked), value, unknown))
    terminal.warn(words_of({str(asked): unknown}), "unknown-layer")
    return UNKNOWN_LAYER if unknown else 0


def _explain(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.adapters.bindings import NotBound
    from nodeattrs.reports.bindings import explained_binding

    injector, asked = _injector(options, terminal), _asked(options)
    explanation = injector.explain(asked)
    if explanation.problem is not None and not explanation.trace().claims:
        injector.inject(asked)  # says what is missing, with near misses
        raise NotBound("missing", explanation.problem)
    report = explained_binding(explanation, path_of(options.path), options.all)
    if options.strict:
        report.trace.require_known()
    terminal.report(report)
    return UNKNOWN_LAYER if report.trace.unknown else 0


def _list(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import ListedBindings

    terminal.report(ListedBindings(_injector(options, terminal), options.prefix))
    return 0


def _graph(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.reports.bindings import BindingGraph

    terminal.report(BindingGraph(_injector(options, terminal).graph()))
    return 0


def _injector(options: argparse.Namespace, terminal: Terminal) -> Injector:
    injector = _composition(options).injector(strict=options.action == "inject" and options.strict)
    terminal.warn(injector.warnings)
    return injector


def _asked(options: argparse.Namespace) -> Asked:
    from nodeattrs.adapters.bindings import Asked, parse_type

    of = parse_type(options.type) if options.type else None
    if of is None and not options.key:
        options.refuse("an empty KEY needs --type")
    return Asked(of, options.key or None)


def _composition(options: argparse.Namespace) -> Composition:
    from nodeattrs.adapters.bindings import Composition
    from nodeattrs.errors import NotFound

    site = Composition(
        options.site,
        node=options.node,
        facts=_facts(options.facts),
        environment=options.environment,
        classifier=options.classifier,
        mode="documented" if options.documented else "tuple",
    )
    if not site.files and not site.faults and options.classifier is None:
        raise NotFound(
            f"there are no bindings in {options.site}",
            hint="name a folder with manifests/site.pp, bindings/ or modules/*/bindings/: --site DIR",
        )
    return site


def _facts(place: str | None) -> dict[str, Any]:
    import pathlib

    from nodeattrs.errors import DocumentError
    from nodeattrs.texts.documents import read

    if place is None:
        return {}
    document = read(pathlib.Path(place))
    if not isinstance(document.tree, dict):
        raise DocumentError("facts are a map", file=document.file)
    return document.tree

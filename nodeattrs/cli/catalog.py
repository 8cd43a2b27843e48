"""`nodeattrs catalog`: check, order, draw and question a node's catalog, and apply it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.checks import CHECKING, finish
from nodeattrs.cli.exits import exit_code
from nodeattrs.cli.options import APPLYING, RUN, RUN_CODE, actions_of, add_arguments_of, output, settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.command import Checked

if TYPE_CHECKING:
    from nodeattrs.catalog import Catalog, Outcome, Plan
    from nodeattrs.dialects.chef.reports.catalog import AppliedCatalog
    from nodeattrs.dialects.chef.run.run import Run

DESCRIPTION = """\
What the recipes of a node declare: check it and ask about it without touching anything, or apply it.
The catalog comes from a run made now (--repo and --node), from a file (--from), or from one that Puppet compiled
(--puppet): what `puppet catalog compile`, an agent's cache or PuppetDB has written."""
EXAMPLES = """\
examples:
  nodeattrs catalog check --repo cookbooks_example --node web1 --facts cookbooks_example/facts
  nodeattrs catalog list --repo cookbooks_example --node web1 --ruby --reads app.port
  nodeattrs catalog order --from catalog.json
  nodeattrs catalog check --puppet web1.json
  nodeattrs catalog diff before.json after.json --ignore-resource 'File[/tmp/*]' --exit-code
  nodeattrs catalog why 'File[/etc/ntp.conf]' 'Service[ntpd]' --from catalog.json
  nodeattrs catalog graph --as mermaid --from catalog.json
  nodeattrs catalog apply --repo cookbooks_example --node web1 --root scratch --noop
"""

_ACTIONS = {
    "check": "find everything that is missing, and all cycles, with the line of each edge",
    "list": "list the resources in the order in which they were declared, recipes in Ruby included",
    "order": "list the resources in the order in which they are visited",
    "graph": "draw the relationships",
    "why": "say why one resource comes before another",
    "explain": "say where a resource was declared, what relates it, and who set the attributes that its line read",
    "impact": "say what refreshes if a resource changes, and what is skipped if it fails",
    "diff": "compare two catalogs: resources, parameters, order",
    "apply": "bring every resource into its state",
}


_RESOURCE = Argument(("resource",), "such as 'File[/etc/ntp.conf]'", {"metavar": "RESOURCE"})
_DOCUMENTED = Argument(("--documented",), "by the letter of the language page", {"action": "store_true"})
_WHICH = "which catalog"
_SOURCE = (
    Argument(("--from",), "a catalog as JSON, YAML or TOML", {"dest": "source", "metavar": "FILE"}, _WHICH),
    Argument(("--puppet",), "a catalog that Puppet compiled, as JSON", {"metavar": "FILE"}, _WHICH),
    Argument(
        ("--modulepath",),
        "with --puppet: a folder with modules, whose types relate more by themselves; repeatable",
        {"metavar": "DIR", "action": "append", "default": []},
        _WHICH,
    ),
    Argument(("--repo",), "run a node of this repository", {"metavar": "DIR"}, _WHICH),
    Argument(("--node",), "which node", {"metavar": "NAME"}, _WHICH),
    *RUN,
    *RUN_CODE,
)
_CATALOG = "a catalog: one of ours as JSON, YAML or TOML, or one that Puppet compiled"
_OF_ACTION: Mapping[str, Sequence[Argument]] = {
    "check": (*_SOURCE, _DOCUMENTED, *CHECKING),
    "list": (
        *_SOURCE,
        Argument(
            ("--reads",), "those alone whose text reads this attribute, or one above or below it", {"metavar": "PATH"}
        ),
        *output(),
    ),
    "order": (
        *_SOURCE,
        _DOCUMENTED,
        Argument(
            ("--shuffle",),
            "another order that is as valid, drawn by this number: what fails in it lacks a relationship",
            {"metavar": "SEED", "type": int},
        ),
        *output(),
    ),
    "graph": (
        *_SOURCE,
        _DOCUMENTED,
        Argument(
            ("--as",),
            "(default: dot; --format json gives data)",
            {"dest": "drawing", "choices": ("dot", "mermaid"), "default": "dot"},
        ),
        *output(),
    ),
    "why": (
        Argument(("first",), "such as 'File[/etc/ntp.conf]'", {"metavar": "A"}),
        Argument(("then",), "such as 'Service[ntpd]'", {"metavar": "B"}),
        *_SOURCE,
        _DOCUMENTED,
        *output(),
    ),
    "explain": (_RESOURCE, *_SOURCE, _DOCUMENTED, *output()),
    "impact": (_RESOURCE, *_SOURCE, _DOCUMENTED, *output()),
    "diff": (
        Argument(("before",), _CATALOG, {"metavar": "FILE"}),
        Argument(("after",), "another one", {"metavar": "OTHER"}),
        Argument(
            ("--compiled",), "both were compiled by Puppet (default: by what they look like)", {"action": "store_true"}
        ),
        Argument(
            ("--ignore-resource",),
            "leave resources or parameters out: 'File[/tmp/*]', 'Package[*].ensure'; may be repeated",
            {"metavar": "PATTERN", "action": "append", "default": []},
        ),
        Argument(("--exit-code",), "exit with 1 where they differ", {"action": "store_true"}),
        *RUN_CODE,
        *output(also=("markdown",)),
    ),
    "apply": (*_SOURCE, *APPLYING, *output()),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the nine actions of `nodeattrs catalog`, each with its options."""
    for name, one in actions_of(parser, _ACTIONS):
        add_arguments_of(one, _OF_ACTION[name])


def applied(catalog: Catalog, name: str, options: argparse.Namespace, terminal: Terminal) -> AppliedCatalog:
    """Apply a catalog as the options of `APPLYING` say; what that did.

    name:   of the node, for the file of the report; "" writes one only with --report
    raises: ReferenceNotFound, DependencyCycle, StoreError, before any change
    """
    from nodeattrs.catalog.types import Site
    from nodeattrs.dialects.chef.reports.catalog import AppliedCatalog
    from nodeattrs.dialects.chef.run.applying import apply_catalog, report_place

    catalog.noop = catalog.noop or options.noop
    kept = Path(options.report) if options.report else report_place(name) if name else None
    count, done = sum(not one.is_container for one in catalog), 0

    def progress(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        terminal.progress(f"{done} of {count}  {outcome.ref}"[:100])

    site = Site(Path(options.root), Path(options.backups) if options.backups else None)
    terminal.warn(catalog.plan(documented=options.documented).warnings())
    plan, report = apply_catalog(
        catalog, site, node=name, documented=options.documented, journal=kept, on_outcome=progress
    )
    shown = name or str(options.source)
    return AppliedCatalog(plan, report, shown, str(kept) if kept else None, not options.no_diff)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Perform the action that was given: check, order, graph, why, explain, impact, diff or apply; returns the exit
    code."""
    if options.action != "diff" and options.puppet is not None:
        if options.source is not None or options.action == "apply":
            options.refuse("a catalog that Puppet compiled can be asked about, alone, and not be applied here")
        options.source = options.puppet
    return _PERFORM[options.action](options, terminal)


def _check(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.dialects.chef.reports.catalog import findings_of, looked_at

    plan = _plan(options, terminal)
    repository = settings_of(options).repository
    return finish(options, terminal, Checked(findings_of(plan), looked_at(plan), options.repo or ""), repository)


def _list(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.dialects.chef.reports.catalog import CatalogList

    terminal.report(CatalogList(_catalog(options, terminal), str(options.node or options.source), options.reads))
    return 0


def _order(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.dialects.chef.reports.catalog import CatalogOrder

    terminal.report(CatalogOrder(_plan(options, terminal), str(options.node or options.source), options.shuffle))
    return 0


def _graph(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.catalog.questions import mermaid
    from nodeattrs.dialects.chef.reports.catalog import CatalogGraph

    plan = _plan(options, terminal)
    terminal.warn(plan.faults())
    if options.drawing == "mermaid":
        terminal.text(mermaid(plan))
    else:
        terminal.report(CatalogGraph(plan, str(options.node or options.source)))
    return 0


def _why(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.catalog.questions import known_ref, why_before
    from nodeattrs.dialects.chef.reports.catalog import WhyReport

    plan = _plan(options, terminal)
    first, then = known_ref(plan, options.first), known_ref(plan, options.then)
    steps = why_before(plan, first, then)
    if not steps:
        steps = why_before(plan, then, first)
        if steps or plan.graph.at[then] < plan.graph.at[first]:
            first, then = then, first
    terminal.report(WhyReport(first, then, steps))
    return 0


def _explain(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.catalog.questions import known_ref
    from nodeattrs.dialects.chef.reports.catalog import ResourceExplained
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.lookups import readings

    if options.source is not None:
        plan = _plan(options, terminal)
        terminal.report(ResourceExplained(plan, known_ref(plan, options.resource)))
        return 0
    run = _run(options, terminal)
    plan = run.catalog.plan(documented=options.documented)
    ref = known_ref(plan, options.resource)
    origin = plan.resources[ref].origin
    read = tuple(readings(Repository(options.repo), run.node, origin)) if origin else ()
    terminal.report(ResourceExplained(plan, ref, read))
    return 0


def _impact(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.catalog.questions import impact_of, known_ref
    from nodeattrs.dialects.chef.reports.catalog import ImpactReport

    plan = _plan(options, terminal)
    terminal.report(ImpactReport(impact_of(plan, known_ref(plan, options.resource))))
    return 0


def _diff(options: argparse.Namespace, terminal: Terminal) -> int:
    from nodeattrs.catalog.differing import difference
    from nodeattrs.reports.catalog_diff import ComparedCatalogs

    before, after = (_from_file(file, terminal, options.compiled).plan() for file in (options.before, options.after))
    report = ComparedCatalogs(options.before, options.after, difference(before, after, options.ignore_resource))
    if options.format == "markdown":
        terminal.text(report.markdown())
    else:
        terminal.report(report)
    return int(bool(report.difference) and options.exit_code)


def _apply(options: argparse.Namespace, terminal: Terminal) -> int:
    one = applied(_catalog(options, terminal), options.node or "", options, terminal)
    terminal.report(one)
    return exit_code(one)


def _plan(options: argparse.Namespace, terminal: Terminal) -> Plan:
    catalog = _catalog(options, terminal)
    if options.source is not None and options.action != "check":  # which has them among its findings
        terminal.warn(catalog.warnings)
    return catalog.plan(documented=options.documented)


def _catalog(options: argparse.Namespace, terminal: Terminal) -> Catalog:
    if options.source is not None:
        if options.repo or options.node:
            options.refuse("--from or --puppet is a catalog of its own: leave --repo and --node out")
        return _from_file(options.source, terminal, options.puppet is not None, options.modulepath)
    return _run(options, terminal).catalog


def _from_file(file: str, terminal: Terminal, is_puppets: bool, modulepath: Sequence[str] = ()) -> Catalog:
    from nodeattrs.catalog import catalog_from
    from nodeattrs.catalog.compiled import compiled_catalog, is_compiled, without_notices
    from nodeattrs.formats.documents import parse, read, text_of

    path = Path(file)
    document = parse(without_notices(text_of(path, file)), file, "json") if is_puppets else read(path, by_caller=True)
    if is_puppets or is_compiled(document.tree):
        types = None
        if modulepath:
            from nodeattrs.catalog.module_types import ModuleTypes

            types = ModuleTypes(map(Path, modulepath))
        return compiled_catalog(document.tree, document.locator("catalog", ""), file, types)
    return catalog_from(document.tree, partial(_subject, terminal), document.locator("catalog", ""), file)


def _subject(terminal: Terminal, entry: Any) -> Any:
    """What an entry does: only those with `parameters` act, so that a bare list of names can be asked about.

    So can those whose type is code that is not run; a line says so.
    """
    from nodeattrs.catalog.types import subject_of
    from nodeattrs.errors import UnknownLayer

    if not isinstance(entry.get("parameters"), dict):
        return None
    try:
        return subject_of(entry["type"], entry["title"], entry["parameters"])
    except UnknownLayer as error:
        terminal.warn([error])
        return None


def _run(options: argparse.Namespace, terminal: Terminal) -> Run:
    from nodeattrs.cli.options import facts_from, json_attributes, override_run_list, run_list, run_options
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.run.run import run_node

    if not options.repo or not options.node:
        options.refuse("which catalog? --repo DIR and --node NAME, --from FILE, or --puppet FILE")
    repository = Repository(options.repo)
    repository.asked = run_options(options)
    run = run_node(
        repository,
        options.node,
        facts=facts_from(options, options.node, repository),
        run_list=run_list(options),
        override_run_list=override_run_list(options),
        environment=options.environment,
        json_attributes=json_attributes(options, repository),
    )
    terminal.warn(run.warnings)
    return run


_PERFORM = {
    "check": _check,
    "list": _list,
    "order": _order,
    "graph": _graph,
    "why": _why,
    "explain": _explain,
    "impact": _impact,
    "diff": _diff,
    "apply": _apply,
}

"""`nodeattrs catalog`: check, order, draw and query the catalog of a node, and apply it to the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.catalog import Catalog, Plan, catalog_from
from nodeattrs.catalog.compiled import compiled_catalog, is_compiled, without_notices
from nodeattrs.catalog.differing import difference
from nodeattrs.catalog.module_types import ModuleTypes
from nodeattrs.catalog.questions import impact_of, known_ref, mermaid, why_before
from nodeattrs.catalog.types import subject_of
from nodeattrs.contract.arguments import RUN_CODE, output
from nodeattrs.contract.command import Argument, CheckFindings, Command, CommandGroup, Output, Question
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.commands.applying import applied, exit_code
from nodeattrs.dialects.chef.commands.arguments import APPLYING, RUN
from nodeattrs.dialects.chef.commands.inputs import (
    facts_from,
    json_attributes,
    run_list,
    run_options,
)
from nodeattrs.dialects.chef.reports.catalog import (
    CatalogGraph,
    CatalogList,
    CatalogOrder,
    ImpactReport,
    ResourceExplanation,
    WhyReport,
    counts_of,
    findings_of,
)
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.lookups import readings
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import BadUsage, UnknownLayer
from nodeattrs.formats.documents import parse, read, text_of
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports.catalog_diff import ComparedCatalogs
from nodeattrs.reports.findings import Finding

_DESCRIPTION = """\
What the recipes of a node declare: check it and ask about it without touching anything, or apply it.
The catalog comes from a run made now (--repo and --node), from a file (--from), or from one that Puppet compiled
(--puppet): what `puppet catalog compile`, an agent's cache or PuppetDB has written."""
_EXAMPLES = (
    "catalog check --repo cookbooks_example --node web1 --facts cookbooks_example/facts",
    "catalog list --repo cookbooks_example --node web1 --ruby --read-path app.port",
    "catalog order --from catalog.json",
    "catalog check --puppet web1.json",
    "catalog diff before.json after.json --ignore-resource 'File[/tmp/*]' --exit-code",
    "catalog why 'File[/etc/ntp.conf]' 'Service[ntpd]' --from catalog.json",
    "catalog graph --as mermaid --from catalog.json",
    "catalog apply --repo cookbooks_example --node web1 --root scratch --noop",
)


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
_CATALOG = "a catalog as JSON, YAML or TOML, or one that Puppet compiled"


_Undeclared = Sequence[Unread] | None
"""Recipes that may declare resources which a catalog lacks; None for a complete catalog."""


def _perform(act: Callable[[Question], Output], question: Question) -> Output:
    """Call *act* with the file of --puppet in place of --from. raises: BadUsage, for both options, and to apply it"""
    asked = question.arguments
    if asked["puppet"] is not None:
        if asked["source"] is not None or act is _apply:
            raise BadUsage("a catalog that Puppet compiled can be asked about, alone, and not be applied here")
        question = question._replace(arguments={**asked, "source": asked["puppet"]})
    return act(question)


def _check(question: Question) -> Output:
    plan, unread = _plan(question)
    code = LAYER_IS_UNKNOWN.entry.code
    found = [*findings_of(plan), *(Finding(code, "note", str(one)) for one in unread or ())]
    return Output(checked=CheckFindings(found, counts_of(plan), question.arguments["repo"] or ""))


def _list(question: Question) -> Output:
    asked = question.arguments
    catalog, unread = _catalog(question)
    return Output(CatalogList(catalog, str(asked["node"] or asked["source"]), asked["read_path"]), unread=unread)


def _order(question: Question) -> Output:
    asked = question.arguments
    plan, unread = _plan(question)
    return Output(CatalogOrder(plan, str(asked["node"] or asked["source"]), asked["shuffle"]), unread=unread)


def _graph(question: Question) -> Output:
    asked = question.arguments
    plan, unread = _plan(question)
    question.caller.warn(plan.faults())
    if asked["drawing"] == "mermaid":
        return Output(mermaid(plan), unread=unread)
    return Output(CatalogGraph(plan, str(asked["node"] or asked["source"])), unread=unread)


def _why(question: Question) -> Output:
    plan, unread = _plan(question)
    first, then = known_ref(plan, question.arguments["first"]), known_ref(plan, question.arguments["then"])
    steps = why_before(plan, first, then)
    if not steps:
        steps = why_before(plan, then, first)
        if steps or plan.graph.at[then] < plan.graph.at[first]:
            first, then = then, first
    return Output(WhyReport(first, then, steps), unread=unread)


def _explain(question: Question) -> Output:
    asked = question.arguments
    if asked["source"] is not None:
        plan, _ = _plan(question)
        return Output(ResourceExplanation(plan, known_ref(plan, asked["resource"])))
    run = _run(question)
    plan = run.catalog.plan(documented=asked["documented"])
    ref = known_ref(plan, asked["resource"])
    origin = plan.resources[ref].origin
    read = tuple(readings(Repository(asked["repo"]), run.node, origin)) if origin else ()
    return Output(ResourceExplanation(plan, ref, read), unread=run.undeclared or None)


def _impact(question: Question) -> Output:
    plan, unread = _plan(question)
    return Output(ImpactReport(impact_of(plan, known_ref(plan, question.arguments["resource"]))), unread=unread)


def _diff(question: Question) -> Output:
    asked = question.arguments
    before, after = (_from_file(file, question, asked["compiled"]).plan() for file in (asked["before"], asked["after"]))
    report = ComparedCatalogs(asked["before"], asked["after"], difference(before, after, asked["ignore_resource"]))
    code = int(bool(report.difference) and asked["exit_code"])
    return Output(report.markdown() if asked["format"] == "markdown" else report, code)


def _apply(question: Question) -> Output:
    one = applied(_catalog(question)[0], question.arguments["node"] or "", question)
    return Output(one, exit_code(one))


def _plan(question: Question) -> tuple[Plan, _Undeclared]:
    asked = question.arguments
    catalog, unread = _catalog(question)
    if asked["source"] is not None and asked["action"] != "check":  # `check` has them among its findings
        question.caller.warn(catalog.warnings)
    return catalog.plan(documented=asked["documented"]), unread


def _catalog(question: Question) -> tuple[Catalog, _Undeclared]:
    """Returns (the catalog that the arguments name, recipes that may declare resources which it lacks)."""
    asked = question.arguments
    if asked["source"] is not None:
        if asked["repo"] or asked["node"]:
            raise BadUsage("--from or --puppet is a catalog of its own: leave --repo and --node out")
        return _from_file(asked["source"], question, asked["puppet"] is not None, asked["modulepath"]), None
    run = _run(question)
    return run.catalog, run.undeclared or None


def _from_file(file: str, question: Question, is_puppets: bool, modulepath: Sequence[str] = ()) -> Catalog:
    path = Path(file)
    document = parse(without_notices(text_of(path, file)), file, "json") if is_puppets else read(path, by_caller=True)
    if is_puppets or is_compiled(document.tree):
        types = None
        if modulepath:
            types = ModuleTypes(map(Path, modulepath))
        return compiled_catalog(document.tree, document.locator("catalog", ""), file, types)
    return catalog_from(document.tree, partial(_subject, question), document.locator("catalog", ""), file)


def _subject(question: Question, entry: Any) -> Any:
    """The subject that applies an entry of a file; None for an entry without `parameters`.

    None too, with a warning, if its type is code that may not run. The catalog can still be asked about.
    """
    if not isinstance(entry.get("parameters"), dict):
        return None
    try:
        return subject_of(entry["type"], entry["title"], entry["parameters"])
    except UnknownLayer as error:
        question.caller.warn([error])
        return None


def _run(question: Question) -> Run:
    asked = question.arguments
    if not asked["repo"] or not asked["node"]:
        raise BadUsage("which catalog? --repo DIR and --node NAME, --from FILE, or --puppet FILE")
    repository = Repository(asked["repo"])
    repository.options = run_options(question)
    run = run_node(
        repository,
        asked["node"],
        facts=facts_from(question, asked["node"], repository),
        run_list=run_list(question),
        override_run_list=run_list(question, "--override-run-list"),
        environment=asked["environment"],
        json_attributes=json_attributes(question, repository),
    )
    question.caller.warn(run.warnings)
    return run


_NODE = "--repo cookbooks_example --node web1 --facts cookbooks_example/facts"
"""The options in examples, which run at the top of a checkout."""


def _command(
    summary: str,
    act: Callable[[Question], Output],
    arguments: Sequence[Argument],
    shared: Sequence[str] = (),
    *,
    example: str,
) -> Command:
    return Command(summary, "", arguments, (example,), {}, partial(_perform, act), shared)


_COMMANDS = {
    "check": _command(
        "find everything that is missing, and all cycles, with the line of each edge",
        _check,
        (*_SOURCE, _DOCUMENTED),
        ("checking",),
        example=f"check {_NODE}",
    ),
    "list": _command(
        "list the resources in the order in which they were declared, recipes in Ruby included",
        _list,
        (
            *_SOURCE,
            Argument(
                ("--read-path",),
                "only resources whose text reads this attribute, or one above or below it",
                {"metavar": "PATH"},
            ),
            *output(),
        ),
        example=f"list {_NODE}",
    ),
    "order": _command(
        "list the resources in the order in which they are visited",
        _order,
        (
            *_SOURCE,
            _DOCUMENTED,
            Argument(
                ("--shuffle",),
                "another order that is as valid, drawn by this number: what fails in it lacks a relationship",
                {"metavar": "SEED", "type": int},
            ),
            *output(),
        ),
        example=f"order {_NODE}",
    ),
    "graph": _command(
        "draw the relationships",
        _graph,
        (
            *_SOURCE,
            _DOCUMENTED,
            Argument(
                ("--as",),
                "(default: dot; --format json gives data)",
                {"dest": "drawing", "choices": ("dot", "mermaid"), "default": "dot"},
            ),
            *output(),
        ),
        example=f"graph --as mermaid {_NODE}",
    ),
    "why": _command(
        "say why one resource comes before another",
        _why,
        (
            Argument(("first",), "such as 'File[/etc/ntp.conf]'", {"metavar": "A"}),
            Argument(("then",), "such as 'Service[ntpd]'", {"metavar": "B"}),
            *_SOURCE,
            _DOCUMENTED,
            *output(),
        ),
        example="why 'File[/etc/ntp.conf]' 'Service[ntpd]' --from catalog.json",
    ),
    "explain": _command(
        "name the line that declared a resource, its relations, and the lines that set what its line read",
        _explain,
        (_RESOURCE, *_SOURCE, _DOCUMENTED, *output()),
        example="explain 'File[/etc/ntp.conf]' --from catalog.json",
    ),
    "impact": _command(
        "say what refreshes if a resource changes, and what is skipped if it fails",
        _impact,
        (_RESOURCE, *_SOURCE, _DOCUMENTED, *output()),
        example="impact 'File[/etc/ntp.conf]' --from catalog.json",
    ),
    "diff": Command(
        "compare two catalogs: resources, parameters, order",
        "",
        (
            Argument(("before",), _CATALOG, {"metavar": "FILE"}),
            Argument(("after",), "another one", {"metavar": "OTHER"}),
            Argument(
                ("--compiled",),
                "both were compiled by Puppet (default: by what they look like)",
                {"action": "store_true"},
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
        ("diff before.json after.json",),
        {},
        _diff,
        (),
    ),
    "apply": _command(
        "bring every resource into its state",
        _apply,
        (*_SOURCE, *APPLYING, *output()),
        example=f"apply --noop --root scratch {_NODE}",
    ),
}
COMMANDS = {"catalog": CommandGroup("", _DESCRIPTION, _EXAMPLES, _COMMANDS)}

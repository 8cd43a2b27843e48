"""Run one node: facts, roles and environment, attribute files, recipes, in Chef's order.

`run_node` reads top to bottom: `_started` gives the node its environment and run-list, `_planned` expands the run-list,
`_set_attributes_of_plan` sets what roles and cookbooks give, and `_run_files` runs attribute files and recipes. The
module opens no store and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NoReturn

from nodeattrs.catalog import Catalog
from nodeattrs.contract.peers import Injection
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.looks import Looks, quietly
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook, check_versions, cookbook_order
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import Environment, NodeFile, Policy, Role, UnreadPart
from nodeattrs.dialects.chef.run.expansion import (
    Expansion,
    environment_named,
    expand_run_list,
    set_layers,
)
from nodeattrs.dialects.chef.run.lookups import lookup_word, reader_words
from nodeattrs.dialects.chef.run.recipes import LogLine, RecipeRunner
from nodeattrs.dialects.chef.run.resources import Resources, cookbook_file_finder
from nodeattrs.dialects.chef.run.ruby_files import RubyFiles, note_anything
from nodeattrs.errors import BadArgument, DocumentError, NodeattrsError, NotFound, RecipeNotFound
from nodeattrs.formats.documents import Document
from nodeattrs.node.intake import Intake, NodeFields, split_node_fields
from nodeattrs.node.public import Node
from nodeattrs.node.run_list import normalised
from nodeattrs.node.running import double_keys, setting_as
from nodeattrs.node.watched import WatchedNode, note_looks


@dataclass
class Run:
    """The result of `run_node`. Nothing of it is saved or applied.

    node:            the node after the last recipe
    expansion:       the expanded run-list
    attribute_files: "cookbook/path" in the order in which they ran
    recipes:         "cookbook::recipe" in the order in which they started
    log:             the messages of cookbook files
    warnings:        of the repository, the facts, the JSON attributes, the cookbook files and the node
    catalog:         the declared resources
    included:        recipe -> a function that returns the line that included it. Recipes of the run-list are not here
    policy:          the policy that the node follows; None for none
    search:          the function `search` of the run; None if there was no store
    facts:           the file of the facts, "platform debian-12", or "this machine"
    undeclared:      the recipes that may declare resources which the catalog lacks
    """

    node: Node
    expansion: Expansion
    attribute_files: list[str]
    recipes: list[str]
    log: list[LogLine]
    warnings: list[NodeattrsError]
    catalog: Catalog
    included: Mapping[str, Callable[[], Origin]]
    policy: Policy | None
    search: Callable[..., Any] | None
    facts: str
    undeclared: Sequence[Unread]


def run_node(
    repository: Repository,
    name: str,
    *,
    facts: Facts,
    run_list: Iterable[object] | None = None,
    override_run_list: Iterable[object] | None = None,
    environment: str | None = None,
    json_attributes: Document | None = None,
    saved: Node | None = None,
    log: Callable[[LogLine], None] | None = None,
    words: Mapping[str, Any] | None = None,
    looks: Looks | None = None,
) -> Run:
    """Run one node of a repository; saves nothing.

    Normal attributes start as the last run left them. The node's file and then the JSON attributes are deep merged over
    them; two lists become their union. Run-list and environment come from the first of these that has them: the
    arguments, the JSON attributes, a policy, the node's file, the last run, and for the environment the settings.
    facts:           become the automatic attributes, to which the run adds its own (`recipes`, `cookbooks`, ...)
    override_run_list: run instead of the node's run-list, which the node keeps
    json_attributes: the document that `chef-client -j` takes
    saved:           the node of the last run, not changed
    log:             called with each message of a cookbook file
    words:           further names for recipes, such as `search` over a store
    looks:           collects the attributes that the run reads; None: they are not collected
    raises:          RecipeFailed, NotFound, RunListError, DocumentError, ...
    source:          semantics of Chef's policy builder; docs/merging.md, "A run"
    """
    repository = repository.for_node(name)
    made = Node if looks is None else WatchedNode
    node = made(name, sensitive=repository.config.sensitive, root=repository.root, rules=repository.config.merge)
    with quietly(looks):
        note_looks(node, looks, facts.tree)
        start = _started(repository, node, saved, json_attributes, run_list, environment)
    wanted = node.run_list if override_run_list is None else [*map(str, normalised(override_run_list))]
    words, lookup, intake = words or {}, lookup_word(repository, node), Intake(node)
    search = words.get("search")
    injection = repository.injection(node, lookup if repository.hiera is not None else None, search)
    with quietly(looks):
        start.take_attributes(intake, facts)
    plan = _planned(repository, injection.run_list(wanted), node.environment, start.policy)
    _set_attributes_of_plan(node, intake, plan, start, facts, None if wanted else repository.kitchen.fault)
    with quietly(looks):
        conditions = _facts_for_conditions(node, facts, plan)
    runner, catalog = _run_files(repository, node, plan, conditions, injection, lookup, words, log)
    warnings = [*repository.warnings, *facts.warnings, *start.json_warnings, *runner.warnings]
    with quietly(looks):
        warnings += double_keys(node)
    return _result(node, plan, runner, catalog, warnings, search, facts)


@dataclass(frozen=True)
class _Start:
    """What a node begins with, from the last run, the repository and the caller. None for what does not exist.

    saved:     the node of the last run
    described: the node's file in the repository
    of_node:   the JSON attributes, with their run-list and environment
    locator:   gives the lines of the JSON attributes
    json_warnings: about the JSON attributes
    policy:    the policy that the node follows
    """

    saved: Node | None
    described: NodeFile | None
    of_node: NodeFields
    locator: Locator
    json_warnings: Sequence[NodeattrsError]
    policy: Policy | None

    def configure(
        self, node: Node, repository: Repository, run_list: Iterable[object] | None, environment: str | None
    ) -> None:
        """Set environment and run-list of a node, from the last of these sources that has them.

        The sources: settings, last run, node's file, policy, JSON attributes, caller.
        run_list, environment: of the caller; None for none
        raises: BadArgument, if the node follows a policy, and the caller gives an environment
        """
        if self.policy is not None and environment is not None:
            raise BadArgument("a node that follows a policy has no environment", hint="name a group: --policy-group")
        given: list[tuple[str | None, Any]] = [(repository.config.environment or None, None)]
        if self.saved is not None:
            given.append((self.saved.environment, self.saved.run_list))
        if self.described is not None:
            given.append((self.described.environment or None, self.described.run_list or None))
        if self.policy is not None:
            named_list = "" if self.described is None else self.described.named_run_list
            given.append((None, self.policy.run_list_named(repository.options.named_run_list or named_list)[1]))
        for named, items in (*given, (self.of_node.environment, self.of_node.run_list), (environment, run_list)):
            if named is not None:
                node.environment = named
            if items is not None:
                node.run_list = items
        if self.policy is not None:
            node.environment = self.policy.group or node.environment

    def note_unread(self, node: Node, facts: Facts, fault: DocumentError | None) -> None:
        """Add unknown layers to a node for what could not be read of its policy, its description and its facts.

        fault: the error of kitchen.yml, which may describe the node; None for none
        """
        policy = () if self.policy is None else self.policy.unread
        unread = [UnreadPart(None, Origin("policy", one.file or "", one.file, one.line), one.reason) for one in policy]
        unread += () if self.described is None else self.described.unread
        unread += [UnreadPart(None, facts.locator.at(()), facts.unread)] if facts.unread else []
        if fault is not None and self.described is None:
            place = Origin("kitchen", node.name, fault.file, fault.line)
            unread += [UnreadPart(None, place, "could not be read")]
        for path, origin, reason in unread:
            with setting_as(node, origin.kind, origin.name):
                if path is None:
                    note_anything(node, origin, reason)
                else:
                    node.unknown(str(path[0]), origin.name, origin, reason, {path[1:]: origin.line or 1})

    def take_attributes(self, intake: Intake, facts: Facts) -> None:
        """Set normal from the last run, then nodes/NAME, then the JSON attributes; and automatic from the facts."""
        if self.saved is not None:
            intake.keep_saved(self.saved)
        if self.described is not None:
            intake.merge_normal(self.described.normal, self.described.locator_of("normal"))
        intake.merge_json(self.of_node.attributes, self.locator)
        intake.merge_facts(facts.tree, facts.locator, settled=facts.settled)


def _started(
    repository: Repository,
    node: Node,
    saved: Node | None,
    json_attributes: Document | None,
    run_list: Iterable[object] | None,
    environment: str | None,
) -> _Start:
    """Set environment and run-list of a node; returns what it begins with. raises: as `_policy` and `configure`"""
    described = repository.node_document(node.name)
    given, locator = _given(json_attributes)
    of_node = split_node_fields(given, locator)
    policy = _policy(repository, given, described)
    warnings = () if json_attributes is None else json_attributes.warnings
    start = _Start(saved, described, of_node, locator, warnings, policy)
    start.configure(node, repository, run_list, environment)
    return start


def _facts_for_conditions(node: Node, facts: Facts, plan: _Plan) -> dict[Any, Any]:
    """The facts with what the run adds to them, for conditions of attribute files. Sensitive values are not wrapped."""
    found = {**facts.tree, "name": node.name, "chef_environment": node.environment, **plan.automatic_attributes}
    if plan.used_cookbooks():
        found["cookbooks"] = node.automatic["cookbooks"].to_dict()
    return found


def _set_attributes_of_plan(
    node: Node, intake: Intake, plan: _Plan, start: _Start, facts: Facts, fault: DocumentError | None
) -> None:
    """Set what a plan gives a node: the levels of environment and roles, and the automatic attributes of the run.

    Unknown layers for what could not be read are added between the two.
    fault: the error of kitchen.yml, as in `note_unread`
    """
    set_layers(node, plan.expansion, plan.environment)
    start.note_unread(node, facts, fault)
    intake.ensure_tags()
    intake.set_automatic(plan.automatic_attributes)
    for cookbook in plan.used_cookbooks():
        version = {"cookbooks": {cookbook.name: {"version": cookbook.version}}}
        intake.merge_automatic(version, cookbook.origin_of_version())


def _run_files(
    repository: Repository,
    node: Node,
    plan: _Plan,
    facts: Mapping[Any, Any],
    injection: Injection,
    lookup: Callable[..., Any],
    words: Mapping[str, Any],
    log: Callable[[LogLine], None] | None,
) -> tuple[RecipeRunner, Catalog]:
    """Run attribute files and recipes; returns their runner, and the catalog of the resources that they declared.

    facts: the facts for conditions of attribute files
    words: further names for recipes in Python and in Ruby
    """
    resources = Resources(node, root=repository.root, find=cookbook_file_finder(plan.cookbook), bound=injection.bound)
    readers = reader_words(repository, node)
    item = readers.pop("data_bag_item")
    known = {"search": _no_store, "data_bag": repository.data_bag, **words, "data_bag_item": item}
    ruby = RubyFiles(repository, node, known, plan.expansion.run_list) if repository.runs_ruby else None
    injecting = {"lookup": lookup, "inject": injection.inject, "parameters": injection.parameters}
    of_recipes = {**injecting, **resources.words(), **known}
    runner = RecipeRunner(node, plan.cookbook, of_recipes, log, resources.enter, readers, ruby, facts)
    resources.include = runner.run_recipe
    runner.load_attribute_files(plan.cookbooks)
    for recipe in plan.expansion.recipes:
        runner.run_recipe(recipe)
    runner.finish()
    catalog = resources.finish()
    injection.relate(catalog)
    if ruby is not None:
        ruby.compiled.fill(catalog, resources.enter)
        runner.warnings.extend(ruby.warnings)
    return runner, catalog


def _result(
    node: Node,
    plan: _Plan,
    runner: RecipeRunner,
    catalog: Catalog,
    warnings: list[NodeattrsError],
    search: Callable[..., Any] | None,
    facts: Facts,
) -> Run:
    return Run(
        node=node,
        expansion=plan.expansion,
        attribute_files=runner.attribute_files,
        recipes=runner.recipes,
        log=runner.log,
        warnings=warnings,
        catalog=catalog,
        included=runner.included,
        policy=plan.policy,
        search=search,
        facts=facts.place,
        undeclared=[*runner.undeclared],
    )


@dataclass(frozen=True)
class _Plan:
    """An expanded run-list, with the cookbooks that it needs.

    environment: the environment of the node
    cookbooks:   the names of the cookbooks in use, in the order in which their attribute files load
    cookbook:    a function from a name to the cookbook
    policy:      the policy of the node; None for none
    """

    expansion: Expansion
    environment: Environment
    cookbooks: list[str]
    cookbook: Callable[[str], Cookbook]
    policy: Policy | None

    @cached_property
    def automatic_attributes(self) -> dict[str, Any]:
        """The automatic attributes of the run-list and of the policy."""
        found = {**self.expansion.automatic_attributes}
        if (policy := self.policy) is not None:
            found |= {"policy_name": policy.name, "policy_group": policy.group, "policy_revision": policy.revision}
            found["recipes"] = self.expansion.qualified
        return found

    def used_cookbooks(self) -> list[Cookbook]:
        """The cookbooks in use, sorted by name, without missing ones."""
        return [one for one in map(self.cookbook, sorted(self.cookbooks)) if not one.is_missing]


def _planned(repository: Repository, run_list: list[str], environment: str, policy: Policy | None) -> _Plan:
    """Expand a run-list, find and order the cookbooks, and check versions and recipes.

    raises: NotFound, RunListError, CookbookVersionConflict
    """
    asked = repository.options
    roles = partial(_role_without, repository) if asked.without else repository.role
    run_list = asked.without_removed(run_list) if asked.without else run_list
    environments: Callable[[str], Environment] = repository.environment
    if policy is not None:
        policy.require_recipes(run_list)
        environments = Environment
    expansion = expand_run_list(run_list, roles, environment)
    expansion.require_roles()
    expansion.role_layers += [policy.as_role()] if policy is not None else []
    layer = environment_named(environment, environments)
    pins = [*expansion.pins(), *(environments(environment).pins() if policy is None else policy.pins())]
    cookbook: Callable[[str], Cookbook] = partial(_chosen, repository, policy, pins)
    cookbooks = cookbook_order(expansion.recipes, cookbook)
    if policy is None and not any(cookbook(name).is_missing for name in cookbooks):
        cookbook = partial(_included, repository, frozenset(cookbooks), cookbook)
    check_versions(cookbooks, cookbook, pins)
    _check_recipes(cookbook, expansion)
    return _Plan(expansion, layer, cookbooks, cookbook, policy)


def _role_without(repository: Repository, name: str) -> Role:
    """The role *name* without the items of the option `without`."""
    role, left = repository.role(name), repository.options.without_removed
    lists = {name: None if items is None else left(items) for name, items in role.env_run_lists.items()}
    return replace(role, run_list=left(role.run_list), env_run_lists=lists)


def _chosen(repository: Repository, policy: Policy | None, pins: list[tuple[str, str, Origin]], name: str) -> Cookbook:
    """The version of a cookbook that a policy locks, else the newest one that all pins allow."""
    asked = tuple(asked for cookbook, asked, _ in pins if cookbook == name)
    if policy is None:
        return repository.cookbook_for_run(name, None, asked)
    return repository.cookbook_for_run(name, policy.lock(name), () if policy.is_locked else asked)


def _included(
    repository: Repository, planned: frozenset[str], cookbook: Callable[[str], Cookbook], name: str
) -> Cookbook:
    """A cookbook of the run, or one that only a file includes, which must exist, as in Chef."""
    return cookbook(name) if name in planned else repository.cookbook(name)


def _policy(repository: Repository, given: Mapping[Any, Any], described: NodeFile | None) -> Policy | None:
    """The policy that a node follows; None for none.

    Name and group come from the options, else the JSON attributes (*given*), else the settings, else the node's file.
    raises: BadName, PolicyNotFound, DocumentError
    """
    options, settings, file = repository.options, repository.config.chef, described or NodeFile("")
    name = options.policy or given.get("policy_name") or settings.policy or file.policy_name
    group = options.policy_group or given.get("policy_group") or settings.policy_group or file.policy_group
    return repository.policy(str(name), str(group)) if name else None


def _given(document: Document | None) -> tuple[dict[Any, Any], Locator]:
    """Returns (the JSON attributes, their locator). raises: DocumentError, if they are not a map"""
    if document is None:
        return {}, Origin("JSON attributes")
    if not isinstance(document.tree, dict):
        raise DocumentError("JSON attributes must be a map", file=document.file, hint='{"run_list": ["role[web]"]}')
    return document.tree, document.locator("JSON attributes", "")


def _no_store(*_: Any, **__: Any) -> NoReturn:
    raise NotFound("there is no store to search in", hint="a run with a store has one: nodeattrs run --store PLACE")


def _check_recipes(cookbook_named: Callable[[str], Cookbook], expansion: Expansion) -> None:
    """Raise RecipeNotFound if a recipe of the run-list has no file; missing cookbooks are skipped."""
    for recipe in expansion.recipes:
        try:
            cookbook = cookbook_named(recipe.partition("::")[0])
            if not cookbook.is_missing:
                cookbook.recipe_file(recipe)
        except RecipeNotFound as error:
            error.details = ("it is on the run-list",)
            raise

"""One run of one node: facts, roles and environment, attribute files, recipes, in Chef's order.

The composition root: it hands the helpers that recipes see in as callables. It opens no
store and prints nothing; what it gives back is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nodeattrs.catalog import Catalog
from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.errors import DocumentError, NodeattrsError, NotFound, RecipeNotFound
from nodeattrs.node.node import Node
from nodeattrs.runs.cookbooks import check_versions, cookbook_order
from nodeattrs.runs.expansion import expand_node
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.injection import Injection
from nodeattrs.runs.lookups import lookup_word
from nodeattrs.runs.recipes import LogLine, RecipeRunner
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.resources import Resources, finder
from nodeattrs.runs.run_list import Expansion
from nodeattrs.texts.documents import Document

__all__ = ["Run", "run_node"]


@dataclass
class Run:
    """What a run did.

    node:            as it is after the last recipe
    expansion:       what the run-list came to
    attribute_files: "cookbook/path" in the order in which they ran
    recipes:         "cookbook::recipe" in the order in which they began
    log:             what cookbook files logged
    warnings:        what is probably not meant, once each
    catalog:         the resources that recipes declared; nothing has been applied
    """

    node: Node
    expansion: Expansion
    attribute_files: list[str] = field(default_factory=list)
    recipes: list[str] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)
    warnings: list[NodeattrsError] = field(default_factory=list)
    catalog: Catalog = field(default_factory=Catalog)


def run_node(
    repository: Repository,
    name: str,
    *,
    facts: Facts,
    run_list: Iterable[object] | None = None,
    environment: str | None = None,
    json_attributes: Document | None = None,
    saved: Node | None = None,
    log: Callable[[LogLine], None] | None = None,
    words: Mapping[str, Any] | None = None,
) -> Run:
    """Run one node of a repository.

    Normal attributes come from the last run, then what nodes/NAME says is deep merged over them, then
    the JSON attributes, lists united each time. Run-list and environment: the arguments, else the JSON
    attributes, else the node file, else the last run, else (the environment only) the configuration.

    facts:           become the whole of automatic
    json_attributes: as `chef-client -j`
    saved:           the node of the last run, not changed
    log:             called with each line that a cookbook file logs
    words:           more names for recipes, such as `search` over a store
    raises:          RecipeFailed, NotFound, RunListError, DocumentError, ...: nothing is kept then
    source:          semantics of Chef's policy builder; docs/merging.md, "A run"
    """
    config = repository.config
    node = Node(name, sensitive=config.sensitive, root=repository.root)
    _hear_before(node, repository, saved)
    given: dict[Any, Any] = {}
    speaker: Speaker = Origin("JSON attributes")
    if json_attributes is not None:
        given, speaker = _map(json_attributes), json_attributes.speaker("JSON attributes", "")
    node.consume_external(facts.tree, given, facts_speaker=facts.speaker, json_speaker=speaker)
    if environment is not None:
        node.environment = environment
    if run_list is not None:
        node.run_list = list(run_list)
    listed = node.run_list
    lookup = lookup_word(repository, node)
    injection = Injection(repository, node, lookup if repository.hiera is not None else None)
    expansion = expand_node(node, repository.role, repository.environment, injection.run_list(listed))
    node.run_list = listed  # what bindings include is worked out anew in each run
    pins = [*expansion.pins(), *repository.environment(node.environment).pins()]
    order = cookbook_order(expansion.recipes, repository.cookbook)
    check_versions(order, repository.cookbook, pins)
    _check_recipes(repository, expansion)
    resources = Resources(node, root=repository.root, find=finder(repository.cookbook))
    known = {
        "search": _no_store,
        "data_bag": repository.data_bag,
        "data_bag_item": repository.data_bag_item,
        "lookup": lookup,
        "inject": injection.inject,
        "parameters": injection.parameters,
        **resources.words(),
        **(words or {}),
    }
    runner = RecipeRunner(node, repository.cookbook, known, log, resources.enter)
    resources.include = runner.run_recipe
    runner.load_attribute_files(order)
    for recipe in expansion.recipes:
        runner.run_recipe(recipe)
    catalog = resources.finish()
    injection.relate(catalog)
    warnings: list[NodeattrsError] = [*repository.warnings, *facts.warnings]
    if json_attributes is not None:
        warnings.extend(json_attributes.warnings)
    return Run(node, expansion, runner.attribute_files, runner.recipes, runner.log, warnings, catalog)


def _hear_before(node: Node, repository: Repository, saved: Node | None) -> None:
    """What is known of the node before this run: the last one, and its file in the repository."""
    if repository.config.environment:
        node.environment = repository.config.environment
    if saved is not None:
        node.environment, node.run_list = saved.environment, saved.run_list
        node.hear_saved(saved)
    described = repository.node_document(node.name)
    if described is not None:
        node.environment = described.environment or node.environment
        node.run_list = described.run_list or node.run_list
        node.hear_normal(described.normal, described.speaker_of("normal"))


def _map(document: Document) -> dict[Any, Any]:
    if not isinstance(document.tree, dict):
        raise DocumentError("JSON attributes must be a map", file=document.file, hint='{"run_list": ["role[web]"]}')
    return document.tree


def _no_store(*_: Any, **__: Any) -> NoReturn:
    raise NotFound("there is no store to search in", hint="a run with a store has one: nodeattrs run --store PLACE")


def _check_recipes(repository: Repository, expansion: Expansion) -> None:
    """A recipe that is not there is found before the first attribute file runs."""
    for recipe in expansion.recipes:
        try:
            repository.cookbook(recipe.partition("::")[0]).recipe_file(recipe)
        except RecipeNotFound as error:
            error.said = ("it is on the run-list",)
            raise

"""Every call of the public face, with an argument of an obviously wrong sort: an error of ours, with a way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeattrs import (
    ANY,
    PRESENT,
    TAKE,
    Deferred,
    Layer,
    Line,
    Node,
    Policy,
    bindings,
    catalog,
    chef,
    cloudinit,
    fold,
    hiera,
    lazy,
    read_layer,
    store,
)
from nodeattrs.core.budget import Limits, limited
from nodeattrs.core.code import held_back, require_may_run
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.running import setting_as
from nodeattrs.project.settings import Settings
from nodeattrs.reports.findings import finding_of
from nodeattrs.reports.selection import Selection, baseline_data
from nodeattrs.store import search


class _Thing:
    def __repr__(self) -> str:
        return "a thing"  # the same in every process


THING = _Thing()
"""What nobody wants."""
STORE = store.open_store("nodes.db")  # nothing is made before the first save
REPOSITORY = chef.Repository(".")


def web1() -> Node:
    """A node with a list in a map."""
    node = Node("web1")
    node.default["a"] = {"b": [1]}
    return node


WRONG: dict[str, list[Callable[[], Any]]] = {
    "face": [
        lambda: lazy(3),
        lambda: Deferred(3),
        lambda: read_layer(None),
        lambda: read_layer("a.yaml", budget=3),
        lambda: Layer.unknown(3, "x", 3),
        lambda: fold([{"a": 1}]).origins(3),
        lambda: fold([{"a": 1}]).trace(None),
        lambda: Policy("x", Line(ANY, PRESENT, TAKE), kinds=3),
    ],
    "node": [
        lambda: web1().write(3, "a", 1),
        lambda: web1().write(["default"], "a", 1),
        lambda: web1().write_strict("default", "a"),
        lambda: web1().unknown("default", "x", "text", "r"),
        lambda: setting_as(web1(), "recipe", "x", locator="x"),
        lambda: web1()[THING],
        lambda: web1().default[THING],
        lambda: web1().default.__setitem__(THING, 1),
        lambda: setattr(web1(), "default", 3),
        lambda: web1().default_unless(3),
        lambda: web1().default_full("a"),
        lambda: Node.from_chef(3),
        lambda: Node.from_chef({}),
        lambda: Node.restore(None),
        lambda: web1().combined_default(THING),
        lambda: web1().default["a"]["b"].insert("x", 1),
        lambda: web1().default["a"]["b"].concat(3),
        lambda: web1().default["a"]["b"].replace(3),
        lambda: web1().default.update(3),
        lambda: web1().default["a"]["b"].delete_at("x"),
        lambda: web1()["a"].read(THING),
        lambda: web1()["a"].merge(3),
        lambda: web1().default["a"]["b"]["x"],
    ],
    "chef": [
        lambda: chef.reset_defaults_and_overrides("w"),
        lambda: chef.apply_expansion(web1(), 3, {}),
        lambda: chef.apply_expansion(web1(), {}, {}, "prod"),
        lambda: chef.consume_external(web1(), 3),
        lambda: chef.consume_external(web1(), {"platform": "x"}, 3),
        lambda: chef.consume_facts(web1(), "x"),
        lambda: chef.expand_node("w", {}, {}),
        lambda: chef.expand_node(web1(), 3, {}, run_list=["role[x]"]),
        lambda: chef.expand_run_list(3, {}),
        lambda: chef.expand_run_list(["role[x]"], 3),
        lambda: chef.Role(3),
        lambda: chef.Role("x", 3),
        lambda: chef.expand_run_list(["role[x]"], {"x": chef.Role("x", [], 3)}).default_attributes,
        lambda: chef.Environment(3),
        lambda: chef.cookbook_order(3, {}),
        lambda: chef.cookbook_order(["a"], 3),
        lambda: chef.cookbook_order("abc", {}),
        lambda: chef.Cookbook(3),
        lambda: chef.Repository(3),
        lambda: chef.Repository("nosuch"),
        lambda: REPOSITORY.data_bag_item(3, 3),
        lambda: checked(3),
        lambda: checked(REPOSITORY, "yes"),
        lambda: Settings(3, {}),
        lambda: Settings({}, 3),
    ],
    "budget": [
        lambda: limited(3).__enter__(),
        lambda: limited(Limits(), values="many").__enter__(),
        lambda: Limits().replaced(step=3),
        lambda: held_back("yes").__enter__(),
        lambda: require_may_run(3),
    ],
    "findings": [
        lambda: finding_of("x", "bad"),
        lambda: finding_of("x", code=3),
        lambda: baseline_data(3),
        lambda: Selection(3),
        lambda: Selection("NA0303"),
        lambda: Selection(known=3),
    ],
    "store": [
        lambda: store.open_store(3),
        lambda: store.open_store(None),
        lambda: STORE.load("w", "x"),
        lambda: STORE.prune("x"),
        lambda: STORE.search("role:x"),
        lambda: STORE.add_history("w", 3),
        lambda: store.saved_document("w"),
        lambda: store.saved_document(web1(), "x"),
        lambda: store.allowed({}, 3),
        lambda: store.blocked({"a": 1}, "a"),
        lambda: store.filtered_snapshot(3),
        lambda: store.filtered_snapshot(web1().snapshot(), 3),
        lambda: STORE.change("w", 3),
        lambda: store.export_nodes(STORE, 3),
        lambda: store.export_nodes(STORE, "out", "web1"),
        lambda: store.import_nodes(3, "out"),
        lambda: store.import_nodes(STORE, None),
        lambda: store.checked_name(3, "node"),
        lambda: search.parse_query(3),
        lambda: search.fields_of(3),
        lambda: search.read_tree(3),
        lambda: search.indexed(3),
    ],
    "hiera": [
        lambda: hiera.Hiera(3),
        lambda: hiera.Hiera(environmentpath=3),
        lambda: hiera.Hiera(modulepath=3),
        lambda: hiera.Hiera(modulepath="modules"),
        lambda: hiera.Hiera(functions=3),
        lambda: hiera.Hiera().scope(3),
        lambda: hiera.Hiera().scope({}, node=3),
        lambda: hiera.Hiera().scope({}, environment=3),
        lambda: hiera.Hiera().scope({}).lookup(3),
        lambda: hiera.Hiera().scope({}).lookup("a", merge=3),
        lambda: hiera.Hiera().scope({}).explain(3),
        lambda: hiera.merge(3),
        lambda: hiera.merge([{}], 3),
        lambda: hiera.differences(3, 4),
        lambda: hiera.undecided(3),
        lambda: hiera.unused(3, 4),
        lambda: hiera.view(3),
        lambda: hiera.Hiera().scope({}).hiera_array(3),
        lambda: hiera.Hiera().who_has(3),
    ],
    "cloudinit": [
        lambda: cloudinit.merge(3),
        lambda: cloudinit.merge("#cloud-config\na: 1"),
        lambda: cloudinit.merge([3]),
        lambda: cloudinit.merge([], mode="x"),
        lambda: cloudinit.merge(["#cloud-config\na: 1"], how=3),
        lambda: cloudinit.Blob(3),
        lambda: cloudinit.merge([cloudinit.Blob(3)]),
        lambda: cloudinit.blob_of(3),
        lambda: cloudinit.config_of_cmdline(3),
        lambda: cloudinit.config_of_cmdline("ro", "1.0"),
        lambda: cloudinit.url_of_cmdline(3),
        lambda: cloudinit.given_in(3),
        lambda: cloudinit.given_in("a: 1", budget=3),
        lambda: cloudinit.vendor_in(3),
        lambda: cloudinit.read_instance(3),
        lambda: cloudinit.release_of("1.0"),
        lambda: cloudinit.merge([], instance_data=3),
        lambda: cloudinit.merge([], cloud_init="1.0"),
        lambda: cloudinit.merge_layers(instance_data={}),
        lambda: cloudinit.definition_of(3),
        lambda: cloudinit.load_config(3),
        lambda: cloudinit.merge_confd(None, 3),
        lambda: cloudinit.merge_many(3),
        lambda: cloudinit.merge_values({}, {}, 3),
        lambda: cloudinit.pack(3),
        lambda: cloudinit.parse_definition(3),
        lambda: cloudinit.read_confd("nosuch"),
        lambda: cloudinit.read_confd(3),
        lambda: cloudinit.register_merger(3, 3),
        lambda: cloudinit.unregister_merger(3),
        lambda: cloudinit.take_definition(3),
        lambda: cloudinit.unpack(3),
        lambda: cloudinit.unpack([], budget=3),
        lambda: cloudinit.merge([], budget=3),
        lambda: cloudinit.merge([], launch_index="x"),
        lambda: cloudinit.merge([], include_root=3),
        lambda: cloudinit.load_config("a: 1", 3),
        lambda: cloudinit.word_or_definition(3),
        lambda: cloudinit.merge(["#cloud-config\na: 1"]).explain(3),
    ],
    "bindings": [
        lambda: bindings.Bindings(3),
        lambda: bindings.Bindings("x").bind(3),
        lambda: bindings.BindingSet(3, ()),
        lambda: bindings.Classes(3),
        lambda: bindings.Composition(3),
        lambda: bindings.Injector(3),
        lambda: bindings.Injector([3]),
        lambda: bindings.Injector([], 3),
        lambda: bindings.Injector().inject(3),
        lambda: bindings.Injector().inject("a", 3),
        lambda: bindings.Injector().get(3),
        lambda: bindings.Injector().explain(3),
        lambda: bindings.Injector().child(3),
        lambda: bindings.Injector().override(3),
        lambda: bindings.Injector().wire(3),
        lambda: bindings.Layer(3),
        lambda: bindings.Injector([bindings.Layer("x", 3)]),
        lambda: bindings.State(3),
        lambda: bindings.State([], mode="x"),
        lambda: bindings.effective_categories(3, fqdn="x", environment="x"),
        lambda: bindings.environment_of(3, confdir="x"),
        lambda: bindings.extended_run_list(3, []),
        lambda: bindings.extended_run_list(bindings.Injector(), 3),
        lambda: bindings.fill_parameters(3, "a", []),
        lambda: bindings.fill_parameters(bindings.Injector(), "a", 3),
        lambda: bindings.kinds_of(3),
        lambda: bindings.layer_references(3, bindings.Inventory()),
        lambda: bindings.map_key(3, 3),
        lambda: bindings.parameter_key(3, 3),
        lambda: bindings.parse_expression(3),
        lambda: bindings.parse_items(3),
        lambda: bindings.parse_sets(3),
        lambda: bindings.parse_site(3),
        lambda: bindings.parse_type(3),
        lambda: bindings.read_sets(3),
        lambda: bindings.sets_from_document(3),
        lambda: bindings.site_from_document(3),
        lambda: bindings.to_data(3),
        lambda: bindings.variable_key(3),
    ],
    "catalog": [
        lambda: catalog.Catalog().add(3),
        lambda: catalog.Catalog().relate(3),
        lambda: catalog.Plan(3),
        lambda: catalog.apply_plan(3),
        lambda: catalog.catalog_from(3),
        lambda: catalog.parsed_chain(3),
        lambda: catalog.parsed_query(3),
        lambda: catalog.ref_of(3),
        lambda: catalog.refs(3),
        lambda: catalog.RefMaker(3),
        lambda: catalog.Catalog().collected(3),
    ],
}

STEPS = ("exist", "read", "read_strict", "dig", "walk", "merged", "has_attribute", "debug_value", "rm", "rm_default")
PATHS = ("trace", "explain", "origins")
NAMES = ("cookbook", "data_bag", "environment", "node_document", "role")


def refused(call: Callable[[], Any]) -> None:
    """Whether a call ends in an error of ours with a way out."""
    with pytest.raises(NodeattrsError) as caught:
        call()

    assert caught.value.hint, str(caught.value)


class TestTheFace:
    @pytest.mark.parametrize("room", WRONG)
    def test_a_wrong_sort_of_argument_is_refused(self, room: str):
        """
        Instead of a `TypeError` from somewhere inside, or an answer to nothing.
        """
        for call in WRONG[room]:
            refused(call)

    @pytest.mark.parametrize("method", STEPS)
    def test_a_step_is_text_or_a_number(self, method: str):
        """
        Each method of a node that takes steps.
        """
        refused(lambda: getattr(web1(), method)(THING))

    @pytest.mark.parametrize("method", PATHS)
    @pytest.mark.parametrize("path", [3, None, THING], ids=str)
    def test_a_path_is_text_or_steps(self, method: str, path: Any):
        """
        Each method that explains.
        """
        refused(lambda: getattr(web1(), method)(path))
        refused(lambda: getattr(fold([{}]), method)(path))

    @pytest.mark.parametrize("method", NAMES)
    def test_a_name_is_text(self, method: str):
        """
        Of whatever a repository has.
        """
        refused(lambda: getattr(REPOSITORY, method)(3))

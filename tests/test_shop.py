"""The example wired end to end: its recipes inject, its bindings collect plugins and ask the kept nodes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nodeattrs.chef import Repository
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.dialects.chef.reports.explain import explained
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.dialects.chef.run.session import NodeRequest
from nodeattrs.store import Saved, open_store
from nodeattrs.store.search.word import search_word
from tests.on_disk import perform

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "cookbooks_example"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Run]:
    """Each node as a fleet runs it, the database server first."""
    store = open_store(str(tmp_path_factory.mktemp("kept") / "nodes.db"))
    repository = Repository(EXAMPLE)
    return {
        name: perform(repository, store, name, NodeRequest(load_facts(EXAMPLE / "facts" / f"{name}.json"))).run
        for name in ("db1", "web1", "web2")
    }


class TestTheShop:
    def test_a_value_is_bound_in_a_module_and_overridden_for_staging(self, runs):
        assert runs["web1"].node["shop"]["url"] == "https://shop.example.com/"
        assert runs["web2"].node["shop"]["url"] == "https://staging.example.com/"

    def test_plugins_are_classes_whose_constructors_are_filled(self, runs):
        assert list(runs["web2"].node["shop"]["checks"]) == ["GET https://staging.example.com/ within 2 s", "4 workers"]

    def test_a_query_is_a_search_over_the_kept_nodes(self, runs):
        assert list(runs["web1"].node["shop"]["databases"]) == ["db1"]

    def test_included_classes_are_recipes(self, runs):
        assert runs["web1"].recipes[-3:] == ["ntp::default", "shop::default", "ssh::default"]
        assert "ntp::default" not in runs["db1"].recipes

    def test_parameters_come_from_the_bindings_or_stay_as_they_are(self, runs):
        ntp = runs["web1"].node["ntp"]

        assert (list(ntp["servers"]), ntp["restrict"], ntp["minpoll"]) == (
            ["ntp1.example.com", "ntp2.example.com"], True, 6,
        )  # fmt: skip

    def test_a_resource_gets_the_parameter_that_nobody_gave(self):
        facts = load_facts(EXAMPLE / "facts" / "web1.json")
        catalog = run_node(Repository(EXAMPLE), "web1", facts=facts, override_run_list=["recipe[ssh::files]"]).catalog
        (banner,) = (one for one in catalog if str(one.ref) == "File[/etc/ssh/banner]")

        assert banner.parameters["mode"] == "0644"
        assert "parameters(File[/etc/ssh/banner]::mode)" in banner.reads

    def test_an_explanation_leads_to_the_line_of_the_binding(self, runs, tmp_path):
        """
        Also to what was asked of the store.
        """
        repository, store = Repository(EXAMPLE), open_store(tmp_path / "nodes.db")
        store.save(Saved("db1", {"name": "db1", "automatic": {"roles": ["db"]}}))
        search = search_word(store)
        (url,) = explained(runs["web1"].node, ("shop", "url"), repository, search=search).readings
        (kept,) = explained(runs["web1"].node, ("shop", "databases"), repository, search=search).readings

        assert url.trace.winner.claim.origin.place == "bindings/modules/shop/bindings/default.pp:4"
        assert kept.trace.winner.claim.origin.file == "bindings/bindings/default.pp"

    def test_without_a_store_the_module_s_own_list_is_taken(self):
        """
        The query gives nothing, and it is optional.
        """
        facts = load_facts(EXAMPLE / "facts" / "web1.json")
        node = run_node(Repository(EXAMPLE), "web1", facts=facts).node

        assert list(node["shop"]["databases"]) == []
        assert node.origins("shop.databases")[0].place == "cookbooks/shop/recipes/default.py:7"

    def test_make_run_shows_it(self):
        shown = re.findall(r"call do,(.+)\)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)

        assert any("url=shop.url" in line for line in shown)
        assert any(line.startswith("bindings explain shop::host") for line in shown)

"""Bindings in a run: `inject` and `parameters` in recipes, classes on the run-list, dependencies in the catalog."""

import json

import pytest

from nodeattrs.catalog.questions import why_before
from nodeattrs.core.claim import Origin
from nodeattrs.errors import NotFound, RecipeFailed
from nodeattrs.reports.explain import explained
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.run import run_node
from tests.on_disk import repository

FACTS = Facts({"platform": "kilnos", "fqdn": "kiln1.example", "role": "oven"}, Origin("facts", "test"))
RECIPE = "cookbooks/kiln/recipes/default.py"

FILES = {
    "nodeattrs.toml": 'bindings = "site"\nhiera = "data"\n',
    "data/hiera.yaml": "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n",
    "data/data/common.yaml": "kiln::fuel: gas\nkiln::heat: 1\n",
    "site/manifests/site.pp": (
        "site {\n"
        "  categories { node => $fqdn, role => $role }\n"
        "  bindings => [ layer { 'site': include => 'confdir:/default' } ]\n"
        "}\n"
    ),
    "site/bindings/default.pp": (
        "bindings default {\n"
        "  bind Integer, 'kiln::peak' to 900\n"
        "  when role oven { bind 'kiln::door' to 'iron' }\n"
        "  bind parameters kiln to { heat => 1040 }\n"
        "}\n"
    ),
    RECIPE: "node.default['peak'] = inject('kiln::peak')\nnode.default['door'] = inject('kiln::door')\n",
    "nodes/kiln1.json": {"name": "kiln1", "run_list": ["kiln"]},
}


@pytest.fixture
def kiln(tmp_path):
    return lambda **changes: repository(tmp_path, {**FILES, **changes})


class TestInject:
    def test_it_answers_for_the_node_that_runs(self, kiln):
        """
        Its facts are the state: the door is bound for ovens only.
        """
        node = run_node(kiln(), "kiln1", facts=FACTS).node

        assert (node["peak"], node["door"]) == (900, "iron")

    def test_a_key_that_nobody_bound_stops_the_recipe_at_its_line(self, kiln):
        """
        As any error of a recipe.
        """
        repo = kiln(**{RECIPE: "\ninject('kiln::chimney')\n"})

        with pytest.raises(RecipeFailed, match=rf"{RECIPE}:2.*kiln::chimney"):
            run_node(repo, "kiln1", facts=FACTS)

    def test_without_a_site_the_error_says_where_to_name_one(self, kiln):
        """
        A repository need not have one until a recipe asks.
        """
        with pytest.raises(RecipeFailed, match=r"no site of bindings(.|\n)*nodeattrs\.toml") as caught:
            run_node(kiln(**{"nodeattrs.toml": ""}), "kiln1", facts=FACTS)
        assert isinstance(caught.value.__cause__, NotFound)

    def test_the_explanation_of_an_attribute_follows_it(self, kiln):
        """
        To the file and line of the binding.
        """
        repo = kiln()
        (read,) = explained(run_node(repo, "kiln1", facts=FACTS).node, ("peak",), repo).readings

        assert read.what == "inject(kiln::peak)"
        assert read.trace.winner.claim.origin.place == "site/bindings/default.pp:2"

    def test_it_is_data_also_where_the_binding_computes(self, kiln):
        """
        What gives the value is said in words.
        """
        site = FILES["site/bindings/default.pp"].replace("900", '"${role}"').replace("Integer, ", "")
        repo = kiln(**{"site/bindings/default.pp": site})
        data = json.loads(json.dumps(explained(run_node(repo, "kiln1", facts=FACTS).node, ("peak",), repo).to_dict()))

        assert [claim["value"] for claim in data["read"][0]["trace"]["claims"]] == ['"${role}"']


class TestParameters:
    def test_bindings_come_first_then_hiera_then_the_recipe(self, kiln):
        """
        Each parameter for itself.
        """
        repo = kiln(**{RECIPE: "node.default['kiln'] = parameters('kiln', heat=0, fuel='coal', tray=3)\n"})

        assert run_node(repo, "kiln1", facts=FACTS).node["kiln"] == {"heat": 1040, "fuel": "gas", "tray": 3}

    def test_the_explanation_says_which_it_was(self, kiln):
        """
        The line of the binding, the line of the Hiera file; the recipe's own value has no other place.
        """
        repo = kiln(**{RECIPE: "node.default['kiln'] = parameters('kiln', heat=0, fuel='coal', tray=3)\n"})
        node = run_node(repo, "kiln1", facts=FACTS).node
        read = {one.what: one.trace for one in explained(node, ("kiln", "heat"), repo).readings}

        assert read["parameters(kiln::heat)"].winner.claim.origin.file == "site/bindings/default.pp"
        assert read["parameters(kiln::fuel)"].origins(())[0].file == "data/data/common.yaml"
        assert read["parameters(kiln::tray)"] is None

    def test_without_a_site_hiera_comes_first(self, kiln):
        """
        And without either, the recipe's own values.
        """
        files = {RECIPE: "node.default['kiln'] = parameters('kiln', heat=0, tray=3)\n"}

        assert run_node(kiln(**files, **{"nodeattrs.toml": 'hiera = "data"\n'}), "kiln1", facts=FACTS).node["kiln"] == {
            "heat": 1,
            "tray": 3,
        }
        assert run_node(kiln(**files, **{"nodeattrs.toml": ""}), "kiln1", facts=FACTS).node["kiln"] == {
            "heat": 0,
            "tray": 3,
        }


class TestClasses:
    def test_an_included_class_is_a_recipe_behind_the_run_list(self, kiln):
        """
        For this run: the node's own run-list stays what it is.
        """
        site = FILES["site/bindings/default.pp"].replace("bindings default {", "bindings default {\n  include ash")
        run = run_node(
            kiln(**{"site/bindings/default.pp": site, "cookbooks/ash/recipes/default.py": ""}), "kiln1", facts=FACTS
        )

        assert run.recipes == ["kiln::default", "ash::default"]
        assert run.node.run_list == ["recipe[kiln]"]


class TestDependencies:
    def test_they_order_the_resources_that_are_both_declared(self, kiln):
        """
        The others are not missed.
        """
        bound = "".join(f"  bind dependency File['/{name}'] -> File['/a']\n" for name in "bc")
        site = FILES["site/bindings/default.pp"].replace("default {\n", f"default {{\n{bound}", 1)
        recipe = "file('/a', content='a')\nfile('/b', content='b')\n"
        catalog = run_node(kiln(**{"site/bindings/default.pp": site, RECIPE: recipe}), "kiln1", facts=FACTS).catalog

        assert [str(ref) for ref in catalog.plan().order() if str(ref).startswith("File")] == ["File[/b]", "File[/a]"]

    def test_each_knows_the_line_of_its_binding(self, kiln):
        """
        Where two say the same, that of the first, the higher one.
        """
        bound = "  bind dependency File['/b'] ~> [File['/a'], File['/c']]\n  bind dependency File['/b'] ~> File['/a']\n"
        site = FILES["site/bindings/default.pp"].replace("default {\n", f"default {{\n{bound}", 1)
        recipe = "for name in 'abc':\n    file(f'/{name}', content=name)\n"
        catalog = run_node(kiln(**{"site/bindings/default.pp": site, RECIPE: recipe}), "kiln1", facts=FACTS).catalog
        (step,) = why_before(catalog.plan(), "File[/b]", "File[/a]")

        assert (step.reason, step.origin.place) == ("the chain File['/b'] ~> File['/a']", "site/bindings/default.pp:2")

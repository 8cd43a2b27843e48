"""One run: what it hears, in which order, whose word counts, and what the next run still knows."""

import contextlib
import json
from pathlib import Path

import pytest

from nodeattrs import Node
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import (
    AmbiguousRunList,
    BadArgument,
    BadName,
    CookbookNotFound,
    CookbookVersionConflict,
    DocumentError,
    EnvironmentNotFound,
    RecipeFailed,
    RecipeNotFound,
    RoleNotFound,
    ValueWithheld,
)
from nodeattrs.formats.documents import Document, parse
from tests.on_disk import repository

FACTS = Facts({"platform": "pottery", "fqdn": "n1.example.com"}, Origin("facts", "of the test"))
STRICT, WORD = "nodeattrs.toml", '[chef]\nmissing_cookbooks = "error"\n'
RECIPE, NODE = "cookbooks/kiln/recipes/default.py", "nodes/n1.json"
ENVIRONMENTS = {f"environments/{name}.json": {"name": name} for name in ("prod", "test", "lab", "argued")}

PINNED = {"cookbooks/kiln/metadata.json": {"name": "kiln", "version": "1.4.0"}}
LADDER = ("settings", "saved", "file", "json", "argument")
"""Who names an environment, the weakest first."""

EVERYBODY = {
    "roles/web.json": {
        "name": "web",
        "run_list": ["kiln"],
        "default_attributes": {"role_default": 1},
        "override_attributes": {"role_override": 1},
    },
    "environments/prod.json": {
        "name": "prod",
        "default_attributes": {"env_default": 1},
        "override_attributes": {"env_override": 1},
    },
    "cookbooks/kiln/attributes/default.py": "default['d'] = normal['n'] = override['o'] = 1\n"
    "force_default['fd'] = force_override['fo'] = 1",
    RECIPE: "node.default['rd'] = node.normal['rn'] = node.override['ro'] = 1\n"
    "node.force_default['rfd'] = node.force_override['rfo'] = 1\n"
    "tag('hot')",
}


def run(root: Path, files: dict[str, object], **options: object) -> Run:
    """Run the node "n1" of a repository with these files; the cookbook kiln is always there."""
    return run_node(repository(root, {RECIPE: "", **files}), "n1", **{"facts": FACTS, **options})


def attributes(tree: object) -> Document:
    """What `-j attributes.json` reads."""
    return parse(json.dumps(tree, indent=1), "attributes.json", "json")


def again(root: Path, files: dict[str, object], before: Run, **options: object) -> Run:
    """The next run, which knows what the last one left: by its snapshot, as a store would keep it."""
    kept = json.loads(json.dumps(before.node.snapshot()))
    return run(root, files, saved=Node.restore(kept), **options)


def origin(node: Node, path: str) -> str:
    return str(node.trace(path).winner.claim.origin)


class TestOrder:
    def test_facts_roles_environment_attribute_files_recipes(self, tmp_path):
        """
        Each may read what came before it.
        """
        files = {
            "roles/web.json": {"name": "web", "run_list": ["kiln"], "default_attributes": {"role": 1}},
            "environments/prod.json": {"name": "prod", "default_attributes": {"env": 1}},
            "cookbooks/kiln/attributes/default.py": "default['seen'] = [node['platform'], node['role'], node['env'], "
            "list(node['expanded_run_list'])]",
            RECIPE: "node.default['then'] = node['seen'][0]",
        }
        done = run(tmp_path, files, run_list=["role[web]"], environment="prod")

        assert ["pottery", 1, 1, ["kiln::default"]] == done.node["seen"]
        assert "pottery" == done.node["then"]
        assert ["kiln/attributes/default.py"] == done.attribute_files
        assert ["kiln::default"] == done.recipes == done.expansion.qualified

    def test_facts_become_the_whole_of_automatic(self, tmp_path):
        """
        With the node's name and environment noted among them; nobody stands above.
        """
        node = run(tmp_path, {RECIPE: "node.force_override['fqdn'] = 'mine'"}, run_list=["kiln"]).node

        assert ("n1.example.com", "n1", "_default") == (node["fqdn"], node["name"], node["chef_environment"])
        assert "facts of the test" == origin(node, "fqdn")

    def test_facts_without_a_platform_are_refused(self, tmp_path):
        """
        They would be those of no machine.
        """
        with pytest.raises(BadArgument, match="platform"):
            run(tmp_path, {}, facts=Facts({"fqdn": "n1"}, Origin("facts")))

    def test_without_a_run_list_there_is_still_a_node(self, tmp_path):
        """
        With its facts, its environment and what is known of it.
        """
        done = run(tmp_path, {NODE: {"name": "n1", "normal": {"a": 1}}})

        assert ([], [], []) == (done.recipes, done.attribute_files, done.node.run_list)
        assert 1 == done.node["a"]

    def test_a_missing_recipe_is_found_before_the_first_file_runs(self, tmp_path):
        """
        The run list is read as a whole.
        """
        stated = []
        files = {"cookbooks/kiln/attributes/default.py": "log('began')"}
        with pytest.raises(RecipeNotFound) as caught:
            run(tmp_path, files, run_list=["kiln", "kiln::fire"], log=stated.append)

        assert [] == stated
        assert "it is on the run-list" in str(caught.value)

    def test_a_ring_of_dependencies_is_cut(self, tmp_path):
        """
        Each cookbook loads once; the one that was met first loads last.
        """
        files = {}
        for name, needed in (("kiln", "clay"), ("clay", "shop"), ("shop", "kiln")):
            files[f"cookbooks/{name}/metadata.json"] = {"name": name, "depends": {needed: ">= 0.0"}}
            files[f"cookbooks/{name}/attributes/default.py"] = ""

        assert ["shop", "clay", "kiln"] == [
            file.partition("/")[0] for file in run(tmp_path, files, run_list=["kiln"]).attribute_files
        ]

    def test_sensitive_paths_of_the_settings_are_kept_from_the_start(self, tmp_path):
        """
        Whoever says them.
        """
        files = {"nodeattrs.toml": 'sensitive = ["pin"]\n', NODE: {"name": "n1", "normal": {"pin": "1234"}}}
        node = run(tmp_path, files).node

        assert "1234" == node["pin"].unwrap()
        assert "1234" not in node.explain("pin")
        assert "1234" not in json.dumps(node.snapshot())

    def test_warnings_of_all_documents_are_handed_on(self, tmp_path):
        """
        The repository's and those of the JSON attributes.
        """
        files = {"roles/web.json": {"name": "web", "descripton": "x"}}
        done = run(tmp_path, files, run_list=["role[web]"])

        assert 1 == len(done.warnings)
        assert "descripton" in str(done.warnings[0])


class TestWhoDecides:
    """Run list and environment: the arguments, else -j, else the node's file, else the last run, else the settings."""

    @pytest.mark.parametrize("spoken", [LADDER[:depth] for depth in range(len(LADDER) + 1)], ids=len)
    def test_the_last_source_that_names_an_environment_decides(self, tmp_path, spoken):
        """
        The last of them that says one.
        """
        said = {"settings": "lab", "saved": "prod", "file": "test", "json": "argued", "argument": "prod"}
        files = dict(ENVIRONMENTS)
        options: dict[str, object] = {}
        if "settings" in spoken:
            files["nodeattrs.toml"] = 'environment = "lab"\n'
        if "saved" in spoken:
            options["saved"] = Node("n1", "prod")
        if "file" in spoken:
            files[NODE] = {"name": "n1", "chef_environment": "test"}
        if "json" in spoken:
            options["json_attributes"] = attributes({"chef_environment": "argued"})
        if "argument" in spoken:
            options["environment"] = "prod"
        node = run(tmp_path, files, **options).node

        expected = said[spoken[-1]] if spoken else "_default"
        assert expected == node.environment == node["chef_environment"]

    @pytest.mark.parametrize("spoken", [LADDER[1:depth] for depth in range(1, len(LADDER) + 1)], ids=len)
    def test_the_run_list(self, tmp_path, spoken):
        """
        The same, but for the settings, which name none.
        """
        files: dict[str, object] = {f"cookbooks/kiln/recipes/{name}.py": "" for name in LADDER}
        options: dict[str, object] = {}
        if "saved" in spoken:
            options["saved"] = Node("n1")
            options["saved"].run_list = ["kiln::saved"]
        if "file" in spoken:
            files[NODE] = {"name": "n1", "run_list": ["kiln::file"]}
        if "json" in spoken:
            options["json_attributes"] = attributes({"run_list": ["kiln::json"]})
        if "argument" in spoken:
            options["run_list"] = ["kiln::argument"]
        done = run(tmp_path, files, **options)

        assert [f"kiln::{one}" for one in spoken[-1:]] == done.recipes

    def test_a_node_file_without_a_run_list_leaves_the_saved_one(self, tmp_path):
        """
        And without an environment, the environment.
        """
        saved = Node("n1", "prod")
        saved.run_list = ["kiln"]
        node = run(tmp_path, {NODE: {"name": "n1", "normal": {"a": 1}}, **ENVIRONMENTS}, saved=saved).node

        assert (["recipe[kiln]"], "prod", 1) == (node.run_list, node.environment, node["a"])


class TestJsonAttributes:
    def test_json_attributes_are_deep_merged_over_normal(self, tmp_path):
        """
        Lists united, each leaf with its own line; what stood there before is told.
        """
        files = {NODE: {"name": "n1", "normal": {"kiln": {"cone": 6, "racks": ["a", "b"], "gas": True}}}}
        given = attributes({"kiln": {"cone": 9, "racks": ["c", "a"]}})
        node = run(tmp_path, files, json_attributes=given).node

        assert {"cone": 9, "racks": ["a", "b", "c"], "gas": True} == node["kiln"]
        assert "attributes.json:3 (JSON attributes)" == origin(node, "kiln.cone")
        assert [("overwritten", 6, "nodes/n1.json:5")] == [
            (past.event, past.claim.value, past.claim.origin.place) for past in node.trace("kiln.cone").history
        ]
        assert ["nodes/n1.json:7", "nodes/n1.json:8", "attributes.json:5"] == [
            element.claims[0].origin.place for element in node.trace("kiln.racks").elements
        ]
        assert {"nodes/n1.json:7", "attributes.json:6"} == {
            claim.origin.place for claim in node.trace("kiln.racks").elements[0].claims
        }

    def test_what_is_meant_for_the_run_is_taken_out(self, tmp_path):
        """
        Run list, by either name, and environment are no attributes.
        """
        given = attributes({"recipes": ["kiln"], "chef_environment": "prod", "a": 1})
        done = run(tmp_path, ENVIRONMENTS, json_attributes=given)

        assert ["kiln::default"] == done.recipes
        assert {"a": 1, "tags": []} == done.node.slots[7].to_dict() | done.node.slots[8].to_dict()
        assert "prod" == done.node.environment
        assert {"recipes", "chef_environment"} <= {*done.node.slots[15].to_dict()}

    def test_json_attributes_are_applied_in_each_run(self, tmp_path):
        """
        A list that a recipe cut down grows again; one that it did not is not doubled.
        """
        given = attributes({"racks": ["a", "b"]})
        files = {RECIPE: "node.normal['racks'].delete('b')"}
        first = run(tmp_path, files, run_list=["kiln"], json_attributes=given)
        second = again(tmp_path, {}, first, run_list=[], json_attributes=given)
        third = again(tmp_path, {}, second, json_attributes=given)

        assert (["a"], ["a", "b"], ["a", "b"]) == (first.node["racks"], second.node["racks"], third.node["racks"])

    @pytest.mark.parametrize(
        ("tree", "kind"),
        [
            ({"run_list": ["kiln"], "recipes": ["kiln"]}, AmbiguousRunList),
            (["kiln"], DocumentError),
            ("kiln", DocumentError),
        ],
    )
    def test_contradicting_json_attributes_are_refused(self, tmp_path, tree, kind):
        """
        With the name of the file.
        """
        with pytest.raises(kind) as caught:
            run(tmp_path, {}, json_attributes=attributes(tree))

        assert "attributes.json" in f"{caught.value}{caught.value.origins}"


class TestTheNextRun:
    def test_only_normal_is_kept(self, tmp_path):
        """
        Everything else is said anew, or not at all.
        """
        first = run(tmp_path, EVERYBODY, run_list=["role[web]"], environment="prod")
        second = again(tmp_path, {}, first, run_list=[], environment="_default")

        facts = {*second.node.slots[15].to_dict()}
        assert {"n": 1, "rn": 1, "tags": ["hot"]} == {
            key: value for key, value in second.node.to_dict().items() if key not in facts
        }
        assert {7, 15} == {number for number, slot in second.node.slots.items() if slot.to_dict()}

    def test_normal_attributes_of_the_last_run_name_that_run(self, tmp_path):
        """
        With the file and line of the run that said it; a third run does not say it twice.
        """
        first = run(tmp_path, EVERYBODY, run_list=["role[web]"], environment="prod")
        second = again(tmp_path, {}, first, run_list=[])
        third = again(tmp_path, {}, second)

        for node in (second.node, third.node):
            assert f"{RECIPE}:1 (saved recipe kiln::default)" == origin(node, "rn")
            kept = "cookbooks/kiln/attributes/default.py:1 (saved attribute file kiln::default)"
            assert kept == origin(node, "n")
            assert f"{RECIPE}:3 (saved recipe kiln::default)" == str(node.trace("tags").elements[0].claims[0].origin)

    def test_the_saved_node_is_not_changed(self, tmp_path):
        """
        It may be compared with what the run made of it.
        """
        saved = Node("n1")
        saved.normal["a"] = {"b": [1]}
        before = saved.snapshot()
        files = {RECIPE: "node.normal['a']['b'].append(2)\nnode.normal['c'] = 1\ntag('hot')"}
        done = run(tmp_path, files, run_list=["kiln"], saved=saved)

        assert {"b": [1, 2]} == done.node["a"]
        assert before == saved.snapshot()

    def test_a_node_known_from_chef_alone_is_saved_by_nobody_in_particular(self, tmp_path):
        """
        Chef's document does not say who; we do not guess.
        """
        saved = Node.from_chef({"name": "n1", "normal": {"a": 1}, "default": {"gone": 1}, "run_list": []})
        node = run(tmp_path, {}, saved=saved).node

        assert 1 == node["a"]
        assert "saved origin unknown" == origin(node, "a")
        assert "gone" not in node

    def test_the_node_of_a_run_is_as_good_as_the_saved_one(self, tmp_path):
        """Each value has its own line, and a secret is not handed on."""
        files = {"nodeattrs.toml": 'sensitive = ["a.secret"]\n'}
        before = run(tmp_path, files, json_attributes=attributes({"a": {"b": 1, "c": {"d": 2}, "secret": "x1"}}))

        for node in (run(tmp_path, {}, saved=before.node).node, again(tmp_path, {}, before).node):
            assert "attributes.json:3 (saved JSON attributes)" == origin(node, "a.b")
            assert "attributes.json:5 (saved JSON attributes)" == origin(node, "a.c.d")
            with pytest.raises(ValueWithheld):
                node.read("a", "secret")

    def test_the_nodes_own_file_is_heard_in_each_run(self, tmp_path):
        """
        Deep merged over what was saved; its line is the one that is named.
        """
        files = {NODE: {"name": "n1", "normal": {"kiln": {"cone": 6}, "racks": ["a"]}}}
        text = "node.normal['kiln']['cone'] = 9\nnode.normal['racks'].append('z')"
        first = run(tmp_path, {**files, RECIPE: text}, run_list=["kiln"])
        edited = {NODE: {"name": "n1", "normal": {"kiln": {"cone": 7, "gas": True}, "racks": ["a", "b"]}}, RECIPE: ""}
        second = again(tmp_path, edited, first)

        assert ({"cone": 9}, ["a", "z"]) == (first.node["kiln"], first.node["racks"])
        assert {"cone": 7, "gas": True} == second.node["kiln"]
        assert "nodes/n1.json:5 (node n1)" == origin(second.node, "kiln.cone")
        assert ["a", "b", "z"] == second.node["racks"]

    @pytest.mark.parametrize("given", [{}, {"tags": ["json"]}])
    def test_a_list_that_recipes_add_to_has_one_order_in_all_runs(self, tmp_path, given):
        """
        As in Chef, where the saved node has the elements of its document before those that recipes add.
        """
        files = {NODE: {"name": "n1", "normal": {"tags": ["rack"]}}, RECIPE: "tag('hot')\ntag('rack')\ntag('clay')"}
        runs = [run(tmp_path, files, run_list=["kiln"], json_attributes=attributes(given))]
        for _ in range(2):
            runs.append(again(tmp_path, {}, runs[-1], json_attributes=attributes(given)))

        assert [["rack", *given.get("tags", []), "hot", "clay"]] * 3 == [one.node["tags"] for one in runs]
        assert f"{NODE}:5 (node n1)" == str(runs[-1].node.trace("tags").elements[0].claims[0].origin)
        assert f"{RECIPE}:1 (saved recipe kiln::default)" == str(
            runs[-1].node.trace("tags").elements[-2].claims[0].origin
        )

    @pytest.mark.parametrize("name", ["db1", "web1", "web2"])
    def test_a_second_run_of_the_example_changes_nothing(self, name):
        """
        No value, and no order of a list.
        """
        example = Path(__file__).parents[1] / "cookbooks_example"
        facts = load_facts(example / "facts" / f"{name}.json")
        first = run_node(Repository(example), name, facts=facts)
        second = run_node(Repository(example), name, facts=facts, saved=Node.restore(first.node.snapshot()))

        assert first.node.to_dict() == second.node.to_dict()

    def test_what_the_nodes_own_file_no_longer_says_is_gone(self, tmp_path):
        """
        It was never the run's to keep; what a recipe added to the same map or list is kept.
        """
        files = {
            NODE: {"name": "n1", "normal": {"kiln": {"cone": 6}, "racks": ["a"], "alone": 1}},
            RECIPE: "node.normal['kiln']['gas'] = True\nnode.normal['racks'].append('z')",
        }
        first = run(tmp_path, files, run_list=["kiln"])
        second = again(tmp_path, {NODE: {"name": "n1"}, RECIPE: ""}, first)

        assert ({"gas": True}, ["z"]) == (second.node["kiln"], second.node["racks"])
        assert "alone" not in second.node

    def test_an_unless_of_normal_stays_with_its_first_word(self, tmp_path):
        """
        That is what it is for.
        """
        text = "node.normal_unless['port'] = {}"
        first = run(tmp_path, {RECIPE: text.format(8000)}, run_list=["kiln"])
        second = again(tmp_path, {RECIPE: text.format(9000)}, first)

        assert 8000 == second.node["port"]
        assert ["silent"] == [past.event for past in second.node.trace("port").history]

    def test_what_a_recipe_removed_from_normal_stays_removed(self, tmp_path):
        """
        As long as nobody says it again.
        """
        saved = Node("n1")
        saved.normal["queue"] = {"host": "mq"}
        first = run(tmp_path, {RECIPE: "node.rm('queue')"}, run_list=["kiln"], saved=saved)
        second = again(tmp_path, {RECIPE: ""}, first)

        assert "queue" not in second.node


class TestVersions:
    @pytest.mark.parametrize(
        ("files", "options", "asked"),
        [
            (
                {"environments/prod.json": {"name": "prod", "cookbook_versions": {"kiln": "~> 2.0"}}},
                {"run_list": ["kiln"], "environment": "prod"},
                "~> 2.0 is required by environments/prod.json:4 (environment prod)",
            ),
            (
                {
                    "cookbooks/shop/metadata.json": {"name": "shop", "depends": {"kiln": "< 1.4"}},
                    "cookbooks/shop/recipes/default.py": "",
                },
                {"run_list": ["shop"]},
                "< 1.4 is required by cookbooks/shop/metadata.json:4 (cookbook shop)",
            ),
            (
                {"roles/web.json": {"name": "web", "run_list": ["recipe[kiln@1.3.0]"]}},
                {"run_list": ["role[web]"]},
                "1.3.0 is required by roles/web.json:4 (role web)",
            ),
            ({}, {"run_list": ["kiln@2.0.0"]}, "2.0.0 is required by run list of the node"),
        ],
        ids=["environment", "metadata", "role", "node"],
    )
    def test_whoever_asks_for_another_version_is_named(self, tmp_path, files, options, asked):
        """
        With the version that is there, and where it says so.
        """
        with pytest.raises(CookbookVersionConflict) as caught:
            run(tmp_path, {**PINNED, **files}, **options)

        assert f"cookbook kiln is at 1.4.0 (cookbooks/kiln/metadata.json:3), and {asked}" in str(caught.value)

    def test_all_conflicts_are_said_at_once(self, tmp_path):
        """
        In one error.
        """
        files = {"environments/prod.json": {"name": "prod", "cookbook_versions": {"kiln": "= 1.0.0"}}}
        with pytest.raises(CookbookVersionConflict) as caught:
            run(tmp_path, {**PINNED, **files}, run_list=["kiln@1.2.0"], environment="prod")

        assert 2 == len(caught.value.origins)

    def test_what_is_asked_of_cookbooks_that_are_not_used_does_not_matter(self, tmp_path):
        """
        An environment pins many.
        """
        files = {"environments/prod.json": {"name": "prod", "cookbook_versions": {"shop": "= 9.0.0", "kiln": "~> 1.2"}}}

        assert ["kiln::default"] == run(tmp_path, {**PINNED, **files}, run_list=["kiln"], environment="prod").recipes


class TestWhatIsMissing:
    @pytest.mark.parametrize(
        ("files", "options", "kind", "says"),
        [
            ({}, {"run_list": ["role[web]"]}, RoleNotFound, "run list of the node"),
            (ENVIRONMENTS, {"environment": "prd"}, EnvironmentNotFound, "did you mean prod?"),
            ({STRICT: WORD}, {"run_list": ["klin"]}, CookbookNotFound, "did you mean kiln?"),
            ({}, {"run_list": ["kiln::fire"]}, RecipeNotFound, "cookbook kiln has no recipe fire"),
            (
                {STRICT: WORD, "cookbooks/kiln/metadata.json": {"name": "kiln", "depends": {"clay": ">= 1.0"}}},
                {"run_list": ["kiln"]},
                CookbookNotFound,
                "it is required by cookbooks/kiln/metadata.json:4 (cookbook kiln)",
            ),
            ({NODE: {"name": "n1", "chef_environment": "gone"}}, {}, EnvironmentNotFound, "gone"),
        ],
    )
    def test_what_is_not_there_is_named_with_a_way_out(self, tmp_path, files, options, kind, says):
        """
        Or with who asked for it.
        """
        with pytest.raises(kind) as caught:
            run(tmp_path, files, **options)

        assert says in str(caught.value)

    @pytest.mark.parametrize(
        "options",
        [{"run_list": ["role[../../x]"]}, {"run_list": ["../kiln"]}, {"environment": "../prod"}],
    )
    def test_names_from_outside_never_leave_the_repository(self, tmp_path, options):
        """
        They are refused as names, not looked up.
        """
        with pytest.raises(BadName):
            run(tmp_path / "inside", {}, **options)

    def test_the_name_of_the_node_neither(self, tmp_path):
        """
        It is a file name under nodes/.
        """
        with pytest.raises(BadName):
            run_node(repository(tmp_path, {RECIPE: ""}), "../n1", facts=FACTS)


class TestNothingLeaks:
    def test_two_runs_share_nothing(self, tmp_path):
        """
        One repository, one set of facts, two nodes: what one does to its own the other does not see.
        """
        known = repository(
            tmp_path,
            {
                RECIPE: "node.automatic['ips'].append(node.name)\nnode.role_default['racks'].append(node.name)",
                "roles/web.json": {"name": "web", "run_list": ["kiln"], "default_attributes": {"racks": []}},
            },
        )
        facts = Facts({"platform": "pottery", "ips": []}, Origin("facts"))
        nodes = [run_node(known, name, facts=facts, run_list=["role[web]"]).node for name in ("n1", "n2")]

        assert [(["n1"], ["n1"]), (["n2"], ["n2"])] == [(node["ips"], node["racks"]) for node in nodes]
        assert {"platform": "pottery", "ips": []} == facts.tree

    def test_a_run_inside_a_run_gives_the_words_back(self, tmp_path):
        """
        Whoever runs a node from within a recipe: the outer file still speaks with its own words.
        """
        inner = repository(tmp_path / "inner", {RECIPE: "from nodeattrs.recipe import node\nnode.default['in'] = 1"})
        text = "log('now')\nfrom nodeattrs.recipe import node\nnode.default['out'] = 1"
        stated = []

        def run_the_other(line: object) -> None:
            stated.append(run_node(inner, "n2", facts=FACTS, run_list=["kiln"]).node)

        node = run(tmp_path / "outer", {RECIPE: text}, run_list=["kiln"], log=run_the_other).node

        assert (1, 1) == (node["out"], stated[0]["in"])
        assert ("in" in node, "out" in stated[0]) == (False, False)

    def test_after_a_run_that_failed_the_next_one_is_like_the_first(self, tmp_path):
        """
        On the same repository object, also.
        """
        files = {RECIPE: "node.default['a'] = 1\nif node.exist('broken'):\n    raise ValueError"}
        known = repository(tmp_path, files)
        broken = Facts({**FACTS.tree, "broken": True}, FACTS.locator)
        fresh = run_node(known, "n1", facts=FACTS, run_list=["kiln"]).node.to_dict()
        with contextlib.suppress(RecipeFailed):
            run_node(known, "n1", facts=broken, run_list=["kiln"])

        assert fresh == run_node(known, "n1", facts=FACTS, run_list=["kiln"]).node.to_dict()

    def test_two_runs_of_the_same_say_the_same(self):
        """
        Values, origins and log of the example, to the last line.
        """
        example = Path(__file__).parents[1] / "cookbooks_example"
        facts = Facts({**FACTS.tree, "platform_version": "1", "memory": {"total": "1024kB"}}, FACTS.locator)
        first, second = (run_node(Repository(example), "db1", facts=facts) for _ in range(2))

        assert first.node.snapshot() == second.node.snapshot()
        assert first.log == second.log


TWO_KEYS = {
    "roles/web.json": {"name": "web", "run_list": ["kiln"], "default_attributes": {"vhosts": {"80": {}}}},
    RECIPE: 'node.default["vhosts"][80] = {"n": 1}\nnode.default["uids"] = [{1: "a", "1": "b"}]\n',
    NODE: {"name": "n1", "run_list": ["role[web]"]},
}


class TestKeysThatJsonCannotTellApart:
    def test_a_number_beside_its_text_is_a_warning_with_both_places(self, tmp_path):
        """
        It ended the whole run, and named no file.
        """
        done = run(tmp_path, TWO_KEYS)

        assert [
            'vhosts.80 and vhosts."80" are one key in what is saved, whose keys are text: the last one is kept',
            'uids.0.1 and uids.0."1" are one key in what is saved, whose keys are text: the last one is kept',
        ] == sorted((warning.message for warning in done.warnings), reverse=True)
        assert {"NA0416"} == {warning.code for warning in done.warnings}
        assert (
            f'vhosts.80 was set by {RECIPE}:1 (recipe kiln::default)\n  vhosts."80" was set by roles/web.json:'
            in "".join(map(str, done.warnings))
        )

    def test_the_last_one_is_saved(self, tmp_path):
        """
        As Chef does; the node itself has both.
        """
        node = run(tmp_path, TWO_KEYS).node

        assert {"n": 1} == node["vhosts"][80]
        assert {"vhosts": {"80": {}}, "uids": [{"1": "b"}]} == node.to_chef()["default"]

    def test_a_number_alone_is_no_matter(self, tmp_path):
        """
        Nor are both in different maps.
        """
        files = {RECIPE: 'node.default["a"] = {80: 1}\nnode.default["b"] = {"80": 1}\n'}

        assert [] == run(tmp_path, {**TWO_KEYS, **files}).warnings

"""Bindings in a run: `inject` and `parameters` in recipes, classes on the run-list, dependencies in the catalog."""

import json

import pytest

from nodeattrs.bindings import BindingErrors
from nodeattrs.catalog.questions import why_before
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import held_back
from nodeattrs.core.tree import ABSENT, dig, parse
from nodeattrs.dialects.bindings.site import _KeptNodes, site_of
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.reports.explain import explained
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import DocumentError, NotFound, RecipeFailed, UnknownLayer
from nodeattrs.node.node import Node
from nodeattrs.store import Saved, open_store
from nodeattrs.store.search.word import search_word
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
    def test_inject_uses_the_facts_of_the_running_node(self, kiln):
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

    def test_a_computed_binding_is_explained_as_data(self, kiln):
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


class TestManyNodes:
    """What is the same for all nodes of a repository is read once; what one node does no other sees."""

    def test_a_recipe_may_change_an_injected_value(self, kiln):
        """
        A constant of a file, and a fact.
        """
        repo = kiln(
            **{
                "site/bindings/default.pp": (
                    "bindings default {\n"
                    "  bind 'kiln::sizes' to [1, { 'a' => [2] }]\n"
                    "  bind 'kiln::mine' to [0, $racks]\n"
                    "}\n"
                ),
                RECIPE: (
                    "for key in ('sizes', 'mine'):\n"
                    "    given = inject(f'kiln::{key}')\n"
                    "    node.default[key] = [*given]\n"
                    "    given[1]['a'].append(node.name)\n"
                ),
            }
        )
        facts = Facts({**FACTS.tree, "racks": {"a": []}}, FACTS.locator, settled=True)

        for name in ("one", "two"):
            node = run_node(repo, name, facts=facts, run_list=["kiln"]).node
            read = [node[key].to_plain() for key in ("sizes", "mine", "racks")]
            assert read == [[1, {"a": [2]}], [0, {"a": []}], {"a": []}]

    def test_a_secret_fact_is_one_for_bindings_too(self, kiln):
        """
        As where facts are taken in first.
        """
        repo = kiln(**{"nodeattrs.toml": 'bindings = "site"\nsensitive = ["role"]\n'})
        for settled in (False, True):
            with pytest.raises(BindingErrors, match="the value of category role is a Sensitive"):
                run_node(repo, "kiln1", facts=Facts(FACTS.tree, FACTS.locator, settled=settled))


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
    def test_bound_dependencies_order_declared_resources(self, kiln):
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


DB = {"name": "db1", "roles": ["db", "base"], "sql": {"user": "app", "port": 5432}, "fqdn": "db1.example"}
WEB = {"name": "web1", "roles": ["web"], "fqdn": "web1.example"}


def search(index: str, query: str = "*:*", attributes=None):
    """What a store with two nodes would find."""
    assert query in ("*:*", "roles:db", "name:db1", 'name:"db1"', 'name:"web1"')
    asked = {"*:*": (DB, WEB), 'name:"web1"': (WEB,)}
    found = asked.get(query, (DB,))
    if attributes is None:
        return [dict(one) for one in found]
    values = [{title: dig(one, parse(path)) for title, path in attributes.items()} for one in found]
    return [{title: None if value is ABSENT else value for title, value in each.items()} for each in values]


class TestKeptNodes:
    def test_a_query_is_a_search_over_them(self, kiln):
        """
        `Sql[NAME]` is each node with a map `sql`; `Node[NAME]` each node; a role is one of several.
        """
        site = """bindings default {
          bind 'dbs' to Sql[?? role == db]
          bind 'nodes' to Node[?? fqdn =~ 'example']
          bind parameters kiln to Sql[?? port > 80] { map => { user => user, host => fqdn } }
        }"""
        recipe = (
            "node.default['dbs'] = [str(one) for one in inject('dbs')]\n"
            "node.default['nodes'] = [str(one) for one in inject('nodes')]\n"
            "node.default['kiln'] = parameters('kiln', user='nobody', host='nowhere')\n"
        )
        repo = kiln(**{"site/bindings/default.pp": site, RECIPE: recipe})
        node = run_node(repo, "kiln1", facts=FACTS, words={"search": search}).node

        assert node["dbs"] == ["Sql[db1]"]
        assert node["nodes"] == ["Node[db1]", "Node[web1]"]
        assert node["kiln"] == {"user": "app", "host": "db1.example"}

    def test_a_query_reads_the_attributes_of_its_conditions_and_an_instance_its_own_node(self, kiln, tmp_path):
        """
        A node that only has the other's name somewhere below is another one. The stored attributes need not have the
        name.
        """
        store = open_store(tmp_path / "nodes.db")
        for name, facts in (("a", {"owner": {"name": "db1"}}), ("db1", {**DB, "name": None})):
            store.save(Saved(name, {"name": name, "automatic": {k: v for k, v in facts.items() if v is not None}}))
        asked = []

        def noted(index, query="*:*", attributes=None):
            asked.append((query, attributes and sorted(attributes)))
            return search_word(store)(index, query, attributes)

        site = """bindings default {
          bind 'dbs' to Node[?? role == db]
          bind 'dc' to optional Node[?? datacenter == b or title == a]
        }"""
        recipe = "node.default['dbs'] = [str(one) for one in inject('dbs') + inject('dc')]\n"
        repo = kiln(**{"site/bindings/default.pp": site, RECIPE: recipe})
        node = run_node(repo, "kiln1", facts=FACTS, words={"search": noted}).node

        assert node["dbs"] == ["Node[db1]", "Node[a]"]
        assert asked == [("roles:db", ["name", "role", "roles"]), ("*:*", ["datacenter", "name", "title"])]
        assert _KeptNodes(noted).instance("Node[db1]")["sql"] == {"user": "app", "port": 5432}
        assert _KeptNodes(noted).instance("Node[gone]") is None

    def test_an_explicit_null_in_a_map_of_a_node_leaves_the_attribute_of_the_node(self):
        """A query and the parameters of the instance that it finds agree."""
        node = {"name": "db1", "fqdn": "db1.example", "sql": {"user": "app", "fqdn": None}}

        def found(index, query="*:*", attributes=None):
            return [node] if attributes is None else [{path: dig(node, parse(path)) for path in attributes}]

        nodes = _KeptNodes(found)
        ((_, has),) = nodes.of_type("Sql", [("fqdn", "==", "db1.example")])
        assert has["fqdn"] == nodes.instance("Sql[db1]")["fqdn"] == "db1.example"

    def test_saved_nodes_and_hiera_are_layers_of_bindings(self, kiln):
        """
        Each key of the tree under its own name, with its line; each node as a hash.
        """
        manifest = FILES["site/manifests/site.pp"].replace(
            "'confdir:/default' }", "'confdir:/default' }, layer { 'data': include => ['hiera:/kiln::*', 'nodes:/*'] }"
        )
        recipe = (
            "node.default['fuel'] = inject('kiln::fuel')\nnode.default['port'] = inject('nodes::db1')['sql']['port']\n"
        )
        repo = kiln(**{"site/manifests/site.pp": manifest, RECIPE: recipe})
        node = run_node(repo, "kiln1", facts=FACTS, words={"search": search}).node
        (read,) = explained(node, ("fuel",), repo).readings
        assert search not in vars(repo).values()  # a run leaves nothing to the next run of the repository

        assert (node["fuel"], node["port"]) == ("gas", 5432)
        assert read.trace.winner.claim.origin.place == "data/data/common.yaml:1"


CODE = """
class Ember:
    def __init__(self, heat: int = 3) -> None:
        self.heat = heat

def ash(references, request):
    from nodeattrs.bindings import Bindings
    return [Bindings.of_values("ash", {"ash::of": request.node})]

class Asher:
    def __call__(self, references, request):
        return ash(references, request)
"""


class TestCode:
    SETTINGS = """
[bindings]
site = "site"
classes = ["lib/fire.py:Ember", "lib/fire.py:Asher"]
providers = {ash = "lib/fire.py:ash"}
"""

    def test_the_settings_name_classes_and_providers(self, kiln):
        """
        Of a file in the repository, or of a package; a provider may be bound, too.
        """
        manifest = FILES["site/manifests/site.pp"].replace(
            "'confdir:/default' }", "'confdir:/default' }, layer { 'ash': include => ['ash:/', 'bound:/'] }"
        )
        site = """bindings default {
          bind Type[Ember], 'ember' to Type[Ember]
          bind 'bound' to Type[Asher] in 'bindings_providers'
        }"""
        recipe = "node.default['heat'] = inject('ember', 'Type[Ember]').heat\nnode.default['of'] = inject('ash::of')\n"
        files = {
            "nodeattrs.toml": self.SETTINGS, "lib/fire.py": CODE, "site/manifests/site.pp": manifest,
            "site/bindings/default.pp": site, RECIPE: recipe,
        }  # fmt: skip
        with pytest.raises(BindingErrors, match=r"'ash::of' is bound 2 times"):
            run_node(kiln(**files), "kiln1", facts=FACTS)
        files["site/manifests/site.pp"] = manifest.replace("'ash:/', ", "")
        node = run_node(kiln(**files), "kiln1", facts=FACTS).node
        assert (node["heat"], node["of"]) == (3, "kiln1")

    def test_where_code_is_held_back_nothing_of_it_is_loaded(self, kiln):
        """
        A class is an unknown layer when somebody needs it, and not before.
        """
        site = "bindings default { bind Type[Ember], 'ember' to Type[Ember] bind 'a' to 1 }"
        repo = kiln(**{"nodeattrs.toml": self.SETTINGS, "lib/fire.py": "1/0", "site/bindings/default.pp": site})
        with held_back():
            injector = site_of(repo, repo.root / "site", node="n", facts={}).injector()
            assert injector.inject("a") == 1
            with pytest.raises(UnknownLayer, match="the class Ember is code, which was not run"):
                injector.inject("ember", "Type[Ember]")

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('classes = ["Ember"]', "names no code"),
            ("classes = [3]", "must be text"),
            ('providers = {a = "x"}', "names no code"),
        ],
    )
    def test_what_names_no_code_is_found_at_its_line(self, kiln, line, said):
        repo = kiln(**{"nodeattrs.toml": f"[bindings]\n{line}\n"})
        with pytest.raises(DocumentError, match=said):
            repo.config  # noqa: B018

    def test_an_unknown_word_of_the_table_is_a_warning(self, kiln):
        repo = kiln(**{"nodeattrs.toml": "[bindings]\nsight = 'site'\n"})

        assert repo.config.bindings is None
        assert [warning.hint for warning in repo.warnings] == ["known are classes, providers, site"]

    def test_code_that_cannot_be_loaded_is_an_error_that_names_it(self, kiln):
        site = "bindings default { bind Type[Ember], 'ember' to Type[Ember] }"
        repo = kiln(**{"nodeattrs.toml": self.SETTINGS, "lib/fire.py": "1/0", "site/bindings/default.pp": site})

        with pytest.raises(DocumentError, match=r"lib/fire\.py:Ember cannot be loaded: division by zero"):
            site_of(repo, repo.root / "site", node="n", facts={}).injector()


class TestImplicitly:
    RECIPE = """
@define
def oven(title, heat=1, fuel='none', tray='steel'):
    file(f'/{title}', content=f'{heat} {fuel} {tray}')

oven('a')
oven('b', heat=5)
file('/plain', content='x')
"""
    SITE = """bindings default {
      bind parameters Oven to { heat => 900 }
      bind parameters Oven[b] to { heat => 2, tray => 'stone' }
      bind parameters File['/plain'] to { mode => '0600' }
    }"""

    def test_a_parameter_that_nobody_gave_is_looked_up(self, kiln):
        """
        Of this one, of its type, in Hiera, then its default; of a file what is bound for it.
        """
        data = "oven::fuel: wood\n"
        repo = kiln(**{RECIPE: self.RECIPE, "site/bindings/default.pp": self.SITE, "data/data/common.yaml": data})
        catalog = run_node(repo, "kiln1", facts=FACTS).catalog
        contents = {str(one.ref): one.subject.content for one in catalog if one.subject is not None}

        assert contents == {"File[/a]": "900 wood steel", "File[/b]": "5 wood stone", "File[/plain]": "x"}
        plain = next(one for one in catalog if str(one.ref) == "File[/plain]")
        assert plain.parameters["mode"] == "0600"
        assert "parameters(File[/plain]::mode)" in plain.reads
        assert repo.injection(Node("kiln1")).trace("parameters", "Oven[a]::heat").winner.claim.origin.line == 2

"""Resources in recipes: the words, where things are contained, what a line read, Chef's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeattrs import Node
from nodeattrs.catalog import Catalog, DuplicateResource, Plan
from nodeattrs.causes.program_reads import conditions_of, reads_of
from nodeattrs.cli import main
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook
from nodeattrs.dialects.chef.run.recipes import RecipeRunner
from nodeattrs.dialects.chef.run.resources import Resources, cookbook_file_finder
from nodeattrs.errors import BadArgument, BadName, RecipeFailed
from tests.on_disk import repository


class Kitchen:
    """Cookbooks on disk, one recipe a text, and a node that runs them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.node = Node("n", root=root)
        find = cookbook_file_finder(self.cookbook)
        self.resources = Resources(self.node, root=root, find=find, bound=lambda kind, title, defaults: {})

    def cookbook(self, name: str) -> Cookbook:
        folder = self.root / name
        files = tuple(str(file.relative_to(folder)) for file in sorted(folder.rglob("*.py")))
        return Cookbook(name, files=files, root=folder, folder=name)

    def run(self, **recipes: str) -> Catalog:
        """Run the recipe `web`; names are recipes, `a__b` is `a::b`."""
        for name, text in recipes.items():
            cookbook, _, part = name.partition("__")
            file = self.root / cookbook / "recipes" / f"{part or 'default'}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        runner = RecipeRunner(self.node, self.cookbook, self.resources.words())
        self.resources.include = runner.run_recipe
        runner.run_recipe("web")
        return self.resources.finish()

    def plan(self, **recipes: str) -> Plan:
        return self.run(**recipes).plan()


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path)


def order(plan: Plan) -> list[str]:
    return [str(ref) for ref in plan.order()]


def edges(plan: Plan) -> list[str]:
    graph = plan.graph
    return [
        f"{graph.spelled(edge.source)} {'~>' if edge.refresh else '->'} {graph.spelled(edge.target)}"
        for edge in graph.edges
    ]


class TestWords:
    def test_a_declaration_is_a_reference_that_can_stand_in_a_chain(self, kitchen):
        """
        One title gives one, a list of titles gives several.
        """
        plan = kitchen.plan(web="reload = execute('reload', refresh_only=True)\nfile(['/a', '/b']) >> ~reload\n")

        assert ["File[/a] ~> Execute[reload]", "File[/b] ~> Execute[reload]"] == edges(plan)

    def test_metaparameters_take_references_texts_and_lists(self, kitchen):
        """
        Also of what is declared later.
        """
        plan = kitchen.plan(web="file('/a', require=[File['/b'], 'File[/c]'], before=None)\nfile('/b')\nfile('/c')\n")

        assert ["File[/b]", "File[/c]", "File[/a]"] == order(plan)

    def test_puppets_text_is_understood(self, kitchen):
        """
        With the line of the recipe as its origin.
        """
        plan = kitchen.plan(web="file('/b')\nlink('/a', to='b')\n\nchain(\"Link <| |> -> File <| |>\")\n")
        reason, origin = plan.graph.reason(plan.graph.edges[0])

        assert ["Link[/a]", "File[/b]"] == order(plan)
        assert "the chain Link <| |> -> File <| |>" == reason
        assert ("web/recipes/default.py", 4) == (origin.file, origin.line)

    def test_what_is_declared_twice_names_both_lines(self, kitchen):
        """
        As the cause of the recipe's failure.
        """
        with pytest.raises(RecipeFailed, match="declared twice") as caught:
            kitchen.run(web="file('/a')\n\nfile('/a')\n")

        assert isinstance(caught.value.__cause__, DuplicateResource)
        assert "first: web/recipes/default.py:1 (recipe web::default)" in str(caught.value)
        assert "again: web/recipes/default.py:3 (recipe web::default)" in str(caught.value)

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("file('/a', contents='x')", "did you mean content?"),
            ("resource('Service', 'x')", "there is no resource type Service"),
            ("file('/a', noop='yes')", "noop is True or False"),
            ("file('/a', require=7)", "is no reference"),
            ("file('/a', notifies=('x', 'y'))", "is not understood"),
            ("file('/a', notifies=('run', File['/b'], ':soon'))", "'soon' is no timing"),
            ("file('/a', template='../secret')", "cannot be a file of a cookbook"),
            ("file('/a', template='none.j2')", "has no templates/none.j2"),
            ("require_recipe('gone')", "gone"),
            ("chain('File[')", "a title was expected"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(self, kitchen, line, said):
        """
        And nothing has been touched.
        """
        with pytest.raises(RecipeFailed) as caught:
            kitchen.run(web=f"\n{line}\n")

        assert said in str(caught.value)
        assert "web/recipes/default.py:2" in str(caught.value) or "gone" in said

    def test_templates_are_found_in_the_cookbook(self, kitchen):
        """
        In `templates/`, there in `default/` too, and in another cookbook by its name.
        """
        for place in ("web/templates/a.j2", "other/templates/default/b.j2"):
            (kitchen.root / place).parent.mkdir(parents=True)
            (kitchen.root / place).write_text("x")
        catalog = kitchen.run(web="file('/a', template='a.j2')\nfile('/b', template='other::b.j2')\n")

        assert str(kitchen.root / "other/templates/default/b.j2") == catalog["File[/b]"].subject.template
        with pytest.raises(BadName):
            cookbook_file_finder(kitchen.cookbook)("web", "files", "a/../../b")


class TestContainment:
    def test_a_recipe_contains_what_it_declares(self, kitchen):
        """
        A reference to a recipe stands for all of it.
        """
        plan = kitchen.plan(
            web="include_recipe('web::a')\nfile('/late', require=Recipe['web::a'])\n", web__a="file('/b')\nfile('/c')\n"
        )

        assert ["Recipe[web::a]"] == list(plan.catalog["File[/b]"].within)
        assert "/late" in order(plan)[-1]

    def test_include_orders_nothing_and_require_does(self, kitchen):
        """
        `require_recipe` is the `require` function.
        """
        recipes = {"web__a": "file('/a', require=File['/z'])\nfile('/z')\n"}
        included = kitchen.plan(web="file('/w')\ninclude_recipe('::a')\n", **recipes)
        assert ["File[/w]", "File[/z]", "File[/a]"] == order(included)

        again = Kitchen(kitchen.root)
        required = again.plan(web="file('/w')\nrequire_recipe('::a')\n", **recipes)
        assert ["File[/z]", "File[/a]", "File[/w]"] == order(required)
        reason, origin = required.graph.reason(required.graph.edges[0])
        assert ("require of Recipe[web::default]", 2) == (reason, origin.line)

    def test_contain_makes_it_a_part(self, kitchen):
        """
        What comes after the outer one comes after the inner one.
        """
        plan = kitchen.plan(
            web="include_recipe('web::outer')\n",
            web__outer="file('/after', require=Recipe['web::holds'])\ninclude_recipe('web::holds')\n",
            web__holds="contain_recipe('web::inner')\n",
            web__inner="file('/inner')\n",
        )

        assert ["File[/inner]", "File[/after]"] == order(plan)

    def test_a_defined_type_is_a_container_whose_body_runs_late(self, kitchen):
        """
        After all recipes, each level of nesting one round later; so it may use what is declared below.
        """
        plan = kitchen.plan(
            web="""\
@define
def site(name, port=80):
    page(name + '-page')
    file(f'/{name}', content=str(port))

@define
def page(name):
    file(f'/{name}')

sites = site(['a', 'b'], port=81)
sites >> ~execute('reload', refresh_only=True)
file('/first')
"""
        )

        assert ["File[/first]", "File[/a]", "File[/b]", "File[/a-page]", "File[/b-page]", "Execute[reload]"] == order(
            plan
        )
        assert ("Site[a]",) == plan.catalog["Page[a-page]"].within
        assert "81" == plan.catalog["File[/a]"].subject.content

    def test_a_body_that_fails_names_the_instance(self, kitchen):
        """
        And the line that declared it.
        """
        with pytest.raises(RecipeFailed, match=r"Site\[a\], declared at web/recipes/default.py:4 .*ZeroDivisionError"):
            kitchen.run(web="@define\ndef site(name):\n    1 / 0\nsite('a')\n")

    def test_types_that_declare_themselves_for_ever_are_stopped(self, kitchen):
        """
        With a word about who.
        """
        with pytest.raises(BadArgument, match="without end: More"):
            kitchen.run(web="@define\ndef more(name):\n    more(name + 'x')\nmore('a')\n")


class TestChefsWords:
    @pytest.mark.parametrize(
        "said",
        [
            "notifies=Execute['e']",
            "notifies='execute[e]'",
            "notifies=('run', 'execute[e]')",
            "notifies=('run', Execute['e'], ':immediately')",
            "notifies=[('run', 'execute[e]', 'delayed')]",
        ],
    )
    def test_notifies_is_notify(self, kitchen, said):
        """
        With or without an action and a timing.
        """
        plan = kitchen.plan(web=f"file('/a', {said})\nexecute('e', refresh_only=True)\n")

        assert ["File[/a] ~> Execute[e]"] == edges(plan)

    def test_subscribes_is_subscribe(self, kitchen):
        """
        The other way round.
        """
        plan = kitchen.plan(web="execute('e', subscribes=('run', 'file[/a]'))\nfile('/a')\n")

        assert ["File[/a] ~> Execute[e]"] == edges(plan)

    def test_a_timing_is_accepted_with_a_word_about_when(self, kitchen):
        """
        Refreshes come when their target's turn comes.
        """
        (warning,) = kitchen.plan(
            web="execute('e')\nfile('/a', notifies=('run', Execute['e'], ':immediately'))\n"
        ).warnings()

        assert "when the turn of Execute[e] comes, after all who notify it" in str(warning)
        assert "web/recipes/default.py:2" in str(warning)


class TestReads:
    def test_a_resource_knows_the_attributes_that_its_line_read(self, kitchen):
        """
        Names are followed to where they were assigned.
        """
        kitchen.node.default["web"] = {"dir": "/srv", "port": 80, "other": 1}
        catalog = kitchen.run(
            web="web = node['web']\nfile(\n    f\"{web['dir']}/a\",\n    content=str(node.read('web', 'port')),\n)\n"
        )

        assert ("web.dir", "web.port") == catalog["File[/srv/a]"].reads

    @pytest.mark.parametrize(
        ("text", "line", "expected"),
        [
            ("file(node['a']['b'])", 1, ("a.b",)),
            ("file(node['a'][1])", 1, ("a.1",)),
            ("for site in node['sites']:\n    file(site)", 2, ("sites",)),
            ("x = lookup('motd')\nfile('/a', content=x)", 2, ("lookup(motd)",)),
            ("def port():\n    return node['p']\nfile('/a', content=port())", 3, ("p",)),
            ("file('/a')\nx = node['other']", 1, ()),
            ("file('/a', content=node['a'].to_dict())", 1, ("a",)),
            ("a = b\nb = a\nfile(a)", 3, ()),
            ("this is no Python", 1, ()),
            ("", 1, ()),
        ],
    )
    def test_attributes_that_a_resource_reads_are_found_in_the_source(self, text, line, expected):
        """
        What is certain is named, and no more.
        """
        assert expected == reads_of(text, line)

    def test_a_computed_step_ends_the_path(self):
        """
        Below it nobody knows.
        """
        assert ("sites", "name") == reads_of("file(node['sites'][node['name']]['dir'])", 1)

    @pytest.mark.parametrize(
        "lines",
        [
            ["a0 = node['x']", *(f"a{n} = a{n - 1} + 1" for n in range(1, 3000))],
            ["b = (" + "-" * 60 + "node['x']" + ".y" * 80 + ")", *["b = [b]"] * 1_200],
        ],
    )
    def test_a_long_way_of_names_is_followed(self, lines):
        assert ("x",) == reads_of("\n".join(lines), len(lines))

    def test_a_match_is_a_condition(self):
        text = "match node['a']:\n    case 1 if node['b']:\n        node.default['x'] = 1\n"
        assert ("a", "b") == conditions_of(text, 3)

    @pytest.mark.parametrize(
        ("before", "read"),
        [
            ("    if node['a']:\n        return\n", ("a",)),
            ("    for one in node['l']:\n        if node['a']:\n            return\n", ("l", "a")),
            ("    for one in node['l']:\n        if node['a']:\n            break\n", ()),
            ("    if node['a']:\n        pass\n", ()),
            ("    def inner():\n        if node['a']:\n            return\n", ()),
        ],
    )
    def test_a_condition_that_may_leave_the_function_before_a_line_counts(self, before, read):
        text = f"def port():\n{before}    node.default['x'] = 1\n"
        assert read == conditions_of(text, text.count("\n"))

    def test_a_condition_that_may_skip_the_rest_of_a_loop_counts(self):
        text = "for one in node['l']:\n    if node['a']:\n        continue\n    node.default['x'] = one\n"
        assert ("l", "a") == conditions_of(text, 4)

    @pytest.mark.parametrize(
        ("after", "read"),
        [
            ("except KeyError:\n    node.default['x'] = 1\n", ("a", "b")),
            ("except KeyError:\n    pass\nelse:\n    node.default['x'] = 1\n", ("a", "b")),
            ("    node.default['x'] = 1\nexcept KeyError:\n    pass\n", ("a", "b")),
            ("finally:\n    node.default['x'] = 1\n", ()),
        ],
        ids=["in a handler", "in the else", "later in the try", "in the finally, which always runs"],
    )
    def test_what_a_try_reads_before_a_line_counts(self, after, read):
        text = f"try:\n    port = node['a']\n    host = node['b']\n{after}"
        assert read == conditions_of(text, text.splitlines().index("    node.default['x'] = 1") + 1)


class TestRecipesWhoseResourcesAreNotKnown:
    ASKED = ("list", "check", "order", "graph")

    @pytest.mark.parametrize(
        ("files", "said"),
        [
            ({}, "recipe app::default is not there"),
            ({"recipes/default.rb": "file '/x'\n"}, "is Ruby, which was not run"),
            (
                {"recipes/default.yml": "resources:\n- type: file\n  name: /x\n"},
                "whose resources are not in the catalog",
            ),
        ],
    )
    @pytest.mark.parametrize("action", ASKED)
    def test_a_catalog_without_them_is_not_certain(self, tmp_path, capsys, files, said, action):
        base = {"cookbooks/app/metadata.rb": "name 'app'\n"} if files else {"roles/r.json": {"name": "r"}}
        repository(tmp_path, {**base, **{f"cookbooks/app/{name}": text for name, text in files.items()}})
        words = ["--repo", str(tmp_path), "--node", "n1", "--run-list", "recipe[app]", "--platform", "debian-12"]

        assert 5 == main(["catalog", action, *words])
        out, err = capsys.readouterr()
        assert said in out + err

    @pytest.mark.parametrize("action", ASKED)
    def test_a_catalog_of_recipes_that_all_ran_is_certain(self, tmp_path, capsys, action):
        files = {
            "metadata.rb": "name 'app'\n",
            "recipes/default.py": "log('x')\n",
            "recipes/more.yml": "resources: []\n",
        }
        repository(tmp_path, {f"cookbooks/app/{name}": text for name, text in files.items()})
        words = ["--repo", str(tmp_path), "--node", "n1", "--platform", "debian-12"]

        assert 0 == main(["catalog", action, *words, "--run-list", "recipe[app],recipe[app::more]"])

"""Attribute files and recipes: their words, their order, and errors that point at their lines."""

import ast
import contextlib
import sys
import traceback
from pathlib import Path

import pytest

import nodeattrs.recipe
from nodeattrs import Sensitive
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.run.platform_words import QUESTIONS
from nodeattrs.dialects.chef.run.recipes import words_now
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import (
    AttributeFileNotFound,
    CookbookNotFound,
    DataBagItemNotFound,
    DocumentError,
    NodeattrsError,
    NoSuchAttribute,
    RecipeFailed,
    RecipeNotFound,
    TypeConflict,
    UnknownName,
)
from tests.on_disk import repository

FACTS = Facts({"platform": "pottery"}, Origin("facts", "of the test"))
ATTRIBUTES, RECIPE = "cookbooks/kiln/attributes/default.py", "cookbooks/kiln/recipes/default.py"


def run(root: Path, files: dict[str, object], *, run_list: tuple[str, ...] = ("kiln",), **options: object) -> Run:
    """Run the node "n1" of a repository with these files; the cookbook kiln is always there."""
    known = repository(root, {RECIPE: "", **files})
    return run_node(known, "n1", facts=FACTS, run_list=run_list, **options)


def failure(root: Path, files: dict[str, object], **options: object) -> RecipeFailed:
    with pytest.raises(RecipeFailed) as caught:
        run(root, files, **options)
    return caught.value


FILE_SPEAKS = """
default["a"]["default"] = 1
force_default["a"]["force_default"] = 1
normal["a"]["normal"] = 1
override["a"]["override"] = 1
force_override["a"]["force_override"] = 1
default_unless["a"]["default_unless"] = 1
normal_unless["a"]["normal_unless"] = 1
override_unless["a"]["override_unless"] = 1
default_full["f"]["default_full"] = 1
force_default_full["g"]["force_default_full"] = 1
normal_full["h"]["normal_full"] = 1
override_full["i"]["override_full"] = 1
force_override_full["j"]["force_override_full"] = 1
default["seen"] = [has_attribute("a"), has_attribute("zzz"), node["platform"]]
default["symbol"] = Symbol("salt")
default["lazy"] = lazy(lambda: node["a"]["default"] + 1)
default["secret"] = Sensitive("ash glaze")
log("fired")
"""
FILE_IMPORTS = """from nodeattrs.recipe import (
    Sensitive, Symbol, default, default_full, default_unless, force_default, force_default_full, force_override,
    force_override_full, has_attribute, lazy, log, node, normal, normal_full, normal_unless, override, override_full,
    override_unless,
)
"""
RECIPE_SPEAKS = """
node.default["bags"] = data_bag("glazes")
node.default["ash"] = data_bag_item("glazes", "ash")["parts"]
node.default["tags_then"] = tag("hot", "new") + untag("new")
node.default["tagged"] = [tagged("hot"), tagged("hot", "new"), tagged()]
node.default["lazy"] = lazy(lambda: node["bags"][0])
include_recipe("kiln::cool")
log("done", "debug")
"""
RECIPE_IMPORTS = (
    "from nodeattrs.recipe import data_bag, data_bag_item, include_recipe, lazy, log, node, tag, tagged, untag\n"
)
BAG = {"data_bags/glazes/ash.json": {"id": "ash", "parts": [3, 1]}}


class TestWords:
    @pytest.mark.parametrize("imports", ["", FILE_IMPORTS], ids=["as they are", "imported"])
    def test_an_attribute_file_has_all_its_words(self, tmp_path, imports):
        """
        With the import and without; each writer writes the attribute file's slot of its component.
        """
        node = run(tmp_path, {ATTRIBUTES: imports + FILE_SPEAKS}).node

        assert set(node["a"]) == {
            *("default", "force_default", "normal", "override", "force_override"),
            *("default_unless", "normal_unless", "override_unless"),
        }
        assert [key for slot in (1, 5, 7, 9, 13) for key in node.slots[slot].to_dict() if key in "fghij"] == [*"fghij"]
        assert [True, False, "pottery"] == node["seen"]
        assert 2 == node["lazy"]
        assert isinstance(node["secret"], Sensitive)
        assert all("attribute file" == node.trace(key).winner.claim.origin.kind for key in "afghij")

    @pytest.mark.parametrize("imports", ["", RECIPE_IMPORTS], ids=["as they are", "imported"])
    def test_a_recipe_has_all_its_words(self, tmp_path, imports):
        """
        With the import and without; what it writes is set by the recipe.
        """
        cool = "cookbooks/kiln/recipes/cool.py"
        done = run(tmp_path, {RECIPE: imports + RECIPE_SPEAKS, cool: "node.override['cool'] = True", **BAG})

        assert ["ash"] == done.node["bags"]
        assert [3, 1] == done.node["ash"]
        assert ["hot", "new", "hot"] == done.node["tags_then"]
        assert [True, False, True] == done.node["tagged"]
        assert ["hot"] == done.node["tags"]
        assert "ash" == done.node["lazy"]
        assert Origin("recipe", "kiln::cool", cool, 1, 25) == done.node.trace("cool").winner.claim.origin
        assert ["kiln::default", "kiln::cool"] == done.recipes

    def test_the_module_lists_the_words_that_files_get(self, tmp_path):
        """
        Nothing is bound that the module does not offer, but for the two names that only tell what to write.
        """
        collect = "default['words'] = sorted(n for n in globals() if not n.startswith('__'))"
        collected = "node.default['more'] = sorted(n for n in globals() if not n.startswith('__'))"
        node = run(tmp_path, {ATTRIBUTES: collect, RECIPE: collected}).node

        assert {*node["words"], *node["more"]} - {"set", "set_unless"} == set(nodeattrs.recipe.__all__)

    def test_type_checkers_see_the_words_that_the_module_lists(self):
        """
        What is declared for them, and what is really given at run time, are the same names. The questions about
        the machine are not: to a type checker they are what the module's `__getattr__` gives.
        """
        tree = ast.parse(Path(nodeattrs.recipe.__file__).read_text("utf-8"))
        block = next(one for one in tree.body if isinstance(one, ast.If))
        declared = {one.target.id for one in block.body if isinstance(one, ast.AnnAssign)}
        declared |= {one.name for one in block.body if isinstance(one, ast.FunctionDef)}

        assert declared | {"Sensitive", "Symbol", "lazy", *QUESTIONS} == set(nodeattrs.recipe.__all__)

    def test_an_imported_node_outlives_the_run(self, tmp_path):
        """
        A deferred value reads the node that it was written for, whatever ran since.
        """
        files = {
            ATTRIBUTES: "from nodeattrs.recipe import default, lazy, node\n"
            "default['cone'] = 6\ndefault['glaze'] = lazy(lambda: f\"cone {node['cone']}\")"
        }
        first = run(tmp_path, files).node
        second = run(tmp_path, {**files, RECIPE: "node.override['cone'] = 9"}).node

        assert ("cone 6", "cone 9") == (first["glaze"], second["glaze"])

    def test_a_word_is_found_by_an_import_inside_a_function(self, tmp_path):
        """
        Imports may stand where they are needed, as long as the file runs.
        """
        text = "def fire():\n    from nodeattrs.recipe import node\n    node.default['hot'] = True\nfire()"

        assert run(tmp_path, {RECIPE: text}).node["hot"] is True


class TestWrongPlaces:
    @pytest.mark.parametrize(
        ("file", "text", "says"),
        [
            (RECIPE, "from nodeattrs.recipe import default", "'default' is a word of attribute files"),
            (RECIPE, "from nodeattrs.recipe import has_attribute", "'has_attribute' is a word of attribute files"),
            (ATTRIBUTES, "from nodeattrs.recipe import tag", "'tag' is a word of recipes"),
            (ATTRIBUTES, "from nodeattrs.recipe import include_recipe", "'include_recipe' is a word of recipes"),
            (ATTRIBUTES, "from nodeattrs.recipe import defualt", "there is no word 'defualt'"),
        ],
    )
    def test_a_word_of_the_other_kind_of_file_is_named_as_such(self, tmp_path, file, text, says):
        """
        The import fails at its line.
        """
        error = failure(tmp_path, {file: f"\n{text}"})

        assert says in str(error)
        assert str(error).startswith(f"{file}:2: ")
        assert isinstance(error.__cause__, NodeattrsError)

    def test_a_writer_in_a_recipe_is_answered_with_the_line_to_write(self, tmp_path):
        """
        Recipes write through the node.
        """
        error = failure(tmp_path, {RECIPE: "from nodeattrs.recipe import override_unless"})

        assert "in a recipe write node.override_unless" in str(error)

    @pytest.mark.parametrize(
        ("file", "text", "says"),
        [
            (RECIPE, "default['a'] = 1", "write node.default"),
            (RECIPE, "default_unless['a'] = 1", "write node.default_unless"),
            (ATTRIBUTES, "include_recipe('kiln::fire')", "include_recipe in a recipe; attribute files only set"),
        ],
    )
    def test_without_the_import_the_answer_is_the_same(self, tmp_path, file, text, says):
        """
        The words of the other kind of file are known here too, as what they are.
        """
        error = failure(tmp_path, {file: text})

        assert isinstance(error.__cause__, UnknownName)
        assert says in str(error)

    @pytest.mark.parametrize(
        ("text", "instead"),
        [
            ("set['a'] = 1", "normal[...] = ..."),
            ("set['a']['b'] = 1", "normal[...] = ..."),
            ("set([1])", "{1, 2}"),
            ("set_unless['a'] = 1", "normal_unless[...] = ..."),
            ("node.set['a'] = 1", "node.normal[...] = ..."),
        ],
    )
    def test_set_is_gone(self, tmp_path, text, instead):
        """
        In attribute files the name gives the error, not Python's own set.
        """
        error = failure(tmp_path, {ATTRIBUTES: text})

        assert isinstance(error.__cause__, UnknownName)
        assert instead in str(error)

    def test_a_write_to_the_merged_node_shows_the_line_to_write(self, tmp_path):
        """
        `node["a"] = 1` meant normal, long ago.
        """
        assert "node.default" in str(failure(tmp_path, {RECIPE: "node['a'] = 1"}))

    @pytest.mark.parametrize("name", ["node", "default", "include_recipe"])
    def test_outside_of_a_run_no_word_is_known(self, name):
        """
        The error says how to run a file, and names no place of this machine.
        """
        with pytest.raises(NodeattrsError, match="nodeattrs run") as caught:
            exec(f"from nodeattrs.recipe import {name}")

        assert nodeattrs.recipe.__file__ not in str(caught.value)

    def test_outside_of_a_run_strange_names_are_ordinary_errors(self):
        """
        So that tools may look around in the module.
        """
        assert not hasattr(nodeattrs.recipe, "kiln")
        assert not hasattr(nodeattrs.recipe, "__wrapped__")


class TestIncludes:
    def test_a_recipe_runs_once(self, tmp_path):
        """
        By whichever of its names it is asked for; it begins before the ones it includes.
        """
        files = {
            RECIPE: "include_recipe('kiln::fire', '::fire', 'kiln')\nnode.default['n'].append(1)",
            "cookbooks/kiln/recipes/fire.py": "include_recipe('kiln::default')\nnode.default['n'].append(2)",
            ATTRIBUTES: "default['n'] = []",
        }
        done = run(tmp_path, files, run_list=("kiln", "kiln::default", "kiln::fire"))

        assert [2, 1] == done.node["n"]
        assert ["kiln::default", "kiln::fire"] == done.recipes

    def test_two_colons_mean_the_cookbook_at_hand(self, tmp_path):
        """
        Of the file that includes, and not of the one that included it.
        """
        files = {
            RECIPE: "include_recipe('shop::open')",
            "cookbooks/shop/recipes/open.py": "include_recipe('::till')",
            "cookbooks/shop/recipes/till.py": "",
            "cookbooks/shop/attributes/default.py": "include_attribute('::prices')",
            "cookbooks/shop/attributes/prices.py": "",
            "cookbooks/kiln/metadata.json": {"name": "kiln", "depends": {"shop": ">= 0.0"}},
        }
        done = run(tmp_path, files)

        assert ["kiln::default", "shop::open", "shop::till"] == done.recipes
        assert ["shop/attributes/default.py", "shop/attributes/prices.py"] == done.attribute_files

    @pytest.mark.parametrize(
        ("file", "text", "kind", "says"),
        [
            (RECIPE, "include_recipe('kiln::fier')", RecipeNotFound, "cookbook kiln has no recipe fier"),
            (RECIPE, "include_recipe('shop')", CookbookNotFound, "there is no cookbook shop"),
            (ATTRIBUTES, "include_attribute('kiln::fier')", AttributeFileNotFound, "has no attribute file fier"),
            (ATTRIBUTES, "include_attribute('shop')", CookbookNotFound, "there is no cookbook shop"),
        ],
    )
    def test_what_is_not_there_is_said_with_who_included_it(self, tmp_path, file, text, kind, says):
        """
        The line of the include, and what may have been meant.
        """
        error = failure(tmp_path, {file: f"\n{text}", "cookbooks/kiln/recipes/fire.py": ""})

        assert isinstance(error.__cause__, kind)
        assert says in str(error)
        assert f"it is included by {file}:2" in str(error)
        if "fier" in text and file == RECIPE:
            assert "did you mean fire?" in str(error)

    def test_a_recipe_may_include_an_attribute_file_that_comes_late(self, tmp_path):
        """
        It runs with an attribute file's words and writes an attribute file's slot; the recipe's word stands above it.
        """
        files = {
            RECIPE: "node.default['cone'] = 9\ninclude_attribute('shop')\nnode.default['after'] = 1",
            "cookbooks/shop/attributes/default.py": "default['cone'] = 6\ndefault['late'] = True",
        }
        done = run(tmp_path, files)

        assert (9, True) == (done.node["cone"], done.node["late"])
        assert ["shop/attributes/default.py"] == done.attribute_files
        assert {"cone": 6, "late": True} == done.node.slots[1].to_dict()
        assert "recipe kiln::default" == done.node.trace("after").winner.claim.origin.who

    def test_attribute_files_run_before_any_recipe(self, tmp_path):
        """
        All of them, dependencies first, in Chef's order.
        """
        files = {
            "cookbooks/kiln/metadata.json": {"name": "kiln", "depends": {"shop": ">= 0.0", "clay": ">= 0.0"}},
            ATTRIBUTES: "default['n'].append('kiln')",
            "cookbooks/kiln/attributes/a.py": "default['n'].append('a')",
            "cookbooks/shop/attributes/default.py": "default['n'].append('shop')",
            "cookbooks/clay/attributes/default.py": "default['n'] = ['clay']",
            RECIPE: "node.default['n'].append('recipe')",
        }
        done = run(tmp_path, files)

        assert ["clay", "shop", "kiln", "a", "recipe"] == done.node["n"]


class TestHelpers:
    def test_data_bags_are_copies(self, tmp_path):
        """
        What one recipe does to an item, the next one does not see.
        """
        files = {
            RECIPE: "data_bag_item('glazes', 'ash')['parts'].append(9)\n"
            "node.default['parts'] = data_bag_item('glazes', 'ash')['parts']"
        }

        assert [3, 1] == run(tmp_path, {**files, **BAG}).node["parts"]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("data_bag('glaze')", "did you mean glazes?"),
            ("data_bag_item('glazes', 'aash')", "did you mean ash?"),
        ],
    )
    def test_a_missing_item_fails_the_recipe_at_its_line(self, tmp_path, text, says):
        """
        With near misses.
        """
        error = failure(tmp_path, {RECIPE: f"\n\n{text}", **BAG})

        assert isinstance(error.__cause__, DataBagItemNotFound)
        assert says in str(error)
        assert f"{RECIPE}:3" in str(error)

    def test_names_of_items_never_leave_the_repository(self, tmp_path):
        """
        Whatever a recipe was told to look up.
        """
        assert "../" in str(failure(tmp_path, {RECIPE: "data_bag_item('glazes', '../../n1')", **BAG}))

    def test_tags_are_said_by_the_recipe_that_set_them(self, tmp_path):
        """
        Each by its own line, in the list that normal keeps.
        """
        node = run(tmp_path, {RECIPE: "tag('hot')\ntag('new', 'hot')"}).node

        assert ["hot", "new"] == node["tags"]
        assert [f"{RECIPE}:1", f"{RECIPE}:2"] == [
            element.claims[0].origin.place for element in node.trace("tags").elements
        ]

    def test_log_lines_know_where_they_were_said(self, tmp_path):
        """
        Message, level and place; they come to the caller as they are said, and all of them in the end.
        """
        stated = []
        files = {ATTRIBUTES: "log('cold')", RECIPE: "\nlog(['any', 'thing'], level='warn')"}
        done = run(tmp_path, files, log=stated.append)

        assert stated == done.log
        assert [
            f"info: cold  ({ATTRIBUTES}:1)",
            f"warn: ['any', 'thing']  ({RECIPE}:2)",
        ] == [str(line) for line in done.log]
        assert ["attribute file kiln::default", "recipe kiln::default"] == [line.origin.who for line in done.log]

    def test_a_log_line_in_a_function_names_the_line_that_called_log(self, tmp_path):
        """
        As a traceback would.
        """
        done = run(tmp_path, {RECIPE: "def say():\n    log('x')\nsay()"})

        assert f"{RECIPE}:2" == done.log[0].origin.place


class TestFailures:
    def test_a_failed_recipe_is_reported_with_file_line_and_reason(self, tmp_path):
        """
        The error of the cookbook's own code is the cause.
        """
        error = failure(tmp_path, {RECIPE: "\n1 / 0"})

        assert f"{RECIPE}:2: recipe kiln::default failed: ZeroDivisionError: division by zero" == str(error)
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert (Origin("recipe", "kiln::default", RECIPE, 2),) == error.origins

    def test_the_line_is_the_cookbooks_own_however_deep_the_call_goes(self, tmp_path):
        """
        The innermost line of that file, not of a library it called.
        """
        error = failure(tmp_path, {RECIPE: "import json\ndef f(text):\n    json.loads(text)\nf('{')"})

        assert str(error).startswith(f"{RECIPE}:3: ")

    def test_one_of_our_own_errors_keeps_its_path_and_its_way_out(self, tmp_path):
        """
        Its sentence without the name of a class, its other lines below.
        """
        error = failure(tmp_path, {ATTRIBUTES: "default['a'] = 1\ndefault.write_strict('a', 'b', 2)"})

        assert isinstance(error.__cause__, TypeConflict)
        assert ("a", "b") == error.path
        assert (
            f"{ATTRIBUTES}:2: attribute file kiln::default failed: cannot write below the value 1 at default.a"
            in str(error)
        )
        assert f"it was set by {ATTRIBUTES}:1 (attribute file kiln::default)" in str(error)
        assert "write(...) replaces" in str(error)

    def test_the_error_of_an_included_recipe_is_wrapped_once(self, tmp_path):
        """
        Where the fault is, not where it was included from.
        """
        fire = "cookbooks/kiln/recipes/fire.py"
        error = failure(tmp_path, {RECIPE: "include_recipe('::fire')", fire: "node['a']"})

        assert str(error).startswith(f"{fire}:1: recipe kiln::fire failed: ")
        assert isinstance(error.__cause__, NoSuchAttribute)

    def test_a_recipe_cannot_end_the_program(self, tmp_path):
        """
        `exit()` is a failure like any other.
        """
        error = failure(tmp_path, {RECIPE: "import sys\nsys.exit(3)"})

        assert isinstance(error.__cause__, SystemExit)
        assert "SystemExit: 3" in str(error)

    def test_an_interrupt_is_not_wrapped(self, tmp_path):
        """
        The person at the keyboard decides.
        """
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, {RECIPE: "raise KeyboardInterrupt"})

    @pytest.mark.parametrize("file", [ATTRIBUTES, RECIPE])
    def test_a_file_that_is_no_python_is_a_document_error(self, tmp_path, file):
        """
        With file, line and column, as for any other text.
        """
        with pytest.raises(DocumentError) as caught:
            run(tmp_path, {file: "x = 1\ny = = 2\n"})

        assert (file, 2) == (caught.value.file, caught.value.line)
        assert caught.value.column
        assert isinstance(caught.value.__cause__, SyntaxError)
        assert "Python syntax error: invalid syntax\n  y = = 2\n      ^" in str(caught.value)

    def test_the_caret_of_an_indented_line_stands_below_its_place(self, tmp_path):
        """
        The line is shown without its indentation.
        """
        with pytest.raises(DocumentError) as caught:
            run(tmp_path, {RECIPE: "if True:\n    y = = 2\n"})

        assert ("y = = 2", "    ^") == caught.value.details

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("node.default['a'] = \"#{node['nginx']['dir']}/x\"\n", ["#{node['nginx']['dir']}"]),
            ("x = {\n 'k': ['#{cookbook_name}']}\n", ["#{cookbook_name}"]),
            ("x = '#{session_name} #{window_index}'\n", []),
            ("x = f\"#{node['platform']}\"\n", []),
            ('"""Was #{node[1]} in Ruby."""\nx = "# {node}"\n', []),
        ],
    )
    def test_ruby_that_was_left_in_a_text_is_a_warning(self, tmp_path, text, told):
        """
        Where it is surely Ruby's: other programs write `#{...}` too.
        """
        warnings = run(tmp_path, {RECIPE: text}).warnings

        assert told == [
            str(warning).split(": ")[1].removesuffix(" is Ruby, and stored unchanged\n  write an f-string")
            for warning in warnings
        ]
        assert [warning.file for warning in warnings] == [RECIPE] * len(told)

    def test_a_role_and_a_check_warn_of_it_too(self, tmp_path):
        """
        `check` compiles attribute files and recipes, and runs none.
        """
        here = repository(tmp_path, {"roles/r.py": "description('#{node.name}')\n", RECIPE: "'#{node}'.x\nx = = 1"})

        assert ["Python syntax error: invalid syntax"] == [
            fault.reason for fault in checked(here, run_code=True).faults if fault.file == RECIPE
        ]
        assert [("#{node.name} is Ruby, and stored unchanged", "NA0311")] == [
            (warning.reason, warning.code) for warning in here.warnings
        ]

    def test_a_file_of_other_bytes_is_a_document_error(self, tmp_path):
        """
        Not UTF-8, or a directory.
        """
        repository(tmp_path, {RECIPE: ""})
        (tmp_path / RECIPE).write_bytes(b"caf\xe9")

        with pytest.raises(DocumentError, match="UTF-8"):
            run_node(repository(tmp_path, {}), "n1", facts=FACTS, run_list=["kiln"])

    def test_a_traceback_shows_the_source_that_ran(self, tmp_path):
        """
        Also when the file says something else by then.
        """
        error = failure(tmp_path, {RECIPE: "pot = 3\nraise KeyError(pot)  # the broken pot"})
        (tmp_path / RECIPE).write_text("# nothing\n" * 5)

        assert "raise KeyError(pot)  # the broken pot" in "".join(traceback.format_exception(error))

    @pytest.mark.parametrize(
        "text", ["", "node['nothing']", "import sys; sys.exit()", "raise KeyboardInterrupt", "1 +"]
    )
    def test_nothing_of_a_run_is_left_behind(self, tmp_path, text):
        """
        However it ends: no words, no setter, no modules.
        """
        modules = set(sys.modules)
        known = repository(tmp_path, {RECIPE: text, ATTRIBUTES: "default['a'] = 1"})
        with contextlib.suppress(RecipeFailed, KeyboardInterrupt, DocumentError):
            run_node(known, "n1", facts=FACTS, run_list=["kiln"])

        assert words_now() is None
        assert modules == set(sys.modules)

    def test_after_an_include_the_includer_speaks_again(self, tmp_path):
        """
        Also after one that failed and was caught.
        """
        files = {
            RECIPE: "try:\n    include_recipe('::fire')\nexcept Exception:\n    pass\n"
            "from nodeattrs.recipe import node, tag\nnode.default['who'] = 1",
            "cookbooks/kiln/recipes/fire.py": "include_attribute('::glow')",
            "cookbooks/kiln/attributes/glow.py": "",
        }
        files["cookbooks/kiln/recipes/fire.py"] += "\nraise ValueError"
        node = run(tmp_path, files).node

        assert "recipe kiln::default" == node.trace("who").winner.claim.origin.who
        assert 2 == node.trace("who").winner.claim.rank

    def test_after_a_run_a_write_to_the_node_is_the_callers(self, tmp_path):
        """
        The last recipe no longer speaks.
        """
        node = run(tmp_path, {RECIPE: "node.default['a'] = 1"}).node
        node.default["a"] = 2

        assert "caller" == node.trace("a").winner.claim.origin.kind


class TestEditedFiles:
    def test_each_run_explains_the_text_that_it_ran(self, tmp_path):
        """
        One file, three lengths, in one process; the node of each run keeps its own lines, asked in any order.
        """
        nodes = {}
        for lines in (3, 9, 1):
            repository(tmp_path, {RECIPE: "\n" * lines + "node.default['pot'] = {\n 'clay': 1,\n 'size': 2,\n}"})
            nodes[lines] = run_node(repository(tmp_path, {}), "n1", facts=FACTS, run_list=["kiln"]).node

        for lines in (9, 1, 3, 9):
            assert lines + 3 == nodes[lines].trace("pot.size").winner.claim.origin.line

    def test_two_repositories_do_not_mix(self, tmp_path):
        """
        The same names, relative to each.
        """
        nodes = [
            run(tmp_path / one, {RECIPE: "\n" * place + "node.default['a'] = {\n'b': 1}"}).node
            for place, one in enumerate(["first", "second"])
        ]

        assert [f"{RECIPE}:2", f"{RECIPE}:3"] == [node.trace("a.b").winner.claim.origin.place for node in nodes]

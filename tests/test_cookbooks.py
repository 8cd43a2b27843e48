"""Cookbooks: the order of their attribute files, and versions that have to fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.repository.cookbooks import (
    AttributeFileOrder,
    Cookbook,
    attribute_files_in,
    check_versions,
    cookbook_order,
)
from nodeattrs.dialects.chef.repository.roles import Environment, Role
from nodeattrs.dialects.chef.run.expansion import expand_run_list
from nodeattrs.errors import AttributeFileNotFound, CookbookNotFound, CookbookVersionConflict, RecipeNotFound
from tests.vectors.cases import HERE, cases_of

ERRORS = {CookbookNotFound: "cookbook_not_found", AttributeFileNotFound: "attribute_file_not_found"}


def cookbooks(**depends):
    """Cookbooks by name, each with its dependencies."""
    return {name: Cookbook(name, depends=dict.fromkeys(needed, "")) for name, needed in depends.items()}


@pytest.mark.parametrize("case", list(cases_of(HERE / "chef-attribute-files.jsonl")), ids=lambda case: case["id"])
def test_the_order_of_loading_is_chefs(case):
    """Every recorded repository: cookbook order, files in order, errors, and what had run before them."""
    said = {name: book["attribute_files"] for name, book in case["cookbooks"].items()}
    known = {
        name: Cookbook(name, depends=dict.fromkeys(book["depends"], ""), files=tuple(book["attribute_files"]))
        for name, book in case["cookbooks"].items()
    }
    roles = {name: Role(name, **role) for name, role in case.get("roles", {}).items()}

    def run(cookbook, file):
        for include in said[cookbook.name][file]:
            loader.include(include)

    loader = AttributeFileOrder(known, run)
    got = {}
    try:
        got["cookbook_order"] = cookbook_order(expand_run_list(case["run_list"], roles).recipes, known)
        loader.load(got["cookbook_order"])
    except tuple(ERRORS) as error:
        got["error"] = ERRORS[type(error)]

    assert {**got, "loaded": loader.loaded} == {key: entry for key, entry in case["expect"].items() if key != "peer"}


class TestOrder:
    def test_a_long_chain_of_dependencies_is_no_problem(self):
        """Longer than Python's own stack."""
        known = cookbooks(**{f"c{n}": [f"c{n + 1}"] for n in range(3000)}, c3000=[])

        assert cookbook_order(["c0"], known)[0] == "c3000"

    def test_a_missing_dependency_names_who_needs_it(self):
        """With the line, and what may have been meant."""
        app = Cookbook(
            "app", depends={"apachee": ""}, locator=Origin("cookbook", "app", "cookbooks/app/metadata.json", 4)
        )

        with pytest.raises(CookbookNotFound) as caught:
            cookbook_order(["app"], {"app": app, "apache": Cookbook("apache")})

        assert str(caught.value).splitlines() == [
            "there is no cookbook apachee",
            "  it is required by cookbooks/app/metadata.json:4 (cookbook app)",
            "  did you mean apache?",
        ]

    @given(
        st.lists(st.sampled_from("abcd"), max_size=3),
        st.fixed_dictionaries({name: st.lists(st.sampled_from("abcd"), max_size=3) for name in "abcd"}),
    )
    def test_dependencies_come_first_unless_they_form_a_ring(self, recipes, depends):
        """Each cookbook once; a dependency comes later only if it needs, by some way, who needs it."""
        order = cookbook_order(recipes, cookbooks(**depends))

        assert len(set(order)) == len(order)
        for name in order:
            for needed in depends[name]:
                assert order.index(needed) <= order.index(name) or name in reachable(needed, depends)


def reachable(start, depends):
    """Everything that *start* needs, by any way."""
    found, to_do = set(), [start]
    while to_do:
        for needed in depends[to_do.pop()]:
            if needed not in found:
                found.add(needed)
                to_do.append(needed)
    return found


class TestFiles:
    @pytest.mark.parametrize(
        ("files", "taken"),
        [
            (["x", "sub/x", "t"], ["x", "t"]),
            (["a/z", "b", "c/z"], ["c/z", "b"]),
            (["a/z", "b", "z", "zz/z"], ["zz/z", "b"]),
            (["a.b/z", "a/z"], ["a.b/z"]),
        ],
    )
    def test_of_several_files_with_one_name_the_last_one_is_taken_at_the_place_of_the_first(self, files, taken):
        """As the real Chef 18 answers: `attribute_filenames_by_short_filename`, and the paths in order."""
        found = attribute_files_in([f"attributes/{file}.py" for file in files])

        assert [f"attributes/{file}.py" for file in taken] == list(found.values())

    def test_a_default_file_in_a_sub_directory_serves_where_there_is_no_other(self):
        """As in Chef."""
        assert list(attribute_files_in(["attributes/a.py", "attributes/z/default.py"])) == ["default", "a"]

    def test_only_attribute_files_count(self):
        """Recipes and other suffixes are none."""
        assert (
            attribute_files_in(["attributes/a.rb", "recipes/default.py", "attributes.pyc", "attributes_old/a.py"]) == {}
        )

    def test_recipes_are_known_by_name(self):
        """Also those in a folder below recipes/; `recipe.py` beside the metadata is the default one."""
        book = Cookbook("web", files=("recipe.py", "recipes/ssl.py", "recipes/deep/x.py", "recipes/notes.md"))

        assert book.recipes == {"x": "recipes/deep/x.py", "ssl": "recipes/ssl.py", "default": "recipe.py"}
        assert book.recipe_file("web::ssl") == "recipes/ssl.py"
        assert book.recipe_file("web") == "recipe.py"
        with pytest.raises(RecipeNotFound, match="did you mean ssl"):
            book.recipe_file("web::sssl")


class TestIncludes:
    def test_a_name_without_cookbook_means_this_one(self):
        """`::x` in a file of web is web::x."""
        web = Cookbook("web", files=("attributes/x.py",))
        loader = AttributeFileOrder({"web": web}, lambda cookbook, file: None)

        loader.include("::x", here="web")

        assert loader.loaded == ["web/attributes/x.py"]

    def test_a_missing_include_names_the_line_that_asks(self):
        """And the files that there are."""
        loader = AttributeFileOrder({"web": Cookbook("web", files=("attributes/ssl.py",))}, lambda cookbook, file: None)

        with pytest.raises(AttributeFileNotFound) as caught:
            loader.include("web::sl", by=lambda: Origin("attribute file", "app", "app/attributes/default.py", 7))

        assert "included by app/attributes/default.py:7" in str(caught.value)
        assert "did you mean ssl?" in str(caught.value)

    def test_an_error_inside_an_included_file_is_not_blamed_on_the_include(self):
        """Only what the include itself cannot find names its line."""
        web = Cookbook("web", files=("attributes/default.py", "attributes/x.py"))

        def run(cookbook, file):
            loader.include("web::gone" if file.endswith("x.py") else "web::x")

        loader = AttributeFileOrder({"web": web}, run)
        with pytest.raises(AttributeFileNotFound) as caught:
            loader.include("web", by=lambda: Origin("recipe", "web", "recipes/outer.py", 1))

        assert "outer.py" not in str(caught.value)


class TestVersions:
    def test_everything_that_does_not_fit_is_said_at_once(self):
        """Who asks, where, and what was found."""
        known = {
            "app": Cookbook("app", "1.0.0", {"apache2": "~> 2.0"}, locator=Origin("cookbook", "app", "app.json", 4)),
            "apache2": Cookbook("apache2", "1.9", locator=Origin("cookbook", "apache2", "apache2.json", 2)),
        }
        prod = Environment(
            "prod", cookbook_versions={"app": "< 1.0"}, locator=Origin("environment", "prod", "p.json", 7)
        )

        with pytest.raises(CookbookVersionConflict) as caught:
            check_versions(["apache2", "app"], known, prod.pins())

        assert str(caught.value).splitlines()[1:] == [
            "  cookbook apache2 is at 1.9.0 (apache2.json:2), and ~> 2.0 is required by app.json:4 (cookbook app)",
            "  cookbook app is at 1.0.0 (app.json:4), and < 1.0 is required by p.json:7 (environment prod)",
        ]

    def test_a_cookbook_without_a_folder_reads_no_file_of_the_current_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "default.yaml").write_text("default: {a: 1}\n")
        book = Cookbook("app")

        for read in (book.program, book.attribute_data, book.recipe_data):
            with pytest.raises(RecipeNotFound, match="cookbook app has no files on disk"):
                read("default.yaml")

    def test_what_is_asked_of_cookbooks_not_in_use_does_not_matter(self):
        """An environment lists many cookbooks; a node has few."""
        known = {"app": Cookbook("app", "1.0.0")}

        check_versions(["app"], known, [("other", "= 9.9", Origin("environment", "prod"))])

"""Run lists: items, and what roles expand to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.repository.roles import Role
from nodeattrs.dialects.chef.run.expansion import expand_run_list
from nodeattrs.errors import CookbookVersionConflict, InvalidRunListItem, RoleNotFound
from nodeattrs.node.run_list import RunListItem, normalised
from tests.vectors.cases import HERE, cases_of
from tests.vectors.values import difference

TELLS = (
    *("recipes", "recipes_with_versions", "qualified", "with_duplicates", "roles", "default_attributes"),
    *("override_attributes", "missing_roles", "trace", "tree"),
)
ERRORS = {"invalid_item": InvalidRunListItem, "cookbook_version_conflict": CookbookVersionConflict}


def roles(**run_lists):
    """Roles by name, each with the run list given; each says its own name in its attributes."""
    return {name: Role(name, items, {"from": name, "all": [name]}) for name, items in run_lists.items()}


@pytest.mark.parametrize("case", list(cases_of(HERE / "chef-expansion.jsonl")), ids=lambda case: case["id"])
def test_expansion_is_chefs(case):
    """Every recorded expansion, in content, type and order."""
    environment = case.get("environment", {}).get("name", "_default")
    known = {name: Role(name, **role) for name, role in case["roles"].items()}
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(ERRORS[expected["error"]]):
            expand_run_list(case["run_list"], known, environment)
        return

    expansion = expand_run_list(case["run_list"], known, environment)

    assert expansion.run_list == expected["run_list"]
    for name in TELLS:
        assert difference(expected[name], getattr(expansion, name)) is None
    assert bool(expansion.missing_roles) == (expected.get("expand_error") == "missing_role")


class TestItems:
    @pytest.mark.parametrize(
        ("text", "item"),
        [
            ("a", RunListItem("recipe", "a")),
            ("a::b", RunListItem("recipe", "a::b")),
            ("a@1.2", RunListItem("recipe", "a", "1.2")),
            ("recipe[a::b@1.2.3]", RunListItem("recipe", "a::b", "1.2.3")),
            ("role[web server]", RunListItem("role", "web server")),
            ("role[a@1.2]", RunListItem("role", "a@1.2")),
        ],
    )
    def test_items_of_a_run_list_are_parsed_in_five_forms(self, text, item):
        """Five forms; versions belong to recipes only."""
        assert RunListItem.parse(text) == item

    @pytest.mark.parametrize("text", ["", "role[]", "recipe[a@1]", "roles[a]", "a]", "role[a]]", "a\n", None, 3, ["a"]])
    def test_malformed_items_of_a_run_list_are_refused(self, text):
        """Refused with the forms that exist."""
        with pytest.raises(InvalidRunListItem, match=r"recipe\[name@1.2.3\]"):
            RunListItem.parse(text)

    @given(st.lists(st.sampled_from(["a", "recipe[a]", "a@1.0", "recipe[a@1.0]", "role[a]", "b::c"])))
    def test_a_normalised_list_is_normalised(self, texts):
        """Doing it again changes nothing, and no item stands twice."""
        items = [str(item) for item in normalised(texts)]

        assert [str(item) for item in normalised(items)] == items
        assert len(set(items)) == len(items)

    def test_a_text_is_no_list_of_items(self):
        """It would fall apart into letters."""
        with pytest.raises(InvalidRunListItem, match="one text"):
            expand_run_list("recipe[a]", {})


class TestRoles:
    def test_the_layers_are_in_the_order_in_which_they_apply(self):
        """Inner before outer, earlier before later: the weakest first."""
        known = roles(outer=["role[inner]"], inner=[], later=[])

        expansion = expand_run_list(["role[outer]", "role[later]"], known)

        assert [role.name for role in expansion.role_layers] == ["inner", "outer", "later"]
        assert expansion.default_attributes == {"from": "later", "all": ["inner", "outer", "later"]}

    def test_expanding_leaves_the_roles_alone(self):
        """What comes out shares nothing with what went in."""
        known = {"a": Role("a", [], {"l": [{"x": 1}]})}

        expand_run_list(["role[a]"], known).default_attributes["l"][0]["x"] = 2

        assert known["a"].default_attributes == {"l": [{"x": 1}]}

    def test_a_long_chain_of_roles_is_no_problem(self):
        """Five thousand roles, each inside the last, is more than Python's own stack."""
        known = {f"r{n}": Role(f"r{n}", [f"role[r{n + 1}]"], {"depth": n}) for n in range(5000)}
        known["r5000"] = Role("r5000", ["recipe[end]"])

        expansion = expand_run_list(["role[r0]"], known)

        assert expansion.recipes == ["end"]
        assert expansion.default_attributes == {"depth": 0}

    def test_a_default_entry_among_the_environments_replaces_the_run_list(self):
        """`_default` counts for every environment that has no entry of its own."""
        role = Role("r", ["recipe[plain]"], env_run_lists={"_default": ["recipe[other]"], "prod": None})

        assert expand_run_list(["role[r]"], {"r": role}, "stage").recipes == ["other"]
        assert expand_run_list(["role[r]"], {"r": role}, "prod").recipes == []

    def test_roles_may_come_from_a_callable(self):
        """It may answer None or raise RoleNotFound; both mean missing, and a hint is kept."""

        def find(name):
            if name == "gone":
                raise RoleNotFound("there is no role gone", hint="did you mean gene?")

        assert expand_run_list(["role[other]"], find).missing_roles == [("other", "top level")]
        with pytest.raises(RoleNotFound, match="did you mean gene"):
            expand_run_list(["role[gone]"], find).require_roles()


class TestWhoAsked:
    def test_missing_roles_are_named_with_who_asked(self):
        """All of them at once."""
        known = {"a": Role("a", ["role[gone]"], locator=Origin("role", "a", "roles/a.json", 3))}

        with pytest.raises(RoleNotFound) as caught:
            expand_run_list(["role[a]", "role[lost]"], known).require_roles()

        assert str(caught.value).splitlines() == [
            "there are no roles gone, lost",
            "  role[gone] is required by roles/a.json:3 (role a)",
            "  role[lost] is required by run list of the node",
        ]

    def test_nothing_missing_is_no_error(self):
        """The check stays silent, so that callers can simply make it."""
        assert expand_run_list(["recipe[a]"], {}).require_roles() is None

    def test_two_versions_of_one_recipe_name_both_who_asked(self):
        """The message is enough to find both lines."""
        known = {"a": Role("a", ["recipe[x@2.0]"], locator=Origin("role", "a", "roles/a.json", 3))}

        with pytest.raises(CookbookVersionConflict) as caught:
            expand_run_list(["x@1.0", "role[a]"], known)

        assert "1.0 by run list of the node" in str(caught.value)
        assert "2.0 by roles/a.json:3 (role a)" in str(caught.value)

    def test_a_version_on_a_recipe_is_asked_of_its_cookbook(self):
        """`pins` is what a version check needs to know."""
        pins = list(expand_run_list(["apache2::ssl@1.2"], {}).pins())

        assert [(cookbook, version) for cookbook, version, _ in pins] == [("apache2", "1.2")]


names = st.sampled_from("abc")
items = st.sampled_from(["role[a]", "role[b]", "role[c]", "recipe[x]", "recipe[y]"])


@given(st.lists(items, max_size=3), st.dictionaries(names, st.lists(items, max_size=3)))
def test_every_role_that_is_met_applies_once(run_list, run_lists):
    """However they include each other: cycles end, nothing is lost, nothing applies twice."""
    expansion = expand_run_list(run_list, roles(**run_lists))

    applied = [role.name for role in expansion.role_layers]
    missing = [name for name, _ in expansion.missing_roles]
    assert sorted(applied + missing) == sorted(expansion.roles)
    assert len(set(expansion.roles)) == len(expansion.roles)
    assert set(missing).isdisjoint(run_lists)


def test_a_node_as_a_hash_names_what_it_runs_and_where():
    """The node's own fields lie over attributes of the same names; without roles there is no key for them."""
    node = Node("web1", environment="prod")
    node.default["k"], node.override["run_list"], node.override["name"] = 1, "an attribute", "another"
    node.run_list = ["role[web]", "recipe[a::b]", "c"]
    named = {"chef_type": "node", "name": "web1", "chef_environment": "prod"}

    assert node.to_hash() == {
        **named,
        "k": 1,
        "run_list": ["role[web]", "recipe[a::b]", "recipe[c]"],
        "recipe": ["a::b", "c"],
        "role": ["web"],
    }
    assert Node("web1", environment="prod").to_hash() == {**named, "run_list": []}

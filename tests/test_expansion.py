"""A node hears its roles and its environment: values, slots, and who said what on which line."""

from pathlib import Path

import pytest

from nodeattrs import Node
from nodeattrs.core.rules import read_rules
from nodeattrs.core.trace import Trace
from nodeattrs.dialects.chef.repository.roles import Environment, Role
from nodeattrs.dialects.chef.run.expansion import expand_node
from nodeattrs.errors import EnvironmentNotFound, InvalidRunListItem, RoleNotFound
from tests.on_disk import repository

YAML_ROLE = "name: {name}\nrun_list: [{inner}]\ndefault_attributes:\n  glaze: {name}\n  {name}: true\n"


def expanded(
    roles: dict[str, Role], run_list: list[str], environment: Environment | None = None, node: Node | None = None
) -> Node:
    """A node after its expansion."""
    node = Node("n1") if node is None else node
    known = {environment.name: environment} if environment else {}
    expand_node(node, roles, known, run_list, environment.name if environment else None)
    return node


def on_disk(root: Path, files: dict[str, object], run_list: list[str], environment: str | None = None) -> Node:
    known = repository(root, files)
    node = Node("n1", root=known.root)
    expand_node(node, known.role, known.environment, run_list, environment)
    return node


def places(trace: Trace) -> list[tuple[int, str | None, str]]:
    """Slot, file and line, outcome, in the order of the explanation."""
    return [(stated.claim.rank, stated.claim.origin.place, stated.outcome.value) for stated in trace.claims]


class TestWhatIsHeard:
    def test_four_trees_in_four_slots(self):
        """
        3 and 4 among the defaults; among the overrides the environment stands above the role, in 12 and 11.
        """
        role = Role("web", ["kiln"], {"d": "role"}, {"o": "role"})
        node = expanded({"web": role}, ["role[web]"], Environment("prod", {"d": "env"}, {"o": "env"}))

        said = {number: slot.to_dict() for number, slot in node.slots.items() if slot.to_dict()}
        assert {3: {"d": "env"}, 4: {"d": "role"}, 11: {"o": "role"}, 12: {"o": "env"}} == {
            number: tree for number, tree in said.items() if number in (3, 4, 11, 12)
        }
        assert ("role", "env") == (node["d"], node["o"])

    def test_the_node_notes_what_its_run_list_came_to(self):
        """
        Among the automatic attributes, set by the run; and it has tags from here on.
        """
        roles = {"web": Role("web", ["role[base]", "kiln::fire"]), "base": Role("base", ["clay"])}
        node = expanded(roles, ["role[web]", "kiln"], Environment("prod"))

        assert ["clay", "clay::default", "kiln::fire", "kiln", "kiln::default"] == node["recipes"]
        assert ["clay::default", "kiln::fire", "kiln::default"] == node["expanded_run_list"]
        assert ["web", "base"] == node["roles"]
        assert "prod" == node["chef_environment"] == node.environment
        assert [] == node["tags"]
        assert {"run"} == {node.trace(key).winner.claim.origin.kind for key in ("recipes", "roles", "chef_environment")}

    def test_arguments_become_the_nodes_own(self):
        """
        Run list and environment, where they are given; an empty list is given too.
        """
        node = Node("n1", "prod")
        node.run_list = ["kiln"]
        environments = {"prod": Environment("prod"), "test": Environment("test")}

        expand_node(node, {}, environments)
        assert (["recipe[kiln]"], "prod") == (node.run_list, node.environment)
        expand_node(node, {}, environments, ["clay", "clay"], "test")
        assert (["recipe[clay]"], "test") == (node.run_list, node.environment)
        expand_node(node, {}, environments, [])
        assert ([], []) == (node.run_list, node["recipes"])

    def test_the_default_environment_says_nothing(self):
        """
        Not even when somebody made one with attributes.
        """
        node = expanded({}, [], Environment("_default", {"a": 1}, {"b": 1}))

        assert "a" not in node
        assert "b" not in node

    def test_a_second_expansion_takes_the_place_of_the_first(self):
        """
        Nothing of the first roles and environment is left.
        """
        node = expanded({"web": Role("web", [], {"web": 1})}, ["role[web]"], Environment("prod", {"prod": 1}, {"p": 1}))
        expanded({"db": Role("db", [], {"db": 1})}, ["role[db]"], Environment("test", {"test": 1}), node)

        assert {"db", "test"} == {key for key in node if node.trace(key).winner.claim.rank in (3, 4, 11, 12)}
        assert ["db"] == node["roles"]

    def test_a_role_may_have_another_run_list_in_an_environment(self):
        """
        The attributes are the same.
        """
        role = Role("web", ["kiln"], {"a": 1}, env_run_lists={"test": ["clay"]})

        assert ["clay::default"] == expanded({"web": role}, ["role[web]"], Environment("test"))["expanded_run_list"]
        assert ["kiln::default"] == expanded({"web": role}, ["role[web]"], Environment("prod"))["expanded_run_list"]


class TestWhoSaidIt:
    def test_each_leaf_names_its_own_line(self, tmp_path):
        """
        Of roles and environments in all their forms.
        """
        files = {
            "roles/web.json": {"name": "web", "override_attributes": {"a": {"json": 1}}},
            "roles/base.yaml": "name: base\ndefault_attributes:\n  a:\n    yaml: 1\n",
            "environments/prod.py": "name('prod')\ndefault_attributes(\n    {\n        'a': {\n            'py': 1}})",
        }
        node = on_disk(tmp_path, files, ["role[web]", "role[base]"], "prod")

        assert [(11, "roles/web.json:5", "wins")] == places(node.trace("a.json"))
        assert [(4, "roles/base.yaml:4", "wins")] == places(node.trace("a.yaml"))
        assert [(3, "environments/prod.py:5", "wins")] == places(node.trace("a.py"))

    def test_what_an_outer_role_overwrote_is_told(self, tmp_path):
        """
        Both stand in slot 4: the outer one wins, the inner one's word is in the past of the slot.
        """
        files = {
            "roles/outer.yaml": YAML_ROLE.format(name="outer", inner="'role[inner]'"),
            "roles/inner.yaml": YAML_ROLE.format(name="inner", inner="'role[core]'"),
            "roles/core.yaml": YAML_ROLE.format(name="core", inner=""),
        }
        trace = on_disk(tmp_path, files, ["role[outer]"]).trace("glaze")

        assert "outer" == trace.value
        assert [(4, "roles/outer.yaml:4", "wins")] == places(trace)
        assert [
            ("overwritten", "inner", "roles/inner.yaml:4", "role outer"),
            ("overwritten", "core", "roles/core.yaml:4", "role inner"),
        ] == [(one.event, one.claim.value, one.claim.origin.place, one.by.origin.who) for one in trace.history]

    def test_who_overwrote_it_is_named_with_the_line_of_that_path(self, tmp_path):
        """
        And not with the first line of the file.
        """
        files = {
            "roles/outer.yaml": YAML_ROLE.format(name="outer", inner="'role[inner]'"),
            "roles/inner.yaml": YAML_ROLE.format(name="inner", inner=""),
        }
        past = on_disk(tmp_path, files, ["role[outer]"]).trace("glaze").history

        assert ["roles/outer.yaml:4"] == [one.by.origin.place for one in past]

    def test_two_roles_that_set_an_empty_map_are_both_named(self, tmp_path):
        """
        Without the one the other's is read.
        """
        role = "name: {name}\ndefault_attributes:\n  kiln: {{}}\nrun_list: [{inner}]\n"
        files = {
            "roles/outer.yaml": role.format(name="outer", inner="'role[inner]'"),
            "roles/inner.yaml": role.format(name="inner", inner=""),
        }
        trace = on_disk(tmp_path, files, ["role[outer]"]).trace("kiln")

        (other,) = trace.history
        named = {trace.claims[0].origin.place, other.claim.origin.place}
        assert {"roles/outer.yaml:3", "roles/inner.yaml:3"} == named
        assert ({}, {}) == (trace.value, other.claim.value)

    def test_a_value_that_one_role_sets_has_the_line_of_that_role(self, tmp_path):
        """
        Maps of several roles meet key by key.
        """
        files = {
            "roles/outer.yaml": YAML_ROLE.format(name="outer", inner="'role[inner]'"),
            "roles/inner.yaml": YAML_ROLE.format(name="inner", inner=""),
        }
        node = on_disk(tmp_path, files, ["role[outer]"])

        assert [(4, "roles/inner.yaml:5", "wins")] == places(node.trace("inner"))
        assert [(4, "roles/outer.yaml:5", "wins")] == places(node.trace("outer"))

    @pytest.mark.parametrize("saved", [False, True])
    def test_a_value_that_the_rule_keep_leaves_out_is_named_with_its_line_and_the_rule(self, saved):
        """
        In the order in which the roles come: without the first role, the second one's value is read.
        """
        node = Node("n1", rules=read_rules({"a.*": "keep"}))
        roles = {name: Role(name, [], {"a": {"b": name}}) for name in ("one", "two", "three")}
        expanded(roles, ["role[one]", "role[two]", "role[three]"], node=node)

        trace = (Node.restore(node.snapshot()) if saved else node).trace("a.b")

        assert ["one"] == [stated.claim.value for stated in trace.claims]
        assert [("kept out", "three", "role three", "role one"), ("kept out", "two", "role two", "role one")] == [
            (past.event, past.claim.value, past.claim.origin.who, past.by.origin.who) for past in trace.history
        ]
        assert {"the weaker one stays (by the rule a.*)"} == {past.rule for past in trace.history}
        assert "the weaker one stays (by the rule a.*)" in str(trace)

    def test_lists_of_several_roles_unite_and_each_element_keeps_its_line(self, tmp_path):
        """
        Weakest role first; an element that both say stands once.
        """
        files = {
            "roles/outer.yaml": "name: outer\nrun_list: ['role[inner]']\ndefault_attributes:\n  l:\n  - o\n  - both\n",
            "roles/inner.yaml": "name: inner\ndefault_attributes:\n  l:\n  - both\n  - i\n",
        }
        node = on_disk(tmp_path, files, ["role[outer]"])

        assert ["both", "i", "o"] == node["l"]
        assert ["roles/inner.yaml:4", "roles/inner.yaml:5", "roles/outer.yaml:5"] == [
            element.claims[0].origin.place for element in node.trace("l").elements
        ]
        assert {"roles/inner.yaml:4", "roles/outer.yaml:6"} == {
            claim.origin.place for claim in node.trace("l").elements[0].claims
        }

    def test_roles_without_a_file_are_named_all_the_same(self):
        """
        A role made in code.
        """
        node = expanded({"web": Role("web", [], {"a": 1})}, ["role[web]"], Environment("prod", {"b": 1}))

        assert "role web" == node.trace("a").winner.claim.origin.who
        assert "environment prod" == node.trace("b").winner.claim.origin.who


class TestWhatIsMissing:
    def test_missing_roles_are_all_named_with_who_asks(self, tmp_path):
        """
        By file and line; near misses where there is one to guess.
        """
        files = {
            "roles/web.json": {"name": "web", "run_list": ["role[bsae]"]},
            "roles/base.json": {"name": "base"},
        }
        with pytest.raises(RoleNotFound) as caught:
            on_disk(tmp_path, files, ["role[web]"])

        assert [
            "there is no role bsae",
            "  role[bsae] is required by roles/web.json:4 (role web)",
            "  did you mean base?",
        ] == str(caught.value).splitlines()

        with pytest.raises(RoleNotFound) as caught:
            on_disk(tmp_path, {}, ["role[web]", "role[none]"])

        assert "role[none] is required by run list of the node" in str(caught.value)
        assert "role[bsae] is required by roles/web.json:4 (role web)" in str(caught.value)

    def test_a_missing_environment_is_named(self, tmp_path):
        """
        With near misses from the disk, by name alone from a map.
        """
        with pytest.raises(EnvironmentNotFound, match="did you mean prod"):
            on_disk(tmp_path, {"environments/prod.json": {"name": "prod"}}, [], "prdo")
        with pytest.raises(EnvironmentNotFound, match="'prdo'"):
            expand_node(Node("n1"), {}, {}, [], "prdo")

    def test_a_bad_item_is_refused_before_anything_is_heard(self):
        """
        The node keeps the run list it had.
        """
        node = Node("n1")
        node.run_list = ["kiln"]
        with pytest.raises(InvalidRunListItem):
            expand_node(node, {}, {}, ["recipe[", "x"])

        assert ["recipe[kiln]"] == node.run_list
        assert {} == node.to_dict()

"""The worked examples of Chef's page about attributes, retold with a pottery's kiln.

Where today's Chef answers otherwise than that page, so do we; the test says which.
"""

from __future__ import annotations

import pytest

from nodeattrs import Node
from nodeattrs.chef import Environment, Role, expand_node, reset_defaults_and_overrides
from nodeattrs.errors import AttributeIsReadOnly, UnknownName
from nodeattrs.node.running import setting_as
from nodeattrs.store import saved_document

KILN = {"firing": {"celsius": 980, "glaze": "ash"}, "shelf": {"heights": [12, 18]}}
SHELVES = {"shelf": {"/top/left": {"cm": 40}, "by the door": {"cm": 30}}, "air": {"vents": {"v0": {}, "v1": {}}}}

LADDER = (
    ("attribute file", "default"),
    ("recipe", "default"),
    ("environment", "env_default"),
    ("role", "role_default"),
    ("attribute file", "force_default"),
    ("recipe", "force_default"),
    ("attribute file", "normal"),
    ("recipe", "normal"),
    ("attribute file", "override"),
    ("recipe", "override"),
    ("role", "role_override"),
    ("environment", "env_override"),
    ("attribute file", "force_override"),
    ("recipe", "force_override"),
    ("facts", "automatic"),
)
"""Who speaks in which component, weakest first."""


@pytest.fixture
def node():
    return Node("kiln1")


def said(node, source, component, path, value):
    """Let *source* say *value* at *path* in a component."""
    with setting_as(node, source, "pottery"):
        node.write(component, *path, value)


class TestRemovingOneLevel:
    def test_rm_default_gives_what_the_defaults_came_to(self, node):
        """All four default components lose the path; what they had come to together is returned."""
        node.default["kiln"] = KILN
        node.role_default["kiln"]["firing"]["glaze"] = "salt"
        node.force_default["kiln"]["firing"]["glaze"] = "celadon"

        removed = node.rm_default("kiln", "firing")

        assert removed == {"celsius": 980, "glaze": "celadon"}
        assert node.combined_default["kiln"] == {"shelf": {"heights": [12, 18]}}

    def test_rm_default_leaves_stronger_levels_alone(self, node):
        """An override below the removed path is still read."""
        node.default["kiln"] = KILN
        node.role_default["kiln"]["firing"]["glaze"] = "salt"
        node.force_default["kiln"]["firing"]["glaze"] = "celadon"
        node.override["kiln"]["firing"]["celsius"] = 1240

        assert node.rm_default("kiln", "firing") == {"celsius": 980, "glaze": "celadon"}
        assert node.combined_override["kiln"] == {"firing": {"celsius": 1240}}
        assert node["kiln"] == {"firing": {"celsius": 1240}, "shelf": {"heights": [12, 18]}}

    def test_rm_override_leaves_weaker_levels_alone(self, node):
        """The overrides go, forced ones too; defaults, forced ones too, stay."""
        node.override["kiln"] = KILN
        node.default["kiln"]["firing"]["celsius"] = 600
        node.force_default["kiln"]["firing"]["celsius"] = 700
        node.force_override["kiln"]["firing"]["celsius"] = 1240

        assert node.rm_override("kiln", "firing") == {"celsius": 1240, "glaze": "ash"}
        assert node.combined_default["kiln"] == {"firing": {"celsius": 700}}

    @pytest.mark.parametrize("rm", ["rm", "rm_default", "rm_normal", "rm_override"])
    def test_removing_what_is_not_there_gives_none(self, node, rm):
        """An absent path is no error."""
        assert getattr(node, rm)("no", "such", "kiln") is None


class TestRemovingAllLevels:
    def test_rm_gives_the_value_that_was_read(self, node):
        """Defaults and overrides both lose the path."""
        node.default["kiln"] = KILN
        node.override["kiln"]["firing"]["celsius"] = 1240

        assert node.rm("kiln", "firing") == {"celsius": 1240, "glaze": "ash"}
        assert node["kiln"] == {"shelf": {"heights": [12, 18]}}

    def test_removing_through_the_merged_view_is_refused(self, node):
        """The error shows what to write instead."""
        node.default["kiln"] = KILN

        with pytest.raises(AttributeIsReadOnly, match="rm"):
            del node["kiln"]["firing"]


class TestFullAssignment:
    def test_a_full_assignment_replaces_the_map_of_its_own_level(self, node):
        """A map that is assigned in full does not join the one before."""
        node.default["kiln"]["firing"] = {"glaze": "ash"}
        node.default_full["kiln"]["firing"] = {"celsius": 980}

        assert node["kiln"] == {"firing": {"celsius": 980}}

    def test_a_full_assignment_leaves_stronger_slots_alone(self, node):
        """What a role says lies above a cookbook's default and stays."""
        node.default["kiln"]["firing"] = {"glaze": "ash"}
        node.role_default["kiln"]["firing"] = {"cone": 10}
        node.default_full["kiln"]["firing"] = {"celsius": 980}

        assert node["kiln"] == {"firing": {"celsius": 980, "cone": 10}}

    def test_the_forced_form_clears_its_whole_level(self, node):
        """Nothing else is left of the default level at that path."""
        node.default["kiln"]["firing"] = {"glaze": "ash"}
        node.role_default["kiln"]["firing"] = {"cone": 10}
        node.force_default_full["kiln"]["firing"] = {"celsius": 980}

        assert node["kiln"] == {"firing": {"celsius": 980}}

    @pytest.fixture
    def everybody(self, node):
        node.default["kiln"] = KILN
        node.role_default["kiln"]["firing"]["celsius"] = 1000
        node.force_default["kiln"]["firing"]["celsius"] = 1060
        node.normal["kiln"]["firing"]["celsius"] = 1180
        node.override["kiln"]["firing"]["celsius"] = 1240
        return node

    def test_an_empty_default_leaves_the_others_as_they_were(self, everybody):
        """Role and force are still there, and so are the other levels."""
        everybody.default_full["kiln"]["firing"] = {}

        assert everybody.combined_default["kiln"] == {"firing": {"celsius": 1060}, "shelf": {"heights": [12, 18]}}
        assert everybody.normal["kiln"].to_dict() == {"firing": {"celsius": 1180}}
        assert everybody.combined_override["kiln"] == {"firing": {"celsius": 1240}}
        assert everybody["kiln"]["firing"] == {"celsius": 1240}

    def test_an_empty_force_default_empties_the_default_level_only(self, everybody):
        """Normal and override are not its business."""
        everybody.force_default_full["kiln"]["firing"] = {}

        assert everybody.combined_default["kiln"] == {"shelf": {"heights": [12, 18]}, "firing": {}}
        assert everybody.normal["kiln"].to_dict() == {"firing": {"celsius": 1180}}
        assert everybody.combined_override["kiln"] == {"firing": {"celsius": 1240}}
        assert everybody["kiln"]["firing"] == {"celsius": 1240}


class TestDeepMerge:
    def test_an_outer_role_changes_one_key_and_inherits_the_rest(self, node):
        """A role names only what it wants otherwise; the role inside it and the cookbook say the rest."""
        node.default["kiln"]["fan"] = {"limit": 40, "speed": 3, "hours": 100}
        roles = {
            "studio": Role("studio", ["recipe[kiln]"], override_attributes={
                "kiln": {"shelves": [12], "fan": {"speed": 4, "lowest": 2, "highest": 9}}
            }),
            "raku": Role("raku", ["role[studio]"], override_attributes={"kiln": {"fan": {"speed": 6}}}),
        }  # fmt: skip

        expand_node(node, roles, {}, ["role[raku]"])

        assert node["kiln"]["fan"] == {"limit": 40, "speed": 6, "hours": 100, "lowest": 2, "highest": 9}
        assert node["kiln"]["shelves"] == [12]

    @pytest.mark.parametrize(
        ("first", "second", "together"),
        [
            # substitution: the same key, or kinds that cannot meet
            ({"x": "1", "y": "2"}, {"y": "3"}, {"x": "1", "y": "3"}),
            ({"x": True, "y": False}, {"y": True}, {"x": True, "y": True}),
            (["1", "2", "3"], {"x": "1", "y": "2"}, {"x": "1", "y": "2"}),
            # addition: new keys, new elements, new keys further down
            ({"x": "1", "y": "2"}, {"z": "3"}, {"x": "1", "y": "2", "z": "3"}),
            (["1", "2"], ["3"], ["1", "2", "3"]),
            ({"x": {"y": "2"}}, {"x": {"z": "3"}}, {"x": {"y": "2", "z": "3"}}),
            ([[1, 2]], [[3]], [[1, 2], [3]]),
        ],
    )
    @pytest.mark.parametrize("level", ["default", "override"])
    def test_two_roles_or_environments_meet(self, node, level, first, second, together):
        """
        Maps meet key by key and lists unite; it makes no difference whether two roles speak or an
        environment and a role.
        """
        roles = {
            "first": Role("first", **{f"{level}_attributes": {"kiln": first}}),
            "second": Role("second", **{f"{level}_attributes": {"kiln": second}}),
        }
        expand_node(node, roles, {}, ["role[first]", "role[second]"])
        assert node["kiln"] == together

        mixed = Node("kiln2")
        lower, upper = ("environment", "role") if level == "default" else ("role", "environment")
        says = {lower: {"kiln": first}, upper: {"kiln": second}}
        maker = Environment("maker", **{f"{level}_attributes": says["environment"]})
        visiting = {"only": Role("only", **{f"{level}_attributes": says["role"]})}
        expand_node(mixed, visiting, {"maker": maker}, ["role[only]"], "maker")
        assert mixed["kiln"] == together

    def test_lists_are_replaced_between_levels(self, node):
        """A list in override hides the default one; inside a level they would have united."""
        node.default["kiln"]["heights"] = [12, 18]
        node.override["kiln"]["heights"] = [24]

        assert node["kiln"]["heights"] == [24]


class TestPrecedence:
    def test_each_step_of_the_ladder_beats_the_one_below(self, node):
        """Fifteen setters, climbing: whoever spoke last is the strongest, and is read."""
        for source, component in LADDER:
            said(node, source, component, ("kiln", "door"), f"{component} @{source}")

            assert node["kiln"]["door"] == f"{component} @{source}"

    def test_precedence_does_not_depend_on_the_order_of_writes(self, node):
        """The same, descending: the first word stands to the end."""
        for source, component in reversed(LADDER):
            said(node, source, component, ("kiln", "door"), f"{component} @{source}")

            assert node["kiln"]["door"] == "automatic @facts"

    def test_roles_and_environments_trade_places_between_default_and_override(self, node):
        """A role's default beats the environment's; its override does not."""
        maker = Environment("maker", {"kiln": {"fuel": "maker"}}, {"kiln": {"door": "maker"}})
        raku = Role("raku", (), {"kiln": {"fuel": "raku"}}, {"kiln": {"door": "raku"}})

        expand_node(node, {"raku": raku}, {"maker": maker}, ["role[raku]"], "maker")

        assert node["kiln"] == {"fuel": "raku", "door": "maker"}

    def test_a_cookbook_can_insist(self, node):
        """force_default and force_override beat role and environment, each within its level."""
        said(node, "role", "role_default", ("kiln", "fuel"), "role")
        said(node, "environment", "env_override", ("kiln", "door"), "environment")
        node.force_default["kiln"]["fuel"] = "cookbook"
        node.force_override["kiln"]["door"] = "cookbook"
        assert node["kiln"] == {"fuel": "cookbook", "door": "cookbook"}

        node.normal["kiln"]["fuel"] = "a higher level"
        assert node["kiln"]["fuel"] == "a higher level"

    @pytest.mark.parametrize("name", ["set", "set_unless"])
    def test_the_old_names_of_normal_are_gone(self, node, name):
        """Where the page still knows `set`, today's Chef does not; our error names `normal`."""
        with pytest.raises(UnknownName, match="normal"):
            getattr(node, name)

    def test_assigning_through_the_merged_view_is_refused(self, node):
        """Where the page writes normal, today's Chef refuses; our error shows the line to write."""
        node.default["kiln"]["door"] = "front"

        with pytest.raises(AttributeIsReadOnly, match="normal"):
            node["kiln"]["door"] = "top"


class TestAskingBeforeWriting:
    def test_unless_writes_only_where_its_own_component_is_silent(self, node):
        """A value is kept; null counts as none; stronger components are not asked."""
        node.default["kiln"]["fuel"] = "gas"
        node.default["kiln"]["door"] = None
        node.role_default["kiln"]["cone"] = 10

        node.default_unless["kiln"]["fuel"] = "wood"
        node.default_unless["kiln"]["door"] = "front"
        node.default_unless["kiln"]["cone"] = 6

        assert node.default["kiln"].to_dict() == {"fuel": "gas", "door": "front", "cone": 6}

    def test_has_attribute_looks_for_a_top_level_key_in_every_source(self, node):
        """It asks about the first step only."""
        said(node, "facts", "automatic", ("thermocouple", "type"), "K")

        assert node.has_attribute("thermocouple")
        assert not node.has_attribute("type")


class TestWhatIsSaved:
    def test_an_allow_list_names_what_is_kept_of_its_level(self, node):
        """Other levels are saved whole."""
        node.normal = SHELVES
        node.default["door"] = "front"

        saved = saved_document(node, allow={"normal": ["air/vents/"]})

        assert saved["normal"] == {"air": {"vents": {"v0": {}, "v1": {}}}}
        assert saved["default"] == {"door": "front"}

    def test_an_empty_list_keeps_nothing(self, node):
        """Empty is not absent."""
        node.normal = SHELVES

        assert saved_document(node, allow={"normal": []})["normal"] == {}

    def test_keys_with_slashes_are_named_by_lists(self, node):
        """As text, the slashes would be steps; what they do not reach leaves its empty parent."""
        node.normal = SHELVES

        as_list = saved_document(node, allow={"normal": [["shelf", "/top/left"]]})
        as_text = saved_document(node, allow={"normal": ["shelf/top/left"]})

        assert as_list["normal"] == {"shelf": {"/top/left": {"cm": 40}}}
        assert as_text["normal"] == {"shelf": {}}

    def test_a_new_run_keeps_normal_and_forgets_the_rest(self, node):
        """Default and override are said anew in every run; normal stays with the node."""
        node.default["kiln"]["fuel"] = "gas"
        node.override["kiln"]["door"] = "top"
        node.normal["kiln"]["fired"] = 7

        later = Node.from_chef(node.to_chef())
        reset_defaults_and_overrides(later)

        assert later.to_dict() == {"kiln": {"fired": 7}}

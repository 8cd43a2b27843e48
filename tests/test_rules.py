"""Rules for a path: another policy where a path or pattern says so, explained like any other rule."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import ACROSS, INSIDE, Fold, Layer, Node, Origin, fold
from nodeattrs.cli import main
from nodeattrs.core.rules import WORDS, PathRule, read_rules, ruled
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.node.documents import json_ready
from nodeattrs.node.intake import Intake
from nodeattrs.node.maps import OwnedMap
from nodeattrs.node.running import setting_as
from nodeattrs.node.slot_names import CHEF_RULES
from nodeattrs.store import open_store
from nodeattrs.store.search import indexed, parse_query, read_tree
from nodeattrs.testing import layers, trees
from tests.ledgers import ledger_of
from tests.node_fold import fold_of_node
from tests.on_disk import repository
from tests.sane import contradictions_in


def joined(rule: Any, *values: Any, policy: Any = INSIDE) -> Any:
    """What several values at one path come to under a rule for that path."""
    return fold([{"a": {"b": value}} for value in values], policy, rules={"a.b": rule}).value["a"]["b"]


class TestWhatARuleDoes:
    @pytest.mark.parametrize(
        ("rule", "inside", "across"),
        [
            ("append", [1, 2, 2, 3], [1, 2, 2, 3]),
            ("prepend", [2, 3, 1, 2], [2, 3, 1, 2]),
            ("unite", [1, 2, 3], [1, 2, 3]),
            ("replace", [2, 3], [2, 3]),
            ("keep", [1, 2], [1, 2]),
            ({"policy": "append", "at": "inside"}, [1, 2, 2, 3], [2, 3]),
            ({"policy": "replace", "at": "inside"}, [2, 3], [2, 3]),
        ],
    )
    def test_path_rules_join_two_lists_inside_and_across_groups(self, rule, inside, across):
        """
        In both groups, unless the rule says that it holds inside one only.
        """
        assert inside == joined(rule, [1, 2], [2, 3])
        assert across == joined(rule, [1, 2], [2, 3], policy=ACROSS)

    @pytest.mark.parametrize("rule", ["append", "prepend", "unite", {"merge_by": "name"}])
    def test_what_is_no_list_is_as_without_the_rule(self, rule):
        """
        Maps meet, a scalar replaces.
        """
        assert {"x": 1, "y": 2} == joined(rule, {"x": 1}, {"y": 2})
        assert 5 == joined(rule, [1], 5)
        assert [1] == joined(rule, 5, [1])

    def test_replace_and_keep_are_for_everything(self):
        """
        A map is replaced whole, too.
        """
        assert {"y": 2} == joined("replace", {"x": 1}, {"y": 2})
        assert {"x": 1} == joined("keep", {"x": 1}, {"y": 2})
        assert 5 == joined("keep", 5, [1])

    def test_maps_in_lists_meet_by_a_field(self):
        """
        The others follow, and what has no such field is an element like any other.
        """
        lower = [{"name": "a", "port": 80}, {"name": "b"}, 7]
        upper = [{"name": "b", "root": "/srv"}, {"name": "c"}, {"port": 1}]

        assert [{"name": "a", "port": 80}, {"name": "b", "root": "/srv"}, 7, {"name": "c"}, {"port": 1}] == joined(
            {"merge_by": "name"}, lower, upper
        )


class TestWhereItHolds:
    def test_a_star_stands_for_any_key(self):
        """
        A rule that names the key goes before one that means any.
        """
        layers = [{"u": {"bob": [1], "eve": [1]}}, {"u": {"bob": [2], "eve": [2]}}]

        assert {"u": {"bob": [1, 2], "eve": [2]}} == fold(layers, rules={"u.*": "replace", "u.bob": "append"}).value

    def test_elsewhere_nothing_changes(self):
        """
        The keys beside, above and below.
        """
        layers = [{"a": {"b": [1], "c": [1]}, "b": [1]}, {"a": {"b": [2], "c": [2]}, "b": [2]}]

        assert {"a": {"b": [2], "c": [1, 2]}, "b": [1, 2]} == fold(layers, INSIDE, rules={"a.b": "replace"}).value

    def test_a_rule_holds_in_every_inner_fold(self):
        """
        And for a layer with a policy of its own.
        """
        inner = Fold((Layer({"l": [1]}), Layer({"l": [2]})), INSIDE)

        assert [1, 2, 3] == fold([inner, Layer({"l": [3]}, policy=ACROSS)], ACROSS, rules={"l": "append"})["l"]

    def test_rules_inside_of_each_other(self):
        """
        One for a map as a whole, another for an entry of it.
        """
        layers = [{"m": {"l": [1], "x": 1}}, {"m": {"l": [2]}}]

        assert {"m": {"l": [1, 2], "x": 1}} == fold(layers, ACROSS, rules={"m": "unite", "m.l": "append"}).value

    @given(st.lists(trees(), min_size=1, max_size=4))
    def test_without_a_path_that_fits_it_is_the_same_fold(self, said):
        """
        Values, order of keys and origins.
        """
        plain, under = fold(said), fold(said, rules={"nobody.*.sets": "replace"})

        assert repr(plain.value) == repr(under.value)
        assert str(plain.trace("a")) == str(under.trace("a"))


class TestWhy:
    def test_the_trace_names_the_rule(self):
        """
        Like any other rule that decided.
        """
        (loser,) = fold([{"l": [1]}, {"l": [2]}], rules={"l": "replace"}).trace("l").losers

        assert "the stronger one replaces the weaker one (by the rule l)" == loser.why

    def test_elements_that_met_by_a_field_are_followed(self):
        """
        Each leaf of the element that was made of two.
        """
        site = fold([{"s": [{"n": 1, "x": 1}]}, {"s": [{"n": 2}, {"n": 1, "x": 2}]}], rules={"s": {"merge_by": "n"}})

        assert [("wins", 2), ("loses", 1)] == [
            (one.outcome.value, one.claim.value) for one in site.trace("s.0.x").claims
        ]

    def test_a_policy_under_rules_can_be_read_lazily(self):
        """
        So a node may have rules.
        """
        rules = read_rules({"a": "append", "b.*": {"merge_by": "n"}, "c": "keep"})

        assert ruled(INSIDE, rules).is_lazy
        assert ruled(ACROSS, rules).is_lazy


class TestMistakes:
    @pytest.mark.parametrize(
        ("rule", "words"),
        [
            ("apend", "did you mean append"),
            (7, "it is one of"),
            ({"policy": "append", "where": 1}, "has no field 'where'"),
            ({"policy": "append", "at": "outside"}, 'write at = "inside"'),
            ({"merge_by": 1}, "one field to merge by"),
        ],
    )
    def test_a_rule_that_means_nothing_is_refused(self, rule, words):
        """
        The message names the rule, and the way out.
        """
        with pytest.raises(BadArgument, match=r"the rule for a\.b") as caught:
            read_rules({"a.b": rule})

        assert words in str(caught.value)

    def test_rules_are_data(self):
        """
        A saved node brings its own along.
        """
        rules = read_rules({"a.*": {"policy": "append", "at": "inside"}, "s": {"merge_by": "name"}, "b.0": "append"})

        assert rules == tuple(PathRule.from_dict(rule.to_dict()) for rule in rules)

    @pytest.mark.parametrize(
        "odd", [{"place": []}, {"field": None}, {"policy": {}}, {"path": [["a"]]}, {"path": [1.5]}]
    )
    def test_forged_rules_are_refused(self, odd: dict[str, Any]):
        """
        A saved document may hold anything.
        """
        snapshot = Node("web1", rules={"a": "append"}).snapshot()
        snapshot["rules"][0] |= odd

        with pytest.raises(DocumentError, match="the rules of this document cannot be read"):
            Node.restore(snapshot)


class TestOnANode:
    """The same rules, inside groups and between them."""

    RULES: ClassVar[dict[str, Any]] = {
        "l": "append",
        "m.*": "replace",
        "s": {"merge_by": "n"},
        "i": {"policy": "append", "at": "inside"},
        "k": "keep",
    }

    def node(self, **options: Any) -> Node:
        node = Node("web1", rules=self.RULES, **options)
        for level, number in (("default", 1), ("role_default", 2), ("override", 3)):
            writer = getattr(node, level)
            for key in ("l", "i"):
                writer[key] = [number, 0]
            writer["m"]["x"] = [number]
            writer["s"] = [{"n": 1, level: number}]
            writer["k"] = number
        return node

    EXPECTED: ClassVar[dict[str, Any]] = {
        "l": [1, 0, 2, 0, 3, 0],
        "i": [3, 0],
        "m": {"x": [3]},
        "s": [{"n": 1, "default": 1, "role_default": 2, "override": 3}],
        "k": 1,
    }

    def test_read_lazily_whole_and_as_a_fold_it_is_the_same(self):
        """
        One table, whoever asks it.
        """
        node = self.node()

        assert self.EXPECTED == node.to_dict() == fold([fold_of_node(node)]).value
        assert self.EXPECTED == {key: getattr(node[key], "to_plain", lambda key=key: node[key])() for key in node}
        assert [] == contradictions_in(node)

    def test_inside_one_group(self):
        """
        Where a rule holds inside, it does there.
        """
        assert [1, 0, 2, 0] == list(self.node().combined_default["i"])

    def test_a_recipe_goes_on_with_the_list_of_its_attribute_file(self):
        """
        Its list is not added to the one that it has worked on.
        """
        node = Node("web1", rules={"l": "append"})
        with setting_as(node, "attribute file", "a"):
            node.default["l"] = [1]
        node.default["l"].append(2)

        assert [1, 2] == list(node["l"])

    def test_the_explanation_names_the_rule(self):
        """
        Like any other.
        """
        assert "(by the rule m.*)" in self.node().explain("m.x")
        assert "(by the rule k)" in self.node().explain("k")

    def test_roles_meet_under_it_too(self):
        """
        Several roles are one slot.
        """
        node = Node("web1", rules={"l": "append"})
        said = Origin("role", "r")
        Intake(node).set_roles([({"l": [1]}, said), ({"l": [1, 2]}, said)], [])

        assert [1, 1, 2] == list(node["l"])

    def test_a_saved_node_brings_its_rules_along(self):
        """
        Or it would be read otherwise than it was.
        """
        restored = Node.restore(json.loads(json.dumps(self.node().snapshot())))

        assert self.EXPECTED == restored.to_dict()
        assert "rules" not in Node("web1").snapshot()

    def test_a_path_rule_of_nodeattrs_toml_is_the_reason(self, tmp_path):
        """
        The line of nodeattrs.toml is the reason.
        """
        files = {
            "nodeattrs.toml": '[merge]\n"l" = "replace"\n',
            "cookbooks/a/attributes/default.py": 'default["l"] = [1]\n',
            "cookbooks/a/recipes/default.py": "",
            "roles/r.json": {"name": "r", "run_list": ["recipe[a]"], "default_attributes": {"l": [2]}},
        }
        run = run_node(
            repository(tmp_path, files), "web1", facts=Facts({"platform": "x"}, Origin("facts")), run_list=["role[r]"]
        )

        assert [2] == list(run.node["l"])
        assert "(by nodeattrs.toml:2)" in run.node.explain("l")


RULE = st.sampled_from([*WORDS, {"merge_by": "a"}])
PATHS = st.sampled_from(["a", "b", "a.b", "*.a", "a.*"])


class TestKept:
    """Whoever works with what was saved reads what the node reads."""

    FILES: ClassVar[dict[str, str]] = {
        "nodeattrs.toml": '[merge]\n"app.ports" = "append"\n"app.modules" = "replace"\n',
        "cookbooks/app/attributes/default.py": 'default["app"]["ports"] = [80]\ndefault["app"]["modules"] = ["ssl"]\n',
        "cookbooks/app/recipes/default.py": "",
        "roles/web.json": '{"name": "web", "run_list": ["recipe[app]"], "override_attributes":'
        ' {"app": {"ports": [443], "modules": ["http2"]}}}',
        **{f"nodes/web{one}.json": f'{{"name": "web{one}", "run_list": ["role[web]"]}}' for one in "12"},
        **{f"facts/web{one}.json": '{"platform": "x"}' for one in "12"},
    }
    READ: ClassVar[dict[str, Any]] = {"ports": [80, 443], "modules": ["http2"]}

    @given(layers(keys=("a", "b", "c")), st.dictionaries(PATHS, RULE, max_size=3))
    def test_what_is_searched_is_what_is_read(self, said, rules):
        """
        Also by whoever has Chef's document alone.
        """
        node = Node("web1", rules=rules)
        for number, tree in said.items():
            ledger_of(node).replace(number, OwnedMap(tree))
        document = json.loads(json.dumps(node.to_chef()))

        assert read_tree(document) == json_ready(node.to_dict())
        assert Node.from_chef(document).to_dict() == json_ready(node.to_dict())

    def test_without_rules_the_document_is_chefs(self):
        """
        And their field is not searched.
        """
        assert CHEF_RULES not in Node("web1").to_chef()
        assert CHEF_RULES not in indexed(Node("web1", rules={"a": "append"}).to_chef())
        assert {"a": 1} == read_tree({"default": {"a": 1}, CHEF_RULES: [{"by": "hand"}]})

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_many_nodes_at_once(self, tmp_path, monkeypatch, capsys, jobs):
        """
        Saved by a fleet, found in the store, and compared as they are read; also in Chef's own search.
        """
        repository(tmp_path, self.FILES)
        monkeypatch.chdir(tmp_path)
        place = "nodes.db"
        run = ["--repo", ".", "--facts", "facts", "--store", place]

        assert 0 == main(["run", "--all", "--jobs", jobs, *run])
        assert 0 == main(["fleet", "resolve", "--jobs", jobs, *run])
        store = open_store(place)
        for name in ("web1", "web2"):
            assert self.READ == Node.restore(store.load(name).snapshot).to_dict()["app"]
        for query, found in (
            ("app.ports=80", 2),
            ("app.modules=ssl", 0),
            ("app.modules=http2", 2),
            ("app_modules:ssl", 0),
            ("ports:80", 2),
        ):
            assert found == len(store.search(parse_query(query))), query
        capsys.readouterr()
        assert 0 == main(["diff", "web1", "web2", "--path", "app", "--store", place])
        assert "ssl" not in capsys.readouterr().out

"""A slot of a node where somebody speaks who cannot be read: told where it might decide, and nowhere else."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import Node, Origin, fold
from nodeattrs.chef import reset_defaults_and_overrides
from nodeattrs.cli import main
from nodeattrs.core.fold import Fold
from nodeattrs.core.tree import dig
from nodeattrs.errors import DocumentError, UnknownLayer, UnknownName
from nodeattrs.node.intake import Intake
from nodeattrs.node.maps import OwnedMap
from nodeattrs.node.running import setting_as
from nodeattrs.node.slots import PAIR, SLOTS
from nodeattrs.store import Noted, Saved, open_store
from nodeattrs.store.filters import filtered_snapshot
from nodeattrs.testing import layers, trees
from tests.ledgers import ledger_of
from tests.node_fold import fold_of_node

RUBY = Origin("role", "base", "roles/base.rb", 1)
WHY = "is Ruby, which was not run"
UNREAD = {"place": "roles/base.rb:1", "layer": "role base", "reason": WHY, "paths": []}


def node_with(unknown: str | None = "role_override", **said: Any) -> Node:
    """A node whose components say `k`, and one that is said in by somebody unknown, too."""
    node = Node("web1")
    for level, value in said.items():
        node.write(level, "k", value)
    if unknown is not None:
        node.unknown(unknown, "base", RUBY, WHY)
    return node


def is_told(node: Node, path: str = "k") -> bool:
    """Whether the trace of a path names it."""
    return bool(node.trace(path).unknown)


class TestWhereItMatters:
    @pytest.mark.parametrize(
        ("unknown", "said", "told"),
        [
            # who cannot be read, what others say, whether it might decide
            ("role_override", {"default": 1}, True),
            ("role_override", {"override": 1}, True),
            ("role_override", {"role_override": 1}, True),
            ("role_override", {"env_override": 1}, False),
            ("role_override", {"env_override": [1]}, True),
            ("role_override", {"automatic": [1]}, False),
            ("role_override", {"automatic": {"x": 1}}, True),
            ("role_default", {"force_default": 1}, False),
            ("role_default", {"force_default": [1]}, True),
            ("role_default", {"normal": [1]}, False),
            ("default", {"normal": {"x": 1}}, True),
            ("default", {}, True),
        ],
    )
    def test_by_the_order_of_precedence(self, unknown, said, told):
        """Above what is read; below it where lists unite or maps meet."""
        node = node_with(unknown, **said)

        assert told == is_told(node)
        assert node.read("k") == next(iter(said.values()), None)

    def test_whoever_speaks_decides_which_of_two_slots(self):
        """An attribute file that was not run is below every recipe, and above attribute files that were."""
        node = Node()
        with setting_as(node, "attribute file", "app"):
            node.default["file"] = 1
            node.unknown("default", "app", Origin("attribute file", "app", "app/attributes/default.rb"), WHY)
        node.default["recipe"] = 1

        assert {1: 1} == {number: len(slot.unknown) for number, slot in node.slots.items() if slot.unknown}
        assert [is_told(node, path) for path in ("file", "recipe", "nobody")] == [True, False, True]

    def test_a_rule_for_the_path_decides(self):
        """Where the weaker value stays, a stronger one cannot be read."""
        node = Node(rules={"k": "keep"})
        node.default["k"] = 1
        node.unknown("override", "base", RUBY, WHY)

        assert (is_told(node), is_told(node, "other")) == (False, True)

    @given(layers(keys="ab"), st.sampled_from(SLOTS), trees(keys="ab"), st.booleans())
    def test_where_nothing_is_said_nothing_could_have_changed(self, said, slot, secret, is_over):
        """Whatever it had set in its slot, and in whatever order: the law that makes silence safe."""
        node, known = Node(), Node()
        for number, tree in said.items():
            ledger_of(node).replace(number, OwnedMap(tree))
            ledger_of(known).replace(number, OwnedMap(tree))
        with setting_as(node, "attribute file" if slot.source == "attribute file" else "recipe"):
            level = {"environment": "env_", "role": "role_"}.get(slot.source, "") + slot.level
            node.unknown(level, "base", RUBY, WHY)
        beside = [said.get(slot.number, {}), secret]
        ledger_of(known).replace(slot.number, OwnedMap(fold(beside if is_over else beside[::-1], PAIR).value))
        value = known.to_dict()

        assert [slot.number] == [number for number, one in node.slots.items() if one.unknown]
        for path in itertools.chain([()], ((key,) for key in "ab"), itertools.product("ab", "ab")):
            if not is_told(node, path):
                assert repr(dig(node.to_dict(), path)) == repr(dig(value, path)), path

    @given(
        layers(keys="ab"), st.lists(st.sampled_from(["default", "role_default", "override", "automatic"]), max_size=3)
    )
    def test_the_plan_of_the_node_says_the_same(self, said, unknown):
        """The fifteen slots folded by the core."""
        node = Node()
        for number, tree in said.items():
            ledger_of(node).replace(number, OwnedMap(tree))
        for number, level in enumerate(unknown):
            node.unknown(level, str(number), RUBY, WHY)
        folded = fold([Fold((fold_of_node(node),), PAIR)])

        for path in itertools.chain([()], ((key,) for key in "ab"), itertools.product("ab", "ab")):
            ours, theirs = node.trace(path), folded.trace(path)
            assert [one.claim.value for one in ours.unknown] == [one.claim.value for one in theirs.unknown], path


class TestWhatIsTold:
    def test_the_text_names_an_unknown_slot_its_layer_place_and_reason(self):
        """The slot, who it is, where, and why it cannot be read."""
        text = " ".join(node_with(default=1).explain("k").splitlines()[2].split())

        assert text == ("unknown 11 override / role (unknown) roles/base.rb:1 (role base) may override it: " + WHY)

    def test_strict_refuses_a_value_that_an_unknown_slot_might_decide(self):
        """Refused where it might decide."""
        node_with(env_override=1).trace("k").require_known()
        with pytest.raises(UnknownLayer, match="'base' is unknown: is Ruby"):
            node_with(default=1).trace("k").require_known()

    def test_a_list_that_was_worked_on_in_the_same_slot_stays_a_row_of_its_own(self):
        """Who began it, and who went on."""
        node = node_with(None, default=[1])
        node.default["k"].push(2)
        node.unknown("default", "base", RUBY, WHY)
        trace = node.trace("k")

        assert [stated.outcome.value for stated in trace.claims] == ["wins", "unknown"]
        assert [len(stated.then) for stated in trace.claims] == [1, 0]

    def test_a_level_that_is_none_is_refused(self):
        """With a near one."""
        with pytest.raises(UnknownName, match="there is no level called 'overide'"):
            node_with("overide")


class TestHowLong:
    def test_an_unknown_slot_survives_a_snapshot(self, tmp_path):
        """With slot, name, place and reason; through a store, and where lists say what is saved."""
        node = node_with(default=1)
        store = open_store(str(tmp_path / "nodes.db"))
        store.save(Saved("web1", node.to_chef(), filtered_snapshot(node.snapshot(), {"default": ["k"]}), "", Noted()))
        again = Node.restore(store.load("web1").snapshot)

        assert str(again.trace("k")) == str(node.trace("k"))
        assert again.slots[11].unknown == node.slots[11].unknown
        assert again.snapshot() == node.snapshot()

    def test_a_snapshot_without_one_does_not_speak_of_it(self):
        """It is as it was."""
        assert "unknown" not in node_with(None, default=1).snapshot()

    @pytest.mark.parametrize(
        "row", [[0, "n", "why", {}], [True, "n", "why", {}], [3, 1, "why", {}], [3, "n"], [3, "n", "why", []], 7]
    )
    def test_a_forged_one_is_refused(self, row):
        """As a damaged snapshot."""
        with pytest.raises(DocumentError, match="damaged"):
            Node.restore({**node_with(None).snapshot(), "unknown": [row]})

    def test_an_unknown_slot_is_known_again_once_the_slot_is_replaced(self):
        """As in the next run; what a recipe assigns as a whole does not tell when."""
        node = node_with("default", default=1)
        node.default = {"k": 2}
        assert is_told(node)
        reset_defaults_and_overrides(node)
        assert not is_told(node)

    def test_a_layer_beside_an_unknown_layer_leaves_the_slot_unknown(self):
        """An empty slot begins with what comes; one with somebody unknown in it goes on."""
        node = node_with("normal")
        Intake(node).merge_json({"k": {"x": 1}})

        assert (node.read("k", "x"), is_told(node, "k.x")) == (1, True)

    def test_what_was_unknown_in_normal_stays_so_in_the_next_run(self):
        """As normal attributes stay; once, however many runs."""
        node = node_with("normal", normal=1)
        for _ in range(2):
            later = Node("web1")
            Intake(later).keep_saved(node)
            later.unknown("normal", "base", RUBY, WHY)
            node = later

        assert [str(layer.origin) for slot in (7, 8) for layer in node.slots[slot].unknown] == [
            "roles/base.rb:1 (saved role base)",
            "roles/base.rb:1 (role base)",
        ]


class TestOnTheCommandLine:
    @pytest.fixture
    def said(self, tmp_path, monkeypatch, capsys):
        """Runs `nodeattrs` where such a node is kept."""
        monkeypatch.chdir(tmp_path)
        node = node_with(default=1)
        node.env_override["known"] = 1
        open_store(".nodeattrs/nodes.db").save(Saved("web1", node.to_chef(), node.snapshot(), "", Noted()))

        def run(*words: str) -> tuple[int, str, str]:
            code = main([*words])
            out, err = capsys.readouterr()
            return code, out, " ".join(err.split())

        return run

    def test_explain_has_a_code_of_its_own(self, said):
        """In the text, and as data."""
        code, out, err = said("explain", "web1", "k")
        assert (5, True) == (code, "unknown 11 override" in " ".join(out.split()))
        assert err.startswith("warning: roles/base.rb:1 is Ruby, which was not run, and may set anything")
        assert 0 == said("explain", "web1", "k", "--allow-unknown")[0]
        code, out, _ = said("explain", "web1", "k", "--format", "json")
        claims = json.loads(out)["claims"]
        assert (5, ["wins", "unknown"]) == (code, [claim["outcome"] for claim in claims])
        assert ("override / role", None, WHY) == tuple(claims[1][key] for key in ("slot", "value", "why"))
        assert (0, "") == said("explain", "web1", "known")[::2]

    def test_strict_makes_it_an_error(self, said):
        """And nothing is printed."""
        code, out, err = said("explain", "web1", "k", "--strict")

        assert (1, "") == (code, out)
        assert "the layer 'base' is unknown: is Ruby, which was not run" in err
        assert 0 == said("explain", "web1", "known", "--strict")[0]

    def test_show_says_what_may_be_overridden(self, said):
        """Of the path that is shown, or of the slots that are; on stderr, and as data."""
        code, out, err = said("show", "web1", "k")
        assert (5, "1\n") == (code, out)
        assert "roles/base.rb:1 is Ruby, which was not run, and may set anything" in err
        code, out, _ = said("show", "web1", "--format", "json")
        assert (5, [UNREAD]) == (code, json.loads(out)["unread"])
        code, out, err = said("show", "web1", "known", "--format", "json")
        assert (0, True, "") == (code, json.loads(out)["certain"], err)
        code, out, err = said("show", "web1", "--slot", "11", "--slot", "1", "--format", "json")
        assert (5, [UNREAD]) == (code, json.loads(out)["unread"])

    def test_diff_says_so_of_each_side(self, said):
        """Of what is compared."""
        other = Node("web2")
        open_store(".nodeattrs/nodes.db").save(Saved("web2", other.to_chef(), other.snapshot()))
        code, out, err = said("diff", "web1", "web2", "--format", "json")
        assert (5, [UNREAD]) == (code, json.loads(out)["unread"])
        assert "roles/base.rb:1 is Ruby" in err
        code, out, err = said("diff", "web1", "web2", "--path", "known")
        assert (0, "") == (code, err)

    def test_search_says_so_of_the_attributes_that_it_shows(self, said):
        """Node by node."""
        code, out, err = said("search", "*:*", "-a", "k", "-a", "known", "--format", "json")
        assert (5, [UNREAD]) == (code, json.loads(out)["unread"])
        assert "roles/base.rb:1 is Ruby" in err
        assert (0, "") == said("search", "*:*", "-a", "known")[::2]
        assert (0, "") == said("search", "*:*")[::2]

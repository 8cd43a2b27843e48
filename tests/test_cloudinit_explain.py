"""Why a merged config is what it is: origins, traces, and the difference that each part made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Layer, Origin
from nodeattrs.cloudinit import Merged, merge, merge_layers
from nodeattrs.core.answer import Answer
from nodeattrs.core.trace import Outcome
from nodeattrs.core.tree import Path, dig
from tests.effort import examples

# Each value says its own part; few keys, so that they meet.
KEYS = st.sampled_from("abc")
HOWS = st.sampled_from(
    [
        None,
        "dict()",
        "dict(replace)",
        "dict(allow_delete)",
        "list(append)+dict(recurse_list)",
        "list(prepend)+dict(recurse_list)",
        "list()+dict(recurse_list)",
        "list(recurse_dict)+dict(recurse_list)",
        "str(append)+dict(recurse_str)",
    ]
)

OPERATIONS = [
    '{"op": "add", "path": "/a", "value": {"x": 21, "y": [22]}}',
    '{"op": "add", "path": "/a/z", "value": 23}',
    '{"op": "add", "path": "/a/y/0", "value": 24}',
    '{"op": "add", "path": "/a/y/-", "value": {"k": 25}}',
    '{"op": "replace", "path": "/a/y/0", "value": [26]}',
    '{"op": "remove", "path": "/a/y/0"}',
    '{"op": "remove", "path": "/a/x"}',
    '{"op": "move", "from": "/a/y", "path": "/c"}',
    '{"op": "copy", "from": "/a", "path": "/b"}',
    '{"op": "copy", "from": "/a/y/0", "path": "/a/y/-"}',
    '{"op": "move", "from": "/b", "path": "/a/y/0"}',
]


@st.composite
def bodies(draw: st.DrawFn) -> list[str]:
    """Parts whose leaves are texts that no other part says."""
    count = draw(st.integers(1, 4))
    texts = []
    for number in range(1, count + 1):
        leaf = st.integers(0, 9).map(lambda mark, number=number: f"<{number}.{mark}>")
        tree = st.recursive(
            leaf | st.none(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
            max_leaves=6,
        )
        config: dict[str, Any] = draw(st.dictionaries(KEYS, tree, max_size=3))
        how = draw(HOWS)
        if how is not None:
            config["merge_how"] = how
        texts.append(f"#cloud-config\n{yaml.safe_dump(config)}")
    return texts


PIECE = re.compile(r"<[uv]?(\d)\.\d>")


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts that say their parts; keys and characters that were spread into lists do not."""
    if isinstance(tree, str) and PIECE.match(tree):
        yield path, tree
    for key, entry in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from leaves(entry, (*path, key))


def setters(text: str) -> set[str]:
    """The parts that a leaf says it is of."""
    return {f"part-00{number}" for number in PIECE.findall(text)}


VAULT = Layer.unknown("vault", Origin("layer", "vault"), "needs a server")


class TestOrigins:
    @given(bodies())
    def test_each_leaf_is_said_by_the_parts_that_it_names(self, texts: list[str]):
        """All of them, and no other."""
        merged = merge(texts)

        for path, text in leaves(merged.config):
            assert {origin.file for origin in merged.origins(path)} == setters(text)

    @given(bodies())
    def test_the_line_is_one_on_which_the_part_says_the_leaf(self, texts: list[str]):
        """Items of joined lists too, which stand at other places there."""
        merged = merge(texts)

        for path, _ in leaves(merged.config):
            for origin in merged.origins(path):
                assert origin.line is not None
                lines = texts[int(str(origin.file)[-1]) - 1].splitlines()[origin.line - 1 :]
                assert f"<{str(origin.file)[-1]}." in lines[0]

    @settings(max_examples=examples(40))
    @given(bodies())
    def test_a_change_of_the_named_part_changes_the_result(self, texts: list[str]):
        """And the leaf is what changes."""
        merged = merge(texts)

        for path, text in leaves(merged.config):
            piece = PIECE.search(text)
            assert piece is not None
            at = int(piece[1]) - 1
            again = merge([*texts[:at], texts[at].replace(piece[0], "<0.0>"), *texts[at + 1 :]])
            assert dig(again.config, path) != text

    @settings(max_examples=examples(40))
    @given(bodies(), bodies())
    def test_layers_keep_them(self, user: list[str], vendor: list[str]):
        """A leaf that comes out of one side is set by that side's parts."""
        sides = [
            merge([text.replace("<", f"<{side}") for text in texts]) for side, texts in (("u", user), ("v", vendor))
        ]
        whole = merge_layers(user=sides[0], vendor=sides[1])

        for path, text in leaves(whole.config):
            ranks = {
                stated.claim.rank
                for stated in whole.trace(path).claims
                if stated.outcome in (Outcome.WINS, Outcome.JOINS)
            }
            assert {rank > len(sides[0].parts) for rank in ranks} == {
                "v" in piece for piece in text.split(">") if piece
            }


class TestTraces:
    @given(bodies())
    def test_the_standing_claims_are_the_origins(self, texts: list[str]):
        """The two answers never differ."""
        merged = merge(texts)

        for path, text in leaves(merged.config):
            trace = merged.trace(path)
            standing = {
                stated.claim.origin.file for stated in trace.claims if stated.outcome in (Outcome.WINS, Outcome.JOINS)
            }
            assert (trace.value, standing) == (text, setters(text))

    @given(bodies(), st.lists(KEYS, min_size=1, max_size=3).map(tuple))
    def test_every_loser_said_something_and_somebody_is_named(self, texts: list[str], path: Path):
        """At the path, or in the way of it."""
        merged = merge(texts)
        trace = merged.trace(path)

        assert str(trace)
        for stated in trace.losers:
            assert stated.why
            assert stated.claim.path == path[: len(stated.claim.path)]
            standing = {one.claim.rank for one in trace.claims if one.outcome in (Outcome.WINS, Outcome.JOINS)}
            assert stated.claim.rank not in standing

    def test_a_dropped_part_lost_to_the_missing_merger(self):
        """The reason is said in words."""
        merged = merge(["#cloud-config\na: 1", "#cloud-config\nmerge_how: list(append)\na: 2"])

        (loser,) = merged.trace("a").losers
        assert (loser.claim.value, loser.why) == (2, "no merger for the old value's type: it stays (list(append))")

    def test_a_null_that_deleted_is_told(self):
        """Nobody is left, and both are named."""
        merged = merge(["#cloud-config\na: 1", "#cloud-config\nmerge_how: dict(allow_delete)\na:"])
        trace = merged.trace("a")

        assert (trace.found, [stated.claim.value for stated in trace.claims]) == (False, [None, 1])
        (why,) = {stated.why for stated in trace.claims}
        assert why.startswith("dict(allow_delete): a null deletes the key")

    def test_a_scalar_in_the_way_is_told(self):
        """Nothing can lie below it."""
        merged = merge(["#cloud-config\na: 1"])

        assert merged.trace("a.b").cover == ("a",)

    def test_a_file_with_one_part_goes_by_its_name(self, tmp_path: Any):
        """A part of a message by both."""
        file = tmp_path / "a.yaml"
        file.write_text("#cloud-config\na: 1")
        merged = merge([file])

        assert merged.parts[0].title == file.as_posix()
        assert str(merged.origins("a")[0]) == f"{file.as_posix()}:2 (part)"

    def test_aliases_and_merge_keys_lead_to_where_the_value_is_written(self):
        """Not to where it is used."""
        merged = merge(["#cloud-config\nbase: &b\n  x: 1\n  y: 2\nuse:\n  <<: *b\n  y: 3\nlist: [*b]"])

        lines = {path: merged.origins(path)[0].line for path in ("use.x", "use.y", "list.0.x")}
        assert lines == {"use.x": 3, "use.y": 7, "list.0.x": 3}


def actions(merged: Merged) -> list[tuple[int, str, str]]:
    return [
        (step.number, change.action, ".".join(map(str, change.path)))
        for step in merged.changes()
        for change in step.changes
    ]


class TestChanges:
    def test_each_sort_of_change_has_its_word(self):
        """Set, extended, replaced, deleted, dropped."""
        first = "#cloud-config\nl: [a]\nt: x\nn: {k: 1}\ngone: 1\nstay: 1"
        second = (
            "#cloud-config\nmerge_how: dict(recurse_list,recurse_str,allow_delete)+list(append)+str()\n"
            "l: [b]\nt: y\nn: {m: 2}\ngone:\nstay: 2\nnew: 3"
        )

        assert [change for change in actions(merge([first, second])) if change[0] == 2] == [
            (2, "deleted", "gone"),
            (2, "extended", "l"),
            (2, "replaced", "t"),
            (2, "set", "n.m"),
            (2, "set", "new"),
            (2, "dropped", "stay"),
        ]

    def test_items_beyond_a_list_merged_by_position_are_dropped(self):
        """They are in no result."""
        merged = merge(["#cloud-config\nl: [a]", "#cloud-config\nmerge_how: dict(recurse_list)+list()\nl: [b, c]"])

        assert actions(merged)[1:] == [(2, "replaced", "l"), (2, "dropped", "l")]

    def test_a_part_that_is_dropped_whole_drops_each_of_its_keys(self):
        """No dict merger."""
        merged = merge(["#cloud-config\na: 1", "#cloud-config\nmerge_how: list(append)\nb: 2"])

        assert actions(merged) == [(1, "set", "a"), (2, "dropped", "b")]

    @given(bodies())
    def test_done_one_after_the_other_they_give_the_result(self, texts: list[str]):
        """Nothing changes without being told."""
        merged = merge(texts)
        tree: Any = {}
        for step in merged.changes():
            for change in step.changes:
                if change.action != "dropped":
                    tree = _with(tree, change.path, change.new, change.action == "deleted")

        assert tree == merged.config


class TestPatches:
    """A patch is told operation by operation."""

    def merged(self, first: str, *operations: str, **layers: str) -> Merged:
        user = merge([f"#cloud-config\n{first}", "#cloud-config-jsonp\n[" + ",\n".join(operations) + "]"])
        return merge_layers(user=user, **layers) if layers else user

    def rows(self, merged: Merged, path: str) -> list[tuple[str, Any, int | None]]:
        return [(one.outcome.value, one.claim.value, one.claim.origin.line) for one in merged.trace(path).claims]

    def test_what_a_later_operation_replaces_is_overridden_and_next(self):
        """
        Both stand in one part.
        """
        merged = self.merged(
            "t: 1", '{"op": "add", "path": "/t", "value": 2}', '{"op": "add", "path": "/t", "value": 3}'
        )

        assert self.rows(merged, "t") == [("wins", 3, 3), ("loses", 2, 2), ("loses", 1, 2)]
        assert "the operation replaces what was there (JSON patch: add /t)" in merged.explain("t")

    def test_a_reason_is_that_of_the_operation_that_decided(self):
        """
        Not of a later one, which leaves nothing of it either.
        """
        replaced, other = '{"op": "add", "path": "/n", "value": {"a": 2}}', '{"op": "add", "path": "/t", "value": 3}'
        (lost,) = self.merged("n: 1\nt: 1", replaced, other).trace("n").losers

        assert lost.why == "the operation replaces what was there (JSON patch: add /n)"

    def test_without_its_value_an_operation_is_undone(self):
        """
        So the first part's is next; without the entry inside of it the operation still empties the map.
        """
        merged = self.merged("d: {l: 1}", '{"op": "add", "path": "/d", "value": {"l": 2}}', vendor="d: {l: 3}")

        assert self.rows(merged, "d.l") == [("wins", 2, 2), ("loses", 3, 1), ("loses", 1, 2)]

    def test_a_patch_that_sets_what_was_there_has_set_it(self):
        """
        Equal elements of a list are the patch's.
        """
        merged = self.merged('l: ["a"]', '{"op": "replace", "path": "/l", "value": ["a"]}')

        assert [origin.place for origin in merged.origins("l.0")] == ["part-002:2"]
        assert [("wins", ["a"], 2), ("loses", ["a"], 2)] == self.rows(merged, "l")

    def test_of_equal_elements_the_added_one_is_the_patchs(self):
        """
        The others move up, and keep who set them.
        """
        merged = self.merged("l: [a, a]", '{"op": "add", "path": "/l/1", "value": "a"}')

        places = [str(merged.origins(f"l.{index}")[0]) for index in range(3)]
        assert places == ["part-001:2 (part)", "part-002:2 (patch)", "part-001:2 (part)"]

    def test_what_was_copied_elsewhere_and_then_replaced_is_overridden(self):
        """
        It is read at the other place.
        """
        merged = self.merged(
            "t: 1", '{"op": "copy", "from": "/t", "path": "/x"}', '{"op": "add", "path": "/t", "value": 2}'
        )

        assert self.rows(merged, "t") == [("wins", 2, 3), ("loses", 1, 2)]
        assert self.rows(merged, "x") == [("wins", 1, 2)]

    def test_what_was_removed_is_overridden_by_the_patch(self):
        """
        It stays so when a weaker layer is read.
        """
        merged = self.merged("t: 1\nz: 0", '{"op": "remove", "path": "/t"}', vendor="t: 2")

        assert [(stated.claim.value, stated.by) for stated in merged.trace("t").claims] == [(2, ()), (1, (2,))]
        assert "the operation removes it (JSON patch: remove /t)" in merged.explain("t")

    def test_what_was_written_twice_and_then_moved_is_told(self):
        """
        Under the key that it had.
        """
        merged = self.merged("n: 1\nn: 2", '{"op": "move", "from": "/n", "path": "/x"}')

        assert self.rows(merged, "x") == [("wins", 2, 3), ("loses", 1, 2)]

    def test_what_would_lose_to_others_behind_a_patch_is_not_next(self):
        """
        The map below the patch replaces the earlier line, too.
        """
        how = "merge_how: list()+dict(no_replace,recurse_list)"
        patch = '#cloud-config-jsonp\n[{"op": "remove", "path": "/n"}]'
        merged = merge(["#cloud-config\ne: {e: 0}\nn: 1", patch, f"#cloud-config\n{how}\ne: []\ne: {{n: 2}}"])

        assert [(stated.claim.value, stated.by) for stated in merged.trace("e.n").claims] == [(2, ()), ([], (3, 1))]

    def test_what_was_gone_before_a_patch_is_still_told(self):
        """
        Though the patch touches something else, and a weaker layer is read.
        """
        how = "merge_how: dict(allow_delete)"
        patch = '#cloud-config-jsonp\n[{"op": "remove", "path": "/l"}]'
        user = merge(["#cloud-config\nt: a\nl: 0\nz: 0", f"#cloud-config\nt: null\n{how}", patch])

        assert [value for _, value, _ in self.rows(merge_layers(user=user, vendor="t: b"), "t")] == ["b", None, "a"]

    def test_what_fell_by_itself_says_so_though_nothing_is_left_of_its_part(self):
        """
        The two parts say nothing else; behind them a patch has changed something.
        """
        how = "merge_how: dict(allow_delete)"
        patch = '#cloud-config-jsonp\n[{"op": "add", "path": "/x", "value": 1}]'
        user = merge(["#cloud-config\nt: a", f"#cloud-config\nt: null\n{how}", "#cloud-config\nn: 1", patch])
        merged = merge_layers(user=user, vendor="t: b")

        found = {heard.claim.value: heard.by for heard in merged.trace("t").losers}
        assert found == {"a": (2,), None: (1,)}

    def test_a_patch_that_needs_the_winner_does_not_hinder_an_explanation(self):
        """
        Without the first part there is nothing to copy.
        """
        merged = self.merged("t: 1", '{"op": "copy", "from": "/t", "path": "/x"}', vendor="t: 2")

        assert self.rows(merged, "t") == [("wins", 1, 2), ("loses", 2, 1)]

    def test_an_entry_is_said_where_the_patch_has_put_it(self):
        """
        And not at the map above, or beside it.
        """
        merged = self.merged("d: {a: 1}", '{"op": "add", "path": "/d/b", "value": 2}')

        assert "set at d.b" in merged.explain("d")
        assert self.rows(merged, "d.a") == [("wins", 1, 2)]

    def test_what_an_alias_shares_is_changed_along(self):
        """
        As in cloud-init, whose patch works on what was loaded.
        """
        merged = self.merged("x: &one {t: 1}\ny: *one", '{"op": "replace", "path": "/x/t", "value": 2}')

        assert {"x": {"t": 2}, "y": {"t": 2}} == merged.value
        assert ["part-002:2 (patch)"] * 2 == [str(merged.origins(path)[0]) for path in ("x.t", "y.t")]

    def test_a_patch_without_operations_changes_nothing(self):
        """
        It is a part like any other.
        """
        merged = self.merged("t: 1")

        assert actions(merged) == [(1, "set", "t")]

    @given(st.lists(st.sampled_from(OPERATIONS), max_size=6))
    def test_everything_in_the_result_has_somebody_who_set_it(self, operations: list[str]):
        """
        At a value that is the one that is read.
        """
        merged = self.merged("a: {x: 11, y: [12, 13]}\nb: 14", *operations)
        if not merged.ok:
            assert merged.value == {"a": {"x": 11, "y": [12, 13]}, "b": 14}
            return
        for path, value in _scalars(merged.value, ()):
            (stated,) = [one for one in merged.trace(path).claims if one.outcome is not Outcome.LOSES]
            assert stated.claim.value == value


def _scalars(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if not isinstance(value, (dict, list)):
        yield path, value
        return
    for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _scalars(entry, (*path, step))


def _with(tree: Any, path: Path, value: Any, without: bool) -> Any:
    if not path:
        return value
    copy = dict(tree)
    if without and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _with(copy.get(path[0]), path[1:], value, without)
    return copy


class TestTruth:
    """Every answer to "who" is true: what other accounts left out, or placed elsewhere."""

    def rows(self, merged: Any, path: str) -> list[tuple[str, Any, str]]:
        return [(one.outcome.value, one.claim.value, str(one.claim.origin)) for one in merged.trace(path).claims]

    def test_a_list_that_hid_a_map_is_named(self):
        """
        Its part set nothing below, and hides what did.
        """
        how = "merge_how: list(append)+dict(recurse_list)"
        merged = merge(["#cloud-config\nb: {a: x}", f"#cloud-config\nb: [y]\n{how}"])

        assert self.rows(merged, "b.a") == [
            ("wins", "x", "part-001:2 (part)"),
            ("loses", ["y"], "part-002:2 (part)"),
        ]

    def test_a_patch_is_told_at_the_line_of_its_operation(self):
        """
        Each value inside of it at its own.
        """
        operations = '{"op": "add", "path": "/a", "value": 1},\n{"op": "add", "path": "/b", "value": {"c": [7,\n8]}}'
        patch = f"#cloud-config-jsonp\n[\n{operations}]"
        merged = merge(["#cloud-config\nz: 0", patch])

        assert [merged.origins(path)[0].line for path in ("z", "a", "b.c.0", "b.c.1")] == [2, 3, 4, 5]

    def test_a_value_that_a_patch_moves_keeps_its_origin(self):
        """
        The patch has set nothing there.
        """
        merged = merge(
            ["#cloud-config\na: {x: 1}", '#cloud-config-jsonp\n[{"op": "move", "from": "/a/x", "path": "/b"}]']
        )

        assert {"a": {}, "b": 1} == merged.config
        assert ["part-001:2 (part)"] == [str(origin) for origin in merged.origins("b")]

    def test_a_part_of_an_archive_is_told_in_the_file(self, tmp_path: Any):
        """
        Where its text stands there as it is.
        """
        file = tmp_path / "arch.yaml"
        file.write_text(
            "#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    #cloud-config\n    a: 1\n"
            "- |\n  #cloud-config\n  b: 2\n"
        )
        merged = merge([file])

        assert {"a": 1, "b": 2} == merged.config
        places = [merged.origins(path)[0] for path in "ab"]
        assert [(file.as_posix(), 5, 5), (file.as_posix(), 8, 3)] == [
            (one.file, one.line, one.column) for one in places
        ]

    def test_a_key_that_is_written_twice_has_overridden_itself(self):
        """
        Also further up.
        """
        merged = merge(["#cloud-config\na: 1\na: 2\nm: {x: 1}\nm:\n  x: 3"])

        assert self.rows(merged, "a") == [("wins", 2, "part-001:3 (part)"), ("loses", 1, "part-001:2 (part)")]
        assert self.rows(merged, "m.x") == [("wins", 3, "part-001:6 (part)"), ("loses", 1, "part-001:4 (part)")]

    def test_the_earlier_line_of_a_key_that_is_written_twice_is_next(self):
        """
        It is read once the later one is gone, whatever the other parts say; and also where it stands in the way.
        """
        twice = "#cloud-config\na: 2\na: 3\nm: x\nm: {n: 1}"
        merged = merge(["#cloud-config\na: 1", twice])

        assert [value for _, value, _ in self.rows(merged, "a")] == [3, 2, 1]
        assert self.rows(merged, "m.n")[1] == ("loses", "x", "part-002:4 (part)")

    def test_a_key_that_is_written_twice_in_an_element_has_overridden_itself(self):
        """
        The other elements are nobody's business.
        """
        merged = merge(["#cloud-config\nl:\n- a\n- x: 1\n  x: 2"])

        assert self.rows(merged, "l.1.x") == [("wins", 2, "part-001:5 (part)"), ("loses", 1, "part-001:4 (part)")]

    def test_an_empty_list_stays_whose_it_was(self):
        """
        Nothing was prepended to it.
        """
        how = "merge_how: list(prepend)+dict(recurse_list)"
        merged = merge(["#cloud-config\nl: []", f"#cloud-config\nl: []\n{how}"])

        assert self.rows(merged, "l") == [("wins", [], "part-001:2 (part)"), ("loses", [], "part-002:2 (part)")]

    def test_what_an_empty_list_has_replaced_is_told_of_what_was_added_to_it(self):
        """
        The number is read again once the list is gone.
        """
        how = "merge_how: list(append)+dict(no_replace)"
        merged = merge(["#cloud-config\nn: 1", "#cloud-config\nn: []", f"#cloud-config\nn: {{m: 2}}\n{how}"])

        assert merged.value == {"n": ["m"]}
        assert [value for _, value, _ in self.rows(merged, "n.0")] == [2, [], 1]

    def test_a_null_is_overridden_by_what_it_deletes(self):
        """
        Where nothing is to be deleted, it is read.
        """
        how = "merge_how: dict(allow_delete)"
        user = merge(["#cloud-config\nt: a\nz: 0", f"#cloud-config\nt: null\n{how}"])
        merged = merge_layers(user=user, vendor="t: b")

        rows = [(stated.claim.value, stated.by) for stated in merged.trace("t").claims]
        assert rows == [("b", ()), (None, (1,)), ("a", (2,))]

    def test_a_list_of_the_keys_beside_the_path_would_stand_in_the_way(self):
        """
        Without the winner's map there is a list, and the keys of a third part's map are added to it.
        """
        merged = merge(
            [
                "#cloud-config\ne: {e: a}",
                "#cloud-config\ne: []\nmerge_how: dict(recurse_list)",
                "#cloud-config\ne: {m: b}\nmerge_how: list(prepend)+dict(allow_delete)",
            ]
        )
        text = merged.explain("e.e")

        assert [value for _, value, _ in self.rows(merged, "e.e")] == ["a", {"m": "b"}, []]
        assert "set at e; overridden by 1: it would stand in the way (what lies beside)" in text

    def test_an_unknown_layer_is_told_where_it_might_decide(self):
        """
        The answer is that of the others.
        """
        merged = merge_layers(user="#cloud-config\na: 1", vendor=VAULT, confd="b: 2")

        assert {"a": 1, "b": 2} == merged.config
        assert [] == list(merged.trace("a").unknown)
        assert ["vault"] == [stated.claim.origin.name for stated in merged.trace("b").unknown]

    @pytest.mark.parametrize(
        ("layers", "over_a"),
        [
            ({"vendor": VAULT}, False),  # it comes in merged, and joins as all of these do
            ({"datasource": VAULT}, True),  # it may have a definition of its own, such as dict(replace)
            ({"base": VAULT}, True),
            ({"confd": VAULT}, False),  # its definition counts among the pieces of the base
            ({"confd": merge_layers(base=VAULT)}, False),
            ({"builtin": VAULT, "confd": "b: 2"}, False),
        ],
    )
    def test_an_unknown_layer_may_have_a_definition_of_its_own(self, layers, over_a):
        """
        Then it may override a stronger one. Alone in the base it is not forgotten.
        """
        merged = merge_layers(user="a: 1", **layers)

        assert [over_a, True] == [bool(merged.trace(path).unknown) for path in ("a", "b")]

    def test_it_is_an_answer_like_those_of_the_other_systems(self):
        """
        Value, origins, trace and data.
        """
        merged = merge(["#cloud-config\na: 1"])

        assert isinstance(merged, Answer)
        assert {"a": 1} == merged.value == merged.to_dict()["config"]

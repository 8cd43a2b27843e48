"""Why a merged config is what it is: origins, traces, and the difference that each part made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Layer, Origin
from nodeattrs.adapters.cloudinit import Merged, merge, merge_layers
from nodeattrs.core.answer import Answer
from nodeattrs.core.trace import Fate
from nodeattrs.core.tree import Path, dig

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


def speakers(text: str) -> set[str]:
    """The parts that a leaf says it is of."""
    return {f"part-00{number}" for number in PIECE.findall(text)}


class TestOrigins:
    @given(bodies())
    def test_each_leaf_is_said_by_the_parts_that_it_names(self, texts: list[str]):
        """All of them, and no other."""
        merged = merge(texts)

        for path, text in leaves(merged.config):
            assert {origin.file for origin in merged.origins(path)} == speakers(text)

    @given(bodies())
    def test_the_line_is_one_on_which_the_part_says_the_leaf(self, texts: list[str]):
        """Items of joined lists too, which stand at other places there."""
        merged = merge(texts)

        for path, _ in leaves(merged.config):
            for origin in merged.origins(path):
                assert origin.line is not None
                lines = texts[int(str(origin.file)[-1]) - 1].splitlines()[origin.line - 1 :]
                assert f"<{str(origin.file)[-1]}." in lines[0]

    @settings(max_examples=40)
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

    @settings(max_examples=40)
    @given(bodies(), bodies())
    def test_layers_keep_them(self, user: list[str], vendor: list[str]):
        """A leaf that comes out of one side is said by that side's parts."""
        sides = [
            merge([text.replace("<", f"<{side}") for text in texts]) for side, texts in (("u", user), ("v", vendor))
        ]
        whole = merge_layers(user=sides[0], vendor=sides[1])

        for path, text in leaves(whole.config):
            ranks = {heard.claim.rank for heard in whole.trace(path).heard if heard.fate in (Fate.WINS, Fate.JOINS)}
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
            standing = {heard.claim.origin.file for heard in trace.heard if heard.fate in (Fate.WINS, Fate.JOINS)}
            assert (trace.value, standing) == (text, speakers(text))

    @given(bodies(), st.lists(KEYS, min_size=1, max_size=3).map(tuple))
    def test_every_loser_said_something_and_somebody_is_named(self, texts: list[str], path: Path):
        """At the path, or in the way of it."""
        merged = merge(texts)
        trace = merged.trace(path)

        assert str(trace)
        for heard in trace.losers:
            assert heard.why
            assert heard.claim.path == path[: len(heard.claim.path)]
            standing = {one.claim.rank for one in trace.heard if one.fate in (Fate.WINS, Fate.JOINS)}
            assert heard.claim.rank not in standing

    def test_a_dropped_part_lost_to_the_missing_merger(self):
        """The reason is said in words."""
        merged = merge(["#cloud-config\na: 1", "#cloud-config\nmerge_how: list(append)\na: 2"])

        (loser,) = merged.trace("a").losers
        assert (loser.claim.value, loser.why) == (2, "no merger for the old value's type: it stays (list(append))")

    def test_a_null_that_deleted_is_told(self):
        """Nobody is left, and both are named."""
        merged = merge(["#cloud-config\na: 1", "#cloud-config\nmerge_how: dict(allow_delete)\na:"])
        trace = merged.trace("a")

        assert (trace.found, [heard.claim.value for heard in trace.heard]) == (False, [None, 1])
        (why,) = {heard.why for heard in trace.heard}
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
        return [(one.fate.value, one.claim.value, str(one.claim.origin)) for one in merged.trace(path).heard]

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

    def test_what_a_patch_moves_keeps_who_set_it(self):
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

    def test_an_unknown_layer_is_told_where_it_might_decide(self):
        """
        The answer is that of the others.
        """
        vault = Layer.unknown("vault", Origin("layer", "vault"), "needs a server")
        merged = merge_layers(user="#cloud-config\na: 1", vendor=vault, confd="b: 2")

        assert {"a": 1, "b": 2} == merged.config
        assert [] == list(merged.trace("a").unknown)
        assert ["vault"] == [heard.claim.origin.name for heard in merged.trace("b").unknown]

    def test_it_is_an_answer_like_those_of_the_other_systems(self):
        """
        Value, origins, trace and data.
        """
        merged = merge(["#cloud-config\na: 1"])

        assert isinstance(merged, Answer)
        assert {"a": 1} == merged.value == merged.to_dict()["config"]

"""The reports: data first, then lines that fit the screen."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import ACROSS, Layer, Node, Origin, Sensitive, fold, lazy
from nodeattrs.cli.terminal import Terminal
from nodeattrs.core.changed import changes
from nodeattrs.core.trace import Outcome
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.errors import BadValue, DocumentError
from nodeattrs.node.documents import json_ready
from nodeattrs.node.running import setting_as
from nodeattrs.node.slots import COMPONENTS, SLOTS
from nodeattrs.reports import Screen, StreamedReport
from nodeattrs.reports.diff import Difference, DiffSide
from nodeattrs.reports.explain import NodeExplanation, explained, way_to
from nodeattrs.reports.screen import in_columns
from nodeattrs.reports.show import ShownSlots, ShownTree, tree_lines
from nodeattrs.reports.values import is_leaf, on_one_line

keys = st.sampled_from(["a", "b", "no", "1", "x y", "ö", "", "~", "a: b", "#", "-"]) | st.integers(0, 2)
texts = st.text(max_size=6) | st.sampled_from(
    ["true", "null", "12:30", "2020-01-01", "a #b", "a: b", "0x1", "1e3", "- a", "é\x1b\x85"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
words = st.dictionaries(st.sampled_from([f"s{slot.number}" for slot in SLOTS]), trees, min_size=1, max_size=4)

SPEAKERS = {
    "attribute file": Origin("attribute file", "postgresql::default", "cookbooks/postgresql/attributes/default.py", 12),
    "recipe": Origin("recipe", "postgresql::default", "cookbooks/postgresql/recipes/default.py", 120),
    "environment": Origin("environment", "production", "environments/production.yaml", 7),
    "role": Origin("role", "web", "roles/web.json", 9),
    "facts": Origin("facts", "this machine"),
}


def node_with(**slots: Any) -> Node:
    """A node in which each slot named (`s1` to `s15`) says a tree."""
    node = Node("web1", "production")
    for name, tree in slots.items():
        slot = SLOTS[int(name[1:]) - 1]
        writer = next(one.name for one in COMPONENTS if slot.number in (one.file, one.recipe))
        with setting_as(node, slot.source, SPEAKERS[slot.source].name, SPEAKERS[slot.source]):
            getattr(node, writer).update(tree)
    return node


def lines(report: Any, width: int = 80) -> list[str]:
    return list(report.lines(Screen(width)))


class TestExplanation:
    def test_a_leaf_that_everybody_speaks_about_fits_one_screen(self):
        """
        Fifteen claims with their files, the rules that decide among them: 24 lines of 80 columns.
        """
        node = node_with(**{f"s{slot.number}": {"app_workers": slot.number} for slot in SLOTS})

        text = lines(explained(node, ("app_workers",)))

        assert [str(number) for number in range(15, 0, -1)] == [line.split()[1] for line in text[2:17]]
        assert len(text) <= 24
        assert max(map(len, text)) <= 80

    @given(words, st.integers(40, 120))
    def test_lines_fit_the_screen(self, said: dict[str, Any], width: int):
        """
        Whatever is set by whom, no line is wider than the screen.
        """
        node = node_with(**{slot: {"k": value} for slot, value in said.items()})

        assert [] == [line for line in lines(explained(node, ("k",)), width) if len(line) > width]

    @given(words)
    def test_the_text_names_every_claim(self, said: dict[str, Any]):
        """
        Outcome and slot of each, in the order of the trace.
        """
        explanation = explained(node_with(**{slot: {"k": value} for slot, value in said.items()}), ("k",))
        fates = {"wins", "joins", "loses"}

        told = [line.split()[:2] for line in lines(explanation) if line.split() and line.split()[0] in fates]

        assert [[stated.outcome.value, str(stated.claim.rank)] for stated in explanation.trace.claims] == told

    def test_a_wide_screen_names_the_speakers(self):
        """
        Where there is no room, the file tells as much.
        """
        node = node_with(s4={"k": 1}, s15={"f": 2})

        assert "  wins  4 default / role  1  roles/web.json:9 (role web)" == lines(explained(node, ("k",)), 120)[2]
        assert "  wins  15 automatic / facts  2  facts this machine" == lines(explained(node, ("f",)))[2]

    def test_a_long_value_is_wrapped_and_a_very_long_one_cut(self):
        """
        The beginning can be read, and the rules still stand on the screen.
        """
        node = node_with(s1={"k": "word " * 400}, s12={"k": "other " * 400})

        text = lines(explained(node, ("k",)))

        assert len(text) <= 24
        assert text[3].endswith(" …")
        assert text[-1].startswith("  12 over 1")

    def test_what_stands_in_the_way_is_named(self):
        """
        Below a scalar there is nothing, and the scalar's own claims explain it.
        """
        text = lines(explained(node_with(s1={"k": {"a": 1}}, s12={"k": 5}), ("k", "a")))

        assert text[:4] == [
            "web1 in production: k.a is not set",
            "  k is not a map: nothing can lie below it",
            "",
            "  wins   12 override  5  environments/production.yaml:7",
        ]

    def test_an_explanation_lists_earlier_values_newest_first(self):
        """
        Overwritten and erased, newest first, then the unless that found a value; each with its place.
        """
        node = Node("web1")
        with setting_as(node, "role", "a", Origin("role", "a", "roles/a.json", 1)):
            node.default["k"] = 1
        with setting_as(node, "role", "b", Origin("role", "b", "roles/b.json", 2)):
            node.default["k"] = 2
            node.default_unless["k"] = 3
            node.rm("k")

        assert lines(explained(node, ("k",))) == [
            "web1 in _default: k is not set",
            "",
            "  earlier values",
            "    erased       2 default  2  roles/b.json:2",
            "                 by roles/b.json:2",
            "    overwritten  2 default  1  roles/a.json:1",
            "                 by roles/b.json:2",
            "    by unless    2 default  3  roles/b.json:2",
        ]

    def test_many_elements_and_a_long_history_are_cut_in_the_text_only(self):
        """
        The data has all of them.
        """
        node = node_with(s1={"k": list(range(20))}, s4={"k": [99]})

        explanation = explained(node, ("k",))

        assert "    … and 9 more; --format json has all" in lines(explanation)
        assert 21 == len(explanation.to_dict()["elements"])

    def test_a_secret_is_masked_in_every_place(self):
        """
        As winner, as loser, as element, as what was said before.
        """
        node = Node("web1", sensitive=["k"])
        node.default["k"] = "hunter2"
        node.default["k"] = ["hunter2", "hunter3"]
        node.override["k"] = Sensitive("hunter4")

        explanation = explained(node, ("k",))

        assert "hunter" not in json.dumps(explanation.to_dict()) + "".join(lines(explanation))

    def test_a_fold_of_the_core_is_explained_as_well(self):
        """
        Layers have names and no slots.
        """
        low = Layer({"k": 1}, Origin("file", "low", "low.yaml", 1), "low")
        high = Layer({"k": 2}, Origin("file", "high", "high.yaml", 1), "high")
        trace = fold([low, high], ACROSS).trace("k")

        assert lines(NodeExplanation(trace))[2:4] == [
            "  wins   2 high  2  high.yaml:1 (file high)",
            "  loses  1 low   1  low.yaml:1 (file low)",
        ]

    def test_only_the_fate_is_coloured(self):
        """
        Without the colours it is the same text.
        """
        explanation = explained(node_with(s1={"k": 1}, s2={"k": 2}), ("k",))
        coloured = "\n".join(explanation.lines(Screen(80, colour=True)))

        for style in ("1;32", "2", "1", "0"):
            coloured = coloured.replace(f"\x1b[{style}m", "")

        assert coloured.splitlines() == lines(explanation)

    @pytest.mark.parametrize("outcome", Outcome)
    def test_each_fate_has_a_colour(self, outcome: Outcome):
        assert Screen(80, colour=True).paint("k", outcome.value) != "k"

    def test_a_layer_that_was_not_read_is_coloured(self):
        unread = Layer.unknown("high", Origin("file", "high"), "was not read")
        trace = fold([Layer({"k": 1}, Origin("file", "low")), unread], ACROSS).trace("k")
        assert "\x1b[33munknown\x1b[0m" in "\n".join(NodeExplanation(trace).lines(Screen(80, colour=True)))


APPLIED = {
    "resources": [
        {"type": "File", "title": "/new", "parameters": {"content": "first\n"}},
        {"type": "File", "title": "/old", "parameters": {"content": "same\nnew\n"}},
        {"type": "Execute", "title": "false", "parameters": {}, "before": ["Execute[true]"]},
        {"type": "Execute", "title": "true", "parameters": {}},
    ]
}
CATALOGS = {
    "applied.json": json.dumps(APPLIED),
    "before.json": json.dumps({"resources": [{"type": "File", "title": "/new", "content": "same\nfirst\n"}]}),
    "after.json": json.dumps({"resources": [{"type": "File", "title": "/new", "content": "same\nlast\n"}]}),
    "root/old": "same\nold\n",
}
USER_DATA = {"a.yaml": "#cloud-config\na: 1\n", "b.yaml": "#cloud-config\na: 2\nb: 3\n"}
CHEF = {
    "nodes/web1.json": '{"name": "web1", "run_list": ["role[a]"]}',
    "roles/a.json": '{"name": "a", "default_attributes": {"port": 80}}',
}
RUN = ("run", "--node", "web1", "--platform", "debian-12")
STYLES = {
    "32": "added",
    "33": "changed",
    "31": "removed",
    "1;31": "error",
    "1;33": "warning",
    "2": "faint",
    "1": "bold",
}


class TestColours:
    """A colour says what kind of line it is: each is shown here as <kind>text</>."""

    def coloured(self, in_folder: Any, files: dict[str, str], *words: str) -> str:
        out = in_folder(files, *words, "--color", "always")[1]
        return re.sub("\x1b\\[(.*?)m", lambda found: f"<{STYLES.get(found[1], '/')}>", out)

    @pytest.mark.parametrize(
        ("files", "words", "shown"),
        [
            (
                CATALOGS,
                "catalog apply --root root --from applied.json",
                [
                    "<changed>~</> File[/new]",
                    "<added>+first</>",
                    "<faint> same</>",
                    "<removed>-old</>",
                    "<added>+new</>",
                ],
            ),
            (
                CATALOGS,
                "catalog apply --root root --from applied.json",
                ["<error>!</> Execute[false]", "<error>failed:</> run", "<warning>-</> Execute[true]"],
            ),
            (
                CATALOGS,
                "catalog diff before.json after.json",
                ["<changed>~</> File[/new]", "<removed>      - first</>", "<added>      + last</>"],
            ),
            (
                USER_DATA,
                "cloud-config explain a.yaml b.yaml",
                ["<added>+</> set       a", "<changed>~</> replaced  a", "<added>+</> set       b"],
            ),
        ],
    )
    def test_each_kind_of_line_has_one(self, in_folder: Any, files: dict[str, str], words: str, shown: list[str]):
        out = self.coloured(in_folder, files, *words.split())
        assert [one for one in shown if one not in out] == [], out

    def test_a_failed_run_is_an_error_in_the_list_of_nodes_and_in_the_history(self, in_folder: Any):
        in_folder(CHEF, *RUN)
        whole = [self.coloured(in_folder, {}, "status"), self.coloured(in_folder, {}, "history", "web1")]
        in_folder({"roles/a.json": "{"}, *RUN)
        status = self.coloured(in_folder, {}, "status").splitlines()
        history = self.coloured(in_folder, {}, "history", "web1").splitlines()

        assert not any("<error>" in out for out in whole)
        assert (status[0].startswith("<error>web1"), "<error>" in status[-1]) == (True, False)
        assert ["<error>failed" in line for line in history] == [True, False]

    def test_only_the_titles_of_a_search_are_bold(self, in_folder: Any):
        in_folder(CHEF, *RUN)
        titles, row = self.coloured(in_folder, {}, "search", "*:*", "--attribute", "port").splitlines()

        assert (titles.startswith("<bold>"), "<bold>" in row) == (True, False)


class TestWayTo:
    @pytest.mark.parametrize(
        ("tree", "path", "hint"),
        [
            (
                {"ports": {"80": {"name": "x"}}},
                ("ports", 80, "name"),
                'quote what is text and not a number: ports."80".name',
            ),
            ({"ports": {80: 1}}, ("ports", "80"), "do not quote what is a number: ports.80"),
            ({"a.b": {"c": 1}}, ("a", "b", "c"), 'quote a step that holds dots: "a.b".c'),
            ({"app": {"workers": 1}}, ("app", "worker"), "did you mean app.workers?"),
            ({"app": {"x": 1, "y": 2}}, ("app", "zebra"), "app has x, y"),
            ({"app": [1]}, ("app", 1), "app is a list of 1 element, counted from 0"),
            ({"app": 5}, ("app", "x"), "app is not a map: nothing can lie below it"),
            ({}, ("app",), None),
            ({"app": 5}, ("app",), None),
        ],
        ids=str,
    )
    def test_hints_for_a_path_can_be_pasted(self, tree: Any, path: tuple[Any, ...], hint: str | None):
        """
        What may have been meant, spelled so that it can be pasted.
        """
        assert hint == way_to(tree, path)


class TestTree:
    @given(trees)
    def test_yaml_reads_back_what_is_shown(self, tree: Any):
        """
        The text is YAML, whatever the keys and the values look like.
        """
        assert tree == yaml.safe_load("\n".join(tree_lines(tree, Screen())))

    @given(st.dictionaries(keys, trees, max_size=3))
    def test_each_leaf_has_one_remark(self, tree: Any):
        """
        And it is about that leaf: its path leads to what stands before the remark.
        """
        asked: list[tuple[Any, ...]] = []

        def origin(path: tuple[Any, ...]) -> Origin:
            asked.append(path)
            return Origin("caller", f"remark {len(asked)}")

        text = list(tree_lines(tree, Screen(), origin))

        assert len(asked) == sum("# caller remark" in line for line in text)
        assert all(is_leaf(dig(tree, path)) for path in asked)
        assert tree == yaml.safe_load("\n".join(text))

    def test_deep_trees_are_shown(self):
        """
        As deep as a node goes.
        """
        tree: Any = 1
        for _ in range(490):
            tree = {"k": tree}

        assert 490 == len(list(tree_lines(tree, Screen())))
        assert 490 == on_one_line(tree).count("{") == json.dumps(json_ready(tree)).count("{")

    def test_values_that_are_no_json(self):
        """
        Deferred values are computed, secrets masked.
        """
        node = Node("web1")
        node.default.update({"a": {"late": lazy(lambda: ["x"]), "key": Sensitive(5), 1: 2}})
        shown = ShownTree(("a",), node.to_dict(False)["a"])

        assert lines(shown) == ["late:", "  - x", "key: Sensitive(withheld)", "1: 2"]
        assert shown.to_dict()["value"] == {"late": ["x"], "key": {"$sensitive": "withheld"}, "1": 2}

    def test_a_slot_shows_where_it_replaces(self):
        """
        The marks of full maps belong to the slot.
        """
        node = Node("web1")
        with setting_as(node, "attribute file", "a"):
            node.default["m"] = {"x": 1}
        with setting_as(node, "recipe", "a"):
            node.default["m"] = {"z": 2}
        shown = ShownSlots("web1", "_default", (), tuple(node.slots.values()))

        assert lines(shown) == [
            "# 1 default / attribute file",
            "m:",
            "  x: 1",
            "",
            "# 2 default / recipe",
            "# replaces what the attribute file says at m",
            "m:",
            "  z: 2",
        ]
        assert [slot["replaces"] for slot in shown.to_dict()["slots"][:2]] == [[], ["m"]]

    def test_silence_is_said(self):
        """
        Nothing asked for says anything.
        """
        slots = Node("web1").slots
        shown = ShownSlots("web1", "_default", ("a",), (slots[3], slots[12]))

        assert ["# nothing set at a in 3 default / environment, 12 override / environment"] == lines(shown)


class TestChanges:
    @given(trees, trees)
    def test_applying_the_changes_gives_the_new_tree(self, before: Any, after: Any):
        """
        None is missing, none is too much; the order of keys is not a change.
        """
        before, after = {"k": before}, {"k": after}
        tree = json.loads(json.dumps(before))
        before, after = json.loads(json.dumps(before)), json.loads(json.dumps(after))

        found = changes(before, after)

        for change in sorted(found, key=lambda change: change.kind != "removed"):
            *above, last = change.path
            place = tree
            for step in above:
                if not isinstance(place.get(step), dict):
                    place[step] = {}
                place = place[step]
            if change.after is ABSENT:
                place.pop(last, None)
            else:
                place[last] = change.after
        assert _without_empty_maps(tree) == _without_empty_maps(after)
        assert [] == changes(after, after)
        assert all(json.dumps(change.before, default=str) != json.dumps(change.after, default=str) for change in found)


def _without_empty_maps(tree: Any) -> Any:
    """Maps that hold nothing are no leaves of their own when something was in them before."""
    if not isinstance(tree, dict):
        return tree
    inner = {key: _without_empty_maps(value) for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


class TestDifference:
    def between(self, one: dict[str, Any], other: dict[str, Any], **options: Any) -> Difference:
        return Difference(DiffSide("web1", node_with(**one)), DiffSide("web2", node_with(**other)), **options)

    def test_lists_are_compared_by_element(self):
        """
        What both nodes have is not named, nor is the line that both share.
        """
        shared = {"l": ["a", "b"]}
        difference = self.between({"s1": shared, "s4": {"l": ["c"]}}, {"s1": shared, "s3": {"l": ["d", "d"]}})

        assert lines(difference, 120)[1:] == [
            "  ~ l",
            '      - "c"  (roles/web.json:9 (role web))',
            '      + "d"  (environments/production.yaml:7 (environment production))',
        ]
        (change,) = difference.to_dict()["changes"]
        assert [("removed", "c"), ("added", "d")] == [(one["change"], one["value"]) for one in change["elements"]]

    def test_another_order_shows_both_lists(self):
        """
        No element differs, and yet they are not the same.
        """
        difference = self.between({"s1": {"l": [1, 2]}}, {"s1": {"l": [2, 1]}})

        assert 3 == len(lines(difference, 120)[1:])
        assert "elements" not in difference.to_dict()["changes"][0]

    def test_what_is_overridden_differs_by_slot_only(self):
        """
        It is read on neither node.
        """
        one, other = (
            {"s1": {"p": 1, "l": [1, 2]}, "s12": {"p": 5, "l": []}},
            {"s1": {"p": 2, "l": [2, 3]}, "s12": {"p": 5, "l": []}},
        )

        assert ["  no difference"] == lines(self.between(one, other))[1:]
        assert lines(self.between(one, other, by_slot=True), 120)[1:] == [
            "  no difference in what is read",
            "",
            "1 default / attribute file",
            "  ~ p",
            "      - 1  (cookbooks/postgresql/attributes/default.py:12 (attribute file postgresql::default))",
            "      + 2  (cookbooks/postgresql/attributes/default.py:12 (attribute file postgresql::default))",
            "  ~ l",
            "      - 1  (cookbooks/postgresql/attributes/default.py:12 (attribute file postgresql::default))",
            "      + 3  (cookbooks/postgresql/attributes/default.py:12 (attribute file postgresql::default))",
        ]
        (slot,) = self.between(one, other, by_slot=True).to_dict()["slots"]
        assert (1, ["p", "l"]) == (slot["slot"], [change["path"] for change in slot["changes"]])

    def test_secrets_in_lists_are_masked(self):
        """
        On both sides.
        """
        nodes = [Node(name, sensitive=["k"]) for name in ("a", "b")]
        nodes[0].default["k"], nodes[1].default["k"] = ["hunter1"], ["hunter2"]

        difference = Difference(DiffSide("a", nodes[0]), DiffSide("b", nodes[1]), by_slot=True)

        assert "hunter" not in json.dumps(difference.to_dict()) + "".join(lines(difference))


class _Counting(StreamedReport):
    """So many rows, made when they are asked for; then what comes of *last*."""

    def __init__(self, count: int, last: Any = None) -> None:
        self.count, self.last, self.made = count, last, 0

    def data(self) -> dict[str, Any]:
        return {"version": 1, "rows": self._rows(), "after": None}

    def lines(self, screen: Screen) -> Any:
        return map(str, self._rows())

    def _rows(self) -> Any:
        for number in range(1, self.count + 1):
            self.made = number
            yield {"n": number, "é": []}
        if self.last:
            yield self.last()


class TestLongReports:
    @pytest.mark.parametrize("count", [0, 1, 2, 50_000])
    def test_json_written_row_by_row_is_json_of_the_whole(self, capsys, count):
        """
        Of no row, too.
        """
        Terminal(form="json").report(_Counting(count))

        assert json.dumps(_Counting(count).to_dict(), indent=2, ensure_ascii=False) + "\n" == capsys.readouterr().out

    @pytest.mark.parametrize("form", ["text", "json"])
    def test_the_first_rows_are_written_before_the_last_ones_are_made(self, monkeypatch, form):
        """
        So that no more than some of them are there at a time.
        """
        report, made = _Counting(50_000), []
        terminal = Terminal(form=form)
        monkeypatch.setattr(terminal, "text", lambda text: made.append(report.made))

        terminal.report(report)

        assert made[0] < 30_000
        assert 50_000 == made[-1]

    def test_what_goes_wrong_with_a_row_is_told_from_what_json_cannot_have(self, capsys):
        """
        Errors of input are errors of values, too.
        """

        def damaged() -> Any:
            raise DocumentError("is damaged")

        with pytest.raises(DocumentError, match="is damaged"):
            Terminal(form="json").report(_Counting(3, damaged))
        with pytest.raises(BadValue, match="no number"):
            Terminal(form="json").report(_Counting(3, lambda: float("nan")))
        assert "" == capsys.readouterr().out

    def test_a_column_may_grow_wider_after_a_thousand_rows_and_never_narrower(self):
        """
        The rows before are written by then.
        """
        cells = list(in_columns(["ab"[:wide], "x"] for wide in [1] * 1_000 + [2] * 1_000 + [1]))

        assert [["a", "x"], ["ab", "x"], ["a ", "x"]] == [cells[0], cells[1_500], cells[-1]]


class TestWrapped:
    @given(
        st.text(st.sampled_from("ab \t\xa0-"), max_size=80)
        | st.lists(st.sampled_from(["a", "bb-b", "c" * 12])).map(" ".join),
        st.sampled_from(["", "  ", " " * 6]),
        st.sampled_from(["", "- ", "   x  "]),
    )
    def test_wrapped_text_equals_that_of_textwrap(self, text: str, indent: str, first: str):
        """
        Which is asked only where a text is more than words and single blanks: it takes half a start to load.
        """
        options = {"initial_indent": first or indent, "subsequent_indent": indent, "break_on_hyphens": False}
        expected = textwrap.wrap(text, 26, **options) or [first or indent]

        assert expected == Screen(26).wrapped(text, indent, first)

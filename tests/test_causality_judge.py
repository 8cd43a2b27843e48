"""The judge of explanations, judged: it finds each kind of lie, and none where the truth is told."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.causality.entries import withouts
from tests.causality.judge import examine, is_told, says
from tests.causality.scanning import scanned
from tests.causality.shrinking import shrunk
from tests.causality.system import Answer, Input, marked
from tests.causality.values import ABSENT, changes, follow
from tests.causality.words import CONTINUED, OVERRIDDEN, READ, WINS, WORDS, Row, next_in_line, rows_of

LINE = re.compile(r"^(\w+): (\w+)")


class LastFileWins:
    """A system for the tests: the value of a key is that of the last file; `k: =a` is what the key `a` is.

    lie: what is wrong with its explanations
    """

    name = "toy"

    def __init__(self, lie: str = "") -> None:
        self.lie = lie

    def make(self, random: random.Random) -> Input:
        raise NotImplementedError

    def examples(self) -> Iterator[tuple[str, Input]]:
        raise NotImplementedError

    def decides(self, file: str, line: str) -> bool:
        return line.startswith("#")

    def ask(self, folder: Path) -> Answer:
        said: dict[str, list[dict[str, Any]]] = {}
        for rank, file in enumerate(sorted(folder.iterdir()), 1):
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if found := LINE.match(line):
                    claim = {"rank": rank, "file": file.name, "line": number, "column": 1, "path": found[1]}
                    said.setdefault(found[1], []).insert(0, {**claim, "value": found[2]})
        return Answer({key: claims[0]["value"] for key, claims in said.items()}, lambda path: self._told(said, path))

    def _told(self, said: Any, path: Any) -> Any:
        winner, *others = said[path[0]]
        if self.lie == "another line":
            winner = {**winner, "line": winner["line"] + 1}
        if self.lie == "left out":
            others = []
        if self.lie == "upside down":
            others = others[::-1]
        if self.lie == "nobody":
            return {"steps": path, "claims": []}
        if self.lie == "winner and loser":
            others = [winner, *others]
        rows = [
            {**winner, "outcome": "wins"},
            *({**one, "outcome": "loses", "overridden_by": [winner["rank"]]} for one in others),
        ]
        if self.lie == "read":
            rows[1:] = [{**one, "outcome": "read"} for one in rows[1:]]
        return {"steps": path, "claims": rows}


THREE = {
    "1": "a: w700001\nb: w700002\n",
    "2": "a: w700003\nb: w700004\n",
    "3": "# three\na: w700005\nb: w700006\n",
}


def found(tmp_path: Path, lie: str) -> set[tuple[str, str]]:
    """The kinds of failure that the judge notes."""
    findings = examine(LastFileWins(lie), Input(THREE), tmp_path)
    assert findings.passed
    return {one.kind for one in findings.failures}


class TestTheJudge:
    def test_the_truth_is_let_pass(self, tmp_path):
        """
        Every law is asked, and every question holds.
        """
        findings = examine(LastFileWins(), Input(THREE), tmp_path)

        assert not findings.failures
        assert {"a", "b", "c", "d"} == set(findings.passed)
        assert (2, 1) == (findings.figures["leaves"], findings.figures["lines that decide"])

    @pytest.mark.parametrize(
        ("lie", "kind"),
        [
            ("another line", ("a", "the line sets nothing")),
            ("nobody", ("a", "nobody is named")),
            ("winner and loser", ("b", "one line is winner and overridden")),
            ("read", ("b", "what was continued or read changes nothing")),
            ("left out", ("d", "whom nobody named is next")),
            ("upside down", ("d", "another one is next")),
        ],
    )
    def test_a_lie_is_found(self, tmp_path, lie, kind):
        """
        Each by the law that forbids it.
        """
        assert kind in (found(tmp_path, lie) if lie != "nobody" else nobody(tmp_path))

    def test_a_line_that_matters_and_is_not_named_is_found(self, tmp_path):
        """
        Law (c): both halves of a value are to be named.
        """

        class Joined(LastFileWins):
            def ask(self, folder: Path) -> Answer:
                answer = super().ask(folder)
                one = (folder / "1").read_text()
                return Answer({**answer.value, "a": answer.value["a"] + one}, answer.explain)

        findings = examine(Joined(), Input(THREE), tmp_path)

        assert ("b", "an overridden line matters") in {one.kind for one in findings.failures}
        assert ("c", "a line that is not named matters") in {one.kind for one in findings.failures}

    def test_the_judge_reduces_a_failing_input(self):
        """
        As few files and lines as fail for the same cause.
        """
        system, input = LastFileWins("upside down"), Input({**THREE, "4": "c: w700007\n"})
        failure = next(one for one in _examined(system, input).failures if one.path == ("a",))

        small, again = shrunk(system, input, failure)

        assert failure.kind == again.kind
        assert 3 == sum(len(text.split()) // 2 for text in small.files.values())


def nobody(tmp_path: Path) -> set[tuple[str, str]]:
    return {one.kind for one in examine(LastFileWins("nobody"), Input(THREE), tmp_path).failures}


def _examined(system: LastFileWins, input: Input) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return examine(system, input, Path(folder))


class TestTheWords:
    """One table says what the words of the JSON mean."""

    def test_every_outcome_is_known(self):
        """
        And the four that the laws speak of are among the meanings.
        """
        assert {WINS, OVERRIDDEN, CONTINUED, READ} <= set(WORDS.values())

    @pytest.mark.parametrize(
        ("claims", "past", "expected"),
        [
            ([("wins", 2, []), ("loses", 1, [2])], [], 1),
            ([("wins", 3, []), ("loses", 1, [2]), ("loses", 2, [3])], [], 2),
            ([("wins", 3, []), ("loses", 1, [2, 3])], [], None),
            ([("wins", 2, []), ("loses", 1, [2])], [("overwritten", 2)], 2),
            ([("wins", 2, []), ("loses", 1, [2])], [("erased", 2), ("overwritten", 2)], 1),
            ([("wins", 2, []), ("loses", 1, [2])], [("silent", 2)], 2),
        ],
    )
    def test_next_in_line_is_the_first_whom_only_the_winner_overrides(self, claims, past, expected):
        """
        What the winner's source said before comes first, unless that was taken away.
        """
        place = {"path": "a", "value": 1, "file": "f", "line": 1, "column": None}
        rows = rows_of(
            {
                "steps": ["a"],
                "claims": [
                    {**place, "outcome": outcome, "rank": rank, "overridden_by": by} for outcome, rank, by in claims
                ],
                "history": [{**place, "event": event, "rank": rank, "by": None} for event, rank in past],
            }
        )

        coming = next_in_line(rows, lambda row: False)

        assert expected == (coming.rank if coming else None)

    @pytest.mark.parametrize(
        ("claims", "past", "gone", "expected"),
        [
            ([("wins", "attribute file", 1), ("loses", "role", 4)], [("silent", "recipe", 2, "a", None)], False, 2),
            ([("wins", "recipe", 2), ("loses", "attribute file", 1)], [("silent", "recipe", 2, "a", None)], False, 1),
            ([("wins", "recipe", 2)], [("silent", "attribute file", 1, "a", None)], False, None),
            ([("wins", "recipe", 2), ("loses", "role", 4)], [("overwritten", "recipe", 2, "a", "a")], False, 2),
            ([("wins", "recipe", 2), ("loses", "role", 4)], [("overwritten", "recipe", 2, "", "")], False, 4),
            ([("wins", "recipe", 2), ("loses", "role", 4)], [("overwritten", "recipe", 2, "", "")], True, 2),
        ],
    )
    def test_an_unless_speaks_for_its_component_and_a_whole_map_hides_what_it_overwrote(
        self, claims, past, gone, expected
    ):
        """
        A recipe's looks at what the attribute file set, the other way round it does not; a map has to go whole.
        """
        place = {"path": "a", "value": 1, "file": "f", "line": 1, "column": None}
        stated = [
            {**place, "outcome": outcome, "rank": rank, "slot": f"default / {who}"} for outcome, who, rank in claims
        ]
        before = [
            {
                **place,
                "event": event,
                "rank": rank,
                "slot": f"default / {who}",
                "at": at,
                "by": by and {**place, "path": by},
            }
            for event, who, rank, at, by in past
        ]
        if past[0][4] == "":
            before[0]["by"] = {**place, "path": ""}
        coming = next_in_line(rows_of({"steps": ["a"], "claims": stated, "history": before}), lambda row: gone)

        assert expected == (coming.rank if coming else None)

    @pytest.mark.parametrize(("gone", "expected"), [(False, None), (True, 1)])
    def test_the_next_in_line_is_found_without_winner_and_holding_map(self, gone, expected):
        """
        What the winner and a map that holds have overridden is next once both are gone.
        """
        place = {"path": "a", "value": 1, "file": "f", "line": 1, "column": None}
        stated = [("wins", 3, []), ("holds", 2, []), ("loses", 1, [2, 3])]
        claims = [{**place, "outcome": outcome, "rank": rank, "overridden_by": by} for outcome, rank, by in stated]
        coming = next_in_line(rows_of({"steps": ["a"], "claims": claims}), lambda row: gone)

        assert expected == (coming.rank if coming else None)

    @pytest.mark.parametrize(("hidden", "expected"), [(False, 2), (True, 1)])
    def test_a_map_of_another_source_hides_what_was_said_before(self, hidden, expected):
        """
        Then it is the first of the others who is next.
        """
        place = {"path": "a", "value": 1, "file": "f", "line": 1, "column": None}
        stated = [("wins", 2, []), ("loses", 1, [2])]
        claims = [{**place, "outcome": outcome, "rank": rank, "overridden_by": by} for outcome, rank, by in stated]
        before = [{**place, "event": "overwritten", "rank": 2, "by": None}]
        rows = rows_of({"steps": ["a"], "claims": claims, "history": before})
        coming = next_in_line(rows, lambda row: False, hidden=hidden)

        assert expected == (coming.rank if coming else None)

    @pytest.mark.parametrize(
        ("now", "value", "expected"),
        [
            ({"a": 1, "b": 2}, {"a": 1, "b": 3}, True),
            ({"a": 1, "b": 2}, {"a": 7, "b": 3}, False),
            ([1, 2], [1], True),
            ([1, 2], [3], False),
            ([1, 2], 2, True),
            ([1, 2], 3, False),
            (["a", "b"], {"b": 1}, True),
            (["a", "b"], {"c": 1}, False),
            (["a"], {}, False),
            ("ab", "b", True),
        ],
    )
    def test_a_row_says_what_is_read_or_a_part_of_it(self, now, value, expected):
        """
        An entry of a map, the elements of a list, what was added to a list: an element, or a map's keys.
        """
        assert expected is says(now, Row("loses", ("a",), value, 1, "f", 1, 1))

    def test_every_token_that_is_read_is_told(self):
        """
        Also of a text that was joined.
        """
        rows = [Row("loses", ("a",), value, 1, "f", 1, 1) for value in ("w700001", "w700002")]

        assert is_told("w700001w700002", rows)
        assert not is_told("w700001w700003", rows)


class TestTheValues:
    @pytest.mark.parametrize(
        ("before", "after", "paths"),
        [
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}, set()),
            ({"a": 1}, {"a": True}, {("a",)}),
            ({"a": {"b": 1, "c": 2}}, {"a": 5}, {("a", "b"), ("a", "c")}),
            ({"l": [1, 2, 3]}, {"l": [2, 3]}, {("l", 0)}),
            ({"l": [1, 2, 3]}, {"l": [1, 9, 2, 3]}, set()),
            ({"l": [3, 1, 2]}, {"l": [1, 2, 9]}, {("l", 0)}),
            ({"l": [{"a": 1, "b": 2}]}, {"l": [7, {"a": 1, "b": 9}]}, {("l", 0, "b")}),
            ({"l": []}, {"l": [1]}, set()),
        ],
    )
    def test_an_element_is_itself_wherever_it_stands(self, before, after, paths):
        """
        What moves up, or is sorted elsewhere, has not changed.
        """
        assert paths == changes(before, after).paths

    def test_of_equal_elements_those_that_went_are_counted(self):
        """
        Nobody can say which of them it was.
        """
        found = changes({"l": [1, 2, 1]}, {"l": [2, 1]})

        assert (set(), {(("l", 0), ("l", 2)): 1}) == (found.paths, found.groups)

    def test_a_leaf_is_followed_to_where_it_went(self):
        """
        And is absent where it went away.
        """
        before, after = {"l": [{"a": 1}, 2]}, {"l": [3, {"a": 9}]}

        assert 9 == follow(before, after, ("l", 0, "a"))
        assert ABSENT is follow(before, {"l": []}, ("l", 1))


class TestTheEntries:
    """What goes when an entry goes, and what holds it, outwards."""

    @pytest.mark.parametrize(
        ("suffix", "text", "expected"),
        [
            (".yaml", "a: {b: @, c: 2}", ["a: { c: 2}", "{}"]),
            (".yaml", "a:\n- @\n- 2", ["a:\n\n- 2", "{}\n\n"]),
            (".yaml", "- b: @\n  c: 2", ["\n- c: 2", "[]\n"]),
            (".yaml", "- - @", ["- []", "[]"]),
            (".yaml", "a:\n  b: @\nc: 1", ["a: {}\n\nc: 1", "\n\nc: 1"]),
            (".yaml", "- x: |\n    a: @", ["- x: |\n    {}", "- {}\n", "[]\n"]),
            (".json", '{"a": [1, @]}', ['{"a": [1]}', "{}"]),
            (".json", '#x\n[{"v": @},\n{"v": 2}]', ['#x\n[{},\n{"v": 2}]', '#x\n[\n{"v": 2}]']),
            (".toml", "[t]\na = @\nb = 1", ["[t]\n\nb = 1", "\n\n"]),
            (".py", 'd["a"] = {"b": @}', ['d["a"] = {}', "pass"]),
            (".py", 'd["a"].append(@)', ["pass"]),
            (".py", 'd["a"].push(1, @)', ['d["a"].push(1)', "pass"]),
            (
                ".pp",
                "when x {\n  bind 'a' to { b => @ }\n}",
                ["when x {\n  bind 'a' to {}\n}", "when x {\n  \n}", "\n\n"],
            ),
            (".mime", "MIME-Version: 1\n\na: 1\nb: @\n\n--x", ["MIME-Version: 1\n\na: 1\n\n\n--x"]),
        ],
    )
    def test_without_the_entry_and_without_what_holds_it(self, suffix, text, expected):
        """
        The rest stays what it was, and can be read.
        """
        at = text.index("@")

        assert expected == list(withouts(text.replace("@", "7"), suffix, at))


class TestTheSettings:
    def test_generated_files_mark_what_sets_a_value(self):
        """
        Tokens, and what cannot be one; a marker of something else is none.
        """
        files = {"1.yaml": "a: w700001\nl: [700002, --700002]\nn: null  # set\nm: null\n", "2.json": '{"a": true}'}

        assert ["w700001", "700002", "null", "true"] == [one.old for one in marked(files)]

    @pytest.mark.parametrize(
        ("file", "text", "expected"),
        [
            ("f.json", '{"a": "b", "c": [1, true]}', ['"b"', "1", "true"]),
            ("f.yaml", "a: b  # c\nd: {e: f, g: [1, 2]}\n- h: 'i'\n# j: k", ["b", "f", "1", "2", "'i'"]),
            ("f.py", 'x["a"] = "b"  # "c"\nf("d", e=1, g={"h": [2]})', ['"b"', '"d"', "1", "2"]),
            ("f.pp", "bind 'a' to { b => 'c' }\nbind Integer, 'd' to 4", ["'c'", "4"]),
        ],
    )
    def test_examples_are_scanned_for_scalars(self, file, text, expected):
        """
        Values, and neither keys nor comments.
        """
        assert expected == [one.old for one in scanned(lambda file, before: True)({file: text})]

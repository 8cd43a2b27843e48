"""Data files as Puppet reads them: scalars, keys, merge keys, lines, and what is refused."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.dialects.hiera import ruby_yaml
from nodeattrs.errors import DocumentError
from nodeattrs.formats.places import Text
from tests.vectors.values import spelled


def read(text: str) -> ruby_yaml.ParsedYaml:
    return ruby_yaml.read(Text("f.yaml", text))


def tree(text: str):
    return read(text).reading.tree


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1,000", 1000), ("1,2", 12), ("1,234.5", 1234.5), ("1_000", 1000), ("1__0", "1__0"), ("1_", "1_"),
        ("1:30", 5400), ("08:00", 28800), ("8:00", 28800), ("-1:30", -1800), ("1:30.5", 5430.0), ("1:30:15", 5415),
        ("190:20:30", 685230), ("12:30:99", "12:30:99"),
        ("-.5", -0.5), ("+.5", 0.5), (".5", 0.5), ("1.", 1.0), (".", "."), ("1.5", 1.5),
        ("1e3", "1e3"), ("1.0e3", "1.0e3"), ("1.0e+3", 1000.0),
        ("010", 8), ("08", "08"), ("0o10", "0o10"), ("0b101", 5), ("0x1F", 31), ("-0x1F", -31), ("00", 0), ("+4", 4),
        ("yes", True), ("No", False), ("on", True), ("OFF", False), ("TrUe", True), ("y", "y"), ("N", "N"),
        ("~", None), ("null", None), ("NULL", None), ("none", "none"), ("nil", "nil"), ("", None),
        ("=", "="), ("1.0.0", "1.0.0"), ("10.0.0.1", "10.0.0.1"), ("v1", "v1"), ("2024-13-45", "2024-13-45"),
        (".inf", math.inf), ("-.INF", -math.inf), ("é", "é"), ("1 2", "1 2"), ("ytong", "ytong"),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_what_psych_makes_of_it(written, value):
    """Type and value."""
    assert spelled(value) == spelled(ruby_yaml.scalar(written)) == spelled(tree(f"k: {written}\n")["k"])


@pytest.mark.parametrize("written", ["2024-01-02", "2024-1-2", "2024-01-02 03:04:05", "2024-01-02T03:04:05Z"])
def test_a_date_refuses_the_whole_file_and_says_how_to_keep_it(written):
    """As in Puppet; in quotes it is a text."""
    with pytest.raises(DocumentError, match=r"f.yaml:2:4.*\n.*quotes"):
        read(f"a: 1\nk: {written}\n")

    assert {"k": written} == tree(f"k: '{written}'\n")


def test_tags_of_psych_that_make_plain_data():
    """
    Binary data that are text, and maps in an order.
    """
    assert {"a": "hello", "b": ["ü"]} == tree("a: !!binary aGVsbG8=\nb: [!binary 'w7w=']\n")
    assert {"a": {"x": 1, "y": 2}} == tree("a: !!omap [x: 1, y: 2]\n")


class TestKeys:
    def test_a_symbol_loses_its_colon_at_every_depth(self):
        """
        One colon, not two.
        """
        assert {"k": {"a": 1}, ":lead": 2, "::quoted": 3} == tree(":k:\n  :a: 1\n::lead: 2\n'::quoted': 3\n")

    def test_a_key_that_is_no_text_is_found_by_no_lookup(self):
        """
        At the root it is left out with a warning that has its line.
        """
        found = read("a: 1\n1: one\ntrue: yes\n").reading

        assert {"a": 1} == found.tree
        assert ["f.yaml:2:1", "f.yaml:3:1"] == [str(warning).partition(": ")[0] for warning in found.warnings]

    def test_integers_below_the_root_stay(self):
        """
        Beside the text of the same digits.
        """
        assert '{"h": {"1": "int", "1": "text"}}' == spelled(tree("h:\n  1: int\n  '1': text\n"))
        assert {1: "int", "1": "text"} == tree("h:\n  1: int\n  '1': text\n")["h"]

    @pytest.mark.parametrize("value", [":sym", "[a, !ruby/sym b]", "\n  a: :sym", "{true: 1}", "{1.5: 1}", "{~: 1}"])
    def test_what_data_may_not_hold_is_noted_for_its_root_key(self, value):
        """
        Only whoever looks that key up meets it.
        """
        assert ["bad"] == list(read(f"good: 1\nbad: {value}\n").unfit)

    def test_a_key_written_twice_counts_last_and_is_told(self):
        """
        With the line of the second one.
        """
        found = read("a: 1\nb: 2\na: 3\n").reading

        assert {"a": 3, "b": 2} == found.tree
        assert ["f.yaml:3:1: the key 'a' is written twice; the last one counts"] == [str(one) for one in found.warnings]


class TestMergeKeys:
    def test_merged_keys_stand_where_they_are_merged(self):
        """
        Over what stands before, under what follows.
        """
        text = "base: &b {x: 1, y: 2}\na:\n  y: 3\n  <<: *b\nc:\n  <<: *b\n  y: 3\n"

        assert ["y", "x"] == list(tree(text)["a"])
        assert {"y": 2, "x": 1} == tree(text)["a"]
        assert {"x": 1, "y": 3} == tree(text)["c"]

    @pytest.mark.parametrize(
        ("body", "lines"),
        [
            ("{<<: *b, x: 3}", []),
            ("{<<: *b, x: 3, x: 4}", ["f.yaml:3:19"]),
            ("\n  x: 3\n  <<: *b", ["f.yaml:4:3"]),
            ("\n  x: 1\n  <<: *b", []),
            ("\n  n: {x: 3,\n    <<: *b}", ["f.yaml:4:7"]),
            ("\n  <<: *b\n  <<: *c", []),
        ],
    )
    def test_an_override_of_a_merge_key_is_meant_and_one_by_a_merge_key_is_told(self, body: str, lines: list[str]):
        """
        At the key whose value does not count.
        """
        found = read(f"base: &b {{x: 1}}\nc: &c {{x: 2}}\na: {body}\n").reading

        assert lines == [str(one).partition(": ")[0] for one in found.warnings]

    def test_of_several_maps_the_first_counts_most(self):
        """
        A list of maps.
        """
        assert {"x": 1, "y": 1} == tree("a:\n  <<: [{x: 1, y: 1}, {x: 2}]\n")["a"]

    def test_what_is_no_map_is_an_ordinary_value(self):
        """
        And a tagged key is an ordinary key.
        """
        assert {"a": {"<<": "text"}} == tree("a:\n  <<: text\n")
        assert {"a": {"<<": {"x": 1}}} == tree("a:\n  !!str <<: {x: 1}\n")


class TestLines:
    def test_each_part_knows_its_line(self):
        """
        Keys, elements, and what an alias brings in stands where it is written.
        """
        marks = read("a: 1\nb:\n  - x\n  - &m\n    k: v\nc: *m\nd:\n  <<: *m\n  e: >-\n    folded\n").reading.marks()
        text = Text("f.yaml", "a: 1\nb:\n  - x\n  - &m\n    k: v\nc: *m\nd:\n  <<: *m\n  e: >-\n    folded\n")

        def line(*path):
            return text.place(marks.nearest(path).offset)[0]

        assert [1, 2, 3, 5, 5, 9] == [
            line("a"), line("b"), line("b", 0), line("b", 1, "k"), line("c", "k"), line("d", "e")
        ]  # fmt: skip
        assert 5 == line("d", "k")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("a: [1\n", "f.yaml:2"),
            ("a: *nobody\n", "f.yaml:1:4: an alias for what has no name above"),
            ("a: &x [*x]\n", "an alias inside what it names"),
            ("a: &x {b: *x}\n", "an alias inside what it names"),
            ("a: !!set {x}\n", "a tag that data files may not use"),
            ("a: !ruby/object:Foo {}\n", "a tag that data files may not use"),
            ("a: !!binary /w==\n", "binary data that are no text"),
            ("a: !ruby/regexp /x/\n", "what a data file cannot hold"),
            ("a: '\\x'\nb: \"\\uD800\"\n", "f.yaml:2"),
            ("a: " + "[" * 600 + "]" * 600, "nested deeper than 500 levels"),
            ("a: " + "9" * 5000, "more than 4,300 digits"),
            ("a:\n\t- x\n", "f.yaml:2"),
        ],
    )
    def test_a_broken_hiera_data_file_is_an_error_with_its_place(self, text, words):
        """
        One error of ours, never one of the library.
        """
        with pytest.raises(DocumentError, match=words):
            read(text)

    def test_a_bomb_of_aliases_is_counted_and_stopped(self):
        """
        Ten levels of ten aliases each would be ten thousand million values.
        """
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 11)]

        with pytest.raises(DocumentError, match="holds more than 1,000,000 values"):
            read("\n".join(lines))

    def test_only_the_first_of_several_documents_is_read(self):
        """
        As in Puppet.
        """
        assert {"a": 1} == tree("a: 1\n---\nb: 2\n")

    @pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
    def test_an_empty_file_says_nothing(self, text):
        """
        Not even an empty map.
        """
        assert tree(text) is None


leaves = st.sampled_from(["a", "yes", "1:30", "0x1F", "~", "1,000", "<<", "=", "x y", "", "é", "- a", "a: b", "%{x}"])
trees = st.recursive(
    leaves | st.integers(-5, 5) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["k", "l", "1", "yes"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["k", "l", "m"]), trees, min_size=1, max_size=3))
def test_quoted_texts_of_yaml_are_read_back(data):
    """Texts in quotes are texts, whatever they look like to Psych."""
    assert spelled(data) == spelled(tree(yaml.dump(data, Dumper=_Quoting, sort_keys=False)))


class _Quoting(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))

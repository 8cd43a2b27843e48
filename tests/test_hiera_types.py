"""Puppet's types as lookups use them, conversions, and Ruby's expressions."""

from __future__ import annotations

from itertools import product

import pytest

from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.dialects.hiera.types import convert, parse_type
from nodeattrs.formats.patterns import BadPattern
from nodeattrs.hiera import BadLookup, Sensitive
from nodeattrs.puppet.regex import translated
from tests.vectors.values import spelled


@pytest.mark.parametrize(
    ("text", "fits", "fits_not"),
    [
        ("Any", [None, 1, {}], []),
        ("Data", [None, {"a": [1]}], [{1: 2}, [{1: 2}]]),
        ("Scalar", [1, "a", True, 1.5], [None, [], {}]),
        ("Numeric", [1, 1.5], [True, "1"]),
        ("Integer", [1], [1.0, True, "1"]),
        ("Integer[1, 5]", [1, 5], [0, 6]),
        ("Integer[default, 5]", [-9, 5], [6]),
        ("Integer[0x10]", [16], [15]),
        ("Float[0.5]", [0.5], [0.4, 1]),
        ("Boolean", [True, False], [0, None]),
        ("Boolean[true]", [True], [False]),
        ("String", ["", "a"], [1, None]),
        ("String[1]", ["a"], [""]),
        ("String[1,2]", ["ab"], ["abc"]),
        ("Undef", [None], [False]),
        ("Collection[1]", [[1], {"a": 1}], [[], "a"]),
        ("Array", [[], [1]], [{}]),
        ("Array[String, 1]", [["a"]], [[], [1]]),
        ("Array[1, 2]", [[1]], [[], [1, 2, 3]]),
        ("Hash", [{}], [[]]),
        ("Hash[String, Integer]", [{"a": 1}], [{"a": "1"}, {1: 1}]),
        ("Hash[String, Any, 1]", [{"a": 1}], [{}]),
        ("Tuple[String, Integer]", [["a", 1]], [["a"], ["a", "b"]]),
        ("Struct[{a => Integer, Optional['b'] => String}]", [{"a": 1}, {"a": 1, "b": "x"}], [{}, {"a": 1, "c": 1}]),
        ("Struct[{'a' => Optional[Integer]}]", [{}, {"a": None}], [{"a": "x"}]),
        ("Optional[String]", [None, "a"], [1]),
        ("Optional['x']", [None, "x"], ["y"]),
        ("NotUndef[Any]", [1], [None]),
        ("Enum['x', 'y']", ["x"], ["z", 1]),
        ("Enum[x, true]", ["X"], ["y"]),
        ("Pattern[/^a/, 'z$']", ["ab", "xz"], ["b", 1]),
        ("Variant[Integer, Array[Integer]]", [1, [1]], ["a", ["a"]]),
        ("Integer[1]", [1, 9], [0]),
        ("Integer[default]", [-9, 9], [1.0]),
        ("Float[0.5, 1.5]", [0.5, 1.5], [0.4, 1.6]),
        ("Float[default, 1.5]", [-9.0], [1.6]),
        ("Collection[1, 2]", [[1], [1, 2], {"a": 1}], [[], [1, 2, 3]]),
        ("Array[Integer, 1, 2]", [[1], [1, 2]], [[], [1, 2, 3], ["a"]]),
        ("Array[String, default, 1]", [[], ["a"]], [["a", "b"]]),
        ("Hash[String, Any, 1, 2]", [{"a": 1}, {"a": 1, "b": 2}], [{}, {"a": 1, "b": 2, "c": 3}]),
        ("Tuple[Integer, 1, 3]", [[1], [1, 2], [1, 2, 3]], [[], [1, 2, 3, 4], ["a"], [1, "a"], {}]),
        ("Tuple[Integer, String, 1]", [[1], [1, "a"], [1, "a", "b"]], [[], ["a"], [1, 1], [1, "a", 1]]),
        ("Tuple[Integer, String, 1, 3]", [[1], [1, "a", "b"]], [[1, "a", 1], [1, "a", "b", "c"]]),
        ("Struct[{a => Integer}]", [{"a": 1}], [{}, {"a": "x"}, {"a": 1, "b": 1}, [], None]),
        ("Enum[x, false]", ["x"], ["X"]),
        ("Data", [[{"a": None}], "x", 1.5], [[{1: 1}], Sensitive("a")]),
        ("Sensitive[String]", [Sensitive("a")], ["a", Sensitive(1)]),
    ],
)
def test_a_type_holds_what_puppet_says(text, fits, fits_not):
    """Of exactly its kind: a boolean is not a number, an integer no float."""
    wanted = parse_type(text)

    assert fits == [value for value in fits if wanted.holds(value)]
    assert [] == [value for value in fits_not if wanted.holds(value)]


@pytest.mark.parametrize(
    "text", ["", "Integer[", "integer", "Array[String", "Hash[String]", "Integer[a]", "String]", "1"]
)
def test_what_is_no_type_is_told_with_the_place(text):
    """In the text."""
    with pytest.raises(BadLookup, match="cannot be read as a type"):
        parse_type(text)


def test_a_type_that_we_do_not_know_is_told():
    """With a near one."""
    with pytest.raises(BadLookup, match="did you mean Integer"):
        parse_type("Integr")


@pytest.mark.parametrize(
    ("value", "to", "result"),
    [
        ("42", "Integer", 42), ("0x1F", "Integer", 31), ("010", "Integer", 8), (" 7", "Integer", 7),
        (True, "Integer", 1), ("-3", "Integer", -3), ("101", ["Integer", 2], 5), ("-3", ["Integer", 10, True], 3),
        ("0x1F", ["Integer", 16], 31), ("017", ["Integer", 8], 15), ("0b11", ["Integer", 2], 3),
        (2.9, "Integer", 2), ("2.5", "Float", 2.5), (1, "Float", 1.0), ("1e3", "Float", 1000.0),
        ("1.5", "Numeric", 1.5), ("7", "Numeric", 7),
        ("yes", "Boolean", True), ("FALSE", "Boolean", False), (0, "Boolean", False),
        (7, "String", "7"), (1.0, "String", "1.000000"), (1e-7, "String", "0.000000"),
        (float("inf"), "String", "Inf"), (float("-inf"), "String", "-Inf"), (float("nan"), "String", "NaN"),
        ([1.5, {"a": 1e30}], "String", "[1.5, {'a' => 1.0e+30}]"), (3, "Array", [0, 1, 2]), (0, "Array", []),
        ([1, "a"], "String", "[1, 'a']"),
        (["it's", "a\\\\b", "c\\"], "String", "['it\\'s', 'a\\\\b', 'c\\']"), (['\t$"\x01'], "String",
        '["\\t\\$\\"\\u{1}"]'),
        ({"a": None}, "String", "{'a' => undef}"),
        ("ab", "Array", ["a", "b"]), ("x", ["Array", True], ["x"]), ({"a": 1}, "Array", [["a", 1]]),
        ("- 017", "Integer", -15), ("017", ["Integer", 10], 17), ("017", "Float", 17.0), ("0b11", "Float", 3.0),
        ("x", "Any", "x"), ("x", "Variant[Integer, String]", "x"), ("7", "Optional[Integer]", 7),
        (None, "Optional[Integer]", None), ("7", "NotUndef[Integer[1]]", 7), ("ab", "Tuple", ["a", "b"]),
        (["a", 1], "Struct[a => Integer]", {"a": 1}), ("", "Hash", {}), (4, "Hash", {0: 1, 2: 3}),
        ([1], "Array", [1]), ([["a", 1]], "Hash", {"a": 1}), (["a", 1], "Hash", {"a": 1}), ({"a": 1}, "Hash", {"a": 1}),
    ],
)  # fmt: skip
def test_conversions_give_value_and_type(value, to, result):
    """Value and type."""
    assert spelled(result) == spelled(convert(value, to))


@pytest.mark.parametrize("outer", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_a_text_is_made_of_what_is_as_deep_as_a_document_may_be(outer):
    value = 1
    for _ in range(MAX_DEPTH):
        value = outer(value)
    text = convert(value, "String")

    assert (MAX_DEPTH, MAX_DEPTH) == (text.count("[") + text.count("{"), text.count("]") + text.count("}"))


@pytest.mark.parametrize(
    ("value", "to", "kind"),
    [
        ("abc", "Integer", "convert_failed"),
        ("7 ", "Integer", "convert_failed"),
        ("08", "Integer", "convert_failed"),
        ("2.5", "Integer", "convert_failed"),
        ("0", "Float", "convert_failed"),
        ("1e+3", "Float", "convert_failed"),
        ("0e5", "Numeric", "convert_failed"),
        (float("nan"), "Boolean", "convert_failed"),
        ("x", "Enum[y]", "convert_failed"),
        ("x", "Optional", "convert_failed"),
        ("x", ["String", "%s"], "convert_failed"),
        ([["a"], 1], "Hash", "convert_failed"),
        ("ff", ["Integer", 16], "convert_failed"),
        ("7", ["Integer", 3], "convert_failed"),
        (None, "Integer", "convert_failed"),
        ({}, "Integer", "convert_failed"),
        ("maybe", "Boolean", "convert_failed"),
        (-1, "Array", "convert_failed"),
        (10**9, "Array", "convert_failed"),
        (True, "Array", "convert_failed"),
        ("x", "Hash", "convert_failed"),
        ([1], "Hash", "convert_failed"),
        ("9", "Integer[1, 5]", "convert_failed"),
        ("x", "Undef", "convert_failed"),
        ("1", ["Integer", 10, True, 7], "convert_failed"),
        ("1", "Nonsense", "convert_failed"),
        ("1", "Integer[", "convert_bad_type"),
        ("1", 7, "convert_bad_type"),
    ],
)
def test_a_conversion_that_fails(value, to, kind):
    """With its kind; the message never shows the value, which may be a secret."""
    with pytest.raises(BadLookup) as caught:
        convert(value, to)

    assert kind == caught.value.kind
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("ruby", "finds", "finds_not"),
    [
        (r"^ntp::", ["ntp::x", "a\nntp::x"], ["xntp::"]),
        (r"\Antp\z", ["ntp"], ["ntp\n", "x\nntp"]),
        (r"ntp\Z", ["ntp", "ntp\n"], ["ntp\n\n"]),
        (r"^\h+$", ["c0ffee"], ["xyz"]),
        (r"^[\h_]+$", ["c0_f"], ["x"]),
        (r"^(?<name>a+)-\k<name>$", ["aa-aa"], ["aa-a"]),
        (r"^[[:alpha:]_]+$", ["ab_"], ["a1"]),
        (r"^\w+$", ["ab"], ["é"]),
        (r"(?m:a.b)", ["a\nb"], []),
        (r"a.b", ["axb"], ["a\nb"]),
        (r"(?i:NTP)", ["ntp"], ["x"]),
        (r"a++b", ["aab"], ["ac"]),
        (r"^a{2}?b", ["aab", "b"], ["ab"]),
        (r"a**b", ["aab", "b"], ["a"]),
        (r"^*b", ["ab"], ["a"]),
        (r"^(?i)x|y", ["X", "Y"], ["z"]),
        (r"(a(?i)b)c", ["aBc"], ["aBC", "Abc"]),
        (r"(?#words)b", ["b"], ["words"]),
        (r"^(a)?(?(1)b|c)", ["ab", "c"], ["b"]),
        (r"^a\R$", ["a\r\n"], ["a"]),
        (r"\u{61 62}", ["ab"], ["a"]),
        (r"[(?<a]b>", ["(b>"], ["b>"]),
        (r"\u{e9}", ["é"], ["e"]),
        (r"[]a]", ["]"], ["b"]),
        (r"[a][b]", ["ab"], ["a", "b"]),
        (r"[a]&&[b]", ["a&&b"], ["ab"]),
        (r"x[^a]^b|[b^]", ["^", "xc\nb"[:1] + "b"], ["xac"]),
        (r"[^]a]", ["b"], ["]"]),
        (r"(?<=a)b(?<!c)", ["ab"], ["cb"]),
    ],
)
def test_an_expression_finds_what_ruby_finds(ruby, finds, finds_not):
    """Anchors stand at lines, classes know ASCII."""
    assert_finds(translated(ruby), finds, finds_not)


def test_what_both_spell_alike_means_what_it_means_among_other_signs():
    """
    All short texts of common signs; with a group behind them, which needs translating and finds nothing.
    """
    texts = ["", "a", "aa", "b", "ba", "b\na", "a\nb", "a.b"]

    def found(ruby: str) -> list[str] | str:
        try:
            expression = translated(ruby)
        except BadPattern:
            return "refused"
        return [text for text in texts if expression.search(text)]

    signs = ["".join(signs) for count in range(4) for signs in product("ab.^$*?()|", repeat=count)]
    assert [] == [one for one in signs if found(one) != found(f"{one}(?:)")]


def assert_finds(pattern, finds, finds_not):
    assert finds == [text for text in finds if pattern.search(text)]
    assert [] == [text for text in finds_not if pattern.search(text)]


_WITH_REGEX = [
    (r"\p{Alpha}\w", ["éa"], ["éé", "1a"]),
    (r"^[\p{Alpha}\d]+$", ["é1"], ["_"]),
    (r"\p{^Alpha}", ["1"], ["é"]),
    (r"(?<n>a)-\g<n>", ["a-a"], ["a-b"]),
    ("[a[bc]]", ["c"], ["d"]),
    ("[a-z&&[^aeiou]]", ["b"], ["a"]),
    (r"^a\X$", ["ab"], ["a"]),
    (r"a\Kb", ["ab"], ["b"]),
]


@pytest.mark.parametrize(("ruby", "finds", "finds_not"), _WITH_REGEX)
def test_what_only_the_package_regex_can_say(ruby, finds, finds_not):
    """Properties know all of Unicode, and what stands beside them ASCII."""
    pytest.importorskip("regex")
    assert_finds(translated(ruby), finds, finds_not)


@pytest.mark.parametrize("ruby", [ruby for ruby, *_ in _WITH_REGEX])
def test_a_pattern_that_needs_the_package_regex_is_refused_without_it(without_regex, ruby):
    """Rather than understood otherwise; the hint names the extra."""
    with pytest.raises(BadPattern, match=r"nodeattrs\[regex\]"):
        translated(ruby)


@pytest.mark.parametrize(
    "ruby", ["(", r"[[:nope:]]", r"\u{110000}", r"\u{FFFFFFFFFFFFFFFFFFFF}", "(?~a)", "(?z)", r"\y"]
)
def test_malformed_ruby_patterns_are_refused(ruby):
    """Rather than understood otherwise."""
    with pytest.raises(BadPattern):
        translated(ruby)


@pytest.mark.parametrize("target", ["Undef", "Variant[Integer, Float]", "Collection", "Enum[a]"])
def test_a_type_that_nothing_is_made_into_is_named(target):
    with pytest.raises(BadLookup, match="there is no conversion to"):
        convert("x", target)

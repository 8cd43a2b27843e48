"""Bindings written as Python: each line says what the same line of the data form says, and where it stands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nodeattrs.bindings import BindingError, Bindings, Injector, Objects, sets_from_data, to_data
from nodeattrs.dialects.bindings.model.values import compared


class Logger:
    pass


def bound(**fields: Any) -> dict[str, Any]:
    return {"kind": "bind", "name": "x", **fields}


def asks(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


ONE = {"value": 1}
LINES: list[tuple[Any, dict[str, Any]]] = [
    (lambda b: b.bind("x").to(1), bound(to=ONE)),
    (lambda b: b.bind("x").to({1: 2, "a": None}), bound(to={"value": {"hash": [[1, 2], ["a", None]]}})),
    (lambda b: b.bind("x").to({"1": 2, "a": [{}]}), bound(to={"value": {"1": 2, "a": [{}]}})),
    (lambda b: b.bind("x").to(re.compile("a")), bound(to={"value": {"regex": "a"}})),
    (lambda b: b.bind("x", int).to(1), bound(type="Integer", to=ONE)),
    (lambda b: b.bind(int).to(1), {"kind": "bind", "type": "Integer", "to": ONE}),
    (
        lambda b: b.bind(Logger).to_class(Logger, 1, name="n"),
        {"kind": "bind", "type": "Type[Logger]", "to": {"instance": "Logger", "args": [1], "named": {"name": "n"}}},
    ),
    (lambda b: b.bind("x").to_class("Logger"), bound(to={"instance": "Logger"})),
    (lambda b: b.bind("x").abstract(), bound(abstract=True)),
    (lambda b: b.bind("x").override().to(1), bound(override=True, to=ONE)),
    (lambda b: b.bind("x").final().to(1), bound(final=True, to=ONE)),
    (lambda b: b.bind("x").to(1).optional(), bound(optional=True, to=ONE)),
    (
        lambda b: b.bind("x").to_producer("Make", 1, a=2),
        bound(to={"producer": "Type[Make]", "args": [1], "named": {"a": 2}}),
    ),
    (lambda b: b.bind("x").to_producer("Make", each=True), bound(to={"producer_series": "Type[Make]"})),
    (
        lambda b: b.bind("x").to_producer_object("Make", 1, a=2),
        bound(to={"producer_object": "Make", "args": [1], "named": {"a": 2}}),
    ),
    (lambda b: b.bind("x").to_producer_named("p"), bound(to={"producer_named": "p"})),
    (lambda b: b.bind("x").to_instance("Sql[one]"), bound(to={"ref": "Sql[one]"})),
    (
        lambda b: b.bind("x").to_instance("Sql[one]", {"a": "b"}),
        bound(to={"ref": "Sql[one]"}, options={"map": {"a": "b"}}),
    ),
    (
        lambda b: b.bind("x").to_query("Sql", ("a", "==", 1), ("not", [["b", ">", 2]]), map={"a": "b"}, select="first"),
        bound(
            to={"query": {"type": "Sql", "where": [["a", "==", 1], {"not": [["b", ">", 2]]}]}},
            options={"map": {"a": "b"}, "select_result": "first"},
        ),
    ),
    (
        lambda b: b.bind("x").to_query("Sql", ("or", [("b", ">", 2)], [("a", "==", 1), ("c", "=~", re.compile("d"))])),
        bound(
            to={
                "query": {
                    "type": "Sql",
                    "where": [{"or": [[["b", ">", 2]], [["a", "==", 1], ["c", "=~", {"regex": "d"}]]]}],
                }
            }
        ),
    ),
    (lambda b: b.bind("x").lookup("y"), bound(to={"lookup": {"name": "y"}})),
    (lambda b: b.bind("x").lookup("y", int), bound(to={"lookup": {"type": "Integer", "name": "y"}})),
    (
        lambda b: b.bind("x").hash_lookup("h", "k", dict),
        bound(to={"hash_lookup": {"type": "Hash", "name": "h", "key": "k"}}),
    ),
    (
        lambda b: b.bind("x").first_found("a", ("b", int), Logger),
        bound(to={"first_found": [{"name": "a"}, {"type": "Integer", "name": "b"}, {"type": "Type[Logger]"}]}),
    ),
    (lambda b: b.bind("x").to(1).each_time(), bound(to={"series_of": ONE})),
    (lambda b: b.bind("x").to(1).transform("upcase"), bound(to=ONE, options={"transformer": "upcase"})),
    (lambda b: b.fragment("m").to(1), {"kind": "bind", "to": ONE, "in": "m"}),
    (lambda b: b.fragment("m", "x", int).to(1), {**bound(type="Integer", to=ONE), "in": "m"}),
    (lambda b: b.multibind("m"), asks("multibind", type="Array", name="m")),
    (lambda b: b.multibind("m", id=None), {**asks("multibind", type="Array", name="m"), "as": None}),
    (lambda b: b.multibind("m").into("o"), {**asks("multibind", type="Array", name="m"), "in": "o"}),
    (
        lambda b: b.multibind(
            "m", dict, id="i", combine="sum", conflict="error", flatten=2, uniq=False, transform="upcase"
        ).final(),
        {
            **asks("multibind", type="Hash", name="m", final=True),
            "as": "i",
            "options": {
                "combinator": "sum",
                "conflict_resolution": "error",
                "flatten": 2,
                "uniq": False,
                "transformer": "upcase",
            },
        },
    ),
    (lambda b: b.alias("a", as_="b"), {**asks("alias", key={"name": "a"}), "as": {"name": "b"}}),
    (
        lambda b: b.alias(("a", int), as_=("b", str), abstract=True),
        {
            **asks("alias", key={"type": "Integer", "name": "a"}, abstract=True),
            "as": {"type": "String", "name": "b"},
        },
    ),
    (lambda b: b.renamed("a", as_="b"), {**asks("renamed", key={"name": "a"}), "as": {"name": "b"}}),
    (
        lambda b: b.renamed("a", as_="b", abstract=True),
        {**asks("renamed", key={"name": "a"}, abstract=True), "as": {"name": "b"}},
    ),
    (lambda b: b.rebind("a"), asks("rebind", key={"name": "a"})),
    (lambda b: b.include("a", "b"), asks("include", names=["a", "b"])),
    (lambda b: b.exclude("a"), asks("exclude", names=["a"])),
    (lambda b: b.parameters("ntp").to({"a": 1}), asks("parameters", target="Class[ntp]", to={"value": {"a": 1}})),
    (lambda b: b.parameters("Web[one]").abstract(), asks("parameters", target="Web[one]", abstract=True)),
    (lambda b: b.parameter_map("Web", "Sql", {"a": "b"}), asks("map", lhs="Web", rhs="Sql", map={"a": "b"})),
    (lambda b: b.variables({"a": 1}, b=2), asks("variables", to={"value": {"a": 1, "b": 2}})),
    (lambda b: b.variables({"a": 1}, type=int), asks("variables", type="Integer", to={"value": {"a": 1}})),
    (lambda b: b.abstract_variables("a", "b"), asks("variables", abstract=True, to={"value": ["a", "b"]})),
    (
        lambda b: b.abstract_variables("a", type=str),
        asks("variables", type="String", abstract=True, to={"value": ["a"]}),
    ),
    (
        lambda b: b.dependency("File[a]", "~>", ["Service[b]", "Service[c]"], "->", "File[d]"),
        asks("dependency", chain=[["File[a]"], "~>", ["Service[b]", "Service[c]"], "->", ["File[d]"]]),
    ),
    (
        lambda b: b.when(node="n", up=True).or_({"a b": 1}).bind("x").to(1),
        {
            **asks("when", items=[bound(to=ONE)]),
            "if": [[["node", "n"], ["up", "true"]], [["a b", "1"]]],
        },
    ),
]


class TestEachLine:
    @pytest.mark.parametrize(("fill", "data"), LINES)
    def test_each_line_of_a_builder_equals_its_data_form(self, fill: Any, data: dict[str, Any]):
        """And the data form reads it back."""
        one = Bindings("s")
        fill(one)

        assert {"name": "s", "items": [data]} == to_data(one.to_set())
        (again,) = sets_from_data({"name": "s", "items": [data]})
        assert to_data(again) == to_data(one.to_set())

    @pytest.mark.parametrize(("fill", "data"), LINES)
    def test_each_line_of_a_builder_has_its_file_and_line(self, fill: Any, data: dict[str, Any]):
        """Its own line and file, and not those of the builder."""
        one = Bindings("s")
        fill(one)
        (item,) = one.to_set().items

        first = fill.__code__.co_firstlineno
        assert ("tests/test_bindings_builder.py", "s") == (item.origin.file, item.origin.name)
        assert first <= item.origin.line <= first + 3

    def test_what_is_already_an_item_is_taken_as_it_is(self):
        one, other = Bindings("s"), Bindings("t")
        one.bind("x").to(1)
        (item,) = one.to_set().items
        other.add(item)

        assert (item,) == other.to_set().items

    def test_a_block_may_be_opened_with_a_word(self):
        one = Bindings("s")
        with one.when(node="n") as block:
            block.bind("x").to(1)

        assert ["x"] == [item.name for when in one.to_set().items for item in when.items]

    @pytest.mark.parametrize(
        ("fill", "kind", "words"),
        [
            (lambda b: b.bind("x").to(1).to(2), "two-producers", "has a producer already"),
            (lambda b: b.bind("x").each_time(), "no-producer", "comes behind the producer"),
            (lambda b: b.bind(5, int), "no-key", "5 is not a name"),
            (lambda b: b.bind(5), "bad-type", "5 is no type"),
            (lambda b: b.dependency(), "syntax", "on both sides"),
            (lambda b: b.dependency("A[a]", "->"), "syntax", "on both sides"),
            (lambda b: b.dependency("A[a]", "->", "B[b]", "~>"), "syntax", "on both sides"),
            (lambda b: b.dependency("A[a]", "=>", "B[b]"), "syntax", "is no arrow"),
            (lambda b: b.when(), "syntax", "a category and its value"),
        ],
    )
    def test_what_makes_no_sense_is_refused_at_its_line(self, fill: Any, kind: str, words: str):
        with pytest.raises(BindingError, match=words) as caught:
            fill(Bindings("s"))
        assert kind == caught.value.kind

    def test_what_is_called_has_no_data_form(self):
        one = Bindings("s")
        one.bind("x").to_factory(len)

        with pytest.raises(BindingError, match=r"len\(\) has no data form"):
            to_data(one.to_set())


SIGNS = {
    "==": {"1 1", "1 1.0", "a a", "True True", "None None"},
    "!=": {"1 2", "1 a", "a b", "1 True", "True 1", "1 None", "2 1", "2.5 1", "[] 1"},
    "<": {"1 2"},
    "<=": {"1 2", "1 1", "1 1.0", "a a", "a b"},
    ">": {"2 1", "2.5 1"},
    ">=": {"2 1", "2.5 1", "1 1", "1 1.0", "a a"},
}
SIGNS["<"] |= {"a b"}
VALUES = {"1": 1, "1.0": 1.0, "2": 2, "2.5": 2.5, "a": "a", "b": "b", "True": True, "None": None, "[]": []}
PAIRS = set().union(*SIGNS.values())


class TestComparisons:
    @pytest.mark.parametrize("sign", SIGNS)
    def test_texts_with_texts_and_numbers_with_numbers(self, sign: str):
        """A truth is not a number; what is not of one kind is not equal, and never ordered."""
        held = {pair for pair in PAIRS if compared(VALUES[pair.split()[0]], sign, VALUES[pair.split()[1]])}

        assert SIGNS[sign] == held

    @pytest.mark.parametrize(
        ("actual", "wanted", "found"),
        [
            ("db1", "^db", True),
            ("web", "^db", False),
            ("db1", re.compile("1$"), True),
            (1, "1", False),
            (None, "", False),
        ],
    )
    def test_a_pattern_is_searched_in_texts(self, actual: Any, wanted: Any, found: bool):
        assert [found, found, not found, not found] == [
            compared(actual, sign, wanted) for sign in ("=~", "~=", "!~", "~!")
        ]

    @pytest.mark.parametrize(
        ("where", "found"),
        [
            ([], ["Sql[one]", "Sql[two]"]),
            ([("port", "==", 1)], ["Sql[one]"]),
            ([("name", "==", "two")], ["Sql[two]"]),
            ([("title", "==", "two")], ["Sql[two]"]),
            ([("gone", "==", None)], ["Sql[one]", "Sql[two]"]),
            ([("port", ">", 0), ("host", "==", "b")], ["Sql[two]"]),
            ([("not", [("port", "==", 1)])], ["Sql[two]"]),
            ([("or", [("port", "==", 1)], [("port", "==", 2), ("host", "==", "a")])], ["Sql[one]"]),
            ([("or", "==", 1)], ["Sql[one]"]),
            ([("not", "==", 2)], ["Sql[two]"]),
        ],
    )
    def test_a_query_finds_those_for_which_all_holds(self, where: list[Any], found: list[str]):
        """An attribute may be called `or` and `not`; names are ids unless something says else."""
        world = {
            "Sql[one]": {"port": 1, "host": "a", "or": 1, "not": 1},
            "Sql[two]": {"port": 2, "host": "b", "or": 2, "not": 2},
            "Web[one]": {"port": 1},
        }
        one = Bindings("s")
        one.bind("x").to_query("Sql", *where)

        assert found == Injector([[one]], objects=Objects({}, world)).inject("x")

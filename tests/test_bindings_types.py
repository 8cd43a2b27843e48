"""Types of bindings by themselves: which value conforms, what may stand where, how they are spelled."""

from __future__ import annotations

import re
from typing import Any, Union

import pytest

from nodeattrs.bindings import BindingError, Classes, Reference, Type, parse_type
from nodeattrs.dialects.bindings.model.types import type_of_hint, unquoted


class Logger:
    pass


class Fancy(Logger):
    pass


class Plain:
    pass


CLASSES = Classes({"Logger": Logger, "Fancy": Fancy, "Plain": Plain})

NUMBERS = {"Integer", "Float", "Number"}
SCALARS = NUMBERS | {"String", "Boolean", "Literal"}
DATA_COLLECTIONS = {"Array", "Hash", "Array[Data]", "Array[String]", "Hash[Integer]", "Hash[String,Data]"}
OTHERS = {"Any", "Pattern", "Pattern[/a/]", "Array[Any]", "Array[Type[Fancy]]", "Hash[Any]", "Hash[Pattern,Data]"}
NAMES = {"Type[Logger]", "Type[Fancy]", "Type[Plain]", "Class", "Class[a]", "Class[b]", "Web", "Web[one]"}
ALL = SCALARS | {"Data"} | DATA_COLLECTIONS | OTHERS | NAMES
ACCEPTED = {
    "Any": ALL,
    "Data": SCALARS | {"Data"} | DATA_COLLECTIONS,
    "Literal": SCALARS,
    "Number": NUMBERS,
    "Array": {"Array", "Array[Data]", "Array[String]"},
    "Array[Data]": {"Array", "Array[Data]", "Array[String]"},
    "Array[Any]": {one for one in ALL if one.startswith("Array")},
    "Hash": {"Hash", "Hash[Integer]", "Hash[String,Data]"},
    "Hash[Any]": {"Hash", "Hash[Integer]", "Hash[String,Data]", "Hash[Any]"},
    "Hash[String,Data]": {"Hash[String,Data]"},
    "Hash[Pattern,Data]": {"Hash[Pattern,Data]"},
    "Pattern": {"Pattern", "Pattern[/a/]"},
    "Type[Logger]": {"Type[Logger]", "Type[Fancy]"},
    "Class": {"Class", "Class[a]", "Class[b]"},
}
"""Where a type is declared -> the types that may stand there. Of all others only the type itself."""


class TestWhatMayStandWhere:
    @pytest.mark.parametrize("declared", sorted(ALL))
    def test_each_type_in_the_place_of_each(self, declared):
        """All pairs of 29 types."""
        wanted = parse_type(declared)

        assert ACCEPTED.get(declared, {declared}) == {
            other for other in ALL if wanted.accepts(parse_type(other), CLASSES)
        }

    def test_a_class_that_nobody_knows_is_itself_only(self):
        assert CLASSES.is_subclass("Gone", "Gone")
        assert not CLASSES.is_subclass("Gone", "Logger")
        assert not CLASSES.is_subclass("Fancy", "Gone")


VALUES: dict[str, Any] = {
    "1": 1, "1.5": 1.5, "True": True, "'x'": "x", "None": None, "/a/": re.compile("a"), "/b/": re.compile("b"),
    "[1]": [1], "[None]": [None], "['x']": ["x"], "[Plain()]": [Plain()],
    "{'k': 1}": {"k": 1}, "{'k': None}": {"k": None},
    "{1: [{}]}": {1: [{}]}, "{(): 1}": {(): 1}, "[{None: 1}]": [{None: 1}], "Fancy()": Fancy(), "Plain()": Plain(),
    "Class[a]": Reference("Class[a]"), "Web[one]": Reference("Web[one]"),
}  # fmt: skip
TEXTS = {"'x'", "Class[a]", "Web[one]"}
LITERALS = {"1", "1.5", "True"} | TEXTS
LISTS = {"[1]", "[None]", "['x']"}
HASHES = {"{'k': 1}", "{'k': None}", "{1: [{}]}"}
HELD = {
    "Any": set(VALUES),
    "Data": LITERALS | LISTS | HASHES,
    "Literal": LITERALS,
    "Number": {"1", "1.5"},
    "Integer": {"1"},
    "Float": {"1.5"},
    "Boolean": {"True"},
    "String": TEXTS,
    "Pattern": {"/a/", "/b/"},
    "Pattern[/a/]": {"/a/"},
    "Array": LISTS,
    "Array[Integer]": {"[1]"},
    "Array[Any]": {one for one in VALUES if one.startswith("[")},
    "Array[Type[Plain]]": {"[Plain()]"},
    "Hash": HASHES,
    "Hash[String,Data]": {"{'k': 1}", "{'k': None}"},
    "Hash[Integer]": {"{'k': 1}"},
    "Hash[Any,Any]": HASHES | {"{(): 1}"},
    "Type[Logger]": {"Fancy()"},
    "Type[Nobody]": set(),
    "Class": {"Class[a]"},
    "Class[b]": {"Class[a]"},
    "Web": {"Web[one]"},
}


class TestWhatConforms:
    @pytest.mark.parametrize("declared", HELD)
    def test_each_value_to_each_type(self, declared):
        """Null only to Any, and inside of data; a truth is not a number."""
        wanted = parse_type(declared)

        assert HELD[declared] == {text for text, value in VALUES.items() if wanted.holds(value, CLASSES)}

    def test_a_class_that_nobody_knows_is_taken_by_its_name(self):
        assert parse_type("Type[Logger]").holds(Fancy(), Classes())
        assert not parse_type("Type[Logger]").holds(Plain(), Classes())
        assert Classes().is_instance(Fancy(), "Logger[x]")

    @pytest.mark.parametrize("library", ["typing", "typing_extensions"])
    @pytest.mark.parametrize("is_checkable", [False, True])
    def test_an_object_with_the_methods_of_a_protocol_conforms_to_it(self, library: str, is_checkable: bool) -> None:
        typing = pytest.importorskip(library)

        class Runs(typing.Protocol):
            def run(self) -> None: ...

        class Runner:
            def run(self) -> None: ...

        known = Classes({"Runs": typing.runtime_checkable(Runs) if is_checkable else Runs})

        assert parse_type("Type[Runs]").holds(Runner(), known)
        assert not parse_type("Type[Runs]").holds(Plain(), known)


class TestSpelling:
    @pytest.mark.parametrize(
        ("text", "canonical", "kind"),
        [
            ("Hash[ String , Array[Integer] ]", "Hash[String,Array[Integer]]", "Data"),
            ("Hash[Literal,Type[A]]", "Hash[Literal,Type[A]]", "Hash[Type[A]]"),
            ("Hash[String,Type[A]]", "Hash[String,Type[A]]", "Hash[String,Type[A]]"),
            ("Hash[Class]", "Hash[Class]", "Hash[Class]"),
            ("Array[class ntp]", "Array[Class[ntp]]", "Array[Class[ntp]]"),
            ("class ntp", "Class[ntp]", "Class[ntp]"),
            ("::Web['one']", "Web[one]", "Web[one]"),
            ("Web['a b']", "Web['a b']", "Web['a b']"),
            (r"Web['a\'b']", r"Web['a\'b']", r"Web['a\'b']"),
            ("File[/etc/hosts]", "File['etc/hosts']", None),
            ("Type[Array[Integer]]", "Type[Array[Integer]]", "Type[Array[Integer]]"),
            ("Type[a.b]", "Type[a.b]", "Type[a.b]"),
            ("Pattern[/a b/]", "Pattern['a b']", "Pattern['a b']"),
            ("Array", "Array", "Data"),
            ("Array[Any]", "Array[Any]", "Array[Any]"),
            (" Literal ", "Literal", "Data"),
        ],
    )
    def test_each_has_one_canonical_text(self, text, canonical, kind):
        if kind is not None:
            assert (canonical, kind) == (str(parse_type(text)), parse_type(text).kind)

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("", "is no type"),
            ("web", "does not begin with a capital letter"),
            ("Array[]", "lacks a type inside its brackets"),
            ("Array[Integer", "has a bracket that is not closed"),
            ("Array[Integer] x", "has 'x' after its end"),
            ("Array[Integer,String]", "gives Array 2 arguments; it takes 1"),
            ("Hash[Integer,String,Data]", "gives Hash 3 arguments; it takes 2"),
            ("Integer[1]", "gives Integer 1 arguments; it takes none"),
            ("Any[x]", "gives Any 1 arguments; it takes none"),
            ("Pattern[/a/,/b/]", "gives Pattern 2 arguments; it takes 1"),
            ("Web[a,b]", "gives Web 2 arguments; it takes 1"),
            ("Array['x']", "gives Array an argument that is no type"),
            ("Type", "names no class"),
            ("Array[class ]", "names no class"),
            ("Web[]", "has an empty bracket"),
            ("Array[" * 5000, "is nested too deep"),
        ],
    )
    def test_a_malformed_type_of_a_binding_is_an_error(self, text, what):
        with pytest.raises(BindingError, match="the type") as caught:
            parse_type(text)
        assert "bad-type" == caught.value.kind
        assert what in caught.value.message

    @pytest.mark.parametrize(
        ("text", "plain"),
        [("'a'", "a"), ('"a"', "a"), ("/a/", "a"), ("'a\"", "'a\""), ("'", "'"), ("a", "a"), ("''", "")],
    )
    def test_quotes_are_taken_off_in_pairs(self, text, plain):
        assert plain == unquoted(text)

    def test_a_reference_has_a_name_and_an_id(self):
        assert ("Sql", "one") == (Reference("Sql['one']").type, Reference("Sql['one']").id)
        assert ("Sql", "") == (Reference("Sql").type, Reference("Sql").id)


class TestTypesOfPython:
    @pytest.mark.parametrize(
        ("hint", "text"),
        [
            (int, "Integer"), (float, "Float"), (str, "String"), (bool, "Boolean"), (list, "Array"), (dict, "Hash"),
            (object, "Any"), (Any, "Any"), (re.Pattern, "Pattern"), (re.Pattern[str], "Pattern"),
            (int | float, "Number"), (Union[int, float], "Number"),  # noqa: UP007
            (int | float | str | bool, "Literal"), (list[int], "Array[Integer]"),
            (dict[str, list[int]], "Hash[String,Array[Integer]]"), (Logger, "Type[Logger]"), ("Array", "Array"),
            (Type("Data"), "Data"),
        ],
    )  # fmt: skip
    def test_each_hint_means_a_type(self, hint, text):
        assert text == str(type_of_hint(hint, Classes()))

    @pytest.mark.parametrize("hint", [int | str, 5, None])
    def test_what_can_not_be_bound_is_said(self, hint):
        with pytest.raises(BindingError, match="no type that can be bound"):
            type_of_hint(hint, Classes())

    def test_a_class_is_made_known(self):
        known = Classes()
        type_of_hint(Logger, known)

        assert Logger is known.find("Logger") is known.find("::Logger[x]")
        assert (["Logger"], Logger) == (known.names(), known.find("Logger"))


class TestClasses:
    def test_two_of_one_name_are_an_error(self):
        other = type("Logger", (), {})
        known = Classes({"Logger": Logger})

        assert "Logger" == known.add(Logger)
        assert "Other" == known.add(other, "Other")
        with pytest.raises(BindingError, match="two classes are called Logger"):
            known.add(other)
        with pytest.raises(BindingError, match="two classes are called Logger"):
            known.include(Classes({"Logger": other}))

    def test_a_register_includes_the_classes_of_another_and_does_not_change_it(self):
        one, other = Classes({"A": Logger}), Classes({"B": Plain})

        one.include(other)
        assert {"A": Logger, "B": Plain} == {name: one.find(name) for name in one.names()}
        assert ["B"] == other.names()

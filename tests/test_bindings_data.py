"""The data form: what it refuses, that the schema says the same, and that it survives a round trip."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from nodeattrs.bindings import (
    BindingError,
    BindingErrors,
    Bindings,
    Injector,
    parse_sets,
    schema,
    sets_from_data,
    sets_from_document,
    to_data,
)
from nodeattrs.dialects.bindings.model.values import FUNCTIONS
from nodeattrs.formats.documents import parse
from tests.effort import examples
from tests.test_bindings_bad_input import broken
from tests.vectors.cases import HERE, cases_of

jsonschema = pytest.importorskip("jsonschema")


def valid(data: Any) -> bool:
    """Whether the schema takes it."""
    return bool(jsonschema.Draft202012Validator(schema()).is_valid(data))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "bnd", "name": "x"}, "did you mean bind?"),
    ({"name": "x"}, "has the kind None"),
    ({"kind": "bind", "nmae": "x"}, "did you mean name?"),
    ({"kind": "bind", "name": 3}, "name is a number, not text"),
    ({"kind": "bind", "name": "x", "abstract": "yes"}, "abstract is true or false"),
    ({"kind": "bind", "name": "x", "to": 1}, "a producer is a map"),
    ({"kind": "bind", "name": "x", "to": {}}, "a producer has one of these"),
    ({"kind": "bind", "name": "x", "to": {"value": 1, "literal": 1}}, "a producer has one of these"),
    ({"kind": "bind", "name": "x", "to": {"value": 1, "args": []}}, "has no field 'args'"),
    ({"kind": "bind", "name": "x", "to": {"lookup": {}}}, "a key needs a type or a name"),
    ({"kind": "bind", "name": "x", "to": {"hash_lookup": {"name": "h"}}}, "needs a key"),
    ({"kind": "when", "if": [], "items": []}, "a condition is a list of alternatives"),
    ({"kind": "when", "if": [["node", "x"]], "items": []}, "a condition is a list of alternatives"),
    ({"kind": "include", "names": []}, "a list of class names"),
    ({"kind": "map", "lhs": "A", "rhs": "B", "map": {"a": 1}}, "a map of parameter names"),
    ({"kind": "variables", "to": {"value": 1}}, "a hash of values"),
    ({"kind": "dependency", "chain": ["A[a]"]}, "on both sides"),
    ({"kind": "bind", "name": "x", "to": {"query": {"type": "S", "where": [["a", "=", 1]]}}}, "operators are"),
]
SHAPELY = [
    ({"kind": "bind", "type": "Hash[", "name": "x"}, "lacks a type"),
    ({"kind": "bind", "name": "x", "to": {"value": {"regex": "("}}}, "cannot be read"),
    ({"kind": "bind", "name": "x", "to": {"value": {"expression": "1 +"}}}, "cannot be read"),
]


@pytest.mark.parametrize(("item", "message"), [*BAD, *SHAPELY])
def test_a_malformed_item_says_what_is_wrong(item, message):
    """In words, with a near miss where there is one."""
    with pytest.raises(BindingErrors) as caught:
        sets_from_data({"name": "s", "items": [item]})
    assert message in str(caught.value)


CONDITIONS: list[tuple[Any, Any]] = [
    (["a", "==", 1], ("a", "==", 1)),
    (["a", "=~", "^x"], ("a", "=~", "^x")),
    ({"not": [["a", ">", 2]]}, ("not", (("a", ">", 2),))),
    (
        {"or": [[["a", "<", 2]], [["b", "!=", None], ["c", "==", "d"]]]},
        ("or", (("a", "<", 2),), (("b", "!=", None), ("c", "==", "d"))),
    ),
    ([1, "==", 1], None),
    (["a", "is", 1], None),
    (["a", "=="], None),
    (["a", "==", 1, 2], None),
    (["a", "=~", 3], None),
    (["a", "=~", "("], None),
    ({"or": 3}, None),
    ({"nor": []}, None),
    ("a == 1", None),
]


@pytest.mark.parametrize(("condition", "read"), CONDITIONS)
def test_conditions_of_a_query_are_read_or_refused(condition, read):
    """Attribute, operator, value; and what joins them."""
    data = {"name": "s", "items": [{"kind": "bind", "name": "x", "to": {"query": {"type": "S", "where": [condition]}}}]}

    if read is None:
        with pytest.raises(BindingErrors):
            sets_from_data(data)
    else:
        (item,) = sets_from_data(data)[0].items
        assert repr(read) in repr(item)


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("capitalize", ("aB",), "Ab"),
        ("concat", ([1, [2]], 3, [4]), [1, [2], 3, 4]),
        ("downcase", ("aB",), "ab"),
        ("flatten", ([1, [2, [3]], []],), [1, 2, 3]),
        ("flatten", (1,), [1]),
        ("join", ([1, "a"], "-"), "1-a"),
        ("join", ([1, "a"],), "1a"),
        ("keys", ({"a": 1, "b": 2},), ["a", "b"]),
        ("merge", ({"a": 1, "b": 1}, {"b": 2}), {"a": 1, "b": 2}),
        ("size", ([1, 2],), 2),
        ("sort", ([2, 1],), [1, 2]),
        ("stringify", (1,), "1"),
        ("strip", (" a ",), "a"),
        ("unique", ([1, "1", 1.0, True, 1, [1], [1]],), [1, "1", 1.0, True, [1]]),
        ("upcase", ("aB",), "AB"),
        ("values", ({"a": 1, "b": 2},), [1, 2]),
    ],
)
def test_each_function_that_a_lambda_may_name(name, given, result):
    """By name; types count where values are compared."""
    found = FUNCTIONS[name](*given)

    assert (found, list(map(type, found)) if isinstance(found, list) else type(found)) == (
        result, list(map(type, result)) if isinstance(result, list) else type(result),
    )  # fmt: skip


@pytest.mark.parametrize("item", [item for item, _ in BAD])
def test_the_schema_refuses_what_we_refuse(item):
    """Another language can check before it sends."""
    assert not valid({"name": "s", "items": [item]})


@pytest.mark.parametrize("data", [None, [], 3, {"sets": 3}, {"version": 2, "sets": []}, {"sets": [{"items": []}]}])
def test_a_document_that_is_none_is_refused(data):
    """By both."""
    with pytest.raises(BindingErrors):
        sets_from_data(data)
    assert not valid(data)


def test_all_faults_are_said_at_once_each_with_its_line():
    """One reading finds them all."""
    text = "name: s\nitems:\n  - kind: bnd\n  - kind: bind\n    nmae: x\n  - {kind: bind, name: x, abstract: 1}\n"

    with pytest.raises(BindingErrors) as caught:
        sets_from_document(parse(text, "s.yaml", "yaml"))
    assert [error.place for error in caught.value.errors] == ["s.yaml:3", "s.yaml:5", "s.yaml:6"]


def test_items_know_their_lines():
    """As in the text language."""
    document = parse("name: s\nitems:\n  - kind: bind\n    name: x\n    to: {value: 1}\n", "s.yaml", "yaml")

    assert str(sets_from_document(document)[0].items[0].origin) == "s.yaml:3 (bindings s)"


def every_form() -> list[dict[str, Any]]:
    """The sets of all vectors: every form that there is."""
    found = []
    for case in cases_of(HERE / "bindings.jsonl"):
        if case["op"] == "inject":
            found += [one for layer in case["layers"] for one in layer["bindings"]]
    return found


def test_every_form_survives_a_round_trip_and_fits_the_schema():
    """What is read and written is read again as the same."""
    for data in every_form():
        sets = sets_from_data(data)
        written = json.loads(json.dumps(to_data(sets)))

        assert sets_from_data(written) == sets
        if not any(item.get("kind") == "rebind" and "to" in item for item in data["items"]):
            assert valid(written), data


def test_what_looks_special_and_is_none_is_written_as_a_literal():
    """A map with the one key `variable` is data like any other."""
    one = Bindings("s")
    one.bind("x").to({"variable": "y"})
    data = to_data(one.to_set())

    assert data["items"][0]["to"] == {"literal": {"variable": "y"}}
    assert Injector([sets_from_data(data)]).inject("x") == {"variable": "y"}


def test_texts_with_expressions_and_lambdas_survive():
    """They carry their source."""
    sets = parse_sets(
        """bindings s {
          bind 'x' to ["$a", $b, f($c + 1), /re/, { k => !true }]
          multibind Array, 'm' { combinator => |$memo, $n| { $x = $n $memo + $x } }
        }"""
    )
    data = json.loads(json.dumps(to_data(sets)))

    assert sets_from_data(data) == sets
    assert valid(data)


@pytest.mark.parametrize(
    "write",
    [
        lambda one: one.bind("x").to(object()),
        lambda one: one.bind("x").to_factory(dict),
        lambda one: one.bind("x").to(1).transform(str),
    ],
)
def test_callables_and_objects_have_no_data_form(write):
    """The error says how to name them."""
    one = Bindings("s")
    write(one)

    with pytest.raises(BindingError) as caught:
        to_data(one.to_set())
    assert caught.value.kind == "not-data"
    assert caught.value.hint


def test_the_schema_is_valid():
    """Its version is the one that is written."""
    jsonschema.Draft202012Validator.check_schema(schema())
    assert to_data([])["version"] == schema()["anyOf"][0]["properties"]["version"]["const"]


@settings(max_examples=examples(200))
@given(broken())
def test_what_fits_the_schema_has_no_fault_of_form(data):
    """
    One table says both. What a text has to spell, such as a pattern, no schema knows.
    """
    faults = faults_of(data) if valid(data) else ()
    formal = [fault.message for fault in faults if fault.kind == "format"]

    assert [] == [message for message in formal if not any(words in message for words in SPELLED)]


SPELLED = ("cannot be read", "is no pattern", "is no arrow", "the key of a hash", "on both sides")


def faults_of(data: Any) -> tuple[BindingError, ...]:
    """What is wrong with a document; nothing where it can be read."""
    try:
        sets_from_data(data)
    except BindingErrors as found:
        return found.errors
    return ()

"""Bad input: whatever a text, a document or a function does, what comes out is a BindingError with a kind."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from nodeattrs import Sensitive
from nodeattrs.bindings import (
    Asked,
    BindingError,
    BindingErrors,
    Bindings,
    Injector,
    parse_items,
    parse_sets,
    parse_site,
    parse_type,
    sets_from_data,
    to_data,
)
from tests.vectors.cases import HERE, cases_of

CASES = list(cases_of(HERE / "bindings.jsonl"))
TEXTS = [(case["start"], case["text"]) for case in CASES if case.get("start", "inject_call") != "inject_call"]
SETS = [one for case in CASES if case["op"] == "inject" for layer in case["layers"] for one in layer["bindings"]]
WORDS = sorted(
    {word for _, text in TEXTS for word in re.findall(r"\w+|[^\w\s]", text)} | {"\0", "é", "1e400", "0x", "\\"}
)
PARSERS: dict[str, Callable[[str], Any]] = {
    "items": parse_items,
    "bindings_file": parse_sets,
    "site_file": parse_site,
}


@given(st.sampled_from(TEXTS), st.integers(0, 60), st.sampled_from(WORDS), st.booleans())
def test_a_text_with_a_wrong_word_is_read_or_refused(text, place, word, replace):
    """And what is read survives the data form."""
    start, original = text
    words = re.findall(r"\s+|\w+|[^\w\s]", original)
    place %= len(words)
    words[place : place + replace] = [word]
    found, kind = None, "syntax"
    try:
        found = PARSERS[start]("".join(words))
    except BindingError as error:
        kind = error.kind
    assert kind in ("syntax", "bad-type", "categories-twice", "environment-twice")
    if start == "items" and found is not None:
        assert sets_from_data(json.loads(json.dumps(to_data(found)))) == [found]


def test_the_mistakes_of_one_item_come_in_one_order():
    """Options that are not known come before values that do not fit."""
    item = {"kind": "bind", "name": "a", "to": {"value": 1}, "options": {"nope": 1, "scope": 3}}
    with pytest.raises(BindingErrors) as caught:
        Injector([sets_from_data({"name": "s", "items": [item]})])

    assert [one.message for one in caught.value.errors] == [
        "a binding has no option 'nope'", "the scope of 'a' is not a name",
    ]  # fmt: skip


odd = st.sampled_from(
    [None, 1, "x", True, [], {}, [[]], {"value": 1}, "Array[", {"regex": "("}, ["or"], ["a", "==", 1]]
)


@st.composite
def broken(draw: st.DrawFn) -> dict[str, Any]:
    """A set of the vectors with something else at one place."""

    def changed(value: Any) -> Any:
        if not value or not isinstance(value, (dict, list)) or draw(st.integers(0, 4)) == 0:
            return draw(odd)
        if isinstance(value, dict):
            key = draw(st.sampled_from(sorted(value)))
            return {**value, key: changed(value[key])}
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], changed(value[index]), *value[index + 1 :]]

    return changed(draw(st.sampled_from(SETS)))  # type: ignore[no-any-return]


@given(broken())
@example(
    {
        "name": "default",
        "items": [
            {"kind": "bind", "name": "a", "to": {"hash_lookup": {"name": "h", "key": []}}},
            {"kind": "bind", "name": "h", "to": {"value": {"tea": "green"}}},
        ],
    }
)
def test_data_with_something_odd_in_it_is_read_or_refused(data):
    """And what is read can be built, checked, drawn, injected and explained, or says why not."""
    try:
        injector = Injector([sets_from_data(data)])
    except BindingError:
        return
    injector.check()
    injector.graph().to_dot()
    for kind, name in injector.keys():  # noqa: SIM118
        asked = Asked(None if kind == "Data" else parse_type(kind), name or None)
        assert str(injector.explain(asked))


@pytest.mark.parametrize(
    "write",
    [
        lambda one: one.bind("x").to(1).transform(lambda value: value / 0),
        lambda one: one.bind("x").to([1, "a"]).transform("sort"),
        lambda one: one.bind("x").to(1).transform("nobody"),
        lambda one: one.multibind("x", list, combine=lambda memo, new: memo / new) and one.fragment("x").to(1),
        lambda one: one.multibind("x", list, combine="nothing") and one.fragment("x").to(1),
        lambda one: one.multibind("x", list, flatten=-7) and one.fragment("x").to(1),
        lambda one: one.bind("x").to_class("Nobody"),
        lambda one: one.bind("x").to_producer(dict),
        lambda one: one.bind("x").to_producer_named("nobody"),
    ],
)
def test_a_function_or_class_that_fails_is_said_with_its_binding(write):
    """Never a raw ZeroDivisionError."""
    one = Bindings("s")
    write(one)

    with pytest.raises(BindingError):
        Injector([[one]]).inject("x")


def test_a_map_option_that_is_none_is_refused_when_the_injector_is_built():
    """With the way it is written."""
    data = {"kind": "parameters", "target": "Web", "to": {"ref": "Sql[a]"}, "options": {"map": 1.5}}

    with pytest.raises(BindingError, match="the option map is not a map"):
        Injector([sets_from_data({"name": "s", "items": [data]})])


def test_deep_and_cyclic_values_are_refused_where_they_are_bound():
    """One limit for depth everywhere."""
    cyclic: list[Any] = []
    cyclic.append(cyclic)

    with pytest.raises(TypeError, match="nested deeper"):
        Bindings("s").bind("x").to(cyclic)


def test_a_value_may_be_as_deep_as_a_tree():
    """Bound, injected, collected, explained; written as data or refused."""
    deep: Any = 1
    for _ in range(490):
        deep = [deep]
    one = Bindings("s")
    one.bind("x").to(deep).each_time()
    one.multibind("m", list)
    one.fragment("m").to(deep)
    injector = Injector([[one]])

    assert injector.inject("x") == deep
    assert injector.inject("m") == deep
    assert str(injector.explain("m"))
    with contextlib.suppress(BindingError):  # how deep the data form goes depends on the version of Python
        assert sets_from_data(to_data(one.to_set())) == [one.to_set()]


def test_a_secret_is_never_in_clear():
    """Neither in an explanation nor in an error. It is data, and no text: who asks for one unwraps it."""
    one = Bindings("s")
    one.bind("data").to(Sensitive("hunter2"))
    one.bind("password", Any).to(Sensitive("hunter2"))
    one.bind("typed", str).to_factory(lambda: Sensitive("hunter2"))
    injector = Injector([[one]])

    assert injector.inject("password", Any).unwrap() == "hunter2"
    with pytest.raises(BindingError) as caught:
        injector.inject("typed")
    assert injector.inject("data").unwrap() == "hunter2"
    explained = [injector.explain("password", Any), injector.explain("data")]
    told = [str(caught.value), *map(str, explained), *(str(one.to_dict()) for one in explained)]
    assert not [text for text in told if "hunter2" in text]

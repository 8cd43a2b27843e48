"""Laws of bindings, on crowded little worlds: two names, two categories, few values."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from nodeattrs.bindings import (
    BindingErrors,
    Bindings,
    BindingSet,
    Explanation,
    Injector,
    Layer,
    State,
    kinds_of,
    parse_sets,
    sets_from_data,
    to_data,
)
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.bindings.model.items import Item, WhenItem
from tests.effort import examples

STATE = State([("node", "n"), ("rack", "r")])
NAMES = ("a", "b")

names = st.sampled_from(NAMES)
flags = st.fixed_dictionaries({}, optional={"override": st.just(True), "final": st.just(True)})
values = st.fixed_dictionaries(
    {"kind": st.just("bind"), "name": names, "to": st.sampled_from([{"value": 1}, {"value": 2}])}
)
bindings = st.builds(lambda item, flags: {**item, **flags}, values, flags) | st.builds(
    lambda name, more: {"kind": "bind", "name": name, "abstract": True, **more},
    names,
    st.fixed_dictionaries({}, optional={"override": st.just(True)}),
)
pairs = st.sampled_from([["node", "n"], ["rack", "r"], ["node", "other"], ["common", "x"]])
conditions = st.lists(st.lists(pairs, min_size=1, max_size=2), min_size=1, max_size=2)


def blocks(items: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Items inside a `when`."""
    return st.builds(
        lambda when, inner: {"kind": "when", "if": when, "items": inner}, conditions, st.lists(items, max_size=2)
    )


items = st.recursive(bindings, blocks, max_leaves=4)
sets = st.lists(items, max_size=4)
layers = st.lists(st.lists(sets, max_size=2), min_size=1, max_size=3)


def outcome(composed: list[list[list[dict[str, Any]]]]) -> Any:
    """What an injector of these layers says: a value a name, or all kinds of error with their messages."""
    built = [
        Layer(f"layer{number}", tuple(sets_from_data({"name": "s", "items": one})[0] for one in layer))
        for number, layer in enumerate(composed)
    ]
    try:
        injector = Injector(built, STATE)
    except BindingErrors as errors:
        return sorted((error.kind, error.message) for error in errors.errors)
    return {name: injector.get(name) for name in NAMES}


def shuffled(composed: list[list[list[dict[str, Any]]]], seed: int) -> list[list[list[dict[str, Any]]]]:
    """The same layers, with the sets of each and the items of each set in another order."""
    dice = random.Random(seed)

    def items_of(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        inner = [{**one, "items": items_of(one["items"])} if one["kind"] == "when" else one for one in listed]
        return dice.sample(inner, len(inner))

    return [dice.sample([items_of(one) for one in layer], len(layer)) for layer in composed]


@given(layers, st.integers(0, 99))
def test_the_order_of_declaration_never_matters(composed, seed):
    """Neither for values nor for faults."""
    assert outcome(composed) == outcome(shuffled(composed, seed))


@given(layers, names)
def test_a_higher_layer_hides_conflicts_below_key_by_key(composed, name):
    """With the key bound above, no conflict of that key is left; those of the other one stay."""
    top = [[[{"kind": "bind", "name": name, "to": {"value": 9}}]]]
    below, above = outcome(composed), outcome(top + composed)
    about = f"Data, {name!r}"

    if isinstance(above, dict):
        assert above[name] == 9
    else:
        kept = [kind for kind, message in above if about in message]
        assert set(kept) <= {"final-overridden"}
    others = [fault for fault in below if about not in fault[1]] if isinstance(below, list) else []
    assert others == ([fault for fault in above if about not in fault[1]] if isinstance(above, list) else [])


@given(layers, layers)
def test_a_lower_layer_never_changes_a_bound_key(upper, lower):
    """It may only bind what was not bound; or be shadowed where it is final, which is said."""
    alone, both = outcome(upper), outcome(upper + lower)

    if isinstance(alone, dict) and isinstance(both, dict):
        assert all(both[name] == value for name, value in alone.items() if value is not None)


def test_the_rank_of_a_conjunction_is_its_tuple_of_ranks():
    """The number that ranks is the tuple of the document: a longer one beats its own prefix."""
    state = State([(f"c{number}", "x") for number in range(4)])
    conjunctions = [[(f"c{number}", "x") for number in range(4) if mask >> number & 1] for mask in range(16)]
    tuples = [tuple(sorted((4 - int(name[1]) for name, _ in one), reverse=True)) or (0,) for one in conjunctions]
    order = sorted(range(16), key=lambda index: state.mask(conjunctions[index]) or 0)

    assert order == sorted(range(16), key=tuples.__getitem__)


# --- three ways to write ------------------------------------------------------------------------


def text_of(item: dict[str, Any]) -> str:
    """An item in the text language, written by hand for these few forms."""
    if item["kind"] == "when":
        alternatives = " or ".join(" and ".join(f"{name} '{value}'" for name, value in one) for one in item["if"])
        return f"when {alternatives} {{ {' '.join(map(text_of, item['items']))} }}"
    marks = " ".join(flag for flag in ("abstract", "override", "final") if item.get(flag))
    to = f"to {item['to']['value']}" if "to" in item else ""
    return f"bind {marks} '{item['name']}' {to}"


def python_of(one: Any, item: dict[str, Any]) -> None:
    """An item said to the builder."""
    if item["kind"] == "when":
        first, *more = item["if"]
        # A category twice in one conjunction cannot be said in one call: nest.
        block = one.when(dict([first[0]])) if len(first) == 1 else one.when(dict([first[0]])).when(dict([first[1]]))
        assert not more
        for inner in item["items"]:
            python_of(block, inner)
        return
    line = one.bind(item["name"])
    for flag in ("abstract", "override", "final"):
        if item.get(flag):
            getattr(line, flag)()
    if "to" in item:
        line.to(item["to"]["value"])


@given(sets)
def test_text_and_data_give_the_same_model(listed):
    """Whatever is written; and the data form read back is the model again."""
    text = f"bindings s {{ {' '.join(map(text_of, listed))} }}"
    (from_text,) = parse_sets(text)
    (from_data,) = sets_from_data({"version": 1, "sets": [{"name": "s", "items": listed}]})

    assert from_text == from_data
    assert sets_from_data(to_data([from_text])) == [from_data]


single = st.lists(st.lists(pairs, min_size=1, max_size=1), min_size=1, max_size=1)
plain_items = st.recursive(
    bindings,
    lambda inner: st.builds(
        lambda when, held: {"kind": "when", "if": when, "items": held}, single, st.lists(inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.lists(plain_items, max_size=4))
def test_python_and_data_give_the_same_model(listed):
    """The builder adds nothing and loses nothing."""
    from nodeattrs.bindings import Bindings

    one = Bindings("s")
    for item in listed:
        python_of(one, item)
    built: BindingSet = one.to_set()

    assert built == sets_from_data({"name": "s", "items": listed})[0]


@given(layers)
def test_every_fault_has_a_kind_and_a_place_in_words(composed):
    """Programs ask for the kind, people for the layer."""
    built = [
        Layer(f"layer{number}", tuple(sets_from_data({"name": "s", "items": one})[0] for one in layer))
        for number, layer in enumerate(composed)
    ]
    found: list[BindingErrors] = []
    try:
        Injector(built, STATE)
    except BindingErrors as errors:
        found.append(errors)
    for errors in found:
        assert kinds_of(errors) == {error.kind for error in errors.errors}
        assert all("layer layer" in str(error) for error in errors.errors)


# --- the rules again, from the page, slowly ---------------------------------------------------------

RANKS = {"node": 2, "rack": 1}
HOLDS = {("node", "n"), ("rack", "r"), ("common", "x")}


def applicable(
    listed: list[dict[str, Any]], around: list[list[list[str]]], layer: int
) -> list[tuple[Any, dict[str, Any]]]:
    """(position, item) for each binding that applies: the layer, then the best tuple of ranks that holds."""
    found = []
    for item in listed:
        if item["kind"] == "when":
            both = [outer + inner for outer in around for inner in item["if"]]
            found += applicable(item["items"], both, layer)
            continue
        held = [one for one in around if all(tuple(pair) in HOLDS for pair in one)]
        tuples = [
            tuple(sorted({RANKS[name] for name, _ in one if name != "common"}, reverse=True)) or (0,) for one in held
        ]
        if tuples:
            found.append(((-layer, max(tuples)), item))
    return found


def by_the_page(composed: list[list[list[dict[str, Any]]]]) -> Any:
    """What docs/bindings.md, "Which declaration wins", says of these layers."""
    declared = [
        entry for number, layer in enumerate(composed) for one in layer for entry in applicable(one, [[]], number)
    ]
    values: dict[str, Any] = {}
    kinds: set[str] = set()
    for name in NAMES:
        mine = [(position, item) for position, item in declared if item["name"] == name]
        values[name] = None
        if not mine:
            continue
        best = max(position for position, _ in mine)
        top = [item for position, item in mine if position == best]
        concrete = [item for item in top if not item.get("abstract")]
        if any(item.get("final") and position[0] < best[0] for position, item in mine):
            kinds.add("final-overridden")
        if len(concrete or top) > 1:
            kinds.add("conflict")
        elif not concrete:
            kinds.add("abstract-not-overridden")
        elif concrete[0].get("override") and len(top) == 1 and all(position == best for position, _ in mine):
            kinds.add("override-without-base")
        else:
            values[name] = concrete[0]["to"]["value"]
    return kinds or values


@settings(max_examples=examples(300))
@given(layers)
def test_the_injector_does_what_the_page_says(composed):
    """Values where there are any, else every kind of fault."""
    got = outcome(composed)

    assert by_the_page(composed) == (got if isinstance(got, dict) else {kind for kind, _ in got})


# --- who overrides whom, told from the tuples of ranks ----------------------------------------------

HIDES = "a higher layer hides what lies below"
HIGHER = "the higher category wins"
MORE = "more categories win over fewer"
FILLS = "a concrete binding fills an abstract one beside it"

Entry = tuple[Any, dict[str, Any]]
"""A position, and the item that is declared there."""


def numbered(items: tuple[Item, ...], numbers: Iterator[int]) -> tuple[Item, ...]:
    """The items with a line each, by which a row of an explanation tells which one it is about."""
    found = []
    for item in items:
        inner = {"items": numbered(item.items, numbers)} if isinstance(item, WhenItem) else {}
        found.append(replace(item, origin=Origin("test", "", "s", next(numbers)), **inner))
    return tuple(found)


def lines_of(listed: list[dict[str, Any]], numbers: Iterator[int]) -> list[dict[str, Any]]:
    """The same lines, written into the items as data."""
    return [
        {**one, **({"items": lines_of(one["items"], numbers)} if one["kind"] == "when" else {}), "line": next(numbers)}
        for one in listed
    ]


def explained(composed: list[list[list[dict[str, Any]]]], name: str) -> Explanation | None:
    """The explanation of a name; None where there is no injector."""
    lines = itertools.count()
    built = []
    for number, layer in enumerate(composed):
        sets = [sets_from_data({"name": "s", "items": one})[0] for one in layer]
        built.append(Layer(f"layer{number}", tuple(replace(one, items=numbered(one.items, lines)) for one in sets)))
    try:
        return Injector(built, STATE).explain(name)
    except BindingErrors:
        return None


def declared(composed: list[list[list[dict[str, Any]]]], name: str) -> list[Entry]:
    """Everything that is declared of a name and applies, with its line."""
    lines = itertools.count()
    return [
        (position, item)
        for number, layer in enumerate(composed)
        for one in [lines_of(one, lines) for one in layer]
        for position, item in applicable(one, [[]], number)
        if item["name"] == name
    ]


def standing(entries: list[Entry]) -> list[Entry]:
    """Those of one position who may speak."""
    return [entry for entry in entries if not entry[1].get("abstract")] or entries


def reason(mine: Entry, entries: list[Entry]) -> tuple[str, set[int], set[int]]:
    """Why one does not speak, who stands above it, and who ties with it: by the page, for one at a time."""
    position, item = mine
    beside = [entry for entry in entries if entry[0] == position]
    stands = standing(beside)
    if item.get("abstract") and len(stands) == 1 and mine is not stands[0]:
        return FILLS, {stands[0][1]["line"]}, set()
    above = standing([entry for entry in entries if entry[0] == min(p for p, _ in entries if p > position)])
    upper = above[0][0]
    begins = upper[1][: len(position[1])] == position[1] != (0,)
    why = HIDES if upper[0] != position[0] else MORE if begins else HIGHER
    ties = {entry[1]["line"] for entry in stands if entry is not mine} if any(mine is one for one in stands) else set()
    return why, {entry[1]["line"] for entry in above}, ties


@settings(max_examples=examples(300))
@given(layers, names)
def test_each_loser_is_told_what_the_page_says_of_it(composed, name):
    """
    The rule, who stands above it, and with whom it ties: never that something abstract was filled
    where nothing abstract is.
    """
    explanation = explained(composed, name)
    rows = explanation.trace().claims if explanation is not None else ()
    entries = {entry[1]["line"]: entry for entry in declared(composed, name)}
    line_of = {row.claim.rank: row.claim.origin.line for row in rows}

    for row in rows[1:]:
        why, above, ties = reason(entries[row.claim.origin.line], list(entries.values()))
        assert f"{why} (bindings)" == row.why
        by = {line_of[rank] for rank in row.by}
        at = {entries[line][0] for line in above}
        # What is abstract beside the one above would hide it, too.
        assert above <= by <= {line for line, (position, _) in entries.items() if position in at}
        assert ties == {line_of[rank] for rank in explanation.ties.get(row.claim.rank, ())}


def without(listed: list[dict[str, Any]], line: int) -> list[dict[str, Any]]:
    """Items with their lines, one of them left out, as plain data again."""
    kept = [one for one in listed if one["line"] != line]
    inner = [{**one, "items": without(one["items"], line)} if one["kind"] == "when" else one for one in kept]
    return [{key: value for key, value in one.items() if key != "line"} for one in inner]


bare = st.builds(lambda item: item, values) | st.builds(
    lambda name: {"kind": "bind", "name": name, "abstract": True}, names
)
bare_layers = st.lists(
    st.lists(st.lists(st.recursive(bare, blocks, max_leaves=4), max_size=4), max_size=2), min_size=1, max_size=3
)


@settings(max_examples=examples(300))
@given(bare_layers)
def test_without_the_winner_the_next_row_speaks(composed):
    """
    It is read then; or it ties, as it was told, and that is a conflict; or it is abstract, or there is none.
    """
    explanation = explained(composed, "a")
    rows = explanation.trace().claims if explanation is not None else ()
    if not rows:
        return
    lines = itertools.count()
    left = [[without(lines_of(one, lines), rows[0].claim.origin.line) for one in layer] for layer in composed]
    after = outcome(left)
    kinds = {kind for kind, message in after if "'a'" in message} if isinstance(after, list) else set()

    if len(rows) == 1:
        assert not kinds
        assert isinstance(after, list) or after["a"] is None
    elif rows[1].claim.rank in explanation.ties:
        assert {"conflict"} == kinds
    elif str(rows[1].claim.value) == "abstract":
        # Two that were filled by one are a conflict of their own without it.
        assert kinds in ({"abstract-not-overridden"}, {"conflict"})
    else:
        assert not kinds
        assert isinstance(after, list) or after["a"] == rows[1].claim.value


@pytest.mark.parametrize(
    ("of", "options"),
    [(list, {}), (list, {"combine": "append"}), (list, {"flatten": True}), (dict, {}), (dict, {"conflict": "append"})],
)
def test_many_fragments_are_explained_in_steps_that_grow_with_them(of: type, options: dict[str, Any]):
    """Four times as many: not sixteen times the calls."""

    def calls(count: int) -> int:
        one = Bindings("many")
        one.multibind("m", of, **options)
        for number in range(count):
            one.fragment("m", f"n{number}" if of is dict else None).to(number)
        explained = Injector([[one]]).explain("m")
        events: list[str] = []
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, arg: events.append(event))
        try:
            explained.trace()
        finally:
            sys.setprofile(before)
        return events.count("call") + events.count("c_call")

    assert calls(400) < 8 * calls(100)

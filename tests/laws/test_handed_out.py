"""A merged map that was handed out never changes, however the program holds it and whatever is written later."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.node.view import ListView, MapView
from nodeattrs.testing import KEYS, programs
from tests.effort import examples
from tests.ledgers import ledger_of
from tests.sane import contradictions_in
from tests.vectors.chef_program import Program

WRITES = ("set", "set_unless", "assign", "write", "delete", "rm", "unlink", "replace_slot", "hash", "array")
PROBED = (*KEYS, "absent")

Tree = dict[Any, Any]
Look = Callable[[], Any]
"""Says again what the held thing shows; the same answer each time, if nothing has changed."""


def data(value: Any) -> Any:
    """A value without views in it."""
    return value.to_plain(evaluate=True) if isinstance(value, (MapView, ListView)) else value


def asked(take: Callable[[Any], Any]) -> list[Any]:
    """What a method of one argument answers for every key."""
    answers = []
    for key in PROBED:
        try:
            answers.append(data(take(key)))
        except KeyError as error:
            answers.append(type(error))
    return answers


def of_key(name: str) -> Callable[[MapView], Look]:
    def held(view: MapView) -> Look:
        method = getattr(view, name)
        return lambda: asked(method)

    return held


def of_nothing(name: str, finish: Callable[[Any], Any] = data) -> Callable[[MapView], Look]:
    def held(view: MapView) -> Look:
        method = getattr(view, name)
        return lambda: finish(method())

    return held


def in_a_generator(view: MapView) -> Look:
    """The generator is started at once and has given one value before the first write."""

    def entries() -> Iterator[Any]:
        yield "started"
        while True:
            yield [(key, data(view[key])) for key in view]

    running = entries()
    next(running)
    return lambda: next(running)


def as_a_default(view: MapView) -> Look:
    def told(seen: MapView = view) -> Any:
        return data(seen)

    return told


def in_a_container(view: MapView) -> Look:
    held = {"deep": [view]}
    return lambda: data(held["deep"][0])


class Holder:
    """An object with an attribute."""

    def __init__(self, view: MapView) -> None:
        self.view = view


def in_an_attribute(view: MapView) -> Look:
    holder = Holder(view)
    return lambda: data(holder.view)


def by_an_inner_view(view: MapView) -> Look:
    inner = [view.get(key) for key in PROBED]
    return lambda: [data(one) for one in inner]


def weakly(view: MapView) -> Look:
    """As long as the view is there, it is as it was; and it is there as long as one of its methods is held."""
    reference, before = weakref.ref(view), data(view)

    def told() -> Any:
        seen = reference()
        return before if seen is None else data(seen)

    return told


def under_way(view: MapView, name: str) -> Look:
    """An iterator that has given its first element: the rest comes at the first look and is kept."""
    running = iter(getattr(view, name)())
    found = [next(running, "nothing")]

    def told() -> Any:
        found.extend(running)
        return [data(one[1]) if name == "items" and one != "nothing" else data(one) for one in found]

    return told


WAYS: dict[str, Callable[[MapView], Look]] = {
    "a variable": lambda view: lambda: (list(view), data(view)),
    "the bound __getitem__": of_key("__getitem__"),
    "the bound get": of_key("get"),
    "the bound __contains__": of_key("__contains__"),
    "the bound read": of_key("read"),
    "the bound read_strict": of_key("read_strict"),
    "the bound exist": of_key("exist"),
    "the bound __len__": of_nothing("__len__"),
    "the bound __iter__": of_nothing("__iter__", list),
    "the bound keys": of_nothing("keys", list),
    "the bound values": of_nothing("values", lambda values: [data(value) for value in values]),
    "the bound items": of_nothing("items", lambda items: [(key, data(value)) for key, value in items]),
    "the bound to_dict": of_nothing("to_dict"),
    "the bound to_plain": of_nothing("to_plain"),
    "the bound __repr__": of_nothing("__repr__"),
    "the bound merge": lambda view: partial(view.merge, {}),
    "a partial": lambda view: partial(asked, partial(view.__getitem__)),
    "a closure": lambda view: lambda: [(key, key in view, data(view.get(key))) for key in PROBED],
    "a generator under way": in_a_generator,
    "items() under way": partial(under_way, name="items"),
    "values() under way": partial(under_way, name="values"),
    "iter() under way": partial(under_way, name="__iter__"),
    "a container": in_a_container,
    "an attribute": in_an_attribute,
    "a default argument": as_a_default,
    "an inner view": by_an_inner_view,
    "a weak reference": weakly,
}

DOORS: dict[str, Callable[[Node], Any]] = {
    "node[...]": lambda node: node["a"],
    "node[..., ...]": lambda node: node["a", "b"],
    "node.get": lambda node: node.get("b"),
    "node.items": lambda node: dict(node.items())["a"],
    "the whole": lambda node: ledger_of(node).view(),
    "combined_default": lambda node: node.combined_default,
    "an entry of combined_override": lambda node: node.combined_override["a"],
}


def opened(door: Callable[[Node], Any], node: Node) -> MapView | None:
    """The map behind a door; None where no map is there now."""
    try:
        found = door(node)
    except (KeyError, TypeError):
        return None
    return found if isinstance(found, MapView) else None


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(40, fewest=8))
@given(
    programs(verbs=WRITES, interleaved=True, max_size=10),
    st.lists(st.tuples(st.sampled_from(sorted(DOORS)), st.booleans()), max_size=4),
)
def test_no_write_changes_a_view_that_was_handed_out(way: str, program: list[Any], hands: list[Any]) -> None:
    """One view is taken at each door before each write; half of them are read before it, the others after it only."""
    judged = Program()
    judged.node.default["a"] = {"a": 1, "b": {"a": 1}}
    judged.node.override["a"]["b"]["c"] = 2
    looks: list[tuple[str, Look, Any]] = []
    for step in program:
        for door, is_read in hands:
            view, twin = opened(DOORS[door], judged.node), opened(DOORS[door], judged.node)
            if view is None or twin is None:
                continue
            expected = WAYS[way](_apart(twin))()
            look = WAYS[way](view)
            if is_read and "under way" not in way:
                assert look() == expected
            looks.append((door, look, expected))
            del view, twin
        judged.answer({name: value for name, value in step.items() if name != "speaker"}, step["speaker"])
        assert contradictions_in(judged.node) == []
    for door, look, expected in looks:
        assert look() == expected, door


def _apart(view: MapView) -> MapView:
    """The same map on a node of its own, to which nobody writes."""
    node = Node("apart")
    node.default = {"apart": view.to_plain()}
    return node["apart"]

"""`node.default["a", "b"] = 1` does in one call what `node.default["a"]["b"] = 1` does in two.

Law 2d of docs/merging.md: the same statements, once a step a subscript and once all steps in one, come
to the same answers, errors, trees, origins and history. Each program is text and runs from a file of its own, so
that lines count.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.causes.writes import writes_of
from nodeattrs.errors import AttributeIsReadOnly, BadArgument, BadKey, NoSuchAttribute, NullInTheWay, TypeConflict
from nodeattrs.node.node import words_of
from nodeattrs.node.running import setting_as
from nodeattrs.node.values import Deferred
from nodeattrs.testing import paths, values
from tests.ledgers import ledger_of
from tests.sane import contradictions_in

Spelling = Callable[[tuple[Any, ...]], str]

LEVELS = ("default", "role_default", "force_default", "normal", "override", "automatic")
KEYS = ("a", "b", 0, -1)


def by_one(path: tuple[Any, ...]) -> str:
    return "".join(f"[{step!r}]" for step in path)


def at_once(path: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(repr, path))}{',' if len(path) == 1 else ''}]"


Statement = tuple[str, Callable[[Spelling], str]]
"""Who sets values in it, and its text by how paths are spelled in it."""


def programs() -> st.SearchStrategy[list[Statement]]:

    def spelled(form: str, **drawn: Any) -> st.SearchStrategy[Callable[[Spelling], str]]:
        return st.fixed_dictionaries(drawn).map(
            lambda given: (
                lambda way: form.format(**{**given, "path": way(given["path"]), "value": repr(given.get("value"))})
            )
        )

    path, value = paths(KEYS, 1, 4), values(("a", "b", 0), (None, 1, True, 1.5))
    level, word = st.sampled_from(LEVELS), st.sampled_from(("default", "force_override"))
    unless, full = st.sampled_from(("default", "normal", "override")), st.sampled_from(("default", "force_override"))
    one = st.one_of(
        spelled("node.{level}{path} = {value}", level=level, path=path, value=value),
        spelled("node.{level}{path} = {value}", level=level, path=path, value=value),
        spelled("answer = node.{level}{path}", level=level, path=path),
        spelled("del node.{level}{path}", level=level, path=path),
        spelled("node.{level}{path} += [1]", level=level, path=path),
        spelled("{word}{path} = {value}", word=word, path=path, value=value),
        spelled("node.{unless}_unless{path} = {value}", unless=unless, path=path, value=value),
        spelled("node.{full}_full{path} = {value}", full=full, path=path, value=value),
        spelled("answer = node{path}", path=path),
        spelled("answer = node.combined_default{path}", path=path),
    )
    return st.lists(st.tuples(st.sampled_from(("attribute file", "recipe")), one), min_size=1, max_size=8)


def plain(answer: Any) -> Any:
    return type(answer).__name__, answer.to_plain() if hasattr(answer, "to_plain") else answer


def outcome(line: str, names: dict[str, Any], file: str, number: int) -> Any:
    """What a statement gives, as the line of that number in a file; or the error, Python's own as its type alone."""
    names["answer"] = None
    try:
        exec(compile("\n" * (number - 1) + line, file, "exec"), names)
    except (TypeError, KeyError, IndexError, BadArgument) as error:
        is_ours = hasattr(error, "path") and not isinstance(error, TypeConflict)
        return (type(error).__name__, error.path, error.message) if is_ours else f"error {isinstance(error, TypeError)}"
    return plain(names["answer"])


def ran(root: Path, program: list[Statement], way: Spelling) -> tuple[Node, list[Any]]:
    """The node after a program that is spelled in one of the ways, and what came of each statement."""
    lines = [statement(way) for _, statement in program]
    file = str(root / way.__name__ / "recipe.py")
    text = [f"{line}\n" for line in lines]
    linecache.cache[file] = (sum(map(len, text)), None, text, file)
    node = Node("n", root=root / way.__name__)
    names: dict[str, Any] = {"node": node, **words_of(node)}
    came = []
    for number, ((source, _), line) in enumerate(zip(program, lines, strict=True), 1):
        with setting_as(node, source, "app"):
            came.append(outcome(line, names, file, number))
    return node, came


def every_path(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(below for step, inner in steps for below in every_path(inner, (*path, step)))]


def without_columns(kept: Any) -> Any:
    """A snapshot as far as the two can be alike: the columns of an expression are its own, and so is the file."""
    if isinstance(kept, dict):
        return {
            key: without_columns(value)
            for key, value in kept.items()
            if key not in ("column", "lines", "at", "sources")
        }
    return [without_columns(one) for one in kept] if isinstance(kept, list) else kept


@given(program=programs())
def test_several_steps_at_once_are_the_steps_one_by_one(tmp_path_factory, program):
    """Answers, errors, what is read, who set it and what was set before."""
    root = tmp_path_factory.getbasetemp()
    (one, answers), (other, others) = (ran(root, program, way) for way in (by_one, at_once))

    assert answers == others
    assert one.to_dict() == other.to_dict()
    assert contradictions_in(other) == []
    for path in every_path(other.to_dict())[1:]:
        assert str(one.trace(path)) == str(other.trace(path))
    assert without_columns(one.snapshot()) == without_columns(other.snapshot())


class TestReading:
    def test_what_is_read_at_once_is_new_after_each_write(self):
        """Of a leaf, of a map above it, and where a map takes the place of a map."""
        node = Node()
        node.default["a", "b", "c"] = 1
        assert node["a", "b", "c"] == 1
        node.default["a", "b", "c"] = 2
        assert node["a", "b", "c"] == 2
        node.override["a", "b"] = {"c": 3}
        assert node["a", "b", "c"] == 3
        del node.override["a", "b"]
        assert node["a", "b", "c"] == 2
        node.default = {"a": {"b": {"c": 4}}}
        assert node["a", "b", "c"] == 4

    def test_a_held_view_never_changes(self):
        node = Node()
        node.default["a", "b"] = 1
        held = ledger_of(node).view()
        assert held["a", "b"] == 1
        node.default["a", "b"] = 2
        assert (held["a", "b"], node["a", "b"]) == (1, 2)

    def test_a_deferred_value_is_computed_each_time(self):
        node = Node()
        node.default["port"] = 80
        node.default["app", "url"] = Deferred(lambda: f"http://here:{node['port']}")
        assert node["app", "url"] == "http://here:80"
        node.default["port"] = 81
        assert node["app", "url"] == "http://here:81"

    def test_views_of_maps_and_lists_take_several_steps(self):
        node = Node()
        node.default["sites"] = [{"ports": [80, 443]}]
        assert node["sites", 0, "ports", -1] == 443
        assert node["sites"][0, "ports"] == [80, 443]
        assert node["sites"][0]["ports", 0] == 80

    @pytest.mark.parametrize(
        ("path", "found"),
        [(("a",), True), (("a", "b"), True), (("a", "b", 0), True), (("a", "b", 1), False), (("a", "x", "b"), False)],
    )
    def test_in_asks_for_the_whole_path_and_makes_nothing(self, path, found):
        node = Node()
        node.default["a", "b"] = [None]
        assert (path in node, path in node["a"] if path[1:] else found) == (found, False if path[1:] else found)
        assert (path in node.default, path in node.combined_default) == (found, found)
        assert node.to_dict() == {"a": {"b": [None]}}

    def test_get_gives_the_default_where_a_step_is_absent(self):
        node = Node()
        node.default["a", "b"] = 1
        assert (node.get(("a", "b")), node.get(("a", "x", "y"), 7)) == (1, 7)


class TestErrors:
    def test_they_name_the_path_as_far_as_it_was_gone(self):
        node = Node()
        node.default["a", "b"] = 1
        with pytest.raises(TypeConflict, match=r"cannot step to c: there is the value 1 at default\.a\.b"):
            node.default["a", "b", "c", "d"] = 2
        with pytest.raises(TypeConflict, match=r"cannot step to c: a\.b has no such place"):
            node["a", "b", "c"]
        with pytest.raises(NoSuchAttribute, match=r"no attribute a\.x"):
            node["a", "x", "c"]
        with pytest.raises(AttributeIsReadOnly, match=r"a\.b belongs to no level") as caught:
            node["a", "b"] = 2
        assert caught.value.hint.startswith("name the level: node.default['a']['b'] = ...")

    def test_null_in_the_way(self):
        node = Node()
        node.default["a"] = None
        with pytest.raises(NullInTheWay):
            node.default["a", "b"] = 1
        with pytest.raises(NullInTheWay, match="cannot step to b: there is null or nothing at a"):
            node["a", "b"]

    @pytest.mark.parametrize("path", [(), ("a", ("b",)), ("a", 1.5), ("a", None, "b")])
    def test_what_is_no_key_is_none_among_several(self, path):
        node = Node()
        with pytest.raises(BadKey):
            node.default[path] = 1
        with pytest.raises(BadKey):
            node.default[path]


class TestSources:
    def test_the_line_of_a_literal_is_found(self, tmp_path):
        """As for the chain: the line in the map, not that of the statement."""
        text = "node.default['a', 'b'] = {\n    'port': 80,\n}\n"
        file = str(tmp_path / "recipe.py")
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        node = Node(root=tmp_path)
        exec(compile(text, file, "exec"), {"node": node})
        assert [origin.place for origin in node.origins("a.b.port")] == ["recipe.py:2"]

    def test_a_source_that_sets_it_is_found_by_its_text(self):
        assert [one.line for one in writes_of("default['a', 'b'] = 1\nx['a', 'b'] = 1\n", ("a", "b"))] == [1]

"""Python sources: the line inside a statement that says a path."""

from __future__ import annotations

import ast
import pprint
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.formats.python import PythonText
from nodeattrs.testing import values
from tests.edits import changed, leaves

# No spaces: the pretty printer would break such a text over several lines.
SCALARS = (None, True, 0, 1.5, "x", "é😀", "'", "\n", "")


def place(text: str, path: tuple[Any, ...], line: int = 1) -> tuple[int, int | None]:
    return PythonText("attributes/default.py", text).place(line, path)


class TestLiterals:
    @pytest.mark.parametrize(
        ("text", "path", "place_said"),
        [
            ("x = {\n 'a': {\n  'b': 1}}", ("a", "b"), (3, 3)),
            ("x = {\n 'a':\n  1}", ("a",), (3, 3)),  # a scalar on a later line than its key
            ("x = {\n 'a':\n  compute()}", ("a",), (3, 3)),
            ("x = {\n 'a':\n  {}}", ("a",), (2, 2)),  # a map stands where its key stands
            ("x = {\n 'a':\n  dict(b=1)}", ("a",), (2, 2)),
            ("x = {\n 'a':\n  dict(b=1)}", ("a", "b"), (3, 8)),
            ("x = [\n 'a',\n 'b']", (1,), (3, 2)),
            ("x = ('a',\n 'b')", (1,), (2, 2)),
            ("x = {'é': {'b': 1}}", ("é", "b"), (1, 12)),  # columns count characters
            ("x = {1: 'a',\n '1': 'b'}", (1,), (1, 6)),
            ("x = {1: 'a',\n '1': 'b'}", ("1",), (2, 2)),
            ("x = {'a': 1,\n 'a': 2}", ("a",), (2, 2)),  # the last one counts
            ("x = dict(\n a=1)", ("a",), (2, 2)),
            ("x = dict({'a': 1},\n b=2)", ("a",), (1, 11)),
            ("x = dict({'a': 1},\n a=2)", ("a",), (2, 2)),
            ("x = Sensitive({\n 'a': 1})", ("a",), (2, 2)),
            ("x = nodeattrs.Sensitive({\n 'a': 1})", ("a",), (2, 2)),
            ("x = {**{'a': 1},\n 'b': 2}", ("a",), (1, 9)),
            ("x = {'a': 1, **{\n 'a': 2}}", ("a",), (2, 2)),
            ("x = {'a': 1, **{\n 'b': 2}}", ("a",), (1, 6)),
            ("x: dict = {\n 'a': 1}", ("a",), (2, 2)),
            ("x += [\n 'a']", (0,), (2, 2)),
            ("x['k'] = y = {\n 'a': 1}", ("a",), (2, 2)),
            ("x = (\n 1)", (), (2, 2)),  # the value itself, where it is a scalar on a later line
            ("x = {}\r\ny = {\r\n 'a': 1}", ("b",), (1, None)),
        ],
    )
    def test_a_value_that_is_assigned(self, text, path, place_said):
        """
        The path counts from the value.
        """
        assert place_said == place(text, path)

    @pytest.mark.parametrize(
        ("text", "path", "place_said"),
        [
            ("default_attributes({\n 'a': {\n  'b': 1}})", ("a", "b"), (3, 3)),
            ("default_attributes(\n a={\n  'b': 1})", ("a", "b"), (3, 3)),
            ("default['x'].update({\n 'a': 1},\n b=2)", ("a",), (2, 2)),
            ("default['x'].update({\n 'a': 1},\n b=2)", ("b",), (3, 2)),
            ("default['x'].update({\n 'a': 1},\n a=2)", ("a",), (3, 2)),
            ("node.default.write('a', 'b', {\n 'a': 1})", ("a",), (2, 2)),
            ("node.default_full('a', {\n 'a': [\n  1]})", ("a", 0), (3, 3)),
            ("node.default.write('a', 'b',\n 1)", (), (2, 2)),
            ("default['x'].concat([\n 'a',\n 'b'])", (1,), (3, 2)),
            ("default['x'].push({\n 'a': 1})", ("a",), (2, 2)),
            ("default['x'].append(\n 'a')", (), (2, 2)),
            ("default['x'].insert(0,\n 'a')", (), (2, 2)),
        ],
    )
    def test_a_value_that_is_given_to_a_call(self, text, path, place_said):
        """
        The last positional argument, with the keywords laid over it.
        """
        assert place_said == place(text, path)


class TestWhatIsNotCertain:
    @pytest.mark.parametrize(
        ("text", "path", "place_said"),
        [
            ("x = {\n 'a': compute()}", ("a", "b"), (2, 2)),  # the deepest parent that is said
            ("x = {\n 'a': {key: 1}}", ("a", "b"), (2, 2)),
            ("x = {\n 'a': [*more, 1]}", ("a", 1), (2, 2)),
            ("x = {'a': 1,\n **more}", ("a",), (1, None)),  # more may say it again
            ("x = {'a': 1, **{'b': 2,\n **more}}", ("a",), (1, None)),
            ("x = dict(more,\n a=1)", ("b",), (1, None)),
            ("x = compute({\n 'a': 1})", ("a",), (1, None)),  # who knows what it makes of it
            ("x, y = [\n 1, 2], 3", (0,), (1, None)),
            ("x = [1]", (-1,), (1, None)),
            ("x = [1]", (1,), (1, None)),
            ("x = [\n0, 1]", (True,), (1, None)),
            ("x = 5", (), (1, None)),  # the line is the right one already
            ("x = {\n 'a': 1}", (), (1, None)),
            ("default['x'].push('a',\n 'b')", (), (1, None)),  # two values, and no telling which
            ("tag('a',\n 'b')", (), (1, None)),
            ("default['x'].clear()", ("a",), (1, None)),
            ("x: int", ("a",), (1, None)),
            ("if (\n x):\n  pass", ("a",), (1, None)),
            ("x = {", ("a",), (1, None)),  # no Python
            ("x = '\0'", ("a",), (1, None)),
            ("x = " + "(" * 1000, ("a",), (1, None)),
            ("", ("a",), (1, None)),
        ],
    )
    def test_it_has_the_deepest_certain_place_or_the_line_itself(self, text, path, place_said):
        """
        A line that was only guessed would be a lie.
        """
        assert place_said == place(text, path)


class TestStatements:
    TEXT = "if True:\n    x = {\n        'a': 1,\n    }\n    y = {'a':\n        2}; z = {'b': 3}\n"

    @pytest.mark.parametrize("line", [2, 3, 4])
    def test_any_line_of_the_statement_will_do(self, line):
        """
        Tracebacks and frames name now its first line, now another.
        """
        assert (3, 9) == place(self.TEXT, ("a",), line)

    @pytest.mark.parametrize(("step", "place_said"), [("a", (6, 9)), ("b", (6, 18)), ("c", (6, None))])
    def test_of_two_statements_on_one_line_the_one_that_says_the_path(self, step, place_said):
        """
        Line 6 ends one and holds another.
        """
        assert place_said == place(self.TEXT, (step,), 6)

    def test_a_line_of_no_statement_is_given_back(self):
        """
        The header of the `if` says nothing, and there is no line 99.
        """
        assert (1, None) == place(self.TEXT, ("a",), 1)
        assert (99, None) == place(self.TEXT, ("a",), 99)

    def test_the_text_is_parsed_once_and_only_when_asked(self, monkeypatch):
        """
        A text that nobody asks about costs nothing.
        """
        asked = []
        parse = ast.parse
        monkeypatch.setattr(ast, "parse", lambda *given: asked.append(given) or parse(*given))

        text = PythonText("f.py", self.TEXT)
        assert asked == []

        text.place(2, ("a",))
        text.place(5, ("a",))
        assert len(asked) == 1


class Speaking:
    """Stands for a level: notes the span of each expression that stores, steps or calls, as the compiler has it."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def _note(self, *_: Any, **__: Any) -> Any:
        frame = sys._getframe(1)
        self.spans.append(list(frame.f_code.co_positions())[frame.f_lasti // 2])
        return self

    __getitem__ = __setitem__ = __delitem__ = __iadd__ = push = write = _note

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "spans":
            frame = sys._getframe(1)
            self.spans.append(list(frame.f_code.co_positions())[frame.f_lasti // 2])
        else:
            object.__setattr__(self, name, value)


def places(text: str, path: tuple[Any, ...]) -> list[tuple[int, int | None]]:
    """Where each expression that speaks says the path, in the order in which they run."""
    x = Speaking()
    exec(compile(text, "f.py", "exec"), {"x": x, "f": lambda *given: given})
    source = PythonText("f.py", text)
    return [source.place(span[0], path, span) for span in x.spans]


class TestTheExpressionThatSpeaks:
    @pytest.mark.parametrize(
        ("text", "path", "said"),
        [
            ("x['a'], x['b'] = {'k':\n 1}, {'k':\n 2}", ("k",), [(2, 2), (3, 2)]),
            ("x['a'], x['b'] = {'k': 1}, {'k': 2}", ("k",), [(1, 19), (1, 29)]),
            ("x['a'], (x['b'], x['c']) = 1, ({'k': 1}, {'k': 2})", ("k",), [(1, 28), (1, 33), (1, 43)]),
            ("x['a'] = {'k': 1}; x['b'] = {'k': 2}", ("k",), [(1, 11), (1, 30)]),
            ("x['é'] = 'é'; x['b'] = {'é': 2}", ("é",), [(1, 10), (1, 25)]),
            ("x['a'] = x['b'] = {'k': 1}", ("k",), [(1, 20), (1, 20)]),
            ("x.push({'k': 1}); x.push({'k': 2})", ("k",), [(1, 9), (1, 27)]),
            ("f(x.push({'k': 1}), x.push({'k': 2}))", ("k",), [(1, 11), (1, 29)]),
            ("[x.push({'k': one}) for one in (1, 2)]", ("k",), [(1, 10), (1, 10)]),
            ("(lambda: x.push({'k': 1}))()", ("k",), [(1, 18)]),
            ("(x\n  .push({'k': 1})\n  .push({'k': 2}))", ("k",), [(2, 10), (3, 10)]),
            ("x.k = {'k': 1}; (x\n .k) = {'k': 2}", ("k",), [(1, 8), (2, 9)]),
            ("x.write(x.write({'k': 1}), {'k': 2})", ("k",), [(1, 18), (1, 29)]),
        ],
    )
    def test_several_on_one_line_are_told_apart(self, text, path, said):
        """
        Each says its own literal, whichever statement, target or call they share a line with.
        """
        assert said == places(text, path)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("x['a'] = 1; x['b'] = 1", [(1, 10), (1, 22)]),
            ("x.push(1); x.push(2)", [(1, 8), (1, 19)]),
            ("x.push(1, 2); x.push(3, 4)", [(1, 1), (1, 15)]),  # many values: the call
            ("x.push(); x.push(\n 4)", [(1, 1), (2, 2)]),  # a scalar on a later line: there
            ("x['a'] = f(\n1)", [(2, 1)]),
            ("x['a'] = (\n f())", [(1, 1)]),  # what is computed: the line that says it
            ("x['a'], x['b'] = f(1, 2)", [(1, 1), (1, 9)]),  # who knows which is which: the target
            ("[x['a'], *x['b']] = 1, 2", [(1, 2), (1, 11)]),
            ("x['a'], x['b'] = *(1,), 2", [(1, 1), (1, 9)]),
            ("for x['a'] in (1, 2): pass", [(1, 5), (1, 5)]),
            ("x['a']['b'] = 1", [(1, 1), (1, 15)]),  # a step makes a map, the store has the value
            ("del x['a']; del x['b']", [(1, 5), (1, 17)]),
        ],
    )
    def test_the_column_is_that_of_the_value_or_else_of_the_expression(self, text, said):
        """
        Where a person would change it.
        """
        assert said == places(text, ())

    def test_a_step_says_nothing_of_the_value_that_is_stored_below_it(self):
        """
        It made an empty map, though the literal behind it has the same key.
        """
        assert [(1, 1), (1, 16)] == places("x['a']['b'] = {'k': 1}", ("k",))

    def test_work_in_place_says_its_elements(self):
        """
        `+=` steps, works and stores, all of it at one place.
        """
        assert [(1, 12), (1, 12), (1, 12)] == places("x['l'] += ['a']", (0,))

    @pytest.mark.parametrize("span", [None, (1, None, None, None)])
    def test_where_nobody_knows_the_expression_the_line_has_to_do(self, span):
        """
        Python can be told to keep no columns (`-X no_debug_ranges`).
        """
        source = PythonText("f.py", "x['a'] = {'k': 1}")

        assert (source.place(1, ("k",), span), source.place(1, (), span)) == ((1, 11), (1, None))

    def test_without_a_text_there_is_no_column(self):
        """
        A session at a prompt keeps none.
        """
        assert PythonText("<stdin>", "").place(3, (), (3, 3, 0, 6)) == (3, None)


class TestAnyLiteral:
    @given(
        values(("a", "é", "'", 0, 1), SCALARS, max_leaves=8),
        st.sampled_from(["x = (\n{})", "x = {}", "said({})", "said('a', 'b', \n{})", "x = Sensitive({})"]),
        st.integers(1, 30),
        st.data(),
    )
    def test_editing_what_stands_at_the_place_changes_that_leaf_only(self, tree, statement, width, data):
        """
        The oracle is Python: what it makes of the statement after the edit.
        """
        tree = {"k": tree}
        text = statement.replace("{}", pprint.pformat(tree, width=width, sort_dicts=False))
        path, leaf = data.draw(st.sampled_from(leaves(tree)))

        line, column = place(text, path)

        lines = text.split("\n")
        before, after = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
        name = "" if isinstance(leaf_holder(tree, path), list) else f"{path[-1]!r}: "
        assert after.startswith(name + repr(leaf))
        lines[line - 1] = before + name + "'new'" + after.removeprefix(name + repr(leaf))
        assert changed(tree, path, "new") == run("\n".join(lines))


def leaf_holder(tree: Any, path: tuple[Any, ...]) -> Any:
    for step in path[:-1]:
        tree = tree[step]
    return tree


def run(text: str) -> Any:
    names: dict[str, Any] = {"Sensitive": lambda value: value, "said": lambda *given: names.update(x=given[-1])}
    exec(text, names)
    return names["x"]

"""A node's slots as they were when a line had set something."""

from __future__ import annotations

import pytest

from nodeattrs import Node, lazy
from nodeattrs.node.maps import set_by_at
from nodeattrs.node.moment import quick_setter
from nodeattrs.node.running import setting_as

TEXTS = {
    "overwritten": "default['a']['x'] = 1\ndefault['r'] = 0\ndefault['a']['x'] = 2",
    "overwritten as a whole": "default['a']['x'] = 1\ndefault['r'] = 0\ndefault['a'] = {'x': 2}",
    "overwritten twice": "default['a'] = {'x': 1}\ndefault['r'] = 0\ndefault['a']['x'] = 2\ndefault['a'] = {}",
    "erased": "default['a']['x'] = 1\ndefault['r'] = 0\nnode.rm('a', 'x')",
    "erased further up": "default['a']['x'] = 1\ndefault['r'] = 0\nnode.rm('a')",
    "hidden": "default['a']['x'] = 1\ndefault['r'] = 0\nnode.override['a']['x'] = 2",
}


def ran(text: str) -> Node:
    """A node after a recipe has run."""
    node = Node("web1")
    with setting_as(node, "recipe", "x"):
        exec(compile(text, "x.py", "exec"), {"node": node, "default": node.default, "lazy": lazy})
    return node


def then(node: Node, path: str):
    """What a line that set `r` may have seen at a path."""
    trace = node.trace("r").winner.claim.then(tuple(path.split(".")))
    return trace.value if trace.found else None, [one.origin.line for one in trace.claims], len(trace.history)


class TestMoment:
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_what_came_later_is_taken_back(self, text):
        """
        Whatever became of it: it is read, by its own line, and nothing has happened yet.
        """
        assert then(ran(text), "a.x") == (1, [1], 0)
        assert then(ran(text), "a") == ({"x": 1}, [1], 0)

    def test_what_was_not_yet_there_is_not(self):
        """
        Neither the entry nor the maps that it stands in.
        """
        assert then(ran("default['r'] = 0\ndefault['a']['x'] = 1"), "a.x") == (None, [], 0)

    def test_what_had_happened_before_stays(self):
        """
        And of the history that much.
        """
        text = "default['a'] = 1\ndefault['a'] = 2\ndefault['r'] = 0\ndefault['a'] = 3"

        assert then(ran(text), "a") == (2, [2], 1)

    def test_a_list_is_as_it_was(self):
        """
        Before the work that came later.
        """
        text = "default['a'] = [1]\ndefault['r'] = 0\ndefault['a'].append(2)"

        assert then(ran(text), "a") == ([1], [1], 0)

    def test_a_line_that_ran_again_has_seen_what_came_between(self):
        """
        Its last time counts.
        """
        text = "for at in (1, 2):\n    default['r'] = at\n    default['a'] = at\n"

        assert then(ran(text), "a")[:2] == (2, [3])

    def test_a_deferred_value_reads_what_is_there_now(self):
        """
        Each time.
        """
        text = "default['a'] = 1\ndefault['r'] = lazy(lambda: node['a'])\ndefault['a'] = 2"

        assert then(ran(text), "a")[:2] == (2, [3])


READ = "\ndefault['r'] = 0"
CERTAIN = {
    "one slot": "default['a']['x'] = 1",
    "the highest of three": "default['a']['x'] = 2\nnode.override['a']['x'] = 3\nnode.force_default['a']['x'] = 4",
    "over a list": "default['a'] = {'x': [1]}\nnode.override['a']['x'] = 2",
    "over text": "default['a'] = 'x'\nnode.override['a']['x'] = 2",
    "overwritten before": "default['a']['x'] = 1\ndefault['a']['x'] = 2",
    "something else came later": "default['a']['x'] = 1\ndefault['r'] = 0\ndefault['a']['y'] = 2",
}
UNCERTAIN = {
    "a list": "default['a']['x'] = [1]",
    "null": "default['a']['x'] = None",
    "overwritten since": "default['a']['x'] = 1\ndefault['r'] = 0\ndefault['a']['x'] = 2",
    "erased since": "default['a']['x'] = 1\nnode.override['a']['x'] = 2\ndefault['r'] = 0\nnode.rm_override('a', 'x')",
    "below text": "default['a']['x'] = 1\nnode.override['a'] = 'y'",
    "assigned as a whole": "default['a'] = {'y': 1}\nnode.override['a']['y'] = 2",
    "later": "default['r'] = 0\nnode.override['a']['x'] = 1",
    "absent": "default['b'] = 1",
}


class TestAShortLook:
    """
    Who set a scalar is seen in the highest slot that has it; where that is not certain, the trace is asked.
    """

    def setter(self, text: str, path: tuple[str, ...]):
        node = ran(text + ("" if "'r'" in text else READ))
        by = set_by_at(node._ledger.trees[2], ("r",))[0]
        return node, quick_setter(node._ledger, by, path)

    @pytest.mark.parametrize("text", CERTAIN.values(), ids=CERTAIN)
    def test_where_it_is_certain_it_is_what_the_trace_says(self, text):
        node, found = self.setter(text, ("a", "x"))

        claim = node.trace("a.x").winner.claim
        assert found is not None
        assert (claim.origin, claim.value) == (node._ledger.marks.place(found[0])[0], found[1])

    @pytest.mark.parametrize("text", UNCERTAIN.values(), ids=UNCERTAIN)
    def test_where_it_is_not_nothing_is_said(self, text):
        _, found = self.setter(text, ("a", "x"))

        assert found is None

    @pytest.mark.parametrize(
        ("text", "certain"),
        [
            ("default['a'] = ['x', 'y']", True),
            ("default['a'] = ['x', 'y']\nnode.force_default['a'] = ['z']", True),
            ("default['a'] = ['x', 'y']\nnode.force_default['a'] = ['y', 'z']", False),
            ("default['a'] = [1, 2, 3]", False),
            ("default['a'] = ['x', 'y']\nnode.override['a'] = ['z']", False),
            ("default['a'] = ['x', 'y']\ndefault['a'] = ['x', 'z']", False),
            ("default['a'] = ['x', 'y']\nnode.normal['a'] = 1", False),
            ("default['r'] = 1\ndefault['a'] = ['x', 'y']", False),
        ],
    )
    def test_so_is_who_set_an_element_of_lists_that_unite(self, text, certain):
        """
        Where all are texts, each stands once, and nothing has happened to them.
        """
        node = Node("web1")
        with setting_as(node, "attribute file", "x"):
            exec(
                compile(f"{text}\nif 'r' not in node: default['r'] = node['a']", "x.py", "exec"),
                {"node": node, "default": node.default},
            )
        by = set_by_at(node._ledger.trees[1], ("r",))[0]
        for index in range(3):
            found, claim = quick_setter(node._ledger, by, ("a", index)), node.trace(("a", index)).winner
            assert (found is None) == (not certain or claim is None)
            if found is not None:
                origin = node._ledger.marks.place(found[0])[0]
                assert (claim.claim.origin, claim.claim.value) == (origin, found[1])

"""A node's slots as they were when a line had set something."""

from __future__ import annotations

import pytest

from nodeattrs import Node, lazy
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
    def test_a_moment_undoes_later_changes(self, text):
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

    def test_a_moment_keeps_the_history_before_it(self):
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

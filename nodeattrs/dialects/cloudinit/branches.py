"""Find the ways through a Jinja template. For an unknown machine, a template is rendered once for each way.

A *branch* is one side of an `if`, of a conditional expression, or of a loop with `else`. A *way* says for each open
condition which side is taken; all ways together go through every branch. A condition is *open* if it depends on a
variable that the template does not set itself; Jinja decides other conditions. Jinja2 is imported here: `templates`
imports this module only to render without instance data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jinja2 import meta, nodes
from jinja2.runtime import Undefined
from jinja2.visitor import NodeTransformer

from nodeattrs.core.budget import Budget

MOST = 40
"""How many times one template is rendered at most."""
_NODES = 20_000
"""The most nodes that all ways of a template have together. So a large template has fewer ways."""
ONCE = "nodeattrs_once"
"""The name of the filter `once`. `follow` adds the filter to the value of each loop."""

_NAMES: tuple[type[nodes.Node], ...] = (nodes.Name, nodes.NSRef)


class _Branch(NamedTuple):
    """One side of a condition.

    condition: the text of the condition
    holds:     whether the condition holds in the branch
    around:    the index of the branch that contains this one, which is lower; None at the top
    """

    condition: str
    holds: bool
    around: int | None


class Way(NamedTuple):
    """One way through a template: it says for each condition whether the condition holds.

    chosen:    text of a condition -> whether it holds
    otherwise: True if all other conditions hold, False if none of them does
    """

    chosen: dict[str, bool]
    otherwise: bool

    def _takes(self, condition: str, holds: bool) -> bool:
        """Whether the way takes one branch of *condition*. holds: True for the branch in which the condition holds"""
        return self.chosen.get(condition, self.otherwise) == holds

    def _visited(self, branches: Sequence[_Branch]) -> set[int]:
        """The indexes of the branches that the way goes through. A branch inside another one counts only if both are
        taken.

        branches: all branches of a template, each after the branch that contains it
        """
        found: set[int] = set()
        for index, branch in enumerate(branches):
            if self._takes(branch.condition, branch.holds) and (branch.around is None or branch.around in found):
                found.add(index)
        return found


class Ways(NamedTuple):
    """The ways through one template.

    ways:    at least one
    unseen:  the number of branches that no way goes through, because there would be too many ways
    unknown: the names whose values depend on the machine
    """

    ways: list[Way]
    unseen: int
    unknown: frozenset[str]


def ways_of(tree: nodes.Template, budget: Budget) -> Ways:
    """The ways through a parsed template. Together they go through every branch, if `MOST` ways are enough.

    On the first way every condition holds, on the second none. The others lead to branches that are still missing. A
    template without open conditions has one way. A large template has at least two ways, but may have fewer than it
    needs; `unseen` of the result counts the branches that are left out.

    tree:   the template as Jinja parses it
    budget: its depth limits the number of `elif`
    raises: TooMuch, for an `if` with more `elif` than that
    """
    for one in tree.find_all(nodes.If):
        budget.depth(len(one.elif_))
    unknown = _unknown_names(tree)
    branches = _Branches(unknown).of(tree)
    ways, most = [Way({}, True), Way({}, False)], min(MOST, _NODES // sum(1 for _ in tree.find_all(nodes.Node)))
    seen = ways[0]._visited(branches) | ways[1]._visited(branches)
    unseen = 0
    for number in range(len(branches)):
        chosen = None if number in seen else _chosen_in(branches, number)
        if chosen is None:
            continue
        if len(ways) < most:
            ways.append(Way(chosen, True))
            seen |= ways[-1]._visited(branches)
        else:
            unseen += 1
    return Ways(ways if branches else ways[:1], unseen, unknown)


def _chosen_in(branches: Sequence[_Branch], number: int) -> dict[str, bool] | None:
    """The conditions that lead to a branch; None where one of them would have to hold and not to hold."""
    chosen: dict[str, bool] = {}
    at: int | None = number
    while at is not None:
        one = branches[at]
        if chosen.setdefault(one.condition, one.holds) is not one.holds:
            return None
        at = one.around
    return chosen


def follow(tree: nodes.Template, way: Way, unknown: frozenset[str]) -> nodes.Template:
    """Change a parsed template so that its open conditions are constants of one way; returns the same tree.

    unknown: the names whose values depend on the machine
    """
    followed: nodes.Template = _BranchChooser(way, unknown).visit(tree)
    return followed


def once(value: Any, names: int) -> Iterator[Any]:
    """A filter for the value of a loop: yields its elements; for an undefined value the value itself, once.

    names: the number of names that the loop binds; an undefined element becomes a tuple of as many
    """
    for row in (value,) if isinstance(value, Undefined) else value:
        yield (row,) * names if names > 1 and isinstance(row, Undefined) else row


class _BranchChooser(NodeTransformer):
    def __init__(self, way: Way, unknown: frozenset[str]) -> None:
        self._way, self._unknown = way, unknown

    def _visit_condition(self, node: nodes.If | nodes.CondExpr) -> Any:
        if _is_open(node.test, self._unknown):
            condition, holds = _condition(node.test)
            node.test = nodes.Const(self._way._takes(condition, holds))
        return self.generic_visit(node)

    visit_If = visit_CondExpr = _visit_condition  # the names that Jinja asks for

    def visit_For(self, node: nodes.For) -> Any:  # the name that Jinja asks for
        is_empty = node.else_ and _is_open(node.iter, self._unknown) and not self._way._takes(_loop(node), True)
        names = len(node.target.items) if isinstance(node.target, nodes.Tuple) else 1
        self.generic_visit(node)
        looped = nodes.Filter(node.iter, ONCE, [nodes.Const(names)], [], None, None)
        node.iter = nodes.Const(()) if is_empty else looped
        return node


class _Branches:
    """Numbers the branches of a template, those around a branch before it."""

    def __init__(self, unknown: frozenset[str]) -> None:
        self._unknown = unknown
        self._found: list[_Branch] = []

    def of(self, tree: nodes.Template) -> list[_Branch]:
        self._look(tree, None)
        return self._found

    def _add(self, condition: str, holds: bool, around: int | None) -> int:
        self._found.append(_Branch(condition, holds, around))
        return len(self._found) - 1

    def _look(self, node: nodes.Node, around: int | None) -> None:
        if isinstance(node, nodes.If):
            self._of_if(node, around)
        elif isinstance(node, nodes.CondExpr) and _is_open(node.test, self._unknown):
            condition, holds = _condition(node.test)
            for side in (holds, not holds):
                self._add(condition, side, around)
        elif isinstance(node, nodes.For) and node.else_ and _is_open(node.iter, self._unknown):
            for side, body in ((True, node.body), (False, node.else_)):
                self._look_into(body, self._add(_loop(node), side, around))
        else:
            self._look_into(node.iter_child_nodes(), around)

    def _of_if(self, node: nodes.If, around: int | None) -> None:
        for one in (node, *node.elif_):
            self._look(one.test, around)
            inner = around
            if _is_open(one.test, self._unknown):
                condition, holds = _condition(one.test)
                inner = self._add(condition, holds, around)
                around = self._add(condition, not holds, around)
            self._look_into(one.body, inner)
        self._look_into(node.else_, around)

    def _look_into(self, body: Iterable[nodes.Node], around: int | None) -> None:
        for node in body:
            self._look(node, around)


def _condition(test: nodes.Node) -> tuple[str, bool]:
    """(Text of a condition without `not`, holds). holds: False if a `not` was removed: the branch is the other side."""
    holds = True
    while isinstance(test, nodes.Not):
        test, holds = test.node, not holds
    return str(test), holds


def _loop(node: nodes.For) -> str:
    return f"for {node.iter}"


def _is_open(test: nodes.Node, unknown: frozenset[str]) -> bool:
    """Whether a condition depends on what is not known."""
    return not unknown.isdisjoint(_names(test))


def _names(node: nodes.Node) -> set[str]:
    names = [node] if isinstance(node, _NAMES) else []
    return {str(getattr(name, "name", "")) for name in (*names, *node.find_all(_NAMES))}


def _unknown_names(tree: nodes.Template) -> frozenset[str]:
    """The names whose values depend on the machine: variables that the template reads and does not set, and variables
    that it sets from these.
    """
    unknown = set(meta.find_undeclared_variables(tree))
    if tree.environment is not None:
        unknown -= tree.environment.globals.keys()
    unknown |= {name.name for macro in tree.find_all(nodes.Macro) for name in macro.args}
    unknown |= {name.name for call in tree.find_all(nodes.CallBlock) for name in call.args}
    made_of: dict[str, set[str]] = {}
    for assigned in tree.find_all(nodes.Assign):
        _note(made_of, assigned.target, assigned.node)
    for loop in tree.find_all(nodes.For):
        _note(made_of, loop.target, loop.iter)
    open_ = list(unknown)
    while open_:
        more = made_of.get(open_.pop(), set()) - unknown
        unknown |= more
        open_ += more
    return frozenset(unknown)


def _note(made_of: dict[str, set[str]], target: nodes.Node, source: nodes.Node) -> None:
    """Note under each name of a source the names that are set from it."""
    for name in _names(source):
        made_of.setdefault(name, set()).update(_names(target))

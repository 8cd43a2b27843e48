"""The branches of a Jinja template. Each branch is rendered once where the machine is not known.

`templates` imports it when a template is rendered without instance data, and Jinja2 must be there. A condition is
left as it is where the template alone decides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jinja2 import meta, nodes
from jinja2.runtime import Undefined
from jinja2.visitor import NodeTransformer

MOST = 40
"""How many times one template is rendered at most."""
_NODES = 20_000
"""The most nodes of a template's tree that all its ways have together: a large template has fewer ways."""
ONCE = "nodeattrs_once"
"""The filter that `follow` puts behind what a loop goes over: `once`."""

_NAMES: tuple[type[nodes.Node], ...] = (nodes.Name, nodes.NSRef)
_Side = tuple[str, bool]
"""A condition as text, and whether it holds."""


class Way(NamedTuple):
    """One way through a template.

    chosen:    which conditions hold, by their text
    otherwise: what is taken of all other conditions
    """

    chosen: dict[str, bool]
    otherwise: bool

    def takes(self, sides: Sequence[_Side]) -> bool:
        """Whether the way leads through all of these branches."""
        return all(self.chosen.get(condition, self.otherwise) == holds for condition, holds in sides)


class Ways(NamedTuple):
    """Ways through a template, and how many of its branches none of them leads through."""

    ways: list[Way]
    unseen: int = 0


def ways_of(tree: nodes.Template) -> Ways:
    """Ways that lead through each branch once at least, `MOST` at most; one way where there are no branches.

    A large template has fewer: two at least, which take all conditions or none.
    """
    unseen = 0
    ways, most = [Way({}, True), Way({}, False)], min(MOST, _NODES // sum(1 for _ in tree.find_all(nodes.Node)))
    branches = list(_branches(tree, (), _unknown_names(tree)))
    for sides in branches:
        if any(one.takes(sides) for one in ways) or len(dict(sides)) != len(set(sides)):
            continue
        if len(ways) < most:
            ways.append(Way(dict(sides), True))
        else:
            unseen += 1
    return Ways(ways if branches else ways[:1], unseen)


def follow(tree: nodes.Template, way: Way) -> nodes.Template:
    """The template that has this way alone. The tree is changed."""
    followed: nodes.Template = _Follower(way, _unknown_names(tree)).visit(tree)
    return followed


def once(value: Any, names: int) -> Iterator[Any]:
    """What a loop goes over; of what is not known one element, with as many parts as the loop has names."""
    for row in (value,) if isinstance(value, Undefined) else value:
        yield (row,) * names if names > 1 and isinstance(row, Undefined) else row


class _Follower(NodeTransformer):
    def __init__(self, way: Way, unknown: frozenset[str]) -> None:
        self._way, self._unknown = way, unknown

    def _visit_condition(self, node: nodes.If | nodes.CondExpr) -> Any:
        if _is_open(node.test, self._unknown):
            condition, holds = _condition(node.test)
            node.test = nodes.Const(self._way.takes([(condition, holds)]))
        return self.generic_visit(node)

    visit_If = visit_CondExpr = _visit_condition  # the names that Jinja asks for

    def visit_For(self, node: nodes.For) -> Any:  # the name that Jinja asks for
        is_empty = node.else_ and _is_open(node.iter, self._unknown) and not self._way.takes([_loop(node)])
        names = len(node.target.items) if isinstance(node.target, nodes.Tuple) else 1
        self.generic_visit(node)
        looped = nodes.Filter(node.iter, ONCE, [nodes.Const(names)], [], None, None)
        node.iter = nodes.Const(()) if is_empty else looped
        return node


def _branches(node: nodes.Node, above: tuple[_Side, ...], unknown: frozenset[str]) -> Iterator[tuple[_Side, ...]]:
    """The conditions of each branch, with those around it."""
    if isinstance(node, nodes.If):
        yield from _of_if(node, above, unknown)
    elif isinstance(node, nodes.CondExpr) and _is_open(node.test, unknown):
        condition, holds = _condition(node.test)
        yield from ((*above, (condition, side)) for side in (holds, not holds))
    elif isinstance(node, nodes.For) and node.else_ and _is_open(node.iter, unknown):
        condition, _ = _loop(node)
        for side, body in ((True, node.body), (False, node.else_)):
            yield (*above, (condition, side))
            yield from _inside(body, (*above, (condition, side)), unknown)
    else:
        yield from _inside(node.iter_child_nodes(), above, unknown)


def _of_if(node: nodes.If, above: tuple[_Side, ...], unknown: frozenset[str]) -> Iterator[tuple[_Side, ...]]:
    for one in (node, *node.elif_):
        yield from _branches(one.test, above, unknown)
        inner = above
        if _is_open(one.test, unknown):
            condition, holds = _condition(one.test)
            inner, above = (*above, (condition, holds)), (*above, (condition, not holds))
            yield from (inner, above)
        yield from _inside(one.body, inner, unknown)
    yield from _inside(node.else_, above, unknown)


def _inside(body: Any, above: tuple[_Side, ...], unknown: frozenset[str]) -> Iterator[tuple[_Side, ...]]:
    for node in body:
        yield from _branches(node, above, unknown)


def _condition(test: nodes.Node) -> _Side:
    """The text of a condition, and whether its branch is taken where it holds: `not x` is the other side of `x`."""
    holds = True
    while isinstance(test, nodes.Not):
        test, holds = test.node, not holds
    return str(test), holds


def _loop(node: nodes.For) -> _Side:
    return f"for {node.iter}", True


def _is_open(test: nodes.Node, unknown: frozenset[str]) -> bool:
    """Whether a condition depends on what is not known."""
    return not unknown.isdisjoint(_names(test))


def _names(node: nodes.Node) -> set[str]:
    names = [node] if isinstance(node, _NAMES) else []
    return {str(getattr(name, "name", "")) for name in (*names, *node.find_all(_NAMES))}


def _unknown_names(tree: nodes.Template) -> frozenset[str]:
    """The names whose values depend on the machine: those that the template does not set, and what it makes of them."""
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

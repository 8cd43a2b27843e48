"""Which names of a Python source mean what: scopes, bindings, and what was put into a value after it was bound.

It parses and never runs. It knows no values: what a name is bound to is an expression, and the
way from there to the part that is meant.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from nodeattrs.formats.python import LEAVES, inside


class _Any:
    """A step that is not known: an element of what a loop runs over, or an entry at a computed key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


EACH, SOME, REST = _Any("each"), _Any("some"), _Any("rest")
"""What a loop gets of each round; what stands at a key or index that is computed; the list that a `*name` takes."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = {*_FUNCTIONS, ast.ClassDef, *_LOOPS}
_NOTED = {
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Call, ast.Return, ast.Yield),
}
"""What binds a name, puts something into a value or gives it: the least of all that is written."""
_ADDS: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("append", "add", "appendleft", "push", "insert"), (SOME,)),
    **dict.fromkeys(("extend", "concat", "update", "extendleft", "setdefault"), ()),
}
"""Methods that put their argument into what they are called on, and the steps to it."""


class Binding(NamedTuple):
    """What a name may mean: an expression, or a definition, and the steps from its value to the part that is meant."""

    value: ast.AST
    steps: tuple[object, ...] = ()


class Addition(NamedTuple):
    """Something that was put into a value after it was bound: where that stands, the steps to it, and what it is."""

    site: ast.AST
    into: tuple[object, ...]
    value: Binding


class Scope:
    """A module, class, function or comprehension, and the names that it binds."""

    def __init__(self, node: ast.AST, above: Scope | None) -> None:
        self.node = node
        self.above = above
        self.names: dict[str, list[Binding]] = defaultdict(list)

    def holding(self, name: str) -> Scope | None:
        """The scope that a name is looked up in from here; None for a name that nothing binds."""
        here: Scope | None = self
        while here is not None and (name not in here.names or (here is not self and here.is_class)):
            here = here.above
        return here

    @property
    def is_class(self) -> bool:
        """Whether its names are attributes and not seen from the functions in it."""
        return isinstance(self.node, ast.ClassDef)


class Scopes:
    """The scopes of one source, by node.

    attributes: name of an attribute -> what is bound to it anywhere: in classes, and by `x.name = ...`
    added:      root name, or ".attribute" -> where something was put into it, and what
    calls:      name of what is called -> the calls
    results:    function -> what it returns or yields; those that yield are `generators`
    passed:     a function that stands in a call, or the name of one -> the calls that it is an argument of
    fields:     name of a class -> the fields that it declares, in the order in which it is called with them
    decorated:  name of a decorator -> the functions that it stands above
    cost:       one visit of every node
    """

    def __init__(self, tree: ast.AST) -> None:
        self.attributes: dict[str, list[Binding]] = defaultdict(list)
        self.added: dict[str, list[Addition]] = defaultdict(list)
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)
        self.results: dict[ast.AST, list[ast.expr]] = defaultdict(list)
        self.generators: set[ast.AST] = set()
        self.passed: dict[ast.AST | str, list[ast.Call]] = defaultdict(list)
        self.decorated: dict[str, list[ast.AST]] = defaultdict(list)
        self.fields: dict[str, list[str]] = {}
        self._of: dict[ast.AST, Scope] = {}
        self._top = Scope(tree, None)
        self._visit(tree, self._top)

    def of(self, node: ast.AST) -> Scope:
        """The scope in which a node stands; a function stands in the one around it."""
        return self._of.get(node, self._top)

    def function_of(self, node: ast.AST) -> ast.AST | None:
        """The function around a node; None at the top of a module, or in the body of a class there."""
        found = _function(self.of(node))
        return found if isinstance(found, _FUNCTIONS) else None

    def heirs(self, name: str) -> list[str]:
        """The classes here that stand on one of that name."""
        found = (node for node in self._of if isinstance(node, ast.ClassDef))
        return [one.name for one in found if name in map(name_of, one.bases)]

    def additions(self, root: str, scope: Scope | None) -> Iterator[Addition]:
        """What was put into the value of a name of that scope, or into any attribute of that name (scope None)."""
        for one in self.added.get(root, ()):
            if scope is None or self.of(one.site).holding(root) is scope:
                yield one

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        self._of[node] = scope
        if type(node) in _NOTED:
            self._note(node, scope)
        if type(node) in _SCOPES:
            scope = Scope(node, scope)
            if isinstance(node, _FUNCTIONS):
                for argument in _arguments(node):
                    scope.names[argument.arg].append(Binding(argument))
        for child in inside(node):
            if type(child) in LEAVES:
                self._of[child] = scope
            else:
                self._visit(child, scope)

    def _note(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign():
                self._assign(node, scope)
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                self._bind(node.target, Binding(value), _outside(scope) if isinstance(node, ast.NamedExpr) else scope)
            case ast.AugAssign():
                self._add(node, node.target, Binding(node.value))
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind(node.target, Binding(node.iter, (EACH,)), scope)
            case ast.withitem(optional_vars=ast.expr() as target):
                self._bind(target, Binding(node.context_expr), scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._define(node, scope)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    scope.names[alias.asname or alias.name.partition(".")[0]].append(Binding(node, (alias,)))
            case ast.Call():
                self._call(node)
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                self.results[_function(scope)].append(value)
                if isinstance(node, ast.Yield):
                    self.generators.add(_function(scope))

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        """Bind each target; `Point = namedtuple("Point", "x y")` declares fields too."""
        for target in node.targets:
            self._bind(target, Binding(node.value), scope)
        match node.value:
            case ast.Call(args=[_, ast.Constant(value=str() as names)]) if name_of(node.value.func) == "namedtuple":
                for target in node.targets:
                    self.fields[name_of(target)] = names.replace(",", " ").split()

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope) -> None:
        self._bind(ast.Name(node.name), Binding(node), scope)
        self.fields[node.name] = [name_of(one.target) for one in node.body if isinstance(one, ast.AnnAssign)]
        for one in node.decorator_list:
            self.decorated[name_of(one.func if isinstance(one, ast.Call) else one)].append(node)

    def _bind(self, target: ast.AST, binding: Binding, scope: Scope) -> None:
        match target:
            case ast.Name():
                scope.names[target.id].append(binding)
                if scope.is_class:
                    self.attributes[target.id].append(binding)
            case ast.Attribute():
                self.attributes[target.attr].append(binding)
            case ast.Tuple() | ast.List():
                starred = any(isinstance(one, ast.Starred) for one in target.elts)
                for index, one in enumerate(target.elts):
                    step = SOME if starred else index
                    self._bind(one, binding._replace(steps=(*binding.steps, step)), scope)
            case ast.Starred():
                self._bind(target.value, binding._replace(steps=(*binding.steps[:-1], REST)), scope)
            case ast.Subscript():
                self._add(target, target.value, binding, tuple(map(step_of, slices_of(target))))

    def _call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        self.calls[name].append(node)
        for argument in [*node.args, *(one.value for one in node.keywords)]:
            if isinstance(argument, (ast.Lambda, ast.Name, ast.Attribute)):
                self.passed[name_of(argument) or argument].append(node)
        if isinstance(node.func, ast.Attribute) and name in _ADDS:
            steps = _ADDS[name]
            if name == "setdefault" and node.args:
                steps = (step_of(node.args[0]),)
            for argument in node.args[1:] if name == "setdefault" else node.args:
                self._add(node, node.func.value, Binding(argument), steps)
            for keyword in node.keywords:
                self._add(node, node.func.value, Binding(keyword.value), (keyword.arg,) if keyword.arg else ())

    def _add(self, site: ast.AST, target: ast.expr, value: Binding, into: tuple[object, ...] = ()) -> None:
        """Note that a value was put into *target*, *into* steps deep."""
        while True:
            match target:
                case ast.Subscript():
                    into, target = (*map(step_of, slices_of(target)), *into), target.value
                case ast.Call(func=ast.Attribute(attr="setdefault", value=below), args=[key, *_]):
                    into, target = (step_of(key), *into), below
                case _:
                    break
        root = target.id if isinstance(target, ast.Name) else f".{name_of(target)}"
        self.added[root].append(Addition(site, into, value))


def _function(scope: Scope) -> ast.AST:
    here: Scope | None = scope
    while here is not None and not isinstance(here.node, _FUNCTIONS):
        here = here.above
    return scope.node if here is None else here.node


def _outside(scope: Scope) -> Scope:
    while isinstance(scope.node, _LOOPS) and scope.above is not None:
        scope = scope.above
    return scope


def _arguments(function: Function) -> list[ast.arg]:
    its = function.args
    more = [one for one in (its.vararg, its.kwarg) if one is not None]
    return [*its.posonlyargs, *its.args, *its.kwonlyargs, *more]


def name_of(node: ast.AST) -> str:
    """The last name of what is called or read: `c` of `a.b.c`; "" where it has none."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def step_of(node: ast.AST) -> object:
    """The key that is written out in a subscript; SOME for a computed one, or one counted from the end."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int)):
        return node.value
    return SOME


def slices_of(node: ast.Subscript) -> list[ast.expr]:
    """The steps of a subscript, each as it is written: `x["a", "b"]` has two."""
    return node.slice.elts or [node.slice] if isinstance(node.slice, ast.Tuple) else [node.slice]


def fits(one: object, two: object) -> bool:
    """Whether two steps may be the same."""
    return one is SOME or two is SOME or one is EACH or two is EACH or (type(one) is type(two) and one == two)


def anywhere(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The path without the index: whatever stands there may have stood at another one."""
    return (SOME, *path[1:]) if path and isinstance(path[0], int) else path


def joined(steps: tuple[object, ...], path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The way to a part of what a name is bound to."""
    if steps[-1:] == (REST,):
        return (*steps[:-1], *anywhere(path))
    return (*steps, *path)

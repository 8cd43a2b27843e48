"""The scopes of a Python source: the bindings of each name, and the values that are put into another value later.

A *binding* of a name is an expression and a path in its value, where the value of the name is. In `a, b = x`, b is
bound to the expression x with the path (1,). Nothing runs, and no values are computed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple


class _Any:
    """A step that is not known; its instances are the constants below."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


EACH, SOME, REST = _Any("each"), _Any("some"), _Any("rest")
"""Steps that are not known: an element that a loop runs over; the entry at a computed key or index; the list that a
`*name` takes."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = {*_FUNCTIONS, ast.ClassDef, *_LOOPS}
_NOTED = {
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Call, ast.Return, ast.Yield),
}
"""The syntax nodes that bind a name, put a value into another one, or return one."""
_ADDS: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("append", "add", "appendleft", "push", "insert"), (SOME,)),
    **dict.fromkeys(("extend", "concat", "update", "extendleft", "setdefault"), ()),
}
"""Methods that put their argument into what they are called on, and the steps to it."""


class Binding(NamedTuple):
    """A possible meaning of a name.

    value: an expression or a definition
    steps: the path from its value to the value of the name
    """

    value: ast.AST
    steps: tuple[object, ...] = ()


class Addition(NamedTuple):
    """A value that is put into a list or map after the list or map was bound to a name: `x["a"] = 1`, `x.append(1)`.

    site:  the statement or call that does it
    into:  the path of the new value in the list or map
    value: the new value
    """

    site: ast.AST
    into: tuple[object, ...]
    value: Binding


class _NameScope:
    """A module, class, function or comprehension, with the names that it binds. `Scopes` creates it and fills `names`.

    node:  its syntax node
    above: the scope around it; None for a module
    names: name -> the bindings of the name in this scope alone, in the order of the text; a defaultdict

    `scope_of_name` finds the scope that binds a name, this one or one around it, by Python's rules. It gives None if no
    scope binds the name, as for a built-in function.
    """

    def __init__(self, node: ast.AST, above: _NameScope | None) -> None:
        self.node = node
        self.above = above
        self.names: dict[str, list[Binding]] = defaultdict(list)

    def scope_of_name(self, name: str) -> _NameScope | None:
        """The scope that defines *name*, as seen from here, by Python's rules; None where no scope does."""
        here: _NameScope | None = self
        while here is not None and (name not in here.names or (here is not self and here.is_class)):
            here = here.above
        return here

    @property
    def is_class(self) -> bool:
        """Whether the scope is a class, whose names inner functions do not see."""
        return isinstance(self.node, ast.ClassDef)


class Scopes:
    """The scopes of one source, with indexes of its bindings and calls. The constructor visits the tree once.

    `of(node)` gives the scope around a node, and `function_of(node)` the function, or None. `subclasses(name)` gives
    the names of the classes that have this class as a base. `additions(name, scope)` yields what was put into the list
    or map of a name. The constructor fills all fields. A name that does not occur is not in them.

    attributes: name of an attribute -> its bindings, in classes and by `x.name = ...`
    added:      name of a variable, or ".name" for an attribute -> the values that were put into its list or map
    calls:      name of a called function -> the calls
    results:    function -> the expressions that it returns or yields
    generators: the functions that yield
    passed:     function, or name of a function -> the calls that have it as an argument
    fields:     name of a class -> its declared fields, in the order of its arguments
    decorated:  name of a decorator -> the functions and classes that it decorates
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
        self._of: dict[ast.AST, _NameScope] = {}
        self._top = _NameScope(tree, None)
        self._visit(tree, self._top)

    def of(self, node: ast.AST) -> _NameScope:
        """The scope that contains a node; for a function the scope around it; the module for an unknown node."""
        return self._of.get(node, self._top)

    def function_of(self, node: ast.AST) -> ast.AST | None:
        """The function around a node; None for a node that is in no function."""
        found = _function(self.of(node))
        return found if isinstance(found, _FUNCTIONS) else None

    def subclasses(self, name: str) -> list[str]:
        """The names of the classes in this source with the class *name* as a base; [] for none."""
        found = (node for node in self._of if isinstance(node, ast.ClassDef))
        return [one.name for one in found if name in map(name_of, one.bases)]

    def additions(self, root: str, scope: _NameScope | None) -> Iterator[Addition]:
        """Yield the values that were put into a name of *scope*; with None, into any attribute of the name *root*."""
        for one in self.added.get(root, ()):
            if scope is None or self.of(one.site).scope_of_name(root) is scope:
                yield one

    def _visit(self, node: ast.AST, scope: _NameScope) -> None:
        self._of[node] = scope
        if type(node) in _NOTED:
            self._note(node, scope)
        if type(node) in _SCOPES:
            scope = _NameScope(node, scope)
            if isinstance(node, _FUNCTIONS):
                for argument in _arguments(node):
                    scope.names[argument.arg].append(Binding(argument))
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)

    def _note(self, node: ast.AST, scope: _NameScope) -> None:
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

    def _assign(self, node: ast.Assign, scope: _NameScope) -> None:
        """Bind each target; `Point = namedtuple("Point", "x y")` declares fields too."""
        for target in node.targets:
            self._bind(target, Binding(node.value), scope)
        match node.value:
            case ast.Call(args=[_, ast.Constant(value=str() as names)]) if name_of(node.value.func) == "namedtuple":
                for target in node.targets:
                    self.fields[name_of(target)] = names.replace(",", " ").split()

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: _NameScope) -> None:
        self._bind(ast.Name(node.name), Binding(node), scope)
        self.fields[node.name] = [name_of(one.target) for one in node.body if isinstance(one, ast.AnnAssign)]
        for one in node.decorator_list:
            self.decorated[name_of(one.func if isinstance(one, ast.Call) else one)].append(node)

    def _bind(self, target: ast.AST, binding: Binding, scope: _NameScope) -> None:
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


def parsed(text: str) -> ast.Module:
    """The syntax tree of a Python source; a tree without statements for a text that is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _function(scope: _NameScope) -> ast.AST:
    here: _NameScope | None = scope
    while here is not None and not isinstance(here.node, _FUNCTIONS):
        here = here.above
    return scope.node if here is None else here.node


def _outside(scope: _NameScope) -> _NameScope:
    while isinstance(scope.node, _LOOPS) and scope.above is not None:
        scope = scope.above
    return scope


def _arguments(function: Function) -> list[ast.arg]:
    its = function.args
    more = [one for one in (its.vararg, its.kwarg) if one is not None]
    return [*its.posonlyargs, *its.args, *its.kwonlyargs, *more]


def name_of(node: ast.AST) -> str:
    """The last name of a name or an attribute expression: `c` of `a.b.c`; "" for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def step_of(node: ast.AST) -> object:
    """The constant key of a subscript; SOME for a computed one, and for a negative index."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int)):
        return node.value
    return SOME


def slices_of(node: ast.Subscript) -> list[ast.expr]:
    """The steps of a subscript, as expressions: `x["a", "b"]` has two."""
    return node.slice.elts or [node.slice] if isinstance(node.slice, ast.Tuple) else [node.slice]


def may_equal(one: object, two: object) -> bool:
    """Whether two steps are equal, or one of them is SOME or EACH."""
    return one is SOME or two is SOME or one is EACH or two is EACH or (type(one) is type(two) and one == two)


def with_any_index(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """*path* with SOME in place of its first step, if that is an index: the element may have moved."""
    return (SOME, *path[1:]) if path and isinstance(path[0], int) else path


def path_into(steps: tuple[object, ...], path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The steps of a binding, then *path*. If the last step is REST, it is left out, and a first index of *path* is
    SOME.
    """
    if steps[-1:] == (REST,):
        return (*steps[:-1], *with_any_index(path))
    return (*steps, *path)

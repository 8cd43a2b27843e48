"""Find the expressions in Python sources that a value comes from; nothing runs.

A name is traced to its bindings, through loops, arguments, results of functions and changes of a list or map. The path
says which part of the value is traced. The results are expressions: a literal, an attribute of a node, or a call that
reads a document. Where a name has several bindings, only a literal with the given value counts.

An attribute is recognized by the name `node`, and a document by the name of a function that reads it, such as
`read_json`. No file is read here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, product
from typing import Any, NamedTuple

from nodeattrs.causes.scopes import (
    EACH,
    SOME,
    Addition,
    Binding,
    Function,
    Scopes,
    may_equal,
    name_of,
    path_into,
    slices_of,
    step_of,
    with_any_index,
)
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.formats.python import PythonText

_MOST_FRAMES, _MOST_DEPTH = 30, 2
_MOST_VISITS, _MOST_FOUND, _MOST_KEYS, _MOST_STEPS = 4_000, 40, 12, 24
_MOST_UNKNOWN = 3
"""The most computed steps in the path of an attribute."""

_LEVELS = frozenset({"default", "force_default", "normal", "override", "force_override", "automatic"})
_STEPPERS = frozenset({"read", "read_strict", "dig", "walk", "fetch"})
_SAME = frozenset({"copy", "deepcopy", "dict", "list", "tuple", "Sensitive", "OrderedDict", "MappingProxyType", "str",
                   "int", "float", "strip", "iter", "next", "lazy", "to_dict", "to_list", "to_plain", "unwrap",
                   "asdict", "vars", "_asdict", "run", "result", "cast", "freeze", "Symbol", "Path"})  # fmt: skip
"""Calls whose result has the same paths as their argument, or as the object they are called on."""
_SHUFFLED = frozenset({"sorted", "reversed", "set", "frozenset", "filter", "islice", "deque", "chain", "max", "min"})
"""Calls that return elements of their arguments in any order."""
_DOCUMENTS = frozenset({"read_json", "read_yaml", "read_toml", "data_bag_item", "load", "loads", "safe_load"})
_LOOKUPS = frozenset({"lookup", "inject", "parameters", "search"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class ParsedCode:
    """A Python source that was parsed, with its scopes.

    file:   the name of the file, as its code objects have it
    text:   the PythonText, which has the source and its syntax tree
    scopes: the `Scopes` of the source, computed at the first use and kept; empty if the text is not valid Python
    """

    def __init__(self, text: PythonText) -> None:
        self.file = text.file
        self.text = text

    @cached_property
    def scopes(self) -> Scopes:
        """The scopes of the source and their names; empty where the text is no Python."""
        return Scopes(self.text.tree)


class Frame(NamedTuple):
    """A call on the way to an expression: it gives the values of the parameters of a function.

    function: the function that is called; None where it is not known
    code:     the source with the call
    call:     the call; None where it is not in a known source
    """

    function: Function | None
    code: ParsedCode
    call: ast.Call | None


Context = tuple[Frame, ...]


class SourceExpression(NamedTuple):
    """An expression that a value comes from.

    what:    the kind of expression. "literal": a constant. "attribute": an attribute of a node is read. "document": a
             call reads a document. "lookup": a call looks up a key. "function": a function or class is the value
    code:    the source that has the expression
    node:    the syntax node of the literal, the attribute, the call or the definition
    path:    the path of the attribute, or the path in the document; () for a literal. A computed step is SOME
    exact:   True: the value is equal to the expression; False: the value is computed from it
    context: the calls through which the expression was reached, innermost first
    """

    what: str
    code: ParsedCode
    node: ast.expr
    path: tuple[Any, ...]
    exact: bool
    context: Context


class Flow:
    """Finds the expressions that one value comes from: `Flow(value).sources(code, expression, path)`.

    Call `sources(code, start, path)` on a new object for each value. If it finds sources that are equal to the value,
    it returns only these; otherwise, it returns the sources that the value is computed from. It returns at most 40
    sources, and [] if it finds none. An object remembers the syntax nodes it has visited and limits their number. At
    the limit, the search stops without an error.

    value:   the value to trace. ABSENT: the value is not known, and sources of any value are returned
    imports: called with (module name, importing file), returns the ParsedCode of the module; None for an unknown
             module. By default no module is known
    depth:   0 for a caller's search. To find a key that is computed, or the function that a call means, a search
             starts another one with a depth of one more. From depth 2 on it finds no keys, from depth 3 on no functions
    """

    def __init__(
        self, value: Any, imports: Callable[[str, str], ParsedCode | None] = lambda name, file: None, depth: int = 0
    ) -> None:
        self._value = value
        self._imports = imports
        self._depth = depth
        self._functions = False
        self._codes: dict[str, ParsedCode] = {}
        self._defined_by: dict[tuple[Any, ...], list[tuple[ParsedCode, ast.AST]]] = {}
        self._left = [_MOST_VISITS]
        self._been: dict[tuple[Any, ...], ast.AST] = {}  # nodes are kept, so that no other one gets their identity
        self._code: ParsedCode
        self._context: Context
        self._exact = True

    def _further(self) -> Flow:
        """A new tracer for another expression, of any value. Both share one limit of visits."""
        asked = Flow(ABSENT, self._imports, self._depth + 1)
        asked._left, asked._codes, asked._defined_by = self._left, self._codes, self._defined_by
        return asked

    def sources(
        self, code: ParsedCode, start: ast.AST, path: Path, context: Context = (), stores: bool = False
    ) -> list[SourceExpression]:
        """The expressions that the value of *start*, or its part at *path*, comes from; [] if none is found.

        If some are exact, only these are returned. There are at most 40, each once. [] also for expressions that are
        nested too deeply for Python.

        code:    the source that has *start*
        start:   the syntax node to begin at: an expression, or a call
        path:    the path of the part; () for the whole value
        context: the calls that led to the expression, innermost first
        stores:  True: *start* is a call that stores its arguments, and these are traced instead of its result
        """
        self._codes |= {one.file: one for one in (code, *(frame.code for frame in context))}
        asked = (
            self._stored(start, path) if stores and isinstance(start, ast.Call) else self._sources_of_node(start, path)
        )
        try:
            found = list(self._in(code, context, asked))[:_MOST_FOUND]
        except RecursionError:  # expressions nested too deeply to be written by hand
            return []
        certain = [one for one in found if one.exact]
        return list(dict.fromkeys(certain or found))

    def _in(
        self, code: ParsedCode, context: Context, found: Iterable[SourceExpression], exact: bool = True
    ) -> Iterator[SourceExpression]:
        """Yield from *found*, and meanwhile trace in the source *code* under the calls of *context*.

        exact: False: the sources count as computed
        """
        after = iter(found)
        while True:
            before = getattr(self, "_code", code), getattr(self, "_context", context), self._exact
            self._code, self._context, self._exact = code, context, before[2] and exact
            try:
                one = next(after, None)
            finally:
                self._code, self._context, self._exact = before
            if one is None:
                return
            yield one

    def _stored(self, node: ast.Call, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        for keyword in node.keywords:
            if keyword.arg is None or (path and keyword.arg == path[0]):
                yield from self._sources_of_node(keyword.value, path if keyword.arg is None else path[1:])
        for argument in reversed(node.args):
            found = list(self._sources_of_node(argument, path))
            yield from found
            if any(one.exact for one in found):
                return

    def _sources_of_node(self, node: ast.AST, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        key = (id(node), path, tuple(map(id, (one.call for one in self._context))), self._exact)
        if key in self._been or not self._left[0] or len(path) > _MOST_STEPS:
            return
        self._left[0] -= 1
        self._been[key] = node
        yield from getattr(self, f"_{type(node).__name__}", self._other)(node, path)

    def _found(self, what: str, node: Any, path: tuple[Any, ...] = ()) -> SourceExpression:
        return SourceExpression(what, self._code, node, path, self._exact, self._context)

    def _computed(self, nodes: Iterable[ast.AST]) -> Iterator[SourceExpression]:
        for node in nodes:
            yield from self._in(self._code, self._context, self._sources_of_node(node, ()), exact=False)

    def _other(self, node: ast.AST, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """The sources of any other expression, whose value is computed from its parts."""
        if isinstance(node, ast.expr):
            yield from self._computed(one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))

    # Literals

    def _Constant(self, node: ast.Constant, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        same = self._value is ABSENT or not self._exact or str(node.value) == str(self._value)
        if not path and same:
            yield self._found("literal", node)

    def _JoinedStr(self, node: ast.JoinedStr, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._computed(one.value for one in node.values if isinstance(one, ast.FormattedValue))

    def _Dict(self, node: ast.Dict, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path:
            yield from self._literal_sources(node, [*node.keys, *node.values])
            return
        for key, value in reversed(list(zip(node.keys, node.values, strict=True))):
            if key is None:
                yield from self._sources_of_node(value, path)
            elif path[0] is EACH:
                yield from self._sources_of_node(key, path[1:])
            elif may_equal(step_of(key), path[0]):
                found = list(self._sources_of_node(value, path[1:]))
                yield from found
                if found and step_of(key) == path[0]:
                    return  # the last one counts

    def _elements(self, node: ast.List | ast.Tuple | ast.Set, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path:
            yield from self._literal_sources(node, node.elts)
            return
        starred = any(isinstance(one, ast.Starred) for one in node.elts)
        for index, one in enumerate(node.elts):
            if isinstance(one, ast.Starred):
                yield from self._sources_of_node(one.value, (EACH, *path[1:]))
            elif isinstance(path[0], str):
                yield from self._sources_of_node(one, (1, *path[1:]))  # pairs of which a map is made
            elif starred or path[0] in (EACH, SOME, index) or index == len(node.elts):
                yield from self._sources_of_node(one, path[1:])

    _List = _Tuple = _Set = _elements

    def _literal_sources(self, node: ast.expr, parts: Iterable[ast.AST | None]) -> Iterator[SourceExpression]:
        """A map or list literal as a source; if the value is only computed from it, the sources of its parts."""
        if not self._exact:
            yield from self._computed(one for one in parts if one is not None)
        elif self._value is ABSENT or isinstance(self._value, (dict, list)):
            yield self._found("literal", node)

    # Forms that give what stands in them

    def _Starred(
        self, node: ast.Starred | ast.NamedExpr | ast.Await, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        yield from self._sources_of_node(node.value, path)

    _NamedExpr = _Await = _Starred

    def _IfExp(self, node: ast.IfExp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._sources_of_node(node.body, path)
        yield from self._sources_of_node(node.orelse, path)

    def _BoolOp(self, node: ast.BoolOp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        for one in node.values:
            yield from self._sources_of_node(one, path)

    def _BinOp(self, node: ast.BinOp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path and not isinstance(self._value, (dict, list)):
            yield from self._computed((node.left, node.right))
            return
        for one in (node.right, node.left):
            yield from self._sources_of_node(one, with_any_index(path))

    def _ListComp(self, node: ast.ListComp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._sources_of_node(node.elt, path[1:])

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._sources_of_node(node.key if path[:1] == (EACH,) else node.value, path[1:])

    def _Subscript(self, node: ast.Subscript, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if isinstance(node.slice, ast.Slice):
            yield from self._sources_of_node(node.value, with_any_index(path))
            return
        for steps in product(*map(self._keys, slices_of(node))):
            yield from self._sources_of_node(node.value, (*steps, *path))

    def _step(self, node: ast.expr) -> Any:
        """The value of a key; SOME if it may have several values."""
        keys = self._keys(node)
        return keys[0] if len(keys) == 1 else SOME

    def _keys(self, node: ast.expr) -> list[Any]:
        """The values that a key may have: a constant, or the constants that it comes from; [SOME] for none or many."""
        step = step_of(node)
        if step is not SOME or isinstance(node, ast.UnaryOp) or self._depth >= _MOST_DEPTH:
            return [step]
        asked = self._further()
        found = {
            one.node.value
            for one in asked.sources(self._code, node, (), self._context)
            if one.exact and isinstance(one.node, ast.Constant) and isinstance(one.node.value, (str, int))
        }
        return sorted(found, key=str) if 0 < len(found) <= _MOST_KEYS else [SOME]

    # Names

    def _Name(self, node: ast.Name, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        scope = self._code.scopes.of(node).scope_of_name(node.id)
        bound = scope.names[node.id] if scope is not None else ()
        if _reads(node.id, bound):
            if path and path.count(SOME) + path.count(EACH) <= _MOST_UNKNOWN:
                yield self._found("attribute", node, path)
        elif scope is not None:
            yield from self._sources_of_name(
                self._code, _likeliest_first(bound, node), self._code.scopes.additions(node.id, scope), path
            )

    def _sources_of_name(
        self, code: ParsedCode, bound: Iterable[Binding], added: Iterable[Addition], path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of a name: of the values that it was bound to, and of those put into these values later."""
        added = list(added)
        for binding in bound:
            yield from self._bound(binding, with_any_index(path) if added else path)
        for one in added:
            yield from self._added(one.into, one.value, path)

    def _added(self, into: tuple[object, ...], value: Binding, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if not path and not self._exact:
            yield from self._sources_of_node(value.value, value.steps)
        if len(path) < len(into) or not all(map(may_equal, into, path)) or (not path and self._exact):
            return
        rest = path[len(into) :]
        yield from self._bound(value, rest if into else with_any_index(rest))

    def _bound(self, binding: Binding, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        match binding.value:
            case ast.arg():
                yield from self._parameter(binding.value, path)
            case ast.ImportFrom():
                yield from self._imported(binding.value, binding.steps[0], path)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() as definition:
                yield from self._defined(definition, path)
            case ast.expr() as value:
                yield from self._sources_of_node(value, path_into(binding.steps, path))

    def _defined(self, definition: ast.AST, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """A function or class as a source; for a property, the sources of its result."""
        if self._functions:
            yield self._found("function", definition)
        elif any("property" in name_of(one) for one in getattr(definition, "decorator_list", ())):
            yield from self._result(self._code, definition, None, path)

    def _Lambda(self, node: ast.Lambda, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        yield from self._defined(node, path)

    def _imported(self, node: ast.ImportFrom, alias: Any, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        code = self._module_at("." * node.level + (node.module or ""))
        if code is not None:
            yield from self._global(code, alias.name, path)

    def _global(self, code: ParsedCode, name: str, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """The sources of a global name of another source."""
        scope = code.scopes.of(code.text.tree)
        meant = self._sources_of_name(code, scope.names.get(name, ()), code.scopes.additions(name, scope), path)
        yield from self._in(code, (), meant)

    def _module_at(self, name: str) -> ParsedCode | None:
        code = self._imports(name, self._code.file)
        if code is not None:
            self._codes[code.file] = code
        return code

    def _Attribute(self, node: ast.Attribute, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        if isinstance(node.value, ast.Name) and node.value.id == "node" and node.attr in _LEVELS:
            yield from self._sources_of_node(node.value, path)
            return
        if node.attr in ("value", "name") and not self._code.scopes.attributes.get(node.attr):
            yield from self._sources_of_node(node.value, path)  # of an enumeration
        module = self._module(node.value)
        if module is not None:
            yield from self._global(module, node.attr, path)
            return
        for code, definition in self._classes(node.value):
            bound = code.scopes.attributes.get(node.attr, ())
            its = [one for one in bound if definition is None or self._is_in(code, one.value, definition)]
            added = code.scopes.additions(f".{node.attr}", None)
            yield from self._in(code, self._context, self._sources_of_name(code, its, added, path))
            yield from self._built(code, definition, node.attr, path)

    def _module(self, node: ast.expr) -> ParsedCode | None:
        """The module that an expression names; None if it names none, or an unknown one."""
        if not isinstance(node, ast.Name) or (scope := self._code.scopes.of(node).scope_of_name(node.id)) is None:
            return None
        for value, steps in scope.names[node.id]:
            alias: Any = steps[0] if steps else None
            if isinstance(value, ast.Import):
                return self._module_at(alias.name)
            if isinstance(value, ast.ImportFrom):
                return self._module_at("." * value.level + f"{value.module or ''}.{alias.name}".strip("."))
        return None

    def _classes(self, node: ast.expr) -> list[tuple[ParsedCode, ast.AST | None]]:
        """(source, class) for each class that an expression names or makes. Without one, (this source, None): any."""
        if isinstance(node, ast.Name) and (its := self._own_class(node)) is not None:
            return [(self._code, its)]
        made = node.func if isinstance(node, ast.Call) else node
        found: list[tuple[ParsedCode, ast.AST | None]] = [
            (code, one) for code, one in self._definitions(made, True) if isinstance(one, ast.ClassDef)
        ]
        return found or [(self._code, None)]

    def _own_class(self, node: ast.Name) -> ast.AST | None:
        """The class around a method, if the name is the first parameter of the method, such as `self`; else None."""
        scope = self._code.scopes.of(node).scope_of_name(node.id)
        arguments = getattr(scope.node, "args", None) if scope is not None else None
        above = scope.above if scope is not None else None
        is_first = arguments is not None and arguments.args[:1] and arguments.args[0].arg == node.id
        return above.node if is_first and above is not None and above.is_class else None

    def _definitions(self, node: ast.AST, made: bool = False) -> list[tuple[ParsedCode, ast.AST]]:
        """The (source, function or class) pairs that an expression may be; [] for none, and in a circle.

        made: True: also the classes whose call may have made its value
        cost: computed once for each expression under the same calls
        """
        key = (id(node), made, *(id(frame.call) for frame in self._context))
        if key not in self._defined_by and self._depth <= _MOST_DEPTH:
            self._defined_by[key] = []
            self._defined_by[key] = self._sought(node, made)
        return self._defined_by.get(key, [])

    def _sought(self, node: ast.AST, made: bool) -> list[tuple[ParsedCode, ast.AST]]:
        if isinstance(node, ast.Attribute) and self._module(node.value) is None:
            return [
                (code, one.value)
                for code, definition in self._classes(node.value)
                for one in code.scopes.attributes.get(node.attr, ())
                if isinstance(one.value, _DEFINITIONS)
                and (definition is None or self._is_in(code, one.value, definition))
            ]
        asked = self._further()
        asked._functions = True
        found = [one for one in asked.sources(self._code, node, (), self._context) if one.what == "function"]
        if made and not found and isinstance(node, ast.Name):
            scope = self._code.scopes.of(node).scope_of_name(node.id)
            calls = [one.value for one in scope.names[node.id]] if scope is not None else []
            return [each for one in calls if isinstance(one, ast.Call) for each in (self._definitions(one.func, True))]
        return [(one.code, one.node) for one in found]

    def _is_in(self, code: ParsedCode, node: ast.AST, definition: ast.AST) -> bool:
        """Whether a syntax node is in a class, or in a base of the class in the same file."""
        bases = {name_of(one) for one in getattr(definition, "bases", ())}
        here = code.scopes.of(node)
        while here.above is not None:
            if here.node is definition or getattr(here.node, "name", None) in bases:
                return True
            here = here.above
        return False

    def _built(
        self, code: ParsedCode, definition: ast.AST | None, name: str, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of an attribute that was an argument when the instance was made: `Point(x=1).x`.

        Positional arguments are matched with the declared fields of the class.
        """
        made = getattr(definition, "name", None)
        declared = [each for one in self._codes.values() for each in one.scopes.fields.items()]
        places = {each: its.index(name) for each, its in declared if name in its and made in (None, each)}
        for site in list(self._codes.values()):
            calls = chain.from_iterable(site.scopes.calls.values()) if made is None else site.scopes.calls.get(made, ())
            for call in calls:
                at = places.get(name_of(call.func), len(call.args))
                for one in [*(one.value for one in call.keywords if one.arg == name), *call.args[at : at + 1]]:
                    yield from self._in(site, self._context, self._sources_of_node(one, path))

    # Calls

    def _Call(self, node: ast.Call, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        name, on = name_of(node.func), node.func.value if isinstance(node.func, ast.Attribute) else None
        defined = self._definitions(node.func)
        functions = [(code, one) for code, one in defined if not isinstance(one, ast.ClassDef)]
        if self._functions and not functions:
            return
        if functions:
            for code, function in functions:
                yield from self._result(code, function, node, path)
        elif defined:
            yield from self._instance(node, path)
        elif name in _DOCUMENTS:
            yield self._found("document", node, path)
        elif name in _LOOKUPS and on is None:
            yield self._found("lookup", node, path)
        else:
            yield from self._known(node, name, on, path)

    def _instance(self, node: ast.Call, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """The sources of a field of a new object; *path* has its name or index first."""
        fields = [each for one in self._codes.values() for each in one.scopes.fields.get(name_of(node.func), ())]
        for name in path[:1]:
            field = fields[name] if isinstance(name, int) and name < len(fields) else name
            if isinstance(field, str):
                yield from self._Attribute(ast.Attribute(node, field, ast.Load()), path[1:])

    def _known(
        self, node: ast.Call, name: str, on: ast.expr | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of a call of a common function or method, such as `get`, `sorted` or `copy`."""
        args = node.args
        if name in ("items", "enumerate", "zip", "values", "keys", "fromkeys", "map"):
            yield from self._pairs(node, name, on, path)
        elif on is not None and name in ("get", "pop", "setdefault", "getattr") and args:
            yield from self._sources_of_node(on, (self._step(args[0]), *path))
            for one in args[1:]:
                yield from self._sources_of_node(one, path)
        elif on is not None and name in _STEPPERS:
            yield from self._sources_of_node(on, (*map(self._step, args), *path))
        elif name in _SHUFFLED:
            for one in args:
                yield from self._sources_of_node(
                    one, with_any_index(path) or (EACH,) if name in ("max", "min") else with_any_index(path)
                )
        elif name in _SAME or name in ("ChainMap", "SimpleNamespace", "namedtuple", "replace"):
            yield from self._copied(node, name, on, path)
        else:
            given = [*args, *(one.value for one in node.keywords)]
            for code, function in [
                each for one in given if isinstance(one, (ast.Lambda, ast.Name)) for each in self._definitions(one)
            ]:
                yield from self._result(code, function, None, path)
            yield from self._computed([*given, *([on] if on is not None else ())])

    def _copied(
        self, node: ast.Call, name: str, on: ast.expr | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of a call that returns its arguments: a copy, a map made of keywords, or a lazy value."""
        for keyword in node.keywords:
            if path and keyword.arg in (None, path[0]):
                yield from self._sources_of_node(keyword.value, path[1:] if keyword.arg else path)
        path = (EACH, *path) if name == "next" else path
        for code, function in self._definitions(node.args[0]) if name == "lazy" and node.args else ():
            yield from self._result(code, function, None, path)
        for one in node.args or ([on] if on is not None else ()):
            yield from self._sources_of_node(one.body if isinstance(one, ast.Lambda) else one, path)

    def _pairs(
        self, node: ast.Call, name: str, on: ast.expr | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of a call that returns pairs, keys or values: `items`, `zip`, `map`, ..."""
        args, which, rest = node.args, path[1:2], path[2:]
        if name == "fromkeys":
            for one in args[1:]:
                yield from self._sources_of_node(one, path[1:])
        elif name == "map":
            for code, function in self._definitions(args[0]) if args else ():
                yield from self._result(
                    code, function, ast.Call(args[0], [_element_of(one) for one in args[1:]], []), path[1:]
                )
        elif name == "zip" and which and args and isinstance(args[0], ast.Starred):
            yield from self._sources_of_node(args[0].value, (SOME, EACH, *rest))
        elif name == "zip" and which and isinstance(which[0], int) and which[0] < len(args):
            yield from self._sources_of_node(args[which[0]], (EACH, *rest))
        elif name == "enumerate" and which == (1,) and args:
            yield from self._sources_of_node(args[0], (EACH, *rest))
        elif on is not None and name == "values":
            yield from self._sources_of_node(on, (SOME, *path[1:]))
        elif on is not None and name in ("items", "keys"):
            is_value = which == (1,)
            yield from self._sources_of_node(on, (SOME, *rest) if name == "items" and is_value else (EACH,))

    def _result(
        self, code: ParsedCode, function: ast.AST, call: ast.Call | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of the result of a function. call: None if it is not known"""
        if len(self._context) >= _MOST_FRAMES:
            return
        frame = Frame(function, self._code, call)  # type: ignore[arg-type]  # classes are left out by the callers
        given = [function.body] if isinstance(function, ast.Lambda) else code.scopes.results.get(function, ())
        rest = path[1:] if function in code.scopes.generators else path
        for one in given:
            yield from self._in(code, (frame, *self._context), self._sources_of_node(one, rest))

    def _parameter(self, argument: ast.arg, path: tuple[Any, ...]) -> Iterator[SourceExpression]:
        """The sources of a parameter: the argument of the call that led here; without it, of any known call."""
        function: Any = self._code.scopes.of(argument).node
        passed = self._code.scopes.passed.get(getattr(function, "name", function), ())
        for depth, frame in enumerate(self._context):
            if frame.function is function and not passed:
                if frame.call is not None:
                    yield from self._sources_of_argument(frame, argument, path, self._context[depth + 1 :])
                break
        else:
            for code in list(self._codes.values()):
                for call in self._calls_of(code, function):
                    yield from self._sources_of_argument(Frame(function, code, call), argument, path, ())
        for call in passed:
            for one in call.args:
                yield from self._sources_of_node(one, (EACH, *path))
        if self._functions:
            names = {getattr(function, "name", ""), getattr(self._code.scopes.of(function).node, "name", "")}
            for name in names:
                for decorated in self._code.scopes.decorated.get(name, ()):
                    yield from self._defined(decorated, path)

    def _calls_of(self, code: ParsedCode, function: ast.AST) -> Iterator[ast.Call]:
        """Yield the calls in a source that may call a function; for `__init__`, calls of its class and subclasses."""
        name = getattr(function, "name", "")
        names = [name]
        if name == "__init__":
            its: Any = self._code.scopes.of(function).node
            names = [name, getattr(its, "name", ""), *self._code.scopes.subclasses(getattr(its, "name", ""))]
        for one in names:
            yield from code.scopes.calls.get(one, ())

    def _sources_of_argument(
        self, frame: Frame, argument: ast.arg, path: tuple[Any, ...], context: Context
    ) -> Iterator[SourceExpression]:
        function, call = frame.function, frame.call
        assert function is not None
        assert call is not None
        its = function.args
        named = [*its.posonlyargs, *its.args]
        at = named.index(argument) - self._is_method(frame) if argument in named else None
        found = list(self._in(frame.code, context, self._passed(call, its, argument, at, path)))
        yield from found
        default = _default(its, argument)
        if not found and default is not None:
            yield from self._sources_of_node(default, path)

    def _is_method(self, frame: Frame) -> bool:
        scopes = self._code.scopes
        function: Any = frame.function
        is_static = any(name_of(one) == "staticmethod" for one in getattr(function, "decorator_list", ()))
        return scopes.of(function).is_class and not is_static

    def _passed(
        self, call: ast.Call, its: ast.arguments, argument: ast.arg, at: int | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of what a call passes for a parameter. at: its position; None for one without"""
        if argument is its.vararg and path:
            first = len(its.posonlyargs) + len(its.args)
            for index, one in enumerate(call.args[first:]):
                if may_equal(path[0], index):
                    yield from self._sources_of_node(one, path[1:])
            return
        for keyword in call.keywords:
            if keyword.arg is None:
                yield from self._sources_of_node(
                    keyword.value, path if argument is its.kwarg else (argument.arg, *path)
                )
            elif argument is its.kwarg and path[:1] == (EACH,):
                yield from self._sources_of_node(ast.copy_location(ast.Constant(keyword.arg), keyword), path[1:])
            elif argument is its.kwarg and path and may_equal(path[0], keyword.arg):
                yield from self._sources_of_node(keyword.value, path[1:])
            elif keyword.arg == argument.arg:
                yield from self._sources_of_node(keyword.value, path)
        for index, one in enumerate(call.args):
            if isinstance(one, ast.Starred) and at is not None and index <= at:
                yield from self._sources_of_node(one.value, (SOME if index else at, *path))
            elif index == at:
                yield from self._sources_of_node(one, path)
        yield from self._partial(call, its, argument, at, path)

    def _partial(
        self, call: ast.Call, its: ast.arguments, argument: ast.arg, at: int | None, path: tuple[Any, ...]
    ) -> Iterator[SourceExpression]:
        """The sources of what `functools.partial` has passed for a parameter, if the call is of such a name."""
        scope = self._code.scopes.of(call.func).scope_of_name(call.func.id) if isinstance(call.func, ast.Name) else None
        for binding in scope.names[name_of(call.func)] if scope is not None else ():
            made = binding.value
            if isinstance(made, ast.Call) and name_of(made.func) == "partial":
                yield from self._passed(made, its, argument, None if at is None else at + 1, path)


def _reads(name: str, bound: Iterable[Binding]) -> bool:
    """Whether a name means the node or one of its levels. bound: the bindings of the name"""
    words = (isinstance(one.value, ast.ImportFrom) and one.value.module == "nodeattrs.recipe" for one in bound)
    if name == "node":
        return any(words) or all(isinstance(one.value, ast.arg) for one in bound)
    return name in _LEVELS and (any(words) or not bound)


def _likeliest_first(bindings: Iterable[Binding], node: ast.expr) -> list[Binding]:
    """The bindings, the most likely first: those before the name from the last to the first, then all others."""
    before = [one for one in bindings if getattr(one.value, "lineno", 0) <= node.lineno]
    return [*reversed(before), *(one for one in bindings if one not in before)]


def _element_of(node: ast.expr) -> ast.expr:
    return ast.Subscript(node, ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load())


def _default(its: ast.arguments, argument: ast.arg) -> ast.expr | None:
    if argument in its.kwonlyargs:
        return its.kw_defaults[its.kwonlyargs.index(argument)]
    named = [*its.posonlyargs, *its.args]
    index = named.index(argument) - len(named) + len(its.defaults) if argument in named else -1
    return its.defaults[index] if index >= 0 else None

"""The text language: texts become the model, each item with its line and column.

The grammar is `grammar.lark` beside this module; lark is an extra and loaded when the
first text is read. A text that cannot be read says where, shows the line with a caret,
and guesses what was meant.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from nodeattrs.adapters.bindings.expressions import (
    Assign,
    Blocked,
    Branch,
    Call,
    HashOf,
    Index,
    Interpolated,
    Lambda,
    ListOf,
    Literal,
    Node,
    Not,
    Operation,
    Variable,
    is_constant,
    plain,
)
from nodeattrs.adapters.bindings.faults import BindingError
from nodeattrs.adapters.bindings.model import (
    Bind,
    BindingSet,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    Variables,
    When,
)
from nodeattrs.adapters.bindings.names import target_of
from nodeattrs.adapters.bindings.producers import (
    Asked,
    Computed,
    Condition,
    Constant,
    Custom,
    Named,
    Producing,
    Query,
    Ref,
)
from nodeattrs.adapters.bindings.sites import Site, SiteLayer
from nodeattrs.adapters.bindings.types import Type, parse_type
from nodeattrs.core.claim import Origin
from nodeattrs.errors import missing_extra

__all__ = ["parse_expression", "parse_inject_call", "parse_items", "parse_sets", "parse_site"]

_Found = TypeVar("_Found")
_Tree = Any
"""A tree of lark, or one of its tokens."""


def parse_sets(text: str, file: str | None = None) -> list[BindingSet]:
    """The sets of a text: `bindings NAME { ... }`, any number of them.

    file:   its name in messages and origins
    raises: BindingError ("syntax", "bad-type"), MissingExtra

    >>> [one.name for one in parse_sets("bindings ssh::default { bind 'ssh::port' to 22 }")]
    ['ssh::default']
    """
    reader = _Reader(text, file)
    return reader.guarded(lambda: [reader.set(one) for one in reader.parsed("bindings_file").children])


def parse_items(text: str, name: str = "", file: str | None = None) -> BindingSet:
    """A set of loose items, without the words around them. raises: as `parse_sets`"""
    reader = _Reader(text, file, name)
    return reader.guarded(lambda: BindingSet(name, tuple(map(reader.item, reader.parsed("items").children))))


def parse_site(text: str, file: str | None = None) -> Site:
    """What a site says: categories, layers and environments, not evaluated yet.

    raises: as `parse_sets`; BindingError ("categories-twice"), for a second categories expression

    >>> parse_site("site { categories { rack => $rack } }").to_dict()
    {'site': {'categories': [['rack', {'variable': 'rack'}]]}}
    """
    reader = _Reader(text, file)
    return reader.guarded(lambda: reader.site(reader.parsed("site_file")))


def parse_inject_call(text: str) -> dict[str, Any]:
    """The key and arguments of a call: `inject(String, 'main url', { size => 3 })`.

    >>> parse_inject_call("inject('x')")
    {'inject': {'name': 'x'}}
    """
    reader = _Reader(text, None)

    def read() -> dict[str, Any]:
        key, *args = reader.parsed("inject_call").children
        asked = reader.asked(key)
        typed = {"type": str(asked.type)} if asked.type is not None else {}
        named = {"name": asked.name} if asked.name is not None else {}
        return {"inject": {**typed, **named}, **({"args": plain(reader.node(args[0]))} if args else {})}

    return reader.guarded(read)


def parse_expression(text: str) -> Node:
    """One expression. raises: as `parse_sets`"""
    reader = _Reader(text, None)
    return reader.guarded(lambda: reader.node(reader.parsed("expression").children[0]))


@functools.cache
def _parser() -> Any:
    try:
        import lark
    except ImportError:
        raise missing_extra("lark", "bindings", "reading the text language of bindings") from None
    grammar = importlib.resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return lark.Lark(
        grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False,
        start=["bindings_file", "site_file", "items", "inject_call", "expression"],
    )  # fmt: skip


class _Reader:
    """One text that is being read."""

    def __init__(self, text: str, file: str | None, name: str = "") -> None:
        self.text = text.removeprefix("\ufeff")
        self.file = file
        self.name = name

    def parsed(self, start: str) -> _Tree:
        from nodeattrs.adapters.bindings.syntax import syntax_error

        parser = _parser()
        import lark

        try:
            return parser.parse(self.text, start=start)
        except lark.exceptions.UnexpectedInput as error:
            raise syntax_error(error, self.text, self.file) from None

    def guarded(self, read: Callable[[], _Found]) -> _Found:
        try:
            return read()
        except RecursionError:
            raise BindingError("syntax", f"{self.file or 'the text'} is nested too deep") from None

    def origin(self, tree: _Tree) -> Origin:
        meta = getattr(tree, "meta", tree)
        return Origin("bindings", self.name, self.file, getattr(meta, "line", None), getattr(meta, "column", None))

    def source(self, tree: _Tree) -> str:
        meta = getattr(tree, "meta", tree)
        start, end = getattr(meta, "start_pos", 0), getattr(meta, "end_pos", 0)
        return self.text[start:end]

    def set(self, tree: _Tree) -> BindingSet:
        name, *items = tree.children
        self.name = str(name)
        return BindingSet(self.name, tuple(map(self.item, items)), self.origin(tree))

    # --- items ---------------------------------------------------------------------------

    def item(self, tree: _Tree) -> Item:
        read: Callable[[_Tree, Origin], Item] = getattr(self, f"_{tree.data}")
        return read(tree, self.origin(tree))

    def _when(self, tree: _Tree, origin: Origin) -> Item:
        alternatives = []
        items = []
        for child in tree.children:
            if child.data == "alternative":
                alternatives.append(tuple(self._predicate(one) for one in child.children))
            else:
                items.append(self.item(child))
        return When(origin=origin, alternatives=tuple(alternatives), items=tuple(items))

    def _predicate(self, tree: _Tree) -> tuple[str, str]:
        name, value = tree.children
        node = self.node(value)
        if isinstance(node, Interpolated):
            return str(name), node.text
        found = plain(node)
        return str(name), str(found).lower() if isinstance(found, bool) else str(found)

    def _bind(self, tree: _Tree, origin: Origin) -> Item:
        return Bind(origin=origin, **self._fields(tree))

    def _multibind(self, tree: _Tree, origin: Origin) -> Item:
        fields = self._fields(tree)
        return Multibind(origin=origin, **{"id": fields["name"], **fields})

    def _fields(self, tree: _Tree) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": None}
        for child in tree.children:
            match child.data:
                case "key":
                    asked = self.asked(child)
                    fields["type"], fields["name"] = asked.type, asked.name
                case "to":
                    fields |= self._to(child)
                case "into":
                    fields["into"] = self._text(child.children[0])
                case "options":
                    fields["options"] = self._options(child)
                case "string":
                    fields["id"] = self._text(child)
                case flag:
                    fields[str(flag)] = True
        return fields

    def _alias(self, tree: _Tree, origin: Origin) -> Item:
        flags: dict[str, Any] = {str(child.data): True for child in tree.children if child.data != "key"}
        keys = [self.asked(child) for child in tree.children if child.data == "key"]
        return Rebinding(origin=origin, verb=str(tree.data), key=keys[0], target=keys[-1], **flags)

    _renamed = _rebind = _alias

    def _parameters(self, tree: _Tree, origin: Origin) -> Item:
        fields: dict[str, Any] = {}
        for child in tree.children:
            match child.data:
                case "target":
                    fields["target"] = self._checked(child, target_of)
                case "to":
                    fields |= self._to(child)
                case "options":
                    fields["options"] = self._options(child)
                case flag:
                    fields[str(flag)] = True
        return Parameters(origin=origin, **fields)

    def _param_map(self, tree: _Tree, origin: Origin) -> Item:
        *flags, left, right, pairs = tree.children
        given = plain(self.node(pairs))
        if isinstance(given, dict) and set(given) == {"map"} and isinstance(given["map"], (list, dict)):
            given = given["map"]  # { map => [a, b] }, the unit map that the document proposes
        named = {name: name for name in given} if isinstance(given, list) else given
        if not all(isinstance(name, str) for pair in named.items() for name in pair):
            raise self.error(pairs, "a map says which parameter fills which: { left => right }")
        return ParameterMap(
            origin=origin, lhs=self.type(left), rhs=self.type(right), map=named,
            **{str(flag.data): True for flag in flags},
        )  # fmt: skip

    def _variables(self, tree: _Tree, origin: Origin) -> Item:
        fields: dict[str, Any] = {}
        values: Any = None
        at = tree
        for child in tree.children:
            match child.data:
                case "type":
                    fields["type"] = self.type(child)
                case "to":
                    at = child
                    *optional, producer = child.children
                    fields |= {"optional": True} if optional else {}
                    values = self.node(producer) if producer.data not in ("producer", "type_or_query") else None
                case flag:
                    fields[str(flag)] = True
        return Variables(origin=origin, **fields, **self._variable_values(values, bool(fields.get("abstract")), at))

    def _variable_values(self, node: Node | None, abstract: bool, at: _Tree) -> dict[str, Any]:
        if abstract:
            given = plain(node) if node is not None and is_constant(node) else None
            names = [given] if isinstance(given, str) else given
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise self.error(at, "abstract variables are a name, or a list of names")
            return {"values": dict.fromkeys(names), "single": isinstance(given, str)}
        if not isinstance(node, HashOf):
            raise self.error(at, "variables are bound to a hash: { name => value }")
        return {"values": {str(plain(key)): _producing(value) for key, value in node.pairs}}

    def _inclusion(self, tree: _Tree, origin: Origin) -> Item:
        names = tuple(str(child) for child in tree.children if not hasattr(child, "data"))
        return Inclusion(origin=origin, names=names, exclude=len(names) < len(tree.children))

    def _dependency(self, tree: _Tree, origin: Origin) -> Item:
        chain = [
            tuple(str(self.type(one)) for one in child.children) if hasattr(child, "data") else str(child)
            for child in tree.children
        ]
        return Dependency(origin=origin, chain=tuple(chain))

    # --- their parts ---------------------------------------------------------------------------

    def asked(self, tree: _Tree) -> Asked:
        typed = name = None
        for child in tree.children:
            if child.data == "type":
                typed = self.type(child)
            else:
                name = self._text(child)
        return Asked(typed, name)

    def _to(self, tree: _Tree) -> dict[str, Any]:
        *optional, producer = tree.children
        return {"to": self._producer(producer), **({"optional": True} if optional else {})}

    def _producer(self, tree: _Tree) -> Producing:
        if tree.data == "producer":
            (of,) = tree.children
            if of.data == "string":
                return Named(self._text(of))
            found = self.type(of)
            return Custom(found.title if found.name == "Type" else str(found))
        if tree.data == "type_or_query":
            (inner,) = tree.children
            return self._query(inner) if inner.data == "query" else Ref(self.type(inner))
        return _producing(self.node(tree))

    def _query(self, tree: _Tree) -> Query:
        of, *where = tree.children
        conditions = tuple(self._conditions(where[0])) if where else ()
        return Query(self._checked(of, parse_type), conditions)

    def _conditions(self, tree: _Tree) -> Iterator[Condition]:
        match tree.data:
            case "all_":
                for child in tree.children:
                    yield from self._conditions(child)
            case "any_":
                yield ("or", *(tuple(self._conditions(child)) for child in tree.children))
            case "not_":
                yield "not", tuple(self._conditions(tree.children[0]))
            case "comparison":
                left, sign, right = tree.children
                wanted = plain(self.node(right))
                if str(sign) in ("=~", "!~", "~=", "~!"):
                    self._regex(wanted if isinstance(wanted, str) else wanted.pattern, right)
                yield str(plain(self.node(left))), str(sign), wanted
            case _:
                raise self.error(tree, "a condition compares an attribute: name == 'one'")

    def _options(self, tree: _Tree) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for child in tree.children:
            name, value = child.children
            node = self.node(value)
            options[str(name) if not hasattr(name, "data") else self._text(name)] = (
                plain(node) if is_constant(node) else node
            )
        return options

    def type(self, tree: _Tree) -> Type:
        return self._checked(tree, parse_type)

    def _checked(self, tree: _Tree, read: Callable[[str], Type]) -> Type:
        try:
            return read(re.sub(r"#[^\n]*\n", " ", self.source(tree)))
        except BindingError as error:
            raise self.error(tree, error.message, error.kind) from None

    def _text(self, tree: _Tree) -> str:
        """A name: the text of a string, where `$` means itself."""
        node = self.node(tree)
        return node.text if isinstance(node, Interpolated) else str(plain(node))

    def error(self, tree: _Tree, message: str, kind: str = "syntax") -> BindingError:
        from nodeattrs.adapters.bindings.syntax import caret

        origin = self.origin(tree)
        known = [str(part) for part in (self.file, origin.line, origin.column) if part is not None]
        where = f"{':'.join(known)}: " if known else ""
        said = caret(self.text, origin.line, origin.column)
        return BindingError(kind, f"{where}{message}", origins=(origin,), said=said)

    # --- expressions ---------------------------------------------------------------------------

    def node(self, tree: _Tree) -> Node:
        read: Callable[[_Tree], Node] = getattr(self, f"_node_{tree.data}")
        return read(tree)

    def _node_string(self, tree: _Tree) -> Node:
        token = str(tree.children[0])
        if token[0] == "'":
            return Literal(re.sub(r"\\(['\\])", r"\1", token[1:-1]))
        inner = token[1:-1]
        return Interpolated(inner) if "$" in inner else Literal(Interpolated(inner).evaluate(str, {}))

    def _node_number(self, tree: _Tree) -> Node:
        *sign, token = map(str, tree.children)
        number: int | float
        if token.lower().startswith("0x"):
            number = int(token, 16)
        elif re.fullmatch(r"\d+", token):
            if len(token) > 4000:
                raise self.error(tree, "a number with more than 4000 digits")
            number = int(token)
        else:
            number = float(token)
            if number in (float("inf"), float("-inf")):
                raise self.error(tree, f"{token} is too large a number")
        return Literal(-number if sign else number)

    def _node_true(self, tree: _Tree) -> Node:
        return Literal(True)

    def _node_false(self, tree: _Tree) -> Node:
        return Literal(False)

    def _node_undef(self, tree: _Tree) -> Node:
        return Literal(None)

    def _node_default(self, tree: _Tree) -> Node:
        return Literal("default")

    def _node_word(self, tree: _Tree) -> Node:
        return Literal(str(tree.children[0]))

    def _node_variable(self, tree: _Tree) -> Node:
        return Variable(str(tree.children[0])[1:])

    def _node_regex(self, tree: _Tree) -> Node:
        return Literal(self._regex(str(tree.children[0])[1:-1].replace("\\/", "/"), tree))

    def _regex(self, text: str, at: _Tree) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except re.error as error:
            raise self.error(at, f"the pattern {text!r} cannot be read: {error}") from None

    def _node_reference(self, tree: _Tree) -> Node:
        return Literal(Ref(self.type(tree.children[0])).reference)

    def _node_list(self, tree: _Tree) -> Node:
        return ListOf(tuple(map(self.node, tree.children)))

    def _node_hash(self, tree: _Tree) -> Node:
        pairs = [(self.node(pair.children[0]), self.node(pair.children[1])) for pair in tree.children]
        for (key, _), pair in zip(pairs, tree.children, strict=True):
            if isinstance(key, (ListOf, HashOf)):
                raise self.error(pair, "the key of a hash is a text, a number or a boolean")
        return HashOf(tuple(pairs))

    def _node_sum(self, tree: _Tree) -> Node:
        left, *rest = tree.children
        result = self.node(left)
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            result = Operation(self.source(tree), str(sign), result, self.node(right))
        return result

    _node_term = _node_comparison = _node_sum

    def _chained(self, tree: _Tree, sign: str) -> Node:
        first, *rest = map(self.node, tree.children)
        for right in rest:
            first = Operation(self.source(tree), sign, first, right)
        return first

    def _node_any_(self, tree: _Tree) -> Node:
        return self._chained(tree, "or")

    def _node_all_(self, tree: _Tree) -> Node:
        return self._chained(tree, "and")

    def _node_not_(self, tree: _Tree) -> Node:
        return Not(self.source(tree), self.node(tree.children[0]))

    def _node_index(self, tree: _Tree) -> Node:
        return Index(self.source(tree), self.node(tree.children[0]), self.node(tree.children[1]))

    def _node_call(self, tree: _Tree) -> Node:
        name, *args = tree.children
        return Call(self.source(tree), str(name), tuple(map(self.node, args)))

    def _node_lambda_(self, tree: _Tree) -> Node:
        *parameters, body = tree.children
        return Lambda(self.source(tree), tuple(str(one)[1:] for one in parameters), self.node(body))

    def _node_block(self, tree: _Tree) -> Node:
        return Blocked(self.source(tree), tuple(map(self.node, tree.children)))

    def _node_assign(self, tree: _Tree) -> Node:
        name, value = tree.children
        return Assign(self.source(tree), str(name)[1:], self.node(value))

    def _node_if_(self, tree: _Tree) -> Node:
        condition, then, *otherwise = map(self.node, tree.children)
        return Branch(self.source(tree), condition, then, otherwise[0] if otherwise else None)

    def _node_unless_(self, tree: _Tree) -> Node:
        condition, then, *otherwise = map(self.node, tree.children)
        negated = Not(self.source(tree.children[0]), condition)
        return Branch(self.source(tree), negated, then, otherwise[0] if otherwise else None)

    # --- the site ------------------------------------------------------------------------------

    def site(self, tree: _Tree) -> Site:
        found = Site(file=self.file)
        for child in tree.children:
            if child.data != "site":
                found.statements.append(self.node(child))
                continue
            found.is_said = True
            for part in child.children:
                self._site_part(part, found)
        return found

    def _site_part(self, tree: _Tree, site: Site) -> None:
        match tree.data:
            case "defaults":
                site.defaults = self._attributes(tree.children[0])
            case "environment":
                name = self._text(tree.children[0])
                if name in (site.environments or {}):
                    raise self.error(tree, f"the environment {name!r} is declared twice", "environment-twice")
                site.environments = {**(site.environments or {}), name: self._attributes(tree.children[1])}
            case "dynamic":
                site.dynamic = (self.node(tree.children[0]), self._attributes(tree.children[1]))
            case "categories":
                if site.categories is not None:
                    raise self.error(tree, "there is a second categories expression", "categories-twice")
                pairs = [one.children for one in tree.children[0].children]
                site.categories = [(str(name), self.node(value)) for name, value in pairs]
            case "layers":
                site.layers = [*(site.layers or ()), *map(self._layer, tree.children)]

    def _attributes(self, tree: _Tree) -> dict[str, Node]:
        return {str(one.children[0]): self.node(one.children[1]) for one in tree.children}

    def _layer(self, tree: _Tree) -> SiteLayer:
        name, *lists = tree.children
        layer = SiteLayer(self._text(name))
        for one in lists:
            strings = [child for child in one.children if child.data == "string"]
            side = "exclude" if len(strings) < len(one.children) else "include"
            known = getattr(layer, side) or []
            setattr(layer, side, [*known, *map(self._text, strings)])
        return layer


def _producing(node: Node) -> Producing:
    return Constant(plain(node)) if is_constant(node) else Computed(node)

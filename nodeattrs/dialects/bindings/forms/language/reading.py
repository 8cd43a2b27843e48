"""Read the text language: texts become sets, sites and expressions, each item with its line and column.

lark makes a tree of a text (`text`). The readers here turn its branches into items and expressions. A method `_NAME` of
a reader reads a branch that the grammar calls NAME. Nothing is evaluated or resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.dialects.bindings.codes import CATEGORIES_TWICE, ENVIRONMENT_TWICE
from nodeattrs.dialects.bindings.forms.language.text import LanguageText, Tree
from nodeattrs.dialects.bindings.model.expressions import (
    Assign,
    Branch,
    Call,
    HashOf,
    Index,
    InterpolatedText,
    Lambda,
    ListOf,
    Literal,
    Node,
    Not,
    Operation,
    StatementBlock,
    Variable,
    constant_value,
    is_constant,
    producer_of,
    value_or_expression,
)
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import (
    Bind,
    BindingSet,
    BoundVariables,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    WhenItem,
    category,
    is_parameter_map,
)
from nodeattrs.dialects.bindings.model.producers import (
    Condition,
    CustomProducer,
    NamedProducer,
    ProducerBase,
    Query,
    Ref,
    condition,
    reference_to,
)
from nodeattrs.dialects.bindings.model.sites import Site
from nodeattrs.dialects.bindings.model.types import Asked, target_of
from nodeattrs.dialects.bindings.model.values import pattern_of

_ESCAPED, _DIGITS = re.compile(r"\\(['\\])"), re.compile(r"\d+")

_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "undef": None, "default": "default"}
_MOST_DIGITS = 4000


class _ExpressionReader:
    """Reads the expressions of one text."""

    def __init__(self, text: LanguageText) -> None:
        self._text = text

    def node(self, tree: Tree) -> Node:
        """The expression of a branch; for a constant its literal. raises: BindingError, for a wrong branch"""
        if tree.data in _CONSTANTS:
            return Literal(_CONSTANTS[tree.data])
        read: Callable[[Tree], Node] = getattr(self, f"_{tree.data}")
        return read(tree)

    def name(self, tree: Tree) -> str:
        """A name: the text of a string, where `$` means itself."""
        node = self.node(tree)
        return node.text if isinstance(node, InterpolatedText) else str(constant_value(node))

    # --- values ------------------------------------------------------------------------------

    def _string(self, tree: Tree) -> Node:
        """The literal of a text in single quotes; in double quotes with `$` a text with variables."""
        token = str(tree.children[0])
        inner = token[1:-1]
        if token[0] == "'":
            return Literal(_ESCAPED.sub(itemgetter(1), inner))
        return InterpolatedText(inner) if "$" in inner else Literal(InterpolatedText(inner).evaluate(str, {}))

    def _number(self, tree: Tree) -> Node:
        """The literal of a number. raises: BindingError, for too many digits and for infinity"""
        *sign, token = map(str, tree.children)
        number: int | float
        if len(token) > _MOST_DIGITS:
            raise self._text.error(tree, f"a number with more than {_MOST_DIGITS} digits")
        if token.lower().startswith("0x"):
            number = int(token, 16)
        elif _DIGITS.fullmatch(token):
            number = int(token)
        else:
            number = float(token)
            if number in (float("inf"), float("-inf")):
                raise self._text.error(tree, f"{token} is too large a number")
        return Literal(-number if sign else number)

    def _word(self, tree: Tree) -> Node:
        return Literal(str(tree.children[0]))

    def _variable(self, tree: Tree) -> Node:
        return Variable(str(tree.children[0])[1:])

    def _regex(self, tree: Tree) -> Node:
        return Literal(self._text.with_place(pattern_of, tree, str(tree.children[0])[1:-1].replace("\\/", "/")))

    def _reference(self, tree: Tree) -> Node:
        return Literal(Ref(self._text.type(tree.children[0])).reference)

    def _list(self, tree: Tree) -> Node:
        return ListOf(tuple(map(self.node, tree.children)))

    def _hash(self, tree: Tree) -> Node:
        pairs = [(self.node(pair.children[0]), self.node(pair.children[1])) for pair in tree.children]
        for (key, _), pair in zip(pairs, tree.children, strict=True):
            if isinstance(key, (ListOf, HashOf)):
                raise self._text.error(pair, "the key of a hash is a text, a number or a boolean")
        return HashOf(tuple(pairs))

    # --- operations ----------------------------------------------------------------------------

    def _sum(self, tree: Tree) -> Node:
        left, *rest = tree.children
        result = self.node(left)
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            result = Operation(self._text.source(tree), str(sign), result, self.node(right))
        return result

    _term = _comparison = _sum

    def _any_(self, tree: Tree) -> Node:
        sign = "or" if tree.data == "any_" else "and"
        result, *rest = map(self.node, tree.children)
        for right in rest:
            result = Operation(self._text.source(tree), sign, result, right)
        return result

    _all_ = _any_

    def _not_(self, tree: Tree) -> Node:
        return Not(self._text.source(tree), self.node(tree.children[0]))

    def _index(self, tree: Tree) -> Node:
        return Index(self._text.source(tree), self.node(tree.children[0]), self.node(tree.children[1]))

    def _call(self, tree: Tree) -> Node:
        name, *args = tree.children
        return Call(self._text.source(tree), str(name), tuple(map(self.node, args)))

    # --- statements ------------------------------------------------------------------------------

    def _lambda_(self, tree: Tree) -> Node:
        *parameters, body = tree.children
        return Lambda(self._text.source(tree), tuple(str(one)[1:] for one in parameters), self.node(body))

    def _block(self, tree: Tree) -> Node:
        return StatementBlock(self._text.source(tree), tuple(map(self.node, tree.children)))

    def _assign(self, tree: Tree) -> Node:
        name, value = tree.children
        return Assign(self._text.source(tree), str(name)[1:], self.node(value))

    def _if_(self, tree: Tree) -> Node:
        condition, then, *otherwise = map(self.node, tree.children)
        if tree.data == "unless_":
            condition = Not(self._text.source(tree.children[0]), condition)
        return Branch(self._text.source(tree), condition, then, otherwise[0] if otherwise else None)

    _unless_ = _if_


class _ValueLocator:
    """The locator of a value in a text: finds the place of an entry when a message needs the place."""

    def __init__(self, text: LanguageText, tree: Tree) -> None:
        self._text, self._tree = text, tree
        self._origin = text.origin(tree)

    def at(self, path: Path) -> Origin:
        """The place of an entry; where the entry cannot be found, the place of the value that holds it."""
        here = self._tree
        for step in path:
            below = self._entry(here, step)
            if below is None:
                break
            here = below
        begin = self._text.origin(here)
        return self._origin.moved(begin.line, begin.column)

    def _entry(self, tree: Tree, step: object) -> Tree | None:
        """The branch of an entry of a list or a hash; None where the value has no such entry."""
        if tree.data == "list" and isinstance(step, int) and step < len(tree.children):
            return tree.children[step]
        found = None
        for pair in tree.children if tree.data == "hash" else ():
            if self._is_key(pair.children[0], step):
                found = pair.children[1]  # of equal keys the last one counts
        return found

    def _is_key(self, tree: Tree, step: object) -> bool:
        """Whether a branch writes that key; False for a key that is computed."""
        try:
            key = constant_value(_ExpressionReader(self._text).node(tree))
        except BindingError:  # the key is computed
            return False
        return type(key) is type(step) and key == step


class _SetReader(_ExpressionReader):
    """Reads the sets and items of one text. A method with an origin reads an item."""

    def set(self, tree: Tree) -> BindingSet:
        """The set of a branch, with its items in order. raises: BindingError, for a wrong item"""
        name, *items = tree.children
        self._text.name = str(name)
        return BindingSet(self._text.name, tuple(map(self.item, items)), self._text.origin(tree))

    def item(self, tree: Tree) -> Item:
        """The item of a branch, with its line. raises: BindingError, for a wrong item"""
        read: Callable[[Tree, Origin], Item] = getattr(self, f"_{tree.data}")
        return read(tree, self._text.origin(tree))

    def _requested_key(self, tree: Tree) -> Asked:
        """The key of a branch: a type and a name, or one of the two."""
        typed = name = None
        for child in tree.children:
            if child.data == "type":
                typed = self._text.type(child)
            else:
                name = self.name(child)
        return Asked(typed, name)

    # --- one method an item ------------------------------------------------------------------

    def _when(self, tree: Tree, origin: Origin) -> Item:
        conditions = [child for child in tree.children if child.data == "alternative"]
        items = tree.children[len(conditions) :]
        alternatives = tuple(tuple(map(self._predicate, one.children)) for one in conditions)
        return WhenItem(origin=origin, alternatives=alternatives, items=tuple(map(self.item, items)))

    def _bind(self, tree: Tree, origin: Origin) -> Item:
        return Bind(origin=origin, **self._fields(tree.children))

    def _multibind(self, tree: Tree, origin: Origin) -> Item:
        fields = self._fields(tree.children)
        return Multibind(origin=origin, **{"id": fields["name"], **fields})

    def _alias(self, tree: Tree, origin: Origin) -> Item:
        flags: dict[str, Any] = {str(child.data): True for child in tree.children if child.data != "key"}
        keys = [self._requested_key(child) for child in tree.children if child.data == "key"]
        return Rebinding(origin=origin, verb=str(tree.data), key=keys[0], target=keys[-1], **flags)

    _renamed = _rebind = _alias

    def _parameters(self, tree: Tree, origin: Origin) -> Item:
        return Parameters(origin=origin, **self._fields(tree.children))

    def _param_map(self, tree: Tree, origin: Origin) -> Item:
        """The item `bind map`. The map `{ map => [a, b] }` pairs each name with itself, as ARM-8 proposes."""
        *flags, left, right, pairs = tree.children
        given = constant_value(self.node(pairs))
        if isinstance(given, dict) and set(given) == {"map"} and isinstance(given["map"], (list, dict)):
            given = given["map"]
        named = {name: name for name in given} if isinstance(given, list) else given
        if not is_parameter_map(named):
            raise self._text.error(pairs, "a map says which parameter fills which: { left => right }")
        return ParameterMap(
            origin=origin, lhs=self._text.type(left), rhs=self._text.type(right), map=named,
            **{str(flag.data): True for flag in flags},
        )  # fmt: skip

    def _variables(self, tree: Tree, origin: Origin) -> Item:
        (to,) = (child for child in tree.children if child.data == "to")
        others = self._fields(child for child in tree.children if child is not to)
        values = self._demanded_values(to) if others.get("abstract") else {"values": self._given_values(to)}
        return BoundVariables(origin=origin, **others, **values, optional=len(to.children) > 1)

    def _demanded_values(self, to: Tree) -> dict[str, Any]:
        """The fields of abstract variables. raises: BindingError, for anything but a name or a list of names"""
        value = to.children[-1]
        node = None if value.data in ("producer", "type_or_query") else self.node(value)
        given = constant_value(node) if node is not None and is_constant(node) else None
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise self._text.error(to, "abstract variables are a name, or a list of names")
        return {"values": dict.fromkeys(names), "single": isinstance(given, str)}

    def _given_values(self, to: Tree) -> dict[str, ProducerBase]:
        """Name -> the producer of a variable. raises: BindingError, for anything but a hash"""
        value = to.children[-1]
        if value.data != "hash":
            raise self._text.error(to, "variables are bound to a hash: { name => value }")
        self.node(value)  # refuses a list or a hash as a key
        pairs = [pair.children for pair in value.children]
        return {str(constant_value(self.node(key))): self._producer(entry) for key, entry in pairs}

    def _inclusion(self, tree: Tree, origin: Origin) -> Item:
        names = tuple(str(child) for child in tree.children if not hasattr(child, "data"))
        return Inclusion(origin=origin, names=names, exclude=len(names) < len(tree.children))

    def _dependency(self, tree: Tree, origin: Origin) -> Item:
        chain = [
            tuple(str(self._text.type(one)) for one in child.children) if hasattr(child, "data") else str(child)
            for child in tree.children
        ]
        return Dependency(origin=origin, chain=tuple(chain))

    # --- their parts ---------------------------------------------------------------------------

    def _fields(self, children: Iterable[Tree]) -> dict[str, Any]:
        """The attributes of an item from its parts; a part with another name is a flag."""
        fields: dict[str, Any] = {}
        for child in children:
            match child.data:
                case "key":
                    asked = self._requested_key(child)
                    fields["type"], fields["name"] = asked.type, asked.name
                case "type":
                    fields["type"] = self._text.type(child)
                case "target":
                    fields["target"] = self._text.type(child, target_of)
                case "to":
                    *optional, producer = child.children
                    fields |= {"to": self._producer(producer), **({"optional": True} if optional else {})}
                case "into":
                    fields["into"] = self.name(child.children[0])
                case "options":
                    fields["options"] = dict(map(self._option, child.children))
                case "string":
                    fields["id"] = self.name(child)
                case flag:
                    fields[str(flag)] = True
        return fields

    def _option(self, tree: Tree) -> tuple[str, Any]:
        name, value = tree.children
        known = self.name(name) if hasattr(name, "data") else str(name)
        return known, value_or_expression(self.node(value))

    def _predicate(self, tree: Tree) -> tuple[str, str]:
        """(category, value as text) of a condition."""
        name, value = tree.children
        node = self.node(value)
        if isinstance(node, InterpolatedText):
            return str(name), node.text
        return category(name, constant_value(node))

    def _producer(self, tree: Tree) -> ProducerBase:
        """The producer behind `to`: a named or custom producer, a reference, a query, or a value."""
        if tree.data == "producer":
            (of,) = tree.children
            if of.data == "string":
                return NamedProducer(self.name(of))
            found = self._text.type(of)
            return CustomProducer(found.title if found.name == "Type" else str(found))
        if tree.data == "type_or_query":
            (inner,) = tree.children
            return self._query(inner) if inner.data == "query" else reference_to(self._text.type(inner))
        return producer_of(self.node(tree), _ValueLocator(self._text, tree))

    def _query(self, tree: Tree) -> Query:
        of, *where = tree.children
        return Query(self._text.type(of), tuple(self._conditions(where[0])) if where else ())

    def _conditions(self, tree: Tree) -> Iterator[Condition]:
        """The conditions of a query; `or` and `not` are nested. raises: BindingError, for anything but comparisons"""
        match tree.data:
            case "all_":
                for child in tree.children:
                    yield from self._conditions(child)
            case "any_":
                yield ("or", *(tuple(self._conditions(child)) for child in tree.children))
            case "not_":
                yield "not", tuple(self._conditions(tree.children[0]))
            case "comparison":
                yield self._compared(*tree.children)
            case _:
                raise self._text.error(tree, "a condition compares an attribute: name == 'one'")

    def _compared(self, left: Tree, sign: Tree, right: Tree) -> Condition:
        attribute, wanted = str(constant_value(self.node(left))), constant_value(self.node(right))
        return self._text.with_place(condition, right, attribute, str(sign), wanted)


class _SiteReader(_ExpressionReader):
    """Reads the site of one text."""

    def site(self, tree: Tree) -> Site:
        """The site of a whole text, and the statements beside it."""
        found = Site()
        for child in tree.children:
            if child.data != "site":
                found.statements.append(self.node(child))
                continue
            found.parts = found.parts or {}
            for part in child.children:
                self._part(part, found, found.parts)
        return found

    def _part(self, tree: Tree, site: Site, parts: dict[str, Any]) -> None:
        """Add one part of `site { }` to the parts. raises: BindingError, for a second environment or categories"""
        match tree.data:
            case "defaults":
                parts["defaults"] = self._attributes(tree.children[0])
            case "environment":
                name, named = self.name(tree.children[0]), parts.setdefault("environments", {})
                if name in named:
                    raise self._text.error(tree, f"the environment {name!r} is declared twice", ENVIRONMENT_TWICE)
                named[name] = self._attributes(tree.children[1])
            case "dynamic":
                parts["dynamic"] = {"dir": self.node(tree.children[0]), "attrs": self._attributes(tree.children[1])}
            case "categories":
                if "categories" in parts:
                    raise self._text.error(tree, "there is a second categories expression", CATEGORIES_TWICE)
                listed = tree.children[0].children
                parts["categories"] = [[str(one.children[0]), self.node(one.children[1])] for one in listed]
                site.listed_at = {str(one.children[0]): self._text.origin(one) for one in listed}
            case "layers":
                parts["layers"] = [*parts.get("layers", ()), *map(self._layer, tree.children)]
                site.layers_at += map(self._text.origin, tree.children)

    def _attributes(self, tree: Tree) -> dict[str, Node]:
        return {str(one.children[0]): self.node(one.children[1]) for one in tree.children}

    def _layer(self, tree: Tree) -> dict[str, Any]:
        """A layer as data: its name, and its references by "include" and "exclude"."""
        name, *lists = tree.children
        layer: dict[str, Any] = {"name": self.name(name)}
        for one in lists:
            strings = [child for child in one.children if child.data == "string"]
            side = "exclude" if len(strings) < len(one.children) else "include"
            layer[side] = [*layer.get(side, ()), *map(self.name, strings)]
        return layer


def parse_sets(text: str, file: str | None = None) -> list[BindingSet]:
    """The sets of a text, each `bindings NAME { ... }`, in order; [] for an empty text.

    file:   the name of its file in messages and origins
    raises: BindingError ("syntax", "bad-type"), MissingExtra

    >>> [one.name for one in parse_sets("bindings ssh::default { bind 'ssh::port' to 22 }")]
    ['ssh::default']
    """
    read = LanguageText(text, file)
    return read.result_of(lambda: list(map(_SetReader(read).set, read.parsed("bindings_file").children)))


def parse_items(text: str, name: str = "", file: str | None = None) -> BindingSet:
    """A set with the items of a text that has no `bindings NAME { }` around them; an empty text gives no items.

    name:   of the set
    raises: BindingError ("syntax", "bad-type"), MissingExtra
    """
    read = LanguageText(text, file, name)
    return read.result_of(lambda: BindingSet(name, tuple(map(_SetReader(read).item, read.parsed("items").children))))


def parse_site(text: str, file: str | None = None) -> Site:
    """The site of a text: categories, layers and environments, nothing evaluated; an empty text gives an empty site.

    raises: BindingError ("syntax", "categories-twice", "environment-twice"), MissingExtra

    >>> parse_site("site { categories { rack => $rack } }").to_dict()
    {'site': {'categories': [['rack', {'variable': 'rack'}]]}}
    """
    read = LanguageText(text, file)
    return read.result_of(lambda: _SiteReader(read).site(read.parsed("site_file")))


def parse_expression(text: str) -> Node:
    """The expression of a text that has nothing else. raises: BindingError ("syntax"), MissingExtra"""
    read = LanguageText(text)
    return read.result_of(lambda: _ExpressionReader(read).node(read.parsed("expression").children[0]))

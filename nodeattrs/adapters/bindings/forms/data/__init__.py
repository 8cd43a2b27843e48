"""The data form: sets of bindings as plain JSON or YAML data, read and written.

`schema.json` beside this module says what it looks like, for other languages. All faults
of a document are said together, each with its line. The order of fields means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from nodeattrs.adapters.bindings.model.expressions import (
    Assign,
    HashOf,
    Interpolated,
    Lambda,
    ListOf,
    Literal,
    Node,
    Variable,
    is_constant,
    plain,
)
from nodeattrs.adapters.bindings.model.faults import BindingError, BindingErrors
from nodeattrs.adapters.bindings.model.items import (
    NOWHERE,
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
from nodeattrs.adapters.bindings.model.keys import Asked, target_of
from nodeattrs.adapters.bindings.model.producers import (
    Computed,
    Constant,
    Custom,
    FirstFound,
    HashLookup,
    Instance,
    Lookup,
    Named,
    ProducerObject,
    Producing,
    Ref,
    Series,
)
from nodeattrs.adapters.bindings.model.queries import Condition, Query
from nodeattrs.adapters.bindings.model.sites import Site, SiteLayer
from nodeattrs.adapters.bindings.model.types import Type, parse_type
from nodeattrs.adapters.bindings.model.values import taken_in
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, near
from nodeattrs.texts.documents import Document

__all__ = ["VERSION", "schema", "sets_from_data", "sets_from_document", "site_from_document", "to_data"]

_Found = TypeVar("_Found")

VERSION = 1
"""The version of the data form that is written."""

_FLAGS = ("abstract", "override", "final", "optional")
_FIELDS: dict[str, tuple[str, ...]] = {
    "bind": ("type", "name", *_FLAGS, "to", "in", "options"),
    "multibind": ("type", "name", "as", *_FLAGS, "to", "in", "options"),
    "when": ("if", "items"),
    "alias": ("key", "as", *_FLAGS, "to"),
    "renamed": ("key", "as", *_FLAGS, "to"),
    "rebind": ("key", *_FLAGS, "to"),
    "include": ("names",),
    "exclude": ("names",),
    "parameters": ("target", *_FLAGS, "to", "options"),
    "map": ("lhs", "rhs", "map", *_FLAGS),
    "variables": ("type", *_FLAGS, "to"),
    "dependency": ("chain",),
}


def sets_from_data(data: Any, origin: Origin = NOWHERE) -> list[BindingSet]:
    """The sets of some data: `{"version": 1, "sets": [{"name": ..., "items": [...]}]}`, or one set alone.

    origin: where the data comes from
    raises: BindingErrors, with everything that is malformed

    >>> [one.name for one in sets_from_data({"name": "a::default", "items": []})]
    ['a::default']
    """
    return _Reader(lambda name, path: origin).sets(data)


def sets_from_document(document: Document) -> list[BindingSet]:
    """The sets of a document that was read; each item knows its line. raises: BindingErrors"""

    def place(name: str, path: Path) -> Origin:
        line, column = document.place(path)
        return Origin("bindings", name, document.file, line, column)

    return _Reader(place).sets(document.tree)


def site_from_document(document: Document) -> Site:
    """What a site says, from its data form: `{"site": {...}, "assign": {...}}`. raises: BindingErrors"""

    def place(name: str, path: Path) -> Origin:
        line, column = document.place(path)
        return Origin("bindings", name, document.file, line, column)

    reader = _Reader(place)
    return reader.guarded(lambda: reader.site(document.tree, document.file)) or Site()


class _Malformed(Exception):
    """Leaves the item that is being read; the fault was noted."""


class _Reader:
    def __init__(self, place: Callable[[str, Path], Origin]) -> None:
        self._place = place
        self._set = ""
        self._faults: list[BindingError] = []

    def sets(self, data: Any) -> list[BindingSet]:
        return self.guarded(lambda: list(self._sets(data))) or []

    def guarded(self, read: Callable[[], _Found]) -> _Found | None:
        """What *read* gives; raises everything that was noted on the way."""
        found = None
        try:
            found = read()
        except _Malformed:
            pass
        except RecursionError:
            self._faults.append(BindingError("format", "the data is nested too deep", origins=(self._place("", ()),)))
        if self._faults:
            raise BindingErrors(self._faults)
        return found

    def _sets(self, data: Any) -> Iterator[BindingSet]:
        whole = self.map(data, (), "a document of bindings is a map")
        if "items" in whole:
            yield self._set_from(whole, ())
            return
        self.fields(whole, ("version", "sets"), (), "the document")
        if whole.get("version", VERSION) != VERSION:
            self.fault(("version",), f"version {whole['version']!r} of the form is not known", f"known is {VERSION}")
        for index, one in enumerate(self.list(whole.get("sets"), ("sets",), "sets is a list")):
            path: Path = ("sets", index)
            try:
                yield self._set_from(self.map(one, path, "a set is a map"), path)
            except _Malformed:
                continue

    def _set_from(self, data: dict[Any, Any], path: Path) -> BindingSet:
        self.fields(data, ("version", "name", "items"), path, "a set")
        self._set = self.text(data, "name", path, needed=True) or ""
        items = self.items(data.get("items", []), (*path, "items"))
        return BindingSet(self._set, items, self._place(self._set, path))

    def items(self, data: Any, path: Path) -> tuple[Item, ...]:
        items = []
        for index, one in enumerate(self.list(data, path, "items is a list")):
            try:
                items.append(self.item(one, (*path, index)))
            except _Malformed:
                continue
        return tuple(items)

    def item(self, data: Any, path: Path) -> Item:
        whole = self.map(data, path, "an item is a map")
        kind = whole.get("kind")
        if not isinstance(kind, str) or kind not in _FIELDS:
            close = near(kind, _FIELDS) or list(_FIELDS)
            raise self.stop(path, f"an item has the kind {kind!r}", f"did you mean {', '.join(close)}?")
        self.fields(whole, ("kind", *_FIELDS[kind]), path, f"a {kind} item")
        origin = self._place(self._set, path)
        flags = {flag: self.flag(whole, flag, path) for flag in _FLAGS if whole.get(flag)}
        match kind:
            case "bind" | "multibind":
                return self._bind(whole, path, origin, flags)
            case "when":
                alternatives = self._alternatives(whole.get("if"), (*path, "if"))
                items = self.items(whole.get("items", []), (*path, "items"))
                return When(origin=origin, alternatives=alternatives, items=items)
            case "alias" | "renamed" | "rebind":
                key = self.asked(whole.get("key"), (*path, "key"))
                target = key if kind == "rebind" else self.asked(whole.get("as"), (*path, "as"))
                to = self.producer(whole, path)
                return Rebinding(origin=origin, verb=kind, key=key, target=target, to=to, **flags)
            case "include" | "exclude":
                names = self._names(whole.get("names"), (*path, "names"))
                return Inclusion(origin=origin, names=names, exclude=kind == "exclude")
            case "parameters":
                return self._parameters(whole, path, origin, flags)
            case "map":
                return self._map(whole, path, origin, flags)
            case "variables":
                return self._variables(whole, path, origin, flags)
        return self._dependency(whole, path, origin)

    def _bind(self, whole: dict[Any, Any], path: Path, origin: Origin, flags: dict[str, bool]) -> Item:
        fields: dict[str, Any] = {
            "origin": origin,
            "type": self.type(whole, "type", path),
            "name": self.text(whole, "name", path),
            "to": self.producer(whole, path),
            "into": self.text(whole, "in", path),
            "options": self.options(whole, path),
            **flags,
        }
        if whole["kind"] == "bind":
            return Bind(**fields)
        return Multibind(**fields, id=self.text(whole, "as", path) if "as" in whole else fields["name"])

    def _alternatives(self, data: Any, path: Path) -> tuple[tuple[tuple[str, str], ...], ...]:
        shape = 'a condition is a list of alternatives, each a list of [category, value]: [[["node", "web1"]]]'
        alternatives = []
        for outer, one in enumerate(self.list(data, path, shape)):
            pairs = []
            for inner, pair in enumerate(self.list(one, (*path, outer), shape)):
                if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_scalar, pair)):
                    raise self.stop((*path, outer, inner), shape)
                pairs.append((str(pair[0]), _category_text(pair[1])))
            if not pairs:
                raise self.stop((*path, outer), shape)
            alternatives.append(tuple(pairs))
        if not alternatives:
            raise self.stop(path, shape)
        return tuple(alternatives)

    def _names(self, data: Any, path: Path) -> tuple[str, ...]:
        listed = [data] if isinstance(data, str) else self.list(data, path, "names is a list of class names")
        if not listed or not all(isinstance(name, str) and name for name in listed):
            raise self.stop(path, "names is a list of class names")
        return tuple(listed)

    def _parameters(self, whole: dict[Any, Any], path: Path, origin: Origin, flags: dict[str, bool]) -> Item:
        text = self.text(whole, "target", path, needed=True) or ""
        target = self.typed(lambda: target_of(text), (*path, "target"))
        to, options = self.producer(whole, path), self.options(whole, path)
        return Parameters(origin=origin, target=target, to=to, options=options, **flags)

    def _map(self, whole: dict[Any, Any], path: Path, origin: Origin, flags: dict[str, bool]) -> Item:
        sides = [self.text(whole, side, path, needed=True) or "" for side in ("lhs", "rhs")]
        types = [self.typed(lambda side=side: target_of(side), path) for side in sides]  # type: ignore[misc]
        pairs = self.map(whole.get("map"), (*path, "map"), "map is a map of parameter names")
        if not all(isinstance(name, str) for pair in pairs.items() for name in pair):
            raise self.stop((*path, "map"), "map is a map of parameter names")
        return ParameterMap(origin=origin, lhs=types[0], rhs=types[1], map=dict(pairs), **flags)

    def _variables(self, whole: dict[Any, Any], path: Path, origin: Origin, flags: dict[str, bool]) -> Item:
        of = self.type(whole, "type", path)
        to = self.map(whole.get("to"), (*path, "to"), 'variables are bound with "to": {"value": {...}}')
        if set(to) - {"value", "literal"} or len(to) != 1:
            raise self.stop((*path, "to"), "variables are bound to a hash of values")
        given = next(iter(to.values()))
        values: dict[str, Any]
        if flags.get("abstract"):
            values = dict.fromkeys(self._names(given, (*path, "to", "value")))
            flags["single"] = isinstance(given, str)
        else:
            named = self.map(given, (*path, "to", "value"), "variables are bound to a hash of values")
            values = {
                str(name): Constant(taken_in(value))
                if "literal" in to
                else self.value(value, (*path, "to", "value", name))
                for name, value in named.items()
            }
        return Variables(origin=origin, type=of, values=values, **flags)

    def _dependency(self, whole: dict[Any, Any], path: Path, origin: Origin) -> Item:
        chain = self.list(whole.get("chain"), (*path, "chain"), "chain is a list of references and arrows in turn")
        links: list[tuple[str, ...] | str] = []
        for index, link in enumerate(chain):
            at = (*path, "chain", index)
            if index % 2:
                if link not in ("->", "~>"):
                    raise self.stop(at, f"{link!r} is no arrow", "arrows are -> and ~>")
                links.append(link)
            else:
                texts = [link] if isinstance(link, str) else self.list(link, at, "references are texts")
                links.append(tuple(str(self.typed(lambda text=text: parse_type(str(text)), at)) for text in texts))  # type: ignore[misc]
        if len(links) < 3 or not len(links) % 2:
            raise self.stop((*path, "chain"), "a dependency needs a reference on both sides of each arrow")
        return Dependency(origin=origin, chain=tuple(links))

    # --- the site ----------------------------------------------------------------------------

    def site(self, data: Any, file: str | None) -> Site:
        whole = self.map({} if data is None else data, (), "a site description is a map")
        self.fields(whole, ("version", "site", "assign"), (), "a site description")
        found = Site(file, "site" in whole)
        for name, value in self.map(whole.get("assign", {}), ("assign",), "assign is a map").items():
            found.statements.append(Assign("", str(name), self.node(value, ("assign", name))))
        said = self.map(whole.get("site", {}), ("site",), "site is a map")
        self.fields(said, ("defaults", "environments", "dynamic", "categories", "layers"), ("site",), "a site")
        if "defaults" in said:
            found.defaults = self._attributes(said["defaults"], ("site", "defaults"))
        if "environments" in said:
            at: Path = ("site", "environments")
            named = self.map(said["environments"], at, "environments is a map")
            found.environments = {str(name): self._attributes(one or {}, (*at, name)) for name, one in named.items()}
        if "dynamic" in said:
            at = ("site", "dynamic")
            dynamic = self.map(said["dynamic"], at, 'dynamic is a map with "dir"')
            found.dynamic = (
                self.node(dynamic.get("dir"), (*at, "dir")), self._attributes(dynamic.get("attrs", {}), (*at, "attrs")),
            )  # fmt: skip
        if "categories" in said:
            found.categories = self._categories(said["categories"], ("site", "categories"))
        if "layers" in said:
            found.layers = self._site_layers(said["layers"], ("site", "layers"))
        return found

    def _attributes(self, data: Any, path: Path) -> dict[str, Node]:
        named = self.map(data, path, "attributes are a map")
        return {str(name): self.node(value, (*path, name)) for name, value in named.items()}

    def _categories(self, data: Any, path: Path) -> list[tuple[str, Node]]:
        pairs = []
        for index, pair in enumerate(self.list(data, path, "categories is a list of [name, value], the highest first")):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                raise self.stop((*path, index), "a category is [name, value]")
            pairs.append((pair[0], self.node(pair[1], (*path, index, 1))))
        return pairs

    def _site_layers(self, data: Any, path: Path) -> list[SiteLayer]:
        layers = []
        for index, one in enumerate(self.list(data, path, "layers is a list, the highest first")):
            at = (*path, index)
            layer = self.map(one, at, "a layer is a map")
            self.fields(layer, ("name", "include", "exclude"), at, "a layer")
            sides = [
                self._names(layer[side], (*at, side)) if layer.get(side) else None for side in ("include", "exclude")
            ]
            lists = [None if side is None else list(side) for side in sides]
            layers.append(SiteLayer(self.text(layer, "name", at, needed=True) or "", *lists))
        return layers

    # --- producers -------------------------------------------------------------------------

    def producer(self, whole: dict[Any, Any], path: Path) -> Producing | None:
        return self.producing(whole["to"], (*path, "to")) if "to" in whole else None

    def producing(self, data: Any, path: Path) -> Producing:
        whole = self.map(data, path, 'a producer is a map, such as {"value": 1}')
        kinds = [kind for kind in _PRODUCERS if kind in whole]
        if len(kinds) != 1:
            raise self.stop(path, "a producer has one of these: " + ", ".join(_PRODUCERS))
        (kind,) = kinds
        fields, read = _PRODUCERS[kind]
        self.fields(whole, (kind, *fields), path, f"a {kind} producer")
        return read(self, whole, path)

    def value(self, data: Any, path: Path) -> Producing:
        """A value, or what must be worked out for it."""
        node = self.node(data, path)
        return Constant(plain(node)) if is_constant(node) else Computed(node)

    def node(self, data: Any, path: Path) -> Node:
        if isinstance(data, dict):
            special = self._special(data, path)
            if special is not None:
                return special
            return HashOf(tuple((Literal(key), self.node(value, (*path, key))) for key, value in data.items()))
        if isinstance(data, (list, tuple)):
            return ListOf(tuple(self.node(value, (*path, index)) for index, value in enumerate(data)))
        return Literal(data)

    def _special(self, data: dict[Any, Any], path: Path) -> Node | None:
        if len(data) == 1:
            ((word, value),) = data.items()
            if word == "interpolate" and isinstance(value, str):
                return Interpolated(value)
            if word == "variable" and isinstance(value, str):
                return Variable(value)
            if word == "regex" and isinstance(value, str):
                return Literal(self._regex(value, path))
            if word == "hash" and isinstance(value, list) and all(isinstance(p, list) and len(p) == 2 for p in value):
                return self._pairs(value, (*path, "hash"))
            if word == "expression" and isinstance(value, str):
                return self._source(value, path)
        if set(data) == {"lambda", "source"} and isinstance(data["source"], str):
            return self._source(data["source"], path)
        return None

    def _pairs(self, data: list[list[Any]], path: Path) -> Node:
        pairs = []
        for index, (key, value) in enumerate(data):
            pair = self.node(key, (*path, index, 0)), self.node(value, (*path, index, 1))
            if isinstance(pair[0], (ListOf, HashOf)):
                raise self.stop((*path, index), "the key of a hash is a text, a number or a boolean")
            pairs.append(pair)
        return HashOf(tuple(pairs))

    def _regex(self, text: str, path: Path) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except re.error as error:
            raise self.stop(path, f"the pattern {text!r} cannot be read: {error}") from None

    def _source(self, text: str, path: Path) -> Node:
        from nodeattrs.adapters.bindings.forms.language import parse_expression

        try:
            return parse_expression(text)
        except BindingError as error:
            raise self.stop(path, f"the expression cannot be read: {error.message}") from None

    def options(self, whole: dict[Any, Any], path: Path) -> dict[str, Any]:
        given = self.map(whole.get("options", {}), (*path, "options"), "options is a map")
        options: dict[str, Any] = {}
        for name, value in given.items():
            node = self.node(value, (*path, "options", name))
            options[str(name)] = plain(node) if is_constant(node) else node
        return options

    def asked(self, data: Any, path: Path) -> Asked:
        if isinstance(data, str):
            return Asked(None, data)
        whole = self.map(data, path, 'a key is a name, or a map such as {"type": "Integer", "name": "x"}')
        self.fields(whole, ("type", "name"), path, "a key")
        asked = Asked(self.type(whole, "type", path), self.text(whole, "name", path))
        if asked.type is None and asked.name is None:
            raise self.stop(path, "a key needs a type or a name")
        return asked

    def condition(self, data: Any, path: Path) -> Condition:
        if isinstance(data, dict) and set(data) == {"or"}:
            sides = self.list(data["or"], (*path, "or"), "or takes a list of lists of conditions")
            return ("or", *(self.conditions(side, (*path, "or", index)) for index, side in enumerate(sides)))
        if isinstance(data, dict) and set(data) == {"not"}:
            return "not", self.conditions(data["not"], (*path, "not"))
        signs = ("==", "!=", "<", "<=", ">", ">=", "=~", "!~", "~=", "~!")
        if not isinstance(data, list) or len(data) != 3 or not isinstance(data[0], str) or data[1] not in signs:
            raise self.stop(path, f"a condition is [attribute, operator, value], the operators are {' '.join(signs)}")
        wanted = plain(self.node(data[2], path)) if isinstance(data[2], dict) else data[2]
        if data[1] in signs[6:] and isinstance(wanted, str):
            self._regex(wanted, path)
        return data[0], data[1], wanted

    def conditions(self, data: Any, path: Path) -> tuple[Condition, ...]:
        listed = self.list(data, path, "conditions are a list")
        return tuple(self.condition(one, (*path, index)) for index, one in enumerate(listed))

    # --- shapes ------------------------------------------------------------------------------

    def map(self, data: Any, path: Path, shape: str) -> dict[Any, Any]:
        if not isinstance(data, dict):
            raise self.stop(path, f"{shape}, and this is {_kind(data)}")
        return data

    def list(self, data: Any, path: Path, shape: str) -> list[Any]:
        if not isinstance(data, (list, tuple)):
            raise self.stop(path, f"{shape}, and this is {_kind(data)}")
        return list(data)

    def text(self, whole: dict[Any, Any], name: str, path: Path, needed: bool = False) -> str | None:
        value = whole.get(name)
        if value is None and not needed:
            return None
        if not isinstance(value, str):
            what = "is missing" if name not in whole else f"is {_kind(value)}, not text"
            raise self.stop((*path, name) if name in whole else path, f"{name} {what}")
        return value

    def flag(self, whole: dict[Any, Any], name: str, path: Path) -> bool:
        if not isinstance(whole[name], bool):
            raise self.stop((*path, name), f"{name} is true or false, and this is {_kind(whole[name])}")
        return bool(whole[name])

    def type(self, whole: dict[Any, Any], name: str, path: Path) -> Type | None:
        text = self.text(whole, name, path)
        return None if text is None else self.typed(lambda: parse_type(text), (*path, name))

    def typed(self, read: Callable[[], Type], path: Path) -> Type:
        try:
            return read()
        except BindingError as error:
            raise self.stop(path, error.message, error.hint, error.kind) from None

    def fields(self, whole: Mapping[Any, Any], known: tuple[str, ...], path: Path, what: str) -> None:
        for name in whole:
            if name not in known:
                close = near(name, known)
                hint = f"did you mean {', '.join(close)}?" if close else f"it knows {', '.join(known)}"
                self.fault((*path, name), f"{what} has no field {name!r}", hint)

    def fault(self, path: Path, message: str, hint: str | None = None, kind: str = "format") -> None:
        origin = self._place(self._set, path)
        said = () if origin is NOWHERE else (f"at {origin}",)
        self._faults.append(BindingError(kind, message, origins=(origin,), said=said, hint=hint))

    def stop(self, path: Path, message: str, hint: str | None = None, kind: str = "format") -> _Malformed:
        self.fault(path, message, hint, kind)
        return _Malformed()


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    words = {dict: "a map", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return words.get(type(value), f"a {type(value).__name__}")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _category_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_class(kind: type[Any]) -> Callable[[_Reader, dict[Any, Any], Path], Producing]:
    def read(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
        word = next(word for word in ("instance", "producer", "producer_series", "producer_object") if word in whole)
        text = reader.text(whole, word, path, needed=True) or ""
        of = text.removeprefix("Type[").removesuffix("]") if text.startswith("Type[") else text
        args = tuple(taken_in(reader.list(whole.get("args", []), (*path, "args"), "args is a list")))
        named = taken_in(reader.map(whole.get("named", {}), (*path, "named"), "named is a map"))
        return kind(of, args, named) if word != "producer_series" else Custom(of, args, named, True)

    return read


def _hash_lookup(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
    data = reader.map(whole["hash_lookup"], (*path, "hash_lookup"), "hash_lookup is a map")
    if "key" not in data:
        raise reader.stop((*path, "hash_lookup"), "a hash look-up needs a key")
    rest = {name: value for name, value in data.items() if name != "key"}
    return HashLookup(reader.asked(rest, (*path, "hash_lookup")), data["key"])


def _first_found(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
    at = (*path, "first_found")
    listed = reader.list(whole["first_found"], at, "first_found is a list of keys")
    return FirstFound(tuple(reader.asked(one, (*at, index)) for index, one in enumerate(listed)))


def _query(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
    at = (*path, "query")
    data = reader.map(whole["query"], at, "query is a map")
    reader.fields(data, ("type", "where"), at, "a query")
    of = reader.type(data, "type", at)
    if of is None:
        raise reader.stop(at, "a query needs a type")
    return Query(of, reader.conditions(data.get("where", []), (*at, "where")))


def _ref(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
    of = reader.type(whole, "ref", path)
    if of is None:
        raise reader.stop(path, "ref is a reference such as Sql[one]")
    return Ref(of)


def _named(reader: _Reader, whole: dict[Any, Any], path: Path) -> Producing:
    return Named(reader.text(whole, "producer_named", path, needed=True) or "")


_Read = Callable[[_Reader, dict[Any, Any], Path], Producing]
_PRODUCERS: dict[str, tuple[tuple[str, ...], _Read]] = {
    "value": ((), lambda reader, whole, path: reader.value(whole["value"], (*path, "value"))),
    "literal": ((), lambda reader, whole, path: Constant(taken_in(whole["literal"]))),
    "lookup": ((), lambda reader, whole, path: Lookup(reader.asked(whole["lookup"], (*path, "lookup")))),
    "hash_lookup": ((), _hash_lookup),
    "first_found": ((), _first_found),
    "instance": (("args", "named"), _of_class(Instance)),
    "series_of": ((), lambda reader, whole, path: Series(reader.producing(whole["series_of"], (*path, "series_of")))),
    "producer": (("args", "named"), _of_class(Custom)),
    "producer_series": (("args", "named"), _of_class(Custom)),
    "producer_object": (("args", "named"), _of_class(ProducerObject)),
    "producer_named": ((), _named),
    "ref": ((), _ref),
    "query": ((), _query),
}


# --- writing -----------------------------------------------------------------------------------


def to_data(sets: BindingSet | list[BindingSet]) -> dict[str, Any]:
    """The data form of one set or several; `sets_from_data` reads it back.

    raises: BindingError ("not-data"), for callables: give them a name with `functions`

    >>> to_data(BindingSet("a", (Bind(name="x", to=Constant(1)),)))
    {'name': 'a', 'items': [{'kind': 'bind', 'name': 'x', 'to': {'value': 1}}]}
    """
    if not isinstance(sets, BindingSet):
        return {"version": VERSION, "sets": [to_data(one) for one in sets]}
    try:
        return {"name": sets.name, "items": [item_data(item) for item in sets.items]}
    except RecursionError:
        raise BindingError("not-data", f"the set {sets.name} is nested too deep to be written") from None


def item_data(item: Item) -> dict[str, Any]:
    """The data form of one item."""
    flags = {flag: True for flag in _FLAGS if getattr(item, flag, False)}
    match item:
        case Multibind():
            data: dict[str, Any] = {"kind": "multibind", "type": str(item.type), "name": item.name, **flags}
            if item.id != item.name:
                data["as"] = item.id
            return {**data, **_tail(item)}
        case Bind():
            head: dict[str, Any] = {"kind": "bind"}
            if item.type is not None:
                head["type"] = str(item.type)
            if item.name is not None:
                head["name"] = item.name
            return {**head, **flags, **_tail(item)}
        case When():
            alternatives = [[list(pair) for pair in one] for one in item.alternatives]
            return {"kind": "when", "if": alternatives, "items": [item_data(inner) for inner in item.items]}
        case Rebinding():
            data = {"kind": item.verb, "key": _asked(item.key)}
            if item.verb != "rebind":
                data["as"] = _asked(item.target)
            return {**data, **flags, **_to(item.to)}
        case Inclusion():
            return {"kind": "exclude" if item.exclude else "include", "names": list(item.names)}
        case Parameters():
            return {"kind": "parameters", "target": str(item.target), **flags, **_to(item.to), **_options(item.options)}
        case ParameterMap():
            return {"kind": "map", "lhs": str(item.lhs), "rhs": str(item.rhs), **flags, "map": dict(item.map)}
        case Variables():
            typed = {"type": str(item.type)} if item.type is not None else {}
            names = list(item.values)
            value: Any = names[0] if item.single else names
            if not item.abstract:
                value = {name: _value(given) for name, given in item.values.items()}
            return {"kind": "variables", **typed, **flags, "to": {"value": value}}
        case Dependency():
            chain = [list(link) if isinstance(link, tuple) else link for link in item.chain]
            return {"kind": "dependency", "chain": chain}
    raise BindingError("not-data", f"{item!r} has no data form")


def _tail(item: Bind) -> dict[str, Any]:
    into = {"in": item.into} if item.into is not None else {}
    return {**_to(item.to), **into, **_options(item.options)}


def _to(producer: Producing | None) -> dict[str, Any]:
    return {} if producer is None else {"to": producer_data(producer)}


def _asked(asked: Asked) -> dict[str, Any]:
    typed = {"type": str(asked.type)} if asked.type is not None else {}
    return {**typed, **({"name": asked.name} if asked.name is not None else {})}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"options": {name: _node(value) for name, value in options.items()}} if options else {}


def _value(given: Any) -> Any:
    if isinstance(given, Constant):
        return _node(given.value)
    return _node(given.expression) if isinstance(given, Computed) else given


_WORDS = {"hash", "interpolate", "variable", "regex", "expression"}


def _looks_special(value: Any) -> bool:
    if isinstance(value, dict):
        special = (len(value) == 1 and set(value) <= _WORDS) or set(value) == {"lambda", "source"}
        return special or any(map(_looks_special, value.values()))
    return isinstance(value, list) and any(map(_looks_special, value))


def producer_data(of: Producing) -> dict[str, Any]:
    """The data form of a producer."""
    match of:
        case Constant():
            return {"literal" if _looks_special(of.value) else "value": _node(of.value)}
        case Computed():
            return {"value": _node(of.expression)}
        case Lookup():
            return {"lookup": _asked(of.asked)}
        case HashLookup():
            return {"hash_lookup": {**_asked(of.asked), "key": of.key}}
        case FirstFound():
            return {"first_found": [_asked(one) for one in of.candidates]}
        case Series():
            return {"series_of": producer_data(of.of)}
        case Instance() | ProducerObject():
            return {"instance" if isinstance(of, Instance) else "producer_object": of.of, **_arguments(of)}
        case Custom():
            return {"producer_series" if of.series else "producer": f"Type[{of.of}]", **_arguments(of)}
        case Named():
            return {"producer_named": of.name}
        case Ref():
            return {"ref": str(of.type)}
        case Query():
            return {"query": {"type": str(of.type), "where": [_condition(one) for one in of.where]}}
    raise BindingError("not-data", f"{of.describe()} has no data form", hint="bind a class or a producer by name")


def _arguments(of: Any) -> dict[str, Any]:
    args = {"args": [_node(arg) for arg in of.args]} if of.args else {}
    return {**args, **({"named": {name: _node(value) for name, value in of.named.items()}} if of.named else {})}


def _condition(condition: Condition) -> Any:
    if condition[0] == "or" and not isinstance(condition[1], str):
        return {"or": [[_condition(one) for one in side] for side in condition[1:]]}
    if condition[0] == "not" and not isinstance(condition[1], str):
        return {"not": [_condition(one) for one in condition[1]]}
    return [condition[0], condition[1], _node(condition[2])]


def _node(value: Any) -> Any:
    match value:
        case Literal():
            return _node(value.value)
        case Interpolated():
            return {"interpolate": value.text}
        case Variable():
            return {"variable": value.name}
        case Lambda():
            return {"lambda": list(value.parameters), "source": value.source}
        case ListOf():
            return [_node(item) for item in value.items]
        case HashOf():
            return _hash([(_node(key), _node(entry)) for key, entry in value.pairs])
        case Node():
            return {"expression": str(value)}
        case re.Pattern():
            return {"regex": value.pattern}
        case dict():
            return _hash([(key, _node(entry)) for key, entry in value.items()])
        case list():
            return [_node(entry) for entry in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise BindingError("not-data", f"{value!r} has no data form", hint="name it with functions={...} or classes={...}")


def _hash(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """A map where all keys are texts; else pairs, since JSON would make one key of 1 and "1"."""
    if all(isinstance(key, str) for key, _ in pairs):
        return dict(pairs)
    return {"hash": [list(pair) for pair in pairs]}


def schema() -> dict[str, Any]:
    """The JSON Schema of the data form, for tools and other languages."""
    import importlib.resources
    import json

    text = importlib.resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found

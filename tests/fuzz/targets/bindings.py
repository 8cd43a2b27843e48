"""Bindings: the text language from its own grammar, the data form, sites, types, and injectors of what was read."""

from __future__ import annotations

import json
import random
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from nodeattrs.bindings import (
    BindingSet,
    Composition,
    Injector,
    Inventory,
    Layer,
    Site,
    State,
    environment_of,
    layer_references,
    parse_expression,
    parse_items,
    parse_sets,
    parse_site,
    parse_type,
    sets_from_data,
    site_from_document,
    to_data,
)
from nodeattrs.dialects.bindings.model.expressions import variables_of
from nodeattrs.dialects.bindings.model.values import FUNCTIONS
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import parse
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_json, spoiled
from tests.fuzz.target import Refused, Target, from_grammar, from_shape, json_of, seeds_in, texts_of, tried
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_RULES = files("nodeattrs.dialects.bindings.forms.language").joinpath("grammar.lark").read_text("utf-8")
_WORDS = {
    "SET": ("a", "x", "ssh", "MySpecial", "X::resolutions", "::a::b"),
    "NAME": (
        "a",
        "b",
        "x",
        "ssh::port",
        "node",
        "rack",
        "include",
        "size",
        "concat",
        "name",
        "transformer",
        "combinator",
        "first_found",
        "lookup",
    ),
    "CLASSREF": (
        "String",
        "Integer",
        "Array",
        "Hash",
        "Data",
        "Host",
        "Web::Site",
        "Type",
        "Pattern",
        "Boolean",
        "Number",
        "Literal",
    ),
    "VARIABLE": ("$x", "$node", "$a::b", "$::fqdn", "$confdir", "$modulepath"),
    "NUMBER": ("1", "0", "22", "1.5", "0x1f", "1e3", "077", "99999999999999999999", "2e400"),
    "SINGLE": ("'x'", "''", "'a b'", "'it\\'s'", "'ssh::port'", "'a.b'", "'/x'", "'confdir:/a::default'"),
    "DOUBLE": ('"y"', '"a${x}b"', '"$node"', '"\\n\\u{41}"', '"${1 + 2}"', '"${"', '"\\$"'),
    "REGEX": ("/a/", "/^x.*$/", "/[a-z]+/", "/(/", "/\\d/"),
    "COMPARE": ("==", "!=", "<=", ">=", "<", ">", "=~", "!~", "~=", "~!"),
    "ARROW": ("->", "~>"),
}
_SEEDS = [*seeds_in("bindings", lambda text: "bind" in text or "{" in text, 150), *texts_of("bindings/**/*.pp")]
_EXAMPLE_SITE = texts_of("bindings/manifests/site.pp")[0]
_ODD = (
    "${",
    "}",
    "'",
    '"',
    "/",
    "@",
    "::",
    "multibind",
    "bind 'x' to 1",
    "when node 'a' { }",
    "?",
    "??",
    "=>",
    "# c\n",
    "\\",
    "|$x|",
)


def _grammar(start: str) -> Grammar:
    return Grammar(_RULES, _WORDS, start=start)


_FILES = _grammar("bindings_file")
_TYPES = _grammar("type")
_STATE = State([("node", "a"), ("rack", "b"), ("environment", "x")])


def _written(sets: BindingSet | list[BindingSet]) -> None:
    """What was read, written as data, read again and injected."""
    json.dumps(to_data(sets), default=str)
    several = sets if isinstance(sets, list) else [sets]
    tried(lambda: sets_from_data(to_data(sets)), lambda: _injected(several))


def _injected(sets: list[BindingSet]) -> None:
    _asked_all(Injector([Layer("site", sets[:1]), Layer("modules", sets[1:])], _STATE))


def _asked_all(injector: Injector) -> None:
    for key in list(injector.keys())[:5]:
        tried(partial(injector.inject, *_asked(key)), lambda: str(injector.explain(*_asked(key))))  # noqa: B023
    str(injector.graph())


def _asked(key: Any) -> tuple[Any, ...]:
    return (key.name, key.type) if hasattr(key, "name") and hasattr(key, "type") else (key,)


def _data(chance: random.Random) -> str:
    """The data form of what the text language can say, spoiled."""
    for _ in range(20):
        try:
            tree = to_data(parse_sets(_FILES.grown(chance)))
        except NodeattrsError:
            continue
        break
    else:
        tree = {
            "version": 1,
            "sets": [{"name": "a::default", "items": [{"kind": "bind", "name": "x", "to": {"value": 1}}]}],
        }
    tree = json.loads(json.dumps(tree, default=str))
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        tree = spoiled(tree, chance)
    return as_json(tree, chance)


_REFERENCES = (
    "confdir:/a::default", "module:/*::default", "module:/**", "enc:/classes", "module:/ssh::default?optional", "x:/y",
    "confdir:/*",
    "module:/::a", "confdir:", "enc:/variables",
)  # fmt: skip
_CONFIG = [
    {"name": ("site", "modules"), "include": ([_REFERENCES], _REFERENCES), "exclude": ([_REFERENCES], _REFERENCES)}
]
_VALUES = (
    1,
    "a",
    True,
    {"variable": "x"},
    {"interpolate": "a${x}b"},
    [1, {"variable": "$rack"}],
    {"expression": "1 + $x"},
    {"a": "b"},
)
_SITE = {
    "site": {
        "categories": [["node", "a"], ["rack", {"variable": "rack"}]],
        "layers": [{"name": ("site", "modules"), "include": [_REFERENCES], "exclude": [_REFERENCES]}],
        "environments": {"prod": {"envdir": _VALUES, "modulepath": _VALUES}},
        "defaults": {"modulepath": _VALUES, "envdir": _VALUES},
        "dynamic": {"dir": _VALUES, "attrs": {"manifest": _VALUES}},
    },
    "assign": {"x": _VALUES, "rack": _VALUES, "z": _VALUES},
    "version": 1,
}  # fmt: skip


def _references(text: str) -> Any:
    inventory = Inventory({"ssh": ["ssh::default", "ssh::x"], "ntp": ["ntp::default"]}, ["a::default", "b::c"], ["x"])
    layers = json_of(text)
    if not isinstance(layers, list):
        raise Refused("no list")
    return layer_references(layers, inventory)


def _site(text: str) -> Any:
    return site_from_document(parse(text, "site.json", "json"))


def _worked(site: Any) -> None:
    variables = {"x": 1, "rack": "b", "node": "a", "confdir": "/c"}
    tried(
        site.to_dict,
        lambda: site.listed_categories(variables),
        lambda: environment_of(*site.evaluated(variables), confdir="/s"),
    )


_FACTS = {"fqdn": "a", "rack": "b", "x": ["c", 1], "a::b": None}
_CLASSIFIED = {
    "classes": ({"a": {"b": TREE}, "ssh::x": (None, TREE)}, [("a", "b::c")], None),
    "parameters": {"x": TREE, "rack": ("b", TREE)}, "environment": ("prod", "production", TREE),
}  # fmt: skip


def _composed(classifier: Any = None) -> None:
    """The site that stands in a folder, as one node sees it."""
    written("place/bindings/default.pp", "bindings default { bind 'x' to $rack bind Integer 'n' to 1 }")
    written(
        "place/modules/ssh/bindings/default.pp",
        "bindings ssh::default { bind 'y' to 'z' when rack b { bind 'x' to 2 } }",
    )
    composition = Composition(Path("place"), node="a", facts=_FACTS, classifier=classifier)
    _asked_all(composition.injector())


def _used(site: Site) -> None:
    _worked(site)
    _composed()


def _described(text: str) -> Site:
    site = parse_site(text)
    written("place/manifests/site.pp", text)
    return site


def _classified(text: str) -> Any:
    said = json_of(text)
    if not isinstance(said, dict):
        raise Refused("no map")
    written("place/manifests/site.pp", _EXAMPLE_SITE)
    return said


def _evaluated(node: Any) -> None:
    json.dumps(node.to_data(), default=str), str(node), list(variables_of(node))
    values = {"x": 1, "node": "a", "a::b": ["c"], "fqdn": {"k": None}}
    tried(lambda: node.evaluate(lambda name: values.get(name.removeprefix("::")), FUNCTIONS))


TARGETS = (
    Target("bindings", from_grammar(_FILES, [text for text in _SEEDS if "bindings" in text], _ODD), parse_sets,
        _written),
    Target("bindings-items", from_grammar(_grammar("items"), _SEEDS, _ODD), parse_items, _written),
    Target("bindings-site", from_grammar(_grammar("site_file"), _SEEDS, _ODD), _described, _used),
    Target("bindings-expression", from_grammar(_grammar("expression"), (), _ODD), parse_expression, _evaluated),
    Target("bindings-type", from_grammar(_TYPES), parse_type, str),
    Target("bindings-data", _data, lambda text: sets_from_data(json_of(text)), _written),
    Target("bindings-site-data", from_shape(_SITE), _site, _worked),
    Target("classifier", from_shape(_CLASSIFIED), _classified, _composed),
    Target("bindings-layers", from_shape(_CONFIG), _references),
)  # fmt: skip

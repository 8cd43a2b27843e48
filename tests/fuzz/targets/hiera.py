"""Hiera: trees, hiera.yaml, lookup options, merges, types, keys, conversions and Ruby's expressions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.dialects.hiera import control
from nodeattrs.dialects.hiera.config import read_config
from nodeattrs.dialects.hiera.data import read_document
from nodeattrs.dialects.hiera.keys import split_key
from nodeattrs.dialects.hiera.strategies import strategy_of
from nodeattrs.dialects.hiera.types import convert, parse_type
from nodeattrs.hiera import BadData, Hiera, merge
from nodeattrs.puppet.regex import translated
from tests.fuzz.grammar import Grammar
from tests.fuzz.mutation import mutated
from tests.fuzz.shapes import TREE, as_yaml, grown, spoiled
from tests.fuzz.target import Refused, Target, from_grammar, from_shape, json_of, seeds_in, tried, vectors
from tests.fuzz.targets.runs import written
from tests.fuzz.targets.texts import YAML

__all__ = ["TARGETS"]

_TEXTS = Grammar(
    r"""
    start: piece+
    piece: _TEXT | "%{" _VARIABLE "}" | "%{" _FUNCTION "('" _ARGUMENT "')}" | "%{" piece "}"
    """,
    {
        "_TEXT": ("a", " ", "b-c", "%", "}", "é", "::", ""),
        "_VARIABLE": ("facts.r", "facts.a.b", "::r", "trusted.certname", "x", "l.0", "facts.l.0", "", "n",
            "facts.'a.b'", "environment"),
        "_FUNCTION": ("lookup", "hiera", "alias", "literal", "scope", "x"),
        "_ARGUMENT": ("k", "l", "k.a", "s", "l.0", "facts.r", "%", "k.a.b.0", "lookup_options", ""),
    },
    glue="",
)  # fmt: skip
_MERGES = (
    "deep", "unique", "hash", "first", "x",
    {"strategy": ("deep", "hash"), "knockout_prefix": ("--", "", "-", "(a+)+!", "["), "merge_hash_arrays": True,
        "sort_merged_arrays": (True, 1), "knockout_through": True},
)  # fmt: skip
_TYPE_RULES = Grammar(
    r"""
    start: type
    type: _PLAIN | _SIZED ["[" limit ["," limit] "]"] | "Array[" type ["," limit ["," limit]] "]"
        | "Hash[" type "," type ["," limit] "]" | "Sensitive[" type "]" | "Boolean[" ("true" | "false") "]"
        | "Variant[" type ("," type)* "]" | "Optional[" (type | _TEXT) "]" | "Enum[" _TEXT ("," _TEXT)* "]"
        | "Pattern[" _REGEX ("," _REGEX)* "]" | "NotUndef[" (type | _TEXT) "]" | "Type[" type "]"
        | "Struct[{" _KEY "=>" type ("," _KEY "=>" type)* "}]" | "Tuple[" type ("," type)* ["," limit] "]"
    limit: _NUMBER | "default"
    """,
    {
        "_PLAIN": ("Any", "Data", "Undef", "Scalar", "Numeric", "Boolean", "Array", "Hash", "NotUndef", "Collection",
            "ScalarData", "Regexp", "Default"),
        "_SIZED": ("Integer", "Float", "String", "Collection"),
        "_TEXT": ("'a'", '"b"', "''", '"\\u{41}"', "'it\\'s'"),
        "_REGEX": ("/^a.*$/", "/[[:alpha:]]+/", "'x'", "/(?<n>a)\\k<n>/i", "/\\h/", "/a|b/"),
        "_KEY": ("a", "'b'", "Optional[c]", "Optional['d']", "NotUndef[e]"),
        "_NUMBER": ("0", "1", "5", "-1", "2.5", "0x1f", "017", "1e3", "99999999999999999999"),
    },
    glue="",
)  # fmt: skip
_REGEXES = Grammar(
    r"""
    start: branch ("|" branch)*
    branch: part*
    part: atom [_TIMES]
    atom: _SIGN | _ESCAPE | "[" ["^"] _MEMBER+ "]" | "(" [_GROUP] start ")" | _ANCHOR | "[" _MEMBER "[" _MEMBER "]]"
    """,
    {
        "_TIMES": ("*", "+", "?", "{1,2}", "{,3}", "{2}", "+?", "*+", "??", "{1000}"),
        "_SIGN": ("a", "b", ".", "é", " ", "::", "-", "{", "}", "#", "]"),
        "_ESCAPE": ("\\h", "\\H", "\\w", "\\d", "\\s", "\\1", "\\k<n>", "\\.", "\\u{41}", "\\x41", "\\p{L}", "\\n",
            "\\b", "\\e", "\\cA", "\\101", "\\R", "\\/"),
        "_MEMBER": ("a", "a-z", "\\d", "[:alpha:]", "[:^digit:]", "&&", "-", "\\]", "\\h", "^", "\\w-", "["),
        "_GROUP": ("?:", "?<n>", "?=", "?!", "?<=", "?<!", "?>", "?i:", "?mx-i:", "?#", "?i)", "?'q'"),
        "_ANCHOR": ("^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B", "\\G"),
    },
    glue="",
)  # fmt: skip
_KEYS = Grammar(
    r"""
    start: root ("." step)*
    root: _WORD | _QUOTED | "::" _WORD
    step: _WORD | _QUOTED | _NUMBER
    """,
    {
        "_WORD": ("k", "l", "a", "b", "a::b", "profile::x"),
        "_QUOTED": ("'a.b'", '"c"', "'k'", '""'),
        "_NUMBER": ("0", "1", "-1", "00"),
    },
    glue="",
)
_OPTIONS = {
    key: {
        "merge": _MERGES,
        "convert_to": (_TYPE_RULES.grown, [_TYPE_RULES.grown, True], ["Integer", 2], "Array", "Sensitive", "Boolean"),
    }
    for key in ("k", "l", "s", "^k", "^.*$", "^(?<x>.)l")
}
_DATA = {
    "lookup_options": _OPTIONS, "k": ({"a": TREE, "b": [_TEXTS.grown], "--c": 1}, _TEXTS.grown, TREE),
    "l": [_TEXTS.grown, TREE, "--a"], "s": _TEXTS.grown, "x": TREE, _TEXTS.grown(random.Random(1)): 1,
}  # fmt: skip
_PATHS = (
    "x.yaml",
    "y.yaml",
    "%{facts.r}.yaml",
    "%{lookup('s')}.yaml",
    "nodes/%{trusted.certname}.yaml",
    "../x.yaml",
    "a.json",
    "",
)
_GLOBS = ("*.yaml", "**/*.yaml", "%{facts.r}*", "{x,y}.yaml", "[xy].yaml", "?.yaml", "a**", "")
_ENTRY = {
    "name": ("a", "b", "c"), "path": _PATHS, "paths": [_PATHS], "glob": _GLOBS, "globs": [_GLOBS],
    "datadir": ("data", "%{facts.r}", "/x"),
    "data_hash": ("yaml_data", "json_data", "hocon_data"), "lookup_key": ("eyaml_lookup_key", "x::y"),
    "options": {"a": TREE},
    "mapped_paths": (["facts.l", "t", "%{t}.yaml"], ["l", "t", "x"], ["x"]), "uri": "http://x",
    "hiera3_backend": "yaml",
}  # fmt: skip
_DEFAULTS = {"datadir": "data", "data_hash": ("yaml_data", "json_data"), "options": {"a": "b"}}
_FACTS: Any = {"r": "x", "a": {"b": "%{lookup('k')}"}, "l": ["x", "y", "y/../z", 1], "n": None}
_Y = "k: {a: [1, '--x'], b: y}\nl: [a, b]\ns: text\n"
_CONFIG = "version: 5\nhierarchy:\n- name: c\n  paths: [x.yaml, y.yaml]\n"
_KNOWN = seeds_in("hiera-lookup", lambda text: "\n" in text, 200)
_WORDS = (
    "%{",
    "}",
    "%{lookup('k')}",
    "%{alias('l')}",
    "('",
    "lookup_options:\n  k: {merge: deep}\n",
    "<<: ",
    "&a ",
    "*a",
    "\n- ",
    "\n  ",
    ": ",
)


def _written(shape: Any, seeds: list[str], chance: random.Random) -> str:
    """A document of a shape, any YAML, or one that somebody has written."""
    way = chance.random()
    if way < 0.6:
        tree = grown(shape, chance, 0.7)
        for _ in range(chance.choice((0, 0, 1, 2))):
            tree = spoiled(tree, chance)
        text = as_yaml(tree, chance)
    else:
        text = YAML.grown(chance) if way < 0.7 else chance.choice(seeds)
    return text if chance.random() < 0.7 else mutated(text, chance, _WORDS)


def _entry(chance: random.Random) -> Any:
    """An entry as people write it: one way of naming files, and a few options."""
    entry = grown(_ENTRY, chance, 0.1)
    named = chance.choice(("path", "paths", "glob", "globs", "mapped_paths"))
    return (
        {"name": f"level {chance.randrange(20)}", named: grown(_ENTRY[named], chance), **entry}
        if chance.random() < 0.9
        else entry
    )


_HIERA_YAML = {"version": (5, 5, 5, 5, 3), "defaults": _DEFAULTS, "hierarchy": [_entry], "default_hierarchy": [_entry]}


def _hierarchies(chance: random.Random) -> Any:
    """A hiera.yaml whose version is there."""
    tree = grown(_HIERA_YAML, chance, 0.6)
    return {"version": 5, **tree}


_OLD = {
    "version": (3, 4, 3, 4, 3),
    "backends": ("yaml", ["yaml", "json"], ["eyaml"], ["hocon", "gone"]),
    "hierarchy": (["x", "y.yaml", "nodes/%{facts.r}"], "x", [{"name": "x", "backend": "yaml"}]),
    "yaml": {"datadir": ("data", "/x", "%{facts.r}", "%{lookup('s')}"), "extension": ("yaml", "json", 1)},
    "eyaml": {"datadir": "data", "extension": "yaml", "pkcs7_private_key": "%{facts.r}", "a b": 1},
    "datadir": ("data", ""),
    "merge_behavior": ("deep", "x"),
}
_OLD_ENTRY = {
    "name": _PATHS,
    "backend": ("yaml", "json", "hocon"),
    "datadir": "data",
    "path": _PATHS,
    "paths": [_PATHS],
}


def _before_version_5(chance: random.Random) -> Any:
    """A hiera.yaml of version 3 or 4."""
    tree = grown(_OLD, chance, 0.7)
    kept = (
        ("version", "datadir", "hierarchy") if tree.get("version") == 4 else [key for key in tree if key != "datadir"]
    )
    if tree.get("version") == 4:
        tree["hierarchy"] = [{"name": str(at), "backend": "yaml", **grown(_OLD_ENTRY, chance, 0.4)} for at in range(3)]
    return {key: value for key, value in tree.items() if key in kept}


def _site(config: str, data: str) -> Path:
    root = Path("tree").absolute()
    written("tree/hiera.yaml", config)
    written("tree/data/x.yaml", data)
    written("tree/data/y.yaml", _Y)
    return root


def _looked_up(root: Path, facts: Any = _FACTS, **options: Any) -> None:
    hiera = Hiera(str(root), root=str(root), **options)
    scope = hiera.scope(facts, node="web1")
    for key in ("k", "l", "s", "k.a", "zz"):
        tried(*(partial(scope.lookup, key, default_value=1, merge=merge) for merge in (None, "deep", "unique", "hash")))
        tried(lambda: str(scope.explain(key)), lambda: scope.explain(key).to_dict())  # noqa: B023


def _data(text: str) -> Path:
    root = _site(_CONFIG, text)
    read = read_document(root / "data" / "x.yaml", "data/x.yaml", "yaml")
    if not isinstance(read.document.tree, dict):
        raise Refused("no map")
    return root


def _config(text: str) -> Path:
    root = _site(text, "k: 1\nt: \"%{lookup('s')}\"\n")
    for layer in ("environment", "global"):
        with suppress(BadData):
            if read_config(root / "hiera.yaml", "hiera.yaml", layer, lambda _: None, lambda _: None) is not None:
                return root
    raise Refused("it counts nowhere")


_GLOBBED = """\
version: 5
hierarchy:
- {name: a, globs: ["%{facts.r}.yaml", "**/%{facts.a.b}*", "%{facts.l.0}"]}
- {name: b, paths: ["%{facts.r}.yaml", "%{a.b}/x.yaml", "%{l}"], datadir: "%{facts.n}"}
- {name: c, mapped_paths: [l, t, "%{t}.yaml"]}
- {name: d, path: x.yaml}
"""
_SAID = (
    "*a*a*a*a*a*ab",
    "[z-a]",
    "{x,",
    "{{x,y},z}",
    "**",
    "**/**/**",
    "../..",
    "\\",
    "[!x",
    "?",
    "x.yaml",
    "/",
    "%{lookup('k')}",
    "x" * 300,
    TREE,
)
_KNOWN_FACTS = {"r": _SAID, "a": {"b": _SAID}, "l": ([_SAID], _SAID), "n": _SAID, "k": TREE}


def _facts(text: str) -> dict[str, Any]:
    said = json_of(text)
    if not isinstance(said, dict):
        raise Refused("no map")
    return said


def _for_facts(facts: dict[str, Any]) -> None:
    """What a node says of itself decides which files are read: the node may be anybody's."""
    data = "k: '%{facts.r} %{a.b}'\nl: ['%{l}', \"%{alias('k')}\"]\n"
    root = _site(_GLOBBED, data)
    written(f"tree/data/{'a' * 120}.yaml", data)
    _looked_up(root, facts)


_MERGE = {
    "values": [TREE, {"a": TREE, "b": [TREE, "--b"]}, [[TREE], "--a", "a"], {"a": {"--b": 1, "b": ["--", "x"]}}],
    "merge": _MERGES, "documented": (False, False, True),
}  # fmt: skip


def _strategy(text: str) -> dict[str, Any]:
    said = json_of(text)
    if not isinstance(said, dict) or not isinstance(said.get("values"), list):
        raise Refused("no values")
    if not isinstance(said.get("merge"), str | dict | None):
        raise Refused("no strategy")
    strategy_of(said.get("merge"))
    return said


def _merged(said: dict[str, Any]) -> None:
    json.dumps(merge(said["values"], said.get("merge"), documented=bool(said.get("documented"))))


def _typed(text: str) -> None:
    of = parse_type(text)
    for value in (None, True, 1, 2.5, "a", "", [], [1, "a"], {}, {"a": 1, "b": None}, {"c": [2]}):
        of.holds(value)
    str(of)
    root = _site(_CONFIG, "k: {a: 1, b: [x, 2.5, null]}\n")
    tried(lambda: Hiera(str(root), root=str(root)).scope({}, node="web1").lookup("k", value_type=text))


def _searched(pattern: Any) -> None:
    for text in ("", "a", "aab::b é", "x" * 30):
        pattern.search(text), pattern.replaced(text)


def _by_key(text: str) -> None:
    root = _site(_CONFIG, "k: {a: {b: [1]}, 'a.b': 2}\nl: [[1], {a: 2}]\nprofile::x: 1\n")
    scope = Hiera(str(root), root=str(root)).scope(_FACTS, node="web1")
    tried(
        lambda: scope.lookup(text, default_value=1),
        lambda: str(scope.explain(text)),
        lambda: scope.lookup(text, merge="deep"),
    )


_KINDS = (
    "Integer",
    "Float",
    "Numeric",
    "Boolean",
    "String",
    "Array",
    "Hash",
    "Sensitive",
    "Array[String]",
    "Integer[0, 9]",
)
_CONVERT = {
    "value": (TREE, "0x1f", "101", "1.5", "yes", " 12 ", "0b1", [["a", 1]], ["a", 1], 1, {"a": 1}),
    "to": (_KINDS, _KINDS, ["Integer", (2, 8, 10, 16, "x"), True], ["Array", True], _OPTIONS["k"]["convert_to"]),
}  # fmt: skip


def _conversion(text: str) -> tuple[Any, Any]:
    said = json_of(text)
    if not isinstance(said, dict):
        raise Refused("no map")
    to = said.get("to")
    parse_type(to[0] if isinstance(to, list) and to and isinstance(to[0], str) else str(to))
    return said.get("value"), to


_SETTINGS = Grammar(
    r"""
    start: line+
    line: _NAME _EQUALS part (":" part)* "\n" | "[" _SECTION "]\n" | module | _ODD "\n"
    module: "mod" _BLANK _QUOTE _MODULE _QUOTE _REST "\n"
    part: _PART
    """,
    {
        "_NAME": ("modulepath", "environmentpath", "basemodulepath", "hiera_config", "codedir", "manifest"),
        "_EQUALS": (" = ", "=", " ="), "_SECTION": ("main", "server", "x"), "_BLANK": (" ", "(", "\t"),
        "_PART": ("site", "modules", "$basemodulepath", "${codedir}/x", "$x", "m*", "[", "/", "..", "", "'q", "\0"),
        "_QUOTE": ("'", '"', ""), "_MODULE": ("a/b", "a-b", "b", "#{x}", "x::y", ""), "_REST": ("", ", '1'", ", :git"),
        "_ODD": ("# c", "x", "", "  ", "a = b = c", "mod x", "%w[a b].each do |m|"),
    },
    glue="",
)  # fmt: skip


def _control(text: str) -> tuple[str, dict[str, control.SettingLine]]:
    written("tree/environment.conf", text)
    return text, control.settings_in(Path("tree/environment.conf"), "environment.conf", ("server", "main"))


def _in_control(said: tuple[str, dict[str, control.SettingLine]]) -> None:
    root = _site(_CONFIG, "k: 1\nb::k: [1]\n")
    for name in ("environment.conf", "Puppetfile", "etc/puppet.conf"):
        written(f"tree/{name}", said[0])
    for options in ({}, {"puppet_conf": "tree/etc"}, {"strict": True}):
        hiera = Hiera(str(root), root=str(root), **options)
        scope = hiera.scope({}, node="web1")
        tried(lambda: hiera.modules("production"), lambda: scope.lookup("b::k", merge="unique"))  # noqa: B023
        tried(lambda: scope.lookup("b::x"), lambda: str(scope.explain("x::y")))  # noqa: B023


def _commented(shape: Any) -> Callable[[random.Random], str]:
    grow = from_shape(shape, words=("/* ", " */", "//", "// x\n", "1e999", "\\", '"'))
    return lambda chance: grow(chance).replace(",", chance.choice((",", ", // c\n", "/* , */,", ",/**/")))


def _encrypted(text: str) -> Path:
    config = "version: 5\nhierarchy:\n- {name: c, lookup_key: eyaml_lookup_key, paths: [x.yaml, y.yaml]}\n"
    root = _site(config, text)
    read_document(root / "data" / "x.yaml", "data/x.yaml", "yaml")
    return root


def _decrypted(root: Path) -> None:
    for decrypt in (False, True, lambda said: said[4:-1]):
        _looked_up(root, decrypt=decrypt)


TARGETS = (
    Target("hiera-control", from_grammar(_SETTINGS), _control, _in_control),
    Target("hiera-json", _commented({**_DATA, "n": (1e300, 1, "// x", "/*")}),
        lambda text: read_document(Path(written("tree/j.json", text)), "j.json", "json")),
    Target("hiera-eyaml", from_shape({**_DATA, "k": ("ENC[PKCS7,MIIB]", "a ENC[b] %{x}", ["ENC[GPG,a b]", "ENC[?]"])},
        written=as_yaml, words=("ENC[", "]", "ENC[PKCS7,AAAA]")), _encrypted, _decrypted),
    Target("hiera-data", partial(_written, _DATA, [text for text in _KNOWN if "version:" not in text]), _data,
        _looked_up),
    Target(
        "hiera-yaml",
        partial(_written, _hierarchies, [text for text in _KNOWN if "version:" in text]),
        _config,
        lambda root: (_looked_up(root), _looked_up(root, strict=True, documented=True)),
    ),
    Target("hiera-old", partial(_written, _before_version_5, ["version: 3\nhierarchy: common\n", "version: 4\n"]),
        _config, lambda root: (_looked_up(root), _looked_up(root, global_config=root / "hiera.yaml"))),
    Target("hiera-facts", from_shape(_KNOWN_FACTS), _facts, _for_facts),
    Target("hiera-merge", from_shape(_MERGE, [{"values": one["values"],
                    "merge": one["merge"]} for one in vectors("hiera-merge")]), _strategy, _merged),
    Target("hiera-type", from_grammar(_TYPE_RULES, (), ("default", "\\u{110000}", "=>", "Callable")),
        lambda text: (parse_type(text), text)[1], _typed),
    Target("hiera-key", from_grammar(_KEYS), lambda text: (split_key(text), text)[1], _by_key),
    Target("hiera-regex", from_grammar(_REGEXES), translated, _searched),
    Target("convert-to", from_shape(_CONVERT), _conversion, lambda asked: str(convert(*asked))),
)  # fmt: skip

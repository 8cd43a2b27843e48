"""Checks: texts that an entry is taken out of, manifests, words of code, and whole small repositories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeattrs.core.tree import left_without, strict_key
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.checks.fixes import fixes
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.formats.documents import parse
from nodeattrs.formats.patterns import fits
from nodeattrs.formats.removing import without
from nodeattrs.puppet.manifests import classes_in, computed_keys_in, lookups_in
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE
from tests.fuzz.target import Target, from_grammar, from_shape, json_of, texts_of
from tests.fuzz.targets.texts import YAML

__all__ = ["TARGETS"]

_MANIFEST = Grammar(
    r"""
    start: part*
    part: "class " _NAME [" " parameters] [" inherits " _NAME] " {\n" body* "}\n" | body | _ODD
    parameters: "(" [parameter (", " parameter)*] ")"
    parameter: [_TYPE " "] _VARIABLE [" = " value]
    value: _TEXT | _VARIABLE | "[" [value (", " value)*] "]" | "{" [_TEXT " => " value] "}" | _TEXT "(" value ")"
    body: _VARIABLE " = " _CALL "(" value [", " value [", " value]] ")\n" | "file { " _TEXT ": }\n" | _ODD
    """,
    {
        "_NAME": ("a", "a::b", "::a::b::c", "A", "a::", "é"),
        "_TYPE": ("String", "Pattern[/^\\(/]", "Enum['a', ')']", "Hash[String, Array]", "Struct[{a => Integer}]"),
        "_VARIABLE": ("$a", "$b", "$a::b", "$::c", "$", "$é"),
        "_TEXT": ("'a'", "\"${b}::c\"", "'it\\'s)'", "\"\\\"(\"", "'", "1", "undef", "\"a::${x}::$y\"", "default"),
        "_CALL": ("lookup", "hiera", "hiera_hash", "hiera_include", "other", "lookup({ 'name' => 'a::b' })"),
        "_ODD": ("# ( { '\n", "/* ) */", "@(EOT)\n ' (\n | EOT\n", "define a::b() {}\n", "\"",
            "}", "class", "@(\"X\"/L)\n"),
    },
    glue="",
)  # fmt: skip

_VALUES = (1, "x", "%{k}", "ENC[PKCS7,x]", None, True, [1], {"b": 1}, {"a": {"b": 2}}, {})
_APP = {"a": _VALUES, "port": _VALUES, "prot": _VALUES, "b": _VALUES}
_LEVELS = {"default_attributes": {"app": _APP}, "override_attributes": {"app": _APP}}
_SITE = {
    "roles/web.json": {"name": "web", "run_list": [("recipe[app]", "role[web]", "role[x]")], **_LEVELS},
    "roles/x.json": {"name": "x", "run_list": ["recipe[app]"], **_LEVELS},
    "environments/prod.json": {"name": "prod", **_LEVELS},
    "nodes/web1.json": {"run_list": [("role[web]", "role[x]")], "chef_environment": "prod", "normal": {"app": _APP}},
    "data_bags/b/i.json": {"id": "i", "password": _VALUES},
    "cookbooks/app/recipes/default.rb": (
        "node['app']['port']", "node['app'].each", "node['app'][x]", "node.rm('app')", "default['app']['a']['b'] = 1",
        "node.override['app']['port'] = 1", "['a']" * 50, "x = node[:app]['port'", "",
    ),
    "nodeattrs.toml": (
        "", "[merge]\n\"app.a\" = \"append\"\n", "[[check.rules]]\npath = \"**.**.a\"\nonly = []\n",
        "[[check.rules]]\npath = \"**.*.**\"\nlevel = \"override\"\nonly = [\"roles\"]\n", "[check]\nrules = [1]\n",
    ),
    "schema/attributes.json": (
        {}, {"properties": {"app": {"additionalProperties": False, "patternProperties": {"^(a+)+$": {}}}}},
        {"required": ["x"]}, {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/x.json"}, {"type": "nothing"}, True, 1,
    ),
    "hiera.yaml": {
        "version": 5,
        "hierarchy": [
            {
                "name": "n",
                "path": ("nodes/%{trusted.certname}.yaml", "%{x}/%{y}.yaml", "../x.yaml", "[a.yaml", "*.yaml"),
            },
            {"name": "g", "glob": ("*.yaml", "{a,b}/**", "[", "%{::x}")},
            {"name": "c", "path": "common.yaml"},
        ],
    },
    "data/nodes/web1.yaml": {
        "m::a": _VALUES, "m::aa": _VALUES, "m::${x}": 1, "lookup_options": ({"^m::(": {}}, 1, {}),
    },
    "data/common.yaml": {"m::a": _VALUES, "m::b": _VALUES, "": 1, "::": 1},
    "modules/m/manifests/init.pp": (
        "class m($a) {}", "lookup('m::a')", "class m(", "\"${a}::${b}\"", "hiera_hash('m::a')",
    ),
}  # fmt: skip


def _entries(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, inner in list(steps)[:6] if len(path) < 4 else ():
        yield (*path, step)
        yield from _entries(inner, (*path, step))


def _taken_out(text: str) -> None:
    before = parse(text, "input.yaml", "yaml").tree
    for path in _entries(before):
        left = without(text, path, "yaml")
        if left is not None:
            assert strict_key(parse(left, "x", "yaml").tree) == strict_key(left_without(before, path)), path
        same = without(text, path, "yaml", earlier=True)
        if same is not None:
            assert strict_key(parse(same, "x", "yaml").tree) == strict_key(before), path


def _manifest(text: str) -> str:
    found = [*classes_in(text), *lookups_in(text)]
    for parts in computed_keys_in(text):
        fits(parts, "a" * 200 + "::b")
    assert all(str(one) for one in found)
    return text


def _checked(text: str) -> None:
    tree = json_of(text)
    root = Path("checked")
    shutil.rmtree(root, ignore_errors=True)
    for name, content in tree.items() if isinstance(tree, dict) else ():
        path = root / str(name).replace("..", "").lstrip("/")
        with suppress(OSError, ValueError):  # a name that is none, or that of a folder
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8", "replace")
    if root.is_dir():
        came = checked(Repository(root))
        for one in [*came.faults, *came.warnings]:
            str(one), one.code
        for fix in fixes(root, came.warnings):
            list(fix.diff())


TARGETS = (
    Target(
        "removing",
        from_grammar(YAML, texts_of("**/*.yaml"), ("{a: 1, ", "}", "\n")),
        lambda text: (parse(text, "input.yaml", "yaml"), text)[1],
        _taken_out,
    ),
    Target("removing-json", from_shape(TREE), lambda text: (json_of(text), text)[1], _taken_out),
    Target("manifest", from_grammar(_MANIFEST), _manifest),
    Target("check", from_shape(_SITE), lambda text: (json_of(text), text)[1], _checked),
)

"""Documents, paths, rules for paths and Python sources: what `texts` and the core read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs import ACROSS, Node
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.rules import read_rules
from nodeattrs.core.tree import parse as parse_path
from nodeattrs.core.tree import spell
from nodeattrs.dialects.chef.repository.programs import compile_python
from nodeattrs.formats.documents import Document, Syntax, parse
from nodeattrs.formats.python import PythonText
from nodeattrs.policies import fold
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_yaml
from tests.fuzz.target import Target, from_grammar, from_shape, json_of, texts_of, tried

__all__ = ["PATHS", "TARGETS", "TOML_VALUES", "YAML", "touched"]

YAML = Grammar(
    r"""
    start: block
    block: pair+ | item+ | _SCALAR "\n" | flow "\n"
    pair: _KEY _COLON [_PROPERTY] (_SCALAR | flow | _ALIAS) "\n" | _KEY ":\n" nested+ | _MERGE
    nested: "  " _KEY _COLON [_PROPERTY] (_SCALAR | flow | _ALIAS) "\n" | "  - " [_PROPERTY] (_SCALAR | flow) "\n"
    item: "- " [_PROPERTY] (_SCALAR | flow | _ALIAS) "\n" | "- " _KEY ": " _SCALAR "\n"
    flow: "[" [flow_entry (", " flow_entry)*] "]" | "{" [_KEY ": " flow_entry (", " _KEY ": " flow_entry)*] "}"
    flow_entry: _SCALAR | flow
    _COLON: ": "
    """,
    {
        "_SCALAR": (
            "1", "a", "text b", "true", "no", "null", "~", "1.5", "0x1f", "0o17", "017", "1:30:20", "1_000", ".inf",
            ".nan",
            "2001-12-14", "2001-12-14t21:59:43.10-05:00", "''", '"q\\u00e9"', "'it''s'", "99999999999999999999", "0b1",
            "+1",
            ":sym", "1e3", "=", "y", '"\\x41"', "-", "!!str 1", "!!float 1", "!!binary aGk=", "12e03", "0.", "08",
        ),
        "_KEY": ("a", "b", "c", "k", "l", "1", "true", "'a b'", '"q"', "a.b", "null", "? a\n", "1.5", "2001-12-14",
            "[a]"),
        "_PROPERTY": ("&x ", "!!str ", "!!int ", "!t ", "!!set ", "!!map ", "!!timestamp ", "!ruby/sym ", "!!omap ",
            "&y "),
        "_ALIAS": ("*x", "*y"),
        "_MERGE": ("<<: *x\n", "<<: {a: 1}\n", "<<: [*x, {b: 2}]\n", "m: &x {k: 1}\n", "n: &y [1]\n",
            "t: |\n  a\n  b\n", "f: >-\n  a\n"),
    },
    glue="",
)  # fmt: skip
_YAML_WORDS = (
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "%TAG ! x\n",
    "? ",
    "- ",
    ": ",
    "#",
    "|2\n",
    "\t",
    "\n  ",
    "!<x> ",
    "<<: ",
    "*x",
)

_JSON_WORDS = (
    '{"a":',
    "[",
    "]",
    "}",
    '"',
    "\\u0000",
    "\\ud800",
    "NaN",
    "1e999",
    "-0",
    "-0.0",
    "null",
    ",",
    ":",
    '"": ',
)

TOML_VALUES = (
    "1", "-1", "0x1f", "1_000", "1.5", "inf", "nan", "true", '"a"', "'b'", '"""c\nd"""', "'''e'''", "[]", "[1, 2]",
    '["a", ["b"]]',
    "{}", "{a = 1}", "2020-01-01", "1979-05-27T07:32:00Z", "07:32:00", '"\\u00e9"', "1e400", "99999999999999999999",
    "[{b = 1}]",
)  # fmt: skip
_TOML = Grammar(
    r"""
    start: line*
    line: key " = " _VALUE "\n" | "[" key "]\n" | "[[" key "]]\n" | "# c\n"
    key: _NAME ("." _NAME)*
    """,
    {"_VALUE": TOML_VALUES, "_NAME": ("a", "b", "c", "d", "e", "f-g", '"x y"', "'q'", "1")},
    glue="",
)

PATHS = Grammar(
    r"""
    start: step ("." step)*
    step: _STEP
    """,
    {
        "_STEP": (
            "a",
            "b",
            "c",
            "0",
            "1",
            "-1",
            "*",
            '"a.b"',
            '"80"',
            "80",
            '"x\\"y"',
            "é",
            "a b",
            '"\\u00e9"',
            "(root)",
            '""',
        )
    },
    glue="",
)

_WORDS = ("append", "prepend", "unite", "replace", "keep")
_RULES = {
    path: (*_WORDS, {"policy": _WORDS, "at": ("both", "inside")}, {"merge_by": ("a", "b"), "at": ("both", "inside")})
    for path in ("a", "b", "a.b", "*", "a.*", "*.b", "*.*", '"a.b"', "a.b.c", "c.0")
}


def _document(syntax: Syntax, text: str) -> Document:
    return parse(text, f"input.{syntax}", syntax)


def touched(document: Document) -> None:
    """Ask where everything is, and let a node have it."""
    tried(partial(_placed, document, document.tree, ()), lambda: json.dumps(document.tree))
    if isinstance(document.tree, dict):
        node = Node("web1")
        node.default.write("x", document.tree)
        tried(node.to_dict, node.snapshot, lambda: str(node.trace("x")))


def _placed(document: Document, tree: Any, path: tuple[Any, ...]) -> None:
    document.place(path)
    if len(path) < 6:
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        for key, inner in entries:
            _placed(document, inner, (*path, key))


def _traced(path: tuple[Any, ...]) -> None:
    if "…" not in spell(path):  # a long one is cut
        assert path == parse_path(spell(path)), f"{path!r} is spelled {spell(path)}"
    node = Node("web1")
    node.default.write("a", {"b": [1, {"c": "d"}], "80": 1})
    tried(lambda: str(node.trace(path)), lambda: node.override.write(*path, 1), node.to_dict, node.snapshot)


def _rules(text: str) -> Any:
    said = json_of(text)
    if not isinstance(said, dict):
        said = {"a": said}
    read_rules(said)
    return said


def _folded(rules: Any) -> None:
    trees = (
        {"a": {"b": [1, 2], "c": {"d": 1}}, "b": [{"a": 1}], "c": 1},
        {"a": {"b": [2, 3], "c": None}, "b": [{"a": 1, "b": 2}]},
    )
    layers = [Layer(tree, Origin("file", f"layer {number}")) for number, tree in enumerate((*trees, {"a": 1}))]
    found = fold(layers, ACROSS, rules=rules)
    tried(lambda: found.value, lambda: str(found.trace("a.b")), lambda: str(found.trace("b")), found.to_dict)


def _python(text: str) -> tuple[PythonText, int]:
    compile_python(text, str(Path("roles/web.py")), "roles/web.py")
    return PythonText("roles/web.py", text), text.count("\n") + 1


def _python_placed(read: tuple[PythonText, int]) -> None:
    source, lines = read
    for line in range(lines + 2):
        for path in ((), ("a",), ("a", 0), ("apache2", "listen_ports", 1), ("b", "c", "d"), (0,)):
            source.place(line, path)


_PYTHON = Grammar(
    r"""
    start: statement*
    statement: target " = " value "\n" | _CALL "(" value ")\n" | target ".append(" value ")\n"
             | "if 1:\n    " target " = " value "\n" | target " += " value "\n"
             | "for x in " value ":\n    " target " = x\n"
    target: _NAME "[" _KEY "]" ("[" _KEY "]")*
    value: _SCALAR | "{" [_KEY ": " value (", " _BREAK _KEY ": " value)*] "}" | "[" [value (", " _BREAK value)*] "]"
         | "dict(a=" value ")"
         | "{**x, " _KEY ": " value "}" | "(" value ",)"
    """,
    {
        "_NAME": ("default", "override", "node.normal", "x"),
        "_CALL": ("default_attributes", "run_list", "name", "lazy", "override.merge"),
        "_KEY": ("'a'", "'b'", "'c'", "0", "f'{x}'", "'é'", "x", "'apache2'", "'listen_ports'"),
        "_SCALAR": ("1", "'a'", "None", "f'{y}'", "lambda: 1", "'''a\nb'''", "x if y else z", "-1", "b''", "...",
            "'é🐍'"),
        "_BREAK": ("", "", "\n    ", "\\\n"),
    },
    glue="",
)  # fmt: skip

TARGETS = (
    Target(
        "yaml",
        from_grammar(YAML, texts_of("**/*.yaml"), _YAML_WORDS),
        partial(_document, "yaml"),
        touched,
    ),
    Target("yaml-tree", from_shape(TREE, (), as_yaml), partial(_document, "yaml"), touched),
    Target(
        "json",
        from_shape(TREE, [json.loads(text) for text in texts_of("*/*.json")], words=_JSON_WORDS),
        partial(_document, "json"),
        touched,
    ),
    Target(
        "toml",
        from_grammar(_TOML, texts_of("nodeattrs.toml")),
        partial(_document, "toml"),
        touched,
    ),
    Target("path", from_grammar(PATHS), parse_path, _traced),
    Target("rules", from_shape(_RULES), _rules, _folded),
    Target("python", from_grammar(_PYTHON, texts_of("**/*.py")), _python, _python_placed),
)

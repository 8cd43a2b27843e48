"""Files that are folded: .env, .ini, .properties, .tfvars, Git, systemd, YAML with tags, and Compose files."""

from __future__ import annotations

import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.core.fold import Folded, Layer
from nodeattrs.dialects.files.compose import layers_of_project
from nodeattrs.dialects.files.folds import folded
from nodeattrs.dialects.files.reports import BlameReport, LastChanges, trace_report
from nodeattrs.dialects.files.text import text_of
from nodeattrs.formats.documents import Syntax, parse
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import NAMES, policy_named
from nodeattrs.reports.screen import Screen
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import as_yaml
from tests.fuzz.target import Target, from_grammar, from_shape, texts_of, tried
from tests.fuzz.targets.texts import touched

__all__ = ["TARGETS"]

_LINES: dict[Syntax, Grammar] = {
    "env": Grammar(
        'start: line*\nline: _KEY _EQUALS _VALUE "\\n" | _KEY "\\n" | "# c\\n" | "\\n"',
        {
            "_KEY": ("A", "export B", " C", "'d e'", "F.G", "é", "export", "A"),
            "_EQUALS": ("=", " = ", "= "),
            "_VALUE": ("1", "a b # c", "'x\ny'", '"a\\n\\"b"', "", "#c", " #c", "$A", "'", '"',
                       "'a' # c", "ENC[PKCS7,x]"),
        },
        glue="",
    ),
    "ini": Grammar(
        'start: line*\nline: "[" _NAME "]\\n" | _NAME _EQUALS _VALUE "\\n" | _NAME "\\n" | _MORE "\\n" | _NOTHING',
        {
            "_NAME": ("a", "b", "s", "t", "a.b", "x y", "sops", "é"),
            "_EQUALS": ("=", " = ", ": "),
            "_VALUE": ("1", "x = y", "", "[z]", "a ; b", "ENC[AES256_GCM,x]"),
            "_NOTHING": ("; c\n", "\n"),
            "_MORE": ("  more", "\tmore = 1", "  # c", "  [s]"),
        },
        glue="",
    ),
    "properties": Grammar(
        'start: line*\nline: _KEY _EQUALS _VALUE _END | _KEY _END | "# c\\n" | "! c\\n" | "\\n"',
        {
            "_KEY": ("a", "a.b", "c\\ d", "e\\=f", "\\u00e9", "\\", "\\ud83d", "g"),
            "_EQUALS": ("=", ":", " ", " = "),
            "_VALUE": ("1", "x y ", "\\t\\n", "\\u12", "\\ud83d\\ude00", "\\udc00", "", "=="),
            "_END": ("\n", "\\\n", "\r\n", "\\\\\n"),
        },
        glue="",
    ),
    "git": Grammar(
        'start: line*\nline: "[" _NAME "]" _END | _KEY _EQUALS _VALUE _END | _KEY _END | _END',
        {
            "_NAME": ("a", "A", "a.b", 'a "b"', 'remote "x\\"y"', "credential", 'includeIf "gitdir:~/x"', "é", ""),
            "_KEY": ("b", "url", "helper", "B-c", "1", "path"),
            "_EQUALS": ("=", " = "),
            "_VALUE": ("1", "", '"a ; b"', '"a', "\\q", "x\\n", '"a"b"c"', "x ; c", "ENC[PKCS7,x]"),
            "_END": ("\n", "\r\n", " # c\n", "\\\n", ""),
        },
        glue="",
    ),
    "systemd": Grammar(
        'start: line*\nline: "[" _NAME "]" _END | _KEY _EQUALS _VALUE _END | _END',
        {
            "_NAME": ("Unit", "Service", "Install", "x", ""),
            "_KEY": ("After", "ExecStart", "Environment", "Type", "é", ""),
            "_EQUALS": ("=", " = ", ""),
            "_VALUE": ("1", "", "a b", "x=y", "[z]"),
            "_END": ("\n", "\r\n", "\\\n", "\n; c\n", "\n\n"),
        },
        glue="",
    ),
    "npm": Grammar(
        'start: line*\nline: "[" _NAME "]" _END | _KEY _EQUALS _VALUE _END | _KEY _END | _END',
        {
            "_NAME": ("s", "a", "s.t", "'s'", ""),
            "_KEY": ("a", "b[]", "b", '"b[]"', "a.b", "//x/:_d", "é", "'1'", "'", "\\;"),
            "_EQUALS": ("=", " = "),
            "_VALUE": ("1", "", "true", "'null'", "'[1]'", '"a', '"\\ud800"', "${X}", "a\\;b ; c", "'1e999'", "'NaN'"),
            "_END": ("\n", "\r\n", " # c\n", "\r", ""),
        },
        glue="",
    ),
    "hcl": Grammar(
        'start: entry*\nentry: _NAME " = " value _END\n'
        'value: _VALUE | "[" [value ("," value)*] "]" | "{" [_KEY _EQUALS value ("," _KEY _EQUALS value)*] "}"',
        {
            "_NAME": ("a", "b", "c-d", "if", "e", "a.b", "f", "g"),
            "_KEY": ("a", '"b c"', "3", "(d)", "null"),
            "_EQUALS": (" = ", ": "),
            "_VALUE": ("1", "-2.5", "true", "null", '"x"', '"\\u00e9\\""', '"${a}"', '"$${a}"',
                       "<<E\n ${a\nE", "<<-E\n  a\nE",
                       "f(1)", "1 + 2", '"ENC[PKCS7,x]"'),
            "_END": ("\n", " # c\n", "\r\n", " // c\n/* d */\n", " "),
        },
        glue="",
    ),
}  # fmt: skip
_YAML = Grammar(
    r"""
    start: document ("---\n" document)*
    document: pair+
    pair: _KEY ": " [_TAG] value "\n" | _KEY ":\n" below+ | _KEY ": " _BLOCK
    below: "  " _KEY ": " [_TAG] value "\n" | "  - " [_TAG] value "\n"
    value: _SCALAR | "[" [value (", " value)*] "]" | "{" [_KEY ": " [_TAG] value (", " _KEY ": " value)*] "}"
    """,
    {
        "_KEY": ("a", "b", "k", "sops", "mac", "version", "'x y'", "1", "&x c", "sops_mac"),
        "_TAG": ("!Ref ", "!override ", "!reset ", "!number ", "!!str ", "!!int ", "!vault ", "! ", "!<!y> ", "&x "),
        "_SCALAR": ("1", "x", "null", "*x", "'q'", "ENC[PKCS7,x]", "'ENC[AES256_GCM,x]'", "true", "''", "2001-01-01"),
        "_BLOCK": ("!vault |\n  $ANSIBLE_VAULT;1.1\n", ">\n  ENC[PKCS7,\n  x]\n", "|\n  a\n  b\n"),
    },
    glue="",
)
_WORDS = ("---\n", "--- !z\n", "...\n", "$ANSIBLE_VAULT;1.1;AES256\n", "!!x ", "!", "<<: ", "\t", "#")
_MOST = 6


def _document(syntax: Syntax, text: str) -> Any:
    return parse(text, f"input.{syntax}", syntax)


def _layers(text: str) -> list[Layer]:
    reader = LayerReader(tags={"!number": int})
    return [
        *reader.layers(text.encode("utf-8", "surrogatepass"), "1.yaml", "one"),
        Layer({"a": {"b": [1, 2]}, "b": {"a": 1}, "k": None}),
        *reader.layers(text.encode("utf-8", "surrogatepass"), "2.yaml", "two"),
    ]


def _under_each(layers: list[Layer]) -> None:
    tried(*(partial(_used, name, layers) for name in NAMES))


def _used(name: str, layers: list[Layer]) -> None:
    found = folded(layers, policy_named(name))
    tried(
        *(partial(text_of, found.value, form) for form in ("yaml", "json", "toml", "env")),
        lambda: list(BlameReport(found).lines(Screen())),
        BlameReport(found).to_dict,
        lambda: list(LastChanges("x", folded(layers[:-1], policy_named(name)), found).lines(Screen())),
        partial(_named_alike, found),
    )


def _named_alike(found: Folded) -> None:
    for path, _, origins in list(found.leaves())[:_MOST]:
        assert set(origins) == set(found.origins(path)), path
        list(trace_report(found, [path]).lines(Screen()))


_PAIRS = ({"A": ("1", 2, None), "B": "x"}, ["A=1", "B"], ["C=", "A=2"], "A=1", None, 5)
_LIST = (["a", "b"], ["b"], "a", {"a": None}, [{"a": 1}], None)
_SERVICE = {
    **dict.fromkeys(("environment", "labels", "extra_hosts", "sysctls"), _PAIRS),
    **dict.fromkeys(("command", "dns", "networks", "depends_on", "expose", "secrets", "env_file", "x"), _LIST),
    "ports": (["80:80", 80, "1.2.3.4:1:2/udp"], [{"target": 80}], ["a:b:c:d"], "80", [None]),
    "volumes": (["a:/x", "/x", {"target": "/x"}], [{}], [1]),
    "build": (".", {"args": _PAIRS}, None, [1]),
    "logging": ({"driver": ("a", "b"), "options": {"x": 1}}, None, "a"),
    "ulimits": ({"n": (1, {"soft": 1})}, 1),
}
_TEXTS = ("$A", "${A:-b}", "${C:?d}", "a$$b${B+${A}}", "${", "${A:-{x}}", "$1", "${}", "a")
_PROJECT = {
    "include": (["d.yaml"], [{"path": ["d.yaml", "c.yaml"], "env_file": ".env"}], [None], [{"path": 1}], "d.yaml", {}),
    "services": {
        "w": {
            "image": _TEXTS,
            "labels": (["A=$A", "$B"], {"A": _TEXTS}),
            "extends": ("v", "w", {"file": "d.yaml", "service": ("u", "v")}, {"service": 1}, {"file": "$A"}, None, [1]),
            "profiles": (["p"], "p", [None], ["$A"], {}),
        },
        "v": (None, 1, {"image": _TEXTS, "extends": ("w", {"file": "c.yaml", "service": "w"})}),
    },
}
_OTHER = "services: {u: {image: '${B:-x}', extends: v}, v: {image: '$A', profiles: [q]}}\n"
_COMPOSE = {
    "services": {"w": _SERVICE, "v": (None, 1)},
    "networks": {"n": {"ipam": {"config": _LIST}, "labels": _PAIRS}},
}


def _composed(text: str) -> list[Layer]:
    parts = text.split("---\n")
    reader = LayerReader()
    return [one for part in parts for one in reader.layers(part.encode("utf-8", "surrogatepass"), "c.yaml", "c")]


def _project(text: str) -> list[Layer]:
    with tempfile.TemporaryDirectory() as folder:
        files = {"c.yaml": text, "d.yaml": _OTHER, ".env": "A=1\nB='$A'\nCOMPOSE_PROFILES=q\n"}
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content.encode("utf-8", "surrogatepass"))
        return layers_of_project(LayerReader().read(Path(folder, "c.yaml"), "c.yaml"), LayerReader(), Path(folder))


def _two(value: Any, chance: random.Random) -> str:
    text = as_yaml(value, chance)
    return (
        f"{text}---\n{text.replace('A=1', 'A=3').replace('ports:', 'ports: !override').replace('dns:', 'dns: !reset')}"
    )


TARGETS = (
    *(Target(syntax, from_grammar(grammar), partial(_document, syntax), touched) for syntax, grammar in _LINES.items()),
    Target("layers", from_grammar(_YAML, texts_of("fold/*.yaml"), _WORDS), _layers, _under_each),
    Target("compose", from_shape(_COMPOSE, (), _two), _composed, partial(_used, "compose")),
    Target("compose-project", from_shape(_PROJECT), _project, partial(_used, "compose")),
)

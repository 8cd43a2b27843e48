"""Chef repositories: Ruby that says data, locks of policies, encrypted items of data bags."""

from __future__ import annotations

from functools import partial
from typing import Any

from nodeattrs.chef import decrypted, is_encrypted
from nodeattrs.dialects.chef.repository.roles import read_policy, read_role
from nodeattrs.formats.chef_words import ruby_document
from nodeattrs.formats.documents import Document, parse
from nodeattrs.project.fields import Fields
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE
from tests.fuzz.target import Target, from_grammar, from_shape
from tests.fuzz.targets.runs import ITEMS, written
from tests.fuzz.targets.texts import touched

__all__ = ["TARGETS"]

_RUBY = Grammar(
    r"""
    start: line*
    line: _WORD " " arguments "\n" | _WORD "(" arguments ")\n" | _NAME " = " value "\n" | loop | _ODD "\n"
    loop: value ".each do |" _NAME "|\n" line* "end\n"
    arguments: value ("," value)* | pair ("," pair)*
    pair: _KEY value | value " => " value
    value: _LITERAL | _NAME | "[" [value ("," value)*] "]" | "{" [pair ("," pair)*] "}" | value " + " value
         | "\"" (_PIECE | "#{" value "}")* "\"" | "(" value ")" | "-" value | "'a' " _LITERAL
    """,
    {
        "_WORD": (
            "name", "description", "run_list", "recipes", "env_run_lists", "default_attributes", "override_attributes",
            "cookbook", "cookbook_versions", "version", "depends", "supports", "env_run_lists_add",
        ),
        "_NAME": ("a", "b", "A", "@a", "$a", "name", "__FILE__"),
        "_LITERAL": (
            "1", "-1", "0x1f", "0b1", "017", "1_000", "1.5", "1e9999", "1r", "2i", "?a", "nil", "true", "'a'",
            "'\\'b\\\\'",
            '"\\u00e9"', '"\\u{1F600 41}"', '"\\x41"', '"\\M-a"', '"\\ud800"', ":a", ':"a b"', "%w(a b)", "%W(a #{b})",
            "%i[a b]", "%q(a(b))", "%()", "'recipe[a]'", "'role[web]'", "'a'.freeze", "File.join('a', 'b')",
            "<<A\na\nA\n",
            "<<~A\n  a\n b\nA\n", "<<-'A'\na\n  A\n", "''", "'é'", "{}", "[]", "rand", "ENV['A']", "1..2", "/a/",
        ),
        "_KEY": ("'_default' => ", "'a' => ", ":b => ", "c: ", '"d e": ', "80 => ", "nil => "),
        "_PIECE": ("a", "\\n", "\\e", "#", "é", "\\\\", "\\\""),
        "_ODD": ("require 'x'", "# c", "if a", "end", "x.y = 1", "a ||= 1", "", "def a", "__END__", "=begin",
            "while true"),
    },
    glue="",
)  # fmt: skip
_RUBY_WORDS = ("#{", "}", "<<~A", "%w(", "do |a|", "end", "=>", "::", "'", '"', "\\", "é", "\0", "\n", "**", "&.", ";")

_LOCK = {
    "revision_id": "abc", "name": ("web", "db"), "run_list": [ITEMS], "named_run_lists": {"a": [ITEMS]},
    "cookbook_locks": {"a": {"version": "1.2.3", "identifier": "f00"}, "b": {"version": "1.0.0"}},
    "default_attributes": {"a": TREE, "prod": {"a": TREE}}, "override_attributes": {"prod": TREE},
}  # fmt: skip

_VALUE = {
    "encrypted_data": ("AAAA", "A" * 44, "x", ""), "iv": ("A" * 24, "A" * 16, ""), "version": (1, 2, 3, True),
    "cipher": ("aes-256-cbc", "aes-256-gcm"), "hmac": "AAAA", "auth_tag": "A" * 24,
}  # fmt: skip


def _read_ruby(text: str, kind: str) -> Document:
    return ruby_document(written("x.rb", text), "x.rb", kind)


def _fields(document: Document) -> Fields:
    return Fields(document.tree, document.locator("role", "x"), "role x")


def _use_ruby(document: Document) -> None:
    touched(document)
    read_role("x", _fields(document))


def _read_json(text: str) -> Document:
    return parse(text, "x.json", "json")


def _use_lock(document: Document) -> None:
    policy = read_policy("x", _fields(document))
    layer = type(policy)(**{**vars(policy), "group": "prod"}).as_role()
    for field in ("default_attributes", "override_attributes"):
        for key in getattr(layer, field):
            layer.locator.at((field, key))


def _use_item(document: Document) -> None:
    item: Any = document.tree
    if isinstance(item, dict) and is_encrypted(item):
        decrypted(item, b"secret", "x")


TARGETS = [
    *(
        Target(f"chef-{kind}", from_grammar(_RUBY, words=_RUBY_WORDS), partial(_read_ruby, kind=kind), _use_ruby)
        for kind in ("role", "environment", "cookbook", "settings")
    ),
    Target("chef-policy", from_shape(_LOCK), _read_json, _use_lock),
    Target("chef-encrypted", from_shape({"id": "x", "a": _VALUE, "b": _VALUE}), _read_json, _use_item),
]

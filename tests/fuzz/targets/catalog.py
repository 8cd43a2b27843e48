"""Chains and queries in Puppet's words, and catalogs as data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.catalog import Catalog
from nodeattrs.catalog.compiled import compiled_catalog, without_notices
from nodeattrs.catalog.differing import difference
from nodeattrs.catalog.documents import catalog_from
from nodeattrs.catalog.module_types import ModuleTypes
from nodeattrs.catalog.plan import Plan
from nodeattrs.catalog.questions import impact_of, known_ref, why_before
from nodeattrs.formats.documents import parse
from nodeattrs.puppet.chains import parsed_chain, parsed_query
from nodeattrs.puppet.references import Ref, query_text, ref_of
from nodeattrs.reports import Screen
from nodeattrs.reports.catalog_diff import ComparedCatalogs
from tests.fuzz.grammar import Grammar
from tests.fuzz.target import Target, from_grammar, from_shape, tried, vectors
from tests.fuzz.targets.runs import written

__all__ = ["TARGETS"]

_RULES = r"""
    chain: operand (_ARROW operand)+
    operand: ref | "[" ref ("," ref)* [","] "]" | "[" operand "]" | _KIND "<|" [query] "|>" | _QUOTED
    ref: _KIND "[" title ("," title)* "]"
    title: _WORD | _TEXT | _NUMBER
    query: conjunction ("or" conjunction)*
    conjunction: comparison ("and" comparison)*
    comparison: _WORD ("==" | "!=") value | "(" query ")"
    value: _WORD | _TEXT | _NUMBER | _KIND "[" _WORD "]" | "undef" | "true"
"""
_WORDS = {
    "_ARROW": ("->", "~>", "<-", "<~"),
    "_KIND": ("File", "Service", "Class", "My::Type", "::Package", "Execute"),
    "_QUOTED": ("'File[/a]'", '"Service[x]"', "'Class[a::b]'"),
    "_WORD": ("a", "b", "tag", "title", "provider", "a::b", "mode", "x-y"),
    "_TEXT": ("'/a'", "'b'", '"c"', '"\\n"', "'it\\'s'", "'a b'", '"\\\\"'),
    "_NUMBER": ("1", "-1", "2.5", "0"),
}
_ODD_WORDS = ("<<|", "|>>", "$x", "=>", "{", "#", "::", '"$x"', "undef", "File['/a']{}")

_REFS = ("File[/a]", "File[/b]", "Class[c]", "Execute[e]", "Define[d]", "Nowhere[x]", "Stage[main]")
_REFERENCES = Grammar(
    'start: _KIND "[" _TITLE "]"',
    {"_KIND": ("File", "file", "My::Type", "::a::b", "X"), "_TITLE": ("/a", "b c", "[", "]", "é", "'q'", "", "a]b")},
    glue="",
)
_CHAINS = Grammar(_RULES, _WORDS, start="chain")
_RESOURCE = {
    "type": ("File", "File", "Service", "Class", "Execute", "Define", "Stage", "Link"),
    "title": ("/a", "/b", "/a/c", "c", "e", "d", "main", "x y"),
    "kind": ("resource", "resource", "class", "define", "stage"),
    "in": ([_REFS], *_REFS[2:5]), "require": [_REFS], "before": [_REFS], "notify": [_REFS], "subscribe": _REFS,
    "virtual": (True, False, False, False), "noop": (None, True), "tags": (["t"], ["t", 1], None),
    "auto": ({}, {"require": [_REFS]}), "path": ("/a", "/b", "/a/c", "x"), "target": "/b",
    "provider": ("yum", 1, ["a"], {}),
}  # fmt: skip
_CATALOG = {
    "settings": {"noop": (True, False)},
    "resources": [_RESOURCE, _RESOURCE, _RESOURCE],
    "chains": [_CHAINS.grown, {"text": _CHAINS.grown}, "File <| |> -> Execute <| |>"],
}
_SAID = ("x", 1, None, ["a"], {"a": 1}, "true", {"__ptype": "Sensitive", "__pvalue": "x"})
_COMPILED_ROW = {
    "type": ("File", "File", "Exec", "Mount", "User", "Cron", "Package", "Class", "Stage", "D", "Notify"),
    "title": ("/a", "/b", "/a/c/", "c", "main", "x y", ""),
    "kind": ("compilable_type", "defined_type", "class", "unknown", 1),
    "file": ("a.pp", "", 1, None), "line": (1, "1", None), "exported": (False, False, True, 1),
    "tags": (["t"], ["t", 1], None, 1, {"a": 1}), "sensitive_parameters": (["content"], [["path"]], "path", [{}], 1),
    "parameters": {
        "require": ([_REFS], [[_REFS]], *_REFS, "a[", 1), "before": _REFS, "notify": [_REFS], "subscribe": _SAID,
        "alias": ("q", ["q", ["r"]], 1, {}), "path": ("/a", "/q", 1), "name": ("/a/c", "n", ["n"]), "noop": _SAID,
        "command": ("/a x", ["/a", "b"], 1), "onlyif": ([["/a"], "/b"], {}, "/b"), "owner": _SAID, "groups": _SAID,
        "source": _SAID, "target": _SAID, "content": _SAID,
    },
}  # fmt: skip
_COMPILED = {
    "resources": [_COMPILED_ROW, _COMPILED_ROW, _COMPILED_ROW, _COMPILED_ROW],
    "edges": [
        {"source": _REFS, "target": _REFS},
        {"source": {"type": ("Class", 1), "title": "c"}, "target": _REFS, "relationship": ("contains", "before")},
        {"source_type": "Class", "source_title": ("c", 1), "target_type": "File", "target_title": "/a"},
    ],
}


def _compiled(text: str) -> Catalog:
    document = parse(without_notices(text), "catalog.json", "json")
    return compiled_catalog(document.tree, document.locator("catalog", "x"), "catalog.json")


_TYPE = Grammar(
    r"""
    start: line*
    line: field | _AUTO (" { " value " }\n" | " do\n  " value "\n end\n") | _ODD "\n"
    field: _FIELD [", namevar: true" | ", " value] [" do\n" inner* "end"] "\n"
    inner: "defaultto " value "\n" | "defaultto { " value " }\n" | "munge { |x| x }\n" | "isnamevar\n" | _ODD "\n"
    value: _VALUE | "[" [value ("," value)*] "]" | "\"" (_PIECE | "#{" value "}")* "\""
    """,
    {
        "_AUTO": ("autorequire(:file)", "autobefore(:user)", "autonotify('db_entry')", "autosubscribe(5)",
        "autorequire",
                  "autorequire(:class)", "autorequire(x)"),
        "_FIELD": ("newparam(:name)", "newparam(:path)", "newproperty(:path, :parent => X::Y)", "newparam(p)",
        "newparam()",
                   "newparam([1])", "newproperty({a: 1})"),
        "_VALUE": ("self[:path]", "self[:name]", "name", "title", "'a'", ":b", "nil", "1", "value(:path)",
        "self[:nosuch]",
                   "self[:name].split('@')[1]", "self[:path].split('/')[-9]", "Pathname.new(self[:path]).parent.to_s",
                   "Pathname.new(name).dirname",
                   "if self[:path] && Pathname.new(self[:path]).absolute?\nself[:path]\nend",
                   "File.dirname(self[:path])", "catalog.resources", "X::Y", "%w(a b)", "{a: 1}", "1.5"),
        "_PIECE": ("/", "a", "é", "\\n"),
        "_ODD": ("# c", "def refresh\nend", "def self.title_patterns\nend", "validate { raise 'x' }", "ensurable", ""),
    },
    glue="",
)  # fmt: skip
_PARAMETERS = ({}, {"path": "/a/b"}, {"path": ["/a", 1, None]}, {"path": {"a": 1}, "name": "u@v"}, {"path": "relative"})


def _type(text: str) -> ModuleTypes:
    written("modules/db/lib/puppet/type/db_entry.rb", text)
    return ModuleTypes([Path("modules")])


def _relate(types: ModuleTypes) -> None:
    for parameters in _PARAMETERS:
        found = types.relations("Db_entry", "u@v", parameters)
        assert all(isinstance(ref, str) and ref.endswith("]") for refs in found.values() for ref in refs)
    assert isinstance(types.can_refresh("Db_entry"), bool)
    list(types.warnings(["Db_entry", "Nosuch"]))


def _compared(catalog: Catalog) -> None:
    _planned(catalog)
    plan = catalog.plan()
    assert not difference(plan, plan), "a catalog differs from itself"
    found = ComparedCatalogs("a", "b", difference(Catalog().plan(), plan, ["File[/a*", "*.x"]))
    found.to_dict(), found.markdown(), list(found.lines(Screen()))


def _seeds() -> list[Any]:
    return [{key: one[key] for key in ("settings", "resources", "chains")} for one in vectors("ordering")]


def _catalog(text: str) -> Catalog:
    document = parse(text, "catalog.json", "json")
    return catalog_from(document.tree, locator=document.locator("catalog", "x"))


def _planned(catalog: Catalog) -> None:
    for documented in (False, True):
        plan = catalog.plan(documented=documented)
        str(plan.faults()), str(plan.warnings()), str(plan.noops)
        first, then = (partial(known_ref, plan, text) for text in ("File[/a]", "file[/b]"))
        tried(plan.order, plan.cycle_error, partial(_asked, plan, first, then))


def _asked(plan: Plan, first: Callable[[], Ref], then: Callable[[], Ref]) -> None:
    str(impact_of(plan, first()))
    str(why_before(plan, first(), then()))


def _related(chain: Any) -> None:
    catalog = catalog_from(
        {"resources": [{"type": "File", "title": "/a", "tag": "a"}, {"type": "Service", "title": "b", "provider": 1}]}
    )
    str(chain)
    catalog.relate(chain)
    _planned(catalog)


def _spelled(query: Any) -> None:
    again = parsed_query(query_text(query))
    assert again == query, f"{query!r} is spelled {query_text(query)!r}, which reads {again!r}"
    _related(parsed_chain(f"File <| {query_text(query)} |> -> Service <| |>"))


TARGETS = (
    Target(
        "chain",
        from_grammar(
            _CHAINS,
            [chain["text"] for one in vectors("ordering") for chain in one["chains"] if isinstance(chain, dict)],
            _ODD_WORDS,
        ),
        parsed_chain,
        _related,
    ),
    Target("collector-query", from_grammar(Grammar(_RULES, _WORDS, start="query"), (), _ODD_WORDS), parsed_query,
        _spelled),
    Target("reference", from_grammar(_REFERENCES), ref_of, str),
    Target("catalog", from_shape(_CATALOG, _seeds()), _catalog, _planned),
    Target("catalog-compiled", from_shape(_COMPILED), _compiled, _compared),
    Target("catalog-module-types", from_grammar(_TYPE), _type, _relate),
)  # fmt: skip

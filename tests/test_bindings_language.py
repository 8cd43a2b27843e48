"""The text language: every form of the document, retold with our own names, is read, and run where it can be."""

from __future__ import annotations

import json
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.bindings import (
    BindingError,
    Classes,
    Injector,
    Layer,
    Objects,
    Producer,
    State,
    parse_expression,
    parse_items,
    parse_sets,
    parse_site,
    parse_type,
    sets_from_data,
    site_from_document,
    to_data,
)
from nodeattrs.dialects.bindings.forms.language import text as grammar
from nodeattrs.dialects.bindings.forms.language.text import parser
from nodeattrs.dialects.bindings.model.values import FUNCTIONS
from nodeattrs.errors import MissingExtra
from nodeattrs.formats.documents import parse
from tests.bound_names import parameters_of, variables_of


def items(text: str) -> list[dict[str, Any]]:
    """The data form of some items."""
    return to_data(parse_items(text))["items"]


def run(*texts: str, state: dict[str, str] | None = None, **options: Any) -> Injector:
    """An injector with one layer a text, the highest first."""
    layers = [Layer(f"layer {number}", (parse_items(text, f"set{number}"),)) for number, text in enumerate(texts, 1)]
    return Injector(layers, State((state or {}).items()), **options)


class Lamp:
    pass


class BrightLamp(Lamp):
    def __init__(self, watts: int = 100) -> None:
        self.watts = watts


class Tickets(Producer):
    def __init__(self, first: int = 1) -> None:
        self.next = first - 1

    def produce(self) -> int:
        self.next += 1
        return self.next


CLASSES = {"Lamp": Lamp, "BrightLamp": BrightLamp, "Tickets": Tickets}


@pytest.fixture
def beside_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for what is kept there."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = Path(cache_from_source(grammar.__file__)).parent
    folder.mkdir(parents=True)
    return folder


def test_kept_tables_read_as_the_grammar_does(beside_bytecode: Path):
    """Made from the grammar, found beside the bytecode, and made again where what is found is no table."""
    read = []
    for damaged in (False, False, True):
        for kept in beside_bytecode.iterdir() if damaged else ():
            kept.write_bytes(b"none")
        parser.cache_clear()
        read.append(parser().parse("bind 'a' to 1", start="items"))
        (kept,) = beside_bytecode.iterdir()
    parser.cache_clear()

    assert read[0] == read[1] == read[2]
    assert kept.stat().st_size > 10_000


class TestSetsAndBlocks:
    def test_a_set_has_a_name_and_items(self):
        """Comments, several sets in a text, names with segments."""
        sets = parse_sets("# the site\nbindings default { }\nbindings garden::default { bind 'a' to 1 # one\n}")

        assert [one.name for one in sets] == ["default", "garden::default"]

    @pytest.mark.parametrize(
        ("text", "held"),
        [
            ("when node 'fern.example.com' { bind 'a' to 2 }", True),
            ("when node 'moss.example.com' { bind 'a' to 2 }", False),
            ("when shade true { when node 'fern.example.com' { bind 'a' to 2 } }", True),
            ("when shade true and node 'fern.example.com' { bind 'a' to 2 }", True),
            ("when shade true and node 'moss.example.com' { bind 'a' to 2 }", False),
            ("when shade false or node 'fern.example.com' { bind 'a' to 2 }", True),
            ("when shade false or node moss and shade true { bind 'a' to 2 }", False),
            ("when bed 12 { bind 'a' to 2 }", True),
            ("when common '' { bind override 'a' to 2 }", False),
        ],
    )
    def test_a_block_is_in_effect_when_an_alternative_holds(self, text, held):
        """`and` binds tighter than `or`; nesting is `and`; numbers, booleans and words are values."""
        state = {"node": "fern.example.com", "shade": "true", "bed": "12"}
        if "common" in text:
            with pytest.raises(BindingError):
                run(f"bind 'a' to 1 {text}", state=state)
            return

        assert run(f"bind 'a' to 1 {text}", state=state).inject("a") == (2 if held else 1)


class TestBinding:
    @pytest.mark.parametrize(
        ("text", "key", "value"),
        [
            ("bind \"main url\" to 'http://garden.example.org'", "main url", "http://garden.example.org"),
            ("bind 'size' to 42", "size", 42),
            ("bind 'depth' to -7", "depth", -7),
            ("bind 'mask' to 0x1F", "mask", 31),
            ("bind 'ratio' to 2.5e1", "ratio", 25.0),
            ("bind 'on' to true", "on", True),
            ("bind Integer, 'garden::size' to 42", "garden::size", 42),
            ("bind Hash, 'beds' to {'a' => 10, b => [1, 2,],}", "beds", {"a": 10, "b": [1, 2]}),
            ("bind Array[Integer], 'list' to [1, 2]", "list", [1, 2]),
            ("bind Hash[String, Array[Integer]], 'deep' to {x => [1]}", "deep", {"x": [1]}),
            ("bind 'odd' to {1 => 'one', '1' => 'text'}", "odd", {1: "one", "1": "text"}),
            (r"bind 'quotes' to 'it\'s \n'", "quotes", "it's \\n"),
            (r'bind "tab" to "a\tb\"c"', "tab", 'a\tb"c'),
            ("bind abstract 'x' bind override 'x2' to 1", "", None),
        ],
    )
    def test_a_name_is_bound_to_a_literal(self, text, key, value):
        """With a type and without."""
        if not key:
            assert [item.get("abstract", False) for item in items(text)] == [True, False]
            return

        assert run(text).inject(key) == value
        assert type(run(text).inject(key)) is type(value)

    def test_a_type_is_bound_to_a_sub_type(self):
        """Asking for the type gives an object of the class it is bound to."""
        assert type(run("bind Type[Lamp] to Type[BrightLamp]", classes=CLASSES).inject(Lamp)) is BrightLamp

    def test_classes_and_resource_types_are_bound_to_each_other(self):
        """The value is a reference."""
        injector = run("bind class hedge to class hedge2\nbind Simple to Better")

        assert injector.inject(parse_type("class hedge")) == "Class[hedge2]"
        assert injector.inject(parse_type("Simple")) == "Better"

    def test_an_abstract_array_of_classes_is_filled_by_references(self):
        """The document's own example of a typed abstract binding."""
        abstract = "bind abstract Array[class hedge], 'hedges'"

        with pytest.raises(BindingError, match="must be bound"):
            run(abstract)
        assert run("bind Array[class hedge], 'hedges' to [Class[hedge], class hedge]", abstract).inject(
            "hedges", "Array[class hedge]"
        ) == ["Class[hedge]", "Class[hedge]"]

    @pytest.mark.parametrize(
        ("text", "flags"),
        [
            ("bind abstract 'a'", {"abstract"}),
            ("bind override 'a' to 1", {"override"}),
            ("bind abstract override 'a'", {"abstract", "override"}),
            ("bind override abstract 'a'", {"abstract", "override"}),
            ("bind final 'a' to 1", {"final"}),
            ("bind 'a' to optional producer 'p'", {"optional"}),
        ],
    )
    def test_flags_stand_in_any_order(self, text, flags):
        """Any number of them."""
        (item,) = items(text)

        assert {flag for flag in ("abstract", "override", "final", "optional") if item.get(flag)} == flags

    def test_abstract_and_override_demand_and_need(self):
        """Both at once hide what is below and demand something above."""
        assert (
            run("bind override 'life' to 42", "bind abstract override 'life'", "bind 'life' to 43").inject("life") == 42
        )


class TestRebinding:
    BELOW = "bind 'the meaning of life' to 42"

    def test_alias_renamed_and_rebind(self):
        """A second name, another name, a better place."""
        alias = run("bind alias 'the meaning of life' as 'love'", self.BELOW)
        renamed = run("bind renamed 'the meaning of life' AS 'love'", self.BELOW)
        rebound = run("rebind 'the meaning of life'", self.BELOW)

        assert (alias.inject("love"), alias.inject("the meaning of life")) == (42, 42)
        assert (renamed.inject("love"), renamed.get("the meaning of life")) == (42, None)
        assert rebound.inject("the meaning of life") == 42

    def test_typed_keys_and_abstract(self):
        """Flags stand behind `as`."""
        assert items("bind renamed Type[Lamp], 'a' as abstract Type[Lamp], 'c'") == [
            {
                "kind": "renamed",
                "key": {"type": "Type[Lamp]", "name": "a"},
                "as": {"type": "Type[Lamp]", "name": "c"},
                "abstract": True,
            }
        ]


class TestMultibind:
    def test_array_fragments_of_a_multibind_are_concatenated(self):
        """Fragments need neither type nor name."""
        text = """
            multibind Array[String], 'gardeners' AS 'garden::all'
            bind to 'Ada' in 'garden::all'
            bind to ['Bo', 'Cy'] IN 'garden::all'
        """

        assert run(text).inject("gardeners") == ["Ada", "Bo", "Cy"]

    def test_hashes_collect_by_name(self):
        """A value may be a list."""
        text = """
            multibind Hash[Data], 'tasks' as 'garden::tasks'
            bind 'Ada' to 'hedges' in 'garden::tasks'
            bind 'Bo' to ['beds', 'lawn'] in 'garden::tasks'
        """

        assert run(text).inject("tasks") == {"Ada": "hedges", "Bo": ["beds", "lawn"]}

    def test_an_override_under_another_id_starts_empty(self):
        """The fragments follow the id."""
        below = "multibind Hash[Data], 'syntax' AS 'checks' bind 'xml' to 1 IN 'checks'"

        assert run("multibind override Hash[Data], 'syntax'", below).inject("syntax") == {}

    def test_a_lambda_combines_an_array(self):
        """The one that flattens each fragment."""
        text = """
            multibind Array[Data], 'flat' AS 'example' { combinator => |$memo, $x| { $memo + flatten($x) } }
            bind to [1, 2, [3]] in 'example'
            bind to [4, [[5, 6]]] in 'example'
        """

        assert run(text).inject("flat") == [1, 2, 3, 4, 5, 6]

    def test_a_lambda_combines_a_hash_name_by_name(self):
        """It gets the name, what is there so far or undef, and the new value."""
        text = """
            multibind Hash[Data], 'merged' AS 'example' {
              combinator => |$key, $current, $value| {
                unless !$current { $current + $value } else { $value }
              }
            }
            bind 'fruits' to ['apple', 'plum'] in 'example'
            bind 'fruits' to ['pear'] in 'example'
            bind 'berries' to ['currant'] in 'example'
        """

        assert run(text).inject("merged") == {"fruits": ["apple", "plum", "pear"], "berries": ["currant"]}


class TestClasses:
    def test_include_and_exclude(self):
        """One name, several, a trailing comma, leading colons."""
        injector = run("include hedge include [lawn, pond::deep,] exclude ::lawn exclude [ghost, other]")

        assert injector.classes() == ["hedge", "pond::deep"]


class TestParameters:
    WORLD = Objects(
        {"Web": ["dbuser", "url"], "Sql": ["user", "url"]},
        {"Sql[one]": {"user": "app", "url": "sql://one"}, "Sql[two]": {"user": "two", "url": "sql://two"}},
    )

    def test_each_parameter_of_a_class_in_a_hash_is_bound(self):
        """A bare lower-case name is a class; each parameter is bound alone."""
        injector = run(
            "bind parameters hedge to { height => 2 }",
            "bind parameters class hedge to { height => 1, kinds => ['box', 'yew'] }",
        )

        assert parameters_of(injector, "hedge") == {"height": 2, "kinds": ["box", "yew"]}

    @pytest.mark.parametrize(
        "text",
        [
            "bind parameters Web[one] to Sql[one] { map => {dbuser => user} }",
            "bind map Web to Sql { dbuser => user } bind parameters Web[one] to Sql[one]",
            "bind map Web to Sql { map => {dbuser => user} } bind parameters Web[one] to Sql[one]",
            "bind parameters Web[one] to Sql[?? name == one] { map => {dbuser => user} }",
            "bind parameters Web[one] to Sql[?? user == app and url =~ 'one$'] { map => {dbuser => user} }",
            "bind parameters Web[one] to Sql[?? !(user == two) or name == zero] { map => {dbuser => user} }",
            "bind parameters Web[one] to Sql[??] { map => {dbuser => user}, select_result => |$found| { $found[0] } }",
        ],
    )
    def test_from_an_instance_by_a_map(self, text):
        """On the spot, for the pair of types, or by a query."""
        assert parameters_of(run(text, objects=self.WORLD), "Web[one]") == {"dbuser": "app"}

    def test_a_unit_map_names_each_once(self):
        """`{ map => [a, b] }`, which the document proposes and does not need."""
        text = "bind map Web to Sql { map => [url] } bind parameters Web[one] to Sql[one]"

        assert parameters_of(run(text, objects=self.WORLD), "Web[one]") == {"url": "sql://one"}

    def test_an_optional_instance_may_be_absent(self):
        """What is bound below speaks then."""
        injector = run(
            "bind parameters Web[one] to optional Sql[none]", "bind parameters Web[one] to { url => 'below' }",
            objects=self.WORLD,
        )  # fmt: skip

        assert parameters_of(injector, "Web[one]") == {"url": "below"}


class TestVariablesAndDependencies:
    def test_the_language_declares_variables_with_and_without_types(self):
        """With a type and without; abstract ones by name or in a list."""
        above = """
            bind variables to { mainurl => 'x', must => 1, too => 2, admins => ['a'] }
            bind variables Integer to { n => 3 }
        """
        below = """
            bind variables abstract to 'mainurl'
            bind abstract variables to ['must', 'too']
            bind abstract variable Array[String] to ['admins']
        """

        assert variables_of(run(above, below)) == {"mainurl": "x", "must": 1, "too": 2, "admins": ["a"], "n": 3}

    def test_the_language_declares_dependencies_as_chains_and_lists(self):
        """Chains, lists, both arrows."""
        text = """
            bind dependency File['/etc/ssh'] ~> Service['sshd']
            bind dependency [Package[a], Package['b']] -> Service[c]
        """

        assert run(text).dependencies() == [
            ("File['/etc/ssh']", "~>", "Service[sshd]"),
            ("Package[a]", "->", "Service[c]"),
            ("Package[b]", "->", "Service[c]"),
        ]


class TestProducers:
    def test_a_class_of_producers_and_its_arguments(self):
        """It is asked each time; `producer_args` are those of its constructor."""
        text = """
            bind Integer, 'ticket' to producer Type[Tickets] { producer_args => { 'first' => 10 } }
            bind 'answer' to producer Type[ConstantProducer] { producer_args => { 'value' => 42 }, singleton => true }
        """
        injector = run(text, classes=CLASSES)

        assert [injector.inject("ticket") for _ in range(3)] == [10, 11, 12]
        assert injector.inject("answer") == 42

    @pytest.mark.parametrize(
        "bound",
        ["Type[Tickets] { producer_args => 3 }", "'garden::ids' { producer_args => { 'first' => 10 } }"],
    )
    def test_arguments_of_a_producer_are_a_map_for_a_class(self, bound: str):
        with pytest.raises(BindingError, match="takes no producer_args"):
            run(f"bind Integer, 'ticket' to producer {bound}", classes=CLASSES).inject("ticket")

    def test_a_producer_by_name(self):
        """The registration and its use."""
        registered = "bind Type[Producer], 'garden::ids' to Type[Tickets]"
        injector = run(f"{registered} bind Integer, 'id' to producer 'garden::ids'", classes=CLASSES)

        assert [injector.inject("id"), injector.inject("id")] == [1, 2]

    def test_series_and_lists_hold_variables(self):
        """Texts, lists and hashes are worked out when they are injected."""
        text = """
            bind 'host' to 'fern'
            bind 'port' to 80
            bind 'url' to "http://${host}:$port/"
            bind 'both' to [$host, { p => $port }, "\\$host"]
        """
        injector = run(text)

        assert injector.inject("url") == "http://fern:80/"
        assert injector.inject("both") == ["fern", {"p": 80}, "$host"]

    def test_patterns_are_values_and_types(self):
        """A regular expression, and a reference to one."""
        injector = run("bind Pattern, 'word' to /a.c/ bind Pattern, 'other' to Pattern['a+']")

        assert injector.inject("word", "Pattern").fullmatch("abc")
        assert injector.inject("other", "Pattern").fullmatch("aaa")


class TestSites:
    def test_a_site_in_the_language_chooses_an_environment(self):
        """Defaults, static and dynamic ones, and the one that is chosen."""
        site = parse_site(
            """
            site {
              Environment { modulepath => 'modules/dist:modules/site' }
              dynamic_environments { "$confdir/environments": }
              environment { 'production': envdir => "$confdir/master", }
            }
            $environment = 'production'
            """
        )
        said, selected = site.evaluated({"confdir": "/etc/garden"})

        assert selected == "production"
        assert said == {
            "defaults": {"modulepath": "modules/dist:modules/site"},
            "environments": {"production": {"envdir": "/etc/garden/master"}},
            "dynamic": {"dir": "/etc/garden/environments", "attrs": {}},
        }

    @pytest.mark.parametrize(
        ("text", "data"),
        [
            ("", {}),
            ("site { }", {"site": {}}),
            ("$environment = 'x'", {"assign": {"environment": "x"}}),
            (
                "site { Environment { modulepath => 'm' } environment { 'p': envdir => 'e' }"
                " dynamic_environments { 'd': } }",
                {
                    "site": {
                        "defaults": {"modulepath": "m"},
                        "environments": {"p": {"envdir": "e"}},
                        "dynamic": {"dir": "d", "attrs": {}},
                    }
                },
            ),
            (
                "site { categories { node => 'n' } bindings => [ layer { 's': include => 'confdir:/d' },"
                " { 'm': exclude => ['module:/a::b'] } ] }",
                {
                    "site": {
                        "categories": [["node", "n"]],
                        "layers": [
                            {"name": "s", "include": ["confdir:/d"]},
                            {"name": "m", "exclude": ["module:/a::b"]},
                        ],
                    }
                },
            ),
        ],
    )
    def test_as_data_it_says_what_was_said(self, text, data):
        """And nothing of what was not; the data form reads it back."""
        assert data == parse_site(text).to_dict()
        assert data == site_from_document(parse(json.dumps(data), "site.json", "json")).to_dict()

    def test_other_statements_may_choose(self):
        """`if`, comparisons, and what the node asked for under another name."""
        site = parse_site(
            "if $agent_environment == 'test' { $x = 1 }\n$environment = downcase($agent_environment)\nsite { }"
        )

        assert site.evaluated({"agent_environment": "TEST"})[1] == "test"

    def test_categories_and_layers(self):
        """With the word `layer` and without; one reference or a list."""
        site = parse_site(
            """
            site {
              categories { node => "$::fqdn", environment => true, shade => $::shade, rack => undef }
              bindings => [
                layer { 'site': include => "confdir:/default" },
                { 'modules': include => ["module:/*::default", "module:/a::b"], exclude => "module:/a::default" },
              ]
            }
            """
        )

        assert site.listed_categories({"fqdn": "fern"}) == [
            ("node", "fern"), ("environment", True), ("shade", None), ("rack", None),
        ]  # fmt: skip
        assert site.listed("layers") == [
            {"name": "site", "include": ["confdir:/default"]},
            {
                "name": "modules",
                "include": ["module:/*::default", "module:/a::b"],
                "exclude": ["module:/a::default"],
            },
        ]

    def test_a_second_list_of_categories_is_an_error(self):
        """There is one order of precedence."""
        with pytest.raises(BindingError) as caught:
            parse_site("site { categories { } } site { categories { } }", "site.pp")

        assert caught.value.kind == "categories-twice"
        assert str(caught.value).startswith("site.pp:1:")


class TestCallsAndExpressions:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("7.0 / 2", 3.5), ("7 % 4", 3), ("5 - 2 - 1", 2),
            ("[1] + 2", [1, 2]), ("[1] + [[2]]", [1, [2]]), ("{a => 1} + {b => 2}", {"a": 1, "b": 2}),
            ("1 < 2 and 'b' >= 'a'", True), ("1 == '1'", False), ("1 == 1.0", True), ("true == 1", False),
            ("!true or false", False), ("$x[0]", "a"), ("$x[9]", None), ("$h['k']", 1), ("'abc' =~ /b/", True),
            ("'abc' !~ 'z'", True), ("upcase('a')", "A"), ("join(['a', 'b'], '-')", "a-b"), ("size($x)", 2),
            ("if $h { 1 } else { 2 }", 1), ("unless $h { 1 } else { 2 }", 2), ("default", "default"),
            ("if false { 1 } else if true { 3 }", 3), ("join([true, undef, 1], '-')", "true--1"),
            ("upcase(undef)", ""), ("upcase(true)", "TRUE"), ("stringify(false)", "false"),
        ],
    )  # fmt: skip
    def test_the_language_evaluates_the_documented_expressions(self, text, value):
        """The subset that the document's examples need."""
        known = {"x": ["a", "b"], "h": {"k": 1}}

        assert parse_expression(text).evaluate(known.__getitem__, FUNCTIONS) == value

    @pytest.mark.parametrize(
        ("value", "is_true"),
        [("undef", False), ("false", False), ("''", False), ("0", True), ("0.0", True), ("[]", True), ("{}", True)],
    )
    def test_only_undef_false_and_the_empty_text_are_false_in_conditions(self, value, is_true):
        """As in Puppet 3, whose language the document extends; in Puppet 4 and later the empty text is true."""
        for text in (
            f"if {value} {{ true }} else {{ false }}",
            f"unless {value} {{ false }} else {{ true }}",
            f"!!{value}",
            f"{value} and true",
            f"true and {value}",
            f"{value} or false",
            f"false or {value}",
        ):
            assert parse_expression(text).evaluate(str, FUNCTIONS) is is_true, text

    @pytest.mark.parametrize(
        "text",
        [
            "1 / 0", "'a' + 1", "nobody(1)", "{[1] + [2] => 1}", "size(1)", "1[2]", "{a => 1}[[1]]",
            f"1{'0' * 400} / 1.5",
        ],
    )  # fmt: skip
    def test_what_means_nothing_is_an_error_that_shows_it(self, text):
        """Never a raw traceback."""
        with pytest.raises(BindingError):
            parse_expression(text).evaluate(lambda name: None, FUNCTIONS)


class TestSyntaxErrors:
    @pytest.mark.parametrize(
        ("text", "place", "hint"),
        [
            ("bind answer to 42", "1:6", "a text is quoted: 'answer'"),
            ("bind 'a' to inject('b')", "1:13", "write a call inside of a list or hash: [inject(...)]"),
            ("multbind Array, 'x'", "1:1", "did you mean multibind?"),
            ("bind 'x' too 1", "1:10", "did you mean to?"),
            ("bind 'a to 1", "1:6", "is a quote still open?"),
            ("when node { }", "1:11", "expected here"),
            ("bindd 'a' to 1", "1:1", "did you mean bind"),
            ("rebind 'a' to 1", "1:12", "expected here"),
            ("bind 'x' to", "1:12", "expected here"),
            ("include", "1:8", "expected here"),
            ("bind Hash[a], 'x' to 1", "1:6", "capital letter"),
            ("bind 'x' to /a(/", "1:13", "cannot be read"),
            ("bind variables to 1", "1:16", "bound to a hash"),
            ("bind variables abstract to { a => 1 }", "1:25", "a list of names"),
            ('bind variables abstract to "a $x"', "1:25", "a list of names"),
            ("bind variables abstract to [$x]", "1:25", "a list of names"),
            ("bind variables abstract to class x", "1:25", "a list of names"),
            ("bind variables abstract to []", "1:25", "a list of names"),
            ("bind variables abstract to ['a', 1]", "1:25", "a list of names"),
            ("bind 'x' to 1e999", "1:13", "too large"),
            ("bind 'x' to A[?? b =~ 3]", "1:23", "3 is no pattern"),
        ],
    )
    def test_the_place_is_shown_with_a_caret_and_a_guess(self, text, place, hint):
        """The line, a caret below the place, and the way out."""
        with pytest.raises(BindingError) as caught:
            parse_items(text)
        message = str(caught.value)

        assert message.startswith(f"{place}: ")
        assert f"  {text}\n" in message
        assert message.splitlines()[2].index("^") == int(place.split(":")[1]) + 1
        assert hint in message

    @pytest.mark.parametrize("deep", ["[" * 5000, "[" * 2000 + "]" * 2000, "when a b {" * 3000 + "}" * 3000])
    def test_deep_nesting_is_an_error_like_any_other(self, deep):
        """Not a RecursionError."""
        with pytest.raises(BindingError):
            parse_items(f"bind 'a' to {deep}" if deep[0] == "[" else deep)

    def test_items_know_their_places(self):
        """File, line and column, inside blocks too."""
        (one,) = parse_sets("bindings a {\n  when x y {\n    bind 'a' to 1\n  }\n}", "a.pp")

        assert [(item.origin.line, item.origin.column) for item in one.every()] == [(2, 3), (3, 5)]
        assert str(next(one.every()).origin) == "a.pp:2 (bindings a)"


def test_the_register_of_classes_refuses_two_of_one_name():
    """Names are how texts and data find classes."""
    other = type("Lamp", (), {})

    with pytest.raises(BindingError, match="two classes are called Lamp"):
        Classes({"Lamp": Lamp}).add(other)


class TestFormsSeenOnce:
    """Forms that the document shows in one place only."""

    @pytest.mark.parametrize(
        "text",
        [
            "bind Type[Producer[String]], 'garden::uuid' to Type[Tickets] in 'producers'",
            "bind Type[Checker], 'xml' to Type[MyXmlChecker]",
            "bind 'my_ldap' to Type[MyLdapProvider] in 'bindings_providers'",
            "bind parameters X to Y[some_y] bind parameters X to Z[some_z]",
            "bind map X to Z { b => b, c => c }",
            "bind parameters Web[one] to optional LimitedServices[web]",
            "bind parameters File['foo/bar[x]'] to { mode => '0644' }",
            "bind 'r' to producer Type[Slow] { singleton => false, 'producer_args' => {}, }",
            "multibind Hash[TypeChecker], 'syntax' AS 'checks' bind 'xml' to Type[MyXml] IN 'checks'",
            "bind abstract Array[class hedge], 'hedges' bind class hedge to class hedge2",
            "bind Array[Class[hedge]], 'hedges' to [Class[hedge]] { transformer => |$x| { $x } }",
            "bind 'nothing' to undef bind 'some' to default",
            "bind parameters hedge to Kind[?? height >= 2 and !(name ~= '^dwarf') or age != 1 and age < 9]",
        ],
    )
    def test_rare_forms_of_the_language_are_read_and_written_as_data(self, text):
        """And read back as the same."""
        found = parse_items(text)

        assert sets_from_data(to_data(found)) == [found]

    @pytest.mark.parametrize(
        ("index", "path", "line", "column"),
        [
            (0, (), 2, 14),
            (0, (0,), 2, 15),
            (0, (1,), 2, 18),
            (0, (2, "k"), 2, 31),
            (0, (9,), 2, 14),
            (1, ("a",), 4, 8),
            (1, ("b", 1), 6, 2),
            (1, ("c",), 3, 14),
        ],
    )
    def test_a_value_knows_where_each_of_its_entries_is_written(self, index, path, line, column):
        """What is not written out stands where what holds it stands."""
        text = "bindings s {\n bind 'x' to [1, 22, { 'k' => 3 }]\n bind 'y' to {\n  a => 1,\n  b => [2,\n 3] }\n}"
        (one,) = parse_sets(text, "a.pp")
        origin = one.items[index].to.places.at(path)

        assert ("a.pp", line, column) == (origin.file, origin.line, origin.column)

    def test_a_hundred_lines_of_comments_and_blanks_mean_nothing(self):
        """Windows line ends and a byte order mark neither."""
        (one,) = parse_sets("\ufeff" + "# x\r\n" * 100 + "bindings a {\r\n\tbind 'x' to 1 # y\r\n}\r\n# end")

        assert (one.items[0].origin.line, one.items[0].origin.column) == (102, 2)

    def test_without_lark_the_error_names_the_extra(self, monkeypatch):
        """The other two ways to write need nothing."""
        monkeypatch.setitem(sys.modules, "lark", None)
        parser.cache_clear()

        with pytest.raises(MissingExtra, match=r"nodeattrs\[bindings\]"):
            parse_items("bind 'a' to 1")
        monkeypatch.undo()
        assert parse_items("bind 'a' to 1").items

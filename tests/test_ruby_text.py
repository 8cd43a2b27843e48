"""Ruby that says data: read, never run, each value with its place."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.cache import CACHE
from nodeattrs.errors import DocumentError, MissingExtra, TooMuch
from nodeattrs.formats.chef_words import ruby_document
from nodeattrs.formats.documents import Document
from tests.effort import examples


def role(tmp_path: pathlib.Path, text: str, kind: str = "role") -> Document:
    path = tmp_path / "x.rb"
    path.write_text(text, encoding="utf-8")
    return ruby_document(path, f"{kind}s/x.rb", kind)


def test_a_file_is_parsed_once_for_each_content(tmp_path):
    CACHE.clear()
    first = role(tmp_path, "run_list 'a'")
    entries = len(CACHE)

    assert ["a"] == role(tmp_path, "run_list 'a'").tree["run_list"]
    assert entries == len(CACHE)
    assert ["b"] == role(tmp_path, "run_list 'b'").tree["run_list"]
    assert entries < len(CACHE)
    assert ["a"] == first.tree["run_list"]


def test_who_changes_the_tree_of_a_document_changes_no_other(tmp_path):
    role(tmp_path, "default_attributes 'a' => [1]").tree["default_attributes"]["a"].append(2)

    assert {"a": [1]} == role(tmp_path, "default_attributes 'a' => [1]").tree["default_attributes"]


LITERALS = [
    # Ruby, what it says
    ("'a\\'b\\\\c\\n'", "a'b\\c\\n"),
    (r'"a\"b\\c\n\t\u00e9\u{1F600 41}\x41\101\e\q"', 'a"b\\c\n\té😀AAA\x1bq'),
    ("%q(a(b)c)", "a(b)c"),
    ("%Q{a}", "a"),
    ("%(a b)", "a b"),
    ("'a' \"b\" \\\n 'c'", "abc"),
    (":web", "web"),
    (":'a b'", "a b"),
    (':"a b"', "a b"),
    ("?a", "a"),
    ("12_000", 12000),
    ("-7", -7),
    ("0644", 420),
    ("0o17", 15),
    ("0xff", 255),
    ("0b101", 5),
    ("1.5e3", 1500.0),
    ("-0.5", -0.5),
    ("true", True),
    ("nil", None),
    ("%w(a b\\ c #{d})", ["a", "b c", "#{d}"]),
    ("%W(a #{'x'}b)", ["a", "xb"]),
    ("%i(a b)", ["a", "b"]),
    ("[1, [2], {}]", [1, [2], {}]),
    ("[1, 'a' => 2]", [1, {"a": 2}]),
    ("{ 'a' => 1, :b => 2, c: 3, \"d e\": 4, 80 => 5 }", {"a": 1, "b": 2, "c": 3, "d e": 4, "80": 5}),
    ("'a' + 'b'", "ab"),
    ("[1] + [2]", [1, 2]),
    ("'a'.freeze", "a"),
    ("('a')", "a"),
    ("File.join('a', '/b')", "a/b"),
    ("'ü\\'ö'", "ü'ö"),
    ("\"ü#{'ö'}é\"", "üöé"),
]

HEREDOCS = [
    ("<<EOH\n a\nb\nEOH\n", " a\nb\n"),
    ("<<-EOH\n  a\\tb\n  EOH\n", "  a\tb\n"),
    ("<<-'EOH'\n  a\\tb #{c}\n  EOH\n", "  a\\tb #{c}\n"),
    ("<<~EOH\n    a\n\n      b\n  EOH\n", "a\n\n  b\n"),
    ("<<~EOH\n\ta\n        b\n  EOH\n", "a\nb\n"),
    ("<<~EOH\n  #{'x'}\n    y\n  EOH\n", "x\n  y\n"),
]


class TestLiterals:
    @pytest.mark.parametrize(("ruby", "value"), LITERALS)
    def test_each_says_what_ruby_says(self, tmp_path, ruby, value):
        """Keys and symbols become text, as in the JSON that Chef makes of it."""
        assert role(tmp_path, f"default_attributes('v' => {ruby})").tree == {"default_attributes": {"v": value}}

    @pytest.mark.parametrize(("ruby", "value"), HEREDOCS)
    def test_heredocs_of_ruby_are_read_in_three_forms(self, tmp_path, ruby, value):
        """In all three forms."""
        assert role(tmp_path, f"description {ruby}").tree == {"description": value}

    def test_two_heredocs_in_one_statement(self, tmp_path):
        """Each finds its own body."""
        text = "default_attributes('a' => <<A, 'b' => <<B)\none\nA\ntwo\nB\n"

        assert role(tmp_path, text).tree["default_attributes"] == {"a": "one\n", "b": "two\n"}

    @pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no Ruby to ask")
    def test_ruby_itself_says_the_same(self, tmp_path):
        """The table above, asked of the real one."""
        rows = [ruby for ruby, _ in LITERALS] + [ruby for ruby, _ in HEREDOCS]
        program = "require 'json'\n" + "".join(f"puts JSON.generate([({ruby}\n)])\n" for ruby in rows)
        ran = subprocess.run(["ruby", "-"], input=program, capture_output=True, text=True, check=True)

        assert [value for _, value in LITERALS + HEREDOCS] == [json.loads(line)[0] for line in ran.stdout.splitlines()]

    def test_names_stand_for_what_they_were_assigned(self, tmp_path):
        """Local variables, constants, and words of the file without arguments."""
        text = (
            "name 'web'\nbase = 80\nPORTS = [base]\ndefault_attributes('p' => PORTS, 'n' => \"#{name}-#{base}#{nil}\")"
        )

        assert role(tmp_path, text).tree["default_attributes"] == {"p": [80], "n": "web-80"}

    def test_a_name_is_copied_each_time(self, tmp_path):
        """Nobody changes two places at once."""
        tree = role(tmp_path, "x = [1]\ndefault_attributes('a' => x, 'b' => x)").tree["default_attributes"]
        tree["a"].append(2)

        assert [1] == tree["b"]


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "line", "shown"),
        [
            ("name 'x'\ndefault_attributes('a' => ENV['PORT'])", 2, "`ENV['PORT']` is no literal"),
            ("x = rand\nname 'x'\ndescription x", 1, "`rand` is no literal"),
            ('description "a#{`hostname`}"', 1, "``...`` is no literal"),
            ("default_attributes('pw' => ENV['PW'] || 's3cret')", 1, "`ENV['PW'] || '...'` is no literal"),
            (
                'default_attributes(x: f("s3#{y}\\n", k: %w[s3 s4], "m" => 5))',
                1,
                '`f("...#{y}...", k: %w[... ...], "m" =>',
            ),
            (
                "if true\n  x = <<~END\n  s3cret\n  END\n  name x\nend\n",
                1,
                "`if true x = <<~END...END name x end` is no literal",
            ),
            ("default_attributes('pw' => f(<<~END))\ns3cret\nEND", 1, "`f(<<~END)` is no literal"),
            ("if true\n  name 'x'\nend", 1, "`if true name '...' end` is no literal"),
            ("name 'x'\nfoo 'y'", 2, "`foo '...'` is no literal"),
            ("default_attributes(**x)", 1, "`**x` is no literal"),
            ("default_attributes('a' => 1..2)", 1, "`1..2` is no literal"),
            ("default_attributes(nil => 1)", 1, "`nil` is no key"),
            ('description "\\u{110000}"', 1, "is no character"),
            ('description "\\M-a"', 1, "is an escape that is not read here"),
            ("run_list 'a'\nname('x', 'y')", 2, "name takes one value"),
            ("env_run_lists 'prod' => []", 1, 'env_run_lists needs a list for "_default"'),
            ("default_attributes('a' => [1,\n'b')", 2, "Ruby syntax error"),
            ("name 'x'\n0=>:", 2, "Ruby syntax error"),
            (f"default_attributes('a' => 0x{'f' * 4_000})", 1, "is a number of more than 4300 digits"),
            (f"default_attributes(0x{'f' * 4_000} => 1)", 1, "is a number of more than 4300 digits"),
        ],
    )
    def test_what_only_ruby_knows_is_refused_with_its_line(self, tmp_path, text, line, shown):
        """Nothing is guessed."""
        with pytest.raises(DocumentError) as caught:
            role(tmp_path, text)

        assert shown in str(caught.value)
        assert "s3" not in str(caught.value)
        assert caught.value.line == line

    def test_nothing_is_run(self, tmp_path):
        """Not even what stands where a value is wanted."""
        mark = tmp_path / "ran"
        with pytest.raises(DocumentError):
            role(tmp_path, f"name 'x'\nFile.write({str(mark)!r}, '')\n")

        assert not mark.exists()

    @pytest.mark.parametrize("text", ["%w(" * 20_000, "x = 'a'\n" + 'x = "#{x}#{x}"\n' * 40 + "name x", "[" * 600])
    def test_ruby_text_that_grows_without_end_is_refused(self, tmp_path, text):
        """A limit, and no long wait."""
        with pytest.raises((TooMuch, DocumentError)):
            role(tmp_path, text)

    def test_lists_that_double_are_refused(self, tmp_path):
        """As aliases of YAML are."""
        text = "x = [1]\n" + "x = [x, x]\n" * 40 + "default_attributes('a' => x)"
        with pytest.raises(TooMuch):
            role(tmp_path, text)

    def test_without_the_library_the_extra_is_named(self, tmp_path, monkeypatch):
        """It is an extra."""
        monkeypatch.setitem(sys.modules, "tree_sitter_ruby", None)
        with pytest.raises(MissingExtra, match=r"nodeattrs\[chef\]"):
            role(tmp_path, "name 'x'")


class TestPlaces:
    def test_each_leaf_has_its_line_and_column(self, tmp_path):
        """Of its key; of the value, where that stands on a later line."""
        text = "name 'é'; default_attributes(\n  'a' => { :b => 1,\n    'c' =>\n      2 },\n  d: [1,\n    2]\n)\n"
        document = role(tmp_path, text)

        at = {path: document.place(("default_attributes", *path)) for path in [("a", "b"), ("a", "c"), ("d", 1), ()]}
        assert {("a", "b"): (2, 12), ("a", "c"): (4, 7), ("d", 1): (6, 5), (): (1, 11)} == at

    def test_items_of_a_run_list(self, tmp_path):
        """In every form that Chef takes."""
        for text in ("run_list 'a',\n 'b'", "run_list(['a',\n 'b'])", "recipes %w(a\n b)"):
            document = role(tmp_path, text)

            assert (["a", "b"], (2, 2)) == (document.tree["run_list"], document.place(("run_list", 1)))

    def test_a_key_that_stands_twice_is_a_warning(self, tmp_path):
        """The last one counts, as in Ruby."""
        document = role(tmp_path, "default_attributes('a' => 1,\n 'a' => 2)")

        assert {"a": 2} == document.tree["default_attributes"]
        assert ["repeated-key"] == [warning.kind for warning in document.warnings]


class TestWords:
    def test_a_word_said_again_replaces(self, tmp_path):
        """As in Chef."""
        assert {"description": "b"} == role(tmp_path, "description 'a'\ndescription 'b'").tree

    def test_the_run_list_said_after_the_lists_of_environments_counts(self, tmp_path):
        """Both set the list of `_default`."""
        text = "env_run_lists '_default' => ['a'], 'prod' => 'p'\nrun_list 'b'"

        assert {"env_run_lists": {"prod": ["p"]}, "run_list": ["b"]} == role(tmp_path, text).tree

    def test_cookbooks_of_an_environment(self, tmp_path):
        """One by one, or all at once."""
        text = "cookbook_versions 'a' => '= 1.0.0'\ncookbook 'b', '~> 2.0'"

        document = role(tmp_path, text, "environment")
        assert {"cookbook_versions": {"a": "= 1.0.0", "b": "~> 2.0"}} == document.tree
        assert (2, 1) == document.place(("cookbook_versions", "b"))

    def test_metadata_says_what_matters_and_the_rest_may_be_any_ruby(self, tmp_path):
        """Loops over literals are read."""
        text = (
            "name 'web'\nversion '1.2.3'\nlong_description IO.read(File.join(File.dirname(__FILE__), 'README.md'))\n"
            "source_url \"https://x/#{name}\" if respond_to?(:source_url)\nattribute 'a', :default => foo\n"
            "%w(apt yum).each do |cb|\n  depends cb\nend\ndepends 'base', '>= 1.0'\n"
            "{ 'x' => '1.0' }.each { |cb, at| depends cb, at }\n%w(a b).each { |os| supports os }\n"
        )
        depends = {"apt": "", "yum": "", "base": ">= 1.0", "x": "1.0"}

        assert {"name": "web", "version": "1.2.3", "dependencies": depends} == role(tmp_path, text, "cookbook").tree

    @pytest.mark.parametrize(
        "change", ["cbs << 'b'", "cbs.push('b')", "cbs += ['b']", "if x\n  cbs = ['b']\nend", "y = cbs.concat(['b'])"]
    )
    def test_a_name_that_may_have_changed_is_not_used(self, tmp_path, change):
        """Where the change itself is passed over."""
        with pytest.raises(DocumentError, match="cbs"):
            role(tmp_path, f"cbs = ['a']\n{change}\ncbs.each {{ |cb| depends cb }}", "cookbook")

        text = f"cbs = ['a']\n{change}\nat = '2.0.0'\nlong_description \"#{{cbs}}\" if cbs\nversion at"
        assert {"version": "2.0.0"} == role(tmp_path, text, "cookbook").tree

    def test_loops_in_loops_without_end_are_refused(self, tmp_path):
        """By an error of the file."""
        text = "".join("[1].each do |a|\n" for _ in range(2_000)) + "depends 'x'\n" + "end\n" * 2_000
        with pytest.raises(DocumentError):
            role(tmp_path, text, "cookbook")

    @pytest.mark.parametrize(
        "text",
        ["depends 'a' if x", "version IO.read('VERSION')", "x.each { |cb| depends cb }", "depends 'a', '1', '2'"],
    )
    def test_a_dependency_that_only_ruby_knows_is_refused(self, tmp_path, text):
        """It would change which attribute files load."""
        with pytest.raises(DocumentError):
            role(tmp_path, text, "cookbook")


words = st.text(st.sampled_from("ab'\"\\#{}\n\té "), max_size=6)
trees = st.recursive(
    words | st.integers(-99, 99) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def printed(value: object) -> str:
    """A tree as Ruby."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{printed(key)} => {printed(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(printed, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("#", "\\#") + '"'
    return {None: "nil", True: "true", False: "false"}.get(value, str(value)) if type(value) is not int else str(value)


@settings(max_examples=examples(60), deadline=None)
@given(st.dictionaries(words, trees, max_size=3))
def test_what_is_printed_as_ruby_is_read_back(tmp_path_factory, tree):
    """The round trip, whatever the texts hold."""
    said = role(tmp_path_factory.mktemp("ruby"), f"default_attributes({printed(tree)})").tree

    assert {"default_attributes": tree} == said

"""Small inputs that once used up the machine, or ended in an error that is not ours. None is timed: what is drawn
from a budget ends by itself, and a test that does not end has failed."""

from __future__ import annotations

import contextlib
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import read_layer
from nodeattrs.ansible import Inventory
from nodeattrs.bindings import parse_expression, parse_sets
from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.cloudinit import CloudConfigError, kind_of, load_config, merge
from nodeattrs.core.budget import NAMES, Budget, Limits, limited
from nodeattrs.core.tree import parse as path_of
from nodeattrs.dialects.bindings.model.values import compared
from nodeattrs.dialects.hiera.types import convert, parse_type
from nodeattrs.errors import BadArgument, DocumentError, NodeattrsError, TooDeep, TooMuch
from nodeattrs.formats.documents import parse, read
from nodeattrs.formats.patterns import BadPattern, expression
from nodeattrs.hiera import Hiera
from nodeattrs.puppet.chains import parsed_chain
from nodeattrs.store import Saved, open_store
from nodeattrs.store.search import parse_query

HIERARCHY = "version: 5\nhierarchy:\n- name: c\n  path: common.yaml\n- name: d\n  path: d.yaml\n"


def lookup(folder: Path, files: dict[str, str], key: str = "k", facts: Any = None, **options: Any) -> Any:
    for name, text in {"hiera.yaml": HIERARCHY, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Hiera(folder).scope(facts or {}, node="web1").lookup(key, **options)


class TestBudget:
    def test_past_each_limit_there_is_one_error(self):
        """It names the limit, the place and the way out."""
        limits = Limits(steps=3, values=3, bytes=3, depth=3, seconds=3)
        for name in ("steps", "values", "bytes", "depth"):
            budget = Budget("roles/web.json", limits, where=lambda: (4, 2))
            getattr(budget, name)(3)
            with pytest.raises(TooMuch, match=rf"(?s)roles/web\.json:4:2: .*3.*\[limits\] {name}.*--budget") as caught:
                getattr(budget, name)(4)
            assert (name, "roles/web.json", 4) == (caught.value.limit, caught.value.file, caught.value.line)

    def test_steps_of_a_budget_are_used_up_and_depth_is_not(self):
        """Depth is not: it is where one stands."""
        budget = Budget("x", Limits(steps=3, depth=2))
        budget.steps(2)
        budget.depth(2)
        budget.depth(2)

        assert 1 == budget.remaining("steps")
        with pytest.raises(TooMuch, match="takes more than 3 steps"):
            budget.steps(2)

    def test_a_tree_counts_what_is_shared_as_often_as_it_is_used(self):
        """So an alias cannot make much of little."""
        twice = {"a": ["x" * 10] * 2}
        budget = Budget("x", Limits(values=9, bytes=40))
        budget.tree([twice, twice])

        assert (0, 0) == (budget.remaining("values"), budget.remaining("bytes"))
        with pytest.raises(TooMuch):
            budget.tree("x")

    def test_limits_hold_for_a_block(self):
        """And those of before after it."""
        with limited(values=5), pytest.raises(TooMuch):
            Budget("x").values(6)
        Budget("x").values(6)

    @pytest.mark.parametrize("odd", [{"values": 0}, {"values": -1}, {"values": "9"}, {"vaules": 9}, {"depth": 501}])
    def test_a_limit_that_is_none_is_refused(self, odd):
        """With those that there are."""
        with pytest.raises(BadArgument, match="there is no limit"):
            Limits().replaced(**odd)

    def test_settings_and_the_command_line_raise_them(self, tmp_path, capsys, monkeypatch):
        """The command line prevails."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "c.yaml").write_text("#cloud-config\na: [1, 2, 3, 4, 5, 6]\nb: &b [x]\nc: [*b, *b]\n")
        words = ["cloud-config", "merge", "c.yaml"]

        assert 0 == main(words)
        (tmp_path / "nodeattrs.toml").write_text("[limits]\nvalues = 7\n")
        assert 1 == main(words)
        assert "more than 7 values" in capsys.readouterr().err
        assert 0 == main([*words, "--budget", "values=100", "--budget", "seconds=0.5"])
        assert 1 == main([*words, "--budget", "values"])
        assert 1 == main([*words, "--budget", "valeus=7"])
        assert ", ".join(NAMES) in capsys.readouterr().err

    @pytest.mark.parametrize("action", ["merge", "explain", "check", "pack"])
    def test_the_settings_limit_each_command(self, tmp_path, capsys, monkeypatch, action):
        """Whether it can write its answer in several formats, or not."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "c.yaml").write_text("#cloud-config\na: 1\n")
        (tmp_path / "nodeattrs.toml").write_text("[limits]\nsteps = 3\n")

        assert 1 == main(["cloud-config", action, "c.yaml"])
        assert "more than 3 steps" in "".join(capsys.readouterr())

    def test_the_settings_limit_what_a_check_reads(self, tmp_path, capsys):
        """Of the repository that is looked at; settings that cannot be read are a finding."""
        (tmp_path / "roles").mkdir()
        (tmp_path / "roles/web.yaml").write_text("name: web\ndefault_attributes: {a: [1, 2, 3, 4]}\n")
        settings = tmp_path / "nodeattrs.toml"

        assert 0 == main(["check", "--repo", str(tmp_path)])
        settings.write_text("[limits]\nvalues = 5\n")
        assert 1 == main(["check", "--repo", str(tmp_path)])
        assert "more than 5 values" in capsys.readouterr().out
        settings.write_text("[limits]\nvalues = -5\n")
        assert 1 == main(["check", "--repo", str(tmp_path)])
        assert "nodeattrs.toml:2:1" in capsys.readouterr().out

    def test_one_that_is_handed_in_is_drawn_on(self, tmp_path):
        """By readers, and by each text of a merge for itself."""
        files = {"a.json": '{"a": [1, 2, 3]}', "a.yaml": "a: [1, 2, 3]", "a.toml": "a = [1, 2, 3]"}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
            budget = Budget("x", Limits(bytes=len(text) + 2))

            assert {"a": [1, 2, 3]} == read_layer(tmp_path / name, budget=budget).value
            assert 2 == budget.remaining("bytes")
            with pytest.raises(TooMuch):
                read_layer(tmp_path / name, budget=budget)
        part = "#cloud-config\na: [1, 2, 3]\n"
        assert {"a": [1, 2, 3]} == load_config(part, Budget("x", Limits(values=6)))
        with pytest.raises(CloudConfigError, match="the text holds more than 5 values"):
            load_config(part, Budget("x", Limits(values=5)))
        few, enough = (merge([part, part], budget=Budget("x", Limits(values=most))) for most in (5, 6))
        assert [["failed"] * 2, ["merged"] * 2] == [[one.status for one in each.parts] for each in (few, enough)]

    def test_a_wrong_limit_in_the_settings_has_its_line(self, tmp_path):
        """As everything there."""
        (tmp_path / "nodeattrs.toml").write_text('[limits]\nvalues = "many"\n')

        with pytest.raises(DocumentError, match=r"nodeattrs\.toml:2:1"):
            _ = Repository(tmp_path).config


class TestDocuments:
    @pytest.mark.parametrize("base", ["0x" + "f" * 3600, "0o" + "7" * 4800, "0b" + "1" * 14300, "9" * 4400])
    def test_a_number_that_nobody_could_write_in_decimals_is_refused(self, base):
        """Whatever base it has."""
        with pytest.raises(DocumentError, match=r"f\.toml:2:\d+: a number of more than 4300 digits|f\.toml"):
            parse(f'a = "0x{"f" * 4000}"\nb = [{{c = {base}}}]\n', "f.toml", "toml")

    def test_what_looks_like_one_in_a_text_is_text(self):
        """And the longest number that can be written is read."""
        text = f'a = "0x{"f" * 4000}"\nb = 0x{"f" * 3500}\n'

        assert 0xF == parse(text, "f.toml", "toml").tree["b"] % 16

    @pytest.mark.parametrize(
        "text", [".".join("a" * 60_000) + " = 1", "x = {" + " . ".join(["'a'"] * 9000) + " = 1}", f"[{'a.' * 501}a]"]
    )
    def test_a_dotted_key_without_end_is_refused(self, text):
        """Before somebody takes the square of its steps."""
        with pytest.raises(TooMuch, match="nested deeper than 500 levels"):
            parse(text, "f.toml", "toml")

    def test_many_long_keys_are_refused_too(self):
        """Each alone would do."""
        key = ".".join("a" * 400)
        with pytest.raises(TooMuch, match="steps"):
            parse("\n".join(f"{key}.k{number} = 1" for number in range(1000)), "f.toml", "toml")

    def test_dots_elsewhere_are_no_steps(self):
        """In texts, comments and numbers."""
        text = f'a = "{"." * 2000}" # {"." * 2000}\nb = [{"1.5, " * 1000}]\nc = """\n{".x" * 1000}"""\n'

        assert 1000 == len(parse(text, "f.toml", "toml").tree["b"])

    def test_a_file_may_be_as_large_as_the_limit_says(self, tmp_path):
        """In bytes."""
        (tmp_path / "a.json").write_text("[1, 2, 3]")
        with limited(bytes=8), pytest.raises(TooMuch, match="larger than 8"):
            read(tmp_path / "a.json")
        assert [1, 2, 3] == read(tmp_path / "a.json").tree


class TestPaths:
    @pytest.mark.parametrize("text", ['"\\v"', '"\\"', '"\\ud800"', "a." + "9" * 5000])
    def test_a_step_that_cannot_be_read_is_an_error_of_ours(self, text):
        """With the way to write it."""
        with pytest.raises(BadArgument):
            path_of(text)

    def test_a_hiera_key_with_too_many_digits_cannot_be_split(self, tmp_path):
        """Whose digits are counted, too."""
        with pytest.raises(NodeattrsError, match="cannot be split"):
            lookup(tmp_path, {"data/common.yaml": "k: [1]\n"}, "k." + "9" * 5000)

    def test_and_for_a_chain(self):
        """Of a catalog."""
        with pytest.raises(DocumentError, match="a number of more than"):
            parsed_chain(f"File <| a == {'9' * 5000} |> -> File['b']")

    def test_and_for_an_expression_of_bindings(self):
        """In hexadecimals."""
        with pytest.raises(NodeattrsError, match="digits"):
            parse_expression("0x" + "f" * 5000)

    def test_a_text_of_bindings_may_take_so_many_steps(self):
        """Reading one takes long."""
        with pytest.raises(TooMuch, match="steps"):
            parse_sets("bindings a { " + " " * 300_000 + "}")


class TestInterpolation:
    def test_a_lookup_is_remembered_within_one_call(self, tmp_path):
        """Sixty doublings of nothing take no time."""
        rows = ["k0: ''"] + [f"k{n}: \"%{{lookup('k{n - 1}')}}%{{lookup('k{n - 1}')}}\"" for n in range(1, 60)]

        assert "" == lookup(tmp_path, {"data/common.yaml": "\n".join(rows)}, "k59")

    def test_texts_that_double_end_at_the_limit(self, tmp_path):
        """It names the key that was asked for."""
        rows = ["k0: laugh"] + [f"k{n}: \"%{{lookup('k{n - 1}')}}%{{lookup('k{n - 1}')}}\"" for n in range(1, 60)]

        with pytest.raises(TooMuch, match=r"lookup of 'k59': is larger than 10 MB"):
            lookup(tmp_path, {"data/common.yaml": "\n".join(rows)}, "k59")

    def test_lists_that_double_end_at_the_limit(self, tmp_path):
        """Values are counted as often as they are used."""
        rows = ["k0: laugh"] + [f"k{n}: [\"%{{alias('k{n - 1}')}}\", \"%{{alias('k{n - 1}')}}\"]" for n in range(1, 60)]

        with pytest.raises(TooMuch, match=r"more than 1,000,000 values"):
            lookup(tmp_path, {"data/common.yaml": "\n".join(rows)}, "k59")

    def test_a_long_fact_cannot_be_written_without_end(self, tmp_path):
        """A short one can."""
        rows = "k: '" + "%{facts.f}" * 1000 + "'"

        assert "xx" * 1000 == lookup(tmp_path, {"data/common.yaml": rows}, facts={"f": "xx"})
        with pytest.raises(TooMuch, match="10 MB"):
            lookup(tmp_path, {"data/common.yaml": rows}, facts={"f": "x" * 20_000})

    def test_a_value_too_deep_for_its_type_is_told(self, tmp_path):
        """The stack is not the limit."""
        rows = "k: " + "[" * 499 + "]" * 499

        with pytest.raises(TooDeep):
            lookup(tmp_path, {"data/common.yaml": rows}, value_type="Array[" * 400 + "Any" + "]" * 400)


class TestGlobs:
    GLOB = "version: 5\nhierarchy:\n- name: g\n  glob: '{}'\n"

    @pytest.mark.parametrize(
        ("role", "found"),
        [("*a" * 12 + "b", 0), ("*a" * 12 + "*", 1), ("[z-a]", 0), ("[!z-a]" + "?" * 119, 1), ("{" * 2000, 0)],
    )
    def test_a_fact_makes_no_glob_slow(self, tmp_path, role, found):
        """Facts are what a node controls."""
        files = {"hiera.yaml": self.GLOB.format("%{facts.role}.yaml"), f"data/{'a' * 120}.yaml": "k: 1\n"}

        assert found == lookup(tmp_path, files, facts={"role": role}, default_value=0)

    def test_many_folders_are_walked_once_for_each_step(self, tmp_path):
        """Two stars after each other are two stars."""
        files = {"hiera.yaml": self.GLOB.format("**/a/**/" * 6 + "x.yaml")}
        files |= {"data/" + "a/" * depth + "y.yaml": "k: 1\n" for depth in range(1, 25)}

        assert 0 == lookup(tmp_path, files, default_value=0)
        assert 1 == lookup(tmp_path, {**files, "data/" + "a/" * 24 + "x.yaml": "k: 1\n"}, default_value=0)

    def test_braces_and_mapped_paths_end_at_the_limit(self, tmp_path):
        """A file that is looked for is a hundred steps."""
        files = {"hiera.yaml": self.GLOB.format("%{facts.f}.yaml"), "data/x.yaml": "k: 1\n"}
        with pytest.raises(NodeattrsError):
            lookup(tmp_path, files, facts={"f": "{a,b}" * 5000})
        files = {"hiera.yaml": "version: 5\nhierarchy:\n- name: g\n  mapped_paths: [facts.a, b, '%{b}.yaml']\n"}
        with pytest.raises(TooMuch, match="steps"):
            lookup(tmp_path, files, facts={"a": [str(number) for number in range(200_000)]})


SLOW = [
    r"^(\w+)+!$", r"(a|b|ab)*!", r"^(.*,)*!", r"(\s*\w+\s*)*!", r"^(a?){40}!", "(?:a*)*!", "a*" * 8 + "!", "(a|a?)+!",
    "(?:a|)*(?:b|)*!", "a?" * 30 + "a" * 30 + "!", "(?=(?:a+)+!)a", r"(?:(\w)\1)*!", "(?x) (a +) + !",
    "((((a{1,99}){1,99}){1,99}){1,99})!", "(?#x)(a+)+!", r"(a)(?(1)a*)a*a*!", ".*" + "a" * 3000 + "!",
]  # fmt: skip
CHEAP = [
    r"^profile::.*::users$", r"^profile::(.*)$", "^(absent|latest|present)$", r"[0-9]{1,3}\.[0-9]{1,3}", "^a[](]b",
    r"^\w+::\w+$", "(?i)www", "(?i:a)b?", "(?P<name>a)|b", r"^(?!foo)\w+::(?:port|listen)$", r"\(a\)+", "(?:^)*a",
]  # fmt: skip
SIGNS = ["a", "b", ".", "(", "(?:", "(?=", "|", ")", "?", "+", "*", "{2}", "{0,3}", "[ab]", r"\w", "^", "$"]


class TestExpressions:
    @pytest.mark.parametrize("source", CHEAP)
    def test_expressions_as_repositories_have_them_are_searched_without_another_process(self, source):
        assert expression(source).is_cheap(80)

    @pytest.mark.parametrize("source", SLOW)
    def test_a_search_that_would_take_for_ever_ends(self, source):
        expression_ = expression(source)
        with limited(seconds=0.05):
            try:
                found = expression_.search("a" * 3000 + " ?")
            except TooMuch as error:
                found = error.limit != "seconds"
        assert not expression_.is_cheap(3000)
        assert not found

    @pytest.mark.parametrize("source", ["^(foo|foobar|ab)*$", r"^profile(::\w+)*$", r"(\w+=\w+,)*;", "(a+)+$"])
    def test_repeats_in_repeats_are_answered_where_the_answer_comes_in_time(self, source):
        """With and without the package `regex`, as `re` answers."""
        for text in ("foobarab", "profile::a::b", "a=b,c=d,;", "aaa", ""):
            assert expression(source).search(text) == bool(re.search(source, text))

    @given(st.lists(st.sampled_from(SIGNS), max_size=8).map("".join), st.text("ab", max_size=6))
    def test_an_expression_finds_what_re_finds(self, source, text):
        try:
            wanted = re.compile(source)
        except re.error:
            with pytest.raises(BadPattern):
                expression(source)
            return
        found = expression(source)
        first = wanted.search(text)

        assert found.search(text) == (first is not None)
        assert found.match(text) == (wanted.match(text) is not None)
        assert found.groups(text) == (first and ([first[0], *first.groups()], first.groupdict()))
        assert found.all_matches(text) == wanted.findall(text)
        assert found.replaced(text, "-", 2) == wanted.sub("-", text, 2)

    def test_the_process_that_searches_is_replaced_after_each_end(self):
        """And one search after another is answered from one process, in each thread and after a fork."""
        slow = expression("^(a+)+$")
        with limited(seconds=0.05):
            for _ in range(2):
                with pytest.raises(TooMuch, match=r"takes longer than 0\.05 s"):
                    slow.search("a" * 40 + "!")
                assert slow.search("a" * 40)
        with ThreadPoolExecutor(4) as pool:
            assert [True, False] * 50 == list(pool.map(slow.search, ["aa", "b"] * 50))
        child = os.fork()
        if not child:
            os._exit(0 if slow.search("aa") and not slow.search("b") else 1)
        assert slow.search("aa")
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_template_that_cannot_be_filled_is_an_error_of_ours(self):
        """In this process and in the other one."""
        for source in ("a", "(a+)+"):
            with pytest.raises(BadPattern, match="invalid group reference"):
                expression(source).replaced("a" * 30, r"\9")

    @pytest.mark.parametrize("source", ["(", "a{2,1}", "[", "(?P<a>x)(?P<a>y)", "\\"])
    def test_a_malformed_regular_expression_is_an_error(self, source):
        """As an error of ours."""
        with pytest.raises(BadPattern):
            expression(source)

    @pytest.mark.parametrize(
        ("file", "key", "options"),
        [
            ("lookup_options:\n  '^(a|b|ab)*!': {{merge: deep}}\n{}: 1\n", "ab" * 40, {}),
            ("k: {}\n", "k", {"value_type": "Pattern[/^(a|b|ab)+!$/]"}),
            ("k: [{}]\n", "k", {"merge": {"strategy": "deep", "knockout_prefix": "(a|b|ab)*!"}}),
        ],
    )
    def test_searches_of_hiera_end(self, tmp_path, file, key, options):
        files = {"data/common.yaml": file.format("ab" * 40), "data/d.yaml": "k: [b]\n"}
        with limited(seconds=0.05), pytest.raises(TooMuch, match=r"takes longer than 0\.05 s"):
            lookup(tmp_path, files, key, **options)

    @pytest.mark.parametrize("pattern", [r"^\u{110000}", r"^\u{FFFFFFFFFFFFFFFFFFFF}", "^("])
    def test_an_expression_of_hiera_that_cannot_be_read_is_named(self, tmp_path, pattern):
        with pytest.raises(NodeattrsError, match=r"cannot be used"):
            lookup(tmp_path, {"data/common.yaml": f"lookup_options:\n  '{pattern}': {{merge: deep}}\nk: 1\n"})

    def test_a_search_of_the_store_ends(self, tmp_path):
        store = open_store(str(tmp_path / "n.db"))
        store.save(Saved("web1", {"name": "web1", "chef_environment": "_default", "normal": {"f": "a" * 5000}}, None))

        assert ["web1"] == store.search(parse_query('f~"^a+$"'))
        with pytest.raises(BadArgument, match="cannot be used"):
            parse_query('f~"(a+"')
        for slow in ("(a+)+!", "a*a*a*!"):
            with limited(seconds=0.05), pytest.raises(TooMuch, match="takes longer"):
                store.search(parse_query(f'f~"{slow}"'))

    def test_a_comparison_of_bindings_ends(self):
        wanted = re.compile("(a+)+!")
        assert not compared("aaa", "=~", wanted)
        with limited(seconds=0.05), pytest.raises(TooMuch, match="takes longer"):
            compared("a" * 40, "=~", wanted)

    @pytest.mark.parametrize(
        ("settings", "pattern"), [("inventory_ignore_patterns=^(a+)+!\n", "all"), ("", "~^(a+)+!")]
    )
    def test_expressions_of_ansible_end(self, tmp_path, settings, pattern):
        """In ansible.cfg, about the names of files, and in a pattern of hosts."""
        name = "a" * 40
        (tmp_path / "hosts").mkdir()
        (tmp_path / "hosts" / name).write_text(f"{name}\n")
        (tmp_path / "ansible.cfg").write_text(f"[defaults]\ninventory=hosts\n{settings}")
        with limited(seconds=0.05), pytest.raises(TooMuch, match="takes longer"):
            Inventory(folder=tmp_path).matching(pattern)

    def test_repeats_in_repeats_are_judged_at_once(self):
        """However many there are: what they come to is a number of more digits than anybody has."""
        source = "a{,3}"
        for _ in range(60):
            source = f"(?:{source}){{,3}}"
        with contextlib.suppress(BadPattern, TooMuch):
            assert expression(source).search("b" * 30)


class TestTypes:
    @pytest.mark.parametrize(
        "text",
        [
            "Variant[x]", "Variant[Enum['a'], ndef]", "Array[" * 2000, "Integer[" + "9" * 5000 + "]",
            "Struct[{Struct[{a => Any}] => Any}]", "Struct[{{} => 1}]", r"Pattern[/\u{110000}/]",
        ],
    )  # fmt: skip
    def test_a_malformed_puppet_type_is_a_short_error(self, text):
        """Shortly."""
        with pytest.raises(NodeattrsError) as caught:
            parse_type(text)
        assert len(str(caught.value)) < 300

    @pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 3600])
    def test_nothing_is_converted_to_a_number_that_nobody_could_write(self, digits):
        """In whatever base it comes."""
        with pytest.raises(NodeattrsError, match="convert_to Integer failed"):
            convert(digits, "Integer")


def patched(*operations: dict[str, Any], base: str = "a: 1") -> Any:
    merged = merge([f"#cloud-config\n{base}\n", "#cloud-config-jsonp\n" + json.dumps(operations)])
    return merged, [None if part.error is None else kind_of(part.error) for part in merged.parts]


class TestCloudInit:
    ADD = {"op": "add", "path": "/a", "value": ["x"] * 10}  # noqa: RUF012
    COPY = {"op": "copy", "from": "/a", "path": "/a/-"}  # noqa: RUF012

    def test_copies_that_double_end_at_the_limit(self):
        """The part fails, the others stand."""
        with limited(steps=100_000):
            merged, kinds = patched(self.ADD, *[self.COPY] * 40)

        assert [None, "too-large"] == kinds
        assert {"a": 1} == merged.config

    def test_small_copies_beside_a_large_value_end_at_the_limit(self):
        """Each operation copies the whole config, as cloud-init's library does."""
        small = [{"op": "add", "path": "/b", "value": 0}, *[{"op": "copy", "from": "/b", "path": "/c"}] * 300]

        with limited(steps=300_000):
            assert [None, "too-large"] == patched(self.ADD, *[self.COPY] * 10, *small)[1]
            merged, kinds = patched(self.ADD, *[self.COPY] * 10, *small[:20])
            assert [None, None] == kinds
            assert (0, 20) == (merged.config["c"], len(merged.config["a"]))
            with pytest.raises(TooMuch, match="the explanation: takes more than"):
                merged.explain("c")

    def test_an_operation_changes_nothing_before_it(self):
        """Neither the part that it changes nor what an earlier operation left: explanations have both."""
        first = "#cloud-config\na: {b: {c: [1]}}\n"
        patch = [
            {"op": "add", "path": "/a/b/c/-", "value": {"d": 1}},
            {"op": "copy", "from": "/a/b", "path": "/e"},
            {"op": "replace", "path": "/a/b/c/1/d", "value": 2},
            {"op": "move", "from": "/a/b/c/0", "path": "/f"},
        ]
        merged = merge([first, "#cloud-config-jsonp\n" + json.dumps(patch)])

        assert {"a": {"b": {"c": [{"d": 2}]}}, "e": {"c": [1, {"d": 1}]}, "f": 1} == merged.config
        for _ in range(2):
            lost = [claim.value for claim in merged.trace("a.b.c").claims if claim.value != 2]
            assert [{"d": 1}, [1]] == lost

    def test_a_patch_changes_a_shared_yaml_alias_everywhere(self):
        """As in cloud-init."""
        merged, kinds = patched({"op": "add", "path": "/a/-", "value": 2}, base="a: &a [1]\nb: *a")

        assert ([None, None], {"a": [1, 2], "b": [1, 2]}) == (kinds, merged.config)

    @pytest.mark.parametrize("pointer", ["/a/" + "9" * 5000, "/a/-1", "/x/y/z", "/a/0/0", "no"])
    def test_a_pointer_to_nothing_is_told(self, pointer):
        """Whatever it spells."""
        for operation in ({"op": "remove", "path": pointer}, {"op": "copy", "from": pointer, "path": "/b"}):
            assert patched(operation, base="a: [1]")[1][1] in ("patch-conflict", "patch-invalid")

    def test_an_entry_of_an_archive_counts_as_often_as_it_is_used(self):
        """Nothing is merged then."""
        archive = f'#cloud-config-archive\n- &a {{content: "#cloud-config\\nk: {"x" * 500_000}"}}\n' + "- *a\n" * 30

        with pytest.raises(CloudConfigError, match="10 MB") as caught:
            merge([archive])
        assert "too-large" == caught.value.kind

    def test_merging_too_many_parts_of_user_data_is_refused(self):
        """Each is some work."""
        with pytest.raises(CloudConfigError, match="steps"):
            merge(["#cloud-config-archive\n" + "- a\n" * 30_000])

    def test_of_parts_that_append_only_the_result_is_kept(self):
        """So 200 parts that grow one list are no more work than the list is long."""
        part = "#cloud-config\nmerge_how: list(append)+dict(recurse_list)\nl: [" + "x, " * 20 + "]\n"
        merged = merge([part] * 200)

        assert 4000 == len(merged.config["l"])
        assert 199 == len(merged.warnings)

    def test_parts_that_make_the_result_anew_end_at_the_limit(self):
        """The list that grows may be copied for each."""
        part = "#cloud-config\nmerge_how: list(append)+dict(recurse_list)\nl: [" + "x, " * 20 + "]\n"
        merged = merge([part] * 200, budget=Budget("user-data", Limits(steps=25_000)))

        assert {"too-large"} == {kind_of(one.error) for one in merged.parts if one.error is not None}
        assert 0 < len(merged.config["l"]) < 4000

    def test_lists_that_nobody_can_write_are_told(self):
        """The config itself is there."""
        deep = "#cloud-config\na: " + "[" * 498 + "]" * 498
        merged = merge([deep, deep])

        assert merged.ok
        try:
            text = merged.text
        except NodeattrsError as error:
            text = str(error)
        assert "- - - -" in text or "nested" in text

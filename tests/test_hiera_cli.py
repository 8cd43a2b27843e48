"""`nodeattrs hiera`, from words to words and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.cli import main
from tests.hiera_trees import written

FILES = {
    "data/nodes/web1.yaml": "k: [n]\nonly: web1\n",
    "data/common.yaml": "k: [c]\nh: {a: 1}\nmotd: '%{facts.dc}'\nwrong: \"%{lookup('wrong')}\"\n"
    "lookup_options: {k: {merge: unique}}\n",
    "data/old/stale.yaml": "k: 1\n",
    "facts/web1.json": '{"dc": "ber"}',
    "facts/web2.yaml": "name: web2\nvalues: {dc: muc}\n",
}


@pytest.fixture
def said(tmp_path: Path, monkeypatch, capsys):
    """Runs a command line inside a tree: exit code, what was printed, what was complained of."""
    written(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["hiera", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


class TestOneKey:
    def test_the_value_is_printed_as_yaml(self, said):
        """
        As `puppet lookup` does.
        """
        assert (0, "- 'n'\n- c\n", "") == said("lookup", "k", "--node", "web1")
        assert (0, "a: 1\n", "") == said("lookup", "h")
        assert (0, "1\n", "") == said("lookup", "h.a")

    def test_of_several_keys_the_first_found_counts(self, said):
        """
        The others are not asked.
        """
        assert (0, "a: 1\n", "") == said("lookup", "nope", "h", "k")

    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["--render-as", "json"], '["c"]\n'),
            (["--render-as", "yaml"], "- c\n"),
            (["--render-as", "s"], '["c"]\n'),
            (["--merge", "first", "--render-as", "json", "--node", "web1"], '["n"]\n'),
            (["--type", "Array[String]", "--render-as", "json"], '["c"]\n'),
        ],
    )
    def test_options_that_puppet_users_know(self, said, words, text):
        """
        The same words.
        """
        assert (0, text, "") == said("lookup", "k", *words)

    def test_the_options_of_deep(self, said):
        """
        Only with --merge deep.
        """
        code, out, _ = said(
            "lookup", "k", "--node", "web1", "--merge", "deep", "--knock-out-prefix", "-", "--sort-merged-arrays"
        )

        assert (0, "- c\n- 'n'\n") == (code, out)
        assert 2 == said("lookup", "k", "--sort-merged-arrays")[0]
        assert 2 == said("lookup", "k", "--knock-out-prefix", "--", "--merge", "unique")[0]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("{a: ~, 'b c': [1, 2.5, true]}", '{"a"=>nil, "b c"=>[1, 2.5, true]}\n'),
            ("~", "\n"), ("plain", "plain\n"), ("yes", "true\n"), ('"a\\nb"', "a\nb\n"),
        ],
    )  # fmt: skip
    def test_the_bare_value_is_written_as_ruby_writes_it(self, said, value: str, text: str):
        """
        As `puppet lookup --render-as s` prints it.
        """
        Path("data/common.yaml").write_text(f"k: {value}\n")

        assert (0, text, "") == said("lookup", "k", "--render-as", "s")

    def test_long_texts_are_blocks(self, said):
        """
        Also in maps, and with --render-as yaml.
        """
        Path("data/common.yaml").write_text('k: "hi\\n\\n there"\nm: {l: ["a\\nb\\n"]}\n')

        assert (0, "|-\n  hi\n\n   there\n", "") == said("lookup", "k") == said("lookup", "k", "--render-as", "yaml")
        assert (0, "l:\n- |\n  a\n  b\n", "") == said("lookup", "m")

    def test_a_prefix_of_dashes_is_a_word_of_its_own(self, said):
        """
        As Puppet's users write it.
        """
        Path("data/nodes/web1.yaml").write_text("k: [--c, n]\n")
        words = ["lookup", "k", "--node", "web1", "--merge", "deep", "--knock-out-prefix"]

        assert (0, "- 'n'\n", "") == said(*words, "--") == said(*words[:-1], "--knock-out-prefix=--")

    def test_manifests_are_not_compiled(self, said):
        """
        And the way out is named.
        """
        code, _, err = said("lookup", "k", "--compile")

        assert (2, True) == (code, "--compile runs manifests, which nothing here does" in err)

    def test_hiera_lookup_as_json_has_a_version(self, said):
        """
        For --format json.
        """
        code, out, _ = said("lookup", "k", "--format", "json", "--node", "web1")

        assert 0 == code
        whole = {"version": 1, "key": "k", "certain": True, "unread": [], "nodes": {"web1": {"value": ["n", "c"]}}}
        assert whole == json.loads(out)

    def test_a_variable_that_a_value_names_and_that_is_not_set_is_named(self, said):
        """
        Facts may be missing, also where some are given: the exit code is 5.
        """
        code, out, err = said("lookup", "motd")
        assert (5, "''\n", True) == (
            code,
            out,
            "facts.dc (variable) is not set, and no facts are given (--facts), and may set motd" in err,
        )
        code, out, err = said("lookup", "motd", "--set", "a=1")
        assert (5, "''\n", True) == (code, out, "facts.dc (variable) is not set" in err)
        code, _, err = said("list")
        assert (5, True) == (code, "facts.dc (variable) is not set" in err)
        code, out, _ = said("explain", "motd")
        assert (5, True) == (code, "the value of motd: facts.dc is not set" in out)
        assert (0, "ber\n", "") == said("lookup", "motd", "--facts", "facts/web1.json")
        found = json.loads(said("lookup", "motd", "--format", "json", "--node", "a")[1])
        reason = "is not set, and no facts are given (--facts)"
        unread = [{"place": "facts.dc", "layer": "variable", "reason": reason, "paths": [["motd"]]}]
        assert (False, unread, ["facts.dc"]) == (found["certain"], found["unread"], found["nodes"]["a"]["unset"])

    def test_a_value_below_the_one_that_counts_is_not_asked_for_its_variables(self, said, tmp_path: Path):
        """
        Nobody reads it.
        """
        (tmp_path / "data/nodes/web1.yaml").write_text("motd: hello\n")

        assert (0, "hello\n", "") == said("lookup", "motd", "--node", "web1")
        assert (0, "") == said("explain", "motd", "--node", "web1")[::2]

    def test_an_unset_variable_is_an_error_where_one_is_strict(self, said, tmp_path: Path):
        """
        As in Puppet 8: what is below a variable that is set may be missing.
        """
        (tmp_path / "data/common.yaml").write_text('a: "x%{nope}y"\nb: "x%{facts.nope.z}y"\nc: ["%{::osfamily}"]\n')

        assert (1, "", True) == (*(found := said("lookup", "a", "--strict"))[:2], "nope is not set" in found[2])
        assert "data/common.yaml:1:1: the variable nope is not set, and a needs it" in found[2]
        assert 1 == said("lookup", "c", "--strict")[0]
        assert (5, "xy\n") == said("lookup", "b", "--strict", "--set", "a=1")[:2]

    def test_facts_as_a_server_keeps_them_are_read(self, said, tmp_path: Path):
        """
        A file of $vardir/yaml/facts, which octocatalog-diff takes.
        """
        facts = "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues:\n  dc: fra\n"
        (tmp_path / "n1.yaml").write_text(facts + "timestamp: 2024-01-01 00:00:00.000000000 Z\n")

        assert (0, "fra\n", "") == said("lookup", "motd", "--facts", "n1.yaml")

    def test_facts_come_from_a_file(self, said):
        """
        Plain, or as Puppet keeps them.
        """
        assert (0, "ber\n", "") == said("lookup", "motd", "--facts", "facts/web1.json")
        assert (0, "muc\n", "") == said("lookup", "motd", "--facts", "facts/web2.yaml")


class TestExitCodes:
    def test_a_missing_key_says_so(self, said):
        """
        Unlike Puppet, which is silent; with a near one.
        """
        code, out, err = said("lookup", "motdd")

        assert (3, "") == (code, out)
        assert "did you mean motd?" in err

    def test_a_default_answers_for_it(self, said):
        """
        Always a text.
        """
        assert (0, "'1'\n", "") == said("lookup", "nope", "--default", "1")

    def test_a_wrong_type_has_a_code_of_its_own(self, said):
        """
        Not that of a missing key.
        """
        code, _, err = said("lookup", "k", "--type", "Integer")

        assert 4 == code
        assert "is a list, and no Integer" in err

    def test_a_failed_lookup_says_why(self, said):
        """
        Here: a key that needs itself, and who needs it.
        """
        code, _, err = said("lookup", "wrong")

        assert 1 == code
        assert "wrong -> wrong" in err
        assert "data/common.yaml:4" in err

    def test_values_that_cannot_be_merged_are_named_with_their_files_the_strongest_first(self, said, tmp_path: Path):
        written(tmp_path, {"data/nodes/web1.yaml": "m: text\n", "data/common.yaml": "m: {a: 1}\n"})
        code, _, err = said("lookup", "m", "--node", "web1", "--merge", "hash")

        assert (code, [line.strip() for line in err.splitlines() if "is set by" in line]) == (
            1,
            [
                '"text" is set by data/nodes/web1.yaml:1 (hiera node)',
                '{"a": 1} is set by data/common.yaml:1 (hiera common)',
            ],
        )

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["k"],
            ["lookup"],
            ["lookup", "k", "--hiera", ".", "--environmentpath", "."],
            ["diff"],
            ["diff", "web1"],
            ["diff", "--facts", "facts", "--against-tree", "."],
        ],
    )
    def test_words_that_make_no_sense_are_not_understood(self, said, words):
        """
        Exit code 2.
        """
        assert 2 == said(*words)[0]

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["lookup", "k", "--hiera", "nope"], "there is no nope"),
            (["lookup", "k", "--facts", "nope.json"], "nope.json"),
            (["lookup", "k", "--facts", "facts", "--node", "web9"], "has no facts of web9"),
            (["lookup", "k", "--environmentpath", ".", "--environment", "no-such"], "no-such"),
            (["lookup", "k", "--merge", "deap"], "did you mean deep"),
        ],
    )
    def test_what_cannot_be_is_told_without_a_traceback(self, said, words, complaint):
        """
        Exit code 1.
        """
        code, out, err = said(*words)

        assert (1, "") == (code, out)
        assert complaint in err
        assert "Traceback" not in err


class TestExplain:
    def test_hiera_explain_shows_places_and_lines(self, said):
        """
        For people.
        """
        code, out, _ = said("explain", "k", "--node", "web1")

        assert 0 == code
        assert out.splitlines()[0] == 'k = ["n", "c"]'
        assert "data/nodes/web1.yaml:1" in out
        assert "lookup_options, data/common.yaml:5" in out

    def test_what_is_too_wide_goes_on_below(self, tmp_path, said, monkeypatch):
        """
        Where paths are long: no line is wider than the screen, and no cell is lost or torn.
        """
        monkeypatch.setenv("COLUMNS", "80")
        folder = "a-rather-long-name/of-a-datacentre-somewhere/rack-a7"
        levels = f"- {{name: rack, path: {folder}/web.yaml}}\n- {{name: row, path: {folder}/absent.yaml}}\n"
        files = {"hiera.yaml": f"version: 5\nhierarchy:\n{levels}", f"data/{folder}/web.yaml": "k: [n, c]\n"}
        written(tmp_path, files)

        code, out, _ = said("explain", "k", "--merge", "unique")

        assert 0 == code
        assert 80 >= max(map(len, out.splitlines()))
        assert out.partition("  searched\n")[2].splitlines() == [
            "    environment  rack",
            f"        data/{folder}/web.yaml",
            "        found",
            "    environment  row",
            f"        data/{folder}/absent.yaml",
            "        no such file",
            "  set by",
            f'    0  "n"  data/{folder}/web.yaml:1',
            f'    1  "c"  data/{folder}/web.yaml:1',
        ]

    def test_a_failure_is_explained_and_still_a_failure(self, said):
        """
        Unlike Puppet, which ends with 0.
        """
        code, out, _ = said("explain", "nope")

        assert 3 == code
        assert out.startswith("nope is not set [")
        assert out.count("nope is not set") == 1
        assert "no such key" in out

    def test_hiera_explain_as_data_has_one_explanation(self, said):
        """
        One explanation, as --render-as says.
        """
        code, out, _ = said("explain", "k", "--render-as", "json")

        assert 0 == code
        assert [("found", "data/common.yaml")] == [
            (one["outcome"], one["file"]) for one in json.loads(out)["searched"] if one["outcome"] == "found"
        ]

    def test_lookup_options_are_explained(self, said):
        """
        With the line of each entry.
        """
        code, out, _ = said("explain", "k", "--options")

        assert 0 == code
        assert "k.merge" in out
        assert "data/common.yaml:5" in out


class TestWholeTrees:
    def test_several_nodes_at_once(self, said):
        """
        Each below its name.
        """
        assert (0, "# web1\nber\n# web2\nmuc\n", "") == said("lookup", "motd", "--facts", "facts")
        assert (0, "# web2\nmuc\n# web1\nber\n", "") == said(
            "lookup", "motd", "--facts", "facts", "--node", "web2", "--node", "web1"
        )

    def test_one_node_without_the_key_does_not_hide_the_others(self, said):
        """
        The exit code tells.
        """
        code, out, _ = said("lookup", "only", "--facts", "facts")

        assert 3 == code
        assert out.startswith("# web1\nweb1\n# web2\n#   only is not set")

    def test_all_keys_of_a_node(self, said):
        """
        Also those that cannot be looked up, with the reason.
        """
        code, out, _ = said("list", "--facts", "facts", "--node", "web1", "--format", "json")

        found = json.loads(out)["nodes"]["web1"]["value"]
        assert 0 == code
        assert ["h", "k", "motd", "only", "wrong"] == list(found)
        assert "recursive_lookup" == found["wrong"]["error"]

    def test_hiera_who_has_lists_files_that_a_node_reads_or_not(self, said):
        """
        Read by a node or not.
        """
        code, out, err = said("who-has", "k", "--facts", "facts")

        assert (0, "") == (code, err)
        assert out.splitlines() == [
            'data/common.yaml:1  k = ["c"] · 1 environment / common',
            "  joins on 2 of 2 nodes: web1, web2",
            "",
            'data/nodes/web1.yaml:1  k = ["n"] · 2 environment / node',
            "  joins on 1 of 1, set on 1 of 2 nodes: web1",
            "data/old/stale.yaml:1  k: sets no value of any subject",
        ]
        assert (1, "nope: no line that was read sets it\n", "") == said("who-has", "nope", "--facts", "facts")

    def test_who_has_a_path_in_a_value_or_a_key_that_is_a_number(self, said):
        """
        As the tree has it; lines that no node reads are named where they set the path.
        """
        assert "data/common.yaml:2  h.a = 1" in said("who-has", "h.a", "--facts", "facts")[1]
        assert (1, "h.b: no line that was read sets it\n") == said("who-has", "h.b", "--facts", "facts")[:2]
        assert (1, "80: no line that was read sets it\n") == said("who-has", "80", "--facts", "facts")[:2]

    def test_a_matrix_merges_as_its_arguments_say(self, said):
        """
        They come to the verb in the request.
        """
        options = ("--node", "web1", "--facts", "facts")

        assert '["n", "c"]' in said("matrix", "k", *options)[1]
        assert '["n"]' in said("matrix", "k", "--merge", "first", *options)[1]
        assert (1, "") == said("matrix", "k", "--merge", "hash", *options)[::2]
        assert "--sort-merged-arrays is about --merge deep" in said("matrix", "k", "--sort-merged-arrays")[2]
        assert (1, "nope: set on none of 2 nodes") == (
            (found := said("matrix", "nope", "--facts", "facts"))[0],
            found[1].partition("\n")[0],
        )

    def test_a_tree_without_keys_has_no_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """
        `blame` prints an empty map.
        """
        (tmp_path / "hiera.yaml").write_text("version: 5\nhierarchy: []\n")

        assert 0 == main(["blame", "--dialect", "hiera", "--repo", str(tmp_path)])
        assert "" == capsys.readouterr().err

    def test_hiera_unused_lists_files_that_no_node_reads(self, said):
        """
        A file in no hierarchy.
        """
        assert (0, "data/old/stale.yaml: read by none of 2 nodes\n", "") == said("unused", "--facts", "facts")

    def test_two_nodes_compared(self, said):
        """
        Only what differs.
        """
        code, out, _ = said("diff", "web1", "web2", "--facts", "facts")

        assert 0 == code
        assert out.splitlines() == [
            "web1 -> web2",
            "~ k",
            '    web1: ["n", "c"]  data/nodes/web1.yaml:1',
            '    web2: ["c"]  data/common.yaml:1',
            "~ motd",
            '    web1: "ber"  data/common.yaml:3',
            '    web2: "muc"  data/common.yaml:3',
            "- only",
            '    web1: "web1"  data/nodes/web1.yaml:2',
        ]
        assert (
            "say which subject is meant: there are web1, web2"
            in said("diff", "--against-tree", ".", "--facts", "facts")[2]
        )
        assert "name another subject, or other files" in said("diff", "web1", "--facts", "facts")[2]

    def test_two_trees_compared(self, said, tmp_path: Path):
        """
        The same node in both.
        """
        written(tmp_path / "next", {"data/common.yaml": "k: [c]\nh: {a: 2}\n"})

        code, out, _ = said("diff", "--facts", "facts/web2.yaml", "--against-tree", "next", "--format", "json")

        data = json.loads(out)
        found = {
            one["path"]: [side and side["value"] for side in (one.get("before"), one.get("after"))]
            for one in data["changes"]
        }
        assert (0, "next") == (code, data["after"])
        assert ([1, 2], ["muc", None]) == (found["h.a"], found["motd"])


def test_warnings_go_to_the_side(said, tmp_path: Path):
    """The answer is printed all the same; with --strict it is an error."""
    (tmp_path / "data/common.yaml").write_text("k: 1\nk: 2\n")

    code, out, err = said("lookup", "k")

    assert (0, "2\n") == (code, out)
    assert "data/common.yaml:2" in err


UNDECIDED = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: s, lookup_key: eyaml_lookup_key, path: s.eyaml}\n"
    "- {name: c, path: common.yaml}\n",
    "data/s.eyaml": "pw: ENC[PKCS7,MIIB]\n",
    "data/common.yaml": "motd: 'on %{facts.dc}'\nurl: \"db://%{lookup('pw')}@db\"\n",
    "other/hiera.yaml": "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
    "other/data/common.yaml": "a: 1\n",
}


class TestWhatFactsAndKeysWouldDecide:
    """Each command that prints a value says what it does not know of it, with exit code 5."""

    @pytest.mark.parametrize(
        ("words", "named"),
        [
            (["lookup", "motd"], "facts.dc"),
            (["matrix", "motd"], "facts.dc"),
            (["diff", "--against-tree", "other"], "facts.dc"),
            (["lookup", "url"], "data/common.yaml:2 (value url) is encrypted"),
            (["matrix", "url"], "data/common.yaml:2 (value url) is encrypted"),
            (["list"], "2 values are encrypted, and may be anything: data/s.eyaml:1, data/common.yaml:2"),
            (["diff", "--against-tree", "other"], "data/s.eyaml:1, data/common.yaml:2"),
        ],
    )
    def test_hiera_commands_name_what_facts_and_keys_would_decide(
        self, said, tmp_path: Path, words: list[str], named: str
    ):
        written(tmp_path, UNDECIDED)
        code, out, err = said(*words)

        assert (code, named in err, "db://" in out) == (5, True, False)

    def test_the_commands_of_every_dialect_say_it_too(self, tmp_path: Path, monkeypatch, capsys):
        written(tmp_path, {"hiera.yaml": "version: 5\n", "data/common.yaml": "motd: 'on %{facts.dc}'\n"})
        monkeypatch.chdir(tmp_path)

        assert main(["why", "motd"]) == 5
        assert "facts.dc (variable) is not set, and no facts are given (--facts), and may set motd" in (
            capsys.readouterr().err
        )

    @pytest.mark.parametrize("words", [["lookup", "t"], ["explain", "t"], ["list"]])
    def test_a_secret_inside_a_text_says_nothing_and_that_is_a_warning(self, said, tmp_path: Path, words: list[str]):
        """It is Puppet's own answer."""
        options = "lookup_options: {p: {convert_to: Sensitive}}\np: x\n"
        written(tmp_path, {"data/common.yaml": options + "t: {url: [\"db://%{lookup('p')}@db\"]}\n"})
        code, out, err = said(*words)

        assert (code, "t.url.0 has a Sensitive inside a text" in err) == (0, True)
        assert "db://Sensitive [value redacted]@db" in out


@pytest.mark.parametrize("words", [["explain", "k"], ["lookup", "k"], ["list"]])
def test_a_folder_of_environments_without_one_says_that_hiera_yaml_is_missing(
    tmp_path: Path, monkeypatch, capsys, words: list[str]
):
    """Chef keeps files in a folder of that name."""
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments/production.json").write_text("{}")
    monkeypatch.chdir(tmp_path)

    assert main(["hiera", *words]) == 1
    said = capsys.readouterr().err
    assert "there is no hiera.yaml, and environments has no folder of an environment" in said
    assert "there is no environment" not in said


def test_an_explanation_of_a_missing_key_names_the_option_of_the_command(said):
    assert "--default TEXT" in said("explain", "nosuch")[1]


@pytest.mark.parametrize(
    ("puppets", "ours"), [("lookup k --explain", "explain k"), ("lookup k --explain-options", "explain k --options")]
)
@pytest.mark.parametrize("more", ["--node web1", "--node web1 --merge first", "--node web1 --render-as json"])
def test_a_lookup_explains_itself_as_puppets_does(said, puppets: str, ours: str, more: str):
    assert said(*puppets.split(), *more.split()) == said(*ours.split(), *more.split())


def test_an_explanation_decrypts_nothing(said):
    code, _, err = said("lookup", "k", "--explain", "--decrypt")

    assert (code, "shows nothing that was decrypted" in err) == (2, True)

"""`nodeattrs bindings` beyond one node: all nodes and combinations, a layer less, and what else is wrong."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from nodeattrs.cli import main
from tests.causality.layers import failures

SITE = """site {
  categories { node => $fqdn, role => $role }
  bindings => [
    layer { 'site': include => 'confdir:/default' },
    layer { 'modules': include => 'module:/*::default' },
  ]
}
"""
FILES = {
    "nodeattrs.toml": 'bindings = "site"\n',
    "site/manifests/site.pp": SITE,
    "site/bindings/default.pp": "bindings default {\n  when role web { bind override 'port' to 8080 }\n}\n",
    "site/modules/a/bindings/default.pp": "bindings a::default {\n  bind 'port' to 80\n  bind 'on' to true\n}\n",
    "site/modules/b/bindings/default.pp": "bindings b::default {\n}\n",
    "facts/db1.json": '{"fqdn": "db1", "role": "db"}',
    "facts/web1.json": '{"fqdn": "web1", "role": "web"}',
}


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The exit code, and what was written; with further files."""
    monkeypatch.chdir(tmp_path)

    def asked(*words: str, **more: str) -> tuple[int, str, str]:
        for name, text in {**FILES, **more}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        code = main([*words] if words[0] == "what-if" else ["bindings", *words])
        written = capsys.readouterr()
        return code, written.out, written.err

    return asked


MODULE = "site/modules/b/bindings/default.pp"
WRONG = {MODULE: "bindings b::default {\n  bind 'port' to 1\n  bind abstract 'open'\n}\n"}


class TestWhileSomethingElseIsWrong:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["inject", "on"], "true"),
            (["explain", "on"], "on = true"),
            (["list"], "Data, on"),
            (["graph"], "digraph"),
        ],
    )
    def test_bindings_commands_answer_and_warn_of_other_faults(self, ask, words, said):
        """
        Everything that is wrong is a warning; the answer stands by itself.
        """
        code, out, err = ask(*words, **WRONG)

        assert (code, said in out) == (5 if words == ["list"] else 0, True)  # a block may bind further keys
        assert "'open' must be bound" in err
        assert "'port' is bound 2 times at one precedence" in err

    def test_a_key_that_is_wrong_itself_says_what_is_wrong(self, ask):
        """
        Not that it is not bound.
        """
        code, _, err = ask("inject", "port", **WRONG)

        assert code == 1
        assert "error: Data, 'port' is bound 2 times at one precedence" in err
        assert "nothing is bound" not in err

    def test_check_still_fails(self, ask):
        assert ask("check", **WRONG)[0] == 1


class TestEverybody:
    def test_a_conflict_that_one_node_meets_is_found_for_all(self, ask):
        """
        `check` alone sees nobody in particular; each is found once, with the first who meets it.
        """
        conflict = {
            MODULE: "bindings b::default {\n  when rack r1 { bind 'on' to 1 }\n  when role db { bind 'x' to 1 }\n}\n"
        }
        conflict["site/bindings/default.pp"] = (
            "bindings default {\n  when role db { bind final 'x' to 2 bind 'x' to 3 }\n}\n"
        )

        assert ask("check", **conflict)[0] == 0
        code, out, _ = ask("check", "--all-nodes", **conflict)
        assert (code, out.count("is bound 2 times")) == (1, 1)
        assert "for node db1" in out
        assert "2 nodes, 2 combinations" in out

    def test_combinations_that_no_node_has_are_checked_too(self, ask):
        """
        Two categories that are each right alone.
        """
        text = "bindings default {\n  when role cache { bind override 'nothing' to 1 }\n}\n"
        code, out, _ = ask("check", "--all-nodes", **{"site/bindings/default.pp": text})

        assert (code, "for role cache" in out) == (1, True)

    def test_matrix_groups_nodes_by_value(self, ask):
        """
        With the line that gave it; a node without one is told.
        """
        code, out, _ = ask("matrix", "port")
        assert (code, "2 values on 2 nodes" in out, "site/bindings/default.pp:2" in out) == (0, True, True)
        code, out, _ = ask("matrix", "prot", "--format", "json")
        assert (code, json.loads(out)["groups"][0]["code"]) == (1, "NA1205")


class TestWhatIf:
    def test_a_layer_is_left_out(self, ask):
        """
        What it set is as the layer below has it; a node that it did not reach does not change.
        """
        code, out, _ = ask("what-if", "--dialect", "bindings", "--without", "site")

        assert code == 0
        assert "1 of 2 nodes changes (bindings)" in out
        assert "8080 -> 80" in out

    def test_without_the_winning_layer_what_is_explained_as_next_counts(self):
        """
        In random sites; `python -m tests.causality.layers` asks thousands.
        """
        tally: Counter[str] = Counter()

        assert [] == list(failures(7, 25, tally))
        assert tally["keys"] > 50

    def test_what_is_then_wrong_is_part_of_the_answer(self, ask):
        """
        The layer that fills a demand cannot go.
        """
        text = "bindings b::default {\n  bind abstract 'owner'\n}\n"
        site = "bindings default {\n  bind 'owner' to 'Ada'\n}\n"
        _, out, _ = ask(
            "what-if", "--dialect", "bindings", "--without", "site", **{MODULE: text, "site/bindings/default.pp": site}
        )

        assert "'owner' must be bound" in out

    def test_a_layer_that_is_not_there_has_a_near_miss(self, ask):
        code, _, err = ask("what-if", "--dialect", "bindings", "--without", "sitte")

        assert (code, "did you mean site?" in err) == (1, True)


class TestFactsOfOneNode:
    """`inject`, `explain` and `list` know of a node what `matrix` knows."""

    def test_facts_of_the_folder_count(self, ask):
        code, out, _ = ask("inject", "port", "--node", "web1")

        assert (code, out) == (0, "8080\n")

    def test_facts_and_the_role_of_the_last_run_count(self, ask):
        """
        Facts that the node sent with its run, where no file has any; its first role is the role.
        """
        ask("list", **{"roles/web.json": '{"name": "web"}', "sent.json": '{"fqdn": "saved1"}'})
        main(["run", "--node", "saved1", "--run-list", "role[web]", "--facts", "sent.json", "--new"])

        for command in ("inject", "matrix"):
            code, out, _ = ask(command, "port", "--node", "saved1")
            assert (command, code, "8080" in out) == (command, 0, True)

"""`nodeattrs matrix`: one attribute on many nodes, grouped by value, from the store or from runs made now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.reports.matrix import Cell, Matrix
from nodeattrs.reports.screen import Screen

Ask = Callable[..., tuple[int, Any]]

FILES = {
    "roles/web.json": '{"name": "web",\n "run_list": ["recipe[app]"],\n "default_attributes": {"app": {"port": 80}}}\n',
    "roles/odd.json": '{"name": "odd",\n "run_list": ["role[web]"],\n "override_attributes": {"app": {"port": 81}}}\n',
    "cookbooks/app/recipes/default.py": "from nodeattrs.recipe import node\nnode.default['app']['key'] = 'k'\n",
    "nodeattrs.toml": 'sensitive = ["app.key"]\n',
    "facts.json": '{"platform": "debian", "platform_version": "12"}',
    **{f"nodes/n{number}.json": '{"run_list": ["role[web]"]}' for number in range(4)},
    "nodes/n4.json": '{"run_list": ["role[odd]"]}',
    "nodes/none.json": "{}",
}


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """The exit code and the groups of a question, asked inside of the repository above."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def asked(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main(["matrix", *words, "--format", "json"])
        out = capsys.readouterr().out
        return code, json.loads(out)["groups"] if out else None

    return asked


def shown(groups: list[dict[str, Any]]) -> list[tuple[Any, list[str], list[str]]]:
    """The value, the lines and the nodes of each group."""
    return [
        (
            one.get("value", one.get("code")),
            [f"{at['file']}:{at['line']}" for place in one["places"] for at in place["set_by"]],
            [node for place in one["places"] for node in place["nodes"]],
        )
        for one in groups
    ]


NOW = ("--repo", ".", "--facts", "facts.json", "--jobs", "1")
PORTS = [
    (80, ["roles/web.json:3"], ["n0", "n1", "n2", "n3"]),
    (81, ["roles/odd.json:3"], ["n4"]),
    ("NA0102", [], ["none"]),
]


class TestMatrix:
    def test_nodes_are_grouped_by_value_the_largest_group_first(self, ask: Ask):
        """
        With the lines that set it; a node that has none is a group, too.
        """
        code, groups = ask("app.port", *NOW)
        assert (0, PORTS) == (code, shown(groups))

    def test_what_was_saved_answers_the_same_as_a_run_made_now(self, ask: Ask):
        """
        And what is asked now is not saved.
        """
        ask("app.port", *NOW)
        assert not Path(".nodeattrs").exists()
        assert 0 == main(["run", "--quiet", "--all", "--repo", ".", "--facts", "facts.json"])
        assert (0, PORTS) == (lambda code, groups: (code, shown(groups)))(*ask("app.port"))

    def test_nodes_are_chosen_by_name_or_by_a_query(self, ask: Ask):
        """
        The query asks the store.
        """
        assert [["n4"]] == [nodes for _, _, nodes in shown(ask("app.port", *NOW, "--node", "n4")[1])]
        main(["run", "--quiet", "--all", "--repo", ".", "--facts", "facts.json"])
        assert [["n4"]] == [nodes for _, _, nodes in shown(ask("app.port", "--query", "roles:odd")[1])]

    def test_a_secret_is_not_shown(self, ask: Ask):
        """
        Who set it is.
        """
        code, groups = ask("app.key", *NOW)
        assert ({"$sensitive": "withheld"}, ["cookbooks/app/recipes/default.py:2"]) == shown(groups)[0][:2]
        assert 0 == code

    def test_what_no_node_has_and_a_node_that_fails_are_failures(self, ask: Ask):
        """
        The others are printed.
        """
        assert 1 == ask("app.nosuch", *NOW)[0]
        Path("nodes/n3.json").write_text('{"run_list": ["role[gone]"]}')
        code, groups = ask("app.port", *NOW)
        assert (1, ["n0", "n1", "n2"]) == (code, shown(groups)[0][2])
        assert any("there is no role gone" in one.get("message", "") for one in groups)

    def test_a_layer_that_was_not_read_is_named(self, ask: Ask):
        """
        Exit code 5.
        """
        Path("cookbooks/app/recipes/default.py").unlink()
        Path("cookbooks/app/recipes/default.rb").write_text("node.override['app']['port'] = 1\n")
        code, _ = ask("app.port", *NOW)
        assert 5 == code

    def test_where_nothing_was_saved_every_dialect_is_asked_and_no_store_is_made(self, ask: Ask, tmp_path: Path):
        (tmp_path / "c").mkdir()
        (tmp_path / "c/Chart.yaml").write_text("name: c\n")
        (tmp_path / "c/values.yaml").write_text("app: {port: 81}\n")
        code, groups = ask("app.port")
        assert code == 5  # the cookbook did not run
        assert [(value, nodes) for value, _, nodes in shown(groups)] == [
            (80, ["nodes n0", "nodes n1", "nodes n2", "nodes n3"]),
            (81, ["nodes n4", "folds c"]),
            ("NA0102", ["nodes none"]),
        ]
        assert not (tmp_path / ".nodeattrs").exists()

    @pytest.mark.parametrize("option", [["--query", "a:b"], ["--count"], ["--store", "none.db"], ["--node", "n0"]])
    def test_an_option_of_saved_nodes_wants_a_store(self, ask: Ask, option: list[str]):
        assert ask("app.port", *option) == (1, None)


NOT_SET = NoSuchAttribute("k is not set")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 1, 2], "2 values on 3 nodes"),
        ([1], "1 value on 1 node"),
        ([1, NOT_SET], "1 value on 1 node, not set on 1"),
        ([NOT_SET, NOT_SET], "set on none of 2 nodes"),
        ([NOT_SET, NotFound("k is in no file")], "set on none of 2 nodes"),
        ([1, NodeattrsError("broken")], "1 value on 1 node, no answer on 1"),
    ],
)
def test_what_is_not_set_or_not_known_is_no_value(values: list[object], said: str):
    found = Matrix("k", [(f"n{at}", Cell(value)) for at, value in enumerate(values)])

    assert found.summary == said
    assert found.is_set is not said.startswith("set on none")


def test_values_that_were_not_looked_at_are_more_values():
    cells = [(f"n{at}", Cell(at)) for at in range(8)]
    left = [(f"m{at}", Cell(NotFound("not looked at"), is_skipped=True)) for at in range(4)]

    assert Matrix("id", [*cells, *left]).summary == "more than 8 values on 12 nodes"


def test_a_path_that_no_node_has_is_answered_with_the_nearest_one(ask: Ask, capsys: pytest.CaptureFixture[str]):
    assert main(["matrix", "app.prt", *NOW]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "app.prt: set on none of 6 nodes"
    assert "    did you mean app.port?" in lines


def test_of_a_group_ten_nodes_are_named_and_the_others_counted() -> None:
    cells = [(f"n{number}", Cell(1)) for number in range(12)]

    short, whole = (["\n".join(Matrix("a", cells, most).lines(Screen()))] for most in (10, 99))

    assert "n9 and 2 more" in short[0]
    assert "n10, n11" in whole[0]


def test_all_names_are_printed_where_the_command_asks_for_them(in_folder) -> None:
    hosts = "".join(f"n{number}\n" for number in range(12))
    files = {"hosts.ini": f"[web]\n{hosts}", "group_vars/all.yml": "size: 80\n"}

    short = in_folder(files, "matrix", "size")[1]
    whole = in_folder(files, "matrix", "size", "--all-names")[1]

    assert "and 2 more" in short
    assert "n9" not in short
    assert "more" not in whole
    assert all(f"n{number}" in whole for number in range(12))


class TestSeveralDialects:
    FILES: ClassVar = {
        "hosts.ini": "[web]\nweb1\n",
        "group_vars/all.yml": "size: 80\n",
        "nodes/web1.json": '{"normal": {"size": 80}}',
    }

    def test_a_subject_has_the_name_of_its_dialect_where_several_dialects_set_the_key(self, in_folder):
        out = in_folder(self.FILES, "matrix", "size", "--format", "json")[1]
        assert [place["nodes"] for place in json.loads(out)["groups"][0]["places"]] == [
            ["nodes web1"],
            ["ansible web1"],
        ]

    def test_a_subject_has_its_name_alone_where_one_dialect_sets_the_key(self, in_folder):
        out = in_folder({**self.FILES, "group_vars/all.yml": "{}"}, "matrix", "size", "--format", "json")[1]
        assert [place["nodes"] for place in json.loads(out)["groups"][0]["places"]] == [["web1"]]

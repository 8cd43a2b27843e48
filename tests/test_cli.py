"""The command line: what comes out, where, and with which exit code.

Most tests call `main` and look at what it wrote; those about processes start one.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs import __version__
from nodeattrs.cli import main
from nodeattrs.cli.program import summaries
from nodeattrs.node.slots import SLOTS
from nodeattrs.store import Saved, open_store
from tests.on_disk import repository

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "cookbooks_example"

FACTS = {"platform": "ubuntu", "fqdn": "web1.example.com", "cpu": {"total": 4}}
FILES: dict[str, object] = {
    "cookbooks/app/attributes/default.py": 'default["app"]["workers"] = 2\ndefault["app"]["ports"] = [80]\n',
    "cookbooks/app/recipes/default.py": (
        'node.force_default["app"]["workers"] = 24\nnode.normal["runs"] = 1\nlog("ready")\n'
    ),
    "roles/web.json": {
        "name": "web",
        "run_list": ["recipe[app]"],
        "default_attributes": {"app": {"ports": [8080]}},
        "override_attributes": {"app": {"workers": 8}},
    },
    "environments/production.yaml": "name: production\noverride_attributes:\n  app:\n    workers: 30\n",
    "nodes/web1.json": {"name": "web1", "chef_environment": "production", "run_list": ["role[web]"]},
    "nodes/web2.json": {"name": "web2", "run_list": ["role[web]"]},
    "facts.json": FACTS,
}


@dataclass(frozen=True)
class Said:
    """What a command wrote and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Say = Callable[..., Said]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository, and a working directory of its own beside it."""
    repository(tmp_path / "repo", FILES)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def say(desk: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs one command line in this process."""

    def run(*words: str) -> Said:
        capsys.readouterr()
        code = main(words)
        return Said(code, *capsys.readouterr())

    return run


RUN = ("run", "--repo", "../repo", "--facts", "../repo/facts.json")


def process(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """One command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **options.pop("env", {})}
    command = [sys.executable, "-m", "nodeattrs", *words]
    return subprocess.run(command, cwd=cwd, env=environment, text=True, timeout=60, **options)


class TestHelp:
    def test_it_prints_the_order_of_precedence_from_the_table(self, say: Say):
        """
        Each level with the numbers of its slots, the strongest first.
        """
        said = say("--help")

        levels = list(dict.fromkeys(slot.level for slot in reversed(SLOTS)))
        line = said.out.splitlines()[-1]
        assert [word.split()[0] for word in line.split(",")] == levels
        assert [int(number) for number in re.findall(r"\d+", line)] == [15, 14, 13, 12, 9, 8, 7, 6, 5, 4, 1]
        assert said.code == 0

    def test_the_help_of_the_program_lists_every_command(self, say: Say):
        rows = re.findall(r"^  ([a-z-]+(?:, [a-z-]+)?)  ", say("--help").out.partition("\ncommands:")[2], re.MULTILINE)

        assert {name for row in rows for name in row.split(", ")} >= set(summaries())

    @pytest.mark.parametrize("command", summaries())
    def test_every_command_shows_an_example(self, say: Say, command: str):
        """
        `COMMAND --help` ends well and holds a line to paste.
        """
        said = say(command, "--help")

        assert said.code == 0
        assert f"nodeattrs {command}" in said.out.partition("examples:")[2]

    def test_the_version_is_the_packages(self, say: Say):
        """
        One line, for scripts.
        """
        assert Said(0, f"nodeattrs {__version__}\n", "") == say("--version")

    @pytest.mark.parametrize(
        "words",
        [
            ("fly",),
            ("run", "--nod", "web1"),
            ("run", "--all", "--node", "web1"),
            ("show",),
            ("show", "web1", "--slot", "16"),
            ("show", "web1", "--level", "set"),
            ("explain", "web1"),
            ("explain", "web1", "app", "--facts", "facts.json"),
            ("facts", "--format", "xml"),
            ("completion", "tcsh"),
        ],
        ids=" ".join,
    )
    def test_a_line_that_is_not_understood_ends_with_2(self, say: Say, words: tuple[str, ...]):
        """
        The error is one line with a hint on stderr; no usage stands before it, and nothing is on stdout.
        """
        said = say(*words)

        assert (2, "") == (said.code, said.out)
        assert said.err.startswith("nodeattrs")
        assert "usage:" not in said.err
        assert said.err.endswith(" --help shows more\n")

    def test_help_loads_no_library_that_only_some_need(self, desk: Path):
        """
        Neither yaml nor what gathers facts, nor the node: `--help` is there at once.
        """
        program = (
            "import sys; from nodeattrs.cli import main; main(['--help']); "
            "print(*{'yaml', 'psutil', 'distro', 'nodeattrs.node.node', 'nodeattrs.chef'} & set(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

        assert "" == done.stdout.splitlines()[-1]


class TestRun:
    def test_run_prints_the_report_of_a_first_run(self, say: Say):
        """
        The whole report of a first run, as it stands on the screen.
        """
        said = say(*RUN, "--node", "web1")

        assert said.code == 0, said.err
        assert said.err == ""
        assert said.out.splitlines() == [
            "web1 in production",
            "  facts            facts.json",
            "  run list         role[web]",
            "  roles            web",
            "  attribute files  app/attributes/default.py",
            "  recipes          app::default",
            "  slots            1 default / attribute file: 2, 4 default / role: 1,",
            "                   6 force_default / recipe: 1, 8 normal / recipe: 1,",
            "                   11 override / role: 1, 12 override / environment: 1,",
            "                   15 automatic / facts: 10",
            "  changes          this is the first run",
            "  log",
            "    info: ready  (cookbooks/app/recipes/default.py:3)",
            "  saved            .nodeattrs/nodes.db",
        ]

    def test_the_second_run_tells_what_changed(self, say: Say, desk: Path):
        """
        Against the last saved run: added, changed and removed, with the values.
        """
        say(*RUN, "--node", "web1")
        role = desk / "repo" / "roles" / "web.json"
        tree = json.loads(role.read_text())
        tree["default_attributes"] = {"app": {"name": "shop", "ports": [81]}}
        role.write_text(json.dumps(tree))

        said = say(*RUN, "--node", "web1")

        assert [line.split("  ", 1)[1].strip() for line in said.out.splitlines()[10:13]] == [
            "changes          1 added, 1 changed",
            "~ app.ports: [80, 8080] -> [80, 81]",
            '+ app.name: "shop"',
        ]

    def test_normal_attributes_come_from_the_last_run(self, say: Say, desk: Path):
        """
        What -j said once is there the next time, with its place.
        """
        (desk / "work" / "more.json").write_text('{\n "tier": "gold"\n}')
        say(*RUN, "--node", "web1", "-j", "more.json")
        say(*RUN, "--node", "web1")

        said = say("explain", "web1", "tier")

        assert "more.json:2" in said.out

    def test_why_run_saves_nothing(self, say: Say, desk: Path):
        """
        It tells all the same.
        """
        said = say(*RUN, "--node", "web1", "--why-run")

        assert said.code == 0
        assert said.out.splitlines()[-1] == "  saved            nothing"
        assert [] == list((desk / "work").iterdir())

    def test_a_repository_is_not_written_to(self, say: Say, desk: Path):
        """
        Unless its settings say so: the default store is below the current directory.
        """
        before = sorted((desk / "repo").rglob("*"))
        say(*RUN, "--node", "web1")

        assert before == sorted(path for path in (desk / "repo").rglob("*") if "__pycache__" not in str(path))
        assert (desk / "work" / ".nodeattrs" / "nodes.db").exists()

    def test_the_settings_say_where_nodes_are_kept(self, say: Say, desk: Path):
        """
        A path there counts from the repository, and --store still wins.
        """
        (desk / "repo" / "nodeattrs.toml").write_text('store = "kept.db"\n')
        say(*RUN, "--node", "web1")
        say(*RUN, "--node", "web2", "--store", "elsewhere.db")

        assert ["web1"] == open_store(desk / "repo" / "kept.db").names()
        assert ["web2"] == open_store(desk / "work" / "elsewhere.db").names()
        assert 0 == say("show", "web1", "app", "--store", "../repo/kept.db").code

    def test_the_node_is_the_one_that_the_facts_name(self, say: Say):
        """
        Where nobody says which: the fqdn. It was never stated of, and a warning says so.
        """
        said = say(*RUN)

        assert said.out.startswith("web1.example.com in _default")
        assert "warning: the node web1.example.com has an empty run-list" in said.err

    def test_the_run_list_may_come_in_pieces(self, say: Say):
        """
        By commas, and repeated.
        """
        said = say(
            *RUN,
            "--node",
            "new",
            "--new",
            "--run-list",
            "role[web], recipe[app]",
            "--run-list",
            "app",
            "--format",
            "json",
        )

        (run,) = said.data["runs"]
        assert ["role[web]", "recipe[app]"] == run["run_list"]

    def test_all_nodes_each_once(self, say: Say, desk: Path):
        """
        A directory of facts has a file for each node; a node without one does not keep the other from running.
        """
        (desk / "facts").mkdir()
        (desk / "facts" / "web2.json").write_text(json.dumps(FACTS))

        said = say("run", "--repo", "../repo", "--all", "--facts", "../facts", "--format", "json")

        assert said.code == 1
        assert ["web2"] == [run["node"] for run in said.data["runs"]]
        assert said.err.splitlines()[0] == "the run of web1 failed"
        assert "../facts/web1.json: cannot be read" in said.err

    def test_the_data_has_a_version(self, say: Say):
        """
        JSON and YAML say the same.
        """
        data = say(*RUN, "--node", "web1", "--why-run", "--format", "json").data

        assert data["version"] == 1
        assert data == yaml.safe_load(say(*RUN, "--node", "web1", "--why-run", "--format", "yaml").out)
        assert data["runs"][0]["leaves"]["12"] == 1
        assert data["runs"][0]["log"] == [
            {"level": "info", "message": "ready", "file": "cookbooks/app/recipes/default.py", "line": 3}
        ]

    def test_a_warning_comes_once(self, say: Say, desk: Path):
        """
        Two nodes read one role with an unknown field: one warning, on stderr.
        """
        role = desk / "repo" / "roles" / "web.json"
        role.write_text(role.read_text().replace('"name"', '"descripton": "x",\n "name"', 1))

        said = say(*RUN, "--node", "web1", "--node", "web2")

        assert 1 == said.err.count("descripton")
        assert "warning: roles/web.json:2" in said.err
        assert "did you mean description?" in said.err


class TestExplain:
    def test_explain_of_a_leaf_has_winner_losers_and_rules(self, say: Say):
        """
        The winner first, who else spoke, and the rules that beat them.
        """
        say(*RUN, "--node", "web1")

        said = say("explain", "web1", "app.workers")

        assert said.code == 0
        assert said.out.splitlines() == [
            "web1 in production, revision 1: app.workers = 30",
            "",
            "  wins   12 override / environment    30  environments/production.yaml:4",
            "  loses  11 override / role            8  roles/web.json:15",
            "  loses   6 force_default / recipe    24  cookbooks/app/recipes/default.py:1",
            "  loses   1 default / attribute file   2  cookbooks/app/attributes/default.py:1",
            "",
            "  12 over 11, 6 over 1: the later component replaces the earlier one (inside the",
            "    level)",
            "  12 over 6: the stronger level replaces the weaker one (across levels)",
        ]

    def test_a_united_list_names_the_speaker_of_each_element(self, say: Say):
        """
        With file and line of the element itself.
        """
        say(*RUN, "--node", "web1")

        lines = say("explain", "web1", "app.ports").out.splitlines()

        assert lines[-3:] == [
            "  elements, and who set them",
            "    80    1  cookbooks/app/attributes/default.py:2",
            "    8080  4  roles/web.json:9",
        ]

    def test_straight_from_the_repository(self, say: Say, desk: Path):
        """
        No saved run is needed, none is made, and the answer is the same, but for whether it was saved.
        """
        straight = say("explain", "web1", "app.workers", "--repo", "../repo", "--facts", "../repo/facts.json")
        assert [] == list((desk / "work").iterdir())
        say(*RUN, "--node", "web1")

        saved = say("explain", "web1", "app.workers")
        first, facts, *rest = straight.out.splitlines(keepends=True)
        assert facts == "  facts: facts.json\n"
        assert first + "".join(rest) == saved.out.replace("revision 1", "run now")
        assert (straight.code, straight.err) == (saved.code, saved.err)

    def test_facts_of_the_repository_are_the_default(self, say: Say, desk: Path):
        """
        facts/NODE.json counts where the caller names no facts; the answer says whose they are.
        """
        (desk / "repo/facts").mkdir()
        (desk / "repo/facts.json").rename(desk / "repo/facts/web1.json")

        said = say("explain", "web1", "app.workers", "--repo", "../repo")

        assert said.out.splitlines()[1] == "  facts: facts/web1.json"

    def test_a_fact_is_named_as_seen_from_the_repository(self, say: Say):
        """
        Wherever one stands when one asks.
        """
        said = say("explain", "web1", "cpu.total", "--repo", "../repo", "--facts", "../repo/facts.json")

        assert "  facts.json:5" in said.out

    @pytest.mark.parametrize(
        ("path", "hint"),
        [
            ("app.worker", "did you mean app.workers?"),
            ("app.ports.7", "app.ports is a list of 2 elements, counted from 0"),
            ("nothing.like.it", "the node has app, "),
        ],
    )
    def test_a_path_that_nobody_spoke_about(self, say: Say, path: str, hint: str):
        """
        An error, with what may have been meant.
        """
        say(*RUN, "--node", "web1")

        said = say("explain", "web1", path)

        assert (1, "") == (said.code, said.out)
        assert said.err.startswith(f"error: {path} is not set [NA0102]\n  {hint}")

    def test_a_document_without_a_snapshot_says_so(self, say: Say, desk: Path):
        """
        Chef's document knows no origins: that is said, and none is invented.
        """
        document = {"name": "old", "normal": {"a": {"b": 1}}, "json_class": "Chef::Node"}
        open_store("nodes.db").save(Saved("old", document))

        said = say("explain", "old", "a.b", "--store", "nodes.db")

        assert said.err.startswith("warning: saved, origin unknown")
        assert said.out.splitlines() == [
            "old in _default, revision 1: a.b = 1",
            "",
            "  wins  7 normal / attribute file  1  saved origin unknown",
        ]

    def test_explain_as_json_has_all_of_the_text_and_the_steps(self, say: Say):
        """
        Everything that the text says, and the steps of the path.
        """
        say(*RUN, "--node", "web1")

        data = say("explain", "web1", "app.ports", "--format", "json").data

        assert (1, "web1", "production", ["app", "ports"], [80, 8080]) == tuple(
            data[key] for key in ("version", "node", "environment", "steps", "value")
        )
        assert [("roles/web.json", 9)] == [(claim["file"], claim["line"]) for claim in data["elements"][1]["claims"]]


class TestShow:
    def test_a_part_with_its_origins(self, say: Say):
        """
        Text that YAML reads, remarks beside the leaves.
        """
        say(*RUN, "--node", "web1")

        said = say("show", "web1", "app", "--origins")

        assert said.out.splitlines() == [
            "workers: 30  # environments/production.yaml:4 (environment production)",
            "ports:",
            "  - 80       # cookbooks/app/attributes/default.py:2 (attribute file app::default)",
            "  - 8080     # roles/web.json:9 (role web)",
        ]
        assert yaml.safe_load(said.out) == {"workers": 30, "ports": [80, 8080]}

    def test_show_of_a_level_prints_each_of_its_slots(self, say: Say):
        """
        A level is its slots, each for itself; what says nothing is left out.
        """
        say(*RUN, "--node", "web1")

        said = say("show", "web1", "app", "--level", "override", "--slot", "6")

        assert said.out.splitlines() == [
            "# 6 force_default / recipe",
            "workers: 24",
            "",
            "# 11 override / role",
            "workers: 8",
            "",
            "# 12 override / environment",
            "workers: 30",
        ]

    def test_show_gives_the_same_document_as_json_and_yaml(self, say: Say):
        """
        The same document in both forms.
        """
        say(*RUN, "--node", "web1")

        data = say("show", "web1", "app.ports", "--origins", "--format", "json").data

        assert data["value"] == [80, 8080]
        assert ["app.ports.0", "app.ports.1"] == [origin["path"] for origin in data["origins"]]
        assert data == yaml.safe_load(say("show", "web1", "app.ports", "--origins", "--format", "yaml").out)

    def test_a_node_that_was_never_saved(self, say: Say):
        """
        With near misses, or with what to do.
        """
        assert "run it first: nodeattrs run --node web1" in say("show", "web1").err
        say(*RUN, "--node", "web1")

        said = say("show", "web11")

        assert said.code == 1
        assert "there is no saved node web11 in .nodeattrs/nodes.db [NA0411]\n  did you mean web1?" in said.err


class TestFacts:
    def test_the_facts_command_prints_a_part_of_a_file_with_the_line(self, say: Say):
        """
        A part of them, with the line.
        """
        assert Said(0, "4  # ../repo/facts.json:5 (facts facts.json)\n", "") == say(
            "facts", "cpu.total", "--facts", "../repo/facts.json", "--origins"
        )

    def test_the_facts_command_prints_facts_of_this_machine(self, say: Say):
        """
        By Ohai's names.
        """
        said = say("facts", "kernel.name", "--format", "json")

        assert said.data["value"] == os.uname().sysname


class TestSecrets:
    """A sensitive value is in no output, in no form."""

    @pytest.mark.parametrize("form", ["text", "json", "yaml"])
    @pytest.mark.parametrize("path", [(), ("cpu",), ("cpu.total",)])
    def test_a_fact_that_the_settings_here_call_sensitive(self, say: Say, desk: Path, form: str, path: tuple[str, ...]):
        """
        The current directory is a repository then.
        """
        (desk / "work" / "nodeattrs.toml").write_text('sensitive = ["cpu.total"]\n')
        said = say("facts", *path, "--facts", "../repo/facts.json", "--format", form)

        assert (0, True) == (said.code, "withheld" in said.out)
        assert "4" not in said.out

    @pytest.mark.parametrize("form", ["text", "json", "yaml"])
    def test_nothing_prints_it(self, say: Say, desk: Path, form: str):
        """
        Neither from a run made now nor from a saved one; who said it is told.
        """
        (desk / "repo" / "nodeattrs.toml").write_text('sensitive = ["app.key"]\n')
        recipe = desk / "repo" / "cookbooks/app/recipes/default.py"
        recipe.write_text(
            'node.default["app"]["key"] = "hunter2"\nlog(node["app"]["key"])\nlog(Sensitive("hunter2"))\n'
        )
        live = ("--repo", "../repo", "--facts", "../repo/facts.json")
        ask = [
            (*RUN, "--node", "web1"),
            (*RUN, "--node", "web1"),
            ("explain", "web1", "app.key"),
            ("explain", "web1", "app"),
            ("explain", "web1", "app.key", *live),
            ("show", "web1", "--origins"),
            ("show", "web1", "--slot", "2"),
            ("show", "web1", *live),
            ("show", "web1", "app.key", *live),
        ]

        told = [say(*words, "--format", form) for words in ask]

        assert {0} == {said.code for said in told}
        assert not [said for said in told if "hunter2" in said.out + said.err]
        assert "cookbooks/app/recipes/default.py" in told[2].out


class TestCookbookCode:
    """Code that fails: the way through the cookbooks, and none of our own lines."""

    @pytest.fixture
    def failing(self, desk: Path) -> Path:
        repository(
            desk / "repo",
            {
                "cookbooks/app/recipes/default.py": 'log("so far")\n\ninclude_recipe("app::deep")\n',
                "cookbooks/app/recipes/deep.py": "def halve(n):\n    return n / 0\n\nhalve(4)\n",
            },
        )
        return desk

    def test_the_lines_of_the_cookbooks(self, failing: Path, say: Say):
        """
        File, line and text of each, the outermost first; what was logged before; saved is that it failed.
        """
        said = say(*RUN, "--node", "web1")

        assert (1, "") == (said.code, said.out)
        assert said.err.splitlines() == [
            "info: so far  (cookbooks/app/recipes/default.py:1)",
            "error: cookbooks/app/recipes/deep.py:2: recipe app::deep failed: "
            "ZeroDivisionError: division by zero [NA0413]",
            '  cookbooks/app/recipes/default.py:3: include_recipe("app::deep")',
            "  cookbooks/app/recipes/deep.py:4: halve(4)",
            "  cookbooks/app/recipes/deep.py:2, in halve: return n / 0",
        ]
        assert ["failed: RecipeFailed at cookbooks/app/recipes/deep.py:2"] == [
            line.split("  ")[2] for line in say("history", "web1").out.splitlines()
        ]
        assert {} == say("show", "web1", "--format", "json").data["value"]

    def test_the_whole_way_for_those_who_ask(self, failing: Path, say: Say):
        """
        --traceback shows the cause and what came of it.
        """
        said = say(*RUN, "--node", "web1", "--traceback")

        assert "ZeroDivisionError: division by zero" in said.err
        assert "direct cause of the following exception" in said.err

    def test_a_deferred_value_that_cannot_be_computed_is_named_and_ends_with_5(self, desk: Path, say: Say):
        """
        Nobody may ever read it, so the run goes on.
        """
        recipe = desk / "repo" / "cookbooks/app/recipes/default.py"
        recipe.write_text('node.default["late"] = lazy(lambda: 1 / 0)\n')
        live = ("--repo", "../repo", "--facts", "../repo/facts.json")
        ask = [("show", "web1", "late", *live), (*RUN, "--node", "web1"), ("show", "web1", "late")]
        ask += [("explain", "web1", "late"), ("matrix", "late"), ("show", "web1", "tags")]

        told = [say(*words) for words in ask]

        assert [5, 0, 5, 5, 5, 0] == [said.code for said in told]
        assert '"$deferred": "ZeroDivisionError: division by zero"\n' == told[0].out == told[2].out
        why = "cookbooks/app/recipes/default.py:1 (value late) cannot be computed: ZeroDivisionError: division by zero"
        assert all(why in said.err for said in told[:3])

    def test_deferred_values_that_need_each_other(self, desk: Path, say: Say):
        """
        That is never right: the run fails, and says where the circle is.
        """
        recipe = desk / "repo" / "cookbooks/app/recipes/default.py"
        recipe.write_text('node.default["a"] = lazy(lambda: node["b"])\nnode.default["b"] = lazy(lambda: node["a"])\n')

        said = say(*RUN, "--node", "web1")

        assert said.code == 1
        assert "a deferred value needs itself" in said.err


class TestStreams:
    def test_colour_is_for_terminals(self, say: Say):
        """
        None into a pipe; some where it is asked for.
        """
        say(*RUN, "--node", "web1")

        assert "\x1b[" not in say("explain", "web1", "app.workers").out
        assert "\x1b[1;32mwins\x1b[0m" in say("explain", "web1", "app.workers", "--color", "always").out

    @pytest.mark.parametrize(
        ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
    )
    def test_output_on_a_terminal_has_colour_unless_no_color_is_set(
        self, desk: Path, say: Say, environment: dict[str, str], coloured: bool
    ):
        """
        There is colour, unless NO_COLOR is set or the terminal has none.
        """
        assert say(*RUN, "--node", "web1").code == 0
        ours, theirs = pty.openpty()
        environment = {"TERM": "xterm", **environment}

        process("explain", "web1", "app.workers", cwd=desk / "work", check=True, stdout=theirs, env=environment)

        assert coloured == (b"\x1b[" in _read(ours, theirs))

    def test_progress_is_for_terminals(self, desk: Path):
        """
        Several nodes: the terminal hears how far it is, a file does not. Without tqdm there are numbers.
        """
        for name in ("web1", "web2"):
            (desk / "repo/facts").mkdir(exist_ok=True)
            (desk / f"repo/facts/{name}.json").write_text('{"platform": "debian", "platform_version": "12"}')
        words = ("run", "--repo", "../repo", "--node", "web1", "--node", "web2")
        quiet = process(*words, cwd=desk / "work", capture_output=True)
        repository(desk / "without", {"tqdm.py": "raise ImportError\n"})
        ours, theirs = pty.openpty()
        environment = {"PYTHONPATH": f"{desk / 'without'}{os.pathsep}{ROOT}"}
        process(*words, cwd=desk / "work", stdout=subprocess.DEVNULL, stderr=theirs, env=environment)

        assert quiet.stderr == ""
        assert b"2 of 2: web2" in _read(ours, theirs)

    def test_a_value_cannot_write_to_the_terminal(self, desk: Path, say: Say):
        """
        Control characters are written out, in reports and in errors.
        """
        recipe = desk / "repo" / "cookbooks/app/recipes/default.py"
        recipe.write_text('node.default["a"] = "\\x1b[31m\\x9b1m"\nlog("\\x1b[2J")\n')
        said = [
            say(*RUN, "--node", "web1"),
            say("show", "web1", "a"),
            say("explain", "web1", "a"),
            say("show", "\x1b[2J"),
        ]

        assert [0, 0, 0, 1] == [one.code for one in said]
        assert not [one for one in said if {"\x1b", "\x9b"} & set(one.out + one.err)]

    def test_a_reader_that_goes_away_is_no_error(self, desk: Path, say: Say):
        """
        Nothing on stderr, and the exit code that pipes know.
        """
        assert say(*RUN, "--node", "web1").code == 0
        ours, theirs = os.pipe()
        os.close(ours)

        done = process("show", "web1", cwd=desk / "work", stdout=theirs, stderr=subprocess.PIPE)

        assert (141, "") == (done.returncode, done.stderr)
        os.close(theirs)

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
    @pytest.mark.parametrize(
        ("words", "unbuffered"),
        [(("--help",), ""), (("--help",), "1"), (("show", "web1"), "1"), (("completion", "bash"), "")],
    )
    def test_a_full_disk_under_stdout(self, desk: Path, say: Say, words: tuple[str, ...], unbuffered: str):
        """
        One line says what is wrong, whenever it is noticed.
        """
        assert say(*RUN, "--node", "web1").code == 0
        with open("/dev/full", "w") as full:
            done = process(
                *words,
                cwd=desk / "work",
                stdout=full,
                stderr=subprocess.PIPE,
                env={"PYTHONUNBUFFERED": unbuffered},
            )

        assert (1, "error: the output cannot be written: No space left on device [NA0001]\n") == (
            done.returncode,
            done.stderr,
        )

    def test_a_terminal_that_knows_ascii_only(self, desk: Path, say: Say):
        """
        What it cannot show is written out.
        """
        recipe = desk / "repo" / "cookbooks/app/recipes/default.py"
        recipe.write_text('node.default["a"] = "größer"\n', "utf-8")
        assert say(*RUN, "--node", "web1").code == 0

        ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
        done = process("show", "web1", "a", cwd=desk / "work", capture_output=True, env=ascii_only)

        assert (0, '"gr\\xf6\\xdfer"\n', "") == (done.returncode, done.stdout, done.stderr)

    def test_an_interrupt_ends_quietly(self, desk: Path, say: Say):
        """
        With the exit code that shells know, and nothing saved.
        """
        (desk / "repo" / "cookbooks/app/recipes/default.py").write_text("raise KeyboardInterrupt\n")

        assert Said(130, "", "") == say(*RUN, "--node", "web1")
        assert [] == list((desk / "work").iterdir())

    def test_our_own_fault_is_said_to_be_ours(self, say: Say, monkeypatch: pytest.MonkeyPatch):
        """
        Without a traceback, unless one asks.
        """
        monkeypatch.setattr("nodeattrs.dialects.chef.commands.facts.part_of", lambda *_: 1 / 0)
        words = ("facts", "--facts", "../repo/facts.json")

        assert say(*words).err.startswith(
            "error: a fault in nodeattrs itself: ZeroDivisionError: division by zero [NA0003]\n"
        )
        assert "Traceback" not in say(*words).err
        assert "Traceback" in say(*words, "--traceback").err


def _read(ours: int, theirs: int) -> bytes:
    """What was written to a terminal."""
    stated = b""
    while select.select([ours], [], [], 0.2)[0]:
        stated += os.read(ours, 65536)
    os.close(theirs)
    os.close(ours)
    return stated


class TestTheExample:
    """The repository that people see first."""

    def test_the_puzzle_is_explained(self, desk: Path, say: Say):
        """
        As its page says, each claim at its file and line, within one screen.
        """
        for node in ("web1", "web2"):
            facts = str(EXAMPLE / "facts" / f"{node}.json")
            assert 0 == say("run", "--repo", str(EXAMPLE), "--node", node, "--facts", facts).code

        web1, web2 = (say("explain", node, "app.workers").out.splitlines() for node in ("web1", "web2"))

        assert "web1 in production, revision 1: app.workers = 30" == web1[0]
        assert "app.workers = 8" == web2[0].rpartition(": ")[2]
        assert ["12", "11", "7", "6", "1"] == [line.split()[1] for line in web1[2:7]]
        assert ["11", "6", "3", "1"] == [line.split()[1] for line in web2[2:6]]
        for line in [*web1[2:7], *web2[2:6]]:
            *_, value, place = line.split()
            file, _, number = place.partition(":")
            assert value in (EXAMPLE / file).read_text("utf-8").splitlines()[int(number) - 1]
        assert max(map(len, [*web1, *web2])) <= 80
        assert max(len(web1), len(web2)) <= 24

"""A dialect of an installed package: Salt's pillar, in `tests/dialects/salt`, gets every verb from the contract.

The package is installed by pip into a folder of its own; no line of nodeattrs knows it.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.contract.dialect import Dialect
from nodeattrs.dialects import BUILT_IN, all_dialects, foreign, named
from nodeattrs.errors import BadArgument
from tests.test_lsp import Editor
from tests.test_lsp import asked as edited
from tests.test_mcp import Ask, asked
from tests.test_web_site import client, site_of

SALT = Path(__file__).parent / "dialects" / "salt"
Run = Callable[..., "subprocess.CompletedProcess[str]"]

PILLAR = {
    "pillar/top.sls": (
        "base:\n  '*': [common]\n  'web*': [web]\n  'role:db': [{match: grain}, db]\n"
        "  'web2,db1': [{match: list}, extra]\ndev:\n  '*': [common]\n"
    ),
    "pillar/common.sls": "ntp:\n  servers: [a, b]\n  enabled: true\nport: 80\n",
    "pillar/web/init.sls": "include:\n  - tls\nport: 8080\nntp:\n  servers: [c]\n",
    "pillar/tls.sls": "tls: {enabled: true}\nport: 443\n",
    "pillar/db.sls": "db: {size: 3}\n",
    "pillar/extra.sls": "extra: 1\n",
    "grains/web1.yaml": "role: web\n",
    "grains/db1.yaml": "role: db\n",
}


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has installed the distribution."""
    folder = tmp_path_factory.mktemp("salt")
    shutil.copytree(SALT, folder / "source")
    words = ["install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--target", "site", "./source"]
    done = subprocess.run([sys.executable, "-m", "pip", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work tree with a pillar, and one commit."""
    folder = tmp_path_factory.mktemp("pillar")
    written(folder, PILLAR)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def pillar(committed: Path, tmp_path: Path) -> Path:
    """A copy of the work tree, for one test."""
    return shutil.copytree(committed, tmp_path / "pillar")


@pytest.fixture
def run(pillar: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command in the work tree, in this process."""
    monkeypatch.chdir(pillar)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.syspath_prepend(str(installed))
    foreign.cache_clear()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(list(words))
        return subprocess.CompletedProcess(words, code, out.getvalue(), errors.getvalue())

    yield run
    foreign.cache_clear()
    sys.modules.pop("odd", None)  # each broken package has another one


class TestTheVerbs:
    def test_list_names_minions_of_grains_and_of_the_top_file(self, run: Run) -> None:
        assert run("salt", "list").stdout.split() == ["salt", "db1", "salt", "web1", "salt", "web2"]

    def test_explain_names_the_line_that_wins_and_those_that_lose(self, run: Run) -> None:
        done = run("salt", "explain", "port", "--on", "web1")

        assert done.returncode == 0
        rows = [line.split() for line in done.stdout.splitlines() if "pillar/" in line]
        assert [(row[0], row[2], row[3]) for row in rows] == [
            ("wins", "8080", "pillar/web/init.sls:3"),
            ("loses", "443", "pillar/tls.sls:2"),
            ("loses", "80", "pillar/common.sls:4"),
        ]

    def test_why_without_a_dialect_finds_it_too_and_joins_minions_with_one_reason(self, run: Run) -> None:
        data = json.loads(run("why", "port", "--format", "json").stdout)

        assert data["certain"] is True
        assert [(one["dialect"], one["subjects"], one["value"]) for one in data["answers"]] == [
            ("salt", ["db1"], 80),
            ("salt", ["web1", "web2"], 8080),
        ]

    def test_where_names_who_reads_a_line_and_who_overrides_it(self, run: Run) -> None:
        done = run("where", "pillar/common.sls:4")

        assert done.returncode == 0
        assert "port = 80" in done.stdout
        assert "wins on 1 of 3 minions: db1" in done.stdout
        assert "overridden by pillar/web/init.sls:3 (3 = 8080) on 2: web1, web2" in done.stdout

    def test_where_of_a_key_names_all_lines_that_set_it(self, run: Run) -> None:
        data = json.loads(run("salt", "where", "--key", "port", "--format", "json").stdout)

        assert [f"{one['file']}:{one['line']}" for one in data["lines"]] == [
            "pillar/common.sls:4",
            "pillar/tls.sls:2",
            "pillar/web/init.sls:3",
        ]

    def test_where_asks_only_the_subjects_that_the_caller_names(self, run: Run) -> None:
        assert "wins on 1 of 1 minion: db1" in run("where", "pillar/common.sls:4", "--on", "db1").stdout
        assert "there is no subject nobody" in run("where", "pillar/common.sls:4", "--on", "nobody").stderr

    def test_where_of_a_file_names_what_no_minion_gets(self, run: Run, pillar: Path) -> None:
        (pillar / "pillar/spare.sls").write_text("spare: 1\n")

        done = run("salt", "where", "pillar/spare.sls")

        assert (done.returncode, done.stdout) == (
            0,
            "pillar/spare.sls:1  spare: sets no value of any subject\n",
        )

    def test_blame_prints_each_value_with_its_line(self, run: Run) -> None:
        lines = run("salt", "blame", "db1").stdout.splitlines()

        assert [line.split() for line in lines if "port" in line] == [
            ["port:", "80", "#", "pillar/common.sls:4", "(pillar", "common)"]
        ]

    def test_matrix_groups_minions_by_value(self, run: Run) -> None:
        groups = json.loads(run("salt", "matrix", "ntp.servers", "--format", "json").stdout)["groups"]

        assert [(one["value"], one["places"][0]["nodes"]) for one in groups] == [
            (["c"], ["web1", "web2"]),
            (["a", "b"], ["db1"]),
        ]

    def test_diff_names_the_lines_of_both_sides(self, run: Run) -> None:
        changes = json.loads(run("salt", "diff", "web1", "db1", "--format", "json").stdout)["changes"]

        port = next(one for one in changes if one["path"] == "port")
        assert [(side["value"], side["set_by"]["line"]) for side in (port["before"], port["after"])] == [
            (8080, 3),
            (80, 4),
        ]

    def test_impact_names_minions_values_and_the_line(self, run: Run, pillar: Path) -> None:
        (pillar / "pillar/web/init.sls").write_text(PILLAR["pillar/web/init.sls"].replace("8080", "8443"))

        done = run("impact", "HEAD")

        assert "1 file differs, 2 of 3 minions change (salt)" in done.stdout
        assert "~ 2 minions: port  pillar/web/init.sls:3" in done.stdout

    def test_what_if_without_a_line_shows_the_new_value(self, run: Run) -> None:
        done = run("what-if", "--without", "pillar/web/init.sls:3")

        assert "8080 -> 443" in done.stdout

    def test_what_if_sets_a_value_over_all_files(self, run: Run) -> None:
        assert "80 -> 1" in run("what-if", "--set", "port=1", "--dialect", "salt").stdout

    def test_check_finds_a_file_that_is_not_there(self, run: Run, pillar: Path) -> None:
        assert run("check").returncode == 0
        (pillar / "pillar/db.sls").unlink()

        done = run("check")

        assert done.returncode == 1
        assert "pillar/top.sls: error: there is no pillar file db" in done.stdout

    def test_a_foreign_dialect_has_actions_of_its_own(self, run: Run) -> None:
        assert run("salt", "top", "web1").stdout == "common\nweb\n"
        assert json.loads(run("salt", "top", "web1", "--format", "json").stdout) == {
            "version": 1,
            "files": ["common", "web"],
        }

    def test_help_shows_its_actions_with_examples_and_exit_codes(self, run: Run) -> None:
        assert "Salt's pillar" in run("salt", "--help").stdout
        shown = run("salt", "matrix", "--help").stdout
        assert "nodeattrs salt matrix app.workers" in shown
        assert "exit codes:" in shown


class TestWhatWasNotRead:
    def test_a_template_is_unknown_and_every_verb_ends_with_5(self, run: Run, pillar: Path) -> None:
        (pillar / "pillar/extra.sls").write_text("port: {{ 1 + 1 }}\n")

        for words in (["explain", "port"], ["where", "pillar/common.sls:4"], ["blame", "db1"], ["matrix", "port"]):
            done = run("salt", *words)
            assert (words, done.returncode) == (words, 5)
            assert "extra" in done.stderr
        assert run("salt", "diff", "web1", "db1").returncode == 5
        assert run("salt", "explain", "port", "--on", "web1").returncode == 0

    def test_a_minion_without_grains_is_not_certain_where_a_grain_is_asked(self, run: Run) -> None:
        data = json.loads(run("salt", "explain", "db.size", "--on", "web2", "--format", "json").stdout)

        assert data["certain"] is False
        (unread,) = data["unread"]
        assert unread["place"] == "grains/web2.yaml"
        assert unread["reason"] == "is not there, and role:db asks for it"
        assert unread["paths"] == [["db", "size"]]

    def test_a_pillar_that_cannot_be_read_is_no_empty_answer(self, run: Run, pillar: Path) -> None:
        (pillar / "pillar/common.sls").write_text("a: [\n")

        done = run("salt", "explain", "port")

        assert done.returncode == 1
        assert "pillar/common.sls:" in done.stderr

    def test_a_key_that_nothing_sets_is_an_error_with_the_nearest_one(self, run: Run) -> None:
        done = run("salt", "explain", "prt", "--on", "web1")

        assert done.returncode == 1
        assert "did you mean port?" in done.stderr


class TestADialectThatCannotListItsSubjects:
    def test_the_others_answer_and_it_is_named(self, run: Run, pillar: Path) -> None:
        (pillar / "hiera.yaml").write_text("version: [\n")

        for words in (["why", "port", "--on", "web1"], ["where", "pillar/common.sls:4"], ["blame", "web1"]):
            done = run(*words)
            assert (words, done.returncode) == (words, 5)
            assert "cannot be resolved, and may have any value: hiera.yaml:2" in " ".join(done.stderr.split())
        assert run("salt", "explain", "port", "--on", "web1").returncode == 0

    def test_alone_it_is_the_error(self, run: Run, pillar: Path) -> None:
        (pillar / "pillar/top.sls").write_text("base: [\n")

        assert run("why", "port").returncode == 1
        assert run("list", "subjects").returncode == 1


class TestTheRulesOfSalt:
    def test_lists_are_joined_with_pillar_merge_lists(self, run: Run, pillar: Path) -> None:
        (pillar / "minion").write_text("pillar_merge_lists: true\n")

        data = json.loads(run("salt", "explain", "ntp.servers", "--on", "web1", "--format", "json").stdout)

        assert data["answers"][0]["value"] == ["a", "b", "c"]

    def test_pillarenv_chooses_the_environment_of_the_top_file(self, run: Run, pillar: Path) -> None:
        (pillar / "minion").write_text("pillarenv: dev\n")

        data = json.loads(run("salt", "explain", "port", "--on", "web1", "--format", "json").stdout)

        assert data["answers"][0]["value"] == 80

    def test_an_option_of_the_dialect_comes_to_its_verbs(self, run: Run) -> None:
        """Every verb of the dialect has it, and the help names it; no other command does."""
        words = ("port", "--on", "web1", "--pillarenv", "dev")

        assert json.loads(run("salt", "why", *words, "--format", "json").stdout)["answers"][0]["value"] == 80
        assert "1 value on 2 nodes" in run("salt", "matrix", "port", "--pillarenv", "dev").stdout
        assert "--pillarenv NAME" in run("salt", "where", "--help").stdout
        assert run("why", *words).returncode == 2


class TestTheUserInterfaces:
    def test_a_page_shows_its_values(
        self, pillar: Path, installed: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(str(installed))
        foreign.cache_clear()
        try:
            web = client(site_of(pillar))
            assert "/subjects/salt?on=web1" in web.get("/values").text
            text = web.get("/values?key=port").text
        finally:
            foreign.cache_clear()

        assert "8080" in text
        assert "init.sls:3" in text

    def test_tools_of_mcp_ask_it(self, pillar: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONPATH", str(installed))

        async def talk(ask: Ask) -> None:
            came = await ask("why", key="port", on=["web1"], dialect="salt")
            assert came["data"]["answers"][0]["value"] == 8080
            came = await ask("where", file="pillar/common.sls:4")
            assert came["data"]["lines"][0]["wins_on"] == ["db1"]

        asked(pillar, talk, "--repo", ".")

    def test_the_hover_of_an_editor_says_where_a_line_wins(
        self, pillar: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", str(installed))

        async def talk(editor: Editor) -> None:
            assert "wins on 1 of 3 minions: db1" in await editor.until_hover("pillar/common.sls", 4, "port")

        edited(pillar, talk, is_forked=False)  # a new process finds what PYTHONPATH names


def broken(folder: Path, text: str, points: str) -> Path:
    """A folder in which a package with entry points is installed."""
    written(
        folder,
        {
            "odd.py": text,
            "odd-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: odd\nVersion: 1\n",
            "odd-1.dist-info/entry_points.txt": f"[nodeattrs.dialects]\n{points}",
        },
    )
    return folder


_NAMED_HIERA = """
from nodeattrs.contract.dialect import Dialect
class Odd(Dialect):
    name = "hiera"
    def open(self, side, request):
        raise AssertionError
class Slash(Odd):
    name = "../x"
"""


class TestABrokenPackage:
    @pytest.mark.parametrize(
        ("text", "points", "expected"),
        [
            ("1 / 0", "odd = odd:Odd\n", "the dialect odd (odd) is skipped: ZeroDivisionError: division by zero"),
            ("", "odd = odd:Odd\n", "the dialect odd (odd) is skipped: AttributeError"),
            ("Odd = dict", "odd = odd:Odd\n", "is no Dialect with a name of small letters, digits and dashes"),
            (_NAMED_HIERA, "odd = odd:Odd\n", "the dialect hiera (odd) is skipped: the name is taken"),
            (_NAMED_HIERA, "odd = odd:Slash\n", "is no Dialect with a name of small letters, digits and dashes"),
        ],
    )
    def test_a_broken_dialect_package_is_named_and_skipped(
        self, text: str, points: str, expected: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(str(broken(tmp_path / "odd", text, points)))

        done = run("why", "port", "--on", "web1")

        assert done.returncode == 0
        assert "8080" in done.stdout
        assert expected in done.stderr

    def test_check_reports_it(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(str(broken(tmp_path / "odd", "1 / 0", "odd = odd:Odd\n")))

        assert "the dialect odd (odd) is skipped" in run("check").stdout


class TestTheRegistry:
    def test_built_in_dialects_are_found_without_entry_points(self) -> None:
        for one in BUILT_IN:
            assert named(one.name) is one
        assert [*all_dialects()][: len(BUILT_IN)] == [one.name for one in BUILT_IN]

    def test_an_unknown_name_gets_the_nearest_one(self) -> None:
        with pytest.raises(BadArgument, match="there is no dialect 'heira'") as raised:
            named("heira")
        assert "hiera" in (raised.value.hint or "")

    def test_a_dialect_without_open_cannot_be_made(self) -> None:
        class Half(Dialect):
            name = "half"

        with pytest.raises(TypeError, match="open"):
            Half()  # type: ignore[abstract]

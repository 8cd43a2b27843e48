"""What a start leaves for the next one: the next one loads the same, faster, and never what has changed meanwhile."""

from __future__ import annotations

import _sre
import argparse
import importlib
import marshal
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import nodeattrs
from nodeattrs import lazily
from nodeattrs.cli import starts
from nodeattrs.cli.program import parser
from nodeattrs.runs import made_of
from tests.benchmarks import starts as starts_of

ROOT = Path(nodeattrs.__file__).parents[1]
LINE = ["codes", "NA0001"]


class Installed:
    """A copy of the package that nobody else starts, and a folder to be in."""

    def __init__(self, folder: Path) -> None:
        self.site, self.here, self.folder = folder / "site", folder / "here", folder
        shutil.copytree(ROOT / "nodeattrs", self.site / "nodeattrs", ignore=shutil.ignore_patterns("__pycache__"))
        self.here.mkdir()
        self.script = folder / "program"
        self.script.write_text("import sys\nfrom nodeattrs.cli import main\nsys.exit(main())\n", "utf-8")
        self.kept = Path(starts.cache_from_source(str(self.site / "nodeattrs/cli/starts.py"))).with_suffix(".kept")

    def run(
        self, *how: str, line: Sequence[str] = LINE, at: Path | None = None, **around: str
    ) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, *(how or (str(self.script),)), *line]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env |= {"PYTHONPATH": str(self.site), **around}
        return subprocess.run(words, cwd=at or self.here, env=env, capture_output=True, text=True)

    def read(self) -> list[str]:
        """Modules of ours that the next start reads by itself, once what was left is there."""
        told = self.run("-v", str(self.script)).stderr.splitlines()
        found = [line.split("'")[1] for line in told if line.startswith("# code object from")]
        ours = [Path(file) for file in found if file.startswith(str(self.site / "nodeattrs"))]
        return [file.name.partition(".")[0] for file in ours]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("starts"))


@pytest.fixture
def installed(place: Installed) -> Installed:
    """With what a start has left, whatever the test before did to it."""
    for _ in range(3):
        place.run()
    return place


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return starts_of.desk(tmp_path_factory.mktemp("starts") / "desk")


BEFORE = ["__init__", "lazily", "__init__", "interrupts", "starts"]
"""What is loaded before anything can be remembered."""


def test_the_next_start_of_a_command_finds_all_of_its_modules_there(installed: Installed):
    first = installed.kept.read_bytes()
    assert 0 == installed.run().returncode

    assert sorted(BEFORE) == sorted(installed.read())
    assert first == installed.kept.read_bytes()


def test_what_starts_once_leaves_next_to_nothing(installed: Installed):
    """
    As in a container that is thrown away; whoever starts a second time will start again.
    """
    installed.kept.unlink()
    installed.run()
    small = installed.kept.stat().st_size
    installed.run()

    assert small < 2_000 < 100_000 < installed.kept.stat().st_size


def test_it_says_the_same(installed: Installed):
    remembered = installed.run()
    installed.kept.unlink()
    fresh = installed.run()

    assert (fresh.stdout, fresh.stderr, 0) == (remembered.stdout, remembered.stderr, remembered.returncode)
    assert "NA0001" in remembered.stdout


LINES = [
    *(f"{line} --why-run" if name == "run" else line for name, line in starts_of.LINES.items()),
    "--version",
    "codes NA0001",
    "fold 0.yaml 1.yaml",
    "check --repo repository",
    "run --help",
]


@pytest.mark.parametrize("line", LINES)
def test_a_first_start_and_the_next_ones_say_what_a_call_says(line: str, installed: Installed, desk: Path):
    """
    Whatever stands in for libraries while they load, and wherever a module comes from.
    """
    said = installed.run(
        "-c", "import sys\nfrom nodeattrs.cli import main\nsys.exit(main(sys.argv[1:]))", line=line.split(), at=desk
    )
    for _ in range(3):
        came = installed.run(line=line.split(), at=desk)
        assert (said.returncode, said.stdout, said.stderr) == (came.returncode, came.stdout, came.stderr)


def test_a_module_that_has_changed_is_read_anew(installed: Installed):
    """
    At once, each time that it changes, and when it is as it was before.
    """
    file = installed.site / "nodeattrs" / "cli" / "codes.py"
    text = file.read_text("utf-8")
    for sentence in ("one", "three", ""):
        file.write_text(f"{text}\nif {sentence!r}: print({sentence!r})\n" if sentence else text, "utf-8")
        for _ in range(2):
            assert [sentence] * bool(sentence) == installed.run().stdout.splitlines()[: bool(sentence)]


def test_a_module_that_has_gone_is_gone(installed: Installed):
    file = installed.site / "nodeattrs" / "cli" / "codes.py"
    text = file.read_bytes()
    file.unlink()
    gone = installed.run()
    file.write_bytes(text)

    assert (1, True) == (gone.returncode, "nodeattrs.cli.codes" in gone.stderr)
    assert 0 == installed.run().returncode


@pytest.mark.parametrize("how", ["by -m", "by the path"])
def test_a_module_that_comes_before_another_one_is_taken(how: str, installed: Installed, tmp_path: Path):
    """
    As Python does it, though that other one is remembered.
    """
    folder = installed.here if how == "by -m" else tmp_path
    start = ("-m", "nodeattrs") if how == "by -m" else (str(installed.script),)
    path = f"{tmp_path}{os.pathsep}{installed.site}"
    for _ in range(2):
        assert "mine" not in installed.run(*start, PYTHONPATH=path).stdout
    mine = folder / "argparse.py"
    mine.write_text("print('mine')\nraise SystemExit(7)\n", "utf-8")
    came = installed.run(*start, PYTHONPATH=path)
    mine.unlink()

    assert (7, "mine\n") == (came.returncode, came.stdout)


_WITH_A_FOLDER = """
import sys
from nodeattrs import cli

def run(argv):
    sys.path.insert(0, sys.argv.pop())
    import colorsys
    print(getattr(colorsys, "MINE", "none"))
    return _run(argv)

_run, cli._run = cli._run, run
sys.exit(cli.main())
"""


def test_a_module_of_a_repository_is_nobody_elses(installed: Installed, tmp_path: Path):
    """
    Though it is called as one of the standard library, and found in a folder that was added later.
    """
    program = installed.folder / "with_a_folder"
    program.write_text(_WITH_A_FOLDER, "utf-8")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "colorsys.py").write_text(f"MINE = {name!r}\n", "utf-8")
    for name in ("one", "one", "one", "two", "none", "one"):
        came = installed.run(str(program), line=[*LINE, str(tmp_path / name)])
        assert name == came.stdout.splitlines()[0]


_LEAVES_OPEN = """
import atexit
from pathlib import Path
left = open(Path(__file__).with_name("left"), "w")
left.write("written")
atexit.register(lambda: Path(__file__).with_name("late").write_text("late"))
"""


def test_what_a_repository_leaves_open_is_written_at_the_end(installed: Installed, tmp_path: Path):
    """
    Of what a start has loaded nothing is taken down; what a repository has loaded is, and what it asked for is done.
    """
    recipe = tmp_path / "cookbooks" / "c" / "recipes" / "default.py"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(_LEAVES_OPEN, "utf-8")
    (tmp_path / "facts.json").write_text('{"platform": "debian"}', "utf-8")
    (tmp_path / "nodeattrs.toml").write_text("", "utf-8")
    words = f"run --new --repo {tmp_path} --node n --run-list c --facts {tmp_path}/facts.json --store n.db".split()
    for _ in range(3):
        came = installed.run(line=words)
        assert 0 == came.returncode, came.stderr
        for name, content in (("left", "written"), ("late", "late")):
            file = recipe.with_name(name)
            assert content == file.read_text("utf-8")
            file.unlink()


def test_a_module_that_is_edited_meanwhile_is_no_error(installed: Installed):
    """
    It was loaded before; what stands there now is not Python.
    """
    file = installed.site / "nodeattrs" / "cli" / "codes.py"
    text = file.read_text("utf-8")
    here = str(file)
    file.write_text(f"{text}\nwith open({here!r}, 'a') as one: one.write('(')\n", "utf-8")
    came = installed.run()
    file.write_text(text, "utf-8")

    assert (0, "") == (came.returncode, came.stderr)
    assert 0 == installed.run().returncode


@pytest.mark.parametrize(
    "content", [b"", b"start 1\n", b"start 1\n\xff\xff\x00\x00\x00\x00\x00\x00", b"start 0\n" + bytes(99), bytes(9)]
)
def test_what_is_none_of_ours_counts_for_nothing(content: bytes, installed: Installed):
    installed.kept.write_bytes(content)

    for _ in range(2):
        assert 0 == installed.run().returncode
    assert sorted(BEFORE) == sorted(installed.read())


def test_what_another_python_has_left_counts_for_nothing(installed: Installed):
    start = len(starts._SIGN) + 8
    content = installed.kept.read_bytes()
    length = int.from_bytes(content[start - 8 : start], "little")
    around, table = marshal.loads(content[start : start + length])
    other = marshal.dumps((("3.0", *around[1:]), table))
    installed.kept.write_bytes(starts._SIGN + len(other).to_bytes(8, "little") + other + content[start + length :])

    assert starts._read(str(installed.kept), around) is None
    assert "codes" in installed.read()
    assert 0 == installed.run().returncode
    assert sorted(BEFORE) == sorted(installed.read())


def test_nothing_is_left_where_no_bytecode_is_written_or_nothing_was_understood(installed: Installed):
    installed.kept.unlink()

    assert 0 == installed.run(PYTHONDONTWRITEBYTECODE="1").returncode
    assert 2 == installed.run(line=["no-such-command"]).returncode
    assert 2 == installed.run(line=["hiera", "../no-such-action"]).returncode
    assert not installed.kept.exists()


def test_the_program_and_the_module_leave_theirs_side_by_side(installed: Installed):
    """
    Python looks for modules in other folders for each, and people use both.
    """
    module = installed.kept.with_suffix(".m.kept")
    for _ in range(2):
        installed.run("-m", "nodeattrs")
    both = installed.kept.read_bytes(), module.read_bytes()
    for how in ((), ("-m", "nodeattrs"), ()):
        installed.run(*how)

    assert min(map(len, both)) > 100_000
    assert both == (installed.kept.read_bytes(), module.read_bytes())


def test_a_command_that_needs_more_leaves_that_too_and_others_keep_theirs(installed: Installed):
    installed.run(line=["--version"])
    installed.run(line=["codes", "--help"])
    with_them = installed.kept.read_bytes()
    for line in (LINE, ["--version"], ["codes", "--help"]):
        installed.run(line=line)

    assert with_them == installed.kept.read_bytes()
    around = marshal.loads(with_them[16:])[0]
    assert {"codes", "--version", "codes --help"} <= {
        key for keys, _ in starts._read(str(installed.kept), around) or () for key in keys
    }


def test_no_word_from_outside_is_left():
    """
    A command, and an action where a command has those: names of nodes, paths and keys are none of it.
    """
    rows = {
        "show web1 --store nodes.db": "show",
        "hiera lookup secret::key": "hiera lookup",
        "hiera --hiera-config private.yaml lookup a": "hiera",
        "--man run": "--man",
        "run --help": "run --help",
        "fleet": "fleet",
        "": "",
    }
    assert rows == {line: starts._key(line.split()) for line in rows}


@pytest.mark.parametrize(
    "line",
    [
        "search role:private* --store shelf", "search *:private --store shelf", "search role:private* --store nodes.db",
        "hiera lookup private --hiera-config globs.yaml", "show private.private --store nodes.db", "list private*",
        "check --repo repository --only private",
    ],
)  # fmt: skip
def test_nor_is_what_was_looked_for(line: str, installed: Installed, desk: Path):
    (desk / "globs.yaml").write_text(
        "version: 5\nhierarchy:\n"
        "- {name: a, glob: 'private*/*.yaml'}\n- {name: b, mapped_paths: [a, b, 'private%{b}']}\n"
    )
    installed.run(line=starts_of.LINES["run"].replace("nodes.db", "shelf").split(), at=desk)
    for _ in range(2):
        installed.run(line=line.split(), at=desk)

    left = marshal.loads(installed.kept.read_bytes()[16:])[0]
    patterns = [text for _, (_, _, patterns) in starts._read(str(installed.kept), left) or () for text, _ in patterns]
    assert patterns
    assert [] == [text for text in patterns if "private" in str(text)]


def test_the_commands_with_actions_are_those_that_the_program_has():
    sub: type = argparse._SubParsersAction
    choices = {
        name: one for action in parser()._actions if isinstance(action, sub) for name, one in action.choices.items()
    }
    assert starts._WITH_ACTIONS == {
        name for name, one in choices.items() if any(isinstance(action, sub) for action in one._actions)
    }


def _expressions_in(value: object) -> Iterator[lazily._Regexp]:
    if type(value) is lazily._Regexp:
        yield value
    elif type(value) in (tuple, list, dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _expressions_in(one)


def test_an_expression_that_is_put_together_from_its_parts_is_the_one_that_was_compiled():
    """
    All that any module of ours has.
    """
    for module in pkgutil.walk_packages(nodeattrs.__path__, "nodeattrs."):
        if not module.name.endswith(("__main__", "pytest_plugin", "mcp")):
            importlib.import_module(module.name)
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "nodeattrs"]
    given = {one._given for module in ours for value in vars(module).values() for one in _expressions_in(value)}

    assert len(given) > 100
    for text, flags in given:
        whole, parts = re.compile(text, flags), _sre.compile(*starts._parts(text, flags))
        assert (whole, whole.groupindex, whole.groups) == (parts, parts.groupindex, parts.groups)
        for sample in ("", "a b", "role[web]", 'key: "value"\n- 1', "%{lookup('a')}", "10.0.0.1/8", "2026-01-01"):
            one = sample if isinstance(text, str) else sample.encode()
            assert whole.findall(one) == parts.findall(one)


def test_what_is_seldom_needed_is_read_when_it_is_asked_for(installed: Installed, desk: Path, tmp_path: Path):
    """
    A run that changes something needs what one that changes nothing has no use for; each says what it always said.
    """
    latest = max(file.stat().st_ctime for file in (desk / "repository").rglob("*"))
    time.sleep(max(0, latest + made_of._QUIET + 0.1 - time.time()))  # else nothing is certain, and all of it needed
    store = str(tmp_path / "seldom.db")
    words = f"run --repo repository --node web1 --facts repository/facts/web1.json -q --store {store}"
    for number, environment in enumerate(["production"] * 8 + ["staging", "production"]):
        came = installed.run(line=[*words.split(), "-E", environment], at=desk)
        assert (0, "") == (came.returncode, came.stderr)
        assert ("0 changed" in came.stdout) == (number in range(2, 8)), number

    read = installed.run("-v", str(installed.script), line=words.split(), at=desk).stderr
    assert not [one for one in read.splitlines() if one.startswith("# code object from") and "/nodeattrs/runs/" in one]
    seldom = {name for keys, _, _, names in _table(installed) if "run ?" in keys for name in names}
    always = {name for keys, items in _chunks(installed) if "run" in keys for name in items[0]}
    assert "nodeattrs.node.kept_causes" in seldom - always
    assert "nodeattrs.runs.session" in always - seldom


def _table(installed: Installed):
    content = installed.kept.read_bytes()
    start, length = len(starts._SIGN) + 8, int.from_bytes(content[len(starts._SIGN) :][:8], "little")
    return marshal.loads(content[start : start + length])[1]


def _chunks(installed: Installed):
    content = installed.kept.read_bytes()
    start = len(starts._SIGN) + 8 + int.from_bytes(content[len(starts._SIGN) :][:8], "little")
    return [(keys, marshal.loads(content[start + place :][:size])) for keys, place, size, _ in _table(installed)]

"""The mutants' runner in small: what it changes, what it notices and what it lets pass."""

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.mutants import cage, rooms, runner
from tests.mutants.changes import mutants

CODE = """\
def sign(number):
    if number < 0:
        return "-"
    return "+"


def spin(number):
    while number > 0:
        number -= 1
    return number


def alone():
    return 1
"""
TESTS = """\
from nodeattrs.core.fold import sign, spin


def test_below_nothing():
    assert ("-", "+") == (sign(-1), sign(1))


def test_it_ends():
    assert 0 == spin(3)
"""


@pytest.fixture
def house(tmp_path):
    """A checkout with one room of one file, and one test file."""
    for name, text in {
        "nodeattrs/__init__.py": "",
        "nodeattrs/core/__init__.py": "",
        "nodeattrs/core/fold.py": CODE,
        "tests/__init__.py": "",
        "tests/test_fold.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }.items():
        file = tmp_path / "checkout" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / "checkout", check=True)
    return tmp_path


def changed(source):
    return [one.after for one in mutants("f.py", f"def f(a, b):\n    {source}\n")]


class TestWhatIsChanged:
    @pytest.mark.parametrize(
        ("source", "others"),
        [
            ("return a < b", ["return (a <= b)", "return None"]),
            ("x = a in b and not a", ["x = (a in b or not a)", "x = (a not in b) and not a", "x = a in b and (a)"]),
            ("x = a if b else 1", ["x = (1 if b else a)", "x = a if b else 2"]),
            ("x = [c for c in a if c]", ["x = [c for c in a if (not (c))]"]),
            ("x = a + b", ["x = (a - b)"]),
            ('x = a + "s"', []),
            ("x = f'{a + 1}'", []),
            ("x: a | b = True", ["x: a | b = False"]),
            ("a.x = b", ["pass"]),
            ("a(b)", ["pass"]),
            ("raise a", ["pass"]),
            ("return False", ["return True"]),
        ],
    )
    def test_each_thing_by_itself(self, source, others):
        assert sorted(others) == sorted(changed(source))

    def test_what_is_made_is_python_and_something_else(self):
        file = "nodeattrs/core/fold.py"
        source = (runner.CHECKOUT / file).read_text()
        for one in mutants(file, source):
            assert ast.dump(ast.parse(source)) != ast.dump(ast.parse(one.source))

    def test_only_functions_with_a_name_in_their_place(self):
        method = "    def f(self):\n        def g():\n            return 3\n        return g\n"
        source = f"LIMIT = 1\nclass A:\n    size = 2\n{method}"

        assert [("A.f.<locals>.g", 6), ("A.f.<locals>.g", 6), ("A.f", 7)] == [
            (one.function, one.line) for one in mutants("f.py", source)
        ]


class TestWhoNotices:
    def test_what_a_test_sees_is_killed_and_the_rest_is_told(self, house, capsys, monkeypatch):
        """
        A boundary that nobody tries survives, and so does what no test runs; a loop without an end is ended.
        """
        monkeypatch.chdir(house)
        drawn = runner.pool(house / "checkout", ["core"])
        figures, survivors = runner.run(
            house / "checkout", house / "place", drawn, {}, {"core": ["tests/test_fold.py"]}
        )

        assert ["if (number <= 0):", "if number < 1:", "return None", "return 2"] == [one.after for one in survivors]
        assert len(drawn) - len(survivors) == figures["core"].killed
        assert "nodeattrs/core/fold.py:2 in sign" in capsys.readouterr().out
        assert CODE == (house / "checkout/nodeattrs/core/fold.py").read_text()
        assert CODE == (house / "place/copy/nodeattrs/core/fold.py").read_text()

    def test_what_means_the_same_counts_for_neither_side(self, house):
        first, *_ = runner.pool(house / "checkout", ["core"])
        tests = {"core": ["tests/test_fold.py"]}
        figures, survivors = runner.run(house / "checkout", house / "place", [first], {first.key: "why"}, tests)

        assert (0, 0, 1, []) == (*vars(figures["core"]).values(), survivors)

    def test_chance_draws_the_same_for_the_same_seed(self, house):
        def drawn(*words):
            return runner.drawn(house / "checkout", runner.options(["--room", "core", *words]), house / "none.json")

        assert drawn("--seed", "3") == drawn("--seed", "3") != drawn("--seed", "4")
        assert drawn("--seed", "3")[2:4] == drawn("--seed", "3", "--skip", "2", "--count", "2")
        assert [] == drawn("--again")


PROBE = """
import os, pathlib, sys
from tests.mutants import cage
place, checkout, outside = map(pathlib.Path, sys.argv[1:])
(place / "own").touch()
pathlib.Path("/tmp/own").touch()
written = [str(one) for one in (checkout, outside) if os.access(one, os.W_OK)]
print(cage.is_closed(checkout), [name for name in os.listdir("/proc") if name.isdigit()], written)
"""


class TestTheCage:
    """A change of code that ends processes, or removes files, finds those of others otherwise."""

    @pytest.fixture
    def place(self):
        """Not in /tmp, which is another one inside."""
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            yield Path(folder)

    def test_inside_there_is_nobody_else_and_nothing_else_to_write_to(self, place):
        program = [sys.executable, "-c", PROBE, str(place), str(runner.CHECKOUT), str(Path.home())]
        told = subprocess.run(
            cage.command(place, runner.CHECKOUT, program),
            env={**os.environ, cage.INSIDE: "1"},
            capture_output=True,
            text=True,
        )
        if told.returncode:
            pytest.skip(f"no world of its own can be made here: {told.stderr.strip()}")

        assert "True ['1'] []\n" == told.stdout
        assert ["own"] == [file.name for file in (place / "slash-tmp").iterdir()]

    def test_outside_nothing_is_run(self, monkeypatch):
        monkeypatch.setenv(cage.INSIDE, "1")
        monkeypatch.setattr(runner, "run", lambda *_: pytest.fail("it was run"))

        assert not cage.is_closed(runner.CHECKOUT)
        with pytest.raises(SystemExit, match="in a world of its own only"):
            runner.main(["--count", "1"])


class TestTheLists:
    def test_each_change_that_means_the_same_is_one_that_can_be_drawn(self):
        """
        The key is text, so moved lines stay known; a line that was rewritten must be judged anew.
        """
        known = {mutant.key for mutant in runner.pool(runner.CHECKOUT, rooms.ROOMS)}

        assert [] == [key for key in runner.equivalent() if key not in known]
        assert all(runner.equivalent().values())

    def test_each_test_file_is_there(self):
        named = {file for room in rooms.ROOMS for file in rooms.tests_of(room)}

        assert [] == [file for file in named if not (runner.CHECKOUT / file).exists()]

    def test_each_room_has_files(self):
        assert all(rooms.files_of(runner.CHECKOUT, room) for room in rooms.ROOMS)
        assert "adapters/hiera" == rooms.room_of("nodeattrs/adapters/hiera/deep.py")
        assert "" == rooms.room_of("nodeattrs/cli/show.py")

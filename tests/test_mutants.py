"""The mutants' runner in small: what it changes, what it notices and what it lets pass."""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.mutants import cage, runner
from tests.mutants.changes import mutants
from tests.mutants.record import Record

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
        before = ast.dump(ast.parse(source))
        for one in mutants(file, source):
            assert before != ast.dump(ast.parse(one.source))

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
        drawn = runner.pool(house / "checkout", ["nodeattrs/core/fold.py"])
        figures, survivors = runner.run(house / "checkout", house / "place", drawn, {})

        assert ["if (number <= 0):", "if number < 1:", "return None", "return 2"] == [one.after for one in survivors]
        assert len(drawn) - len(survivors) == figures["core"].killed
        assert "nodeattrs/core/fold.py:2 in sign" in capsys.readouterr().out
        assert CODE == (house / "checkout/nodeattrs/core/fold.py").read_text()
        assert CODE == (house / "place/copy/nodeattrs/core/fold.py").read_text()

    def test_what_means_the_same_counts_for_neither_side(self, house):
        first, *_ = runner.pool(house / "checkout", ["nodeattrs/core/fold.py"])
        figures, survivors = runner.run(house / "checkout", house / "place", [first], {first.key: "why"})

        assert (0, 0, 1, []) == (*vars(figures["core"]).values(), survivors)

    def test_the_quickest_tests_run_for_so_many_seconds_and_one_in_any_case(self):
        assert ["quick", "slow"] == runner.affordable({"slow": 4.0, "slower": 9.0, "quick": 1.0}, 10.0)
        assert ["long"] == runner.affordable({"long": 99.0}, 10.0)
        assert [] == runner.affordable({}, 10.0)

    def test_the_tests_of_a_line_are_those_that_execute_it_also_where_the_line_has_moved(self, house):
        file, copy = "nodeattrs/core/fold.py", house / "place/copy"
        runner.run(house / "checkout", house / "place", [], {})
        record = Record(copy)
        record.bring_up_to_date(["tests/test_fold.py"])

        def tests_of(text):
            found = {one.before: record.tests_for(one) for one in mutants(file, text)}
            return {line: [name.rpartition("::")[2] for name in tests] for line, tests in found.items()}

        before = tests_of(CODE)
        assert ["test_below_nothing"] == before['return "-"']
        assert ["test_it_ends"] == before["number -= 1"]
        assert [] == before["return 1"]
        (copy / file).write_text(f"LIMIT = 3\n\n\n{CODE}")
        assert before == tests_of(f"LIMIT = 3\n\n\n{CODE}")

    def test_a_test_file_that_cannot_be_run_is_named_and_not_used(self, house, capsys):
        (house / "checkout/tests/test_fold.py").write_text("from nodeattrs.core.fold import nobody\n")
        drawn = runner.pool(house / "checkout", ["nodeattrs/core/fold.py"])[:1]
        _, survivors = runner.run(house / "checkout", house / "place", drawn, {})

        assert drawn == survivors
        assert "not used, it does not pass here: tests/test_fold.py" in capsys.readouterr().err

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

    @pytest.mark.parametrize("where", ["/tmp", "/var/tmp"])
    def test_inside_there_is_nobody_else_and_nothing_else_to_write_to(self, tmp_path, where):
        """Wherever the checkout is, and the folder that may be written to."""
        with tempfile.TemporaryDirectory(dir=where) as folder:
            place, checkout = Path(folder, "place"), Path(folder, "check out")
            place.mkdir()
            shutil.copytree(runner.CHECKOUT / "tests" / "mutants", checkout / "tests" / "mutants")
            program = [sys.executable, "-c", PROBE, str(place), str(checkout), str(Path.home())]
            told = subprocess.run(
                cage.command(place, checkout, program),
                env={**os.environ, cage.INSIDE: "1"},
                capture_output=True,
                text=True,
            )
            if told.returncode:
                pytest.skip(f"no world of its own can be made here: {told.stderr.strip()}")

            assert "True ['1'] []\n" == told.stdout
            assert (place / "own").exists()
            assert (place / "slash-tmp" / "own").exists()

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
        same = runner.equivalent()
        known = {mutant.key for mutant in runner.pool(runner.CHECKOUT, {file for file, *_ in same})}

        assert [] == [key for key in same if key not in known]
        assert all(same.values())

"""Hostile trees in small: the generator, the judge with a stub for each verdict, and a folder full of modules."""

from __future__ import annotations

import importlib.metadata
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.effort import EFFORT, examples
from tests.hostile import judging
from tests.hostile.building import PROGRAM, build, prepare
from tests.hostile.commands import NOT_DRAWN, ROWS, Command, filled, leaves, order, schedule
from tests.hostile.draw import Draw
from tests.hostile.entries import File, Special, Tree, python
from tests.hostile.judging import judged
from tests.hostile.runner import Case, case, examined, main, smallest
from tests.hostile.surroundings import VARIABLE
from tests.hostile.trees import DIALECTS, drawn, valid

IN_NO_HELP = {"complete", "--version"}


class TestTheGenerator:
    def test_a_seed_always_gives_the_same_tree_and_command(self) -> None:
        for seed in range(40):
            assert case(seed) == case(seed)
        assert case(1).tree != case(1 + len(schedule())).tree

    def test_every_command_has_a_row_or_a_reason(self) -> None:
        assert {*leaves()} == ({*ROWS} - IN_NO_HELP) | {*NOT_DRAWN}

    def test_two_thousand_seeds_draw_each_command_twenty_times(self) -> None:
        names = schedule()
        drawn = Counter(names[seed % len(names)] for seed in range(2_000))

        assert {*drawn} == {*ROWS}
        assert min(drawn.values()) >= 20

    @pytest.mark.parametrize("name", sorted({*ROWS} - IN_NO_HELP))
    def test_each_line_of_a_row_is_one_that_the_command_understands(self, name: str) -> None:
        draw = Draw(random.Random(1), valid([*DIALECTS]))
        for line in ROWS[name].lines:
            leaves()[name].parse_args(filled(line, draw))

    def test_all_kinds_of_entries_and_quirks_are_drawn(self) -> None:
        trees = [drawn(random.Random(seed), []) for seed in range(300)]

        assert {type(one).__name__ for tree in trees for one in tree.entries.values()} == {
            "File",
            "Link",
            "Special",
            "Store",
        }
        assert {quirk for tree in trees for quirk in tree.quirks} == {"bomb", "missing", "submodule", "uncommitted"}
        assert {one.kind for tree in trees for one in tree.entries.values() if isinstance(one, Special)} == {
            "fifo",
            "socket",
            "null",
            "zero",
        }

    def test_nothing_is_written_through_a_link(self, tmp_path: Path) -> None:
        for seed in range(2):
            one = case(seed, "impact")
            top = tmp_path / str(seed)
            top.mkdir()
            build(one.tree, top, seed)

            assert len([*(top / "outer").rglob("*.json")]) == len([*(tmp_path / "0/outer").rglob("*.json")])
            assert not (top / "ran").exists()


OUTER = "open('../outer/data.yaml').read().split()[1]"
STUBS = {
    "ran evil": "open('../ran', 'w').write('evil\\n')",
    "printed outer/data.yaml": f"print({OUTER})",
    "printed outer/folder": "import glob; print(glob.glob('../outer/folder/MK*'))",
    "printed home/.ssh/id_rsa": "import os; print(open(os.path.expanduser('~/.ssh/id_rsa')).read()[:10])",
    "printed the environment": f"import os, sys; print(os.environ['{VARIABLE}'], file=sys.stderr)",
    "printed outer/data.json": "import base64; print(base64.b64encode(b'x' + open('../outer/data.json', 'rb').read()))",
    "printed /etc/passwd": "print('root:x:0:0:root:/root:/bin/bash')",
    "stored outer/data.yaml in repo/new": f"open('new', 'w').write({OUTER})",
    "stored outer/data.yaml in repo/z": f"import zlib; open('z', 'wb').write(zlib.compress({OUTER}.encode()))",
    "said 'Traceback (most recent call last)': KeyError": "{}['k']",
    "said 'a fault in nodeattrs itself:'": "print('error: a fault in nodeattrs itself: KeyError')",
    "said 'MemoryError'": "\ntry: bytes(3 << 30)\nexcept MemoryError: print('MemoryError')",
    "ended with 7": "raise SystemExit(7)",
    "was ended by SIGABRT": "import os; os.abort()",
    "took more than 1 s": "import time; time.sleep(60)",
    "ran late": "import os, time\nif not os.fork(): time.sleep(0.2); open('../ran', 'w').write('late\\n')",
    "wrote outer/new": "open('../outer/new', 'w')",
    "changed home/.gitconfig": "import os; open(os.path.expanduser('~/.gitconfig'), 'a').write('x')",
    "replaced repo/pipe, which is no file": "import os; os.unlink('pipe'); open('pipe', 'w')",
}
"""Fault -> what a program does that has it."""


class TestTheJudge:
    @pytest.fixture
    def top(self, tmp_path: Path) -> Path:
        build(Tree({"k.yaml": File("k: 1\n"), "pipe": Special("fifo")}), tmp_path, 1, git=False)
        return tmp_path

    def stub(self, code: str) -> list[str]:
        return [sys.executable, "-I", "-c", code]

    @pytest.mark.parametrize("fault", STUBS)
    def test_each_fault_is_told(self, top: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if fault.startswith("took"):
            monkeypatch.setattr(judging, "MOST_SECONDS", 1)
        faults = judged(Command(()), top, 1, self.stub(STUBS[fault]))

        assert len(faults) == 1
        assert faults[0].startswith(fault)

    def test_a_program_that_uses_its_processor_for_too_long_is_ended(
        self, top: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(judging.LIMITS, judging.resource.RLIMIT_CPU, 1)

        assert judged(Command(()), top, 1, self.stub("while True: pass")) == ["was ended by SIGXCPU"]

    @pytest.mark.parametrize("talk", ["lsp", "mcp", "web"])
    def test_a_server_that_does_not_answer_is_told(self, top: Path, talk: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(judging, "MOST_SECONDS", 1)
        (fault,) = judged(Command((), talk), top, 1, self.stub("import time; time.sleep(60)"))

        assert fault.startswith("did not answer within 1 s")

    def test_what_reads_and_writes_within_the_repository_has_no_fault(self, top: Path) -> None:
        code = "open('new.yaml', 'w').write(open('k.yaml').read()); print(open('k.yaml').read()); raise SystemExit(5)"

        assert judged(Command(()), top, 1, self.stub(code)) == []

    def test_a_smallest_tree_has_what_the_fault_needs_and_no_more(self) -> None:
        tree = Tree({name: File("x\n") for name in ("a", "b/c", "needed")}, late={"late": File("")})
        one = Case(1, "fold", tree, Command(()), git=False)
        code = "import os\nif os.path.exists('needed'): open('../ran', 'w').write('x\\n')"
        small = smallest(one, "ran x", self.stub(code))

        assert ([*small.entries], small.late) == (["needed"], {})


def test_hostile_trees_make_no_command_do_what_none_may() -> None:
    """Each seed that fails is repeated by `python -m tests.hostile --seed SEED --count 1`."""
    failed = {seed: faults for seed in range(1, 1 + examples(24, 6)) if (faults := examined(case(seed)))}

    assert failed == {}


def test_a_run_without_a_tree_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "0"]) == 1
    assert capsys.readouterr().out == "0 passed, 0 failed\n"


_ONE = "" if EFFORT >= 1 else " --dialect nodes"
"""Each dialect of `impact` starts processes of its own."""
MANY = (
    f"impact base..HEAD --no-run-code --jobs 2{_ONE}",
    f"what-if --set k=5 --no-run-code --jobs 2{_ONE}",
)[: 2 if EFFORT >= 1 else 1]
"""Both give their processes the same start, so that `make test` looks at those of one."""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of 20 nodes with a Python file for each module that could be imported."""
    prepare()
    top = tmp_path_factory.mktemp("modules")
    tree = valid([*DIALECTS], nodes=20)
    known = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions()}
    for name in sorted({*filter(str.isidentifier, known), "nodeattrs", "sitecustomize", "usercustomize"}):
        tree.put(f"{name}.py", python(f"{name}.py"))
    tree.late["roles/web.json"] = File('{"name": "web", "default_attributes": {"k": 9}, "run_list": []}')
    build(tree, top, 0)
    return top


IN_TURN = """
import contextlib
import json
import sys

from nodeattrs.cli import main

if __name__ == "__main__":
    for words in sys.argv[1:]:
        with contextlib.suppress(SystemExit):
            main(json.loads(words))
    print("all ran")
"""
"""A program that does as `nodeattrs` does, for one command line after the other."""
ALONE = ("impact", "what-if", *(name for name, row in ROWS.items() if row.talk))
"""Rows that get a process each: they start others, or are spoken to."""
IN_TIME = ALONE if EFFORT >= 1 else ALONE[2:]
"""Those of them that are run: impact and what-if are in `MANY`, and beside that only where there is time."""
TOGETHER = [name for name in ROWS if name not in ALONE]


@pytest.mark.parametrize("name", [*IN_TIME, *MANY])
def test_no_command_imports_a_module_from_the_folder_it_runs_in(
    modules: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Nor does any process that it starts. A busy machine gets more time by the clock; the processor's is limited."""
    monkeypatch.setattr(judging, "MOST_SECONDS", 12 * judging.MOST_SECONDS)
    drawn = Command(tuple(name.split())) if name in MANY else drawn_for(name)

    assert imported(Command(drawn.words, drawn.talk, ("check", "{}")), modules) == []


@pytest.mark.parametrize("names", [TOGETHER[at::4] for at in range(4)], ids=", ".join)
def test_none_of_several_commands_imports_a_module_from_the_folder_it_runs_in(
    modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    """What a process has not imported yet it would import from there for any of them."""
    monkeypatch.setattr(judging, "MOST_SECONDS", 8 * judging.MOST_SECONDS)
    (tmp_path / "in_turn.py").write_text(IN_TURN)
    words = tuple(json.dumps(drawn_for(name).words) for name in names)

    assert imported(Command(words), modules, [sys.executable, str(tmp_path / "in_turn.py")]) == []
    assert (modules / "stdout").read_text().endswith("all ran\n")


def test_a_command_that_is_ended_is_not_taken_for_one_that_imports_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(Tree({}), tmp_path, 0, git=False)
    monkeypatch.setattr(judging, "MOST_SECONDS", 1)

    assert imported(Command(()), tmp_path, [sys.executable, "-I", "-c", "import time; time.sleep(60)"]) != []


def drawn_for(name: str) -> Command:
    return order(name, random.Random(0), valid([*DIALECTS]))


def imported(command: Command, modules: Path, program: Sequence[str] = PROGRAM) -> list[str]:
    """The modules of the folder that ran; a command that was ended, or did not answer, may hide one."""
    faults = judged(command, modules, 0, program)
    (modules / "ran").unlink(missing_ok=True)
    return [fault for fault in faults if fault.startswith(("ran", "did not answer", "was ended", "took more"))]

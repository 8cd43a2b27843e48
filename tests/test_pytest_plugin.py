"""The fixture `converge` in somebody else's repository, as pytest itself runs it there."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def fence(language: str) -> str:
    """The first fence of the page in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    assert found is not None
    return found.group(1)


class Theirs:
    """A repository of somebody else, and its tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, text: str, *options: str) -> str:
        """What pytest prints of one file of tests; it runs in this process."""
        (self.folder / "tests" / "test_web.py").write_text(text, encoding="utf-8")
        words = ["-p", "nodeattrs.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:warnings", *options, "tests"]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            pytest.main(words)
        for name in ("test_web", "wiring"):
            sys.modules.pop(name, None)
        return printed.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs") / "chef"
    shutil.copytree(ROOT / "cookbooks_example", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


@pytest.fixture
def theirs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Theirs:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Theirs(folder)


def test_the_page_prints_what_it_promises(theirs: Theirs):
    printed = theirs.run(fence("python"))
    for line in fence("text").splitlines()[1:]:
        assert line.rstrip() in map(str.rstrip, printed.splitlines()) or line.startswith("E        +")


def test_a_passing_test_prints_no_explanation(theirs: Theirs):
    printed = theirs.run(fence("python").replace("== 8", "== 30"), "-q")
    assert "1 passed" in printed
    assert "explain" not in printed


def test_only_what_the_failing_statement_read_is_explained_and_of_a_loop_its_last_time(theirs: Theirs):
    printed = theirs.run("""
def test_it(converge):
    run = converge("role[web]", platform="debian-12", environment="production")
    assert run["platform"] == "debian"
    for path in ("apache2.dir", "app.workers", "app.port"):
        assert (
            run[path]
            != 30
        )
""")
    assert re.findall(r"nodeattrs explain (.*?) -", printed) == ["test app.workers"]


def test_two_reads_of_one_statement_are_both_explained(theirs: Theirs):
    printed = theirs.run("""
def workers(run):
    return run["app.workers"]

def test_it(converge):
    runs = converge.matrix("role[web]", platforms=["debian-12", "debian-13"], environment="production")
    assert runs["debian-12"]["platform_version"] == "12"
    assert (workers(runs["debian-12"]), runs["debian-13"]["platform_version"]) == (30, "12")
""")
    assert re.findall(r"nodeattrs explain (.*?) -", printed) == ["test app.workers", "test platform_version"]


def test_what_is_not_set_is_explained_too(theirs: Theirs):
    printed = theirs.run("""
def test_it(converge):
    assert converge("role[base]", platform="debian-12")["app.workers"]
""")
    assert "NoSuchAttribute: no attribute app.workers" in printed
    assert "app.workers is not set" in printed
    assert "roles/web.json:38" in printed
    assert "in read_strict" not in printed


def test_facts_and_normal_attributes_of_a_test_name_its_lines(theirs: Theirs):
    printed = theirs.run("""
def test_it(converge):
    run = converge("role[web]", platform="debian-12", facts={"memory": {"total": "8GB"}}, normal={"app": {"x": 1}})
    assert run["memory.total"] == "8GB"
    assert run["memory.free"] == "524288kB"
    assert "test_web.py:3" in run.explain("memory.total")
    assert "debian-12.json" in run.explain("memory.free")
    assert "test_web.py:3" in run.explain("app.x")
    assert run.get("app.y", 5) == 5
    assert "app.y" not in run
    assert run.node.name == "test"
    assert run.trace("app.x").value == 1
""", "-q")  # fmt: skip
    assert "1 passed" in printed


def test_a_node_of_the_repository_has_its_own_run_list_and_search_is_handed_in(theirs: Theirs):
    printed = theirs.run(
        """
def test_it(converge):
    run = converge(node="web1", platform="debian-12", search=lambda *_, **__: [])
    assert "web" in run.node["roles"]
    assert any("accounts" in line for line in run.log)
    assert run.catalog is run.run.catalog
""",
        "-q",
    )
    assert "1 passed" in printed


def test_the_repository_is_named_in_the_settings_of_pytest_or_found_above(theirs: Theirs):
    text = fence("python").replace("== 8", "== 30")
    outside = theirs.folder.parent
    (outside / "test_web.py").write_text(text, encoding="utf-8")
    words = ["-m", "pytest", "-p", "nodeattrs.pytest_plugin", "-q", "-p", "no:cacheprovider", "test_web.py"]
    for options, rootdir in (
        (["-o", "nodeattrs_repo=chef"], outside),
        ([f"--rootdir={theirs.folder / 'tests'}"], outside),
    ):
        done = subprocess.run(
            [sys.executable, *words, *options],
            cwd=rootdir,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        assert "1 passed" in done.stdout, done.stdout


def test_a_path_that_is_none_fails_the_test_and_nothing_else(theirs: Theirs):
    printed = theirs.run("""
def test_it(converge):
    run = converge("role[web]", platform="debian-12")
    assert "app..x" in run
""")
    assert "cannot read the path 'app..x'" in printed
    assert "INTERNALERROR" not in printed
    assert "1 failed" in printed


def test_an_unknown_platform_is_refused_with_what_there_is(theirs: Theirs):
    printed = theirs.run("""
def test_it(converge):
    converge("role[web]", platform="debain-12")
""")
    assert "there are no facts of a platform debain-12" in printed
    assert "did you mean debian-12" in printed


def test_the_injector_is_each_test_s_own_and_closed_after_it(theirs: Theirs):
    """
    Of the injector, or the function that makes it, that the settings name; the site of the repository without.
    """
    (theirs.folder / "wiring.py").write_text(
        """
from nodeattrs.bindings import Bindings, Injector

def made():
    yield ["new"]
    print("closed")

app = Bindings("app")
app.bind("made", list).to_factory(made)

def injector():
    return Injector([[app]])
""",
        encoding="utf-8",
    )
    text = """
import pytest

@pytest.mark.parametrize("turn", [1, 2])
def test_it(nodeattrs_injector, turn):
    found = nodeattrs_injector.inject("made")
    found.append(turn)
    assert found == ["new", turn]
    assert nodeattrs_injector.override({"made": ["other"]}).inject("made") == ["other"]
"""
    setting = ("-o", "pythonpath=.", "-o", "nodeattrs_injector=wiring:injector")
    printed = theirs.run(text, *setting, "-s")

    assert "2 passed" in printed
    assert printed.count("closed") == 2
    assert "an injector (" in theirs.run(text, "-o", "nodeattrs_injector=wiring:nobody", "-o", "pythonpath=.")


def test_until_a_fixture_is_used_the_plugin_imports_nothing_of_ours():
    words = (
        "import sys, nodeattrs.pytest_plugin; print(sorted(one for one in sys.modules if one.startswith('nodeattrs')))"
    )
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['nodeattrs', 'nodeattrs._lazy', 'nodeattrs._version', 'nodeattrs.pytest_plugin']"

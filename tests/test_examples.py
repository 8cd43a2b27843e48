"""Every example runs: the docstrings of the modules, and the fences of the pages.

A page is one session from its top to its end, as a reader pastes it. A fence
without prompts is not run, but it has to be Python.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in sorted((ROOT / "nodeattrs").rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]
PAGES = [file for file in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if file.exists()]

FENCE = re.compile(r"^[ ]*(?P<ticks>`{3,})(?P<language>[^`]*)$")


def fences(text: str) -> list[tuple[int, str]]:
    """The Python fences of a page: the number of lines before the code, and the code."""
    found: list[tuple[int, str]] = []
    opened = language = ""
    start = 0
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line.rstrip())
        if fence is None:
            continue
        if not opened:
            opened, language, start = fence["ticks"], fence["language"].strip(), number
        elif fence["ticks"] == opened and not fence["language"].strip():
            if language in ("python", "pycon"):
                found.append((start, "".join(lines[start : number - 1])))
            opened = ""
    return found


def session(text: str) -> str:
    """A page with all but its sessions made blank, so that line numbers still hold."""
    lines = [""] * (text.count("\n") + 1)
    for start, code in fences(text):
        if ">>> " in code:
            lines[start : start + code.count("\n")] = code.splitlines()
    return "\n".join(lines)


def examples_of(module: ModuleType) -> list[doctest.DocTest]:
    """The examples of a module. doctest takes decorated functions for another module's, so they are unwrapped."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = finder.find(module)
    classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    for owner in (module, *classes):
        for name, value in vars(owner).items():
            inner = inspect.unwrap(value) if callable(value) else value
            if inner is not value and inner.__module__ == module.__name__:
                found += finder.find(inner, f"{owner.__name__}.{name}", module)
    return found


def faults(examples: list[doctest.DocTest]) -> str:
    """What the examples print that they do not promise; nothing where all is well."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report: list[str] = []
    for example in examples:
        runner.run(example, out=report.append)
    return "".join(report)


def page_faults(text: str, name: str) -> str:
    page = doctest.DocTestParser().get_doctest(session(text), {"__name__": "__main__"}, name, name, 0)
    return faults([page])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, with the example repository in reach."""
    (tmp_path / "cookbooks_example").symlink_to(ROOT / "cookbooks_example")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("desk")
class TestExamples:
    @pytest.mark.parametrize("module", MODULES)
    def test_docstrings_print_what_they_promise(self, module: str):
        """
        Each `>>>` in a docstring of the package.
        """
        report = faults(examples_of(importlib.import_module(module)))

        assert not report, report

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
    def test_sessions_on_a_page_print_what_they_promise(self, page: Path):
        """
        Each `>>>` in a Python fence of a page, in one namespace.
        """
        report = page_faults(page.read_text(encoding="utf-8"), page.name)

        assert not report, report

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
    def test_fences_without_prompts_are_python(self, page: Path):
        """
        A sample that cannot run alone can at least be compiled.
        """
        for start, code in fences(page.read_text(encoding="utf-8")):
            if ">>> " not in code:
                compile("\n" * start + code, str(page), "exec")

    def test_the_readme_has_a_session_to_paste(self):
        """
        The face of the project shows what it does before it says so.
        """
        assert ">>> " in session((ROOT / "README.md").read_text(encoding="utf-8"))


class TestTheReader:
    """What runs the pages is judged on small ones."""

    def test_a_broken_promise_is_found_at_its_line(self):
        """
        The report names the page and the line of the example.
        """
        report = page_faults("Now:\n\n```python\n>>> 1 + 1\n3\n```\n", "sums.md")

        assert 'File "sums.md", line 4' in report
        assert "Expected:\n    3\nGot:\n    2" in report

    def test_later_fences_know_the_earlier_ones(self):
        """
        What was named at the top of a page is known at its end.
        """
        assert "" == page_faults("```python\n>>> a = 1\n```\nand\n```pycon\n>>> a\n1\n```\n", "names.md")

    def test_other_languages_and_prose_are_left_alone(self):
        """
        Only Python fences run: not a shell's, not one shown inside a longer one, not an indented quote.
        """
        text = "```sh\n>>> ls\n```\n````md\n```python\n>>> 1 / 0\n```\n````\n    >>> 2 / 0\n"

        assert "" == session(text).strip()

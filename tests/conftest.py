"""What all tests share: no property test is failed for being slow, and Ctrl-C works.

On CI Hypothesis starts from its own profile there (the same examples each time);
this one only takes the clock away, and tries as many as `effort` says.

A shell that starts the tests in the background has them ignore SIGINT, and their
children with them; the tests of Ctrl-C need the signal as a terminal gives it.
"""

import gc
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.effort import examples

settings.register_profile("house", deadline=None, max_examples=examples())
settings.load_profile("house")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def without_regex(monkeypatch: pytest.MonkeyPatch):
    """As if the package `regex` were not installed; nothing that was made with it is remembered, here or after."""
    from nodeattrs.dialects.hiera import strategies, types
    from nodeattrs.formats import patterns
    from nodeattrs.puppet import regex

    kept = (patterns.regex_expression, regex.translated, types.parse_type, strategies._prefix_pattern)
    monkeypatch.setitem(sys.modules, "regex", None)
    for one in kept:
        one.cache_clear()
    yield
    for one in kept:
        one.cache_clear()


@pytest.fixture
def in_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Write files into an empty folder, and run a command there: (files, words) -> code, output, errors."""
    from nodeattrs.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def called(files: dict[str, str], *words: str) -> tuple[int, str, str]:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        capsys.readouterr()
        code = main([*words])
        return code, *capsys.readouterr()

    return called


@pytest.fixture(autouse=True)
def limit_of_recursion():
    """Python's own: a library that builds the site raises it for the whole process."""
    sys.setrecursionlimit(1_000)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collection makes no garbage, and looks for none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is there before the first test stays: no full collection looks through thousands of tests and modules.

    Tests make many objects and few rings of them, so that garbage is looked for less often than Python would.
    """
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)

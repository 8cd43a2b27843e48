"""Which tests execute which line: asked of coverage.py once for each test file, and kept between runs.

A test file is recorded again when its own text changes. When the code changes, its lines are found by their text.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.mutants import processes
from tests.mutants.changes import Mutant

LOOK_SECONDS = 60
"""How long the tests of one file are recorded. Those that come later are not used."""


class Recording:
    """A pytest plugin: notes the lines that each test executes, and its seconds. Importing has no test's name."""

    def __init__(self, copy: Path, file: Path) -> None:
        self._file = file
        self._coverage = coverage.Coverage(
            data_file=str(file.with_suffix(".lines")), config_file=False, include=[f"{copy}/nodeattrs/*"]
        )
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._end = time.monotonic() + LOOK_SECONDS

    def pytest_sessionstart(self) -> None:
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.stop()  # a start looks at every line anew, also where another test has taken the tracer away
        self._coverage.start()
        self._coverage.switch_context(item.nodeid)
        began = time.monotonic()
        outcome = yield
        self._seconds[item.nodeid] = round(time.monotonic() - began, 4)
        if time.monotonic() > self._end:
            item.session.shouldstop = f"recorded for {LOOK_SECONDS} seconds"
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        seconds = {name: one for name, one in self._seconds.items() if name not in self._failed}
        self._file.write_text(json.dumps({"seconds": seconds, "failed": sorted(self._failed)}))


class Record:
    """The tests that execute a line of the copy, with their seconds."""

    def __init__(self, copy: Path) -> None:
        self._copy, self._folder = copy, copy.parent / "record"
        (self._folder / "texts").mkdir(parents=True, exist_ok=True)
        self._files: dict[str, dict[str, Any]] = {}

    def bring_up_to_date(self, files: list[str]) -> None:
        """Record the test files whose text is new. One that cannot be run has no tests."""
        for file in files:
            kept = self._folder / f"{file.replace('/', '.')}.json"
            digest = self._digest(file)
            told = json.loads(kept.read_text()) if kept.exists() else {}
            if told.get("digest") != digest:
                told = {**self._recorded(file, kept), "digest": digest}
                kept.write_text(json.dumps(told))
            self._files[str(kept.with_suffix(".lines"))] = told

    def _recorded(self, file: str, kept: Path) -> dict[str, Any]:
        for old in (kept, kept.with_suffix(".lines")):
            old.unlink(missing_ok=True)
        processes.run_tests(self._copy, [file], Recording(self._copy, kept), compiles=True)
        told = json.loads(kept.read_text()) if kept.exists() else {"seconds": {}, "failed": [file]}
        told["texts"] = {}
        for name in self._lines(kept.with_suffix(".lines")).measured_files():
            source = str(Path(name).relative_to(self._copy))
            told["texts"][source] = self._digest(source)
            (self._folder / "texts" / told["texts"][source]).write_bytes(Path(name).read_bytes())
        print(f"{file}: {len(told['seconds'])} tests, {sum(told['seconds'].values()):.1f} s", file=sys.stderr)
        for name in told["failed"]:
            print(f"  not used, it does not pass here: {name}", file=sys.stderr, flush=True)
        return told

    def _digest(self, file: str) -> str:
        return hashlib.sha256((self._copy / file).read_bytes()).hexdigest()[:16]

    def _lines(self, file: Path | str) -> coverage.CoverageData:
        data = coverage.CoverageData(str(file))
        data.read()
        return data

    def tests_for(self, mutant: Mutant) -> dict[str, float]:
        """The tests that execute the line of a change.

        Where importing executes it, or it keeps its answers: all that execute something of its file.
        """
        found: dict[str, float] = {}
        for file, told in self._files.items():
            if mutant.file not in told["texts"]:
                continue
            lines = self._lines(file).contexts_by_lineno(str(self._copy / mutant.file))
            names = lines.get(self._line_then(told["texts"][mutant.file], mutant.file, mutant.line), [])
            if mutant.cached or "" in names:
                names = [name for line in lines.values() for name in line]
            found.update({name: told["seconds"][name] for name in names if name in told["seconds"]})
        return found

    @cache  # noqa: B019 - there is one record in a process
    def _line_then(self, digest: str, file: str, line: int) -> int:
        """The number that a line had in an older text of its file; of a new line that of the one above."""
        then, now = (one.read_text().splitlines() for one in (self._folder / "texts" / digest, self._copy / file))
        blocks = difflib.SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks()
        old, new, size = max((block for block in blocks if block.b < line and block.size), key=lambda one: one.b)
        return old + min(line - new, size)

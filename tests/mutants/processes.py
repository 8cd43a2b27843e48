"""pytest in a process of its own, forked from one that has read the libraries and nothing of the code under test.

`Watching` notes which functions each test runs; `Judging` runs chosen tests, the quickest first, each for so long only.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType

import pytest
from hypothesis import HealthCheck, Phase, settings

LIBRARIES = (
    "email.message hypothesis.strategies jinja2 jsonpatch jsonschema lark multiprocessing psycopg "
    "sqlite3 xdist yaml _pytest.assertion.rewrite"
)
OURS = ("nodeattrs", "tests")
SURVIVED, NOTHING_RUN = 0, 5
OUT_OF_TIME = -signal.SIGPROF
WORDS = (
    *("-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", "--hypothesis-profile=mutants"),
    # Our own plugin would load code before it is watched. The tests of the plugin name it to a pytest of their own.
    *("-p", "no:nodeattrs.pytest_plugin"),
)


def prepare() -> None:
    """Read once what every process needs."""
    for name in LIBRARIES.split():
        try:
            __import__(name)
        except ImportError:  # an extra that is not there; its tests say so
            continue
    settings.register_profile(
        "mutants",
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def run_tests(copy: Path, files: list[str], plugin: object, compiles: bool = False) -> int:
    """The exit code of pytest on *files* of a copy; negative: the signal that ended it. What it said is in `log`."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        try:
            _become(copy, compiles)
            code = int(pytest.main([*WORDS, f"--basetemp={copy.parent / 'tmp'}", *files], plugins=[plugin]))
        except BaseException:
            code = 99
        os._exit(code)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        _end_group(child)
    return os.waitstatus_to_exitcode(status)


def _end_group(leader: int) -> None:
    """The processes that its tests have left."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _become(copy: Path, compiles: bool) -> None:
    os.setsid()
    gc.freeze()  # what was there before the fork is nothing that a test may be charged for looking through
    log = os.open(copy.parent / "log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(log, stream)
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    os.chdir(copy)
    sys.path[:] = [str(copy), *(one for one in sys.path if one and not (Path(one) / "nodeattrs").is_dir())]
    os.environ["PYTHONPATH"] = str(copy)
    if not compiles:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


LOOK_SECONDS = 60
"""How long the tests of one file are watched. Those that come later are not used."""


class Watching:
    """Notes of each test that passes its seconds (of a processor), and the functions it runs; so of importing."""

    def __init__(self, copy: Path, answer: Path) -> None:
        self._package, self._answer = f"{copy}/", answer
        self._seen: set[CodeType] = set()
        self._tests: dict[str, tuple[float, list[str]]] = {}
        self._failed: list[str] = []
        self._imported: list[str] = []
        self._end = time.monotonic() + LOOK_SECONDS

    def pytest_sessionstart(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, _event: str, _argument: object) -> None:
        self._seen.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen.clear()
        began = time.process_time()
        sys.settrace(self._called)
        outcome = yield
        self._tests[item.nodeid] = (round(time.process_time() - began, 4), self._functions())
        if time.monotonic() > self._end:
            item.session.shouldstop = f"watched for {LOOK_SECONDS} seconds"
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._failed.append(report.nodeid)

    def pytest_collection_finish(self) -> None:
        self._imported = self._functions()

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        tests = {name: told for name, told in self._tests.items() if name not in self._failed}
        self._answer.write_text(json.dumps({"imported": self._imported, "tests": tests, "failed": self._failed}))

    def _functions(self) -> list[str]:
        start = len(self._package)
        return sorted(
            f"{code.co_filename[start:]}::{code.co_qualname}"
            for code in list(self._seen)  # which is watched itself
            if code.co_filename.startswith(self._package) and code.co_filename.startswith("nodeattrs/", start)
        )


class Judging:
    """Runs the chosen tests, the quickest first, and ends the process where one takes many times its seconds.

    chosen: name of a test -> its seconds where nothing is changed
    """

    def __init__(self, chosen: Mapping[str, float]) -> None:
        self._chosen = chosen

    def pytest_sessionstart(self) -> None:
        _limit(10)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._chosen), key=lambda item: self._chosen[item.nodeid]
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        _limit(self._chosen[item.nodeid])


def _limit(seconds: float) -> None:
    """End this process once it has worked ten times as long, or waited for a hundred times as long."""
    for signal_, timer, limit in (
        (signal.SIGPROF, signal.ITIMER_PROF, 1 + 10 * seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, 30 + 100 * seconds),
    ):
        signal.signal(signal_, signal.SIG_DFL)
        signal.setitimer(timer, limit)

"""pytest in a process of its own, forked from one that has read the libraries and nothing of the code under test.

`Judging` runs chosen tests, each for so long only.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.effort import examples

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
        max_examples=examples(),
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


class Judging:
    """Runs the chosen tests, and ends the process where one takes many times its seconds.

    chosen: name of a test -> its seconds where nothing is changed
    """

    def __init__(self, chosen: Mapping[str, float]) -> None:
        self._chosen = chosen

    def pytest_sessionstart(self) -> None:
        _limit(10)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._chosen]

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

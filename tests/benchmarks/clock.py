"""Processor time of a piece of work: in turns with what it is compared to, the best of several rounds.

Processor time, since other programs may share the machine. In turns, so that a slow
minute hits both sides of a ratio. The best, since whatever disturbs a round makes it
slower. The garbage collector runs before each round and is off within it, as in timeit:
for both sides alike, since its turns depend on what else is alive in the process.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

Work = Callable[[int], object]
"""Does a thing so many times."""

ROUND_SECONDS = 0.1
"""A round repeats its work until it takes about this long."""


def seconds_each(*works: Work, rounds: int = 7) -> list[float]:
    """The processor seconds that one repetition of each work takes, best of some rounds, in turns."""
    times = [_times(work) for work in works]
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for index, work in enumerate(works):
            best[index] = min(best[index], _seconds(work, times[index]) / times[index])
    return best


def once(work: Callable[[], object]) -> Work:
    """A work that a call does once, to be repeated as one."""

    def repeated(times: int) -> None:
        for _ in range(times):
            work()

    return repeated


def _seconds(work: Work, times: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work(times)
        return time.process_time() - start
    finally:
        gc.enable()


def _times(work: Work) -> int:
    times = 1
    while (spent := _seconds(work, times)) < ROUND_SECONDS / 4:
        times *= 4
    return max(1, round(times * ROUND_SECONDS / spent))


def seconds_of_python(
    *programs: Sequence[str], rounds: int = 20, python: str = sys.executable, folder: os.PathLike[str] | str = os.curdir
) -> list[float]:
    """The processor seconds, user and system, of fresh interpreters with these arguments: least of many, in turns.

    With bytecode, as an installed package has it, also where the environment says that none is written.
    """
    best = [float("inf")] * len(programs)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as cache:
        environment["PYTHONPYCACHEPREFIX"] = cache
        for _ in range(rounds + 1):  # one more: the first has to write bytecode
            for index, arguments in enumerate(programs):
                child = subprocess.Popen([python, *arguments], stdout=subprocess.DEVNULL, env=environment, cwd=folder)
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                if child.returncode != 0:
                    raise RuntimeError(f"python {' '.join(arguments)} ended with {child.returncode}")
                best[index] = min(best[index], used.ru_utime + used.ru_stime)
    return best

"""Every target in a process of its own that may die, and the figures."""

from __future__ import annotations

import argparse
import json
import mmap
import multiprocessing
import os
import random
import signal
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from tests.fuzz.judging import Failed, guarded, judged, shrunk
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

__all__ = ["Figures", "main", "run"]

GoesOn = Callable[[int], bool]

_FORK = multiprocessing.get_context("fork")
_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where targets write: in memory, where that can be; inputs are small, and disks slow."""
_LEAST = 20
"""Inputs that each target gets, however slow it is."""
_TOLD = 20
"""Seeds of one kind of failure that are written out."""


@dataclass
class Figures:
    """What a run of one target came to.

    failed:   kind of failure -> the seeds of its inputs
    smallest: kind of failure -> what it says, and an input made small
    """

    target: str
    inputs: int = 0
    accepted: int = 0
    failed: dict[str, list[int]] = field(default_factory=dict)
    smallest: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """How many inputs failed."""
        return sum(map(len, self.failed.values()))

    def __str__(self) -> str:
        return f"{self.target:22} {self.inputs:9} inputs {self.accepted:9} accepted {self.share:6.1%}"

    @property
    def share(self) -> float:
        """Of the inputs, how many the parser accepted."""
        return self.accepted / max(1, self.inputs)

    def lines(self) -> Iterator[str]:
        """Each kind of failure with its seeds and a smallest input."""
        for kind, seeds in self.failed.items():
            message, text = self.smallest[kind]
            shown = ", ".join(map(str, seeds[:_TOLD])) + (", …" if len(seeds) > _TOLD else "")
            yield f"FAILED {self.target} seed {shown}: {message!r} | {json.dumps(text)}"


class _Board:
    """Numbers that outlive a process: the seed it is at, inputs and accepted ones."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 24)

    def write(self, *numbers: int) -> None:
        self._shared[:24] = struct.pack("3q", *numbers)

    def read(self) -> tuple[int, ...]:
        return struct.unpack("3q", self._shared[:24])


def made(target: Target, seed: int) -> str:
    """The input of a seed."""
    return target.grow(random.Random(f"{target.name} {seed}"))


def run(target: Target, seed: int, goes_on: GoesOn) -> Figures:
    """The figures of a target, from the input of *seed* on.

    goes_on: asked with the number of inputs so far, in the process that reads them
    """
    figures = Figures(target.name)
    board = _Board()
    board.write(seed, 0, 0)
    with tempfile.TemporaryDirectory(prefix="fuzz", dir=_FOLDER) as folder:
        while goes_on(figures.inputs):
            ended = _worked(target, board, goes_on, figures, folder)
            at, figures.inputs, figures.accepted = board.read()
            if ended == 0:
                break
            _note(figures, at, f"the process ended with {ended}", made(target, at))
            figures.inputs += 1
            board.write(at + 1, figures.inputs, figures.accepted)
    return figures


def _worked(target: Target, board: _Board, goes_on: GoesOn, figures: Figures, folder: str) -> int | str:
    """One process, until it is done or dies: 0, or how it ended."""
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_work, args=(target, board, goes_on, theirs, list(figures.failed), folder))
    process.start()
    theirs.close()
    while True:
        try:
            seed, kind, message, text = ours.recv()
        except EOFError:
            break
        _note(figures, seed, kind, text, message)
    process.join()
    code = process.exitcode or 0
    return signal.Signals(-code).name if code < 0 else code


def _note(figures: Figures, seed: int, kind: str, text: str, message: str = "") -> None:
    figures.failed.setdefault(kind, []).append(seed)
    figures.smallest.setdefault(kind, (message or kind, text))


def _work(target: Target, board: _Board, goes_on: GoesOn, pipe: Connection, known: Sequence[str], folder: str) -> None:
    os.chdir(folder)
    os.environ["XDG_CONFIG_HOME"] = f"{folder}/config"  # a drawn `nodeattrs trust` is not one of the user
    guarded()
    seen = Counter(known)
    seed, inputs, accepted = board.read()
    while goes_on(inputs):
        board.write(seed, inputs, accepted)
        text = made(target, seed)
        try:
            accepted += judged(target, text)
        except Failed as failed:
            accepted += failed.accepted
            small = text if seen[failed.kind] else shrunk(target, text, failed.kind)
            seen[failed.kind] += 1
            pipe.send((seed, failed.kind, str(failed), small))
        seed, inputs = seed + 1, inputs + 1
    board.write(seed, inputs, accepted)


def main(words: Sequence[str]) -> int:
    """The command line. return: 0 if nothing failed, and something was read"""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Odd inputs for every reader.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"some of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--seconds", type=float, help="for all targets, each as long (default: 60)")
    parser.add_argument("--count", type=int, help="inputs for each target; with --seconds at least so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first input (default: 1)")
    options = parser.parse_args(words)
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(TARGETS)}")
    names = options.targets or list(TARGETS)
    seconds = None if options.seconds is None and options.count is not None else (options.seconds or 60) / len(names)
    passed = failed = 0
    for name in names:
        figures = run(TARGETS[name], options.seed, _until(options.count, seconds))
        print(figures, *figures.lines(), sep="\n", flush=True)
        passed += figures.inputs - figures.failures
        failed += figures.failures
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _until(count: int | None, seconds: float | None) -> GoesOn:
    """For so many inputs and so many seconds, which begin when the target does; for `_LEAST` inputs in any case."""
    least = _LEAST if count is None else count
    end = None if seconds is None else time.monotonic() + seconds
    return lambda inputs: inputs < least or (end is not None and time.monotonic() < end)

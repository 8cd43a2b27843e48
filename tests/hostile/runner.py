"""Many seeds judged, what failed made small, and the figures."""

from __future__ import annotations

import argparse
import itertools
import random
import shlex
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.building import PROGRAM, build, prepare
from tests.hostile.commands import ROWS, Command, order, schedule
from tests.hostile.entries import File, Link, Tree
from tests.hostile.judging import judged
from tests.hostile.trees import drawn

__all__ = ["Case", "case", "examined", "main", "smallest"]

_MOST_TRIES = 120


@dataclass(frozen=True)
class Case:
    """What is drawn for a seed. git: whether the repository has commits"""

    seed: int
    name: str
    tree: Tree
    command: Command
    git: bool


def case(seed: int, only: str = "") -> Case:
    """The tree and the command of a seed. only: of the commands whose names begin so"""
    names = schedule(only)
    name = names[seed % len(names)]
    chance = random.Random(f"hostile {seed} {name}")
    tree = drawn(chance, ROWS[name].dialects)
    command = order(name, chance, tree)
    return Case(seed, name, tree, command, ROWS[name].git or chance.random() < 0.2)


def examined(one: Case, tree: Tree | None = None, program: Sequence[str] = PROGRAM) -> list[str]:
    """What the command of a case did amiss. tree: another one than its own"""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder:
        top = Path(folder).resolve()
        build(tree or one.tree, top, one.seed, one.git)
        return judged(one.command, top, one.seed, program)


def _twice(one: Case) -> list[str]:
    """As `examined`; what took too long is asked again, since the machine may have been busy."""
    faults = examined(one)
    return examined(one) if any(" s" in fault for fault in faults) else faults


def smallest(one: Case, fault: str, program: Sequence[str] = PROGRAM) -> Tree:
    """A smaller tree with which the command does the same."""
    tree, tries = one.tree, 0
    found = True
    while found:
        found = False
        for less in tree.smaller():
            tries += 1
            if tries > _MOST_TRIES:
                return tree
            if fault in examined(one, less, program):
                tree, found = less, True
                break
    return tree


def script(tree: Tree, command: Command) -> Iterator[str]:
    """The lines of a shell script that makes a tree in `repo` and runs the command there."""
    yield "mkdir repo; cd repo; TOP=$(dirname $PWD)"
    for stage, entries in (("", tree.base), ("git commit", tree.entries), ("git commit", tree.late)):
        yield from [f"# {stage}"] if stage and entries else []
        for name, entry in entries.items():
            if isinstance(entry, File):
                yield f"printf %s {shlex.quote(entry.text)[:1000]} >{shlex.quote(name)}"
            elif isinstance(entry, Link):
                yield f"ln -s {shlex.quote(entry.target)} {shlex.quote(name)}"
            else:
                yield f"# {entry.kind}: {name}"
    yield from (f"# git: {quirk}" for quirk in sorted(tree.quirks))
    yield f"nodeattrs {shlex.join(command.words)}" + (f"  # asked {' '.join(command.asked)}" if command.talk else "")


def main(words: Sequence[str]) -> int:
    """The command line. return: 0 if nothing failed, and something ran"""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Hostile trees, a command in each.")
    parser.add_argument("--count", type=int, help="trees (default: 100)")
    parser.add_argument("--seconds", type=float, help="for so long, instead")
    parser.add_argument("--seed", type=int, default=1, help="of the first tree (default: 1)")
    parser.add_argument("--command", default="", help="of the commands whose names begin so (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="at the same time (default: 2)")
    parser.add_argument("--small", action="store_true", help="print a smallest tree of each kind of failure")
    options = parser.parse_args(words)
    if not schedule(options.command):
        parser.error(f"there is no command {options.command}; there are {', '.join(ROWS)}")
    prepare()
    end = time.monotonic() + (float("inf") if options.seconds is None else options.seconds)
    count = options.count or (100 if options.seconds is None else None)
    cases = (case(options.seed + number, options.command) for number in itertools.islice(itertools.count(), count))
    passed = failed = 0
    kinds = Counter[str]()
    with ThreadPoolExecutor(options.jobs) as pool:
        while time.monotonic() < end and (batch := [*itertools.islice(cases, options.jobs * 4)]):
            for one, faults in zip(batch, pool.map(_twice, batch), strict=True):
                passed, failed = passed + (not faults), failed + bool(faults)
                if faults:
                    _tell(one, faults, options, kinds)
    for kind, often in kinds.most_common():
        print(f"  {often} times {kind}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _tell(one: Case, faults: Sequence[str], options: argparse.Namespace, kinds: Counter[str]) -> None:
    only = f" --command {shlex.quote(options.command)}" if options.command else ""
    again = f"python -m tests.hostile --seed {one.seed} --count 1{only} --small"
    print(f"FAILED {one.seed}: {'; '.join(faults)}\n  nodeattrs {shlex.join(one.command.words)}\n  {again}", flush=True)
    for fault in faults:
        kind = f"{one.name}: {fault}"
        if options.small and kind not in kinds:
            print(*(f"    {line}" for line in script(smallest(one, fault), one.command)), sep="\n", flush=True)
        kinds[kind] += 1

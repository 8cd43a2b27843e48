"""Draws changes, has each judged, and tells what nobody noticed."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import hashlib
import itertools
import json
import os
import random
import signal
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests import mutants as package
from tests import postgresql_server
from tests.mutants import cage, copies, processes
from tests.mutants.changes import Mutant, mutants
from tests.mutants.rooms import Tests, files_of, in_rooms, room_of, rooms_of

CHECKOUT = Path(__file__).parents[2]
EQUIVALENT = Path(package.__file__).with_name("equivalent.toml")

SERVED = "tests.postgresql_server"
"""What a test file imports that asks a PostgreSQL server."""

MOST_FILES = 12
"""Test files that are looked at for one change, the nearest first."""

Key = tuple[str, str, str, str]


def equivalent(file: Path = EQUIVALENT) -> dict[Key, str]:
    """The changes that mean the same, with the reason of each."""
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", [])
    return {(row["file"], row["in"], row["before"], row["after"]): row["reason"] for row in rows}


def pool(checkout: Path, files: Iterable[str]) -> list[Mutant]:
    """Every change of the files."""
    return [mutant for file in files for mutant in mutants(file, (checkout / file).read_text(encoding="utf-8"))]


class Reach:
    """Which tests run which function: found by running a file, and remembered until it or what it runs changes."""

    def __init__(self, copy: Path) -> None:
        self._copy, self._file = copy, copy.parent / "tests.json"
        self._known = json.loads(self._file.read_text()) if self._file.exists() else {}

    def look(self, file: str) -> None:
        """Run a test file, unless neither it nor the code it runs has changed. One that cannot be run has no tests."""
        known = self._known.get(file)
        if known is not None and known["digest"] == self._digest(file, known):
            return
        answer = self._copy.parent / "answer.json"
        answer.unlink(missing_ok=True)
        processes.run_tests(self._copy, [file], processes.Watching(self._copy, answer), compiles=True)
        told = json.loads(answer.read_text()) if answer.exists() else {"imported": [], "tests": {}, "failed": [file]}
        self._known[file] = {**told, "digest": self._digest(file, told)}
        _say(f"{file}: {len(told['tests'])} tests, {sum(one[0] for one in told['tests'].values()):.1f} s")
        for name in told["failed"]:
            _say(f"  not used, it does not pass here: {name}")
        self._file.write_text(json.dumps(self._known))

    def _digest(self, file: str, known: Mapping[str, Any]) -> str:
        functions = itertools.chain(known["imported"], *(functions for _, functions in known["tests"].values()))
        whole = hashlib.sha256()
        for name in sorted({file, *(function.partition("::")[0] for function in functions)}):
            source = self._copy / name
            whole.update(source.read_bytes() if source.exists() else b"")
        return whole.hexdigest()

    def tests_of(self, file: str) -> dict[str, float]:
        """The tests of a file, with their seconds."""
        return {name: seconds for name, (seconds, _) in self._known[file]["tests"].items()}

    def tests_for(self, mutant: Mutant, file: str) -> dict[str, float]:
        """The tests of a file that run the function of a change, with their seconds.

        Where importing runs it, or it keeps its answers: all that run something of its file.
        """
        function = f"{mutant.file}::{mutant.function}"
        known = self._known[file]
        wide = mutant.cached or function in known["imported"]
        return {
            name: seconds
            for name, (seconds, functions) in known["tests"].items()
            if function in functions or (wide and any(one.startswith(f"{mutant.file}::") for one in functions))
        }


@dataclasses.dataclass
class Figures:
    """Of one room, or of all."""

    killed: int = 0
    survived: int = 0
    equivalent: int = 0

    def __str__(self) -> str:
        return f"{self.killed} killed, {self.survived} survived, {self.equivalent} equivalent"


class Bound:
    """How many tests may still be run for one change, and for how many seconds."""

    def __init__(self, tests: int, seconds: float) -> None:
        self.tests, self.seconds = tests, seconds
        self.taken = 0

    def take(self, chosen: Mapping[str, float]) -> dict[str, float]:
        """The quickest of the tests, as many as are left. The first one is taken however long it takes."""
        found: dict[str, float] = {}
        for name in sorted(chosen, key=lambda one: chosen[one]):
            if self.is_used_up or (self.taken and chosen[name] > self.seconds):
                break
            found[name] = chosen[name]
            self.taken += 1
            self.seconds -= chosen[name]
        return found

    @property
    def is_used_up(self) -> bool:
        return self.taken >= self.tests or self.seconds <= 0


def judged(copy: Path, mutant: Mutant, chosen: Mapping[str, float], served: bool = False) -> bool:
    """Whether a test notices it. served: the tests ask a PostgreSQL server"""
    if not chosen:
        return False
    files = sorted({name.partition("::")[0] for name in chosen})
    with copies.changed(copy, mutant.file, mutant.source):
        code = processes.run_tests(copy, ["-x", *files], processes.Judging(chosen))
    if code < 0 and served:
        _serve(anew=True)  # the test may have been ended while it had stopped the server
    return code not in (processes.SURVIVED, processes.NOTHING_RUN)


def noticed(copy: Path, mutant: Mutant, tests: Tests, reach: Reach, bound: Bound) -> bool:
    """Whether a test near a change notices it. The nearest test files come first."""
    near = tests.near(mutant.file)[:MOST_FILES]
    for file in near:
        served = any(name.startswith(SERVED) for name in tests.imports[file])
        if served:
            _serve()
        reach.look(file)
        if judged(copy, mutant, bound.take(reach.tests_for(mutant, file)), served):
            return True
        if bound.is_used_up:
            break
    if not bound.taken and near:  # only processes that tests start may run it
        return judged(copy, mutant, bound.take(reach.tests_of(near[0])))
    return False


def run(
    checkout: Path,
    place: Path,
    drawn: Collection[Mutant],
    same: Mapping[Key, str],
    most: int = 100,
    seconds: float = 10.0,
) -> tuple[dict[str, Figures], list[Mutant]]:
    """The figures by room, and the survivors.

    most, seconds: the tests that run for one change, and how long they take
    """
    copy = place / "copy"
    copies.brought_up_to_date(checkout, copy)
    processes.prepare()
    reach, tests = Reach(copy), Tests(checkout)
    figures: dict[str, Figures] = collections.defaultdict(Figures)
    survivors = []
    for number, mutant in enumerate(drawn, 1):
        if number % 20 == 0:
            _say(f"{number} of {len(drawn)}")
        room = room_of(mutant.file)
        if mutant.key in same:
            figures[room].equivalent += 1
            continue
        bound = Bound(most, seconds)
        if noticed(copy, mutant, tests, reach, bound):
            figures[room].killed += 1
            continue
        figures[room].survived += 1
        survivors.append(mutant)
        print(f"{number}. {mutant}\n    {bound.taken} tests run it", flush=True)
    return figures, survivors


def _serve(anew: bool = False) -> None:
    """Let all processes have one PostgreSQL server, where there can be one."""
    if anew and os.environ.get(postgresql_server.VARIABLE) == postgresql_server.url():
        os.environ.pop(postgresql_server.VARIABLE)
        postgresql_server.close()
    if not postgresql_server.why_not():
        os.environ[postgresql_server.VARIABLE] = postgresql_server.url()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def drawn(checkout: Path, asked: argparse.Namespace, survivors: Path) -> list[Mutant]:
    """The changes that were asked for, in the order of chance."""
    files = [file for file in files_of(checkout) if asked.file in file]
    found = pool(checkout, in_rooms(files, asked.room) if asked.room else files)
    if asked.again:
        before = {tuple(key) for key in json.loads(survivors.read_text())} if survivors.exists() else set()
        return [mutant for mutant in found if mutant.key in before]
    random.Random(asked.seed).shuffle(found)
    return found[asked.skip : asked.skip + asked.count]


def options(words: list[str]) -> argparse.Namespace:
    """The words of the command line, understood."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Are changes to the code noticed?")
    parser.add_argument("--count", type=int, default=50, help="how many (50)")
    parser.add_argument("--seed", type=int, default=1, help="another one draws others (1)")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many of the seed (0)")
    parser.add_argument("--tests", type=int, default=100, help="run at most so many tests for each (100)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of tests for each, the quickest first (10)")
    parser.add_argument(
        "--room", action="append", choices=rooms_of(CHECKOUT), help="only of this folder; may be repeated"
    )
    parser.add_argument("--file", default="", help="only of files whose path contains this")
    parser.add_argument("--again", action="store_true", help="those that survived last time")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Draw, judge, tell. Returns the exit code."""
    asked = options(words)
    place = copies.place_of(CHECKOUT)
    if cage.INSIDE not in os.environ:
        return cage.enter(place, CHECKOUT, words)
    if not cage.is_closed(CHECKOUT):
        raise SystemExit("changed code runs in a world of its own only, and this is none")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a server that was started is stopped then, too
    with copies.alone(place):
        chosen = drawn(CHECKOUT, asked, place / "survivors.json")
        figures, survivors = run(CHECKOUT, place, chosen, equivalent(), asked.tests, asked.seconds)
        (place / "survivors.json").write_text(json.dumps([one.key for one in survivors], indent=1))
    for room, told in sorted(figures.items()):
        print(f"{room}: {told}")
    print(f"seed {asked.seed}: {sum(told.equivalent for told in figures.values())} equivalent, not tried")
    print(f"{sum(told.killed for told in figures.values())} passed, {len(survivors)} failed")
    return 1 if survivors else 0

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
from tests.mutants.rooms import ROOMS, files_of, room_of, tests_of

CHECKOUT = Path(__file__).parents[2]
EQUIVALENT = Path(package.__file__).with_name("equivalent.toml")

SERVED = "tests/test_store_postgresql.py"

Key = tuple[str, str, str, str]


def equivalent(file: Path = EQUIVALENT) -> dict[Key, str]:
    """The changes that mean the same, with the reason of each."""
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", [])
    return {(row["file"], row["in"], row["before"], row["after"]): row["reason"] for row in rows}


def pool(checkout: Path, rooms: Iterable[str], part: str = "") -> list[Mutant]:
    """Every change of the rooms' files whose names contain *part*."""
    return [
        mutant
        for room in rooms
        for file in files_of(checkout, room)
        if part in file
        for mutant in mutants(file, (checkout / file).read_text(encoding="utf-8"))
    ]


class Reach:
    """Which tests run which function: found by running a file, and remembered until it or what it runs changes."""

    def __init__(self, copy: Path) -> None:
        self._copy, self._file = copy, copy.parent / "tests.json"
        self._known = json.loads(self._file.read_text()) if self._file.exists() else {}

    def look(self, files: Iterable[str]) -> None:
        """Run the test files that have changed. raises: SystemExit, where one cannot be run"""
        for file in files:
            known = self._known.get(file)
            if known is not None and known["digest"] == self._digest(file, known):
                continue
            answer = self._copy.parent / "answer.json"
            answer.unlink(missing_ok=True)
            processes.run_tests(self._copy, [file], processes.Watching(self._copy, answer), compiles=True)
            if not answer.exists():
                raise SystemExit(f"{file} cannot be run: see {self._copy.parent / 'log'}")
            told = json.loads(answer.read_text())
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

    def tests_for(self, mutant: Mutant, files: Iterable[str]) -> dict[str, float]:
        """The tests that run its function, with their seconds.

        Where importing runs it, or it keeps its answers: all that run something of its file.
        """
        chosen: dict[str, float] = {}
        function = f"{mutant.file}::{mutant.function}"
        for file in files:
            known = self._known[file]
            wide = mutant.cached or function in known["imported"]
            for name, (seconds, functions) in known["tests"].items():
                if function in functions or (wide and any(one.startswith(f"{mutant.file}::") for one in functions)):
                    chosen[name] = seconds
        return chosen


@dataclasses.dataclass
class Figures:
    """Of one room, or of all."""

    killed: int = 0
    survived: int = 0
    equivalent: int = 0

    def __str__(self) -> str:
        return f"{self.killed} killed, {self.survived} survived, {self.equivalent} equivalent"


def affordable(chosen: Mapping[str, float], seconds: float) -> dict[str, float]:
    """The quickest of the tests, as many as take so long together; at least one."""
    found: dict[str, float] = {}
    for name in sorted(chosen, key=lambda one: chosen[one]):
        seconds -= chosen[name]
        if found and seconds < 0:
            break
        found[name] = chosen[name]
    return found


def judged(copy: Path, mutant: Mutant, chosen: Mapping[str, float]) -> bool:
    """Whether a test notices it."""
    if not chosen:
        return False
    files = sorted({name.partition("::")[0] for name in chosen})
    with copies.changed(copy, mutant.file, mutant.source):
        code = processes.run_tests(copy, ["-x", *files], processes.Judging(chosen))
    if code < 0 and SERVED in files:
        _serve(anew=True)  # the test may have been ended while it had stopped the server
    return code not in (processes.SURVIVED, processes.NOTHING_RUN)


def run(
    checkout: Path,
    place: Path,
    drawn: Collection[Mutant],
    same: Mapping[Key, str],
    tests: Mapping[str, list[str]],
    seconds: float = 10.0,
) -> tuple[dict[str, Figures], list[Mutant]]:
    """The figures by room, and the survivors.

    tests:   room -> its test files
    seconds: for each change, of the tests that run it
    """
    copy = place / "copy"
    copies.brought_up_to_date(checkout, copy)
    processes.prepare()
    reach = Reach(copy)
    figures: dict[str, Figures] = collections.defaultdict(Figures)
    survivors = []
    for number, mutant in enumerate(drawn, 1):
        if number % 20 == 0:
            _say(f"{number} of {len(drawn)}")
        room = room_of(mutant.file)
        if mutant.key in same:
            figures[room].equivalent += 1
            continue
        if SERVED in tests[room]:
            _serve()
        reach.look(tests[room])
        chosen = affordable(reach.tests_for(mutant, tests[room]), seconds)
        if judged(copy, mutant, chosen):
            figures[room].killed += 1
            continue
        figures[room].survived += 1
        survivors.append(mutant)
        print(f"{number}. {mutant}\n    {len(chosen)} tests run it", flush=True)
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
    found = pool(checkout, asked.room or ROOMS, asked.file)
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
    parser.add_argument("--seconds", type=float, default=10.0, help="of tests for each, the quickest first (10)")
    parser.add_argument("--room", action="append", choices=ROOMS, help="only of this room; may be repeated")
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
        tests = {room: tests_of(room) for room in ROOMS}
        figures, survivors = run(CHECKOUT, place, chosen, equivalent(), tests, asked.seconds)
        (place / "survivors.json").write_text(json.dumps([one.key for one in survivors], indent=1))
    for room, told in sorted(figures.items()):
        print(f"{room}: {told}")
    print(f"seed {asked.seed}: {sum(told.equivalent for told in figures.values())} equivalent, not tried")
    print(f"{sum(told.killed for told in figures.values())} passed, {len(survivors)} failed")
    return 1 if survivors else 0

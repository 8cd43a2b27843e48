"""Draws changes, has each judged, and tells what nobody noticed."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import json
import os
import random
import signal
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from tests import mutants as package
from tests import postgresql_server
from tests.mutants import cage, copies, processes
from tests.mutants.changes import Mutant, mutants
from tests.mutants.record import Record

CHECKOUT = Path(__file__).parents[2]
EQUIVALENT = Path(package.__file__).with_name("equivalent.toml")

TOP = "top"
"""The room of the modules that are in no folder, such as `nodeattrs/errors.py`."""

Key = tuple[str, str, str, str]


def room_of(file: str) -> str:
    """The folder of a file: "nodeattrs/core/fold.py" -> "core". Each dialect is a room of its own."""
    folders = file.split("/")[1:-1]
    return "/".join(folders[:2] if folders[:1] == ["dialects"] else folders[:1]) or TOP


def files_of(checkout: Path) -> list[str]:
    """All source files, relative to the checkout, in order."""
    return sorted(str(file.relative_to(checkout)) for file in (checkout / "nodeattrs").rglob("*.py"))


def rooms_of(checkout: Path) -> list[str]:
    """All rooms, in order."""
    return sorted({room_of(file) for file in files_of(checkout)})


def in_rooms(files: Iterable[str], rooms: Iterable[str]) -> list[str]:
    """Those of the files that are in one of the rooms."""
    wanted = set(rooms)
    return [file for file in files if room_of(file) in wanted]


def equivalent(file: Path = EQUIVALENT) -> dict[Key, str]:
    """The changes that mean the same, with the reason of each."""
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", [])
    return {(row["file"], row["in"], row["before"], row["after"]): row["reason"] for row in rows}


def pool(checkout: Path, files: Iterable[str]) -> list[Mutant]:
    """Every change of the files."""
    return [mutant for file in files for mutant in mutants(file, (checkout / file).read_text(encoding="utf-8"))]


@dataclasses.dataclass
class Figures:
    """Of one room, or of all."""

    killed: int = 0
    survived: int = 0
    equivalent: int = 0

    def __str__(self) -> str:
        return f"{self.killed} killed, {self.survived} survived, {self.equivalent} equivalent"


FIRST, MORE = 16, 4
"""Tests that the first process runs for one change, and how many times as many each further one runs."""


def affordable(chosen: Mapping[str, float], seconds: float) -> list[str]:
    """The quickest of the tests, as many as take so many seconds together. The first is there however long it takes."""
    names = sorted(chosen, key=lambda name: (chosen[name], name))
    total = itertools.accumulate(chosen[name] for name in names)
    return [
        name for number, (name, so_far) in enumerate(zip(names, total, strict=True)) if not number or so_far <= seconds
    ]


def noticed(copy: Path, mutant: Mutant, chosen: Mapping[str, float], names: list[str]) -> bool:
    """Whether one of the tests notices a change. Few tests run first, since they need few test files."""
    count = FIRST
    with copies.changed(copy, mutant.file, mutant.source):
        while names:
            some, names, count = names[:count], names[count:], count * MORE
            files = list(dict.fromkeys(name.partition("::")[0] for name in some))
            code = processes.run_tests(copy, ["-x", *files], processes.Judging({name: chosen[name] for name in some}))
            if code < 0:
                serve(anew=True)  # the test may have been ended while it had stopped the server
            if code not in (processes.SURVIVED, processes.NOTHING_RUN):
                return True
    return False


def run(
    checkout: Path,
    place: Path,
    drawn: Collection[Mutant],
    same: Mapping[Key, str],
    seconds: float = 60.0,
) -> tuple[dict[str, Figures], list[Mutant]]:
    """The figures by room, and the survivors.

    seconds: how long the tests for one change take together
    """
    copy = place / "copy"
    copies.brought_up_to_date(checkout, copy)
    processes.prepare()
    serve()
    record = Record(copy)
    record.bring_up_to_date(sorted(str(file.relative_to(copy)) for file in (copy / "tests").rglob("test_*.py")))
    figures: dict[str, Figures] = collections.defaultdict(Figures)
    survivors = []
    for number, mutant in enumerate(drawn, 1):
        if number % 20 == 0:
            print(f"{number} of {len(drawn)}", file=sys.stderr, flush=True)
        room = room_of(mutant.file)
        if mutant.key in same:
            figures[room].equivalent += 1
            continue
        chosen = record.tests_for(mutant)
        names = affordable(chosen, seconds)
        if noticed(copy, mutant, chosen, names):
            figures[room].killed += 1
            continue
        figures[room].survived += 1
        survivors.append(mutant)
        print(f"{number}. {mutant}\n    {len(names)} of {len(chosen)} tests that execute it were run", flush=True)
    return figures, survivors


def serve(anew: bool = False) -> None:
    """Let all processes have one PostgreSQL server, where there can be one."""
    if anew and os.environ.get(postgresql_server.VARIABLE) == postgresql_server.url():
        os.environ.pop(postgresql_server.VARIABLE)
        postgresql_server.close()
    if not postgresql_server.why_not():
        os.environ[postgresql_server.VARIABLE] = postgresql_server.url()


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
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for each, the quickest first (60)")
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
        figures, survivors = run(CHECKOUT, place, chosen, equivalent(), asked.seconds)
        (place / "survivors.json").write_text(json.dumps([one.key for one in survivors], indent=1))
    for room, told in sorted(figures.items()):
        print(f"{room}: {told}")
    print(f"seed {asked.seed}: {sum(told.equivalent for told in figures.values())} equivalent, not tried")
    print(f"{sum(told.killed for told in figures.values())} passed, {len(survivors)} failed")
    return 1 if survivors else 0

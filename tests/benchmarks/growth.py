"""How commands and operations grow: time and memory at n, twice n and four times n.

n is as large as it takes for 0.3 seconds beyond what the same takes for almost nothing. A doubling may cost 2.5 times
as much. Each run is a process of its own: `python -m tests.benchmarks.growth ROW FOLDER N` is what it does, and prints
processor seconds and the memory that it needed. `python -m tests.benchmarks growth --only NAME` measures some rows.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import growing as made
from tests.benchmarks import operations
from tests.benchmarks.figures import Figure

BASE, BAR = 0.3, 2.5
LEAST_MEMORY = 24 * 1024
"""KiB below which memory is not judged: what is bought by the page and kept for later is no growth."""
TINY = 2


class Row(NamedTuple):
    """What is measured.

    name:   a command as it is typed, or an operation in words; what is in brackets says what grows
    does:   words of the command line, {} for the folder; or a function of the folder and the size
    make:   writes what it reads
    start:  the size to begin with
    exits:  exit codes that are answers
    most:   a size above which none is measured: what takes less than BASE there is judged as if it took that
    """

    name: str
    does: str | Callable[[Path, int], object]
    make: made.Make = made.nothing
    start: int = 500
    exits: tuple[int, ...] = (0,)
    most: int = 10**9

    @property
    def command(self) -> str:
        """The command, without what grows; "" of an operation."""
        return self.name.partition(" (")[0] if isinstance(self.does, str) else ""


_RUN = "run --repo {} --node n1 --facts {}/f --why-run"
_SEARCHES = "run --repo {} --node n0 --facts {}/f --why-run"
_STORE = "--store {}/s.db"
_HIERA = "--hiera {}/hiera.yaml --facts {}/facts"
_ANSIBLE = "-i {}/hosts.ini"
_SITE = "--site {} --facts {}/facts.yaml"

ROWS = (
    Row("run (attributes of a role)", f"{_RUN} --environment e", made.wide_role, 5_000),
    Row("run (roles whose lists unite)", _RUN, made.listed_roles, 800),
    Row("run (lines of an attribute file)", _RUN, made.program, 2_000),
    Row("run (leaves and blocks of an attribute file as data)", _RUN, made.data, 4_000),
    Row("run (resources)", _RUN, made.resources, 1_600),
    Row("run (nodes)", "run --repo {} --all --quiet --facts {}/f --store {}/x.db", made.nodes, 20),
    Row("run (saved nodes that a search finds)", f"{_SEARCHES} {_STORE}", made.searched_nodes, 1_000),
    Row("show (attributes)", f"show n1 {_STORE}", made.kept_wide, 40_000),
    Row("show (origins)", f"show n1 --origins {_STORE}", made.kept_wide, 5_000),
    Row("explain (attributes)", f"explain n1 s0.k1.v {_STORE}", made.kept_wide, 80_000),
    Row("explain (all of a node)", f"explain n1 '(root)' {_STORE}", made.kept_wide, 16_000),
    Row("list (nodes)", f"list nodes --repo {{}} {_STORE}", made.counted_nodes, 256_000),
    Row("role show (attributes)", "role show r --origins --repo {}", made.wide_role, 20_000),
    Row("environment show (attributes)", "environment show e --origins --repo {}", made.wide_role, 20_000),
    Row("report (attributes)", f"report n1 --output {{}}/r.html {_STORE}", made.kept_wide, 1_000),
    Row("hiera lookup (keys)", f"hiera lookup w --merge deep {_HIERA}", made.hiera, 4_000),
    Row("hiera lookup (levels)", "hiera lookup w --merge deep --hiera {}/hiera.yaml", made.hiera_levels, 1_600),
    Row("hiera explain (keys)", f"hiera explain w --merge deep {_HIERA}", made.hiera, 4_000),
    Row("hiera list (keys)", f"hiera list {_HIERA} --node n1", made.hiera, 8_000),
    Row("hiera diff (keys)", f"hiera diff n1 n2 {_HIERA}", made.hiera, 8_000),
    Row("hiera who-has (keys)", "hiera who-has key1 --hiera {}/hiera.yaml", made.hiera, 4_000),
    Row("hiera unused (nodes)", f"hiera unused {_HIERA}", made.hiera_nodes, 3_200),
    Row("hiera matrix (nodes)", f"hiera matrix key1 {_HIERA}", made.hiera_nodes, 800),
    Row("hiera ready-for-8 (nodes)", f"hiera ready-for-8 {_HIERA}", made.hiera_nodes, 1_600, (0, 1, 5)),
    Row("hiera variables (nodes)", f"hiera variables {_HIERA}", made.hiera_nodes, 6_400),
    Row("ansible vars (variables)", f"ansible vars h0 {_ANSIBLE}", made.ansible_wide, 32_000),
    Row("ansible list (hosts)", f"ansible list {_ANSIBLE}", made.ansible, 4_000),
    Row("ansible graph (hosts)", f"ansible graph --vars {_ANSIBLE}", made.ansible, 4_000),
    Row("ansible explain (variables)", f"ansible explain h0 v1 {_ANSIBLE}", made.ansible_wide, 8_000),
    Row("ansible who-has (hosts)", f"ansible who-has x {_ANSIBLE}", made.ansible, 2_000),
    Row("ansible matrix (hosts)", f"ansible matrix x {_ANSIBLE}", made.ansible, 2_000),
    Row("ansible diff (variables)", f"ansible diff h0 h1 {_ANSIBLE}", made.ansible_wide, 32_000),
    Row("ansible config (settings)", "ansible config --folder {}", made.ansible, 2_000),
    Row("ansible save (hosts)", f"ansible save --store {{}}/saved.db {_ANSIBLE}", made.ansible, 500),
    Row("ansible inventory (nodes)", f"ansible inventory --list {_STORE} --repo {{}}", made.kept_nodes, 1_000),
    Row("bindings check (bindings)", f"bindings check {_SITE}", made.bindings, 400),
    Row("bindings inject (bindings)", f"bindings inject m::k1 {_SITE}", made.bindings, 400),
    Row("bindings explain (bindings)", f"bindings explain m::k1 {_SITE}", made.bindings, 400),
    Row("bindings list (bindings)", f"bindings list {_SITE}", made.bindings, 400),
    Row("bindings matrix (bindings)", f"bindings matrix m::k1 {_SITE}", made.bindings, 800),
    Row("bindings graph (bindings)", f"bindings graph {_SITE}", made.bindings, 400),
    Row("catalog check (resources)", "catalog check --from {}/a.json", made.catalog, 8_000),
    Row("catalog check (a ring)", "catalog check --from {}/a.json", made.catalog_ring, 8_000, (0, 1)),
    Row("catalog list (resources)", "catalog list --from {}/a.json", made.catalog, 16_000),
    Row("catalog order (resources)", "catalog order --from {}/a.json", made.catalog, 16_000),
    Row("catalog graph (resources)", "catalog graph --from {}/a.json", made.catalog, 8_000),
    Row("catalog why (resources)", "catalog why File[/etc/f0] File[/etc/f1] --from {}/a.json", made.catalog, 16_000),
    Row("catalog explain (resources)", "catalog explain File[/etc/f1] --from {}/a.json", made.catalog, 8_000),
    Row("catalog impact (resources)", "catalog impact File[/etc/f0] --from {}/a.json", made.catalog, 8_000),
    Row("catalog diff (resources)", "catalog diff {}/a.json {}/b.json", made.catalog, 4_000, (0, 1)),
    Row(
        "catalog apply (resources)",
        "catalog apply --noop --repo {} --node n1 --facts {}/f --root {}/f",
        made.resources,
        100,
    ),
    Row("cloud-config merge (parts)", "cloud-config merge {}/a.txt", made.parts, 1_600),
    Row("cloud-config merge (a list)", "cloud-config merge {}/a.txt", made.appended, 320),
    Row("cloud-config merge (keys)", "cloud-config merge {}/a.yaml {}/b.yaml", made.cloud_wide, 8_000),
    Row("cloud-config explain (parts)", "cloud-config explain {}/a.txt", made.parts, 1_600),
    Row("cloud-config explain (a path)", "cloud-config explain {}/a.txt --path runcmd.7", made.appended, 160),
    Row("cloud-config check (parts)", "cloud-config check {}/a.txt", made.parts, 1_600, (0, 1)),
    Row("cloud-config check (a list)", "cloud-config check {}/a.txt", made.appended, 320, (0, 1)),
    Row("cloud-config pack (parts)", "cloud-config pack {}/a.txt", made.parts, 1_600),
    Row("fold (files)", "fold {}/l", made.layers, 6_400),
    Row("fold (keys)", "fold {}/a.json {}/b.json", made.wide_layers, 20_000),
    Row("fold (origins)", "fold {}/l --origins", made.layers, 6_400),
    Row("fold (files that a merge patch lays)", "fold {}/l --policy json-merge-patch", made.layers, 6_400),
    Row("fold (dotted keys of TOML)", "fold {}/a.toml", made.dotted, 16_000),
    Row("history (revisions)", f"history n1 {_STORE}", made.revisions, 3_200, most=50_000),
    Row("diff (attributes)", f"diff n1 {_STORE}", made.kept_wide, 2_000),
    Row("matrix (nodes)", f"matrix a.b {_STORE}", made.kept_nodes, 500),
    Row("search (nodes)", f"search *:* --attribute b=a.b {_STORE}", made.kept_nodes, 1_000),
    Row("search (names of nodes)", f"search name:* {_STORE}", made.named_nodes, 64_000),
    Row("status (nodes, as JSON)", f"status --format json {_STORE}", made.counted_nodes, 32_000),
    Row("status (nodes)", f"status {_STORE}", made.counted_nodes, 32_000),
    Row("node (attributes)", f"node set n1 x 1 {_STORE} --repo {{}}", made.kept_wide, 16_000),
    Row(
        "node (others, of which one is deleted)",
        f"node delete n1 {_STORE} --repo {{}}",
        made.kept_nodes,
        2_000,
        most=16_000,
    ),
    Row("store (check, nodes)", f"store check {_STORE}", made.kept_nodes, 1_000),
    Row("store (prune, revisions)", f"store prune --keep 2 {_STORE}", made.revisions, 3_200),
    Row("store (export, nodes)", f"store export {_STORE}", made.kept_nodes, 2_000),
    Row("store (import, nodes)", "store import {}/n.jsonl --store {}/s.db", made.exported, 400),
    Row("store (copy, nodes)", f"store copy --to {{}}/t.db {_STORE}", made.kept_nodes, 250),
    Row("impact (nodes)", "impact {}/old {}/new --jobs 1", made.changed, 100, (0, 1)),
    Row("what-if (nodes)", "what-if --set a.b=3 --repo {} --facts {}/f --jobs 1", made.nodes, 100, (0, 1)),
    Row("overview (nodes)", "overview --repo {}", made.nodes, 100, (0, 5)),
    Row("why (nodes)", "why a.b --repo {} --facts {}/f", made.nodes, 100, (0, 1, 5)),
    Row("where (nodes)", "where --key a.b --repo {} --facts {}/f", made.nodes, 100, (0, 1, 5)),
    Row("blame (nodes)", "blame --repo {} --facts {}/f", made.nodes, 100, (0, 5)),
    Row("check (roles and nodes)", "check --repo {}", made.many_roles, 1_000, (0, 1)),
    Row("check (attributes of a role)", "check --repo {}", made.wide_role, 32_000, (0, 1)),
    Row("fleet (nodes)", "fleet resolve --repo {} --facts {}/f --jobs 1 --store {}/x.db", made.nodes, 100),
    *(Row(name, work, start=start) for name, (work, start) in operations.WORKS.items()),
)

NONE = {
    "facts": "asks this machine, which does not grow",
    "shell": "waits for a person",
    "lsp": "answers an editor, a file at a time; what it asks are rows of their own",
    "web": "answers a browser with what other commands say, which are rows of their own",
    "mcp": "answers a program with other commands, which are rows of their own",
    "codes": "prints what is shipped",
    "schema": "prints what is shipped",
    "completion": "prints what is shipped",
    "trust": "notes a folder in the user's configuration",
    "config": "prints the settings, of which there are a few",
}
"""Commands without a row, and why."""


def growth_figures(rounds: int, only: str = "") -> Iterator[Figure]:
    """The steepest doubling of each row, in time and memory."""
    for row in ROWS:
        if only in row.name:
            yield from figures_of(row)


class Spent(NamedTuple):
    """What one run needed: processor seconds, and KiB of memory."""

    seconds: float
    memory: float


def figures_of(row: Row) -> Iterator[Figure]:
    """Of one row: the steepest doubling in time and memory, measured again where it is too steep."""
    measured(row, TINY)  # what is made once and kept is there then
    least = measured(row, TINY)
    size, first = row.start, measured(row, row.start)
    while first.seconds - least.seconds < BASE and 4 * size < row.most:
        size *= 4 if first.seconds - least.seconds < BASE / 5 else 2
        first = measured(row, size)
    runs = [first, measured(row, 2 * size), measured(row, 4 * size)]
    for _ in range(2):
        if _steepest([one.seconds - least.seconds for one in runs], BASE) > BAR:  # somebody else was busy, perhaps
            runs = [Spent(*map(min, one, measured(row, size * by))) for by, one in zip((1, 2, 4), runs, strict=True)]
    told = f"{size:,} / {2 * size:,} / {4 * size:,}: {' / '.join(f'{one.seconds:.2f}' for one in runs)} s"
    yield Figure(row.name, _steepest([one.seconds - least.seconds for one in runs], BASE), "times", BAR, told)
    memory = [one.memory - least.memory for one in runs]
    told = f"{' / '.join(f'{max(one, 0) / 1024:.0f}' for one in memory)} MiB"
    yield Figure(f"{row.name}: memory", _steepest(memory, LEAST_MEMORY), "times", BAR, told)


def _steepest(values: list[float], least: float = 0) -> float:
    return max(later / before for before, later in pairwise([max(one, least) for one in values]))


_LIMITS = f"[limits]\nsteps = {10**12}\nvalues = {10**12}\nbytes = {10**10}\n"
"""More than anything takes: what is measured is what it would take."""


def measured(row: Row, size: int) -> Spent:
    """One run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        if row.make in made.SHARED:
            shutil.copytree(_shared(row.make, size), folder, dirs_exist_ok=True)
        else:
            row.make(Path(folder), size)
        made.put(Path(folder), "nodeattrs.toml", _LIMITS)
        words = [sys.executable, "-m", __name__, str(ROWS.index(row)), folder, str(size)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=_environment())
    if done.returncode:
        raise AssertionError(f"{row.name} at {size:,}: {done.stderr[-2000:]}")
    return Spent(*json.loads(done.stdout.splitlines()[-1]))


_ROOM = tempfile.TemporaryDirectory()


@cache
def _shared(make: made.Make, size: int) -> Path:
    """What several rows ask for, and takes long to make."""
    folder = Path(_ROOM.name, f"{make.__name__}-{size}")
    folder.mkdir()
    make(folder, size)
    return folder


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}


def perform(row: Row, folder: Path, size: int) -> Spent:
    """What one process does."""
    from nodeattrs.cli import main

    before, began = _most_memory(), _processor_time()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        if isinstance(row.does, str):
            code = main([word.replace("{}", str(folder)) for word in shlex.split(row.does)])
            if code not in row.exits:
                raise SystemExit(f"exit code {code}")
        else:
            row.does(folder, size)
    return Spent(_processor_time() - began, _most_memory() - before)


def _processor_time() -> float:
    """Of this process, and of those that it has started and that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _most_memory() -> int:
    """KiB that this program has needed at most; what getrusage says is of whoever started it, too."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])  # type: ignore[index]


if __name__ == "__main__":
    gc.set_threshold(100_000)  # as the program does that is called
    print(json.dumps(perform(ROWS[int(sys.argv[1])], Path(sys.argv[2]), int(sys.argv[3]))))

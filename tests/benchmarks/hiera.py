"""The figures of Hiera lookups, beside Puppet's own in the same run where Puppet is here.

In process: files parsed and warm, a fresh scope each time, no result kept. Whole
process: no cache on disk. Without Puppet the bars against it are told as missing, and
only those within us are judged.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from nodeattrs.hiera import Hiera
from tests.benchmarks.clock import once, seconds_each
from tests.benchmarks.figures import Figure

INPUTS = Path(__file__).with_name("inputs") / "hiera"
NODE = "web01.example.com"
FIRST, MERGED, PROCESS = 1 / 20, 1 / 8, 1 / 10
"""What a warm lookup, a deep or unique merge, and a whole process may take of Puppet's time."""

NODES = 1 / 5
"""What lookups for many nodes may take of it, each node with a scope of its own."""


@cache
def facts() -> dict[str, Any]:
    return json.loads((INPUTS / "facts.json").read_text(encoding="utf-8"))


@cache
def queries() -> list[str]:
    """Keys to look up first found; some exist nowhere."""
    return json.loads((INPUTS / "first" / "queries.json").read_text(encoding="utf-8"))["keys"]


def warm(kind: str, keys: list[str], merge: str | None = None) -> Hiera:
    """A loaded tree, its files parsed and each of the keys asked for once."""
    hiera = Hiera(environmentpath=INPUTS / kind / "environments")
    scope = hiera.scope(facts(), node=NODE)
    for key in keys:
        scope.lookup(key, merge=merge, default_value=None)
    return hiera


def ask_all(hiera: Hiera) -> list[Any]:
    """Each key once, first found, by a scope of its own."""
    scope = hiera.scope(facts(), node=NODE)
    return [scope.lookup(key, default_value=None) for key in queries()]


def ask_for_nodes(hiera: Hiera) -> int:
    """Fifty keys for each of a hundred nodes with facts of their own; how many answers there were."""
    answers = 0
    for at in range(100):
        scope = hiera.scope({**facts(), "serial": at}, node=NODE)
        answers += len([scope.lookup(key, default_value=None) for key in queries()[at * 15 : at * 15 + 50]])
    return answers


def ask_merged(hiera: Hiera, key: str, merge: str) -> Any:
    return hiera.scope(facts(), node=NODE).lookup(key, merge=merge)


def explain_merged(hiera: Hiera, key: str, merge: str) -> Any:
    return hiera.scope(facts(), node=NODE).explain(key, merge=merge)


def hiera_figures(rounds: int) -> Iterator[Figure]:
    """Everything that lookups must keep fast."""
    peer = puppet_figures(rounds)
    first = warm("first", queries())
    deep, unique = warm("deep", ["tree"], "deep"), warm("unique", ["list"], "unique")
    ask = partial(ask_merged, deep, "tree", "deep")
    works: list[tuple[str, str, Callable[[], object], float, float]] = [
        ("first", "first found over six levels", partial(ask_all, first), len(queries()), FIRST),
        ("nodes", "100 nodes, 50 lookups each", partial(ask_for_nodes, first), 1, NODES),
        ("deep", "deep merge of 5 x 1,000 leaves", ask, 1, MERGED),
        ("unique", "unique merge of 5 x 200", partial(ask_merged, unique, "list", "unique"), 1, MERGED),
    ]
    for name, title, work, count, bar in works:
        (seconds,) = seconds_each(once(work), rounds=rounds)
        yield from _beside(title, seconds / count, peer.get(name), bar)
    plain, explained = seconds_each(once(ask), once(partial(explain_merged, deep, "tree", "deep")), rounds=rounds)
    yield Figure("explain of the deep merge", explained / plain, "times", 2.0, "the lookup alone")
    yield from _whole_process(min(rounds, 5))


def _beside(title: str, seconds: float, theirs: float | None, bar: float) -> Iterator[Figure]:
    yield Figure(
        title, seconds * 1e6, "µs", of="no Puppet here" if theirs is None else f"Puppet {theirs * 1e6:,.0f} µs"
    )
    if theirs is not None:
        yield Figure(title, seconds / theirs, "times", bar, f"Puppet's time: {theirs / seconds:.1f} times as fast")


def _whole_process(rounds: int) -> Iterator[Figure]:
    key, place = queries()[0], INPUTS / "first" / "environments"
    words = ["lookup", key, "--environmentpath", str(place), "--node", NODE, "--facts", str(INPUTS / "facts.json")]
    words += ["--default", "none"]
    ours = min(_seconds_of([sys.executable, "-m", "nodeattrs", "hiera", *words]) for _ in range(rounds))
    theirs = None
    if shutil.which("puppet"):
        with tempfile.TemporaryDirectory() as home:
            settings = [
                f"--{name}={home}" for name in ("confdir", "vardir", "codedir", "logdir", "rundir", "publicdir")
            ]
            theirs = min(_seconds_of(["puppet", *words, *settings]) for _ in range(min(rounds, 3)))
    yield from _beside("whole process, one lookup, six levels", ours, theirs, PROCESS)


def _seconds_of(command: list[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def puppet_figures(rounds: int) -> dict[str, float]:
    """Puppet's processor seconds for the same work; empty where there is no Puppet."""
    ruby = shutil.which("ruby")
    if ruby is None or shutil.which("puppet") is None:
        return {}
    with tempfile.TemporaryDirectory() as home:
        command = [ruby, str(Path(__file__).with_name("hiera_puppet.rb")), home, str(INPUTS), str(min(rounds, 5))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)

"""The ways that data go through the house: every call of ours between a question and its answer.

    python -m tests.structure.ways [--steps N]

A hop is a call that leaves one file for another, and *back* counts the hops that return to a file
which the way had left before. Files are what is counted, not names of functions. Modules are warm
(each way is gone once before), data is cold.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import nodeattrs
from nodeattrs import Node

ROOT = str(Path(nodeattrs.__file__).parent)
ASIDE = {f"{ROOT}/_lazy.py"}
"""What imports a name at its first use: no way leads through it."""
_INLINE = ("<listcomp>", "<genexpr>", "<lambda>", "<dictcomp>", "<setcomp>", ".__init__")


@dataclass
class Way:
    """What was called, in order: file and function."""

    name: str
    calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        """Each file once, in the order in which the way first came there."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    @property
    def hops(self) -> list[str]:
        """The files that a hop led to."""
        return [after for (before, _), (after, _) in zip(self.calls, self.calls[1:], strict=False) if before != after]

    @property
    def back(self) -> int:
        """How many hops return to a file that was left before."""
        seen: set[str] = set()
        back = 0
        for file in self.hops:
            back += file in seen
            seen.add(file)
        return back

    def __str__(self) -> str:
        functions = len(set(self.calls))
        figures = f"{len(self.calls)} calls, {functions} functions, {len(self.files)} files"
        return f"{self.name}: {figures}, {len(self.hops)} hops, {self.back} back"


def walked(name: str, question: Callable[[], Any]) -> Way:
    """Ask, and note every call of ours."""
    way = Way(name)

    def hear(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        ours = code.co_filename.startswith(ROOT) and code.co_filename not in ASIDE
        if event == "call" and ours and not code.co_qualname.endswith(_INLINE):
            way.calls.append((code.co_filename[len(ROOT) + 1 :], code.co_qualname))

    sys.setprofile(hear)
    try:
        question()
    finally:
        sys.setprofile(None)
    return way


def _node() -> Node:
    node = Node("n")
    node.default["a"]["b"] = 1
    node.override["a"]["b"] = 2
    return node


def write_way() -> Way:
    """`node.default["a"]["b"] = 1`"""

    def write(node: Node) -> None:
        node.default["a"]["b"] = 1

    write(Node("n"))
    node = Node("n")
    return walked("write", lambda: write(node))


def read_way() -> Way:
    """`node["a"]["b"]`, the first time."""
    _node()["a"]["b"]
    node = _node()
    return walked("read", lambda: node["a"]["b"])


def explain_way() -> Way:
    """`str(node.trace("a.b"))`"""
    str(_node().trace("a.b"))
    node = _node()
    node["a"]["b"]
    return walked("explain", lambda: str(node.trace("a.b")))


def cloud_config_way() -> Way:
    """Two parts, the second with a definition of its own."""
    from nodeattrs import cloudinit

    parts = ["#cloud-config\na: [1]\n", "#cloud-config\na: [2]\nmerge_how: list(append)+dict(recurse_list)\n"]
    assert cloudinit.merge([parts[0], parts[1].replace("append", "prepend")]).config is not None
    return walked("cloud-config merge", lambda: cloudinit.merge(parts).config)


def lookup_way(*, parsed: bool = True) -> Way:
    """Two files, merge deep by lookup_options, by a new tree. parsed: whether the process has parsed the files."""
    from nodeattrs.cache import CACHE
    from nodeattrs.hiera import Hiera

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "data").mkdir()
        (root / "hiera.yaml").write_text(
            "version: 5\nhierarchy:\n  - name: n\n    path: '%{facts.x}.yaml'\n  - name: c\n    path: common.yaml\n"
        )
        (root / "data" / "one.yaml").write_text("k: {a: 1}\n")
        (root / "data" / "common.yaml").write_text("k: {b: 2}\nlookup_options: {k: {merge: deep}}\n")

        def lookup() -> Any:
            return Hiera(folder).scope({"x": "one"}).lookup("k")

        lookup()
        if not parsed:
            CACHE.clear()
        return walked("lookup" if parsed else "first lookup", lookup)


def save_way() -> Way:
    """A changed node into SQLite: its document, its snapshot, and what can be found of it."""
    from nodeattrs.store import Noted, Saved, open_store

    def saved(node: Node) -> Saved:
        return Saved("n", node.to_chef(), node.snapshot(), "", Noted())

    with tempfile.TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "n.db"))
        node = _node()
        node.automatic["platform"] = "x"
        store.save(saved(node))
        node.default["z"] = 1
        return walked("save", lambda: store.save(saved(node)))


def run_way() -> Way:
    """The command `run --node web1` of the example, where the last run left the same node."""
    from nodeattrs.cli import main

    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        shutil.copytree(Path(ROOT).parent / "cookbooks_example", repository)
        words = ["run", "--node", "web1", "--quiet", "--repo", str(repository), "--store", str(Path(folder) / "n.db")]

        def run() -> None:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                assert main([*words, "--facts", str(repository / "facts")]) == 0

        run()
        run()  # which notes of normal attributes that they were saved
        return walked("run web1, unchanged", run)


WAYS: dict[str, Callable[[], Way]] = {
    "write": write_way,
    "read": read_way,
    "explain": explain_way,
    "cloud-config": cloud_config_way,
    "lookup": lookup_way,
    "first lookup": partial(lookup_way, parsed=False),
    "save": save_way,
    "run": run_way,
}


def lines(way: Way, steps: int) -> Iterator[str]:
    """The figures, the files, and the first steps of a way."""
    yield str(way)
    yield "  " + ", ".join(way.files)
    shown = [call for before, call in zip([None, *way.calls], way.calls, strict=False) if call != before]
    yield from (f"    {file}:{function}" for file, function in shown[:steps])


def main(arguments: list[str] | None = None) -> int:
    """Print all ways."""
    parser = argparse.ArgumentParser(prog="python -m tests.structure.ways", description="Walk the ways and count them.")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="show the first N steps of each")
    asked = parser.parse_args(arguments)
    for walk in WAYS.values():
        print("\n".join(lines(walk(), asked.steps)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

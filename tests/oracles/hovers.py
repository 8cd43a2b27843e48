"""python -m tests.oracles.hovers FOLDER... [--count N] [--seed S] [--most N] [--only-times]

Hovers of `nodeattrs lsp` at random lines of folders, beside what `where FILE:LINE` prints about the same lines.

Half of the lines are among those that set a value of a subject, the others are any lines of files that configure. A
hover has to give the sentences of `where`; where it gives none, `where` names no line that wins. No hover names a layer
by an absolute path. A line per folder has the times: the first hover after the start of the server, then the median,
the 95th percentile and the slowest. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from nodeattrs.cli import main as nodeattrs
from nodeattrs.contract.request import Request
from nodeattrs.verbs.lines import FolderLines

_SUFFIXES = {".yaml", ".yml", ".eyaml", ".json", ".toml", ".ini", ".rb", ".py", ".pp", ".env", ".cfg", ".tf"}
_ROW = re.compile(r"(?P<place>\S.*?:\d+)  (?P<text>.+)")
_SHOWN = 12
"""The paths of one hover; `where` has all of them."""
_LONGEST = 300.0
"""Seconds until the first hover of a folder."""


class Place(NamedTuple):
    """A position in a file of a folder; line and column count from 1."""

    file: str
    line: int
    column: int


class Editor:
    """A client of one server, which times its hovers."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._opened = folder, set[str]()
        self.client = LanguageClient("hovers", "1")
        for kind in (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, types.WINDOW_LOG_MESSAGE):
            self.client.feature(kind)(partial(lambda _: None))

    async def begin(self, words: Sequence[str]) -> None:
        await self.client.start_io(sys.executable, "-m", "nodeattrs", "lsp", *words)
        uri = self._folder.as_uri()
        await self.client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=uri))
        self.client.initialized(types.InitializedParams())

    async def end(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    async def hover(self, place: Place) -> tuple[str, float]:
        """Returns (text, seconds); the text is "" where the server says nothing."""
        uri = (self._folder / place.file).as_uri()
        if place.file not in self._opened:
            self._opened.add(place.file)
            text = (self._folder / place.file).read_text(errors="replace")
            item = types.TextDocumentItem(uri, "text", 1, text)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        position = types.Position(place.line - 1, place.column - 1)
        begun = time.perf_counter()
        params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
        found = await self.client.text_document_hover_async(params)
        seconds = time.perf_counter() - begun
        return ("" if found is None else str(getattr(found.contents, "value", found.contents))), seconds

    async def first(self, place: Place) -> float:
        """Seconds from now until a hover says something."""
        begun = time.perf_counter()
        while time.perf_counter() - begun < _LONGEST:
            if (await self.hover(place))[0]:
                break
            await asyncio.sleep(0.02)
        return time.perf_counter() - begun


def places(folder: Path, lines: FolderLines, rand: random.Random, count: int) -> list[Place]:
    """Random positions, the first one on a line that sets a value; [] in a folder where no line does."""
    set_ones = sorted({(effect.place.file, effect.place.line) for effect in lines.all()})
    files = [
        one.relative_to(folder).as_posix()
        for one in sorted(folder.rglob("*"))
        if one.suffix in _SUFFIXES and ".git" not in one.parts and one.is_file()
    ]
    if not set_ones:
        return []
    found: list[Place] = []
    for is_set in cycle((True, False)):
        if len(found) >= count:
            return found
        file, line = rand.choice(set_ones) if is_set else (rand.choice(files), 0)
        text = (folder / file).read_text(errors="replace").splitlines()
        if not line:
            numbers = [number for number, one in enumerate(text, 1) if one.strip() and one.isprintable()]
            if not numbers:
                continue
            line = rand.choice(numbers)
        row = text[line - 1] if line <= len(text) else ""
        column = len(row) - len(row.lstrip()) + 1
        found.append(Place(file, line, rand.choice([column, rand.randint(1, len(row) + 1)])))
    return found


def said(place: Place, folder: Path, words: Sequence[str]) -> list[list[str]]:
    """What `where` prints about a line: the sentences of each block, the first one without its place."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        nodeattrs(["where", f"{place.file}:{place.line}", "--repo", str(folder), *words])
    blocks = [block.splitlines() for block in out.getvalue().split("\n\n") if block.strip()]
    found = []
    for first, *rest in blocks:
        row = _ROW.match(first)
        if row is not None and " · " in first:
            found.append([row["text"], *(one.strip() for one in rest if one.startswith("  "))])
    return found


def plain(text: str) -> str:
    """A text without the marks of Markdown that may stand around paths and values."""
    return re.sub(r"[*`]|\s+", " ", text).replace(" ", "")


def faults(hover: str, where: Sequence[Sequence[str]], folder: Path) -> Iterator[str]:
    """Yield what the hover says otherwise than `where`."""
    blocks = [
        block for block in hover.split("\n\n") if (block and not block.startswith(("*", "…"))) or "**" in block[:2]
    ]
    if str(folder) in hover:
        yield "an absolute path"
    if bool(blocks) != bool(where):
        yield "the hover is empty" if where else "`where` is empty"
        return
    whole = {plain("".join(one)) for one in where}
    rows = {plain(", ".join(one[:2])) for one in where}
    count = 0
    for block in blocks:
        for one in block.split("\n- ") if block.startswith("- ") else [block]:
            count += 1
            text = plain(one.removeprefix("- "))
            if text not in (rows if block.startswith("- ") else whole):
                yield f"not in `where`: {one}"
    if count > _SHOWN:
        yield f"{count} paths"


async def judge(folder: Path, options: argparse.Namespace, rand: random.Random, count: int) -> tuple[int, int]:
    """Ask about *count* lines of a folder, print what differs and the times, and return (passed, failed)."""
    words = ["--run-code"] if options.run_code else []
    lines = FolderLines(folder, Request(str(folder), run_code=options.run_code), options.most)
    lines.look()
    chosen = places(folder, lines, rand, count)
    if not chosen:
        print(f"{folder}: no line sets a value of a subject")
        return 0, 0
    editor, begun = Editor(folder), time.perf_counter()
    await editor.begin(["--most", str(options.most), *words])
    waited = time.perf_counter() - begun
    first = waited + await editor.first(chosen[0])
    taken, failed, filled = [], 0, 0
    hovers = []
    for place in chosen:
        text, seconds = await editor.hover(place)
        taken.append(seconds)
        hovers.append(text)
    await editor.end()
    for place, text in zip(chosen, hovers, strict=True):
        wrong = [] if options.only_times else [*faults(text, said(place, folder, words), folder)]
        filled += bool(text)
        failed += bool(wrong)
        for one in wrong:
            print(f"{folder}/{place.file}:{place.line}:{place.column} {one}")
    taken.sort()
    times = [taken[len(taken) // 2], taken[len(taken) * 95 // 100], taken[-1]]
    print(
        f"{folder}: {filled} of {len(chosen)} filled, {failed} wrong, first after {first:.2f} s, "
        f"then {', '.join(f'{1000 * one:.1f}' for one in times)} ms",
        flush=True,
    )
    return len(chosen) - failed, failed


def main() -> int:
    """Judge each folder, and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=500, help="hovers in all folders together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--only-times", action="store_true", help="compare nothing")
    parser.add_argument("--run-code", action="store_true")
    options = parser.parse_args()
    rand, passed, failed = random.Random(options.seed), 0, 0
    for number, folder in enumerate(options.folders):
        share = options.count // len(options.folders) + (number < options.count % len(options.folders))
        good, bad = asyncio.run(judge(folder.resolve(), options, rand, share))
        passed, failed = passed + good, failed + bad
    print(f"seed {options.seed}: {passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

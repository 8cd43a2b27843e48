"""Count words and constructions of the old voice: in docstrings, comments, messages and pages.

`prose.toml` holds a budget for each phrase and each area. `test_prose.py` compares. A budget only falls:

    python -m tests.structure.prose          the counts that differ from their budgets
    python -m tests.structure.prose --lower  write the counts that are lower into prose.toml

Upper and lower case are the same, and a phrase may cross a line end.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUDGETS = Path(__file__).with_name("prose.toml")
AREAS = ("readme", "tutorials", "docs", "comments", "messages")
"""README.md; docs/tutorials/; the rest of docs/; docstrings and comments of nodeattrs/; other texts in its code."""

LONG = "a sentence of more than 30 words"
"""The row of prose.toml that counts long sentences of pages; it is 0 for texts in code."""

_LONG = r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
_PARTS = re.compile(
    rf"(?P<docstring>^[ \t]*r?{_LONG})"
    rf"""|(?P<message>{_LONG}|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"""
    r"|(?P<comment>#[^\n]*(?:\n[ \t]*#[^\n]*)*)",
    re.DOTALL | re.MULTILINE,
)
"""The texts of a Python file. A string in three quotes that begins a line is taken for a docstring."""

_TOKENS = re.compile(r"[\w-]+|[^\s#\w]")
"""A word, or a sign that ends a phrase."""


@dataclass(frozen=True)
class Text:
    """One text of an area. line: where it begins, counted from 1"""

    area: str
    file: str
    line: int
    text: str


def texts_in(source: str, file: str) -> Iterator[Text]:
    """The docstrings, comments and messages of a Python source."""
    ends = [found.start() for found in re.finditer("\n", source)]
    for found in _PARTS.finditer(source):
        area = "messages" if found.lastgroup == "message" else "comments"
        yield Text(area, file, bisect(ends, found.start() - 1) + 1, found[0].lstrip(" \t"))


@cache
def texts() -> tuple[Text, ...]:
    """Every text that is counted."""
    return tuple(_texts(ROOT))


def _texts(root: Path) -> Iterator[Text]:
    yield Text("readme", "README.md", 1, (root / "README.md").read_text("utf-8"))
    for page in sorted(root.glob("docs/**/*.md")):
        name = page.relative_to(root).as_posix()
        area = "tutorials" if name.startswith("docs/tutorials/") else "docs"
        yield Text(area, name, 1, page.read_text("utf-8"))
    for module in sorted(root.glob("nodeattrs/**/*.py")):
        yield from texts_in(module.read_text("utf-8"), module.relative_to(root).as_posix())


def spaced(text: str) -> str:
    """A text as words and signs with a space on both sides of each, in lower case."""
    return f" {'  '.join(_TOKENS.findall(text.lower()))} "


_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(r"^(?:\||#|!\[).*$", re.MULTILINE)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_TARGET = re.compile(r"\]\([^)]*\)")
_END = re.compile(r"(?<=[.!?:;])[*_`)]*\s+")


def blocks(page: str) -> Iterator[str]:
    """The paragraphs and list items of a page in Markdown. Code, tables and headings do not count."""
    prose = _NOT_PROSE.sub("", _FENCE.sub("\n\n", page))
    return (" ".join(block.split()) for block in _BLOCK.split(_TARGET.sub("]", prose)))


def sentences(page: str) -> Iterator[str]:
    """The sentences of a page in Markdown."""
    return (one for block in blocks(page) for one in _END.split(block) if one)


def long_sentences(page: str) -> Iterator[str]:
    """The sentences of a page in Markdown with more than 30 words."""
    return (one for one in sentences(page) if len(one.split()) > 30)


def _long(among: Iterable[Text]) -> dict[str, int]:
    found = dict.fromkeys(AREAS, 0)
    for one in among:
        if one.file.endswith(".md"):
            found[one.area] += len(list(long_sentences(one.text)))
    return found


def counts(phrases: Iterable[str], among: Iterable[Text]) -> dict[str, dict[str, int]]:
    """phrase -> area -> how often it is there; for LONG, the number of long sentences."""
    among = list(among)
    parts: dict[str, list[str]] = {area: [] for area in AREAS}
    for one in among:
        parts[one.area].append(one.text)
    words = {area: spaced("\n.\n".join(each)) for area, each in parts.items()}
    found = {phrase: {area: text.count(spaced(phrase)) for area, text in words.items()} for phrase in phrases}
    return found | ({LONG: _long(among)} if LONG in found else {})


def places(phrase: str, area: str, among: Iterable[Text]) -> Iterator[tuple[str, int]]:
    """The file and line of each place of a phrase."""
    pattern = re.compile(r"(?<![\w-])" + r"[\s#]+".join(map(re.escape, phrase.lower().split())) + r"(?![\w-])")
    for one in among:
        if one.area == area:
            for found in pattern.finditer(one.text.lower()):
                yield one.file, one.line + one.text.count("\n", 0, found.start())


def budgets() -> dict[str, dict[str, int]]:
    """phrase -> area -> how often it may be there."""
    return tomllib.loads(BUDGETS.read_text("utf-8"))


def differences(budget: Mapping[str, Mapping[str, int]], found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A sentence for each count that is not its budget; of an excess, with its newest places."""
    for phrase, areas in found.items():
        for area, count in areas.items():
            most = budget[phrase][area]
            if count < most:
                yield f'"{phrase}" in {area}: lower the budget to {count} (python -m tests.structure.prose --lower)'
            elif count > most:
                newest = ", ".join(_newest(phrase, area, count - most))
                yield f'"{phrase}" in {area}: {count} times, and the budget is {most}; write it plainly: {newest}'


def _newest(phrase: str, area: str, excess: int) -> list[str]:
    """The places on lines that are newer than the budgets; all places where Git does not say it."""
    if phrase == LONG:
        return [f"{one.file}: {some[:60]}…" for one in texts() if one.area == area for some in long_sentences(one.text)]
    found = list(places(phrase, area, texts()))
    new = _new_lines()
    chosen = [place for place in found if place in new]
    return [f"{file}:{line}" for file, line in chosen or found][: max(excess, 10)]


@cache
def _new_lines() -> frozenset[tuple[str, int]]:
    """File and number of each line that is added since the budgets were written last."""
    since = _git("log", "-1", "--format=%H", "--", str(BUDGETS)).strip() or "HEAD"
    lines: set[tuple[str, int]] = set()
    file = ""
    for line in _git("diff", "-U0", since, "--", "README.md", "docs", "nodeattrs").splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, many = int(found[1]), int(found[2] or 1)
            lines.update((file, number) for number in range(first, first + many))
    return frozenset(lines)


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout
    except OSError:
        return ""


def written(budget: Mapping[str, Mapping[str, int]]) -> str:
    """The text of prose.toml."""
    head = "# How often each phrase may be there; `python -m tests.structure.prose --lower` writes lower numbers.\n\n"
    rows = (
        f'"{phrase}" = {{ {", ".join(f"{area} = {areas[area]}" for area in AREAS)} }}\n'
        for phrase, areas in sorted(budget.items())
    )
    return head + "".join(rows)


def main() -> int:
    budget = budgets()
    found = counts(budget, texts())
    if "--lower" in sys.argv[1:]:
        budget = {
            phrase: {area: min(most, found[phrase][area]) for area, most in areas.items()}
            for phrase, areas in budget.items()
        }
        BUDGETS.write_text(written(budget), "utf-8")
    left = list(differences(budget, found))
    print("\n".join(left))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the judge asks of a system: files that set values, and an answer made of them anew each time."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as Folder
from typing import Any, Protocol

from tests.causality.values import Path

__all__ = ["Answer", "Files", "Input", "Refused", "Setting", "System", "marked"]

Files = Mapping[str, str]
"""Name below the folder -> text."""


class Refused(Exception):
    """The files are refused: there is no answer, and so no question."""


@dataclass(frozen=True, order=True)
class Setting:
    """A scalar in a file that sets a value.

    start, end: where it stands in the text
    old, new:   what stands there, and an unused one of its kind; None where there is none
    """

    file: str
    start: int
    end: int = field(compare=False)
    line: int = field(compare=False)
    column: int = field(compare=False)
    old: str = field(compare=False)
    new: str | None = field(compare=False)

    @property
    def shown(self) -> str:
        """As Python shows the value, without quotes."""
        return shown(self.old)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.old})"


TOKEN = re.compile(r"(?<![\d-])w?7\d{5}(?!\d)")
"""A scalar that a generator wrote exactly once, unless it wrote it twice on purpose; `--700001` is a marker."""

MARKER = "--"
"""What a generated scalar begins with that knocks out another one: it decides, and sets nothing."""

FIXED = re.compile(r"(null|nil|None|true|false|True|False|\{\}|\[\])(?=[,\s]*# set$)", re.MULTILINE)
"""A value that no token can stand in; the comment says that the line sets it."""

BARE_FIXED = re.compile(r"(?<=[:\[{,\s])(null|true|false|\{\}|\[\])(?=\s*([,\]}]|$))", re.MULTILINE)
"""The same in JSON and TOML, which have no other use for these words."""

SHOWN = {"null": "None", "nil": "None", "true": "True", "false": "False"}
FLIPPED = {"true": "false", "false": "true", "True": "False", "False": "True"}


def shown(written: str) -> str:
    """What a scalar is in Python's own spelling, without quotes."""
    bare = written[1:-1] if written[:1] in ("'", '"') else written
    return SHOWN.get(written, bare)


def marked(files: Files) -> list[Setting]:
    """Every setting of generated files, found by their text alone."""
    return sorted(_settings(files))


def _settings(files: Files) -> Iterator[Setting]:
    for file, text in files.items():
        for found in TOKEN.finditer(text):
            yield setting(file, text, found.start(), found.end(), found[0].replace("7", "9", 1))
        for found in (BARE_FIXED if file.endswith((".json", ".toml")) else FIXED).finditer(text):
            yield setting(file, text, found.start(), found.end(), FLIPPED.get(found[0]))


def setting(file: str, text: str, start: int, end: int, new: str | None) -> Setting:
    """The setting that stands there."""
    begin = text.rfind("\n", 0, start) + 1
    return Setting(file, start, end, text.count("\n", 0, start) + 1, start - begin + 1, text[start:end], new)


@dataclass(frozen=True)
class Input:
    """Files to ask about.

    find:        the settings of such files
    by_position: whether lists are merged by position here, so that an element that goes moves others
    """

    files: Files
    find: Callable[[Files], list[Setting]] = marked
    by_position: bool = False

    @cached_property
    def settings(self) -> list[Setting]:
        """All lines that set a value; those that decide are none of them."""
        return self.find(self.files)


@dataclass(frozen=True)
class Answer:
    """What a system says about the files of a folder.

    value:   the whole value as plain data
    explain: the explanation of a path, as `explain --format json` has it
    faults:  what was wrong without ending it; an edit that changes it has broken the input
    """

    value: Any
    explain: Callable[[Path], Mapping[str, Any]]
    faults: Any = None


class System(Protocol):
    """One of the systems that merge and explain."""

    name: str

    def make(self, random: random.Random) -> Input:
        """An input of a few small files whose keys collide."""

    def examples(self) -> Iterator[tuple[str, Input]]:
        """Inputs of people, with their names."""

    def ask(self, folder: Folder) -> Answer:
        """Read the folder anew. raises: Refused"""

    def decides(self, file: str, line: str) -> bool:
        """Whether a line decides (run-list, include, condition, hierarchy, merge option) instead of setting a value."""

"""One input in a folder: asked as it is, edited as text, asked again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path as Folder
from typing import Any

from tests.causality.entries import withouts
from tests.causality.system import Answer, Files, Input, Refused, Setting, System
from tests.causality.values import ABSENT, Path, leaves, texts
from tests.causality.words import Row

__all__ = ["Case"]

PRESENT = re.compile(r"""[{\[(]|"[^"]*"|'[^']*'|\w+|\S""")
"""What begins at a column: a bracket, a text, a word."""

CODE = (".py", ".rb")

NOTHING = ("", "pass", "nil")
"""What stands on a line whose statement is taken out."""

MOST_UP = 6
"""How many enclosing entries are taken away in search of the next in line."""


class Case:
    """An input, its answer, and the answers to the same files after an edit.

    raises: Refused, where the files are refused as they are
    """

    def __init__(self, system: System, input: Input, folder: Folder) -> None:
        self.system = system
        self.input = input
        self.folder = folder
        self.edits = 0
        self._asked: dict[frozenset[tuple[str, str]], Answer | None] = {}
        self.settings = self.settings_of(input.files)
        self._write(input.files)
        self.base = system.ask(folder)
        self.value = self.base.value
        self.leaves = [path for path, _ in leaves(self.value) if path]

    def settings_of(self, files: Files) -> list[Setting]:
        """All that sets a value; what stands on a line that decides does not."""
        return [
            one for one in self.input.find(files) if not self.system.decides(one.file, _line(files, one.file, one.line))
        ]

    # --- asking

    def ask(self, files: Files) -> Answer | None:
        """The answer to changed files; None where they are refused, or something else is wrong than before."""
        changed = self.changed(files)
        key = frozenset(changed.items())
        if key not in self._asked:
            self._asked[key] = self._ask(changed)
        return self._asked[key]

    def _ask(self, changed: Files) -> Answer | None:
        self.edits += 1
        try:
            self._write(changed)
            answer = self.system.ask(self.folder)
        except Refused:
            return None
        finally:
            self._write({file: self.input.files[file] for file in changed})
        # The explanation is let go: it holds all that was read.
        return Answer(answer.value, dict) if answer.faults == self.base.faults else None

    def _write(self, files: Files) -> None:
        for file, text in files.items():
            place = self.folder / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    # --- editing

    def edited(self, settings: Iterable[Setting]) -> Files:
        """The files with other values."""
        files = dict(self.input.files)
        for one in sorted(settings, reverse=True):
            assert one.new is not None
            files[one.file] = files[one.file][: one.start] + one.new + files[one.file][one.end :]
        return files

    def cut(self, settings: Iterable[Setting], up: int = 0) -> Files | None:
        """The files without the entries that hold these values, or without what holds those; None at the end."""
        files = dict(self.input.files)
        for one in sorted(settings, reverse=True):
            if not files[one.file].startswith(one.old, one.start):
                continue  # went with another one
            found = list(withouts(files[one.file], Folder(one.file).suffix, one.start))
            if up >= len(found):
                return None
            files[one.file] = found[up]
        return files

    def cuts(self, settings: set[Setting]) -> Iterator[Files | None]:
        """Without their entries, without what holds those, and so on; None where a line that decides would go along."""
        for up in range(MOST_UP):
            files = self.cut(settings, up)
            if files is None:
                return
            if self.changes_decisions(files):
                yield None
                return
            yield files

    def changed(self, files: Files) -> Files:
        """Those that are not as they were."""
        return {file: text for file, text in files.items() if text != self.input.files[file]}

    def gone(self, files: Files, cut: set[Setting]) -> set[Setting]:
        """The settings that changed files no longer have, those that were cut among them."""
        others = self.changed(files)
        found = self.settings_of(others)
        left = Counter((one.file, one.old) for one in found)
        # Lines stay where they are: of equal ones those are left whose line still says so.
        stay = Counter((one.file, one.line, one.old) for one in found)
        lost = set(cut)
        for one in sorted(self.settings, key=lambda one: not stay[one.file, one.line, one.old]):
            if one.file not in others:
                continue
            if one not in cut and left[one.file, one.old]:
                left[one.file, one.old] -= 1
            else:
                lost.add(one)
        return lost

    def changes_decisions(self, files: Files) -> bool:
        """Whether the lines that decide are other ones now."""
        others = self.changed(files)
        return self._deciding(others) != self._deciding({file: self.input.files[file] for file in others})

    def _deciding(self, files: Files) -> list[str]:
        deciding = (line.strip() for file, line in lines_of(files) if self.system.decides(file, line))
        # A line that lost all that stood below it says so, and the last one has no comma.
        return [line.removesuffix(",").removesuffix(" []").removesuffix(" {}") for line in deciding]

    # --- what rows name

    @cached_property
    def _by_line(self) -> dict[tuple[str, int], list[Setting]]:
        found: dict[tuple[str, int], list[Setting]] = {}
        for one in self.settings:
            found.setdefault((one.file, one.line), []).append(one)
        return found

    def named(self, row: Row, value: Any = ABSENT) -> list[Setting]:
        """The settings that a row names: those on its line that say what the row tells, of these those with *value*.

        Equal ones on one line are told apart by the column, where it is that of the value.
        """
        here = self._by_line.get((row.file or "", row.line or 0), [])
        for told in (row.value, value):
            here = [one for one in here if one.shown in texts(told)] or here
        exact = [one for one in here if row.column is not None and 0 <= one.column - row.column <= 1]
        return exact[:1] if exact and len(here) > 1 and not isinstance(row.value, (dict, list)) else here

    def line(self, row: Row) -> str:
        """The text of the line that a row names."""
        return _line(self.input.files, row.file or "", row.line or 0)

    def has_key(self, row: Row, value: Any) -> bool:
        """Whether a value stands as a key on the line that a row names."""
        return isinstance(value, str) and bool(re.search(rf"(?<!\w){re.escape(value)}['\"]?\s*:", self.line(row)))

    def touches(self, row: Row, files: Files) -> bool:
        """Whether the line that a row names is another one now."""
        return row.file is not None and _line(files, row.file, row.line or 0) != self.line(row)

    def is_stepped_through(self, path: Path) -> bool:
        """Whether a line of code that decides, such as a removal, steps through a path: it makes an empty map."""
        return self._decides_at("".join(f'["{step}"]' for step in path) + ".")

    def is_removed_below(self, path: Path) -> bool:
        """Whether a removal goes below a path: it finds what it removes there once nothing else stands in its way."""
        return self._decides_at("(" + "".join(f'"{step}", ' for step in path))

    def _decides_at(self, words: str) -> bool:
        """Whether a line of code that decides has these words."""
        lines = ((file, line) for file, line in lines_of(self.input.files) if file.endswith(CODE) and words in line)
        return any(self.system.decides(file, line) for file, line in lines)

    def is_gone(self, row: Row, files: Files) -> bool:
        """Whether what a row names is no longer on its line: the line is empty, or says something else there."""
        now = _line(files, row.file or "", row.line or 0)
        if not self.touches(row, files) or row.column is None or now.strip() in NOTHING:
            return self.touches(row, files) and now.strip() in NOTHING
        said = PRESENT.match(self.line(row), row.column - 1)
        return said is not None and not now.startswith(said[0], row.column - 1)

    def is_removed_by_value(self, one: Setting) -> bool:
        """Whether a line of code that decides names the value: a removal, which takes no other one out."""
        lines = ((file, line) for file, line in lines_of(self.input.files) if file.endswith(CODE) and one.old in line)
        return any(self.system.decides(file, line) for file, line in lines)

    def is_decided(self, row: Row) -> bool:
        """Whether the line named decides."""
        return self.system.decides(row.file or "", self.line(row))

    def is_computed(self, row: Row) -> bool:
        """Whether a line of code sets what it does not say."""
        return str(row.file).endswith(CODE) and bool(self.line(row).strip()) and not self.is_decided(row)

    def statement(self, row: Row) -> Setting:
        """A line of code that computes a value, as if it were a setting."""
        file, line, code = row.file or "", row.line or 0, self.line(row)
        start = (
            sum(len(one) + 1 for one in self.input.files[file].split("\n")[: line - 1]) + len(code) - len(code.lstrip())
        )
        return Setting(file, start, start + len(code.strip()), line, 1, code.strip(), None)


def lines_of(files: Files) -> Iterator[tuple[str, str]]:
    """Each line that is not blank, with its file."""
    return ((file, line) for file, text in files.items() for line in text.split("\n") if line.strip())


def _line(files: Files, file: str, line: int) -> str:
    lines = files.get(file, "").split("\n")
    return lines[line - 1] if 0 < line <= len(lines) else ""

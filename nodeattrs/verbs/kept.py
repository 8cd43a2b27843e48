"""What answers have looked at, kept in a file, so that a later change is asked only of subjects that it may touch.

A set is good for any side on which everything in it has the mark that it had: content decides, and no commit. It
knows keys and marks, and not what they are of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.contract.sides import Side
from nodeattrs.disk import Entry
from nodeattrs.errors import DocumentError

_VERSION = 1

_MOST_BYTES = 200_000_000
"""Of a file of notes: that of 10,000 nodes has some 20 MB."""


class Read(NamedTuple):
    """What a subject looked at, and what of its question is no file."""

    keys: frozenset[str]
    token: str


class Reads:
    """The sets of one file. What in it cannot be understood is none, and is made again.

    file:   None keeps nothing
    raises: DocumentError, where the file is another one, which is not to be lost
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._all: dict[str, Any] = {}
        if file is None or not file.exists():
            return
        try:
            if not file.is_file() or file.stat().st_size > _MOST_BYTES:
                raise ValueError
            found = json.loads(file.read_text("utf-8") or "{}")
            self._all = dict(found["asked"]) if found else {}
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            hint = "name another one with --reads, or remove it"
            raise DocumentError("does not hold what answers have looked at", file=str(file), hint=hint) from None

    def of(self, question: str, side: Side) -> dict[str, Read]:
        """Subject -> what it looked at, of those whose set is good for a side.

        question: who is asked, and how, in a word
        """
        try:
            kept = self._all[question]
            keys = kept["keys"]
            good = [side.mark(key) == mark for key, mark in zip(keys, kept["marks"], strict=True)]
            sets = [frozenset(keys[at] for at in one) if all(good[at] for at in one) else None for one in kept["sets"]]
            return {
                name: Read(found, token)
                for name, (at, token) in kept["subjects"].items()
                if (found := sets[at]) is not None
            }
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return {}

    def keep(self, question: str, side: Side, reads: Mapping[str, Read]) -> None:
        """Keep what the answers to a question have looked at, and write the file; other questions in the file stay.

        reads: subject -> what its answer has looked at; it replaces what was kept for the question
        A file that cannot be written is left out: no error is raised.
        """
        keys = sorted({key for one in reads.values() for key in one.keys})
        number = {key: at for at, key in enumerate(keys)}
        sets: dict[frozenset[str], int] = {}
        subjects = {name: (sets.setdefault(one.keys, len(sets)), one.token) for name, one in sorted(reads.items())}
        self._all[question] = {
            "keys": keys,
            "marks": [side.mark(key) for key in keys],
            "sets": [sorted(number[key] for key in one) for one in sets],
            "subjects": subjects,
        }
        if self._file is not None:
            with suppress(OSError):
                self._write(self._file, json.dumps({"version": _VERSION, "asked": self._all}))

    def _write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            Entry(folder, file.name).replace(text.encode("utf-8", "backslashreplace"), 0o600)
        finally:
            os.close(folder)

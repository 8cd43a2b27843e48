"""Inputs that fail made small: files, entries and lines go as long as the same cause is still found."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as Folder

from tests.causality.entries import withouts
from tests.causality.judge import Failure, examine
from tests.causality.system import Input, Refused, System

__all__ = ["shrunk"]

SECONDS = 20.0
"""How long one failure is worked on."""


def shrunk(system: System, input: Input, failure: Failure) -> tuple[Input, Failure]:
    """A smaller input that fails for the same cause, and how it fails."""
    until = time.monotonic() + SECONDS
    at = 0
    while time.monotonic() < until:
        candidates = list(_smaller(system, input))
        if at >= len(candidates):
            break
        again = _fails(system, candidates[at], failure)
        if again is None:
            at += 1
        else:
            input, failure, at = candidates[at], again, max(0, at - 1)
    return input, failure


def _smaller(system: System, input: Input) -> Iterator[Input]:
    """Without as much as possible first: files, entries, lines that decide."""
    for file in input.files:
        yield replace(input, files={name: text for name, text in input.files.items() if name != file})
    for one in reversed(input.settings):
        text = input.files[one.file]
        for found in reversed(list(withouts(text, Folder(one.file).suffix, one.start))):
            if len(smaller := _tidy(one.file, found)) < len(text):
                yield replace(input, files={**input.files, one.file: smaller})
    for file, text in input.files.items():
        lines = text.split("\n")
        for row in range(len(lines) - 1, -1, -1):
            if system.decides(file, lines[row]):
                yield replace(input, files={**input.files, file: "\n".join(lines[:row] + lines[row + 1 :])})


def _tidy(file: str, text: str) -> str:
    """Without blank lines, where they mean nothing."""
    return text if file.endswith(".mime") else "".join(f"{line}\n" for line in text.split("\n") if line.strip())


def _fails(system: System, input: Input, failure: Failure) -> Failure | None:
    with tempfile.TemporaryDirectory(prefix="causality") as folder:
        try:
            found = examine(system, input, Folder(folder), failure.kind)
        except (Refused, OSError):
            return None
    return next((one for one in found.failures if one.kind == failure.kind), None)

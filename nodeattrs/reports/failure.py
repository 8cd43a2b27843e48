"""Write errors and warnings as lines of text; for an error in cookbook code, also the lines of code that led to it.

Used by the terminal and by the command `run`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from traceback import extract_tb, format_exception

from nodeattrs.errors import RecipeFailed
from nodeattrs.reports.findings import Finding
from nodeattrs.reports.screen import Screen, printable


def failure_lines(error: BaseException, screen: Screen, root: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """The message of an error and its code; for a RecipeFailed also the stack frames in the folder *root*.

    Frames outside of *root* (this library, Python) are left out; without *root* all frames are.
    """
    yield from _marked("error", str(error) or type(error).__name__, getattr(error, "code", ""), screen)
    if isinstance(error, RecipeFailed) and root is not None:
        yield from (f"  {line}" for line in _call_lines(error, os.path.abspath(root)))


def traceback_lines(error: BaseException) -> Iterator[str]:
    """The whole Python traceback of an error, line by line."""
    for text in format_exception(error):
        yield from map(printable, text.splitlines())


def warning_lines(warning: Finding, screen: Screen) -> Iterator[str]:
    """The lines of a warning: severity, place, message and code first, as `failure_lines` prints an error."""
    yield from _marked(warning.severity, warning.text(), warning.code, screen)


def _marked(style: str, message: str, code: str, screen: Screen) -> Iterator[str]:
    first, *rest = [printable(line) for line in message.splitlines()] or [""]
    yield f"{screen.paint(f'{style}:', style)} {first} {screen.paint(f'[{code}]', 'faint')}"
    yield from rest


def _call_lines(error: RecipeFailed, root: str) -> Iterator[str]:
    # The error itself went through the including file, its cause through the included one.
    seen: set[tuple[str, int | None]] = set()
    for raised in (error, error.__cause__):
        for frame in extract_tb(raised.__traceback__) if raised else ():
            inside = os.path.relpath(frame.filename, root) if os.path.isabs(frame.filename) else ".."
            if inside.startswith("..") or (frame.filename, frame.lineno) in seen:
                continue
            seen.add((frame.filename, frame.lineno))
            place = f"{inside.replace(os.sep, '/')}:{frame.lineno}"
            function = f", in {frame.name}" if frame.name != "<module>" else ""
            yield printable(f"{place}{function}: {frame.line or ''}".rstrip(" :"))

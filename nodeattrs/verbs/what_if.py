"""A change that is not made yet, as the side after: files and lines taken away, items left out, values set.

It knows words of a command line and files, and no dialect but by the names that items have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeattrs.contract.request import Request, WhatIf
from nodeattrs.contract.sides import Side, copy_side, write_file
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import near
from nodeattrs.errors import NotFound
from nodeattrs.verbs.hunks import text_of

_ITEM = re.compile(r"(role|recipe)\[[^\]\n]+\]")
_LINE = re.compile(r"(.+):(\d{1,9})")


def side_after(
    before: Side,
    request: Request,
    without: Iterable[str],
    values: Iterable[tuple[TreePath, Any]],
    levels: Iterable[str],
    private: Path,
) -> tuple[Side, Request]:
    """The side after, and the request with the part of the change that is no edit of its files.

    without: files, FILE:LINE, role[NAME], recipe[NAME], and levels or layers
    levels:  those that there are
    private: where the side is laid
    raises:  NotFound, for a word that is none of it
    """
    items: list[str] = []
    skipped: list[str] = []
    gone: dict[str, set[int]] = {}
    for word in without:
        if _ITEM.fullmatch(word):
            items.append(word)
        elif (found := _file_of(before, request, word)) is not None:
            gone.setdefault(found[0], set()).update(found[1])
        elif word in levels:
            skipped.append(word)
        else:
            close = near(word, [*map(before.named, before.files), *levels])
            hint = (
                f"did you mean {' or '.join(close)}?"
                if close
                else "name a file, FILE:LINE, a level or layer, or role[NAME]"
            )
            raise NotFound(f"there is no {word} to do without", hint=hint)
    after = copy_side(before, private, " ".join(["without", *without] if gone or items or skipped else []))
    for file, lines in gone.items():
        write_file(after, file, _left(before, file, lines))
    files = {file: mark for file, mark in after.files.items() if file not in gone or gone[file]}
    files |= {file: f"without {sorted(lines)}" for file, lines in gone.items() if lines}
    sets = tuple(values)
    title = after.title or "as it is"
    title += " with " + ", ".join(".".join(map(str, path)) for path, _ in sets) if sets else ""
    what_if = WhatIf(tuple(items), sets, tuple(skipped))
    return Side(title, after.top, after.root, files), request._replace(what_if=what_if)


def _file_of(side: Side, request: Request, word: str) -> tuple[str, set[int]] | None:
    """A file of a side that a text names, and the line; None for no such file."""
    line = _LINE.fullmatch(word)
    for name, lines in ((word, set()), *([(line[1], {int(line[2])})] if line else [])):
        for place in (side.root / name, request.place(side, name)):
            file = os.path.relpath(place, side.top).replace(os.sep, "/")
            if file in side.files and (not lines or len(text_of(side, file) or ()) >= max(lines) > 0):
                return file, lines
    return None


def _left(side: Side, file: str, lines: set[int]) -> str | None:
    if not lines:
        return None
    return "".join(text for number, text in enumerate(text_of(side, file) or (), 1) if number not in lines)

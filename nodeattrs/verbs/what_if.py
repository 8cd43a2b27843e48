"""Make the side after of a `what-if`: a copy of the files without some files and lines, and a changed request.

The module reads the words of the command line. Roles, recipes, levels and values go into the request; dialects apply
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeattrs.contract.request import Request, WhatIf
from nodeattrs.contract.sides import Side
from nodeattrs.contract.written_sides import copy_side, write_file
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import near
from nodeattrs.errors import NotFound
from nodeattrs.verbs.hunks import file_and_line, text_of

_ITEM = re.compile(r"(role|recipe)\[[^\]\n]+\]")
_HINT = "name a file, FILE:LINE, a level or layer, or role[NAME]"


def side_after(
    before: Side,
    request: Request,
    without: Iterable[str],
    values: Iterable[tuple[TreePath, Any]],
    levels: Iterable[str],
    private: Path,
) -> tuple[Side, Request]:
    """Returns (side after, request). The request has the changes that are not edits of files.

    The files of the side after are written to *private*.

    without: what to leave out, each as one word: a file, FILE:LINE, role[NAME], recipe[NAME], or the name of a level.
             The sequence is read twice
    values:  (path, value) of each attribute that is set
    levels:  the names of all levels and layers of all dialects
    private: a folder that does not exist yet
    raises:  NotFound, with near misses, for any other word, and for FILE:LINE with a line that the file does not have.
             Whether there is a role[NAME] or recipe[NAME] is not checked here
    """
    items: list[str] = []
    skipped: list[str] = []
    gone: dict[str, set[int]] = {}
    for word in without:
        if _ITEM.fullmatch(word):
            items.append(word)
        elif (found := file_and_line(before, request, word)) is not None and _is_there(before, *found):
            gone.setdefault(found[0], set()).update([] if found[1] is None else [found[1]])
        elif word in levels:
            skipped.append(word)
        else:
            close = near(word, [*map(before.named, before.files), *levels])
            hint = f"did you mean {' or '.join(close)}?" if close else _HINT
            raise NotFound(f"there is no {word} to do without", hint=hint)
    after = copy_side(before, private, " ".join(["without", *without] if gone or items or skipped else []))
    for file, lines in gone.items():
        write_file(after, file, _without(before, file, lines))
    files = {file: mark for file, mark in after.files.items() if file not in gone or gone[file]}
    files |= {file: f"without {sorted(lines)}" for file, lines in gone.items() if lines}
    sets = tuple(values)
    title = after.title or "as it is"
    title += " with " + ", ".join(".".join(map(str, path)) for path, _ in sets) if sets else ""
    what_if = WhatIf(tuple(items), sets, tuple(skipped))
    return Side(title, after.top, after.root, files), request._replace(what_if=what_if)


def _is_there(side: Side, file: str, line: int | None) -> bool:
    return line is None or 0 < line <= len(text_of(side, file) or ())


def _without(side: Side, file: str, lines: set[int]) -> str | None:
    """The text of a file without some lines; None, for no file, without lines."""
    if not lines:
        return None
    return "".join(text for number, text in enumerate(text_of(side, file) or (), 1) if number not in lines)

"""What the lines behind an attribute read, and which sources that were not read may change that."""

from __future__ import annotations

import linecache
import pathlib

from nodeattrs.causes.program_reads import conditions_of, reads_of
from nodeattrs.contract.answers import lines_of
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, parse
from nodeattrs.core.unread import Unread
from nodeattrs.node.node import Node
from nodeattrs.reports.values import unread_at


def unread_behind(root: pathlib.Path, node: Node, path: Path) -> list[Unread]:
    """The sources that were not read and may change an attribute that the lines for *path* read, also by way of others.

    Lines of Python are followed, with the conditions and loops around them, and attributes whose keys are constant.
    cost: a trace for each attribute that such a line reads; none where every source was read
    """
    found: dict[Unread, None] = {}
    if not any(slot.unknown for slot in node.slots.values()):
        return []
    seen, ahead = {path}, [path]
    while ahead:
        for origin in dict.fromkeys(lines_of(node.trace(ahead.pop()))):
            for what in _read_at(root, origin):
                if "(" not in what and (read := parse(what)) not in seen:
                    seen.add(read)
                    ahead.append(read)
                    found |= dict.fromkeys(unread_at(node, read))
    return [*found]


def _read_at(root: pathlib.Path, origin: Origin) -> tuple[str, ...]:
    """What a line of Python reads, and what the conditions around it read; () for a line of another language."""
    text = python_at(root, origin)
    return () if origin.line is None else (*reads_of(text, origin.line), *conditions_of(text, origin.line))


def python_at(root: pathlib.Path, origin: Origin) -> str:
    """The text of the file of an origin; "" where that is no Python."""
    if origin.file is None or not origin.file.endswith(".py"):
        return ""
    return "".join(linecache.getlines(str(root / origin.file)))

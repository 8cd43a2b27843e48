"""The tree of a text, as lark makes it from `grammar.lark`; that of a file is made once and remembered.

What is remembered are the names of branches and where they begin and end, numbers beside the bytecode: whoever reads
them needs neither lark nor its tables. Of a text that cannot be read nothing is remembered. What the branches mean is
for the modules beside this one.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sys
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import cache_from_source
from itertools import accumulate
from typing import Any

from nodeattrs.disk import write_whole
from nodeattrs.errors import missing_extra

_MOST = 500
"""So many trees are remembered; with more, those that were written first go."""

Row = list[Any]
"""A branch as it is remembered: name, where it begins and ends (None for an empty one), rows; a word has no name."""


class Unexpected(Exception):
    """A text that is none. args: lark's error"""


class Branch:
    """A branch of a tree. data: the name of its rule"""

    __slots__ = ("children", "column", "data", "end_pos", "line", "start_pos")

    def __init__(self, data: str, start: int | None, end: int | None, children: list[Any], lines: list[int]) -> None:
        self.data, self.children = data, children
        self.start_pos, self.end_pos = start, end
        self.line, self.column = _place(lines, start)


class Word(str):
    """A word of a text, which knows where it stands."""

    __slots__ = ("column", "end_pos", "line", "start_pos")
    start_pos: int
    end_pos: int
    line: int | None
    column: int | None


def _place(lines: list[int], at: int | None) -> tuple[int | None, int | None]:
    if at is None:
        return None, None
    line = bisect_right(lines, at)
    return line, at - lines[line - 1] + 1


def tree_of(text: str, start: str, remembered: bool) -> Branch:
    """The tree of a whole text. raises: Unexpected, MissingExtra, RecursionError

    remembered: looked for among those of before, and written to them
    """
    place = _remembered_at(text, start) if remembered else None
    row = None if place is None else _read(place)
    if row is None:
        row = _row(_parsed(text, start))
        if place is not None and not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                _write(place, row)
    lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    branch: Branch = _grown(row, text, lines)
    return branch


def _parsed(text: str, start: str) -> Any:
    known = parser()
    import lark

    try:
        return known.parse(text, start=start)
    except lark.exceptions.UnexpectedInput as error:
        raise Unexpected(error) from None


def _row(tree: Any) -> Row:
    """A branch or token of lark."""
    at = getattr(tree, "meta", tree)
    ends = [getattr(at, "start_pos", None), getattr(at, "end_pos", None)]
    return [str(tree.data), *ends, list(map(_row, tree.children))] if hasattr(tree, "data") else ends


def _grown(row: Row, text: str, lines: list[int]) -> Any:
    if len(row) > 2:
        name, start, end, children = row
        return Branch(name, start, end, [_grown(child, text, lines) for child in children], lines)
    start, end = row
    word = Word(text[start:end])
    word.start_pos, word.end_pos = start, end
    word.line, word.column = _place(lines, start)
    return word


# -- what is remembered


def _beside_bytecode(name: str) -> str:
    """A file for what is made from the grammar, another one for each grammar. It is trusted as bytecode is."""
    return f"{os.path.splitext(cache_from_source(__file__))[0]}-{zlib.crc32(_grammar()):08x}-{name}"


@functools.cache
def _grammar() -> bytes:
    loader: Any = __spec__.loader  # as `pkgutil` asks it
    content: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), "grammar.lark"))
    return content


def _remembered_at(text: str, start: str) -> str:
    return _beside_bytecode(f"{sha256(f'{start} {text}'.encode('utf-8', 'surrogatepass')).hexdigest()}.tree")


def _read(place: str) -> Row | None:
    """A tree that is remembered; None where it is not, or is damaged."""
    with contextlib.suppress(OSError, ValueError, RecursionError), open(place, "rb") as file:
        check, _, content = file.read().partition(b"\n")
        if int(check, 16) == zlib.crc32(content):
            row: Row = json.loads(content)
            return row
    return None


def _write(place: str, row: Row) -> None:
    content = json.dumps(row, separators=(",", ":")).encode()
    write_whole(place, b"%08x\n%s" % (zlib.crc32(content), content))
    kept = sorted(_trees(os.path.dirname(place)), key=lambda file: file.stat().st_mtime)
    for file in kept[:-_MOST]:
        os.unlink(file)


def _trees(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as files:
        yield from (file for file in files if file.name.endswith(".tree"))


@functools.cache
def parser() -> Any:
    """Lark's parser of the language.

    cost: 0.2 s the first time; its tables are kept beside the bytecode, where that may be written, and as trusted
    """
    try:
        import lark
    except ImportError:
        raise missing_extra("lark", "bindings", "reading the text language of bindings") from None
    kept = _beside_bytecode(f"{lark.__version__}.tables")
    with contextlib.suppress(Exception), open(kept, "rb") as file:  # what cannot be read is made again
        return lark.Lark.load(file)
    made = lark.Lark(
        _grammar().decode(), parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False,
        start=["bindings_file", "site_file", "items", "inject_call", "expression"],
    )  # fmt: skip
    if not sys.dont_write_bytecode:
        tables = io.BytesIO()
        made.save(tables)
        with contextlib.suppress(OSError):
            write_whole(kept, tables.getvalue())
    return made

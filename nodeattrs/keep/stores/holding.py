"""What nodes have in a database: their revisions, their texts, and their parts of the index.

A node is forgotten without a look at the others: what it had and nobody else has goes. Its tables are in `tables`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from nodeattrs.errors import DocumentError
from nodeattrs.keep.revisions import Noted, Revision
from nodeattrs.keep.stores.indexing import field_rows, word_rows
from nodeattrs.keep.stores.talk import Question, Talk
from nodeattrs.keep.stores.texts import KINDS, as_bytes

ITS_REVISIONS = "revision WHERE node = (SELECT id FROM node WHERE name = ?)"
Hashes = list[bytes | None]
"""The names of the texts of a revision, one for each of KINDS; of none, nothing."""
_LAST = "SELECT max(o.number) FROM revision o WHERE o.node = n.id"
_OF_ALL = f"node n JOIN revision r ON r.node = n.id AND r.number = ({_LAST})"
LATEST_OF_ALL = f"SELECT n.name, r.number, r.at, r.noted FROM {_OF_ALL} WHERE n.name > ? ORDER BY n.name LIMIT ?"


def latest_of(talk: Talk, names: Collection[str]) -> Question:
    """Asks for the latest revisions of nodes: name, number, time, note, and the names of its texts."""
    named, wanted = talk.among("n.name", names)
    return (
        f"SELECT n.name, r.number, r.at, r.noted, r.document, r.snapshot, r.facts FROM {_OF_ALL} WHERE {named}",
        wanted,
    )


def spelled(at: datetime) -> str:
    """A time as text whose order is that of time."""
    return at.isoformat(timespec="microseconds")


def when(at: int | datetime | None) -> tuple[str, list[Any]]:
    """A condition that a revision is the one at a time, or has a number, and its value."""
    if at is None:
        return "", []
    if isinstance(at, datetime):
        return " AND at <= ?", [spelled(at)]
    return " AND number = ?", [at]


def revision_in(name: str, row: Sequence[Any]) -> Revision:
    """row: number, time and note. raises: DocumentError"""
    number, at, noted = row
    try:
        return Revision(number, datetime.fromisoformat(at).astimezone(UTC), _noted(noted))
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise DocumentError(f"revision {number} of the node {name!r} has a damaged note: {error}") from None


@lru_cache(maxsize=256)
def _noted(text: str) -> Noted:
    """What is noted; most runs of a fleet are noted alike. raises: ValueError"""
    return Noted.from_dict(json.loads(text))


def texts_in(latest: Sequence[Any]) -> Hashes:
    """The names of the texts of a revision, as `latest_of` has it; nothing where there is none."""
    return hashes_in(latest[4:7])


def hashes_in(names: Sequence[Any]) -> Hashes:
    """The names of texts, as a database gives them."""
    return [None if name is None else as_bytes(name) for name in names]


def put_revisions(talk: Talk, saves: Iterable[tuple[int, Revision, str, Hashes]]) -> None:
    """Write revisions whose texts are there: of which node, what is noted of it, and its texts."""
    talk.each(
        (
            "INSERT INTO revision (node, number, at, noted, document, snapshot, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(node, revision.number, spelled(revision.at), noted, *hashes) for node, revision, noted, hashes in saves],
        )
    )


# --- forgetting ----------------------------------------------------------------------


def forget_node(talk: Talk, node: int) -> None:
    """Remove what a node has, and nobody else. cost: that of what it has"""
    forget_revisions(talk, node)
    parts = talk.all("SELECT part FROM node_part WHERE node = ?", node)
    talk.all("DELETE FROM node_part WHERE node = ?", node)
    forget_parts(talk, {part for (part,) in parts} | _former(talk, "WHERE node = ?", node))


def forget_revisions(talk: Talk, node: int, last: int = 2**31 - 1) -> int:
    """Remove the revisions of a node, up to the *last* one; how many there were. cost: as `forget_node`"""
    which = "WHERE node = ? AND number <= ?"
    rows = talk.all(f"SELECT {', '.join(KINDS)} FROM revision {which}", node, last)
    talk.all(f"DELETE FROM revision {which}", node, last)
    had = {as_bytes(name) for row in rows for name in row if name is not None}
    unused = " AND ".join(f"NOT EXISTS (SELECT 1 FROM revision WHERE {kind} = text.hash)" for kind in KINDS)
    lost = talk.found(f"SELECT hash FROM text WHERE {unused} AND hash = ?", had) if had else ()
    talk.each(("DELETE FROM text WHERE hash = ?", sorted((as_bytes(name),) for (name,) in lost)))
    return len(rows)


def forget_former(talk: Talk) -> None:
    """Remove the parts that nodes had once, and none has now."""
    forget_parts(talk, _former(talk))


def _former(talk: Talk, condition: str = "", *values: int) -> set[int]:
    parts = {part for (part,) in talk.all(f"SELECT part FROM former {condition}", *values)}
    talk.all(f"DELETE FROM former {condition}", *values)
    return parts


def _words(talk: Talk, path: int, entry: int, folded: Any) -> Iterable[tuple[int, int, int]]:
    """The rows of the words of a value; none of a value that is no text any more, in a file that was damaged."""
    return word_rows(talk.secret, path, entry, folded) if isinstance(folded, str) else ()


def forget_parts(talk: Talk, parts: set[int]) -> None:
    """Remove those of the parts that no node has, and what could be found in nothing else."""
    parts = talk.unused("node_part", "part", parts)
    condition, wanted = talk.among("part", parts)
    entries = {entry for (entry,) in talk.all(f"SELECT DISTINCT entry FROM part_entry WHERE {condition}", wanted)}
    talk.each(("DELETE FROM part_entry WHERE part = ?", [(part,) for part in parts]))
    talk.each(("DELETE FROM part WHERE id = ?", [(part,) for part in parts]))
    condition, wanted = talk.among("id", talk.unused("part_entry", "entry", entries))
    lost = talk.all(f"SELECT id, path, coalesce(folded, text) FROM entry WHERE {condition}", wanted)
    words = [row for entry, path, folded in lost for row in _words(talk, path, entry, folded)]
    talk.each(("DELETE FROM word WHERE word = ? AND path = ? AND entry = ?", words))
    talk.each(("DELETE FROM entry WHERE id = ?", [(entry,) for entry, *_ in lost]))
    condition, wanted = talk.among("id", talk.unused("entry", "path", {path for _, path, _ in lost}))
    paths = talk.all(f"SELECT id, steps FROM path WHERE {condition}", wanted)
    fields = [row for path, steps in paths for row in field_rows(talk.secret, path, tuple(json.loads(steps)))]
    rows = [(field, path, depth) for field, _, path, depth in fields]
    talk.each(("DELETE FROM field WHERE id = ? AND path = ? AND depth = ?", rows))
    talk.each(("DELETE FROM path WHERE id = ?", [(path,) for path, _ in paths]))

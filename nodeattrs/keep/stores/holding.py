"""What nodes have in a database: their revisions, and which texts, pieces and parts.

Who needs what is noted beside it, so what nobody needs any more is found from what is taken away, and a node is
forgotten without a look at the others. Its tables, `held` and `former`, are in `tables`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from nodeattrs.errors import DocumentError
from nodeattrs.keep.revisions import Noted, Revision
from nodeattrs.keep.stores.indexing import field_rows, insert, number_of, word_rows
from nodeattrs.keep.stores.pieces import as_bytes, hashed, names_in
from nodeattrs.keep.stores.talk import Question, Talk

ITS_REVISIONS = "revision WHERE node = (SELECT id FROM node WHERE name = ?)"
_LAST = "SELECT max(o.number) FROM revision o WHERE o.node = n.id"
_OF_ALL = f"node n JOIN revision r ON r.node = n.id AND r.number = ({_LAST})"
LATEST_OF_ALL = f"SELECT n.name, r.number, r.at, r.noted FROM {_OF_ALL} WHERE n.name > ? ORDER BY n.name LIMIT ?"
BEGUN = "b.made_of, b.seal, b.begins"
"""What stands beside the latest revision; `begun_in` takes a row that ends so."""


def latest_of(talk: Talk, names: Collection[str]) -> Question:
    """Asks for the latest revisions of nodes: name, number, time, note, the two texts, and what stands beside them."""
    named, wanted = talk.among("n.name", names)
    asked = f"SELECT n.name, r.number, r.at, r.noted, r.document, r.snapshot, {BEGUN} FROM {_OF_ALL}"
    return f"{asked} LEFT JOIN begun b ON b.node = n.id WHERE {named}", wanted


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


def texts_in(latest: Sequence[Any]) -> list[bytes]:
    """The names of the texts of a revision, as `latest_of` has it; nothing where there is none."""
    return [as_bytes(text) for text in latest[4:6] if text is not None]


_HASH = 32


def seal_of(made_of: bytes, hashes: Sequence[bytes], begins: bytes) -> bytes:
    return hashed(b"".join((made_of, *hashes, begins)))


class Begun(NamedTuple):
    """What stands beside the latest revision.

    made_of, outlined: as `Saved` has them; one after the other in the database
    begins: what the next run begins with, packed
    """

    made_of: bytes = b""
    outlined: bytes = b""
    begins: bytes = b""


def begun_in(row: Sequence[Any], hashes: Sequence[bytes]) -> Begun:
    """What stands beside a revision with these texts; nothing if that is not known."""
    made_of, seal, begins = map(as_bytes, row[-3:])
    is_its = bool(made_of) and seal == seal_of(made_of, hashes, begins)
    return Begun(made_of[:_HASH], made_of[_HASH:], begins) if is_its else Begun()


# --- who needs what ------------------------------------------------------------------


def _numbered(talk: Talk, texts: Mapping[bytes, bytes]) -> dict[int, tuple[str, bytes]]:
    """Texts and their pieces by their numbers: the table of each, and its hash."""
    found = {number_of(talk.secret, b"text", text): ("text", text) for text in texts}
    names = set().union(*map(names_in, texts.values()))
    return found | {number_of(talk.secret, b"piece", name): ("piece", name) for name in names}


def hold(talk: Talk, nodes: Iterable[tuple[int, Mapping[bytes, bytes]]]) -> None:
    """Note that nodes have texts. nodes: the texts of each, each with the names of its pieces"""
    numbers: dict[bytes, int] = {}  # nodes have most pieces in common
    rows: list[tuple[int, int]] = []
    for node, texts in nodes:
        names = set().union(*map(names_in, texts.values()))
        numbers |= {name: number_of(talk.secret, b"piece", name) for name in names - numbers.keys()}
        rows += [(number_of(talk.secret, b"text", text), node) for text in texts]
        rows += [(numbers[name], node) for name in names]
    insert(talk, "held (what, holder)", sorted(rows))


def is_all_held(talk: Talk) -> bool:
    """Whether as much is held as should be."""
    ((held,),) = talk.all("SELECT count(*) FROM held")
    wanted = sum(len(texts) + len(set().union(*map(names_in, texts.values()))) for _, texts in _texts_of_nodes(talk))
    return bool(held == wanted)


def _texts_of_nodes(talk: Talk) -> Iterator[tuple[int, dict[bytes, bytes]]]:
    for (node,) in talk.rows("SELECT id FROM node"):
        yield node, _texts_of(talk, node, 0)


def _texts_of(talk: Talk, node: int, after: int) -> dict[bytes, bytes]:
    """The texts of the revisions of a node after one, each with the names of its pieces."""
    rows = talk.all(
        "SELECT hash, pieces FROM text WHERE hash IN (SELECT document FROM revision WHERE node = ? AND number > ? "
        "UNION SELECT snapshot FROM revision WHERE node = ? AND number > ?)",
        *(node, after) * 2,
    )
    return {as_bytes(text): as_bytes(pieces) for text, pieces in rows}


def forget_node(talk: Talk, node: int) -> None:
    """Remove what a node has, and nobody else. cost: that of what it has"""
    forget_revisions(talk, node)
    parts = talk.all("SELECT part FROM node_part WHERE node = ?", node)
    for table in ("node_part", "begun"):
        talk.all(f"DELETE FROM {table} WHERE node = ?", node)
    forget_parts(talk, {part for (part,) in parts} | _former(talk, "WHERE node = ?", node))


def forget_revisions(talk: Talk, node: int, last: int = 2**31 - 1) -> int:
    """Remove the revisions of a node, up to the *last* one; how many there were. cost: as `forget_node`"""
    had, left = _texts_of(talk, node, 0), _texts_of(talk, node, last)
    ((count,),) = talk.all("SELECT count(*) FROM revision WHERE node = ? AND number <= ?", node, last)
    talk.all("DELETE FROM revision WHERE node = ? AND number <= ?", node, last)
    gone = _numbered(talk, had)
    for what in _numbered(talk, left):
        gone.pop(what, None)
    talk.each("DELETE FROM held WHERE what = ? AND holder = ?", sorted((what, node) for what in gone))
    free = talk.unused("held", "what", set(gone))
    for table in ("text", "piece"):
        lost = sorted((gone[one][1],) for one in free if gone[one][0] == table)
        talk.each(f"DELETE FROM {table} WHERE hash = ?", lost)
    return int(count)


def forget_former(talk: Talk) -> None:
    """Remove the parts that nodes had once, and none has now."""
    forget_parts(talk, _former(talk))


def _former(talk: Talk, condition: str = "", *values: int) -> set[int]:
    parts = {part for (part,) in talk.all(f"SELECT part FROM former {condition}", *values)}
    talk.all(f"DELETE FROM former {condition}", *values)
    return parts


def forget_parts(talk: Talk, parts: set[int]) -> None:
    """Remove those of the parts that no node has, and what could be found in nothing else."""
    parts = talk.unused("node_part", "part", parts)
    condition, wanted = talk.among("part", parts)
    entries = {entry for (entry,) in talk.all(f"SELECT DISTINCT entry FROM part_entry WHERE {condition}", wanted)}
    talk.each("DELETE FROM part_entry WHERE part = ?", [(part,) for part in parts])
    talk.each("DELETE FROM part WHERE id = ?", [(part,) for part in parts])
    condition, wanted = talk.among("id", talk.unused("part_entry", "entry", entries))
    lost = talk.all(f"SELECT id, path, coalesce(folded, text) FROM entry WHERE {condition}", wanted)
    words = [row for entry, path, folded in lost for row in word_rows(talk.secret, path, entry, folded)]
    talk.each("DELETE FROM word WHERE word = ? AND path = ? AND entry = ?", words)
    talk.each("DELETE FROM entry WHERE id = ?", [(entry,) for entry, *_ in lost])
    condition, wanted = talk.among("id", talk.unused("entry", "path", {path for _, path, _ in lost}))
    paths = talk.all(f"SELECT id, steps FROM path WHERE {condition}", wanted)
    fields = [row for path, steps in paths for row in field_rows(talk.secret, path, tuple(json.loads(steps)))]
    rows = [(field, path, depth) for field, _, path, depth in fields]
    talk.each("DELETE FROM field WHERE id = ? AND path = ? AND depth = ?", rows)
    talk.each("DELETE FROM path WHERE id = ?", [(path,) for path, _ in paths])

"""Who needs what in a database: which nodes have a text, which texts have a piece, which parts a node has had.

So what nobody needs any more is found from what is taken away, and a node is forgotten without a look at the
others. Its tables, `held` and `former`, are in `tables`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from nodeattrs.keep.stores.indexing import field_rows, insert, number_of, word_rows
from nodeattrs.keep.stores.pieces import as_bytes, names_in
from nodeattrs.keep.stores.talk import Talk

Held = tuple[int, int]
"""What is held, and by whom: a text by a node, a piece by a text."""


def by_node(talk: Talk, node: int, text: bytes) -> Held:
    return number_of(talk.secret, b"text", text), node


def by_text(talk: Talk, text: bytes, pieces: bytes) -> dict[Held, bytes]:
    """What a text holds, and the name of each piece."""
    holder = number_of(talk.secret, b"text", text)
    return {(number_of(talk.secret, b"piece", name), holder): name for name in names_in(pieces)}


def hold(talk: Talk, held: Iterable[Held]) -> None:
    insert(talk, "held (what, holder)", sorted(held))


_TEXTS_OF_NODES = (
    "SELECT node, document FROM revision UNION SELECT node, snapshot FROM revision WHERE snapshot IS NOT NULL"
)


def hold_all(talk: Talk) -> None:
    """Note anew who holds what."""
    talk.all("DELETE FROM held")
    for text, pieces in talk.all("SELECT hash, pieces FROM text"):
        hold(talk, by_text(talk, as_bytes(text), as_bytes(pieces)))
    hold(talk, [by_node(talk, node, as_bytes(text)) for node, text in talk.all(_TEXTS_OF_NODES)])


def is_all_held(talk: Talk) -> bool:
    """Whether as much is held as should be."""
    ((held,),) = talk.all("SELECT count(*) FROM held")
    pieces = sum(len(names_in(as_bytes(pieces))) for (pieces,) in talk.all("SELECT pieces FROM text"))
    return bool(held == pieces + len(talk.all(_TEXTS_OF_NODES)))


def forget_node(talk: Talk, node: int) -> None:
    """Remove what a node has, and nobody else. cost: that of what it has"""
    forget_revisions(talk, node)
    parts = talk.all("SELECT part FROM node_part WHERE node = ?", node)
    talk.all("DELETE FROM node_part WHERE node = ?", node)
    forget_parts(talk, {part for (part,) in parts} | _former(talk, "WHERE node = ?", node))


def forget_revisions(talk: Talk, node: int, last: int | None = None) -> int:
    """Remove the revisions of a node, up to the *last* one; how many there were. cost: as `forget_node`"""
    rows = talk.all("SELECT number, document, snapshot FROM revision WHERE node = ?", node)
    gone = [row for row in rows if last is None or row[0] <= last]
    left = {as_bytes(text) for number, *texts in rows if last is not None and number > last for text in texts}
    talk.each("DELETE FROM revision WHERE node = ? AND number = ?", [(node, number) for number, *_ in gone])
    texts = {
        by_node(talk, node, text): text for row in gone for text in map(as_bytes, row[1:]) if text and text not in left
    }
    free = _let_go(talk, texts)
    lost = [text for (what, _), text in texts.items() if what in free]
    pieces: dict[Held, bytes] = {}
    for text in lost:
        for (names,) in talk.all("SELECT pieces FROM text WHERE hash = ?", text):
            pieces |= by_text(talk, text, as_bytes(names))
    free = _let_go(talk, pieces)
    talk.each("DELETE FROM text WHERE hash = ?", [(text,) for text in lost])
    talk.each("DELETE FROM piece WHERE hash = ?", {(name,) for (what, _), name in pieces.items() if what in free})
    return len(gone)


def forget_former(talk: Talk) -> None:
    """Remove the parts that nodes had once, and none has now."""
    forget_parts(talk, _former(talk))


def _former(talk: Talk, condition: str = "", *values: int) -> set[int]:
    parts = {part for (part,) in talk.all(f"SELECT part FROM former {condition}", *values)}
    talk.all(f"DELETE FROM former {condition}", *values)
    return parts


def _let_go(talk: Talk, held: Collection[Held]) -> set[int]:
    """Note that it is not held any more; what of it nobody else holds."""
    talk.each("DELETE FROM held WHERE what = ? AND holder = ?", sorted(held))
    return _without(talk, "held", "what", {what for what, _ in held})


def _without(talk: Talk, table: str, column: str, numbers: set[int]) -> set[int]:
    """Those of the numbers that stand in no row."""
    condition, wanted = talk.among(column, numbers)
    return numbers - {
        number for (number,) in talk.all(f"SELECT DISTINCT {column} FROM {table} WHERE {condition}", wanted)
    }


def forget_parts(talk: Talk, parts: set[int]) -> None:
    """Remove those of the parts that no node has, and what could be found in nothing else."""
    parts = _without(talk, "node_part", "part", parts)
    condition, wanted = talk.among("part", parts)
    entries = {entry for (entry,) in talk.all(f"SELECT DISTINCT entry FROM part_entry WHERE {condition}", wanted)}
    talk.each("DELETE FROM part_entry WHERE part = ?", [(part,) for part in parts])
    talk.each("DELETE FROM part WHERE id = ?", [(part,) for part in parts])
    condition, wanted = talk.among("id", _without(talk, "part_entry", "entry", entries))
    lost = talk.all(f"SELECT id, path, coalesce(folded, text) FROM entry WHERE {condition}", wanted)
    words = [row for entry, path, folded in lost for row in word_rows(talk.secret, path, entry, folded)]
    talk.each("DELETE FROM word WHERE word = ? AND path = ? AND entry = ?", words)
    talk.each("DELETE FROM entry WHERE id = ?", [(entry,) for entry, *_ in lost])
    condition, wanted = talk.among("id", _without(talk, "entry", "path", {path for _, path, _ in lost}))
    paths = talk.all(f"SELECT id, steps FROM path WHERE {condition}", wanted)
    fields = [row for path, steps in paths for row in field_rows(talk.secret, path, tuple(json.loads(steps)))]
    rows = [(field, path, depth) for field, _, path, depth in fields]
    talk.each("DELETE FROM field WHERE id = ? AND path = ? AND depth = ?", rows)
    talk.each("DELETE FROM path WHERE id = ?", [(path,) for path, _ in paths])

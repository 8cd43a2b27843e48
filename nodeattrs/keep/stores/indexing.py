"""The index for search in a database, as it is written. Its tables are in `tables`; `index` asks it.

What can be found of a node are its parts; a part that other nodes have is there, and nothing of it is made again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from nodeattrs.keep.revisions import JsonMap
from nodeattrs.keep.search.fields import Branch, IndexPart, Steps, index_parts, names_of
from nodeattrs.keep.stores.talk import Statement, Talk

WORDS = re.compile(r"[A-Za-z0-9@._':-]+")
"""The words of a casefolded text, as `terms.Pattern` has them."""


def number_of(secret: bytes, kind: bytes, content: bytes) -> int:
    """What a store with this key calls a thing."""
    digest = _keyed(secret, kind).copy()
    digest.update(content)
    return int.from_bytes(digest.digest(), signed=True)


@lru_cache(maxsize=16)
def _keyed(secret: bytes, kind: bytes) -> Any:
    # To take in the key costs as much as what follows.
    return blake2b(digest_size=8, key=secret, person=kind)


def path_of(secret: bytes, steps: Steps) -> tuple[int, str]:
    """What a store calls a path, and how it is spelled there."""
    spelled = json.dumps(steps)
    return number_of(secret, b"path", spelled.encode()), spelled


def entry_of(secret: bytes, spelled: str, kind: str, text: str) -> int:
    """What a store calls a value at a path."""
    return number_of(secret, b"entry", f"{spelled}\n{kind}\n{text}".encode())


class Numbers:
    """What a store calls the values that a process has met.

    root:    where documents begin; its values are named by their numbers
    entries: by its number the path of a value, its kind and its text
    paths:   by its number the keys of a path, and how they are spelled
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known: dict[Steps, int] = {}
        self.root = Branch((), self._named)
        self.entries: dict[int, tuple[int, str, str]] = {}
        self.paths: dict[int, tuple[Steps, str]] = {}
        self.size = 0

    def _named(self, steps: Steps, kind: str, text: str) -> int:
        if steps not in self._known:
            path, spelled = path_of(self._secret, steps)
            self.paths[path] = steps, spelled
            self._known[steps] = path
            self.size += _EACH
        path = self._known[steps]
        number = entry_of(self._secret, self.paths[path][1], kind, text)
        self.entries[number] = path, kind, text
        self.size += _EACH + len(text)
        return number


_EACH, _MOST = 400, 8_000_000
"""Bytes that a value or a path costs, about, and how many of them a process remembers before it begins anew."""


def numbers_of(secret: bytes) -> Numbers:
    """Those of the store with this key. Most values are those of the node before."""
    if _numbers(secret).size > _MOST:
        _numbers.cache_clear()
    return _numbers(secret)


@lru_cache(maxsize=1)
def _numbers(secret: bytes) -> Numbers:
    return Numbers(secret)


def word_rows(secret: bytes, path: int, entry: int, folded: str) -> Iterable[tuple[int, int, int]]:
    """The rows of the words of a casefolded text."""
    return [(number_of(secret, b"word", word.encode()), path, entry) for word in set(WORDS.findall(folded))]


def is_worded(talk: Talk) -> bool:
    """Whether as many words are known as there should be."""
    ((count,),) = talk.all("SELECT count(*) FROM word")
    for (text,) in talk.rows("SELECT coalesce(folded, text) FROM entry"):
        if not isinstance(text, str):  # in a file of SQLite, which knows the type of each value, that was damaged
            return False
        count -= len(set(WORDS.findall(text)))
    return bool(count == 0)


def field_rows(secret: bytes, path: int, steps: Steps) -> Iterable[tuple[int, str, int, int]]:
    """The rows of the fields that show a path."""
    return [(number_of(secret, b"field", name.encode()), name, path, depth) for name, depth in names_of(steps)]


def numbered_parts(secret: bytes, document: JsonMap) -> dict[int, IndexPart]:
    """The parts of a document, by what a store with this key calls them."""
    return {number_of(secret, b"part", part.key): part for part in index_parts(document)}


def put_index(talk: Talk, nodes: Mapping[int, Mapping[int, IndexPart]]) -> None:
    """Let search find nodes as their documents are. nodes: the parts of each, by number"""
    secret, numbers = talk.secret, numbers_of(talk.secret)
    parts = {number: part for its in nodes.values() for number, part in its.items()}
    among_parts, wanted_parts = talk.among("id", parts)
    among_nodes, wanted_nodes = talk.among("node", nodes)
    there, kept = talk.answers(
        (f"SELECT id FROM part WHERE {among_parts}", wanted_parts),
        (f"SELECT part, node FROM node_part WHERE {among_nodes}", wanted_nodes),
    )
    new = {number: parts[number].entries(numbers.root) for number in sorted(parts.keys() - {one for (one,) in there})}
    if new:
        _put_parts(talk, secret, numbers, new)
    wanted = {(part, node) for node, its in nodes.items() for part in its}
    gone = sorted({*kept} - wanted)
    talk.each(
        ("DELETE FROM node_part WHERE part = ? AND node = ?", gone),
        _added("former (part, node)", gone),
        _added("node_part (part, node)", sorted(wanted - {*kept})),
    )


def _put_parts(talk: Talk, secret: bytes, numbers: Numbers, new: Mapping[int, Mapping[int, int]]) -> None:
    """Write parts. new: by number of a part the numbers of its values, each with the views that say it"""
    values = {value for entries in new.values() for value in entries}
    condition, wanted = talk.among("id", values)
    known = {value for (value,) in talk.all(f"SELECT id FROM entry WHERE {condition}", wanted)}
    entries: list[tuple[Any, ...]] = []
    words: list[tuple[int, int, int]] = []
    paths: dict[int, tuple[Steps, str]] = {}
    for number in sorted(values - known):
        path, kind, text = numbers.entries[number]
        paths[path], folded = numbers.paths[path], text.casefold()
        entries.append((number, path, kind, text, None if folded == text else folded))
        words += word_rows(secret, path, number, folded)
    fields = [row for path, (steps, _) in paths.items() for row in field_rows(secret, path, steps)]
    views = [(entry, part, view) for part, its in new.items() for entry, view in its.items()]
    # In one order for all who write, so that no two of them wait for each other.
    talk.each(
        _added("path (id, steps)", sorted((path, spelled) for path, (_, spelled) in paths.items())),
        _added("field (id, name, path, depth)", sorted(fields)),
        _added("entry (id, path, kind, text, folded)", entries),
        _added("word (word, path, entry)", sorted(words)),
        _added("part (id)", [(part,) for part in new]),
        _added("part_entry (entry, part, view)", sorted(views)),
    )


def _added(table: str, rows: Sequence[tuple[Any, ...]]) -> Statement:
    """Adds rows, those that are there aside. table: as in "path (id, steps)"; no name comes from outside"""
    holes = ", ".join("?" * (table.count(",") + 1))
    return f"INSERT INTO {table} VALUES ({holes}) ON CONFLICT DO NOTHING", rows

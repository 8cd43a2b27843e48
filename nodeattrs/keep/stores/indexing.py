"""The index for search in a database, as it is written. Its tables are in `tables`; `index` asks it.

What can be found of a node are its parts; a part that other nodes have is there, and nothing of it is made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from nodeattrs.hashes import blake2b
from nodeattrs.keep.stores.talk import Question, Talk
from nodeattrs.lazily import regexp
from nodeattrs.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodeattrs.keep.revisions import JsonMap
    from nodeattrs.keep.search.fields import Entry, IndexPart, Steps

WORDS = regexp(r"[A-Za-z0-9@._':-]+")
"""The words of a casefolded text, as `terms.Pattern` has them."""


def number_of(secret: bytes, kind: bytes, content: bytes) -> int:
    """What a store with this key calls a thing."""
    digest = blake2b(content, digest_size=8, key=secret, person=kind).digest()
    return int.from_bytes(digest, signed=True)


@lru_cache(maxsize=8_192)
def path_of(secret: bytes, steps: Steps) -> tuple[int, str]:
    """What a store calls a path, and how it is spelled there."""
    spelled = json.dumps(steps)
    return number_of(secret, b"path", spelled.encode()), spelled


def entry_of(secret: bytes, spelled: str, kind: str, text: str) -> int:
    """What a store calls a value at a path."""
    return (_entry_of if len(text) < _SHORT else _entry_of.__wrapped__)(secret, spelled, kind, text)


_SHORT = 256
"""Letters of a text that is remembered: most values are those of the node before."""


@lru_cache(maxsize=8_192)
def _entry_of(secret: bytes, spelled: str, kind: str, text: str) -> int:
    return number_of(secret, b"entry", f"{spelled}\n{kind}\n{text}".encode())


def word_rows(secret: bytes, path: int, entry: int, folded: str) -> Iterable[tuple[int, int, int]]:
    """The rows of the words of a casefolded text."""
    return [(number_of(secret, b"word", word.encode()), path, entry) for word in set(WORDS.findall(folded))]


def is_worded(talk: Talk) -> bool:
    """Whether as many words are known as there should be."""
    ((count,),) = talk.all("SELECT count(*) FROM word")
    texts = talk.rows("SELECT coalesce(folded, text) FROM entry")
    return bool(count == sum(len(set(WORDS.findall(text))) for (text,) in texts))


def field_rows(secret: bytes, path: int, steps: Steps) -> Iterable[tuple[int, str, int, int]]:
    """The rows of the fields that show a path."""
    from nodeattrs.keep.search.fields import names_of

    return [(number_of(secret, b"field", name.encode()), name, path, depth) for name, depth in names_of(steps)]


class Parts:
    """The parts of a document, and what can be found in those that the index may lack, once they are prepared.

    written: maps of it that are written already, as `index_parts` has them
    """

    def __init__(self, document: JsonMap, written: Mapping[int, bytes] | None = None) -> None:
        self._document, self._written = document, written or {}
        self._numbered: dict[int, IndexPart] | None = None
        self._prepared: set[int] = set()
        self.entries: dict[int, tuple[Entry, int]] = {}
        self.views: list[tuple[int, int, int]] = []
        self.paths: dict[int, tuple[Steps, str]] = {}

    def numbered(self, secret: bytes) -> dict[int, IndexPart]:
        if self._numbered is None:
            from nodeattrs.keep.search.fields import index_parts

            self._numbered = {
                number_of(secret, b"part", part.key): part for part in index_parts(self._document, self._written)
            }
        return self._numbered

    def prepare(self, secret: bytes, unknown: Iterable[int]) -> None:
        """Flatten and number the parts with these numbers, unless that is done."""
        for number in set(unknown) - self._prepared:
            self._prepared.add(number)
            for entry, view in self.numbered(secret)[number].entries().items():
                steps, kind, text = entry
                path, spelled = path_of(secret, steps)
                self.paths[path] = steps, spelled
                its = entry_of(secret, spelled, kind, text)
                self.entries[its] = entry, path
                self.views.append((its, number, view))

    @property
    def prepared(self) -> list[tuple[int]]:
        return [(number,) for number in sorted(self._prepared)]


def unknown_parts(talk: Talk, parts: Parts, ahead: set[int], *others: Question) -> list[list[tuple[Any, ...]]]:
    """Make what of a document the index lacks; the answers to the *others*.

    ahead: the parts that others are about to write first; grows by these
    """
    numbered = parts.numbered(talk.secret)
    condition, numbers = talk.among("id", numbered)
    rows, *answers = talk.answers((f"SELECT id FROM part WHERE {condition}", numbers), *others)
    parts.prepare(talk.secret, numbered.keys() - {number for (number,) in rows} - ahead)
    ahead.update(numbered)
    return answers


_PART, _PATH, _ENTRY, _KEPT = range(4)


def index_questions(talk: Talk, name: str, parts: Parts) -> list[Question]:
    """What `put_index` asks of a node, at once: what of its parts is there, and which parts it has."""
    wanted = parts.numbered(talk.secret), parts.paths, parts.entries
    conditions = [talk.among("id", list(numbers)) for numbers in wanted]
    asked = [
        f"SELECT {kind}, id FROM {table} WHERE {condition} UNION ALL"
        for kind, table, (condition, _) in zip(
            (_PART, _PATH, _ENTRY), ("part", "path", "entry"), conditions, strict=True
        )
    ]
    its = f"SELECT {_KEPT}, part FROM node_part WHERE node = (SELECT id FROM node WHERE name = ?)"
    return [(" ".join([*asked, its]), *(numbers for _, numbers in conditions), name)]


def put_index(talk: Talk, node: int, name: str, parts: Parts, asked: Iterable[tuple[Any, ...]] | None = None) -> None:
    """Let search find a node as its document is. asked: the answer to `index_questions`"""
    secret = talk.secret
    if asked is None:
        parts.prepare(secret, parts.numbered(secret))
        (asked,) = talk.answers(*index_questions(talk, name, parts))
    found: tuple[set[int], ...] = set(), set(), set(), set()
    for kind, number in asked:
        found[kind].add(number)
    there, old, known, kept = found
    wanted = parts.numbered(secret).keys()
    parts.prepare(secret, wanted - there)
    paths = {path: steps for path, steps in parts.paths.items() if path not in old}
    fields = [row for path, (steps, _) in paths.items() for row in field_rows(secret, path, steps)]
    entries: list[tuple[Any, ...]] = []
    words: list[tuple[int, int, int]] = []
    for number in sorted(parts.entries.keys() - known):
        (_, kind, text), path = parts.entries[number]
        folded = text.casefold()
        entries.append((number, path, kind, text, None if folded == text else folded))
        words += word_rows(secret, path, number, folded)
    # In one order for all who write, so that no two of them wait for each other.
    insert(talk, "path (id, steps)", sorted((path, spelled) for path, (_, spelled) in paths.items()))
    insert(talk, "field (id, name, path, depth)", sorted(fields))
    insert(talk, "entry (id, path, kind, text, folded)", entries)
    insert(talk, "word (word, path, entry)", sorted(words))
    insert(talk, "part (id)", parts.prepared)
    insert(talk, "part_entry (entry, part, view)", sorted(parts.views))
    gone = sorted((part, node) for part in kept - wanted)
    talk.each("DELETE FROM node_part WHERE part = ? AND node = ?", gone)
    insert(talk, "former (part, node)", gone)
    insert(talk, "node_part (part, node)", sorted((part, node) for part in wanted - kept))


def insert(talk: Talk, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add rows, those that are there aside. table: as in "path (id, steps)"; no name comes from outside"""
    holes = ", ".join("?" * (table.count(",") + 1))
    talk.each(f"INSERT INTO {table} VALUES ({holes}) ON CONFLICT DO NOTHING", rows)

"""Saves, as a database is given them: one, or several in one transaction, of which each may be refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadName, BadValue, DocumentError, NodeattrsError, StoreError
from nodeattrs.keep.revisions import Revision, Saved, now, stale
from nodeattrs.keep.search.fields import IndexPart
from nodeattrs.keep.stores.holding import Hashes, latest_of, put_revisions, revision_in, texts_in
from nodeattrs.keep.stores.indexing import numbered_parts, put_index
from nodeattrs.keep.stores.talk import Talk
from nodeattrs.keep.stores.texts import Bodies, Text, as_bytes, noted_text, texts_of, texts_questions

Row = Sequence[Any]
_Came = TypeVar("_Came")


class Saves:
    """Saves of one transaction.

    `prepare` encodes, checks and compresses what the store lacks before anybody is kept waiting. `write` asks again
    what is there, since others may have written meanwhile.
    """

    def __init__(self, saves: Iterable[tuple[Saved, int | None]]) -> None:
        self._all: list[Any] = [tried(_Save, *save) for save in saves]
        self._bodies = Bodies()

    @property
    def came(self) -> list[Any]:
        """Of each its revision, None while it has none, or how it was refused."""
        return [one.revision if isinstance(one, _Save) else one for one in self._all]

    @property
    def left(self) -> list[_Save]:
        """Those that were not refused."""
        return [one for one in self._all if isinstance(one, _Save)]

    def _each(self, do: Callable[[_Save], None]) -> None:
        """Do something with each of them; one with which it cannot be done is refused."""

        def done(one: _Save) -> _Save:
            try:
                do(one)
            except RecursionError:
                what = f"the document of the node {one.name!r}"
                raise BadValue(f"{what} cannot be kept: it is nested too deeply") from None
            return one

        self._all = [tried(done, one) if isinstance(one, _Save) else one for one in self._all]

    def prepare(self, talk: Talk | None) -> None:
        """Do what needs no transaction. talk: None where there is no store yet"""
        texts = [text for one in self.left for text in one.texts]
        known = set() if talk is None else _names(chain(*talk.answers(*texts_questions(texts))))
        self._each(lambda one: one.check(known))
        if talk is not None:
            missing = (text for one in self.left for text in one.texts if text.hash not in known)
            self._bodies.pack(missing, talk.packing)

    def write(self, talk: Talk, where: str) -> None:
        """Write them. Of several one that is refused has written nothing; a single one may have, for who gave it."""
        saves = self.left
        if not saves:
            return
        if len(self._all) > 1:
            talk.all("SAVEPOINT before")
        names, texts = [one.name for one in saves], [text for one in saves for text in one.texts]
        raised, latest, *there = talk.raised(names, latest_of(talk, names), *texts_questions(texts))
        numbers, before, known = {row[0]: row for row in raised}, {row[0]: row for row in latest}, _names(chain(*there))
        self._each(lambda one: one.judge(talk, numbers[one.name], before.get(one.name, ()), where))
        if len(self.left) < len(saves):
            if len(self._all) > 1:
                talk.all("ROLLBACK TO before")
                self.write(talk, where)
            return
        self._bodies.write(talk, texts, known)
        if parts := {one.node: one.parts for one in saves if one.parts is not None}:
            put_index(talk, parts)
        put_revisions(talk, [(one.node, one.revise(), one.noted_text, one.hashes) for one in saves])


class _Save:
    """One of them.

    hashes: the names of its texts
    parts:  what search finds in the document; None where that is as the latest revision has it
    """

    def __init__(self, saved: Saved, after: int | None) -> None:
        self.name, self._after = checked_name(saved.name, "node"), after
        self._noted = saved.noted._replace(unread=bool((saved.snapshot or {}).get("unknown")))
        self.noted_text = noted_text(self.name, self._noted)
        texts = texts_of(self.name, saved)
        self.texts = [text for text in texts if text is not None]
        self.hashes: Hashes = [None if text is None else text.hash for text in texts]
        self._document = saved.document
        self.parts: dict[int, IndexPart] | None = None
        self.node = self._number = 0
        self.revision: Revision | None = None

    def check(self, known: Collection[bytes]) -> None:
        """Refuse what could not be read back. known: texts that are there, which were checked. raises: BadValue"""
        for text in self.texts:
            if text.hash not in known:
                text.check()

    def judge(self, talk: Talk, raised: Row, before: Row, where: str) -> None:
        """Look whether it may follow the latest revision. before: as `latest_of` gives it. raises: NewerRevision"""
        if self._after is not None and self._after != (before[1] if before else 0):
            found = revision_in(self.name, before[1:4]) if before else None
            raise stale(self.name, self._after, found, where)
        _, self.node, self._number = raised
        if _document(texts_in(before)) != _document(self.hashes):
            self.parts = numbered_parts(talk.secret, self._document)

    def revise(self) -> Revision:
        self.revision = Revision(self._number, now(), self._noted)
        return self.revision


def tried(do: Callable[..., _Came], *words: Any) -> _Came | NodeattrsError:
    """What came of one of several nodes, or what is wrong."""
    try:
        return do(*words)
    except (StoreError, BadName, BadValue, DocumentError) as error:
        return error


def _document(hashes: Hashes) -> Hashes:
    """Of the texts of a revision those that its document is in."""
    return [hashes[0], hashes[2]] if hashes else []


def _names(rows: Iterable[Row]) -> set[bytes]:
    return {as_bytes(name) for (name,) in rows}


def put_texts(talk: Talk, texts: Iterable[Text]) -> None:
    """Write texts, unless they are there."""
    texts = list(texts)
    Bodies().write(talk, texts, _names(chain(*talk.answers(*texts_questions(texts)))))

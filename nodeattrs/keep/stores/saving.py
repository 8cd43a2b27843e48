"""Saves, as a database is given them: one, or several in one transaction, of which each may be refused.

What they have in common is asked for, made and written once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, islice
from typing import Any

from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadValue
from nodeattrs.keep.revisions import Revision, Saved, now, stale, tried
from nodeattrs.keep.search.fields import IndexPart
from nodeattrs.keep.stores.holding import Hashes, latest_of, revision_in, spelled, texts_in
from nodeattrs.keep.stores.indexing import Flat, Parts, index_question, parts_question, put_index
from nodeattrs.keep.stores.talk import Question, Talk
from nodeattrs.keep.stores.texts import Bodies, Text, as_bytes, noted_text, texts_of, texts_questions

Row = Sequence[Any]


class Saves:
    """Saves of one transaction: most of it is made before anybody is kept waiting, and looked at again when written.

    Writers may have been there between: what was found may be gone, and what was not may have come.
    """

    def __init__(self, saves: Iterable[tuple[Saved, int | None]]) -> None:
        self._all: list[Any] = [tried(_Save, *save) for save in saves]
        self._bodies, self._flat = Bodies(), Flat()

    @property
    def came(self) -> list[Any]:
        """Of each its revision, None while it has none, or how it was refused."""
        return [one.revision if isinstance(one, _Save) else one for one in self._all]

    @property
    def left(self) -> list[_Save]:
        """Those that were not refused."""
        return [one for one in self._all if isinstance(one, _Save)]

    @property
    def unmade(self) -> list[_Save]:
        return [one for one in self.left if not one.is_made]

    @property
    def _changed(self) -> list[_Save]:
        return [one for one in self.left if not one.is_same]

    def _each(self, saves: Collection[_Save], do: Callable[[_Save], None]) -> None:
        """Do something with some of them; one with which it cannot be done is refused."""

        def done(one: _Save) -> _Save:
            try:
                do(one)
            except RecursionError:
                what = f"the document of the node {one.name!r}"
                raise BadValue(f"{what} cannot be kept: it is nested too deeply") from None
            return one

        chosen = {*saves}
        self._all = [tried(done, one) if one in chosen else one for one in self._all]

    def check(self) -> None:
        """Refuse what could not be read back."""
        self._each(self.unmade, lambda one: one.compare([], ()))

    def make(self, talk: Talk) -> None:
        """Make what the store lacks."""
        texts = [text for one in self.unmade for text in one.texts]
        rows, *there = talk.answers(latest_of(talk, [one.name for one in self.unmade]), *texts_questions(texts))
        latest, known = {row[0]: texts_in(row) for row in rows}, _names(chain(*there))
        self._each(self.unmade, lambda one: one.compare(latest.get(one.name, []), known))
        indexed = [one for one in self.unmade if not one.is_same_document]
        self._each(indexed, lambda one: one.number(talk.secret))
        parts = {number for one in indexed for number in one.parts}
        self._bodies.pack((text for one in self._changed for text in one.texts if text.hash not in known), talk.packing)
        there_of_index = talk.all(*parts_question(talk, parts)) if parts else []
        missing = parts - {number for (number,) in there_of_index}
        self._each(indexed, lambda one: one.flatten(talk.secret, self._flat, missing))
        for one in self.unmade:
            one.is_made = True

    def write(self, talk: Talk, where: str) -> None:
        """Write them. Of several one that is refused has written nothing; a single one may have, for who gave it."""
        if self.unmade:  # there was no store
            self.make(talk)
        if not (saves := self.left):
            return
        if len(self._all) > 1:
            talk.all("SAVEPOINT before")
        names, asked = [one.name for one in saves], self._questions(talk)
        raised, latest, *answers = talk.raised(names, latest_of(talk, names), *chain(*asked))
        numbers, before = {row[0]: row for row in raised}, {row[0]: row for row in latest}
        self._each(saves, lambda one: one.judge(numbers[one.name], before.get(one.name, ()), where))
        others = [one for one in self.left if one.is_other]
        if others:
            self._each(others, lambda one: one.number(talk.secret))
            if self.unmade:
                self.make(talk)
            asked = self._questions(talk)
            answers = talk.answers(*chain(*asked))
        if len(self.left) < len(saves):
            if len(self._all) > 1:
                talk.all("ROLLBACK TO before")
                self.write(talk, where)
            return
        waiting = iter(answers)
        self._put(talk, *([*chain(*islice(waiting, len(some)))] for some in asked))

    def _questions(self, talk: Talk) -> tuple[list[Question], list[Question]]:
        """What is asked again: what of texts and of the index is there."""
        texts = [text for one in self._changed for text in one.texts]
        indexed = [one for one in self._changed if not one.is_same_document]
        parts = {number for one in indexed for number in one.parts}
        index = [index_question(talk, [one.name for one in indexed], parts, self._flat)] if indexed else []
        return texts_questions(texts), index

    def _put(self, talk: Talk, there: Iterable[Row], index: Iterable[Row]) -> None:
        """Write what is new. there, index: the answers"""
        texts = [text for one in self._changed for text in one.texts]
        self._bodies.write(talk, texts, _names(there))
        nodes = {one.node: one.parts for one in self._changed if not one.is_same_document}
        if nodes:
            put_index(talk, nodes, self._flat, index)
        saves = [(one.node, one.revise(), one.noted_text, one.hashes) for one in self.left]
        put_revisions(talk, saves)


class _Save:
    """One of them. Where it changes nothing, its revision is all that is written.

    is_made:  what the store lacks of it is at hand
    is_same:  its texts are those of the latest revision; `is_same_document`: the document is
    is_other: one of these was so, and is no longer: more is to be asked
    hashes:   the names of its texts
    """

    def __init__(self, saved: Saved, after: int | None) -> None:
        self.name, self._after = checked_name(saved.name, "node"), after
        self._noted, self.noted_text = saved.noted, noted_text(self.name, saved.noted)
        texts = texts_of(self.name, saved)
        self.texts = [text for text in texts if text is not None]
        self.hashes: Hashes = [None if text is None else text.hash for text in texts]
        self._parts = Parts(saved.document)
        self.parts: dict[int, IndexPart] = {}
        self.is_made = self.is_same = self.is_same_document = self.is_other = False
        self.node = self._number = 0
        self.revision: Revision | None = None

    def compare(self, latest: Hashes, known: Collection[bytes]) -> None:
        """latest: the names of the texts of the latest revision. known: those that are there. raises: BadValue"""
        for text in self.texts:
            if text.hash not in known:  # the others were checked when they were written
                text.check()
        # A text that somebody took away is written again.
        self.is_same = latest == self.hashes and all(text.hash in known for text in self.texts)
        self.is_same_document = _document(latest) == _document(self.hashes)

    def number(self, secret: bytes) -> None:
        """Find the parts of the document."""
        self.parts = self._parts.numbered(secret)

    def flatten(self, secret: bytes, flat: Flat, missing: Collection[int]) -> None:
        flat.add(secret, {number: part for number, part in self.parts.items() if number in missing})

    def judge(self, raised: Row, before: Row, where: str) -> None:
        """Look whether all is as it was. before: as `latest_of` gives it. raises: NewerRevision"""
        if self._after is not None and self._after != (before[1] if before else 0):
            found = revision_in(self.name, before[1:4]) if before else None
            raise stale(self.name, self._after, found, where)
        (_, self.node, self._number), was = raised, texts_in(before)
        was_same, self.is_same = self.is_same, self.is_same and was == self.hashes
        had_document, self.is_same_document = self.is_same_document, _document(was) == _document(self.hashes)
        self.is_other = was_same > self.is_same or had_document > self.is_same_document

    def revise(self) -> Revision:
        self.revision = Revision(self._number, now(), self._noted)
        return self.revision


def _document(hashes: Hashes) -> Hashes:
    """Of the texts of a revision those that its document is in."""
    return [hashes[0], hashes[2]] if hashes else []


def _names(rows: Iterable[Row]) -> set[bytes]:
    return {as_bytes(name) for (name,) in rows}


def put_revisions(talk: Talk, saves: Iterable[tuple[int, Revision, str, Hashes]]) -> None:
    """Write revisions whose texts are there: of which node, what is noted of it, and its texts."""
    talk.each(
        "INSERT INTO revision (node, number, at, noted, document, snapshot, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(node, revision.number, spelled(revision.at), noted, *hashes) for node, revision, noted, hashes in saves],
    )


def put_texts(talk: Talk, texts: Iterable[Text]) -> None:
    """Write texts, unless they are there."""
    texts = list(texts)
    Bodies().write(talk, texts, _names(chain(*talk.answers(*texts_questions(texts)))))

"""The revisions of one node in one file: what the directory store keeps beside its documents.

    5f0c21aa {"format": "nodeattrs-history", "version": 1, "node": "web1", "last": 0, "end": "0000000002"}
    c7be0d13 1 9f86… 60c1… {"at": …, "noted": {…}, "form": "03ac…", "spans": {…}, "after": 0}    eJzT0yMA…
    02d1e76b 2 9f86… 60c1… {"at": …, "noted": {…}, "form": "03ac…", "spans": {}, "after": 1}

A line is a revision: a checksum, the number, the names of document and snapshot, the rest as JSON;
and after a tab what this revision brought, packed. A text is named by its hash. The line that has
it first says of which spans it is made; a span is a part of what one revision brought: its number,
where the part starts, and how long it is. So a revision in which nothing changed is a short line.

Lines are added at the end; to change anything else, the file is written anew, but for the number of
the last revision that was promised, which the first line has in a fixed width. An end that is no
whole line was never promised to anybody; so was what follows that number. Where the lines end before
it, or one says that it came after a revision that is not there, revisions are gone, and that is reported.
A line that cannot be read is passed over and reported; only the revisions that need it are lost.

It knows revisions and bytes; no node documents, no files, no locks.
"""

from __future__ import annotations

import binascii
import json
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, takewhile

from nodeattrs.errors import DocumentError, StoreError, TooMuch
from nodeattrs.keep.revisions import JsonMap, Noted, Revision
from nodeattrs.keep.stores.pieces import hashed, packed, pieces_of, text_budget, unpacked

_FORMAT, _VERSION = "nodeattrs-history", 1

Texts = tuple[bytes, bytes]
"""A document and a snapshot, as they are written."""

_WHAT = "document", "snapshot"

_Span = tuple[int, int, int]
_Spans = dict[str, list[_Span]]

_NAMES_END = 200
"""Bytes of a line among which the names of its texts are found."""


def named(text: bytes) -> str:
    """The name of a text, by its content."""
    return hashed(text).hex()


@dataclass(frozen=True, slots=True)
class Head:
    """A revision, and the names of its two texts.

    form: a hash of the values that the texts were made of; "" where it is not known
    """

    revision: Revision
    texts: tuple[str, str]
    form: str = ""

    @property
    def number(self) -> int:
        return self.revision.number


@dataclass(frozen=True, slots=True)
class Kept(Head):
    """A revision that is in the file.

    spans: of the texts that it was the first to have
    after: the number of the revision before it, 0 for none; None where an older program wrote the line
    """

    spans: _Spans = field(default_factory=dict)
    after: int | None = None


class _Damaged(Exception):
    """Why a text cannot be had, as the end of a sentence about it."""


class History:
    """What such a file says.

    node, where: whose it is, and how people call the file, for messages
    content:     of the file; empty where there is none

    end:      how many bytes of it are whole
    last:     the greatest number that was ever given, as far as the file shows
    promised: the number of the last revision that should be in it; 0 where that is not known

    cost:   a line is read when it is asked for, the last ones first
    raises: StoreError, for the file of another node, or of a newer version
    """

    def __init__(self, node: str, where: str, content: bytes = b"") -> None:
        self._node, self._where = node, where
        *self._lines, torn = content.split(b"\n")
        self.end = len(content) - len(torn)
        self._read: dict[bytes, Kept | None] = {}
        self._brought: dict[int, bytes] = {}
        self._first, self.promised = self._opened(self._lines[0]) if self._lines else (0, 0)
        self.last = max(self._last(), self.promised, self._first)

    def _opened(self, line: bytes) -> tuple[int, int]:
        """The last number when the file was written, and the last one promised; 0 for what cannot be read."""
        try:
            record = json.loads(_intact(line) or b"")
            node, kind, version, last = record["node"], record["format"], int(record["version"]), int(record["last"])
            promised = int(record.get("end", 0))
        except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
            return 0, 0
        if kind != _FORMAT or version > _VERSION:
            raise StoreError(
                f"{self._where} was written by a newer nodeattrs: it is {kind} {version}, ours is {_FORMAT} {_VERSION}",
                hint="upgrade nodeattrs, or name another place for the store",
            )
        if node != self._node:
            raise StoreError(
                f"{self._where} is the history of the node {node!r}, not of {self._node!r}",
                hint="move it away, or choose another name: the file system there may not distinguish capitals",
            )
        return last, promised

    def promise(self, number: int) -> None:
        """Somebody else knows that this revision was written here; what was forgotten since is not missed."""
        if number > self._first:
            self.promised = max(self.promised, number)
            self.last = max(self.last, number)

    def _kept(self, line: bytes) -> Kept | None:
        if line not in self._read:
            self._read[line] = _kept(line)
        return self._read[line]

    def _backwards(self) -> Iterator[Kept | None]:
        """The revisions, the latest first; None for a line that cannot be read."""
        return map(self._kept, reversed(self._lines[1:]))

    def _last(self) -> int:
        lost = 0
        for line, kept in zip(reversed(self._lines[1:]), self._backwards(), strict=True):
            if kept:
                return kept.number + lost
            # There a number was given, or several, but fewer than there are bytes.
            lost += len(line)
        return self._first + lost

    @property
    def kept(self) -> list[Kept]:
        """The revisions that can be read, the oldest first."""
        return [kept for kept in self._backwards() if kept][::-1]

    # --- which revisions count ------------------------------------------------------

    def settled(self, head: Head) -> Head:
        """The revision that stands beside this file, as far as *head* knows it; what follows it is forgotten.

        A save writes here first, and then what stands beside; so a line after the one of *head* was
        promised only if it has the same texts, so that there was nothing else to write, or if the first line
        says so: then somebody has saved since *head* was read, or has put back what stood beside.

        returns: a revision of this file, if it is there
        """
        rest = list(takewhile(lambda kept: kept is None or kept.number >= head.number, self._backwards()))
        found, promised, is_same = None, 0, True
        for count, kept in enumerate(reversed(rest), 1):
            is_same = is_same and (kept is None or kept.texts == head.texts)
            if not is_same and kept and kept.number > self.promised:
                break
            found, promised = kept if is_same and kept else found, count
        if found is None:
            # Saved by a program that knows no history. It may have given a number for the second time.
            number = self.last + 1 if any(rest) else head.number
            return replace(head, revision=head.revision._replace(number=number))
        if promised < len(rest):
            self.end -= sum(len(line) + 1 for line in self._lines[promised - len(rest) :])
            del self._lines[promised - len(rest) :]
            self.last = max(self._last(), self.promised, self._first)
        return found

    # --- what is gone ---------------------------------------------------------------

    @property
    def cut(self) -> str:
        """What is reported where the lines end before the last revision that was promised; else nothing.

        cost: one line is read
        """
        missing = self._missing
        return self._gone(missing) if missing else ""

    @property
    def _missing(self) -> range:
        """The numbers that were promised and are not there, at the end."""
        if len(self._lines) <= 1:
            if not self.promised:
                return range(0)
            return range(min(self._first, self.promised - 1) + 1, self.promised + 1)
        last = next(self._backwards())
        # Of an end that cannot be read nobody knows which revision it was.
        return range(last.number + 1, self.promised + 1) if last else range(0)

    def _gaps(self) -> Iterator[range]:
        """The numbers of what was written before one of the lines and is not there."""
        before: int | None = 0
        for line in self._lines[1:]:
            kept = self._kept(line)
            if kept and before is not None and kept.after is not None and kept.after > before:
                yield range(before + 1, kept.after + 1)
            before = kept.number if kept else None

    def _gone(self, numbers: range) -> str:
        which = f"revisions {numbers[0]} to {numbers[-1]} are" if numbers[1:] else f"revision {numbers[0]} is"
        return f"the history of {self._node} is damaged: {which} gone from {self._where}"

    def at(self, when: int | datetime) -> Kept | None:
        """The revision with a number, or the latest one at a time.

        raises: DocumentError, where that may be one that cannot be read
        """
        line = self._line(when) if isinstance(when, int) else None
        if line is not None:
            return self._kept(line)
        found, passed = self._numbered(when) if isinstance(when, int) else self._at_time(when)
        if passed:
            raise DocumentError(
                f"the history of the node {self._node!r} is damaged in {self._where}, and {when} may have been there",
                hint=f"nodeattrs history {self._node} shows what can be read",
            )
        return found

    def _numbered(self, number: int) -> tuple[None, bool]:
        """Whether a number that no line has may have been in one that is lost."""
        later = takewhile(lambda kept: kept is None or kept.number > number, self._backwards())
        return None, None in later or number in self._missing or any(number in gap for gap in self._gaps())

    def _at_time(self, when: datetime) -> tuple[Kept | None, bool]:
        """The latest revision at a time that can be read, and whether a later one of that time may be lost."""
        passed, later = bool(self.cut), None
        for kept in self._backwards():
            if kept is None:
                passed = True
            else:
                passed = passed or (later is not None and later > kept.number)
                if kept.revision.at <= when:
                    return kept, passed
            later = kept.after if kept else None
        return None, passed or bool(later)

    # --- texts ----------------------------------------------------------------------

    def texts(self, kept: Kept) -> Texts:
        """A revision's document and snapshot. raises: DocumentError, where one of them is damaged"""
        found = []
        for what, name in zip(_WHAT, kept.texts, strict=True):
            try:
                found.append(self._stored(name)[1])
            except _Damaged as reason:
                raise DocumentError(
                    f"the {what} of the node {self._node!r}, revision {kept.number}, is damaged in {self._where}: "
                    f"{reason}",
                    hint="another revision may be whole: nodeattrs history; nodeattrs store check says what is damaged",
                ) from None
        return found[0], found[1]

    def unreadable(self) -> Iterator[str]:
        """Which lines cannot be read, and which revisions are gone, in words. cost: one look at each line"""
        for number, line in enumerate(self._lines, 1):
            if (_intact(line) if number == 1 else self._kept(line)) is None:
                yield f"the history of {self._node} is damaged: line {number} of {self._where} cannot be read"
        yield from map(self._gone, filter(None, [*self._gaps(), self._missing]))

    def faults(self) -> Iterator[str]:
        """What is wrong with the file, in words. cost: all texts are put together"""
        yield from self.unreadable()
        reasons: dict[str, str] = {}
        for kept in self.kept:
            for what, name in zip(_WHAT, kept.texts, strict=True):
                if name not in reasons:
                    reasons[name] = self._fault(name)
                if reasons[name]:
                    yield f"the {what} of {self._node}, revision {kept.number}: {reasons[name]}"

    def _fault(self, name: str) -> str:
        try:
            self._stored(name)
        except _Damaged as reason:
            return str(reason)
        return ""

    def _stored(self, name: str) -> tuple[list[_Span], bytes]:
        """A text and where it stands: the first place where it is whole."""
        damage, mark = _Damaged("its text is gone"), name.encode()
        for line in self._lines:
            kept = self._kept(line) if line.find(mark, 0, _NAMES_END) >= 0 else None
            if kept and name in kept.spans:
                spans = kept.spans[name]
                try:
                    text = self._joined(spans)
                except _Damaged as error:
                    damage = error
                else:
                    if named(text) == name:
                        return spans, text
                    damage = _Damaged("its checksum does not fit")
        raise damage

    def _joined(self, spans: Iterable[_Span]) -> bytes:
        budget = text_budget()
        parts = []
        for number, start, length in spans:
            parts.append(self._fresh(number)[start : start + length])
            budget.bytes(len(parts[-1]))
        return b"".join(parts)

    def _fresh(self, number: int) -> bytes:
        """What a revision brought."""
        if number not in self._brought:
            try:
                self._brought[number] = _unpacked(self._body(number))
            except TooMuch:
                raise
            except (zlib.error, ValueError):
                raise _Damaged("a piece of it is damaged") from None
        return self._brought[number]

    def _body(self, number: int) -> bytes:
        line = self._line(number)
        if line is None:
            raise _Damaged("a piece of it is gone")
        return line.partition(b"\t")[2]

    def _line(self, number: int) -> bytes | None:
        """The line of a revision."""
        # First the place where it stands if no line is lost and no number was left out.
        place = max(len(self._lines) - 1 - (self.last - number), 1)
        for line in (*self._lines[place : place + 1], *self._lines[1:]):
            kept = self._kept(line)
            if kept and kept.number == number:
                return line
        return None

    # --- what is written ------------------------------------------------------------

    def add(self, head: Head, texts: Texts) -> bytes:
        """Put a revision at the end; what is to be written there.

        What the revision before it has is not written again, nor a text that any revision has.

        cost: one look at the texts that changed
        """
        fresh = bytearray()
        spans: _Spans = {}
        before = next(filter(None, self._backwards()), None)
        after = max(before.number if before else 0, min(self.promised, head.number - 1))
        for text, name, old in zip(texts, head.texts, before.texts if before else ("", ""), strict=True):
            # A text that is damaged here is written again, and so made whole for all revisions that have it.
            if self._fault(name):
                spans[name] = self._cut(text, self._pieces(old), head.number, fresh)
        lines = [] if self._lines else [self._first_line(0, self._first)]
        lines.append(_line(head, spans, after, _packed(bytes(fresh))))
        self._lines += lines
        self.last = head.number
        return b"".join(b"%s\n" % line for line in lines)

    def begin(self, number: int) -> bytes:
        """The first line, once this revision is promised, to be written over the one there is.

        Its length stays; empty where that cannot be. It needs no flush: who loses it knows less, nothing wrong.
        """
        line = self._first_line(number, self._first)
        old = self._lines[0] if self._lines else b""
        return line if len(line) == len(old) and _intact(old) else b""

    def _first_line(self, promised: int, last: int) -> bytes:
        record = {"format": _FORMAT, "version": _VERSION, "node": self._node, "last": last, "end": f"{promised:010}"}
        return _checked(record)

    def _pieces(self, name: str) -> dict[bytes, _Span]:
        """The pieces of a text, and where they stand."""
        try:
            spans, text = self._stored(name)
        except _Damaged:
            return {}
        known, at = {}, 0
        ends = list(accumulate(length for _, _, length in spans))
        for piece in filter(None, pieces_of(text)):
            index = bisect_right(ends, at)
            number, start, length = spans[index]
            inside = at - (ends[index] - length)
            if inside + len(piece) <= length:
                known[piece] = (number, start + inside, len(piece))
            at += len(piece)
        return known

    def _cut(self, text: bytes, known: dict[bytes, _Span], number: int, fresh: bytearray) -> list[_Span]:
        spans = []
        for piece in filter(None, pieces_of(text)):
            if piece not in known:
                known[piece] = (number, len(fresh), len(piece))
                fresh += piece
            spans.append(known[piece])
        return _as_one(spans)

    def only(self, latest: Sequence[Kept]) -> bytes:
        """The content with nothing but these, which are the latest ones.

        What they have from revisions that go moves into the first of them.

        raises: DocumentError, where not all of them can be read
        """
        lines = [self._first_line(max(self.promised, latest[-1].number) if latest else 0, self.last)]
        if latest:
            try:
                lines += self._moved(latest)
            except _Damaged as reason:
                raise DocumentError(
                    f"the history of the node {self._node!r} cannot be made shorter in {self._where}: {reason}",
                    hint="keep fewer revisions, so that what is damaged is not among them",
                ) from None
        return b"".join(b"%s\n" % line for line in lines)

    def _moved(self, latest: Sequence[Kept]) -> Iterator[bytes]:
        base, stay = latest[0].number, {kept.number for kept in latest}
        if None in takewhile(lambda kept: kept is None or kept.number > base, self._backwards()):
            raise _Damaged("it has lines that cannot be read")
        spans = {name: self._stored(name)[0] for kept in latest for name in kept.texts}
        fresh = self._fresh(base)
        moves = _Moves((span for its in spans.values() for span in its if span[0] not in stay), base, len(fresh))
        bodies = {kept.number: self._body(kept.number) for kept in latest}
        bodies[base] = _packed(fresh + self._joined(moves.parts))
        for kept in latest:
            its = {name: moves.of(spans.pop(name)) for name in kept.texts if name in spans}
            yield _line(kept, its, 0 if kept.number == base else kept.after, bodies[kept.number])


class _Moves:
    """Where spans go whose revisions are forgotten: into one other revision, each byte once.

    parts: what is moved, in order
    """

    def __init__(self, spans: Iterable[_Span], base: int, begin: int) -> None:
        self.parts: list[_Span] = []
        for number, start, length in sorted(spans):
            last, first, size = self.parts[-1] if self.parts else (0, 0, 0)
            if last == number and start <= first + size:
                self.parts[-1] = (number, first, max(size, start + length - first))
            else:
                self.parts.append((number, start, length))
        self._base, self._gone = base, {number for number, _, _ in self.parts}
        self._starts = list(accumulate((length for _, _, length in self.parts), initial=begin))

    def of(self, spans: Iterable[_Span]) -> list[_Span]:
        return _as_one(map(self._of, spans))

    def _of(self, span: _Span) -> _Span:
        number, start, length = span
        if number not in self._gone:
            return span
        index = bisect_right(self.parts, (number, start), key=lambda part: part[:2]) - 1
        return self._base, self._starts[index] + start - self.parts[index][1], length


def _as_one(spans: Iterable[_Span]) -> list[_Span]:
    """The same, with neighbours made one."""
    found: list[_Span] = []
    for number, start, length in spans:
        last, first, size = found[-1] if found else (0, 0, 0)
        if last == number and first + size == start:
            found[-1] = (number, first, size + length)
        else:
            found.append((number, start, length))
    return found


# --- lines --------------------------------------------------------------------------


def _line(head: Head, spans: _Spans, after: int | None, body: bytes) -> bytes:
    record: JsonMap = {
        "at": head.revision.at.isoformat(),
        "noted": head.revision.noted.to_dict(),
        "form": head.form,
        "spans": spans,
    }
    if after is not None:
        record["after"] = after
    return _checked(record, f"{head.number} {' '.join(head.texts)} ") + b"\t" + body


def _kept(line: bytes) -> Kept | None:
    """What a line says; None where it cannot be read."""
    try:
        number, document, snapshot, rest = (_intact(line) or b"").split(b" ", 3)
        record = json.loads(rest)
        at = datetime.fromisoformat(record["at"]).astimezone(UTC)
        revision = Revision(int(number), at, Noted.from_dict(record["noted"]))
        spans = {name: [(int(a), int(b), int(c)) for a, b, c in its] for name, its in record["spans"].items()}
        after = int(record["after"]) if "after" in record else None
        return Kept(revision, (document.decode(), snapshot.decode()), record["form"], spans, after)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError, RecursionError):
        return None


def _checked(record: JsonMap, begin: str = "") -> bytes:
    """The part of a line whose checksum stands before it."""
    content = f"{begin}{json.dumps(record)}".encode()
    return b"%08x %s" % (zlib.crc32(content), content)


def _intact(line: bytes) -> bytes | None:
    """The reverse; None where the checksum does not fit."""
    mark, _, content = line.partition(b"\t")[0].partition(b" ")
    return content if mark == b"%08x" % zlib.crc32(content) else None


def _packed(fresh: bytes) -> bytes:
    return binascii.b2a_base64(packed(fresh), newline=False) if fresh else b""


def _unpacked(body: bytes) -> bytes:
    return unpacked(binascii.a2b_base64(body, strict_mode=True)) if body else b""

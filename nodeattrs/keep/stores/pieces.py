"""JSON as it is kept: a text in pieces, each stored once by its content.

Where a text is cut depends on what stands there and on nothing before it, so that a change in one
place leaves the other pieces as they were. It knows no store, but for the tables `text` and `piece`.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from threading import local
from types import MappingProxyType
from typing import Any

from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.tree import is_json
from nodeattrs.errors import BadValue, missing_extra
from nodeattrs.keep.revisions import JsonMap, Noted, Saved
from nodeattrs.keep.snapshots import normal_alone
from nodeattrs.keep.stores.talk import Question, Talk
from nodeattrs.texts.fast_json import decoded, encoded, encoded_once, quoted

HASH = 32
"""Bytes of a piece's name."""

_SMALLEST, _LARGEST = 256, 16_384
"""Bytes of a piece, but for the last one, and for texts that cannot be cut."""

_ENDS = re.compile(rb"[\]}],")
"""Where a map or list has ended."""
_EACH = b"],", b"},"
"""The same, each by itself: so they are found twice as fast."""
_SELDOM = 64
"""One of so many places where a map or list has ended is the end of a piece, by a checksum of what follows."""
_AHEAD = 32

_DEEPEST = 1_999
"""Levels of a text. A node's own limit is 500, and a snapshot needs up to three for each of them."""


def json_text(value: Any, what: str) -> str:
    """*value* as JSON on one line; it was read back before anybody relies on it.

    raises: BadValue
    """
    text = written(value, what)
    check_readable(text, value, what)
    return text


def written(value: Any, what: str) -> str:
    """*value* as JSON, for `check_readable` to judge. raises: BadValue, also for what holds itself"""
    with _refusing(what):
        return encoded(value)[0].decode()


def check_readable(text: str, value: Any, what: str) -> None:
    """raises: BadValue, where reading *text* would not give *value* back"""
    if is_json(value, _DEEPEST):
        return
    with _refusing(what):
        if form_of(value) is None and _depth(value) > _DEEPEST:
            raise RecursionError(f"it is nested more than {_DEEPEST} deep")
        back = json.loads(text)
    if back != value:
        raise BadValue(f"{what} is not JSON: reading it back gives something else")


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise BadValue(f"{what} cannot be kept: it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} cannot be kept: {str(error).partition(chr(10))[0]}") from error


def form_of(value: Any) -> bytes | None:
    """A hash of a value itself, types and all; None for what is no plain data, or too deep.

    The value must not hold itself: ask `written` first.
    """
    written = _written(value)
    return None if written is None else hashed(written)


def is_same_form(one: Any, other: Any) -> bool:
    """Whether two values are one: types, order and all."""
    written = _written(one)
    return written is not None and written == _written(other)


def _written(value: Any) -> bytes | None:
    try:
        # Of the first version: it writes one value in one way. Nothing is ever read back from it.
        return marshal.dumps(value, 0)
    except ValueError:
        return None


def _depth(value: Any) -> int:
    """How deep *value* is nested, as far as _DEEPEST; Python's own limit depends on its version."""
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        depth += 1
        level = [inner for one in level for inner in _inside(one)]
    return depth


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, dict | list):
                yield inner


def pieces_of(text: bytes) -> list[bytes]:
    """*text* in pieces; joined they are the text.

    >>> pieces_of(b'{"a":[1,2],"b":null}')
    [b'{"a":[1,2],"b":null}']
    """
    pieces, start = [], 0
    for at in _ends(text):
        while at - start > _LARGEST and (end := _ENDS.search(text, start + _LARGEST - 2, at)):
            pieces.append(text[start : end.end()])
            start = end.end()
        if at - start >= _SMALLEST:
            pieces.append(text[start:at])
            start = at
    return [*pieces, text[start:]] if start < len(text) or not text else pieces


_RUN, _LONG_RUN = 384, 4_096
"""Bytes that are looked at together, at least; of no more than so many it is remembered what was found."""


def _ends(text: bytes) -> list[int]:
    """Where pieces of a text may end, in order; the last one is its own end.

    Most runs of a text stand in that of the node before, if not at the same place.
    """
    ends, start = [len(text)], 0
    while start < len(text):
        at = text.find(_EACH[1], start + _RUN)
        after = at + 2 if at >= 0 else len(text)
        run = text[start : after + _AHEAD + 1]
        if found := _known_ends(run) if _RUN < len(run) < _LONG_RUN else _ends_in(run):
            ends += [start + end for end in found]
        start = after
    return sorted(ends)


def _ends_in(run: bytes) -> list[int]:
    """Where pieces may end in a run: it begins the text or behind an end, and has one behind `_RUN` bytes, or no other.

    What is behind the next byte after that is for the run that follows.
    """
    ends, at = [], run.find(_EACH[1], _RUN)
    last = at + 3 if at >= 0 else len(run)
    for each in _EACH:
        at = 0
        for part in run.split(each)[:-1]:
            at += len(part) + len(each)
            if zlib.crc32(run[at : at + _AHEAD]) % _SELDOM == 0 and at <= last:
                ends.append(at)
    return ends


_known_ends = lru_cache(maxsize=2_048)(_ends_in)


_LONGEST = 65_536
"""Bytes up to which it is remembered how a part of a text is cut."""


def _cut(part: bytes) -> Sequence[tuple[bytes, bytes]]:
    """A part of a text in pieces, each with its name."""
    return _remembered(part) if len(part) <= _LONGEST else [(hashed(piece), piece) for piece in pieces_of(part)]


@lru_cache(maxsize=128)
def _remembered(part: bytes) -> Sequence[tuple[bytes, bytes]]:
    # Most parts of a node are those of the node before.
    return [(hashed(piece), piece) for piece in pieces_of(part)]


def hashed(content: bytes) -> bytes:
    """The name of a piece, or of a text."""
    return sha256(content).digest()


ZLIB, ZSTD = PACKINGS = "zlib", "zstd"
"""How pieces are packed; each of them shows how it was."""

_ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"


def packed(piece: bytes, packing: str = ZLIB) -> bytes:
    """A piece as it is written. raises: MissingExtra"""
    return bytes(_zstd()[0](piece)) if packing == ZSTD else zlib.compress(piece, 3)


_LARGEST_TEXT = 10
"""A text of a store may have so many times the bytes of a document."""


def text_budget(file: str = "a text of the store") -> Budget:
    """What one text of a store, or one piece, may take. file: what messages call it"""
    limits = in_force()
    return Budget(file, limits.but(bytes=_LARGEST_TEXT * limits.bytes))


def unpacked(body: bytes, budget: Budget | None = None) -> bytes:
    """A piece as it was.

    budget: what is drawn on; one of its own unless given
    raises: zlib.error; TooMuch; MissingExtra
    """
    budget = budget or text_budget()
    if body.startswith(_ZSTD_BEGINS):
        return bytes(_zstd()[1](body, budget))
    most, unpacking = budget.left("bytes"), zlib.decompressobj()
    piece = unpacking.decompress(body, most + 1)
    budget.bytes(len(piece))
    if not unpacking.eof:
        raise zlib.error("the piece is cut off")
    return piece


@lru_cache(maxsize=1)
def _zstd() -> tuple[Callable[[bytes], bytes], Callable[[bytes, Budget], bytes]]:
    """What packs and what unpacks. raises: MissingExtra"""
    try:
        import zstandard
    except ImportError as error:
        raise missing_extra("zstandard", "fast", "a store whose pieces are packed with zstd") from error

    class Own(local):
        """What a thread packs and unpacks with: to make them takes as long as a piece."""

        def __init__(self) -> None:
            self.packs, self.unpacks = zstandard.ZstdCompressor(3).compress, zstandard.ZstdDecompressor().decompress

    own = Own()

    def unpack(body: bytes, budget: Budget) -> bytes:
        try:
            size = zstandard.frame_content_size(body)
            if size < 0:
                raise zlib.error("the piece does not say how large it is")
            budget.bytes(size)
            return own.unpacks(body)
        except zstandard.ZstdError as error:
            raise zlib.error(str(error)) from error

    return lambda piece: own.packs(piece), unpack


def _names(row: bytes) -> Iterator[bytes]:
    """The names of pieces that stand in a row."""
    return (row[at : at + HASH] for at in range(0, len(row), HASH))


def names_in(names: bytes) -> set[bytes]:
    """The names of pieces that stand in a row; one may stand there twice."""
    return {*_names(names)}


def as_bytes(value: Any) -> bytes:
    """Bytes as a database gives them; what is none, in a file that somebody damaged, is nothing."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


# --- in a database -------------------------------------------------------------------


_ALONE = 2_048
"""Bytes from which on a part is cut from what stands beside it, so that two texts have its pieces in common."""

_IN_DOCUMENT, _IN_SNAPSHOT = ("automatic", None), ("slots", "15", "m", None, 1, "j")
"""Where the facts stand; None is any step."""

_TO_FACTS = _IN_SNAPSHOT[-3:]

_Known = dict[int, tuple[bytes, bool]]
"""By the identity of a big map its text, and whether that is known to come back."""
_Written = Mapping[int, tuple[Any, bytes, bool]]
_NOTHING: _Written = MappingProxyType({})
_NOT_WRITTEN = object(), b"", False


def _laid(
    value: Any,
    way: Sequence[Any],
    known: _Known,
    parts: list[list[bytes]],
    settled: Mapping[Any, Any] | None,
    plain: bool = False,
    written: _Written = _NOTHING,
    last: Any = None,
) -> bool:
    """Write a value in parts: maps at the end of a way each are one. Whether all is known to come back.

    known:   grows, the first time; then only what it has is a part of its own
    settled: the first time, what came out of JSON, by the *last* step of its way; None later
    plain:   so did all of it, or it might have
    written: what was written before, as in `Saved`
    """
    if not way:
        is_plain = plain or (settled is not None and settled.get(last) is value)
        text, is_sure = known.get(id(value)) or encoded_once(value, is_plain)
        if len(text) >= _ALONE:
            known[id(value)] = text, is_sure
            parts += [text], []
        else:
            parts[-1].append(text)
        return is_sure
    is_map, is_sure = type(value) is dict, True
    opening, closing = (b"{", b"}") if is_map else (b"[", b"]")
    beside: list[tuple[Any, Any]] = []

    def written_beside() -> bool:
        nonlocal opening
        if not beside:
            return True
        all_of_it = _together(dict(beside), plain, written) if is_map else encoded([one for _, one in beside], plain)
        text, is_sure = all_of_it
        parts[-1].append(opening + text[1:-1])
        opening = b","
        beside.clear()
        return is_sure

    are_facts = way == _TO_FACTS and settled is None and not is_map
    for step, inner in value.items() if is_map else enumerate(value):
        if are_facts and type(inner) is list and len(inner) > 1 and type(inner[1]) is not dict:
            beside.append((step, inner))  # as most of them: it leads nowhere
        elif are_facts and (fact := _text_of_fact(inner, known)):  # written out, since a node has many
            is_sure &= written_beside() and fact[1]
            parts[-1].append(opening + b"[" + quoted(inner[0]) + b',{"j":')
            parts += [fact[0]], [b"}]"]
            opening = b","
        elif _leads(step, inner, way, known if settled is None else None) and type(step) is (str if is_map else int):
            is_sure &= written_beside()
            parts[-1].append(opening + quoted(step) + b":" if is_map else opening)
            opening = b","
            is_sure &= _laid(inner, way[1:], known, parts, settled, plain, written, step)
        else:
            beside.append((step, inner))
    is_sure &= written_beside()
    parts[-1].append(closing if opening == b"," else opening + closing)
    return is_sure


def _text_of_fact(pair: Any, known: _Known) -> tuple[bytes, bool] | None:
    """The text of a fact in a snapshot, where it is a map that is known, set with all others."""
    if type(pair) is not list or len(pair) != 2 or type(pair[1]) is not dict or len(pair[1]) != 1:
        return None
    return known.get(id(pair[1].get("j"))) if type(pair[0]) is str else None


def _together(entries: dict[Any, Any], plain: bool, written: _Written) -> tuple[bytes, bool]:
    """A map as `encoded` writes it; what was written before is not written again."""
    if not written:
        return encoded(entries, plain)
    texts: list[bytes] = []
    is_all_sure = True
    its = [(key, value, written.get(id(value), _NOT_WRITTEN)) for key, value in entries.items()]
    for is_written, some in groupby(its, lambda one: one[2][0] is one[1]):
        if is_written:
            each = [(quoted(key) + b":" + text, is_sure) for key, _, (_, text, is_sure) in some]
        else:
            text, is_sure = encoded({key: value for key, value, _ in some}, plain)
            each = [(text[1:-1], is_sure)]
        texts += [text for text, _ in each]
        is_all_sure = is_all_sure and all(is_sure for _, is_sure in each)
    return b"{" + b",".join(texts) + b"}", is_all_sure


def _leads(step: Any, inner: Any, way: Sequence[Any], known: _Known | None) -> bool:
    """Whether an entry is on a way at whose end there is a map, if it need be one that is known."""
    wanted, *after = way
    if wanted not in (step, None):
        return False
    for wanted in after:
        if wanted is None:
            break
        if (type(inner) is list and wanted in range(len(inner))) or (type(inner) is dict and wanted in inner):
            inner = inner[wanted]
        else:
            return False
    if None in after:
        return type(inner) in (dict, list)
    return type(inner) is dict and (known is None or id(inner) in known)


class Text:
    """A text to be written, and its pieces once they are asked for.

    way:     as in `_laid`; and so are *known*, *settled*, *plain* and *written*
    is_sure: whether it is known to come back
    raises:  BadValue, where the value is no JSON at all
    """

    def __init__(
        self,
        value: JsonMap,
        what: str,
        way: Sequence[Any],
        known: _Known,
        settled: Mapping[Any, Any],
        plain: bool = False,
        written: _Written = _NOTHING,
    ) -> None:
        self._value, self._what = value, what
        parts: list[list[bytes]] = [[]]
        with _refusing(what):
            self.is_sure = _laid(value, way, known, parts, settled if not known else None, plain, written)
        self._parts = [b"".join(part) for part in parts]
        self._text = b"".join(self._parts)
        self._pieces: dict[bytes, bytes] | None = None
        self.names = b""
        self.is_new = False
        self.hash = hashed(self._text)
        self.form = None if self.is_sure else form_of(value)

    def check(self) -> None:
        """raises: BadValue, where the value could not be read back"""
        if not self.is_sure:
            check_readable(self._text.decode(), self._value, self._what)

    def pieces(self) -> dict[bytes, bytes]:
        """The pieces by their names, as they are."""
        if self._pieces is None:
            pieces = [piece for part in filter(None, self._parts) for piece in _cut(part)]
            self.names, self._pieces = b"".join(name for name, _ in pieces), dict(pieces)
        return self._pieces


def texts_of(name: str, saved: Saved, written: dict[int, bytes] | None = None) -> list[Text]:
    """The document, and the snapshot if there is one. raises: BadValue

    written: is given the texts of big maps in them that are known to come back, by their identity
    """
    if not isinstance(saved.document, dict) or saved.document.get("name") != name:
        raise BadValue(f"the document of the node {name!r} does not name it")
    known: _Known = {}
    texts = [Text(saved.document, f"the document of the node {name!r}", _IN_DOCUMENT, known, saved.settled)]
    if saved.snapshot is not None:
        what = f"the snapshot of the node {name!r}"
        texts.append(Text(saved.snapshot, what, _IN_SNAPSHOT, known, {}, saved.plain, saved.written))
    if written is not None:
        written.update((number, text) for number, (text, is_sure) in known.items() if is_sure)
    return texts


def noted_text(name: str, noted: Noted) -> str:
    return json_text(noted.to_dict(), f"what is noted of the node {name!r}")


def begins_with(snapshot: JsonMap) -> bytes:
    """What of a snapshot the next run begins with, as JSON: the normal attributes, and who set them."""
    return encoded(normal_alone(snapshot), plain=True)[0]  # its text was written a moment ago


def texts_questions(texts: Iterable[Text]) -> list[Question]:
    return _asked("SELECT hash, form, pieces FROM text", [text.hash for text in texts])


def _asked(sql: str, hashes: Sequence[bytes]) -> list[Question]:
    return [
        (f"{sql} WHERE hash IN ({', '.join('?' * len(some))})", *some)
        for some in (hashes[at : at + _AT_ONCE] for at in range(0, len(hashes), _AT_ONCE))
    ]


_AT_ONCE = 500
"""Hashes that are asked for at once: a question has only so many values."""


def known_texts(rows: Iterable[Sequence[Any]]) -> dict[bytes, tuple[bytes, bytes]]:
    """The texts that are there: the hash of the value that each was made of, nothing where that is not known, and the
    names of its pieces."""
    return {as_bytes(name): (as_bytes(form), as_bytes(pieces)) for name, form, pieces in rows}


class Packed:
    """Texts that a store lacks, and their pieces: packed are those that it lacks, too."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, bytes] = {}
        self._pieces: dict[bytes, bytes] = {}
        self._packing = ZLIB

    def questions(self, texts: Iterable[Text]) -> list[Question]:
        """What to ask a store: which pieces of texts it has. Not those that it lacked before."""
        for text in texts:
            self._pieces |= text.pieces()
        return _asked("SELECT hash FROM piece", [name for name in self._pieces if name not in self._bodies])

    def pack(self, packing: str, there: Iterable[Sequence[Any]]) -> None:
        """Pack what it lacks. there: the answers"""
        self._packing = packing
        known = {as_bytes(name) for (name,) in there}
        for name in self._pieces.keys() - known - self._bodies.keys():
            self._bodies[name] = packed(self._pieces[name], packing)

    def write(self, talk: Talk, texts: Sequence[Text], known: Collection[bytes]) -> None:
        """Write those of the texts that are not *known*, and their pieces."""
        # One that was new a moment ago is written without asking, and does no harm if it is there now.
        unknown = {text.hash: text for text in texts if text.hash not in known}
        pieces = {name: piece for text in unknown.values() for name, piece in text.pieces().items()}
        # What was not asked for is written, too. In one order for all, so that no two who write wait for each other.
        bodies = [
            (name, self._bodies.get(name) or packed(pieces[name], self._packing))
            for name in sorted(pieces)
            if name in self._bodies or name not in self._pieces
        ]
        talk.each("INSERT INTO piece (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", bodies)
        rows = [(name, unknown[name].names, unknown[name].form) for name in sorted(unknown)]
        talk.each("INSERT INTO text (hash, pieces, form) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)


class Stored:
    """Texts as they are stored, and their pieces, which are read together."""

    def __init__(self, talk: Talk, texts: Iterable[tuple[bytes | None, Any]], last: bool = False) -> None:
        """texts: each with the names of its pieces, None where it is gone. last: as in `Talk.answers`"""
        self._pieces = {name: as_bytes(pieces) for name, pieces in texts if name is not None and pieces is not None}
        wanted = set().union(*map(names_in, self._pieces.values()))
        bodies = talk.found("SELECT hash, body FROM piece WHERE hash = ?", wanted, last)
        self._bodies = {as_bytes(name): as_bytes(body) for name, body in bodies}
        self._unpacked: dict[bytes, bytes] = {}

    def text(self, name: bytes) -> bytes:
        """raises: LookupError, zlib.error, ValueError, where it is damaged; TooMuch"""
        if name not in self._pieces:
            raise LookupError("its text is gone")
        budget = text_budget()
        pieces = []
        for one in _names(self._pieces[name]):
            pieces.append(self._piece(one))
            budget.bytes(len(pieces[-1]))
        text = b"".join(pieces)
        if hashed(text) != name:
            raise ValueError("its checksum does not fit")
        return text

    def decoded_without(self, document: bytes, snapshot: bytes, text: bytes) -> Any:
        """What the text of a snapshot says; null stands for the facts that are parts of the document's text as well.

        Such a part is cut from what stands beside it, and of a snapshot no other one begins after `{"j":`.
        """
        common = names_in(self._pieces[document])
        rows = [
            (own, [*names]) for own, names in groupby(_names(self._pieces[snapshot]), lambda one: one not in common)
        ]
        kept = [(own, b"".join(map(self._piece, names))) for own, names in rows]
        for at, (own, _) in enumerate(kept[1:-1], 1):
            if not own and kept[at - 1][1].endswith(b'{"j":') and kept[at + 1][1].startswith(b"}"):
                kept[at] = own, b"null"
        try:
            return decoded(b"".join(part for _, part in kept))
        except ValueError:  # parts that go together by chance
            return decoded(text)

    def _piece(self, name: bytes) -> bytes:
        if name not in self._unpacked:  # document and snapshot have the facts in common
            self._unpacked[name] = unpacked(self._bodies[name])
        return self._unpacked[name]


def text_of(talk: Talk, name: bytes) -> bytes:
    """raises: LookupError, zlib.error, ValueError, where it is damaged"""
    rows = talk.all("SELECT hash, pieces FROM text WHERE hash = ?", name)
    return Stored(talk, [(as_bytes(hash), pieces) for hash, pieces in rows]).text(name)


def fault_of(talk: Talk, name: bytes) -> str:
    try:
        text_of(talk, name)
    except KeyError:
        return "a piece of it is gone"
    except LookupError as error:
        return str(error)
    except zlib.error:
        return "a piece of it is damaged"
    except ValueError as error:
        return str(error)
    return ""

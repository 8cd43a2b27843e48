"""JSON as it is kept: a text in pieces, each stored once by its content.

Where a text is cut depends on what stands there and on nothing before it, so that a change in one
place leaves the other pieces as they were. It knows no store, but for the tables `text` and `piece`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import marshal
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from nodeattrs.core.tree import is_json
from nodeattrs.errors import BadValue
from nodeattrs.lazily import regexp
from nodeattrs.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodeattrs.keep.revisions import JsonMap, Noted, Saved
    from nodeattrs.keep.stores.talk import Question, Talk

HASH = hashlib.sha256().digest_size
"""Bytes of a piece's name."""

_SMALLEST, _LARGEST = 256, 16_384
"""Bytes of a piece, but for the last one, and for texts that cannot be cut."""

_SELDOM = 64
"""One of so many places where a map or list has ended is the end of a piece."""

_ENDS = regexp(rb"[\]}],")
_AHEAD = 32

_DEEPEST = 1_999
"""Levels of a text. A node's own limit is 500, and a snapshot needs up to three for each of them."""

# Without a book of what it is in: a value that holds itself ends at the same limit as one that is too deep.
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


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
        text = _encoded(value)
        text.encode("utf-8")
        return text


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
    try:
        # Of the first version: it writes one value in one way. Nothing is ever read back from it.
        return hashed(marshal.dumps(value, 0))
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
    pieces = []
    start = 0
    for end in _ENDS.finditer(text):
        at = end.end()
        size = at - start
        if size >= _SMALLEST and (size >= _LARGEST or zlib.crc32(text[at : at + _AHEAD]) % _SELDOM == 0):
            pieces.append(text[start:at])
            start = at
    return [*pieces, text[start:]]


def hashed(content: bytes) -> bytes:
    """The name of a piece, or of a text."""
    return hashlib.sha256(content).digest()


def packed(piece: bytes) -> bytes:
    """A piece as it is written."""
    return zlib.compress(piece, 6)


def unpacked(body: bytes) -> bytes:
    """A piece as it was. raises: zlib.error"""
    return zlib.decompress(body)


def joined(names: bytes, bodies: Mapping[bytes, bytes]) -> bytes:
    """The text whose pieces have these names, all in a row. raises: KeyError, zlib.error"""
    return b"".join(unpacked(bodies[names[at : at + HASH]]) for at in range(0, len(names), HASH))


def as_bytes(value: Any) -> bytes:
    """Bytes as a database gives them; what is none, in a file that somebody damaged, is nothing."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


# --- in a database -------------------------------------------------------------------


class Text:
    """A text to be written, and its pieces once they are asked for.

    raises: BadValue, where the value is no JSON at all
    """

    def __init__(self, value: JsonMap, what: str) -> None:
        self._value, self._what = value, what
        self._text = written(value, what)
        self._pieces: dict[bytes, bytes] | None = None
        self.names = b""
        self.is_new = False
        self.hash = hashed(self._text.encode("utf-8"))
        self.form = form_of(value)

    def check(self) -> None:
        """raises: BadValue, where the value could not be read back"""
        check_readable(self._text, self._value, self._what)

    def pieces(self) -> dict[bytes, bytes]:
        if self._pieces is None:
            pieces = [(hashed(piece), packed(piece)) for piece in pieces_of(self._text.encode("utf-8"))]
            self.names, self._pieces = b"".join(name for name, _ in pieces), dict(pieces)
        return self._pieces


def texts_of(name: str, saved: Saved) -> list[Text]:
    """The document, and the snapshot if there is one. raises: BadValue"""
    if not isinstance(saved.document, dict) or saved.document.get("name") != name:
        raise BadValue(f"the document of the node {name!r} does not name it")
    texts = [Text(saved.document, f"the document of the node {name!r}")]
    if saved.snapshot is not None:
        texts.append(Text(saved.snapshot, f"the snapshot of the node {name!r}"))
    return texts


def noted_text(name: str, noted: Noted) -> str:
    return json_text(noted.to_dict(), f"what is noted of the node {name!r}")


def forms_question(texts: Iterable[Text]) -> Question:
    hashes = [text.hash for text in texts] or [b""]
    return f"SELECT hash, form FROM text WHERE hash IN ({', '.join('?' * len(hashes))})", *hashes


def known_forms(rows: Iterable[tuple[Any, ...]]) -> dict[bytes, bytes | None]:
    """The texts that are there, and the hash of the value that each was made of, where that is known."""
    return {as_bytes(name): None if form is None else as_bytes(form) for name, form in rows}


def write_texts(talk: Talk, texts: Sequence[Text], known: Collection[bytes]) -> None:
    # One that was new a moment ago is written without asking, and does no harm if it is there now.
    unknown = {text.hash: text for text in texts if text.hash not in known}
    # In one order for all who write, so that no two of them wait for each other.
    pieces = {name: body for text in unknown.values() for name, body in text.pieces().items()}
    talk.each("INSERT INTO piece (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(pieces.items()))
    rows = [(name, unknown[name].names, unknown[name].form) for name in sorted(unknown)]
    talk.each("INSERT INTO text (hash, pieces, form) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)


class Stored:
    """Texts as they are stored, and their pieces, which are read together."""

    def __init__(self, talk: Talk, texts: Iterable[tuple[bytes | None, Any]], last: bool = False) -> None:
        """texts: each with the names of its pieces, None where it is gone. last: as in `Talk.answers`"""
        self._pieces = {name: as_bytes(pieces) for name, pieces in texts if name is not None and pieces is not None}
        wanted = {
            pieces[at : at + HASH] for pieces in self._pieces.values() for at in range(0, len(pieces), HASH)
        }  # a piece may stand there twice
        bodies = talk.found("SELECT hash, body FROM piece WHERE hash = ?", wanted, last)
        self._bodies = {as_bytes(name): as_bytes(body) for name, body in bodies}

    def text(self, name: bytes) -> bytes:
        """raises: LookupError, zlib.error, ValueError, where it is damaged"""
        if name not in self._pieces:
            raise LookupError("its text is gone")
        text = joined(self._pieces[name], self._bodies)
        if hashed(text) != name:
            raise ValueError("its checksum does not fit")
        return text


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

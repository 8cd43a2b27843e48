"""Texts of a store: documents, snapshots and facts as compressed JSON, each stored once by the hash of its content.

A text is compressed with zlib, or with zstd where the store was made so. The facts of a node are a text of their own:
they are the same in most runs, and the same in document and snapshot. The document has null in place of the facts, and
the snapshot has `{"j": null}` for each fact. The module knows no database.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from nodeattrs.core.budget import Budget, in_force
from nodeattrs.errors import BadValue, missing_extra
from nodeattrs.formats.compact_json import encoded
from nodeattrs.store.revisions import JsonMap, Noted, Saved

_DEEPEST = 1_999
"""The most levels of a text. A node may have 500, and a snapshot needs up to three for each."""

# --- JSON ---------------------------------------------------------------------------


def written(value: Any, what: str) -> str:
    """*value* as JSON text. what: its name in messages. raises: BadValue, where it is no JSON, or contains itself"""
    with _refusing(what):
        return encoded(value).decode()


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise BadValue(f"{what} cannot be kept: it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} cannot be kept: {str(error).partition(chr(10))[0]}") from error


def is_same_form(one: Any, other: Any) -> bool:
    """Whether two values are equal with the same types and order of keys; False also where one is no plain data."""
    form = _marshalled(one)
    return form is not None and form == _marshalled(other)


def _marshalled(value: Any) -> bytes | None:
    try:
        # Version 0 writes equal values in one way only. It is compared, and never read.
        return marshal.dumps(value, 0)
    except ValueError:
        return None


def _depth(value: Any) -> int:
    """The levels of nesting of *value*, counted up to _DEEPEST + 1 without recursion."""
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


# --- compression --------------------------------------------------------------------


ZLIB, ZSTD = PACKINGS = "zlib", "zstd"
"""The ways to compress texts. The first bytes of a compressed text show which one was used."""

_ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"


def packed(content: bytes, packing: str = ZLIB) -> bytes:
    """A text, compressed with zlib or zstd. raises: MissingExtra, for zstd where it is not installed"""
    return bytes(_zstandard().compress(content, 3)) if packing == ZSTD else zlib.compress(content, 3)


_LARGEST_TEXT = 10
"""The limit of a text, as a multiple of the limit of bytes for documents."""


def text_budget(file: str = "a text of the store") -> Budget:
    """A new budget for reading one text of the store, ten times larger than for a document. file: its name in
    messages
    """
    limits = in_force()
    return Budget(file, limits.replaced(bytes=_LARGEST_TEXT * limits.bytes))


def unpacked(body: bytes) -> bytes:
    """The text in a compressed body of either kind, zlib or zstd.

    raises: zlib.error, if it is damaged or cut off; TooMuch, for a text over the limit; MissingExtra, for zstd
    """
    budget = text_budget()
    if body.startswith(_ZSTD_BEGINS):
        return _unpacked_zstd(body, budget)
    most, unpacking = budget.remaining("bytes"), zlib.decompressobj()
    content = unpacking.decompress(body, most + 1)
    budget.bytes(len(content))
    if not unpacking.eof:
        raise zlib.error("the text is cut off")
    return content


def _unpacked_zstd(body: bytes, budget: Budget) -> bytes:
    zstandard = _zstandard()
    try:
        size = zstandard.frame_content_size(body)
        if size < 0:
            raise zlib.error("the text does not say how large it is")
        budget.bytes(size)
        return bytes(zstandard.decompress(body))
    except zstandard.ZstdError as error:
        raise zlib.error(str(error)) from error


def _zstandard() -> Any:
    """The module `zstandard`. raises: MissingExtra"""
    try:
        import zstandard
    except ImportError as error:
        raise missing_extra("zstandard", "fast", "a store whose texts are compressed with zstd") from error
    return zstandard


# --- a node in texts ----------------------------------------------------------------

KINDS = ("document", "snapshot", "facts")
"""The columns of a revision that name its texts, in their order. Those of snapshot and facts may be NULL."""

_FACTS = "automatic"
_SLOT = "15"
_HOLE = {"j": None}


class StoredText:
    """A document, snapshot, facts or notes, encoded for a store. The constructor encodes and hashes; `pack` compresses.

    `check` decodes the content again, and raises BadValue if it differs from the value. `pack` keeps its first result,
    so give it the same word each time.

    value:   the data; BadValue, from the constructor, if it is not JSON
    what:    the name of the data in messages
    content: the JSON as bytes
    hash:    the SHA-256 of the content
    """

    def __init__(self, value: JsonMap, what: str) -> None:
        self._value, self._what = value, what
        with _refusing(what):
            self.content = encoded(value)
        self.hash = sha256(self.content).digest()
        self._body = b""

    def check(self) -> None:
        """Read the JSON back and compare it. Nothing is changed.

        raises: BadValue, if it gives another value, or is nested too deeply
        """
        with _refusing(self._what):
            back = json.loads(self.content)
            with contextlib.suppress(RecursionError):
                if back == self._value:
                    return
            if is_same_form(back, self._value):  # which goes deeper than == can
                return
            if _depth(self._value) > _DEEPEST:
                raise RecursionError(f"it is nested more than {_DEEPEST} deep")
        raise BadValue(f"{self._what} is not JSON: reading it back gives something else")

    def pack(self, packing: str) -> bytes:
        """The compressed content; compressed at the first call, and kept: give the same *packing* in all calls.

        raises: MissingExtra
        """
        self._body = self._body or packed(self.content, packing)
        return self._body


def noted_text(name: str, noted: Noted) -> str:
    """The notes of a revision as JSON text. raises: BadValue, where reading it back would give other notes"""
    what = f"what is noted of the node {name!r}"
    text = written(noted.to_dict(), what)
    if noted.report is not None and json.loads(text)["report"] != noted.report:
        raise BadValue(f"{what} is not JSON: reading it back gives something else")
    return text


def texts_of(name: str, saved: Saved) -> list[StoredText | None]:
    """[document, snapshot, facts] of a node as texts, not compressed yet; None for a snapshot or facts that it lacks.

    The texts of document and snapshot lack the facts. *saved* is not changed.
    raises: BadValue, if one is not JSON, or if the document has another name than *name*
    """
    if not isinstance(saved.document, dict) or saved.document.get("name") != name:
        raise BadValue(f"the document of the node {name!r} does not name it")
    document, snapshot, facts = _divided(saved.document, saved.snapshot)
    return [
        None if value is None else StoredText(value, f"the {kind} of the node {name!r}")
        for kind, value in zip(KINDS, (document, snapshot, facts), strict=True)
    ]


def _divided(document: JsonMap, snapshot: JsonMap | None) -> tuple[JsonMap, JsonMap | None, JsonMap | None]:
    """Returns (document, snapshot, facts), the first two without the facts; facts is None where they cannot be
    divided.
    """
    facts = document.get(_FACTS)
    if type(facts) is not dict or not facts or any(pair[1] == _HOLE for pair in _facts_in(snapshot)):
        return document, snapshot, None
    document = {**document, _FACTS: None}
    its = [pair for pair in _facts_in(snapshot) if _is_fact(pair, facts)]
    if snapshot is None or not its:
        return document, snapshot, facts
    known = {id(pair) for pair in its}
    slots = snapshot["slots"]
    pairs = [[pair[0], _HOLE, *pair[2:]] if id(pair) in known else pair for pair in slots[_SLOT]["m"]]
    return document, {**snapshot, "slots": {**slots, _SLOT: {**slots[_SLOT], "m": pairs}}}, facts


def _facts_in(snapshot: JsonMap | None) -> Iterator[list[Any]]:
    """Yield the packed entry of each fact of a snapshot that is a map: [key, {"j": value}, ...]."""
    pairs: Any = snapshot
    for step in ("slots", _SLOT, "m"):
        pairs = pairs.get(step) if isinstance(pairs, dict) else None
    for pair in pairs if isinstance(pairs, list) else ():
        if type(pair) is list and len(pair) > 1 and type(pair[1]) is dict and [*pair[1]] == ["j"]:
            yield pair


def _is_fact(pair: list[Any], facts: JsonMap) -> bool:
    key, value = pair[0], pair[1]["j"]
    fact = facts.get(key) if type(key) is str else None
    return type(fact) is dict and (value is fact or is_same_form(value, fact))


def joined(document: JsonMap, snapshot: JsonMap | None, facts: JsonMap) -> None:
    """Put the facts back into document and snapshot, which are changed: the reverse of `texts_of`.

    snapshot: None if the node has none
    raises: LookupError, if the snapshot needs a fact that is not in *facts*
    """
    document[_FACTS] = facts
    for pair in _facts_in(snapshot):
        if pair[1] == _HOLE:
            pair[1]["j"] = facts[pair[0]]


# --- in a database ------------------------------------------------------------------


def text_in(bodies: Mapping[bytes, bytes], name: bytes) -> bytes:
    """The uncompressed text with the hash *name*. bodies: hash -> compressed body

    raises: LookupError, if it is missing; zlib.error, ValueError, if it is damaged; TooMuch
    """
    if name not in bodies:
        raise LookupError("its text is gone")
    text = unpacked(bodies[name])
    if sha256(text).digest() != name:
        raise ValueError("its checksum does not fit")
    return text


def map_in(bodies: Mapping[bytes, bytes], name: bytes) -> JsonMap:
    """The map in the text with the hash *name*. bodies: hash -> compressed body

    raises: LookupError, if it is missing; zlib.error, ValueError, if it is damaged or not a map; TooMuch;
            RecursionError
    """
    tree = json.loads(text_in(bodies, name))
    if not isinstance(tree, dict):
        raise ValueError("it is not a map")
    return tree

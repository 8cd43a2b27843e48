"""What a saved node is made of: hashes by which one that did not change is known.

One is of the snapshot, and says what is saved; see `made_of`. The other one is of what the snapshot hangs on, so that
where it is the same no snapshot is made; see `outlined`. It runs nothing, and knows no store.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple, cast

from nodeattrs._version import VERSION
from nodeattrs.keep.snapshots import keeps_all
from nodeattrs.node.alike import texts_in
from nodeattrs.node.node import Node
from nodeattrs.runs.config import Config
from nodeattrs.runs.content import Stamp, stamps_of
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.repository import Repository
from nodeattrs.texts.documents import Document
from nodeattrs.texts.json_choice import encoded


class Looked(NamedTuple):
    """What is known of a snapshot that was hashed.

    hashed:  what `made_of` gives
    plain:   whether it is known to come back from JSON as it is
    """

    hashed: bytes = b""
    plain: bool = False


NOT_LOOKED = Looked()


_MADE_OF, _FACTS = 2, "15"
"""The first number in what is hashed, another one where that changes; and the slot of facts."""


def made_of(snapshot: dict[str, Any], facts: Facts, config: Config) -> bytes:
    """A hash of what is saved of a node: where it is the same, the texts of both are.

    Of a snapshot and the lists of the settings, since the document says nothing that these do not. For facts that stand
    there just as their file has them that file's text is hashed. Empty where something is no JSON.
    """
    return looked_over(snapshot, facts, config).hashed


def looked_over(snapshot: dict[str, Any], facts: Facts, config: Config) -> Looked:
    """The same, and what else is known then."""
    file, lists = b"", [dict(config.allowed), dict(config.blocked)]
    slots, marks = snapshot["slots"], snapshot["marks"]
    slot = slots[_FACTS]
    if not any("automatic" in one for one in lists) and (read := _text_of(facts)):
        settled = facts.tree
        rest = [
            pair
            for pair in slot["m"]  # but for what is a settled map, and set with all others
            if len(pair) > 2 or type(pair[1]) is not dict or pair[1].get("j", slot) is not settled.get(pair[0])
        ]
        many = sum(type(fact) is dict for fact in settled.values())
        is_untouched = all(str(at[1]) != _FACTS for at in snapshot["history"])
        is_as_read = is_untouched and 0 < len(slot["m"]) - len(rest) == many
        if is_as_read:  # else a part of the file may be kept nowhere, and a hash of it is not either
            file, slot = read, {**slot, "m": rest, "order": [pair[0] for pair in slot["m"]]}
    rest_of_it = {key: value for key, value in snapshot.items() if key not in ("slots", "marks")}
    try:
        # A node takes in plain data alone, which comes back; facts that are not as they were read may be anybody's.
        of_facts = encoded(slot)
        known = texts_in(snapshot)
        written = {
            number: (known.slots[number], True) if number in known.slots else (encoded(tree), False)
            for number, tree in slots.items()
            if number != _FACTS
        }
        head = encoded([_MADE_OF, VERSION, *lists, rest_of_it, [*slots], len(marks)])
        of_marks = _array(marks, known.marks)
    except (TypeError, ValueError, RecursionError):  # whoever writes it says what is wrong
        return NOT_LOOKED
    # No JSON without spaces has a line break, so that nothing can be taken for another part.
    parts = sha256(file).digest(), head, of_facts, *(text for text, _ in written.values()), of_marks
    return Looked(sha256(b"\n".join(parts)).digest(), False)


def _array(values: list[Any], known: list[bytes | None]) -> bytes:
    """The text of several values, those in a row written at once whose texts are not known."""
    texts: list[bytes] = []
    for is_unknown, some in groupby(zip(values, known, strict=True), lambda one: one[1] is None):
        if is_unknown:
            texts.append(encoded([value for value, _ in some])[1:-1])
        else:
            texts += [text for _, text in some if text is not None]
    return b"[" + b",".join(texts) + b"]"


def _text_of(facts: Facts) -> bytes:
    """The text that settled facts were read from, where it has nothing but these; empty elsewhere."""
    document = getattr(facts.locator, "document", None)
    if not isinstance(document, Document) or not facts.settled or document.tree is not facts.tree:
        return b""
    if facts.warnings:  # of a key that stands there twice one value is kept nowhere
        return b""
    return document.content


_OUTLINED = 1
"""As `_MADE_OF`."""
_NO_NAMES = 2
"""The last version of the format in which the same things are the same bytes, wherever they stand in memory."""
_QUIET = 2.0
"""Seconds for which no file may have changed before it is looked at: two changes that are less apart may have the same
time."""


def outlined(node: Node, began: Any, facts: Facts, repository: Repository, stamps: Mapping[str, Stamp] | None) -> bytes:
    """A hash of what the snapshot of a node hangs on: where it is the same, so is what is saved.

    Of its outline, of what it began with, and of how the files stand that the repository and the facts are. Empty where
    that is not all of it, or not certain.

    began:  what it began with, as a snapshot has it
    stamps: as `stamps_before` gives them
    raises: DeferredCycle
    """
    if stamps is None:
        return b""
    since = repository.opened - _QUIET
    is_there = facts.stamp is not None and facts.stamp.is_before(since) and _text_of(facts) != b""
    outline = node.outline(stamps, facts.tree if is_there else {})
    config = repository.config
    if outline is None or not keeps_all(outline, config.allowed, config.blocked):
        return b""
    lists = [dict(config.allowed), dict(config.blocked)]
    files = [(name, *stamp) for name, stamp in stamps.items()]
    known = _OUTLINED, _ours(), lists, files, [*(facts.stamp or ())], began, outline
    try:
        return sha256(marshal.dumps(known, _NO_NAMES)).digest()
    except ValueError:  # something is in it that is no plain data
        return b""


@cache
def _ours() -> tuple[Any, ...]:
    """What looks at sources: this version, whose files may be others in a checkout, and Python."""
    package = os.path.dirname(os.path.dirname(__file__))
    rooms = (stamps_of(os.path.join(package, room)) or {} for room in ("node", "texts"))
    return VERSION, sys.version, [(name, *stamp) for room in rooms for name, stamp in room.items()]


def stamps_before(repository: Repository, store: str) -> dict[str, Stamp] | None:
    """How the files of a repository stood before any was read; None where that is not certain. Looked up once.

    store: the place of the store, whose own files are no part of the repository
    """
    key = "stamps", store
    if key not in repository.plans:
        found = stamps_of(repository.root, [store + ends for ends in ("", "-wal", "-shm", "-journal")])
        since = repository.opened - _QUIET
        is_quiet = found is not None and all(stamp.is_before(since) for stamp in found.values())
        repository.plans[key] = found if is_quiet else None
    return cast("dict[str, Stamp] | None", repository.plans[key])

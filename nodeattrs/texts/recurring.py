"""Entries of JSON texts that came before: many machines of a fleet say the same in most of them.

A text in which each entry of the map at the top begins a line of its own, as programs write facts, is read entry by
entry. One that is byte for byte what another text had is not parsed again: both share its value, which nobody may
change, and so its compact text is written once. It is for data that is `settled`, in processes that read a lot: where
`fast_json` leaves a text to the standard library, so does this.
"""

from __future__ import annotations

from nodeattrs.texts.fast_json import IN_COMMON, quotes_in, read_back
from nodeattrs.typed import Any

_BEGINS, _NEXT, _ENDS = b'{\n  "', b',\n  "', b"\n}"

VARIANTS = 4
"""So many entries with one key are remembered, those that were met last."""

MOST = 2_000_000
"""Bytes of all that is remembered; then it begins anew. The values take some eight times as much."""

_EACH = 256
"""What is counted for an entry beside its bytes."""

_ENTRIES = 1_000
"""With more entries a text is read at once."""


_Entry = tuple[bytes, dict[str, Any]]
"""An entry as it is written, without the quote that opens its key; and what it says, nothing until it came twice: trees
that nobody shares are not kept, since that would cost more than to read them."""


_IN_VAIN, _PAUSE = 8, 64
"""After so many texts in a row of which little came before, so many are read at once before it is tried again."""


class _Remembered:
    """What this process has met.

    size:     as `MOST` counts it
    variants: by the key as it is written, the last one first
    in_vain:  how many texts in a row had little that came before, and those that were read at once since
    """

    size = in_vain = 0
    variants: dict[bytes, list[_Entry]] = {}  # noqa: RUF012


def read_entries(text: bytes) -> dict[str, Any] | None:
    """What a text in UTF-8 says, as `fast_json.read_back` has it; nobody may change it. None where that has to read it.

    A key that is written twice is for others, who say so.
    cost: a comparison with what came before; of what is new, the parser
    """
    if not text.startswith(_BEGINS) or not _is_worth_it():
        return None
    text = text.rstrip(b"\n")
    end = len(text) - len(_ENDS)
    if not text.endswith(_ENDS):
        return None
    tree: dict[str, Any] = {}
    at, count, new = len(_BEGINS), 0, 0
    while True:
        key = text[at : text.find(b'"', at)]
        for number, (known, says) in enumerate(_Remembered.variants.get(key, ())):
            if text.startswith(known, at):
                after = at + len(known)
                if after == end or text.startswith(_NEXT, after):
                    members = says or _met_twice(key, known)
                    if number:
                        _met_again(key, known)
                    break
        else:
            after = text.find(_NEXT, at, end)
            after = end if after < 0 else after
            members = _parsed(known := text[at:after])
            new += len(known)
            if members and len(known) < MOST // VARIANTS:
                _remember(key, known)
        if not members:
            return None
        tree |= members
        count += len(members)
        if after == end:
            _Remembered.in_vain = _Remembered.in_vain + 1 if 2 * new > end else 0
            return tree if len(tree) == count else None
        if count > _ENTRIES:
            return None
        at = after + len(_NEXT)


def _is_worth_it() -> bool:
    """Whether texts have had enough in common of late."""
    known = _Remembered
    if known.in_vain < _IN_VAIN:
        return True
    known.in_vain += 1
    if known.in_vain >= _IN_VAIN + _PAUSE:
        known.in_vain = _IN_VAIN // 2
    return False


def _parsed(text: bytes) -> dict[str, Any]:
    """What an entry says. Where a line was taken for its end and is none, nothing: it cannot be read."""
    alone = b"".join((_BEGINS, text, _ENDS))
    found = read_back(alone)
    if found is None or (found[1] is not None and quotes_in(alone.decode()) > quotes_in(found[1].decode())):
        return {}
    tree: dict[str, Any] = found[0]
    return tree


def _remember(key: bytes, text: bytes) -> None:
    known = _Remembered
    if known.size > MOST:
        known.size, known.variants = 0, {}
        IN_COMMON.clear()
    variants = known.variants.get(key, [])
    known.variants[key] = [(text, {}), *variants[: VARIANTS - 1]]
    known.size += len(text) + _EACH
    for gone, members in variants[VARIANTS - 1 :]:
        known.size -= len(gone) + _EACH
        for value in members.values():
            IN_COMMON.pop(id(value), None)


def _met_twice(key: bytes, text: bytes) -> dict[str, Any]:
    """What an entry says that came for the second time; shared from now on."""
    members = _parsed(text)
    variants = _Remembered.variants.get(key, [])
    _Remembered.variants[key] = [(one, members if one is text else its) for one, its in variants]
    IN_COMMON.update((id(value), (value, [])) for value in members.values() if type(value) is dict)
    return members


def _met_again(key: bytes, text: bytes) -> None:
    """Let it be the last to be forgotten."""
    variants = _Remembered.variants.get(key, [])
    _Remembered.variants[key] = sorted(variants, key=lambda entry: entry[0] is not text)

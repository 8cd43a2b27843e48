"""Entries of JSON texts that came before: many machines of a fleet say the same in most of them.

A text in which each entry of the map at the top begins a line of its own, as programs write facts, is read entry by
entry. One that is byte for byte what another text had is not parsed again: both share its value, which nobody may
change, and so its compact text is written once. It is for data that is `settled`, in processes that read a lot: where
`fast_json` leaves a text to the standard library, so does this.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nodeattrs.texts.fast_json import IN_COMMON, quotes_in, read_back

_BEGINS, _NEXT, _ENDS = b'{\n  "', b',\n  "', b"\n}"

VARIANTS = 4
"""So many entries with one key are remembered, those that were met last."""

MOST = 2_000_000
"""Bytes of all that is remembered; then it begins anew. The values take some eight times as much."""

_EACH = 256
"""What is counted for an entry beside its bytes."""

_ENTRIES = 1_000
"""With more entries a text is read at once."""


_Entry = tuple[bytes, dict[str, Any], bool]
"""An entry as it is written, without the quote that opens its key; what it says, nothing until it came twice: trees
that nobody shares are not kept, since that would cost more than to read them; and whether it is a row: several that
follow one another in all texts, which are found with one look."""


_NONE: list[_Entry] = []

_IN_VAIN, _PAUSE = 8, 64
"""After so many texts in a row of which little came before, so many are read at once before it is tried again."""


class _Remembered:
    """What this process has met.

    size:     as `MOST` counts it
    variants: by the key as it is written, the last one first; of a row by its first key
    in_vain:  how many texts in a row had little that came before, and those that were read at once since
    """

    size = in_vain = 0
    variants: dict[bytes, list[_Entry]] = {}  # noqa: RUF012


class Entries(NamedTuple):
    """What a text in UTF-8 says, whose tree nobody may change; and the text, in entries and rows of them."""

    tree: dict[str, Any]
    written: list[bytes]
    end: bytes

    @property
    def text(self) -> bytes:
        """The text as it was. cost: a copy of it"""
        return b"".join((_BEGINS, _NEXT.join(self.written), self.end))


def read_entries(text: bytes) -> Entries | None:
    """A text in UTF-8, as `fast_json.read_back` has it. None where that has to read it.

    A key that is written twice is for others, who say so.
    cost: a comparison with what came before; of what is new, the parser
    """
    if not text.startswith(_BEGINS) or not _is_worth_it():
        return None
    end = text.rfind(_ENDS)
    if text[end:].rstrip(b"\n") != _ENDS:
        return None
    read = _read(text, len(_BEGINS), end)
    if read is None:
        return None
    written, trees, new = read
    _Remembered.in_vain = _Remembered.in_vain + 1 if 2 * sum(map(len, new)) > end else 0
    tree: dict[str, Any] = {}
    count, news = 0, iter(_parsed_each(new))
    for members in trees:
        if not (members or (members := next(news))):
            return None
        tree |= members
        count += len(members)
    for known in new:
        if len(known) < MOST // VARIANTS:
            _remember(known[: known.find(b'"')], known)
    return Entries(tree, written, text[end:]) if len(tree) == count else None


def _read(text: bytes, at: int, end: int) -> tuple[list[bytes], list[dict[str, Any]], list[bytes]] | None:
    """The entries as they are written, what each says (nothing where it is new), and the new ones. None: too many."""
    written: list[bytes] = []
    trees: list[dict[str, Any]] = []
    new: list[bytes] = []
    row: list[tuple[bytes, bytes, dict[str, Any]]] = []  # entries of which no other variant is known
    while True:
        key = text[at : text.find(b'"', at)]
        variants = _Remembered.variants.get(key, _NONE)
        for number, (known, says, is_row) in enumerate(variants):
            after = at + len(known)
            if text.startswith(known, at) and (after == end or text.startswith(_NEXT, after)):
                members = says or _met_twice(key, known)
                if is_row or sum(not one[2] for one in variants) > 1:
                    _keep_row(row)
                else:
                    row.append((key, known, members))
                if number:
                    _met_again(key, known)
                break
        else:
            _keep_row(row)
            after = text.find(_NEXT, at, end)
            after = end if after < 0 else after
            new.append(known := text[at:after])
            members = {}
        written.append(known)
        trees.append(members)
        if after == end:
            _keep_row(row)
            return written, trees, new
        if len(trees) > _ENTRIES:
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


def _parsed_each(texts: list[bytes]) -> list[dict[str, Any]]:
    """What entries say, each as `_parsed`. cost: one call of the parser, where all are as programs write them"""
    if len(texts) > 1:
        found = read_back(b"".join((_BEGINS, _NEXT.join(texts), _ENDS)))
        if found is not None and found[1] is None:  # indented, a quote after two spaces opens a key at the top
            return [{key: value} for key, value in found[0].items()]
    return [*map(_parsed, texts)]


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
    known.variants[key] = [(text, {}, False), *variants[: VARIANTS - 1]]
    known.size += len(text) + _EACH
    for gone, members, is_row in variants[VARIANTS - 1 :]:
        known.size -= len(gone) + _EACH
        for value in () if is_row else members.values():
            IN_COMMON.pop(id(value), None)


def _keep_row(entries: list[tuple[bytes, bytes, dict[str, Any]]]) -> None:
    """Remember several that follow one another as one, in place of the row that began with the first; none are left."""
    if len(entries) > 1:
        known, key = _Remembered, entries[0][0]
        text = _NEXT.join(entry for _, entry, _ in entries)
        tree: dict[str, Any] = {}
        for _, _, members in entries:
            tree |= members
        if len(tree) == sum(len(members) for _, _, members in entries):
            singles = [one for one in known.variants.get(key, []) if not one[2]]
            gone = sum(len(one[0]) + _EACH for one in known.variants.get(key, []) if one[2])
            known.variants[key] = [(text, tree, True), *singles]
            known.size += len(text) + _EACH - gone
    entries.clear()


def _met_twice(key: bytes, text: bytes) -> dict[str, Any]:
    """What an entry says that came for the second time; shared from now on."""
    members = _parsed(text)
    variants = _Remembered.variants.get(key, [])
    _Remembered.variants[key] = [(one, members if one is text else its, is_row) for one, its, is_row in variants]
    IN_COMMON.update((id(value), (value, [])) for value in members.values() if type(value) is dict)
    return members


def _met_again(key: bytes, text: bytes) -> None:
    """Let it be the last to be forgotten."""
    variants = _Remembered.variants.get(key, [])
    _Remembered.variants[key] = sorted(variants, key=lambda entry: entry[0] is not text)

"""Marks as data, of nodes that came out alike: made once, and for each node again what is its own.

Nodes that began with the same layers and ran the same lines differ in few values. Where one is as another was but for
scalars, its marks come out as those did; all but those of its own files, and those whose causes hang on what differs.
They hang on sources, on documents that were read, and on what was asked of the node (`Looked`), and on nothing else.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping

from nodeattrs.core.tree import Path, dig
from nodeattrs.node.kept_causes import Kept
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.setters import CodeLocator
from nodeattrs.node.slot_names import FACTS, SLOTS
from nodeattrs.typed import Any

MOST = 4
"""So many that differ are remembered of those that began alike."""

_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)
_EXACT = 2
"""The version of `marshal` that writes the same of equal values of the same types, and of nothing else."""
_Place = tuple[int, Path]


class Look:
    """What of a ledger is compared. slots, history: as a snapshot has them

    lines:  the marks behind those it began with, as far as others may have the same
    places: where the trees stood of which there are *texts*: its slots, and what they had before
    """

    def __init__(self, ledger: Ledger, slots: Mapping[str, Any], history: Iterable[Any]) -> None:
        marks = ledger.marks
        self._held: list[Any] = []  # nobody else gets their identities
        self.begun = len(ledger.begun.marks) if ledger.begun else 0
        self.lines = [self._line(one) for one in marks.table[self.begun + 1 :]]
        self.reads = [self._read(*at, *pair) for at, read in marks.reads.items() for pair in read.values()]
        self.until = dict(marks.until)
        self.facts = ledger.trees[_FACTS].keys()
        trees: list[tuple[_Place, Any]] = [((int(slot), ()), tree) for slot, tree in slots.items()]
        if marks[ledger.trees[_FACTS].origin].bulk:  # of facts no line is kept; what was set among them counts
            (place, facts), own = trees.pop(), []
            for pair in facts["m"]:
                if len(pair) > 2 or (type(pair[1]) is dict and "o" in pair[1]):
                    own.append(pair)
            trees.append((place, {**facts, "m": own}))
        for path, slot, _, events in history:
            trees += [((slot, tuple(path)), value) for _, value, *_ in events]
        self.places = [place for place, _ in trees]
        self.past = _text([[*rest, [[what, *by] for what, _, *by in events]] for *rest, events in history])
        self.trees = [tree for _, tree in trees]
        self.texts = [_text(tree) for tree in self.trees]
        self._known: dict[int, Any] = {}

    def _line(self, mark: Any) -> tuple[Any, ...]:
        if type(mark) is tuple:
            code, offset, setter, verb, depth, _, calls = mark
        elif type(at := mark.locator) is CodeLocator:
            code, offset, setter, calls = at.spot.code, at.spot.offset, at.setter, at.calls
            verb, depth = mark.verb, mark.depth
        else:
            return type(at), *mark[1:]
        self._held += (code, calls)
        return id(code), offset, setter, verb, depth, [(id(caller), at) for caller, at, _ in calls]

    def _read(self, code: Any, offset: int, *what: Any) -> tuple[Any, ...]:
        self._held += (code, what)
        return id(code), offset, *map(id, what)

    def own(self) -> list[int]:
        """The marks of no line of code, such as those of its own files."""
        return [number for number, line in enumerate(self.lines, self.begun + 1) if isinstance(line[0], type)]

    def hiding(self) -> Iterator[Any]:
        """The top-level keys below which there may be a secret, of which nothing is compared."""
        for (_, path), text in zip(self.places, self.texts, strict=True):
            if b"withheld" in text:
                tree = marshal.loads(text)
                yield from path[:1] or (key for key, *entry in tree["m"] if b"withheld" in _text(entry))

    def differing(self, other: Look) -> list[_Place] | None:
        """Where another one has another scalar; None where more is different."""
        if self.past != other.past or self.lines != other.lines or self.until != other.until:
            return None
        if self.reads != other.reads or len(self.texts) != len(other.texts):
            return None
        found: list[_Place] = []
        for at, (place, mine, its) in enumerate(zip(self.places, self.texts, other.texts, strict=True)):
            if mine != its:
                tree = self._known.get(at)
                if tree is None:  # that of its own snapshot is somebody else's by now
                    tree = self._known[at] = marshal.loads(mine)
                if not _is_alike(tree, other.trees[at], place, found):
                    return None
        return found


def _text(value: Any) -> bytes:
    return marshal.dumps(value, _EXACT)


_WITH_PARTS = ("m", "l", "j")


def _is_alike(one: Any, other: Any, place: _Place, found: list[_Place]) -> bool:
    """Whether two trees of snapshots that differ do so in scalars alone; where they do is *found*."""
    tag, its = (next((tag for tag in _WITH_PARTS if type(tree) is dict and tag in tree), "") for tree in (one, other))
    if not tag and not its:
        found.append(place)
        return True
    if tag != its or type(one[tag]) is not type(other[tag]) or len(one[tag]) != len(other[tag]):
        return False
    same, as_well, differing = [{**one, tag: 0}], [{**other, tag: 0}], []
    for mine, theirs in zip(_steps(one[tag], tag), _steps(other[tag], tag), strict=True):
        if mine != theirs:
            differing.append((mine[0], mine[1], theirs[1]))
            mine, theirs = mine[::2], theirs[::2]
        same.append(mine)
        as_well.append(theirs)
    slot, path = place
    return _text(same) == _text(as_well) and all(  # since 1 is True, and 1.0
        _is_alike(inner, its, (slot, (*path, step)), found) for step, inner, its in differing
    )


def _steps(parts: Any, tag: str) -> list[Any]:
    """Each step into a part of a tree, what is there, and who set it."""
    if tag == "m":
        return [pair if len(pair) > 2 else (*pair, None) for pair in parts]
    pairs = parts.items() if type(parts) is dict else enumerate(parts)
    return [(step, {"j": one} if tag == "j" and type(one) in (dict, list) else one, None) for step, one in pairs]


class Alike:
    """A node whose marks are known as data.

    packed:  all of them, by number
    covered: what those that are used were asked for
    kept:    the causes of what they have set
    """

    def __init__(self, look: Look, packed: list[Any], covered: Mapping[int, Any], used: set[int], kept: Kept) -> None:
        self._look, self._packed, self._covered, self._notes = look, packed, covered, kept.notes
        own = used & {*look.own()}
        secret = {*look.hiding()}
        self._always = own | {
            mark
            for mark, one in kept.looked.items()
            if one.more or one.marks & own or one.keys & secret or not look.facts.isdisjoint(one.keys)
        }
        self._asked: dict[Any, set[int]] = {}
        for mark in kept.looked.keys() - self._always:
            for key in kept.looked[mark].keys:
                self._asked.setdefault(key, set()).add(mark)
        look.trees, look.facts = [], {}.keys()  # which are the node's own
        self._at: dict[_Place, set[int]] = {}
        for mark, notes in kept.notes.items():
            for slot, path, _ in notes:
                self._at.setdefault((slot, path), set()).add(mark)

    def marks(self, look: Look, ledger: Ledger, pack: Callable[[Any, Any], dict[str, Any]]) -> list[Any] | None:
        """The marks of a node that came out alike; None of any other. pack: makes data of one, as it was asked for"""
        differing = self._look.differing(look)
        if differing is None or not look.facts.isdisjoint(self._asked):
            return None
        again = set(self._always)
        for slot, path in differing:
            again |= self._asked.get(path[0], set())
            for depth in range(len(path) + 1):
                again |= self._at.get((slot, path[:depth]), set())
        kept = Kept(ledger, [number for number in again if ledger.marks[number].is_kept])
        marks = [*self._packed]
        for number in again:
            for slot, path, own in self._notes.get(number, ()):
                kept.note(path, dig(ledger.trees[slot], path), number, own)
            marks[number] = pack(ledger.marks[number], self._covered.get(number, {}))
            if number in kept.by_mark:
                marks[number] = {**marks[number], "causes": kept.by_mark[number]}
        return marks

"""Snapshots of nodes that came out alike: slots and marks as data, made once, and for each node again what is its own.

Nodes that began with the same layers and ran the same lines differ in few values. Where one is as another was but for
scalars, its slots are packed as those were, but for what stands there; and its marks come out as those did, all but
those of its own files, and those whose causes hang on what differs. They hang on sources, on documents that were read,
and on what was asked of the node (`Looked`), and on nothing else.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.core.tree import SCALARS, Path, dig
from nodeattrs.node.kept_causes import Kept
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.packed_maps import Differs, Maps, Pack, Place, exactly, is_alike
from nodeattrs.node.packing import packed_origin
from nodeattrs.node.slot_names import FACTS, SLOTS
from nodeattrs.texts.json_choice import encoded

MOST = 4
"""So many that differ are remembered of those that began alike."""

_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)
_OWNED = (OwnedMap, AssignedMap)
_PLAIN = SCALARS - {type(None)}


class Look:
    """What of a ledger is compared, but for its slots. facts, history: as a snapshot has them

    lines: the marks of lines, as `Marks` has them
    rest:  the other ones behind those it began with, by number: what they are
    until: as the marks have it
    own:   what was set among facts; of others no line is kept
    past:  what slots had before, as bytes
    bulk:  the mark of the facts, where it is one; else nothing
    """

    def __init__(self, ledger: Ledger, facts: dict[str, Any], history: list[Any]) -> None:
        marks, tree = ledger.marks, ledger.trees[_FACTS]
        table: list[Any] = marks.table
        self.ledger, self.until, self.facts = ledger, marks.until, tree.keys()
        self.begun = len(ledger.begun.marks) if ledger.begun else 0
        self.lines = marks.lines
        rest = [number for number in range(self.begun + 1, len(table)) if number not in self.lines]
        self.rest = {number: (type(table[number].locator), *table[number][1:]) for number in rest}
        self.reads = [(code, offset, *pair) for (code, offset), read in marks.reads.items() for pair in read.values()]
        self.own, self.history, self.past = facts, history, exactly(history)
        self.bulk = tree.origin if marks[tree.origin].bulk else 0
        if self.bulk:
            own = [key for key in tree if key in tree.origins or type(tree[key]) in _OWNED]
            by_key = dict(zip(tree, facts["m"], strict=True))
            self.own = {**facts, "m": [by_key[key] for key in own]}

    def facts_origin(self) -> dict[str, Any]:
        """Who set the facts, as a cause has it."""
        return packed_origin(self.ledger.marks[self.bulk].unplaced) if self.bulk else {}

    def is_fact(self, path: Path) -> bool:
        """Whether a scalar stands there that was set with all other facts."""
        here: Any = self.ledger.trees[_FACTS]
        if not self.bulk or path[0] in here.origins:
            return False
        for step in path:
            here = here.get(step) if type(here) is dict or here is self.ledger.trees[_FACTS] else None
        return type(here) in _PLAIN

    def events(self) -> tuple[bytes, list[tuple[Place, Any]]]:
        """The history without what stood there, as bytes; and that, and where it did."""
        events = [[*rest, [[what, *by] for what, _, *by in events]] for *rest, events in self.history]
        return exactly(events), [
            ((slot, tuple(path)), value) for path, slot, _, events in self.history for _, value, *_ in events
        ]


class Alike:
    """A node whose slots and marks are known as data.

    slots:   packed, as it has them but for its facts; nobody changes them
    packed:  all of its marks, by number
    covered: what those that are used were asked for
    kept:    the causes of what they have set
    standing: the slots that are as it began
    """

    def __init__(
        self,
        look: Look,
        slots: Mapping[str, Any],
        standing: frozenset[int],
        packed: list[Any],
        covered: Mapping[int, Any],
        used: set[int],
        kept: Kept,
    ) -> None:
        self.packed, self._covered, self._notes = packed, covered, kept.notes
        self._asked: dict[Any, set[int]]
        self._asked_facts: dict[Any, set[int]]
        table = look.ledger.marks.table
        self._held = [table[number] for number in look.lines], look.reads  # nobody else gets their identities
        self._lines, self._own, self._begun = {**look.lines}, look.rest, look.begun
        self._past, self._reads = look.past, _ids(look.reads)
        self._until, self._events, self._own_facts = (
            dict(look.until),
            look.events()[0],
            marshal.loads(exactly(look.own)),
        )
        self._values = [(place, marshal.loads(exactly(value))) for place, value in look.events()[1]]
        self.slots = {number: tree for number, tree in slots.items() if int(number) != _FACTS}
        own_slots = {int(number): tree for number, tree in self.slots.items() if int(number) not in standing}
        self._maps = Maps(look.ledger.trees, own_slots)
        own = used & self._own.keys()
        secret = {*_hiding([((int(number), ()), tree) for number, tree in self.slots.items()])}
        secret.update(_hiding([((_FACTS, ()), self._own_facts), *self._values]))
        self._always, self._asked, self._asked_facts = own, {}, {}
        self._of_facts: dict[int, tuple[list[Path], list[Any]]] = {}
        by_facts, self._facts = look.bulk, look.facts_origin()
        for mark, one in kept.looked.items():
            keys = one.keys | {path[0] for path, by in one.scalars.items() if by != by_facts}
            setters = one.marks | {by for by in one.scalars.values() if by != by_facts}
            if one.more or setters & own or one.keys & secret or not look.facts.isdisjoint(keys):
                self._always.add(mark)
                continue
            paths = [path for path, by in one.scalars.items() if by == by_facts]
            if paths:
                self._of_facts[mark] = paths, [*map(self._without_facts, packed[mark].get("causes", ()))]
            for asked, some in ((self._asked, keys), (self._asked_facts, {path[0] for path in paths})):
                for key in some:
                    asked.setdefault(key, set()).add(mark)
        self._at: dict[Place, set[int]] = {}
        for mark, notes in kept.notes.items():
            for slot, path, _ in notes:
                self._at.setdefault((slot, path), set()).add(mark)

    def _slots_of(self, look: Look, found: list[Differs], pack: Pack) -> dict[str, Any] | None:
        """The slots of a node, all but that of facts, where other scalars are all that differs; where is *found*."""
        if look.begun != self._begun or look.lines != self._lines or look.rest != self._own:
            return None
        if look.until != self._until or _ids(look.reads) != self._reads:
            return None
        if look.past != self._past:
            events, values = look.events()
            if events != self._events:
                return None
            for (place, mine), (_, its) in zip(self._values, values, strict=True):
                if exactly(mine) != exactly(its) and not is_alike(mine, its, place, found):
                    return None
        mine, its = self._own_facts, look.own
        if exactly(mine) != exactly(its) and not is_alike(mine, its, (_FACTS, ()), found):
            return None
        packed = self._maps.again(look.ledger.trees, found, pack)
        if packed is None:
            return None
        return {number: packed.get(int(number), tree) for number, tree in self.slots.items()}

    def marks(
        self, look: Look, pack: Pack, pack_mark: Callable[[Any, Any], dict[str, Any]]
    ) -> tuple[dict[str, Any], list[Any]] | None:
        """The slots but for that of facts, and the marks, of a node that came out alike; None of any other.

        pack_mark: makes data of one, as it was asked for
        """
        differing: list[Differs] = []
        ledger = look.ledger
        slots = self._slots_of(look, differing, pack)
        if slots is None or not look.facts.isdisjoint(self._asked):
            return None
        again = set(self._always)
        for slot, path, is_deferred in differing:
            again |= self._asked.get(path[0], set()) | self._asked_facts.get(path[0], set())
            for depth in range(0 if is_deferred else len(path) + 1):  # what it comes to is no matter of causes
                again |= self._at.get((slot, path[:depth]), set())
        again |= {mark for mark, (paths, _) in self._of_facts.items() if not all(map(look.is_fact, paths))}
        kept = Kept(ledger, [number for number in again if ledger.marks[number].is_kept])
        marks = [*self.packed]
        facts = look.facts_origin()
        of_facts = self._of_facts.keys() - again if facts != self._facts else set()
        for mark in of_facts:
            if causes := self._of_facts[mark][1]:
                marks[mark] = {**marks[mark], "causes": [_with_facts(facts, *one) for one in causes]}
        for number in again:
            for slot, path, own in self._notes.get(number, ()):
                kept.note(path, dig(ledger.trees[slot], path), number, own)
            if number in self._own:
                marks[number] = pack_mark(ledger.marks[number], self._covered.get(number, {}))
            if (found := kept.by_mark.get(number)) != marks[number].get("causes"):
                bare = {key: value for key, value in marks[number].items() if key != "causes"}
                marks[number] = bare if found is None else {**bare, "causes": found}
        _latest.of = marks, self, again | of_facts
        return slots, marks

    @cached_property
    def texts(self) -> Texts:
        """The JSON of its slots and its marks, as far as it comes back."""
        slots = {number: (encoded(tree), False) for number, tree in self.slots.items()}
        marks = [(encoded(mark), False) for mark in self.packed]
        return Texts(
            {number: text for number, (text, is_sure) in slots.items() if is_sure},
            [text if is_sure else None for text, is_sure in marks],
        )

    def _without_facts(self, causes: list[Any]) -> tuple[Any, list[Any]]:
        """Where what stands at a path comes from: causes, and in the place of facts what else these have."""
        path, some = causes
        return path, [
            (one["what"], {key: value for key, value in one.items() if key != "what" and key not in self._facts})
            if one.items() >= self._facts.items()
            else one
            for one in some
        ]


def _with_facts(facts: dict[str, Any], path: Any, causes: list[Any]) -> list[Any]:
    """The same as a snapshot has it, with the facts of another node."""
    return [path, [{"what": one[0], **facts, **one[1]} if type(one) is tuple else one for one in causes]]


def _ids(reads: list[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    return [(id(code), offset, id(document), id(locator)) for code, offset, document, locator in reads]


def _hiding(values: Iterable[tuple[Place, Any]]) -> Iterator[Any]:
    """The top-level keys below which there may be a secret, of which nothing is compared."""
    for (_, path), tree in values:
        if b"withheld" in exactly(tree):
            yield from path[:1] or (key for key, *entry in tree["m"] if b"withheld" in exactly(entry))


class _Latest:
    """The marks of the latest snapshot that came out as another one did, that, and which of them may be others."""

    of: tuple[Any, Alike | None, set[int]] = None, None, set()


_latest = _Latest()


class Texts(NamedTuple):
    """What is written of a snapshot: the texts of some slots, by number, and of some marks, None for the others."""

    slots: Mapping[str, bytes]
    marks: list[bytes | None]


def texts_in(snapshot: Mapping[str, Any]) -> Texts:
    """The JSON of what this snapshot shares with others, if it was the latest to be made: it is written once."""
    (marks, alike, varying), slots = _latest.of, snapshot["slots"]
    if alike is None or snapshot["marks"] is not marks:
        return Texts({}, [None] * len(snapshot["marks"]))
    known = alike.texts
    texts = [*known.marks]
    for number in varying:
        if marks[number] is not alike.packed[number]:
            texts[number] = None
    return Texts(
        {number: text for number, text in known.slots.items() if slots.get(number) is alike.slots[number]}, texts
    )

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
from operator import itemgetter

from nodeattrs.core.tree import SCALARS, Path, dig
from nodeattrs.node.kept_causes import Kept
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.setters import packed_origin
from nodeattrs.node.slot_names import FACTS, SLOTS
from nodeattrs.records import NamedTuple
from nodeattrs.texts.fast_json import encoded
from nodeattrs.typed import Any

MOST = 4
"""So many that differ are remembered of those that began alike."""

_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)
_EXACT = 2
"""The version of `marshal` that writes the same of equal values of the same types, and of nothing else."""
_Place = tuple[int, Path]
_Differs = tuple[int, Path, bool]
"""A place at which another value stands, and whether both are deferred, so that only what they come to differs."""

Pack = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Make data of a value, and of who set it."""


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
        self.own, self.history, self.past = facts, history, _text(history)
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

    def events(self) -> tuple[bytes, list[tuple[_Place, Any]]]:
        """The history without what stood there, as bytes; and that, and where it did."""
        events = [[*rest, [[what, *by] for what, _, *by in events]] for *rest, events in self.history]
        return _text(events), [
            ((slot, tuple(path)), value) for path, slot, _, events in self.history for _, value, *_ in events
        ]


def _text(value: Any) -> bytes:
    return marshal.dumps(value, _EXACT)


_WITH_PARTS = ("m", "l", "j")


def _is_alike(one: Any, other: Any, place: _Place, found: list[_Differs]) -> bool:
    """Whether two trees of snapshots that differ do so in scalars alone; where they do is *found*."""
    tag, its = (next((tag for tag in _WITH_PARTS if type(tree) is dict and tag in tree), "") for tree in (one, other))
    if not tag and not its:
        found.append((*place, _is_deferred(one) and _is_deferred(other)))
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


def _is_deferred(tree: Any) -> bool:
    return type(tree) is dict and ("d" in tree or "f" in tree)


def _steps(parts: Any, tag: str) -> list[Any]:
    """Each step into a part of a tree, what is there, and who set it."""
    if tag == "m":
        return [pair if len(pair) > 2 else (*pair, None) for pair in parts]
    pairs = parts.items() if type(parts) is dict else enumerate(parts)
    return [(step, {"j": one} if tag == "j" and type(one) in (dict, list) else one, None) for step, one in pairs]


class _Maps:
    """The maps of some slots as another node had them, outer ones first, and as data, which nobody changes.

    plan:   of each the number of the one above, its key there, type, mark and marks of its entries, those of whose
            lists several have set, and what gives the values that can be compared as bytes
    text:   those bytes: of each map all keys, and these values
    odd:    what is made data again to be compared: deferred values, secrets, lists that several have set
    packed: each as data
    above:  which entry each one is
    """

    def __init__(self, trees: list[OwnedMap], packed: Mapping[int, dict[str, Any]]) -> None:
        self.packed: list[dict[str, Any]] = [{"m": []}]  # the first one is above all slots
        self._plan: list[tuple[int, Any, Any, int, Mapping[Any, Any], frozenset[Any], Any]] = []
        self._above: list[tuple[int, int]] = [(0, 0)]
        self._places: list[_Place] = [(0, ())]
        self._odd: list[tuple[int, int, Any]] = []
        self._even: list[list[tuple[int, int, Any]]] = [[]]
        flat: list[Any] = []
        for number, tree in packed.items():
            self._add(trees[number], tree, (0, 0), number, (number, ()), flat)
        self._text = _text(flat)
        self._texts: list[bytes] = []
        self._odd_texts = [_text(self.packed[number]["m"][at]) for number, at, _ in self._odd]

    def _add(
        self, tree: OwnedMap, packed: dict[str, Any], above: tuple[int, int], key: Any, place: _Place, flat: list[Any]
    ) -> None:
        number = len(self.packed)
        self.packed.append(packed)
        self._above.append(above)
        self._places.append(place)
        several = frozenset(key for key, whose in tree.origins.items() if type(whose) is not int)
        below: list[tuple[int, Any, OwnedMap]] = []
        even: list[tuple[int, int, Any]] = []
        for at, (step, inner) in enumerate(tree.items()):
            if step not in several and isinstance(inner, OwnedMap):
                below.append((at, step, inner))
            elif step not in several and _is_text(inner):
                even.append((number, at, step))
            else:
                self._odd.append((number, at, step))
        self._even.append(even)
        get: Any = None if len(even) == len(tree) else itemgetter(*(step for *_, step in even)) if even else _nothing
        origins = {key: whose for key, whose in tree.origins.items() if key not in several}
        self._plan.append((above[0], key, type(tree), tree.origin, origins, several, get))
        flat += [[*tree], [*tree.values()] if get is None else get(tree)]
        for at, step, inner in below:
            self._add(inner, packed["m"][at][1], (number, at), step, (place[0], (*place[1], step)), flat)

    def again(self, slots: list[OwnedMap], found: list[_Differs], pack: Pack) -> dict[int, dict[str, Any]] | None:
        """The data of slots that differ in scalars alone, as far as it does; where is *found*. None of any others."""
        trees: list[Any] = [slots]
        flat: list[Any] = []
        try:
            for above, key, kind, origin, origins, several, get in self._plan:
                tree: Any = trees[above][key]
                if tree.__class__ is not kind or tree.origin != origin:
                    return None
                its = {key: by for key, by in tree.origins.items() if key not in several} if several else tree.origins
                if its != origins:
                    return None
                trees.append(tree)
                flat += [[*tree], [*tree.values()] if get is None else get(tree)]
        except KeyError:
            return None
        differing = [] if _text_of(flat) == self._text else self._differing(flat)
        if differing is None:
            return None
        texts = self._odd_texts + [_text(self.packed[number]["m"][at]) for number, at, _ in differing]
        new: dict[int, dict[int, list[Any]]] = {}
        for (number, at, key), text in zip(self._odd + differing, texts, strict=True):
            its = _packed(trees[number], key, *pack)
            if text != _text(its):
                mine = self.packed[number]["m"][at]
                if not _is_alike({"m": [mine]}, {"m": [its]}, self._places[number], found):
                    return None
                new.setdefault(number, {})[at] = its
        return self._with(new) if new else {}

    def _differing(self, flat: list[Any]) -> list[tuple[int, int, Any]] | None:
        """The entries of maps of which something is another value; None where a key is."""
        if not self._texts:
            self._texts = [*map(_text, marshal.loads(self._text))]
        found: list[tuple[int, int, Any]] = []
        for number, even in enumerate(self._even[1:]):
            if _text_of(flat[2 * number]) != self._texts[2 * number]:
                return None
            if _text_of(flat[2 * number + 1]) != self._texts[2 * number + 1]:
                found += even
        return found

    def _with(self, new: dict[int, dict[int, list[Any]]]) -> dict[int, dict[str, Any]]:
        """The data of slots, with other entries in some maps."""
        slots: dict[int, dict[str, Any]] = {}
        for number in range(len(self.packed) - 1, 0, -1):
            if number in new:
                packed, (above, at) = self.packed[number], self._above[number]
                pairs = [*packed["m"]]
                for its, pair in new[number].items():
                    pairs[its] = pair
                packed = {**packed, "m": pairs}
                if above:
                    key, _, *whose = self.packed[above]["m"][at]
                    new.setdefault(above, {})[at] = [key, packed, *whose]
                else:
                    slots[self._places[number][0]] = packed
        return slots


_OWNED = (OwnedMap, AssignedMap)
_PLAIN = SCALARS - {type(None)}


def _packed(tree: OwnedMap, key: Any, pack: Callable[[Any], Any], pack_whose: Callable[[Any], Any]) -> list[Any]:
    """An entry of a map as a snapshot has it."""
    pair = [key, pack(tree[key])]
    return [*pair, pack_whose(tree.origins[key])] if key in tree.origins else pair


def _nothing(_: Any) -> tuple[()]:
    return ()


def _text_of(value: Any) -> bytes:
    """As `_text`; nothing for what is no plain data."""
    try:
        return _text(value)
    except ValueError:
        return b""


def _is_text(value: Any) -> bool:
    return _text_of(value) != b""


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
        self._until, self._events, self._own_facts = dict(look.until), look.events()[0], marshal.loads(_text(look.own))
        self._values = [(place, marshal.loads(_text(value))) for place, value in look.events()[1]]
        self.slots = {number: tree for number, tree in slots.items() if int(number) != _FACTS}
        own_slots = {int(number): tree for number, tree in self.slots.items() if int(number) not in standing}
        self._maps = _Maps(look.ledger.trees, own_slots)
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
        self._at: dict[_Place, set[int]] = {}
        for mark, notes in kept.notes.items():
            for slot, path, _ in notes:
                self._at.setdefault((slot, path), set()).add(mark)

    def _slots_of(self, look: Look, found: list[_Differs], pack: Pack) -> dict[str, Any] | None:
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
                if _text(mine) != _text(its) and not _is_alike(mine, its, place, found):
                    return None
        mine, its = self._own_facts, look.own
        if _text(mine) != _text(its) and not _is_alike(mine, its, (_FACTS, ()), found):
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
        differing: list[_Differs] = []
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
        slots = {number: encoded(tree, plain=True) for number, tree in self.slots.items()}
        marks = [encoded(mark, plain=True) for mark in self.packed]
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


def _hiding(values: Iterable[tuple[_Place, Any]]) -> Iterator[Any]:
    """The top-level keys below which there may be a secret, of which nothing is compared."""
    for (_, path), tree in values:
        if b"withheld" in _text(tree):
            yield from path[:1] or (key for key, *entry in tree["m"] if b"withheld" in _text(entry))


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

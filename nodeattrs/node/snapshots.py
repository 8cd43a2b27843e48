"""The snapshot of a node, with all fifteen slots, marks and history, as data.

A mark says who set something on which line, with the lines of what is below it, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.core.claim import UNKNOWN, Origin
from nodeattrs.core.origins import At, Patched
from nodeattrs.core.tree import Path, copied
from nodeattrs.node.alike import MOST, Alike, Look
from nodeattrs.node.documents import FORMAT, VERSION
from nodeattrs.node.kept_causes import Kept, kept
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import OwnedMap, Worked, setters
from nodeattrs.node.packing import (
    NOTHING,
    chronicles_in,
    packed,
    packed_history,
    packed_map,
    packed_origin,
    packed_unknown,
    packed_whose,
)
from nodeattrs.node.setters import CodeLocator, Mark
from nodeattrs.node.slot_names import FACTS
from nodeattrs.node.slots import SLOTS

_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)


def snapshot_document(
    ledger: Ledger, name: str, environment: str, run_list: Sequence[str], shared: bool = False
) -> dict[str, Any]:
    """The snapshot of a node as JSON-able data; see `Node.snapshot`."""
    with ledger.lock:
        slots = snapshot_ledger(ledger, ledger.settled if shared else NOTHING)
    if not shared:
        slots["marks"] = copied(slots["marks"])
        if ledger.begun is not None:
            slots["slots"] = copied(slots["slots"])
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "environment": environment,
        "run_list": list(run_list),
        **({"rules": [rule.to_dict() for rule in ledger.rules]} if ledger.rules else {}),
        **slots,
    }


def snapshot_ledger(
    ledger: Ledger, settled: Mapping[Any, Any] = NOTHING, only: Iterable[int] = range(1, len(SLOTS) + 1)
) -> dict[str, Any]:
    """The fifteen slots, the marks, the history and what is unknown as JSON-able data; marks may be shared.

    settled: what stands in the slot of facts and is JSON, entry by entry: it is not copied
    only:    the slots that are wanted; the others come out empty, without history
    """
    wanted = frozenset(only)
    history = packed_history(ledger, wanted)
    slots, marks = _packed_slots(ledger, wanted, settled, history)
    return {
        "slots": slots,
        "marks": marks,
        "history": history,
        **({"unknown": unknown} if (unknown := list(packed_unknown(ledger, wanted))) else {}),
    }


def _packed_slots(
    ledger: Ledger, wanted: frozenset[int], settled: Mapping[Any, Any], history: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """The slots, and the marks with the lines that they are asked for; those that nothing refers to are blank.

    What other nodes began with is shared with them: each mark of that is used in one slot alone. So is what they
    have come to, where they came out alike. history: as data
    """
    begun = ledger.begun
    standing = begun.standing_in(ledger) & wanted if begun is not None else frozenset()
    facts = packed_map(ledger.trees[_FACTS if _FACTS in wanted else 0], settled=settled)
    look, is_compared = None, len(wanted) == len(SLOTS) and not ledger.rules and not ledger.unknown
    others: list[Any] = begun.alike.get(standing, []) if begun is not None and is_compared else []
    if others:
        look = Look(ledger, facts, history)
        for one in others:
            alike: tuple[dict[str, Any], list[Any]] | None = one.marks(look, (packed, packed_whose), _known_mark)
            if alike is not None:
                return {**alike[0], str(_FACTS): facts}, alike[1]
    slots = {
        str(slot.number): packed_map(ledger.trees[slot.number if slot.number in wanted else 0])  # which is empty
        for slot in SLOTS
        if slot.number != _FACTS
    }
    slots[str(_FACTS)] = facts
    if begun is None:
        return slots, [_blank(), *_each_packed(*_reached(ledger, wanted), [])]
    shared: list[Any] = []
    if standing:
        if standing not in begun.packed:
            alone = Ledger(provenance=True, root=ledger.marks.root)
            alone.begin_with(begun)
            begun.packed[standing] = list(_each_packed(*_reached(alone, standing), []))
        shared = begun.packed[standing]
    reach, kept = _reached(ledger, wanted - standing)
    marks = [_blank(), *_each_packed(reach, kept, shared)]
    if is_compared and kept is not None:
        look = look or Look(ledger, facts, history)
        known = Alike(look, slots, standing, marks, reach.covered, reach.used, kept)
        begun.alike[standing] = [known, *others[: MOST - 1]]
    return slots, marks


def _blank() -> dict[str, Any]:
    return {"kind": UNKNOWN.kind}


def _reached(ledger: Ledger, slots: Collection[int]) -> tuple[_Reach, Kept | None]:
    """What the marks are asked for in some slots, and the causes of what they have set; None where none are kept."""
    reach = _Reach(ledger, slots)
    asked = {number for number in reach.used if reach.marks[number].is_kept}
    if not asked:
        return reach, None
    return reach, kept(ledger, slots, asked)


def _each_packed(reach: _Reach, kept: Kept | None, shared: list[Any]) -> Iterator[dict[str, Any]]:
    """The marks as some slots use them; the first ones that these do not use as they are shared."""
    causes = kept.by_mark if kept is not None else {}
    for number, mark in enumerate(reach.marks[1:], 1):
        if number not in reach.used:
            yield shared[number - 1] if number <= len(shared) else _blank()
            continue
        packed = _known_mark(mark, reach.covered.get(number, {}))
        yield {**packed, "causes": causes[number]} if number in causes else packed


def _packed_lines(lines: dict[Any, Any]) -> list[Any]:
    return [[step, line, column, _packed_lines(below)] for step, (line, column, below) in lines.items()]


class _Reach:
    """What each mark is asked for, so that lines can be looked up while documents and code are there.

    covered: number of a mark -> nested maps of steps, counted as its locator counts
    used:    the numbers that anything refers to
    marks:   all of them
    """

    def __init__(self, ledger: Ledger, slots: Collection[int]) -> None:
        self.covered: dict[int, dict[Any, Any]] = {}
        self.used: set[int] = set()
        self.marks = ledger.marks.all()
        for number in slots:
            tree = ledger.trees[number]
            self._walk(tree, tree.origin, ())
        for path, _, chronicle in chronicles_in(ledger, slots):
            for event in chronicle.events():
                self._walk(event.value, event.whose, path)
                self._note(event.by, path)

    def _walk(self, value: Any, whose: Any, path: Path) -> None:
        if type(whose) is int:
            if isinstance(value, OwnedMap):
                self._note(whose, path)
                self._entries(value, path)
            else:
                self._note(whose, path, value)
            return
        if isinstance(whose, Worked):
            for number in (*whose.begun, *whose.steps):
                self._note(number, path)
        for index, (one, element) in enumerate(zip(whose, value, strict=False)):
            for setter in _every(one, (*path, index)):
                self._note(setter.source, setter.path, element)

    def _entries(self, value: OwnedMap, path: Path) -> None:
        own, origins = value.origin, value.origins
        is_bulk = self.marks[own].bulk
        for key, inner in value.items():
            by = origins.get(key, own)
            if is_bulk and by == own and not isinstance(inner, OwnedMap):  # a fact, of which there are many
                self.used.add(own)
            else:
                self._walk(inner, by, (*path, key))

    def _note(self, number: int, path: Path, value: Any = None) -> None:
        self.used.add(number)
        mark = self.marks[number]
        if mark.bulk:
            return  # the lines of thousands of facts are not worth their room
        here = self.covered.setdefault(number, {})
        path = path[mark.depth :]
        for step in path:
            here = here.setdefault(step, {})
        if type(value) is dict or type(value) is list:
            _mirror(here, value, path, getattr(mark.locator, "says_below", None))


def _every(whose: Any, at: Path) -> Iterator[At]:
    """Everyone who set an element or a part of it."""
    yield from setters(whose, at)
    if isinstance(whose, Patched):
        yield from _every(whose.base, at)
        yield from _every(whose.by, (*at, *whose.path))
    elif type(whose) is tuple:
        for one in whose:
            yield from _every(one, at)
    elif type(whose) is list:
        for index, one in enumerate(whose):
            yield from _every(one, (*at, index))


def _mirror(here: dict[Any, Any], value: Any, path: Path, says_below: Callable[[Path], bool] | None) -> None:
    """Note what is in a value, as far as there may be lines of its own. path: as its locator counts"""
    if says_below is not None and not says_below(path):
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        below = here.setdefault(step, {})
        if isinstance(inner, (dict, list)):
            _mirror(below, inner, (*path, step), says_below)


def _lines_of(mark: Mark, covered: dict[Any, Any], base: Origin, at: Path) -> dict[Any, Any]:
    """The lines below *at* that differ from their parent's, as far as the mark is asked for them."""
    lines: dict[Any, Any] = {}
    for step, inner in covered.items():
        origin = mark.locator.at((*at, step))
        below = _lines_of(mark, inner, origin, (*at, step))
        if below or (origin.line, origin.column) != (base.line, base.column):
            lines[step] = [origin.line, origin.column, below]
    return lines


_marks_known: dict[Any, tuple[CodeLocator, dict[str, Any]]] = {}
_MOST_MARKS = 20_000


def _known_mark(mark: Mark, covered: dict[Any, Any]) -> dict[str, Any]:
    """A mark as data; one of a line of code is made once for all nodes that run it. covered: what it is asked for"""
    locator = mark.locator
    if type(locator) is not CodeLocator:
        return _packed_mark(mark, covered)
    key = locator.key, mark.verb, mark.depth, repr(covered)
    if key not in _marks_known:
        if len(_marks_known) >= _MOST_MARKS:
            _marks_known.clear()
        _marks_known[key] = locator, _packed_mark(mark, covered)  # which has the identities in the key
    return _marks_known[key][1]


def _packed_mark(mark: Mark, covered: dict[Any, Any]) -> dict[str, Any]:
    base = mark.unplaced if mark.bulk else mark.locator.at(())  # of facts the file is kept, and no line at all
    lines = {} if type(mark.locator) is Origin else _lines_of(mark, covered, base, ())  # which is one place
    packed = {**packed_origin(base), "verb": mark.verb.value}
    if mark.depth:
        packed["depth"] = mark.depth
    if mark.bulk:
        packed["bulk"] = True
    if lines:
        packed["lines"] = _packed_lines(lines)
    over = getattr(mark.locator, "lines", None)
    if over is not None and (over.first, over.last) != (base.line, base.line):
        packed["over"] = [over.first, over.last]
    return packed

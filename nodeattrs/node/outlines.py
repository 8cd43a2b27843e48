"""The outline of a node: all that its snapshot hangs on, without a look at sources.

It has slots and history as the snapshot has them. In the place of lines and causes stand the code that ran, by file,
name and instruction, and the documents that set something or were read, by their names. Where these files are as they
were, the same outline means the same snapshot: that hangs on nothing else (see `alike`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from types import CodeType
from typing import Any

from nodeattrs.core.claim import Below, Locator, Origin
from nodeattrs.core.tree import ABSENT, SCALARS, Path
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.packing import chronicles_in, packed, packed_history, packed_map, packed_unknown, packed_whose
from nodeattrs.node.setters import Calls, CodeLocator, Mark, relative, span_of
from nodeattrs.node.slot_names import FACTS
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.values import Sensitive

_ALL = frozenset(slot.number for slot in SLOTS)
_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)


def outline_document(ledger: Ledger, files: Container[str], settled: Mapping[Any, Any]) -> dict[str, Any] | None:
    """The outline as data for JSON, without the node's own fields.

    None where something was set or read that stands in none of the files, or where there is a secret that does not
    stand in a document that was read: what it comes from hangs on what it is, and of that nothing is noted.

    files:   those that are known to be as they were, named as in origins
    settled: facts that are known to be so; where the node has one of these its number stands in its place
    raises:  DeferredCycle
    cost:    that of the trees, but for those facts
    """
    with ledger.lock:
        history = packed_history(ledger, _ALL)
        slots = {str(slot): packed_map(ledger.trees[slot]) for slot in sorted(_ALL - {_FACTS})}
        slots[str(_FACTS)] = _packed_facts(ledger.trees[_FACTS], settled)
        look = _Look(ledger, files)
        try:
            return {
                "slots": slots,
                "marks": [*map(look.mark, ledger.marks.table)],
                "history": history,
                "unknown": [*packed_unknown(ledger, _ALL)],
                "until": sorted(ledger.marks.until.items()),
                "read": [*look.reads()],
                "hidden": [*look.secrets()],
            }
        except _Elsewhere:
            return None


def _packed_facts(facts: OwnedMap, settled: Mapping[Any, Any]) -> dict[str, Any]:
    numbers = {key: number for number, key in enumerate(settled)}
    is_same = {key: fact is settled.get(key, ABSENT) and key not in facts.origins for key, fact in facts.items()}
    others = {key: packed(fact) for key, fact in facts.items() if not is_same[key]}
    whose = {key: [packed_whose(facts.origins[key])] for key in others if key in facts.origins}
    pairs = [numbers[key] if is_same[key] else [key, others[key], *whose.get(key, ())] for key in facts]
    return {"m": pairs, "o": facts.origin, "a": isinstance(facts, AssignedMap)}


class _Elsewhere(Exception):
    """Something does not stand in the files."""


class _Look:
    def __init__(self, ledger: Ledger, files: Container[str]) -> None:
        self._ledger, self._files, self._root = ledger, files, ledger.marks.root()

    def mark(self, mark: Any) -> list[Any]:
        """What a mark is known by."""
        if isinstance(mark, Mark):
            if type(mark.locator) is not CodeLocator:
                locator = mark.unplaced if mark.bulk else mark.locator
                return [*self._document(locator), mark.verb.value, mark.depth, mark.bulk]
            spot, setter, calls = mark.locator.spot, mark.locator.setter, mark.locator.calls
            return self._code(spot.code, spot.offset, calls, [setter.kind, setter.name, mark.verb.value, mark.depth])
        code, offset, setter, verb, depth, _, calls = mark
        return self._code(code, offset, calls, [setter.kind, setter.name, verb.value, depth])

    def _code(self, code: CodeType, offset: int, calls: Calls, rest: list[Any]) -> list[Any]:
        return [*self._span(code, offset), *rest, *(self._span(code, offset) for code, offset, _ in calls)]

    def _span(self, code: CodeType, offset: int) -> list[Any]:
        """An instruction. Of what has no name of its own several may begin on one line."""
        file = relative(code.co_filename, self._root)
        if file not in self._files:
            raise _Elsewhere
        is_named = code.co_name == "<module>" or code.co_name.isidentifier()
        return [file, code.co_firstlineno, code.co_qualname, offset, None if is_named else span_of(code, offset)]

    def _document(self, locator: Locator) -> list[Any]:
        """What a locator is known by, as far as the files do not say it."""
        if type(locator) is Origin:
            return [*locator]
        if type(locator) is Below:
            return [*self._document(locator.locator), [*locator.under]]
        known_as = getattr(locator, "known_as", None)
        if known_as is None or (known_as[0] is not None and known_as[0] not in self._files):
            raise _Elsewhere
        return [*known_as]

    def reads(self) -> Iterator[list[Any]]:
        """The calls that have read documents, each with these."""
        for (code, offset), read in self._ledger.marks.reads.items():
            documents = [self._document(locator) for _, locator in read.values()]
            yield [*self._span(code, offset), *documents]

    def secrets(self) -> Iterator[list[Any]]:
        """Where each secret stands in the documents that were read."""
        ledger = self._ledger
        facts = {key: fact for key, fact in ledger.trees[_FACTS].items() if fact is not ledger.settled.get(key)}
        trees = {slot: facts if slot == _FACTS else ledger.trees[slot] for slot in sorted(_ALL)}
        past = (event.value for *_, chronicle in chronicles_in(ledger, _ALL) for event in chronicle.events())
        found = [
            (where, way, leaf.unwrap())
            for where, tree in (*trees.items(), *((0, value) for value in past))
            for way, leaf in _leaves(tree, SCALARS)
            if isinstance(leaf, Sensitive)
        ]
        known = self._read_scalars() if found else {}
        for where, way, secret in found:
            if type(secret) not in SCALARS or (type(secret), secret) not in known:
                raise _Elsewhere
            yield [where, [*way], known[type(secret), secret]]

    def _read_scalars(self) -> dict[Any, list[Any]]:
        """Where each scalar stands in the documents that were read."""
        known: dict[Any, list[Any]] = {}
        for document, locator in (pair for read in self._ledger.marks.reads.values() for pair in read.values()):
            named = self._document(locator)
            for way, leaf in _leaves(document):
                scalar = leaf.unwrap() if isinstance(leaf, Sensitive) else leaf
                if type(scalar) in SCALARS:
                    known.setdefault((type(scalar), scalar), []).append([named, [*way]])
        return known


def _leaves(value: Any, but: frozenset[type] = frozenset()) -> Iterator[tuple[Path, Any]]:
    """What is no map and no list in a value, each with the way to it. but: types of what is passed over"""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        way, one = waiting.pop()
        if isinstance(one, (dict, list)):
            steps = one.items() if isinstance(one, dict) else enumerate(one)
            waiting += [((*way, step), inner) for step, inner in steps if type(inner) not in but]
        else:
            yield way, one

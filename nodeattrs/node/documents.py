"""A node as documents: Chef's node JSON, and the snapshot with all fifteen slots.

Both are plain data here; files and stores are somebody else's affair. Chef's form
combines the levels and so loses who spoke; the snapshot keeps slots, marks and history.
Neither ever holds a secret: a marker stands in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.core.claim import Origin, Verb
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.node.ledger import Chronicle, Event, Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.speech import Mark
from nodeattrs.node.values import MARKER, Deferred, Sensitive, Symbol, Withheld
from nodeattrs.node.view import settled

__all__ = ["FORMAT", "VERSION", "json_ready", "restore_ledger", "snapshot_ledger", "unmarked"]

FORMAT = "nodeattrs-snapshot"
VERSION = 1


def json_ready(value: Any, path: Path = ()) -> Any:
    """A copy for JSON: deferred values are computed, secrets become the marker, keys and symbols text.

    raises: DeferredCycle, and whatever a deferred value raises
    """
    # Loops, here and below: a comprehension takes a second frame a level on CPython 3.11.
    if isinstance(value, dict):
        document = {}
        for key, inner in value.items():
            document[str(key)] = json_ready(inner, (*path, key))
        return document
    if isinstance(value, list):
        items = []
        for index, inner in enumerate(value):
            items.append(json_ready(inner, (*path, index)))
        return items
    if isinstance(value, Deferred):
        return json_ready(settled(value, path), path)
    if isinstance(value, (Sensitive, Withheld)):
        return dict(MARKER)
    return str(value) if type(value) is Symbol else value


def unmarked(value: Any) -> Any:
    """The reverse as far as there is one: the marker becomes a value whose reading is an error. Data is copied."""
    if isinstance(value, dict):
        if value == MARKER:
            return Withheld()
        tree = {}
        for key, inner in value.items():
            tree[key] = unmarked(inner)
        return tree
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(unmarked(inner))
        return items
    return value


# Trees of a snapshot. A map is {"m": [[key, entry], ...]}, so that 1 and "1" stay two keys; with
# "o" its own mark, "a" whether it is assigned; an entry is [key, value] or [key, value, mark].
# A list is {"l": [...]}; a scalar stands for itself.


def _packed(value: Any) -> Any:
    if isinstance(value, dict):
        owned = value if isinstance(value, OwnedMap) else None
        pairs = []
        for key, inner in value.items():
            pair = [key, _packed(inner)]
            if owned is not None and key in owned.origins:
                pair.append(_packed_told(owned.origins[key]))
            pairs.append(pair)
        packed: dict[str, Any] = {"m": pairs}
        if owned is not None:
            packed["o"] = owned.origin
            if isinstance(owned, AssignedMap):
                packed["a"] = True
        return packed
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(_packed(inner))
        return {"l": items}
    if isinstance(value, (Sensitive, Withheld)):
        return {"s": "withheld"}
    if isinstance(value, Deferred):
        return {"d": _packed(json_ready(value))}
    return {"y": str(value)} if type(value) is Symbol else value


def _unpacked(packed: Any) -> Any:
    if not isinstance(packed, dict):
        return packed
    if "l" in packed:
        items = []
        for inner in packed["l"]:
            items.append(_unpacked(inner))
        return items
    if "s" in packed:
        return Withheld()
    if "d" in packed:
        return _unpacked(packed["d"])
    if "y" in packed:
        return Symbol(packed["y"])
    pairs = packed["m"]
    entries = {}
    for pair in pairs:
        entries[pair[0]] = _unpacked(pair[1])
    if "o" not in packed:
        return entries
    owned = (AssignedMap if packed.get("a") else OwnedMap)(entries, packed["o"])
    owned.origins = {pair[0]: _unpacked_told(pair[2]) for pair in pairs if len(pair) > 2}
    return owned


def _packed_told(told: Any) -> Any:
    if isinstance(told, list):
        return [[one[0], list(one[1])] if isinstance(one, tuple) else one for one in told]
    return told


def _unpacked_told(told: Any) -> Any:
    if isinstance(told, list):
        return [(one[0], tuple(one[1])) if isinstance(one, list) else one for one in told]
    return told


class SavedSpeaker:
    """A speaker read back from a snapshot, with the lines it knew when it was saved.

    lines: nested maps step -> [line, column, deeper]; deeper lines are known where the original said so
    """

    __slots__ = ("lines", "origin")

    def __init__(self, origin: Origin, lines: dict[Any, Any] | None = None) -> None:
        self.origin = origin
        self.lines = lines or {}

    def at(self, path: Path) -> Origin:
        """The place that was known for *path*, or for the nearest step above it."""
        found, here = self.origin, self.lines
        for step in path:
            entry = here.get(step)
            if entry is None:
                break
            found = found.moved(entry[0], entry[1])
            here = entry[2]
        return found


def _lines_of(mark: Mark, tree: Any, path: Path, base: Origin, at: Path) -> dict[Any, Any]:
    """The lines that differ from their parent's, for everything below *path* that one mark covers."""
    lines: dict[Any, Any] = {}
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, inner in steps:
        origin = mark.speaker.at((*at, step))
        below = _lines_of(mark, inner, (*path, step), origin, (*at, step))
        if below or (origin.line, origin.column) != (base.line, base.column):
            lines[step] = [origin.line, origin.column, below]
    return lines


def _packed_lines(lines: dict[Any, Any]) -> list[Any]:
    return [[step, line, column, _packed_lines(below)] for step, (line, column, below) in lines.items()]


def _unpacked_lines(packed: list[Any]) -> dict[Any, Any]:
    return {step: [line, column, _unpacked_lines(below)] for step, line, column, below in packed}


class _Reach:
    """What each mark covers, so that the lines of documents and literals can be looked up while they are there."""

    def __init__(self, ledger: Ledger) -> None:
        self.trees: dict[int, dict[Any, Any]] = {}
        for slot in SLOTS:
            if slot.source != "facts":  # the lines of thousands of facts are not worth their room
                tree = ledger.trees[slot.number]
                self._walk(tree, tree.origin, ())

    def _walk(self, tree: Any, told: Any, path: Path) -> None:
        steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        own = tree.origins if isinstance(tree, OwnedMap) else {}
        inherited = tree.origin if isinstance(tree, OwnedMap) else told
        for step, inner in steps:
            who = own.get(step, inherited)
            if isinstance(who, list):
                for one, element in zip(who, inner, strict=False):
                    number, at = one if isinstance(one, tuple) else (one, (*path, step))
                    self._note(number, at, element)
            elif isinstance(tree, list) and isinstance(told, int):
                self._note(told, (*path, step), inner)
            else:
                self._note(who, (*path, step), None if isinstance(inner, OwnedMap) else inner)
            self._walk(inner, who if isinstance(who, int) else 0, (*path, step))

    def _note(self, number: int, path: Path, value: Any) -> None:
        here = self.trees.setdefault(number, {})
        for step in path:
            here = here.setdefault(step, {})
        _mirror(here, value)


def _mirror(here: dict[Any, Any], value: Any) -> None:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        _mirror(here.setdefault(step, {}), inner)


def snapshot_ledger(ledger: Ledger) -> dict[str, Any]:
    """The fifteen slots, the marks and the history as JSON-able data."""
    reach = _Reach(ledger)
    marks = []
    for number, mark in enumerate(ledger.marks.table):
        covered: Any = reach.trees.get(number, {})
        prefix: list[Any] = []
        while len(prefix) < mark.depth and len(covered) == 1:
            step, covered = next(iter(covered.items()))
            prefix.append(step)
        base = mark.speaker.at(())
        lines = _lines_of(mark, covered, (), base, ()) if len(prefix) == mark.depth else {}
        marks.append(_packed_mark(mark, base, lines))
    return {
        "slots": {str(slot.number): _packed(ledger.trees[slot.number]) for slot in SLOTS},
        "marks": marks,
        "history": [
            [list(path), slot, chronicle.dropped, [_packed_event(event) for event in chronicle.events()]]
            for path, chronicles in ledger.history.items()
            for slot, chronicle in chronicles.items()
        ],
    }


def _packed_mark(mark: Mark, base: Origin, lines: dict[Any, Any]) -> dict[str, Any]:
    packed = {
        "kind": base.kind,
        "name": base.name,
        "file": base.file,
        "line": base.line,
        "column": base.column,
        "verb": mark.verb.value,
        "depth": mark.depth,
        "full": mark.full,
        "lines": _packed_lines(lines),
    }
    return {key: value for key, value in packed.items() if value not in (None, "", False, [], 0)}


def _packed_event(event: Event) -> list[Any]:
    return [event.what, _packed(event.value), _packed_told(event.told), event.by]


def restore_ledger(data: Mapping[str, Any], ledger: Ledger) -> None:
    """Fill an empty ledger from `snapshot_ledger`'s data. raises: DocumentError"""
    try:
        ledger.marks.table[:] = [_unpacked_mark(packed) for packed in data["marks"]]
        for slot in SLOTS:
            tree = _unpacked(data["slots"][str(slot.number)])
            ledger.replace(slot.number, tree, tree.origin)
        ledger.history.clear()
        for path, slot, dropped, events in data["history"]:
            ledger.history.setdefault(tuple(path), {})[slot] = _unpacked_chronicle(dropped, events)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DocumentError(f"this snapshot is damaged: {type(error).__name__}: {error}") from error


def _unpacked_chronicle(dropped: int, events: list[list[Any]]) -> Chronicle:
    first, *later = [Event(what, _unpacked(value), _unpacked_told(told), by) for what, value, told, by in events]
    chronicle = Chronicle(first)
    chronicle.last.extend(later)
    chronicle.dropped = dropped
    return chronicle


def _unpacked_mark(packed: Mapping[str, Any]) -> Mark:
    origin = Origin(
        packed["kind"], packed.get("name", ""), packed.get("file"), packed.get("line"), packed.get("column")
    )
    speaker = SavedSpeaker(origin, _unpacked_lines(packed.get("lines", [])))
    return Mark(speaker, Verb(packed.get("verb", "set")), packed.get("depth", 0), packed.get("full", False))

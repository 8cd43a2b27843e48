"""A node as documents: Chef's node JSON, and the snapshot with all fifteen slots.

Both are plain data here; files and stores are somebody else's affair. Chef's form
combines the levels and so loses who spoke; the snapshot keeps slots, marks and history.
Neither ever holds a secret: a marker stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

from nodeattrs.core.claim import UNKNOWN, Origin, Verb
from nodeattrs.core.tree import Path, copied, is_json, spell
from nodeattrs.errors import BadKey, DeferredCycle, DocumentError, ValueWithheld
from nodeattrs.node.ledger import EVENTS, Chronicle, Event, Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, Patched, SaidAt, Several, Worked, speakers
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.speech import Mark
from nodeattrs.node.values import MARKER, Deferred, Sensitive, Symbol, Withheld

__all__ = [
    "FORMAT",
    "VERSION",
    "json_default",
    "json_ready",
    "marks_in",
    "pack",
    "restore_ledger",
    "snapshot_ledger",
    "unmarked",
]

FORMAT = "nodeattrs-snapshot"
VERSION = 3
"""Version 1 had no plain maps ("j"), version 2 not who worked on a list ("of"); both are still read."""


def json_ready(value: Any, path: Path = ()) -> Any:
    """A copy for JSON: deferred values are computed, secrets become the marker, keys and symbols text.

    raises: DeferredCycle; BadKey, where a map has the keys 1 and "1"
    """
    # Loops, here and below: a comprehension takes a second frame a level on CPython 3.11.
    if isinstance(value, dict):
        document = {}
        for key, inner in value.items():
            document[str(key)] = json_ready(inner, (*path, key))
        if len(document) < len(value):
            raise _twice(value, path)
        return document
    if isinstance(value, list):
        items = []
        for index, inner in enumerate(value):
            items.append(json_ready(inner, (*path, index)))
        return items
    if isinstance(value, Deferred):
        return json_ready(_computed(value, path), path)
    if isinstance(value, (Sensitive, Withheld)):
        return dict(MARKER)
    return str(value) if type(value) is Symbol else value


def _twice(value: dict[Any, Any], path: Path) -> BadKey:
    key = next(key for key in value if type(key) is int and str(key) in value)
    return BadKey(
        f"{spell((*path, key))} and {spell((*path, str(key)))} would be one key in JSON, whose keys are text",
        path=(*path, key),
        hint="rename one of them",
    )


_FAILED = "$deferred"
_NOTHING: Mapping[Any, Any] = {}


def _failed(how: str) -> NoReturn:
    raise ValueWithheld("this deferred value could not be computed when it was saved", said=[how])


def _computed(value: Deferred, path: Path) -> Any:
    """What a deferred value comes to; one that fails leaves word of it, since it may be one that nobody reads.

    raises: DeferredCycle
    """
    try:
        return value.evaluate(path)
    except DeferredCycle:
        raise
    except ValueWithheld as error:
        return {_FAILED: "; ".join(error.said) or error.message}
    except Exception as error:
        return {_FAILED: f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")}


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
# A list is {"l": [...]}; a scalar stands for itself. A map that was said as a whole and is JSON through
# and through is {"j": itself}: so facts stand in a snapshot as they do in a node document.


def json_default(value: Any) -> Any:
    """For `json.dumps(node, default=json_default)`: what a node, its views and values are in JSON.

    Deferred values are computed, secrets become a marker, keys text.
    raises: TypeError, for what is none of ours

    >>> import json
    >>> from nodeattrs import Node
    >>> node = Node("web1")
    >>> node.default["ports"] = [80, 443]
    >>> json.dumps(node, default=json_default)
    '{"ports": [80, 443]}'
    """
    to_plain = getattr(value, "to_plain", None)
    if to_plain is not None:
        return json_ready(to_plain())
    if isinstance(value, (Deferred, Sensitive, Withheld)):
        return json_ready(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _packed(value: Any, evaluate: bool = True, whole: bool = True) -> Any:
    """A part of a tree. whole: False for what stands in a map that is not JSON, so that nothing is looked at twice."""
    if isinstance(value, dict):
        if whole and type(value) is dict and is_json(value):
            return {"j": copied(value)}
        return _packed_map(value, evaluate)
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(_packed(inner, evaluate, whole))
        return {"l": items}
    if isinstance(value, (Sensitive, Withheld)):
        return {"s": "withheld"}
    if isinstance(value, Deferred):
        return _packed_deferred(value) if evaluate else {"d": repr(value)}
    return {"y": str(value)} if type(value) is Symbol else value


def _packed_map(value: dict[Any, Any], evaluate: bool = True, settled: Mapping[Any, Any] = _NOTHING) -> dict[str, Any]:
    """A map entry by entry. settled: entries that are JSON for certain, which are not copied"""
    owned = value if isinstance(value, OwnedMap) else None
    pairs = []
    for key, inner in value.items():
        if type(inner) is dict and settled.get(key) is inner:
            pair = [key, {"j": inner}]
        else:
            pair = [key, _packed(inner, evaluate, owned is not None)]
        if owned is not None and key in owned.origins:
            pair.append(_packed_told(owned.origins[key]))
        pairs.append(pair)
    packed: dict[str, Any] = {"m": pairs}
    if owned is not None:
        packed["o"] = owned.origin
        if isinstance(owned, AssignedMap):
            packed["a"] = True
    return packed


def pack(value: Any) -> Any:
    """JSON data as it stands in a tree of a snapshot; a copy."""
    return _packed(value)


def _packed_deferred(value: Deferred) -> dict[str, Any]:
    computed = _computed(value, ())
    failed = computed.get(_FAILED) if isinstance(computed, dict) else None
    return {"d": _packed(json_ready(computed))} if failed is None else {"f": failed}


def _unpacked(packed: Any) -> Any:
    if not isinstance(packed, dict):
        return packed
    if "j" in packed:
        if type(packed["j"]) is not dict:
            raise ValueError("a plain map that is none")
        return copied(packed["j"])
    if "l" in packed:
        items = []
        for inner in packed["l"]:
            items.append(_unpacked(inner))
        return items
    if "s" in packed:
        return Withheld()
    if "d" in packed:
        return _unpacked(packed["d"])
    if "f" in packed:
        return Deferred(partial(_failed, str(packed["f"])), str(packed["f"]))
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
    """A number, or for a list an array of elements: a number, or tagged "at", "all" or "in".

    One that was worked on in place has its array under "of", and beside it who set and who worked on it.
    """
    if isinstance(told, Worked):
        return {"of": [_packed_told(one) for one in told], "begun": list(told.begun), "steps": list(told.steps)}
    if isinstance(told, list):
        return [_packed_told(one) for one in told]
    if isinstance(told, SaidAt):
        return {"at": [told.number, list(told.path)]}
    if isinstance(told, Several):
        return {"all": [_packed_told(one) for one in told.tolds]}
    if isinstance(told, Patched):
        return {"in": [_packed_told(told.base), list(told.path), _packed_told(told.told)]}
    return told


def _unpacked_told(told: Any) -> Any:
    if isinstance(told, list):
        return [_unpacked_told(one) for one in told]
    if not isinstance(told, dict):
        return int(told)
    if "of" in told:
        begun, steps = (tuple(map(int, told[which])) for which in ("begun", "steps"))
        return Worked(map(_unpacked_told, told["of"]), begun, steps)
    if "at" in told:
        number, path = told["at"]
        return SaidAt(int(number), _unpacked_path(path))
    if "all" in told:
        return Several(tuple(_unpacked_told(one) for one in told["all"]))
    base, path, inner = told["in"]
    return Patched(_unpacked_told(base), _unpacked_path(path), _unpacked_told(inner))


def _unpacked_path(path: list[Any]) -> Path:
    if not all(type(step) in (str, int) for step in path):
        raise ValueError(f"{path!r} is no path")
    return tuple(path)


def marks_in(told: Any) -> Iterator[tuple[int, Path]]:
    """The marks that a packed `told` refers to, each with the path it is asked for."""
    if isinstance(told, list):
        for one in told:
            yield from marks_in(one)
    elif isinstance(told, dict):
        for tag, inner in told.items():
            if tag == "at":
                yield inner[0], tuple(inner[1])
            elif tag == "in":
                yield from marks_in([inner[0], inner[2]])
            else:
                yield from marks_in(inner)
    else:
        yield told, ()


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


def _packed_lines(lines: dict[Any, Any]) -> list[Any]:
    return [[step, line, column, _packed_lines(below)] for step, (line, column, below) in lines.items()]


def _unpacked_lines(packed: list[Any]) -> dict[Any, Any]:
    lines = {}
    for step, line, column, below in packed:
        place = {"line": line, "column": column}
        lines[step] = [_of_type(place, "line", int), _of_type(place, "column", int), _unpacked_lines(below)]
    return lines


class _Reach:
    """What each mark is asked for, so that lines can be looked up while documents and code are there.

    covered: number of a mark -> nested maps of steps, counted as its speaker counts
    used:    the numbers that anything refers to
    """

    def __init__(self, ledger: Ledger, slots: Collection[int]) -> None:
        self.covered: dict[int, dict[Any, Any]] = {}
        self.used: set[int] = set()
        self._marks = ledger.marks
        for number in slots:
            tree = ledger.trees[number]
            self._walk(tree, tree.origin, ())
        for path, _, chronicle in _chronicles(ledger, slots):
            for event in chronicle.events():
                self._walk(event.value, event.told, path)
                self._note(SaidAt(event.by, path))

    def _walk(self, value: Any, told: Any, path: Path) -> None:
        if isinstance(told, Worked):
            for number in (*told.begun, *told.steps):
                self._note(SaidAt(number, path))
        if isinstance(told, list):
            for index, (one, element) in enumerate(zip(told, value, strict=False)):
                for said in _every(one, (*path, index)):
                    self._note(said, element)
        elif isinstance(value, OwnedMap):
            self._note(SaidAt(told, path))
            for key, inner in value.items():
                self._walk(inner, value.origins.get(key, value.origin), (*path, key))
        else:
            self._note(SaidAt(told, path), value)

    def _note(self, said: SaidAt, value: Any = None) -> None:
        self.used.add(said.number)
        if self._marks[said.number].bulk:
            return  # the lines of thousands of facts are not worth their room
        here = self.covered.setdefault(said.number, {})
        for step in said.path[self._marks[said.number].depth :]:
            here = here.setdefault(step, {})
        _mirror(here, value)


def _every(told: Any, at: Path) -> Iterator[SaidAt]:
    """Everyone who said an element or a part of it."""
    yield from speakers(told, at)
    for one in told.tolds if isinstance(told, Several) else [told.base] if isinstance(told, Patched) else ():
        yield from _every(one, at)
    if isinstance(told, Patched):
        yield from _every(told.told, (*at, *told.path))


def _mirror(here: dict[Any, Any], value: Any) -> None:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        _mirror(here.setdefault(step, {}), inner)


def _lines_of(mark: Mark, covered: dict[Any, Any], base: Origin, at: Path) -> dict[Any, Any]:
    """The lines below *at* that differ from their parent's, as far as the mark is asked for them."""
    lines: dict[Any, Any] = {}
    for step, inner in covered.items():
        origin = mark.speaker.at((*at, step))
        below = _lines_of(mark, inner, origin, (*at, step))
        if below or (origin.line, origin.column) != (base.line, base.column):
            lines[step] = [origin.line, origin.column, below]
    return lines


def snapshot_ledger(
    ledger: Ledger, settled: Mapping[Any, Any] = _NOTHING, only: Iterable[int] = range(1, len(SLOTS) + 1)
) -> dict[str, Any]:
    """The fifteen slots, the marks and the history as JSON-able data.

    settled: what stands in the slot of facts and is JSON, entry by entry: it is not copied
    only:    the slots that are wanted; the others come out empty, without history
    """
    wanted = frozenset(only)
    reach = _Reach(ledger, wanted)
    marks = []
    for number, mark in enumerate(ledger.marks):
        if number not in reach.used:
            marks.append({"kind": UNKNOWN.kind})
            continue
        base, covered = mark.speaker.at(()), reach.covered.get(number)
        if mark.bulk:
            base = base.moved(None)  # of a document of facts: its file is kept, and no line at all
        marks.append(_packed_mark(mark, base, _lines_of(mark, covered or {}, base, ())))
    return {
        "slots": {
            str(slot.number): _packed_map(
                ledger.trees[slot.number] if slot.number in wanted else OwnedMap(),
                settled=settled if slot.source == "facts" else _NOTHING,
            )
            for slot in SLOTS
        },
        "marks": marks,
        "history": [
            [list(path), slot, chronicle.dropped, [_packed_event(event) for event in chronicle.events()]]
            for path, slot, chronicle in _chronicles(ledger, wanted)
        ],
    }


def _chronicles(ledger: Ledger, slots: Collection[int]) -> Iterator[tuple[Path, int, Chronicle]]:
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if slot in slots:
                yield path, slot, chronicle


def _packed_mark(mark: Mark, base: Origin, lines: dict[Any, Any]) -> dict[str, Any]:
    packed = {
        "kind": base.kind,
        "name": base.name,
        "file": base.file,
        "line": base.line,
        "column": base.column,
        "verb": mark.verb.value,
        "depth": mark.depth,
        "bulk": mark.bulk,
        "lines": _packed_lines(lines),
    }
    return {key: value for key, value in packed.items() if value not in (None, "", False, [], 0)}


def _packed_event(event: Event) -> list[Any]:
    return [event.what, _packed(event.value, evaluate=False), _packed_told(event.told), event.by]


def restore_ledger(data: Mapping[str, Any], ledger: Ledger) -> None:
    """Fill an empty ledger from `snapshot_ledger`'s data. raises: DocumentError"""
    try:
        ledger.marks.table[:] = [_unpacked_mark(packed) for packed in data["marks"]]
        for slot in SLOTS:
            tree = _unpacked(data["slots"][str(slot.number)])
            ledger.replace(slot.number, tree, tree.origin, remember=False)
        for path, slot, dropped, events in data["history"]:
            if type(slot) is not int or not 1 <= slot <= len(SLOTS):
                raise ValueError(f"slot {slot!r}")
            at = _unpacked_path(path)
            guard = None if ledger.secrets is None else partial(ledger.secrets.guarded, at)
            chronicle = _unpacked_chronicle(dropped, events, guard)
            ledger.chronicles(at)[slot, chronicle.first.what == "silent"] = chronicle
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DocumentError(f"this snapshot is damaged: {type(error).__name__}: {error}") from error
    faults = list(ledger.check())
    if faults:
        raise DocumentError(f"this snapshot is damaged: {faults[0]}")


def _unpacked_chronicle(dropped: int, events: list[list[Any]], guard: Callable[[Any], Any] | None) -> Chronicle:
    if not {what for what, *_ in events} <= EVENTS or type(dropped) is not int:
        raise ValueError("an event that nobody knows")
    values = [_unpacked(value) for _, value, _, _ in events]
    if guard is not None:
        values = [guard(value) for value in values]
    first, *later = [
        Event(what, value, _unpacked_told(told), by) for (what, _, told, by), value in zip(events, values, strict=True)
    ]
    chronicle = Chronicle(first)
    chronicle.last.extend(later)
    chronicle.dropped = dropped
    return chronicle


def _of_type(packed: Mapping[str, Any], field: str, kind: type) -> Any:
    value = packed.get(field)
    if value is not None and type(value) is not kind:
        raise ValueError(f"{field} is {value!r}")
    return value


def _unpacked_mark(packed: Mapping[str, Any]) -> Mark:
    texts = [_of_type(packed, field, str) for field in ("kind", "name", "file")]
    places = [_of_type(packed, field, int) for field in ("line", "column")]
    origin = Origin(texts[0] or "unknown", texts[1] or "", texts[2], *places)
    speaker = SavedSpeaker(origin, _unpacked_lines(packed.get("lines", [])))
    return Mark(speaker, Verb(packed.get("verb", "set")), int(packed.get("depth", 0)), bool(packed.get("bulk")))

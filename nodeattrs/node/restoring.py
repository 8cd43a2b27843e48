"""Reading snapshots (`snapshots`) and Chef's node JSON (`documents`).

A document may be damaged or forged. It is read as a whole, or a DocumentError says why it is refused. A secret that
was left out becomes `Withheld`, which raises an error when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

from nodeattrs.core.claim import UNKNOWN, Cause, Origin, Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.origins import PatchedOrigins, SourcePath
from nodeattrs.core.tree import Path, copied, is_json
from nodeattrs.errors import DocumentError, ValueWithheld
from nodeattrs.formats.python import PythonText
from nodeattrs.node.documents import FORMAT, LEVELS, VERSION
from nodeattrs.node.ledger import EVENTS, HISTORY_BOUND, NEVER_SET, Chronicle, Event, Ledger
from nodeattrs.node.maps import AssignedMap, ChangedListOrigins, OwnedMap, setters_in_element
from nodeattrs.node.setters import Mark
from nodeattrs.node.sites import (
    FileVersion,
    LineRange,
    SavedDocument,
    SavedRead,
    SavedRun,
    SavedSite,
    Versions,
    relative,
)
from nodeattrs.node.slots import DEFAULT_ENVIRONMENT, SLOTS
from nodeattrs.node.values import MARKER, Deferred, Symbol, Withheld


class NodeIdentity(NamedTuple):
    """The name, environment and run-list in a node's document. The types are checked, and items of the run-list
    are not.
    """

    name: str
    environment: str
    run_list: list[Any]


def identity_in_snapshot(snapshot: Any) -> NodeIdentity:
    """The name, environment and run-list in a snapshot. A missing environment is "_default", a missing run-list [].

    raises: DocumentError, if *snapshot* is not a snapshot, has an unknown version, no name, or a field of the wrong
            type
    """
    if not isinstance(snapshot, Mapping) or snapshot.get("format") != FORMAT:
        raise DocumentError("this is no snapshot of a node", hint="make one with node.snapshot()")
    if snapshot.get("version") not in range(1, VERSION + 1):
        raise DocumentError(
            f"this snapshot has version {snapshot.get('version')!r}, and versions up to {VERSION} are read here",
            hint="a newer nodeattrs wrote it: upgrade",
        )
    return identity_in(snapshot, "environment")


def identity_in(document: Any, field: str) -> NodeIdentity:
    """The name, environment and run-list in a node's document.

    An environment that is missing or empty is "_default"; a run-list that is missing or empty is [].

    field:  the key of the environment: "chef_environment" in Chef's node JSON
    raises: DocumentError, if *document* is not a map, has no name, or has a field of the wrong type
    """
    if not isinstance(document, Mapping):
        raise DocumentError(f"a node document is a map, not a {type(document).__name__}", hint='{"name": "web1"}')
    name, environment = document.get("name"), document.get(field) or DEFAULT_ENVIRONMENT
    if not isinstance(name, str) or not isinstance(environment, str):
        raise DocumentError(f"a node document needs name and {field} as text", hint='"name": "web1"')
    run_list = document.get("run_list") or []
    if not isinstance(run_list, (list, tuple)):
        raise DocumentError("the run_list of a node document is a list")
    return NodeIdentity(name, environment, list(run_list))


def chef_levels(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield (level, tree) for automatic, normal, default and override of Chef's node JSON; {} for a level that is
    missing.

    The trees are copies; in them each marker of a secret is replaced by a `Withheld`.
    raises: DocumentError, if a level is not a map
    """
    for level in LEVELS:
        tree = document.get(level)
        if not isinstance(tree, (dict, type(None))):
            raise DocumentError(f"{level} must be a map in a node document, not a {type(tree).__name__}")
        yield level, _with_withheld(tree or {})


def _with_withheld(value: Any) -> Any:
    """A copy of JSON data in which each marker of a secret is `Withheld`."""
    # Loops: a comprehension takes a second frame a level on CPython 3.11.
    if isinstance(value, dict):
        if value == MARKER:
            return Withheld()
        tree = {}
        for key, inner in value.items():
            tree[key] = _with_withheld(inner)
        return tree
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(_with_withheld(inner))
        return items
    return value


def restore_ledger(data: Mapping[str, Any], ledger: Ledger, versions: Versions | None = None) -> None:
    """Fill an empty ledger from the data of `snapshot_ledger`. The data is copied.

    versions: gives the files of the repository, in which causes are looked for later; None: only causes in the data
    raises:   DocumentError, if the data is damaged or contradicts itself. Do not use the ledger then: it is half filled
    """
    try:
        run = ledger.marks.saved_run = _unpacked_run(data, versions)
        marks = data["marks"]
        ledger.marks.table[:] = [_NOBODY if packed == _BLANK else _unpacked_mark(packed, run) for packed in marks]
        ledger.marks.last_uses = {
            number: int(packed["until"]) for number, packed in enumerate(marks) if "until" in packed
        }
        ledger.marks.saved_reads = [_unpacked_read(packed, run) for packed in data.get("reads", ())]
        for slot in SLOTS:
            tree = _unpacked(data["slots"][str(slot.number)])
            ledger.replace(slot.number, tree, tree.origin, remember=False)
        for path, slot, dropped, events in data["history"]:
            if type(slot) is not int or not 1 <= slot <= len(SLOTS):
                raise ValueError(f"slot {slot!r}")
            at = _unpacked_path(path)
            chronicle = _unpacked_chronicle(dropped, events, partial(ledger.secrets.wrapped, at))
            ledger.history.setdefault(at, {})[slot, chronicle.events[0].what in NEVER_SET] = chronicle
        for slot, name, reason, origin, *given in data.get("unknown", ()):
            if type(slot) is not int or not 1 <= slot <= len(SLOTS) or not {type(name), type(reason)} <= {str}:
                raise ValueError(f"an unknown layer in slot {slot!r}")
            lines = {_unpacked_path(path): int(line) for path, line in given[0]} if given else None
            ledger.add_unknown(slot, (Layer.unknown(name, _unpacked_origin(origin), reason, lines),))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DocumentError(f"this snapshot is damaged: {type(error).__name__}: {error}") from error
    faults = list(contradictions(ledger))
    if faults:
        raise DocumentError(f"this snapshot is damaged: {faults[0]}")


_TEXT, _NUMBER = {str, type(None)}, {int, type(None)}
_BLANK = {"kind": UNKNOWN.kind}
_NOBODY = Mark(UNKNOWN)
"""The mark for each blank one, to which nothing refers."""


def _unpacked_chronicle(dropped: int, events: list[list[Any]], guard: Callable[[Any], Any]) -> Chronicle:
    if not {what for what, *_ in events} <= EVENTS or type(dropped) is not int:
        raise ValueError("an unknown event")
    unpacked = [
        Event(what, guard(_unpacked(value)), _unpacked_set_by(set_by), by) for what, value, set_by, by in events
    ]
    return Chronicle(unpacked, dropped)


def _number(packed: Mapping[str, Any], field: str) -> int | None:
    value = packed.get(field)
    if type(value) not in _NUMBER:
        raise ValueError(f"{field} is {value!r}")
    return value


def _unpacked_mark(packed: Mapping[str, Any], run: SavedRun) -> Mark:
    origin, places = _unpacked_origin(packed), _unpacked_lines(packed.get("lines", []))
    over = packed.get("over", None if origin.line is None else [origin.line] * 2)
    lines = None if over is None else LineRange(origin.file, *map(int, over))
    locator = SavedLocator(origin, places, lines, run, is_earlier=packed.get("earlier") is True)
    if "code" in packed:
        locator.code = _unpacked_site(packed["code"], run)
        locator.calls = [_unpacked_site(call, run) for call in packed["code"].get("calls", ())]
    if "causes" in packed:
        locator.kept_causes = {tuple(path): tuple(map(_unpacked_cause, found)) for path, found in packed["causes"]}
    verb, depth = Verb(packed.get("verb", "set")), int(packed.get("depth", 0))
    return Mark(locator, verb, depth, bool(packed.get("bulk")), packed.get("late") is True)


def _unpacked_site(packed: Mapping[str, Any], run: SavedRun) -> SavedSite:
    at = packed.get("at", [])
    if not ({*map(type, at)} <= _NUMBER and len(at) in (0, 1, 4)):
        raise ValueError(f"{at!r} is no place")
    site = SavedSite(run, run.sources[packed["source"]] if "source" in packed else None, at)
    site.in_comprehension = packed.get("comprehension") is True
    return site


def _unpacked_run(data: Mapping[str, Any], versions: Versions | None) -> SavedRun:
    sources = [FileVersion(file, digest) for file, digest in data.get("sources", ())]
    if not all(type(text) is str and "\0" not in text for source in sources for text in source):
        raise ValueError("a source must have a file and a digest")
    return SavedRun(sources, versions)


def _unpacked_read(packed: Mapping[str, Any], run: SavedRun) -> SavedRead:
    documents = [
        SavedDocument(run.sources[one["source"]], str(one["kind"]), str(one["name"]), _unpacked_path(one["under"]))
        for one in packed["documents"]
    ]
    return SavedRead(_unpacked_site(packed, run), documents)


def _unpacked_origin(packed: Mapping[str, Any]) -> Origin:
    kind, name, file, line, column = found = [*map(packed.get, Origin._fields)]
    if not ({type(kind), type(name), type(file)} <= _TEXT and {type(line), type(column)} <= _NUMBER):
        raise ValueError(f"{found} is no origin")
    return Origin(kind or "unknown", name or "", file, line, column)


def _unpacked_cause(packed: Mapping[str, Any]) -> Cause:
    path, at = packed.get("path"), packed.get("at")
    if type(packed["what"]) is not str:
        raise ValueError(f"{packed['what']!r} is no cause")
    place = None if at is None else _unpacked_origin(at)
    return Cause(packed["what"], _unpacked_origin(packed), None if path is None else tuple(path), place)


def _failed(how: str) -> NoReturn:
    raise ValueWithheld("this deferred value could not be computed when it was saved", details=[how])


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
    owned.origins = {pair[0]: _unpacked_set_by(pair[2]) for pair in pairs if len(pair) > 2}
    return owned


def _unpacked_set_by(set_by: Any) -> Any:
    if isinstance(set_by, list):
        return [_unpacked_set_by(one) for one in set_by]
    if not isinstance(set_by, dict):
        return int(set_by)
    if "of" in set_by:
        first, later = tuple(map(int, set_by["begun"])), tuple(map(int, set_by["steps"]))
        return ChangedListOrigins(map(_unpacked_set_by, set_by["of"]), first, later)
    if "at" in set_by:
        number, path = set_by["at"]
        return SourcePath(int(number), _unpacked_path(path))
    if "all" in set_by:
        return tuple(_unpacked_set_by(one) for one in set_by["all"])
    base, path, inner = set_by["in"]
    return PatchedOrigins(_unpacked_set_by(base), _unpacked_path(path), _unpacked_set_by(inner))


def _unpacked_path(path: list[Any]) -> Path:
    if not all(type(step) in (str, int) for step in path):
        raise ValueError(f"{path!r} is no path")
    return tuple(path)


@dataclass(eq=False, slots=True)
class SavedLocator:
    """The locator of a value that a saved run set, as its snapshot has it. Reads no files, unless causes are asked for.

    `at` returns the origin of a path. `placed` returns an origin for another file and line. `source` returns another
    file as parsed Python, or None if that version is not available. `for_next_run` makes a copy whose origin begins
    with "saved". `site` is *code*, or None without a repository. `root` is a function that returns the folder to which
    file names are relative.

    origin:      the origin of the whole value
    places:      step -> [line, column, places below]. A step may be left out; the origin of the nearest step above it
                 then counts for the step and for all below it
    lines:       the lines of the expression that set the value. If they are not known, the one line in the origin; None
                 if no line is known
    run:         the saved run, with the sources of the repository
    code:        the expression that set the value; None if no code of the repository set it
    calls:       the calls that led there, the innermost first
    kept_causes: path in the slot -> causes of the value there, from the snapshot; None if the snapshot has no causes
    is_earlier:  whether a run before the saved one set the value
    """

    origin: Origin
    places: dict[Any, Any]
    lines: LineRange | None
    run: SavedRun
    code: SavedSite | None = None
    calls: Sequence[SavedSite] = ()
    kept_causes: dict[Path, tuple[Cause, ...]] | None = None
    is_earlier: bool = False

    def for_next_run(self) -> SavedLocator:
        """A copy for a node of the next run: its origin says "saved", once, and `is_earlier` is True."""
        return replace(self, origin=self.origin.saved(), is_earlier=True)

    @property
    def site(self) -> SavedSite | None:
        """The expression that set the value; None where no code did, and where there is no repository to read it
        from.
        """
        return None if self.run.versions is None else self.code

    @property
    def root(self) -> Callable[[], str]:
        return self.run.root

    def placed(self, filename: str, line: int | None = None, column: int | None = None) -> Origin:
        """An origin for any file and line, with the setter of this locator. The file's name becomes relative."""
        return Origin(self.origin.kind, self.origin.name, relative(filename, self.run.root()), line, column)

    def source(self, filename: str) -> PythonText | None:
        """The parsed source of another file, as it was for the run; None where that version is not available."""
        return self.run.text_at(filename)

    def at(self, path: Path) -> Origin:
        """The origin of *path* inside the value: its own line if the snapshot has it, or the line of the nearest path
        above.
        """
        found, here = self.origin, self.places
        for step in path:
            entry = here.get(step)
            if entry is None:
                break
            found = found.moved(entry[0], entry[1])
            here = entry[2]
        return found


def _unpacked_lines(packed: list[Any]) -> dict[Any, Any]:
    lines = {}
    for step, line, column, below in packed:
        place = {"line": line, "column": column}
        lines[step] = [_number(place, "line"), _number(place, "column"), _unpacked_lines(below)]
    return lines


# --- contradictions -----------------------------------------------------------------


def contradictions(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each contradiction between the slots, marks and history of a ledger.

    Nothing for a sound one.

    cost: a visit of every value
    """
    for slot, tree in enumerate(ledger.trees[1:], 1):
        yield from _SlotCheck(ledger, slot).faults(tree, ())
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if len(chronicle.events) > HISTORY_BOUND:
                yield f"too much history at {path} in slot {slot}"
            for event in chronicle.events:
                known = _is_mark(ledger, event.by) and _are_marks(ledger, event.set_by, path)
                if not (known and _fits(event.value, event.set_by)):
                    yield f"an unknown mark in the history of {path} in slot {slot}"
                yield from _SlotCheck(ledger, slot).faults(event.value, path)


def _is_mark(ledger: Ledger, number: Any) -> bool:
    return type(number) is int and 0 <= number < len(ledger.marks)


def _are_marks(ledger: Ledger, set_by: Any, path: Path) -> bool:
    if type(set_by) is int:
        return _is_mark(ledger, set_by)  # as most are
    elements = set_by if isinstance(set_by, list) else [set_by]
    numbers = [setter.source for one in elements for setter in setters_in_element(one, path)]
    if isinstance(set_by, ChangedListOrigins):
        numbers += [*set_by.first, *set_by.later]
    return all(_is_mark(ledger, number) for number in numbers)


def _fits(value: Any, set_by: Any) -> bool:
    return not isinstance(set_by, list) or (isinstance(value, list) and len(value) == len(set_by))


class _SlotCheck:
    """Finds contradictions in the tree of one slot."""

    def __init__(self, ledger: Ledger, slot: int) -> None:
        self._ledger, self._slot = ledger, slot
        self._seen: set[int] = set()

    def faults(self, tree: Any, path: Path) -> Iterator[str]:
        if (type(tree) is dict or type(tree) is list) and is_json(tree):
            return  # no OwnedMap is in it
        if isinstance(tree, OwnedMap):
            yield from self._of_owned(tree, path)
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        for step, value in entries:
            if isinstance(value, OwnedMap) and not isinstance(tree, OwnedMap):
                what = "a list" if isinstance(tree, list) else "a frozen one"
                yield f"an owned map inside {what} at {path} in slot {self._slot}"
            if isinstance(value, (dict, list)):
                yield from self.faults(value, (*path, step))

    def _of_owned(self, tree: OwnedMap, path: Path) -> Iterator[str]:
        where = f"at {path} in slot {self._slot}"
        if id(tree) in self._seen:
            yield f"an owned map has two parents, one {where}"
        self._seen.add(id(tree))
        if not tree.origins.keys() <= tree.keys():
            yield f"marks without entries {where}"
        every = tree.origins.values()
        if not _is_mark(self._ledger, tree.origin) or not all(
            _are_marks(self._ledger, set_by, path) for set_by in every
        ):
            yield f"an unknown mark {where}"
        if not all(_fits(tree.get(key), set_by) for key, set_by in tree.origins.items()):
            yield f"marks for elements that are not there {where}"
        if isinstance(tree, AssignedMap) and SLOTS[self._slot - 1].source != "recipe":
            yield f"slot {self._slot} is no recipe's, and {path} is marked assigned"

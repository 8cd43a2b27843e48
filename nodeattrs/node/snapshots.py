"""Snapshots: a node as data for JSON, with all fifteen slots, the origins of their values, and the history.

`restoring` reads them. "Packed" means: in the form of a snapshot. Origins are kept as *marks*, the lines that set
values (`setters`). A packed mark has the setter, file and line, and the lines of values inside. It also has the place
of the code, in which causes are found later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.core.claim import UNKNOWN, Cause, LocatorBelow, Origin
from nodeattrs.core.origins import Origins, PatchedOrigins, SourcePath
from nodeattrs.core.tree import NO_ENTRIES, SCALARS, Path, copied, dig, is_json
from nodeattrs.formats.documents import DocumentLocator
from nodeattrs.node.causes import causes_of, imported_sources
from nodeattrs.node.documents import FAILED, FORMAT, VERSION, computed_or_failure, json_ready
from nodeattrs.node.ledger import Chronicle, Ledger
from nodeattrs.node.maps import AssignedMap, ChangedListOrigins, OwnedMap, SetBy, last_mark, setters_in_element
from nodeattrs.node.node_trace import brief_then
from nodeattrs.node.restoring import SavedLocator
from nodeattrs.node.setters import CALLER, Mark
from nodeattrs.node.sites import (
    CodeLocator,
    ExpressionSite,
    FileVersion,
    SavedDocument,
    SavedSite,
    is_inside,
    relative,
    site_of,
)
from nodeattrs.node.slot_names import FACTS
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.values import Deferred, Sensitive, Symbol, Withheld

_FACTS = next(slot.number for slot in SLOTS if slot.source == FACTS)


def snapshot_document(
    ledger: Ledger, name: str, environment: str, run_list: Sequence[str], shared: bool = False, causes: bool = False
) -> dict[str, Any]:
    """The snapshot of a node as data for JSON; `Node.snapshot` documents it.

    shared: True: facts in it may be the node's own objects, so that nothing in it may be changed
    causes: whether the causes of all values are included
    """
    with ledger.lock:
        slots = snapshot_ledger(ledger, ledger.settled if shared else NO_ENTRIES, causes=causes)
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
    ledger: Ledger,
    settled: Mapping[Any, Any] = NO_ENTRIES,
    numbers: Iterable[int] = range(1, len(SLOTS) + 1),
    causes: bool = False,
) -> dict[str, Any]:
    """The slots, marks, history and unknown layers of a ledger as data for JSON; `restore_ledger` reads it.

    Deferred values are computed, and secrets left out. The caller must hold the lock.
    settled: key -> value of facts that are JSON data: they are part of the result, not copied
    numbers: of the slots to include; the other slots are empty in the result, without history
    causes:  whether the causes of all values are included
    """
    wanted = frozenset(numbers)
    slots = {
        str(slot.number): _packed_map(
            ledger.trees[slot.number if slot.number in wanted else 0],  # which is empty
            settled=settled if slot.number == _FACTS else NO_ENTRIES,
        )
        for slot in SLOTS
    }
    sources = _Sources(ledger)
    document = {
        "slots": slots,
        "marks": _packed_marks(ledger, wanted, sources, _causes_by_mark(ledger, wanted) if causes else {}),
        "history": _packed_history(ledger, wanted),
    }
    optional = {"unknown": list(_packed_unknown(ledger, wanted)), "reads": sources.reads(), "sources": sources.table}
    return document | {name: part for name, part in optional.items() if part}


def _packed_marks(
    ledger: Ledger, slots: Collection[int], sources: _Sources, causes: Mapping[int, Mapping[Path, tuple[Cause, ...]]]
) -> list[dict[str, Any]]:
    """All marks, with the lines of the values in some slots; a mark that nothing there refers to is blank."""
    reach = _PathsByMark(ledger, slots)
    marks: list[dict[str, Any]] = [{"kind": UNKNOWN.kind}]
    for number, mark in enumerate(reach.marks[1:], 1):
        if number not in reach.used:
            marks.append({"kind": UNKNOWN.kind})
            continue
        packed = _packed_mark(mark, reach.covered.get(number, {}))
        code = sources.packed_code(mark.locator)
        if code is not None:
            packed["code"] = code
            if number in ledger.marks.last_uses:
                packed["until"] = ledger.marks.last_uses[number]
            if mark.is_late or number in reach.late:
                packed["late"] = True
        if number in causes:
            packed["causes"] = [[list(path), [*map(_packed_cause, found)]] for path, found in causes[number].items()]
        marks.append(packed)
    return marks


def _causes_by_mark(ledger: Ledger, slots: Collection[int]) -> dict[int, dict[Path, tuple[Any, ...]]]:
    """The causes of all values in some slots: mark -> path in the slot -> causes. Values without causes are left out.

    cost: a look at every value, and at its sources
    """
    found = _ValueCauses(ledger)
    for number in slots:
        tree = ledger.trees[number]
        found.walk(tree, tree.origin, ())
    return found.by_mark


class _ValueCauses:
    """Collects the causes of the values that `walk` visits: mark -> path in the slot -> causes."""

    def __init__(self, ledger: Ledger) -> None:
        self.by_mark: dict[int, dict[Path, tuple[Any, ...]]] = {}
        self._ledger = ledger

    def walk(self, value: Any, set_by: SetBy, path: Path) -> None:
        if isinstance(value, OwnedMap):
            if isinstance(set_by, int):
                self._note(path, value, SourcePath(set_by, path))
            for key, inner in value.items():
                self.walk(inner, value.origins.get(key, value.origin), (*path, key))
        elif isinstance(set_by, int):
            self._below(path, value, SourcePath(set_by, path))
        else:
            self._note(path, value, SourcePath(last_mark(set_by), path))
            for index, (inner, element) in enumerate(zip(value, set_by, strict=False)):
                self._element(inner, element, (*path, index))

    def _element(self, value: Any, set_by: Origins, path: Path) -> None:
        """Visit an element of a list; each of its parts may have another setter."""
        if type(set_by) is PatchedOrigins:
            self._element(value, set_by.base, path)
            self._element(dig(value, set_by.path), set_by.by, (*path, *set_by.path))
        elif type(set_by) is list:
            for index, (inner, one) in enumerate(zip(value, set_by, strict=False)):
                self._element(inner, one, (*path, index))
        else:
            for by in setters_in_element(set_by, path):
                self._below(path, value, by)

    def _below(self, path: Path, value: Any, by: SourcePath) -> None:
        """Visit plain data and all that is in it, which one line has set."""
        self._note(path, value, by)
        if isinstance(value, (dict, list)):
            for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
                self._below((*path, step), inner, SourcePath(by.source, (*by.path, step)))

    def _note(self, path: Path, value: Any, by: SourcePath) -> None:
        if self._ledger.marks[by.source].is_facts:
            return
        causes = causes_of(self._ledger, by, value, frozenset({path}), brief_then)
        if causes:
            self.by_mark.setdefault(by.source, {})[by.path] = causes


def _packed_cause(cause: Cause) -> dict[str, Any]:
    packed: dict[str, Any] = {"what": cause.what, **_packed_origin(cause.origin)}
    if cause.path is not None:
        packed["path"] = list(cause.path)
    return packed if cause.at is None else {**packed, "at": _packed_origin(cause.at)}


class _Sources:
    """Numbers the source files and documents that a snapshot names, so that causes can be found in them later.

    table: [file, digest] of each by number; the digest is the name that Git gives to the content
    """

    def __init__(self, ledger: Ledger) -> None:
        self.table: list[list[str]] = []
        self._marks, self._root = ledger.marks, ledger.marks.root()
        self._numbers: dict[tuple[str, str], int] = {}
        for source in () if self._marks.saved_run is None else self._marks.saved_run.sources:
            self._number(*source)

    def _number(self, file: str, digest: str) -> int:
        if (file, digest) not in self._numbers:
            self._numbers[file, digest] = len(self.table)
            self.table.append([file, digest])
        return self._numbers[file, digest]

    def packed_code(self, locator: Any) -> dict[str, Any] | None:
        """The place of the code that a locator stands for, and its calls; None for no code of the repository."""
        locator, under = _document_locator(locator)
        if isinstance(locator, CodeLocator) and locator.kind != CALLER.kind:
            return self._code(locator.site, locator.calls)
        if isinstance(locator, SavedLocator) and locator.code is not None:
            return self._code(locator.code, locator.calls)
        line = locator.line_of(under) if hasattr(locator, "line_of") else None
        return None if line is None else {"source": self._number(locator.file, locator.text.digest), "at": [line]}

    def _code(self, site: ExpressionSite, calls: Sequence[ExpressionSite]) -> dict[str, Any] | None:
        packed = self._site(site)
        if packed and calls:
            packed["calls"] = [self._site(call) for call in calls]
        return packed or None

    def _site(self, site: ExpressionSite) -> dict[str, Any]:
        """The file and place of an expression; {} for one outside of the repository. Files that it imports get
        numbers.
        """
        packed: dict[str, Any] = {}
        file = relative(site.file, self._root)
        if isinstance(site, SavedSite):
            if site.source is not None:
                packed = {"source": self._number(*site.source), "at": [*site.at]}
        elif is_inside(file) and site.text is not None:
            at = [] if site.is_step or site.span is None else [*site.span]
            packed = {"source": self._number(file, site.text.digest), "at": at}
            for text in imported_sources(site.text, self._root):
                self._number(relative(text.file, self._root), text.digest)
        if packed and site.in_comprehension:
            packed["comprehension"] = True
        return packed

    def reads(self) -> list[dict[str, Any]]:
        """The calls of the repository that have read documents of the repository, each with these documents."""
        reads: list[tuple[ExpressionSite, Sequence[SavedDocument | None]]]
        reads = [(read.site, read.documents) for read in self._marks.saved_reads]
        for (code, offset), documents in self._marks.reads.items():
            reads.append((site_of(code, offset, None), [_saved_document(locator) for _, locator in documents.values()]))
        found = []
        for site, noted in reads:
            packed = [
                {"source": self._number(*one.source), "kind": one.kind, "name": one.name, "under": [*one.under]}
                for one in noted
                if one is not None
            ]
            place = self._site(site) if packed else {}
            if place:
                found.append({**place, "documents": packed})
        return found


def _saved_document(locator: Any) -> SavedDocument | None:
    """The document of the repository that a locator is for; None for any other document."""
    locator, under = _document_locator(locator)
    if not isinstance(locator, DocumentLocator) or not is_inside(locator.document.file):
        return None
    source = FileVersion(locator.document.file, locator.document.digest)
    return SavedDocument(source, locator.kind, locator.name, (*locator.under, *under))


def _document_locator(locator: Any) -> tuple[Any, Path]:
    """The locator of a whole document, and the path in it of the part that *locator* is for."""
    under: Path = ()
    while type(locator) is LocatorBelow:
        locator, under = locator.locator, (*locator.under, *under)
    return locator, under


class _PathsByMark:
    """For each mark of a ledger, the paths of the values that it set in some slots, and in their history.

    A snapshot keeps the line of each such path, since the documents and code may be gone later.
    covered: number of a mark -> nested maps of steps, counted as its locator counts
    used:    the numbers of marks that a slot or the history refers to
    late:    the numbers of marks that set a deferred value
    marks:   all marks by number
    """

    def __init__(self, ledger: Ledger, slots: Collection[int]) -> None:
        self.covered: dict[int, dict[Any, Any]] = {}
        self.used: set[int] = set()
        self.late: set[int] = set()
        self.marks = ledger.marks.table
        for number in slots:
            tree = ledger.trees[number]
            self._walk(tree, tree.origin, ())
        for path, _, chronicle in _chronicles_in(ledger, slots):
            for event in chronicle.events:
                self._walk(event.value, event.set_by, path)
                self._note(event.by, path)

    def _walk(self, value: Any, set_by: Any, path: Path) -> None:
        if type(set_by) is int:
            if isinstance(value, OwnedMap):
                self._note(set_by, path)
                for key, inner in value.items():
                    self._walk(inner, value.origins.get(key, value.origin), (*path, key))
            else:
                self._note(set_by, path, value)
            return
        if isinstance(set_by, ChangedListOrigins):
            for number in (*set_by.first, *set_by.later):
                self._note(number, path)
        for index, (one, element) in enumerate(zip(set_by, value, strict=False)):
            for setter in _setters(one, (*path, index)):
                self._note(setter.source, setter.path, element)

    def _note(self, number: int, path: Path, value: Any = None) -> None:
        self.used.add(number)
        if type(value) is Deferred:
            self.late.add(number)
        mark = self.marks[number]
        if mark.is_facts:
            return  # the lines of thousands of facts are not worth their room
        here = self.covered.setdefault(number, {})
        path = path[mark.depth :]
        for step in path:
            here = here.setdefault(step, {})
        if type(value) is dict or type(value) is list:
            _mirror(here, value, path, getattr(mark.locator, "has_places_below", None))


def _setters(set_by: Any, at: Path) -> Iterator[SourcePath]:
    """Yield the origins of an element and of all its parts; some come twice."""
    yield from setters_in_element(set_by, at)
    if isinstance(set_by, PatchedOrigins):
        yield from _setters(set_by.base, at)
        yield from _setters(set_by.by, (*at, *set_by.path))
    elif type(set_by) is tuple:
        for one in set_by:
            yield from _setters(one, at)
    elif type(set_by) is list:
        for index, one in enumerate(set_by):
            yield from _setters(one, (*at, index))


def _mirror(here: dict[Any, Any], value: Any, path: Path, has_places_below: Callable[[Path], bool] | None) -> None:
    """Add the steps inside a value to *here*, as far as they may have lines of their own. path: as its locator
    counts
    """
    if has_places_below is not None and not has_places_below(path):
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        below = here.setdefault(step, {})
        if isinstance(inner, (dict, list)):
            _mirror(below, inner, (*path, step), has_places_below)


def _packed_lines(mark: Mark, covered: dict[Any, Any], base: Origin, at: Path) -> list[Any]:
    """[step, line, column, lines below] for each step below *at* whose place differs from *base*, or has lines
    below.
    """
    lines = []
    for step, inner in covered.items():
        origin = mark.locator.at((*at, step))
        below = _packed_lines(mark, inner, origin, (*at, step))
        if below or (origin.line, origin.column) != (base.line, base.column):
            lines.append([step, origin.line, origin.column, below])
    return lines


def _packed_mark(mark: Mark, covered: dict[Any, Any]) -> dict[str, Any]:
    base = mark.unplaced if mark.is_facts else mark.locator.at(())  # for facts the file without a line
    over = getattr(mark.locator, "lines", None)
    lines = [] if type(mark.locator) is Origin else _packed_lines(mark, covered, base, ())
    packed = {**_packed_origin(base), "verb": mark.verb.value}
    if mark.depth:
        packed["depth"] = mark.depth
    if mark.is_facts:
        packed["bulk"] = True
    if isinstance(mark.locator, SavedLocator) and mark.locator.is_earlier:
        packed["earlier"] = True
    if lines:
        packed["lines"] = lines
    if over is not None and (over.first, over.last) != (base.line, base.line):
        packed["over"] = [over.first, over.last]
    return packed


# --- trees as data ---------------------------------------------------------------------


# Trees of a snapshot. A map is {"m": [[key, entry], ...]}, so that 1 and "1" stay two keys; with
# "o" its own mark, "a" whether it is assigned; an entry is [key, value] or [key, value, mark].
# A list is {"l": [...]}; a scalar stands for itself. A map that was set as a whole and is JSON through
# and through is {"j": itself}: so facts stand in a snapshot as they do in a node document.


def packed(value: Any, evaluate: bool = True, whole: bool = True) -> Any:
    """A copy of a value of a slot in the form of a snapshot; `restore_ledger` reads it. Secrets are left out.

    JSON scalars are themselves; maps, lists and other values are maps with one letter as their key: "m", "j", "l", ...
    evaluate: True computes deferred values, and keeps the reason if one fails; False keeps only the text of their
              `repr`
    whole:    True: a map with nothing but JSON in it is packed as one; False skips that check
    """
    if isinstance(value, dict):
        if whole and type(value) is dict and is_json(value):
            return {"j": copied(value)}
        return _packed_map(value, evaluate)
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(inner if type(inner) in SCALARS else packed(inner, evaluate, whole))
        return {"l": items}
    if isinstance(value, (Sensitive, Withheld)):
        return {"s": "withheld"}
    if isinstance(value, Deferred):
        return _packed_deferred(value) if evaluate else {"d": repr(value)}
    return {"y": str(value)} if type(value) is Symbol else value


def _packed_map(
    value: dict[Any, Any], evaluate: bool = True, settled: Mapping[Any, Any] = NO_ENTRIES
) -> dict[str, Any]:
    """A map, packed entry by entry. settled: key -> value of entries that are JSON, which are not copied"""
    owned = value if isinstance(value, OwnedMap) else None
    origins = NO_ENTRIES if owned is None else owned.origins
    pairs = []
    for key, inner in value.items():
        if type(inner) in SCALARS:
            pair = [key, inner]
        elif type(inner) is dict and settled.get(key) is inner:
            pair = [key, {"j": inner}]
        else:
            pair = [key, packed(inner, evaluate, owned is not None)]
        if key in origins:
            pair.append(_packed_set_by(origins[key]))
        pairs.append(pair)
    whole: dict[str, Any] = {"m": pairs}
    if owned is not None:
        whole["o"] = owned.origin
        if isinstance(owned, AssignedMap):
            whole["a"] = True
    return whole


def _packed_deferred(value: Deferred) -> dict[str, Any]:
    came = computed_or_failure(value, ())
    failed = came.get(FAILED) if isinstance(came, dict) else None
    return {"d": packed(json_ready(came))} if failed is None else {"f": failed}


def _packed_set_by(set_by: Any) -> Any:
    """The origin of an entry: a number, or for a list an array with a number or a map ("at", "all", "in") for each
    element.

    For a list that was changed in place a map: the array is "of", its first marks "begun", the later ones "steps".
    """
    if isinstance(set_by, ChangedListOrigins):
        return {"of": [_packed_set_by(one) for one in set_by], "begun": list(set_by.first), "steps": list(set_by.later)}
    if isinstance(set_by, list):
        return [_packed_set_by(one) for one in set_by]
    if isinstance(set_by, SourcePath):
        return {"at": [set_by.source, list(set_by.path)]}
    if isinstance(set_by, PatchedOrigins):
        return {"in": [_packed_set_by(set_by.base), list(set_by.path), _packed_set_by(set_by.by)]}
    if isinstance(set_by, tuple):
        return {"all": [_packed_set_by(one) for one in set_by]}
    return set_by


def _packed_history(ledger: Ledger, slots: Collection[int]) -> list[list[Any]]:
    """A row for each chronicle of some slots: [path, slot, number of dropped events, events]."""
    return [
        [
            list(path),
            slot,
            chronicle.dropped,
            [[one.what, packed(one.value, False), _packed_set_by(one.set_by), one.by] for one in chronicle.events],
        ]
        for path, slot, chronicle in _chronicles_in(ledger, slots)
    ]


def _packed_unknown(ledger: Ledger, slots: Collection[int]) -> Iterator[list[Any]]:
    """A row for each unknown layer of some slots: [slot, name, reason, origin], and [[path, line], ...] where known."""
    for slot in sorted(slots & ledger.unknown.keys()):
        for layer in ledger.unknown[slot]:
            row = [slot, layer.value.name, layer.value.reason, _packed_origin(layer.origin.at(()))]
            if layer.value.lines is not None:
                row.append([[list(path), line] for path, line in layer.value.lines.items()])
            yield row


def _chronicles_in(ledger: Ledger, slots: Collection[int]) -> Iterator[tuple[Path, int, Chronicle]]:
    """Yield (path, slot, chronicle) for each chronicle of some slots."""
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if slot in slots:
                yield path, slot, chronicle


def _packed_origin(origin: Origin) -> dict[str, Any]:
    """An origin as a map of its fields, without those that are None or ""."""
    return {name: value for name, value in origin._asdict().items() if value is not None and value != ""}

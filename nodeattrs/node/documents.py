"""A node as documents: Chef's node JSON, and the snapshot with all fifteen slots.

Both are plain data here; files and stores are somebody else's affair. Chef's form
combines the levels and so loses who set what; the snapshot keeps slots, marks and history.
Neither ever holds a secret: a marker stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from nodeattrs.core.claim import UNKNOWN, Origin
from nodeattrs.core.origins import At, Patched
from nodeattrs.core.tree import ABSENT, SCALARS, Path, copied, is_json
from nodeattrs.errors import DeferredCycle, ValueWithheld
from nodeattrs.node.history import Chronicle
from nodeattrs.node.joined import plain, rooted
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, Worked, setters
from nodeattrs.node.setters import CodeLocator, Mark, packed_origin
from nodeattrs.node.slot_names import CHEF_RULES
from nodeattrs.node.slots import DEFAULT_GROUP, NORMAL_GROUP, OVERRIDE_GROUP, SLOTS
from nodeattrs.node.values import MARKER, Deferred, Sensitive, Symbol, Withheld
from nodeattrs.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodeattrs.node.kept_causes import Kept

LEVELS = ("automatic", "normal", "default", "override")
"""The levels of Chef's node JSON, in its order."""

FORMAT = "nodeattrs-snapshot"
VERSION = 3
"""Version 1 had no plain maps ("j"), version 2 not who worked on a list ("of"); both are still read."""


def json_ready(value: Any, path: Path = ()) -> Any:
    """A copy for JSON: deferred values are computed, secrets become the marker, keys and symbols text.

    Of the keys 1 and "1" in one map the last one is kept, as in Chef: `node.json_keys` warns of them.
    raises: DeferredCycle
    """
    # Loops, here and below: a comprehension takes a second frame a level on CPython 3.11.
    if isinstance(value, dict):
        document = {}
        for key, inner in value.items():
            document[str(key)] = inner if type(inner) in SCALARS else json_ready(inner, (*path, key))
        return document
    if isinstance(value, list):
        items = []
        for index, inner in enumerate(value):
            items.append(inner if type(inner) in SCALARS else json_ready(inner, (*path, index)))
        return items
    if isinstance(value, Deferred):
        return json_ready(_computed(value, path), path)
    if isinstance(value, (Sensitive, Withheld)):
        return dict(MARKER)
    return str(value) if type(value) is Symbol else value


_FAILED = "$deferred"
_NOTHING: Mapping[Any, Any] = {}
_FACTS = next(slot.number for slot in SLOTS if slot.source == "facts")


def _computed(value: Deferred, path: Path) -> Any:
    """What a deferred value comes to; one that fails leaves word of it, since it may be one that nobody reads.

    raises: DeferredCycle
    """
    try:
        return value.evaluate(path)
    except DeferredCycle:
        raise
    except ValueWithheld as error:
        return {_FAILED: "; ".join(error.details) or error.message}
    except Exception as error:
        return {_FAILED: f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")}


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


@cache
def meet_yaml(kinds: tuple[type, ...]) -> None:
    """Let PyYAML, which somebody else has imported, write these as `json_default` has them."""
    import yaml

    for name in ("SafeDumper", "CSafeDumper", "Dumper", "CDumper"):
        for kind in kinds if hasattr(yaml, name) else ():
            getattr(yaml, name).add_multi_representer(kind, _represented)


def _represented(dumper: Any, value: Any) -> Any:
    return dumper.represent_data(json_default(value))


def chef_document(
    ledger: Ledger, name: str, environment: str, run_list: Sequence[str], shared: bool = False
) -> dict[str, Any]:
    """Chef's node JSON as data; see `Node.to_chef`."""
    levels = _chef_levels(ledger, shared)
    rules = [rule.to_dict() for rule in ledger.rules]
    return {
        "name": name,
        "chef_environment": environment,
        "json_class": "Chef::Node",
        "automatic": levels["automatic"],
        "normal": levels["normal"],
        "chef_type": "node",
        "default": levels["default"],
        "override": levels["override"],
        "run_list": list(run_list),
        **({CHEF_RULES: rules} if rules else {}),
    }


_GROUPS = {"normal": NORMAL_GROUP, "default": DEFAULT_GROUP, "override": OVERRIDE_GROUP}


def _chef_levels(ledger: Ledger, shared: bool) -> dict[str, dict[str, Any]]:
    with ledger.lock:
        facts = dict(ledger.trees[15])
        settled = ledger.settled if shared and all(type(key) is str for key in facts) else _NOTHING
        kept = {key: value for key, value in facts.items() if value is settled.get(key, ABSENT)}
        rest = plain({key: value for key, value in facts.items() if key not in kept}, False)
        groups = {level: ledger.plan(group) for level, group in _GROUPS.items()} if ledger.rules else _GROUPS
        trees = {level: plain(rooted(ledger.trees, group), False) for level, group in groups.items()}
    whole = {**json_ready(rest), **kept}
    return {
        "automatic": {str(key): whole[str(key)] for key in facts},
        **{level: json_ready(tree) for level, tree in trees.items()},
    }


# Trees of a snapshot. A map is {"m": [[key, entry], ...]}, so that 1 and "1" stay two keys; with
# "o" its own mark, "a" whether it is assigned; an entry is [key, value] or [key, value, mark].
# A list is {"l": [...]}; a scalar stands for itself. A map that was set as a whole and is JSON through
# and through is {"j": itself}: so facts stand in a snapshot as they do in a node document.


def _packed(value: Any, evaluate: bool = True, whole: bool = True) -> Any:
    """A part of a tree. whole: False for what stands in a map that is not JSON, so that nothing is looked at twice."""
    if isinstance(value, dict):
        if whole and type(value) is dict and is_json(value):
            return {"j": copied(value)}
        return _packed_map(value, evaluate)
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(inner if type(inner) in SCALARS else _packed(inner, evaluate, whole))
        return {"l": items}
    if isinstance(value, (Sensitive, Withheld)):
        return {"s": "withheld"}
    if isinstance(value, Deferred):
        return _packed_deferred(value) if evaluate else {"d": repr(value)}
    return {"y": str(value)} if type(value) is Symbol else value


def _packed_map(value: dict[Any, Any], evaluate: bool = True, settled: Mapping[Any, Any] = _NOTHING) -> dict[str, Any]:
    """A map entry by entry. settled: entries that are JSON for certain, which are not copied"""
    owned = value if isinstance(value, OwnedMap) else None
    origins = _NOTHING if owned is None else owned.origins
    pairs = []
    for key, inner in value.items():
        if type(inner) in SCALARS:
            pair = [key, inner]
        elif type(inner) is dict and settled.get(key) is inner:
            pair = [key, {"j": inner}]
        else:
            pair = [key, _packed(inner, evaluate, owned is not None)]
        if key in origins:
            pair.append(_packed_whose(origins[key]))
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


def _packed_whose(whose: Any) -> Any:
    """A number, or for a list an array of elements: a number, or tagged "at", "all" or "in".

    One that was worked on in place has its array under "of", and beside it who set and who worked on it.
    """
    if isinstance(whose, Worked):
        return {"of": [_packed_whose(one) for one in whose], "begun": list(whose.begun), "steps": list(whose.steps)}
    if isinstance(whose, list):
        return [_packed_whose(one) for one in whose]
    if isinstance(whose, At):
        return {"at": [whose.source, list(whose.path)]}
    if isinstance(whose, Patched):
        return {"in": [_packed_whose(whose.base), list(whose.path), _packed_whose(whose.by)]}
    if isinstance(whose, tuple):
        return {"all": [_packed_whose(one) for one in whose]}
    return whose


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
        for path, _, chronicle in _chronicles(ledger, slots):
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


def snapshot_document(
    ledger: Ledger, name: str, environment: str, run_list: Sequence[str], shared: bool = False
) -> dict[str, Any]:
    """The snapshot of a node as JSON-able data; see `Node.snapshot`."""
    with ledger.lock:
        slots = snapshot_ledger(ledger, ledger.settled if shared else _NOTHING)
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
    ledger: Ledger, settled: Mapping[Any, Any] = _NOTHING, only: Iterable[int] = range(1, len(SLOTS) + 1)
) -> dict[str, Any]:
    """The fifteen slots, the marks, the history and what is unknown as JSON-able data; marks may be shared.

    settled: what stands in the slot of facts and is JSON, entry by entry: it is not copied
    only:    the slots that are wanted; the others come out empty, without history
    """
    wanted = frozenset(only)
    history = [
        [list(path), slot, chronicle.dropped, [_packed_event(*event) for event in (chronicle.first, *chronicle.last)]]
        for path, slot, chronicle in _chronicles(ledger, wanted)
    ]
    slots, marks = _packed_slots(ledger, wanted, settled, history)
    return {
        "slots": slots,
        "marks": marks,
        "history": history,
        **({"unknown": unknown} if (unknown := list(_packed_unknown(ledger, wanted))) else {}),
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
    facts = _packed_map(ledger.trees[_FACTS if _FACTS in wanted else 0], settled=settled)
    look, is_compared = None, len(wanted) == len(SLOTS) and not ledger.rules and not ledger.unknown
    others: list[Any] = begun.alike.get(standing, []) if begun is not None and is_compared else []
    if others:
        from nodeattrs.node.alike import Look

        look = Look(ledger, facts, history)
        for one in others:
            alike: tuple[dict[str, Any], list[Any]] | None = one.marks(look, (_packed, _packed_whose), _known_mark)
            if alike is not None:
                return {**alike[0], str(_FACTS): facts}, alike[1]
    slots = {
        str(slot.number): _packed_map(ledger.trees[slot.number if slot.number in wanted else 0])  # which is empty
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
        from nodeattrs.node.alike import MOST, Alike, Look

        look = look or Look(ledger, facts, history)
        known = Alike(look, slots, standing, marks, reach.covered, reach.used, kept)
        begun.alike[standing] = [known, *others[: MOST - 1]]
    return slots, marks


def _packed_unknown(ledger: Ledger, slots: Collection[int]) -> Iterator[list[Any]]:
    """Each layer that cannot be read: its slot, name and reason, and who it is of."""
    for slot in sorted(slots & ledger.unknown.keys()):
        for layer in ledger.unknown[slot]:
            yield [slot, layer.value.name, layer.value.reason, packed_origin(layer.origin.at(()))]


def _blank() -> dict[str, Any]:
    return {"kind": UNKNOWN.kind}


def _reached(ledger: Ledger, slots: Collection[int]) -> tuple[_Reach, Kept | None]:
    """What the marks are asked for in some slots, and the causes of what they have set; None where none are kept."""
    reach = _Reach(ledger, slots)
    asked = {number for number in reach.used if reach.marks[number].is_kept}
    if not asked:
        return reach, None
    from nodeattrs.node.kept_causes import kept  # it reads sources

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


def _chronicles(ledger: Ledger, slots: Collection[int]) -> Iterator[tuple[Path, int, Chronicle]]:
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if slot in slots:
                yield path, slot, chronicle


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


def _packed_event(what: str, value: Any, whose: Any, by: int) -> list[Any]:
    return [what, _packed(value, evaluate=False), _packed_whose(whose), by]

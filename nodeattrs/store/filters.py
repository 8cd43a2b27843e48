"""Allow and block lists: which attributes a saved node keeps, in its document and in its snapshot.

An entry is text, split at slashes ("network/interfaces/eth0"), or a list of keys, for keys with slashes (["filesystem",
"/dev/sda1"]). There are no wildcards. No argument is changed, so the live node keeps all.

In a snapshot, each slot and its history are cut by the lists of the slot's level. So no blocked value is left, and the
slots still merge to the document. Only this module, `node.snapshots` and `node.restoring` know the form of a
snapshot. Stores and files are not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.core.tree import Path, copied, near, spell
from nodeattrs.errors import BadArgument, TypeConflict
from nodeattrs.node.node import Node
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.snapshots import packed

Entry = str | Sequence[str | int]
Lists = Mapping[str, Iterable[Entry] | None]
Tree = dict[Any, Any]

_SHAPE = 'write a list such as ["network/interfaces", ["filesystem", "/dev/sda1"]]'

LEVELS = ("automatic", "default", "normal", "override")
"""The levels of Chef's node document; each may have an allow list and a block list."""


def allowed(tree: Tree, entries: Iterable[Entry]) -> Tree:
    """A copy of *tree* with only the attributes that *entries* name, in the order of the entries.

    An entry whose key is missing leaves the empty maps above it. An empty list keeps nothing.

    cost:   one copy of what is kept
    raises: TypeConflict, where an entry leads into a value that is not a map;
            BadArgument, for an entry that is neither a text nor a sequence of keys

    >>> allowed({"cpu": {"total": 2, "mhz": 9}, "fqdn": "a"}, ["fqdn", "cpu/total", "cpu/cache/l2"])
    {'fqdn': 'a', 'cpu': {'total': 2}}
    """
    return _allowed(tree, entries, "attributes")


def blocked(tree: Tree, entries: Iterable[Entry]) -> Tree:
    """A copy of *tree* without the attributes that *entries* name; maps that become empty stay.

    An entry removes nothing if it leads into null, false, or a text without the next key (Chef's rule).
    cost:   one copy of the tree
    raises: TypeConflict, where an entry leads into another value that is not a map;
            BadArgument, for an entry that is neither a text nor a sequence of keys

    >>> blocked({"cpu": {"total": 2}, "fqdn": "a"}, ["cpu/total", "kernel/name"])
    {'cpu': {}, 'fqdn': 'a'}
    """
    return _blocked(tree, entries, "attributes")


@checked_args(node="to_chef", allow=Mapping | None, block=Mapping | None)
def saved_document(
    node: Node, allow: Lists | None = None, block: Lists | None = None, *, shared: bool = False
) -> dict[str, Any]:
    """The node document in Chef's form, with only the attributes that the lists allow and do not block.

    allow, block: level -> entries; a level without a list, or with None, is kept whole
    shared:       True: facts in it may be the node's own objects, so that nothing in it may be changed
    raises:       BadArgument, for an unknown level or a bad entry; TypeConflict, if an entry leads into a value that is
                  not a map
    """
    allow, block = _lists_by_level(allow, "allow"), _lists_by_level(block, "block")
    document: dict[str, Any] = node.to_chef(shared=shared)
    for level in LEVELS:
        if level in allow:
            document[level] = _allowed(document[level], allow[level], f"{level} attributes")
        if level in block:
            document[level] = _blocked(document[level], block[level], f"{level} attributes")
    return document


def _lists_by_level(lists: Lists | None, which: str) -> dict[str, Iterable[Entry]]:
    """The lists of a setting without those that are None; {} for None.

    which:  "allow" or "block", for messages
    raises: BadArgument, where *lists* is not a map, or names a level that can have no list
    """
    if not isinstance(lists, Mapping | None):
        raise BadArgument(
            f"the {which} lists are a map of levels, not {type(lists).__name__}",
            hint='write {"automatic": ["network/interfaces"]}',
        )
    for level in lists or ():
        if level not in LEVELS:
            close = near(level, LEVELS)
            raise BadArgument(
                f"the {which} lists name the level {level!r}, which has none",
                hint=f"did you mean {close[0]}?" if close else f"levels with lists: {', '.join(LEVELS)}",
            )
    return {level: entries for level, entries in (lists or {}).items() if entries is not None}


def _allowed(tree: Tree, entries: Iterable[Entry], what: str) -> Tree:
    out: Tree = {}
    where = f"allow list of the {what}"
    for entry, keys in _entries(entries, where):
        source, target = tree, out
        for depth, key in enumerate(keys[:-1]):
            if key not in _map(source, keys[:depth], entry, where):
                break
            source, target = source[key], target.setdefault(key, {})
        else:
            if keys and keys[-1] in _map(source, keys[:-1], entry, where):
                target[keys[-1]] = copied(source[keys[-1]])
    return out


def _blocked(tree: Tree, entries: Iterable[Entry], what: str) -> Tree:
    out: Tree = copied(tree)
    where = f"block list of the {what}"
    for entry, keys in _entries(entries, where):
        part: Any = out
        for depth, key in enumerate(keys[:-1]):
            if isinstance(part, str) and isinstance(key, str):
                part = key if key in part else None
            else:
                part = _map(part, keys[:depth], entry, where).get(key)
            if part is None or part is False:
                break
        else:
            if keys:
                _map(part, keys[:-1], entry, where).pop(keys[-1], None)
    return out


def _keys(entry: Entry, where: str) -> Path:
    if isinstance(entry, str):
        parts = entry.split("/")
        while parts and not parts[-1]:
            parts.pop()
        return tuple(parts[1:] if parts and not parts[0] else parts)
    if isinstance(entry, list | tuple) and all(type(key) in (str, int) for key in entry):
        return tuple(entry)
    raise BadArgument(f"the {where} has an entry that is neither text nor a list of keys: {entry!r}", hint=_SHAPE)


def _entries(entries: Iterable[Entry], where: str) -> Iterator[tuple[Entry, Path]]:
    """Yield (entry, keys) for each entry of a list; keys are () for "" and "/".

    where:  the name of the list in messages
    raises: BadArgument, for what is not a list, and for an entry that is neither text nor keys
    """
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise BadArgument(f"the {where} is not a list of entries: {entries!r}", hint=_SHAPE)
    for entry in entries:
        yield entry, _keys(entry, where)


def _map(part: Any, path: Path, entry: Entry, where: str) -> Tree:
    if isinstance(part, dict):
        return part
    # The message does not show the value: such lists are for values that should not be seen.
    raise TypeConflict(
        f"{spell(path)} is {_kind(part)}, not a map, so nothing inside it can be named",
        path=path,
        details=[f"the {where} names {entry!r}"],
        hint="name all of it, or take the entry away" if path else None,
    )


def _kind(part: Any) -> str:
    match part:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
    return type(part).__name__


Packed = Any
"""A value in the form of a snapshot."""
Names = Any
"""The part of a list below one path: True where it names all of it, else key as text -> Names; {} for nothing."""

_WITHHELD = {"s": "withheld"}
_UNKNOWN = 0


@checked_args(snapshot=dict, allow=dict | None, block=dict | None)
def filtered_snapshot(
    snapshot: dict[str, Any], allow: Lists | None = None, block: Lists | None = None
) -> dict[str, Any]:
    """A snapshot with only the attributes that the lists allow and do not block. *snapshot* is not changed.

    Unchanged parts of it are shared. An entry of an allow list may lead into a value that is not a map. This value
    becomes "withheld", and still overrides weaker slots. Marks that no kept value refers to become blank. Lines of
    removed keys are removed.
    allow, block: level -> entries; a level without a list, or with None, is kept whole
    cost:         one visit of each map and list; none without lists
    raises:       BadArgument, for an unknown level or a bad entry
    """
    allow, block = _lists_by_level(allow, "allow"), _lists_by_level(block, "block")
    if not allow and not block:
        return dict(snapshot)
    lists = _by_slot(allow, block)
    slots = {number: _cut(tree, *lists[int(number)]) for number, tree in snapshot["slots"].items()}
    history = [cut for chronicle in snapshot["history"] for cut in _cut_chronicle(chronicle, *lists[chronicle[1]])]
    numbers, keys = _named_in(slots, history)
    marks = [_mark(mark, keys) if number in numbers else {**_BLANK} for number, mark in enumerate(snapshot["marks"])]
    return snapshot | {"slots": slots, "marks": marks, "history": history}


_BLANK = {"kind": "unknown"}


def _by_slot(allow: dict[str, Iterable[Entry]], block: dict[str, Iterable[Entry]]) -> dict[int, tuple[Names, Names]]:
    """Number of a slot -> (names that are allowed, names that are blocked) in it."""
    allowed = {level: _names(entries, f"allow list of the {level} attributes") for level, entries in allow.items()}
    blocked = {level: _names(entries, f"block list of the {level} attributes") for level, entries in block.items()}
    levels = {slot.number: slot.level.removeprefix("force_") for slot in SLOTS}
    return {number: (allowed.get(level, True), blocked.get(level, {})) for number, level in levels.items()}


def _names(entries: Iterable[Entry], where: str) -> Names:
    names: Names = {}
    for _, keys in _entries(entries, where):
        here = names
        for key in keys[:-1]:
            here = here.setdefault(key, {})
            if here is True:
                break
        else:
            if keys:
                here[keys[-1]] = True
    return names


def _below(names: Names, step: str | int) -> Names:
    # Lists are compared with keys as text, since the keys of a document are text.
    return True if names is True else names.get(str(step), {})


def _cut(packed: Packed, allow: Names, block: Names) -> Packed:
    if allow is True and not block:
        return packed
    if isinstance(packed, dict) and "d" in packed:
        return {"d": _cut(packed["d"], allow, block)}
    if isinstance(packed, dict) and "j" in packed:
        packed = {"m": _entries_of_plain(packed["j"])}
    if not isinstance(packed, dict) or "m" not in packed:
        return packed if allow is True else _WITHHELD
    pairs = []
    for key, value, *whose in packed["m"]:
        inner_allow, inner_block = _below(allow, key), _below(block, key)
        if inner_allow and inner_block is not True:
            cut = _cut(value, inner_allow, inner_block)
            pairs.append([key, cut, *(_whose_of(cut, one) for one in whose)])
    return packed | {"m": pairs}


def _entries_of_plain(tree: dict[str, Any]) -> list[list[Any]]:
    """The packed entries of a map that was packed as a whole."""
    return [[key, {"j": value} if isinstance(value, dict) else packed(value)] for key, value in tree.items()]


def _whose_of(cut: Packed, whose: Any) -> Any:
    """The packed origin of a value after the cut; unknown if it was an origin for each element of a withheld list."""
    by_element = isinstance(whose, list) or (isinstance(whose, dict) and "of" in whose)
    return _UNKNOWN if cut is _WITHHELD and by_element else whose


def _cut_chronicle(chronicle: list[Any], allow: Names, block: Names) -> Iterator[list[Any]]:
    """Yield the packed chronicle of one path of one slot, cut; nothing where the path is not kept."""
    path, slot, dropped, events = chronicle
    for step in path:
        allow, block = _below(allow, step), _below(block, step)
        if not allow or block is True:
            return
    kept = []
    for what, value, whose, by in events:
        cut = _cut(value, allow, block)
        kept.append([what, cut, _whose_of(cut, whose), by])
    yield [path, slot, dropped, kept]


def _mark(mark: dict[str, Any], keys: set[Any]) -> dict[str, Any]:
    kept = dict(mark)
    if "lines" in mark:
        kept["lines"] = _lines(mark["lines"], keys)
    if "causes" in mark:
        known = [(path, {step for step in path if not isinstance(step, int)}, found) for path, found in mark["causes"]]
        kept["causes"] = [[path, found] for path, steps, found in known if steps <= keys]
    return kept


def _named_in(slots: dict[str, Packed], history: list[Any]) -> tuple[set[int], set[Any]]:
    """Returns (numbers, keys): the marks that slots and history refer to, and all keys in them."""
    numbers: set[int] = {_UNKNOWN}
    keys: set[Any] = set()
    for tree in slots.values():
        _collect(tree, numbers, keys)
    for path, _, _, events in history:
        keys.update(path)
        for _, value, whose, by in events:
            _collect(value, numbers, keys)
            _collect_whose(whose, numbers, keys)
            numbers.add(by)
    return numbers, keys


def _collect(packed: Packed, numbers: set[int], keys: set[Any]) -> None:
    if not isinstance(packed, dict):
        return
    if "o" in packed:
        numbers.add(packed["o"])
    for key, value, *whose in packed.get("m", ()):
        keys.add(key)
        _collect(value, numbers, keys)
        for one in whose:
            _collect_whose(one, numbers, keys)
    for element in packed.get("l", ()):
        _collect(element, numbers, keys)
    _collect(packed.get("d"), numbers, keys)
    _collect_plain(packed.get("j"), keys)


def _collect_plain(tree: Any, keys: set[Any]) -> None:
    if isinstance(tree, dict):
        keys.update(tree)
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        _collect_plain(inner, keys)


def _collect_whose(whose: Any, numbers: set[int], keys: set[Any]) -> None:
    for number, path in _marks_in(whose):
        numbers.add(number)
        keys.update(path)


def _marks_in(whose: Any) -> Iterator[tuple[int, Path]]:
    """Yield (mark number, path) for each mark in a packed origin."""
    if isinstance(whose, list):
        for one in whose:
            yield from _marks_in(one)
    elif isinstance(whose, dict):
        for tag, inner in whose.items():
            if tag == "at":
                yield inner[0], tuple(inner[1])
            elif tag == "in":
                yield from _marks_in([inner[0], inner[2]])
            else:
                yield from _marks_in(inner)
    else:
        yield whose, ()


def _lines(lines: list[Any], keys: set[Any]) -> list[Any]:
    # Indexes of lists are kept, since they tell nothing.
    return [
        [step, line, column, _lines(below, keys)]
        for step, line, column, below in lines
        if isinstance(step, int) or step in keys
    ]

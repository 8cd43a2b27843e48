"""Which attributes a saved node keeps: allow and block lists.

Trees in, trees out; what was given is never changed, so saving leaves the live
node alone (in Chef a block list deletes from it). Knows no files and no stores.

An entry is text, split at slashes ("network/interfaces/eth0"), or a list of keys,
for keys that hold slashes (["filesystem", "/dev/sda1"]). There are no wildcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodeattrs.core.borders import taking
from nodeattrs.core.tree import copied, near, spell
from nodeattrs.errors import BadArgument, Path, TypeConflict
from nodeattrs.node.node import Node

Entry = str | Sequence[str | int]
Lists = Mapping[str, Iterable[Entry] | None]
Tree = dict[Any, Any]

_SHAPE = 'write a list such as ["network/interfaces", ["filesystem", "/dev/sda1"]]'

LEVELS = ("automatic", "default", "normal", "override")
"""The levels that have lists of their own: what Chef saves a node in."""


def allowed(tree: Tree, entries: Iterable[Entry]) -> Tree:
    """A copy of *tree* that holds only what *entries* name.

    Keys come in the order of the list. Parents of something absent stay, empty; an
    empty list keeps nothing.

    cost:   one copy of what is kept
    raises: TypeConflict, where an entry leads into something that is no map;
            BadArgument, where an entry is neither text nor keys

    >>> allowed({"cpu": {"total": 2, "mhz": 9}, "fqdn": "a"}, ["fqdn", "cpu/total", "cpu/cache/l2"])
    {'fqdn': 'a', 'cpu': {'total': 2}}
    """
    return _allowed(tree, entries, "attributes")


def blocked(tree: Tree, entries: Iterable[Entry]) -> Tree:
    """A copy of *tree* without what *entries* name; parents stay, even empty.

    cost:   one copy of the tree
    raises: as `allowed`; but null and false on the way end an entry in peace, and so
            does text that does not contain the next key (Chef's rule, kept as it is)

    >>> blocked({"cpu": {"total": 2}, "fqdn": "a"}, ["cpu/total", "kernel/name"])
    {'cpu': {}, 'fqdn': 'a'}
    """
    return _blocked(tree, entries, "attributes")


@taking(node="to_chef", allow=Mapping | None, block=Mapping | None)
def saved_document(
    node: Node, allow: Lists | None = None, block: Lists | None = None, *, shared: bool = False
) -> dict[str, Any]:
    """The node document in Chef's form that a save keeps: first the allow lists, then the block lists.

    allow, block: level -> entries; a level without a list, or with None, is kept whole.
                  The default and override levels are filtered as they are combined.
    shared:       as for `Node.to_chef`
    raises:       BadArgument for a level that has no lists; TypeConflict as `allowed`
    """
    allow, block = lists_by_level(allow, "allow"), lists_by_level(block, "block")
    document: dict[str, Any] = node.to_chef(shared=shared)
    for level in LEVELS:
        if level in allow:
            document[level] = _allowed(document[level], allow[level], f"{level} attributes")
        if level in block:
            document[level] = _blocked(document[level], block[level], f"{level} attributes")
    return document


def lists_by_level(lists: Lists | None, which: str) -> dict[str, Iterable[Entry]]:
    """The lists that are set. raises: BadArgument for a level that has none, and for what is no map of levels"""
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
    for entry, keys in entries_of(entries, f"allow list of the {what}"):
        source, target = tree, out
        for depth, key in enumerate(keys[:-1]):
            if key not in _map(source, keys[:depth], entry):
                break
            source, target = source[key], target.setdefault(key, {})
        else:
            if keys and keys[-1] in _map(source, keys[:-1], entry):
                target[keys[-1]] = copied(source[keys[-1]])
    return out


def _blocked(tree: Tree, entries: Iterable[Entry], what: str) -> Tree:
    out: Tree = copied(tree)
    for entry, keys in entries_of(entries, f"block list of the {what}"):
        part: Any = out
        for depth, key in enumerate(keys[:-1]):
            if isinstance(part, str) and isinstance(key, str):
                part = key if key in part else None
            else:
                part = _map(part, keys[:depth], entry).get(key)
            if part is None or part is False:
                break
        else:
            if keys:
                _map(part, keys[:-1], entry).pop(keys[-1], None)
    return out


class _Entry(NamedTuple):
    """An entry as it was written, and the list that it stands in."""

    text: Entry
    where: str

    def keys(self) -> Path:
        text = self.text
        if isinstance(text, str):
            parts = text.split("/")
            while parts and not parts[-1]:
                parts.pop()
            return tuple(parts[1:] if parts and not parts[0] else parts)
        if isinstance(text, list | tuple) and all(type(key) in (str, int) for key in text):
            return tuple(text)
        raise BadArgument(
            f"the {self.where} has an entry that is neither text nor a list of keys: {text!r}", hint=_SHAPE
        )


def entries_of(entries: Iterable[Entry], where: str) -> Iterator[tuple[_Entry, Path]]:
    """The entries of the list *where*, each with its keys. raises: BadArgument"""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise BadArgument(f"the {where} is no list of entries: {entries!r}", hint=_SHAPE)
    for text in entries:
        entry = _Entry(text, where)
        yield entry, entry.keys()


def _map(part: Any, path: Path, entry: _Entry) -> Tree:
    if isinstance(part, dict):
        return part
    # What stands there is not shown: these lists exist for what should not be seen.
    raise TypeConflict(
        f"{spell(path)} is {_kind(part)}, not a map, so nothing inside it can be named",
        path=path,
        details=[f"the {entry.where} names {entry.text!r}"],
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

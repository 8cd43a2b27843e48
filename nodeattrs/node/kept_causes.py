"""Where values come from, as a snapshot keeps it: found while sources and documents are there, asked for later.

A mark's causes stand beside its lines: `[[path, [cause, ...]], ...]`, the path as it is in the slot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.origins import At, Origins, Patched
from nodeattrs.core.tree import Path, dig
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import OwnedMap, Whose, last_word, setters
from nodeattrs.node.node_trace import causes_of
from nodeattrs.typed import Any

_PLACE = ("kind", "name", "file", "line", "column")


def kept(ledger: Ledger, slots: Collection[int], asked: Collection[int]) -> dict[int, list[list[Any]]]:
    """By number of a mark, the causes of what it has set in some slots.

    asked: the marks of those that are kept
    cost:  a look at every value that these have set
    """
    found: dict[int, list[list[Any]]] = {}
    for number in slots:
        tree = ledger.trees[number]
        for path, value, by in _values(tree, tree.origin, (), asked):
            if causes := causes_of(ledger, by, value, frozenset({path}), kept=True):
                found.setdefault(by.source, []).append([list(by.path), [_packed(one) for one in causes]])
    return found


def _values(value: Any, whose: Whose, path: Path, of: Collection[int]) -> Iterator[tuple[Path, Any, At]]:
    """Each value that some marks have set, maps and lists too, and which of the marks at which path."""
    if isinstance(value, OwnedMap):
        if isinstance(whose, int) and whose in of:
            yield path, value, At(whose, path)
        for key, inner in value.items():
            yield from _values(inner, value.origins.get(key, value.origin), (*path, key), of)
    elif isinstance(whose, int):
        if whose in of:
            yield from ((at, inner, At(whose, at)) for at, inner in _below(value, path))
    else:
        if (last := last_word(whose)) in of:
            yield path, value, At(last, path)
        for index, (inner, element) in enumerate(zip(value, whose, strict=False)):
            yield from _elements(inner, element, (*path, index), of)


def _elements(value: Any, whose: Origins, path: Path, of: Collection[int]) -> Iterator[tuple[Path, Any, At]]:
    """The same of an element: of a list that was worked on inside of it each element by whoever set that."""
    if type(whose) is Patched:
        yield from _elements(value, whose.base, path, of)
        yield from _elements(dig(value, whose.path), whose.by, (*path, *whose.path), of)
    elif type(whose) is list:
        for index, (inner, one) in enumerate(zip(value, whose, strict=False)):
            yield from _elements(inner, one, (*path, index), of)
    else:
        for by in setters(whose, path):
            for below, part in _below(value, ()) if by.source in of else ():
                yield (*path, *below), part, At(by.source, (*by.path, *below))


def _below(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Plain data, and all that is in it."""
    yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from _below(inner, (*path, step))


def _packed(cause: Cause) -> dict[str, Any]:
    packed: dict[str, Any] = {"what": cause.what, **_place(cause.origin)}
    if cause.path is not None:
        packed["path"] = list(cause.path)
    return packed if cause.at is None else {**packed, "at": _place(cause.at)}


def _place(origin: Origin) -> dict[str, Any]:
    return {name: known for name in _PLACE if (known := getattr(origin, name)) not in (None, "")}


def read_back(packed: Any) -> dict[Path, tuple[Cause, ...]]:
    """The causes of a mark by path. raises: ValueError, KeyError, TypeError, where they are damaged"""
    return {tuple(path): tuple(map(_unpacked, causes)) for path, causes in packed}


def _unpacked(packed: dict[str, Any]) -> Cause:
    path, at = packed.get("path"), packed.get("at")
    what = packed["what"]
    if type(what) is not str:
        raise ValueError(f"{what!r} is no cause")
    return Cause(what, _origin(packed), None if path is None else tuple(path), None if at is None else _origin(at))


def _origin(packed: dict[str, Any]) -> Origin:
    texts = [packed.get(name, other) for name, other in (("kind", "unknown"), ("name", ""))]
    file, line, column = (packed.get(name) for name in ("file", "line", "column"))
    known = all(type(one) is str for one in texts) and isinstance(file, (str, type(None)))
    if not known or not {type(line), type(column)} <= {int, type(None)}:
        raise ValueError(f"{packed!r} is no place")
    return Origin(texts[0], texts[1], file, line, column)

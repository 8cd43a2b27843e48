"""Where values come from, as a snapshot keeps it: found while sources and documents are there, asked for later.

A mark's causes stand beside its lines: `[[path, [cause, ...]], ...]`, the path as it is in the slot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.origins import At
from nodeattrs.core.tree import Path
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import OwnedMap, Told, setters
from nodeattrs.node.node_trace import causes_of
from nodeattrs.node.setters import CALLER, CodeLocator, Mark

__all__ = ["kept", "read_back"]

_PLACE = ("kind", "name", "file", "line", "column")


def kept(ledger: Ledger, slots: Collection[int]) -> dict[int, list[list[Any]]]:
    """By number of a mark, the causes of each leaf that it has set in some slots.

    cost: a look at every leaf that the code of a run has set
    """
    found: dict[int, list[list[Any]]] = {}
    asked = {number for number, mark in enumerate(ledger.marks.all()) if _can_tell(mark)}
    for number in slots if asked else ():
        tree = ledger.trees[number]
        for path, value, by in _leaves(tree, tree.origin, (), asked):
            if causes := causes_of(ledger, by, value, frozenset({path})):
                found.setdefault(by.source, []).append([list(by.path), [_packed(one) for one in causes]])
    return found


def _can_tell(mark: Mark) -> bool:
    """Whether a locator knows causes: of code those of a run, since nobody reads a library's user's own source."""
    if isinstance(mark.locator, CodeLocator):
        return mark.locator.setter is not CALLER
    return hasattr(mark.locator, "causes")


def _leaves(value: Any, told: Told, path: Path, of: Collection[int]) -> Iterator[tuple[Path, Any, At]]:
    """Each leaf that some marks have set, with its value, and which of them at which path."""
    if isinstance(value, OwnedMap) and value:
        for key, inner in value.items():
            yield from _leaves(inner, value.origins.get(key, value.origin), (*path, key), of)
    elif isinstance(told, int):
        if told in of:
            yield from ((at, leaf, At(told, at)) for at, leaf in _below(value, path))
    elif isinstance(value, list):
        for index, (inner, element) in enumerate(zip(value, told, strict=False)):
            at = (*path, index)
            for by in setters(element, at):
                for below, leaf in _below(inner, ()) if by.source in of else ():
                    yield (*at, *below), leaf, At(by.source, (*by.path, *below))


def _below(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The leaves of plain data."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not steps or not value:
        yield path, value
        return
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

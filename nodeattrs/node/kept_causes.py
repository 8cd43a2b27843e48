"""Where values come from, as a snapshot keeps it: found while sources are there, read back by `restoring`.

A mark's causes stand beside its lines: `[[path, [cause, ...]], ...]`, the path as it is in the slot.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nodeattrs.core.claim import Cause
from nodeattrs.core.origins import At, Origins, Patched
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import SCALARS, Path, dig
from nodeattrs.node.causes import Noted, known_for_all
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, Whose, last_word, setters
from nodeattrs.node.node_trace import brief_then
from nodeattrs.node.packing import packed_origin
from nodeattrs.node.setters import CodeLocator, Looked
from nodeattrs.node.values import Sensitive, Withheld
from nodeattrs.node.why import causes_of


def kept(ledger: Ledger, slots: Collection[int], asked: Collection[int]) -> Kept:
    """The causes of what marks have set in some slots.

    asked: the marks of those that are kept
    What is the same for every node is shared with the snapshots of others.

    cost:  a look at every value that these have set; of what is the same for every node, once in a process
    """
    found = Kept(ledger, asked)
    for number in slots:
        tree, found.slot = ledger.trees[number], number
        found.walk(tree, tree.origin, ())
    return found


_REMEMBERED = SCALARS | {dict, list, OwnedMap, AssignedMap}
"""Of these, unlike of deferred values, causes are remembered; of secrets by a hash that gives nothing away."""


class Kept:
    """What is found of some marks.

    by_mark: the causes of what each has set
    notes:   by mark, what it has set: slot, path there, and path as it was set
    looked:  by mark, what was asked of the node
    slot:    where one is
    """

    def __init__(self, ledger: Ledger, asked: Collection[int]) -> None:
        self.by_mark: dict[int, list[list[Any]]] = {}
        self.notes: dict[int, list[tuple[int, Path, Path]]] = {}
        self.looked: dict[int, Looked] = {}
        self.slot = 0
        self._ledger, self._read = ledger, Noted(ledger)
        self._asked: dict[int, Any] = {}
        for number in asked:
            mark = ledger.marks[number]
            self._asked[number] = mark.locator.key if type(mark.locator) is CodeLocator else None, mark.depth

    def walk(self, value: Any, whose: Whose, path: Path) -> None:
        """Note each value that one of the marks has set, maps and lists too."""
        if isinstance(value, OwnedMap):
            if isinstance(whose, int) and whose in self._asked:
                self.note(path, value, whose, path)
            own, origins = value.origin, value.origins
            for key, inner in value.items():
                by = origins.get(key, own)
                if type(by) is not int or by in self._asked or isinstance(inner, OwnedMap):
                    self.walk(inner, by, (*path, key))
        elif isinstance(whose, int):
            if whose in self._asked:
                self._below(path, value, whose, path)
        else:
            if (last := last_word(whose)) in self._asked:
                self.note(path, value, last, path)
            for index, (inner, element) in enumerate(zip(value, whose, strict=False)):
                self._element(inner, element, (*path, index))

    def _element(self, value: Any, whose: Origins, path: Path) -> None:
        """The same of an element: of a list that was worked on inside of it each element by whoever set that."""
        if type(whose) is Patched:
            self._element(value, whose.base, path)
            self._element(dig(value, whose.path), whose.by, (*path, *whose.path))
        elif type(whose) is list:
            for index, (inner, one) in enumerate(zip(value, whose, strict=False)):
                self._element(inner, one, (*path, index))
        else:
            for by in setters(whose, path):
                if by.source in self._asked:
                    self._below(path, value, by.source, by.path)

    def _below(self, path: Path, value: Any, mark: int, own: Path) -> None:
        """Plain data, and all that is in it."""
        self.note(path, value, mark, own)
        if isinstance(value, (dict, list)):
            for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
                self._below((*path, step), inner, mark, (*own, step))

    def note(self, path: Path, value: Any, mark: int, own: Path) -> None:
        """Note the causes of what a mark has set at a path of the slot."""
        self.notes.setdefault(mark, []).append((self.slot, path, own))
        of, depth = self._asked[mark]
        known = None
        is_secret = type(value) is Sensitive
        if is_secret or type(value) is Withheld:
            self.looked.setdefault(mark, Looked()).more = True  # nobody compares it with that of another node
        if of is not None and (is_secret or type(value) in _REMEMBERED):
            plain = value.unwrap() if is_secret else value
            known = known_for_all(of, own[depth:] if len(own) >= depth else None, plain, self._read, is_secret)
        if known is None:
            self._ledger.marks.looked = self.looked.setdefault(mark, Looked())
            found = causes_of(self._ledger, At(mark, own), value, frozenset({path}), _then, kept=True)
            packed = [_packed(one) for one in found]
        else:
            if known.packed is None:
                known.packed = [_packed(one) for one in known.causes]
            packed = known.packed
        if packed:
            self.by_mark.setdefault(mark, []).append([list(own), packed])


def _then(*asked: Any) -> Trace:
    return brief_then(*asked)


def _packed(cause: Cause) -> dict[str, Any]:
    packed: dict[str, Any] = {"what": cause.what, **packed_origin(cause.origin)}
    if cause.path is not None:
        packed["path"] = list(cause.path)
    return packed if cause.at is None else {**packed, "at": packed_origin(cause.at)}

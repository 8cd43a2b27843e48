"""Maps of slots that are packed as those of another node were, but for what differs.

Two nodes that ran the same lines have maps of the same shape: what is in them is compared as bytes, all of it at once.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from nodeattrs.core.tree import Path
from nodeattrs.node.maps import OwnedMap

_EXACT = 2
"""The version of `marshal` that writes the same of equal values of the same types, and of nothing else."""
Place = tuple[int, Path]
Differs = tuple[int, Path, bool]
"""A place at which another value stands, and whether both are deferred, so that only what they come to differs."""

Pack = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Make data of a value, and of who set it."""


def exactly(value: Any) -> bytes:
    """Bytes that are the same for equal plain data of the same types, and for nothing else. raises: ValueError"""
    return marshal.dumps(value, _EXACT)


_WITH_PARTS = ("m", "l", "j")


def is_alike(one: Any, other: Any, place: Place, found: list[Differs]) -> bool:
    """Whether two trees of snapshots that differ do so in scalars alone; where they do is *found*."""
    tag, its = (next((tag for tag in _WITH_PARTS if type(tree) is dict and tag in tree), "") for tree in (one, other))
    if not tag and not its:
        found.append((*place, _is_deferred(one) and _is_deferred(other)))
        return True
    if tag != its or type(one[tag]) is not type(other[tag]) or len(one[tag]) != len(other[tag]):
        return False
    same, as_well, differing = [{**one, tag: 0}], [{**other, tag: 0}], []
    for mine, theirs in zip(_steps(one[tag], tag), _steps(other[tag], tag), strict=True):
        if mine != theirs:
            differing.append((mine[0], mine[1], theirs[1]))
            mine, theirs = mine[::2], theirs[::2]
        same.append(mine)
        as_well.append(theirs)
    slot, path = place
    return exactly(same) == exactly(as_well) and all(  # since 1 is True, and 1.0
        is_alike(inner, its, (slot, (*path, step)), found) for step, inner, its in differing
    )


def _is_deferred(tree: Any) -> bool:
    return type(tree) is dict and ("d" in tree or "f" in tree)


def _steps(parts: Any, tag: str) -> list[Any]:
    """Each step into a part of a tree, what is there, and who set it."""
    if tag == "m":
        return [pair if len(pair) > 2 else (*pair, None) for pair in parts]
    pairs = parts.items() if type(parts) is dict else enumerate(parts)
    return [(step, {"j": one} if tag == "j" and type(one) in (dict, list) else one, None) for step, one in pairs]


class Maps:
    """The maps of some slots as another node had them, outer ones first, and as data, which nobody changes.

    plan:   of each the number of the one above, its key there, type, mark and marks of its entries, those of whose
            lists several have set, and what gives the values that can be compared as bytes
    text:   those bytes: of each map all keys, and these values
    odd:    what is made data again to be compared: deferred values, secrets, lists that several have set
    packed: each as data
    above:  which entry each one is
    """

    def __init__(self, trees: list[OwnedMap], packed: Mapping[int, dict[str, Any]]) -> None:
        self.packed: list[dict[str, Any]] = [{"m": []}]  # the first one is above all slots
        self._plan: list[tuple[int, Any, Any, int, Mapping[Any, Any], frozenset[Any], Any]] = []
        self._above: list[tuple[int, int]] = [(0, 0)]
        self._places: list[Place] = [(0, ())]
        self._odd: list[tuple[int, int, Any]] = []
        self._even: list[list[tuple[int, int, Any]]] = [[]]
        flat: list[Any] = []
        for number, tree in packed.items():
            self._add(trees[number], tree, (0, 0), number, (number, ()), flat)
        self._text = exactly(flat)
        self._texts: list[bytes] = []
        self._odd_texts = [exactly(self.packed[number]["m"][at]) for number, at, _ in self._odd]

    def _add(
        self, tree: OwnedMap, packed: dict[str, Any], above: tuple[int, int], key: Any, place: Place, flat: list[Any]
    ) -> None:
        number = len(self.packed)
        self.packed.append(packed)
        self._above.append(above)
        self._places.append(place)
        several = frozenset(key for key, whose in tree.origins.items() if type(whose) is not int)
        below: list[tuple[int, Any, OwnedMap]] = []
        even: list[tuple[int, int, Any]] = []
        for at, (step, inner) in enumerate(tree.items()):
            if step not in several and isinstance(inner, OwnedMap):
                below.append((at, step, inner))
            elif step not in several and _is_text(inner):
                even.append((number, at, step))
            else:
                self._odd.append((number, at, step))
        self._even.append(even)
        get: Any = None if len(even) == len(tree) else itemgetter(*(step for *_, step in even)) if even else _nothing
        origins = {key: whose for key, whose in tree.origins.items() if key not in several}
        self._plan.append((above[0], key, type(tree), tree.origin, origins, several, get))
        flat += [[*tree], [*tree.values()] if get is None else get(tree)]
        for at, step, inner in below:
            self._add(inner, packed["m"][at][1], (number, at), step, (place[0], (*place[1], step)), flat)

    def again(self, slots: list[OwnedMap], found: list[Differs], pack: Pack) -> dict[int, dict[str, Any]] | None:
        """The data of slots that differ in scalars alone, as far as it does; where is *found*. None of any others."""
        trees: list[Any] = [slots]
        flat: list[Any] = []
        try:
            for above, key, kind, origin, origins, several, get in self._plan:
                tree: Any = trees[above][key]
                if tree.__class__ is not kind or tree.origin != origin:
                    return None
                its = {key: by for key, by in tree.origins.items() if key not in several} if several else tree.origins
                if its != origins:
                    return None
                trees.append(tree)
                flat += [[*tree], [*tree.values()] if get is None else get(tree)]
        except KeyError:
            return None
        differing = [] if _text_of(flat) == self._text else self._differing(flat)
        if differing is None:
            return None
        texts = self._odd_texts + [exactly(self.packed[number]["m"][at]) for number, at, _ in differing]
        new: dict[int, dict[int, list[Any]]] = {}
        for (number, at, key), text in zip(self._odd + differing, texts, strict=True):
            its = _packed(trees[number], key, *pack)
            if text != exactly(its):
                mine = self.packed[number]["m"][at]
                if not is_alike({"m": [mine]}, {"m": [its]}, self._places[number], found):
                    return None
                new.setdefault(number, {})[at] = its
        return self._with(new) if new else {}

    def _differing(self, flat: list[Any]) -> list[tuple[int, int, Any]] | None:
        """The entries of maps of which something is another value; None where a key is."""
        if not self._texts:
            self._texts = [*map(exactly, marshal.loads(self._text))]
        found: list[tuple[int, int, Any]] = []
        for number, even in enumerate(self._even[1:]):
            if _text_of(flat[2 * number]) != self._texts[2 * number]:
                return None
            if _text_of(flat[2 * number + 1]) != self._texts[2 * number + 1]:
                found += even
        return found

    def _with(self, new: dict[int, dict[int, list[Any]]]) -> dict[int, dict[str, Any]]:
        """The data of slots, with other entries in some maps."""
        slots: dict[int, dict[str, Any]] = {}
        for number in range(len(self.packed) - 1, 0, -1):
            if number in new:
                packed, (above, at) = self.packed[number], self._above[number]
                pairs = [*packed["m"]]
                for its, pair in new[number].items():
                    pairs[its] = pair
                packed = {**packed, "m": pairs}
                if above:
                    key, _, *whose = self.packed[above]["m"][at]
                    new.setdefault(above, {})[at] = [key, packed, *whose]
                else:
                    slots[self._places[number][0]] = packed
        return slots


def _packed(tree: OwnedMap, key: Any, pack: Callable[[Any], Any], pack_whose: Callable[[Any], Any]) -> list[Any]:
    """An entry of a map as a snapshot has it."""
    pair = [key, pack(tree[key])]
    return [*pair, pack_whose(tree.origins[key])] if key in tree.origins else pair


def _nothing(_: Any) -> tuple[()]:
    return ()


def _text_of(value: Any) -> bytes:
    """As `exactly`; nothing for what is no plain data."""
    try:
        return exactly(value)
    except ValueError:
        return b""


def _is_text(value: Any) -> bool:
    return _text_of(value) != b""

"""Keys that no code names, and those that are spelled nearly like one that code names.

It looks for chains of keys in texts of Ruby and Python, parses none of them and runs nothing. A key is judged where
the cookbooks name others beside it, one by one, and never take their map as a whole or by a computed key, and where
the cookbook that has the map's name is there. If no word of any cookbook is that key, it is unused; it is misspelt
where one of those beside it is near: a letter apart (a short one: two changed places),
or the same but for case, `-` and `_`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nodeattrs.core.tree import Path, is_near, shape_of, spell
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.kinds import MISSPELT, TYPE_CHANGE, UNUSED_ATTRIBUTE
from nodeattrs.runs.checks.overrides import located, shape
from nodeattrs.runs.checks.stacks import Layer, texts_of
from nodeattrs.runs.repository import Repository

_STEP = r"""\[\s*(?::(\w+)|'([^'\n\[\]]*)'|"([^"\n\[\]#]*)")\s*\]"""
_CHAIN = re.compile(rf"(?:{_STEP})+")
_ONE = re.compile(_STEP)
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SET = re.compile(r"\s*(?:\|\||<<)?=(?![=~>])")
_LEVEL = re.compile(r"\b(?:default|force_default|normal|set|override|force_override)(?:_unless)?\s*$")
_CODE = (".rb", ".py", ".erb", ".j2")


class Place(NamedTuple):
    """Where code names a path. sets: whether the line sets it"""

    file: str
    line: int
    sets: bool


class Words:
    """What the code of all cookbooks of a repository names.

    words:  every word in it
    chains: path -> where it stands first; every beginning of it among them
    below:  path -> the keys that chains have there
    whole:  paths that code reads and takes no step from, or a computed one
    """

    def __init__(self, repository: Repository) -> None:
        self.words: set[str] = set()
        self.chains: dict[Path, Place] = {}
        self.below: dict[Path, set[str]] = {}
        self.whole: set[Path] = set()
        self.cookbooks = {shape_of(name) for name in repository.cookbooks()}
        for name in repository.cookbooks():
            try:
                cookbook = repository.cookbook(name)
            except NodeattrsError:
                continue
            for file, text in texts_of(cookbook, _CODE).items():
                self._take(file, text)

    def learn(self, layers: Iterable[Layer]) -> None:
        """Take what attribute files set that are data as if code named it."""
        for layer in layers:
            for path in layer.leaves:
                at = layer.origin(path)
                self.words.update(str(step) for step in path)
                self._name(path, Place(str(at.file), at.line or 1, sets=True))

    def _take(self, file: str, text: str) -> None:
        self.words.update(_WORD.findall(text))
        for found in _CHAIN.finditer(text):
            steps = tuple(next(filter(None, one.groups()), "") for one in _ONE.finditer(found[0]))
            before = text[max(0, found.start() - 40) : found.start()]
            if not re.search(r"\b(?:node|default|normal|override|set|\w+_unless|force_\w+)\s*$", before):
                continue
            sets = bool(_LEVEL.search(before) and _SET.match(text, found.end()))
            if not sets:
                self.whole.add(steps)
            self._name(steps, Place(file, text.count("\n", 0, found.start()) + 1, sets))

    def _name(self, steps: Path, place: Place) -> None:
        for depth in range(1, len(steps) + 1):
            self.below.setdefault(steps[: depth - 1], set()).add(steps[depth - 1])
            if depth == len(steps) and (place.sets or steps not in self.chains):
                self.chains[steps] = place
            self.chains.setdefault(steps[:depth], place._replace(sets=False))


def misspelt(layers: Iterable[Layer], words: Words) -> Iterator[DocumentError]:
    """Keys of documents that are probably meant to be others."""
    seen: set[tuple[int, Path]] = set()
    for layer in layers:
        for leaf in layer.leaves:
            for depth in range(1, len(leaf) + 1):
                path = leaf[:depth]
                if (id(layer.tree), path) not in seen:
                    seen.add((id(layer.tree), path))
                    yield from _judged(layer, path, words)


def _judged(layer: Layer, path: Path, words: Words) -> Iterator[DocumentError]:
    *above, key = path
    parent = tuple(above)
    if not isinstance(key, str) or key in words.words or parent not in words.below:
        return
    if any(path[:depth] in words.whole for depth in range(1, len(path))):
        return
    beside = layer.meets(parent)
    near = [one for one in sorted(words.below[parent]) if is_near(key, one) and one not in beside]
    if near:
        place = words.chains[(*parent, near[0])]
        message = f"no cookbook names {spell(path)}; did you mean {near[0]}?"
        detail = f"{place.file}:{place.line} {'sets' if place.sets else 'names'} {spell((*parent, near[0]))}"
        yield located(MISSPELT, layer, path, message, details=[detail])
    elif shape_of(str(path[0])) in words.cookbooks and parent and re.fullmatch(r"\w+", key) and not key.isdigit():
        one = min(words.below[parent])
        place = words.chains[(*parent, one)]
        detail = f"beside it, {place.file}:{place.line} names {spell((*parent, one))}"
        yield located(UNUSED_ATTRIBUTE, layer, path, f"no cookbook names {spell(path)}", details=[detail])


def shadowing(layers: Iterable[Layer], words: Words) -> Iterator[DocumentError]:
    """Values that are no maps where attribute files set keys below them."""
    for layer in layers:
        for path, value in layer.leaves.items():
            below = (words.chains[(*path, key)] for key in sorted(words.below.get(path, ())))
            place = next((one for one in below if one.sets), None)
            if place is not None and not isinstance(value, Mapping):
                message = f"{spell(path)} is {shape(value)} here, and a map where a cookbook sets it"
                yield located(TYPE_CHANGE, layer, path, message, details=[f"{place.file}:{place.line}"])

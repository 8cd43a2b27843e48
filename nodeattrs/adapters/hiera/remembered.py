"""What a loaded tree has for many nodes: where its entries look, and what their sources say to whoever asks.

Each tree has a memory of its own, which goes with it. It is known by the sources that a node meets, so that it holds
for every node that meets the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from nodeattrs.adapters.hiera.config import Config, Entry
from nodeattrs.adapters.hiera.data import DataFile, Source
from nodeattrs.adapters.hiera.hierarchies import LoadedTree
from nodeattrs.adapters.hiera.keys import Options
from nodeattrs.adapters.hiera.locations import Level, Place, variables_of

MOST_KEPT = 256
"""Places of one entry, and sets of sources: of a fleet each node may have a file of its own."""
_MOST_ANSWERS = 4_096

Layers = Sequence[Sequence[Level]]


class Looked(NamedTuple):
    """An entry of hiera.yaml, and where it looks for many nodes.

    names:  the variables on which that hangs; None where more does
    levels: by what the variables put into its texts; None for none
    """

    entry: Entry
    names: list[str] | None
    levels: dict[tuple[str, ...], Level | None]


class Known:
    """The sources of the keys of a module, as many nodes meet them.

    options: their lookup_options
    flat:    each with its tree, where it has one, and its place for one of the nodes
    answers: what they come to for a key, or ABSENT, where it is the same for whoever asks
    """

    __slots__ = ("answers", "flat", "options")

    def __init__(self, flat: list[tuple[dict[str, Any] | None, Source, Place]], options: Options | None) -> None:
        self.flat, self.options = flat, options
        self.answers: dict[str, Any] = {}

    def says_always(self, root: str) -> bool:
        """Whether every source says the same of a key, whoever asks."""
        return all(isinstance(source, DataFile) and source.says_always(root) for _, source, _ in self.flat)


class Memory:
    """That of one tree.

    entries: the entries of each layer, with what they were read from
    known:   by the module, and by all places in order
    answers: how many answers they keep
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, ...], tuple[Config, list[Looked]]] = {}
        self.known: dict[tuple[Any, ...], Known] = {}
        self.answers = 0

    def looked(self, key: tuple[str, ...], config: Config, entries: Iterable[Entry]) -> list[Looked]:
        """The entries of a layer; anew where it was read anew."""
        kept = self.entries.get(key)
        if kept is None or kept[0] is not config:
            kept = self.entries[key] = config, [Looked(entry, variables_of(entry), {}) for entry in entries]
        return kept[1]

    def keep(self, key: tuple[Any, ...], known: Known) -> None:
        """Remember sources for other nodes; nobody else has their ids as long as they are kept."""
        if len(self.known) >= MOST_KEPT:
            self._forget()
        self.known[key] = known

    def keep_answer(self, known: Known, root: str, value: Any) -> None:
        """Remember what sources come to for a key, whoever asks."""
        self.answers += 1
        if self.answers > _MOST_ANSWERS:
            self._forget()
        known.answers[root] = value

    def _forget(self) -> None:
        gone, self.known, self.answers = self.known, {}, 0
        for known in [*gone.values()]:
            known.answers.clear()


_memories: WeakKeyDictionary[LoadedTree, Memory] = WeakKeyDictionary()


def memory_of(tree: LoadedTree) -> Memory:
    """What is remembered of a tree."""
    found = _memories.get(tree)
    return _memories.setdefault(tree, Memory()) if found is None else found


def shape_of(layers: Layers) -> tuple[Any, ...]:
    """All places of layers in order; equal where the same sources stand in the same way."""
    return tuple(
        [
            (level.located, *[id(place.source) for place in level.places])
            for levels in layers
            for level in (*levels, _END)
        ]
    )


_END = Level((), False)
"""Where a layer ends."""

"""Operations of the library whose growth is measured, each with the size to begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nodeattrs import Layer, Node, fold
from nodeattrs.catalog import Catalog, Resource
from nodeattrs.core.claim import Origin
from nodeattrs.core.policy import ACROSS, INSIDE
from nodeattrs.puppet.references import Ref
from tests.benchmarks.growing import wide


def _written(count: int) -> Node:
    node = Node("n1")
    node.default = wide(count)
    return node


def _write_and_read(folder: Path, count: int) -> None:
    node = Node("n1")
    for at in range(count):
        node.default[f"a{at % 97}"][f"b{at}"] = at
        node[f"a{at % 97}"][f"b{at}"]


def _snapshot(folder: Path, count: int) -> None:
    _written(count).snapshot()


def _restored(folder: Path, count: int) -> None:
    Node.restore(_written(count).snapshot()).to_dict()


def _chef(folder: Path, count: int) -> None:
    Node.from_chef(_written(count).to_chef()).to_dict()


def _trace(folder: Path, count: int) -> None:
    str(_written(count).trace("(root)"))


def _folded_wide(folder: Path, count: int) -> None:
    """Maps that meet, each with keys of its own."""
    found = fold([Layer({"a": {f"k{at}": at}}, Origin("layer", str(at))) for at in range(count)], ACROSS)
    found.to_dict()
    str(found.trace("a"))


def _united(folder: Path, count: int) -> None:
    """Lists that unite, pair by pair."""
    fold([Layer({"a": [at]}, Origin("layer", str(at))) for at in range(count)], INSIDE).to_dict()


def _from_the_top(folder: Path, count: int) -> None:
    """The result so far lies over each further layer, which has keys of its own."""
    layers = (Layer({"a": {f"k{at}": at}}, Origin("layer", str(at))) for at in range(count))
    fold(layers, ACROSS, from_top=True).to_dict()


def _ring(folder: Path, count: int) -> None:
    """The report of a ring."""
    catalog = Catalog()
    for at in range(count):
        catalog.add(Resource(Ref(f"File[r{at}]"), before=(f"File[r{(at + 1) % count}]",)))
    str(catalog.plan().cycle_error())


WORKS: dict[str, tuple[Callable[[Path, int], object], int]] = {
    "writing and reading leaves": (_write_and_read, 32_000),
    "a snapshot of leaves that one statement set": (_snapshot, 100_000),
    "restoring a snapshot": (_restored, 60_000),
    "Chef's document, there and back": (_chef, 80_000),
    "a trace of a whole node": (_trace, 60_000),
    "a fold of maps with keys of their own": (_folded_wide, 2_000),
    "a fold of lists that unite": (_united, 20_000),
    "a fold from the top": (_from_the_top, 20_000),
    "the report of a ring": (_ring, 6_000),
}

"""What is given odd inputs, and how these are made."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs.errors import InternalError, NodeattrsError
from nodeattrs.formats.documents import parse
from tests.fuzz.grammar import Grammar
from tests.fuzz.mutation import mutated
from tests.fuzz.shapes import as_json, grown, spoiled

__all__ = [
    "EXAMPLE",
    "Grow",
    "Refused",
    "Target",
    "from_grammar",
    "from_shape",
    "json_of",
    "seeds_in",
    "texts_of",
    "tried",
    "vectors",
]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "cookbooks_example"

_LONGEST = 3_000
"""Signs of a file that inputs are made of."""

Grow = Callable[[random.Random], str]


class Refused(NodeattrsError):
    """The parser did not accept an input: for one that says so in another way than by an error."""


@dataclass(frozen=True)
class Target:
    """A reader, and what is done with what it read.

    name: as the command line has it
    grow: an input
    read: what an input says; one for which this raises is not accepted
    use:  everything that is done with it; may refuse, too

    Both stand in a folder of the run's own, and write there what they need, anew for each input.
    """

    name: str
    grow: Grow
    read: Callable[[str], Any]
    use: Callable[[Any], object] = field(default=lambda found: None)


def from_grammar(grammar: Grammar, seeds: Sequence[str] = (), words: Sequence[str] = ()) -> Grow:
    """Texts of a grammar, half of them with something changed; some are seeds with something changed.

    words: put in, beside those of the grammar
    """

    def grow(chance: random.Random) -> str:
        way = chance.random()
        text = chance.choice(seeds) if seeds and way > 0.8 else grammar.grown(chance)
        return text if way < 0.5 else mutated(text, chance, [*grammar.words, *words])

    return grow


def from_shape(
    shape: Any,
    seeds: Sequence[Any] = (),
    written: Callable[[Any, random.Random], str] = as_json,
    words: Sequence[str] = (),
) -> Grow:
    """Documents of a shape: as they are, spoiled as trees, or as texts.

    seeds: trees that somebody has written
    words: put into some of the texts
    """

    def grow(chance: random.Random) -> str:
        way = chance.random()
        tree = json.loads(json.dumps(chance.choice(seeds))) if seeds and way < 0.25 else grown(shape, chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
            tree = spoiled(tree, chance)
        text = written(tree, chance)
        return text if way < 0.8 else mutated(text, chance, words)

    return grow


def json_of(text: str) -> Any:
    """What a JSON text says. raises: DocumentError"""
    return parse(text, "input.json", "json").tree


def tried(*calls: Callable[[], object]) -> None:
    """Each of these, whatever of them is refused."""
    for call in calls:
        try:
            call()
        except InternalError:
            raise
        except NodeattrsError as error:
            str(error)


def vectors(kind: str, most: int = 150) -> list[Any]:
    """What the first lines of a file of vectors say."""
    lines = (ROOT / "tests" / "vectors" / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:most]]


def seeds_in(kind: str, wanted: Callable[[str], bool], most: int = 100) -> list[str]:
    """Texts in a file of vectors."""
    found = (text for one in vectors(kind, 400) for text in _texts(one) if len(text) < 800 and wanted(text))
    return list(dict.fromkeys(found))[:most]


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _texts(inner)


def texts_of(pattern: str) -> list[str]:
    """The files of the example that a pattern finds, but long ones."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLE.glob(pattern))]
    return [text for text in texts if len(text) < _LONGEST]

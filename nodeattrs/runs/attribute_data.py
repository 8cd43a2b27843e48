"""Attribute files that are data: levels, conditions, and blocks of both.

It reads one, and sets on a node what counts there. It knows no cookbook and no order of files, and what it
remembers of a file is the same for every node. The rules: docs/attribute-data.md.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Locator
from nodeattrs.core.tree import Path, meant, spell
from nodeattrs.errors import BadKey, BadValue, DocumentError, TooDeep
from nodeattrs.kinds import NO_LEVEL
from nodeattrs.node.node import Node
from nodeattrs.node.running import set_leaves, setting_as
from nodeattrs.node.values import stored
from nodeattrs.runs.conditions import Facts, When, read_when
from nodeattrs.runs.fields import Fields
from nodeattrs.texts import documents

SUFFIXES = (".yaml", ".yml", ".json", ".toml")

_UNLESS = "_unless"
WORDS = (
    *("default", "force_default", "normal", "override", "force_override"),
    *(f"{level}{_UNLESS}" for level in ("default", "normal", "override")),
)
"""What stands at the top of a file, or of a block, above a map of attributes."""
_WHEN, _BLOCKS = "when", "blocks"


class Level(NamedTuple):
    """What a part of a file says at one level.

    unless: only where the level has no value
    under:  where in the document that stands
    """

    level: str
    unless: bool
    tree: dict[Any, Any]
    locator: Locator
    under: Path


@dataclass(frozen=True)
class Block:
    """A part of a file: what it says, and when. at: where in the document it stands"""

    when: tuple[When, ...]
    levels: tuple[Level, ...]
    at: Path

    def counts(self, facts: Facts) -> bool:
        """Whether facts meet its condition, and that of the file."""
        return all(when.met(facts) for when in self.when)


@dataclass(frozen=True)
class AttributeData:
    """An attribute file that is data.

    name:     that it goes by: "apache2::default"
    blocks:   its parts in order; what stands at its top is the first
    document: knows the lines
    """

    name: str
    blocks: tuple[Block, ...]
    document: documents.Document
    warnings: tuple[DocumentError, ...] = ()

    def levels(self, facts: Facts) -> Iterator[Level]:
        """What counts, in order."""
        for block in self.blocks:
            if block.counts(facts):
                yield from block.levels

    def causes(self, line: int, column: int) -> Iterator[Cause]:
        """The conditions that let what stands at a place count."""
        starts = ((self.document.place(block.at), block) for block in self.blocks)
        here = max((one for one in starts if one[0] <= (line, column)), key=lambda one: one[0], default=None)
        for when in here[1].when if here else ():
            for fact, at in when.asks:
                origin = self.document.locator("attribute file", self.name).at(at)
                yield Cause(f"{self.name} counts because of {spell(fact)}", origin)


def read_data(path: pathlib.Path, file: str, name: str) -> AttributeData:
    """Read one.

    file: its name in messages
    name: that it goes by
    raises: DocumentError, with everything that is wrong with it
    """
    document = documents.read(path, file)
    locator = document.locator("attribute file", name)
    if not _is_ours(document.tree):
        message, hint = "sets no level, and is passed over", f"write {', '.join(WORDS[:3])}, ... above its keys"
        passed = document.error(message, hint=f"{hint}; what programs read belongs into files/")
        passed.kind = NO_LEVEL
        return AttributeData(name, (), document, (*document.warnings, passed))
    fields = Fields({} if document.tree is None else document.tree, locator, f"attribute file {name}")
    above = (read_when(fields, (_WHEN,)),) if fields.tree.get(_WHEN) is not None else ()
    make = partial(_block, fields, partial(document.locator, "attribute file", name))
    inside = [make(above, (_BLOCKS, index)) for index in range(len(fields.items(_BLOCKS)))]
    blocks = (make(above, ()), *inside)
    fields.finish()
    return AttributeData(name, blocks, document, (*document.warnings, *fields.warnings))


def _is_ours(tree: Any) -> bool:
    """Whether a word at the top is one of ours, or nearly: programs may keep files of their own beside them."""
    known = (*WORDS, _WHEN, _BLOCKS)
    words = (str(key).removesuffix("_attributes") for key in tree) if isinstance(tree, dict) else ()
    return tree is None or any(word in known or meant(word, known) for word in words)


def _block(fields: Fields, locator: Callable[[Path], Locator], above: tuple[When, ...], at: Path) -> Block:
    found = fields.map(*at) if at else fields.tree
    when = above
    if at and found.get(_WHEN) is not None:
        when = (*above, read_when(fields, (*at, _WHEN)))
    for key in found:
        if key not in (*WORDS, _WHEN) and (at or key != _BLOCKS):
            fields.wrong((*at, key), f"{fields.what} sets no level called {key}", _hint(key, nested=bool(at)))
    levels = (_level(fields, locator, (*at, word)) for word in found if word in WORDS)
    return Block(when, tuple(one for one in levels if one.tree), at)


def _hint(key: Any, nested: bool) -> str:
    word = str(key).removesuffix("_attributes")
    if word in WORDS:
        return f"write {word}"
    if str(key).endswith("_full"):
        return "a full assignment is a program's: write it in Python"
    return meant(key, (*WORDS, _WHEN, *(() if nested else (_BLOCKS,)))) or f"the levels are {', '.join(WORDS)}"


def _level(fields: Fields, locator: Callable[..., Locator], under: Path) -> Level:
    tree: dict[Any, Any] = fields.map(*under)
    try:
        tree = stored(tree, ())
    except (BadKey, BadValue, TooDeep) as error:
        fields.wrong((*under, *(error.path or ())), error.message, error.hint)
    word = under[-1]
    return Level(word.removesuffix(_UNLESS), word.endswith(_UNLESS), tree, locator(under), under)


def set_data(node: Node, data: AttributeData, facts: Facts) -> None:
    """Set on a node what an attribute file says there. facts: of the node, as the run begins"""
    for one in data.levels(facts):
        with setting_as(node, "attribute file", data.name, one.locator):
            set_leaves(node, one.level, one.tree, one.unless)

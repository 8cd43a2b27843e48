"""Attribute files in YAML, JSON or TOML: maps of attributes under the names of levels, with conditions.

A *block* is a part of a file with a condition of its own (`when`); the top of the file is the first block. `read_data`
parses a file, once for all nodes. `set_data` sets on a node the blocks whose conditions its facts meet. The module does
not know cookbooks and the order of files. docs/attribute-data.md has the rules.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Locator
from nodeattrs.core.looks import TREE
from nodeattrs.core.tree import ABSENT, Path, dig, hint_for, parse, spell, strict_key
from nodeattrs.errors import BadArgument, BadKey, BadValue, DocumentError, TooDeep
from nodeattrs.formats import documents
from nodeattrs.kinds import NO_LEVEL, NUMBER_FOR_TEXT
from nodeattrs.node.node import Node
from nodeattrs.node.running import set_leaves, setting_as
from nodeattrs.node.values import stored
from nodeattrs.node.watched import looks_of
from nodeattrs.project.fields import Fields
from nodeattrs.project.versions import allows, numbers_in

Facts = Mapping[Any, Any]
Test = Callable[[Any], bool]

_VERSION = r"\d{1,9}(?:\.\d{1,9})*"
_NUMBERS = re.compile(_VERSION)
_CONSTRAINT = re.compile(rf"(<=|>=|~>|<|>|=)?\s*({_VERSION})")


@dataclass(frozen=True)
class FactCondition:
    """A condition of an attribute file.

    met:   a function from the facts of a node to whether they meet the condition
    facts: (path of the fact, path in the document) for each fact in the condition
    """

    met: Callable[[Facts], bool]
    facts: tuple[tuple[Path, Path], ...] = ()


ALWAYS = FactCondition(lambda facts: True)


def _read_when(fields: Fields, at: Path) -> FactCondition:
    """The condition at a path of a document; faults are noted in *fields*."""
    reader = _ConditionReader(fields)
    met = reader.map(dig(fields.tree, at), at)
    return FactCondition(met, tuple(reader.facts))


class _ConditionReader:
    """Turns a written condition into a function of facts. Faults are noted in *fields*, facts in `facts`."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.facts: list[tuple[Path, Path]] = []

    def map(self, written: Any, at: Path) -> Callable[[Facts], bool]:
        """The test for a map of facts and their conditions; for a list of such maps, of which one has to be met."""
        if isinstance(written, list) and written:
            some = [self.map(one, (*at, index)) for index, one in enumerate(written)]
            return lambda facts: any(met(facts) for met in some)
        if not isinstance(written, dict) or not written:
            self.fields.wrong(at, "a condition is a map of facts, or a list of such maps", "platform_family: debian")
            return ALWAYS.met
        every = [self._entry(key, value, (*at, key)) for key, value in written.items()]
        return every[0] if len(every) == 1 else lambda facts: all(met(facts) for met in every)

    def _entry(self, key: Any, value: Any, at: Path) -> Callable[[Facts], bool]:
        if key == "not":
            below = self.map(value, at)
            return lambda facts: not below(facts)
        fact = self._fact(key, at)
        self.facts.append((fact, at))
        if fact[-1:] == ("platform_version",) and type(value) in (int, float):
            message = f"{spell(fact)} is a text: the number {value} is never equal to it"
            self.fields.warn(at, message, f'write "{value}"', NUMBER_FOR_TEXT)
        test = self.test(value, at, fact)
        return lambda facts: test(dig(facts, fact))

    def _fact(self, key: Any, at: Path) -> Path:
        try:
            if isinstance(key, str) and (fact := parse(key)):
                return fact
            self.fields.wrong(at, f"{key!r} is no path of a fact", "write its name, or names joined by dots")
        except BadArgument as error:
            self.fields.wrong(at, error.message, error.hint)
        return (str(key),)

    def test(self, value: Any, at: Path, fact: Path) -> Test:
        """The test for one fact. value: the value it has to have, a list of allowed values, or a map of words"""
        if isinstance(value, dict):
            return self._words(value, at, fact)
        if isinstance(value, list):
            if any(isinstance(one, (dict, list)) for one in value):
                self.fields.wrong(at, "a list in a condition has texts and numbers; the fact has to be one of them")
                return _never
            keys = {_key(one) for one in value}
            return lambda found: _key(found) in keys
        key = _key(value)
        return lambda found: bool(_key(found) == key)

    def _words(self, written: dict[Any, Any], at: Path, fact: Path) -> Test:
        tests = [self._word(word, value, (*at, word), fact) for word, value in written.items()]
        if not tests:
            self.fields.wrong(at, "a condition of a fact is never empty", f"the words are {', '.join(FACT_WORDS)}")
        return lambda found: all(test(found) for test in tests)

    def _word(self, word: Any, value: Any, at: Path, fact: Path) -> Test:
        if word in FACT_WORDS:
            return FACT_WORDS[word](self, value, at, fact)
        inside = f"the words are {', '.join(FACT_WORDS)}; of a fact inside it write {spell((*fact, word))}: ..."
        self.fields.wrong(at, f"no condition is called {word}", hint_for(word, FACT_WORDS) or inside)
        return _never


def _not(reader: _ConditionReader, value: Any, at: Path, fact: Path) -> Test:
    test = reader.test(value, at, fact)
    return lambda found: not test(found)


def _has(reader: _ConditionReader, value: Any, at: Path, fact: Path) -> Test:
    if isinstance(value, (dict, list)):
        reader.fields.wrong(at, "has names one element of a list", "for several write a list of maps, or several facts")
    key = _key(value)
    return lambda found: isinstance(found, list) and any(_key(one) == key for one in found)


def _version(reader: _ConditionReader, value: Any, at: Path, fact: Path) -> Test:
    texts = str(value).split(",") if type(value) in (str, int) else [""]
    read = [_CONSTRAINT.fullmatch(text.strip()) for text in texts]
    if not all(read):
        hint = 'write an operator (= < > <= >= ~>) and numbers: ">= 22.04, < 24"'
        reader.fields.wrong(at, f"{value!r} is no version constraint", hint)
    return lambda found: _allowed([(one[1] or "=", numbers_in(one[2])) for one in read if one], found)


def _allowed(constraints: list[tuple[str, tuple[int, ...]]], found: Any) -> bool:
    numbers = _NUMBERS.match(str(found)) if type(found) in (str, int) else None
    return numbers is not None and all(allows(sign, asked, numbers_in(numbers[0])) for sign, asked in constraints)


def _never(found: Any) -> bool:
    return False


def _key(value: Any) -> Any:
    """A key for comparing scalars. A map or list gives ABSENT, which no scalar gives; ABSENT gives the key of null."""
    if isinstance(value, (dict, list)):
        return ABSENT
    return strict_key(None if value is ABSENT else value)


FACT_WORDS: dict[str, Callable[[_ConditionReader, Any, Path, Path], Test]] = {
    "not": _not,
    "has": _has,
    "version": _version,
}
"""Word below a fact in a condition -> the function that makes its test; docs/attribute-data.md has the table."""


SUFFIXES = (".yaml", ".yml", ".json", ".toml")

_UNLESS = "_unless"
WORDS = (
    *("default", "force_default", "normal", "override", "force_override"),
    *(f"{level}{_UNLESS}" for level in ("default", "normal", "override")),
)
"""The keys of a file or a block that have a map of attributes."""
_WHEN, _BLOCKS = "when", "blocks"


class BlockLevel(NamedTuple):
    """The attributes of one block at one level.

    level:   "default", "force_default", "normal", "override" or "force_override"
    unless:  True for `default_unless` and the like: a value is set only if the node has none at this level yet
    tree:    the attributes, never empty
    locator: gives the line of a path in *tree*
    """

    level: str
    unless: bool
    tree: dict[Any, Any]
    locator: Locator


@dataclass(frozen=True)
class Block:
    """A part of an attribute file. Its attributes are set on a node if the node's facts meet all conditions in *when*.

    when:   the conditions of the file and of the block; () for a block that always applies
    levels: its attributes, in the order of the document; levels with an empty map are left out
    at:     its path in the document; () for the top of the file
    """

    when: tuple[FactCondition, ...]
    levels: tuple[BlockLevel, ...]
    at: Path


@dataclass(frozen=True)
class AttributeData:
    """A parsed attribute file in YAML, JSON or TOML. It is the same for all nodes.

    `levels` yields the attributes for the facts of one node. `causes` yields the conditions of a line of the file.

    name:     "apache2::default"
    blocks:   its blocks in order, the top of the document first; () for a file without levels
    document: gives the line of a path
    warnings: about the document
    """

    name: str
    blocks: tuple[Block, ...]
    document: documents.Document
    warnings: tuple[DocumentError, ...] = ()

    def levels(self, facts: Facts) -> Iterator[BlockLevel]:
        """Yield the attributes of the blocks whose conditions *facts* meet, in order."""
        for block in self.blocks:
            if all(when.met(facts) for when in block.when):
                yield from block.levels

    def causes(self, line: int, column: int) -> Iterator[Cause]:
        """Yield a cause for each fact in the conditions of the block at a place in the file; nothing for no conditions.

        line, column: the place, counted from 1
        """
        before = [block for block in self.blocks if self.document.place(block.at) <= (line, column)]
        if not before:
            return
        block = max(before, key=lambda one: self.document.place(one.at))
        for when in block.when:
            for fact, at in when.facts:
                origin = self.document.locator("attribute file", self.name).at(at)
                yield Cause(f"{self.name} counts because of {spell(fact)}", origin)


def read_data(path: pathlib.Path, file: str, name: str) -> AttributeData:
    """Read an attribute file in a data format. An empty file gives one block that sets nothing.

    A file of another kind gives no blocks and a warning: no key at its top is a level, `when` or `blocks`, or similar
    to one of these.

    path:   the file
    file:   its name in messages
    name:   the name of the attribute file, "apache2::default"
    raises: DocumentError, with all faults
    """
    document = documents.read(path, file)
    locator = document.locator("attribute file", name)
    if not _is_ours(document.tree):
        message, hint = "sets no level, and is passed over", f"write {', '.join(WORDS[:3])}, ... above its keys"
        passed = document.error(message, hint=f"{hint}; what programs read belongs into files/")
        passed.kind = NO_LEVEL
        return AttributeData(name, (), document, (*document.warnings, passed))
    fields = Fields({} if document.tree is None else document.tree, locator, f"attribute file {name}")
    above = (_read_when(fields, (_WHEN,)),) if fields.tree.get(_WHEN) is not None else ()
    make = partial(_block, fields, partial(document.locator, "attribute file", name))
    inside = [make(above, (_BLOCKS, index)) for index in range(len(fields.items(_BLOCKS)))]
    blocks = (make(above, ()), *inside)
    fields.finish()
    return AttributeData(name, blocks, document, (*document.warnings, *fields.warnings))


def _is_ours(tree: Any) -> bool:
    """Whether a key at the top is one that attribute files have, or similar; True for an empty file.

    Other files belong to programs that read them.
    """
    known = (*WORDS, _WHEN, _BLOCKS)
    words = (str(key).removesuffix("_attributes") for key in tree) if isinstance(tree, dict) else ()
    return tree is None or any(word in known or hint_for(word, known) for word in words)


def _block(fields: Fields, locator: Callable[[Path], Locator], above: tuple[FactCondition, ...], at: Path) -> Block:
    found = fields.map(*at) if at else fields.tree
    when = above
    if at and found.get(_WHEN) is not None:
        when = (*above, _read_when(fields, (*at, _WHEN)))
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
    return hint_for(key, (*WORDS, _WHEN, *(() if nested else (_BLOCKS,)))) or f"the levels are {', '.join(WORDS)}"


def _level(fields: Fields, locator: Callable[..., Locator], under: Path) -> BlockLevel:
    tree: dict[Any, Any] = fields.map(*under)
    try:
        tree = stored(tree, ())
    except (BadKey, BadValue, TooDeep) as error:
        fields.wrong((*under, *(error.path or ())), error.message, error.hint)
    word = under[-1]
    return BlockLevel(word.removesuffix(_UNLESS), word.endswith(_UNLESS), tree, locator(under))


def set_data(node: Node, data: AttributeData, facts: Facts) -> None:
    """Set on a node the attributes of the blocks whose conditions *facts* meet, each with its line.

    facts: of the node at the start of the run; each fact of a condition is noted as read
    """
    if (looks := looks_of(node)) is not None:
        for fact in (fact for block in data.blocks for when in block.when for fact, _ in when.facts):
            looks.note(TREE, fact)
    for one in data.levels(facts):
        with setting_as(node, "attribute file", data.name, one.locator):
            set_leaves(node, one.level, one.tree, one.unless)

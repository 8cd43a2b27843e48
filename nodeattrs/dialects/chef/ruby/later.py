"""Find, line by line, what Ruby code reads and may set, from its text.

The code is parsed, and does not run.

`later_code` is for blocks that run when resources converge. `reads_by_line`, `reads_of_line` and `writes_in` are for
explanations, and find nothing in a file that cannot be read. If code uses a name, the code that the same file assigns
or passes to that name counts, too. Attributes are found by their constant keys.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.chef.ruby.unrun import CodeReader, UnrunCode
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.formats.documents import content_of
from nodeattrs.formats.places import Text
from nodeattrs.formats.ruby_text import parsed
from nodeattrs.node.slot_names import LEVELS

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = ("block", "do_block", "lambda")
_NAMED = ("class_variable", "constant", "global_variable", "identifier", "instance_variable")
_SETTING = ("assignment", "operator_assignment")
_METHODS = ("method", "singleton_method")
_DEFINING = ("define_method", "define_singleton_method")
_HOLDING = ("begin", "block_body", "body_statement", "do", "else", "ensure", "program", "then")
"""Types of tree nodes that hold statements."""
_INSIDE = (*_HOLDING, "block", "do_block", "elsif", "in_clause", "rescue", "when")
"""Types of tree nodes with statements that decide nothing for lines outside of them."""
_READING = frozenset(("attribute?", "dig", "exist?", "fetch", "key?", "read", "read!"))
_READ = ("node", *LEVELS)


def later_code(path: pathlib.Path, file: str, line: int) -> UnrunCode:
    """What the blocks that begin on a line may set, from their text.

    If there is no block, or the file cannot be read, the result says that any attribute may be set (`hidden`).
    path:   the file; file: its name in messages
    raises: MissingExtra, without tree-sitter
    """
    try:
        text = _text(path, file)
        blocks = [one for one in _around(_root(text), line) if one.type in _BLOCKS and one.start_point.row + 1 == line]
        if not blocks:
            return UnrunCode(hidden=(line, ""))
        code = _read(text, *blocks)
        _add_given(text, code, code.words | _words(text, *blocks))
    except MissingExtra:
        raise
    except (DocumentError, RecursionError):
        return UnrunCode(hidden=(line, ""))
    return code


def reads_by_line(path: pathlib.Path, file: str) -> Mapping[int, tuple[str, ...]]:
    """Line of a call in a Ruby file, such as a resource -> the paths that its text reads, as text ("app.port").

    A call that reads nothing has (). {} for a file that cannot be read, and without tree-sitter. The map is cached, and
    must not be changed.
    path: the file; file: its name in messages
    """

    def make() -> Mapping[int, tuple[str, ...]]:
        found: dict[int, dict[str, None]] = {}
        for node in _walked(_root(text)):
            if node.type == "call" and node.child_by_field_name("receiver") is None:
                reads = dict.fromkeys(_reads(text, node))
                found.setdefault(node.start_point.row + 1, {}).update(reads)
        return {line: tuple(reads) for line, reads in found.items()}

    try:
        text = _text(path, file)
        return CACHE.get(("reads of Ruby", *_key(text)), make)
    except (DocumentError, MissingExtra, RecursionError):
        return {}


def _text(path: pathlib.Path, file: str) -> Text:
    return Text(file, content_of(path, file).decode("utf-8", "replace"))


def _read(text: Text, *nodes: Node) -> UnrunCode:
    reader = CodeReader(text, "recipes")
    for node in nodes:
        reader.visit(node)
    return reader.code


def _walked(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from _walked(child)


def _around(node: Node, line: int) -> Iterator[Node]:
    """Yield the tree nodes that contain a line, outer ones first."""
    if node.start_point.row < line <= node.end_point.row + 1:
        yield node
        for child in node.named_children:
            yield from _around(child, line)


_Given = tuple[frozenset[str], tuple["Node", ...]]
"""(Names, the code that is assigned or passed to them)."""


def _given_to(text: Text, words: set[str]) -> Iterator[list[Node]]:
    """Yield the code that a text gives to the names in *words*, once. The caller may add names between two items."""
    left = _all_given(text)
    while found := [one for one in left if not one[0].isdisjoint(words)]:
        left = [one for one in left if one[0].isdisjoint(words)]
        yield [node for _, given in found for node in given]


def _add_given(text: Text, code: UnrunCode, words: set[str]) -> None:
    """Add to *code* what its file gives to the names that it uses, directly or through other names.

    words: the names that it uses
    """
    for nodes in _given_to(text, words):
        other = _read(text, *nodes)
        words |= _words(text, *nodes) | other.words
        code.words |= other.words
        code.recipes.update(other.recipes)
        code.attribute_files.update(other.attribute_files)
        code.hidden = code.hidden or other.hidden
        for level, lines in other.lines.items():
            code.lines[level] = {**lines, **code.lines.get(level, {})}


def _words(text: Text, *nodes: Node) -> set[str]:
    """The names of variables and constants in some code."""
    return {_slice(text, one) for node in nodes for one in _walked(node) if one.type in _NAMED}


def _all_given(text: Text) -> list[_Given]:
    """(Names, code) of each statement of a text that gives code to names. cost: a walk over each text, once"""

    def make() -> list[_Given]:
        found = ((frozenset(names), tuple(nodes)) for names, nodes in map(partial(_given, text), _walked(_root(text))))
        return [one for one in found if one[0]]

    return CACHE.get(("given in Ruby", *_key(text)), make)


def _root(text: Text) -> Node:
    """The root of the tree of a text, parsed once for each content. raises: MissingExtra, DocumentError, TooMuch"""
    return CACHE.get(("tree of Ruby", *_key(text)), lambda: parsed(text))


def _key(text: Text) -> tuple[object, ...]:
    return text.file, in_force(), sha256(text.content).digest()


def _slice(text: Text, node: Node) -> str:
    return text.text[node.start_byte : node.end_byte]


def _given(text: Text, node: Node) -> tuple[set[str], list[Node]]:
    """Returns (the names that a statement sets or adds to, the code that it gives to them); (set(), []) for most."""
    if node.type in _SETTING or (node.type == "binary" and _slice(text, node.children[1]) == "<<"):
        return _words(text, *_field(node, "left")), _field(node, "right")
    if node.type in _METHODS:
        return {_slice(text, one) for one in _field(node, "name")}, [node]
    return _given_by_call(text, node) if node.type == "call" else (set(), [])


def _given_by_call(text: Text, node: Node) -> tuple[set[str], list[Node]]:
    """The same for a call: it gives receiver and arguments to the parameters of its block.

    A call with a block among its arguments gives it to the names in its receiver, too.
    """
    receiver, method, arguments, block = (_field(node, name) for name in ("receiver", "method", "arguments", "block"))
    if method and _slice(text, method[0]) in _DEFINING:
        named = {_slice(text, one).lstrip(":").strip("\"'") for every in arguments for one in every.named_children[:1]}
        return named, [*arguments, *block]
    taken = _field(block[0], "parameters") if block else []
    names = {_slice(text, one) for every in taken for one in every.named_children}
    if receiver and any(one.type in _BLOCKS for every in arguments for one in _walked(every)):
        names |= _words(text, *receiver)  # list.push(lambda { ... })
    return names, [*receiver, *arguments] if names else []


def reads_of_line(path: pathlib.Path, file: str, line: int) -> tuple[str, ...]:
    """The paths, as text, that a line and the conditions and loops around it read; each once, () for none.

    Also () for a file that cannot be read, and without tree-sitter.
    path: the file; file: its name in messages
    """
    try:
        text = _text(path, file)
        nodes = [*_deciding(_root(text), line)]
        words = _words(text, *nodes).difference(_READ)
        for given in _given_to(text, words):
            nodes += given
            words |= _words(text, *given).difference(_READ)
        return tuple(dict.fromkeys(what for node in nodes for what in _reads(text, node)))
    except (DocumentError, MissingExtra, RecursionError):
        return ()


def writes_in(path: pathlib.Path, file: str, part: str) -> Mapping[Path, frozenset[int]]:
    """Path -> all lines of a file that may set it; {} for a file that cannot be read, and without tree-sitter.

    The path () has the lines that include another file. Other lines that may set anything are left out. The map is
    cached, and must not be changed.
    path: the file; file: its name in messages
    part: the folder in the cookbook, "attributes" or "recipes"
    """

    def make() -> Mapping[Path, frozenset[int]]:
        found: dict[Path, set[int]] = {}
        for node in _walked(_root(text)):
            if node.parent is None or node.parent.type not in _HOLDING:
                continue
            reader = CodeReader(text, part)
            reader.visit(node)
            for lines in reader.code.lines.values():
                for at, line in lines.items():
                    found.setdefault(at, set()).add(line)
            found.setdefault((), set()).update(reader.code.recipes.values(), reader.code.attribute_files.values())
        return {at: frozenset(lines) for at, lines in found.items()}

    try:
        text = _text(path, file)
        return CACHE.get(("writes in Ruby", part, *_key(text)), make)
    except (DocumentError, MissingExtra, RecursionError):
        return {}


def _deciding(root: Node, line: int) -> Iterator[Node]:
    """Yield the parts of statements around a line that decide what it does, without other statements in them."""
    for node in _around(root, line):
        if node.type not in _HOLDING:
            yield from (child for child in node.named_children if child.type not in _INSIDE)


def _steps(text: Text, node: Node) -> list[Node] | None:
    """The keys in an expression that reads the node or a level; None for another expression."""
    if node.type == "element_reference":
        holder, *keys = node.named_children
    elif node.type == "call" and _READING.intersection(_slice(text, one) for one in _field(node, "method")):
        holder, *_ = [*_field(node, "receiver"), node.children[0]]
        keys = [key for every in _field(node, "arguments") for key in every.named_children]
    else:
        return [] if _slice(text, node).removeprefix("node.") in _READ else None
    above = _steps(text, holder)
    return None if above is None else [*above, *keys]


def _field(node: Node, name: str) -> list[Node]:
    """The part of a node with a name, as a list of one; [] where it has none."""
    found = node.child_by_field_name(name)
    return [] if found is None else [found]


def _reads(text: Text, node: Node) -> Iterator[str]:
    """Yield the paths that an expression reads. A path ends before its first computed key."""
    steps = _steps(text, node)
    inside = node.named_children
    if steps is not None:
        path = CodeReader(text, "recipes").leading_keys(steps)
        if path:
            yield spell(path)
        inside = steps[len(path) :]
    elif node.type == "assignment":
        inside = [*(_steps(text, node.named_children[0]) or ()), *node.named_children[1:]]
    for child in inside:
        yield from _reads(text, child)

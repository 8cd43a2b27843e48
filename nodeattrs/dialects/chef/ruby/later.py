"""Read what blocks of Ruby may set that run when resources converge, and what a resource's own text reads.

Used by `dialects.chef.run.ruby_recipes`, for recipes that were run: what they do themselves is known by then. A block
is found by its line. Where it uses a name of its file that holds a part of the node, all of the file counts.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import spell
from nodeattrs.dialects.chef.ruby.unrun import CHANGING, Reader, UnrunCode, unrun_code
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.formats.documents import content_of
from nodeattrs.formats.places import Text
from nodeattrs.formats.ruby_text import parsed

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = ("block", "do_block", "lambda")
_NAMED = ("identifier", "instance_variable")
_SETTING = ("assignment", "operator_assignment")


def later_code(path: pathlib.Path, file: str, line: int) -> UnrunCode:
    """The attributes that the blocks on a line may set; any, where there is no block or the file cannot be read.

    file:   its name in messages
    raises: MissingExtra, without tree-sitter
    """
    try:
        text = _text(path, file)
        root = parsed(text)
        blocks = [one for one in _around(root, line) if one.type in _BLOCKS and one.start_point.row + 1 == line]
        if not blocks:
            return UnrunCode(hidden=(line, ""))
        code = _read(text, *blocks)
        if any(_holds_node(text, one, code.words) for one in _walked(root)):
            return unrun_code(path, file, "recipes")
    except MissingExtra:
        raise
    except (DocumentError, RecursionError):
        return UnrunCode(hidden=(line, ""))
    return code


def changing_code(kind: str, line: int) -> UnrunCode:
    """The attributes that a resource of Chef sets by itself; none for most."""
    code = UnrunCode()
    if kind in CHANGING:
        level, keys = CHANGING[kind]
        code.lines[level] = {(key,) if key else (): line for key in keys}
    return code


def reads_of(path: pathlib.Path, file: str) -> Mapping[int, tuple[str, ...]]:
    """Line of a resource -> the attributes that its text reads by constant keys; {} for a file that cannot be read."""

    def make() -> Mapping[int, tuple[str, ...]]:
        found: dict[int, dict[str, None]] = {}
        for node in _walked(parsed(text)):
            if node.type == "call" and node.child_by_field_name("receiver") is None:
                reads = dict.fromkeys(_reads(text, node))
                found.setdefault(node.start_point.row + 1, {}).update(reads)
        return {line: tuple(reads) for line, reads in found.items()}

    try:
        text = _text(path, file)
        return CACHE.get(("reads of Ruby", file, in_force(), sha256(text.text.encode()).digest()), make)
    except (DocumentError, MissingExtra, RecursionError):
        return {}


def _text(path: pathlib.Path, file: str) -> Text:
    return Text(file, content_of(path, file).decode("utf-8", "replace"))


def _read(text: Text, *nodes: Node) -> UnrunCode:
    reader = Reader(text, "recipes", UnrunCode(), False)
    for node in nodes:
        reader.visit(node)
    return reader.code


def _walked(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from _walked(child)


def _around(node: Node, line: int) -> Iterator[Node]:
    """Yield the nodes that have a line, outer ones first."""
    if node.start_point.row < line <= node.end_point.row + 1:
        yield node
        for child in node.named_children:
            yield from _around(child, line)


def _holds_node(text: Text, node: Node, words: set[str]) -> bool:
    """Whether a statement gives a part of the node to one of the names."""
    reader = Reader(text, "recipes", UnrunCode(), False)
    if node.type in _SETTING:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in _NAMED or reader.slice(left) not in words:
            return False
        reader.visit(right)
    elif node.type == "method":
        named = node.child_by_field_name("name")
        if named is None or reader.slice(named) not in words:
            return False
        reader.visit(node)
    elif node.type == "call":
        block, receiver = node.child_by_field_name("block"), node.child_by_field_name("receiver")
        given = block.child_by_field_name("parameters") if block is not None else None
        if given is None or receiver is None or not words & {reader.slice(one) for one in given.named_children}:
            return False
        reader.visit(receiver)
    return bool(reader.code.lines or reader.code.hidden)


def _reads(text: Text, node: Node) -> Iterator[str]:
    """Yield the paths below `node` in some text, each as far as its keys are constant."""
    if node.type == "element_reference":
        keys, holder = [], node
        while holder.type == "element_reference":
            holder, *inner = holder.named_children
            keys[:0] = [inner]
        reader = Reader(text, "recipes", UnrunCode(), False)
        if reader.slice(holder) == "node":
            path = []
            for inner in keys:
                found = reader.keys(inner)
                if len(found) != len(inner):
                    break
                path += found
            if path:
                yield spell(tuple(path))
            return
    for child in node.named_children:
        yield from _reads(text, child)

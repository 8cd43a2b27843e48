"""Read what blocks of Ruby may set that run when resources converge, and what a resource's own text reads.

Used by `dialects.chef.run.ruby_recipes`, for recipes that were run: what they do themselves is known by then. A block
is found by its line. What the file gives to the names that it uses counts, too.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from nodeattrs.cache import CACHE
from nodeattrs.core.budget import in_force
from nodeattrs.core.tree import spell
from nodeattrs.dialects.chef.ruby.unrun import CHANGING, Reader, UnrunCode
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
        _add_given(text, root, code)
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


def _add_given(text: Text, root: Node, code: UnrunCode) -> None:
    """Add to some code what its file gives to the names that it uses, and to the names that these use."""
    left = [(names, nodes) for names, nodes in map(partial(_given, text), _walked(root)) if names]
    while found := [one for one in left if one[0] & code.words]:
        left = [one for one in left if one not in found]
        other = _read(text, *(node for _, nodes in found for node in nodes))
        code.words |= other.words
        code.recipes.update(other.recipes)
        code.attribute_files.update(other.attribute_files)
        code.hidden = code.hidden or other.hidden
        for level, lines in other.lines.items():
            code.lines[level] = {**lines, **code.lines.get(level, {})}


def _given(text: Text, node: Node) -> tuple[set[str], list[Node]]:
    """The names that a statement makes, and what it gives to them; none for most."""
    reader = Reader(text, "recipes", UnrunCode(), False)
    if node.type in _SETTING:
        left = node.child_by_field_name("left")
        names = [one for one in _walked(left) if one.type in _NAMED] if left is not None else []
        value = node.child_by_field_name("right")
        return {reader.slice(one) for one in names}, [value] if value is not None else []
    if node.type == "method":
        named = node.child_by_field_name("name")
        return {reader.slice(named)} if named is not None else set(), [node]
    block = node.child_by_field_name("block") if node.type == "call" else None
    taken = block.child_by_field_name("parameters") if block is not None else None
    if taken is None:
        return set(), []
    parts = (node.child_by_field_name(name) for name in ("receiver", "arguments"))
    return {reader.slice(one) for one in taken.named_children}, [one for one in parts if one is not None]


def _reads(text: Text, node: Node) -> Iterator[str]:
    """Yield the paths below `node` in some text, each as far as its keys are constant."""
    if node.type == "element_reference":
        keys: list[list[Node]] = []
        holder = node
        while holder.type == "element_reference":
            holder, *inner = holder.named_children
            keys[:0] = [inner]
        reader = Reader(text, "recipes", UnrunCode(), False)
        if reader.slice(holder) == "node":
            path: list[object] = []
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

"""The reports of `nodeattrs show`: a tree as YAML, with the origin of each leaf as a comment.

A tree is the merged attributes of a node, one of its slots, or a document such as a role. Secrets are masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.node.documents import json_ready
from nodeattrs.node.node import Node
from nodeattrs.node.slot_tree import SlotTree
from nodeattrs.reports.explain import way_to
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import computed, is_leaf, origin_data, scalar_text

OriginOf = Callable[[Path], Origin | None]

_FARTHEST = 44
"""The column up to which remarks stand below each other."""

_PLAIN = re.compile(r"(?a)[A-Za-z_/][\w./@+-]*(?:[ :][\w./@+-]+)*")
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"}


class ShownSlots(NamedTuple):
    """The report about the values of some slots of a node at a path, before they are merged.

    node, environment: the name of the node, and its environment
    path:         the path; () for the whole slots
    slots:        the slots; `lines` leaves out a slot that sets nothing at the path
    with_origins: whether the origin of each leaf is reported, too

    `to_dict` and `lines` also name the paths of maps that a recipe assigned as a whole. These maps hide the values of
    attribute files.
    """

    node: str
    environment: str
    path: Path
    slots: tuple[SlotTree, ...]
    with_origins: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Each slot with its value at the path; `found` is false and the value null where the slot sets nothing."""
        return {**head(self.node, self.environment, self.path), "slots": [self._slot_dict(slot) for slot in self.slots]}

    def _slot_dict(self, slot: SlotTree) -> dict[str, Any]:
        value = dig(slot.to_dict(), self.path)
        return {
            "slot": slot.number,
            "level": slot.level,
            "source": slot.source,
            "found": value is not ABSENT,
            "value": None if value is ABSENT else json_ready(value, self.path),
            "replaces": [spell(path) for path in slot.assigned if path[: len(self.path)] == self.path],
            **_origins_dict(value, self.path, slot.origin if self.with_origins else None),
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """For each slot that sets a value at the path a heading and its tree; one sentence where no slot does."""
        silent = True
        for slot in self.slots:
            value = dig(slot.to_dict(), self.path)
            if value is ABSENT or (not self.path and not value):
                continue
            if not silent:
                yield ""
            silent = False
            yield screen.paint(f"# {slot.number} {slot.title}", "strong")
            for path in slot.assigned:
                if path[: len(self.path)] == self.path:
                    yield screen.paint(f"# replaces what the attribute file says at {printable(spell(path))}", "faint")
            yield from tree_lines(value, screen, slot.origin if self.with_origins else None, self.path)
        if silent:
            names = ", ".join(f"{slot.number} {slot.title}" for slot in self.slots)
            at = f" at {printable(spell(self.path))}" if self.path else ""
            yield from screen.wrapped(f"nothing set{at} in {names}", "# ")


class ShownTree(NamedTuple):
    """The report about the value at a path: of the merged attributes of a node, or of a document such as a role.

    `to_dict` returns the path and the value as JSON-able data, and `lines` yields the value as YAML. Both mask secrets,
    and give the origin of each leaf if *origins* is given.

    path:    the path; () for the whole tree
    value:   the value at the path; deferred values are computed when the report is written
    origins: a function (path) -> origin of the leaf, or None. If *origins* itself is None, no origins are shown
    whose:   further fields of the data, such as the node and its environment
    """

    path: Path
    value: Any
    origins: OriginOf | None = None
    whose: Mapping[str, str] = {}

    def to_dict(self) -> dict[str, Any]:
        """*whose*, the path and the value as JSON-able data, secrets masked; with `origins` the origin of each leaf."""
        return {
            "version": 1,
            **self.whose,
            "path": spell(self.path),
            "value": json_ready(self.value, self.path),
            **_origins_dict(self.value, self.path, self.origins),
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """The value as YAML, each leaf with its origin as a comment, where `origins` is given."""
        yield from tree_lines(self.value, screen, self.origins, self.path)


def head(node: str, environment: str, path: Path) -> dict[str, Any]:
    """The first keys of a report about a node: version, node, environment and path."""
    return {"version": 1, "node": node, "environment": environment, "path": spell(path)}


def part_of(tree: Any, path: Path) -> Any:
    """The value of *tree* at *path*.

    raises: NoSuchAttribute, with a hint about similar paths
    """
    value = dig(tree, path)
    if value is ABSENT:
        raise NoSuchAttribute(f"no attribute {spell(path)}", path=path, hint=way_to(tree, path))
    return value


def winner_of(node: Node) -> OriginOf:
    """A function from a path to the origin of the claim that wins there on *node*; None for a path that is not set."""

    def origin(path: Path) -> Origin | None:
        winner = node.trace(path).winner
        return winner.claim.origin if winner else None

    return origin


def tree_lines(value: Any, screen: Screen, origins: OriginOf | None = None, path: Path = ()) -> Iterator[str]:
    """*value* as lines of YAML, with secrets masked.

    origins: gives the origin of a leaf, which is appended as a comment; None: no comments
    path:    the path of *value* on its node

    >>> print(*tree_lines({"ports": [80, {"tls": True}], "name": "no", 1: {}}, Screen()), sep="\\n")
    ports:
      - 80
      - tls: true
    name: "no"
    1: {}
    """
    written = written_lines(value, path)
    texts = [text for text, leaf in written if leaf is not None and len(text) <= _FARTHEST]
    column = max(map(len, texts), default=0)
    for text, leaf in written:
        origin = origins(leaf) if origins is not None and leaf is not None else None
        if origin is None:
            yield text
        else:
            yield f"{text.ljust(column)}  {screen.paint(f'# {printable(str(origin))}', 'faint')}"


def written_lines(value: Any, path: Path = ()) -> list[tuple[str, Path | None]]:
    """*value* as lines of YAML, each with the path of the leaf on the line; None for a line without a leaf."""
    written: list[tuple[str, Path | None]] = []
    _write(value, path, "", 0, written)
    return written


def _write(value: Any, path: Path, head: str, indent: int, out: list[tuple[str, Path | None]]) -> None:
    """Write *value* behind *head*, which is the beginning of its first line."""
    value = computed(value, path)
    if is_leaf(value):
        out.append((f"{head} {_scalar(value)}" if head else _scalar(value), path))
        return
    is_map = isinstance(value, dict)
    # What is in a list begins on the line of its dash.
    same_line = head.endswith("-")
    if head and not same_line:
        out.append((head, None))
    for step in value if is_map else range(len(value)):
        begin = f"{_scalar(step)}:" if is_map else "-"
        begin = f"{head} {begin}" if same_line else " " * indent + begin
        same_line = False
        _write(value[step], (*path, step), begin, indent + 2, out)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        text = str(value)
        if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
            return text
    text = scalar_text(value)
    # What JSON writes 1e-05 is text in YAML 1.1, which wants a point.
    return text.replace("e", ".0e") if isinstance(value, float) and "." not in text else text


def _origins_dict(value: Any, path: Path, origins: OriginOf | None) -> dict[str, Any]:
    if origins is None or value is ABSENT:
        return {}
    leaves: list[Path] = []
    _leaves(value, path, leaves)
    listed = []
    for leaf in leaves:
        if (origin := origins(leaf)) is not None:
            listed.append({"path": spell(leaf), **origin_data(origin)})
    return {"origins": listed}


def _leaves(value: Any, path: Path, out: list[Path]) -> None:
    if is_leaf(value):
        out.append(path)
        return
    for step in value if isinstance(value, dict) else range(len(value)):
        _leaves(value[step], (*path, step), out)

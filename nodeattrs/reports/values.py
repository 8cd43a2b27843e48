"""Write values in reports: as data for JSON, or as text on one line.

In both forms, secrets are masked and deferred values are computed, as in saved nodes. So a report about a run made now
equals the report about the same run from a store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nodeattrs.core.claim import Origin, ValueText
from nodeattrs.core.sensitive import plain
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread, uncomputed, unread_below
from nodeattrs.errors import DeferredCycle
from nodeattrs.node.documents import failures_in, json_ready
from nodeattrs.node.node import Node
from nodeattrs.node.values import Deferred
from nodeattrs.reports.screen import printable


def computed(value: Any, path: Path = ()) -> Any:
    """*value* unchanged; for a deferred value the value that it computes, as JSON-able data. raises: DeferredCycle"""
    return json_ready(value, path) if type(value) is Deferred else value


def claimed(value: Any, path: Path = ()) -> Any:
    """The value of a claim as JSON-able data; secrets are masked. None if the claim has no value, or an unknown one.

    A deferred value that needs itself becomes text; one that fails otherwise becomes {"$deferred": reason}. A value
    under a YAML tag becomes {"$tag": tag, "value": data}.
    path: the path of *value* on its node, for messages
    """
    if value is ABSENT or isinstance(value, Unknown):
        return None
    if isinstance(value, ValueText):
        return str(value)
    try:
        return plain(json_ready(value, path))
    except DeferredCycle:
        return str(value)


def unread_at(node: Node, path: Path) -> list[Unread]:
    """The sources that were not read and may change the node's value at a path or below it, and deferred values there
    that cannot be computed; [] where all is known.

    cost: one trace; where the node has unknown layers also one for each known path below
    """
    found = unread_below(node.trace, path) if any(slot.unknown for slot in node.slots.values()) else []
    return [*found, *uncomputed_in(node, failures_in(node.trace(path).value, path))]


def uncomputed_in(node: Node, failures: Iterable[tuple[Path, str]]) -> Iterator[Unread]:
    """Yield the Unread for each deferred value that cannot be computed. failures: as `failures_in` yields them"""
    for path, reason in failures:
        winner = node.trace(path).winner
        place = winner.origin.place or winner.origin.who if winner is not None else spell(path)
        yield uncomputed(path, reason, place)


def origin_data(origin: Origin) -> dict[str, Any]:
    """Kind, name, file, line and column of an origin as JSON-able data."""
    return {"kind": origin.kind, "name": origin.name, "file": origin.file, "line": origin.line, "column": origin.column}


def is_leaf(value: Any) -> bool:
    """Whether *value* is a scalar, an empty map or an empty list."""
    return not (isinstance(value, (dict, list)) and value)


def scalar_text(value: Any) -> str:
    """A scalar or an empty container as text on one line: JSON if it is JSON data, "(nothing)" for ABSENT.

    Any other value, such as a secret or a date, is written as its `str`. Letters outside ASCII are kept, and control
    characters are escaped. Deferred values and full containers are for `on_one_line`.
    """
    if value is ABSENT:
        return "(nothing)"
    if value is None or isinstance(value, (bool, int, float, dict, list)):
        return json.dumps(value)
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return printable(text)


def on_one_line(value: Any) -> str:
    """*value* as text without a line break, a map or list with all its entries; "(nothing)" for ABSENT.

    A deferred value is computed; one that fails is written as {"$deferred": reason}.

    >>> from nodeattrs import Sensitive
    >>> on_one_line({"port": 80, 1: [Sensitive("x"), None]})
    '{"port": 80, 1: [Sensitive(withheld), null]}'
    """
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def _write(value: Any, parts: list[str]) -> None:
    if type(value) is Deferred:
        value = claimed(value)
    if is_leaf(value):
        parts.append(scalar_text(value))
        return
    is_map = isinstance(value, dict)
    parts.append("{" if is_map else "[")
    for number, entry in enumerate(value):
        parts.append(", " if number else "")
        if is_map:
            parts.append(f"{scalar_text(entry)}: ")
            entry = value[entry]
        _write(entry, parts)
    parts.append("}" if is_map else "]")

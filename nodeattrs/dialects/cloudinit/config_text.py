"""A merged cloud-config for output: data that JSON can hold, and YAML for people."""

from __future__ import annotations

import base64
import math
from datetime import date
from typing import Any

from nodeattrs.formats.yaml_writing import written


def json_tree(value: Any) -> Any:
    """A copy of a config with only values that JSON has.

    Keys, dates, NaN and infinity become text, bytes base64, tuples lists, and sets sorted lists.

    >>> json_tree({1: (2, {"b"})})
    {'1': [2, ['b']]}
    """
    # Loops and no comprehensions: those would take a second frame a level.
    if isinstance(value, dict):
        keyed = {}
        for key, entry in value.items():
            keyed[_json_key(key)] = json_tree(entry)
        return keyed
    if isinstance(value, (list, tuple)):
        listed = []
        for entry in value:
            listed.append(json_tree(entry))
        return listed
    if isinstance(value, (set, frozenset)):
        return [json_tree(entry) for entry in sorted(value, key=str)]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def _json_key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return str(key).lower() if key is not None else "null"
    return str(key)


def yaml_text(config: dict[Any, Any]) -> str:
    """The text of a cloud-config file: first line, then YAML with keys in their order and long texts as blocks."""
    return f"#cloud-config\n{written(config, blocks=True)}"

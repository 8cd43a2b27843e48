"""Write a merged cloud-config: as data that JSON can hold, and as YAML for people."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import date
from typing import Any

from nodeattrs.core.tree import Path, dig
from nodeattrs.formats.yaml_writing import written


def json_tree(value: Any) -> Any:
    """A copy of a config with only values that JSON has.

    Keys, dates, NaN and infinity become text, bytes base64, tuples lists, and sets sorted lists.

    >>> json_tree({1: (2, {"b"})})
    {'1': [2, ['b']]}
    """
    return with_text_keys(value, _json_leaf)


def _json_leaf(value: Any) -> Any:
    if isinstance(value, tuple):
        return json_tree(list(value))
    if isinstance(value, (set, frozenset)):
        return json_tree(sorted(value, key=str))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


def with_text_keys(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A copy of a config with the keys of its maps as JSON writes them.

    leaf: called with each value that is neither a map nor a list; its result replaces the value
    """
    # Loops and no comprehensions: those would take a second frame a level.
    if isinstance(value, dict):
        keyed = {}
        for key, entry in value.items():
            keyed[_json_key(key)] = with_text_keys(entry, leaf)
        return keyed
    if isinstance(value, list):
        listed = []
        for entry in value:
            listed.append(with_text_keys(entry, leaf))
        return listed
    return leaf(value)


def _json_key(key: Any) -> str:
    """A key of a map as JSON writes it: null, true and false for None and booleans, the text of any other key."""
    return {None: "null", True: "true", False: "false"}[key] if key is None or isinstance(key, bool) else str(key)


def path_with_own_keys(config: Any, path: Path) -> Path:
    """A copy of *path* with the keys as the config has them. For example, the text "1" becomes the number 1.

    A step that is not in the config stays as it is.

    >>> path_with_own_keys({1: {None: 2}}, ("1", "null", "x"))
    (1, None, 'x')
    """
    own: list[Any] = []
    for step in path:
        if isinstance(config, dict) and step not in config:
            step = next((key for key in config if _json_key(key) == step), step)
        own.append(step)
        config = dig(config, (step,))
    return tuple(own)


def yaml_text(config: dict[Any, Any]) -> str:
    """The text of a cloud-config file: first line, then YAML with keys in their order and long texts as blocks."""
    return f"#cloud-config\n{written(config, blocks=True)}"

"""YAML as PyYAML's safe loader reads it: dates, bytes, sets and keys of any scalar type stay what they are.

Whoever holds such values, cloud-init and Ansible, makes a dialect of it. It knows neither.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.errors import DocumentError
from nodeattrs.texts.yaml_events import MERGE, YAML, Builder, Frame, tag_of

_VALUES = {YAML + name for name in ("int", "float", "bool", "null", "timestamp", "binary")}
PYTHON2 = f"{YAML}python/unicode"
"""How Python 2 wrote texts."""

_TEXTS = {f"{YAML}str", PYTHON2}
_MAPS = {None: dict, "!": dict, f"{YAML}map": dict, f"{YAML}set": set}
_LISTS = {None, "!", f"{YAML}seq"}
_PAIRS = {f"{YAML}omap", f"{YAML}pairs"}


class Safe(Builder):
    """What an alias repeats is one object; an unknown tag is an error."""

    def scalar(self, event: Any) -> Any:
        """The value of a scalar. raises: DocumentError"""
        tag = tag_of(event)
        if tag in _TEXTS:
            return event.value
        if tag in _VALUES:
            return self.constructed(tag, event)
        is_key = self.open and self.open[-1].step is None
        if is_key and tag == f"{YAML}merge":
            return MERGE
        in_pair = len(self.open) > 1 and self.open[-2].event.tag in _PAIRS
        if is_key and tag == f"{YAML}value" and not in_pair:
            return event.value
        raise self.unknown_tag(event)

    def key(self, frame: Frame, value: Any, event: Any) -> Any:
        """Any scalar. raises: DocumentError"""
        if type(value) in (dict, list, set):
            raise self.error("a map or list cannot be a key", event, hint="quote it, if it is meant as text")
        return value

    def made(self, frame: Frame) -> Any:
        """A map, a set, a list, or a list of pairs. raises: DocumentError"""
        tag, data = frame.event.tag, frame.data
        if frame.is_map and tag in _MAPS:
            return data if _MAPS[tag] is dict else set(data)
        if not frame.is_map and tag in _LISTS:
            return data
        if frame.is_map or tag not in _PAIRS:
            raise self.unknown_tag(frame.event)
        if not all(type(entry) is dict and len(entry) == 1 for entry in data):
            raise self.error("each entry of an ordered map is a map of one key", frame.event)
        return [pair for entry in data for pair in entry.items()]

    def unknown_tag(self, event: Any) -> DocumentError:
        """The error for a tag that no safe loader has; the tag is not repeated, since it may be a password."""
        tag = str(event.tag).removeprefix(YAML)
        what = "that asks for a Python object" if tag.startswith("python/") else "that is not known here"
        return self.error(f"a tag {what}", event)

"""Write a merged tree as the text of a file: YAML, JSON, TOML or .env. Secrets are masked."""

from __future__ import annotations

import json
from typing import Any

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.errors import BadValue
from nodeattrs.formats import plain_writing
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.formats.tags import Tagged
from nodeattrs.formats.yaml_writing import written
from nodeattrs.node.values import MARKER


def json_data(value: Any) -> Any:
    """A copy of a merged tree that JSON can hold.

    Keys become texts, a secret becomes its marker, and `!Ref x` becomes {"$tag": "!Ref", "value": "x"}.
    """
    if isinstance(value, dict):
        return {str(key): json_data(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [json_data(entry) for entry in value]
    return {"$tag": value.tag, "value": json_data(value.value)} if type(value) is Tagged else _marker_for_secret(value)


def _marker_for_secret(value: Any) -> Any:
    """The marker for a secret; any other value as it is."""
    return dict(MARKER) if isinstance(value, Sensitive) else value


def text_of(tree: Any, form: str) -> str:
    """A merged tree as the text of a file, without its secrets.

    form:   "json", "toml" or "env"; any other word means YAML. In place of a secret there is a marker; .env leaves its
            line out
    raises: BadValue, for a value that the form cannot hold, and for a tree that is nested too deeply
    """
    try:
        if form == "json":
            return json.dumps(json_data(tree), indent=2, ensure_ascii=False).translate(ESCAPES) + "\n"
        if form == "toml":
            return plain_writing.as_toml(json_data(tree)).translate(ESCAPES)
        if form == "env":
            return plain_writing.as_env(_without_secrets(tree))
        return written(_with_markers(tree), blocks=True)
    except RecursionError:
        raise BadValue(f"this is nested too deeply to be written as {form}", hint="ask for a part of it") from None


def _with_markers(value: Any) -> Any:
    """A tree for YAML: each secret is replaced by its marker, and tags stay."""
    if isinstance(value, dict):
        return {key: _with_markers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_with_markers(entry) for entry in value]
    if type(value) is Tagged:
        return value.with_inner(_with_markers)
    return _marker_for_secret(value)


def _without_secrets(value: Any) -> Any:
    """A tree as `json_data` gives it, without its secrets. A program that reads .env would take a marker as a value."""
    if isinstance(value, dict):
        return {key: _without_secrets(entry) for key, entry in value.items() if not isinstance(entry, Sensitive)}
    if isinstance(value, list):
        return [_without_secrets(entry) for entry in value if not isinstance(entry, Sensitive)]
    return json_data(value)

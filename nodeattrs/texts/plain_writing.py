"""Plain data as TOML and as .env: the two notations that have no writer elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import BadValue
from nodeattrs.texts.hidden import ESCAPES

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def as_toml(tree: dict[Any, Any]) -> str:
    """A tree as TOML: tables for maps, arrays of tables for lists of maps, and values before tables.

    raises: BadValue, for null, which TOML has not

    >>> print(as_toml({"a": {"b": 1}, "c": [1, "x"]}), end="")
    c = [1, "x"]
    <BLANKLINE>
    [a]
    b = 1
    """
    return "\n".join(_table(tree, ())).lstrip("\n") + "\n"


def _table(tree: dict[Any, Any], path: Path) -> Iterator[str]:
    tables = {key: value for key, value in tree.items() if _is_table(value)}
    for key, value in tree.items():
        if key not in tables:
            yield f"{_key(key)} = {_value(value, (*path, key))}"
    for key, value in tables.items():
        here = (*path, key)
        name = ".".join(map(_key, here))
        for entry in [value] if isinstance(value, dict) else value:
            yield f"\n[{name}]" if isinstance(value, dict) else f"\n[[{name}]]"
            yield from _table(entry, here)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
    )


def _key(key: Any) -> str:
    return str(key) if _BARE.fullmatch(str(key)) else _text(str(key))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(ESCAPES)


def _value(value: Any, path: Path) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(one, (*path, key))}" for key, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(_value(one, (*path, index)) for index, one in enumerate(value))}]"
    if isinstance(value, str):
        return _text(value)
    if value is None:
        raise BadValue("TOML has no null", path=path, details=(f"there is one at {spell(path)}",))
    text = json.dumps(value)
    return text if not isinstance(value, float) or "." in text else text.replace("e", ".0e")


def as_env(tree: dict[Any, Any]) -> str:
    """A tree as .env: the keys on the way joined by "_", elements by their number, other signs "_", too.

    raises: BadValue, where two values would have one name

    >>> print(as_env({"db": {"host": "a b", "ports": [1, 2]}}), end="")
    db_host='a b'
    db_ports_0=1
    db_ports_1=2
    """
    lines: dict[str, str] = {}
    for path, value in _leaves(tree, ()):
        name = _NO_NAME.sub("_", "_".join(map(str, path)))
        if name in lines:
            raise BadValue(f"two values would be called {name}", path=path, hint="--format yaml keeps them apart")
        lines[name] = f"{name}={_quoted(value)}\n"
    return "".join(lines.values())


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, (dict, list)):
        for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(entry, (*path, step))
        return
    yield path, value


def _quoted(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    if _NEEDS_NO_QUOTES.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

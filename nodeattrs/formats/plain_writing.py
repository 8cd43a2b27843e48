"""Writers of plain data as TOML and as .env."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from typing import Any

from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import BadValue
from nodeattrs.formats.hidden import HIDDEN

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile(r'["\\\x00-\x08\n-\x1f\x7f]')
_SHORT = {"\b": "\\b", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LINE = 100
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def as_toml(tree: dict[Any, Any]) -> str:
    """Write a map as TOML, in the layout of tomli-w and ansible-inventory; {} is "".

    Values come before tables, and each element of a list has a line. A list of maps is an array of tables if one of the
    maps does not fit a line.

    raises: BadValue, for null and any other value that TOML does not have

    >>> print(as_toml({"web": {"hosts": {"h1": {"ports": [80]}}}}), end="")
    [web.hosts.h1]
    ports = [
        80,
    ]
    """
    return "".join(f"{line}\n" for line in _table(tree, (), ""))


def _table(tree: dict[Any, Any], path: Path, header: str) -> Iterator[str]:
    plain = {key: value for key, value in tree.items() if not _is_table(value, (*path, key))}
    is_written = bool(header and (plain or len(plain) == len(tree)))
    if is_written:
        yield header
    yield from (f"{_key(key)} = {_value(value, (*path, key))}" for key, value in plain.items())
    is_written = is_written or bool(plain)
    for key, value in tree.items():
        if key in plain:
            continue
        here = (*path, key)
        name = ".".join(map(_key, here))
        several = isinstance(value, list)
        for one in value if several else [value]:
            if is_written:
                yield ""
            is_written = True
            yield from _table(one, here, f"[[{name}]]" if several else f"[{name}]")


def _is_table(value: Any, path: Path) -> bool:
    if isinstance(value, list):
        return (
            bool(value) and all(isinstance(one, dict) for one in value) and not all(_fits(one, path) for one in value)
        )
    return isinstance(value, dict)


def _fits(value: dict[Any, Any], path: Path) -> bool:
    text = f"    {_value(value, path)},"
    return "\n" not in text and len(text) <= _LINE


def _key(key: Any) -> str:
    return str(key) if _BARE.fullmatch(str(key)) else _value(str(key), ())


def _value(value: Any, path: Path, depth: int = 1) -> str:
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, datetime.date)):
        return str(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(one, (*path, key), depth)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        indent = "    " * depth
        lines = "".join(f"{indent}{_value(one, (*path, at), depth + 1)},\n" for at, one in enumerate(value))
        return f"[\n{lines}{indent[4:]}]" if lines else "[]"
    shown = "null" if value is None else repr(value)
    raise BadValue(f"TOML has no {shown}", path=path, details=(f"there is one at {spell(path)}",))


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def as_env(tree: dict[Any, Any]) -> str:
    """Write a map as .env, a line for each scalar; empty maps and lists are left out.

    The keys and list indices of a path are joined by "_"; any other sign in a name becomes "_", too. Null is empty.

    raises: BadValue, where two values would have one name, and for a text with an invisible character: .env has no
            escape for one

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
        if isinstance(value, str) and (_CONTROL.search(value) or HIDDEN.search(value)):
            what = f"{name} has an invisible character, for which .env has no escape"
            raise BadValue(what, path=path, hint="--format json escapes it")
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

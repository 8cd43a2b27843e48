"""The sensitive paths of a node: each value that enters a slot at one of them is wrapped as Sensitive.

This happens in one place, where values enter a slot. So views, traces and documents only meet wrapped values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from nodeattrs.core.tree import Path, as_path, parse
from nodeattrs.errors import wrong_argument
from nodeattrs.node.values import Sensitive, Withheld


class Secrets:
    """The sensitive paths of a node; `wrapped` wraps the secrets in a value that enters a slot.

    paths: parsed to steps; the step "*" stands for any. Everything below a path is secret, too. () guards nothing
    first: the first steps of these paths, to skip most values; None where any first step may lead to a secret
    The constructor takes texts ("db.password") or steps. raises: BadArgument, for anything but a list of paths
    """

    __slots__ = ("first", "paths")

    def __init__(self, paths: Iterable[str | Path]) -> None:
        if type(paths) not in (tuple, list) and (isinstance(paths, str) or not isinstance(paths, Iterable)):
            raise wrong_argument("what is sensitive", "a list of paths", paths, 'write ["db.password"]')
        self.paths: tuple[Path, ...] = tuple(
            _parsed(path) if isinstance(path, str) else as_path(path) for path in paths
        )
        first = {path[0] if path else "*" for path in self.paths}
        self.first = None if "*" in first else first

    def may_be_in(self, tree: Mapping[Any, Any]) -> bool:
        """Whether a path begins with a top-level key of *tree*, or with "*". True does not mean that there is a
        secret.
        """
        return self.first is None or not self.first.isdisjoint(tree)

    def wrapped(self, path: Path, value: Any) -> Any:
        """Wrap the secrets in *value*, which enters a slot at *path*, as Sensitive, and return the result.

        Maps and lists are changed in place, so the caller must own them. A scalar comes back wrapped, or as it is.
        Secrets that are wrapped or withheld already stay. Each scalar below a sensitive path is wrapped by itself.
        """
        if path and self.first is not None and path[0] not in self.first:
            return value
        for secret in self.paths:
            if _fits(secret[: len(path)], path[: len(secret)]):
                value = _wrapped(value, secret[len(path) :])
        return value


_parsed = lru_cache(maxsize=1024)(parse)
"""All nodes of a repository have the same sensitive paths."""


def _fits(pattern: Path, path: Path) -> bool:
    return pattern == path or (
        "*" in pattern and all(wanted in ("*", step) for wanted, step in zip(pattern, path, strict=True))
    )


def _wrapped(value: Any, rest: Path) -> Any:
    if isinstance(value, (Sensitive, Withheld)):
        return value
    if isinstance(value, (dict, list)):
        inside = value if isinstance(value, dict) else range(len(value))
        for step in inside if not rest or rest[0] == "*" else rest[:1]:
            if step in inside:
                value[step] = _wrapped(value[step], rest[1:])
        return value
    return value if rest else Sensitive(value)

"""`lookup_options`: which strategy a key has, and what its value is converted to.

Exact names come before expressions; expressions count in the order in which the merged
map has them. It knows no files: a merged map comes in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.adapters.hiera.errors import BadLookup
from nodeattrs.texts.patterns import BadPattern, Expression
from nodeattrs.texts.ruby_regex import translated

NAME = "lookup_options"
"""The reserved key."""


def checked(value: Any, module: str | None) -> dict[str, Any] | None:
    """What one layer says under `lookup_options`.

    module: the module whose layer it is; then every name has to be inside its namespace
    raises: BadLookup
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadLookup(
            f"{NAME} must be a map, and is {value!r}",
            kind="lookup_options_not_a_hash",
            hint="write `lookup_options:` with a key, and `merge:` below it",
        )
    if module is not None:
        for name in value:
            if str(name).startswith("^"):
                if not str(name).startswith(f"^{module}::"):
                    raise _outside("pattern", name, f"^{module}::")
            elif not str(name).startswith(f"{module}::"):
                raise _outside("key", name, f"{module}::")
    return value


def _outside(what: str, name: object, start: str) -> BadLookup:
    return BadLookup(
        f"{NAME} of a module may speak of its own keys only, not of {name!r}",
        kind=f"lookup_options_{what}_outside_module",
        hint=f"begin it with {start!r}, or move it to the environment",
    )


class Options:
    """The lookup_options that hold for the keys of one module.

    raises: BadLookup "bad_pattern", where an expression is none
    """

    def __init__(self, merged: Mapping[Any, Any]) -> None:
        self.exact: dict[Any, Any] = {}
        self.patterns: list[tuple[Expression, str, Any]] = []
        for name, entry in merged.items():
            if isinstance(name, str) and name.startswith("^"):
                try:
                    self.patterns.append((translated(name), name, entry))
                except BadPattern as error:
                    raise BadLookup(
                        f"the expression {name!r} in {NAME} cannot be used: {error.message}",
                        kind="bad_pattern",
                        hint=error.hint or "it is a regular expression in Ruby's spelling",
                    ) from None
            else:
                self.exact[name] = entry

    def of(self, root: str) -> tuple[str, Mapping[str, Any]] | None:
        """The entry for a key, with the name or expression under which it stands.

        An entry that is neither null nor a map counts, and says nothing.
        """
        entry = self.exact.get(root)
        if entry is not None:
            return root, entry if isinstance(entry, dict) else {}
        for pattern, name, entry in self.patterns:
            if pattern.search(root):
                return name, entry if isinstance(entry, dict) else {}
        return None

"""Keys: what values are bound under and asked for, and the names that the library keeps for itself.

A reserved name begins with a slash. It knows types and no bindings.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodeattrs.adapters.bindings.model.types import Type, parse_type

Key = tuple[str, str]
"""The kind of a type ("Data" for all data), and a name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A key as somebody asks for it. Without a type it is data; without a name the type alone."""

    type: Type | None = None
    name: str | None = None

    @property
    def key(self) -> Key:
        """What it is found under."""
        return (self.type.kind if self.type else "Data"), self.name or ""

    def __str__(self) -> str:
        if self.type is None:
            return repr(self.name or "")
        return str(self.type) if self.name is None else f"{self.type}, {self.name!r}"


def spelled_key(key: Key) -> str:
    """A key as messages show it.

    >>> spelled_key(("Data", "ssh::port")), spelled_key(("Type[Logger]", ""))
    ("Data, 'ssh::port'", 'Type[Logger]')
    """
    kind, name = key
    return f"{kind}, {name!r}" if name else kind


CLASSES = "/classes"

_ESCAPES = {"%": "%25", "/": "%2F", "[": "%5B", "]": "%5D"}


def target_of(text: str) -> Type:
    """The target of parameters: a bare lower-case name is a host class.

    >>> target_of("ntp"), target_of("class ntp"), target_of("Web[one]")
    (<Class[ntp]>, <Class[ntp]>, <Web[one]>)
    """
    stripped = text.strip()
    bare = stripped.removeprefix("::")[:1]
    if not stripped.startswith("class ") and (bare.islower() or bare == "_"):
        return parse_type(f"class {stripped}")
    return parse_type(stripped)


def _target(of: Type) -> str:
    escaped = "".join(_ESCAPES.get(sign, sign) for sign in of.title)
    return f"{of.name}[{escaped}]" if of.args else of.name


def parameter_key(target: str | Type, name: str) -> str:
    """The name under which a parameter is bound.

    >>> parameter_key("File['foo/bar[x]']", "mode")
    '/param/File[foo%2Fbar%5Bx%5D]/mode'
    """
    return f"/param/{_target(target_of(target) if isinstance(target, str) else target)}/{name}"


def map_key(lhs: str | Type, rhs: str | Type) -> str:
    """The name under which the map of a pair of types is bound.

    >>> map_key("Web", "Sql")
    '/map/Web/Sql'
    """
    sides = (target_of(side) if isinstance(side, str) else side for side in (lhs, rhs))
    return f"/map/{'/'.join(map(_target, sides))}"


def variable_key(name: str) -> str:
    """The name under which a top scope variable is bound."""
    return f"/var/{name.removeprefix('::')}"

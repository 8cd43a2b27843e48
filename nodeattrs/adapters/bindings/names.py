"""The names that the library keeps for itself: all of them begin with a slash."""

from __future__ import annotations

from nodeattrs.adapters.bindings.types import Type, parse_type

__all__ = ["CLASSES", "map_key", "parameter_key", "target_of", "variable_key"]

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

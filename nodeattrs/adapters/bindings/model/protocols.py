"""Classes of which nothing is made by itself, and what has the members of a Protocol. It knows no bindings."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol


def is_protocol(of: Any) -> bool:
    """Whether a class is a Protocol: what has its members is one, whatever it inherits."""
    return bool(getattr(of, "_is_protocol", False))


def is_abstract(of: type) -> bool:
    """Whether nothing can be made of a class by itself."""
    return bool(getattr(of, "__abstractmethods__", ())) or is_protocol(of)


def follows(kind: type, protocol: type) -> bool:
    """Whether a class is what a Protocol asks for, by inheritance or by its members."""
    return protocol in kind.__mro__ or all(hasattr(kind, name) for name in _members(protocol))


@lru_cache(maxsize=1024)
def _members(protocol: type) -> frozenset[str]:
    """The methods of a Protocol; its plain attributes may be set by a constructor, and are not looked for."""
    bases = [base for base in protocol.__mro__ if is_protocol(base) and base is not Protocol]
    return frozenset(name for base in bases for name in vars(base)) - _OF_EVERY_PROTOCOL


class _Empty(Protocol):
    pass


_OF_EVERY_PROTOCOL = frozenset(
    {*vars(_Empty), "__annotations__", "__slots__", "__static_attributes__", "__firstlineno__"}
)

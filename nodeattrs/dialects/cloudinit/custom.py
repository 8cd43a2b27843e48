"""Custom mergers: registered by a call, or offered by packages. Foreign code, which is given copies only.

It knows neither definitions nor policies: what a merger decides is a function of two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import lru_cache, partial
from importlib import metadata
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.core.code import NOT_RUN, may_run
from nodeattrs.core.folding import meet
from nodeattrs.core.part import Join, Part, made
from nodeattrs.core.policy import Policy
from nodeattrs.dialects.cloudinit.codes import DEFINITION
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.parts import independent
from nodeattrs.errors import BadArgument, MergeConflict, NodeattrsError

BUILT_IN = ("dict", "list", "str")

OPEN_KINDS: dict[type, str] = {
    tuple: "tuple",
    bool: "bool", int: "int", float: "float", bytes: "bytes",
    date: "date", datetime: "datetime", set: "set", frozenset: "frozenset",
}  # fmt: skip
"""Kinds by which a custom merger may be asked, beside those of the core."""

ENTRY_POINTS = "nodeattrs.cloudinit_mergers"
"""The entry-point group in which packages offer merger classes, by name."""

_registered: dict[str, Callable[[Any, Any], Any]] = {}


@taking(name=str, merger=Callable)
def register_merger(name: str, merger: Callable[[Any, Any], Any]) -> None:
    """Make a custom merger known under *name*.

    merger: called as `merger(root, options)`; the object has methods `_on_<type>(old, new)`,
            the type being a class name in lower case, and may call `root.merge(old, new)`
    raises: BadArgument, for a name that a definition cannot have or a built-in has
    """
    if not name.isascii() or not name.isidentifier() or name != name.lower() or name in BUILT_IN:
        raise BadArgument(
            f"{name!r} cannot be the name of a merger", hint="a lower-case name other than dict, list and str"
        )
    _registered[name] = merger


@taking(name=str)
def unregister_merger(name: str) -> None:
    """Forget a custom merger; one that is not known is no error."""
    _registered.pop(name, None)


def registered_mergers() -> dict[str, Callable[[Any, Any], Any]]:
    """The custom mergers that were registered by a call."""
    return dict(_registered)


def known(name: str) -> bool:
    """Whether a custom merger has that name."""
    return name in _registered or name in offered()


class Root:
    """What a custom merger is given to hand values on."""

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy

    def merge(self, source: Any, merge_with: Any) -> Any:
        """Both merged as the definition says that has asked for the merger."""
        return meet(self._policy(), Part(source, None), Part(merge_with, None)).value


@lru_cache(maxsize=1)
def offered() -> dict[str, Any]:
    """The mergers that packages offer."""
    return {entry.name: entry for entry in metadata.entry_points(group=ENTRY_POINTS)}


def constructed(name: str, options: Any, root: Root) -> Any:
    """A custom merger with its options. raises: CloudConfigError, also where foreign code may not run"""
    if name not in _registered and not may_run():
        hint = "ask for it where it is trusted: --run-code"
        raise CloudConfigError(DEFINITION, f"the merger {name!r} ({offered()[name].value}) {NOT_RUN}", hint=hint)
    try:
        merger = _registered.get(name) or offered()[name].load()
        return merger(root, list(options) if isinstance(options, tuple) else options)
    except Exception as error:
        raise CloudConfigError(DEFINITION, f"the merger {name!r} cannot be made: {error}") from error


def methods_of(name: str, merger: Any) -> Iterator[tuple[type, Join]]:
    """The types of old values that a custom merger decides about, and how."""
    for python in (dict, list, str, type(None), *OPEN_KINDS):
        method = getattr(merger, f"_on_{python.__name__.lower()}", None)
        if callable(method):
            yield python, partial(_asked, name, method)


def _asked(name: str, method: Callable[[Any, Any], Any], lower: Part, upper: Part) -> Part:
    try:
        value = independent(method(independent(lower.value), independent(upper.value)))
    except NodeattrsError:
        raise
    except Exception as error:
        raise MergeConflict(f"the merger {name!r} failed: {error}") from error
    return made(value, lower, upper)

"""Custom mergers: classes of users that decide how values of some types are merged.

A merger is registered by a call, or an installed package offers it through an entry point. A merger is foreign code: it
gets copies of values, and a merger from a package runs only where code may run. `mergers` makes policies from its
methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any

from nodeattrs import packages
from nodeattrs.core.borders import checked_args
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
"""Further types of old values for which a custom merger may have a method, and their names in policies."""

ENTRY_POINTS = "nodeattrs.cloudinit_mergers"
"""The entry-point group in which packages offer merger classes, by name."""

_registered: dict[str, Callable[[Any, Any], Any]] = {}


@checked_args(name=str, merger=Callable)
def register_merger(name: str, merger: Callable[[Any, Any], Any]) -> None:
    """Register a custom merger under *name*. It replaces a merger that was registered under this name.

    merger: called as `merger(root, options)`. It returns an object with methods `_on_<type>(old, new)`, where <type> is
            a class name in lower case. They return the merged value, and may call `root.merge(old, new)`
    raises: BadArgument, for a name of a built-in merger, and a name that is no identifier in lower case
    """
    if not name.isascii() or not name.isidentifier() or name != name.lower() or name in BUILT_IN:
        raise BadArgument(
            f"{name!r} cannot be the name of a merger", hint="a lower-case name other than dict, list and str"
        )
    _registered[name] = merger


@checked_args(name=str)
def unregister_merger(name: str) -> None:
    """Forget a custom merger; one that is not known is no error."""
    _registered.pop(name, None)


def registered_mergers() -> dict[str, Callable[[Any, Any], Any]]:
    """The mergers that were registered by a call, as a copy: name -> merger."""
    return dict(_registered)


def is_known_merger(name: str) -> bool:
    """Whether a registered merger or one of an installed package has that name; False for built-in ones."""
    return name in _registered or name in _offered()


class Root:
    """The first argument of a custom merger. Its `merge` merges two values by the definition in which the merger is
    named.

    policy: called without arguments at each merge; returns the policy of that definition. It is a function since the
            policy is complete only after its mergers are made
    """

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy

    def merge(self, source: Any, merge_with: Any) -> Any:
        """The old value *source* and the new value *merge_with*, merged. raises: MergeConflict"""
        return meet(self._policy(), Part(source, None), Part(merge_with, None)).value


@lru_cache(maxsize=1)
def _offered() -> dict[str, Any]:
    """The entry points of mergers in installed packages, by name; they are looked up once."""
    return {entry.name: entry for entry in packages.entry_points(ENTRY_POINTS)}


def make_merger(name: str, options: Any, root: Root) -> Any:
    """Import a custom merger and call it. Returns the object that it makes.

    name:    a name for which `is_known_merger` is true
    options: the options of the definition; a tuple becomes a list
    root:    the first argument of the merger
    raises:  CloudConfigError, for any error of the merger, and if the merger is from a package and code may not run
    """
    if name not in _registered and not may_run():
        hint = "ask for it where it is trusted: --run-code"
        raise CloudConfigError(DEFINITION, f"the merger {name!r} ({_offered()[name].value}) {NOT_RUN}", hint=hint)
    try:
        merger = _registered.get(name) or _offered()[name].load()
        return merger(root, list(options) if isinstance(options, tuple) else options)
    except Exception as error:
        raise CloudConfigError(DEFINITION, f"the merger {name!r} cannot be made: {error}") from error


def join_functions(name: str, merger: Any) -> Iterator[tuple[type, Join]]:
    """Yield (type of the old value, function) for each type for which a merger has a method `_on_<type>`.

    The function takes the parts of the old and the new value, and returns the merged part. It calls the method with
    copies of both values. It raises MergeConflict for any error in the method.

    name:   the name of the merger, for errors
    merger: the object that `make_merger` returns
    """
    for python in (dict, list, str, type(None), *OPEN_KINDS):
        method = getattr(merger, f"_on_{python.__name__.lower()}", None)
        if callable(method):
            yield python, partial(_joined, name, method)


def _joined(name: str, method: Callable[[Any, Any], Any], lower: Part, upper: Part) -> Part:
    try:
        value = independent(method(independent(lower.value), independent(upper.value)))
    except NodeattrsError:
        raise
    except Exception as error:
        raise MergeConflict(f"the merger {name!r} failed: {error}") from error
    return made(value, lower, upper)

"""Stores by a whole path: `node.default_unless["a"]["b"] = 1`, and the full assignment, Ruby's `default!`.

Each is a component and a path that grows step by step; nothing is looked at, and no map is
made, before the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.errors import BadArgument
from nodeattrs.node.component_tree import ComponentTree, value_of
from nodeattrs.node.values import Sensitive, Withheld, steps_in, steps_of, stored


class _PathWriter:
    """A component and a path that grows step by step; the subclass stores. raises: BadArgument, without a path"""

    __slots__ = ("_before", "_path", "_tree")
    _called: ClassVar[str]
    _example: ClassVar[str]

    def __init__(self, tree: ComponentTree, path: Path = (), before: Callable[[Path], Any] | None = None) -> None:
        self._tree = tree
        self._path = path
        self._before = before

    def __getitem__(self, step: Any) -> Self:
        return type(self)(self._tree, (*self._path, *steps_of(steps_in(step), self._path)), self._before)

    def __setitem__(self, step: Any, value: Any) -> None:
        self(*steps_in(step), value)

    def __call__(self, *path_and_value: Any) -> Any:
        """Store the last argument at the path before it."""
        if len(path_and_value) < 2:
            raise BadArgument(f"{self._called} needs a path and a value", hint=f"{self._example}('apache', 'port', 80)")
        path = (*self._path, *steps_of(path_and_value[:-1], self._path))
        return path_and_value[-1] if self._store(path, stored(path_and_value[-1], path)) else None

    def _store(self, path: Path, value: Any) -> bool:
        """Store a value where that is asked for; whether it was stored."""
        raise NotImplementedError


class UnlessWriter(_PathWriter):
    """`node.default_unless["a"]["b"] = 1`: stores only where this component has no value at the path; null counts as
    none.

    Also callable: `node.default_unless("a", "b", 1)` returns the value it stored, or None where it stored nothing. A
    value that is found stays, and the history notes the attempt as silent. Other components do not count. Nothing is
    made on the way before the store.
    raises: BadArgument, without a path
    source: Chef's `default_unless`; it asks its own component only
    """

    __slots__ = ()
    _called, _example = "an unless", "default_unless"

    def _store(self, path: Path, value: Any) -> bool:
        if not _is_none(value_of(self._tree.place(path))):
            self._tree.note_silent(path, value)
            return False
        self._tree.write(path, value)
        return True


def _is_none(value: Any) -> bool:
    """Whether there is no value: nothing, null, a secret that is null, or one that was not stored.

    A deferred value is one, whatever it may come to: it is not computed for the question, as in Chef.
    """
    return value is ABSENT or value is None or isinstance(value, Withheld) or value == Sensitive(None)


class FullWriter(_PathWriter):
    """The full assignment, Ruby's `default!`: scalars and lists on the path are replaced by maps.

    Also callable: `node.default_full("a", "b", 1)` stores the last argument and returns it.
    before: called with the path before the store; the force forms clear their whole level there
    raises: BadArgument, without a path
    """

    __slots__ = ()
    _called, _example = "a full assignment", "default_full"

    def _store(self, path: Path, value: Any) -> bool:
        if self._before is not None:
            self._before(path)
        self._tree.write(path, value, full=True)
        return True

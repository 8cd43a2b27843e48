"""Questions to a store's index beside search: names in a query that no node has, and the nodes with a value at a path.

Documents are read only to find similar names, from a sample of nodes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, hint_for, spell
from nodeattrs.errors import NotFound
from nodeattrs.store.engines.store import Store
from nodeattrs.store.search.fields import NO_NUL, OWN, index_parts, names_of, scalar_text, whole
from nodeattrs.store.search.query import And, Condition, FieldTerm, Not, Or, PathTerm, Pattern, Query

_OF_DOCUMENTS = frozenset(
    ("chef_environment", "name", "policy_group", "policy_name", "recipe", "recipes", "role", "roles", "run_list")
)
"""Fields of a document that no recipe sets."""

_LOOKED_AT, _SOME = 50, 12
"""The most documents that are read to find similar names, and to list paths."""


def unknown_names(store: Store, query: Query, found: bool, at: datetime | None = None) -> list[NotFound]:
    """Errors about fields and paths of a query that no node has, with similar names; they are returned, not raised.

    [] for none, and for an empty store.
    found: whether the query found a node. If it did, only queries with NOT or OR are checked
    at:    the time that was searched; None: the latest revisions
    cost:  one search for each term
    """
    terms = list(_terms(query.condition))
    if found and not any(isinstance(one, Not | Or) for one in _inside(query.condition)):
        return []
    missing = [one for one in terms if not store.search(Query("", _anything(one)), at)]
    if not missing or not (names := store.names()):
        return []
    documents = (saved.document for name in names[:_LOOKED_AT] if (saved := store.load(name, at)))
    fields, paths = _known(documents)
    return [
        _no_path(one.path, paths, fields) if isinstance(one, PathTerm) else _no_field(one, fields) for one in missing
    ]


def no_such_path(path: Path, documents: Iterable[dict[str, Any]]) -> NotFound:
    """The error for a path that none of the documents has, with similar paths; it is returned, not raised."""
    fields, paths = _known(documents)
    return _no_path(path, paths, fields)


def known_paths(store: Store) -> set[str]:
    """The paths that have a value in some saved nodes, as text without indexes of lists: for completion.

    About a dozen nodes are read. An empty set if no node is saved.
    """
    names = store.names()
    documents = (saved.document for saved in map(store.load, names[:: max(1, len(names) // _SOME)]) if saved)
    parts = {part.key: part for document in documents for part in index_parts(document)}
    return {spell(entry.steps) for part in parts.values() for entry, trees in part.entries().items() if trees & OWN}


def paths_of(query: Query) -> tuple[list[Path], bool]:
    """Returns (paths, by_fields): the paths in a query's terms, and whether it also has fields of attributes."""
    terms = [one for one in _inside(query.condition) if isinstance(one, PathTerm | FieldTerm)]
    paths: list[Path] = [one.path for one in terms if isinstance(one, PathTerm)]
    return paths, any(isinstance(one, FieldTerm) and one.field.plain not in _OF_DOCUMENTS for one in terms)


def _inside(condition: Condition) -> Iterator[Condition]:
    yield condition
    if isinstance(condition, And | Or | Not):
        for one in (condition.inner,) if isinstance(condition, Not) else condition.inner:
            yield from _inside(one)


def _terms(condition: Condition) -> Iterator[FieldTerm | PathTerm]:
    for one in _inside(condition):
        if isinstance(one, PathTerm) or (isinstance(one, FieldTerm) and one.field.plain is not None):
            yield one


def _anything(term: FieldTerm | PathTerm) -> Condition:
    if isinstance(term, PathTerm):
        return PathTerm(term.path, lambda kind, text: True)
    return FieldTerm(term.field, Pattern((Pattern.ANY,)))


def _known(documents: Iterable[dict[str, Any]]) -> tuple[set[str], set[Path]]:
    """Returns (fields, paths) of some documents; a part that several of them share is visited once."""
    parts = {part.key: part for document in documents for part in index_parts(document)}
    steps = {entry.steps for part in parts.values() for entry in part.entries()}
    paths = {path[:length] for path in steps for length in range(1, len(path) + 1)}
    return {name for path in steps for name, _ in names_of(path)}, set(paths)


def _no_field(term: FieldTerm, fields: set[str]) -> NotFound:
    hint = hint_for(term.field.plain, fields) or "a field is a key, or keys joined by _: nginx_port"
    return NotFound(f"no node has the field {term.field.plain}", hint=hint)


def _no_path(path: Path, paths: set[Path], fields: set[str]) -> NotFound:
    spelled = spell(path)
    close = difflib.get_close_matches(spelled, map(spell, paths), 3, 0.7)
    hint = f"did you mean {' or '.join(close)}?" if close else "a path is spelled from the root: nginx.port"
    if len(path) == 1 and str(path[0]) in fields:
        hint = f"{spelled} is a field of Chef's language: write {spelled}:value"
    return NotFound(f"no node has a value at {spelled}", hint=hint)


_WHOLE = "w"
_SECRET = "$sensitive"


class NodesByValue:
    """Finds the nodes that have a given value at one path. It asks the search index of a store, and reads no documents.

    `with_value` returns the names of the nodes, or None if the index cannot answer, as for a map.
    The constructor searches the store once for each step above the path, for nodes that have a list there.

    path: keys only; it must not have the index of a list
    """

    def __init__(self, store: Store, path: Path) -> None:
        self._store, self._steps = store, tuple(map(str, path))
        prefixes = (self._steps[:length] for length in range(1, len(path)))
        self._inside_lists = {name for steps in prefixes for name in self._having(steps, _WHOLE)}

    def with_value(self, value: Any) -> set[str] | None:
        """The names of the nodes that read *value* at the path; an empty set for none.

        None if the index has no answer: for a map, and for a list with maps or lists in it. Another list is compared as
        a whole.
        value: JSON-able data, or the marker of a secret. ABSENT: the path is not set. A node is then found only if
               none of its paths has the last key of this path
        """
        if value is ABSENT:
            anywhere = Query("", FieldTerm(Pattern((self._steps[-1],)), Pattern((Pattern.ANY,))))
            return set(self._store.names()) - set(self._store.search(anywhere))
        if isinstance(value, dict):
            is_secret = value.keys() == {_SECRET}
            return self._having((*self._steps, _SECRET)) - self._inside_lists if is_secret else None
        if isinstance(value, list):
            if any(isinstance(one, (dict, list)) for one in value):
                return None
            return self._having(self._steps, _WHOLE, whole(value).replace("\0", NO_NUL)) - self._inside_lists
        kind, text = scalar_text(value)
        return self._having(self._steps, kind, text) - self._lists - self._inside_lists

    @cached_property
    def _lists(self) -> set[str]:
        """The names of the nodes with a list at the path."""
        return self._having(self._steps, _WHOLE)

    def _having(self, steps: tuple[str, ...], kind: str = "", text: str | None = None) -> set[str]:
        def holds(its: str, found: str) -> bool:
            return (not kind or its == kind) and text in (None, found)

        exact = () if text is None else (text,)
        return set(self._store.search(Query("", PathTerm(steps, holds, exact))))

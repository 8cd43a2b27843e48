"""What a store's index says of paths: fields and paths that no node has, and nodes that read the same at one.

Documents are opened only where near misses are looked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, meant, spell
from nodeattrs.errors import NotFound
from nodeattrs.store.engines.store import Store
from nodeattrs.store.search.fields import NO_NUL, OWN, index_parts, names_of, scalar_text, whole
from nodeattrs.store.search.query import And, Asked, Not, Or, Own, Pattern, Query, Term

_OF_DOCUMENTS = frozenset(
    ("chef_environment", "name", "policy_group", "policy_name", "recipe", "recipes", "role", "roles", "run_list")
)
"""Fields that say how a node runs: no recipe sets them."""

_LOOKED_AT, _SOME = 50, 12
"""Documents that are looked into for near misses, and for what there is at all."""


def doubts(store: Store, query: Query, found: bool, at: datetime | None = None) -> list[NotFound]:
    """The errors for fields and paths of a query that no node has, with similar names; [] where there are none.

    found: whether the query found a node; then only queries with NOT or OR are looked at
    cost:  one search for each term
    """
    terms = list(_terms(query.asked))
    if found and not any(isinstance(one, Not | Or) for one in _inside(query.asked)):
        return []
    missing = [one for one in terms if not store.search(Query("", _anything(one)), at)]
    if not missing or not (names := store.names()):
        return []
    documents = (saved.document for saved in map(store.load, names[:_LOOKED_AT]) if saved)
    fields, paths = _known(documents)
    return [_no_path(one.path, paths, fields) if isinstance(one, Own) else _no_field(one, fields) for one in missing]


def no_such_path(path: Path, documents: Iterable[dict[str, Any]]) -> NotFound:
    """The error for a path that none of the documents has, with similar paths."""
    fields, paths = _known(documents)
    return _no_path(path, paths, fields)


def known_paths(store: Store) -> set[str]:
    """The paths that a sample of the saved nodes has values at, spelled; without indexes of lists."""
    names = store.names()
    documents = (saved.document for saved in map(store.load, names[:: max(1, len(names) // _SOME)]) if saved)
    parts = {part.key: part for document in documents for part in index_parts(document)}
    return {spell(entry.steps) for part in parts.values() for entry, trees in part.entries().items() if trees & OWN}


def paths_of(query: Query) -> tuple[list[Path], bool]:
    """Returns the paths in the terms of a query, and whether it also looks at fields in all attributes."""
    terms = [one for one in _inside(query.asked) if isinstance(one, Own | Term)]
    paths: list[Path] = [one.path for one in terms if isinstance(one, Own)]
    return paths, any(isinstance(one, Term) and one.field.plain not in _OF_DOCUMENTS for one in terms)


def _inside(asked: Asked) -> Iterator[Asked]:
    yield asked
    if isinstance(asked, And | Or | Not):
        for one in (asked.inner,) if isinstance(asked, Not) else asked.inner:
            yield from _inside(one)


def _terms(asked: Asked) -> Iterator[Term | Own]:
    for one in _inside(asked):
        if isinstance(one, Own) or (isinstance(one, Term) and one.field.plain is not None):
            yield one


def _anything(term: Term | Own) -> Asked:
    if isinstance(term, Own):
        return Own(term.path, lambda kind, text: True)
    return Term(term.field, Pattern((Pattern.ANY,)))


def _known(documents: Iterable[dict[str, Any]]) -> tuple[set[str], set[Path]]:
    """The fields and the paths of some nodes; what several of them say alike is looked at once."""
    parts = {part.key: part for document in documents for part in index_parts(document)}
    steps = {entry.steps for part in parts.values() for entry in part.entries()}
    paths = {path[:length] for path in steps for length in range(1, len(path) + 1)}
    return {name for path in steps for name, _ in names_of(path)}, set(paths)


def _no_field(term: Term, fields: set[str]) -> NotFound:
    hint = meant(term.field.plain, fields) or "a field is a key, or keys joined by _: nginx_port"
    return NotFound(f"no node has the field {term.field.plain}", hint=hint)


def _no_path(path: Path, paths: set[Path], fields: set[str]) -> NotFound:
    spelled = spell(path)
    close = difflib.get_close_matches(spelled, map(spell, paths), 3, 0.7)
    hint = f"did you mean {' or '.join(close)}?" if close else "a path is spelled from the root: nginx.port"
    if len(path) == 1 and str(path[0]) in fields:
        hint = f"{spelled} is a field of Chef's language: write {spelled}:value"
    return NotFound(f"no node has a value at {spelled}", hint=hint)


WHOLE = "w"
_SECRET = "$sensitive"


class EqualNodes:
    """Asks the index of a store which nodes read a given value at one path. The path has no index of a list."""

    def __init__(self, store: Store, path: Path) -> None:
        self._store, self._steps = store, tuple(map(str, path))
        prefixes = (self._steps[:length] for length in range(1, len(path)))
        self._inside_lists = {name for steps in prefixes for name in self._having(steps, WHOLE)}

    def with_value(self, value: Any) -> set[str] | None:
        """The names of the nodes that read *value* at the path; None where the index cannot answer.

        That is so for a map, and for a list with a map or a list in it.
        value: JSON-able data; ABSENT for the nodes that read nothing there
        """
        if value is ABSENT:  # of a node that has the last key elsewhere an index cannot say it
            anywhere = Query("", Term(Pattern((self._steps[-1],)), Pattern((Pattern.ANY,))))
            return set(self._store.names()) - set(self._store.search(anywhere))
        if isinstance(value, dict):
            is_secret = value.keys() == {_SECRET}
            return self._having((*self._steps, _SECRET)) - self._inside_lists if is_secret else None
        if isinstance(value, list):
            if any(isinstance(one, (dict, list)) for one in value):
                return None
            return self._having(self._steps, WHOLE, whole(value).replace("\0", NO_NUL)) - self._inside_lists
        kind, text = scalar_text(value)
        return self._having(self._steps, kind, text) - self._lists - self._inside_lists

    @cached_property
    def _lists(self) -> set[str]:
        """The nodes that have a list there."""
        return self._having(self._steps, WHOLE)

    def _having(self, steps: tuple[str, ...], kind: str = "", text: str | None = None) -> set[str]:
        def holds(its: str, found: str) -> bool:
            return (not kind or its == kind) and text in (None, found)

        exact = () if text is None else (text,)
        return set(self._store.search(Query("", Own(steps, holds, exact))))

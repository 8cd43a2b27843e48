"""Which nodes read the same at a path, by the index alone: no document is opened.

It knows what an index holds of a value, and neither who set it nor what it is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.keep.search.fields import NO_NUL, scalar_text, whole
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.search.terms import Own, Pattern, Term
from nodeattrs.keep.stores.store import Store

WHOLE = "w"
_SECRET = "$sensitive"


class Alike:
    """Asks a store about one path. Places in lists are not known to an index, so a path has none."""

    def __init__(self, store: Store, path: Path) -> None:
        self._store, self._steps = store, tuple(map(str, path))
        prefixes = (self._steps[:length] for length in range(1, len(path)))
        self._inside_lists = {name for steps in prefixes for name in self._having(steps, WHOLE)}

    def to(self, value: Any) -> set[str] | None:
        """The nodes that read *value* there; None where an index cannot say it: of a map, and of odd values.

        value: as JSON, ABSENT for those that read nothing
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

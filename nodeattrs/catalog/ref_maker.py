"""What a recipe says for a type: `Package['ntp']`, and `Package.where(...)` for all that answer a query.

It makes references and collectors, and reads queries in Puppet's words for them. It knows no catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nodeattrs.catalog.chain_text import parsed_query
from nodeattrs.catalog.references import Collector, Link, Query, Refs, capitalised, made


class RefMaker:
    """`Package['ntp']`, `Package['a', 'b']`, and `Package.where(...)` for all that answer a query.

    hear: is told of each link its references are used in

    >>> RefMaker("Package")["ntp"], RefMaker("Package").where(provider="yum").query
    (Package['ntp'], ('==', 'provider', 'yum'))
    """

    def __init__(
        self, kind: str, hear: Callable[[Link], None] | None = None, title: Callable[[str], str] = lambda text: text
    ) -> None:
        self._kind = capitalised(kind)
        self._hear = hear
        self._title = title

    def __getitem__(self, titles: str | Iterable[str]) -> Any:
        if isinstance(titles, str):
            ref = made(self._kind, self._title(titles))
            ref.hear = self._hear
            return ref
        return Refs(self[title] for title in titles)

    def where(self, text: str | None = None, **values: Any) -> Collector:
        """All resources of this type, those that answer a query in Puppet's words, or those with these values.

        raises: DocumentError, for a text that is no query
        """
        query = parsed_query(text) if text else None
        for name, value in values.items():
            one: Query = ("==", name, value)
            query = one if query is None else ("and", query, one)
        return Collector(self._kind, query, None, self._hear)

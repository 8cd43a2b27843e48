"""The function `search` for recipes and for providers of bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.tree import ABSENT, copied, parse
from nodeattrs.errors import BadArgument
from nodeattrs.store import Store
from nodeattrs.store.search import found_tree, parse_query


def search_word(store: Store, before: Callable[[], None] | None = None) -> Callable[..., list[dict[str, Any]]]:
    """The function search(index, query, attributes) for recipes, which searches a store's latest revisions.

    It returns a list with the merged attributes of each node that the query finds; [] for none. *index* must be "node".
    *attributes* is a map title -> path as text. If it is given, each node is a map: title -> value at the path, or None
    if the path is not set.
    before: called before each search; None: nothing is called
    raises: the function raises BadArgument, for another index; QueryNotUnderstood, QueryNotSupported
    """

    def search(index: str, query: str = "*:*", attributes: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """The attributes of each node that *query* finds, as plain copies; [] for none.

        attributes: title -> path; then each node is a map title -> value, None where the path is not set
        raises:     BadArgument, for another index; QueryNotUnderstood, QueryNotSupported
        """
        if index != "node":
            raise BadArgument(f"{index!r} cannot be searched, only nodes", hint='write search("node", "role:db")')
        if before is not None:
            before()
        wanted = parse_query(query)
        if attributes is None:
            found = (store.load(name) for name in store.search(wanted))
            return [copied(found_tree(saved.document)) for saved in found if saved is not None]
        paths = tuple(parse(path) for path in attributes.values())
        return [
            {title: None if value is ABSENT else copied(value) for title, value in zip(attributes, values, strict=True)}
            for values in store.values(wanted, paths)
        ]

    return search

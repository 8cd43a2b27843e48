"""The word `search` of recipes, and of providers of bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.tree import ABSENT, copied, dig, parse
from nodeattrs.errors import BadArgument
from nodeattrs.store import Store
from nodeattrs.store.search import parse_query, read_tree


def search_word(store: Store, before: Callable[[], None] | None = None) -> Callable[..., list[dict[str, Any]]]:
    """Return the function search(index, query, attributes) for recipes; only the index "node" can be searched.

    It gives the attributes of each node that fits the query, or title -> value for *attributes*.

    before: called before each search
    """

    def search(index: str, query: str = "*:*", attributes: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """What each of the nodes reads, as plain data; with *attributes* (name -> path) only these, None where absent.

        raises: BadArgument, QueryNotUnderstood, QueryNotSupported, MissingExtra
        """
        if index != "node":
            raise BadArgument(f"{index!r} cannot be searched, only nodes", hint='write search("node", "role:db")')
        if before is not None:
            before()
        names = store.search(parse_query(query))
        trees = [read_tree(saved.document) for saved in map(store.load, names) if saved is not None]
        if attributes is None:
            return [copied(tree) for tree in trees]
        paths = {title: parse(path) for title, path in attributes.items()}
        found = [{title: dig(tree, path) for title, path in paths.items()} for tree in trees]
        return [{title: None if value is ABSENT else copied(value) for title, value in one.items()} for one in found]

    return search

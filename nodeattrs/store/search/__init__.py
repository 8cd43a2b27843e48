"""Search for saved nodes: Chef's query language with terms of our own, and the entries that find nodes.

`parse_query` makes a `Query`; a store answers it from its index (`engines.index`).
"""

from __future__ import annotations

from nodeattrs.store.search.fields import fields_of, found_tree, index_parts, indexed, read_tree
from nodeattrs.store.search.query import Query, QueryNotSupported, QueryNotUnderstood, parse_query

__all__ = [
    "Query",
    "QueryNotSupported",
    "QueryNotUnderstood",
    "fields_of",
    "found_tree",
    "index_parts",
    "indexed",
    "parse_query",
    "read_tree",
]

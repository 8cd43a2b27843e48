"""Search: which of many nodes have something. Chef's query language, and our own terms beside it.

A query is parsed once. A store answers it from the index in its database. It knows no store and no command line.
"""

from __future__ import annotations

from nodeattrs.store.search.fields import fields_of, index_parts, indexed, read_tree
from nodeattrs.store.search.query import Query, QueryNotSupported, QueryNotUnderstood, parse_query

__all__ = [
    "Query",
    "QueryNotSupported",
    "QueryNotUnderstood",
    "fields_of",
    "index_parts",
    "indexed",
    "parse_query",
    "read_tree",
]

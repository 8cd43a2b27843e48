"""Search: which of many nodes have something. Chef's query language, and our own terms beside it.

A query is parsed once and asked of an index; where the index lives (in memory, in SQLite, in
PostgreSQL) is its own affair. It knows no store and no command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.keep.search.answer import Index, answer
from nodeattrs.keep.search.fields import fields_of, index_parts, indexed, read_tree
from nodeattrs.keep.search.query import Query, QueryNotSupported, QueryNotUnderstood, parse_query

if TYPE_CHECKING:
    from nodeattrs.keep.search.memory import MemoryIndex

__all__ = [
    "Index",
    "MemoryIndex",
    "Query",
    "QueryNotSupported",
    "QueryNotUnderstood",
    "answer",
    "fields_of",
    "index_parts",
    "indexed",
    "parse_query",
    "read_tree",
]

__getattr__ = imported(__name__, {"MemoryIndex": "memory"})  # a database has an index of its own

"""Stores of saved nodes: their documents, snapshots and revisions, in SQLite or PostgreSQL, with search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.core.tree import checked_name
from nodeattrs.store.engines import open_store
from nodeattrs.store.engines.store import Store
from nodeattrs.store.revisions import NewerRevision, Noted, Revision, Saved

if TYPE_CHECKING:
    from nodeattrs.store.filters import allowed, blocked, filtered_snapshot, saved_document
    from nodeattrs.store.folders import export_nodes, import_nodes

__all__ = [
    "NewerRevision",
    "Noted",
    "Revision",
    "Saved",
    "Store",
    "allowed",
    "blocked",
    "checked_name",
    "export_nodes",
    "filtered_snapshot",
    "import_nodes",
    "open_store",
    "saved_document",
]

__getattr__ = imported(  # loaded at their first use: most commands read a store, and filter and export nothing
    __name__,
    {
        "allowed": "filters",
        "blocked": "filters",
        "saved_document": "filters",
        "filtered_snapshot": "filters",
        "export_nodes": "folders",
        "import_nodes": "folders",
    },
)

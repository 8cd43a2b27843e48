"""Saved nodes: their documents and revisions, in a database."""

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

__getattr__ = imported(  # who reads a store filters nothing
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

"""What outlives a run: what of a node is kept, under which name, and where."""

from nodeattrs.core.tree import checked_name
from nodeattrs.keep.filters import allowed, blocked, saved_document
from nodeattrs.keep.revisions import NewerRevision, Noted, Revision, Saved, Store, retried
from nodeattrs.keep.snapshots import filtered_snapshot
from nodeattrs.keep.stores import open_store

__all__ = [
    "NewerRevision",
    "Noted",
    "Revision",
    "Saved",
    "Store",
    "allowed",
    "blocked",
    "checked_name",
    "filtered_snapshot",
    "open_store",
    "retried",
    "saved_document",
]

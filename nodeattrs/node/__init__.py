"""The node: fifteen slots with writers, a merged view, traces, documents and snapshots."""

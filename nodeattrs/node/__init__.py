"""The node: slots, ledger, writers, views, traces. Imports the core, and texts to find lines."""

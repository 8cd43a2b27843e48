"""The tables of a store in a database, and how each version came of the one before.

text      a whole document or snapshot: its hash, and the hashes of its pieces; and the hash of
          the value it was made of, so that what did not change need not be read back again
piece     a part of a text, stored once however many texts have it
node      a name, and the number of its latest revision, which outlives a delete
revision  which document and snapshot a save left
path, field, entry, part, part_entry, node_part
          what can be found: fields lead to paths, paths to entries (values), entries to the
          parts that say them, parts to nodes. A part is stored once for all nodes that say
          the same there. Their numbers are hashes under a key of the store's own, so that
          nobody can make two of them meet.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE piece (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
        "CREATE TABLE text (hash BLOB PRIMARY KEY, pieces BLOB NOT NULL, form BLOB)",
        "CREATE TABLE node (id BIGKEY, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL)",
        "CREATE TABLE revision (node BIGINT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, "
        "noted TEXT NOT NULL, document BLOB NOT NULL, snapshot BLOB, PRIMARY KEY (node, number))",
        "CREATE TABLE secret (value BLOB NOT NULL)",
    ),
    (
        "CREATE TABLE path (id BIGINT PRIMARY KEY, steps TEXT NOT NULL)",
        "CREATE TABLE field (id BIGINT NOT NULL, name TEXT NOT NULL, path BIGINT NOT NULL, depth INTEGER NOT NULL, "
        "PRIMARY KEY (id, path, depth))",
        "CREATE TABLE entry (id BIGINT PRIMARY KEY, path BIGINT NOT NULL, kind TEXT NOT NULL, "
        "text TEXT NOT NULL, folded TEXT)",
        "CREATE INDEX entry_path ON entry (path)",
        "CREATE TABLE part (id BIGINT PRIMARY KEY)",
        "CREATE TABLE part_entry (entry BIGINT NOT NULL, part BIGINT NOT NULL, view INTEGER NOT NULL, "
        "PRIMARY KEY (entry, part))",
        "CREATE INDEX part_entry_part ON part_entry (part)",
        "CREATE TABLE node_part (part BIGINT NOT NULL, node BIGINT NOT NULL, PRIMARY KEY (part, node))",
        "CREATE INDEX node_part_node ON node_part (node)",
    ),
    (),
)
"""What each version added to the one before; the number of a version is how many of them it has.
BIGKEY and BLOB are spelled by the database's own module. One without statements: other things can be found."""

VERSION = len(MIGRATIONS)

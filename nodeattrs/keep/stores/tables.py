"""The tables of a store in a database.

text      a document, a snapshot or facts, by the hash of its content and compressed; one row however many revisions
          have it
node      a name, and the number of its latest revision, which outlives a delete
revision  which document, snapshot and facts a save left
path, field, entry, word, part, part_entry, node_part
          what can be found: fields lead to paths, paths and words to entries (values), entries to
          the parts that say them, parts to nodes. A part is stored once for all nodes that say
          the same there. Their numbers are hashes under a key of the store's own, so that nobody
          can make two of them meet.
former    which parts a node has had since it was pruned
"""

from __future__ import annotations

SCHEMA: tuple[str, ...] = (
    "CREATE TABLE text (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE node (id BIGKEY, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL)",
    "CREATE TABLE revision (node BIGINT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, "
    "noted TEXT NOT NULL, document BLOB NOT NULL, snapshot BLOB, facts BLOB, PRIMARY KEY (node, number))",
    "CREATE INDEX revision_document ON revision (document)",
    "CREATE INDEX revision_snapshot ON revision (snapshot)",
    "CREATE INDEX revision_facts ON revision (facts)",
    "CREATE TABLE secret (value BLOB NOT NULL, packing TEXT NOT NULL)",
    "CREATE TABLE path (id NUMBER PRIMARY KEY, steps TEXT NOT NULL)",
    "CREATE TABLE field (id BIGINT NOT NULL, path BIGINT NOT NULL, depth INTEGER NOT NULL, name TEXT NOT NULL, "
    "PRIMARY KEY (id, path, depth)) BYKEY",
    "CREATE TABLE entry (id NUMBER PRIMARY KEY, path BIGINT NOT NULL, kind TEXT NOT NULL, "
    "text TEXT NOT NULL, folded TEXT)",
    "CREATE INDEX entry_path ON entry (path)",
    "CREATE TABLE word (word BIGINT NOT NULL, path BIGINT NOT NULL, entry BIGINT NOT NULL, "
    "PRIMARY KEY (word, path, entry)) BYKEY",
    "CREATE TABLE part (id NUMBER PRIMARY KEY)",
    "CREATE TABLE part_entry (entry BIGINT NOT NULL, part BIGINT NOT NULL, view INTEGER NOT NULL, "
    "PRIMARY KEY (entry, part)) BYKEY",
    "CREATE INDEX part_entry_part ON part_entry (part)",
    "CREATE TABLE node_part (part BIGINT NOT NULL, node BIGINT NOT NULL, PRIMARY KEY (part, node)) BYKEY",
    "CREATE INDEX node_part_node ON node_part (node)",
    "CREATE TABLE former (node BIGINT NOT NULL, part BIGINT NOT NULL, PRIMARY KEY (node, part)) BYKEY",
)
"""The statements that make the tables. BIGKEY, NUMBER, BYKEY and BLOB are spelled by the module of each database.
BYKEY: the rows lie in the order of the key, whose columns come first; else SQLite's check reports faults that do not
exist."""

VERSION = 1
"""The version of the schema. A store of another version is refused."""

"""The settings that there are, each with its default. What they mean is known to `runs.config`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from nodeattrs.node.slot_names import DEFAULT_ENVIRONMENT
from nodeattrs.texts.nearest import SETTINGS_FILE

FILE = SETTINGS_FILE
SETTINGS: Mapping[str, Any] = {
    "repo": ".",
    "store": os.path.join(".nodeattrs", "nodes.db"),
    "environment": DEFAULT_ENVIRONMENT,
    "hiera": None,
    "bindings": None,
    "sensitive": [],
    "allowed": {},
    "blocked": {},
    "merge": {},
    "fold": {},
    "limits": {},
    "check": {},
    "schema": {},
    "chef": {},
    "facts": {},
    "cloud-init": {},
    "ansible": {},
    "web": {},
}
"""Every setting and its default; the repository itself is none of its file. Nodes are kept below the current
directory: a repository is not written to unless its own settings ask for it."""

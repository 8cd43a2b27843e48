"""A small repository on disk for a test: paths and texts."""

import json
from pathlib import Path

from nodeattrs.runs.repository import Repository


def repository(root: Path, files: dict[str, object]) -> Repository:
    """A repository that holds *files*: text as it is, anything else as JSON, indented by one."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
    return Repository(root)

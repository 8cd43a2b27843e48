"""Read the JSON Schemas of our documents, which are files of the package; `python -m tests.schemas` makes the files.

There is one file for each document, and `_parts.json` with definitions that several documents use.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

_PART = re.compile(r'"#/\$defs/([^"]+)"')
_FOLDER = files(__name__.partition(".")[0]) / "schemas"


def names() -> list[str]:
    """The names of all schemas, in order."""
    found = (file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json"))
    return sorted(name for name in found if not name.startswith("_"))


def schema(name: str) -> dict[str, Any]:
    """The schema of a document, with the definitions that it refers to under "$defs".

    name:   one of `names`
    raises: FileNotFoundError, for another name
    """
    found, parts = _read(name), _read("_parts")
    needed: dict[str, Any] = {}
    while missing := set(_PART.findall(json.dumps([found, needed]))) - needed.keys():
        needed |= {part: parts[part] for part in missing}
    return found | ({"$defs": dict(sorted(needed.items()))} if needed else {})


def _read(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return read

"""The versions of Python and of installed packages, for a bug report.

The module reads the metadata of packages and imports none of them.
"""

from __future__ import annotations

import platform
import re
import sqlite3
from collections.abc import Iterator
from importlib import metadata

_NAME = re.compile(r"^([A-Za-z0-9._-]+).*?(?:;.*\bextra\s*==\s*['\"]([\w-]+)['\"].*)?$")


def versions() -> Iterator[str]:
    """Lines for a bug report: Python and system, the installed packages of each extra, and the databases.

    A package that is not installed is listed with that remark.
    """
    yield f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"
    extras: dict[str, list[str]] = {}
    for need in metadata.requires("nodeattrs") or ():
        found = _NAME.match(need)
        if found and found[1] != "nodeattrs" and found[2] not in ("dev", "docs"):
            extras.setdefault(found[2] or "", []).append(found[1])
    for extra, names in extras.items():
        yield f"{extra or 'always'}: {', '.join(map(_version, names))}"
    yield f"stores: SQLite {sqlite3.sqlite_version}, {_version('psycopg', 'PostgreSQL by psycopg')}"


def _version(name: str, shown: str | None = None) -> str:
    try:
        return f"{shown or name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{shown or name} (not installed)"

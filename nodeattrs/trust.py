"""The repositories that the caller trusts to set what only the caller may set.

A repository is a stranger until the caller says `nodeattrs trust DIR`, or names it in NODEATTRS_TRUST. The list lies in
the user's own configuration. It knows folders and owners, and no settings.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from nodeattrs.disk import write_whole
from nodeattrs.errors import DocumentError, NotFound

VARIABLE = "NODEATTRS_TRUST"


def is_trusted(folder: str | os.PathLike[str]) -> bool:
    """Whether the caller trusts the repository at a folder: by NODEATTRS_TRUST, or by path and owner."""
    real = os.path.realpath(folder)
    if real in map(os.path.realpath, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))):
        return True
    return any(one["path"] == real and one["owner"] == _owner(real) for one in trusted())


def trusted() -> list[dict[str, Any]]:
    """The repositories that `nodeattrs trust` has noted, each with "path" and "owner". raises: DocumentError"""
    file = _file()
    if file is None or not file.is_file():
        return []
    try:
        found = json.loads(file.read_text("utf-8"))["trusted"]
        return [{"path": str(one["path"]), "owner": int(one["owner"])} for one in found]
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = "remove it, then trust the repositories anew"
        raise DocumentError("does not hold a list of trusted repositories", file=str(file), hint=hint) from error


def trust(folder: str, *, remove: bool = False) -> str:
    """Note that a repository is trusted, or no longer; its real path.

    raises: NotFound, where there is no such folder, no home to keep the list in, or nothing to remove
    """
    real, file = os.path.realpath(folder), _file()
    if not os.path.isdir(real) and not remove:
        raise NotFound(f"there is no folder {folder}")
    if file is None:
        raise NotFound("there is no home folder to keep the list in", hint=f"set {VARIABLE}={real}")
    known = trusted()
    left = [one for one in known if one["path"] != real]
    if remove and len(left) == len(known):
        raise NotFound(f"{real} is not trusted", hint="nodeattrs trust --list prints those that are")
    if not remove:
        left.append({"path": real, "owner": _owner(real)})
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, (json.dumps({"trusted": left}, indent=2) + "\n").encode("utf-8", "surrogateescape"), 0o600)
    return real


def _file() -> Path | None:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home, "nodeattrs", "trusted.json") if os.path.isabs(home) else None


def _owner(folder: str) -> int:
    try:
        return os.stat(folder).st_uid
    except OSError:
        return -1

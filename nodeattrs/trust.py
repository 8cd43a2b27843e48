"""The repositories that the caller trusts: their settings may run programs and name any file.

The caller trusts a repository with `nodeattrs trust DIR`, or names it in NODEATTRS_TRUST. The list is
nodeattrs/trusted.json in the user's configuration. Each entry is the real path of a folder and its owner.
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
    """Whether NODEATTRS_TRUST names a folder, or the list of trusted repositories has it.

    An entry of the list does not count if the folder has another owner now. A folder below a trusted one is not.

    raises: DocumentError, for a list that cannot be read
    """
    real = os.path.realpath(folder)
    if real in map(os.path.realpath, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))):
        return True
    return any(one["path"] == real and one["owner"] == _owner(real) for one in trusted())


def trusted() -> list[dict[str, Any]]:
    """The entries of the list of trusted repositories, each with "path" and "owner" (a user id).

    [] if the list does not exist. raises: DocumentError, for a list that cannot be read
    """
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
    """Add a repository to the list of trusted ones, or with *remove* take it out. Returns the real path of the folder.

    The list is written anew. A repository that is in the list already is added again with its present owner.

    raises: NotFound, for a folder that does not exist, and without a home folder. With *remove*, NotFound for a folder
            that is not in the list. DocumentError, for a list that cannot be read; OSError
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

"""Which file of a name counts here: the nearest one above, and no further than the root of a repository.

It looks at names and owners, and opens nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

SETTINGS_FILE = "nodeattrs.toml"

_ROOTS = (".git", "cookbooks", "roles")
"""What stands at the root of a repository: above it are the files of another one."""


def nearest(file: str, start: str | os.PathLike[str] = os.curdir) -> str | None:
    """The folder, *start* or one above it, that has *file*; None where there is none up to the root of a repository."""
    folder, below = os.path.abspath(start), ""
    while folder != below:
        if os.path.lexists(os.path.join(folder, file)):
            return folder
        if any(os.path.lexists(os.path.join(folder, name)) for name in _ROOTS):
            return None
        folder, below = os.path.dirname(folder), folder
    return None


def is_ours(file: str | os.PathLike[str]) -> bool:
    """Whether a file belongs to us, or to who may do everything anyway."""
    return not hasattr(os, "geteuid") or os.lstat(file).st_uid in (os.geteuid(), 0)


def work_tree_of(folder: Path) -> Path | None:
    """The root of the Git work tree that holds a folder, found by its `.git`; None where there is none.

    folder: a real path, without links
    """
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)

"""Find folders: the nearest one above with a certain file, the root of the work tree of Git, submodules without files.

Only `.gitmodules` is opened; of other files names and owners are looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

SETTINGS_FILE = "nodeattrs.toml"

_ROOTS = (".git", "cookbooks", "roles")
"""Names that only the root of a repository has. The search for a file ends there."""


def nearest(file: str, start: str | os.PathLike[str] = os.curdir) -> str | None:
    """The nearest folder that has *file*: *start* or one above it. None if none up to the repository's root has it.

    The root is the first folder with .git, cookbooks or roles; it is still searched.
    """
    folder, below = os.path.abspath(start), ""
    while folder != below:
        if os.path.lexists(os.path.join(folder, file)):
            return folder
        if any(os.path.lexists(os.path.join(folder, name)) for name in _ROOTS):
            return None
        folder, below = os.path.dirname(folder), folder
    return None


def is_ours(file: str | os.PathLike[str]) -> bool:
    """Whether the user of this process, or root, owns a file; of a link, the link itself. raises: OSError"""
    return os.lstat(file).st_uid in (os.geteuid(), 0)


def work_tree_of(folder: Path) -> Path | None:
    """The nearest folder that has a `.git`: *folder* or one above it; None if none has it. Git is not run.

    folder: a real path, without links
    """
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def absent_submodules(root: Path) -> dict[str, int]:
    """Folder below *root* -> its line in .gitmodules, for each submodule of Git that is not checked out.

    Such a folder is empty, or does not exist. {} without a readable .gitmodules in *root*.
    """
    try:
        lines = (root / ".gitmodules").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    settings = ((number, *line.partition("=")) for number, line in enumerate(lines, 1))
    folders = {value.strip().rstrip("/"): number for number, key, _, value in settings if key.strip() == "path"}
    return {folder: line for folder, line in folders.items() if not _has_files(root / folder)}


def _has_files(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False

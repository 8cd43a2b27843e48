"""What a repository consists of: its files, by their paths as seen from it; no version control, no cache and no store.

It looks at names and at what a file system says of files, and reads none.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple

_NO_CONTENT = frozenset({".git", ".hg", ".svn", ".nodeattrs", "__pycache__"})


def content_of(root: str | os.PathLike[str], but: Collection[str] = ()) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files of a repository, each with its name in it. Links are followed, but for one that leads back.

    but:    files and folders in it that are none of it, with their absolute paths
    raises: OSError
    """
    folder = os.path.abspath(root)
    gone = {os.path.abspath(path) for path in but}
    waiting: list[tuple[str, str, tuple[str, ...]]] = [(folder, "", (os.path.realpath(folder),))]
    while waiting:
        folder, name, above = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in _NO_CONTENT or entry.path in gone:
                    continue
                if entry.is_dir():
                    # What is no link lies where it seems to: to look that up step by step would be most of the work.
                    real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(above[-1], entry.name)
                    if real not in above:
                        waiting.append((entry.path, f"{name}{entry.name}/", (*above, real)))
                elif entry.is_file():
                    yield name + entry.name, entry


class Stamp(NamedTuple):
    """Which file stands somewhere, and when it was changed, in nanoseconds: what it says, and where it is."""

    changed: int
    moved: int
    size: int
    number: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)

    def is_before(self, seconds: float) -> bool:
        """Whether it has stood there since."""
        return max(self.changed, self.moved) < seconds * 1e9


def stamp_of(file: str | os.PathLike[str]) -> Stamp | None:
    """The stamp of a file; None where it cannot be looked at."""
    try:
        return Stamp.of(os.stat(file))
    except (OSError, ValueError):
        return None


MOST = 3_000
"""Files whose stamps are looked at: more would take longer than what they spare."""


def stamps_of(root: str | os.PathLike[str], but: Collection[str] = ()) -> dict[str, Stamp] | None:
    """The stamps of a repository's files, by name; None where there are more than `MOST`, or what cannot be looked at.

    cost: a look at every folder, and one at what is known of each file
    """
    found: dict[str, Stamp] = {}
    try:
        for name, entry in content_of(root, but):
            found[name] = Stamp.of(entry.stat())
            if len(found) > MOST:
                return None
    except OSError:
        return None
    return dict(sorted(found.items()))

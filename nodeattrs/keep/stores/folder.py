"""A directory that is written to so that a kill, a power cut or a full disk leaves what was there.

It knows files by their names below the directory, and no node.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from nodeattrs.disk import open_unfollowed, write_all
from nodeattrs.errors import StoreError

_WAYS_OUT = {
    errno.ENOSPC: "free some space there and try again",
    errno.EDQUOT: "free some space there and try again",
    errno.EROFS: "make it writable, or name another place for the store",
    errno.EACCES: "give yourself the right to, or name another place for the store",
    errno.EPERM: "give yourself the right to, or name another place for the store",
    errno.ENOTDIR: "name a directory",
    errno.EBADF: "the file system there has no locks; name a directory on another one",
    errno.ENOLCK: "the file system there has no locks; name a directory on another one",
    errno.EOPNOTSUPP: "the file system there has no locks; name a directory on another one",
}


class Folder:
    """The directory *shown*, which need not be there yet.

    raises: StoreError, where it cannot be the path of a directory. The methods raise OSError.
    """

    def __init__(self, shown: str) -> None:
        if not shown or "\0" in shown:
            raise StoreError(f"{shown!r} is not the path of a directory")
        self.shown = shown
        # Absolute from the start: a recipe may change the working directory.
        self._directory = os.path.abspath(shown)
        if os.path.lexists(self._directory) and not os.path.isdir(self._directory):
            raise StoreError(f"{shown} is no directory, so it holds no nodes", hint="name a directory")

    def path(self, file: str) -> str:
        return os.path.join(self._directory, file)

    def listing(self) -> list[str]:
        try:
            return os.listdir(self._directory)
        except FileNotFoundError:
            return []

    def content(self, file: str) -> bytes | None:
        try:
            if not stat.S_ISREG(os.stat(self.path(file)).st_mode):
                raise StoreError(f"{self.shown}/{file} is not a file", hint="move it away")
            with open(self.path(file), "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def make(self, folder: str = "") -> None:
        """Make the directory, or one in it, for its owner only. raises: StoreError, for one that leads elsewhere"""
        if folder and os.path.islink(self.path(folder)):
            raise StoreError(
                f"{self.shown}/{folder} is a symbolic link, and nothing is written to where it leads",
                hint="put a directory in its place; the whole store may be reached by a link",
            )
        os.makedirs(self.path(folder), mode=0o700, exist_ok=True)

    def put(self, file: str, content: bytes, after: int = 0) -> None:
        """Write the content of a file from a place on, to the disk; nothing comes after it."""
        handle = open_unfollowed(self.path(file), os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(handle, after)
            os.lseek(handle, after, os.SEEK_SET)
            write_all(handle, content)
            os.fsync(handle)
        finally:
            os.close(handle)

    def overwrite(self, file: str, content: bytes) -> None:
        """Write over the beginning of a file that is there, as far as that can be done; nothing is flushed."""
        with contextlib.suppress(OSError):
            handle = open_unfollowed(self.path(file), os.O_WRONLY)
            try:
                os.pwrite(handle, content, 0)
            finally:
                os.close(handle)

    def replace(self, old: str, new: str) -> None:
        os.replace(self.path(old), self.path(new))

    def remove(self, file: str) -> None:
        os.unlink(self.path(file))

    def cut(self, file: str, length: int) -> None:
        """Take back what `put` wrote after a place, as far as that can be done; of a new file, all."""
        with contextlib.suppress(OSError):
            if length:
                os.truncate(self.path(file), length)
            else:
                self.remove(file)

    def settle(self, folder: str = "") -> None:
        """Have on disk which files there are in the directory, or in one in it."""
        handle = os.open(self.path(folder), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            with contextlib.suppress(OSError):
                os.close(handle)

    @contextlib.contextmanager
    def locked(self, *, exclusive: bool) -> Iterator[None]:
        """While nobody else writes there."""
        try:
            import fcntl
        except ImportError as error:
            raise StoreError("this system has no locks for files, so nothing can be saved in them") from error
        directory = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield
        finally:
            with contextlib.suppress(OSError):
                os.close(directory)

    @contextlib.contextmanager
    def failing(self, task: str, *details: str) -> Iterator[None]:
        """Say what could not be done, and the way out."""
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"cannot {task} in {self.shown}: {reason}", details=details, hint=_WAYS_OUT.get(error.errno or 0)
            ) from error

"""Safe writing of files: no link is followed out, and every reader sees the whole old file or the whole new one.

A folder is opened step by step from an open one. So a link that another program creates on the way has no effect. A
file is written beside its place, and renamed over it. The temporary file has a lock that ends with the process. So
`sweep` recognizes the files of killed processes, and removes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence

_PATH = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER = _PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40

_MARK = ".nodeattrs-"
_LEFT = re.compile(r"(?s)\..*\.nodeattrs-[0-9a-f]{12}(?:\.link)?")
_LONGEST = 48
"""Characters that a temporary file has of the name of its place; a name may have 255 bytes."""

_STALE_SECONDS = 3600
"""Where a file system has no locks, an older temporary file counts as one of a killed process."""


class LinkLeadsOut(OSError):
    """Raised by `folder_below` where a link on the way leads out of the root."""


def open_unfollowed(file: str, flags: int, folder: int | None = None) -> int:
    """Open a file that is no link, and return its descriptor. A new file gets the mode 0600. raises: OSError

    flags:  of `os.open`
    folder: the descriptor of the folder that *file* counts from; None: the current folder
    """
    return os.open(file, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)


def write_all(handle: int, content: bytes) -> None:
    """Write the whole content to a descriptor, with as many writes as it takes. raises: OSError"""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def write_whole(place: str | os.PathLike[str], content: bytes, mode: int = 0o644) -> None:
    """Write a file at a path, whole or not at all. A file or link there is replaced, but a device or pipe is written
    to.

    mode:   the permissions of a file; without effect on a device or pipe
    raises: OSError, also if the folder does not exist, or a folder has the name
    """
    folder, name = os.path.split(os.fspath(place))
    handle = os.open(folder or os.curdir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        entry = FolderEntry(handle, name)
        special = entry.special()
        if special is None:
            entry.replace(content, mode)
            return
        try:
            write_all(special, content)
        finally:
            os.close(special)
    finally:
        os.close(handle)


# --- folders ------------------------------------------------------------------------


@contextlib.contextmanager
def folder_below(root: str | os.PathLike[str], steps: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A context that gives the descriptor of the folder *steps* below *root*, and closes it at the end.

    A link on the way is followed only if it leads to a place below the root. This is true even if other programs change
    the folders meanwhile. The path of the root itself may have links.

    steps:  names of folders, the outermost first; (): the root
    make:   whether folders that are missing are created
    raises: FileNotFoundError and NotADirectoryError, with the path below the root; LinkLeadsOut, for a link that leads
            out; OSError
    """
    walk = _Walk(os.fspath(root))
    try:
        walk.go(steps, make)
        yield walk.folder
    finally:
        walk.close()


class _Walk:
    """The way from a root down, with every folder on it open."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._open = [(os.open(root, _FOLDER), "")]
        self._links, self._link = 0, ""

    @property
    def folder(self) -> int:
        return self._open[-1][0]

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop()[0])

    def go(self, steps: Sequence[str], make: bool) -> None:
        left = [*reversed(steps)]
        while left:
            step = left.pop()
            if step == "..":
                self._up()
            elif step not in ("", "."):
                left += reversed(self._into(step, make))

    def _up(self) -> None:
        if len(self._open) > 1:
            os.close(self._open.pop()[0])
        elif self._root != os.sep:
            raise LinkLeadsOut(errno.EXDEV, self._link)

    def _into(self, step: str, make: bool) -> list[str]:
        """Open the folder *step* and return []; for a link, return the steps of its target instead."""
        shown = f"{self._open[-1][1]}/{step}"
        try:
            self._open.append((os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=self.folder), shown))
        except FileNotFoundError:
            if not make:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown) from None
            with contextlib.suppress(FileExistsError):
                os.mkdir(step, dir_fd=self.folder)
            return [step]
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            return self._followed(step, shown)
        return []

    def _followed(self, step: str, shown: str) -> list[str]:
        try:
            target = os.readlink(step, dir_fd=self.folder)
        except OSError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), shown) from None
        self._links, self._link = self._links + 1, f"{shown} -> {target}"
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), shown)
        return self._from_root(target) if target.startswith("/") else target.split("/")

    def _from_root(self, target: str) -> list[str]:
        root = self._root.rstrip("/") + "/"
        if not f"{target}/".startswith(root):
            raise LinkLeadsOut(errno.EXDEV, self._link)
        while len(self._open) > 1:
            os.close(self._open.pop()[0])
        return target[len(root) :].split("/")


# --- what stands in a folder --------------------------------------------------------


class FolderEntry:
    """A name in an open folder. There may be a file, a link, a folder or nothing with this name.

    folder: the descriptor of the open folder; the caller closes it
    name:   the name in the folder, without a slash

    Each method asks the disk again and follows no link. All methods may raise OSError, except `sweep`.

    status:  the result of `os.stat`; None if the name does not exist
    content: the content of a regular file
    special: a descriptor for writing to a device or pipe; None for a file or folder
    target:  the path that a link leads to
    replace, begin, link: write a file or link in place of an old one, in one step; `begin` returns its descriptor
    remove:  removes a file or link, if it exists
    make_folder, remove_folder: make or remove an empty folder
    chmod, chown: change the mode or the owners
    sweep:   removes temporary files of killed processes from the folder
    """

    __slots__ = ("folder", "name")

    def __init__(self, folder: int, name: str) -> None:
        self.folder, self.name = folder, name

    def status(self) -> os.stat_result | None:
        """The result of `os.stat`, of a link itself; None where nothing has the name."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def content(self) -> bytes:
        """The content of a regular file. raises: OSError, also for a link and any other kind of file"""
        with open(open_unfollowed(self.name, os.O_RDONLY | os.O_NONBLOCK, self.folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no file")
            return file.read()

    def special(self) -> int | None:
        """A descriptor for writing to a device, or to a pipe that a program reads. The caller closes it.

        None for a file, a folder, a missing name, and a link to one of these.
        raises: OSError, for a socket, for a pipe that no program reads, and for a link to a device or to `/proc`
        """
        found = self.status()
        if found is None or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            return None
        if stat.S_ISLNK(found.st_mode):
            self._refuse_link_to_device()
            return None
        try:
            handle = open_unfollowed(self.name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK, self.folder)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            raise OSError(errno.ENXIO, "no program reads from this pipe or socket", self.name) from None
        os.set_blocking(handle, True)
        return handle

    def _refuse_link_to_device(self) -> None:
        try:
            mode = os.stat(self.name, dir_fd=self.folder).st_mode
        except OSError:  # it leads nowhere
            return
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or self.target().startswith("/proc/"):
            raise OSError(errno.EINVAL, "a link to a device is neither written to nor replaced", self.name)

    def target(self) -> str:
        """The path that a link has as its target."""
        return os.readlink(self.name, dir_fd=self.folder)

    def replace(self, content: bytes, mode: int, uid: int = -1, gid: int = -1) -> None:
        """Write a file; a file or link there is replaced. Readers see the whole old file or the whole new one, also
        after a power cut.

        uid, gid: owner and group; -1: the system chooses
        raises:   OSError; the name is unchanged then
        """
        os.close(self.begin(content, mode, uid, gid))

    def begin(self, content: bytes, mode: int, uid: int = -1, gid: int = -1) -> int:
        """Write a file as `replace` does, and return a descriptor of it. The caller can append to it, and closes it.

        content:  what the file has at first
        mode:     the permissions of the file
        uid, gid: owner and group; -1: the system chooses
        raises:   OSError; the name is unchanged then
        """
        temporary, handle = self._temporary_file()
        try:
            write_all(handle, content)
            _own(handle, uid, gid)
            os.fchmod(handle, mode)
            os.fsync(handle)
            self._take(temporary)
        except BaseException:
            os.close(handle)
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self.folder)
            raise
        return handle

    def link(self, to: str) -> None:
        """Make a symbolic link to a path; a file or link there is replaced."""
        temporary, handle = self._temporary_file()
        try:
            os.symlink(to, f"{temporary}.link", dir_fd=self.folder)
            self._take(f"{temporary}.link")
        finally:
            for name in (f"{temporary}.link", temporary):
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=self.folder)
            os.close(handle)

    def remove(self) -> None:
        """Remove a file or link; nothing happens where it does not exist."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)

    def make_folder(self) -> None:
        """Make an empty folder. raises: OSError"""
        os.mkdir(self.name, dir_fd=self.folder)

    def remove_folder(self) -> None:
        """Remove an empty folder."""
        os.rmdir(self.name, dir_fd=self.folder)

    def chmod(self, mode: int) -> None:
        """Change the mode of a file or folder. raises: OSError, for a link"""
        handle = open_unfollowed(self.name, _PATH | os.O_NONBLOCK, self.folder)
        try:
            if stat.S_ISLNK(os.fstat(handle).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if os.path.exists(known := f"/proc/self/fd/{handle}"):
                os.chmod(known, mode)  # needs no right to read what it is
            else:
                self._chmod_opened(mode)
        finally:
            os.close(handle)

    def _chmod_opened(self, mode: int) -> None:
        handle = open_unfollowed(self.name, os.O_RDONLY | os.O_NONBLOCK, self.folder)
        try:
            os.fchmod(handle, mode)
        finally:
            os.close(handle)

    def chown(self, uid: int, gid: int) -> None:
        """Change owner and group of a file, folder or link itself; -1 leaves one as it is."""
        os.chown(self.name, uid, gid, dir_fd=self.folder, follow_symlinks=False)

    # --- temporary files ------------------------------------------------------------

    def _temporary_file(self) -> tuple[str, int]:
        """Make a temporary file in the folder; returns its name and descriptor. Its lock ends with this process."""
        while True:
            temporary = f".{self.name[:_LONGEST]}{_MARK}{os.urandom(6).hex()}"
            handle = open_unfollowed(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.folder)
            _lock(handle)
            if os.fstat(handle).st_nlink:
                return temporary, handle
            os.close(handle)  # another process swept before it was locked

    def _take(self, temporary: str) -> None:
        os.replace(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        with _listed(self.folder) as listed:
            if listed is not None:
                os.fsync(listed)

    def sweep(self) -> None:
        """Remove the temporary files of killed processes from the folder. All names in the folder are looked at.

        Files of running processes are left. Errors are ignored.
        """
        with contextlib.suppress(OSError), _listed(self.folder) as listed:
            for name in os.listdir(listed) if listed is not None else ():
                if _LEFT.fullmatch(name):
                    _sweep(self.folder, name)


def _own(handle: int, uid: int, gid: int) -> None:
    now = os.fstat(handle)
    if (uid, gid) != (-1, -1) and (uid, gid) != (now.st_uid, now.st_gid):
        os.fchown(handle, uid, gid)


@contextlib.contextmanager
def _listed(folder: int) -> Iterator[int | None]:
    """A context with a descriptor of the folder that can be listed and flushed; None without the right to read it."""
    try:
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, *, wait: bool = True) -> bool:
    """Lock an open file for this process. Returns False where the file system has no locks.

    raises: BlockingIOError, without *wait*, if another process has the lock
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _sweep(folder: int, name: str) -> None:
    """Remove a temporary file, unless the process that made it lives. The lock of a link is on the file beside it."""
    with contextlib.suppress(OSError):
        keeper = name.removesuffix(".link")
        try:
            handle = open_unfollowed(keeper, os.O_RDONLY | os.O_NONBLOCK, folder)
        except FileNotFoundError:
            os.unlink(name, dir_fd=folder)
            return
        try:
            age = time.time() - os.fstat(handle).st_mtime
            if _lock(handle, wait=False) or age > _STALE_SECONDS:
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(handle)

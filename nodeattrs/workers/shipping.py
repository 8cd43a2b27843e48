"""Send a repository to workers on other machines: a digest to compare it, a pack of its files, and its folder there.

The content of a repository is its files, by relative path and bytes; version control, caches and the store do not
count. A worker checks the digest of a pack before it unpacks it. Nodes and executors are not known here.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import tarfile
import tempfile
import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from nodeattrs import border
from nodeattrs.errors import FleetError
from nodeattrs.kinds import BAD_PACK, LEADS_OUT, OTHER_REPOSITORY

REPOSITORY, FACTS = "repository", "facts"
"""The two folders in a pack."""

_NO_CONTENT = frozenset({".git", ".hg", ".svn", ".nodeattrs", "__pycache__"})
"""Files and folders of these names are no content of a repository."""


class PackedRepository(NamedTuple):
    """The files of a repository, and the facts of some nodes, packed for workers on other machines.

    digest: the SHA-256 of the body; `unpacked_folder` takes it
    body:   a tar with the folders "repository" and "facts", compressed with xz
    """

    digest: str
    body: bytes


def digest_of(root: str | os.PathLike[str], but: Collection[str] = ()) -> str:
    """A SHA-256 of the paths and contents of a repository's files, in hexadecimal; equal for equal repositories.

    Version control, caches and .nodeattrs do not count.
    but:    the paths of more files and folders to leave out
    cost:   each file is read
    raises: FleetError, where a file cannot be read
    """
    digest = hashlib.sha256()
    for name, file in _files(root, but):
        content, encoded = _content(file), os.fsencode(name)
        # The lengths keep apart what follows one another: "ab", "c" and "a", "bc" are two repositories.
        digest.update(b"%d %d " % (len(encoded), len(content)) + encoded + content)
    return digest.hexdigest()


def pack_repository(
    root: str | os.PathLike[str], commit: str = "", facts: Path | None = None, nodes: Collection[str] = ()
) -> PackedRepository:
    """Pack the files of a repository, and the facts of some nodes, to send them to workers.

    commit: the id of the commit, which a worker notes in revisions; "" for none
    facts:  a folder with NODE.json for nodes; None: no facts
    nodes:  the nodes whose facts are packed; a node without a file is left out
    cost:   each file is read; the memory of the largest file and of the pack
    raises: FleetError, where a file cannot be read, or a link leads out of its folder
    """
    wanted = {f"{name}.json" for name in nodes}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", format=tarfile.PAX_FORMAT, preset=1) as tar:
        _add(tar, f"{REPOSITORY}/.git/HEAD", commit.encode())  # where a run looks for the commit
        inside = Path(root).resolve()
        for name, file in _files(root, () if facts is None else (str(facts),)):
            _add(tar, f"{REPOSITORY}/{name}", _content_inside(inside, file))
        if facts is not None:
            inside = facts.resolve()
            for name, file in _files(facts):
                if name in wanted:
                    _add(tar, f"{FACTS}/{name}", _content_inside(inside, file))
    body = packed.getvalue()
    return PackedRepository(hashlib.sha256(body).hexdigest(), body)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _content_inside(folder: Path, file: Path) -> bytes:
    """The content of a file. raises: FleetError, where it is a link that leads out of *folder*, a real path"""
    if not file.resolve().is_relative_to(folder):
        raise FleetError(
            f"{file} leads out of {folder}, so it is not sent",
            kind=LEADS_OUT,
            hint="copy what it leads to into the folder, or keep the repository on every machine",
        )
    return _content(file)


def _files(root: str | os.PathLike[str], but: Collection[str] = ()) -> list[tuple[str, Path]]:
    """The files of a folder, sorted by name. A link is followed, unless it leads back to a folder above it."""
    skipped = {os.path.abspath(path) for path in but}
    found: list[tuple[str, Path]] = []
    waiting: list[tuple[str, str, tuple[str, ...]]] = [(os.path.abspath(root), "", (os.path.realpath(root),))]
    with _reading():
        while waiting:
            folder, prefix, above = waiting.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name in _NO_CONTENT or entry.path in skipped:
                        continue
                    if entry.is_file():
                        found.append((prefix + entry.name, Path(entry.path)))
                    elif entry.is_dir() and (real := os.path.realpath(entry.path)) not in above:
                        waiting.append((entry.path, f"{prefix}{entry.name}/", (*above, real)))
    return sorted(found)


def _content(file: Path) -> bytes:
    with _reading():
        return file.read_bytes()


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{error.filename}: cannot be read: {error.strerror}"
        raise FleetError(message, kind=OTHER_REPOSITORY) from error


# --- on a worker --------------------------------------------------------------------


class UnpackedFolder:
    """A new temporary folder. It is removed when nothing refers to the object any more, or by `cleanup`.

    name: its path
    """

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="nodeattrs-")
        self.cleanup = weakref.finalize(self, border.remove_folder, self.name)


_HOLDING = Lock()
HELD: dict[str, UnpackedFolder] = {}
MOST_HELD = 4
"""Packs that a process keeps unpacked, for the next fleet that sends the same one."""


def unpack_once(pack: PackedRepository) -> None:
    """Unpack a pack into a new temporary folder, for `unpacked_folder`. Does nothing if this process has the pack.

    A process keeps up to `MOST_HELD` packs, and then drops the oldest one.
    raises: FleetError, if the digest is wrong, if the pack has anything but plain files, or cannot be written
    """
    with _HOLDING:
        if pack.digest not in HELD:
            HELD[pack.digest] = _unpacked(pack)
        while len(HELD) > MOST_HELD:
            del HELD[next(iter(HELD))]


def unpacked_folder(digest: str) -> UnpackedFolder:
    """The temporary folder of a pack that `unpack_once` unpacked in this process. digest: `PackedRepository.digest`

    Keep the object: the folder is removed once the pack is dropped and nothing refers to the object.
    raises: FleetError, if the pack was not unpacked here, or was dropped
    """
    with _HOLDING:
        if digest in HELD:
            return HELD[digest]
    raise _bad("the repository was not sent with the work")


def _unpacked(pack: PackedRepository) -> UnpackedFolder:
    if hashlib.sha256(pack.body).hexdigest() != pack.digest:
        raise _bad("the repository that was sent is not the one that was packed")
    folder = UnpackedFolder()
    try:
        _unpack(pack.body, folder.name)
    except FleetError:
        folder.cleanup()
        raise
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        folder.cleanup()
        raise _bad("what was sent is no packed repository") from error
    except OSError as error:
        folder.cleanup()
        raise _bad(f"what was sent cannot be unpacked: {error.strerror}") from error
    return folder


def _unpack(body: bytes, folder: str) -> None:
    """Write the members of a tar. raises: FleetError, for a member that is no plain file in the folder"""
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:xz") as tar:
        for member in tar:
            steps = member.name.split("/")
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or "\0" in member.name or not {"", ".", ".."}.isdisjoint(steps):
                raise _bad(f"what was sent has {member.name!r} in it, no file of a repository")
            path = Path(folder, member.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content.read())


def _bad(message: str) -> FleetError:
    return FleetError(message, kind=BAD_PACK)

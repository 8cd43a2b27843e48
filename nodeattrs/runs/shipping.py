"""A repository on another machine: the same one is known by its content, or its content is sent there.

What counts is the files, by their paths as seen from the repository and their bytes; no version control, no cache and
no store. What was sent is checked before anything of it becomes a file. It knows neither nodes nor executors.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import pathlib
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from tempfile import TemporaryDirectory
from threading import Lock
from typing import NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.errors import FleetError
from nodeattrs.kinds import BAD_PACK, LEADS_OUT, OTHER_REPOSITORY
from nodeattrs.runs.content import content_of

_HEAD = ".git/HEAD"
"""Where a run looks for the commit; it is sent beside the content, and is none."""


class Packed(NamedTuple):
    """A repository as it is sent.

    digest: of its content; two with the same one are the same repository
    body:   its files, and the commit that they are of
    """

    digest: str
    body: bytes


def digest_of(root: str | os.PathLike[str], but: Collection[str] = ()) -> str:
    """What a repository is called by its content. but: files and folders in it that are none of it

    cost:   each file is read
    raises: FleetError, where one cannot be read
    """
    return _digest((name, _content(file)) for name, file in _files(root, but))


def packed(root: str | os.PathLike[str], commit: str = "", but: Collection[str] = ()) -> Packed:
    """A repository to be sent. raises: FleetError, also for a link that leads out of it: what is there is not sent"""
    inside = pathlib.Path(root).resolve()
    files: dict[str, bytes] = {}
    for name, file in _files(root, but):
        if not file.resolve().is_relative_to(inside):
            hint = "copy what it leads to into the repository, or keep the repository on every machine"
            raise _failed(f"{name} leads out of the repository, so it is not sent", LEADS_OUT, hint)
        files[name] = _content(file)
    return Packed(_digest(files.items()), _tar({**files, _HEAD: commit.encode()}))


def hold(repository: Packed) -> None:
    """Unpack a repository into a private folder of this process, unless that was done: see `held`.

    raises: FleetError, where it is not what its name says, or has a path that would lead out of the folder
    """
    with _HOLDING:
        if repository.digest not in _HELD:
            _HELD[repository.digest] = _unpacked(repository)
        while len(_HELD) > _MOST:
            del _HELD[next(iter(_HELD))]


def held(digest: str) -> TemporaryDirectory[str]:
    """The folder in which a repository that was sent lies; it goes when nobody has it. raises: FleetError"""
    with _HOLDING:
        if digest in _HELD:
            return _HELD[digest]
    raise _failed("the repository was not sent with the work", BAD_PACK)


_HOLDING = Lock()
_HELD: dict[str, TemporaryDirectory[str]] = {}
_MOST = 4
"""Repositories that a process keeps for the next who sends them."""


def _unpacked(repository: Packed) -> TemporaryDirectory[str]:
    files = dict(_members(repository.body))
    if _digest(sorted((name, content) for name, content in files.items() if name != _HEAD)) != repository.digest:
        raise _failed("the repository that was sent is not the one that was packed", BAD_PACK)
    folder = TemporaryDirectory(prefix="nodeattrs-")
    try:
        for name, content in files.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
    except OSError as error:
        folder.cleanup()
        raise _failed(f"what was sent cannot be unpacked: {error.strerror}", BAD_PACK) from error
    return folder


def _files(root: str | os.PathLike[str], but: Collection[str]) -> list[tuple[str, pathlib.Path]]:
    """The files of a repository, by name."""
    with _reading():
        return [(name, pathlib.Path(root, name)) for name in sorted(name for name, _ in content_of(root, but))]


def _content(file: pathlib.Path) -> bytes:
    with _reading():
        return file.read_bytes()


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failed(f"{error.filename}: cannot be read: {error.strerror}", OTHER_REPOSITORY) from error


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in files:
        # With lengths: no two repositories are written as one text.
        encoded = os.fsencode(name)
        digest.update(b"%d %d " % (len(encoded), len(content)) + encoded + content)
    return digest.hexdigest()


def _tar(files: dict[str, bytes]) -> bytes:
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(body.getvalue(), 6, mtime=0)


def _members(body: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a pack. raises: FleetError, before anything is written, for whatever else may stand in one"""
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as tar:
            for member in tar:
                steps = member.name.split("/")
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or "\0" in member.name or not {"", ".", ".."}.isdisjoint(steps):
                    raise _failed(f"what was sent has {member.name!r} in it, no file of a repository", BAD_PACK)
                yield member.name, content.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise _failed("what was sent is no packed repository", BAD_PACK) from error


def _failed(message: str, kind: Kind, hint: str | None = None) -> FleetError:
    return FleetError(message, kind=kind, hint=hint)

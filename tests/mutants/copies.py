"""A copy of the checkout to change files in. It is kept between runs, outside the checkout."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def place_of(checkout: Path) -> Path:
    """The folder for one checkout: `copy`, `record`, `survivors.json`."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "nodeattrs-mutants" / hashlib.sha256(str(checkout).encode()).hexdigest()[:12]


@contextlib.contextmanager
def alone(place: Path) -> Iterator[None]:
    """Nobody else changes files there meanwhile. raises: BlockingIOError"""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def brought_up_to_date(checkout: Path, copy: Path) -> None:
    """Make *copy* what the checkout is; what Python has compiled there stays where its source is the same."""
    wanted = _files(checkout)
    for name in wanted:
        source, target = checkout / name, copy / name
        if not _same(source, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for file in copy.rglob("*"):
        if file.is_file() and str(file.relative_to(copy)) not in wanted and file.suffix != ".pyc":
            file.unlink()


def _files(checkout: Path) -> set[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True).stdout.split("\0")
    return {name for name in names if name and (checkout / name).is_file()}


def _same(source: Path, target: Path) -> bool:
    try:
        ours, theirs = source.stat(), target.stat()
    except FileNotFoundError:
        return False
    return (ours.st_size, ours.st_mtime_ns) == (theirs.st_size, theirs.st_mtime_ns)


@contextlib.contextmanager
def changed(copy: Path, file: str, source: str) -> Iterator[None]:
    """With another text in one file of the copy. Python compiles it anew, and nothing of it is kept."""
    target = copy / file
    whole, stat = target.read_bytes(), target.stat()
    for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        compiled.unlink()
    target.write_text(source, encoding="utf-8")
    try:
        yield
    finally:
        target.write_bytes(whole)
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))

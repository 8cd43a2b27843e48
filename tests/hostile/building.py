"""Writes a tree below a private folder: the repository with its two commits, what lies around it, a home folder."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from nodeattrs.cli import main
from tests.hostile.entries import TOP, Entry, File, Link, Special, Store, Tree
from tests.hostile.surroundings import VARIABLE, home, marker, outer
from tests.hostile.trees import valid

__all__ = ["PROGRAM", "build", "environment", "prepare"]

_SCRIPT = Path(sys.executable).with_name("nodeattrs")
PROGRAM = [str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-P", "-m", "nodeattrs"]
"""The installed script; where it is missing, the module, without the current folder among those of modules."""

_SETTINGS = ("user.name=a", "user.email=a@example.org", "core.autocrlf=false", "gc.auto=0", "core.fsync=none")
_GIT = ["git", *(word for one in _SETTINGS for word in ("-c", one))]
_BUILDERS = {"PATH": os.defpath, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C.UTF-8"}
_DEVICES = {"null": os.makedev(1, 3), "zero": os.makedev(1, 5)}


def environment(top: Path, seed: int) -> dict[str, str]:
    """What the process of a command has for an environment."""
    return {
        "PATH": os.defpath,
        "HOME": str(top / "home"),
        "TMPDIR": str(top / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        VARIABLE: marker(seed, VARIABLE),
        "PGPASSWORD": marker(seed, "PGPASSWORD"),
        "place": f"{top}/outer",
    }


def build(tree: Tree, top: Path, seed: int, git: bool = True) -> None:
    """Write a tree into an empty folder: `repo`, `outer`, `home` and `tmp`.

    git: whether the repository gets its commits; they take some 50 ms
    """
    for place, files in (("outer", outer(seed)), ("home", home(seed))):
        for name, text in files.items():
            _write(top / place, name, File(text), top)
    (top / "tmp").mkdir()
    repo = top / "repo"
    repo.mkdir()
    own = ".git" in tree.entries
    if git and not own:
        shutil.copytree(_empty_repository(), repo / ".git")
        _write_all(repo, {**tree.entries, **tree.base}, top)
        _commit(repo, "one")
        shutil.copy(repo / ".git/refs/heads/main", repo / ".git/refs/heads/base")
    _write_all(repo, tree.entries, top)
    if git and not own:
        if "uncommitted" not in tree.quirks:
            _commit(repo, "two")
        _quirks(tree, repo)
    _write_all(repo, tree.late if git and not own else {}, top)


def prepare() -> None:
    """Make what all trees share, before several threads ask for it."""
    _empty_repository()
    for kind in ("sqlite", "folder"):
        _saved(kind)


@cache
def _empty_repository() -> Path:
    _git(_workshop(), "init", "-q", "-b", "main", "--template=", "empty")
    return _workshop() / "empty/.git"


def _git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    return subprocess.run([*_GIT, *words], cwd=folder, env=_BUILDERS, input=given, capture_output=True).stdout.strip()


def _commit(repo: Path, subject: str) -> None:
    _git(repo, "add", "-A", "-f")
    _git(repo, "commit", "-q", "--allow-empty", "--no-verify", "-m", subject)


def _quirks(tree: Tree, repo: Path) -> None:
    """What no work tree shows: each gets a commit of its own, or takes an object away."""
    if "submodule" in tree.quirks:
        head = _git(repo, "rev-parse", "HEAD").decode()
        _git(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
        _git(repo, "commit", "-q", "-m", "three")
    if "missing" in tree.quirks:
        for row in _git(repo, "ls-tree", "-r", "HEAD").decode(errors="replace").splitlines()[::3]:
            mark = row.split()[2]
            (repo / f".git/objects/{mark[:2]}/{mark[2:]}").unlink(missing_ok=True)
    if "bomb" in tree.quirks:  # last: whoever lists its files has no memory left
        one = _git(repo, "hash-object", "-w", "--stdin").decode()
        row = "".join(f"100644 blob {one}\tf{number}\n" for number in range(10))
        for _ in range(9):
            one = _git(repo, "mktree", given=row.encode()).decode()
            row = "".join(f"040000 tree {one}\td{number}\n" for number in range(10))
        commit = _git(repo, "commit-tree", one, "-p", "HEAD", "-m", "bomb").decode()
        _git(repo, "update-ref", "HEAD", commit)


def _write_all(repo: Path, entries: Mapping[str, Entry], top: Path) -> None:
    for name, entry in entries.items():
        _write(repo, name, entry, top)


def _write(folder: Path, name: str, entry: Entry, top: Path) -> None:
    """One entry. Nothing is written where a link leads the way, or a name is not a name."""
    path = folder
    for step in os.fsencode(name).split(b"/"):
        if not path.is_dir() or path.is_symlink():
            with contextlib.suppress(FileExistsError):
                path.mkdir()
            if path.is_symlink() or not path.is_dir():
                return
        path = path / os.fsdecode(step)
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    if not name.startswith(".git/config") and not name.startswith(".git/info"):
        path.unlink(missing_ok=True)
    if isinstance(entry, File):
        with open(path, "ab") as file:
            file.write(entry.text.replace(TOP, str(top)).encode("utf-8", "surrogateescape"))
        path.chmod(entry.mode)
    elif isinstance(entry, Link):
        path.symlink_to(entry.target.replace(TOP, str(top)))
    elif isinstance(entry, Store):
        _copy(_saved(entry.kind), path)
    else:
        _special(entry, path)


def _special(entry: Special, path: Path) -> None:
    if entry.kind == "fifo":
        os.mkfifo(path)
    elif entry.kind == "socket":
        here = path.parent / "s"  # an address holds 100 characters
        with socket.socket(socket.AF_UNIX) as one, contextlib.suppress(OSError):
            one.bind(os.path.relpath(here))
            here.rename(path)
    else:
        with contextlib.suppress(PermissionError):
            os.mknod(path, stat.S_IFCHR | 0o666, _DEVICES[entry.kind])


def _copy(source: Path, path: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, path)
    else:
        shutil.copy(source, path)


@cache
def _saved(kind: str) -> Path:
    """Two nodes whose attributes are set in files of the repository: as a store, or as an exported folder."""
    folder = _workshop() / kind
    folder.mkdir()
    _write_all(folder, valid(["chef"]).entries, folder)
    for level in (4, 5):
        role = folder / "roles/web.json"
        role.write_text(role.read_text().replace('"workers": 4', f'"workers": {level}'))
        words = ["run", "--all", "--roles-only", "--quiet", "--platform", "debian-12"]
        _succeed(*words, "--store", f"{folder}/saved.db", "--repo", str(folder))
    if kind == "sqlite":
        return folder / "saved.db"
    _succeed("store", "export", "--to", f"{folder}/saved", "--history", "--store", f"{folder}/saved.db")
    return folder / "saved"


def _succeed(*words: str) -> None:
    """Run nodeattrs in this process; what it prints is dropped. raises: RuntimeError, for another exit code than 0"""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        code = main(words)
    gc.collect()  # closes the store, which writes its file
    if code != 0:
        raise RuntimeError(f"nodeattrs {' '.join(words)} ended with {code}: {printed.getvalue()}")


@cache
def _workshop() -> Path:
    """A folder for what all trees share; it goes when the process ends."""
    _KEPT.append(tempfile.TemporaryDirectory(prefix="hostile-shared-"))
    return Path(_KEPT[0].name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []

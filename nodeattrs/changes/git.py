"""The files of a commit, out of git: by plumbing commands that start nothing which a repository has configured.

It knows names, modes and contents, and neither what stands in a file nor where it is laid.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from nodeattrs.errors import NoRevision, NotFound
from nodeattrs.records import NamedTuple

_COMMAND = ("git", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
_NAMED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What a hook that calls us has set: of its repository, and not of the folder that is meant."""


class Blob(NamedTuple):
    """An entry of a tree: a file, a link, or a submodule ("commit")."""

    mode: str
    kind: str
    id: str
    path: str


class Git:
    """A repository of git, found from a folder in it.

    top:    the root of its work tree
    prefix: the folder below it, with a slash at the end; "" for the root
    raises: NotFound, where git is not installed or the folder lies in no repository
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        bare = self._word("rev-parse", "--is-bare-repository") == "true"
        self.top = None if bare else Path(self._word("rev-parse", "--show-toplevel"))
        self.prefix = "" if bare else self._word("rev-parse", "--show-prefix")

    def commit(self, name: str) -> str:
        """The commit that somebody means by a name. raises: NoRevision"""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found.returncode:
            raise NoRevision(f"git knows no commit {name!r} here", hint=self._way_out(name))
        return found.stdout.decode().strip()

    def fork_of(self, one: str, other: str) -> str:
        """The commit at which two branched off from each other. raises: NoRevision"""
        found = self._run("merge-base", one, other)
        if found.returncode:
            hint = f"{self._way_out('', 'they may have no common history')}; or compare them as they are: BASE..HEAD"
            raise NoRevision(f"git knows no common ancestor of {one[:12]} and {other[:12]}", hint=hint)
        return found.stdout.decode().split()[0]

    def _way_out(self, name: str, otherwise: str = "") -> str:
        if self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return "this repository has no commit yet: compare two folders, or commit first"
        if self._word("rev-parse", "--is-shallow-repository") == "true":
            return "this clone is shallow: git fetch --unshallow, or in CI a checkout with fetch-depth: 0"
        return otherwise or f"git log --oneline shows what there is; git fetch brings what {name} may be elsewhere"

    def files(self, commit: str) -> list[Blob]:
        """Every file, link and submodule of a commit, by path. raises: NoRevision"""
        rows = self._checked("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
        found = []
        for row in filter(None, rows):
            head, _, path = row.partition(b"\t")
            mode, kind, mark = head.decode().split(" ")
            found.append(Blob(mode, kind, mark, os.fsdecode(path)))
        return found

    def contents(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """What each blob holds, in their order; those that are not there, as in a partial clone, are left out."""
        asked = [*dict.fromkeys(blobs)]
        if not asked:
            return
        text = self._checked("cat-file", "--batch", given="".join(f"{one}\n" for one in asked).encode())
        at = 0
        for one in asked:
            end = text.index(b"\n", at)
            head = text[at:end].split()
            if head[-1] == b"missing":
                at = end + 1
                continue
            size = int(head[2])
            yield one, text[end + 1 : end + 1 + size]
            at = end + 2 + size

    def _word(self, *words: str) -> str:
        return os.fsdecode(self._checked(*words)).rstrip("\n")

    def _checked(self, *words: str, given: bytes = b"") -> bytes:
        done = self._run(*words, given=given)
        if done.returncode:
            written = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
            if words[0] == "rev-parse":
                hint = "name two folders instead: nodeattrs impact OLD NEW"
                if "ownership" in written[0]:
                    hint = "it belongs to somebody else: git config --global --add safe.directory ... if you trust it"
                raise NotFound(f"git knows no repository at {self._folder}", hint=hint, details=written)
            raise NoRevision(
                f"git {words[0]} failed: {written[0]}", hint="git fsck says whether the repository is whole"
            )
        return done.stdout

    def _run(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in _NAMED}
        environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            return subprocess.run(
                [*_COMMAND, *words], cwd=self._folder, input=given, capture_output=True, check=False, env=environment
            )
        except FileNotFoundError as error:
            hint = "install it, or name two folders: nodeattrs impact OLD NEW"
            raise NotFound("git is not installed here, or there is no such folder", hint=hint) from error
        except OSError as error:
            raise NotFound(f"git cannot be started: {error.strerror}", hint="name two folders") from error

"""Git repositories, read by plumbing commands that start nothing and fetch nothing, whatever a repository configures.

The module reads the files, contents, commits, remotes and ignored files of a repository, and changes nothing. Each call
runs a Git process; nothing is cached.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nodeattrs import children
from nodeattrs.core.budget import in_force
from nodeattrs.errors import NoRevision, NotFound, TooMuch
from nodeattrs.formats.nearest import work_tree_of

_SETTINGS = {
    "blame.ignoreRevsFile": "",
    "core.attributesFile": os.devnull,  # no attributes from outside of the repository
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "diff.external": "",
    "log.showSignature": "false",
    "mailmap.file": os.devnull,
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",  # a folder that only looks like a repository is none
}
"""Settings that count instead of those of the repository."""

_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",  # counts before `protocol.file.allow` of the repository
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}

_SECONDS = 60.0
_QUICK_SECONDS = 5.0
"""For questions about the repository alone; a pipe in place of one of its files would keep Git waiting."""

_LISTING_BYTES = 64_000_000
"""The names of some 600,000 files."""

_BATCH_BYTES = 32_000_000
"""Contents that are read at once."""

_TOO_DEEP_HINT = "name a folder of the files instead: nodeattrs impact OLD NEW"


class Blob(NamedTuple):
    """A file, link or submodule of a commit.

    mode: as Git writes it: "100644", "120000" for a link
    kind: "blob" for a file or link, "commit" for a submodule
    id:   Git's hash of its content; of a submodule the commit
    path: from the root of the work tree
    size: in bytes; 0 where Git does not know it
    """

    mode: str
    kind: str
    id: str
    path: str
    size: int


class Git:
    """A repository of Git, found from a folder in it. Each method runs Git again; nothing is cached or changed.

    folder: a folder of the work tree, or a bare repository
    top:    the root of its work tree; None for a bare repository
    prefix: the path of *folder* below *top*, with a slash at the end; "" for *top* itself

    has_commits: whether HEAD is a commit
    commit:   the id of the commit that a name means
    fork_of:  the id of the last common ancestor of two commits
    files:    a Blob for each file of a commit
    contents: yields (id, content) of Blobs, without missing and too large ones
    content:  of one file of a commit; None if the commit lacks it
    path_of:  the path of a file from `top`; None if the file lies elsewhere
    ignored:  files and folders of the work tree that Git ignores
    remotes:  the URLs in the repository's configuration
    blame:    the output of `git blame --porcelain`

    raises: the constructor: NotFound, if Git is not installed, the folder lies in no repository, or its `.git` belongs
            to another folder.
            Methods: NotFound, if Git cannot be started; TooMuch, if Git writes or takes too much; NoRevision, for an
            unknown commit
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self.top = work_tree_of(self._folder)
        self.prefix = ""
        if self.top is None:
            self._checked("rev-parse", "--git-dir")  # a bare repository, or none
            return
        inside = self._folder.relative_to(self.top).as_posix()
        self.prefix = "" if inside == "." else f"{inside}/"
        self._require_own()

    def _require_own(self) -> None:
        """raises: NotFound, where `.git` leads to a repository that does not name this work tree as its own"""
        assert self.top is not None
        words = (("rev-parse", "--absolute-git-dir"), ("rev-parse", "--git-common-dir"))
        own, common = (Path(os.path.realpath(self.top / self._word(*one))) for one in words)
        is_inside = own.is_relative_to(self.top)
        if is_inside and common.is_relative_to(self.top):
            return
        if is_inside or self._work_tree_named_by(own) != self.top:
            hint = "name two folders instead: nodeattrs impact OLD NEW"
            raise NotFound(f"{self.top / '.git'} leads to the repository of another folder", hint=hint)

    def _work_tree_named_by(self, own: Path) -> Path | None:
        """The work tree that a Git folder names, if it is of `git worktree` or of a submodule; None for any other."""
        link = own / "gitdir"
        if link.is_file():
            return Path(os.path.realpath(link.read_text("utf-8", "surrogateescape").strip())).parent
        named = self._run("config", "--file", str(own / "config"), "core.worktree")
        return None if named.code else Path(os.path.realpath(own / os.fsdecode(named.output).strip()))

    def has_commits(self) -> bool:
        """Whether HEAD is a commit; False in a new repository."""
        return not self._run("rev-parse", "--verify", "--quiet", "HEAD").code

    def remotes(self) -> list[str]:
        """The URLs of the remotes, as the repository's own configuration has them; [] for none."""
        found = self._run("config", "--local", "--no-includes", "--get-regexp", r"^remote\..*\.url$")
        return [line.partition(" ")[2] for line in found.output.decode(errors="replace").splitlines()]

    def path_of(self, file: Path) -> str | None:
        """The path of a file below the root of the work tree, links resolved; None where it lies elsewhere."""
        real = Path(os.path.realpath(file))
        return real.relative_to(self.top).as_posix() if self.top and real.is_relative_to(self.top) else None

    def commit(self, name: str) -> str:
        """The id of the commit that a name means, such as "main" or "HEAD~2". raises: NoRevision"""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found.code:
            raise NoRevision(f"git knows no commit {name!r} here", hint=self._way_out(name))
        return found.output.decode().strip()

    def fork_of(self, one: str, other: str) -> str:
        """The id of the last common ancestor of two commits.

        raises: NoRevision, if they have no common ancestor, and for an unknown commit
        """
        found = self._run("merge-base", one, other)
        if found.code:
            hint = f"{self._way_out('', 'they may have no common history')}; or compare them as they are: BASE..HEAD"
            raise NoRevision(f"git knows no common ancestor of {one[:12]} and {other[:12]}", hint=hint)
        return found.output.decode().split()[0]

    def _way_out(self, name: str, otherwise: str = "") -> str:
        if not self.has_commits():
            return "this repository has no commit yet: compare two folders, or commit first"
        if self._word("rev-parse", "--is-shallow-repository") == "true":
            return "this clone is shallow: git fetch --unshallow, or in CI a checkout with fetch-depth: 0"
        return otherwise or f"git log --oneline shows what there is; git fetch brings what {name} may be elsewhere"

    def files(self, commit: str) -> list[Blob]:
        """Every file, link and submodule of a commit, sorted by path. Files outside of `prefix` are listed, too.

        raises: NoRevision; TooMuch, for a listing of more than 64 MB
        """
        return self._listed("-r", commit)

    def _listed(self, *words: str) -> list[Blob]:
        """The entries that `git ls-tree` lists for these arguments. raises: NoRevision, TooMuch"""
        found = []
        for row in filter(None, self._checked("ls-tree", "-l", "-z", "--full-tree", *words).split(b"\0")):
            head, _, path = row.partition(b"\t")
            mode, kind, mark, size = head.decode().split()
            found.append(Blob(mode, kind, mark, os.fsdecode(path), int(size) if size.isdigit() else 0))
        return found

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[str, bytes]]:
        """Yield (id, content) of each blob, in order. If several blobs have one id, it is yielded once.

        Blobs that are missing, as in a partial clone, are left out. So are blobs larger than the budget's bytes for one
        document.
        """
        most = in_force().bytes
        waiting: list[str] = []
        size = 0
        for one in {blob.id: blob for blob in blobs}.values():
            if one.size > most:
                continue
            if waiting and size + one.size > _BATCH_BYTES:
                yield from self._batch(waiting, size)
                waiting, size = [], 0
            waiting.append(one.id)
            size += one.size
        if waiting:
            yield from self._batch(waiting, size)

    def _batch(self, ids: list[str], size: int) -> Iterator[tuple[str, bytes]]:
        """Yield (id, content) of blobs that one process reads. size: their known bytes"""
        given = "".join(f"{one}\n" for one in ids).encode()
        most_bytes = max(2 * _BATCH_BYTES, size) + 1000 * len(ids)
        text = self._checked("cat-file", "--batch", given=given, most_bytes=most_bytes)
        at = 0
        for one in ids:
            end = text.index(b"\n", at)
            head = text[at:end].split()
            if head[-1] == b"missing":
                at = end + 1
                continue
            length = int(head[2])
            yield one, text[end + 1 : end + 1 + length]
            at = end + 2 + length

    def content(self, commit: str, path: str) -> bytes | None:
        """The content of a file of a commit; None where the commit lacks it, or it is larger than the budget's bytes.

        path:   below the root of the work tree
        raises: NoRevision
        """
        files = [one for one in self._listed(commit, "--", path) if one.kind == "blob"]
        return next((content for _, content in self.contents(files)), None)

    def _tracks(self, name: str) -> bool:
        """Whether the index has the file *name* of the folder that the constructor was given."""
        return bool(self._checked("ls-files", "--cached", "--", f":(literal){self.prefix}{name}"))

    def ignored(self) -> set[str]:
        """Files and folders that Git ignores, counted from the root of the work tree; a folder ends with a slash."""
        found = self._checked("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return {os.fsdecode(one) for one in found.split(b"\0") if one}

    def blame(self, commit: str, path: str) -> str:
        """The output of `git blame --porcelain` for a file as it is in a commit; the work tree is not read.

        path:   below the root of the work tree
        raises: NoRevision, also where the commit lacks the file
        """
        words = ("blame", "--porcelain", "--no-textconv", commit, "--", path)
        return self._checked(*words).decode(errors="replace")

    def _word(self, *words: str) -> str:
        return os.fsdecode(self._checked(*words)).rstrip("\n")

    def _checked(self, *words: str, given: bytes = b"", most_bytes: int = _LISTING_BYTES) -> bytes:
        done = self._run(*words, given=given, most_bytes=most_bytes)
        if done.code:
            written = done.errors.strip().splitlines()[-1:] or ["nothing"]
            if words[0] == "rev-parse":
                hint = "name two folders instead: nodeattrs impact OLD NEW"
                if "ownership" in written[0]:
                    hint = "it belongs to another user: git config --global --add safe.directory ... if you trust it"
                raise NotFound(f"git knows no repository at {self._folder}", hint=hint, details=written)
            raise NoRevision(
                f"git {words[0]} failed: {written[0]}", hint="git fsck says whether the repository is whole"
            )
        return done.output

    def _run(self, *words: str, given: bytes = b"", most_bytes: int = _LISTING_BYTES) -> children.FinishedProgram:
        folder = self.top or self._folder
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        # A work tree that is named here counts before `core.worktree` of the repository.
        named = {"GIT_WORK_TREE": str(self.top)} if self.top else {"GIT_DIR": str(folder)}
        try:
            return children.run(
                ["git", "--no-pager", *settings, *words],
                env=children.environment(**_VARIABLES, **named, GIT_CEILING_DIRECTORIES=str(folder.parent)),
                folder=folder,
                given=given,
                seconds=_QUICK_SECONDS if words[0] == "rev-parse" else _SECONDS,
                most_bytes=most_bytes,
            )
        except TooMuch as error:
            raise TooMuch(
                f"git {words[0]} {error.reason.removeprefix('git ')}",
                limit=error.limit,
                file=str(folder),
                hint=_TOO_DEEP_HINT,
            ) from None
        except FileNotFoundError as error:
            hint = "install it, or name two folders: nodeattrs impact OLD NEW"
            raise NotFound("git is not installed here, or there is no such folder", hint=hint) from error
        except OSError as error:
            raise NotFound(f"git cannot be started: {error.strerror}", hint="name two folders") from error


def is_tracked(file: str | os.PathLike[str]) -> bool:
    """Whether Git tracks a file; False if it lies in no work tree, or Git cannot be run. cost: some processes"""
    place = Path(os.path.abspath(file))
    folder = Path(os.path.realpath(place.parent))
    if work_tree_of(folder) is None:
        return False
    try:
        return Git(folder)._tracks(place.name)
    except (NotFound, NoRevision):
        return False

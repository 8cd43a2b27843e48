"""The types `File`, `Directory` and `Link`.

A file is replaced as a whole: after a power cut the old file or the new one is there. Only what is declared is changed.
A `File` without content is made only if `ensure` says so, and a link at its path stays. Neither a diff nor an error
shows content that may be secret.
"""

from __future__ import annotations

import contextlib
import difflib
import grp
import hashlib
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from nodeattrs.catalog.automatic import PLACED, nearest_first
from nodeattrs.catalog.errors import FolderMissing, ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.catalog.types.acting import ResourceType, Site, is_secret, revealed
from nodeattrs.core.budget import Budget
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.disk import FolderEntry, folder_below
from nodeattrs.errors import BadArgument
from nodeattrs.formats.jinja import module, rendering, sandboxed

_MOST_DIFF_BYTES = 200_000


@dataclass
class _Placed(ResourceType):
    """The base of `File`, `Directory` and `Link`: a resource at a path."""

    path: str

    @property
    def manages(self) -> str:
        """The path: "path:/etc/motd"."""
        return f"path:{self.path.rstrip('/') or '/'}"

    def tidy(self, site: Site) -> None:
        """Remove temporary files of killed runs beside it."""
        site.tidy(self.path)


@dataclass
class _PathResource(_Placed):
    """The base of `File` and `Directory`: a path, with mode and owners.

    ensure: "present", "absent" or None; the subclass says what each of them means
    """

    ensure: str | None = None
    mode: str | int | None = None
    owner: str | int | None = None
    group: str | int | None = None

    def __post_init__(self) -> None:
        if self.ensure not in (None, "present", "absent"):
            raise BadArgument(f"{self.path}: ensure is present or absent, not {self.ensure!r}")
        self._mode()
        Site().path(self.path)

    def automatic(self) -> Mapping[str, tuple[str | FirstOf, ...]]:
        """It requires the resource that manages the nearest directory above it."""
        return {"require": (nearest_first(self.path, *PLACED),)}

    def _hold(self, change: Change, entry: FolderEntry) -> None:
        """Make a change of mode or owners; any other change is ignored."""
        mode = self._mode()
        if change.what == "mode" and mode is not None:
            entry.chmod(mode)
        elif change.what in ("owner", "group"):
            entry.chown(self._uid(), self._gid())

    def _mode(self) -> int | None:
        if self.mode is None or (isinstance(self.mode, int) and not isinstance(self.mode, bool)):
            mode = self.mode
        else:
            try:
                mode = int(str(self.mode), 8)
            except ValueError:
                mode = -1
        if mode is not None and not 0 <= int(mode) <= 0o7777:
            raise BadArgument(f"{self.path}: {self.mode!r} is no mode", hint='such as "0644"')
        return mode

    def _uid(self) -> int:
        return _number(self.owner, lambda name: pwd.getpwnam(name).pw_uid, "user")

    def _gid(self) -> int:
        return _number(self.group, lambda name: grp.getgrnam(name).gr_gid, "group")

    def _owner_and_mode_changes(self, found: os.stat_result) -> list[Change]:
        """A change for each difference in mode and owners; [] for none."""
        changes = []
        mode, have = self._mode(), stat.S_IMODE(found.st_mode)
        if mode is not None and mode != have:
            changes.append(Change("mode", f"mode {have:04o} -> {mode:04o}"))
        for what, wanted, now in (("owner", self._uid(), found.st_uid), ("group", self._gid(), found.st_gid)):
            if wanted not in (-1, now):
                changes.append(Change(what, f"{what} {now} -> {wanted}"))
        return changes


@dataclass(repr=False)
class File(_PathResource):
    """A file. At most one of content, source and template is given; the constructor raises BadArgument for two.

    path, mode, owner and group are as for `Directory`. Missing directories above it are an error.
    ensure:    None: without content, a missing file is not made; "present": it is then made empty; "absent": it is
               removed
    content:   its text or bytes, or a secret with one of them; None: the content is not changed
    source:    the path of a file to copy, on this machine and not below the root of the run
    template:  the path of a Jinja2 template, rendered in Jinja2's sandbox with `variables`
    variables: the names that the template may use
    sensitive: show no content; always so with a secret in content or variables
    backup:    keep a copy of removed or replaced content, if the run has a folder for backups

    A link at the path is replaced by a file with the wanted content. The link stays if `ensure` is "present", or if
    no content is given. A directory at the path is an error.
    """

    content: Any = None
    source: str | None = None
    template: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    sensitive: bool = False
    backup: bool = True
    HIDDEN: ClassVar[frozenset[str]] = frozenset({"content", "variables"})

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("content", "source", "template") if getattr(self, name) is not None]
        if len(given) > 1:
            raise BadArgument(f"{self.path}: {' and '.join(given)} cannot both be meant", hint="give one of them")
        if isinstance(self.content, str) and repr(Sensitive(None)) in self.content:
            raise BadArgument(
                f"{self.path}: a secret was made part of a text, where it shows itself as {Sensitive(None)!r}",
                hint="hand it to a template in variables=, or write content=secret.map(lambda it: f'password={it}')",
            )
        self.sensitive = self.sensitive or is_secret(self.content) or is_secret(self.variables)

    def check(self, site: Site) -> Sequence[Change]:
        """The differing properties: ensure, or content, mode and owners; [] for none.

        raises: ResourceFailed, for a directory at the path; FolderMissing, for a new file without its folder
        """
        with _found(site, self.path) as (entry, found):
            if found is not None and stat.S_ISDIR(found.st_mode):
                raise ResourceFailed(
                    f"{self.path} is a directory", hint="take it away first; a file never replaces one"
                )
            if self.ensure == "absent":
                return [] if found is None else [Change("ensure", "removed")]
            wanted = self._wanted()
            if entry is None or found is None:
                if wanted is None and self.ensure is None:
                    return []
                _require_folder(site, self.path)
                return [Change("ensure", "created", self._diff(b"", wanted or b""))]
            return self._differing(entry, found, wanted)

    def foresee(self, site: Site) -> None:
        """Note nothing: a file is no folder for other resources."""

    def _differing(self, entry: FolderEntry, found: os.stat_result, wanted: bytes | None) -> list[Change]:
        regular = stat.S_ISREG(found.st_mode)
        if wanted is None or (self.ensure == "present" and not regular):
            return [] if stat.S_ISLNK(found.st_mode) else self._owner_and_mode_changes(found)
        if not regular:
            return [Change("ensure", "replaced by a file", self._diff(b"", wanted))]
        now = entry.content()
        if now == wanted:
            return self._owner_and_mode_changes(found)
        digests = "" if self.sensitive else f" {_digest(now)} -> {_digest(wanted)}"
        return [Change("content", f"content{digests}", self._diff(now, wanted)), *self._owner_and_mode_changes(found)]

    def apply(self, change: Change, site: Site) -> None:
        """Remove the file, write it whole, or set its mode or owners.

        Removed or replaced content is copied to the site's folder for backups, unless `backup` is False.
        """
        with site.entry(self.path) as entry:
            found = entry.status()
            if change.what == "ensure" and self.ensure == "absent":
                self._back_up(entry, found, site)
                entry.remove()
            elif change.what in ("ensure", "content"):
                self._back_up(entry, found, site)
                self._write(entry, found)
            else:
                self._hold(change, entry)

    def _write(self, entry: FolderEntry, found: os.stat_result | None) -> None:
        mode, uid, gid = self._mode(), self._uid(), self._gid()
        if mode is None:
            regular = found is not None and stat.S_ISREG(found.st_mode)
            mode = stat.S_IMODE(found.st_mode) if found and regular else 0o600 if self.sensitive else 0o644
        if found is not None:
            uid, gid = found.st_uid if uid < 0 else uid, found.st_gid if gid < 0 else gid
        entry.replace(self._wanted() or b"", mode, uid, gid)

    def _wanted(self) -> bytes | None:
        if self.source is not None:
            return Path(self.source).read_bytes()
        value = revealed(self.content) if self.template is None else self._rendered(Path(self.template))
        if value is None or isinstance(value, bytes):
            return value
        return str(value).encode("utf-8")

    def _rendered(self, template: Path) -> str:
        budget = Budget(template.name)
        environment = sandboxed(
            budget,
            undefined=module().StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        text = template.read_text(encoding="utf-8")
        try:
            with rendering(budget):
                return str(environment.from_string(text).render(revealed(self.variables)))
        except Exception as error:
            line = getattr(error, "lineno", None)
            place = f"{template.name}:{line}" if line else template.name
            # What a template raises may quote what it was given.
            reason = type(error).__name__ if self.sensitive else f"{error}"
            raise ResourceFailed(f"the template {place} failed: {reason}") from (None if self.sensitive else error)

    def _diff(self, before: bytes, after: bytes) -> str | None:
        if self.sensitive or len(before) + len(after) > _MOST_DIFF_BYTES:
            return None
        try:
            old, new = before.decode("utf-8").splitlines(), after.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            return None
        return "\n".join(list(difflib.unified_diff(old, new, self.path, self.path, lineterm="", n=2))) or None

    def _back_up(self, entry: FolderEntry, found: os.stat_result | None, site: Site) -> None:
        if not self.backup or site.backups is None or found is None or not stat.S_ISREG(found.st_mode):
            return
        content = entry.content()
        site.backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        with folder_below(site.backups, ()) as folder:
            name = f"{hashlib.sha256(self.path.encode()).hexdigest()[:16]}-{_digest(content)}"
            kept = FolderEntry(folder, name)
            if kept.status() is None:
                kept.replace(content, 0o600)


@dataclass
class Directory(_PathResource):
    """A directory. It is made together with missing directories above it.

    path:   the absolute path
    ensure: "present" or None: it is made; "absent": it is removed, which fails if it is not empty
    mode:   its permissions; None: not changed
    owner, group: a name or number; None: not changed

    Anything else at the path is an error. `check` and `apply` raise ResourceFailed and OSError.
    """

    def check(self, site: Site) -> Sequence[Change]:
        """The differing properties: ensure, or mode and owners; [] for none.

        raises: ResourceFailed, where something else has its path
        """
        with _found(site, self.path) as (_, found):
            if self.ensure == "absent":
                return [] if found is None else [Change("ensure", "removed")]
            if found is None:
                return [Change("ensure", "created")]
            if not stat.S_ISDIR(found.st_mode):
                raise ResourceFailed(f"{self.path} is there, and it is no directory")
            return self._owner_and_mode_changes(found)

    def foresee(self, site: Site) -> None:
        """Note in no-op mode that the directory would exist."""
        if self.ensure != "absent":
            site.foresee_folder(self.path)

    def apply(self, change: Change, site: Site) -> None:
        """Make or remove the directory, or set its mode or owners.

        change: one of the changes that `check` returned
        raises: OSError, for example if a directory to remove is not empty; ResourceFailed
        """
        is_made = change.what == "ensure" and self.ensure != "absent"
        with site.entry(self.path, make=is_made) as entry:
            if is_made:
                self._make(entry)
            elif change.what == "ensure":
                entry.remove_folder()
            else:
                self._hold(change, entry)

    def _make(self, entry: FolderEntry) -> None:
        entry.make_folder()
        mode, owners = self._mode(), (self._uid(), self._gid())
        if owners != (-1, -1):
            entry.chown(*owners)
        if mode is not None:
            entry.chmod(mode)


@dataclass
class Link(_Placed):
    """A symbolic link.

    path:   the absolute path of the link
    to:     the target, as it is written into the link; required unless `ensure` is "absent". It need not exist
    ensure: "present" or "absent"

    A link with another target is replaced. A file or directory at the path is an error (raises: ResourceFailed).
    The constructor raises BadArgument for a missing target or another `ensure`, and BadName for a path. `ResourceType`
    describes the methods: a change is "ensure" or "to", and `automatic` requires the directory and the target.
    """

    to: str = ""
    ensure: str = "present"

    def __post_init__(self) -> None:
        Site().path(self.path)
        if self.ensure not in ("present", "absent") or (self.ensure == "present" and not self.to):
            raise BadArgument(f"Link[{self.path}] needs to=, where it leads", hint="or ensure='absent'")

    def automatic(self) -> Mapping[str, tuple[str | FirstOf, ...]]:
        """The link requires the nearest directory above it, and its target."""
        target = os.path.normpath(os.path.join(os.path.dirname(self.path), self.to)) if self.to else ""
        candidates = FirstOf(f"{kind}[{target}]" for kind in PLACED)
        return {"require": (nearest_first(self.path, *PLACED), candidates)}

    def check(self, site: Site) -> Sequence[Change]:
        """The differing properties: ensure or the target; [] for none.

        raises: ResourceFailed, where something else has its path; FolderMissing
        """
        with _found(site, self.path) as (entry, found):
            if found is not None and not stat.S_ISLNK(found.st_mode):
                raise ResourceFailed(f"{self.path} is there, and it is no link", hint="take it away first")
            if self.ensure == "absent":
                return [] if found is None else [Change("ensure", "removed")]
            if entry is None or found is None:
                _require_folder(site, self.path)
                return [Change("ensure", f"created, leads to {self.to}")]
            now = entry.target()
            return [] if now == self.to else [Change("to", f"to {now} -> {self.to}")]

    def foresee(self, site: Site) -> None:
        """Note in no-op mode that the link may lead to an existing folder."""
        if self.ensure != "absent":
            site.foresee_folder(self.path)

    def apply(self, change: Change, site: Site) -> None:
        """Make, replace or remove the link.

        change: one of the changes that `check` returned; it makes no difference here
        raises: ResourceFailed, FolderMissing, OSError
        """
        with site.entry(self.path) as entry:
            if self.ensure == "absent":
                entry.remove()
            else:
                entry.link(self.to)


@contextlib.contextmanager
def _found(site: Site, name: str) -> Iterator[tuple[FolderEntry | None, os.stat_result | None]]:
    """A context with (entry, its status); the status is None if nothing is there. Both are None without the folder."""
    with contextlib.ExitStack() as stack:
        try:
            entry = stack.enter_context(site.entry(name))
        except FolderMissing:
            yield None, None
        else:
            yield entry, entry.status()


def _require_folder(site: Site, name: str) -> None:
    """raises: FolderMissing, if the folder of a path is missing, and no earlier resource would make it"""
    if not site.is_foreseen(name):
        with site.entry(name):
            pass


def _number(name: str | int | None, find: Callable[[str], int], kind: str) -> int:
    if name is None:
        return -1
    if isinstance(name, int):
        return name
    if name.isdigit():
        return int(name)
    try:
        return find(name)
    except KeyError:
        raise ResourceFailed(f"there is no {kind} {name}") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]

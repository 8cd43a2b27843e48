"""Roles: where they are found, which files of variables they have, and whom they depend on.

It knows no tasks and no levels but the two at which a role's files stand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.fold import Layer
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.codes import CYCLE, NO_FILE, NO_ROLE, VARIABLE_NAME, WRONG_SHAPE
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.files import Plan, VariableFiles, as_one_fold, plain_of
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.words import ROLE, never_runs
from nodeattrs.formats.documents import Document

_SUFFIXES = (".yml", ".yaml", ".json", "")
MOST_INSIDE = 20
"""A role may include itself so deep."""
_COMMON = ("~/.ansible/roles", "/usr/share/ansible/roles", "/etc/ansible/roles")

_REQUIREMENTS = ("requirements.yml", "roles/requirements.yml", "collections/requirements.yml")
_COLLECTIONS = ("~/.ansible/collections", "/usr/share/ansible/collections")


@dataclass(eq=False)
class Role:
    """One instance of a role.

    name, path: what it is called, and its folder
    defaults, vars: the layers of levels 2 and 15, its own only
    entry:      `vars` of its own entry (level 15)
    params:     the other keys of it (level 20)
    include_variables: `vars` of the task that includes or imports it, as handlers of roles that it imports have them
    limits:     what `tags` and `when` of its entry say; of a task that includes it, which files it names
    role_entry: the entry or the task that asks for it
    handlers:   the name of its file of handlers; ABSENT where that is not known
    needs:      the roles it depends on, in order
    parents:    the roles that led here, as dependants or by an include, the outermost first
    runs:       whether nothing says that it never runs
    repeats:    whether it runs each time, also where the same instance has run
    is_public:  whether all tasks of the play see its variables
    """

    name: str
    path: Path
    parents: tuple[Role, ...] = ()
    defaults: list[Plan] = field(default_factory=list)
    vars: list[Plan] = field(default_factory=list)
    entry: list[Layer] = field(default_factory=list)
    params: list[Layer] = field(default_factory=list)
    include_variables: list[Layer] = field(default_factory=list)
    limits: list[Any] = field(default_factory=list)
    role_entry: RoleEntry | None = None
    handlers: Any = "main"
    needs: list[Role] = field(default_factory=list)
    runs: bool = True
    repeats: bool = False
    is_public: bool = True

    def with_needs(self) -> Iterator[Role]:
        """The roles it depends on, each before those that need it, then itself; a role may be there twice."""
        for role in self.needs:
            yield from role.with_needs()
        yield self

    def in_order(self) -> list[Role]:
        """The same in the order in which their `vars` count, the weakest first.

        Each that is needed counts once, at its first place, and brings what it needs itself along once more.
        """
        needed: list[Role] = []
        for one in list(self.with_needs())[:-1]:
            if not any(one.same_as(other) for other in needed):
                needed.append(one)
        found = [one for need in needed for one in need.in_order()]
        return [*reversed(dict.fromkeys(reversed(found))), self]

    def all_defaults(self) -> list[Plan]:
        """Level 2 in its tasks, on top of what all tasks of the play see: dependencies, parents, its own."""
        needed = list(self.with_needs())[:-1]
        return [one for role in (*needed, *self.parents, self) for one in role.defaults]

    def all_vars(self) -> list[Plan]:
        """Level 15 in its tasks, on top of the same: parents with their entries, dependencies, its own, its entry."""
        above = [one for role in self.parents for one in (*role.entry, *role.vars)]
        return [*above, *(one for role in self.in_order() for one in role.vars), *self.entry]

    def all_params(self) -> list[Layer]:
        """Level 20 in its tasks: parents, then its own."""
        return [one for role in (*self.parents, self) for one in role.params]

    def entries(self) -> list[RoleEntry]:
        """The entries of the roles that depend on it, then its own."""
        found = [] if self.role_entry is None else [self.role_entry]
        return [*self.parents[-1].entries(), *found] if found and found[0].depends else found

    def for_handlers(self) -> Role:
        """The same for its handlers: to them `vars` of tasks that include the roles above count as those of entries."""
        return replace(
            self, parents=tuple(replace(one, entry=[*one.entry, *one.include_variables]) for one in self.parents)
        )

    def same_as(self, other: Role) -> bool:
        """Whether it is the same role with the same entry: it runs once."""
        return self._given() == other._given()

    def _given(self) -> list[Any]:
        layers = (*self.entry, *self.params, *self.include_variables)
        return [self.name, self.path, self.limits, *(layer.value for layer in layers)]


@dataclass(frozen=True)
class RoleEntry:
    """What an entry asks of a role: other files than `main`, and what it passes on.

    document, at: where the entry stands
    vars_from, defaults_from: the names of files; ABSENT where one is not known
    depends: whether it is a dependency
    is_public: what it says about who sees its variables
    repeats: whether the role runs each time; None where the role itself says it
    collections: those in which a plain name is sought first
    """

    name: str
    document: Document
    at: Steps
    body: dict[Any, Any] = field(default_factory=dict)
    vars_from: Any = "main"
    defaults_from: Any = "main"
    depends: bool = False
    is_public: bool | None = None
    repeats: bool | None = None
    collections: tuple[str, ...] = ()


class Roles:
    """Finds and reads roles.

    fill: a name with the variables filled in that are known before any host is asked, and those that are handed in;
          raises AnsibleError
    are_private: whether they keep their variables to themselves, unless they name another way
    """

    def __init__(
        self,
        files: VariableFiles,
        paths: tuple[str, ...],
        collections: tuple[str, ...],
        extensions: tuple[str, ...],
        policy: Policy,
        fill: Callable[[str, dict[Any, Any]], str],
        *,
        are_private: bool,
    ) -> None:
        self.files, self.policy, self.extensions, self.fill = files, policy, extensions, fill
        self.are_private = are_private
        self.paths = paths or tuple(str(Path(one).expanduser()) for one in _COMMON)
        self._collections = collections
        if not paths:
            border.admit_of_machine(*self.paths)

    def read(self, asked: RoleEntry, folder: Path, by: Role | None = None) -> Role:
        """The role that an entry asks for.

        folder: that of the playbook
        by:     the role that depends on it, or includes it
        raises: AnsibleError: no such role, a ring of dependencies, or a file that is broken
        """
        name = self.fill(asked.name, {})
        path = self._found(name, folder, by, asked)
        if path == self.files.folder / name != folder / name:
            name = path.name
        parents = () if by is None else (*by.parents, by)
        if sum(one.path == path for one in parents) > (0 if asked.depends else MOST_INSIDE):
            line = asked.document.place(asked.at)[0]
            raise AnsibleError(CYCLE, f"the role {name} needs itself", file=asked.document.file, line=line)
        role = Role(name, path, parents, self._of(path, "defaults", name, asked, asked.defaults_from, 2))
        role.vars = self._of(path, "vars", name, asked, asked.vars_from, 15)
        role.role_entry = asked
        role.is_public = not self.are_private if asked.is_public is None else asked.is_public
        role.entry, role.params = _given(asked)
        role.runs = not never_runs(asked.body) and (by is None or by.runs)
        role.limits = [asked.body.get(key) for key in ("tags", "when")]
        meta = self._meta(path)
        says = meta is not None and meta.tree.get("allow_duplicates") is True
        role.repeats = says if asked.repeats is None else asked.repeats
        role.needs += [] if meta is None else [self.read(entry, folder, role) for entry in _dependencies(meta)]
        return role

    def folder_of(self, name: str, folder: Path, beside: Path, collections: Sequence[str] = ()) -> Path | None:
        """The folder of a role of a name; None where it is not there. beside: a folder in which it is sought, too"""
        candidates = [*self._candidates(name, folder, None, collections), beside / name]
        return next((one for one in candidates if os.path.isdir(one)), None)

    def names_like(self, name: str, folder: Path, beside: Path) -> list[str]:
        """The names of all roles that a name with templates may give. raises: AnsibleError, where it may be any

        beside: a folder in which they are sought, too
        """
        if not name:
            raise AnsibleError(NO_ROLE, "which role it names is not known")
        homes = (folder / "roles", *map(Path, self.paths), beside)
        found = (
            path.relative_to(home) for home in homes for path in self.files.paths_spelled(home, name) if path.is_dir()
        )
        return [*dict.fromkeys(map(str, found))]

    def _found(self, name: str, folder: Path, by: Role | None, asked: RoleEntry) -> Path:
        for candidate in self._candidates(name, folder, by, asked.collections):
            if os.path.isdir(candidate):  # a name too long for a disk is of nothing there
                return candidate
        line = asked.document.place(asked.at)[0]
        hint = "roles are sought in roles/ beside the playbook, in roles_path and beside the playbook"
        hint = self.required(name) or hint
        raise AnsibleError(NO_ROLE, f"no role {name}", file=asked.document.file, line=line, hint=hint)

    def required(self, name: str) -> str:
        """Which file of requirements names a role or its collection, in words; "" for none."""
        wanted = re.compile(
            rf"(?<![\w.-]){re.escape(name.rpartition('.')[0] if name.count('.') > 1 else name)}(?![\w-])"
        )
        for file in _REQUIREMENTS:
            text = self.files.text(self.files.folder / file).text if (self.files.folder / file).is_file() else ""
            line = next((number for number, one in enumerate(text.splitlines(), 1) if wanted.search(one)), None)
            if line is not None:
                return f"{file}:{line} names it: ansible-galaxy install -r {file} fetches it"
        return ""

    def _candidates(self, name: str, folder: Path, by: Role | None, collections: Sequence[str]) -> Iterator[Path]:
        named = [name] if name.count(".") == 2 else [f"{one}.{name}" for one in collections]
        for space, collection, role in (one.split(".", 2) for one in named if one.count(".") > 1):
            for home in collection_homes(folder, self.files.folder, self._collections):
                yield home / space / collection / "roles" / role
        yield folder / "roles" / name
        yield from (Path(path) / name for path in self.paths)
        if by is not None:
            yield by.path.parent / name
        yield from (base / name for base in (folder, self.files.folder))

    def _of(self, role: Path, kind: str, name: str, asked: RoleEntry, stem: Any, level: int) -> list[Plan]:
        """The layers of `defaults` or `vars` of a role. raises: AnsibleError, where a file is named and not there"""
        if stem is ABSENT:
            origin = asked.document.locator(f"role {kind}", name, asked.at).at(())
            return [Layer.unknown(title(level), origin, f"which file of {kind} the role has here is not known")]
        path = self.file(role / kind, stem)
        if path is None and (stem == "main" or not os.path.isdir(role / kind)):
            return []
        if path is None:
            line = asked.document.place(asked.at)[0]
            raise AnsibleError(NO_FILE, f"the role {name} has no {kind}/{stem}", file=asked.document.file, line=line)
        is_folder = path.is_dir()
        paths = list(self.files.files_in(path, self.extensions)) if is_folder else [path]
        layers = [self.files.variables(one, f"role {kind}", name, title(level)) for one in paths]
        return as_one_fold([layer for layer in layers if layer is not None], self.policy)

    @staticmethod
    def file(folder: Path, stem: str) -> Path | None:
        """The file of a name in a folder of a role, or the folder of that name."""
        candidates = [folder / (stem + suffix) for suffix in _SUFFIXES]
        found = next((one for one in candidates if os.path.isfile(one)), None)
        return found or (folder / stem if os.path.isdir(folder / stem) else None)

    def _meta(self, role: Path) -> Document | None:
        """A role's `meta/main`, where it is a map."""
        path = self.file(role / "meta", "main")
        document = None if path is None else self.files.document(path)
        return document if document is not None and isinstance(document.tree, dict) else None


def collection_homes(folder: Path, root: Path, paths: Sequence[str]) -> Iterator[Path]:
    """The folders `ansible_collections`, in the order in which they are sought. paths: what ansible.cfg names"""
    if not paths:
        paths = [str(Path(one).expanduser()) for one in _COLLECTIONS]
        border.admit_of_machine(*paths)
    for base in (folder / "collections", root / "collections", *map(Path, paths)):
        yield base if base.name == "ansible_collections" else base / "ansible_collections"


def _dependencies(meta: Document) -> Iterator[RoleEntry]:
    """The entries under `dependencies`. raises: AnsibleError"""
    entries = meta.tree.get("dependencies") or []
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        yield replace(role_entry(entry, meta, ("dependencies", index)), depends=True)


def role_entry(entry: Any, document: Document, at: Steps) -> RoleEntry:
    """What an entry under `roles` or `dependencies` asks for. raises: AnsibleError"""
    if isinstance(entry, str):
        return RoleEntry(entry, document, at)
    name = entry.get("role", entry.get("name")) if isinstance(entry, dict) else None
    if not isinstance(name, str):
        line = document.place(at)[0]
        raise AnsibleError(WRONG_SHAPE, "a role is a name, or a map with `role`", file=document.file, line=line)
    return RoleEntry(name, document, at, entry)


def _given(asked: RoleEntry) -> tuple[list[Layer], list[Layer]]:
    """The layers of an entry: its `vars`, and its parameters."""
    document, at, body = asked.document, asked.at, asked.body
    own = checked_variables(body, document, at)
    params = plain_of(document, {key: value for key, value in body.items() if key not in ROLE})
    entry = [Layer(own, document.locator("role entry", asked.name, (*at, "vars")), title(15))] if own else []
    return entry, [Layer(params, document.locator("role params", asked.name, at), title(20))] if params else []


def checked_variables(body: dict[Any, Any], document: Document, at: Steps) -> dict[Any, Any]:
    """The map under `vars`. raises: AnsibleError, where it is none, and for a name that no variable has"""
    found = body.get("vars")
    if found is None:
        return {}
    if not isinstance(found, dict):
        line = document.place((*at, "vars"))[0]
        raise AnsibleError(WRONG_SHAPE, "vars is a map of variables", file=document.file, line=line)
    for name in found:
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            line = document.place((*at, "vars", name))[0]
            raise AnsibleError(VARIABLE_NAME, f"{name!r} is not a name of a variable", file=document.file, line=line)
    kept: dict[Any, Any] = plain_of(document, found)
    return kept

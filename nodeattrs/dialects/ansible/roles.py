"""Find the folders of roles, and read their files of variables and their dependencies.

Tasks are not read here. The layers are of levels 2 (defaults), 15 (vars) and 20 (parameters) in Ansible's list of
variable precedence; the highest level wins.
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
from nodeattrs.dialects.ansible.config import AnsibleConfig
from nodeattrs.dialects.ansible.faults import (
    CYCLE,
    NO_FILE,
    NO_ROLE,
    VARIABLE_NAME,
    WRONG_SHAPE,
    AnsibleError,
    error_at,
)
from nodeattrs.dialects.ansible.files import Plan, VariableFiles, as_one_fold, sealed_if_encrypted
from nodeattrs.dialects.ansible.keywords import ROLE, never_runs
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.formats.documents import Document

_SUFFIXES = (".yml", ".yaml", ".json", "")
_MOST_INSIDE = 20
"""How often a role may be among the roles that include it."""
_COMMON = ("~/.ansible/roles", "/usr/share/ansible/roles", "/etc/ansible/roles")

_REQUIREMENTS = ("requirements.yml", "roles/requirements.yml", "collections/requirements.yml")
_COLLECTIONS = ("~/.ansible/collections", "/usr/share/ansible/collections")


@dataclass(eq=False)
class Role:
    """One use of a role: by an entry under `roles` or `dependencies`, or by a task that imports or includes it.

    name, path:        its name, and its folder
    defaults, vars:    the layers of its own files, levels 2 and 15
    entry:             the layer of `vars` of its entry, level 15
    params:            the layer of the other keys of its entry, level 20
    include_variables: `vars` of the task that includes or imports the role; only handlers of roles below it see them
    limits:            more values that `same_as` compares: `tags` and `when` of an entry; for a task, the names of the
                       files that it asks for
    role_entry:        the entry or the task that asks for the role; `RoleReader.read` sets it
    handlers:          the name of its file of handlers; ABSENT if the name is not known
    dependencies:      the roles that the role depends on, in order
    parents:           the roles that depend on the role or include it, the outermost first
    runs:              False if a condition of an entry is false for every host
    repeats:           True: this use runs even if an equal use (`same_as`) has run before; False: it is skipped then
    is_public:         whether all tasks of the play see its variables

    `RoleReader.read` makes it. `all_defaults`, `all_vars` and `all_params` give the layers of a task in the role, the
    weakest first. They include layers of its parents and dependencies. `with_dependencies` yields the role and its
    dependencies in the order in which they run; a role may come twice. `in_vars_order` gives them in the order in which
    their `vars` count. In both, the role itself is last. `entries` has the entries of its parents, then its own.
    `for_handlers` makes a copy. `same_as` compares two uses.
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
    dependencies: list[Role] = field(default_factory=list)
    runs: bool = True
    repeats: bool = False
    is_public: bool = True

    def with_dependencies(self) -> Iterator[Role]:
        """Yield the roles that this role depends on, each before the roles that need it, then the role.

        A role may come twice.
        """
        for role in self.dependencies:
            yield from role.with_dependencies()
        yield self

    def in_vars_order(self) -> list[Role]:
        """The role and its dependencies in the order in which their `vars` count, the weakest first. The role itself is
        last.

        Of equal dependencies (`same_as`), only the first is followed. Then the orders of all are put in one row. A use
        that is in the row twice keeps its last place.
        """
        needed: list[Role] = []
        for one in list(self.with_dependencies())[:-1]:
            if not any(one.same_as(other) for other in needed):
                needed.append(one)
        found = [one for need in needed for one in need.in_vars_order()]
        return [*reversed(dict.fromkeys(reversed(found))), self]

    def all_defaults(self) -> list[Plan]:
        """The layers of level 2 for its tasks, the weakest first: of dependencies, of parents, its own."""
        needed = list(self.with_dependencies())[:-1]
        return [one for role in (*needed, *self.parents, self) for one in role.defaults]

    def all_vars(self) -> list[Plan]:
        """The layers of level 15 for its tasks, the weakest first: parents with their entries, dependencies, itself,
        its entry.
        """
        above = [one for role in self.parents for one in (*role.entry, *role.vars)]
        return [*above, *(one for role in self.in_vars_order() for one in role.vars), *self.entry]

    def all_params(self) -> list[Layer]:
        """The layers of level 20 for its tasks, the weakest first: of parents, then its own."""
        return [one for role in (*self.parents, self) for one in role.params]

    def entries(self) -> list[RoleEntry]:
        """The entries of the roles that depend on it, the outermost first, then its own; [] for a role without one."""
        found = [] if self.role_entry is None else [self.role_entry]
        return [*self.parents[-1].entries(), *found] if found and found[0].depends else found

    def for_handlers(self) -> Role:
        """A copy of the role for its handlers.

        Handlers also see the `vars` of tasks that include a parent of the role: in the copy they count as `vars` of the
        parent's entry.
        """
        return replace(
            self, parents=tuple(replace(one, entry=[*one.entry, *one.include_variables]) for one in self.parents)
        )

    def same_as(self, other: Role) -> bool:
        """Whether two uses are equal: the same name, folder, limits, and values of entry, parameters and variables.

        Of equal uses only the first one runs, unless a later one has `repeats`.
        """
        return self._identity() == other._identity()

    def _identity(self) -> list[Any]:
        layers = (*self.entry, *self.params, *self.include_variables)
        return [self.name, self.path, self.limits, *(layer.value for layer in layers)]


@dataclass(frozen=True)
class RoleEntry:
    """The place that asks for a role: an entry under `roles` or `dependencies`, or a task that names a role.

    name:          the role's name, perhaps with templates
    document, at:  the file of the entry, and the path of the entry in it
    body:          the map of the entry; {} for a plain name, and for a task
    vars_from:     the name of the role's file of vars; ABSENT if it is not known
    defaults_from: the name of the role's file of defaults; ABSENT if it is not known
    depends:       True for an entry under `dependencies`
    is_public:     whether all tasks of the play see the role's variables; None: private_role_vars decides
    repeats:       whether the role runs each time; None: `allow_duplicates` of the role decides
    collections:   collections that are searched first for a role without a collection in its name
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


class RoleReader:
    """Finds roles in the folders of roles and reads them. The constructor reads nothing. Parsed files are kept by
    *files*.

    files:  reads files, which it keeps
    config: roles_path, collections_path and private_role_vars of ansible.cfg
    policy: how the files of a folder are merged
    fill:   called with (name of a role, variables of the task), returns the name with its templates evaluated. It
            raises AnsibleError if the name is not known

    `read` makes the `Role` of an entry, and raises AnsibleError for a role that is not there. `folder_of` finds only
    the folder, or None. `names_matching` lists the roles that a name with templates may mean. `requirement_hint` names
    the file of requirements that has a role, or "". `find_file` gives None if there is no such file.
    """

    def __init__(
        self,
        files: VariableFiles,
        config: AnsibleConfig,
        policy: Policy,
        fill: Callable[[str, dict[Any, Any]], str],
    ) -> None:
        self.files, self.policy, self.fill = files, policy, fill
        self._config = config
        self._paths = config.roles_path or tuple(str(Path(one).expanduser()) for one in _COMMON)
        if not config.roles_path:
            border.admit_of_machine(*self._paths)

    def read(self, entry: RoleEntry, folder: Path, parent: Role | None = None) -> Role:
        """The role of an entry, with its dependencies, read from its files of variables and `meta/main`.

        folder: the folder of the playbook
        parent: the role that depends on it or includes it; None for an entry of a play
        raises: AnsibleError, if no folder has the role, or one of its files is broken. Also if a dependency needs
                itself, or if a role that tasks include is more than twenty times among its own parents
        """
        name = self.fill(entry.name, {})
        path = self._found(name, folder, parent, entry)
        if path == self.files.folder / name != folder / name:
            name = path.name
        parents = () if parent is None else (*parent.parents, parent)
        if sum(one.path == path for one in parents) > (0 if entry.depends else _MOST_INSIDE):
            raise error_at(entry.document, entry.at, CYCLE, f"the role {name} needs itself")
        role = Role(name, path, parents, self._layers_of_role(path, "defaults", name, entry, entry.defaults_from, 2))
        role.vars = self._layers_of_role(path, "vars", name, entry, entry.vars_from, 15)
        role.role_entry = entry
        role.is_public = not self._config.private_role_vars if entry.is_public is None else entry.is_public
        role.entry, role.params = _layers_of_entry(entry)
        role.runs = not never_runs(entry.body) and (parent is None or parent.runs)
        role.limits = [entry.body.get(key) for key in ("tags", "when")]
        meta = self._meta(path)
        says = meta is not None and meta.tree.get("allow_duplicates") is True
        role.repeats = says if entry.repeats is None else entry.repeats
        role.dependencies += [] if meta is None else [self.read(needed, folder, role) for needed in _dependencies(meta)]
        return role

    def folder_of(self, name: str, folder: Path, beside: Path, collections: Sequence[str] = ()) -> Path | None:
        """The folder of a role; None where it is not there. beside: one more folder to look in, after the usual ones"""
        candidates = [*self._candidates(name, folder, None, collections), beside / name]
        return next((one for one in candidates if os.path.isdir(one)), None)

    def names_matching(self, name: str, folder: Path, beside: Path) -> list[str]:
        """The names of the roles that a name with templates may mean; [] for none.

        A template may be any part of one name between two slashes.

        folder: the folder of the playbook
        beside: one more folder to look in, after the usual ones
        raises: AnsibleError, for an empty name and for a template that cannot be understood
        """
        if not name:
            raise AnsibleError(NO_ROLE, "which role it names is not known")
        homes = (folder / "roles", *map(Path, self._paths), beside)
        found = (
            path.relative_to(home) for home in homes for path in self.files.paths_matching(home, name) if path.is_dir()
        )
        return [*dict.fromkeys(map(str, found))]

    def _found(self, name: str, folder: Path, parent: Role | None, entry: RoleEntry) -> Path:
        for candidate in self._candidates(name, folder, parent, entry.collections):
            if os.path.isdir(candidate):  # False for a name that is too long for the disk
                return candidate
        hint = "roles are sought in roles/ beside the playbook, in roles_path and beside the playbook"
        hint = self.requirement_hint(name) or hint
        raise error_at(entry.document, entry.at, NO_ROLE, f"no role {name}", hint)

    def requirement_hint(self, name: str) -> str:
        """A sentence with the first line of the requirements that names a role, and the command that installs the role.

        "" if no line names the role or its collection. Nothing is raised for a missing file.
        name: the name of the role, perhaps with its collection
        """
        wanted = re.compile(
            rf"(?<![\w.-]){re.escape(name.rpartition('.')[0] if name.count('.') > 1 else name)}(?![\w-])"
        )
        for file in _REQUIREMENTS:
            text = self.files.text(self.files.folder / file).text if (self.files.folder / file).is_file() else ""
            line = next((number for number, one in enumerate(text.splitlines(), 1) if wanted.search(one)), None)
            if line is not None:
                return f"{file}:{line} names it: ansible-galaxy install -r {file} fetches it"
        return ""

    def _candidates(self, name: str, folder: Path, parent: Role | None, collections: Sequence[str]) -> Iterator[Path]:
        named = [name] if name.count(".") == 2 else [f"{one}.{name}" for one in collections]
        for space, collection, role in (one.split(".", 2) for one in named if one.count(".") > 1):
            for home in collection_homes(folder, self.files.folder, self._config.collections_path):
                yield home / space / collection / "roles" / role
        yield folder / "roles" / name
        yield from (Path(path) / name for path in self._paths)
        if parent is not None:
            yield parent.path.parent / name
        yield from (base / name for base in (folder, self.files.folder))

    def _layers_of_role(self, role: Path, kind: str, name: str, entry: RoleEntry, stem: Any, level: int) -> list[Plan]:
        """The layers of `defaults` or `vars` of a role; [] without files, an unknown layer if *stem* is ABSENT.

        raises: AnsibleError, if the entry names a file that does not exist
        """
        if stem is ABSENT:
            origin = entry.document.locator(f"role {kind}", name, entry.at).at(())
            return [Layer.unknown(title(level), origin, f"which file of {kind} the role has here is not known")]
        path = self.find_file(role / kind, stem)
        if path is None and (stem == "main" or not os.path.isdir(role / kind)):
            return []
        if path is None:
            raise error_at(entry.document, entry.at, NO_FILE, f"the role {name} has no {kind}/{stem}")
        is_folder = path.is_dir()
        paths = list(self.files.files_in(path, self._config.yaml_valid_extensions)) if is_folder else [path]
        return as_one_fold(self.files.layers_of_files(paths, f"role {kind}", name, title(level)), self.policy)

    @staticmethod
    def find_file(folder: Path, stem: str) -> Path | None:
        """The path of a file in a folder: *stem* with an ending of YAML or JSON, or without one.

        If there is no such file, the path of the folder *stem*. None if there is neither.
        """
        candidates = [folder / (stem + suffix) for suffix in _SUFFIXES]
        found = next((one for one in candidates if os.path.isfile(one)), None)
        return found or (folder / stem if os.path.isdir(folder / stem) else None)

    def _meta(self, role: Path) -> Document | None:
        """The `meta/main` of a role; None where it is not there, is encrypted, or is not a map."""
        path = self.find_file(role / "meta", "main")
        document = None if path is None else self.files.document(path)
        return document if document is not None and isinstance(document.tree, dict) else None


def collection_homes(folder: Path, root: Path, paths: Sequence[str]) -> Iterator[Path]:
    """Yield the folders called `ansible_collections` in which collections are looked for, in order.

    The first is below `collections` beside the playbook, the second below `collections` of the working folder. Then
    one follows for each of *paths*: the path itself if it ends in `ansible_collections`, else that folder in it. The
    folders may be absent, and a folder may come twice.
    folder: the folder of the playbook
    root:   the working folder
    paths:  collections_path of ansible.cfg; (): ~/.ansible/collections and /usr/share/ansible/collections
    """
    if not paths:
        paths = [str(Path(one).expanduser()) for one in _COLLECTIONS]
        border.admit_of_machine(*paths)
    for base in (folder / "collections", root / "collections", *map(Path, paths)):
        yield base if base.name == "ansible_collections" else base / "ansible_collections"


def _dependencies(meta: Document) -> Iterator[RoleEntry]:
    """The entries under `dependencies`. raises: AnsibleError"""
    entries = meta.tree.get("dependencies") or []
    if not isinstance(entries, list):
        raise error_at(meta, ("dependencies",), WRONG_SHAPE, "dependencies is a list")
    for index, entry in enumerate(entries):
        yield replace(role_entry(entry, meta, ("dependencies", index)), depends=True)


def role_entry(entry: Any, document: Document, at: Steps) -> RoleEntry:
    """The `RoleEntry` of an item under `roles` or `dependencies`.

    entry:        the item: a name, or a map with `role` or `name`
    document, at: the file of the item, and its path in the file
    raises:       AnsibleError, for any other item
    """
    if isinstance(entry, str):
        return RoleEntry(entry, document, at)
    name = entry.get("role", entry.get("name")) if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise error_at(document, at, WRONG_SHAPE, "a role is a name, or a map with `role`")
    return RoleEntry(name, document, at, entry)


def _layers_of_entry(entry: RoleEntry) -> tuple[list[Layer], list[Layer]]:
    """The layers of an entry: its `vars`, and its parameters; each list is empty where the entry has none."""
    document, at, body = entry.document, entry.at, entry.body
    own = checked_variables(body, document, at)
    params = sealed_if_encrypted(document, {key: value for key, value in body.items() if key not in ROLE})
    own_layer = Layer(own, document.locator("role entry", entry.name, (*at, "vars")), title(15))
    params_layer = Layer(params, document.locator("role params", entry.name, at), title(20))
    return [own_layer] if own else [], [params_layer] if params else []


def checked_variables(body: dict[Any, Any], document: Document, at: Steps) -> dict[Any, Any]:
    """The map under `vars`; {} if it is missing or null. If the document was encrypted, each leaf is a secret.

    body:         a play, block, task or entry, which may have `vars`
    document, at: its file, and its path in the file
    raises:       AnsibleError, if `vars` is not a map, and for a name that no variable can have
    """
    found = body.get("vars")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise error_at(document, (*at, "vars"), WRONG_SHAPE, "vars is a map of variables")
    for name in found:
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            raise error_at(document, (*at, "vars", name), VARIABLE_NAME, f"{name!r} is not a name of a variable")
    kept: dict[Any, Any] = sealed_if_encrypted(document, found)
    return kept

"""A Chef repository on disk: cookbooks, roles, environments, nodes, data bags, policies.

    cookbooks/NAME/{metadata.{json,yaml,rb}, attributes/*.{py,rb,yaml,yml,json,toml}, recipes/*.{py,rb}}
    roles/NAME.{json,yaml,yml,py,rb}      environments/NAME.{json,yaml,yml,py,rb}
    roles/**/NAME.{json,rb}               environments/**/NAME.{json,rb}
    nodes/NAME.{json,yaml,yml}            data_bags/BAG/ITEM.{json,yaml,yml}
    nodeattrs.toml

This module finds the file of a name, and reads it once, at its first use: one repository serves many nodes. Names are
checked before they become paths. The modules `roles`, `cookbooks`, `policyfiles` and `kitchen` beside it know what the
fields of a document mean.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from nodeattrs import border
from nodeattrs.contract.folder import Folder
from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.claim import Locator, LocatorBelow, Origin
from nodeattrs.core.code import may_run
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import SCALARS, checked_name, copied, dig
from nodeattrs.dialects.chef.repository.cookbook_paths import CookbookPaths, Lock, files_below, paths_in
from nodeattrs.dialects.chef.repository.cookbooks import (
    NOT_RUN,
    RUBY,
    Cookbook,
    not_run,
    read_metadata,
)
from nodeattrs.dialects.chef.repository.encrypted import decrypted, is_encrypted
from nodeattrs.dialects.chef.repository.kitchen import FILES, Kitchen, read_kitchen
from nodeattrs.dialects.chef.repository.policyfiles import (
    declared_name,
    policy_files,
    read_policyfile,
    unread_of,
    unread_policy,
)
from nodeattrs.dialects.chef.repository.programs import Script
from nodeattrs.dialects.chef.repository.roles import (
    DEFAULT_ENVIRONMENT,
    NO_OPTIONS,
    Environment,
    NodeFile,
    Policy,
    RepositoryOptions,
    Role,
    read_environment,
    read_node,
    read_policy,
    read_role,
)
from nodeattrs.errors import (
    CannotDecrypt,
    CookbookNotFound,
    DataBagItemNotFound,
    DocumentError,
    EnvironmentNotFound,
    MissingExtra,
    NodeattrsError,
    NotFound,
    PolicyNotFound,
    RoleNotFound,
    TooMuch,
)
from nodeattrs.formats import documents
from nodeattrs.formats.chef_words import ruby_document
from nodeattrs.formats.nearest import work_tree_of
from nodeattrs.git import Git
from nodeattrs.kinds import JSON_COUNTS, MISSING_COOKBOOK, NOT_LITERAL, POLICY_WITHOUT_LOCK
from nodeattrs.project.config import ChefConfig, RepositorySettings
from nodeattrs.project.fields import Fields, known_or_near

NOT_THERE = "is not there"
"""Why a cookbook is unread that no folder has."""

_DATA = (".json", ".yaml", ".yml")
_READ = (*_DATA, RUBY)
_READ_OR_RUN = (*_READ, ".py")
_GALAXY = ("requirements.yml", "requirements.yaml")
"""Files in the folder `roles` of an Ansible project, which are no roles."""
_OF_OTHERS = frozenset(
    (
        *("defaults", "files", "handlers", "meta", "tasks", "templates", "vars"),  # of Ansible
        *("data", "hieradata", "manifests", "modules"),  # of Puppet
    )
)
"""Folders below `roles` and `environments` that hold nothing of Chef."""
_DEEPEST = 3
_MOST_INCLUDING = 30
"""How many Policyfiles may lead to one that is included."""
_DESCRIBES = re.compile(
    r"Chef::(?:Role|Environment)|\b(?:run_list|(?:default|override)_attributes|cookbook_versions)\b|^name\b",
    re.MULTILINE,
)
_FIELDS = re.compile(
    r"\b(?:(?:default|override)_attributes|(?:env_)?run_lists?|cookbook_versions|chef_type|json_class)\b"
)
"""Fields that only roles and environments of Chef have. Other tools have a name and a description, too."""
_SIGNS = (
    *("nodes", "cookbooks", "site-cookbooks", "data_bags", "policies", "policyfiles", "policy_groups"),
    *("metadata.rb", "metadata.json", "Policyfile.rb", "Berksfile", *FILES),
)
"""Files and folders in the root of a repository that show that it is one of Chef."""
LEAVES = SCALARS | {Sensitive}
"""The types of values in an item of a data bag, beside maps and lists."""

_Thing = TypeVar("_Thing")
_Arguments = ParamSpec("_Arguments")


def _kept_result(
    method: Callable[Concatenate[Repository, _Arguments], _Thing],
) -> Callable[Concatenate[Repository, _Arguments], _Thing]:
    """Decorate a method: keep its result for each set of arguments, so all nodes see one state of the files.

    None is not kept.
    """

    @wraps(method)
    def kept(self: Repository, /, *given: _Arguments.args, **named: _Arguments.kwargs) -> _Thing:
        key = (method.__name__, *given, *named.items())
        found: _Thing | None = self._read.get(key)
        if found is None:
            found = self._read[key] = method(self, *given, **named)
        return found

    return kept


class Repository(Folder):
    """A Chef repository on disk: gives its roles, environments, nodes, data bags, policies and cookbooks by name.

    The constructor reads no file. Each file is read and parsed at its first use, then kept: later changes are not seen.
    `role`, `environment`, `cookbook`, `policy` and the like take a name. They raise BadName for a name that cannot be a
    file name, and DocumentError for a bad file. For a missing one they raise a NotFound with similar names, but
    `node_document` returns None.
    `roles`, `cookbooks` and the like list names, [] for none; `data_bag` lists the items of one bag. `suites` lists the
    nodes of Test Kitchen, and `kitchen` has their settings. `has_node` says whether a node is described.
    `names_in_python` gives the roles or environments that are Python. `commit` is the checked-out commit, or "".
    A run calls `for_node`, since a suite of Test Kitchen may have its own folders. It calls `cookbook_for_run`, which
    gives a stand-in for a missing cookbook. `data_bag_item` gives a copy of an item. `decrypted_item` and
    `item_as_written` give the kept item and its locator.

    root:     the folder; NotFound if it does not exist
    settings: None: read from nodeattrs.toml in the folder when they are needed
    options:  options of the call that concern the repository; set them before the first file is read
    warnings: grows with each file that is read
    also_sensitive: sensitive paths in addition to the settings
    """

    @checked_args(root=A_PATH)
    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        options: RepositoryOptions = NO_OPTIONS,
        settings: RepositorySettings | None = None,
    ) -> None:
        super().__init__(root, settings=settings)
        self.options = options
        self._moved_folders: Mapping[str, str] = {}  # folder of Chef -> where it lies instead, relative to the root
        self._read: dict[tuple[object, ...], Any] = {}

    @cached_property
    def commit(self) -> str:
        """The checked-out commit, as 40 or 64 hex digits; "" if it is not known. Read once."""
        with border.held(None):  # Git's folder may lie outside, and only a commit is returned
            return commit_of(self.root)

    @property
    def platforms_folder(self) -> pathlib.Path | None:
        """The folder with facts of platforms (`fauxhai` in the settings), which may not exist; None without one."""
        named = self.config.fauxhai
        return None if named is None else self.root / named

    def role(self, name: str) -> Role:
        """The role *name*, from a file in roles/ or in a folder below it. A file in Python is run.

        If a file is Ruby and the extra for Ruby is missing, the role has `unread`, and a warning is added.
        raises: BadName, RoleNotFound, DocumentError
        """
        return self._described("role", checked_name(name, "role"), RoleNotFound, read_role, Role)

    def roles(self) -> list[str]:
        """The names of all roles, sorted: the names of their files. Files directly in roles/ are not read."""
        return self._described_names("roles")

    def environment(self, name: str) -> Environment:
        """The environment *name*; "_default" always exists, and is empty.

        raises: BadName, EnvironmentNotFound, DocumentError
        """
        if name == DEFAULT_ENVIRONMENT and not (
            self._files("environments", name, _READ_OR_RUN) or name in self._nested("environments")
        ):
            return Environment(name)
        return self._described(
            "environment", checked_name(name, "environment"), EnvironmentNotFound, read_environment, Environment
        )

    def environments(self) -> list[str]:
        """The names of all environments that have a file, sorted. So "_default" is usually not among them."""
        return self._described_names("environments")

    @_kept_result
    def node_document(self, name: str) -> NodeFile | None:
        """The description of a node by its file in nodes/, or else by a suite of Test Kitchen. None for neither.

        raises: BadName, DocumentError, InvalidRunListItem
        """
        path = self._file("nodes", checked_name(name, "node"), _DATA, f"node {name}")
        if path is None:
            return self.kitchen.node(name)
        return self._from(path, "node", name, partial(read_node, name))

    def nodes(self) -> list[str]:
        """The names of the nodes in nodes/, sorted."""
        return self._names("nodes", _DATA)

    def has_node(self, name: str) -> bool:
        """Whether a file in nodes/ or a suite of Test Kitchen has that name. The file is not read."""
        return bool(self._files("nodes", name, _DATA)) or name in self.kitchen.instances

    @cached_property
    def kitchen(self) -> Kitchen:
        """The suites of Test Kitchen, each on each platform; no instances without kitchen.yml. Read once.

        If kitchen.yml cannot be read, there are no instances, and the error is in `fault` and in `warnings`.
        """
        try:
            found = read_kitchen(self.root)
        except DocumentError as error:
            found = Kitchen(self.root, fault=error)
            self.warnings.append(error)
        self.warnings += found.warnings
        return found

    def suites(self) -> list[str]:
        """The names of the nodes that kitchen.yml describes, in its order. raises: DocumentError, where it is faulty"""
        if self.kitchen.fault is not None:
            raise self.kitchen.fault
        return [*self.kitchen.instances]

    def for_node(self, name: str) -> Repository:
        """The repository to use for a run of a node: this one, except for some suites of Test Kitchen.

        A suite may have its own folders of roles, environments and data bags. Then it has another repository, which
        reads its files itself. Suites with the same folders share it. It gets the current `options` at each call.
        """
        repository = self._repository_of_node(name)
        repository.options = self.options
        return repository

    @_kept_result
    def _repository_of_node(self, name: str) -> Repository:
        folders = [(folder, place) for folder, place in self.kitchen.folders(name).items() if folder != place]
        return self._with_folders(*folders) if folders and not self._files("nodes", name, _DATA) else self

    @_kept_result
    def _with_folders(self, *moved: tuple[str, str]) -> Repository:
        """A repository with the same files, except for some folders. moved: a folder of Chef, and its other place"""
        found = Repository(self.root, options=self.options, settings=self.settings)
        found.also_sensitive, found._moved_folders = self.also_sensitive, dict(moved)
        return found

    def data_bag(self, bag: str) -> list[str]:
        """The names of the items of a data bag, sorted, as a new list.

        raises: BadName; DataBagItemNotFound, for a missing bag
        """
        return list(self._data_bag(checked_name(bag, "data bag")))

    @_kept_result
    def _data_bag(self, bag: str) -> list[str]:
        folder = f"data_bags/{bag}"
        if not os.path.isdir(self._folder(folder)):
            raise DataBagItemNotFound(f"there is no data bag {bag}", hint=known_or_near(bag, self.data_bags()))
        return self._names(folder, _DATA)

    def data_bags(self) -> list[str]:
        """The names of all data bags, sorted: the folders in data_bags/."""
        paths = paths_in(self._folder("data_bags"))
        return [path.name for path in paths if os.path.isdir(path) and not path.name.startswith(".")]

    def data_bag_item(self, bag: str, item: str, secret: str | None = None) -> dict[str, Any]:
        """An item of a data bag, as a copy that the caller may change. The values of an encrypted item are secrets.

        secret: the secret itself, as text; None: the content of the file that `options` or else the settings name.
                An item that is not encrypted ignores it
        raises: BadName, DataBagItemNotFound, DocumentError, MissingExtra; CannotDecrypt, also for an item of chef-vault
        """
        return cast("dict[str, Any]", copied(self.decrypted_item(bag, item, secret)[0], LEAVES))

    def decrypted_item(self, bag: str, item: str, secret: str | None = None) -> tuple[dict[str, Any], Locator]:
        """Returns (item, locator). An encrypted item is decrypted. The item is the kept one, and must not be changed.

        secret: the secret itself, as text, and then the decrypted item is not kept; None: the content of the file that
                `options` or else the settings name
        raises: BadName, DataBagItemNotFound, DocumentError, MissingExtra; CannotDecrypt, also for an item of
                chef-vault: the bag then has an item ITEM_keys
        """
        tree, locator = found = self.item_as_written(bag, item)
        if not is_encrypted(tree):
            return found
        what = f"item {item} of data bag {bag}"
        if f"{item}_keys" in self.data_bag(bag):
            hint = f"{item}_keys has its key, encrypted for each client and admin; that is not read here"
            raise CannotDecrypt(f"{what} is an item of chef-vault", origins=(locator.at(()),), hint=hint)
        if secret is not None:
            return decrypted(tree, secret.encode(), what), locator
        return self._decrypted(bag, item, what), locator

    @_kept_result
    def _decrypted(self, bag: str, item: str, what: str) -> dict[str, Any]:
        return decrypted(self.item_as_written(bag, item)[0], self._secret(what), what)

    def _secret(self, what: str) -> bytes:
        """The secret in the named file, without white space around it. raises: CannotDecrypt, if no file is named;
        DocumentError
        """
        named = os.path.abspath(self.options.secret_file) if self.options.secret_file else self._chef.secret_file
        if not named:
            hint = "name the file with its secret: --secret-file, or [chef] secret_file in nodeattrs.toml"
            raise CannotDecrypt(f"{what} is encrypted", hint=hint)
        path = self.root / os.path.expanduser(named)
        return documents.content_of(path, self.shown(path)).strip(b"\0\t\n\v\f\r ")

    @_kept_result
    def item_as_written(self, bag: str, item: str) -> tuple[dict[str, Any], Locator]:
        """Returns (item, locator): the item as its file has it, encrypted or not. It must not be changed.

        A file that knife wrote has the item under `raw_data`. A missing `id` is added.
        raises: BadName, DataBagItemNotFound, DocumentError
        """

        def content(fields: Fields) -> tuple[dict[str, Any], Locator]:
            # knife writes the item wrapped, people write it bare.
            if fields.tree.get("json_class") == "Chef::DataBagItem" and "raw_data" in fields.tree:
                return fields.map("raw_data"), LocatorBelow(fields.locator, ("raw_data",))
            fields.named(item, "id")
            fields.finish()
            return {"id": item, **fields.tree}, fields.locator

        items, what = self.data_bag(bag), f"item {item} of data bag {bag}"
        path = self._file(f"data_bags/{bag}", checked_name(item, "data bag item"), _DATA, what)
        if path is None:
            raise DataBagItemNotFound(f"data bag {bag} has no item {item}", hint=known_or_near(item, items))
        document = documents.read(path, self.shown(path))
        return self._understood(document, document.locator("data bag", bag), what, content)

    @_kept_result
    def policy(self, name: str, group: str = "") -> Policy:
        """A policy by its name, or by the path of its lock file or Policyfile in the repository.

        A lock file is preferred to a Policyfile. A Policyfile without its lock adds a warning.
        group: a policy group. If `chef export` wrote policy_groups/GROUP.json, that file chooses the revision. "": none
        raises: BadName, PolicyNotFound, DocumentError
        """
        return replace(self._locked(name, group), group=group)

    def policies(self) -> list[str]:
        """The names that lock files and Policyfiles give themselves, sorted. raises: DocumentError, for a bad one"""
        return sorted({name for name in (declared_name(*one) for one in self._policy_files()) if name})

    def _policy_files(self) -> Iterator[tuple[pathlib.Path, str]]:
        return ((path, self.shown(path)) for path in policy_files(self.root) if self._is_inside(path))

    def _is_inside(self, path: pathlib.Path) -> bool:
        whole = pathlib.Path(os.path.realpath(path))
        return whole.is_relative_to(os.path.realpath(self.root)) and os.path.isfile(whole)

    def _locked(self, name: str, group: str) -> Policy:
        is_file = name.endswith((".json", RUBY))
        files = [name] if is_file else list(self._locks_of(name, group))
        for file in files:
            path = self.root / file
            if self._is_inside(path):
                policy = self._policy_in(path, name, ())
                if name in (file, policy.name):
                    return policy
        found = [path for path, shown in self._policy_files() if not is_file and declared_name(path, shown) == name]
        places = {str(path).removesuffix(".lock.json").removesuffix(RUBY): path for path in found}
        if len(places) > 1:
            names = " and ".join(map(self.shown, places.values()))
            hint = f"name the file: --policy-name {self.shown(found[0])}"
            raise DocumentError(f"policy {name} is described twice, by {names}", file=self.shown(found[0]), hint=hint)
        if found:  # a lock goes before its Policyfile
            return self._policy_in(min(found, key=lambda path: path.suffix == RUBY), name, ())
        hint = f"it is looked for in {', '.join(files[-4:])}; or name the file"
        raise PolicyNotFound(f"there is no policy {name}", hint=hint)

    def _policy_in(self, path: pathlib.Path, name: str, including: tuple[pathlib.Path, ...]) -> Policy:
        """The policy of a lock file, or of a Policyfile without one. including: the Policyfiles that lead to it"""
        if path.suffix != RUBY:
            return self._from(pathlib.Path(os.path.realpath(path)), "policy", name, partial(read_policy, name))
        file = self.shown(path)
        lock = path.with_name(f"{path.stem}.lock.json")
        if self._is_inside(lock):
            return self._policy_in(lock, name, including)
        try:
            document = ruby_document(path, file, "policy")
            if self.runs_ruby and unread_of(document):
                document = self._run_ruby(path, file, "policy")
            for unread in unread_of(document):
                unread.hint = "--ruby runs it; or write the value out"
        except MissingExtra as error:
            self.warnings.append(not_run(file, error.hint))
            return unread_policy(name, NOT_RUN, Origin("policy", name, file))
        include = partial(self._included_policy, (*including, path))
        what = f"policy {name}"
        policy = self._understood(
            document,
            document.locator("policy", name),
            what,
            lambda fields: read_policyfile(name, document, fields, include),
        )
        message, hint = "has no lock: cookbooks are those that lie here", "chef install makes its lock"
        self.warnings.append(DocumentError(message, file=file, hint=hint, kind=POLICY_WITHOUT_LOCK))
        return policy

    def _included_policy(self, including: tuple[pathlib.Path, ...], name: str, path: str, by: Origin) -> Policy:
        """A policy that a Policyfile includes by its path; an unread one for another source."""
        place = including[-1].parent / path
        files = [place, place / f"{name}.lock.json", place / f"{name}{RUBY}"] if path else []
        found = next((one for one in files if self._is_inside(one)), None)
        if found is None:
            return unread_policy(name, f"the included policy {name} is not there", by)
        real = os.path.realpath(found)
        if real in map(os.path.realpath, including) or len(including) > _MOST_INCLUDING:
            return unread_policy(name, f"the included policy {name} includes itself, or is included too deeply", by)
        if ("included", name, real) not in self._read:
            self._read["included", name, real] = self._policy_in(found, name, including)
        policy: Policy = self._read["included", name, real]
        return policy

    def _locks_of(self, name: str, group: str) -> Iterator[str]:
        """Yield the files that may have the lock of a policy, relative to the root: of `chef export`, then others."""
        checked_name(name, "policy")
        if group:
            path = self._file("policy_groups", checked_name(group, "policy group"), (".json",), f"group {group}")
            tree = documents.read(path, self.shown(path)).tree if path is not None else None
            revision = dig(tree, ("policies", name, "revision_id"))
            if isinstance(revision, str):
                yield f"policies/{checked_name(f'{name}-{revision}', 'policy')}.json"
        yield from (f"policies/{name}.lock.json", f"policyfiles/{name}.lock.json", f"{name}.lock.json")
        yield "Policyfile.lock.json"

    @_kept_result
    def document(self, path: pathlib.Path) -> documents.Document:
        """A data file below the root, parsed once. path: absolute, with links followed. raises: DocumentError"""
        return documents.read(path, os.path.relpath(path, os.path.realpath(self.root)).replace(os.sep, "/"))

    def cookbook(self, name: str, lock: Lock | None = None) -> Cookbook:
        """The cookbook *name*, for questions about the repository. Without metadata: version 0.0.0, no dependencies.

        If the settings (`missing_cookbooks`) or `--roles-only` allow it, a missing cookbook gives a warning and a
        stand-in (`Cookbook.is_missing`).
        lock:   accept only a cookbook that fits this lock; None: any
        raises: BadName, DocumentError, CookbookNotFound
        """
        refuses = self._chef.missing_cookbooks not in ("warn", "own")
        return self._cookbook_or_stand_in(name, lock, (), refuses)

    def cookbook_for_run(self, name: str, lock: Lock | None = None, constraints: tuple[str, ...] = ()) -> Cookbook:
        """The cookbook *name*, for a run; a missing one gives a warning and a stand-in, which may set anything.

        lock:        accept only a cookbook that fits this lock; None: any
        constraints: on the version; they choose between several versions that are there
        raises: BadName, DocumentError; CookbookNotFound, if `--strict` or the settings refuse a missing cookbook
        """
        refuses = self.options.strict or self._chef.missing_cookbooks == "error"
        return self._cookbook_or_stand_in(name, lock, constraints, refuses)

    def _cookbook_or_stand_in(
        self, name: str, lock: Lock | None, constraints: tuple[str, ...], refuses: bool
    ) -> Cookbook:
        """The cookbook *name*, or a stand-in. refuses: whether a missing one is an error without --roles-only"""
        found = self._found_cookbook(name, lock, constraints)
        if found is None and refuses and not self.options.roles_only:
            hint = f"{self.cookbook_paths.hint(name)}; --roles-only asks without cookbooks"
            raise CookbookNotFound(f"there is no {_called(name, lock)}", hint=hint)
        return found or self._missing(name, lock)

    @_kept_result
    def _found_cookbook(self, name: str, lock: Lock | None, constraints: tuple[str, ...]) -> Cookbook | None:
        checked_name(name, "cookbook")
        root = None if self.options.roles_only else self.cookbook_paths.find(name, lock, constraints)
        return None if root is None else self._cookbook(name, root)

    @cached_property
    def cookbook_paths(self) -> CookbookPaths:
        """Finds cookbooks in the folders of the settings, else in the usual ones, then in those of --cookbook-path."""
        return CookbookPaths(self.root, self._chef.cookbook_paths, self.options.cookbook_path)

    @cached_property
    def _chef(self) -> ChefConfig:
        with contextlib.suppress(DocumentError):  # reading the settings reports it
            return self.config.chef
        return ChefConfig()

    def cookbooks(self) -> list[str]:
        """The names of all cookbooks, sorted; [] for none."""
        return self.cookbook_paths.names()

    @_kept_result
    def _missing(self, name: str, lock: Lock | None) -> Cookbook:
        """A stand-in for a missing cookbook; adds a warning the first time."""
        unread = "was not read: --roles-only" if self.options.roles_only else NOT_THERE
        hint = None if self.options.roles_only else self.cookbook_paths.hint(name)
        self.warnings.append(DocumentError(f"{_called(name, lock)} {unread}", hint=hint, kind=MISSING_COOKBOOK))
        is_vouched = self._chef.missing_cookbooks == "own" and not self.options.roles_only
        own = frozenset(((name,), (name.replace("-", "_"),)) if is_vouched else ())
        return Cookbook(name, locator=Origin("cookbook", name), unread=unread, sets_only=own)

    def names_in_python(self, folder: str) -> set[str]:
        """The names of the roles or environments whose files are Python. folder: "roles" or "environments" """
        return set(self._names(folder, (".py",)))

    @_kept_result
    def _described(
        self,
        kind: str,
        name: str,
        missing: type[NotFound],
        read: Callable[[str, Fields], _Thing],
        unread: Callable[..., _Thing],
    ) -> _Thing:
        path = self._file(f"{kind}s", name, _READ_OR_RUN, f"{kind} {name}")
        if path is None and name in (nested := self._nested(f"{kind}s")):
            path = self._counting(nested[name], f"{kind} {name}")
        if path is None:
            raise missing(f"there is no {kind} {name}", hint=known_or_near(name, self._names_there(f"{kind}s")))
        return self._from(path, kind, name, partial(read, name), partial(unread, name))

    def _from(
        self,
        path: pathlib.Path,
        kind: str,
        name: str,
        read: Callable[[Fields], _Thing],
        unread: Callable[..., _Thing] | None = None,
    ) -> _Thing:
        """The role, node, policy, ... that a file describes, as *read* makes it of the file's fields.

        unread: makes a stand-in for a Ruby file that cannot be read: the extra is missing, or the metadata of a
                cookbook has a value that is not a literal. None: the error is raised
        """
        file, what = self.shown(path), f"{kind} {name}"
        if path.suffix == ".py":
            script = Script(path, file, kind, name)
            return self._understood(script, script, what, read)
        if path.suffix != RUBY:
            document = documents.read(path, file)
        else:
            try:
                document = self._ruby(path, file, kind)
            except MissingExtra as error:
                if unread is None:
                    raise
                self.warnings.append(not_run(file, error.hint))
                return unread(locator=Origin(kind, name, file), unread=NOT_RUN)
            except DocumentError as error:
                if unread is None or error.kind != NOT_LITERAL or kind != "cookbook":
                    raise
                self.warnings.append(error)
                return unread(locator=Origin(kind, name, file, error.line), unread=error.message)
        return self._understood(document, document.locator(kind, name), what, read)

    def _ruby(self, path: pathlib.Path, file: str, kind: str) -> documents.Document:
        """The document of a Ruby file, from its literals. With `--ruby` a file with other code is run instead.

        raises: DocumentError, for other code that does not run; RecipeFailed, if running it fails; MissingExtra
        """
        try:
            return ruby_document(path, file, kind)
        except DocumentError as error:
            if error.kind != NOT_LITERAL or kind == "cookbook":
                raise
            if not self.runs_ruby:
                error.hint = "--ruby runs it; or write the value out"
                raise
        return self._run_ruby(path, file, kind)

    def _run_ruby(self, path: pathlib.Path, file: str, kind: str) -> documents.Document:
        from nodeattrs.dialects.chef.ruby.described import described

        return described(self.root, path, file, kind, self._chef.ruby_seconds)

    @property
    def runs_ruby(self) -> bool:
        """Whether --ruby or the settings ask to run Ruby, and code may run. False for settings that cannot be read."""
        return (self.options.ruby or self._chef.ruby) and may_run()

    def _understood(
        self,
        document: documents.Document | Script,
        locator: Locator,
        what: str,
        read: Callable[[Fields], _Thing],
    ) -> _Thing:
        fields = Fields(document.tree, locator, what)
        thing = read(fields)
        self.warnings += [*getattr(document, "warnings", ()), *fields.warnings]
        return thing

    def _cookbook(self, name: str, root: pathlib.Path) -> Cookbook:
        folder = self.shown(root)
        files = files_below(root)
        path = self._file(str(root), "metadata", _READ, f"cookbook {name}")
        if path is None:
            return Cookbook(name, files=files, root=root, folder=folder, locator=Origin("cookbook", name, folder))
        return self._from(
            path,
            "cookbook",
            name,
            lambda fields: read_metadata(name, fields, files, root, folder),
            partial(Cookbook, name, files=files, root=root, folder=folder),
        )

    def _folder(self, folder: str) -> pathlib.Path:
        first, slash, rest = folder.partition("/")
        return self.root / f"{self._moved_folders.get(first, first)}{slash}{rest}"

    def _names(self, folder: str, suffixes: tuple[str, ...]) -> list[str]:
        files = [path for path in paths_in(self._folder(folder)) if path.suffix in suffixes]
        return sorted({path.stem for path in files if not path.name.startswith(".") and path.name not in _GALAXY})

    def _described_names(self, folder: str) -> list[str]:
        """The names of all roles or environments, sorted. folder: "roles" or "environments" """
        nested = self._nested(folder)
        return [one for one in self._names_there(folder) if one in nested or self._is_of_chef(folder, one)]

    def _names_there(self, folder: str) -> list[str]:
        """The names of all files that may be read as a role or environment when a caller names them, sorted."""
        return sorted({*self._names(folder, _READ_OR_RUN), *self._nested(folder)})

    def _is_of_chef(self, folder: str, name: str) -> bool:
        """Whether the repository has signs of Chef, or a file of that name is a program or has a field of Chef."""
        files = self._files(folder, name, _READ_OR_RUN)
        return self._has_signs or any(one.suffix not in _DATA or self._has(_FIELDS, one) for one in files)

    @cached_property
    def _has_signs(self) -> bool:
        """Whether something beside data files in roles/ and environments/ shows that this is a repository of Chef.

        Without such a sign the folders may be of another tool, such as the environments/ of Ansible.
        """
        return any(os.path.lexists(self.root / one) for one in _SIGNS) or self._chef != ChefConfig()

    def _files(self, folder: str, name: str, suffixes: tuple[str, ...]) -> list[pathlib.Path]:
        # Not Path.with_suffix: names may hold dots. One look for each node of a fleet.
        place = os.path.join(self._folder(folder), name)
        return [pathlib.Path(place + suffix) for suffix in suffixes if os.path.lexists(place + suffix)]

    @_kept_result
    def _nested(self, folder: str) -> dict[str, list[pathlib.Path]]:
        """Name -> the files of that name in folders below *folder*, where Chef finds roles too.

        A file counts if its text has a word of roles or environments. Links to folders are not followed.
        """
        found: dict[str, list[pathlib.Path]] = {}
        top = self._folder(folder)
        for here, folders, names in os.walk(top):
            depth = len(pathlib.Path(here).relative_to(top).parts)
            is_end = depth == _DEEPEST
            folders[:] = [] if is_end else sorted(one for one in folders if one not in _OF_OTHERS)
            paths = (pathlib.Path(here, name) for name in sorted(names) if depth)
            for path in (one for one in paths if one.suffix in (".json", RUBY) and self._has(_DESCRIBES, one)):
                found.setdefault(path.stem, []).append(path)
        return found

    def _has(self, words: re.Pattern[str], path: pathlib.Path) -> bool:
        """Whether the text of a file matches; False where it cannot be read."""
        try:
            return words.search(documents.text_of(path, self.shown(path))) is not None
        except DocumentError:
            return False

    def _file(self, folder: str, name: str, suffixes: tuple[str, ...], what: str) -> pathlib.Path | None:
        return self._counting(self._files(folder, name, suffixes), what)

    def _counting(self, found: list[pathlib.Path], what: str) -> pathlib.Path | None:
        """The one of *found* that counts; None for []. raises: DocumentError, for several of equal rank"""
        files = sorted(found, key=lambda path: path.suffix == RUBY)
        if [path.suffix for path in files] == [".json", RUBY]:
            ruby = files.pop()  # as Chef prefers; metadata.json is made of the other one
            if files[0].stem != "metadata":
                message, hint = f"is not read: {self.shown(files[0])} counts, as in Chef", "keep one"
                self.warnings.append(DocumentError(message, file=self.shown(ruby), hint=hint, kind=JSON_COUNTS))
        if len(files) > 1:
            names = " and ".join(self.shown(path) for path in files)
            raise DocumentError(f"{what} is described twice, by {names}", file=self.shown(files[0]), hint="keep one")
        return files[0] if files else None


def readable(names: Iterable[str], read: Callable[[str], _Thing]) -> Iterator[_Thing]:
    """Yield read(name) for each name, in order; names for which it raises a NodeattrsError are passed over."""
    for name in names:
        with contextlib.suppress(NodeattrsError):
            yield read(name)


def attribute_maps(
    repository: Repository, roles: Iterable[str], environments: Iterable[str]
) -> Iterator[tuple[str, str, Mapping[Any, Any], Locator]]:
    """Yield the attributes that documents set, empty maps too, as (folder, level, map, its locator).

    They are the default and override maps of the named roles and environments, and the normal map of all nodes in
    nodes/. Documents that cannot be read are skipped.
    """
    found: list[tuple[str, Iterable[Role | Environment]]] = [
        ("roles", readable(roles, repository.role)),
        ("environments", readable(environments, repository.environment)),
    ]
    for folder, documents_of_folder in found:
        for one in documents_of_folder:
            yield folder, "default", one.default_attributes, one.default_locator
            yield folder, "override", one.override_attributes, one.override_locator
    for node in readable(repository.nodes(), repository.node_document):
        if node is not None:
            yield "nodes", "normal", node.normal, node.locator_of("normal")


def _called(cookbook: str, lock: Lock | None) -> str:
    return f"cookbook {cookbook} {lock.version if lock else ''}".rstrip()


# --- Git ------------------------------------------------------------------------------


def commit_of(root: pathlib.Path) -> str:
    """The checked-out commit of the Git repository that contains a folder; "" if it is not known.

    The repository is the first folder with a `.git`, from *root* upwards. Git is only run if that `.git` is a file.
    No error is raised.
    """
    top = work_tree_of(pathlib.Path(os.path.realpath(root)))
    if top is None:
        return ""
    git = top / ".git"
    try:
        if git.is_file():
            return Git(top).commit("HEAD")
        head = _git_text(git / "HEAD").strip()
        kind, _, name = head.partition("ref: ")
        if kind or not name:
            return _as_commit(head)
        with contextlib.suppress(FileNotFoundError):
            return _as_commit(_git_text(git / name).strip())
        for line in _git_text(git / "packed-refs").splitlines():
            commit, _, its = line.partition(" ")
            if its == name:
                return _as_commit(commit)
    except (OSError, ValueError, NotFound, TooMuch):
        pass
    return ""


def _git_text(file: pathlib.Path) -> str:
    """The text of a regular file; "" for a pipe or device, where reading may block. raises: OSError, ValueError"""
    return file.read_text(encoding="utf-8") if file.is_file() or not file.exists() else ""


def _as_commit(text: str) -> str:
    return text if 40 <= len(text) <= 64 and set(text) <= set("0123456789abcdef") else ""

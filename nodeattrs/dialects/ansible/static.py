"""Findings of `check` in a repository of Ansible: probable mistakes, found without running anything.

Unused:    a variable is set, and no template, condition, task or program has its name.
Undefined: a template needs a variable, and no file, task or program could set it.
Misspelt:  an unused and an undefined variable have similar names.
Shadowed:  an inventory sets a variable, and another layer overrides it on every host.

Names are not judged where the repository composes names, or lacks roles that it uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import is_near
from nodeattrs.dialects.ansible.config import AnsibleConfig, config_of
from nodeattrs.dialects.ansible.faults import (
    DUPLICATE_KEY,
    MISSING,
    MISSPELT_VARIABLE,
    NO_EFFECT,
    NOT_JUDGED,
    PASSED_OVER,
    RESERVED_NAME,
    SHADOWED_VARIABLE,
    UNDEFINED_VARIABLE,
    UNPARSED,
    UNUSED_VARIABLE,
    VARIABLE_NAME,
    AnsibleError,
    new_warning,
)
from nodeattrs.dialects.ansible.files import VariableFiles
from nodeattrs.dialects.ansible.groups import PRIORITY
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import MERGE, RESERVED, title
from nodeattrs.dialects.ansible.references import TEST_FOLDERS, WORDS, VariableDefinition, VariableReferences, is_role
from nodeattrs.dialects.ansible.values import MERGED
from nodeattrs.errors import NodeattrsError

_INVENTORIES = ("hosts", "hosts.ini", "hosts.yml", "inventory", "inventory.ini", "inventory.yml", "inventory.yaml")
_VARIABLES = ("group_vars", "host_vars")
_PLAYED = ("roles/*/tasks/main.y*ml", *(f"inventor*/{way}{name}" for way in ("", "*/") for name in _VARIABLES))
"""Patterns of files that lie beside playbooks."""
_OF_FILES = {title(level) for level in range(3, 11)}
_SHORTEST = 4
_FEW = 20
_NAMED = re.compile(r"(?:^|/)(?:group|host)_vars/[^/]+$")
_PLACEHOLDER = re.compile(r"(?i)^(your|example|change.?me|placeholder)|\bexample\.(com|org|net)$")
"""Placeholders for host names; an inventory with such hosts is not judged."""


def is_repository(root: Path) -> bool:
    """Whether a folder, or its ansible/ or playbooks/, has ansible.cfg, group_vars, host_vars, or tasks of roles,
    or is a role.
    """
    return bool(_folders(root))


def _folders(root: Path) -> list[str]:
    """The folders with playbooks and inventories as prefixes of paths: [""] for the root; [] for none."""
    if _has_playbooks(root):
        return [""]
    return [f"{name}/" for name in ("ansible", "playbooks") if _has_playbooks(root / name)]


def _has_playbooks(folder: Path) -> bool:
    is_one = any((folder / name).exists() for name in ("ansible.cfg", *_VARIABLES))
    return is_one or is_role(folder) or any(one for pattern in _PLAYED for one in folder.glob(pattern))


def names_inventory(root: Path) -> bool:
    """Whether the ansible.cfg of a folder names an inventory. raises: AnsibleError, if the file cannot be read"""
    return config_of(root.resolve(), {}).inventory != AnsibleConfig().inventory


def inventories_in(root: Path) -> dict[str, str]:
    """The inventories at the usual places of a repository; {} for none.

    Each entry is: path of an inventory -> the path that people give to Ansible as its source. The two differ only if
    the inventory is a folder with a single file of a usual name, such as `hosts`. Then the source is that file. Paths
    are relative to *root*.
    """
    found = {name: name for name in _INVENTORIES if (root / name).is_file() or _is_one_inventory(root / name)}
    for folder in ("inventories", "inventory", "environments"):
        for one in sorted((root / folder).iterdir()) if (root / folder).is_dir() else ():
            if one.is_dir() and any((one / name).exists() for name in (*_INVENTORIES, *_VARIABLES)):
                files = [name for name in _INVENTORIES if (one / name).is_file()]
                place = f"{folder}/{one.name}"
                found[place] = f"{place}/{files[0]}" if len(files) == 1 else place
    return found


def _is_one_inventory(folder: Path) -> bool:
    """Whether a folder has no other folders than group_vars and host_vars, so that it is one inventory."""
    inner = [one.name for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else None
    return inner is not None and not set(inner).difference(_VARIABLES)


class RepositoryCheck:
    """A check of one repository. The constructor reads all files; `warnings` judges them and reads the inventories.

    root:   the folder of the repository
    count:  called with the name of each file that is read; its result is ignored
    looked: the number of files in the folders that usually have playbooks or inventories

    `warnings` yields the findings. `faults` lists the errors of files that cannot be parsed. `encrypted` lists the
    encrypted files, which were not read. `not_read` maps each source that was not read to the reason.
    """

    NOTES = frozenset((UNUSED_VARIABLE, NOT_JUDGED))
    """Kinds of warnings that are shown as notes."""

    def __init__(self, root: Path, count: Callable[[str], object] = str) -> None:
        self.root = root
        self._warnings: list[AnsibleError] = []
        self._references = VariableReferences(root, VariableFiles(root, self._warn)).read(count)
        self._folders = tuple(_folders(root))
        self._config_fault: AnsibleError | None = None
        try:
            config_of(root, {})
        except AnsibleError as error:
            self._config_fault = error
        self.looked = sum(path.startswith(self._folders) for its in self._references.paths.values() for path in its)

    def _warn(self, kind: Kind, message: str, file: str | None, line: int | None) -> None:
        if kind == DUPLICATE_KEY and MERGED not in message:  # a key beside a merge is there on purpose
            self._warnings.append(new_warning(kind, message, file, line))

    @property
    def encrypted(self) -> list[str]:
        """The encrypted files, which were not read."""
        return self._references.encrypted

    @property
    def faults(self) -> list[AnsibleError]:
        """The errors of files that cannot be parsed, and of an ansible.cfg that cannot be read."""
        return [*self._references.faults, *([] if self._config_fault is None else [self._config_fault])]

    def warnings(self) -> Iterator[AnsibleError]:
        """Yield the findings, rule by rule, each with its line.

        Findings of shadowed variables need all inventories; they are left out if one has a part that was not read.

        cost: reads the inventories, and each layer of each host once
        """
        yield from self._warnings
        unused, undefined = list(self._unused()), dict(self._undefined())
        for one in unused:
            meant = next((name for name in undefined if is_near(one.name, name)), None)
            if meant is None:
                yield _warning_at(UNUSED_VARIABLE, f"nothing mentions {one.name}", one.origin)
                continue
            where = undefined.pop(meant).place
            yield _warning_at(MISSPELT_VARIABLE, f"nothing mentions {one.name}; {where} mentions {meant}", one.origin)
        for name, origin in undefined.items():
            yield _warning_at(UNDEFINED_VARIABLE, f"{name} is mentioned here, and nothing sets it", origin)
        yield from self._shadowed()
        yield from self._references.warnings
        yield from self._doubtful_names()
        yield from self._missing_or_hidden_files()
        yield from self._not_judged()

    def _doubtful_names(self) -> Iterator[AnsibleError]:
        """Yield warnings for names that Ansible refuses, reserves or ignores in files of variables."""
        for one in self._references.definitions:
            if not (one.name.isidentifier() and one.name.isascii()):
                yield _warning_at(VARIABLE_NAME, f"{one.name!r} cannot be a variable's name", one.origin)
            elif one.name in RESERVED:
                yield _warning_at(RESERVED_NAME, f"{one.name} is a word of plays and tasks", one.origin)
            elif one.name == PRIORITY:
                yield _warning_at(NO_EFFECT, f"{PRIORITY} counts in an inventory, and not here", one.origin)

    def _missing_or_hidden_files(self) -> Iterator[AnsibleError]:
        """Yield warnings for files that are named and not there, and for `.yaml` files beside a `.yml` that counts
        instead.
        """
        found = self._references
        for (_, name), origin in found.vars_file_places.items():
            is_elsewhere = name.startswith(("/", "~")) or any(
                f"/{one}/" in f"/{name}" for one in found.absent_submodules
            )
            is_known = origin.kind == "vars file" and "{{" not in name
            if is_known and not is_elsewhere and not found.is_file_there(name):
                yield _warning_at(MISSING, f"{name}: named here, and not there", origin)
        for paths in found.paths.values():
            for path in (one for one in paths if one.endswith(".yaml") and _NAMED.search(one)):
                twin = f"{path[:-5]}.yml"
                if twin in found.paths.get(Path(twin).name, ()):
                    yield new_warning(PASSED_OVER, f"{twin} is read instead", path, None)

    def _not_judged(self) -> Iterator[AnsibleError]:
        """Yield a note for each place that keeps rules from judging names, with some of the names."""
        found = self._references
        not_judged: dict[str, list[str]] = {}
        places: dict[str, Origin] = {}
        for one in () if found.encrypted else self._unmentioned():
            why, origin = self._possible_use(one)
            if origin is not None:
                not_judged.setdefault(why, []).append(one.name)
                places.setdefault(why, origin)
        for why, every in not_judged.items():
            names = list(dict.fromkeys(every))
            few = ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
            yield _warning_at(NOT_JUDGED, f"{why}, so it is not known whether these are used: {few}", places[why])
        gone = sorted(one for role, one in found.vars_files if not (role or found.is_file_there(one)))
        if gone and not found.encrypted:
            origin = found.vars_file_places.get(("", gone[0]), Origin("file", ""))
            yield _warning_at(
                NOT_JUDGED, f"{gone[0]} is not there, and may set any name, so no name is reported as undefined", origin
            )

    def _unused(self) -> Iterator[VariableDefinition]:
        for one in () if self._references.encrypted else self._unmentioned():
            if self._possible_use(one)[1] is None:
                yield one

    def _unmentioned(self) -> Iterator[VariableDefinition]:
        """Yield the variables whose names stand only where they are set; words of plays and tasks are left out."""
        for one in self._references.definitions:
            is_word = one.name in WORDS | RESERVED or one.name.startswith("ansible_")
            if one.name not in self._references.words and not is_word:
                yield one

    def _possible_use(self, one: VariableDefinition) -> tuple[str, Origin | None]:
        """(Why a variable may be used without its name, the place). ("", None) if there is no reason."""
        found = self._references
        if found.missing_roles and (not one.role or self._is_of_missing(one.name)):
            role, origin = next(iter(found.missing_roles.items()))
            return f"the role {role} is not in the repository", origin
        if found.part_in(one.name):
            return "names are put together from parts, first here", found.name_parts[found.part_in(one.name)]
        if found.computed:
            return "a name is put together here", found.computed[0]
        return "", None

    def _undefined(self) -> Iterator[tuple[str, Origin]]:
        found = self._references
        if found.encrypted or "" in found.roles_with_absent_files:  # anything may be set there
            return
        asked = {"", *(one.rpartition("/")[2] for one in found.used_roles)} - found.roles_with_absent_files
        for name, origin in found.mentions.items():
            is_fact = name.startswith("getent_")  # the module getent sets these facts
            if is_fact or name in found.settable or name in found.guarded or len(name) < _SHORTEST or not origin.file:
                continue
            if not origin.file.startswith(self._folders):  # in other folders, templates may be of other programs
                continue
            if TEST_FOLDERS & set(Path(origin.file).parts):  # tests get variables from the command that runs them
                continue
            role = found.role_of(Path(origin.file))
            is_put_together = found.part_in(name) or found.is_made(name)
            if role in asked and not self._is_of_missing(name) and not is_put_together:
                yield name, origin

    def _is_of_missing(self, name: str) -> bool:
        """Whether a name begins like the variables of a role that is not in the repository."""
        roles = (one.rpartition("/")[2].rpartition(".")[2] for one in self._references.missing_roles)
        return any(name.startswith(one.replace("-", "_").removeprefix("ansible_role_")) for one in roles)

    def _shadowed(self) -> Iterator[AnsibleError]:
        winning: set[tuple[Origin, str]] = set()
        seen: dict[tuple[Origin, str], Origin] = {}
        for inventory in self._complete_inventories():
            for host in () if any(map(_PLACEHOLDER.search, inventory.hosts)) else inventory.hosts:
                _note_definitions(inventory, host, winning, seen)
        for (origin, name), by in seen.items():
            if (origin, name) not in winning and origin.file is not None:
                yield _warning_at(
                    SHADOWED_VARIABLE, f"{name} counts on no host: {by.place or by.who} overrides it", origin
                )

    @cached_property
    def _inventories(self) -> list[Inventory]:
        """The inventories of ansible.cfg, else those at usual places. raises: NodeattrsError"""
        if self._config_fault is not None:  # no inventory can be read without it
            return []
        sources = [()] if names_inventory(self.root) else [(one,) for one in inventories_in(self.root).values()]
        return [Inventory(*some, folder=self.root, lenient=True) for some in sources]

    def _complete_inventories(self) -> list[Inventory]:
        """The inventories with hosts; [] if one of them has an unread source, or cannot be read."""
        try:
            found = [one for one in self._inventories if one.hosts]
        except NodeattrsError:
            return []
        unread = [one for one in found if one.not_run or any(warning.kind == UNPARSED for warning in one.warnings)]
        return [] if unread else found

    @property
    def not_read(self) -> dict[str, str]:
        """The sources and plugins of inventories that were not read: place -> the reason. {} for none.

        It reads the inventories. An inventory that cannot be read at all ends the search without an error.
        """
        found: dict[str, str] = {}
        with suppress(NodeattrsError):
            for inventory in self._inventories:
                for layer in inventory.unread([*inventory.hosts][:1]):  # plugins are the same for all hosts
                    at = layer.origin.at(())
                    found[at.file or at.who] = layer.value.reason
        return found


def _note_definitions(
    inventory: Inventory, host: str, winning: set[tuple[Origin, str]], seen: dict[tuple[Origin, str], Origin]
) -> None:
    """Add the definitions that count for a host to *winning*, and the overridden ones to *seen*, with the line above.

    An overridden definition with the same value as the next one counts, too. A definition is (line, variable).
    """
    last: dict[str, tuple[tuple[Origin, str], Any]] = {}
    for layer in inventory.host(host).layers():
        if layer.title not in _OF_FILES or not isinstance(layer.value, dict):
            continue
        for name, value in layer.value.items():
            here = layer.origin.at((name,)), str(name)
            if inventory.policy is MERGE and isinstance(value, dict):
                winning.add(here)
            if str(name) in last:
                below, its = last[str(name)]
                seen[below] = here[0]
                winning.update([below] if its == value else [])
            last[str(name)] = here, value
    winning.update(here for here, _ in last.values())


def _warning_at(kind: Kind, message: str, origin: Origin) -> AnsibleError:
    return new_warning(kind, message, origin.file, origin.line)

"""The inventories of a repository at one version of its files, for the verbs. Templates are not evaluated."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from nodeattrs.contract.answers import Answered, Unread, part_of
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.looks import Look
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible.arguments import answer_of, inventory_of
from nodeattrs.dialects.ansible.faults import UNPARSED
from nodeattrs.dialects.ansible.in_plays import PlaySettings, places_in_plays
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import MAGIC
from nodeattrs.dialects.ansible.references import TEST_FOLDERS
from nodeattrs.dialects.ansible.reports import layers_of, unread
from nodeattrs.dialects.ansible.static import inventories_in, is_repository, names_inventory
from nodeattrs.dialects.ansible.values import as_attribute
from nodeattrs.dialects.common import InRepository
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.formats.documents import parse_all, text_of

_OF_PLAYS = (".yml", ".yaml")
"""Endings of playbooks, and of the files of roles and variables."""

_OF_ROLES = frozenset(("defaults", "handlers", "meta", "playbooks", "roles", "tasks", "vars"))
"""Folders whose files plays and roles may read."""

_NAME = re.compile(r"[\w.-]+")

_GROUPS: Look = ("groups",)
"""The look at the groups of a host, which decide its variables if it has none of its own."""


def _overlap(one: str, other: str) -> bool:
    """Whether two paths are equal, or one is a folder above the other."""
    return os.path.commonpath((one, other)) in (one, other)


class AnsibleHosts(InRepository):
    """The hosts of a repository's inventories as subjects, each with its variables, for one version of the files.

    The inventories are those that a command, an option or nodeattrs.toml names. If none is named, the inventory of
    ansible.cfg counts. Without ansible.cfg, inventories at usual places count. They are read at the first question and
    kept. `is_there` says whether there is one. With several inventories a subject is called `inventory:host`.

    `subjects` lists the hosts and `answer` gives the variables of one. `subjects` and `answer` also set `unread`, to
    the layers that could not be read. `lines_of` lists the lines of roles and plays that set a path, and `unread_lines`
    the places there that were not read. `leaves_out` says whether a file may change variables though answers do not
    read it. `place` is the inventory that is named, or None. `notes_looks` and `values_of` say which hosts share an
    answer; `warnings` has the warnings of all inventories.
    """

    @cached_property
    def places(self) -> Sequence[str | Path]:
        """The sources that options name: paths on the side, and lists of hosts such as "web1,web2"; [] for none."""
        return [one if "," in one else self.request.place(self.side, one) for one in self.request.given("ansible")]

    @cached_property
    def _command_arguments(self) -> Mapping[str, Any] | None:
        """The arguments of a command of this dialect; None for a question to all dialects."""
        return self.request.options.get("ansible")

    @property
    def is_there(self) -> bool:
        """Whether there is an inventory. One that the caller names must exist, or be a list of hosts.

        If the caller names none: an inventory in the settings, an ansible.cfg, or an inventory at a usual place.
        """
        if self._command_arguments is not None:
            return bool(self.inventories)
        if self.places:
            return all(isinstance(one, str) or one.exists() for one in self.places)
        named = self.repository.config.inventories
        return (self.side.root / "ansible.cfg").is_file() or bool(named) or bool(self._usual)

    @cached_property
    def _is_configured(self) -> bool:
        """Whether ansible.cfg names an inventory. raises: AnsibleError, if the file cannot be read"""
        return names_inventory(self.side.root)

    @cached_property
    def _usual(self) -> Mapping[str, Sequence[str]]:
        """The inventories at the usual places, by their path; {} if ansible.cfg names one, or no play or role is there.

        raises: AnsibleError, if ansible.cfg cannot be read
        """
        root = self.side.root
        if self.repository.config.inventories or self._is_configured or not is_repository(root):
            return {}
        return {name: (place,) for name, place in inventories_in(root).items()}

    @cached_property
    def _passed_over(self) -> Sequence[str]:
        """The inventories at usual places that the settings do not name; () where the caller names one."""
        root = self.side.root
        if self.places or self._command_arguments is not None or self._usual or not is_repository(root):
            return ()
        of_settings = [one for sources in self.repository.config.inventories.values() for one in sources]
        of_config = [one for inventory in self.inventories.values() for one in inventory.config.inventory]
        named = [os.path.realpath(root / one) for one in (*of_settings, *of_config)]
        places = {one: os.path.realpath(root / one) for one in inventories_in(root)}
        return [one for one, place in places.items() if not any(_overlap(place, other) for other in named)]

    @cached_property
    def inventories(self) -> Mapping[str, Inventory]:
        """The inventories, by the prefix of their subjects, such as "prod:". A single one has the prefix "".

        They are read at the first use. Inventories at usual places are read leniently: a broken file is a warning.
        raises: NodeattrsError
        """
        if self._command_arguments is not None:
            return {"": inventory_of(self._command_arguments)}
        how: dict[str, Any] = {"folder": self.side.root, "sensitive_paths": self.repository.config.sensitive}
        named = (self.repository.config.inventories or self._usual).items()
        if self.places or self._is_configured or not named:
            return {"": Inventory(*self.places, **how)}
        return {f"{name}:" if len(named) > 1 else "": Inventory(*some, lenient=True, **how) for name, some in named}

    def _found(self, subject: str) -> tuple[Inventory, str]:
        """The inventory of a subject, and the name of its host there. raises: NotFound"""
        for prefix, inventory in self.inventories.items():
            if subject.startswith(prefix):
                return inventory, subject.removeprefix(prefix)
        raise NotFound(f"there is no inventory of {subject}", hint=f"they are {', '.join(self.inventories)}")

    def subjects(self) -> Iterable[str]:
        """The hosts of all inventories; with --limit only those that its pattern selects.

        Sets `unread` to unread sources. Without any host, a source that is no inventory is one of them.
        """
        inventories = self.inventories.values()
        self.unread = [one for inventory in inventories for one in unread(inventory.unread(()))]
        if not any(inventory.hosts for inventory in inventories):
            self.unread += [one for inventory in inventories for one in self._broken_sources(inventory)]
        limit = None if self._command_arguments is None else self._command_arguments.get("hosts")
        return [
            f"{prefix}{host}"
            for prefix, inventory in self.inventories.items()
            for host in inventory.matching(limit or "all")
        ]

    def _broken_sources(self, inventory: Inventory) -> Iterator[Unread]:
        """Yield the sources of an inventory that exist, and that Ansible passes over with a warning."""
        not_run = {one.file for one in self.unread}
        for warning in inventory.warnings:
            file = warning.file if warning.kind == UNPARSED else None
            if file is not None and file not in not_run and (self.side.root / file).exists():
                place = file if warning.line is None else f"{file}:{warning.line}"
                yield Unread(place, f"is {warning.reason}", (), "inventory")

    @property
    def warnings(self) -> Sequence[object]:
        """The warnings of all inventories so far; () where there is no inventory."""
        return [one for inventory in self.inventories.values() for one in inventory.warnings] if self.is_there else ()

    def leaves_out(self, file: str) -> bool:
        """Whether a file may change variables although answers do not read it, such as a file of plays, tasks or roles.

        A file below group_vars or host_vars counts if the inventory has its group or host. Whether a play reaches the
        file is not looked at. If the caller names no inventory, files of inventories that the settings pass over count.
        """
        path = PurePosixPath(self.side.named(file))
        if path.suffix in ("", ".ini", *_OF_PLAYS) and any(path.is_relative_to(one) for one in self._passed_over):
            return True
        if (
            path.suffix not in _OF_PLAYS
            or any(step.startswith(".") for step in path.parts)
            or TEST_FOLDERS & set(path.parts)
        ):
            return False
        groups = {name for one in self.inventories.values() for name in one.groups}
        hosts = {name for one in self.inventories.values() for name in one.hosts}
        for words, names in (("group_vars", groups), ("host_vars", hosts)):
            if words in path.parts[:-1]:
                named = path.parts[path.parts.index(words) + 1]
                return named in names or named.partition(".")[0] in names
        is_of_roles = path.name == "requirements.yml" or bool(_OF_ROLES.intersection(path.parts[:-1]))
        return file in self.side.files and (is_of_roles or self._may_be_read(file))

    def _may_be_read(self, file: str) -> bool:
        """Whether a file has plays or tasks, or is a map whose name stands in another file. True for a broken file."""
        try:
            text = text_of(self.side.top / file, file)
            trees = [one.tree for one in parse_all(text, file, "yaml", Budget(file), {})]
        except NodeattrsError:
            return True
        return not all(isinstance(tree, dict) for tree in trees) or PurePosixPath(file).name in self._names

    @cached_property
    def _names(self) -> set[str]:
        """Names of YAML files that stand in the text of any file that Ansible may read."""
        found: set[str] = set()
        for file in self.side.files:
            if file.endswith((*_OF_PLAYS, ".cfg")):
                with suppress(NodeattrsError):
                    found.update(map(_to_ending, _NAME.findall(text_of(self.side.top / file, file))))
        return found - {""}

    def lines_of(self, path: TreePath) -> Iterable[tuple[Origin, str]]:
        """The lines of roles and plays that set a path, each with its plays in words; [] for none."""
        return [(one.origin, f"in {one.where}") for all_of in self._in_plays(path) for one in all_of.found]

    def unread_lines(self, path: TreePath) -> Iterable[Unread]:
        """The places in roles and plays that were not read and may set the path."""
        return [one for all_of in self._in_plays(path) for one in all_of.unread]

    @cached_property
    def _in_plays(self) -> Callable[[TreePath], list[PlaySettings]]:
        """Gives the settings of a path in plays, one for each inventory; kept for each path."""
        return cache(lambda path: [places_in_plays(inventory, path) for inventory in self.inventories.values()])

    def answer(self, name: str) -> Answered:
        """The variables of a host: {"variable": the tree with its traces}. If the command names a task, they are those
        in the task.

        It also sets `unread`. In its traces encrypted values are withheld.

        raises: NotFound or AnsibleError, for an unknown host
        """
        inventory, host = self._found(name)
        looks = self.looks
        if looks is not None:
            looks.note(*_GROUPS)
        found = (
            inventory.host(host)
            if self._command_arguments is None
            else answer_of(self._command_arguments, inventory, host)
        )
        self.unread = unread(inventory.unread(()))
        answer = self.with_set(found)
        part = part_of(answer)

        def noted(path: TreePath) -> TreePath:
            if looks is not None and path and path[0] in MAGIC:
                looks.refuse("Ansible sets it for each host")
            return path

        def doubts(path: TreePath) -> list[Unread]:
            return unread(layers_of(found.trace(noted(path))) if path else found.unread())

        def trace(path: TreePath) -> Trace:
            return _shown(answer.trace(noted(path)))

        def places(path: TreePath) -> Iterable[Origin]:
            return part.places(noted(path))

        return {"variable": part._replace(tree=as_attribute(part.tree), places=places, trace=trace, unread=doubts)}

    # --- what answers look at

    @property
    def notes_looks(self) -> bool:
        """Whether the answers are those outside of plays."""
        return self._command_arguments is None

    def values_of(self, name: str) -> Callable[[Look], Any]:
        """A function that returns (id of the inventory, name of a group, name of a group ...) of a host for any look.

        The weakest group is first. Hosts with equal tuples have equal variables, except for those that Ansible sets
        itself.
        raises: NotFound, for a host with variables of its own; AnsibleError
        """
        inventory, host = self._found(name)
        found = inventory.require_host(host)
        if inventory.has_own(found):
            raise NotFound(f"{host} has variables of its own")
        groups = id(inventory), *(group.name for group in inventory.tree.groups_of(found))
        return lambda look: groups


def _to_ending(word: str) -> str:
    """The part of a word that ends with ".yml" or ".yaml"; "" where it has no such ending in it."""
    at = max(word.rfind(one) + len(one) if one in word else 0 for one in _OF_PLAYS)
    return word[:at]


def _shown(trace: Trace) -> Trace:
    """A copy of a trace in which encrypted values are secrets."""

    def made(value: Any) -> Any:
        return value if value is ABSENT or isinstance(value, Unknown) else as_attribute(value)

    claims = tuple(one._replace(claim=replace(one.claim, value=made(one.value))) for one in trace.claims)
    elements = tuple(one._replace(value=made(one.value)) for one in trace.elements)
    return trace._replace(value=made(trace.value), claims=claims, elements=elements)

"""Find the places in roles and plays of a repository that set a variable, for questions that name no task.

A play reaches the roles that its `roles`, tasks and dependencies name. It also reaches the roles that these roles name.
Conditions are not evaluated, so a place counts though its task may be skipped. Hosts are compared only with the pattern
of each play.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.sensitive import withheld
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.ansible import plays
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.keywords import arguments_of, module_of, plain_name
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.reached import ReachSearch
from nodeattrs.dialects.ansible.roles import RoleReader
from nodeattrs.dialects.ansible.values import VAULT_HEADER
from nodeattrs.formats.documents import Document

_FOLDERS = ("playbooks", "plays")
"""Usual folders of playbooks that do not lie at the top."""
_PLAY = re.compile(r"\b(?:hosts|import_playbook)[\"']?[ \t]*:")
_MARKS = ("hosts", "import_playbook", "ansible.builtin.import_playbook")
"""Keys of a play, or of an import of plays."""
_OF_VARIABLES = ("", ".yml", ".yaml", ".json")
_OF_TASKS = ("pre_tasks", "tasks", "post_tasks", "handlers")
_KINDS = (("defaults", 2), ("vars", 15))


@dataclass(frozen=True, slots=True)
class PlaceInPlays:
    """A line of a role or a play that sets a variable.

    origin:            the line
    value:             the value that the line sets; None if the variable gets the result of a task
    level:             the number of the precedence level
    plays:             name of a playbook -> the numbers of its plays that reach the line
    has_unknown_hosts: whether the hosts of one of these plays are not known

    `where` names the plays in words.
    """

    origin: Origin
    value: Any
    level: int
    plays: Mapping[str, tuple[int, ...]]
    has_unknown_hosts: bool = False

    @property
    def where(self) -> str:
        """The plays in words: "site.yml plays 2 to 4 and upgrade.yml play 1"; says so where hosts are not known."""
        found = [f"{name} play{'s' * (len(its) > 1)} {', '.join(_ranges(its))}" for name, its in self.plays.items()]
        return " and ".join(found) + (" (for which hosts is not known)" if self.has_unknown_hosts else "")


@dataclass(frozen=True, slots=True)
class SettingsInPlays:
    """What the plays of a repository say of one path of a variable.

    found:  the places that set it, the highest level first
    unread: the places that were not read and may set it
    """

    found: Sequence[PlaceInPlays] = ()
    unread: Sequence[Unread] = ()


NO_PLAYS = SettingsInPlays()

_LayerAtLevel = tuple[Layer, int]
"""A layer with the number of its level; for what was not read, an unknown layer."""


def places_in_plays(inventory: Inventory, path: Steps, hosts: Iterable[str] | None = None) -> SettingsInPlays:
    """The places in plays and roles that set a path, and what was not read.

    hosts: only plays for one of these hosts, and plays whose hosts are not known; None for all plays
    cost:  looks at each playbook below the inventory's folder, and at the files of the roles that its plays reach.
           Warnings of the inventory stay as they were.
    """
    with inventory.without_new_warnings():
        return _Plays(inventory, path).found(None if hosts is None else frozenset(hosts))


class _Plays:
    """One search for a path in the plays of an inventory's folder; keeps the layers of each file that it has read."""

    def __init__(self, inventory: Inventory, path: Steps) -> None:
        self.inventory, self.files, self.path = inventory, inventory.files, path
        self._word = re.compile(rf"\b{re.escape(str(path[0]))}\b")
        self._reach = ReachSearch(inventory)
        self._layers_by_file: dict[Path, list[_LayerAtLevel]] = {}
        self._unread_layers: list[Layer] = []

    def found(self, hosts: frozenset[str] | None) -> SettingsInPlays:
        places: dict[tuple[Origin, int], tuple[Any, list[tuple[str, Play]]]] = {}
        unread: dict[Unread, None] = {}
        for name, play in self._plays:
            patterns = play.patterns
            if patterns is not None and hosts is not None and hosts.isdisjoint(self.inventory.matching(*patterns)):
                continue
            for layer, level in self._layers_of(play):
                if type(layer.value) is Unknown:
                    unread[self._unread(layer)] = None
                elif (value := dig(withheld(layer.value, self.inventory.sensitive_paths), self.path)) is not ABSENT:
                    key = layer.origin.at(self.path), level
                    places.setdefault(key, (value, []))[1].append((name, play))
        rows = [_place_in_plays(origin, value, level, its) for (origin, level), (value, its) in places.items()]
        unread |= dict.fromkeys(map(self._unread, self._unread_layers))
        return SettingsInPlays(sorted(rows, key=lambda one: -one.level), [*unread])

    def _unread(self, layer: Layer) -> Unread:
        origin = layer.origin.at(())
        reason = layer.value.reason.removeprefix("it ")
        return Unread(origin.place or origin.who, reason, (self.path[:1],), origin.kind, origin.name)

    # --- playbooks

    @cached_property
    def _plays(self) -> list[tuple[str, Play]]:
        """The plays of the playbooks that no other playbook imports, each with the name of its playbook."""
        read: dict[str, list[Play]] = {}
        for path in self._playbooks():
            name = self.files.shown(path)
            try:
                if self._has_plays(path):
                    read[name] = plays.read(self.inventory, (name,))
            except AnsibleError as error:
                self._unread_layers.append(_broken_file("playbook", error, name, 12))
        imported = {play.document.file for name, its in read.items() for play in its if play.document.file != name}
        return [(name, play) for name, its in read.items() if name not in imported for play in its]

    def _playbooks(self) -> Iterator[Path]:
        """The files that may be playbooks, by their name and folder."""
        root, around = self.files.folder, border.in_force()
        if around is not None and not around.has(root):  # no repository
            return
        top = [root / name for name in self.files.names_in(root)]
        folders = (root / one for one in _FOLDERS if around is None or around.has(root / one))
        for path in (*top, *(path for folder in folders for path in self.files.all_files_below(folder))):
            if path.suffix in (".yml", ".yaml") and path.is_file():
                yield path

    def _has_plays(self, path: Path) -> bool:
        """Whether a file has a play; an encrypted one is noted as unread. raises: AnsibleError"""
        text = self.files.text(path).text
        if not (text.startswith(VAULT_HEADER) or _PLAY.search(text)):
            return False
        document = self.files.document(path)
        if document is None:
            self._unread_layers.append(
                Layer.unknown(title(12), Origin("file", "", self.files.shown(path)), "is encrypted")
            )
            return False
        entries = document.tree if isinstance(document.tree, list) else []
        return any(word in one for one in entries if isinstance(one, dict) for word in _MARKS)

    # --- layers

    def _layers_of(self, play: Play) -> Iterator[_LayerAtLevel]:
        reached = self._reach.reachable_from(play)
        yield from self._variables_of_play(play)
        for key in _OF_TASKS:
            yield from self._set_by_tasks(play.document, play.body.get(key), (*play.at, key))
        for role in reached.roles:
            yield from self._layers_of_role(role)
        for path in reached.tasks:
            yield from self._layers_of_tasks(path)
        yield from ((layer, 19) for layer in reached.unread)

    def _variables_of_play(self, play: Play) -> Iterator[_LayerAtLevel]:
        for plan in play.vars():
            yield from ((layer, 12) for layer in ([plan] if isinstance(plan, Layer) else plan.layers()))
        given = play.body.get("vars_files") or []
        for entry in [given] if isinstance(given, str) else given:
            for name in entry if isinstance(entry, list) else [entry]:
                for folder in (play.folder / "vars", play.folder):
                    yield from self._vars_file(folder, str(name), play)

    def _vars_file(self, folder: Path, name: str, play: Play) -> Iterator[_LayerAtLevel]:
        """The files that a name in `vars_files` may stand for."""
        try:
            yield from self._layers_of_files(self.files.paths_matching(folder, name), "vars_files", name, 14)
        except AnsibleError as error:
            origin = play.document.locator("play", play.name, (*play.at, "vars_files")).at(())
            yield Layer.unknown(title(14), origin, f"cannot be followed: {error.reason}"), 14

    def _layers_of_role(self, role: Path) -> list[_LayerAtLevel]:
        if role not in self._layers_by_file:
            self._layers_by_file[role] = []
            for kind, level in _KINDS:
                main = RoleReader.find_file(role / kind, "main")
                paths = [*self.files.all_files_below(role / kind / "main")]
                if main is not None and main.is_file():
                    paths = [main]
                paths = [path for path in paths if path.suffix in _OF_VARIABLES]
                self._layers_by_file[role] += self._layers_of_files(paths, f"role {kind}", role.name, level)
            others = (path for path in self.files.all_files_below(role / "vars") if path.suffix in _OF_VARIABLES)
            known = {layer.origin.at(()).file for layer, _ in self._layers_by_file[role]}
            rest = [path for path in others if self.files.shown(path) not in known]
            self._layers_by_file[role] += self._layers_of_files(rest, "include_vars", role.name, 18)
        return self._layers_by_file[role]

    def _layers_of_tasks(self, path: Path) -> list[_LayerAtLevel]:
        """The layers that the tasks of a file set; [] for an encrypted file, which `Reachable.unread` names."""
        if path not in self._layers_by_file:
            self._layers_by_file[path] = []
            try:
                document = self.files.document(path) if self._may_set(path) else None
            except AnsibleError as error:
                self._layers_by_file[path] = [(_broken_file("tasks", error, self.files.shown(path), 19), 19)]
            else:
                self._layers_by_file[path] += (
                    self._set_by_tasks(document, document.tree, ()) if document is not None else ()
                )
        return self._layers_by_file[path]

    @staticmethod
    def _set_by_tasks(document: Document, tasks: Any, at: Steps) -> Iterator[_LayerAtLevel]:
        """Yield the layers that tasks, and tasks in their blocks, set by `vars`, set_fact and `register`."""
        ahead = [(tasks, at)]
        while ahead:
            some, within = ahead.pop()
            for index, body in enumerate(some if isinstance(some, list) else ()):
                here = (*within, index)
                if not isinstance(body, dict):
                    continue
                ahead += [(body[key], (*here, key)) for key in ("block", "rescue", "always") if key in body]
                if isinstance(body.get("vars"), dict):
                    yield Layer(body["vars"], document.locator("task", "", (*here, "vars")), title(17)), 17
                module, given = module_of(body)
                if module == "set_fact":
                    key = next((one for one in body if plain_name(str(one)) == module), "args")
                    values = arguments_of(body, given)
                    yield Layer(values, document.locator("task", module, (*here, key)), title(19)), 19
                if isinstance(body.get("register"), str):
                    origin = document.locator("task", "register", (*here, "register")).at(())
                    yield Layer({body["register"]: None}, origin, title(19)), 19

    def _layers_of_files(self, paths: Iterable[Path], kind: str, name: str, level: int) -> Iterator[_LayerAtLevel]:
        """Yield the layers of the files that contain the variable's name as a word, or cannot be read."""
        for path in paths:
            try:
                layer = self.files.variables(path, kind, name, title(level)) if self._may_set(path) else None
            except AnsibleError as error:
                layer = _broken_file(kind, error, self.files.shown(path), level)
            if layer is not None:
                yield layer, level

    def _may_set(self, path: Path) -> bool:
        """Whether a file contains the variable's name as a word, is encrypted or lies outside. raises: AnsibleError"""
        if border.is_layer_outside(path):
            return True
        text = self.files.text(path).text if path.is_file() else ""
        return text.startswith(VAULT_HEADER) or self._word.search(text) is not None


def _broken_file(kind: str, error: AnsibleError, name: str, level: int) -> Layer:
    """The unknown layer of a file that cannot be read, with the reason."""
    is_place = error.reason == border.REASON
    reason = error.reason if is_place else f"is broken: {error.reason}"
    return Layer.unknown(title(level), Origin(kind, "", error.file or name, error.line), reason)


def _place_in_plays(origin: Origin, value: Any, level: int, plays: Iterable[tuple[str, Play]]) -> PlaceInPlays:
    found: dict[str, dict[int, None]] = {}
    for name, play in plays:
        found.setdefault(name, {})[play.number] = None
    has_unknown_hosts = any(play.patterns is None for _, play in plays)
    return PlaceInPlays(origin, value, level, {name: (*its,) for name, its in found.items()}, has_unknown_hosts)


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers in their order, those in a row as one.

    >>> list(_ranges([1, 3, 4, 5]))
    ['1', '3 to 5']
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    yield from (str(row[0]) if len(row) == 1 else f"{row[0]} to {row[-1]}" for row in rows)

"""Where the playbooks of a repository set a variable: roles and plays, looked at without following their tasks.

A play reaches the roles that its `roles`, its tasks, dependencies and the tasks of such roles name. Whether a condition
keeps a role from running is not asked. It knows no hosts but those that a play's pattern matches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible import plays
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.files import Files
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.roles import Roles
from nodeattrs.dialects.ansible.tasks import name_of
from nodeattrs.dialects.ansible.templates import is_template
from nodeattrs.dialects.ansible.words import arguments_of, module_of

_FOLDERS = ("", "playbooks", "plays")
"""Where people keep playbooks."""
_PLAY = re.compile(r"^(?:-\s+|\s+)[\"']?(?:hosts|(?:ansible\.builtin\.)?import_playbook)[\"']?\s*:", re.MULTILINE)
_INCLUDED = re.compile(
    r"(?:include|import)_role\s*:(?:[^\n]*?\bname\s*[=:]\s*|\s*\n(?:[^\n]*\n){0,6}?\s+name\s*:\s*)[\"']?([\w./-]+)"
)
"""The name of the role that a task includes or imports."""
_DEPENDS = re.compile(r"^\s*-\s*(?:\{\s*)?(?:role\s*:|name\s*:)?\s*[\"']?([\w./-]+)[\"']?\s*(?:[,}#]|$)", re.MULTILINE)
_KINDS = (("defaults", 2), ("vars", 15))


@dataclass(frozen=True, slots=True)
class PlacedIn:
    """A place in a role or a play that sets a variable.

    value: what it sets; level: the number of its precedence level
    plays: where it counts: playbooks, each with the numbers of its plays
    is_open: whether the hosts of one of them are not known
    """

    origin: Origin
    value: Any
    level: int
    plays: Mapping[str, tuple[int, ...]]
    is_open: bool = False

    @property
    def where(self) -> str:
        """The plays in words: "site.yml plays 2 to 4 and upgrade.yml play 1"."""
        found = [f"{name} play{'s' * (len(its) > 1)} {', '.join(_ranges(its))}" for name, its in self.plays.items()]
        return " and ".join(found) + (" (for which hosts is not known)" if self.is_open else "")


def places_in_plays(inventory: Inventory, path: Steps, hosts: Iterable[str] | None = None) -> list[PlacedIn]:
    """The places that set a path in plays, the strongest level first. hosts: only plays for one of them

    cost: one look at each playbook, and at the files of the roles that they reach
    """
    with inventory.muted():
        return _Plays(inventory, path).found(None if hosts is None else frozenset(hosts))


class _Plays:
    def __init__(self, inventory: Inventory, path: Steps) -> None:
        self.inventory, self.files, self.path = inventory, inventory.files, path
        self._word = re.compile(rf"\b{re.escape(str(path[0]))}\b") if path else re.compile("(?!)")
        self._named: dict[Path, list[str]] = {}
        self._set: dict[Path, list[tuple[Layer, int]]] = {}

    def found(self, hosts: frozenset[str] | None) -> list[PlacedIn]:
        places: dict[tuple[Origin, int], tuple[Any, list[tuple[str, Play]]]] = {}
        for name, play in self._plays:
            is_open = play.patterns is None
            if not is_open and hosts is not None and hosts.isdisjoint(self._hosts(play)):
                continue
            for layer, level in (*self._of_play(play), *self._of_roles(play)):
                value = dig(layer.value, self.path)
                if value is not ABSENT:
                    key = layer.origin.at(self.path), level
                    places.setdefault(key, (value, []))[1].append((name, play))
        rows = [_placed(origin, value, level, its) for (origin, level), (value, its) in places.items()]
        return sorted(rows, key=lambda one: -one.level)

    def _hosts(self, play: Play) -> list[str]:
        return self.inventory.matching(*(play.patterns or ()))

    @cached_property
    def _plays(self) -> list[tuple[str, Play]]:
        """The plays of all playbooks that none of the others imports, each with the playbook's name."""
        read: dict[str, list[Play]] = {}
        for name in _playbooks(self.files):
            try:
                read[name] = plays.read(self.inventory, (name,))
            except AnsibleError:
                continue  # those who run it see why
        imported = {play.document.file for name, its in read.items() for play in its if play.document.file != name}
        return [(name, play) for name, its in read.items() if name not in imported for play in its]

    def _of_play(self, play: Play) -> Iterator[tuple[Layer, int]]:
        for plan in play.vars():
            yield from ((layer, 12) for layer in ([plan] if isinstance(plan, Layer) else plan.layers()))
        given = play.body.get("vars_files") or []
        for entry in [given] if isinstance(given, str) else given:
            for name in entry if isinstance(entry, list) else [entry]:
                for file in (play.folder / "vars" / str(name), play.folder / str(name)):
                    yield from self._layers([file], "vars_files", str(name), 14) if not is_template(name) else ()

    # --- roles

    def _of_roles(self, play: Play) -> Iterator[tuple[Layer, int]]:
        config = self.inventory.config
        paths = config.roles_path, config.collections_path
        how = *paths, config.yaml_valid_extensions, self.inventory.policy, lambda name, own: name
        roles = Roles(self.files, *how, are_private=config.private_role_vars)
        seen: dict[Path, None] = {}
        ahead = [(name, play.folder) for name in _entries(play)]
        while ahead:
            name, folder = ahead.pop()
            path = roles.folder_of(name, play.folder, folder)
            if path is None or path in seen:
                continue
            seen[path] = None
            ahead += [(one, path.parent) for one in self._names(path)]
        for path in seen:
            yield from self._in_role(path, roles)

    def _names(self, role: Path) -> list[str]:
        """The roles that a role's tasks and its `meta` name."""
        if role not in self._named:
            found: dict[str, None] = {}
            for folder in ("tasks", "handlers"):
                for file in self._below(role / folder):
                    found |= dict.fromkeys(_INCLUDED.findall(self._text(file)))
            for file in self._below(role / "meta"):
                _, _, needed = self._text(file).partition("dependencies:")
                found |= dict.fromkeys(_DEPENDS.findall(needed))
            self._named[role] = list(found)
        return self._named[role]

    def _in_role(self, role: Path, roles: Roles) -> list[tuple[Layer, int]]:
        if role not in self._set:
            self._set[role] = []
            for kind, level in _KINDS:
                main = roles.file(role / kind, "main")
                paths = [] if main is None else [*self._below(main)] if main.is_dir() else [main]
                self._set[role] += self._layers(paths, f"role {kind}", role.name, level)
        return self._set[role]

    def _layers(self, paths: Iterable[Path], kind: str, name: str, level: int) -> Iterator[tuple[Layer, int]]:
        for path in paths:
            if not path.is_file() or not self._word.search(self._text(path)):
                continue
            try:
                layer = self.files.variables(path, kind, name, title(level))
            except AnsibleError:
                continue
            if layer is not None and type(layer.value) is not Unknown:
                yield layer, level

    def _below(self, folder: Path) -> Iterator[Path]:
        for name in self.files.listed(folder):
            path = folder / name
            if path.is_dir():
                yield from self._below(path)
            elif path.suffix in ("", ".yml", ".yaml", ".json"):
                yield path

    def _text(self, path: Path) -> str:
        try:
            return self.files.text(path).text
        except AnsibleError:
            return ""


def _placed(origin: Origin, value: Any, level: int, plays: Iterable[tuple[str, Play]]) -> PlacedIn:
    found: dict[str, dict[int, None]] = {}
    for name, play in plays:
        found.setdefault(name, {})[play.number] = None
    is_open = any(play.patterns is None for _, play in plays)
    return PlacedIn(origin, value, level, {name: (*its,) for name, its in found.items()}, is_open)


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


def _playbooks(files: Files) -> Iterator[str]:
    """The names of files that look like playbooks."""
    around = border.in_force()
    for folder in (one for one in _FOLDERS if around is None or around.has(files.folder / one)):
        for name in files.listed(files.folder / folder):
            path = files.folder / folder / name
            if path.suffix in (".yml", ".yaml") and path.is_file() and _looks_so(path):
                yield os.path.join(folder, name)


def _looks_so(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return _PLAY.search(text) is not None


def _entries(play: Play) -> Iterator[str]:
    """The roles that a play names, under `roles` and in its own tasks."""
    for entry in play.body.get("roles") or []:
        name = entry.get("role", entry.get("name")) if isinstance(entry, dict) else entry
        if isinstance(name, str):
            yield name
    ahead: list[Any] = [play.body]
    while ahead:
        one = ahead.pop()
        ahead += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        module, given = module_of(one) if isinstance(one, dict) else ("", None)
        if module in ("include_role", "import_role"):
            yield name_of(arguments_of(one, given))

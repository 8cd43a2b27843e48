"""Find the places in roles and plays of a repository that set a variable, for questions that name no task.

A play reaches the roles that its `roles`, tasks and dependencies name. It also reaches the roles that these roles name.
`_ReachSearch` finds them. It searches tasks as texts, line by line, since to parse all roles would take too long.
Conditions are not evaluated, so a place counts though its task may be skipped. Hosts are compared only with the pattern
of each play.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.sensitive import withheld
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.ansible import plays
from nodeattrs.dialects.ansible.faults import YAML, AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.keywords import arguments_of, conditions, module_of, plain_name
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.roles import RoleReader
from nodeattrs.dialects.ansible.tasks import role_name_of, task_file_of
from nodeattrs.dialects.ansible.templates import filled_in, is_template
from nodeattrs.dialects.ansible.values import VAULT_HEADER
from nodeattrs.errors import TooMuch
from nodeattrs.formats.documents import Document

_YAML = ("", ".yml", ".yaml", ".json")
_TASKS = ("tasks", "handlers")
_KEYWORD = re.compile(r"\b(?:include|import)_(role|tasks)\b(?:[\"']?[ \t]*:|[ \t]+(?=\w+=))(.*)")
"""A task that includes or imports others: as a key, or as words under `action`."""
_NAME = {
    "role": re.compile(r"\b(?:name|role)[\"']?[ \t]*[=:][ \t]*(\S.*)"),
    "tasks": re.compile(r"\bfile[\"']?[ \t]*[=:][ \t]*(\S.*)"),
}
_END = re.compile(r"[,}\s#]")
_NEAR = 8
"""A name is sought in this number of lines behind its keyword."""


class _TaskReference(NamedTuple):
    """A role or a file of tasks that a task names.

    kind: "role" or "tasks"
    name: perhaps with templates; "" where it was not found
    line: the line of the keyword; 0 where only the play is known
    """

    kind: str
    name: str
    line: int = 0


@dataclass
class _Reachable:
    """What a play may reach; `_ReachSearch` fills it.

    roles:  the folders of roles, in the order in which they were found
    tasks:  the files of tasks, likewise
    unread: unknown layers, each for a place that was not read or could not be followed
    """

    roles: dict[Path, None] = field(default_factory=dict)
    tasks: dict[Path, None] = field(default_factory=dict)
    unread: list[Layer] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Step:
    """A name in a file that is still to be followed. folder: the folder of the file; origin: the place of the name"""

    named: _TaskReference
    folder: Path
    origin: Origin


class _ReachSearch:
    """Finds the roles and files of tasks that plays may reach.

    inventory: its files, configuration and folder are used; its hosts are not

    Call `reachable_from(play)` for each play. It returns a `_Reachable`. Nothing is raised for a name that cannot be
    followed. What each role and file names is found once and kept for further plays.
    """

    def __init__(self, inventory: Inventory) -> None:
        self.files = inventory.files
        self.roles = RoleReader(self.files, inventory.config, inventory.policy, lambda name, own: name)
        self._steps: dict[tuple[Path, Path], list[_Step]] = {}
        self._files_of_roles: dict[Path, list[tuple[Path, Path]]] = {}

    def reachable_from(self, play: Play) -> _Reachable:
        """The roles and files of tasks that a play may reach, and what could not be followed.

        Nothing is raised. If a name cannot be followed, or a limit is exceeded, `unread` of the result has a layer.
        """
        found = _Reachable()
        origin = play.document.locator("play", play.name, play.at).at(())
        names = [*_entries(play.body.get("roles"))]
        for key in _OF_TASKS:
            names += _names_in_tasks(play.body.get(key))
        ahead = [_Step(named, play.folder, origin) for named in names]
        while ahead:
            step = ahead.pop()
            try:
                if step.named.kind == "role":
                    ahead += self._role(step, play, found)
                else:
                    ahead += self._tasks(step, play, found)
            except (AnsibleError, TooMuch) as error:
                place = step.origin if error.file is None else Origin("tasks", "", error.file, error.line)
                found.unread.append(Layer.unknown(title(19), place, f"cannot be followed: {error.reason}"))
        return found

    def _role(self, step: _Step, play: Play, found: _Reachable) -> Iterator[_Step]:
        """Add the roles that a step names, and their files; yields the steps of their tasks, handlers and `meta`."""
        name = step.named.name
        beside = play.folder if step.folder == play.folder else step.folder.parent.parent
        is_open = is_template(name) or not name
        names = self.roles.names_matching(name, play.folder, beside) if is_open else [name]
        collections = (*play.collections, *map(str, conditions(play.body.get("collections") or [])))
        sought = (self.roles.folder_of(one, play.folder, beside, collections) for one in names)
        folders = [folder for folder in sought if folder is not None]
        if not folders:
            reason = f"is not there: {self.roles.requirement_hint(name) or 'no folder of roles has it'}"
            found.unread.append(Layer.unknown(title(2), Origin("role", name), reason))
        for folder in (one for one in folders if one not in found.roles):
            found.roles[folder] = None
            if folder not in self._files_of_roles:
                paths = [(path, folder / kind) for kind in _TASKS for path in self.files.all_files_below(folder / kind)]
                self._files_of_roles[folder] = [(path, home) for path, home in paths if path.suffix in _YAML]
            for path, home in self._files_of_roles[folder]:
                yield from self._in_file(path, home, found)
            yield from self._needed(folder, found)

    def _tasks(self, step: _Step, play: Play, found: _Reachable) -> Iterator[_Step]:
        """Add the files of tasks that a step names; yields the steps of these files.

        Nothing for a step of a role without a name: all files of tasks of that role are added anyway.
        raises: AnsibleError, for a step of a play without a name
        """
        known = {"playbook_dir": str(play.folder), "role_path": str(step.folder.parent)}
        name = filled_in(step.named.name, lambda one: known.get(one, ABSENT))
        name = step.named.name if name is ABSENT else name
        if not name and step.folder == play.folder:
            raise AnsibleError(YAML, "which file of tasks it names is not known")
        for folder in dict.fromkeys((step.folder, play.folder)) if name else ():
            for path in self.files.paths_matching(folder, name):
                if path.is_file():
                    yield from self._in_file(path, path.parent, found)

    def _needed(self, folder: Path, found: _Reachable) -> Iterator[_Step]:
        """Yield a step for each role that a role depends on."""
        path = self.roles.find_file(folder / "meta", "main")
        if path is None or path.is_dir() or "dependencies" not in self.files.text(path).text:
            return
        document = self.files.document(path)
        if document is None:
            found.unread.append(_unread(self.files.shown(path), "is encrypted"))
        elif isinstance(document.tree, dict):
            origin = document.locator("role", folder.name, ("dependencies",)).at(())
            for named in _entries(document.tree.get("dependencies")):
                yield _Step(named, path.parent, origin)

    def _in_file(self, path: Path, folder: Path, found: _Reachable) -> list[_Step]:
        """Add a file of tasks and return its steps; [] for a file that was added before.

        folder: its names are relative to it
        """
        if path in found.tasks:
            return []
        found.tasks[path] = None
        try:
            return self._steps_of_file(path, folder)
        except AnsibleError as error:
            found.unread.append(_unread(self.files.shown(path), error.reason))
            return []

    def _steps_of_file(self, path: Path, folder: Path) -> list[_Step]:
        """A step for each role and file of tasks that a file names; kept. raises: AnsibleError, if it cannot be read"""
        if (path, folder) not in self._steps:
            if border.is_layer_outside(path):
                raise AnsibleError(YAML, border.REASON)
            text, shown = self.files.text(path).text, self.files.shown(path)
            names = _names_in_task_text(text)
            if text.startswith(VAULT_HEADER):
                document = self.files.document(path)
                if document is None:
                    raise AnsibleError(YAML, "is encrypted")
                names = _names_in_tasks(document.tree)
            origins = ((named, Origin("tasks", "", shown, named.line or None)) for named in names)
            self._steps[path, folder] = [_Step(named, folder, origin) for named, origin in origins]
        return self._steps[path, folder]


def _unread(file: str, reason: str) -> Layer:
    is_sentence = reason in ("is encrypted", border.REASON)
    return Layer.unknown(title(19), Origin("tasks", "", file), reason if is_sentence else f"cannot be read: {reason}")


def _entries(given: Any) -> Iterator[_TaskReference]:
    """Yield the roles that a list of entries names; none for any other value."""
    for entry in given if isinstance(given, list) else ():
        name = entry.get("role", entry.get("name")) if isinstance(entry, dict) else entry
        if isinstance(name, str):
            yield _TaskReference("role", name)


# --- names in the text of a file of tasks


def _names_in_task_text(text: str) -> Iterator[_TaskReference]:
    """Yield the roles and files of tasks that include or import statements in a text name, in the order of lines.

    Lines that are comments are left out. A name that is not found near its keyword is "". Nothing is raised.

    cost: looks at each line, and at eight more below each keyword
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = None if line.lstrip().startswith("#") else _KEYWORD.search(line)
        if found:
            kind, rest = found[1], found[2].strip()
            yield _TaskReference(kind, _on_line(kind, rest) or _near(kind, lines, at), at + 1)


def _names_in_tasks(tree: Any) -> Iterator[_TaskReference]:
    """Yield the roles and files of tasks that parsed tasks include or import, also in blocks, in no particular order.

    tree:   the list of tasks; anything without tasks yields nothing
    raises: AnsibleError, for arguments with a quote that is not closed
    """
    ahead = [tree]
    while ahead:
        one = ahead.pop()
        if isinstance(one, list):
            ahead += one
        if not isinstance(one, dict):
            continue
        ahead += one.values()
        module, given = module_of(one)
        if module in ("include_role", "import_role"):
            yield _TaskReference("role", role_name_of(arguments_of(one, given)))
        elif module in ("include_tasks", "import_tasks"):
            yield _TaskReference("tasks", task_file_of(arguments_of(one, given)))


def _on_line(kind: str, rest: str) -> str:
    """The name on the line of a keyword; "" where it is not there."""
    found = _NAME[kind].search(rest)
    if found:
        return _value(found[1])
    is_alone = kind == "tasks" and rest[:1] not in ("", "{", "#", ">", "|")
    return _value(rest) if is_alone else ""


def _near(kind: str, lines: Sequence[str], at: int) -> str:
    """The name in the map below a keyword; "" where the map ends without one."""
    depth = _depth(lines[at])
    for line in lines[at + 1 : at + 1 + _NEAR]:
        if line.strip() and _depth(line) <= depth:
            break
        found = None if line.lstrip().startswith("#") else _NAME[kind].search(line)
        if found:
            return _value(found[1])
    return ""


def _depth(line: str) -> int:
    """The column of the first key of a line, behind dashes."""
    return len(line) - len(line.lstrip(" \t-"))


def _value(text: str) -> str:
    """A text of YAML: within its quotes, or up to a separator. A template becomes `{{ }}` and ends the text."""
    if text[0] in ("'", '"'):
        return text[1:].partition(text[0])[0]
    plain, is_filled, _ = text.partition("{{")
    return f"{plain}{{{{ }}}}" if is_filled else _END.split(text, maxsplit=1)[0]


_FOLDERS = ("playbooks", "plays")
"""Usual folders of playbooks that do not lie at the top."""
_PLAY = re.compile(r"\b(?:hosts|import_playbook)[\"']?[ \t]*:")
_MARKS = ("hosts", "import_playbook", "ansible.builtin.import_playbook")
"""Keys of a play, or of an import of plays."""

_OF_TASKS = ("pre_tasks", "tasks", "post_tasks", "handlers")
_KINDS = (("defaults", 2), ("vars", 15))


@dataclass(frozen=True, slots=True)
class PlaySetting:
    """A line of a role or a play that sets a variable.

    origin:            the line
    value:             the value that the line sets; None if the variable gets the result of a task
    level:             the number of the precedence level
    plays:             name of a playbook -> the numbers of its plays that reach the line
    has_unknown_hosts: whether the hosts of one of these plays are not known
    """

    origin: Origin
    value: Any
    level: int
    plays: Mapping[str, tuple[int, ...]]
    has_unknown_hosts: bool = False

    @property
    def where(self) -> str:
        """The plays in words: "site.yml plays 2 to 4, 7 and upgrade.yml play 1".

        If the hosts of a play are not known, the text says so at its end.
        """
        found = [f"{name} play{'s' * (len(its) > 1)} {', '.join(_ranges(its))}" for name, its in self.plays.items()]
        return " and ".join(found) + (" (for which hosts is not known)" if self.has_unknown_hosts else "")


@dataclass(frozen=True, slots=True)
class PlaySettings:
    """The lines of plays and roles that set one path of a variable.

    found:  the places that set it, the highest level first
    unread: the places that were not read and may set it
    """

    found: Sequence[PlaySetting] = ()
    unread: Sequence[Unread] = ()


NO_PLAYS = PlaySettings()

_LayerAtLevel = tuple[Layer, int]
"""A layer with the number of its level; for what was not read, an unknown layer."""


def places_in_plays(inventory: Inventory, path: Steps, hosts: Iterable[str] | None = None) -> PlaySettings:
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
        self._reach = _ReachSearch(inventory)
        self._layers_by_file: dict[Path, list[_LayerAtLevel]] = {}
        self._unread_layers: list[Layer] = []

    def found(self, hosts: frozenset[str] | None) -> PlaySettings:
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
        named = {one.file for one in unread}  # an encrypted file of variables is no playbook
        others = map(self._unread, self._unread_layers)
        unread |= dict.fromkeys(one for one in others if one.file not in named)
        return PlaySettings(sorted(rows, key=lambda one: -one.level), [*unread])

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
        given = play.body.get("vars_files")
        try:
            entries = [given] if isinstance(given, str) else play.entries("vars_files")
        except AnsibleError as error:
            entries = []
            yield _broken_file("playbook", error, play.document.file, 14), 14
        for entry in entries:
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
                paths = [path for path in paths if path.suffix in _YAML]
                self._layers_by_file[role] += self._layers_of_files(paths, f"role {kind}", role.name, level)
            others = (path for path in self.files.all_files_below(role / "vars") if path.suffix in _YAML)
            known = {layer.origin.at(()).file for layer, _ in self._layers_by_file[role]}
            rest = [path for path in others if self.files.shown(path) not in known]
            self._layers_by_file[role] += self._layers_of_files(rest, "include_vars", role.name, 18)
        return self._layers_by_file[role]

    def _layers_of_tasks(self, path: Path) -> list[_LayerAtLevel]:
        """The layers that the tasks of a file set; [] for an encrypted file, which `_Reachable.unread` names."""
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


def _place_in_plays(origin: Origin, value: Any, level: int, plays: Iterable[tuple[str, Play]]) -> PlaySetting:
    found: dict[str, dict[int, None]] = {}
    for name, play in plays:
        found.setdefault(name, {})[play.number] = None
    has_unknown_hosts = any(play.patterns is None for _, play in plays)
    return PlaySetting(origin, value, level, {name: (*its,) for name, its in found.items()}, has_unknown_hosts)


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Yield sorted numbers as texts. Numbers that follow each other become one text.

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

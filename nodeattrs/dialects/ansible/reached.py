"""Find what a play may reach: the roles and files of tasks that it names, and the ones that these name in turn.

Tasks are searched as texts, line by line, since to parse all roles would take too long. Conditions are not evaluated.
Used by `in_plays`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.ansible.faults import YAML, AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.keywords import arguments_of, conditions, module_of
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.roles import RoleReader
from nodeattrs.dialects.ansible.tasks import role_name_of, task_file_of
from nodeattrs.dialects.ansible.templates import filled_in, is_template
from nodeattrs.dialects.ansible.values import VAULT_HEADER
from nodeattrs.errors import TooMuch

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


class NameInTask(NamedTuple):
    """A role or a file of tasks that a task names.

    kind: "role" or "tasks"
    name: perhaps with templates; "" where it was not found
    line: the line of the keyword; 0 where only the play is known
    """

    kind: str
    name: str
    line: int = 0


@dataclass
class Reachable:
    """What a play may reach; `ReachSearch` fills it.

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

    named: NameInTask
    folder: Path
    origin: Origin


class ReachSearch:
    """Finds the roles and files of tasks that plays may reach.

    inventory: its files, configuration and folder are used; its hosts are not

    Call `reachable_from(play)` for each play. It returns a `Reachable`, and raises nothing for what cannot be followed.
    What each role and file names is found once and kept for further plays.
    """

    def __init__(self, inventory: Inventory) -> None:
        self.files = inventory.files
        self.roles = RoleReader(self.files, inventory.config, inventory.policy, lambda name, own: name)
        self._steps: dict[tuple[Path, Path], list[_Step]] = {}
        self._files_of_roles: dict[Path, list[tuple[Path, Path]]] = {}

    def reachable_from(self, play: Play) -> Reachable:
        """The roles and files of tasks that a play may reach, and what could not be followed.

        Nothing is raised for a name that cannot be followed, or for a limit that is exceeded: the result's `unread` has
        a layer for each.
        """
        found = Reachable()
        origin = play.document.locator("play", play.name, play.at).at(())
        ahead = [_Step(named, play.folder, origin) for named in _of_play(play)]
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

    def _role(self, step: _Step, play: Play, found: Reachable) -> Iterator[_Step]:
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
            for path, home in self._files_of_role(folder):
                yield from self._in_file(path, home, found)
            yield from self._needed(folder, found)

    def _files_of_role(self, folder: Path) -> list[tuple[Path, Path]]:
        """The files of tasks and handlers of a role, each with the folder that its names are relative to; kept."""
        if folder not in self._files_of_roles:
            paths = [(path, folder / kind) for kind in _TASKS for path in self.files.all_files_below(folder / kind)]
            self._files_of_roles[folder] = [(path, home) for path, home in paths if path.suffix in _YAML]
        return self._files_of_roles[folder]

    def _tasks(self, step: _Step, play: Play, found: Reachable) -> Iterator[_Step]:
        """Add the files of tasks that a step names; yields the steps of these files.

        For a role's own tasks there is none.
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

    def _needed(self, folder: Path, found: Reachable) -> Iterator[_Step]:
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

    def _in_file(self, path: Path, folder: Path, found: Reachable) -> list[_Step]:
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
            names = names_in_task_text(text)
            if text.startswith(VAULT_HEADER):
                document = self.files.document(path)
                if document is None:
                    raise AnsibleError(YAML, "is encrypted")
                names = names_in_tasks(document.tree)
            origins = ((named, Origin("tasks", "", shown, named.line or None)) for named in names)
            self._steps[path, folder] = [_Step(named, folder, origin) for named, origin in origins]
        return self._steps[path, folder]


def _unread(file: str, reason: str) -> Layer:
    is_sentence = reason in ("is encrypted", border.REASON)
    return Layer.unknown(title(19), Origin("tasks", "", file), reason if is_sentence else f"cannot be read: {reason}")


def _of_play(play: Play) -> Iterator[NameInTask]:
    """Yield the names under `roles`, and those in the play's own tasks and handlers."""
    yield from _entries(play.body.get("roles"))
    for key in ("pre_tasks", "tasks", "post_tasks", "handlers"):
        yield from names_in_tasks(play.body.get(key))


def _entries(given: Any) -> Iterator[NameInTask]:
    """Yield the roles that a list of entries names; none for any other value."""
    for entry in given if isinstance(given, list) else ():
        name = entry.get("role", entry.get("name")) if isinstance(entry, dict) else entry
        if isinstance(name, str):
            yield NameInTask("role", name)


# --- names in the text of a file of tasks


def names_in_task_text(text: str) -> Iterator[NameInTask]:
    """Yield the roles and files of tasks that include or import statements in a text name, in the order of lines.

    Lines that are comments are left out. A name that is not found near its keyword is "". Nothing is raised.

    cost: looks at each line, and at eight more below each keyword
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = None if line.lstrip().startswith("#") else _KEYWORD.search(line)
        if found:
            kind, rest = found[1], found[2].strip()
            yield NameInTask(kind, _on_line(kind, rest) or _near(kind, lines, at), at + 1)


def names_in_tasks(tree: Any) -> Iterator[NameInTask]:
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
            yield NameInTask("role", role_name_of(arguments_of(one, given)))
        elif module in ("include_tasks", "import_tasks"):
            yield NameInTask("tasks", task_file_of(arguments_of(one, given)))


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

"""Find what a play may reach: the roles and files of tasks that it names, and the ones that these name in turn.

Files of tasks are searched as texts, and conditions are not evaluated. Used by `in_plays`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.ansible.codes import YAML
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.keywords import conditions
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.roles import RoleReader
from nodeattrs.dialects.ansible.task_texts import NameInTask, names_in_task_text, names_in_tasks
from nodeattrs.dialects.ansible.templates import filled_in, is_template
from nodeattrs.dialects.ansible.values import VAULT_HEADER
from nodeattrs.errors import TooMuch

_YAML = ("", ".yml", ".yaml", ".json")
_TASKS = ("tasks", "handlers")


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
    The names in each file are found once and kept for further plays.
    """

    def __init__(self, inventory: Inventory) -> None:
        self.files = inventory.files
        self.roles = RoleReader(self.files, inventory.config, inventory.policy, lambda name, own: name)
        self._named: dict[Path, list[NameInTask]] = {}

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
            for kind in _TASKS:
                for path in self.files.all_files_below(folder / kind):
                    if path.suffix in _YAML:
                        yield from self._in_file(path, folder / kind, found)
            yield from self._needed(folder, found)

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

    def _in_file(self, path: Path, folder: Path, found: Reachable) -> Iterator[_Step]:
        """Add a file of tasks; yields its steps, none for a file that was added before.

        folder: its names are relative to it
        """
        if path in found.tasks:
            return
        found.tasks[path] = None
        shown = self.files.shown(path)
        try:
            names = self._names(path)
        except AnsibleError as error:
            found.unread.append(_unread(shown, error.reason))
            return
        for named in names:
            yield _Step(named, folder, Origin("tasks", "", shown, named.line or None))

    def _names(self, path: Path) -> list[NameInTask]:
        """The names of roles and files of tasks in a file; kept. raises: AnsibleError, where it cannot be read"""
        if path not in self._named:
            if border.is_layer_outside(path):
                raise AnsibleError(YAML, border.REASON)
            text = self.files.text(path).text
            names = names_in_task_text(text)
            if text.startswith(VAULT_HEADER):
                document = self.files.document(path)
                if document is None:
                    raise AnsibleError(YAML, "is encrypted")
                names = names_in_tasks(document.tree)
            self._named[path] = [*names]
        return self._named[path]


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

"""The context of a task: its play, file and role, with the variables and conditions around it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.files import Plan
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.rendering import Lookups, evaluate
from nodeattrs.dialects.ansible.roles import Role
from nodeattrs.dialects.ansible.templates import MOST_STEPS, filled_in, is_template, names_in_templates, with_gaps
from nodeattrs.dialects.ansible.values import MaySet
from nodeattrs.dialects.ansible.words import conditions, is_sure, is_true, tags_of
from nodeattrs.formats.documents import Document

_FACTS = title(19)


@dataclass(frozen=True)
class TaskContext:
    """What surrounds a task.

    folder:            of the file that has the task
    outer_variables:   of plays, blocks, imports and the task itself, the outermost first: levels 16 and 17
    include_variables: of includes, the outermost first: level 21
    role:              the role whose task it is; None outside of roles
    depth:             how many files include each other
    has_run:           whether the role has run before: then only the tasks that it imports from other roles count
    conditions:        of the blocks, includes and plays around it, and its own
    tags:              likewise
    collections:       in which plain names of roles are looked for first
    is_sure:           whether nothing but a condition may keep the task from running
    is_rescue:         whether the task is in the `rescue` of a block
    loaded:            how many of the outer and the include variables were there when the role was entered
    """

    play: Play
    document: Document
    folder: Path
    outer_variables: tuple[Layer, ...] = ()
    include_variables: tuple[Layer, ...] = ()
    role: Role | None = None
    depth: int = 0
    has_run: bool = False
    conditions: tuple[Any, ...] = ()
    tags: frozenset[str] = frozenset()
    collections: tuple[str, ...] = ()
    is_sure: bool = True
    is_rescue: bool = False
    loaded: tuple[int, int] = (0, 0)

    def with_variables(self, own: dict[Any, Any], at: Steps, level: int, kind: str, name: str = "") -> TaskContext:
        """The context with the variables of a block, an import or a task as well."""
        return replace(self, outer_variables=(*self.outer_variables, *self._layers(own, at, level, kind, name)))

    def with_include_variables(self, own: dict[Any, Any], at: Steps, kind: str) -> TaskContext:
        """The context with the variables of an include as well."""
        return replace(
            self, include_variables=(*self.include_variables, *self._layers(own, at, 21, kind, "")), loaded=(0, 0)
        )

    def entering_role(self, *, has_run: bool) -> TaskContext:
        """The context of the tasks of a role that starts here."""
        loaded = len(self.outer_variables), len(self.include_variables)
        return replace(self, depth=self.depth + 1, has_run=has_run, loaded=loaded)

    def for_handlers(self) -> TaskContext:
        """The context of the role's handlers: they do not see the variables around the task that imports the role."""
        outer, includes = self.loaded
        return replace(
            self, outer_variables=self.outer_variables[outer:], include_variables=self.include_variables[includes:]
        )

    def with_params_of(self, role: Role | None) -> TaskContext:
        """The context with the parameters of a role, which count in roles that its tasks import or include."""
        params = () if role is None else role.params
        return replace(self, include_variables=(*self.include_variables, *params))

    def _layers(self, own: dict[Any, Any], at: Steps, level: int, kind: str, name: str) -> list[Layer]:
        locator = self.document.locator(kind, name, (*at, "vars"))
        return [Layer(own, locator, title(level))] if own else []

    def evaluated_text(self, value: Any, answer: Variables) -> Any:
        """A text with its templates evaluated; ABSENT where one cannot be. answer: the variables of the host"""
        found = filled_in(str(value), answer.known)
        found = evaluate(value, answer, self.lookups()) if found is ABSENT else found
        return str(found) if isinstance(found, (str, int, float)) else ABSENT

    def lookups(self) -> Lookups:
        """The lookups that find files from here."""
        return {"first_found": lambda terms, how: first_found_of(terms or [how], self.search_folders(""), how)}

    def first_found(self, terms: Iterable[Any], kind: str) -> str:
        """The first file of those that `with_first_found` is given. raises: LookupError, where none is there

        kind: the folder in which it seeks each file first
        """
        return first_found_of(terms, self.search_folders(kind), {})[0]

    def with_conditions_of(self, body: dict[Any, Any]) -> TaskContext:
        """The context with the condition, the tags and the collections of a play, a block or a task as well."""
        tags = self.tags | tags_of(body)
        sure = self.is_sure and is_sure(body) and not any(map(is_template, tags))
        own = tuple(map(str, conditions(body.get("collections") or [])))
        every = (*self.conditions, body.get("when"))
        return replace(self, conditions=every, tags=tags, is_sure=sure, collections=(*own, *self.collections))

    @property
    def is_never(self) -> bool:
        """Whether its tags keep it from running where no tags are given."""
        return "never" in self.tags and "always" not in self.tags

    @property
    def runs(self) -> bool:
        """Whether it runs for all values of variables."""
        return self.is_sure and all(map(is_true, self.conditions))

    def origin(self, at: Steps, kind: str) -> Origin:
        """The origin of what stands at a place of the file."""
        return self.document.locator(kind, "", at).at(())

    def search_folders(self, kind: str) -> list[Path]:
        """The folders in which Ansible looks for a file that the task names. kind: such as `tasks` or `vars`"""
        own = [] if self.role is None else [self.role.path / kind, self.role.path]
        return [*own, self.folder / kind, self.folder, self.play.folder / kind, self.play.folder]

    def file_of_tasks(self, name: str) -> Path | None:
        """The file of tasks that import_tasks or include_tasks names; None where it is not there."""
        paths = (folder / name for folder in (self.folder, *self.search_folders("tasks")))
        return next((one for one in paths if os.path.isfile(one)), None)


def context_of_play(play: Play) -> TaskContext:
    """The context of the tasks of a play."""
    return TaskContext(play, play.document, play.folder, collections=play.collections).with_conditions_of(play.body)


def first_found_of(terms: Iterable[Any], folders: Sequence[Path], how: Mapping[str, Any]) -> list[str]:
    """The first file of those that the lookup first_found is given. raises: LookupError, where none is there

    folders: where it seeks each file
    how:     `paths` for all of them, and `skip` to give none
    """
    for term in [one for entry in terms for one in (entry if isinstance(entry, list) else [entry])]:
        given = {**how, **(term if isinstance(term, dict) else {"files": term})}
        files, paths = file_names_in(given.get("files")), file_names_in(given.get("paths")) or [""]
        for name in (os.path.join(path, file) for path in paths for file in files):
            path = next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
            if path is not None:
                return [str(path)]
    if how.get("skip") is True:
        return []
    raise LookupError("none of these files is there")


def file_names_in(given: Any) -> list[str]:
    """The names of files, which may stand in one text."""
    parts = given if isinstance(given, list) else [given or ""]
    return [name for part in parts for name in re.split("[,;]", str(part)) if name]


def possible_names(files: Any) -> list[str] | None:
    """The names of files that `with_first_found` or a text gives, with gaps for templates.

    None, where a template is not understood.
    """
    found: list[str] = []
    for entry in files if isinstance(files, list) else [files]:
        given = entry if isinstance(entry, dict) else {"files": entry}
        folders, names = (_gapped(given.get(key)) for key in ("paths", "files"))
        if ABSENT in folders or ABSENT in names:
            return None
        found += [
            os.path.join(folder, name) for folder in file_names_in(folders) or [""] for name in file_names_in(names)
        ]
    return found


def _gapped(given: Any) -> list[Any]:
    return [with_gaps(str(one)) for one in (given if isinstance(given, list) else [given or ""])]


def give_parts_of_names(value: Any, answer: Variables, depth: int = 0) -> bool:
    """Whether the templates of a value give parts of a name, and no paths.

    So do facts, results of tasks, texts without `/`, and templates of these.
    """
    return all(_is_part(name, answer, depth) for name in names_in_templates(value))


def _is_part(name: str, answer: Variables, depth: int) -> bool:
    if name.startswith("ansible_"):
        return True
    open_layers, value = answer.unknown(name), answer.vars.get(name, ABSENT)
    if any(layer.title != _FACTS or not isinstance(layer.origin, MaySet) for layer in open_layers):
        return False
    if any(isinstance(layer.origin, MaySet) and layer.origin.names is None for layer in open_layers):
        return False
    if value is ABSENT:
        return bool(open_layers)
    is_open = depth >= MOST_STEPS or not give_parts_of_names(value, answer, depth + 1)
    return not is_open and all("/" not in str(one) for one in _leaves(value) if not is_template(one))


def _leaves(value: Any) -> Iterator[Any]:
    """The values in a map or a list; any other value is its own."""
    ahead = [value]
    while ahead:
        one = ahead.pop()
        if isinstance(one, (dict, list)):
            ahead += one.values() if isinstance(one, dict) else one
        else:
            yield one


@dataclass(frozen=True)
class Task:
    """A task that a host meets, with the effects of the tasks before it.

    at:            the path of the task in its document
    gathered:      gathered facts, level 11, the weakest first
    included:      variables of include_vars, level 18
    facts:         variables of set_fact and register, level 19
    groups:        unknown layers for what may have changed groups and hosts, levels 7 and 8
    roles:         the roles of the play so far, the weakest first
    joined_groups: the groups that the host has surely joined
    """

    name: str
    body: dict[Any, Any]
    at: Steps
    context: TaskContext
    gathered: tuple[Layer, ...]
    included: tuple[Plan, ...]
    facts: tuple[Layer, ...]
    groups: tuple[Layer, ...]
    roles: tuple[Role, ...]
    joined_groups: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The file and line of the task."""
        document = self.context.document
        return f"{document.file}:{document.place(self.at)[0]}"

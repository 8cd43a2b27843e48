"""The context of a task: its play, file and role, with the variables and conditions around it.

The module also has the task with the effects of earlier tasks, and the lookup first_found, which depends on the
context. A level is a number of Ansible's list of variable precedence, from 1 to 22; the highest wins.
"""

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
from nodeattrs.dialects.ansible.keywords import conditions, is_sure, is_true, is_yes, tags_of
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.rendering import Lookups, evaluate
from nodeattrs.dialects.ansible.roles import Role
from nodeattrs.dialects.ansible.templates import MOST_STEPS, filled_in, is_template, names_in_templates, with_gaps
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin
from nodeattrs.formats.documents import Document

_FACTS = title(19)


@dataclass(frozen=True)
class TaskContext:
    """What surrounds a task or a list of tasks: play, file, role, variables and conditions.

    The object is immutable. `with_variables`, `with_include_variables`, `with_params_of`, `with_conditions_of`,
    `entering_role` and `for_handlers` return changed copies. `runs` says whether the task runs for any values of
    variables. `is_never` says whether the tag `never` keeps it from running. `evaluated_text` returns a text, or ABSENT
    for a template that cannot be evaluated. `lookups` has the lookup plugin first_found for this place.
    `search_folders` lists folders, which may be absent. `file_of_tasks` gives None for a file that is not there.
    `origin` is the line of a path in the file.

    play, document:    the play, and the file that has the task
    folder:            the folder of that file
    outer_variables:   layers of plays, blocks, imports and the task itself, the outermost first: levels 16 and 17
    include_variables: layers of includes, the outermost first: level 21
    role:              the role of the task; None outside of roles
    depth:             how many files and roles were entered on the way to the task
    has_run:           whether the role has run before. If so, its own tasks are skipped, and tasks imported from other
                       roles still run
    conditions:        the `when` values of the plays, blocks and includes around the task, and of the task
    tags:              the `tags` of the same plays, blocks, includes and task
    collections:       the collections that are searched for roles without a collection in their name, in order
    is_sure:           True: the task runs if its conditions hold; False: something else may keep it from running
    is_in_play:        True: the host is surely in the play. False: it may not be, so variables that the task sets may
                       be absent in later plays
    is_rescue:         whether the task is in the `rescue` of a block
    loaded:            (number of outer_variables, number of include_variables) when the role was entered
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
    is_in_play: bool = True
    is_rescue: bool = False
    loaded: tuple[int, int] = (0, 0)

    def with_variables(self, own: dict[Any, Any], at: Steps, level: int, kind: str, name: str = "") -> TaskContext:
        """A copy of the context with the `vars` of a block, an import or a task as one more layer. An empty map adds no
        layer.

        own:        the map under `vars`
        at:         the path of the block or task in the document
        level:      the level of the layer
        kind, name: of the origin
        """
        return replace(self, outer_variables=(*self.outer_variables, *self._layers(own, at, level, kind, name)))

    def with_include_variables(self, own: dict[Any, Any], at: Steps, kind: str) -> TaskContext:
        """The context with the `vars` of an include as one more layer of level 21."""
        return replace(
            self, include_variables=(*self.include_variables, *self._layers(own, at, 21, kind, "")), loaded=(0, 0)
        )

    def entering_role(self, *, has_run: bool) -> TaskContext:
        """The context for the tasks of a role that is imported or included here."""
        loaded = len(self.outer_variables), len(self.include_variables)
        return replace(self, depth=self.depth + 1, has_run=has_run, loaded=loaded)

    def for_handlers(self) -> TaskContext:
        """The context for the role's handlers, without the variables around the task that imports the role."""
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
        """A text or number with its templates evaluated, as text. ABSENT if a template cannot be evaluated, or gives
        another type, such as a list.

        answer: the variables of the host
        """
        found = filled_in(str(value), answer.known)
        found = evaluate(value, answer, self.lookups()) if found is ABSENT else found
        return str(found) if isinstance(found, (str, int, float)) else ABSENT

    def lookups(self) -> Lookups:
        """The lookup plugin first_found, which looks for files from here, for `Rendering`."""
        return {"first_found": lambda terms, how: first_found_of(terms or [how], self.search_folders(""), how)}

    def with_conditions_of(self, body: dict[Any, Any]) -> TaskContext:
        """A copy of the context to which the `when`, `tags` and `collections` of *body* are added.

        `is_sure` of the copy is False if *body* has a key such as `until`, or if a tag has a template.

        body: the map of a play, a block or a task
        """
        tags = self.tags | tags_of(body)
        sure = self.is_sure and is_sure(body) and not any(map(is_template, tags))
        own = tuple(map(str, conditions(body.get("collections") or [])))
        every = (*self.conditions, body.get("when"))
        return replace(self, conditions=every, tags=tags, is_sure=sure, collections=(*own, *self.collections))

    @property
    def is_never(self) -> bool:
        """Whether the tag `never` keeps the task from running when no tags are given."""
        return "never" in self.tags and "always" not in self.tags

    @property
    def runs(self) -> bool:
        """Whether the task runs for any values of variables: each condition is literally true, and nothing else may
        keep it from running.
        """
        return self.is_sure and all(map(is_true, self.conditions))

    def origin(self, at: Steps, kind: str) -> Origin:
        """The origin of a path in the file."""
        return self.document.locator(kind, "", at).at(())

    def search_folders(self, kind: str) -> list[Path]:
        """The folders in which Ansible looks for a file, in order; they may be absent.

        kind: "tasks", "vars", "files", ...
        """
        own = [] if self.role is None else [self.role.path / kind, self.role.path]
        return [*own, self.folder / kind, self.folder, self.play.folder / kind, self.play.folder]

    def file_of_tasks(self, name: str) -> Path | None:
        """The file of tasks of a name; None where it is not there."""
        paths = (folder / name for folder in (self.folder, *self.search_folders("tasks")))
        return next((one for one in paths if os.path.isfile(one)), None)


def context_of_play(play: Play) -> TaskContext:
    """The context of the tasks of a play, with its conditions, tags and collections."""
    return TaskContext(play, play.document, play.folder, collections=play.collections).with_conditions_of(play.body)


def first_found_of(terms: Iterable[Any], folders: Sequence[Path], how: Mapping[str, Any]) -> list[str]:
    """The first existing file of the terms of the lookup first_found, as a list with one path.

    [] if no file exists and `skip` is true in the last options.

    terms:   names of files, lists of them, or maps with `files`, `paths` and `skip`; a map has the options of the terms
             after it, too
    folders: the folders that are searched for each file, in order
    how:     options of the lookup, `paths` and `skip`, for the terms before the first map
    raises:  LookupError, if no file exists
    """
    for term in [one for entry in terms for one in (entry if isinstance(entry, list) else [entry])]:
        how = term if isinstance(term, dict) else how
        files = _file_names_in(term.get("files") if isinstance(term, dict) else term)
        paths = _file_names_in(how.get("paths")) or [""]
        for name in (os.path.join(path, file) for path in paths for file in files):
            path = next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
            if path is not None:
                return [str(path)]
    if is_yes(how.get("skip")):
        return []
    raise LookupError("none of these files is there")


def _file_names_in(given: Any) -> list[str]:
    """The names of files in a text, split at commas and semicolons, or in a list of texts; [] for none."""
    parts = given if isinstance(given, list) else [given or ""]
    return [name for part in parts for name in re.split("[,;]", str(part)) if name]


def possible_names(files: Any) -> list[str] | None:
    """The file names that *files* may give, with `GAP` for each template. None if a template cannot be understood.

    files: a text, or the terms of `with_first_found`
    """
    found: list[str] = []
    for entry in files if isinstance(files, list) else [files]:
        given = entry if isinstance(entry, dict) else {"files": entry}
        folders, names = (_gapped(given.get(key)) for key in ("paths", "files"))
        if ABSENT in folders or ABSENT in names:
            return None
        found += [
            os.path.join(folder, name) for folder in _file_names_in(folders) or [""] for name in _file_names_in(names)
        ]
    return found


def _gapped(given: Any) -> list[Any]:
    return [with_gaps(str(one)) for one in (given if isinstance(given, list) else [given or ""])]


def give_parts_of_names(value: Any, answer: Variables, depth: int = 0) -> bool:
    """Whether no template in a value gives a text with `/`. True for a value without templates.

    Facts and results of tasks count as texts without `/`. Any other template must be a variable with known texts.

    depth: how many values this value is within; callers leave it at 0
    """
    return all(_is_part(name, answer, depth) for name in names_in_templates(value))


def _is_part(name: str, answer: Variables, depth: int) -> bool:
    if name.startswith("ansible_"):
        return True
    open_layers, value = answer.unknown(name), answer.vars.get(name, ABSENT)
    if any(layer.title != _FACTS or not isinstance(layer.origin, UnknownLayerOrigin) for layer in open_layers):
        return False
    if any(isinstance(layer.origin, UnknownLayerOrigin) and layer.origin.names is None for layer in open_layers):
        return False
    if value is ABSENT:
        return bool(open_layers)
    is_open = depth >= MOST_STEPS or not give_parts_of_names(value, answer, depth + 1)
    return not is_open and all("/" not in str(one) for one in _leaves(value) if not is_template(one))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of maps and lists; any other value itself."""
    ahead = [value]
    while ahead:
        one = ahead.pop()
        if isinstance(one, (dict, list)):
            ahead += one.values() if isinstance(one, dict) else one
        else:
            yield one


@dataclass(frozen=True)
class Task:
    """A task that a host reaches, with the effects of the tasks before it.

    name:          the task's `name`; if it has none, the name of its module
    body:          the map of the task
    at:            the path of the task in the document of its context
    context:       the play, file, role and conditions around the task
    gathered:      gathered facts, level 11, the weakest first
    included:      variables of include_vars, level 18
    facts:         variables of set_fact and register, level 19
    groups:        unknown layers for tasks that may have changed groups and hosts, levels 7 and 8
    roles:         the roles of the play that were reached before the task, the weakest first
    joined_groups: the groups that group_by has surely added the host to

    `Playbook.within` gives the variables that the host has in the task. `place` is the file and line of the task.
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

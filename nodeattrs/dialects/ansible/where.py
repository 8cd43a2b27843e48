"""Where a task stands, and what it is given there."""

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
from nodeattrs.dialects.ansible.rendering import Lookups, evaluated
from nodeattrs.dialects.ansible.roles import Role
from nodeattrs.dialects.ansible.templates import MOST_STEPS, filled, is_template, mentioned, with_gaps
from nodeattrs.dialects.ansible.values import MaySet
from nodeattrs.dialects.ansible.words import conditions, is_sure, is_true, tags_of
from nodeattrs.formats.documents import Document

_FACTS = title(19)


@dataclass(frozen=True)
class Around:
    """What surrounds a task.

    folder: that of the file it stands in
    around: variables of blocks, imports and the task itself, the outermost first: levels 16 and 17
    params: variables of includes, the outermost first: level 21
    role:   the role it belongs to
    depth:  how many files include each other
    has_run: whether its role has run before: of its tasks only those count that it imports from other roles
    whens:   the conditions around it
    tags:    those around it, and its own
    collections: those in which plain names of roles are sought first
    is_sure: whether nothing else around it may keep it from running
    is_rescue: whether it is in the `rescue` of a block
    loaded: how many of `around` and `params` surround the role whose tasks were loaded with this one
    """

    play: Play
    document: Document
    folder: Path
    around: tuple[Layer, ...] = ()
    params: tuple[Layer, ...] = ()
    role: Role | None = None
    depth: int = 0
    has_run: bool = False
    whens: tuple[Any, ...] = ()
    tags: frozenset[str] = frozenset()
    collections: tuple[str, ...] = ()
    is_sure: bool = True
    is_rescue: bool = False
    loaded: tuple[int, int] = (0, 0)

    def within(self, own: dict[Any, Any], at: Steps, level: int, kind: str, name: str = "") -> Around:
        """The same with variables of a block, an import or a task."""
        return replace(self, around=(*self.around, *self._layers(own, at, level, kind, name)))

    def given(self, own: dict[Any, Any], at: Steps, kind: str) -> Around:
        """The same with variables of an include."""
        return replace(self, params=(*self.params, *self._layers(own, at, 21, kind, "")), loaded=(0, 0))

    def of_role(self, *, has_run: bool) -> Around:
        """The same for the tasks of a role that is entered here."""
        loaded = len(self.around), len(self.params)
        return replace(self, depth=self.depth + 1, has_run=has_run, loaded=loaded)

    def as_loaded(self) -> Around:
        """The same for handlers: those of an imported role do not see what surrounds the role that imports it."""
        around, params = self.loaded
        return replace(self, around=self.around[around:], params=self.params[params:])

    def _layers(self, own: dict[Any, Any], at: Steps, level: int, kind: str, name: str) -> list[Layer]:
        locator = self.document.locator(kind, name, (*at, "vars"))
        return [Layer(own, locator, title(level))] if own else []

    def text(self, value: Any, answer: Variables) -> Any:
        """A text with its templates evaluated; ABSENT where that cannot be. answer: what the host has here"""
        found = filled(str(value), answer.known)
        found = evaluated(value, answer, self.lookups()) if found is ABSENT else found
        return str(found) if isinstance(found, (str, int, float)) else ABSENT

    def lookups(self) -> Lookups:
        """The lookups that find files from here."""
        return {"first_found": lambda terms, how: found_first(terms or [how], self.sought(""), how)}

    def first_found(self, terms: Iterable[Any], kind: str) -> str:
        """The first file of those that `with_first_found` is given. raises: LookupError, where none is there

        kind: the folder in which it seeks each file first
        """
        return found_first(terms, self.sought(kind), {})[0]

    def of(self, body: dict[Any, Any]) -> Around:
        """The same with the condition, the tags and the collections of a play, a block or a task."""
        tags = self.tags | tags_of(body)
        sure = self.is_sure and is_sure(body) and not any(map(is_template, tags))
        own = tuple(map(str, conditions(body.get("collections") or [])))
        whens = (*self.whens, body.get("when"))
        return replace(self, whens=whens, tags=tags, is_sure=sure, collections=(*own, *self.collections))

    @property
    def is_never(self) -> bool:
        """Whether its tags keep it from running where no tags are given."""
        return "never" in self.tags and "always" not in self.tags

    @property
    def runs(self) -> bool:
        """Whether it runs for all values of variables."""
        return self.is_sure and all(map(is_true, self.whens))

    def origin(self, at: Steps, kind: str) -> Origin:
        """The origin of what stands at a place of the file."""
        return self.document.locator(kind, "", at).at(())

    def sought(self, kind: str) -> list[Path]:
        """The folders in which a file that is named here is sought, such as `tasks` or `vars`."""
        own = [] if self.role is None else [self.role.path / kind, self.role.path]
        return [*own, self.folder / kind, self.folder, self.play.folder / kind, self.play.folder]


def surroundings(play: Play) -> Around:
    """What surrounds the tasks of a play."""
    return Around(play, play.document, play.folder, collections=play.collections).of(play.body)


def found_first(terms: Iterable[Any], folders: Sequence[Path], how: Mapping[str, Any]) -> list[str]:
    """The first file of those that the lookup first_found is given. raises: LookupError, where none is there

    folders: where it seeks each file
    how:     `paths` for all of them, and `skip` to give none
    """
    for term in [one for entry in terms for one in (entry if isinstance(entry, list) else [entry])]:
        given = {**how, **(term if isinstance(term, dict) else {"files": term})}
        files, paths = names_in(given.get("files")), names_in(given.get("paths")) or [""]
        for name in (os.path.join(path, file) for path in paths for file in files):
            path = next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
            if path is not None:
                return [str(path)]
    if how.get("skip") is True:
        return []
    raise LookupError("none of these files is there")


def names_in(given: Any) -> list[str]:
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
        found += [os.path.join(folder, name) for folder in names_in(folders) or [""] for name in names_in(names)]
    return found


def _gapped(given: Any) -> list[Any]:
    return [with_gaps(str(one)) for one in (given if isinstance(given, list) else [given or ""])]


def are_parts_of_names(value: Any, answer: Variables, depth: int = 0) -> bool:
    """Whether the templates of a value give parts of a name, and no paths.

    So do facts, results of tasks, texts without `/`, and templates of these.
    """
    return all(_is_part(name, answer, depth) for name in mentioned(value))


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
    is_open = depth >= MOST_STEPS or not are_parts_of_names(value, answer, depth + 1)
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
    """A task that a host meets.

    gathered, included, facts: what tasks before it may have set: levels 11, 18 and 19
    groups: what tasks before it may have done to groups and hosts: levels 7 and 8
    joined: the roles that are in the play by now, the weakest first
    entered: the groups that tasks before it have put the host into
    """

    name: str
    body: dict[Any, Any]
    at: Steps
    where: Around
    gathered: tuple[Layer, ...]
    included: tuple[Plan, ...]
    facts: tuple[Layer, ...]
    groups: tuple[Layer, ...]
    joined: tuple[Role, ...]
    entered: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The file and line of the task."""
        document = self.where.document
        return f"{document.file}:{document.place(self.at)[0]}"

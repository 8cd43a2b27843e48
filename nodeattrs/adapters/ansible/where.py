"""Where a task stands, and what it is given there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nodeattrs.adapters.ansible.files import Plan
from nodeattrs.adapters.ansible.levels import title
from nodeattrs.adapters.ansible.plays import Play
from nodeattrs.adapters.ansible.roles import Role
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import Path as Steps
from nodeattrs.texts.documents import Document


@dataclass(frozen=True)
class Around:
    """What surrounds a task.

    folder: that of the file it stands in
    around: variables of blocks, imports and the task itself, the outermost first: levels 16 and 17
    params: variables of includes, the outermost first: level 21
    role:   the role it belongs to
    depth:  how many files include each other
    has_run: whether its role has run before: of its tasks only those count that it imports from other roles
    is_sure: whether no condition around it may keep it from running
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
    is_sure: bool = True
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

    def origin(self, at: Steps, kind: str) -> Origin:
        """The origin of what stands at a place of the file."""
        return self.document.locator(kind, "", at).at(())

    def sought(self, kind: str) -> list[Path]:
        """The folders in which a file that is named here is sought, such as `tasks` or `vars`."""
        own = [] if self.role is None else [self.role.path / kind, self.role.path]
        return [*own, self.folder / kind, self.folder, self.play.folder / kind, self.play.folder]


@dataclass(frozen=True)
class Task:
    """A task that a host meets.

    gathered, included, facts: what tasks before it may have set: levels 11, 18 and 19
    groups: what tasks before it may have done to groups and hosts: levels 7 and 8
    joined: the roles that are in the play by now, the weakest first
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

    @property
    def place(self) -> str:
        """Its file and line."""
        document = self.where.document
        return f"{document.file}:{document.place(self.at)[0]}"

"""The tasks of a playbook as one host meets them: in order, each with what surrounds it.

Imports and includes whose names can be known are followed. Nothing is run, and no condition but a plain false is
weighed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeattrs.adapters.ansible.answers import Variables
from nodeattrs.adapters.ansible.codes import NO_FILE, WRONG_SHAPE
from nodeattrs.adapters.ansible.faults import AnsibleError
from nodeattrs.adapters.ansible.happenings import Happened
from nodeattrs.adapters.ansible.levels import MERGE
from nodeattrs.adapters.ansible.plays import Play
from nodeattrs.adapters.ansible.roles import Asked, Role, Roles, variables_of
from nodeattrs.adapters.ansible.templates import filled
from nodeattrs.adapters.ansible.where import Around, Task
from nodeattrs.adapters.ansible.words import is_true, module_of, never_runs
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.texts.documents import Document

MOST_INCLUDES = 50
"""Files and roles may include each other so deep."""


class Walk:
    """One host's way through the tasks of all plays.

    now:     given a task's surroundings, what the host has there
    joined:  the roles that are in the play so far
    """

    def __init__(self, roles: Roles, now: Callable[[Around], Variables]) -> None:
        self.roles = roles
        self.happened = Happened(roles.files, roles.policy)
        self.joined: list[Role] = []
        self._unit: list[tuple[Around, Role]] = []
        self._entered = [self._unit]
        self._ran: list[Role] = []
        self._now = now

    def play(self, play: Play, roles: Roles, entries: list[Role], joined: list[Role]) -> Iterator[Task]:
        """The tasks of a play in the order in which they run.

        roles:   reads roles, with the names that the play can fill in
        entries: the roles under `roles`, dependencies before those that need them; each runs once
        joined:  those and what is imported
        raises:  AnsibleError
        """
        self.roles, self.joined, self._unit, self._ran = roles, list(joined), [], []
        self._entered = [self._unit]
        outside = Around(play, play.document, play.folder)
        if play.body.get("gather_facts", True) is not False:
            self.happened.facts_gathered(outside.origin(play.at, "play"))
        yield from self._list(outside, play.entries("pre_tasks"), (*play.at, "pre_tasks"))
        for role in entries:
            yield from self._once(outside, role)
        for key in ("tasks", "post_tasks", "handlers"):
            yield from self._list(outside, play.entries(key), (*play.at, key))
        listed = [(outside, one) for role in joined[: len(play.entries("roles"))] for one in role.chain()]
        yield from self._handlers([*listed, *(one for unit in self._entered for one in unit)])

    def _handlers(self, entered: list[tuple[Around, Role]]) -> Iterator[Task]:
        """The handlers of roles, each where its role was entered last."""
        found = [task for outside, role in entered for task in self._role(outside, role.for_handlers(), "handlers")]
        yield from {(task.where.folder, task.name): task for task in found}.values()

    def _once(self, outside: Around, role: Role) -> Iterator[Task]:
        """The tasks of a role that an entry or a dependency names: once in a play, but for roles that they import."""
        if role.runs:
            has_run, is_sure = self._has_run(outside, role), outside.is_sure and is_true(role.limits[1])
            yield from self._role(replace(outside, has_run=has_run, is_sure=is_sure), role)

    def _has_run(self, outside: Around, role: Role) -> bool:
        """Whether an instance of a role has surely run, and does not again; it is noted that it runs."""
        found = any(role.same_as(one) for one in self._ran)
        if outside.is_sure and not found:
            self._ran.append(role)
        return found and not role.repeats

    def _role(self, outside: Around, role: Role, kind: str = "tasks", stem: str = "main") -> Iterator[Task]:
        path = self.roles.file(role.path / kind, stem)
        if path is not None and path.is_file():
            yield from self._file(replace(outside, role=role), path)

    def _file(self, outside: Around, path: Path) -> Iterator[Task]:
        document = self.roles.files.document(path)
        if document is None:
            origin = Origin("tasks", "", self.roles.files.shown(path), 1)
            self.happened.fact(origin, "these tasks are encrypted, and may set any variable", None)
        if document is None or document.tree is None:
            return
        if not isinstance(document.tree, list) or outside.depth > MOST_INCLUDES:
            message = "a file of tasks is a list" if outside.depth <= MOST_INCLUDES else "includes itself"
            raise AnsibleError(WRONG_SHAPE, message, file=document.file, line=1)
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from self._list(inside, document.tree, ())

    def _list(self, outside: Around, entries: Any, at: Steps) -> Iterator[Task]:
        for index, entry in enumerate(entries):
            here = (*at, index)
            if not isinstance(entry, dict):
                line = outside.document.place(here)[0]
                raise AnsibleError(WRONG_SHAPE, "a task is a map", file=outside.document.file, line=line)
            if not never_runs(entry):
                yield from self._task(outside, entry, here)

    def _task(self, outside: Around, body: dict[Any, Any], at: Steps) -> Iterator[Task]:
        own = variables_of(body, outside.document, at)
        outside = replace(outside, is_sure=outside.is_sure and is_true(body.get("when")))
        if "block" in body:
            inside = outside.within(own, at, 16, "block")
            for key in ("block", "rescue", "always"):
                if key == "rescue" and body.get(key):
                    origin = outside.origin((*at, key), "rescue")
                    self.happened.fact(origin, "it is set when the block has failed", _FAILED)
                yield from self._list(inside, body.get(key) or [], (*at, key))
            return
        module, arguments = module_of(body)
        if outside.has_run and not module.startswith("import_"):
            return
        if module in _FOLLOWED:
            yield from getattr(self, f"_{module}")(outside, own, arguments, at)
            return
        name = str(body.get("name") or module)
        inside = outside.within(own, at, 17, "task", name)
        yield self.happened.met(name, body, at, inside, self.joined)
        self.happened.note(inside, body, module, arguments, at, lambda: self._now(inside))

    # --- what is followed

    def _import_tasks(self, outside: Around, own: dict[Any, Any], arguments: Any, at: Steps) -> Iterator[Task]:
        return self._tasks_of(outside.within(own, at, 17, "import_tasks"), arguments, at, "import_tasks")

    def _include_tasks(self, outside: Around, own: dict[Any, Any], arguments: Any, at: Steps) -> Iterator[Task]:
        return self._tasks_of(self._given(outside, own, at, "include_tasks"), arguments, at, "include_tasks")

    def _given(self, outside: Around, own: dict[Any, Any], at: Steps, kind: str) -> Around:
        """What an include gives; under `merge` its variables replace those of blocks around it, too."""
        inside = outside.given(own, at, kind)
        return inside.within(own, at, 17, kind) if self.roles.policy is MERGE else inside

    def _tasks_of(self, inside: Around, arguments: Any, at: Steps, kind: str) -> Iterator[Task]:
        name = arguments.get("file") if isinstance(arguments, dict) else arguments
        plain = filled(str(name), self._now(inside).known)
        paths = [] if plain is ABSENT else [folder / plain for folder in (inside.folder, *inside.sought("tasks"))]
        path = next((one for one in paths if os.path.isfile(one)), None)
        if path is not None:
            if kind == "include_tasks":
                self.joined += imported_from(inside, path, self.roles)
            within = self._file(inside, path)
            yield from self._including(within) if kind == "include_tasks" else within
        elif plain is not ABSENT and kind == "import_tasks":
            origin = inside.origin(at, kind)
            raise AnsibleError(NO_FILE, f"no file {name}", file=origin.file, line=origin.line)
        else:
            self.happened.fact(inside.origin(at, kind), f"which tasks {name} brings is not known", None)

    def _import_role(self, outside: Around, own: dict[Any, Any], arguments: Any, at: Steps) -> Iterator[Task]:
        role = self._included(outside, own, arguments, at)
        if role is None:
            return
        by = () if outside.role is None else outside.role.params
        inside = outside.within(own, at, 17, "import_role")
        yield from self._tasks_in(replace(inside, params=(*inside.params, *by)), role, arguments)

    def _include_role(self, outside: Around, own: dict[Any, Any], arguments: Any, at: Steps) -> Iterator[Task]:
        role = self._included(outside, own, arguments, at)
        if role is None:
            return
        inside = self._given(outside, own, at, "include_role")
        by = () if outside.role is None else outside.role.params
        role.is_public = isinstance(arguments, dict) and arguments.get("public") is True
        self.joined += joining(role, arguments, outside, self.roles)
        yield from self._including(self._tasks_in(replace(inside, params=(*inside.params, *by)), role, arguments))

    def _including(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """The tasks of an include: what they import is entered with it, after all that was entered before."""
        outer, self._unit = self._unit, []
        self._entered.append(self._unit)
        yield from tasks
        self._unit = outer

    def _tasks_in(self, inside: Around, role: Role, arguments: Any) -> Iterator[Task]:
        outside, inside = inside.as_loaded(), inside.of_role(has_run=self._has_run(inside, role))
        for need in role.needs:
            for one in need.chain():
                yield from self._once(replace(inside, has_run=False), one)
        stem = stem_of(arguments, "tasks_from")
        if stem != "main" and self.roles.file(role.path / "tasks", stem) is None:
            raise AnsibleError(NO_FILE, f"the role {role.name} has no tasks/{stem}", file=inside.document.file)
        yield from self._role(inside, role, "tasks", stem)
        self._unit += [(outside, one) for one in role.chain()]  # after what their tasks import

    def _included(self, outside: Around, own: dict[Any, Any], arguments: Any, at: Steps) -> Role | None:
        """The role that a task names; None, and noted as unknown, where it cannot be known. raises: AnsibleError"""
        plain = filled(name_of(arguments), self._now(outside).known)
        if plain is ABSENT:
            self.happened.fact(outside.origin(at, "include_role"), "which role is included is not known", None)
            return None
        asked = asked_of(plain, arguments, outside.document, at)
        role = self.roles.read(asked, outside.play.folder, outside.role)
        role.limits = [stem_of(arguments, key) for key in ("tasks_from", "vars_from", "defaults_from")]
        if own:  # they count as those of an entry, too, which replacing shows to handlers alone
            its = role.entry if self.roles.policy is MERGE else role.led
            its += outside.within(own, at, 15, "include_role").around[-1:]
        return role


_FAILED = frozenset(("ansible_failed_task", "ansible_failed_result"))
_FOLLOWED = {"import_tasks", "include_tasks", "import_role", "include_role"}


def name_of(arguments: Any) -> str:
    """The name of the role that import_role or include_role has among its arguments."""
    return str(arguments.get("name", arguments.get("role"))) if isinstance(arguments, dict) else str(arguments)


def stem_of(arguments: Any, key: str) -> str:
    """The name of a file of a role, without its suffix: `main`, unless the arguments say another one."""
    return str(arguments.get(key, "main")) if isinstance(arguments, dict) else "main"


def asked_of(name: str, arguments: Any, document: Document, at: Steps) -> Asked:
    """What the arguments of import_role or include_role ask for."""
    stems = stem_of(arguments, "vars_from"), stem_of(arguments, "defaults_from")
    more = arguments if isinstance(arguments, dict) else {}
    repeats = more.get("allow_duplicates") is not False
    return Asked(name, document, at, {}, *stems, is_public=more.get("public"), repeats=repeats)


def imported(play: Play, roles: Roles) -> Iterator[Role]:
    """The roles that tasks of a play import, in the order in which they join it: before the first task runs.

    raises: AnsibleError
    """
    outside = Around(play, play.document, play.folder)
    for key in ("pre_tasks", "post_tasks", "tasks"):
        yield from _imported_in(outside, play.entries(key), (*play.at, key), roles)


def _imported_in(outside: Around, entries: Any, at: Steps, roles: Roles) -> Iterator[Role]:
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or outside.depth > MOST_INCLUDES:
            continue
        for key in ("block", "rescue", "always"):
            yield from _imported_in(outside, entry.get(key), (*at, index, key), roles)
        module, arguments = module_of(entry)
        if module == "import_role":
            asked = asked_of(name_of(arguments), arguments, outside.document, (*at, index))
            yield from joining(roles.read(asked, outside.play.folder, outside.role), arguments, outside, roles)
        elif module == "import_tasks":
            yield from _imported_by_file(outside, arguments, roles)


def joining(role: Role, arguments: Any, outside: Around, roles: Roles) -> Iterator[Role]:
    """What joins the roles of a play with a role: what it and its dependencies import, then itself.

    raises: AnsibleError
    """
    for one in role.chain():
        yield from imported_by(one, outside, roles, stem_of(arguments, "tasks_from") if one is role else "main")
    yield role


def imported_by(role: Role, outside: Around, roles: Roles, stem: str = "main") -> Iterator[Role]:
    """The roles that a file of a role's tasks imports. raises: AnsibleError"""
    path = roles.file(role.path / "tasks", stem)
    if path is not None and path.is_file():
        yield from imported_from(replace(outside, role=role), path, roles)


def _imported_by_file(outside: Around, arguments: Any, roles: Roles) -> Iterator[Role]:
    name = str(arguments.get("file") if isinstance(arguments, dict) else arguments)
    folders = (outside.folder, *outside.sought("tasks"))
    path = next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
    if path is not None:
        yield from imported_from(outside, path, roles)


def imported_from(outside: Around, path: Path, roles: Roles) -> Iterator[Role]:
    """The roles that a file of tasks imports. raises: AnsibleError"""
    document = roles.files.document(path)
    if document is not None:
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from _imported_in(inside, document.tree, (), roles)

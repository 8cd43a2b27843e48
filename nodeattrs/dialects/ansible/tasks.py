"""Walk through the tasks of a playbook as one host reaches them, in order, each with its context.

Imports and includes are followed if their names are known. An include is followed once for each pass of its loop. No
task runs. `TaskEffects` notes what a task may have set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.contexts import (
    Task,
    TaskContext,
    context_of_play,
    first_found_of,
    give_parts_of_names,
    possible_names,
)
from nodeattrs.dialects.ansible.effects import FOLLOWED, SETTING, TaskEffects
from nodeattrs.dialects.ansible.faults import NO_FILE, WRONG_SHAPE, AnsibleError, error_at
from nodeattrs.dialects.ansible.files import VariableFiles, names_set_by
from nodeattrs.dialects.ansible.keywords import arguments_of, is_yes, module_of, never_runs, plain_name
from nodeattrs.dialects.ansible.levels import MERGE, title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.rendering import all_true, evaluate
from nodeattrs.dialects.ansible.roles import Role, RoleEntry, RoleReader, checked_variables
from nodeattrs.dialects.ansible.templates import GAP, names_in_templates
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin

_MOST_INCLUDES = 50
"""How deep files and roles may include each other."""
_MOST_PASSES = 30
"""The list of a longer loop of includes counts as unknown: each pass would walk through all tasks again."""
_PER_TASK = 100
"""Budget steps for each task: loops of includes multiply tasks."""
_FOUND = "with_first_found"
_ALONE = re.compile(r"\{\{ *\w+ *\}\}")
"""A template that is the name of a variable."""
_FAILED = frozenset(("ansible_failed_task", "ansible_failed_result"))
_FILES = ("tasks_from", "vars_from", "defaults_from", "handlers_from")
_FLAGS = ("public", "allow_duplicates")
_INCLUDES = frozenset(("include_tasks", "include_role"))
_IMPORTS = frozenset(("import_tasks", "import_role"))


class TaskWalk:
    """The tasks of all plays as one host reaches them, in order. The object keeps what these tasks have set so far.

    files, policy: for `TaskEffects`
    now:           called with the context of a task; returns the variables that the host has there
    set_by_groups: called with the name of a group; returns the variables that such groups may set. See `TaskEffects`
    effects:       what the tasks so far have set for the host; made by the constructor
    roles:         the reader of roles of the current play; set by `tasks_of_play`
    joined:        the roles of the current play whose variables all of its tasks see

    The constructor reads nothing. Call `tasks_of_play` once for each play, in order, and consume each result before the
    next call. A task depends on the effects of the tasks before it.
    """

    roles: RoleReader

    def __init__(
        self,
        files: VariableFiles,
        policy: Policy,
        now: Callable[[TaskContext], Variables],
        set_by_groups: Callable[[str], frozenset[str] | None],
    ) -> None:
        self.effects = TaskEffects(files, policy, set_by_groups)
        self.joined: list[Role] = []
        self._unit: list[tuple[TaskContext, Role]] = []
        self._entered = [self._unit]
        self._ran: list[Role] = []
        self._last: tuple[list[Path], int] = [], 0
        self._tried: list[Path] = []
        self._budget = Budget("the tasks of a playbook")
        self._variables_at = now

    def tasks_of_play(
        self, outside: TaskContext, roles: RoleReader, entries: list[Role], joined: list[Role]
    ) -> Iterator[Task]:
        """Yield the tasks of a play in the order in which they run, handlers last.

        All tasks are walked through before the first one is yielded, since handlers may set facts before any task.

        outside: the context of the play
        roles:   reads roles, with the names that the play can fill in
        entries: the roles that run under `roles`, dependencies before the roles that need them
        joined:  the roles under `roles` and all imported ones; the walk adds those that are included
        raises:  AnsibleError, for a file or a role that is broken or not there; TooMuch
        """
        self.roles, self.joined, self._unit, self._ran = roles, list(joined), [], []
        self._entered = [self._unit]
        play = outside.play
        if play.body.get("gather_facts", True) is not False:
            self.effects.note_gathered_facts(outside.origin(play.at, "play"))
        self.effects.note_fact_modules(play.folder / "library", play.folder / "action_plugins")
        self._note_module_defaults(outside, play.body, play.at)
        met = [*self._tasks_of_list(outside, play.entries("pre_tasks"), (*play.at, "pre_tasks"))]
        for role in entries:
            met += self._tasks_of_role(outside, role)
        for key in ("tasks", "post_tasks"):
            met += self._tasks_of_list(outside, play.entries(key), (*play.at, key))
        facts, included = len(self.effects.facts), len(self.effects.included)
        listed = [(outside, one) for role in joined[: len(play.entries("roles"))] for one in role.with_dependencies()]
        unsure = replace(outside, is_sure=False)
        handlers = [*self._tasks_of_list(unsure, play.entries("handlers"), (*play.at, "handlers"))]
        handlers += self._handlers_of_roles([*listed, *(one for unit in self._entered for one in unit)])
        late = tuple(self.effects.facts[facts:])  # a handler may run before any task
        also = tuple(self.effects.included[included:])
        for task in met:
            yield replace(task, facts=(*task.facts, *late), included=(*task.included, *also))
        yield from handlers

    def _handlers_of_roles(self, entered: list[tuple[TaskContext, Role]]) -> Iterator[Task]:
        """Yield the handlers of roles; of two with one name in one folder, the one of the role that was entered
        last.
        """
        found = [
            task
            for outside, role in entered
            for task in self._tasks_of_role_file(
                replace(outside, is_sure=False), role.for_handlers(), "handlers", role.handlers
            )
        ]
        yield from {(task.context.folder, task.name): task for task in found}.values()

    def _tasks_of_role(self, outside: TaskContext, role: Role) -> Iterator[Task]:
        """Yield the tasks of a role under `roles` or `dependencies`; of one that has run, only tasks that it
        imports.
        """
        if role.runs:
            inside = replace(outside, has_run=self._has_run(outside, role))
            for asked in role.entries():
                inside = inside.with_conditions_of(asked.body)
                self._note_module_defaults(replace(inside, document=asked.document), asked.body, asked.at)
            yield from self._tasks_of_role_file(inside, role)

    def _has_run(self, outside: TaskContext, role: Role) -> bool:
        """Whether the same use of a role has surely run and does not run again. Notes that it runs now."""
        found = any(role.same_as(one) for one in self._ran)
        if outside.runs and not found:
            self._ran.append(role)
        return found and not role.repeats

    def _tasks_of_role_file(
        self, outside: TaskContext, role: Role, kind: str = "tasks", stem: Any = "main"
    ) -> Iterator[Task]:
        """Yield the tasks of a file of a role. kind: its folder; stem: its name, ABSENT where it is not known"""
        self.effects.note_fact_modules(role.path / "library", role.path / "action_plugins")
        if stem is ABSENT:
            self._note_unknown_tasks(outside, {"file": f"the role {role.name}"}, (), kind)
            return
        path = self.roles.find_file(role.path / kind, stem)
        if path is not None and path.is_file():
            yield from self._tasks_of_file(replace(outside, role=role, collections=()), path)

    def _tasks_of_file(self, outside: TaskContext, path: Path) -> Iterator[Task]:
        """Yield the tasks of a file; none for an encrypted file, which is noted. raises: AnsibleError"""
        document = self.roles.files.document(path)
        if document is None:
            origin = Origin("tasks", "", self.roles.files.shown(path), 1)
            self.effects.note_possible_facts(origin, "these tasks are encrypted, and may set any variable", None)
        if document is None or document.tree is None:
            return
        if not isinstance(document.tree, list) or outside.depth > _MOST_INCLUDES:
            message = "a file of tasks is a list" if outside.depth <= _MOST_INCLUDES else "includes itself"
            raise AnsibleError(WRONG_SHAPE, message, file=document.file, line=1)
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from self._tasks_of_list(inside, document.tree, ())

    def _tasks_of_list(self, outside: TaskContext, entries: Any, at: Steps) -> Iterator[Task]:
        """Yield the tasks of a list. at: its path in the file; raises: AnsibleError, for an entry that is not a map"""
        for index, entry in enumerate(entries):
            here = (*at, index)
            if not isinstance(entry, dict):
                raise error_at(outside.document, here, WRONG_SHAPE, "a task is a map")
            if not never_runs(entry):
                yield from self._tasks_of_entry(outside, entry, here)
            if module_of(entry) == ("meta", "end_role"):
                outside = replace(outside, is_sure=False)

    def _tasks_of_entry(self, outside: TaskContext, body: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """Yield the task of an entry, or the tasks of its block, import or include; notes their effects."""
        self._budget.steps(_PER_TASK)
        own = checked_variables(body, outside.document, at)
        inside = outside.with_conditions_of(body)
        self._note_module_defaults(inside, body, at)
        if "block" in body:
            yield from self._tasks_of_block(inside.with_variables(own, at, 16, "block"), body, at)
            return
        module, arguments = module_of(body)
        if (outside.has_run or inside.is_never) and module not in _IMPORTS:
            return
        if module in _INCLUDES:
            yield from self._tasks_of_include(inside, outside, own, module, body, at)
            return
        if module in _IMPORTS:
            yield from getattr(self, f"_{module}")(inside, own, arguments_of(body, arguments), at)
            return
        name = str(body.get("name") or module)
        inside = inside.with_variables(own, at, 17, "task", name)
        yield self.effects.task_met(name, body, at, inside, self.joined)
        for one in self._contexts_of_passes(inside, body, at) if module in FOLLOWED else ():
            self.effects.note_setting(one, body, module, arguments_of(body, arguments), at, self._variables_at(one))
        self.effects.note_module(inside, body, module, at)

    def _note_module_defaults(self, inside: TaskContext, body: dict[Any, Any], at: Steps) -> None:
        """Note `module_defaults` for set_fact or include_vars: any variable may then be set."""
        given = body.get("module_defaults") or {}
        if any(plain_name(str(key)) in SETTING for key in given):
            origin = inside.origin((*at, "module_defaults"), "module_defaults")
            self.effects.note_possible_facts(origin, "defaults of modules that set variables are not followed", None)

    def _tasks_of_block(self, inside: TaskContext, body: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """Yield the tasks of a block, of its `rescue` and of its `always`."""
        is_rescued = bool(body.get("rescue"))
        for key in ("block", "rescue", "always"):
            if key == "rescue" and is_rescued:
                origin = inside.origin((*at, key), "rescue")
                self.effects.note_possible_facts(origin, "it is set when the block has failed", _FAILED)
            is_sure = inside.is_sure and (key == "always" or not is_rescued)
            around = replace(inside, is_sure=is_sure, is_rescue=inside.is_rescue or key == "rescue")
            yield from self._tasks_of_list(around, body.get(key) or [], (*at, key))

    # --- loops

    def _contexts_of_passes(self, where: TaskContext, body: dict[Any, Any], at: Steps) -> list[TaskContext]:
        """The context of a task in each pass of its loop; without a loop its own.

        Where the list is not known, one context in which the loop's variables are unknown.
        """
        key = next((key for key in body if key == "loop" or str(key).startswith("with_")), None)
        if key is None:
            return [where]
        control = body.get("loop_control")
        control = control if isinstance(control, dict) else {}
        name, index = str(control.get("loop_var", "item")), control.get("index_var")
        items = None if control.get("extended") else self._loop_items(where, key, body)
        origin = where.origin((*at, key), str(key))
        if items is None:
            may_set = UnknownLayerOrigin(origin, frozenset((name, str(index), "ansible_loop", "ansible_loop_var")))
            layer = Layer.unknown(title(21), may_set, "the list of this loop is not known")
            return [replace(where, include_variables=(*where.include_variables, layer), is_sure=False)]
        found = []
        for number, item in enumerate(items):
            values = {name: item, "ansible_loop_var": name}
            values |= {} if index is None else {str(index): number, "ansible_index_var": index}
            found.append(replace(where, include_variables=(*where.include_variables, Layer(values, origin, title(21)))))
        return found

    def _loop_items(self, where: TaskContext, key: str, body: dict[Any, Any]) -> list[Any] | None:
        """The items of a loop; None where the list is not known."""
        kind = "vars" if module_of(body)[0] == "include_vars" else "files"
        found = evaluate(body[key], self._variables_at(where), where.lookups())
        if key == _FOUND and found is not ABSENT:
            try:
                return first_found_of([found], where.search_folders(kind), {})
            except LookupError:
                return None
        if not isinstance(found, list) or key not in ("loop", "with_list", "with_items"):
            return None
        if len(found) > _MOST_PASSES and module_of(body)[0] in _INCLUDES:
            return None
        is_flat = key != "with_items"
        return [one for entry in found for one in (entry if isinstance(entry, list) and not is_flat else [entry])]

    # --- what is followed

    def _tasks_of_include(
        self,
        inside: TaskContext,
        outside: TaskContext,
        own: dict[Any, Any],
        module: str,
        body: dict[Any, Any],
        at: Steps,
    ) -> Iterator[Task]:
        """Yield the tasks of an include, for each pass of its loop.

        Files of all passes are found before the first task.
        """
        given = arguments_of(body, module_of(body)[1])
        apply = given.get("apply", {})
        if not isinstance(apply, dict):
            raise error_at(inside.document, at, WRONG_SHAPE, "apply is a map of keywords")
        given |= {_FOUND: body[_FOUND]} if _FOUND in body else {}
        self.effects.note_module(inside, body, module, at)
        passes: list[Iterator[Task]] = []
        for one in self._contexts_of_passes(inside, body, at):
            runs = all_true(one.conditions, self._variables_at(one.with_variables(own, at, 17, module)), one.lookups())
            if runs is not False and not never_runs(apply):
                sure = one.is_sure and bool(runs)
                around = replace(one, conditions=outside.conditions, tags=outside.tags, is_sure=sure)
                passes.append(getattr(self, f"_{module}")(around, own, dict(given), at))
        for tasks in passes:
            yield from tasks

    def _import_tasks(
        self, outside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps
    ) -> Iterator[Task]:
        inside = outside.with_variables(own, at, 17, "import_tasks")
        path = self._file_of_tasks(inside, given)
        if path is not ABSENT and path is not None:
            yield from self._tasks_of_file(inside, path)
        elif path is None:
            raise error_at(inside.document, at, NO_FILE, f"no file {task_file_of(given)}")
        else:
            self._note_unknown_tasks(inside, given, at, "import_tasks")

    def _include_tasks(
        self, outside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps
    ) -> Iterator[Task]:
        inside = self._with_own_variables(outside, own, at, "include_tasks")
        path = self._file_of_tasks(inside, given)
        if path is ABSENT:
            return self._tasks_of_possible_files(inside, given, at)
        if path is None:
            self._note_unknown_tasks(inside, given, at, "include_tasks")
            return iter(())
        self._join_roles(inside, _roles_imported_by_file(inside, path, self.roles), at)
        return self._as_one_unit(self._tasks_of_file(self._with_apply(inside, given, at), path))

    def _file_of_tasks(self, inside: TaskContext, given: dict[Any, Any]) -> Any:
        """The file of tasks that a task names; None where it is not there, ABSENT where its name is not known."""
        plain = inside.evaluated_text(task_file_of(given), self._variables_at(inside))
        if plain is ABSENT:
            return ABSENT
        return inside.file_of_tasks(plain)

    def _join_roles(self, inside: TaskContext, roles: Iterable[Role], at: Steps) -> None:
        """Let roles join the play. If their task may not run, their variables may be set for all tasks."""
        found = [*roles]
        self.joined += found
        plans = [plan for one in found if one.is_public for plan in (*one.all_defaults(), *one.all_vars())]
        if plans and not inside.is_sure:
            names = names_set_by(Fold((Layer({}), *plans), self.roles.policy).layers())
            self.effects.note_possible_facts(inside.origin(at, "include"), "a role that sets it may be included", names)

    def _tasks_of_possible_files(self, inside: TaskContext, given: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """Yield the tasks of all files that a name with templates may mean; none of them surely runs."""
        text = self._template_behind(inside, task_file_of(given))
        files = given[_FOUND] if _FOUND in given and _ALONE.fullmatch(text) else text
        names = possible_names(files)
        try:
            is_open = "{{" in str(files) and not give_parts_of_names(files, self._variables_at(inside))
            if names is None or is_open or any(GAP in one.split("/") for one in names):
                raise AnsibleError(NO_FILE, "it may be any file")
            folders = dict.fromkeys((inside.folder, *inside.search_folders("tasks")))
            spelled = (
                path for one in names for folder in folders for path in self.roles.files.paths_matching(folder, one)
            )
            own = self.roles.files.folder / inside.document.file  # including it again would never end
            paths = [path for path in dict.fromkeys(spelled) if path.is_file() and path not in (own, *self._tried)]
            if self._last == (paths, self.effects.layer_count()):  # this pass of a loop can set nothing new
                return
            unsure = replace(self._with_apply(inside, given, at), is_sure=False)
            for path in paths:
                self._tried.append(path)
                self._join_roles(unsure, _roles_imported_by_file(unsure, path, self.roles), at)
                yield from self._as_one_unit(self._tasks_of_file(unsure, path))
                self._tried.remove(path)
            self._last = paths, self.effects.layer_count()
        except AnsibleError:
            self._note_unknown_tasks(inside, given, at, "include_tasks")

    def _template_behind(self, inside: TaskContext, text: str) -> str:
        """The text of a variable, if a template is its name alone and its value is known; else the template."""
        names = names_in_templates(text) if _ALONE.fullmatch(text) else []
        value = self._variables_at(inside).known(names[0]) if len(names) == 1 else None
        return value if isinstance(value, str) else text

    def _note_unknown_tasks(self, inside: TaskContext, given: dict[Any, Any], at: Steps, kind: str) -> None:
        reason = f"which tasks {task_file_of(given)} brings is not known"
        self.effects.note_possible_facts(inside.origin(at, kind), reason, None)

    def _with_own_variables(self, outside: TaskContext, own: dict[Any, Any], at: Steps, kind: str) -> TaskContext:
        """The context with the `vars` of an include; under `merge` they also replace variables of blocks around it."""
        inside = outside.with_include_variables(own, at, kind)
        return inside.with_variables(own, at, 17, kind) if self.roles.policy is MERGE else inside

    def _with_apply(self, inside: TaskContext, given: dict[Any, Any], at: Steps) -> TaskContext:
        """The context with the keywords under `apply` of an include, as if a block with them were around its tasks."""
        apply = given.get("apply") or {}
        arguments = dig(inside.document.tree, at).items()
        key = next((key for key, one in arguments if isinstance(one, dict) and "apply" in one), "args")
        under = (*at, key, "apply")
        own = checked_variables(apply, inside.document, under)
        self._note_module_defaults(inside, apply, under)
        now = self._variables_at(inside)
        filled = {name: evaluate(value, now, inside.lookups()) for name, value in own.items()}
        settled = {name: value for name, value in filled.items() if value is not ABSENT}
        applied = inside.with_variables(settled, under, 16, "apply")
        if len(settled) < len(own):
            may_set = UnknownLayerOrigin(
                inside.origin((*under, "vars"), "apply"), frozenset(own.keys() - settled.keys())
            )
            layer = Layer.unknown(title(16), may_set, "a template in apply cannot be filled in")
            applied = replace(
                applied, outer_variables=(*applied.outer_variables, layer), is_sure=False
            )  # or the include fails
        return applied.with_conditions_of(apply)

    def _import_role(
        self, outside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps
    ) -> Iterator[Task]:
        inside = outside.with_variables(own, at, 17, "import_role")
        role = self._named_role(inside, own, given, at)
        if role is not None:
            yield from self._tasks_of_named_role(inside.with_params_of(outside.role), role, given)

    def _include_role(
        self, outside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps
    ) -> Iterator[Task]:
        role = self._named_role(outside.with_variables(own, at, 17, "include_role"), own, given, at)
        if role is None:
            return iter(())
        inside = self._with_apply(self._with_own_variables(outside, own, at, "include_role"), given, at)
        role.is_public = given.get("public") is True
        if given.get("public") is ABSENT:
            self.effects.note_possible_facts(
                inside.origin(at, "include_role"), "whether its role is public is not known", None
            )
        self._join_roles(outside, _roles_joining_with(role, given, outside, self.roles), at)
        return self._as_one_unit(self._tasks_of_named_role(inside.with_params_of(outside.role), role, given))

    def _as_one_unit(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """Yield the tasks of an include; handlers of roles that they import come after all handlers so far."""
        outer, self._unit = self._unit, []
        self._entered.append(self._unit)
        yield from tasks
        self._unit = outer

    def _tasks_of_named_role(self, inside: TaskContext, role: Role, given: dict[Any, Any]) -> Iterator[Task]:
        """Yield the tasks of a role that a task names, after the tasks of its dependencies."""
        outside, inside = inside.for_handlers(), inside.entering_role(has_run=self._has_run(inside, role))
        for need in role.dependencies:
            for one in need.with_dependencies():
                yield from self._tasks_of_role(replace(inside, has_run=False), one)
        stem = given.get("tasks_from", "main")
        if stem not in ("main", ABSENT) and self.roles.find_file(role.path / "tasks", stem) is None:
            raise AnsibleError(NO_FILE, f"the role {role.name} has no tasks/{stem}", file=inside.document.file)
        yield from self._tasks_of_role_file(inside, role, "tasks", stem)
        self._unit += [(outside, one) for one in role.with_dependencies()]  # after the roles that their tasks import

    def _named_role(self, inside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps) -> Role | None:
        """The role that a task names; None, and noted, where its name is not known. raises: AnsibleError

        Changes *given*: names of files and flags are evaluated; ABSENT where one is not known.
        """
        given |= {
            key: inside.evaluated_text(given[key], self._variables_at(inside))
            for key in (*_FILES, *_FLAGS)
            if key in given
        }
        given |= {key: is_yes(given[key]) for key in _FLAGS if given.get(key, ABSENT) is not ABSENT}
        plain = inside.evaluated_text(role_name_of(given), self._variables_at(inside))
        if plain is ABSENT:
            self.effects.note_possible_facts(
                inside.origin(at, "include_role"), "which role is included is not known", None
            )
            return None
        role = self.roles.read(_role_entry_of_task(plain, given, inside, at), inside.play.folder, inside.role)
        role.limits = [given.get(key, "main") for key in _FILES]
        role.handlers = role.limits[-1]
        if own:  # they also count like `vars` of an entry; under REPLACE only handlers see that
            its = role.entry if self.roles.policy is MERGE else role.include_variables
            its += inside.with_variables(own, at, 15, "include_role").outer_variables[-1:]
        return role


def task_file_of(given: dict[Any, Any]) -> str:
    """The file in the arguments of import_tasks or include_tasks, as it is written; "None" where they name none."""
    return str(given.get("file", given.get("_raw_params")))


def role_name_of(given: dict[Any, Any]) -> str:
    """The role in the arguments of import_role or include_role, as it is written; "None" where they name none."""
    return str(given.get("name", given.get("role")))


def _role_entry_of_task(name: str, given: dict[Any, Any], inside: TaskContext, at: Steps) -> RoleEntry:
    """The `RoleEntry` for the arguments of import_role or include_role. name: of the role, evaluated"""
    stems = given.get("vars_from", "main"), given.get("defaults_from", "main")
    repeats = given.get("allow_duplicates") is not False
    asked = RoleEntry(name, inside.document, at, {}, *stems, is_public=given.get("public"), repeats=repeats)
    return replace(asked, collections=inside.collections)


def roles_imported_by_play(play: Play, roles: RoleReader) -> Iterator[Role]:
    """Yield the roles that tasks of a play import, in the order in which they join the play before its first task.

    Names are filled in without the variables of a host. raises: AnsibleError
    """
    outside = context_of_play(play)
    for key in ("pre_tasks", "post_tasks", "tasks"):
        yield from _imported_in(outside, play.entries(key), (*play.at, key), roles)


def _imported_in(outside: TaskContext, entries: Any, at: Steps, roles: RoleReader) -> Iterator[Role]:
    """Yield the roles that the tasks of a list import; none if *entries* is not a list. raises: AnsibleError"""
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or outside.depth > _MOST_INCLUDES:
            continue
        for key in ("block", "rescue", "always"):
            yield from _imported_in(outside.with_conditions_of(entry), entry.get(key), (*at, index, key), roles)
        module, arguments = module_of(entry)
        if module in _IMPORTS:
            own = checked_variables(entry, outside.document, (*at, index))
            given = arguments_of(entry, arguments)
            texts = ("name", "role", *_FILES, *_FLAGS)
            given |= {key: roles.fill(str(given[key]), own) for key in texts if key in given}
            given |= {key: is_yes(given[key]) for key in _FLAGS if key in given}
        if module == "import_role":
            asked = _role_entry_of_task(role_name_of(given), given, outside.with_conditions_of(entry), (*at, index))
            yield from _roles_joining_with(roles.read(asked, outside.play.folder, outside.role), given, outside, roles)
        elif module == "import_tasks":
            path = outside.file_of_tasks(task_file_of(given))
            if path is not None:
                yield from _roles_imported_by_file(outside, path, roles)


def _roles_joining_with(role: Role, given: dict[Any, Any], outside: TaskContext, roles: RoleReader) -> Iterator[Role]:
    """Yield the roles that join a play with a role: those that it and its dependencies import, then itself.

    given:  the arguments of the task that names the role
    raises: AnsibleError
    """
    for one in role.with_dependencies():
        yield from roles_imported_by_role(
            one, outside, roles, given.get("tasks_from", "main") if one is role else "main"
        )
    yield role


def roles_imported_by_role(role: Role, outside: TaskContext, roles: RoleReader, stem: Any = "main") -> Iterator[Role]:
    """Yield the roles that a role's file of tasks imports; none without that file.

    stem:   name of the file; ABSENT where it is not known
    raises: AnsibleError
    """
    path = None if stem is ABSENT else roles.find_file(role.path / "tasks", stem)
    if path is not None and path.is_file():
        yield from _roles_imported_by_file(replace(outside, role=role, collections=()), path, roles)


def _roles_imported_by_file(outside: TaskContext, path: Path, roles: RoleReader) -> Iterator[Role]:
    """Yield the roles that a file of tasks imports; none for an encrypted file. raises: AnsibleError"""
    document = roles.files.document(path)
    if document is not None:
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from _imported_in(inside, document.tree, (), roles)

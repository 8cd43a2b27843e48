"""The tasks of a playbook as one host meets them: in order, each with what surrounds it.

Imports and includes whose names can be known are followed, an include once for each pass of its loop. Nothing is run.
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
from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.codes import NO_FILE, WRONG_SHAPE
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.files import names_set_by
from nodeattrs.dialects.ansible.happenings import FOLLOWED, SETTING, TaskEffects
from nodeattrs.dialects.ansible.levels import MERGE, title
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.rendering import all_true, evaluate
from nodeattrs.dialects.ansible.roles import Role, RoleEntry, Roles, checked_variables
from nodeattrs.dialects.ansible.templates import GAP, names_in_templates
from nodeattrs.dialects.ansible.values import MaySet
from nodeattrs.dialects.ansible.where import Task, TaskContext, context_of_play, give_parts_of_names, possible_names
from nodeattrs.dialects.ansible.words import arguments_of, is_yes, module_of, never_runs, plain_name

MOST_INCLUDES = 50
"""Files and roles may include each other so deep."""
_MOST_PASSES = 30
"""Of a longer loop of includes the list counts as not known: each pass would look at all tasks again."""
_PER_TASK = 100
"""How many steps of the limit a task takes: loops of includes multiply tasks."""
_FOUND = "with_first_found"
_ALONE = re.compile(r"\{\{ *\w+ *\}\}")
"""A template that is the name of a variable."""
_FAILED = frozenset(("ansible_failed_task", "ansible_failed_result"))
_FILES = ("tasks_from", "vars_from", "defaults_from", "handlers_from")
_FLAGS = ("public", "allow_duplicates")
_INCLUDES = frozenset(("include_tasks", "include_role"))
_IMPORTS = frozenset(("import_tasks", "import_role"))


class TaskWalk:
    """One host's way through the tasks of all plays.

    now:     given a task's surroundings, what the host has there
    joined:  the roles that are in the play so far
    """

    def __init__(
        self,
        roles: Roles,
        now: Callable[[TaskContext], Variables],
        set_by_groups: Callable[[str], frozenset[str] | None],
    ) -> None:
        self.roles = roles
        self.happened = TaskEffects(roles.files, roles.policy, set_by_groups)
        self.joined: list[Role] = []
        self._unit: list[tuple[TaskContext, Role]] = []
        self._entered = [self._unit]
        self._ran: list[Role] = []
        self._last: tuple[list[Path], int] = [], 0
        self._tried: list[Path] = []
        self._budget = Budget("the tasks of a playbook")
        self._variables_at = now

    def tasks_of_play(
        self, outside: TaskContext, roles: Roles, entries: list[Role], joined: list[Role]
    ) -> Iterator[Task]:
        """The tasks of a play in the order in which they run.

        outside: what surrounds them
        roles:   reads roles, with the names that the play can fill in
        entries: the roles under `roles`, dependencies before those that need them; each runs once
        joined:  those and what is imported
        raises:  AnsibleError
        """
        self.roles, self.joined, self._unit, self._ran = roles, list(joined), [], []
        self._entered = [self._unit]
        play = outside.play
        if play.body.get("gather_facts", True) is not False:
            self.happened.note_gathered_facts(outside.origin(play.at, "play"))
        self.happened.note_fact_modules(play.folder / "library", play.folder / "action_plugins")
        self._note_module_defaults(outside, play.body, play.at)
        met = [*self._tasks_of_sections(outside, play, entries)]
        facts, included = len(self.happened.facts), len(self.happened.included)
        listed = [(outside, one) for role in joined[: len(play.entries("roles"))] for one in role.with_needs()]
        unsure = replace(outside, is_sure=False)
        handlers = [*self._tasks_of_list(unsure, play.entries("handlers"), (*play.at, "handlers"))]
        handlers += self._handlers_of_roles([*listed, *(one for unit in self._entered for one in unit)])
        late = tuple(self.happened.facts[facts:])  # a handler may run before any task
        also = tuple(self.happened.included[included:])
        for task in met:
            yield replace(task, facts=(*task.facts, *late), included=(*task.included, *also))
        yield from handlers

    def _tasks_of_sections(self, outside: TaskContext, play: Play, entries: list[Role]) -> Iterator[Task]:
        """The tasks of `pre_tasks`, of roles, of `tasks` and `post_tasks`."""
        yield from self._tasks_of_list(outside, play.entries("pre_tasks"), (*play.at, "pre_tasks"))
        for role in entries:
            yield from self._tasks_of_role(outside, role)
        for key in ("tasks", "post_tasks"):
            yield from self._tasks_of_list(outside, play.entries(key), (*play.at, key))

    def _handlers_of_roles(self, entered: list[tuple[TaskContext, Role]]) -> Iterator[Task]:
        """The handlers of roles, each where its role was entered last."""
        found = [
            task
            for outside, role in entered
            for task in self._tasks_of_role_file(
                replace(outside, is_sure=False), role.for_handlers(), "handlers", role.handlers
            )
        ]
        yield from {(task.context.folder, task.name): task for task in found}.values()

    def _tasks_of_role(self, outside: TaskContext, role: Role) -> Iterator[Task]:
        """The tasks of a role that an entry or a dependency names: once in a play, but for roles that they import."""
        if role.runs:
            inside = replace(outside, has_run=self._has_run(outside, role))
            for asked in role.entries():
                inside = inside.with_conditions_of(asked.body)
                self._note_module_defaults(replace(inside, document=asked.document), asked.body, asked.at)
            yield from self._tasks_of_role_file(inside, role)

    def _has_run(self, outside: TaskContext, role: Role) -> bool:
        """Whether an instance of a role has surely run, and does not again; it is noted that it runs."""
        found = any(role.same_as(one) for one in self._ran)
        if outside.runs and not found:
            self._ran.append(role)
        return found and not role.repeats

    def _tasks_of_role_file(
        self, outside: TaskContext, role: Role, kind: str = "tasks", stem: Any = "main"
    ) -> Iterator[Task]:
        """The tasks of a file of a role. kind: its folder; stem: its name, ABSENT where that is not known"""
        self.happened.note_fact_modules(role.path / "library", role.path / "action_plugins")
        if stem is ABSENT:
            self._note_unknown_tasks(outside, {"file": f"the role {role.name}"}, (), kind)
            return
        path = self.roles.file(role.path / kind, stem)
        if path is not None and path.is_file():
            yield from self._tasks_of_file(replace(outside, role=role, collections=()), path)

    def _tasks_of_file(self, outside: TaskContext, path: Path) -> Iterator[Task]:
        """The tasks of a file; none of an encrypted one, which is noted. raises: AnsibleError"""
        document = self.roles.files.document(path)
        if document is None:
            origin = Origin("tasks", "", self.roles.files.shown(path), 1)
            self.happened.note_possible_facts(origin, "these tasks are encrypted, and may set any variable", None)
        if document is None or document.tree is None:
            return
        if not isinstance(document.tree, list) or outside.depth > MOST_INCLUDES:
            message = "a file of tasks is a list" if outside.depth <= MOST_INCLUDES else "includes itself"
            raise AnsibleError(WRONG_SHAPE, message, file=document.file, line=1)
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from self._tasks_of_list(inside, document.tree, ())

    def _tasks_of_list(self, outside: TaskContext, entries: Any, at: Steps) -> Iterator[Task]:
        """The tasks of a list at a path of the file. raises: AnsibleError, for an entry that is not a map"""
        for index, entry in enumerate(entries):
            here = (*at, index)
            if not isinstance(entry, dict):
                line = outside.document.place(here)[0]
                raise AnsibleError(WRONG_SHAPE, "a task is a map", file=outside.document.file, line=line)
            if not never_runs(entry):
                yield from self._tasks_of_entry(outside, entry, here)
            if module_of(entry) == ("meta", "end_role"):
                outside = replace(outside, is_sure=False)

    def _tasks_of_entry(self, outside: TaskContext, body: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """The tasks of an entry: itself, or what its block, import or include brings. Effects are noted."""
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
        yield self.happened.task_met(name, body, at, inside, self.joined)
        for one in self._contexts_of_passes(inside, body, at) if module in FOLLOWED else ():
            self.happened.note_setting(one, body, module, arguments_of(body, arguments), at, self._variables_at(one))
        self.happened.note_module(inside, body, module, at)

    def _note_module_defaults(self, inside: TaskContext, body: dict[Any, Any], at: Steps) -> None:
        """Note that `module_defaults` of a play, block or task may change what set_fact and include_vars set."""
        given = body.get("module_defaults") or {}
        if any(plain_name(str(key)) in SETTING for key in given):
            origin = inside.origin((*at, "module_defaults"), "module_defaults")
            self.happened.note_possible_facts(origin, "defaults of modules that set variables are not followed", None)

    def _tasks_of_block(self, inside: TaskContext, body: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """The tasks of a block, of its `rescue` and of its `always`."""
        is_rescued = bool(body.get("rescue"))
        for key in ("block", "rescue", "always"):
            if key == "rescue" and is_rescued:
                origin = inside.origin((*at, key), "rescue")
                self.happened.note_possible_facts(origin, "it is set when the block has failed", _FAILED)
            is_sure = inside.is_sure and (key == "always" or not is_rescued)
            around = replace(inside, is_sure=is_sure, is_rescue=inside.is_rescue or key == "rescue")
            yield from self._tasks_of_list(around, body.get(key) or [], (*at, key))

    # --- loops

    def _contexts_of_passes(self, where: TaskContext, body: dict[Any, Any], at: Steps) -> list[TaskContext]:
        """The context in each pass of a task's loop; one with an unknown item if the list is not known."""
        key = next((key for key in body if key == "loop" or str(key).startswith("with_")), None)
        if key is None:
            return [where]
        control = body.get("loop_control")
        control = control if isinstance(control, dict) else {}
        name, index = str(control.get("loop_var", "item")), control.get("index_var")
        items = None if control.get("extended") else self._loop_items(where, key, body)
        origin = where.origin((*at, key), str(key))
        if items is None:
            may_set = MaySet(origin, frozenset((name, str(index), "ansible_loop", "ansible_loop_var")))
            layer = Layer.unknown(title(21), may_set, "the list of this loop is not known")
            return [replace(where, include_variables=(*where.include_variables, layer), is_sure=False)]
        found = []
        for number, item in enumerate(items):
            values = {name: item, "ansible_loop_var": name}
            values |= {} if index is None else {str(index): number, "ansible_index_var": index}
            found.append(replace(where, include_variables=(*where.include_variables, Layer(values, origin, title(21)))))
        return found

    def _loop_items(self, where: TaskContext, key: str, body: dict[Any, Any]) -> list[Any] | None:
        """The list of a loop; None where it is not known."""
        kind = "vars" if module_of(body)[0] == "include_vars" else "files"
        found = evaluate(body[key], self._variables_at(where), where.lookups())
        if key == _FOUND and found is not ABSENT:
            try:
                return [where.first_found([found], kind)]
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
        """The tasks of an include, for each pass of its loop; what each includes is known before the first task."""
        given = arguments_of(body, module_of(body)[1])
        apply = given.get("apply", {})
        if not isinstance(apply, dict):
            origin = inside.origin(at, module)
            raise AnsibleError(WRONG_SHAPE, "apply is a map of keywords", file=origin.file, line=origin.line)
        given |= {_FOUND: body[_FOUND]} if _FOUND in body else {}
        self.happened.note_module(inside, body, module, at)
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
            origin = inside.origin(at, "import_tasks")
            raise AnsibleError(NO_FILE, f"no file {task_file_of(given)}", file=origin.file, line=origin.line)
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
        self._join_roles(inside, roles_imported_by_file(inside, path, self.roles), at)
        return self._as_one_unit(self._tasks_of_file(self._with_apply(inside, given, at), path))

    def _file_of_tasks(self, inside: TaskContext, given: dict[Any, Any]) -> Any:
        """The file of tasks that a task names; None where it is not there, ABSENT where it cannot be known."""
        plain = inside.evaluated_text(task_file_of(given), self._variables_at(inside))
        if plain is ABSENT:
            return ABSENT
        return inside.file_of_tasks(plain)

    def _join_roles(self, inside: TaskContext, roles: Iterable[Role], at: Steps) -> None:
        """Let roles join the play; where their task may not run, what they set for all tasks is not known."""
        found = [*roles]
        self.joined += found
        plans = [plan for one in found if one.is_public for plan in (*one.all_defaults(), *one.all_vars())]
        if plans and not inside.is_sure:
            names = names_set_by(Fold((Layer({}), *plans), self.roles.policy).layers())
            self.happened.note_possible_facts(
                inside.origin(at, "include"), "a role that sets it may be included", names
            )

    def _tasks_of_possible_files(self, inside: TaskContext, given: dict[Any, Any], at: Steps) -> Iterator[Task]:
        """The tasks of all files that a name with templates may give; none of them surely runs."""
        text = self._template_behind(inside, task_file_of(given))
        files = given[_FOUND] if _FOUND in given and _ALONE.fullmatch(text) else text
        names = possible_names(files)
        try:
            is_open = "{{" in str(files) and not give_parts_of_names(files, self._variables_at(inside))
            if names is None or is_open or any(GAP in one.split("/") for one in names):
                raise AnsibleError(NO_FILE, "it may be any file")
            folders = dict.fromkeys((inside.folder, *inside.search_folders("tasks")))
            spelled = (
                path for one in names for folder in folders for path in self.roles.files.paths_spelled(folder, one)
            )
            own = self.roles.files.folder / inside.document.file  # to include it again would never end
            paths = [path for path in dict.fromkeys(spelled) if path.is_file() and path not in (own, *self._tried)]
            if self._last == (paths, self.happened.layer_count()):  # a pass of a loop that can set nothing else
                return
            unsure = replace(self._with_apply(inside, given, at), is_sure=False)
            for path in paths:
                self._tried.append(path)
                self._join_roles(unsure, roles_imported_by_file(unsure, path, self.roles), at)
                yield from self._as_one_unit(self._tasks_of_file(unsure, path))
                self._tried.remove(path)
            self._last = paths, self.happened.layer_count()
        except AnsibleError:
            self._note_unknown_tasks(inside, given, at, "include_tasks")

    def _template_behind(self, inside: TaskContext, text: str) -> str:
        """The text that a variable has where a template is its name alone and its value is known; else the template."""
        names = names_in_templates(text)
        value = self._variables_at(inside).vars.get(names[0]) if len(names) == 1 and _ALONE.fullmatch(text) else None
        is_open = value is None or self._variables_at(inside).trace((names[0],)).unknown
        return text if is_open or not isinstance(value, str) else value

    def _note_unknown_tasks(self, inside: TaskContext, given: dict[Any, Any], at: Steps, kind: str) -> None:
        reason = f"which tasks {task_file_of(given)} brings is not known"
        self.happened.note_possible_facts(inside.origin(at, kind), reason, None)

    def _with_own_variables(self, outside: TaskContext, own: dict[Any, Any], at: Steps, kind: str) -> TaskContext:
        """The context with an include's own `vars`; under `merge` they replace variables of blocks around it, too."""
        inside = outside.with_include_variables(own, at, kind)
        return inside.with_variables(own, at, 17, kind) if self.roles.policy is MERGE else inside

    def _with_apply(self, inside: TaskContext, given: dict[Any, Any], at: Steps) -> TaskContext:
        """The context with the keywords of an include's `apply`, as of a block around its tasks."""
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
            may_set = MaySet(inside.origin((*under, "vars"), "apply"), frozenset(own.keys() - settled.keys()))
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
            self.happened.note_possible_facts(
                inside.origin(at, "include_role"), "whether its role is public is not known", None
            )
        self._join_roles(outside, roles_joining_with(role, given, outside, self.roles), at)
        return self._as_one_unit(self._tasks_of_named_role(inside.with_params_of(outside.role), role, given))

    def _as_one_unit(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """The tasks of an include. Handlers of roles that they import come after all handlers so far."""
        outer, self._unit = self._unit, []
        self._entered.append(self._unit)
        yield from tasks
        self._unit = outer

    def _tasks_of_named_role(self, inside: TaskContext, role: Role, given: dict[Any, Any]) -> Iterator[Task]:
        """The tasks of a role that import_role or include_role names; tasks of its dependencies come first."""
        outside, inside = inside.for_handlers(), inside.entering_role(has_run=self._has_run(inside, role))
        for need in role.needs:
            for one in need.with_needs():
                yield from self._tasks_of_role(replace(inside, has_run=False), one)
        stem = given.get("tasks_from", "main")
        if stem not in ("main", ABSENT) and self.roles.file(role.path / "tasks", stem) is None:
            raise AnsibleError(NO_FILE, f"the role {role.name} has no tasks/{stem}", file=inside.document.file)
        yield from self._tasks_of_role_file(inside, role, "tasks", stem)
        self._unit += [(outside, one) for one in role.with_needs()]  # after what their tasks import

    def _named_role(self, inside: TaskContext, own: dict[Any, Any], given: dict[Any, Any], at: Steps) -> Role | None:
        """The role that a task names; None, and noted as unknown, where it cannot be known. raises: AnsibleError

        The names of its files become what they are; ABSENT where one cannot be known.
        """
        given |= {
            key: inside.evaluated_text(given[key], self._variables_at(inside))
            for key in (*_FILES, *_FLAGS)
            if key in given
        }
        given |= {key: is_yes(given[key]) for key in _FLAGS if given.get(key, ABSENT) is not ABSENT}
        plain = inside.evaluated_text(role_name_of(given), self._variables_at(inside))
        if plain is ABSENT:
            self.happened.note_possible_facts(
                inside.origin(at, "include_role"), "which role is included is not known", None
            )
            return None
        role = self.roles.read(role_entry_of_task(plain, given, inside, at), inside.play.folder, inside.role)
        role.limits = [given.get(key, "main") for key in _FILES]
        role.handlers = role.limits[-1]
        if own:  # they count as those of an entry, too, which replacing shows to handlers alone
            its = role.entry if self.roles.policy is MERGE else role.include_variables
            its += inside.with_variables(own, at, 15, "include_role").outer_variables[-1:]
        return role


def task_file_of(given: dict[Any, Any]) -> str:
    """The file that the arguments of import_tasks or include_tasks name."""
    return str(given.get("file", given.get("_raw_params")))


def role_name_of(given: dict[Any, Any]) -> str:
    """The name of the role that import_role or include_role has among its arguments."""
    return str(given.get("name", given.get("role")))


def role_entry_of_task(name: str, given: dict[Any, Any], inside: TaskContext, at: Steps) -> RoleEntry:
    """What the arguments of import_role or include_role ask for."""
    stems = given.get("vars_from", "main"), given.get("defaults_from", "main")
    repeats = given.get("allow_duplicates") is not False
    asked = RoleEntry(name, inside.document, at, {}, *stems, is_public=given.get("public"), repeats=repeats)
    return replace(asked, collections=inside.collections)


def roles_imported_by_play(play: Play, roles: Roles) -> Iterator[Role]:
    """The roles that tasks of a play import, in the order in which they join it: before the first task runs.

    raises: AnsibleError
    """
    outside = context_of_play(play)
    for key in ("pre_tasks", "post_tasks", "tasks"):
        yield from _imported_in(outside, play.entries(key), (*play.at, key), roles)


def _imported_in(outside: TaskContext, entries: Any, at: Steps, roles: Roles) -> Iterator[Role]:
    """The roles that the tasks of a list import; none if `entries` is not a list. raises: AnsibleError"""
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or outside.depth > MOST_INCLUDES:
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
            asked = role_entry_of_task(role_name_of(given), given, outside.with_conditions_of(entry), (*at, index))
            yield from roles_joining_with(roles.read(asked, outside.play.folder, outside.role), given, outside, roles)
        elif module == "import_tasks":
            path = outside.file_of_tasks(task_file_of(given))
            if path is not None:
                yield from roles_imported_by_file(outside, path, roles)


def roles_joining_with(role: Role, given: dict[Any, Any], outside: TaskContext, roles: Roles) -> Iterator[Role]:
    """What joins the roles of a play with a role: what it and its dependencies import, then itself.

    given:  the arguments that name it
    raises: AnsibleError
    """
    for one in role.with_needs():
        yield from roles_imported_by_role(
            one, outside, roles, given.get("tasks_from", "main") if one is role else "main"
        )
    yield role


def roles_imported_by_role(role: Role, outside: TaskContext, roles: Roles, stem: Any = "main") -> Iterator[Role]:
    """The roles that a file of a role's tasks imports; stem: its name, or ABSENT. raises: AnsibleError"""
    path = None if stem is ABSENT else roles.file(role.path / "tasks", stem)
    if path is not None and path.is_file():
        yield from roles_imported_by_file(replace(outside, role=role, collections=()), path, roles)


def roles_imported_by_file(outside: TaskContext, path: Path, roles: Roles) -> Iterator[Role]:
    """The roles that a file of tasks imports. raises: AnsibleError"""
    document = roles.files.document(path)
    if document is not None:
        inside = replace(outside, document=document, folder=path.parent, depth=outside.depth + 1)
        yield from _imported_in(inside, document.tree, (), roles)

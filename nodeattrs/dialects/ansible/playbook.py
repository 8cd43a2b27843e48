"""The variables of a host in one task of a playbook, level by level.

`tasks` finds the tasks that a host meets; this module builds the layers of a task from them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible import plays, tasks
from nodeattrs.dialects.ansible.answers import Variables, folded_once
from nodeattrs.dialects.ansible.config import TAGS
from nodeattrs.dialects.ansible.contexts import Task, TaskContext, context_of_play
from nodeattrs.dialects.ansible.effects import TaskEffects
from nodeattrs.dialects.ansible.faults import UNDEFINED
from nodeattrs.dialects.ansible.files import Plan, as_one_fold
from nodeattrs.dialects.ansible.groups import Host
from nodeattrs.dialects.ansible.inventory import LOCALHOST, Inventory
from nodeattrs.dialects.ansible.levels import MERGE, REPLACE
from nodeattrs.dialects.ansible.plays import Play
from nodeattrs.dialects.ansible.rendering import evaluate
from nodeattrs.dialects.ansible.roles import Role, RoleEntry, RoleReader, role_entry
from nodeattrs.dialects.ansible.tasks import TaskWalk
from nodeattrs.dialects.ansible.templates import fits_gaps

_YIELDING = ("inventory_hostname", "group_names", "inventory_hostname_short")
"""Variables of Ansible's own that play vars and higher levels override."""
_OF_PLAY = ("play_hosts", "ansible_play_hosts", "ansible_play_hosts_all", "ansible_play_batch")
"""Variables with the hosts of a play."""
_DELEGATING = re.compile(r"\bdelegate_facts\b(?![\"']?\s*:\s*(?:false|no)\b)", re.IGNORECASE)
_SEVERAL = re.compile(r"[*?~\[]")
"""Signs in a pattern that may select several names."""


class InTask(Variables):
    """The variables of a host in a task, with the methods of `Variables`. `Playbook.within` makes it.

    task: the task, with its place and the effects of earlier tasks
    """

    task: Task


class Playbook:
    """Playbooks that run one after the other over an inventory. The constructor reads all plays, but no tasks or roles.

    inventory: the hosts, and the files that are read
    names:     files of playbooks, relative to the inventory's folder
    plays:     in the order in which they run; plays of an imported playbook come where its import is

    `tasks(host)` gives the tasks of the plays that select a host, in order, without those that surely do not run; it is
    computed once for each host. `within(task, host)` gives the variables of the host in one of these tasks.
    `task(name, host)` gives the variables in the first task with that name, or None if no task has the name.
    `unknown(host)` gives unknown layers that may add tasks or variables.

    raises: AnsibleError, for a file that is no playbook
    """

    def __init__(self, inventory: Inventory, *names: str) -> None:
        self.inventory = inventory
        self.plays = plays.read(inventory, names)
        self._walks: dict[str, list[Task]] = {}
        self._unknown: dict[str, list[Layer]] = {}
        self._roles: dict[int, tuple[list[Role], list[Role]]] = {}

    # --- tasks

    @checked_args(host=str)
    def tasks(self, host: str) -> list[Task]:
        """The tasks of the plays that select a host, in the order in which they run; handlers come last in their play.
        Kept for each host.

        A task whose `when` is the literal false is left out. Other conditions count only for includes: an include that
        surely does not run gives no tasks. [] for a host that no play selects. `unknown` lists what may add tasks.

        cost:   one look at each task
        raises: AnsibleError, for a file or a role that is broken or not there
        """
        if host not in self._walks:
            self._walks[host] = list(self._tasks_of_host(host))
        return self._walks[host]

    @checked_args(name=str, host=str)
    def task(self, name: str, host: str, play: int | None = None, role: str | None = None) -> InTask | None:
        """The variables of a host in the first task of `tasks(host)` with this name; None without such a task.

        play:   only tasks of the play with this number, from 1; None: of any play
        role:   only tasks of the role with this name; None: of any role, and tasks outside of roles
        raises: AnsibleError, as `tasks`
        """
        for task in self.tasks(host):
            its = task.context.role
            if task.name == name and play in (None, task.context.play.number) and role in (None, its and its.name):
                return self.within(task, host)
        return None

    def unknown(self, host: str) -> list[Layer]:
        """The unknown layers that may give a host more tasks or variables; [] for none.

        For a host that is not in the inventory, they are the unknown layers of the first host of each play.
        """
        first = {name for play in self.plays for name in self._hosts_of(play)[:1]}
        hosts = [host] if host in self.inventory.hosts else sorted(first)
        for name in hosts:
            self.tasks(name)
        return [layer for name in hosts for layer in self._unknown[name]]

    def within(self, task: Task, host: str) -> InTask:
        """The variables of a host in a task. They are an InTask, whose layers are built at the first use.

        task:   a task of `tasks(host)`; this is not checked
        raises: AnsibleError, for a host that is not in the inventory
        """
        found = self.inventory.require_host(host)
        found = self.inventory.regrouped(found, task.joined_groups) if task.joined_groups else found
        where = f"task {task.name!r} at {task.place}"
        answer = InTask(
            host,
            where,
            lambda: self._layers_of_task(task, found),
            self.inventory.policy,
            lambda: self._magic_variables(task, found),
            self.inventory.sensitive_paths,
        )
        answer.task = task
        return answer

    def _tasks_of_host(self, host: str) -> Iterator[Task]:
        folders = [play.folder for play in self.plays]
        set_by_groups = partial(self.inventory.names_set_by_groups_like, folders=folders)
        files, policy = self.inventory.files, self.inventory.policy
        walk: TaskWalk = TaskWalk(files, policy, lambda where: self._variables_at(where, walk, host), set_by_groups)
        hosts = self.inventory.hosts
        walk.effects.injects = self.inventory.config.inject_facts_as_vars
        walk.effects.note_fact_modules(*map(Path, self.inventory.config.library))
        for name in (one for one in self.inventory.config.unread if one in TAGS):
            origin = self.inventory.setting_origin("setting", name)
            walk.effects.note_possible_facts(origin, "which tasks run with these tags is not followed", None)
        for play in self.plays:
            if play.patterns is None:
                origin = play.document.locator("play", "", (*play.at, "hosts")).at(())
                walk.effects.note_possible_facts(origin, play.missing, None)
            names = self._hosts_of(play, host, walk.effects.joined_groups)
            is_open = self._may_have_other_hosts(play, walk.effects)
            is_there = host in hosts or host == LOCALHOST
            outside = replace(context_of_play(play), is_in_play=not is_open)
            if host in names and is_there:
                yield from walk.tasks_of_play(outside, self._roles_reader(play), *self._roles_of(play))
            elif is_open and is_there:  # the effects of its tasks count, but the host may not reach them
                deque(walk.tasks_of_play(outside, self._roles_reader(play), *self._roles_of(play)), 0)
            elif names and self._mentions_delegate_facts(play):
                origin = play.document.locator("play", play.name, play.at).at(())
                walk.effects.note_possible_facts(origin, f"a task for other hosts may set facts of {host}", None)
        so_far = walk.effects
        facts = (one for one in so_far.facts if type(one.value) is Unknown)
        self._unknown[host] = [*so_far.groups, *so_far.gathered, *facts]

    @staticmethod
    def _may_have_other_hosts(play: Play, happened: TaskEffects) -> bool:
        """Whether a play may select other hosts than the inventory says: tasks may have put hosts into its groups."""
        words = [one.strip("!& ") for text in play.patterns or () for one in re.split("[,:]", text)]
        words = [one for one in words if one not in ("all", "*")]
        is_open = any(
            fits_gaps(one, group) or _SEVERAL.search(one) for one in words for group in happened.possible_groups
        )
        has_others = bool(happened.joined_groups) and any("[" in one for one in words)  # other hosts may be in it, too
        return is_open or has_others

    def _mentions_delegate_facts(self, play: Play) -> bool:
        """Whether the file of a play, or a file of tasks of its roles, mentions `delegate_facts`."""
        files = self.inventory.files
        folders = [role.path / "tasks" for role in self._roles_of(play)[0]]
        paths = [play.path, *(folder / name for folder in folders for name in files.names_in(folder))]
        return any(_DELEGATING.search(files.text(path).text) for path in paths if path.is_file())

    def _hosts_of(self, play: Play, host: str = "", entered: Iterable[str] = ()) -> list[str]:
        """The names of the hosts that a play selects; [] where its hosts are not known.

        entered: more groups that *host* is in
        """
        if play.patterns is None:
            return []
        regrouped = self.inventory.regrouped(self.inventory.require_host(host), entered) if entered else None
        return self.inventory.matching(*play.patterns, regrouped=regrouped)

    # --- roles

    def _roles_reader(self, play: Play) -> RoleReader:
        def fill(name: str, own: dict[Any, Any]) -> str:
            found = evaluate(name, plays.variables_before_hosts(play, self.inventory, own))
            if found is ABSENT:
                raise play.error(UNDEFINED, f"the role {name!r} cannot be known", "roles")
            return str(found)

        return RoleReader(self.inventory.files, self.inventory.config, self.inventory.policy, fill)

    def _roles_of(self, play: Play) -> tuple[list[Role], list[Role]]:
        """The roles that run under `roles`, dependencies first; and the roles whose variables all tasks see.

        Kept for each play.
        """
        if play.number not in self._roles:
            reader = self._roles_reader(play)
            outside = context_of_play(play)
            running: list[Role] = []
            joined: list[Role] = []
            for index, entry in enumerate(play.entries("roles")):
                at = (*play.at, "roles", index)
                asked: RoleEntry = replace(role_entry(entry, play.document, at), collections=outside.collections)
                role = reader.read(asked, play.folder)
                joined.append(role)
                running += role.with_dependencies()
            for one in [one for role in joined for one in role.with_dependencies()]:
                joined += tasks.roles_imported_by_role(one, outside, reader)
            joined += tasks.roles_imported_by_play(play, reader)
            self._roles[play.number] = running, joined
        return self._roles[play.number]

    # --- layers

    def _layers_of_task(self, task: Task, host: Host) -> list[Plan]:
        policy, where, role = self.inventory.policy, task.context, task.context.role
        defaults = [] if role is None else role.all_defaults()
        own = [] if role is None else role.all_vars()
        return [
            *self._public_layers(task.roles, lambda role: [one.defaults for one in role.with_dependencies()], defaults),
            *as_one_fold(defaults, policy),
            *self._layers_to_vars_files(task, host),
            *self._public_layers(task.roles, lambda role: [one.vars for one in role.in_vars_order()], own),
            *as_one_fold(own, policy),
            *([Fold(where.outer_variables, REPLACE)] if where.outer_variables else []),
            *(as_one_fold(task.included, MERGE) if policy is MERGE else task.included),
            *as_one_fold(task.facts, REPLACE),
            *([] if role is None else as_one_fold(role.all_params(), policy)),
            *as_one_fold(list(where.include_variables), REPLACE),
            *as_one_fold(self.inventory.extra, policy),
        ]

    def _public_layers(
        self, joined: Iterable[Role], kind: Callable[[Role], list[list[Plan]]], own: list[Plan]
    ) -> list[Plan]:
        """The layers that roles give to all tasks, a fold for each role with its dependencies.

        kind: gives the lists of layers of a role; own: layers that count later anyway, and are left out here
        """
        known = set() if self.inventory.policy is MERGE else set(map(id, own))
        found: list[Plan] = []
        for role in (one for one in joined if one.is_public):
            plans = [one for its in kind(role) for one in its if id(one) not in known]
            found += as_one_fold(plans, self.inventory.policy)
        return found

    def _layers_to_vars_files(self, task: Task, host: Host) -> list[Plan]:
        """The layers of levels 3 to 14, without those of roles."""
        play = task.context.play
        below = self._layers_to_prompts(task, host)
        known: dict[str, Any] = {}

        def look_up(name: str) -> Any:
            if not known:
                plan = Fold((Layer({}), *below, *self.inventory.extra), self.inventory.policy)
                known.update(
                    {**_known_magic(self.inventory.magic_variables(host), task), **folded_once(plan).result.value}
                )
            return known.get(name, ABSENT)

        return [*below, *plays.layers_of_vars_files(play, self.inventory, look_up)]

    def _layers_to_prompts(self, task: Task, host: Host) -> list[Plan]:
        play = task.context.play
        is_early = self.inventory.config.run_vars_plugins == "start"
        joined = [role for _, roles in self._roles.values() for role in roles]
        roles = (one for role in (*joined, *task.roles) for one in role.with_dependencies())
        # Vars plugins beside the playbooks, and in the roles that were read so far, count for all tasks.
        beside = dict.fromkeys([*(play.folder for play in self.plays), *(role.path for role in roles)])
        return [
            *self.inventory.layers_with_facts(host, None if is_early else play.folder, beside, task.groups),
            *task.gathered,
            *play.vars(),
            *plays.layers_of_prompts(play, self.inventory),
        ]

    def _variables_at(self, context: TaskContext, walk: TaskWalk, host: str) -> InTask:
        """The variables of a host at a place that the walk has reached."""
        return self.within(walk.effects.task_met("", {}, context.play.at, context, walk.joined), host)

    # --- what Ansible sets itself

    def _magic_variables(self, task: Task, host: Host) -> dict[str, Any]:
        play, where = task.context.play, task.context
        hosts = self._hosts_of(play)
        running, joined = self._roles_of(play)
        entered = [role.name for role in joined]
        needed = list(
            dict.fromkeys(
                one.name for role in running for need in role.dependencies for one in need.with_dependencies()
            )
        )
        known: dict[str, Any] = {
            **self.inventory.magic_variables(host),
            "playbook_dir": str(play.folder),
            "ansible_facts": self.inventory.facts.ansible_facts_of(host.name),
            "ansible_play_name": play.name,
            **dict.fromkeys(_OF_PLAY, hosts),
            **dict.fromkeys(("role_names", "ansible_play_role_names"), entered),
            "ansible_dependent_role_names": needed,
        }
        if where.role is not None:
            path, name = where.role.path, where.role.name
            known |= {"ansible_role_name": name, "role_path": str(path)}
            known["role_name"] = path.name if "ansible_collections" in path.parts else name
        stronger = (*play.vars(), *where.outer_variables, *where.include_variables, *self.inventory.extra)
        stated = folded_once(Fold((Layer({}), *stronger), REPLACE)).result.value
        return {**_known_magic(known, task), **{name: stated[name] for name in _YIELDING if name in stated}}


def _known_magic(magic: dict[str, Any], task: Task) -> dict[str, Any]:
    """Ansible's own variables, without those for groups, hosts and facts that tasks may have changed."""
    changed = {"groups", "group_names"} if task.groups else set()
    changed |= {"groups", *_OF_PLAY} if task.joined_groups else set()
    changed |= {"ansible_facts"} if task.gathered or any(type(one.value) is Unknown for one in task.facts) else set()
    return {name: value for name, value in magic.items() if name not in changed}

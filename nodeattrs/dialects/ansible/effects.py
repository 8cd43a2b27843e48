"""Note what tasks set for later tasks: set_fact, register, include_vars, gathered facts, add_host and group_by.

The caller gives the tasks in their order; they do not run. The variables so far may decide whether a task runs, and
what it sets. Then the values are kept. Otherwise an unknown layer says which variables the task may set.

A level is a number of Ansible's list of variable precedence, from 1 to 22; the highest wins. The character `GAP` marks
the place of a template in a name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.policy import Policy
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible.answers import Variables, only_variable
from nodeattrs.dialects.ansible.contexts import Task, TaskContext, give_parts_of_names, possible_names
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.files import Plan, VariableFiles, as_one_fold, names_set_by
from nodeattrs.dialects.ansible.keywords import is_sure, plain_name
from nodeattrs.dialects.ansible.levels import MERGE, REPLACE, title
from nodeattrs.dialects.ansible.rendering import all_true, evaluate
from nodeattrs.dialects.ansible.roles import Role
from nodeattrs.dialects.ansible.templates import GAP, is_template, names_in_templates, with_gaps
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin

_NAMES = {
    "package_facts": frozenset(("packages",)),
    "service_facts": frozenset(("services",)),
    "mount_facts": frozenset(("mount_points",)),
}
_LOCAL = frozenset(("ansible_local",))
"""The facts that become variables where `inject_facts_as_vars` is off."""
SETTING = frozenset(("set_fact", "include_vars"))
FOLLOWED = SETTING | {"group_by"}
"""SETTING: modules whose arguments set variables. FOLLOWED: modules that are followed for each pass of a loop."""
_SUFFIXES = (".yml", ".yaml", ".json")
_GROUP = re.compile(rf"[\w{GAP}-]+", re.ASCII)
"""A name of a group that Ansible takes as it is."""
_OF_FOLDERS = frozenset(("depth", "extensions", "files_matching", "ignore_files", "ignore_unknown_extensions"))


@dataclass
class TaskEffects:
    """What the tasks so far have set, or may have set, for one host. `TaskWalk` owns it and notes each task once.

    `note_gathered_facts`, `note_setting` and the other methods `note_...` add to the fields, and return nothing. For a
    value that is not known they add an unknown layer. `layer_count` is the number of layers so far; 0 at the beginning.
    `task_met` makes a `Task` with copies of the fields as they are then.

    files:           reads the files that include_vars names
    policy:          how maps are merged, as `hash_behaviour` says
    set_by_groups:   called with a group's name, which has `templates.GAP` for each part that is not known; returns the
                     variables that groups with such a name may set, or None for any variable
    gathered:        gathered facts, level 11, the weakest first
    included:        variables of include_vars, level 18
    facts:           variables of set_fact and register, level 19
    groups:          unknown layers for tasks that may have changed groups and hosts
    joined_groups:   the groups that group_by has surely added the host to, as keys with the value None
    possible_groups: names of the groups that hosts may have been added to. A name has `templates.GAP` for each part
                     that is not known
    fact_modules:    names of modules of the playbook and of its roles that may set facts
    injects:         whether facts become variables, as `inject_facts_as_vars` says; else only `ansible_local` does
    """

    files: VariableFiles
    policy: Policy
    set_by_groups: Callable[[str], frozenset[str] | None]
    gathered: list[Layer] = field(default_factory=list)
    included: list[Plan] = field(default_factory=list)
    facts: list[Layer] = field(default_factory=list)
    groups: list[Layer] = field(default_factory=list)
    joined_groups: dict[str, None] = field(default_factory=dict)
    possible_groups: set[str] = field(default_factory=set)
    fact_modules: set[str] = field(default_factory=set)
    injects: bool = True
    _learned: set[Path] = field(default_factory=set)
    _merged: dict[Any, Fold] = field(default_factory=dict)

    def task_met(self, name: str, body: dict[Any, Any], at: Steps, context: TaskContext, joined: list[Role]) -> Task:
        """A task with a copy of the effects of the tasks before it. joined: the roles of the play so far"""
        return Task(
            name,
            body,
            at,
            context,
            gathered=tuple(self.gathered),
            included=tuple(self.included),
            facts=tuple(self.facts),
            groups=tuple(self.groups),
            roles=tuple(joined),
            joined_groups=tuple(self.joined_groups),
        )

    def note_gathered_facts(self, origin: Origin) -> None:
        """Note that facts are gathered: any variable named ansible_*, facter_* or ohai_* becomes unknown.

        If facts do not become variables, only `ansible_local` does.
        """
        settings = frozenset(("gather_subset", "module_setup"))
        may_set = UnknownLayerOrigin(origin, settings, ("ansible_", "facter_", "ohai_"))
        if not self.injects:
            may_set = UnknownLayerOrigin(origin, _LOCAL)
        self.gathered.append(Layer.unknown(title(11), may_set, "facts are gathered here"))

    def layer_count(self) -> int:
        """The number of layers noted so far. If it is the same after a task, the task has changed nothing."""
        return len(self.gathered) + len(self.included) + len(self.facts) + len(self.groups)

    def note_fact_modules(self, *folders: Path) -> None:
        """Add to `fact_modules` the Python modules in folders whose source mentions `ansible_facts`.

        A folder is read only the first time. It may be absent.

        raises: AnsibleError, for a module or folder that cannot be read
        """
        for folder in (one for one in folders if one not in self._learned):
            self._learned.add(folder)
            paths = [folder / name for name in self.files.names_in(folder) if name.endswith(".py")]
            self.fact_modules.update(path.stem for path in paths if "ansible_facts" in self.files.text(path).text)

    def note_possible_facts(self, origin: Origin, reason: str, names: frozenset[str] | None) -> None:
        """Note that a task may have set variables, as an unknown layer of level 19.

        origin: the place of the task
        reason: why the value is not known, for messages
        names:  the variables that it may set; None: any variable
        """
        self.facts.append(Layer.unknown(title(19), UnknownLayerOrigin(origin, names), reason))

    def note_module(self, context: TaskContext, body: dict[Any, Any], module: str, at: Steps) -> None:
        """Note what a task may set through `register` and through its module. Nothing is returned.

        Gathered facts, add_host, modules named *_facts, load_vars and `fact_modules` add unknown layers. Of any other
        module only `register` is noted; `note_setting` notes set_fact, include_vars and group_by.

        context: the context of the task
        body:    the map of the task
        module:  the name of its module, without the collection of Ansible's own modules
        at:      the path of the task in the document
        """
        origin = context.origin(at, f"task {body.get('name') or module}")
        if isinstance(body.get("register"), str):
            self.note_possible_facts(origin, "it is registered when the task has run", frozenset((body["register"],)))
        if module in ("setup", "gather_facts"):
            self.note_gathered_facts(origin)
        elif module == "add_host":
            self._regrouped(title(8), origin, module)
        elif module.endswith(("_facts", ".load_vars")) or module in self.fact_modules:
            names = _NAMES.get(module) if self.injects or module.endswith(".load_vars") else _LOCAL
            self.note_possible_facts(origin, "the module may set facts", names)

    def note_setting(
        self,
        context: TaskContext,
        body: dict[Any, Any],
        module: str,
        given: dict[Any, Any],
        at: Steps,
        answer: Variables,
    ) -> None:
        """Note what a task with the module set_fact, include_vars or group_by sets. It is called for each pass of a
        loop.

        Nothing is noted if a condition is surely false, or if `delegate_facts` gives the facts to another host. An
        unknown layer is noted if it is not known whether the task runs, or what it sets; always with `delegate_facts`.
        A group that is not surely joined goes to `possible_groups`.

        context: the context of the task, with its conditions
        body:    the map of the task
        module:  "set_fact", "include_vars" or "group_by"
        given:   the arguments of the module
        at:      the path of the task in the document
        answer:  the variables of the host before the task
        """
        is_delegated = module != "group_by" and body.get("delegate_facts") and "delegate_to" in body
        if is_delegated:  # any host of the play may run it; its conditions are not known here
            runs = None if context.evaluated_text(body.get("delegate_to"), answer) in (ABSENT, answer.host) else False
        else:
            runs = all_true(context.conditions, answer, context.lookups())
        if runs is False:
            return
        is_certain = bool(runs) and context.is_in_play and context.is_sure and is_sure(body)
        origin = context.origin(at, f"task {body.get('name') or module}")
        if module == "group_by":
            self._group_by(context, given, origin, answer, is_certain=is_certain)
        elif module == "set_fact":
            key = next((key for key in body if plain_name(str(key)) == module), "args")
            locator = context.document.locator(origin.kind, "", (*at, key))
            self._set_fact(context, given, locator, answer, is_certain=is_certain)
        else:
            files = body.get("with_first_found")
            self._include_vars(context, given, origin, answer, files, is_certain=is_certain)

    def _regrouped(self, level: str, origin: Locator, module: str) -> None:
        reason = f"{module} may change groups, and with them the variables of a host, when it has run"
        self.groups.append(Layer.unknown(level, origin, reason))

    def _group_by(
        self, context: TaskContext, given: dict[Any, Any], origin: Origin, answer: Variables, *, is_certain: bool
    ) -> None:
        key = str(given.get("key"))
        text = context.evaluated_text(key, answer)
        group = with_gaps(key) if text is ABSENT else text
        if group is ABSENT or "parents" in given or not _GROUP.fullmatch(group):
            self.possible_groups.add(GAP)
            self._regrouped(title(7), origin, "group_by")
            return
        if is_certain and group.isidentifier():
            self.joined_groups[group] = None
            return
        self.possible_groups.add(group)
        names = self.set_by_groups(group)
        names = None if names is None else names | {"groups", "group_names"}
        self._regrouped(title(7), UnknownLayerOrigin(origin, names), "group_by")

    def _set_fact(
        self, context: TaskContext, given: dict[Any, Any], locator: Locator, answer: Variables, *, is_certain: bool
    ) -> None:
        for written, value in given.items():
            name = context.evaluated_text(written, answer)
            known = evaluate(value, answer, context.lookups()) if is_certain and name is not ABSENT else ABSENT
            if name == "cacheable":
                continue
            if known is ABSENT:
                to = "" if names_in_templates(value) else f" to {shown(value, 40)}"
                names = None if name is ABSENT else frozenset((name,))
                self.note_possible_facts(locator.at((written,)), f"set_fact sets it{to} when the task has run", names)
            else:
                place = locator if name == written else locator.at((written,))
                self.facts.append(Layer({name: known}, place, title(19)))

    # --- include_vars

    def _include_vars(
        self,
        context: TaskContext,
        given: dict[Any, Any],
        origin: Origin,
        answer: Variables,
        files: Any,
        *,
        is_certain: bool,
    ) -> None:
        name = given.get("file", given.get("_raw_params", given.get("dir")))
        path = context.evaluated_text(name, answer)
        layers: list[Layer] | None = None
        if path is not ABSENT and not _OF_FOLDERS & given.keys():
            layers = self._read(context, given, path)
        if layers is None:
            is_file = "name" not in given and "dir" not in given
            names = self._by_name(context, name if files is None else files, answer) if is_file else None
            self._may_include(origin, f"which variables {name} brings is not known", names)
        elif is_certain and not is_template(given.get("name")):
            found = [_under(layer, given.get("name")) for layer in layers]
            if given.get("hash_behaviour") == "merge" and self.policy is not MERGE:
                self._merge(found, answer.plan)
            else:
                self.included += as_one_fold(found, REPLACE)
        else:
            is_open = any(type(layer.value) is Unknown for layer in layers) or is_template(given.get("name"))
            of_these = {key for layer in layers if isinstance(layer.value, dict) for key in layer.value}
            names = frozenset((given["name"],)) if "name" in given else frozenset(of_these)
            reason = f"include_vars sets it from {self.files.shown(Path(path))}, when the task has run"
            self._may_include(origin, reason, None if is_open else names)

    def _by_name(self, context: TaskContext, files: Any, answer: Variables) -> frozenset[str] | None:
        """The variables in the files that names with templates may mean; None if they may mean any file.

        A name that is a single template may mean any file, unless the template is a fact.
        """
        if not give_parts_of_names(files, answer):
            return None
        texts = possible_names(files)
        are_facts = all(name.startswith("ansible_") for name in names_in_templates(files))
        if texts is None or (any(GAP in one.split("/") for one in texts) and not are_facts):
            return None
        try:
            paths = [
                path
                for one in texts
                for folder in context.search_folders("vars")
                for path in self.files.paths_matching(folder, one)
            ]
        except AnsibleError:
            return None
        return names_set_by(layer for path in paths if path.is_file() for layer in self._layers_of_files([path]))

    def _layers_of_files(self, paths: Iterable[Path]) -> list[Layer]:
        """The layers of files that include_vars reads; [] if one of them is broken: the task then fails."""
        try:
            return self.files.layers_of_files(paths, "include_vars", "", title(18))
        except AnsibleError:
            return []

    def _merge(self, found: list[Layer], below: Fold) -> None:
        """Note variables of include_vars with `hash_behaviour: merge`: merged with the value below, which is then
        fixed.
        """
        for name in {key: None for layer in found if isinstance(layer.value, dict) for key in layer.value}:
            merging = Fold(tuple(only_variable(one, name) for one in found), MERGE)
            before = self._merged.get(name)
            self.included = [one for one in self.included if one is not before]
            self._merged[name] = Fold((only_variable(below, name), merging), MERGE)
            self.included.append(self._merged[name])

    def _may_include(self, origin: Origin, reason: str, names: frozenset[str] | None) -> None:
        self.included.append(Layer.unknown(title(18), UnknownLayerOrigin(origin, names), reason))

    def _read(self, context: TaskContext, given: dict[Any, Any], name: str) -> list[Layer] | None:
        """The layers of the file or folder that include_vars names. [] if the task would fail. None if the file or
        folder is not there.
        """
        path = next((folder / name for folder in context.search_folders("vars") if os.path.exists(folder / name)), None)
        if path is None:
            return None
        if "dir" not in given:
            paths = [path]
        else:
            paths = list(self.files.all_files_below(path)) if path.is_dir() else []
            if any(one.suffix not in _SUFFIXES and not border.is_layer_outside(one) for one in paths):
                return []
        return self._layers_of_files(paths)


@dataclass(frozen=True, slots=True)
class _SubtreeLocator:
    """A locator for variables that stand in a file under one more name: drops the first step of a path."""

    locator: Locator

    def at(self, path: Steps) -> Origin:
        return self.locator.at(path[1:])


def _under(layer: Layer, name: Any) -> Layer:
    """The layer with its variables as a map under *name*; unchanged without a name, or where it is unknown."""
    if name is None or type(layer.value) is Unknown:
        return layer
    return Layer({name: layer.value}, _SubtreeLocator(layer.origin), layer.title)

"""What a task may have set once it has run: by set_fact, register, include_vars, gathered facts, add_host, group_by.

Which task, and which names, is known. What `set_fact` and `include_vars` set counts where the variables so far decide
that the task runs, and its values; else it is unknown. It knows no order of tasks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
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
from nodeattrs.dialects.ansible.answers import Variables, only
from nodeattrs.dialects.ansible.faults import AnsibleError
from nodeattrs.dialects.ansible.files import Files, Plan, nested, set_by
from nodeattrs.dialects.ansible.levels import MERGE, REPLACE, title
from nodeattrs.dialects.ansible.rendering import evaluated, weighed
from nodeattrs.dialects.ansible.roles import Role
from nodeattrs.dialects.ansible.templates import GAP, is_template, mentioned, with_gaps
from nodeattrs.dialects.ansible.values import MaySet
from nodeattrs.dialects.ansible.where import Around, Task, are_parts_of_names, possible_names
from nodeattrs.dialects.ansible.words import is_sure, plain_name

_NAMES = {
    "package_facts": frozenset(("packages",)),
    "service_facts": frozenset(("services",)),
    "mount_facts": frozenset(("mount_points",)),
}
SETTING = frozenset(("set_fact", "include_vars"))
FOLLOWED = SETTING | {"group_by"}
"""The modules that set variables; and all that are read, each pass of a loop for itself."""
_SUFFIXES = (".yml", ".yaml", ".json")
_GROUP = re.compile(rf"[\w{GAP}-]+", re.ASCII)
"""A name of a group that Ansible takes as it is."""
_OF_FOLDERS = frozenset(("depth", "extensions", "files_matching", "ignore_files", "ignore_unknown_extensions"))


@dataclass
class Happened:
    """What the tasks so far may have set for a host.

    gathered, included, facts: levels 11, 18 and 19, the weakest first
    modules: modules of the playbook and of roles that may set facts
    groups: what may have changed groups and hosts
    entered: the groups that the host has surely come into
    regrouped: the names of the groups that hosts may have come into, with gaps for what is not known of them
    set_by_groups: the variables of the groups that a name with gaps may be; None for any
    """

    files: Files
    policy: Policy
    set_by_groups: Callable[[str], frozenset[str] | None]
    gathered: list[Layer] = field(default_factory=list)
    included: list[Plan] = field(default_factory=list)
    facts: list[Layer] = field(default_factory=list)
    groups: list[Layer] = field(default_factory=list)
    entered: dict[str, None] = field(default_factory=dict)
    regrouped: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    _learned: set[Path] = field(default_factory=set)
    _merged: dict[Any, Fold] = field(default_factory=dict)

    def met(self, name: str, body: dict[Any, Any], at: Steps, where: Around, joined: list[Role]) -> Task:
        """A task that is met now, with what may have been set before it."""
        gathered, included, facts = tuple(self.gathered), tuple(self.included), tuple(self.facts)
        groups, entered = tuple(self.groups), tuple(self.entered)
        return Task(name, body, at, where, gathered, included, facts, groups, tuple(joined), entered)

    def facts_gathered(self, origin: Origin) -> None:
        """Facts are gathered, by programs of others, too, where they are installed."""
        may_set = MaySet(origin, frozenset(("gather_subset", "module_setup")), ("ansible_", "facter_", "ohai_"))
        self.gathered.append(Layer.unknown(title(11), may_set, "facts are gathered here"))

    def count(self) -> int:
        """How many layers there are by now."""
        return len(self.gathered) + len(self.included) + len(self.facts) + len(self.groups)

    def learn(self, *folders: Path) -> None:
        """Note the modules in folders of a playbook's or a role's own that mention `ansible_facts`."""
        for folder in (one for one in folders if one not in self._learned):
            self._learned.add(folder)
            paths = [folder / name for name in self.files.listed(folder) if name.endswith(".py")]
            self.modules.update(path.stem for path in paths if "ansible_facts" in self.files.text(path).text)

    def fact(self, origin: Origin, reason: str, names: frozenset[str] | None) -> None:
        """A task may have set variables. names: which; None where that is not known"""
        self.facts.append(Layer.unknown(title(19), MaySet(origin, names), reason))

    def note(self, where: Around, body: dict[Any, Any], module: str, at: Steps) -> None:
        """A task has been met that runs a module."""
        origin = where.origin(at, f"task {body.get('name') or module}")
        if isinstance(body.get("register"), str):
            self.fact(origin, "it is registered when the task has run", frozenset((body["register"],)))
        if module in ("setup", "gather_facts"):
            self.facts_gathered(origin)
        elif module == "add_host":
            self._regrouped(title(8), origin, module)
        elif module.endswith(("_facts", ".load_vars")) or module in self.modules:
            self.fact(origin, "the module may set facts", _NAMES.get(module))

    def set(
        self, where: Around, body: dict[Any, Any], module: str, given: dict[Any, Any], at: Steps, answer: Variables
    ) -> None:
        """One pass of a task of `SETTING`.

        given:  its arguments
        answer: what the host has there
        """
        if (
            body.get("delegate_facts") and "delegate_to" in body
        ):  # any host of the play may run it; its conditions are not known here
            runs = None if where.text(body.get("delegate_to"), answer) in (ABSENT, answer.host) else False
        else:
            runs = weighed(where.whens, answer, where.lookups())
        is_certain = bool(runs) and where.is_sure and is_sure(body)
        origin = where.origin(at, f"task {body.get('name') or module}")
        if runs is not False and module == "group_by":
            self._group_by(where, given, origin, answer, is_certain=is_certain)
        elif runs is not False and module == "set_fact":
            key = next((key for key in body if plain_name(str(key)) == module), "args")
            locator = where.document.locator(origin.kind, "", (*at, key))
            self._set_fact(where, given, locator, answer, is_certain=is_certain)
        elif runs is not False:
            files = body.get("with_first_found")
            self._include_vars(where, given, origin, answer, files, is_certain=is_certain)

    def _regrouped(self, level: str, origin: Locator, module: str) -> None:
        reason = f"{module} may change groups, and with them the variables of a host, when it has run"
        self.groups.append(Layer.unknown(level, origin, reason))

    def _group_by(
        self, where: Around, given: dict[Any, Any], origin: Origin, answer: Variables, *, is_certain: bool
    ) -> None:
        key = str(given.get("key"))
        text = where.text(key, answer)
        group = with_gaps(key) if text is ABSENT else text
        if group is ABSENT or "parents" in given or not _GROUP.fullmatch(group):
            self.regrouped.add(GAP)
            self._regrouped(title(7), origin, "group_by")
            return
        if is_certain and group.isidentifier():
            self.entered[group] = None
            return
        self.regrouped.add(group)
        names = self.set_by_groups(group)
        names = None if names is None else names | {"groups", "group_names"}
        self._regrouped(title(7), MaySet(origin, names), "group_by")

    def _set_fact(
        self, where: Around, given: dict[Any, Any], locator: Locator, answer: Variables, *, is_certain: bool
    ) -> None:
        for written, value in given.items():
            name = where.text(written, answer)
            known = evaluated(value, answer, where.lookups()) if is_certain and name is not ABSENT else ABSENT
            if name == "cacheable":
                continue
            if known is ABSENT:
                to = "" if mentioned(value) else f" to {shown(value, 40)}"
                names = None if name is ABSENT else frozenset((name,))
                self.fact(locator.at((written,)), f"set_fact sets it{to} when the task has run", names)
            else:
                place = locator if name == written else locator.at((written,))
                self.facts.append(Layer({name: known}, place, title(19)))

    # --- include_vars

    def _include_vars(
        self, where: Around, given: dict[Any, Any], origin: Origin, answer: Variables, files: Any, *, is_certain: bool
    ) -> None:
        name = given.get("file", given.get("_raw_params", given.get("dir")))
        path = where.text(name, answer)
        layers: list[Layer] | None = None
        if path is not ABSENT and not _OF_FOLDERS & given.keys():
            layers = self._read(where, given, path)
        if layers is None:
            is_file = "name" not in given and "dir" not in given
            names = self._by_name(where, name if files is None else files, answer) if is_file else None
            self._may_include(origin, f"which variables {name} brings is not known", names)
        elif is_certain and not is_template(given.get("name")):
            found = [_under(layer, given.get("name")) for layer in layers]
            if given.get("hash_behaviour") == "merge" and self.policy is not MERGE:
                self._merge(found, answer.plan)
            else:
                self.included += nested(found, REPLACE)
        else:
            is_open = any(type(layer.value) is Unknown for layer in layers) or is_template(given.get("name"))
            of_these = {key for layer in layers if isinstance(layer.value, dict) for key in layer.value}
            names = frozenset((given["name"],)) if "name" in given else frozenset(of_these)
            reason = f"include_vars sets it from {self.files.shown(Path(path))}, when the task has run"
            self._may_include(origin, reason, None if is_open else names)

    def _by_name(self, where: Around, files: Any, answer: Variables) -> frozenset[str] | None:
        """The variables of the files that names with templates may stand for; None for any.

        A name that is one template may be any file, unless it is of facts.
        """
        if not are_parts_of_names(files, answer):
            return None
        texts = possible_names(files)
        if texts is None or (any(GAP in one.split("/") for one in texts) and not all(map(_is_fact, mentioned(files)))):
            return None
        try:
            paths = [
                path for one in texts for folder in where.sought("vars") for path in self.files.spelled(folder, one)
            ]
        except AnsibleError:
            return None
        return set_by(layer for path in paths if path.is_file() for layer in self._variables(path))

    def _variables(self, path: Path) -> list[Layer]:
        """The layer of a file that may be included; none where to include it fails."""
        try:
            found = self.files.variables(path, "include_vars", "", title(18))
        except AnsibleError:
            return []
        return [] if found is None else [found]

    def _merge(self, found: list[Layer], below: Fold) -> None:
        """What a task has is merged with what it includes, and stays as it is then."""
        for name in {key: None for layer in found if isinstance(layer.value, dict) for key in layer.value}:
            merging = Fold(tuple(only(one, name) for one in found), MERGE)
            before = self._merged.get(name)
            self.included = [one for one in self.included if one is not before]
            self._merged[name] = Fold((only(below, name), merging), MERGE)
            self.included.append(self._merged[name])

    def _may_include(self, origin: Origin, reason: str, names: frozenset[str] | None) -> None:
        self.included.append(Layer.unknown(title(18), MaySet(origin, names), reason))

    def _read(self, where: Around, given: dict[Any, Any], name: str) -> list[Layer] | None:
        """The layers of what is included; None where it is not there, or would fail."""
        path = next((folder / name for folder in where.sought("vars") if os.path.exists(folder / name)), None)
        if path is None:
            return None
        if "dir" not in given:
            paths = [path]
        else:
            paths = list(self.files.below(path)) if path.is_dir() else []
            if any(one.suffix not in _SUFFIXES and not border.is_layer_outside(one) for one in paths):
                return []
        try:
            found = [self.files.variables(one, "include_vars", "", title(18)) for one in paths]
        except AnsibleError:
            return []
        return [layer for layer in found if layer is not None]


def _is_fact(name: str) -> bool:
    return name.startswith("ansible_")


@dataclass(frozen=True, slots=True)
class _Below:
    """The places of a file that stands under one variable."""

    locator: Locator

    def at(self, path: Steps) -> Origin:
        return self.locator.at(path[1:])


def _under(layer: Layer, name: Any) -> Layer:
    """The same variables under one name."""
    if name is None or type(layer.value) is Unknown:
        return layer
    return Layer({name: layer.value}, _Below(layer.origin), layer.title)

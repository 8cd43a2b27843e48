"""An inventory: its hosts and groups, and the variables of each host outside of plays.

An inventory has levels 3 to 11 of Ansible's precedence, and the extra variables, 22. Level 11 is the fact cache: a JSON
file for each host, as Ansible up to 2.18 and Ansible 2.19 write it. A fact `ansible_x` becomes the variable
`ansible_x`, and `ansible_facts.x`. The module knows no playbooks; `playbook` uses the same layers, and adds the layers
of plays and tasks.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.codes import Kind
from nodeattrs.core.borders import A_PATH, ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.tree import ABSENT, near
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.answers import SharedFold, Variables
from nodeattrs.dialects.ansible.config import TAGS, AnsibleConfig, config_of
from nodeattrs.dialects.ansible.faults import (
    EXTRA_VARS,
    NO_GROUP,
    NO_HOST,
    PRECEDENCE_ENTRY,
    RESERVED_NAME,
    SETTING,
    VAULT,
    YAML,
    AnsibleError,
    new_warning,
)
from nodeattrs.dialects.ansible.files import Plan, VariableFiles, as_one_fold, names_set_by
from nodeattrs.dialects.ansible.groups import Group, Host, InventoryTree, KnownHosts, hosts_matching
from nodeattrs.dialects.ansible.keywords import is_yes, parsed_words
from nodeattrs.dialects.ansible.levels import MERGE, PRECEDENCE, REPLACE, RESERVED, title
from nodeattrs.dialects.ansible.sources import DynamicSources, InventorySources
from nodeattrs.dialects.ansible.templates import fits_gaps
from nodeattrs.dialects.ansible.values import Unsafe, parsed, with_leaves
from nodeattrs.formats.places import Text

_PREFIX = "ansible_"
_CONNECTION_TEXT = """
    connection user host port password ssh_host ssh_port ssh_user ssh_pass become become_user become_pass
    become_password become_method become_exe become_flags shell_type shell_executable sudo_pass su_pass
    private_key_file timeout ssh_private_key_file ssh_common_args ssh_extra_args ssh_executable"""
_CONNECTION = _CONNECTION_TEXT.split()
_STEERING = frozenset({*(_PREFIX + name for name in _CONNECTION), "hostvars", "vars"})
_INTERPRETER = re.compile(r"ansible_\w+_interpreter")


class FactCache:
    """Reads cached facts, one file for each host. Nothing is kept: each call reads the file of the host again.

    config: the settings of fact_caching in ansible.cfg, and inject_facts_as_vars
    root:   messages name files relative to this folder
    folder: the folder with the files. None: the folder that *config* names, if its cache is of the kind jsonfile;
            otherwise there are no facts

    `facts_of` gives (facts, name of the file), and `layer` the variables that the facts set. `ansible_facts_of` gives
    the value of the variable `ansible_facts`. A host without a file has no facts: ({}, ""), None and {}. The methods
    raise AnsibleError if its file cannot be read or parsed.
    """

    def __init__(self, config: AnsibleConfig, root: Path, folder: Path | None) -> None:
        is_file = config.fact_caching.rpartition(".")[2] == "jsonfile" and config.fact_caching_connection
        self.folder = folder or (Path(config.fact_caching_connection) if is_file else None)
        self._prefix = config.fact_caching_prefix
        self._inject = config.inject_facts_as_vars
        self._root = root

    def facts_of(self, host: str) -> tuple[dict[str, Any], str]:
        """The facts of a host, name -> value, and the name of their file. ({}, "") if no file of the host has a map.

        The file of Ansible 2.19 counts first. Templates in facts are not evaluated: their texts are `Unsafe`.

        raises: AnsibleError, if the file cannot be read or parsed
        """
        for name in (f"{self._prefix}s1_{host}", f"{self._prefix}{host}", host):
            path = self.folder / name if self.folder is not None else None
            if path is not None and os.path.isfile(path):
                try:
                    tree = json.loads(path.read_text(encoding="utf-8"))
                    tree = json.loads(tree["__payload__"]) if "__payload__" in tree else tree
                except (OSError, ValueError, TypeError) as error:
                    raise AnsibleError(YAML, f"these facts cannot be read: {error}", file=str(path)) from None
                if isinstance(tree, dict):
                    file = path.relative_to(self._root) if path.is_relative_to(self._root) else path
                    return {key: _plain(value) for key, value in tree.items()}, file.as_posix()
        return {}, ""

    def layer(self, host: str) -> Layer | None:
        """The layer of variables that the facts of a host set; None if they set none.

        Facts that would change the connection, such as `ansible_connection`, set no variable. If inject_facts_as_vars
        is off, the layer sets only `ansible_local`, for every host. raises: AnsibleError
        """
        facts, file = self.facts_of(host)
        steering = [name for name in facts if name in _STEERING or _INTERPRETER.fullmatch(name)]
        injected = {name: value for name, value in facts.items() if name not in steering}
        if not self._inject:
            injected = {"ansible_local": facts.get("ansible_local", {})}
        return Layer(injected, Origin("facts", host, file or None), title(11)) if injected else None

    def ansible_facts_of(self, host: str) -> dict[str, Any]:
        """The value of the variable `ansible_facts` of a host: name without `ansible_` -> value; {} without facts."""
        return {
            name if name == "ansible_local" else name.removeprefix(_PREFIX): value
            for name, value in self.facts_of(host)[0].items()
        }


def _plain(value: Any) -> Any:
    return with_leaves(value, lambda one: Unsafe(one) if isinstance(one, str) else one, marked=_typed)


def _typed(value: dict[Any, Any]) -> Any:
    return _plain(value["value"]) if "__ansible_type" in value and "value" in value else ABSENT


LOCALHOST = "localhost"
_WANTS_A_NAME = re.compile(r"REQUIRES_(?:ENABLED|WHITELIST)\s*=\s*True")


class Inventory:
    """The sources of an inventory, read, with the files of variables beside them.

    sources:         files, folders and lists of hosts, in order; without any, ansible.cfg names them
    folder:          the working folder: ansible.cfg is read there, and paths are relative to it. None: the current
                     folder
    playbook_dir:    the folder whose group_vars and host_vars count as the playbook's. None: ansible.cfg names it, or
                     it is the working folder
    extra_vars:      texts as `-e` takes them
    environment:     variables that override ansible.cfg, such as ANSIBLE_HASH_BEHAVIOUR. None: no variables
    facts:           a folder of cached facts, a JSON file for each host. None: ansible.cfg names it
    lenient:         True: a broken file of variables is a warning, and its variables are unknown; False: it is an error
    run_inventory:   dynamic sources that are run. With `SOURCE=FILE`, FILE is read as their output and nothing is run
    vault_passwords: files with passwords of vaults, `FILE` or `ID@FILE`. Decrypted values are `Sensitive`
    sensitive_paths: paths whose first step is a variable; values there are secrets in every answer

    The constructor reads ansible.cfg and all sources, but no group_vars or host_vars. `host(name)` gives the variables
    of a host; each file is read at its first use and kept. `own` and `of_group` give the variables of a host without
    its groups, and of a group without its parents. `matching` gives the names of the hosts that patterns select; [] for
    none. `not_run` and `unread` say what was not read; [] for nothing. `warnings` grows while hosts are asked about.
    `require_host` gives the `Host` of a name, or raises AnsibleError. For tasks, `layers_with_facts` gives the layers
    of a host, and `regrouped` a copy of a host in more groups. `magic_variables` gives what Ansible sets itself, among
    it `hosts_of_groups`. `names_set_by_groups_like` takes a group's name with gaps; it gives the names of the variables
    that groups of this name may set, or None for any variable. `has_own` is False for a host with nothing of its own.
    `setting_origin` is the place of a setting.

    raises: AnsibleError, for a configuration that cannot be read, and for extra variables that are not a map. Methods
            raise it for an unknown host or group, and for a broken file unless *lenient*
    """

    @checked_args(
        sources=tuple,
        folder=A_PATH | None,
        playbook_dir=A_PATH | None,
        extra_vars=ListLike,
        environment=Mapping | None,
        run_inventory=ListLike,
        vault_passwords=ListLike,
        sensitive_paths=ListLike,
    )
    def __init__(
        self,
        *sources: str | os.PathLike[str],
        folder: str | os.PathLike[str] | None = None,
        playbook_dir: str | os.PathLike[str] | None = None,
        extra_vars: Iterable[str] = (),
        environment: Mapping[str, str] | None = None,
        facts: str | os.PathLike[str] | None = None,
        lenient: bool = False,
        run_inventory: Iterable[str] = (),
        vault_passwords: Iterable[str] = (),
        sensitive_paths: Iterable[Steps] = (),
    ) -> None:
        self.folder = Path(folder or ".").resolve()
        self._warnings: dict[str, AnsibleError] = {}
        self.config: AnsibleConfig = config_of(self.folder, environment or {})
        self.sensitive_paths = tuple(sensitive_paths)
        self.policy = MERGE if self.config.hash_behaviour == "merge" else REPLACE
        passwords = [*vault_passwords, *self._passwords()]
        self.files = VariableFiles(self.folder, self.warn, lenient=lenient, passwords=passwords)
        if self.config.passed_over is not None:
            self.warn(SETTING, "it does not count: every user may write into its folder", "ansible.cfg", None)
        playbook_dir = playbook_dir or self.config.playbook_dir or None
        self.playbook_dir = self.folder / (playbook_dir or ".")
        self._named_dir = [] if playbook_dir is None else [self.playbook_dir]
        self.extra = _extra_layers(extra_vars, self.files)
        self.facts = FactCache(self.config, self.folder, None if facts is None else self.folder / facts)
        self.tree = InventoryTree(self.warn, rename=self.config.force_valid_group_names in ("always", "silently"))
        self._plans: dict[Any, list[Plan]] = {}
        self._python: dict[Path, list[Path]] = {}
        dynamic = DynamicSources(self.files, run_inventory)
        self._sources = InventorySources(self.tree, self.files, self.config, self.warn, dynamic, self._variables_before)
        self._sources.read(tuple(os.fspath(one) for one in sources) or self.config.inventory)
        self._order = tuple(entry for entry in self.config.precedence if entry in PRECEDENCE)
        for entry in self.config.precedence:
            if entry not in PRECEDENCE:
                self.warn(PRECEDENCE_ENTRY, f"precedence has no {entry!r}", None, None)
        for layer in self.extra:
            self._warn_of_reserved_names(layer)

    @property
    def warnings(self) -> list[AnsibleError]:
        """The warnings so far, each once, in the order in which they were found."""
        return list(self._warnings.values())

    def warn(self, kind: Kind, message: str, file: str | None, line: int | None) -> None:
        """Add a warning to `warnings`, unless the same one is there."""
        found = new_warning(kind, message, file, line)
        self._warnings.setdefault(str(found), found)

    @contextmanager
    def without_new_warnings(self) -> Iterator[None]:
        """A context in which warnings are dropped: at its end `warnings` is as it was at its start."""
        known = dict(self._warnings)
        try:
            yield
        finally:
            self._warnings = known

    def _passwords(self) -> Iterator[str]:
        """Yield the password files of ansible.cfg that lie below the working folder and are no programs; warn of
        any other.
        """
        config = self.config
        named = [("vault_password_file", config.vault_password_file)] if config.vault_password_file else []
        named += [("vault_identity_list", one) for one in config.vault_identity_list]
        for setting, one in named:
            path = Path(one.rpartition("@")[2])
            is_below = path.resolve().is_relative_to(self.folder) and not border.is_outside(path)
            if is_below and path.is_file() and not os.access(path, os.X_OK):
                yield one
                continue
            what = "lies outside of the folder"
            if is_below:
                what = "is a program" if path.is_file() else "is not there"
            file, _, line = config.places[setting].partition(":")
            message = f"the password file {path.name} {what}, and was not read; --vault-password-file names one"
            self.warn(VAULT, message, file, int(line) if line else None)

    # --- hosts and groups

    @cached_property
    def hosts(self) -> dict[str, Host]:
        """Name -> host, in the order of the inventory."""
        return self.tree.groups["all"].all_hosts()

    @property
    def groups(self) -> dict[str, Group]:
        """Name -> group, in the order in which they were named; `all` and `ungrouped` are always there."""
        return self.tree.groups

    @property
    def not_run(self) -> list[Origin]:
        """The places of sources that were not read: scripts and plugins that were not run or failed, encrypted files.

        [] if all sources were read. Each of them may define hosts, groups and variables.
        """
        return [one.origin for one in self._sources.not_run]

    def matching(self, *pattern: str, regrouped: Host | None = None) -> list[str]:
        """The names of the hosts that patterns such as `web:!h2` select together, in the order of the parts.

        If a part selects no host, there is a warning. [] if no host is left.

        pattern:   one or more patterns; none: all hosts
        regrouped: a host as `regrouped` returns it; patterns see its groups instead of those in the inventory. None:
                   the inventory as it is
        raises:    AnsibleError, for a regular expression that cannot be read
        """
        groups = dict(self.groups)
        if regrouped is not None:
            left = groups["ungrouped"]
            others = {name: host for name, host in left.hosts.items() if name != regrouped.name}
            groups["ungrouped"] = replace(left, hosts=others)
            for group in self.tree.groups_of(regrouped):
                groups[group.name] = replace(group, leading_hosts={**group.leading_hosts, regrouped.name: regrouped})
        return hosts_matching(pattern, KnownHosts(self.hosts, groups, self.warn))

    def regrouped(self, host: Host, names: Iterable[str]) -> Host:
        """A copy of a host that is also in the named groups, and no longer in `ungrouped`.

        A group that the inventory does not have is made below `all`; only files set its variables. Without names the
        copy has the same groups.
        """
        new = {name: Group(name, parents={"all": self.groups["all"]}) for name in names}
        groups = {**host.groups, **{name: self.groups.get(name, group) for name, group in new.items()}}
        return replace(host, groups={name: group for name, group in groups.items() if not new or name != "ungrouped"})

    @checked_args(name=str)
    def host(self, name: str) -> Variables:
        """The variables of a host outside of a play, as `ansible-inventory --host` has them. Files are read at their
        first use.

        raises: AnsibleError of kind "no-host", for a name that is not there; "localhost" always is
        """
        found = self.require_host(name)
        magic = partial(self.magic_variables, found)
        return Variables(
            name, "the inventory", lambda: self._layers_outside_plays(found), self.policy, magic, self.sensitive_paths
        )

    def unread(self, hosts: Iterable[str]) -> list[Layer]:
        """The unknown layers that may change the variables of hosts, or which hosts and groups there are.

        Without hosts only the sources that were not read. cost: one look at each layer of each host
        """
        return [*self._unknown(3), *(layer for name in hosts for layer in self.host(name).unread())]

    def _layers_outside_plays(self, host: Host) -> list[Plan]:
        layers = self.layers_with_facts(host, self.playbook_dir, self._named_dir)
        return [*layers, *as_one_fold(self.extra, self.policy)]

    def layers_with_facts(
        self, host: Host, playbook_dir: Path | None, beside: Iterable[Path], changed: Sequence[Layer] = ()
    ) -> list[Plan]:
        """The layers of levels 3 to 11 for a host, the weakest first.

        playbook_dir: the folder whose files count as the playbook's. None: only the files beside the inventory count,
                      and their variables count as variables of the inventory itself
        beside:       the folders of playbooks and roles, in which `vars_plugins` may lie
        changed:      unknown layers of tasks that may have changed groups (level 7) and hosts (level 8)
        raises:       AnsibleError, for a file that is broken; never if the inventory is lenient
        """
        facts = self.facts.layer(host.name)
        plugins = self._plugins([folder / "vars_plugins" for folder in beside])
        return [*self._inventory_layers(host, playbook_dir, changed), *plugins, *([] if facts is None else [facts])]

    @checked_args(name=str)
    def own(self, name: str) -> Variables:
        """The variables of a host itself, without the variables of its groups: levels 8 to 10. Files are read at the
        first use.

        The files in host_vars beside the inventory count. Those of the playbook count only if the constructor or
        ansible.cfg names a playbook_dir.

        raises: AnsibleError of kind "no-host"
        """
        host = self.require_host(name)
        files = ((9, self._sources.places), (10, self._named_dir))

        def plan() -> list[Plan]:
            read = [one for level, places in files for one in self._files(places, "host_vars", [name], level)]
            return [*as_one_fold(host.layers, self.policy), *read]

        return Variables(name, "its own", plan, self.policy, dict, self.sensitive_paths)

    @checked_args(name=str)
    def of_group(self, name: str) -> Variables:
        """The variables of a group itself, without the variables of its parents: levels 3 to 7. Its files are read at
        once.

        raises: AnsibleError, of kind "no-group" for an unknown group, and for a broken file unless the inventory is
                lenient
        """
        if name not in self.groups:
            close = near(name, self.groups)
            raise AnsibleError(NO_GROUP, f"no group {name}", hint=f"did you mean {close[0]}?" if close else None)
        group = self.groups[name]
        levels = (4, 5) if name == "all" else (6, 7)
        files = zip(levels, (self._sources.places, self._named_dir), strict=True)
        read = [one for level, places in files for one in self._files(places, "group_vars", [name], level)]
        plan = [*as_one_fold(group.layers, self.policy), *read]
        return Variables(name, "the group alone", lambda: plan, self.policy, dict, self.sensitive_paths)

    def require_host(self, name: str) -> Host:
        """The host of a name; for "localhost" that no source names, the implicit one.

        raises: AnsibleError of kind "no-host", with a near name and the sources that were not run as hints
        """
        if name in self.hosts:
            return self.hosts[name]
        if name == LOCALHOST:
            implicit = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
            return Host(LOCALHOST, {}, [Layer(implicit, Origin("implicit localhost"), title(8))])
        close = near(name, self.hosts)
        hints = [f"did you mean {close[0]}?"] if close else []
        hints += [f"{one.file} may have it: it was not run" for one in self.not_run]
        raise AnsibleError(NO_HOST, f"the inventory has no host {name}", hint="; ".join(hints) or None)

    def has_own(self, host: Host) -> bool:
        """Whether a host may have variables of its own: in a source, in a file of host_vars, or as cached facts.

        Without them, another host with the same groups has the same variables. raises: AnsibleError
        """
        files = {f"{host.name}{ending}" for ending in ("", *self.config.yaml_valid_extensions)}
        folders = [place / "host_vars" for place in (*self._sources.places, self.playbook_dir)]
        is_named = "/" in host.name or any(
            border.is_layer_outside(one) or not files.isdisjoint(self.files.names_in(one)) for one in folders
        )
        return bool(host.layers) or is_named or self.facts.layer(host.name) is not None

    def magic_variables(self, host: Host) -> dict[str, Any]:
        """The variables that Ansible sets for a host outside of plays, such as `group_names`: name -> value.

        A variable that only a run of Ansible knows is left out.
        """
        groups = self.tree.groups_of(host) if host.groups else []
        places = {"groups": self.hosts_of_groups(), "playbook_dir": str(self.playbook_dir)}
        return {**_names_and_source(host, groups), **places}

    def hosts_of_groups(self) -> dict[str, list[str]]:
        """The variable `groups`: name of a group -> the names of the hosts in it and in the groups below it."""
        return {name: list(group.all_hosts()) for name, group in self.groups.items()}

    def names_set_by_groups_like(self, name: str, folders: Iterable[Path]) -> frozenset[str] | None:
        """The names of the variables that some groups may set: groups whose name fits *name*, and the groups above
        these.

        The group `all` is left out. A group that has only a file in group_vars counts. None if an unknown layer may
        set any variable.

        name:    a group's name with `templates.GAP` for each part that is not known, as `fits_gaps` takes it. It also
                 counts with "_" for each "-"
        folders: folders of playbooks, which may have a folder group_vars
        """
        places = [*self._sources.places, *dict.fromkeys(folders)]
        named = {file.partition(".")[0] for place in places for file in self.files.names_in(place / "group_vars")}
        found = {
            one for one in (*self.groups, *named) if fits_gaps(one, name) or fits_gaps(one, name.replace("-", "_"))
        }
        above = (self.groups[one].ancestors() for one in found if one in self.groups)
        found = {*found, *(one for names in above for one in names)} - {"all"}
        layers = [layer for one in found if one in self.groups for layer in self.groups[one].layers]
        plan = Fold((Layer({}), *layers, *self._files(places, "group_vars", sorted(found), 7)), self.policy)
        return names_set_by(plan.layers())

    # --- while sources are read

    def _variables_before(self, options: dict[Any, Any], places: list[Path], host: Host, sees_extra: bool) -> Variables:
        """The variables that sources before a file of the plugin `constructed` give a host. options: of that file"""
        groups = self.tree.groups_so_far(host)
        inline = [layer for group in self.tree.ordered(groups) for layer in group.layers]
        plans = list(as_one_fold(inline, self.policy))
        sees_files = is_yes(options.get("use_vars_plugins", False))
        if sees_files:
            plans += self._files(places, "group_vars", [group.name for group in groups], 6)
        plans += host.layers
        if sees_files:
            plans += [*self._files(places, "host_vars", [host.name], 9), *self._plugins(())]
        facts, file = self.facts.facts_of(host.name)
        plans += [Layer(facts, Origin("facts", host.name, file), title(11))] if facts else []
        plans += self.extra if sees_extra else []
        magic = partial(_names_and_source, host, groups)
        return Variables(host.name, "the inventory", lambda: plans, self.policy, magic, self.sensitive_paths)

    # --- layers

    def _inventory_layers(self, host: Host, playbook_dir: Path | None, changed: Sequence[Layer]) -> list[Plan]:
        """The layers of levels 3 to 10 for a host, the weakest first; parameters as of `layers_with_facts`."""
        groups = [group for group in self.tree.groups_of(host) if group.name != "all"]
        beside = None if playbook_dir is None else [playbook_dir]
        if self._sources.places[-1:] == beside and self._order == PRECEDENCE:
            beside = []  # the inventory's files are the same, and come just before
        plan = [one for entry in self._order for one in self._layers_of_entry(entry, groups, beside)]
        of_groups = [one for one in changed if one.title == title(7)]
        own = [*as_one_fold(host.layers, self.policy), *self._unknown(8)]
        files = self._files(self._sources.places, "host_vars", [host.name], 9)
        if beside is None:
            own, files = as_one_fold([*own, *files], self.policy), []
        of_hosts = [one for one in changed if one not in of_groups]
        files += self._files(beside or (), "host_vars", [host.name], 10)
        return [*self._unknown(3), *plan, *of_groups, *own, *of_hosts, *files]

    def _unknown(self, level: int) -> list[Layer]:
        """An unknown layer for each source that was not run."""
        return [Layer.unknown(title(level), one.origin, one.unknown.reason) for one in self._sources.not_run]

    def _layers_of_entry(self, entry: str, groups: list[Group], beside: list[Path] | None) -> list[Plan]:
        """The layers of one entry of the option `precedence`: of `all` or of *groups*, by files or by the inventory.

        beside: folders with the playbook's files; None: the inventory's files count as if they stood in it
        """
        level = 6
        if entry.startswith("all_"):
            groups, level = [self.groups["all"]], 4
        names = [group.name for group in groups]
        if entry.endswith("_plugins_play"):
            return self._files(beside or (), "group_vars", names, level + 1)
        if entry.endswith("_plugins_inventory"):
            return [] if beside is None else self._files(self._sources.places, "group_vars", names, level)
        level_of_files = level if beside is None else None
        return as_one_fold([one for group in groups for one in self._inline(group, level_of_files)], self.policy)

    def _inline(self, group: Group, level: int | None) -> list[Plan]:
        """The variables of a group in the inventory itself, as one fold that all of its hosts share; [] for none.

        level: the level of files of group_vars that count as part of the inventory; None: there are no such files
        """
        if (group.name, level) not in self._plans:
            files = [] if level is None else self._files(self._sources.places, "group_vars", [group.name], level)
            parts = [*group.layers, *files]
            self._plans[group.name, level] = parts if len(parts) < 2 else [SharedFold(tuple(parts), self.policy)]
        return self._plans[group.name, level]

    def _files(self, places: Iterable[Path], kind: str, names: list[str], level: int) -> list[Plan]:
        """The layers of the files of some hosts or groups, one fold for each place; a later place is stronger.

        [] if the plugin host_group_vars is off. kind: "group_vars" or "host_vars"
        """
        if "host_group_vars" not in (one.rpartition(".")[2] for one in self.config.vars_plugins_enabled):
            return []
        found = []
        for place in places:
            within = [one for name in names for one in self._named(place / kind, kind, name, level)]
            found += as_one_fold(within, self.policy)
        return as_one_fold(found, self.policy)

    def _named(self, folder: Path, kind: str, name: str, level: int) -> list[Plan]:
        key = folder, name, level
        if key not in self._plans:
            layers = self.files.layers_of_name(folder, name, self.config.yaml_valid_extensions, kind, title(level))
            for layer in layers:
                self._warn_of_reserved_names(layer)
            self._plans[key] = list(layers)  # not one fold: Ansible merges the files of all groups of a place in turn
        return self._plans[key]

    def _plugins(self, folders: Iterable[Path]) -> list[Layer]:
        """An unknown layer for each plugin that may set variables, and for each unread setting of ansible.cfg.

        The plugin of group_vars and host_vars is left out. Two kinds of modules are left out, too: a module that sets
        nothing, and a module that must be enabled by name and is not.
        """
        config = self.config
        enabled = [one for one in config.vars_plugins_enabled if one.rpartition(".")[2] != "host_group_vars"]
        found = {one: self.setting_origin("vars plugin", one) for one in enabled}
        found |= {one: self.setting_origin("setting", one) for one in config.unread if one not in TAGS}
        for path in (path for folder in (*map(Path, config.vars_plugins), *folders) for path in self._modules(folder)):
            text = self.files.text(path).text
            if _sets_nothing(text):
                found.pop(path.stem, None)
            elif path.stem in enabled or not _WANTS_A_NAME.search(text):
                found[path.stem] = Origin("vars plugin", path.stem, self.files.shown(path), 1)
        return [Layer.unknown(title(10), origin, "is not followed") for origin in found.values()]

    def setting_origin(self, kind: str, name: str) -> Origin:
        """The origin for a setting or a plugin: the ansible.cfg that was read, or no file without one."""
        return Origin(kind, name, None if self.config.file is None else self.files.shown(self.config.file))

    def _modules(self, folder: Path) -> list[Path]:
        """The Python files in a folder and below; kept."""
        if folder not in self._python:
            self._python[folder] = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
        return self._python[folder]

    def _warn_of_reserved_names(self, layer: Layer) -> None:
        """Warn of variables whose names are words of plays and tasks."""
        for name in RESERVED.intersection(layer.value if isinstance(layer.value, dict) else ()):
            origin = layer.origin.at((name,))
            self.warn(RESERVED_NAME, f"{name} is a word of plays and tasks", origin.file, origin.line)


def _names_and_source(host: Host, groups: list[Group]) -> dict[str, Any]:
    """The variables that Ansible sets for the names of a host and of its groups, and for the source of the host."""
    names = {
        "inventory_hostname": host.name,
        "inventory_hostname_short": host.name.split(".")[0],
        "group_names": sorted(group.name for group in groups if group.name != "all"),
    }
    if host.source is None:
        return names
    folder = str(Path(host.source).parent) if os.path.isabs(host.source) else "None"
    return {**names, "inventory_file": host.source, "inventory_dir": folder}


@lru_cache(maxsize=64)
def _sets_nothing(source: str) -> bool:
    """Whether a vars plugin has one method `get_vars`, which only returns an empty map. The source is not run."""
    if source.count("get_vars") != 1:  # code may set the method in another way
        return False
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    classes = [one for one in module.body if isinstance(one, ast.ClassDef)]
    classes = [one for one in classes if not (one.decorator_list or one.keywords)]
    methods = [
        one for its in classes for one in its.body if isinstance(one, ast.FunctionDef) and one.name == "get_vars"
    ]
    if not methods or methods[0].decorator_list or len(methods[0].body) != 1:
        return False
    only = methods[0].body[0]
    return isinstance(only, ast.Return) and isinstance(only.value, ast.Dict) and not only.value.keys


# --- extra variables

_COMMAND_LINE = Origin("-e")


def _extra_layers(given: Iterable[str], files: VariableFiles) -> list[Layer]:
    """A layer for each text that `-e` gave, the weakest first. A text that sets nothing gives no layer.

    given:  each a map in YAML or JSON, `name=value` words, or `@FILE`. An encrypted file is an unknown layer
    files:  reads the files and keeps them
    raises: AnsibleError, for a file that is not there and for a text that is not a map
    """
    found = []
    for text in given:
        layer = (
            _extra_file(text[1:], files)
            if text.startswith("@")
            else Layer(_extra_map_in(text), _COMMAND_LINE, title(22))
        )
        found += [layer] if layer.value else []
    return found


def _extra_file(name: str, files: VariableFiles) -> Layer:
    document = files.document(files.folder / name)
    if document is None:
        return Layer.unknown(title(22), Origin("-e", "", name, 1), "is encrypted")
    return Layer(_extra_map(document.tree, f"@{name}"), document.locator("-e", ""), title(22))


def _extra_map_in(text: str) -> dict[Any, Any]:
    if text[:1] in ("{", "["):
        return _extra_map(parsed(Text("-e", text)).tree, text)
    return parsed_words(text)


def _extra_map(tree: Any, text: str) -> dict[Any, Any]:
    if not isinstance(tree, dict):
        raise AnsibleError(EXTRA_VARS, f"{text!r} is not a map of variables", file="-e", hint="write {name: value}")
    return tree

"""Hosts and groups of an inventory: which host is in which group, the layers of variables of each, and patterns.

All sources are read into one `InventoryTree`, one after the other. A group's depth is the longest way from `all` to the
group. Where two groups of a host set one variable, the deeper group wins; then the higher priority; then the later
name. A pattern selects hosts by names, groups, wildcards, `~` and a regular expression, `a:b`, `a:&b`, `a:!b`, `g[0]`.
The module knows no notation of files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from nodeattrs.core.budget import MAX_DIGITS, Budget
from nodeattrs.core.claim import Locator
from nodeattrs.core.fold import Layer
from nodeattrs.dialects.ansible.faults import GROUP_IS_HOST, GROUP_NAME, INVENTORY, NO_MATCH, AnsibleError, Warn
from nodeattrs.dialects.ansible.levels import title as titled
from nodeattrs.formats.patterns import BadPattern, expression

PRIORITY = "ansible_group_priority"
_ODD = re.compile(r"^[\d\W]|[^\w]", re.ASCII)


@dataclass
class Group:
    """A group of hosts, filled while sources are read.

    name:            the name of the group
    hosts, children: hosts and groups that the group itself names, by name, in the order in which they were named
    parents:         the groups that have it as a child, by name
    layers:          its variables in inventory files, in the order of reading; files of group_vars are not here
    priority:        the value of ansible_group_priority. Of two groups of equal depth, the one with the higher priority
                     wins
    leading_hosts:   hosts that `all_hosts` lists first, though they may not be in `hosts`

    `ancestors` gives the groups above it, by name, without itself; `with_descendants` itself and all groups below it.
    `all_hosts` gives the hosts of these, by name. `depth` is the longest way from `all`; 0 without parents. It is
    computed at its first use and kept until the tree's `groups_so_far` or `reconcile` is called.
    """

    name: str
    hosts: dict[str, Host] = field(default_factory=dict)
    children: dict[str, Group] = field(default_factory=dict)
    parents: dict[str, Group] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    priority: int = 1
    leading_hosts: dict[str, Host] = field(default_factory=dict)

    @cached_property
    def depth(self) -> int:
        """The longest way from `all`; 0 for a group without parents.

        raises: AnsibleError, where groups are nested too deeply
        """
        try:
            return max((parent.depth + 1 for parent in self.parents.values()), default=0)
        except RecursionError:
            hint = "nest the groups less deeply"
            raise AnsibleError(INVENTORY, f"the group {self.name} is nested too deeply", hint=hint) from None

    def ancestors(self) -> dict[str, Group]:
        """All groups above it by name, without itself, depth first; {} without parents."""
        found = _depth_first(self, lambda group: group.parents)
        del found[self.name]
        return found

    def with_descendants(self) -> dict[str, Group]:
        """Itself, then all groups below it by name, each once, depth first."""
        return _depth_first(self, lambda group: group.children)

    def all_hosts(self) -> dict[str, Host]:
        """The hosts of the group and of all groups below it, by name, each once.

        Those in `leading_hosts` come first, then its own hosts, then the hosts of the groups below it, level by level.
        """
        found, level, seen = self.leading_hosts | self.hosts, [self], {self.name}
        while level:
            level = [child for group in level for child in group.children.values()]
            level = [group for name, group in {group.name: group for group in level}.items() if name not in seen]
            seen.update(group.name for group in level)
            for group in level:
                found |= {name: host for name, host in group.hosts.items() if name not in found}
        return found


def _depth_first(start: Group, following: Callable[[Group], dict[str, Group]]) -> dict[str, Group]:
    """A group and those that follow it, each once, depth first."""
    found: dict[str, Group] = {}
    left = [start]
    while left:
        group = left.pop()
        if group.name not in found:
            found[group.name] = group
            left += reversed(following(group).values())
    return found


@dataclass
class Host:
    """A host of an inventory, filled while sources are read.

    name:   the name of the host
    groups: the groups that name it, by name, in the order in which it joined them
    layers: its variables in inventory files, in the order of reading; files of host_vars are not here
    source: the first file or list of hosts that named it; None for the implicit localhost
    since:  for each entry of `groups`, the number of pairs of parent and child in the tree when the host joined it
    """

    name: str
    groups: dict[str, Group] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    source: str | None = None
    since: list[int] = field(default_factory=list)


class InventoryTree:
    """The hosts and groups of all sources of one inventory. It starts with the groups `all` and `ungrouped`.

    groups, hosts: by name, in the order in which they were named
    source:        the source that is being read; the reader sets it, and new hosts keep it
    warn:          called for names of groups that are no names of variables, and for a host with the name of a group
    rename:        True: in a group's name, each character that a variable's name cannot have becomes `_`

    Readers add to the tree with `group`, `host`, `nest` and `set_variables`. `group` and `host` create what does not
    exist. `group_name` gives the name that a group gets here, and `port_of` the variable for a port behind a host's
    name. After the last source `reconcile` is called once. After that, `groups_of` gives the groups of a host by
    strength. Before, `groups_so_far` gives them in the order of joining. `ordered` sorts groups by strength, the
    weakest first.
    """

    def __init__(self, warn: Warn, *, rename: bool = False) -> None:
        self.groups: dict[str, Group] = {}
        self.hosts: dict[str, Host] = {}
        self.source: str | None = None
        self._taken_out: set[str] = set()
        self._odd_names: set[str] = set()
        self._nested: dict[tuple[str, str], int] = {}
        self._budget = Budget("inventory")
        self._warn = warn
        self._rename = rename
        for name in ("all", "ungrouped"):
            self.group(name)
        self.nest("all", "ungrouped")

    def group(self, name: str, file: str | None = None, line: int | None = None) -> Group:
        """The group of a name. It is created if it does not exist.

        name:       the name may be changed as `group_name` does
        file, line: the place for a warning about the name; None if it is not known
        """
        name = self.group_name(name, file, line)
        if name not in self.groups:
            self.groups[name] = Group(name)
        return self.groups[name]

    def group_name(self, name: str, file: str | None = None, line: int | None = None) -> str:
        """The name that the tree uses for a group. The tree is not changed.

        A name with characters that no variable's name has gives a warning, once. With `rename`, each such character is
        then replaced by `_`. The name of a group that exists is returned unchanged, without a warning.

        file, line: the place for the warning; None if it is not known
        """
        if name in self.groups or not _ODD.search(name):
            return name
        if name not in self._odd_names:
            self._odd_names.add(name)
            self._warn(GROUP_NAME, f"the group name {name!r} has signs that no name of a variable has", file, line)
        return _ODD.sub("_", name) if self._rename else name

    def host(self, name: str, group: str) -> Host:
        """The host of a name, which is put into a group. It is created if it does not exist.

        group:  the name of the group; nothing changes if the host is in it
        raises: KeyError, for an unknown group
        """
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = Host(name, source=self.source)
        its = self.groups[group]
        if name not in its.hosts:
            its.hosts[name] = host
            host.groups[group] = its
            host.since.append(len(self._nested))
        return host

    def port_of(self, name: str, port: int | None) -> dict[str, Any]:
        """The variable that a port behind a host's name sets: {"ansible_port": port}. {} without a port.

        As in Ansible, a port counts only where the host is named for the first time: {} for a host that the tree has.
        """
        return {} if port is None or name in self.hosts else {"ansible_port": port}

    def nest(self, parent: str, child: str, file: str | None = None, line: int | None = None) -> None:
        """Make the group *child* a child of the group *parent*. Nothing changes if it is its child already.

        file, line: the place for the error; None if it is not known
        raises:     AnsibleError, if *child* would be above itself; KeyError, for a group that does not exist; TooMuch
        """
        above, below = self.groups[parent], self.groups[child]
        reached = below.with_descendants()
        self._budget.steps(4 * len(reached))
        if parent in reached:
            raise AnsibleError(INVENTORY, f"{child} would be its own parent", file=file, line=line)
        above.children.setdefault(child, below)
        below.parents.setdefault(parent, above)
        self._nested.setdefault((child, parent), len(self._nested) + 1)

    def set_variables(self, of: Group | Host, values: dict[Any, Any], locator: Locator, title: str) -> None:
        """Add a layer of variables to a host or a group. An empty map adds nothing.

        If a host has the name of a group, the layer is added to the group, as in Ansible. A group's
        ansible_group_priority sets its `priority` and is in no layer.

        of:      the host or group
        values:  variable -> value; the map itself is not changed
        locator: gives the origin of each variable
        title:   the title of the layer, with its level
        raises:  AnsibleError, for a priority that is not a number
        """
        if isinstance(of, Host) and of.name in self.groups:
            of, title = self.groups[of.name], titled(3)
        if isinstance(of, Group) and PRIORITY in values:
            of.priority = _number(values[PRIORITY], locator)
            values = {name: value for name, value in values.items() if name != PRIORITY}
        if values:
            of.layers.append(Layer(values, locator, title))

    def groups_so_far(self, host: Host) -> list[Group]:
        """The groups of a host and all groups above them, in the order in which the host joined them. For use before
        `reconcile`.

        A host joins a group if the group names it. If one of its groups becomes a child of another group, the host
        joins that group, too. Groups that it joins at the same time are in any order; Ansible's order is not fixed
        either.
        """
        found: dict[str, Group] = {}
        for group in host.groups.values():
            found |= {**group.ancestors(), group.name: group} if group.name not in found else {}
        self._forget_depths()
        times: dict[str, float] = {}
        ahead = [(since + 0.5, name) for name, since in zip(host.groups, host.since, strict=True)]
        heapify(ahead)
        while ahead:
            time, name = heappop(ahead)
            if name not in times:
                times[name] = time
                for parent in self.groups[name].parents:
                    heappush(ahead, (max(time, self._nested[name, parent]), parent))
        return sorted(found.values(), key=lambda group: times[group.name])

    @staticmethod
    def ordered(groups: Iterable[Group]) -> list[Group]:
        """Groups sorted by strength, the weakest first."""
        return sorted(groups, key=lambda group: (group.depth, group.priority, group.name))

    def _forget_depths(self) -> None:
        for group in self.groups.values():
            group.__dict__.pop("depth", None)

    def reconcile(self) -> None:
        """Complete the tree after the last source.

        A group without a parent becomes a child of `all`. A host without a group joins `ungrouped`; if a group has its
        name, that group becomes a child of `ungrouped` instead. A host with another group leaves `ungrouped`, and each
        host leaves `all` itself. A host that has the name of a group gives a warning.
        """
        self._forget_depths()
        for name, group in self.groups.items():
            if name != "all" and not group.parents:
                self.nest("all", name)
        everyone, ungrouped = self.groups["all"], self.groups["ungrouped"]
        everyone.leading_hosts = dict(everyone.hosts)
        for name, host in self.hosts.items():
            is_grouped = any(group not in ("all", "ungrouped") for group in host.groups)
            if is_grouped and name in ungrouped.hosts:
                del ungrouped.hosts[name], host.groups["ungrouped"]
                self._taken_out.add(name)  # it has no `ungrouped`, even if a group below `ungrouped` has the host
            elif not is_grouped and name in self.groups and name not in ungrouped.hosts:
                self.nest("ungrouped", name)  # Ansible finds the group of that name first
                self._taken_out -= self.groups[name].all_hosts().keys()
            elif not is_grouped:
                self.host(name, "ungrouped")
            if name in everyone.hosts:
                del everyone.hosts[name], host.groups["all"]
            if name in self.groups:
                self._warn(GROUP_IS_HOST, f"{name!r} is a host and a group", None, None)

    def groups_of(self, host: Host) -> list[Group]:
        """The groups of a host and all groups above them, with `all`, the weakest first. Call it after `reconcile`."""
        found: dict[str, Group] = {"all": self.groups["all"]}
        for group in host.groups.values():
            found |= {group.name: group, **group.ancestors()}
        if host.name in self._taken_out:
            found.pop("ungrouped", None)
        return self.ordered(found.values())


def _number(value: Any, locator: Locator) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        origin = locator.at((PRIORITY,))
        raise AnsibleError(
            INVENTORY, f"{PRIORITY} {value!r} is not a number", file=origin.file, line=origin.line
        ) from None


class KnownHosts(NamedTuple):
    """The hosts and groups, by name, that patterns select from. warn: called for a part that selects no host"""

    hosts: Mapping[str, Any]
    groups: Mapping[str, Group]
    warn: Warn


_PARTS = re.compile(r"(?:\[[^\]]*\]|[^,:\[])+")
_ADDRESS = re.compile(r"\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+\]?")
_INDEX = re.compile(r"(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]")


def hosts_matching(pattern: Iterable[str], known: KnownHosts) -> list[str]:
    """The names of the hosts that patterns select together, each once. [] if they select none.

    The hosts of plain parts come first, in the order of the parts. Then each `&` part keeps only its hosts, and each
    `!` part removes its hosts. Without a plain part, all hosts are selected first. A part that selects no host gives a
    warning.

    pattern: texts such as "web:!h2"; each may have several parts
    known:   the hosts and groups, and the function that takes warnings
    raises:  AnsibleError, for a regular expression that cannot be read
    source:  Ansible's documentation, "Patterns: targeting hosts and groups"
    """
    parts = [part for one in pattern for part in _split(one)]
    plain = [part for part in parts if part[0] not in "&!"] or ["all"]
    found: dict[str, None] = {}
    for part in plain:
        # The host counts, also if a group has the same name.
        found |= dict.fromkeys([part] if part in known.hosts else _names_of_part(part, known))
    for part in parts:
        if part[0] == "&":
            both = set(_names_of_part(part[1:], known))
            found = {name: None for name in found if name in both}
    for part in parts:
        if part[0] == "!":
            for name in _names_of_part(part[1:], known):
                found.pop(name, None)
    return list(found)


def _split(pattern: str) -> list[str]:
    if "," in pattern:
        return [part.strip() for part in pattern.split(",") if part.strip()]
    if pattern.startswith("~") or _ADDRESS.fullmatch(pattern):
        return [pattern]
    closed = pattern.rfind("]") + 1  # a bracket behind it is not closed, and separates parts
    text = pattern[:closed] + pattern[closed:].replace("[", ":")
    return [part.strip() for part in _PARTS.findall(text) if part.strip()]


def _names_of_part(part: str, known: KnownHosts) -> list[str]:
    is_whole = part in known.hosts or part.startswith("~")  # brackets in a regular expression are no index
    found = None if is_whole else _INDEX.fullmatch(part)
    names = _named(found[1] if found else part, known)
    if not found:
        return names
    _, place, first, last = found.groups()
    begin = _place(place or first)
    if place or (last and _place(last) == 0):  # Ansible takes an end of 0 for no end
        return names[begin : begin + 1 or None] if -len(names) <= begin else []
    return names[begin : _place(last) + 1 if last else None]


def _place(digits: str) -> int:
    """An index as an integer; one with too many digits is beyond the end of each list."""
    if len(digits) <= MAX_DIGITS:
        return int(digits)
    return -sys.maxsize if digits.startswith("-") else sys.maxsize - 1


def _named(part: str, known: KnownHosts) -> list[str]:
    tree, hosts = known.groups, known.hosts
    if part in ("all", "*"):
        return list(hosts)
    if part in tree:
        return list(tree[part].all_hosts())
    if part in hosts:
        return [part]
    try:
        fits = expression(part[1:]).match if part.startswith("~") else re.compile(translate(part)).match
    except (BadPattern, re.error, RecursionError, OverflowError) as error:
        shown = repr(part if len(part) <= 80 else f"{part[:80]}…")
        raise AnsibleError(INVENTORY, f"the pattern {shown} is no regular expression: {error}") from None
    found: dict[str, None] = {}
    for name, group in tree.items():
        if fits(name):
            found |= dict.fromkeys(group.all_hosts())
    found |= dict.fromkeys(name for name in hosts if fits(name))
    if not found and part == "localhost":
        return ["localhost"]
    if not found:
        known.warn(NO_MATCH, f"no host matches {part!r}", None, None)
    return list(found)

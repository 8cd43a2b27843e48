"""Reports of the Ansible commands, each as data and as text lines: explained variables, groups, settings.

`reasons` says in sentences why one layer overrides another: by level, by group, by source, or by a known trap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.trace import Trace, TraceClaim, shown
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.config import AnsibleConfig, settings
from nodeattrs.dialects.ansible.contexts import first_found_of
from nodeattrs.dialects.ansible.faults import NOT_EVALUATED, AnsibleError, new_warning
from nodeattrs.dialects.ansible.in_plays import NO_PLAYS, PlaySetting, PlaySettings, places_in_plays
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import LEVELS, MAGIC
from nodeattrs.dialects.ansible.playbook import InTask
from nodeattrs.dialects.ansible.printing import printed_variables
from nodeattrs.dialects.ansible.rendering import Rendered, Rendering
from nodeattrs.dialects.ansible.templates import names_in_templates
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin, as_json
from nodeattrs.reports import Report
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import origin_data

_LEVEL = re.compile(r"\((\d+) of 22\)")
_GROUP = re.compile(r"\[(.+):vars\]|vars of (.+)")
_FILES = (
    "files in group_vars count more than the variables of any group in an inventory file, however special the group"
)
_TRAPS = {
    **{(upper, 3): _FILES for upper in (4, 5, 6, 7)},
    (6, 5): "files of a group beside the inventory count more than group_vars/all beside the playbook",
    (7, 6): "the playbook's files count more than the inventory's, also for a parent of the group",
    **{(12, lower): "the vars of a play count more than host_vars" for lower in (8, 9, 10)},
    (
        15,
        12,
    ): "a role's vars/main counts more than the vars of the play; what others shall change belongs in its defaults",
    (19, 18): "set_fact counts more than include_vars, whichever runs later",
    (21, 17): "vars of an include count more than vars of the tasks in it",
    (20, 19): "parameters of a role count more than what set_fact sets",
}
"""(winner's level, other's level) -> why the winner counts more, for pairs that people expect the other way round."""


class Mention(NamedTuple):
    """A variable that a template mentions.

    name:    the name of the variable
    value:   its value; ABSENT if it is not set
    origins: the lines that set it; if it is not set, the places of unknown layers that may set it
    """

    name: str
    value: object
    origins: tuple[Origin, ...]


def level_of(trace: Trace, one: TraceClaim) -> int:
    """The precedence level, 1 to 22, of a claim in a trace; 0 where the title of its layer has no level."""
    found = _LEVEL.search((trace.titles or {}).get(one.rank, ""))
    return int(found[1]) if found else 0


def group_of(origin: Origin) -> str | None:
    """The group whose variables an origin sets, in a file or in the inventory; None for any other origin."""
    if origin.kind == "group_vars":
        return origin.name
    found = _GROUP.fullmatch(origin.name) if origin.kind == "inventory" else None
    return next(filter(None, found.groups())) if found else None


def reasons(inventory: Inventory, trace: Trace) -> list[str]:
    """Why the winner of a trace overrides the other claims: one sentence for each reason, each once.

    [] if the path is not set or nothing is overridden. A claim without a precedence level gives no sentence. Nor does a
    claim on the line of the winner.
    """
    winner = trace.winner
    if winner is None:
        return []
    found = (_reason(inventory, trace, winner, one) for one in trace.losers)
    return list(dict.fromkeys(one for one in found if one))


def _reason(inventory: Inventory, trace: Trace, winner: TraceClaim, other: TraceClaim) -> str:
    upper, lower = level_of(trace, winner), level_of(trace, other)
    if upper != lower:
        if not (upper and lower):
            return ""
        trap = _TRAPS.get((upper, lower))
        if (upper, lower) == (15, 2) and winner.origin.name != other.origin.name:
            trap = "the vars of one role count more than the defaults of another one"
        return f"{LEVELS[upper]} ({upper}) over {LEVELS[lower]} ({lower})" + (f": {trap}" if trap else "")
    return _within(inventory, winner.origin, other.origin)


def _within(inventory: Inventory, winner: Origin, other: Origin) -> str:
    upper, lower = group_of(winner), group_of(other)
    if upper != lower and upper in inventory.groups and lower in inventory.groups:
        return _by_group(inventory, str(upper), str(lower))
    if winner.file != other.file:
        return f"{winner.file} is read after {other.file}"
    return f"line {winner.line} is read after line {other.line}" if winner.line != other.line else ""


def _by_group(inventory: Inventory, upper: str, lower: str) -> str:
    above, below = inventory.groups[upper], inventory.groups[lower]
    if above.depth > below.depth:
        return f"the group {upper} is deeper than {lower}"
    if above.depth == below.depth and above.priority > below.priority:
        return f"the group {upper} has the priority {above.priority}, {lower} has {below.priority}"
    if above.depth == below.depth and above.priority == below.priority and upper > lower:
        return f"the group {upper} comes later in the alphabet than {lower}, and both are equally deep"
    return f"the files of {upper} are in a later place than the files of {lower}"


def mentions(answer: Variables, value: object) -> Iterator[Mention]:
    """Yield the variables that a value's templates mention, in their order, with their values for the same host.

    Variables that Ansible sets itself are left out. A variable without a value is yielded with ABSENT, and with the
    places of unknown layers that may set it.
    """
    for name in names_in_templates(value):
        if name in MAGIC:
            continue
        if name in answer.vars:
            yield Mention(name, answer.vars[name], answer.origins((name,)))
        else:
            yield Mention(name, ABSENT, tuple(layer.origin.at(()) for layer in answer.unknown(name)))


_data = partial(as_json, withheld=True)


def unread(layers: Iterable[Layer]) -> list[Unread]:
    """One unread place for each layer, in the same order. [] without layers.

    Its `paths` are the variables that the layer may set, each as a path of one step. ("ansible_*",) means all names
    that begin with "ansible_". () as `paths` means that the layer may set any variable.
    layers: unknown layers only
    """
    found = []
    for layer in layers:
        names = layer.origin.written if isinstance(layer.origin, UnknownLayerOrigin) else None
        paths = tuple((name,) for name in sorted(names or ()))
        origin = layer.origin.at(())
        found.append(Unread(origin.place or origin.who, layer.value.reason, paths, layer.title))
    return found


@dataclass(frozen=True, slots=True)
class _ExplainedVariable:
    """Why a path of a host's variables has its value: the trace, reasons in words, and what its templates mention.

    inventory:   the inventory with the host
    answer:      the variables of the host
    explanation: the trace with its host
    rendered:    the value with its templates evaluated; None if this was not requested
    in_plays:    the lines of plays and roles that set the path; empty for an answer in a task
    """

    inventory: Inventory
    answer: Variables
    explanation: NodeExplanation
    rendered: Rendered | None = None
    in_plays: PlaySettings = NO_PLAYS

    def to_dict(self) -> dict[str, Any]:
        """The trace as data; why the winner overrides the others, and the variables that its templates mention."""
        trace = self.explanation.trace
        return {
            **_data(self.explanation.to_dict()),
            "reasons": reasons(self.inventory, trace),
            "mentions": [
                {"name": one.name, "is_set": one.value is not ABSENT, "set_by": list(map(origin_data, one.origins))}
                for one in mentions(self.answer, trace.value)
            ],
            **({} if self.rendered is None else _rendered(self.rendered)),
            "in_plays": list(map(_placed, self.in_plays.found)),
            "unread_in_plays": [one.to_dict() for one in self.in_plays.unread],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """The table of the trace, then a section for each other field that is not empty."""
        trace = self.explanation.trace
        left = {} if self.rendered is None else self.rendered.left
        yield from self.explanation.lines(screen)
        for title, rows in (
            ("why", reasons(self.inventory, trace)),
            ("mentions", [_mentioned(one) for one in mentions(self.answer, trace.value)]),
            ("in plays", [_sentence(one) for one in self.in_plays.found]),
            ("not read in plays", [*sentences(self.in_plays.unread)]),
            ("rendered", [] if self.rendered is None else [shown(as_json(self.rendered.value))]),
            ("not evaluated", [f"{spell(path)}: {reason}" for path, reason in left.items()]),
        ):
            if rows:
                yield ""
                yield f"  {title}"
                for row in rows:
                    yield from screen.wrapped(printable(row), "        ", "    ")


def layers_of(trace: Trace) -> Iterator[Layer]:
    """Yield the unknown layers that a trace names; each may set only the variable of the trace's path."""
    for one in trace.unknown:
        origin = UnknownLayerOrigin(one.origin, frozenset(map(str, trace.path[:1])) or None)
        yield Layer(one.value, origin, (trace.titles or {}).get(one.rank, ""))


def rendering_of(inventory: Inventory, answer: Variables, environment: Mapping[str, str] | None) -> Rendering:
    """The `Rendering` of an answer, with the lookups first_found and env. Outside of tasks it has `hostvars`, too.

    environment: variables for the lookup `env`; None: the lookup fails with a hint
    raises:      MissingExtra, without Jinja2
    """
    folders = [inventory.playbook_dir / "files", inventory.playbook_dir]
    lookups: dict[str, Any] = {"first_found": lambda terms, how: first_found_of(terms or [how], folders, how)}
    hosts = None
    if isinstance(answer, InTask):  # no `hostvars`: what tasks set for other hosts is not followed
        lookups |= answer.task.context.lookups()
    else:
        hosts = inventory.hosts, inventory.host
    if environment is None:
        lookups["env"] = _no_environment
    else:
        lookups["env"] = lambda terms, how: [environment.get(str(one), how.get("default", "")) for one in terms]
    return Rendering(answer, lookups, hosts)


def _no_environment(terms: Any, how: Any) -> list[Any]:
    raise LookupError("the lookup env needs --environ")


def explained_variable(
    inventory: Inventory, answer: Variables, path: Path, *, render: Rendering | None = None
) -> _ExplainedVariable:
    """The report on a path of a host's variables. For an unset path it has a hint with similar names.

    If *answer* is outside of a task, the report also has the lines of the host's plays that set the path.

    inventory: the inventory with the host
    answer:    the variables of the host
    path:      the variable, and the steps in its value
    render:    evaluates the templates of the value; None: templates stay as they are
    """
    trace = answer.trace(path)
    is_outside = not isinstance(answer, InTask)
    in_plays = places_in_plays(inventory, path, [answer.host]) if is_outside and path else NO_PLAYS
    hint = None if trace.found or trace.claims or in_plays.found else way_to(as_json(answer.vars), path)
    rendered = render.rendered(trace.value, path) if render is not None and trace.found else None
    explanation = NodeExplanation(trace, answer.host, answer.where, hint=hint)
    return _ExplainedVariable(inventory, answer, explanation, rendered, in_plays)


@dataclass(frozen=True, slots=True)
class _SetVariables:
    """A report of the variables of a host, each with the lines that set it. `set_variables` makes it.

    answer:       the variables of the host
    explanations: one explained trace for each variable, without the variables that Ansible sets itself
    """

    answer: Variables
    explanations: Sequence[NodeExplanation]

    def to_dict(self) -> dict[str, Any]:
        """Host and environment, and under `variables` a list with the trace of each variable."""
        variables = [_data(one.to_dict()) for one in self.explanations]
        where = {"version": 1, "node": self.answer.host, "environment": self.answer.where}
        return {**where, "variables": variables}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line for each variable: its value and the places that set it."""
        for one in self.explanations:
            where = ", ".join(str(origin.place or origin.who) for origin in one.trace.origins)
            yield printable(f"{spell(one.trace.path)} = {shown(one.trace.value)}  {where}")


def set_variables(answer: Variables) -> Report:
    """The report on all variables of a host. cost: merges all layers once for each variable"""
    paths = [(name,) for name in printed_variables(answer)]
    return _SetVariables(answer, [NodeExplanation(answer.trace(path), answer.host, answer.where) for path in paths])


@dataclass(frozen=True, slots=True)
class Groups:
    """A report of one group of an inventory with the groups below it.

    inventory: the inventory with the group
    name:      the name of the group, which exists
    text:      the tree as Ansible prints it, for `lines`; `to_dict` gives a flat list instead
    """

    inventory: Inventory
    name: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """A flat list under `groups`: each group once, depth first, with the names of its own hosts and children."""
        below = self.inventory.groups[self.name].with_descendants().items()
        groups = [{"name": name, "hosts": list(one.hosts), "children": list(one.children)} for name, one in below]
        return {"version": 1, "groups": groups}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The printed tree, line by line, as Ansible prints it."""
        yield from map(printable, self.text.splitlines())


@dataclass(frozen=True, slots=True)
class SettingsReport:
    """A report of the settings that change which variables count, as far as ansible.cfg or the environment has them.

    `to_dict` returns the data for JSON, with the value null for a setting that is not followed. `lines` yields the
    text, and says first if ansible.cfg is missing or ignored.

    config: the settings that are reported, each with its value and place
    """

    config: AnsibleConfig

    def to_dict(self) -> dict[str, Any]:
        """A list under `settings`: name, value, place, and whether it is followed; the value is null if it is not."""
        rows = [
            {"name": name, "value": as_json(value), "place": place, "is_followed": value is not None}
            for name, value, place in settings(self.config)
        ]
        return {"version": 1, "settings": rows}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield one line for each setting that is set: its place, name and value.

        If ansible.cfg is missing or ignored, the first line says so.
        """
        if self.config.passed_over is not None:
            yield "ansible.cfg does not count: every user may write into its folder"
        elif self.config.file is None:
            yield "no ansible.cfg"
        for name, value, place in settings(self.config):
            shown_value = "(not followed)" if value is None else shown(as_json(value))
            yield printable(f"{place}  {name} = {shown_value}")


def _placed(one: PlaySetting) -> dict[str, Any]:
    return {
        **origin_data(one.origin),
        "value": _data(one.value),
        "level": one.level,
        "plays": {name: list(its) for name, its in one.plays.items()},
    }


def _sentence(one: PlaySetting) -> str:
    value = "" if one.value is None else f"{shown(_data(one.value))}, "
    return f"{value}set by {one.origin.place or one.origin.who}, in {one.where}"


def _rendered(rendered: Rendered) -> dict[str, Any]:
    left = [{"path": spell(path), "reason": reason} for path, reason in rendered.left.items()]
    return {"rendered": as_json(rendered.value), "not_evaluated": left}


def not_evaluated(answer: Variables, rendered: Rendered) -> Iterator[tuple[AnsibleError, Unread]]:
    """Yield a warning and an unread place for each template that was not evaluated, with the line that set it.

    answer:   the variables of the host, for the lines
    rendered: the evaluated value, whose `left` has the reasons
    """
    folded = answer.folded()
    for path, reason in rendered.left.items():
        origin = next(iter(folded.origins(path)), None)
        file, line = (origin.file, origin.line) if origin else (None, None)
        place = spell(path) if origin is None else origin.place or origin.who
        warning = new_warning(NOT_EVALUATED, f"{spell(path)} is not evaluated: {reason}", file, line)
        yield warning, Unread(place, f"is not evaluated: {reason}", (path,), "value", spell(path), is_warned=True)


def _mentioned(one: Mention) -> str:
    where = ", ".join(str(origin.place or origin.who) for origin in one.origins)
    if one.value is ABSENT:
        return f"{one.name}, which is not set" + (f"; it may be set at {where}" if where else "")
    return f"{one.name} = {shown(as_json(one.value))}, set at {where}"

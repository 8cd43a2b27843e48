"""The variables of one host: merged values, and traces that name the line behind each value.

A plan is a `Layer`, or a `Fold` of plans, the weakest first. Values are merged without origins; a trace merges the same
plans again with origins. An unknown layer whose origin is an `UnknownLayerOrigin` makes only the variables unknown that
it may set. The module reads no files.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Fold, Folded, Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Policy
from nodeattrs.core.sensitive import withheld
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import ABSENT, Path, as_path
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible.files import Plan
from nodeattrs.dialects.ansible.levels import MAGIC, MERGE, SHOWN, title
from nodeattrs.dialects.ansible.values import UnknownLayerOrigin, as_json

_ANYTHING: Any = object()
_NOTHING: dict[Any, Any] = {}
"""The value of a layer without anything about a variable: it is not merged, and its number is left out."""
_BY_ANSIBLE = "set by Ansible itself"
_OF_GROUPS = (title(3), title(7))
"""Titles of unknown layers that may change groups: of sources and of tasks."""


class SharedFold(Fold):
    """A fold that many hosts share, such as the variables of one group.

    Its merged value is computed once and reused.
    """

    @cached_property
    def part(self) -> Part:
        """The merged value without origins, computed at the first access."""
        return folded_once(self).result


def folded_once(plan: Fold, numbers: Iterator[int] | None = None) -> Folding:
    """Merge a fold and return the `Folding`, whose `result` is the merged value.

    The result shares objects with the layers, so the caller must not change it. Keys may be any scalar of YAML.

    numbers: yields a number for each layer, for origins. None: the result has no origins, and the value of a
             `SharedFold` that was merged before is reused
    """
    folding = Folding(growing=True)
    for child in plan.children:
        if isinstance(child, Layer):
            number = None if numbers is None else next(numbers)
            if child.value is not _NOTHING:
                folding.lay(Part(child.value, number), child.policy or plan.policy)
        elif numbers is None and isinstance(child, SharedFold):
            folding.lay(child.part, plan.policy)
        else:
            part = folded_once(child, numbers)
            folding.lay(part if numbers is not None else part.result, plan.policy)
    return folding


def _limited_to(plan: Fold, name: Any) -> Fold:
    """A copy of a fold in which each layer has its value of one variable alone, or is empty; see `_with_only_variable`.

    No layer is dropped, so their numbers stay. name: the variable; `_ANYTHING` keeps the values of all
    """
    children = tuple(
        _limited_to(child, name) if isinstance(child, Fold) else _with_only_variable(child, name)
        for child in plan.children
    )
    return Fold(children, plan.policy)


def _with_only_variable(layer: Layer, name: Any) -> Layer:
    """The layer with its value of one variable alone; an unknown layer that cannot set the variable is empty."""
    if type(layer.value) is Unknown:
        return layer if _may_set(layer, name) else Layer(_NOTHING, layer.origin, layer.title)
    if name is _ANYTHING or not isinstance(layer.value, dict):
        return layer
    own = {name: layer.value[name]} if name in layer.value else _NOTHING
    return Layer(own, layer.origin, layer.title, layer.policy)


def _may_set(layer: Layer, name: Any) -> bool:
    """Whether an unknown layer may set a variable."""
    return not isinstance(layer.origin, UnknownLayerOrigin) or layer.origin.may_set(name)


def only_variable(plan: Plan, name: Any) -> Plan:
    """A plan reduced to one variable: each layer keeps its value of *name*, or is empty.

    Empty layers of a fold are dropped. An unknown layer stays if it may set the variable, and is empty otherwise.
    """
    if isinstance(plan, Layer):
        return _with_only_variable(plan, name)
    children = (only_variable(child, name) for child in plan.children)
    return Fold(tuple(child for child in children if isinstance(child, Fold) or child.value), plan.policy)


def _withheld(plan: Plan, paths: Iterable[Path]) -> Plan:
    """A copy of a plan with secrets at sensitive paths; the plan itself if no layer has such a path."""
    if isinstance(plan, Layer):
        value = withheld(plan.value, paths) if isinstance(plan.value, dict) else plan.value
        return plan if value is plan.value else Layer(value, plan.origin, plan.title, plan.policy)
    children = [_withheld(child, paths) for child in plan.children]
    return plan if all(map(operator.is_, children, plan.children)) else type(plan)(tuple(children), plan.policy)


class Variables:
    """The variables of one host, in one task or outside of plays. Commands and verbs read their answer from it.

    host:      the host's name
    where:     the place in words: "the inventory", "task 'restart' of site.yml"
    plan:      called once, at the first use; returns the plans, the weakest first
    policy:    merges the plans
    magic:     called once, at the first use; returns the variables that Ansible sets itself, as far as they are known
    sensitive: paths whose values are secrets in every answer

    The constructor reads nothing. `vars` maps each variable to its merged value; it is computed once and kept, and
    `value` is the same map. `known` gives one value, or ABSENT. `trace`, `origins` and `explain` show where the value
    at a path comes from. `layers` lists the layers, the weakest first, and `plan` is one fold of them. `unknown` and
    `unread` list layers that could not be read. `folded` merges all layers with their origins; so do `known`, `trace`,
    `origins` and `explain` at each call. Values contain templates as they were written.
    """

    def __init__(
        self,
        host: str,
        where: str,
        plan: Callable[[], list[Plan]],
        policy: Policy,
        magic: Callable[[], Mapping[str, Any]],
        sensitive: Sequence[Path] = (),
    ) -> None:
        self.host = host
        self.where = where
        self._make = plan
        self._policy = policy
        self._magic = magic
        self._sensitive = sensitive

    @cached_property
    def plan(self) -> Fold:
        """All layers as one fold, the weakest first; values at sensitive paths are secrets. Built once and kept.

        A host without layers has one empty layer.
        """
        plan = self._make()
        if self._sensitive:
            plan = [_withheld(one, self._sensitive) for one in plan]
        return Fold(tuple(plan) or (Layer({}),), self._policy)

    @cached_property
    def vars(self) -> dict[str, Any]:
        """Variable -> merged value.

        The values are shared with the files that were read, so the caller must not change them.
        """
        found = folded_once(self.plan).result.value
        return found if isinstance(found, dict) else {}

    @cached_property
    def magic(self) -> Mapping[str, Any]:
        """The variables that Ansible sets itself, as far as they are known without running it."""
        return self._magic()

    def known(self, name: str) -> Any:
        """The value of a variable, or of a variable that Ansible sets itself.

        ABSENT if it is not set, or if an unknown layer may set it. cost: merges all layers of the host again
        """
        found = self.vars.get(name, self.magic.get(name, ABSENT))
        return ABSENT if self.trace((name,)).unknown else found

    @property
    def value(self) -> dict[str, Any]:
        """The same map as `vars`, under the name that answers of all dialects have."""
        return self.vars

    def folded(self, name: Any = _ANYTHING) -> Folded:
        """All layers merged with their origins; with *name* their values of that variable alone. Nothing is kept.

        An unknown layer that cannot set the variable counts as empty. Without *name*, only unknown layers that may set
        any variable count. If Ansible sets the variable itself, its value is one more layer, the strongest. That layer
        is unknown if only a run knows the value.

        name: the variable; left out: all variables
        """
        plan = _limited_to(self.plan, name)
        if isinstance(name, str) and name in MAGIC:
            plan = self._with_magic(plan, name)
        folding = folded_once(plan, count(1))
        value = folding.result.value
        return Folded(folding, list(plan.layers()), value if isinstance(value, dict) else {})

    def _with_magic(self, plan: Fold, name: str) -> Fold:
        """The plan with Ansible's own value of a name on top. If only a run knows the value, that layer is unknown."""
        open_groups = [one for one in plan.layers() if type(one.value) is Unknown and one.title in _OF_GROUPS]
        origin = Origin("Ansible", self.host)
        if name in self.magic:
            own = [Layer({name: self.magic[name]}, origin, _BY_ANSIBLE)]
            own += open_groups if name in ("groups", "group_names") else []
        elif name in self.vars and name in SHOWN:
            own = []
        else:
            own = [Layer.unknown(_BY_ANSIBLE, origin, "Ansible sets it when it runs")]
        return Fold((*plan.children, *own), plan.policy)

    def trace(self, path: str | Path) -> Trace:
        """Each layer that sets a variable, or a path in one, the winner first. An empty trace where it is not set.

        cost: merges all layers of the host again
        """
        steps = as_path(path)
        return self.folded(*steps[:1]).trace(steps)

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Each origin of the value at a path; () where it is not set. cost: merges all layers of the host again"""
        steps = as_path(path)
        return self.folded(*steps[:1]).origins(steps)

    def explain(self, path: str | Path) -> str:
        """The trace of a path as text."""
        return str(self.trace(path))

    def layers(self) -> Iterator[Layer]:
        """The layers in the order of their numbers in traces: from 1, the weakest first."""
        return self.plan.layers()

    def unknown(self, name: str | None = None) -> list[Layer]:
        """The layers that could not be read, the weakest first; with *name* only those that may set that variable."""
        return [one for one in self.layers() if type(one.value) is Unknown and (name is None or _may_set(one, name))]

    def unread(self) -> list[Layer]:
        """The layers that could not be read and may change a value, the weakest first; [] for none.

        A layer is left out if stronger layers set all variables that it may set. If the policy merges maps, a stronger
        layer that sets a variable to a map does not count: a weaker map would add to it.
        """
        hidden: set[Any] = set()
        found: list[Layer] = []
        for layer in reversed([*self.layers()]):
            if type(layer.value) is Unknown:
                names = layer.origin.written if isinstance(layer.origin, UnknownLayerOrigin) else None
                found += [] if names is not None and names <= hidden else [layer]
            elif isinstance(layer.value, dict):
                is_merged = self._policy is MERGE
                hidden.update(one for one, value in layer.value.items() if not (is_merged and isinstance(value, dict)))
        return found[::-1]

    def to_dict(self) -> Any:
        """The variables as data for JSON: a copy, which the caller may change."""
        return as_json(self.vars)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.host} in {self.where}>"

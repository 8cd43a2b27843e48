"""The variables of one host in one place: an answer of the core, laid from the layers of all levels.

Values alone are merged without origins; for a trace the same layers are folded again with them. What may set some
variables only is unknown for those, and for no others. It knows no files.
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
from nodeattrs.dialects.ansible.values import MaySet, as_json

_ANYTHING: Any = object()
_NOTHING: dict[Any, Any] = {}
"""The value of a layer without anything about a variable: it is not merged, and its number is left out."""
_BY_ANSIBLE = "set by Ansible itself"
_OF_GROUPS = (title(3), title(7))
"""Where sources and tasks stand that may change groups."""


class SharedFold(Fold):
    """A fold that is the same for many hosts: without origins it is laid once, and they share what comes of it."""

    @cached_property
    def part(self) -> Part:
        """The merged value of the levels."""
        return folded_once(Fold(self.children, self.policy)).result


def folded_once(plan: Fold, numbers: Iterator[int] | None = None) -> Folding:
    """Lay a fold. What comes of it is shared with its layers, and not to be changed.

    numbers: of the layers; without them no origins are kept
    cost:    that of the fold; a key may be any scalar of YAML
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


def limited_to(plan: Fold, name: Any) -> Fold:
    """The same fold, with only those unknown layers that may set a variable; the numbers of its layers stay."""
    children = tuple(
        limited_to(child, name) if isinstance(child, Fold) else _about(child, name) for child in plan.children
    )
    return Fold(children, plan.policy)


def _about(layer: Layer, name: Any) -> Layer:
    """The layer with its value of one variable alone; an unknown layer that cannot set the variable is empty."""
    if type(layer.value) is Unknown:
        is_open = not isinstance(layer.origin, MaySet) or layer.origin.may_set(name)
        return layer if is_open else Layer(_NOTHING, layer.origin, layer.title)
    if name is _ANYTHING or not isinstance(layer.value, dict):
        return layer
    own = {name: layer.value[name]} if name in layer.value else _NOTHING
    return Layer(own, layer.origin, layer.title, layer.policy)


def only_variable(plan: Plan, name: Any) -> Plan:
    """A plan with what its layers say of one variable, and those unknown ones that may set it."""
    if isinstance(plan, Fold):
        children = (only_variable(child, name) for child in plan.children)
        return Fold(tuple(child for child in children if isinstance(child, Fold) or child.value), plan.policy)
    if type(plan.value) is Unknown:
        return _about(plan, name)
    its = {name: plan.value[name]} if isinstance(plan.value, dict) and name in plan.value else {}
    return Layer(its, plan.origin, plan.title, plan.policy)


def _withheld(plan: Plan, paths: Iterable[Path]) -> Plan:
    """A plan whose layers have what is sensitive as secrets; the same object where it says nothing of it."""
    if isinstance(plan, Layer):
        value = withheld(plan.value, paths) if isinstance(plan.value, dict) else plan.value
        return plan if value is plan.value else Layer(value, plan.origin, plan.title, plan.policy)
    children = [_withheld(child, paths) for child in plan.children]
    return plan if all(map(operator.is_, children, plan.children)) else type(plan)(tuple(children), plan.policy)


class Variables:
    """What a host has, in an inventory or in a task: an answer.

    host:  its name
    where: in words: "the inventory", "task 'restart' of site.yml"
    magic: what Ansible sets itself, as far as it can be known
    sensitive: paths whose values are secrets in all that is answered

    cost: the values are laid when they are first asked for, and origins again for each trace
    """

    def __init__(
        self,
        host: str,
        where: str,
        plan: Callable[[], list[Plan]],
        policy: Policy,
        magic: Callable[[], Any],
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
        """The layers, the weakest first, those of one level in a fold of their own."""
        plan = self._make()
        if self._sensitive:
            plan = [_withheld(one, self._sensitive) for one in plan]
        return Fold(tuple(plan) or (Layer({}),), self._policy)

    @cached_property
    def vars(self) -> dict[str, Any]:
        """The variables and their values; shared with what was read, and not to be changed."""
        found = folded_once(self.plan).result.value
        return found if isinstance(found, dict) else {}

    @cached_property
    def magic(self) -> Mapping[str, Any]:
        """The variables that Ansible sets itself, as far as they are known without running it."""
        found: Mapping[str, Any] = self._magic()
        return found

    def known(self, name: str) -> Any:
        """The value of a variable, or of one that Ansible sets itself; ABSENT where it is not there, or may change."""
        found = self.vars.get(name, self.magic.get(name, ABSENT))
        return ABSENT if self.trace((name,)).unknown else found

    @property
    def value(self) -> dict[str, Any]:
        """The variables, as an answer calls them."""
        return self.vars

    def folded(self, name: Any = _ANYTHING) -> Folded:
        """All layers folded with their origins. name: for a question about that variable"""
        plan = limited_to(self.plan, name)
        if isinstance(name, str) and name in MAGIC:
            plan = self._with_magic(plan, name)
        folding = folded_once(plan, count(1))
        value = folding.result.value
        return Folded(folding, list(plan.layers()), value if isinstance(value, dict) else {})

    def _with_magic(self, plan: Fold, name: str) -> Fold:
        """A plan with what Ansible sets itself under a name, which counts most; unknown where only a run knows it."""
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
        """Everyone who set a variable, or a path in one, the winner first.

        cost: that of folding all layers of the host
        """
        steps = as_path(path)
        return self.folded(*steps[:1]).trace(steps)

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Every origin of the value at a path; none where nothing is set."""
        steps = as_path(path)
        return self.folded(*steps[:1]).origins(steps)

    def explain(self, path: str | Path) -> str:
        """The trace of a path as text."""
        return str(self.trace(path))

    def layers(self) -> Iterator[Layer]:
        """The layers, as traces number them: from 1, the weakest first."""
        return self.plan.layers()

    def unknown(self, name: str | None = None) -> list[Layer]:
        """The layers that cannot be read, or those of them that may set a variable, the weakest first."""
        found = self.layers() if name is None else limited_to(self.plan, name).layers()
        return [layer for layer in found if type(layer.value) is Unknown]

    def unread(self) -> list[Layer]:
        """The unknown layers that may change a variable, the weakest first.

        A layer that may set some variables only is left out where stronger layers set all of them.
        """
        hidden: set[Any] = set()
        found: list[Layer] = []
        for layer in reversed([*self.layers()]):
            if type(layer.value) is Unknown:
                names = layer.origin.written if isinstance(layer.origin, MaySet) else None
                found += [] if names is not None and names <= hidden else [layer]
            elif isinstance(layer.value, dict):
                is_merged = self._policy is MERGE
                hidden.update(one for one, value in layer.value.items() if not (is_merged and isinstance(value, dict)))
        return found[::-1]

    def to_dict(self) -> Any:
        """The variables as data for JSON, independent of this one."""
        return as_json(self.vars)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.host} in {self.where}>"

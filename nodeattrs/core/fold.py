"""A tree of layers, each inner one with its policy and direction, folded to one tree.

Eager, pairwise, and able to fail as a whole. Nothing is changed in place: a met
map is a shallow copy of the lower one plus what changed, everything else is
shared with the inputs until one copy at the border makes the result independent.
So a layer that fails leaves the result so far as it was, and a finished result can
be folded on. Origins are small numbers kept beside the tree; who they are is
looked up when somebody asks.

It knows no dialect: adapters bring layers and policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodeattrs.core.claim import Claim, Origin, Speaker
from nodeattrs.core.meeting import meet
from nodeattrs.core.part import Part, Told, told_at, voices
from nodeattrs.core.policy import INSIDE, Policy
from nodeattrs.core.tree import ABSENT, Path, copied, dig, parse, spell
from nodeattrs.errors import BadArgument, MergeConflict, TooDeep

if TYPE_CHECKING:
    # Loaded by the first question: a fold that nobody asks does not pay for the answers.
    from nodeattrs.core.hearing import Hearing, Plan, Said
    from nodeattrs.core.trace import Trace

__all__ = ["Fold", "Folded", "Layer", "fold"]


_NOBODY = Origin("caller")


@dataclass(frozen=True, slots=True)
class Layer:
    """A tree, and who said it.

    value:  maps, lists and scalars; never changed by a fold
    origin: an `Origin`, or any speaker that knows where it said each path
    title:  what a trace calls it, beside its number and origin
    policy: how this layer joins what was folded before it; None means as the fold says
    """

    value: Any
    origin: Speaker = _NOBODY
    title: str = ""
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Layers and folds under one policy.

    children: in the order in which they are laid
    policy:   what happens where two of them meet
    from_top: False: each child lies over the result so far; True: the result so far lies over each child
    """

    children: tuple[Layer | Fold, ...]
    policy: Policy
    from_top: bool = False

    def layers(self) -> Iterator[Layer]:
        """The layers, as they are numbered: 1, 2, ... in the order in which they are laid."""
        for child in self.children:
            if isinstance(child, Layer):
                yield child
            else:
                yield from child.layers()


class Folded:
    """The result of a fold: one tree that can say where each part of it came from.

    value: the tree; it shares nothing with the layers

    >>> site = fold([Layer({"port": 80}, Origin("file", "common")), Layer({"port": 8080}, Origin("file", "web1"))])
    >>> site["port"], site.origins("port")
    (8080, (Origin(kind='file', name='web1', file=None, line=None, column=None),))
    """

    __slots__ = ("_layers", "_plan", "_told", "value")

    def __init__(self, plan: Fold, layers: Sequence[Layer], value: Any, told: Told) -> None:
        self.value = value
        self._plan = plan
        self._layers = layers
        self._told = told

    def __getitem__(self, step: Any) -> Any:
        return self.value[step]

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Everyone who said what stands at *path*; more than one for united elements and joined text.

        Nobody said what is not there: the answer is empty then.
        """
        steps = parse(path) if isinstance(path, str) else path
        if dig(self.value, steps) is ABSENT:
            return ()
        told = self._told
        for step in steps:
            told = told_at(told, step)
        own = {said.number: said.own for said in self._hearing(steps).standing}
        return tuple(self._layers[number - 1].origin.at(own.get(number, steps)) for number in voices(told))

    def trace(self, path: str | Path) -> Trace:
        """Everyone who spoke about *path*, the winner first, with the rule that beat each loser.

        path: steps, or their spelling: `"apache.listen_ports.0"`
        cost: the depth of the path times the number of layers
        """
        from nodeattrs.core.trace import told_trace

        steps = parse(path) if isinstance(path, str) else tuple(path)
        titles = {number: layer.title for number, layer in enumerate(self._layers, 1)}

        def claim(said: Said) -> Claim:
            return Claim(said.path, said.value, said.number, self._layers[said.number - 1].origin.at(said.own))

        return told_trace(self._hearing(steps), steps, dig(self.value, steps), claim, titles)

    def _hearing(self, steps: Path) -> Hearing:
        from nodeattrs.core.hearing import hear

        return hear(_numbered(self._plan, iter(range(1, len(self._layers) + 1))), steps)

    def explain(self, path: str | Path) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))


def fold(layers: Iterable[Layer | Fold | Any], policy: Policy = INSIDE, *, from_top: bool = False) -> Folded:
    """Fold *layers* into one tree.

    layers:   `Layer`s and `Fold`s, weakest first; plain trees are layers without a known origin
    policy:   what happens where two values meet
    from_top: see `Fold`
    cost:     one visit for each key that two sides have, and one copy of the result
    raises:   MergeConflict, where the policy refuses; nothing is changed then
    source:   docs/merging.md, "The core"

    >>> fold([{"a": {"x": 1}, "l": [1]}, {"a": {"y": 2}, "l": [2, 1]}]).value
    {'a': {'x': 1, 'y': 2}, 'l': [1, 2]}
    """
    children = tuple(
        entry if isinstance(entry, (Layer, Fold)) else Layer(entry, Origin("layer", str(number)))
        for number, entry in enumerate(layers, 1)
    )
    if not children:
        raise BadArgument("there is nothing to fold", hint="pass at least one layer; an empty one is {}")
    plan = Fold(children, policy, from_top)
    flat = list(plan.layers())
    try:
        part = _folded(plan, iter(range(1, len(flat) + 1)), flat)
    except RecursionError:
        raise TooDeep("a layer is nested too deep, or inside itself") from None
    return Folded(plan, flat, copied(part.value, _OPEN, _exact), part.told)


class _Everything(frozenset):  # type: ignore[type-arg]
    """Kinds of values are open: whatever cannot be changed in place is taken as it is."""

    def __contains__(self, kind: object) -> bool:
        return not (isinstance(kind, type) and issubclass(kind, (dict, list, set, bytearray)))


_OPEN = _Everything()


def _exact(value: Any, path: Path) -> Any:
    for kind in (dict, list):
        if isinstance(value, kind):
            return kind(value)
    return value.copy()


def _folded(plan: Fold, numbers: Iterator[int], layers: list[Layer]) -> Part:
    result: Part | None = None
    for child in plan.children:
        policy = plan.policy
        if isinstance(child, Layer):
            part = Part(child.value, next(numbers))
            policy = child.policy or policy
        else:
            part = _folded(child, numbers, layers)
        if result is None:
            result = part  # the first one meets nobody
            continue
        try:
            result = meet(policy, part, result) if plan.from_top else meet(policy, result, part)
        except MergeConflict as conflict:
            raise _with_origins(conflict, result, part, layers) from None
    return result or Part(ABSENT, ())


def _with_origins(conflict: MergeConflict, result: Part, part: Part, layers: list[Layer]) -> MergeConflict:
    path = tuple(conflict.path or ())
    said = list(conflict.said)
    origins = []
    for side in (part, result):
        told, value = side.told, dig(side.value, path)
        for step in path:
            told = told_at(told, step)
        for number in voices(told) if value is not ABSENT else ():
            origins.append(layers[number - 1].origin.at(path))
            said.append(f"{value!r} was said by {origins[-1]}")
    return MergeConflict(
        f"{conflict.message} at {spell(path)}", path=path, origins=origins, said=said, hint=conflict.hint
    )


def _numbered(plan: Fold, numbers: Iterator[int]) -> Plan:
    from nodeattrs.core.hearing import Plan, Said

    children: list[Said | Plan] = []
    policies: list[Policy] = []
    for child in plan.children:
        if isinstance(child, Layer):
            children.append(Said(next(numbers), (), child.value))
            policies.append(child.policy or plan.policy)
        else:
            children.append(_numbered(child, numbers))
            policies.append(plan.policy)
    return Plan(tuple(children), tuple(policies), plan.from_top)

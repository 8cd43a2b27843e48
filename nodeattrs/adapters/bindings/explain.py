"""Why a key has its value: the winner, what it shadowed and by which rule, fragments, look-ups.

Every declaration of the key becomes a layer of a fold of the core, weakest first, and the
core's own trace says who stands and who fell. It is data first; its text is plain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import Inclusion
from nodeattrs.adapters.bindings.model.keys import CLASSES, Asked, spelled_key
from nodeattrs.adapters.bindings.model.producers import Constant
from nodeattrs.adapters.bindings.production.workshop import Workshop
from nodeattrs.adapters.bindings.resolution.declarations import CLASS_IDS, Declaration
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.policy import ANY, MAP, SAID, TAKE, Line, Meet, Policy
from nodeattrs.core.trace import Trace, shown
from nodeattrs.core.tree import copied
from nodeattrs.errors import BadKey, BadValue

__all__ = ["Explanation", "Looked", "Spoken", "explain"]


def _rule(why: str) -> Policy:
    return Policy(
        "bindings", Line(MAP, MAP, Meet(Policy("bindings", Line(ANY, SAID, TAKE, why)))), Line(ANY, SAID, TAKE)
    )


BY_LAYER = _rule("a higher layer hides what lies below")
BY_CATEGORY = _rule("the higher category wins")
BY_DETAIL = _rule("more categories win over fewer")
BESIDE = _rule("a concrete binding fills an abstract one beside it")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A fragment, or an include or exclude of a class: what it says, where, and whether it counts."""

    value: Any
    place: str
    counts: bool = True
    step: Any = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A key that is looked up on the way; depth 1 is asked by the key itself."""

    depth: int
    asked: str
    by: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer.

    key:    as messages show it
    value:  what is injected; None where `problem` says why there is none
    trace:  the core's trace over all declarations of the key
    """

    key: str
    value: Any
    problem: str | None
    trace: Trace
    spoken: tuple[Spoken, ...] = ()
    looked: tuple[Looked, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as data; a value that is no plain data is shown as text."""
        trace = self.trace.to_dict()
        return {
            "version": 1,
            "key": self.key,
            "value": _plain(self.value),
            "problem": self.problem,
            "declarations": trace["claims"],
            "spoken": [
                {"value": _plain(one.value), "place": one.place, "counts": one.counts, "step": _plain(one.step)}
                for one in self.spoken
            ],
            "looked_up": [{"depth": one.depth, "asked": one.asked, "by": one.by} for one in self.looked],
        }

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        yield f"{self.key} = {shown(_plain(self.value))}" if self.problem is None else f"{self.key}: {self.problem}"
        for heard in self.trace.heard:
            claim = heard.claim
            words = f"  {heard.fate.value:5}  {self.trace.title(claim.rank)}  {_said(claim.value)}  {claim.origin}"
            yield words + (f"; beaten by {', '.join(map(str, heard.by))}: {heard.why}" if heard.by else "")
        if self.spoken:
            yield "  said by"
        for one in self.spoken:
            step = "" if one.step is None else f"{one.step} = "
            yield f"    {step}{shown(_plain(one.value), 40)}  {one.place}" + (
                "" if one.counts else "  (does not count)"
            )
        if self.looked:
            yield "  looks up"
        for look in self.looked:
            yield f"    {'  ' * (look.depth - 1)}{look.asked}: {look.by}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _said(value: Any) -> str:
    return value.text if isinstance(value, _Words) else shown(value, 40)


class _Words:
    """A description that is no value: shown without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _plain(value: Any) -> Any:
    try:
        return copied(value)
    except (BadKey, BadValue):
        return str(value)


def explain(workshop: Workshop, wanted: Asked) -> Explanation:
    """Explain one key. It is injected for that, so its producers run.

    cost: the declarations of the key, and what its producers cost
    """
    value, problem = None, None
    try:
        value = workshop.value_of(wanted)
    except BindingError as error:
        problem = error.message
    key = spelled_key(wanted.key)
    if wanted.key == ("Data", CLASSES):
        return Explanation(key, value, problem, _empty(key), tuple(_classes(workshop, value or [])))
    declared = workshop.resolution.declared.get(wanted.key, [])
    winner = workshop.declaration(wanted)
    spoken = tuple(_fragments(workshop, winner)) if winner is not None and winner.is_multibind else ()
    looked = tuple(_looks(workshop, winner, 1, frozenset())) if winner is not None else ()
    return Explanation(key, value, problem, _trace(workshop, key, declared), spoken, looked)


def _empty(key: str) -> Trace:
    return Trace((key,), None, ())


def _trace(workshop: Workshop, key: str, declared: list[Declaration]) -> Trace:
    if not declared:
        return _empty(key)
    order = sorted(declared, key=lambda one: (one.position, not one.abstract))
    layers = []
    for index, one in enumerate(order):
        rule = _rule_between(order[index - 1], one) if index else BY_LAYER
        said = Layer({key: _claim(one)}, one.origin, f"{one.place.layer}, {workshop.resolution.when(one)}", rule)
        layers.append(said)
    return fold(layers).trace((key,))


def _claim(one: Declaration) -> Any:
    producer = one.root.producer
    if one.abstract or one.is_multibind or not isinstance(producer, Constant):
        return _Words(f"{one.flags() if not one.abstract else ''}{one.describe()}")
    value = _plain(producer.value)
    return value if not one.flags() else _Words(f"{one.flags()}{shown(value, 40)}")


def _rule_between(lower: Declaration, upper: Declaration) -> Policy:
    if lower.position == upper.position:
        return BESIDE
    if lower.position[0] != upper.position[0]:
        return BY_LAYER
    below, above = lower.position[1], upper.position[1]
    # What the upper one has more than the lower one, and nothing else, makes it longer and not higher.
    return BY_DETAIL if below and above & below == below else BY_CATEGORY


def _place(workshop: Workshop, one: Declaration) -> str:
    return f"{one.origin}; layer {one.place.layer}, {workshop.resolution.when(one)}"


def _fragments(workshop: Workshop, winner: Declaration) -> Iterator[Spoken]:
    collected = workshop.collected(winner)
    if collected is None:
        for one in workshop.resolution.fragments.get(winner.root.id or "", ()):
            yield Spoken(one.describe(), _place(workshop, one), step=one.name)
        return
    steps: Any = collected.value if isinstance(collected.value, dict) else range(len(collected.value))
    counted = set()
    for step in steps:
        speakers = collected.speakers(step)
        counted |= {id(one) for one in speakers}
        places = ", ".join(_place(workshop, one) for one in speakers)
        yield Spoken(collected.value[step], places, step=step)
    for fragment in collected.fragments:
        if id(fragment.declaration) not in counted:
            yield Spoken(fragment.value, _place(workshop, fragment.declaration), False, fragment.declaration.name)


def _classes(workshop: Workshop, included: list[str]) -> Iterator[Spoken]:
    for item, at in workshop.resolution.inclusions:
        for name in item.names:
            yield _inclusion(workshop, name.removeprefix("::"), item, at, included)
    for number, id in enumerate(CLASS_IDS):
        for one in workshop.resolution.fragments.get(id, ()):
            yield Spoken(f"{'exclude' if number else 'include'} {one.describe()}", _place(workshop, one))


def _inclusion(workshop: Workshop, name: str, item: Inclusion, at: Declaration, included: list[str]) -> Spoken:
    verb = "exclude" if item.exclude else "include"
    return Spoken(f"{verb} {name}", _place(workshop, at), (name in included) != item.exclude)


def _looks(workshop: Workshop, one: Declaration, depth: int, seen: frozenset[int]) -> Iterator[Looked]:
    root = one.root
    if root.producer is None or id(root) in seen or depth > 20:
        return
    for wanted in workshop.needs(one):
        found = workshop.declaration(wanted)
        by = "nothing is bound" if found is None else f"{found.describe()}  {_place(workshop, found)}"
        yield Looked(depth, str(wanted), by)
        if found is not None:
            yield from _looks(workshop, found, depth + 1, seen | {id(root)})

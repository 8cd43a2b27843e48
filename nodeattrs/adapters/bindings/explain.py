"""Why a key has its value: the winner, what it overrides and by which rule, fragments, look-ups.

It guesses nothing: who stands above whom, and why, was written on each declaration when the
resolution decided it, and the workshop knows who gave the value. Here that becomes a trace of
the core. It is data first; its text is plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.keys import CLASSES, Asked, spelled_key
from nodeattrs.adapters.bindings.model.producers import Constant
from nodeattrs.adapters.bindings.production.workshop import Workshop, decided
from nodeattrs.adapters.bindings.resolution.declarations import Declaration
from nodeattrs.core.claim import Claim
from nodeattrs.core.trace import Fate, Heard, Trace, shown
from nodeattrs.core.tree import Path, copied
from nodeattrs.errors import BadKey, BadValue

__all__ = ["Explanation", "Looked", "Spoken", "explain"]


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
    trace:  the core's trace over all declarations of the key; ranks count them, weakest first
    ties:   rank -> the ranks that would be in conflict with it if nothing stood above
    """

    key: str
    value: Any
    problem: str | None
    trace: Trace
    spoken: tuple[Spoken, ...] = ()
    looked: tuple[Looked, ...] = ()
    ties: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as data; a value that is no plain data is shown as text."""
        claims = self.trace.to_dict()["claims"]
        return {
            "version": 1,
            "key": self.key,
            "value": _plain(self.value),
            "problem": self.problem,
            "declarations": [{**claim, "ties_with": list(self.ties.get(claim["rank"], ()))} for claim in claims],
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
            beaten = f"beaten by {', '.join(map(str, heard.by))}: " if heard.by else ""
            yield words + (f"; {beaten}{heard.why}" if heard.why else "")
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
        spoken = tuple(_classes(workshop)) if problem is None else ()
        return Explanation(key, value, problem, Trace((key,), None, ()), spoken)
    trace, ties = _traced(workshop, wanted)
    winner = workshop.declaration(wanted)
    if winner is None:
        return Explanation(key, value, problem, trace)
    spoken = tuple(_fragments(workshop, winner)) if winner.is_multibind else ()
    return Explanation(key, value, problem, trace, spoken, tuple(_all_looks(workshop, wanted)), ties)


# --- who overrides whom ------------------------------------------------------------------------

_GAVE_NOTHING = "it is optional and gave nothing"


def _traced(workshop: Workshop, wanted: Asked) -> tuple[Trace, dict[int, tuple[int, ...]]]:
    """The trace over all declarations of a key, and which of them tie."""
    key = (spelled_key(wanted.key),)
    declared = workshop.resolution.declared.get(wanted.key, [])
    order = sorted(declared, key=lambda one: (one.position, not one.abstract))
    ranks = {id(one): rank for rank, one in enumerate(order, 1)}
    speaker = workshop.speaker(wanted)
    if speaker is not None and id(speaker) not in ranks:
        speaker = workshop.declaration(wanted)  # an alias speaks for what lies below its source
    heard = [_heard(one, key, ranks, speaker) for one in reversed(order)]
    heard.sort(key=lambda one: one.fate is Fate.LOSES)
    titles = {ranks[id(one)]: f"{one.place.layer}, {workshop.resolution.when(one)}" for one in order}
    ties = {ranks[id(one)]: tied for one in order if (tied := _ties(one, ranks))}
    return Trace(key, None if speaker is None else _said_by(speaker), tuple(heard), titles=titles), ties


def _heard(one: Declaration, key: Path, ranks: Mapping[int, int], speaker: Declaration | None) -> Heard:
    claim = Claim(key, _said_by(one), ranks[id(one)], one.origin)
    if one is speaker:
        return Heard(claim, Fate.WINS)
    if speaker is not None and not one.abstract and one.position > speaker.position:
        return Heard(claim, Fate.LOSES, f"{_GAVE_NOTHING} (bindings)", (ranks[id(speaker)],))
    if one.overridden is None:
        return Heard(claim, Fate.LOSES)
    tied = _ties(one, ranks)
    words = f"; ties with {', '.join(map(str, tied))} below the winner: would be a conflict" if tied else ""
    return Heard(claim, Fate.LOSES, f"{one.overridden.why.value} (bindings){words}", _ranked(one.overridden.by, ranks))


def _ties(one: Declaration, ranks: Mapping[int, int]) -> tuple[int, ...]:
    ties = one.overridden.ties if one.overridden is not None else ()
    return _ranked((other for other in ties if other is not one), ranks)


def _ranked(several: Iterable[Declaration], ranks: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted((ranks[id(one)] for one in several), reverse=True))


def _said_by(one: Declaration) -> Any:
    producer = one.root.producer
    if one.abstract or one.is_multibind or not isinstance(producer, Constant):
        return _Words(f"{one.flags() if not one.abstract else ''}{one.describe()}")
    value = _plain(producer.value)
    return value if not one.flags() else _Words(f"{one.flags()}{shown(value, 40)}")


def _place(workshop: Workshop, one: Declaration) -> str:
    return f"{one.origin}; layer {one.place.layer}, {workshop.resolution.when(one)}"


# --- fragments and classes -----------------------------------------------------------------------


def _fragments(workshop: Workshop, winner: Declaration) -> Iterator[Spoken]:
    collected = workshop.collected(winner)
    if collected is None:
        for one in workshop.fragments_of(winner):
            yield Spoken(one.describe(), _place(workshop, one), step=one.name)
        return
    steps: Any = collected.value if isinstance(collected.value, dict) else range(len(collected.value))
    counted = set()
    for step in steps:
        speakers = collected.speakers(step)
        counted |= {id(one) for one in speakers}
        places = ", ".join(_place(workshop, one) for one in speakers)
        yield Spoken(collected.value[step], places, step=step)
    for fragment in collected.fragments.values():
        if id(fragment.declaration) not in counted:
            yield Spoken(fragment.value, _place(workshop, fragment.declaration), False, fragment.declaration.name)


def _classes(workshop: Workshop) -> Iterator[Spoken]:
    """Each include and exclude; it counts where it is what decides about its class."""
    said = list(workshop.inclusions())
    deciding = decided(said)
    for excluded, name, at in said:
        verb = "exclude" if excluded else "include"
        yield Spoken(f"{verb} {name}", _place(workshop, at), deciding.get(name) == (excluded, at.position))


# --- look-ups ------------------------------------------------------------------------------------

_DEEPEST = 20


def _all_looks(workshop: Workshop, wanted: Asked) -> Iterator[Looked]:
    """What is looked up for a key: by its producer, or by each of its fragments."""
    for one in _speakers(workshop, wanted):
        if one.key is not None and one.key != wanted.key:
            yield Looked(1, spelled_key(one.key), _given_by(workshop, one))
        for source in workshop.fragments_of(one) if one.is_multibind else (one,):
            yield from _looks(workshop, source, 1, frozenset())


def _speakers(workshop: Workshop, wanted: Asked) -> list[Declaration]:
    """Who speaks for a key: the winner, and who spoke in its place where it gave nothing."""
    both = (workshop.declaration(wanted), workshop.speaker(wanted))
    return [one for one in dict.fromkeys(both) if one is not None]


def _given_by(workshop: Workshop, one: Declaration) -> str:
    return f"{one.describe()}  {_place(workshop, one)}"


def _looks(workshop: Workshop, one: Declaration, depth: int, seen: frozenset[int]) -> Iterator[Looked]:
    if id(one) in seen or depth > _DEEPEST:
        return
    for asked, found in _sources(workshop, one):
        yield Looked(depth, asked, "nothing is bound" if found is None else _given_by(workshop, found))
        if found is not None:
            yield from _looks(workshop, found, depth + 1, seen | {id(one)})


def _sources(workshop: Workshop, one: Declaration) -> Iterator[tuple[str, Declaration | None]]:
    """What a declaration has its value from: what it is an alias of, its fragments, or the keys it looks up."""
    if one.source is not None:
        yield spelled_key(one.source.key or ("", "")), one.source
    elif one.is_multibind:
        for fragment in workshop.fragments_of(one):
            yield f"a fragment of {one.id!r}", fragment
    else:
        for wanted in workshop.needs(one):
            for found in _speakers(workshop, wanted) or (None,):
                yield str(wanted), found

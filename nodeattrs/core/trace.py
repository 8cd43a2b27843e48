"""Everyone who spoke about a path, the winner first, with the rule that beat each loser.

A trace is data first: claims with their fates, elements, and what was said before. Its
text is for people and plain; reports lay it out better. It knows neither dialects nor
files: whoever asks hands in what a walk heard and how to make a claim of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from nodeattrs.core.claim import Claim, Verb
from nodeattrs.core.hearing import Hearing, Lost, Said
from nodeattrs.core.part import voices
from nodeattrs.core.policy import Policy, Rule
from nodeattrs.core.tree import ABSENT, Path, spell

__all__ = ["Element", "Fate", "Heard", "Past", "Trace", "shown", "told_trace"]


class Fate(Enum):
    """What became of a claim.

    WINS   it is what is read
    JOINS  it is a part of the map or list that is read
    LOSES  something stronger replaced or hid it
    """

    WINS = "wins"
    JOINS = "joins"
    LOSES = "loses"


@dataclass(frozen=True, slots=True)
class Heard:
    """One claim of a trace.

    claim: what was said; its rank is the number of the slot or layer
    fate:  what became of it
    why:   the rule that decided
    by:    the ranks that beat it, strongest first
    """

    claim: Claim
    fate: Fate
    why: str = ""
    by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """Something said and no longer in any tree: overwritten, erased, or silent from the start.

    claim: what was said, and by whom
    event: "overwritten", "erased", "silent", "forgotten" (dropped to bound the memory; `count` of them)
    by:    the claim that did it, where one did
    """

    claim: Claim
    event: str
    by: Claim | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a list that is read: its value, the ranks of everyone who said it, and their claims."""

    value: Any
    ranks: tuple[int, ...]
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The answer to "why is this value what it is?".

    path:     what was asked
    value:    what is read there; ABSENT where nothing is
    heard:    the claims, those that are read first, then the beaten ones, each in order of strength
    elements: for a list: each element, and who said it
    past:     what was said before in the same slots, newest first
    cover:    the path of the scalar or list that stands in the way, if one does
    titles:   rank -> what the slot or layer is called
    """

    path: Path
    value: Any
    heard: tuple[Heard, ...]
    elements: tuple[Element, ...] = ()
    past: tuple[Past, ...] = ()
    cover: Path | None = None
    titles: Mapping[int, str] | None = None

    @property
    def found(self) -> bool:
        """Whether there is a value, null included."""
        return self.value is not ABSENT

    @property
    def winner(self) -> Heard | None:
        """The strongest claim that is read; None where nothing is."""
        return self.heard[0] if self.heard and self.heard[0].fate is not Fate.LOSES else None

    @property
    def losers(self) -> tuple[Heard, ...]:
        """The beaten claims, strongest first."""
        return tuple(heard for heard in self.heard if heard.fate is Fate.LOSES)

    def title(self, rank: int) -> str:
        """What a rank is called: "12 override / environment"."""
        return f"{rank} {(self.titles or {}).get(rank, '')}".rstrip()

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """The trace as data for JSON: paths are spelled, values are plain, secrets are masked."""
        return {
            "version": 1,
            "path": spell(self.path),
            "steps": list(self.path),
            "found": self.found,
            "value": _plain_value(self.value) if self.found else None,
            "claims": [
                {
                    **_claim_dict(heard.claim, self),
                    "fate": heard.fate.value,
                    "why": heard.why,
                    "beaten_by": list(heard.by),
                }
                for heard in self.heard
            ],
            "elements": [
                {
                    "value": _plain_value(one.value),
                    "ranks": list(one.ranks),
                    "claims": [_claim_dict(claim, self) for claim in one.claims],
                }
                for one in self.elements
            ],
            "past": [
                {
                    **_claim_dict(past.claim, self),
                    "event": past.event,
                    "count": past.count,
                    "by": _claim_dict(past.by, self) if past.by else None,
                }
                for past in self.past
            ],
            "hidden_by": spell(self.cover) if self.cover is not None else None,
        }


def told_trace(
    hearing: Hearing,
    path: Path,
    value: Any,
    claim: Callable[[Said], Claim],
    titles: Mapping[int, str],
    past: Sequence[Past] = (),
) -> Trace:
    """Make a trace of what was heard.

    value: what is read at the path
    claim: makes a claim of what a layer said: it knows origins and verbs
    """
    joined = len(hearing.standing) > 1
    fate = Fate.JOINS if joined else Fate.WINS
    heard = [Heard(claim(said), fate, "joined" if joined else "") for said in reversed(hearing.standing)]
    if hearing.cover is not None:
        heard = [Heard(one.claim, Fate.WINS, "stands in the way") for one in heard]
    for loser in sorted(hearing.lost, key=lambda lost: -lost.said.number):
        heard.append(Heard(claim(loser.said), Fate.LOSES, _rule(loser), tuple(sorted(loser.by, reverse=True))))
    return Trace(path, value, tuple(heard), _elements(hearing, value), tuple(past), hearing.cover, titles)


def _rule(loser: Lost) -> str:
    rule = loser.line.rule
    if isinstance(rule, Rule):
        word = rule.value
    else:
        word = rule.name if isinstance(rule, Policy) else getattr(rule, "__name__", "joined").strip("_")
    return f"{loser.line.why or word} ({loser.policy.name})"


def _elements(hearing: Hearing, value: Any) -> tuple[Element, ...]:
    if not isinstance(value, list) or not hearing.standing or hearing.cover is not None:
        return ()
    told = hearing.told
    return tuple(
        Element(entry, voices(told[index] if type(told) is list else told)) for index, entry in enumerate(value)
    )


def shown(value: Any, width: int = 60) -> str:
    """A value on one line, cut to *width* characters. Whatever is no JSON shows its own text."""
    if value is ABSENT:
        return "(nothing)"
    text = _json_text(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"


def _json_text(value: Any, **options: Any) -> str:
    try:
        return json.dumps(value, default=_own_text, **options)
    except TypeError:  # a key that JSON does not have, such as a date
        return json.dumps(_with_text_keys(value), default=_own_text, **options)


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        known = (str, int, float, type(None))
        return {key if isinstance(key, known) else str(key): _with_text_keys(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_with_text_keys(entry) for entry in value]
    return value


def _own_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    return str(value)


def _plain_value(value: Any) -> Any:
    return json.loads(_json_text(value))


def _claim_dict(claim: Claim, trace: Trace) -> dict[str, Any]:
    origin = claim.origin
    return {
        "path": spell(claim.path),
        "value": None if claim.value is ABSENT else _plain_value(claim.value),
        "rank": claim.rank,
        "slot": (trace.titles or {}).get(claim.rank, ""),
        "verb": claim.verb.value,
        "kind": origin.kind,
        "name": origin.name,
        "file": origin.file,
        "line": origin.line,
        "column": origin.column,
    }


_VERBS = {
    Verb.REPLACE: "replaces what lies below",
    Verb.FULL: "full assignment",
    Verb.APPEND: "changed in place",
    Verb.ERASE: "erased",
}


def _lines(trace: Trace) -> Iterator[str]:
    head = spell(trace.path)
    yield f"{head} = {shown(trace.value)}" if trace.found else f"{head}: nothing there"
    if trace.cover is not None and trace.cover != trace.path:
        yield f"  {spell(trace.cover)} is no map: nothing can lie below it"
    rows = [
        (
            heard.fate.value,
            trace.title(heard.claim.rank),
            shown(heard.claim.value, 40),
            str(heard.claim.origin),
            _reason(heard, trace),
        )
        for heard in trace.heard
    ]
    yield from _columns(rows)
    if len({(one.ranks, tuple(str(claim.origin) for claim in one.claims)) for one in trace.elements}) > 1 or any(
        len(one.ranks) > 1 for one in trace.elements
    ):
        yield "  elements"
        yield from _columns([("", shown(one.value), _speakers(one)) for one in trace.elements])
    if trace.past:
        yield "  earlier"
        yield from _columns(
            [
                ("", past.event, trace.title(past.claim.rank), shown(past.claim.value, 40), _past(past))
                for past in trace.past
            ]
        )


def _reason(heard: Heard, trace: Trace) -> str:
    words = []
    if heard.claim.path != trace.path:
        words.append(f"said at {spell(heard.claim.path)}")
    if heard.claim.verb in _VERBS:
        words.append(_VERBS[heard.claim.verb])
    if heard.by:
        words.append(f"beaten by {_ranks(heard.by)}: {heard.why}")
    elif heard.fate is Fate.LOSES:
        words.append(heard.why)
    return "; ".join(words)


def _ranks(ranks: Iterable[int]) -> str:
    return ", ".join(map(str, ranks))


def _speakers(element: Element) -> str:
    said = [f"{claim.rank} {claim.origin}" for claim in element.claims]
    return "said by " + (", ".join(said) or _ranks(element.ranks))


def _past(past: Past) -> str:
    if past.event == "forgotten":
        return f"{past.count} more like it, no longer kept"
    words = str(past.claim.origin)
    if past.by is not None:
        words += f"; by {past.by.origin}"
    return words


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

"""A trace: the claims about a path, the winner first, each other claim with the rule that overrode it.

`traced` makes a `Trace` from the result of a walk (`core.walk`); a trace is plain data. `rows` gives its rows in words,
which every text and page prints. `str(trace)` is the plain text. The module knows neither dialects nor files: its
callers bring the walk, and a function that makes claims.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Claim, Origin, ValueText, Verb
from nodeattrs.core.policy import DROP, KEEP, MEET, TAKE, Line, Meet, Policy, Rule
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.core.unknown import Unknown, unknown_layer
from nodeattrs.core.walk import SetValue, Walk


class Outcome(Enum):
    """What became of one claim of a trace.

    WINS    its value is read; or it is a scalar or list that blocks the path
    JOINS   its value is one of several that are read together: parts of a map or list
    HOLDS   it sets a map above the path, but nothing at the path. Without that map, the answer would be different
    UNKNOWN the layer cannot be read, and might override the value
    LOSES   another claim replaced, hid or removed its value
    """

    WINS = "wins"
    JOINS = "joins"
    HOLDS = "holds"
    UNKNOWN = "unknown"
    LOSES = "loses"


class TraceClaim(NamedTuple):
    """One claim of a trace, with its outcome. It has the path, value, rank and origin of the claim.

    claim:   the value, its origin and its rank: the number of the slot or layer
    outcome: whether the claim wins, joins, holds, is unknown or loses
    why:     the rule that decided, in words; for an unknown layer why it cannot be read; "" for a lone winner
    by:      the ranks that override it, strongest first; () for a claim that does not lose. Its own rank is among them
             if it also loses without the others
    then:    later claims that changed its list in place, such as a recipe's. () without such a change, and if nothing
             of its list is left
    """

    claim: Claim
    outcome: Outcome
    why: str = ""
    by: tuple[int, ...] = ()
    then: tuple[Claim, ...] = ()

    @property
    def path(self) -> Path:
        """Where it was set."""
        return self.claim.path

    @property
    def value(self) -> Any:
        """What was set."""
        return self.claim.value

    @property
    def rank(self) -> int:
        """The number of the slot or layer."""
        return self.claim.rank

    @property
    def origin(self) -> Origin:
        """Who set it, and where."""
        return self.claim.origin


class EarlierValue(NamedTuple):
    """A value that was set in a slot and is no longer in it. Only nodes keep such a history.

    claim: the value, its origin and its rank
    event: "overwritten" or "erased"; "silent": an `unless` that set nothing; "kept out": a rule kept what was there;
           "forgotten": older events were dropped to bound the memory
    by:    the claim that overwrote or erased it, or set what the rule kept; None if no claim did
    times: the number of forgotten events; 1 for any other event
    at:    the path that was overwritten or erased: the path of the claim, or a path above it; None if not known
    rule:  the rule that kept it out, in words; "" for any other event
    """

    claim: Claim
    event: str
    by: Claim | None = None
    times: int = 1
    at: Path | None = None
    rule: str = ""


class Element(NamedTuple):
    """An element of a list that is read.

    value:  the element
    ranks:  the numbers of the slots or layers that set it, each once
    claims: one for each source, with the line of the element
    """

    value: Any
    ranks: tuple[int, ...]
    claims: tuple[Claim, ...] = ()


class Trace(NamedTuple):
    """The answer to "why is this value what it is?", as data. `str(trace)` is the explanation as text.

    `standing` has the claims that win or join, strongest first. `winner` is the first claim of `standing`, or None.
    `losers` has the overridden claims, and `unknown` the claims of layers that cannot be read; () for none. `origins`
    has the origins of `standing`, and of later changes of a list. `require_known` raises UnknownLayer if an unknown
    layer might change the value. `title(12)` is "12 override / environment". `found` says whether there is a value,
    null included. `to_dict` returns the trace as data for JSON, with secrets masked.

    path:     the path of the question
    value:    the value that is read there; ABSENT where it is not set
    claims:   each group in order of strength: claims that are read, then unknown layers, then claims with the outcome
              HOLDS, then overridden claims; () if nothing sets the path
    elements: for a list, each element with its claims; () for any other value
    history:  values that these slots or layers had before, newest first; () for none
    cover:    the path of a scalar or list above, which makes a value at *path* impossible; None if nothing blocks it
    titles:   rank -> name of the slot or layer; None: no rank has a name
    """

    path: Path
    value: Any
    claims: tuple[TraceClaim, ...]
    elements: tuple[Element, ...] = ()
    history: tuple[EarlierValue, ...] = ()
    cover: Path | None = None
    titles: Mapping[int, str] | None = None

    @property
    def found(self) -> bool:
        """Whether there is a value, null included."""
        return self.value is not ABSENT

    @property
    def winner(self) -> TraceClaim | None:
        """The first of `standing`: the strongest claim that is read; None where there is none."""
        return next(iter(self.standing), None)

    @property
    def standing(self) -> tuple[TraceClaim, ...]:
        """The claims that are read, strongest first; where a scalar or list above blocks the path, its claims.

        () if nothing sets the path.
        """
        return tuple(one for one in self.claims if one.outcome in (Outcome.WINS, Outcome.JOINS))

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins of the claims that are read, and of those that changed a list in place; () without a value."""
        claims = (claim for one in self.standing for claim in (one.claim, *one.then))
        return tuple(dict.fromkeys(claim.origin for claim in claims)) if self.found else ()

    @property
    def losers(self) -> tuple[TraceClaim, ...]:
        """The overridden claims, strongest first; () where there are none."""
        return tuple(one for one in self.claims if one.outcome is Outcome.LOSES)

    @property
    def unknown(self) -> tuple[TraceClaim, ...]:
        """The claims of layers that cannot be read and might override the value; () where there are none."""
        return tuple(one for one in self.claims if one.outcome is Outcome.UNKNOWN)

    def require_known(self) -> None:
        """Check that no unknown layer might change the value. raises: UnknownLayer, for the first layer that might"""
        for one in self.unknown:
            if isinstance(one.claim.value, Unknown):
                raise unknown_layer(one.claim.value, one.claim.origin)

    def title(self, rank: int) -> str:
        """What a rank is called: "12 override / environment"; the number alone for a rank without a name."""
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
                    **_claim_dict(one.claim, self),
                    "causes": [_cause_dict(cause) for cause in one.claim.causes],
                    "outcome": one.outcome.value,
                    "why": one.why,
                    "overridden_by": list(one.by),
                    "continued_by": [_claim_dict(claim, self) for claim in one.then],
                }
                for one in self.claims
            ],
            "elements": [
                {
                    "value": _plain_value(one.value),
                    "ranks": list(one.ranks),
                    "claims": [_claim_dict(claim, self) for claim in one.claims],
                }
                for one in self.elements
            ],
            "history": [
                {
                    **_claim_dict(past.claim, self),
                    "event": past.event,
                    "count": past.times,
                    "at": None if past.at is None else spell(past.at),
                    "by": _claim_dict(past.by, self) if past.by else None,
                    "rule": past.rule,
                }
                for past in self.history
            ],
            "hidden_by": spell(self.cover) if self.cover is not None else None,
        }


def traced(
    walk: Walk,
    path: Path,
    value: Any,
    claim: Callable[[SetValue], Claim],
    titles: Mapping[int, str],
    *,
    once: bool = True,
) -> Trace:
    """The trace made from a walk, without history: a claim for each setting that the walk found.

    path:   the path of the walk
    value:  the value that is read at the path; ABSENT if it is not set
    claim:  a function from a SetValue of the walk to its Claim: the caller knows origins and verbs. For a source that
            cannot be read, the SetValue has the value UNREAD
    titles: rank -> name of the slot or layer
    once:   True: settings with the same file, line and path become one claim, even from two layers
    """
    seen: dict[Any, int] = {}
    same: dict[int, int] = {}
    standing = [one for one in map(claim, reversed(walk.standing)) if _is_new(one, once, seen, same)]
    outcome, why = Outcome.WINS, ""
    if walk.cover is not None:
        why = "stands in the way"
    elif len(standing) > 1:
        outcome, why = Outcome.JOINS, "joined"
    claims = [TraceClaim(one, outcome, why) for one in standing]
    unknown: dict[tuple[Origin, str], TraceClaim] = {}  # a place that may set several levels is one row
    for source in reversed(walk.unknown):
        one = _unknown(claim(SetValue(source, path, UNREAD, ())))
        unknown.setdefault((one.claim.origin, one.why), one)
    claims += unknown.values()
    for holding in map(claim, walk.holding):
        if _is_new(holding, once, seen, same):
            claims.append(TraceClaim(holding, Outcome.HOLDS, _overriding_map_words(holding, walk)))
    for lost in walk.overridden:
        overridden = claim(lost.setting)
        if _is_new(overridden, once, seen, same):
            by = tuple(sorted({same.get(one, one) for one in lost.by}, reverse=True))
            claims.append(TraceClaim(overridden, Outcome.LOSES, rule_in_words(lost.policy, lost.line), by))
    elements = tuple(_elements(walk, path, value, claim))
    return Trace(path, value, tuple(claims), elements, (), walk.cover, titles)


def _is_new(claim: Claim, once: bool, seen: dict[Any, int], same: dict[int, int]) -> bool:
    """Whether there is no claim yet of the same origin, path and rank; with *once*, of the same line and path.

    seen: what claims are compared by -> the rank of the first claim. The function adds to it
    same: rank -> the rank of the claim that stands for it. The function adds to it
    """
    origin = claim.origin
    key: tuple[Any, ...] = (origin, claim.path, claim.rank)
    if once and origin.line is not None:
        key = (origin.file or origin.who, origin.line, origin.column, claim.path)
    is_new = key not in seen
    same[claim.rank] = seen.setdefault(key, claim.rank)
    return is_new


def _overriding_map_words(claim: Claim, walk: Walk) -> str:
    """The sentence about a map without a value at the path: the ranks that it overrides."""
    found = dict.fromkeys(str(lost.setting.source) for lost in walk.overridden if claim.rank in lost.by)
    return f"its map at {spell(claim.path)} overrides {', '.join(found)}"


UNREAD = Unknown("", "it cannot be read")


def _unknown(claim: Claim) -> TraceClaim:
    value = claim.value if isinstance(claim.value, Unknown) else UNREAD
    return TraceClaim(claim, Outcome.UNKNOWN, value.reason)


_VERB_WORDS = {
    KEEP: "the lower one stays",
    TAKE: "the upper one replaces the lower one",
    DROP: "the key is dropped",
    MEET: "two maps meet key by key",
}


def rule_in_words(policy: Policy, line: Line) -> str:
    """The rule in words, with the name of its policy: what its author wrote, else what its verb does."""
    rule = MEET if isinstance(line.rule, Meet) else line.rule
    words = _VERB_WORDS[rule] if isinstance(rule, Rule) else f"joined by {rule.name}"
    return f"{line.why or words} ({policy.name})"


def _elements(walk: Walk, path: Path, value: Any, claim: Callable[[SetValue], Claim]) -> Iterator[Element]:
    if not isinstance(value, list) or not walk.standing or walk.cover is not None:
        return
    for index, (entry, found) in enumerate(walk.elements(value)):
        claims = [claim(SetValue(at.source, (*path, index), entry, at.path)) for at in found]
        yield Element(entry, tuple(dict.fromkeys(at.source for at in found)), tuple(claims))


def shown(value: Any, width: int = 60) -> str:
    """A value as one line of JSON, cut to *width* characters with "…" at the end; "(nothing)" for ABSENT.

    A value, or a key, that JSON does not know is written as the text of its `str`; a secret prints as withheld.
    """
    if value is ABSENT:
        return "(nothing)"
    text = str(value) if isinstance(value, (Unknown, ValueText)) else _json_text(value, ensure_ascii=False)
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
    found = columns_of(claim)
    value = None if claim.value is ABSENT or isinstance(claim.value, Unknown) else _plain_value(claim.value)
    slot = (trace.titles or {}).get(claim.rank, "")
    return {"path": found.pop("path"), "value": value, "rank": found.pop("rank"), "slot": slot, **found}


def _cause_dict(cause: Cause) -> dict[str, Any]:
    path, at = cause.path, cause.at
    return {
        **cause.to_dict(),
        "path": None if path is None else spell(path),
        "read_at": None if at is None else {"file": at.file, "line": at.line, "column": at.column},
    }


_VERBS = {
    Verb.REPLACE: "replaces what lies below",
    Verb.FULL: "full assignment",
    Verb.APPEND: "changed in place",
    Verb.ERASE: "erased",
}


def columns_of(claim: Claim) -> dict[str, Any]:
    """A new dict of the fields of a claim that every explanation shows: path, rank, verb, and the origin's fields."""
    return {"path": spell(claim.path), "rank": claim.rank, "verb": claim.verb.value, **claim.origin._asdict()}


class Row(NamedTuple):
    """A claim of a trace with its parts in words, for texts and pages. `rows` makes a Row for each claim.

    outcome: the word "wins", "joins", "holds", "unknown" or "loses"
    rank:    the number of the slot or layer
    title:   the name of the slot or layer; "" without one
    value:   the value that was set, as it is
    origin:  the source and place
    how:     in words: the path where it was set, if that is not the trace's path; the verb, if it is not a plain "set";
             the places of later claims that changed its list. "" for none of these
    by:      the ranks of other claims that override it, strongest first
    rule:    in words, why it loses or holds, or why its layer is unknown; "" if it wins or joins
    note:    `how`, the ranks in `by` and `rule` as one text: "set at a; overridden by 12, 9: RULE"; "" if all are empty
    """

    outcome: str
    rank: int
    title: str
    value: Any
    origin: Origin
    how: str
    by: tuple[int, ...]
    rule: str

    @property
    def note(self) -> str:
        """`how`, then "overridden by" and the ranks, then `rule`, without what is empty; "" if all are empty."""
        rule = f"overridden by {', '.join(map(str, self.by))}: {self.rule}" if self.by else self.rule
        return "; ".join(filter(None, (self.how, rule)))


def rows(trace: Trace) -> Iterator[Row]:
    """Yield a Row for each claim of a trace, in its order; nothing for a trace without claims."""
    titles = trace.titles or {}
    for one in trace.claims:
        claim = one.claim
        yield Row(
            one.outcome.value,
            claim.rank,
            titles.get(claim.rank, ""),
            claim.value,
            claim.origin,
            _how(claim, one.then, trace),
            tuple(rank for rank in one.by if rank != claim.rank),
            _RULES.get(one.outcome, "").format(one.why),
        )


_RULES = {Outcome.UNKNOWN: "may override it: {}", Outcome.LOSES: "{}", Outcome.HOLDS: "{}"}
"""Outcome -> the words around `TraceClaim.why`; none for claims that are read."""


def _how(claim: Claim, then: Sequence[Claim], trace: Trace) -> str:
    words = [] if claim.path in (trace.path, trace.cover) else [f"set at {spell(claim.path)}"]
    words += filter(None, [_VERBS.get(claim.verb)])
    if then:
        words.append(f"continued by {', '.join(str(one.origin.place or one.origin.who) for one in then)}")
    return "; ".join(words)


def _lines(trace: Trace) -> Iterator[str]:
    head = spell(trace.path)
    yield f"{head} = {shown(trace.value)}" if trace.found else f"{head} is not set"
    if trace.cover is not None and trace.cover != trace.path:
        yield f"  {spell(trace.cover)} is not a map: nothing can lie below it"
    yield from _columns(
        [
            (row.outcome, f"{row.rank} {row.title}".rstrip(), shown(row.value, 40), str(row.origin), row.note)
            for row in rows(trace)
        ]
    )
    setters = {(one.ranks, tuple(str(claim.origin) for claim in one.claims)) for one in trace.elements}
    if len(setters) > 1 or any(len(one.ranks) > 1 for one in trace.elements):
        yield "  elements"
        yield from _columns([("", shown(one.value), _setters(one)) for one in trace.elements])
    if trace.history:
        yield "  earlier"
        yield from _columns(
            [
                ("", past.event, trace.title(past.claim.rank), shown(past.claim.value, 40), _history_words(past))
                for past in trace.history
            ]
        )


def _setters(element: Element) -> str:
    setters = [f"{claim.rank} {claim.origin}" for claim in element.claims]
    return "set by " + (", ".join(setters) or ", ".join(map(str, element.ranks)))


def _history_words(past: EarlierValue) -> str:
    if past.event == "forgotten":
        return f"{past.times} more like it, no longer kept"
    by = f"by {past.by.origin}" if past.by is not None else ""
    return "; ".join(filter(None, (str(past.claim.origin), by, past.rule)))


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

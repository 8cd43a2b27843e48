"""Explain keys: which declarations, fragments and look-ups a value comes from. Also draw the graph of all keys.

The account of the declarations (`tracing`) says which one wins and what it overrides. This module has the look-ups on
the way to a value, the account of the key `/classes`, and the data form of explanations. Making values stores nothing
for explanations: `explain` computes one from the declarations. `reports` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.claim import Cause, Claim, Origin, ValueText
from nodeattrs.core.folding import Folding
from nodeattrs.core.trace import Element, Outcome, Trace, TraceClaim
from nodeattrs.core.tree import ABSENT, Path, as_path, dig
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import Rebinding
from nodeattrs.dialects.bindings.model.types import CLASSES, Asked, spelled_key
from nodeattrs.dialects.bindings.production.maker import ValueMaker, class_decisions
from nodeattrs.dialects.bindings.resolution import Declaration, Position, UnknownSet, reason_above
from nodeattrs.dialects.bindings.tracing import (
    Account,
    BindingSource,
    ElementOrigin,
    account_of,
    data_of,
    label_of,
    plain,
    title_of,
)
from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class _ClassStatement:
    """An include or exclude of one class.

    rank:   the strength of the statement; the strongest has the greatest rank
    words:  the statement: "include ntp"
    at:     the declaration that makes the statement
    counts: whether the statement decides about the class
    """

    rank: int
    name: str
    words: str
    at: Declaration
    counts: bool

    def claim(self, path: Path) -> Claim:
        """The statement as a claim about a path below `/classes`."""
        return Claim((CLASSES, *path), ValueText(self.words), self.rank, self.at.origin)


@dataclass(frozen=True, slots=True)
class _ClassAccount(Account):
    """The account of the key `/classes`: all includes and excludes in effect, in the order in which they are written.

    sources: rank -> the declaration of a statement, or a set that cannot be read and may hold further statements
    """

    statements: tuple[_ClassStatement, ...] = ()

    def trace(self, path: Path, value: Any) -> Trace:
        """The trace of all statements; below the root of those about the class *value*. Those that count are first."""
        about = [one for one in self.statements if not path or one.name == value]
        order = sorted(about, key=lambda one: (one.counts, one.rank), reverse=True)
        outcome = Outcome.WINS if sum(one.counts for one in about) == 1 else Outcome.JOINS
        claims = tuple(
            TraceClaim(one.claim(path), outcome)
            if one.counts
            else TraceClaim(one.claim(path), Outcome.LOSES, *self._overridden(one))
            for one in order
        )
        elements = tuple(self._elements(value)) if isinstance(value, list) else ()
        return Trace((CLASSES, *path), value, claims, elements, titles=self.titles)

    def _elements(self, names: list[object]) -> Iterator[Element]:
        for index, name in enumerate(names):
            by = [one for one in self.statements if one.counts and one.name == name]
            yield Element(name, tuple(one.rank for one in by), tuple(one.claim((index,)) for one in by))

    def _overridden(self, one: _ClassStatement) -> tuple[str, tuple[int, ...]]:
        """The reason why a statement does not count, and the ranks of the statements that count instead."""
        by = [other for other in self.statements if other.name == one.name and other.counts]
        if not by:
            return "nothing includes the class (bindings)", ()
        same = by[0].at.position == one.at.position
        why = "an exclude at the same position wins" if same else reason_above(by[0].at, one.at).value
        return f"{why} (bindings)", tuple(sorted((other.rank for other in by), reverse=True))

    def set_by(self, value: Any) -> Iterator[ElementOrigin]:
        """Each statement in words, with its place and whether it counts."""
        for one in self.statements:
            yield ElementOrigin(one.words, f"{one.at.origin}; layer {self.sources[one.rank].title}", one.counts)


def _class_account(maker: ValueMaker) -> _ClassAccount:
    """The account of the key `/classes`. raises: as a fragment's producer"""
    statements = list(maker.inclusions())
    deciding: Mapping[str, tuple[bool, Position]] = class_decisions(statements)

    def strength(index: int) -> tuple[Position, bool, int]:
        excluded, _, at = statements[index]
        return at.position, excluded, -index

    ranks = {index: rank for rank, index in enumerate(sorted(range(len(statements)), key=strength), 1)}
    found = []
    for index, (excluded, name, at) in enumerate(statements):
        words = f"{'exclude' if excluded else 'include'} {name}"
        counts = deciding.get(name) == (excluded, at.position)
        found.append(_ClassStatement(ranks[index], name, words, at, counts))
    sources = {one.rank: BindingSource(one.at, title_of(maker, one.at)) for one in found}
    unknown = enumerate(maker.resolution.unknown, len(found) + 1)
    sources |= {rank: BindingSource(one, one.place.layer) for rank, one in unknown}
    return _ClassAccount(CLASSES, Folding(), sources, statements=tuple(found))


@dataclass(frozen=True, slots=True)
class LookupStep:
    """A look-up on the way to a value, as three facts in words for a report.

    depth: 1 for a look-up by the key itself, 2 for one by a key that it looks up
    asked: the key that is looked up, or a fragment, in words
    by:    what gives its value, with its place: "nothing is bound" where nothing does
    """

    depth: int
    asked: str
    by: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to "why is this the value of the key?". `explain` makes it, with a value that was injected.

    Paths are paths in the value, and () is the whole value. `trace` returns all claims about a path, and `origins` the
    places that set it; () for a path that is not set. `causes` returns the conditions under which the claims are in
    effect. `set_by` has the fragments of a collection, for a report; () for any other value. `ties` maps the number of
    a source to the numbers of other sources at its position. `unknown` has the unread layers that might decide the
    value. `to_dict` returns the explanation as data for JSON.
    key:     the key in words
    value:   the value that is injected; ABSENT if the injection failed
    problem: the error of the injection, in words; None if there was no error
    account: the declarations of the key, with what each of them does; empty if nothing is declared
    looked:  the look-ups on the way to the value, depth first
    beside:  (key, unread set) for each unread set that might decide a key that was looked up
    """

    key: str
    value: Any
    problem: str | None
    account: Account = field(repr=False)
    looked: tuple[LookupStep, ...] = ()
    beside: tuple[tuple[str, UnknownSet], ...] = field(default=(), repr=False)

    @property
    def ties(self) -> Mapping[int, tuple[int, ...]]:
        """Rank -> the ranks at the same position, which would conflict if a better position did not override them."""
        return self.account.ties

    def origins(self, path: str | Path = ()) -> tuple[Origin, ...]:
        """The places that set the value at a path; () where the value has no such path."""
        steps = as_path(path)
        value = dig(plain(self.value), steps)
        return () if value is ABSENT else self.account.innermost.trace(steps, value).origins

    def trace(self, path: str | Path = ()) -> Trace:
        """The trace of a path of the value: the winner first, then each other claim with the rule that overrode it.

        A rank is the number of a source; a stronger source has a greater number. A declaration has a greater number
        than the fragments that it collects. A path that is not set has the value ABSENT.
        cost: linear in the declarations and fragments of the key
        """
        steps = as_path(path)
        found = self.account.trace(steps, dig(plain(self.value), steps))
        known = {stated.rank for stated in found.unknown}
        more = [stated for stated in map(self._unknown_claim, self.beside) if stated.rank not in known]
        titles = {**(found.titles or {}), **{stated.rank: stated.value.name for stated in more}}
        return found._replace(claims=(*found.standing, *found.unknown, *more, *found.losers), titles=titles)

    def causes(self, path: str | Path = ()) -> tuple[Cause, ...]:
        """The conditions and lists of layers because of which the claims about a path are in effect; () for none."""
        claims = self.trace(path).claims
        return tuple(dict.fromkeys(cause for stated in claims for cause in self.account.causes_of(stated.rank)))

    @property
    def unknown(self) -> tuple[TraceClaim, ...]:
        """The unread layers that might decide the value, as rows of its trace; () for none."""
        return self.trace().unknown

    def _unknown_claim(self, beside: tuple[str, UnknownSet]) -> TraceClaim:
        """The row of a trace for an unread set that might decide a looked-up key."""
        label, one = beside
        claim = Claim((label,), one.value, self.account.rank_of(one), one.origin)
        return TraceClaim(claim, Outcome.UNKNOWN, one.value.reason)

    @property
    def set_by(self) -> tuple[ElementOrigin, ...]:
        """An `ElementOrigin` for each element or name of a collection, then for each fragment without effect.

        For `/classes` they are the includes and excludes. () for any other value.
        """
        return tuple(self.account.innermost.set_by(self.value))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as data for JSON; a value that is no plain data is shown as text."""
        trace = self.trace().to_dict()
        return {
            "version": 1,
            "key": self.key,
            "value": trace["value"],
            "problem": self.problem,
            "declarations": [
                {**claim, "ties_with": list(self.ties.get(claim["rank"], ()))} for claim in trace["claims"]
            ],
            "elements": trace["elements"],
            "set_by": [
                {"value": data_of(one.value), "place": one.place, "counts": one.counts, "step": data_of(one.step)}
                for one in self.set_by
            ],
            "looked_up": [{"depth": one.depth, "asked": one.asked, "by": one.by} for one in self.looked],
        }

    def __str__(self) -> str:
        text = str(self.trace())
        return text if self.problem is None else f"{text}\n{self.problem}"


def explain(maker: ValueMaker, wanted: Asked) -> Explanation:
    """The explanation of a key. The key is injected, so its producers run. If that fails, `problem` of the result is
    the error, and nothing is raised.

    cost: the declarations of the key, and what its producers cost
    """
    value, problem = ABSENT, None
    try:
        value = maker.value_of(wanted)
    except BindingError as error:
        problem = error.message
    return explained(maker, wanted, value, problem)


def explained(maker: ValueMaker, wanted: Asked, value: Any, problem: str | None = None) -> Explanation:
    """The explanation of a key whose value is known; no producer runs.

    value:   the injected value; ABSENT if the injection failed
    problem: the error of the injection in words; None if there was no error
    """
    key, unread = spelled_key(wanted.key), maker.resolution.unknown
    if wanted.key == ("Data", CLASSES):
        if problem is not None:
            return Explanation(key, value, problem, Account(CLASSES, Folding(), {}))
        return Explanation(key, value, None, _class_account(maker), (), tuple((CLASSES, one) for one in unread))
    account, looked = account_of(maker, wanted, value), tuple(_all_lookups(maker, wanted))
    return Explanation(key, value, problem, account, looked, tuple(_undecided_sets(maker, wanted)) if unread else ())


def _undecided_sets(maker: ValueMaker, wanted: Asked) -> Iterator[tuple[str, UnknownSet]]:
    """(key, unread set) for each unread set that might decide a key on which the wanted one depends."""
    for needed in _needed(maker, wanted):
        for one in account_of(maker, needed, ABSENT).unknown():
            yield label_of(needed.key), one


def _needed(maker: ValueMaker, wanted: Asked) -> Iterator[Asked]:
    """Every key that a key looks up, also by way of others; each once, without the key itself."""
    waiting, seen = [wanted], {wanted.key}
    while waiting:
        for one in _deciding(maker, waiting.pop()):
            for source in (one, *maker.fragments_of(one)):
                for needed in maker.needs(source):
                    if needed.key not in seen:
                        seen.add(needed.key)
                        waiting.append(needed)
                        yield needed


# --- look-ups ------------------------------------------------------------------------------------

_DEEPEST = 20


def _all_lookups(maker: ValueMaker, wanted: Asked) -> Iterator[LookupStep]:
    """The look-ups of a key: those of its producer, or of each of its fragments."""
    for one in _deciding(maker, wanted):
        if one.key is not None and one.key != wanted.key:
            yield LookupStep(1, one.words, _given_by(maker, one))
        for source in maker.fragments_of(one) or [one]:
            yield from _lookups(maker, source, 1, frozenset())


def _deciding(maker: ValueMaker, wanted: Asked) -> list[Declaration]:
    """The winner of a key, and the declaration that gave the value in its place; [] where nothing is bound."""
    both = (maker.declaration(wanted), maker.giver(wanted))
    return [one for one in dict.fromkeys(both) if one is not None]


def _given_by(maker: ValueMaker, one: Declaration) -> str:
    return f"{one.describe()}  {one.origin}; layer {title_of(maker, one)}"


def _lookups(maker: ValueMaker, one: Declaration, depth: int, seen: frozenset[int]) -> Iterator[LookupStep]:
    """The look-ups of a declaration, depth first, until a declaration repeats or the depth is 20."""
    if id(one) in seen or depth > _DEEPEST:
        return
    for asked, found in _sources(maker, one):
        yield LookupStep(depth, asked, "nothing is bound" if found is None else _given_by(maker, found))
        if found is not None:
            yield from _lookups(maker, found, depth + 1, seen | {id(one)})


def _sources(maker: ValueMaker, one: Declaration) -> Iterator[tuple[str, Declaration | None]]:
    """(words, declaration) for each source of a value: the source of an alias, fragments, or looked-up keys."""
    if one.source is not None:
        yield one.source.words, one.source
        return
    for fragment in maker.fragments_of(one):
        yield f"a fragment of {one.id!r}", fragment
    for wanted in maker.needs(one):
        for found in _deciding(maker, wanted) or (None,):
            yield str(wanted), found


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An edge between two keys, fragments or resources in words: *source* needs, or stands before, *target*.

    kind: "looks up", "collects" (a fragment), "alias of", or the arrow of a dependency: "->", "~>"
    """

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of all keys. `to_dot` gives the language of Graphviz, `to_dict` plain data, and `lines` the lines of a
    report.

    nodes: the names of the nodes, each once, sorted
    edges: the edges, each once, sorted
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """The nodes and edges as plain data."""
        return {
            "version": 1,
            "nodes": list(self.nodes),
            "edges": [{"from": edge.source, "to": edge.target, "kind": edge.kind} for edge in self.edges],
        }

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        lines = ["digraph bindings {", "  rankdir=LR;", "  node [shape=box];"]
        lines += [f"  {_quoted(node)};" for node in self.nodes]
        lines += [
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.kind)}];" for edge in self.edges
        ]
        return "\n".join([*lines, "}", ""])

    def lines(self, screen: Screen) -> Iterator[str]:
        """The graph in the language of Graphviz, line by line."""
        yield from map(printable, self.to_dot().splitlines())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def graph(maker: ValueMaker) -> Graph:
    """The graph of all keys, with their look-ups, fragments, aliases and dependencies."""
    edges = set(_edges(maker))
    nodes = {spelled_key(key) for key in maker.resolution.winners}
    nodes |= {name for edge in edges for name in (edge.source, edge.target)}
    return Graph(tuple(sorted(nodes)), tuple(sorted(edges)))


def _edges(maker: ValueMaker) -> Iterator[Edge]:
    """The edges of all keys: aliases, look-ups, fragments and dependencies."""
    for key, winner in maker.resolution.winners.items():
        name = spelled_key(key)
        if isinstance(winner.item, Rebinding) and winner.source is not None and winner.source.key != key:
            yield Edge(name, winner.source.words, "alias of")
        yield from _needs(maker, name, winner)
        for fragment in maker.fragments_of(winner):
            words = f"{fragment.describe()} ({fragment.origin})"
            yield Edge(name, words, "collects")
            yield from _needs(maker, words, fragment)
    for left, arrow, right in maker.resolution.pairs():
        yield Edge(left, right, arrow)


def _needs(maker: ValueMaker, name: str, one: Declaration) -> Iterator[Edge]:
    for wanted in maker.needs(one):
        yield Edge(name, spelled_key(wanted.key), "looks up")

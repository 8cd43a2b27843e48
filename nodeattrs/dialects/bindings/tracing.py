"""Accounts: how the declarations of a key override each other, as a folding of the core.

Each declaration is a part of the folding, in the order of positions. The policy between two parts is the reason why the
upper one wins. A winner may pass on another value: the fragments of a multibind, or the source of an alias. That value
has an inner account. This module makes no values and prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Claim, Origin, ValueText
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import wholes
from nodeattrs.core.part import Part, made
from nodeattrs.core.policy import ANY, KEEP, PRESENT, TAKE, Line, Policy
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.trace import Outcome, Trace, TraceClaim, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, copied
from nodeattrs.core.walk import SetValue
from nodeattrs.dialects.bindings.model.items import Rebinding
from nodeattrs.dialects.bindings.model.types import Asked, Key, spelled_key
from nodeattrs.dialects.bindings.production.maker import ValueMaker
from nodeattrs.dialects.bindings.production.multibinds import Fragment
from nodeattrs.dialects.bindings.resolution import Declaration, Reason, UnknownSet, best_ones, reason_above
from nodeattrs.errors import BadKey, BadValue
from nodeattrs.puppet.references import Reference


@dataclass(frozen=True, slots=True)
class ElementOrigin:
    """An element of a collection with the fragments that gave it. For the key `/classes`, it is an include or exclude.

    value:  the element. For a fragment without effect: the value of the fragment. For `/classes`: "include ntp"
    place:  file, line and layer of each fragment that contributes to the element
    counts: False: the fragment or statement has no effect
    step:   the index or the name in the collection; None for none
    """

    value: Any
    place: str
    counts: bool = True
    step: Any = None


def _conflicting(lower: Part, upper: Part) -> Part:
    return made(ValueText("several that tie"), lower, upper)


def _rule(rule: Any, why: str) -> Policy:
    return Policy("bindings", Line(ANY, PRESENT, rule, why))


_ABOVE = {why: _rule(TAKE, why.value) for why in Reason}
_FINAL = _rule(KEEP, "what is final is bound in no higher layer")
_SILENT = _rule(KEEP, "it is optional and gave nothing")
_TIED = _rule(_conflicting, "neither is above the other")


@dataclass(frozen=True, slots=True)
class BindingSource:
    """The declaration, fragment or unread set behind one source number of a folding.

    `at` gives the place of a path of its value; `shown` gives the value at a place, as a trace shows it.

    of:    the declaration or the unread set
    title: its layer, categories and flags in words
    words: a text shown for the whole value if that is not plain data; None: the value itself is shown
    named: True: a fragment with a name, so that the name is the first step of each path inside
    """

    of: Declaration | UnknownSet
    title: str
    words: ValueText | None = None
    named: bool = False

    def shown(self, setting: SetValue) -> Any:
        """The value that the source sets at a place; at the root its words, if any; an Unknown if it is unread."""
        if isinstance(self.of, UnknownSet):
            return self.of.value
        return setting.value if self.words is None or setting.own else self.words

    def at(self, path: Path) -> Origin:
        """The origin of a path of the source's value; the origin of the declaration where no better one is known."""
        one = self.of
        if isinstance(one, UnknownSet):
            return one.origin
        producer = one.producer if one.source is None else None  # an alias has the place of its own item
        if producer is None:
            return one.origin
        inside = path[1:] if self.named else path
        place = producer.place(inside if "transformer" not in one.options else ())
        return one.origin if place is None or place.line is None else place


@dataclass(frozen=True, slots=True)
class Account:
    """The sources of the value of a key, and how they override each other. `account_of` makes it.

    A source is a declaration, a fragment or an unread set. It has a number; the greater number is stronger. `trace`
    gives the trace of a path. For the whole value, the claims of the inner account come after the winner's claim. For a
    path inside of the value, they stand in its place. `set_by` yields an `ElementOrigin` for each element of a
    collection. `causes_of` gives the conditions of a source, by its number. `unknown` yields the unread sets that may
    decide, also of inner accounts. `rank_of` gives the number of a set. `innermost` is the last of the inner accounts,
    or this one. `titles` maps all numbers to titles.
    label:         the first step of all paths
    folding:       the sources, merged in order; empty if nothing is declared
    sources:       number -> source; the sources of *inner* have smaller numbers
    inner:         if a multibind wins, the account of its fragments; if an alias wins, the account of its source. None
                   for other winners, which have a value of their own
    ties:          number of a source -> the numbers of other sources in an equal position
    is_collection: True: the sources are fragments of a multibind
    """

    label: str
    folding: Folding
    sources: Mapping[int, BindingSource]
    inner: Account | None = None
    ties: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    is_collection: bool = False

    @property
    def innermost(self) -> Account:
        """The account of the value itself: this one, or the last one of the inner ones."""
        return self if self.inner is None else self.inner.innermost

    @property
    def titles(self) -> dict[int, str]:
        """Number -> the title of the source; with the sources of the inner accounts."""
        below = {} if self.inner is None else self.inner.titles
        return {**below, **{number: source.title for number, source in self.sources.items()}}

    def trace(self, path: Path, value: Any) -> Trace:
        """The trace of a path in the value. The paths in it begin with the label.

        value: the injected value at the path; ABSENT if it is not set
        """
        own = traced(walk(self.folding, path), path, value, self._claim, self.titles, once=False)
        cover = None if own.cover is None else (self.label, *own.cover)
        own = own._replace(path=(self.label, *path), cover=cover)
        if self.inner is None:
            return own
        below = self.inner.trace(path, value)
        return own._replace(claims=tuple(_joined_rows(own, below, not path)), elements=below.elements)

    def unknown(self) -> Iterator[UnknownSet]:
        """Yield the unread sets that may decide the value here, then those that may decide it in the inner accounts.

        A set that may decide in two accounts is yielded twice. Nothing if no unread set may decide.
        """
        for number in walk(self.folding, ()).unknown:
            of = self.sources[number].of
            if isinstance(of, UnknownSet):
                yield of
        if self.inner is not None:
            yield from self.inner.unknown()

    def _contributed(self) -> Iterator[tuple[Any, Any, list[Claim]]]:
        """(index or name, element, claims) for each element of a collection, the strongest claim first."""
        whole = self.folding.located()
        for step in whole.value if isinstance(whole.value, dict) else range(len(whole.value)):
            part = whole.at(step)
            found = sorted(wholes(part.origins, (step,)), key=lambda at: -at.source)
            yield step, part.value, [self._claim(SetValue(at.source, (step,), part.value, at.path)) for at in found]

    def set_by(self, value: Any) -> Iterator[ElementOrigin]:
        """Yield an `ElementOrigin` for each element of the list, or entry of the map, that a multibind makes.

        Then comes one for each fragment that gives nothing to the value. Nothing if `is_collection` is False.
        value: the whole injected value
        """
        if not self.is_collection:
            return
        whole, counted = self.trace((), value), set()
        for step, entry, claims in self._contributed():
            counted |= {claim.rank for claim in claims}
            yield ElementOrigin(entry, ", ".join(self._place(claim) for claim in claims), True, step)
        for stated in whole.claims:
            if stated.rank not in counted:
                yield self._silent(stated.claim, whole.value)

    def _silent(self, claim: Claim, value: Any) -> ElementOrigin:
        """The entry of a fragment that contributes nothing. For a map of one name, it has the name as step."""
        name, own = None, claim.value
        if isinstance(own, dict) and isinstance(value, dict) and len(own) == 1:
            ((name, own),) = own.items()
        return ElementOrigin(own, self._place(claim), False, name)

    def _place(self, claim: Claim) -> str:
        return f"{claim.origin}; layer {self.sources[claim.rank].title}"

    def rank_of(self, unknown: UnknownSet) -> int:
        """The source number of an unread set. raises: KeyError, for a set that this account itself does not have"""
        for number, source in self.sources.items():
            if source.of is unknown:
                return number
        raise KeyError(unknown)

    def causes_of(self, rank: int) -> tuple[Cause, ...]:
        """The conditions and lists of layers because of which a source is in effect; () for none.

        rank:   the number of a source of this account, or of an inner one
        raises: KeyError, for an unknown number
        """
        if self.inner is not None and rank not in self.sources:
            return self.inner.causes_of(rank)
        return self.sources[rank].of.place.causes

    def _claim(self, setting: SetValue) -> Claim:
        source = self.sources[setting.source]
        place = source.at(setting.own)
        return Claim((self.label, *setting.path), source.shown(setting), setting.source, place)


def _joined_rows(own: Trace, below: Trace, at_root: bool) -> Iterator[TraceClaim]:
    """The rows of both traces: the winner first, with the claims of its inner value in its place."""
    for stated in own.claims if at_root else ():
        if stated.outcome in _READ:
            yield stated
    yield from (stated for stated in below.claims if stated.outcome in _READ)
    yield from below.unknown
    known = [(stated.claim.value, stated.claim.origin) for stated in below.unknown]
    yield from (stated for stated in own.unknown if (stated.claim.value, stated.claim.origin) not in known)
    yield from below.losers
    yield from own.losers


_READ = (Outcome.WINS, Outcome.JOINS)


def plain(value: Any) -> Any:
    """A copy of a value as plain data. References at any depth, and values that are not data, become texts.

    ABSENT and a `Sensitive` are returned as they are.
    """
    if value is ABSENT or isinstance(value, Sensitive):
        return value
    try:
        return copied(value, convert=_text_of_reference)
    except (BadKey, BadValue):
        return ValueText(str(value))


def _text_of_reference(value: Any) -> str:
    """The text of a reference. raises: BadValue, for any other value"""
    if isinstance(value, Reference):
        return str(value)
    raise BadValue(f"plain data cannot hold a {type(value).__name__}", path=())


def data_of(value: Any) -> Any:
    """A copy of a value as plain data for JSON; a secret, and a value that is no data, as a text."""
    found = plain(value)
    return str(found) if isinstance(found, (ValueText, Sensitive)) else found


def label_of(key: Key) -> str:
    """The first step of all paths of a key in traces: the name of data, else the text of the key."""
    kind, name = key
    return name if kind == "Data" and name else spelled_key(key)


def title_of(maker: ValueMaker, one: Declaration) -> str:
    """The layer and the categories of a declaration in words: "site, node kermit"."""
    return f"{one.place.layer}, {maker.resolution.when(one)}"


def account_of(maker: ValueMaker, wanted: Asked, value: Any) -> Account:
    """The account of a key: its declarations, and the unread sets that may declare it. Empty if it has neither.

    value: the injected value, which is shown for the declaration that gave it; ABSENT if the injection failed
    """
    several = maker.resolution.declared.get(wanted.key, [])
    giver = maker.giver(wanted)
    if giver not in several:
        giver = maker.declaration(wanted)  # the giver is behind an alias, and the alias decides this key
    asking = _ExplainedKey(maker, value, maker.giver(wanted))
    return _declared(asking, wanted.key, several, giver, maker.resolution.unknown)


class _ExplainedKey(NamedTuple):
    """The key of an account. giver: the declaration that gave the value, behind all aliases"""

    maker: ValueMaker
    value: Any
    giver: Declaration | None


def _declared(
    asking: _ExplainedKey,
    key: Key,
    several: Sequence[Declaration],
    giver: Declaration | None,
    unknown: Sequence[UnknownSet],
) -> Account:
    """The account of the declarations of one key. unknown: unread sets that may declare the key, too"""
    inner = None if giver is None else _inner(asking, giver)
    laying = _DeclarationFolding(asking, giver, 0 if inner is None else max(inner.titles, default=0))
    laying.lay([*several, *unknown])
    return Account(label_of(key), laying.folding, laying.sources, inner, laying.ties)


def _inner(asking: _ExplainedKey, giver: Declaration) -> Account | None:
    """The account of the value that a declaration passes on; None where it has its own value."""
    source = giver.source
    if source is None:
        return _collected(asking, giver) if giver.is_multibind else None
    key = source.key or ("", "")
    resolution = asking.maker.resolution
    below = [one for one in resolution.declared.get(key, []) if one.position < giver.position]
    if source not in below:
        below = [source, *giver.lower]  # it was renamed: its old key has no declarations
    found = next((one for one in below if one is asking.giver), source)
    unknown = [one for one in resolution.unknown if one.place.number <= giver.position[0]]
    return _declared(asking, key, below, found, unknown)


def _collected(asking: _ExplainedKey, multibind: Declaration) -> Account:
    """The account of the fragments of a multibind; without a collected value the fragments stand side by side."""
    maker, root, label = asking.maker, multibind.root, label_of(multibind.key or ("", ""))
    collected = maker.collected(multibind)
    if collected is None:
        laying = _DeclarationFolding(asking._replace(value=ABSENT), None, 0)
        laying.folding.lay(laying.side_by_side(maker.fragments_of(multibind)), _TIED)
        laying.lay(maker.resolution.unknown)
        return Account(label, laying.folding, laying.sources)
    folding = collected.folding
    if "transformer" in root.options and asking.value is not ABSENT:
        folding = Folding()
        folding.lay(collected.folding, _TIED)
        made_of = _rule(lambda _, upper: made(plain(asking.value), upper), "the transformer made another value of it")
        folding.finish(made_of)
    sources = {number: _source(maker, one, root) for number, one in collected.sources.items()}
    return Account(label, folding, sources, is_collection=True)


def _source(maker: ValueMaker, one: Fragment | UnknownSet, of: Declaration) -> BindingSource:
    if isinstance(one, UnknownSet):
        return BindingSource(one, one.place.layer)
    return BindingSource(one.declaration, title_of(maker, one.declaration), None, of.type.name == "Hash")


class _DeclarationFolding:
    """Merges the declarations of one key into a folding. first: the number before their first source number"""

    def __init__(self, asking: _ExplainedKey, giver: Declaration | None, first: int) -> None:
        self.maker = asking.maker
        self.value = asking.value
        self.giver = giver
        self.folding = Folding()
        self.sources: dict[int, BindingSource] = {}
        self.ties: dict[int, tuple[int, ...]] = {}
        self._last = first
        self._below: Declaration | None = None
        self._final: float = inf

    def lay(self, several: Iterable[Declaration | UnknownSet]) -> None:
        """Merge declarations, the worst position first. An unread set is above all declarations of its layer."""
        order = sorted(several, key=lambda one: one.position)
        for _, group in groupby(order, key=lambda one: one.position):
            found = list(group)
            declared = [one for one in found if isinstance(one, Declaration)]
            if declared:
                self._lay_group(declared)
            for one in found:
                if isinstance(one, UnknownSet):
                    self._lay_unknown(one)

    def _lay_unknown(self, one: UnknownSet) -> None:
        self._last += 1
        self.sources[self._last] = BindingSource(one, one.place.layer)
        policy = _FINAL if one.place.number > self._final else _ABOVE[Reason.LAYER]
        self.folding.lay(Part(one.value, self._last), policy)

    def _lay_group(self, group: list[Declaration]) -> None:
        """Lay declarations of one position; a concrete one lies above the abstract ones beside it."""
        stands = best_ones(group)
        demands = [one for one in group if one not in stands]
        part: Part | Folding
        if demands and len(stands) == 1:
            part = Folding()
            part.lay(self.side_by_side(demands), _TIED)
            part.lay(self.side_by_side(stands), _ABOVE[Reason.FILLED])
        else:
            part = self.side_by_side([*demands, *stands])
        if len(stands) > 1:
            self._tie(stands)
        self.folding.lay(part, self._policy(group[0]))
        self._below = group[0]
        if any(one.final for one in group):
            self._final = min(self._final, group[0].position[0])

    def _tie(self, several: Sequence[Declaration]) -> None:
        numbers = range(self._last, self._last - len(several), -1)
        for number in numbers:
            self.ties[number] = tuple(other for other in numbers if other != number)

    def _policy(self, one: Declaration) -> Policy:
        if self.giver is not None and one.position > self.giver.position:
            return _SILENT
        return _ABOVE[Reason.LAYER if self._below is None else reason_above(one, self._below)]

    def side_by_side(self, several: Sequence[Declaration]) -> Part | Folding:
        """Declarations of one position as one part, in which none overrides another."""
        parts = [Part(self._value(one), self._numbered(one)) for one in several]
        if len(parts) == 1:
            return parts[0]
        folding = Folding()
        for part in parts:
            folding.lay(part, _TIED)
        return folding

    def _numbered(self, one: Declaration) -> int:
        """The next source number, for a declaration."""
        self._last += 1
        flags = one.flags().split()
        title = ", ".join([title_of(self.maker, one), *(flag for flag in flags if flag != "abstract")])
        self.sources[self._last] = BindingSource(one, title, _words(one))
        return self._last

    def _value(self, one: Declaration) -> Any:
        """The value that a declaration shows: the injected one, its constant, or its words."""
        if one is self.giver and self.value is not ABSENT:
            return plain(self.value)
        return plain(one.constant.value) if one.constant else ValueText(one.describe())


def _words(one: Declaration) -> ValueText | None:
    """The words of a declaration without a value of its own; None for a constant."""
    if isinstance(one.item, Rebinding) and one.source is not None:
        return ValueText(f"{one.item.verb} of {one.source.words}")
    return None if one.constant else ValueText(one.describe())

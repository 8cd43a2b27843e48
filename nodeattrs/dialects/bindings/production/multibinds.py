"""Merge the fragments of multibinds into collections, by a folding of the core; each combinator is a policy.

Fragments are numbered by their strength. The folding remembers which number set which element. So an explanation can
name the place of every element. `maker` makes the products of fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.part import Part, concat, entries, listed, made, sliced, unite
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    KEEP,
    LIST,
    MAP,
    MEET,
    PRESENT,
    TAKE,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.tree import ABSENT, spell
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.bindings.codes import BAD_OPTION, DUPLICATE_FRAGMENT, TYPE_MISMATCH, UNNAMED_FRAGMENT
from nodeattrs.dialects.bindings.model.faults import BindingError, TypeMismatch, value_in_words
from nodeattrs.dialects.bindings.model.producers import ProducerScope, called
from nodeattrs.dialects.bindings.model.types import Classes
from nodeattrs.dialects.bindings.model.values import own_copy
from nodeattrs.dialects.bindings.resolution import Declaration, Position, UnknownSet
from nodeattrs.errors import MergeConflict


def _alone(_: Part, upper: Part) -> Part:
    return listed([upper])


def _appended(lower: Part, upper: Part) -> Part:
    return concat(lower, listed([upper]))


def _summed(lower: Part, upper: Part) -> Part:
    try:
        return made(lower.value + upper.value, lower, upper)
    except TypeError:
        raise BindingError(TYPE_MISMATCH, f"{lower.value!r} and {upper.value!r} have no sum") from None


def _refused(lower: Part, upper: Part) -> Part:
    raise BindingError(TYPE_MISMATCH, f"merge needs hashes, and got {lower.value!r} and {upper.value!r}")


APPEND = Policy(
    "append", Line(LIST, PRESENT, _appended, "each is an element"), Line(ANY, PRESENT, _alone, "each is an element")
)
CONCAT = Policy(
    "concat",
    Line(LIST, LIST, concat, "two lists are joined"),
    Line(LIST, PRESENT, _appended, "what is not a list is an element"),
    Line(ABSENT_KIND, LIST, TAKE, "two lists are joined"),
    Line(ANY, PRESENT, _alone, "what is not a list is an element"),
)
SUM = Policy(
    "sum",
    Line(LIST, LIST, concat, "two lists are joined"),
    Line(ABSENT_KIND, PRESENT, TAKE, "they are added"),
    Line(ANY, PRESENT, _summed, "they are added"),
)
FIRST = Policy(
    "ignore", Line(ABSENT_KIND, PRESENT, TAKE, "the first one"), Line(ANY, PRESENT, KEEP, "the first one stays")
)
PRIORITY = Policy("priority", Line(ANY, PRESENT, TAKE, "the better position wins"))
# Only one level is merged: the better position gives whole entries.
MERGE = Policy(
    "merge",
    Line(MAP, MAP, Meet(PRIORITY), "the entries of the better position win"),
    Line(ABSENT_KIND, PRESENT, TAKE, "the better position wins"),
    Line(ANY, PRESENT, _refused),
)
DEEP = Policy(
    "deep",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "the better position wins"),
)
UNITE = Policy(
    "unite",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, unite, "two lists unite"),
    Line(ANY, PRESENT, TAKE, "the better position wins"),
)
_MORE = Policy("names", Line(ABSENT_KIND, PRESENT, TAKE), Line(ANY, PRESENT, KEEP, "its own fragments decide"))
OTHER_NAMES = Policy("names", Line(MAP, MAP, Meet(_MORE), "two names are two entries"), Line(ANY, PRESENT, TAKE))
NAMES = Policy("names", Line(MAP, MAP, MEET, "two names are two entries"), Line(ANY, PRESENT, TAKE))

_IN_ORDER = {"ignore": FIRST, "append": APPEND, "concat": CONCAT, "sum": SUM}
"""Combinators that take the fragments of a name as they come; the others lay the better position on top."""
_BY_POSITION = {"merge": MERGE, "deep": DEEP, "unite": UNITE}
_ARRAY_WORDS = ("concat", "append", "flatten", "uniq")
_HASH_WORDS = ("priority", "error", "flatten", "uniq", *_IN_ORDER, *_BY_POSITION)


@dataclass(frozen=True)
class Fragment:
    """A fragment of a multibind, and its product. It has the `position` and the `origin` of the declaration.

    declaration: the declaration of the fragment
    value:       the product of the declaration
    """

    declaration: Declaration
    value: Any

    @property
    def position(self) -> Position:
        """The position of the declaration."""
        return self.declaration.position

    @property
    def origin(self) -> Origin:
        """The line of the declaration."""
        return self.declaration.origin


@dataclass(frozen=True)
class Collection:
    """The result of `collect`: the list or map of a multibind, and the folding that made it.

    value:   the list or map that is injected; empty without fragments
    folding: the merge of all fragments, for explanations; its sources are numbers of *sources*
    sources: number -> a fragment, or an unread set that may hold fragments; the strongest has the greatest number
    """

    value: Any
    folding: Folding
    sources: Mapping[int, Fragment | UnknownSet]


class _Options:
    """The options of a multibind, checked."""

    def __init__(self, of: Declaration, scope: ProducerScope) -> None:
        root = of.root
        self.key = root.words
        self.origin = root.origin
        self.type = root.type
        self.is_hash = root.type.name == "Hash"
        given = root.options
        self.flatten = _flatten_levels(given.get("flatten"), self)
        self.uniq = bool(given.get("uniq", False))
        # By the letter of ARM-8, a second fragment of a name is an error.
        usual = "priority" if scope.state.mode == "tuple" else "error"
        self.word = usual if self.is_hash else "concat"
        self.call: Callable[..., Any] | None = None
        self.policy: Policy | None = None
        if "conflict_resolution" in given:
            if not self.is_hash:
                raise self.bad("conflict_resolution is for hashes")
            self._take(str(given["conflict_resolution"]), ("priority", "error", "ignore", "append", "merge"))
        if "combinator" in given:
            self._combinator(given["combinator"], scope)
        if self.is_hash and (self.word == "append" or self.flatten is not None or self.uniq):
            element = self.type.element
            if element.name not in ("Data", "Any", "Array") and self.call is None:
                raise self.bad(f"append, flatten and uniq need values that may be lists, not {element}")

    def _combinator(self, given: Any, scope: ProducerScope) -> None:
        """Take the option `combinator`: a policy, a function, or a word. raises: BindingError"""
        words = _HASH_WORDS if self.is_hash else _ARRAY_WORDS
        if isinstance(given, Policy):
            self.word, self.policy = "policy", given
        elif given not in words and (call := called(given, scope)) is not None:
            self.call = call
        else:
            self._take(str(given), words)

    def _take(self, word: str, known: Sequence[str]) -> None:
        """Take a word that says how fragments are combined. raises: BindingError, for an unknown word"""
        if word not in known:
            what = "hashes" if self.is_hash else "arrays"
            raise self.bad(f"{word!r} combines no {what}", hint=f"known are {', '.join(known)}, or pass a callable")
        self.word = word
        self.policy = _BY_POSITION.get(word)
        if word in ("flatten", "uniq"):
            self.word = "append" if self.is_hash else "concat"
            self.flatten = -1 if word == "flatten" else self.flatten
            self.uniq = self.uniq or word == "uniq"

    def bad(self, message: str, hint: str | None = None) -> BindingError:
        """The error for a wrong option of the multibind."""
        return BindingError(
            BAD_OPTION, f"multibind {self.key}: {message}", origins=(self.origin,), details=(f"at {self.origin}",),
            hint=hint,
        )  # fmt: skip


def option_faults(of: Declaration, scope: ProducerScope) -> list[BindingError]:
    """The first error in the options of a multibind, in a list; [] for correct options."""
    try:
        _Options(of, scope)
    except BindingError as error:
        return [error]
    return []


def collect(
    of: Declaration, fragments: Sequence[Fragment], scope: ProducerScope, unknown: Sequence[UnknownSet] = ()
) -> Collection:
    """The collection of a multibind; [] or {} without fragments. Its value shares nothing with the fragments.

    fragments: with their products, the highest layer first, then in the order of the items
    scope:     has the functions that options name, and the classes of types
    unknown:   the sets that cannot be read, which may hold further fragments
    cost:      linear in the elements
    raises:    BindingError: "bad-option", "unnamed-fragment", "duplicate-fragment", "type-mismatch"
    source:    docs/bindings.md, "Multibinds"
    """
    options = _Options(of, scope)
    if not (options.call or options.policy or options.flatten is not None or options.word == "append"):
        for fragment in fragments:
            _check_type(options, fragment, scope.register)
    numbered = _numbered(fragments, unknown)
    try:
        folding = _hash(options, numbered) if options.is_hash else _array(options, numbered)
    except MergeConflict as conflict:
        raise BindingError(
            DUPLICATE_FRAGMENT, f"multibind {options.key}: {conflict.message} at {spell(conflict.path or ())}",
            origins=[fragment.origin for fragment in fragments], hint=conflict.hint,
        ) from None  # fmt: skip
    value = folding.result.value
    if value is ABSENT:
        value = {} if options.is_hash else []
    elif options.call is None:  # the caller of inject may change the value; a function was given copies
        value = _independent(value)
    if not options.type.holds(value, scope.register):
        raise TypeMismatch(TYPE_MISMATCH, f"multibind {options.key}: {value_in_words(value)} is no {options.type}")
    return Collection(value, folding, numbered)


def _independent(value: Any) -> Any:
    """A copy of a list or a map at all levels; any other value, also a tuple, as it is."""
    return own_copy(value) if isinstance(value, (list, dict)) else value


_Numbered = Mapping[int, Fragment | UnknownSet]


def _numbered(fragments: Sequence[Fragment], unknown: Sequence[UnknownSet]) -> _Numbered:
    """The fragments in their order, numbered by strength; of equal positions the one declared first is stronger.

    An unread set comes before all fragments of its layer.
    """
    found: list[Fragment | UnknownSet] = [*unknown, *fragments]
    found.sort(key=lambda one: one.position[0], reverse=True)  # the highest layer first, as fragments come
    order = sorted(range(len(found)), key=lambda index: (found[index].position, -index))
    numbers = {index: number for number, index in enumerate(order, 1)}
    return {numbers[index]: one for index, one in enumerate(found)}


def _check_type(options: _Options, fragment: Fragment, classes: Classes) -> None:
    """Check a fragment against the type of elements. raises: TypeMismatch"""
    element = options.type.element
    fits = element.holds(fragment.value, classes)
    if not fits and not options.is_hash:
        fits = options.type.holds(fragment.value, classes)
    if not fits:
        raise TypeMismatch(
            TYPE_MISMATCH,
            f"multibind {options.key}: {value_in_words(fragment.value)} is no {element}",
            origins=(fragment.origin,),
            details=(f"the fragment is at {fragment.origin}",),
        )


def _flatten_levels(given: Any, options: _Options) -> int | None:
    """The levels to flatten: -1 for all, None for none. raises: BindingError, for another value"""
    if given is None or given is False:
        return None
    if given is True:
        return -1
    if not isinstance(given, int) or given < -1:
        raise options.bad(f"flatten is {given!r}", hint="true or -1 takes off all levels, a number that many")
    return given


# --- arrays ---------------------------------------------------------------------------------


def _array(options: _Options, numbered: _Numbered) -> Folding:
    """The folding of an array: the fragments in order, then `flatten` and `uniq`."""
    parts = [Part(one.value, number) for number, one in numbered.items()]
    if options.call is not None:
        folding = _in_order(parts, _combining(options.call), Folding(start=Part([], ())))
    elif options.policy is not None:
        folding = _in_order([_in_list(part, options) for part in parts], options.policy, Folding(start=Part([], ())))
    else:
        folding = _joined(parts, APPEND if options.flatten is not None or options.word == "append" else CONCAT)
    for look in _final_policies(options):
        folding.finish(look)
    return folding


def _in_order(parts: Iterable[Part], policy: Policy, folding: Folding) -> Folding:
    """Merge all parts into a folding, and return it."""
    for part in parts:
        folding.lay(part, policy)
    return folding


_FEW = 16


def _joined(parts: Sequence[Part], policy: Policy) -> Folding:
    """The folding of fragments as one list, in order.

    Many fragments are merged in two halves, which are then joined. A trace visits everything below a fragment, so
    without halves its cost would grow with the square of the number.
    policy: for a fragment; APPEND or CONCAT
    """
    if len(parts) <= _FEW:
        return _in_order(parts, policy, Folding(opening=policy))
    folding, middle = Folding(), len(parts) // 2
    folding.lay(_joined(parts[:middle], policy), CONCAT)
    folding.lay(_joined(parts[middle:], policy), CONCAT)
    return folding


def _in_list(part: Part, options: _Options) -> Part:
    """A fragment as a list, for a policy of the caller; any other fragment is the only element of a list."""
    if type(part.value) is Unknown or (isinstance(part.value, list) and options.flatten is None):
        return part
    return listed([Part(part.value, SourcePath(part.origins, ()))])


def _combining(call: Callable[[Any, Any], Any]) -> Policy:
    """The policy of a callable of the caller, which may change its arguments; explanations call it again."""

    def combined(lower: Part, upper: Part) -> Part:
        memo = lower.value if lower.value else _independent(lower.value)  # the start is shared
        return made(call(memo, _independent(upper.value)), lower, upper)

    return _by_function(call, combined)


# --- what comes after -------------------------------------------------------------------------

_Look = Callable[[Part], Part]
"""A function that changes the finished list of a multibind."""


def _final_policies(options: _Options) -> Iterator[Policy]:
    """The policies of `flatten` and `uniq`, which change the finished collection."""
    if options.flatten:
        yield _final_policy(partial(_flat, levels=options.flatten), "flatten", "lists in the list are taken apart")
    if options.uniq:
        yield _final_policy(_uniq, "uniq", "the first of equal elements is kept")


def _final_policy(look: _Look, name: str, why: str) -> Policy:
    """The policy that calls *look* for the finished list, or for each list that is an entry of the finished map."""

    def at_entries(_: Part, upper: Part) -> Part:
        parts = {key: upper.at(key) for key in upper.value}
        return entries({key: look(part) if isinstance(part.value, list) else part for key, part in parts.items()})

    return Policy(
        name,
        Line(ANY, LIST, lambda _, upper: look(upper), why),
        Line(ANY, MAP, at_entries, why),
        Line(ANY, PRESENT, TAKE),
    )


def _flat(part: Part, levels: int) -> Part:
    return listed(_flattened(part, levels), part)


def _flattened(part: Part, levels: int) -> Iterator[Part]:
    """The elements of a list, with the lists inside of it taken apart for some levels."""
    for element in part.elements():
        if levels and isinstance(element.value, list):
            yield from _flattened(element, levels - 1)
        else:
            yield element


def _uniq(part: Part) -> Part:
    return unite(part, sliced(part, 0, 0))


# --- hashes ---------------------------------------------------------------------------------


def _hash(options: _Options, numbered: _Numbered) -> Folding:
    """The folding of a hash: name by name, each from its own fragments."""
    policy, looks = _name_policy(options), list(_final_policies(options))
    unknown = [number for number, one in numbered.items() if isinstance(one, UnknownSet)]
    order = {number: index for index, number in enumerate(numbered)}
    folding = Folding(opening=NAMES, growing=True)
    for name, numbers in _named(options, numbered).items():
        several = sorted((*unknown, *numbers), key=order.__getitem__)
        entry = _entry(options, name, {number: numbered[number] for number in several}, policy)
        for look in looks:
            entry.finish(look)
        folding.lay(entry, NAMES)
    for number in unknown:  # an unread set may have further names
        folding.lay(Part(numbered[number].value, number), OTHER_NAMES)
    return folding


def _named(options: _Options, numbered: _Numbered) -> dict[str, list[int]]:
    """Name -> the numbers of its fragments, in their order."""
    named: dict[str, list[int]] = {}
    for number, one in numbered.items():
        if isinstance(one, UnknownSet):
            continue
        name, origin = one.declaration.name, one.origin
        if not name:
            raise BindingError(
                UNNAMED_FRAGMENT, f"multibind {options.key} is a hash, and a fragment has no name",
                origins=(origin,), details=(f"the fragment is at {origin}",), hint="write: bind 'name' to ... in 'id'",
            )  # fmt: skip
        named.setdefault(name, []).append(number)
    return named


def _name_policy(options: _Options) -> Policy:
    """How the fragments of one name meet, each a map with that name."""
    if options.call is not None:
        return _naming(options.call)
    policy = options.policy or _IN_ORDER.get(options.word, PRIORITY)
    return Policy(policy.name, Line(MAP, MAP, Meet(policy), "fragments of one name meet"), Line(ANY, PRESENT, TAKE))


def _entry(options: _Options, name: str, several: _Numbered, policy: Policy) -> Folding:
    """The map of one name: its fragments merged in order, or by position with the better one on top."""
    if options.call is not None or options.word in _IN_ORDER:
        folding, order = Folding(start=Part({}, ())), list(several)  # the policy has a line for the first fragment, too
    else:
        folding, order = Folding(), sorted(several)
        if options.policy is None:
            _check_single(options, name, [one for one in several.values() if isinstance(one, Fragment)])
    for number in order:
        one = several[number]
        folding.lay(Part({name: one.value} if isinstance(one, Fragment) else one.value, number), policy)
    return folding


def _naming(call: Callable[[str, Any, Any], Any]) -> Policy:
    """The policy of a callable for the fragments of one name; the callable may change its arguments."""

    def combined(lower: Part, upper: Part) -> Part:
        (name,) = upper.value
        before, new = lower.at(name), upper.at(name)
        current = None if before.value is ABSENT else before.value
        return entries({name: made(call(name, current, _independent(new.value)), before, new)})

    return _by_function(call, combined)


def _by_function(call: Callable[..., Any], combined: Callable[[Part, Part], Part]) -> Policy:
    return Policy(getattr(call, "__name__", "combinator"), Line(ANY, PRESENT, combined, "combined by a function"))


def _check_single(options: _Options, name: str, several: Sequence[Fragment]) -> None:
    """Check that one fragment of a name is best. raises: BindingError, for two at the best position"""
    positions = [fragment.position for fragment in several]
    if len(several) > 1 and (options.word == "error" or positions.count(max(positions)) > 1):
        tied = [fragment.origin for fragment in several]
        raise BindingError(
            DUPLICATE_FRAGMENT, f"multibind {options.key} has {name!r} {len(several)} times", origins=tied,
            details=[f"at {origin}" for origin in tied if isinstance(origin, Origin)],
            hint="the option conflict_resolution or combinator says what to do",
        )  # fmt: skip

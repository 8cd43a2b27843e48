"""Fragments become one collection: each combinator is a policy of the core.

The fragments are numbered in their order, and the core keeps beside each element who said
it; so `explain` can name the place of every element. It produces no fragment itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.bindings.model.faults import BindingError, TypeMismatch
from nodeattrs.adapters.bindings.model.keys import spelled_key
from nodeattrs.adapters.bindings.model.producers import Desk, called
from nodeattrs.adapters.bindings.model.types import Classes
from nodeattrs.adapters.bindings.model.values import taken_in
from nodeattrs.adapters.bindings.resolution.declarations import Declaration
from nodeattrs.core.claim import Origin
from nodeattrs.core.meeting import meet
from nodeattrs.core.origins import sources
from nodeattrs.core.part import Part, concat, listed, made, unite
from nodeattrs.core.policy import ACROSS, ANY, INSIDE, LIST, MAP, SAID, TAKE, Line, Policy
from nodeattrs.core.tree import spell
from nodeattrs.errors import MergeConflict

__all__ = ["Collected", "Fragment", "collect", "option_faults"]

CONCAT = Policy("concat", Line(LIST, LIST, concat, "two lists are joined"), Line(ANY, SAID, TAKE, "the later one"))
PRIORITY = Policy("priority", Line(ANY, SAID, TAKE, "the better position wins"))


def _refused(lower: Part, upper: Part) -> Part:
    raise BindingError("type-mismatch", f"merge needs hashes, and got {lower.value!r} and {upper.value!r}")


def _entries(lower: Part, upper: Part) -> Part:
    parts = {key: lower.at(key) for key in lower.value} | {key: upper.at(key) for key in upper.value}
    return Part({key: part.value for key, part in parts.items()}, {key: part.origins for key, part in parts.items()})


# One level only: what stands below an entry is the better position's alone.
MERGE = Policy("merge", Line(MAP, MAP, _entries, "the entries of the better position win"), Line(ANY, SAID, _refused))
_HASH_POLICIES = {"merge": MERGE, "deep": ACROSS, "unite": INSIDE}
_ARRAY_WORDS = ("concat", "append", "flatten", "uniq")
_HASH_WORDS = ("priority", "error", "ignore", "append", "concat", "flatten", "uniq", "sum", *_HASH_POLICIES)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A fragment and what it produced."""

    declaration: Declaration
    value: Any


@dataclass(frozen=True, slots=True)
class Collected:
    """A collection, and who said what of it.

    told: the number of the fragment (from 1) of each element, as the core keeps it
    """

    value: Any
    told: Any
    fragments: tuple[Fragment, ...]

    def speakers(self, step: Any) -> list[Declaration]:
        """The fragments that said an element, or the entry of a name."""
        told = self.told
        if isinstance(told, dict):
            told = told.get(step, ())
        elif isinstance(told, list):
            told = told[step]
        return [self.fragments[number - 1].declaration for number in sources(told)]


class _Options:
    """The options of a multibind, checked."""

    def __init__(self, of: Declaration, desk: Desk) -> None:
        root = of.root
        self.key = spelled_key(root.key or ("", ""))
        self.origin = root.origin
        self.type = root.type
        self.is_hash = root.type.name == "Hash"
        given = root.options
        self.flatten = _flatten_levels(given.get("flatten"), self)
        self.uniq = bool(given.get("uniq", False))
        # The letter of the document refuses every second fragment of a name.
        usual = "priority" if desk.state.mode == "tuple" else "error"
        self.word = usual if self.is_hash else "concat"
        self.call: Callable[..., Any] | None = None
        self.policy: Policy | None = None
        if "conflict_resolution" in given:
            if not self.is_hash:
                raise self.bad("conflict_resolution is for hashes")
            self._take(str(given["conflict_resolution"]), ("priority", "error", "ignore", "append", "merge"))
        if "combinator" in given:
            self._combinator(given["combinator"], desk)
        if self.is_hash and (self.word == "append" or self.flatten is not None or self.uniq):
            element = self.type.element
            if element.name not in ("Data", "Any", "Array") and self.call is None:
                raise self.bad(f"append, flatten and uniq need values that may be lists, not {element}")

    def _combinator(self, given: Any, desk: Desk) -> None:
        words = _HASH_WORDS if self.is_hash else _ARRAY_WORDS
        if isinstance(given, Policy):
            self.word, self.policy = given.name, given
        elif given not in words and (call := called(given, desk)) is not None:
            self.call = call
        else:
            self._take(str(given), words)

    def _take(self, word: str, known: Sequence[str]) -> None:
        if word not in known:
            what = "hashes" if self.is_hash else "arrays"
            raise self.bad(f"{word!r} combines no {what}", hint=f"known are {', '.join(known)}, or pass a callable")
        self.word = word
        self.policy = _HASH_POLICIES.get(word)
        if word in ("flatten", "uniq"):
            self.word = "append" if self.is_hash else "concat"
            self.flatten = -1 if word == "flatten" else self.flatten
            self.uniq = self.uniq or word == "uniq"

    def bad(self, message: str, hint: str | None = None) -> BindingError:
        return BindingError(
            "bad-option", f"multibind {self.key}: {message}", origins=(self.origin,), said=(f"at {self.origin}",),
            hint=hint,
        )  # fmt: skip


def option_faults(of: Declaration, desk: Desk) -> list[BindingError]:
    """What is wrong with the options of a multibind; they are checked when it is injected, or when asked here."""
    try:
        _Options(of, desk)
    except BindingError as error:
        return [error]
    return []


def collect(of: Declaration, fragments: Sequence[Fragment], desk: Desk) -> Collected:
    """The collection that a multibind is, of what its fragments produced, in their order.

    cost:   linear in the elements
    raises: BindingError: "bad-option", "unnamed-fragment", "duplicate-fragment", "type-mismatch"
    source: docs/bindings.md, "Multibinds"
    """
    options = _Options(of, desk)
    # A combinator may change what it is given, and whoever injects may change the result.
    fragments = [Fragment(fragment.declaration, independent(fragment.value)) for fragment in fragments]
    check = not (options.call or options.policy or options.flatten is not None or options.word == "append")
    for fragment in fragments:
        if check:
            _check_type(options, fragment, desk.register)
    try:
        part = _hash(options, fragments) if options.is_hash else _array(options, fragments)
    except MergeConflict as conflict:
        raise BindingError(
            "duplicate-fragment", f"multibind {options.key}: {conflict.message} at {spell(conflict.path or ())}",
            origins=[fragment.declaration.origin for fragment in fragments], hint=conflict.hint,
        ) from None  # fmt: skip
    if not options.type.holds(part.value, desk.register):
        raise TypeMismatch("type-mismatch", f"multibind {options.key}: {part.value!r} is no {options.type}")
    return Collected(part.value, part.origins, tuple(fragments))


def independent(value: Any) -> Any:
    """A copy of the lists and maps of a value; what is neither is taken as it is."""
    return taken_in(value) if isinstance(value, (list, dict)) else value


def _check_type(options: _Options, fragment: Fragment, classes: Classes) -> None:
    element = options.type.element
    fits = element.holds(fragment.value, classes)
    if not fits and not options.is_hash:
        fits = options.type.holds(fragment.value, classes)
    if not fits:
        origin = fragment.declaration.origin
        raise TypeMismatch(
            "type-mismatch", f"multibind {options.key}: {fragment.value!r} is no {element}", origins=(origin,),
            said=(f"the fragment is at {origin}",),
        )  # fmt: skip


# --- arrays ---------------------------------------------------------------------------------


def _array(options: _Options, fragments: Sequence[Fragment]) -> Part:
    single = options.flatten is not None or options.word == "append"
    policy = options.policy or CONCAT
    if options.call is not None:
        policy = _called(options.call)
    result = Part([], ())
    for number, fragment in enumerate(fragments, 1):
        value = fragment.value
        if options.call is None and (single or not isinstance(value, list)):
            value = [value]
        result = meet(policy, result, Part(value, number))
    return _after(result, options)


def _called(call: Callable[..., Any]) -> Policy:
    def combined(lower: Part, upper: Part) -> Part:
        return made(call(lower.value, upper.value), lower, upper)

    return Policy(getattr(call, "__name__", "combinator"), Line(ANY, SAID, combined, "combined by a function"))


def _after(part: Part, options: _Options) -> Part:
    if options.flatten and isinstance(part.value, list):
        part = listed(_flattened(part, options.flatten), part)
    if options.uniq and isinstance(part.value, list):
        part = unite(Part([], []), part if part.value else Part([], []))
    return part


def _flattened(part: Part, levels: int) -> list[Part]:
    flat: list[Part] = []
    for element in part.elements():
        if levels and isinstance(element.value, list):
            flat += _flattened(element, levels - 1)
        else:
            flat.append(element)
    return flat


def _flatten_levels(given: Any, options: _Options) -> int | None:
    if given is None or given is False:
        return None
    if given is True:
        return -1
    if not isinstance(given, int) or given < -1:
        raise options.bad(f"flatten is {given!r}", hint="true or -1 takes off all levels, a number so many")
    return given


# --- hashes ---------------------------------------------------------------------------------


def _hash(options: _Options, fragments: Sequence[Fragment]) -> Part:
    named: dict[str, list[tuple[int, Fragment]]] = {}
    for number, fragment in enumerate(fragments, 1):
        name = fragment.declaration.name
        if not name:
            origin = fragment.declaration.origin
            raise BindingError(
                "unnamed-fragment", f"multibind {options.key} is a hash, and a fragment has no name",
                origins=(origin,), said=(f"the fragment is at {origin}",), hint="write: bind 'name' to ... in 'id'",
            )  # fmt: skip
        named.setdefault(name, []).append((number, fragment))
    entries = {name: _after(_entry(options, name, several), options) for name, several in named.items()}
    return Part(
        {name: part.value for name, part in entries.items()}, {name: part.origins for name, part in entries.items()}
    )


def _entry(options: _Options, name: str, several: list[tuple[int, Fragment]]) -> Part:
    parts = [Part(fragment.value, number) for number, fragment in several]
    if options.call is not None:
        result = Part(None, ())
        for part in parts:
            result = made(options.call(name, result.value, part.value), result, part)
        return result
    match options.word:
        case "ignore":
            return parts[0]
        case "append":
            return listed(parts)
        case "concat":
            return _folded(CONCAT, [part if isinstance(part.value, list) else listed([part]) for part in parts])
        case "sum":
            return _folded(_called(lambda current, new: current + new), parts)
    positions = [fragment.declaration.position for _, fragment in several]
    best = max(positions)
    if len(parts) > 1 and options.policy is None and (options.word == "error" or positions.count(best) > 1):
        tied = [fragment.declaration.origin for _, fragment in several]
        raise BindingError(
            "duplicate-fragment", f"multibind {options.key} has {name!r} {len(several)} times", origins=tied,
            said=[f"at {origin}" for origin in tied if isinstance(origin, Origin)],
            hint="the option conflict_resolution or combinator says what to do",
        )  # fmt: skip
    # Weakest first; of equal positions the one declared first is the stronger.
    order = sorted(range(len(parts)), key=lambda index: (positions[index], -index))
    return _folded(options.policy or PRIORITY, [parts[index] for index in order])


def _folded(policy: Policy, parts: Sequence[Part]) -> Part:
    result, *rest = parts
    for part in rest:
        result = meet(policy, result, part)
    return result

"""A folding: parts merged one after another, each under its policy, with the steps remembered.

Every system that merges does it through a `Folding`, and every explanation reads its steps again (`core.tracing`).
A *part* is a value with its origins, which are small numbers. If a policy refuses a part, the result stays as it was.
The module knows neither layers nor dialects: its callers bring parts and policies.

`meet` has the one loop in which two parts are merged. It works on bare values and bare origins; parts exist only where
a handler is called. A merged map is a shallow copy of the lower map with the changed entries. It shares all other
entries with that map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from nodeattrs.core.origins import Origins, SourcePath, gathered, origins_at, origins_by_key
from nodeattrs.core.part import IN_PLACE, Handler, OwnContainers, Part, regrouped, unite
from nodeattrs.core.policy import DROP, KEEP, TAKE, Line, Meet, Policy, Rule, Verdict
from nodeattrs.core.tree import ABSENT, Absent, Path
from nodeattrs.core.unknown import Unknown
from nodeattrs.errors import MergeConflict

# --- two parts meet


class Decision(NamedTuple):
    """A place where two parts meet in a merge, and the rule that decides there. Keys of the upper part alone are
    places, too.

    If both values are maps that are merged key by key, there are decisions for their entries, and none for the maps.
    path:         the steps from the root of the two parts
    policy:       the policy that decided
    verdict:      what the policy says for these two types: KEEP, TAKE, DROP, or a handler function
    lower, upper: the two values with their origins; the value of *lower* may be ABSENT
    rule:         (policy, line): the line of the policy that decided
    """

    path: Path
    policy: Policy
    verdict: Verdict
    lower: Part
    upper: Part

    @property
    def rule(self) -> tuple[Policy, Line]:
        """The table, and its line that decided."""
        return self.policy, self.policy.line(type(self.lower.value), type(self.upper.value))


def meet(policy: Policy, lower: Part, upper: Part) -> Part:
    """Merge two parts under a policy, and return the result. Neither part is changed; the result shares data with both.

    An ABSENT upper part gives the lower one. An ABSENT lower part is decided by the policy, too. The result is ABSENT
    where the policy drops the value.
    cost:   one visit for each key of the upper maps, and a copy of each lower map that meets one
    raises: MergeConflict with the path from here, where a handler refuses
    """
    if upper.value is ABSENT:
        return lower
    below, above = type(lower.value), type(upper.value)
    notes = _notes.get()
    if notes is not None:
        notes += decisions(policy, lower, upper)
    return _apply_verdict(policy.cells.get((below, above)) or policy.verdict(below, above), lower, upper)


def _apply_verdict(verdict: Verdict, lower: Part, upper: Part) -> Part:
    if verdict is TAKE:
        return upper
    if verdict is KEEP:
        return lower
    if verdict is DROP:
        return Part(ABSENT, ())
    if type(verdict) is Meet:
        return Part(*_met(verdict.policy, lower.value, lower.origins, upper.value, upper.origins))
    return verdict.join(lower, upper)


_NONE: frozenset[type] = frozenset()
_NO_CELLS: dict[tuple[type, type], Verdict] = {}


def _met(policy: Policy, lower: dict[Any, Any], lo: Origins, upper: dict[Any, Any], up: Origins) -> tuple[Any, Origins]:
    if not upper:
        return lower.copy(), lo  # a met map is never one that was put in: who asks by identity can rely on it
    by_key = policy.by_key
    always, cells = (policy.always, policy.cells) if by_key is None else (_NONE, _NO_CELLS)
    created = IN_PLACE.get()
    is_ours = created is not None and len(lower) > len(upper) and created.owns(lower, lo, up)
    out, origins = (lower, lo) if is_ours else (lower.copy(), None if up is None else origins_by_key(lo, lower))
    up = up if origins is None or type(up) is int or type(up) is dict else origins_by_key(up, upper)
    apart = type(up) is dict
    try:
        for key, above in upper.items():
            who = up[key] if apart else up
            if type(above) not in always:
                below = lower.get(key, ABSENT)
                kinds = type(below), type(above)
                verdict = cells.get(kinds) or (policy if by_key is None else policy.at(key)).verdict(*kinds)
                if verdict is KEEP:
                    continue
                if verdict is not TAKE:
                    below_who = None if origins is None else origins.get(key, ())
                    if type(verdict) is Meet:  # called from here, since a level may take one frame only
                        above, who = _met(verdict.policy, below, below_who, above, who)
                    else:
                        above, who = _handled(verdict, below, below_who, above, who)
                    if above is ABSENT:
                        _drop(key, out, origins)
                        continue
            out[key] = above
            if origins is not None:
                origins[key] = who
    except MergeConflict as conflict:
        conflict.path = (key, *(conflict.path or ()))
        raise
    if origins is not None and not out:
        return out, gathered(lo, up)  # nothing is left to carry what was set
    return (out, origins) if created is None else created.register(out, origins)


def _handled(
    verdict: Literal[Rule.DROP] | Handler, below: Any, below_who: Origins, above: Any, above_who: Origins
) -> tuple[Any, Origins]:
    if verdict is DROP:
        return ABSENT, ()
    part = verdict.join(Part(below, below_who), Part(above, above_who))
    return part.value, part.origins


def _drop(key: Any, out: dict[Any, Any], origins: Origins) -> None:
    out.pop(key, None)
    if origins is not None:
        origins.pop(key, None)


def decisions(policy: Policy, lower: Part, upper: Part, path: Path = ()) -> Iterator[Decision]:
    """Yield a `Decision` for each place where two parts meet, in the order of the upper part's keys. Nothing is merged.

    Keys that only the upper part has are included, and keys that only the lower part has are not. No handler is called.
    Two empty maps give nothing.
    path: put in front of each decision's path
    cost: one visit for each key of the upper part's maps that meet maps
    """
    verdict = policy.verdict(type(lower.value), type(upper.value))
    if type(verdict) is not Meet:
        yield Decision(path, policy, verdict, lower, upper)
        return
    for key in upper.value:
        yield from decisions(verdict.policy.at(key), lower.at(key), upper.at(key), (*path, key))


def record_decision(policy: Policy, lower: Part, upper: Part) -> None:
    """Record that *upper* replaced *lower*, for a handler that merges entry by entry without `meet`.

    Does nothing outside of `recorded_decisions`.
    """
    notes = _notes.get()
    if notes is not None:
        notes.append(Decision((), policy, TAKE, lower, upper))


_notes: ContextVar[list[Decision] | None] = ContextVar("notes", default=None)


@contextmanager
def recorded_decisions() -> Iterator[list[Decision]]:
    """A context manager that gives a new list, to which each merge within the block appends its decisions.

    Merges that handlers begin are included. Within an inner block only the inner list is filled.
    """
    notes: list[Decision] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


# --- many parts laid below a result

_Value = tuple[Any, Origins]
"""A value and its origins; the value may be one of the next two, which have their own."""
_GONE: _Value = ABSENT, ()


class _ReversedMap(dict[Any, _Value]):
    """The entries of a map, the last one first. fresh: the keys whose entries were not merged over ABSENT yet"""

    fresh: dict[Any, None]


class _Lists(list[Part]):
    """Lists that will be joined, the uppermost first. by: the handler that joins them, which regroups"""

    by: Handler


_KINDS: dict[type, type] = {_ReversedMap: dict, _Lists: list}


class _LowerAccumulator:
    """Merges many parts below a result. Afterwards the caller must not use the given result.

    A merged map has the keys of the lower side first, so each part goes in front of the result. Here merged maps are
    kept in reverse order, and lists as a row; `result` reverses and joins them. So each part costs what it holds, and
    not what lies above it.
    """

    def __init__(self, result: Part) -> None:
        self._value: _Value = result.value, result.origins

    def lay(self, policy: Policy, part: Part) -> None:
        """Merge one more part below the result. raises: MergeConflict; then some entries are merged, and some not"""
        lower = part.value, part.origins
        self._value = lower if self._value[0] is ABSENT else _met_above(policy, lower, self._value)

    def meet(self, policy: Policy, part: Part) -> None:
        """Merge a map below the result, which is a map: their entries meet under the policy. raises: as `lay`"""
        self._value = _maps_above(policy, part.value, part.origins, self._value)

    def result(self) -> Part:
        """The result of all parts so far. cost: grows with the size of all parts"""
        return Part(*_settled(self._value))


def _met_above(policy: Policy, lower: _Value, upper: _Value) -> _Value:
    below, above = lower[0], upper[0]
    verdict = policy.verdict(type(below), _KINDS.get(type(above), type(above)))
    if verdict is TAKE or verdict is KEEP:
        return upper if verdict is TAKE else lower
    if verdict is DROP:
        return _GONE
    if type(verdict) is Meet:
        return _maps_above(verdict.policy, below, lower[1], upper)
    if verdict.regroups and type(below) is list and type(above) in (list, _Lists):
        return _longer(verdict, lower, upper), None
    made = verdict.join(Part(*lower), Part(*_settled(upper)))
    return made.value, made.origins


def _longer(by: Handler, lower: _Value, upper: _Value) -> _Lists:
    row = upper[0]
    if type(row) is not _Lists or row.by is not by:
        row = _Lists([Part(*_settled(upper))])
        row.by = by
    row.append(Part(*lower))
    return row


def _maps_above(policy: Policy, lower: dict[Any, Any], lo: Origins, upper: _Value) -> _Value:
    if not upper[0]:
        return lower.copy(), lo
    turned = upper[0] if type(upper[0]) is _ReversedMap else _turned(*upper)
    fresh, turned.fresh = turned.fresh, dict.fromkeys(reversed(lower))
    # Nothing may be left of so few.
    order = [*reversed(turned)] if len(turned) <= len(lower) + len(fresh) else []
    dropped: dict[Any, _Value] = {}
    for key in fresh:
        if key not in lower and key in turned:
            _meets_nothing(policy.at(key), key, turned, dropped)
    for key in reversed(lower):
        value: _Value = lower[key], origins_at(lo, key)
        if key in turned:
            above = turned.pop(key)
            value = _met_above(policy.at(key), value, above)
            if value[0] is ABSENT:
                dropped[key] = above
                continue
        turned[key] = value
    if turned:
        return turned, None
    return {}, gathered(lo, {key: _settled(dropped[key])[1] for key in order})


def _meets_nothing(policy: Policy, key: Any, turned: _ReversedMap, dropped: dict[Any, _Value]) -> None:
    """Merge an entry over ABSENT, since the part below has no such key."""
    above = turned[key]
    kind = _KINDS.get(type(above[0]), type(above[0]))
    verdict = policy.verdict(Absent, kind)
    if verdict is TAKE:
        return
    value = _GONE if verdict is KEEP else _met_above(policy, _GONE, above)
    if value[0] is ABSENT:
        dropped[key] = turned.pop(key)
    else:
        turned[key] = value
        if not (isinstance(verdict, Handler) and verdict.settles):
            turned.fresh[key] = None


def _turned(value: dict[Any, Any], origins: Origins) -> _ReversedMap:
    who = origins_by_key(origins, value) or {}
    turned = _ReversedMap((key, (value[key], who.get(key))) for key in reversed(value))
    turned.fresh = dict.fromkeys(turned)
    return turned


def _settled(given: _Value) -> _Value:
    value = given[0]
    if type(value) is _ReversedMap:
        entries = [(key, *_settled(value[key])) for key in reversed(value)]
        return {key: one for key, one, _ in entries}, {key: who for key, _, who in entries}
    if type(value) is _Lists:
        joined = regrouped(value.by, value[::-1])
        return joined.value, joined.origins
    return given


# --- parts merged one by one

MANY_STEPS = 16
"""From this number of steps on, a folding from the top collects the further parts in a `_LowerAccumulator`."""

NOTHING = Part(ABSENT, ())
"""A part without a value and without a source."""


@contextmanager
def _in_place(created: OwnContainers) -> Iterator[None]:
    """A context manager: merges within the block extend the lists and maps of *created* in place."""
    token = IN_PLACE.set(created)
    try:
        yield
    finally:
        IN_PLACE.reset(token)


Change = Callable[[Part, Part], Part]
"""(result so far, part that the change sets) -> new result.

It keeps the origins of values that it leaves or moves. A trace calls it again: with other origins, or without some of
the set values, but never without all of them. Its attribute `policy`, if there is one, has the words for the trace."""


class Step(NamedTuple):
    """One step of a folding.

    part:   the part that was merged, or a finished folding; NOTHING where the result was merged over nothing
    policy: the table that decides; None for a change
    change: the function of a step without a policy; None for all others
    """

    part: Part | Folding
    policy: Policy | None
    change: Change | None = None


class Folding:
    """Parts that are merged one after another; the steps are recorded. Call `lay` for each part, then read `result`.

    `lay` merges a part, or the result of another folding, and returns None. It ignores an ABSENT part; an unknown part
    becomes a step, and changes nothing else. It raises MergeConflict if the policy refuses the part. `change` calls
    functions, whose results replace the result. `finish` merges the result over nothing as a last step. Both return the
    new result. Earlier results are not kept: `results` computes them again, and yields `start` and the result of each
    step. `located` computes the last result again, with origins that also say where the value is in the tree of its
    source (`SourcePath`).
    from_top: False: each part is merged over the result so far; True: the result so far is merged over each part
    opening:  a policy for the first part, which is then merged over nothing; None: the first part is taken unchanged
    start:    a part without a source that is there before the first one; None: the folding starts empty
    growing:  True: joined lists are extended in place. That changes earlier results, so the caller must not keep them
    result:   all parts so far, merged; its value is ABSENT if there are none. With *from_top* and many parts, the merge
              is done when `result` is read
    laid:     the number of parts, and of calls of `change`, so far; `start` counts as one, an ABSENT or unknown part
              does not
    steps:    a `Step` for each part or change, in order. For a folding that is only walked (`core.tracing`), the caller
              appends them itself, and `result` has no meaning

    >>> from nodeattrs.core.policy import INSIDE
    >>> folding = Folding()
    >>> _ = folding.lay(Part({"a": [1]}, 1), INSIDE), folding.lay(Part({"a": [2]}, 2), INSIDE)
    >>> folding.result
    Part({'a': [1, 2]}, {'a': [1, 2]})
    """

    __slots__ = ("_created", "_result", "_under", "from_top", "laid", "opening", "start", "steps")

    def __init__(
        self,
        *,
        from_top: bool = False,
        opening: Policy | None = None,
        start: Part | None = None,
        growing: bool = False,
    ) -> None:
        self.from_top = from_top
        self.opening = opening
        self.start = start
        self._result = NOTHING if start is None else start
        self.steps: list[Step] = []
        self.laid = int(start is not None)
        self._created = OwnContainers() if growing else None
        self._under: _LowerAccumulator | None = None  # has the result, while many parts are laid below it

    @property
    def result(self) -> Part:
        """All parts so far, merged; ABSENT where there are none."""
        if self._under is not None:
            self._result, self._under = self._under.result(), None
        return self._result

    @result.setter
    def result(self, result: Part) -> None:
        self._result, self._under = result, None

    def lay(self, part: Part | Folding, policy: Policy) -> None:
        """Merge one more part, or the result of a finished folding, into the result.

        A part that is ABSENT is ignored. An unknown part (`Unknown`) and an empty folding become a step, and change
        nothing else.
        raises: MergeConflict with the path; the folding is as before then
        """
        new = part.result if isinstance(part, Folding) else part
        if new.value is ABSENT and new is part:
            return
        if new.value is not ABSENT and type(new.value) is not Unknown:
            if self.from_top and self.laid and len(self.steps) >= MANY_STEPS and _notes.get() is None:
                self._lay_under(new, policy)
            elif self._created is None:
                self.result = self._met(new, policy)
            else:
                self._lay_growing(self._created, new, policy)
            self.laid += 1
        self.steps.append(Step(part, policy))

    def _lay_growing(self, created: OwnContainers, part: Part, policy: Policy) -> None:
        try:
            with _in_place(created):
                self.result = self._met(part, policy)
        except Exception:
            # Some entries were merged in place: the steps so far are merged again, into new lists and maps.
            again = self._repeated(lambda part: part)
            self.result, self._created = again.result, again._created
            raise

    def _lay_under(self, part: Part, policy: Policy) -> None:
        if self._under is None:
            self._under = _LowerAccumulator(self._result)
        try:
            self._under.lay(policy, part)
        except MergeConflict:
            # Some entries were merged: the steps so far are merged again, and then this one raises its error.
            self.result = self._repeated(lambda part: part).result
            self.result = self._met(part, policy)

    def change(self, *changes: Change, of: Part = NOTHING) -> Part:
        """Replace the result by what each of *changes* returns, one after another, and return the last one.

        Each change is a step without a policy: a function (result so far, *of*) -> new result, such as a JSON patch.
        of:     the values that the changes set, with their source; a change may use their origins
        raises: the error of a change; the folding is as before then

        >>> from nodeattrs.core.part import entries
        >>> folding = Folding(start=Part({"a": 1}, 1))
        >>> folding.change(lambda before, new: entries({"a": before.at("a"), "b": new}), of=Part(2, 2))
        Part({'a': 1, 'b': 2}, {'a': 1, 'b': 2})
        """
        result = self.result
        if self._created is not None:
            self._created.release()
        for change in changes:
            result = change(result, of)
        self.result, self.laid = result, self.laid + 1
        self.steps += [Step(of, None, change) for change in changes]
        return result

    def finish(self, policy: Policy) -> Part:
        """Put the result through *policy* once more, over an absent value, and record that as the last step.

        Returns the new result. The policy decides what becomes of a value without a counterpart; its handler may change
        the value, such as sort a list. An empty folding stays empty: no step is recorded, and the result is ABSENT.
        """
        if self.laid:
            self.result = meet(policy, NOTHING, self.result)
            self.steps.append(Step(NOTHING, policy))
        return self.result

    def _met(self, part: Part, policy: Policy) -> Part:
        if not self.laid:
            return part if self.opening is None else meet(self.opening, NOTHING, part)
        return meet(policy, part, self.result) if self.from_top else meet(policy, self.result, part)

    def results(self) -> Iterator[Part]:
        """Yield `start`, then the result after each step, computed again. ABSENT comes first without `start`.

        A result is valid until the next one is read: then its maps change.
        cost: merging all parts again, and a copy of each list that is joined
        """
        again = Folding(from_top=self.from_top, opening=self.opening, start=self.start)
        again._created = OwnContainers(lists=False)
        yield again.result
        for step in self.steps:
            again._repeat(step, step.part)
            yield again.result

    def located(self) -> Part:
        """The result computed again, with origins that also have the path in the source's own tree (`SourcePath`).

        cost: the cost of merging the parts
        """
        return self._repeated(lambda part: part.located() if isinstance(part, Folding) else _located(part)).result

    def _repeated(self, part_of: Callable[[Any], Part | Folding]) -> Folding:
        """A new folding with the same steps. part_of: a function from the part of a step to the new part"""
        growing = self._created is not None
        again = Folding(from_top=self.from_top, opening=self.opening, start=self.start, growing=growing)
        for step in self.steps:
            again._repeat(step, part_of(step.part))
        return again

    def _repeat(self, step: Step, part: Part | Folding) -> None:
        if step.policy is not None:
            self.finish(step.policy) if step.part is NOTHING else self.lay(part, step.policy)
        elif step.change is not None:
            self.change(step.change, of=part.result if isinstance(part, Folding) else part)

    def __repr__(self) -> str:
        return f"<Folding of {len(self.steps)}: {self.result.value!r}>"


def _located(part: Part) -> Part:
    return Part(part.value, SourcePath(part.origins, ())) if type(part.origins) is int else part


def merged_places(
    policy: Policy,
    lower: Any,
    upper: Part,
    origins_of: Callable[[Path], Origins],
    unite_lists: Callable[[Part, Part], Part] = unite,
) -> Iterator[tuple[Decision, Part | None]]:
    """Yield (decision, new part) for each place where *upper* meets the tree *lower*, which is not changed.

    The new part is None where the tree stays as it is, and ABSENT where the policy drops the value. For callers that
    keep the result in another form.
    lower:       the tree: plain data
    origins_of:  path -> the origins of the tree there; called where a handler makes one value of two
    unite_lists: replaces `unite` where the policy unites two lists
    cost:        one visit for each key of the part's maps that meet maps
    """
    for place in decisions(policy, Part(lower, ()), upper):
        below = place.lower
        if not isinstance(place.verdict, Rule):
            below = Part(below.value, origins_of(place.path))
        if place.verdict is unite:
            after = unite_lists(below, place.upper)
        else:
            after = _apply_verdict(place.verdict, below, place.upper)
        yield place, None if after is below else after


def replay_step(verdict: Verdict, lower: Part, upper: Part) -> tuple[Part, list[Decision]]:
    """Apply a verdict to two parts again, for a trace: returns the result, and the decisions of the merges inside."""
    with recorded_decisions() as notes:
        return _apply_verdict(verdict, lower, upper), notes


def replay_steps(so_far: Part, row: list[tuple[Part, Policy, bool]]) -> Part:
    """Merge maps with *so_far* again, in order, and return the result: for a trace. No part that is given changes.

    row:  (part, policy of the entries, True if the part is the lower side) for each map; an ABSENT part is skipped
    cost: the cost of merging the parts; results in between are not kept
    """
    created, under = OwnContainers(), None
    for part, policy, from_top in row:
        if so_far.value is ABSENT or part.value is ABSENT:
            so_far = part if so_far.value is ABSENT else so_far
        elif from_top and len(row) >= MANY_STEPS:
            under = under or _LowerAccumulator(so_far)
            under.meet(policy, part)
        else:
            so_far, under = under.result() if under else so_far, None
            with recorded_decisions(), _in_place(created):
                so_far = _apply_verdict(Meet(policy), *((part, so_far) if from_top else (so_far, part)))
    return under.result() if under else so_far

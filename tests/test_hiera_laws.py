"""What a trace says of a merge is so: edit, or remove, what it names, merge again, and look.

Values are drawn from a tiny alphabet, two to six sources over three layers, under every
strategy with every option. The judge knows values and paths only, and nothing of the trace's
reasons. By hand: `python -m tests.test_hiera_laws --count 20000 --seed 7`.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from nodeattrs.core.claim import Claim, Origin
from nodeattrs.core.folding import Folding, recorded_decisions
from nodeattrs.core.origins import wholes
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Outcome, Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, dig, strict_key
from nodeattrs.core.walk import SetValue
from nodeattrs.dialects.hiera.strategies import KNOCKED_OUT, Strategy, strategy_of
from nodeattrs.hiera import CannotMerge
from tests.edits import leaves

OPTIONS: dict[str, list[Any]] = {
    "knockout_prefix": [None, "--", "--"],
    "knockout_through": [None, True],
    "knockout_hash_keys": [None, True],
    "merge_hash_arrays": [None, True],
    "merge_hash_arrays_by": [None, None, "a"],
    "sort_merged_arrays": [None, None, True],
}
"""What is drawn for each option of `deep`."""

Shape = list[list[list[int]]]
"""Layers of entries of places, each place by the number of its source."""

Place = tuple[int, Path]
"""Where a source has something in its own tree."""


@dataclass(frozen=True)
class Drawn:
    """A merge to judge: a strategy, the shape, and what each source has; ABSENT for nothing."""

    merge: dict[str, Any]
    documented: bool
    shape: Shape
    values: dict[int, Any]

    @property
    def how(self) -> Strategy:
        return strategy_of(self.merge, documented=self.documented)


def drawn(chance: random.Random) -> Drawn:
    name = chance.choice(["first", "unique", "hash", "deep", "deep", "deep", "reverse_deep"])
    options = {word: chance.choice(some) for word, some in OPTIONS.items()} if "deep" in name else {}
    numbers = iter(range(chance.randint(2, 6), 0, -1))
    shape: Shape = [[[]], [[]], [[]]]
    for number in numbers:
        layer = chance.choice(shape)
        if layer[-1] and chance.random() < 0.5:
            layer.append([])
        layer[-1].append(number)
    for layer in shape:
        if chance.random() < 0.3:
            layer.append([])  # an entry whose file is not there
    sources = sorted(number for layer in shape for entry in layer for number in entry)
    values = {number: ABSENT if chance.random() < 0.15 else value_of(chance, 3) for number in sources}
    merge = {"strategy": name, **{word: value for word, value in options.items() if value is not None}}
    return Drawn(merge, chance.random() < 0.2, shape, values)


def value_of(chance: random.Random, depth: int) -> Any:
    kind = chance.choice(["map", "map", "list", "scalar"]) if depth else "scalar"
    if kind == "map":
        return {chance.choice(["a", "b", "--a"]): value_of(chance, depth - 1) for _ in range(chance.randint(0, 3))}
    if kind == "list":
        return [value_of(chance, depth - 2 if depth > 1 else 0) for _ in range(chance.randint(0, 3))]
    return chance.choice(["x", "y", "--x", "--", 1, 2, None, False, True])


def folded(case: Drawn, values: dict[int, Any]) -> Folding:
    """The three foldings inside each other, as a lookup lays them. raises: CannotMerge"""
    how = case.how

    def ask(number: int) -> Part:
        return Part(values[number], number)

    def entry(places: list[int]) -> Folding:
        return how.fold_level(places, ask)

    def layer(entries: list[list[int]]) -> Folding:
        return how.fold_level(entries, entry)

    return how.finished(how.fold_level(case.shape, layer))


class Judge:
    """One merge, its traces, and what it becomes after an edit."""

    def __init__(self, case: Drawn) -> None:
        self.case = case
        self.places: list[Place] = []
        with recorded_decisions() as notes:
            self.folding = folded(case, case.values)
            self.folding.located()
        self.value = self.folding.result.value
        knocks = [part for note in notes if note.policy is KNOCKED_OUT for part in (note.lower, note.upper)]
        self.knocked = {(at.source, at.path) for part in knocks for at in wholes(part.origins, ())}

    def decides(self, place: Place) -> bool:
        """Whether it is a marker, or inside of what one has removed: an edit of it may show.

        What stands under a key that is a marker goes with it, and the field by which maps meet decides which do.
        """
        number, path = place
        if path[-1:] == (self.case.merge.get("merge_hash_arrays_by"),) and int in map(type, path):
            return True
        if self.case.merge.get("knockout_hash_keys") and "--a" in path:
            return True
        return any((number, path[:at]) in self.knocked for at in range(len(path) + 1))

    def trace(self, path: Path, folding: Folding | None = None) -> Trace:
        folding = folding or self.folding

        def claim(setting: SetValue) -> Claim:
            # The origin carries the source's own path: to people that is a line.
            self.places.append((setting.source, setting.own))
            return Claim(setting.path, setting.value, setting.source, Origin("place", line=len(self.places)))

        return traced(walk(folding, path), path, dig(folding.result.value, path), claim, {})

    def place(self, claim: Claim) -> Place:
        assert claim.origin.line is not None
        return self.places[claim.origin.line - 1]

    def again(self, place: Place, change: Callable[[Any, Any], None]) -> Folding | None:
        """The merge after a change to a copy; None where it is refused."""
        number, path = place
        values = copy.deepcopy(self.case.values)
        if path:
            change(dig(values[number], path[:-1]), path[-1])
        else:
            change(values, number)
        try:
            return folded(self.case, values)
        except CannotMerge:
            return None


def changed(new: Any) -> Callable[[Any, Any], None]:
    def change(container: Any, step: Any) -> None:
        container[step] = new

    return change


def removed(container: Any, step: Any) -> None:
    if isinstance(container, dict) and not isinstance(step, str):
        container[step] = ABSENT  # the whole value of a source
    else:
        del container[step]


def other(value: Any) -> Any:
    """An unused value of the same kind; ABSENT for null, the two truths and markers, which have no other of theirs."""
    if type(value) is str:
        return ABSENT if value.startswith("--") else "unused"
    return value + 70 if type(value) is int else ABSENT


def there(path: Path) -> Path:
    """Where an edit has to show: elements move, so for one of a list that is the list."""
    return next((path[:at] for at, step in enumerate(path) if type(step) is int), path)


def same(one: Any, another: Any) -> bool:
    return strict_key(one) == strict_key(another)


def paths_of(value: Any) -> Iterator[Path]:
    found = {path[:at]: None for path, _ in leaves(value) for at in range(len(path) + 1)}
    yield from found


# --- the laws


def winners_are_causes(judge: Judge, path: Path, trace: Trace) -> Iterator[str]:
    """Each standing one that is a scalar: its edit changes what is read there."""
    for stated in trace.claims:
        claim = stated.claim
        if (
            stated.outcome in (Outcome.LOSES, Outcome.HOLDS)
            or trace.cover is not None
            or type(claim.value) not in (str, int)
        ):
            continue
        if trace.value == {} and judge.decides(judge.place(claim)):
            continue
        after = judge.again(judge.place(claim), changed("unused" if type(claim.value) is str else claim.value + 70))
        if after is not None and same(dig(after.result.value, there(path)), dig(judge.value, there(path))):
            yield f"{stated.outcome.value} {judge.place(claim)}, and its edit changes nothing"


def overridden_are_none(judge: Judge, path: Path, trace: Trace) -> Iterator[str]:
    """Each overridden one: its edit, of the same kind, changes nothing there; markers and what they name aside."""
    for stated in trace.losers:
        place, new = judge.place(stated.claim), other(stated.claim.value)
        if new is ABSENT or judge.decides(place):
            continue
        after = judge.again(place, changed(new))
        if after is None or not same(dig(after.result.value, path), dig(judge.value, path)):
            yield f"{place} is overridden ({stated.why}), and its edit changes the value"


def the_next_one_is_next(judge: Judge, path: Path, trace: Trace) -> Iterator[str]:
    """Where a scalar is asked for: without the winner, the one called next is the winner."""
    if isinstance(trace.value, (dict, list)) or int in map(type, path) or len(trace.claims) < 2:
        return
    winner, follower = trace.claims[0].claim, trace.claims[1].claim
    if follower.path != path or set(trace.claims[1].by) != {winner.rank}:
        return  # cut off further up, by others: it comes back when they are gone
    source, own = judge.place(winner)
    if len(own) > {"first": 0, "hash": 1}.get(judge.case.how.name, len(own)):
        return  # they met further up, whole
    place = judge.place(follower)
    if judge.decides((source, own)) or judge.decides(place) or int in map(type, own):
        return
    after = judge.again((source, own), removed)
    if after is None:
        return  # what is left cannot be merged
    now = judge.trace(path, after)
    names = [judge.place(stated.claim)[0] for stated in now.claims if stated.outcome in (Outcome.WINS, Outcome.JOINS)]
    if place[0] not in names:
        yield f"without {(source, own)} it is not {place} that is read, but {names}"


def nobody_is_left_out(judge: Judge, path: Path, trace: Trace) -> Iterator[str]:
    """Whatever else a source has: its edit changes nothing at a path that ends. Places in lists move: left aside."""
    if isinstance(trace.value, dict) or int in map(type, path):
        return
    named = [judge.place(stated.claim) for stated in trace.claims]
    for number, tree in judge.case.values.items():
        for own, value in leaves(tree) if tree is not ABSENT else ():
            place, new = (number, own), other(value)
            if new is ABSENT or judge.decides(place) or any(_touch(place, one) for one in named):
                continue
            after = judge.again(place, changed(new))
            if after is None or not same(dig(after.result.value, path), trace.value):
                yield f"{place} is not named, and its edit changes the value"


def _touch(one: Place, another: Place) -> bool:
    length = min(len(one[1]), len(another[1]))
    return one[0] == another[0] and one[1][:length] == another[1][:length]


LAWS = (winners_are_causes, overridden_are_none, the_next_one_is_next, nobody_is_left_out)


def faults(case: Drawn) -> Iterator[str]:
    try:
        judge = Judge(case)
    except CannotMerge:
        return
    if judge.value is ABSENT:
        return
    for path in paths_of(judge.value):
        trace = judge.trace(path)
        if not trace.winner:
            yield f"{path}: nobody set it"
        for law in LAWS:
            yield from (f"{law.__name__} at {path}: {fault}" for fault in law(judge, path, trace))


def broken(count: int, seed: int) -> Iterator[tuple[Drawn, list[str]]]:
    for number in range(count):
        case = drawn(random.Random(f"{seed} {number}"))
        found = list(faults(case))
        if found:
            yield case, found


def test_a_trace_is_true_of_every_merge():
    """Winners are causes, overridden ones are none, and the next in line is next."""
    for case, found in broken(400, 1):
        pytest.fail(f"{case}: {found[0]}")


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    number = 0
    for case, found in broken(options.count, options.seed):
        number += 1
        print(case, *found, sep="\n    ")
    print(f"{options.count} merges, {number} with a fault")


if __name__ == "__main__":
    _main()

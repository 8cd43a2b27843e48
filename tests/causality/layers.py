"""Whether the winning layer is what makes the difference: python -m tests.causality.layers --count 2000 --seed 1

Random sites of bindings. For each key the layer of its winner is left out, and what is injected then must be
what the explanation of the whole site has as the next one. Where those that come next tie, demand, or
override nothing, the site without the layer must be wrong about that very key.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.bindings import BindingError, BindingErrors, Composition, Injector
from nodeattrs.core.claim import ValueText
from nodeattrs.core.trace import Trace, TraceClaim
from tests.causality.systems.bindings import FACTS, BindingSites

ABSENT = "nothing"
WRONG = "wrong"


def layer_of(trace: Trace, one: TraceClaim) -> str:
    """The layer that a row of a trace is of."""
    return trace.title(one.rank).partition(" ")[2].partition(",")[0]


def expected(injector: Injector, key: str) -> tuple[str, Any] | None:
    """The layer to leave out, and what is to be injected then; None for a key that is collected, or looked up."""
    explanation = injector.explain(key)
    trace = explanation.trace()
    declared = injector.resolution.winners["Data", key]
    if declared.is_multibind or declared.source is not None or declared.key is None or explanation.looked:
        return None
    if trace.winner is None:
        return None
    layer = declared.place.layer
    below = [one for one in trace.losers if layer_of(trace, one) != layer]
    if not below:
        return layer, ABSENT
    first = below[0]
    demands = isinstance(first.value, ValueText) and str(first.value).startswith("abstract")
    overrides_nothing = len(below) == 1 and "override" in trace.title(first.rank)
    if demands or overrides_nothing or explanation.ties.get(first.rank):
        return layer, WRONG
    return layer, first.value


def answered(folder: Path, layer: str, key: str) -> Any:
    """What is injected without a layer."""
    injector = Composition(folder, facts=FACTS, without=[layer]).injector(lenient=True)
    if any(error.key == ("Data", key) for error in injector.faults):
        return WRONG
    value = injector.get(key)
    return ABSENT if value is None else value


def failures(seed: int, count: int, tally: Counter[str]) -> Iterator[str]:
    """What is otherwise than explained, each in a line."""
    system = BindingSites()
    for number in range(count):
        made = system.make(random.Random(f"{seed} {number}"))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for name, text in made.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            try:
                injector = Composition(folder, facts=FACTS).injector()
            except BindingErrors:
                tally["sites that are wrong"] += 1
                continue
            tally["sites"] += 1
            for kind, key in sorted(injector.resolution.winners):
                if kind != "Data" or key.startswith("/"):
                    continue
                try:
                    wanted = expected(injector, key)
                except BindingError:
                    continue
                if wanted is None or isinstance(wanted[1], ValueText):
                    continue
                tally["keys"] += 1
                found = answered(folder, wanted[0], key)
                if found != wanted[1]:
                    yield f"seed {seed}, site {number}: {key} without {wanted[0]} is {found!r}; next is {wanted[1]!r}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.causality.layers")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    tally: Counter[str] = Counter()
    found = 0
    for line in failures(asked.seed, asked.count, tally):
        print(line)
        found += 1
    sites, wrong = tally["sites"], tally["sites that are wrong"]
    print(f"{sites} sites, {tally['keys']} keys; {wrong} sites wrong by themselves; {found} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""The figures of plain folds: 1 MB of YAML in ten files blamed, beside PyYAML reading it; the start of the command."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.core.fold import Folded, Layer
from nodeattrs.dialects.files.folds import folded
from nodeattrs.dialects.files.reports import BlameReport
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named
from nodeattrs.reports.screen import Screen
from tests.benchmarks.clock import once, seconds_each, seconds_of_python
from tests.benchmarks.figures import Figure

BYTES, LAYERS, SEED = 1_000_000, 10, 20


def fold_figures(rounds: int) -> Iterator[Figure]:
    """Reading, folding and blaming; the whole process."""
    texts = [_text(random.Random(f"{SEED} {number}")) for number in range(LAYERS)]
    size = f"{sum(map(len, texts)) / 1e6:.2f} MB in {LAYERS} files"
    for policy in ("across", "compose"):
        read, blame = seconds_each(
            once(lambda: [yaml.load(text, yaml.CSafeLoader) for text in texts]),
            once(lambda policy=policy: sum(1 for _ in BlameReport(laid(texts, policy)).lines(Screen()))),
            rounds=rounds,
        )
        yield Figure(f"blame under {policy}", blame / read, "times", 3, f"PyYAML's C loader, {size}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.yaml")
        file.write_text("a: 1\n")
        bare, ours = seconds_of_python(["-c", "pass"], ["-m", "nodeattrs", "fold", str(file)])
    yield Figure(
        "start over bare Python",
        (ours - bare) * 1_000,
        "ms",
        of="nodeattrs fold a.yaml; `tests.benchmarks starts` judges whole commands",
    )


def laid(texts: list[str], policy: str) -> Folded:
    """The texts read and folded."""
    reader = LayerReader()
    layers: list[Layer] = [one for text in texts for one in reader.layers(text.encode(), "a.yaml", "a")]
    return folded(layers, policy_named(policy))


def _text(chance: random.Random) -> str:
    tree: dict[str, Any] = {}
    while len(text := yaml.dump(tree, Dumper=yaml.CSafeDumper)) < BYTES / LAYERS:
        tree |= {f"section{len(tree) + number}": _tree(chance, 3) for number in range(20)}
    return text


def _tree(chance: random.Random, depth: int) -> Any:
    """Maps of maps as values files have them; under one key always the same kind, so that files meet."""
    if not depth:
        return chance.choice((chance.randrange(9_999), f"a text of {chance.randrange(99)} words", True, None))
    keys = chance.sample(range(12), chance.randint(3, 7))
    found = {f"key{key}": _tree(chance, depth - 1) for key in keys if key % 5}
    return found | {f"list{key}": [f"item {chance.randrange(50)}" for _ in range(3)] for key in keys if not key % 5}

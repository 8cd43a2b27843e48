"""A secret stays one in random trees: in texts, lists, maps, keys, aliases and merges, and in whatever is printed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.core.sensitive import encrypted_in, plain
from nodeattrs.dialects.hiera.reports import Explained
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera, Scope
from nodeattrs.reports import Screen
from tests.effort import examples
from tests.hiera_trees import written

MARKER = "MARKEROFTHESECRET"
SECRET = f"ENC[PKCS7,{MARKER}]"
TREES = examples(60)
LEVEL = "- {{name: {0}, path: {0}.yaml, {1}}}\n"
MERGES = ["first", "unique", "hash", "deep", {"strategy": "deep", "knockout_prefix": "--"}]


class Drawn:
    """Random data over a few keys; each value may name other keys."""

    def __init__(self, seed: int) -> None:
        self.rand = random.Random(seed)
        self.files = {name: {key: self.value(2) for key in "abcde"} for name in ("x", "y")}
        self.files["x"]["s"] = SECRET
        self.files["y"]["t"] = {"k": SECRET, "l": ["plain", f"{SECRET} and more"]}
        options = {key: {"merge": self.rand.choice(MERGES)} for key in "abcdest" if self.rand.random() < 0.5}
        self.files["x"]["lookup_options"] = options

    def text(self) -> str:
        key = self.rand.choice(["s", "t", "t.k", "t.l", *"abcde"])
        return self.rand.choice(
            ["plain", f"%{{lookup('{key}')}}", f"db://%{{lookup('{key}')}}@h", f"%{{alias('{key}')}}"]
        )

    def value(self, depth: int) -> Any:
        kind = self.rand.choice("tttlm") if depth else "t"
        if kind == "l":
            return [self.value(depth - 1) for _ in range(2)]
        return {self.text(): self.value(depth - 1), "k": self.value(depth - 1)} if kind == "m" else self.text()

    def scope(self, place: Path, function: str) -> Scope:
        levels = "".join(LEVEL.format(name, function) for name in self.files)
        data = {f"data/{name}.yaml": json.dumps(tree) for name, tree in self.files.items()}
        return Hiera(written(place, {"hiera.yaml": f"version: 5\nhierarchy:\n{levels}", **data}), root=place).scope()


def told(ask: Callable[[], Any]) -> tuple[Any, str]:
    """What a question gives, and all that is said of it; an error is text alone."""
    try:
        value = ask()
    except NodeattrsError as error:
        return None, error.coded()
    return value, json.dumps(plain(value)) + repr(value) + str(value)


@pytest.mark.parametrize("seed", range(TREES))
def test_a_secret_is_in_no_output_and_what_has_it_says_so(tmp_path: Path, seed: int):
    drawn = Drawn(seed)
    clear = drawn.scope(tmp_path / "clear", "data_hash: yaml_data")
    closed = drawn.scope(tmp_path / "closed", "lookup_key: eyaml_lookup_key")
    for key in (*"abcdest", "t.k", "t.l.1"):
        known, _ = told(lambda key=key: clear.lookup(key))
        value, said = told(lambda key=key: closed.lookup(key))
        explained = closed.explain(key)
        said += "\n".join(Explained({"n": explained}, with_causes=True).lines(Screen(200)))
        said += json.dumps(explained.to_dict()) + str(explained) + repr(explained.trace())

        assert MARKER not in said, key
        assert value is None or MARKER not in json.dumps(known) or encrypted_in(value), key


def test_most_of_the_random_trees_have_values_with_the_secret_in_them(tmp_path: Path):
    """Otherwise the test above would say nothing."""
    found = 0
    for seed in range(20):
        scope = Drawn(seed).scope(tmp_path / str(seed), "data_hash: yaml_data")
        for key in "abcde":
            found += MARKER in told(lambda key=key, scope=scope: scope.lookup(key))[1]

    assert found > 20


@pytest.mark.parametrize("key", ["%{alias('l')}", "%{alias('m')}", "%{alias('n')}", "%{alias('f')}"])
def test_a_key_that_is_filled_in_with_what_no_key_can_be_is_an_error_with_its_place(tmp_path: Path, key: str):
    data = json.dumps({"k": {key: 1}, "l": [1], "m": {"a": 1}, "n": None, "f": 1.5})
    scope = Hiera(written(tmp_path, {"data/common.yaml": data}), root=tmp_path).scope()

    with pytest.raises(NodeattrsError, match="of a map was filled in with") as error:
        scope.lookup("k")
    assert (error.value.kind, "needed by 'k' in data/common.yaml:1" in str(error.value)) == ("bad_data_value", True)

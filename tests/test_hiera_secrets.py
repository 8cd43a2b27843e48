"""A secret stays one in random trees: in texts, lists, maps, keys, aliases, merges and conversions, and in whatever
is printed, logged or saved.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.core.sensitive import Sensitive, encrypted_in, plain
from nodeattrs.dialects.hiera.reports import ExplainReport
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera, Scope
from nodeattrs.reports import Screen
from tests.effort import examples
from tests.hiera_trees import written

MARKER = "MARKEROFTHESECRET"
ENCRYPTED, SETTINGS, CONVERTED = "encrypted", "sensitive in the settings", "converted to Sensitive"
WAYS = (ENCRYPTED, SETTINGS, CONVERTED)
TREES = examples(60, fewest=12)
LEVEL = "- {{name: {0}, path: {0}.yaml, {1}}}\n"
MERGES = [
    "first",
    "unique",
    "hash",
    "deep",
    {"strategy": "deep", "knockout_prefix": "--"},
    {"strategy": "deep", "merge_hash_arrays": True, "sort_merged_arrays": True},
]
CONVERSIONS = ["String", ["Array", True], "Integer", "Array", "Hash", "Sensitive", ["String", "%p"]]
KEYS = "abcdest"
RECIPE = "".join(
    f"try:\n    node.default['h']['{key}'] = lookup('{key}')\nexcept Exception as error:\n    print(error)\n"
    for key in KEYS
)
COMMANDS = (
    "hiera list", "hiera list --format json", "hiera list --render-as yaml", "hiera explain a --because",
    "hiera explain t --merge hash --format json", "hiera lookup s t --merge deep --format json", "hiera lookup b",
    "hiera lookup s --type Integer", "hiera lookup t --merge hash", "hiera lookup b --merge unique", "hiera matrix t",
    "hiera who-has t.k", "hiera unused", "hiera ready-for-8", "hiera diff n n --facts facts", "check --format sarif",
    "why t --format json", "why c", "blame n", "where data/x.yaml", "where data/y.yaml:1",
    "run --node n --store nodes.db", "show n --store nodes.db", "explain n h.t --store nodes.db",
    "history n --store nodes.db", "store export --to out --store nodes.db",
)  # fmt: skip
"""What prints, logs or saves values. The last ones are about the node whose recipe looks each key up."""


class Drawn:
    """Random data in two files; each value may name the keys after its own, and those of the secret."""

    def __init__(self, seed: int, way: str) -> None:
        self.rand = rand = random.Random(seed)
        self.way = way
        secret = f"ENC[PKCS7,{MARKER}]" if way == ENCRYPTED else MARKER
        self.files = {name: {key: self.value(2, at) for at, key in enumerate("abcde", 1)} for name in ("x", "y")}
        self.files["x"]["s"] = secret
        self.files["y"]["t"] = {"k": secret, "l": ["plain", f"{secret} and more"]}
        if rand.random() < 0.5:
            self.files["y"]["s"] = rand.choice([f"{secret} 2", [secret], {"k": secret}])
        if rand.random() < 0.5:
            self.files["x"]["t"] = rand.choice([{"k": "p", "l": secret}, [secret], "plain"])
        options = {key: {"merge": rand.choice(MERGES)} for key in KEYS if rand.random() < 0.5}
        for key in KEYS:
            if key in "st" and way == CONVERTED:
                options.setdefault(key, {})["convert_to"] = "Sensitive"
            elif key not in "st" and rand.random() < 0.15:
                options.setdefault(key, {})["convert_to"] = rand.choice(CONVERSIONS)
        self.files["x"]["lookup_options"] = options

    def text(self, after: int) -> str:
        key = self.rand.choice(["s", "t", "t.k", "t.l", "t.l.1", *"abcde"[after:]])
        steps = ".x" if self.rand.random() < 0.03 else ""
        return self.rand.choice(
            ["plain", f"%{{lookup('{key}{steps}')}}", f"db://%{{lookup('{key}')}}@h", f"%{{alias('{key}{steps}')}}"]
        )

    def value(self, depth: int, after: int) -> Any:
        kind = self.rand.choice("tttlm") if depth else "t"
        if kind == "l":
            return [self.value(depth - 1, after) for _ in range(2)]
        if kind == "m":
            return {self.text(after): self.value(depth - 1, after), "k": self.value(depth - 1, after)}
        return self.text(after)

    def folder(self, place: Path, *, is_clear: bool = False) -> Path:
        """The tree on disk, with a node whose recipe looks each key up. is_clear: whether nothing is a secret"""
        function = "lookup_key: eyaml_lookup_key" if self.way == ENCRYPTED and not is_clear else "data_hash: yaml_data"
        settings = 'sensitive = ["s", "t"]\n' if self.way == SETTINGS and not is_clear else ""
        levels = "".join(LEVEL.format(name, function) for name in self.files)
        data = {f"data/{name}.yaml": json.dumps(tree) for name, tree in self.files.items()}
        node = {
            "cookbooks/c/recipes/default.py": RECIPE,
            "nodes/n.json": '{"name": "n", "run_list": ["c"]}',
            "facts/n.json": '{"os": {"family": "D"}, "platform": "ubuntu"}',
        }
        hiera = {"hiera.yaml": f"version: 5\nhierarchy:\n{levels}", "nodeattrs.toml": f'hiera = "."\n{settings}'}
        return written(place, {**hiera, **data, **node})

    def scope(self, place: Path, *, is_clear: bool = False) -> Scope:
        paths = [("s",), ("t",)] if self.way == SETTINGS and not is_clear else []
        return Hiera(self.folder(place, is_clear=is_clear), root=place, sensitive_paths=paths).scope()


def told(ask: Callable[[], Any]) -> tuple[Any, str]:
    """What a question gives, and all that is said of it; an error is text alone."""
    try:
        value = ask()
    except NodeattrsError as error:
        return None, f"{error.coded()} {error!r}"
    return value, json.dumps(plain(value)) + repr(value) + str(value)


def says_so(value: Any) -> bool:
    """Whether a value has a secret in it."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, Sensitive) or any(map(says_so, inside))


@pytest.mark.parametrize("seed", range(TREES))
@pytest.mark.parametrize("way", WAYS)
def test_a_value_with_the_secret_says_so_and_shows_it_nowhere(tmp_path: Path, seed: int, way: str):
    drawn = Drawn(seed, way)
    clear, closed = drawn.scope(tmp_path / "clear", is_clear=True), drawn.scope(tmp_path / "closed")
    for key in (*KEYS, "t.k", "t.l.1"):
        known, _ = told(lambda key=key: clear.lookup(key))
        value, said = told(lambda key=key: closed.lookup(key))
        explained = closed.explain(key)
        said += "\n".join(ExplainReport({"n": explained}, with_causes=True).lines(Screen(200)))
        said += json.dumps(explained.to_dict()) + str(explained) + repr(explained.trace())

        assert MARKER not in said, key
        if way != CONVERTED and value is not None and MARKER in json.dumps(plain(known)):  # else a text is redacted
            assert says_so(value), key
            assert way != ENCRYPTED or encrypted_in(value), key


@pytest.mark.parametrize("seed", range(examples(20, fewest=6)))
def test_no_command_prints_logs_or_saves_the_secret(tmp_path: Path, seed: int, monkeypatch, caplog):
    drawn = Drawn(seed, WAYS[seed % len(WAYS)])
    monkeypatch.chdir(drawn.folder(tmp_path))
    caplog.set_level(logging.DEBUG)
    for command in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
            code = main(command.split())

        assert (code in (0, 1, 3, 4, 5), MARKER in output.getvalue()) == (True, False), command
    saved = [file for file in (*tmp_path.glob("nodes.db*"), *tmp_path.glob("out/**/*")) if file.is_file()]
    assert len(saved) > 1
    assert not any(MARKER.encode() in file.read_bytes() for file in saved)
    assert MARKER not in caplog.text


def test_most_of_the_random_trees_have_values_with_the_secret_in_them(tmp_path: Path):
    """Otherwise the tests above would say nothing."""
    found = 0
    for seed in range(20):
        scope = Drawn(seed, SETTINGS).scope(tmp_path / str(seed), is_clear=True)
        for key in "abcde":
            found += MARKER in told(lambda key=key, scope=scope: scope.lookup(key))[1]

    assert found > 20


CONVERT = "lookup_options: {k: {convert_to: Hash}, l: {convert_to: String}, e: {convert_to: Hash}}\n"


def test_a_conversion_of_a_secret_is_a_secret_also_where_it_makes_keys_of_it(tmp_path: Path):
    data = f"{CONVERT}k: [\"%{{lookup('s')}}\", x]\nl: [\"%{{alias('s')}}\"]\ns: hidden\n"
    scope = Hiera(written(tmp_path, {"data/common.yaml": data}), root=tmp_path, sensitive_paths=[("s",)]).scope()
    values = [scope.lookup("k"), scope.lookup("l")]

    assert (list(map(str, values)), values[0].unwrap()) == (["Sensitive(withheld)"] * 2, {"hidden": "x"})


def test_what_a_conversion_would_make_of_a_list_with_encrypted_values_is_not_known(tmp_path: Path):
    levels = "version: 5\nhierarchy: [{name: c, path: c.yaml, lookup_key: eyaml_lookup_key}]\n"
    files = {"hiera.yaml": levels, "data/c.yaml": f"{CONVERT}e: ['ENC[PKCS7,YQ==]', x]\nk: {{a: 'ENC[PKCS7,YQ==]'}}\n"}
    scope = Hiera(written(tmp_path, files), root=tmp_path).scope()

    assert str(scope.lookup("e")) == "Sensitive(encrypted)"
    assert plain(scope.lookup("k")) == {"a": "Sensitive(encrypted)"}


@pytest.mark.parametrize("key", ["%{alias('l')}", "%{alias('m')}", "%{alias('n')}", "%{alias('f')}"])
def test_a_key_that_is_filled_in_with_what_no_key_can_be_is_an_error_with_its_place(tmp_path: Path, key: str):
    data = json.dumps({"k": {key: 1}, "l": [1], "m": {"a": 1}, "n": None, "f": 1.5})
    scope = Hiera(written(tmp_path, {"data/common.yaml": data}), root=tmp_path).scope()

    with pytest.raises(NodeattrsError, match="of a map was filled in with") as error:
        scope.lookup("k")
    assert (error.value.kind, "needed by 'k' in data/common.yaml:1" in str(error.value)) == ("bad_data_value", True)

"""python -m tests.oracles.hiera eyaml

A tree that the real hiera-eyaml encrypted: with its keys we answer as Puppet does; without them neither what is
clear nor what is encrypted is in any answer, explanation or error.
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera
from tests.oracles.hiera_control import MERGES, Peer, encoded
from tests.oracles.puppet import puppet_version
from tests.vectors.values import spelled

CONFIG = """\
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
- {name: secret, lookup_key: eyaml_lookup_key, paths: [one.eyaml, two.eyaml], options: OPTIONS}
- {name: common, path: common.yaml}
"""
SECRETS = [
    "s3cret-clear", "geheim-ü-clear",
    "with-%{facts.dc}-clear", "two\nlines-clear\n", "'quoted-clear'", "x" * 999 + "-clear",
    "%{lookup('plain')}-clear", "ends-clear\r\n", " blank-clear ", "--marker-clear", "ENC[-clear", "12345-clear",
]  # fmt: skip
SHAPES: list[Any] = [
    "{}", "before {} after", "{}{}", ["{}", "plain"], {"a": "{}", "b": [1, "{}"], "{}": "key"}, {"%{facts.dc}": "{}"},
    " {} ", "{}\n", 7, ["a", {"deep": {"er": "{}"}}],
]  # fmt: skip
OPTIONS = {"lookup_options": {"k1": {"merge": "deep"}, "k3": {"merge": "unique"}, "k2": {"convert_to": "Sensitive"}}}
FACTS = {"dc": "ber"}


def eyaml(ruby: str, environment: dict[str, str]) -> int:
    """How many lookups differ; 0 where none does and nothing leaks."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as place:
        root, keys = Path(place) / "environments/production", Path(place) / "keys"
        (root / "data").mkdir(parents=True)
        (Path(place) / "home").mkdir()
        keys.mkdir()
        encrypt = [ruby, str(here / "hiera_eyaml.rb"), str(keys)]
        done = subprocess.run(encrypt, input=json.dumps(SECRETS), capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(f"hiera-eyaml failed: {done.stderr[-1000:]}")
        names = _written(root, keys, json.loads(done.stdout))
        lookups = [{"name": name} | ({"merge": merge} if merge else {}) for name in names for merge in MERGES]
        task = {"root": place, "environment": "production", "node": "web1.x", "facts": FACTS, "lookups": lookups}
        peer = Peer([ruby, str(here / "hiera_puppet.rb"), str(Path(place) / "home")], environment)
        theirs = [answers["as_is"] for answers in peer.ask(task)]
        peer.close()
        clear = Hiera(root, decrypt=True, puppet_version=puppet_version()).scope(FACTS, node="web1.x")
        closed = Hiera(root, puppet_version=puppet_version()).scope(FACTS, node="web1.x")
        faults = [fault for call, one in zip(lookups, theirs, strict=True) if (fault := _differs(clear, call, one))]
        leaks = [call for call in lookups if _leaks(closed, call)]
    for fault in (*faults, *(f"without keys: {call}" for call in leaks)):
        print(fault)
    values = sum("value" in one for one in theirs)
    print(f"{len(lookups)} lookups in a tree of hiera-eyaml: {values} values, {len(faults)} differ, {len(leaks)} leak")
    return 1 if faults or leaks or not values else 0


def _written(root: Path, keys: Path, texts: list[str]) -> list[str]:
    """The files of a tree with these texts in it; the keys that it has."""
    draw = random.Random(5)
    names = [f"k{at}" for at in range(12)]
    options = f"{{pkcs7_private_key: {keys}/private.pem, pkcs7_public_key: {keys}/public.pem}}"
    (root / "hiera.yaml").write_text(CONFIG.replace("OPTIONS", options))
    for file in ("one.eyaml", "two.eyaml", "common.yaml"):
        said = ["in common"] if file == "common.yaml" else texts
        tree = {name: _filled(draw.choice(SHAPES), draw, said) for name in names}
        tree |= {"plain": "clear-of-plain"} | (OPTIONS if file == "one.eyaml" else {})
        (root / "data" / file).write_text(yaml.safe_dump(tree, allow_unicode=True, width=70))
    return [*names, "k1.a", "k5.deep.er"]


def _filled(shape: Any, draw: random.Random, texts: list[str]) -> Any:
    if isinstance(shape, str):
        return "".join(draw.choice(texts) if part == "{}" else part for part in _parts(shape))
    if isinstance(shape, list):
        return [_filled(one, draw, texts) for one in shape]
    if isinstance(shape, dict):
        return {
            key.replace("{}", "key") if key == "{}" else key: _filled(one, draw, texts) for key, one in shape.items()
        }
    return shape


def _parts(shape: str) -> list[str]:
    pieces = shape.split("{}")
    return [part for piece in pieces[:-1] for part in (piece, "{}")] + [pieces[-1]]


def _differs(scope: Any, call: dict[str, Any], theirs: dict[str, Any]) -> str:
    try:
        ours: dict[str, Any] = {"value": encoded(scope.lookup(call["name"], merge=call.get("merge")))}
    except NodeattrsError as error:
        ours = {"error": str(error)}
    if "error" in ours and "error" in theirs:
        return ""
    if "value" in ours and "value" in theirs and spelled(ours["value"]) == spelled(theirs["value"]):
        return ""
    return f"{call}\n  Puppet {json.dumps(theirs)[:400]}\n  we     {json.dumps(ours)[:400]}"


def _leaks(scope: Any, call: dict[str, Any]) -> bool:
    explanation = scope.explain(call["name"], merge=call.get("merge"))
    trace = explanation.trace()
    said = f"{explanation.value!r}{explanation}{explanation.to_dict()}{trace.to_dict()}{trace}{explanation.error}"
    return "-clear" in said or "MII" in said

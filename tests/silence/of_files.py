"""Files of a named fold, one of which cannot be read."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import partial

from tests.silence.case import CONTENTS, KEYS, Case, Maker, another, closed, values_of, with_file, yaml_of


def _closed(how: str, rand: random.Random) -> Case:
    count = rand.randint(2, 4)
    layers = [values_of(rand) for _ in range(count)]
    hidden, key = rand.randrange(count), rand.choice(KEYS)
    can_set = hidden == count - 1 or rand.random() < 0.3
    for layer in layers[hidden + 1 :] if can_set else ():  # nothing above the place sets the key
        layer.pop(key)
    files = _fold(layers)
    place = f"{hidden}.yaml"
    first, second = (files | {place: yaml_of({**layers[hidden], key: value})} for value in CONTENTS)
    unread = with_file(files, place, closed(how, first[place]))
    return Case(unread, (first, second), place, key, "site", can_set, "folds", fails=how in ("locked", "missing"))


def _fold(layers: list[dict[str, object]]) -> dict[str, str]:
    names = [f"{at}.yaml" for at in range(len(layers))]
    files = {name: yaml_of(layer) for name, layer in zip(names, layers, strict=True)}
    return {**files, "nodeattrs.toml": f"[fold.site]\nfiles = {json.dumps(names)}\n"}


def _sops(rand: random.Random) -> Case:
    """One value of a file is encrypted."""
    key = rand.choice(KEYS)
    can_set = rand.random() < 0.5
    closed_key = key if can_set else another(key)
    layers = [values_of(rand), values_of(rand)]
    files = _fold(layers)
    text = yaml_of({**layers[1], closed_key: "ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:int]"})
    first, second = (files | {"1.yaml": yaml_of({**layers[1], closed_key: value})} for value in CONTENTS)
    hidden = files | {"1.yaml": f"{text}sops:\n  version: 3.8.1\n"}
    return Case(hidden, (first, second), "1.yaml", key, "site", can_set, "folds", is_secret=True)


MAKERS: Mapping[str, Maker] = {
    **{how: partial(_closed, how) for how in ("encrypted", "locked", "outside", "missing")},
    "sops": _sops,
}

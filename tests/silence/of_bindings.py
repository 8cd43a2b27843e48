"""Sites of bindings in layers, with a set that cannot be read or a category that is not known."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial

from tests.silence.case import CONTENTS, KEYS, VAULT, Case, Files, Maker, another, closed, values_of, with_file


class _Site:
    """A set for each layer, the highest first."""

    def __init__(self, rand: random.Random) -> None:
        self.count = rand.randint(2, 4)
        self.hidden, self.key = rand.randrange(self.count), rand.choice(KEYS)
        self.can_set = self.hidden == 0 or rand.random() < 0.3
        self.layers = [values_of(rand) for _ in range(self.count)]
        for layer in self.layers[: self.hidden] if self.can_set else ():  # no higher layer binds the key
            layer.pop(self.key)
        self.names = [f"confdir:/s{at}" for at in range(self.count)]
        self.place = f"bindings/s{self.hidden}.pp"
        self.files: Files = {f"bindings/s{at}.pp": _set(f"s{at}", layer) for at, layer in enumerate(self.layers)}

    def shown(self) -> tuple[Files, Files]:
        plain = self.files | {"manifests/site.pp": _site(self.names)}
        own = self.layers[self.hidden]
        first, second = (plain | {self.place: _set(f"s{self.hidden}", {**own, self.key: one})} for one in CONTENTS)
        return first, second

    def case(self, hidden: Files, place: str, *, fails: bool = False) -> Case:
        return Case(hidden, self.shown(), place, self.key, "", self.can_set, "bindings", fails=fails)


def _closed(how: str, rand: random.Random) -> Case:
    site = _Site(rand)
    first, _ = site.shown()
    place = f"s{site.hidden}" if how == "missing" else site.place
    return site.case(
        with_file(first, site.place, closed(how, first[site.place])), place, fails=how in ("locked", "missing")
    )


def _broken(rand: random.Random) -> Case:
    site = _Site(rand)
    first, _ = site.shown()
    return site.case(first | {site.place: first[site.place].rpartition("}")[0]}, site.place, fails=True)


def _provider(rand: random.Random) -> Case:
    """A layer comes of code, which is not run."""
    site = _Site(rand)
    names = [*site.names]
    names[site.hidden] = "ours:/all"
    hidden = with_file(site.files, site.place, None) | {
        "manifests/site.pp": _site(names),
        "nodeattrs.toml": '[bindings]\nproviders = {ours = "ours.py:sets"}\n',
        "ours.py": "def sets(references, request):\n    return []\n",
    }
    return site.case(hidden, "ours")


def _hiera(rand: random.Random) -> Case:
    """A layer is a Hiera tree whose data file is encrypted."""
    site = _Site(rand)
    names = [*site.names]
    names[site.hidden] = "hiera:/*"
    hidden = with_file(site.files, site.place, None) | {
        "manifests/site.pp": _site(names),
        "nodeattrs.toml": 'bindings = "."\n',
        "hiera.yaml": "version: 5\nhierarchy:\n- name: all\n  path: all.yaml\n",
        "data/all.yaml": VAULT,
    }
    return site.case(hidden, "data/all.yaml")._replace(only=("bindings", "check"))


def _fact(rand: random.Random) -> Case:
    """A category is made of a fact that is not among those of the node."""
    key = rand.choice(KEYS)
    can_set = rand.random() < 0.5
    values = values_of(rand)
    inner = key if can_set else another(key)
    binds = f"bindings s0 {{\n{_binds(values)}  when role web {{ bind '{inner}' to 55 }}\n}}\n"
    site = _site(["confdir:/s0"]).replace("site {\n", "site {\n  categories { role => $role }\n")
    files = {"bindings/s0.pp": binds, "manifests/site.pp": site}
    first, second = (files | {"facts/web1.json": f'{{"role": "{role}"}}'} for role in ("web", "db"))
    options = "--node web1 --facts facts/web1.json"
    hidden = files | {"facts/web1.json": "{}"}
    return Case(hidden, (first, second), "role", key, "web1", can_set, "bindings", options)


def _set(name: str, values: Mapping[str, object]) -> str:
    return f"bindings {name} {{\n{_binds(values)}}}\n"


def _binds(values: Mapping[str, object]) -> str:
    return "".join(f"  bind '{key}' to {value}\n" for key, value in values.items())


def _site(references: Sequence[str]) -> str:
    layers = "".join(f"    layer {{ 'l{at}': include => '{one}' }},\n" for at, one in enumerate(references))
    return f"site {{\n  bindings => [\n{layers}  ]\n}}\n"


MAKERS: Mapping[str, Maker] = {
    **{how: partial(_closed, how) for how in ("encrypted", "locked", "outside", "missing")},
    "broken": _broken,
    "provider": _provider,
    "hiera": _hiera,
    "fact": _fact,
}

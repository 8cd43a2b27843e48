"""python -m tests.oracles.hiera [--trees N] | trees DIR [--keys N] | eyaml | odd [--lookups N] [--seed S]

Random trees and lookups, the same ones each time, answered by us and by real Puppet in
one Ruby process. Prints how many answers were compared; exit code 0 if there were some
and none differs in a way that docs/differences.md does not name, 1 otherwise. Puppet is
fetched from Debian and unpacked into a temporary folder; nothing is installed or started. OPENVOX_SRC names a checkout
of OpenVox 8 or 9 that answers in its place.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import combinations, cycle
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera
from tests.oracles import hiera_control
from tests.oracles.hiera_control import encoded
from tests.oracles.hiera_eyaml import eyaml
from tests.oracles.hiera_odd import odd
from tests.oracles.puppet import puppet_version, ruby_with_puppet
from tests.vectors.values import spelled

NODE = "web1.example.com"
FACTS = {"os": {"family": "Debian", "name": "Debian"}, "dc": "ber", "roles": ["web", "db"], "n": 7, "list": ["b", "x"]}

TREES_A_PROCESS = 100
"""Puppet's process keeps what it has seen of a tree, and slows down."""
LACKING = tuple(lacking for count in range(3) for lacking in combinations(("dc", "os", "roles", "n"), count))
"""The facts that nodes lack in turn: a third of those that the trees name."""

words = st.sampled_from(
    ["a", "b", "x", "--a", "--x", "--", "%{facts.dc}", "<%{lookup('k')}>", "%{alias('l')}", "", "%{::dc}", "%{n}"]
)
scalars = words | st.sampled_from([1, 2, 1.0, True, False, None])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "x", "--a"]), inner, max_size=3)
    ),
    max_leaves=6,
)
# Lists with markers, below a key that perhaps one file alone has: there Puppet merges a value into itself.
marked = st.dictionaries(
    st.sampled_from(["a", "b", "x"]),
    st.lists(st.sampled_from(["a", "b", "--a", "--b"]), min_size=2, max_size=5),
    min_size=1,
    max_size=2,
)
keys = st.sampled_from(["k", "l", "m::k", "m::l", "o"])
merges = st.sampled_from(
    [
        "first",
        "unique",
        "hash",
        "deep",
        {"strategy": "deep", "knockout_prefix": "--"},
        {"strategy": "deep", "merge_hash_arrays": True},
        {"strategy": "deep", "sort_merged_arrays": True, "knockout_prefix": "--"},
    ]
)
options = st.dictionaries(
    st.sampled_from(["k", "l", "m::k", "^m::.*", "^[kl]$"]), st.fixed_dictionaries({"merge": merges}), max_size=2
)
module_options = st.dictionaries(
    st.sampled_from(["m::k", "m::l", "^m::[a-z]+$"]), st.fixed_dictionaries({"merge": merges}), max_size=2
)
locations = st.sampled_from(
    [
        {"path": "nodes/%{trusted.certname}.yaml"},
        {"path": "os/%{facts.os.family}.yaml"},
        {"paths": ["common.yaml", "dc/%{facts.dc}.yaml"]},
        {"paths": ["os/%{facts.os.family}.yaml", "none.yaml", "dc/%{dc}.yaml"]},
        {"glob": "{os,dc}/*.yaml"},
        {"mapped_paths": ["facts.roles", "role", "role/%{role}.yaml"]},
        {"path": "common.yaml"},
        {"path": "%{facts.dc}/common.yaml"},
        {"path": "common.yaml", "datadir": "data%{void}"},
    ]
)
FILES = (f"nodes/{NODE}.yaml", "os/Debian.yaml", "dc/ber.yaml", "common.yaml", "role/web.yaml", "role/db.yaml")


def data(given_options: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A data file; now and then with lookup_options."""
    plain = st.dictionaries(keys, values | marked, min_size=2, max_size=5)
    with_options = st.builds(lambda tree, more: {**tree, "lookup_options": more}, plain, given_options)
    return st.one_of(plain, plain, with_options)


def layer(given_options: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The entries of a hiera.yaml and the files beside it."""
    return st.tuples(
        st.lists(locations, min_size=1, max_size=3),
        st.fixed_dictionaries(
            {FILES[0]: data(given_options), "common.yaml": data(given_options)},
            optional={file: data(given_options) for file in FILES[1:] if file != "common.yaml"},
        ),
    )


calls = st.builds(
    lambda name, merge: {"name": name} if merge is None else {"name": name, "merge": merge},
    st.sampled_from(["k", "l", "k", "l", "m::k", "m::l", "o", "k.a", "l.0"]),
    st.none() | merges,
)
trees = st.fixed_dictionaries(
    {"environment": layer(options), "lookups": st.lists(calls, min_size=3, max_size=5)},
    optional={"global": layer(options), "module": layer(module_options)},
)
HOMES = {"global": "global", "environment": "environments/production", "module": "environments/production/modules/m"}


def drawn(count: int) -> list[dict[str, Any]]:
    """The trees: the same ones each time."""
    found: list[dict[str, Any]] = []

    @seed(5)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(trees)
    def collect(tree: dict[str, Any]) -> None:
        found.append(tree)

    collect()
    return found[:count]


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(tree: dict[str, Any], root: Path, lacking: tuple[str, ...] = ()) -> dict[str, Any]:
    """A tree on disk, and the question about it. lacking: the facts that the node does not have"""
    for name, home in HOMES.items():
        if name not in tree:
            continue
        entries, files = tree[name]
        named = [{"name": f"level {at}", **entry} for at, entry in enumerate(entries)]
        texts = {"hiera.yaml": {"version": 5, "hierarchy": named}}
        texts |= {f"data/{file}": content for file, content in files.items()}
        for file, content in texts.items():
            path = root / home / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.dump(content, Dumper=_Plain, sort_keys=False), encoding="utf-8")
    facts = {name: value for name, value in FACTS.items() if name not in lacking}
    return {"root": str(root), "environment": "production", "node": NODE, "facts": facts, "lookups": tree["lookups"]}


def ours(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    root = Path(task["root"])
    hiera = Hiera(
        environmentpath=root / "environments",
        global_config=root / "global" / "hiera.yaml",
        puppet_version=puppet_version(),
    )
    for call in task["lookups"]:
        scope = hiera.scope(task["facts"], node=task["node"])
        try:
            yield {"value": encoded(scope.lookup(call["name"], merge=call.get("merge")))}
        except NodeattrsError as error:
            yield {"error": str(error)}


def compared(tasks: list[dict[str, Any]], answers: Iterator[str]) -> tuple[int, int, list[str]]:
    """How many answers agree, how many differ by Puppet merging a value into itself, and the others."""
    same, named, others = 0, 0, []
    for task, line in zip(tasks, answers, strict=True):
        theirs = json.loads(line)
        if isinstance(theirs, dict):
            raise RuntimeError(theirs["failed"])
        for call, got, peer in zip(task["lookups"], ours(task), theirs, strict=True):
            if _agree(got, peer["as_is"]):
                same += 1
            elif _agree(got, peer["copy_first"]):
                named += 1
            else:
                others.append(
                    f"{task['root']} {json.dumps(call)}\n"
                    f"  Puppet {json.dumps(peer['as_is'])}\n  we     {json.dumps(got)}"
                )
    return same, named, others


def _agree(got: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if "error" in got or "error" in theirs:
        return "error" in got and "error" in theirs
    return spelled(got["value"]) == spelled(theirs["value"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.hiera", description="Our lookups beside Puppet's.")
    parser.add_argument(
        "what", nargs="?", choices=("random", "trees", "eyaml", "odd"), default="random", help="(default: random)"
    )
    parser.add_argument("folder", nargs="?", type=Path, help="for trees: a folder of control repositories")
    parser.add_argument("--keys", type=int, default=0, help="for trees: at most so many keys of each (default: all)")
    parser.add_argument("--trees", type=int, default=300, help="how many random trees (default: 300)")
    parser.add_argument("--lookups", type=int, default=2_800, help="for odd: at least so many (default: 2800)")
    parser.add_argument("--seed", type=int, default=5, help="for odd: other trees (default: 5)")
    parser.add_argument("--keep", type=Path, help="write the trees here, and leave them")
    asked = parser.parse_args(arguments)
    if asked.what == "eyaml":
        with tempfile.TemporaryDirectory() as folder:
            return eyaml(*ruby_with_puppet(Path(folder) / "puppet"))
    if asked.what == "trees":
        with tempfile.TemporaryDirectory() as folder:
            return hiera_control.trees(asked.folder, *ruby_with_puppet(Path(folder) / "puppet"), asked.keys)
    if asked.what == "odd":
        with tempfile.TemporaryDirectory() as folder:
            return odd(asked.lookups, asked.seed, *ruby_with_puppet(Path(folder) / "puppet"))
    with tempfile.TemporaryDirectory() as folder:
        home = asked.keep or Path(folder) / "trees"
        lacking = cycle(LACKING)
        tasks = [written(tree, home / str(at), next(lacking)) for at, tree in enumerate(drawn(asked.trees))]
        try:
            ruby, environment = ruby_with_puppet(Path(folder) / "puppet")
            same, named, others = asked_in_turn(tasks, ruby, environment, Path(folder) / "home")
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"Puppet cannot be had here: {error}", file=sys.stderr)
            return 1
    for other in others:
        print(other)
    count = same + named + len(others)
    print(f"{count} comparisons with Puppet over {len(tasks)} trees: {same} the same, ", end="")
    print(f"{named} where Puppet merges a value into itself, {len(others)} others")
    return 1 if others or not count else 0


def asked_in_turn(
    tasks: list[dict[str, Any]], ruby: str, environment: dict[str, str], home: Path
) -> tuple[int, int, list[str]]:
    """What `compared` counts, with a process of Puppet for every 100 trees. raises: RuntimeError, where one fails"""
    home.mkdir()
    command = [ruby, str(Path(__file__).with_name("hiera_puppet.rb")), str(home)]
    same, named, others = 0, 0, []
    for at in range(0, len(tasks), TREES_A_PROCESS):
        part = tasks[at : at + TREES_A_PROCESS]
        questions = "".join(json.dumps(task) + "\n" for task in part)
        done = subprocess.run(command, input=questions, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"it failed: {done.stderr.strip()[-2000:]}")
        found = compared(part, iter(done.stdout.splitlines()))
        same, named, others = same + found[0], named + found[1], [*others, *found[2]]
    return same, named, others


if __name__ == "__main__":
    sys.exit(main())

"""python -m tests.oracles.hiera trees DIR

Control repositories as they were fetched, one in each folder of DIR, untouched: every key of their data, with six
merges, for two nodes that fit their paths, answered by us and by real Puppet with the same environment.conf. Functions
that a hiera.yaml names and nobody has are empty levels for Puppet; for us they are unknown, and have to be named.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera, Scope, as_asked, encrypted_in, needed
from nodeattrs.puppet.legacy_facts import modern_fact
from tests.oracles.puppet import puppet_version
from tests.vectors.values import spelled

DEEP = {"strategy": "deep", "knockout_prefix": "--"}
MERGES = [None, "first", "unique", "hash", "deep", DEEP]
NODES = [
    ("web1.example.com", "Debian", "Debian", "12"),
    ("db2.example.org", "RedHat", "CentOS", "8"),
]
MOST_KIB = 4 * 2**20
"""Memory of Puppet's process, which some questions would fill."""
BUILT_IN = ("yaml_data", "json_data", "hocon_data", "eyaml_lookup_key")


@dataclass
class Count:
    """What became of the lookups of one tree."""

    same: int = 0
    refused: int = 0
    named: Counter[str] = field(default_factory=Counter)
    others: list[str] = field(default_factory=list)

    @property
    def all(self) -> int:
        return self.same + self.refused + sum(self.named.values()) + len(self.others)


def environments(folder: Path) -> Iterator[tuple[str, Path]]:
    """The environments in a folder of repositories, each with a name for people."""
    for tree in sorted(one for one in folder.iterdir() if one.is_dir()):
        if (tree / "environment.conf").exists() or (tree / "hiera.yaml").exists():
            yield tree.name, tree
        for found in sorted(tree.glob("**/environments/*/hiera.yaml")):
            yield found.parent.relative_to(folder).as_posix(), found.parent


# --- nodes that fit


def facts_of(node: str, family: str, name: str, major: str) -> dict[str, Any]:
    """What a fact file of such a node has."""
    hostname, _, domain = node.partition(".")
    system = {"family": family, "name": name, "architecture": "x86_64", "release": {"major": major, "full": major}}
    return {
        "os": system, "osfamily": family, "operatingsystem": name, "kernel": "Linux", "virtual": "kvm",
        "fqdn": node, "hostname": hostname, "domain": domain, "clientcert": node,
        "networking": {"fqdn": node, "hostname": hostname, "domain": domain, "ip": "10.0.0.1"},
    }  # fmt: skip


def fitted(hiera: Hiera, at: int) -> dict[str, Any]:
    """A node whose variables, where nothing is known of them, choose files that are there: the first or the last."""
    name, *system = NODES[at]
    facts, variables = facts_of(name, *system), {}
    trusted: dict[str, Any] = {"authenticated": "local", "certname": name, "extensions": {}, "external": {}}
    trusted |= dict(zip(("hostname", "domain"), name.split(".", 1), strict=True))
    for one in needed(hiera.scope(facts, node=name)):
        chosen = _chosen(hiera, one.template, one.variable, at)
        *above, last = one.variable.removeprefix("::").split(".")
        if not chosen or (one.is_set and one.variable not in ("trusted.certname", "trusted.hostname")):
            continue
        where: Any = {"facts": facts, "trusted": trusted}.get(above[0], facts) if above else variables
        for step in above if above and above[0] not in ("facts", "trusted") else above[1:]:
            where = where.setdefault(step, {}) if isinstance(where, dict) else {}
        if isinstance(where, dict):
            where.setdefault(last, [chosen] if one.template.count("%{") and last.endswith("s") else chosen)
            if one.variable.startswith("trusted."):
                where[last] = chosen
    return {"node": name, "facts": facts, "trusted": trusted, "variables": variables}


def bare() -> dict[str, Any]:
    """A node without legacy facts, and without the variables that hierarchies want."""
    name, *system = NODES[0]
    facts = {fact: value for fact, value in facts_of(name, *system).items() if modern_fact(fact) is None}
    hostname, domain = name.split(".", 1)
    trusted = {"authenticated": "local", "certname": name, "hostname": hostname, "domain": domain, "extensions": {}}
    return {"node": name, "facts": facts, "trusted": trusted, "variables": {}}


def _chosen(hiera: Hiera, template: str, variable: str, at: int) -> str | None:
    """What a variable may be, so that a file is there: the first one that is, or for another node the last."""
    folder = hiera.environment_layer("production")
    if folder is None or template.startswith("/") or not template.endswith((".yaml", ".eyaml", ".json")):
        return None
    parts = re.split(r"(%\{[^}]*\})", template)
    pattern = "".join(
        re.escape(part) if at % 2 == 0 else "(.+)" if part == f"%{{{variable}}}" else "[^/]+?"
        for at, part in enumerate(parts)
    )
    files = (path.relative_to(folder.folder).as_posix() for path in sorted(folder.folder.glob(f"{parts[0]}**/*")))
    if "(.+)" not in pattern:
        return None
    found = [match[1] for file in files if (match := re.fullmatch(pattern, file)) and "/" not in match[1]]
    return found[-1 if at else 0] if found else None


# --- tasks


def keys_of(hiera: Hiera) -> list[str]:
    """Every key of every data file, as one asks for it; and two that nobody has."""
    names = {key for file in hiera.data_files("production") for key in file.tree if type(key) is str}
    return [
        *(as_asked(name) for name in sorted(names) if name and name != "lookup_options"),
        "nobody",
        "nobody::has_it",
    ]


def stubs(hiera: Hiera) -> dict[str, str]:
    """For Puppet: the functions that are not built in, each with its kind."""
    entries = [entry for config in hiera.configs("production") for entry in (*config.entries, *(config.defaults or ()))]
    return {entry.function: entry.kind for entry in entries if entry.function not in BUILT_IN}


def tasks_of(hiera: Hiera, environmentpath: Path, most: int) -> list[dict[str, Any]]:
    """A task for each node, of which the last one is bare: keys evenly drawn where there are more than *most*."""
    keys = keys_of(hiera)
    keys = [*keys[:: max(1, len(keys) // most)], *keys[-2:]] if most else keys
    lookups = [{"name": key} if merge is None else {"name": key, "merge": merge} for key in keys for merge in MERGES]
    place: dict[str, Any] = {
        "root": str(environmentpath.parent),
        "environmentpath": str(environmentpath),
        "modules": "conf",
    }
    place |= {"environment": "production", "stubs": stubs(hiera)}
    return [{**place, **node, "lookups": lookups} for node in (fitted(hiera, 0), fitted(hiera, 1), bare())]


# --- answers


def compared(hiera: Hiera, task: dict[str, Any], theirs: list[Any], again: Any, count: Count) -> None:
    """Count what agrees; what does not is asked again of a compiler of its own, then of one that copies first."""
    scope = hiera.scope(task["facts"], node=task["node"], trusted=task["trusted"], variables=task["variables"])
    differing = []
    for call, peer in zip(task["lookups"], theirs, strict=True):
        value = _ours(scope, call)
        if _agree(value, peer):
            count.same += "value" in peer
            count.refused += "error" in peer
        else:
            differing.append((call, value))
    fresh = again({**task, "lookups": [call for call, _ in differing]}) if differing else []
    for (call, value), peer in zip(differing, fresh, strict=True):
        _judge(scope, call, value, peer, count)


def _judge(scope: Scope, call: dict[str, Any], value: Any, peer: dict[str, Any], count: Count) -> None:
    if _agree(value, peer["as_is"]):
        count.same += "value" in peer["as_is"]
        count.refused += "error" in peer["as_is"]
    elif _agree(value, peer["copy_first"]):
        count.named["Puppet merges a value into itself"] += 1
    elif encrypted_in(value) or "encrypted" in str(value):
        count.named["encrypted"] += 1
    elif scope.unknown_levels(call["name"], merge=call.get("merge")):
        count.named["a level that cannot be read"] += 1
    else:
        said = json.dumps(peer["as_is"])[:600]
        count.others.append(f"{json.dumps(call)} of {scope.node}\n  Puppet {said}\n  we     {value!r:.600}")


def _ours(scope: Scope, call: dict[str, Any]) -> Any:
    try:
        return scope.lookup(call["name"], merge=call.get("merge"))
    except NodeattrsError as error:
        return error


def _agree(value: Any, peer: dict[str, Any]) -> bool:
    if isinstance(value, NodeattrsError) or "error" in peer:
        return isinstance(value, NodeattrsError) and "error" in peer
    return not encrypted_in(value) and spelled(encoded(value)) == spelled(peer.get("value", ABSENT))


def encoded(value: Any) -> Any:
    """A value as `hiera_puppet.rb` writes its own: what JSON has no word for is marked."""
    if hasattr(value, "unwrap"):
        return {"$sensitive": encoded(value.unwrap())}
    if isinstance(value, dict):
        return {key if type(key) is str else f"$Integer:{key}": encoded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [encoded(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]}
    return value


class Peer:
    """Puppet in one process: a task in, its answers out."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        limited = ["sh", "-c", f'ulimit -v {MOST_KIB}; exec "$@"', "sh", *command]
        self._process = subprocess.Popen(
            limited, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, task: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Puppet died: {self._process.communicate()[1][-2000:]}")
        answers = json.loads(line)
        if isinstance(answers, dict):
            raise RuntimeError(answers["failed"])
        return answers

    def close(self) -> None:
        self._process.communicate()


def judged(tree: Path, script: Path, ruby: str, environment: dict[str, str], most: int) -> Count:
    """One environment beside Puppet."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        home, environmentpath = Path(place) / "home", Path(place) / "environments"
        home.mkdir()
        environmentpath.mkdir()
        (environmentpath / "production").symlink_to(tree.resolve())
        hiera = Hiera(environmentpath=environmentpath, puppet_version=puppet_version())
        tasks = tasks_of(hiera, environmentpath, most)
        peer = Peer([ruby, str(script), str(home)], environment)
        for task in tasks:
            compared(hiera, task, peer.ask({**task, "fast": True}), peer.ask, count)
        peer.close()
    return count


def trees(folder: Path, ruby: str, environment: dict[str, str], most: int) -> int:
    """Every environment of a folder; 0 where each difference is one that is named."""
    total, script = Count(), Path(__file__).with_name("hiera_puppet.rb")
    for name, tree in environments(folder):
        try:
            count = judged(tree, script, ruby, environment, most)
        except (NodeattrsError, RuntimeError) as error:
            print(f"{name}: not compared: {str(error)[:500]}", flush=True)
            continue
        named = "".join(f", {number} {why}" for why, number in sorted(count.named.items()))
        print(f"{name}: {count.all} lookups, {count.same} equal values, {count.refused} refused by both{named}, "
              f"{len(count.others)} others", flush=True)  # fmt: skip
        for other in count.others[:20]:
            print("  " + other.replace("\n", "\n  "), flush=True)
        total.same += count.same
        total.refused += count.refused
        total.named += count.named
        total.others += count.others
    print(f"{total.all} lookups: {total.same} equal values, {total.refused} refused by both, "
          f"{dict(total.named)}, {len(total.others)} others")  # fmt: skip
    return 1 if total.others or not total.all else 0


if __name__ == "__main__":
    sys.exit("python -m tests.oracles.hiera trees DIR")

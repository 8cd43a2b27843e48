"""A fleet that is resolved and saved: how many nodes a second, and how many bytes each.

The nodes are made here: the facts of one Ubuntu machine, varied, six roles and three environments over
the cookbooks of the example, with all facts kept. How many there are is set by NODEATTRS_FLEET;
10,000 unless it is. Rates are taken from a sample.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import CodeType
from typing import Any

from nodeattrs.chef import Repository
from nodeattrs.dialects.chef.checks.stacks import leaves_of
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.fleet import Fleet, resolve
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook, attribute_files_in
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.node.running import merged_shared
from nodeattrs.store import Saved, filtered_snapshot, saved_document
from nodeattrs.workers.batches import open_workers
from tests.benchmarks.figures import Figure
from tests.benchmarks.plain import Plain

ROOT = Path(__file__).parents[2]
SIZE = int(os.environ.get("NODEATTRS_FLEET", "10000"))
SAMPLE = min(SIZE, 240)
"""Nodes from which rates are taken: the rate does not depend on how many there are."""

MORE_ROLES: dict[str, dict[str, Any]] = {
    "edge": {
        "run_list": ["role[web]", "recipe[apache2::status]"],
        "default_attributes": {"apache2": {"listen_ports": [8081], "modules": ["cache"]}},
        "override_attributes": {"app": {"workers": 4, "features": {"reviews": True}}},
    },
    "replica": {
        "run_list": ["role[db]"],
        "default_attributes": {"postgresql": {"config": {"max_connections": 900}, "allowed_networks": ["10.9.0.0/16"]}},
        "override_attributes": {"postgresql": {"backup": {"hour": 5}}},
    },
    "office": {
        "run_list": ["role[base]"],
        "default_attributes": {"base": {"packages": ["cups"], "timezone": "Europe/Paris"}},
        "override_attributes": {"base": {"tuned_profile": "desktop"}},
    },
}
ROLES = ("base", "web", "db", *MORE_ROLES)
ENVIRONMENTS = ("production", "staging", "testing")
TESTING = {"default_attributes": {"app": {"log_level": "debug"}}, "override_attributes": {"app": {"workers": 1}}}


def example(folder: Path, checkout: Path = ROOT) -> Path:
    """The example repository with six roles and three environments, without bindings, and all facts kept."""
    place = folder / "repository"
    shutil.copytree(checkout / "cookbooks_example", place)
    settings = place / "nodeattrs.toml"
    settings.write_text(
        re.split(r"^(?:# [^\n]*\n)?\[(?:bindings|allowed)\]", settings.read_text("utf-8"), maxsplit=1, flags=re.M)[0],
        "utf-8",
    )
    for name, role in MORE_ROLES.items():
        (place / "roles" / f"{name}.json").write_text(json.dumps({"name": name, **role}), "utf-8")
    (place / "environments" / "testing.json").write_text(json.dumps({"name": "testing", **TESTING}), "utf-8")
    return place


@cache
def machine() -> str:
    """The facts that are varied, as text."""
    given = ROOT.parent / "shared" / "ohai" / "ubuntu-20.04.json"
    file = given if given.exists() else ROOT / "cookbooks_example" / "facts" / "web1.json"
    return file.read_text("utf-8")


def facts_of(number: int) -> dict[str, Any]:
    """One machine's facts: its names, addresses, sizes and clocks are its own."""
    facts: dict[str, Any] = json.loads(machine())
    octets = f"{number // 65_536}.{number // 256 % 256}.{number % 256}"
    facts |= {
        "hostname": f"n{number}",
        "fqdn": f"n{number}.example.com",
        "ipaddress": f"10.{octets}",
        "macaddress": f"02:00:00:{number // 65_536:02x}:{number // 256 % 256:02x}:{number % 256:02x}",
        "uptime_seconds": number * 17,
        "ohai_time": 1_700_000_000.5 + number,
        "site": "spare" if number % 10 == 0 else "main",
    }
    facts["cpu"]["total"] = 2 + number % 30
    facts["memory"]["free"] = f"{number * 13}kB"
    return facts


def write_facts(folder: Path, first: int, last: int) -> Path:
    """Files of facts, as `ohai` writes them; their folder."""
    folder.mkdir(exist_ok=True)
    for number in range(first, last):
        (folder / f"n{number}.json").write_text(json.dumps(facts_of(number), indent=2), "utf-8")
    return folder


def what_of(number: int) -> tuple[str, list[str], str]:
    """The name, run-list and environment of a node."""
    return f"n{number}", [f"role[{ROLES[number % len(ROLES)]}]"], ENVIRONMENTS[number // len(ROLES) % len(ENVIRONMENTS)]


def run_of(repository: Repository, number: int, facts: Facts) -> Run:
    """The run of a node."""
    name, run_list, environment = what_of(number)
    return run_node(repository, name, facts=facts, run_list=run_list, environment=environment)


def resolved(repository: Repository, number: int, facts: Facts) -> Saved:
    """One node, run, and as it would be saved."""
    node = run_of(repository, number, facts).node
    document, snapshot = saved_document(node, shared=True), filtered_snapshot(node.snapshot(shared=True))
    return Saved(node.name, document, snapshot)


def plain_of(repository: Repository) -> Plain:
    """What a runner on plain dicts knows of the repository."""
    said = ("default_attributes", "override_attributes")
    roles = {
        name: {
            "run_list": list(role.run_list),
            "env_run_lists": {env: list(items or ()) for env, items in role.env_run_lists.items()},
            **{field: dict(getattr(role, field)) for field in said},
        }
        for name, role in ((name, repository.role(name)) for name in repository.roles())
    }
    environments = {
        name: {field: dict(getattr(repository.environment(name), field)) for field in said}
        for name in repository.environments()
    }
    bags = {bag: {item: repository.data_bag_item(bag, item) for item in repository.data_bag(bag)} for bag in BAGS}
    cookbooks = [repository.cookbook(name) for name in repository.cookbooks()]
    code = {
        (cookbook.name, kind): {name: _code_of(cookbook, file) for name, file in files.items()}
        for cookbook in cookbooks
        for kind, files in (
            ("attributes", attribute_files_in(cookbook.files, (".py", *DATA))),
            ("recipes", cookbook.recipes),
        )
    }
    depends = {cookbook.name: sorted(cookbook.depends) for cookbook in cookbooks}
    sensitive = [(path[0], path[-1]) for path in repository.config.sensitive if len(path) == 2]
    return Plain(roles, environments, bags, code, depends, motd, sensitive)


def _code_of(cookbook: Cookbook, file: str) -> CodeType:
    """A file as a program: of one that is data what counts on the machine whose facts are varied, line by line."""
    if not file.endswith(DATA):
        return cookbook.program(file).code
    lines = (
        f"{one.level}{''.join(f'[{step!r}]' for step in path)} = {value!r}"
        for one in cookbook.attribute_data(file).levels(facts_of(0))
        for path, value in leaves_of(one.tree).items()
    )
    return compile("\n".join(lines), file, "exec")


def motd(facts: dict[str, Any], key: str) -> str:
    """The one key that recipes of the example look up in Hiera."""
    assert key == "profile::motd"
    return f"{facts['platform']} {facts['platform_version']}, time from 0.pool.ntp.example"


BAGS = ("users", "apps")


@cache
def repository_at(place: str) -> Repository:
    return Repository(place)


@cache
def plain_at(place: str) -> Plain:
    return plain_of(repository_at(place))


def resolve_one(place: str, facts: Path, number: int) -> dict[str, Any]:
    """The merged tree of a node, by nodeattrs; as with plain dicts its facts are those that were read."""
    node = run_of(repository_at(place), number, load_facts(facts / f"n{number}.json")).node
    return merged_shared(node)


def plain_one(place: str, facts: Path, number: int) -> dict[str, Any]:
    """The same on plain dicts."""
    name, run_list, environment = what_of(number)
    return plain_at(place).resolve(name, facts / f"n{number}.json", run_list, environment)


Resolve = Callable[[str, Path, int], dict[str, Any]]


def resolve_some(way: Resolve, place: str, facts: Path, numbers: range) -> float:
    """What a worker does: nodes are resolved, and not kept; its processor time. As in clock.py the collector waits."""
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        for number in numbers:
            way(place, facts, number)
        return time.process_time() - began
    finally:
        gc.enable()


def fleet_figures(folder: Path) -> Iterator[Figure]:
    """Rates and sizes; the nodes of the sample."""
    place = str(example(folder))
    facts = write_facts(folder / "facts", 0, SAMPLE)
    for number in range(len(ROLES) * len(ENVIRONMENTS)):
        if resolve_one(place, facts, number) != plain_one(place, facts, number):
            raise AssertionError(f"the runner on plain dicts does not come to the same: node {number}")
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield from _rates("one process", place, facts, 1)
        yield from _rates("two processes", place, facts, 2, pool)
    describe(Path(place), SAMPLE)
    for jobs in (1, 2):
        fleet = Fleet(place, str(folder / f"fleet{jobs}.db"), str(facts))
        for title in ("the first run", "", "a run in which nothing changes"):
            began = time.perf_counter()
            with open_workers("process", jobs) as workers:
                outcomes = resolve(fleet, [f"n{number}" for number in range(SAMPLE)], executor=workers)
                failed = [one.error for one in outcomes if one.error]
            if failed:
                raise AssertionError(failed[0])
            rate = SAMPLE / (time.perf_counter() - began)
            told = f"`fleet resolve --jobs {jobs}`, SQLite, processes started and all"
            if not title:
                continue  # of what the first one has left as normal it is noted that it was saved
            yield Figure(f"run and save, {title}, jobs {jobs}", rate, "nodes/s", of=told)


def describe(repository: Path, count: int) -> None:
    """Write what nodes/ says of so many nodes."""
    for number in range(count):
        name, run_list, environment = what_of(number)
        told = {"name": name, "run_list": run_list, "chef_environment": environment}
        (repository / "nodes" / f"{name}.json").write_text(json.dumps(told), "utf-8")


def _rates(title: str, place: str, facts: Path, workers: int, pool: Executor | None = None) -> Iterator[Figure]:
    """Both in turns; each the best of some rounds."""
    best = {resolve_one: float("inf"), plain_one: float("inf")}
    for _ in range(15):  # the first round reads the repository; many, since a processor may be shared
        for way in best:
            best[way] = min(best[way], _round(way, place, facts, workers, pool))
    told = f"{SAMPLE / best[plain_one]:,.0f} by a runner on plain dicts"
    yield Figure(f"resolve, {title}", SAMPLE / best[resolve_one], "nodes/s", of=told)
    yield Figure(f"resolve, {title}: time", best[resolve_one] / best[plain_one], "times", 1.6, "plain dicts")


def _round(way: Resolve, place: str, facts: Path, workers: int, pool: Executor | None) -> float:
    """Processor seconds; of several processes, which work at the same time, those of the longest.

    Each has nodes that follow one another, and so as many of each role: every other one would be three of the six.
    """
    if pool is None:
        return resolve_some(way, place, facts, range(SAMPLE))
    parts = [range(SAMPLE * one // workers, SAMPLE * (one + 1) // workers) for one in range(workers)]
    return max(pool.map(resolve_some, [way] * workers, [place] * workers, [facts] * workers, parts))

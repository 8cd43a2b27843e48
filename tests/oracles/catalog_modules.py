"""python -m tests.oracles.catalog modules [DIR] [--repeat N]

Modules that others wrote, as Debian packages them: Puppet compiles a manifest of each, and says its edges and order.
We read the compiled catalog, with the types of the modules beside it, and have to say the same. Which types may relate
more than we know has to be named where an edge is missing. CPU of the plan, from the compiled catalog on, is compared.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.catalog import Plan
from nodeattrs.catalog.compiled import compiled_catalog
from nodeattrs.catalog.module_types import ModuleTypes

MODULES = Path("/usr/share/puppet/modules")
NODE = "web1.example.com"
MOST_OF_THE_TIME = 1 / 40
"""What reading and planning apache's catalog may take of the CPU that Puppet takes, which also makes its types."""

_RELEASE = {"full": "12.11", "major": "12", "minor": "11"}
_ADDRESS = {
    "ip": "192.0.2.2",
    "netmask": "255.255.255.0",
    "network": "192.0.2.0",
    "mac": "02:fc:00:00:00:01",
    "mtu": 1500,
}
FACTS: dict[str, Any] = {
    "os": {
        "name": "Debian", "family": "Debian", "architecture": "amd64", "hardware": "x86_64", "release": _RELEASE,
        "selinux": {"enabled": False},
        "distro": {"codename": "bookworm", "description": "Debian GNU/Linux 12 (bookworm)", "id": "Debian",
        "release": _RELEASE},
    },
    "osfamily": "Debian", "operatingsystem": "Debian", "operatingsystemrelease": "12.11",
    "operatingsystemmajrelease": "12",
    "lsbdistid": "Debian", "lsbdistcodename": "bookworm", "lsbdistrelease": "12", "lsbmajdistrelease": "12",
    "architecture": "amd64", "hardwaremodel": "x86_64", "kernel": "Linux", "kernelversion": "6.1.0",
    "kernelmajversion": "6.1",
    "kernelrelease": "6.1.0-18-amd64", "virtual": "kvm", "is_virtual": True, "service_provider": "systemd",
    "systemd": True,
    "systemd_version": "252", "systemd_internal_services": {}, "selinux": False, "timezone": "UTC",
    "augeasversion": "1.14.0",
    "networking": {
        **_ADDRESS, "fqdn": NODE, "hostname": "web1", "domain": "example.com", "primary": "eth0",
        "interfaces": {"eth0": {**_ADDRESS, "bindings": [{"address": "192.0.2.2", "netmask": "255.255.255.0"}]}},
    },
    "fqdn": NODE, "hostname": "web1", "domain": "example.com", "ipaddress": "192.0.2.2", "interfaces": "eth0,lo",
    "processors": {"count": 2, "physicalcount": 1, "isa": "x86_64", "models": ["Xeon", "Xeon"]}, "processorcount": 2,
    "memory": {"system": {"total": "8.00 GiB", "total_bytes": 8589934592}}, "memorysize": "8.00 GiB",
    "memorysize_mb": 8192.0,
    "identity": {"user": "root", "uid": 0, "group": "root", "gid": 0, "privileged": True}, "id": "root",
    "path": "/usr/sbin:/usr/bin:/sbin:/bin", "puppetversion": "7.23.0", "clientversion": "7.23.0",
    "facterversion": "4.3.0",
    "clientcert": NODE, "os_service_default": "<SERVICE DEFAULT>", "puppet_vardir": "/var/cache/puppet",
    "os_workers": 2, "os_workers_keystone": 2, "root_home": "/root", "staging_http_get": "curl",
}  # fmt: skip
MANIFESTS: dict[str, str] = dict(
    re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", Path(__file__).with_suffix(".pp").read_text("utf-8"), re.M | re.S)
)


class Compared(NamedTuple):
    """What became of one module: edges of both sides that the other has not, and what is named as unknown."""

    missing: list[tuple[str, str]]
    more: list[tuple[str, str]]
    is_order_equal: bool
    unknown: list[str]
    edges: int

    @property
    def unnamed(self) -> list[tuple[str, str]]:
        """Missing edges of types of which nothing says that they may relate more."""
        named = " ".join(self.unknown)
        ends = ((edge, {ref.partition("[")[0].lower() for ref in edge}) for edge in self.missing)
        return [edge for edge, kinds in ends if not any(f" type {kind} " in named for kind in kinds)]


def _spelled(ref: str) -> str:
    """A reference as our graph spells it: a file without its last slash."""
    return ref.replace("/]", "]") if ref.startswith("File[") and ref != "File[/]" else ref


def compared(answer: dict[str, Any], plan: Plan) -> Compared:
    graph = plan.graph
    mine = Counter((graph.spelled(edge.source), graph.spelled(edge.target)) for edge in graph.edges)
    theirs = Counter((_spelled(one), _spelled(other)) for one, other, _ in answer["edges"])
    have = set(map(str, graph.refs))
    order = [ref for ref in map(_spelled, answer["order"]) if ref in have]
    wanted = set(order)
    got = [ref for ref in map(str, plan.order()) if ref in wanted]
    unknown = [str(warning) for warning in plan.warnings() if "more" in str(warning)]
    return Compared(
        [*(theirs - mine).elements()], [*(mine - theirs).elements()], got == order, unknown, sum(theirs.values())
    )


def _without_kinds(tree: dict[str, Any]) -> dict[str, Any]:
    """The catalog as PuppetDB has it, which does not say what is a defined type."""
    rows = [{name: value for name, value in row.items() if name != "kind"} for row in tree["resources"]]
    return {**tree, "resources": rows}


def _seconds(tree: dict[str, Any]) -> float:
    """The CPU of reading, planning and ordering a compiled catalog: the least of several."""
    spent = []
    for _ in range(25):
        begun = time.process_time()
        compiled_catalog(tree).plan().order()
        spent.append(time.process_time() - begun)
    return min(spent)


def modules(folder: Path, repeat: int, place: Path, ruby: str, environment: dict[str, str]) -> int:
    """Every module of a folder for which there is a manifest.

    return: 0 where orders are equal, and edges, but those of types that are named
    """
    names = [name for name in MANIFESTS if (folder / name).is_dir()]
    tasks = [{"manifest": MANIFESTS[name], "modulepath": [str(folder)], "node": NODE, "facts": FACTS} for name in names]
    place.mkdir(parents=True)
    script = Path(__file__).with_name("catalog_modules.rb")
    lines = "".join(json.dumps(task) + "\n" for task in tasks for _ in range(repeat))
    done = subprocess.run([ruby, str(script), str(place)], input=lines, capture_output=True, text=True, env=environment)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(names) * repeat or not names:
        print(f"Puppet answered {len(answers)} of {len(names) * repeat}: {done.stderr[-2000:]}")
        return 1
    failed, equal, types = 0, Counter[str](), ModuleTypes([folder])
    for at, name in enumerate(names):
        several = answers[at * repeat : (at + 1) * repeat]
        if any("error" in one for one in several):
            print(f"{name}: not compiled: {several[0].get('error')}")
            failed += 1
            continue
        tree = several[0]["catalog"]
        one = compared(several[0], compiled_catalog(tree, types=types).plan())
        bare = compiled_catalog(_without_kinds(tree), types=types).plan()
        one = one._replace(is_order_equal=one.is_order_equal and compared(several[0], bare).is_order_equal)
        mine, first, later = _seconds(several[0]["catalog"]), several[0]["seconds"], min(a["seconds"] for a in several)
        too_slow = name == "apache" and mine > first * MOST_OF_THE_TIME
        is_right = not one.more and not too_slow and one.is_order_equal and not one.unnamed
        failed += not is_right
        equal["order"] += one.is_order_equal
        equal["edges"] += not one.missing and not one.more
        order = "equal" if one.is_order_equal else "OTHER"
        print(f"{name}: {one.edges} edges, {len(one.missing)} missing, {len(one.more)} more, order {order}")
        print(f"  {mine * 1000:.1f} ms of CPU, Puppet {first * 1000:.0f} the first time (1/{first / mine:.0f}), "
              f"{later * 1000:.0f} later{', TOO SLOW' if too_slow else ''}")  # fmt: skip
        for what, edges in (("missing", one.missing), ("more", one.more)):
            for source, target in edges[:6]:
                print(f"  {what}: {source} -> {target}")
        for warning in one.unknown:
            print(f"  {warning}")
    print(f"{len(names)} modules: order equal in {equal['order']}, edges equal in {equal['edges']}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0

"""python -m tests.oracles.netplan [--count N] [--seed S]

Random sets of netplan's files below a root, in /etc, /run and /lib, folded by us and read by Debian's libnetplan as
`netplan get --root-dir` does. Both trees are compared as text, without what netplan leaves out or puts in by itself
(`printed`). The last line is `N passed, M failed`; exit code 1 if any failed or none was asked.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.errors import MergeConflict
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named
from tests.oracles.peer import Peer

PYTHON, FOLDERS = "/usr/bin/python3", ("etc", "etc", "etc", "run", "lib")
Tree = dict[str, Any]
Draw = Callable[[random.Random], Any]


# --- files with few names, so that they meet


def some(*of: Any, most: int = 3) -> Draw:
    return lambda chance: chance.sample(of, chance.randint(1, min(most, len(of))))


def one(*of: Any) -> Draw:
    return lambda chance: chance.choice(of)


def parts(most: int, **of: Draw) -> Draw:
    """A map with some of these keys; one underline of a name stands for a dash."""

    def drawn(chance: random.Random) -> Tree:
        names = chance.sample(sorted(of), chance.randint(1, min(most, len(of))))
        return {name.replace("_", "-"): of[name](chance) for name in names}

    return drawn


ADDRESSES = ("10.0.0.1/24", "10.0.0.2/24", "fd00::1/64", "fd00::2/64", {"10.0.0.3/24": {"label": "a"}},
             {"10.0.0.3/24": {"lifetime": 0}}, {"fd00::3/64": {"label": "b"}})  # fmt: skip
ROUTES = (
    {"to": "default", "via": "10.0.0.254"},
    {"to": "0.0.0.0/0", "via": "10.0.0.254", "mtu": 1400},
    {"to": "10.1.0.0/16", "via": "10.0.0.254"},
    {"to": "10.1.0.0/16", "via": "10.0.0.254", "mtu": 1300},
    {"to": "10.1.0.0/16", "via": "10.0.0.254", "metric": 5},
    {"to": "10.1.0.0/16", "via": "10.0.0.254", "table": 7},
    {"to": "10.1.0.0/16", "via": "10.0.0.253", "on-link": True},
    {"to": "fd01::/64", "via": "fd00::254"},
    {"to": "fd01::/64", "via": "fd00::254", "from": "fd00::9"},
)
RULES = ({"from": "10.0.0.0/8", "table": 7}, {"to": "10.2.0.0/16", "table": 8}, {"from": "fd00::/8", "priority": 3})
OVERRIDES = parts(3, use_dns=one(True, False), route_metric=one(5, 6), use_routes=one(False), hostname=one("h", "i"))
COMMON: dict[str, Draw] = {
    "addresses": some(*ADDRESSES, most=4),
    "nameservers": parts(2, addresses=some("1.1.1.1", "9.9.9.9", "fd00::53"), search=some("a.example", "b.example")),
    "routes": some(*ROUTES, most=4),
    "routing_policy": some(*RULES),
    "dhcp4": one(True, False, "yes"),
    "dhcp6": one(True, False),
    "dhcp4_overrides": OVERRIDES,
    "dhcp6_overrides": OVERRIDES,
    "mtu": one(1400, 1500, "9000"),
    "optional": one(True, False),
    "accept_ra": one(True, False),
    "link_local": some("ipv4", "ipv6"),
    "optional_addresses": some("ipv4-ll", "dhcp4", "static"),
    "ipv6_privacy": one(True, False),
    "gateway4": one("10.0.0.254"),
}
MACS = one("52:54:00:12:34:56", "aa:bb:cc:dd:ee:ff")
ETHERNET = COMMON | {
    "match": parts(2, name=one("en*", "eth*"), driver=one("virtio", ["a", "b"]), macaddress=MACS),
    "wakeonlan": one(True, False),
    "macaddress": MACS,
    "openvswitch": parts(2, external_ids=parts(2, x=one("1", "2"), y=one("1")), other_config=parts(1, z=one("true"))),
}
BOND_PARAMETERS = parts(
    4, mode=one("active-backup", "802.3ad"), mii_monitor_interval=one(100, 200), up_delay=one(1), min_links=one(1, 2),
    arp_ip_targets=some("10.0.0.8", "10.0.0.9", "10.0.0.7"), primary=one("e0", "e1"), resend_igmp=one(3, 4),
)  # fmt: skip
BRIDGE_PARAMETERS = parts(
    3, stp=one(True, False), priority=one(3, 4), max_age=one(5, 6), path_cost=parts(1, e2=one(7, 8)),
    port_priority=parts(1, e3=one(9)),
)  # fmt: skip
PEERS = some(
    {"keys": {"public": "M9nt4YujIOmNrRmpIRTmYSfMdrpvE7u6WkG8FY8WjG4="}, "endpoint": "h.example:5", "keepalive": 6,
     "allowed-ips": ["10.3.0.0/16"]},
    {"keys": {"public": "cwkb7k0xDgLSnunZpFIjLJw4u+mJDDr+aBR5DqzpmgI="}, "allowed-ips": ["10.4.0.0/16", "fd04::/64"]},
)  # fmt: skip
PRIVATE = {"keys": {"private": "4GgaQCy68nzNsUE5aJ9fuLzHhB65tAlwbmA72MWnOm8="}, "mode": "wireguard"}
VXLAN = {"mode": "vxlan", "id": 5, "local": "10.0.0.1", "remote": "10.0.0.2"}
DEVICES: dict[str, dict[str, tuple[Tree, dict[str, Draw]]]] = {
    "ethernets": {name: ({}, ETHERNET) for name in ("e0", "e1", "e2", "e3")},
    "bonds": {"bond": ({}, COMMON | {"interfaces": some("e0", "e1"), "parameters": BOND_PARAMETERS})},
    "bridges": {"bridge": ({"interfaces": ["e2", "e3"]},
                           COMMON | {"interfaces": some("e2", "e3", most=1), "parameters": BRIDGE_PARAMETERS})},
    "vlans": {"vlan": ({"id": 5, "link": "e0"}, COMMON | {"id": one(6, 7), "link": one("e0", "e1")})},
    "wifis": {"w": ({"access-points": {"home": {"password": "12345678"}}},
                    COMMON | {"access_points": parts(1, home=one({"hidden": True}), away=one({"mode": "adhoc"}))})},
    "tunnels": {"wg": ({**PRIVATE, "peers": PEERS(random.Random(1))}, COMMON | {"peers": PEERS, "port": one(5, 6)}),
                "vx": (VXLAN, COMMON | {"id": one(6), "limit": one(7, 8), "arp_proxy": one(True, False),
                                        "notifications": some("l2-miss", "l3-miss")})},
}  # fmt: skip
"""Kind -> name -> what its first file has to say, and what each may."""


def files(chance: random.Random) -> list[Tree]:
    """Two to four files. The first one defines each device that any of them has."""
    names = [(kind, name) for kind, of in DEVICES.items() for name in of]
    chosen = [pair for pair in names if pair[0] == "ethernets" or chance.random() < 0.35]
    made = []
    for number in range(chance.randint(2, 4)):
        network: Tree = {"version": 2} if chance.random() < 0.5 or not number else {}
        for kind, name in chosen:
            first, fields = DEVICES[kind][name]
            if number and chance.random() < 0.5:
                continue
            base = {} if number else dict(first)
            network.setdefault(kind, {})[name] = parts(5, **fields)(chance) | base
            if name == "vx":
                network[kind][name].setdefault("id", 5)
        if number and chance.random() < 0.1:
            network["renderer"] = "networkd"
        made.append({"network": network})
    return made


def written(root: Path, trees: Sequence[Tree], chance: random.Random) -> None:
    """The files below a root: the first one sorts first, and some of the others hide a namesake."""
    for number, tree in enumerate(trees):
        folder = "etc" if not number else chance.choice(FOLDERS)
        name = f"{number}.yaml" if not number else f"{chance.randint(1, 3)}.yaml"
        place = root / folder / "netplan"
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
        (place / name).chmod(0o600)


# --- both trees as text, without what has no meaning

LEFT_OUT: dict[str, Any] = {"optional": "false", "hidden": "false", "critical": "false", "on-link": "false",
                            "link-local": ["ipv6"]}  # fmt: skip
"""What netplan does not print: it is so anyway."""
SETS = ("interfaces", "optional-addresses", "link-local", "notifications", "wakeonwlan")
"""Lists whose order netplan does not keep."""


def printed(value: Any, key: str = "") -> Any:
    """A tree as `netplan get` prints it: scalars as text, no defaults, nothing empty, sets in one order."""
    if isinstance(value, dict):
        found = {str(name): printed(one, str(name)) for name, one in value.items()}
        return {
            name: one
            for name, one in found.items()
            if LEFT_OUT.get(name) != one and name not in ("version", "password", "auth") and one not in ({}, [], "null")
        }
    if isinstance(value, list):
        listed = [printed(one) for one in value]
        return sorted(listed) if key in SETS else listed
    word = str(value).lower() if isinstance(value, bool) else str(value)
    return "true" if word == "yes" else word


def ours(root: Path) -> Any:
    """What `nodeattrs fold --policy netplan` makes of a root."""
    layers = list(layers_of([str(root)], LayerReader(), Path(), policy="netplan"))
    return folded(layers, policy_named("netplan")).value


def difference(root: Path, peer: Peer) -> str | None:
    """How the two answers differ; None where they are equal, or both refuse."""
    theirs = peer.ask(str(root))
    try:
        found = printed(ours(root))
    except MergeConflict as error:
        return None if "error" in theirs else f"ours refuses: {error}"
    if "error" in theirs:
        return f"theirs refuses: {theirs['error']}"
    expected = printed(yaml.load(theirs["text"], yaml.BaseLoader))
    return next(iter(apart(expected, found, "")), None)


def apart(theirs: Any, ours: Any, path: str) -> Iterator[str]:
    """Each path at which two trees differ, with both values."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in dict.fromkeys((*theirs, *ours)):
            yield from apart(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif theirs != ours:
        yield f"{path}\n  theirs: {json.dumps(theirs)}\n  ours:   {json.dumps(ours)}"


def started() -> Peer:
    """Debian's libnetplan, in its own process."""
    return Peer(PYTHON, str(Path(__file__).with_name("netplan_peer.py")))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.netplan", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=200, help="how many sets (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    peer, failed, refused = started(), 0, 0
    for number in range(options.count):
        chance = random.Random(f"{options.seed} {number}")
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), files(chance), chance)
            refused += "error" in peer.ask(folder)
            found = difference(Path(folder), peer)
        if found is not None:
            failed += 1
            if failed <= 3:
                print(f"{number}: {found}")
    peer.close()
    print(f"{refused} sets were refused by both" if not failed else f"{refused} sets were refused by netplan")
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed or not options.count else 0


if __name__ == "__main__":
    sys.exit(main())

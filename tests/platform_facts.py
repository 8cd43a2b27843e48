"""python -m tests.platform_facts ROOT NAME: write the facts of a platform that are shipped.

ROOT is a root directory of that release with ohai, iproute2, lsb-release, procps and systemd-sysv in it (made by
debootstrap; needs the rights to chroot). What ohai says there of the machine that
it ran on, and not of the release, is replaced by stand-ins: 1 GiB, one processor, one interface, no disk.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "nodeattrs" / "dialects" / "chef" / "facts" / "known"
OF_RELEASE = (
    "os", "platform", "platform_version", "platform_family", "lsb", "os_release", "packages", "shells", "root_group",
    "languages", "command", "fips", "time",
)  # fmt: skip
STAND_INS: dict[str, Any] = {
    "hostname": "test",
    "machinename": "test",
    "domain": "example",
    "fqdn": "test.example",
    "ipaddress": "192.0.2.10",
    "ip6address": "2001:db8::10",
    "macaddress": "02:00:00:00:00:10",
    "cpu": {"0": {"vendor_id": "GenuineIntel"}, "total": 1, "real": 1, "cores": 1},
    "memory": {"total": "1048576kB", "free": "524288kB", "available": "786432kB", "swap": {"total": "0kB"}},
    "network": {
        "interfaces": {
            "lo": {
                "addresses": {
                    "127.0.0.1": {"family": "inet", "prefixlen": "8", "netmask": "255.0.0.0", "scope": "Node"},
                    "::1": {"family": "inet6", "prefixlen": "128", "scope": "Node", "tags": []},
                },
                "encapsulation": "Loopback", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": "65536",
                "state": "unknown",
            },
            "eth0": {
                "addresses": {
                    "02:00:00:00:00:10": {"family": "lladdr"},
                    "192.0.2.10": {
                        "family": "inet", "prefixlen": "24", "netmask": "255.255.255.0", "broadcast": "192.0.2.255",
                        "scope": "Global",
                    },
                    "2001:db8::10": {"family": "inet6", "prefixlen": "64", "scope": "Global", "tags": []},
                },
                "encapsulation": "Ethernet", "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "mtu": "1500",
                "number": "0", "state": "up", "type": "eth",
            },
        },
        "default_interface": "eth0",
        "default_gateway": "192.0.2.1",
    },
    "filesystem": {"by_device": {}, "by_mountpoint": {}, "by_pair": {}},
    "init_package": "systemd",
    "keys": {"ssh": {}},
    "virtualization": {"systems": {}},
    "ohai_time": 1600000000.0,
    "uptime_seconds": 86400,
    "uptime": "1 days 00 hours 00 minutes 00 seconds",
}  # fmt: skip


def in_root(root: str, *command: str) -> str:
    """What a command prints in a root directory."""
    words = ["chroot", root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", *command]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def facts(root: str) -> dict[str, Any]:
    """The facts of the release in a root directory."""
    said = json.loads(in_root(root, "ohai"))
    found = {name: said[name] for name in OF_RELEASE if name in said} | STAND_INS
    kernel = re.search(r"Depends: linux-image-(\S+)", in_root(root, "apt-cache", "depends", "linux-image-amd64"))
    release = kernel.group(1) if kernel else said["platform_version"]
    found["kernel"] = {"name": "Linux", "release": release, "machine": "x86_64", "os": "GNU/Linux", "modules": {}}
    found["os_version"] = release
    found["chef_packages"] = {"ohai": {"version": said["chef_packages"]["ohai"]["version"]}}
    return dict(sorted(found.items()))


if __name__ == "__main__":
    file = FOLDER / f"{sys.argv[2]}.json"
    file.write_text(json.dumps(facts(sys.argv[1]), indent=1) + "\n", encoding="utf-8")
    print(f"{file.name}: {file.stat().st_size} bytes")

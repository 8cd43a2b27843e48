"""What we say of this machine is what its own Ohai says of it.

Only what stays the same between two programs that run one after the other is compared.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from nodeattrs.core.tree import ABSENT, dig, parse
from nodeattrs.dialects.chef.facts import gather

OHAI = shutil.which("ohai")

pytestmark = [
    pytest.mark.skipif(OHAI is None, reason="ohai is not installed on this machine"),
]
of_the_network = pytest.mark.skipif(
    shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None,
    reason="ohai sees no network without the program ip (Debian's package iproute2)",
)


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    ran = subprocess.run([str(OHAI)], capture_output=True, check=True, timeout=120)
    facts: dict[str, Any] = json.loads(ran.stdout)
    return facts


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    facts = gather({})
    assert facts.warnings == ()
    return facts.tree


@pytest.mark.parametrize(
    "path",
    [
        *("platform", "platform_version", "platform_family", "os", "os_version"),
        *("hostname", "machinename", "fqdn", "domain"),
        *("kernel.name", "kernel.release", "kernel.version", "kernel.machine", "kernel.os"),
        *("cpu.total", "cpu.real", "cpu.cores"),
        *("memory.total", "memory.swap.total"),
    ],
)
def test_the_same_fact(ours, theirs, path):
    """Also in being absent."""
    assert (dig(ours, parse(path)) or None) == (dig(theirs, parse(path)) or None)


@of_the_network
@pytest.mark.parametrize(
    "path",
    [
        *("ipaddress", "ip6address", "macaddress"),
        *("network.default_interface", "network.default_gateway"),
        *("network.default_inet6_interface", "network.default_inet6_gateway"),
    ],
)
def test_the_same_network(ours, theirs, path):
    """Also in being absent."""
    assert (dig(ours, parse(path)) or None) == (dig(theirs, parse(path)) or None)


def test_something_was_compared(theirs):
    """An Ohai that fails to look says nothing, and nothing is easy to agree with."""
    for path in ("platform", "hostname", "kernel.release", "cpu.total", "memory.total"):
        assert dig(theirs, parse(path)) not in (ABSENT, None)


@of_the_network
def test_a_network_was_compared(theirs):
    """As above."""
    assert dig(theirs, parse("network.interfaces.lo")) not in (ABSENT, None)


@of_the_network
def test_the_same_interfaces_in_the_same_order(ours, theirs):
    assert list(ours["network"]["interfaces"]) == list(theirs["network"]["interfaces"])


@of_the_network
def test_the_same_of_each_interface(ours, theirs):
    def told(interface: dict[str, Any]) -> dict[str, Any]:
        known = {key: interface.get(key) for key in ("type", "number", "mtu", "state")}
        # Ohai leaves out a flag that stands alone, and calls some tunnels by the kernel's words.
        known["flags"] = interface.get("flags") if len(interface.get("flags", [])) > 1 else None
        known["is ethernet"] = interface.get("encapsulation") == "Ethernet"
        known["is loopback"] = interface.get("encapsulation") == "Loopback"
        return known

    for name, interface in theirs["network"]["interfaces"].items():
        assert told(ours["network"]["interfaces"][name]) == told(interface), name


@of_the_network
def test_the_same_addresses_of_each_interface(ours, theirs):
    for name, interface in theirs["network"]["interfaces"].items():
        here = ours["network"]["interfaces"][name].get("addresses", {})
        # `tags` are the kernel's remarks on IPv6 addresses; psutil has no word of them. And the
        # unset end of an IPv6 tunnel is no hardware address, though Ohai reads it as one.
        there = {
            address: {key: value for key, value in told.items() if key != "tags"}
            for address, told in interface.get("addresses", {}).items()
            if address != "::"
        }

        assert here == there, name
        assert list(here) == list(there), name


def test_the_same_of_each_processor(ours, theirs):
    for number in (key for key in theirs["cpu"] if key.isdigit()):
        stable = ("vendor_id", "family", "model", "model_name", "stepping", "physical_id", "core_id", "cores", "flags")
        here, there = ours["cpu"][number], theirs["cpu"][number]

        assert {key: here.get(key) for key in stable} == {key: there.get(key) for key in stable}


def test_the_same_mounts(ours, theirs):
    """Everything but what comes and goes by itself."""
    passing = ("/proc/", "/sys/", "/dev/", "/run/", "/tmp/", "/var/lib/docker/", "/snap/")

    def size(told: dict[str, Any]) -> str | None:
        return told.get("kb_size") if told.get("fs_type") in ("ext3", "ext4", "xfs", "tmpfs") else None

    def lasting(facts: dict[str, Any]) -> dict[str, Any]:
        return {
            mount: (told.get("fs_type"), told["devices"], size(told))
            for mount, told in facts["filesystem"]["by_mountpoint"].items()
            if not f"{mount}/".startswith(passing) or mount in ("/proc", "/sys", "/dev")
        }

    assert "/" in lasting(theirs)
    assert lasting(ours) == lasting(theirs)


def test_devices_and_pairs_say_the_same_as_mounts(ours, theirs):
    root = theirs["filesystem"]["by_mountpoint"]["/"]["devices"][0]

    assert "/" in ours["filesystem"]["by_device"][root]["mounts"]
    assert ours["filesystem"]["by_pair"][f"{root},/"]["mount"] == "/"
    assert set(ours["filesystem"]["by_pair"][f"{root},/"]) == set(theirs["filesystem"]["by_pair"][f"{root},/"])

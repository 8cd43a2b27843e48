"""Facts: of this machine, of other packages' functions, of files that Ohai and Facter wrote.

What this machine says is compared with the real Ohai in test_facts_ohai.py; here stand
the rules, on machines that are written down.
"""

from __future__ import annotations

import builtins
import importlib.metadata
import ipaddress
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import distro
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, dig, parse
from nodeattrs.dialects.chef.facts import ENTRY_POINTS, gather, load_facts, machine, platforms
from nodeattrs.dialects.chef.facts import facter as facter_module
from nodeattrs.dialects.chef.facts.addresses import (
    Route,
    address_entry,
    default_route4,
    default_route6,
    interface_parts,
    node_address,
)
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.formats import documents


def lines_in(path: pathlib.Path) -> list[str]:
    return path.read_text().splitlines()


class TestThisMachine:
    def test_facts_of_this_machine_have_the_names_that_recipes_read(self):
        """The names of the issue are there wherever the machine can tell."""
        facts = gather({}).tree

        wanted = "platform platform_version hostname kernel cpu memory filesystem network ohai_time"
        assert set(wanted.split()) <= set(facts)
        assert "kB" in facts["memory"]["total"]
        assert facts["cpu"]["total"] >= 1
        assert "recipes" not in facts, "the run makes that one"

    def test_nothing_went_wrong(self):
        assert gather({}).warnings == ()

    def test_facts_of_this_machine_are_plain_json(self):
        facts = gather({}).tree

        assert json.loads(json.dumps(facts)) == facts

    def test_the_time_can_be_given(self):
        assert gather({}, now=12.5).tree["ohai_time"] == 12.5

    def test_facts_of_this_machine_name_the_machine_as_origin(self):
        assert gather({}).locator.at(("memory", "total")) == Origin("facts", "this machine")

    def test_no_program_is_started(self, monkeypatch):
        def started(*words: object, **more: object) -> None:
            raise AssertionError(f"started {words}")

        monkeypatch.setattr(subprocess, "Popen", started)

        assert gather({}).warnings == ()

    def test_what_cannot_be_told_is_absent_and_the_rest_is_there(self, monkeypatch):
        def refused() -> None:
            raise psutil.AccessDenied

        monkeypatch.setattr(psutil, "virtual_memory", refused)
        facts = gather({})

        assert "memory" not in facts.tree
        assert {"network", "cpu", "filesystem"} <= set(facts.tree)
        assert [warning.message for warning in facts.warnings] == ["facts memory failed"]

    def test_a_name_that_nobody_resolves_has_no_full_form(self, monkeypatch):
        def unknown(*words: object, **more: object) -> None:
            raise socket.gaierror

        monkeypatch.setattr(socket, "gethostname", lambda: "web01.example.com")
        monkeypatch.setattr(socket, "getaddrinfo", unknown)

        assert machine.hostname({}) == {"machinename": "web01.example.com", "hostname": "web01"}

    @pytest.mark.parametrize(
        ("fqdn", "domain"), [("web01.example.com", "example.com"), ("web01", None)], ids=["with", "without"]
    )
    def test_the_domain_is_what_follows_the_first_dot(self, monkeypatch, fqdn, domain):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **more: [(2, 2, 17, fqdn, ("192.0.2.1", 0))])

        assert (machine.hostname({})["fqdn"], machine.hostname({})["domain"]) == (fqdn, domain)

    def test_an_automount_is_not_asked_for_its_size(self, monkeypatch):
        """Asking would mount it."""
        asked: list[str] = []
        mounts = [
            SimpleNamespace(device="auto", mountpoint="/net", fstype="autofs", opts="rw"),
            SimpleNamespace(device="/dev/sda1", mountpoint="/", fstype="ext4", opts="rw,relatime"),
            SimpleNamespace(device="/dev/sda1", mountpoint="/srv", fstype="ext4", opts="ro"),
        ]
        monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
        monkeypatch.setattr(machine, "_sizes", lambda mount: asked.append(mount) or {"kb_size": f"size of {mount}"})

        seen = machine.filesystem({})["filesystem"]

        assert asked == ["/", "/srv"]
        assert seen["by_mountpoint"]["/net"] == {"devices": ["auto"], "fs_type": "autofs", "mount_options": ["rw"]}
        assert seen["by_device"]["/dev/sda1"]["mounts"] == ["/", "/srv"]
        assert seen["by_pair"]["/dev/sda1,/"]["kb_size"] == "size of /"
        assert seen["by_mountpoint"]["/"]["mount_options"] == ["rw", "relatime"]

    def test_two_sockets_with_two_cores_of_two_threads(self):
        lines = [
            f"{key}\t: {value}"
            for number in range(8)
            for key, value in [
                ("processor", number),
                ("vendor_id", f"vendor of {number}"),
                ("physical id", number // 4),
                ("cpu cores", 2),
                ("flags", "fpu vme"),
                ("power management", ""),
            ]
        ]
        seen = machine.cpu_of(lines)

        assert (seen["total"], seen["real"], seen["cores"]) == (8, 2, 4)
        assert seen["7"]["vendor_id"] == "vendor of 7"
        assert seen["7"]["flags"] == ["fpu", "vme"]

    def test_processors_that_name_no_socket_leave_that_to_others(self):
        seen = machine.cpu_of(["processor : 0", "BogoMIPS : 50.00", "Features : fp asimd", "Hardware : Board : 3"])

        assert seen == {"0": {"bogomips": "50.00", "features": ["fp", "asimd"]}, "total": 1}


class TestPlatform:
    @pytest.mark.parametrize(
        ("release", "others", "expected"),
        [
            ('ID=ubuntu\nID_LIKE=debian\nVERSION_ID="20.04"', {}, ("ubuntu", "20.04", "debian")),
            ("ID=debian", {"debian_version": "trixie/sid\n"}, ("debian", "trixie/sid", "debian")),
            (
                'ID="centos"\nVERSION_ID="7"',
                {"redhat-release": "CentOS Linux release 7.9.2009 (Core)\n"},
                ("centos", "7.9.2009", "rhel"),
            ),
            ('ID="rhel"\nVERSION_ID="9.4"', {}, ("redhat", "9.4", "rhel")),
            ('ID="ol"\nVERSION_ID="8.10"', {}, ("oracle", "8.10", "rhel")),
            ('ID="amzn"\nVERSION_ID="2"\nID_LIKE="centos rhel fedora"', {}, ("amazon", "2", "amazon")),
            ('ID="opensuse-leap"\nVERSION_ID="15.6"', {}, ("opensuseleap", "15.6", "suse")),
            ('ID="sles"\nVERSION_ID="15.5"', {}, ("suse", "15.5", "suse")),
            ("ID=arch", {}, ("arch", "6.1-kernel", "arch")),
            ('ID=devuan\nID_LIKE=debian\nVERSION_ID="5"', {}, ("devuan", "5", "debian")),
            ("ID=plan9\nVERSION_ID=4", {}, ("plan9", "4", None)),
        ],
        ids=lambda value: value[0] if isinstance(value, tuple) else "",
    )
    def test_linux_is_told_in_ohais_words(self, tmp_path, release, others, expected):
        (tmp_path / "etc").mkdir()
        for name, text in {"os-release": release, **others}.items():
            (tmp_path / "etc" / name).write_text(text)
        linux = distro.LinuxDistribution(root_dir=str(tmp_path), include_lsb=False, include_uname=False)

        seen = machine.platform_of(linux, "6.1-kernel")

        assert (seen["platform"], seen["platform_version"], seen.get("platform_family")) == expected

    def test_every_family_is_in_a_family(self):
        """A family's own name, asked as a platform, is found where such a platform exists."""
        for name in ("debian", "amazon", "suse", "fedora", "arch", "alpine", "mac_os_x", "windows", "freebsd"):
            assert platforms.family_of(name) == name


def interfaces_of(**addresses: list[str]) -> dict[str, Any]:
    """name=["10.0.0.2/24", ...] as Ohai has interfaces."""
    seen: dict[str, Any] = {}
    for name, texts in addresses.items():
        seen[name] = {"addresses": {}}
        for text in texts:
            ip = ipaddress.ip_interface(text)
            seen[name]["addresses"][str(ip.ip)] = address_entry(ip.ip, str(ip.netmask))
    return seen


class TestAddressOfTheNode:
    @pytest.mark.parametrize(
        ("interfaces", "route", "source", "expected"),
        [
            # no default route: the widest scope, then the longest prefix, then the lowest number
            ({"lo": ["127.0.0.1/8"], "eth0": ["10.0.0.2/24"]}, None, None, ("eth0", "10.0.0.2")),
            ({"eth0": ["10.0.0.2/24"], "vpn": ["10.8.0.6/32"]}, None, None, ("vpn", "10.8.0.6")),
            ({"eth0": ["10.0.0.9/24"], "eth1": ["10.0.0.2/24"]}, None, None, ("eth1", "10.0.0.2")),
            ({"eth0": ["169.254.7.7/16"], "eth1": ["10.0.0.2/8"]}, None, None, ("eth1", "10.0.0.2")),
            ({"lo": ["127.0.0.1/8"]}, None, None, ("lo", "127.0.0.1")),
            ({}, None, None, None),
            # a default route: addresses of its interface only
            ({"eth0": ["10.0.0.2/24"], "vpn": ["10.8.0.6/32"]}, ("eth0", "10.0.0.1"), None, ("eth0", "10.0.0.2")),
            ({"eth0": [], "eth1": ["10.0.0.2/24"]}, ("eth0", "10.0.0.1"), None, None),
            # ... whose network holds the gateway, before a longer prefix
            ({"eth0": ["10.9.0.1/32", "10.0.0.2/24"]}, ("eth0", "10.0.0.1"), None, ("eth0", "10.0.0.2")),
            ({"eth0": ["10.9.0.1/32", "10.0.0.2/24"]}, ("eth0", "0.0.0.0"), None, ("eth0", "10.9.0.1")),
            # ... or that packets leave from
            ({"eth0": ["10.0.0.2/24", "10.0.0.7/24"]}, ("eth0", "10.0.0.1"), "10.0.0.7", ("eth0", "10.0.0.7")),
            ({"eth0": ["10.0.0.2/24"], "vpn": ["10.8.0.6/32"]}, ("eth0", "10.0.0.1"), "10.8.0.6", ("eth0", "10.0.0.2")),
        ],
    )
    def test_the_ipv4_address_of_the_node_is_on_the_interface_of_the_default_route(
        self, interfaces, route, source, expected
    ):
        assert node_address(interfaces_of(**interfaces), "inet", route and Route(*route), source) == expected

    @pytest.mark.parametrize(
        ("addresses", "gateway", "expected"),
        [
            (["fe80::2/64", "2001:db8::2/64"], "fe80::1", "2001:db8::2"),
            (["2001:db8:1::2/128", "2001:db8::2/64"], "2001:db8::1", "2001:db8::2"),
            (["fec0::2/64", "fe80::2/64"], "fe80::1", "fec0::2"),
            (["fe80::2/64"], "fe80::1", "fe80::2"),
        ],
    )
    def test_a_link_local_gateway_does_not_choose_the_ipv6_address(self, addresses, gateway, expected):
        """Every interface could reach a link-local gateway: that alone makes no address the node's."""
        assert node_address(interfaces_of(eth0=addresses), "inet6", Route("eth0", gateway)) == ("eth0", expected)

    def test_a_peer_is_the_gateway_or_is_not(self):
        """Of a point-to-point address the other end counts, and not its prefix."""
        interfaces = interfaces_of(ppp0=["10.0.0.1/32", "10.0.0.2/32"])
        interfaces["ppp0"]["addresses"]["10.0.0.1"]["peer"] = "203.0.113.7"
        interfaces["ppp0"]["addresses"]["10.0.0.2"]["peer"] = "203.0.113.1"

        assert node_address(interfaces, "inet", Route("ppp0", "203.0.113.1")) == ("ppp0", "10.0.0.2")

    @given(
        st.dictionaries(
            st.sampled_from(["lo", "eth0", "eth1"]),
            st.lists(st.sampled_from(["127.0.0.1/8", "10.0.0.2/24", "10.0.0.3/8", "169.254.1.1/16"]), max_size=3),
        ),
        st.none() | st.builds(Route, st.sampled_from(["eth0", "eth1"]), st.sampled_from(["0.0.0.0", "10.0.0.1"])),
        st.none() | st.sampled_from(["10.0.0.2", "10.0.0.3"]),
    )
    def test_the_chosen_one_is_an_address_of_an_interface_that_counts(self, addresses, route, source):
        interfaces = interfaces_of(**addresses)
        found = node_address(interfaces, "inet", route, source)
        counting = {
            (name, address)
            for name, interface in interfaces.items()
            if route is None or name == route.interface
            for address in interface["addresses"]
        }

        assert (found in counting) if counting else (found is None)


def route4(interface: str, destination: str, gateway: str, flags: str = "0003", metric: int = 0, mask: str = "") -> str:
    def hexed(address: str) -> str:
        return f"{struct.unpack('=I', socket.inet_aton(address))[0]:08X}"

    words = [interface, hexed(destination), hexed(gateway), flags, "0", "0", str(metric), hexed(mask or destination)]
    return "\t".join([*words, "0", "0", "0"])


class TestDefaultRoute:
    def test_the_least_metric_wins_and_then_the_first(self):
        lines = [
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
            route4("eth0", "0.0.0.0", "10.0.0.1", metric=200),
            route4("eth1", "0.0.0.0", "10.1.0.1", metric=100),
            route4("eth2", "0.0.0.0", "10.2.0.1", metric=100),
        ]
        assert default_route4(lines, ["eth0", "eth1", "eth2"]) == Route("eth1", "10.1.0.1")

    @pytest.mark.parametrize(
        "line",
        [
            route4("eth0", "10.0.0.0", "0.0.0.0", mask="255.255.255.0"),
            route4("eth0", "0.0.0.0", "10.0.0.1", mask="128.0.0.0"),
            route4("eth0", "0.0.0.0", "10.0.0.1", flags="0202"),
            route4("eth0", "0.0.0.0", "10.0.0.1", flags="0203"),
            route4("gone", "0.0.0.0", "10.0.0.1"),
            "eth0\t00000000",
            "",
            *("eth0 00000000 " + rest for rest in (
                "gateway 0003 0 0 0 00000000", "123456789 0003 0 0 0 00000000", "-1 0003 0 0 0 00000000",
                "0100000A flags 0 0 0 00000000", "0100000A 0003 0 0 metric 00000000",
            )),
        ],
        ids=["to a network", "to half of all", "down", "rejects", "by an unknown interface", "cut off", "empty",
             "a bad gateway", "a long gateway", "a negative gateway", "bad flags", "a bad metric"],
    )  # fmt: skip
    def test_other_routes_are_no_default_route(self, line):
        assert default_route4([line], ["eth0"]) is None

    def test_ipv6_leaves_the_kernels_rejecting_route_alone(self):
        lines = [
            "fd000000000000000000000000000000 40 " + "0" * 32 + " 00 " + "0" * 32 + " 00000100 1 0 00000001     eth0",
            "0" * 32 + " 00 " + "0" * 32 + " 00 " + "0" * 32 + " ffffffff 00000001 00000000 00200200       lo",
            "0" * 32 + " 00 " + "0" * 32 + " 00 fd" + "0" * 29 + "1 00000400 00000002 00000000 00000003     eth0",
        ]
        assert default_route6(lines, ["lo", "eth0"]) == Route("eth0", "fd00::1")
        assert default_route6(lines[:2], ["lo", "eth0"]) is None
        for gateway in ("gateway", "-1", "1" + "0" * 32):
            assert default_route6([lines[2].replace("fd" + "0" * 29 + "1", gateway)], ["eth0"]) is None
        assert default_route6([lines[2].replace(" 00 ", " 01 ", 1)], ["lo", "eth0"]) is None, "to half of all"


def route_out(monkeypatch, address_towards) -> None:
    """From which address the kernel would send to an address outside."""
    monkeypatch.setattr(machine, "_source_towards", address_towards)


def stated(family: int, address: str, netmask: str | None = None) -> SimpleNamespace:
    """An address as psutil tells it."""
    return SimpleNamespace(family=family, address=address, netmask=netmask, broadcast=None, ptp=None)


class TestInterfaces:
    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("eth0", ("eth", "0")),
            ("enp0s3", ("enp", "0s3")),
            ("eth0.11", ("eth", "0.11")),
            ("wlan0:1", ("wlan", "0:1")),
            ("br-1f2e", None),
            ("lo", None),
        ],
    )
    def test_a_name_says_type_and_number(self, name, said):
        assert interface_parts(name) == ({} if said is None else {"type": said[0], "number": said[1]})

    def test_a_tunnels_end_point_is_no_hardware_address(self, monkeypatch):
        addresses = {
            "sit0": [stated(psutil.AF_LINK, "00:00:00:00")],
            "lo": [stated(psutil.AF_LINK, "00:00:00:00:00:00")],
            "eth0": [stated(psutil.AF_LINK, "02-fc-00-00-00-0a")],
            "tun0": [stated(psutil.AF_LINK, "")],
        }
        monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
        monkeypatch.setattr(psutil, "net_if_stats", dict)
        seen = machine.network({})["network"]["interfaces"]

        assert {name: interface.get("addresses") for name, interface in seen.items()} == {
            "sit0": None,
            "lo": None,
            "eth0": {"02:FC:00:00:00:0A": {"family": "lladdr"}},
            "tun0": None,
        }

    def test_the_node_takes_addresses_and_hardware_address_from_one_interface(self, monkeypatch):
        mask6 = "ffff:ffff:ffff:ffff::"
        addresses = {
            "aa0": [stated(psutil.AF_LINK, "02:00:00:00:00:aa")],
            "bb0": [
                stated(socket.AF_INET6, "fe80::1%bb0", mask6),
                stated(socket.AF_INET, "10.0.0.2", "255.255.255.0"),
                stated(psutil.AF_LINK, "02:00:00:00:00:bb"),
            ],
        }
        monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
        monkeypatch.setattr(psutil, "net_if_stats", dict)
        route_out(monkeypatch, lambda outside: None)
        seen = machine.network({})

        assert (seen["ipaddress"], seen["ip6address"]) == ("10.0.0.2", "fe80::1")
        assert seen["macaddress"] == "02:00:00:00:00:BB"
        assert list(seen["network"]["interfaces"]["bb0"]["addresses"].values()) == [
            {"family": "lladdr"},
            {"family": "inet", "prefixlen": "24", "netmask": "255.255.255.0", "scope": "Global"},
            {"family": "inet6", "prefixlen": "64", "scope": "Link"},
        ]

    @pytest.fixture
    def machine_with_vpn(self, monkeypatch, tmp_path) -> pathlib.Path:
        """A machine of two interfaces, whose routes are in the file that is returned."""
        addresses = {
            "eth0": [stated(socket.AF_INET, "10.0.0.2", "255.255.255.0")],
            "vpn0": [stated(socket.AF_INET, "10.8.0.6", "255.255.255.255")],
        }
        monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
        monkeypatch.setattr(psutil, "net_if_stats", dict)
        monkeypatch.setattr(machine, "ROUTES4", tmp_path / "route")
        monkeypatch.setattr(machine, "ROUTES6", tmp_path / "ipv6_route")
        return tmp_path / "route"

    def test_the_default_route_decides_and_is_told(self, monkeypatch, machine_with_vpn):
        machine_with_vpn.write_text(route4("eth0", "0.0.0.0", "10.0.0.1"))
        route_out(monkeypatch, lambda outside: "10.8.0.6")
        seen = machine.network({})

        assert seen["ipaddress"] == "10.0.0.2"
        assert seen["network"]["default_interface"] == "eth0"
        assert seen["network"]["default_gateway"] == "10.0.0.1"
        assert "default_inet6_interface" not in seen["network"]

    def test_no_default_route_among_the_routes_leaves_it_to_ohais_order(self, monkeypatch, machine_with_vpn):
        machine_with_vpn.write_text(route4("eth0", "10.0.0.0", "0.0.0.0", mask="255.255.255.0"))
        route_out(monkeypatch, lambda outside: "10.0.0.2")
        seen = machine.network({})

        assert seen["ipaddress"] == "10.8.0.6"
        assert "default_interface" not in seen["network"]

    def test_without_routes_to_read_the_kernel_is_asked(self, monkeypatch, machine_with_vpn):
        """Elsewhere than on Linux a VPN's longer prefix must not make its address the node's."""
        route_out(monkeypatch, {"203.0.113.1": "10.0.0.2"}.get)

        assert machine.network({})["ipaddress"] == "10.0.0.2"


class TestFactFunctions:
    def test_maps_meet_and_anything_else_replaces(self):
        facts = gather({"vpn": lambda known: {"network": {"vpn": ["a"]}, "platform": "platform @vpn"}}).tree

        assert facts["network"]["vpn"] == ["a"]
        assert facts["network"]["interfaces"], "what was there stays"
        assert facts["platform"] == "platform @vpn"

    def test_each_place_names_the_function_that_spoke_last(self):
        locator = gather(
            {
                "one": lambda known: {"network": {"vpn": {"a": 1, "b": 1}}, "rack": {"row": 1}},
                "two": lambda known: {"network": {"vpn": {"b": 2}}, "rack": "r2"},
                "three": lambda known: {"rack": {"row": 3}},
            }
        ).locator

        said = {text: locator.at(parse(text)).name for text in ("network.vpn.a", "network.vpn.b", "rack.row", "rack")}
        assert said == {"network.vpn.a": "one", "network.vpn.b": "two", "rack.row": "three", "rack": "three"}
        assert locator.at(("network", "interfaces", "lo")).name == "this machine"
        assert locator.at(("network",)).name == "this machine"

    def test_a_later_function_sees_the_facts_of_an_earlier_one(self):
        facts = gather({"one": lambda known: {"rack": "r1"}, "two": lambda known: {"seen": known["rack"]}}).tree

        assert facts["seen"] == "r1"

    def test_a_function_cannot_change_what_others_said(self):
        kept: list[dict[str, Any]] = []

        def rude(known: dict[str, Any]) -> dict[str, Any]:
            known["network"].clear()
            kept.append({"rude": {"list": [1]}})
            return kept[0]

        facts = gather({"rude": rude}).tree
        kept[0]["rude"]["list"].append(2)

        assert facts["network"]["interfaces"]
        assert facts["rude"] == {"list": [1]}

    @pytest.mark.parametrize(
        ("function", "sentence"),
        [
            (lambda known: {"a": known["nothing"]}, "KeyError: 'nothing'"),
            (lambda known: None, "BadValue: facts are a map, not NoneType"),
            (lambda known: {"broken": {"a": 1, "b": object()}}, "BadValue"),
            (lambda known: {("broken",): 1}, "BadKey"),
        ],
        ids=["raises", "says nothing", "says what no tree can hold", "has an odd key"],
    )
    def test_one_that_fails_is_named_and_the_others_go_on(self, function, sentence):
        facts = gather({"bad": function, "good": lambda known: {"good": 1}})

        (warning,) = facts.warnings
        assert warning.message == "fact function bad failed"
        assert sentence in str(warning)
        assert isinstance(warning.__cause__, Exception)
        assert facts.tree["good"] == 1
        assert "broken" not in facts.tree

    def test_tuples_and_mappings_become_lists_and_maps(self):
        facts = gather({"one": lambda known: {"one": ({"a": (1, 2)},)}}).tree

        assert facts["one"] == [{"a": [1, 2]}]

    def test_installed_packages_offer_theirs_by_name(self, monkeypatch):
        points = [
            importlib.metadata.EntryPoint("absent", "no_such_module_here:facts", ENTRY_POINTS),
            importlib.metadata.EntryPoint("copy", "builtins:dict", ENTRY_POINTS),
            importlib.metadata.EntryPoint("zone", "platform:system", ENTRY_POINTS),
        ]
        monkeypatch.setattr("nodeattrs.packages.entry_points", lambda group: points if group == ENTRY_POINTS else [])
        facts = gather()

        assert [warning.message for warning in facts.warnings] == [
            "fact function absent (no_such_module_here:facts) cannot be imported",
            "fact function zone failed",
        ]
        assert facts.locator.at(("platform",)).name == "copy"

    @pytest.mark.parametrize("library", ["psutil", "distro"])
    def test_without_the_extra_the_error_names_it(self, monkeypatch, library):
        really = builtins.__import__

        def importing(name: str, *more: Any) -> Any:
            if name == library:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return really(name, *more)

        for module in [name for name in sys.modules if name.startswith("nodeattrs.dialects.chef.facts.")]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr("nodeattrs.dialects.chef.facts.machine", raising=False)
        monkeypatch.setattr(builtins, "__import__", importing)

        with pytest.raises(MissingExtra, match=rf"needs {library}.*\n.*nodeattrs\[facts\]"):
            gather({})

    def test_reading_a_file_needs_no_extra(self):
        """Neither psutil nor distro is imported for it."""
        script = (
            "import sys; from nodeattrs.dialects.chef.facts import load_facts, facter;"
            "assert not {'psutil', 'distro'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", script], check=True, cwd=pathlib.Path(__file__).parent.parent)


FACTER = """\
{
  "facterversion": "4.3.0",
  "is_virtual": true,
  "kernel": "Linux",
  "kernelrelease": "5.10.0-30-amd64",
  "memory": {
    "swap": {
      "total": "1.00 GiB",
      "total_bytes": 1073741824,
      "available_bytes": 1073740800
    },
    "system": {
      "available_bytes": 2147483648,
      "total": "4.00 GiB",
      "total_bytes": 4294967296
    }
  },
  "mountpoints": {
    "/": {
      "available_bytes": 3072,
      "capacity": "70.01%",
      "device": "/dev/sda1",
      "filesystem": "ext4",
      "options": ["rw", "relatime"],
      "size_bytes": 10240,
      "used_bytes": 7168
    },
    "/srv": {
      "device": "/dev/sda1",
      "filesystem": "ext4"
    }
  },
  "networking": {
    "domain": "example.com",
    "fqdn": "web01.example.com",
    "hostname": "web01",
    "interfaces": {
      "eth0": {
        "bindings": [
          {
            "address": "10.0.0.2",
            "netmask": "255.255.255.0",
            "network": "10.0.0.0"
          },
          {
            "address": "10.0.0.3",
            "netmask": "255.255.0.0"
          }
        ],
        "bindings6": [
          {
            "address": "fe80::2",
            "netmask": "ffff:ffff:ffff:ffff::",
            "scope6": "link"
          }
        ],
        "ip": "10.0.0.2",
        "mac": "02:fc:00:00:00:0a",
        "mtu": 1500
      },
      "lo": {
        "ip": "127.0.0.1",
        "netmask": "255.0.0.0"
      },
      "old": null
    },
    "ip": "10.0.0.2",
    "ip6": "fe80::2",
    "mac": "02:fc:00:00:00:0a",
    "primary": "eth0"
  },
  "os": {
    "distro": {
      "codename": "bookworm"
    },
    "family": "RedHat",
    "hardware": "x86_64",
    "name": "Rocky",
    "release": {
      "full": "9.4",
      "major": "9"
    }
  },
  "processors": {
    "cores": 4,
    "count": 16,
    "models": [
      "model of 0",
      "model of 1"
    ],
    "physicalcount": 2
  },
  "site_rack": "r7"
}
"""


@pytest.fixture
def facter(tmp_path) -> pathlib.Path:
    path = tmp_path / "web01.json"
    path.write_text(FACTER)
    return path


class TestFacterFile:
    @pytest.mark.parametrize(
        ("path", "value", "line"),
        [
            # by Ohai's name, what it is, and what the line says on which Facter wrote it
            ("platform", "rocky", '"name": "Rocky"'),
            ("platform_version", "9.4", '"full": "9.4"'),
            ("platform_family", "rhel", '"family": "RedHat"'),
            ("hostname", "web01", '"hostname": "web01"'),
            ("fqdn", "web01.example.com", '"fqdn"'),
            ("domain", "example.com", '"domain"'),
            ("ipaddress", "10.0.0.2", '"ip": "10.0.0.2"'),
            ("ip6address", "fe80::2", '"ip6"'),
            ("macaddress", "02:FC:00:00:00:0A", '"mac"'),
            ("kernel.name", "Linux", '"kernel": "Linux"'),
            ("kernel.os", "GNU/Linux", '"kernel": "Linux"'),
            ("kernel.release", "5.10.0-30-amd64", '"kernelrelease"'),
            ("kernel.machine", "x86_64", '"hardware"'),
            ("cpu.total", 16, '"count": 16'),
            ("cpu.real", 2, '"physicalcount": 2'),
            ("cpu.cores", 8, '"cores": 4'),
            ('cpu."1".model_name', "model of 1", '"model of 1"'),
            ("memory.total", "4194304kB", '"total_bytes": 4294967296'),
            ("memory.available", "2097152kB", '"available_bytes": 2147483648'),
            ("memory.swap.total", "1048576kB", '"total_bytes": 1073741824'),
            ("memory.swap.free", "1048575kB", '"available_bytes": 1073740800'),
            ("memory.system.total", "4.00 GiB", '"total": "4.00 GiB"'),
            ('filesystem.by_mountpoint."/".kb_size', "10", '"size_bytes": 10240'),
            ('filesystem.by_pair."/dev/sda1,/".percent_used', "71%", '"capacity"'),
            ('filesystem.by_pair."/dev/sda1,/".device', "/dev/sda1", '"device"'),
            ('filesystem.by_mountpoint."/".mount_options.1', "relatime", '"options"'),
            ('filesystem.by_mountpoint."/".devices', ["/dev/sda1"], '"device"'),
            ('filesystem.by_device."/dev/sda1".mounts.0', "/", '"/": {'),
            ('filesystem.by_device."/dev/sda1".mounts.1', "/srv", '"/srv": {'),
            ("network.default_interface", "eth0", '"primary"'),
            ("network.interfaces.eth0.type", "eth", '"eth0": {'),
            ("network.interfaces.eth0.mtu", "1500", '"mtu": 1500'),
            ('network.interfaces.eth0.addresses."10.0.0.3".family', "inet", '"address": "10.0.0.3"'),
            ('network.interfaces.eth0.addresses."10.0.0.3".prefixlen', "16", '"netmask": "255.255.0.0"'),
            ('network.interfaces.eth0.addresses."10.0.0.3".netmask', "255.255.0.0", '"netmask": "255.255.0.0"'),
            ('network.interfaces.eth0.addresses."10.0.0.2".scope', "Global", '"address": "10.0.0.2"'),
            ('network.interfaces.eth0.addresses."fe80::2".scope', "Link", '"scope6": "link"'),
            ('network.interfaces.eth0.addresses."02:FC:00:00:00:0A".family', "lladdr", '"mac"'),
            ('network.interfaces.lo.addresses."127.0.0.1".prefixlen', "8", '"netmask": "255.0.0.0"'),
            # and by its own
            ("os.distro.codename", "bookworm", '"codename"'),
            ("networking.interfaces.eth0.mtu", 1500, '"mtu": 1500'),
            ("site_rack", "r7", '"site_rack"'),
            ("is_virtual", True, '"is_virtual"'),
        ],
    )
    def test_it_is_said_by_ohais_names_and_from_its_true_line(self, facter, path, value, line):
        facts = load_facts(facter, "facts/web01.json")
        origin = facts.locator.at(parse(path))

        assert dig(facts.tree, parse(path)) == value
        assert line in lines_in(facter)[origin.line - 1]
        assert (origin.kind, origin.name, origin.file) == ("facts", "web01.json", "facts/web01.json")

    def test_an_interface_that_says_nothing_is_not_invented(self, facter):
        facts = load_facts(facter).tree

        assert "old" not in facts["network"]["interfaces"]
        assert facts["networking"]["interfaces"]["old"] is None

    def test_every_line_that_matters_is_the_one_to_edit(self, facter):
        """Another value on the line that the locator names is another value of that fact."""
        before = load_facts(facter)
        line = before.locator.at(("platform_version",)).line
        text = lines_in(facter)
        text[line - 1] = text[line - 1].replace("9.4", "9.5")
        facter.write_text("\n".join(text))

        assert load_facts(facter).tree["platform_version"] == "9.5"

    @pytest.mark.parametrize(
        ("written", "instead", "path"),
        [
            ('"total_bytes": 4294967296', '"total_bytes": "much"', "memory.system.total_bytes"),
            ('"capacity": "70.01%"', '"capacity": [70]', "mountpoints./.capacity"),
            ('"address": "10.0.0.3"', '"address": "ten"', "address"),
            ('"netmask": "255.255.0.0"', '"netmask": "wide"', "netmask"),
            ('"device": "/dev/sda1"', '"device": ["/dev/sda1"]', "device"),
            ('"name": "Rocky"', '"name": 7', "os.name"),
            ('"count": 16', '"count": {}', "processors.count"),
            ('"kernel": "Linux"', '"kernel": {"name": "Linux"}', "kernel"),
        ],
        ids=lambda text: text.split('"')[1] if ":" in text else "",
    )
    def test_what_facter_does_not_write_is_an_error_at_its_line(self, facter, written, instead, path):
        text = FACTER.replace(written, instead, 1)
        facter.write_text(text)

        with pytest.raises(DocumentError, match=re.escape(path)) as caught:
            load_facts(facter, "web01.json")

        assert caught.value.file == "web01.json"
        assert instead in text.splitlines()[caught.value.line - 1]
        assert "facter --json" in caught.value.hint

    @pytest.mark.parametrize(
        ("name", "family", "expected"),
        [
            ("Debian", "Debian", ("debian", "debian")),
            ("Ubuntu", "Debian", ("ubuntu", "debian")),
            ("OracleLinux", "RedHat", ("oracle", "rhel")),
            ("Fedora", "RedHat", ("fedora", "fedora")),
            ("Amazon", "RedHat", ("amazon", "amazon")),
            ("SLES", "Suse", ("suse", "suse")),
            ("Archlinux", "Archlinux", ("arch", "arch")),
            ("Newcomer", "RedHat", ("newcomer", "rhel")),
            ("Darwin", "Darwin", ("mac_os_x", "mac_os_x")),
            ("Plan9", "Plan9", ("plan9", "plan9")),
        ],
    )
    def test_platforms_have_ohais_names(self, tmp_path, name, family, expected):
        path = tmp_path / "facts.json"
        path.write_text(json.dumps({"os": {"name": name, "family": family}}))
        facts = load_facts(path).tree

        assert (facts["platform"], facts["platform_family"]) == expected

    def test_a_mac_has_the_version_of_macos_and_not_of_its_kernel(self, tmp_path):
        path = tmp_path / "facts.json"
        release = {"release": {"full": "23.1.0"}, "macosx": {"version": {"full": "14.1"}}}
        path.write_text(json.dumps({"os": {"name": "Darwin", "family": "Darwin", **release}}))

        assert load_facts(path).tree["platform_version"] == "14.1"

    def test_facts_of_ones_own_by_an_ohai_name_are_kept_beside(self, tmp_path):
        path = tmp_path / "facts.json"
        path.write_text(json.dumps({"processors": {"count": 2}, "cpu": {"mine": 1}}))

        assert load_facts(path).tree["cpu"] == {"mine": 1, "total": 2}
        assert json.loads(path.read_text())["cpu"] == {"mine": 1}

    def test_many_interfaces_are_looked_at_once_each(self, tmp_path, monkeypatch):
        """Ten times the interfaces are ten times the looks."""
        looks = [0]

        def looking(tree: Any, path: Any) -> Any:
            looks[0] += 1
            return dig(tree, path)

        monkeypatch.setattr(facter_module, "dig", looking)

        def looks_for(count: int) -> int:
            binding = {"address": "10.0.0.2", "netmask": "255.255.255.0"}
            interfaces = {f"eth{number}": {"mtu": 1500, "bindings": [binding]} for number in range(count)}
            path = tmp_path / f"{count}.json"
            path.write_text(json.dumps({"networking": {"interfaces": interfaces}}))
            looks[0] = 0
            facts = load_facts(path)
            assert len(facts.tree["network"]["interfaces"]) == count
            return looks[0]

        one, ten, hundred = looks_for(1), looks_for(10), looks_for(100)
        assert hundred - ten == 10 * (ten - one)


class TestOhaiFile:
    def write(self, tmp_path: pathlib.Path, tree: Any) -> pathlib.Path:
        path = tmp_path / "ohai.json"
        path.write_text(json.dumps(tree, indent=1))
        return path

    def test_an_ohai_file_is_taken_as_it_is(self, tmp_path):
        tree = {"platform": "ubuntu", "os": "linux", "network": {"interfaces": {"lo": {"mtu": "65536"}}}}

        assert load_facts(self.write(tmp_path, tree)).tree == tree

    def test_facts_of_an_ohai_file_are_not_copied(self, tmp_path, monkeypatch):
        """Whoever takes the facts over copies them; twice would be once too often."""
        document = documents.parse('{"platform": "ubuntu", "network": {}}', "ohai.json", "json")
        monkeypatch.setattr(documents, "read", lambda path, file, **how: document)

        assert load_facts(tmp_path).tree is document.tree

    def test_each_fact_has_its_line(self, tmp_path):
        path = self.write(tmp_path, {"platform": "ubuntu", "kernel": {"name": "Linux", "release": "5.11"}})
        origin = load_facts(path, "ohai.json").locator.at(("kernel", "release"))

        assert str(origin) == "ohai.json:5 (facts ohai.json)"

    def test_ohais_words_for_an_os_and_a_network_do_not_look_like_facters(self, tmp_path):
        tree = {"platform": "ubuntu", "os": {"family": "Debian"}, "networking": {"hostname": "a"}}

        assert load_facts(self.write(tmp_path, tree)).tree == tree

    @pytest.mark.parametrize("tree", [[], "facts", 7, None])
    def test_a_document_that_is_no_map_is_refused(self, tmp_path, tree):
        with pytest.raises(DocumentError, match="facts are a map of names"):
            load_facts(self.write(tmp_path, tree))

    def test_a_missing_file_is_an_error_with_its_name(self, tmp_path):
        with pytest.raises(DocumentError, match=r"gone\.json"):
            load_facts(tmp_path / "gone.json", "gone.json")


leaves = st.sampled_from(["a", 1, None, True])
words = st.dictionaries(st.sampled_from("kl"), leaves | st.dictionaries(st.sampled_from("mn"), leaves, max_size=2))


@given(words, words)
def test_what_a_function_says_is_read_back_and_is_its_own(one, two):
    """The last to speak of a place is stated there, and named."""
    facts = _gathered_from(one, two)

    for path, value in _leaves_of(two):
        assert dig(facts.tree, path) == value
        assert facts.locator.at(path).name == "two"
    for path, value in _leaves_of(one):
        if all(dig(two, path[:length]) is ABSENT for length in range(1, len(path) + 1)) or (
            len(path) == 2 and isinstance(two.get(path[0]), dict) and path[1] not in two[path[0]]
        ):
            assert dig(facts.tree, path) == value
            assert facts.locator.at(path).name == "one"


def _gathered_from(one: dict[str, Any], two: dict[str, Any]) -> Any:
    patch = pytest.MonkeyPatch()
    with patch.context() as inside:
        inside.setattr(machine, "FUNCTIONS", {})
        return gather({"one": lambda known: one, "two": lambda known: two}, now=0.0)


def _leaves_of(tree: dict[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            found += [((key, *path), leaf) for path, leaf in _leaves_of(value)]
        else:
            found.append(((key,), value))
    return found


def test_facts_and_attributes_may_come_through_a_pipe(tmp_path, capsys, monkeypatch):
    """`--facts <(ohai)`, `-j /dev/stdin`: the command line names them, and their content says what they are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "web1.json").write_text('{"name": "web1", "run_list": []}')

    def piped(text: str) -> str:
        reads, writes = os.pipe()
        os.write(writes, text.encode())
        os.close(writes)
        return f"/dev/fd/{reads}"

    assert main(["facts", "--facts", piped('{"platform": "debian", "a": {"b": 1}}'), "a.b"]) == 0
    assert "1" in capsys.readouterr().out
    given = ["--facts", piped("platform: debian\nplatform_version: '12'\n"), "-j", piped('{"k": "from a pipe"}')]
    assert main(["explain", "web1", "k", "--repo", ".", *given]) == 0
    assert "from a pipe" in capsys.readouterr().out

"""Addresses of interfaces and default routes in Ohai's form, and the choice of the node's own address.

`node_address` chooses `ipaddress` and `ip6address` by Ohai's rule. The caller gives the data: no function here asks the
machine or reads a file.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import sys
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_SCOPES = ("global", "site", "link", "host", "node")
_ROUTE_UP, _ROUTE_REJECTS = 0x1, 0x200


def interface_parts(name: str) -> dict[str, str]:
    """The type and number in the name of an interface; {} for a name without a number.

    >>> interface_parts("enp0s3"), interface_parts("lo")
    ({'type': 'enp', 'number': '0s3'}, {})
    """
    found = re.match(r"(\w+?)(\d.*)", name)
    return {"type": found[1], "number": found[2]} if found else {}


def address_entry(
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address, netmask: str | None, scope: str | None = None
) -> dict[str, Any]:
    """The entry of an address in Ohai's form: family and scope, with a netmask also prefixlen, for IPv4 also netmask.

    netmask: as an address, also for IPv6; None or "" for none
    scope:  "host", "link", "site" or "global"; None: computed from the address
    raises: ValueError, for a bad netmask

    >>> address_entry(ipaddress.ip_address("10.0.0.2"), "255.255.255.0")
    {'family': 'inet', 'prefixlen': '24', 'netmask': '255.255.255.0', 'scope': 'Global'}
    """
    entry = {"family": "inet" if ip.version == 4 else "inet6"}
    if netmask:
        bits = int(ipaddress.ip_address(netmask)).bit_count()
        entry["prefixlen"] = str(bits)
        if ip.version == 4:
            entry["netmask"] = netmask
    if scope is None:
        scope = "host" if ip.is_loopback else "link" if ip.is_link_local else "global"
        if isinstance(ip, ipaddress.IPv6Address) and ip.is_site_local:
            scope = "site"
    entry["scope"] = "Node" if scope == "host" else scope.capitalize()
    return entry


@dataclass(frozen=True, slots=True)
class Route:
    """A default route: its interface, and its gateway; 0.0.0.0 or :: for a route without a gateway."""

    interface: str
    gateway: str


def default_route4(lines: Iterable[str], known: Container[str]) -> Route | None:
    """The default route of IPv4 with the lowest metric; None for no route.

    Routes that are down or reject, routes of an interface that is not in *known*, and malformed lines are ignored.
    lines: of /proc/net/route
    known: the names of interfaces

    >>> head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"
    >>> default_route4([head, "eth0 00000000 00000000 0001 0 0 7 00000000 0 0 0"], ["eth0"])
    Route(interface='eth0', gateway='0.0.0.0')
    """
    found = []
    for line in lines:
        words = line.split()
        if len(words) < 8 or words[0] not in known or words[1] != "00000000" or words[7] != "00000000":
            continue
        with contextlib.suppress(ValueError, OverflowError):
            if _usable(words[3]):
                # The file has the address in the byte order of the machine.
                gateway = ".".join(map(str, int(words[2], 16).to_bytes(4, sys.byteorder)))
                found.append((int(words[6]), Route(words[0], gateway)))
    return min(found, key=lambda one: one[0])[1] if found else None


def default_route6(lines: Iterable[str], known: Container[str]) -> Route | None:
    """The default route of IPv6 with the lowest metric; None for no route.

    Routes that are down or reject, routes of an interface that is not in *known*, and malformed lines are ignored.
    lines: of /proc/net/ipv6_route
    known: the names of interfaces

    >>> default_route6([f"{0:032x} 00 {0:032x} 00 {0xfe80 << 112 | 1:032x} 00000400 1 0 00000003 eth0"], ["eth0"])
    Route(interface='eth0', gateway='fe80::1')
    """
    found = []
    for line in lines:
        words = line.split()
        if len(words) < 10 or words[9] not in known or words[0].strip("0") or words[1] != "00":
            continue
        with contextlib.suppress(ValueError):
            if _usable(words[8]):
                gateway = str(ipaddress.IPv6Address(int(words[4], 16)))
                found.append((int(words[5], 16), Route(words[9], gateway)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _usable(flags: str) -> bool:
    return int(flags, 16) & (_ROUTE_UP | _ROUTE_REJECTS) == _ROUTE_UP


def node_address(
    interfaces: Mapping[str, Any], family: str, route: Route | None, source: str | None = None
) -> tuple[str, str] | None:
    """Returns (interface, address) that Ohai would choose for the node; None if there is no address.

    With a default route, only addresses of its interface count. The first choice is *source*, then an address whose
    network contains the gateway, then any other. Among several: the wider scope, longer prefix, lower number.

    family: "inet" or "inet6"
    source: the source address of packets that the kernel sends; None if it is not known

    >>> addresses = {"10.0.0.2": address_entry(ipaddress.ip_address("10.0.0.2"), "255.255.255.0")}
    >>> node_address({"eth0": {"addresses": addresses}}, "inet", Route("eth0", "10.0.0.1"))
    ('eth0', '10.0.0.2')
    """
    known = [
        _Candidate(name, address, interface["addresses"][address])
        for name, interface in interfaces.items()
        if route is None or name == route.interface
        for address in addresses_of_family(interface, family)
    ]
    known.sort(key=lambda one: one.rank)
    leaving = [one for one in known if one.address == source]
    near = [one for one in known if route is not None and one.reaches(route.gateway)]
    for one in (*leaving, *near, *known):
        return one.interface, one.address
    return None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An address that may be chosen for the node. entry: as from `address_entry`"""

    interface: str
    address: str
    entry: Mapping[str, Any]

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        prefixlen = self.entry.get("prefixlen")
        return ipaddress.ip_network(f"{self.address}/{prefixlen}" if prefixlen else self.address, strict=False)

    @property
    def rank(self) -> tuple[int, int, int]:
        scope = self.entry["scope"].lower()
        wide = _SCOPES.index(scope) if scope in _SCOPES else len(_SCOPES)
        return wide, -self.network.prefixlen, int(ipaddress.ip_address(self.address))

    def reaches(self, gateway: str) -> bool:
        if gateway in ("0.0.0.0", "::") or gateway.startswith("fe80:"):
            return False  # the network of every interface has such an address
        if "peer" in self.entry:
            return bool(self.entry["peer"] == gateway)
        return ipaddress.ip_address(gateway) in self.network


def addresses_of_family(interface: Mapping[str, Any], family: str) -> list[str]:
    """The addresses of an interface of one family ("inet", "inet6", "lladdr"), in order; [] for none."""
    return [address for address, entry in interface.get("addresses", {}).items() if entry["family"] == family]

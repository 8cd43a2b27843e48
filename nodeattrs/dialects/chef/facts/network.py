"""Facts of this machine's network: the interfaces, the default routes, the node's own addresses.

The functions ask psutil, and on Linux files of the kernel. The functions start no program and send nothing. Importing
this module needs the extra `facts`.
"""

from __future__ import annotations

import ipaddress
import pathlib
import socket
from collections.abc import Iterable, Mapping
from typing import Any

import psutil

from nodeattrs.dialects.chef.facts.addresses import (
    address_entry,
    addresses_of_family,
    default_route4,
    default_route6,
    interface_parts,
    node_address,
)

_FAMILIES = (  # and an address outside that belongs to no machine
    ("inet", "default", "ipaddress", "203.0.113.1"),
    ("inet6", "default_inet6", "ip6address", "2001:db8::1"),
)
ROUTES4, ROUTES6 = pathlib.Path("/proc/net/route"), pathlib.Path("/proc/net/ipv6_route")
_SYS = pathlib.Path("/sys/class/net")
_ENCAPSULATIONS = {"1": "Ethernet", "32": "infiniband", "512": "PPP", "772": "Loopback"}
_FLAG_ORDER = (  # as `ip` prints them, so that the list compares with Ohai's
    *("LOOPBACK", "BROADCAST", "MULTICAST", "NOARP", "ALLMULTI", "PROMISC", "MASTER", "SLAVE"),
    *("DEBUG", "DYNAMIC", "NOTRAILERS", "UP", "LOWER_UP"),
)


def network(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `network` (interfaces, default routes), and `ipaddress`, `ip6address` and `macaddress` if they are
    known.

    facts: not used
    """
    interfaces = _interfaces()
    tree: dict[str, Any] = {"interfaces": interfaces}
    top: dict[str, Any] = {"network": tree}
    routes = {
        "inet": default_route4(_lines(ROUTES4), interfaces),
        "inet6": default_route6(_lines(ROUTES6), interfaces),
    }
    for family, prefix, name, outside in _FAMILIES:
        route = routes[family]
        if route:
            tree |= {f"{prefix}_interface": route.interface, f"{prefix}_gateway": route.gateway}
        # The kernel's answer follows every table and, for IPv6, prefers addresses that change each day. So it is
        # asked only which of an interface's IPv4 addresses it is, and where there are no routes to read.
        asked = (family == "inet" and route is not None) or not ROUTES4.exists()
        if found := node_address(interfaces, family, route, _source_towards(outside) if asked else None):
            interface, top[name] = found
            if "macaddress" not in top and (mac := addresses_of_family(interfaces[interface], "lladdr")):
                top["macaddress"] = mac[0]
    return top


def _lines(path: pathlib.Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _interfaces() -> dict[str, Any]:
    addresses, stats = psutil.net_if_addrs(), psutil.net_if_stats()
    known = [name for _, name in socket.if_nameindex()]
    names = dict.fromkeys([*(name for name in known if name in addresses or name in stats), *addresses, *stats])
    return {name: _interface(name, addresses.get(name, []), stats.get(name)) for name in names}


def _interface(name: str, addresses: Iterable[Any], stats: Any) -> dict[str, Any]:
    tree: dict[str, Any] = interface_parts(name)
    carried = _sys(name, "carrier") == "1"
    if stats is not None:
        flags = [flag.upper() for flag in getattr(stats, "flags", "").split(",") if flag]
        if (_SYS / name).is_dir():  # Linux: `ip` shows the carrier where the ioctl shows "running"
            flags = [flag for flag in _FLAG_ORDER if flag in flags or (flag == "LOWER_UP" and carried)]
        tree |= {"mtu": str(stats.mtu), "flags": flags}
    if encapsulation := _ENCAPSULATIONS.get(_sys(name, "type")):
        tree["encapsulation"] = encapsulation
    if state := _sys(name, "operstate"):
        tree["state"] = state
    entries = [found for address in addresses if (found := _address(address))]
    entries.sort(key=lambda entry: ("lladdr", "inet", "inet6").index(entry[1]["family"]))
    if entries:
        tree["addresses"] = dict(entries)
    return tree


def _sys(name: str, what: str) -> str:
    try:
        return (_SYS / name / what).read_text(encoding="ascii").strip()
    except (OSError, ValueError):  # not Linux; or an interface that is down, which has no carrier to show
        return ""


def _address(address: Any) -> tuple[str, dict[str, Any]] | None:
    """An address of psutil's, as Ohai has it."""
    if address.family == psutil.AF_LINK:
        mac = address.address.upper().replace("-", ":")
        # Tunnels show their end points where others have a hardware address: not 6 or 20 octets.
        return (mac, {"family": "lladdr"}) if mac.count(":") in (5, 19) and mac.strip("0:") else None
    if address.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    ip = ipaddress.ip_address(address.address.partition("%")[0])
    entry = address_entry(ip, address.netmask)
    if ip.version == 4 and address.broadcast:
        entry["broadcast"] = address.broadcast
    if address.ptp and address.ptp != address.address:
        entry["peer"] = address.ptp
    return str(ip), entry


def _source_towards(outside: str) -> str | None:
    """The address from which the kernel would reach *outside*. Nothing is sent."""
    family = socket.AF_INET6 if ":" in outside else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((outside, 9))
            return str(asked.getsockname()[0])
    except OSError:
        return None

"""Facts of this machine: platform, names, kernel, processors, memory, mounts, network.

Each function of `FUNCTIONS` takes the facts so far, and returns more facts, with Ohai's names and in Ohai's form: many
numbers are text. The functions ask psutil, distro and files of the system. They start no program and send nothing.
Importing this module needs the extra `facts`.
"""

from __future__ import annotations

import ipaddress
import os
import pathlib
import platform as python_platform
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import distro
import psutil

from nodeattrs.dialects.chef.facts import platforms
from nodeattrs.dialects.chef.facts.addresses import (
    address_entry,
    addresses_of_family,
    default_route4,
    default_route6,
    interface_parts,
    node_address,
)

_FAMILIES = (  # family, prefix of facts, name of a fact, an address outside that no machine has
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


def _text(path: str | pathlib.Path) -> str:
    """The text of a file; "" if it cannot be read, or does not exist on this system."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def kernel(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts `kernel` (name, release, version, machine, os, and on Linux modules), `os` and `os_version`.

    `os` is the kernel's name in lower case, such as "linux", and `os_version` is its release. `modules` is missing if
    /proc/modules is not there or has no module.
    facts: not used
    """
    # No `processor`: only a program knows it, and it mostly prints "unknown".
    seen = python_platform.uname()
    name = seen.system
    tree: dict[str, Any] = {
        "name": name,
        "release": seen.release,
        "version": seen.version,
        "machine": seen.machine,
        "os": "GNU/Linux" if name == "Linux" else name,
    }
    if modules := modules_of(_text("/proc/modules").splitlines()):
        tree["modules"] = modules
    return {"kernel": tree, "os": name.lower(), "os_version": seen.release}


def modules_of(lines: Iterable[str]) -> dict[str, dict[str, str]]:
    """The kernel modules in the lines of /proc/modules: name -> size and refcount.

    >>> modules_of(["tls 155648 4 - Live 0x0000000000000000"])
    {'tls': {'size': '155648', 'refcount': '4'}}
    """
    words = (line.split() for line in lines)
    return {name: {"size": size, "refcount": count} for name, size, count, *_ in words}


def platform(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts `platform`, `platform_version` and, if it is known, `platform_family`.

    facts: must have `os` and `os_version`: an unknown system has them as its platform and version
    """
    release = facts["os_version"]
    if sys.platform == "linux":
        return platform_of(distro.LinuxDistribution(include_lsb=False, include_uname=False), release)
    if sys.platform == "darwin":
        return _named("mac_os_x", python_platform.mac_ver()[0])
    if sys.platform == "win32":
        return _named("windows", python_platform.version())
    return _named(facts["os"], release)


def platform_of(linux: distro.LinuxDistribution, kernel_release: str) -> dict[str, Any]:
    """The facts `platform`, `platform_version` and, if it is known, `platform_family` of a Linux, by Ohai's rules.

    kernel_release: is taken as the version if the distribution names none
    """
    ident, version = linux.os_release_attr("id"), linux.os_release_attr("version_id")
    if ident == "centos":  # its os-release has only the major version
        version = linux.distro_release_attr("version_id") or version
    elif ident == "debian" and not version:  # testing and unstable
        version = linux.version(best=True)
    name = platforms.ohai_name(ident or linux.id())
    return _named(name, version or linux.version() or kernel_release, linux.like().split())


def _named(name: str, version: str, like: Iterable[str] = ()) -> dict[str, Any]:
    tree = {"platform": name, "platform_version": version}
    if family := platforms.family_of(name, like):
        tree["platform_family"] = family
    return tree


def hostname(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts `machinename` and `hostname`, and `fqdn` and `domain` if the name can be resolved.

    `domain` is None for a full name without a dot. facts: not used
    """
    name = socket.gethostname()
    tree: dict[str, Any] = {"machinename": name, "hostname": name.partition(".")[0]}
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM, flags=socket.AI_CANONNAME)
    except OSError:
        return tree  # a name that cannot be resolved has no full form
    if fqdn := found[0][3]:
        tree["fqdn"] = fqdn
        tree["domain"] = fqdn.partition(".")[2] or None
    return tree


_OF_ONE_CPU = {
    "vendor_id": "vendor_id",
    "cpu family": "family",
    "model": "model",
    "model name": "model_name",
    "stepping": "stepping",
    "cpu MHz": "mhz",
    "cache size": "cache_size",
    "physical id": "physical_id",
    "core id": "core_id",
    "cpu cores": "cores",
    "BogoMIPS": "bogomips",
    "flags": "flags",
    "Features": "features",
}


def cpu(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `cpu`: each processor of Linux by number, and the counts `total`, `real` and `cores`, if they are known.

    facts: not used
    """
    tree = cpu_of(_text("/proc/cpuinfo").splitlines())
    packages = pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/physical_package_id")
    counted = {
        "total": psutil.cpu_count(),
        "real": len({_text(package) for package in packages}),
        "cores": psutil.cpu_count(logical=False),
    }
    for key, count in counted.items():
        if count:
            tree.setdefault(key, count)
    return {"cpu": tree}


def cpu_of(lines: Iterable[str]) -> dict[str, Any]:
    """The processors in the lines of Linux' /proc/cpuinfo, and Ohai's counts; {} for no processor.

    The counts are `total` (logical processors), `real` (sockets) and `cores` (of all sockets). The last two are left
    out if the lines name no sockets and cores. Each socket is assumed to have as many cores as the one of processor 0.

    >>> cpu_of(["processor : 0", "physical id : 0", "cpu cores : 1", "flags : fpu vme"])
    {'0': {'physical_id': '0', 'cores': '1', 'flags': ['fpu', 'vme']}, 'total': 1, 'real': 1, 'cores': 1}
    """
    cpus: dict[str, Any] = {}
    for line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        if name == "processor" and value.isdigit():
            cpus[value] = {}
        elif cpus and value and (known := _OF_ONE_CPU.get(name)):
            cpus[next(reversed(cpus))][known] = value.split() if name in ("flags", "Features") else value
    counts: dict[str, int] = {"total": len(cpus)} if cpus else {}
    sockets = {one["physical_id"] for one in cpus.values() if "physical_id" in one}
    cores = cpus.get("0", {}).get("cores", "")
    if sockets and cores.isdigit():
        counts |= {"real": len(sockets), "cores": len(sockets) * int(cores)}
    return cpus | counts


def memory(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `memory`: sizes as text in kB, such as "512kB". `swap` is a map with sizes of its own.

    Sizes that this system does not give are left out. facts: not used
    """
    # No `cached`: psutil counts in it what Ohai counts as slab.
    seen, swap = psutil.virtual_memory(), psutil.swap_memory()
    names = ("total", "free", "available", "buffers", "active", "inactive", "slab")
    tree: dict[str, Any] = {name: f"{getattr(seen, name) // 1024}kB" for name in names if hasattr(seen, name)}
    tree["swap"] = {"total": f"{swap.total // 1024}kB", "free": f"{swap.free // 1024}kB"}
    return {"memory": tree}


def filesystem(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `filesystem`: the mounts by device, by mount point, and by both. Unknown sizes are left out.

    facts: not used
    """
    by_device: dict[str, Any] = {}
    by_mountpoint: dict[str, Any] = {}
    by_pair: dict[str, Any] = {}
    for mounted in psutil.disk_partitions(all=True):
        device, mount = mounted.device, mounted.mountpoint
        # To ask an automount for its size would mount it.
        details = _sizes(mount) if mounted.fstype != "autofs" else {}
        details |= {"fs_type": mounted.fstype, "mount_options": mounted.opts.split(",")}
        by_pair[f"{device},{mount}"] = {"device": device, "mount": mount, **details}
    for entry in by_pair.values():
        details = {key: value for key, value in entry.items() if key not in ("device", "mount")}
        _noted(by_device, entry["device"], details, "mounts", entry["mount"])
        _noted(by_mountpoint, entry["mount"], details, "devices", entry["device"])
    return {"filesystem": {"by_device": by_device, "by_mountpoint": by_mountpoint, "by_pair": by_pair}}


def _noted(view: dict[str, Any], name: str, details: dict[str, Any], others: str, other: str) -> None:
    entry = view.setdefault(name, {others: []})
    entry.update(details)
    entry[others].append(other)


def _sizes(mount: str) -> dict[str, Any]:
    try:
        space = psutil.disk_usage(mount)
        inodes = os.statvfs(mount) if hasattr(os, "statvfs") else None
    except OSError:  # no permission, or the mount is gone
        return {}
    tree: dict[str, Any] = {}
    if space.total:
        tree |= {
            "kb_size": str(_up(space.total, 1024)),
            "kb_used": str(_up(space.used, 1024)),
            "kb_available": str(_up(space.free, 1024)),
            "percent_used": f"{_up(100 * space.used, space.used + space.free)}%",
        }
    if inodes and inodes.f_files:
        used = inodes.f_files - inodes.f_ffree
        tree |= {
            "total_inodes": str(inodes.f_files),
            "inodes_used": str(used),
            "inodes_available": str(inodes.f_favail),
            "inodes_percent_used": f"{_up(100 * used, used + inodes.f_favail)}%",
        }
    return tree


def _up(number: int, unit: int) -> int:
    return -(-number // unit) if unit else 0


def network(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `network` (interfaces, default routes); `ipaddress`, `ip6address` and `macaddress` if they are known.

    facts: not used
    """
    interfaces = _interfaces()
    tree: dict[str, Any] = {"interfaces": interfaces}
    top: dict[str, Any] = {"network": tree}
    routes = {
        "inet": default_route4(_text(ROUTES4).splitlines(), interfaces),
        "inet6": default_route6(_text(ROUTES6).splitlines(), interfaces),
    }
    for family, prefix, name, outside in _FAMILIES:
        route = routes[family]
        if route:
            tree |= {f"{prefix}_interface": route.interface, f"{prefix}_gateway": route.gateway}
        # The kernel looks at all routing tables and, for IPv6, prefers temporary addresses. So it is only asked to
        # choose between IPv4 addresses of the interface, or on a system without files of routes.
        asked = (family == "inet" and route is not None) or not ROUTES4.exists()
        if found := node_address(interfaces, family, route, _source_towards(outside) if asked else None):
            interface, top[name] = found
            if "macaddress" not in top and (mac := addresses_of_family(interfaces[interface], "lladdr")):
                top["macaddress"] = mac[0]
    return top


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
        if (_SYS / name).is_dir():  # Linux: psutil has the flag "running", and `ip` and Ohai the carrier
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
    """The value of a file of Linux about an interface; "" on another system, and if it cannot be read.

    The carrier of an interface that is down cannot be read.
    """
    return _text(_SYS / name / what).strip()


def _address(address: Any) -> tuple[str, dict[str, Any]] | None:
    """Returns (address, entry) in Ohai's form for an address of psutil; None for another kind of address."""
    if address.family == psutil.AF_LINK:
        mac = address.address.upper().replace("-", ":")
        # Only 6 or 20 octets are a hardware address: tunnels have their end points here.
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
    """The address from which the kernel would reach *outside*; None if it cannot. Nothing is sent."""
    family = socket.AF_INET6 if ":" in outside else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((outside, 9))
            return str(asked.getsockname()[0])
    except OSError:
        return None


FUNCTIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "kernel": kernel,
    "platform": platform,
    "hostname": hostname,
    "cpu": cpu,
    "memory": memory,
    "filesystem": filesystem,
    "network": network,
}
"""The functions of this machine's facts, in order: `platform` reads facts of `kernel`."""

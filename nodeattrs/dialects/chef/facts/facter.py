"""Add Ohai's names to the facts in a document of Facter (the structured facts of Facter 3 and 4).

The facts stay under Facter's names. Each fact under a name of Ohai has the line of Facter's fact. If both use one name
(`kernel`, `memory`), the map has the keys of both, and Ohai's value wins for a key of both. `os` stays Facter's map.
"""

from __future__ import annotations

import ipaddress
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import ABSENT, Path, copied, dig, spell
from nodeattrs.dialects.chef.facts import platforms
from nodeattrs.dialects.chef.facts.addresses import address_entry, interface_parts
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

_PLATFORMS = {
    "archlinux": "arch",
    "darwin": "mac_os_x",
    "oel": "oracle",
    "oraclelinux": "oracle",
    "sled": "suse",
    "sles": "suse",
    "solaris": "solaris2",
}


@dataclass(frozen=True, slots=True)
class _Translator:
    """A locator for the facts that `with_ohai_names` returns: gives the line of Facter's fact for both kinds of names.

    facter:  the locator of Facter's document
    sources: path of a fact under Ohai's name -> path of the same fact in Facter's document
    """

    facter: Locator
    sources: dict[Path, Path]

    def at(self, path: Path) -> Origin:
        """The place of Facter's fact for *path*, which may have Ohai's or Facter's names."""
        for length in range(len(path), 0, -1):
            if (source := self.sources.get(path[:length])) is not None:
                return self.facter.at((*source, *path[length:]))
        return self.facter.at(path)


def _same(value: Any) -> Any:
    return value


@dataclass
class _Translation:
    """The facts of a Facter document while Ohai's names are added.

    tree:    the facts so far
    sources: path by Ohai's names -> path of Facter's fact
    """

    document: Document
    tree: dict[Any, Any]
    sources: dict[Path, Path] = field(default_factory=dict)

    def found(self, source: Path) -> Any:
        value = dig(self.document.tree, source)
        return None if value is ABSENT else value

    def put(self, target: Path, source: Path, spelled: Callable[[Any], Any] = _same) -> None:
        """Copy the fact at *source* to *target*, converted by *spelled*; does nothing if the fact is missing.

        raises: DocumentError, for a fact in another form than Facter's
        """
        value = self.found(source)
        if value is None:
            return
        try:
            value = spelled(value)
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            raise self._odd(source, value) from error
        here = self.tree
        for step in target[:-1]:
            below = here.get(step)
            if not isinstance(below, dict):
                below = here[step] = {}
            here = below
        here[target[-1]] = value
        self.sources[target] = source

    def text(self, source: Path) -> str | None:
        """The text at *source*; None if it is missing. raises: DocumentError, for another value"""
        value = self.found(source)
        if value is None or isinstance(value, str):
            return value
        raise self._odd(source, value)

    def _odd(self, source: Path, value: Any) -> DocumentError:
        return self.document.error(
            f"{spell(source)} is not what Facter writes there: {reprlib.repr(value)}",
            source,
            hint="write the file with: facter --json > facts.json",
        )

    def entries(self, source: Path) -> list[Any]:
        """The keys of the map, or the indexes of the list, at *source*; [] for another value."""
        value = self.found(source)
        if isinstance(value, dict):
            return list(value)
        return list(range(len(value))) if isinstance(value, list) else []


def _named(name: str) -> str:
    return platforms.ohai_name(_PLATFORMS.get(name.lower(), name.lower()))


def _kilobytes(count: Any) -> str:
    return f"{int(count) // 1024}kB"


_KERNEL: tuple[tuple[Path, Path, Callable[[Any], Any]], ...] = (
    (("kernel", "name"), ("kernel",), _same),
    (("kernel", "os"), ("kernel",), lambda name: "GNU/Linux" if name == "Linux" else name),
    (("kernel", "release"), ("kernelrelease",), str),
    (("kernel", "machine"), ("os", "hardware"), _same),
)
"""Facts of the kernel: (Ohai's path, Facter's path, function from Facter's value to Ohai's)."""

_OTHERS: tuple[tuple[Path, Path, Callable[[Any], Any]], ...] = (
    (("cpu", "total"), ("processors", "count"), int),
    (("cpu", "real"), ("processors", "physicalcount"), int),
    (("memory", "total"), ("memory", "system", "total_bytes"), _kilobytes),
    (("memory", "available"), ("memory", "system", "available_bytes"), _kilobytes),
    (("memory", "swap", "total"), ("memory", "swap", "total_bytes"), _kilobytes),
    (("memory", "swap", "free"), ("memory", "swap", "available_bytes"), _kilobytes),
    (("uptime_seconds",), ("system_uptime", "seconds"), int),
    (("hostname",), ("networking", "hostname"), _same),
    (("fqdn",), ("networking", "fqdn"), _same),
    (("domain",), ("networking", "domain"), _same),
    (("ipaddress",), ("networking", "ip"), _same),
    (("ip6address",), ("networking", "ip6"), _same),
    (("macaddress",), ("networking", "mac"), str.upper),
    (("network", "default_interface"), ("networking", "primary"), _same),
)
"""Other facts with constant paths, in the form of `_KERNEL`."""


def with_ohai_names(document: Document, locator: Locator) -> tuple[dict[Any, Any], Locator]:
    """Returns (facts, locator): the facts of a Facter document with Ohai's names added, and the line of each.

    The document is not changed; the facts share maps with it. A fact under Ohai's name has the line of Facter's fact.
    locator: gives the lines of the document
    raises: DocumentError, for a fact in another form than Facter's
    """
    tree = {**document.tree}
    for shared in ("cpu", "filesystem", "memory", "network"):
        if isinstance(tree.get(shared), dict):
            tree[shared] = copied(tree[shared])
    to = _Translation(document, tree)
    to.sources |= {("cpu",): ("processors",), ("network",): ("networking",)}
    _platform(to)
    for target, source, spelled in (*(_KERNEL if to.text(("kernel",)) is not None else ()), *_OTHERS):
        to.put(target, source, spelled)
    _processors(to)
    _mountpoints(to)
    for name in to.entries(("networking", "interfaces")):
        _interface(to, ("network", "interfaces", name), ("networking", "interfaces", name))
    return to.tree, _Translator(locator, to.sources)


def _platform(to: _Translation) -> None:
    to.put(("platform",), ("os", "name"), _named)
    to.put(("platform_version",), ("os", "release", "full"), str)
    to.put(("platform_version",), ("os", "macosx", "version", "full"), str)
    family = platforms.family_of(to.tree.get("platform", ""))
    to.put(
        ("platform_family",), ("os", "family"), lambda name: family or platforms.family_of(_named(name)) or _named(name)
    )


def _processors(to: _Translation) -> None:
    here = ("processors",)
    sockets = to.found((*here, "physicalcount"))
    to.put(("cpu", "cores"), (*here, "cores"), lambda cores: int(cores) * int(sockets or 1))
    for index in to.entries((*here, "models")):
        to.put(("cpu", str(index), "model_name"), (*here, "models", index))


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


_OF_A_MOUNT: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("kb_size", "size_bytes", lambda count: str(int(count) // 1024)),
    ("kb_used", "used_bytes", lambda count: str(int(count) // 1024)),
    ("kb_available", "available_bytes", lambda count: str(int(count) // 1024)),
    ("percent_used", "capacity", lambda share: f"{math.ceil(float(share.rstrip('%')))}%"),
    ("fs_type", "filesystem", str),
    ("mount_options", "options", copied),
)


def _mountpoints(to: _Translation) -> None:
    for mount in to.entries(("mountpoints",)):
        source = ("mountpoints", mount)
        device = to.text((*source, "device"))
        views: list[Path] = [("filesystem", "by_mountpoint", mount)]
        to.put((*views[0], "devices"), (*source, "device"), lambda device: [device])
        if device is not None:
            by_device, by_pair = ("filesystem", "by_device", device), ("filesystem", "by_pair", f"{device},{mount}")
            views += [by_device, by_pair]
            mounts = [*(dig(to.tree, (*by_device, "mounts")) or []), mount]
            to.put((*by_device, "mounts"), source, _always(mounts))
            to.sources[(*by_device, "mounts", len(mounts) - 1)] = source
            to.put((*by_pair, "device"), (*source, "device"))
            to.put((*by_pair, "mount"), source, _always(mount))
        for view in views:
            to.sources[view] = source
            for target, name, spelled in _OF_A_MOUNT:
                to.put((*view, target), (*source, name), spelled)


def _interface(to: _Translation, target: Path, source: Path) -> None:
    to.put(target, source, _always(interface_parts(str(source[-1]))))
    to.put((*target, "mtu"), (*source, "mtu"), str)
    to.put((*target, "state"), (*source, "operational_state"), str)
    if mac := to.text((*source, "mac")):
        to.put((*target, "addresses", mac.upper()), (*source, "mac"), _always({"family": "lladdr"}))
    for bindings, ip, netmask in (("bindings", "ip", "netmask"), ("bindings6", "ip6", "netmask6")):
        bound = [(*source, bindings, index) for index in to.entries((*source, bindings))]
        for binding in bound:
            _address(to, target, (*binding, "address"), (*binding, "netmask"), (*binding, "scope6"))
        if not bound:  # without a list of bindings, the interface itself has the address
            _address(to, target, (*source, ip), (*source, netmask), (*source, "scope6"))


def _address(to: _Translation, interface: Path, address: Path, netmask: Path, scope: Path) -> None:
    text = to.text(address)
    if text is None:
        return
    mask, width = to.text(netmask), to.text(scope) if ":" in text else None
    target = (*interface, "addresses", text)
    to.put(target, address, lambda text: address_entry(ipaddress.ip_address(text), None, width))
    to.put(target, netmask, lambda mask: address_entry(ipaddress.ip_address(text), mask, width))
    # Each part of the entry has the line of Facter's fact that it is from.
    to.sources[target] = address
    to.sources |= {(*target, "family"): address, (*target, "scope"): scope if width else address}
    to.sources |= {(*target, key): netmask for key in ("netmask", "prefixlen") if mask}

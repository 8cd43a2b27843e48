"""The words of cookbook files that ask about the machine: `platform`, `value_for_platform`, `debian`, ...

The words have the names of Chef and chef-utils 19, without the question mark. `QUESTIONS` has the words that answer yes
or no. They read attributes of the node, such as platform_family. They need no parentheses: `if debian:` and `if
debian():` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nodeattrs.errors import BadArgument
from nodeattrs.node.node import Node
from nodeattrs.project.versions import SIGNS, allows, numbers_in

PLATFORM_WORDS = ("platform", "platform_family", "value_for_platform", "value_for_platform_family")


def _each(names: str, suffix: str = "") -> dict[str, str]:
    return {name + suffix: name for name in names.split()}


_ARM = "armv6l armv7l armhf"
_INTEL = "i386 i686 i86pc"
_PLATFORMS = (
    "aix amazon arch centos clearos debian dragonfly fedora freebsd gentoo linuxmint mac_os_x netbsd omnios openbsd "
    "openindiana oracle raspbian redhat scientific slackware smartos solaris2 suse ubuntu windows"
)
_FAMILIES = (
    "aix amazon arch debian dragonflybsd fedora freebsd gentoo mac_os_x netbsd openbsd rhel smartos solaris2 suse "
    "windows"
)
_SUSES = ("opensuse", "opensuse_platform", "opensuseleap_platform", "leap_platform")

_ONE_OF: dict[str, dict[str, str]] = {
    "platform": {
        **_each(_PLATFORMS, "_platform"),
        **_each("centos clearos linuxmint omnios openindiana oracle raspbian redhat scientific ubuntu"),
        **dict.fromkeys(("linux_mint", "mint"), "linuxmint"),
        **dict.fromkeys(_SUSES, "opensuse opensuseleap"),
        **dict.fromkeys(("redhat_enterprise", "redhat_enterprise_linux"), "redhat"),
        "macos_platform": "mac_os_x",
        "oracle_linux": "oracle",
        "scientific_linux": "scientific",
        "bsd_based": "dragonflybsd freebsd netbsd openbsd",
        "solaris_based": "omnios openindiana smartos solaris2",
    },
    "platform_family": {
        **_each(_FAMILIES),
        **dict.fromkeys(("mac", "macos", "osx"), "mac_os_x"),
        "amazon_linux": "amazon",
        "arch_linux": "arch",
        "el": "rhel",
        "solaris": "solaris2",
        "redhat_based": "rhel fedora",
        "fedora_derived": "rhel fedora amazon",
        "rpm_based": "rhel fedora amazon suse",
    },
    "os": _each("linux darwin"),
    "init_package": _each("systemd"),
    "kernel.machine": {
        **_each("powerpc ppc64 ppc64le s390 s390x"),
        "arm": f"{_ARM} aarch64 arm64",
        "armhf": _ARM,
        "i386": _INTEL,
        "intel": f"{_INTEL} x86_64 amd64",
        "sparc": "sun4u sun4v",
        "_64_bit": "x86_64 amd64 aarch64 arm64 ppc64 ppc64le s390x sun4u sun4v sparc64 ia64",
    },
    "kernel.product_type": {"windows_server": "Server", "windows_workstation": "Workstation"},
    "virtualization.role": {**dict.fromkeys(("guest", "virtual"), "guest"), "hypervisor": "host"},
}
"""Attribute -> word -> the values of the attribute for which the word answers yes, separated by spaces."""

_IS_SET = {
    **_each("alibaba azure cloud digital_ocean ec2 eucalyptus gce linode oci openstack rackspace softlayer"),
    "digitalocean": "digital_ocean",
    "euca": "eucalyptus",
}
_SYSTEMS = _each("kvm lxc openvz parallels vbox vmware") | {"virtualbox": "vbox", "hyperv": "hyperv"}

Ask = Callable[[Callable[[str], Any]], bool]
"""A function from a reader of attributes ("kernel.machine" -> value, None where not set) to the answer."""


def _system(system: str, role: str, read: Callable[[str], Any]) -> bool:
    return bool(read("virtualization.system") == system and read("virtualization.role") == role)


def _release(major: str, read: Callable[[str], Any]) -> bool:
    found = _LEADING.match(str(read("platform_version")))
    return read("platform_family") == "rhel" and found is not None and found.group() == major


def _is_set(key: str, read: Callable[[str], Any]) -> bool:
    return read(key) is not None


def _one_of(attribute: str, values: frozenset[str], read: Callable[[str], Any]) -> bool:
    return read(attribute) in values


QUESTIONS: Mapping[str, Ask] = {
    **{
        name: partial(_one_of, attribute, frozenset(values.split()))
        for attribute, names in _ONE_OF.items()
        for name, values in names.items()
    },
    **{name: partial(_is_set, key) for name, key in _IS_SET.items()},
    **{name: partial(_system, system, "guest") for name, system in _SYSTEMS.items()},
    **{
        f"{name}_host": partial(_system, name, "host")
        for name in ("kvm", "lxc", "openvz", "parallels", "vbox", "vmware")
    },
    **{f"rhel{major}": partial(_release, major) for major in ("6", "7", "8", "9", "10")},
    "docker": lambda read: read("virtualization.systems.docker") == "guest",
    "physical": lambda read: read("virtualization.role") != "guest",
    "windows_server_core": lambda read: bool(read("kernel.server_core")),
    "_32_bit": lambda read: not QUESTIONS["_64_bit"](read),
}
"""Word -> a function from a reader of attributes to the answer, as in `Ask`."""


class _PlatformQuestion(partial[bool]):
    """A word that answers yes or no about the machine of a node: `if debian:` or `if debian():`.

    `bool(question)` and `question()` are the same: both read the node's attributes at that moment and return a bool.
    It is made as `_PlatformQuestion(function, read)` with a function of `QUESTIONS` and a reader of attributes.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        return self()

    def __repr__(self) -> str:
        return repr(self())


def platform_questions(node: Node) -> Mapping[str, partial[bool]]:
    """Word of `QUESTIONS`, such as "debian" -> an object that is true if the machine of a node is so; callable, too."""
    read = partial(_read, node)
    return {word: _PlatformQuestion(ask, read) for word, ask in QUESTIONS.items()}


def _read(node: Node, attribute: str) -> Any:
    return node.read(*attribute.split("."))


def platform_words(node: Node) -> dict[str, Any]:
    """Word -> function: `platform`, `platform_family`, `value_for_platform` and `value_for_platform_family`.

    `platform("debian", "ubuntu")` says whether the node's platform is one of the names. `value_for_platform(values)`
    gives the value for the node's platform and version, else the value for "default", else None. It raises BadArgument
    if *values* is not a map of platforms, and if two constraints fit.
    """
    read = partial(_read, node)

    def is_one(attribute: str, *names: str) -> bool:
        return read(attribute) in names

    def for_platform(values: Any) -> Any:
        return _by_version(_spread(values), str(read("platform")), read("platform_version"))

    def for_family(values: Any) -> Any:
        by_family, family = _spread(values), read("platform_family")
        return by_family[family] if family in by_family else by_family.get("default")

    return {
        "platform": partial(is_one, "platform"),
        "platform_family": partial(is_one, "platform_family"),
        "value_for_platform": for_platform,
        "value_for_platform_family": for_family,
    }


def _spread(values: Any) -> dict[Any, Any]:
    """A map of values by platform, in which a tuple of platforms is an entry for each of them. raises: BadArgument"""
    if not isinstance(values, Mapping):
        raise BadArgument(
            f"values of platforms are a map, not {values!r}", hint='write {"debian": ..., "default": ...}'
        )
    keys = ((key if isinstance(key, tuple) else (key,), value) for key, value in values.items())
    return {one: value for names, value in keys for one in names}


def _by_version(values: Mapping[Any, Any], platform: str, version: Any) -> Any:
    """The value for a version of a platform: of the version, else of the constraint that allows it, else a default.

    raises: BadArgument, if several constraints allow the version, or a platform has no map of versions
    source: Chef's value_for_platform
    """
    for name, entry in values.items():
        if name != "default" and not isinstance(entry, Mapping):
            hint = f'write {{"{name}": {{"default": {entry!r}}}}}'
            raise BadArgument(
                f"the values of a platform are a map by version; for {name} they are {entry!r}", hint=hint
            )
    own = values.get(platform, {})
    if version is not None and str(version) in own:
        return own[str(version)]
    # Chef ignores all constraints if one of them begins like a version and is not one.
    is_odd = any(_BEGINS.match(str(asked)) and not _NUMBERS.fullmatch(str(asked)) for asked in own)
    fitting = [] if is_odd else [asked for asked in own if _allows(asked, str(version))]
    if len(fitting) > 1:
        raise BadArgument(f"{platform} {version} fits {' and '.join(map(repr, fitting))}", hint="let one of them fit")
    if fitting and own[fitting[0]] not in (None, False):
        return own[fitting[0]]
    return own["default"] if "default" in own else values.get("default")


_LEADING = re.compile(r"\d+")
_BEGINS = re.compile(r"[<>=~]*\s*\d")
_NUMBERS = re.compile(r"(?P<operator>[<>=~]*\s*)(?P<numbers>\d{1,9}(?:\.\d{1,9}){0,2})")


def _allows(asked: object, version: str) -> bool:
    """Whether a constraint of one to three numbers allows a version; False for text that is not a constraint."""
    wanted, has = _NUMBERS.fullmatch(str(asked)), _NUMBERS.fullmatch(version)
    if wanted is None or has is None or has["operator"]:
        return False
    sign = wanted["operator"].strip() or "="
    return sign in SIGNS and allows(sign, numbers_in(wanted["numbers"]), numbers_in(has["numbers"]))

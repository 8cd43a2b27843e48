"""Tables of the names that Ohai gives to operating systems, and of their families.

The tables are the same on every machine. For some systems Ohai's name is older than /etc/os-release, and differs from
the name there.
"""

from __future__ import annotations

from collections.abc import Iterable

_RENAMED = {
    "alinux": "alibabalinux",
    "amzn": "amazon",
    "archarm": "arch",
    "cumulus-linux": "cumulus",
    "ol": "oracle",
    "opensuse-leap": "opensuseleap",
    "rhel": "redhat",
    "sled": "suse",
    "sles": "suse",
    "sles_sap": "suse",
    "xenenterprise": "xenserver",
}

_FAMILIES: dict[str, tuple[str, ...]] = {
    # Family -> words. A name has the first family with a word that it contains.
    "debian": ("debian", "ubuntu", "linuxmint", "raspbian", "cumulus", "kali", "pop"),
    "rhel": (
        *("oracle", "centos", "redhat", "almalinux", "rocky", "scientific", "xcp", "xenserver", "cloudlinux"),
        *("ibm_powerkvm", "parallels", "clearos", "bigip", "alibabalinux", "sangoma"),
    ),
    "amazon": ("amazon",),
    "suse": ("suse",),
    "fedora": ("fedora", "pidora", "arista_eos"),
    "wrlinux": ("nexus", "ios_xr"),
    "arch": ("arch", "manjaro", "antergos"),
    **{name: (name,) for name in ("gentoo", "slackware", "exherbo", "alpine", "clearlinux")},
    **{name: (name,) for name in ("mac_os_x", "windows", "freebsd", "openbsd", "netbsd", "solaris2", "aix")},
}


def ohai_name(os_release_id: str) -> str:
    """Ohai's name for the platform with an ID of os-release; the ID itself if Ohai has no other name.

    >>> ohai_name("rhel"), ohai_name("debian")
    ('redhat', 'debian')
    """
    return _RENAMED.get(os_release_id, os_release_id)


def family_of(platform: str, like: Iterable[str] = ()) -> str | None:
    """Ohai's family of a platform. If it is unknown, the family of the first similar platform that has one, or None.

    A name matches a family if it contains one of the family's words ("ubuntu-core" is debian).

    like: IDs of similar platforms from os-release, nearest first

    >>> family_of("rocky"), family_of("devuan", ["debian"]), family_of("plan9")
    ('rhel', 'debian', None)
    """
    for name in (platform, *map(ohai_name, like)):
        for family, words in _FAMILIES.items():
            if any(word in name for word in words):
                return family
    return None

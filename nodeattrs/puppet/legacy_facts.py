"""Legacy facts of Facter, which agents of Puppet 8 no longer send, each with the fact that takes its place.

It reads names and no files.
"""

from __future__ import annotations

import re

_MODERN = {
    "architecture": "os.architecture",
    "augeasversion": "augeas.version",
    "bios_release_date": "dmi.bios.release_date",
    "bios_vendor": "dmi.bios.vendor",
    "bios_version": "dmi.bios.version",
    "blockdevices": "disks",
    "boardassettag": "dmi.board.asset_tag",
    "boardmanufacturer": "dmi.board.manufacturer",
    "boardproductname": "dmi.board.product",
    "boardserialnumber": "dmi.board.serial_number",
    "chassisassettag": "dmi.chassis.asset_tag",
    "chassistype": "dmi.chassis.type",
    "dhcp_servers": "networking.dhcp",
    "domain": "networking.domain",
    "fqdn": "networking.fqdn",
    "gid": "identity.group",
    "hardwareisa": "processors.isa",
    "hardwaremodel": "os.hardware",
    "hostname": "networking.hostname",
    "id": "identity.user",
    "interfaces": "networking.interfaces",
    "ipaddress": "networking.ip",
    "ipaddress6": "networking.ip6",
    "lsbdistcodename": "os.distro.codename",
    "lsbdistdescription": "os.distro.description",
    "lsbdistid": "os.distro.id",
    "lsbdistrelease": "os.distro.release.full",
    "lsbmajdistrelease": "os.distro.release.major",
    "lsbminordistrelease": "os.distro.release.minor",
    "lsbrelease": "os.distro.specification",
    "macaddress": "networking.mac",
    "macosx_buildversion": "os.macosx.build",
    "macosx_productname": "os.macosx.product",
    "macosx_productversion": "os.macosx.version.full",
    "macosx_productversion_major": "os.macosx.version.major",
    "macosx_productversion_minor": "os.macosx.version.minor",
    "macosx_productversion_patch": "os.macosx.version.patch",
    "manufacturer": "dmi.manufacturer",
    "memoryfree": "memory.system.available",
    "memoryfree_mb": "memory.system.available_bytes",
    "memorysize": "memory.system.total",
    "memorysize_mb": "memory.system.total_bytes",
    "netmask": "networking.netmask",
    "netmask6": "networking.netmask6",
    "network": "networking.network",
    "network6": "networking.network6",
    "operatingsystem": "os.name",
    "operatingsystemmajrelease": "os.release.major",
    "operatingsystemrelease": "os.release.full",
    "osfamily": "os.family",
    "physicalprocessorcount": "processors.physicalcount",
    "processorcount": "processors.count",
    "productname": "dmi.product.name",
    "rubyplatform": "ruby.platform",
    "rubysitedir": "ruby.sitedir",
    "rubyversion": "ruby.version",
    "scope6": "networking.scope6",
    "selinux": "os.selinux.enabled",
    "selinux_config_mode": "os.selinux.config_mode",
    "selinux_config_policy": "os.selinux.config_policy",
    "selinux_current_mode": "os.selinux.current_mode",
    "selinux_enforced": "os.selinux.enforced",
    "selinux_policyversion": "os.selinux.policy_version",
    "serialnumber": "dmi.product.serial_number",
    "sshdsakey": "ssh.dsa.key",
    "sshecdsakey": "ssh.ecdsa.key",
    "sshed25519key": "ssh.ed25519.key",
    "sshrsakey": "ssh.rsa.key",
    "swapencrypted": "memory.swap.encrypted",
    "swapfree": "memory.swap.available",
    "swapfree_mb": "memory.swap.available_bytes",
    "swapsize": "memory.swap.total",
    "swapsize_mb": "memory.swap.total_bytes",
    "system32": "os.windows.system32",
    "uptime": "system_uptime.uptime",
    "uptime_days": "system_uptime.days",
    "uptime_hours": "system_uptime.hours",
    "uptime_seconds": "system_uptime.seconds",
    "uuid": "dmi.product.uuid",
    "xendomains": "xen.domains",
    "zonename": "solaris_zones.current",
}
_OF_INTERFACE = {"ipaddress": "ip", "ipaddress6": "ip6", "macaddress": "mac"}
_OF_INTERFACE |= {name: name for name in ("mtu", "netmask", "netmask6", "network", "network6", "scope6")}
_SUFFIXED = re.compile(f"({'|'.join(_OF_INTERFACE)})_(\\w+)")
_FINGERPRINTS = re.compile("sshfp_(\\w+)")


def modern_fact(variable: str) -> str | None:
    """The name of the fact that replaces a legacy fact, without "facts."; None where *variable* is no legacy fact.

    variable: as interpolations of Hiera name it, with or without "::" or "facts."

    >>> modern_fact("::osfamily"), modern_fact("facts.ipaddress_eth0"), modern_fact("facts.os.family"), modern_fact("x")
    ('os.family', 'networking.interfaces.eth0.ip', None, None)
    """
    name = variable.removeprefix("::").removeprefix("facts.")
    if name in _MODERN:
        return _MODERN[name]
    if found := _SUFFIXED.fullmatch(name):
        return f"networking.interfaces.{found[2]}.{_OF_INTERFACE[found[1]]}"
    found = _FINGERPRINTS.fullmatch(name)
    return f"ssh.{found[1]}.fingerprints" if found else None


def modern_fact_hint(variable: str) -> str | None:
    """A hint that names the fact to write instead of a legacy fact; None where *variable* is no legacy fact."""
    new = modern_fact(variable)
    return None if new is None else f"agents of Puppet 8 send no legacy facts: write facts.{new}"

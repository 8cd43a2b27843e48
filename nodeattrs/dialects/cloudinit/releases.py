"""What differs between the releases of cloud-init, in what a merge gives: a row each, and nothing else does.

docs/cloudinit.md, "Releases", has the same table in words, and says which of them were run.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

from nodeattrs.errors import BadArgument

ReleaseName = Literal["22.4", "23.1", "23.4", "24.1", "26.2"]
"""The releases that can be asked for: what differs began between two of them, as `Release` says."""

NEWEST: ReleaseName = "26.2"


class Release(NamedTuple):
    """How one release behaves.

    notes:        whether the merged file notes the parts that were rejected (since 23.3)
    cc_is_word:   whether ` cc:` of a kernel command line has to begin a word (since 23.4)
    python2:      whether the tag !!python/unicode is text (until 24.1)
    raw_template: whether a conf.d file with broken Jinja is read as it is (since 24.1), and stops nothing
    empty_stops:  whether a conf.d template that gives nothing stops everything (since 24.2)
    sources:      the data sources of the built-in configuration, in order
    """

    notes: bool
    cc_is_word: bool
    python2: bool
    raw_template: bool
    empty_stops: bool
    sources: str
    docs_dir: bool = False

    @property
    def builtin(self) -> dict[str, Any]:
        """The configuration that is built in, beneath all others."""
        paths = {"cloud_dir": "/var/lib/cloud", "templates_dir": "/etc/cloud/templates/"}
        if self.docs_dir:
            paths = {"cloud_dir": "/var/lib/cloud", "docs_dir": "/usr/share/doc/cloud-init/"} | paths
        return {
            "datasource_list": self.sources.split(),
            "def_log_file": "/var/log/cloud-init.log",
            "log_cfgs": [],
            "syslog_fix_perms": ["syslog:adm", "root:adm", "root:wheel", "root:root"],
            "system_info": {"paths": paths, "distro": "ubuntu", "network": {"renderers": None}},
            "vendor_data": {"enabled": True, "prefix": []},
            "vendor_data2": {"enabled": True, "prefix": []},
        }


_FIRST = "NoCloud ConfigDrive LXD OpenNebula DigitalOcean Azure AltCloud "
_THEN = (
    "OVF MAAS GCE OpenStack AliYun Vultr Ec2 CloudSigma CloudStack SmartOS Bigstep Scaleway Hetzner IBMCloud Oracle "
    "Exoscale RbxCloud UpCloud "
)
_OLD = _FIRST + _THEN + "VMware NWCS "

RELEASES: dict[str, Release] = {
    #                notes  word   python2 raw   stops  sources
    "22.4": Release(False, False, True, False, False, f"{_OLD}None"),
    "23.1": Release(False, False, True, False, False, f"{_OLD}None"),
    "23.4": Release(True, True, True, False, False, f"{_OLD}Akamai None"),
    "24.1": Release(True, True, True, True, False, f"{_OLD}Akamai WSL None"),
    "26.2": Release(True, True, False, True, True, f"{_FIRST}VMware {_THEN}NWCS Akamai WSL CloudCIX None", True),
}


LATEST = RELEASES[NEWEST]


def release_of(name: str) -> Release:
    """How a release behaves. raises: BadArgument, for one that is not known

    >>> release_of("22.4").notes, release_of("26.2").notes
    (False, True)
    """
    if name not in RELEASES:
        raise BadArgument(f"cloud-init {name} is not known here", hint=f"known are {', '.join(get_args(ReleaseName))}")
    return RELEASES[name]

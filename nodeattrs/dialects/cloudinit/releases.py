"""The differences between releases of cloud-init that can change a merge: a table with a row for each release.

docs/cloudinit.md, "Releases", has the same table in words, and says which releases were compared.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

from nodeattrs.errors import BadArgument

ReleaseName = Literal["22.4", "23.1", "23.4", "24.1", "26.2"]
"""The releases whose rules can be chosen. `Release` says since when each rule counts."""

NEWEST: ReleaseName = "26.2"


class Release(NamedTuple):
    """The behaviour of one release of cloud-init, as switches that the merge looks at.

    notes:        whether the merged file names the parts that were rejected (since 23.3)
    cc_is_word:   whether ` cc:` of a kernel command line must begin a word (since 23.4)
    python2:      whether the tag !!python/unicode is accepted as text (until 24.1)
    raw_template: whether a conf.d file with broken Jinja is read as plain text (since 24.1); before, it stops the merge
    empty_stops:  whether a conf.d template that renders to nothing stops the merge (since 24.2)
    sources:      the data sources of the built-in configuration, in order, separated by blanks
    docs_dir:     whether the built-in paths have `docs_dir` (since 24.2)

    `builtin` is a new copy of the built-in configuration.
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
        """A new copy of the built-in configuration, the weakest layer: data sources, logging, paths, vendor-data."""
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

_RELEASES: dict[str, Release] = {
    #                notes  word   python2 raw   stops  sources
    "22.4": Release(False, False, True, False, False, f"{_OLD}None"),
    "23.1": Release(False, False, True, False, False, f"{_OLD}None"),
    "23.4": Release(True, True, True, False, False, f"{_OLD}Akamai None"),
    "24.1": Release(True, True, True, True, False, f"{_OLD}Akamai WSL None"),
    "26.2": Release(True, True, False, True, True, f"{_FIRST}VMware {_THEN}NWCS Akamai WSL CloudCIX None", True),
}


def release_of(name: str) -> Release:
    """The behaviour of a release in `ReleaseName`. raises: BadArgument, for any other name

    >>> release_of("22.4").notes, release_of("26.2").notes
    (False, True)
    """
    if name not in _RELEASES:
        raise BadArgument(f"cloud-init {name} is not known here", hint=f"known are {', '.join(get_args(ReleaseName))}")
    return _RELEASES[name]

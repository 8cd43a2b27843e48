"""The facts of a suite of Test Kitchen: the facts of its platform.

Used by the commands and by `opened.Nodes` if the caller names no facts.
"""

from __future__ import annotations

import pathlib

from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.facts.known import platforms
from nodeattrs.dialects.chef.facts.platforms import family_of, ohai_name

_RENAMED = {"amazonlinux": "amazon", "oraclelinux": "oracle", "rockylinux": "rocky", "macos": "mac_os_x"}
"""Name of a platform in Test Kitchen -> Ohai's name."""
_SYSTEMS = {"windows": "windows", "mac_os_x": "darwin", "freebsd": "freebsd"}
_IMAGES = ("dokken/", "bento/")


def facts_of_suite(platform: str, origin: Origin, folder: pathlib.Path | None) -> Facts:
    """The facts of a platform as kitchen.yml names it, "ubuntu-22.04". Prefixes of container images are removed.

    If no file has facts of this version, the tree has only name, version, family and os, and `unread` gives the reason.
    A missing name is "unknown", a missing version "0".

    origin: the line of kitchen.yml, for these four facts
    folder: a folder with further platforms in fauxhai's form; None: only ours
    raises: NotFound, if *folder* does not exist; DocumentError
    """
    for image in _IMAGES:
        platform = platform.removeprefix(image)
    name, _, version = platform.rpartition("-") if platform.rpartition("-")[2][:1].isdigit() else (platform, "", "")
    name = _RENAMED.get(name.removesuffix("-stream"), ohai_name(name.removesuffix("-stream")))
    file = platforms(folder).get(f"{name}-{version}")
    if file is not None:
        return load_facts(file)
    tree = {
        "platform": name or "unknown",
        "platform_version": version or "0",
        "platform_family": family_of(name) or "unknown",
        "os": _SYSTEMS.get(name, "linux"),
    }
    hint = "--facts or --platform names them"
    return Facts(tree, origin, unread=f"the facts of platform {platform or 'unknown'} are not known: {hint}")

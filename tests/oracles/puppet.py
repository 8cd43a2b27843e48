"""The real Puppet: the installed one, or Debian's packages unpacked into a folder.

OPENVOX_SRC names a checkout of OpenVox or Puppet 8 or later, whose `lib/` takes the place of Debian's Puppet 7.23.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["puppet_version", "ruby_with_puppet"]

_SOURCE = "OPENVOX_SRC"


def puppet_version() -> int:
    """The version whose rules the peer has: 7 for Debian's Puppet, 8 for a checkout that OPENVOX_SRC names."""
    return 8 if _SOURCE in os.environ else 7


def ruby_with_puppet(folder: Path) -> tuple[str, dict[str, str]]:
    """A Ruby that knows Puppet, and the environment it needs; packages are unpacked below *folder*.

    Only what is not installed is fetched. Nothing is installed, and no service is started.

    raises: RuntimeError, where Debian's packages cannot be had
    """
    archives = folder / "archives"
    (archives / "partial").mkdir(parents=True)
    options = ["-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1", "-qq", "-y"]
    fetch = [
        "apt-get",
        *options,
        "--no-install-recommends",
        "--download-only",
        "install",
        "puppet-agent",
        "hiera-eyaml",
    ]
    done = subprocess.run(fetch, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:  # the lists of packages may never have been fetched
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
        done = subprocess.run(fetch, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    root = folder / "root"
    for package in glob.glob(f"{archives}/*.deb"):
        subprocess.run(["dpkg", "-x", package, str(root)], check=True)
    ruby = next((found for found in glob.glob(f"{root}/usr/bin/ruby[0-9]*")), None) or shutil.which("ruby")
    if ruby is None:
        raise RuntimeError(f"no Ruby, and apt-get gives none: {done.stderr.strip()[-300:]}")
    libraries = [*glob.glob(f"{root}/usr/lib/ruby/vendor_ruby"), *glob.glob(f"{root}/usr/lib/ruby/[0-9]*")]
    libraries += [*glob.glob(f"{root}/usr/lib/*/ruby/[0-9]*"), *glob.glob(f"{root}/usr/lib/*/ruby/vendor_ruby/[0-9]*")]
    libraries += glob.glob(f"{root}/usr/share/rubygems-integration/*/gems/*/lib")
    libraries += glob.glob(f"{root}/usr/share/rubygems-integration/*/gems/*/lib/*-ruby")
    libraries = [f"{os.environ[_SOURCE]}/lib", *libraries] if _SOURCE in os.environ else libraries
    environment = {
        **os.environ,
        "RUBYOPT": "-rset",
        "RUBYLIB": ":".join(libraries),
        "LD_LIBRARY_PATH": ":".join([*glob.glob(f"{root}/usr/lib/*-linux-gnu"), os.environ.get("LD_LIBRARY_PATH", "")]),
        "LC_ALL": "C.UTF-8",
    }
    return ruby, environment

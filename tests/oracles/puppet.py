"""The real Puppet: the installed one, or Debian's packages unpacked into a folder."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["ruby_with_puppet"]


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
    environment = {
        **os.environ,
        "RUBYLIB": ":".join(libraries),
        "LD_LIBRARY_PATH": ":".join([*glob.glob(f"{root}/usr/lib/*-linux-gnu"), os.environ.get("LD_LIBRARY_PATH", "")]),
        "LC_ALL": "C.UTF-8",
    }
    return ruby, environment
